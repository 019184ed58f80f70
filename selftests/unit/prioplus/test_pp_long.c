// SPDX-License-Identifier: GPL-2.0
/*
 * The PrioPlus core on long paths, whose base RTT is many channels: a link of
 * 1 Gbit/s, A + B of 40 us, base RTTs of 1 ms and of 45 us.
 */
#include "bottleneck.h"
#include "unit.h"

#define SEEDS	8
#define MS	1000000ULL
#define FAR_NS	500000

static const struct bn path = {
	.line_bps = 1000000000ULL, .access_bps = 10000000000ULL,
	.prop_ns = 4000, .fluct_ns = 30000, .noise_ns = 10000,
};

TEST(long_paths_are_paced)
{
	struct bn b = path;

	bn_init(&b, 2, MS, 1);
	CHECK_EQ(bn_add(&b, 0, 0, 3, false, 0, MS), 0);
	CHECK(!b.flow[0].ch.paced);
	b.flow[1].far_ns = FAR_NS;
	CHECK_EQ(bn_add(&b, 1, 0, 3, true, 0, MS), 0);
	CHECK(!b.flow[1].ch.paced);
	CHECK_EQ(bn_add(&b, 1, 0, 3, false, 0, MS), 0);
	CHECK(b.flow[1].ch.paced);
	CHECK_LE(b.flow[1].ch.first_wnd, 11 * FL_WND_ONE);
	CHECK_LT(0u, b.flow[0].ch.share_ns);
	CHECK_LT(b.flow[0].ch.share_ns, b.flow[1].ch.share_ns);
	bn_free(&b);
}

/* A low flow, and a high one from 50 to 100 ms. low_share is that of the low one
 * before and afterwards, at worst; high_share is the least of the high one's.
 */
static void preempt(u64 low_far_ns, u64 high_far_ns, double *low_share,
		    double *high_share)
{
	double x;
	int seed;

	*low_share = 1;
	*high_share = 1;
	for (seed = 0; seed < SEEDS; seed++) {
		struct bn b = path;

		bn_init(&b, 2, 300 * MS, seed + 1);
		b.flow[0].far_ns = low_far_ns;
		b.flow[1].far_ns = high_far_ns;
		CHECK_EQ(bn_add(&b, 0, 0, 1, false, 0, 300 * MS), 0);
		CHECK_EQ(bn_add(&b, 1, 1, 5, false,
				50 * MS + bn_random(&b) % MS, 100 * MS), 0);
		bn_run(&b);
		x = bn_share(&b, 0, 25 * MS, 50 * MS);
		*low_share = x < *low_share ? x : *low_share;
		x = bn_share(&b, 0, 130 * MS, 300 * MS);
		*low_share = x < *low_share ? x : *low_share;
		x = bn_share(&b, 1, 51 * MS, 100 * MS);
		*high_share = x < *high_share ? x : *high_share;
		bn_free(&b);
	}
	printf("# low %.3f, high %.3f\n", *low_share, *high_share);
}

TEST(a_preempted_flow_comes_back)
{
	/* unpaced: .38 before, .03 afterwards */
	double low, high;

	preempt(FAR_NS, FAR_NS, &low, &high);
	CHECK(low > 0.97);
	CHECK(high > 0.84);
	preempt(FAR_NS, 0, &low, &high);
	CHECK(low > 0.97);
	CHECK(high > 0.9);
}

TEST(a_high_flow_of_long_rtt_is_first)
{
	/* the low one comes back twenty times as fast */
	double low, high;

	preempt(0, FAR_NS, &low, &high);
	CHECK(low > 0.97);
	CHECK(high > 0.83);
}

TEST(a_newcomer_beside_two_of_its_priority)
{
	double share, least = 1;
	int seed;

	for (seed = 0; seed < SEEDS; seed++) {
		struct bn b = path;
		int f;

		bn_init(&b, 3, 600 * MS, seed + 1);
		for (f = 0; f < 3; f++) {
			b.flow[f].far_ns = FAR_NS;
			CHECK_EQ(bn_add(&b, f, f / 2, 3, false,
					f / 2 * 100 * MS + bn_random(&b) % MS,
					600 * MS), 0);
		}
		bn_run(&b);
		share = bn_share(&b, 1, 100 * MS, 600 * MS);
		least = share < least ? share : least;
		CHECK(bn_share(&b, -1, 100 * MS, 600 * MS) > 0.93);
		bn_free(&b);
	}
	/* unpaced: 0.000; a third would be fair */
	printf("# %.3f\n", least);
	CHECK(least > 0.015);
}

TEST(a_line_that_is_faster_than_was_told)
{
	struct bn b = path;

	/* the room of priority 0 alone is a hundredth of the window */
	b.conf_bps = b.line_bps / 4;
	bn_init(&b, 1, 900 * MS, 1);
	b.flow[0].far_ns = 4 * MS;
	CHECK_EQ(bn_add(&b, 0, 0, 0, false, 0, 900 * MS), 0);
	bn_run(&b);
	printf("# %.3f\n", bn_share(&b, 0, 850 * MS, 900 * MS));
	CHECK(bn_share(&b, 0, 850 * MS, 900 * MS) > 0.95);
	bn_free(&b);
}

UNIT_MAIN
