// SPDX-License-Identifier: GPL-2.0
/* Söze's rate control, kmod/soze/core/soze.c, against libm. */
#include <math.h>

#include "soze/core/soze.h"
#include "unit.h"

#define L2(x)		((s32)lrint(log2(x) * SZ_ONE))
#define OF(l2)		exp2((double)(l2) / SZ_ONE)

/* The prototype's network: 25 Gbit/s, p 20 us, k 3 us, beta 0.5 Gbit/s. */
static const struct sz_conf paper = {
	.line_bps = 25000000000ULL, .wire_bytes = 1538, .beta_mbps = 500,
	.p_ns = 20000, .k_ns = 3000,
};

static u64 next_random(void)
{
	static u64 r = 88172645463325252ULL;

	r ^= r << 13;
	r ^= r >> 7;
	r ^= r << 17;
	return r;
}

TEST(log2_against_libm)
{
	double worst = 0, error;
	u64 x;
	int i;

	for (i = 0; i < 200000; i++) {
		x = (next_random() >> (i % 64)) | 1;
		/* long double: a u64 does not fit into a double */
		error = fabs(sz_log2(x) - (double)(log2l(x) * SZ_ONE));
		worst = fmax(worst, error);
	}
	CHECK_MSG(worst <= 2, "%g units", worst);
	CHECK_EQ(sz_log2(0), 0);
	CHECK_EQ(sz_log2(1), 0);
	CHECK_EQ(sz_log2(2), SZ_ONE);
	CHECK_EQ(sz_log2(1ULL << 63), 63 * SZ_ONE);
	CHECK_EQ(sz_log2(~0ULL), 64 * SZ_ONE - 1);
}

TEST(exp2_against_libm)
{
	double worst = 0, want;
	s64 l2;
	int i;

	for (i = 0; i < 200000; i++) {
		l2 = next_random() % (63LL * SZ_ONE);
		want = OF(l2);
		worst = fmax(worst, fmax(fabs(sz_exp2(l2) - want) - 0.5, 0) / want);
	}
	CHECK_MSG(worst < 1 / 1e7, "%g", worst);
	CHECK_EQ((s64)sz_exp2(0), 1);
	CHECK_EQ((s64)sz_exp2(-SZ_ONE), 0);
	CHECK_EQ((s64)sz_exp2(-(1LL << 50)), 0);
	CHECK_EQ(sz_exp2(1LL << 50), ~0ULL);
	CHECK_EQ((s64)sz_exp2(10 * SZ_ONE), 1024);
}

/* Equation 6 as printed holds up to 4.5 octaves below alpha. */
TEST(equation_6_both_ways)
{
	double alpha = 25e9 / 8, beta = 0.5e9 / 8, rate, delay;
	struct sz_par par;
	u32 d;

	REQUIRE(!sz_par_init(&par, &paper));
	for (rate = alpha / exp2(4.49); rate < alpha; rate *= 1.07) {
		delay = 20000 * (log(alpha) - log(rate)) /
			(log(alpha) - log(beta)) + 3000;
		CHECK_NEAR(sz_target_delay_ns(&par, L2(rate)), lrint(delay), 2);
	}
	for (d = 0; d < 3000 + 4.49 * 20000 / log2(50); d += 13) {
		rate = alpha * exp(-((d - 3000.) / 20000) * log(alpha / beta));
		CHECK_MSG(fabs(OF(sz_target_rate_l2(&par, d)) / rate - 1) < 1 / 1e6,
			  "%u ns", d);
	}
	CHECK_NEAR(par.q_ns, lrint(20000 / log(50)), 1);
	/* no delay stands for rates above alpha * e^(k / q) */
	CHECK_EQ(sz_target_delay_ns(&par, L2(alpha * 2)), 0U);
	/* saturated telemetry is far from overflowing anything */
	CHECK(sz_target_rate_l2(&par, U32_MAX) < -100LL * SZ_ONE);
}

/* Ours: up to 4.5 octaves below alpha the same, steeper beyond; monotone. */
TEST(equation_6_for_many_flows)
{
	double octave = 20000 / log2(50), alpha = 25e9 / 8, below, want, last = 0;
	struct sz_par par;
	u32 d;

	REQUIRE(!sz_par_init(&par, &paper));
	for (below = -0.1; below < 17; below += 0.03) {
		want = below < 4.5 ? below :
		       below < 7 ? 4.5 + 2 * (below - 4.5) :
		       below < 11.5 ? 9.5 + 4 * (below - 7) :
		       27.5 + 8 * (below - 11.5);
		d = sz_target_delay_ns(&par, L2(alpha) - below * SZ_ONE);
		CHECK_NEAR(d, lrint(3000 + want * octave), 2);
		CHECK_MSG(d > last, "%u ns, %f ns", d, last);
		last = d;
		CHECK(fabs((L2(alpha) - sz_target_rate_l2(&par, d)) /
			   (double)SZ_ONE - below) < 1 / 1e3);
	}
	CHECK_NEAR(par.telling_ns, lrint(3000 + 71.5 * octave), 2);
	CHECK_NEAR(par.start_ns, lrint(3000 + 21.5 * octave), 2);
}

/* A queue that moves across a bend finds no step there. */
TEST(no_step_at_a_bend)
{
	struct sz_sample s = { .rtt_ns = 40000 };
	s32 pace_l2 = 0, rate_l2 = 0, now_l2;
	struct sz_par par;
	struct sz_core sz;
	u32 d, bend;

	REQUIRE(!sz_par_init(&par, &paper));
	bend = 3000 + 4.5 * 20000 / log2(50);
	for (d = bend - 20; d < bend + 20; d++) {
		sz_init(&sz, &par, 0, 3125000000 >> 4, 1000);
		sz.starting = false;
		sz.age = SZ_AGE_MAX;
		s.now_ns = 1000;
		s.delay_ns = d;
		sz_on_ack(&sz, &par, s);
		now_l2 = sz.pace_l2 - sz_unlock_l2(&sz, s.now_ns);
		if (d > bend - 20) {
			CHECK_MSG(abs(now_l2 - pace_l2) < SZ_ONE / 5000, "%u ns", d);
			CHECK_MSG(abs(sz.rate_l2 - rate_l2) < SZ_ONE / 50000, "%u ns", d);
		}
		pace_l2 = now_l2;
		rate_l2 = sz.rate_l2;
	}
}

/* The random part of the pace: up to 1/64 octave either way, as often more as less,
 * whatever the time between two ACKs, and no two in a row alike.
 */
TEST(paces_are_not_locked)
{
	static const u32 gaps_ns[] = { 31, 123, 492, 4096, 12304, 24608, 1230400 };
	struct sz_core sz = { 0 };
	s32 least, most, off, last;
	u32 i, gap;
	s64 sum;

	for (gap = 0; gap < sizeof(gaps_ns) / sizeof(*gaps_ns); gap++) {
		least = SZ_ONE;
		most = -SZ_ONE;
		last = SZ_ONE;
		sum = 0;
		for (i = 0; i < 4096; i++) {
			sz.rest = i * 7919;
			off = sz_unlock_l2(&sz, (u64)i * gaps_ns[gap]);
			least = min_t(s64, least, off);
			most = max_t(s64, most, off);
			sum += off;
			CHECK(off != last);
			last = off;
		}
		CHECK(least >= -SZ_ONE / 64 && least < -SZ_ONE / 70);
		CHECK(most <= SZ_ONE / 64 && most > SZ_ONE / 70);
		CHECK_MSG(llabs(sum / 4096) < SZ_ONE / 64 / 20, "%u ns: %lld",
			  gaps_ns[gap], (long long)(sum / 4096));
	}
}

/* Off alone: a quarter in an RTT. Off while D moves: the gain of (1). */
TEST(error_while_the_queue_stands_still)
{
	struct sz_sample s = { .rtt_ns = 100000 };
	struct sz_par par;
	double off[2], grown, q = 20 / log(50);
	struct sz_core sz;
	int moving, i;

	REQUIRE(!sz_par_init(&par, &paper));
	for (moving = 0; moving < 2; moving++) {
		s.delay_ns = sz_target_delay_ns(&par, L2(1e8));
		sz_init(&sz, &par, 0, 200000000, 1000);
		sz.starting = false;
		sz.age = SZ_AGE_MAX;
		sz.mean_l2 = L2(1e8);
		sz.now_l2 = L2(1e8);
		for (i = 1; i <= 400; i++) {
			s.now_ns = i * 2500;
			/* as much as the error, in 8 round trips */
			if (moving)
				s.delay_ns = sz_target_delay_ns(&par, L2(1e8 + 5e7 *
						sin(i / 320. * 2 * M_PI)));
			sz_on_ack(&sz, &par, s);
		}
		off[moving] = log2(OF(sz.rate_l2) / 1e8);
	}
	/* 6 of 10 round trips at a quarter each */
	CHECK_MSG(off[0] < 0.3, "%.3f", off[0]);
	CHECK_MSG(off[1] > 0.75, "%.3f", off[1]);
	/* an empty queue is not a queue that stands still */
	sz_init(&sz, &par, 0, 200000000, 1000);
	sz.starting = false;
	sz.age = SZ_AGE_MAX;
	s.delay_ns = 0;
	for (i = 1; i <= 400; i++) {
		s.now_ns = i * 2500;
		sz_on_ack(&sz, &par, s);
	}
	/* 4 q / RTT octaves in 9 round trips, and the gain of (1) */
	grown = log2(OF(sz.rate_l2) / 2e8);
	CHECK_MSG(grown > 9 * 4 * q / 100, "%.3f", grown);
	CHECK_MSG(grown <= 9 * 4 * q / 100 + 0.6, "%.3f", grown);
	/* half an octave with a short RTT */
	s.rtt_ns = 20000;
	sz_init(&sz, &par, 0, 200000000, 1000);
	sz.starting = false;
	sz.age = SZ_AGE_MAX;
	for (i = 1; i <= 400; i++) {
		s.now_ns = i * 500;
		sz_on_ack(&sz, &par, s);
	}
	grown = log2(OF(sz.rate_l2) / 2e8);
	CHECK_MSG(grown > 3.5 && grown <= 6, "%.3f", grown);
}

TEST(derived_parameters)
{
	struct sz_conf cf = { .line_bps = 25000000000ULL, .wire_bytes = 1538 };
	struct sz_par par;

	REQUIRE(!sz_par_init(&par, &cf));
	CHECK_NEAR(par.q_ns, 60000 / log(1000), 2);
	CHECK_EQ(par.k_ns, 3000U);
	CHECK_NEAR(par.alpha_l2, L2(25e9 / 8), 2);
	/* at 1 Gbit/s 28 and 2.5 packets of 12304 ns */
	cf.line_bps = 1000000000;
	REQUIRE(!sz_par_init(&par, &cf));
	CHECK_NEAR(par.q_ns, 28 * 12304 / log(1000), 2);
	CHECK_EQ(par.k_ns, 30760U);
	/* from a known base RTT, within what telemetry can tell */
	cf.line_bps = 25000000000ULL;
	cf.base_ns = 40000;
	REQUIRE(!sz_par_init(&par, &cf));
	CHECK_NEAR(par.q_ns, 20000, 50);
	cf.base_ns = 5000000;
	REQUIRE(!sz_par_init(&par, &cf));
	CHECK(par.k_ns + par.q_ns * log(10000) < 0xfffe * 16.);
}

/* A train's last packet waits for k/4 at most, which one packet more would exceed. */
TEST(train_is_an_empty_queue)
{
	static const double gbit[] = { 0.01, 1, 10, 25, 40, 100, 400 };
	static const u32 pkts[] = { 1, 1, 1, 2, 3, 7, 25 };
	struct sz_conf cf = { .wire_bytes = 1538 };
	struct sz_par par;
	double packet_ns;
	int i;

	for (i = 0; i < 7; i++) {
		cf.line_bps = gbit[i] * 1e9;
		packet_ns = 1538 * 8 / gbit[i];
		REQUIRE(!sz_par_init(&par, &cf));
		CHECK_EQ(sz_train_pkts(&par), pkts[i]);
		CHECK((pkts[i] - 1) * packet_ns <= par.k_ns / 4.);
		CHECK(pkts[i] * packet_ns * 1.01 > par.k_ns / 4.);
	}
}

TEST(bad_parameters_are_refused)
{
	struct sz_conf cf = paper;
	struct sz_par par;

	cf.beta_mbps = 25000;
	CHECK_EQ(sz_par_init(&par, &cf), -1);
	cf = paper;
	cf.alpha_mbps = 400;
	CHECK_EQ(sz_par_init(&par, &cf), -1);
	cf = paper;
	cf.line_bps = 0;
	CHECK_EQ(sz_par_init(&par, &cf), -1);
	cf = paper;
	cf.p_ns = 1;
	CHECK_EQ(sz_par_init(&par, &cf), -1);
	cf = paper;
	cf.wire_bytes = 0;
	CHECK_EQ(sz_par_init(&par, &cf), -1);
}

/* Gain in an RTT at rest: what an error of 1 % becomes after an RTT. */
static double gain(u64 line_bps, u32 rtt_ns, u32 acks)
{
	struct sz_conf cf = paper;
	struct sz_sample s = { .delay_ns = 3000, .rtt_ns = rtt_ns };
	struct sz_par par;
	struct sz_core sz;
	double tinv;
	s32 first;
	u32 i;

	cf.line_bps = line_bps;
	if (sz_par_init(&par, &cf))
		return 0;
	tinv = OF(sz_target_rate_l2(&par, 3000));
	sz_init(&sz, &par, 0, tinv * 1.01, 1000);
	sz.starting = false;
	sz.age = SZ_AGE_MAX;
	first = sz.rate_l2;
	for (i = 1; i <= acks; i++) {
		s.now_ns = (u64)rtt_ns * i / acks;
		sz_on_ack(&sz, &par, s);
	}
	return (double)(first - sz.rate_l2) / SZ_ONE / log2(1.01);
}

/* A flow at rest with this RTT and this many packets in it. */
static void at_rest(struct sz_core *sz, const struct sz_par *par, u32 rtt_ns, u32 pkts)
{
	struct sz_sample s = { .now_ns = 1000, .delay_ns = 20000, .rtt_ns = rtt_ns };
	double told = OF(sz_target_rate_l2(par, s.delay_ns));
	double rate = (double)pkts * par->wire_bytes * 1e9 / rtt_ns;

	sz_init(sz, par, 0, rate, max_t(u32, rate / told * 1000, 1));
	sz->starting = false;
	sz->age = SZ_AGE_MAX;
	sz_on_ack(sz, par, s);
}

/* (13): eight q of RTT and 64 packets (a factor of 1.4 either way) make the window lead. Then
 * the window has no room beside a whole packet, and the pace has some.
 */
TEST(window_leads_on_a_long_path)
{
	struct sz_conf cf = { .line_bps = 25000000000ULL, .wire_bytes = 1538 };
	static const u32 pkts[] = { 20, 44, 92, 1000 };
	struct sz_par par;
	struct sz_core sz;
	u32 i, rest_ns = 480000, window;
	double exact;

	CHECK(!sz_par_init(&par, &cf));
	for (i = 0; i < ARRAY_SIZE(pkts); i++) {
		at_rest(&sz, &par, 500000, pkts[i]);
		CHECK_MSG(sz.leads == (i >= 2), "%u packets: %d", pkts[i], sz.leads);
		exact = OF(sz.rate_l2) * (rest_ns + sz.target_ns) / 1e9 / par.wire_bytes;
		window = sz_window_pkts(&sz, &par, rest_ns);
		if (sz.leads)
			CHECK_NEAR(window, (long)ceil(exact - 1. / 16), 0);
		else
			CHECK(window > exact + 1);
		CHECK((sz.pace_l2 > sz.rate_l2 + SZ_ONE / 32) == sz.leads);
		at_rest(&sz, &par, 8 * par.q_ns - 8, pkts[i]);
		CHECK(!sz.leads);
	}
	/* whoever begins again has room */
	at_rest(&sz, &par, 500000, 1000);
	CHECK(sz.leads);
	sz_restart(&sz, &par, 2000, par.wire_bytes);
	CHECK(sz_window_pkts(&sz, &par, rest_ns) > 1);
	at_rest(&sz, &par, 500000, 1000);
	sz_on_loss(&sz, &par, false);
	CHECK(sz.leads);
	sz_on_loss(&sz, &par, true);
	CHECK(!sz.leads);
}

TEST(gain_is_bounded_by_the_rtt)
{
	double q = 20000 / log(50);

	/* a gain of m spread over 100 ACKs */
	CHECK(fabs(gain(25e9, 24000, 100) - (1 - pow(1 - q / 144000 / 100, 100))) < 0.002);
	/* four times as much where the window leads */
	CHECK_MSG(fabs(gain(25e9, 5000000, 10000) / (4 * q / 3e7) - 1) < 0.03, "%g",
		  gain(25e9, 5000000, 10000) / (q / 3e7));
	/* with a short RTT the paper's m is the bound */
	q = 20000 / log(200);
	CHECK(gain(100e9, 2000, 100) < q / 12000);
	CHECK(fabs(gain(100e9, 2000, 100) - (1 - pow(1 - 0.25 / 100, 100))) < 0.002);
}

TEST(weight_scales_at_once)
{
	struct sz_par par;
	struct sz_core sz;
	double rate;

	REQUIRE(!sz_par_init(&par, &paper));
	sz_init(&sz, &par, 0, 10000000, 1000);
	sz.starting = false;
	rate = OF(sz.rate_l2);
	sz_set_weight(&sz, &par, 8000);
	CHECK(fabs(OF(sz.rate_l2) / rate - 8) < 1 / 1e5);
	CHECK(fabs(OF(sz.pace_l2) / rate - 8) < 1 / 1e5);
	sz_set_weight(&sz, &par, 1000);
	CHECK(fabs(OF(sz.rate_l2) / rate - 1) < 1 / 1e6);
	/* a thousand times as much is bounded by the line */
	sz_set_weight(&sz, &par, 1000000);
	CHECK(OF(sz.rate_l2) < 25e9 / 8 * 1.03);
	/* a weight beyond the range counts as its end */
	sz_set_weight(&sz, &par, U32_MAX);
	CHECK_NEAR(sz.weight_l2, L2(1000), 2);
	sz_set_weight(&sz, &par, 1);
	CHECK_NEAR(sz.weight_l2, L2(0.001), 2);
}

/* A flow that falls to less hears of the line that it leaves for a packet in an RTT. */
TEST(weight_falls_to_a_packet_in_an_rtt)
{
	struct sz_sample s = { .now_ns = 1000000, .rtt_ns = 1000000 };
	struct sz_par par;
	struct sz_core sz;
	double one;

	REQUIRE(!sz_par_init(&par, &paper));
	one = par.wire_bytes * 1e9 / s.rtt_ns;
	sz_init(&sz, &par, 0, 1000 * one, 1000);
	s.delay_ns = sz.target_ns;
	sz.starting = false;
	sz_on_ack(&sz, &par, s);
	sz.rate_l2 = L2(1000 * one);
	sz_set_weight(&sz, &par, 10);
	CHECK(fabs(OF(sz.rate_l2) / one - 10) < 0.001);
	sz.rate_l2 = L2(5 * one);
	sz_set_weight(&sz, &par, 1);
	CHECK(fabs(OF(sz.rate_l2) / one - 1) < 0.001);
	/* a flow that has less neither falls nor rises */
	sz.rate_l2 = L2(one / 4);
	sz.weight_l2 = L2(0.002);
	sz_set_weight(&sz, &par, 1);
	CHECK(fabs(OF(sz.rate_l2) / one - 1 / 4.) < 0.001);
}

TEST(start_doubles_in_an_rtt_and_stops_at_the_share)
{
	struct sz_sample s = { .delay_ns = 0, .rtt_ns = 10000 };
	struct sz_par par;
	struct sz_core sz;
	int i;

	REQUIRE(!sz_par_init(&par, &paper));
	sz_init(&sz, &par, 0, 100000000, 1000);
	for (i = 1; i <= 100; i++) {
		s.now_ns = i * 100;
		sz_on_ack(&sz, &par, s);
	}
	CHECK(fabs(OF(sz.rate_l2) / 200000000 - 1) < 0.001);
	CHECK(sz.starting);
	/* now the delay says 240 MB/s: reached, not passed */
	s.delay_ns = sz_target_delay_ns(&par, L2(240e6));
	for (; i <= 200; i++) {
		s.now_ns = i * 100;
		sz_on_ack(&sz, &par, s);
	}
	CHECK(!sz.starting);
	CHECK(fabs(OF(sz.rate_l2) / 240e6 - 1) < 0.002);
}

/* A flow that meets an incast goes to a packet in an RTT, and then to half with each. */
TEST(start_in_an_incast_falls_by_packets)
{
	struct sz_sample s = { .delay_ns = 4000000, .rtt_ns = 10000, .now_ns = 100 };
	struct sz_par par;
	struct sz_core sz;
	double pkts;
	u64 gap_ns;
	int i;

	REQUIRE(!sz_par_init(&par, &paper));
	sz_init(&sz, &par, 0, 10 * par.wire_bytes * 100000ULL, 1000);
	sz_on_ack(&sz, &par, s);
	CHECK(!sz.starting);
	for (i = 0, gap_ns = s.rtt_ns; i < 6; i++, gap_ns *= 2) {
		pkts = OF(sz.rate_l2) * gap_ns / 1e9 / par.wire_bytes;
		CHECK(pkts > 0.999 && pkts < (i ? 1.25 : 1.001));
		s.now_ns += gap_ns;
		sz_on_ack(&sz, &par, s);
	}
}

/* A flow that Reno leaves with its queue of 8 ms is there when that is gone. */
TEST(resumed_flow_waits_for_a_queue)
{
	struct sz_sample s = { 0 };
	struct sz_par par;
	struct sz_core sz;
	u32 ns;

	REQUIRE(!sz_par_init(&par, &paper));
	sz_resume(&sz, &par, 0, 2500000000, 1000);
	for (ns = 500; ns <= 8000000; ns += 500) {
		s.now_ns = ns;
		s.delay_ns = 8000000 - ns;
		s.rtt_ns = s.delay_ns + 10000;
		sz_on_ack(&sz, &par, s);
		if (OF(sz.rate_l2) < 2500000000 / 4 ||
		    sz.pace_l2 < sz.rate_l2 - 2 * SZ_ONE)
			break;
	}
	CHECK_MSG(ns > 8000000, "%.0f after %u ns", OF(sz.rate_l2), ns);
	CHECK(!sz.starting);
	/* one that was far below its share gets there by doubling */
	sz_resume(&sz, &par, 0, 1000000, 1000);
	s.delay_ns = sz_target_delay_ns(&par, L2(1e9));
	for (ns = 500; ns <= 200000; ns += 500) {
		s.now_ns = ns;
		s.rtt_ns = 20000;
		sz_on_ack(&sz, &par, s);
	}
	CHECK(fabs(OF(sz.rate_l2) / 1e9 - 1) < 0.01);
}

TEST(losses)
{
	struct sz_par par;
	struct sz_core sz;
	double rate;

	REQUIRE(!sz_par_init(&par, &paper));
	sz_init(&sz, &par, 0, 10000000, 1000);
	sz.starting = false;
	rate = OF(sz.rate_l2);
	sz_on_loss(&sz, &par, false);
	CHECK(fabs(OF(sz.rate_l2) / rate - sqrt(0.5)) < 1 / 1e6);
	CHECK(!sz.starting);
	sz_on_loss(&sz, &par, true);
	CHECK(fabs(OF(sz.rate_l2) / rate - sqrt(0.5) / 4) < 1 / 1e6);
	CHECK(sz.starting);
}

TEST(window_is_rate_times_rtt_at_rest)
{
	struct sz_par par;
	struct sz_core sz;
	double rate, pkts;

	REQUIRE(!sz_par_init(&par, &paper));
	for (rate = 1e5; rate < 3e9; rate *= 1.3) {
		sz_init(&sz, &par, 0, rate, 1000);
		pkts = rate * 1 / 1e9 / 1538 *
		       (9000 + sz_target_delay_ns(&par, L2(rate)));
		pkts = pkts * 17 / 16 + 2;
		CHECK_NEAR(sz_window_pkts(&sz, &par, 9000), (long)pkts,
			   1 + (long)(pkts / 10000));
	}
	/* the longest time and the fastest line fit */
	sz.rate_l2 = sz_log2(100000000000ULL);
	CHECK(sz_window_pkts(&sz, &par, U32_MAX) > 200000000);
}

/* Nothing overflows, whatever comes: UBSan watches. */
TEST(any_sample_is_survived)
{
	static const u64 lines[] = { 1000000, 1000000000, 400000000000ULL };
	struct sz_conf cf = { .wire_bytes = 1538 };
	struct sz_par par;
	struct sz_core sz;
	struct sz_sample s;
	int i, j;

	for (j = 0; j < 3; j++) {
		cf.line_bps = lines[j];
		cf.p_ns = j == 2 ? SZ_P_MIN_NS : 0;
		REQUIRE(!sz_par_init(&par, &cf));
		sz_init(&sz, &par, 0, 0, 1);
		for (i = 0; i < 100000; i++) {
			s.now_ns = next_random() >> (next_random() % 64);
			s.delay_ns = next_random() >> (32 + next_random() % 32);
			s.rtt_ns = next_random() >> (32 + next_random() % 32);
			if (!(next_random() % 64))
				sz_set_weight(&sz, &par, next_random() >>
					      (32 + next_random() % 32));
			if (!(next_random() % 64))
				sz_on_loss(&sz, &par, next_random() & 1);
			sz_on_ack(&sz, &par, s);
			if (sz.rate_l2 < 10 * SZ_ONE || sz.rate_l2 > par.max_l2 ||
			    sz.pace_l2 < 10 * SZ_ONE || sz.pace_l2 > par.max_l2 ||
			    !sz_window_pkts(&sz, &par, next_random() >> 33))
				break;
		}
		CHECK_EQ(i, 100000);
	}
}

UNIT_MAIN
