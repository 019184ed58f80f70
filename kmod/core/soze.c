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
 * That is Algorithm 1 (SZ_PER_RTT), and per packet what section 3.3 wants
 * (SZ_PER_PACKET).
 *
 * Where ours (SZ_STABLE, the default) differs, and why. D integrates the error
 * of the sum of all rates (equation 4), and each packet in flight tells a D that
 * is an RTT old, which the paper's condition p > dt/2 * (ln alpha - ln beta)
 * leaves out. So the loop's gain is G = m * RTT / q in an RTT, and with the
 * paper's m = 0.25, p = 20 us it oscillates as soon as RTT exceeds a few q:
 * shares off by a factor, the line idle for a quarter of the time.
 *
 *  1. m follows the RTT: m = min(m, q / (4 * RTT)), G <= 1/4. RTT includes D.
 *  2. A proportional part: until the next sample the flow sends at
 *     ln r + 3/4 * q / RTT * e. It is 0 in the steady state, and damps.
 *  3. Steps are in proportion to the time since the last sample, so packets and
 *     ACKs may come in any number.
 *  4. A flow that sends less than eight packets in an RTT hears late and acts
 *     late: twice what its packet gap exceeds RTT / 8 counts as RTT.
 *  5. The window is r * (RTT without D + T(r/w)): in the steady state a little
 *     more than what is in flight, after a change a bound for the queue.
 *  6. A new weight scales the rate at once: shares are right in an RTT, and what
 *     is left, the sum of rates, is the same error for all flows.
 *  7. A new flow doubles its rate in an RTT until it meets the share that D
 *     tells, or falls to it. Then m is 1/(1 + round trips) for 16 round trips if
 *     that is larger: an average of what it has seen.
 *
 *  8. D beyond k + 12 q speaks of no share. It is waited for, by the window and
 *     by (2), down to a quarter of the rate, and not learned: who learns from
 *     it is at a few packets a second when it is gone, and hears that late. Nor
 *     does a flow that comes from another control fall to the share that the
 *     other's queue tells.
 *
 * Measured (selftests/unit/test_soze_net.c): shares exact to 0.1 %, D within
 * 0.1 us of T, from 5 us to 5 ms and from 2 to 1000 flows with one setting. What
 * the bound costs is speed: an initial error shrinks by e in 4 * RTT / q RTTs.
 */
#include "soze.h"

#define SZ_NS_PER_S		1000000000ULL
#define SZ_LN2			11629080	/* ln 2 << SZ_SHIFT */
#define SZ_MILLI_L2		167198115	/* log2(1000) << SZ_SHIFT */

/* beta, if not given: alpha / 1000. */
#define SZ_BETA_PART		1000
/* p, if not given: what makes 4-flow queues of about two such delays. */
#define SZ_P_DEFAULT_NS		60000
/* ... but at least so many packets, since D moves by packets, ... */
#define SZ_P_PKTS		28
/* ... and so many base RTTs, << 8, if the network's is known, ... */
#define SZ_P_BASE_Q8		884
/* ... which must not lift D out of the telemetry's range. */
#define SZ_P_DERIVED_MAX_NS	700000
#define SZ_K_DEFAULT_NS		3000
#define SZ_K_PKTS_Q1		5	/* 2.5 packets */
#define SZ_M_DEFAULT_PERMILLE	250

/* A sender may exceed its line by this, log2: its own queue is never empty. */
#define SZ_LINE_EXTRA		(SZ_ONE / 32)
/* Slowest rate, 1 KB/s, and slowest in packets: one in 64 RTTs. */
#define SZ_MIN_L2		(10 * SZ_ONE)
#define SZ_FLOOR_RTTS_SHIFT	6
/* Fractional bits that a rate has beside, for what steps leave. */
#define SZ_REST_SHIFT		16
/* Largest step in an RTT: two octaves. */
#define SZ_STEP_MAX		(2LL << (SZ_SHIFT + SZ_REST_SHIFT))
/* Largest error and delay that the arithmetic carries. */
#define SZ_ERROR_MAX		((s64)BIT_ULL(37))
#define SZ_DELAY_MAX_NS		((u32)BIT(26))
/* Delay that speaks of shares, in q above k: that of 160,000 times weight 1. A
 * longer queue is one to be waited for.
 */
#define SZ_TELLING_Q		12
/* Pace below the rate, at least, octaves: what is sent next waits for the pace. */
#define SZ_LEAD_MIN		(-2LL * SZ_ONE)
/* Round trips during which a flow averages, << SZ_SHIFT. */
#define SZ_AGE_MAX		(16U << SZ_SHIFT)
/* Delay that a starting flow believes, in q: the range of p / q is 7. */
#define SZ_START_Q		7
/* Window beyond what is in flight: 1/16, and so many packets. */
#define SZ_WINDOW_SHIFT		4
#define SZ_WINDOW_PKTS		2

static s64 sz_mul(s64 a, s64 b)
{
	return (a * b) >> SZ_SHIFT;
}

/**
 * sz_log2() - binary logarithm
 * @x: a number; 0 counts as 1
 *
 * Return: log2(x) << SZ_SHIFT, exact to the last bit but one.
 */
s32 sz_log2(u64 x)
{
	int msb = x ? fls64(x) - 1 : 0;
	s32 l2 = msb;
	u64 y;
	int i;

	/* the mantissa in [1, 2), << 31: squaring it doubles its logarithm */
	y = msb > 31 ? x >> (msb - 31) : (x ?: 1) << (31 - msb);
	for (i = 0; i < SZ_SHIFT; i++) {
		y = (y * y) >> 31;
		l2 *= 2;
		if (y >> 32) {
			l2++;
			y >>= 1;
		}
	}
	return l2;
}

/**
 * sz_exp2() - inverse of sz_log2()
 * @l2: a logarithm << SZ_SHIFT
 *
 * Return: 2^(l2 / SZ_ONE) with a relative error below 3e-7, rounded; 0 below
 * 1/2, U64_MAX if it does not fit.
 */
u64 sz_exp2(s64 l2)
{
	/* 1/n! << 30, n = 6 to 1 */
	static const s32 inverse[] = {
		1491308, 8947849, 44739243, 178956971, 536870912, 1073741824,
	};
	s64 whole = (l2 + SZ_ONE / 2) >> SZ_SHIFT;
	s64 x, y = inverse[0];
	unsigned int i;

	if (whole < 0)
		return 0;
	if (whole > 63)
		return ~0ULL;
	/* e^x with |x| <= ln(2) / 2, << 30 */
	x = ((l2 - (whole << SZ_SHIFT)) * SZ_LN2) >> (2 * SZ_SHIFT - 30);
	for (i = 1; i < 6; i++)
		y = ((y * x) >> 30) + inverse[i];
	y = ((y * x) >> 30) + (1 << 30);
	if (whole >= 30)
		return (u64)y << (whole - 30);
	return ((u64)y + (1ULL << (29 - whole))) >> (30 - whole);
}

/* p of equation 6 from what is known of the network, ns. */
static u32 sz_derived_p_ns(const struct sz_conf *cf, u64 packet_ns)
{
	u64 p_ns = SZ_P_DEFAULT_NS;

	p_ns = max_t(u64, p_ns, SZ_P_PKTS * packet_ns);
	p_ns = max_t(u64, p_ns, min_t(u64, SZ_P_DERIVED_MAX_NS,
				      ((u64)cf->base_ns * SZ_P_BASE_Q8) >> 8));
	return min_t(u64, p_ns, SZ_P_MAX_NS);
}

/**
 * sz_par_init() - derive what the flows need from the settings
 * @par: result
 * @cf: settings
 *
 * All flows that meet must have the same alpha, beta, p and k, as delays are the
 * language they speak with one another. Hence nothing is derived from what a
 * flow has measured. p: 60 us, at least 28 packets at alpha and 3.5 base RTTs
 * of the network; k: 3 us, at least 2.5 packets.
 *
 * Return: 0; -1 if a setting is out of range or beta not below alpha.
 */
int sz_par_init(struct sz_par *par, const struct sz_conf *cf)
{
	u64 alpha_bps = cf->alpha_mbps ? cf->alpha_mbps * 1000000ULL :
					 cf->line_bps;
	u64 packet_ns, beta_bps;
	u32 p_ns = cf->p_ns;
	s64 octaves;

	if (cf->line_bps < 1000000 || !cf->wire_bytes ||
	    cf->wire_bytes > 1 << 20 || cf->form >= SZ_FORMS ||
	    cf->m_permille > SZ_M_MAX_PERMILLE || cf->k_ns > SZ_K_MAX_NS ||
	    cf->alpha_mbps > SZ_RATE_MAX_MBPS)
		return -1;
	beta_bps = cf->beta_mbps ? cf->beta_mbps * 1000000ULL :
				   div_u64(alpha_bps, SZ_BETA_PART);
	packet_ns = div64_u64(cf->wire_bytes * 8 * SZ_NS_PER_S, alpha_bps);
	if (!p_ns)
		p_ns = sz_derived_p_ns(cf, packet_ns);
	octaves = (s64)sz_log2(alpha_bps) - sz_log2(beta_bps);
	if (beta_bps >= alpha_bps || octaves < SZ_ONE / 64 ||
	    p_ns < SZ_P_MIN_NS || p_ns > SZ_P_MAX_NS)
		return -1;

	par->slope = div_u64((u64)octaves << SZ_SLOPE_SHIFT, p_ns);
	par->octave_q8_ns = div64_u64((u64)p_ns << (SZ_SHIFT + 8), octaves);
	par->q_ns = div64_u64((u64)p_ns << SZ_SHIFT,
			      max_t(s64, sz_mul(octaves, SZ_LN2), 1));
	par->alpha_l2 = sz_log2(alpha_bps) - 3 * SZ_ONE;
	par->max_l2 = sz_log2(cf->line_bps) - 3 * SZ_ONE + SZ_LINE_EXTRA;
	par->packet_l2 = sz_log2(cf->wire_bytes * SZ_NS_PER_S);
	par->m = div_u64((u64)(cf->m_permille ?: SZ_M_DEFAULT_PERMILLE) <<
			 SZ_SHIFT, 1000);
	par->k_ns = cf->k_ns;
	if (!par->k_ns)
		par->k_ns = min_t(u64, SZ_K_MAX_NS,
				  max_t(u64, SZ_K_DEFAULT_NS,
					(SZ_K_PKTS_Q1 * packet_ns) >> 1));
	par->wire_bytes = cf->wire_bytes;
	par->form = cf->form;
	return 0;
}

/**
 * sz_target_rate_l2() - T^-1 of equation 6
 * @par: parameters
 * @delay_ns: queueing delay, ns
 *
 * Return: rate of weight 1 at this delay, log2 of bytes/s, any number: delays
 * beyond p + k or below k are extrapolated.
 */
s64 sz_target_rate_l2(const struct sz_par *par, u32 delay_ns)
{
	s64 over_ns = (s64)min_t(u32, delay_ns, SZ_DELAY_MAX_NS) - par->k_ns;

	return par->alpha_l2 - ((over_ns * (s64)par->slope) >> SZ_SLOPE_SHIFT);
}

/**
 * sz_target_delay_ns() - T of equation 6
 * @par: parameters
 * @rate_per_weight_l2: r/w, log2 of bytes/s
 *
 * Return: queueing delay at which a flow of this rate for weight 1 is at rest,
 * ns; 0 for rates that no delay stands for.
 */
u32 sz_target_delay_ns(const struct sz_par *par, s32 rate_per_weight_l2)
{
	s64 octaves = (s64)par->alpha_l2 - rate_per_weight_l2;
	s64 ns = par->k_ns + ((octaves * (s64)par->octave_q8_ns) >>
			      (SZ_SHIFT + 8));

	return min_t(s64, max_t(s64, ns, 0), SZ_DELAY_MAX_NS);
}

static s32 sz_bounded(const struct sz_par *par, s64 l2)
{
	return min_t(s64, max_t(s64, l2, SZ_MIN_L2), par->max_l2);
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
	sz->weight_l2 = sz_weight_l2(weight_milli);
	sz->rate_l2 = sz_bounded(par, sz_log2(rate_bytes));
	sz->pace_l2 = sz->rate_l2;
	sz->age = 0;
	sz->rest = 0;
	sz->starting = true;
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
	sz->starting = true;
}

/**
 * sz_set_weight() - give a flow another weight
 * @sz: the flow
 * @par: parameters
 * @weight_milli: new weight, thousandths, 1 to SZ_WEIGHT_MAX_MILLI
 *
 * The rate for a unit of weight is what the bottleneck says and stays.
 */
void sz_set_weight(struct sz_core *sz, const struct sz_par *par,
		   u32 weight_milli)
{
	s32 weight_l2 = sz_weight_l2(weight_milli);
	s64 change = (s64)weight_l2 - sz->weight_l2;

	sz->weight_l2 = weight_l2;
	if (par->form != SZ_STABLE || sz->starting)
		return;
	sz->rate_l2 = sz_bounded(par, sz->rate_l2 + change);
	sz->pace_l2 = sz_bounded(par, sz->pace_l2 + change);
}

/* e of the head of this file, in octaves. */
static s64 sz_error(const struct sz_core *sz, const struct sz_par *par,
		    u32 delay_ns)
{
	s64 error = sz_target_rate_l2(par, delay_ns) + sz->weight_l2 -
		    sz->rate_l2;

	return min_t(s64, max_t(s64, error, -SZ_ERROR_MAX), SZ_ERROR_MAX);
}

/* The paper's Algorithm 1, at once or once an RTT. */
static void sz_on_ack_paper(struct sz_core *sz, const struct sz_par *par,
			    const struct sz_sample *s)
{
	if (par->form == SZ_PER_RTT && s->now_ns - sz->last_ns <= s->rtt_ns)
		return;
	sz->last_ns = s->now_ns;
	sz->starting = false;
	sz->rate_l2 = sz_bounded(par, sz->rate_l2 +
				 sz_mul(sz_error(sz, par, s->delay_ns), par->m));
	sz->pace_l2 = sz->rate_l2;
}

/* Before the flow has met its share (7). A D of an incast is believed up to
 * SZ_START_Q * q only: with what it would mean, nothing would be sent for long.
 */
static void sz_on_ack_starting(struct sz_core *sz, const struct sz_par *par,
			       const struct sz_sample *s, s64 part)
{
	u32 delay_ns = min_t(u32, s->delay_ns,
			     par->k_ns + SZ_START_Q * par->q_ns);
	s64 error = sz_error(sz, par, delay_ns);

	if (error <= part)
		sz->starting = false;
	/* a rate that was found by other means does not fall at once */
	if (sz->age)
		error = max_t(s64, error, 0);
	sz->rate_l2 = sz_bounded(par, sz->rate_l2 + min_t(s64, error, part));
	if (sz->rate_l2 == par->max_l2)
		sz->starting = false;
	sz->pace_l2 = sz->rate_l2;
}

/* Delays from here on are no word about shares, ns. */
static u64 sz_telling_ns(const struct sz_par *par)
{
	return par->k_ns + (u64)SZ_TELLING_Q * par->q_ns;
}

/* How long it takes until the flow hears of what it does (4), ns. */
static u64 sz_loop_ns(const struct sz_core *sz, const struct sz_par *par,
		      const struct sz_sample *s, s64 error)
{
	s64 fair_l2 = min_t(s64, sz->rate_l2 + max_t(s64, error, 0),
			    par->max_l2);
	u64 gap_ns = sz_exp2(par->packet_l2 - fair_l2);
	u64 loop_ns = s->rtt_ns;

	if (gap_ns > s->rtt_ns / 8)
		loop_ns += 2 * (gap_ns - s->rtt_ns / 8);
	return loop_ns;
}

/* Integrates the error. With a long RTT and many ACKs in it a step is far below
 * the resolution of rate_l2, so the rest is carried: else each step would round
 * down, and shares with it.
 */
static void sz_step(struct sz_core *sz, s64 error, s64 gain, s64 part)
{
	s64 step = (error * gain) >> (SZ_SHIFT - SZ_REST_SHIFT);
	s64 sum;

	step = min_t(s64, max_t(s64, step, -SZ_STEP_MAX), SZ_STEP_MAX);
	/* 2^41 * 2^20 */
	sum = (step * (part >> 4)) >> (SZ_SHIFT - 4);
	sum += ((s64)sz->rate_l2 << SZ_REST_SHIFT) + sz->rest;
	sz->rate_l2 = sum >> SZ_REST_SHIFT;
	sz->rest = sum & ((1 << SZ_REST_SHIFT) - 1);
}

/**
 * sz_on_ack() - move a flow by an ACK with telemetry
 * @sz: the flow
 * @par: parameters
 * @s: what the ACK says
 */
void sz_on_ack(struct sz_core *sz, const struct sz_par *par,
	       const struct sz_sample *s)
{
	u64 past_ns = min_t(u64, s->now_ns - sz->last_ns, SZ_NS_PER_S);
	u64 rtt_ns = max_t(u32, s->rtt_ns, 1);
	s64 error, gain, lead, part, least;
	u64 loop_ns;

	if (par->form != SZ_STABLE) {
		sz_on_ack_paper(sz, par, s);
		return;
	}
	sz->last_ns = s->now_ns;
	if (sz->starting) {
		part = past_ns >= rtt_ns ? SZ_ONE :
		       (s64)div64_u64(past_ns << SZ_SHIFT, rtt_ns);
		sz_on_ack_starting(sz, par, s, part);
		return;
	}
	error = sz_error(sz, par, s->delay_ns);
	loop_ns = max_t(u64, sz_loop_ns(sz, par, s, error), 1);
	part = past_ns >= loop_ns ? SZ_ONE :
	       (s64)div64_u64(past_ns << SZ_SHIFT, loop_ns);
	/* (1), (2): q / (4 * loop), and three times that */
	gain = div64_u64((u64)par->q_ns << (SZ_SHIFT - 2), loop_ns);
	lead = min_t(s64, 3 * gain, SZ_ONE / 2);
	gain = min_t(s64, gain, par->m);
	if (sz->age < SZ_AGE_MAX) {
		sz->age += part;
		gain = max_t(s64, gain, div_u64(1ULL << (2 * SZ_SHIFT),
						SZ_ONE + sz->age));
	}
	least = par->packet_l2 -
		((s64)(fls64(rtt_ns) + SZ_FLOOR_RTTS_SHIFT - 1) << SZ_SHIFT);
	lead = max_t(s64, sz_mul(error, lead), SZ_LEAD_MIN);
	error = sz_error(sz, par, min_t(u64, s->delay_ns, sz_telling_ns(par)));
	sz_step(sz, error, gain, part);
	sz->rate_l2 = sz_bounded(par, max_t(s64, sz->rate_l2, least));
	sz->pace_l2 = sz_bounded(par, max_t(s64, least, sz->rate_l2 + lead));
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
	if (timeout) {
		sz->age = SZ_AGE_MAX;
		sz->starting = true;
	}
}

/**
 * sz_window_pkts() - how much may be in flight
 * @sz: the flow
 * @par: parameters
 * @rest_ns: RTT without the delay D; in the paper's forms the RTT with it, ns
 *
 * Return: packets, at least 1.
 */
u32 sz_window_pkts(const struct sz_core *sz, const struct sz_par *par,
		   u32 rest_ns)
{
	u64 rate = sz_exp2(sz->rate_l2);
	u64 time_ns = rest_ns, bytes;

	if (par->form == SZ_STABLE)
		time_ns += sz_target_delay_ns(par, sz->rate_l2 - sz->weight_l2);
	/* rate * time / 10^9: 2^30 / 10^9 = 1 + 4833 / 65536 */
	bytes = mul_u64_u32_shr(rate, min_t(u64, time_ns, U32_MAX), 30);
	bytes += (bytes * 4833) >> 16;
	if (par->form == SZ_STABLE)
		bytes += (bytes >> SZ_WINDOW_SHIFT) +
			 SZ_WINDOW_PKTS * par->wire_bytes;
	return min_t(u64, max_t(u64, div_u64(bytes, par->wire_bytes), 1),
		     S32_MAX);
}
