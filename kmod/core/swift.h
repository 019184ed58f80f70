/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion
 * Control in the Datacenter", SIGCOMM 2020): the window control.
 */
#ifndef FL_SWIFT_H
#define FL_SWIFT_H

#include "fl_cc.h"

/* Default gain of the multiplicative decrease, permille (PrioPlus, sec. 6). */
#define FL_SWIFT_BETA_PERMILLE		800
/* Default largest decrease in an RTT, permille. */
#define FL_SWIFT_MAX_MDF_PERMILLE	500

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

extern const struct fl_base_ops fl_swift_ops;

u32 fl_swift_scaled_target(const struct fl_swift_scaling *sc, u32 base_ns,
			   u64 wnd);
u32 fl_swift_hop_target(u32 target_ns, u32 hop_ns, u32 hops);
u8 fl_hops_of_ttl(u8 ttl);
u32 fl_isqrt(u64 x);

#endif /* FL_SWIFT_H */
