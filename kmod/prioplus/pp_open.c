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
 * or 200 base RTTs		higher priority, which fills the line, its packets wait for
 *				all that this one sent before them, until that one gives way,
 *				a round trip later; on an idle line they wait no longer than
 *				the first ones, whatever the noise. Where some do wait, the
 *				silence begins anew. One of a crowd that takes turns asks once
 *				a second, until a second for each of them has passed.
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
 * Jitter lets some probes in a row find the line free now and then. So a silence goes on across
 * a stop where the flow had next to nothing in between. Of a crowd each flow sees the same. But
 * where jitter keeps packets and lets them go at once (lib/hold.h), ACKs come closer than the line
 * lets packets go, and behind a queue they never do: of the trains of such a path, one is enough,
 * whatever the crowd, and after the second one the flow does not become an ordinary control. The
 * path is known to hold packets, and B is wide enough for that, for all flows to this address
 * (fl_base_rtt.c).
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
/* Waits for the next probe are up to this part of a silence, log2, and so many times what a flow
 * alone takes that uses a sixteenth of the line for probes: see pp_wait_ns().
 */
#define PP_SELDOM_SHIFT		4
#define PP_SELDOM_ROOMS		128
/* Who had less than this part of the line since then, log2, has been silent; and where packets
 * came closer than the line lets them go.
 */
#define PP_SILENT_PART_SHIFT	10
#define PP_HELD_PART_SHIFT	4
/* ACKs after a silence that are looked at for such packets. */
#define PP_HELD_LOOK_ACKS	32
/* Silence after which a flow asks by a train, and for how long it is an ordinary control
 * then, ns, and in base RTTs: the longer one.
 */
#define PP_OPEN_AFTER_NS	NSEC_PER_SEC
#define PP_OPEN_AFTER_RTTS	200
/* And later by up to this for each flow of the crowd after a train that had to wait, ns, one less
 * than a power of two.
 */
#define PP_ASK_RANDOM_NS	(BIT(25) - 1)
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
/* No path holds packets for longer, ns. */
#define PP_HELD_MAX_NS		(20U * NSEC_PER_MSEC)
/* It still does while flows see this part of it, 1 / this. */
#define PP_HELD_PART		4
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
	if (pp_is_silent(fl)) {
		fl_snd_cwnd_set(tp, 0);
		return;
	}
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
 * For paths or peers that do not answer probes: the flow keeps its target
 * delay but does not stop, which is Swift with the priority's target. It lasts until a probe
 * is answered (pp_probe_again()).
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

/* Time of a packet on the line that was given, ns. */
static u32 pp_line_gap_ns(const struct pp_flow *fl)
{
	u64 ns = div64_u64((u64)FL_WND_ONE << (FL_PPN_SHIFT - FL_WND_SHIFT),
			   fl->chan->ppn);

	return clamp_t(u64, ns, 1, U32_MAX / PP_TRAIN_SLOW_MOST);
}

/* For how long the path holds packets, by what @hold has seen, ns. */
static u64 pp_hold_ns(const struct pp_flow *fl)
{
	return (u64)fl_hold_pairs(&fl->hold) * fl->hold.packet_ns;
}

/* Look for packets that come closer than the line lets them go: by an eighth, since what it
 * counts of a packet is not known to the byte. A train that is slower than the line may meet a
 * queue that brings its packets together.
 */
static void pp_hold_begins(struct pp_flow *fl)
{
	u32 gap_ns = pp_line_gap_ns(fl);

	fl->hold = (struct fl_hold){ .packet_ns = gap_ns - gap_ns / 8 };
}

/* Silence after which the flow asks whether the line is idle, ns. */
static u64 pp_open_after_ns(const struct pp_flow *fl)
{
	return max_t(u64, PP_OPEN_AFTER_NS, (u64)PP_OPEN_AFTER_RTTS * fl->chan->base_ns);
}

/**
 * pp_silence_begins() - the flow has stopped, or waits for its first probe
 * @fl: the flow; caller holds the socket lock
 */
void pp_silence_begins(struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);

	fl->silent_since_ns = tp->tcp_clock_cache;
	fl->ask_ns = tp->tcp_clock_cache + pp_open_after_ns(fl);
	fl->silent_delivered_pkts = tp->delivered;
	fl->silent_least_ns = U32_MAX;
	fl->silent_most_ns = 0;
	fl->silent_probes = 0;
	fl->found_idle = 0;
	fl->train_pkts = 0;
	fl->held_seen = 0;
	fl->held_look_acks = PP_HELD_LOOK_ACKS;
	pp_hold_begins(fl);
	pp_sock_of(fl)->last_ack_ns = tp->tcp_clock_cache;
}

/**
 * pp_silence_goes_on() - has the flow been as good as silent although it has sent?
 * @fl: the flow, stopped just now; caller holds the socket lock
 *
 * Return: yes, since pp_silence_begins(): what was delivered takes a small part of that time on
 * the line.
 */
bool pp_silence_goes_on(const struct pp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(fl->sk);
	u64 line_ns = (u64)(tp->delivered - fl->silent_delivered_pkts) * pp_line_gap_ns(fl);
	u32 shift = fl->held_seen ? PP_HELD_PART_SHIFT : PP_SILENT_PART_SHIFT;

	return line_ns < (tp->tcp_clock_cache - fl->silent_since_ns) >> shift;
}

/* The line was idle: the least delay of the silence is the path's. */
static void pp_path_is_longer(struct pp_flow *fl)
{
	if (fl->silent_least_ns > fl->chan->probe_base_ns)
		fl->longer_ns += fl->silent_least_ns - fl->chan->probe_base_ns;
	pp_configure(fl, fl_profile_for(fl->sk, fl->fs));
	pp_move(&fl->core, true);
}

/* The line is idle, and yet the flow has been silent: go on as an ordinary control. */
static void pp_open(struct pp_flow *fl, u64 now_ns)
{
	fl->open_ns = fl->silent_most_ns - fl->silent_least_ns;
	fl->fallback = 1;
	fl->opened = 1;
	fl->stats.opens++;
	/* no probe is sent meanwhile */
	fl->probe_sent_ns = now_ns;
	pp_path_is_longer(fl);
	pp_go_on(fl);
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
	pp_hold_begins(fl);
	fl->ask_ns = tcp_sk(fl->sk)->tcp_clock_cache + pp_open_after_ns(fl);
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

	fl_hold_acked(&fl->hold, s->now_ns, s->acked_pkts, U32_MAX);
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
	grown_ns = fl->train_most_ns - min(fl->train_first_ns, fl->train_most_ns);
	busy_ns = min_t(u64, (u64)fl->train_pkts * (gap_ns ?: line_ns) /
			     PP_TRAIN_BUSY_PART,
			((u64)fl->silent_least_ns + fl->silent_most_ns) / 2 /
			PP_TRAIN_WAIT_PART);
	if (grown_ns < busy_ns + pp_hold_ns(fl))
		return true;
	/* from the beginning to the middle: more may not have been in the send buffer */
	grown_ns = 0;
	if (fl->train_late_ns != U32_MAX && fl->train_late_ns > fl->train_first_ns)
		grown_ns = fl->train_late_ns - fl->train_first_ns;
	fl->train_gap_ns = gap_ns || !grown_ns ? 0 :
			   min_t(u64, line_ns + div_u64(2ULL * grown_ns, fl->train_pkts),
				 (u64)line_ns * PP_TRAIN_SLOW_MOST);
	return false;
}

/* Flows that take turns, 1 and more. */
static u32 pp_crowd(const struct pp_flow *fl)
{
	return max(fl->core.crowd_q8 >> PP_FLOWS_SHIFT, 1U);
}

/* A train has found the line idle. It is, where the path has held packets of the train. Of a
 * crowd that takes turns, each finds it so while the others wait for their turn: sixty flows on
 * 100 Mbit/s that did not wait for that had a fairness (Jain) of .70 instead of .95.
 */
static bool pp_idle_is_sure(const struct pp_flow *fl, u64 now_ns)
{
	return pp_hold_ns(fl) ||
	       now_ns - fl->silent_since_ns >= pp_open_after_ns(fl) * pp_crowd(fl);
}

/* Both trains have found the line idle. Is the path one that holds packets for longer than
 * was known? All flows to this address have wider channels then. A train is short: where it had n
 * packets at once a longer one may have had another. So delays of the silence say for how long, up
 * to where n + 1 come at once.
 */
static bool pp_is_held(struct pp_flow *fl)
{
	struct fl_base_rtt *base = pp_base_rtt(fl);
	u32 gap_ns = fl->train_gap_ns ?: pp_line_gap_ns(fl);
	u64 gaps = fl_hold_pairs(&fl->hold) + (u64)fl_hold_pkts(&fl->hold);
	u64 held_ns = min_t(u64, fl->silent_most_ns - fl->silent_least_ns, gaps * gap_ns);

	held_ns = min_t(u64, held_ns, PP_HELD_MAX_NS);
	if (held_ns <= base->held_ns)
		return false;
	fl_base_rtt_tell_held(fl->sk, base, held_ns);
	base->held_ns = held_ns;
	fl->rare = 1;
	fl->stats.opens++;
	pp_path_is_longer(fl);
	pp_silence_begins(fl);
	return true;
}

/**
 * pp_held_acked() - an ACK after a silence, or on a path that holds packets: does it?
 * @fl: the flow, sending; caller holds the socket lock
 * @s: what the ACK says
 *
 * Flows tell each other anew as a window of base RTTs turns.
 */
void pp_held_acked(struct pp_flow *fl, const struct fl_sample *s)
{
	const struct fl_base_rtt *base = pp_base_rtt(fl);
	u64 seen_ns;

	if (fl->held_look_acks)
		fl->held_look_acks--;
	fl_hold_acked(&fl->hold, s->now_ns, s->acked_pkts, s->delay_ns ?: U32_MAX);
	seen_ns = pp_hold_ns(fl);
	if (seen_ns)
		fl->held_seen = 1;
	if (base->turned && fl->chan->held_ns && seen_ns >= base->held_ns / PP_HELD_PART)
		fl_base_rtt_tell_held(fl->sk, base,
				      clamp_t(u64, seen_ns, base->held_ns,
					      min(2 * base->held_ns, PP_HELD_MAX_NS)));
}

/* Have all probes of the silence seen the same delay, longer than the path is said to be? */
static bool pp_saw_one_delay(const struct pp_flow *fl)
{
	u32 differ_ns = fl->silent_most_ns - fl->silent_least_ns;

	return fl->silent_least_ns > fl->chan->probe_base_ns &&
	       fl->silent_probes >= PP_SILENT_PROBES &&
	       fl_ns_to_wnd(fl->chan->ppn, differ_ns) < FL_WND_ONE / 2;
}

/* How long until the next probe? A flow that has never had a share of the line does not know how
 * many wait as it does, and the probes of hundreds can be all of the queue for which they wait:
 * then a longer wait of each is a shorter queue. So such a flow asks the more seldom the longer it
 * has been silent. @silence_ns: silence from which on that is so, ns.
 */
static u32 pp_wait_ns(struct pp_flow *fl, u64 now_ns, u64 silence_ns)
{
	u64 silent_ns = now_ns - fl->silent_since_ns, span_ns;

	if (silent_ns < silence_ns || fl->core.flows_known || fl->chan->paper)
		return fl->core.probe_wait_ns;
	span_ns = min_t(u64, silent_ns >> PP_SELDOM_SHIFT,
			(u64)PP_SELDOM_ROOMS * fl->chan->probe_room_ns);
	return max_t(u32, fl->core.probe_wait_ns, (pp_random(fl) * span_ns) >> 32);
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

	if (fl->train_pkts) {
		if (!pp_train_found_idle(fl)) {
			pp_silence_begins(fl);
			/* flows that began together have met each other's trains */
			fl->ask_ns += (u64)(pp_random(fl) & PP_ASK_RANDOM_NS) * pp_crowd(fl);
			goto probe;
		}
		fl->train_pkts = 0;
		if (!pp_idle_is_sure(fl, now_ns))
			goto probe;
		if (fl->found_idle) {
			if (pp_is_held(fl))
				goto probe;
			pp_open(fl, now_ns);
			return;
		}
		fl->found_idle = 1;
		fl->ask_ns = now_ns + silence_ns;
	}
	/* of the first probe after an open second, the flow's own queue is a part */
	if (!fl->found_idle) {
		fl->silent_least_ns = min(fl->silent_least_ns, rtt_ns);
		fl->silent_most_ns = max(fl->silent_most_ns, rtt_ns);
		if (fl->silent_probes < U8_MAX)
			fl->silent_probes++;
	}
	if (now_ns >= fl->ask_ns) {
		pp_train_begins(fl);
		return;
	}
	if (now_ns - ps->last_ack_ns < silence_ns)
		goto probe;
	ps->last_ack_ns = now_ns;
	if (pp_saw_one_delay(fl)) {
		fl_base_rtt_tell_longer(fl->sk, pp_base_rtt(fl), fl->silent_least_ns);
		fl->stats.opens++;
		pp_path_is_longer(fl);
		pp_silence_begins(fl);
	}
probe:
	pp_probe_stopped(fl, pp_wait_ns(fl, now_ns, silence_ns), rtt_ns);
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
	pp_suspend_idle(&fl->core, 0);
	pp_silence_begins(fl);
	/* as if a train had found the line idle a while ago */
	fl->silent_least_ns = least_ns;
	fl->silent_most_ns = least_ns + open_ns;
	fl->silent_since_ns -= min(fl->silent_since_ns, pp_open_after_ns(fl));
	fl->found_idle = 1;
	fl->ask_ns = 0;
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
