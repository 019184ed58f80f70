/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of credit. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM fairlane

#if !defined(FL_CREDIT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define FL_CREDIT_TRACE_H

#include <linux/tracepoint.h>

#include "fairlane/fl_sk_trace.h"

/* A receiver gives a credit: its number, the segments that it pays for, credits that are
 * out with it, and when the flow may have the next one.
 */
TRACE_EVENT(fl_credit_given,
	TP_PROTO(const struct sock *sk, u32 number, u32 segs, u32 out,
		 u32 gap_ns),
	TP_ARGS(sk, number, segs, out, gap_ns),
	TP_STRUCT__entry(
		FL_TRACE_SK_FIELDS
		__field(u32, number)
		__field(u32, segs)
		__field(u32, out)
		__field(u32, gap_ns)
	),
	TP_fast_assign(
		FL_TRACE_SK_ASSIGN;
		__entry->number = number;
		__entry->segs = segs;
		__entry->out = out;
		__entry->gap_ns = gap_ns;
	),
	TP_printk(FL_TRACE_SK_FMT "number=%u segs=%u out=%u gap_ns=%u",
		  FL_TRACE_SK_ARGS, __entry->number, __entry->segs,
		  __entry->out, __entry->gap_ns)
);

/* A sender has got a credit: its number, its segments, those that may leave now, and those
 * sent without credit so far (red).
 */
TRACE_EVENT(fl_credit_got,
	TP_PROTO(const struct sock *sk, u32 number, u32 segs, u32 due_segs,
		 u32 red_segs),
	TP_ARGS(sk, number, segs, due_segs, red_segs),
	TP_STRUCT__entry(
		FL_TRACE_SK_FIELDS
		__field(u32, number)
		__field(u32, segs)
		__field(u32, due_segs)
		__field(u32, red_segs)
	),
	TP_fast_assign(
		FL_TRACE_SK_ASSIGN;
		__entry->number = number;
		__entry->segs = segs;
		__entry->due_segs = due_segs;
		__entry->red_segs = red_segs;
	),
	TP_printk(FL_TRACE_SK_FMT "number=%u segs=%u due_segs=%u red_segs=%u",
		  FL_TRACE_SK_ARGS, __entry->number, __entry->segs,
		  __entry->due_segs, __entry->red_segs)
);

/* A sender asks for credit for what it has left, 0: for no more. */
TRACE_EVENT(fl_credit_asked,
	TP_PROTO(const struct sock *sk, u32 backlog_segs, u32 unanswered),
	TP_ARGS(sk, backlog_segs, unanswered),
	TP_STRUCT__entry(
		FL_TRACE_SK_FIELDS
		__field(u32, backlog_segs)
		__field(u32, unanswered)
	),
	TP_fast_assign(
		FL_TRACE_SK_ASSIGN;
		__entry->backlog_segs = backlog_segs;
		__entry->unanswered = unanswered;
	),
	TP_printk(FL_TRACE_SK_FMT "backlog_segs=%u unanswered=%u",
		  FL_TRACE_SK_ARGS, __entry->backlog_segs,
		  __entry->unanswered)
);

#endif /* FL_CREDIT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH credit
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE credit_trace
#include <trace/define_trace.h>
