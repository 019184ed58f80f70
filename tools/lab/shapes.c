// SPDX-License-Identifier: GPL-2.0
/* Topologies in one line: star, dumbbell, leaf-spine, fat-tree, dci. */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

/* Add node "<prefix><number>". */
static struct node *numbered(struct scenario *sc, struct ynode *y,
			     const char *prefix, int number, bool is_switch)
{
	char *name = xasprintf("%s%d", prefix, number);
	struct node *n = node_add(sc, y, name, is_switch);

	free(name);
	return n;
}

/* Read "<prefix>_rate" and "<prefix>_delay" for the links of another layer. */
static struct link_params layer(struct ynode *y, const char *prefix,
				const struct link_params *p)
{
	char *rate = xasprintf("%s_rate", prefix);
	char *delay = xasprintf("%s_delay", prefix);
	struct link_params l = *p;

	l.rate_bps = link_rate(y, rate, p->rate_bps);
	l.delay_ns = link_delay(y, delay, p->delay_ns);
	free(rate);
	free(delay);
	return l;
}

/* Hosts h1..hN around switch s1. */
static void star(struct scenario *sc, struct ynode *y,
		 const struct link_params *p)
{
	int i, hosts = y_int(y, "hosts", 2, 2, 4000);
	struct node *s;

	for (i = 1; i <= hosts; i++)
		numbered(sc, y, "h", i, false);
	s = numbered(sc, y, "s", 1, true);
	for (i = 0; i < hosts; i++)
		link_add(sc, y, sc->node[i], s, p);
}

/* Hosts l1.. at switch s1, hosts r1.. at switch s2, one link between them. */
static void dumbbell(struct scenario *sc, struct ynode *y,
		     const struct link_params *p)
{
	int left = y_int(y, "left", 1, 1, 4000);
	int right = y_int(y, "right", 1, 1, 4000);
	struct link_params mid = layer(y, "bottleneck", p);
	struct node *s1, *s2;
	int i;

	for (i = 1; i <= left; i++)
		numbered(sc, y, "l", i, false);
	for (i = 1; i <= right; i++)
		numbered(sc, y, "r", i, false);
	s1 = numbered(sc, y, "s", 1, true);
	s2 = numbered(sc, y, "s", 2, true);
	for (i = 0; i < left + right; i++)
		link_add(sc, y, sc->node[i], i < left ? s1 : s2, p);
	link_add(sc, y, s1, s2, &mid);
}

/* Add node "<site><prefix><number>". */
static struct node *at_site(struct scenario *sc, struct ynode *y, const char *site,
			    const char *prefix, int number)
{
	char *name = xasprintf("%s%s", site, prefix);
	struct node *n = numbered(sc, y, name, number, true);

	free(name);
	return n;
}

/* Hosts <host>1.. at switches <site>leaf1.., each leaf linked to each of <site>spine1...
 * Return: the number of the first spine, the last nodes that are added.
 */
static int leaves_add(struct scenario *sc, struct ynode *y, const char *host,
		      const char *site, const struct link_params *p)
{
	int leaves = y_int(y, "leaves", 2, 1, 500);
	int spines = y_int(y, "spines", 2, 1, 500);
	int hosts = y_int(y, "hosts", 4, 1, 500);
	struct link_params up = layer(y, "uplink", p);
	int i, k, base, first = sc->nodes;

	for (i = 1; i <= leaves * hosts; i++)
		numbered(sc, y, host, i, false);
	base = sc->nodes;
	for (i = 1; i <= leaves; i++)
		at_site(sc, y, site, "leaf", i);
	for (i = 1; i <= spines; i++)
		at_site(sc, y, site, "spine", i);
	for (i = 0; i < leaves * hosts; i++)
		link_add(sc, y, sc->node[first + i], sc->node[base + i / hosts], p);
	for (i = 0; i < leaves; i++)
		for (k = 0; k < spines; k++)
			link_add(sc, y, sc->node[base + i],
				 sc->node[base + leaves + k], &up);
	return base + leaves;
}

static void leaf_spine(struct scenario *sc, struct ynode *y,
		       const struct link_params *p)
{
	leaves_add(sc, y, "h", "", p);
}

/* Two datacenters, each a leaf-spine and a border router dci1 that all its spines are linked
 * to, and one long line between the two.
 */
static void dci(struct scenario *sc, struct ynode *y,
		const struct link_params *p)
{
	static const char *const site[] = { "a", "b" };
	struct link_params up = layer(y, "uplink", p);
	struct link_params wan = layer(y, "wan", p);
	struct node *border[2];
	int i, k, spines;

	for (i = 0; i < 2; i++) {
		k = leaves_add(sc, y, site[i], site[i], p);
		spines = sc->nodes;
		border[i] = at_site(sc, y, site[i], "dci", 1);
		for (; k < spines; k++)
			link_add(sc, y, sc->node[k], border[i], &up);
	}
	link_add(sc, y, border[0], border[1], &wan);
}

/* The k-ary fat-tree: k pods of k/2 edge and k/2 aggregation switches, k/2
 * hosts at each edge switch, (k/2)^2 core switches.
 */
static void fat_tree(struct scenario *sc, struct ynode *y,
		     const struct link_params *p)
{
	int k = y_int(y, "k", 4, 2, 32), half = k / 2, i, j;
	int hosts = k * half * half, edge, agg, core;
	struct link_params up = layer(y, "core", p);

	y_need(y, "k");
	if (k % 2) {
		y_error(y, "k must be even");
		return;
	}
	for (i = 1; i <= hosts; i++)
		numbered(sc, y, "h", i, false);
	edge = sc->nodes;
	for (i = 1; i <= k * half; i++)
		numbered(sc, y, "edge", i, true);
	agg = sc->nodes;
	for (i = 1; i <= k * half; i++)
		numbered(sc, y, "agg", i, true);
	core = sc->nodes;
	for (i = 1; i <= half * half; i++)
		numbered(sc, y, "core", i, true);
	for (i = 0; i < hosts; i++)
		link_add(sc, y, sc->node[i], sc->node[edge + i / half], p);
	for (i = 0; i < k * half; i++)
		for (j = 0; j < half; j++)
			link_add(sc, y, sc->node[edge + i],
				 sc->node[agg + i / half * half + j], p);
	for (i = 0; i < k * half; i++)
		for (j = 0; j < half; j++)
			link_add(sc, y, sc->node[agg + i],
				 sc->node[core + i % half * half + j], &up);
}

/* Expand the one shape that topology: names, if it names one. */
bool shape_load(struct scenario *sc, struct ynode *topology,
		const struct link_params *defaults)
{
	static const struct {
		const char *name;
		void (*make)(struct scenario *sc, struct ynode *y,
			     const struct link_params *p);
	} shapes[] = {
		{ "star", star }, { "dumbbell", dumbbell },
		{ "leaf-spine", leaf_spine }, { "fat-tree", fat_tree },
		{ "dci", dci },
	};
	bool found = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct ynode *y = y_get(topology, shapes[i].name);
		struct link_params p = *defaults;

		if (!y || !y_is_map(y))
			continue;
		if (found) {
			y_error(y, "only one of star, dumbbell, leaf-spine, fat-tree, dci");
			continue;
		}
		found = true;
		link_params_read(y, &p);
		shapes[i].make(sc, y, &p);
	}
	return found;
}
