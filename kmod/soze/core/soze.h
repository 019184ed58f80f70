/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Söze (Wang, Ng: "Söze: One Network Telemetry Is All You Need for Per-flow
 * Weighted Bandwidth Allocation at Scale"): the rate control of a flow, in
 * binary logarithms.
 *
 * Rates are bytes on the line per second, as log2 with SZ_SHIFT fractional
 * bits. In that domain the inverse of the target function, equation 6, is a
 * straight line, the quotient of equation 7 a difference and its exponent m a
 * product: no division by a rate, no power.
 */
#ifndef FL_SOZE_H
#define FL_SOZE_H

#include "lib/fl_types.h"

/* Fractional bits of logarithms, gains and parts. */
#define SZ_SHIFT		24
#define SZ_ONE			((s32)BIT(SZ_SHIFT))
/* Fractional bits that a slope (octaves per ns) has beside. */
#define SZ_SLOPE_SHIFT		16

/* Ranges of the settings, for whoever takes them from people. */
#define SZ_P_MIN_NS		1000
#define SZ_P_MAX_NS		100000000
#define SZ_K_MAX_NS		10000000
#define SZ_RATE_MAX_MBPS	100000000

/* Weights are counted in thousandths. */
#define SZ_WEIGHT_ONE_MILLI	1000
#define SZ_WEIGHT_MAX_MILLI	1000000

/* Longest delay that the arithmetic carries. */
#define SZ_DELAY_MAX_NS		((u32)BIT(26))
#define SZ_LN2			11629080	/* ln 2 << SZ_SHIFT */
/* Where T has its first bend, (9) in soze.c: octaves below alpha. */
#define SZ_BEND			(9 * (SZ_ONE / 2))

/* Round trips during which a flow averages, << SZ_SHIFT. */
#define SZ_AGE_MAX		(64U << SZ_SHIFT)

/**
 * struct sz_conf - what the parameters follow from
 * @line_bps: fastest that the sender can send, bit/s, 1 Mbit/s and more
 * @wire_bytes: a full packet on the line, bytes, above 0
 * @base_ns: base RTT of the network as a whole, ns; 0 = not known
 * @alpha_mbps: alpha for weight 1, Mbit/s; 0 = @line_bps
 * @beta_mbps: beta for weight 1, Mbit/s, below alpha; 0 = alpha / 1000
 * @p_ns: p of equation 6, ns; 0 = see sz_par_init()
 * @k_ns: k of equation 6, ns; 0 = see sz_par_init()
 *
 * The kernel leaves beta, p and k at 0: flows that meet must have the same, and a host
 * cannot know what another has set. Tests set them, for the paper's constants.
 */
struct sz_conf {
	u64 line_bps;
	u32 wire_bytes;
	u32 base_ns;
	u32 alpha_mbps;
	u32 beta_mbps;
	u32 p_ns;
	u32 k_ns;
};

/**
 * struct sz_par - what sz_par_init() made of the settings
 * @slope: octaves per ns of delay, << (SZ_SHIFT + SZ_SLOPE_SHIFT)
 * @octave_q8_ns: its inverse, ns << 8
 * @alpha_l2: alpha, log2 of bytes/s
 * @max_l2: fastest rate, log2 of bytes/s
 * @zero_l2: rate of weight 1 that D = 0 tells, log2 of bytes/s
 * @light_l2: rate of weight 1 that D = k/2 tells, log2 of bytes/s
 * @packet_l2: log2 of (bytes of a full packet * 10^9)
 * @q_ns: p / (ln alpha - ln beta): the delay that stands for a factor of e, ns
 * @k_ns: k, ns
 * @telling_ns: delay from which on a queue carries no share information, ns
 * @start_ns: longest delay that a starting flow believes, ns
 * @wire_bytes: a full packet on the line, bytes
 */
struct sz_par {
	u64 slope;
	u64 octave_q8_ns;
	s32 alpha_l2;
	s32 max_l2;
	s32 zero_l2;
	s32 light_l2;
	s32 packet_l2;
	u32 q_ns;
	u32 k_ns;
	u32 telling_ns;
	u32 start_ns;
	u32 wire_bytes;
};

/**
 * struct sz_sample - what an ACK with telemetry says
 * @now_ns: monotonic time, ns
 * @delay_ns: D: the largest queueing delay that the data met, ns
 * @rtt_ns: RTT, all queues in it, ns
 */
struct sz_sample {
	u64 now_ns;
	u32 delay_ns;
	u32 rtt_ns;
};

/**
 * struct sz_core - a flow
 * @last_ns: time of the last sample
 * @rate_l2: the flow's share as it knows it, log2 of bytes/s
 * @pace_l2: what to send at until the next sample, log2 of bytes/s
 * @weight_l2: log2 of the weight
 * @target_ns: T at @rate_l2, ns
 * @rtt_ns: RTT that the last sample had, ns; 0: none has come
 * @age: round trips since it first knew its share, << SZ_SHIFT, to SZ_AGE_MAX
 * @rest: what @rate_l2 is more, << (SZ_SHIFT + 16)
 * @mean_l2: average of the rate for weight 1 that D told, over some round trips
 * @now_l2: over one
 * @still_l2: where that stands still
 * @still: for how many round trips, << SZ_SHIFT, to SZ_STILL_RTTS
 * @empty: round trips with an empty queue, << SZ_SHIFT, to SZ_LIGHT_RTTS
 * @starting: has not reached the share that the delay tells
 * @leads: its window leads, see (13) in soze.c
 */
struct sz_core {
	u64 last_ns;
	s32 rate_l2;
	s32 pace_l2;
	s32 weight_l2;
	u32 target_ns;
	u32 rtt_ns;
	u32 age;
	s32 mean_l2;
	s32 now_l2;
	s32 still_l2;
	u32 still;
	u32 empty;
	u16 rest;
	bool starting;
	bool leads;
};

/* Product of two numbers << SZ_SHIFT. */
static inline s64 sz_mul(s64 a, s64 b)
{
	return (a * b) >> SZ_SHIFT;
}

/**
 * sz_settled() - has the flow known its share for some time?
 * @sz: the flow
 *
 * Then an ACK in each of a few parts of an RTT is enough for it.
 */
static inline bool sz_settled(const struct sz_core *sz)
{
	return sz->age >= SZ_AGE_MAX && !sz->starting;
}

/* D of less than k / 4 is that of an empty queue. */
#define SZ_EMPTY_SHIFT		2

/**
 * sz_is_empty() - does a delay tell that no port has a queue?
 * @par: parameters
 * @delay_ns: D, ns
 */
static inline bool sz_is_empty(const struct sz_par *par, u32 delay_ns)
{
	return delay_ns < par->k_ns >> SZ_EMPTY_SHIFT;
}

/* Part of the pace that is random: shift that makes of an s32 +- 1/64 octave. */
#define SZ_UNLOCK_SHIFT		13
#define SZ_UNLOCK_MIX		2654435769U	/* 2^32 / golden ratio */

/**
 * sz_unlock_l2() - how much a flow's pace is off at random, see (11) in soze.c
 * @sz: the flow
 * @now_ns: time of the sample, ns
 *
 * The last bits of the time and of the rate know nothing of other flows.
 *
 * Return: octaves << SZ_SHIFT, up to 1/64 either way.
 */
static inline s32 sz_unlock_l2(const struct sz_core *sz, u64 now_ns)
{
	u32 x = ((u32)now_ns ^ ((u32)sz->rest << 16)) * SZ_UNLOCK_MIX;

	return (s32)x >> SZ_UNLOCK_SHIFT;
}

s32 sz_log2(u64 x);
extern const u32 sz_powers[];
s64 sz_bend_far(s64 below);
s64 sz_unbend_far(s64 queue);

/**
 * sz_exp2() - inverse of sz_log2()
 * @l2: a logarithm << SZ_SHIFT
 *
 * Return: 2^(l2 / SZ_ONE) with a relative error below 1e-7, rounded; U64_MAX from
 * 2^63 on.
 */
static inline u64 sz_exp2(s64 l2)
{
	u64 y = sz_powers[(l2 >> (SZ_SHIFT - 6)) & 63];
	s64 x;

	if ((u64)l2 >= 63ULL << SZ_SHIFT)
		return l2 >= 0 ? ~0ULL : l2 > -SZ_ONE;
	/* e^x - 1 = x + x * x / 2 with |x| <= ln(2) / 128, << 30 */
	x = (l2 & (BIT(SZ_SHIFT - 6) - 1)) - (s64)BIT(SZ_SHIFT - 7);
	x = (x * SZ_LN2) >> (2 * SZ_SHIFT - 30);
	x += (x * x) >> 31;
	y += ((s64)y * x) >> 30;
	/* 1 <= y >> 30 < 2: from the top of the word down to half a unit */
	return (((y << 33) >> (62 - (l2 >> SZ_SHIFT))) + 1) >> 1;
}

/**
 * sz_target_rate_l2() - T^-1 of equation 6, with (9)
 * @par: parameters
 * @delay_ns: queueing delay, ns
 *
 * Return: rate of weight 1 at this delay, log2 of bytes/s, any number: delays
 * beyond p + k or below k are extrapolated.
 */
static inline s64 sz_target_rate_l2(const struct sz_par *par, u32 delay_ns)
{
	s64 over_ns = (s64)min_t(u32, delay_ns, SZ_DELAY_MAX_NS) - par->k_ns;
	s64 queue = (over_ns * (s64)par->slope) >> SZ_SLOPE_SHIFT;

	/* few flows have no more to do with (9) than this */
	return par->alpha_l2 - (queue <= SZ_BEND ? queue : sz_unbend_far(queue));
}

/**
 * sz_target_delay_ns() - T of equation 6, with (9)
 * @par: parameters
 * @rate_per_weight_l2: r/w, log2 of bytes/s
 *
 * Return: queueing delay at which a flow of this rate for weight 1 is at rest,
 * ns; 0 for rates that no delay stands for.
 */
static inline u32 sz_target_delay_ns(const struct sz_par *par, s32 rate_per_weight_l2)
{
	s64 below = (s64)par->alpha_l2 - rate_per_weight_l2;
	s64 octaves = below <= SZ_BEND ? below : sz_bend_far(below);
	s64 ns = par->k_ns + ((octaves * (s64)par->octave_q8_ns) >> (SZ_SHIFT + 8));

	return min_t(s64, max_t(s64, ns, 0), SZ_DELAY_MAX_NS);
}

/* Fractional bits of packets in a ns, 32 more than the window needs. */
#define SZ_PKTS_SHIFT		36
/* Window beyond what is in flight: 1/16, and so many packets. */
#define SZ_WINDOW_SHIFT		4
#define SZ_WINDOW_PKTS		2

/**
 * sz_window_pkts() - how much may be in flight
 * @sz: the flow
 * @par: parameters
 * @rest_ns: RTT without the delay D, ns
 *
 * Return: packets, at least 1.
 */
static inline u32 sz_window_pkts(const struct sz_core *sz, const struct sz_par *par, u32 rest_ns)
{
	/* packets in 2^SZ_PKTS_SHIFT ns */
	u64 rate = sz_exp2((s64)sz->rate_l2 - par->packet_l2 +
			   SZ_PKTS_SHIFT * (s64)SZ_ONE);
	u64 time_ns = (u64)rest_ns + sz->target_ns, pkts;

	pkts = mul_u64_u32_shr(rate, min_t(u64, time_ns, U32_MAX),
			       SZ_PKTS_SHIFT - SZ_WINDOW_SHIFT);
	if (sz->leads)
		pkts += (1 << SZ_WINDOW_SHIFT) - 1;
	else
		pkts += (pkts >> SZ_WINDOW_SHIFT) + (SZ_WINDOW_PKTS << SZ_WINDOW_SHIFT);
	return min_t(u64, max_t(u64, pkts >> SZ_WINDOW_SHIFT, 1), S32_MAX);
}

int sz_par_init(struct sz_par *par, const struct sz_conf *cf);
u32 sz_train_pkts(const struct sz_par *par);

void sz_init(struct sz_core *sz, const struct sz_par *par, u64 now_ns,
	     u64 rate_bytes, u32 weight_milli);
void sz_resume(struct sz_core *sz, const struct sz_par *par, u64 now_ns,
	       u64 rate_bytes, u32 weight_milli);
void sz_set_weight(struct sz_core *sz, const struct sz_par *par,
		   u32 weight_milli);
void sz_restart(struct sz_core *sz, const struct sz_par *par, u64 now_ns,
		u64 rate_bytes);
void sz_on_ack(struct sz_core *sz, const struct sz_par *par, struct sz_sample s);
void sz_keep_below(struct sz_core *sz, const struct sz_par *par, u64 most_bytes);
void sz_on_loss(struct sz_core *sz, const struct sz_par *par, bool timeout);

#endif /* FL_SOZE_H */
