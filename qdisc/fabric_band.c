// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: the bands, the queues of the port: what seldom happens to a packet.
 * The rest is in fabric_fast.h.
 */
#include <net/inet_ecn.h>

#include "fabric_fast.h"

/**
 * fabric_band_refuse() - drop an arriving packet and count why
 * @sch: the qdisc
 * @band: where it would have gone
 * @colour: its colour
 * @why: FABRIC_DROP_*
 * @skb: the packet, consumed
 * @to_free: list of dropped packets
 *
 * Return: what enqueue returns.
 */
int fabric_band_refuse(struct Qdisc *sch, struct fabric_band *band,
		       u8 colour, int why, struct sk_buff *skb,
		       struct sk_buff **to_free)
{
	band->stats.drops[colour][why]++;
	return qdisc_drop(skb, sch, to_free);
}

/**
 * fabric_band_mark() - mark a packet if @value is more than any that may pass
 * @q: the port
 * @band: its band
 * @skb: the packet
 * @value: more than the band's smallest threshold
 *
 * Return: false if it must be dropped.
 */
bool fabric_band_mark(struct fabric_sched *q, struct fabric_band *band,
		      struct sk_buff *skb, u64 value)
{
	const struct fabric_ecn *ecn = &band->ecn;

	if (!fabric_red_hits(&ecn->red, value, fabric_random(&q->random)))
		return true;
	if (INET_ECN_set_ce(skb)) {
		band->stats.marks++;
		return true;
	}
	return !ecn->drop;
}

/**
 * fabric_band_enqueue_child() - hand a packet to the band's own qdisc
 * @sch: the qdisc
 * @band: the band
 * @skb: the packet, consumed
 * @colour: its colour
 * @to_free: list of dropped packets
 *
 * Return: what enqueue returns.
 */
int fabric_band_enqueue_child(struct Qdisc *sch, struct fabric_band *band,
			      struct sk_buff *skb, u8 colour,
			      struct sk_buff **to_free)
{
	struct fabric_sched *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);
	int err;

	/* Before the child changes its mind: it may report drops meanwhile. */
	err = qdisc_enqueue(skb, band->child, to_free);
	if (err != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(err)) {
			band->stats.drops[colour][FABRIC_DROP_CHILD]++;
			qdisc_qstats_drop(sch);
		}
		return err;
	}
	sch->q.qlen++;
	sch->qstats.backlog += len;
	fabric_order_activate(&q->order, band->index);
	return NET_XMIT_SUCCESS;
}

/* Drops a packet that had been queued. */
static void fabric_band_drop(struct Qdisc *sch, struct fabric_band *band,
			     struct sk_buff *skb, int why)
{
	u32 len = qdisc_pkt_len(skb);

	band->stats.drops[fabric_cb(skb)->colour][why]++;
	qdisc_qstats_drop(sch);
	sch->q.qlen--;
	sch->qstats.backlog -= len;
	qdisc_tree_reduce_backlog(sch, 1, len);
	kfree_skb(skb);
}

/* Takes a packet out of the band's own qdisc. Return: NULL if it has none. */
struct sk_buff *fabric_band_take_child(struct fabric_sched *q,
				       struct fabric_band *band)
{
	struct sk_buff *skb = qdisc_dequeue_peeked(band->child);
	struct fabric_cb *cb;

	if (!band->child->q.qlen)
		fabric_order_idle(&q->order, band->index);
	if (!skb)
		return NULL;
	cb = fabric_cb(skb);
	cb->enqueue_ns = 0;
	cb->band = band->index;
	cb->colour = 0;
	cb->untimed = true;
	return skb;
}

/**
 * fabric_band_take_marking() - take a packet, marking on departure
 * @sch: the qdisc
 * @band: the band
 * @now_ns: when the packet's service could begin
 *
 * The last packet of the port is not dropped but sent as it is: a qdisc above that
 * asks for a packet may not be told just then that there is none (in older kernels
 * drr and ets lose the class for good, htb crashes).
 *
 * Return: the packet; NULL if all that waited was dropped as not markable.
 */
struct sk_buff *fabric_band_take_marking(struct Qdisc *sch,
					 struct fabric_band *band, u64 now_ns)
{
	struct fabric_sched *q = qdisc_priv(sch);
	const struct fabric_ecn *ecn = &band->ecn;
	struct sk_buff *skb;
	u64 value;

	while ((skb = fabric_band_pop(q, band, false))) {
		value = band->fifo.bytes;
		if (ecn->unit == FABRIC_ECN_UNIT_NS) {
			u64 from_ns = fabric_cb(skb)->enqueue_ns;

			value = now_ns > from_ns ? now_ns - from_ns : 0;
		}
		if (value <= ecn->red.min ||
		    fabric_band_mark(q, band, skb, value) ||
		    sch->q.qlen == 1)
			return skb;
		fabric_band_drop(sch, band, skb, FABRIC_DROP_ECN);
	}
	return NULL;
}

/* Finds out what bands need to be asked about. After each change of settings,
 * with the root lock held.
 */
void fabric_band_update(struct fabric_sched *q)
{
	struct fabric_band *band;
	unsigned int i;

	for (i = 0; i < FABRIC_BANDS_MAX; i++) {
		band = &q->bands[i];
		band->index = i;
		band->plain = !band->child && !band->limit_bytes &&
			      !band->coloured && !band->ecn.red.max &&
			      !band->pass.rate_bps && !q->buffer;
	}
}

/* What waited has gone without being served: the busy period may be over. */
void fabric_band_gone_idle(struct fabric_sched *q)
{
	if (!q->order.active && !q->sending)
		fabric_busy_end(q, ktime_get_ns());
}

/**
 * fabric_band_purge() - drop all that waits in the band's own queue
 * @sch: the qdisc
 * @band: the band
 * @why: FABRIC_DROP_*
 */
void fabric_band_purge(struct Qdisc *sch, struct fabric_band *band, int why)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = fabric_band_pop(q, band, false)))
		fabric_band_drop(sch, band, skb, why);
	fabric_band_gone_idle(q);
}
