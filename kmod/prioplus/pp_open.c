// SPDX-License-Identifier: GPL-2.0
/*
 * Failing open: a PrioPlus flow that is silent although its probes are answered, and one
 * whose probes are not.
 *
 * A flow waits for as long as its probes are above its limit. Nothing but a higher
 * priority should make them so, but a base RTT that is too low does as well, or channels
 * narrower than the noise of the path. No setting may silence an idle line, so silence
 * ends in three steps:
 *
 *	20 ms or 100 base RTTs	The flow looks what its probes have seen, and again each time
 *				that this passes. If all of them saw the same delay, within
 *				half of the time of a packet, nobody's packets were on the
 *				line: the path is longer than was believed, and the flow goes
 *				on with the base RTT that it has.
 *	a second		The flow is an ordinary control: it steers by the original CC
 *				for the least delay of that second and as much more as the
 *				delays of the second differ, and does not stop. Where a
 *				higher priority has the line, its queue is that delay, so
 *				the flow does not make it longer.
 *	a second later		It is PrioPlus again, unless it had half of the line.
 *
 * The trickle that a silent flow sends are its probes. A packet of data would tell no more
 * than an echo does, and one each 20 ms of each flow that waits would be in the queue of
 * those for whom it waits.
 *
 * The half packet needs a path without noise. Elsewhere a line that a higher priority
 * keeps full cannot be told from a longer path, so a flow that waits behind it for a
 * second has a second of a part of the line.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "fairlane/fl_owd.h"
#include "pp_flow.h"

/* Silence after which a flow looks what its probes have seen, ns, and in base RTTs: the
 * longer one.
 */
#define PP_SILENT_NS		(20 * NSEC_PER_MSEC)
#define PP_SILENT_RTTS		100
/* Fewer probes than this in a silence do not tell who was on the line. */
#define PP_SILENT_PROBES	16
/* Silence after which a flow is an ordinary control, and for how long, ns. */
#define PP_OPEN_AFTER_NS	NSEC_PER_SEC
#define PP_OPEN_FOR_NS		NSEC_PER_SEC

/**
 * pp_apply() - put the flow's window into the socket
 * @fl: the flow; caller holds the socket lock
 */
void pp_apply(struct pp_flow *fl)
{
	struct tcp_sock *tp = tcp_sk(fl->sk);
	u64 wnd = max_t(u64, fl->core.wnd, 1);
	u32 extra = 0;

	if (fl->core.stopped) {
		tp->snd_cwnd = 0;
		return;
	}
	if (fl->stale_pkts) {
		if (before(tp->snd_una, fl->stale_end))
			extra = min_t(u32, fl->stale_pkts,
				      tcp_packets_in_flight(tp));
		else
			fl->stale_pkts = 0;
	}
	if (fl->extra_ns)
		wnd += pp_extra_wnd(&fl->core, fl->chan, fl->delay_ns,
				    fl->extra_ns);
	if (pp_sock_of(fl)->dip_end_ns)
		wnd = min_t(u64, wnd, FL_WND_ONE);
	fl_apply_wnd(fl->sk, wnd, extra,
		     fl->chan->base_ns + fl->extra_ns);
	if (fl->chan->paced)
		fl_pace_wnd(fl->sk, wnd, fl->chan->base_ns);
	if (fl->extra_ns)
		fl_owd_pace(fl->sk, wnd, fl->chan->base_ns, fl->extra_ns);
}

/* Send with a packet, and have the stack's own timer send it: it has the lock and looks
 * who owns the socket. Context: socket lock held.
 */
static void pp_go_on(struct pp_flow *fl)
{
	struct sock *sk = fl->sk;

	fl->rare = 1;
	fl->stale_pkts = 0;
	pp_go(&fl->core, FL_WND_ONE, tcp_sk(sk)->snd_nxt);
	pp_trace_state(fl, 0);
	pp_apply(fl);
	if (!hrtimer_is_queued(&tcp_sk(sk)->pacing_timer)) {
		sock_hold(sk);
		hrtimer_start(&tcp_sk(sk)->pacing_timer, 0,
			      HRTIMER_MODE_REL_PINNED_SOFT);
	}
}

/**
 * pp_fall_back() - go on without probes
 * @fl: the flow; caller holds the socket lock
 *
 * For paths or peers that never answer probes: the flow keeps its target
 * delay but never stops, which is Swift with the priority's target.
 */
void pp_fall_back(struct pp_flow *fl)
{
	struct pp_chan chan = *fl->chan;

	fl->rare = 1;
	fl->fallback = 1;
	chan.limit_ns = U32_MAX;
	/* without memory, pp_decide() knows it, too */
	pp_chan_take(fl, &chan);
	if (fl->core.stopped)
		pp_go_on(fl);
}

/**
 * pp_silence_begins() - the flow has stopped, or waits for its first probe
 * @fl: the flow; caller holds the socket lock
 */
void pp_silence_begins(struct pp_flow *fl)
{
	fl->silent_least_ns = U32_MAX;
	fl->silent_most_ns = 0;
	fl->silent_probes = 0;
	fl->silent_looks = 0;
	pp_sock_of(fl)->last_ack_ns = tcp_sk(fl->sk)->tcp_clock_cache;
}

/* A second of silence: go on as an ordinary control. */
static void pp_open(struct pp_flow *fl, u64 now_ns)
{
	fl->open_ns = fl->silent_most_ns - fl->silent_least_ns;
	fl->fallback = 1;
	fl->opened = 1;
	fl->stats.opens++;
	/* no probe is sent meanwhile */
	fl->probe_sent_ns = now_ns;
	fl->probe_nxt = tcp_sk(fl->sk)->delivered;
	pp_configure(fl, fl_profile_for(fl->sk, fl->fs));
	pp_move(&fl->core, true);
	pp_go_on(fl);
}

/* Silence after which the flow is an ordinary control, ns. One of a crowd that takes turns
 * waits for its turn: sixty flows on 100 Mbit/s that did not had a fairness (Jain) of .70
 * instead of .95.
 */
static u64 pp_open_after_ns(const struct pp_flow *fl)
{
	return PP_OPEN_AFTER_NS * max(fl->core.crowd_q8 >> PP_FLOWS_SHIFT, 1U);
}

/**
 * pp_still_silent() - a probe has not let the flow go on
 * @fl: the flow, stopped; caller holds the socket lock
 * @rtt_ns: what the probe saw, ns
 *
 * Context: ACK. Return: false if the flow goes on without probes.
 */
bool pp_still_silent(struct pp_flow *fl, u32 rtt_ns)
{
	u64 now_ns = tcp_sk(fl->sk)->tcp_clock_cache;
	struct pp_sock *ps = pp_sock_of(fl);
	u64 silence_ns = max_t(u64, PP_SILENT_NS,
			       (u64)PP_SILENT_RTTS * fl->chan->base_ns);
	u32 differ_ns;
	bool longer;

	fl->silent_least_ns = min(fl->silent_least_ns, rtt_ns);
	fl->silent_most_ns = max(fl->silent_most_ns, rtt_ns);
	if (fl->silent_probes < U8_MAX)
		fl->silent_probes++;
	if (now_ns - ps->last_ack_ns < silence_ns)
		return true;
	ps->last_ack_ns = now_ns;
	differ_ns = fl->silent_most_ns - fl->silent_least_ns;
	longer = fl->silent_least_ns > fl->chan->probe_base_ns;
	if (longer && fl->silent_probes >= PP_SILENT_PROBES &&
	    fl_ns_to_wnd(fl->chan->ppn, differ_ns) < FL_WND_ONE / 2) {
		fl->longer_ns += fl->silent_least_ns - fl->chan->probe_base_ns;
		fl->stats.opens++;
		pp_configure(fl, fl_profile_for(fl->sk, fl->fs));
		pp_move(&fl->core, true);
		pp_silence_begins(fl);
		return true;
	}
	fl->silent_looks++;
	if (fl->silent_looks * silence_ns >= pp_open_after_ns(fl)) {
		if (longer)
			fl->longer_ns += fl->silent_least_ns -
					 fl->chan->probe_base_ns;
		pp_open(fl, now_ns);
		return false;
	}
	return true;
}

/**
 * pp_open_ends() - is the flow to be PrioPlus again?
 * @fl: the flow, open; caller holds the socket lock
 *
 * Context: ACK. Return: true, and the flow waits for a probe.
 */
bool pp_open_ends(struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);
	u64 line, for_ns = tp->tcp_clock_cache - fl->probe_sent_ns;

	if (for_ns < PP_OPEN_FOR_NS)
		return false;
	line = fl_ns_to_wnd(fl->chan->ppn, min_t(u64, for_ns, U32_MAX)) >>
	       FL_WND_SHIFT;
	fl->probe_sent_ns = tp->tcp_clock_cache;
	if (2ULL * (tp->delivered - fl->probe_nxt) >= line) {
		fl->probe_nxt = tp->delivered;
		return false;
	}
	fl->fallback = 0;
	fl->opened = 0;
	fl->longer_ns = 0;
	pp_configure(fl, fl_profile_for(fl->sk, fl->fs));
	pp_suspend_idle(&fl->core);
	pp_silence_begins(fl);
	return true;
}

/**
 * pp_is_shorter() - is the path no longer than its base RTT says, after all?
 * @fl: the flow, with longer_ns; caller holds the socket lock
 * @delay_ns: delay of a full packet, ns; 0 = none
 * @probe_delay_ns: delay of a probe, ns; 0 = none
 *
 * Return: true, and its channel is to be computed anew.
 */
bool pp_is_shorter(struct pp_flow *fl, u32 delay_ns, u32 probe_delay_ns)
{
	const struct pp_chan *chan = fl->chan;

	if ((!delay_ns || delay_ns + chan->eps_ns >= chan->base_ns) &&
	    (!probe_delay_ns ||
	     probe_delay_ns + chan->eps_ns >= chan->probe_base_ns))
		return false;
	fl->longer_ns = 0;
	return true;
}
