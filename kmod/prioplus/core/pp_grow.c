// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus: growth of a flow that does not know #flow and begins where others have a queue.
 *
 * It doubles in each round trip: the sum of those who do so is soon more than a lower
 * priority can give way to, however few they begin with, and too much by a factor of two at
 * most. What a delay says of a window it says of the window that the packet was sent with, an
 * RTT ago: if all that was in flight then was the own priority's, W_sent D_target / delay is the
 * window that brings the delay to the target, whatever has been added since. So nothing is
 * to be waited for and nothing is taken back twice.
 *
 * All of the queue is the own priority's if the line was empty since the flow began, or if the
 * delay rises as the window does. Then the window never exceeds that one. Otherwise others are
 * in the queue, and the flow doubles until the delay is above its limit.
 */
#include "pp_count.h"

/* Fractional bits of a part of a window. */
#define PP_PART_SHIFT		20
/* So much of the first excess is taken for others', where the queue is not known to be our own. */
#define PP_OTHERS_EIGHTHS	7
/* A growth of less than this part of the window tells nothing. */
#define PP_RESPONSE_PART	8

/**
 * pp_grow_anew() - what was sent until now says nothing of the window
 * @pp: the flow
 * @snd_nxt: next sequence number
 */
void pp_grow_anew(struct pp_core *pp, u32 snd_nxt)
{
	pp->sent_seq[0] = snd_nxt;
	pp->sent_seq[1] = snd_nxt;
	pp->sent_wnd[0] = pp->wnd;
	pp->sent_wnd[1] = pp->wnd;
	pp->shrunk = 0;
}

/* The window when the packet was sent that an ACK is of. It grows with what is sent. */
static u64 pp_sent_wnd(const struct pp_core *pp, u32 seq)
{
	u32 span = pp->sent_seq[1] - pp->sent_seq[0], at = seq - pp->sent_seq[0];
	u64 from = pp->sent_wnd[0], to = pp->sent_wnd[1];
	u32 part;

	if (at >= span)
		return to;
	part = div_u64((u64)at << PP_PART_SHIFT, span);
	return to >= from ? from + mul_u64_u32_shr(to - from, part, PP_PART_SHIFT) :
			    from - mul_u64_u32_shr(from - to, part, PP_PART_SHIFT);
}

/* The window with which the delay meets the target if all in flight is the own priority's. */
static u64 pp_fit_wnd(const struct pp_core *pp, const struct pp_chan *ch, u64 sent, u32 delay_ns)
{
	u64 part = div_u64((u64)(ch->target_ns - pp->shift_ns) << PP_PART_SHIFT, delay_ns);

	return mul_u64_u32_shr(sent, min_t(u64, part, U32_MAX), PP_PART_SHIFT);
}

/* Has the delay followed the own growth of an RTT? */
static bool pp_delay_follows(const struct pp_core *pp, u64 sent, u32 delay_ns)
{
	u64 grown = sent - pp->ref_wnd;

	return pp->ref_wnd && sent >= pp->ref_wnd + pp->ref_wnd / PP_RESPONSE_PART &&
	       delay_ns > pp->ref_ns &&
	       (u64)(delay_ns - pp->ref_ns) * (pp->ref_wnd >> 8) * 8 >=
	       (u64)pp->ref_ns * (grown >> 8) * PP_RESPONSE_EIGHTHS;
}

/**
 * pp_grow_respond() - an RTT has ended: whose queue is it?
 * @pp: the flow, which does not know #flow
 * @s: what the ACK says
 */
void pp_grow_respond(struct pp_core *pp, const struct fl_sample *s)
{
	u64 sent = pp_sent_wnd(pp, s->ack_seq);

	if (pp_delay_follows(pp, sent, s->delay_ns))
		pp->owns = 1;
	pp->ref_wnd = sent;
	pp->ref_ns = s->delay_ns;
}

/**
 * pp_grow_round() - an RTT has ended below the limit
 * @pp: the flow, which does not know #flow
 * @s: what the ACK says
 */
void pp_grow_round(struct pp_core *pp, const struct fl_sample *s)
{
	pp->shrunk = 0;
	pp->sent_seq[0] = pp->sent_seq[1];
	pp->sent_wnd[0] = pp->sent_wnd[1];
	pp->sent_seq[1] = s->snd_nxt;
	pp->sent_wnd[1] = pp->wnd;
}

/**
 * pp_grow() - an ACK below the limit
 * @pp: the flow, which does not know #flow
 * @ch: its channel
 * @s: what the ACK says
 */
void pp_grow(struct pp_core *pp, const struct pp_chan *ch, const struct fl_sample *s)
{
	u64 sent = pp_sent_wnd(pp, s->ack_seq), wnd = pp->wnd;
	u64 most = fl_ns_to_wnd(ch->ppn, ch->target_ns);

	/* with the excess gone, others have left */
	if (!s->wnd_limited || (pp->shrunk && (pp->owns || s->delay_ns >= ch->lower_ns)))
		return;
	if (pp->owns || s->delay_ns < ch->target_ns - pp->shift_ns)
		wnd += min_t(u64, (u64)s->acked_pkts << FL_WND_SHIFT, wnd);
	if (pp_at_base(ch, s->delay_ns)) {
		pp->owns = 1;
		wnd = min_t(u64, wnd, 2 * max_t(u64, sent, FL_WND_ONE));
		if (wnd > most)
			wnd = max_t(u64, most, pp->wnd + (wnd - pp->wnd) / PP_FASTER_PART);
	} else if (pp->owns) {
		wnd = min_t(u64, wnd, max_t(u64, pp_fit_wnd(pp, ch, sent, s->delay_ns),
					    FL_WND_ONE));
	}
	pp->wnd = clamp_t(u64, wnd, PP_MIN_WND, ch->max_wnd);
}

/**
 * pp_shrink() - an excess over the limit: take back what is too much
 * @pp: the flow, which does not know #flow
 * @ch: its channel
 * @s: what the ACK says
 */
void pp_shrink(struct pp_core *pp, const struct pp_chan *ch, const struct fl_sample *s)
{
	u64 fit = pp_fit_wnd(pp, ch, pp_sent_wnd(pp, s->ack_seq), s->delay_ns);

	/* the first excess is mostly others', who leave now */
	if (!pp->owns && pp->over_rounds < 2)
		fit += (pp->wnd - min_t(u64, fit, pp->wnd)) / 8 * PP_OTHERS_EIGHTHS;
	pp->wnd = max_t(u64, min_t(u64, pp->wnd, fit), PP_MIN_WND);
	pp_grow_anew(pp, s->snd_nxt);
	pp->shrunk = 1;
}
