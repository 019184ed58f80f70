// SPDX-License-Identifier: GPL-2.0
/* What waits for what: groups that start when others have completed (after:),
 * and groups whose flows come again and again (repeat: without every:). Both
 * become gates: "when all of these flows have been delivered, start those".
 */
#include "scenario.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* Groups that each group waits for. */
struct waits {
	bool *on;		/* [group * groups + other] */
	char *state;		/* of the search: 0 new, 1 on the path, 2 done */
	int *path;
};

/* A new gate, still without flows. */
static struct gate *gate_add(struct scenario *sc, int64_t delay_ns)
{
	struct gate *gate;

	sc->gate = grow(sc->gate, sc->gates, sizeof(*gate));
	gate = &sc->gate[sc->gates++];
	memset(gate, 0, sizeof(*gate));
	gate->delay_ns = delay_ns;
	return gate;
}

/* Make the gate wait for a flow. */
static void gate_after(struct gate *gate, int flow)
{
	gate->after = grow(gate->after, gate->afters, sizeof(*gate->after));
	gate->after[gate->afters++] = flow;
}

/* Make a flow wait for the gate. */
static void gate_flow(struct scenario *sc, struct gate *gate, int flow)
{
	gate->flow = grow(gate->flow, gate->flows, sizeof(*gate->flow));
	gate->flow[gate->flows++] = flow;
	sc->flow[flow].gate = gate - sc->gate;
}

/* A pass of a group begins when all of the pass before it has been delivered. */
static void pass_all(struct scenario *sc, int before, int now, int flows,
		     int64_t delay_ns)
{
	struct gate *gate = gate_add(sc, delay_ns);
	int i;

	for (i = 0; i < flows; i++)
		gate_after(gate, before + i);
	for (i = 0; i < flows; i++)
		gate_flow(sc, gate, now + i);
}

/* A host begins a pass when it has sent and received all that it had to in the
 * pass before: a ring in which nobody waits for the whole ring.
 */
static void pass_per_node(struct scenario *sc, int before, int now, int flows,
			  int64_t delay_ns)
{
	int i, k;

	for (i = 0; i < flows; i++) {
		const struct node *node = sc->flow[now + i].src;
		struct gate *gate;

		if (sc->flow[now + i].gate >= 0)
			continue;
		gate = gate_add(sc, delay_ns);
		for (k = 0; k < flows; k++)
			if (sc->flow[before + k].src == node ||
			    sc->flow[before + k].dst == node)
				gate_after(gate, before + k);
		for (k = i; k < flows; k++)
			if (sc->flow[now + k].src == node)
				gate_flow(sc, gate, now + k);
	}
}

/* Gates between the passes of a group. */
static void passes_load(struct scenario *sc, const struct group *g)
{
	int flows = g->count / g->passes, i;

	for (i = 1; i < g->passes; i++) {
		int now = g->first + i * flows, before = now - flows;
		int64_t delay_ns = i % g->rounds ? 0 : g->pause_ns;

		if (g->per_node)
			pass_per_node(sc, before, now, flows, delay_ns);
		else
			pass_all(sc, before, now, flows, delay_ns);
	}
}

/* Do all flows of a group end by their size? */
static bool group_completes(const struct scenario *sc, const struct group *g)
{
	int i;

	for (i = 0; i < g->count; i++)
		if (sc->flow[g->first + i].bytes == NEVER)
			return false;
	return true;
}

/* Is @text a pattern rather than a name? */
static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[");
}

/* Read after: of group @g into @waits. */
static void after_read(struct scenario *sc, int g, struct waits *waits)
{
	struct group *gr = &sc->group[g];
	struct ynode *y = y_get(gr->y, "after");
	struct strv names = { 0 };
	int i, k;

	y_list(gr->y, "after", &names);
	if (!names.n && !y_errors())
		y_error(y, "names no group");
	for (i = 0; i < names.n; i++) {
		bool pattern = is_pattern(names.s[i]), found = false;

		for (k = 0; k < sc->groups; k++) {
			/* a pattern means the others */
			if (!name_match(names.s[i], sc->group[k].name) ||
			    (pattern && k == g))
				continue;
			found = true;
			waits->on[g * sc->groups + k] = true;
			if (!sc->group[k].count)
				y_error(y, "group %s has no flows to wait for",
					sc->group[k].name);
			if (!group_completes(sc, &sc->group[k]))
				y_error(y, "group %s never completes: it has no size",
					sc->group[k].name);
		}
		if (!found)
			y_error(y, "no %sgroup called \"%s\"",
				pattern ? "other " : "", names.s[i]);
		free(names.s[i]);
	}
	free(names.s);
}

/* Keys that do not go with after:. */
static void after_check(const struct scenario *sc, const struct group *g)
{
	static const char *const others[] = { "start", "stop", "duration",
					      "poisson" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (y_find(g->y, others[i]))
			y_error(y_find(g->y, others[i]),
				"does not go with after: (which starts a group by what others did; delay: shifts it)");
	if (!group_completes(sc, g))
		y_error(g->y, "a group with after: needs a size");
}

/* Search for a circle among what group @g waits for; false if there is one. */
static bool after_search(struct scenario *sc, struct waits *waits, int g,
			 int depth)
{
	struct buf b = { 0 };
	int k, i;

	waits->path[depth] = g;
	waits->state[g] = 1;
	for (k = 0; k < sc->groups; k++) {
		if (!waits->on[g * sc->groups + k] || waits->state[k] == 2)
			continue;
		if (!waits->state[k]) {
			if (!after_search(sc, waits, k, depth + 1))
				return false;
			continue;
		}
		for (i = 0; waits->path[i] != k; i++)
			;
		buf_addf(&b, "%s waits for ", sc->group[k].name);
		while (++i <= depth)
			buf_addf(&b, "%s, which waits for ",
				 sc->group[waits->path[i]].name);
		y_error(y_find(sc->group[k].y, "after"), "a circle: %s%s", b.s,
			sc->group[k].name);
		free(b.s);
		return false;
	}
	waits->state[g] = 2;
	return true;
}

/* One gate for a group that waits for others. */
static void after_gate(struct scenario *sc, int g, const struct waits *waits)
{
	struct group *gr = &sc->group[g];
	struct gate *gate = gate_add(sc, y_time(gr->y, "delay", 0));
	int flows = gr->count / gr->passes, i, k;

	for (k = 0; k < sc->groups; k++)
		for (i = 0; waits->on[g * sc->groups + k] &&
		     i < sc->group[k].count; i++)
			gate_after(gate, sc->group[k].first + i);
	for (i = 0; i < flows; i++)
		gate_flow(sc, gate, gr->first + i);
}

/* Read after: of all groups; make the gates. */
void after_load(struct scenario *sc)
{
	struct waits waits = {
		.on = xzalloc((size_t)sc->groups * sc->groups),
		.state = xzalloc(sc->groups),
		.path = xzalloc(sizeof(*waits.path) * sc->groups),
	};
	int g;

	for (g = 0; g < sc->groups; g++) {
		struct ynode *delay = y_find(sc->group[g].y, "delay");

		if (sc->group[g].waits) {
			y_time(sc->group[g].y, "delay", 0);
			after_read(sc, g, &waits);
			after_check(sc, &sc->group[g]);
		} else if (delay) {
			y_error(delay, "goes with after:");
		}
	}
	for (g = 0; g < sc->groups && !y_errors(); g++)
		if (!waits.state[g])
			after_search(sc, &waits, g, 0);
	for (g = 0; g < sc->groups && !y_errors(); g++) {
		if (sc->group[g].waits && sc->group[g].count)
			after_gate(sc, g, &waits);
		passes_load(sc, &sc->group[g]);
	}
	free(waits.on);
	free(waits.state);
	free(waits.path);
}
