// SPDX-License-Identifier: GPL-2.0
/* PrioPlus as a core, kmod/prioplus/core/prioplus.c: EuroSys 2025, Algorithm 1. */
#include <math.h>

#include "prioplus/core/pp_ack.h"
#include "unit.h"

#define PKTS(n)		((u64)((n) * (double)FL_WND_ONE))
#define PKTS_OF(wnd)	((double)(wnd) / (double)FL_WND_ONE)

/* The testbed of the paper: 10 Gbit/s, 13 us, channels of 4 us. */
static const struct pp_conf conf = {
	.base_ns = 13000,
	.probe_base_ns = 11000,
	.line_bps = 10000000000ULL,
	.wire_bytes = 1250,		/* one packet a microsecond */
	.fluct_ns = 3200,
	.noise_ns = 800,
	.probe_cap_ns = 1000000,
	.start_permille = 250, .resume_permille = 1000,
	.ai_bytes = 125,
};

static struct pp_chan chan;
static struct pp_core flow;
static u64 now_ns;
static u32 seq;

/* A fresh flow of a priority; sequence numbers count packets. */
static void start(u32 prio, bool paper, u32 isn)
{
	struct pp_conf cf = conf;

	cf.paper = paper;
	now_ns = 1000000000;
	seq = isn;
	memset(&flow, 0xff, sizeof(flow));
	CHECK_EQ(pp_chan_init(&chan, &cf, prio), 0);
	pp_init(&flow, &fl_swift_ops, now_ns, seq);
}

static int probe(u32 queue_ns, u32 random)
{
	return pp_on_probe(&flow, &chan, conf.probe_base_ns + queue_ns, seq,
			   random);
}

/* The ACK of the next packet, which saw a queue of queue_ns. */
static int ack(u32 queue_ns)
{
	u32 in_flight = flow.wnd >> FL_WND_SHIFT;
	struct fl_sample s = {
		.now_ns = now_ns += 1000,
		.delay_ns = conf.base_ns + queue_ns,
		.acked_pkts = 1,
		.ack_seq = ++seq,
		.snd_nxt = seq + in_flight,
		.seq_per_pkt = 1,
		.random = 1U << 31,
		.wnd_limited = true,
	};

	return pp_on_ack(&flow, &chan, &s);
}

/* ACKs of a window and one more: at least one RTT ends. */
static int rtt(u32 queue_ns)
{
	u32 n = (flow.wnd >> FL_WND_SHIFT) + 2;
	int v = PP_SEND;

	while (n-- && v == PP_SEND)
		v = ack(queue_ns);
	return v;
}

TEST(channels_of_the_paper)
{
	int prio;

	start(0, false, 0);
	/* the default priority: as little above the base RTT as can be told */
	CHECK_EQ(chan.target_ns, 14000u);
	CHECK_EQ(chan.limit_ns, 15400u);
	for (prio = 1; prio <= PP_PRIO_MAX; prio++) {
		start(prio, false, 0);
		/* section 4.3.2: 4 i us and 4 i + 2.4 us above the base RTT */
		CHECK_EQ(chan.target_ns, 13000u + 4000 * prio);
		CHECK_EQ(chan.limit_ns, 13000u + 4000 * prio + 2400);
		CHECK_EQ(chan.lower_ns, 13000u + 4000 * (prio - 1) + 2400);
	}
	CHECK(fabs(PKTS_OF(chan.bdp_wnd) - 13) < 0.001);
	CHECK(fabs(PKTS_OF(chan.start_wnd) - 3.25) < 0.001);
	CHECK(fabs(chan.ai_wnd / (double)FL_WND_ONE - 0.1) < 0.001);
}

/* Is that the channel of @prio with @cf, above a base RTT of 13 us? */
static void check_channel(const struct pp_conf *cf, int prio, u32 target_ns, u32 limit_ns)
{
	CHECK_EQ(pp_chan_init(&chan, cf, prio), 0);
	CHECK_EQ(chan.target_ns, 13000 + target_ns);
	CHECK_EQ(chan.limit_ns, 13000 + limit_ns);
}

TEST(priority_0_has_half_of_its_room)
{
	struct pp_conf cf = conf;

	check_channel(&cf, 0, 1000, 2400);
	cf.fluct_ns = 48000;
	check_channel(&cf, 0, 12000, 24000 + 800);
	cf.paper = true;
	check_channel(&cf, 0, 1000, 24000 + 800);
}

/* A = 3.2 us. Priority 0 steers for what noise can be. */
TEST(noise_makes_channels_wider)
{
	struct pp_conf cf = conf;

	/* half of A is enough */
	cf.noise_ns = 1600;
	check_channel(&cf, 0, 1600, 1600 + 1600);
	check_channel(&cf, 1, 4800, 4800 + 1600 + 1600);
	cf.noise_ns = 30000;
	/* a quarter of what is more */
	check_channel(&cf, 0, 30000, 7100 + 1600 + 30000);
	check_channel(&cf, 1, 7100 + 33200, 7100 + 33200 + 1600 + 30000);
	check_channel(&cf, 3, 7100 + 3 * 33200, 7100 + 3 * 33200 + 1600 + 30000);
	/* as printed, but for priority 0's target */
	cf.paper = true;
	check_channel(&cf, 0, 30000, 1600 + 30000);
	check_channel(&cf, 1, 33200, 33200 + 1600 + 30000);
}

TEST(noise_that_was_measured_makes_channels_wider)
{
	struct pp_conf cf = conf;

	cf.held_ns = 10000;
	/* B = 20 us */
	check_channel(&cf, 0, 10000, 2100 + 1600 + 20000);
	check_channel(&cf, 3, 2100 + 3 * 23200, 2100 + 3 * 23200 + 1600 + 20000);
	/* noise that was told counts where it is more */
	cf.noise_ns = 30000;
	check_channel(&cf, 0, 30000, 7100 + 1600 + 30000);
}

TEST(bad_settings_are_refused)
{
	struct pp_conf cf[5] = { conf, conf, conf, conf, conf };
	int i;

	cf[0].base_ns = 0;
	cf[1].line_bps = 0;
	cf[2].wire_bytes = 63;
	cf[3].fluct_ns = 0;
	cf[3].noise_ns = 0;
	cf[4].start_permille = 0;
	for (i = 0; i < 5; i++)
		CHECK(pp_chan_init(&chan, &cf[i], 1) < 0);
	CHECK(pp_chan_init(&chan, &conf, PP_PRIO_MAX + 1) < 0);
	CHECK_EQ(pp_chan_init(&chan, &conf, PP_PRIO_MAX), 0);
}

TEST(defaults_are_derived)
{
	struct pp_conf cf = conf;

	cf.probe_base_ns = 0;
	CHECK_EQ(pp_chan_init(&chan, &cf, 1), 0);
	CHECK_EQ(chan.eps_ns, 1000u);
	/* two links, 1186 bytes shorter: 949 ns each */
	CHECK(abs((int)chan.probe_base_ns - (13000 - 1897)) < 3);
	cf.line_bps = 1000000000;
	CHECK_EQ(pp_chan_init(&chan, &cf, 1), 0);
	CHECK_EQ(chan.eps_ns, 10000u);
	CHECK_EQ(chan.probe_base_ns, 13000u);
}

/* Width of the channels at a line rate, a packet and a base RTT. */
static u32 width_ns(u64 line_bps, u32 wire_bytes, u32 base_ns, bool paper)
{
	struct pp_conf cf = conf;
	struct pp_chan ch;

	cf.line_bps = line_bps;
	cf.wire_bytes = wire_bytes;
	cf.base_ns = base_ns;
	cf.paper = paper;
	CHECK_EQ(pp_chan_init(&ch, &cf, 5), 0);
	CHECK_EQ(ch.target_ns, base_ns + 5 * ch.width_ns);
	return ch.width_ns;
}

TEST(channels_are_as_wide_as_packets_and_base_rtt_ask)
{
	u32 set_ns = conf.fluct_ns + conf.noise_ns;

	CHECK_EQ(width_ns(100000000000ULL, 1538, 12000, false), set_ns);
	/* 2.6 packets of 7.2 us */
	CHECK_EQ(width_ns(10000000000ULL, 9038, 20000, false),
		 7230 * 26 / 10 + conf.noise_ns);
	/* a twelfth of the base RTT */
	CHECK_EQ(width_ns(100000000000ULL, 1538, 240000, false),
		 20000 + conf.noise_ns);
	CHECK_EQ(width_ns(10000000000ULL, 9038, 240000, true), set_ns);
}

TEST(starts_with_a_probe)
{
	start(3, true, 0);
	CHECK(flow.stopped);
	CHECK_EQ(probe(14400, 0), PP_PROBE);	/* D_limit itself stops */
	CHECK_EQ(probe(14399, 0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 1) < 0.001);	/* line 36 */
	start(3, true, 0);
	CHECK_EQ(probe(1000, 0), PP_RESUME);	/* not less than epsilon */
	CHECK(fabs(PKTS_OF(flow.wnd) - 1) < 0.001);
	start(3, true, 0);
	CHECK_EQ(probe(999, 0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 3.25) < 0.001);	/* line 32 */
}

TEST(newcomer_is_modest_with_unknown_flow_count)
{
	start(3, false, 0);
	CHECK_EQ(probe(0, 0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 2) < 0.001);
	rtt(0);
	CHECK(PKTS_OF(flow.wnd) <= 4.3);
	CHECK(PKTS_OF(flow.wnd) >= 3.9);
}

/* Where others have a queue a newcomer doubles in an RTT. Of the first excess it takes back an
 * eighth of what is too much, of the next one all, and with the excess gone it doubles again.
 */
TEST(newcomer_under_others_doubles)
{
	u64 wnd;
	u32 i;

	start(6, false, 0);
	CHECK_EQ(probe(14000, 0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 1) < 0.001);
	for (i = 0; i < 5; i++) {
		wnd = flow.wnd;
		rtt(14000);
		CHECK(flow.wnd >= 2 * wnd);
		CHECK(flow.wnd <= 2 * wnd + PKTS(4));
	}
	CHECK(!flow.flows_known && !flow.owns);
	wnd = flow.wnd;
	while (!flow.shrunk)
		ack(39000);
	/* the packet was sent with half of the window: D_target is 13 + 24 us, the delay 13 + 39 */
	CHECK(fabs((double)flow.wnd / wnd - (1 - (1 - 0.5 * 37 / 52) / 8)) < 0.03);
	wnd = flow.wnd;
	rtt(39000);
	rtt(39000);
	CHECK(!flow.stopped);
	CHECK(fabs((double)flow.wnd / wnd - 37.0 / 52) < 0.01);
	start(6, false, 0);
	CHECK_EQ(probe(14000, 0), PP_RESUME);
	rtt(14000);
	rtt(14000);
	while (!flow.shrunk)
		ack(39000);
	wnd = flow.wnd;
	rtt(2000);
	CHECK(flow.wnd >= wnd * 1.8);
}

TEST(probe_wait)
{
	start(3, true, 0);
	/* (delay - D_target) + random(BaseRtt): 16 - 12 us and half of 13 */
	CHECK_EQ(probe(16000, 1U << 31), PP_PROBE);
	CHECK_EQ(flow.probe_wait_ns, 4000u + 6500);
	CHECK_EQ(probe(16000, 0), PP_PROBE);
	CHECK_EQ(flow.probe_wait_ns, 4000u);
	CHECK_EQ(probe(100000000, 0), PP_PROBE);
	CHECK_EQ(flow.probe_wait_ns, conf.probe_cap_ns);
}

TEST(far_from_the_heir_probes_less_often)
{
	start(3, false, 0);
	CHECK_EQ(probe(14400, 1U << 31), PP_PROBE);
	CHECK_EQ(flow.gap, 0);
	CHECK_EQ(flow.probe_wait_ns, 2400u + 6500);
	CHECK_EQ(probe(24000, 1U << 31), PP_PROBE);	/* three channels up */
	CHECK_EQ(flow.gap, 3);
	/* two base RTTs for each, and one for each flow beyond the first */
	CHECK_EQ(flow.probe_wait_ns, 12000u + (1 + 3 * 2 + 2 * 1) * 6500);
	flow.flows_q8 = 20 * PP_FLOWS_ONE;
	CHECK_EQ(probe(24000, 1U << 31), PP_PROBE);
	CHECK_EQ(flow.probe_wait_ns,
		 12000u + (1 + 3 * 2 + 20 / 4 + 2 * 20) * 6500);
	/* below the limit all probe alike */
	CHECK_EQ(probe(8000, 1U << 31), PP_PROBE);
	CHECK_EQ(flow.probe_wait_ns, 6500u);
}

TEST(a_crowd_probes_no_more_than_a_part_of_the_line)
{
	u32 probe_ns = 91 * 8 / 10;
	u64 sum_ns = 0;
	int i;

	start(3, false, 0);
	probe(15000, 0);
	flow.crowd_q8 = 10 * PP_FLOWS_ONE;
	for (i = 0; i < 1000; i++) {
		flow.preempted = 1;
		flow.crowd_q8 = 10 * PP_FLOWS_ONE;
		CHECK_EQ(probe(15000, 4294967u * i), PP_PROBE);
		sum_ns += flow.probe_wait_ns - 3000;
	}
	CHECK(fabs(sum_ns / 1000.0 / (10 * 16 * probe_ns) - 1) < 0.15);
	/* the cap of a wait is no reason to use more */
	flow.crowd_q8 = 16 * PP_FLOWS_ONE;
	chan.probe_cap_ns = 10000;
	probe(15000, U32_MAX);
	CHECK(flow.probe_wait_ns > 16 * 16 * probe_ns);
}

TEST(stops_at_the_second_sample_above_the_limit)
{
	start(3, true, 0);
	probe(0, 0);
	CHECK_EQ(ack(14500), PP_SEND);
	CHECK_EQ(ack(14000), PP_SEND);	/* clears the count (line 20) */
	CHECK_EQ(ack(14500), PP_SEND);
	CHECK_EQ(ack(14500), PP_STOP);
	CHECK(flow.stopped);
	/* ACKs of what was sent before change nothing */
	CHECK_EQ(ack(0), PP_SEND);
	CHECK(flow.stopped);
}

TEST(paper_counts_flows_at_a_stop)
{
	start(3, true, 0);
	probe(0, 0);
	CHECK_EQ(ack(27000), PP_SEND);
	CHECK_EQ(ack(27000), PP_STOP);
	/* 40 us at a packet each, over the window after one decrease */
	CHECK(fabs(flow.flows_q8 / 256.0 - 40 / PKTS_OF(flow.wnd)) < 0.2);
	CHECK_EQ(flow.countdown, 4);	/* BaseBdp / W_LS */
}

TEST(paper_forgets_flows_at_base_delay)
{
	int i;

	start(3, true, 0);
	probe(0, 0);
	flow.flows_q8 = 8 * PP_FLOWS_ONE;
	flow.countdown = 4;
	for (i = 0; i < 20 && flow.countdown; i++) {
		CHECK_EQ(flow.flows_q8, 8u * PP_FLOWS_ONE);
		ack(0);
		rtt(0);
	}
	CHECK_EQ(flow.countdown, 0);
	for (i = 0; i < 10; i++)
		rtt(0);
	CHECK_EQ(flow.flows_q8, 1u * PP_FLOWS_ONE);
}

TEST(linear_start_adds_w_ls_in_an_rtt)
{
	double before;

	start(3, true, 0);
	probe(0, 0);
	rtt(0);
	before = PKTS_OF(flow.wnd);
	rtt(0);
	CHECK(fabs(PKTS_OF(flow.wnd) - before - 3.25) < 0.3);
}

/* A flow that is alone and has what fills the line grows little at base delay, not by W_LS. */
TEST(linear_start_ends_with_the_line)
{
	u64 bdp;

	start(0, false, 0);
	probe(0, 0);
	bdp = fl_ns_to_wnd(chan.ppn, chan.base_ns);
	while (flow.wnd < bdp)
		rtt(0);
	CHECK(flow.wnd < bdp + bdp / 4);
	rtt(0);
	rtt(0);
	CHECK(flow.wnd < bdp + bdp / 2);
}

TEST(dual_rtt_increase_of_the_paper)
{
	double before, after;
	int grown = 0, i;

	start(6, true, 0);
	probe(5000, 0);
	flow.wnd = PKTS(10);
	for (i = 0; i < 8; i++) {
		before = PKTS_OF(flow.wnd);
		rtt(11000);
		after = PKTS_OF(flow.wnd);
		CHECK(after < before * 1.6);
		if (after > before * 1.2)
			grown++;
	}
	/* (D_target - delay) / delay = 13 / 24, every second RTT */
	CHECK(grown >= 3 && grown <= 5);
}

TEST(any_initial_sequence_number)
{
	u32 isn;

	/* an RTT mark left at 0 would hide RTTs for half of them */
	for (isn = 0; isn < 0xf0000000; isn += 0x0fffffff) {
		double before;

		start(6, false, isn);
		CHECK_EQ(probe(5000, 0), PP_RESUME);
		before = PKTS_OF(flow.wnd);
		rtt(11000);
		rtt(11000);
		CHECK(PKTS_OF(flow.wnd) > before + 0.5);
	}
}

/* A flow that has been alone in its channel for long enough. */
static void settle(u32 prio, double pkts)
{
	int i;

	start(prio, false, 77);
	probe(0, 0);
	flow.wnd = PKTS(pkts);
	for (i = 0; i < 30; i++) {
		flow.wnd = PKTS(pkts);
		CHECK_EQ(rtt(prio * 4000), PP_SEND);
	}
}

TEST(flow_count_from_the_own_channel)
{
	/* 25 us of queue and line at a packet each: 12.5 packets are half */
	settle(3, 12.5);
	CHECK(flow.flows_known);
	CHECK(fabs(flow.flows_q8 / 256.0 - 2) < 0.15);
}

TEST(preemption_does_not_inflate_the_flow_count)
{
	settle(3, 12.5);
	CHECK_EQ(rtt(20000), PP_STOP);
	CHECK(fabs(flow.flows_q8 / 256.0 - 2) < 0.15);
}

TEST(settled_flow_stops_as_in_the_paper)
{
	settle(3, 12.5);
	while (!fl_seq_after(seq + 1, flow.round_end))
		ack(12000);
	CHECK_EQ(ack(14500), PP_SEND);
	CHECK_EQ(ack(14500), PP_STOP);
}

/* Settled, with a packet a microsecond: 27 packets fill 13 us and 14 of queue. */
static void settle_with(double pkts)
{
	int i;

	settle(3, 12.5);
	flow.wnd = PKTS(pkts);
	flow.flows_q8 = PP_FLOWS_ONE;
	for (i = 0; i < 2; i++) {
		while (!fl_seq_after(seq + 1, flow.round_end))
			ack(12000 - flow.shift_ns);
		if (!i)
			ack(12000 - flow.shift_ns);
	}
}

/* An ACK of two packets makes delays of one window and the next differ by two packets. */
TEST(what_a_flow_has_in_flight_is_no_higher_priority)
{
	int i;

	settle_with(27);
	for (i = 0; i < 40; i++)
		CHECK_EQ(ack(14500), PP_SEND);
	/* the window was shrunk, and is no longer what it was when these packets left */
	CHECK_LE(flow.wnd, PKTS(26));
	settle_with(24);
	for (i = 0; i < 2; i++)
		CHECK_EQ(ack(14500), PP_SEND);
	CHECK_EQ(ack(14500), PP_STOP);
	/* a line that is four times as fast as was told */
	settle_with(100);
	for (i = 0; i < 3; i++)
		CHECK_EQ(ack(14500), PP_SEND);
	CHECK_EQ(ack(14500), PP_STOP);
}

/* It has all that is in flight, and stops for its new limit all the same. */
TEST(a_lowered_flow_stops_at_once)
{
	int i, v = PP_SEND;

	settle_with(25);
	CHECK_EQ(pp_chan_init(&chan, &conf, 1), 0);
	pp_move(&flow, false);
	flow.linear = 1;
	for (i = 0; i < 30 && v == PP_SEND; i++)
		v = ack(12000);
	CHECK_EQ(v, PP_STOP);
}

/* What an application does not fill explains nothing. */
TEST(a_window_that_is_not_used_explains_nothing)
{
	struct fl_sample s = {
		.delay_ns = conf.base_ns + 14500,
		.acked_pkts = 1,
		.seq_per_pkt = 1,
		.random = 1U << 31,
	};
	int i, v = PP_SEND;

	settle_with(27);
	for (i = 0; i < 4 && v == PP_SEND; i++) {
		s.now_ns = now_ns += 1000;
		s.ack_seq = ++seq;
		s.snd_nxt = seq + 2;
		v = pp_on_ack(&flow, &chan, &s);
	}
	CHECK_EQ(v, PP_STOP);
}

/* A step leaves at once and has waited for itself, on a line that has room for it. */
TEST(a_step_is_no_queue_that_stays)
{
	u64 wnd;

	start(0, false, 0);
	probe(0, 0);
	flow.wnd = PKTS(4);
	flow.flows_known = 1;
	while (!fl_seq_after(seq + 1, flow.round_end))
		ack(0);
	ack(0);
	wnd = flow.wnd;
	CHECK(wnd >= PKTS(6));
	CHECK_EQ(ack(3000), PP_SEND);
	CHECK_EQ(ack(3000), PP_SEND);
	CHECK(flow.wnd >= wnd);
}

TEST(noise_of_some_samples_stops_nobody)
{
	int i, k;

	settle(3, 100);
	for (i = 0; i < 200; i++) {
		flow.wnd = PKTS(100);
		CHECK_EQ(ack(12000), PP_SEND);
		for (k = 0; k < 3; k++)
			CHECK_EQ(ack(52000), PP_SEND);
	}
	CHECK_EQ(ack(12000), PP_SEND);
	flow.wnd = PKTS(100);
	CHECK_EQ(rtt(14500), PP_STOP);
}

TEST(flow_in_a_conflict_has_patience)
{
	start(6, false, 0);
	probe(5000, 0);
	flow.wnd = PKTS(10);
	CHECK_EQ(rtt(10000), PP_SEND);
	flow.wnd = PKTS(10);
	/* two RTTs above the limit are endured, the fourth is too much */
	CHECK_EQ(rtt(27000), PP_SEND);
	CHECK_EQ(rtt(27000), PP_SEND);
	CHECK(rtt(27000) == PP_STOP || rtt(27000) == PP_STOP);
}

TEST(handover_dip_wakes_nobody)
{
	settle(3, 12.5);
	CHECK_EQ(rtt(20000), PP_STOP);
	/* first the own departure, then one probe that sees the dip */
	CHECK_EQ(probe(0, 0), PP_PROBE);
	CHECK_EQ(probe(0, 0), PP_PROBE);
	/* a higher priority again: what was seen before does not count */
	CHECK_EQ(probe(15000, 0), PP_PROBE);
	CHECK_EQ(probe(0, 0), PP_PROBE);
	CHECK_EQ(probe(0, 0), PP_RESUME);
}

TEST(heir_resumes_before_the_others)
{
	int n;

	settle(3, 12.5);
	rtt(20000);
	CHECK_EQ(probe(32000, 0), PP_PROBE);	/* five channels up */
	for (n = 1; probe(0, 0) == PP_PROBE; n++)
		CHECK(n < 20);
	CHECK(n > 5);
}

TEST(a_still_queue_below_is_a_lower_priority)
{
	int still, moving;

	settle(3, 12.5);
	rtt(20000);
	probe(20000, 0);
	for (still = 1; probe(8000 + still % 2 * 300, 0) == PP_PROBE; still++)
		CHECK(still < 20);
	settle(3, 12.5);
	rtt(20000);
	probe(20000, 0);
	/* a newcomer on its way up */
	for (moving = 1; probe(1500 + moving * 2500, 0) == PP_PROBE &&
	     moving < 5; moving++)
		;
	CHECK_LT(still, moving);
}

TEST(settled_flow_remembers_for_a_while)
{
	int i;

	/* another flow of the priority has stopped and left room */
	settle(3, 12.5);
	rtt(7000);
	rtt(7000);
	flow.wnd = PKTS(12.5);
	while (!fl_seq_after(seq + 1, flow.round_end))
		ack(12000);
	CHECK_EQ(ack(14500), PP_SEND);
	CHECK_EQ(ack(14500), PP_STOP);
	/* but not for ever */
	settle(3, 12.5);
	for (i = 0; i < 10; i++) {
		flow.wnd = PKTS(12.5);
		rtt(7000);
	}
	CHECK_EQ(flow.in_channel, 0);
}

/* Where noise that was told may be all of the delay, a known #flow does not grow by it. */
TEST(noise_is_not_flows)
{
	struct pp_conf cf = conf;
	int i;

	cf.noise_ns = 40000;
	now_ns = 1000000000;
	CHECK_EQ(pp_chan_init(&chan, &cf, 0), 0);
	CHECK_LT(0u, chan.own_noise_ns);
	pp_init(&flow, &fl_swift_ops, now_ns, seq);
	CHECK_EQ(probe(0, 0), PP_RESUME);
	flow.flows_known = 1;
	flow.flows_q8 = 12 << PP_FLOWS_SHIFT;
	/* 56 packets in flight, of which noise of 40 us may be 40: 8 to 28 flows with two each */
	for (i = 0; i < 80; i++) {
		flow.wnd = PKTS(2);
		rtt(43000);
	}
	CHECK_EQ(flow.in_channel, PP_IN_CHANNEL_MAX);
	CHECK_EQ(flow.flows_q8, 12u << PP_FLOWS_SHIFT);
	/* 16 to 56 flows with one, 3.5 at most with 16 */
	for (i = 0; i < 80; i++) {
		flow.wnd = PKTS(1);
		rtt(43000);
	}
	CHECK(flow.flows_q8 > 15 << PP_FLOWS_SHIFT && flow.flows_q8 <= 17 << PP_FLOWS_SHIFT);
	for (i = 0; i < 80; i++) {
		flow.wnd = PKTS(16);
		rtt(43000);
	}
	CHECK(flow.flows_q8 < 4 << PP_FLOWS_SHIFT);
}

TEST(kept_from_beginning_is_as_stopped)
{
	start(3, false, 0);
	CHECK_EQ(probe(16000, 0), PP_PROBE);
	/* the dip of a handover does not start a flow that never sent */
	CHECK_EQ(probe(0, 0), PP_PROBE);
	CHECK_EQ(probe(0, 0), PP_RESUME);
}

TEST(newcomer_next_to_the_lower_priority)
{
	start(4, false, 0);
	CHECK_EQ(probe(12000, 0), PP_RESUME);	/* the queue of priority 3 */
	CHECK(fabs(PKTS_OF(flow.wnd) - 2) < 0.001);
	start(8, false, 0);
	CHECK_EQ(probe(12000, 0), PP_RESUME);	/* far below */
	CHECK(fabs(PKTS_OF(flow.wnd) - 1) < 0.001);
}

/* Part of 1000 draws in which a preempted flow of a crowd resumes. */
static double resumes(double crowd, u32 queue_ns)
{
	u32 r = 99, i, n = 0;

	for (i = 0; i < 1000; i++) {
		settle(3, 12.5);
		rtt(20000);
		flow.clear = 100;
		flow.crowd_q8 = crowd * PP_FLOWS_ONE;
		r = r * 1664525 + 1013904223;
		n += probe(queue_ns, r >> 4) == PP_RESUME;
	}
	return n / 1000.0;
}

TEST(a_crowd_resumes_by_chance)
{
	/* half of the room of 8 packets, or a packet at least, among all */
	CHECK(resumes(1, 4000) == 1);
	CHECK(fabs(resumes(16, 4000) - 4 / 16.0) < 0.06);
	CHECK(fabs(resumes(8, 13000) - 1 / 8.0) < 0.05);
}

TEST(crowds_become_alike)
{
	struct pp_core few = { .crowd_q8 = PP_FLOWS_ONE };
	struct pp_core many = { .crowd_q8 = 16 * PP_FLOWS_ONE };
	int i, k;

	/* both see the same: room, and now and then none */
	for (i = 0; i < 300; i++) {
		for (k = 0; k < 12; k++) {
			pp_crowd_room(&few);
			pp_crowd_room(&many);
		}
		pp_crowd_collided(&few);
		pp_crowd_collided(&many);
	}
	CHECK(many.crowd_q8 < 1.1 * few.crowd_q8);
	CHECK(few.crowd_q8 > 2 * PP_FLOWS_ONE);
}

TEST(shares_meet)
{
	struct pp_core a = { .wnd = PKTS(4), .flows_q8 = 4 * PP_FLOWS_ONE };
	struct pp_core b = { .wnd = PKTS(16), .flows_q8 = PP_FLOWS_ONE };
	u32 ai_a, ai_b;

	start(3, false, 0);
	chan.ai_wnd = U32_MAX;
	ai_a = pp_own_ai(&a, &chan);
	ai_b = pp_own_ai(&b, &chan);
	/* who has four times as much grows by twice as much, not four times */
	CHECK(fabs((double)ai_b / ai_a - 2) < 0.02);
	/* windows below a packet: for the time that an ACK stands for */
	a = (struct pp_core){ .wnd = PKTS(0.25), .flows_q8 = 64 * PP_FLOWS_ONE };
	chan.ai_wnd = PKTS(0.01);
	CHECK(fabs(PKTS_OF(pp_own_ai(&a, &chan)) - 0.04) < 0.001);
	chan.ai_wnd = PKTS(1);
	chan.ai_many_wnd = PKTS(8);
	a.ai_of = 0;
	CHECK(fabs(PKTS_OF(pp_own_ai(&a, &chan)) - 0.125) < 0.001);
}

TEST(too_many_newcomers_fall_to_their_share)
{
	start(5, false, 0);
	probe(0, 0);
	flow.wnd = PKTS(2);
	/* 87 us of two packets each: 50 flows */
	rtt(87000);
	CHECK(flow.flows_q8 > 40 * PP_FLOWS_ONE);
	CHECK(PKTS_OF(flow.wnd) < 33 / 40.0);
	CHECK(flow.crowd_q8 > 8 * PP_FLOWS_ONE);
}

TEST(long_occupied_by_a_lower_priority_is_no_trap)
{
	int n;

	settle(3, 12.5);
	rtt(20000);
	probe(20000, 0);
	/* a lower priority holds the queue at 8 us for ever */
	for (n = 1; probe(8000, 0) == PP_PROBE; n++)
		CHECK(n < 20);
	CHECK(fabs(PKTS_OF(flow.wnd) - 1) < 0.001);
	/* and from one packet on, the window grows until it is pushed out */
	for (n = 0; n < 40 && PKTS_OF(flow.wnd) < 8; n++)
		rtt(8000);
	CHECK(n < 40);
}

TEST(overestimated_flow_count_is_forgotten_below)
{
	int n;

	start(5, false, 0);
	probe(8000, 0);
	flow.flows_q8 = 500 * PP_FLOWS_ONE;
	flow.flows_known = 1;
	for (n = 0; n < 60 && PKTS_OF(flow.wnd) < 8; n++)
		rtt(8000);
	CHECK(n < 60);
}

TEST(base_delay_bounds_the_flow_count)
{
	/* what is in flight at base delay is a BDP at most, all flows' */
	start(5, false, 0);
	probe(0, 0);
	flow.wnd = 8 * FL_WND_ONE;
	flow.flows_q8 = 500 * PP_FLOWS_ONE;
	flow.flows_known = 1;
	flow.countdown = 100;
	rtt(0);
	CHECK_LE(flow.flows_q8, div64_u64(chan.bdp_wnd << PP_FLOWS_SHIFT,
					  8 * FL_WND_ONE));
}

TEST(one_of_a_crowd_grows_by_a_quarter)
{
	start(5, false, 0);
	probe(2000, 0);
	flow.wnd = 4 * FL_WND_ONE;
	flow.flows_q8 = 250 * PP_FLOWS_ONE;
	flow.flows_known = 1;
	flow.crowd_q8 = 10 * PP_FLOWS_ONE;
	pp_skip(&flow, seq - 1);
	ack(2000);
	CHECK_LE(flow.wnd, 5 * FL_WND_ONE + 4 * chan.ai_wnd);
	CHECK_LT(4 * FL_WND_ONE + FL_WND_ONE / 2, flow.wnd);
}

TEST(a_moved_flow_begins_anew)
{
	/* preempted at priority 1, by many, as far as it knows */
	start(1, false, 0);
	probe(30000, 0);
	CHECK(flow.preempted);
	flow.flows_q8 = 500 * PP_FLOWS_ONE;
	flow.flows_known = 1;
	CHECK_EQ(probe(15000, 0), PP_PROBE);
	/* raised: the first probe below its new limit lets it send */
	CHECK_EQ(pp_chan_init(&chan, &conf, 6), 0);
	pp_move(&flow, true);
	CHECK_EQ(probe(15000, 0), PP_RESUME);
	CHECK(!flow.flows_known);
	/* lowered: the second sample above its new limit stops it */
	CHECK_EQ(pp_chan_init(&chan, &conf, 1), 0);
	pp_move(&flow, false);
	flow.wnd = 4 * FL_WND_ONE;
	pp_skip(&flow, seq);
	CHECK_EQ(ack(15000), PP_SEND);
	CHECK_EQ(ack(15000), PP_STOP);
}

/* The line may be faster than the flow was told. */
TEST(window_is_bounded_by_delays)
{
	int i;

	start(3, false, 0);
	probe(0, 0);
	for (i = 0; i < 1000; i++)
		rtt(0);
	CHECK(PKTS_OF(flow.wnd) > 16 * 27.5);
	CHECK(flow.wnd <= chan.max_wnd);
	CHECK(PKTS_OF(chan.max_wnd) < 64 * 27.5);
}

TEST(idle_flow_probes_and_keeps_its_knowledge)
{
	settle(3, 12.5);
	pp_suspend_idle(&flow, flow.wnd);
	CHECK(flow.stopped);
	CHECK_EQ(probe(0, 0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 3.25 / 2) < 0.15);
}

TEST(never_stopping_flow)
{
	int i;

	start(3, false, 0);
	chan.limit_ns = U32_MAX;
	CHECK_EQ(probe(900000, 0), PP_RESUME);
	for (i = 0; i < 100; i++)
		CHECK_EQ(rtt(900000), PP_SEND);
}

/* What the short way does of an ACK is what the long way does. */
TEST(usual_acks_do_what_all_do)
{
	u32 r = 1, usual = 0, rare = 0;
	struct pp_core before, after;
	int i;

	start(5, false, 0xfffffff0);
	for (i = 0; i < 100000; i++) {
		struct fl_sample s = {
			.now_ns = now_ns += unit_random32(&r) % 2000,
			.delay_ns = r & 0x1f0000 ? conf.base_ns + unit_random32(&r) %
						   (i & 1024 ? 40000 : 24000) : 0,
			.acked_pkts = 1 + (r >> 8) % 3,
			.ack_seq = seq += 1 + (r >> 8) % 3,
			.snd_nxt = seq + (flow.wnd >> FL_WND_SHIFT),
			.seq_per_pkt = 1,
			.random = r,
			.wnd_limited = !!(r & 0x700),
		};

		if (flow.stopped)
			probe((r >> 8) % 60000, r);
		before = flow;
		after = flow;
		pp_on_rare_ack(&after, &chan, &s);
		if (pp_on_usual_ack(&flow, &chan, &s)) {
			usual++;
		} else {
			rare++;
			CHECK(!memcmp(&flow, &before, sizeof(flow)));
			pp_on_rare_ack(&flow, &chan, &s);
		}
		CHECK(!memcmp(&flow, &after, sizeof(flow)));
	}
	CHECK(usual > 10000);
	CHECK(rare > 10000);
}

TEST(random_samples_do_no_harm)
{
	u32 r = 12345;
	int i;

	start(7, false, 0xfffffff0);
	for (i = 0; i < 300000; i++) {
		r = r * 1664525 + 1013904223;
		if (flow.stopped)
			probe((r >> 8) % 60000, r);
		else
			ack((r >> 8) % (i & 4096 ? 60000 : 28000));
		CHECK(flow.flows_q8 >= PP_FLOWS_ONE);
		CHECK(flow.flows_q8 <= PP_FLOWS_MAX * PP_FLOWS_ONE);
		CHECK(flow.stopped || flow.wnd >= FL_WND_ONE / 1024);
		CHECK(flow.wnd <= chan.max_wnd);
	}
}

UNIT_MAIN
