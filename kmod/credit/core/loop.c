// SPDX-License-Identifier: GPL-2.0
/*
 * How fast a receiver gives credit to one flow.
 *
 * Each credit has a number, and the data that it pays for comes with that number. So
 * a gap in the numbers that come back is credits that switches have dropped, or that
 * the sender had no use for. Every RTT:
 *
 *	loss > target:	rate = (what came back in the period) (1 + target)
 *			w = w / 2
 *	else:		w = w + 0.05, from the second such period on
 *			rate = w max + (1 - w) rate
 *	target = (1 - rate / max) / 8
 *
 * The target loss makes flows equal: a fast flow bears less loss than a slow one
 * before it slows down. w is how far a flow goes towards the maximum at a time.
 * Where paper and simulator differ, this is the simulator's.
 *
 * Ours: where many credits were given and none comes back, which no gap in the numbers
 * tells, the rate is halved (at ports that do not drop credits the data is lost instead; sixty
 * flows lost four of five segments there, and their rates stayed what they were; net/cc:
 * many_flows);
 * a period begins when the first credit comes back, so that the RTT before it
 * does not count as one in which nothing came; a credit that comes back late (packets
 * were reordered) is not a dropped one; what the own port drops is known at once and has
 * no number (the caller sends the number again).
 */
#include "credit/core/loop.h"

/* Longest RTT and gap that are calculated with, ns. */
#define LOOP_NS_MAX	1000000000U

static u32 loop_clamp_rate(const struct fl_loop *l, u64 rate)
{
	u64 least = FL_LOOP_RATE_MIN;

	/* one credit in an RTT */
	if (l->rtt_ns)
		least = max_t(u64, least, div_u64(LOOP_NS_MAX, l->rtt_ns));
	rate = max_t(u64, rate, least);
	return min_t(u64, rate, l->max);
}

static void loop_set_rate(struct fl_loop *l, u64 rate)
{
	l->rate = loop_clamp_rate(l, rate);
	l->gap_ns = div_u64(LOOP_NS_MAX, l->rate);
}

/**
 * fl_loop_init() - a new flow: half of the maximum, w = 1/16
 * @l: the loop, any contents
 * @max: most credits a second, at least 1
 * @random: a random number
 */
void fl_loop_init(struct fl_loop *l, u32 max, u32 random)
{
	*l = (struct fl_loop) {
		.max = max_t(u32, max, FL_LOOP_RATE_MIN),
		.random = random | 1,
		.w = FL_LOOP_W_START,
	};
	loop_set_rate(l, l->max / 2);
}

/**
 * fl_loop_begin() - credits are given (again)
 * @l: the loop
 * @next: number of the first one
 *
 * The rate stays what it was. What was on its way before counts no more.
 */
void fl_loop_begin(struct fl_loop *l, u32 next)
{
	l->next = next & FL_CREDIT_NUMBER_MASK;
	l->total = 0;
	l->dropped = 0;
	l->timing = false;
	l->begun = false;
}

/**
 * fl_loop_sent() - a credit leaves
 * @l: the loop
 * @number: its number
 * @now_ns: monotonic time
 */
void fl_loop_sent(struct fl_loop *l, u32 number, u64 now_ns)
{
	if (l->timing)
		return;
	l->timing = true;
	l->timed = number;
	l->timed_ns = now_ns;
}

/* The credit that is timed has come back, or is known to be lost. */
static void loop_time(struct fl_loop *l, u32 number, u64 now_ns)
{
	u32 rtt_ns;

	if (!l->timing || fl_credit_ahead(number, l->timed) < 0)
		return;
	l->timing = false;
	if (number != l->timed)
		return;
	rtt_ns = min_t(u64, now_ns - l->timed_ns, LOOP_NS_MAX);
	rtt_ns = max_t(u32, rtt_ns, 1);
	if (l->rtt_ns)
		rtt_ns = l->rtt_ns - (l->rtt_ns >> FL_LOOP_RTT_SHIFT) +
			 (rtt_ns >> FL_LOOP_RTT_SHIFT);
	l->rtt_ns = rtt_ns;
}

/**
 * fl_loop_back() - a credit has come back with the data that it paid for
 * @l: the loop
 * @number: its number, one that was sent
 * @now_ns: monotonic time
 */
void fl_loop_back(struct fl_loop *l, u32 number, u64 now_ns)
{
	s32 gap = fl_credit_ahead(number, l->next);

	loop_time(l, number, now_ns);
	if (gap < 0) {
		/* -1: a further packet of the newest credit, no late one */
		if (gap < -1 && l->dropped)
			l->dropped--;
		return;
	}
	l->next = (number + 1) & FL_CREDIT_NUMBER_MASK;
	if (!l->begun) {
		l->begun = true;
		l->updated_ns = now_ns;
		return;
	}
	l->total += gap + 1;
	l->dropped += gap;
}

/**
 * fl_loop_update() - look at the rate, if it is time
 * @l: the loop
 * @now_ns: monotonic time
 *
 * Return: has a period ended?
 */
bool fl_loop_update(struct fl_loop *l, u64 now_ns)
{
	u64 elapsed_ns = now_ns - l->updated_ns, came;
	u32 loss, target;

	if (!l->begun || !l->rtt_ns || elapsed_ns < l->rtt_ns || !l->total)
		return false;
	loss = div_u64((u64)l->dropped << FL_LOOP_SHIFT, l->total);
	target = (FL_LOOP_ONE -
		  div_u64((u64)l->rate << FL_LOOP_SHIFT, l->max)) >>
		 FL_LOOP_TARGET_SHIFT;
	if (loss > target) {
		came = div64_u64((u64)(l->total - l->dropped) * LOOP_NS_MAX,
				 elapsed_ns);
		came += (came * target) >> FL_LOOP_SHIFT;
		loop_set_rate(l, min_t(u64, l->rate, came));
		l->w = max_t(u32, l->w / 2, FL_LOOP_W_MIN);
		l->may_grow = false;
	} else {
		if (l->may_grow)
			l->w = min_t(u32, l->w + FL_LOOP_W_STEP, FL_LOOP_W_MAX);
		l->may_grow = true;
		loop_set_rate(l, l->rate + ((u64)(l->max - l->rate) * l->w >>
					    FL_LOOP_SHIFT));
	}
	l->total = 0;
	l->dropped = 0;
	l->updated_ns = now_ns;
	return true;
}

/**
 * fl_loop_silence() - nothing has come back of all that was given
 * @l: the loop
 *
 * A period whose loss nothing that comes back can tell. Context: port's lock.
 */
void fl_loop_silence(struct fl_loop *l)
{
	loop_set_rate(l, l->rate / 2);
	l->w = max_t(u32, l->w / 2, FL_LOOP_W_MIN);
	l->may_grow = false;
}

/**
 * fl_loop_gap_ns() - time until the next credit, with jitter
 * @l: the loop
 *
 * Without jitter the credits of two flows would meet at a switch in the same order
 * for ever, and the same flow would lose all of its own.
 */
u32 fl_loop_gap_ns(struct fl_loop *l)
{
	u32 r = l->random, span_ns = l->gap_ns >> FL_LOOP_JITTER_SHIFT;

	/* xorshift32 (Marsaglia 2003) */
	r ^= r << 13;
	r ^= r >> 17;
	r ^= r << 5;
	l->random = r;
	return l->gap_ns - span_ns + (((u64)span_ns * 2 * (r >> 16)) >> 16);
}
