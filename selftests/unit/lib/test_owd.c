// SPDX-License-Identifier: GPL-2.0
/* One-way delays from telemetry. */
#include "lib/owd.h"
#include "lib/telemetry.h"
#include "unit.h"

#define BASE	13000
#define SLACK	800

static struct fl_owd owd;
static u64 now;

/* An ACK with an echo, a microsecond after the last one. */
static u32 told(u32 rtt_ns, u32 ahead_ns, u32 back_ns)
{
	const struct fl_owd_sample s = {
		.now_ns = now += 1000, .rtt_ns = rtt_ns, .base_ns = BASE,
		.ahead_ns = ahead_ns, .back_ns = back_ns, .slack_ns = SLACK,
		.fresh = true,
	};

	return fl_owd_delay(&owd, &s);
}

/* One without. */
static u32 untold(u32 rtt_ns, u64 later_ns)
{
	const struct fl_owd_sample s = {
		.now_ns = now += later_ns, .rtt_ns = rtt_ns, .base_ns = BASE,
		.slack_ns = SLACK,
	};

	return fl_owd_delay(&owd, &s);
}

static void begin(void)
{
	owd = (struct fl_owd) { 0 };
	now = 1000000000;
}

TEST(without_telemetry_it_is_the_rtt)
{
	begin();
	CHECK_EQ(untold(BASE, 1000), BASE + 0u);
	CHECK_EQ(untold(500000, 1000), 500000u);
	CHECK_EQ(untold(0, 1000), 0u);
	CHECK(!owd.on);
}

TEST(the_way_back_does_not_count)
{
	u32 back;

	begin();
	for (back = 0; back < 1000000; back += 10000)
		CHECK_EQ(told(BASE + 16000 + back, 16000, back), BASE + 16000u);
	/* nor does its noise, nor an echo that came with the wrong ACK */
	CHECK_EQ(told(BASE + 16000 + 700, 16000, 0), BASE + 16000u);
	CHECK_EQ(told(BASE, 16000, 0), BASE + 16000u);
	CHECK_EQ(told(0, 16000, 0), 0u);
}

TEST(a_queue_that_nobody_tells_counts)
{
	begin();
	/* of the sender's own card, at once */
	CHECK_EQ(told(BASE + SLACK, 0, 0), BASE + 0u);
	CHECK_EQ(told(BASE + SLACK + 1, 0, 0), BASE + SLACK + 1u);
	CHECK_EQ(told(BASE + 30000, 0, 0), BASE + 30000u);
	/* and no longer than it stands */
	CHECK_EQ(told(BASE + 100, 100, 0), BASE + 100u);
}

TEST(a_hop_without_stamps_and_a_long_way_back)
{
	begin();
	CHECK_EQ(told(BASE + 20000 + 90000 + 5000, 20000, 90000),
		 BASE + 25000u);
	/* told as 17.3 ms, is 20: the rest counts */
	CHECK_EQ(told(BASE + 20000000, 0, FL_TELEMETRY_MAX_NS),
		 BASE + 20000000u - FL_TELEMETRY_MAX_NS);
}

TEST(small_noise_vanishes)
{
	u32 noise;

	begin();
	for (noise = 0; noise <= SLACK; noise += 50)
		CHECK_EQ(told(BASE + 8000 + noise, 8000, 0), BASE + 8000u);
	CHECK_EQ(told(BASE + 8000 + 2 * SLACK, 8000, 0),
		 BASE + 8000u + 2 * SLACK);
}

TEST(several_full_hops_count_as_with_rtts)
{
	begin();
	/* 16 us at each of two: the option has one of them */
	CHECK_EQ(told(BASE + 32000, 16000, 0), BASE + 32000u);
	CHECK_EQ(told(BASE + 16500, 16000, 0), BASE + 16000u);
}

TEST(telemetry_vanishes_and_returns)
{
	int i;

	begin();
	CHECK_EQ(told(BASE + 50000, 0, 50000), BASE + 0u);
	/* SACK blocks leave no room: no sample rather than a wrong one */
	for (i = 0; i < 8; i++)
		CHECK_EQ(untold(BASE + 50000, 100), 0u);
	CHECK_EQ(told(BASE + 50000, 0, 50000), BASE + 0u);
	/* for good */
	for (i = 0; i < 8; i++)
		CHECK_EQ(untold(BASE + 50000, 1000), 0u);
	CHECK_EQ(untold(BASE + 50000, 1000), 0u);
	CHECK_EQ(untold(BASE + 50000, 200000), BASE + 50000u);
	CHECK(!owd.on);
	CHECK_EQ(untold(BASE + 50000, 1000), BASE + 50000u);
	/* and back, without a jump by what is not told */
	CHECK_EQ(told(BASE + 50000, 0, 0), BASE + 50000u);
	CHECK(owd.on);
}

TEST(any_numbers)
{
	uint64_t x = 88172645463325252ULL;
	int i;

	begin();
	for (i = 0; i < 200000; i++) {
		struct fl_owd_sample s;
		u32 delay;

		unit_random64(&x);
		s = (struct fl_owd_sample) {
			.now_ns = now += x % 100000, .rtt_ns = x >> (x % 64),
			.base_ns = x >> 33, .ahead_ns = (u16)x << 4,
			.back_ns = (u16)(x >> 16) << 4, .slack_ns = x % 50000000,
			.fresh = x & 1,
		};
		delay = fl_owd_delay(&owd, &s);
		CHECK(!delay || !s.fresh || delay >= s.base_ns ||
		      delay == UINT32_MAX - 1);
		CHECK(s.rtt_ns || !delay);
	}
}

UNIT_MAIN
