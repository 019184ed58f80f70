/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many segments leave at once. The last one of a train waits for the others at the
 * bottleneck, and so does whoever comes behind it. Pure functions.
 */
#ifndef FL_TRAIN_H
#define FL_TRAIN_H

#include "fl_types.h"

/* Most segments in a packet: with an MSS of 1 kB what the stack takes, 64 kB. */
#define FL_TRAIN_MAX_SEGS	64

/**
 * fl_train_segs() - the longest train whose packets wait for each other no longer than a time
 * @line_bps: rate of the line, bit/s, up to FL_LINE_MAX_MBPS
 * @wire_bytes: a full packet on the line, above 0 and below 2^17
 * @wait_ns: the time
 *
 * Return: segments, 1 to FL_TRAIN_MAX_SEGS.
 */
static inline u32 fl_train_segs(u64 line_bps, u32 wire_bytes, u32 wait_ns)
{
	u64 bits_q10 = div_u64(line_bps, 1000000) * wait_ns;

	return min_t(u64, 1 + div_u64(bits_q10, 8000 * wire_bytes), FL_TRAIN_MAX_SEGS);
}

#endif /* FL_TRAIN_H */
