// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus: virtual priorities in one queue, by channels of delay.
 *
 * The queue of a bottleneck belongs to the highest priority that sends. Each
 * priority i has a channel around its target delay (section 4.3.2):
 *
 *	D_target(i) = base RTT + i (A + B),   D_limit(i) = D_target(i) + A/2 + B
 *
 * and there are four situations (section 4.1):
 *
 *	delay > D_limit		a higher priority sends: stop, probe
 *	delay = base RTT	nobody fills the link: linear start
 *	base RTT .. D_target	lower priorities send: adaptive increase, so
 *				that they see more than their limit
 *	around D_target		the own priority: the original CC
 *
 * With pp_chan.paper this is Algorithm 1 as printed, except that its line 15
 * doubles #flow where section 4.3.1 halves it, that its line 7 stops with the
 * third sample above the limit where the text says two, and that a flow
 * whose share of W_LS is below a tenth of a packet probes again (which is
 * what the authors' simulator does).
 *
 * Without it, these things differ. Each is here because the paper's way was
 * measured to be slow or unstable with few packets in flight (10 Gbit/s) or
 * with many flows; Documentation/prioplus.rst has the numbers.
 *
 * 1. #flow comes from the own channel. delay * LineRate / W (line 8) counts
 *    the flows of the own priority only when nobody else has packets in the
 *    queue. At a preemption others do, and W is collapsing, so the paper's
 *    estimate is up to 100 times too high and reclaiming takes as long as it
 *    takes to halve it again. Here it is averaged while the delay stays in the
 *    own channel. A flow that has not been there yet takes the formula when
 *    its growth has raised the delay in proportion, since then its priority
 *    owns the queue.
 *
 * 2. One RTT instead of two (section 4.2.3). An increase is sent at once, and
 *    the RTT ends with the ACK of the last packet of that burst, whose delay
 *    includes the increase. So every RTT can end with an increase.
 *
 * 3. The adaptive increase is a share of the room: (D_target - delay) *
 *    LineRate / #flow, half of it in an RTT. The paper's step, W *
 *    (D_target - delay) / delay, is right when the own priority owns the
 *    queue, and tiny for the few packets of a newcomer. A newcomer that does
 *    not know #flow grows by half, and at least by a packet.
 *
 * 4. A linear start with unknown #flow begins with two packets and at most
 *    doubles in an RTT, up to W_LS per RTT: 300 flows that start at once
 *    make 55 us of queue instead of 570.
 *
 * 5. Stopping. A flow that has been in its channel for a while stops at the
 *    second sample above the limit, as in the paper. In the middle of a
 *    conflict an excess may be the flow's own: all priorities that wake up
 *    after an end fill the same room. Such a flow stops when the excess has
 *    lasted for several RTTs; the original CC shrinks it meanwhile. The paper's
 *    rule makes the heir stop, too, and it all begins again.
 *
 * 6. Resuming. Only a queue at base delay, or a delay that stayed below the
 *    limit for several probes, lets a preempted flow resume, and a flow
 *    farther below the channel that was last in use needs more of them: the
 *    heir is the first to wake up, and the dip in the queue while one
 *    priority hands over to the next wakes nobody. For the same reason, flows
 *    farther below probe less often (section 4.2.1 has (delay - D_target) for
 *    it), which is most of the probes' share of the link.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "pp_count.h"

/* Smallest window: a packet in 1024 RTTs. */
#define PP_MIN_WND		(FL_WND_ONE / 1024)
/* Paper mode: below this share of W_LS a flow probes again (simulator). */
#define PP_PAPER_MIN_WND	(FL_WND_ONE / 10)

/* RTTs in a lower channel after which #flow must be too high. */
#define PP_BELOW_MAX		8

/* First window of a linear start with unknown #flow, packets. */
#define PP_NEW_PKTS		2

/* RTTs above the limit until a flow stops: settled or far from the heir; */
#define PP_OVER_AT_ONCE		1
/* in a conflict; */
#define PP_OVER_CONFLICT	3
/* in a conflict, and most of the queue is the own priority's. */
#define PP_OVER_OWN		4
/* "Most" is this many eighths. */
#define PP_OWN_EIGHTHS		6
/* Less than these eighths of the queue: grow even inside the channel. */
#define PP_SMALL_EIGHTHS	2
/* A preempted flow with no more than this stops at once, packets. */
#define PP_REST_PKTS		2

/* RTTs for which a higher priority is suspected after an excess. */
#define PP_HOLD			8
/* RTTs below the own channel that end the suspicion. */
#define PP_HOLD_LOW		2

/* Points for resuming: needed by the heir, */
#define PP_CLEAR_HEIR		12
/* needed in addition for each channel between; */
#define PP_CLEAR_GAP		9
/* given by a probe at base delay, */
#define PP_CLEAR_BASE		6
/* given by a probe below the limit, */
#define PP_CLEAR_BELOW		2
/* taken at a stop: the first dip is the own departure. */
#define PP_CLEAR_STOP		6
/* More channels than this make no difference. */
#define PP_GAP_MAX		5
/* A flow this far from the heir's channel is not the heir. */
#define PP_GAP_FAR		2
/* Probe interval: base RTTs added for each channel of the gap, */
#define PP_PROBE_GAP		2
/* and for each 2^5 flows of the priority times 6, at most 32. */
#define PP_PROBE_FLOWS_MUL	6
#define PP_PROBE_FLOWS_SHIFT	5
#define PP_PROBE_FLOWS_MAX	32

/**
 * pp_chan_init() - compute the channel of a priority
 * @ch: the channel
 * @cf: settings
 * @prio: virtual priority, 0 .. PP_PRIO_MAX
 *
 * Section 4.3.2: D_target and D_limit; section 4.4: W_LS.
 * Return: 0, or -EINVAL if a setting is out of its range.
 */
int pp_chan_init(struct pp_chan *ch, const struct pp_conf *cf, u32 prio)
{
	u32 pkt_ns, shorter_ns;

	if (!cf->base_ns || !cf->line_bps || cf->wire_bytes < 64 ||
	    prio > PP_PRIO_MAX || !cf->start_permille ||
	    !(cf->fluct_ns + cf->noise_ns))
		return -EINVAL;
	ch->ppn = fl_ppn(cf->line_bps, cf->wire_bytes);
	if (!ch->ppn)
		return -EINVAL;
	ch->base_ns = cf->base_ns;
	ch->width_ns = cf->fluct_ns + cf->noise_ns;
	ch->target_ns = cf->base_ns + prio * ch->width_ns;
	ch->limit_ns = ch->target_ns + cf->fluct_ns / 2 + cf->noise_ns;
	ch->lower_ns = ch->target_ns - cf->fluct_ns / 2;
	pkt_ns = div64_u64((u64)cf->wire_bytes * 8000000000ULL, cf->line_bps);
	ch->eps_ns = cf->eps_ns ? cf->eps_ns : max_t(u32, 1000, pkt_ns);
	if (!prio) {
		/* a target that can be told from an empty queue */
		ch->target_ns += ch->eps_ns;
		ch->limit_ns = max_t(u32, ch->limit_ns,
				     ch->target_ns + cf->noise_ns);
	}
	ch->probe_base_ns = cf->probe_base_ns;
	if (!ch->probe_base_ns) {
		shorter_ns = 2 * div64_u64((u64)(cf->wire_bytes - 64) *
					   8000000000ULL, cf->line_bps);
		ch->probe_base_ns = cf->base_ns;
		if (shorter_ns < cf->base_ns / 2)
			ch->probe_base_ns -= shorter_ns;
	}
	ch->probe_cap_ns = cf->probe_cap_ns;
	ch->bdp_wnd = fl_ns_to_wnd(ch->ppn, cf->base_ns);
	ch->start_wnd = div_u64(ch->bdp_wnd * cf->start_permille, 1000);
	ch->ai_wnd = min_t(u64, U32_MAX,
			   div_u64((u64)cf->ai_bytes << FL_WND_SHIFT,
				   cf->wire_bytes));
	ch->max_wnd = max_t(u64, fl_ns_to_wnd(ch->ppn, ch->limit_ns),
			    2 * FL_WND_ONE);
	ch->paper = cf->paper;
	return 0;
}

/**
 * pp_init() - begin a flow, stopped: it probes before it sends
 * @pp: the flow
 * @base: the original CC
 * @now_ns: time, ns
 * @snd_nxt: next sequence number
 */
void pp_init(struct pp_core *pp, const struct fl_base_ops *base, u64 now_ns,
	     u32 snd_nxt)
{
	*pp = (struct pp_core) {
		.base = base,
		.round_end = snd_nxt,
		.flows_q8 = PP_FLOWS_ONE,
		.stopped = 1,
	};
	base->init(pp->base_state, now_ns);
}

/**
 * pp_suspend_idle() - a flow that had nothing to send probes before it does
 * @pp: the flow
 *
 * As if new, but it keeps what it knows about #flow.
 */
void pp_suspend_idle(struct pp_core *pp)
{
	pp->stopped = 1;
	pp->preempted = 0;
	pp->gap = 0;
	pp->clear = 0;
}

/**
 * pp_go() - begin to send
 * @pp: the flow
 * @wnd: window, packets << FL_WND_SHIFT
 * @snd_nxt: next sequence number; ACKs of earlier data end no RTT
 */
void pp_go(struct pp_core *pp, u64 wnd, u32 snd_nxt)
{
	pp->wnd = wnd;
	pp->step_wnd = 0;
	pp->ref_wnd = 0;
	pp->round_end = snd_nxt;
	pp->in_channel = 0;
	pp->below = 0;
	pp->over = 0;
	pp->over_rounds = 0;
	pp->clear = 0;
	pp->stopped = 0;
	pp->dual = 0;
}

/* Wait before a probe: (delay - D_target) + random(BaseRtt), section 4.2.1,
 * the latter times a factor for flows that are not the heir; see 6. above.
 */
static void pp_set_probe_wait(struct pp_core *pp, const struct pp_chan *ch,
			      u32 delay_ns, u32 random)
{
	u32 rtts = 1;
	u64 wait_ns;

	if (!ch->paper && pp->gap && !pp_at_base(ch, delay_ns))
		rtts += pp->gap * PP_PROBE_GAP +
			min_t(u32, (pp->flows_q8 * PP_PROBE_FLOWS_MUL) >>
				   (PP_PROBE_FLOWS_SHIFT + PP_FLOWS_SHIFT),
			      PP_PROBE_FLOWS_MAX);
	wait_ns = ((u64)random * ch->base_ns) >> 32;
	wait_ns *= rtts;
	if (delay_ns > ch->target_ns)
		wait_ns += delay_ns - ch->target_ns;
	pp->probe_wait_ns = min_t(u64, wait_ns, ch->probe_cap_ns);
}

static enum pp_verdict pp_stop(struct pp_core *pp, const struct pp_chan *ch,
			       const struct fl_sample *s)
{
	pp->stopped = 1;
	pp->preempted = 1;
	pp->clear = -PP_CLEAR_STOP;
	pp->in_channel = 0;
	pp_set_probe_wait(pp, ch, s->delay_ns, s->random);
	return PP_STOP;
}

/* The limit of a flow. While a higher priority is suspected it is the target:
 * two priorities could share the span between the two of them for long.
 */
static u32 pp_limit_now(const struct pp_core *pp, const struct pp_chan *ch)
{
	if (pp->hold && !ch->paper)
		return min_t(u32, ch->target_ns, ch->limit_ns);
	return ch->limit_ns;
}

/* RTTs above the limit that this flow endures; see 5. above. */
static u32 pp_patience(const struct pp_core *pp, const struct pp_chan *ch,
		       u32 delay_ns)
{
	if (pp->in_channel >= PP_SETTLED ||
	    (pp->preempted && pp->gap >= PP_GAP_FAR))
		return PP_OVER_AT_ONCE;
	if (pp_owns_less(pp, ch, delay_ns, PP_OWN_EIGHTHS))
		return PP_OVER_CONFLICT;
	return PP_OVER_OWN;
}

/* A sample above the limit. Return: true if the flow must stop. */
static bool pp_over_limit(struct pp_core *pp, const struct pp_chan *ch,
			  const struct fl_sample *s)
{
	if (pp->over < 2)
		pp->over++;
	if (ch->paper) {
		if (pp->over < 2)
			return false;
		pp_estimate_at_excess(pp, ch, s->delay_ns);
		return true;
	}
	/* two samples in a row; with one packet in flight, they are RTTs */
	if (pp->over < 2 && pp->wnd >= 2 * FL_WND_ONE)
		return false;
	if (!fl_seq_after(s->ack_seq, pp->round_end))
		return false;
	pp->round_end = s->snd_nxt;
	if (!pp->over_rounds)
		pp_estimate_at_excess(pp, ch, s->delay_ns);
	if (pp->over_rounds < U8_MAX)
		pp->over_rounds++;
	pp->hold = PP_HOLD;
	pp->low_rounds = 0;
	return pp->over_rounds >= pp_patience(pp, ch, s->delay_ns) ||
	       pp->wnd < FL_WND_ONE ||
	       (pp->preempted && pp->wnd <= PP_REST_PKTS * FL_WND_ONE);
}

/* An RTT has ended below the limit: is a higher priority still suspected? */
static void pp_age_suspicion(struct pp_core *pp, const struct pp_chan *ch,
			     u32 delay_ns)
{
	if (!pp->hold) {
		pp->over_rounds = 0;
		return;
	}
	pp->hold--;
	if (delay_ns >= ch->lower_ns)
		pp->low_rounds = 0;
	else if (++pp->low_rounds >= PP_HOLD_LOW)
		pp->hold = 0;
}

/* Step of a linear start (section 4.2.2); see 4. above. */
static u64 pp_linear_step(const struct pp_core *pp, const struct pp_chan *ch)
{
	u64 step = pp_own_part(pp, ch->start_wnd);

	if (!ch->paper && !pp->flows_known)
		step = min_t(u64, step, max_t(u64, pp->wnd, FL_WND_ONE));
	return step;
}

/* Step of an adaptive increase (section 4.2.3); see 3. above. */
static u64 pp_adaptive_step(struct pp_core *pp, const struct pp_chan *ch,
			    u32 delay_ns)
{
	u32 room_ns = ch->target_ns - delay_ns;
	u64 room = fl_ns_to_wnd(ch->ppn, room_ns);
	u64 by_ratio = min_t(u64, div_u64(pp->wnd * room_ns, delay_ns),
			     pp->wnd / 2);
	u64 step;

	if (pp->hold)
		return 0;
	if (delay_ns > ch->lower_ns &&
	    !pp_owns_less(pp, ch, delay_ns, PP_SMALL_EIGHTHS))
		return by_ratio / 2;
	if (pp->below < U8_MAX)
		pp->below++;
	if (pp->below > PP_BELOW_MAX)
		pp->flows_q8 = max_t(u32, pp->flows_q8 - pp->flows_q8 / 4,
				     PP_FLOWS_ONE);
	if (pp->flows_known)
		return max_t(u64, pp_own_part(pp, room) / 2, by_ratio / 2);
	if (pp->linear)
		return by_ratio;
	step = max_t(u64, pp->wnd / 2, min_t(u64, FL_WND_ONE, room));
	step = min_t(u64, step, max_t(u64, max_t(u64, room, pp->wnd) / 2,
				      FL_WND_ONE));
	return max_t(u64, step, by_ratio);
}

/* The end of an RTT below the limit. */
static void pp_round(struct pp_core *pp, const struct pp_chan *ch,
		     const struct fl_sample *s)
{
	u64 step;

	pp_age_suspicion(pp, ch, s->delay_ns);
	pp_estimate_in_channel(pp, ch, s->delay_ns);
	pp_estimate_by_response(pp, ch, s->delay_ns);
	if (s->delay_ns >= ch->target_ns || !s->wnd_limited)
		return;
	if (s->delay_ns > ch->lower_ns)
		pp->below = 0;
	if (pp_at_base(ch, s->delay_ns)) {
		pp->below = 0;
		pp->hold = 0;
		pp->over_rounds = 0;
		step = pp_linear_step(pp, ch);
		pp_count_down(pp);
	} else {
		step = pp_adaptive_step(pp, ch, s->delay_ns);
	}
	pp->wnd += step;
	/* the next RTT ends with the last packet that this step sends */
	pp->round_end += (step >> FL_WND_SHIFT) * s->seq_per_pkt;
}

/* The same as the paper prints it, lines 13 to 20. */
static void pp_round_paper(struct pp_core *pp, const struct pp_chan *ch,
			   const struct fl_sample *s)
{
	if (s->delay_ns > ch->target_ns)
		return;
	if (pp_at_base(ch, s->delay_ns)) {
		pp->wnd += pp_linear_step(pp, ch);
		pp_count_down(pp);
	} else if (pp->dual) {
		pp->step_wnd = div_u64(pp->wnd * (ch->target_ns - s->delay_ns),
				       s->delay_ns);
		pp->step_wnd = min_t(u64, pp->wnd / 2, pp->step_wnd);
	}
}

/* Does this ACK end an RTT? Above the limit, pp_over_limit() counts them. */
static bool pp_round_over(struct pp_core *pp, const struct pp_chan *ch,
			  const struct fl_sample *s)
{
	if (!fl_seq_after(s->ack_seq, pp->round_end) ||
	    (!ch->paper && s->delay_ns >= pp_limit_now(pp, ch)))
		return false;
	pp->round_end = s->snd_nxt;
	pp->dual = !pp->dual;
	if (!pp->dual)
		pp->step_wnd = 0;
	return true;
}

/**
 * pp_on_ack() - NewAck of Algorithm 1
 * @pp: the flow
 * @ch: its channel
 * @s: what the ACK says
 *
 * ACKs that come while the flow is stopped change nothing: they tell of
 * packets sent before.
 * Return: PP_SEND; or PP_STOP, and pp->probe_wait_ns is set.
 */
enum pp_verdict pp_on_ack(struct pp_core *pp, const struct pp_chan *ch,
			  const struct fl_sample *s)
{
	struct fl_target t = {
		.target_ns = ch->target_ns,
		.min_wnd = PP_MIN_WND,
		.max_wnd = ch->max_wnd,
	};
	bool round;

	if (pp->stopped)
		return PP_SEND;
	if (!s->delay_ns)
		return PP_SEND;
	round = pp_round_over(pp, ch, s);
	if (s->delay_ns >= pp_limit_now(pp, ch)) {
		if (pp_over_limit(pp, ch, s))
			return pp_stop(pp, ch, s);
	} else {
		pp->over = 0;
		if (round && ch->paper)
			pp_round_paper(pp, ch, s);
		else if (round)
			pp_round(pp, ch, s);
	}
	t.ai_wnd = min_t(u64, pp_own_part(pp, ch->ai_wnd) + pp->step_wnd,
			 U32_MAX);
	pp->base->on_ack(pp->base_state, &t, &pp->wnd, s);
	return PP_SEND;
}

/* Has a preempted flow seen enough to resume? See 6. above. */
static bool pp_may_resume(struct pp_core *pp, const struct pp_chan *ch,
			  u32 delay_ns)
{
	s32 need = PP_CLEAR_HEIR;

	if (ch->paper || !pp->preempted)
		return true;
	if (pp_at_base(ch, delay_ns)) {
		pp->clear += PP_CLEAR_BASE;
		if (pp->gap > 1)
			need += (pp->gap - 1) * PP_CLEAR_GAP;
	} else {
		pp->clear += PP_CLEAR_BELOW;
	}
	return pp->clear >= need;
}

/**
 * pp_on_probe() - NewProbeAck of Algorithm 1
 * @pp: the flow
 * @ch: its channel
 * @delay_ns: RTT of the probe, ns
 * @snd_nxt: next sequence number
 * @random: a fresh random number
 *
 * Return: PP_RESUME, and pp->wnd is set; PP_PROBE, and pp->probe_wait_ns is
 * set; PP_SEND if the flow is not stopped.
 */
enum pp_verdict pp_on_probe(struct pp_core *pp, const struct pp_chan *ch,
			    u32 delay_ns, u32 snd_nxt, u32 random)
{
	u64 wnd = FL_WND_ONE;

	if (!pp->stopped)
		return PP_SEND;
	/* as if the probe had been a full packet */
	delay_ns = ch->base_ns + (delay_ns > ch->probe_base_ns ?
				  delay_ns - ch->probe_base_ns : 0);
	if (delay_ns >= ch->limit_ns) {
		pp->clear = 0;
		/* rounded with 0.2: q is a little lower than its target */
		pp->gap = min_t(u32, (delay_ns - ch->target_ns +
				      ch->width_ns / 5) / ch->width_ns,
				PP_GAP_MAX);
		goto again;
	}
	if (!pp_may_resume(pp, ch, delay_ns))
		goto again;
	pp->linear = pp_at_base(ch, delay_ns);
	if (pp->linear) {
		wnd = pp_own_part(pp, ch->start_wnd);
		if (!ch->paper && !pp->flows_known)
			wnd = min_t(u64, wnd, PP_NEW_PKTS * FL_WND_ONE);
		pp_count_down(pp);
		if (ch->paper && wnd < PP_PAPER_MIN_WND)
			goto again;
	}
	pp_go(pp, wnd, snd_nxt);
	return PP_RESUME;
again:
	pp_set_probe_wait(pp, ch, delay_ns, random);
	return PP_PROBE;
}

/**
 * pp_on_loss() - data was lost
 * @pp: the flow
 * @ch: its channel
 * @now_ns: time, ns
 * @rtt_ns: smoothed RTT, ns
 * @how: how the loss was found
 */
void pp_on_loss(struct pp_core *pp, const struct pp_chan *ch, u64 now_ns,
		u32 rtt_ns, enum fl_loss how)
{
	struct fl_target t = {
		.target_ns = ch->target_ns,
		.min_wnd = PP_MIN_WND,
		.max_wnd = ch->max_wnd,
	};

	if (!pp->stopped)
		pp->base->on_loss(pp->base_state, &t, &pp->wnd, now_ns, rtt_ns,
				  how);
}
