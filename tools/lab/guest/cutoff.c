// SPDX-License-Identifier: GPL-2.0
/*
 * The cut-off of a flow: from one moment on its socket sends nothing more,
 * neither new data nor retransmissions nor probes of its congestion control,
 * but still takes in acknowledgments for what is in flight.
 *
 * No socket option does that. A close sends FIN or RST, and each later
 * acknowledgment would be answered by a RST; TCP_REPAIR counts as sent what it
 * keeps back, and sends it when it looks lost. So a routing rule in each
 * source node has no route for packets with our mark, and SO_MARK cuts off.
 */
#include <linux/fib_rules.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "netlink.h"
#include "traffic.h"

#define CUTOFF_MARK		0x1abc0ff
#define CUTOFF_PRIORITY		100	/* before the main routing table */

/* Has one node drop what is marked. */
static void cutoff_rule(int64_t node, int family)
{
	char reason[NETLINK_REASON_MAX];
	struct fib_rule_hdr *rule;
	int error;

	rule = netlink_begin(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL,
			     sizeof(*rule));
	rule->family = family;
	rule->action = FR_ACT_BLACKHOLE;
	netlink_u32(FRA_PRIORITY, CUTOFF_PRIORITY);
	netlink_u32(FRA_FWMARK, CUTOFF_MARK);
	error = netlink_send(node, reason, sizeof(reason));
	if (error)
		lab_fail("node %s: cannot add a routing rule: %s%s (needs CONFIG_IP_MULTIPLE_TABLES, CONFIG_IPV6_MULTIPLE_TABLES)",
			 node_name(node), strerror(-error), reason);
}

/* May the flow be stopped before its end? */
static bool cutoff_possible(const struct plan *plan, size_t index)
{
	size_t i, j;

	if (flows[index].plan->stop_ns >= 0)
		return true;
	for (i = 0; i < plan->events.count; i++) {
		const struct plan_event *event =
			PLAN_ITEM(struct plan_event, plan->events, i);

		for (j = 0; j < event->stop.count; j++)
			if (*PLAN_ITEM(int64_t, event->stop, j) ==
			    (int64_t)index)
				return true;
	}
	return false;
}

/* Prepares the source nodes of all flows that will be stopped. */
void cutoff_prepare(const struct plan *plan)
{
	enum { V4 = 1, V6 = 2 };
	unsigned char *done = calloc(plan->nodes.count + 1, 1);
	size_t i;

	if (!done)
		lab_fail("no memory for %zu nodes", plan->nodes.count);
	for (i = 0; i < flows_count; i++) {
		const struct plan_flow *flow = flows[i].plan;
		int want = flow->src_addr.family == AF_INET ? V4 : V6;

		if (done[flow->src] & want || !cutoff_possible(plan, i))
			continue;
		done[flow->src] |= want;
		cutoff_rule(flow->src, flow->src_addr.family);
	}
	free(done);
}

/* From now on the flow's sender sends nothing more. */
void cutoff_now(const struct flow *flow)
{
	socket_option(flow, flow->fd, SOL_SOCKET, SO_MARK, CUTOFF_MARK,
		      "SO_MARK");
}
