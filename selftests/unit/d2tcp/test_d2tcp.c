// SPDX-License-Identifier: GPL-2.0
/* D2TCP's arithmetic, kmod/d2tcp/core/d2tcp.c, against floating point. */
#include <math.h>

#include "d2tcp/core/d2tcp.h"
#include "unit.h"

#define ALPHA(x)	((u32)((x) * (double)FL_D2TCP_ALPHA_ONE))
#define ALPHA_OF(a)	((double)(a) / (double)FL_D2TCP_ALPHA_ONE)
#define D(x)		((u32)((x) * (double)FL_D2TCP_D_ONE))

TEST(alpha_is_a_moving_average)
{
	double want = 1;
	u32 alpha = FL_D2TCP_ALPHA_ONE, i;

	for (i = 0; i < 500; i++) {
		u32 ce = i < 100 ? 0 : i < 300 ? 7 : 23;

		alpha = fl_d2tcp_alpha(alpha, 23, ce, 4);
		want = want * 15 / 16 + ce / 23.0 / 16;
		CHECK(fabs(ALPHA_OF(alpha) - want) < 0.0001);
	}
	CHECK(ALPHA_OF(alpha) > 0.999);
}

TEST(alpha_fades_to_nothing)
{
	u32 shift, alpha, i;

	for (shift = 0; shift <= FL_D2TCP_SHIFT_G_MAX; shift++) {
		alpha = FL_D2TCP_ALPHA_ONE;
		for (i = 0; i < 30000; i++)
			alpha = fl_d2tcp_alpha(alpha, 10, 0, shift);
		CHECK_EQ(alpha, 0u);
		CHECK_EQ(fl_d2tcp_alpha(alpha, 0, 0, shift), 0u);
	}
}

TEST(alpha_stays_in_bounds)
{
	CHECK_EQ(fl_d2tcp_alpha(FL_D2TCP_ALPHA_ONE, 5, 5, 0),
		 FL_D2TCP_ALPHA_ONE);
	/* more marks than packets: no sender counts so, but it must not matter */
	CHECK_EQ(fl_d2tcp_alpha(FL_D2TCP_ALPHA_ONE, 5, UINT32_MAX, 0),
		 FL_D2TCP_ALPHA_ONE);
	CHECK_EQ(fl_d2tcp_alpha(0, 0, UINT32_MAX, 0), 0u);
	CHECK_LE(fl_d2tcp_alpha(FL_D2TCP_ALPHA_ONE, UINT32_MAX, UINT32_MAX, 4),
		 FL_D2TCP_ALPHA_ONE);
}

/* d of a message, as a number. */
static double imminence(u64 left, u64 cwnd, double rtt_us, s64 left_us,
			bool more)
{
	struct fl_d2tcp_need n = {
		.left_bytes = left, .cwnd_bytes = cwnd,
		.rtt_8us = rtt_us * 8, .left_us = left_us, .more = more,
	};

	return (double)fl_d2tcp_imminence(&n) / FL_D2TCP_D_ONE;
}

TEST(imminence_is_needed_over_left)
{
	/* 3 MB at a window of 100 kB: 40 RTTs of 12 us are 480 us */
	CHECK(fabs(imminence(3000000, 100000, 12, 480, false) - 1) < 0.01);
	CHECK(fabs(imminence(3000000, 100000, 12, 320, false) - 1.5) < 0.01);
	CHECK(fabs(imminence(3000000, 100000, 12, 600, false) - 0.8) < 0.01);
}

TEST(imminence_is_bounded)
{
	CHECK_EQ((int)(imminence(3000000, 100000, 12, 10, false) * 100), 200);
	CHECK_EQ((int)(imminence(3000, 100000, 12, 100000, false) * 100), 50);
	CHECK_EQ((int)(imminence(0, 100000, 12, 1, false) * 100), 50);
	/* passed */
	CHECK_EQ((int)(imminence(0, 100000, 12, 0, false) * 100), 200);
	CHECK_EQ((int)(imminence(1, 100000, 12, -5000, false) * 100), 200);
	/* nothing known, all at its limit */
	CHECK_EQ((int)(imminence(0, 0, 0, 1, false) * 100), 50);
	CHECK_EQ((int)(imminence(UINT64_MAX, 0, 4e8, 1, false) * 100), 200);
	CHECK_EQ((int)(imminence(UINT64_MAX, UINT32_MAX, 4e8, INT64_MAX,
				 false) * 100), 50);
}

TEST(a_bound_does_not_make_it_yield)
{
	CHECK_EQ((int)(imminence(3000, 100000, 12, 100000, true) * 100), 100);
	/* it may well make it hurry */
	CHECK(fabs(imminence(3000000, 100000, 12, 320, true) - 1.5) < 0.01);
}

TEST(penalty_is_a_power)
{
	double a, d, want, got, worst = 0;

	for (a = 0; a <= 1; a += 0.003)
		for (d = 0.5; d <= 2; d += 1 / 64.0) {
			want = pow(ALPHA_OF(ALPHA(a)), d);
			got = ALPHA_OF(fl_d2tcp_penalty(ALPHA(a), D(d)));
			worst = fmax(worst, fabs(want - got));
		}
	CHECK_MSG(worst < 0.00002, "off by %g", worst);
}

TEST(penalty_at_the_ends)
{
	u32 d;

	for (d = FL_D2TCP_D_MIN; d <= FL_D2TCP_D_MAX; d++) {
		CHECK_EQ(fl_d2tcp_penalty(0, d), 0u);
		CHECK_EQ(fl_d2tcp_penalty(FL_D2TCP_ALPHA_ONE, d),
			 FL_D2TCP_ALPHA_ONE);
	}
	CHECK_EQ(fl_d2tcp_penalty(ALPHA(0.3), FL_D2TCP_D_ONE), ALPHA(0.3));
}

TEST(nearer_deadlines_cost_less)
{
	u32 alpha, d, p, last;

	for (alpha = ALPHA(0.01); alpha < ALPHA(0.99); alpha += ALPHA(0.01)) {
		last = UINT32_MAX;
		for (d = FL_D2TCP_D_MIN; d <= FL_D2TCP_D_MAX; d += 8) {
			p = fl_d2tcp_penalty(alpha, d);
			CHECK_LT(p, last);
			last = p;
		}
	}
}

TEST(reduce)
{
	/* all marked: half, whatever the deadline */
	CHECK_EQ(fl_d2tcp_reduce(100, FL_D2TCP_ALPHA_ONE), 50u);
	CHECK_EQ(fl_d2tcp_reduce(100, ALPHA(0.5)), 75u);
	CHECK_EQ(fl_d2tcp_reduce(100, 0), 100u);
	CHECK_EQ(fl_d2tcp_reduce(3, FL_D2TCP_ALPHA_ONE), 2u);
	CHECK_EQ(fl_d2tcp_reduce(1, FL_D2TCP_ALPHA_ONE), 2u);
	CHECK_EQ(fl_d2tcp_reduce(UINT32_MAX, FL_D2TCP_ALPHA_ONE),
		 (UINT32_MAX - UINT32_MAX / 2));
}

TEST(without_deadline_it_is_dctcp)
{
	/* the kernel's: cwnd - ((cwnd * alpha) >> 11), alpha of 1024 */
	u32 cwnd, alpha;

	for (cwnd = 2; cwnd < 5000; cwnd += 7)
		for (alpha = 0; alpha <= 1024; alpha += 16) {
			u32 p = fl_d2tcp_penalty(alpha << 10, FL_D2TCP_D_ONE);
			u32 want = cwnd - ((cwnd * alpha) >> 11);

			CHECK_EQ(fl_d2tcp_reduce(cwnd, p),
				 want < 2 ? 2 : want);
		}
}

TEST(the_nearer_deadline_gets_more_but_not_all)
{
	/* PrioPlus, section 3.1: marked at the same time, both reduce. Two flows
	 * that share a line of 100 packets an RTT, marked when above
	 */
	u32 w[2] = { 50, 50 }, alpha[2], d[2] = { FL_D2TCP_D_MAX,
						  FL_D2TCP_D_MIN };
	u64 sum[2] = { 0, 0 };
	u32 i, f;

	alpha[0] = FL_D2TCP_ALPHA_ONE / 8;
	alpha[1] = alpha[0];
	for (i = 0; i < 4000; i++) {
		bool marked = w[0] + w[1] > 100;

		for (f = 0; f < 2; f++) {
			alpha[f] = fl_d2tcp_alpha(alpha[f], w[f],
						  marked ? w[f] : 0, 4);
			if (marked)
				w[f] = fl_d2tcp_reduce(w[f],
						       fl_d2tcp_penalty(alpha[f],
									d[f]));
			else
				w[f]++;
			sum[f] += w[f];
		}
	}
	CHECK_GT(sum[0], 2 * sum[1]);
	CHECK_GT(sum[1], sum[0] / 50);
}

UNIT_MAIN
