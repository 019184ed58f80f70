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
 * An application that writes soon after the receiver was told that nothing is left would have a
 * request and a round trip for each write. So the sender promises that there is a little more, and
 * keeps the credit for it until the next write, but not for long. Each 64 credits earn one that may
 * be promised, and one that was promised and is wasted costs as much: so less than 2 % are wasted
 * by that, whatever the application does. Waste ends the promises until it writes soon again.
 *
 * A packet that a program holds back in the host (NFQUEUE) is paid for when the program lets it go,
 * without the owner's lock. Two may take the same credit then, and @out pass @in: nothing is due
 * until @in has come after it, and no loop goes round for that.
 */
#include "credit/core/gate.h"

#define GATE_SLOT_SEGS(slot)	(((slot) >> FL_CREDIT_SEGS_SHIFT) + 1)
#define GATE_SLOT_NUMBER(slot)	((slot) & FL_CREDIT_NUMBER_MASK)

/* A large burst is forgotten over 2^this others. */
#define GATE_BURST_SHIFT	3

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
	g->kept_ns = 0;
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
	u64 wasted = g->wasted;

	g->kept_ns = 0;
	while ((s32)(in - g->out) > 0) {
		if (!g->used_segs)
			g->wasted++;
		gate_next(g);
	}
	if (!g->keeps || g->wasted == wasted)
		return;
	/* others may come of a receiver that had not heard for long */
	g->promise_from += min_t(u64, g->wasted - wasted, g->promised) << FL_GATE_PROMISE_SHIFT;
	g->promised = 0;
	g->keeps = false;
	g->writes_on = false;
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
	u32 number = g->number, used = GATE_SLOT_NUMBER(g->slot[g->out % FL_GATE_DUE]);

	/* the receiver does not heed what is older than the last GREEN */
	if (m->type == FL_CREDIT_GREEN)
		number = m->number;
	else if (g->used_segs && fl_credit_ahead(used, number) > 0)
		number = used;
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

/**
 * fl_gate_told_nothing() - with what leaves now nothing is left
 * @g: the books; the packet is counted in them
 * @now_ns: monotonic time
 */
void fl_gate_told_nothing(struct fl_gate *g, u64 now_ns)
{
	u64 sent_segs = g->paid_segs + g->unpaid_segs;

	/* the first segment of a write may leave before the others are written */
	g->burst_segs -= g->burst_segs >> GATE_BURST_SHIFT;
	g->burst_segs = max_t(u64, g->burst_segs,
			      min_t(u64, sent_segs - g->nothing_segs, FL_CREDIT_BACKLOG_MAX));
	g->nothing_segs = sent_segs;
	g->nothing_ns = now_ns;
}

/**
 * fl_gate_writes() - there is something to send, and the receiver has to be told
 * @g: the books
 * @now_ns: monotonic time
 * @soon_ns: an application that writes within this goes on writing
 */
void fl_gate_writes(struct fl_gate *g, u64 now_ns, u64 soon_ns)
{
	if (g->nothing_ns && now_ns - g->nothing_ns < soon_ns)
		g->writes_on = true;
}

/**
 * fl_gate_promise() - how much more the receiver may be told of
 * @g: the books
 * @flight_segs: segments in flight: what the application writes in a round trip
 *
 * Return: segments, of an application that writes on: that and a burst. No more credits than it has
 * earned and can keep.
 */
u32 fl_gate_promise(struct fl_gate *g, u32 flight_segs)
{
	s64 earned = (s64)(g->credits - g->promise_from) >> FL_GATE_PROMISE_SHIFT;
	u32 segs;

	g->promised = 0;
	if (!g->writes_on || earned <= 0)
		return 0;
	if (earned > FL_GATE_PROMISE_MAX) {
		earned = FL_GATE_PROMISE_MAX;
		g->promise_from = g->credits - (earned << FL_GATE_PROMISE_SHIFT);
	}
	segs = min_t(u64, earned * g->segs, (u64)flight_segs + g->burst_segs);
	g->promised = gate_credits(g, segs);
	return segs;
}

/**
 * fl_gate_keep_ns() - there is nothing to send for what is due: is it kept?
 * @g: the books
 * @now_ns: monotonic time
 * @soon_ns: a credit is kept for so long
 *
 * Return: for so long still; 0: no longer, or the application does not write on.
 */
u64 fl_gate_keep_ns(struct fl_gate *g, u64 now_ns, u64 soon_ns)
{
	if (!g->keeps)
		return 0;
	if (!g->kept_ns)
		g->kept_ns = now_ns;
	return now_ns - g->kept_ns < soon_ns ? soon_ns - (now_ns - g->kept_ns) : 0;
}
