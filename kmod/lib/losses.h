/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Losses that no queue tells of: a policer drops what exceeds its rate and holds nothing. Who goes
 * by delays, or by what ports tell, is back above that rate in a few round trips after each cut,
 * and a third of what it sends or more is lost for ever. Pure functions.
 *
 * A path that loses packets at random, or that loses a lot once, when a flow begins, is no policer.
 * What is: in each of FL_LOSSES_TIMES recoveries in a row more than one of FL_LOSSES_PART packets
 * since the last one was lost. Reno would be as slow with such losses, whatever their cause. Then
 * losses bound the flow as they bound Reno: half at each recovery, a packet more in each round
 * trip.
 *
 * Who goes on growing in a recovery may never leave it. There such losses begin one anew after
 * FL_LOSSES_RTTS round trips, since what was sent before the cut is lost for one more.
 */
#ifndef FL_LOSSES_H
#define FL_LOSSES_H

#include "fl_types.h"

#define FL_LOSSES_TIMES		4
#define FL_LOSSES_PART		16
/* Of fewer packets nobody can tell. */
#define FL_LOSSES_LEAST_PKTS	64
#define FL_LOSSES_RTTS		2
/* A window that is this part of the bound has another cause, and needs none. */
#define FL_LOSSES_FREE_PART	4

/**
 * struct fl_losses - what a flow has lost, zeroed at first
 * @delivered: tp->delivered at the last look
 * @lost: tp->lost at the last look
 * @most_pkts: bound of the window, packets; 0: none
 * @at_us: when that was, microseconds
 * @acked_pkts: of the next packet that it grows by
 * @times: recoveries in a row in which too much was lost
 *
 * Those who are bounded in their own way use fl_losses_many() alone.
 */
struct fl_losses {
	u32 delivered;
	u32 lost;
	u32 at_us;
	u32 most_pkts;
	u32 acked_pkts;
	u8 times;
};

/**
 * fl_losses_many() - a recovery begins
 * @l: the flow's
 * @delivered: tp->delivered
 * @lost: tp->lost
 * @now_us: time, microseconds
 *
 * Return: do losses tell of a rate that nothing else tells of?
 */
static inline bool fl_losses_many(struct fl_losses *l, u32 delivered, u32 lost, u32 now_us)
{
	u32 gone = lost - l->lost;
	u32 all = delivered - l->delivered + gone;

	l->at_us = now_us;
	if (all >= FL_LOSSES_LEAST_PKTS) {
		l->delivered = delivered;
		l->lost = lost;
		if (gone <= all / FL_LOSSES_PART)
			l->times = 0;
		else if (l->times < FL_LOSSES_TIMES)
			l->times++;
	}
	return l->times == FL_LOSSES_TIMES;
}

/**
 * fl_losses_last() - an ACK has come in a recovery
 * @l: the flow's
 * @delivered: tp->delivered
 * @lost: tp->lost
 * @now_us: time, microseconds
 * @rtt_us: smoothed RTT, microseconds
 *
 * Return: is too much lost although the recovery has begun long ago?
 */
static inline bool fl_losses_last(const struct fl_losses *l, u32 delivered, u32 lost, u32 now_us,
				  u32 rtt_us)
{
	u32 gone = lost - l->lost;
	u32 all = delivered - l->delivered + gone;

	return now_us - l->at_us > FL_LOSSES_RTTS * rtt_us && all >= FL_LOSSES_LEAST_PKTS &&
	       gone > all / FL_LOSSES_PART;
}

/**
 * fl_losses_cut() - a recovery begins
 * @l: the flow's
 * @many: of fl_losses_many()
 * @window_pkts: what was allowed until now
 */
static inline void fl_losses_cut(struct fl_losses *l, bool many, u32 window_pkts)
{
	if (!many && !l->most_pkts)
		return;
	if (l->most_pkts)
		window_pkts = min_t(u32, window_pkts, l->most_pkts);
	l->most_pkts = max_t(u32, window_pkts / 2, 2);
	l->acked_pkts = 0;
}

/**
 * fl_losses_bound() - an ACK has come, of a flow that has a bound
 * @l: the flow's
 * @acked_pkts: packets acknowledged, 0 in a recovery
 * @wnd: the window that its control wants, packets << FL_WND_SHIFT
 *
 * Return: the window that it may have.
 */
static inline u64 fl_losses_bound(struct fl_losses *l, u32 acked_pkts, u64 wnd)
{
	u64 most = (u64)l->most_pkts << FL_WND_SHIFT;

	if (wnd < most / FL_LOSSES_FREE_PART) {
		l->most_pkts = 0;
		return wnd;
	}
	l->acked_pkts += acked_pkts;
	if (l->acked_pkts >= l->most_pkts) {
		l->acked_pkts = 0;
		l->most_pkts++;
	}
	return min_t(u64, wnd, most);
}

#endif /* FL_LOSSES_H */
