/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PrioPlus inside: #flow, the number of flows of the own priority. Pure
 * functions of a flow and its channel, as everything here.
 */
#ifndef FL_PP_COUNT_H
#define FL_PP_COUNT_H

#include "prioplus.h"

/* RTTs in the own channel after which a flow is settled. */
#define PP_SETTLED		16
/* It counts no more of them than this, */
#define PP_IN_CHANNEL_MAX	32
/* and forgets this many in an RTT outside. */
#define PP_IN_CHANNEL_LEAVE	4

/* Where the line is faster than was told the window grows by this part there: what it is too
 * large by in the end is less than half a channel (FL_FLUCT_BASE_PART).
 */
#define PP_FASTER_PART		32
/* The delay followed the own growth by this many eighths: we own the queue. */
#define PP_RESPONSE_EIGHTHS	6

/* Smallest window: a packet in 1024 RTTs. */
#define PP_MIN_WND		(FL_WND_ONE / 1024)

/* What the kin have in flight, packets << FL_WND_SHIFT. */
static inline u64 pp_kin_wnd(const struct pp_core *pp)
{
	return (u64)pp->kin_q8 << PP_WND_TO_KIN_SHIFT;
}

/* Is this the base RTT? "delay == BaseRtt" in Algorithm 1. */
static inline bool pp_at_base(const struct pp_chan *ch, u32 delay_ns)
{
	return delay_ns < ch->base_ns + ch->eps_ns;
}

u32 pp_new_ai(struct pp_core *pp, const struct pp_chan *ch);
u32 pp_small_ai(const struct pp_core *pp, u32 ai_wnd);
u64 pp_own_part(const struct pp_core *pp, u64 step);
u32 pp_flows_by_inflight(const struct pp_core *pp, const struct pp_chan *ch,
			 u32 delay_ns);
bool pp_owns_less(const struct pp_core *pp, const struct pp_chan *ch,
		  u32 delay_ns, u32 eighths);
void pp_count_kin(struct pp_core *pp);
u64 pp_crowd_part(const struct pp_core *pp, u64 step);
void pp_crowd_at_least(struct pp_core *pp, u32 n_q8);
void pp_crowd_blocked(struct pp_core *pp);
void pp_crowd_collided(struct pp_core *pp);
void pp_crowd_room(struct pp_core *pp);
void pp_count_down(struct pp_core *pp);
void pp_set_countdown(struct pp_core *pp, const struct pp_chan *ch);
void pp_estimate_at_excess(struct pp_core *pp, const struct pp_chan *ch,
			   u32 delay_ns);
void pp_estimate_at_base(struct pp_core *pp, const struct pp_chan *ch,
			 u32 delay_ns);
void pp_estimate_in_channel(struct pp_core *pp, const struct pp_chan *ch,
			    u32 delay_ns);
void pp_estimate_by_response(struct pp_core *pp, const struct pp_chan *ch,
			     u32 delay_ns);

/* One flow's additive increase for an RTT, packets << FL_WND_SHIFT. */
static inline u32 pp_own_ai(struct pp_core *pp, const struct pp_chan *ch)
{
	u32 ai_wnd = pp->ai_wnd;

	if (unlikely(pp->ai_of != pp->flows_q8))
		ai_wnd = pp_new_ai(pp, ch);
	if (unlikely(pp->wnd < FL_WND_ONE))
		ai_wnd = pp_small_ai(pp, ai_wnd);
	return ai_wnd;
}

/* pp_grow.c */
void pp_grow_anew(struct pp_core *pp, u32 snd_nxt);
void pp_grow_respond(struct pp_core *pp, const struct fl_sample *s);
void pp_grow_round(struct pp_core *pp, const struct fl_sample *s);
void pp_grow(struct pp_core *pp, const struct pp_chan *ch, const struct fl_sample *s);
void pp_shrink(struct pp_core *pp, const struct pp_chan *ch, const struct fl_sample *s);

/* pp_core.c */
void pp_original_ack(struct pp_core *pp, const struct pp_chan *ch, u32 ai_wnd,
		     const struct fl_sample *s);

/* pp_step.c */
bool pp_bold(const struct pp_chan *ch);
u64 pp_own_target(const struct pp_core *pp, const struct pp_chan *ch);
u64 pp_base_step(struct pp_core *pp, const struct pp_chan *ch, u32 delay_ns);
u64 pp_adaptive_step(struct pp_core *pp, const struct pp_chan *ch,
		     u32 delay_ns);

#endif /* FL_PP_COUNT_H */
