// SPDX-License-Identifier: GPL-2.0
/* Timed changes: flows get another priority, weight or congestion control or
 * stop; a link goes down and up; a qdisc or sysctl changes; a command runs.
 */
#include "scenario.h"
#include "units.h"

#include <linux/fairlane.h>
#include <stdlib.h>
#include <string.h>

/* Append an event without any effect yet. */
static struct event *event_add(struct scenario *sc, int64_t at_ns)
{
	struct event *e;

	sc->event = grow(sc->event, sc->events, sizeof(*e));
	e = &sc->event[sc->events++];
	memset(e, 0, sizeof(*e));
	e->at_ns = at_ns;
	e->group = -1;
	e->priority = -1;
	e->weight = -1;
	return e;
}

/* Let @command run in @node by a shell. */
static void event_shell(struct scenario *sc, int64_t at_ns, struct node *node,
			char *command)
{
	struct event *e = event_add(sc, at_ns);

	e->node = node;
	strv_addf(&e->argv, "sh");
	strv_addf(&e->argv, "-c");
	strv_add(&e->argv, command);
}

/* {at: 5ms, group: p3, priority: 6} and the like. */
static void event_flows(struct scenario *sc, int64_t at_ns, struct ynode *y)
{
	struct ynode *g = y_get(y, "group");
	struct event *e = event_add(sc, at_ns);

	if (y_scalar(g))
		e->group = group_need(sc, g, g->text);
	e->stop = y_bool(y, "stop", false);
	e->cc = y_cc(y, "cc", NULL);
	e->priority = y_int(y, "priority", -1, 0, FL_PRIORITY_MAX);
	e->weight = y_weight(y, -1);
	if (!e->stop && !e->cc && e->priority < 0 && e->weight < 0)
		y_error(y, "what happens? give priority, weight, cc or stop: true");
}

/* A command may be 128 kB long: the file of routes is written in parts. */
#define EVENT_PART_BYTES	65536

/* Bytes of the next part of @file: whole lines, one at least. */
static size_t event_part(const char *file)
{
	size_t bytes = strlen(file);
	const char *end;

	if (bytes <= EVENT_PART_BYTES)
		return bytes;
	end = memrchr(file, '\n', EVENT_PART_BYTES);
	if (!end)
		end = strchr(file, '\n');
	return end ? (size_t)(end - file) + 1 : bytes;
}

/* Node @n writes @file as /run/fabric.@number.PART; lines stay whole. */
static void event_file(struct scenario *sc, int64_t at_ns, struct node *n, int number,
		       const char *file)
{
	size_t bytes;
	int part;

	for (part = 0; *file; part++, file += bytes) {
		bytes = event_part(file);
		event_shell(sc, at_ns, n, xasprintf("cat > /run/fabric.%d.%04d <<'END'\n%.*sEND\n",
						    number, part, (int)bytes, file));
	}
}

/* All nodes get the routes that are the shortest now, those that had others; switches of sch_fabric
 * that must know the routes of all get these. @before: routes by node; @from_ns: when a file may
 * be written.
 */
static void event_reroute(struct scenario *sc, int64_t from_ns, int64_t at_ns, char **before)
{
	static int number;
	char *file = fabric_routes(sc);
	bool written = false;
	int i;

	number++;
	for (i = 0; i < sc->nodes; i++) {
		struct node *n = sc->node[i];
		char *now = routes_batch(sc, n);
		struct buf b = { 0 };

		if (strcmp(now, before[i]))
			buf_addf(&b, "ip -force -batch - <<'END'\n%sEND\n", now);
		free(now);
		if (file && fabric_node(n)) {
			if (!written)
				event_file(sc, from_ns, n, number, file);
			written = true;
			buf_addf(&b, "cat /run/fabric.%d.* | fairlane fabric load -\n", number);
		}
		if (b.s)
			event_shell(sc, at_ns, n, b.s);
	}
	free(file);
}

/* {at: 5ms, link: s1:h9, state: down}: both ends. A device that comes up
 * again has lost its routes and neighbours, so they are set anew.
 */
static void event_link(struct scenario *sc, int64_t at_ns, struct ynode *y)
{
	static const char *const states[] = { "down", "up", NULL };
	struct ynode *l = y_get(y, "link");
	struct port *p = y_scalar(l) ? port_need(sc, l, l->text) : NULL;
	int up = y_choice(y, "state", states, 0), i;
	int64_t reroute_ns = y_time(y, "reroute", NEVER);
	char **before;

	y_need(y, "state");
	if (!p)
		return;
	if (reroute_ns != NEVER && reroute_ns < 1000)
		y_error(y, "reroute: at least 1us");
	before = xmalloc(sc->nodes * sizeof(*before));
	for (i = 0; i < sc->nodes; i++)
		before[i] = routes_batch(sc, sc->node[i]);
	link_state(p, !up);
	if (reroute_ns != NEVER)
		event_reroute(sc, at_ns, at_ns + reroute_ns, before);
	for (i = 0; i < sc->nodes; i++)
		free(before[i]);
	free(before);
	for (i = 0; p && i < 2; i++, p = p->peer) {
		struct buf b = { 0 };

		buf_addf(&b, "ip link set dev %s %s", p->dev,
			 states[up]);
		if (up) {
			struct strv batch = { 0 };
			int k;

			node_batch(sc, p->node, &batch);
			buf_addf(&b, "\nip -force -batch - <<'END'\n");
			for (k = 0; k < batch.n; k++)
				buf_addf(&b, "%s\n", batch.s[k]);
			buf_addf(&b, "END\n");
		}
		event_shell(sc, at_ns, p->node, b.s);
	}
}

/* {at: 5ms, port: s1:h9, qdisc: fabric limit 2mb} */
static void event_qdisc(struct scenario *sc, int64_t at_ns, struct ynode *y)
{
	struct ynode *l = y_get(y, "port");
	struct port *p = y_scalar(l) ? port_need(sc, l, l->text) : NULL;
	const char *qdisc = qdisc_read(y);

	y_need(y, "qdisc");
	if (p && qdisc)
		event_shell(sc, at_ns, p->node,
			    xasprintf("tc qdisc replace dev %s root handle 1: %s",
				      p->dev, qdisc));
}

/* {at: 5ms, node: h1, run: command} or {…, sysctl: {name: value}}. A pattern means
 * each node that matches; run then has their names and numbers.
 */
static void event_node(struct scenario *sc, int64_t at_ns, struct ynode *y)
{
	struct ynode *l = y_get(y, "node");
	const char *name = l ? y_scalar(l) : NULL;
	const char *run = y_text(y, "run", NULL);
	bool pattern = name && strpbrk(name, "*?["), found = false;
	struct pairs sysctl = { 0 };
	int i, k;

	pairs_read(y, "sysctl", &sysctl);
	if (!run == !sysctl.n)
		y_error(y, "give run: or sysctl:");
	for (k = 0; name && k < sc->nodes; k++) {
		struct node *n = sc->node[k];
		struct buf b = { 0 };

		if (!name_match(name, n->name))
			continue;
		found = true;
		for (i = 0; i < sysctl.n; i++) {
			char *path = xstrdup(sysctl.key[i]), *s;

			for (s = path; *s; s++)
				if (*s == '.')
					*s = '/';
			buf_addf(&b, "echo '%s' > /proc/sys/%s || exit 1\n",
				 sysctl.value[i], path);
			free(path);
		}
		if (run && pattern)
			buf_addf(&b, "node=%s number=%s\n", n->name,
				 node_number(n));
		if (run)
			buf_addf(&b, "%s", run);
		event_shell(sc, at_ns, n, b.s ? b.s : xstrdup("true"));
	}
	if (!found)
		y_error(l, "no node of that name");
}

/* Read events:. */
void events_load(struct scenario *sc)
{
	static const struct {
		const char *key;
		void (*load)(struct scenario *sc, int64_t at_ns,
			     struct ynode *y);
	} kinds[] = {
		{ "group", event_flows }, { "link", event_link },
		{ "port", event_qdisc }, { "node", event_node },
	};
	struct ynode *list = y_get(sc->root, "events");
	int i;

	if (list && list->kind != Y_SEQ) {
		y_error(list, "expected a list of events");
		return;
	}
	for (i = 0; list && i < list->n; i++) {
		struct ynode *y = list->child[i], *at;
		int64_t at_ns;
		size_t k;

		if (!y_is_map(y))
			continue;
		at = y_need(y, "at");
		at_ns = y_moment(sc, at, 0);
		if (at && at_ns > sc->duration_ns)
			y_error(at, "after the end of the run");
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			if (!y_get(y, kinds[k].key))
				continue;
			kinds[k].load(sc, at_ns, y);
			break;
		}
		if (k == ARRAY_SIZE(kinds))
			y_error(y, "an event needs group, link, port or node");
	}
	/* What is asked of routes elsewhere is about the network as it begins. */
	for (i = 0; i < sc->links; i++)
		link_state(&sc->link[i]->a, false);
}
