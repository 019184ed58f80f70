/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of PrioPlus. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM fairlane

#if !defined(PP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PP_TRACE_H

#include <linux/tracepoint.h>

#include "fairlane/fl_sk_trace.h"

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

#endif /* PP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH prioplus
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pp_trace
#include <trace/define_trace.h>
