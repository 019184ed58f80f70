// SPDX-License-Identifier: GPL-2.0
/* Jobs as graphs of stages (dags:), read from a file and made into groups of flows
 * that wait for each other:
 *
 *	job q1
 *	stage scan 8 100us
 *	stage sum 4 50us scan:8mb
 *
 * A stage has tasks, computes for a time when all its inputs are there, and then sends.
 * Each input is a stage above it and the bytes that come from there, the same from
 * each task to each. Documentation/guide/lab.rst says more.
 */
#include "scenario.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INPUTS 16

struct input {
	int stage;
	int64_t bytes;
};

struct stage {
	char *name;
	int tasks;
	int64_t time_ns;
	struct input input[MAX_INPUTS];
	int inputs;
	double below;		/* bytes on the longest way from its end to the job's */
	char *hosts;		/* "h3, h7": of its tasks */
};

struct dag {
	char *name;
	struct stage *stage;
	int stages;
};

struct dags {
	struct ynode *y;
	const char *path;
	int row;
	struct dag *dag;
	int n;
};

static void bad(const struct dags *d, const char *what)
{
	y_error(d->y, "%s:%d: %s", d->path, d->row, what);
}

/* "scan:8mb" */
static void input_read(struct dags *d, struct dag *dag, struct stage *s,
		       const char *text)
{
	const char *colon = strchr(text, ':');
	struct input in = { .stage = -1 };
	int i;

	for (i = 0; colon && i < dag->stages - 1; i++)
		if (strlen(dag->stage[i].name) == (size_t)(colon - text) &&
		    !strncmp(dag->stage[i].name, text, colon - text))
			in.stage = i;
	if (in.stage < 0)
		bad(d, "an input is STAGE:SIZE, a stage above it in its job");
	else if (!parse_size(colon + 1, &in.bytes) || in.bytes <= 0)
		bad(d, "the size of an input is one like 8mb");
	else if (s->inputs >= MAX_INPUTS)
		bad(d, "more than 16 inputs");
	else
		s->input[s->inputs++] = in;
}

/* stage NAME TASKS TIME [STAGE:SIZE]... */
static void stage_read(struct dags *d, const struct strv *word)
{
	struct dag *dag = d->n ? &d->dag[d->n - 1] : NULL;
	struct stage *s;
	int64_t tasks;
	int i;

	if (!dag || word->n < 4) {
		bad(d, "expected \"job NAME\", then \"stage NAME TASKS TIME [STAGE:SIZE]...\"");
		return;
	}
	for (i = 0; i < dag->stages; i++)
		if (!strcmp(dag->stage[i].name, word->s[1]))
			bad(d, "a second stage of this name");
	dag->stage = grow(dag->stage, dag->stages, sizeof(*s));
	s = &dag->stage[dag->stages++];
	memset(s, 0, sizeof(*s));
	s->name = xstrdup(word->s[1]);
	if (!parse_int(word->s[2], &tasks) || tasks < 1 || tasks > 4000)
		bad(d, "the number of tasks is from 1 to 4000");
	else
		s->tasks = tasks;
	if (!parse_time(word->s[3], &s->time_ns))
		bad(d, "the time to compute is one like 100us");
	for (i = 4; i < word->n; i++)
		input_read(d, dag, s, word->s[i]);
}

static void text_read(struct dags *d, char *text)
{
	struct strv word = { 0 };
	char *save, *w;

	text[strcspn(text, "#\r\n")] = 0;
	for (w = strtok_r(text, " \t", &save); w;
	     w = strtok_r(NULL, " \t", &save))
		strv_addf(&word, "%s", w);
	if (word.n && strpbrk(word.n > 1 ? word.s[1] : "", "-,\".*?[]{}:$'")) {
		bad(d, "a name is of letters, digits and _");
	} else if (word.n == 2 && !strcmp(word.s[0], "job")) {
		d->dag = grow(d->dag, d->n, sizeof(*d->dag));
		memset(&d->dag[d->n], 0, sizeof(*d->dag));
		d->dag[d->n++].name = xstrdup(word.s[1]);
	} else if (word.n && !strcmp(word.s[0], "stage")) {
		stage_read(d, &word);
	} else if (word.n) {
		bad(d, "a line is \"job NAME\" or \"stage NAME TASKS TIME [STAGE:SIZE]...\"");
	}
}

static void file_read(struct dags *d)
{
	FILE *f = fopen(d->path, "re");
	char *text = NULL;
	size_t room = 0;

	if (!f) {
		y_error(d->y, "cannot read %s: %s", d->path, strerror(errno));
		return;
	}
	while (!y_errors() && getline(&text, &room, f) > 0) {
		d->row++;
		text_read(d, text);
	}
	if (!y_errors() && !d->n)
		bad(d, "no jobs");
	fclose(f);
	free(text);
}

/* Random different hosts for the tasks of a stage. */
static char *place_stage(int tasks, struct node **host, int hosts,
			 struct rng *rng)
{
	struct buf b = { 0 };
	int k;

	for (k = 0; k < tasks; k++) {
		int pick = k + rng_below(rng, hosts - k);
		struct node *h = host[pick];

		host[pick] = host[k];
		host[k] = h;
		buf_addf(&b, "%s%s", k ? ", " : "", h->name);
	}
	return b.s;
}

/* Would an input have nothing to send, one task on the host of the other? */
static bool is_local(const struct dag *dag, const struct stage *s)
{
	int i;

	for (i = 0; i < s->inputs; i++)
		if (!strcmp(dag->stage[s->input[i].stage].hosts, s->hosts))
			return true;
	return false;
}

/* Hosts for the tasks of all stages. */
static void place(struct dags *d, struct dag *dag, struct node **host, int hosts,
		  struct rng *rng)
{
	int i, tries;

	for (i = 0; i < dag->stages; i++) {
		struct stage *s = &dag->stage[i];

		if (s->tasks > hosts) {
			y_error(d->y, "stage %s of job %s has more tasks than there are hosts",
				s->name, dag->name);
			return;
		}
		for (tries = 0; tries < 1000; tries++) {
			free(s->hosts);
			s->hosts = place_stage(s->tasks, host, hosts, rng);
			if (s->tasks > 1 || !is_local(dag, s))
				break;
		}
		if (tries == 1000) {
			y_error(d->y, "too few hosts for stage %s of job %s and its inputs",
				s->name, dag->name);
			return;
		}
	}
}

/* The longest way from each stage to the end, in bytes; returns the mean over all
 * inputs of the way that begins with them.
 */
static double distances(struct dag *dag)
{
	double sum = 0;
	int i, k, n = 0;

	for (i = dag->stages - 1; i >= 0; i--) {
		struct stage *s = &dag->stage[i];

		for (k = 0; k < s->inputs; k++) {
			struct stage *from = &dag->stage[s->input[k].stage];
			double way = s->below + s->input[k].bytes;

			from->below = fmax(from->below, way);
			sum += way;
			n++;
		}
	}
	return n ? sum / n : 1;
}

/* One input of a stage as a group of flows. */
static void input_group(struct scenario *sc, const struct dag *dag,
			const struct stage *to, const struct input *in,
			const char *prefix, double weight, const char *first)
{
	const struct stage *from = &dag->stage[in->stage];
	struct buf b = { 0 };
	int i;

	buf_addf(&b, "groups.%s-%s-%s-%s={from: [%s], to: [%s], pattern: all-to-all, size: %lld, weight: %.3f",
		 prefix, dag->name, from->name, to->name, from->hosts,
		 to->hosts, (long long)fmax(1, (double)in->bytes / from->tasks /
					    to->tasks), weight);
	if (from->inputs || first) {
		buf_addf(&b, ", delay: %lldns, after: [", (long long)from->time_ns);
		for (i = 0; i < from->inputs; i++)
			buf_addf(&b, "%s%s-%s-%s-%s", i ? ", " : "", prefix,
				 dag->name,
				 dag->stage[from->input[i].stage].name,
				 from->name);
		buf_addf(&b, "%s]}", from->inputs ? "" : first);
	} else {
		buf_addf(&b, ", start: %lldns}", (long long)from->time_ns);
	}
	yaml_set(sc->root, b.s);
	free(b.s);
}

/* One job; @first: what it waits for as a whole, NULL: nothing. */
static void dag_groups(struct scenario *sc, struct dag *dag, const char *prefix,
		       bool by_distance, const char *first)
{
	double mean = distances(dag);
	int i, k;

	for (i = 0; i < dag->stages; i++) {
		const struct stage *s = &dag->stage[i];

		for (k = 0; k < s->inputs; k++) {
			double way = s->below + s->input[k].bytes;

			input_group(sc, dag, s, &s->input[k], prefix,
				    by_distance ? fmin(fmax(5 * way / mean, 1), 25) : 1,
				    first);
		}
	}
}

/* Read dags: and add its groups to the scenario. */
void dags_load(struct scenario *sc)
{
	static const char *const names[] = { "fair", "distance", NULL };
	struct ynode *y = y_get(sc->root, "dags");
	struct dags d = { .y = y };
	struct strv weights = { 0 };
	struct node **host = NULL;
	int hosts = 0, i, k;
	bool together;
	const char *file;
	char *first = NULL;
	struct rng rng;

	if (!y || !y_is_map(y))
		return;
	y_need(y, "file");
	file = y_text(y, "file", NULL);
	nodes_match(sc, y, y_text(y, "hosts", "*"), false, &host, &hosts);
	y_list(y, "weights", &weights);
	together = y_bool(y, "together", false);
	if (!weights.n)
		strv_addf(&weights, "fair");
	for (i = 0; i < weights.n; i++)
		if (strcmp(weights.s[i], names[0]) &&
		    strcmp(weights.s[i], names[1]))
			y_error(y, "weights: fair, distance or both");
	if (weights.n > 2 || (weights.n == 2 && !strcmp(weights.s[0], weights.s[1])))
		y_error(y, "weights: each of them once");
	if (!file || y_errors())
		return;
	d.path = y_file(y, file);
	file_read(&d);
	rng_seed(&rng, sc->seed, "dags");
	for (k = 0; k < d.n && !y_errors(); k++)
		place(&d, &d.dag[k], host, hosts, &rng);
	for (i = 0; i < weights.n && !y_errors(); i++) {
		for (k = 0; k < d.n; k++) {
			dag_groups(sc, &d.dag[k], weights.s[i],
				   !strcmp(weights.s[i], "distance"), first);
			if (together && k < d.n - 1)
				continue;
			free(first);
			first = together ?
				xasprintf("\"%s-*\"", weights.s[i]) :
				xasprintf("\"%s-%s-*\"", weights.s[i],
					  d.dag[k].name);
		}
	}
	free(first);
	free(host);
}
