/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels of delay: where a priority steers its queue (PrioPlus, section 4.3.2).
 *
 *	D_target(i) = base RTT + i (A + B)
 *
 * A control that steers by delay without PrioPlus takes the same targets (section 5: "Swift with
 * target delays aligned with D_target of PrioPlus"), and needs the same room: a target below a
 * packet's time leaves two flows one packet to share. Pure functions. The delays here are without
 * the base RTT.
 */
#ifndef FL_CHANNEL_H
#define FL_CHANNEL_H

#include "lib/fl_types.h"

/* A is at least so many tenths of a packet's time on the line: a queue is whole packets; */
#define FL_FLUCT_PKT_TENTHS	26
/* and this part of the base RTT: what an RTT of growth does to the delay is a part of the RTT,
 * whatever the queue.
 */
#define FL_FLUCT_BASE_PART	12
/* Channels begin higher by this part of what B exceeds A/2: 1 / 2^this. */
#define FL_NOISE_ROOM_SHIFT	2
/* Priority 0 steers for this part of A at least. */
#define FL_LOWEST_PART		4
/* No target of fl_channel_ns() is higher, ns: it is added to a base RTT of up to 3.2 s. */
#define FL_CHANNEL_MOST_NS	1000000000

/**
 * fl_channel_fluct_ns() - A, with which channels are wide enough
 * @fluct_ns: A as it is set, ns
 * @pkt_ns: a full packet's time on the line, ns
 * @base_ns: base RTT, ns
 *
 * All hosts of a fabric with the same line rate, packets and base RTT find the same.
 * Return: A, ns.
 */
static inline u32 fl_channel_fluct_ns(u32 fluct_ns, u32 pkt_ns, u32 base_ns)
{
	u64 least_ns = div_u64((u64)pkt_ns * FL_FLUCT_PKT_TENTHS, 10);

	least_ns = max_t(u64, least_ns, base_ns / FL_FLUCT_BASE_PART);
	return min_t(u64, max_t(u64, fluct_ns, least_ns), U32_MAX);
}

/**
 * fl_channel_noise_ns() - how much higher channels begin for noise
 * @fluct_ns: A, ns
 * @empty_ns: B, or for how long the path holds packets without a queue, ns
 *
 * Room for noise that is longer than A/2. Priority 0, with no channel below it, steers for all that
 * can be told from an empty queue (fl_channel_lowest_ns()). A path that keeps packets in order
 * delays the mean of them by about three quarters of B: then B/4 is the queue, and B the noise at
 * times. So the channels of all begin higher by a quarter of what B exceeds A/2.
 * Return: ns.
 */
static inline u32 fl_channel_noise_ns(u32 fluct_ns, u32 empty_ns)
{
	return empty_ns > fluct_ns / 2 ? (empty_ns - fluct_ns / 2) >> FL_NOISE_ROOM_SHIFT : 0;
}

/**
 * fl_channel_lowest_ns() - target of priority 0
 * @fluct_ns: A, ns
 * @empty_ns: as fl_channel_noise_ns(), ns
 * @eps_ns: the least that can be told from an empty queue without noise, fl_eps_ns(), ns
 *
 * The least that can be told from an empty queue, noise or not, and half of the room below its
 * limit where that is more: then noise that nobody told stops nothing.
 * Return: ns above the base RTT.
 */
static inline u32 fl_channel_lowest_ns(u32 fluct_ns, u32 empty_ns, u32 eps_ns)
{
	return max_t(u32, max_t(u32, eps_ns, empty_ns), fluct_ns / FL_LOWEST_PART);
}

/**
 * fl_channel_ns() - D_target of a priority, for a control that steers by delay alone
 * @prio: virtual priority
 * @fluct_ns: A as it is set, ns
 * @noise_ns: B, ns
 * @pkt_ns: a full packet's time on the line, ns
 * @base_ns: base RTT, ns
 *
 * As pp_chan_init(), but nobody tells what the path holds.
 * Return: ns above the base RTT, FL_CHANNEL_MOST_NS at most.
 */
static inline u32 fl_channel_ns(u32 prio, u32 fluct_ns, u32 noise_ns, u32 pkt_ns,
				u32 base_ns)
{
	u64 target_ns;
	u32 lowest_ns;

	fluct_ns = fl_channel_fluct_ns(fluct_ns, pkt_ns, base_ns);
	lowest_ns = fl_channel_lowest_ns(fluct_ns, noise_ns, max_t(u32, FL_EPS_NS, pkt_ns));
	target_ns = (u64)prio * ((u64)fluct_ns + noise_ns);
	if (prio)
		target_ns += fl_channel_noise_ns(fluct_ns, noise_ns);
	return min_t(u64, max_t(u64, lowest_ns, target_ns), FL_CHANNEL_MOST_NS);
}

#endif /* FL_CHANNEL_H */
