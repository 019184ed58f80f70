// SPDX-License-Identifier: GPL-2.0
/*
 * DCTCP (SIGCOMM 2010) for red segments alone, from two counts that the receiver
 * tells: how many it has seen or knows to be lost, and how many of them were marked.
 * Counts survive lost and delayed ACKs, and losses do not keep the window closed: on
 * a path with one queue, whatever was sent before a segment that has come has come, too,
 * or is lost.
 *
 *	alpha = (1 - g) alpha + g F		once an RTT of red segments
 *	W = W (1 - alpha / 2)			in an RTT with marks
 *	W = W / 2				at most once a window, for losses
 *	W = W + 1 in an RTT, doubled until the first mark or loss
 *
 * One segment in an RTT may be too much: a thousand flows to one host, or a queue that
 * drains by a small part of the line. So W goes below 1, and then means segments for a
 * credit, of which one may be out. Credits come the slower the more flows there are.
 */
#include "flexpass/core/fp_window.h"

/**
 * fp_window_init() - a new flow
 * @w: the window, any contents
 * @first_pkts: its first size, packets, at least 1
 */
void fp_window_init(struct fp_window *w, u32 first_pkts)
{
	*w = (struct fp_window) {
		.wnd = first_pkts << FP_WND_SHIFT,
		.slow_start = true,
	};
}

static void fp_window_shrink(struct fp_window *w, u32 by)
{
	w->wnd = max_t(u32, w->wnd - by, FP_WND_MIN);
}

static void fp_window_grow(struct fp_window *w, u32 came)
{
	if (w->wnd < FP_WND_ONE)
		w->wnd += FP_WND_ONE;
	else if (w->slow_start)
		w->wnd += came << FP_WND_SHIFT;
	else
		w->wnd += (came << 2 * FP_WND_SHIFT) / w->wnd;
	w->wnd = min_t(u32, w->wnd, FP_WND_MAX_PKTS << FP_WND_SHIFT);
}

/* An RTT of red segments has ended. */
static void fp_window_round(struct fp_window *w, u32 sent)
{
	u32 came = w->seen - w->round_begin;
	u32 marked = min_t(u32, w->marks - w->round_marks, came);
	u32 part = (marked << FP_ALPHA_SHIFT) / came;

	/* rounded up: the rest would never fade */
	w->alpha -= (w->alpha + BIT(FP_G_SHIFT) - 1) >> FP_G_SHIFT;
	w->alpha += part >> FP_G_SHIFT;
	if (marked)
		fp_window_shrink(w, (w->wnd * w->alpha) >> (FP_ALPHA_SHIFT + 1));
	w->round_begin = w->seen;
	w->round_end = sent;
	w->round_marks = w->marks;
}

/**
 * fp_window_update() - the receiver has told something, or a loss was found
 * @w: the window
 * @sent: red segments sent so far
 * @seen: those that have come or are lost, at most @sent, no less than before
 * @marks: marked ones so far, no less than before
 * @loss: segments were found lost
 */
void fp_window_update(struct fp_window *w, u32 sent, u32 seen, u32 marks,
		      bool loss)
{
	u32 came = seen - w->seen, out = sent - w->seen, marked = marks - w->marks;

	w->seen = seen;
	if (marked || loss)
		w->slow_start = false;
	w->marks = marks;
	if (loss && (s32)(seen - w->loss_end) >= 0) {
		w->loss_end = sent;
		fp_window_shrink(w, w->wnd / 2);
	}
	/* a window that is not used does not grow */
	if (came > marked && !loss && out >= w->wnd >> (FP_WND_SHIFT + 1))
		fp_window_grow(w, min_t(u32, came - marked, FP_WND_MAX_PKTS));
	if ((s32)(seen - w->round_end) >= 0 && seen != w->round_begin)
		fp_window_round(w, sent);
}

/**
 * fp_window_room() - segments that may leave without credit
 * @w: the window
 * @sent: red segments sent so far
 * @credits: credits that have come so far
 */
u32 fp_window_room(struct fp_window *w, u32 sent, u32 credits)
{
	u32 out_pkts = sent - w->seen, pkts = w->wnd >> FP_WND_SHIFT;

	if (w->sent != sent) {
		w->sent = sent;
		w->sent_credits = credits;
	}
	if (!pkts && !out_pkts)
		return (u64)(credits - w->sent_credits) * w->wnd >= FP_WND_ONE;
	return pkts > out_pkts ? pkts - out_pkts : 0;
}

/**
 * fp_window_timeout() - TCP's timer: nobody counts on what is out any more
 * @w: the window
 * @sent: red segments sent so far
 */
void fp_window_timeout(struct fp_window *w, u32 sent)
{
	w->wnd = FP_WND_ONE;
	w->slow_start = false;
	w->seen = sent;
	w->round_begin = sent;
	w->round_end = sent;
	w->loss_end = sent;
	w->round_marks = w->marks;
}
