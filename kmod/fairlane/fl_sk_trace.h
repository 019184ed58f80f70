/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints "fairlane:...": for perf, trace-cmd and bpftrace. Off, each is a
 * jump that is patched out. Addresses are IPv6, IPv4 ones v4-mapped; times are
 * ns, windows thousandths of a packet. A congestion control has its own in its
 * folder; here is how each of them names its socket.
 */
#ifndef FL_SK_TRACE_H
#define FL_SK_TRACE_H

#include <linux/ipv6.h>
#include <net/ipv6.h>
#include <net/sock.h>

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

#endif /* FL_SK_TRACE_H */
