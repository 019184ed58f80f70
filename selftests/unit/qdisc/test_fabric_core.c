// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric's arithmetic: the line's virtual time, delay statistics, meter.
 */
#include "unit.h"
#include "core/line.h"
#include "core/meter.h"

/* Sends @count packets back to back from time zero on. */
static void send_all(struct fabric_line *line, u32 bytes, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		fabric_line_start(line, 0, bytes);
}

TEST(line_takes_eight_bits_a_byte)
{
	struct fabric_line line = { .rate_bps = 10000000000ULL };

	CHECK_EQ(fabric_line_start(&line, 1000, 1538), 1000U);
	CHECK_EQ(line.finish_ns, 2230U);
	CHECK_EQ(line.finish_ps, 400U);
	CHECK_EQ(line.rem, 0U);
	CHECK_EQ(fabric_line_ceil_ns(&line), 2231U);
}

TEST(line_starts_at_the_end_of_the_packet_before)
{
	struct fabric_line line = { .rate_bps = 100000000000ULL };

	fabric_line_start(&line, 0, 1538);
	CHECK_EQ(fabric_line_start(&line, 5, 1538), 123U);
	CHECK_EQ(line.finish_ns, 246U);
	CHECK_EQ(line.finish_ps, 80U);
}

TEST(idle_line_starts_at_once_and_owes_nothing)
{
	struct fabric_line line = { .rate_bps = 3000000000ULL };

	fabric_line_start(&line, 0, 1);
	CHECK_EQ(line.finish_ns, 2U);
	CHECK_EQ(line.finish_ps, 666U);
	CHECK(line.rem > 0);
	CHECK_EQ(fabric_line_start(&line, 3, 3), 3U);
	CHECK_EQ(line.finish_ns, 11U);
	CHECK_EQ(line.finish_ps, 0U);
	CHECK_EQ(line.rem, 0U);
}

TEST(line_does_not_drift_at_any_rate)
{
	static const u64 rates[] = {
		1000, 999999937ULL, 1000000000ULL, 10000000000ULL,
		25000000000ULL, 33333333333ULL, 100000000000ULL,
		400000000000ULL, 10000000000000ULL,
	};
	static const u32 sizes[] = { 1, 84, 1538, 9038, 65536 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			struct fabric_line line = { .rate_bps = rates[i] };
			__uint128_t ps;

			send_all(&line, sizes[j], 1000);
			ps = (__uint128_t)sizes[j] * 1000 *
			     FABRIC_PS_PER_BYTE_SEC / rates[i];
			CHECK_EQ(line.finish_ns, (u64)(ps / 1000));
			CHECK_EQ(line.finish_ps, (u64)(ps % 1000));
		}
	}
}

TEST(line_result_does_not_depend_on_packet_sizes)
{
	struct fabric_line a = { .rate_bps = 33333333333ULL };
	struct fabric_line b = a;

	send_all(&a, 1500, 700);
	send_all(&b, 70, 15000);
	CHECK_EQ(a.finish_ns, b.finish_ns);
	CHECK_EQ(a.finish_ps, b.finish_ps);
	CHECK_EQ(a.rem, b.rem);
}

TEST(largest_packet_at_largest_rate_does_not_overflow)
{
	struct fabric_line line = { .rate_bps = 10000000000000ULL };

	line.rem = line.rate_bps - 1;
	line.finish_ps = 999;
	fabric_line_start(&line, 0, FABRIC_LINE_BYTES_MAX);
	/* 2^21 * 0.8 ps = 1677721.6 ps, and 0.999... + 999 ps before */
	CHECK_EQ(line.finish_ns, 1678U);
	CHECK_EQ(line.finish_ps, 721U);
}

TEST(rate_change_acts_on_the_rest_of_the_running_packet)
{
	struct fabric_line line = { .rate_bps = 3000000000ULL };

	/* 6 bytes: 16 ns; 10 of them at the old rate, the rest 3.75 times as fast */
	fabric_line_start(&line, 1000, 6);
	fabric_line_set_rate(&line, 11250000000ULL, 1010);
	CHECK_EQ(line.finish_ns, 1011U);
	CHECK_EQ(line.finish_ps, 600U);
	CHECK_EQ(line.rem, 0U);
	/* slower: 1.6 ns become 18 */
	fabric_line_set_rate(&line, 1000000000ULL, 1010);
	CHECK_EQ(line.finish_ns, 1028U);
	CHECK_EQ(line.finish_ps, 0U);
	/* what is over is over */
	fabric_line_set_rate(&line, 8000000000ULL, 5000);
	CHECK_EQ(line.finish_ns, 1028U);
	fabric_line_start(&line, 0, 10);
	CHECK_EQ(line.finish_ns, 1038U);
}

TEST(rate_taken_away_forgives_everything)
{
	struct fabric_line line = { .rate_bps = 1000 };

	fabric_line_start(&line, 1000, 1500);
	fabric_line_set_rate(&line, 0, 1500);
	fabric_line_set_rate(&line, 1000, 2000);
	CHECK_EQ(fabric_line_ceil_ns(&line), 0U);
}

TEST(rate_change_from_one_end_to_the_other_does_not_overflow)
{
	struct fabric_line line = { .rate_bps = 1000 };

	/* the debt of the largest burst, 16 MiB, and a packet: 151,000 s */
	line.finish_ns = 151000 * 1000000000ULL;
	fabric_line_set_rate(&line, 10000000000000ULL, 0);
	CHECK_EQ(line.finish_ns, 15100U);
	fabric_line_set_rate(&line, 1000, 0);
	CHECK_EQ(line.finish_ns, 151000 * 1000000000ULL);
}

TEST(delay_counts_and_bins)
{
	struct fabric_delay d = { 0 };

	fabric_delay_add(&d, 0);
	fabric_delay_add(&d, 1);
	fabric_delay_add(&d, 3);
	fabric_delay_add(&d, 4);
	fabric_delay_add(&d, ~0ULL >> 1);
	CHECK_EQ(fabric_delay_count(&d), 5U);
	CHECK_EQ(fabric_delay_min_ns(&d), 0U);
	CHECK_EQ(d.max_ns, ~0ULL >> 1);
	CHECK_EQ(d.hist[0], 1U);
	CHECK_EQ(d.hist[1], 1U);
	CHECK_EQ(d.hist[2], 1U);
	CHECK_EQ(d.hist[3], 1U);
	CHECK_EQ(d.hist[FABRIC_BINS - 1], 1U);
}

TEST(delay_merge_is_as_if_counted_together)
{
	struct fabric_delay a = { 0 }, b = { 0 }, all = { 0 };
	u64 i;

	for (i = 0; i < 1000; i++) {
		fabric_delay_add(i % 3 ? &a : &b, 7 + i * i);
		fabric_delay_add(&all, 7 + i * i);
	}
	fabric_delay_merge(&a, &b);
	CHECK(!memcmp(&a, &all, sizeof(all)));
	memset(&b, 0, sizeof(b));
	fabric_delay_merge(&a, &b);
	CHECK(!memcmp(&a, &all, sizeof(all)));
	fabric_delay_merge(&b, &a);
	CHECK(!memcmp(&b, &all, sizeof(all)));
}

TEST(meter_measures_a_full_window)
{
	struct fabric_meter m = { .start_ns = 500 };
	u64 now_ns;

	/* 1250 bytes a microsecond are 10 Gbit/s */
	for (now_ns = 500; now_ns < 500 + 2500000; now_ns += 1000)
		fabric_meter_add(&m, now_ns, 1250);
	CHECK_EQ(m.bps, 10000000000ULL);
	fabric_meter_roll(&m, 500 + 1000000000ULL);
	CHECK(m.bps < 10000000);
}

UNIT_MAIN
