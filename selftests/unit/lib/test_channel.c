// SPDX-License-Identifier: GPL-2.0
/* Channels of delay, kmod/lib/channel.h: PrioPlus, section 4.3.2. */
#include "lib/channel.h"
#include "unit.h"

TEST(as_told_where_packets_and_paths_are_short)
{
	/* A + B = 4 us */
	CHECK_EQ(fl_channel_ns(1, 3200, 800, 123, 12000), 4000u);
	CHECK_EQ(fl_channel_ns(7, 3200, 800, 1230, 12000), 28000u);
	CHECK_EQ(fl_channel_ns(15, 3200, 800, 123, 12000), 60000u);
}

TEST(as_wide_as_packets_ask)
{
	/* 2.6 packets of 12.3 us at 1 Gbit/s */
	CHECK_EQ(fl_channel_fluct_ns(3200, 12300, 50000), 31980u);
	CHECK_EQ(fl_channel_ns(2, 3200, 800, 12300, 50000), 2 * 32780u);
}

TEST(as_wide_as_the_base_rtt_asks)
{
	CHECK_EQ(fl_channel_fluct_ns(3200, 123, 1200000), 100000u);
	CHECK_EQ(fl_channel_ns(1, 3200, 800, 123, 1200000), 100800u);
}

TEST(priority_0_has_the_least_that_can_be_told)
{
	/* epsilon, 1 us; a packet's time; B; a quarter of A */
	CHECK_EQ(fl_channel_ns(0, 3200, 800, 123, 12000), 1000u);
	CHECK_EQ(fl_channel_ns(0, 3200, 800, 12300, 50000), 12300u);
	CHECK_EQ(fl_channel_ns(0, 3200, 30000, 123, 12000), 30000u);
	CHECK_EQ(fl_channel_ns(0, 3200, 800, 123, 1200000), 25000u);
}

TEST(noise_moves_all)
{
	/* (30 - 1.6) / 4 us */
	CHECK_EQ(fl_channel_noise_ns(3200, 30000), 7100u);
	CHECK_EQ(fl_channel_noise_ns(3200, 1600), 0u);
	CHECK_EQ(fl_channel_ns(3, 3200, 30000, 123, 12000), 7100 + 3 * 33200u);
}

/* No priority is below the one beneath it, whatever is told. */
TEST(priorities_are_in_order)
{
	static const u32 fluct[] = { 0, 3200, 50000000 }, noise[] = { 1, 800, 50000000 };
	static const u32 pkt[] = { 1, 123, 12300, 1230000 }, base[] = { 1, 12000, 3000000000U };
	u32 i, prio, last, ns;

	for (i = 0; i < 3 * 3 * 4 * 3; i++) {
		last = 0;
		for (prio = 0; prio < 16; prio++) {
			ns = fl_channel_ns(prio, fluct[i % 3], noise[i / 3 % 3], pkt[i / 9 % 4],
					   base[i / 36]);
			CHECK(ns >= last);
			CHECK(ns <= FL_CHANNEL_MOST_NS);
			last = ns;
		}
	}
}

UNIT_MAIN
