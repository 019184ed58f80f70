// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: which ports a packet passes after this one. It is computed from the switch's
 * table once for each flow at each port, and remembered.
 *
 * When another table comes into use, the packets of a flow that are parked and those that come
 * after them would disagree where to wait. So a flow keeps its old way until none of its
 * packets is parked at the port.
 */
#include <linux/in.h>
#include <net/ipv6.h>

#include "fabric_isolate.h"

#define FABRIC_WAYS_MASK	(FABRIC_WAYS - 1)
#define FABRIC_WAYS_TRIED	4	/* places in which a flow may be remembered */
#define FABRIC_WAY_PLAIN	0x45	/* first byte of IPv4 without options */
#define FABRIC_WAY_SPREAD	0x9e3779b97f4a7c15ULL	/* 2^64 over the golden ratio */

/* The ports of a flow, where the kernel's hash sees some. */
static void fabric_way_ports(const struct sk_buff *skb, struct path_flow *flow, int offset)
{
	int at = proto_ports_offset(flow->proto);
	const u16 *ports;
	u16 buffer[2];

	if (at < 0)
		return;
	ports = skb_header_pointer(skb, offset + at, sizeof(buffer), buffer);
	if (!ports)
		return;
	flow->sport = ports[0];
	flow->dport = ports[1];
}

static void fabric_way_four(const struct sk_buff *skb, struct path_flow *flow,
			    const struct iphdr *ip, int offset)
{
	memcpy(flow->src, &ip->saddr, sizeof(ip->saddr));
	memcpy(flow->dst, &ip->daddr, sizeof(ip->daddr));
	flow->proto = ip->protocol;
	if (!ip_is_fragment(ip))
		fabric_way_ports(skb, flow, offset + ip->ihl * 4);
}

/* A packet that may have tags, or its headers in parts. Return: false: it is no IP. */
static noinline bool fabric_way_any(const struct sk_buff *skb, struct path_flow *flow)
{
	int version, offset = fabric_find_ip(skb, &version);
	struct ipv6hdr buffer, *ip6;
	__be16 fragment = 0;
	struct iphdr *ip;

	if (offset < 0)
		return false;
	if (version == 4) {
		ip = skb_header_pointer(skb, offset, sizeof(*ip), &buffer);
		if (ip)
			fabric_way_four(skb, flow, ip, offset);
		return ip;
	}
	ip6 = skb_header_pointer(skb, offset, sizeof(*ip6), &buffer);
	if (!ip6)
		return false;
	flow->v6 = true;
	memcpy(flow->src, &ip6->saddr, sizeof(ip6->saddr));
	memcpy(flow->dst, &ip6->daddr, sizeof(ip6->daddr));
	flow->proto = ip6->nexthdr;
	offset = ipv6_skip_exthdr(skb, offset + sizeof(*ip6), &flow->proto, &fragment);
	if (offset > 0 && !fragment)
		fabric_way_ports(skb, flow, offset);
	return true;
}

/* What the kernel's hash sees of a packet. Return: false: it is no IP. */
static bool fabric_way_flow(const struct sk_buff *skb, struct path_flow *flow)
{
	int offset = skb_network_offset(skb);
	const struct iphdr *ip = (const void *)(skb->data + offset);

	/* A header that is not there is far beyond the end. */
	if (unlikely(skb->protocol != htons(ETH_P_IP) ||
		     (u64)(u32)offset + sizeof(*ip) > skb_headlen(skb) || ip->version != 4))
		return fabric_way_any(skb, flow);
	fabric_way_four(skb, flow, ip, offset);
	return true;
}

/* Where a flow is remembered first, by its addresses and the rest. */
static unsigned int fabric_way_hash(u64 src, u64 dst, u64 rest)
{
	u64 hash = ((src ^ rol64(dst, 32)) * FABRIC_WAY_SPREAD ^ rest) * FABRIC_WAY_SPREAD;

	return hash >> (64 - FABRIC_WAYS_BITS);
}

static bool fabric_way_is(const struct fabric_way *way, const union fabric_flow *key)
{
	return way->generation && way->key.word[4] == key->word[4] &&
	       way->key.word[0] == key->word[0] && way->key.word[2] == key->word[2] &&
	       way->key.word[1] == key->word[1] && way->key.word[3] == key->word[3];
}

/* Computes the way of a flow that leaves by this port. */
static noinline void fabric_way_find(struct fabric_isolate_port *p, const struct fabric_table *t,
				     const union fabric_flow *key, struct fabric_way *way)
{
	const struct path_flow *flow = &key->flow;
	u16 dest = path_dest(&t->paths, flow->v6, flow->dst), next = t->next[p->index];

	way->key = *key;
	way->generation = t->generation;
	path_find(&t->paths, t->self, dest, flow, &way->path);
	way->here = way->path.hops ? PYR_ROOT_PORT(way->path.hop[0]) : PATH_NONE;
	path_find(&t->paths, next, dest, flow, &way->path);
	way->known = way->path.hops || (next == PATH_NONE && dest != PATH_NONE);
	way->right = way->known && way->here == p->index;
}

/* The place of a flow: where it is, else where another may be forgotten, else the spare one. */
static struct fabric_way *fabric_way_place(struct fabric_isolate_port *p,
					   const union fabric_flow *key)
{
	unsigned int at = fabric_way_hash(key->word[0] ^ key->word[1],
					  key->word[2] ^ key->word[3], key->word[4]), i;
	struct fabric_way *way, *place = NULL;

	for (i = 0; i < FABRIC_WAYS_TRIED; i++) {
		way = &p->way[(at + i) & FABRIC_WAYS_MASK];
		if (fabric_way_is(way, key))
			return way;
		if (!way->parked && (!place || (place->generation && !way->generation)))
			place = way;
	}
	if (!place)
		place = &p->way[FABRIC_WAYS];
	place->generation = 0;
	return place;
}

/* Four bytes of a packet where a key has them. */
static inline u64 fabric_way_word(u32 first, u32 second)
{
	union {
		u32 half[2];
		u64 word;
	} both = { .half = { first, second } };

	return both.word;
}

/* The way of a plain packet of TCP or UDP over IPv4, if it is known by the table @t, and right, and
 * in its first place. Return: it or NULL.
 */
static inline struct fabric_way *fabric_way_quick(struct fabric_isolate_port *p,
						  const struct sk_buff *skb,
						  const struct fabric_table *t)
{
	int offset = skb_network_offset(skb);
	const struct iphdr *ip = (const void *)(skb->data + offset);
	union {
		u8 byte[4];
		u32 word;
	} tail = { .byte = { 0 } };
	struct fabric_way *way;
	u64 src, dst, rest;

	if (skb->protocol != htons(ETH_P_IP) ||
	    (u64)(u32)offset + sizeof(*ip) + sizeof(u32) > skb_headlen(skb) ||
	    *(const u8 *)ip != FABRIC_WAY_PLAIN || ip_is_fragment(ip) ||
	    (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP))
		return NULL;
	tail.byte[0] = ip->protocol;
	src = fabric_way_word((__force u32)ip->saddr, 0);
	dst = fabric_way_word((__force u32)ip->daddr, 0);
	rest = fabric_way_word(*(const u32 *)(ip + 1), tail.word);
	way = &p->way[fabric_way_hash(src, dst, rest)];
	/* The last word says that it is IPv4, then the others are 0. */
	if (way->generation != t->generation || !way->right || way->key.word[4] != rest ||
	    way->key.word[0] != src || way->key.word[2] != dst)
		return NULL;
	return way;
}

/* The same of any packet; what is not known is computed. */
static noinline struct fabric_way *fabric_way_search(struct fabric_isolate_port *p,
						     const struct sk_buff *skb,
						     const struct fabric_table *t, bool arrives)
{
	union fabric_flow key = { 0 };
	struct fabric_way *way;

	BUILD_BUG_ON(sizeof(struct path_flow) > sizeof(key.word));
	BUILD_BUG_ON(offsetof(struct path_flow, sport) != 4 * sizeof(u64) ||
		     offsetof(struct path_flow, proto) != 4 * sizeof(u64) + sizeof(u32));
	if (!t || !fabric_way_flow(skb, &key.flow)) {
		WRITE_ONCE(p->no_path, p->no_path + arrives);
		return NULL;
	}
	way = fabric_way_place(p, &key);
	if (unlikely(way->generation != t->generation) &&
	    (!way->parked || way == &p->way[FABRIC_WAYS]))
		fabric_way_find(p, t, &key, way);
	if (!arrives)
		return way;
	/* by the table before, if packets wait that it has told: those after them keep their way */
	if (way->here != PATH_NONE) {
		WRITE_ONCE(p->foretold, p->foretold + 1);
		if (unlikely(way->here != p->index))
			WRITE_ONCE(p->mistold, p->mistold + 1);
	}
	if (unlikely(!way->known))
		WRITE_ONCE(p->no_path, p->no_path + 1);
	return way;
}

/**
 * fabric_way_look() - the way of a packet after a port
 * @p: the port
 * @skb: the packet
 * @arrives: it has just come: whether the table is right is counted
 *
 * Context: softirq, the port's root lock.
 * Return: the way, valid until the next call for this port; NULL: nothing is known.
 */
struct fabric_way *fabric_way_look(struct fabric_isolate_port *p, const struct sk_buff *skb,
				   bool arrives)
{
	const struct fabric_table *t = rcu_dereference_bh(p->iso->table);
	struct fabric_way *way = t && arrives ? fabric_way_quick(p, skb, t) : NULL;

	if (unlikely(!way))
		return fabric_way_search(p, skb, t, arrives);
	WRITE_ONCE(p->foretold, p->foretold + 1);
	return way;
}

/* The way of a parked packet. Context and result as above. */
struct fabric_way *fabric_way_of(struct fabric_isolate_port *p, const struct sk_buff *skb)
{
	u16 place = fabric_cb(skb)->way;

	return likely(place < FABRIC_WAYS) ? &p->way[place] : fabric_way_look(p, skb, false);
}

/* A packet of the way was parked. */
void fabric_way_park(struct fabric_isolate_port *p, struct fabric_way *way, struct sk_buff *skb)
{
	fabric_cb(skb)->way = way - p->way;
	way->parked++;
}

/* A parked packet is so no longer. */
void fabric_way_unpark(struct fabric_isolate_port *p, const struct sk_buff *skb)
{
	p->way[fabric_cb(skb)->way].parked--;
}

/**
 * fabric_table_believes() - can what a frame tells be?
 * @iso: the switch
 * @port: by which it came
 * @frame: the frame
 *
 * Context: RCU.
 * Return: false: no packet that leaves by @port passes that root at that distance.
 */
bool fabric_table_believes(const struct fabric_isolate *iso, u8 port,
			   const struct pyr_frame *frame)
{
	const struct fabric_table *t = rcu_dereference(iso->table);

	if (!t || (frame->type != PYR_PAUSE && frame->type != PYR_MERGE))
		return true;
	if (t->next[port] == PATH_NONE)
		return false;
	return path_reaches(&t->paths, t->reach + (size_t)port * t->paths.switches,
			    frame->type == PYR_MERGE ? frame->into : frame->root,
			    frame->distance);
}
