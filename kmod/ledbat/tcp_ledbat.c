// SPDX-License-Identifier: GPL-2.0
/*
 * LEDBAT for TCP (RFC 6817): sends while nobody else does, and yields when
 * packets begin to queue.
 *
 * The window control is ledbat/core/ledbat.c; this file measures delays and connects
 * with the stack.
 *
 * Delay: LEDBAT goes by the one-way delay, so that a queue on the way back is
 * not taken for one on the way there. An ACK's time stamp less the one that it
 * echoes is such a delay, in ticks of the hosts' time stamp clocks and with an
 * offset that the base delay contains, too. It is used where
 *
 *  - there are time stamps, and the peer's tick is ours (watched for a second),
 *  - four ticks fit into the target. Linux ticks every ms (us, where a route has
 *    the feature tcp_usec_ts): so for targets of 4 ms (4 us) and more.
 *
 * Otherwise the RTT serves, in ns. It bounds the one-way delay, too: see
 * fl_ledbat_queue_ns().
 *
 * Target: net.fairlane.research.ledbat_target_ns. With 0, the default, the PrioPlus
 * channel of the socket's priority (lib/channel.h), that of 1 for priority 0: what the
 * PrioPlus paper compares with (section 6: 4 to 32 us). The RFC's 100 ms is for
 * paths with queues that deep.
 *
 * ECN's CE counts as a loss, which is what RFC 3168 says of a control that does
 * not know better.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "lib/channel.h"
#include "ledbat/core/ledbat.h"
#include "fairlane/fl_drain.h"
#include "fairlane/fl_late.h"
#include "fairlane/fl_sock.h"
#include "fairlane/fl_trace.h"

/* So many ticks of a time stamp clock must fit into the target. */
#define LEDBAT_TICKS_MIN	4

/* What the RFC advises: GAIN is a packet in an RTT; ALLOWED_INCREASE, INIT_CWND and
 * MIN_CWND, packets.
 */
#define LEDBAT_ALLOWED_PKTS	1
#define LEDBAT_INIT_PKTS	2
#define LEDBAT_MIN_PKTS		2

/**
 * struct ledbat_settings - LEDBAT's settings (RFC 6817), /proc/sys/net/fairlane/
 * @ledbat_target_ns: TARGET, queueing delay, ns; 0 = the PrioPlus channel of the
 *	socket's priority, at least one channel
 */
struct ledbat_settings {
	u32 ledbat_target_ns;
};

static struct fl_setting ledbat_setting_table[] = {
	FL_RESEARCH_SETTING(struct ledbat_settings, ledbat_target_ns, 0, 0, 100000000),
};

static struct fl_settings ledbat_table = {
	.owner = KBUILD_MODNAME,
	.table = ledbat_setting_table,
	.count = ARRAY_SIZE(ledbat_setting_table),
};

static const struct ledbat_settings *ledbat_of(const struct fl_profile *pf)
{
	return fl_profile_part(pf, &ledbat_table);
}

/**
 * struct ledbat_flow - a flow
 * @at: what readers find it by
 * @fs: settings of the socket
 * @wnd: window, packets << FL_WND_SHIFT
 * @state: of the window control
 * @rtt: delay samples
 * @rtt_base: smallest RTTs of full packets, ns
 * @owd_base: smallest one-way delays, ticks
 * @clock: the peer's time stamp clock
 * @asked_ns: when the receiver was asked last, monotonic ns
 * @back_ns: when the windows came back after a turn of the clock, monotonic ns
 * @una: tp->snd_una at the last ACK
 * @base_ns: base RTT, ns; 0 = not known yet
 * @target_ns: target above it, ns
 * @delay_ns: last queueing delay and base RTT, ns, for those who ask
 * @gen: of profile and settings together that @gso_segs and @pkt_ns come from
 * @mss: the same, bytes
 * @pkt_ns: a full packet's time on the line, ns
 * @gso_segs: most segments in a packet
 * @slow: in slow start
 * @one_way: the last delay was one-way
 * @late: what is known of late ACKs, FL_LATE_NOT and so on
 * @drain: turns of the wall clock, at which all let the queue drain
 * @rcu: readers of ledbat_info() do not hold the socket lock
 */
struct ledbat_flow {
	struct fl_attached at;
	struct fl_sock *fs;
	u64 wnd;
	struct fl_ledbat_state state;
	struct fl_rtt rtt;
	struct fl_ledbat_base rtt_base;
	struct fl_ledbat_base owd_base;
	struct fl_ledbat_clock clock;
	u64 asked_ns;
	u64 back_ns;
	u32 una;
	u32 base_ns;
	u32 target_ns;
	u32 delay_ns;
	u32 gen;
	u32 pkt_ns;
	u16 mss;
	u8 gso_segs;
	bool slow;
	bool one_way;
	u8 late;
	struct fl_drain drain;
	struct rcu_head rcu;
};

/**
 * struct ledbat - what lies in the socket itself
 * @flow: the flow; NULL on listeners and without memory
 */
struct ledbat {
	struct ledbat_flow __rcu *flow;
};

/* The flow of a socket. Context: socket lock held. */
static struct ledbat_flow *ledbat_flow_of(struct sock *sk)
{
	const struct ledbat *lb = inet_csk_ca(sk);

	return rcu_dereference_protected(lb->flow, lockdep_sock_is_held(sk));
}

/* Target queueing delay, ns, at least 1. */
static u32 ledbat_target_ns(const struct sock *sk, const struct ledbat_flow *fl,
			    const struct fl_profile *pf)
{
	u32 target_ns = READ_ONCE(ledbat_of(pf)->ledbat_target_ns);

	return target_ns ?: fl_channel_ns(max_t(u32, fl_sock_prio(sk, fl->fs), 1),
					  READ_ONCE(pf->fluct_ns), READ_ONCE(pf->noise_ns),
					  fl->pkt_ns, fl->base_ns);
}

/* Queueing delay on the way there, ns, by time stamps; U32_MAX = cannot be told
 * from them. Context: an ACK's RTT was measured.
 */
static u32 ledbat_one_way(const struct sock *sk, struct ledbat_flow *fl,
			  u32 rtt_queue_ns)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 now_ns = tp->tcp_clock_cache;
	u32 tick_ns = fl_tcp_tick_ns(tp);
	u32 owd, base;

	if (!tp->rx_opt.saw_tstamp || !tp->rx_opt.rcv_tsecr)
		return U32_MAX;
	owd = tp->rx_opt.rcv_tsval - tp->rx_opt.rcv_tsecr;
	base = fl_ledbat_base_add(&fl->owd_base, now_ns, owd);
	if (fl_ledbat_watch(&fl->clock, now_ns, tp->rx_opt.rcv_tsval,
			    tick_ns) != FL_LEDBAT_TICKS ||
	    fl->target_ns / LEDBAT_TICKS_MIN < tick_ns)
		return U32_MAX;
	return fl_ledbat_queue_ns(owd, base, tick_ns, rtt_queue_ns);
}

/* What the window control calls the delay: base RTT and queueing delay, ns; 0 =
 * nothing is known. Context: ACK, socket lock held.
 */
static u32 ledbat_delay(const struct sock *sk, struct ledbat_flow *fl,
			const struct fl_profile *pf, u32 rtt_ns, bool full)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 queue_ns, one_way_ns, base_ns = fl->rtt_base.base;

	if (!rtt_ns)
		return 0;
	/* the history compares modulo 2^32 */
	rtt_ns = min_t(u32, rtt_ns, S32_MAX);
	if (full)
		base_ns = fl_ledbat_base_add(&fl->rtt_base,
					     tp->tcp_clock_cache, rtt_ns);
	fl->base_ns = fl_sock_base_rtt_ns(fl->fs, pf) ?: base_ns;
	if (!fl->base_ns)
		return 0;
	fl->target_ns = ledbat_target_ns(sk, fl, pf);
	queue_ns = rtt_ns > fl->base_ns ? rtt_ns - fl->base_ns : 0;
	one_way_ns = ledbat_one_way(sk, fl, queue_ns);
	fl->one_way = one_way_ns != U32_MAX;
	if (fl->one_way)
		queue_ns = one_way_ns;
	fl->delay_ns = fl->base_ns + queue_ns;
	return fl->delay_ns;
}

/* Packets no larger than noise and line allow. Context: socket lock held. */
static void ledbat_take_over(struct sock *sk, struct ledbat_flow *fl,
			     const struct fl_profile *pf)
{
	u32 gen = fl_settings_gen(fl->fs, pf);
	u16 mss = min_t(u32, tcp_sk(sk)->mss_cache, U16_MAX);

	if (gen != fl->gen || mss != fl->mss) {
		fl->gen = gen;
		fl->mss = mss;
		fl->gso_segs = fl_sock_gso_segs(sk, pf,
						fl_sock_line_bps(sk, fl->fs, pf,
								 false));
		fl->pkt_ns = fl_pkt_ns(fl_sock_line_bps(sk, fl->fs, pf, true), fl_wire_bytes(sk));
	}
	fl_take_over(sk, fl->gso_segs);
}

static const struct fl_cc ledbat_cc;

/* What the flow does, for the control plane. Context: RCU, socket not locked. */
static void ledbat_info(struct sock *sk, const struct fl_attached *at,
			struct fl_info *info)
{
	const struct ledbat_flow *fl = container_of(at, struct ledbat_flow, at);
	u32 base_ns;
	u64 wnd;

	if (at == &ledbat_cc.none)
		return;
	base_ns = READ_ONCE(fl->base_ns);
	info->state = base_ns ? FL_STATE_SENDING : FL_STATE_START;
	if (!info->base_rtt_ns && base_ns) {
		info->base_rtt_ns = base_ns;
		info->base_rtt_from = FL_FROM_MEASURED;
	}
	if (base_ns)
		info->target_ns = base_ns + READ_ONCE(fl->target_ns);
	info->delay_ns = READ_ONCE(fl->delay_ns);
	wnd = min_t(u64, READ_ONCE(fl->wnd), 1ULL << 44);
	info->window_milli = (wnd * 1000) >> FL_WND_SHIFT;
	if (info->base_rtt_ns)
		info->rate_bps = fl_wnd_bps(wnd, fl_mss_seen(sk), info->base_rtt_ns);
}

static const struct fl_cc ledbat_cc = {
	.none = { .cc = &ledbat_cc },
	.name = "ledbat",
	.info = ledbat_info,
};

/* Set up a flow. Context: any, socket lock held. Without memory, the socket
 * goes on with the window it has and a later ACK tries again.
 */
static void ledbat_adopt(struct sock *sk)
{
	struct ledbat *lb = inet_csk_ca(sk);
	const struct fl_profile *pf;
	struct ledbat_flow *fl;

	fl = kzalloc(sizeof(*fl),
		     GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!fl)
		return;
	fl->fs = fl_sock_attach(sk, &ledbat_cc);
	pf = fl_profile_for(sk, fl->fs);
	fl->una = tcp_sk(sk)->snd_una;
	fl->slow = true;
	fl->wnd = (u64)LEDBAT_INIT_PKTS << FL_WND_SHIFT;
	fl_ledbat_ops.init(&fl->state, ktime_get_ns());
	fl->gen = fl_settings_gen(fl->fs, pf) - 1;
	ledbat_take_over(sk, fl, pf);
	rcu_assign_pointer(lb->flow, fl);
	fl->at.cc = &ledbat_cc;
	fl_sock_show(fl->fs, &fl->at);
	fl_apply_wnd(sk, fl->wnd, 0, 0);
}

/* Context: any, socket lock held; handshake complete. */
static void ledbat_init(struct sock *sk)
{
	struct ledbat *lb = inet_csk_ca(sk);

	BUILD_BUG_ON(sizeof(struct ledbat) > ICSK_CA_PRIV_SIZE);
	RCU_INIT_POINTER(lb->flow, NULL);
	ledbat_adopt(sk);
}

/* The limits of the RFC as those of the window control. flight: packets that
 * were not acknowledged before this ACK. The stack keeps back less than a train of
 * what the window allows: that is used as well. They bound growth alone: at the end of each
 * message a packet or two are in flight, and with that for a bound the next one would begin
 * with three.
 */
static void ledbat_limits(const struct ledbat_flow *fl, u32 flight,
			  struct fl_target *t)
{
	u64 max_pkts = flight;

	max_pkts += fl->slow ? flight :
			       fl->gso_segs - 1 + LEDBAT_ALLOWED_PKTS;
	t->min_wnd = (u64)LEDBAT_MIN_PKTS << FL_WND_SHIFT;
	t->max_wnd = max_t(u64, max_t(u64, max_pkts, LEDBAT_MIN_PKTS) << FL_WND_SHIFT, fl->wnd);
	t->base_ns = fl->base_ns;
	t->target_ns = fl->base_ns + fl->target_ns;
	t->ai_wnd = FL_WND_ONE;
}

/* Is the delay the receiver's? Until what is sent from now on is acknowledged nothing is known.
 * Context: ACK, socket lock held.
 */
static void ledbat_doubt(struct sock *sk, struct ledbat_flow *fl, struct fl_sample *s,
			 u32 target_ns)
{
	bool fresh = s->now_ns - s->delay_ns >= fl->asked_ns;

	fl->late = fl_late_next(sk, fl->late, s->delay_ns, target_ns, fresh, false);
	if (fl->late == FL_LATE_ASK) {
		fl->asked_ns = s->now_ns;
		if (tcp_sk(sk)->packets_out)
			fl->late = fl_late_sends(sk, fl->late);
	}
	if (fl->late && s->now_ns - s->delay_ns < fl->asked_ns)
		s->delay_ns = 0;
}

/* A flow that begins while others keep a queue takes the queue for its path (RFC 6817 names that
 * the latecomer's advantage). So all flows let the queue drain together from time to time
 * (fl_drain.c), where nobody has given the base RTT.
 * @rtt_ns: the RTT of full packets, ns; 0 = none. Context: ACK, socket lock held.
 */
static void ledbat_turn(struct sock *sk, struct ledbat_flow *fl, const struct fl_profile *pf,
			struct fl_sample *s, u32 rtt_ns)
{
	if (fl->drain.on) {
		rtt_ns = fl_drain_seen(sk, &fl->drain, s, &fl->rtt, rtt_ns, fl->pkt_ns,
				       &fl->back_ns);
		if (rtt_ns)
			fl_ledbat_base_add(&fl->rtt_base, s->now_ns, rtt_ns);
	} else if (fl_drain_due(sk, &fl->drain, fl->wnd) && !fl_sock_base_rtt_ns(fl->fs, pf)) {
		/* the queue is as long as the target */
		fl->drain.more = fl_drain_more(fl->base_ns + fl->target_ns, fl->pkt_ns);
		fl_drain_begin(sk, &fl->drain, fl->pkt_ns, &fl->back_ns);
	}
	if (fl->drain.on || s->now_ns - s->delay_ns < fl->back_ns)
		s->delay_ns = 0;
}

/* Context: each ACK of new data, softirq or backlog, socket lock held. */
static void ledbat_cong_control(FL_CONG_CONTROL_ARGS)
{
	struct ledbat_flow *fl = ledbat_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct fl_sample s = {
		.now_ns = tp->tcp_clock_cache,
		.acked_pkts = rs->acked_sacked,
		/* a message that ends a packet or two above the window has waited for it, too */
		.wnd_limited = !rs->is_app_limited || tp->is_cwnd_limited,
	};
	const struct fl_profile *pf;
	struct fl_target t;
	u32 rtt_ns;
	bool full;

	if (!fl) {
		/* the ACK of our SYN comes before ledbat_init() */
		if (inet_csk(sk)->icsk_ca_initialized)
			ledbat_adopt(sk);
		return;
	}
	pf = fl_profile_for(sk, fl->fs);
	full = fl_full_packets(sk, fl_acked_bytes(sk, &fl->una), s.acked_pkts);
	rtt_ns = fl_rtt_sample(sk, &fl->rtt, rs);
	s.delay_ns = ledbat_delay(sk, fl, pf, rtt_ns, full);
	ledbat_turn(sk, fl, pf, &s, full ? rtt_ns : 0);
	ledbat_limits(fl, tp->packets_out + s.acked_pkts, &t);
	if (s.delay_ns)
		ledbat_doubt(sk, fl, &s, t.target_ns);
	if (fl->slow && !fl->drain.on)
		fl->slow = fl_ledbat_slow_start(&fl->state, &t, &fl->wnd, &s);
	else if (!fl->slow)
		fl_ledbat_ops.on_ack(&fl->state, &t, &fl->wnd, &s);
	trace_fl_delay_update(sk, s.delay_ns, t.target_ns,
			      (fl->wnd * 1000) >> FL_WND_SHIFT);
	fl_apply_wnd(sk, fl->drain.on ? FL_DRAIN_WND : fl->wnd, 0, fl->base_ns);
	ledbat_take_over(sk, fl, pf);
	fl_rtt_remember(sk, &fl->rtt);
}

static void ledbat_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct ledbat_flow *fl = ledbat_flow_of(sk);

	if (!fl || event != CA_EVENT_TX_START)
		return;
	fl_smaller_path(sk);
	fl->late = fl_late_sends(sk, fl->late);
}

/* Losses and marks. Context: socket lock held. */
static void ledbat_set_state(struct sock *sk, u8 new_state)
{
	struct ledbat_flow *fl = ledbat_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct fl_target t = {};

	if (!fl || (new_state != TCP_CA_CWR && new_state != TCP_CA_Recovery &&
		    new_state != TCP_CA_Loss))
		return;
	t.min_wnd = (u64)LEDBAT_MIN_PKTS << FL_WND_SHIFT;
	fl->slow = false;
	fl_ledbat_ops.on_loss(&fl->state, &t, &fl->wnd, tp->tcp_clock_cache,
			      min_t(u64, (u64)(tp->srtt_us >> 3) * NSEC_PER_USEC,
				    U32_MAX),
			      new_state == TCP_CA_Loss ? FL_LOSS_TIMEOUT :
							 FL_LOSS_FAST);
}

/* Required by the stack; the window is set in cong_control alone. */
static u32 ledbat_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static u32 ledbat_undo_cwnd(struct sock *sk)
{
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), 1);
}

static u32 ledbat_min_tso_segs(struct sock *sk)
{
	return 1;
}

/* Another congestion control, or the end. Also called without ledbat_init(), on
 * listeners, and twice. Context: socket lock held.
 */
static void ledbat_release(struct sock *sk)
{
	struct ledbat *lb = inet_csk_ca(sk);
	struct ledbat_flow *fl = ledbat_flow_of(sk);

	if (!fl)
		return;
	RCU_INIT_POINTER(lb->flow, NULL);
	fl_sock_detach(sk, fl->fs);
	fl_give_back(sk);
	kfree_rcu(fl, rcu);
}

static struct tcp_congestion_ops tcp_ledbat __read_mostly = {
	.init		= ledbat_init,
	.release	= ledbat_release,
	.ssthresh	= ledbat_ssthresh,
	.undo_cwnd	= ledbat_undo_cwnd,
	.cong_control	= ledbat_cong_control,
	.set_state	= ledbat_set_state,
	.cwnd_event	= ledbat_cwnd_event,
	.min_tso_segs	= ledbat_min_tso_segs,
	.get_info	= fl_diag_fill,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.owner		= THIS_MODULE,
	.name		= "ledbat",
};

static int __init ledbat_register(void)
{
	return fl_cc_register(&tcp_ledbat, &ledbat_table);
}

static void __exit ledbat_unregister(void)
{
	fl_cc_unregister(&tcp_ledbat, &ledbat_table);
}

module_init(ledbat_register);
module_exit(ledbat_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("LEDBAT: background transport that yields to any queue");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
