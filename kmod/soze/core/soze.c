// SPDX-License-Identifier: GPL-2.0
/*
 * Söze's rate control as a pure core.
 *
 * Every flow maps the largest queueing delay D on its path to the rate that a
 * unit of weight has at its bottleneck, and takes that times its weight:
 *
 *	T(r/w)  = k + p * (ln alpha - ln r/w) / (ln alpha - ln beta)	(6)
 *	T^-1(D) = alpha * e^(-(D - k) / q),  q = p / (ln alpha - ln beta)
 *	U(r/w, D) = (T^-1(D) / (r/w))^m, r = r * U			(7)
 *
 * In logarithms, with the error e = ln T^-1(D) + ln w - ln r: ln r += m * e.
 * That is Algorithm 1, once an RTT, and section 3.3 wants the same with each packet
 * (selftests/unit/soze_net.h has both as printed).
 *
 * Where this differs, and why. D integrates the error
 * of the sum of all rates (equation 4), and each packet in flight tells a D that
 * is an RTT old, which the paper's condition p > dt/2 * (ln alpha - ln beta)
 * leaves out. So the loop's gain is G = m * RTT / q in an RTT, and with the
 * paper's m = 0.25, p = 20 us it oscillates as soon as RTT exceeds a few q:
 * shares off by a factor, the line idle for a quarter of the time.
 *
 *  1. m follows the RTT: m = min(m, q / (6 * RTT)), G <= 1/6. RTT includes D.
 *     As q * e = T(r/w) - D, a step in an RTT is (T - D) / (6 * RTT). One
 *     bottleneck bears 1/4; where several full links follow one another, as
 *     ECMP makes them, rates wander for ever with that.
 *  2. A proportional part: until the next sample the flow sends at
 *     ln r + (T - D) / RTT. It is 0 in the steady state, and damps.
 *  3. Steps are in proportion to the time since the last sample, so packets and
 *     ACKs may come in any number.
 *  4. A flow that sends less than eight packets in an RTT hears late and acts
 *     late: twice what its packet gap exceeds RTT / 8 counts as RTT.
 *  5. The window is r * (RTT without D + T(r/w)): in the steady state a little
 *     more than what is in flight, after a change a bound for the queue.
 *  6. A new weight scales the rate at once: shares are right in an RTT, and what
 *     is left, the sum of rates, is the same error for all flows. But whatever makes a
 *     flow fall, it goes on with a packet in an RTT, or in twice the time since its last
 *     ACK if that is longer: it has to hear that the queue is gone.
 *  7. A new flow doubles its rate in an RTT until it meets the share that D
 *     tells, or falls to it. Then m is 1/(1 + 7/16 of the round trips) for
 *     64 round trips if that is larger, on long paths (13) at most 16 q / RTT: an average of
 *     what it has seen, the later the more, since it has seen its own overshoot first.
 *
 *  8. D beyond that of 2^17 times weight 1 carries no share information: the flow
 *     slows down, to a quarter of the rate at least, and does not update its rate. Nor
 *     does it for a queue that another control has left: it would hear late that it is gone.
 *  9. T is equation 6 up to 22 times weight 1 at a bottleneck. Beyond, its slope
 *     is 2, 4 and 8 times as large: the more flows, the rarer their packets and
 *     the more the queue moves by itself, see Documentation/design/soze.rst.
 * 10. (1) binds what all flows do together. A flow that is off while D stands
 *     still is off alone: D would move if all were. So if the average of D has
 *     kept within a quarter of the error for four round trips, the flow goes a
 *     quarter of the way in each. An empty queue says nothing about shares;
 *     after a round trip of it rates grow by half an octave in each, 4 q / RTT
 *     at most.
 *
 * 11. Paces move at random by up to 1 %. Flows whose rates are in small ratios lock to
 *     each other otherwise: a packet of one comes behind one of the other each time,
 *     and what they hear differs for good. More would be more queue that moves.
 *
 * 12. (6) has no delay for a sum of weights below e^(-k/q), 0.7 with the defaults: T would
 *     be below 0, flows would stay at w * alpha * e^(k/q), and a lone flow of weight .001
 *     at .001 of an empty line. So flows above the rate that T = k/2 stands for grow
 *     together while the average of D is below k/2, slowly at first, faster the longer:
 *     their ratios stay. While it is above, each falls by how far it is above T = 0, as
 *     if T went on below 0: ratios come right, at half of (1)'s gain; but by no more than
 *     takes the queue away in a round trip if all flows do it, or a long path would be idle
 *     before they hear of that. A queue of k and more for four round trips is one of heavier
 *     flows: (1) and (10) again. The line is full; the shares of flows that are light together
 *     become exact slowly, or, where k is a few packets and paths are long, not within
 *     thousands of round trips.
 *
 * 13. From an RTT of 8 q and 64 packets in it on the window leads. It has no room but to the
 *     next whole packet, and the pace has 1/20 octave, so D answers to a change within an RTT
 *     instead of growing with time: the loop bears four times (1)'s gain. Such a flow
 *     grows by a fifth of an octave in a round trip on an empty queue, whatever RTT / q is.
 *     Fewer packets would round the window too much. Light flows (12) go on as they are.
 *
 * Measured (selftests/unit/soze/test_soze_net.c, selftests/machine/scale): shares exact to
 * 0.1 %, D within 0.1 us of T with few flows; within 2 % from 5 us to 5 ms and from 2
 * to 1000 flows with one setting, but for 1000 flows at 1 Gbit/s: 27 %, as one of
 * weight 1 sends a packet in 30 ms there.
 */
#include "soze.h"

#define SZ_NS_PER_S		1000000000ULL
#define SZ_MILLI_L2		167198115	/* log2(1000) << SZ_SHIFT */

/* Slowest rate, 1 KB/s, and slowest in packets: one in 4096 RTTs. */
#define SZ_MIN_L2		(10 * SZ_ONE)
#define SZ_FLOOR_RTTS_SHIFT	12
/* Fractional bits that a rate has beside, for what steps leave. */
#define SZ_REST_SHIFT		16
/* Fractional bits that a step has beside, and the largest in an RTT: 2 octaves. */
#define SZ_STEP_SHIFT		8
#define SZ_STEP_MAX		(2LL << (SZ_SHIFT + SZ_STEP_SHIFT))
/* Fractional bits of 1 / RTT, and the shortest that it is good for. */
#define SZ_PER_SHIFT		44
#define SZ_LOOP_MIN_NS		1024
#define SZ_LOG2_E		24204406	/* log2(e) << SZ_SHIFT */
/* 1 / G of (1). */
#define SZ_GAIN_PART		6
/* m of (7): the largest gain in an RTT. The paper has 0 < m < 2 (lemma 3.1). */
#define SZ_M			(SZ_ONE / 4)
/* Largest error that the arithmetic carries. */
#define SZ_ERROR_MAX		((s64)BIT_ULL(37))
/* Pace below the rate, at least, octaves: what is sent next waits for the pace. */
#define SZ_LEAD_MIN		(-2LL * SZ_ONE)
/* (7): of the round trips, in 1/m. */
#define SZ_YOUNG_16THS		7
/* (10): part of the error that D may move, the error that is left, round trips to
 * wait, weight of one in the average; the step: a quarter, at most 16 q / RTT.
 */
#define SZ_STILL_SHIFT		2
#define SZ_STILL_ERROR		(SZ_ONE / 64)
#define SZ_STILL_RTTS		(4U << SZ_SHIFT)
#define SZ_MEAN_SHIFT		2
#define SZ_STILL_GAIN		(SZ_ONE / 4)
#define SZ_STILL_GAIN_SHIFT	4
/* Growth on an empty queue, octaves, and the part of (10)'s 16 q / RTT that it is at most:
 * an RTT goes by until it is heard of.
 */
#define SZ_EMPTY_RTTS		SZ_ONE
#define SZ_EMPTY_GROWTH		(SZ_ONE / 2)
#define SZ_EMPTY_GAIN_SHIFT	2
/* (12): round trips that growth counts; it is 1/2^5 octave more in each; the part of
 * (1)'s gain with which flows that have grown come back, 1/2^1.
 */
#define SZ_LIGHT_RTTS		(64U << SZ_SHIFT)
#define SZ_LIGHT_GROW_SHIFT	5
#define SZ_LIGHT_BACK_SHIFT	1
/* (13): RTT in q, 1/2^3; log2 of the packets in what the RTT's first bit stands for, 64 in
 * the mean of RTTs; (1)'s gain is so many times as large; room of the pace; growth on an
 * empty queue.
 */
#define SZ_LEADS_RTT_SHIFT	3
#define SZ_LEADS_L2		(11 * (s64)(SZ_ONE / 2))
#define SZ_LEADS_GAIN		4
#define SZ_LEADS_ROOM		(SZ_ONE / 20)
#define SZ_LEADS_GROWTH		(SZ_ONE / 5)

static s32 sz_bounded(const struct sz_par *par, s64 l2)
{
	return min_t(s64, max_t(s64, l2, SZ_MIN_L2), par->max_l2);
}

/* After each change of rate or weight. */
static void sz_moved(struct sz_core *sz, const struct sz_par *par)
{
	sz->target_ns = sz_target_delay_ns(par, sz->rate_l2 - sz->weight_l2);
}

/* log2 of a weight in thousandths. */
static s32 sz_weight_l2(u32 weight_milli)
{
	return sz_log2(min_t(u32, weight_milli, SZ_WEIGHT_MAX_MILLI)) -
	       SZ_MILLI_L2;
}

/**
 * sz_init() - begin a flow
 * @sz: the flow
 * @par: parameters
 * @now_ns: time, ns
 * @rate_bytes: rate to begin with, bytes/s: the initial window in an RTT
 * @weight_milli: its weight, thousandths, 1 to SZ_WEIGHT_MAX_MILLI
 */
void sz_init(struct sz_core *sz, const struct sz_par *par, u64 now_ns,
	     u64 rate_bytes, u32 weight_milli)
{
	sz->last_ns = now_ns;
	sz->rtt_ns = 0;
	sz->weight_l2 = sz_weight_l2(weight_milli);
	sz->rate_l2 = sz_bounded(par, sz_log2(rate_bytes));
	sz->pace_l2 = sz->rate_l2;
	sz->age = 0;
	sz->rest = 0;
	sz->mean_l2 = par->alpha_l2;
	sz->now_l2 = par->alpha_l2;
	sz->still_l2 = par->alpha_l2;
	sz->still = 0;
	sz->empty = 0;
	sz->leads = false;
	sz->starting = true;
	sz_moved(sz, par);
}

/**
 * sz_resume() - begin a flow that has found its rate by other means
 * @sz: the flow
 * @par: parameters
 * @now_ns: time, ns
 * @rate_bytes: the rate, bytes/s
 * @weight_milli: its weight, thousandths, 1 to SZ_WEIGHT_MAX_MILLI
 *
 * The queue at that moment is that of the other means and tells no share: the
 * flow does not fall to it at once, see (7).
 */
void sz_resume(struct sz_core *sz, const struct sz_par *par, u64 now_ns,
	       u64 rate_bytes, u32 weight_milli)
{
	sz_init(sz, par, now_ns, rate_bytes, weight_milli);
	sz->age = SZ_AGE_MAX;
}

/**
 * sz_restart() - begin again after a pause that made the rate meaningless
 * @sz: the flow
 * @par: parameters
 * @now_ns: time, ns
 * @rate_bytes: rate to begin with, bytes/s; the flow never becomes faster by it
 */
void sz_restart(struct sz_core *sz, const struct sz_par *par, u64 now_ns,
		u64 rate_bytes)
{
	s32 rate_l2 = sz_bounded(par, sz_log2(rate_bytes));

	sz->last_ns = now_ns;
	if (rate_l2 < sz->rate_l2)
		sz->rate_l2 = rate_l2;
	sz->pace_l2 = sz->rate_l2;
	sz->age = 0;
	sz->leads = false;
	sz->starting = true;
	sz_moved(sz, par);
}

/* (6): @l2, but if that is less than @before_l2, no less than a packet in @ns. */
static s64 sz_glide_l2(const struct sz_par *par, s64 before_l2, s64 l2, u64 ns)
{
	/* mostly the first bit of it is enough to know */
	if (l2 >= par->packet_l2 - (fls64(ns) - 1) * (s64)SZ_ONE)
		return l2;
	return max_t(s64, l2, min_t(s64, before_l2, (s64)par->packet_l2 - sz_log2(ns)));
}

/**
 * sz_set_weight() - give a flow another weight
 * @sz: the flow
 * @par: parameters
 * @weight_milli: new weight, thousandths, 1 to SZ_WEIGHT_MAX_MILLI
 *
 * The rate for a unit of weight is what the bottleneck says and stays, see (6). To be called
 * as well, with the weight as it is, when the parameters have changed.
 */
void sz_set_weight(struct sz_core *sz, const struct sz_par *par,
		   u32 weight_milli)
{
	s32 weight_l2 = sz_weight_l2(weight_milli);
	s64 change = (s64)weight_l2 - sz->weight_l2;

	sz->weight_l2 = weight_l2;
	if (!sz->starting) {
		if (sz->rtt_ns)
			change = sz_glide_l2(par, sz->rate_l2, sz->rate_l2 + change,
					     sz->rtt_ns) - sz->rate_l2;
		sz->rate_l2 = sz_bounded(par, sz->rate_l2 + change);
		sz->pace_l2 = sz_bounded(par, sz->pace_l2 + change);
	}
	sz_moved(sz, par);
}

/* e of the head of this file, in octaves; @told_l2: T^-1(D). */
static s64 sz_error(const struct sz_core *sz, s64 told_l2)
{
	s64 error = told_l2 + sz->weight_l2 - sz->rate_l2;

	return min_t(s64, max_t(s64, error, -SZ_ERROR_MAX), SZ_ERROR_MAX);
}

/* Before the flow has met its share (7). */
static noinline void sz_on_ack_starting(struct sz_core *sz, const struct sz_par *par,
					u32 delay_ns, u64 rtt_ns, u64 past_ns)
{
	s64 error = sz_error(sz, sz_target_rate_l2(par, min_t(u32, delay_ns, par->start_ns)));
	s64 part = past_ns >= rtt_ns ? SZ_ONE : (s64)div64_u64(past_ns << SZ_SHIFT, rtt_ns);

	if (error <= part)
		sz->starting = false;
	/* a rate that was found by other means does not fall at once */
	if (sz->age)
		error = max_t(s64, error, 0);
	error = min_t(s64, error, part);
	sz->rate_l2 = sz_bounded(par, sz_glide_l2(par, sz->rate_l2, sz->rate_l2 + error, rtt_ns));
	if (sz->rate_l2 == par->max_l2)
		sz->starting = false;
	sz->pace_l2 = sz->rate_l2;
	sz_moved(sz, par);
}

/* How long it takes until the flow hears of what it does (4), ns. @bit: the RTT's first. */
static u64 sz_loop_ns(const struct sz_core *sz, const struct sz_par *par,
		      u64 rtt_ns, int bit, s64 error)
{
	s64 fair_l2 = min_t(s64, sz->rate_l2 + max_t(s64, error, 0),
			    par->max_l2);
	s64 gap_l2 = par->packet_l2 - fair_l2;
	u64 most_ns = rtt_ns / 8, gap_ns;

	/* mostly the first bit is enough to know */
	if (gap_l2 <= (bit - 3) * (s64)SZ_ONE)
		return rtt_ns;
	gap_ns = sz_exp2(gap_l2);
	if (gap_ns <= most_ns)
		return rtt_ns;
	return rtt_ns + 2 * (gap_ns - most_ns);
}

/* Moves the rate by @part of @step octaves << SZ_STEP_SHIFT. With a long RTT and
 * many ACKs in it that is far below the resolution of rate_l2, so the rest is
 * carried: else each step would round down, and shares with it.
 */
static void sz_step(struct sz_core *sz, s64 step, s64 part)
{
	s64 sum;

	step = min_t(s64, max_t(s64, step, -SZ_STEP_MAX), SZ_STEP_MAX);
	sum = (step * part) >> (SZ_SHIFT + SZ_STEP_SHIFT - SZ_REST_SHIFT);
	sum += ((s64)sz->rate_l2 << SZ_REST_SHIFT) + sz->rest;
	sz->rate_l2 = sum >> SZ_REST_SHIFT;
	sz->rest = sum & ((1 << SZ_REST_SHIFT) - 1);
}

/* @x, but no farther from 0 than @bound, whatever its sign. */
static s64 sz_within(s64 x, s64 bound)
{
	bound = max_t(s64, bound, -bound);
	return min_t(s64, max_t(s64, x, -bound), bound);
}

/* (10): the largest step in an RTT: 16 q / RTT. @per_ns: as in sz_on_ack_steady(). */
static s64 sz_still_gain(const struct sz_par *par, u64 per_ns)
{
	return (par->q_ns * per_ns) >> (SZ_PER_SHIFT - SZ_SHIFT - SZ_STILL_GAIN_SHIFT);
}

/* (10), (13): growth on an empty queue in a part of an RTT, octaves. @error: to where. */
static noinline s64 sz_empty_growth(const struct sz_core *sz, const struct sz_par *par,
				    u64 per_ns, s64 part, s64 error)
{
	if (sz->leads)
		return sz_mul(part, SZ_LEADS_GROWTH);
	if (error <= 0)
		return 0;
	part = sz_mul(part, min_t(s64, sz_still_gain(par, per_ns) >> SZ_EMPTY_GAIN_SHIFT,
				  SZ_EMPTY_GROWTH));
	return min_t(s64, part, error);
}

/* (10): the average of what D tells, whether it stands still, whether the queue is
 * empty. @told_l2: the rate for weight 1 that D tells. @per_ns: as in sz_on_ack_steady().
 * @often: the flow hears more than a few times in a round trip.
 */
static __always_inline void sz_stand_still(struct sz_core *sz, const struct sz_par *par,
					   u32 delay_ns, s64 told_l2, u64 per_ns,
					   s64 part, bool often)
{
	s64 error, moved, still_l2 = sz->still_l2;

	sz->now_l2 += sz_mul(told_l2 - sz->now_l2, part);
	sz->mean_l2 += sz_mul(told_l2 - sz->mean_l2, part) >> SZ_MEAN_SHIFT;
	error = (s64)sz->mean_l2 + sz->weight_l2 - sz->rate_l2;
	/* the average of few samples moves by itself */
	moved = often ? (s64)sz->mean_l2 - sz->now_l2 : 0;
	moved = max_t(s64, max_t(s64, moved, -moved),
		      max_t(s64, sz->mean_l2 - still_l2,
			    still_l2 - sz->mean_l2)) << SZ_STILL_SHIFT;
	if (unlikely(sz_is_empty(par, delay_ns))) {
		sz->still = 0;
		sz->empty = min_t(u32, sz->empty + part, SZ_EMPTY_RTTS);
		if (sz->empty == SZ_EMPTY_RTTS)
			sz->rate_l2 += sz_empty_growth(sz, par, per_ns, part, error);
		return;
	}
	sz->empty = 0;
	if (moved > max_t(s64, error, -error) || delay_ns >= par->telling_ns) {
		sz->still_l2 = sz->mean_l2;
		sz->still = 0;
		return;
	}
	sz->still = min_t(u32, sz->still + part, SZ_STILL_RTTS);
	if (sz->still != SZ_STILL_RTTS)
		return;
	/* no jump where it begins to matter: noise is not symmetric */
	error -= sz_within(error, SZ_STILL_ERROR);
	sz->rate_l2 += sz_mul(sz_mul(error, min_t(s64, sz_still_gain(par, per_ns),
						  SZ_STILL_GAIN)), part);
}

/* (12): a flow whose share is more than an empty queue can tell. @per_ns: as in
 * sz_on_ack_steady(). @rtts: round trips since the last sample, << SZ_SHIFT. @step: what
 * (1) says. Return: octaves for a round trip, << SZ_STEP_SHIFT.
 */
static s64 sz_light_step(struct sz_core *sz, const struct sz_par *par, u64 per_ns,
			 s64 rtts, s64 step)
{
	s64 over = (s64)sz->rate_l2 - sz->weight_l2 - par->zero_l2;
	s64 grow;

	if (sz->now_l2 > par->light_l2) {
		sz->empty = min_t(u64, sz->empty + rtts, SZ_LIGHT_RTTS);
		grow = sz_mul(rtts, min_t(s64, sz->empty >> SZ_LIGHT_GROW_SHIFT,
					  SZ_EMPTY_GROWTH));
		sz->rate_l2 += min_t(s64, grow, SZ_ONE);
		return 0;
	}
	sz->empty = 0;
	over = (max_t(s64, over, 0) * (s64)par->octave_q8_ns) >> (SZ_SHIFT + 8);
	over = (over * (s64)per_ns) >> (SZ_PER_SHIFT - SZ_SHIFT - SZ_STEP_SHIFT);
	over = sz_mul(sz_within(over, SZ_STEP_MAX << 4), SZ_LOG2_E / SZ_GAIN_PART);
	over = min_t(s64, over >> SZ_LIGHT_BACK_SHIFT, max_t(s64, -SZ_GAIN_PART * step, 0));
	return step - over;
}

/* @l2 within what a flow of this RTT may have. */
static s32 sz_in_range(const struct sz_par *par, s64 l2, u64 rtt_ns)
{
	s64 least = par->packet_l2 -
		    ((s64)(fls64(rtt_ns) + SZ_FLOOR_RTTS_SHIFT - 1) << SZ_SHIFT);

	return sz_bounded(par, max_t(s64, l2, least));
}

/* The rate after a step, and the pace, @lead from it: (6) and what a flow of this RTT may
 * have. @past_ns: since the last sample. @bit: the RTT's first.
 */
static void sz_land(struct sz_core *sz, const struct sz_par *par, s64 before_l2, s64 lead,
		    u64 rtt_ns, u64 past_ns, int bit)
{
	s32 rate_l2 = sz_bounded(par, sz->rate_l2);
	s64 pace_l2 = rate_l2 + lead;

	/* mostly both are more than a packet in an RTT, and the first bit is enough to know */
	if (likely(min_t(s64, sz->rate_l2, pace_l2) >= par->packet_l2 - bit * (s64)SZ_ONE)) {
		sz->rate_l2 = rate_l2;
		sz->pace_l2 = sz_bounded(par, pace_l2);
		return;
	}
	past_ns = max_t(u64, rtt_ns, 2 * past_ns);
	sz->rate_l2 = sz_in_range(par, sz_glide_l2(par, before_l2, sz->rate_l2, past_ns), rtt_ns);
	pace_l2 = sz_glide_l2(par, before_l2, sz->rate_l2 + lead, past_ns);
	sz->pace_l2 = sz_in_range(par, pace_l2, rtt_ns);
}

/* (12), the head of it: a flow above the rate that an empty queue tells. @rtt_ns: the sample's,
 * @past_ns: since the last. Return: as sz_light_step().
 */
static noinline s64 sz_on_ack_light(struct sz_core *sz, const struct sz_par *par, s64 told_l2,
				    u64 per_ns, s64 part, s64 step, u64 rtt_ns, u64 past_ns,
				    bool often)
{
	s64 rtts = part;

	if (!often)
		rtts = min_t(u64, div64_u64(past_ns << SZ_SHIFT, rtt_ns), SZ_LIGHT_RTTS);
	sz->now_l2 += sz_mul(told_l2 - sz->now_l2, part);
	sz->mean_l2 = sz->now_l2;
	sz->still = sz->now_l2 > par->alpha_l2 ? 0 :
		    min_t(u32, sz->still + part, SZ_STILL_RTTS);
	sz->age = min_t(u32, sz->age + part, SZ_AGE_MAX);
	return sz_light_step(sz, par, per_ns, rtts, step);
}

/* (7): a flow that has known its share for few round trips. Return: octaves for a round
 * trip, << SZ_STEP_SHIFT.
 */
static noinline s64 sz_on_ack_young(struct sz_core *sz, const struct sz_par *par, s64 told_l2,
				    s64 error, u64 per_ns, s64 part, s64 step)
{
	s64 m = div_u64(1ULL << (2 * SZ_SHIFT), SZ_ONE + SZ_YOUNG_16THS * (sz->age >> 4)), mean;

	if (sz->leads)
		m = min_t(s64, m, sz_still_gain(par, per_ns));
	mean = sz_mul(error, m) * (1 << SZ_STEP_SHIFT);

	sz->age += part;
	sz->mean_l2 = told_l2;
	sz->now_l2 = told_l2;
	sz->still = 0;
	return error < 0 ? min_t(s64, step, mean) : max_t(s64, step, mean);
}

/* What the samples of a flow on its way do, see (1) to (4) and (8) to (11). */
static __always_inline void sz_on_ack_steady(struct sz_core *sz, const struct sz_par *par,
					     struct sz_sample s, u64 rtt_ns, u64 past_ns)
{
	u32 delay_ns = min_t(u32, s.delay_ns, par->telling_ns);
	s64 told_l2 = sz_target_rate_l2(par, delay_ns);
	s64 error = sz_error(sz, told_l2), before_l2 = sz->rate_l2;
	int bit = fls64(rtt_ns) - 1;
	u64 loop_ns, per_ns;
	s64 step, lead, part;
	bool light;

	loop_ns = sz_loop_ns(sz, par, rtt_ns, bit, error);
	per_ns = div64_u64(1ULL << SZ_PER_SHIFT, max_t(u64, loop_ns, SZ_LOOP_MIN_NS));
	part = past_ns >= loop_ns ? SZ_ONE :
	       (s64)((past_ns * per_ns) >> (SZ_PER_SHIFT - SZ_SHIFT));
	/* (1), (2): (T - D) / (6 * loop), and six times that; 2^27 * 2^34 */
	step = (s64)sz->target_ns - delay_ns;
	step = (step * (s64)per_ns) >> (SZ_PER_SHIFT - SZ_SHIFT - SZ_STEP_SHIFT);
	step = sz_mul(sz_within(step, SZ_STEP_MAX << 4), SZ_LOG2_E / SZ_GAIN_PART);
	lead = sz_within((SZ_GAIN_PART * step) >> SZ_STEP_SHIFT, error / 2);
	light = unlikely((s64)sz->rate_l2 - sz->weight_l2 > par->light_l2 &&
			 sz->still < SZ_STILL_RTTS);
	sz->leads = !light && rtt_ns >> SZ_LEADS_RTT_SHIFT >= par->q_ns &&
		    (s64)sz->rate_l2 - par->packet_l2 + bit * (s64)SZ_ONE >= SZ_LEADS_L2;
	if (sz->leads) {
		step *= SZ_LEADS_GAIN;
		lead += SZ_LEADS_ROOM;
	}
	lead = max_t(s64, lead, SZ_LEAD_MIN);
	step = sz_within(step, sz_mul(error, SZ_M) * (1 << SZ_STEP_SHIFT));
	if (light)
		step = sz_on_ack_light(sz, par, told_l2, per_ns, part, step, rtt_ns, past_ns,
				       loop_ns == rtt_ns);
	else if (unlikely(sz->age < SZ_AGE_MAX))
		step = sz_on_ack_young(sz, par, told_l2, error, per_ns, part, step);
	else
		sz_stand_still(sz, par, delay_ns, told_l2, per_ns, part, loop_ns == rtt_ns);
	sz_step(sz, step, part);
	sz_land(sz, par, before_l2, lead + sz_unlock_l2(sz, s.now_ns), rtt_ns, past_ns, bit);
	sz_moved(sz, par);
}

/**
 * sz_on_ack() - move a flow by an ACK with telemetry
 * @sz: the flow
 * @par: parameters
 * @s: what the ACK says
 */
void sz_on_ack(struct sz_core *sz, const struct sz_par *par, struct sz_sample s)
{
	u64 past_ns = min_t(u64, s.now_ns - sz->last_ns, SZ_NS_PER_S);
	u64 rtt_ns = max_t(u32, s.rtt_ns, 1);

	sz->last_ns = s.now_ns;
	sz->rtt_ns = rtt_ns;
	if (likely(!sz->starting))
		sz_on_ack_steady(sz, par, s, rtt_ns, past_ns);
	else
		sz_on_ack_starting(sz, par, s.delay_ns, rtt_ns, past_ns);
}

/**
 * sz_on_loss() - a packet was lost, or marked CE
 * @sz: the flow
 * @par: parameters
 * @timeout: the retransmission timer has expired
 *
 * To be called at most once an RTT. At a bottleneck that tells its delay, D
 * says all there is to say; a loss there is an overflow, and elsewhere the only
 * sign. Rate times 0.7, after a timeout a quarter and start again.
 */
void sz_on_loss(struct sz_core *sz, const struct sz_par *par, bool timeout)
{
	s64 cut = timeout ? 2 * SZ_ONE : SZ_ONE / 2;

	sz->rate_l2 = sz_bounded(par, sz->rate_l2 - cut);
	sz->pace_l2 = sz->rate_l2;
	sz_moved(sz, par);
	if (timeout) {
		sz->age = SZ_AGE_MAX;
		sz->leads = false;
		sz->starting = true;
	}
}

/**
 * sz_keep_below() - a flow sends no faster, whatever its share is said to be
 * @sz: the flow
 * @par: parameters
 * @most_bytes: bytes on the line a second, above 0
 */
void sz_keep_below(struct sz_core *sz, const struct sz_par *par, u64 most_bytes)
{
	s32 most_l2 = sz_bounded(par, sz_log2(most_bytes));

	if (sz->rate_l2 <= most_l2 && sz->pace_l2 <= most_l2)
		return;
	if (sz->rate_l2 > most_l2)
		sz->rate_l2 = most_l2;
	if (sz->pace_l2 > most_l2)
		sz->pace_l2 = most_l2;
	sz_moved(sz, par);
}
