// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus: flows of one priority share by weight (the paper's section 7 leaves
 * it as future work). Channels stay strict: a weight never crosses priorities.
 *
 * The flows of a channel see the same delay d, and in equilibrium what Swift's
 * decrease takes from a window in an RTT, c W with c = beta (d - T) / d for all
 * of them alike, is what the additive increase gives. With #flow = I / W, the
 * packets in flight on the path over one's own, which is f, and weight w:
 *
 *	a(f, w) = min(a_many sqrt(w / f), w a_1)
 *
 * a_1 and a_many are W_AI of one flow and of all (struct pp_chan). Where the
 * first holds, c W = a_many sqrt(w W / I), so W = w (a_many / c)^2 / I; where the
 * second does, W = w a_1 / c. In both W is proportional to w. a(f, 1) is what
 * flows without weights do (pp_count.c), to the last bit.
 *
 * Fluctuation. In equilibrium f = N / w, where N is the sum of the weights, so
 * all flows together add
 *
 *	sum of a = sum of w min(a_many / sqrt(N), a_1) = min(a_many sqrt(N), N a_1)
 *
 * in an RTT: what N flows of weight 1 do. A channel that was made for n flows
 * (appendix D's n, "fairlane noise") is good for weights whose sum is n. Only
 * their ratio decides who gets what, so weights should lie around 1; they are
 * held within 1/16 and 16, so n flows are never worse than 16 n.
 *
 * That is the law on average and with many packets in each window; it says little
 * about flows of few. An adaptive increase and the decrease are both in
 * proportion to the window and much larger than a, so a small difference between
 * what two flows see outweighs it, and where whole packets decide which of them
 * meets the target, shares freeze, by weight or not. For those who need exact
 * shares there is pp_chan.share_ns, s. It lets a flow that has much for its weight
 * aim a little lower:
 *
 *	T' = T - s log2(x / 2),  x = W / w packets, and no more than 3/8 A
 *
 * All flows see one delay, and below T' a flow grows, above it shrinks: they rest
 * where T' is the same for all, which is where x is. (Swift's target scaling has
 * the same idea, for another reason; channels have to forbid that, but this one
 * moves the target down, by less than the channel's own fluctuation.) From two
 * packets for each weight down, T' is T. With 0, the default, s and the window from which on T'
 * falls follow from the path (pp_targets_init()); Documentation/design/prioplus.rst has what
 * both bring.
 *
 * What a flow asks back after a stop, its steps of linear start and adaptive
 * increase, is step / #flow. #flow is one over the share that the flow had, and
 * that is by weight already.
 *
 * A changed weight. The increase alone would take hundreds of RTTs to move the
 * shares. But the flow knows what it will have: the others' weights sum up to
 * w (f - 1), so with w' its #flow becomes f' = 1 + (f - 1) w / w' and its window
 * W f / f'. It glides there, by the packets of a quarter of A in an RTT: the
 * others, who see that much above or below the target, give way or fill the room
 * with their ordinary steps, and nobody's limit is reached.
 *
 * With pp_chan.paper weights mean nothing: there W_AI / #flow is proportional to
 * the window itself. LEDBAT (RFC 6817) takes by the same increase as it gives
 * and so finds no shares at all, equal or by weight; Documentation/design/prioplus.rst.
 */
#include "pp_count.h"
#include "pp_weight.h"
#include "lib/isqrt.h"

/* RTTs after which a flow stops gliding, there or not. */
#define PP_GLIDE_RTTS		64
/* Fractional bits of logarithms, and 0.344 in 2^-8 of them. */
#define PP_LOG_SHIFT		8
#define PP_LOG_CURVE		88
/* Eighths of the way from D_target to the next lower D_limit, half of A, that
 * @share_ns may move a target.
 */
#define PP_SHIFT_EIGHTHS	6
/* Unless it is set, the target falls over the last so many doublings up to a BDP, */
#define PP_SHARE_DOUBLINGS	6
/* and in each of them by this part of that way. */
#define PP_SHARE_STEPS	12

/* Least that it glides in an RTT: this part of the window. */
#define PP_GLIDE_PART_SHIFT	5

/* Logarithm to base 2, << 8, of 1 and more; wrong by 1/200 at most. */
static s32 pp_log2(u64 x)
{
	s32 top = fls64(x) - 1;
	u32 m = (x << (63 - top) << 1) >> (64 - PP_LOG_SHIFT);

	/* log2(1 + m) = m + 0.344 m (1 - m) */
	return (top << PP_LOG_SHIFT) + m +
	       (m * (BIT(PP_LOG_SHIFT) - m) * PP_LOG_CURVE >> 16);
}

/* The weight of a channel's flow: @ch has everything else already. */
void pp_weight_init(struct pp_chan *ch, u32 weight_milli)
{
	u64 most;

	if (!weight_milli || ch->paper)
		weight_milli = PP_WEIGHT_ONE_MILLI;
	ch->weight_milli = clamp_t(u32, weight_milli, PP_WEIGHT_MIN_MILLI,
				   PP_WEIGHT_MAX_MILLI);
	most = div_u64((u64)ch->ai_wnd * ch->weight_milli, PP_WEIGHT_ONE_MILLI);
	ch->weight_l2 = pp_log2(ch->weight_milli) -
			pp_log2(PP_WEIGHT_ONE_MILLI);
	ch->ai_most_wnd = clamp_t(u64, most, 1, U32_MAX);
}

/* a(f, w) of a flow whose weight is not 1, packets << FL_WND_SHIFT. */
u64 pp_weighted_ai(const struct pp_core *pp, const struct pp_chan *ch)
{
	u64 per_weight, ai;
	u32 root;

	per_weight = div_u64((u64)pp->flows_q8 * PP_WEIGHT_ONE_MILLI <<
			     PP_FLOWS_SHIFT, ch->weight_milli);
	root = min_t(u32, fl_isqrt(per_weight), U16_MAX);
	ai = div_u64((u64)ch->ai_many_wnd << PP_FLOWS_SHIFT,
		     max_t(u32, root, 1));
	return min_t(u64, ai, ch->ai_most_wnd);
}

/**
 * pp_reweigh() - the flow's weight may have changed
 * @pp: the flow
 * @ch: its channel, computed with the new weight
 * @was_milli: the weight before, thousandths; 0 = there was none
 */
void pp_reweigh(struct pp_core *pp, const struct pp_chan *ch, u32 was_milli)
{
	u64 others;
	u32 flows;

	/* the channel is another, whatever has changed */
	pp->ai_of = 0;
	if (!ch->share_ns)
		pp->shift_ns = 0;
	if (was_milli == ch->weight_milli)
		return;
	if (!was_milli || ch->paper || !pp->flows_known)
		return;
	others = (u64)(pp->flows_q8 - PP_FLOWS_ONE) * was_milli;
	others = div_u64(others, ch->weight_milli);
	flows = min_t(u64, PP_FLOWS_ONE + others, PP_FLOWS_MAX * PP_FLOWS_ONE);
	if (!pp->stopped) {
		pp->glide_wnd = div_u64(pp->wnd * pp->flows_q8, flows);
		pp->glide = PP_GLIDE_RTTS;
	}
	pp->flows_q8 = flows;
}

/* How far below D_target a flow's own target may lie, less what is left of a channel. Priority 0's
 * channel begins below the base RTT, where nothing can be told from an empty queue, nor from noise.
 */
static u32 pp_share_room_ns(const struct pp_chan *ch)
{
	u32 least_ns = max_t(u32, ch->lower_ns,
			     ch->base_ns + 2 * ch->eps_ns + ch->own_noise_ns);

	return ch->target_ns > least_ns ? ch->target_ns - least_ns : 0;
}

/**
 * pp_targets_init() - how far own targets fall with the window
 * @ch: the channel
 * @share_ns: as it is set, ns; 0 = it follows from the path. As printed (@paper) there is none
 *
 * W_AI and the decrease are a small part of a window of hundreds of packets, and by them alone
 * shares meet after thousands of round trips. T' falls by half of what it may, over the windows
 * that two to sixty flows have. If it fell from two packets on, most of that would be the same for
 * all. In the middle of a conflict a lower target costs: with it figures 8 and 10a take half as
 * long again. So only a flow that has settled has one, but for long paths, where flows settle late.
 */
void pp_targets_init(struct pp_chan *ch, u32 share_ns)
{
	ch->share_ns = ch->paper ? 0 : share_ns;
	ch->share_l2 = pp_log2(2 * FL_WND_ONE);
	ch->share_settled = !share_ns && !ch->paced;
	if (share_ns || ch->paper)
		return;
	ch->share_ns = pp_share_room_ns(ch) / PP_SHARE_STEPS;
	ch->share_l2 = pp_log2(max_t(u64, ch->bdp_wnd >> PP_SHARE_DOUBLINGS, 2 * FL_WND_ONE));
}

/* An RTT has ended: the flow's own target. */
void pp_share(struct pp_core *pp, const struct pp_chan *ch)
{
	u64 wnd = max_t(u64, pp->wnd, FL_WND_ONE);
	s32 l2 = pp_log2(wnd) - ch->weight_l2 - ch->share_l2;
	u32 most_ns = pp_share_room_ns(ch) / 8 * PP_SHIFT_EIGHTHS;

	if (ch->share_settled && pp->in_channel < PP_SETTLED)
		most_ns = 0;
	pp->shift_ns = min_t(u32, most_ns,
			     (u32)max_t(s32, l2, 0) * ch->share_ns >>
			     PP_LOG_SHIFT);
}

/* An RTT has ended below the limit: a step on the way to the window of a new
 * weight.
 */
void pp_glide(struct pp_core *pp, const struct pp_chan *ch, u32 delay_ns)
{
	u32 quarter_ns = (ch->target_ns - ch->lower_ns) / 2;
	u64 step = max_t(u64, fl_ns_to_wnd(ch->ppn, quarter_ns),
			 pp->wnd >> PP_GLIDE_PART_SHIFT);

	pp->glide--;
	if (pp->wnd >= pp->glide_wnd)
		pp->wnd = max_t(u64, pp->glide_wnd,
				pp->wnd - min_t(u64, pp->wnd / 2, step));
	else if (delay_ns < ch->target_ns + quarter_ns)
		pp->wnd = min_t(u64, pp->glide_wnd, pp->wnd + step);
	if (pp->wnd == pp->glide_wnd)
		pp->glide = 0;
}
