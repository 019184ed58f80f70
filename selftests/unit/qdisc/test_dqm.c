// SPDX-License-Identifier: GPL-2.0
/*
 * MLCC's queue management, qdisc/core/dqm.h, in the set-up of its Figure 9: 25 Gbit/s hosts, 6.04
 * ms between datacenters, 24 us behind the router, a sender that hears of a rate one RTT_C
 * later, and a credit loop that is at rest. Four such flows are the figure's.
 */
#include <math.h>

#include "core/dqm.h"
#include "unit.h"

#define RTT_C_NS	6040000
#define RTT_D_NS	24000
#define LINE		3125000000ULL	/* bytes/s */
#define CREDIT		1500000000ULL	/* 12 Gbit/s: an eighth of 95 Gbit/s and a little */
#define WIRE		1538
#define STEPS		(400000000 / RTT_D_NS)

static struct dqm_par par(enum dqm_form form, u32 theta_ns)
{
	return (struct dqm_par) {
		.form = form, .theta_ns = theta_ns, .target_ns = 1000000,
		.line_bytes = LINE, .min_bytes = 2000000, .wire_bytes = WIRE,
	};
}

/* What a run shows: delays in us by step; when the delay has come within a quarter of
 * the target for good; its largest and smallest value in the second half; the longest queue.
 */
struct result {
	double delay_us[STEPS];
	double settled_ms, most_us, least_us, peak_bytes, period_ms;
};

static struct result got;

/* A sender that does as it is told, an RTT_C later; the queue is emptied at the rate of
 * the credit loop, which from @change_ms on is @other.
 */
static void run(const struct dqm_par *p, double change_ms, u64 other)
{
	static u64 way[STEPS + RTT_C_NS / RTT_D_NS];
	int late = RTT_C_NS / RTT_D_NS, first = 0, last = 0, i, n;
	double queue = 0, rest = 0, out;
	struct dqm_flow f;

	memset(&got, 0, sizeof(got));
	got.least_us = 1e9;
	dqm_init(&f, p, RTT_C_NS, RTT_D_NS, LINE);
	for (i = 0; i < late; i++)
		way[i] = LINE;
	for (i = 0; i < STEPS; i++) {
		dqm_credit(&f, p, i * (RTT_D_NS / 1e6) >= change_ms ? other : CREDIT);
		queue += way[i] * (RTT_D_NS / 1e9);
		out = f.credit * (RTT_D_NS / 1e9);
		if (out > queue)
			out = queue;
		queue -= out;
		for (rest += out; rest >= WIRE; rest -= WIRE)
			dqm_packet(&f, p);
		dqm_step(&f, p, queue, 1);
		way[i + late] = f.tell;
		got.delay_us[i] = queue / f.credit * 1e6;
		if (queue > got.peak_bytes)
			got.peak_bytes = queue;
		if (got.delay_us[i] < 750 || got.delay_us[i] > 1250)
			got.settled_ms = i * (RTT_D_NS / 1e6);
		if (i > STEPS / 2) {
			got.most_us = fmax(got.most_us, got.delay_us[i]);
			got.least_us = fmin(got.least_us, got.delay_us[i]);
		}
	}
	for (n = 0, i = STEPS / 4; i < STEPS; i++) {
		if (got.delay_us[i] < 1000 || got.delay_us[i - 1] >= 1000)
			continue;
		if (!n++)
			first = i;
		last = i;
	}
	got.period_ms = n > 1 ? (last - first) * (RTT_D_NS / 1e6) / (n - 1) : 0;
	printf("# form %d, theta %u ms: peak %.1f MB, settled %.1f ms, %.0f..%.0f us, period %.1f ms\n",
	       p->form, p->theta_ns / 1000000, 4 * got.peak_bytes / 1e6, got.settled_ms,
	       got.least_us, got.most_us, got.period_ms);
}

/* Figure 9a: a peak of about 40 MB, then 4 x 1.5 MB; theta 18 within 60 ms, 30 is slow. */
TEST(damped_form_settles)
{
	struct dqm_par p;

	p = par(DQM_DAMPED, 18000000);
	run(&p, 1e9, 0);
	CHECK_MSG(got.settled_ms <= 60, "%.1f ms", got.settled_ms);
	CHECK(got.peak_bytes * 4 > 36e6 && got.peak_bytes * 4 < 42e6);
	CHECK(got.most_us < 1050 && got.least_us > 950);
	p = par(DQM_DAMPED, 30000000);
	run(&p, 1e9, 0);
	CHECK_MSG(got.settled_ms > 60 && got.settled_ms < 130, "%.1f ms", got.settled_ms);
	p = par(DQM_DAMPED, 6000000);
	run(&p, 1e9, 0);
	CHECK_MSG(got.settled_ms <= 60, "%.1f ms", got.settled_ms);
}

/* As printed it swings for ever, with a period of 2 pi sqrt(RTT_C theta). */
TEST(printed_form_swings)
{
	static const u32 theta_ms[] = { 6, 18, 30 };
	double theory_ms;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(theta_ms); i++) {
		struct dqm_par p = par(DQM_PRINTED, theta_ms[i] * 1000000);

		run(&p, 1e9, 0);
		CHECK_MSG(got.settled_ms > 300, "%.1f ms", got.settled_ms);
		CHECK(got.most_us > 1500 && got.least_us < 500);
		theory_ms = 2 * M_PI * sqrt(RTT_C_NS / 1e6 * theta_ms[i]);
		CHECK_MSG(fabs(got.period_ms / theory_ms - 1) < 0.1, "%.1f ms", got.period_ms);
	}
}

/* Without a token: settled by 25 ms, and steady. */
TEST(filter_settles_sooner)
{
	struct dqm_par p = par(DQM_FILTER, 0);

	run(&p, 1e9, 0);
	CHECK_MSG(got.settled_ms <= 25, "%.1f ms", got.settled_ms);
	CHECK(got.most_us < 1050 && got.least_us > 950);
	CHECK(got.peak_bytes * 4 > 36e6 && got.peak_bytes * 4 < 42e6);
}

/* The share behind the router doubles, or is halved, at 200 ms: used and settled again. */
TEST(credit_changes)
{
	struct dqm_par p = par(DQM_FILTER, 0);

	run(&p, 200, 2 * CREDIT);
	CHECK_MSG(got.settled_ms <= 230, "%.1f ms", got.settled_ms);
	run(&p, 200, CREDIT / 2);
	CHECK_MSG(got.settled_ms <= 240, "%.1f ms", got.settled_ms);
}

/* Any numbers: bounded, and nothing overflows (UBSan). */
TEST(anything)
{
	static struct dqm_flow f;
	u32 r = 1, i;

	for (i = 0; i < 300000; i++) {
		struct dqm_par p = par(i / 1000 % 3, r >> 8 & 1 ? 0 : r);

		p.line_bytes = DQM_RATE_MAX;
		r = r * 1664525 + 1013904223;
		if (i % 1000 == 0)
			dqm_init(&f, &p, 1000 + (r >> (r & 15)), r >> (r >> 4 & 31), r);
		dqm_credit(&f, &p, (u64)r << (r & 31));
		dqm_packet(&f, &p);
		dqm_step(&f, &p, (u64)r << (r >> 6 & 31), 1 + (r & 7));
		CHECK(f.tell >= p.min_bytes && f.tell <= p.line_bytes);
	}
}

/* The ends of all that tc accepts: no product is larger than its division bears, which is a fault
 * in the kernel.
 */
TEST(edges)
{
	static const u32 ns[] = { 0, 1, 10, 1000, 1000000, 1000000000 };
	static const u64 line[] = { WIRE, LINE, DQM_RATE_MAX };
	static const u64 queue[] = { 0, WIRE, BIT(30), DQM_QUEUE_MAX };
	static struct dqm_flow f;
	u32 i, k, left;

	for (i = 0; i < 3 * 6 * 6 * 3 * 2 * 3; i++) {
		struct dqm_par p = {
			.form = i % 3, .theta_ns = ns[i / 3 % 6], .target_ns = ns[i / 18 % 6],
			.line_bytes = line[i / 108 % 3], .min_bytes = 1, .wire_bytes = WIRE,
		};

		left = i / 324;
		dqm_init(&f, &p, ns[3 + left / 2], 1000, p.line_bytes);
		for (k = 0; k < 4 * ARRAY_SIZE(queue); k++) {
			if (left & 1)
				dqm_credit(&f, &p, k & 8 ? p.line_bytes : 1);
			dqm_step(&f, &p, queue[k % 4], 1 + k);
			dqm_packet(&f, &p);
			CHECK(f.tell && f.tell <= p.line_bytes);
			CHECK(f.dqm && f.dqm <= 2 * p.line_bytes);
		}
	}
}

/* Twice the line's rate is told also of a theta that is a tenth of what is missing. */
TEST(short_theta)
{
	struct dqm_par p = par(DQM_FILTER, 100000);
	static struct dqm_flow f;

	dqm_init(&f, &p, RTT_C_NS, RTT_D_NS, CREDIT);
	f.told_sum = 0;
	dqm_step(&f, &p, 0, 1);
	CHECK_EQ(f.dqm, 2 * LINE);
}

UNIT_MAIN
