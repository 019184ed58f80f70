// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus: how much a flow grows at the end of an RTT below its channel, 1. and 3. in
 * prioplus.c.
 */
#include "pp_count.h"

/* A crowd: what a newcomer may do, each of them would do. */
#define PP_CROWDED		4
/* One of a crowd grows by 1 / this in an RTT: half in two, as in the paper. */
#define PP_CROWD_GROWTH		4
/* Growth of a newcomer in an RTT, eighths. */
#define PP_NEW_EIGHTHS		6
/* Less than these eighths of the queue: grow even inside the channel. */
#define PP_SMALL_EIGHTHS	2
/* A flow has its share when it lacks 1 / this of it. */
#define PP_SHARE_PART		8

/* A flow's share of what is in flight at the target. */
u64 pp_own_target(const struct pp_core *pp, const struct pp_chan *ch)
{
	return pp_own_part(pp, fl_ns_to_wnd(ch->ppn, ch->target_ns));
}

/* Its share of what the delay lacks of the target. */
static u64 pp_own_room(const struct pp_core *pp, const struct pp_chan *ch,
		       u32 delay_ns)
{
	u32 room_ns = ch->target_ns - pp->shift_ns - delay_ns;

	return pp_own_part(pp, fl_ns_to_wnd(ch->ppn, room_ns));
}

/* May flows that find room take as much of it as pp_conf.first_permille says? */
bool pp_bold(const struct pp_chan *ch)
{
	return ch->first_wnd > PP_NEW_PKTS * FL_WND_ONE;
}

/* Step of a linear start (section 4.2.2); 3. in prioplus.c. */
static u64 pp_linear_step(const struct pp_core *pp, const struct pp_chan *ch)
{
	u64 step = pp_own_part(pp, ch->start_wnd);

	if (ch->paced || !pp->flows_known)
		step = min_t(u64, step, max_t(u64, pp->wnd, FL_WND_ONE));
	return step;
}

/* An RTT has ended at base delay: the step of the linear start, and #flow's countdown. That of a
 * flow which counts itself alone, and on a long path any, goes up to the own share of what line and
 * channel hold; what is still room then is taken by halves. Without that bound a lone flow of
 * priority 0, whose queue cannot be told from an empty one, took W_LS beyond what fills the line,
 * again and again, and the ACKs of what came the other way waited behind it. On a long path #flow
 * is not halved before the share is reached. One flow that has as much as line and channel hold in
 * flight, and sees no queue, was told a line that is too slow.
 */
u64 pp_base_step(struct pp_core *pp, const struct pp_chan *ch, u32 delay_ns)
{
	u64 step = pp_linear_step(pp, ch), own = pp_own_target(pp, ch);

	if (!ch->paced || pp->wnd >= own - own / PP_SHARE_PART)
		pp_count_down(pp);
	if (!ch->paced && pp->flows_q8 > PP_FLOWS_ONE)
		return step;
	own = pp_own_target(pp, ch);
	if (pp->wnd < own)
		return min_t(u64, own - pp->wnd, pp_linear_step(pp, ch));
	step = pp_own_room(pp, ch, delay_ns) / 2;
	if (pp->flows_q8 > PP_FLOWS_ONE)
		return step;
	return max_t(u64, step, pp->wnd / PP_FASTER_PART);
}

/* Step of an adaptive increase (section 4.2.3); 3. in prioplus.c. */
static u64 pp_room_step(struct pp_core *pp, const struct pp_chan *ch,
			u32 delay_ns)
{
	u32 room_ns = ch->target_ns - pp->shift_ns - delay_ns;
	u64 room = fl_ns_to_wnd(ch->ppn, room_ns);
	u64 by_ratio = min_t(u64, div_u64(pp->wnd * room_ns, delay_ns),
			     pp->wnd / 2);
	u64 step;

	if (!pp_rule(PP_STEP))
		return by_ratio;
	if (pp->hold)
		return 0;
	if (delay_ns > ch->lower_ns &&
	    !pp_owns_less(pp, ch, delay_ns, PP_SMALL_EIGHTHS))
		return by_ratio / 2;
	if (pp->crowd_q8 >= PP_CROWDED * PP_FLOWS_ONE) {
		/* those that send already are not in the crowd's number */
		step = min_t(u64, pp_crowd_part(pp, room) / 2,
			     pp->wnd / PP_CROWD_GROWTH);
		return max_t(u64, step, by_ratio / 2);
	}
	if (pp->flows_known)
		return max_t(u64, pp_own_part(pp, room) / 2, by_ratio / 2);
	if (pp->linear)
		return by_ratio;
	step = max_t(u64, pp->wnd * PP_NEW_EIGHTHS / 8,
		     min_t(u64, FL_WND_ONE, room));
	step = min_t(u64, step, max_t(u64, max_t(u64, room, pp->wnd) / 2,
				      FL_WND_ONE));
	if (pp_bold(ch))
		step = max_t(u64, step, min_t(u64, room / 2, ch->first_wnd));
	return max_t(u64, step, by_ratio);
}

/* The same, and on a long path not beyond the own share of what line and channel
 * hold, but for half of the own part of the room.
 */
u64 pp_adaptive_step(struct pp_core *pp, const struct pp_chan *ch,
		     u32 delay_ns)
{
	u64 step = pp_room_step(pp, ch, delay_ns);
	u64 own, most;

	if (!ch->paced)
		return step;
	own = pp_own_target(pp, ch);
	most = pp_own_room(pp, ch, delay_ns) / 2;
	if (pp->wnd < own)
		most = max_t(u64, most, own - pp->wnd);
	return min_t(u64, step, most);
}
