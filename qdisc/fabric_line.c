// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: the line, for devices that have no rate of their own (veth).
 *
 * A packet is sent for as long as its bytes take at the line's rate, then
 * flies for the propagation delay, then is handed to the device, which gives
 * it to the other end at once: store and forward. Once it is sent its socket is
 * charged no more, or propagation would count as a queue in the host.
 *
 *	bands --next--> sending --(finish)--> flying --(+ delay)--> device
 *
 * The timer is for the last step, and to tell senders that a packet is sent. What
 * else happened is worked out when somebody looks, in virtual time: the next
 * packet begins at the very picosecond the one before ended, however late the
 * timer was. Since every arrival looks first, the bands between two looks are as
 * they were at the moment of the decision, so it comes out as if made in time.
 *
 * A device that does not take what has arrived stops the line once it is full; then
 * the bands fill, and their limits act. So the qdisc holds at most what flies
 * during the delay and two packets beyond the limits. The time of the device is
 * lost for the line; the time by which a timer is late is not.
 */
#include "fabric_fast.h"

/* A timer that is later than this is not worth catching up with: a burst that
 * long would leave at once.
 */
#define FABRIC_LATE_MAX_NS	1000000ULL

/* The next packet for a free line, *@from its band. Sets *@ready_ns to the earliest
 * time at which it may begin; the line knows itself when it got free.
 */
static struct sk_buff *fabric_line_next(struct Qdisc *sch, u64 now_ns,
					bool idle, struct fabric_band **from,
					u64 *ready_ns)
{
	struct fabric_sched *q = qdisc_priv(sch);
	u64 at_ns = fabric_line_ceil_ns(&q->line), retry_ns = 0;
	struct sk_buff *skb;

	if (idle && at_ns < now_ns)
		at_ns = now_ns;
	skb = fabric_serve_next(sch, at_ns, from);
	while (!skb && q->retry_ns && q->retry_ns <= now_ns) {
		retry_ns = q->retry_ns;
		skb = fabric_serve_next(sch, retry_ns, from);
	}
	if (!skb)
		return NULL;
	/* What comes from a band's own qdisc is there now, or was already. */
	if (fabric_cb(skb)->untimed)
		*ready_ns = idle ? now_ns : retry_ns;
	else
		*ready_ns = max(fabric_cb(skb)->enqueue_ns, retry_ns);
	return skb;
}

/* Is the end of the line full? Then it holds what flies in the delay, and the device
 * has not taken the first of it in time.
 */
static bool fabric_line_stuck(const struct fabric_sched *q, u64 now_ns)
{
	return q->flying.head && q->flying.bytes >= q->flying_max_bytes &&
	       fabric_cb(q->flying.head)->deliver_ns < now_ns;
}

/**
 * fabric_line_advance() - let the line do what it has done by now
 * @sch: the qdisc, with a line rate
 * @now_ns: the time
 */
void fabric_line_advance(struct Qdisc *sch, u64 now_ns)
{
	struct fabric_sched *q = qdisc_priv(sch);
	bool idle = !q->sending;
	struct fabric_band *band;
	struct sk_buff *skb;
	u64 ready_ns, start_ns;

	for (;;) {
		if (q->sending) {
			if (fabric_line_ceil_ns(&q->line) > now_ns ||
			    fabric_line_stuck(q, now_ns))
				return;
			/* As a device that has sent it would. */
			skb_orphan(q->sending);
			fabric_fifo_push(&q->flying, q->sending,
					 qdisc_pkt_len(q->sending));
			q->sending = NULL;
		}
		skb = fabric_line_next(sch, now_ns, idle, &band, &ready_ns);
		if (!skb) {
			if (!q->order.active)
				fabric_busy_end(q, fabric_line_ceil_ns(&q->line));
			return;
		}
		start_ns = fabric_line_start(&q->line, ready_ns,
					     fabric_wire_bytes(q, skb));
		fabric_serve_begin(q, band, skb, fabric_segments(skb), start_ns);
		fabric_cb(skb)->deliver_ns = fabric_line_ceil_ns(&q->line) +
					     q->delay_ns;
		q->sending = skb;
		idle = false;
	}
}

/* The device takes the first packet that has arrived. If it is late the line has
 * stood still since, but for the time by which the timer was late.
 */
static struct sk_buff *fabric_line_take(struct fabric_sched *q, u64 now_ns)
{
	u64 since_ns = now_ns - q->late_ns;
	u32 len;

	if (q->sending && fabric_line_ceil_ns(&q->line) <= now_ns &&
	    fabric_line_stuck(q, now_ns))
		fabric_line_not_before(&q->line, since_ns);
	return fabric_fifo_pop(&q->flying, &len);
}

/**
 * fabric_line_dequeue() - take a packet that has arrived, or set the timer
 * @sch: the qdisc
 * @now_ns: the time
 *
 * Return: the packet or NULL.
 */
struct sk_buff *fabric_line_dequeue(struct Qdisc *sch, u64 now_ns)
{
	struct fabric_sched *q = qdisc_priv(sch);
	const struct sk_buff *first;
	u64 next_ns;

	if (q->line.rate_bps)
		fabric_line_advance(sch, now_ns);

	if (q->armed_ns && q->armed_ns <= now_ns) {
		q->late_ns = min(now_ns - q->armed_ns, FABRIC_LATE_MAX_NS);
		q->armed_ns = 0;
	}
	first = q->flying.head;
	if (first && fabric_cb(first)->deliver_ns <= now_ns)
		return fabric_line_take(q, now_ns);

	/* Also when the sender is to be told that a packet is sent. */
	next_ns = q->sending ? fabric_line_ceil_ns(&q->line) :
		  q->line.rate_bps ? q->retry_ns : 0;
	if (first && (!next_ns || fabric_cb(first)->deliver_ns < next_ns))
		next_ns = fabric_cb(first)->deliver_ns;
	q->late_ns = 0;
	q->armed_ns = next_ns;
	if (next_ns)
		qdisc_watchdog_schedule_ns(&q->watchdog, next_ns);
	return NULL;
}

/* Settings have changed: what had to wait by the old ones may be due now, and the
 * timer may be set to a time that has no meaning any more.
 */
void fabric_look_again(struct Qdisc *sch)
{
	struct fabric_sched *q = qdisc_priv(sch);

	if (sch->q.qlen)
		qdisc_watchdog_schedule_ns(&q->watchdog, ktime_get_ns());
}

/**
 * fabric_line_release() - the line's rate is taken away: all that is on it has
 * arrived
 * @q: the port
 * @now_ns: the time
 */
void fabric_line_release(struct fabric_sched *q, u64 now_ns)
{
	struct sk_buff *skb;

	if (q->sending)
		fabric_fifo_push(&q->flying, q->sending,
				 qdisc_pkt_len(q->sending));
	q->sending = NULL;
	for (skb = q->flying.head; skb; skb = skb->next)
		fabric_cb(skb)->deliver_ns = min(fabric_cb(skb)->deliver_ns,
						 now_ns);
}
