// SPDX-License-Identifier: GPL-2.0
/* The routes of all switches, as `fairlane fabric load` reads them, for scenarios with
 * ports that isolate (sch_fabric's "queue isolate"): these have to know which ports a packet
 * passes after them, and how the switches after them choose among equal routes.
 */
#include "scenario.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A node that is no switch of sch_fabric, and a port without a number, get one that nobody
 * else has: they are on ways, but never congestion roots.
 */
#define PLAIN_SWITCH	0xff000000U
#define PLAIN_PORT	64

/* The number behind a word of tc's, -1 if the word is not there. */
static int64_t word_number(const char *text, const char *word)
{
	const char *s = text;
	size_t n = strlen(word);
	char *end;
	long v;

	while ((s = strstr(s, word))) {
		if ((s == text || s[-1] == ' ') && s[n] == ' ') {
			v = strtol(s + n, &end, 10);
			if (end != s + n + 1 && v >= 0)
				return v;
		}
		s += n;
	}
	return -1;
}

/* All that tc is told of a port. */
static char *port_words(const struct port *p)
{
	struct buf b = { 0 };
	int i;

	if (!p->tc.n)
		return port_text(p->qdisc, p);
	for (i = 0; i < p->tc.n; i++)
		buf_addf(&b, "%s ", port_text(p->tc.s[i], p));
	return b.s;
}

/* The port's number in its switch. */
static int64_t port_number(const struct port *p)
{
	char *words = port_words(p);
	int64_t v = word_number(words, "switch") > 0 ? word_number(words, "switch-port") : -1;
	int place = 0;

	if (v < 0 && word_number(words, "switch") > 0)
		v = 0;
	free(words);
	while (v < 0 && p->node->port[place] != p)
		place++;
	return v < 0 ? PLAIN_PORT + place : v;
}

/* The number of the switch that a node is, 0: none of sch_fabric's. */
static uint32_t node_switch(const struct node *n)
{
	int64_t v = -1;
	int i;

	for (i = 0; i < n->ports && v <= 0; i++) {
		char *words = port_words(n->port[i]);

		v = word_number(words, "switch");
		free(words);
	}
	return v > 0 ? v : 0;
}

static uint32_t switch_number(const struct node *n)
{
	uint32_t v = node_switch(n);

	return v ? v : PLAIN_SWITCH + n->index;
}

static bool isolates(const struct node *n)
{
	bool found = false;
	int i;

	for (i = 0; i < n->ports && !found; i++) {
		char *words = port_words(n->port[i]);

		found = strstr(words, "queue isolate");
		free(words);
	}
	return found;
}

/* Is the node one of those that are told of routes? */
bool fabric_node(const struct node *n)
{
	return node_switch(n) && isolates(n);
}

/* Is it in the file? Hosts only if they are switches of one port. */
static bool in_file(const struct node *n)
{
	return n->is_switch || fabric_node(n);
}

/* A setting of a node, as the plan gives it. */
static long setting(const struct scenario *sc, const struct node *n, const char *name, long dflt)
{
	const char *value = pairs_get(&n->sysctl, name);

	if (!value)
		value = pairs_get(&sc->sysctl, name);
	return value ? strtol(value, NULL, 0) : dflt;
}

/* How a node chooses among equal routes. */
static void add_switch(const struct scenario *sc, const struct node *n, struct buf *b)
{
	char *policy = xasprintf("net.%s.fib_multipath_hash_policy", sc->ipv6 ? "ipv6" : "ipv4");
	char *fields = xasprintf("net.%s.fib_multipath_hash_fields", sc->ipv6 ? "ipv6" : "ipv4");

	if (n->ports > 1)
		buf_addf(b, "switch %u policy %ld fields %ld seed %ld\n", switch_number(n),
			 setting(sc, n, policy, ECMP_POLICY), setting(sc, n, fields, 7),
			 setting(sc, n, "net.ipv4.fib_multipath_hash_seed", ecmp_seed(sc, n)));
	free(policy);
	free(fields);
}

/* What is behind the ports of a node: switches, and those of one port are no way on. */
static void add_ports(const struct node *n, struct buf *b)
{
	const struct node *next;
	int i;

	for (i = 0; i < n->ports; i++) {
		next = n->port[i]->peer->node;
		if (next->is_switch)
			buf_addf(b, "port %u:%lld to %u\n", switch_number(n),
				 (long long)port_number(n->port[i]), switch_number(next));
	}
}

/* The ports of some next hops, in the order of the kernel's route. */
static char *ports_text(struct port **hop, int hops)
{
	struct buf b = { 0 };
	int i;

	for (i = 0; i < hops; i++)
		buf_addf(&b, "%s%lld", i ? "," : "", (long long)port_number(hop[i]));
	return b.s;
}

/* A node's routes to all hosts, those by the same ports in one line. */
static void add_routes(const struct scenario *sc, const struct node *n, struct buf *b)
{
	struct port **hop = xmalloc(n->ports * sizeof(*hop));
	struct strv ports = { 0 };
	struct buf *to = NULL;
	int i, k, hops;

	for (i = 0; i < sc->nodes; i++) {
		char *text;

		if (sc->node[i]->is_switch || sc->node[i] == n)
			continue;
		hops = route_hops(sc, n, sc->node[i], hop);
		if (!hops)
			continue;
		text = ports_text(hop, hops);
		for (k = 0; k < ports.n && strcmp(ports.s[k], text); k++)
			;
		if (k == ports.n) {
			to = grow(to, k, sizeof(*to));
			memset(&to[k], 0, sizeof(*to));
			strv_addf(&ports, "%s", text);
		}
		buf_addf(&to[k], " %s", sc->node[i]->addr);
		free(text);
	}
	for (k = 0; k < ports.n; k++)
		buf_addf(b, "route %u port %s to%s\n", switch_number(n), ports.s[k], to[k].s);
	free(to);
	free(hop);
}

/* The file, NULL if no port isolates. */
char *fabric_routes(const struct scenario *sc)
{
	struct buf b = { 0 };
	bool any = false;
	int i;

	for (i = 0; i < sc->nodes; i++)
		any |= fabric_node(sc->node[i]);
	if (!any)
		return NULL;
	buf_addf(&b, "# %s\n", sc->title);
	for (i = 0; i < sc->nodes; i++) {
		if (!in_file(sc->node[i]))
			continue;
		buf_addf(&b, "# %s\n", sc->node[i]->name);
		add_switch(sc, sc->node[i], &b);
		add_ports(sc->node[i], &b);
		add_routes(sc, sc->node[i], &b);
	}
	return b.s;
}

/* What the guest does with it before time zero. */
void plan_fabric(cJSON *plan, const struct scenario *sc)
{
	char *text = fabric_routes(sc);
	cJSON *list;
	int i;

	if (!text)
		return;
	cJSON_AddStringToObject(plan, "fabric_routes", text);
	list = cJSON_AddArrayToObject(plan, "fabric");
	for (i = 0; i < sc->nodes; i++) {
		cJSON *o;

		if (!fabric_node(sc->node[i]))
			continue;
		o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "node", sc->node[i]->name);
		cJSON_AddItemToArray(list, o);
	}
	free(text);
}
