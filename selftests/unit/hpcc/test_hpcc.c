// SPDX-License-Identifier: GPL-2.0
/* HPCC's rate control, kmod/hpcc/core/hpcc.c: the paper's Algorithm 1 step by step. */
#include "hpcc/core/hpcc.h"
#include "unit.h"

#define LINE	12500000000ULL	/* bytes/s: 100 Gbit/s */

static const struct hp_conf paper = {
	.line_bps = 8 * LINE, .eta_permille = 950, .stages = 5, .flows = 8,
	.weight_milli = 1000,
};

static void start(struct hp_par *par, struct hp_core *hp, u64 rate)
{
	hp_par_init(par, &paper);
	hp_init(hp, par, rate);
}

TEST(parameters_of_the_paper)
{
	struct hp_conf cf = paper;
	struct hp_par par;

	hp_par_init(&par, &cf);
	CHECK_EQ(par.max_bytes, LINE);
	CHECK_EQ(par.step_bytes, LINE / 160);
	CHECK_EQ(par.eta, 62259u);
	cf.weight_milli = 4000;
	hp_par_init(&par, &cf);
	CHECK_EQ(par.step_bytes, LINE / 40);
	/* nonsense is bounded */
	cf = (struct hp_conf){ .stages = ~0U, .weight_milli = ~0U, .eta_permille = ~0U };
	hp_par_init(&par, &cf);
	CHECK(par.step_bytes >= 1 && par.step_bytes <= par.max_bytes);
	CHECK_EQ(par.stages, (u32)HP_STAGES_MAX);
	CHECK_EQ(par.eta, HP_LOAD_ONE);
}

/* Lines 12 to 14: half of the way to W^c eta / U + W_AI, however many ACKs tell of it. */
TEST(load_acts_once_in_a_round_trip)
{
	struct hp_core hp;
	struct hp_par par;
	u64 whole;
	int i;

	start(&par, &hp, LINE / 2);
	hp.stage = 0;
	for (i = 0; i < 100; i++)
		hp_on_load(&hp, &par, 2 * HP_LOAD_ONE, i == 99, false);
	whole = LINE / 4 * 95 / 100 + LINE / 160;
	CHECK(hp.rate <= (LINE / 2 + whole) / 2 && hp.rate >= (LINE / 2 + whole) / 2 - LINE / 1000);
	CHECK_EQ(hp.reference, hp.rate);
	hp_on_load(&hp, &par, 2 * HP_LOAD_ONE, true, false);
	CHECK(hp.rate < LINE * 10 / 36);
}

/* Lines 15 to 18: maxStage additive steps, then the load again. */
/* A round trip ends with what was to be sent next when it began. */
TEST(round_trips)
{
	u32 una;

	for (una = -3000; una != 3000; una += 1000) {
		CHECK(!hp_is_over(una + 4001, una, una + 4000));
		CHECK(!hp_is_over(una + 4001, una + 4000, una + 9000));
		CHECK(!hp_is_over(una + 1, una, una));
		CHECK(hp_is_over(una + 4001, una + 4001, una + 4001));
		CHECK(hp_is_over(una + 4001, una + 5000, una + 9000));
		/* nobody has asked for long: MLCC by what border routers tell */
		CHECK(hp_is_over(una + 4001, una + 0x70000000, una + 0x70004000));
		CHECK(hp_is_over(una + 4001, una + 0x90000000, una + 0x90004000));
		CHECK(hp_is_over(una + 4001, una + 0xf0000000, una + 0xf0004000));
	}
}

TEST(stages)
{
	struct hp_core hp;
	struct hp_par par;
	int i;

	start(&par, &hp, LINE / 4);
	hp.stage = 0;
	for (i = 1; i <= 5; i++) {
		hp_on_load(&hp, &par, HP_LOAD_ONE / 2, true, false);
		CHECK_EQ(hp.rate, LINE / 4 + i * (LINE / 160));
	}
	CHECK_EQ(hp.stage, 5u);
	hp_on_load(&hp, &par, HP_LOAD_ONE / 2, false, false);
	CHECK(hp.rate > LINE * 2 / 5);
	hp_on_load(&hp, &par, HP_LOAD_ONE / 2, true, false);
	CHECK_EQ(hp.stage, 0u);
}

/* At rest: the load is eta / (1 - n W_AI / line). */
TEST(rest)
{
	struct hp_core hp;
	struct hp_par par;
	u64 load;
	int i;

	start(&par, &hp, LINE / 4);
	load = (u64)par.eta * 160 / (160 - 4);
	for (i = 0; i < 200; i++)
		hp_on_load(&hp, &par, load, true, false);
	CHECK(hp.rate > LINE / 4 - LINE / 400 && hp.rate < LINE / 4 + LINE / 400);
}

/* (3): n flows of the same rate find rest at any n: the part by which all of them grow
 * is sqrt(n / 8) / 160 * 8, 1.57 of the line at n = 8000 without the root.
 */
TEST(many_flows_rest)
{
	static const u64 flows[] = { 8, 64, 512, 4096 };
	struct hp_core hp;
	struct hp_par par;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flows); i++) {
		u64 part;

		start(&par, &hp, LINE / flows[i]);
		part = hp.step * flows[i] * 1000 / LINE;
		/* thousandths of the line: 50 sqrt(n / 8) */
		CHECK(part * part >= 2400 * flows[i] / 8 && part * part <= 2520 * flows[i] / 8);
	}
}

TEST(start_takes_what_is_free)
{
	struct hp_core hp;
	struct hp_par par;

	start(&par, &hp, LINE / 20);
	hp_on_load(&hp, &par, HP_LOAD_ONE / 16, false, false);
	CHECK(hp.rate > LINE / 20 * 8 && hp.rate < LINE / 20 * 9);
	/* not if the application has no more to send */
	hp_on_load(&hp, &par, HP_LOAD_ONE / 16, false, true);
	CHECK_EQ(hp.rate, LINE / 20);
	/* but less it may have to be */
	hp_on_load(&hp, &par, 4 * HP_LOAD_ONE, false, true);
	CHECK(hp.rate < LINE / 30);
}

TEST(losses)
{
	struct hp_core hp;
	struct hp_par par;

	start(&par, &hp, LINE);
	hp_on_loss(&hp, &par, false, 0);
	CHECK_EQ(hp.rate, LINE / 2);
	CHECK_EQ(hp.stage, 0u);
	hp_on_loss(&hp, &par, true, 0);
	CHECK_EQ(hp.rate, LINE / 8);
	CHECK_EQ(hp.stage, 5u);
	CHECK_EQ(hp.reference, hp.rate);
}

/* Heavier flows lose a smaller part. */
TEST(losses_by_weight)
{
	static const struct { u32 weight_milli, left_permille; } of[] = {
		{ 1, 250 }, { 62, 250 }, { 1000, 500 }, { 16000, 750 },
		{ HP_WEIGHT_MAX_MILLI, 911 },
	};
	struct hp_conf cf = paper;
	struct hp_core hp;
	struct hp_par par;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		cf.weight_milli = of[i].weight_milli;
		hp_par_init(&par, &cf);
		hp_init(&hp, &par, LINE);
		hp_on_loss(&hp, &par, false, 0);
		CHECK(hp.rate <= LINE * of[i].left_permille / 1000 + LINE / 1000);
		CHECK(hp.rate >= LINE * of[i].left_permille / 1000 - LINE / 1000);
	}
}

/* After a loss that no load explains: steps alone, whatever others tell, until a port is full. */
TEST(untold_losses)
{
	struct hp_core hp;
	struct hp_par par;
	u64 rate;
	int i;

	start(&par, &hp, LINE);
	hp_on_loss(&hp, &par, false, LINE / 3);
	CHECK_EQ(hp.rate, LINE / 3);
	start(&par, &hp, LINE);
	hp_on_loss(&hp, &par, false, ~0ULL);
	CHECK_EQ(hp.rate, LINE / 2);
	for (i = 0; i < 20; i++) {
		rate = hp.rate;
		hp_on_load(&hp, &par, i & 1 ? 0 : HP_LOAD_ONE / 2, true, false);
		CHECK_EQ(hp.rate, rate + par.step_bytes / 2);
	}
	/* a loss that a load explains changes nothing about that */
	hp_on_loss(&hp, &par, false, 0);
	rate = hp.rate;
	hp_on_load(&hp, &par, 0, true, false);
	CHECK(hp.rate <= rate + par.step_bytes / 2);
	hp_on_load(&hp, &par, HP_LOAD_ONE, true, false);
	rate = hp.rate;
	for (i = 0; i < 6; i++)
		hp_on_load(&hp, &par, HP_LOAD_ONE / 4, true, false);
	CHECK(hp.rate > 3 * rate / 2);
}

/* Any load in any order: bounded, and nothing overflows (UBSan). */
TEST(anything)
{
	static const u64 lines[] = { 1000000, 1000000000, 400000000000ULL, 100000000000000ULL };
	struct hp_core hp;
	struct hp_par par;
	u32 r = 1, i, j;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		struct hp_conf cf = paper;

		cf.line_bps = lines[i];
		hp_par_init(&par, &cf);
		hp_init(&hp, &par, ~0ULL);
		for (j = 0; j < 100000; j++) {
			r = r * 1664525 + 1013904223;
			hp_on_load(&hp, &par, fl_load_of(r >> 16), r & 256, r & 512);
			if (!(r >> 20))
				hp_on_loss(&hp, &par, r & 1024, r & 2048 ? (u64)r << (r & 31) : 0);
			CHECK(hp.rate >= par.min_bytes && hp.rate <= par.max_bytes);
		}
	}
}

UNIT_MAIN
