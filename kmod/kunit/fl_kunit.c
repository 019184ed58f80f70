// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the cores as the kernel compiles them: its own arithmetic
 * helpers, types and flags. What the algorithms decide is tested in user space
 * (selftests/unit), far more thoroughly; these cases are the same numbers again.
 */
#include <kunit/test.h>

#include "prioplus/core/prioplus.c"
#include "prioplus/core/pp_count.c"
#include "prioplus/core/pp_step.c"
#include "prioplus/core/pp_grow.c"
#include "prioplus/core/pp_chan.c"
#include "prioplus/core/pp_weight.c"
#include "prioplus/core/pp_core.c"
#include "prioplus/core/paper.c"
#include "soze/core/soze.c"
#include "soze/core/sz_target.c"
#include "lib/telemetry.h"
#include "fairlane/fl_sock.h"
#include "d2tcp/core/d2tcp.c"
#include "ledbat/core/ledbat.h"
#include "swift/core/swift.h"

/* The testbed of the PrioPlus paper, with one packet a microsecond. */
static const struct pp_conf fl_kunit_conf = {
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

/**
 * struct fl_kunit - a flow in its channel
 * @pp: the flow
 * @ch: its channel
 * @now_ns: time of the last ACK, ns
 * @seq: what it acknowledged, packets
 */
struct fl_kunit {
	struct pp_core pp;
	struct pp_chan ch;
	u64 now_ns;
	u32 seq;
};

/* A fresh flow of a priority. */
static void fl_kunit_start(struct kunit *test, struct fl_kunit *k, u32 prio,
			   bool paper)
{
	struct pp_conf cf = fl_kunit_conf;

	cf.paper = paper;
	memset(k, 0, sizeof(*k));
	k->now_ns = NSEC_PER_SEC;
	k->seq = 0xfffffff0;
	KUNIT_ASSERT_EQ(test, pp_chan_init(&k->ch, &cf, prio), 0);
	pp_init(&k->pp, &fl_swift_ops, k->now_ns, k->seq);
}

/* The ACK of the next packet, which saw a queue of queue_ns. */
static int fl_kunit_ack(struct fl_kunit *k, u32 queue_ns)
{
	struct fl_sample s = {
		.now_ns = k->now_ns += 1000,
		.delay_ns = k->ch.base_ns + queue_ns,
		.acked_pkts = 1,
		.ack_seq = ++k->seq,
		.snd_nxt = k->seq + (u32)(k->pp.wnd >> FL_WND_SHIFT),
		.seq_per_pkt = 1,
		.wnd_limited = true,
	};

	return pp_on_ack(&k->pp, &k->ch, &s);
}

static void fl_kunit_arithmetic(struct kunit *test)
{
	u64 ppn = fl_ppn(10000000000ULL, 1250);

	/* a packet a microsecond, to 1e-6 */
	KUNIT_EXPECT_GE(test, fl_ns_to_wnd(ppn, 1000000),
			1000 * FL_WND_ONE - FL_WND_ONE / 1000);
	KUNIT_EXPECT_LE(test, fl_ns_to_wnd(ppn, 1000000),
			1000 * FL_WND_ONE + FL_WND_ONE / 1000);
	/* 400 Gbit/s of smallest frames for 4 s: more than 64 bits between */
	ppn = fl_ppn(400000000000ULL, 64);
	KUNIT_EXPECT_EQ(test, fl_ns_to_wnd(ppn, 4000000000U) >>
			      (FL_WND_SHIFT + 20), 3125000000ULL >> 20);
	KUNIT_EXPECT_TRUE(test, fl_seq_after(1, U32_MAX));
	KUNIT_EXPECT_FALSE(test, fl_seq_after(U32_MAX, 1));
}

static void fl_kunit_swift(struct kunit *test)
{
	const struct fl_target t = {
		.target_ns = 25000, .ai_wnd = FL_WND_ONE / 8,
		.min_wnd = FL_WND_ONE / 1024, .max_wnd = 100 * FL_WND_ONE,
	};
	struct fl_sample s = {
		.now_ns = NSEC_PER_SEC, .delay_ns = 20000, .acked_pkts = 10,
		.wnd_limited = true,
	};
	u8 state[FL_ORIGINAL_STATE] __aligned(8);
	u64 wnd = 10 * FL_WND_ONE;

	fl_swift_ops.init(state, s.now_ns);
	fl_swift_ops.on_ack(state, &t, &wnd, &s);
	KUNIT_EXPECT_EQ(test, wnd, 10 * FL_WND_ONE + FL_WND_ONE / 8);
	wnd = 30 * FL_WND_ONE;
	s.delay_ns = 30000;
	fl_swift_ops.on_ack(state, &t, &wnd, &s);
	/* 0.8 * (30 - 25) / 30 of 30 packets are 4 */
	KUNIT_EXPECT_EQ(test, (wnd + FL_WND_ONE / 1000) >> FL_WND_SHIFT, 26);
	s.now_ns += 29999;
	fl_swift_ops.on_ack(state, &t, &wnd, &s);
	KUNIT_EXPECT_EQ(test, (wnd + FL_WND_ONE / 1000) >> FL_WND_SHIFT, 26);
	KUNIT_EXPECT_EQ(test, fl_hops_of_ttl(0), 0);
	KUNIT_EXPECT_EQ(test, fl_hops_of_ttl(64), 1);
	KUNIT_EXPECT_EQ(test, fl_hops_of_ttl(124), 5);
	KUNIT_EXPECT_EQ(test, fl_swift_hop_target(25000, 2000, 5), 35000);
}

static void fl_kunit_ledbat(struct kunit *test)
{
	/* TARGET 20 us over a base of 10 us; GAIN 1 */
	const struct fl_target t = {
		.target_ns = 30000, .base_ns = 10000, .ai_wnd = FL_WND_ONE,
		.min_wnd = 2 * FL_WND_ONE, .max_wnd = 100 * FL_WND_ONE,
	};
	struct fl_sample s = {
		.now_ns = NSEC_PER_SEC, .delay_ns = 20000, .acked_pkts = 10,
		.wnd_limited = true,
	};
	struct fl_ledbat_base history = {};
	struct fl_ledbat_state state;
	u64 wnd = 10 * FL_WND_ONE;

	BUILD_BUG_ON(sizeof(state) > FL_ORIGINAL_STATE);
	fl_ledbat_ops.init(&state, s.now_ns);
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	KUNIT_EXPECT_EQ(test, wnd, 10 * FL_WND_ONE + FL_WND_ONE / 2);
	/* later than any target: half of the window in an RTT */
	wnd = 40 * FL_WND_ONE;
	s.acked_pkts = 40;
	s.delay_ns = U32_MAX;
	fl_ledbat_ops.init(&state, s.now_ns);
	fl_ledbat_ops.on_ack(&state, &t, &wnd, &s);
	KUNIT_EXPECT_EQ(test, wnd, 20 * FL_WND_ONE);
	/* in a channel, half of the excess: 10 of 40 us are an eighth of the window */
	wnd = 40 * FL_WND_ONE;
	s.delay_ns = 40000;
	fl_ledbat_channel_ops.init(&state, s.now_ns);
	fl_ledbat_channel_ops.on_ack(&state, &t, &wnd, &s);
	KUNIT_EXPECT_EQ(test, (wnd + FL_WND_ONE / 8) >> FL_WND_SHIFT, 35);
	wnd = 20 * FL_WND_ONE;
	fl_ledbat_ops.on_loss(&state, &t, &wnd, s.now_ns, 30000, FL_LOSS_FAST);
	fl_ledbat_ops.on_loss(&state, &t, &wnd, s.now_ns, 30000, FL_LOSS_FAST);
	KUNIT_EXPECT_EQ(test, wnd, 10 * FL_WND_ONE);
	/* ten minutes, modulo 2^32 */
	KUNIT_EXPECT_EQ(test, fl_ledbat_base_add(&history, 1, 5), 5);
	KUNIT_EXPECT_EQ(test, fl_ledbat_base_add(&history, 2, -9), (u32)-9);
	KUNIT_EXPECT_EQ(test, fl_ledbat_base_add(&history,
						 9 * FL_LEDBAT_MINUTE_NS, 50),
			(u32)-9);
	KUNIT_EXPECT_EQ(test, fl_ledbat_base_add(&history,
						 12 * FL_LEDBAT_MINUTE_NS, 60),
			50);
}

static void fl_kunit_d2tcp(struct kunit *test)
{
	struct fl_d2tcp_need n = {
		/* 40 RTTs of 12 us */
		.left_bytes = 3000000, .cwnd_bytes = 100000, .rtt_8us = 96,
		.left_us = 320,
	};
	u32 alpha = FL_D2TCP_ALPHA_ONE;

	alpha = fl_d2tcp_alpha(alpha, 100, 25, 1);
	KUNIT_EXPECT_EQ(test, alpha, FL_D2TCP_ALPHA_ONE * 5 / 8);
	KUNIT_EXPECT_EQ(test, fl_d2tcp_imminence(&n), FL_D2TCP_D_ONE * 3 / 2);
	n.left_bytes = U64_MAX;
	n.rtt_8us = U32_MAX;
	n.cwnd_bytes = 0;
	KUNIT_EXPECT_EQ(test, fl_d2tcp_imminence(&n), FL_D2TCP_D_MAX);
	alpha = FL_D2TCP_ALPHA_ONE / 4;
	KUNIT_EXPECT_EQ(test, fl_d2tcp_penalty(alpha, FL_D2TCP_D_MIN),
			FL_D2TCP_ALPHA_ONE / 2);
	KUNIT_EXPECT_EQ(test, fl_d2tcp_penalty(alpha, FL_D2TCP_D_ONE), alpha);
	KUNIT_EXPECT_EQ(test, fl_d2tcp_penalty(alpha, FL_D2TCP_D_ONE * 3 / 2),
			FL_D2TCP_ALPHA_ONE / 8);
	KUNIT_EXPECT_EQ(test, fl_d2tcp_penalty(alpha, FL_D2TCP_D_MAX),
			FL_D2TCP_ALPHA_ONE / 16);
	KUNIT_EXPECT_EQ(test, fl_d2tcp_reduce(100, FL_D2TCP_ALPHA_ONE / 2), 75);
}

static void fl_kunit_channels(struct kunit *test)
{
	struct pp_conf cf = fl_kunit_conf;
	struct fl_kunit k;
	u32 prio;

	for (prio = 1; prio <= PP_PRIO_MAX; prio++) {
		fl_kunit_start(test, &k, prio, false);
		KUNIT_EXPECT_EQ(test, k.ch.target_ns, 13000 + 4000 * prio);
		KUNIT_EXPECT_EQ(test, k.ch.limit_ns, 15400 + 4000 * prio);
	}
	KUNIT_EXPECT_EQ(test, pp_chan_init(&k.ch, &cf, PP_PRIO_MAX + 1),
			-EINVAL);
	cf.line_bps = 0;
	KUNIT_EXPECT_EQ(test, pp_chan_init(&k.ch, &cf, 1), -EINVAL);
}

static void fl_kunit_stop_and_resume(struct kunit *test)
{
	struct fl_kunit k;

	fl_kunit_start(test, &k, 3, true);
	KUNIT_EXPECT_EQ(test, pp_on_probe(&k.pp, &k.ch, 11000 + 14400, k.seq,
					  BIT(31)), PP_PROBE);
	KUNIT_EXPECT_EQ(test, k.pp.probe_wait_ns, 2400 + 6500);
	KUNIT_EXPECT_EQ(test, pp_on_probe(&k.pp, &k.ch, 11000, k.seq, 0),
			PP_RESUME);
	KUNIT_EXPECT_EQ(test, k.pp.wnd, k.ch.start_wnd);
	KUNIT_EXPECT_EQ(test, fl_kunit_ack(&k, 14400), PP_SEND);
	KUNIT_EXPECT_EQ(test, fl_kunit_ack(&k, 14400), PP_STOP);
	KUNIT_EXPECT_TRUE(test, k.pp.stopped);
}

static void fl_kunit_window_stays_in_bounds(struct kunit *test)
{
	u32 random = 1, i, bad = 0;
	struct fl_kunit k;

	fl_kunit_start(test, &k, 7, false);
	for (i = 0; i < 100000; i++) {
		random = random * 1664525 + 1013904223;
		if (k.pp.stopped)
			pp_on_probe(&k.pp, &k.ch, 11000 + (random >> 8) % 60000,
				    k.seq, random);
		else
			fl_kunit_ack(&k, (random >> 8) % 50000);
		bad += k.pp.wnd > k.ch.max_wnd || !k.pp.flows_q8 ||
		       k.pp.flows_q8 > PP_FLOWS_MAX * PP_FLOWS_ONE;
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
}

static const struct sz_conf fl_kunit_soze_conf = {
	.line_bps = 25000000000ULL,
	.wire_bytes = 1538,
};

static void fl_kunit_soze_numbers(struct kunit *test)
{
	struct sz_conf cf = fl_kunit_soze_conf;
	struct sz_par par;
	u32 delay_ns;

	KUNIT_EXPECT_EQ(test, sz_log2(1000), 167198115);
	KUNIT_EXPECT_EQ(test, sz_log2(1ULL << 63), 63 * SZ_ONE);
	KUNIT_EXPECT_EQ(test, sz_exp2(167198115), 1000ULL);
	KUNIT_EXPECT_EQ(test, sz_exp2(-1LL << 40), 0ULL);
	KUNIT_ASSERT_EQ(test, sz_par_init(&par, &cf), 0);
	KUNIT_EXPECT_EQ(test, par.k_ns, 3000U);
	/* 60 us / ln(1000) */
	KUNIT_EXPECT_LE(test, abs((s32)par.q_ns - 8686), 1);
	/* equation 6 and back */
	for (delay_ns = 3000; delay_ns < 100000; delay_ns += 997) {
		s32 rate_l2 = sz_target_rate_l2(&par, delay_ns);

		KUNIT_EXPECT_LE(test, sz_target_delay_ns(&par, rate_l2),
				delay_ns + 2);
		KUNIT_EXPECT_GE(test, sz_target_delay_ns(&par, rate_l2) + 2,
				delay_ns);
	}
	cf.beta_mbps = 25000;
	KUNIT_EXPECT_NE(test, sz_par_init(&par, &cf), 0);
}

static void fl_kunit_soze_share(struct kunit *test)
{
	struct sz_sample s = { .delay_ns = 20000, .rtt_ns = 30000 };
	struct sz_par par;
	struct sz_core sz;
	s64 want;
	u32 i;

	KUNIT_ASSERT_EQ(test, sz_par_init(&par, &fl_kunit_soze_conf), 0);
	sz_init(&sz, &par, 0, 1000000, 3000);
	for (i = 1; i < 20000; i++) {
		s.now_ns = i * 1000ULL;
		sz_on_ack(&sz, &par, s);
	}
	/* three times what the delay says for weight 1 */
	want = sz_target_rate_l2(&par, 20000) + sz_log2(3);
	KUNIT_EXPECT_LE(test, abs((s32)(sz.rate_l2 - want)), SZ_ONE / 1000);
	sz_set_weight(&sz, &par, 6000);
	KUNIT_EXPECT_LE(test, abs((s32)(sz.rate_l2 - want - SZ_ONE)),
			SZ_ONE / 1000);
}

static void fl_kunit_telemetry(struct kunit *test)
{
	u8 th[FL_TCP_MAX_BYTES] = { 0 };
	u32 random = 1, i, j, bad = 0;
	int at;

	fl_tel_put(th + 21, FL_TEL_DELAY, 0x1234, 0x5678);
	th[20] = 1;
	KUNIT_EXPECT_EQ(test, fl_tel_find(th, 32), 21);
	KUNIT_EXPECT_EQ(test, fl_tel_delay(th + 21), 0x1234);
	KUNIT_EXPECT_EQ(test, fl_tel_echo(th + 21), 0x5678);
	KUNIT_EXPECT_EQ(test, fl_tel_find(th, 28), (int)FL_TEL_MALFORMED);
	for (i = 0; i < 20000; i++) {
		for (j = 20; j < sizeof(th); j++) {
			random = random * 1664525 + 1013904223;
			th[j] = (random >> 24) % 12;
		}
		at = fl_tel_find(th, sizeof(th));
		bad += at > 0 && at + FL_TELEMETRY_BYTES > sizeof(th);
	}
	KUNIT_EXPECT_EQ(test, bad, 0U);
}

/* A peer can have a whole window sent again: each ACK looks at few of it. */
static void fl_kunit_rtt_walk(struct kunit *test)
{
	const u32 count = 1000;
	struct fl_rtt r = { };
	struct tcp_sock *tp;
	struct sk_buff *skb;
	u32 i;

	tp = kunit_kzalloc(test, sizeof(*tp), GFP_KERNEL);
	skb = kunit_kcalloc(test, count, sizeof(*skb), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, tp && skb);
	INIT_LIST_HEAD(&tp->tsorted_sent_queue);
	for (i = 0; i < count; i++) {
		TCP_SKB_CB(&skb[i])->end_seq = i + 1;
		if (i < count - 1)
			TCP_SKB_CB(&skb[i])->sacked = TCPCB_EVER_RETRANS;
		list_add_tail(&skb[i].tcp_tsorted_anchor,
			      &tp->tsorted_sent_queue);
	}
	fl_rtt_remember((struct sock *)tp, &r);
	KUNIT_EXPECT_EQ(test, r.count, 0);
	/* a few are passed over */
	for (i = 0; i < count - 1 - FL_RTT_PASS_MAX; i++)
		list_del(&skb[i].tcp_tsorted_anchor);
	fl_rtt_remember((struct sock *)tp, &r);
	KUNIT_EXPECT_EQ(test, r.count, 1);
	KUNIT_EXPECT_EQ(test, r.sent[0].end_seq, count);
}

/* A control computes anew when the profile or the settings have changed, or both have,
 * whichever way their generations go.
 */
static void fl_kunit_generations(struct kunit *test)
{
	struct fl_profile *pf = kunit_kzalloc(test, sizeof(*pf), GFP_KERNEL);
	struct fl_sock *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	u32 was;
	int i, j;

	KUNIT_ASSERT_TRUE(test, pf && f);
	pf->gen = 1000;
	f->gen = 1000;
	was = fl_settings_gen(f, pf);
	for (i = -20; i <= 20; i++) {
		for (j = -20; j <= 20; j++) {
			pf->gen = 1000 + i;
			f->gen = 1000 + j;
			if (i || j)
				KUNIT_EXPECT_NE(test, fl_settings_gen(f, pf), was);
		}
	}
}

static struct kunit_case fl_kunit_cases[] = {
	KUNIT_CASE(fl_kunit_arithmetic),
	KUNIT_CASE(fl_kunit_swift),
	KUNIT_CASE(fl_kunit_ledbat),
	KUNIT_CASE(fl_kunit_d2tcp),
	KUNIT_CASE(fl_kunit_channels),
	KUNIT_CASE(fl_kunit_stop_and_resume),
	KUNIT_CASE(fl_kunit_window_stays_in_bounds),
	KUNIT_CASE(fl_kunit_soze_numbers),
	KUNIT_CASE(fl_kunit_soze_share),
	KUNIT_CASE(fl_kunit_telemetry),
	KUNIT_CASE(fl_kunit_rtt_walk),
	KUNIT_CASE(fl_kunit_generations),
	{}
};

static struct kunit_suite fl_kunit_suite = {
	.name = "fairlane_cores",
	.test_cases = fl_kunit_cases,
};

kunit_test_suite(fl_kunit_suite);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("KUnit tests of Fairlane's cores");
MODULE_LICENSE("GPL");
