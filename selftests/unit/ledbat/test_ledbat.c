// SPDX-License-Identifier: GPL-2.0
/* LEDBAT, kmod/ledbat/core/ledbat.c: RFC 6817, section 2.4.2. */
#include <math.h>

#include "ledbat/core/ledbat.h"
#include "unit.h"

#define PKTS(n)		((u64)((n) * (double)FL_WND_ONE))
#define PKTS_OF(wnd)	((double)(wnd) / (double)FL_WND_ONE)
#define MINUTE_NS	60000000000ULL

/* TARGET 20 us over a base of 10 us; GAIN 1. */
static const struct fl_target target = {
	.target_ns = 30000,
	.base_ns = 10000,
	.ai_wnd = FL_WND_ONE,
	.min_wnd = 2 * FL_WND_ONE,
	.max_wnd = 100 * FL_WND_ONE,
};

static struct fl_ledbat_state state;

static void start(u64 now_ns)
{
	memset(&state, 0xff, sizeof(state));
	fl_ledbat_ops.init(&state, now_ns);
}

/* The window after an ACK of acked packets, when all delays are delay_ns. */
static double ack(double pkts, u32 delay_ns, u32 acked)
{
	struct fl_sample s = {
		.now_ns = 1, .delay_ns = delay_ns, .acked_pkts = acked,
		.wnd_limited = true,
	};
	u64 wnd = PKTS(pkts);

	start(0);
	fl_ledbat_ops.on_ack(&state, &target, &wnd, &s);
	return PKTS_OF(wnd);
}

TEST(off_target_moves_the_window)
{
	/* empty queue: GAIN in an RTT */
	CHECK(fabs(ack(10, 10000, 10) - 11) < 0.001);
	CHECK(fabs(ack(10, 10000, 1) - 10.1) < 0.001);
	/* half of the target: half of it; at the target: nothing */
	CHECK(fabs(ack(10, 20000, 10) - 10.5) < 0.001);
	CHECK(fabs(ack(10, 30000, 10) - 10) < 0.001);
	/* and down by the same rule */
	CHECK(fabs(ack(10, 40000, 10) - 9.5) < 0.001);
	CHECK(fabs(ack(10, 70000, 10) - 8) < 0.001);
}

/* In a channel of PrioPlus: half of the window's part of the excess in an RTT. */
static double channel(double pkts, u32 delay_ns, u32 acked, u32 ai_wnd)
{
	struct fl_target t = target;
	struct fl_sample s = {
		.now_ns = 1, .delay_ns = delay_ns, .acked_pkts = acked,
		.wnd_limited = true,
	};
	u64 wnd = PKTS(pkts);

	t.ai_wnd = ai_wnd;
	t.min_wnd = FL_WND_ONE / 1024;
	memset(&state, 0xff, sizeof(state));
	fl_ledbat_channel_ops.init(&state, 0);
	fl_ledbat_channel_ops.on_ack(&state, &t, &wnd, &s);
	return PKTS_OF(wnd);
}

TEST(above_the_target_of_a_channel)
{
	/* 40 us instead of 30: an eighth of the window, not half a packet */
	CHECK(fabs(channel(40, 40000, 40, FL_WND_ONE) - 35) < 0.05);
	CHECK(fabs(channel(40, 40000, 1, FL_WND_ONE) - 39.875) < 0.01);
	/* the RFC's step if that is more, and never more than half */
	CHECK(fabs(channel(2, 40000, 2, FL_WND_ONE) - 1.5) < 0.01);
	CHECK(fabs(channel(40, 4000000, 40, FL_WND_ONE / 8) - 20) < 0.2);
	CHECK(fabs(channel(40, 4000000, 40, FL_WND_ONE) - 20) < 0.1);
	/* below a packet an ACK is an RTT */
	CHECK(fabs(channel(0.5, 40000, 1, FL_WND_ONE / 100) - 0.4375) < 0.002);
	/* at and below the target as the RFC */
	CHECK(fabs(channel(10, 30000, 10, FL_WND_ONE) - 10) < 0.001);
	CHECK(fabs(channel(10, 20000, 10, FL_WND_ONE) - 10.5) < 0.001);
	CHECK(fabs(channel(10, 10000, 10, FL_WND_ONE) - 11) < 0.001);
	/* LEDBAT alone knows no channel */
	CHECK(fabs(ack(40, 40000, 40) - 39.5) < 0.01);
}

TEST(a_delay_below_the_base_is_an_empty_queue)
{
	CHECK(fabs(ack(10, 1, 10) - 11) < 0.001);
}

TEST(decrease_is_bounded)
{
	/* off_target -50 would be -50 packets */
	CHECK(fabs(ack(40, 1030000, 40) - 20) < 0.001);
	CHECK(fabs(ack(40, 1030000, 1) - 39.5) < 0.001);
	CHECK(fabs(ack(40, UINT32_MAX, 40) - 20) < 0.001);
	/* more packets than the window has */
	CHECK(fabs(ack(40, UINT32_MAX, 1024) - 20) < 0.001);
}

TEST(window_stays_in_bounds)
{
	CHECK(fabs(ack(2.1, UINT32_MAX, 2) - 2) < 0.001);
	CHECK(fabs(ack(99.9, 10000, 90) - 100) < 0.001);
}

TEST(window_below_one_packet)
{
	struct fl_target t = target;
	struct fl_sample s = {
		.now_ns = 1, .delay_ns = 10000, .acked_pkts = 1,
		.wnd_limited = true,
	};
	u64 wnd = PKTS(0.25);

	t.min_wnd = FL_WND_ONE / 1024;
	t.ai_wnd = FL_WND_ONE / 8;
	start(0);
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	CHECK_EQ(wnd, PKTS(0.375));
	s.delay_ns = 1000000;
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	/* the filter still has the empty queue */
	CHECK_EQ(wnd, PKTS(0.75));
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	CHECK_EQ(wnd, PKTS(0.375));
}

TEST(one_late_sample_changes_nothing)
{
	struct fl_sample s = { .acked_pkts = 1, .wnd_limited = true };
	u64 wnd = PKTS(10), before;
	int i;

	start(0);
	for (i = 0; i < 100; i++) {
		s.delay_ns = i % 4 ? 500000 : 25000;
		before = wnd;
		fl_ledbat_ops.on_ack(&state, &target, &wnd, &s);
		CHECK(wnd > before);
	}
	/* four in a row do */
	for (i = 0; i < 4; i++) {
		before = wnd;
		s.delay_ns = 500000;
		fl_ledbat_ops.on_ack(&state, &target, &wnd, &s);
	}
	CHECK(wnd < before);
}

TEST(application_limited_does_not_grow)
{
	struct fl_sample s = { .delay_ns = 10000, .acked_pkts = 4 };
	u64 wnd = PKTS(10);

	start(0);
	fl_ledbat_ops.on_ack(&state, &target, &wnd, &s);
	CHECK_EQ(wnd, PKTS(10));
	/* but it yields */
	s.delay_ns = 90000;
	start(0);
	fl_ledbat_ops.on_ack(&state, &target, &wnd, &s);
	CHECK(wnd < PKTS(10));
}

TEST(without_delay_nothing_happens)
{
	CHECK(fabs(ack(10, 0, 4) - 10) < 0.001);
}

TEST(a_target_at_the_base_is_no_division_by_zero)
{
	struct fl_target t = target;
	struct fl_sample s = {
		.delay_ns = 10001, .acked_pkts = 1, .wnd_limited = true,
	};
	u64 wnd = PKTS(10);

	t.target_ns = t.base_ns;
	start(0);
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	CHECK_LT(wnd, PKTS(10));
	t.target_ns = t.base_ns - 1;
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	CHECK_GE(wnd, t.min_wnd);
}

TEST(losses)
{
	u64 wnd = PKTS(16);

	start(1000000000);
	fl_ledbat_ops.on_loss(&state, &target, &wnd, 1000000000, 30000,
			      FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(8));
	/* at most once in an RTT */
	fl_ledbat_ops.on_loss(&state, &target, &wnd, 1000020000, 30000,
			      FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(8));
	fl_ledbat_ops.on_loss(&state, &target, &wnd, 1000040000, 30000,
			      FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(4));
	wnd = PKTS(3);
	fl_ledbat_ops.on_loss(&state, &target, &wnd, 1000080000, 30000,
			      FL_LOSS_FAST);
	CHECK_EQ(wnd, target.min_wnd);
	/* a loss never makes the window larger */
	wnd = PKTS(1);
	fl_ledbat_ops.on_loss(&state, &target, &wnd, 1000120000, 30000,
			      FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(1));
	wnd = PKTS(16);
	fl_ledbat_ops.on_loss(&state, &target, &wnd, 1000120001, 30000,
			      FL_LOSS_TIMEOUT);
	CHECK_EQ(wnd, PKTS(1));
}

TEST(loss_time_wraps)
{
	/* 2^32 us: 71 minutes */
	u64 now_ns = ((1ULL << 32) - 10) * 1000;
	u64 wnd = PKTS(16);

	start(now_ns - 1000000000);
	fl_ledbat_ops.on_loss(&state, &target, &wnd, now_ns, 30000,
			      FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(8));
	fl_ledbat_ops.on_loss(&state, &target, &wnd, now_ns + 20000, 30000,
			      FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(8));
	fl_ledbat_ops.on_loss(&state, &target, &wnd, now_ns + 30000, 30000,
			      FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(4));
}

TEST(slow_start)
{
	struct fl_sample s = {
		.delay_ns = 11000, .acked_pkts = 2, .wnd_limited = true,
	};
	u64 wnd = PKTS(2);

	start(0);
	CHECK(fl_ledbat_slow_start(&state, &target, &wnd, &s));
	CHECK_EQ(wnd, PKTS(4));
	/* no delay known: goes on */
	s.delay_ns = 0;
	CHECK(fl_ledbat_slow_start(&state, &target, &wnd, &s));
	CHECK_EQ(wnd, PKTS(6));
	/* three quarters of the target, and a little more, four times */
	start(0);
	s.delay_ns = 25000;
	CHECK(fl_ledbat_slow_start(&state, &target, &wnd, &s));
	start(0);
	s.delay_ns = 25001;
	CHECK(!fl_ledbat_slow_start(&state, &target, &wnd, &s));
	CHECK_EQ(wnd, PKTS(8));
	/* bounds */
	start(0);
	wnd = PKTS(99);
	s.delay_ns = 10000;
	CHECK(fl_ledbat_slow_start(&state, &target, &wnd, &s));
	CHECK_EQ(wnd, target.max_wnd);
	s.wnd_limited = false;
	wnd = PKTS(10);
	CHECK(fl_ledbat_slow_start(&state, &target, &wnd, &s));
	CHECK_EQ(wnd, PKTS(10));
}

TEST(base_delay_is_the_smallest)
{
	struct fl_ledbat_base h = { 0 };

	CHECK_EQ(fl_ledbat_base_add(&h, 5, 500), 500u);
	CHECK_EQ(fl_ledbat_base_add(&h, 6, 700), 500u);
	CHECK_EQ(fl_ledbat_base_add(&h, 7, 400), 400u);
	CHECK_EQ(fl_ledbat_base_add(&h, MINUTE_NS * 2, 900), 400u);
	CHECK_EQ(fl_ledbat_base_add(&h, MINUTE_NS * 3 + 9, 300), 300u);
	CHECK_EQ(fl_ledbat_base_add(&h, MINUTE_NS * 4 + 99, 350), 300u);
}

TEST(base_delay_is_forgotten_after_ten_minutes)
{
	struct fl_ledbat_base h = { 0 };
	u32 i;

	CHECK_EQ(fl_ledbat_base_add(&h, 1, 100), 100u);
	for (i = 1; i < 10; i++)
		CHECK_EQ(fl_ledbat_base_add(&h, 1 + i * MINUTE_NS, 1000 + i),
			 100u);
	CHECK_EQ(fl_ledbat_base_add(&h, 1 + 10 * MINUTE_NS, 2000), 1001u);
	CHECK_EQ(fl_ledbat_base_add(&h, 1 + 11 * MINUTE_NS, 2000), 1002u);
}

TEST(silence_ages_the_history)
{
	struct fl_ledbat_base h = { 0 };

	fl_ledbat_base_add(&h, 1, 100);
	CHECK_EQ(fl_ledbat_base_add(&h, 9 * MINUTE_NS, 500), 100u);
	CHECK_EQ(fl_ledbat_base_add(&h, 12 * MINUTE_NS, 600), 500u);
	/* longer than the history: only the newest is known */
	CHECK_EQ(fl_ledbat_base_add(&h, 400 * MINUTE_NS, 900), 900u);
	CHECK_EQ(fl_ledbat_base_add(&h, 400 * MINUTE_NS + 1, 901), 900u);
}

/* The same as said by a list of all delays with their minutes. */
TEST(history_against_a_list)
{
	static u64 minute[2000];
	static u32 delay[2000];
	struct fl_ledbat_base h = { 0 };
	u64 now_ns = 1, end_ns = 0, number = 0;
	u32 i, k, least, random = 1;

	for (i = 0; i < 2000; i++) {
		random = random * 1664525 + 1013904223;
		now_ns += (u64)(random >> 8) * (random & 64 ? 16000 : 300);
		if (!i || now_ns >= end_ns) {
			number += i ? (now_ns - end_ns) / MINUTE_NS + 1 : 0;
			end_ns = now_ns + MINUTE_NS;
		}
		minute[i] = number;
		delay[i] = (random >> 4) % 10000 + 1;
		least = UINT32_MAX;
		for (k = 0; k <= i; k++)
			if (number - minute[k] < 10 && delay[k] < least)
				least = delay[k];
		CHECK_EQ(fl_ledbat_base_add(&h, now_ns, delay[i]), least);
	}
	CHECK_GT(number, 100u);
}

TEST(one_way_delays_wrap)
{
	struct fl_ledbat_base h = { 0 };

	CHECK_EQ(fl_ledbat_base_add(&h, 1, 5), 5u);
	CHECK_EQ(fl_ledbat_base_add(&h, 2, 0xfffffff0), 0xfffffff0u);
	CHECK_EQ(fl_ledbat_base_add(&h, 3, 7), 0xfffffff0u);
	CHECK_EQ(fl_ledbat_queue_ns(7, 0xfffffff0, 1000, UINT32_MAX), 23000u);
}

TEST(one_way_queue)
{
	CHECK_EQ(fl_ledbat_queue_ns(120, 100, 1000000, 50000000), 20000000u);
	/* never more than the round trip says: clocks drift */
	CHECK_EQ(fl_ledbat_queue_ns(120, 100, 1000000, 3000000), 3000000u);
	CHECK_EQ(fl_ledbat_queue_ns(100, 100, 1000000, 50000000), 0u);
	CHECK_EQ(fl_ledbat_queue_ns(90, 100, 1000000, 50000000), 0u);
	CHECK_EQ(fl_ledbat_queue_ns(0x7fffffff, 0, 1000000, UINT32_MAX),
		 UINT32_MAX);
}

/* What is said of a clock after seconds of stamps that count hz. */
static u8 watch(double hz, double seconds, u32 tick_ns, u32 first)
{
	struct fl_ledbat_clock c = { 0 };
	u64 from_ns = 1000000;
	u8 trust = FL_LEDBAT_WATCHING;
	double at;

	for (at = 0; at <= seconds; at += 0.01)
		trust = fl_ledbat_watch(&c, from_ns + at * 1e9,
					first + (u32)(u64)(at * hz), tick_ns);
	return trust;
}

TEST(clocks)
{
	CHECK_EQ(watch(1000, 0.95, 1000000, 0), FL_LEDBAT_WATCHING);
	CHECK_EQ(watch(1000, 1.5, 1000000, 0), FL_LEDBAT_TICKS);
	CHECK_EQ(watch(1000, 1.5, 1000000, 0xfffffff0), FL_LEDBAT_TICKS);
	CHECK_EQ(watch(1000.1, 1.5, 1000000, 77), FL_LEDBAT_TICKS);
	CHECK_EQ(watch(1000000, 1.5, 1000, 5), FL_LEDBAT_TICKS);
	CHECK_EQ(watch(250, 1.5, 1000000, 0), FL_LEDBAT_OTHER);
	CHECK_EQ(watch(100, 1.5, 1000000, 0), FL_LEDBAT_OTHER);
	CHECK_EQ(watch(1000000, 1.5, 1000000, 0), FL_LEDBAT_OTHER);
	CHECK_EQ(watch(1000, 1.5, 1000, 0), FL_LEDBAT_OTHER);
	CHECK_EQ(watch(0, 1.5, 1000000, 0), FL_LEDBAT_OTHER);
	/* time stamps that run backwards */
	CHECK_EQ(watch(-1000, 1.5, 1000000, 0), FL_LEDBAT_OTHER);
}

TEST(a_clock_is_watched_again_after_long_silence)
{
	struct fl_ledbat_clock c = { 0 };
	/* 2^32 us and a little: the stamp has gone round */
	u64 later_ns = 1 + ((1ULL << 32) + 5000) * 1000;

	fl_ledbat_watch(&c, 1, 0, 1000);
	CHECK_EQ(fl_ledbat_watch(&c, later_ns, 5000, 1000),
		 FL_LEDBAT_WATCHING);
	CHECK_EQ(fl_ledbat_watch(&c, later_ns + 2000000000, 2005000, 1000),
		 FL_LEDBAT_TICKS);
}

TEST(settles_at_the_target)
{
	/* a line of 1 packet/us with 10 us base RTT */
	u64 wnd = PKTS(2);
	double delay_us = 10;
	int i;

	start(0);
	for (i = 0; i < 3000; i++) {
		struct fl_sample s = { .wnd_limited = true };

		delay_us = fmax(10, PKTS_OF(wnd));
		s.delay_ns = delay_us * 1000;
		s.acked_pkts = PKTS_OF(wnd);
		fl_ledbat_ops.on_ack(&state, &target, &wnd, &s);
	}
	CHECK(fabs(delay_us - 30) < 0.5);
}

TEST(two_equal_flows_share)
{
	/* LEDBAT's additive rule keeps a difference; slow start does not make
	 * one if both know the base delay
	 */
	struct fl_ledbat_state st[2];
	u64 wnd[2] = { PKTS(2), PKTS(2) };
	double delay_us;
	int i, f;

	for (f = 0; f < 2; f++)
		fl_ledbat_ops.init(&st[f], 0);
	for (i = 0; i < 3000; i++) {
		delay_us = fmax(10, PKTS_OF(wnd[0] + wnd[1]));
		for (f = 0; f < 2; f++) {
			struct fl_sample s = {
				.delay_ns = delay_us * 1000,
				.acked_pkts = PKTS_OF(wnd[f]),
				.wnd_limited = true,
			};

			fl_ledbat_ops.on_ack(&st[f], &target, &wnd[f], &s);
		}
	}
	CHECK(fabs(PKTS_OF(wnd[0] + wnd[1]) - 30) < 0.5);
	CHECK(fabs(PKTS_OF(wnd[0]) - PKTS_OF(wnd[1])) < 0.5);
}

TEST(state_fits)
{
	CHECK_LE(sizeof(struct fl_ledbat_state), (size_t)FL_ORIGINAL_STATE);
}

UNIT_MAIN
