// SPDX-License-Identifier: GPL-2.0
/* Read a scenario file from top to bottom and check it. */
#include "scenario.h"
#include "measures.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* Shortest interval between samples of tcp_info, ns. */
#define SAMPLE_MIN_NS 100

/* Set one name to a value; the place of the first setting is kept. */
void pairs_set(struct pairs *p, const char *key, const char *value)
{
	int i;

	for (i = 0; i < p->n; i++) {
		if (strcmp(p->key[i], key))
			continue;
		p->value[i] = xstrdup(value);
		return;
	}
	p->key = grow(p->key, p->n, sizeof(*p->key));
	p->value = grow(p->value, p->n, sizeof(*p->value));
	p->key[p->n] = xstrdup(key);
	p->value[p->n++] = xstrdup(value);
}

/* Value of a name, NULL if it is not set. */
const char *pairs_get(const struct pairs *p, const char *key)
{
	int i;

	for (i = 0; i < p->n; i++)
		if (!strcmp(p->key[i], key))
			return p->value[i];
	return NULL;
}

/* Read a mapping of names to single values. */
void pairs_read(struct ynode *map, const char *key, struct pairs *out)
{
	struct ynode *y = y_get(map, key);
	int i;

	if (!y || !y_is_map(y))
		return;
	for (i = 0; i < y->n; i++) {
		const char *s = y_scalar(y->child[i]);

		if (!y->child[i]->key[0] || strstr(y->child[i]->key, ".."))
			y_error(y->child[i], "not a name");
		if (s)
			pairs_set(out, y->child[i]->key, s);
	}
}

/* modules: {tcp_prioplus: {base_rtt_us: 13}, sch_fabric: "a=1 b=2"} */
static void modules_load(struct scenario *sc)
{
	struct ynode *y = y_get(sc->root, "modules");
	int i, k;

	if (!y || !y_is_map(y))
		return;
	for (i = 0; i < y->n; i++) {
		struct ynode *m = y->child[i];
		struct buf b = { 0 };

		m->used = true;
		buf_add(&b, "", 0);
		if (m->kind == Y_SCALAR)
			buf_addf(&b, "%s", y_is_null(m) ? "" : m->text);
		if (m->kind == Y_SEQ)
			y_error(m, "module parameters are a mapping");
		for (k = 0; m->kind == Y_MAP && k < m->n; k++) {
			const char *v = y_scalar(m->child[k]);

			if (v && v[0])
				buf_addf(&b, "%s%s=%s", b.len ? " " : "",
					 m->child[k]->key, v);
		}
		pairs_set(&sc->modules, m->key, b.s);
	}
}

/* series:, queues: and sample:, the time series a run writes. */
static void series_load(struct scenario *sc)
{
	static const char *const places[] = { "port", "receiver", NULL };
	struct ynode *y = y_get(sc->root, "series");
	struct strv names = { 0 };
	int i;

	if (y && y_is_map(y)) {
		sc->series_ns = y_time(y, "interval", 100000);
		sc->series_receiver = y_choice(y, "at", places, 0);
		if (!sc->series_ns)
			y_error(y, "interval must be above 0");
		if (!sc->series_receiver && !sc->bottleneck)
			y_error(y, "name the port under bottleneck:, or set at: receiver");
	}
	for (i = 0; sc->series_receiver && i < sc->flows; i++)
		tap_add(sc, sc->flow[i].dst->port[0]->peer);
	y = y_get(sc->root, "queues");
	if (y && y_is_map(y)) {
		sc->queues_ns = y_time(y, "interval", 100000);
		if (!sc->queues_ns)
			y_error(y, "interval must be above 0");
		y_list(y, "ports", &names);
		for (i = 0; i < names.n; i++)
			ports_match(sc, y, names.s[i], &sc->queue,
				    &sc->queues);
		if (!names.n && sc->bottleneck) {
			sc->queue = grow(NULL, 0, sizeof(*sc->queue));
			sc->queue[sc->queues++] = sc->bottleneck;
		}
		if (!sc->queues)
			y_error(y, "name ports:, or a bottleneck:");
		for (i = 0; i < sc->queues; i++)
			tap_add(sc, sc->queue[i]);
	}
	y = y_get(sc->root, "sample");
	if (y && y_is_map(y)) {
		sc->sample_ns = y_time(y, "interval", 100000);
		y_list(y, "groups", &sc->sample_groups);
		for (i = 0; i < sc->sample_groups.n; i++)
			group_need(sc, y, sc->sample_groups.s[i]);
		if (sc->sample_ns < SAMPLE_MIN_NS)
			y_error(y, "interval must be %d ns at least", SAMPLE_MIN_NS);
	}
}

/* references: {simulator: {preempt_4: 2790us}}: columns beside our values. */
static void references_load(struct scenario *sc)
{
	struct ynode *y = y_get(sc->root, "references");
	int i, k;

	if (!y || !y_is_map(y))
		return;
	for (i = 0; i < y->n; i++) {
		struct ynode *column = y->child[i];

		column->used = true;
		if (!y_is_map(column))
			continue;
		for (k = 0; k < column->n; k++) {
			const char *key = column->child[k]->key;
			/* "A/B measure", see expect_ratio */
			const char *blank = strchr(key, '/') ?
					    strchr(key, ' ') : NULL;
			char *base = xstrdup(blank ? blank + 1 : key);

			*strchrnul(base, '.') = 0;
			y_scalar(column->child[k]);
			if (!sc->measures || !y_find(sc->measures, base))
				y_error(column->child[k],
					"no measure called \"%s\"", base);
			free(base);
		}
	}
}

/* End the program if there were errors. */
void scenario_errors(const char *path)
{
	if (!y_errors())
		return;
	fprintf(stderr, "lab: %s: %d error%s\n", path, y_errors(),
		y_errors() > 1 ? "s" : "");
	exit(LAB_USAGE);
}

/* Load, override, expand and check; any error ends the program. */
struct scenario *scenario_load(const char *path, const struct strv *sets,
			       int64_t seed)
{
	static const char *const families[] = { "ipv4", "ipv6", NULL };
	struct scenario *sc = xzalloc(sizeof(*sc));
	struct ynode *params;
	int i;

	sc->path = xstrdup(path);
	sc->root = yaml_load(path, &sc->files);
	for (i = 0; sets && i < sets->n; i++)
		yaml_set(sc->root, sets->s[i]);
	yaml_params(sc->root);
	params = y_find(sc->root, "params");
	for (i = 0; params && params->kind == Y_MAP && i < params->n; i++)
		if (params->child[i]->kind == Y_SCALAR)
			pairs_set(&sc->params, params->child[i]->key,
				  params->child[i]->text);
	y_need(sc->root, "title");
	sc->title = xstrdup(y_text(sc->root, "title", ""));
	sc->description = xstrdup(y_text(sc->root, "description", ""));
	sc->seed = y_int(sc->root, "seed", 1, 0, SEED_MAX);
	if (seed >= 0)
		sc->seed = seed;
	sc->ipv6 = y_choice(sc->root, "family", families, 0);
	sc->duration_ns = y_time(sc->root, "duration", 0);
	if (!sc->duration_ns && y_get(sc->root, "duration"))
		y_error(y_find(sc->root, "duration"),
			"must be above 0; without it the run ends when the last flow stops");
	pairs_read(sc->root, "sysctl", &sc->sysctl);
	modules_load(sc);
	topology_load(sc);
	if (!y_errors())
		dags_load(sc);
	if (!y_errors())
		groups_load(sc);
	if (!y_errors()) {
		events_load(sc);
		series_load(sc);
		measures_check(sc);
		references_load(sc);
		y_check_unknown(sc->root);
	} else if (!sc->nodes || !sc->groups) {
		fprintf(stderr, "(checks of what depends on this were skipped)\n");
	}
	scenario_errors(path);
	return sc;
}
