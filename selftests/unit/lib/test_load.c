// SPDX-License-Identifier: GPL-2.0
/*
 * The load in the telemetry option, kmod/lib/load.h: the test vectors of
 * Documentation/reference/telemetry.rst, what is lost by rounding, and the order of numbers.
 */
#include "lib/load.h"
#include "lib/telemetry.h"
#include "unit.h"

#define ONE	BIT_ULL(FL_LOAD_SHIFT)

TEST(vectors)
{
	CHECK_EQ(fl_load_code(0), 0);
	CHECK_EQ(fl_load_code(ONE / 16 - 1), 0);
	CHECK_EQ(fl_load_code(ONE / 16), 0);
	CHECK_EQ(fl_load_code(ONE / 2), 0x180);
	CHECK_EQ(fl_load_code(ONE - 1), 0x1ff);
	CHECK_EQ(fl_load_code(ONE), FL_LOAD_ONE);
	CHECK_EQ(fl_load_code(ONE + ONE / 128), 0x201);
	CHECK_EQ(fl_load_code(ONE * 3 / 2), 0x240);
	CHECK_EQ(fl_load_code(16 * ONE - 1), FL_LOAD_MAX);
	CHECK_EQ(fl_load_code(16 * ONE), FL_LOAD_MAX);
	CHECK_EQ(fl_load_code(~0ULL), FL_LOAD_MAX);
	CHECK_EQ(fl_load_of(0), 4096u);
	CHECK_EQ(fl_load_of(FL_LOAD_ONE), 65536u);
	CHECK_EQ(fl_load_of(0x240), 98304u);
	CHECK_EQ(fl_load_of(FL_LOAD_MAX), 255u << 12);
	/* a word of the option: what is no part of the number does not count */
	CHECK_EQ(fl_load_of(0xfe00), 65536u);
}

TEST(rounded_down_by_less_than_a_percent_and_never_falling)
{
	u64 load, before = 0;
	u16 code;

	for (load = ONE / 16; load < 16 * ONE; load += load / 999) {
		u64 told = (u64)fl_load_of(fl_load_code(load))
			   << (FL_LOAD_SHIFT - FL_LOAD_HOST_SHIFT);

		CHECK(told <= load && load - told < load / 100);
		CHECK(told >= before);
		before = told;
	}
	for (code = 0; code <= FL_LOAD_MAX; code++)
		CHECK_EQ(fl_load_code((u64)fl_load_of(code)
				      << (FL_LOAD_SHIFT - FL_LOAD_HOST_SHIFT)), code);
}

TEST(time_is_not_below_the_rtt)
{
	u32 rtt_ns;

	CHECK_EQ(fl_load_rtt(0), 0);
	CHECK_EQ(fl_load_rtt(1), 0);
	CHECK_EQ(fl_load_rtt(8192), 0);
	CHECK_EQ(fl_load_rtt(8193), 1);
	CHECK_EQ(fl_load_rtt(~0U), FL_LOAD_RTT_MAX);
	for (rtt_ns = 9000; rtt_ns < 260000000; rtt_ns += rtt_ns / 7) {
		u64 time_ns = 1ULL << (FL_LOAD_RTT_NS_SHIFT + fl_load_rtt(rtt_ns));

		CHECK(time_ns >= rtt_ns && time_ns < 2 * (u64)rtt_ns);
	}
}

TEST(rates_of_a_border_router)
{
	u64 rate, before = 0;
	u16 code;

	CHECK_EQ(fl_load_rate_code(0), 0);
	CHECK_EQ(fl_load_rate_code(511), 0);
	CHECK_EQ(fl_load_rate_code(512), 0);
	CHECK_EQ(fl_load_rate_code(513), 1);
	CHECK_EQ(fl_load_rate_code(1024), 0x200);
	/* 25 Gbit/s is 745 * 2^22 bytes/s and a rest */
	CHECK_EQ(fl_load_rate_code(3125000000ULL), 22 << 9 | (745 - 512));
	CHECK_EQ(fl_load_rate_of(22 << 9 | (745 - 512)), 745ULL << 22);
	CHECK_EQ(fl_load_rate_code(1ULL << 41), FL_LOAD_TELL_MAX);
	CHECK_EQ(fl_load_rate_code(~0ULL), FL_LOAD_TELL_MAX);
	CHECK_EQ(fl_load_rate_of(FL_LOAD_TELL_MAX), 1023ULL << 31);
	/* the type of the word does not count */
	CHECK_EQ(fl_load_rate_of(0xc000), 512u);
	for (rate = 512; rate < 1ULL << 41; rate += rate / 3001 + 1) {
		u64 told = fl_load_rate_of(fl_load_rate_code(rate));

		CHECK(told <= rate && (rate - told) * 500 < rate);
		CHECK(told >= before);
		before = told;
	}
	for (code = 0; code <= FL_LOAD_TELL_MAX; code++)
		CHECK_EQ(fl_load_rate_code(fl_load_rate_of(code)), code);
}

TEST(words)
{
	CHECK_EQ(fl_load_word(FL_LOAD_CLOSED, 2, FL_LOAD_ONE), 0x8a00);
	CHECK_EQ(fl_load_type(0x8a00), FL_LOAD_CLOSED);
	CHECK_EQ(fl_load_time(0x8a00), 2);
	CHECK_EQ(fl_load_type(0xffff), FL_LOAD_TELL);
	CHECK_EQ(fl_load_time(0xffff), FL_LOAD_RTT_MAX);
}

TEST(one_of_two_options)
{
	u8 th[FL_TCP_MAX_BYTES] = { 0 };

	th[12] = 0x70;
	fl_tel_put(th + 20, FL_TEL_LOAD, 0x1234, 0x5678);
	CHECK_EQ(fl_tel_find(th, 28), 20);
	CHECK_EQ((int)fl_tel_format(th + 20), (int)FL_TEL_LOAD);
	CHECK_EQ(fl_tel_get16(th + 22), FL_LOAD_EXID);
	CHECK_EQ(fl_tel_delay(th + 20), 0x1234);
	CHECK_EQ(fl_tel_echo(th + 20), 0x5678);
	fl_tel_put(th + 20, FL_TEL_DELAY, 1, 2);
	CHECK_EQ(fl_tel_find(th, 28), 20);
	CHECK_EQ((int)fl_tel_format(th + 20), (int)FL_TEL_DELAY);
	/* the ExIDs on either side are others' */
	th[23] = 0x4b;
	CHECK_EQ(fl_tel_find(th, 28), FL_TEL_NONE);
	th[23] = 0x4e;
	CHECK_EQ(fl_tel_find(th, 28), FL_TEL_NONE);
}

UNIT_MAIN
