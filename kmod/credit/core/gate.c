// SPDX-License-Identifier: GPL-2.0
/*
 * What a sender may send, and what its receiver knows of it.
 *
 * A credit pays for at most so many segments as its receiver says. They may leave in
 * several packets, and a packet may be paid for by several credits; its option bears
 * the number of the newest of those. A credit for which there is nothing to send is
 * wasted.
 *
 * With each packet that credit pays for, and with each request, the sender tells
 * the number of a credit and what it has left to send. Both sides then know
 * which credit will be the last: that number + what is left / segments of a
 * credit. When it has come and there is something to send all the same, the sender has
 * to ask again.
 *
 * A packet that a program holds back in the host (NFQUEUE) is paid for when the program lets it go,
 * without the owner's lock. Two may take the same credit then, and @out pass @in: nothing is due
 * until @in has come after it, and no loop goes round for that.
 */
#include "credit/core/gate.h"

#define GATE_SLOT_SEGS(slot)	(((slot) >> FL_CREDIT_SEGS_SHIFT) + 1)
#define GATE_SLOT_NUMBER(slot)	((slot) & FL_CREDIT_NUMBER_MASK)

/**
 * fl_gate_put() - a credit has come
 * @g: the books
 * @out: @g->out, read before the ring is written
 * @number: of the credit
 * @segs: segments that it pays for, 1 to FL_CREDIT_SEGS_MAX
 *
 * Writes the slot only: the caller makes it visible by increasing @g->in afterwards.
 *
 * Return: false, the ring is full.
 */
bool fl_gate_put(struct fl_gate *g, u32 out, u32 number, u32 segs)
{
	if ((s32)(g->in - out) >= FL_GATE_DUE)
		return false;
	g->slot[g->in % FL_GATE_DUE] = (number & FL_CREDIT_NUMBER_MASK) |
				       (segs - 1) << FL_CREDIT_SEGS_SHIFT;
	return true;
}

/**
 * fl_gate_due_segs() - segments that may leave now
 * @g: the books
 * @in: @g->in, as far as the slots are visible
 */
u32 fl_gate_due_segs(const struct fl_gate *g, u32 in)
{
	/* once: were @out to pass @in behind the check, the loop would go round 2^32 times */
	u32 i = READ_ONCE(g->out), segs = 0;

	if (in - i > FL_GATE_DUE)
		return 0;
	for (; i != in; i++)
		segs += GATE_SLOT_SEGS(g->slot[i % FL_GATE_DUE]);
	return segs - min_t(u32, segs, g->used_segs);
}

/* The oldest credit that is due is done with. */
static void gate_next(struct fl_gate *g)
{
	u32 slot = g->slot[g->out % FL_GATE_DUE];

	if (fl_credit_ahead(GATE_SLOT_NUMBER(slot), g->number) > 0 || !g->segs)
		g->number = GATE_SLOT_NUMBER(slot);
	g->segs = GATE_SLOT_SEGS(slot);
	g->used_segs = 0;
	g->credits++;
	WRITE_ONCE(g->out, g->out + 1);
}

/**
 * fl_gate_take() - a packet leaves: do credits pay for it?
 * @g: the books
 * @in: as in fl_gate_due_segs()
 * @segs: its segments, at least 1
 * @number: becomes the number of the newest credit that pays
 *
 * All of it or nothing: a packet has one colour. Return: do they?
 */
bool fl_gate_take(struct fl_gate *g, u32 in, u32 segs, u32 *number)
{
	if (fl_gate_due_segs(g, in) < segs) {
		g->unpaid_segs += segs;
		return false;
	}
	g->paid_segs += segs;
	while (segs) {
		u32 slot = g->slot[g->out % FL_GATE_DUE];
		u32 left_segs = GATE_SLOT_SEGS(slot) - g->used_segs;
		u32 n = min_t(u32, segs, left_segs);

		*number = GATE_SLOT_NUMBER(slot);
		g->used_segs += n;
		segs -= n;
		if (n == left_segs)
			gate_next(g);
	}
	return true;
}

/**
 * fl_gate_waste() - there is nothing to send for what is due
 * @g: the books
 * @in: as in fl_gate_due_segs()
 *
 * A credit that has paid for something is not wasted.
 */
void fl_gate_waste(struct fl_gate *g, u32 in)
{
	while ((s32)(in - g->out) > 0) {
		if (!g->used_segs)
			g->wasted++;
		gate_next(g);
	}
}

/* Credits for so many segments. Without knowing better, one for each. */
static u32 gate_credits(const struct fl_gate *g, u32 backlog_segs)
{
	u32 segs = max_t(u32, g->segs, 1);

	return (backlog_segs + segs - 1) / segs;
}

/**
 * fl_gate_tell() - the receiver is told
 * @g: the books
 * @backlog_segs: what is left to send
 * @m: its @backlog_segs and, of requests, @number are set
 *
 * A GREEN has the number that fl_gate_take() gave, and that credit is the newest one.
 */
void fl_gate_tell(struct fl_gate *g, u32 backlog_segs, struct fl_credit_msg *m)
{
	u32 told_segs = min_t(u32, backlog_segs, FL_CREDIT_BACKLOG_MAX);
	u32 number = g->number;

	if (m->type == FL_CREDIT_GREEN)
		number = m->number;
	m->number = number;
	m->backlog_segs = told_segs;
	g->until = number + gate_credits(g, told_segs);
	g->told = told_segs;
}

/**
 * fl_gate_must_tell() - will no credit come for what is left?
 * @g: the books
 * @backlog_segs: what is left to send
 *
 * Return: there is something to send, and the last credit for what the receiver knows
 * of has come; or there is more than twice what it knows of.
 */
bool fl_gate_must_tell(const struct fl_gate *g, u32 backlog_segs)
{
	s32 expected;

	if (!backlog_segs)
		return false;
	if (!g->told)
		return true;
	expected = fl_credit_ahead(g->until, g->number);
	return expected <= 0 ||
	       gate_credits(g, min_t(u32, backlog_segs, FL_CREDIT_BACKLOG_MAX)) >
	       2 * (u32)expected;
}
