/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of Söze. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM fairlane

#if !defined(SZ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SZ_TRACE_H

#include <linux/tracepoint.h>

#include "fairlane/fl_sk_trace.h"

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

#endif /* SZ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH soze
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE sz_trace
#include <trace/define_trace.h>
