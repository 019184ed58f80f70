// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus for TCP: virtual priorities in one queue.
 *
 * The algorithm is core/prioplus.c; this file connects it with the stack, and
 * pp_probe.c sends the probes.
 *
 *	       first write                    delay > D_limit
 *	init ----------------> STOPPED <------------------------ SENDING
 *			       |  ^  |                              ^
 *			 probe |  |  | echo: delay > D_limit        |
 *			       +--+  +------------------------------+
 *				       echo: delay below D_limit
 *
 * STOPPED is snd_cwnd = 0, written directly (tcp_snd_cwnd_set() warns) and
 * again in every callback, since the stack raises it in some (tcp_enter_loss).
 * Having cong_control is what keeps the stack from using cwnd otherwise:
 * no PRR, no slow start after idle, no pacing rate of its own. Packets in
 * flight drain; their ACKs change nothing. Should all probes be lost, the
 * stack's zero window probe timer sends data after 200 ms and more.
 *
 * Resuming happens in the ACK of the echo; the stack sends in the same
 * softirq. Data that was in flight when the flow stopped and is still not
 * acknowledged by an echo that was sent after it, is lost; cwnd is raised by
 * it until snd_una passes, so that new data leaves and draws the SACKs that
 * RACK needs.
 *
 * The virtual priority is what is set on the socket (fl_sock.h), 0 the lowest;
 * changes on a live socket act with the next ACK or echo, SO_PRIORITY within an
 * RTT.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "ledbat/core/ledbat.h"
#include "swift/core/swift.h"
#include "prioplus/core/pp_weight.h"
#include "fairlane/fl_owd.h"
#include "fairlane/fl_segment.h"
#include "pp_flow.h"

/* A flow that sent nothing for this many base RTTs probes before it sends. */
#define PP_IDLE_RTTS		16

/* Flows with less do not let the queue drain: they have next to none of it. */
#define PP_DIP_PKTS		2

/* So many looks agree on the number of links, and within this part of a packet, 1 / this: see
 * pp_see_links().
 */
#define PP_LINKS_SAME		16
#define PP_LINKS_SAME_PART	8

static struct tcp_congestion_ops tcp_prioplus_ledbat;

/* Take in new base RTTs, priority and settings. @pf: the profile; @delay_ns, @probe_delay_ns:
 * delay of a full packet or a probe just measured, ns; 0 = none. Context: socket lock held.
 */
static void pp_refresh(struct pp_flow *fl, const struct fl_profile *pf, u32 delay_ns,
		       u32 probe_delay_ns)
{
	u8 prio = fl_sock_prio(fl->sk, fl->fs);
	u32 gen = fl_settings_gen(fl->fs, pf), held_ns = pp_base_rtt(fl)->held_ns;
	bool changed = gen != fl->gen || prio != fl->prio;
	u16 mss;

	if (gen != fl->gen &&
	    fl_owd_want(fl->sk, &fl->tel, READ_ONCE(pf->owd)))
		fl->extra_ns = 0;
	mss = min_t(u32, tcp_sk(fl->sk)->mss_cache, U16_MAX);
	changed |= mss != fl->mss;

	changed |= fl_base_rtt_learn(fl->sk, pp_base_rtt(fl),
				 tcp_sk(fl->sk)->tcp_clock_cache, delay_ns,
				 probe_delay_ns);
	if (unlikely(fl->longer_ns))
		changed |= pp_is_shorter(fl, delay_ns, probe_delay_ns);
	fl->rare |= changed || pp_base_rtt(fl)->turned;
	if (!changed)
		return;
	if (prio != fl->prio)
		pp_move(&fl->core, prio > fl->prio);
	/* of packets of another length; 0 only asks for this look */
	if (fl->mss && mss != fl->mss) {
		fl->links_ns = 0;
		fl->links_seen_ns = 0;
	}
	fl->gen = gen;
	fl->mss = mss;
	fl->prio = prio;
	/* without memory, again with the next look */
	if (!pp_configure(fl, pf))
		fl->gen--;
	/* what a silence has seen belongs to the narrower channel */
	if (fl->chan && pp_base_rtt(fl)->held_ns > held_ns)
		pp_silence_begins(fl);
}

/* How many links are there? The first packet after a probe meets what the probe met: what the
 * packet takes longer is its time on each link. Where other flows begin as well the packet meets
 * theirs, too, and at the next start other ones. So a time, the shortest since the start, counts
 * when the next start finds it again within a packet's time, or PP_LINKS_SAME looks in a row: with
 * less than two packets in flight, or within a part of a packet, which no queue is. A peer that
 * delays its ACKs can make it any number for this flow: no more than the shortest delay of a full
 * packet says, and nobody else is told. See pp_met_nothing(), too.
 * Context: ACK, socket lock held.
 */
static noinline void pp_see_links(struct pp_flow *fl, u32 data_ns)
{
	u32 more_ns = data_ns - min_t(u32, data_ns, fl->resumed_ns);
	s32 off_ns = more_ns - fl->links_seen_ns;
	u64 off_wnd = fl_ns_to_wnd(fl->chan->ppn, abs(off_ns));
	bool again = more_ns && fl->links_seen_ns && off_wnd <= FL_WND_ONE;

	if (fl->resumed) {
		fl->links_seen_ns = more_ns;
		fl->links_same = 0;
		fl->resumed = 0;
	} else if (again && (fl->core.wnd < 2 * FL_WND_ONE ||
			     off_wnd <= FL_WND_ONE / PP_LINKS_SAME_PART)) {
		again = ++fl->links_same == PP_LINKS_SAME;
	} else {
		again = false;
		fl->links_same = 0;
		if (more_ns && off_ns < 0)
			fl->links_seen_ns = more_ns;
	}
	if (!again || (fl->links_ns && fl->links_ns <= more_ns))
		return;
	fl->links_ns = more_ns;
	fl->mss = 0; /* for pp_refresh() to look again */
}

/* Losses. Context: socket lock held, softirq or timer. */
static void pp_set_state(struct sock *sk, u8 new_state)
{
	struct pp_flow *fl = pp_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window_pkts;
	bool many;

	if (!fl || (new_state != TCP_CA_Recovery && new_state != TCP_CA_Loss))
		return;
	/* on a path that is dead nothing is in flight; the next ACK tells more */
	if (new_state == TCP_CA_Loss)
		pp_kin_tell(fl, 0, 0);
	window_pkts = min_t(u64, tp->packets_out, fl->core.wnd >> FL_WND_SHIFT);
	pp_on_loss(&fl->core, fl->chan, ktime_get_ns(),
		   (tp->srtt_us >> 3) * NSEC_PER_USEC,
		   new_state == TCP_CA_Loss ? FL_LOSS_TIMEOUT : FL_LOSS_FAST);
	many = fl_losses_many(&fl->losses, tp->delivered, tp->lost, (u32)tp->tcp_mstamp);
	fl_losses_cut(&fl->losses, many, window_pkts);
	fl->rare |= !!fl->losses.most_pkts;
	/* tcp_enter_loss() has given a window to a flow that must not send */
	if (fl->core.stopped)
		pp_apply(fl);
}

/* An ACK in a recovery. Context: socket lock held. */
static void pp_recovers(struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);

	if (!fl->core.stopped && fl_losses_last(&fl->losses, tp->delivered, tp->lost,
						tp->tcp_mstamp, tp->srtt_us >> 3))
		pp_set_state(fl->sk, TCP_CA_Recovery);
}

/* What a flow that sends has in flight, for its kin: its window, unless the application gives less.
 * Context: ACK, socket lock held.
 */
static u32 pp_has_q8(const struct pp_flow *fl, const struct rate_sample *rs)
{
	u32 has_q8 = fl->core.wnd >> PP_WND_TO_KIN_SHIFT;

	if (!rs->is_app_limited)
		return has_q8;
	return min_t(u32, has_q8, (tcp_sk(fl->sk)->packets_out + max_t(s32, rs->acked_sacked, 0))
		     << PP_KIN_SHIFT);
}

/* Once an RTT, or at once where it cannot wait: a base RTT below all that is known,
 * or a turn of windows. @full_ns: delay of this ACK if it is of full packets, ns; 0 =
 * it is not. Context: ACK, socket lock held.
 */
static noinline void pp_look(struct pp_flow *fl, u32 full_ns,
			     const struct rate_sample *rs)
{
	struct pp_sock *ps = pp_sock_of(fl);
	const struct fl_profile *pf;

	if (unlikely(fl->opened)) {
		if (pp_open_ends(fl)) {
			pp_apply(fl);
			pp_probe_now(fl);
		}
	} else if (unlikely(fl->fallback)) {
		pp_probe_again(fl);
	}
	if (unlikely(inet_csk(fl->sk)->icsk_ca_state == TCP_CA_Recovery))
		pp_recovers(fl);
	ps->look_seq = tcp_sk(fl->sk)->snd_nxt;
	pf = fl_profile_for(fl->sk, fl->fs);
	if (READ_ONCE(pf->line_rate_measured) &&
	    fl_rate_measure(fl->sk, fl->fs, fl->chan->base_ns, full_ns, rs))
		fl->mss = 0; /* for pp_refresh() to look again */
	if (fl->resumed_ns && ps->least_ns != U32_MAX)
		pp_see_links(fl, ps->least_ns);
	pp_refresh(fl, pf, ps->least_ns == U32_MAX ? 0 : ps->least_ns, 0);
	ps->least_ns = U32_MAX;
	if (!fl->core.stopped)
		pp_kin_tell(fl, pp_has_q8(fl, rs), full_ns);
	fl_take_over(fl->sk, fl->gso_segs);
}

/* The same where nothing is out of the ordinary (@rare). Context: ACK, socket lock held. */
static inline void pp_apply_ack(struct pp_flow *fl, struct tcp_sock *tp)
{
	if (unlikely(fl->core.wnd < FL_WND_ONE))
		pp_apply(fl);
	else
		fl_set_wnd(tp, fl->core.wnd >> FL_WND_SHIFT, ~0UL);
}

/* Is nothing out of the ordinary? Who changes what is asked here sets @rare. Context:
 * socket lock held.
 */
static bool pp_usual(const struct pp_flow *fl)
{
	const struct pp_sock *ps = pp_sock_of(fl);

	return !fl->core.stopped && !fl->tel && !fl->extra_ns &&
	       !fl->fallback && !fl->stale_pkts && !fl->losses.most_pkts && !ps->dip_end_ns &&
	       !ps->base.turned && !fl->held_look_acks && !fl->chan->held_ns &&
	       !fl->chan->paced && fl->timer_for != PP_TIMER_NONE;
}

/* A measured base RTT must be renewed while flows keep a queue: at a turn of base RTTs each of
 * them is silent until the queue is drained, and sends a probe ahead of its window. (The ACK of a
 * packet would not do: a receiver keeps that of a lone one.) Flows that have stopped probe at the
 * same time, pp_probe_stopped(). Flows on hosts whose clocks differ by more than that renew it only
 * as far as the queue is their own. Then the windows are what they
 * were, and the delay says nothing for an RTT and the base RTT: the first to come back see
 * the room of the others, and a window that leaves at once is a queue of all of it.
 * Context: ACK, socket lock held.
 * Return: does the delay say nothing now?
 */
static noinline bool pp_dip(struct pp_flow *fl, u32 delay_ns)
{
	u64 now_ns = tcp_sk(fl->sk)->tcp_clock_cache;
	struct pp_sock *ps = pp_sock_of(fl);

	if (pp_is_silent(fl)) {
		pp_skip(&fl->core, tcp_sk(fl->sk)->snd_nxt);
		return true;
	}
	if (ps->dip_end_ns) {
		/* the window is back with this ACK, which may be an RTT late */
		if (!fl->refills)
			ps->dip_end_ns = now_ns;
		fl->refills = now_ns < ps->dip_end_ns + fl->refill_ns;
		if (!fl->refills)
			ps->dip_end_ns = 0;
		return fl->refills;
	}
	if (!ps->base.turned)
		return false;
	ps->base.turned = false;
	if (fl->core.stopped || !delay_ns || fl->fallback || fl->probes_out ||
	    fl->core.wnd < PP_DIP_PKTS * FL_WND_ONE || !pp_base_is_measured(fl))
		return false;
	/* a path that was down for a second has no queue of a second */
	delay_ns = min_t(u64, delay_ns, pp_longest_queue_ns(fl->chan));
	if (!pp_probe_drained(fl, delay_ns))
		return false;
	ps->dip_end_ns = now_ns;
	fl->refill_ns = delay_ns + fl->chan->base_ns;
	return true;
}

/* What was sent before the probe whose echo has come, and not acknowledged with
 * it, is lost. Context: ACK, socket lock held.
 */
static void pp_mark_stale(struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);
	u32 bytes = 0;

	if (before(tp->snd_una, fl->probe_nxt))
		bytes = fl->probe_nxt - tp->snd_una;
	fl->stale_pkts = min_t(u32, tcp_packets_in_flight(tp),
			       DIV_ROUND_UP(bytes, max_t(u32, fl->mss, 1)));
	fl->stale_end = fl->probe_nxt;
}

/* The original CC that the socket's congestion control is named after. */
static const struct fl_original_ops *pp_original_of(const struct sock *sk)
{
	if (inet_csk(sk)->icsk_ca_ops == &tcp_prioplus_ledbat)
		return &fl_ledbat_channel_ops;
	return &fl_swift_ops;
}

/* The queue is drained: a probe, which nothing that follows can change, and the window.
 * @probes: may the flow probe? Context: as pp_timer_act().
 */
static void pp_drained(struct pp_flow *fl, bool probes)
{
	if (fl->core.stopped)
		return;
	if (probes && fl_segment_may_ask(fl->sk)) {
		fl->drained = 1;
		pp_probe_now(fl);
	}
	pp_sock_of(fl)->dip_end_ns = ktime_get_ns();
	pp_apply(fl);
	fl_send_soon(fl->sk);
}

/* The timer's work. Context: as pp_timer_act(). */
static void pp_act(struct pp_flow *fl)
{
	bool drained = pp_is_silent(fl), probes = pp_timer_act(fl);

	if (drained)
		pp_drained(fl, probes);
	if (!probes)
		pp_fall_back(fl);
}

/* A process that has the socket may release the flow at the same time: it holds no
 * lock that this could wait for. Context: softirq, thus RCU.
 */
static enum hrtimer_restart pp_timer_fire(struct hrtimer *timer)
{
	struct pp_flow *fl = container_of(timer, struct pp_flow, timer);
	struct sock *sk = fl->sk;

	if (READ_ONCE(fl->dead))
		return HRTIMER_NORESTART;
	bh_lock_sock(sk);
	if (READ_ONCE(fl->dead) || hrtimer_is_queued(timer)) {
		/* released, or armed anew, while this call waited for the lock */
	} else if (sock_owned_by_user(sk)) {
		WRITE_ONCE(fl->probe_due, 1);
		if (!test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
			sock_hold(sk);
	} else {
		pp_act(fl);
	}
	bh_unlock_sock(sk);
	return HRTIMER_NORESTART;
}

/* There is something to send for the first time, or again after a while.
 * Context: socket lock held.
 */
static void pp_begin(struct pp_flow *fl)
{
	struct sock *sk = fl->sk;

	if (!fl_segment_answered(sk)) {
		pp_fall_back(fl);
		return;
	}
	if (!fl_segment_may_ask(sk))
		return;
	/* the priority may be newer than the handshake */
	pp_refresh(fl, fl_profile_for(sk, fl->fs), 0, 0);
	pp_silence_begins(fl);
	if (!fl->chan->urgent) {
		pp_probe_now(fl);
		return;
	}
	fl->started = 1;
	pp_begin_urgent(&fl->core, fl->chan, tcp_sk(sk)->snd_nxt);
	pp_trace_state(fl, 0);
	pp_probe_watch(fl);
	pp_apply(fl);
}

/* Set up a flow. Context: any, socket lock held. Without memory, the socket
 * goes on with the window it has and a later ACK tries again. Before the SYN is
 * answered nobody knows whether the peer can answer probes: the first write sets it up.
 * What another control has left in flight may be lost, and nobody writes any more.
 */
static void pp_adopt(struct sock *sk)
{
	struct pp_sock *ps = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct fl_profile *pf;
	struct pp_flow *fl;

	if (sk->sk_state == TCP_SYN_SENT)
		return;
	fl = kmem_cache_zalloc(pp_flow_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!fl)
		return;
	fl->sk = sk;
	fl->rare = 1;
	fl->fs = fl_sock_attach(sk, &pp_cc);
	pf = fl_profile_for(sk, fl->fs);
	ps->una = tp->snd_una;
	ps->look_seq = tp->snd_una;
	ps->least_ns = U32_MAX;
	fl->random = get_random_u32();
	fl_base_rtt_start(sk, pp_base_rtt(fl));
	fl->gen = fl_settings_gen(fl->fs, pf) - 1;
	pp_init(&fl->core, pp_original_of(sk), ktime_get_ns(), tp->snd_nxt);
	pp_probe_init(fl, pp_timer_fire);
	pp_refresh(fl, pf, 0, 0);
	if (!fl->chan) {
		fl_sock_detach(sk, fl->fs);
		fl_owd_want(sk, &fl->tel, false);
		kmem_cache_free(pp_flow_cache, fl);
		return;
	}
	pp_expect_longer(fl, pf);
	pp_see_use();
	fl_take_over(sk, fl->gso_segs);
	if (!fl_segment_answered(sk))
		pp_fall_back(fl);
	rcu_assign_pointer(ps->flow, fl);
	fl->at.cc = &pp_cc;
	fl_sock_show(fl->fs, &fl->at);
	pp_apply(fl);
	if (tp->packets_out && fl->core.stopped)
		pp_begin(fl);
}

/* Context: any, socket lock held; handshake complete. */
static void pp_sk_init(struct sock *sk)
{
	struct pp_sock *ps = inet_csk_ca(sk);

	BUILD_BUG_ON(sizeof(struct pp_sock) > ICSK_CA_PRIV_SIZE);
	memset(ps, 0, sizeof(*ps));
	pp_adopt(sk);
}

/* End of the flow, the socket, or another congestion control is chosen; also
 * called without pp_sk_init() (listeners) and twice. Context: socket lock held.
 */
static void pp_sk_release(struct sock *sk)
{
	struct pp_sock *ps = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct pp_flow *fl = pp_flow_of(sk);

	if (!fl)
		return;
	RCU_INIT_POINTER(ps->flow, NULL);
	fl_sock_detach(sk, fl->fs);
	fl->fs = NULL;
	fl_owd_want(sk, &fl->tel, false);
	fl_give_back(sk);
	if (!tp->snd_cwnd) {
		fl_snd_cwnd_set(tp, TCP_INIT_CWND);
		WRITE_ONCE(tp->snd_ssthresh, TCP_INFINITE_SSTHRESH);
		/* setsockopt(TCP_CONGESTION): send what waits on release */
		if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT |
					   TCPF_FIN_WAIT1 | TCPF_CLOSING |
					   TCPF_LAST_ACK) &&
		    sock_owned_by_user_nocheck(sk) &&
		    !test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
			sock_hold(sk);
	}
	/* recovery that began while stopped: PRR divides by it */
	if (!tp->prior_cwnd)
		tp->prior_cwnd = tcp_snd_cwnd(tp);
	pp_kin_leave(fl);
	pp_chan_drop(fl);
	pp_see_unuse();
	pp_probe_release(fl);
}

/* The end of the data is lost and nothing comes after it that would draw a SACK:
 * the stack's timer, 200 ms and more for a lone packet, fires now. One that is
 * about to fire is left alone: echoes come more often than ticks, and each would
 * put it off by another. Context: ACK, socket lock held.
 */
static void pp_hurry(struct pp_flow *fl)
{
	struct sock *sk = fl->sk;
	u8 pending = inet_csk(sk)->icsk_pending;

	if (!fl->stale_pkts || tcp_send_head(sk) ||
	    (pending != ICSK_TIME_LOSS_PROBE && pending != ICSK_TIME_RETRANS) ||
	    !time_after(fl_tcp_timeout(sk), jiffies + 1))
		return;
	inet_csk_reset_xmit_timer(sk, pending, 1, TCP_RTO_MAX);
}

/* The path answers probes again. Without memory for a channel the flow goes on as it is, and asks
 * again. Context: ACK, socket lock held.
 */
static void pp_fall_back_ends(struct pp_flow *fl)
{
	fl->fallback = 0;
	if (!pp_configure(fl, fl_profile_for(fl->sk, fl->fs)))
		fl->fallback = 1;
}

/* Has the probe met an empty line, within a part of a packet? Behind a packet of another flow it
 * would wait again on each link, and the number of links could not be told.
 */
static bool pp_met_nothing(const struct pp_flow *fl, u32 probe_ns)
{
	u32 more_ns = probe_ns - min(probe_ns, pp_base_rtt(fl)->probe_ns);

	return fl_ns_to_wnd(fl->chan->ppn, more_ns) <= FL_WND_ONE / PP_LINKS_SAME_PART;
}

/* The echo of a probe has come. Context: ACK, socket lock held. */
static void pp_on_echo(struct pp_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(fl->sk);
	u64 ns = tp->tcp_clock_cache - fl->probe_sent_ns;
	u32 delay_ns = min_t(u64, max_t(s64, ns, 1), U32_MAX - 1);
	u32 probe_ns = delay_ns;

	trace_fl_prioplus_probe(fl->sk, 1, delay_ns);
	pp_refresh(fl, fl_profile_for(fl->sk, fl->fs), 0, delay_ns);
	if (fl->tel)
		delay_ns = pp_one_way(fl, delay_ns, fl->chan->probe_base_ns);
	if (fl->fallback && !fl->opened)
		pp_fall_back_ends(fl);
	if (fl->drained) {
		fl->drained = 0;
		if (fl->core.stopped)
			pp_probe_after(fl, fl->core.probe_wait_ns);
		return;
	}
	if (!fl->core.stopped) {
		/* of the watchdog: nothing but lost data is left in flight */
		fl->echoed = 1;
		pp_mark_stale(fl);
		pp_hurry(fl);
		return;
	}
	pp_base_rtt(fl)->turned = false;
	pp_kin_tell(fl, 0, 0);
	switch (pp_on_probe(&fl->core, fl->chan, delay_ns, tp->snd_nxt,
			    pp_random(fl))) {
	case PP_RESUME:
		fl->resumed_ns = pp_met_nothing(fl, probe_ns) ? probe_ns : 0;
		fl->resumed = 1;
		pp_kin_tell(fl, fl->core.wnd >> PP_WND_TO_KIN_SHIFT, 0);
		pp_sock_of(fl)->least_ns = U32_MAX;
		fl->train_pkts = 0;
		pp_trace_state(fl, delay_ns);
		pp_mark_stale(fl);
		pp_hurry(fl);
		pp_sock_of(fl)->last_ack_ns = tp->tcp_clock_cache;
		pp_probe_watch(fl);
		break;
	case PP_PROBE:
		pp_still_silent(fl, delay_ns);
		break;
	default:
		break;
	}
}

/* An ACK while probes are out. */
static noinline void pp_maybe_echo(struct pp_flow *fl)
{
	if (!pp_probe_echo(fl))
		return;
	fl->rare = 1;
	pp_on_echo(fl);
	pp_apply(fl);
}

/* Context: each ACK, before cong_control; the only call for an ACK that comes
 * while nothing is in flight. Softirq or backlog, socket lock held.
 */
static void pp_in_ack_event(struct sock *sk, u32 flags)
{
	struct pp_flow *fl = pp_flow_of(sk);

	if (fl && unlikely(fl->probes_out))
		pp_maybe_echo(fl);
}

/* The flow has stopped. Context: ACK, socket lock held. */
static noinline void pp_has_stopped(struct pp_flow *fl, u32 delay_ns)
{
	fl->rare = 1;
	pp_kin_tell(fl, 0, 0);
	fl->stats.stops++;
	fl->train_pkts = 0;
	if (!pp_silence_goes_on(fl))
		pp_silence_begins(fl);
	pp_trace_state(fl, delay_ns);
	pp_probe_stopped(fl, fl->core.probe_wait_ns, delay_ns);
}

/* The receiver may have kept the ACK of a lone packet until a probe came: the probe's delay is the
 * path's, the packet's is not. Return: the delay of what is acknowledged, ns. Context: ACK.
 */
static u32 pp_kept_ns(struct pp_flow *fl, u32 delay_ns)
{
	u64 ns = tcp_sk(fl->sk)->tcp_clock_cache - fl->probe_sent_ns;

	fl->echoed = 0;
	ns += fl->chan->base_ns;
	ns -= min_t(u64, ns - 1, fl->chan->probe_base_ns);
	return min_t(u64, delay_ns, max_t(u64, ns, fl->chan->base_ns));
}

/* What an ACK says, into the core, while something is out of the ordinary. Context:
 * ACK, socket lock held.
 */
static noinline void pp_take_rare(struct pp_flow *fl, struct fl_sample *s,
				  const struct rate_sample *rs)
{
	struct pp_sock *ps = pp_sock_of(fl);

	if (fl->echoed)
		s->delay_ns = pp_kept_ns(fl, s->delay_ns);
	if (fl->tel && s->delay_ns) {
		s->rtt_ns = s->delay_ns;
		s->delay_ns = pp_one_way(fl, s->rtt_ns, fl->chan->base_ns);
	}
	if (fl->train_pkts)
		pp_train_acked(fl, s);
	else if (!fl->core.stopped)
		pp_held_acked(fl, s);
	if (!fl->core.stopped && !((ps->dip_end_ns || ps->base.turned) &&
				   pp_dip(fl, s->delay_ns))) {
		s->random = pp_random(fl);
		if (pp_decide(fl, s, rs) == PP_STOP)
			pp_has_stopped(fl, s->delay_ns);
	}
	if (fl->losses.most_pkts && !fl->core.stopped)
		fl->core.wnd = fl_losses_bound(&fl->losses,
					       inet_csk(fl->sk)->icsk_ca_state == TCP_CA_Open ?
					       s->acked_pkts : 0, fl->core.wnd);
	if (!fl->core.stopped && tcp_sk(fl->sk)->packets_out)
		pp_probe_watch(fl);
	pp_apply(fl);
	fl->rare = !pp_usual(fl);
}

/* Where both ends send, an ACK comes with data, whose time on the links is no queue. Context: ACK,
 * socket lock held. Return: that time, ns; 0 = the ACK is one without data.
 */
static inline u32 pp_data_ns(struct pp_flow *fl)
{
	u32 bytes = fl_ack_data(fl->sk, &pp_sock_of(fl)->rtt);

	if (likely(!bytes))
		return 0;
	return div_u64((u64)fl->chan->data_ns * min_t(u32, bytes, fl->mss), max_t(u32, fl->mss, 1));
}

/* What an ACK says, into the core. @delay_ns: as in struct fl_sample. Context: ACK, socket lock
 * held.
 */
static noinline void pp_take_ack(struct pp_flow *fl, const struct rate_sample *rs, u32 delay_ns)
{
	struct tcp_sock *tp = tcp_sk(fl->sk);
	struct fl_sample s = {
		.now_ns = tp->tcp_clock_cache,
		.delay_ns = delay_ns,
		.acked_pkts = rs->acked_sacked,
		.ack_seq = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.seq_per_pkt = tp->mss_cache,
		.wnd_limited = !rs->is_app_limited,
	};

	if (unlikely(fl->rare)) {
		pp_take_rare(fl, &s, rs);
		return;
	}
	s.random = pp_random(fl);
	if (unlikely(pp_on_rare_ack(&fl->core, fl->chan, &s) == PP_STOP)) {
		pp_has_stopped(fl, delay_ns);
		pp_apply(fl);
		return;
	}
	pp_apply_ack(fl, tp);
}

/* What an ACK says of the path. Context: ACK, socket lock held. Return: its delay, as in struct
 * fl_sample, ns.
 */
static inline u32 pp_see_ack(struct pp_flow *fl, struct pp_sock *ps, const struct tcp_sock *tp,
			     const struct rate_sample *rs)
{
	struct sock *sk = fl->sk;
	u32 delay_ns = fl_rtt_sample(sk, &ps->rtt, rs);
	u32 bytes = fl_acked_bytes(sk, &ps->una);
	u32 data_ns = pp_data_ns(fl);
	u32 path_ns = data_ns ? 0 : delay_ns;

	ps->last_ack_ns = tp->tcp_clock_cache;
	if (path_ns && path_ns < ps->least_ns && fl_full_packets(sk, bytes, rs->acked_sacked))
		ps->least_ns = min(ps->least_ns, fl_rtt_most(sk, &ps->rtt, path_ns));
	if (fl_seq_after(tp->snd_una, ps->look_seq) ||
	    unlikely(ps->least_ns < ps->base.data_ns ||
		     tp->tcp_clock_cache >= ps->base.turn_ns))
		pp_look(fl, fl_full_packets(sk, bytes, rs->acked_sacked) ? path_ns : 0, rs);
	if (unlikely(data_ns) && delay_ns)
		delay_ns -= min(data_ns, delay_ns - 1);
	return delay_ns;
}

/* The same of most ACKs. Context: ACK, socket lock held. Return: false: it is another one. */
static inline bool pp_usual_ack(struct pp_flow *fl, const struct tcp_sock *tp,
				const struct rate_sample *rs, u32 delay_ns)
{
	struct fl_sample s = {
		.now_ns = tp->tcp_clock_cache,
		.delay_ns = delay_ns,
		.acked_pkts = rs->acked_sacked,
		.ack_seq = tp->snd_una,
		.wnd_limited = !rs->is_app_limited,
	};

	if (!pp_on_usual_ack(&fl->core, fl->chan, &s))
		return false;
	/* numbers depend on how many ACKs have come, too: flows begun alike part */
	pp_random(fl);
	return true;
}

/* Context: each ACK of data in flight, softirq or backlog, socket lock held. */
static void pp_cong_control(FL_CONG_CONTROL_ARGS)
{
	struct pp_sock *ps = inet_csk_ca(sk);
	struct pp_flow *fl = pp_flow_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 delay_ns;

	if (unlikely(!fl)) {
		/* the ACK of our SYN comes before pp_sk_init(), which forgets */
		if (inet_csk(sk)->icsk_ca_initialized)
			pp_adopt(sk);
		return;
	}
	delay_ns = pp_see_ack(fl, ps, tp, rs);
	if (likely(!fl->rare && pp_usual_ack(fl, tp, rs, delay_ns)))
		fl_set_wnd(tp, fl->core.wnd >> FL_WND_SHIFT, ~0UL);
	else
		pp_take_ack(fl, rs, delay_ns);
	/* nothing more to send, or a receiver that takes nothing */
	if (unlikely(!tp->packets_out) && (!tcp_send_head(sk) || !tp->snd_wnd))
		pp_kin_tell(fl, 0, 0);
	fl_rtt_remember(sk, &ps->rtt);
}

/* Has the flow been silent for so long that its window says little? */
static bool pp_was_idle(const struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);
	u64 last_ack_ns = pp_sock_of(fl)->last_ack_ns;

	return !tp->packets_out && !fl->fallback && last_ack_ns &&
	       tp->tcp_clock_cache - last_ack_ns >
	       (u64)PP_IDLE_RTTS * fl->chan->base_ns;
}

/* What it still says: half with each RTO, as the stack has it where it sets the window itself. */
static u64 pp_idle_wnd(const struct pp_flow *fl)
{
	u64 rto_ns = (u64)jiffies_to_usecs(inet_csk(fl->sk)->icsk_rto) * NSEC_PER_USEC;
	u64 idle_ns = tcp_sk(fl->sk)->tcp_clock_cache - pp_sock_of(fl)->last_ack_ns;
	u64 halvings = div64_u64(idle_ns, max_t(u64, rto_ns, 1));

	return fl->core.wnd >> min_t(u64, halvings, 63);
}

/* A FIN alone is no load. It goes without a probe, since a peer that has closed before keeps no
 * socket which would answer one. Context: socket lock held. Return: is that what there is to send?
 */
static bool pp_only_fin(struct sock *sk)
{
	if (tcp_send_head(sk)->len)
		return false;
	fl_snd_cwnd_set(tcp_sk(sk), tcp_packets_in_flight(tcp_sk(sk)) + 1);
	return true;
}

/* There is something to send. Context: socket lock held. */
static noinline void pp_before_sending(struct pp_flow *fl)
{
	if (!fl->core.stopped && pp_was_idle(fl)) {
		pp_suspend_idle(&fl->core, pp_idle_wnd(fl));
		fl->rare = 1;
		fl->started = 0;
		pp_apply(fl);
	}
	if (!fl->core.stopped)
		pp_probe_watch(fl);
	if (fl->core.stopped && !pp_only_fin(fl->sk) && !fl->started)
		pp_begin(fl);
}

/* Somebody wants to send, and the flow has to do something before. Context: socket lock held. */
static noinline u32 pp_min_tso_segs_rare(struct sock *sk)
{
	struct pp_flow *fl = pp_flow_of(sk);

	if (!fl && inet_csk(sk)->icsk_ca_initialized) {
		pp_adopt(sk);
		fl = pp_flow_of(sk);
	}
	if (!fl)
		return 1;
	if (READ_ONCE(fl->probe_due))
		pp_act(fl);
	if ((fl->rare || !tcp_sk(sk)->packets_out) && tcp_send_head(sk))
		pp_before_sending(fl);
	return 1;
}

/* Called at the top of every tcp_write_xmit(): somebody wants to send.
 * Context: socket lock held.
 */
static u32 pp_min_tso_segs(struct sock *sk)
{
	struct pp_flow *fl = pp_flow_of(sk);

	/* goes on, and is watched */
	if (likely(fl && !fl->rare && !READ_ONCE(fl->probe_due) && tcp_sk(sk)->packets_out))
		return 1;
	return pp_min_tso_segs_rare(sk);
}

/* Required by the stack; the window is set in cong_control alone. */
static u32 pp_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

/* Goes into tcp_snd_cwnd_set(), which wants no 0. */
static u32 pp_undo_cwnd(struct sock *sk)
{
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), 1);
}

/* The same callbacks over each original CC: pp_original_of() tells which. */
#define PP_CONGESTION_OPS(name_) {				\
	.init		= pp_sk_init,				\
	.release	= pp_sk_release,			\
	.ssthresh	= pp_ssthresh,				\
	.undo_cwnd	= pp_undo_cwnd,				\
	.in_ack_event	= pp_in_ack_event,			\
	.cong_control	= pp_cong_control,			\
	.set_state	= pp_set_state,				\
	.min_tso_segs	= pp_min_tso_segs,			\
	.get_info	= pp_get_info,				\
	.flags		= TCP_CONG_NON_RESTRICTED,		\
	.owner		= THIS_MODULE,				\
	.name		= name_,				\
}

static struct tcp_congestion_ops tcp_prioplus __read_mostly =
	PP_CONGESTION_OPS("prioplus");
static struct tcp_congestion_ops tcp_prioplus_ledbat __read_mostly =
	PP_CONGESTION_OPS("prioplus-ledbat");

static int __init pp_register(void)
{
	int err;

	pp_flow_cache = KMEM_CACHE(pp_flow, SLAB_ACCOUNT);
	if (!pp_flow_cache)
		return -ENOMEM;
	err = pp_share_init();
	if (err)
		goto cache;
	err = pp_kin_init();
	if (err)
		goto share;
	err = fl_settings_register(&pp_table);
	if (err)
		goto kin;
	err = pp_see_init();
	if (err)
		goto settings;
	err = tcp_register_congestion_control(&tcp_prioplus);
	if (err)
		goto probe;
	err = tcp_register_congestion_control(&tcp_prioplus_ledbat);
	if (!err)
		return 0;
	tcp_unregister_congestion_control(&tcp_prioplus);
	/* no socket had it in between but those that have let go of it */
	synchronize_rcu();
	rcu_barrier();
probe:
	pp_see_exit();
settings:
	fl_settings_unregister(&pp_table);
kin:
	pp_kin_exit();
share:
	pp_share_exit();
cache:
	kmem_cache_destroy(pp_flow_cache);
	return err;
}

static void __exit pp_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_prioplus_ledbat);
	tcp_unregister_congestion_control(&tcp_prioplus);
	pp_see_exit();
	/* sockets are gone, and who looked at their flows: unregistering has waited
	 * for RCU. Timers go with the flows' memory.
	 */
	rcu_barrier();
	pp_kin_exit();
	pp_share_exit();
	fl_settings_unregister(&pp_table);
	kmem_cache_destroy(pp_flow_cache);
}

module_init(pp_register);
module_exit(pp_unregister);

MODULE_ALIAS("tcp_prioplus-ledbat");
MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("PrioPlus: virtual priorities in one queue");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
