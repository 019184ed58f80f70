// SPDX-License-Identifier: GPL-2.0
/*
 * All flows let the queue drain at a turn of the wall clock, for controls that measure base RTTs.
 *
 * A flow that begins while others keep a queue takes the queue for a part of the path. Its target
 * is above all others' then, and the others give way until it is alone. So from time to time all
 * flows are silent until the queue is drained, and see what the path is. Flows of hosts whose
 * clocks agree do so together:
 *
 *	turn of the clock -- a slot --> -- a slot ---------> all windows come back: @back_ns
 *	nothing is sent                 two packets, at a
 *	                                time of one's own
 *
 * A slot is the longest of a round trip, what FL_DRAIN_PKTS packets take on the line, and
 * FL_DRAIN_SLOT_NS: flows that are hardly served do not know how long the queue is now. A flow with
 * less than two packets in flight has nothing to hold back, and its next ACK may be far: the
 * packets that would leave after the turn are its two. Where clocks differ by more than a slot, a
 * flow sees the queue of the others and learns nothing.
 *
 * PrioPlus' turns (fl_base_rtt.c) are not these: its flows ask with probes. HPCC's and Söze's
 * (fl_guided.c) renew a base RTT that may have become longer.
 */
#include <linux/module.h>

#include "fairlane/fl_drain.h"

/* A turn is 2^FL_DRAIN_SHIFT ns, or up to 2^FL_DRAIN_MORE times that: at least
 * 2^FL_DRAIN_RTTS_SHIFT times as long as two base RTTs, and as what FL_DRAIN_PKTS packets take on
 * the line.
 */
#define FL_DRAIN_RTTS_SHIFT	7
#define FL_DRAIN_MORE		9
#define FL_DRAIN_PKTS		128
/* All look at their clocks within this, ns. A slot is no shorter than four times that. */
#define FL_DRAIN_LOOK_NS	BIT(14)
#define FL_DRAIN_SLOT_NS	BIT(16)

/**
 * fl_drain_more() - how long turns are
 * @base_ns: base RTT, ns
 * @pkt_ns: what a full packet takes on the line, ns
 *
 * Context: any. Return: for struct fl_drain.
 */
u8 fl_drain_more(u32 base_ns, u32 pkt_ns)
{
	u64 turn_ns = max(2ULL * base_ns, (u64)FL_DRAIN_PKTS * pkt_ns) >>
		      (FL_DRAIN_SHIFT - FL_DRAIN_RTTS_SHIFT);

	return min(fls64(turn_ns), FL_DRAIN_MORE);
}
EXPORT_SYMBOL_GPL(fl_drain_more);

/**
 * fl_drain_begin() - has the clock turned?
 * @sk: the socket; caller holds its lock
 * @d: the flow's turns
 * @pkt_ns: what a full packet takes on the line, ns
 * @back_ns: becomes the time when windows come back, monotonic ns
 *
 * To be called where fl_drain_due() says so, once a round trip or with each ACK. Context: ACK; the
 * reference that the pacing timer has on the socket is not the last one.
 *
 * Return: yes, and nothing leaves until the flow's time has come; the window is FL_DRAIN_WND then.
 */
bool fl_drain_begin(struct sock *sk, struct fl_drain *d, u32 pkt_ns, u64 *back_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 now_ns = tp->tcp_clock_cache, slot_ns, start_ns, next_ns;
	u64 wall_ns = fl_drain_wall_ns(tp), turn_ns = BIT_ULL(FL_DRAIN_SHIFT + d->more);
	bool turn = fl_drain_turn(d, wall_ns);

	slot_ns = max3((u64)FL_DRAIN_SLOT_NS, (u64)FL_DRAIN_PKTS * pkt_ns,
		       (u64)(tp->srtt_us >> 3) * NSEC_PER_USEC);
	start_ns = now_ns - (wall_ns & (turn_ns - 1));
	if (turn == d->turn) {
		start_ns += turn_ns;
		/* two more packets may leave before the next ACK comes */
		next_ns = max(tp->tcp_wstamp_ns, now_ns) + slot_ns +
			  div64_ul(tp->mss_cache * (u64)NSEC_PER_SEC,
				   max(READ_ONCE(sk->sk_pacing_rate), 1UL));
		if (next_ns < start_ns)
			return false;
		turn = !turn;
	}
	d->turn = turn;
	/* a flow that was idle at that time is too late */
	if ((s64)(now_ns - start_ns) > (s64)(slot_ns + FL_DRAIN_LOOK_NS))
		return false;
	d->on = 1;
	*back_ns = start_ns + 2 * slot_ns;
	tp->tcp_wstamp_ns = start_ns + slot_ns + mul_u64_u32_shr(slot_ns, get_random_u32(), 32);
	/* the stack's timer waits for the packet that would have been next; it holds the socket */
	if (hrtimer_try_to_cancel(&tp->pacing_timer) == 1)
		__sock_put(sk);
	return true;
}
EXPORT_SYMBOL_GPL(fl_drain_begin);

/**
 * fl_drain_seen() - an ACK comes while the queue is drained
 * @sk: the socket; caller holds its lock
 * @d: the flow's turns, @d->on
 * @s: what the ACK says
 * @rtt: the flow's delay samples
 * @rtt_ns: the delay of full packets, ns; 0 = none
 * @pkt_ns: as in fl_drain_begin()
 * @back_ns: the same; becomes the time from which on what is sent meets the queue of all windows,
 *	when the two packets are acknowledged, or late: @d->on is 0 then
 *
 * Context: ACK. Return: the delay of the first of the two packets, ns; 0 = nothing was seen.
 */
u32 fl_drain_seen(struct sock *sk, struct fl_drain *d, const struct fl_sample *s,
		  const struct fl_rtt *rtt, u32 rtt_ns, u32 pkt_ns, u64 *back_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 end_ns = *back_ns;
	u32 gap_ns;
	bool asked = rtt_ns && !tp->packets_out && tp->tcp_wstamp_ns <= s->now_ns &&
		     tp->tcp_wstamp_ns < end_ns;

	if (s->now_ns < end_ns && !asked)
		return 0;
	d->on = 0;
	*back_ns = max(end_ns, s->now_ns) + 1;
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, end_ns);
	if (!asked)
		return 0;
	/* the second of two has waited for the first */
	gap_ns = (u32)s->now_ns - rtt_ns - rtt->sent[0].sent_ns;
	if (s->acked_pkts == 2 && rtt->count && gap_ns < pkt_ns)
		rtt_ns -= min(pkt_ns - gap_ns, rtt_ns - 1);
	return rtt_ns;
}
EXPORT_SYMBOL_GPL(fl_drain_seen);
