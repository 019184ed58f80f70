// SPDX-License-Identifier: GPL-2.0
/*
 * D2TCP's arithmetic as a pure core, in fixed point.
 *
 *	alpha = (1 - g) alpha + g F		once an RTT, as in DCTCP
 *	d = Tc / D, within 0.5 .. 2		deadline imminence (section 3.2)
 *	p = alpha^d				penalty
 *	W = W (1 - p / 2)			at most once an RTT, if marked
 *
 * F is the fraction of packets whose ACKs carried ECE; Tc is the time that the
 * message takes if nothing were done about its deadline, D the time that it
 * has. alpha is at most 1, so a larger d (tight) makes a smaller penalty. d = 1,
 * without a deadline, is DCTCP.
 *
 * Tc is B / (3/4 W) RTTs: a window that saws between W / 2 and W is 3/4 W on
 * average (section 3.2).
 *
 * A deadline that has passed is d = 2, which is what Tc / D grows to before,
 * and what the authors of PrioPlus simulate. Whoever has no use for late data
 * aborts.
 */
#include "d2tcp.h"
#include "lib/isqrt.h"

/* Largest RTT that is calculated with, in 1/8 us: 4 s. */
#define D2TCP_RTT_MAX		(4 * 8 * 1000000)

/**
 * fl_d2tcp_alpha() - take in an RTT's marks
 * @alpha: estimated fraction of marked packets, << FL_D2TCP_ALPHA_SHIFT
 * @delivered: packets delivered in the RTT
 * @delivered_ce: those of them with ECE
 * @shift_g: g = 1 / 2^shift_g, at most FL_D2TCP_SHIFT_G_MAX
 *
 * DCTCP, SIGCOMM 2010, equation 1. Without any delivery it fades as well, as the
 * kernel's DCTCP does.
 *
 * Return: new alpha, 0 to FL_D2TCP_ALPHA_ONE.
 */
u32 fl_d2tcp_alpha(u32 alpha, u32 delivered, u32 delivered_ce, u32 shift_g)
{
	u64 marked = 0;

	delivered_ce = min_t(u32, delivered_ce, delivered);
	if (delivered_ce)
		marked = div_u64((u64)delivered_ce << FL_D2TCP_ALPHA_SHIFT,
				 delivered);
	/* rounded up: the rest would never fade */
	alpha -= (alpha + BIT(shift_g) - 1) >> shift_g;
	return min_t(u64, alpha + (marked >> shift_g), FL_D2TCP_ALPHA_ONE);
}

/**
 * fl_d2tcp_imminence() - d, how near the deadline is
 * @n: what the message needs and has
 *
 * What is known of the rest of a message may be less than there is (@n->more:
 * the application has more than the send buffer takes). Then d is not below 1:
 * nobody yields on the strength of a bound.
 *
 * Return: FL_D2TCP_D_MIN to FL_D2TCP_D_MAX.
 */
u32 fl_d2tcp_imminence(const struct fl_d2tcp_need *n)
{
	u32 least = n->more ? FL_D2TCP_D_ONE : FL_D2TCP_D_MIN;
	u64 left_bytes = min_t(u64, n->left_bytes, U32_MAX);
	u32 rtt_8us = min_t(u32, n->rtt_8us, D2TCP_RTT_MAX);
	u64 tc_8us, d;

	if (n->left_us <= 0)
		return FL_D2TCP_D_MAX;
	/* 2^32 * 2^25 * 4 stays below 2^59 */
	tc_8us = div64_u64(left_bytes * rtt_8us * 4,
			   max_t(u64, n->cwnd_bytes, 1) * 3);
	/* 8 eighths, and the fraction of d */
	tc_8us = min_t(u64, tc_8us, BIT_ULL(58));
	d = div64_u64(tc_8us << (FL_D2TCP_D_SHIFT - 3), n->left_us);
	return clamp_t(u64, d, least, FL_D2TCP_D_MAX);
}

/**
 * fl_d2tcp_penalty() - p = alpha^d
 * @alpha: 0 to FL_D2TCP_ALPHA_ONE
 * @d: FL_D2TCP_D_MIN to FL_D2TCP_D_MAX
 *
 * The bits of d before the point are squares, those after it square roots:
 * alpha^1.75 = alpha * sqrt(alpha) * sqrt(sqrt(alpha)).
 *
 * Return: p, 0 to FL_D2TCP_ALPHA_ONE.
 */
u32 fl_d2tcp_penalty(u32 alpha, u32 d)
{
	u64 p = FL_D2TCP_ALPHA_ONE, root = alpha;
	u32 i, bit;

	for (i = d >> FL_D2TCP_D_SHIFT; i; i--)
		p = (p * alpha) >> FL_D2TCP_ALPHA_SHIFT;
	d &= FL_D2TCP_D_ONE - 1;
	for (bit = FL_D2TCP_D_ONE / 2; d; bit >>= 1) {
		root = fl_isqrt(root << FL_D2TCP_ALPHA_SHIFT);
		if (d & bit)
			p = (p * root) >> FL_D2TCP_ALPHA_SHIFT;
		d &= ~bit;
	}
	return p;
}

/**
 * fl_d2tcp_reduce() - W (1 - p / 2)
 * @cwnd_pkts: window, packets
 * @p: penalty
 *
 * Return: packets, at least FL_D2TCP_MIN_PKTS.
 */
u32 fl_d2tcp_reduce(u32 cwnd_pkts, u32 p)
{
	u32 cut = ((u64)cwnd_pkts * p) >> (FL_D2TCP_ALPHA_SHIFT + 1);

	return max_t(u32, cwnd_pkts - cut, FL_D2TCP_MIN_PKTS);
}
