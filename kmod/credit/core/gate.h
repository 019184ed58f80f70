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
/* Each 2^this credits earn one that may be promised; and the most that are promised at a time. */
#define FL_GATE_PROMISE_SHIFT	6
#define FL_GATE_PROMISE_MAX	(FL_GATE_DUE / 2)

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
 * @writes_on: the application wrote soon after the receiver had been told that nothing was left
 * @keeps: the receiver has been told of more than was left, and credits for that are kept
 * @promised: of those, credits that have to be earned
 * @nothing_ns: when nothing was left last; 0: never
 * @nothing_segs: @paid_segs + @unpaid_segs then
 * @burst_segs: what leaves from one such time to the next, of late at most
 * @promise_from: those of @credits after this one have earned promises
 * @kept_ns: since when what is due waits for the application to write; 0: it does not
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
	bool writes_on;
	bool keeps;
	u8 promised;
	u32 burst_segs;
	u64 nothing_ns;
	u64 nothing_segs;
	u64 promise_from;
	u64 kept_ns;
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
void fl_gate_told_nothing(struct fl_gate *g, u64 now_ns);
bool fl_gate_must_tell(const struct fl_gate *g, u32 backlog_segs);
void fl_gate_writes(struct fl_gate *g, u64 now_ns, u64 soon_ns);
u32 fl_gate_promise(struct fl_gate *g, u32 flight_segs);
u64 fl_gate_keep_ns(struct fl_gate *g, u64 now_ns, u64 soon_ns);

#endif /* FL_CREDIT_GATE_H */
