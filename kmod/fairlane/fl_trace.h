/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of fairlane.ko, and one that delay-based controls share. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM fairlane

#if !defined(FL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define FL_TRACE_H

#include <linux/tracepoint.h>

#include "fairlane/fl_sk_trace.h"

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

#endif /* FL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH fairlane
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE fl_trace
#include <trace/define_trace.h>
