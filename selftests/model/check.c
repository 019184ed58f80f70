// SPDX-License-Identifier: GPL-2.0
/*
 * Model checker: visits every state of a small network of Pyrrha switches,
 * breadth first, and checks the laws of laws.c in each.
 *
 *	check [-n STATES] [-w WALKS] [-r SETS] [-s SEED] [-v] [NAME...]
 *
 * -n: most states of a set-up (a million); a set-up with more is checked up to
 * there and says so. -w: so many random walks through each set-up besides, which
 * reach what lies deep. -r: so many random sets of flows on each of all connected
 * graphs of up to 4 switches, besides the set-ups of this file. -v: a line for
 * each set-up. Exit status 1 and the shortest way to the state if a law is broken.
 *
 * States are not kept, only a hash of each and the action that led to it: a
 * state is made again from the beginning.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "net.h"

#define WALK_STEPS	400
#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

struct visit {
	u32 from;
	struct action action;
};

static struct visit *visits;
static u64 *seen;
static u64 seen_mask;
static u32 states_max = 1000000;
static jmp_buf broken;
static const char *broken_law;
static bool verbose;

static void on_violation(const char *what)
{
	broken_law = what;
	longjmp(broken, 1);
}

static u32 seed = 1;

static u32 draw(u32 below)
{
	seed = seed * 1664525u + 1013904223u;
	return (u64)seed * below >> 32;
}

/* ---- states ------------------------------------------------------------------ */

static u64 hash(const struct net *net)
{
	const u64 *word = (const u64 *)net;
	u64 h = 0x243f6a8885a308d3ULL;
	size_t i;

	for (i = 0; i < sizeof(*net) / 8; i++) {
		h = (h ^ word[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h ? h : 1;
}

/* Is it new? Then it is remembered. */
static bool remember(u64 h)
{
	u64 at = h & seen_mask;

	for (; seen[at]; at = (at + 1) & seen_mask)
		if (seen[at] == h)
			return false;
	seen[at] = h;
	return true;
}

/* Makes a state again. */
static void replay(struct net *net, u32 state)
{
	static struct action way[100000];
	u32 length = 0;

	for (; state; state = visits[state].from)
		way[length++] = visits[state].action;
	net_start(net);
	while (length) {
		net_do(net, way[--length]);
		net_normal(net);
	}
}

static void explain(u32 state, struct action last)
{
	static struct net net;
	static struct action way[100000];
	u32 length = 0;

	printf("# %s: NOT TRUE: %s\n", setup.name, broken_law);
	way[length++] = last;
	for (; state; state = visits[state].from)
		way[length++] = visits[state].action;
	net_start(&net);
	while (length) {
		net_print(&net, way[--length]);
		if (setjmp(broken))
			return;
		net_do(&net, way[length]);
		net_normal(&net);
	}
}

/*
 * Visits all states of the set-up. Returns how many, 0 if a law is broken;
 * *all: none was left out.
 */
static u32 explore(bool *all)
{
	static struct net net, next;
	static struct action actions[ACTIONS_MAX];
	static u32 state, states;
	static unsigned int count, i;

	memset(seen, 0, (seen_mask + 1) * sizeof(*seen));
	states = 1;
	*all = true;
	net_start(&net);
	remember(hash(&net));
	actions[0] = (struct action){ 0 };
	i = 0;
	state = 0;
	if (setjmp(broken)) {
		explain(state, actions[i]);
		return 0;
	}
	for (state = 0; state < states; state++) {
		replay(&net, state);
		count = net_actions(&net, actions);
		for (i = 0; i < count; i++) {
			next = net;
			net_do(&next, actions[i]);
			net_normal(&next);
			if (!remember(hash(&next)))
				continue;
			net_check(&next);
			net_check_end(&next);
			if (states == states_max) {
				*all = false;
				return states;
			}
			visits[states].from = state;
			visits[states].action = actions[i];
			states++;
		}
	}
	return states;
}

/* Walks through the set-up at random until it is at rest. False: a law is broken. */
static bool walk(void)
{
	static struct net net;
	static struct action actions[ACTIONS_MAX];
	static unsigned int count, steps;
	static struct action action;
	static u32 state;

	net_start(&net);
	state = 0;
	if (setjmp(broken)) {
		explain(state, action);
		return false;
	}
	for (steps = 0; steps < WALK_STEPS && state + 1 < states_max; steps++) {
		count = net_actions(&net, actions);
		if (!count)
			break;
		/* Time passes slowly, or nothing ever piles up. */
		action = actions[draw(count)];
		if (action.kind == TICK)
			action = actions[draw(count)];
		net_do(&net, action);
		net_normal(&net);
		net_check(&net);
		if (!(steps % 8))
			net_check_end(&net);
		visits[state + 1].from = state;
		visits[state + 1].action = action;
		state++;
	}
	return true;
}

/* ---- set-ups ----------------------------------------------------------------- */

#define FLOW(n, count, ...)	{ .hops = count, .packets = n, .at = { __VA_ARGS__ } }

#define SMOOTH	.frames = 1
#define LOSSY	.frames = 1, .faults = 1
#define LATE	.frames = 2, .faults = 1

static const struct setup setups[] = {
	{ "two switches", 2, 1, { { 0, 1 } }, 2,
	  { FLOW(3, 2, 0, 1), FLOW(2, 1, 1) }, SMOOTH, .clocks = 1 },
	{ "two switches, little, lossy", 2, 1, { { 0, 1 } }, 2,
	  { FLOW(3, 2, 0, 1), FLOW(1, 1, 1) }, LOSSY, .clocks = 1 },
	{ "chain, one flow", 3, 2, { { 0, 1 }, { 1, 2 } }, 1,
	  { FLOW(3, 3, 0, 1, 2) }, SMOOTH },
	{ "two switches, lossy", 2, 1, { { 0, 1 } }, 2,
	  { FLOW(4, 2, 0, 1), FLOW(3, 1, 1) }, LOSSY, .wire = 1 },
	{ "two switches, late", 2, 1, { { 0, 1 } }, 2,
	  { FLOW(4, 2, 0, 1), FLOW(2, 1, 1) }, LATE },
	{ "two switches, both ways", 2, 1, { { 0, 1 } }, 4,
	  { FLOW(3, 2, 0, 1), FLOW(1, 1, 1), FLOW(3, 2, 1, 0),
	    FLOW(1, 1, 0) }, LOSSY },
	{ "two switches, link lost", 2, 1, { { 0, 1 } }, 2,
	  { FLOW(4, 2, 0, 1), FLOW(2, 1, 1) }, LOSSY, .restarts = 2 },
	{ "two switches, forgeries", 2, 1, { { 0, 1 } }, 2,
	  { FLOW(4, 2, 0, 1), FLOW(2, 1, 1) }, SMOOTH, .forgeries = 2 },
	{ "chain with a victim", 3, 2, { { 0, 1 }, { 1, 2 } }, 3,
	  { FLOW(3, 3, 0, 1, 2), FLOW(2, 1, 2), FLOW(2, 2, 0, 1) }, SMOOTH },
	{ "chain with a victim, lossy", 3, 2, { { 0, 1 }, { 1, 2 } }, 3,
	  { FLOW(3, 3, 0, 1, 2), FLOW(2, 1, 2), FLOW(1, 2, 0, 1) }, LOSSY },
	{ "root moves down", 3, 2, { { 0, 1 }, { 1, 2 } }, 3,
	  { FLOW(3, 3, 0, 1, 2), FLOW(2, 2, 1, 2), FLOW(2, 1, 2) }, SMOOTH },
	{ "chain, link lost", 3, 2, { { 0, 1 }, { 1, 2 } }, 2,
	  { FLOW(3, 3, 0, 1, 2), FLOW(2, 2, 1, 2) }, SMOOTH, .restarts = 1 },
	{ "chain, forgeries", 3, 2, { { 0, 1 }, { 1, 2 } }, 2,
	  { FLOW(3, 3, 0, 1, 2), FLOW(2, 2, 1, 2) }, SMOOTH, .forgeries = 1 },
	{ "figure 4", 4, 3, { { 0, 2 }, { 1, 2 }, { 2, 3 } }, 3,
	  { FLOW(2, 3, 0, 2, 3), FLOW(2, 3, 1, 2, 3), FLOW(1, 2, 0, 2) },
	  SMOOTH },
	{ "roots on the way", 4, 3, { { 0, 1 }, { 1, 2 }, { 2, 3 } }, 3,
	  { FLOW(3, 4, 0, 1, 2, 3), FLOW(2, 2, 2, 3), FLOW(2, 1, 3) },
	  SMOOTH },
	{ "two ways to a root", 4, 4,
	  { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 } }, 3,
	  { FLOW(4, 3, 0, 1, 3), FLOW(4, 3, 0, 2, 3), FLOW(3, 2, 2, 3) },
	  SMOOTH },
	{ "ring of three", 3, 3, { { 0, 1 }, { 1, 2 }, { 2, 0 } }, 3,
	  { FLOW(2, 3, 0, 1, 2), FLOW(2, 3, 1, 2, 0), FLOW(2, 3, 2, 0, 1) },
	  SMOOTH },
	{ "ring of four", 4, 4, { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } }, 4,
	  { FLOW(2, 3, 0, 1, 2), FLOW(1, 3, 1, 2, 3), FLOW(2, 3, 2, 3, 0),
	    FLOW(1, 3, 3, 0, 1) }, SMOOTH },
};

/* All connected graphs of 2 to 4 switches. */
static const struct setup graphs[] = {
	{ "pair", 2, 1, { { 0, 1 } } },
	{ "chain of three", 3, 2, { { 0, 1 }, { 1, 2 } } },
	{ "triangle", 3, 3, { { 0, 1 }, { 1, 2 }, { 2, 0 } } },
	{ "star", 4, 3, { { 0, 1 }, { 0, 2 }, { 0, 3 } } },
	{ "chain of four", 4, 3, { { 0, 1 }, { 1, 2 }, { 2, 3 } } },
	{ "paw", 4, 4, { { 0, 1 }, { 1, 2 }, { 2, 0 }, { 2, 3 } } },
	{ "square", 4, 4, { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } } },
	{ "diamond", 4, 5,
	  { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 }, { 0, 2 } } },
	{ "complete", 4, 6,
	  { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 }, { 0, 2 }, { 1, 3 } } },
};

static bool linked(u8 a, u8 b)
{
	u8 i;

	for (i = 0; i < setup.edges; i++)
		if ((setup.edge[i][0] == a && setup.edge[i][1] == b) ||
		    (setup.edge[i][0] == b && setup.edge[i][1] == a))
			return true;
	return false;
}

/* A random walk without returning to any switch. */
static struct flow draw_flow(void)
{
	struct flow flow = { .hops = 1, .packets = 2 + draw(2) };
	u32 been, tries;
	u8 next;

	flow.at[0] = draw(setup.switches);
	been = 1U << flow.at[0];
	for (tries = 0; tries < 9 && flow.hops < setup.switches; tries++) {
		next = draw(setup.switches);
		if (been >> next & 1 ||
		    !linked(flow.at[flow.hops - 1], next))
			continue;
		been |= 1U << next;
		flow.at[flow.hops++] = next;
	}
	return flow;
}

static void draw_setup(const struct setup *graph)
{
	u8 i;

	setup = *graph;
	setup.flows = 2 + draw(2);
	for (i = 0; i < setup.flows; i++)
		setup.flow[i] = draw_flow();
	setup.clocks = draw(2);
	setup.wire = draw(2);
	setup.frames = 1 + draw(2);
	setup.faults = draw(2);
	setup.restarts = !draw(4);
	setup.forgeries = !draw(4);
}

/* ---- all --------------------------------------------------------------------- */

static unsigned long total, whole, parts;
static u32 walks;

static bool check_one(void)
{
	bool all;
	u32 states = explore(&all), i;

	if (!states)
		return false;
	for (i = 0; i < walks; i++)
		if (!walk())
			return false;
	total += states;
	whole += all;
	parts += !all;
	if (verbose)
		printf("# %-34s %8u states%s\n", setup.name, states,
		       all ? "" : ", there are more");
	fflush(stdout);
	return true;
}

static bool wanted(const char *name, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static bool check_all(u32 sets, char **names)
{
	size_t i;
	u32 j;

	for (i = 0; i < COUNT(setups); i++) {
		setup = setups[i];
		if (wanted(setup.name, names) && !check_one())
			return false;
	}
	for (i = 0; i < COUNT(graphs); i++)
		for (j = 0; j < sets; j++) {
			draw_setup(&graphs[i]);
			if (wanted(setup.name, names) && !check_one())
				return false;
		}
	return true;
}

int main(int argc, char **argv)
{
	u32 sets = 0;
	bool good;
	int option;

	while ((option = getopt(argc, argv, "n:r:s:vw:")) != -1) {
		switch (option) {
		case 'n':
			states_max = strtoul(optarg, NULL, 10);
			break;
		case 'r':
			sets = strtoul(optarg, NULL, 10);
			break;
		case 's':
			seed = strtoul(optarg, NULL, 10);
			break;
		case 'v':
			verbose = true;
			break;
		case 'w':
			walks = strtoul(optarg, NULL, 10);
			break;
		default:
			return 2;
		}
	}
	for (seen_mask = 1; seen_mask < 2 * (u64)states_max; seen_mask *= 2)
		;
	seen = calloc(seen_mask, sizeof(*seen));
	visits = calloc(states_max, sizeof(*visits));
	if (!states_max || !seen || !visits)
		return 2;
	seen_mask--;
	violated = on_violation;
	good = check_all(sets, argv + optind);
	printf("# %lu states, %lu set-ups to the end, %lu in part\n", total,
	       whole, parts);
	return !good;
}
