// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus: how many flows of the own priority are there (section 4.3.1)?
 *
 * The paper's formula, delay * LineRate / cwnd, counts them if the queue and
 * the line hold nothing but their packets. The paper takes it at a stop, where
 * that is not so; here it is taken where it is (2. in prioplus.c): in the own
 * channel, or when the delay has followed the own growth.
 */
#include "pp_count.h"
#include "pp_weight.h"
#include "lib/isqrt.h"

/* RTTs in the own channel before #flow is measured there. */
#define PP_CHANNEL_MIN		4
/* Weight of a new measurement of #flow: 1 / 2^this. */
#define PP_FLOWS_EWMA_SHIFT	3
/* #flow of a newcomer that meets a conflict before it could measure. */
#define PP_FLOWS_GUESS		8
/* The crowd never leaves 1 .. this: a probe is not to wait for ever. */
#define PP_CROWD_MAX		16
/* A blocked probe adds this part of the crowd, 1 / 2^this. */
#define PP_CROWD_BLOCKED_SHIFT	4
/* Room adds 1 / this to 1 / crowd. */
#define PP_CROWD_ROOM		128

/* One flow's part of a step that all flows of the priority make together. */
u64 pp_own_part(const struct pp_core *pp, u64 step)
{
	return div_u64(step << PP_FLOWS_SHIFT, pp->flows_q8);
}

/* One flow's additive increase for an RTT with at least a packet of window, when #flow
 * has changed; packets << FL_WND_SHIFT.
 *
 * With 1 / #flow, as in the paper, it would be proportional to the flow's own
 * window, since #flow is in flight / W: whoever has much gets more, and shares
 * never meet. 1 / sqrt(#flow) lets them, and the sum of all flows grows with
 * the square root of their number only.
 */
u32 pp_new_ai(struct pp_core *pp, const struct pp_chan *ch)
{
	u32 root;
	u64 ai;

	if (ch->weight_milli != PP_WEIGHT_ONE_MILLI) {
		ai = pp_weighted_ai(pp, ch);
	} else {
		root = fl_isqrt(pp->flows_q8);
		ai = div_u64((u64)ch->ai_many_wnd << (PP_FLOWS_SHIFT / 2),
			     max_t(u32, root, 1));
		ai = min_t(u64, ai, ch->ai_wnd);
	}
	if (pp->kin_more)
		ai = max_t(u64, ai, FL_WND_ONE);
	pp->ai_of = pp->flows_q8;
	pp->ai_wnd = ai;
	return ai;
}

/* The same with less than a packet: an ACK stands for 1 / W RTTs; the window grows by
 * half at most.
 */
u32 pp_small_ai(const struct pp_core *pp, u32 ai_wnd)
{
	u64 ai = div64_u64((u64)ai_wnd << FL_WND_SHIFT, max_t(u64, pp->wnd, 1));

	return min_t(u64, ai, pp->wnd / 2);
}

/* #flow by the paper's formula, delay * LineRate / cwnd (line 8). */
u32 pp_flows_by_inflight(const struct pp_core *pp, const struct pp_chan *ch,
			 u32 delay_ns)
{
	u64 inflight = fl_ns_to_wnd(ch->ppn, delay_ns);
	u64 n = div64_u64(inflight, max_t(u64, pp->wnd >> PP_FLOWS_SHIFT, 1));

	return clamp_t(u64, n, PP_FLOWS_ONE, PP_FLOWS_MAX * PP_FLOWS_ONE);
}

/* Has the own priority less than @eighths / 8 of what is in flight? */
bool pp_owns_less(const struct pp_core *pp, const struct pp_chan *ch,
		  u32 delay_ns, u32 eighths)
{
	u64 own = (pp->wnd * pp->flows_q8) >> PP_FLOWS_SHIFT;

	return own * 8 < fl_ns_to_wnd(ch->ppn, delay_ns) * eighths;
}

/* What the kin have explains an excess: the flow counts as many as would have as much as it has. */
void pp_count_kin(struct pp_core *pp)
{
	u64 all = pp_kin_wnd(pp) + pp->wnd;
	u64 n = div64_u64(all, max_t(u64, pp->wnd >> PP_FLOWS_SHIFT, 1));

	pp->flows_q8 = clamp_t(u64, n, PP_FLOWS_ONE, PP_FLOWS_MAX * PP_FLOWS_ONE);
	pp->flows_known = 1;
}

/**
 * pp_extra_wnd() - packets in flight beyond the window
 * @pp: the flow
 * @ch: its channel
 * @delay_ns: the delay that steers, ns, above 0
 * @extra_ns: what a round trip takes longer than that: the ACKs wait, ns
 *
 * The window is what fills the delay that steers, so all arithmetic on delays
 * holds. What fills the rest of the round trip is the flow's rate, window / delay,
 * but no more than its share of the line: a step that is to raise the delay must
 * do that once, not in proportion to a long round trip. It follows the waiting
 * of the ACKs at once. If it did not, a queue that drains behind would come to
 * stand ahead.
 *
 * Return: packets << FL_WND_SHIFT.
 */
u64 pp_extra_wnd(const struct pp_core *pp, const struct pp_chan *ch,
		 u32 delay_ns, u32 extra_ns)
{
	u64 line = pp_own_part(pp, fl_ns_to_wnd(ch->ppn, extra_ns));
	u64 rate = div_u64(mul_u64_u32_shr(pp->wnd, extra_ns, 10),
			   max_t(u32, delay_ns >> 10, 1));

	return min_t(u64, line, rate);
}

/* How many flows of the own priority want to resume? The paper does not ask:
 * each of them sends a packet. #flow is no answer, since it is in flight / W:
 * who has little takes itself for one of many, and would resume seldom. So the
 * crowd is found as windows are: 1 / crowd grows by a constant when there is
 * room, and shrinks by a factor when there was none. All flows see the same
 * queue, so they end with the same.
 */
static void pp_crowd_set(struct pp_core *pp, u32 crowd_q8)
{
	if (!pp_rule(PP_RETURN))
		crowd_q8 = PP_FLOWS_ONE;
	pp->crowd_q8 = clamp_t(u32, crowd_q8, PP_FLOWS_ONE,
			       PP_CROWD_MAX * PP_FLOWS_ONE);
}

/* One flow's part of a step that all who want to resume make together. */
u64 pp_crowd_part(const struct pp_core *pp, u64 step)
{
	return div_u64(step << PP_FLOWS_SHIFT, pp->crowd_q8);
}

void pp_crowd_at_least(struct pp_core *pp, u32 n_q8)
{
	pp_crowd_set(pp, max_t(u32, pp->crowd_q8, n_q8));
}

/* A probe saw the own priority above its limit. */
void pp_crowd_blocked(struct pp_core *pp)
{
	pp_crowd_set(pp, pp->crowd_q8 + (pp->crowd_q8 >> PP_CROWD_BLOCKED_SHIFT));
}

/* The flow had to stop in a conflict: too many have resumed. */
void pp_crowd_collided(struct pp_core *pp)
{
	pp_crowd_set(pp, 2 * pp->crowd_q8);
}

/* There is room, resumed or not. */
void pp_crowd_room(struct pp_core *pp)
{
	u32 most = PP_CROWD_ROOM * PP_FLOWS_ONE;

	pp_crowd_set(pp, div_u64((u64)pp->crowd_q8 * most,
				 most + pp->crowd_q8));
}

/* Lines 15, 16, 33, 34: #flow is halved after enough RTTs at base delay. */
void pp_count_down(struct pp_core *pp)
{
	if (pp->countdown)
		pp->countdown--;
	else
		pp->flows_q8 = max_t(u32, pp->flows_q8 / 2, PP_FLOWS_ONE);
}

/* Line 9: countdown = BaseBdp / W_LS. */
void pp_set_countdown(struct pp_core *pp, const struct pp_chan *ch)
{
	u64 n = div64_u64(ch->bdp_wnd, max_t(u64, ch->start_wnd, 1));

	pp->countdown = min_t(u64, n, U16_MAX);
}

/* The delay is above the limit: what does it say about #flow? A known number
 * is at most doubled, and only by a linear start that made a queue twice as
 * long as allowed.
 */
void pp_estimate_at_excess(struct pp_core *pp, const struct pp_chan *ch,
			   u32 delay_ns)
{
	u32 n = pp_flows_by_inflight(pp, ch, delay_ns);
	u32 allowed_ns = ch->limit_ns - ch->base_ns;

	if (!pp_rule(PP_COUNT))
		;
	else if (pp->flows_known && pp->linear &&
		 delay_ns - ch->base_ns >= 2 * allowed_ns)
		n = min_t(u32, n, 2 * pp->flows_q8);
	else if (pp->flows_known)
		n = pp->flows_q8;
	else if (!pp->linear || (pp->preempted && ch->paced))
		n = min_t(u32, n, PP_FLOWS_GUESS * PP_FLOWS_ONE);
	pp->flows_q8 = max_t(u32, pp->flows_q8, n);
	pp_set_countdown(pp, ch);
}

/* An RTT has ended at base delay: the line holds no more than a BDP, whoever it is
 * of. So #flow, in flight / W, is no more than BDP / W.
 */
void pp_estimate_at_base(struct pp_core *pp, const struct pp_chan *ch,
			 u32 delay_ns)
{
	pp->flows_q8 = min_t(u32, pp->flows_q8,
			     pp_flows_by_inflight(pp, ch, delay_ns));
}

/* #flow if all of the noise of priority 0's channel is in this delay, at least. */
static u32 pp_flows_beyond_noise(const struct pp_core *pp, const struct pp_chan *ch, u32 delay_ns)
{
	u32 noise_ns = min_t(u32, ch->own_noise_ns, delay_ns - ch->base_ns);

	return pp_flows_by_inflight(pp, ch, delay_ns - noise_ns);
}

/* An RTT has ended: measure #flow in the own channel. Where noise may be all of the delay, a known
 * number does not grow by it: a higher priority's queue is in the channel as well then, and a flow
 * that takes the queue for that of a thousand of its own never stops (#flow 956 of 8, and 3 % of
 * the line beside priority 1; net/cc: told_noise).
 */
void pp_estimate_in_channel(struct pp_core *pp, const struct pp_chan *ch,
			    u32 delay_ns)
{
	s32 n;

	/* the channel of priority 0 reaches below the base RTT */
	if (delay_ns <= ch->lower_ns || pp_at_base(ch, delay_ns)) {
		pp->in_channel -= min_t(u32, pp->in_channel,
					PP_IN_CHANNEL_LEAVE);
		return;
	}
	if (pp->in_channel < PP_IN_CHANNEL_MAX)
		pp->in_channel++;
	if (pp->in_channel <= PP_CHANNEL_MIN)
		return;
	n = pp_flows_by_inflight(pp, ch, delay_ns);
	if (ch->own_noise_ns && pp->flows_known)
		n = min_t(u32, n, max_t(u32, pp->flows_q8,
					pp_flows_beyond_noise(pp, ch, delay_ns)));
	if (!pp_rule(PP_COUNT))
		n = pp->flows_q8;
	else if (pp->flows_known)
		n = (s32)pp->flows_q8 + (n - (s32)pp->flows_q8) /
					(1 << PP_FLOWS_EWMA_SHIFT);
	pp->flows_q8 = max_t(s32, n, PP_FLOWS_ONE);
	pp->flows_known = 1;
	pp->preempted = 0;
}

/* An RTT has ended: did the delay follow the flow's growth? Then the queue is
 * the own priority's and the paper's formula holds.
 */
void pp_estimate_by_response(struct pp_core *pp, const struct pp_chan *ch,
			     u32 delay_ns)
{
	u64 grown = pp->wnd - pp->ref_wnd;

	if (pp->flows_known || !pp_rule(PP_COUNT))
		return;
	if (pp->ref_wnd && pp->wnd > pp->ref_wnd &&
	    grown >= pp->ref_wnd / 8 && delay_ns > pp->ref_ns &&
	    (u64)(delay_ns - pp->ref_ns) * (pp->ref_wnd >> 8) * 8 >=
	    (u64)pp->ref_ns * (grown >> 8) * PP_RESPONSE_EIGHTHS) {
		pp->flows_q8 = max_t(u32, pp->flows_q8,
				     pp_flows_by_inflight(pp, ch, delay_ns));
		pp->flows_known = 1;
		return;
	}
	pp->ref_ns = delay_ns;
	pp->ref_wnd = pp->wnd;
}
