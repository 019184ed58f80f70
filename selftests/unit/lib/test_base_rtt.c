// SPDX-License-Identifier: GPL-2.0
/* Measured base RTTs of a path, kmod/lib/base_rtt.h. */
#include "lib/base_rtt.h"
#include "unit.h"

static struct fl_base_rtt_path path;

static u32 data(u32 key, u32 window, u32 ns)
{
	if (!fl_base_rtt_turn(&path, key, window))
		return 0;
	fl_base_rtt_sample(&path, FL_BASE_DATA, ns);
	return fl_base_rtt_least(&path, FL_BASE_DATA);
}

TEST(nothing_is_known_of_a_new_path)
{
	memset(&path, 0, sizeof(path));
	CHECK(fl_base_rtt_turn(&path, 7, 100));
	CHECK_EQ(fl_base_rtt_least(&path, FL_BASE_DATA), FL_BASE_NONE);
	CHECK_EQ(fl_base_rtt_least(&path, FL_BASE_PROBE), FL_BASE_NONE);
}

TEST(minimum_of_two_windows)
{
	memset(&path, 0, sizeof(path));
	CHECK_EQ(data(7, 100, 13000), 13000u);
	CHECK_EQ(data(7, 100, 25000), 13000u);
	CHECK_EQ(data(7, 101, 25000), 13000u);
	CHECK_EQ(data(7, 101, 20000), 13000u);
	/* the route is longer now: the old one is forgotten */
	CHECK_EQ(data(7, 102, 25000), 20000u);
	CHECK_EQ(data(7, 103, 25000), 25000u);
	/* a pause of two windows: nothing is known */
	CHECK_EQ(data(7, 105, 30000), 30000u);
}

TEST(kinds_are_apart)
{
	memset(&path, 0, sizeof(path));
	CHECK_EQ(data(7, 100, 13000), 13000u);
	fl_base_rtt_sample(&path, FL_BASE_PROBE, 11000);
	CHECK_EQ(fl_base_rtt_least(&path, FL_BASE_DATA), 13000u);
	CHECK_EQ(fl_base_rtt_least(&path, FL_BASE_PROBE), 11000u);
}

TEST(what_a_path_holds_packets_for_is_forgotten_after_sixteen_windows)
{
	memset(&path, 0, sizeof(path));
	CHECK(fl_base_rtt_turn(&path, 7, 100));
	CHECK_EQ(fl_base_rtt_held(&path, 100), 0u);
	fl_base_rtt_hold(&path, 50000);
	fl_base_rtt_hold(&path, 40000);
	CHECK_EQ(fl_base_rtt_held(&path, 100), 50000u);
	CHECK_EQ(fl_base_rtt_held(&path, 115), 50000u);
	CHECK_EQ(fl_base_rtt_held(&path, 116), 0u);
	/* another CPU's clock, and one that was set back */
	CHECK_EQ(fl_base_rtt_held(&path, 99), 50000u);
	CHECK_EQ(fl_base_rtt_held(&path, 50), 0u);
	/* what is told later counts from then, and nothing of what was forgotten */
	CHECK(fl_base_rtt_turn(&path, 7, 116));
	fl_base_rtt_hold(&path, 30000);
	CHECK_EQ(fl_base_rtt_held(&path, 131), 30000u);
	/* another path has the place */
	CHECK(fl_base_rtt_turn(&path, 8, 118));
	CHECK_EQ(fl_base_rtt_held(&path, 118), 0u);
}

TEST(a_place_in_use_is_not_taken)
{
	memset(&path, 0, sizeof(path));
	CHECK_EQ(data(7, 100, 13000), 13000u);
	CHECK(!fl_base_rtt_turn(&path, 8, 100));
	CHECK(!fl_base_rtt_turn(&path, 8, 101));
	CHECK_EQ(data(7, 100, 14000), 13000u);
	/* out of use */
	CHECK_EQ(data(8, 102, 50000), 50000u);
	CHECK(!fl_base_rtt_turn(&path, 7, 103));
}

TEST(clocks_that_differ_or_are_set_back)
{
	memset(&path, 0, sizeof(path));
	CHECK_EQ(data(7, 0xffffffff, 13000), 13000u);
	/* another CPU is a moment behind */
	CHECK_EQ(data(7, 0xfffffffe, 14000), 13000u);
	CHECK(!fl_base_rtt_turn(&path, 8, 0xfffffffe));
	CHECK_EQ(path.window, 0xffffffff);
	/* the number of the window wraps */
	CHECK_EQ(data(7, 0, 14000), 13000u);
	/* set back by an hour: begin anew, do not wait for an hour */
	CHECK_EQ(data(7, (u32)-1700, 14000), 14000u);
	CHECK_EQ(path.window, (u32)-1700);
}

UNIT_MAIN
