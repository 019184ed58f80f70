// SPDX-License-Identifier: GPL-2.0
/*
 * Söze for TCP: bandwidth in proportion to a weight, at any bottleneck.
 *
 * The rate control is core/soze.c; this file connects it with the stack. The
 * largest queueing delay on the path comes with ACKs (fl_option.c), written by
 * switches (sch_fabric, "stamp soze") and reflected by the receiver, which needs
 * fairlane.ko too, with any congestion control.
 *
 * Without telemetry (yet, or any more: nothing heard for 8 RTTs with ACKs of 16
 * packets in them) a flow is a Reno flow: slow start, one packet an RTT, half of
 * the window after a loss. The first echo makes it a Söze flow, with what it
 * sends then. struct fl_info and net/fairlane_telemetry tell of it.
 *
 * The rate is enforced by pacing. It is payload that the stack paces and lines
 * that are shared, so both forms of the rate are kept (payload_l2). cwnd is the
 * bound of core/soze.c (5), for which the RTT without the delay told is
 * smoothed.
 *
 * Two departures from the paper, which decides with each ACK and whose window is no
 * more than the rate's. A flow that has known its share for 32 round trips decides eight
 * times in an RTT, with the average of what it heard in between: one flow's ACK takes
 * 468 instructions instead of 741, but with two or three ACKs an RTT 832 instead of
 * 769 (selftests/machine/cc-cost). And the window has room for what is acknowledged at
 * once: where a card gathers packets for 10 us one flow had 59 % of 25 Gbit/s otherwise
 * (selftests/net/gro).
 *
 * A bottleneck that does not tell its delay (another switch, the sender's own
 * qdisc) is seen in the RTT: what the smallest RTT of the last two round trips
 * exceeds the base RTT, four times the delay told (queues on other hops) and
 * 20 us, counts as queueing delay. So does what the option has no numbers for.
 * What ACKs waited is told as well and taken off before: no queue of the data.
 * Queues stay bounded, shares are as good as the flows' base RTTs. Better have
 * "fabric stamp soze" there, on hosts as well.
 *
 * Losses and CE marks: rate times 0.7, once for each recovery; after a timeout a
 * quarter, and start. After a pause of 16 RTTs a flow starts with the initial
 * window. An application that sends less than it may changes nothing: the share
 * is what D tells, used or not.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "sz_flow.h"
#include "sz_trace.h"

/* Without an echo for so many RTTs and packets acknowledged: fall back. */
#define SZ_LOST_RTTS		8
#define SZ_LOST_PKTS		16
/* Nothing sent for so many RTTs: the rate is old. */
#define SZ_IDLE_RTTS		16
/* RTT that the delay told explains: base RTT, this, and 4 times the delay. */
#define SZ_HIDDEN_SLACK_NS	20000
#define SZ_HIDDEN_DELAYS	4
/* Smoothing of it, log2 of samples. */
#define SZ_REST_SHIFT		3
/* So many decisions in an RTT at most, log2; other ACKs are added up. */
#define SZ_DECIDE_SHIFT		3
/* What is acknowledged at once is forgotten by this part in a decision, log2. */
#define SZ_BURST_SHIFT		3
/* With the times of so many packets known, no others are noted. */
#define SZ_NOTED_PKTS		2
/* As much of it, in packets, the window has room for anyway; in smaller windows than the
 * second it is left out: what comes at once there was sent at once.
 */
#define SZ_BURST_PKTS		2
#define SZ_BURST_WINDOW_PKTS	16

static struct kmem_cache *sz_cache;

static struct sz_flow *sz_flow_of(const struct sock *sk)
{
	const struct sz_sock *ss = inet_csk_ca(sk);

	return rcu_dereference_protected(ss->flow, true);
}

/**
 * struct sz_settings - Söze's settings, /proc/sys/net/fairlane/
 * @soze_alpha_mbps: alpha for weight 1, Mbit/s; 0 = line_rate_mbps
 */
struct sz_settings {
	u32 soze_alpha_mbps;
};

static struct fl_setting sz_setting_table[] = {
	FL_SETTING(struct sz_settings, soze_alpha_mbps, 0, 0, SZ_RATE_MAX_MBPS),
};

static struct fl_settings sz_table = {
	.owner = KBUILD_MODNAME,
	.table = sz_setting_table,
	.count = ARRAY_SIZE(sz_setting_table),
};

/* Parameters from the profile; the defaults if people have set nonsense. */
static void sz_configure(const struct sock *sk, struct sz_flow *fl,
			 const struct fl_sock *fs, const struct fl_profile *pf)
{
	const struct sz_settings *own = fl_profile_part(pf, &sz_table);
	u32 wire = fl_wire_bytes(sk);
	struct sz_conf cf = {
		.line_bps = fl_sock_line_bps(sk, fs, pf, false),
		.wire_bytes = wire,
		.base_ns = READ_ONCE(pf->base_rtt_ns),
		.alpha_mbps = READ_ONCE(own->soze_alpha_mbps),
	};

	if (sz_par_init(&fl->par, &cf)) {
		cf.alpha_mbps = 0;
		sz_par_init(&fl->par, &cf);
	}
	fl->payload_l2 = sz_log2(tcp_sk(sk)->mss_cache) - sz_log2(wire);
}

/* Has anything changed that sz_configure() or the core look at? @pf: the profile */
static void sz_refresh(const struct sock *sk, const struct sz_sock *ss,
		       struct sz_flow *fl, const struct fl_profile *pf)
{
	u32 gen = fl_settings_gen(ss->fs, pf);
	u16 mss = min_t(u32, tcp_sk(sk)->mss_cache, U16_MAX);

	if (likely(gen == fl->gen && mss == fl->mss))
		return;
	fl->gen = gen;
	fl->mss = mss;
	sz_configure(sk, fl, ss->fs, pf);
	fl->set_base_ns = fl_sock_base_rtt_ns(ss->fs, pf);
	if (fl->telling)
		sz_set_weight(&fl->core, &fl->par,
			      fl_sock_weight_milli(sk, ss->fs));
}

/* Put the core's rate and window into the socket. */
static void sz_apply(struct sock *sk, struct sz_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned long rate;
	u32 pkts, burst_pkts = fl->burst_pkts;

	rate = sz_exp2((s64)fl->core.pace_l2 + fl->payload_l2);
	rate = min_t(unsigned long, max_t(unsigned long, rate, 1000),
		     READ_ONCE(sk->sk_max_pacing_rate));
	pkts = sz_window_pkts(&fl->core, &fl->par, max_t(u32, fl->rest_ns, 1));
	if (pkts >= SZ_BURST_WINDOW_PKTS &&
	    burst_pkts > SZ_BURST_PKTS + (pkts >> SZ_DECIDE_SHIFT))
		pkts += burst_pkts - SZ_BURST_PKTS - (pkts >> SZ_DECIDE_SHIFT);
	tcp_snd_cwnd_set(tp, clamp_t(u32, pkts, 1, tp->snd_cwnd_clamp));
	WRITE_ONCE(sk->sk_pacing_rate, rate);
}

/* Bytes a second on the line of a window in an RTT. */
static u64 sz_rate_of(const struct sock *sk, u32 pkts, u32 rtt_ns)
{
	return div_u64((u64)min_t(u32, pkts, BIT(17)) * fl_wire_bytes(sk) *
		       NSEC_PER_SEC, max_t(u32, rtt_ns, 1000));
}

/* The first echo (again): go on with what is sent now. After Reno's slow start
 * that is a share already, and the queue is Reno's.
 */
static void sz_begin(struct sock *sk, const struct sz_sock *ss,
		     struct sz_flow *fl, u32 rtt_ns, u64 now_ns)
{
	u32 weight_milli = fl_sock_weight_milli(sk, ss->fs);
	u32 pkts = min_t(u32, tcp_snd_cwnd(tcp_sk(sk)),
			 max_t(u32, tcp_packets_in_flight(tcp_sk(sk)),
			       TCP_INIT_CWND));
	u64 rate = sz_rate_of(sk, pkts, rtt_ns);

	if (fl->ever || !tcp_in_slow_start(tcp_sk(sk)))
		sz_resume(&fl->core, &fl->par, now_ns, rate, weight_milli);
	else
		sz_init(&fl->core, &fl->par, now_ns, rate, weight_milli);
	fl->telling = true;
	fl->ever = true;
	tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
}

/* Reno from here on, until an echo comes. */
static void sz_fall_back(struct sock *sk, struct sz_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(sk);

	fl->telling = false;
	fl->rest_ns = 0;
	tp->snd_ssthresh = max_t(u32, tcp_snd_cwnd(tp), 2);
	WRITE_ONCE(sk->sk_pacing_rate, READ_ONCE(sk->sk_max_pacing_rate));
	fl_tel_note_fallback(sk);
}

/* Reno, as far as it concerns ACKs. */
static void sz_reno_ack(struct sock *sk, const struct rate_sample *rs)
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

/* RTT less what ACKs wait on their way back: that is no queue of the data's.
 * Several hops may have as much as the one that tells most.
 */
static u32 sz_rtt_there_ns(u32 rtt_ns, u32 back_ns)
{
	return rtt_ns - min(rtt_ns - 1, SZ_HIDDEN_DELAYS * back_ns);
}

/* Queueing delay that the RTT shows and nobody tells, ns. @rtt_ns: without that of
 * the way back.
 */
static u32 sz_hidden_ns(struct sz_flow *fl, u32 rtt_ns, u64 now_ns, u32 base_ns)
{
	u64 known_ns;
	u32 least_ns;

	if ((u32)now_ns - fl->turn_ns > fl->rest_ns + fl->queue_ns) {
		fl->turn_ns = now_ns;
		fl->least_ns[1] = fl->least_ns[0];
		fl->least_ns[0] = rtt_ns;
	}
	fl->least_ns[0] = min(fl->least_ns[0], rtt_ns);
	if (base_ns == U32_MAX)
		return 0;
	least_ns = min(fl->least_ns[0], fl->least_ns[1]);
	known_ns = base_ns + SZ_HIDDEN_SLACK_NS + fl->queue_ns;
	if (fl->queue_ns < FL_TELEMETRY_MAX_NS)
		known_ns += (u64)(SZ_HIDDEN_DELAYS - 1) * fl->queue_ns;
	return least_ns > known_ns ? least_ns - known_ns : 0;
}

/* For who looks: the queue at which the flow is at rest, ns; its rate, bit/s. */
static u32 sz_target_of(const struct sz_flow *fl)
{
	return sz_target_delay_ns(&fl->par, fl->core.rate_l2 - fl->core.weight_l2);
}

static u64 sz_bps_of(const struct sz_flow *fl)
{
	return 8 * sz_exp2((s64)fl->core.rate_l2 + fl->payload_l2);
}

/* An echo has come: its delay, and the RTT without it. */
static void sz_heard(struct sock *sk, const struct sz_sock *ss,
		     struct sz_flow *fl, u32 rtt_ns, u64 now_ns)
{
	struct sz_sample s = { .now_ns = now_ns };
	u32 base_ns = fl->set_base_ns ?: fl->base_ns;
	u32 told_ns = fl_tel_ns(READ_ONCE(ss->tel->queue));
	u32 rest_ns, back_ns;

	fl->queue_ns = fl->between ? (told_ns + fl->told_ns) / 2 : told_ns;
	fl->between = false;
	fl->burst_pkts = max_t(u16, fl->acked_pkts, fl->burst_pkts -
			       (fl->burst_pkts >> SZ_BURST_SHIFT));
	fl->acked_pkts = 0;
	back_ns = fl_tel_ns(READ_ONCE(ss->tel->back));
	if (rtt_ns) {
		/* differences have signs */
		rtt_ns = min_t(u32, rtt_ns, S32_MAX);
		fl->queue_ns += sz_hidden_ns(fl, sz_rtt_there_ns(rtt_ns, back_ns),
					     now_ns, base_ns);
		rest_ns = max_t(s32, rtt_ns - fl->queue_ns, 1);
		if (!fl->rest_ns)
			fl->rest_ns = rest_ns;
		fl->rest_ns += ((s32)(rest_ns - fl->rest_ns)) >> SZ_REST_SHIFT;
	}
	if (!fl->rest_ns)
		return;
	s.delay_ns = fl->queue_ns;
	s.rtt_ns = fl->rest_ns + fl->queue_ns;
	if (!fl->telling)
		sz_begin(sk, ss, fl, s.rtt_ns, now_ns);
	sz_on_ack(&fl->core, &fl->par, &s);
	fl->updates++;
	if (trace_fl_soze_update_enabled())
		trace_fl_soze_update(sk, fl->queue_ns, sz_target_of(fl), sz_bps_of(fl),
				     fl_sock_weight_milli(sk, ss->fs));
}

/* Was there a decision just now? */
static bool sz_can_wait(const struct sz_flow *fl, u64 now_ns)
{
	return fl->telling && sz_settled(&fl->core) &&
	       now_ns - fl->core.last_ns <
	       (fl->rest_ns + fl->queue_ns) >> SZ_DECIDE_SHIFT;
}

/* An echo so soon after a decision that it can wait for the next one. */
static void sz_between(struct sz_flow *fl, const struct sz_sock *ss)
{
	u32 told_ns = fl_tel_ns(READ_ONCE(ss->tel->queue));

	fl->told_ns = fl->between ? (told_ns + fl->told_ns) / 2 : told_ns;
	fl->between = true;
}

/* No echo with this ACK. */
static void sz_unheard(struct sock *sk, struct sz_flow *fl,
		       const struct rate_sample *rs, u64 now_ns)
{
	u32 before = fl->unheard_pkts;
	u64 limit_ns;

	fl->unheard_pkts = min_t(u32, before + max_t(s32, rs->acked_sacked, 0),
				 U16_MAX);
	if (!fl->telling) {
		if (!fl->ever && before <= SZ_LOST_PKTS &&
		    fl->unheard_pkts > SZ_LOST_PKTS)
			fl_tel_note_fallback(sk);
		return;
	}
	limit_ns = SZ_LOST_RTTS * max_t(u64, (u64)fl->rest_ns + fl->queue_ns,
					(u64)(tcp_sk(sk)->srtt_us >> 3) *
					NSEC_PER_USEC);
	if (fl->unheard_pkts > SZ_LOST_PKTS &&
	    now_ns - fl->last_echo_ns > limit_ns)
		sz_fall_back(sk, fl);
}

/* The times of packets in flight for the next ACKs, which are for two at most, mostly:
 * what was noted once serves several. With losses about it may be sent again.
 */
static void sz_remember(struct sock *sk, struct fl_rtt *r)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (r->count < FL_RTT_AHEAD ||
	    tp->sacked_out + tp->lost_out + tp->retrans_out ||
	    !after(r->sent[FL_RTT_AHEAD - SZ_NOTED_PKTS].end_seq, tp->snd_una))
		fl_rtt_remember(sk, r);
}

/* Context: each ACK of new data, softirq, socket lock held. */
static void sz_cong_control(FL_CONG_CONTROL_ARGS)
{
	struct sz_sock *ss = inet_csk_ca(sk);
	struct sz_flow *fl = sz_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct fl_profile *pf;
	u32 rtt_ns, echoes, acked_pkts;
	u64 now_ns;
	bool heard;

	if (!fl || !ss->tel) {
		sz_reno_ack(sk, rs);
		return;
	}
	now_ns = tp->tcp_clock_cache;
	fl->ack_ns = now_ns;
	acked_pkts = max_t(s32, rs->acked_sacked, 0);
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Open)
		fl->acked_pkts = min_t(u32, fl->acked_pkts + acked_pkts, U16_MAX);
	echoes = READ_ONCE(ss->tel->echoes);
	heard = echoes != fl->echoes;
	if (heard) {
		fl->echoes = echoes;
		fl->last_echo_ns = now_ns;
		fl->unheard_pkts = 0;
		if (sz_can_wait(fl, now_ns)) {
			sz_between(fl, ss);
			fl->una = tp->snd_una;
			sz_remember(sk, &ss->rtt);
			return;
		}
	}
	pf = fl_profile_for(sk, ss->fs);
	rtt_ns = fl_rtt_sample(sk, &ss->rtt, rs);
	sz_refresh(sk, ss, fl, pf);
	if (fl_full_packets(sk, &fl->una, acked_pkts) && rtt_ns &&
	    rtt_ns < fl->base_ns)
		fl->base_ns = rtt_ns;
	if (heard)
		sz_heard(sk, ss, fl, rtt_ns, now_ns);
	else
		sz_unheard(sk, fl, rs, now_ns);
	if (fl->telling)
		sz_apply(sk, fl);
	else
		sz_reno_ack(sk, rs);
	fl_take_over(sk, READ_ONCE(pf->gso_segs));
	sz_remember(sk, &ss->rtt);
}

/* Losses and CE marks, once for each recovery. Context: socket lock held. */
static void sz_set_state(struct sock *sk, u8 new_state)
{
	struct sz_flow *fl = sz_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (new_state != TCP_CA_Recovery && new_state != TCP_CA_Loss &&
	    new_state != TCP_CA_CWR)
		return;
	if (fl && fl->telling) {
		sz_on_loss(&fl->core, &fl->par, new_state == TCP_CA_Loss);
		sz_apply(sk, fl);
	} else if (new_state != TCP_CA_Loss) {
		/* after a timeout the stack has set both */
		tcp_snd_cwnd_set(tp, max_t(u32, tcp_snd_cwnd(tp) >> 1, 2));
		tp->snd_ssthresh = tcp_snd_cwnd(tp);
	}
}

/* After a pause the rate says nothing. Context: socket lock held. */
static void sz_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct sz_flow *fl = sz_flow_of(sk);
	u32 rtt_ns;
	u64 now_ns;

	if (event != CA_EVENT_TX_START || !fl || !fl->telling)
		return;
	now_ns = tcp_sk(sk)->tcp_clock_cache;
	rtt_ns = fl->rest_ns + fl->queue_ns;
	if (now_ns - fl->ack_ns < (u64)SZ_IDLE_RTTS * rtt_ns)
		return;
	sz_restart(&fl->core, &fl->par, now_ns,
		   sz_rate_of(sk, TCP_INIT_CWND, rtt_ns));
	/* silence was not the path's fault */
	fl->last_echo_ns = now_ns;
	fl->unheard_pkts = 0;
	sz_apply(sk, fl);
}

/* Reno's; Söze's window is set with each ACK. */
static u32 sz_ssthresh(struct sock *sk)
{
	const struct sz_flow *fl = sz_flow_of(sk);

	if (fl && fl->telling)
		return TCP_INFINITE_SSTHRESH;
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)) >> 1, 2);
}

static u32 sz_undo_cwnd(struct sock *sk)
{
	const struct sz_flow *fl = sz_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (fl && fl->telling)
		return max_t(u32, tcp_snd_cwnd(tp), 1);
	return max(tcp_snd_cwnd(tp), tp->prior_cwnd);
}

static u32 sz_min_tso_segs(struct sock *sk)
{
	return 1;
}

/* A new weight acts now, not with the next ACK. Context: socket lock held. */
static void sz_changed(struct sock *sk)
{
	const struct sz_sock *ss = inet_csk_ca(sk);
	struct sz_flow *fl = sz_flow_of(sk);

	if (!fl || !fl->telling)
		return;
	sz_refresh(sk, ss, fl, fl_profile_for(sk, ss->fs));
	sz_apply(sk, fl);
}

static const struct fl_cc sz_cc;

/* What the flow does, for the control plane. Context: RCU, not locked. */
static void sz_info(struct sock *sk, const struct fl_attached *at,
		    struct fl_info *info)
{
	const struct sz_flow *fl = container_of(at, struct sz_flow, at);
	const struct sz_sock *ss = inet_csk_ca(sk);
	/* or what another control has there: it is not followed */
	const struct fl_tel *tel = READ_ONCE(ss->tel);

	if (at == &sz_cc.none) {
		info->state = FL_STATE_FALLBACK;
		return;
	}
	info->state = fl->telling ? FL_STATE_SENDING :
		      !tel || fl->ever || fl->unheard_pkts > SZ_LOST_PKTS ?
		      FL_STATE_FALLBACK : FL_STATE_START;
	if (tel)
		info->flags |= FL_INFO_TELEMETRY_SENT;
	if (!info->base_rtt_ns && fl->base_ns != U32_MAX) {
		info->base_rtt_ns = fl->base_ns;
		info->base_rtt_from = FL_FROM_MEASURED;
	}
	if (fl->telling) {
		info->flags |= FL_INFO_TELEMETRY;
		info->queue_ns = fl->queue_ns;
		info->target_queue_ns = sz_target_of(fl);
		info->delay_ns = fl->rest_ns + fl->queue_ns;
		info->rate_bps = sz_bps_of(fl);
	}
	info->window_milli = 1000ULL * tcp_snd_cwnd(tcp_sk(sk));
	info->telemetry_rx = fl->echoes;
	info->updates = fl->updates;
}

static const struct fl_cc sz_cc = {
	.none = { .cc = &sz_cc },
	.name = "soze",
	.weighted = true,
	.info = sz_info,
	.changed = sz_changed,
};

/* Context: any, socket lock held. */
static void sz_init_sock(struct sock *sk)
{
	struct sz_sock *ss = inet_csk_ca(sk);
	const struct fl_profile *pf;
	struct sz_flow *fl;

	BUILD_BUG_ON(sizeof(struct sz_sock) > ICSK_CA_PRIV_SIZE);
	memset(ss, 0, sizeof(*ss));
	ss->active = true;
	ss->fs = fl_sock_attach(sk, &sz_cc);
	pf = fl_profile_for(sk, ss->fs);
	fl = kmem_cache_zalloc(sz_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!fl)
		return;
	ss->tel = fl_tel_start(sk, FL_TEL_DELAY);
	if (ss->tel)
		fl->echoes = READ_ONCE(ss->tel->echoes);
	else
		fl_tel_note_fallback(sk);
	fl->base_ns = U32_MAX;
	fl->una = tcp_sk(sk)->snd_una;
	fl->gen = fl_settings_gen(ss->fs, pf) - 1;
	sz_refresh(sk, ss, fl, pf);
	fl_take_over(sk, READ_ONCE(pf->gso_segs));
	if (tcp_snd_cwnd(tcp_sk(sk)) < 2)
		tcp_snd_cwnd_set(tcp_sk(sk), 2);
	rcu_assign_pointer(ss->flow, fl);
	fl->at.cc = &sz_cc;
	fl_sock_show(ss->fs, &fl->at);
}

/* Context: RCU callback. */
static void sz_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(sz_cache, container_of(rcu, struct sz_flow, rcu));
}

/* Another congestion control, or the end. Also called without sz_init_sock(), on
 * listeners, and twice. Context: socket lock held.
 */
static void sz_release(struct sock *sk)
{
	struct sz_sock *ss = inet_csk_ca(sk);
	struct sz_flow *fl;

	if (!ss->active)
		return;
	ss->active = false;
	fl = sz_flow_of(sk);
	fl_sock_detach(sk, ss->fs);
	ss->fs = NULL;
	fl_tel_stop(sk, ss->tel);
	WRITE_ONCE(ss->tel, NULL);
	RCU_INIT_POINTER(ss->flow, NULL);
	if (fl) {
		call_rcu(&fl->rcu, sz_free_rcu);
		fl_give_back(sk);
	}
}

static struct tcp_congestion_ops tcp_soze __read_mostly = {
	.init		= sz_init_sock,
	.release	= sz_release,
	.ssthresh	= sz_ssthresh,
	.undo_cwnd	= sz_undo_cwnd,
	.cong_control	= sz_cong_control,
	.set_state	= sz_set_state,
	.cwnd_event	= sz_cwnd_event,
	.min_tso_segs	= sz_min_tso_segs,
	.get_info	= fl_diag_fill,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.owner		= THIS_MODULE,
	.name		= "soze",
};

static int __init sz_register(void)
{
	int err;

	sz_cache = KMEM_CACHE(sz_flow, SLAB_ACCOUNT);
	if (!sz_cache)
		return -ENOMEM;
	err = fl_cc_register(&tcp_soze, &sz_table);
	if (err)
		kmem_cache_destroy(sz_cache);
	return err;
}

static void __exit sz_unregister(void)
{
	fl_cc_unregister(&tcp_soze, &sz_table);
	/* flows are freed by RCU */
	rcu_barrier();
	kmem_cache_destroy(sz_cache);
}

module_init(sz_register);
module_exit(sz_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("Söze: weighted sharing by the largest queueing delay");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
