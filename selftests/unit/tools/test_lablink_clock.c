// SPDX-License-Identifier: GPL-2.0
/*
 * The exact link's arithmetic: rates without rounding error, starts that do
 * not move with late timers, noise that follows its quantiles.
 */
#include "unit.h"

#include "../../../tools/lab/kmod/lablink_clock.h"

/* CHECK_EQ for numbers of any integer type. */
#define CHECK_SAME(a, b)	CHECK_EQ((u64)(a), (u64)(b))

/* Nanoseconds of @n packets of @bytes at @rate_bps, without rounding. */
static __uint128_t exact_ps(u64 n, u32 bytes, u64 rate_bps)
{
	return (__uint128_t)n * bytes * 8 * LABLINK_PS_PER_S / rate_bps;
}

/* Packets back to back take exactly their bits, whatever the rate. */
TEST(rate_is_exact_for_ever)
{
	static const u64 rates_bps[] = {
		1000, 9600, 1000000, 3000000000ULL, 9999999967ULL,
		10000000000ULL, 25000000000ULL, 100000000000ULL,
		400000000000ULL, 999999999989ULL, 10000000000000ULL,
	};
	static const u32 sizes[] = { 1, 66, 1538, 9038, LABLINK_BURST_MAX_BYTES };
	size_t r, s;
	u64 i;

	for (r = 0; r < ARRAY_SIZE(rates_bps); r++) {
		for (s = 0; s < ARRAY_SIZE(sizes); s++) {
			struct lablink_clock clk = {
				.rate_bps = rates_bps[r],
			};
			__uint128_t ps;

			for (i = 1; i <= 1000; i++)
				lablink_clock_send(&clk, 0, sizes[s]);
			ps = exact_ps(1000, sizes[s], rates_bps[r]);
			CHECK_SAME(clk.finish_ns, (u64)(ps / 1000));
			CHECK_SAME(clk.finish_ps, (u32)(ps % 1000));
		}
	}
}

/* An idle line starts at once, a busy one when it becomes free. */
TEST(start_is_the_later_of_now_and_finish)
{
	struct lablink_clock clk = { .rate_bps = 100000000000ULL };

	CHECK_SAME(lablink_clock_start_ns(&clk, 500), 500);
	lablink_clock_send(&clk, 500, 1538);
	CHECK_SAME(clk.finish_ns, 623);
	CHECK_SAME(clk.finish_ps, 40);
	CHECK_SAME(lablink_clock_done_ns(&clk), 624);
	CHECK_SAME(lablink_clock_start_ns(&clk, 600), 624);
	CHECK_SAME(lablink_clock_start_ns(&clk, 624), 624);
	lablink_clock_send(&clk, 600, 1538);
	CHECK_SAME(clk.finish_ns, 746);
	CHECK_SAME(clk.finish_ps, 80);
	CHECK_SAME(lablink_clock_start_ns(&clk, 748), 748);
	lablink_clock_send(&clk, 748, 1538);
	CHECK_SAME(clk.finish_ns, 871);
	CHECK_SAME(clk.finish_ps, 40);
}

/* In the nanosecond where the line becomes free nothing is rounded up. */
TEST(fraction_is_kept)
{
	struct lablink_clock clk = { .rate_bps = 100000000000ULL };

	lablink_clock_send(&clk, 0, 1538);
	lablink_clock_send(&clk, 123, 1538);
	lablink_clock_send(&clk, 247, 1538);
	CHECK_SAME(clk.finish_ns, 369);
	CHECK_SAME(clk.finish_ps, 120);
}

/* What waited for a late timer starts when the line became free. */
TEST(late_timer_does_not_move_the_start)
{
	struct lablink_clock clk = { .rate_bps = 10000000000ULL };

	lablink_clock_send(&clk, 0, 1538);
	clk.resumed_ns = 5000;
	CHECK_SAME(lablink_clock_start_ns(&clk, 5000), 1231);
	lablink_clock_send(&clk, 5000, 1538);
	CHECK_SAME(clk.finish_ns, 2460);
	CHECK_SAME(clk.finish_ps, 800);
	CHECK_SAME(lablink_clock_start_ns(&clk, 5001), 5001);
}

/* Rate 0 takes no time; a new rate holds for what comes after. */
TEST(rate_zero_and_change)
{
	struct lablink_clock clk = { 0 };

	lablink_clock_send(&clk, 77, 9000);
	CHECK_SAME(clk.finish_ns, 77);
	CHECK_SAME(clk.finish_ps, 0);
	lablink_clock_set_rate(&clk, 3);
	lablink_clock_send(&clk, 77, 1);
	CHECK(clk.carry > 0);
	lablink_clock_set_rate(&clk, 8000000000ULL);
	CHECK_SAME(clk.carry, 0);
	CHECK_SAME(clk.finish_ns, 77 + 2666666666ULL);
	lablink_clock_send(&clk, 77, 10);
	CHECK_SAME(clk.finish_ns, 77 + 2666666676ULL);
}

/* Values at the quantiles, between them and at both ends. */
TEST(quantiles)
{
	static const u32 q[] = { 10, 20, 20, 1000000000 };
	static const u32 one[] = { 42 };

	CHECK_SAME(lablink_quantile(one, 1, 0), 42);
	CHECK_SAME(lablink_quantile(one, 1, UINT32_MAX), 42);
	CHECK_SAME(lablink_quantile(q, 4, 0), 10);
	CHECK_SAME(lablink_quantile(q, 4, UINT32_MAX / 6), 14);
	CHECK_SAME(lablink_quantile(q, 4, UINT32_MAX / 2), 20);
	CHECK_SAME(lablink_quantile(q, 4, UINT32_MAX / 3 * 2 + 2), 20);
	CHECK(lablink_quantile(q, 4, UINT32_MAX) <= 1000000000);
	CHECK(lablink_quantile(q, 4, UINT32_MAX) >= 999999999 - 1);
}

/* The generator is splitmix64: known values; uniform enough for quantiles. */
TEST(random_numbers)
{
	unsigned int i, low = 0;
	u64 state = 1234567;

	CHECK_SAME(lablink_random(&state), 6457827717110365317ULL >> 32);
	CHECK_SAME(lablink_random(&state), 3203168211198807973ULL >> 32);
	CHECK_SAME(lablink_random(&state), 9817491932198370423ULL >> 32);
	for (i = 0; i < 100000; i++)
		low += lablink_random(&state) < UINT32_MAX / 10;
	CHECK(low > 9700 && low < 10300);
}

UNIT_MAIN
