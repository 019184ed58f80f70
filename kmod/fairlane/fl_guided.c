// SPDX-License-Identifier: GPL-2.0
/*
 * What the congestion controls that are guided by telemetry have in common: their callbacks,
 * and Reno where nothing is told. fl_guided.h explains it.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "fl_guided.h"

/* Without an echo for so many RTTs, and FL_GUIDED_LOST_PKTS: fall back. */
#define FL_GUIDED_LOST_RTTS	8
/* Flows with no more in flight have nothing to hold back. */
#define FL_GUIDED_FEW_PKTS	(2 * FL_GUIDED_DIP_PKTS)
/* Nothing sent for so many RTTs: the rate is old. */
#define FL_GUIDED_IDLE_RTTS	16

static const struct fl_guided_ops *fl_guided_ops_of(const struct fl_guided *g)
{
	return container_of(g->at.cc, struct fl_guided_ops, cc);
}

/* Bytes on the line a second of a window in an RTT. */
static u64 fl_guided_rate_of(const struct sock *sk, u32 pkts, u32 rtt_ns)
{
	return div_u64((u64)min_t(u32, pkts, BIT(17)) * fl_wire_bytes(sk) * NSEC_PER_SEC,
		       max_t(u32, rtt_ns, 1000));
}

/**
 * fl_guided_begin() - the first echo (again): go on with what is sent now
 * @sk: the socket; caller holds its lock
 * @g: its flow
 * @rtt_ns: its RTT
 *
 * Return: what is sent, bytes on the line a second.
 */
u64 fl_guided_begin(struct sock *sk, struct fl_guided *g, u32 rtt_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 pkts = min_t(u32, tcp_snd_cwnd(tp),
			 max_t(u32, tcp_packets_in_flight(tp), TCP_INIT_CWND));

	WRITE_ONCE(g->telling, true);
	g->ever = true;
	WRITE_ONCE(tp->snd_ssthresh, TCP_INFINITE_SSTHRESH);
	return fl_guided_rate_of(sk, pkts, rtt_ns);
}
EXPORT_SYMBOL_GPL(fl_guided_begin);

/* Reno from here on, until an echo comes. */
static void fl_guided_fall_back(struct sock *sk, struct fl_guided *g)
{
	struct tcp_sock *tp = tcp_sk(sk);

	WRITE_ONCE(g->telling, false);
	WRITE_ONCE(tp->snd_ssthresh, max_t(u32, tcp_snd_cwnd(tp), 2));
	fl_tel_note_fallback(sk);
}

/* Reno, as far as it concerns ACKs, which alone bound it: the stack leaves the pace to controls
 * like these. Context: socket lock held.
 */
void fl_guided_reno_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 acked = max_t(s32, rs->acked_sacked, 0);

	fl_unpace(sk);
	if (!acked || inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery ||
	    inet_csk(sk)->icsk_ca_state == TCP_CA_CWR || !tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}
EXPORT_SYMBOL_GPL(fl_guided_reno_ack);

/* No echo with this ACK. Round trips are counted by what is acknowledged: by the clock, ACKs that a
 * busy host handles late and one by one, whose echo the first of them has taken, were many of them.
 * Context: socket lock held.
 */
void fl_guided_unheard(struct sock *sk, struct fl_guided *g, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 were_pkts = g->unheard_pkts;

	g->unheard_pkts = min_t(u32, were_pkts + max_t(s32, rs->acked_sacked, 0), U16_MAX);
	if (!g->telling) {
		if (!g->ever && were_pkts <= FL_GUIDED_LOST_PKTS &&
		    g->unheard_pkts > FL_GUIDED_LOST_PKTS)
			fl_tel_note_fallback(sk);
		return;
	}
	if (after(tp->snd_una, g->unheard_seq)) {
		g->unheard_seq = tp->snd_nxt;
		g->unheard_rtts = min(g->unheard_rtts + 1, U8_MAX);
	}
	if (g->unheard_pkts > FL_GUIDED_LOST_PKTS && g->unheard_rtts >= FL_GUIDED_LOST_RTTS)
		fl_guided_fall_back(sk, g);
}
EXPORT_SYMBOL_GPL(fl_guided_unheard);

/* Losses and CE marks, once for each recovery. Context: socket lock held. */
void fl_guided_set_state(struct sock *sk, u8 new_state)
{
	struct fl_guided *g = fl_guided_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (new_state != TCP_CA_Recovery && new_state != TCP_CA_Loss &&
	    new_state != TCP_CA_CWR)
		return;
	if (g && new_state != TCP_CA_CWR)
		g->lossy = fl_losses_many(&g->losses, tp->delivered, tp->lost,
					  (u32)tp->tcp_mstamp);
	if (g && g->telling) {
		fl_guided_ops_of(g)->cut(sk, g, new_state);
		fl_guided_ops_of(g)->apply(sk, inet_csk_ca(sk), g);
	} else if (new_state != TCP_CA_Loss) {
		/* after a timeout the stack has set both */
		fl_snd_cwnd_set(tp, max_t(u32, tcp_snd_cwnd(tp) >> 1, 2));
		WRITE_ONCE(tp->snd_ssthresh, tcp_snd_cwnd(tp));
	}
}
EXPORT_SYMBOL_GPL(fl_guided_set_state);

/* An ACK in a recovery. Context: socket lock held. */
void fl_guided_recovers(struct sock *sk, struct fl_guided *g)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (fl_losses_last(&g->losses, tp->delivered, tp->lost, tp->tcp_mstamp, tp->srtt_us >> 3))
		fl_guided_set_state(sk, TCP_CA_Recovery);
}
EXPORT_SYMBOL_GPL(fl_guided_recovers);

/**
 * fl_guided_renew() - a window of the smallest RTT ends, or there is a dip (lib/renew.h)
 * @sk: the socket; caller holds its lock
 * @g: its flow
 *
 * Reno keeps a queue and bounds nothing by that RTT. Context: ACK. Return: the smallest RTT
 * from now on, ns.
 */
u32 fl_guided_renew(const struct sock *sk, struct fl_guided *g)
{
	u32 own_pkts = tcp_packets_in_flight(tcp_sk(sk));
	struct fl_renew *r = &g->renew;
	u64 now_ns = g->ack_ns;

	if (!g->telling || g->set_base_ns || g->base_ns == U32_MAX) {
		memset(r, 0, sizeof(*r));
		r->turn_ns = now_ns + BIT_ULL(FL_RENEW_WINDOW_SHIFT);
		return g->base_ns;
	}
	if (r->dip_end_ns) {
		if (now_ns < r->dip_end_ns || fl_guided_draining(sk, g))
			return g->base_ns;
		return fl_renew_dipped(r, g->base_ns);
	}
	g->dip_seq = tcp_sk(sk)->snd_nxt;
	own_pkts = own_pkts > FL_GUIDED_FEW_PKTS ? own_pkts - FL_GUIDED_DIP_PKTS : 0;
	return fl_renew_turn(r, g->base_ns, min_t(u64, U32_MAX, (u64)own_pkts * g->hold.packet_ns),
			     now_ns, ktime_to_ns(ktime_mono_to_real(ns_to_ktime(now_ns))));
}
EXPORT_SYMBOL_GPL(fl_guided_renew);

/* From packet to packet at the rate: a light flow that sends one in many RTTs is not silent. */
static u64 fl_guided_gap_ns(const struct sock *sk)
{
	u64 rate = max_t(u64, READ_ONCE(sk->sk_pacing_rate), 1);

	return div64_u64((u64)tcp_sk(sk)->mss_cache * NSEC_PER_SEC, rate);
}

/* What to send at after a pause, bytes on the line a second. As the stack has it for controls that
 * leave the window to it (tcp_cwnd_restart()), the rate that the flow had halves with each RTO, and
 * is the initial window in an RTT at least. It is half of the line at most: others may come back at
 * the same time, and in a round trip the ports tell all of them what is there
 * (Documentation/design/hpcc.rst, "Questions after pauses"). Context: socket lock held.
 */
static u64 fl_guided_resume_rate(const struct sock *sk, u64 idle_ns, u32 rtt_ns)
{
	u64 rto_ns = (u64)jiffies_to_usecs(inet_csk(sk)->icsk_rto) * NSEC_PER_USEC;
	u64 halvings = div64_u64(idle_ns, max_t(u64, rto_ns, 1));
	const struct fl_guided_sock *gs = inet_csk_ca(sk);
	u64 line_bps = fl_sock_line_bps(sk, gs->fs, fl_profile_for(sk, gs->fs), false);
	u64 rate = min_t(u64, READ_ONCE(sk->sk_pacing_rate), line_bps / BITS_PER_BYTE);

	rate = mul_u64_u32_div(rate, fl_wire_bytes(sk), max_t(u32, tcp_sk(sk)->mss_cache, 1));
	rate = min_t(u64, rate, line_bps / (2 * BITS_PER_BYTE)) >> min_t(u64, halvings, 63);
	return max_t(u64, rate, fl_guided_rate_of(sk, TCP_INIT_CWND, rtt_ns));
}

/* After a pause the rate says less. Context: socket lock held. */
void fl_guided_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct fl_guided *g = fl_guided_of(sk);
	const struct fl_guided_ops *ops;
	u64 now_ns, rate;
	u32 rtt_ns;

	if (event != CA_EVENT_TX_START || !g)
		return;
	fl_smaller_path(sk);
	if (!g->telling)
		return;
	now_ns = tcp_sk(sk)->tcp_clock_cache;
	ops = fl_guided_ops_of(g);
	rtt_ns = ops->rtt_ns(g);
	if (now_ns - g->ack_ns < (u64)FL_GUIDED_IDLE_RTTS * rtt_ns)
		return;
	if (ops->slow &&
	    now_ns - g->ack_ns < (u64)FL_GUIDED_IDLE_RTTS * (rtt_ns + fl_guided_gap_ns(sk)))
		return;
	if (ops->forgets && ops->forgets(g))
		rate = fl_guided_rate_of(sk, TCP_INIT_CWND, rtt_ns);
	else
		rate = fl_guided_resume_rate(sk, now_ns - g->ack_ns, rtt_ns);
	ops->restart(g, now_ns, rate);
	/* silence was not the path's fault */
	fl_guided_count_anew(sk, g);
	ops->apply(sk, inet_csk_ca(sk), g);
}
EXPORT_SYMBOL_GPL(fl_guided_cwnd_event);

/* Reno's; the control's window is set with each ACK. */
u32 fl_guided_ssthresh(struct sock *sk)
{
	const struct fl_guided *g = fl_guided_of(sk);

	if (g && g->telling)
		return TCP_INFINITE_SSTHRESH;
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)) >> 1, 2);
}
EXPORT_SYMBOL_GPL(fl_guided_ssthresh);

u32 fl_guided_undo_cwnd(struct sock *sk)
{
	const struct fl_guided *g = fl_guided_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (g && g->telling)
		return max_t(u32, tcp_snd_cwnd(tp), 1);
	return max(tcp_snd_cwnd(tp), tp->prior_cwnd);
}
EXPORT_SYMBOL_GPL(fl_guided_undo_cwnd);

u32 fl_guided_min_tso_segs(struct sock *sk)
{
	return 1;
}
EXPORT_SYMBOL_GPL(fl_guided_min_tso_segs);

/* A new weight acts now, not with the next ACK. Context: socket lock held. */
void fl_guided_changed(struct sock *sk)
{
	const struct fl_guided_sock *gs = inet_csk_ca(sk);
	struct fl_guided *g = fl_guided_of(sk);
	const struct fl_guided_ops *ops;

	if (!g || !g->telling)
		return;
	ops = fl_guided_ops_of(g);
	fl_guided_refresh(sk, gs, g, fl_profile_for(sk, gs->fs), ops);
	ops->apply(sk, gs, g);
}
EXPORT_SYMBOL_GPL(fl_guided_changed);

/* The border router has told of the way to it, without an ACK. Context: socket lock held. */
void fl_guided_told(struct sock *sk)
{
	const struct fl_guided_sock *gs = inet_csk_ca(sk);
	struct fl_guided *g = fl_guided_of(sk);
	const struct fl_guided_ops *ops;

	if (!g || !gs->tel)
		return;
	ops = fl_guided_ops_of(g);
	/* the next ACK does not say it again */
	g->nears = READ_ONCE(gs->tel->nears);
	if (!ops->near(sk, gs, g))
		return;
	ops->apply(sk, gs, g);
	if (tcp_send_head(sk) && tcp_snd_cwnd(tcp_sk(sk)) > tcp_packets_in_flight(tcp_sk(sk)))
		fl_send_soon(sk);
}
EXPORT_SYMBOL_GPL(fl_guided_told);

/* What the flow does, for the control plane. Context: RCU, not locked. */
void fl_guided_info(struct sock *sk, const struct fl_attached *at, struct fl_info *info)
{
	const struct fl_guided *g = container_of(at, struct fl_guided, at);
	u32 base_ns;
	bool telling;

	if (at == &at->cc->none) {
		info->state = FL_STATE_FALLBACK;
		return;
	}
	telling = READ_ONCE(g->telling);
	info->state = telling ? FL_STATE_SENDING :
		      !g->has_tel || fl_guided_is_reno(g) ?
		      FL_STATE_FALLBACK : FL_STATE_START;
	if (g->has_tel)
		info->flags |= FL_INFO_TELEMETRY_SENT;
	base_ns = READ_ONCE(g->base_ns);
	if (!info->base_rtt_ns && base_ns != U32_MAX) {
		info->base_rtt_ns = base_ns;
		info->base_rtt_from = FL_FROM_MEASURED;
	}
	if (telling) {
		info->flags |= FL_INFO_TELEMETRY;
		fl_guided_ops_of(g)->info(g, info);
	}
	info->window_milli = 1000ULL * fl_snd_cwnd_seen(sk);
	info->telemetry_rx = READ_ONCE(g->echoes);
	info->updates = READ_ONCE(g->updates);
}
EXPORT_SYMBOL_GPL(fl_guided_info);

/**
 * fl_guided_init_sk() - the init callback of a control
 * @sk: the socket; caller holds its lock
 * @ops: the control's
 *
 * Context: any.
 */
void fl_guided_init_sk(struct sock *sk, const struct fl_guided_ops *ops)
{
	struct fl_guided_sock *gs = inet_csk_ca(sk);
	const struct fl_profile *pf;
	struct fl_guided *g;

	BUILD_BUG_ON(sizeof(*gs) > ICSK_CA_PRIV_SIZE);
	memset(gs, 0, sizeof(*gs));
	gs->active = true;
	/* the last control's rate may be one of a connection that had just begun */
	fl_unpace(sk);
	gs->fs = fl_sock_attach(sk, &ops->cc);
	pf = fl_profile_for(sk, gs->fs);
	g = kmem_cache_zalloc(*ops->cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!g)
		return;
	gs->tel = fl_tel_start(sk, ops->format);
	if (gs->tel)
		g->echoes = READ_ONCE(gs->tel->echoes);
	else
		fl_tel_note_fallback(sk);
	if (gs->tel && ops->border) {
		g->tells = READ_ONCE(gs->tel->tells);
		g->nears = READ_ONCE(gs->tel->nears);
	}
	g->has_tel = gs->tel;
	g->base_ns = U32_MAX;
	g->una = tcp_sk(sk)->snd_una;
	g->gen = fl_settings_gen(gs->fs, pf) - 1;
	g->at.cc = &ops->cc;
	fl_guided_refresh(sk, gs, g, pf, ops);
	fl_guided_train(g, gs->tel ? 1 : FL_TRAIN_MAX_SEGS);
	fl_take_over(sk, g->gso_segs);
	if (tcp_snd_cwnd(tcp_sk(sk)) < 2)
		fl_snd_cwnd_set(tcp_sk(sk), 2);
	rcu_assign_pointer(gs->flow, g);
	fl_sock_show(gs->fs, &g->at);
}
EXPORT_SYMBOL_GPL(fl_guided_init_sk);

/* Context: RCU callback. */
static void fl_guided_free_rcu(struct rcu_head *rcu)
{
	struct fl_guided *g = container_of(rcu, struct fl_guided, rcu);

	kmem_cache_free(*fl_guided_ops_of(g)->cache, g);
}

/**
 * fl_guided_release() - the release callback: another control, or the end
 * @sk: the socket; caller holds its lock
 *
 * Also called without fl_guided_init_sk(), on listeners, and twice.
 */
void fl_guided_release(struct sock *sk)
{
	struct fl_guided_sock *gs = inet_csk_ca(sk);
	struct fl_guided *g;

	if (!gs->active)
		return;
	gs->active = false;
	g = fl_guided_of(sk);
	fl_sock_detach(sk, gs->fs);
	gs->fs = NULL;
	fl_tel_stop(sk, gs->tel);
	WRITE_ONCE(gs->tel, NULL);
	RCU_INIT_POINTER(gs->flow, NULL);
	if (g) {
		call_rcu(&g->rcu, fl_guided_free_rcu);
		fl_give_back(sk);
	}
}
EXPORT_SYMBOL_GPL(fl_guided_release);

/**
 * fl_guided_register() - a module brings a control and its settings
 * @ca: the control
 * @table: its settings
 * @ops: what distinguishes it
 *
 * Context: process, module load. Return: 0 or a negative errno, then nothing is there.
 */
int fl_guided_register(struct tcp_congestion_ops *ca, struct fl_settings *table,
		       const struct fl_guided_ops *ops)
{
	int err;

	*ops->cache = kmem_cache_create(ops->flow_name, ops->flow_bytes, 0, SLAB_ACCOUNT, NULL);
	if (!*ops->cache)
		return -ENOMEM;
	err = fl_cc_register(ca, table);
	if (err)
		kmem_cache_destroy(*ops->cache);
	return err;
}
EXPORT_SYMBOL_GPL(fl_guided_register);

/* Takes all of it away. No socket has the control any more. Context: module unload. */
void fl_guided_unregister(struct tcp_congestion_ops *ca, struct fl_settings *table,
			  const struct fl_guided_ops *ops)
{
	fl_cc_unregister(ca, table);
	/* flows are freed by RCU */
	rcu_barrier();
	kmem_cache_destroy(*ops->cache);
}
EXPORT_SYMBOL_GPL(fl_guided_unregister);
