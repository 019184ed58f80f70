// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: what packets of a band need and fabric_fast.h does not do itself: what
 * their headers say, which band they go to, marking, qdiscs of a band's own, rate
 * limits.
 */
#include <linux/if_vlan.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/pkt_cls.h>

#include "fabric_fast.h"

/* ---- bands: what seldom happens to a packet -------------------------------- */

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

/**
 * fabric_find_tcp() - where TCP begins in a packet
 * @skb: the packet
 * @buffer: room for the IP header
 * @version: set to 4 or 6
 * @offset: set to where TCP begins, bytes from skb->data
 *
 * Fragments, and IPv6 with extension headers, are left alone.
 *
 * Return: the IP header; NULL: no TCP header is found.
 * Context: any.
 */
const union fabric_ip *fabric_find_tcp(const struct sk_buff *skb, union fabric_ip *buffer,
				       int *version, int *offset)
{
	int begin = fabric_find_ip(skb, version);
	const union fabric_ip *ip;

	if (begin < 0)
		return NULL;
	ip = skb_header_pointer(skb, begin, fabric_ip_bytes(*version), buffer);
	if (!ip)
		return NULL;
	if (*version == 4) {
		if (ip->v4.ihl < 5 || ip->v4.protocol != IPPROTO_TCP || ip_is_fragment(&ip->v4))
			return NULL;
		*offset = begin + ip->v4.ihl * 4;
	} else {
		if (ip->v6.nexthdr != IPPROTO_TCP)
			return NULL;
		*offset = begin + sizeof(ip->v6);
	}
	return ip;
}

/* Do the first four bytes of what IP carries say the ports? */
static bool fabric_has_ports(u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP ||
	       protocol == IPPROTO_SCTP || protocol == IPPROTO_DCCP ||
	       protocol == IPPROTO_UDPLITE;
}

/* Adds the ports to a flow's hash. */
static u64 fabric_hash_ports(const struct sk_buff *skb, int offset, u64 hash)
{
	__be32 buffer;
	const __be32 *ports = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);

	return ports ? bfc_mix(hash, be32_to_cpu(*ports)) : hash;
}

/* The flow of a packet, the same at all switches: addresses, protocol, ports. Fragments have no
 * ports, not even the first one: it must not pass the others.
 */
u16 fabric_packet_flow(const struct sk_buff *skb)
{
	int version, offset = fabric_find_ip(skb, &version), i;
	const union fabric_ip *ip;
	union fabric_ip buffer;
	u64 hash = 0;

	if (offset < 0)
		return bfc_flow(0);
	ip = skb_header_pointer(skb, offset, fabric_ip_bytes(version), &buffer);
	if (!ip)
		return bfc_flow(0);
	if (version == 4) {
		hash = bfc_mix(hash, be32_to_cpu(ip->v4.saddr));
		hash = bfc_mix(hash, be32_to_cpu(ip->v4.daddr));
		hash = bfc_mix(hash, ip->v4.protocol);
		if (fabric_has_ports(ip->v4.protocol) && !ip_is_fragment(&ip->v4))
			hash = fabric_hash_ports(skb, offset + ip->v4.ihl * 4, hash);
		return bfc_flow(hash);
	}
	for (i = 0; i < 4; i++)
		hash = bfc_mix(hash, be32_to_cpu(ip->v6.saddr.s6_addr32[i]));
	for (i = 0; i < 4; i++)
		hash = bfc_mix(hash, be32_to_cpu(ip->v6.daddr.s6_addr32[i]));
	if (fabric_has_ports(ip->v6.nexthdr))
		hash = fabric_hash_ports(skb, offset + sizeof(ip->v6), hash);
	return bfc_flow(hash);
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

/* A packet was admitted to a band whose queue is neither a plain one nor isolates. Return: true: it
 * is queued; false: it goes to the fifo.
 */
bool fabric_band_queue(struct fabric_sched *q, struct fabric_band *band,
		       struct sk_buff *skb, u32 len)
{
	if (band->pfc) {
		fabric_pfc_arrive(q, skb, len);
		return false;
	}
	fabric_hash_arrive(q, skb, len, fabric_packet_flow(skb));
	return true;
}

/* A packet was taken out of such a band's fifo. */
void fabric_band_left(struct fabric_sched *q, struct fabric_band *band,
		      const struct sk_buff *skb, u32 len)
{
	if (band->pfc)
		fabric_pfc_leave(q, skb, len);
	else
		fabric_hash_leave(q, skb);
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
			      !band->limit_packets && !band->queue &&
			      !band->coloured && !band->ecn.red.max &&
			      !band->pass.rate_bps && !q->buffer && !q->border;
	}
}

/* What waited has gone without being served: the busy period may be over, unless packets are
 * parked, which are in no band's turn.
 */
void fabric_band_gone_idle(struct fabric_sched *q)
{
	if (!q->order.active && !q->sending && !q->waiting_bytes)
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
		u64 ready_ns = max(fabric_band_ready_ns(&q->bands[i]),
				   q->bands[i].paused_until_ns);

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
		if (unlikely(minor == FABRIC_MINOR_FRAMES && q->isolate))
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
