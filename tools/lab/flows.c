// SPDX-License-Identifier: GPL-2.0
/* Groups of flows: who sends to whom, with which congestion control, when and
 * how much. A group is expanded into single flows here.
 */
#include "scenario.h"
#include "units.h"

#include <linux/fairlane.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FLOWS 200000
/* TCP_CA_NAME_MAX - 1 */
#define CC_NAME_MAX 15
/* Of a socket's buffers and of a flow, bytes. */
#define BUFFER_MAX 1073741824LL
#define SIZE_MAX_BYTES 1125899906842624LL

enum pattern { PAIRS, ALL_TO_ALL, PERMUTATION };

/* Append one flow of @group. */
void flow_add(struct scenario *sc, int group, struct node *src,
	      struct node *dst, int64_t start_ns, int64_t stop_ns,
	      int64_t bytes)
{
	struct flow *f;

	if (sc->flows >= MAX_FLOWS)
		die("%s: more than %d flows", sc->path, MAX_FLOWS);
	sc->flow = grow(sc->flow, sc->flows, sizeof(*f));
	f = &sc->flow[sc->flows];
	f->id = sc->flows++;
	f->group = group;
	f->src = src;
	f->dst = dst;
	f->gate = -1;
	f->start_ns = start_ns;
	f->stop_ns = stop_ns;
	f->bytes = bytes;
	sc->group[group].count++;
}

/* Group by name, -1 if there is none. */
static int group_find(const struct scenario *sc, const char *name)
{
	int i;

	for (i = 0; i < sc->groups; i++)
		if (!strcmp(sc->group[i].name, name))
			return i;
	return -1;
}

/* Group by name; an error at @y if there is none. */
int group_need(const struct scenario *sc, const struct ynode *y,
	       const char *name)
{
	int g = group_find(sc, name);

	if (g < 0)
		y_error(y, "no group called \"%s\"", name);
	return g;
}

/* Earliest start of a group's flows; those of later passes have none. */
int64_t group_start_ns(const struct scenario *sc, int group)
{
	const struct group *g = &sc->group[group];
	int64_t ns = g->count ? sc->flow[g->first].start_ns : 0;
	int i;

	for (i = 1; i < g->count / g->passes; i++)
		if (sc->flow[g->first + i].start_ns < ns)
			ns = sc->flow[g->first + i].start_ns;
	return ns;
}

/* Latest planned stop of a group's flows, NEVER if one has none. */
static int64_t group_stop_ns(const struct scenario *sc, int group)
{
	const struct group *g = &sc->group[group];
	int64_t ns = 0;
	int i;

	for (i = 0; i < g->count; i++) {
		const struct flow *f = &sc->flow[g->first + i];

		if (f->stop_ns == NEVER)
			return NEVER;
		if (f->stop_ns > ns)
			ns = f->stop_ns;
	}
	return ns;
}

/* Value of "4ms", "p4.start", "p4.stop" or "end". */
static bool moment_base(const struct scenario *sc, struct ynode *n,
			const char *text, int64_t *ns)
{
	const char *dot = strrchr(text, '.');
	char *name;
	int g;

	if (parse_time(text, ns))
		return true;
	if (!strcmp(text, "end")) {
		*ns = sc->duration_ns;
		return true;
	}
	if (!dot || (strcmp(dot, ".start") && strcmp(dot, ".stop"))) {
		y_error(n, "\"%s\" is not a moment (write 4ms, p4.start, p4.stop + 1ms, end)",
			text);
		return false;
	}
	name = xasprintf("%.*s", (int)(dot - text), text);
	g = group_need(sc, n, name);
	free(name);
	if (g < 0)
		return false;
	if (sc->group[g].waits) {
		y_error(n, "group %s starts when others have completed (after:), so its moments are not known before the run",
			sc->group[g].name);
		return false;
	}
	if (!sc->group[g].count) {
		y_error(n, "group %s has no flows that were read before this, so it has no moments",
			sc->group[g].name);
		return false;
	}
	*ns = dot[3] == 'a' ? group_start_ns(sc, g) : group_stop_ns(sc, g);
	if (*ns == NEVER) {
		y_error(n, "group %s has no stop time", sc->group[g].name);
		return false;
	}
	return true;
}

/* A moment on the virtual clock: a time, an event, or an event +/- a time. */
int64_t y_moment(const struct scenario *sc, struct ynode *n, int64_t dflt)
{
	const char *text = n ? y_scalar(n) : NULL, *op;
	int64_t base, offset = 0;
	char *left;
	bool ok;

	if (!text)
		return dflt;
	op = strstr(text, " + ");
	if (!op)
		op = strstr(text, " - ");
	left = xasprintf("%.*s", op ? (int)(op - text) : (int)strlen(text),
			 text);
	ok = moment_base(sc, n, left, &base);
	free(left);
	if (!ok)
		return dflt;
	if (op && !parse_time(op + 3, &offset)) {
		y_error(n, "\"%s\" is not a time", op + 3);
		return dflt;
	}
	base += op && op[1] == '-' ? -offset : offset;
	if (base < 0) {
		y_error(n, "\"%s\" is before the start of the traffic", text);
		return dflt;
	}
	return base;
}

/* "window: [from, to]"; without the key the caller's values stay. */
void y_window(const struct scenario *sc, struct ynode *map, const char *key,
	      int64_t *from_ns, int64_t *to_ns)
{
	struct ynode *w = y_get(map, key);

	if (!w)
		return;
	if (w->kind != Y_SEQ || w->n != 2) {
		y_error(w, "a window is a list of two moments: [2ms, 4ms]");
		return;
	}
	*from_ns = y_moment(sc, w->child[0], *from_ns);
	*to_ns = y_moment(sc, w->child[1], *to_ns);
	if (*from_ns >= *to_ns)
		y_error(w, "the window ends before it starts");
}

/* Hosts named by from: or to:. */
static struct node **hosts_read(struct scenario *sc, struct ynode *y,
				const char *key, int *n)
{
	struct ynode *at = y_need(y, key);
	struct strv names = { 0 };
	struct node **list = NULL;
	int i;

	*n = 0;
	if (!at)
		return NULL;
	y_list(y, key, &names);
	if (at->kind == Y_SEQ && !at->n)
		y_error(at, "name one host at least");
	for (i = 0; i < names.n; i++)
		nodes_match(sc, at, names.s[i], false, &list, n);
	return list;
}

/* A random order of 0..n-1 in which no number stands at its own place. */
static int *derangement(struct rng *rng, int n)
{
	int *p = xmalloc(n * sizeof(*p)), i;

	for (i = 0; i < n; i++)
		p[i] = i;
	for (i = n - 1; i > 0; i--) {
		/* Sattolo's shuffle: one cycle, so nobody stays in place */
		int j = rng_below(rng, i), t = p[i];

		p[i] = p[j];
		p[j] = t;
	}
	return p;
}

/* Times of a group's plain flows. */
struct timing {
	int64_t start_ns, stop_ns, step_ns, jitter_ns, every_ns;
	int times, count;
	int64_t bytes;
	struct sizes sizes;	/* n 0: all are of the size bytes */
};

/* Add the @count flows, each @times times, from @src to @dst. */
static void pair_add(struct scenario *sc, int g, struct node *src,
		     struct node *dst, const struct timing *t, int *serial,
		     struct rng *rng)
{
	int i, k;

	if (src == dst)
		return;
	for (i = 0; i < t->count; i++) {
		int64_t shift = *serial * t->step_ns +
				rng_below(rng, t->jitter_ns);

		(*serial)++;
		for (k = 0; k < t->times; k++)
			flow_add(sc, g, src, dst,
				 t->start_ns + shift + k * t->every_ns,
				 t->stop_ns, t->sizes.n ?
				 sizes_draw(&t->sizes, rng) : t->bytes);
	}
}

/* "repeat: {every: 1ms, times: 5}" at fixed times, or "repeat: {times: 5}" each
 * when the one before has completed.
 */
static void repeat_load(struct scenario *sc, int g, struct timing *t)
{
	static const char *const waits[] = { "all", "node", NULL };
	struct group *gr = &sc->group[g];
	struct ynode *y = y_get(gr->y, "repeat");
	const char *sizes;

	if (!y || !y_is_map(y))
		return;
	sizes = y_text(y, "sizes", NULL);
	if (sizes ? t->bytes != NEVER : t->bytes == NEVER)
		y_error(y, "repeated flows need a size (or sizes:, a distribution file, not both)");
	if (sizes && !sizes_read(y, sizes, &t->sizes))
		return;
	y_need(y, "times");
	t->times = y_int(y, "times", 1, 1, MAX_FLOWS);
	if (y_find(y, "every")) {
		t->every_ns = y_time(y, "every", 0);
		return;
	}
	gr->rounds = y_int(y, "rounds", 1, 1, MAX_FLOWS);
	gr->pause_ns = y_time(y, "pause", 0);
	gr->per_node = y_choice(y, "wait", waits, 0);
	if ((int64_t)t->times * gr->rounds > MAX_FLOWS) {
		y_error(y, "more than %d rounds", MAX_FLOWS);
		return;
	}
	gr->passes = t->times * gr->rounds;
	t->times = 1;
}

/* Expand one pass of a group without random arrivals. */
static void pattern_load(struct scenario *sc, int g, int pattern,
			 struct node **src, int srcs, struct node **dst,
			 int dsts, const int *perm, const struct timing *t,
			 struct rng *rng)
{
	int i, k, serial = 0, n = srcs > dsts ? srcs : dsts;

	switch (pattern) {
	case PAIRS:
		for (i = 0; i < n; i++)
			pair_add(sc, g, src[i % srcs], dst[i % dsts], t,
				 &serial, rng);
		break;
	case ALL_TO_ALL:
		for (i = 0; i < srcs; i++)
			for (k = 0; k < dsts; k++)
				pair_add(sc, g, src[i], dst[k], t, &serial,
					 rng);
		break;
	case PERMUTATION:
		for (i = 0; i < srcs; i++)
			pair_add(sc, g, src[i], dst[perm[i]], t, &serial,
				 rng);
		break;
	}
}

/* Expand a group without random arrivals. */
static void plain_load(struct scenario *sc, int g, struct node **src, int srcs,
		       struct node **dst, int dsts, struct rng *rng)
{
	static const char *const names[] = { "pairs", "all-to-all",
					     "permutation", NULL };
	struct group *gr = &sc->group[g];
	struct ynode *y = gr->y;
	struct timing t = {
		.start_ns = y_moment(sc, y_get(y, "start"), 0),
		.stop_ns = y_moment(sc, y_get(y, "stop"), NEVER),
		.step_ns = y_time(y, "step", 0),
		.jitter_ns = y_time(y, "start_jitter", 0),
		.count = y_int(y, "count", 1, 1, MAX_FLOWS),
		.bytes = y_size(y, "size", NEVER),
		.times = 1,
	};
	int64_t duration = y_time(y, "duration", NEVER);
	int pattern = y_choice(y, "pattern", names, PAIRS), i, *perm = NULL;

	if (duration != NEVER && t.stop_ns != NEVER)
		y_error(y, "give stop or duration, not both");
	if (duration != NEVER)
		t.stop_ns = t.start_ns + duration;
	if (t.stop_ns != NEVER && t.stop_ns <= t.start_ns)
		y_error(y, "stops before it starts");
	if (t.bytes == 0)
		y_error(y, "size must be above 0");
	y_at_most(y, "size", t.bytes, SIZE_MAX_BYTES, "1 PiB");
	repeat_load(sc, g, &t);
	if (pattern == PERMUTATION && (srcs != dsts || srcs < 2)) {
		y_error(y, "a permutation needs as many sources as destinations");
		return;
	}
	if (pattern == PERMUTATION)
		perm = derangement(rng, srcs);
	for (i = 0; i < gr->passes; i++) {
		pattern_load(sc, g, pattern, src, srcs, dst, dsts, perm, &t,
			     rng);
		/* a later pass starts when its gate opens */
		t.start_ns = 0;
	}
	free(perm);
	if (!gr->count)
		y_error(y, "no flow: all would be from a host to itself");
}

/* Give @y the keys of group_defaults: that it does not set itself. */
static void apply_defaults(struct ynode *y, struct ynode *defaults)
{
	int i;

	for (i = 0; defaults && i < defaults->n; i++) {
		struct ynode *d = defaults->child[i];

		if (y_find(y, d->key))
			continue;
		y->child = grow(y->child, y->n, sizeof(d));
		y->child[y->n++] = d;
	}
}

/* Read deadline:, a time, or "2.5x": so many times what the flow takes alone. */
static void deadline_read(struct group *g)
{
	struct ynode *y = y_find(g->y, "deadline");
	size_t len = y && y->text ? strlen(y->text) : 0;

	if (len > 1 && y->text[len - 1] == 'x') {
		char *number = xasprintf("%.*s", (int)len - 1, y->text);

		y->used = true;
		if (!parse_real(number, &g->deadline_factor) ||
		    g->deadline_factor < 0.1 || g->deadline_factor > 1000)
			y_error(y, "\"%s\" is not from 0.1x to 1000x", y->text);
		if (!y_find(g->y, "size") && !y_find(g->y, "poisson"))
			y_error(y, "only flows with a size take a time alone");
		free(number);
		return;
	}
	g->deadline_ns = y_time(g->y, "deadline", 0);
	if (g->deadline_ns % 1000 || g->deadline_ns > 1000000000000)
		y_error(g->y, "a deadline is a number of microseconds, 1000 s at most");
}

/* Read base_rtt:, a time or "path". */
static void base_rtt_read(struct group *g)
{
	struct ynode *y = y_find(g->y, "base_rtt");

	if (y && y->text && !strcmp(y->text, "path")) {
		y->used = true;
		g->base_rtt_of_path = true;
		return;
	}
	g->base_rtt_ns = y_time(g->y, "base_rtt", 0);
	if (g->base_rtt_ns && (g->base_rtt_ns < FL_BASE_RTT_MIN_NS ||
			       g->base_rtt_ns > FL_BASE_RTT_MAX_NS))
		y_error(y, "a base RTT is from 100 ns to 1 s (0: the sender measures it)");
}

/* Name of a congestion control; @dflt without the key. */
const char *y_cc(struct ynode *map, const char *key, const char *dflt)
{
	const char *cc = y_text(map, key, dflt);

	if (cc && (!cc[0] || strlen(cc) > CC_NAME_MAX))
		y_error(y_find(map, key), "the name of a congestion control has 1 to %d letters",
			CC_NAME_MAX);
	return cc;
}

/* A weight under weight:, in thousandths as the kernel has it; @dflt without the key. */
double y_weight(struct ynode *map, double dflt)
{
	double weight = y_real(map, "weight", dflt, 0.001, 1000);

	if (fabs(weight * 1000 - round(weight * 1000)) > 0.000001)
		y_error(y_find(map, "weight"), "a weight has up to three decimals");
	return weight;
}

/* Read one group and expand it. */
static void group_load(struct scenario *sc, struct ynode *y)
{
	static const char *const acks[] = { "delayed", "every", NULL };
	static const char *const connects[] = { "at_start", "early", NULL };
	static const char *const writes[] = { "pieces", "whole", NULL };
	static const char *const buffers[] = { "large", "stock", NULL };
	struct group *g;
	struct node **src, **dst;
	int srcs, dsts;
	struct rng rng;
	char *purpose;

	sc->group = grow(sc->group, sc->groups, sizeof(*g));
	g = &sc->group[sc->groups++];
	memset(g, 0, sizeof(*g));
	g->name = xstrdup(y->key);
	g->y = y;
	g->first = sc->flows;
	g->passes = 1;
	g->rounds = 1;
	g->waits = y_find(y, "after");
	if (!g->name[0] || strpbrk(g->name, ",\"' .\t"))
		y_error(y, "a group's name has letters, and no commas, dots, quotes or blanks");
	g->cc = y_cc(y, "cc", "cubic");
	g->receiver_cc = y_cc(y, "receiver_cc", NULL);
	g->priority = y_int(y, "priority", 0, 0, FL_PRIORITY_MAX);
	g->weight = y_weight(y, 1);
	g->dscp = y_int(y, "dscp", 0, 0, 63);
	g->ack_every = y_choice(y, "ack", acks, 0);
	g->connect_early = y_choice(y, "connect", connects,
				    !y_find(y, "poisson") &&
				    !y_find(y, "incast"));
	g->write_whole = y_choice(y, "write", writes, 0);
	g->stock_buffers = y_choice(y, "buffers", buffers, 0);
	g->rcvbuf = y_size(y, "rcvbuf", NEVER);
	g->sndbuf = y_size(y, "sndbuf", NEVER);
	y_at_most(y, "rcvbuf", g->rcvbuf, BUFFER_MAX, "1 GiB");
	y_at_most(y, "sndbuf", g->sndbuf, BUFFER_MAX, "1 GiB");
	deadline_read(g);
	base_rtt_read(g);
	src = hosts_read(sc, y, "from", &srcs);
	dst = hosts_read(sc, y, "to", &dsts);
	if (!srcs || !dsts)
		return;
	purpose = xasprintf("group %s", y_text(y, "draw", g->name));
	rng_seed(&rng, sc->seed, purpose);
	free(purpose);
	if (!arrivals_load(sc, sc->groups - 1, src, srcs, dst, dsts, &rng))
		plain_load(sc, sc->groups - 1, src, srcs, dst, dsts, &rng);
	free(src);
	free(dst);
}

/* Every flow needs a path and an end, and receivers that ACK each packet need
 * to know for whom.
 */
static void flows_check(struct scenario *sc)
{
	int i;

	for (i = 0; i < sc->flows; i++) {
		struct flow *f = &sc->flow[i];
		const struct group *g = &sc->group[f->group];

		if (hops_between(sc, f->src, f->dst) < 0) {
			y_error(g->y, "no path from %s to %s", f->src->name,
				f->dst->name);
			return;
		}
		if (f->start_ns >= sc->duration_ns) {
			y_error(g->y, "a flow starts at %s, after the end of the run (duration: %s)",
				fmt_time(f->start_ns),
				fmt_time(sc->duration_ns));
			return;
		}
		if (g->ack_every && !strv_has(&f->dst->quickack, f->src->addr))
			strv_addf(&f->dst->quickack, "%s", f->src->addr);
		if (f->start_ns == f->stop_ns)
			y_error(g->y, "a flow of no duration");
	}
	for (i = 0; i < sc->flows; i++) {
		struct flow *f = &sc->flow[i];
		const struct group *g = &sc->group[f->group];

		if (g->ack_every || !strv_has(&f->dst->quickack, f->src->addr))
			continue;
		y_error(g->y, "another group sets ack: every from %s to %s: ACKs are chosen for a pair of hosts",
			f->src->name, f->dst->name);
		return;
	}
}

/* Latest planned stop of all flows, 0 if one has none. */
static int64_t last_stop_ns(const struct scenario *sc)
{
	int64_t ns = 0;
	int i;

	for (i = 0; i < sc->flows; i++) {
		if (sc->flow[i].stop_ns == NEVER)
			return 0;
		if (sc->flow[i].stop_ns > ns)
			ns = sc->flow[i].stop_ns;
	}
	return ns;
}

/* Read groups: and group_defaults:. */
void groups_load(struct scenario *sc)
{
	struct ynode *y = y_need(sc->root, "groups");
	struct ynode *defaults = y_get(sc->root, "group_defaults");
	int i;

	if (!y || !y_is_map(y) || (defaults && !y_is_map(defaults)))
		return;
	for (i = 0; i < y->n; i++) {
		y->child[i]->used = true;
		if (!y_is_map(y->child[i]))
			continue;
		apply_defaults(y->child[i], defaults);
		group_load(sc, y->child[i]);
	}
	if (!sc->flows && !y_errors())
		y_error(y, "no flows");
	if (!y_errors())
		after_load(sc);
	if (!sc->duration_ns)
		sc->duration_ns = last_stop_ns(sc);
	if (!sc->duration_ns)
		y_error(sc->root, "key \"duration\" is missing: not every flow has a stop time");
	else
		flows_check(sc);
}
