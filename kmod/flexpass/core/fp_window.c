// SPDX-License-Identifier: GPL-2.0
/*
 * DCTCP (SIGCOMM 2010) for red segments alone, from two counts that the receiver
 * tells: how many it has seen or knows to be lost, and how many of them were marked.
 * Counts survive lost and delayed ACKs, and losses do not keep the window closed: on
 * a path with one queue, whatever was sent before a segment that has come has come, too,
 * or is lost.
 *
 *	alpha = (1 - g) alpha + g F		once an RTT of red segments
 *	W = W / 2				at the first mark, which ends slow start, or for a
 *						loss, at most once a window
 *	W = W (1 - alpha / 2)			for a mark, at most once a window, while W > E
 *	W = W + 1 in an RTT, doubled until the first mark or loss; of 1 to 4 packets
 *						only while W < E
 *	W = W + sqrt(W) for a packet		while W < 1
 *	E = ((1 - alpha) / alpha)^2
 *
 * E is what a flow with this alpha should have, about what DCTCP comes to. All flows of a
 * port meet the same marks, so E is the same for all. Windows of a packet or two need
 * it: one packet tells little, and whoever meets three marks in a row would else
 * have next to nothing for a long time, while the others take its place.
 *
 * A window leaves evenly: a segment in RTT / (1.5 W) in slow start, in RTT / (1.25 W) later, and
 * up to FP_LATE of them may be late. If all segments that ACKs free left at once, the host's port
 * would mark this burst, and slow start would end at a fifth of what the path holds. A timer wakes
 * the flow when ACKs do not: they come in bursts, and a burst of n frees 2 n segments in slow
 * start, of which only FP_LATE could leave. The window would hardly grow.
 *
 * A flow whose rate R doubles in an RTT has R RTT / (2 ln 2) = .72 R RTT out, so 1.39 W in an RTT
 * is the slowest pace that doubles. A port's queue grows when R is what the path has. The flow
 * knows it an RTT later and the time in which the queue has grown to where it is marked, and has
 * 1.44 of what it should have where RTTs are long, and twice as much where this time is half of an
 * RTT. So half is a good cut. Marks and losses of what was sent in an RTT before and one after a
 * cut are of the queue that the cut was for, and say nothing more.
 *
 * A window that is not used does not grow: it would have to be cut often before a cut is felt. The
 * own port's queue is known without marks (tcp_flexpass.c), and keeps part of it back.
 *
 * Parts of packets count. A window of 1.3 is 2 packets in three RTTs of ten. One segment in
 * an RTT may be too much: a thousand flows to one host, or a queue that drains by a small
 * part of the line. So W goes below 1: one segment in 1 / W RTTs, one out at a time. Nothing
 * wakes the flow then but credits and ACKs, and what is late is made up for: timers of a thousand
 * flows to one host would fill its queue.
 */
#include "flexpass/core/fp_window.h"
#include "lib/isqrt.h"

#define FP_ALPHA_ONE	BIT(FP_ALPHA_SHIFT)
/* Before anything is known; DCTCP has 1, which is much for windows of many packets. */
#define FP_ALPHA_START	(FP_ALPHA_ONE / 2)
/* Windows from 1 to so many packets do not grow beyond E. */
#define FP_EVEN_PKTS	4
/* Segments that may be late: a credit pays for up to 8, and wakes the flow. */
#define FP_LATE		8

/**
 * fp_window_init() - a new flow
 * @w: the window, any contents
 * @first_pkts: its first size, packets, at least 1
 */
void fp_window_init(struct fp_window *w, u32 first_pkts)
{
	*w = (struct fp_window) {
		.wnd = first_pkts << FP_WND_SHIFT,
		.alpha = FP_ALPHA_START,
		.slow_start = true,
	};
}

/**
 * fp_window_move() - the receiver's counts have begun elsewhere
 * @w: the window
 * @by: so many more count as sent, and as seen
 * @marks: marked ones so far
 */
void fp_window_move(struct fp_window *w, u32 by, u32 marks)
{
	w->seen += by;
	w->sent += by;
	w->round_begin += by;
	w->round_end += by;
	w->cut_end += by;
	w->marks = marks;
	w->round_marks = marks;
}

static void fp_window_shrink(struct fp_window *w, u32 by)
{
	w->wnd = max_t(u32, w->wnd - by, FP_WND_MIN);
}

/* Is the window larger than E? */
static bool fp_window_above(const struct fp_window *w)
{
	u64 free = FP_ALPHA_ONE - w->alpha;

	return (u64)w->wnd * w->alpha * w->alpha > free * free << FP_WND_SHIFT;
}

/* The window's answer to a mark or a loss, for all that has been sent until now. After a large cut
 * the queue is there for another RTT, and TCP finds losses late.
 */
static void fp_window_cut(struct fp_window *w, u32 sent, bool loss)
{
	if (w->slow_start || loss)
		fp_window_shrink(w, w->wnd / 2);
	else if (fp_window_above(w))
		fp_window_shrink(w, ((u64)w->wnd * w->alpha) >> (FP_ALPHA_SHIFT + 1));
	w->cut_end = sent;
	if (w->slow_start || loss)
		w->cut_end += w->wnd >> FP_WND_SHIFT;
	w->slow_start = false;
}

/* Has what was sent before the last cut come? */
static bool fp_window_may_cut(const struct fp_window *w)
{
	return (s32)(w->seen - w->cut_end) >= 0;
}

static void fp_window_grow(struct fp_window *w, u32 came)
{
	if (w->slow_start)
		w->wnd += came << FP_WND_SHIFT;
	else if (w->wnd < FP_WND_ONE)
		w->wnd += fl_isqrt((u64)w->wnd << FP_WND_SHIFT);
	else if (w->wnd >= FP_EVEN_PKTS * FP_WND_ONE || !fp_window_above(w))
		w->wnd += div_u64((u64)came << 2 * FP_WND_SHIFT, w->wnd);
	w->wnd = min_t(u32, w->wnd, FP_WND_MAX_PKTS << FP_WND_SHIFT);
}

/* Is @out_pkts what the window allows? Much more than may be late is kept back by the application,
 * the peer's window or the own port.
 */
static bool fp_window_used(const struct fp_window *w, u32 out_pkts)
{
	u32 rest = clamp_t(u32, FP_LATE * FP_WND_ONE, w->wnd / 4, w->wnd / 2);

	return out_pkts >= (w->wnd - rest) >> FP_WND_SHIFT;
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
	/* never so far behind that the difference changes its sign */
	if (fp_window_may_cut(w))
		w->cut_end = w->seen;
	w->carry = (w->carry + w->wnd) & (FP_WND_ONE - 1);
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
	w->marks = marks;
	if ((marked || loss) && fp_window_may_cut(w))
		fp_window_cut(w, sent, loss);
	if (came > marked && !loss && fp_window_used(w, out))
		fp_window_grow(w, min_t(u32, came - marked, FP_WND_MAX_PKTS));
	if ((s32)(seen - w->round_end) >= 0 && seen != w->round_begin)
		fp_window_round(w, sent);
}

/* Time between two segments. Windows of a packet and more leave room to catch up, and to double
 * in an RTT before the first mark.
 */
static u64 fp_window_gap_ns(const struct fp_window *w, u32 rtt_ns)
{
	u32 wnd = w->wnd;

	if (wnd >= FP_WND_ONE)
		wnd += w->slow_start ? wnd / 2 : wnd / 4;
	return max_t(u64, div_u64((u64)rtt_ns << FP_WND_SHIFT, wnd), 1);
}

/**
 * fp_window_room() - segments that may leave without credit
 * @w: the window
 * @sent: red segments sent so far
 * @now_ns: monotonic time
 * @rtt_ns: an RTT
 * @wait_ns: becomes the time after which more may, 0: not before something is heard
 */
u32 fp_window_room(struct fp_window *w, u32 sent, u64 now_ns, u32 rtt_ns, u64 *wait_ns)
{
	u32 out_pkts = sent - w->seen, pkts = max_t(u32, (w->wnd + w->carry) >> FP_WND_SHIFT, 1);
	u64 gap_ns, late_ns;
	u32 room, rest;

	*wait_ns = 0;
	if (w->sent == sent && out_pkts >= pkts)
		return 0;
	gap_ns = fp_window_gap_ns(w, rtt_ns);
	late_ns = min_t(u64, FP_LATE * gap_ns, now_ns);
	w->last_ns = max_t(u64, w->last_ns + (sent - w->sent) * gap_ns, now_ns - late_ns);
	w->last_ns = min_t(u64, w->last_ns, now_ns);
	w->sent = sent;
	if (out_pkts >= pkts)
		return 0;
	/* what comes after a silence leaves at once */
	if (!out_pkts && w->wnd >= FP_WND_ONE)
		return pkts;
	room = min_t(u64, pkts - out_pkts, div64_u64(now_ns - w->last_ns, gap_ns));
	rest = pkts - out_pkts - room;
	if (rest && w->wnd >= FP_WND_ONE)
		*wait_ns = w->last_ns + (room + min_t(u32, rest, FP_LATE)) * gap_ns - now_ns;
	return room;
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
	w->cut_end = sent;
	w->round_marks = w->marks;
}
