// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus: virtual priorities in one queue, by channels of delay.
 *
 * The queue of a bottleneck belongs to the highest priority that sends. Each
 * priority i has a channel around its target delay (section 4.3.2):
 *
 *	D_target(i) = base RTT + i (A + B),   D_limit(i) = D_target(i) + A/2 + B
 *
 * (D_target(0) is higher, and where B is more than A/2 all are: pp_chan_noisy() in
 * pp_chan.c), and there are four situations (section 4.1):
 *
 *	delay > D_limit		a higher priority sends: stop, probe
 *	delay = base RTT	nobody fills the link: linear start
 *	base RTT .. D_target	lower priorities send: adaptive increase, so
 *				that they see more than their limit
 *	around D_target		the own priority: the original CC
 *
 * paper.c is Algorithm 1 as printed, for pp_chan.paper. Here these things differ. Each
 * is here because the paper's way was measured to be slow or unstable with few
 * packets in flight (10 Gbit/s) or with many flows; Documentation/design/prioplus.rst has the
 * numbers.
 *
 * 1. Scale (PP_SCALE). Channels are at least 2.6 packets and a twelfth of the base RTT
 *    wide (pp_fluct_ns() in pp_chan.c): a queue is whole packets, and an RTT of growth
 *    changes the delay by a part of the RTT. In narrower ones a step jumps over
 *    several priorities' channels, and the delay orders nobody. Where the base RTT is
 *    still eight channels and more (pp_chan.paced), the sender spreads each window over
 *    a base RTT; a start has up to ten packets. W_AI is a fiftieth of a channel at least, and
 *    flows share by targets of their own (pp_targets_init() in pp_weight.c).
 *
 * 2. Count (PP_COUNT). #flow is taken where the queue is the own priority's.
 *    delay * LineRate / W (line 8) counts the flows of the own priority only when nobody
 *    else has packets in the queue. At a preemption others do, and W is collapsing, so the
 *    paper's estimate is up to 100 times too high. Here it is averaged while the
 *    delay stays in the own channel. A flow that has not been there yet takes the
 *    formula when its growth has raised the delay in proportion. At base delay the line
 *    holds no more than a BDP, so #flow is no more than BDP / W there.
 *
 * 3. Step (PP_STEP). Every RTT may end with a step, sent at once: the RTT ends with the
 *    ACK of the step's last packet, whose delay includes the step (the paper: two RTTs).
 *    A step is half of the flow's share of the room, (D_target - delay) * LineRate /
 *    #flow. The paper's, W * (D_target - delay) / delay, is tiny for the few packets
 *    of a newcomer. A newcomer that does not know #flow doubles where others have a queue
 *    (pp_grow.c). One that comes back grows by half, and at least by a packet; a linear
 *    start with unknown #flow begins with two packets and at most doubles: 300 flows that
 *    start at once make 55 us of queue instead of 570. That of a lone flow ends with what
 *    line and channel hold. After a pause a flow goes on with what it had, up to a quarter
 *    of the line.
 *
 * 4. Patience (PP_PATIENCE). A flow that is settled in its channel stops when an eighth of a
 *    window, 2 to 4 samples, in a row was above the limit: two, as in the paper, are
 *    what noise of ten microseconds makes in each RTT. In the middle of a conflict an excess
 *    may be the flow's own: all priorities that wake up after an end fill the
 *    same room. Such a flow stops when the excess has lasted for several RTTs;
 *    the original CC shrinks it meanwhile, and for eight RTTs it takes no step. A
 *    flow that was far below the last channel in use stops at once, unless the
 *    line was empty when it resumed: what is above the limit then, its own priority
 *    made. What a flow's own packets explain is nobody else's: where an ACK stands for two
 *    packets, delays of a lone flow differ by two packets from one window to the next, which
 *    is more than half a channel. Where B is more than A/2, noise alone takes priority 0
 *    above its limit at times: it counts an excess if what its own priority has in flight and
 *    B are not enough for the delay. Where packets are long beside a channel (pp_chan.few), what
 *    this host's flows to the same one have in flight, of this and of lower priorities, explains
 *    it as well (pp_kin_explains(); the kernel counts, pp_kin.c).
 *
 * 5. Return (PP_RETURN). A preempted flow resumes after several probes below the limit,
 *    and after more the farther it is below the channel that was last in use (the last
 *    two probes above the limit tell which that was: the last one alone may have met
 *    a queue that was draining), and more again for each channel between that it has seen in
 *    use: these wait, too. A delay below the limit that does not move counts for
 *    more than one that does: that is a lower priority's queue, not a newcomer's who is
 *    on the way up. So the heir is the first, and the dip in
 *    the queue while one priority hands over to the next wakes nobody. Those who come
 *    back share the room: #flow is no measure of how many they are, since it is in
 *    flight / W, so they find it out together (pp_crowd_*() in pp_count.c), and where a
 *    share is less than a packet each sends one with that probability. Kin know how many of them
 *    wait (pp_kin_turn()). Flows
 *    farther down and of larger crowds probe less often, and a crowd
 *    uses a sixteenth of the line for probes at most.
 *
 * What a flow believes, by what evidence, and why two flows that do so are not both wrong
 * for long is in Documentation/design/prioplus.rst. "make ablation" switches each rule off in
 * the user-space model and counts what is left of good set-ups.
 */
#include "paper.h"
#include "pp_ack.h"
#include "pp_weight.h"

/* A newcomer begins with that window above a queue that is less than this many
 * halves of a channel below its target: that of the next priority.
 */
#define PP_NEAR_HALVES		3

/* The first window of a flow that goes on is 1 / this of its part of W_LS at most, a quarter of the
 * line. Eight that return at once from a pause have a queue of a BDP.
 */
#define PP_FIRST_PART		2

/* An excess is so many samples in a row, an eighth of the window at most: noise makes a sample
 * longer, a queue all of them.
 */
#define PP_OVER_SAMPLES		4
/* RTTs above the limit until a flow stops: settled or far from the heir; */
#define PP_OVER_AT_ONCE		1
/* in a conflict; */
#define PP_OVER_CONFLICT	3
/* in a conflict, and most of the queue is the own priority's. */
#define PP_OVER_OWN		4
/* "Most" is this many eighths, */
#define PP_OWN_EIGHTHS		6
/* and all of it this many. */
#define PP_EIGHTHS		8
/* A preempted flow whose priority has less than these eighths: at once. */
#define PP_REST_EIGHTHS		2

/* RTTs for which a higher priority is suspected after an excess. */
#define PP_HOLD			8
/* RTTs below the own channel that end the suspicion. */
#define PP_HOLD_LOW		2

/* Points for resuming (how many are needed, and what a probe at base delay gives:
 * pp_chan.c): these are given by one below the limit,
 */
#define PP_CLEAR_BELOW		2
/* or by one that saw what the last one saw, within PP_STILL_EPS epsilon, */
#define PP_CLEAR_STILL		5
#define PP_STILL_EPS		2
/* More channels than this make no difference. */
#define PP_GAP_MAX		5
/* Channels above the own one that a flow remembers, bits of pp_core.seen; */
#define PP_SEEN_MAX		16
/* more that wait ahead than this make no difference. */
#define PP_AHEAD_MAX		3
/* A flow this far from the heir's channel is not the heir. */
#define PP_GAP_FAR		2
/* Probe interval: base RTTs added for each channel of the gap, */
#define PP_PROBE_GAP		2
/* for each 2^2 flows of the priority, at most 32, */
#define PP_PROBE_FLOWS_SHIFT	2
#define PP_PROBE_FLOWS_MAX	32
/* and for each flow, up to this many, and each channel beyond the first. */
#define PP_PROBE_BEYOND_MAX	32

/**
 * pp_begin_urgent() - begin without a probe (section 4.4)
 * @pp: the flow, stopped and without data in flight
 * @ch: its channel
 * @snd_nxt: next sequence number
 *
 * With W_LS = BDP, and as one of as many flows as were counted before.
 */
void pp_begin_urgent(struct pp_core *pp, const struct pp_chan *ch, u32 snd_nxt)
{
	pp->linear = 1;
	pp_go(pp, max_t(u64, pp_own_part(pp, ch->start_wnd), FL_WND_ONE),
	      snd_nxt);
}

/* Base RTTs in which a probe is sent: one, or more while a higher priority has
 * the link; see 5. above.
 */
static u32 pp_probe_rtts(const struct pp_core *pp, const struct pp_chan *ch,
			 u32 delay_ns)
{
	u32 flows = pp->flows_q8 >> PP_FLOWS_SHIFT;
	u32 rtts = 1;

	if (delay_ns < ch->limit_ns)
		return rtts;
	rtts += pp->gap * PP_PROBE_GAP;
	rtts += min_t(u32, flows >> PP_PROBE_FLOWS_SHIFT, PP_PROBE_FLOWS_MAX);
	if (pp->gap > 1)
		rtts += (pp->gap - 1) * min_t(u32, flows, PP_PROBE_BEYOND_MAX);
	return rtts;
}

/* Wait before a probe: (delay - D_target) + random(BaseRtt), section 4.2.1,
 * the latter times a factor.
 */
static void pp_set_probe_wait(struct pp_core *pp, const struct pp_chan *ch,
			      u32 delay_ns, u32 random)
{
	u64 span_ns = (u64)ch->base_ns * pp_probe_rtts(pp, ch, delay_ns);
	u64 room_ns, wait_ns;

	/* twice: half of it is the mean */
	room_ns = ((u64)ch->probe_room_ns * pp->crowd_q8) >>
		  (PP_FLOWS_SHIFT - 1);
	span_ns = min_t(u64, max_t(u64, span_ns, room_ns), U32_MAX);
	wait_ns = (random * span_ns) >> 32;
	if (delay_ns > ch->target_ns)
		wait_ns += delay_ns - ch->target_ns;
	pp->probe_wait_ns = min_t(u64, wait_ns,
				  max_t(u64, ch->probe_cap_ns, room_ns));
}

static noinline enum pp_verdict pp_stop(struct pp_core *pp,
					const struct pp_chan *ch,
					const struct fl_sample *s)
{
	pp->stopped = 1;
	pp->preempted = 1;
	pp->clear = -ch->clear_stop;
	/* long paths: what was seen before the last return says nothing */
	if (ch->paced)
		pp->gap_last = 0;
	pp->in_channel = 0;
	pp_set_probe_wait(pp, ch, s->delay_ns, s->random);
	return PP_STOP;
}

/* RTTs above the limit that this flow endures; see 4. above. */
static u32 pp_patience(const struct pp_core *pp, const struct pp_chan *ch,
		       u32 delay_ns)
{
	if (!pp_rule(PP_PATIENCE))
		return PP_OVER_AT_ONCE;
	if (pp->in_channel >= PP_SETTLED ||
	    (pp->preempted && pp->gap >= PP_GAP_FAR && !pp->linear))
		return PP_OVER_AT_ONCE;
	if (pp->preempted &&
	    pp_owns_less(pp, ch, delay_ns, PP_REST_EIGHTHS))
		return PP_OVER_AT_ONCE;
	if (pp_owns_less(pp, ch, delay_ns, PP_OWN_EIGHTHS))
		return PP_OVER_CONFLICT;
	return PP_OVER_OWN;
}

/* Does the flow double until it knows #flow? One that begins where others have a queue, and has not
 * been preempted: those who begin on an empty line, or come back, may be a crowd.
 */
static bool pp_grows(const struct pp_core *pp)
{
	return !pp->flows_known && !pp->linear && !pp->preempted && pp_rule(PP_STEP);
}

/* Is all that is in flight, but for a packet, of a flow that counts itself alone? What a step has
 * added left at once, and has waited for itself. Who has more in flight than the line holds was
 * told a line that is too slow, and can tell nothing. One that was lowered (pp_move()) goes by its
 * new limit.
 */
static bool pp_has_all(const struct pp_core *pp, const struct pp_chan *ch,
		       const struct fl_sample *s)
{
	u64 own = max_t(u64, pp->wnd, pp->sent_wnd[1]);

	if (pp_grows(pp) || !s->wnd_limited || pp->flows_q8 > PP_FLOWS_ONE ||
	    !pp_rule(PP_PATIENCE) || (!pp->flows_known && pp->in_channel >= PP_SETTLED))
		return false;
	if (own > fl_ns_to_wnd(ch->ppn, s->delay_ns + ch->eps_ns))
		return false;
	if (pp->sent_wnd[1] > pp->sent_wnd[0])
		own = max_t(u64, own, ch->bdp_wnd) + pp->sent_wnd[1] - pp->sent_wnd[0];
	return own >= fl_ns_to_wnd(ch->ppn, s->delay_ns - ch->eps_ns);
}

/* Does what this flow and its kin have in flight explain a delay? As for what each packet may have
 * waited for on the links of the way. What reaches above the next priority's limit stops that one,
 * whoever has made it.
 */
static bool pp_kin_explains(const struct pp_core *pp, const struct pp_chan *ch, u32 delay_ns)
{
	u64 own = pp_kin_wnd(pp) + (pp->stopped ? 0 : pp->wnd);

	if (delay_ns > pp->kin_ns + 2 * ch->data_ns)
		return false;
	if (pp->stopped)
		delay_ns -= min_t(u32, delay_ns, ch->data_ns);
	if (delay_ns >= ch->limit_ns + ch->width_ns)
		return false;
	return pp->kin_q8 && ch->few && own + FL_WND_ONE >= fl_ns_to_wnd(ch->ppn, delay_ns);
}

/* Is a delay above the limit another priority's? See 4. above. */
static bool pp_others_excess(const struct pp_core *pp, const struct pp_chan *ch,
			     const struct fl_sample *s)
{
	if (pp_has_all(pp, ch, s) || pp_kin_explains(pp, ch, s->delay_ns))
		return false;
	return !ch->own_noise_ns ||
	       pp_owns_less(pp, ch, s->delay_ns - ch->own_noise_ns, PP_EIGHTHS);
}

/* An RTT has ended. */
static void pp_round_begins(struct pp_core *pp, const struct fl_sample *s)
{
	pp->round_end = s->snd_nxt;
	if (!pp_grows(pp)) {
		pp->sent_wnd[0] = pp->wnd;
		pp->sent_wnd[1] = pp->wnd;
	}
}

/* A sample above the limit that the own priority has made. Return: true if it is a step that has
 * left at once, and no queue that stays.
 */
static bool pp_own_excess(struct pp_core *pp, const struct pp_chan *ch, const struct fl_sample *s)
{
	bool step = pp_has_all(pp, ch, s) && pp->wnd <= pp_own_target(pp, ch);

	pp->over = 0;
	if (pp->kin_q8 && pp_grows(pp))
		pp_count_kin(pp);
	if (fl_seq_after(s->ack_seq, pp->round_end))
		pp_round_begins(pp, s);
	return step;
}

/* A sample above the limit. Return: true if the flow must stop. */
static noinline bool pp_over_limit(struct pp_core *pp, const struct pp_chan *ch,
				   const struct fl_sample *s)
{
	u32 enough = clamp_t(u64, pp->wnd >> (FL_WND_SHIFT + 3), 2, PP_OVER_SAMPLES);

	if (pp->over < PP_OVER_SAMPLES)
		pp->over++;
	/* with one packet in flight, samples are RTTs */
	if (pp->over < enough && pp->wnd >= 2 * FL_WND_ONE)
		return false;
	if ((!pp_grows(pp) || pp->shrunk) && !fl_seq_after(s->ack_seq, pp->round_end))
		return false;
	pp_round_begins(pp, s);
	if (!pp->over_rounds) {
		pp_estimate_at_excess(pp, ch, s->delay_ns);
		if (pp->linear && !pp->flows_known) {
			pp->wnd = min_t(u64, pp->wnd, pp_own_target(pp, ch));
			pp_crowd_at_least(pp, pp->flows_q8);
		}
	}
	if (pp->over_rounds < U8_MAX)
		pp->over_rounds++;
	if (!pp_grows(pp)) {
		pp->hold = PP_HOLD;
		pp->low_rounds = 0;
	}
	if (pp->over_rounds < pp_patience(pp, ch, s->delay_ns)) {
		if (pp_grows(pp))
			pp_shrink(pp, ch, s);
		return false;
	}
	if (pp->over_rounds > PP_OVER_AT_ONCE)
		pp_crowd_collided(pp);
	return true;
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

/* The end of an RTT below the limit. */
static void pp_round_own(struct pp_core *pp, const struct pp_chan *ch,
			 const struct fl_sample *s)
{
	u64 step;

	if (!pp_grows(pp))
		pp_age_suspicion(pp, ch, s->delay_ns);
	else if (pp->over_rounds && s->delay_ns < ch->target_ns)
		pp->over_rounds--;
	pp_estimate_in_channel(pp, ch, s->delay_ns);
	if (!pp_grows(pp)) {
		pp_estimate_by_response(pp, ch, s->delay_ns);
	} else {
		if (pp_at_base(ch, s->delay_ns)) {
			pp_estimate_at_base(pp, ch, s->delay_ns);
			pp_count_down(pp);
		}
		pp_grow_round(pp, s);
		return;
	}
	if (s->delay_ns >= ch->target_ns - pp->shift_ns || !s->wnd_limited)
		return;
	if (pp_at_base(ch, s->delay_ns)) {
		pp->hold = 0;
		pp->over_rounds = 0;
		pp_estimate_at_base(pp, ch, s->delay_ns);
		step = pp_base_step(pp, ch, s->delay_ns);
	} else {
		step = pp_adaptive_step(pp, ch, s->delay_ns);
	}
	pp->wnd += step;
	/* the next RTT ends with the last packet that this step sends */
	pp->round_end += (step >> FL_WND_SHIFT) * s->seq_per_pkt;
}

/* The same, and with weights. Above the limit, pp_over_limit() counts RTTs. */
static noinline void pp_round(struct pp_core *pp, const struct pp_chan *ch,
			      const struct fl_sample *s)
{
	pp_round_begins(pp, s);
	if (ch->share_ns)
		pp_share(pp, ch);
	pp_round_own(pp, ch, s);
	if (pp->glide)
		pp_glide(pp, ch, s->delay_ns);
	if (!pp_grows(pp))
		pp->sent_wnd[1] = pp->wnd;
}

/**
 * pp_on_rare_ack() - pp_on_ack() of any ACK
 * @pp: the flow
 * @ch: its channel
 * @s: what the ACK says
 *
 * Return: as pp_on_ack().
 */
enum pp_verdict pp_on_rare_ack(struct pp_core *pp, const struct pp_chan *ch,
			       const struct fl_sample *s)
{
	u32 ai_wnd;
	bool grows;

	if (unlikely(pp->stopped || !s->delay_ns))
		return PP_SEND;
	if (unlikely(ch->paper))
		return pp_paper_ack(pp, ch, s);
	grows = pp_grows(pp);
	if (grows && fl_seq_after(s->ack_seq, pp->round_end))
		pp_grow_respond(pp, s);
	if (unlikely(s->delay_ns >= ch->limit_ns)) {
		if (pp_others_excess(pp, ch, s)) {
			if (pp_over_limit(pp, ch, s))
				return pp_stop(pp, ch, s);
		} else if (pp_own_excess(pp, ch, s)) {
			return PP_SEND;
		}
		/* unless it has counted its kin just now */
		if (grows && !(pp->kin_q8 && pp->flows_known))
			return PP_SEND;
	} else {
		pp->over = 0;
		if (fl_seq_after(s->ack_seq, pp->round_end))
			pp_round(pp, ch, s);
		/* the channel of priority 0 reaches below the base RTT */
		if (grows && ((pp->owns && ch->lower_ns > ch->base_ns) ||
			      s->delay_ns < ch->lower_ns || pp_at_base(ch, s->delay_ns))) {
			pp_grow(pp, ch, s);
			return PP_SEND;
		}
	}
	ai_wnd = pp_own_ai(pp, ch);
	if (likely(pp->original == &fl_swift_ops))
		pp_swift_ack(pp, ch, ai_wnd, s);
	else
		pp_original_ack(pp, ch, ai_wnd, s);
	return PP_SEND;
}

/* How many channels between the own one and the last one in use has the flow seen in use? They
 * were preempted by that one or by each other, and wait.
 */
static u32 pp_ahead(const struct pp_core *pp)
{
	u32 seen = pp->seen, ahead = 0;

	for (seen &= seen - 1; seen; seen &= seen - 1)
		ahead++;
	return min_t(u32, ahead, PP_AHEAD_MAX);
}

/* Has a preempted flow seen enough to resume? See 5. above. */
static bool pp_may_resume(struct pp_core *pp, const struct pp_chan *ch,
			  u32 delay_ns)
{
	u32 moved_ns = delay_ns > pp->probe_ns ? delay_ns - pp->probe_ns :
						 pp->probe_ns - delay_ns;
	s32 need = ch->clear_heir, points = PP_CLEAR_BELOW;

	if (!pp->preempted || !pp_rule(PP_RETURN))
		return true;
	if (pp_at_base(ch, delay_ns)) {
		points = ch->clear_base;
		if (pp->gap > 1)
			need += (pp->gap - 1) * ch->clear_gap;
		need += pp_ahead(pp) * ch->clear_ahead;
	} else if (moved_ns < PP_STILL_EPS * ch->eps_ns) {
		points = PP_CLEAR_STILL;
	}
	if (pp->clear < need)
		pp->clear += points;
	return pp->clear >= need;
}

/* A probe above the limit: how many channels is the queue above the own one? It may
 * be draining already, so the last two probes count. Where both say the same, that channel is
 * in use, and none above it.
 */
static void pp_see_gap(struct pp_core *pp, const struct pp_chan *ch,
		       u32 delay_ns)
{
	/* rounded with 0.2: q is a little lower than its target */
	u32 gap = min_t(u32, (delay_ns - ch->target_ns + ch->width_ns / 5) /
			     ch->width_ns, U8_MAX);

	if (gap == pp->gap_last && gap && gap <= PP_SEEN_MAX)
		pp->seen = (pp->seen & (BIT(gap) - 1)) | BIT(gap - 1);
	pp->gap = min_t(u32, max_t(u32, gap, pp->gap_last), PP_GAP_MAX);
	pp->gap_last = gap;
}

/* What can be sent of a window: less than a packet is a packet, with that
 * probability, or nothing; see 5. above.
 */
static u64 pp_whole_wnd(u64 wnd, u32 random)
{
	if (wnd >= FL_WND_ONE)
		return wnd;
	return (random & (FL_WND_ONE - 1)) < wnd ? FL_WND_ONE : 0;
}

/* The same of a flow whose kin explain the queue. They take turns: who waits has its part of the
 * room that they leave below the target, and all who wait a packet where they leave none.
 */
static u64 pp_kin_turn(const struct pp_core *pp, const struct pp_chan *ch, u64 wnd, u32 random)
{
	u64 most = fl_ns_to_wnd(ch->ppn, ch->target_ns);
	u64 room = most - min_t(u64, most, pp_kin_wnd(pp));

	room = max_t(u64, room, FL_WND_ONE);
	if (room >= pp->kin_waits * FL_WND_ONE)
		return wnd;
	return pp_whole_wnd(div_u64(room, pp->kin_waits), random);
}

/* Largest first window while #flow is not known, and on a long path: a few packets, or a part of
 * W_LS, since others may come back at the same time. Who has sent before a pause goes on with what
 * it had, up to that part. So does, on a long path, who has seen since its stop who stopped it,
 * and knows of nobody who waits ahead.
 */
static u64 pp_first_most(const struct pp_core *pp, const struct pp_chan *ch)
{
	u64 part = pp_own_part(pp, ch->start_wnd) / PP_FIRST_PART;

	if (pp->idle)
		return max_t(u64, ch->first_wnd, min_t(u64, pp->wnd, part));
	if (ch->paced && pp->flows_known && pp->preempted && pp->gap_last && !pp_ahead(pp))
		return max_t(u64, ch->first_wnd, part);
	return ch->first_wnd;
}

/* Window of a linear start; 0 = not yet. */
static u64 pp_linear_wnd(struct pp_core *pp, const struct pp_chan *ch,
			 u32 random)
{
	u64 wnd = pp_own_part(pp, ch->start_wnd);
	u64 most = pp_first_most(pp, ch);

	pp_count_down(pp);
	if (!pp->flows_known)
		return clamp_t(u64, wnd, FL_WND_ONE, most);
	if (ch->paced)
		wnd = min_t(u64, wnd, most);
	return pp_whole_wnd(wnd, random);
}

/* Window of a flow that resumes above somebody's queue; 0 = not yet. */
static u64 pp_resume_wnd(struct pp_core *pp, const struct pp_chan *ch,
			 u32 delay_ns, u32 random)
{
	u32 room_ns = ch->target_ns > delay_ns ? ch->target_ns - delay_ns : 0;
	u64 room = fl_ns_to_wnd(ch->ppn, room_ns);

	if (pp->preempted) {
		/* all who want to, half of the room, at least a packet */
		room = max_t(u64, room / 2, FL_WND_ONE);
		room = pp_crowd_part(pp, room);
		pp_crowd_room(pp);
		return pp_whole_wnd(min_t(u64, room, pp_bold(ch) ?
					  ch->first_wnd : FL_WND_ONE), random);
	}
	if (!pp->idle && !pp_bold(ch) && room_ns >= ch->width_ns / 2 * PP_NEAR_HALVES)
		return FL_WND_ONE;
	return clamp_t(u64, pp_own_part(pp, room), FL_WND_ONE, pp_first_most(pp, ch));
}

/* A probe's delay as if the probe had been a full packet. Behind one it waits again on each link
 * that follows: on two links a packet too many is told, on four up to three. Priority 0 has a
 * packet and a third between base RTT and limit, so of two flows of a host the later one had
 * nothing for as long as the first one sent. It takes off what half of the links tell, but for
 * epsilon, since that would be an empty line. The queue of priority 1 is two and a half packets
 * longer. With the same for all priorities 119 instead of 120 of 3001 to 3200 are good (spacemodel
 * basic).
 */
static u32 pp_probe_delay_ns(const struct pp_chan *ch, u32 probe_ns)
{
	u32 links_ns = ch->base_ns - ch->probe_base_ns;
	u32 more_ns = probe_ns > ch->probe_base_ns ? probe_ns - ch->probe_base_ns : 0;

	if (ch->lower_ns <= ch->base_ns && !ch->paper && more_ns > ch->eps_ns)
		more_ns = max_t(s64, (s64)more_ns - links_ns / 2, ch->eps_ns);
	return ch->base_ns + more_ns;
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
	bool explained;
	u64 wnd = 0;

	if (!pp->stopped)
		return PP_SEND;
	delay_ns = pp_probe_delay_ns(ch, delay_ns);
	if (unlikely(ch->paper))
		return pp_paper_probe(pp, ch, delay_ns, snd_nxt, random);
	explained = !pp_at_base(ch, delay_ns) && pp_kin_explains(pp, ch, delay_ns);
	if (explained)
		pp->preempted = 0;
	if (delay_ns >= ch->limit_ns && !explained) {
		pp->clear = 0;
		pp->preempted = 1;
		pp->idle = 0;
		pp_see_gap(pp, ch, delay_ns);
		if (!pp->gap)
			pp_crowd_blocked(pp);
	} else if (pp_may_resume(pp, ch, delay_ns)) {
		pp->linear = pp_at_base(ch, delay_ns);
		wnd = pp->linear ? pp_linear_wnd(pp, ch, random) :
				   pp_resume_wnd(pp, ch, delay_ns, random);
	}
	if (explained)
		wnd = pp_kin_turn(pp, ch, wnd, random);
	pp->probe_ns = delay_ns;
	if (!wnd) {
		pp_set_probe_wait(pp, ch, delay_ns, random);
		return PP_PROBE;
	}
	pp_go(pp, wnd, snd_nxt);
	return PP_RESUME;
}
