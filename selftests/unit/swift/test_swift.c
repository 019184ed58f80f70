// SPDX-License-Identifier: GPL-2.0
/* Swift's window control, kmod/swift/core/swift.c: SIGCOMM 2020, Algorithm 1. */
#include <math.h>

#include "lib/isqrt.h"
#include "swift/core/swift.h"
#include "unit.h"

#define PKTS(n)		((u64)((n) * (double)FL_WND_ONE))
#define PKTS_OF(wnd)	((double)(wnd) / (double)FL_WND_ONE)

static struct fl_swift_state state;
static const struct fl_target target = {
	.target_ns = 25000,
	.ai_wnd = FL_WND_ONE / 8,
	.min_wnd = FL_WND_ONE / 1024,
	.max_wnd = 100 * FL_WND_ONE,
};

/* One ACK at a time, for a packet that took delay_ns. Return: new window. */
static double ack(double pkts, u64 now_ns, u32 delay_ns, u32 acked)
{
	struct fl_sample s = {
		.now_ns = now_ns, .delay_ns = delay_ns, .acked_pkts = acked,
		.wnd_limited = true,
	};
	u64 wnd = PKTS(pkts);

	fl_swift_ops.on_ack(&state, &target, &wnd, &s);
	return PKTS_OF(wnd);
}

static void start(u64 now_ns)
{
	memset(&state, 0xff, sizeof(state));
	fl_swift_ops.init(&state, now_ns);
}

TEST(below_target_adds_ai_per_rtt)
{
	double pkts = 10;
	int i;

	start(0);
	for (i = 0; i < 10; i++)
		pkts = ack(pkts, (u64)i * 1000, 20000, 1);
	/* ten ACKs of a window of about ten make one RTT */
	CHECK(fabs(pkts - 10.125) < 0.002);
	CHECK(fabs(ack(10, 0, 20000, 2) - (10 + 2 * 0.0125)) < 0.0001);
}

TEST(small_window_adds_ai_per_packet)
{
	start(0);
	CHECK(fabs(ack(0.5, 0, 20000, 1) - 0.625) < 0.0001);
	CHECK(fabs(ack(1, 0, 20000, 1) - 1.125) < 0.0001);
}

TEST(above_target_decreases_in_proportion)
{
	start(1000000);
	/* 0.8 * (30 - 25) / 30 = 13.3 % */
	CHECK(fabs(ack(10, 1000000, 30000, 1) - 10 * (1 - 0.8 / 6)) < 0.001);
}

TEST(decrease_is_bounded)
{
	start(1000000);
	CHECK(fabs(ack(10, 1000000, 1000000, 1) - 5) < 0.001);
}

TEST(decrease_once_in_an_rtt)
{
	double once;

	start(1000000);
	once = ack(10, 1000000, 30000, 1);
	CHECK(once < 10);
	CHECK_EQ((long)(ack(10, 1029999, 30000, 1) * 1000), 10000L);
	CHECK(ack(10, 1030000, 30000, 1) < 10);
}

TEST(target_itself_decreases)
{
	start(1000000);
	CHECK(ack(10, 1000000, 25000, 1) <= 10);
	CHECK(ack(10, 1100000, 24999, 1) > 10);
}

TEST(without_delay_nothing_happens)
{
	start(0);
	CHECK_EQ((long)(ack(10, 0, 0, 4) * 1000), 10000L);
}

TEST(application_limited_does_not_grow)
{
	struct fl_sample s = { .now_ns = 1, .delay_ns = 100, .acked_pkts = 1 };
	u64 wnd = PKTS(10);

	start(0);
	fl_swift_ops.on_ack(&state, &target, &wnd, &s);
	CHECK_EQ(wnd, PKTS(10));
}

TEST(window_stays_in_bounds)
{
	double pkts = 1;
	u64 now_ns = 1000000;
	int i;

	start(now_ns);
	for (i = 0; i < 200; i++) {
		now_ns += 2000000;
		pkts = ack(pkts, now_ns, 1000000, 1);
		CHECK(pkts >= 1.0 / 1024);
	}
	CHECK(fabs(pkts - 1.0 / 1024) < 0.000001);
	for (i = 0; i < 100000; i++)
		pkts = ack(pkts, now_ns, 100, 1024);
	CHECK_EQ((long)pkts, 100L);
}

TEST(losses)
{
	u64 wnd = PKTS(8);

	start(1000000);
	fl_swift_ops.on_loss(&state, &target, &wnd, 1000000, 30000,
			     FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(4));
	/* the same recovery again: not in this RTT */
	fl_swift_ops.on_loss(&state, &target, &wnd, 1010000, 30000,
			     FL_LOSS_FAST);
	CHECK_EQ(wnd, PKTS(4));
	fl_swift_ops.on_loss(&state, &target, &wnd, 1010000, 30000,
			     FL_LOSS_TIMEOUT);
	CHECK_EQ(wnd, PKTS(2));
}

TEST(converges_to_fair_shares)
{
	/* two flows on a line of 1 packet/us with 10 us base RTT: the delay is
	 * what both windows make; both hear of it once an RTT
	 */
	struct fl_swift_state st[2];
	u64 wnd[2] = { PKTS(2), PKTS(30) };
	u64 now_ns = 0;
	double delay_us, sent[2] = { 0, 0 };
	int i, f;

	for (f = 0; f < 2; f++)
		fl_swift_ops.init(&st[f], 0);
	for (i = 0; i < 20000; i++) {
		delay_us = fmax(10, PKTS_OF(wnd[0] + wnd[1]));
		/* other traffic: else both rest on the target itself */
		delay_us += i % 7 * 0.2;
		now_ns += delay_us * 1000;
		for (f = 0; f < 2; f++) {
			struct fl_sample s = {
				.now_ns = now_ns,
				.delay_ns = delay_us * 1000,
				.wnd_limited = true,
			};

			/* whole packets, none forgotten */
			s.acked_pkts = floor(sent[f] + PKTS_OF(wnd[f])) -
				       floor(sent[f]);
			sent[f] += PKTS_OF(wnd[f]);
			fl_swift_ops.on_ack(&st[f], &target, &wnd[f], &s);
		}
	}
	CHECK(fabs(PKTS_OF(wnd[0] + wnd[1]) - 25) < 1.5);
	CHECK(fabs(PKTS_OF(wnd[0]) - PKTS_OF(wnd[1])) < 0.5);
}

TEST(isqrt)
{
	u64 x, step = 1;
	u32 r;

	for (x = 0; x < (1ULL << 62); x += step, step += step / 7 + 1) {
		r = fl_isqrt(x);
		CHECK((u64)r * r <= x);
		CHECK(((u64)r + 1) * ((u64)r + 1) > x);
	}
	CHECK_EQ(fl_isqrt(UINT64_MAX), UINT32_MAX);
}

TEST(target_scaling)
{
	const struct fl_swift_scaling sc = {
		.range_ns = 50000, .min_pkts_q8 = 26, .max_pkts_q8 = 100 << 8,
	};
	const struct fl_swift_scaling off = { .range_ns = 0 };
	double w, alpha, want;

	CHECK_EQ(fl_swift_scaled_target(&off, 25000, PKTS(1)), 25000u);
	CHECK_EQ(fl_swift_scaled_target(&sc, 25000, PKTS(100)), 25000u);
	CHECK_EQ(fl_swift_scaled_target(&sc, 25000, PKTS(1000)), 25000u);
	CHECK_EQ(fl_swift_scaled_target(&sc, 25000, PKTS(0.05)), 75000u);
	alpha = 50000 / (1 / sqrt(26 / 256.0) - 1 / sqrt(100.0));
	for (w = 0.12; w < 90; w *= 1.3) {
		want = 25000 + alpha / sqrt(w) - alpha / sqrt(100.0);
		CHECK(fabs(fl_swift_scaled_target(&sc, 25000, PKTS(w)) - want) <
		      0.01 * want);
	}
}

TEST(line_arithmetic)
{
	/* 10 Gbit/s, 1538 bytes: a packet in 1230.4 ns */
	u64 ppn = fl_ppn(10000000000ULL, 1538);

	CHECK(fabs(PKTS_OF(fl_ns_to_wnd(ppn, 1230400)) - 1000) < 0.001);
	/* 400 Gbit/s and 64 bytes for a second; 1 Mbit/s and 9038 bytes */
	ppn = fl_ppn(400000000000ULL, 64);
	CHECK(fabs(PKTS_OF(fl_ns_to_wnd(ppn, 100000000)) - 78125000) < 78125000 * 0.000001);
	ppn = fl_ppn(1000000, 9038);
	CHECK(fabs(PKTS_OF(fl_ns_to_wnd(ppn, 72304000)) - 1) < 0.001);
}

/* A link more is a hop more, from each of the three TTLs that hosts begin with. */
TEST(hops_from_ttl)
{
	static const struct {
		u8 ttl;
		u8 hops;
	} want[] = {
		{ 0, 0 }, { 64, 1 }, { 63, 2 }, { 60, 5 }, { 1, 64 },
		{ 128, 1 }, { 126, 3 }, { 65, 64 }, { 255, 1 }, { 250, 6 },
		{ 129, 127 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(want); i++)
		CHECK_EQ(fl_hops_of_ttl(want[i].ttl), want[i].hops);
}

TEST(target_by_hops)
{
	CHECK_EQ(fl_swift_hop_target(25000, 1000, 0), 25000U);
	CHECK_EQ(fl_swift_hop_target(25000, 0, 6), 25000U);
	CHECK_EQ(fl_swift_hop_target(25000, 1000, 6), 31000U);
	CHECK_EQ(fl_swift_hop_target(4000000000U, 10000000, 127), U32_MAX);
}

UNIT_MAIN
