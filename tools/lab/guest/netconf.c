// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses, neighbours and routes by rtnetlink. `ip` could do it, but in the
 * guest each start of a program costs more than a thousand messages.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <string.h>

#include "netlink.h"

/* Number of a device in a node; the last answer is remembered. */
static uint32_t device_index(int64_t node, const char *dev)
{
	static int64_t last_node = PLAN_NO_NODE;
	static char last_dev[IFNAMSIZ];
	static uint32_t last_index;
	const struct nlmsghdr *answer;
	const struct ifinfomsg *info;

	if (node == last_node && !strcmp(dev, last_dev))
		return last_index;
	netlink_begin(RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	netlink_attr(IFLA_IFNAME, dev, strlen(dev) + 1);
	answer = netlink_ask(node);
	if (!answer)
		lab_fail("node %s: there is no device %s", node_name(node),
			 dev);
	info = NLMSG_DATA(answer);
	last_node = node;
	last_index = info->ifi_index;
	snprintf(last_dev, sizeof(last_dev), "%s", dev);
	return last_index;
}

/* Appends an attribute that is an IP address. */
static void address_attr(unsigned short type, const struct plan_addr *addr)
{
	netlink_attr(type, &addr->v4, addr->family == AF_INET6 ?
				      sizeof(addr->v6) : sizeof(addr->v4));
}

static const char *address_text(const struct plan_addr *addr)
{
	static char text[INET6_ADDRSTRLEN];

	inet_ntop(addr->family, &addr->v4, text, sizeof(text));
	return text;
}

/* Sends the message; @what and @addr say what failed. */
static void send_or_fail(int64_t node, const char *what,
			 const struct plan_addr *addr)
{
	char reason[NETLINK_REASON_MAX];
	int error = netlink_send(node, reason, sizeof(reason));

	if (error)
		lab_fail("node %s: cannot add %s %s: %s%s", node_name(node),
			 what, address_text(addr), strerror(-error), reason);
}

static void address_add(const struct plan_netaddr *a)
{
	uint32_t index = device_index(a->node, a->dev);
	struct ifaddrmsg *ifa;

	ifa = netlink_begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE,
			    sizeof(*ifa));
	ifa->ifa_family = a->addr.family;
	ifa->ifa_prefixlen = a->bits;
	ifa->ifa_flags = a->addr.family == AF_INET6 ? IFA_F_NODAD : 0;
	ifa->ifa_index = index;
	address_attr(IFA_LOCAL, &a->addr);
	address_attr(IFA_ADDRESS, &a->addr);
	send_or_fail(a->node, "address", &a->addr);
}

static void neighbour_add(const struct plan_neigh *n)
{
	uint32_t index = device_index(n->node, n->dev);
	struct ndmsg *nd;

	nd = netlink_begin(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE,
			   sizeof(*nd));
	nd->ndm_family = n->addr.family;
	nd->ndm_ifindex = index;
	nd->ndm_state = NUD_PERMANENT;
	address_attr(NDA_DST, &n->addr);
	netlink_attr(NDA_LLADDR, n->mac.byte, sizeof(n->mac.byte));
	send_or_fail(n->node, "neighbour", &n->addr);
}

/* The next hops of a route with several. */
static void route_hops(const struct plan_route *r, const uint32_t *index)
{
	struct rtattr *nest = netlink_nest(RTA_MULTIPATH);
	size_t i;

	for (i = 0; i < r->hops.count; i++) {
		const struct plan_hop *h =
			PLAN_ITEM(struct plan_hop, r->hops, i);
		struct rtnexthop *nh = netlink_room(sizeof(*nh));
		size_t bytes = h->via.family == AF_INET6 ?
			       sizeof(h->via.v6) : sizeof(h->via.v4);

		nh->rtnh_flags = RTNH_F_ONLINK;
		nh->rtnh_ifindex = index[i];
		address_attr(RTA_GATEWAY, &h->via);
		nh->rtnh_len = sizeof(*nh) + RTA_SPACE(bytes);
	}
	netlink_nest_end(nest);
}

static void route_add(const struct plan_route *r)
{
	uint32_t index[256];
	struct rtmsg *rt;
	size_t i;

	if (r->hops.count > 256)
		lab_fail("node %s: a route with more than 256 hops",
			 node_name(r->node));
	for (i = 0; i < r->hops.count; i++)
		index[i] = device_index(r->node,
					PLAN_ITEM(struct plan_hop, r->hops,
						  i)->dev);
	rt = netlink_begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE,
			   sizeof(*rt));
	rt->rtm_family = r->dst.family;
	rt->rtm_dst_len = r->bits;
	rt->rtm_table = RT_TABLE_MAIN;
	rt->rtm_protocol = RTPROT_STATIC;
	rt->rtm_scope = RT_SCOPE_UNIVERSE;
	rt->rtm_type = RTN_UNICAST;
	if (r->bits)
		address_attr(RTA_DST, &r->dst);
	if (r->src.family)
		address_attr(RTA_PREFSRC, &r->src);
	if (r->quickack) {
		struct rtattr *metrics = netlink_nest(RTA_METRICS);

		netlink_u32(RTAX_QUICKACK, 1);
		netlink_nest_end(metrics);
	}
	if (r->hops.count == 1) {
		rt->rtm_flags = RTNH_F_ONLINK;
		netlink_u32(RTA_OIF, index[0]);
		address_attr(RTA_GATEWAY,
			     &PLAN_ITEM(struct plan_hop, r->hops, 0)->via);
	} else {
		route_hops(r, index);
	}
	send_or_fail(r->node, "a route to", &r->dst);
}

/* Gives the nodes what the plan says; the devices must be up. */
void netconf_make(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->addr.count; i++)
		address_add(PLAN_ITEM(struct plan_netaddr, plan->addr, i));
	for (i = 0; i < plan->neigh.count; i++)
		neighbour_add(PLAN_ITEM(struct plan_neigh, plan->neigh, i));
	for (i = 0; i < plan->route.count; i++)
		route_add(PLAN_ITEM(struct plan_route, plan->route, i));
	node_enter(PLAN_NO_NODE);
}
