/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric: what happens to every packet, inline: room and queue on arrival,
 * order of service and accounts on departure. What seldom happens is called.
 *
 * Root lock held.
 */
#ifndef FABRIC_FAST_H
#define FABRIC_FAST_H

#include "fabric_isolate.h"

/* Packets on the wire that a packet stands for; at least one, though virtual
 * machines and raw sockets do not tell.
 */
static inline unsigned int fabric_segments(const struct sk_buff *skb)
{
	return unlikely(skb_is_gso(skb)) ?
	       max_t(unsigned int, skb_shinfo(skb)->gso_segs, 1) : 1;
}

/* A busy period begins when the first packet arrives at an idle port. */
static inline void fabric_busy_begin(struct fabric_sched *q, u64 now_ns)
{
	if (q->busy)
		return;
	q->busy = true;
	q->busy_from_ns = now_ns;
}

/* It ends when nothing is left to send: at a line's last end of a transmission,
 * which may have been before the period if nothing was sent in it.
 */
static inline void fabric_busy_end(struct fabric_sched *q, u64 now_ns)
{
	if (!q->busy)
		return;
	q->busy = false;
	if (likely(now_ns > q->busy_from_ns))
		q->busy_ns += now_ns - q->busy_from_ns;
}

/* Is there room in a band that is not plain for a packet of @len bytes? If so,
 * it is marked if it has to be. Return: 0, or FABRIC_DROP_*.
 */
static __always_inline int fabric_band_admit(struct fabric_sched *q,
					     struct fabric_band *band,
					     struct sk_buff *skb, u8 colour,
					     u32 len)
{
	if (unlikely(band->limit_bytes &&
		     band->fifo.bytes + band->parked_bytes + len >
		     band->limit_bytes))
		return FABRIC_DROP_BAND;
	if (unlikely(band->limit_packets &&
		     band->fifo.packets + band->parked_packets >=
		     band->limit_packets))
		return FABRIC_DROP_BAND;
	if (unlikely(band->coloured && band->colour_limit_bytes[colour] &&
		     band->colour_bytes[colour] + len >
		     band->colour_limit_bytes[colour]))
		return FABRIC_DROP_COLOUR;
	if (q->buffer && unlikely(!fabric_buffer_charge(q->buffer, band, len)))
		return FABRIC_DROP_BUFFER;
	if (band->ecn.red.max && band->ecn.at == FABRIC_ECN_AT_ENQUEUE &&
	    unlikely(band->fifo.bytes > band->ecn.red.min) &&
	    unlikely(!fabric_band_mark(q, band, skb, band->fifo.bytes))) {
		if (q->buffer)
			fabric_buffer_uncharge(q->buffer, band, len);
		return FABRIC_DROP_ECN;
	}
	return 0;
}

/* Does a packet of a band that is not plain have to wait apart from its fifo? Return: 1: yes;
 * 0: no; -FABRIC_DROP_*: it may not wait at all.
 */
static __always_inline int fabric_band_park(struct fabric_sched *q,
					    struct fabric_band *band,
					    struct sk_buff *skb, u32 len)
{
	if (unlikely(band->isolate))
		return !fabric_isolate_calm(q->isolate, band->fifo.bytes + len) &&
		       fabric_isolate_park(q, band, skb, len);
	if (unlikely(band->queue))
		return fabric_band_queue(q, band, skb, len);
	return unlikely(q->border) ? fabric_border_arrive(q, band, skb, len) : 0;
}

/**
 * fabric_band_enqueue() - queue a packet if there is room
 * @sch: the qdisc
 * @band: where it goes
 * @skb: the packet, consumed
 * @colour: its colour
 * @now_ns: the time
 * @to_free: list of dropped packets
 *
 * Return: NET_XMIT_SUCCESS or another of enqueue's codes.
 */
static __always_inline int
fabric_band_enqueue(struct Qdisc *sch, struct fabric_band *band,
		    struct sk_buff *skb, u8 colour, u64 now_ns,
		    struct sk_buff **to_free)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_cb *cb = fabric_cb(skb);
	u32 len = qdisc_pkt_len(skb), waiting_bytes;
	int why = 0, apart = 0;

	if (!band->plain && unlikely(band->child))
		return fabric_band_enqueue_child(sch, band, skb, colour,
						 to_free);

	waiting_bytes = q->waiting_bytes + len;
	if (unlikely(waiting_bytes > q->limit_bytes))
		why = FABRIC_DROP_LIMIT;
	else if (!band->plain)
		why = fabric_band_admit(q, band, skb, colour, len);
	if (unlikely(why))
		return fabric_band_refuse(sch, band, colour, why, skb, to_free);

	cb->enqueue_ns = now_ns;
	cb->band = band->index;
	cb->colour = colour;
	cb->untimed = false;
	if (!band->plain)
		apart = fabric_band_park(q, band, skb, len);
	if (unlikely(apart < 0)) {
		if (q->buffer)
			fabric_buffer_uncharge(q->buffer, band, len);
		return fabric_band_refuse(sch, band, colour, -apart, skb, to_free);
	}
	band->colour_bytes[colour] += len;
	if (!apart) {
		fabric_fifo_push(&band->fifo, skb, len);
		if (band->fifo.bytes > band->stats.backlog_max_bytes)
			band->stats.backlog_max_bytes = band->fifo.bytes;
		fabric_order_activate(&q->order, band->index);
	}

	q->waiting_bytes = waiting_bytes;
	if (waiting_bytes > q->waiting_max_bytes)
		q->waiting_max_bytes = waiting_bytes;
	sch->q.qlen++;
	sch->qstats.backlog += len;
	return NET_XMIT_SUCCESS;
}

/* Takes the first packet out of the band's queue and out of all counts of
 * what waits, but not out of the qdisc. There is no buffer to tell if the band is
 * plain.
 */
static __always_inline struct sk_buff *
fabric_band_pop(struct fabric_sched *q, struct fabric_band *band, bool plain)
{
	struct sk_buff *skb;
	u32 len;

	skb = fabric_fifo_pop(&band->fifo, &len);
	if (!skb)
		return NULL;
	q->waiting_bytes -= len;
	band->colour_bytes[fabric_cb(skb)->colour] -= len;
	if (!plain && q->buffer)
		fabric_buffer_uncharge(q->buffer, band, len);
	if (!plain && unlikely(band->queue >= FABRIC_QUEUE_PFC))
		fabric_band_left(q, band, skb, len);
	if (!band->fifo.head)
		fabric_order_idle(&q->order, band->index);
	return skb;
}

/**
 * fabric_band_take() - take the packet that is to be served now
 * @sch: the qdisc
 * @band: whose turn it is
 * @now_ns: when its service could begin
 *
 * Return: the packet; NULL if the band's own qdisc is not willing, or if all
 * that waited was dropped as not markable.
 */
static __always_inline struct sk_buff *
fabric_band_take(struct Qdisc *sch, struct fabric_band *band, u64 now_ns)
{
	struct fabric_sched *q = qdisc_priv(sch);

	if (band->plain)
		return fabric_band_pop(q, band, true);
	if (unlikely(band->child))
		return fabric_band_take_child(q, band);
	if (unlikely(band->ecn.red.max && band->ecn.at == FABRIC_ECN_AT_DEQUEUE))
		return fabric_band_take_marking(sch, band, now_ns);
	return fabric_band_pop(q, band, false);
}

/* Length of a band's first packet, 0 if its own qdisc shows none. */
static __always_inline u32 fabric_head_bytes(void *context, unsigned int index)
{
	struct fabric_sched *q = context;
	struct fabric_band *band = &q->bands[index];
	const struct sk_buff *skb = band->fifo.head;

	if (likely(skb))
		return qdisc_pkt_len(skb);
	if (band->child)
		skb = band->child->ops->peek(band->child);
	return skb ? qdisc_pkt_len(skb) : 0;
}

/**
 * fabric_serve_next() - take the packet whose turn it is
 * @sch: the qdisc
 * @at_ns: the time of the decision
 * @from: set to its band
 *
 * If there is none although packets wait, a band's rate limit may be why: then
 * retry_ns says when to ask again.
 *
 * Return: the packet or NULL.
 */
static __always_inline struct sk_buff *
fabric_serve_next(struct Qdisc *sch, u64 at_ns, struct fabric_band **from)
{
	struct fabric_sched *q = qdisc_priv(sch);
	u32 allowed = ~0U;
	int index;

	q->retry_ns = 0;
	if (unlikely(q->shaped & q->order.active))
		allowed = fabric_serve_allowed(q, at_ns);

	while ((index = fabric_order_next(&q->order, allowed,
					  fabric_head_bytes, q)) >= 0) {
		struct fabric_band *band = &q->bands[index];
		struct sk_buff *skb;

		/* Once is enough: the compiler would work it out each time. */
		OPTIMIZER_HIDE_VAR(band);
		*from = band;
		skb = fabric_band_take(sch, band, at_ns);
		if (likely(skb))
			return skb;
		/* Its qdisc holds packets back: the others must not wait. */
		allowed &= ~BIT(index);
	}
	return NULL;
}

/**
 * fabric_serve_begin() - account a packet whose service begins
 * @q: the port
 * @band: the packet's band
 * @skb: the packet
 * @segments: packets on the wire that it stands for
 * @start_ns: when, not before its arrival
 */
static __always_inline void
fabric_serve_begin(struct fabric_sched *q, struct fabric_band *band,
		   struct sk_buff *skb, unsigned int segments, u64 start_ns)
{
	const struct fabric_cb *cb = fabric_cb(skb);
	struct fabric_stats *stats = &band->stats;
	u32 len = qdisc_pkt_len(skb);
	u8 colour = cb->colour;

	stats->packets[colour] += segments;
	stats->bytes[colour] += len;
	fabric_meter_add(&stats->meter, start_ns, len);
	if (!band->plain) {
		if (unlikely(band->pass.rate_bps))
			fabric_line_start(&band->pass, start_ns,
					  band->each_bytes ?
						min_t(u32, segments * band->each_bytes,
						      FABRIC_LINE_BYTES_MAX) :
						fabric_wire_bytes(q, skb));
		if (unlikely(cb->untimed)) {
			/* its time is not known, but the line carries it */
			if (fabric_stamps_load(&q->stamp))
				q->load.bytes += fabric_wire_bytes(q, skb);
			return;
		}
	}
	fabric_delay_add(&stats->delay, start_ns - cb->enqueue_ns);
	if (q->stamp.kind) {
		fabric_stamp_packet(q, band, skb, start_ns - cb->enqueue_ns,
				    start_ns);
		/* whose own load is in the packet now */
		if (unlikely(q->border))
			fabric_border_sent(q, skb, start_ns);
	}
}

#endif /* FABRIC_FAST_H */
