// SPDX-License-Identifier: GPL-2.0
/* Addresses, permanent neighbours and routes of every node: as lists in the
 * plan, which the guest sets up fast, and as `ip -batch` text where the
 * scenario adds attributes in ip's words or a link comes up again.
 *
 * Every port's far end is known as the same link-local gateway, whose hardware
 * address is a permanent neighbour of that port: no ARP, no subnets.
 */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

/* One route of a node. */
struct route {
	const char *dst;	/* address, NULL: everything */
	struct port **hop;
	int hops;
	bool quickack;		/* ACK every packet from there at once */
};

typedef void (*route_fn)(const struct scenario *sc, const struct node *n,
			 const struct route *r, void *out);

/* Address under which the far end of any link is a gateway. */
static const char *gateway(const struct scenario *sc)
{
	return sc->ipv6 ? "fe80::1" : "169.254.0.1";
}

/* Bits of an address. */
static int full_bits(const struct scenario *sc)
{
	return sc->ipv6 ? 128 : 32;
}

/* Source address of a node's packets; switches have none to prefer. */
static const char *source(const struct node *n)
{
	return n->is_switch ? NULL : n->addr;
}

/* Does every port of host @n lead to a switch? */
static bool behind_switches(const struct node *n)
{
	int i;

	for (i = 0; i < n->ports; i++)
		if (!n->port[i]->peer->node->is_switch)
			return false;
	return true;
}

/* Ports by which @n sends to host @to; returns how many. */
int route_hops(const struct scenario *sc, const struct node *n,
	       const struct node *to, struct port **hop)
{
	if (n->is_switch || !behind_switches(n))
		return next_hops(sc, n, to, hop);
	memcpy(hop, n->port, n->ports * sizeof(*hop));
	return n->ports;
}

/* Call @fn for every route of @n. */
static void each_route(const struct scenario *sc, const struct node *n,
		       route_fn fn, void *out)
{
	bool simple = !n->is_switch && behind_switches(n);
	struct port **hop = xmalloc(n->ports * sizeof(*hop));
	struct route r = { .hop = simple ? n->port : hop, .hops = n->ports };
	int i;

	if (simple)
		fn(sc, n, &r, out);
	for (i = 0; !simple && i < sc->nodes; i++) {
		if (sc->node[i] == n || sc->node[i]->is_switch)
			continue;
		r.dst = sc->node[i]->addr;
		r.hops = next_hops(sc, n, sc->node[i], hop);
		r.quickack = strv_has(&n->quickack, r.dst);
		if (r.hops)
			fn(sc, n, &r, out);
	}
	r.quickack = true;
	for (i = 0; simple && i < n->quickack.n; i++) {
		r.dst = n->quickack.s[i];
		fn(sc, n, &r, out);
	}
	free(hop);
}

/* A route in the words of ip. */
static void route_text(const struct scenario *sc, const struct node *n,
		       const struct route *r, void *out)
{
	const char *all = sc->ipv6 ? "::/0" : "default";
	struct buf b = { 0 };
	int i;

	if (r->dst)
		buf_addf(&b, "route replace %s/%d", r->dst, full_bits(sc));
	else
		buf_addf(&b, "route replace %s", all);
	if (source(n))
		buf_addf(&b, " src %s", source(n));
	if (n->route[0])
		buf_addf(&b, " %s", n->route);
	if (r->quickack)
		buf_addf(&b, " quickack 1");
	for (i = 0; i < r->hops; i++)
		buf_addf(&b, "%s via %s dev %s onlink",
			 r->hops > 1 ? " nexthop" : "", gateway(sc),
			 r->hop[i]->dev);
	strv_add(out, b.s);
}

/* Everything of node @n in the words of ip; can be repeated without harm. */
void node_batch(const struct scenario *sc, const struct node *n,
		struct strv *out)
{
	int i;

	for (i = 0; i < n->ports; i++) {
		const struct port *p = n->port[i];

		if (!i && source(n))
			strv_addf(out, "addr replace %s/%d dev %s%s", n->addr,
				  full_bits(sc), p->dev,
				  sc->ipv6 ? " nodad" : "");
		strv_addf(out, "neigh replace %s lladdr %s dev %s nud permanent",
			  gateway(sc), p->peer->mac, p->dev);
	}
	each_route(sc, n, route_text, out);
}

/* The routes of node @n in the words of ip. */
char *routes_batch(const struct scenario *sc, const struct node *n)
{
	struct strv lines = { 0 };
	struct buf b = { 0 };
	int i;

	each_route(sc, n, route_text, &lines);
	for (i = 0; i < lines.n; i++)
		buf_addf(&b, "%s\n", lines.s[i]);
	return b.s ? b.s : xstrdup("");
}

/* A route as an object of the plan. */
static void route_json(const struct scenario *sc, const struct node *n,
		       const struct route *r, void *out)
{
	cJSON *o = cJSON_CreateObject(), *hops;
	int i;

	cJSON_AddStringToObject(o, "node", n->name);
	cJSON_AddStringToObject(o, "dst", r->dst ? r->dst :
				sc->ipv6 ? "::" : "0.0.0.0");
	cJSON_AddNumberToObject(o, "bits", r->dst ? full_bits(sc) : 0);
	if (source(n))
		cJSON_AddStringToObject(o, "src", source(n));
	if (r->quickack)
		cJSON_AddTrueToObject(o, "quickack");
	hops = cJSON_AddArrayToObject(o, "hops");
	for (i = 0; i < r->hops; i++) {
		cJSON *h = cJSON_CreateObject();

		cJSON_AddStringToObject(h, "dev", r->hop[i]->dev);
		cJSON_AddStringToObject(h, "via", gateway(sc));
		cJSON_AddItemToArray(hops, h);
	}
	cJSON_AddItemToArray(out, o);
}

/* An object of the plan for a device of a node. */
static cJSON *device_json(cJSON *list, const struct node *n, const char *dev,
			  const char *addr)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "node", n->name);
	cJSON_AddStringToObject(o, "dev", dev);
	cJSON_AddStringToObject(o, "addr", addr);
	cJSON_AddItemToArray(list, o);
	return o;
}

/* Add addresses, neighbours and routes of all nodes to the plan. A host whose
 * routes have attributes of the scenario gets them by ip instead.
 */
void plan_network(cJSON *plan, const struct scenario *sc)
{
	cJSON *addr = cJSON_AddArrayToObject(plan, "addr");
	cJSON *neigh = cJSON_AddArrayToObject(plan, "neigh");
	cJSON *route = cJSON_AddArrayToObject(plan, "route");
	cJSON *ip = cJSON_AddArrayToObject(plan, "ip"), *o;
	int i, k;

	for (i = 0; i < sc->nodes; i++) {
		const struct node *n = sc->node[i];
		struct strv text = { 0 };

		o = device_json(addr, n, n->is_switch ? "lo" : n->port[0]->dev,
				n->addr);
		cJSON_AddNumberToObject(o, "bits", full_bits(sc));
		for (k = 0; k < n->ports; k++) {
			o = device_json(neigh, n, n->port[k]->dev,
					gateway(sc));
			cJSON_AddStringToObject(o, "mac",
						n->port[k]->peer->mac);
		}
		if (!n->route[0]) {
			each_route(sc, n, route_json, route);
			continue;
		}
		each_route(sc, n, route_text, &text);
		o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "node", n->name);
		add_strings(o, "batch", &text);
		cJSON_AddItemToArray(ip, o);
	}
}
