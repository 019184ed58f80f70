// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: how a stopped PrioPlus flow asks for the delay (section 4.2.1).
 *
 * A probe is a TCP segment of one byte that the receiver has already got, one of
 * the last before snd_una. Every TCP answers such a segment
 * at once, with an ACK that carries a D-SACK (RFC 2883); no rate limit
 * applies, unlike to segments without data. On the line it is a minimal
 * Ethernet frame, as the paper's 64-byte probe, in the queue of the flow's
 * data.
 *
 * The echo is known by the D-SACK: tp->dsack_dups has grown. The stack must
 * not believe that the network duplicates packets, so before a probe leaves,
 * dsack_dups is raised to the number of retransmissions; the D-SACK of the
 * echo is then "dubious" for tcp_dsack_seen(), which counts it and does
 * nothing else. The true value is put back with the echo.
 *
 * Data that arrived twice, sent again without need or doubled by the network,
 * draws a D-SACK as well, and taken for an echo it would tell any delay at all. The
 * stack does not keep the range of a D-SACK. So the tracepoint tcp_probe (pp_see.c),
 * which each segment of an established socket passes under the socket lock, looks at
 * the option while a probe is out: an echo's range is one byte, and each probe's another,
 * so that a probe or an echo that was doubled or comes late is known, too. In other
 * states (after close()) the tracepoint is not passed; there what comes sooner than any
 * echo on the path has come (half of the base RTT where that is given) is no echo,
 * unless a probe before was lost, and there and until the first echo counting has to
 * do, and time stamps:
 *
 * The echo of a probe that was given up may still come, after another probe
 * has left. Taken for the echo of that one, it would tell a delay that is too
 * short, perhaps shorter than the base RTT, for ever. So from then on the time
 * stamp decides; where it cannot, the echo counts as a sign of life only
 * (Karn's rule) and another probe follows when all others must be gone.
 *
 * The timer runs in softirq and finds the socket in one of three states:
 *
 *	free:			it acts at once;
 *	owned by a process:	it leaves the work to release_sock(), which
 *				through TCP_TSQ_DEFERRED and tcp_write_xmit()
 *				comes to our min_tso_segs callback;
 *	released by us:		it gives back what it holds.
 *
 * The timer holds one reference on the socket from its first arming to the
 * end of the flow, not one for each arming: those cannot be counted right
 * while arming races with firing on another CPU.
 */
#include <linux/module.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fairlane/fl_segment.h"
#include "pp_flow.h"

/* An echo later than this is lost, ns. At least. */
#define PP_ECHO_TIMEOUT_NS	NSEC_PER_MSEC
/* Waiting for an echo is doubled this many times. */
#define PP_ECHO_BACKOFF_MAX	4
/* A flow whose probes were not answered asks again after this long, ns. */
#define PP_AGAIN_NS		NSEC_PER_SEC
/* An echo where nobody looks may be this part of the shortest one sooner, 2^-this. */
#define PP_ECHO_SOONER_SHIFT	6

struct kmem_cache *pp_flow_cache;

static void pp_timer_arm(struct pp_flow *fl, enum pp_timer what, u64 ns)
{
	if (!fl->timer_ref) {
		fl->timer_ref = 1;
		sock_hold(fl->sk);
	}
	fl->timer_for = what;
	hrtimer_start(&fl->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_SOFT);
}

/* How long to wait for an echo: PP_ECHO_TIMEOUT_NS, or four of the longest
 * delays that do not stop the flow; doubled for each loss in a row, up to 16.
 */
static u64 pp_echo_timeout_ns(const struct pp_flow *fl)
{
	u64 ns = PP_ECHO_TIMEOUT_NS;

	if (fl->chan->limit_ns != U32_MAX)
		ns = max_t(u64, ns, 4ULL * fl->chan->limit_ns);
	ns += 2ULL * fl->extra_ns;
	return ns << min_t(u32, fl->probes_lost, PP_ECHO_BACKOFF_MAX);
}

/* Have the D-SACKs of echoes ignored by the stack, whatever is sent again until
 * they come. Context: socket lock held.
 */
static void pp_dsack_hide(struct pp_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(fl->sk);

	if (!fl->probes_out)
		fl->dsack_hidden = tp->dsack_dups;
	tp->dsack_dups = max_t(u32, tp->dsack_dups,
			       tp->total_retrans + tp->packets_out);
	fl->dsack_seen = tp->dsack_dups;
}

/* Sequence number of the next probe. Only with the byte before snd_una does the peer
 * take in the time stamp, by which those without D-SACK are known, and the newest
 * probe where nobody looks at echoes.
 */
static u32 pp_probe_seq(const struct pp_flow *fl)
{
	u32 seq = tcp_sk(fl->sk)->snd_una - 1;

	if (!fl->turned)
		return seq;
	return seq - 1 - (fl->stats.probes & (PP_PROBE_TURNS - 1));
}

/**
 * pp_probe_now() - send a probe and wait for its echo
 * @fl: the flow; caller holds the socket lock
 */
void pp_probe_now(struct pp_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(fl->sk);
	u32 tsval = fl_tcp_tsval(tp);

	fl->started = 1;
	pp_dsack_hide(fl);
	if (fl->probes_out < PP_PROBES_OUT_MAX)
		fl->probes_out++;
	else
		fl->late = 1;
	if (fl->late && tsval == fl->probe_tsval)
		fl->alike = 1;
	else
		fl->alike = 0;
	fl->plain = 0;
	fl->probe_tsval = tsval;
	fl->probe_nxt = tp->snd_nxt;
	fl->probe_sent_ns = ktime_get_ns();
	fl->turned = fl->sk->sk_state == TCP_ESTABLISHED && fl->stats.echoes;
	fl->probe_seq = pp_probe_seq(fl);
	if (fl_segment_ask(fl->sk, fl->probe_seq, tsval))
		fl->stats.probes++;
	pp_timer_arm(fl, PP_TIMER_ECHO, pp_echo_timeout_ns(fl));
	trace_fl_prioplus_probe(fl->sk, 0, 0);
}

/**
 * pp_probe_after() - send a probe later
 * @fl: the flow; caller holds the socket lock
 * @wait_ns: how much later, ns
 *
 * It comes at a time of its own, drained queue or not.
 */
void pp_probe_after(struct pp_flow *fl, u32 wait_ns)
{
	fl->drained = 0;
	pp_timer_arm(fl, PP_TIMER_PROBE, wait_ns);
}

/**
 * pp_base_is_measured() - does the flow go by a base RTT that was measured?
 * @fl: the flow; caller holds the socket lock
 */
bool pp_base_is_measured(const struct pp_flow *fl)
{
	u32 given_ns = fl_sock_base_rtt_ns(fl->fs, fl_profile_for(fl->sk, fl->fs));

	return !given_ns || given_ns > fl->chan->base_ns;
}

/* When the queue is drained if all who send fall silent as base RTTs turn at @turn_ns: the last
 * packet has left the bottleneck. @delay_ns: of a packet now; the base RTT is what is in question.
 */
static u64 pp_drained_at_ns(u64 turn_ns, u32 delay_ns)
{
	return turn_ns + delay_ns;
}

/**
 * pp_probe_stopped() - send the next probe of a stopped flow
 * @fl: the flow; caller holds the socket lock
 * @wait_ns: how much later, ns
 * @delay_ns: what the last one saw, ns
 *
 * The probe after a turn of base RTTs comes when those that send have let the queue drain
 * (pp_dip()): what it sees is no leave to go on, but the base RTT.
 */
void pp_probe_stopped(struct pp_flow *fl, u32 wait_ns, u32 delay_ns)
{
	u64 turn_ns = pp_base_rtt(fl)->turn_ns, now_ns = tcp_sk(fl->sk)->tcp_clock_cache;
	bool drained = now_ns < turn_ns && now_ns + wait_ns >= turn_ns && pp_base_is_measured(fl);

	if (drained)
		wait_ns = min_t(u64, pp_drained_at_ns(turn_ns, delay_ns) - now_ns, U32_MAX);
	pp_probe_after(fl, wait_ns);
	fl->drained = drained;
}

/**
 * pp_probe_drained() - a flow that sends falls silent, and probes when the queue is drained
 * @fl: the flow; caller holds the socket lock
 * @delay_ns: its delay, ns
 *
 * Context: ACK, at a turn of base RTTs. Return: false, it is too late.
 */
bool pp_probe_drained(struct pp_flow *fl, u32 delay_ns)
{
	const struct fl_base_rtt *b = pp_base_rtt(fl);
	u64 now_ns = tcp_sk(fl->sk)->tcp_clock_cache, at_ns;

	at_ns = pp_drained_at_ns(b->turn_ns - BIT_ULL(b->drain_shift), delay_ns);
	if (at_ns <= now_ns || at_ns - now_ns > 2ULL * delay_ns)
		return false;
	pp_timer_arm(fl, PP_TIMER_DRAINED, at_ns - now_ns);
	return true;
}

/* Silence that is not normal, ns: ACKs come in bursts, one in an RTT. */
static u64 pp_watchdog_ns(const struct pp_flow *fl)
{
	u64 ns = 2ULL * fl->chan->base_ns;

	if (fl->chan->limit_ns != U32_MAX)
		ns = max_t(u64, ns, 2ULL * fl->chan->limit_ns);
	ns += 2ULL * fl->extra_ns;
	return max_t(u64, ns, PP_WATCHDOG_NS);
}

/**
 * pp_probe_arm_watch() - see to it that a sending flow cannot fall silent
 * @fl: the flow; caller holds the socket lock
 *
 * A lost tail, or a receiver that keeps back the ACK of a lone packet, would
 * cost 40 to 200 ms. The timer is armed once and looks at the time of the
 * last ACK when it fires; ACKs do not touch it.
 */
void pp_probe_arm_watch(struct pp_flow *fl)
{
	if (!fl->fallback)
		pp_timer_arm(fl, PP_TIMER_WATCHDOG, pp_watchdog_ns(fl));
}

/* Give the stack its own count of D-SACKs back. */
static void pp_dsack_restore(struct pp_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(fl->sk);

	if (fl->probes_out)
		tp->dsack_dups = fl->dsack_hidden;
	fl->probes_out = 0;
	fl->late = 0;
	fl->alike = 0;
}

/* Does the time stamp of this ACK say that the newest probe has arrived? */
static bool pp_stamp_is_newest(const struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);

	return tp->rx_opt.tstamp_ok && tp->rx_opt.saw_tstamp &&
	       tp->rx_opt.rcv_tsecr == fl->probe_tsval;
}

/* An echo has come, and others may be on their way that were given up. Is it the
 * newest probe's?
 */
static bool pp_late_echo(struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);

	/* the path lives: no reason to fall back, but wait as long as before */
	fl->probes_lost = min_t(u8, fl->probes_lost, PP_ECHO_BACKOFF_MAX);
	if (tp->rx_opt.tstamp_ok) {
		if (!pp_stamp_is_newest(fl))
			return false;
		if (!fl->alike)
			return true;
	}
	/* nobody can tell: another probe when all others are gone */
	if (fl->timer_for == PP_TIMER_ECHO)
		pp_timer_arm(fl, PP_TIMER_FLUSH, pp_echo_timeout_ns(fl));
	return false;
}

/* What comes sooner after a probe is no echo, ns. A base RTT that is given cannot be
 * spoilt, but says little of a probe's on many links, and the echoes that were seen may
 * all have met queues; where base RTTs are measured they are the paths', and dips keep
 * them true.
 */
static u32 pp_echo_least_ns(const struct pp_flow *fl)
{
	u32 seen_ns = pp_base_rtt(fl)->probe_ns;

	if (seen_ns == FL_BASE_NONE ||
	    fl_sock_base_rtt_ns(fl->fs, fl_profile_for(fl->sk, fl->fs)))
		return fl->chan->probe_base_ns / 2;
	return seen_ns - (seen_ns >> PP_ECHO_SOONER_SHIFT);
}

/**
 * pp_probe_echo() - is this ACK the echo of the newest probe?
 * @fl: the flow; caller holds the socket lock
 *
 * Its sequence number tells. Where that is not known, probes and echoes keep their
 * order, so the newest is answered when as many echoes have come as probes are out.
 */
bool pp_probe_echo(struct pp_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(fl->sk);
	u8 dsack = fl->dsack;
	u32 got;

	if (!fl->probes_out)
		return false;
	fl->dsack = PP_DSACK_UNSEEN;
	got = tp->dsack_dups - fl->dsack_seen;
	/* the path may have become another: after a lost one, any is believed */
	if (dsack == PP_DSACK_UNSEEN && !fl->probes_lost &&
	    tp->tcp_clock_cache < fl->probe_sent_ns + pp_echo_least_ns(fl))
		dsack = PP_DSACK_DATA;
	if (got && dsack == PP_DSACK_DATA) {
		/* the stack's own, late by an echo */
		fl->dsack_hidden += got;
		fl->dsack_seen = tp->dsack_dups;
		fl->stats.doubles += got;
		trace_fl_prioplus_probe(fl->sk, 3, 0);
		return false;
	}
	if (got && dsack == PP_DSACK_OLD) {
		/* the path lives */
		fl->dsack_seen = tp->dsack_dups;
		fl->probes_lost = min_t(u8, fl->probes_lost,
					PP_ECHO_BACKOFF_MAX);
		return false;
	}
	if (!got) {
		/* perhaps the peer has answered, but sends no D-SACKs */
		if (pp_stamp_is_newest(fl))
			fl->plain = 1;
		return false;
	}
	fl->stats.echoes += got;
	fl->dsack_seen = tp->dsack_dups;
	if (dsack != PP_DSACK_ECHO || !fl->turned) {
		if (fl->late && !pp_late_echo(fl))
			return false;
		if (!fl->late && got < fl->probes_out) {
			fl->probes_out -= got;
			return false;
		}
	}
	pp_dsack_restore(fl);
	fl->probes_lost = 0;
	if (fl->timer_for == PP_TIMER_ECHO || fl->timer_for == PP_TIMER_FLUSH)
		fl->timer_for = PP_TIMER_NONE;
	return true;
}

/* Is there a reason to probe? A stopped flow without data asks again with the
 * next write.
 */
static bool pp_wants_delay(struct pp_flow *fl)
{
	const struct sock *sk = fl->sk;

	if (!fl->core.stopped)
		return tcp_sk(sk)->packets_out;
	if (!tcp_write_queue_empty(sk) || !tcp_rtx_queue_empty(sk))
		return true;
	fl->started = 0;
	return false;
}

/* An echo is overdue: probe again. Return: false to go on without probes. */
static bool pp_echo_overdue(struct pp_flow *fl)
{
	fl->late = 1;
	trace_fl_prioplus_probe(fl->sk, 2, 0);
	/* the next one comes at another time; that of a flow that sends is not sent again */
	if (fl->core.stopped)
		fl->drained = 0;
	if (fl->fallback) {
		pp_dsack_restore(fl);
		return true;
	}
	if (fl->probes_lost < U8_MAX)
		fl->probes_lost++;
	if (fl->plain && !fl->stats.echoes &&
	    fl->probes_plain < PP_PROBES_PLAIN_MAX)
		fl->probes_plain++;
	if (fl->probes_lost >= PP_PROBES_LOST_MAX || fl->probes_plain >= PP_PROBES_PLAIN_MAX) {
		pp_dsack_restore(fl);
		return false;
	}
	if (pp_wants_delay(fl))
		pp_probe_now(fl);
	return true;
}

/**
 * pp_probe_again() - are probes answered now?
 * @fl: the flow, which goes on without; caller holds the socket lock
 *
 * The path may have been down, or has become another. One probe beside the data, once in
 * PP_AGAIN_NS; its echo ends the fallback. Context: ACK.
 */
void pp_probe_again(struct pp_flow *fl)
{
	if (!fl->probes_out && fl_segment_may_ask(fl->sk) &&
	    tcp_sk(fl->sk)->tcp_clock_cache - fl->probe_sent_ns >= PP_AGAIN_NS)
		pp_probe_now(fl);
}

/* Late echoes have had their time: begin anew. */
static void pp_flushed(struct pp_flow *fl)
{
	pp_dsack_restore(fl);
	fl->probes_lost = 0;
	if (pp_wants_delay(fl))
		pp_probe_now(fl);
}

/* The flow sends and nothing comes back: ask the receiver. */
static void pp_watchdog(struct pp_flow *fl)
{
	u64 now_ns = ktime_get_ns();
	u64 wait_ns = pp_watchdog_ns(fl);
	u64 since_ns = pp_sock_of(fl)->last_ack_ns;
	u64 sent_ns = tcp_sk(fl->sk)->tcp_wstamp_ns;
	u64 quiet_ns;

	if (fl->core.stopped || !tcp_sk(fl->sk)->packets_out)
		return;
	/* pacing moves the time of sending ahead */
	if (sent_ns > since_ns && sent_ns < now_ns)
		since_ns = sent_ns;
	quiet_ns = now_ns - since_ns;
	if (quiet_ns < wait_ns) {
		pp_timer_arm(fl, PP_TIMER_WATCHDOG, wait_ns - quiet_ns);
		return;
	}
	fl->stats.watchdogs++;
	pp_probe_now(fl);
}

/**
 * pp_timer_act() - do what the timer was armed for
 * @fl: the flow; caller holds the socket lock
 *
 * Context: softirq, or a process that writes or releases the socket.
 * Return: false if the flow is to go on without probes.
 */
bool pp_timer_act(struct pp_flow *fl)
{
	enum pp_timer what = fl->timer_for;

	WRITE_ONCE(fl->probe_due, 0);
	fl->timer_for = PP_TIMER_NONE;
	fl->rare = 1;
	/* signed since the flow began */
	if (!fl_segment_answered(fl->sk))
		return fl->fallback;
	if (!fl_segment_may_ask(fl->sk))
		return true;
	switch (what) {
	case PP_TIMER_PROBE:
		if (fl->core.stopped && pp_wants_delay(fl))
			pp_probe_now(fl);
		break;
	case PP_TIMER_FLUSH:
		pp_flushed(fl);
		break;
	case PP_TIMER_ECHO:
		return pp_echo_overdue(fl);
	case PP_TIMER_WATCHDOG:
		pp_watchdog(fl);
		break;
	case PP_TIMER_DRAINED:
	case PP_TIMER_NONE:
		break;
	}
	return true;
}

/* Whoever looked at the flow when it was released has finished, the timer's function
 * too unless it has seen @dead. Context: RCU callback.
 */
static void pp_flow_free(struct rcu_head *rcu)
{
	struct pp_flow *fl = container_of(rcu, struct pp_flow, rcu);

	hrtimer_cancel(&fl->timer);
	if (fl->timer_ref)
		sock_put(fl->sk);
	kmem_cache_free(pp_flow_cache, fl);
}

/**
 * pp_probe_init() - prepare the timer of a new flow
 * @fl: the flow
 * @fire: what it calls, in softirq
 */
void pp_probe_init(struct pp_flow *fl,
		   enum hrtimer_restart (*fire)(struct hrtimer *timer))
{
	hrtimer_setup(&fl->timer, fire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * pp_probe_release() - end of a flow
 * @fl: the flow, no longer reachable from the socket; caller holds its lock
 *
 * Stops the timer and frees the flow after a grace period: here nobody knows whether
 * the timer's function may be waited for, as that may wait for the socket lock.
 */
void pp_probe_release(struct pp_flow *fl)
{
	pp_dsack_restore(fl);
	WRITE_ONCE(fl->dead, 1);
	call_rcu(&fl->rcu, pp_flow_free);
}
