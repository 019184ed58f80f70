/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NewAck of Algorithm 1: most ACKs come in the middle of a round trip, below the limit, and all
 * that they do is Swift's step. That takes few instructions and is put into the caller; the rest is
 * in prioplus.c.
 */
#ifndef FL_PP_ACK_H
#define FL_PP_ACK_H

#include "pp_count.h"
#include "swift/core/swift.h"

enum pp_verdict pp_on_rare_ack(struct pp_core *pp, const struct pp_chan *ch,
			       const struct fl_sample *s);

/* Swift's step towards the flow's own target. @ai_wnd: see pp_own_ai(). */
static inline void pp_swift_ack(struct pp_core *pp, const struct pp_chan *ch, u32 ai_wnd,
				const struct fl_sample *s)
{
	fl_swift_ack((struct fl_swift_state *)pp->original_state, ch->target_ns - pp->shift_ns,
		     ai_wnd, PP_MIN_WND, ch->max_wnd, &pp->wnd, s);
}

/**
 * pp_on_usual_ack() - pp_on_ack() if nothing but Swift's step is to be done
 * @pp: the flow
 * @ch: its channel
 * @s: what the ACK says; of it @now_ns, @delay_ns, @rtt_ns, @acked_pkts, @ack_seq and @wnd_limited
 *
 * Return: the flow goes on; false: nothing has been done, pp_on_rare_ack() is for this ACK.
 */
static inline bool pp_on_usual_ack(struct pp_core *pp, const struct pp_chan *ch,
				   const struct fl_sample *s)
{
	if (unlikely(pp->stopped || !s->delay_ns || s->delay_ns >= ch->limit_ns || ch->paper ||
		     pp->original != &fl_swift_ops || pp->ai_of != pp->flows_q8 ||
		     !pp->flows_known || pp->wnd < FL_WND_ONE ||
		     fl_seq_after(s->ack_seq, pp->round_end)))
		return false;
	pp->over = 0;
	pp_swift_ack(pp, ch, pp->ai_wnd, s);
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
static inline enum pp_verdict pp_on_ack(struct pp_core *pp, const struct pp_chan *ch,
					const struct fl_sample *s)
{
	return pp_on_usual_ack(pp, ch, s) ? PP_SEND : pp_on_rare_ack(pp, ch, s);
}

#endif /* FL_PP_ACK_H */
