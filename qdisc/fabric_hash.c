// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: queues of flows that neighbours hold back (BFC), a rival to isolation queues. The
 * rules are core/bfc.h: here are packets, the switch, locks.
 *
 * A band of this kind has the packet that goes next as its fifo's only one. All others are in
 * one of its queues. The fifo's counts are of all packets that may go, so that limits, buffer and
 * marking look at them as at any band's; what a neighbour holds back is parked, and does not count
 * for marking.
 *
 * Without a switch the band only shares the line between flows. Packets that find too much in their
 * queue are counted at the port by which they came, with the switch's lock held: what the neighbour
 * there is told depends on all ports.
 */
#include <linux/rtnetlink.h>

#include "fabric_isolate.h"
#include "core/pyrrha_state.h"

/* ---- what neighbours are told ------------------------------------------------------ */

/* Something changed in what the neighbour at port @in is told. Context: the switch's lock. */
static void fabric_hash_tell(struct fabric_isolate *iso, u8 in)
{
	struct fabric_hash_switch *sw = &iso->hash;

	if (!(sw->tells & BIT_ULL(in)))
		return;
	sw->waits &= ~BIT_ULL(in);
	if (sw->told[in]->groups)
		sw->waits |= BIT_ULL(in);
	sw->tell |= BIT_ULL(in);
	fabric_isolate_kick(iso);
}

/* A packet is one too many in its queue: the neighbour that sent it holds its flow back. */
static void fabric_hash_over(struct fabric_hash *h, struct sk_buff *skb, u8 queue)
{
	struct fabric_hash_cb *cb = &fabric_cb(skb)->hash;
	struct fabric_isolate_port *p = h->port;
	struct fabric_isolate *iso = p->iso;
	u8 in;

	if (!READ_ONCE(p->joined))
		return;
	in = fabric_isolate_ingress(iso, skb->skb_iif);
	if (in == PYR_NONE || !(READ_ONCE(iso->hash.tells) & BIT_ULL(in)) ||
	    !bfc_is_over(&h->core, queue, pyr_resume_bytes(&iso->sw, p->index, in)))
		return;
	spin_lock(&iso->lock);
	if (iso->hash.tells & BIT_ULL(in)) {
		cb->in = in;
		h->over++;
		if (bfc_told_more(iso->hash.told[in], cb->flow)) {
			iso->hash.pauses++;
			fabric_hash_tell(iso, in);
		}
	}
	spin_unlock(&iso->lock);
}

/* A packet is gone; perhaps its flow may go on. */
static void fabric_hash_gone(struct fabric_hash *h, const struct sk_buff *skb)
{
	const struct fabric_hash_cb *cb = &fabric_cb(skb)->hash;
	struct fabric_isolate *iso;

	if (likely(cb->in == PYR_NONE))
		return;
	iso = h->port->iso;
	/* When the qdisc goes its root lock is not held. */
	spin_lock_bh(&iso->lock);
	if (bfc_told_less(iso->hash.told[cb->in], cb->flow)) {
		iso->hash.resumes++;
		fabric_hash_tell(iso, cb->in);
	}
	spin_unlock_bh(&iso->lock);
}

/**
 * fabric_hash_next() - take a frame to send
 * @iso: the switch, its lock held
 * @frame: filled in
 * @port: port to send it by
 *
 * Return: false: there is none.
 */
bool fabric_hash_next(struct fabric_isolate *iso, struct bfc_frame *frame, u8 *port)
{
	struct fabric_hash_switch *sw = &iso->hash;

	for (; sw->tell; sw->tell &= sw->tell - 1) {
		*port = __ffs64(sw->tell);
		if (!bfc_told_next(sw->told[*port], frame))
			continue;
		frame->epoch = iso->sw.port[*port].tx_epoch;
		frame->sequence = ++iso->sw.port[*port].tx_sequence;
		frame->hold_ns = frame->wait ? iso->sw.config.tick_ns * PYR_HOLD_TICKS : 0;
		sw->sent++;
		return true;
	}
	return false;
}

/* What holds is repeated; ports that hold back packets look whether they still have to.
 * Context: the switch's lock.
 */
void fabric_hash_tick(struct fabric_isolate *iso)
{
	struct fabric_hash_switch *sw = &iso->hash;
	u64 left;

	for (left = sw->waits; left; left &= left - 1)
		bfc_told_again(sw->told[__ffs64(left)]);
	sw->tell |= sw->waits;
	sw->look |= sw->holding;
}

/* Room for what the neighbour at a port is told. Return: false: there is no memory. */
bool fabric_hash_room(struct fabric_isolate *iso, u8 port)
{
	struct bfc_told **told = &iso->hash.told[port];

	if (!*told)
		*told = kvzalloc(sizeof(**told), GFP_KERNEL_ACCOUNT);
	return *told;
}

/* A port comes, which may tell its neighbour. Context: the switch's lock. */
void fabric_hash_plug(struct fabric_isolate_port *p)
{
	struct fabric_isolate *iso = p->iso;

	if (p->settings.queue != FABRIC_QUEUE_HASH || !(p->settings.frames & FABRIC_FRAMES_TELL))
		return;
	WRITE_ONCE(iso->hash.tells, iso->hash.tells | BIT_ULL(p->index));
	/* What came by the port before this one may still wait. */
	fabric_hash_tell(iso, p->index);
}

/* A port goes. Context: root lock and the switch's lock. */
void fabric_hash_unplug(struct fabric_isolate_port *p)
{
	struct fabric_hash *h = ((struct fabric_sched *)qdisc_priv(p->sch))->hash;
	struct fabric_hash_switch *sw = &p->iso->hash;

	WRITE_ONCE(sw->tells, sw->tells & ~BIT_ULL(p->index));
	sw->waits &= ~BIT_ULL(p->index);
	sw->tell &= ~BIT_ULL(p->index);
	sw->holding &= ~BIT_ULL(p->index);
	sw->look &= ~BIT_ULL(p->index);
	if (!h)
		return;
	sw->expired += h->core.expired;
	sw->held_ns += h->held_ns;
	sw->used_max = max(sw->used_max, h->core.used_max);
}

/* Adds what a port has counted to FABRIC_COUNT_* of the switch. Context: the switch's lock. */
void fabric_hash_count(const struct fabric_isolate_port *p, u64 *count)
{
	const struct fabric_hash *h = ((struct fabric_sched *)qdisc_priv(p->sch))->hash;

	if (!h)
		return;
	count[FABRIC_COUNT_HASH_EXPIRED] += READ_ONCE(h->core.expired);
	count[FABRIC_COUNT_HASH_HELD_NS] += READ_ONCE(h->held_ns);
	if (count[FABRIC_COUNT_HASH_USED_MAX] < READ_ONCE(h->core.used_max))
		count[FABRIC_COUNT_HASH_USED_MAX] = h->core.used_max;
}

/* ---- packets ---------------------------------------------------------------------- */

/* After each change of the core: what is held back is parked. */
static void fabric_hash_sync(struct fabric_hash *h)
{
	u32 packets = h->core.held_packets - h->band->parked_packets;
	u32 bytes = h->core.held_bytes - h->band->parked_bytes;
	u64 now_ns;

	h->band->parked_packets += packets;
	h->band->fifo.packets -= packets;
	h->band->parked_bytes += bytes;
	h->band->fifo.bytes -= bytes;
	if (likely(h->held == h->core.held))
		return;
	now_ns = ktime_get_ns();
	WRITE_ONCE(h->held_ns, h->held_ns + h->held * (now_ns - h->since_ns));
	h->since_ns = now_ns;
	h->held = h->core.held;
}

/* The next packet, if the band has none to send. Return: true: it has one now that had none. */
static bool fabric_hash_stage(struct fabric_sched *q, struct fabric_hash *h)
{
	struct sk_buff *skb;
	u8 queue;
	u32 len;

	if (h->band->fifo.head)
		return false;
	queue = bfc_pick(&h->core);
	if (queue == BFC_NONE)
		return false;
	skb = fabric_fifo_pop(&h->queue[queue], &len);
	if (WARN_ON_ONCE(!skb))
		return false;
	bfc_take(&h->core, queue, len);
	h->band->fifo.head = skb;
	h->band->fifo.tail = skb;
	fabric_order_activate(&q->order, h->band->index);
	return true;
}

/**
 * fabric_hash_arrive() - put an arriving packet into its queue
 * @q: the port
 * @skb: the packet, admitted
 * @len: its bytes
 * @flow: its flow
 */
void fabric_hash_arrive(struct fabric_sched *q, struct sk_buff *skb, u32 len, u16 flow)
{
	struct fabric_hash_cb *cb = &fabric_cb(skb)->hash;
	struct fabric_hash *h = q->hash;
	struct fabric_band *band = h->band;
	u8 queue;

	cb->in = PYR_NONE;
	cb->flow = flow;
	queue = bfc_arrive(&h->core, cb->flow, len);
	fabric_fifo_push(&h->queue[queue], skb, len);
	band->fifo.packets++;
	band->fifo.bytes += len;
	if (h->port)
		fabric_hash_over(h, skb, queue);
	fabric_hash_stage(q, h);
	fabric_hash_sync(h);
	if (band->fifo.bytes + band->parked_bytes > band->stats.backlog_max_bytes)
		band->stats.backlog_max_bytes = band->fifo.bytes + band->parked_bytes;
}

/**
 * fabric_hash_leave() - the packet that was to go next has been taken out of the band
 * @q: the port
 * @skb: the packet
 */
void fabric_hash_leave(struct fabric_sched *q, const struct sk_buff *skb)
{
	struct fabric_hash *h = q->hash;

	fabric_hash_gone(h, skb);
	bfc_leave(&h->core, fabric_cb(skb)->hash.flow);
	fabric_hash_stage(q, h);
	fabric_hash_sync(h);
}

/* Which flows wait has changed. Context: root lock. */
static void fabric_hash_changed(struct fabric_isolate_port *p, struct fabric_hash *h)
{
	struct fabric_isolate *iso = p->iso;

	if (fabric_hash_stage(qdisc_priv(p->sch), h))
		fabric_isolate_wake(p->sch);
	fabric_hash_sync(h);
	iso->hash.holding &= ~BIT_ULL(p->index);
	if (h->core.groups)
		iso->hash.holding |= BIT_ULL(p->index);
	fabric_isolate_kick(iso);
}

/* A neighbour says which flows are to wait. Context: root lock. */
void fabric_hash_take(struct fabric_isolate_port *p, const void *data)
{
	struct fabric_hash *h = ((struct fabric_sched *)qdisc_priv(p->sch))->hash;
	const struct bfc_frame *frame = data;
	struct fabric_isolate *iso = p->iso;

	spin_lock(&iso->lock);
	if (!h || !(p->settings.frames & FABRIC_FRAMES_HEAR) ||
	    !pyr_frame_newer(&iso->sw, p->index, frame->epoch, frame->sequence)) {
		iso->hash.refused++;
	} else {
		iso->hash.heard++;
		bfc_hear(&h->core, frame->group, frame->wait,
			 pyr_hold_ticks(&iso->sw, frame->hold_ns));
		fabric_hash_changed(p, h);
	}
	spin_unlock(&iso->lock);
}

/* A tick has passed at a port that holds back flows. Context: root lock. */
void fabric_hash_look(struct fabric_isolate_port *p, const void *nothing)
{
	struct fabric_hash *h = ((struct fabric_sched *)qdisc_priv(p->sch))->hash;

	if (!h)
		return;
	spin_lock(&p->iso->lock);
	bfc_tick(&h->core);
	fabric_hash_changed(p, h);
	spin_unlock(&p->iso->lock);
}

/* ---- a port's life ------------------------------------------------------------------ */

/**
 * fabric_hash_make() - a band gets queues of flows
 * @q: the port, being made
 * @band: its band
 * @queues: how many, 1 to BFC_QUEUES_MAX
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int fabric_hash_make(struct fabric_sched *q, struct fabric_band *band, u8 queues)
{
	struct fabric_hash *h = kvzalloc(sizeof(*h), GFP_KERNEL_ACCOUNT);

	if (!h)
		return -ENOMEM;
	bfc_init(&h->core, queues);
	h->band = band;
	q->hash = h;
	band->queue = FABRIC_QUEUE_HASH;
	return 0;
}

/* How many queues of flows a band has; 0: it is of another kind. */
u8 fabric_hash_queues(const struct fabric_sched *q, const struct fabric_band *band)
{
	return q->hash && q->hash->band == band ? q->hash->core.queues : 0;
}

/* The port goes; it is empty and in no switch any more. Context: process. */
void fabric_hash_free(struct fabric_sched *q)
{
	kvfree(q->hash);
	q->hash = NULL;
}

/* Begins anew, with what was counted. */
static void fabric_hash_again(struct fabric_hash *h)
{
	u64 shared = h->core.shared, expired = h->core.expired;
	u8 used_max = h->core.used_max;

	bfc_init(&h->core, h->core.queues);
	h->core.used_max = used_max;
	h->core.shared = shared;
	h->core.expired = expired;
}

/**
 * fabric_hash_reset() - throw away what waits in the queues
 * @q: the port, with such queues; what is in the band's fifo its caller throws away
 *
 * Context: as fabric_isolate_reset().
 */
void fabric_hash_reset(struct fabric_sched *q)
{
	struct fabric_hash *h = q->hash;
	struct sk_buff *skb;
	unsigned int i;
	u32 len;

	if (h->band->fifo.head)
		fabric_hash_gone(h, h->band->fifo.head);
	for (i = 0; i < BFC_QUEUES_MAX; i++) {
		while ((skb = fabric_fifo_pop(&h->queue[i], &len))) {
			fabric_hash_gone(h, skb);
			rtnl_kfree_skbs(skb, skb);
		}
	}
	fabric_hash_again(h);
	fabric_hash_sync(h);
	if (!h->port)
		return;
	spin_lock_bh(&h->port->iso->lock);
	if (h->port->joined)
		h->port->iso->hash.holding &= ~BIT_ULL(h->port->index);
	spin_unlock_bh(&h->port->iso->lock);
}

/* Writes the state of the queues. Context: root lock. */
int fabric_hash_dump_stats(const struct fabric_sched *q, struct sk_buff *skb)
{
	const struct fabric_hash *h = q->hash;
	u64 running_ns = h->held ? h->held * (ktime_get_ns() - h->since_ns) : 0, holds = 0;
	u64 count[FABRIC_HASH_MAX + 1] = {
		[FABRIC_HASH_USED] = h->core.used,
		[FABRIC_HASH_USED_MAX] = h->core.used_max,
		[FABRIC_HASH_HELD] = h->core.held,
		[FABRIC_HASH_HELD_BYTES] = h->core.held_bytes,
		[FABRIC_HASH_HELD_NS] = h->held_ns + running_ns,
		[FABRIC_HASH_SHARED] = h->core.shared,
		[FABRIC_HASH_EXPIRED] = h->core.expired,
		[FABRIC_HASH_OVER] = h->over,
	};
	struct nlattr *nest = nla_nest_start(skb, TCA_FABRIC_STATS_HASH);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < BFC_GROUPS; i++)
		holds += hweight64(h->core.wait[i]);
	count[FABRIC_HASH_HOLDS] = holds;
	for (i = 1; i <= FABRIC_HASH_MAX; i++) {
		if (nla_put_u64_64bit(skb, i, count[i], FABRIC_HASH_UNSPEC))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}
