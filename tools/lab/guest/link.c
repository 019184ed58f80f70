// SPDX-License-Identifier: GPL-2.0
/*
 * Links between nodes, made by rtnetlink: lablink (rate, delay, noise) or veth.
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/veth.h>
#include <stddef.h>
#include <string.h>

#include "../kmod/lablink.h"
#include "netlink.h"

/* Attributes that any device has. */
static void link_common(const struct plan_end *end)
{
	netlink_attr(IFLA_IFNAME, end->dev, strlen(end->dev) + 1);
	netlink_u32(IFLA_NET_NS_FD, node_fd(end->node));
	if (end->mac.given)
		netlink_attr(IFLA_ADDRESS, end->mac.byte,
			     sizeof(end->mac.byte));
	if (end->gso_max_segs)
		netlink_u32(IFLA_GSO_MAX_SEGS, end->gso_max_segs);
	if (end->txqueuelen)
		netlink_u32(IFLA_TXQLEN, end->txqueuelen);
	if (end->mtu)
		netlink_u32(IFLA_MTU, end->mtu);
}

/* Attributes of one direction of a lablink. */
static void link_line(const struct plan_end *end)
{
	uint8_t offload = end->offload;

	netlink_u64(LABLINK_A_RATE_BPS, end->rate_bps);
	netlink_u64(LABLINK_A_DELAY_NS, end->delay_ns);
	netlink_u32(LABLINK_A_OVERHEAD_BYTES, end->overhead_bytes);
	netlink_u32(LABLINK_A_RING_PKTS, end->ring_pkts);
	netlink_attr(LABLINK_A_OFFLOAD, &offload, sizeof(offload));
	if (!end->noise_ns.count)
		return;
	netlink_attr(LABLINK_A_NOISE_NS, end->noise_ns.items,
		     end->noise_ns.count * sizeof(uint32_t));
	netlink_u32(LABLINK_A_NOISE_SEED, end->noise_seed);
}

/* Do both directions have the same settings, so that one message is enough? */
static bool link_symmetric(const struct plan_end *a, const struct plan_end *b)
{
	return a->rate_bps == b->rate_bps && a->delay_ns == b->delay_ns &&
	       a->overhead_bytes == b->overhead_bytes &&
	       a->ring_pkts == b->ring_pkts && a->offload == b->offload &&
	       !a->noise_ns.count && !b->noise_ns.count;
}

/* Gives end b its own settings. */
static void link_change(const struct plan_end *end)
{
	struct rtattr *info, *data;
	char reason[NETLINK_REASON_MAX];
	int error;

	netlink_begin(RTM_NEWLINK, 0,
		      sizeof(struct ifinfomsg));
	netlink_attr(IFLA_IFNAME, end->dev, strlen(end->dev) + 1);
	info = netlink_nest(IFLA_LINKINFO);
	netlink_attr(IFLA_INFO_KIND, LABLINK_KIND, sizeof(LABLINK_KIND) - 1);
	data = netlink_nest(IFLA_INFO_DATA);
	link_line(end);
	netlink_nest_end(data);
	netlink_nest_end(info);
	error = netlink_send(end->node, reason, sizeof(reason));
	if (error)
		lab_fail("node %s: cannot set up device %s: %s%s",
			 node_name(end->node), end->dev, strerror(-error),
			 reason);
}

/* Makes one link. */
static void link_make(const struct plan_link *link)
{
	bool exact = link->kind == PLAN_LABLINK;
	const struct plan_end *a = &link->end[0], *b = &link->end[1];
	const char *kind = exact ? LABLINK_KIND : "veth";
	struct rtattr *info, *data, *peer;
	char reason[NETLINK_REASON_MAX];
	int error;

	netlink_begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
		      sizeof(struct ifinfomsg));
	link_common(a);
	info = netlink_nest(IFLA_LINKINFO);
	netlink_attr(IFLA_INFO_KIND, kind, strlen(kind));
	data = netlink_nest(IFLA_INFO_DATA);
	peer = netlink_nest(exact ? LABLINK_A_PEER : VETH_INFO_PEER);
	netlink_room(sizeof(struct ifinfomsg));
	link_common(b);
	netlink_nest_end(peer);
	if (exact)
		link_line(a);
	netlink_nest_end(data);
	netlink_nest_end(info);
	error = netlink_send(PLAN_NO_NODE, reason, sizeof(reason));
	if (error)
		lab_fail("cannot make %s link %s:%s - %s:%s: %s%s%s", kind,
			 node_name(a->node), a->dev, node_name(b->node), b->dev,
			 strerror(-error), reason,
			 error == -EOPNOTSUPP ? " (is its module loaded?)" : "");
	if (exact && !link_symmetric(a, b))
		link_change(b);
}

/* Makes all links; the devices are down. */
void links_make(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->links.count; i++)
		link_make(PLAN_ITEM(struct plan_link, plan->links, i));
	node_enter(PLAN_NO_NODE);
}

static void link_up(int64_t node, const char *dev)
{
	struct ifinfomsg *ifi = netlink_begin(RTM_NEWLINK, 0, sizeof(*ifi));
	char reason[NETLINK_REASON_MAX];
	int error;

	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
	netlink_attr(IFLA_IFNAME, dev, strlen(dev) + 1);
	error = netlink_send(node, reason, sizeof(reason));
	if (error)
		lab_fail("node %s: cannot bring device %s up: %s%s",
			 node_name(node), dev, strerror(-error), reason);
}

/* Brings the loopback devices and all links up. */
void links_up(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nodes.count; i++)
		link_up(i, "lo");
	for (i = 0; i < 2 * plan->links.count; i++) {
		const struct plan_end *end =
			&PLAN_ITEM(struct plan_link, plan->links,
				   i / 2)->end[i % 2];

		link_up(end->node, end->dev);
	}
	node_enter(PLAN_NO_NODE);
}

/* Packets that a device has sent; 0 if an event has taken it away. */
static uint64_t link_packets(const struct plan_end *end)
{
	const struct nlmsghdr *answer;
	struct rtattr *attr;
	uint64_t packets = 0;
	int left;

	netlink_begin(RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	netlink_attr(IFLA_IFNAME, end->dev, strlen(end->dev) + 1);
	answer = netlink_ask(end->node);
	if (!answer)
		return 0;
	attr = IFLA_RTA(NLMSG_DATA(answer));
	left = IFLA_PAYLOAD(answer);
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if (attr->rta_type == IFLA_STATS64)
			memcpy(&packets, (char *)RTA_DATA(attr) +
			       offsetof(struct rtnl_link_stats64, tx_packets),
			       sizeof(packets));
	return packets;
}

/* Packets that all links have carried: packets times hops. */
uint64_t links_packets(const struct plan *plan)
{
	uint64_t packets = 0;
	size_t i;

	for (i = 0; i < 2 * plan->links.count; i++)
		packets += link_packets(&PLAN_ITEM(struct plan_link,
						   plan->links,
						   i / 2)->end[i % 2]);
	return packets;
}
