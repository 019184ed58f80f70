/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric's decisions: mark or not, room or not; and the smoothing filter.
 */
#ifndef FABRIC_AQM_H
#define FABRIC_AQM_H

#include "core/types.h"

#define FABRIC_PROB_ONE		1000000U	/* probabilities in millionths */
#define FABRIC_ALPHA_ONE	1000U		/* dynamic threshold, thousandths */

/**
 * struct fabric_red - when to mark
 * @min: at most this: never
 * @max: more than this: always; a step if equal to @min
 * @prob: probability when just not above @max, millionths
 */
struct fabric_red {
	u32 min;
	u32 max;
	u32 prob;
};

/**
 * fabric_red_hits() - is this packet to be marked?
 * @red: when to mark
 * @value: queue length in bytes or queueing delay in ns
 * @random: 32 random bits
 */
static inline bool fabric_red_hits(const struct fabric_red *red, u64 value,
				   u32 random)
{
	u64 slope;

	if (value <= red->min)
		return false;
	if (value > red->max)
		return true;
	slope = div64_u64((u64)red->prob * (value - red->min),
			  red->max - red->min);
	return (((u64)random * FABRIC_PROB_ONE) >> 32) < slope;
}

/**
 * fabric_random() - xorshift32: cheap, and repeatable from a seed
 * @state: not 0
 */
static inline u32 fabric_random(u32 *state)
{
	u32 x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

/**
 * fabric_shared_bytes() - how much of a queue lies in the shared pool
 * @bytes: length of the queue
 * @reserved: bytes that are its own
 */
static inline u32 fabric_shared_bytes(u32 bytes, u32 reserved)
{
	return bytes > reserved ? bytes - reserved : 0;
}

/**
 * fabric_dt_fits() - Choudhury and Hahne's dynamic threshold
 * @pool: bytes of the shared pool
 * @used: bytes used of it, without the arriving packet
 * @queue: bytes of it that the queue would use with the packet
 * @need: bytes of it that the packet takes
 * @alpha_milli: queue limit = alpha * free, thousandths
 */
static inline bool fabric_dt_fits(u64 pool, u64 used, u32 queue, u32 need,
				  u32 alpha_milli)
{
	if (!need)
		return true;
	if (used + need > pool)
		return false;
	return (u64)queue * FABRIC_ALPHA_ONE <= (pool - used) * alpha_milli;
}

/**
 * fabric_smooth() - filter weighted by time
 * @old: last output
 * @value: input
 * @dt_ns: time since the last output
 * @tau_ns: time constant, 0: no filter
 *
 * Return: @old moved towards @value by min(@dt_ns, @tau_ns) / @tau_ns.
 */
static inline u32 fabric_smooth(u32 old, u32 value, u64 dt_ns, u32 tau_ns)
{
	s64 step = (s64)value - old;

	if (dt_ns >= tau_ns)
		return value;
	return old + (s32)div_s64(step * (s64)dt_ns, tau_ns);
}

/**
 * fabric_round() - make a value coarser, and steadier
 * @told: what was told last, a multiple of @round
 * @value: input
 * @round: power of two
 *
 * Rounding down alone would tell two values in turn while the input moves about
 * a multiple of @round, as queues do in the steady state. So the last one stays
 * until the input is further than half of @round outside of what it stands for.
 *
 * Return: @told, or @value rounded down; differs from @value by less than 1.5
 * times @round.
 */
static inline u32 fabric_round(u32 told, u32 value, u32 round)
{
	u32 slack = round / 2;

	if (value + slack >= told && value < (u64)told + round + slack)
		return told;
	return value & ~(round - 1);
}

/**
 * fabric_round_middle() - what a rounded value is told as
 * @told: what fabric_round() gave
 * @round: power of two
 *
 * The least of what it stands for would be half of @round too little on average, and
 * a queue steered by it that much too long. Nothing is told of what may be empty.
 *
 * Return: the middle of what @told stands for; 0 for 0.
 */
static inline u32 fabric_round_middle(u32 told, u32 round)
{
	return told ? told + round / 2 : 0;
}

#endif /* FABRIC_AQM_H */
