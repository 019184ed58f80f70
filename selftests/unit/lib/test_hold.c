// SPDX-License-Identifier: GPL-2.0
/* How long a path holds packets, kmod/lib/hold.h. */
#include "lib/hold.h"
#include "unit.h"

#define GBIT	1000000000ULL
#define RTT_NS	50000

static struct fl_hold hold_of(u64 line_bps)
{
	struct fl_hold h = {};

	fl_hold_set(&h, line_bps, 1538);
	return h;
}

/* ACKs of one packet each at the line's rate, a little late or early; delayed ACKs. */
TEST(nothing_is_held)
{
	struct fl_hold h = hold_of(GBIT);
	u64 now_ns = 1000000;
	u32 i;

	CHECK_EQ(h.packet_ns, 12304u);
	for (i = 0; i < 1000; i++) {
		now_ns = (i + 100) * 12304ULL + (i % 3) * 2000;
		fl_hold_acked(&h, now_ns, 1, RTT_NS);
		CHECK_EQ(fl_hold_pairs(&h), 0u);
	}
	for (i = 0; i < 1000; i++) {
		now_ns += 2 * 12304;
		fl_hold_acked(&h, now_ns, 2, RTT_NS);
		CHECK_EQ(fl_hold_pairs(&h), 0u);
	}
}

/* So many at once, in ACKs of one packet or in one ACK. */
TEST(pairs_of_what_comes_at_once)
{
	u32 n, i;

	for (n = 1; n < 100; n++) {
		struct fl_hold each = hold_of(GBIT), all = hold_of(GBIT);

		for (i = 0; i < n; i++)
			fl_hold_acked(&each, 5000000000ULL + i, 1, RTT_NS);
		fl_hold_acked(&all, 5000000000ULL, n + 1, RTT_NS);
		CHECK_EQ(fl_hold_pairs(&each), n * (n - 1) / 2);
		CHECK_EQ(fl_hold_pairs(&all), n * (n - 1) / 2);
		/* one is not held */
		CHECK_EQ(fl_hold_pkts(&each), n > 1 ? n : 0);
	}
}

TEST(is_forgotten)
{
	struct fl_hold h = hold_of(GBIT);
	u64 now_ns = 1000000;
	u32 i, before;

	fl_hold_acked(&h, now_ns, 51, RTT_NS);
	before = fl_hold_pairs(&h);
	for (i = 0; i < 16; i++) {
		now_ns += RTT_NS;
		fl_hold_acked(&h, now_ns, 1, RTT_NS);
	}
	CHECK(fl_hold_pairs(&h) < before / 4);
	for (i = 0; i < 100; i++) {
		now_ns += RTT_NS;
		fl_hold_acked(&h, now_ns, 1, RTT_NS);
	}
	CHECK_EQ(fl_hold_pairs(&h), 0u);
}

/* A path that holds each packet for any time up to J and keeps their order: what is said of it in
 * times of @gap_ns is J times @least to @most tenths. A flow with the line hears more than J: its
 * delays are all near J. One with few packets in J hears less, and has shorter delays.
 */
static void uniform(u32 longest_ns, u32 gap_ns, u32 least, u32 most)
{
	struct fl_hold h = hold_of(GBIT);
	u64 last_ns = 0, due_ns, said_ns;
	u32 i, state = 1;

	for (i = 1; i < 20000; i++) {
		state = state * 1664525 + 1013904223;
		due_ns = (u64)i * gap_ns + ((u64)state * longest_ns >> 32);
		if (due_ns < last_ns)
			due_ns = last_ns;
		last_ns = due_ns;
		fl_hold_acked(&h, due_ns, 1, 35000 + longest_ns);
		if (i < 2000)
			continue;
		said_ns = (u64)fl_hold_pairs(&h) * gap_ns;
		CHECK(said_ns * 10 >= (u64)longest_ns * least);
		CHECK(said_ns * 10 <= (u64)longest_ns * most);
	}
}

TEST(longest_time)
{
	uniform(200000, 12304, 10, 100);
	uniform(1000000, 12304, 10, 100);
	uniform(10000000, 12304, 10, 100);
	uniform(200000, 24000, 3, 50);
	uniform(1000000, 100000, 3, 50);
}

TEST(bounds)
{
	struct fl_hold h = {};

	fl_hold_acked(&h, 1000, 1000, 0);
	CHECK_EQ(fl_hold_pairs(&h), 0u);
	fl_hold_set(&h, 1, 1 << 17);
	fl_hold_acked(&h, 2000, U32_MAX, 0);
	fl_hold_acked(&h, 2000, U32_MAX, U32_MAX);
	CHECK(fl_hold_pairs(&h) <= BIT(31));
	h = hold_of(1600 * GBIT);
	fl_hold_acked(&h, 2000, U32_MAX, 0);
	CHECK_EQ(fl_hold_pairs(&h), 2147450880u);
}

UNIT_MAIN
