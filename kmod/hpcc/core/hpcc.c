// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC's rate control. Equations and lines are those of the paper's Algorithm 1; U is the
 * load that comes with an ACK (lib/load.h), averaged by the port over the flow's round
 * trip, which is lines 8 to 10.
 *
 * (1) With each ACK (lines 12 to 18), W^c being the rate at the round trip's begin:
 *
 *	W = W^c * eta / U + W_AI	if U >= eta, or after maxStage round trips without
 *	W = W^c + W_AI			otherwise
 *
 *     so a load that is told by all ACKs of a round trip acts once: W^c becomes W when the
 *     round trip ends. A load in force moves the rate half of the way to W alone: the
 *     port's average is as old as the round trip, and flows that all go the whole way
 *     meet a line that is empty and full by turns (N = 8, 8 flows, 100 Gbit/s, 24 us, in
 *     test_hpcc_net.c: line .972 and a queue of .044 RTT; half of the way: .999 and .006;
 *     256 flows: .85 and .93).
 *
 * (2) Windows are rates here: a flow's share does not depend on its RTT then, and below a
 *     packet in a round trip there is nothing special. The caller bounds what is in
 *     flight by the rate times the RTT without queues, as the paper's window does.
 *
 * (3) W_AI = line * (1 - eta) / N (section 4.1.2), times the weight w: flows meet in the
 *     ratio of their steps. N is 4, of which half of the way (1) makes the step of
 *     the paper's 8. At a load of eta / (1 - n W_AI / line) n flows are at
 *     rest, which has no answer for n >= line / W_AI: the queue grows for ever.
 *     So of a rate below w line / N the step is less, by the square root of what is
 *     missing: the queue grows with the square root of the flows beyond N, a smaller
 *     flow still grows by a larger part of itself, and rates are as weights. With N = 8,
 *     64 flows have a queue of .31 instead of 1.3 round trips, 256 of 1.2 instead of 19.
 *
 * (4) The paper's flows start with a window of a line, which PFC makes harmless. These start
 *     with what TCP starts with; the first load may raise it, by 8 at most, as if maxStage
 *     round trips had passed.
 *
 * (5) The paper's ports all tell. If the queue of a port that does not is full, the loads of the
 *     others ask for more in each round trip, and a flow is back where packets were lost before
 *     the loss is mended. After such a loss a load below eta counts as eta: the flow is one of
 *     additive increase, W_AI / 2 a round trip, and multiplicative decrease, until a port tells
 *     that it is full. Flows that begin together have added up to any number of lines before the
 *     first loss is seen, and a half of that is not enough: what comes through is. A policer holds
 *     nothing, and is known by how much is lost (lib/losses.h).
 *
 * (6) A loss takes 1 / (2 w^(1/4)) of the rate, 3/4 at most. Flows that all lose packets whenever a
 *     queue is full have rates as w^1.25 then, flows that lose packets in the ratio of what they
 *     send as w^.625. With a half for all of them a weight of 4 had 2.3 to 3.0 times the bytes of a
 *     weight of 1 (3 flows, a queue of 40 packets that nobody tells of, 1 Gbit/s, 1 ms), with
 *     1 / (2 sqrt(w)) 8.2 to 9.4 times, with this 3.7 to 4.4 times.
 */
#include "hpcc.h"
#include "lib/isqrt.h"

/* Rates are line / 2^16 at least. */
#define HP_MIN_SHIFT		16
/* After a timeout this part of the rate is left, and at least after a loss. */
#define HP_TIMEOUT_SHIFT	2
/* Fractional bits of the square root of a part, and of roots of a weight. */
#define HP_ROOT_SHIFT		10
#define HP_CUT_SHIFT		10

static u64 hp_bounded(const struct hp_par *par, u64 rate)
{
	return clamp_t(u64, rate, par->min_bytes, par->max_bytes);
}

/**
 * hp_par_init() - parameters
 * @par: set
 * @cf: what they follow from; numbers out of range count as the nearest
 */
void hp_par_init(struct hp_par *par, const struct hp_conf *cf)
{
	u32 eta = clamp_t(u32, cf->eta_permille, HP_ETA_MIN_PERMILLE, HP_ETA_MAX_PERMILLE);
	u32 weight = clamp_t(u32, cf->weight_milli, 1, HP_WEIGHT_MAX_MILLI);
	u32 flows = clamp_t(u32, cf->flows, 1, HP_FLOWS_MAX);
	u32 root;

	par->max_bytes = max_t(u64, cf->line_bps / 8, 125000);
	par->min_bytes = max_t(u64, par->max_bytes >> HP_MIN_SHIFT, 1);
	/* below 2^44 * 2^20 */
	par->whole_bytes = div_u64(div_u64(par->max_bytes, flows) * weight,
				   HP_WEIGHT_ONE_MILLI);
	par->step_bytes = div_u64(par->whole_bytes, 1000) * max_t(u32, 1000 - eta, 1);
	par->step_bytes = clamp_t(u64, par->step_bytes, 1, par->max_bytes);
	/* 1 / (2 w^(1/4)) (6): below 2^20 * 2^20 */
	root = fl_isqrt(div_u64((u64)weight << (2 * HP_ROOT_SHIFT), HP_WEIGHT_ONE_MILLI));
	root = fl_isqrt((u64)root << HP_ROOT_SHIFT);
	par->cut_q10 = min_t(u32, (BIT(HP_CUT_SHIFT + HP_ROOT_SHIFT) >> 1) / root,
			     BIT(HP_CUT_SHIFT) - (BIT(HP_CUT_SHIFT) >> HP_TIMEOUT_SHIFT));
	par->eta = (eta << FL_LOAD_HOST_SHIFT) / 1000;
	par->stages = min_t(u32, cf->stages, HP_STAGES_MAX);
}

/* Additive step at the reference rate (3). One division and a root, once in a round trip. */
static u64 hp_step(const struct hp_core *hp, const struct hp_par *par)
{
	u64 part;

	if (hp->reference >= par->whole_bytes)
		return par->step_bytes;
	part = div64_u64(hp->reference << (2 * HP_ROOT_SHIFT), par->whole_bytes);
	return max_t(u64, (par->step_bytes * fl_isqrt(part)) >> HP_ROOT_SHIFT, 1);
}

/**
 * hp_turn() - a round trip begins
 * @hp: the flow
 * @par: its parameters
 */
void hp_turn(struct hp_core *hp, const struct hp_par *par)
{
	hp->reference = hp->rate;
	hp->step = hp_step(hp, par);
}
EXPORT_SYMBOL_GPL(hp_turn);

/**
 * hp_init() - start, or start again after silence
 * @hp: the flow
 * @par: its parameters
 * @rate: what it sends at, bytes/s
 */
void hp_init(struct hp_core *hp, const struct hp_par *par, u64 rate)
{
	hp->rate = hp_bounded(par, rate);
	hp->stage = par->stages;
	hp->untold = false;
	hp_turn(hp, par);
}
EXPORT_SYMBOL_GPL(hp_init);

/**
 * hp_believed() - what a load means after losses that loads do not explain (5)
 * @hp: the flow
 * @full: what a flow alone at a port steers for, << FL_LOAD_HOST_SHIFT
 * @load: of the busiest port that tells, likewise, as of fl_load_of()
 *
 * Return: what to go by, likewise.
 */
u32 hp_believed(struct hp_core *hp, u32 full, u32 load)
{
	if (likely(!hp->untold))
		return load;
	hp->untold = load < full;
	return hp->untold ? full : load;
}
EXPORT_SYMBOL_GPL(hp_believed);

/**
 * hp_on_load() - an ACK with a load has come
 * @hp: the flow
 * @par: its parameters
 * @load: of the busiest port, << FL_LOAD_HOST_SHIFT, as of fl_load_of()
 * @turned: a round trip is over with it
 * @limited: the application, not the rate, limits what is sent: then a load is no reason to
 *	send more
 */
void hp_on_load(struct hp_core *hp, const struct hp_par *par, u32 load, bool turned,
		bool limited)
{
	u64 rate = hp->reference;
	bool measured;

	load = hp_believed(hp, par->eta, load);
	measured = load >= par->eta || hp->stage >= par->stages;
	/* rates are below 2^44, eta is 2^16 at most */
	if (measured)
		rate = (rate + div_u64(rate * par->eta, max_t(u32, load, 1)) + hp->step) >> 1;
	else
		rate += hp->step;
	rate = hp_bounded(par, rate);
	if (limited)
		rate = min_t(u64, rate, hp->reference);
	hp->rate = rate;
	if (!turned)
		return;
	hp->stage = measured ? 0 : hp->stage + 1;
	hp_turn(hp, par);
}
EXPORT_SYMBOL_GPL(hp_on_load);

/**
 * hp_on_loss() - packets are lost
 * @hp: the flow
 * @par: its parameters
 * @timeout: nothing came back; else: some did
 * @untold: in a queue that loads do not tell of: what came through, bytes on the line a second; 0:
 *	loads tell
 *
 * Once for each recovery. The paper's networks lose nothing.
 */
void hp_on_loss(struct hp_core *hp, const struct hp_par *par, bool timeout, u64 untold)
{
	u64 rate = hp->rate >> HP_TIMEOUT_SHIFT;

	if (!timeout)
		rate = hp->rate - ((hp->rate * par->cut_q10) >> HP_CUT_SHIFT);
	if (untold && !hp->untold)
		rate = min_t(u64, rate, untold);
	hp->rate = hp_bounded(par, rate);
	hp->stage = timeout ? par->stages : 0;
	hp->untold |= !!untold;
	hp_turn(hp, par);
}
EXPORT_SYMBOL_GPL(hp_on_loss);
