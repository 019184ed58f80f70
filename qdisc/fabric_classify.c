// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: which band and which colour.
 *
 * In this order: skb priority that names a class of this qdisc, filters, DSCP
 * table, priority map, default band. The first three may be absent.
 */
#include <linux/if_vlan.h>
#include <net/dsfield.h>
#include <net/pkt_cls.h>

#include "fabric.h"

/* DSCP of an IP packet, or -1 for another, one that is cut off, or one whose
 * link layer lies.
 */
static int fabric_dscp(struct sk_buff *skb)
{
	int offset = skb_network_offset(skb);

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (offset < 0 ||
		    !pskb_network_may_pull(skb, sizeof(struct iphdr)) ||
		    ip_hdr(skb)->version != 4)
			return -1;
		return ipv4_get_dsfield(ip_hdr(skb)) >> 2;
	case htons(ETH_P_IPV6):
		if (offset < 0 ||
		    !pskb_network_may_pull(skb, sizeof(struct ipv6hdr)) ||
		    ipv6_hdr(skb)->version != 6)
			return -1;
		return ipv6_get_dsfield(ipv6_hdr(skb)) >> 2;
	default:
		return -1;
	}
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

	if (TC_H_MAJ(skb->priority) == sch->handle)
		minor = TC_H_MIN(skb->priority);
	else if (rcu_access_pointer(q->filters))
		minor = fabric_filter(skb, q);
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
