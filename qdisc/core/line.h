/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric's line in virtual time. Pure integers: no packets, no clock, no
 * locks. The caller serialises.
 */
#ifndef FABRIC_LINE_H
#define FABRIC_LINE_H

#include "core/types.h"

/*
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
 * fabric_line_set_rate() - change the rate
 * @line: the line
 * @rate_bps: new rate in bit/s; 0: none, what was sent is forgotten
 * @now_ns: time; what is left of the running transmission, or of the debt of a
 *	limit, is from now on sent or paid for at the new rate
 */
static inline void fabric_line_set_rate(struct fabric_line *line, u64 rate_bps,
					u64 now_ns)
{
	u64 old_bps = line->rate_bps, ps;

	if (old_bps == rate_bps)
		return;
	line->rate_bps = rate_bps;
	line->rem = 0;
	if (!rate_bps || !old_bps) {
		line->finish_ns = 0;
		line->finish_ps = 0;
	} else if (line->finish_ns >= now_ns) {
		ps = (line->finish_ns - now_ns) * 1000 + line->finish_ps;
		ps = mul_u64_u64_div_u64(ps, old_bps, rate_bps);
		line->finish_ns = now_ns + div_u64_rem(ps, 1000, &line->finish_ps);
	}
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
 * fabric_line_not_before() - the line could not be used until now
 * @line: the line
 * @free_ns: it is free then, or when its last transmission ends
 */
static inline void fabric_line_not_before(struct fabric_line *line, u64 free_ns)
{
	if (line->finish_ns >= free_ns)
		return;
	line->finish_ns = free_ns;
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

	fabric_line_not_before(line, ready_ns);
	start_ns = line->finish_ns;
	ps = div64_u64_rem(bytes * FABRIC_PS_PER_BYTE_SEC + line->rem,
			   line->rate_bps, &rem) + line->finish_ps;
	line->rem = rem;
	line->finish_ns += div_u64_rem(ps, 1000, &line->finish_ps);
	return start_ns;
}

#endif /* FABRIC_LINE_H */
