// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC for TCP: the rate follows the load of the busiest port on the way.
 *
 * The rate control is core/hpcc.c; this file connects it with the stack. The load comes
 * with ACKs (fl_option.c), written by switches (sch_fabric, "stamp load") and reflected by
 * the receiver, which needs fairlane.ko too, with any congestion control. The sender tells
 * switches over what time loads are to be counted: its RTT, or the time between two of its
 * packets if that is longer.
 *
 * Without telemetry (yet, or any more: nothing heard for 8 RTTs with ACKs of 16 packets in
 * them) a flow is a Reno flow. The first echo makes it an HPCC flow, with what it sends
 * then. struct fl_info and net/fairlane_telemetry tell of it.
 *
 * The rate is enforced by pacing. cwnd is what the rate sends in the RTT without queues, as
 * the paper's window, and two packets for delayed ACKs: what nobody tells of, or tells too
 * late, does not fill a queue for ever.
 *
 * Losses halve the rate once for each recovery, a timeout leaves a quarter; CE marks are
 * left to the load. After a pause of 16 RTTs a flow starts with the initial window.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fairlane/fairlane.h"
#include "fairlane/fl_sock.h"
#include "fairlane/fl_telemetry.h"
#include "hpcc/core/hpcc.h"

/* Without an echo for so many RTTs and packets acknowledged: fall back. */
#define HP_LOST_RTTS		8
#define HP_LOST_PKTS		16
/* Nothing sent for so many RTTs: the rate is old. */
#define HP_IDLE_RTTS		16
/* Room in the window beside the rate times the RTT, packets: a delayed ACK. */
#define HP_EXTRA_PKTS		2
/* Fractional bits of the packets in an RTT for each byte/s of rate: 0.37 s and packets of
 * 1500 bytes have room in 32 bits. The second: of the dividend.
 */
#define HP_PER_RATE_SHIFT	44
#define HP_PER_RATE_MORE_SHIFT	31

static struct kmem_cache *hp_cache;

/**
 * struct hp_settings - settings, /proc/sys/net/fairlane/research/
 * @hpcc_eta_permille: eta: load to steer for, thousandths
 * @hpcc_stages: maxStage: round trips with additive steps alone
 * @hpcc_flows: N: for so many flows at a port there is room for steps without a queue
 */
struct hp_settings {
	u32 hpcc_eta_permille;
	u32 hpcc_stages;
	u32 hpcc_flows;
};

static struct fl_setting hp_setting_table[] = {
	FL_RESEARCH_SETTING(struct hp_settings, hpcc_eta_permille, 950, HP_ETA_MIN_PERMILLE,
			    HP_ETA_MAX_PERMILLE),
	FL_RESEARCH_SETTING(struct hp_settings, hpcc_stages, 5, 0, HP_STAGES_MAX),
	FL_RESEARCH_SETTING(struct hp_settings, hpcc_flows, 4, 1, HP_FLOWS_MAX),
};

static struct fl_settings hp_table = {
	.owner = KBUILD_MODNAME,
	.table = hp_setting_table,
	.count = ARRAY_SIZE(hp_setting_table),
};

/**
 * struct hp_flow - a flow
 * @at: what readers find it by
 * @core: rate control
 * @par: its parameters
 * @last_echo_ns: when the last echo came
 * @ack_ns: when the last ACK came
 * @rcu: readers of struct fl_info, who do not look at these two
 * @updates: loads taken in
 * @echoes: tel->echoes that was seen
 * @base_ns: smallest RTT of a full packet seen, ns; U32_MAX: none
 * @set_base_ns: base RTT by settings, ns; 0: none
 * @load: told last, << FL_LOAD_HOST_SHIFT
 * @gen: of profile and settings
 * @una: tp->snd_una at the last ACK
 * @turn_seq: when this is acknowledged the round trip is over
 * @pkts_per_rate: packets in an RTT without queues for each byte/s, << HP_PER_RATE_SHIFT
 * @payload_q16: part of the line's bytes that is payload, << 16
 * @mss: that the window and the pacing are for
 * @wire_bytes: a full packet on the line
 * @unheard_pkts: acknowledged since the last echo, saturating
 * @telling: echoes come: this is HPCC, not Reno
 * @ever: they have come once
 */
struct hp_flow {
	struct fl_attached at;
	struct hp_core core;
	struct hp_par par;
	union {
		struct {
			u64 last_echo_ns;
			u64 ack_ns;
		};
		struct rcu_head rcu;
	};
	u64 updates;
	u32 echoes;
	u32 base_ns;
	u32 set_base_ns;
	u32 load;
	u32 gen;
	u32 una;
	u32 turn_seq;
	u32 wire_bytes;
	u32 pkts_per_rate;
	u32 payload_q16;
	u16 mss;
	u16 unheard_pkts;
	bool telling;
	bool ever;
};

/**
 * struct hp_sock - what the socket keeps
 * @fs: its settings
 * @tel: its telemetry, NULL: there can be none
 * @flow: the rest; NULL: no memory, Reno for ever. RCU: readers of struct fl_info
 * @rtt: delay samples
 * @active: hp_init_sock() was called
 */
struct hp_sock {
	struct fl_sock *fs;
	struct fl_tel *tel;
	struct hp_flow __rcu *flow;
	struct fl_rtt rtt;
	bool active;
};

static struct hp_flow *hp_flow_of(const struct sock *sk)
{
	const struct hp_sock *hs = inet_csk_ca(sk);

	return rcu_dereference_protected(hs->flow, true);
}

/* RTT without queues, ns; 0: not known. */
static u32 hp_base_ns(const struct hp_flow *fl)
{
	if (fl->set_base_ns)
		return fl->set_base_ns;
	return fl->base_ns == U32_MAX ? 0 : fl->base_ns;
}

/* Switches are told over what time loads are wanted: what the flow takes to act. */
static void hp_tell_rtt(const struct hp_sock *hs, u32 rtt_ns)
{
	u8 rtt = fl_load_rtt(rtt_ns);

	if (hs->tel && READ_ONCE(hs->tel->rtt) != rtt)
		WRITE_ONCE(hs->tel->rtt, rtt);
}

/* RTT or packets have changed: what the window follows from. */
static void hp_know_rtt(const struct hp_sock *hs, struct hp_flow *fl)
{
	u32 base_ns = hp_base_ns(fl);

	fl->pkts_per_rate = min_t(u64, U32_MAX,
				  div64_u64((u64)base_ns << HP_PER_RATE_MORE_SHIFT,
					    div_u64(NSEC_PER_SEC * (u64)fl->wire_bytes,
						    1U << (HP_PER_RATE_SHIFT -
							   HP_PER_RATE_MORE_SHIFT))));
	hp_tell_rtt(hs, base_ns);
}

/* Has anything changed that the parameters follow from? @pf: the profile */
static void hp_refresh(const struct sock *sk, const struct hp_sock *hs, struct hp_flow *fl,
		       const struct fl_profile *pf)
{
	u32 gen = fl_settings_gen(hs->fs, pf);
	u16 mss = min_t(u32, tcp_sk(sk)->mss_cache, U16_MAX);
	const struct hp_settings *own;
	struct hp_conf cf;

	if (likely(gen == fl->gen && mss == fl->mss))
		return;
	fl->gen = gen;
	fl->mss = mss;
	fl->wire_bytes = fl_wire_bytes(sk);
	fl->payload_q16 = ((u32)mss << 16) / fl->wire_bytes;
	own = fl_profile_part(pf, &hp_table);
	cf = (struct hp_conf) {
		.line_bps = fl_sock_line_bps(sk, hs->fs, pf, false),
		.eta_permille = READ_ONCE(own->hpcc_eta_permille),
		.stages = READ_ONCE(own->hpcc_stages),
		.flows = READ_ONCE(own->hpcc_flows),
		.weight_milli = fl_sock_weight_milli(sk, hs->fs),
	};
	hp_par_init(&fl->par, &cf);
	fl->set_base_ns = fl_sock_base_rtt_ns(hs->fs, pf);
	hp_know_rtt(hs, fl);
}

/* Bytes on the line a second of a window in an RTT. */
static u64 hp_rate_of(const struct hp_flow *fl, u32 pkts, u32 rtt_ns)
{
	return div_u64((u64)min_t(u32, pkts, BIT(17)) * fl->wire_bytes * NSEC_PER_SEC,
		       max_t(u32, rtt_ns, 1000));
}

/* Put the core's rate and window into the socket: it is payload that the stack paces. */
static void hp_apply(struct sock *sk, const struct hp_sock *hs, struct hp_flow *fl)
{
	unsigned long rate = mul_u64_u32_shr(fl->core.rate, fl->payload_q16, 16);
	u64 pkts = mul_u64_u32_shr(fl->core.rate, fl->pkts_per_rate, 32) >>
		   (HP_PER_RATE_SHIFT - 32);
	u32 time_ns = hp_base_ns(fl);

	/* with less than a packet in an RTT the time between two is what counts */
	if (unlikely(!pkts))
		time_ns = min_t(u64, U32_MAX, div64_u64(NSEC_PER_SEC * (u64)fl->wire_bytes,
							fl->core.rate));
	hp_tell_rtt(hs, time_ns);
	fl_set_wnd(tcp_sk(sk), min_t(u64, pkts, BIT(24)) + HP_EXTRA_PKTS,
		   max_t(unsigned long, rate, 1000));
}

/* The first echo (again): go on with what is sent now. */
static void hp_begin(struct sock *sk, struct hp_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 pkts = min_t(u32, tcp_snd_cwnd(tp),
			 max_t(u32, tcp_packets_in_flight(tp), TCP_INIT_CWND));

	hp_init(&fl->core, &fl->par, hp_rate_of(fl, pkts, hp_base_ns(fl)));
	fl->turn_seq = tp->snd_nxt;
	fl->telling = true;
	fl->ever = true;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
}

/* Reno from here on, until an echo comes. */
static void hp_fall_back(struct sock *sk, struct hp_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(sk);

	fl->telling = false;
	tp->snd_ssthresh = max_t(u32, tcp_snd_cwnd(tp), 2);
	WRITE_ONCE(sk->sk_pacing_rate, READ_ONCE(sk->sk_max_pacing_rate));
	fl_tel_note_fallback(sk);
}

/* Reno, as far as it concerns ACKs. */
static void hp_reno_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 acked = max_t(s32, rs->acked_sacked, 0);

	if (!acked || inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery ||
	    inet_csk(sk)->icsk_ca_state == TCP_CA_CWR || !tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

/* An echo has come. */
static void hp_heard(struct sock *sk, const struct hp_sock *hs, struct hp_flow *fl,
		     const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool turned;

	if (!hp_base_ns(fl))
		return;
	if (!fl->telling)
		hp_begin(sk, fl);
	fl->load = fl_load_of(READ_ONCE(hs->tel->queue));
	turned = !before(tp->snd_una, fl->turn_seq);
	if (turned)
		fl->turn_seq = tp->snd_nxt + 1;
	hp_on_load(&fl->core, &fl->par, fl->load, turned, rs->is_app_limited);
	fl->updates++;
}

/* No echo with this ACK. */
static void hp_unheard(struct sock *sk, struct hp_flow *fl, const struct rate_sample *rs,
		       u64 now_ns)
{
	u32 before = fl->unheard_pkts;
	u64 rtt_ns;

	fl->unheard_pkts = min_t(u32, before + max_t(s32, rs->acked_sacked, 0), U16_MAX);
	if (!fl->telling) {
		if (!fl->ever && before <= HP_LOST_PKTS && fl->unheard_pkts > HP_LOST_PKTS)
			fl_tel_note_fallback(sk);
		return;
	}
	rtt_ns = max_t(u64, hp_base_ns(fl),
		       (u64)(tcp_sk(sk)->srtt_us >> 3) * NSEC_PER_USEC);
	if (fl->unheard_pkts > HP_LOST_PKTS &&
	    now_ns - fl->last_echo_ns > HP_LOST_RTTS * rtt_ns)
		hp_fall_back(sk, fl);
}

/* Context: each ACK of new data, softirq, socket lock held. */
static void hp_cong_control(FL_CONG_CONTROL_ARGS)
{
	struct hp_sock *hs = inet_csk_ca(sk);
	struct hp_flow *fl = hp_flow_of(sk);
	const struct fl_profile *pf;
	u32 rtt_ns, echoes;

	if (!fl || !hs->tel) {
		hp_reno_ack(sk, rs);
		return;
	}
	fl->ack_ns = tcp_sk(sk)->tcp_clock_cache;
	pf = fl_profile_for(sk, hs->fs);
	hp_refresh(sk, hs, fl, pf);
	rtt_ns = fl_rtt_sample(sk, &hs->rtt, rs);
	if (fl_full_packets(sk, &fl->una, max_t(s32, rs->acked_sacked, 0)) && rtt_ns &&
	    rtt_ns < fl->base_ns) {
		fl->base_ns = rtt_ns;
		hp_know_rtt(hs, fl);
	}
	echoes = READ_ONCE(hs->tel->echoes);
	if (echoes != fl->echoes) {
		fl->echoes = echoes;
		fl->last_echo_ns = fl->ack_ns;
		fl->unheard_pkts = 0;
		hp_heard(sk, hs, fl, rs);
	} else {
		hp_unheard(sk, fl, rs, fl->ack_ns);
	}
	if (fl->telling)
		hp_apply(sk, hs, fl);
	else
		hp_reno_ack(sk, rs);
	fl_take_over(sk, READ_ONCE(pf->gso_segs));
	fl_rtt_remember(sk, &hs->rtt);
}

/* Losses, once for each recovery. Context: socket lock held. */
static void hp_set_state(struct sock *sk, u8 new_state)
{
	struct hp_flow *fl = hp_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (new_state != TCP_CA_Recovery && new_state != TCP_CA_Loss &&
	    new_state != TCP_CA_CWR)
		return;
	if (fl && fl->telling) {
		if (new_state != TCP_CA_CWR)
			hp_on_loss(&fl->core, &fl->par, new_state == TCP_CA_Loss);
		hp_apply(sk, inet_csk_ca(sk), fl);
	} else if (new_state != TCP_CA_Loss) {
		/* after a timeout the stack has set both */
		tcp_snd_cwnd_set(tp, max_t(u32, tcp_snd_cwnd(tp) >> 1, 2));
		tp->snd_ssthresh = tcp_snd_cwnd(tp);
	}
}

/* After a pause the rate says nothing. Context: socket lock held. */
static void hp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct hp_flow *fl = hp_flow_of(sk);
	u64 now_ns;

	if (event != CA_EVENT_TX_START || !fl || !fl->telling)
		return;
	now_ns = tcp_sk(sk)->tcp_clock_cache;
	if (now_ns - fl->ack_ns < (u64)HP_IDLE_RTTS * hp_base_ns(fl))
		return;
	hp_init(&fl->core, &fl->par, hp_rate_of(fl, TCP_INIT_CWND, hp_base_ns(fl)));
	/* silence was not the path's fault */
	fl->last_echo_ns = now_ns;
	fl->unheard_pkts = 0;
	hp_apply(sk, inet_csk_ca(sk), fl);
}

/* Reno's; HPCC's window is set with each ACK. */
static u32 hp_ssthresh(struct sock *sk)
{
	const struct hp_flow *fl = hp_flow_of(sk);

	if (fl && fl->telling)
		return TCP_INFINITE_SSTHRESH;
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)) >> 1, 2);
}

static u32 hp_undo_cwnd(struct sock *sk)
{
	const struct hp_flow *fl = hp_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (fl && fl->telling)
		return max_t(u32, tcp_snd_cwnd(tp), 1);
	return max(tcp_snd_cwnd(tp), tp->prior_cwnd);
}

static u32 hp_min_tso_segs(struct sock *sk)
{
	return 1;
}

static const struct fl_cc hp_cc;

/* What the flow does, for the control plane. Context: RCU, not locked. */
static void hp_info(struct sock *sk, const struct fl_attached *at, struct fl_info *info)
{
	const struct hp_flow *fl = container_of(at, struct hp_flow, at);
	const struct hp_sock *hs = inet_csk_ca(sk);
	/* or what another control has there: it is not followed */
	const struct fl_tel *tel = READ_ONCE(hs->tel);

	if (at == &hp_cc.none) {
		info->state = FL_STATE_FALLBACK;
		return;
	}
	info->state = fl->telling ? FL_STATE_SENDING :
		      !tel || fl->ever || fl->unheard_pkts > HP_LOST_PKTS ?
		      FL_STATE_FALLBACK : FL_STATE_START;
	if (tel)
		info->flags |= FL_INFO_TELEMETRY_SENT;
	if (!info->base_rtt_ns && fl->base_ns != U32_MAX) {
		info->base_rtt_ns = fl->base_ns;
		info->base_rtt_from = FL_FROM_MEASURED;
	}
	if (fl->telling) {
		info->flags |= FL_INFO_TELEMETRY;
		info->rate_bps = 8 * fl->core.rate;
	}
	info->window_milli = 1000ULL * tcp_snd_cwnd(tcp_sk(sk));
	info->telemetry_rx = fl->echoes;
	info->updates = fl->updates;
}

static const struct fl_cc hp_cc = {
	.none = { .cc = &hp_cc },
	.name = "hpcc",
	.weighted = true,
	.info = hp_info,
};

/* Context: any, socket lock held. */
static void hp_init_sock(struct sock *sk)
{
	struct hp_sock *hs = inet_csk_ca(sk);
	const struct fl_profile *pf;
	struct hp_flow *fl;

	BUILD_BUG_ON(sizeof(struct hp_sock) > ICSK_CA_PRIV_SIZE);
	memset(hs, 0, sizeof(*hs));
	hs->active = true;
	hs->fs = fl_sock_attach(sk, &hp_cc);
	pf = fl_profile_for(sk, hs->fs);
	fl = kmem_cache_zalloc(hp_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!fl)
		return;
	hs->tel = fl_tel_start(sk, FL_TEL_LOAD);
	if (hs->tel)
		fl->echoes = READ_ONCE(hs->tel->echoes);
	else
		fl_tel_note_fallback(sk);
	fl->base_ns = U32_MAX;
	fl->una = tcp_sk(sk)->snd_una;
	fl->gen = fl_settings_gen(hs->fs, pf) - 1;
	hp_refresh(sk, hs, fl, pf);
	fl_take_over(sk, READ_ONCE(pf->gso_segs));
	if (tcp_snd_cwnd(tcp_sk(sk)) < 2)
		tcp_snd_cwnd_set(tcp_sk(sk), 2);
	rcu_assign_pointer(hs->flow, fl);
	fl->at.cc = &hp_cc;
	fl_sock_show(hs->fs, &fl->at);
}

/* Context: RCU callback. */
static void hp_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(hp_cache, container_of(rcu, struct hp_flow, rcu));
}

/* Another congestion control, or the end. Also called without hp_init_sock(), on
 * listeners, and twice. Context: socket lock held.
 */
static void hp_release(struct sock *sk)
{
	struct hp_sock *hs = inet_csk_ca(sk);
	struct hp_flow *fl;

	if (!hs->active)
		return;
	hs->active = false;
	fl = hp_flow_of(sk);
	fl_sock_detach(sk, hs->fs);
	hs->fs = NULL;
	fl_tel_stop(sk, hs->tel);
	WRITE_ONCE(hs->tel, NULL);
	RCU_INIT_POINTER(hs->flow, NULL);
	if (fl) {
		call_rcu(&fl->rcu, hp_free_rcu);
		fl_give_back(sk);
	}
}

static struct tcp_congestion_ops tcp_hpcc __read_mostly = {
	.init		= hp_init_sock,
	.release	= hp_release,
	.ssthresh	= hp_ssthresh,
	.undo_cwnd	= hp_undo_cwnd,
	.cong_control	= hp_cong_control,
	.set_state	= hp_set_state,
	.cwnd_event	= hp_cwnd_event,
	.min_tso_segs	= hp_min_tso_segs,
	.get_info	= fl_diag_fill,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.owner		= THIS_MODULE,
	.name		= "hpcc",
};

static int __init hp_register(void)
{
	int err;

	hp_cache = KMEM_CACHE(hp_flow, SLAB_ACCOUNT);
	if (!hp_cache)
		return -ENOMEM;
	err = fl_cc_register(&tcp_hpcc, &hp_table);
	if (err)
		kmem_cache_destroy(hp_cache);
	return err;
}

static void __exit hp_unregister(void)
{
	fl_cc_unregister(&tcp_hpcc, &hp_table);
	/* flows are freed by RCU */
	rcu_barrier();
	kmem_cache_destroy(hp_cache);
}

module_init(hp_register);
module_exit(hp_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("HPCC: the rate follows the load of the busiest port");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
