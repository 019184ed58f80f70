/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of a delay is a path that holds packets, and no queue: virtual machines that wait
 * for a processor, cards that gather interrupts, Wi-Fi. Pure functions.
 *
 * Such a path lets packets go that came one after the other, all at once. No queue does that:
 * what leaves a queue is a packet's time on its line apart. So ACKs that come faster than the
 * sender's line have been held, or what they acknowledge has.
 *
 * Order is kept, so a packet that is held holds all that come behind it: the more a flow sends,
 * the longer is each of its delays. Its least delay, in whatever time, is far above that of the
 * empty path then. Where a packet is held for any time up to J and packets come each g, of which
 * n leave at once, J is about n^2 g / 2: the first of the n has beaten the others. That is g for
 * each pair of them. The most of some round trips is about twice the mean, so it is above J.
 *
 * Cards that merge what comes at the line's rate into one ACK look like a path that holds a little.
 */
#ifndef FL_HOLD_H
#define FL_HOLD_H

#include "fl_types.h"

/* The most that came at once is forgotten by this part in a round trip, log2. */
#define FL_HOLD_FORGET_SHIFT	4
/* Packets that are told apart: their pairs are below 2^31. */
#define FL_HOLD_MAX_PKTS	BIT(16)

/**
 * struct fl_hold - what comes at once, zeroed at first
 * @packet_ns: time of a full packet on the line, ns; 0 = nothing is known
 * @at_ns: when the last ACK came, the low half
 * @turn_ns: when @most_ns was last forgotten, likewise
 * @ahead_ns: what ACKs are ahead of the line by, ns on the line
 * @most_ns: the most of that
 */
struct fl_hold {
	u32 packet_ns;
	u32 at_ns;
	u32 turn_ns;
	u32 ahead_ns;
	u32 most_ns;
};

/**
 * fl_hold_set() - the line or the size of packets has changed
 * @h: the flow's
 * @line_bps: rate of the line, bit/s; below 1 Mbit/s counts as that. A rate below the one that
 *	the flow really has makes all its ACKs look held: the caller's rate must not exceed it.
 * @wire_bytes: a full packet on it, bytes
 *
 * Context: socket lock held.
 */
static inline void fl_hold_set(struct fl_hold *h, u64 line_bps, u32 wire_bytes)
{
	h->packet_ns = div64_u64(8000000000ULL * wire_bytes, max_t(u64, line_bps, 1000000));
}

/**
 * fl_hold_acked() - an ACK has come
 * @h: the flow's
 * @now_ns: monotonic time, ns
 * @pkts: packets that it acknowledges
 * @rtt_ns: smoothed RTT, ns
 *
 * An ACK for two packets that comes alone is a delayed one. Context: ACK, socket lock held.
 */
static inline void fl_hold_acked(struct fl_hold *h, u64 now_ns, u32 pkts, u32 rtt_ns)
{
	u32 now = now_ns, past_ns = now - h->at_ns;

	h->at_ns = now;
	if (past_ns < h->ahead_ns)
		h->ahead_ns -= past_ns;
	else
		h->ahead_ns = 0;
	if (!h->ahead_ns && pkts > 1)
		pkts--;
	h->ahead_ns = min_t(u64, h->ahead_ns + (u64)pkts * h->packet_ns, U32_MAX);
	if (now - h->turn_ns >= rtt_ns) {
		h->turn_ns = now;
		h->most_ns -= h->most_ns >> FL_HOLD_FORGET_SHIFT;
	}
	h->most_ns = max_t(u32, h->most_ns, h->ahead_ns);
}

/**
 * fl_hold_pkts() - how many packets come at once
 * @h: the flow's
 *
 * Return: the most that did; 0: nothing is held.
 */
static inline u32 fl_hold_pkts(const struct fl_hold *h)
{
	/* less than one and a half packets are one */
	if (likely(h->most_ns < h->packet_ns + h->packet_ns / 2) || !h->packet_ns)
		return 0;
	return min_t(u32, (h->most_ns - h->packet_ns / 2) / h->packet_ns + 1, FL_HOLD_MAX_PKTS);
}

/**
 * fl_hold_pairs() - how long packets may be held, in gaps between two packets of the flow
 * @h: the flow's
 *
 * Return: pairs of packets in the most that came at once; 0: nothing is held.
 */
static inline u32 fl_hold_pairs(const struct fl_hold *h)
{
	u32 pkts = fl_hold_pkts(h);

	return pkts ? (u64)pkts * (pkts - 1) / 2 : 0;
}

#endif /* FL_HOLD_H */
