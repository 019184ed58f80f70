/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion
 * Control in the Datacenter", SIGCOMM 2020): the window control.
 */
#ifndef FL_SWIFT_H
#define FL_SWIFT_H

#include "lib/fl_cc.h"

/* Default gain of the multiplicative decrease, permille (PrioPlus, sec. 6). */
#define FL_SWIFT_BETA_PERMILLE		800
/* Default largest decrease in an RTT, permille. */
#define FL_SWIFT_MAX_MDF_PERMILLE	500
/* Fractional bits of the part that a decrease takes from the window. */
#define FL_SWIFT_CUT_SHIFT		20

/**
 * struct fl_swift_state - Swift's memory of a flow
 * @dec_ns: time of the last multiplicative decrease, ns
 */
struct fl_swift_state {
	u64 dec_ns;
};

/**
 * struct fl_swift_scaling - target scaling by flow count (Swift, sec. 3.2)
 * @range_ns: most that scaling adds to the target, ns; 0 switches it off
 * @min_pkts_q8: window at which all of @range_ns is added, packets << 8
 * @max_pkts_q8: window from which on nothing is added, packets << 8
 */
struct fl_swift_scaling {
	u32 range_ns;
	u32 min_pkts_q8;
	u32 max_pkts_q8;
};

extern const struct fl_original_ops fl_swift_ops;

u32 fl_swift_scaled_target(const struct fl_swift_scaling *sc, u32 base_ns,
			   u64 wnd);
u32 fl_swift_hop_target(u32 target_ns, u32 hop_ns, u32 hops);
u8 fl_hops_of_ttl(u8 ttl);

/* May the window be decreased again? Once an RTT (Swift, Algorithm 1). */
static inline bool fl_swift_can_decrease(const struct fl_swift_state *st,
					 u64 now_ns, u32 rtt_ns)
{
	return (s64)(now_ns - st->dec_ns) >= (s64)rtt_ns;
}

/**
 * fl_swift_ack() - Swift's Algorithm 1 for one ACK
 * @st: the flow's state
 * @target_ns: target delay, base RTT included, ns
 * @ai_wnd: additive increase for each RTT, packets << FL_WND_SHIFT
 * @min_wnd: smallest window, packets << FL_WND_SHIFT
 * @max_wnd: largest window, packets << FL_WND_SHIFT
 * @wnd: the window, moved
 * @s: what the ACK says; its delay is not 0
 *
 * What fl_swift_ops.on_ack does, for callers that know whom they call.
 */
static inline void fl_swift_ack(struct fl_swift_state *st, u32 target_ns,
				u32 ai_wnd, u64 min_wnd, u64 max_wnd, u64 *wnd,
				const struct fl_sample *s)
{
	u64 w = *wnd, cut;

	if (s->delay_ns < target_ns) {
		if (s->wnd_limited)
			w += fl_wnd_per_ack(ai_wnd, s->acked_pkts, w);
	} else if (fl_swift_can_decrease(st, s->now_ns,
					 max_t(u32, s->rtt_ns, s->delay_ns))) {
		cut = div64_u64(((u64)FL_SWIFT_BETA_PERMILLE *
				 (s->delay_ns - target_ns)) <<
				FL_SWIFT_CUT_SHIFT, (u64)s->delay_ns * 1000);
		cut = min_t(u64, cut, (FL_SWIFT_MAX_MDF_PERMILLE <<
				       FL_SWIFT_CUT_SHIFT) / 1000);
		w -= mul_u64_u32_shr(w, cut, FL_SWIFT_CUT_SHIFT);
		st->dec_ns = s->now_ns;
	}
	*wnd = clamp_t(u64, w, min_wnd, max_wnd);
}

#endif /* FL_SWIFT_H */
