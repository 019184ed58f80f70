// SPDX-License-Identifier: GPL-2.0
/*
 * The load of a port, qdisc/core/load.h, on lines of 1 to 400 Gbit/s: what is told must be
 * what the line did in the time that was asked for.
 */
#include "core/load.h"
#include "unit.h"

#define ONE	BIT_ULL(FL_LOAD_SHIFT)
#define PACKET	1538

/* Sends packets for @ns, one each @gap_ns; the last is told about. */
static u64 run(struct fabric_load *l, u64 *now_ns, u64 ns, u64 gap_ns, u8 c, u64 queue)
{
	u64 end_ns = *now_ns + ns, told = 0;

	while (*now_ns < end_ns) {
		l->bytes += PACKET;
		told = fabric_load_tell(l, c, queue, *now_ns);
		*now_ns += gap_ns;
	}
	return told;
}

/* Is a load a number of thousandths, but for so many? */
static bool about(u64 load, u64 milli, u64 off)
{
	u64 is = load * 1000 >> FL_LOAD_SHIFT;

	if (is + off >= milli && is <= milli + off)
		return true;
	printf("# load %llu, expected %llu thousandths\n", (unsigned long long)is,
	       (unsigned long long)milli);
	return false;
}

/* A line, all times: full, half, with a queue of what it carries in the time. */
TEST(load_of_an_even_line)
{
	static const u64 gbps[] = { 1, 10, 100, 400 };
	size_t i;
	u8 c;

	for (i = 0; i < ARRAY_SIZE(gbps); i++) {
		for (c = 0; c <= 6; c++) {
			u64 t_ns = 8192ULL << c, gap_ns = PACKET * 8 / gbps[i];
			u64 now_ns = 1000000000000000ULL, queue = t_ns * gbps[i] / 8;
			struct fabric_load l = { 0 };

			/* a packet longer than the time is a load of its own */
			if (gap_ns * 4 > t_ns)
				continue;
			fabric_load_set(&l, gbps[i] * 1000000000, false);
			CHECK(about(run(&l, &now_ns, 20 * t_ns, gap_ns, c, 0), 1000, 30));
			CHECK(about(run(&l, &now_ns, 20 * t_ns, 2 * gap_ns, c, 0), 500, 60));
			CHECK(about(run(&l, &now_ns, 20 * t_ns, gap_ns, c, queue), 2000, 40));
			CHECK(about(run(&l, &now_ns, 20 * t_ns, gap_ns, c, queue * 100),
				    32000, 0));
		}
	}
}

/* Half of a change is seen after .69 of the time, all but 5 % after three. */
TEST(time_constant)
{
	struct fabric_load l = { 0 };
	u64 now_ns = 1 << 30, t_ns = 8192 << 3;

	fabric_load_set(&l, 100000000000ULL, false);
	run(&l, &now_ns, 20 * t_ns, 10 * 123, 3, 0);
	CHECK(about(run(&l, &now_ns, t_ns * 69 / 100, 123, 3, 0), 550, 30));
	CHECK(about(run(&l, &now_ns, t_ns * 231 / 100, 123, 3, 0), 955, 30));
}

/* Who seldom asks, or first, is told the mean since; what others sent counts. */
TEST(seldom_asked)
{
	struct fabric_load l = { 0 };
	u64 now_ns = 5000000000ULL;

	fabric_load_set(&l, 10000000000ULL, false);
	run(&l, &now_ns, 1000000, 1230, 2, 0);
	l.of[0].at_ns = now_ns - 1000000;
	l.of[0].bytes = l.bytes - 625000;
	CHECK(about(fabric_load_tell(&l, 0, 0, now_ns), 500, 2));
	/* silence is no load: a day of it, and a queue of one time's bytes then */
	now_ns += 86400ULL * 1000000000;
	CHECK_EQ(fl_load_code(fabric_load_tell(&l, 0, 0, now_ns)), 0);
	now_ns += 86400ULL * 1000000000;
	CHECK(about(fabric_load_tell(&l, 0, 10240, now_ns), 1000, 2));
	/* each class has its own */
	CHECK_EQ(fl_load_code(fabric_load_tell(&l, 2, 0, now_ns)), 0);
}

/* Arrivals at twice the rate: power is 2 (1 + q / BT), and falls to 1 at once when they
 * are what is sent, however long the queue; load counts only what is there.
 */
TEST(power)
{
	u64 now_ns = 1 << 30, t_ns = 8192 << 2, bdp = t_ns * 10 / 8, queue = 0;
	struct fabric_load l = { 0 };
	u64 told = 0;

	fabric_load_set(&l, 10000000000ULL, true);
	while (queue < 6 * bdp) {
		l.bytes += PACKET;
		queue += PACKET;
		told = fabric_load_tell(&l, 2, queue, now_ns);
		now_ns += 1230;
	}
	CHECK(about(told, 2000 * 7, 300));
	while (queue > bdp) {
		l.bytes += PACKET;
		queue -= PACKET;
		told = fabric_load_tell(&l, 2, queue, now_ns);
		now_ns += 1230;
	}
	/* nothing arrives while it drains */
	CHECK(about(told, 0, 40));
}

TEST(another_rate_forgets)
{
	struct fabric_load l = { 0 };
	u64 now_ns = 1 << 30;

	fabric_load_set(&l, 10000000000ULL, false);
	run(&l, &now_ns, 1000000, 1230, 0, 0);
	fabric_load_set(&l, 10000000000ULL, false);
	CHECK(l.bytes);
	fabric_load_set(&l, 40000000000ULL, false);
	CHECK_EQ(l.bytes, 0u);
	run(&l, &now_ns, 1000000, 1230, 0, 0);
	fabric_load_set(&l, 40000000000ULL, true);
	CHECK_EQ(l.bytes, 0u);
	fabric_load_set(&l, 0, false);
	CHECK_EQ(l.per_byte, 0u);
}

/* Any numbers: bounded, and nothing overflows (UBSan). */
TEST(anything)
{
	static const u64 rates[] = { 1, 1000, 1000000, 25000000000ULL, 10000000000000ULL };
	u32 r = 1, i, j;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct fabric_load l = { 0 };
		u64 now_ns = 0;

		for (j = 0; j < 100000; j++) {
			r = r * 1664525 + 1013904223;
			if (j % 5000 == 0)
				fabric_load_set(&l, rates[i], j / 5000 & 1);
			l.bytes += (u64)r >> (r & 31);
			now_ns += (u64)r << 10 >> (r >> 8 & 63);
			CHECK(fabric_load_tell(&l, r >> 28, r >> 2, now_ns) <= FABRIC_LOAD_TOP);
		}
	}
}

UNIT_MAIN
