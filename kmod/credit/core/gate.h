/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sender's books: credits that are due, segments that they paid for, and what
 * the receiver has been told. gate.c explains it.
 */
#ifndef FL_CREDIT_GATE_H
#define FL_CREDIT_GATE_H

#include "credit/core/wire.h"

/* Credits that can be due at a time; a power of two. */
#define FL_GATE_DUE	16

/**
 * struct fl_gate - books of a sender
 * @slot: credits that are due, a ring: number | segments << FL_CREDIT_SEGS_SHIFT
 * @in: credits put into the ring so far
 * @out: credits taken out of it so far
 * @used_segs: segments that the oldest one has paid for already
 * @number: newest credit that has come
 * @segs: segments that a credit pays for, as the receiver says; 0 = not known
 * @until: number of the last credit that the receiver will give for what it
 *	has been told
 * @told: it has been told
 * @credits: credits that came
 * @wasted: credits that paid for nothing
 * @paid_segs: segments that credits have paid for
 * @unpaid_segs: segments that left without a credit
 *
 * @in and @slot are written by those who take credits in, everything else by
 * the socket's owner: the two may be on different processors, see fl_gate_put(). What NFQUEUE held
 * back is paid for by whoever lets it go, too: gate.c says what becomes of that.
 */
struct fl_gate {
	u32 slot[FL_GATE_DUE];
	u32 in;
	u32 out;
	u32 used_segs;
	u32 number;
	u32 segs;
	u32 until;
	bool told;
	u64 credits;
	u64 wasted;
	u64 paid_segs;
	u64 unpaid_segs;
};

bool fl_gate_put(struct fl_gate *g, u32 out, u32 number, u32 segs);
u32 fl_gate_due_segs(const struct fl_gate *g, u32 in);
bool fl_gate_take(struct fl_gate *g, u32 in, u32 segs, u32 *number);
void fl_gate_waste(struct fl_gate *g, u32 in);
void fl_gate_tell(struct fl_gate *g, u32 backlog_segs, struct fl_credit_msg *m);
bool fl_gate_must_tell(const struct fl_gate *g, u32 backlog_segs);

#endif /* FL_CREDIT_GATE_H */
