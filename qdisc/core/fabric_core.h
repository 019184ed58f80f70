/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric's arithmetic: the line's virtual time, delay statistics, rate
 * meter. Pure integers: no packets, no clock, no locks. The caller serialises.
 */
#ifndef FABRIC_CORE_H
#define FABRIC_CORE_H

#include "fabric_types.h"

/* ---- the line's virtual time --------------------------------------------
 *
 * A packet of 1538 bytes takes 123.04 ns at 100 Gbit/s, so the line's time
 * has to be finer than the clock's. It is a clock value plus picoseconds; what
 * a picosecond does not hold is kept as a remainder, so that n bytes sent back
 * to back take exactly n * 8 / rate seconds, however they are cut into packets.
 * Nanoseconds and picoseconds are kept apart since 64 bits of picoseconds are
 * only 213 days.
 */

#define FABRIC_PS_PER_BYTE_SEC	8000000000000ULL	/* 8 bits * 10^12 ps */
#define FABRIC_LINE_BYTES_MAX	2097152U		/* product fits 64 bits */

/**
 * struct fabric_line - a line of constant rate
 * @rate_bps: bit/s, not 0 when used
 * @finish_ns: end of the last transmission, whole nanoseconds
 * @rem: part of a picosecond owed, in units of 1/rate_bps ps
 * @finish_ps: end of the last transmission, picoseconds below 1000
 */
struct fabric_line {
	u64 rate_bps;
	u64 finish_ns;
	u64 rem;
	u32 finish_ps;
};

/**
 * fabric_line_set_rate() - change the rate; the running transmission stays
 * @line: the line
 * @rate_bps: new rate in bit/s
 */
static inline void fabric_line_set_rate(struct fabric_line *line, u64 rate_bps)
{
	if (line->rate_bps == rate_bps)
		return;
	line->rate_bps = rate_bps;
	line->rem = 0;
}

/**
 * fabric_line_reset() - forget the running transmission, keep the rate
 * @line: the line
 */
static inline void fabric_line_reset(struct fabric_line *line)
{
	line->finish_ns = 0;
	line->finish_ps = 0;
	line->rem = 0;
}

/**
 * fabric_line_ceil_ns() - first whole nanosecond at which the line is free
 * @line: the line
 *
 * Return: ceil(virtual finish), the time to set a timer to.
 */
static inline u64 fabric_line_ceil_ns(const struct fabric_line *line)
{
	return line->finish_ns + (line->finish_ps || line->rem);
}

/**
 * fabric_line_start() - begin a transmission
 * @line: the line
 * @ready_ns: the earliest time at which it may begin: an idle line starts
 *	then, a busy one at the end of the transmission before
 * @bytes: bytes on the line, overhead included, at most FABRIC_LINE_BYTES_MAX
 *
 * Return: the time of the start, rounded down to nanoseconds.
 */
static inline u64 fabric_line_start(struct fabric_line *line, u64 ready_ns,
				    u32 bytes)
{
	u64 start_ns, ps, rem;

	if (ready_ns > line->finish_ns) {
		line->finish_ns = ready_ns;
		line->finish_ps = 0;
		line->rem = 0;
	}
	start_ns = line->finish_ns;
	ps = div64_u64_rem(bytes * FABRIC_PS_PER_BYTE_SEC + line->rem,
			   line->rate_bps, &rem) + line->finish_ps;
	line->rem = rem;
	line->finish_ns += ps / 1000;
	line->finish_ps = ps % 1000;
	return start_ns;
}

/* ---- statistics ---------------------------------------------------------- */

#define FABRIC_BINS	32

/**
 * struct fabric_delay - what is remembered of many delays
 * @sum_ns: their sum
 * @max_ns: largest
 * @gap_ns: smallest, as what is missing to the largest that there can be, so
 *	that an empty memory is all zero
 * @hist: by fls64(delay), the last bin takes all above
 */
struct fabric_delay {
	u64 sum_ns;
	u64 max_ns;
	u64 gap_ns;
	u64 hist[FABRIC_BINS];
};

/**
 * fabric_delay_add() - remember one delay
 * @d: the memory, all zero at first
 * @ns: the delay
 */
static inline void fabric_delay_add(struct fabric_delay *d, u64 ns)
{
	int bin = fls64(ns);

	if (~ns > d->gap_ns)
		d->gap_ns = ~ns;
	if (ns > d->max_ns)
		d->max_ns = ns;
	d->sum_ns += ns;
	d->hist[bin < FABRIC_BINS ? bin : FABRIC_BINS - 1]++;
}

/* How many delays are remembered. */
static inline u64 fabric_delay_count(const struct fabric_delay *d)
{
	u64 count = 0;
	int i;

	for (i = 0; i < FABRIC_BINS; i++)
		count += d->hist[i];
	return count;
}

/* The smallest of them; meaningless if there is none. */
static inline u64 fabric_delay_min_ns(const struct fabric_delay *d)
{
	return ~d->gap_ns;
}

/**
 * fabric_delay_merge() - add what one memory holds to another
 * @to: changed
 * @from: read
 */
static inline void fabric_delay_merge(struct fabric_delay *to,
				      const struct fabric_delay *from)
{
	int i;

	if (from->gap_ns > to->gap_ns)
		to->gap_ns = from->gap_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	to->sum_ns += from->sum_ns;
	for (i = 0; i < FABRIC_BINS; i++)
		to->hist[i] += from->hist[i];
}

/* A window long enough to be cheap and short enough to show a change. */
#define FABRIC_METER_WINDOW_NS	1000000ULL

/**
 * struct fabric_meter - rate over the last full window
 * @start_ns: start of the running window
 * @bytes: bytes of the running window
 * @bps: rate of the last full window, bit/s
 */
struct fabric_meter {
	u64 start_ns;
	u64 bytes;
	u64 bps;
};

/**
 * fabric_meter_roll() - end the window if it is full
 * @m: the meter
 * @now_ns: time, never before an earlier call's
 */
static inline void fabric_meter_roll(struct fabric_meter *m, u64 now_ns)
{
	u64 span_ns = now_ns - m->start_ns;

	if (span_ns < FABRIC_METER_WINDOW_NS)
		return;
	m->bps = mul_u64_u64_div_u64(m->bytes * 8, NSEC_PER_SEC, span_ns);
	m->bytes = 0;
	m->start_ns = now_ns;
}

/**
 * fabric_meter_add() - count bytes sent at a time
 * @m: the meter
 * @now_ns: time, never before an earlier call's
 * @bytes: what was sent
 */
static inline void fabric_meter_add(struct fabric_meter *m, u64 now_ns,
				    u32 bytes)
{
	fabric_meter_roll(m, now_ns);
	m->bytes += bytes;
}

#endif /* FABRIC_CORE_H */
