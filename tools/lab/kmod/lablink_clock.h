/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of the exact link: pure integers, no kernel state.
 *
 * Time on the line is kept as nanoseconds plus picoseconds. A packet starts
 * when the line is free and takes bits / rate; what does not fit a picosecond
 * is carried over to the next packet, so that the rate is exact for ever.
 *
 * The caller serializes all access.
 */
#ifndef LABLINK_CLOCK_H
#define LABLINK_CLOCK_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}
#endif

#define LABLINK_PS_PER_NS	1000U
#define LABLINK_PS_PER_S	1000000000000ULL
/* longest burst that lablink_clock_send() can take without overflow */
#define LABLINK_BURST_MAX_BYTES	2000000U

/**
 * struct lablink_clock - the line of one direction
 * @rate_bps: bits per second, 0: infinitely fast
 * @overhead_bytes: added to each packet
 * @finish_ps: picoseconds (0..999) on top of @finish_ns
 * @finish_ns: when the last bit of the last packet leaves
 * @resumed_ns: when a full ring got room again, as the timer saw it
 * @carry: bits * 10^12 not yet accounted, less than @rate_bps
 *
 * Must stay at the start of the device's private data: labtap reads it there.
 */
struct lablink_clock {
	u64 rate_bps;
	u32 overhead_bytes;
	u32 finish_ps;
	u64 finish_ns;
	u64 resumed_ns;
	u64 carry;
};

/**
 * lablink_clock_done_ns() - first whole nanosecond when the line is free
 * @clk: the line
 */
static inline u64 lablink_clock_done_ns(const struct lablink_clock *clk)
{
	return clk->finish_ns + (clk->finish_ps ? 1 : 0);
}

/**
 * lablink_clock_waited() - does a packet sent now follow on the last one?
 * @clk: the line
 * @now_ns: current time
 *
 * True while the line is busy, and also for what comes the moment the ring got
 * room: it waited, so it starts when the line became free even if the timer
 * that told so came late.
 */
static inline bool lablink_clock_waited(const struct lablink_clock *clk,
					u64 now_ns)
{
	return now_ns <= lablink_clock_done_ns(clk) ||
	       now_ns == clk->resumed_ns;
}

/**
 * lablink_clock_start_ns() - when a packet sent now would start
 * @clk: the line
 * @now_ns: current time
 *
 * Rounded up to a whole nanosecond.
 */
static inline u64 lablink_clock_start_ns(const struct lablink_clock *clk,
					 u64 now_ns)
{
	return lablink_clock_waited(clk, now_ns) ?
		lablink_clock_done_ns(clk) : now_ns;
}

/**
 * lablink_clock_send() - put a packet on the line
 * @clk: the line
 * @now_ns: current time
 * @line_bytes: all its bytes, at most LABLINK_BURST_MAX_BYTES
 *
 * Afterwards finish_ns and finish_ps tell when its last bit leaves.
 */
static inline void lablink_clock_send(struct lablink_clock *clk, u64 now_ns,
				      u32 line_bytes)
{
	u64 ps;

	if (!lablink_clock_waited(clk, now_ns)) {
		clk->finish_ns = now_ns;
		clk->finish_ps = 0;
	}
	if (clk->rate_bps) {
		ps = div64_u64_rem(line_bytes * 8ULL * LABLINK_PS_PER_S +
				   clk->carry, clk->rate_bps, &clk->carry);
		ps += clk->finish_ps;
		clk->finish_ns += ps / LABLINK_PS_PER_NS;
		clk->finish_ps = ps % LABLINK_PS_PER_NS;
	}
}

/**
 * lablink_clock_set_rate() - change the rate for the packets to come
 * @clk: the line
 * @rate_bps: bits per second, 0: infinitely fast
 *
 * A packet on the line keeps the end it was given.
 */
static inline void lablink_clock_set_rate(struct lablink_clock *clk,
					  u64 rate_bps)
{
	clk->rate_bps = rate_bps;
	clk->carry = 0;
}

/**
 * lablink_random() - next of a sequence of random numbers
 * @state: any seed; changed
 *
 * The splitmix64 generator; the upper half of its output.
 */
static inline u32 lablink_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) >> 32;
}

/**
 * lablink_quantile() - value of a distribution at a random place
 * @quantile: its equidistant quantiles, not falling
 * @n: how many, at least 1
 * @random: where, uniform over all u32
 */
static inline u32 lablink_quantile(const u32 *quantile, u32 n, u32 random)
{
	u64 place = (u64)random * (n - 1);
	u32 i = place >> 32;

	if (n == 1)
		return quantile[0];
	return quantile[i] +
		((u64)(quantile[i + 1] - quantile[i]) * (u32)place >> 32);
}

#endif /* LABLINK_CLOCK_H */
