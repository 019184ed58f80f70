/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a host's port gives the next credit, and when a flow's turn comes: the
 * arithmetic of the pacer (credit_pacer.c), which has one queue of flows a port, by
 * the time at which they are due.
 *
 * A port gives credits no faster than the data that they ask for can come: a credit
 * takes the line as long as the credit and its data do. So credits do not compete for
 * the receiver's own line, and flows share it in turn: nobody learns of it by losses.
 */
#ifndef FL_CREDIT_TURN_H
#define FL_CREDIT_TURN_H

#include "lib/fl_types.h"

/* Times of the port are kept in ns with this many fractional bits. */
#define FL_TURN_SHIFT		8
/* What a timer that fires late may be made up for, in turns. */
#define FL_TURN_LATE		2
/* Longest turn, ns: one credit for 64 packets of 64 kB at 1 Mbit/s is longer. */
#define FL_TURN_MAX_NS		100000000U

/**
 * struct fl_turn - clock of a port
 * @free_ns: when it may give the next credit, monotonic ns
 * @fraction: the rest of it, in 2^-FL_TURN_SHIFT ns
 */
struct fl_turn {
	u64 free_ns;
	u32 fraction;
};

/**
 * fl_turn_long() - how long a credit occupies the port
 * @wire_bytes: what is to pass: bytes on the line
 * @line_bps: rate of the line, bit/s, 1 Mbit/s to 1.6 Tbit/s
 * @permille: part of the line that credits may ask for, 1 to 1000
 *
 * Return: ns << FL_TURN_SHIFT.
 */
static inline u64 fl_turn_long(u32 wire_bytes, u64 line_bps, u32 permille)
{
	/* 2^23 bytes * 8e12 * 2^8 exceeds 64 bits: the rate in kbit/s instead */
	u64 kbps = max_t(u64, div_u64(line_bps, 1000), 1);
	u64 turn = div64_u64(div_u64((u64)wire_bytes * 8000000000ULL, permille) <<
			     FL_TURN_SHIFT, kbps);

	return min_t(u64, turn, (u64)FL_TURN_MAX_NS << FL_TURN_SHIFT);
}

/**
 * fl_turn_take() - the port gives a credit
 * @t: the port's clock
 * @now_ns: monotonic time, not before @t->free_ns
 * @turn: fl_turn_long()
 */
static inline void fl_turn_take(struct fl_turn *t, u64 now_ns, u64 turn)
{
	u64 late_ns = FL_TURN_LATE * turn >> FL_TURN_SHIFT;
	u64 sum = t->fraction + turn;

	if (t->free_ns + late_ns < now_ns)
		t->free_ns = now_ns - late_ns;
	t->free_ns += sum >> FL_TURN_SHIFT;
	t->fraction = sum & (BIT(FL_TURN_SHIFT) - 1);
}

/**
 * fl_turn_due_ns() - when a flow is due again
 * @due_ns: when it was due
 * @gap_ns: its gap
 * @now_ns: monotonic time
 *
 * From when it was due, so that waiting for others' turns does not slow it down; but
 * who waits for longer joins the queue at its end.
 */
static inline u64 fl_turn_due_ns(u64 due_ns, u32 gap_ns, u64 now_ns)
{
	u64 least_ns = now_ns - min_t(u64, now_ns, (u64)FL_TURN_LATE * gap_ns);

	return max_t(u64, due_ns + gap_ns, least_ns);
}

#endif /* FL_CREDIT_TURN_H */
