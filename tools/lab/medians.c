// SPDX-License-Identifier: GPL-2.0
/* Medians and ranges of a sweep: sweep.json, sweep.csv and a table.
 *
 * "Not reached" counts as larger than any number: a median is not reached if
 * half of the runs or more did not reach it.
 */
#include "results.h"
#include "sweep.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One measure over the seeds of one combination. */
struct spread {
	char *name;
	const char *unit;
	double *v;		/* by seed, in order; sorted later */
	double median, min, max;
};

struct spreads {
	struct spread *s;
	int n;
};

/* Folder of one run. */
char *sweep_run_dir(const struct sweep *s, int combo, int seed)
{
	return xasprintf("%s/%s/seed-%lld", s->dir, s->combo[combo].name,
			 (long long)s->first_seed + seed);
}

/* Order of doubles for qsort; NAN comes last. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

/* Median, smallest and largest of sorted values. */
static void spread_stats(struct spread *s, const double *v, int n)
{
	double *x = xmalloc(sizeof(*x) * n);

	memcpy(x, v, sizeof(*x) * n);
	qsort(x, n, sizeof(*x), by_value);
	s->min = x[0];
	s->max = x[n - 1];
	s->median = n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
	free(x);
}

/* Unit texts that outlive the JSON they come from. */
static const char *unit_const(const char *unit)
{
	static const char *const all[] = { "us", "bps", "bytes", "packets",
					   "flows" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (unit && !strcmp(unit, all[i]))
			return all[i];
	return "";
}

/* Append a measure whose values are still to come. */
static void spread_add(struct spreads *out, const char *name,
		       const cJSON *units, int seeds)
{
	const cJSON *u = cJSON_GetObjectItemCaseSensitive(units, name);
	struct spread *s;

	out->s = grow(out->s, out->n, sizeof(*out->s));
	s = &out->s[out->n++];
	memset(s, 0, sizeof(*s));
	s->name = xstrdup(name);
	s->unit = unit_const(cJSON_GetStringValue(u));
	s->v = xzalloc(sizeof(double) * seeds);
}

/* Read the summaries of the runs that were clean; returns how many. */
static int collect(const struct sweep *s, int combo, struct spreads *out)
{
	int k, i, runs = 0;

	memset(out, 0, sizeof(*out));
	for (k = 0; k < s->seeds; k++) {
		int rc = s->combo[combo].exit_code[k];
		cJSON *json, *m, *units;
		char *dir;

		if (rc != LAB_OK && rc != LAB_EXPECT)
			continue;
		dir = sweep_run_dir(s, combo, k);
		json = json_file(dir, "summary.json");
		units = cJSON_GetObjectItem(json, "units");
		i = 0;
		cJSON_ArrayForEach(m, cJSON_GetObjectItem(json, "measures")) {
			if (i == out->n)
				spread_add(out, m->string, units, s->seeds);
			out->s[i++].v[runs] = cJSON_IsNumber(m) ?
					      m->valuedouble : NAN;
		}
		runs++;
		cJSON_Delete(json);
		free(dir);
	}
	for (i = 0; runs && i < out->n; i++)
		spread_stats(&out->s[i], out->s[i].v, runs);
	return runs;
}

/* A combination's part of sweep.json. */
static cJSON *combo_json(const struct combo *c, const struct spreads *sp,
			 int runs, const struct verdicts *verdicts)
{
	cJSON *o = cJSON_CreateObject(), *m, *e, *list;
	int i, k;

	cJSON_AddStringToObject(o, "name", c->name);
	add_strings(o, "set", &c->set);
	cJSON_AddNumberToObject(o, "clean_runs", runs);
	m = cJSON_AddObjectToObject(o, "measures");
	for (i = 0; i < sp->n; i++) {
		const struct spread *s = &sp->s[i];

		e = cJSON_AddObjectToObject(m, s->name);
		cJSON_AddStringToObject(e, "unit", s->unit);
		cJSON_AddItemToObject(e, "median", json_value(s->median));
		cJSON_AddItemToObject(e, "min", json_value(s->min));
		cJSON_AddItemToObject(e, "max", json_value(s->max));
		list = cJSON_AddArrayToObject(e, "values");
		for (k = 0; k < runs; k++)
			cJSON_AddItemToArray(list, json_value(s->v[k]));
	}
	list = cJSON_AddArrayToObject(o, "expectations");
	for (i = 0; i < verdicts->n; i++) {
		e = cJSON_CreateObject();
		cJSON_AddStringToObject(e, "text", verdicts->v[i].text);
		cJSON_AddItemToObject(e, "value",
				      json_value(verdicts->v[i].value));
		cJSON_AddBoolToObject(e, "pass", verdicts->v[i].pass);
		cJSON_AddItemToArray(list, e);
	}
	return o;
}

/* "12.3 us [11.0 us .. 14.1 us]" */
static char *spread_text(const struct spread *s)
{
	if (s->min == s->max)
		return xasprintf("%s", fmt_value(s->median, s->unit));
	return xasprintf("%s [%s .. %s]", fmt_value(s->median, s->unit),
			 fmt_value(s->min, s->unit),
			 fmt_value(s->max, s->unit));
}

/* Print one combination's table and write its rows of sweep.csv. */
static void combo_table(FILE *csv, const struct combo *c,
			const struct spreads *sp, int runs)
{
	const struct ynode *refs = y_find(c->sc->root, "references");
	int i, k, width = 8;

	for (i = 0; i < sp->n; i++)
		if ((int)strlen(sp->s[i].name) > width)
			width = strlen(sp->s[i].name);
	printf("\n%s (%d clean runs)\n%-*s  %-44s", c->name, runs, width,
	       "measure", "median [smallest .. largest]");
	for (k = 0; refs && k < refs->n; k++)
		printf("  %16s", refs->child[k]->key);
	printf("\n");
	for (i = 0; i < sp->n; i++) {
		const struct spread *s = &sp->s[i];
		char *text = spread_text(s);

		printf("%-*s  %-44s", width, s->name, text);
		for (k = 0; refs && k < refs->n; k++) {
			const struct ynode *r = y_find(refs->child[k],
						       s->name);

			printf("  %16s", r && r->text ? r->text : "");
		}
		printf("\n");
		fprintf(csv, "\"%s\",%s,%s,%.9g,%.9g,%.9g,%d\n", c->name,
			s->name, s->unit, s->median, s->min, s->max, runs);
		free(text);
	}
}

/* Judge one combination: every run clean, every run's own expectations, the
 * expectations on medians. Returns the exit code.
 */
static int judge(const struct sweep *s, int combo, const struct spreads *sp,
		 struct verdicts *verdicts)
{
	const struct combo *c = &s->combo[combo];
	struct values medians = { 0 };
	int i, worst = LAB_OK, failed = 0;

	for (i = 0; i < s->seeds; i++) {
		failed += c->exit_code[i] == LAB_EXPECT;
		if (c->exit_code[i] != LAB_OK && c->exit_code[i] != LAB_EXPECT)
			worst = LAB_UNCLEAN;
	}
	if (failed)
		printf("FAILED an expectation of the single runs in %d of %d\n",
		       failed, s->seeds);
	for (i = 0; i < sp->n; i++)
		value_add(&medians, sp->s[i].unit, sp->s[i].median, "%s",
			  sp->s[i].name);
	if (sp->n)
		expect_run(c->sc->expect_median, &medians, verdicts);
	for (i = 0; i < verdicts->n; i++)
		printf("%s median %s  (%s)\n",
		       verdicts->v[i].pass ? "  ok  " : "FAILED",
		       verdicts->v[i].text,
		       fmt_value(verdicts->v[i].value, verdicts->v[i].unit));
	if (worst == LAB_OK && (failed || verdicts->failed))
		worst = LAB_EXPECT;
	return worst;
}

/* The scenario's path below the project's folder; as it was given elsewhere. */
static char *project_path(const char *scenario)
{
	char *path = realpath(scenario, NULL), *out;
	size_t len = strlen(path_root());

	if (path && !strncmp(path, path_root(), len) && path[len] == '/')
		out = xstrdup(path + len + 1);
	else
		out = xstrdup(scenario);
	free(path);
	return out;
}

/* Add a list of a scenario's texts, if there is one. */
static void add_texts(cJSON *json, const char *key, const struct ynode *y)
{
	cJSON *list = y ? cJSON_AddArrayToObject(json, key) : NULL;
	int i;

	for (i = 0; y && i < y->n; i++)
		cJSON_AddItemToArray(list,
				     cJSON_CreateString(y->child[i]->text));
}

/* Write and print what the sweep found; returns lab's exit code. */
int sweep_report(const struct sweep *s)
{
	cJSON *json = cJSON_CreateObject(), *list;
	FILE *csv = open_out(s->dir, "sweep.csv");
	const char *slash = strrchr(s->scenario, '/');
	char *path, *text;
	int c, worst = LAB_OK;

	cJSON_AddStringToObject(json, "title", s->combo[0].sc->title);
	cJSON_AddStringToObject(json, "scenario",
				slash ? slash + 1 : s->scenario);
	path = project_path(s->scenario);
	cJSON_AddStringToObject(json, "path", path);
	free(path);
	cJSON_AddNumberToObject(json, "first_seed", s->first_seed);
	cJSON_AddNumberToObject(json, "seeds", s->seeds);
	add_texts(json, "expect_ratio", s->combo[0].sc->expect_ratio);
	list = cJSON_AddArrayToObject(json, "combinations");
	fputs("set,measure,unit,median,min,max,runs\n", csv);
	for (c = 0; c < s->combos; c++) {
		struct verdicts verdicts = { 0 };
		struct spreads sp;
		int runs = collect(s, c, &sp), rc;

		combo_table(csv, &s->combo[c], &sp, runs);
		rc = judge(s, c, &sp, &verdicts);
		cJSON_AddItemToArray(list, combo_json(&s->combo[c], &sp, runs,
						      &verdicts));
		if (rc > worst)
			worst = rc;
	}
	cJSON_AddBoolToObject(json, "passed", worst == LAB_OK);
	close_out(csv, s->dir, "sweep.csv");
	path = xasprintf("%s/sweep.json", s->dir);
	text = cJSON_Print(json);
	write_file(path, text);
	printf("\nresults: %s (sweep.json, sweep.csv)\n", s->dir);
	cJSON_Delete(json);
	free(text);
	free(path);
	return worst;
}
