// SPDX-License-Identifier: GPL-2.0
/*
 * How a flow of Swift finds out what the base RTT of its path is, where others keep a queue.
 *
 * The smallest delay that a flow has seen is its base RTT. Two things make that wrong. The path
 * becomes longer: swift_longer() tells a longer path from a queue. The flow has never met an empty
 * queue: all flows let the queue drain together from time to time (swift_turn(), swift_drained()).
 * None of this is in the paper, where base RTTs are known.
 */
#include <net/tcp.h>

#include "swift/swift_flow.h"

/* Delays that are one: so many in a row, for so many round trips, within this part of a packet's
 * time, log2. A dip is over after so many round trips at most, and holds back so much of a window
 * (swift_dip_wnd()). The line has room if this part of it has, log2. Or all that a window below a
 * packet has seen for so long, 2^SWIFT_LOW_SHIFT ns, and for so many round trips: see
 * swift_longer().
 */
#define SWIFT_SAME		8
#define SWIFT_SAME_RTTS		4
#define SWIFT_SAME_PART_SHIFT	3
#define SWIFT_DIP_RTTS		8
#define SWIFT_DIP_WND		(8 * FL_WND_ONE)
#define SWIFT_ROOM_SHIFT	5
#define SWIFT_LOW		(250 * NSEC_PER_MSEC >> SWIFT_LOW_SHIFT)
#define SWIFT_LOW_RTTS		16
/* Longer times are not counted. */
#define SWIFT_LOW_MOST		(U16_MAX / 2)

/* What is left of a window in a dip (swift_longer()): a quarter, since others fill the room of a
 * few packets in a round trip: with a quarter held back one of two flows had the line (net/cc:
 * two-of-swift). Of a large window eight packets or a quarter are held back: with three quarters
 * an RTT of 1 ms fell to 331 us (settings). A flow of few packets keeps one, or a half.
 * Context: ACK, socket lock held. Return: packets << FL_WND_SHIFT.
 */
u64 swift_dip_wnd(u64 wnd)
{
	u64 less = min_t(u64, wnd - (wnd >> 2), SWIFT_DIP_WND);

	return max(wnd - max(less, wnd >> 2), min_t(u64, wnd >> 1, FL_WND_ONE));
}

/* The delay is that of a path which is longer than was believed. Context: ACK, socket lock held. */
static void swift_begin_anew(const struct sock *sk, struct swift *sw)
{
	sw->base_ns = sw->low_ns;
	sw->low_ns = 0;
	sw->low_dip = 0;
	sw->low_wait = 0;
	swift_configure(sk, sw, fl_profile_for(sk, sw->fs));
	/* no BDP: a line that is told too fast would be filled again and again */
	sw->wnd = max(sw->wnd, (u64)min_t(u32, sw->bdp_pkts, TCP_INIT_CWND) << FL_WND_SHIFT);
}

/* Would what is in flight leave room on the line that was told? Else the delay is the flow's own.
 * Context: ACK, socket lock held.
 */
static bool swift_leaves_room(const struct sock *sk, const struct swift *sw)
{
	u64 line_bps = fl_sock_line_bps(sk, sw->fs, fl_profile_for(sk, sw->fs), true);
	u64 full = fl_ns_to_wnd(fl_ppn(line_bps, fl_wire_bytes(sk)), sw->low_ns);

	return sw->wnd < full - (full >> SWIFT_ROOM_SHIFT);
}

/* Part of the window is held back. What was sent before has come after a round trip. Is the
 * delay what it was?
 * @low: since then, @rtt: a round trip, both in 2^SWIFT_LOW_SHIFT ns; @part_ns: of a packet's
 * time; @rtt_ns: as swift_longer().
 * Context: ACK, socket lock held. Return: yes.
 */
static bool swift_dipped(struct swift *sw, u16 low, u32 rtt, u32 part_ns, u32 rtt_ns)
{
	if (low <= rtt + 1)
		return false;
	if (rtt_ns && rtt_ns + part_ns >= sw->low_ns && rtt_ns <= sw->low_ns + part_ns)
		return true;
	if ((rtt_ns && rtt_ns < sw->low_ns) ||
	    low > min_t(u32, SWIFT_DIP_RTTS * (rtt + 1), SWIFT_LOW_MOST)) {
		sw->low_wait = min(sw->low_wait + 1, 15);
		sw->low_dip = 0;
		sw->low_ns = 0;
	}
	return false;
}

/* A path that is longer than was believed looks like a queue that does not end: it has more links
 * than swift_start() takes it for, or the route is another one. Two things tell of it.
 * A queue is packets that come and go, and a queue answers to what is sent. So where delays in a
 * row are one, within a part of a packet's time, and the line that was told has room, a part of
 * the window is held back for a round trip or two (swift_dip_wnd()): if the delay is the same then,
 * it is the path's. Where others fill the room meanwhile, their queue is taken for the path.
 * Each time that the queue has answered the next dip waits twice as long, and one that had to wait
 * for a second does not come.
 * A flow with less than a packet in a round trip has nothing in a queue, and nothing to hold back:
 * delays that are one are the path's. If no delay has met the target for a quarter of a second, the
 * least of them is the base RTT. It is, too, below a higher
 * priority that leaves nothing for as long: the flow has a part of the line then, until it sees a
 * shorter delay.
 * @target_ns: the target with scaling, @rtt_ns: the delay of full packets, ns; 0 = none.
 * Context: ACK, socket lock held. Return: has the base RTT changed?
 */
bool swift_longer(struct sock *sk, struct swift *sw, const struct fl_sample *s, u32 target_ns,
		  u32 rtt_ns)
{
	u32 part_ns = sw->base_ns >> (SWIFT_SAME_PART_SHIFT + __fls(sw->bdp_pkts)), rtt;
	u16 now_at = s->now_ns >> SWIFT_LOW_SHIFT, low;
	bool below = sw->wnd < FL_WND_ONE, longer = false, same;

	if ((s->delay_ns && s->delay_ns <= sw->base_ns + part_ns) || sw->given) {
		sw->low_ns = 0;
		sw->low_dip = 0;
		return false;
	}
	low = now_at - sw->low_at;
	rtt = sw->low_ns >> SWIFT_LOW_SHIFT;
	if (sw->low_dip) {
		longer = swift_dipped(sw, low, rtt, part_ns, rtt_ns);
	} else if (rtt_ns) {
		same = sw->low_ns && rtt_ns - sw->low_ns + part_ns <= 2 * part_ns;
		if (!sw->low_ns || (below ? s->delay_ns <= target_ns : !same)) {
			sw->low_ns = rtt_ns;
			sw->low_at = now_at;
			low = 0;
		}
		sw->low_ns = min(sw->low_ns, rtt_ns);
		sw->low_same = same ? min(sw->low_same + 1, SWIFT_SAME) : 0;
		longer = below && low > SWIFT_LOW &&
			 low > min_t(u32, SWIFT_LOW_RTTS * rtt, SWIFT_LOW_MOST);
		if (!longer && sw->low_same == SWIFT_SAME &&
		    low > (u64)(SWIFT_SAME_RTTS * (rtt + 1)) << sw->low_wait) {
			longer = below;
			sw->low_dip = !below && swift_leaves_room(sk, sw);
			sw->low_at = now_at;
		}
	}
	if (longer)
		swift_begin_anew(sk, sw);
	return longer;
}

/* Has the wall clock turned? All let the queue drain then (fl_drain.c): eight hosts at 10 Gbit/s
 * that join one after the other share by .98 with it, by .35 to .5 without (Jain, net/cc:
 * swift-joiners). Once a round trip, or with each ACK. Context: ACK, socket lock held.
 */
void swift_turn(struct sock *sk, struct swift *sw)
{
	if (sw->given || !sw->wnd || !fl_drain_due(sk, &sw->drain, sw->wnd) ||
	    !fl_drain_begin(sk, &sw->drain, swift_pkt_ns(sk, sw), &sw->state.dec_ns))
		return;
	sw->low_dip = 0;
	sw->low_same = 0;
}

/* An ACK comes while the queue is drained: a delay below the base RTT is the new base RTT. All
 * windows come back at once; for a round trip their queue says nothing.
 * @rtt_ns: the delay of full packets, ns; 0 = none. Context: ACK, socket lock held.
 * Return: has the base RTT changed?
 */
bool swift_drained(struct sock *sk, struct swift *sw, const struct fl_sample *s, u32 rtt_ns)
{
	u32 pkt_ns = swift_pkt_ns(sk, sw);

	rtt_ns = fl_drain_seen(sk, &sw->drain, s, &sw->rtt, rtt_ns, pkt_ns, &sw->state.dec_ns);
	if (!rtt_ns || rtt_ns > sw->base_ns + (pkt_ns >> SWIFT_SAME_PART_SHIFT))
		return false;
	sw->low_ns = 0;
	if (rtt_ns >= sw->base_ns)
		return false;
	sw->base_ns = rtt_ns;
	swift_configure(sk, sw, fl_profile_for(sk, sw->fs));
	return true;
}
