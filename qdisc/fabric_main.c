// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: the egress port of a datacenter switch.
 *
 * Without a rate the device's own back-pressure drives it, as with any other
 * qdisc. With a rate it is the line too (fabric_line.c), exact at 1 to 400
 * Gbit/s. GSO packets are segmented on arrival, since a switch queues, marks,
 * drops and schedules what is on the wire.
 *
 * Here: arrival and departure, the qdisc's life. What happens to every packet is in
 * fabric_fast.h.
 *
 * See Documentation/reference/qdisc.rst.
 */
#include <linux/module.h>
#include <net/pkt_cls.h>

#include "fabric_fast.h"

/* ---- arrival and departure ------------------------------------------------- */

/* A filter's action took the packet (or wants it dropped). Return: what enqueue
 * returns.
 */
static noinline int fabric_unclassified(struct sk_buff *skb, struct Qdisc *sch,
					u8 colour, bool taken,
					struct sk_buff **to_free)
{
	struct fabric_sched *q = qdisc_priv(sch);

	if (taken) {
		__qdisc_drop(skb, to_free);
		return NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
	}
	q->bands[0].stats.drops[colour][FABRIC_DROP_FILTER]++;
	qdisc_qstats_drop(sch);
	__qdisc_drop(skb, to_free);
	return NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
}

/**
 * fabric_enqueue_one() - queue one packet of those that go on the wire
 * @skb: the packet, consumed
 * @sch: the qdisc
 * @now_ns: the time
 * @may_have_line: false: there is no line to look at
 * @to_free: list of dropped packets
 *
 * Return: NET_XMIT_SUCCESS or another of enqueue's codes.
 */
static __always_inline int fabric_enqueue_one(struct sk_buff *skb,
					      struct Qdisc *sch, u64 now_ns,
					      bool may_have_line,
					      struct sk_buff **to_free)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_band *band;
	int err, found;
	u8 colour = 0;

	if (q->by_map && !rcu_access_pointer(q->filters) &&
	    skb->priority <= TC_PRIO_MAX) {
		band = &q->bands[q->band_map[skb->priority]];
	} else {
		found = fabric_classify(skb, sch);
		colour = found >> FABRIC_COLOUR_SHIFT & 0xf;
		if (unlikely(found & FABRIC_FRAME))
			return fabric_isolate_enqueue_frame(sch, skb, to_free);
		if (unlikely(found & FABRIC_NO_BAND))
			return fabric_unclassified(skb, sch, colour,
						   found & FABRIC_TAKEN,
						   to_free);
		band = &q->bands[found & 0xf];
	}
	OPTIMIZER_HIDE_VAR(band);
	err = fabric_band_enqueue(sch, band, skb, colour, now_ns, to_free);
	if (unlikely(err != NET_XMIT_SUCCESS))
		return err;

	fabric_busy_begin(q, now_ns);
	if (may_have_line && q->line.rate_bps && !q->sending)
		fabric_line_advance(sch, now_ns);
	return NET_XMIT_SUCCESS;
}

/**
 * fabric_enqueue_gso() - segment a GSO packet and queue the parts
 * @skb: the packet, consumed
 * @sch: the qdisc
 * @now_ns: the time
 * @to_free: list of dropped packets
 *
 * The ancestors count one packet of the old length when they hear of success,
 * so they are told the difference. A size table (tc's stab) is not applied to
 * the parts, as in tbf: the kernel does not export it.
 *
 * Return: NET_XMIT_SUCCESS if any part was queued, else NET_XMIT_DROP if any was lost, else what
 * became of the last one: a filter's action took them, or wanted them dropped.
 */
static noinline int fabric_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
				       u64 now_ns, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	u32 old_len = qdisc_pkt_len(skb), queued_bytes = 0;
	struct fabric_sched *q = qdisc_priv(sch);
	int queued = 0, result = NET_XMIT_SUCCESS, err;
	struct sk_buff *seg, *next;

	seg = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(seg))
		return fabric_band_refuse(sch, &q->bands[0], 0,
					  FABRIC_DROP_SEGMENT, skb, to_free);

	q->gso_split++;
	skb_list_walk_safe(seg, seg, next) {
		u32 len = seg->len;

		skb_mark_not_on_list(seg);
		qdisc_skb_cb(seg)->pkt_len = len;
		fl_qdisc_one_packet(seg);
		err = fabric_enqueue_one(seg, sch, now_ns, true, to_free);
		if (err == NET_XMIT_SUCCESS) {
			queued++;
			queued_bytes += len;
		} else if (result != NET_XMIT_DROP) {
			result = err;
		}
	}
	consume_skb(skb);
	if (!queued)
		return result;
	qdisc_tree_reduce_backlog(sch, 1 - queued, old_len - queued_bytes);
	return NET_XMIT_SUCCESS;
}

/* A packet arrives. Context: softirq or process, root lock held. */
static int fabric_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	struct fabric_sched *q = qdisc_priv(sch);
	u64 now_ns = ktime_get_ns();

	if (likely(!q->line.rate_bps && !skb_is_gso(skb)))
		return fabric_enqueue_one(skb, sch, now_ns, false, to_free);
	if (q->line.rate_bps)
		fabric_line_advance(sch, now_ns);
	if (skb_is_gso(skb) && q->split_gso)
		return fabric_enqueue_gso(skb, sch, now_ns, to_free);
	return fabric_enqueue_one(skb, sch, now_ns, true, to_free);
}

/* A packet leaves the qdisc. Return: it. */
static __always_inline struct sk_buff *fabric_leave(struct Qdisc *sch,
						    struct sk_buff *skb,
						    unsigned int segments)
{
	u32 len = qdisc_pkt_len(skb);

	_bstats_update(&sch->bstats, len, segments);
	sch->qstats.backlog -= len;
	sch->q.qlen--;
	return skb;
}

/* The next packet when there is no line. */
static __always_inline struct sk_buff *fabric_serve(struct Qdisc *sch,
						    u64 now_ns)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_band *band;
	unsigned int segments;
	struct sk_buff *skb;

	skb = fabric_serve_next(sch, now_ns, &band);
	if (likely(skb)) {
		segments = fabric_segments(skb);
		fabric_serve_begin(q, band, skb, segments, now_ns);
		fabric_leave(sch, skb, segments);
	} else if (q->retry_ns) {
		qdisc_watchdog_schedule_ns(&q->watchdog, q->retry_ns);
	}
	if (!q->order.active && !q->waiting_bytes)
		fabric_busy_end(q, now_ns);
	return skb;
}

/* A port of a switch sends frames first, and lets what is parked move. Return: a frame or
 * NULL.
 */
static noinline struct sk_buff *fabric_dequeue_frame(struct Qdisc *sch)
{
	struct sk_buff *skb = fabric_isolate_frame(qdisc_priv(sch));

	if (skb)
		return fabric_leave(sch, skb, 1);
	fabric_isolate_prepare(sch);
	return NULL;
}

/* The device has room. Context: softirq or process, root lock held. */
static struct sk_buff *fabric_dequeue(struct Qdisc *sch)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u32 oq_bytes = 0;
	u64 now_ns;

	if (!sch->q.qlen)
		return NULL;

	now_ns = ktime_get_ns();
	if (likely(!q->line.rate_bps && !q->flying.head)) {
		/* Once in the text, for it is long: with a switch and without. */
		if (unlikely(q->isolate) && !fabric_isolate_idle(q->isolate)) {
			skb = fabric_dequeue_frame(sch);
			if (skb)
				return skb;
		}
		if (unlikely(q->border))
			fabric_border_release(sch, now_ns);
		if (unlikely(q->isolate))
			oq_bytes = q->isolate->band->fifo.bytes;
		skb = fabric_serve(sch, now_ns);
		/* sent, or dropped for being late: who was paused for it may go on */
		if (unlikely(q->isolate) && q->isolate->band->fifo.bytes != oq_bytes)
			fabric_isolate_sent(q->isolate);
		if (unlikely(q->border) && !skb)
			fabric_border_wait(sch);
		return skb;
	}
	skb = fabric_line_dequeue(sch, now_ns);
	if (!skb)
		return NULL;
	return fabric_leave(sch, skb, fabric_segments(skb));
}

/* ---- the qdisc's life ------------------------------------------------------ */

/* Frees all packets of a queue. */
static void fabric_fifo_purge(struct fabric_fifo *fifo)
{
	if (fifo->head)
		rtnl_kfree_skbs(fifo->head, fifo->tail);
	memset(fifo, 0, sizeof(*fifo));
}

/* Throws everything away: the device went down or the qdisc goes.
 * Context: rtnl and root lock held.
 */
static void fabric_reset(struct Qdisc *sch)
{
	struct fabric_sched *q = qdisc_priv(sch);
	unsigned int i;

	qdisc_watchdog_cancel(&q->watchdog);
	/* All: a packet may have come while its band was being deleted. */
	for (i = 0; i < FABRIC_BANDS_MAX; i++) {
		struct fabric_band *band = &q->bands[i];

		if (q->buffer)
			fabric_buffer_leave(q->buffer, band);
		if (band->pfc)
			fabric_pfc_forget(q, band);
		if (fabric_hash_queues(q, band))
			fabric_hash_reset(q);
		fabric_fifo_purge(&band->fifo);
		memset(band->colour_bytes, 0, sizeof(band->colour_bytes));
		if (band->child)
			qdisc_reset(band->child);
		fabric_order_idle(&q->order, i);
		fabric_line_reset(&band->pass);
	}
	if (q->isolate)
		fabric_isolate_reset(q);
	if (q->border)
		fabric_border_reset(q);
	fabric_fifo_purge(&q->flying);
	if (q->sending)
		rtnl_kfree_skbs(q->sending, q->sending);
	q->sending = NULL;
	q->waiting_bytes = 0;
	q->retry_ns = 0;
	q->armed_ns = 0;
	q->late_ns = 0;
	fabric_line_reset(&q->line);
	fabric_busy_end(q, ktime_get_ns());
}

/* Makes a port with default settings and those given. Context: rtnl held. */
static int fabric_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);
	fabric_config_default(q);
	err = tcf_block_get(&q->block, &q->filters, sch, extack);
	if (err)
		return err;
	err = opt ? fabric_config_change(sch, opt, extack) : 0;
	q->made = !err;
	return err;
}

/* Context: rtnl held, after reset or a failed init. */
static void fabric_destroy(struct Qdisc *sch)
{
	struct fabric_sched *q = qdisc_priv(sch);
	unsigned int i;

	qdisc_watchdog_cancel(&q->watchdog);
	if (q->isolate)
		fabric_isolate_leave(q);
	fabric_hash_free(q);
	if (q->border)
		fabric_border_leave(q);
	tcf_block_put(q->block);
	fabric_config_free(q);
	for (i = 0; i < FABRIC_BANDS_MAX; i++) {
		if (q->bands[i].child)
			qdisc_put(q->bands[i].child);
	}
}

static struct Qdisc_ops fabric_qdisc_ops __read_mostly = {
	.id		= "fabric",
	.cl_ops		= &fabric_class_ops,
	.priv_size	= sizeof(struct fabric_sched),
	.enqueue	= fabric_enqueue,
	.dequeue	= fabric_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= fabric_init,
	.reset		= fabric_reset,
	.destroy	= fabric_destroy,
	.change		= fabric_config_change,
	.dump		= fabric_config_dump,
	.dump_stats	= fabric_stats_dump,
	.owner		= THIS_MODULE,
};

static int __init fabric_module_init(void)
{
	int err;

	BUILD_BUG_ON(FABRIC_HIST_BINS != FABRIC_BINS);
	fabric_isolate_init(&fabric_qdisc_ops);
	err = fabric_genl_init();
	if (err)
		return err;
	err = register_qdisc(&fabric_qdisc_ops);
	if (err)
		fabric_genl_exit();
	return err;
}
module_init(fabric_module_init);

static void __exit fabric_module_exit(void)
{
	unregister_qdisc(&fabric_qdisc_ops);
	fabric_genl_exit();
}
module_exit(fabric_module_exit);

MODULE_AUTHOR("The Fairlane authors");
MODULE_DESCRIPTION("Egress port of a datacenter switch");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NET_SCH("fabric");
