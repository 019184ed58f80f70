/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints "fairlane:...": for perf, trace-cmd and bpftrace. Off, each is a
 * jump that is patched out. Addresses are IPv6, IPv4 ones v4-mapped; times are
 * ns, windows thousandths of a packet.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM fairlane

#if !defined(FL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define FL_TRACE_H

#include <linux/ipv6.h>
#include <linux/tracepoint.h>
#include <net/ipv6.h>
#include <net/sock.h>

#ifndef FL_TRACE_ONCE
#define FL_TRACE_ONCE
/* Ends of a connection for a trace entry. */
static inline void fl_trace_ends(const struct sock *sk, u16 *lport, u16 *rport,
				 u8 *local, u8 *remote)
{
	struct in6_addr l, r;

	*lport = sk->sk_num;
	*rport = ntohs(sk->sk_dport);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		memcpy(local, &sk->sk_v6_rcv_saddr, 16);
		memcpy(remote, &sk->sk_v6_daddr, 16);
		return;
	}
#endif
	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &l);
	ipv6_addr_set_v4mapped(sk->sk_daddr, &r);
	memcpy(local, &l, 16);
	memcpy(remote, &r, 16);
}
#endif

#define FL_TRACE_SK_FIELDS						\
	__field(u64, cookie)						\
	__field(u16, lport)						\
	__field(u16, rport)						\
	__array(u8, local, 16)						\
	__array(u8, remote, 16)

#define FL_TRACE_SK_ASSIGN						\
	do {								\
		__entry->cookie = atomic64_read(&sk->sk_cookie);	\
		fl_trace_ends(sk, &__entry->lport, &__entry->rport,	\
			      __entry->local, __entry->remote);		\
	} while (0)

#define FL_TRACE_SK_FMT	"%pI6c:%u > %pI6c:%u cookie=%llu "
#define FL_TRACE_SK_ARGS						\
	__entry->local, __entry->lport, __entry->remote,		\
	__entry->rport, __entry->cookie

/* A setting of a socket has changed; what: enum fl_setting_id, from: enum
 * fl_from.
 */
TRACE_EVENT(fl_attr_change,
	TP_PROTO(const struct sock *sk, u64 cookie, u32 what, u32 old, u32 new,
		 u8 from),
	TP_ARGS(sk, cookie, what, old, new, from),
	TP_STRUCT__entry(
		FL_TRACE_SK_FIELDS
		__field(u32, what)
		__field(u32, old)
		__field(u32, new)
		__field(u8, from)
	),
	TP_fast_assign(
		FL_TRACE_SK_ASSIGN;
		__entry->cookie = cookie;
		__entry->what = what;
		__entry->old = old;
		__entry->new = new;
		__entry->from = from;
	),
	TP_printk(FL_TRACE_SK_FMT "what=%u old=%u new=%u from=%u",
		  FL_TRACE_SK_ARGS, __entry->what, __entry->old, __entry->new,
		  __entry->from)
);

/* PrioPlus stops (1) or goes (0); delay and limit that decided, ns; flows that
 * share the priority, thousandths.
 */
TRACE_EVENT(fl_prioplus_state,
	TP_PROTO(const struct sock *sk, bool stopped, u32 delay_ns,
		 u32 limit_ns, u64 window_milli, u32 flows_milli),
	TP_ARGS(sk, stopped, delay_ns, limit_ns, window_milli, flows_milli),
	TP_STRUCT__entry(
		FL_TRACE_SK_FIELDS
		__field(u32, delay_ns)
		__field(u32, limit_ns)
		__field(u64, window_milli)
		__field(u32, flows_milli)
		__field(bool, stopped)
	),
	TP_fast_assign(
		FL_TRACE_SK_ASSIGN;
		__entry->stopped = stopped;
		__entry->delay_ns = delay_ns;
		__entry->limit_ns = limit_ns;
		__entry->window_milli = window_milli;
		__entry->flows_milli = flows_milli;
	),
	TP_printk(FL_TRACE_SK_FMT
		  "stopped=%d delay_ns=%u limit_ns=%u window_milli=%llu flows_milli=%u",
		  FL_TRACE_SK_ARGS, __entry->stopped, __entry->delay_ns,
		  __entry->limit_ns, __entry->window_milli,
		  __entry->flows_milli)
);

/* A probe: sent (0), answered (1) after delay_ns, lost (2); a D-SACK of data while it
 * was out (3).
 */
TRACE_EVENT(fl_prioplus_probe,
	TP_PROTO(const struct sock *sk, u8 what, u32 delay_ns),
	TP_ARGS(sk, what, delay_ns),
	TP_STRUCT__entry(
		FL_TRACE_SK_FIELDS
		__field(u32, delay_ns)
		__field(u8, what)
	),
	TP_fast_assign(
		FL_TRACE_SK_ASSIGN;
		__entry->what = what;
		__entry->delay_ns = delay_ns;
	),
	TP_printk(FL_TRACE_SK_FMT "what=%s delay_ns=%u",
		  FL_TRACE_SK_ARGS,
		  __print_symbolic(__entry->what, { 0, "sent" },
				   { 1, "echo" }, { 2, "lost" },
				   { 3, "data" }),
		  __entry->delay_ns)
);

/* Swift, LEDBAT, or (once an RTT; its delay is the smoothed RTT, its target 0)
 * D2TCP has moved its window.
 */
TRACE_EVENT(fl_delay_update,
	TP_PROTO(const struct sock *sk, u32 delay_ns, u32 target_ns,
		 u64 window_milli),
	TP_ARGS(sk, delay_ns, target_ns, window_milli),
	TP_STRUCT__entry(
		FL_TRACE_SK_FIELDS
		__field(u32, delay_ns)
		__field(u32, target_ns)
		__field(u64, window_milli)
	),
	TP_fast_assign(
		FL_TRACE_SK_ASSIGN;
		__entry->delay_ns = delay_ns;
		__entry->target_ns = target_ns;
		__entry->window_milli = window_milli;
	),
	TP_printk(FL_TRACE_SK_FMT "delay_ns=%u target_ns=%u window_milli=%llu",
		  FL_TRACE_SK_ARGS, __entry->delay_ns, __entry->target_ns,
		  __entry->window_milli)
);

/* Soeze has set a rate, from the largest queueing delay and that which the rate
 * and the weight now ask for.
 */
TRACE_EVENT(fl_soze_update,
	TP_PROTO(const struct sock *sk, u32 queue_ns, u32 target_ns,
		 u64 rate_bps, u32 weight_milli),
	TP_ARGS(sk, queue_ns, target_ns, rate_bps, weight_milli),
	TP_STRUCT__entry(
		FL_TRACE_SK_FIELDS
		__field(u32, queue_ns)
		__field(u32, target_ns)
		__field(u64, rate_bps)
		__field(u32, weight_milli)
	),
	TP_fast_assign(
		FL_TRACE_SK_ASSIGN;
		__entry->queue_ns = queue_ns;
		__entry->target_ns = target_ns;
		__entry->rate_bps = rate_bps;
		__entry->weight_milli = weight_milli;
	),
	TP_printk(FL_TRACE_SK_FMT
		  "queue_ns=%u target_ns=%u rate_bps=%llu weight_milli=%u",
		  FL_TRACE_SK_ARGS, __entry->queue_ns, __entry->target_ns,
		  __entry->rate_bps, __entry->weight_milli)
);

#endif /* FL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH fairlane
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE fl_trace
#include <trace/define_trace.h>
