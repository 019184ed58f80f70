// SPDX-License-Identifier: GPL-2.0
/* How many segments leave at once, kmod/lib/train.h. */
#include "lib/train.h"
#include "unit.h"

#define GBIT	1000000000ULL

TEST(default_noise)
{
	CHECK_EQ(fl_train_segs(10 * GBIT, 1538, 400), 1u);
	CHECK_EQ(fl_train_segs(40 * GBIT, 1538, 400), 2u);
	CHECK_EQ(fl_train_segs(100 * GBIT, 1538, 400), 4u);
	CHECK_EQ(fl_train_segs(400 * GBIT, 1538, 400), 14u);
	CHECK_EQ(fl_train_segs(100 * GBIT, 9038, 400), 1u);
}

TEST(bounds)
{
	CHECK_EQ(fl_train_segs(100 * GBIT, 1538, 0), 1u);
	CHECK_EQ(fl_train_segs(GBIT / 1000, 65574, 50000000), 1u);
	CHECK_EQ(fl_train_segs(1600 * GBIT, 1, U32_MAX), (u32)FL_TRAIN_MAX_SEGS);
	CHECK_EQ(fl_train_segs(1600 * GBIT, 100000, U32_MAX), (u32)FL_TRAIN_MAX_SEGS);
}

/* Packets before the last one take no longer than the time; one more would. */
TEST(last_packet_waits_no_longer)
{
	u64 mbps, wait_ns, n;

	for (mbps = 1; mbps <= 1600000; mbps += 1 + mbps / 7) {
		for (wait_ns = 1; wait_ns <= 25000000; wait_ns += 1 + wait_ns / 5) {
			u64 packet_ps = 1538 * 8 * 1000000ULL / mbps;

			n = fl_train_segs(mbps * 1000000, 1538, wait_ns);
			CHECK((n - 1) * packet_ps <= wait_ns * 1000);
			CHECK(n == FL_TRAIN_MAX_SEGS || n * (packet_ps + 1) > wait_ns * 1000);
		}
	}
}

UNIT_MAIN
