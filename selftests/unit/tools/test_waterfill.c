// SPDX-License-Identifier: GPL-2.0
/*
 * The water-filling solver (tools/lab/waterfill.c): known shares, the definition
 * of weighted max-min on random networks, and that the check sees a wrong answer.
 */
#include "unit.h"

#include "../../../tools/lab/waterfill.c"

#define TINY	(1 / 1e9)

static void near(double a, double b)
{
	CHECK_MSG(fabs(a / b - 1) < TINY, "%.9g, not %.9g", a, b);
}

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
	return (unit_random64(&random_state) >> 33) % below;
}

/* Figure 17 of Söze's paper: 40, 40, 50, 57.1, 62.5 for the first flow. */
TEST(moving_bottleneck)
{
	static const double capacity[] = { 100, 100 };
	static const uint32_t first[] = { 0, 1, 3, 5, 7, 8, 9 };
	static const uint32_t hop[] = { 0, 0, 1, 0, 1, 0, 1, 1, 1 };
	static const double expected[] = { 40, 40, 50, 400 / 7., 62.5 };
	double weight[] = { 1, 1, 1, 1, 1, 1 }, rate[6];
	struct wf_net net = { 2, 6, capacity, weight, first, hop };
	int i;

	for (i = 0; i < 5; i++) {
		weight[0] = i + 1;
		REQUIRE(wf_solve(&net, rate, NULL));
		near(rate[0], expected[i]);
		CHECK(wf_check(&net, rate) < TINY);
	}
}

/* The scenario parking.yaml, by hand. */
TEST(three_links)
{
	static const double capacity[] = { 25, 20, 40 };
	static const uint32_t first[] = { 0, 3, 4, 5, 6, 8, 10 };
	static const uint32_t hop[] = { 0, 1, 2, 0, 1, 2, 0, 1, 1, 2 };
	static const double weight[] = { 1, 2, 2, 4, 3, 1 };
	struct wf_net net = { 3, 6, capacity, weight, first, hop };
	struct wf_cost cost;
	double rate[6];

	REQUIRE(wf_solve(&net, rate, &cost));
	near(rate[0], 20 / 7.);
	near(rate[1], 25 - 80 / 7.);
	near(rate[2], 40 / 7.);
	near(rate[3], 40 - 40 / 7.);
	near(rate[4], 60 / 7.);
	near(rate[5], 20 / 7.);
	CHECK_EQ((int)cost.rounds, 3);
	/* each use of a link: listed, looked at when full, fixed */
	CHECK_EQ((int)cost.visits, 30);
}

/* Links without flows, one flow alone, flows of huge and tiny weights. */
TEST(corners)
{
	static const double capacity[] = { 5, 10, 7 };
	static const uint32_t first[] = { 0, 1, 2, 3 };
	static const uint32_t hop[] = { 1, 1, 2 };
	static const double weight[] = { 1000, 0.001, 1 };
	struct wf_net net = { 3, 3, capacity, weight, first, hop };
	static const uint32_t none[] = { 0 };
	struct wf_net empty = { 3, 0, capacity, weight, none, hop };
	double rate[3];

	REQUIRE(wf_solve(&net, rate, NULL));
	near(rate[0] + rate[1], 10.);
	near(rate[0] / rate[1], 1e6);
	near(rate[2], 7.);
	CHECK(wf_solve(&empty, rate, NULL));
}

/* Random networks: what comes out is weighted max-min by definition. */
TEST(definition)
{
	enum { LINKS = 40, FLOWS = 300, HOPS = 6 };
	double capacity[LINKS], weight[FLOWS], rate[FLOWS];
	uint32_t first[FLOWS + 1], hop[FLOWS * HOPS];
	struct wf_net net = { LINKS, FLOWS, capacity, weight, first, hop };
	int round, i, f;

	random_state = 88172645463325252ULL;
	for (round = 0; round < 50; round++) {
		net.flows = 1 + draw(FLOWS);
		net.links = HOPS + draw(LINKS - HOPS + 1);
		for (i = 0; i < LINKS; i++)
			capacity[i] = 1 + draw(100);
		first[0] = 0;
		for (f = 0; f < (int)net.flows; f++) {
			uint32_t hops = 1 + draw(HOPS), l = draw(net.links);

			weight[f] = (1 + draw(4000)) / 1000.;
			for (i = 0; i < (int)hops; i++)
				hop[first[f] + i] = (l + i) % net.links;
			first[f + 1] = first[f] + hops;
		}
		REQUIRE(wf_solve(&net, rate, NULL));
		CHECK_MSG(wf_check(&net, rate) < TINY, "round %d: %g", round,
			  wf_check(&net, rate));
	}
}

/* The check tells shares that are not max-min. */
TEST(check_sees_errors)
{
	static const double capacity[] = { 10, 10 };
	static const uint32_t first[] = { 0, 2, 3, 4 };
	static const uint32_t hop[] = { 0, 1, 0, 1 };
	static const double weight[] = { 1, 1, 1 };
	struct wf_net net = { 2, 3, capacity, weight, first, hop };
	static const double good[] = { 5, 5, 5 };
	static const double overload[] = { 5, 6, 5 };
	static const double idle[] = { 5, 5, 4 };
	static const double unfair[] = { 4, 6, 6 };

	CHECK(wf_check(&net, good) < TINY);
	CHECK(wf_check(&net, overload) > 0.09);
	CHECK(wf_check(&net, idle) > 0.09);
	CHECK(wf_check(&net, unfair) > 0.3);
}

UNIT_MAIN
