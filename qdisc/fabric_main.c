// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: the egress port of a datacenter switch.
 *
 * Without a rate the device's own back-pressure drives it, as with any other
 * qdisc. With a rate it is the line too (fabric_line.c), exact at 1 to 400
 * Gbit/s. GSO packets are segmented on arrival, since a switch queues, marks,
 * drops and schedules what is on the wire.
 *
 * Here: bands, rate limits, classification, arrival and departure, classes,
 * the qdisc's life. What happens to every packet is in fabric_fast.h.
 *
 * See Documentation/qdisc.rst.
 */
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/pkt_cls.h>

#include "fabric_fast.h"

/* ---- bands: what seldom happens to a packet -------------------------------- */

/* An IP header of either version. */
union fabric_ip {
	struct iphdr v4;
	struct ipv6hdr v6;
};

static unsigned int fabric_ip_bytes(int version)
{
	return version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

/**
 * fabric_find_ip() - where IP begins in a packet
 * @skb: the packet
 * @version: set to 4 or 6
 *
 * Where the network header of a packet with VLAN tags is depends on who made it,
 * so the tags are walked from the front.
 *
 * Return: offset from skb->data; -1 if it is not IP, or its link layer lies.
 */
int fabric_find_ip(const struct sk_buff *skb, int *version)
{
	int offset = skb_network_offset(skb), tags = 0;
	__be16 protocol = skb->protocol;
	const u8 *first;
	u8 buffer;

	if (unlikely(eth_type_vlan(protocol)))
		offset = skb_mac_offset(skb) + ETH_HLEN;
	while (unlikely(eth_type_vlan(protocol))) {
		const struct vlan_hdr *tag;
		struct vlan_hdr copy;

		tag = skb_header_pointer(skb, offset, sizeof(copy), &copy);
		if (!tag || ++tags > FABRIC_TAGS_MAX)
			return -1;
		protocol = tag->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	if (protocol == htons(ETH_P_IP))
		*version = 4;
	else if (protocol == htons(ETH_P_IPV6))
		*version = 6;
	else
		return -1;
	if (offset < 0)
		return -1;
	first = skb_header_pointer(skb, offset, 1, &buffer);
	return first && *first >> 4 == *version ? offset : -1;
}

/* Sets CE, in this packet alone: others may share its bytes. Return: false if it
 * cannot be marked, since it is not IP or not ECN-capable, or for lack of memory.
 */
static bool fabric_set_ce(struct sk_buff *skb)
{
	int version, offset = fabric_find_ip(skb, &version);
	union fabric_ip buffer, *ip;

	if (offset < 0)
		return false;
	ip = skb_header_pointer(skb, offset, fabric_ip_bytes(version), &buffer);
	if (!ip || INET_ECN_is_not_ect(version == 4 ?
				       ipv4_get_dsfield(&ip->v4) :
				       ipv6_get_dsfield(&ip->v6)))
		return false;
	if (skb_ensure_writable(skb, offset + fabric_ip_bytes(version)))
		return false;
	ip = (union fabric_ip *)(skb->data + offset);
	return version == 4 ? IP_ECN_set_ce(&ip->v4) :
			      IP6_ECN_set_ce(skb, &ip->v6);
}

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
	if (fabric_set_ce(skb)) {
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
			      !band->limit_packets && !band->isolate &&
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

/* ---- rate limits of the bands ---------------------------------------------- */

/* When a limited band may send again: what it sent is paid for but for the
 * burst.
 */
static u64 fabric_band_ready_ns(const struct fabric_band *band)
{
	u64 paid_ns = fabric_line_ceil_ns(&band->pass);

	return paid_ns > band->burst_ns ? paid_ns - band->burst_ns : 0;
}

/* Bands that may send at a time; sets when the first other one may. */
u32 fabric_serve_allowed(struct fabric_sched *q, u64 at_ns)
{
	u32 waiting = q->shaped & q->order.active, allowed = ~0U;

	q->retry_ns = 0;
	while (waiting) {
		unsigned int i = __ffs(waiting);
		u64 ready_ns = fabric_band_ready_ns(&q->bands[i]);

		waiting &= waiting - 1;
		if (ready_ns <= at_ns)
			continue;
		allowed &= ~BIT(i);
		if (!q->retry_ns || ready_ns < q->retry_ns)
			q->retry_ns = ready_ns;
	}
	return allowed;
}

/* ---- which band and which colour ------------------------------------------- */

/*
 * In this order: skb priority that names a class of this qdisc, filters, DSCP
 * table, priority map, default band. The first three may be absent.
 */

/* DSCP of an IP packet, or -1 for another, one that is cut off, or one whose
 * link layer lies.
 */
static int fabric_dscp(const struct sk_buff *skb)
{
	int version, offset = fabric_find_ip(skb, &version);
	union fabric_ip buffer, *ip;

	if (offset < 0)
		return -1;
	ip = skb_header_pointer(skb, offset, fabric_ip_bytes(version), &buffer);
	if (!ip)
		return -1;
	return (version == 4 ? ipv4_get_dsfield(&ip->v4) :
			       ipv6_get_dsfield(&ip->v6)) >> 2;
}

/* Asks the filters. Return: a minor number, 0 if they do not know, or
 * FABRIC_NO_BAND, with FABRIC_TAKEN or alone, if there is nothing left to do
 * with the packet.
 */
static int fabric_filter(struct sk_buff *skb, struct fabric_sched *q)
{
	struct tcf_proto *filters = rcu_dereference_bh(q->filters);
	struct tcf_result res;

	if (!filters)
		return 0;
	switch (tcf_classify_qdisc(skb, filters, &res, false)) {
#ifdef CONFIG_NET_CLS_ACT
	case TC_ACT_STOLEN:
	case TC_ACT_QUEUED:
	case TC_ACT_TRAP:
		return FABRIC_NO_BAND | FABRIC_TAKEN;
	case TC_ACT_SHOT:
		return FABRIC_NO_BAND;
#endif
	case TC_ACT_UNSPEC:
		return 0;
	}
	return TC_H_MIN(res.classid);
}

/**
 * fabric_classify() - find a packet's band and colour
 * @skb: the packet
 * @sch: the qdisc
 *
 * Return: the band's number and, above FABRIC_COLOUR_SHIFT, the colour. With
 * FABRIC_NO_BAND if a filter's action dropped the packet, and with FABRIC_TAKEN
 * too if it took it.
 */
int fabric_classify(struct sk_buff *skb, struct Qdisc *sch)
{
	struct fabric_sched *q = qdisc_priv(sch);
	int minor = 0, dscp = -1, colour = 0;

	if (q->use_dscp) {
		dscp = fabric_dscp(skb);
		if (dscp >= 0 && q->dscp_map[dscp] == FABRIC_MAP_DEFAULT)
			dscp = -1;
		if (dscp >= 0)
			colour = q->dscp_map[dscp] & 0xf0;
	}

	if (TC_H_MAJ(skb->priority) == sch->handle) {
		minor = TC_H_MIN(skb->priority);
		if (unlikely(minor == FABRIC_MINOR_FRAMES))
			return FABRIC_NO_BAND | FABRIC_FRAME;
	} else if (rcu_access_pointer(q->filters)) {
		minor = fabric_filter(skb, q);
	}
	if (unlikely(minor & FABRIC_NO_BAND))
		return minor | colour;
	if (minor && minor <= q->nbands)
		return (minor - 1) | colour;

	if (dscp >= 0)
		return q->dscp_map[dscp];
	if (!TC_H_MAJ(skb->priority))
		return q->band_map[skb->priority & TC_PRIO_MAX];
	return min_t(u8, q->default_band, q->nbands - 1);
}

/* Works out where skb priorities lead and whether anything else decides; filters
 * are looked at for every packet, since they come without notice.
 */
void fabric_classify_update(struct fabric_sched *q)
{
	u8 other = min_t(u8, q->default_band, q->nbands - 1);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(q->band_map); i++) {
		q->band_map[i] = other;
		if (q->use_prio && q->prio_map[i] != FABRIC_MAP_DEFAULT)
			q->band_map[i] = q->prio_map[i];
	}
	q->by_map = !q->use_dscp;
}

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
 * Return: NET_XMIT_SUCCESS if any part was queued, else NET_XMIT_DROP.
 */
static noinline int fabric_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
				       u64 now_ns, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	u32 old_len = qdisc_pkt_len(skb), queued_bytes = 0;
	struct fabric_sched *q = qdisc_priv(sch);
	struct sk_buff *seg, *next;
	int queued = 0;

	seg = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(seg))
		return fabric_band_refuse(sch, &q->bands[0], 0,
					  FABRIC_DROP_SEGMENT, skb, to_free);

	q->gso_split++;
	skb_list_walk_safe(seg, seg, next) {
		u32 len = seg->len;

		skb_mark_not_on_list(seg);
		qdisc_skb_cb(seg)->pkt_len = len;
		if (fabric_enqueue_one(seg, sch, now_ns, true, to_free) ==
		    NET_XMIT_SUCCESS) {
			queued++;
			queued_bytes += len;
		}
	}
	consume_skb(skb);
	if (!queued)
		return NET_XMIT_DROP;
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
	if (!q->order.active)
		fabric_busy_end(q, now_ns);
	return skb;
}

/* The next packet of a port of a switch: frames first, and what is parked moves. */
static noinline struct sk_buff *fabric_serve_isolating(struct Qdisc *sch,
						       u64 now_ns)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = fabric_isolate_frame(q);

	if (skb)
		return fabric_leave(sch, skb, 1);
	fabric_isolate_prepare(q);
	skb = fabric_serve(sch, now_ns);
	if (skb && q->bands[fabric_cb(skb)->band].isolate)
		fabric_isolate_sent(q);
	return skb;
}

/* The device has room. Context: softirq or process, root lock held. */
static struct sk_buff *fabric_dequeue(struct Qdisc *sch)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now_ns;

	if (!sch->q.qlen)
		return NULL;

	now_ns = ktime_get_ns();
	if (unlikely(q->isolate))
		return fabric_serve_isolating(sch, now_ns);
	if (likely(!q->line.rate_bps && !q->flying.head))
		return fabric_serve(sch, now_ns);
	skb = fabric_line_dequeue(sch, now_ns);
	if (!skb)
		return NULL;
	return fabric_leave(sch, skb, fabric_segments(skb));
}

/* ---- bands as classes: settings, qdiscs grafted on them, filters ----------- */

/*
 * Classes 1 to n exist; adding makes n + 1, only n can be deleted. So a band's
 * number is its place in the order of service, and nothing has to be searched.
 */

static struct fabric_band *fabric_class_band(struct Qdisc *sch,
					     unsigned long arg)
{
	struct fabric_sched *q = qdisc_priv(sch);

	return &q->bands[arg - 1];
}

/**
 * fabric_class_remove() - take bands away
 * @sch: the qdisc
 * @nbands: how many stay; nothing leads to the others any more
 *
 * What waits in them is dropped and counted. Their counters stay, so that the
 * port's sums never go back. What they had reserved is for the caller to return.
 */
void fabric_class_remove(struct Qdisc *sch, unsigned int nbands)
{
	struct fabric_sched *q = qdisc_priv(sch);
	unsigned int i;

	for (i = nbands; i < q->nbands; i++) {
		struct fabric_band *band = &q->bands[i];
		struct Qdisc *child = NULL;

		if (band->child)
			child = qdisc_replace(sch, NULL, &band->child);
		sch_tree_lock(sch);
		fabric_band_purge(sch, band, FABRIC_DROP_BAND_GONE);
		fabric_class_default(q, band);
		fabric_band_update(q);
		sch_tree_unlock(sch);
		if (child)
			qdisc_put(child);
	}
}

/* Adds a class or changes one. */
static int fabric_class_change(struct Qdisc *sch, u32 classid, u32 parentid,
			       struct nlattr **tca, unsigned long *arg,
			       struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_class_config c;
	struct fabric_band *band;
	bool added = !*arg;
	int err;

	if (added && (q->nbands == FABRIC_BANDS_MAX ||
		      TC_H_MIN(classid) != q->nbands + 1U))
		return fabric_refuse_attr(extack, NULL,
					  q->nbands == FABRIC_BANDS_MAX ?
					  "there are 16 bands already" :
					  "bands are numbered without gaps: the next one only can be added");
	band = added ? &q->bands[q->nbands] : fabric_class_band(sch, *arg);
	fabric_class_read(q, band, &c);
	if (tca[TCA_OPTIONS]) {
		err = fabric_class_parse(tca[TCA_OPTIONS], q->buffer, &c,
					 extack);
		if (err)
			return err;
		if (c.isolate != band->isolate)
			return fabric_refuse_attr(extack, tca[TCA_OPTIONS],
						  "a band's queue is chosen when the port is made");
	}
	if (q->buffer &&
	    !fabric_buffer_reserve(q->buffer, (s64)c.reserved_bytes -
					      band->reserved_bytes, 0))
		return fabric_refuse_attr(extack, NULL,
					  "reserved does not fit into the shared buffer");
	sch_tree_lock(sch);
	fabric_class_apply(q, band, &c);
	if (added) {
		q->nbands++;
		fabric_classify_update(q);
		*arg = q->nbands;
	}
	fabric_band_update(q);
	fabric_look_again(sch);
	sch_tree_unlock(sch);
	return 0;
}

/* Deletes the last class if nothing leads to it. */
static int fabric_class_delete(struct Qdisc *sch, unsigned long arg,
			       struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_FABRIC_MAX + 1] = { NULL };
	struct fabric_maps maps;
	s64 reserved_bytes;
	int err;

	if (arg != q->nbands || arg == 1)
		return fabric_refuse_attr(extack, NULL,
					  arg == 1 ? "the first band stays" :
					  "only the last band can be deleted");
	err = fabric_maps_parse(q, tb, &maps, extack);
	if (err)
		return err;
	maps.nbands--;
	err = fabric_maps_check(q, tb, &maps, extack);
	if (err)
		return err;
	reserved_bytes = q->bands[maps.nbands].reserved_bytes;
	fabric_class_remove(sch, maps.nbands);
	if (q->buffer)
		fabric_buffer_reserve(q->buffer, -reserved_bytes, 0);
	sch_tree_lock(sch);
	fabric_maps_apply(q, &maps);
	sch_tree_unlock(sch);
	return 0;
}

static unsigned long fabric_class_find(struct Qdisc *sch, u32 classid)
{
	const struct fabric_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	return minor <= q->nbands ? minor : 0;
}

/* Gives a band a qdisc of its own, or (new NULL) takes it away. */
static int fabric_class_graft(struct Qdisc *sch, unsigned long arg,
			      struct Qdisc *new, struct Qdisc **old,
			      struct netlink_ext_ack *extack)
{
	struct fabric_band *band = fabric_class_band(sch, arg);

	if (band->isolate && new)
		return fabric_refuse_attr(extack, NULL,
					  "a band that isolates has no qdisc of its own");
	/* At once: a packet that came in between would never leave. */
	sch_tree_lock(sch);
	fabric_band_purge(sch, band, FABRIC_DROP_BAND_GONE);
	*old = band->child;
	band->child = new;
	if (*old)
		qdisc_purge_queue(*old);
	fabric_band_gone_idle(qdisc_priv(sch));
	fabric_band_update(qdisc_priv(sch));
	sch_tree_unlock(sch);
	return 0;
}

static struct Qdisc *fabric_class_leaf(struct Qdisc *sch, unsigned long arg)
{
	return fabric_class_band(sch, arg)->child;
}

/* The band's qdisc has become empty by itself. Root lock held. */
static void fabric_class_qlen_notify(struct Qdisc *sch, unsigned long arg)
{
	struct fabric_sched *q = qdisc_priv(sch);

	if (!fabric_band_packets(fabric_class_band(sch, arg)))
		fabric_order_idle(&q->order, arg - 1);
}

static void fabric_class_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	const struct fabric_sched *q = qdisc_priv(sch);
	unsigned int i;

	if (walker->stop)
		return;
	for (i = 0; i < q->nbands; i++) {
		if (!tc_qdisc_stats_dump(sch, i + 1, walker))
			break;
	}
}

static struct tcf_block *fabric_class_block(struct Qdisc *sch,
					    unsigned long arg,
					    struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);

	if (arg) {
		NL_SET_ERR_MSG_MOD(extack,
				   "filters belong to the qdisc, not to a class");
		return NULL;
	}
	return q->block;
}

static unsigned long fabric_class_bind(struct Qdisc *sch, unsigned long parent,
				       u32 classid)
{
	unsigned long arg = fabric_class_find(sch, classid);

	if (arg)
		fabric_class_band(sch, arg)->bound++;
	return arg;
}

static void fabric_class_unbind(struct Qdisc *sch, unsigned long arg)
{
	fabric_class_band(sch, arg)->bound--;
}

static int fabric_class_dump(struct Qdisc *sch, unsigned long arg,
			     struct sk_buff *skb, struct tcmsg *tcm)
{
	struct fabric_band *band = fabric_class_band(sch, arg);
	struct nlattr *opt;

	tcm->tcm_parent = TC_H_ROOT;
	tcm->tcm_handle = TC_H_MAKE(sch->handle, arg);
	if (band->child)
		tcm->tcm_info = band->child->handle;

	opt = nla_nest_start(skb, TCA_OPTIONS);
	if (!opt)
		return -EMSGSIZE;
	if (fabric_class_dump_options(skb, qdisc_priv(sch), band)) {
		nla_nest_cancel(skb, opt);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opt);
}

static int fabric_class_dump_stats(struct Qdisc *sch, unsigned long arg,
				   struct gnet_dump *d)
{
	return fabric_stats_dump_class(sch, fabric_class_band(sch, arg), d);
}

const struct Qdisc_class_ops fabric_class_ops = {
	.graft		= fabric_class_graft,
	.leaf		= fabric_class_leaf,
	.qlen_notify	= fabric_class_qlen_notify,
	.find		= fabric_class_find,
	.change		= fabric_class_change,
	.delete		= fabric_class_delete,
	.walk		= fabric_class_walk,
	.tcf_block	= fabric_class_block,
	.bind_tcf	= fabric_class_bind,
	.unbind_tcf	= fabric_class_unbind,
	.dump		= fabric_class_dump,
	.dump_stats	= fabric_class_dump_stats,
};

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
		fabric_fifo_purge(&band->fifo);
		memset(band->colour_bytes, 0, sizeof(band->colour_bytes));
		if (band->child)
			qdisc_reset(band->child);
		fabric_order_idle(&q->order, i);
		fabric_line_reset(&band->pass);
	}
	if (q->isolate)
		fabric_isolate_reset(q);
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

/* Is this qdisc of ours? */
bool fabric_is_port(const struct Qdisc *sch)
{
	return sch && sch->ops == &fabric_qdisc_ops;
}

static int __init fabric_module_init(void)
{
	int err;

	BUILD_BUG_ON(FABRIC_HIST_BINS != FABRIC_BINS);
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
