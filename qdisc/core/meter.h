/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric's delay statistics and rate meter. Pure integers: no packets, no
 * clock, no locks. The caller serialises.
 */
#ifndef FABRIC_METER_H
#define FABRIC_METER_H

#include "core/types.h"

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

#endif /* FABRIC_METER_H */
