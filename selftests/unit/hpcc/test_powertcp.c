// SPDX-License-Identifier: GPL-2.0
/* PowerTCP's law, kmod/hpcc/core/powertcp.c, step by step. */
#include "hpcc/core/powertcp.h"
#include "unit.h"

#define LINE	12500000000ULL	/* bytes/s: 100 Gbit/s */

static const struct hp_conf defaults = {
	.line_bps = 8 * LINE, .eta_permille = 950, .stages = 5, .flows = 4, .weight_milli = 1000,
};

static struct hp_par par;
static struct hp_core hp;

static void start(u64 rate)
{
	hp_par_init(&par, &defaults);
	hp_init(&hp, &par, rate);
}

/* Within a thousandth. */
static bool near(u64 value, u64 want)
{
	return value >= want - want / 1000 && value <= want + want / 1000;
}

TEST(gamma)
{
	CHECK_EQ(pt_gamma(1000), 1024u);
	CHECK_EQ(pt_gamma(500), 512u);
	CHECK_EQ(pt_gamma(0), pt_gamma(1));
	CHECK(pt_gamma(1) >= 1);
	CHECK_EQ(pt_gamma(~0U), 1024u);
}

/* gamma (w_old / power + beta) + (1 - gamma) w; w_old stays for the round trip. */
TEST(law)
{
	u64 beta = LINE / 80, to;

	start(LINE / 2);
	to = LINE / 4 + beta;
	pt_on_power(&hp, &par, pt_gamma(500), 2 * PT_POWER_ONE, false, false);
	CHECK(near(hp.rate, (LINE / 2 + to) / 2));
	pt_on_power(&hp, &par, pt_gamma(500), 2 * PT_POWER_ONE, true, false);
	CHECK(near(hp.rate, (LINE / 2 + 3 * to) / 4));
	CHECK_EQ(hp.reference, hp.rate);
	/* gamma 1: the last ACK alone counts */
	start(LINE / 2);
	pt_on_power(&hp, &par, pt_gamma(1000), 8 * PT_POWER_ONE, false, false);
	pt_on_power(&hp, &par, pt_gamma(1000), PT_POWER_ONE, false, false);
	CHECK(near(hp.rate, LINE / 2 + beta));
}

/* n flows of the same rate are at rest at 1 / (1 - n beta / line). */
TEST(rest)
{
	u32 power = PT_POWER_ONE * 10 / 9;
	int i;

	start(LINE / 8);
	hp.step = par.step_bytes;
	hp.reference = 10 * hp.step;
	hp.rate = hp.reference;
	for (i = 0; i < 10; i++)
		pt_on_power(&hp, &par, pt_gamma(500), power, false, false);
	CHECK(near(hp.rate, hp.reference));
}

/* An idle port, or any other small number, doubles the rate in a round trip, no more, gamma of
 * the way with an ACK.
 */
TEST(rise)
{
	u32 powers[] = { 0, 1, PT_POWER_ONE / 100, PT_POWER_ONE / 2 };
	size_t i;
	int acks;

	for (i = 0; i < ARRAY_SIZE(powers); i++) {
		start(LINE / 100);
		pt_on_power(&hp, &par, pt_gamma(100), powers[i], false, false);
		CHECK_MSG(near(hp.rate, LINE / 100 + (LINE / 100 + hp.step) / 10), "%zu", i);
		for (acks = 0; acks < 100; acks++)
			pt_on_power(&hp, &par, pt_gamma(100), powers[i], false, false);
		CHECK_MSG(near(hp.rate, LINE / 50 + hp.step), "%zu", i);
	}
}

/* After a loss that no power explains: steps alone, until a port is full. */
TEST(untold_losses)
{
	u64 rate;
	int i;

	start(LINE);
	hp_on_loss(&hp, &par, false, ~0ULL);
	rate = hp.rate;
	/* half of a step in a round trip, of one ACK or of ten */
	pt_on_power(&hp, &par, pt_gamma(100), PT_POWER_ONE / 4, true, false);
	CHECK_EQ(hp.rate, rate + par.step_bytes / 2);
	for (i = 1; i <= 10; i++)
		pt_on_power(&hp, &par, pt_gamma(100), PT_POWER_ONE / 4, i == 10, false);
	CHECK_EQ(hp.rate, rate + 2 * (par.step_bytes / 2));
	pt_on_power(&hp, &par, pt_gamma(1000), PT_POWER_ONE, true, false);
	rate = hp.rate;
	pt_on_power(&hp, &par, pt_gamma(1000), PT_POWER_ONE / 4, true, false);
	CHECK(hp.rate > 3 * rate / 2);
}

/* What the application does not use does not grow; any number leaves the rate in its bounds. */
TEST(bounds)
{
	start(LINE / 10);
	pt_on_power(&hp, &par, pt_gamma(500), PT_POWER_ONE / 4, true, true);
	CHECK_EQ(hp.rate, LINE / 10);
	pt_on_power(&hp, &par, pt_gamma(500), 4 * PT_POWER_ONE, true, true);
	CHECK(hp.rate < LINE / 10);
	start(LINE);
	pt_on_power(&hp, &par, pt_gamma(1000), 0, true, false);
	CHECK_EQ(hp.rate, par.max_bytes);
	start(par.min_bytes);
	pt_on_power(&hp, &par, pt_gamma(1000), ~0U, true, false);
	CHECK(hp.rate >= par.min_bytes);
}

UNIT_MAIN
