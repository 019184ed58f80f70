// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: isolation queues (Pyrrha), what they share with the kernel.
 *
 * Ports of one namespace with the same switch number are one switch. Its state is
 * core/pyrrha.h: a packet arrives, a packet may move, a frame was heard go in;
 * a queue's number and frames to send come out. Here are the packets, the
 * frames, the time and the locks.
 *
 * A band that isolates has the output queue (its fifo, which all rules of the
 * band look at) and isolation queues, where packets are parked that will pass a
 * port further down that is congested. Parked packets count for limits and
 * the buffer, not for marking.
 *
 * Locks: a port's root lock, then the switch's lock, which any port may take; never
 * two root locks. So frames are sent by a tasklet, which holds neither, and a port
 * that may go on is only asked to look (fabric_isolate_wake()).
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>

#include <linux/fabric_frame.h>

#include "fabric_isolate.h"

#define FABRIC_TICK_MIN_NS	20000
/* Between ticks so many one-hop RTTs pass: a frame and its answer come in time. */
#define FABRIC_TICK_HOPS	4
/* A neighbour of the shortest tick waits for 255 of them at most: it is told again before that. */
#define FABRIC_TICK_MAX_NS	(255 * FABRIC_TICK_MIN_NS / 2)
#define FABRIC_MOVES_MAX	64	/* parked packets that move at a time */
#define FABRIC_FRAMES_AT_ONCE	64
#define FABRIC_FRAMES_MAX	1024
#define FABRIC_HOP_DELAY_NS	1000	/* of a link whose delay nobody told */
#define FABRIC_MTU_WIRE_BYTES	1538

static LIST_HEAD(fabric_isolates);
/* Protects the list, users and which table is in use; nests in rtnl. */
static DEFINE_MUTEX(fabric_isolates_mutex);
/* What a qdisc of ours has as its operations. */
static const struct Qdisc_ops *fabric_port_ops __ro_after_init;

/* Once, before there is a port. */
void __init fabric_isolate_init(const struct Qdisc_ops *ops)
{
	fabric_port_ops = ops;
}

/* The switch, held. Context: fabric_isolates_mutex. */
struct fabric_isolate *fabric_isolate_find(const struct net *net, u32 id)
{
	struct fabric_isolate *iso;

	lockdep_assert_held(&fabric_isolates_mutex);
	list_for_each_entry(iso, &fabric_isolates, list) {
		if (iso->net == net && iso->sw.config.id == id)
			return iso;
	}
	return NULL;
}

void fabric_isolates_lock(void)
{
	mutex_lock(&fabric_isolates_mutex);
}

void fabric_isolates_unlock(void)
{
	mutex_unlock(&fabric_isolates_mutex);
}

/* The next switch after @iso of the namespace, or the first. */
struct fabric_isolate *fabric_isolate_next(const struct net *net,
					   struct fabric_isolate *iso)
{
	iso = list_prepare_entry(iso, &fabric_isolates, list);
	list_for_each_entry_continue(iso, &fabric_isolates, list) {
		if (iso->net == net)
			return iso;
	}
	return NULL;
}

/* ---- frames ------------------------------------------------------------------ */

/* What goes to a neighbour. */
struct fabric_frame_out {
	u16 type;
	u8 dest[ETH_ALEN];
	u8 data[FABRIC_FRAME_BYTES];
};

/* A frame for the neighbour at @dev. */
static void fabric_frame_send(struct net_device *dev, u32 priority,
			      const struct fabric_frame_out *frame)
{
	struct sk_buff *skb;
	struct ethhdr *eth;

	skb = alloc_skb(LL_MAX_HEADER + ETH_ZLEN, GFP_ATOMIC);
	if (!skb)
		return;		/* as if lost: it is repeated */
	skb_reserve(skb, LL_MAX_HEADER);
	skb_reset_mac_header(skb);
	eth = skb_put_zero(skb, ETH_ZLEN);
	ether_addr_copy(eth->h_dest, frame->dest);
	ether_addr_copy(eth->h_source, dev->dev_addr);
	eth->h_proto = htons(frame->type);
	memcpy(eth + 1, frame->data, sizeof(frame->data));
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = eth->h_proto;
	skb->priority = priority;
	skb->dev = dev;
	dev_queue_xmit(skb);
}

/* Takes the next frame of the switch. Return: false: there is none. Context: the switch's
 * lock.
 */
static bool fabric_frame_next(struct fabric_isolate *iso,
			      struct fabric_frame_out *out, u8 *port)
{
	static const u8 dest[ETH_ALEN] = FABRIC_FRAME_DEST;
	static const u8 pfc_dest[ETH_ALEN] = PFC_DEST;
	struct bfc_frame flows;
	struct pyr_frame frame;

	memset(out->data, 0, sizeof(out->data));
	if (fabric_pfc_next(iso, out->data, port)) {
		out->type = PFC_ETHERTYPE;
		ether_addr_copy(out->dest, pfc_dest);
		return true;
	}
	out->type = FABRIC_FRAME_ETHERTYPE;
	ether_addr_copy(out->dest, dest);
	if (fabric_hash_next(iso, &flows, port)) {
		bfc_frame_write(&flows, out->data);
		return true;
	}
	if (!pyr_next_frame(&iso->sw, &frame, port))
		return false;
	pyr_frame_write(&frame, out->data);
	return true;
}

/* Lets @take have what a neighbour has sent to a device, if it is a port of a switch. Not if it is
 * being taken down: who resets a qdisc that goes has no root lock, but has marked it and waited for
 * all who may not have seen that, since they read under RCU.
 * Context: softirq; @take has the lock of the port's qdisc.
 */
static void fabric_port_hears(struct net_device *dev,
			      void (*take)(struct fabric_isolate_port *p,
					   const void *frame),
			      const void *frame)
{
	struct fabric_isolate_port *p;
	struct Qdisc *sch;

	rcu_read_lock();
	sch = rcu_dereference(dev->qdisc);
	if (sch && sch->ops == fabric_port_ops) {
		spin_lock(qdisc_lock(sch));
		p = ((struct fabric_sched *)qdisc_priv(sch))->isolate;
		if (p && p->joined && !test_bit(__QDISC_STATE_DEACTIVATED, &sch->state))
			take(p, frame);
		spin_unlock(qdisc_lock(sch));
	}
	rcu_read_unlock();
}

/* Ports that hold back flows look whether they still have to. Context: softirq, no lock held. */
static void fabric_ports_look(struct fabric_isolate *iso)
{
	struct fabric_isolate_port *p;
	struct net_device *dev;
	u64 look;

	if (!READ_ONCE(iso->hash.look))
		return;
	/* each once: the tick may ask for more all the time, and comes here again */
	spin_lock(&iso->lock);
	look = iso->hash.look;
	iso->hash.look = 0;
	spin_unlock(&iso->lock);
	for (; look; look &= look - 1) {
		spin_lock(&iso->lock);
		p = iso->port[__ffs64(look)];
		dev = p ? qdisc_dev(p->sch) : NULL;
		dev_hold(dev);
		spin_unlock(&iso->lock);
		if (dev)
			fabric_port_hears(dev, fabric_hash_look, NULL);
		dev_put(dev);
	}
}

/* Sends what there is to say. Context: softirq, no lock held. */
static void fabric_isolate_send(struct tasklet_struct *t)
{
	struct fabric_isolate *iso = from_tasklet(iso, t, sender);
	struct net_device *dev = NULL;
	struct fabric_isolate_port *p;
	struct fabric_frame_out frame;
	unsigned int count;
	u32 priority = 0;
	bool more;
	u8 port;

	fabric_ports_look(iso);
	for (count = 0; count < FABRIC_FRAMES_AT_ONCE; count++) {
		spin_lock(&iso->lock);
		more = fabric_frame_next(iso, &frame, &port);
		p = more ? iso->port[port] : NULL;
		if (p) {
			dev = qdisc_dev(p->sch);
			priority = TC_H_MAKE(p->sch->handle, FABRIC_MINOR_FRAMES);
			dev_hold(dev);
		}
		spin_unlock(&iso->lock);
		if (!more)
			return;
		if (!p)
			continue;
		fabric_frame_send(dev, priority, &frame);
		dev_put(dev);
	}
	tasklet_schedule(&iso->sender);
}

/* A frame goes into the port's queue: before all else, beyond all limits but one
 * that nothing right comes near to. Return: what enqueue returns.
 */
int fabric_isolate_enqueue_frame(struct Qdisc *sch, struct sk_buff *skb,
				 struct sk_buff **to_free)
{
	struct fabric_sched *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);

	if (q->isolate->frames.packets >= FABRIC_FRAMES_MAX)
		return qdisc_drop(skb, sch, to_free);
	fabric_fifo_push(&q->isolate->frames, skb, len);
	sch->q.qlen++;
	sch->qstats.backlog += len;
	return NET_XMIT_SUCCESS;
}

static void fabric_isolate_take(struct fabric_isolate_port *p, const void *frame)
{
	struct fabric_isolate *iso = p->iso;
	bool believed = fabric_table_believes(iso, p->index, frame);
	enum pyr_heard heard = PYR_HEARD_MALFORMED;

	spin_lock(&iso->lock);
	if (believed)
		heard = pyr_frame_in(&iso->sw, p->index, frame, p->band->fifo.bytes);
	else
		iso->sw.stats.heard[PYR_HEARD_MALFORMED]++;
	/* without room for its new root a queue was resumed all the same */
	if (heard == PYR_HEARD_OK || heard == PYR_HEARD_FULL)
		fabric_isolate_wake(p->sch);
	fabric_isolate_kick(iso);
	spin_unlock(&iso->lock);
}

/* Is a frame for the neighbours on its own link, as a switch sends it? All other addresses may
 * come from afar: switches between pass them on.
 */
static bool fabric_frame_is_near(const struct sk_buff *skb, const u8 *dest)
{
	return skb_mac_header_was_set(skb) && ether_addr_equal(eth_hdr(skb)->h_dest, dest);
}

/* A frame was heard. Context: softirq. */
static int fabric_isolate_heard(struct sk_buff *skb, struct net_device *dev,
				struct packet_type *type,
				struct net_device *orig_dev)
{
	static const u8 dest[ETH_ALEN] = FABRIC_FRAME_DEST;
	u8 buffer[FABRIC_FRAME_BYTES], *data = NULL;
	struct bfc_frame flows;
	struct pyr_frame frame;

	BUILD_BUG_ON(sizeof(struct fabric_flows_frame) != FABRIC_FRAME_BYTES);
	if (fabric_frame_is_near(skb, dest))
		data = skb_header_pointer(skb, 0, sizeof(buffer), buffer);
	if (data && bfc_frame_read(&flows, data, sizeof(buffer)))
		fabric_port_hears(dev, fabric_hash_take, &flows);
	else if (data && pyr_frame_read(&frame, data, sizeof(buffer)))
		fabric_port_hears(dev, fabric_isolate_take, &frame);
	kfree_skb(skb);
	return NET_RX_SUCCESS;
}

static struct packet_type fabric_frame_type __read_mostly = {
	.type	= htons(FABRIC_FRAME_ETHERTYPE),
	.func	= fabric_isolate_heard,
};

static void fabric_pfc_take(struct fabric_isolate_port *p, const void *frame)
{
	int quanta;

	if (p->settings.queue != FABRIC_QUEUE_PFC ||
	    !(p->settings.frames & FABRIC_FRAMES_HEAR))
		return;
	quanta = pfc_read(p->settings.band, frame);
	if (quanta < 0)
		return;
	p->band->paused_until_ns = !quanta ? 0 :
		ktime_get_ns() + pfc_hold_ns(quanta, p->settings.speed_bps);
	spin_lock(&p->iso->lock);
	p->iso->pfc.heard++;
	spin_unlock(&p->iso->lock);
	fabric_isolate_wake(p->sch);
}

/* A frame of IEEE 802.1Qbb was heard. Context: softirq. */
static int fabric_pfc_heard(struct sk_buff *skb, struct net_device *dev,
			    struct packet_type *type,
			    struct net_device *orig_dev)
{
	static const u8 dest[ETH_ALEN] = PFC_DEST;
	u8 buffer[PFC_BYTES], *data = NULL;

	if (fabric_frame_is_near(skb, dest))
		data = skb_header_pointer(skb, 0, sizeof(buffer), buffer);
	if (data)
		fabric_port_hears(dev, fabric_pfc_take, data);
	kfree_skb(skb);
	return NET_RX_SUCCESS;
}

static struct packet_type fabric_pfc_type __read_mostly = {
	.type	= htons(PFC_ETHERTYPE),
	.func	= fabric_pfc_heard,
};

/* Time passes. Context: softirq. */
static enum hrtimer_restart fabric_isolate_tick(struct hrtimer *timer)
{
	struct fabric_isolate *iso = container_of(timer, struct fabric_isolate,
						  tick);
	bool again;
	u64 ports;

	spin_lock(&iso->lock);
	ports = pyr_tick(&iso->sw);
	for (; ports; ports &= ports - 1) {
		struct fabric_isolate_port *p = iso->port[__ffs64(ports)];

		if (p)
			fabric_isolate_wake(p->sch);
	}
	fabric_pfc_tick(iso);
	fabric_hash_tick(iso);
	if (fabric_isolate_busy(iso))
		tasklet_schedule(&iso->sender);
	again = fabric_isolate_awake(iso);
	iso->ticking = again;
	if (again)
		hrtimer_forward_now(timer, ns_to_ktime(iso->sw.config.tick_ns));
	spin_unlock(&iso->lock);
	return again ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* ---- packets ----------------------------------------------------------------- */

/* The ports after this one; none if nobody told. */
static const struct pyr_path *fabric_isolate_path(const struct fabric_way *way)
{
	static const struct pyr_path unknown;

	return likely(way) ? &way->path : &unknown;
}

/* The queue of an arriving packet. */
static u8 fabric_isolate_place(struct fabric_isolate_port *p,
			       struct sk_buff *skb, u32 len,
			       const struct pyr_path *path)
{
	struct pyr_packet *pkt = &fabric_cb(skb)->pyr;
	struct fabric_isolate *iso = p->iso;
	u8 queue;

	if (!READ_ONCE(p->joined))
		return PYR_OQ;
	spin_lock(&iso->lock);
	pkt->in = fabric_isolate_ingress(iso, skb->skb_iif);
	queue = pyr_arrive(&iso->sw, p->index, pkt, path, len,
			   p->band->fifo.bytes);
	fabric_isolate_kick(iso);
	spin_unlock(&iso->lock);
	return queue;
}

/**
 * fabric_isolate_park() - does an arriving packet have to wait for a root?
 * @q: the port
 * @band: its band that isolates
 * @skb: the packet, admitted
 * @len: its bytes
 *
 * Return: true: it is parked; false: it goes to the output queue.
 */
bool fabric_isolate_park(struct fabric_sched *q, struct fabric_band *band,
			 struct sk_buff *skb, u32 len)
{
	struct fabric_isolate_port *p = q->isolate;
	struct fabric_way *way = fabric_way_look(p, skb, true);
	const struct pyr_path *path = fabric_isolate_path(way);
	u8 queue;

	if (pyr_is_short(p->state, band->fifo.bytes + len) &&
	    pyr_passes_none(&p->iso->sw, path))
		return false;
	queue = fabric_isolate_place(p, skb, len, path);
	if (queue == PYR_OQ)
		return false;
	fabric_way_park(p, way, skb);
	fabric_fifo_push(&p->queue[queue], skb, len);
	band->parked_bytes += len;
	band->parked_packets++;
	if (band->fifo.bytes + band->parked_bytes >
	    band->stats.backlog_max_bytes)
		band->stats.backlog_max_bytes = band->fifo.bytes +
						band->parked_bytes;
	return true;
}

/* Moves the first packet of a queue on. Return: true if it is in the output queue.
 * Context: the switch's lock.
 */
static bool fabric_isolate_move(struct fabric_sched *q, u8 queue)
{
	struct fabric_isolate_port *p = q->isolate;
	struct fabric_isolate *iso = p->iso;
	struct sk_buff *skb;
	u32 len;

	skb = fabric_fifo_pop(&p->queue[queue], &len);
	if (WARN_ON_ONCE(!skb))
		return true;
	queue = pyr_move(&iso->sw, p->index, &fabric_cb(skb)->pyr,
			 fabric_isolate_path(fabric_way_of(p, skb)), len);
	if (queue != PYR_OQ) {
		fabric_fifo_push(&p->queue[queue], skb, len);
		return false;
	}
	fabric_way_unpark(p, skb);
	p->band->parked_bytes -= len;
	p->band->parked_packets--;
	fabric_fifo_push(&p->band->fifo, skb, len);
	fabric_order_activate(&q->order, p->band->index);
	return true;
}

/**
 * fabric_isolate_prepare() - let parked packets move before one is sent
 * @sch: the qdisc, a port with a switch
 *
 * How many, the core decides: half of the band's share of the line is theirs where others
 * want it, too. None come while other bands are served: then the output queue would
 * only grow.
 */
void fabric_isolate_prepare(struct Qdisc *sch)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_isolate_port *p = q->isolate;
	struct fabric_isolate *iso = p->iso;
	unsigned int moves = 0;
	bool arrived = false;
	u8 queue;

	if (!READ_ONCE(p->joined) || !pyr_pick_quick(&iso->sw.port[p->index]))
		return;
	if (!p->due && p->band->fifo.head)
		return;
	p->due = false;
	spin_lock(&iso->lock);
	while (!arrived && moves < FABRIC_MOVES_MAX) {
		queue = pyr_pick(&iso->sw, p->index, p->band->fifo.bytes);
		if (queue == PYR_NONE)
			break;
		arrived = fabric_isolate_move(q, queue);
		moves++;
	}
	fabric_isolate_kick(iso);
	spin_unlock(&iso->lock);
	/* The rest of those that only go from queue to queue. Not by the timer, which this
	 * dequeue may set to when a band with a rate may send again.
	 */
	if (!arrived && moves == FABRIC_MOVES_MAX)
		fabric_isolate_wake(sch);
}

/* The output queue may be short enough now for neighbours to go on. */
void fabric_isolate_tell_sent(struct fabric_isolate_port *p)
{
	struct fabric_isolate *iso = p->iso;

	if (!READ_ONCE(p->joined))
		return;
	spin_lock(&iso->lock);
	pyr_sent(&iso->sw, p->index, p->band->fifo.bytes);
	fabric_isolate_kick(iso);
	spin_unlock(&iso->lock);
}

/* A frame to send, NULL: none. */
struct sk_buff *fabric_isolate_frame(struct fabric_sched *q)
{
	u32 len;

	return fabric_fifo_pop(&q->isolate->frames, &len);
}

/**
 * fabric_isolate_reset() - throw away what is parked; neighbours learn that the port begins anew
 * @q: the port, with isolation
 *
 * Context: any. When the qdisc goes the root lock is not held, and frames of other ports come in
 * softirq, on this processor too.
 */
void fabric_isolate_reset(struct fabric_sched *q)
{
	struct fabric_isolate_port *p = q->isolate;
	struct fabric_isolate *iso = p->iso;
	struct sk_buff *skb;
	unsigned int i;
	u32 len;

	while ((skb = fabric_fifo_pop(&p->frames, &len)))
		rtnl_kfree_skbs(skb, skb);
	p->band->paused_until_ns = 0;
	if (!p->joined)
		return;
	spin_lock_bh(&iso->lock);
	for (i = 0; i < PYR_QUEUES_MAX; i++) {
		while ((skb = fabric_fifo_pop(&p->queue[i], &len))) {
			pyr_drop(&iso->sw, p->index, &fabric_cb(skb)->pyr, len);
			fabric_way_unpark(p, skb);
			rtnl_kfree_skbs(skb, skb);
		}
	}
	pyr_port_down(&iso->sw, p->index);
	p->config.epoch = get_random_u32();
	pyr_port_up(&iso->sw, p->index, &p->config);
	fabric_isolate_kick(iso);
	spin_unlock_bh(&iso->lock);
	p->band->parked_bytes = 0;
	p->band->parked_packets = 0;
}

/* ---- switches and ports ------------------------------------------------------ */

/* Frames are looked at while there is a switch. */
static void fabric_frames_listen(bool listen)
{
	if (listen) {
		dev_add_pack(&fabric_frame_type);
		dev_add_pack(&fabric_pfc_type);
	} else {
		dev_remove_pack(&fabric_frame_type);
		dev_remove_pack(&fabric_pfc_type);
	}
}

/* A switch without ports. Return: it or NULL. */
static struct fabric_isolate *fabric_isolate_make(struct net *net, u32 id)
{
	const struct pyr_config config = {
		.id = id,
		.queues = PYR_QUEUES_DEFAULT,
		.buckets = PYR_BUCKETS_DEFAULT,
		.pause_permille = PYR_PAUSE_DEFAULT_PERMILLE,
		.resume_permille = PYR_RESUME_DEFAULT_PERMILLE,
		.tick_ns = FABRIC_TICK_MIN_NS,
	};
	struct fabric_isolate *iso;

	iso = kvzalloc(sizeof(*iso), GFP_KERNEL_ACCOUNT);
	if (!iso)
		return NULL;
	if (pyr_init(&iso->sw, &config)) {
		kvfree(iso);
		return NULL;
	}
	iso->net = net;
	spin_lock_init(&iso->lock);
	memset(iso->by_ifindex, PYR_NONE, sizeof(iso->by_ifindex));
	tasklet_setup(&iso->sender, fabric_isolate_send);
	hrtimer_setup(&iso->tick, fabric_isolate_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	if (list_empty(&fabric_isolates))
		fabric_frames_listen(true);
	list_add_tail(&iso->list, &fabric_isolates);
	return iso;
}

/* A switch that has no ports any more goes. */
static void fabric_isolate_put(struct fabric_isolate *iso)
{
	unsigned int i;

	if (--iso->users)
		return;
	list_del(&iso->list);
	if (list_empty(&fabric_isolates))
		fabric_frames_listen(false);
	hrtimer_cancel(&iso->tick);
	tasklet_kill(&iso->sender);
	for (i = 0; i < PYR_PORTS_MAX; i++)
		kvfree(iso->hash.told[i]);
	kvfree(iso->draft);
	kvfree(rcu_dereference_protected(iso->table, true));
	kvfree(iso);
}

/* The device's speed in bit/s, 0 if it does not tell. Context: rtnl held. */
u64 fabric_device_bps(struct net_device *dev)
{
	struct ethtool_link_ksettings settings;

	if (__ethtool_get_link_ksettings(dev, &settings) ||
	    settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return settings.base.speed * 1000000ULL;
}

/* The port of that number. */
static struct fabric_isolate_port *fabric_isolate_at(struct fabric_isolate *iso,
						     u8 port)
{
	return iso ? iso->port[port] : NULL;
}

/* Time between ticks: that of the slowest port there is, but what a port tells holds for longer.
 * Context: the switch's lock.
 */
static void fabric_isolate_set_tick(struct fabric_isolate *iso)
{
	u64 tick_ns = FABRIC_TICK_MIN_NS, most_ns = FABRIC_TICK_MAX_NS, hold_ns;
	const struct fabric_isolate_port *p;
	unsigned int i;

	for (i = 0; i < PYR_PORTS_MAX; i++) {
		p = iso->port[i];
		if (!p)
			continue;
		tick_ns = max_t(u64, tick_ns, (u64)p->config.hop_rtt_ns * FABRIC_TICK_HOPS);
		hold_ns = pfc_hold_ns(PFC_QUANTA_MAX, p->settings.speed_bps);
		if (p->settings.queue == FABRIC_QUEUE_PFC)
			most_ns = clamp_t(u64, hold_ns / 2, FABRIC_TICK_MIN_NS, most_ns);
	}
	iso->sw.config.tick_ns = min(tick_ns, most_ns);
}

/* The port gets its place in the switch. Context: fabric_isolates_mutex. */
static void fabric_isolate_plug(struct fabric_isolate_port *p)
{
	struct fabric_isolate *iso = p->iso;

	spin_lock_bh(&iso->lock);
	pyr_port_up(&iso->sw, p->index, &p->config);
	iso->port[p->index] = p;
	fabric_isolate_set_tick(iso);
	WRITE_ONCE(iso->ifindex[p->index], p->ifindex);
	WRITE_ONCE(iso->by_ifindex[p->ifindex & FABRIC_IFINDEX_MASK], p->index);
	if (p->settings.queue == FABRIC_QUEUE_PFC && p->config.tell)
		iso->pfc.tells |= BIT_ULL(p->index);
	fabric_hash_plug(p);
	WRITE_ONCE(p->joined, true);
	spin_unlock_bh(&iso->lock);
}

/* A port as it was described, not plugged. Return: it or NULL. */
static struct fabric_isolate_port *
fabric_isolate_port_make(struct Qdisc *sch,
			 const struct fabric_isolate_config *settings)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_isolate_port *p;

	p = kvzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return NULL;
	p->sch = sch;
	p->settings = *settings;
	p->index = settings->port;
	p->ifindex = qdisc_dev(sch)->ifindex;
	p->band = &q->bands[settings->band];
	p->config.rate_bps = settings->speed_bps;
	p->config.hop_rtt_ns = settings->hop_rtt_ns;
	p->config.epoch = get_random_u32();
	p->config.tell = settings->frames & FABRIC_FRAMES_TELL;
	p->config.hear = settings->queue == FABRIC_QUEUE_ISOLATE &&
			 settings->frames & FABRIC_FRAMES_HEAR;
	return p;
}

/* Puts a port into its switch, which is made if need be. If its device has another qdisc
 * there now, which is about to be replaced, the port waits until that one goes.
 * Context: fabric_isolates_mutex.
 */
static int fabric_isolate_enter(struct fabric_isolate_port *p,
				struct netlink_ext_ack *extack)
{
	struct net *net = dev_net(qdisc_dev(p->sch));
	struct fabric_isolate_port *old;
	struct fabric_isolate *iso;

	iso = fabric_isolate_find(net, p->settings.id);
	old = fabric_isolate_at(iso, p->index);
	if (old && (old->ifindex != p->ifindex || old->heir))
		return fabric_refuse_attr(extack, NULL,
					  "the switch has a port of this number already");
	if (!iso)
		iso = fabric_isolate_make(net, p->settings.id);
	if (!iso)
		return -ENOMEM;
	if (p->settings.queue == FABRIC_QUEUE_HASH && !fabric_hash_room(iso, p->index)) {
		iso->users++;
		fabric_isolate_put(iso);
		return -ENOMEM;
	}
	iso->users++;
	p->iso = iso;
	p->state = &iso->sw.port[p->index];
	if (old)
		old->heir = p;
	else
		fabric_isolate_plug(p);
	return 0;
}

/**
 * fabric_isolate_join() - a port becomes one of a switch
 * @sch: the qdisc, new
 * @settings: what was said; numbers that were not are filled in
 * @extack: why not
 *
 * Context: rtnl held.
 * Return: 0 or a negative error.
 */
int fabric_isolate_join(struct Qdisc *sch, struct fabric_isolate_config *settings,
			struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_isolate_port *p;
	int err;

	if (!settings->speed_bps)
		settings->speed_bps = fabric_device_bps(qdisc_dev(sch));
	if (!settings->speed_bps)
		return fabric_refuse_attr(extack, NULL,
					  "the device does not tell its speed: say speed RATE");
	if (!settings->hop_rtt_ns)
		settings->hop_rtt_ns = pyr_hop_rtt_ns(settings->speed_bps, FABRIC_HOP_DELAY_NS,
						      FABRIC_MTU_WIRE_BYTES);
	p = fabric_isolate_port_make(sch, settings);
	if (!p)
		return -ENOMEM;
	mutex_lock(&fabric_isolates_mutex);
	err = fabric_isolate_enter(p, extack);
	mutex_unlock(&fabric_isolates_mutex);
	if (err) {
		kvfree(p);
		return err;
	}
	q->isolate = p;
	p->band->queue = settings->queue;
	p->band->isolate = settings->queue == FABRIC_QUEUE_ISOLATE;
	p->band->pfc = settings->queue == FABRIC_QUEUE_PFC;
	if (q->hash)
		q->hash->port = p;
	return 0;
}

/* What was said of the port's switch. */
const struct fabric_isolate_config *
fabric_isolate_settings(const struct fabric_sched *q)
{
	return &q->isolate->settings;
}

/* Is this the same port? Numbers that are filled in are compared too. */
bool fabric_isolate_same(const struct fabric_isolate_config *a,
			 const struct fabric_isolate_config *b)
{
	return a->id == b->id && a->port == b->port && a->band == b->band &&
	       a->queue == b->queue && a->queues == b->queues &&
	       a->frames == b->frames && a->speed_bps == b->speed_bps &&
	       a->hop_rtt_ns == b->hop_rtt_ns;
}

/* Takes a port's place from it, or its claim to one. Its own root lock, not that of what
 * has taken its place already: a frame may just be heard.
 */
static void fabric_isolate_unplug(struct fabric_sched *q,
				  struct fabric_isolate_port *p)
{
	struct fabric_isolate *iso = p->iso;

	spin_lock_bh(qdisc_lock(p->sch));
	spin_lock(&iso->lock);
	if (p->joined) {
		iso->port[p->index] = NULL;
		fabric_isolate_set_tick(iso);
		WRITE_ONCE(iso->ifindex[p->index], 0);
		iso->pfc.tells &= ~BIT_ULL(p->index);
		iso->pfc.paused &= ~BIT_ULL(p->index);
		iso->pfc.tell &= ~BIT_ULL(p->index);
		fabric_hash_unplug(p);
		WRITE_ONCE(p->joined, false);
		iso->no_path += p->no_path;
		iso->foretold += p->foretold;
		iso->mistold += p->mistold;
		pyr_port_down(&iso->sw, p->index);
		fabric_isolate_kick(iso);
	} else {
		iso->port[p->index]->heir = NULL;
	}
	spin_unlock(&iso->lock);
	q->isolate = NULL;
	if (q->hash)
		q->hash->port = NULL;
	p->band->queue = FABRIC_QUEUE_FIFO;
	p->band->isolate = false;
	p->band->pfc = false;
	spin_unlock_bh(qdisc_lock(p->sch));
}

/* The port goes. Context: rtnl held, after reset, so that nothing is parked. */
void fabric_isolate_leave(struct fabric_sched *q)
{
	struct fabric_isolate_port *p = q->isolate;

	mutex_lock(&fabric_isolates_mutex);
	fabric_isolate_unplug(q, p);
	if (p->heir)
		fabric_isolate_plug(p->heir);
	fabric_isolate_put(p->iso);
	mutex_unlock(&fabric_isolates_mutex);
	/* Nobody wakes it any more; if somebody has, softirq still has it in a list. */
	while (test_bit(__QDISC_STATE_SCHED, &p->sch->state))
		schedule_timeout_uninterruptible(1);
	kvfree(p);
}
