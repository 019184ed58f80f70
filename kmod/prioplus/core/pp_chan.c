// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus: what follows from the settings of a network for a priority: its
 * channel of delay (section 4.3.2), steps and limits. A flow computes it when
 * it begins and when something changes.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "lib/channel.h"
#include "pp_count.h"
#include "pp_weight.h"

/* All flows of a priority together grow by this part of a channel in an RTT, as
 * long as their own W_AI is no less.
 */
#define PP_AI_CHANNEL		40
/* W_AI as a part of a channel, where that is more than the setting. */
#define PP_AI_PART		50
/* Kin are asked for where a channel is no wider than so many times what a full packet takes on the
 * links. With 2 the second flow of a host has .01 of 1 Gbit/s at 1 ms, priority 0.
 */
#define PP_FEW_PACKETS		4
/* Base RTTs of this many channels are long: a window that leaves at once would be
 * a queue of many channels.
 */
#define PP_PACED_WIDTHS		8
/* A first window there: TCP's own, and no more than this part of the BDP. */
#define PP_LONG_FIRST_PKTS	10
#define PP_LONG_FIRST_PART	8
/* The line may be so many times faster than the flow was told: delays bound the window,
 * this only what a path without delays could.
 */
#define PP_LINE_WRONG		64
/* Points for resuming: needed by the heir, */
#define PP_CLEAR_HEIR		12
/* needed in addition for each channel between; */
#define PP_CLEAR_GAP		9
/* those that a stop takes: the first dip is the own departure; */
#define PP_CLEAR_STOP		18
/* those that a probe at base delay gives. */
#define PP_CLEAR_BASE		6
/* On a long path a probe takes as long as the dip: less is taken, and more given. */
#define PP_CLEAR_STOP_LONG	12
#define PP_CLEAR_BASE_LONG	12
/* A probe on the line, bytes. */
#define PP_PROBE_BYTES		91
/* Probes of a priority use at most this part of the line: 1 / this. */
#define PP_PROBE_PART		16

/* What is different on a long path; see 1. in prioplus.c. */
static void pp_chan_long(struct pp_chan *ch)
{
	ch->clear_stop = PP_CLEAR_STOP_LONG;
	ch->clear_base = PP_CLEAR_BASE_LONG;
	ch->first_wnd = max_t(u64, ch->first_wnd,
			      min_t(u64, PP_LONG_FIRST_PKTS * FL_WND_ONE,
				    ch->bdp_wnd / PP_LONG_FIRST_PART));
}

/* How much of the evidence in 5. of prioplus.c this network asks for. */
static void pp_chan_resume(struct pp_chan *ch, u32 permille)
{
	ch->clear_stop = ch->clear_stop * permille / 1000;
	ch->clear_heir = ch->clear_heir * permille / 1000;
	ch->clear_gap = ch->clear_gap * permille / 1000;
	/* one and a half probes */
	ch->clear_ahead = ch->clear_base * 3 / 2 * permille / 1000;
}

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
	u32 start_permille = cf->start_permille;
	u32 pkt_ns, shorter_ns, fluct_ns, noise_ns, empty_ns, higher_ns;

	if (!cf->base_ns || !cf->line_bps || cf->wire_bytes < 64 ||
	    prio > PP_PRIO_MAX || !start_permille ||
	    !(cf->fluct_ns + cf->noise_ns))
		return -EINVAL;
	ch->ppn = fl_ppn(cf->line_bps, cf->wire_bytes);
	if (!ch->ppn)
		return -EINVAL;
	pkt_ns = fl_pkt_ns(cf->line_bps, cf->wire_bytes);
	fluct_ns = cf->fluct_ns;
	if (!cf->paper && pp_rule(PP_SCALE))
		fluct_ns = fl_channel_fluct_ns(fluct_ns, pkt_ns, cf->base_ns);
	ch->base_ns = cf->base_ns;
	noise_ns = max_t(u32, cf->noise_ns, 2 * cf->held_ns);
	ch->width_ns = fluct_ns + noise_ns;
	ch->eps_ns = fl_eps_ns(cf->line_bps, cf->wire_bytes);
	empty_ns = max_t(u32, cf->noise_ns, cf->held_ns);
	higher_ns = cf->paper ? 0 : fl_channel_noise_ns(fluct_ns, empty_ns);
	ch->own_noise_ns = higher_ns && !prio ? noise_ns : 0;
	ch->target_ns = cf->base_ns + prio * ch->width_ns + higher_ns;
	ch->limit_ns = ch->target_ns + fluct_ns / 2 + noise_ns;
	ch->lower_ns = ch->target_ns - fluct_ns / 2;
	if (!prio) {
		ch->target_ns = cf->base_ns + fl_channel_lowest_ns(cf->paper ? 0 : fluct_ns,
								   empty_ns, ch->eps_ns);
		ch->limit_ns = max_t(u32, ch->limit_ns, cf->base_ns + ch->eps_ns + noise_ns);
	}
	ch->probe_base_ns = cf->probe_base_ns;
	if (!ch->probe_base_ns) {
		shorter_ns = 2 * fl_pkt_ns(cf->line_bps, cf->wire_bytes - 64);
		ch->probe_base_ns = cf->base_ns;
		if (shorter_ns < cf->base_ns / 2)
			ch->probe_base_ns -= shorter_ns;
	}
	ch->data_ns = ch->base_ns - ch->probe_base_ns;
	ch->probe_cap_ns = cf->probe_cap_ns;
	ch->probe_room_ns = div64_u64(PP_PROBE_PART * PP_PROBE_BYTES * 8000000000ULL,
				      cf->line_bps);
	ch->bdp_wnd = fl_ns_to_wnd(ch->ppn, cf->base_ns);
	ch->urgent = cf->urgent_prio && prio >= cf->urgent_prio;
	if (ch->urgent)
		start_permille = 1000;
	ch->start_wnd = start_permille == 1000 ? ch->bdp_wnd :
			div_u64(ch->bdp_wnd * start_permille, 1000);
	ch->first_wnd = max_t(u64, PP_NEW_PKTS * FL_WND_ONE,
			      div_u64(ch->bdp_wnd * cf->first_permille, 1000));
	ch->ai_wnd = min_t(u64, U32_MAX,
			   div_u64((u64)cf->ai_bytes << FL_WND_SHIFT,
				   cf->wire_bytes));
	if (!cf->paper)
		ch->ai_wnd = max_t(u64, ch->ai_wnd,
				   div_u64(fl_ns_to_wnd(ch->ppn, ch->width_ns), PP_AI_PART));
	ch->ai_many_wnd = clamp_t(u64, div_u64(fl_ns_to_wnd(ch->ppn, ch->width_ns), PP_AI_CHANNEL),
				  ch->ai_wnd, U32_MAX);
	ch->max_wnd = max_t(u64, fl_ns_to_wnd(ch->ppn, ch->limit_ns) * PP_LINE_WRONG,
			    2 * FL_WND_ONE);
	ch->held_ns = cf->held_ns;
	ch->paper = cf->paper;
	ch->clear_stop = PP_CLEAR_STOP;
	ch->clear_heir = PP_CLEAR_HEIR;
	ch->clear_gap = PP_CLEAR_GAP;
	ch->clear_base = PP_CLEAR_BASE;
	ch->paced = !cf->paper && pp_rule(PP_SCALE) &&
		    cf->base_ns / PP_PACED_WIDTHS >= ch->width_ns;
	ch->few = !cf->paper && PP_FEW_PACKETS * ch->data_ns >= ch->width_ns;
	pp_weight_init(ch, cf->weight_milli);
	pp_targets_init(ch, cf->share_ns);
	if (ch->paced)
		pp_chan_long(ch);
	pp_chan_resume(ch, cf->resume_permille);
	return 0;
}

/**
 * pp_move() - the priority has changed
 * @pp: the flow; its channel is the new one from now on
 * @up: to a higher one
 *
 * What was learnt belongs to the old channel: nobody of the new priority has
 * stopped the flow, and nobody knows how many they are. A raised flow that waits
 * goes by its next probe, as a newcomer; one that was lowered stops at the second
 * sample above its new limit.
 */
void pp_move(struct pp_core *pp, bool up)
{
	pp->preempted = 0;
	pp->idle = 0;
	pp->gap = 0;
	pp->gap_last = 0;
	pp->seen = 0;
	pp->clear = 0;
	pp->hold = 0;
	pp->over_rounds = 0;
	pp->glide = 0;
	pp->ref_wnd = 0;
	pp->flows_known = 0;
	pp->flows_q8 = PP_FLOWS_ONE;
	pp->crowd_q8 = PP_FLOWS_ONE;
	pp->in_channel = up ? 0 : PP_SETTLED;
}
