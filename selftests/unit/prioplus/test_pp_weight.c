// SPDX-License-Identifier: GPL-2.0
/*
 * Weights inside a priority: the increase by itself, and on an ideal bottleneck
 * the shares, what a change does, and that priorities stay strict.
 */
#include "bottleneck.h"
#include "lib/isqrt.h"
#include "prioplus/core/pp_count.h"
#include "prioplus/core/pp_weight.h"
#include "unit.h"

#define MS	1000000ULL
#define SEEDS	5
#define SHARE_NS	200

static struct pp_chan chan(u32 weight_milli, bool paper)
{
	struct pp_conf cf = {
		.base_ns = 12000, .line_bps = 100000000000ULL,
		.wire_bytes = 1538, .fluct_ns = 3200, .noise_ns = 800,
		.probe_cap_ns = 1000000, .start_permille = 500,
		.resume_permille = 1000,
		.ai_bytes = 150, .weight_milli = weight_milli, .paper = paper,
	};
	struct pp_chan ch = { 0 };

	CHECK_EQ(pp_chan_init(&ch, &cf, 3), 0);
	return ch;
}

/* A sending flow of #flow << PP_FLOWS_SHIFT. */
static struct pp_core flow(u32 flows_q8, u64 pkts)
{
	struct pp_core pp;

	pp_init(&pp, &fl_swift_ops, 0, 1);
	pp_go(&pp, pkts * FL_WND_ONE, 1);
	pp.flows_q8 = flows_q8;
	pp.flows_known = 1;
	return pp;
}

TEST(weight_1_changes_nothing)
{
	const struct pp_chan none = chan(0, false), one = chan(1000, false);
	u32 flows;

	CHECK_EQ(one.weight_milli, 1000u);
	CHECK_EQ(one.ai_most_wnd, one.ai_wnd);
	for (flows = PP_FLOWS_ONE; flows < PP_FLOWS_MAX * PP_FLOWS_ONE;
	     flows += flows / 3) {
		struct pp_core a = flow(flows, 10), b = flow(flows, 10);
		u64 want = ((u64)one.ai_many_wnd << 4) / fl_isqrt(flows);

		want = want < one.ai_wnd ? want : one.ai_wnd;
		CHECK_EQ(pp_own_ai(&a, &one), want);
		CHECK_EQ(pp_own_ai(&b, &none), want);
	}
}

TEST(increase_of_all_is_that_of_the_sum)
{
	/* weights 1, 2, 4 .. in shares by weight: what as many flows of weight 1
	 * add as the weights' sum is
	 */
	static const u32 weight[] = { 1000, 2000, 4000, 16000, 500, 250 };
	const struct pp_chan one = chan(0, false);
	u32 copies, sum_milli, n, i;

	for (copies = 1; copies <= 64; copies *= 4) {
		u64 all = 0, plain;
		struct pp_core pp;

		for (sum_milli = 0, i = 0; i < 6; i++)
			sum_milli += weight[i] * copies;
		for (i = 0; i < 6; i++) {
			struct pp_chan ch = chan(weight[i], false);

			pp = flow((u64)sum_milli * 256 / weight[i], 10);
			all += copies * pp_own_ai(&pp, &ch);
		}
		n = sum_milli / 1000;
		pp = flow(n * 256, 10);
		plain = n * (u64)pp_own_ai(&pp, &one);
		CHECK(all < plain + plain / 20 && all > plain - plain / 20);
	}
}

TEST(weights_are_held_in_range)
{
	const struct pp_chan least = chan(1, false), most = chan(1000000, false);
	const struct pp_chan paper = chan(4000, true);
	struct pp_core pp = flow(PP_FLOWS_MAX * PP_FLOWS_ONE, 1);

	CHECK_EQ(least.weight_milli, PP_WEIGHT_MIN_MILLI + 0u);
	CHECK_EQ(most.weight_milli, PP_WEIGHT_MAX_MILLI + 0u);
	CHECK_EQ(paper.weight_milli, 1000u);
	CHECK(pp_own_ai(&pp, &least) > 0);
	pp = flow(PP_FLOWS_ONE, 1);
	CHECK(pp_own_ai(&pp, &most) <= 16 * (u64)most.ai_wnd);
	/* less than half a packet: at most half of it in an RTT, as without */
	pp = flow(PP_FLOWS_ONE, 1);
	pp.wnd = FL_WND_ONE / 100;
	CHECK(pp_own_ai(&pp, &most) <= pp.wnd / 2);
}

TEST(a_change_glides_to_the_new_share)
{
	struct pp_chan ch = chan(1000, false);
	struct pp_core pp = flow(7 * 256, 30);
	u32 rtts;

	/* 1 of 7 becomes 4 of 10 */
	ch = chan(4000, false);
	pp_reweigh(&pp, &ch, 1000);
	CHECK_EQ(pp.flows_q8, 256u + 6 * 256 / 4);
	CHECK_EQ(pp.glide_wnd, 30 * FL_WND_ONE * 7 * 256 / pp.flows_q8);
	for (rtts = 0; pp.glide && rtts < 100; rtts++) {
		u64 before = pp.wnd;

		pp_glide(&pp, &ch, ch.target_ns);
		CHECK(pp.wnd - before <= 7 * FL_WND_ONE);
	}
	CHECK_EQ(pp.wnd, pp.glide_wnd);
	CHECK_LE(rtts, 16u);
	/* no growth while the delay is high, and not for ever */
	pp_reweigh(&pp, &ch, 1000);
	for (rtts = 0; pp.glide; rtts++)
		pp_glide(&pp, &ch, ch.limit_ns - 1);
	CHECK_LE(rtts, 64u);
	/* and back */
	pp = flow(640, 84);
	ch = chan(1000, false);
	pp_reweigh(&pp, &ch, 4000);
	CHECK_EQ(pp.flows_q8, 7u * 256);
	CHECK_EQ(pp.glide_wnd, 30 * FL_WND_ONE);
	for (rtts = 0; pp.glide && rtts < 100; rtts++)
		pp_glide(&pp, &ch, ch.base_ns);
	CHECK_EQ(pp.wnd, 30 * FL_WND_ONE);
}

TEST(a_change_of_who_knows_nothing)
{
	struct pp_chan ch = chan(4000, false);
	struct pp_core pp = flow(256, 2);

	pp.flows_known = 0;
	pp_reweigh(&pp, &ch, 1000);
	CHECK_EQ(pp.glide, 0u);
	CHECK_EQ(pp.flows_q8, 256u);
	/* stopped: it asks back by the new share */
	pp = flow(7 * 256, 30);
	pp.stopped = 1;
	pp_reweigh(&pp, &ch, 1000);
	CHECK_EQ(pp.glide, 0u);
	CHECK_EQ(pp.flows_q8, 640u);
	/* its first weight is no change */
	pp_reweigh(&pp, &ch, 0);
	CHECK_EQ(pp.flows_q8, 640u);
}

/* Bytes (packets) of flow f in [from, to), from two snapshots. */
static void run_until(struct bn *b, u64 until_ns, u32 *seen)
{
	u64 end_ns = b->end_ns;
	int f;

	b->end_ns = until_ns;
	bn_run(b);
	b->end_ns = end_ns;
	for (f = 0; f < b->flows; f++)
		seen[f] = b->flow[f].snd_una;
}

static void set_weight(struct bn_flow *fl, u32 weight_milli)
{
	u32 was = fl->ch.weight_milli;

	pp_weight_init(&fl->ch, weight_milli);
	pp_reweigh(&fl->pp, &fl->ch, was);
}

/* Largest relative error of what a kind of flows (f % 3) has of all. */
static double worst_error(const u32 *from, const u32 *to, const u32 *weight,
			  int n)
{
	double sum = 0, weights = 0, part[3] = { 0 }, e, worst = 0;
	int f;

	for (f = 0; f < n; f++) {
		part[f % 3] += to[f] - from[f];
		sum += to[f] - from[f];
	}
	for (f = 0; f < 3; f++)
		weights += weight[f];
	for (f = 0; f < 3; f++) {
		e = part[f] / sum / (weight[f] / weights) - 1;
		e = e < 0 ? -e : e;
		worst = e > worst ? e : worst;
	}
	return worst;
}

static void shares(u64 line_bps, u64 prop_ns, int copies, u32 jitter_ns,
		   double bound)
{
	static const u32 kind[] = { 1000, 2000, 4000 };
	u32 weight[48], early[48], from[48], to[48];
	double mean = 0, soon = 0;
	int seed, f, n = 3 * copies;

	for (seed = 0; seed < SEEDS; seed++) {
		struct bn b = { .line_bps = line_bps, .prop_ns = prop_ns,
				.jitter_ns = jitter_ns };

		bn_init(&b, n, 60 * MS, seed + 1);
		for (f = 0; f < n; f++) {
			weight[f] = kind[f % 3];
			CHECK_EQ(bn_add(&b, f, 0, 3, false,
					bn_random(&b) % 20000, 60 * MS), 0);
			pp_weight_init(&b.flow[f].ch, weight[f]);
			pp_targets_init(&b.flow[f].ch, SHARE_NS);
		}
		run_until(&b, 5 * MS, early);
		run_until(&b, 20 * MS, from);
		soon += worst_error(early, from, weight, n) / SEEDS;
		run_until(&b, 60 * MS, to);
		mean += worst_error(from, to, weight, n) / SEEDS;
		CHECK(bn_share(&b, 0, 5 * MS, 60 * MS) > 0.985);
		CHECK_LE(bn_peak_ns(&b, 5 * MS, 60 * MS), 12000u + 2400 +
			 2 * jitter_ns);
		for (f = 0; f < n && copies < 16; f++)
			CHECK_EQ(b.flow[f].stops, 0u);
		bn_free(&b);
	}
	printf("# %d flows, %llu Gbit/s: off by %.1f %%, %.1f %% from 5 to 20 ms\n",
	       n, (unsigned long long)line_bps / 1000000000, 100 * mean,
	       100 * soon);
	CHECK(mean < bound);
}

TEST(shares_are_by_weight)
{
	shares(10000000000ULL, 2600, 1, 0, 0.05);
	shares(100000000000ULL, 2935, 1, 0, 0.02);
	/* whole packets: 7 of the light ones are 6, as long as nothing shakes */
	shares(100000000000ULL, 2935, 4, 400, 0.05);
	/* a light one has less than two */
	shares(100000000000ULL, 2935, 16, 400, 0.15);
}

TEST(own_target)
{
	struct pp_chan ch = chan(2000, false);
	struct pp_core pp = flow(256, 4);

	/* two packets for each weight, and eight times that */
	pp_targets_init(&ch, 200);
	pp_share(&pp, &ch);
	CHECK_EQ(pp.shift_ns, 0u);
	pp.wnd = 32 * FL_WND_ONE;
	pp_share(&pp, &ch);
	CHECK_EQ(pp.shift_ns, 600u);
	/* less: nothing; much more: three eighths of A */
	pp.wnd = 1;
	pp_share(&pp, &ch);
	CHECK_EQ(pp.shift_ns, 0u);
	pp.wnd = FL_WND_ONE << 30;
	pp_share(&pp, &ch);
	CHECK_EQ(pp.shift_ns, 1200u);
	/* not set any more while the flow goes on: from the path, for who has settled */
	pp_targets_init(&ch, 0);
	pp_share(&pp, &ch);
	CHECK_EQ(pp.shift_ns, 0u);
	pp.in_channel = PP_SETTLED;
	pp_share(&pp, &ch);
	CHECK_EQ(pp.shift_ns, 1200u);
	/* from two packets for each weight on, since a 64th of the BDP is less */
	CHECK_LT(ch.bdp_wnd, 128 * FL_WND_ONE);
	pp.wnd = 16 * FL_WND_ONE;
	pp_share(&pp, &ch);
	CHECK_NEAR(pp.shift_ns, 2 * ch.share_ns, 5);
	pp_weight_init(&ch, 1000);
	pp.wnd = 8 * FL_WND_ONE;
	pp_share(&pp, &ch);
	CHECK_NEAR(pp.shift_ns, 2 * ch.share_ns, 5);
	/* as printed there is none */
	ch = chan(2000, true);
	CHECK_EQ(ch.share_ns, 0u);
}

TEST(a_live_change_of_weight)
{
	/* 1:2:4 becomes 4:2:4 within a ms, and back; nobody stops */
	static const u32 old[] = { 1000, 2000, 4000 }, new[] = { 4000, 2000, 4000 };
	u32 at[3], from[3], to[3], w;
	double up = 0, down = 0;
	int seed, f;

	for (seed = 0; seed < SEEDS; seed++) {
		struct bn b = { .line_bps = 100000000000ULL, .prop_ns = 2935 };

		bn_init(&b, 3, 50 * MS, seed + 1);
		for (f = 0; f < 3; f++) {
			CHECK_EQ(bn_add(&b, f, 0, 3, false,
					bn_random(&b) % 20000, 50 * MS), 0);
			pp_weight_init(&b.flow[f].ch, old[f]);
			pp_targets_init(&b.flow[f].ch, SHARE_NS);
		}
		run_until(&b, 30 * MS, at);
		set_weight(&b.flow[0], new[0]);
		run_until(&b, 31 * MS, from);
		run_until(&b, 36 * MS, to);
		up += worst_error(from, to, new, 3) / SEEDS;
		set_weight(&b.flow[0], old[0]);
		run_until(&b, 37 * MS, from);
		run_until(&b, 42 * MS, to);
		down += worst_error(from, to, old, 3) / SEEDS;
		for (w = 0, f = 0; f < 3; f++)
			w += b.flow[f].stops;
		CHECK_EQ(w, 0u);
		CHECK_LE(bn_peak_ns(&b, 30 * MS, 42 * MS), 12000u + 2400);
		CHECK(bn_share(&b, 0, 30 * MS, 42 * MS) > 0.98);
		bn_free(&b);
	}
	printf("# off by %.1f %% and %.1f %%, a ms after the change\n",
	       100 * up, 100 * down);
	CHECK(up < 0.08);
	CHECK(down < 0.08);
}

TEST(priorities_stay_strict)
{
	/* a low priority of weight 16 against a high one of weight 1/16 */
	int seed, f;

	for (seed = 0; seed < SEEDS; seed++) {
		struct bn b = { .line_bps = 10000000000ULL, .prop_ns = 2600 };

		bn_init(&b, 4, 12 * MS, seed + 1);
		for (f = 0; f < 4; f++) {
			CHECK_EQ(bn_add(&b, f, f / 2, 3 + f / 2, false,
					f / 2 * 4 * MS + bn_random(&b) % 20000,
					f < 2 ? 12 * MS : 8 * MS), 0);
			pp_weight_init(&b.flow[f].ch, f < 2 ? 1000000 : 1);
			pp_targets_init(&b.flow[f].ch, SHARE_NS);
		}
		bn_run(&b);
		CHECK_LE(bn_taken_us(&b, 1, 4 * MS, 8 * MS), 500u);
		CHECK_LE(bn_taken_us(&b, 0, 8 * MS, 12 * MS), 500u);
		CHECK(bn_share(&b, 1, 5 * MS, 8 * MS) > 0.98);
		bn_free(&b);
	}
}

UNIT_MAIN
