// SPDX-License-Identifier: GPL-2.0
/* fairlane fabric load: compares a file of routes with what this kernel answers: for each
 * destination the device, and among equal routes what it chooses for sample flows.
 */
#include "tool.h"
#include "fabricload.h"
#include "core/path.h"

#include <arpa/inet.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SAMPLES_GROUP	64	/* flows of which equal routes are asked, at least one a prefix */
#define SAMPLES_PREFIX	16
#define SAMPLE_PORTS	1024	/* the first port of samples */

/**
 * struct asking - a switch that is compared
 * @f: the file
 * @sw: the switch
 * @route: its groups, by prefix
 * @device: its ports' devices
 * @sock: to ask the kernel
 * @forwards: by IP version, IPv6 second: it passes on packets of others
 * @asked: by group: flows so far
 */
struct asking {
	const struct fabric_file *f;
	struct path_switch sw;
	const uint16_t *route;
	const int32_t *device;
	struct nl_sock *sock;
	bool forwards[2];
	unsigned int *asked;
};

/**
 * struct answer - what the kernel said of a route
 * @device: where packets go, 0: nothing was said
 * @source: which address it would give them
 */
struct answer {
	int device;
	uint8_t source[16];
};

static int on_answer(struct nl_msg *msg, void *arg)
{
	struct nlattr *a[RTA_MAX + 1];
	struct answer *answer = arg;

	if (nlmsg_parse(nlmsg_hdr(msg), sizeof(struct rtmsg), a, RTA_MAX, NULL))
		return NL_SKIP;
	if (a[RTA_OIF])
		answer->device = nla_get_u32(a[RTA_OIF]);
	if (a[RTA_PREFSRC])
		nla_memcpy(answer->source, a[RTA_PREFSRC], sizeof(answer->source));
	return NL_OK;
}

/* Asks where a packet goes that came by device @from, 0: that is made here. @with_source: as it
 * says in the packet, else the kernel chooses it.
 */
static struct answer ask(const struct asking *q, const struct path_flow *flow, int from,
			 bool with_source)
{
	int bytes = flow->v6 ? 16 : 4;
	struct rtmsg rtm = {
		.rtm_family = flow->v6 ? AF_INET6 : AF_INET,
		.rtm_dst_len = bytes * 8,
		.rtm_src_len = with_source ? bytes * 8 : 0,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETROUTE, 0);
	struct answer answer = { 0 };

	if (!msg || nlmsg_append(msg, &rtm, sizeof(rtm), NLMSG_ALIGNTO) ||
	    nla_put(msg, RTA_DST, bytes, flow->dst) ||
	    (with_source && nla_put(msg, RTA_SRC, bytes, flow->src)) ||
	    (from && nla_put_u32(msg, RTA_IIF, from)) ||
	    nla_put_u8(msg, RTA_IP_PROTO, flow->proto) ||
	    nla_put_u16(msg, RTA_SPORT, flow->sport) ||
	    nla_put_u16(msg, RTA_DPORT, flow->dport))
		fail_kernel("out of memory");
	nl_socket_modify_cb(q->sock, NL_CB_VALID, NL_CB_CUSTOM, on_answer, &answer);
	if (nl_send_auto(q->sock, msg) >= 0)
		nl_recvmsgs_default(q->sock);
	nlmsg_free(msg);
	return answer;
}

/* The port by which the file says that a flow leaves; -1: it does not say. */
static int file_says(const struct asking *q, const struct fabric_table_group *group,
		     const struct path_flow *flow)
{
	const struct fabric_table_via *via = &q->f->via[group->first];
	struct path_via *share;
	uint16_t *weight;
	uint32_t hash;
	int i;

	if (group->count == 1)
		return via->port;
	if (!q->sw.seed)
		return -1;
	share = xalloc(group->count * sizeof(*share));
	weight = xalloc(group->count * sizeof(*weight));
	for (i = 0; i < group->count; i++)
		weight[i] = via[i].weight;
	path_bounds(share, weight, group->count);
	hash = path_hash(&q->sw, flow);
	for (i = 0; i + 1 < group->count; i++)
		if (share[i].bound >= 0 && hash <= (uint32_t)share[i].bound)
			break;
	free(share);
	free(weight);
	return via[i].port;
}

static bool in_group(const struct asking *q, const struct fabric_table_group *group,
		     unsigned int port)
{
	int i;

	for (i = 0; i < group->count; i++)
		if (q->f->via[group->first + i].port == port)
			return true;
	return false;
}

/* The port that a device is, -1: none that is known. */
static int port_of(const struct asking *q, int device)
{
	int i;

	for (i = 0; i < FABRIC_PORTS_MAX; i++)
		if (device && q->device[i] == device)
			return i;
	return -1;
}

/* The @n-th address of a prefix, but the first and the last. */
static void address_of(const struct fabric_table_prefix *prefix, unsigned int n, uint8_t *addr)
{
	int bytes = prefix->v6 ? 16 : 4, bits = bytes * 8 - prefix->bits;

	memcpy(addr, prefix->addr, sizeof(prefix->addr));
	if (bits > 8)
		bits = 8;
	if (bits > 1)
		addr[bytes - 1] |= 1 + n % ((1 << bits) - 2);
}

/* Finds a packet for @to that others send through this switch: whose source is behind another
 * port. Returns the device by which it comes, 0: there is none.
 */
static int find_source(const struct asking *q, size_t to, unsigned int n, struct path_flow *flow)
{
	const struct fabric_table_group *out = &q->f->group[q->route[to]];
	size_t i, at;
	unsigned int port;

	for (i = 0; i < q->f->prefixes; i++) {
		at = (to + i + n) % q->f->prefixes;
		if (q->route[at] == FABRIC_TABLE_NONE || q->f->prefix[at].v6 != flow->v6)
			continue;
		port = q->f->via[q->f->group[q->route[at]].first].port;
		if (port >= FABRIC_PORTS_MAX || !q->device[port] || in_group(q, out, port))
			continue;
		address_of(&q->f->prefix[at], n, flow->src);
		return q->device[port];
	}
	return 0;
}

static const char *flow_text(const struct path_flow *flow)
{
	static char text[160];
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	int family = flow->v6 ? AF_INET6 : AF_INET;

	snprintf(text, sizeof(text), "TCP from %s port %u to %s port %u",
		 inet_ntop(family, flow->src, src, sizeof(src)), ntohs(flow->sport),
		 inet_ntop(family, flow->dst, dst, sizeof(dst)), ntohs(flow->dport));
	return text;
}

/* Compares one flow, the @n-th of its group. */
static void compare(const struct asking *q, size_t to, unsigned int n, struct path_flow *flow)
{
	const struct fabric_table_group *group = &q->f->group[q->route[to]];
	struct answer answer;
	int from = 0, said, port;

	if (q->forwards[flow->v6])
		from = find_source(q, to, n, flow);
	if (from) {
		answer = ask(q, flow, from, true);
	} else {
		answer = ask(q, flow, 0, false);
		memcpy(flow->src, answer.source, sizeof(flow->src));
		if (group->count > 1)
			answer = ask(q, flow, 0, true);
	}
	said = file_says(q, group, flow);
	port = port_of(q, answer.device);
	if (said < 0 ? answer.device && (port < 0 || in_group(q, group, port)) :
	    answer.device && (port == said || (port < 0 && (said >= FABRIC_PORTS_MAX ||
							   !q->device[said]))))
		return;
	fail_kernel("load: %s: switch %u: %s leaves by port %d, says the file; the kernel, by %s %d: are routes, fib_multipath_hash_policy and fib_multipath_hash_seed those of the file?",
		    q->f->name, q->sw.id, flow_text(flow), said,
		    port < 0 ? "device" : "port", port < 0 ? answer.device : port);
}

/* Flows to one destination. */
static void compare_prefix(const struct asking *q, size_t to)
{
	const struct fabric_table_prefix *prefix = &q->f->prefix[to];
	uint16_t group = q->route[to];
	unsigned int samples = 1, i;

	if (q->f->group[group].count > 1 && q->asked[group] < SAMPLES_GROUP)
		samples = SAMPLES_PREFIX;
	for (i = 0; i < samples; i++) {
		unsigned int n = q->asked[group]++;
		struct path_flow flow = {
			.sport = htons(SAMPLE_PORTS + n * 7 % 50000),
			.dport = htons(SAMPLE_PORTS + n * 131 % 50000),
			.proto = IPPROTO_TCP, .v6 = prefix->v6,
		};

		address_of(prefix, n, flow.dst);
		compare(q, to, n, &flow);
	}
}

static bool forwards(const char *path)
{
	char *text = read_text(path);
	bool yes = text && atoi(text) > 0;

	free(text);
	return yes;
}

void fabric_ask(const struct fabric_file *f, size_t self, const int32_t *device)
{
	struct asking q = {
		.f = f, .device = device, .route = f->route + self * f->prefixes,
		.sw = {
			.id = f->sw[self].id, .seed = f->sw[self].seed,
			.policy = f->sw[self].policy, .fields = f->sw[self].fields,
		},
		.forwards = { forwards("/proc/sys/net/ipv4/ip_forward"),
			      forwards("/proc/sys/net/ipv6/conf/all/forwarding") },
		.sock = nl_socket_alloc(),
		.asked = xalloc(f->groups * sizeof(*q.asked)),
	};
	size_t i;

	memset(q.asked, 0, f->groups * sizeof(*q.asked));
	if (!q.sock || nl_connect(q.sock, NETLINK_ROUTE))
		fail_kernel("no netlink socket");
	nl_socket_disable_auto_ack(q.sock);
	for (i = 0; i < f->prefixes; i++)
		if (q.route[i] != FABRIC_TABLE_NONE)
			compare_prefix(&q, i);
	free(q.asked);
	nl_socket_free(q.sock);
}
