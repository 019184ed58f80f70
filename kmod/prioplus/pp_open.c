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
 *				on with the base RTT that it has. The next one to this
 *				address begins with that.
 *	a second		A train of packets leaves, at the rate of the line (after one
 *				that had to wait: as fast as that came back). Behind a
 * or 1000 base RTTs		higher priority, which fills the line, its packets wait for
 *				all that this one sent before them, until that one gives way,
 *				a round trip later; on an idle line they wait no longer than
 *				the first ones, whatever the noise. Where some do wait, the
 *				silence begins anew.
 *	20 ms later		Another train leaves. Two flows that wait for the same one ask
 *				at the same time: the train of one stops it, and that of the
 *				other comes back as from an idle line. Where both trains found
 *				the line idle, the flow is
 *				an ordinary control: it steers by the original CC for the
 *				least delay of that second and as much more as the delays of
 *				the second differ, and does not stop.
 *	a second later		It is PrioPlus again, and its first train leaves with its first
 *				probe: what was wrong ends then, and what was right goes on
 *				after some round trips.
 *
 * The trickle that a silent flow sends are its probes. A packet of data would tell no more
 * than an echo does, and one each 20 ms of each flow that waits would be in the queue of
 * those for whom it waits. Nor do echoes tell a line that a higher priority keeps full from
 * a longer path with noise, for as long as this flow sends nothing: the queue of the one is
 * the delay of the other.
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
/* Silence after which a flow asks by a train, and for how long it is an ordinary control
 * then, ns, and in base RTTs: the longer one.
 */
#define PP_OPEN_AFTER_NS	NSEC_PER_SEC
#define PP_OPEN_AFTER_RTTS	1000
/* A train takes so many times as long on the line as the delays of the silence differ;
 * its packets.
 */
#define PP_TRAIN_DIFFERS	4
#define PP_TRAIN_LEAST_PKTS	8
#define PP_TRAIN_MOST_PKTS	256
/* A train comes back in so many parts. It may be longer than others need to give way, and
 * then the last part tells nothing: each is compared with the first one.
 */
#define PP_TRAIN_PARTS		4
/* A line is busy where the least delay of a part is longer than that of the first one by
 * the time of this part of the train, 1 / this. The last part waits three fourths of the
 * train if somebody else sends as fast as the line.
 */
#define PP_TRAIN_BUSY_PART	4
/* A line is busy, too, where that is longer by this part of the mean delay that the silence
 * saw, 1 / this. The others give way a round trip after the train has come, and a round trip
 * takes that delay: what a long train waits does not grow with it any more.
 */
#define PP_TRAIN_WAIT_PART	2
/* A train is slower than the line that was given by this factor at most. */
#define PP_TRAIN_SLOW_MOST	64

/* What a flow that is stopped may have in flight: what is left of its train. */
static u32 pp_train_wnd(const struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);

	if (!fl->train_pkts || !before(tp->snd_nxt, fl->train_end))
		return 0;
	return tcp_packets_in_flight(tp) +
	       DIV_ROUND_UP(fl->train_end - tp->snd_nxt, max_t(u32, fl->mss, 1));
}

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
		fl_snd_cwnd_set(tp, pp_train_wnd(fl));
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

/* Send with a packet. Context: socket lock held. */
static void pp_go_on(struct pp_flow *fl)
{
	fl->rare = 1;
	fl->train_pkts = 0;
	fl->stale_pkts = 0;
	pp_go(&fl->core, FL_WND_ONE, tcp_sk(fl->sk)->snd_nxt);
	pp_trace_state(fl, 0);
	pp_apply(fl);
	fl_send_soon(fl->sk);
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
	fl->found_idle = 0;
	fl->train_pkts = 0;
	pp_sock_of(fl)->last_ack_ns = tcp_sk(fl->sk)->tcp_clock_cache;
}

/* The line is idle, and yet the flow has been silent: go on as an ordinary control. */
static void pp_open(struct pp_flow *fl, u64 now_ns)
{
	if (fl->silent_least_ns > fl->chan->probe_base_ns)
		fl->longer_ns += fl->silent_least_ns - fl->chan->probe_base_ns;
	fl->open_ns = fl->silent_most_ns - fl->silent_least_ns;
	fl->fallback = 1;
	fl->opened = 1;
	fl->stats.opens++;
	/* no probe is sent meanwhile */
	fl->probe_sent_ns = now_ns;
	pp_configure(fl, fl_profile_for(fl->sk, fl->fs));
	pp_move(&fl->core, true);
	pp_go_on(fl);
}

/* Silence after which the flow asks whether the line is idle, ns. One of a crowd that takes
 * turns waits for its turn: sixty flows on 100 Mbit/s that did not had a fairness (Jain) of
 * .70 instead of .95.
 */
static u64 pp_open_after_ns(const struct pp_flow *fl)
{
	u64 ns = max_t(u64, PP_OPEN_AFTER_NS,
		       (u64)PP_OPEN_AFTER_RTTS * fl->chan->base_ns);

	return ns * max(fl->core.crowd_q8 >> PP_FLOWS_SHIFT, 1U);
}

/* Time of a packet on the line that was given, ns. */
static u32 pp_line_gap_ns(const struct pp_flow *fl)
{
	u64 ns = div64_u64((u64)FL_WND_ONE << (FL_PPN_SHIFT - FL_WND_SHIFT),
			   fl->chan->ppn);

	return clamp_t(u64, ns, 1, U32_MAX / PP_TRAIN_SLOW_MOST);
}

/* A train leaves, as fast as the line is or as the last one came back, and a probe right
 * after it.
 */
static void pp_train_begins(struct pp_flow *fl)
{
	u32 gap_ns = fl->train_gap_ns ?: pp_line_gap_ns(fl);
	u64 ns = (u64)(fl->silent_most_ns - fl->silent_least_ns) *
		 PP_TRAIN_DIFFERS;

	fl->train_pkts = clamp_t(u64, div_u64(ns, gap_ns), PP_TRAIN_LEAST_PKTS,
				 PP_TRAIN_MOST_PKTS);
	fl->train_end = tcp_sk(fl->sk)->snd_nxt + fl->train_pkts * fl->mss;
	fl->train_part = 0;
	fl->train_part_ns = U32_MAX;
	fl->train_first_ns = U32_MAX;
	fl->train_most_ns = 0;
	fl->train_late_ns = U32_MAX;
	ns = min_t(u64, (u64)fl->train_pkts * gap_ns, U32_MAX);
	pp_apply(fl);
	fl_pace_wnd(fl->sk, fl->train_pkts * (u64)FL_WND_ONE, ns);
	fl_send_soon(fl->sk);
	pp_probe_after(fl, ns);
}

/* A part of the train is back. */
static void pp_train_part_ends(struct pp_flow *fl)
{
	if (fl->train_part_ns == U32_MAX)
		return;
	if (!fl->train_part)
		fl->train_first_ns = fl->train_part_ns;
	else
		fl->train_most_ns = max(fl->train_most_ns, fl->train_part_ns);
	if (fl->train_part >= PP_TRAIN_PARTS / 2)
		fl->train_late_ns = min(fl->train_late_ns, fl->train_part_ns);
	fl->train_part_ns = U32_MAX;
}

/**
 * pp_train_acked() - a flow that is stopped has a delay of its train
 * @fl: the flow; caller holds the socket lock
 * @s: the sample
 *
 * Context: ACK.
 */
void pp_train_acked(struct pp_flow *fl, const struct fl_sample *s)
{
	u32 bytes = fl->train_pkts * fl->mss, left = fl->train_end - s->ack_seq;
	u8 part;

	if (!s->delay_ns)
		return;
	/* the last byte of a part belongs to it; what was sent before the train, to the first */
	part = left >= bytes ? 0 : min_t(u32, (bytes - left - 1) / (bytes / PP_TRAIN_PARTS),
					 PP_TRAIN_PARTS - 1);
	if (part != fl->train_part) {
		pp_train_part_ends(fl);
		fl->train_part = part;
	}
	fl->train_part_ns = min(fl->train_part_ns, s->delay_ns);
}

/* All of the train is back. Return: was nobody else on the line?
 *
 * A train that is faster than the line waits for itself, and so looks like one behind
 * somebody. The next one leaves as fast as this one came back: on an idle line it does not
 * wait, whatever line rate was given; on a busy one it does.
 */
static bool pp_train_found_idle(struct pp_flow *fl)
{
	u32 gap_ns = fl->train_gap_ns, line_ns = pp_line_gap_ns(fl);
	u32 grown_ns;
	u64 busy_ns;

	pp_train_part_ends(fl);
	if (fl->train_first_ns == U32_MAX || !fl->train_most_ns)
		return false;
	if (fl->train_most_ns <= fl->train_first_ns)
		return true;
	grown_ns = fl->train_most_ns - fl->train_first_ns;
	busy_ns = min_t(u64, (u64)fl->train_pkts * (gap_ns ?: line_ns) /
			     PP_TRAIN_BUSY_PART,
			((u64)fl->silent_least_ns + fl->silent_most_ns) / 2 /
			PP_TRAIN_WAIT_PART);
	if (grown_ns < busy_ns)
		return true;
	/* from the beginning to the middle: more may not have been in the send buffer */
	grown_ns = 0;
	if (fl->train_late_ns != U32_MAX && fl->train_late_ns > fl->train_first_ns)
		grown_ns = fl->train_late_ns - fl->train_first_ns;
	fl->train_gap_ns = gap_ns || !grown_ns ? 0 :
			   min_t(u64, line_ns + 2ULL * grown_ns / fl->train_pkts,
				 (u64)line_ns * PP_TRAIN_SLOW_MOST);
	return false;
}

/**
 * pp_still_silent() - a probe has not let the flow go on
 * @fl: the flow, stopped; caller holds the socket lock
 * @rtt_ns: what the probe saw, ns
 *
 * The next probe, or the flow goes on. Context: ACK.
 */
void pp_still_silent(struct pp_flow *fl, u32 rtt_ns)
{
	u64 now_ns = tcp_sk(fl->sk)->tcp_clock_cache;
	struct pp_sock *ps = pp_sock_of(fl);
	u64 silence_ns = max_t(u64, PP_SILENT_NS,
			       (u64)PP_SILENT_RTTS * fl->chan->base_ns);
	u32 differ_ns;

	if (fl->train_pkts && !pp_train_found_idle(fl)) {
		pp_silence_begins(fl);
		goto probe;
	}
	if (fl->train_pkts && fl->found_idle) {
		pp_open(fl, now_ns);
		return;
	}
	if (fl->train_pkts) {
		fl->found_idle = 1;
		fl->train_pkts = 0;
		ps->last_ack_ns = now_ns;
	}
	/* of the first probe after an open second, the flow's own queue is a part */
	if (!fl->found_idle) {
		fl->silent_least_ns = min(fl->silent_least_ns, rtt_ns);
		fl->silent_most_ns = max(fl->silent_most_ns, rtt_ns);
		if (fl->silent_probes < U8_MAX)
			fl->silent_probes++;
	}
	if (now_ns - ps->last_ack_ns < silence_ns)
		goto probe;
	ps->last_ack_ns = now_ns;
	differ_ns = fl->silent_most_ns - fl->silent_least_ns;
	if (fl->silent_least_ns > fl->chan->probe_base_ns &&
	    fl->silent_probes >= PP_SILENT_PROBES &&
	    fl_ns_to_wnd(fl->chan->ppn, differ_ns) < FL_WND_ONE / 2) {
		fl->longer_ns += fl->silent_least_ns - fl->chan->probe_base_ns;
		fl_base_rtt_tell_longer(fl->sk, pp_base_rtt(fl),
					fl->silent_least_ns);
		fl->stats.opens++;
		pp_configure(fl, fl_profile_for(fl->sk, fl->fs));
		pp_move(&fl->core, true);
		pp_silence_begins(fl);
		goto probe;
	}
	fl->silent_looks++;
	if (fl->found_idle || fl->silent_looks * silence_ns >= pp_open_after_ns(fl)) {
		pp_train_begins(fl);
		return;
	}
probe:
	pp_probe_after(fl, fl->core.probe_wait_ns);
}

/**
 * pp_open_ends() - is the flow to be PrioPlus again?
 * @fl: the flow, open; caller holds the socket lock
 *
 * Context: ACK. Return: true, and the flow waits for a probe.
 */
bool pp_open_ends(struct pp_flow *fl)
{
	u64 now_ns = tcp_sk(fl->sk)->tcp_clock_cache;
	u32 least_ns = fl->chan->probe_base_ns, open_ns = fl->open_ns;

	if (now_ns - fl->probe_sent_ns < pp_open_after_ns(fl))
		return false;
	fl->fallback = 0;
	fl->opened = 0;
	fl->longer_ns = 0;
	pp_configure(fl, fl_profile_for(fl->sk, fl->fs));
	pp_suspend_idle(&fl->core);
	pp_silence_begins(fl);
	/* as if a train had found the line idle a while ago */
	fl->silent_least_ns = least_ns;
	fl->silent_most_ns = least_ns + open_ns;
	fl->found_idle = 1;
	pp_sock_of(fl)->last_ack_ns = 0;
	return true;
}

/**
 * pp_expect_longer() - has another flow found a longer path to this address?
 * @fl: the flow, new, with a channel; caller holds the socket lock
 * @pf: its profile
 */
void pp_expect_longer(struct pp_flow *fl, const struct fl_profile *pf)
{
	u32 probe_ns = fl_base_rtt_longer(fl->sk, pp_base_rtt(fl));

	if (probe_ns <= fl->chan->probe_base_ns + fl->chan->eps_ns)
		return;
	fl->longer_ns = probe_ns - fl->chan->probe_base_ns;
	pp_configure(fl, pf);
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
	     probe_delay_ns + chan->eps_ns >= chan->probe_base_ns)) {
		/* what is told is forgotten after two windows */
		if (pp_base_rtt(fl)->turned)
			fl_base_rtt_tell_longer(fl->sk, pp_base_rtt(fl),
						chan->probe_base_ns);
		return false;
	}
	fl->longer_ns = 0;
	return true;
}
