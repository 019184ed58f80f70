// SPDX-License-Identifier: GPL-2.0
/* How PrioPlus flows begin: without a probe, or with more than two packets
 * (kmod/prioplus/core/prioplus.c, pp_chan.c).
 */
#include <math.h>

#include "prioplus/core/pp_ack.h"
#include "unit.h"

#define PKTS_OF(wnd)	((double)(wnd) / (double)FL_WND_ONE)

/* 10 Gbit/s, 13 us, a packet a microsecond, channels of 4 us. */
static const struct pp_conf conf = {
	.base_ns = 13000,
	.probe_base_ns = 11000,
	.line_bps = 10000000000ULL,
	.wire_bytes = 1250,
	.fluct_ns = 3200,
	.noise_ns = 800,
	.probe_cap_ns = 1000000,
	.start_permille = 250,
	.resume_permille = 1000,
	.ai_bytes = 125,
};

static struct pp_chan chan;
static struct pp_core flow;
static u64 now_ns;
static u32 seq;

/* A fresh flow of priority 5 with these settings. */
static void start(const struct pp_conf *cf)
{
	now_ns = 1000000000;
	seq = 0;
	memset(&flow, 0xff, sizeof(flow));
	CHECK_EQ(pp_chan_init(&chan, cf, 5), 0);
	pp_init(&flow, &fl_swift_ops, now_ns, seq);
}

/* A probe that saw a queue of queue_ns. */
static int probe(u32 queue_ns)
{
	return pp_on_probe(&flow, &chan, conf.probe_base_ns + queue_ns, seq, 0);
}

/* ACKs of a window and one more, which saw a queue of queue_ns: an RTT. */
static void rtt(u32 queue_ns)
{
	u32 n = (flow.wnd >> FL_WND_SHIFT) + 2;

	while (n-- && !flow.stopped) {
		struct fl_sample s = {
			.now_ns = now_ns += 1000,
			.delay_ns = conf.base_ns + queue_ns,
			.acked_pkts = 1,
			.ack_seq = ++seq,
			.snd_nxt = seq + (u32)(flow.wnd >> FL_WND_SHIFT),
			.seq_per_pkt = 1,
			.random = 1U << 31,
			.wnd_limited = true,
		};

		pp_on_ack(&flow, &chan, &s);
	}
}

TEST(urgent_flow_begins_with_a_bdp)
{
	struct pp_conf cf = conf;
	int i;

	cf.urgent_prio = 5;
	start(&cf);
	CHECK_EQ(pp_chan_init(&chan, &cf, 4), 0);
	CHECK(!chan.urgent);
	CHECK(fabs(PKTS_OF(chan.start_wnd) - 3.25) < 0.001);
	CHECK_EQ(pp_chan_init(&chan, &cf, 5), 0);
	CHECK(chan.urgent);
	pp_begin_urgent(&flow, &chan, seq);
	CHECK(!flow.stopped);
	CHECK(fabs(PKTS_OF(flow.wnd) - 13) < 0.001);
	/* idle, it begins as the one of four that it has counted */
	flow.flows_q8 = 4 * PP_FLOWS_ONE;
	pp_suspend_idle(&flow, flow.wnd);
	pp_begin_urgent(&flow, &chan, seq);
	CHECK(fabs(PKTS_OF(flow.wnd) - 3.25) < 0.001);
	/* it stops for a higher priority as any other */
	for (i = 0; i < 6 && !flow.stopped; i++)
		rtt(24000);
	CHECK(flow.stopped);
}

/* Section 4.4: W_LS is a part of the BDP, 13 packets here; urgent flows have all of it. */
TEST(start_by_setting)
{
	struct pp_conf cf = conf;

	cf.start_permille = 125;
	cf.urgent_prio = 12;
	CHECK_EQ(pp_chan_init(&chan, &cf, 11), 0);
	CHECK(fabs(PKTS_OF(chan.start_wnd) - 1.625) < 0.001);
	CHECK(!chan.urgent);
	CHECK_EQ(pp_chan_init(&chan, &cf, 12), 0);
	CHECK(fabs(PKTS_OF(chan.start_wnd) - 13) < 0.001);
	CHECK(chan.urgent);
	/* the step is what a flow that knows its number begins and grows by */
	cf = conf;
	cf.start_permille = 500;
	start(&cf);
	flow.flows_known = 1;
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 6.5) < 0.01);
	/* no step is none */
	cf.start_permille = 0;
	CHECK(pp_chan_init(&chan, &cf, 5) < 0);
}

/* Probes that a flow needs to come back when it has met queues so many channels above its own one,
 * each twice.
 */
static u32 probes_after(const u8 *gaps, u32 n)
{
	u32 i;

	start(&conf);
	CHECK_EQ(probe(0), PP_RESUME);
	for (i = 0; i < 100 && !flow.stopped; i++)
		rtt(40000);
	CHECK(flow.stopped);
	for (i = 0; i < 2 * n; i++)
		CHECK(probe(20000 + 4000 * gaps[i / 2]) != PP_RESUME);
	for (i = 1; i < 100 && probe(0) != PP_RESUME; i++)
		;
	return i;
}

/* Who has seen others that wait ahead leaves them a probe or two each. Who has seen the queue fall
 * to a lower channel knows that those above are gone.
 */
TEST(who_waits_ahead_is_first)
{
	static const u8 owner[] = { 3 }, one[] = { 2, 3 }, two[] = { 1, 2, 3 };
	static const u8 gone[] = { 1, 2, 3, 1 }, heir[] = { 1 };
	u32 far = probes_after(owner, 1);

	CHECK_GE(probes_after(one, 2), far + 1);
	CHECK_LE(probes_after(one, 2), far + 2);
	CHECK_EQ(probes_after(two, 3), far + 3);
	CHECK_EQ(probes_after(gone, 4), probes_after(heir, 1));
	CHECK(probes_after(heir, 1) < far);
}

/* After a pause: what it had, up to half of W_LS, the BDP here. */
TEST(idle_flow_goes_on_with_what_it_had)
{
	struct pp_conf cf = conf;

	cf.start_permille = 1000;
	start(&cf);
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK_EQ(flow.wnd, 2 * FL_WND_ONE);
	pp_suspend_idle(&flow, 5 * FL_WND_ONE);
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK_EQ(flow.wnd, 5 * FL_WND_ONE);
	pp_suspend_idle(&flow, 100 * FL_WND_ONE);
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 6.5) < 0.01);
	/* one of four that it has counted, and one that had nothing */
	flow.flows_q8 = 4 * PP_FLOWS_ONE;
	pp_suspend_idle(&flow, 100 * FL_WND_ONE);
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK_EQ(flow.wnd, 2 * FL_WND_ONE);
	flow.flows_q8 = PP_FLOWS_ONE;
	pp_suspend_idle(&flow, 0);
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK_EQ(flow.wnd, 2 * FL_WND_ONE);
	/* above a lower priority's queue likewise, and as a new one without a window */
	pp_suspend_idle(&flow, 5 * FL_WND_ONE);
	CHECK_EQ(probe(4000), PP_RESUME);
	CHECK_EQ(flow.wnd, 5 * FL_WND_ONE);
	pp_suspend_idle(&flow, 0);
	CHECK_EQ(probe(4000), PP_RESUME);
	CHECK_EQ(flow.wnd, FL_WND_ONE);
	/* no more than there is room for */
	pp_suspend_idle(&flow, 5 * FL_WND_ONE);
	CHECK_EQ(probe(17000), PP_RESUME);
	CHECK(PKTS_OF(flow.wnd) < 3.1);
	/* one that a higher priority has kept waiting has forgotten it, as has one that moved */
	pp_suspend_idle(&flow, 5 * FL_WND_ONE);
	CHECK_EQ(probe(30000), PP_PROBE);
	while (probe(0) == PP_PROBE)
		;
	CHECK_EQ(flow.wnd, 2 * FL_WND_ONE);
	pp_suspend_idle(&flow, 5 * FL_WND_ONE);
	pp_move(&flow, true);
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK_EQ(flow.wnd, 2 * FL_WND_ONE);
}

TEST(first_window_by_setting)
{
	struct pp_conf cf = conf;
	int i;

	cf.first_permille = 600;
	cf.start_permille = 1000;
	start(&cf);
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 7.8) < 0.01);
	/* above a lower priority's queue, the room there is and no more than that */
	start(&cf);
	CHECK_EQ(probe(8000), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 7.8) < 0.01);
	start(&cf);
	CHECK_EQ(probe(16000), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 4) < 0.01);
	/* so does one that was stopped, and it grows by half of the room */
	start(&cf);
	CHECK_EQ(probe(30000), PP_PROBE);
	for (i = 0; i < 9 && flow.stopped; i++)
		probe(8000);
	CHECK(!flow.stopped);
	CHECK(fabs(PKTS_OF(flow.wnd) - 6) < 0.1);
	rtt(8000);
	CHECK(PKTS_OF(flow.wnd) > 11.9);
	/* W_LS is the most */
	cf.start_permille = 250;
	start(&cf);
	CHECK_EQ(probe(0), PP_RESUME);
	CHECK(fabs(PKTS_OF(flow.wnd) - 3.25) < 0.01);
}

/* Probes at this queue until a flow that met a higher priority resumes. */
static int probes_until_resume(u32 permille, u32 queue_ns)
{
	struct pp_conf cf = conf;
	int i;

	cf.resume_permille = permille;
	start(&cf);
	CHECK_EQ(probe(30000), PP_PROBE);
	for (i = 0; i < 20 && flow.stopped; i++)
		probe(queue_ns);
	return i;
}

TEST(resume_by_setting)
{
	int usual = probes_until_resume(1000, 8000);
	int half = probes_until_resume(500, 8000);

	/* the first probe with room is enough, as in the paper; not one above the limit */
	CHECK_EQ(probes_until_resume(0, 8000), 1);
	CHECK_EQ(probes_until_resume(0, 0), 1);
	CHECK_EQ(probes_until_resume(0, 30000), 20);
	CHECK_GE(half, 2);
	CHECK_GE(usual, half + 1);
}

TEST(stop_costs_by_setting)
{
	struct pp_conf cf = conf;
	int i, n[2] = { };

	for (i = 0; i < 2; i++) {
		cf.resume_permille = i ? 0 : 1000;
		start(&cf);
		CHECK_EQ(probe(0), PP_RESUME);
		while (!flow.stopped)
			rtt(40000);
		for (n[i] = 0; n[i] < 20 && flow.stopped; n[i]++)
			probe(0);
	}
	CHECK_EQ(n[0], 5);
	CHECK_EQ(n[1], 1);
}

/* Few packets: 1 Gbit/s, 13 packets in a base RTT, channels of 2.6 packets and B. */
static const struct pp_conf slow = {
	.base_ns = 160000,
	.probe_base_ns = 137000,
	.line_bps = 1000000000ULL,
	.wire_bytes = 1538,
	.fluct_ns = 3200,
	.noise_ns = 800,
	.probe_cap_ns = 1000000,
	.start_permille = 250,
	.resume_permille = 1000,
	.ai_bytes = 150,
};

/* A flow of priority 5 that sends four packets in an RTT; its kin send others, in a queue of
 * queue_ns.
 */
static void with_kin(u32 pkts, u32 queue_ns)
{
	start(&slow);
	CHECK(chan.few);
	pp_go(&flow, 4 * FL_WND_ONE, seq);
	flow.flows_known = 1;
	flow.kin_q8 = pkts << PP_KIN_SHIFT;
	flow.kin_ns = slow.base_ns + queue_ns;
}

/* A queue between the limit and the next priority's, ns. */
static u32 own_queue_ns(void)
{
	return chan.limit_ns + chan.width_ns / 2 - slow.base_ns;
}

/* Packets that fill the line with a queue of queue_ns: so many, and not all of the last one. */
static u32 line_pkts(u32 queue_ns)
{
	return (fl_ns_to_wnd(chan.ppn, slow.base_ns + queue_ns) >> FL_WND_SHIFT) + 1;
}

/* Some round trips of packets that saw a queue of queue_ns. Return: has it stopped? */
static bool stops(u32 queue_ns)
{
	int i, k;

	for (i = 0; i < 12 && !flow.stopped; i++) {
		for (k = 0; k < 5 && !flow.stopped; k++) {
			struct fl_sample s = {
				.now_ns = now_ns += 30000,
				.delay_ns = slow.base_ns + queue_ns,
				.acked_pkts = 1,
				.ack_seq = ++seq,
				.snd_nxt = seq + 4,
				.seq_per_pkt = 1,
				.random = 1U << 31,
				.wnd_limited = true,
			};

			flow.wnd = 4 * FL_WND_ONE;
			pp_on_ack(&flow, &chan, &s);
		}
	}
	return flow.stopped;
}

/* What the kin have in flight is nobody else's. A queue that is longer than that is, and so is one
 * that the kin do not see. Where a channel is many packets wide nobody asks.
 */
TEST(kin_explain_a_queue)
{
	u32 above_ns, pkts;

	with_kin(0, 0);
	above_ns = own_queue_ns();
	/* 4 are its own, and one more is nobody's */
	pkts = line_pkts(above_ns) - 5;
	with_kin(0, above_ns);
	CHECK(stops(above_ns));
	with_kin(pkts, above_ns);
	CHECK(!stops(above_ns));
	with_kin(pkts - 1, above_ns);
	CHECK(stops(above_ns));
	with_kin(pkts, above_ns - 200000);
	CHECK(stops(above_ns));
	with_kin(pkts, above_ns);
	chan.few = false;
	CHECK(stops(above_ns));
}

static int slow_probe(u32 queue_ns)
{
	return pp_on_probe(&flow, &chan, slow.probe_base_ns + queue_ns, seq, 0);
}

/* The same with a random number, a part of 1000. */
static int slow_probe_random(u32 queue_ns, u32 permille)
{
	return pp_on_probe(&flow, &chan, slow.probe_base_ns + queue_ns, seq,
			   FL_WND_ONE * permille / 1000);
}

/* Likewise for the probes of one that waits: it goes on at once, and has not been preempted. */
TEST(kin_let_a_flow_go_on)
{
	u32 above_ns, pkts;

	with_kin(0, 0);
	above_ns = own_queue_ns();
	/* nothing is its own, and a probe waits less on the links */
	pkts = line_pkts(above_ns - chan.data_ns) - 1;
	CHECK(stops(above_ns));
	CHECK_EQ(slow_probe(above_ns), PP_PROBE);
	flow.kin_q8 = (pkts - 1) << PP_KIN_SHIFT;
	flow.kin_ns = slow.base_ns + above_ns;
	CHECK_EQ(slow_probe(above_ns), PP_PROBE);
	flow.kin_q8 = pkts << PP_KIN_SHIFT;
	CHECK_EQ(slow_probe(above_ns), PP_RESUME);
	CHECK(!flow.preempted);
	CHECK_EQ(flow.wnd, FL_WND_ONE);
}

/* Those who wait share the room that the kin leave below the target, and a packet where they leave
 * none: each goes on with that probability.
 */
TEST(kin_take_turns)
{
	u32 queue_ns, most_q8;

	with_kin(0, 0);
	queue_ns = own_queue_ns();
	CHECK(stops(queue_ns));
	CHECK_EQ(slow_probe(queue_ns), PP_PROBE);
	flow.kin_ns = slow.base_ns + queue_ns;
	most_q8 = fl_ns_to_wnd(chan.ppn, chan.target_ns) >> PP_WND_TO_KIN_SHIFT;
	flow.kin_q8 = 2 * most_q8;
	flow.kin_waits = 4;
	CHECK_EQ(slow_probe_random(queue_ns, 260), PP_PROBE);
	CHECK_EQ(slow_probe_random(queue_ns, 240), PP_RESUME);
	CHECK_EQ(flow.wnd, FL_WND_ONE);
	CHECK(stops(queue_ns + chan.width_ns));
	flow.kin_waits = 3;
	flow.kin_q8 = most_q8 - (2 << PP_KIN_SHIFT);
	CHECK_EQ(slow_probe_random(chan.target_ns - slow.base_ns, 690), PP_PROBE);
	flow.kin_waits = 2;
	CHECK_EQ(slow_probe_random(chan.target_ns - slow.base_ns, 999), PP_RESUME);
}

/* What would stop the next priority is not explained. */
TEST(kin_leave_the_next_priority_alone)
{
	u32 next_ns;

	with_kin(0, 0);
	next_ns = chan.limit_ns + chan.width_ns - slow.base_ns;
	with_kin(60, next_ns);
	CHECK(!stops(next_ns - 1000));
	with_kin(60, next_ns);
	CHECK(stops(next_ns));
}

/* One that does not know #flow yet counts them, so that the original CC steers it. */
TEST(kin_are_counted)
{
	u32 above_ns;

	with_kin(28, 0);
	above_ns = own_queue_ns();
	flow.kin_ns = slow.base_ns + above_ns;
	flow.flows_known = 0;
	CHECK(!stops(above_ns));
	CHECK(flow.flows_known);
	CHECK_EQ(flow.flows_q8, 8 * PP_FLOWS_ONE);
}

/* Whose kin have more than twice as much each grows by a packet in a round trip. */
TEST(kin_give_way)
{
	u64 before;

	with_kin(30, 0);
	flow.kin_more = 1;
	flow.ai_of = 0;
	before = pp_own_ai(&flow, &chan);
	CHECK_EQ(before, FL_WND_ONE);
	flow.kin_more = 0;
	flow.ai_of = 0;
	CHECK(pp_own_ai(&flow, &chan) < FL_WND_ONE / 4);
}

UNIT_MAIN
