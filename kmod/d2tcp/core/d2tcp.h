/* SPDX-License-Identifier: GPL-2.0 */
/*
 * D2TCP (Vamanan, Hasan, Vijaykumar, "Deadline-Aware Datacenter TCP (D2TCP)",
 * SIGCOMM 2012): DCTCP whose back-off depends on the deadline. d2tcp.c explains
 * it.
 */
#ifndef FL_D2TCP_H
#define FL_D2TCP_H

#include "lib/fl_types.h"

/* Fractional bits of alpha and of the penalty p. */
#define FL_D2TCP_ALPHA_SHIFT	20
#define FL_D2TCP_ALPHA_ONE	BIT(FL_D2TCP_ALPHA_SHIFT)
/* Fractional bits of the deadline imminence factor d, and its bounds. */
#define FL_D2TCP_D_SHIFT	8
#define FL_D2TCP_D_ONE		BIT(FL_D2TCP_D_SHIFT)
#define FL_D2TCP_D_MIN		(FL_D2TCP_D_ONE / 2)
#define FL_D2TCP_D_MAX		(FL_D2TCP_D_ONE * 2)
/* Smallest window after a reduction, packets. */
#define FL_D2TCP_MIN_PKTS	2
/* Largest exponent of g = 1 / 2^n. */
#define FL_D2TCP_SHIFT_G_MAX	10

/**
 * struct fl_d2tcp_need - what a message still needs, and has
 * @left_bytes: B, bytes that are not acknowledged, as far as known
 * @cwnd_bytes: W, congestion window, bytes
 * @rtt_8us: smoothed RTT, in units of 1/8 us
 * @left_us: D, time until the deadline, us; 0 or less = it has passed
 * @more: there may be more than @left_bytes
 */
struct fl_d2tcp_need {
	u64 left_bytes;
	u64 cwnd_bytes;
	u32 rtt_8us;
	s64 left_us;
	bool more;
};

u32 fl_d2tcp_alpha(u32 alpha, u32 delivered, u32 delivered_ce, u32 shift_g);
u32 fl_d2tcp_imminence(const struct fl_d2tcp_need *n);
u32 fl_d2tcp_penalty(u32 alpha, u32 d);
u32 fl_d2tcp_reduce(u32 cwnd_pkts, u32 p);

#endif /* FL_D2TCP_H */
