// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus: a flow's beginnings, and its original CC. Whichever way decides, prioplus.c's
 * or the paper's, does it with these.
 */
#include "pp_count.h"

/**
 * pp_init() - begin a flow, stopped: it probes before it sends
 * @pp: the flow
 * @original: the original CC
 * @now_ns: time, ns
 * @snd_nxt: next sequence number
 */
void pp_init(struct pp_core *pp, const struct fl_original_ops *original, u64 now_ns,
	     u32 snd_nxt)
{
	*pp = (struct pp_core) {
		.original = original,
		.round_end = snd_nxt,
		.flows_q8 = PP_FLOWS_ONE,
		.crowd_q8 = PP_FLOWS_ONE,
		.stopped = 1,
	};
	original->init(pp->original_state, now_ns);
}

/**
 * pp_suspend_idle() - a flow that had nothing to send probes before it does
 * @pp: the flow
 * @wnd: what its window still is after the pause, packets << FL_WND_SHIFT; 0 = as a new one's
 *
 * As if new, but it keeps what it knows about #flow.
 */
void pp_suspend_idle(struct pp_core *pp, u64 wnd)
{
	pp->wnd = wnd;
	pp->idle = !!wnd;
	pp->stopped = 1;
	pp->preempted = 0;
	pp->gap = 0;
	pp->gap_last = 0;
	pp->seen = 0;
	pp->clear = 0;
}

/**
 * pp_skip() - what was sent until now says nothing
 * @pp: the flow
 * @snd_nxt: next sequence number; ACKs of earlier data end no RTT
 */
void pp_skip(struct pp_core *pp, u32 snd_nxt)
{
	if (!pp->glide)
		pp->ref_wnd = 0;
	pp->round_end = snd_nxt;
	pp->over = 0;
	pp_grow_anew(pp, snd_nxt);
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
	pp->glide = 0;
	pp_skip(pp, snd_nxt);
	pp->in_channel = 0;
	pp->over_rounds = 0;
	pp->clear = 0;
	pp->stopped = 0;
	pp->idle = 0;
	pp->owns = 0;
	pp->dual = 0;
}

/**
 * pp_original_ack() - the original CC, whichever it is
 * @pp: the flow
 * @ch: its channel
 * @ai_wnd: additive increase for an RTT, packets << FL_WND_SHIFT
 * @s: what the ACK says
 */
void pp_original_ack(struct pp_core *pp, const struct pp_chan *ch,
		     u32 ai_wnd, const struct fl_sample *s)
{
	const struct fl_target t = {
		.target_ns = ch->target_ns - pp->shift_ns,
		.base_ns = ch->base_ns,
		.ai_wnd = ai_wnd,
		.min_wnd = PP_MIN_WND,
		.max_wnd = ch->max_wnd,
	};

	pp->original->on_ack(pp->original_state, &t, &pp->wnd, s);
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
		.base_ns = ch->base_ns,
		.min_wnd = PP_MIN_WND,
		.max_wnd = ch->max_wnd,
	};

	if (!pp->stopped)
		pp->original->on_loss(pp->original_state, &t, &pp->wnd, now_ns, rtt_ns,
				  how);
}
