/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the RTT of the empty path, the smallest one that a flow has seen, is no longer true. Pure
 * functions.
 *
 * A route that becomes longer looks like a queue that does not end: a control that goes by what
 * an RTT exceeds the smallest one stops for good, and one that bounds what is in flight by the
 * smallest one keeps to a part of the line. What tells the two apart is whether the delay answers
 * to what is sent. So time is cut into windows. After one in which no RTT came near the smallest
 * one the flow sends next to nothing for as long as the queue, if there is one, needs to drain:
 *
 *	RTTs near the smallest one ---------> nothing is done
 *	none in a window, or in more --> dip: two packets in an RTT, for as long as the queue and
 *	                                 two RTTs; the least RTT is the new one, unless that
 *	                                 of the dip is less by half of what was held back
 *
 * Windows are those of the wall clock, so flows of a host, and of hosts whose clocks agree within
 * some ms, dip together: a queue that many keep is seen as one. Their lengths are powers of two:
 * those of longer paths begin with those of shorter ones.
 *
 * Flows with hardly a packet in flight have nothing to hold back, and take a queue that stands for
 * the path. So do those that do not dip together if others fill their place. Each time that a flow
 * takes something for the path it needs twice as many windows for the next: a queue that stands
 * for an hour has been taken some ten times, and not each half second.
 */
#ifndef FL_RENEW_H
#define FL_RENEW_H

#include "fl_types.h"

/* RTTs are near the smallest one up to so much more, ns. */
#define FL_RENEW_NEAR_NS	20000
/* A dip lasts so long at least, ns: clocks differ by less than that. */
#define FL_RENEW_DIP_NS		8000000
/* The shortest window, and the longest, 2^this ns: 0.5 s, 69 s. */
#define FL_RENEW_WINDOW_SHIFT	29
#define FL_RENEW_WINDOW_MOST	36
/* A window has so many RTTs at least, log2. */
#define FL_RENEW_RTTS_SHIFT	7
/* Windows that are waited for, log2, at most. */
#define FL_RENEW_WAIT_SHIFT	10

/**
 * struct fl_renew - what the flow has seen since, zeroed at first
 * @turn_ns: when the window ends, monotonic
 * @dip_end_ns: when the dip ends, monotonic; 0: there is none
 * @least_ns: the least RTT in the window, or in the dip, ns; 0: none
 * @before_ns: the least RTT in the window before the dip, ns
 * @answer_ns: a least RTT in the dip up to this is of a queue that the flow has a part in, ns
 * @stale: windows in a row without one near the smallest one
 * @wait_shift: so many of them are needed, log2
 */
struct fl_renew {
	u64 turn_ns;
	u64 dip_end_ns;
	u32 least_ns;
	u32 before_ns;
	u32 answer_ns;
	u16 stale;
	u8 wait_shift;
};

static inline bool fl_renew_near(u32 rtt_ns, u32 base_ns)
{
	return rtt_ns <= base_ns || rtt_ns - base_ns <= FL_RENEW_NEAR_NS;
}

/* What the flow has seen for so long is no queue. Is that enough to take it for the path?
 * Return: the smallest RTT from now on, ns.
 */
static inline u32 fl_renew_take(struct fl_renew *r, u32 least_ns, u32 base_ns)
{
	if (r->stale < BIT(r->wait_shift))
		return base_ns;
	r->stale = 0;
	r->wait_shift = min_t(u32, r->wait_shift + 1, FL_RENEW_WAIT_SHIFT);
	return least_ns;
}

/**
 * fl_renew_turn() - the window ends
 * @r: the flow's
 * @base_ns: the smallest RTT so far, ns
 * @own_ns: time on the line of what it would hold back in a dip, ns; 0: nothing
 * @now_ns: monotonic time, not before @r->turn_ns
 * @wall_ns: the wall clock at that time
 *
 * Context: ACK, socket lock held. Return: the smallest RTT from now on, ns.
 */
static inline u32 fl_renew_turn(struct fl_renew *r, u32 base_ns, u32 own_ns, u64 now_ns,
				u64 wall_ns)
{
	u64 window_ns = BIT_ULL(clamp_t(u32, fls64(base_ns) + FL_RENEW_RTTS_SHIFT,
					FL_RENEW_WINDOW_SHIFT, FL_RENEW_WINDOW_MOST));
	u32 least_ns = r->least_ns;

	r->turn_ns = now_ns + window_ns - (wall_ns & (window_ns - 1));
	r->least_ns = 0;
	if (!least_ns)
		return base_ns;
	if (fl_renew_near(least_ns, base_ns)) {
		r->stale = 0;
		if (r->wait_shift)
			r->wait_shift--;
		return base_ns;
	}
	r->stale = min_t(u32, r->stale + 1, U16_MAX);
	if (!own_ns)
		return fl_renew_take(r, least_ns, base_ns);
	r->before_ns = least_ns;
	r->answer_ns = least_ns - min_t(u32, least_ns, own_ns / 2);
	r->dip_end_ns = now_ns + max_t(u64, least_ns + 2ULL * base_ns, FL_RENEW_DIP_NS);
	return base_ns;
}

/**
 * fl_renew_stood() - a delay has stood for many round trips in which the flow sent hardly anything
 * @r: the flow's
 * @least_ns: the least RTT in them, ns
 * @base_ns: the smallest RTT so far, ns
 *
 * The flow has no part in a queue then, and nothing to hold back: these round trips are a window
 * that need not end when those of others do. Context: ACK, socket lock held. Return: the smallest
 * RTT from now on, ns.
 */
static inline u32 fl_renew_stood(struct fl_renew *r, u32 least_ns, u32 base_ns)
{
	r->stale = min_t(u32, r->stale + 1, U16_MAX);
	return fl_renew_take(r, least_ns, base_ns);
}

/**
 * fl_renew_enough() - has the window, or the dip, had an RTT so short that no other matters?
 * @r: the flow's
 * @base_ns: the smallest RTT so far, ns
 *
 * Who knows need not call fl_renew_rtt(). The smallest RTT does not become less without it.
 */
static inline bool fl_renew_enough(const struct fl_renew *r, u32 base_ns)
{
	/* 0 is none */
	return r->least_ns - 1 < base_ns;
}

/**
 * fl_renew_rtt() - an RTT of full packets has come, in a dip: of packets sent in it
 * @r: the flow's
 * @rtt_ns: it, ns, above 0
 *
 * Context: ACK, socket lock held.
 */
static inline void fl_renew_rtt(struct fl_renew *r, u32 rtt_ns)
{
	if (!r->least_ns || rtt_ns < r->least_ns)
		r->least_ns = rtt_ns;
}

/**
 * fl_renew_dipped() - the dip is over: not before @r->dip_end_ns, and packets sent in it are back
 * @r: the flow's
 * @base_ns: the smallest RTT so far, ns
 *
 * Context: ACK, socket lock held. Return: the smallest RTT from now on, ns.
 */
static inline u32 fl_renew_dipped(struct fl_renew *r, u32 base_ns)
{
	u32 least_ns = r->least_ns;

	r->dip_end_ns = 0;
	if (least_ns && fl_renew_near(least_ns, base_ns)) {
		r->stale = 0;
		return base_ns;
	}
	/* the next window begins with what it sees itself */
	r->least_ns = 0;
	if (least_ns <= r->answer_ns)
		return base_ns;
	/* others may have taken what this flow has left: no RTT is less than the path's */
	return fl_renew_take(r, min_t(u32, least_ns, r->before_ns), base_ns);
}

#endif /* FL_RENEW_H */
