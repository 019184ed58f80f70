// SPDX-License-Identifier: GPL-2.0
/* The measures a scenario declares: read, checked when the scenario is loaded,
 * evaluated when the run is over.
 */
#include "measures.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which keys a kind of measure has. */
enum {
	K_PORT = 1,		/* port:, default the bottleneck */
	K_RECEIVERS = 2,	/* ... or "receivers" */
	K_GROUP = 4,		/* group:, one or several, default all */
	K_NEED_GROUP = 8,
	K_WINDOW = 16,		/* window: [from, to], default everything */
	K_FROM = 32,		/* from: and until: */
	K_HOLD = 64,		/* hold: and bin: */
	K_FRACTION = 128,
	K_PERCENTILES = 256,
	K_CLASSES = 512,
	K_TARGET = 1024,
	K_REASON = 2048,
	K_BIN = 4096,
	K_OF = 8192,		/* of:, other values */
	K_SINCE = 16384,	/* from: alone, default none */
	K_PATHS = 32768,	/* all ports on the ways of the flows */
	K_THAN = 65536,		/* than:, another group */
	K_DSCP = 131072,	/* dscp:, one or several, default any */
	K_COUNTERS = 262144,	/* counter:, one or several, and nodes: */
};

struct measure_kind {
	const char *name;
	int keys;
	double fraction;	/* default */
	const char *mode_key;
	const char *const *modes;
	measure_fn eval;
};

static const char *const share_of[] = { "link", "data", NULL };
static const char *const count_what[] = { "all", "data", NULL };
static const char *const fair_per[] = { "flow", "group", "flow/weight",
					"group/weight", NULL };
static const char *const completion_per[] = { "all", "time", "round", NULL };

static const struct measure_kind kinds[] = {
	{ "throughput", K_PORT | K_RECEIVERS | K_GROUP | K_WINDOW | K_DSCP, 0,
	  NULL, NULL, eval_throughput },
	{ "share", K_PORT | K_GROUP | K_WINDOW | K_DSCP, 0, "of", share_of,
	  eval_share },
	{ "utilisation", K_PORT | K_WINDOW, 0, "count", count_what,
	  eval_utilisation },
	{ "preempt", K_PORT | K_NEED_GROUP | K_FROM | K_HOLD | K_FRACTION, 0.95,
	  NULL, NULL, eval_reach },
	{ "reclaim", K_PORT | K_NEED_GROUP | K_FROM | K_HOLD | K_FRACTION, 0.95,
	  NULL, NULL, eval_reach },
	{ "convergence", K_PORT | K_NEED_GROUP | K_FROM | K_HOLD | K_TARGET, 0,
	  NULL, NULL, eval_convergence },
	{ "fairness", K_PORT | K_RECEIVERS | K_GROUP | K_WINDOW, 0, "per",
	  fair_per, eval_fairness },
	{ "intrusion", K_PORT | K_GROUP | K_WINDOW | K_BIN | K_FRACTION, 0.05,
	  NULL, NULL, eval_intrusion },
	{ "silence", K_PORT | K_GROUP | K_WINDOW, 0, NULL, NULL, eval_silence },
	{ "queue_delay", K_PORT | K_GROUP | K_WINDOW | K_PERCENTILES | K_DSCP,
	  0, NULL, NULL, eval_queue_delay },
	{ "backlog", K_PORT | K_GROUP | K_WINDOW | K_PERCENTILES | K_DSCP, 0,
	  NULL, NULL, eval_backlog },
	{ "occupancy", K_PORT | K_GROUP | K_WINDOW | K_DSCP, 0, NULL, NULL,
	  eval_occupancy },
	{ "fct", K_GROUP | K_WINDOW | K_PERCENTILES | K_CLASSES, 0, NULL, NULL,
	  eval_fct },
	{ "slowdown", K_GROUP | K_WINDOW | K_PERCENTILES | K_CLASSES, 0, NULL,
	  NULL, eval_slowdown },
	{ "completion", K_GROUP | K_SINCE | K_PERCENTILES, 0, "per",
	  completion_per, eval_completion },
	{ "max_min", K_GROUP | K_WINDOW | K_PATHS, 0, NULL, NULL, eval_maxmin },
	{ "retransmits", K_GROUP, 0, NULL, NULL, eval_retransmits },
	{ "marks", K_PORT | K_REASON, 0, NULL, NULL, eval_marks },
	{ "drops", K_PORT | K_REASON, 0, NULL, NULL, eval_drops },
	{ "counter", K_COUNTERS, 0, NULL, NULL, eval_counter },
	{ "faster", K_NEED_GROUP | K_THAN, 0, NULL, NULL, eval_faster },
	{ "ratio", K_OF, 0, NULL, NULL, eval_ratio },
	{ "mean", K_OF, 0, NULL, NULL, eval_mean },
	{ "largest", K_OF, 0, NULL, NULL, eval_largest },
	{ "spread", K_OF, 0, NULL, NULL, eval_spread },
};

/* Read port: and see that its packets are recorded. */
static void read_port(struct scenario *sc, struct measure *m)
{
	struct ynode *y = y_get(m->y, "port");
	struct port *p = sc->bottleneck;
	int i;

	if (y && !y_scalar(y))
		return;
	if (y && (m->kind->keys & K_RECEIVERS) &&
	    !strcmp(y->text, "receivers")) {
		m->receivers = true;
		for (i = 0; i < sc->flows; i++)
			tap_add(sc, sc->flow[i].dst->port[0]->peer);
		return;
	}
	if (y)
		p = port_need(sc, y, y->text);
	else if (!p)
		y_error(m->y, "name a port: here or a bottleneck: for all measures");
	if (p && (m->kind->keys & K_REASON))
		strv_addf(&sc->counted, "%s", p->node->name);
	else if (p)
		tap_add(sc, p);
	m->port = p;
}

/* Read group:, one name or a list. */
static void read_groups(struct scenario *sc, struct measure *m)
{
	struct ynode *y = y_get(m->y, "group");
	struct strv names = { 0 };
	int i, g;

	if (!y) {
		if (m->kind->keys & K_NEED_GROUP)
			y_error(m->y, "key \"group\" is missing here");
		return;
	}
	m->group = xzalloc(sc->groups * sizeof(*m->group));
	y_list(m->y, "group", &names);
	if (y->kind == Y_SEQ && !y->n)
		y_error(y, "name one group at least (without the key: all)");
	for (i = 0; i < names.n; i++) {
		int before = y_errors(), found = 0;

		for (g = 0; g < sc->groups; g++) {
			if (!name_match(names.s[i], sc->group[g].name))
				continue;
			m->group[g] = true;
			found++;
		}
		if (!found && before == y_errors())
			y_error(y, "no group called \"%s\"", names.s[i]);
	}
}

/* Words of a list that has room for @most; more are an error. */
static int words_at_most(const struct measure *m, const char *key, const struct strv *text,
			 size_t most)
{
	if ((size_t)text->n <= most)
		return text->n;
	y_error(m->y, "%s: %zu at most", key, most);
	return most;
}

/* Have the values of two percentiles the same name (queues.c)? */
static bool same_percentile(double a, double b)
{
	char first[32], second[32];

	snprintf(first, sizeof(first), "%g", a);
	snprintf(second, sizeof(second), "%g", b);
	return !strcmp(first, second);
}

/* Read percentiles:, numbers from 0 to 100. */
static void read_percentiles(struct measure *m)
{
	static const double usual[] = { 1, 50, 90, 99, 99.9 };
	struct strv text = { 0 };
	int i, k, n;

	y_list(m->y, "percentiles", &text);
	if (!text.n) {
		memcpy(m->percentile, usual, sizeof(usual));
		m->percentiles = ARRAY_SIZE(usual);
	}
	n = words_at_most(m, "percentiles", &text, ARRAY_SIZE(m->percentile));
	for (i = 0; i < n; i++) {
		double v;

		if (!parse_real(text.s[i], &v) || v < 0 || v > 100) {
			y_error(m->y, "percentiles: \"%s\" is not between 0 and 100",
				text.s[i]);
			continue;
		}
		for (k = 0; k < m->percentiles; k++)
			if (same_percentile(m->percentile[k], v))
				y_error(m->y, "percentiles: \"%s\" stands twice", text.s[i]);
		m->percentile[m->percentiles++] = v;
	}
}

/* Read dscp:, numbers from 0 to 63. */
static void read_dscps(struct measure *m)
{
	struct strv text = { 0 };
	int i;

	y_list(m->y, "dscp", &text);
	for (i = 0; i < text.n; i++) {
		double v;

		if (parse_real(text.s[i], &v) && v >= 0 && v <= 63 && v == floor(v))
			m->dscps |= 1ULL << (int)v;
		else
			y_error(m->y, "dscp: \"%s\" is no integer from 0 to 63",
				text.s[i]);
	}
}

/* Flows without a size have no completion time. Groups of random arrivals may be empty. */
static void sizes_check(const struct scenario *sc, const struct measure *m)
{
	bool any = false;
	int i;

	for (i = 0; i < sc->flows; i++) {
		if (m->group && !m->group[sc->flow[i].group])
			continue;
		any = true;
		if (sc->flow[i].bytes != NEVER)
			return;
	}
	if (any)
		y_error(m->y, "no flow of the groups has a size, so none completes");
}

/* Read classes:, the upper bounds of classes of flow size. */
static void read_classes(struct measure *m)
{
	struct strv text = { 0 };
	int i, n;

	y_list(m->y, "classes", &text);
	n = words_at_most(m, "classes", &text, ARRAY_SIZE(m->class_bytes));
	for (i = 0; i < n; i++) {
		int64_t v;

		if (!parse_size(text.s[i], &v) || v <= 0 ||
		    (i && v <= m->class_bytes[i - 1]))
			y_error(m->y, "classes: \"%s\" is not a rising size",
				text.s[i]);
		else
			m->class_bytes[m->classes++] = v;
	}
}

/* Read one measure. */
static void measure_read(struct scenario *sc, struct ynode *y,
			 struct measure *m)
{
	const char *kind = y_text(y, "kind", NULL);
	struct buf b = { 0 };
	size_t i;
	int keys;

	memset(m, 0, sizeof(*m));
	m->name = y->key;
	m->y = y;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		buf_addf(&b, "%s%s", i ? ", " : "", kinds[i].name);
		if (kind && !strcmp(kind, kinds[i].name))
			m->kind = &kinds[i];
	}
	if (!m->kind) {
		y_error(y, "kind: is one of %s", b.s);
		free(b.s);
		return;
	}
	free(b.s);
	keys = m->kind->keys;
	if (keys & K_PORT)
		read_port(sc, m);
	if (keys & (K_GROUP | K_NEED_GROUP))
		read_groups(sc, m);
	m->to_ns = sc->duration_ns;
	if (keys & K_WINDOW)
		y_window(sc, y, "window", &m->from_ns, &m->to_ns);
	if (keys & K_FROM) {
		m->from_ns = y_moment(sc, y_need(y, "from"), 0);
		m->to_ns = y_moment(sc, y_get(y, "until"), sc->duration_ns);
		if (m->from_ns >= m->to_ns)
			y_error(y, "from: is not before until:");
	}
	if (m->to_ns > sc->duration_ns)
		y_error(y, "reaches beyond the end of the run (%s)",
			fmt_time(sc->duration_ns));
	if (keys & K_SINCE)
		m->from_ns = y_moment(sc, y_get(y, "from"), NEVER);
	m->hold_ns = keys & K_HOLD ? y_time(y, "hold", 200000) : 0;
	m->bin_ns = keys & (K_HOLD | K_BIN) ?
		    y_time(y, "bin", keys & K_BIN ? 100000 : 20000) : 0;
	if ((keys & (K_HOLD | K_BIN)) && m->bin_ns <= 0)
		y_error(y, "bin must be above 0");
	if (keys & K_FRACTION)
		m->fraction = y_real(y, "fraction", m->kind->fraction, 0, 1);
	if (keys & K_PERCENTILES)
		read_percentiles(m);
	if (keys & K_CLASSES) {
		sizes_check(sc, m);
		read_classes(m);
	}
	if (keys & K_TARGET) {
		y_need(y, "target");
		m->target = y_real(y, "target", 1, 0, 1);
		m->tolerance = y_real(y, "tolerance", 0.05, 0, 1);
	}
	if (keys & K_REASON)
		m->reason = y_text(y, "counter", NULL);
	if (keys & K_OF)
		derived_check(sc, y);
	if (m->kind->modes)
		m->mode = y_choice(y, m->kind->mode_key, m->kind->modes, 0);
	if (keys & K_SINCE)
		completion_check(sc, m);
	if (keys & K_PATHS)
		maxmin_check(sc, m);
	if (keys & K_DSCP)
		read_dscps(m);
	if (keys & K_COUNTERS)
		counter_check(sc, m);
	m->than = -1;
	if ((keys & K_THAN) && y_need(y, "than"))
		m->than = group_need(sc, y_get(y, "than"),
				     y_text(y, "than", ""));
	if (m->than >= 0 && m->group)
		faster_check(sc, m);
}

/* The values that a run of the scenario has, by name and unit: those of one in which
 * nothing happened.
 */
static void values_known(struct scenario *sc, struct values *out)
{
	struct run run = { .sc = sc };
	int i;

	run.flow = xzalloc((sc->flows + 1) * sizeof(*run.flow));
	for (i = 0; i < sc->flows; i++) {
		run.flow[i].start_ns = NEVER;
		run.flow[i].end_ns = NEVER;
	}
	measures_run(&run, out);
	free(run.flow);
}

/* Check measures:, expect: and expect_median:, and set up the recorders. */
void measures_check(struct scenario *sc)
{
	struct values values = { 0 }, *known = NULL;
	struct measure m;
	int i;

	sc->measures = y_get(sc->root, "measures");
	sc->expect = y_get(sc->root, "expect");
	sc->expect_median = y_get(sc->root, "expect_median");
	if (sc->measures && y_is_map(sc->measures)) {
		for (i = 0; i < sc->measures->n; i++) {
			struct ynode *y = sc->measures->child[i];

			y->used = true;
			if (!y->key[0] || strpbrk(y->key, ". ,\"<>="))
				y_error(y, "a measure needs a name without dots, blanks, commas and signs");
			/* "name: null" takes a measure away */
			if (!y_is_null(y) && y_is_map(y))
				measure_read(sc, y, &m);
		}
	}
	if (!y_errors())
		values_known(sc, &values);
	if (!y_errors())
		known = &values;
	if (sc->expect)
		expect_check(sc->expect, sc->measures, known);
	if (sc->expect_median)
		expect_check(sc->expect_median, sc->measures, known);
	sc->expect_ratio = y_get(sc->root, "expect_ratio");
	if (sc->expect_ratio)
		ratio_check(sc->expect_ratio, sc->measures, known);
}

/* Append one result under a formatted name. */
void value_add(struct values *out, const char *unit, double v,
	       const char *fmt, ...)
{
	struct value *x;
	va_list ap;

	out->v = grow(out->v, out->n, sizeof(*out->v));
	x = &out->v[out->n++];
	x->v = v;
	x->unit = unit;
	va_start(ap, fmt);
	if (vasprintf(&x->name, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
}

/* Result by name, NULL if there is none. */
const struct value *value_find(const struct values *all, const char *name)
{
	int i;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].name, name))
			return &all->v[i];
	return NULL;
}

/* So many names of other values in an error. */
#define NAMES_SHOWN	9

/* Result by name; an error at @at if there is none, with what the measure has instead. */
const struct value *value_need(struct ynode *at, const struct values *all,
			       const char *name)
{
	const struct value *v = value_find(all, name);
	size_t base = strcspn(name, ".");
	struct buf b = { 0 };
	int i, n = 0;

	if (v)
		return v;
	for (i = 0; i < all->n; i++)
		if (strcspn(all->v[i].name, ".") == base &&
		    !strncmp(all->v[i].name, name, base) && n++ < NAMES_SHOWN)
			buf_addf(&b, "%s%s", b.len ? ", " : "", all->v[i].name);
	y_error(at, "no value called \"%s\": the measure has %s%s", name,
		n ? b.s : "none", n > NAMES_SHOWN ? ", ..." : "");
	free(b.s);
	return NULL;
}

/* Evaluate all measures, in the order of the file. */
void measures_run(const struct run *run, struct values *out)
{
	struct scenario *sc = (struct scenario *)run->sc;
	struct measure m;
	int i;

	for (i = 0; sc->measures && i < sc->measures->n; i++) {
		if (y_is_null(sc->measures->child[i]))
			continue;
		measure_read(sc, sc->measures->child[i], &m);
		m.kind->eval(&m, run, out);
		free(m.group);
	}
}
