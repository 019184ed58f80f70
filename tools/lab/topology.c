// SPDX-License-Identifier: GPL-2.0
/* Hosts, switches and the links between them. A port is named by the two
 * nodes of its link: "s1:h9" is the port of s1 towards h9, and its network
 * device inside s1 is called h9.
 */
#include "scenario.h"
#include "kmod/lablink.h"
#include "units.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The rate of a link under @key, @dflt without one. */
int64_t link_rate(struct ynode *map, const char *key, int64_t dflt)
{
	int64_t bps = y_rate(map, key, dflt);

	if (y_get(map, key) && bps < (int64_t)LABLINK_RATE_MIN_BPS)
		y_error(y_find(map, key), "a link needs a rate of 1 kbit/s at least");
	y_at_most(map, key, bps, LABLINK_RATE_MAX_BPS, "10 Tbit/s");
	return bps;
}

/* The delay of a link under @key, @dflt without one. */
int64_t link_delay(struct ynode *map, const char *key, int64_t dflt)
{
	int64_t ns = y_time(map, key, dflt);

	y_at_most(map, key, ns, LABLINK_DELAY_MAX_NS, "10 s");
	return ns;
}

/* Read the keys that describe a link; what is absent stays as it is. */
void link_params_read(struct ynode *map, struct link_params *p)
{
	static const char *const kinds[] = { "lablink", "veth", NULL };

	p->veth = y_choice(map, "kind", kinds, p->veth);
	p->rate_bps = link_rate(map, "rate", p->rate_bps);
	p->delay_ns = link_delay(map, "delay", p->delay_ns);
	p->mtu = y_int(map, "mtu", p->mtu, 576, 65000);
	p->overhead_bytes = y_int(map, "overhead", p->overhead_bytes, 0,
				  LABLINK_OVERHEAD_MAX);
	p->ring_pkts = y_int(map, "ring", p->ring_pkts, 1, LABLINK_RING_MAX);
	p->offload = y_bool(map, "offload", p->offload);
	noise_load(map, "noise", &p->noise);
}

/* Add a node or say why its name cannot be used. */
struct node *node_add(struct scenario *sc, const struct ynode *y,
		      const char *name, bool is_switch)
{
	struct node *n = xzalloc(sizeof(*n));
	const char *s;

	if (!name[0] || strlen(name) >= NAME_LEN)
		y_error(y, "node name \"%s\" must have 1 to %d letters", name,
			NAME_LEN - 1);
	for (s = name; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '-' && *s != '_')
			y_error(y, "node name \"%s\": only letters, digits, - and _",
				name);
	if (!strcmp(name, "lo") || !strcmp(name, "all") ||
	    !strcmp(name, "default"))
		y_error(y, "a node cannot be called \"%s\"", name);
	if (node_find(sc, name))
		y_error(y, "node %s exists already", name);
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->is_switch = is_switch;
	n->index = sc->nodes;
	n->route = "";
	if (sc->ipv6)
		snprintf(n->addr, sizeof(n->addr), "fd00::%x:%x",
			 is_switch ? 2 : 1, n->index + 1);
	else
		snprintf(n->addr, sizeof(n->addr), "10.%d.%d.%d",
			 is_switch ? 255 : (n->index + 1) >> 16,
			 ((n->index + 1) >> 8) & 255, (n->index + 1) & 255);
	sc->node = grow(sc->node, sc->nodes, sizeof(n));
	sc->node[sc->nodes++] = n;
	return n;
}

/* Make one end of a link. */
static void port_init(struct scenario *sc, struct port *p, struct node *node,
		      struct port *peer, struct node *to, int end)
{
	int i, same = 0;

	p->node = node;
	p->peer = peer;
	p->tap = -1;
	for (i = 0; i < node->ports; i++)
		same += node->port[i]->peer->node == to;
	if (same)
		snprintf(p->dev, sizeof(p->dev), "%.11s.%u", to->name,
			 (same + 1) % 1000u);
	else
		snprintf(p->dev, sizeof(p->dev), "%s", to->name);
	snprintf(p->mac, sizeof(p->mac), "02:%02x:00:%02x:%02x:%02x", end,
		 (sc->links >> 16) & 255, (sc->links >> 8) & 255,
		 sc->links & 255);
	node->port = grow(node->port, node->ports, sizeof(p));
	node->port[node->ports++] = p;
}

/* Join two nodes. */
void link_add(struct scenario *sc, const struct ynode *y, struct node *a,
	      struct node *b, const struct link_params *p)
{
	struct link *l = xzalloc(sizeof(*l));

	if (a == b) {
		y_error(y, "a link from %s to itself", a->name);
		return;
	}
	l->a.p = *p;
	l->b.p = *p;
	/* both peers are known before names are made from them */
	l->a.node = a;
	l->b.node = b;
	port_init(sc, &l->a, a, &l->b, b, 1);
	port_init(sc, &l->b, b, &l->a, a, 2);
	sc->link = grow(sc->link, sc->links, sizeof(l));
	sc->link[sc->links++] = l;
}

/* Node by name, NULL if there is none. */
struct node *node_find(const struct scenario *sc, const char *name)
{
	int i;

	for (i = 0; i < sc->nodes; i++)
		if (!strcmp(sc->node[i]->name, name))
			return sc->node[i];
	return NULL;
}

/* Digits at the end of a node's name. */
const char *node_number(const struct node *n)
{
	const char *s = n->name + strlen(n->name);

	while (s > n->name && isdigit((unsigned char)s[-1]))
		s--;
	return s;
}

/* "s1:h9": for messages and results. */
const char *port_name(const struct port *p)
{
	static char slot[4][2 * NAME_LEN + 2];
	static int next;
	char *s = slot[next++ & 3];

	snprintf(s, sizeof(slot[0]), "%s:%s", p->node->name, p->dev);
	return s;
}

/* Port by its name "node:device". */
static struct port *port_find(const struct scenario *sc, const char *name)
{
	int i, k;

	for (i = 0; i < sc->nodes; i++)
		for (k = 0; k < sc->node[i]->ports; k++)
			if (!strcmp(port_name(sc->node[i]->port[k]), name))
				return sc->node[i]->port[k];
	return NULL;
}

/* Port by its name; an error at @y if there is none. */
struct port *port_need(const struct scenario *sc, const struct ynode *y,
		       const char *name)
{
	struct port *p = port_find(sc, name);

	if (!p)
		y_error(y, "no port \"%s\": write node:neighbour, like s1:h9",
			name);
	return p;
}

/* Append all ports that match "pattern:pattern"; none is an error. */
void ports_match(const struct scenario *sc, const struct ynode *y,
		 const char *pattern, struct port ***list, int *n)
{
	const char *colon = strchr(pattern, ':');
	char *left = xasprintf("%.*s", colon ? (int)(colon - pattern) : 0,
			       pattern);
	int i, k, before = *n;

	for (i = 0; colon && i < sc->nodes; i++) {
		struct node *at = sc->node[i];

		if (!name_match(left, at->name))
			continue;
		for (k = 0; k < at->ports; k++) {
			if (!name_match(colon + 1, at->port[k]->dev))
				continue;
			*list = grow(*list, *n, sizeof(**list));
			(*list)[(*n)++] = at->port[k];
		}
	}
	free(left);
	if (*n == before)
		y_error(y, "no port matches \"%s\": write node:neighbour, like s1:h9 or s*:*",
			pattern);
}

/* Append all hosts (or switches) that match; none is an error. */
void nodes_match(const struct scenario *sc, const struct ynode *y,
		 const char *pattern, bool want_switch, struct node ***list,
		 int *n)
{
	int i, before = *n;

	for (i = 0; i < sc->nodes; i++) {
		if (sc->node[i]->is_switch != want_switch ||
		    !name_match(pattern, sc->node[i]->name))
			continue;
		*list = grow(*list, *n, sizeof(**list));
		(*list)[(*n)++] = sc->node[i];
	}
	if (*n == before)
		y_error(y, "no %s matches \"%s\"",
			want_switch ? "switch" : "host", pattern);
}

/* Record the packets of @p; returns the recorder's number. */
int tap_add(struct scenario *sc, struct port *p)
{
	if (p->tap < 0) {
		p->tap = sc->taps;
		sc->tap = grow(sc->tap, sc->taps, sizeof(p));
		sc->tap[sc->taps++] = p;
	}
	return p->tap;
}

/* Append "h[2-4]" as h2, h3 and h4, other names as they are. */
static void names_expand(struct strv *out, const char *name)
{
	const char *open = strchr(name, '[');
	int lo, hi, used = 0;

	if (!open || sscanf(open, "[%d-%d]%n", &lo, &hi, &used) != 2 ||
	    open[used] || hi - lo > 100000) {
		strv_addf(out, "%s", name);
		return;
	}
	for (; lo <= hi; lo++)
		strv_addf(out, "%.*s%d", (int)(open - name), name, lo);
}

/* Add the nodes of a list under topology:. */
static void nodes_load(struct scenario *sc, struct ynode *top, const char *key,
		       bool switches)
{
	struct strv given = { 0 }, names = { 0 };
	int i;

	y_list(top, key, &given);
	for (i = 0; i < given.n; i++) {
		int before = names.n;

		names_expand(&names, given.s[i]);
		if (names.n == before)
			y_error(y_find(top, key), "the range \"%s\" is empty", given.s[i]);
	}
	for (i = 0; i < names.n; i++)
		node_add(sc, top, names.s[i], switches);
}

/* The node at an end of the link at @y; an error if there is none of that name. */
static struct node *node_need(const struct scenario *sc, const struct ynode *y, const char *name)
{
	struct node *n = node_find(sc, name);
	const char *hint = strpbrk(name, "*?[") ?
			   " (only the first of ends: is a range, like h[1-3])" : "";

	if (!n)
		y_error(y, "ends: no node called \"%s\"%s", name, hint);
	return n;
}

/* Add the nodes and links listed one by one under topology:. */
static void lists_load(struct scenario *sc, struct ynode *top,
		       const struct link_params *defaults)
{
	struct ynode *links = y_get(top, "links");
	int i, k;

	nodes_load(sc, top, "hosts", false);
	nodes_load(sc, top, "switches", true);
	if (links && links->kind != Y_SEQ) {
		y_error(links, "expected a list of links");
		return;
	}
	for (i = 0; links && i < links->n; i++) {
		struct link_params p = *defaults;
		struct strv ends = { 0 }, from = { 0 };
		struct ynode *y = links->child[i];
		struct node *a, *b;

		if (!y_is_map(y))
			continue;
		link_params_read(y, &p);
		y_list(y, "ends", &ends);
		if (ends.n != 2) {
			y_error(y, "ends: must name two nodes");
			continue;
		}
		names_expand(&from, ends.s[0]);
		if (!from.n)
			y_error(y, "ends: the range \"%s\" is empty", ends.s[0]);
		b = node_need(sc, y, ends.s[1]);
		for (k = 0; b && k < from.n; k++) {
			a = node_need(sc, y, from.s[k]);
			if (a)
				link_add(sc, y, a, b, &p);
		}
	}
}

/* tc's words under qdisc:, NULL without the key. */
const char *qdisc_read(struct ynode *map)
{
	const char *words = y_text(map, "qdisc", NULL);

	if (words && !words[strspn(words, " ")])
		y_error(y_find(map, "qdisc"),
			"name a qdisc, in tc's words (fabric limit 1mb)");
	return words;
}

/* Apply the hosts: and switches: blocks: settings by name pattern. */
static void node_settings(struct scenario *sc, const char *key, bool switches)
{
	struct ynode *block = y_get(sc->root, key);
	int i, k, q;

	if (!block || !y_is_map(block))
		return;
	for (i = 0; i < block->n; i++) {
		struct ynode *y = block->child[i];
		struct node **list = NULL;
		const char *qdisc, *route;
		struct strv tc = { 0 };
		int n = 0;

		y->used = true;
		if (!y_is_map(y))
			continue;
		nodes_match(sc, y, y->key, switches, &list, &n);
		qdisc = qdisc_read(y);
		route = switches ? NULL : y_text(y, "route", NULL);
		y_list(y, "tc", &tc);
		for (k = 0; k < n; k++) {
			pairs_read(y, "sysctl", &list[k]->sysctl);
			if (route)
				list[k]->route = route;
			for (q = 0; q < list[k]->ports; q++) {
				if (qdisc)
					list[k]->port[q]->qdisc = qdisc;
				if (tc.n)
					list[k]->port[q]->tc = tc;
			}
		}
		free(list);
	}
}

/* Apply the ports: block: settings of single ports by name pattern. */
static void port_settings(struct scenario *sc)
{
	struct ynode *block = y_get(sc->root, "ports");
	int i, k;

	if (!block || !y_is_map(block))
		return;
	for (i = 0; i < block->n; i++) {
		struct ynode *y = block->child[i];
		struct port **list = NULL;
		struct strv tc = { 0 };
		const char *qdisc;
		int n = 0;

		y->used = true;
		if (!y_is_map(y))
			continue;
		ports_match(sc, y, y->key, &list, &n);
		qdisc = qdisc_read(y);
		y_list(y, "tc", &tc);
		for (k = 0; k < n; k++) {
			if (qdisc)
				list[k]->qdisc = qdisc;
			if (tc.n)
				list[k]->tc = tc;
			link_params_read(y, &list[k]->p);
			list[k]->p.mtu = list[k]->peer->p.mtu;
			if (y_find(y, "mtu") || y_find(y, "kind"))
				y_error(y, "mtu and kind belong to the link, not to one port");
		}
		free(list);
	}
}

/* Read topology:, hosts:, switches:, ports: and bottleneck:. */
void topology_load(struct scenario *sc)
{
	struct link_params defaults = {
		.mtu = 1500, .rate_bps = 10000000000LL, .delay_ns = 1000,
		.overhead_bytes = 24, .ring_pkts = 1,
	};
	struct ynode *top = y_need(sc->root, "topology"), *y;
	int i, k;

	if (!top || !y_is_map(top))
		return;
	y = y_get(sc->root, "link");
	if (y && y_is_map(y))
		link_params_read(y, &defaults);
	shape_load(sc, top, &defaults);
	lists_load(sc, top, &defaults);
	if (!sc->links)
		y_error(top, "no links: give star, dumbbell, leaf-spine, fat-tree, dci or hosts, switches and links");
	for (i = 0; i < sc->nodes; i++) {
		struct node *n = sc->node[i];

		if (!n->ports)
			y_error(top, "node %s has no link", n->name);
		for (k = 0; k < n->ports; k++)
			n->port[k]->qdisc = n->is_switch ? "fabric limit 1mb" :
							   "pfifo limit 10000";
	}
	y_check_unknown(top);
	node_settings(sc, "hosts", false);
	node_settings(sc, "switches", true);
	port_settings(sc);
	y = y_get(sc->root, "bottleneck");
	if (y && y_scalar(y)) {
		sc->bottleneck = port_need(sc, y, y->text);
		if (sc->bottleneck)
			tap_add(sc, sc->bottleneck);
	}
}
