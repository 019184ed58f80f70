// SPDX-License-Identifier: GPL-2.0
/* Expectations about two sweeps, "PrioPlus/Physical fct_small.mean <= 1.05": the
 * ratio of a value of one to the same value of the other, seed by seed, since
 * runs with the same seed have the same arrivals. Read and checked with the
 * scenario, judged by lab compare.
 */
#include "compare.h"
#include "measures.h"
#include "results.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The parts of "A/B value <= limit". */
struct ratio {
	char *over, *under, *name, *target;
};

/* Split the text; false if it is not such an expectation. */
static bool ratio_parse(const char *text, struct ratio *r)
{
	char over[64], under[64], name[128], target[128];
	int end = 0;

	memset(r, 0, sizeof(*r));
	if (sscanf(text, "%63[^/ ]/%63s %127s%n", over, under, name, &end) != 3 ||
	    sscanf(text + end, " %127[^\n]", target) != 1)
		return false;
	r->over = xstrdup(over);
	r->under = xstrdup(under);
	r->name = xstrdup(name);
	r->target = xstrdup(target);
	return true;
}

/* Release what ratio_parse() made. */
static void ratio_free(struct ratio *r)
{
	free(r->over);
	free(r->under);
	free(r->name);
	free(r->target);
}

/* A list of texts as expect_run() wants it: one "ratio <= limit". */
static void judge_one(const struct ratio *r, double v, struct verdicts *out)
{
	struct ynode text = { .kind = Y_SCALAR }, *child = &text;
	struct ynode list = { .kind = Y_SEQ, .child = &child, .n = 1 };
	struct values values = { 0 };

	text.text = xasprintf("ratio %s", r->target);
	value_add(&values, "", v, "ratio");
	expect_run(&list, &values, out);
	free(text.text);
	free(values.v[0].name);
	free(values.v);
}

/* Check expect_ratio: as far as that is possible without the sweeps. */
void ratio_check(struct ynode *list, struct ynode *measures,
		 const struct values *known)
{
	int i;

	if (list->kind != Y_SEQ) {
		y_error(list, "expected a list of expectations");
		return;
	}
	for (i = 0; i < list->n; i++) {
		const char *text = y_scalar(list->child[i]);
		struct ratio r;

		if (!text)
			continue;
		if (!ratio_parse(text, &r) || !expect_valid("ratio", r.target)) {
			y_error(list->child[i], "\"%s\" does not compare two sweeps: write NAME/NAME measure <= value",
				text);
			continue;
		}
		expect_value(list->child[i], measures, r.name, known);
		ratio_free(&r);
	}
}

/* The side called @label; the caller has named it on the command line. */
static struct side *side_of(struct sides *all, const char *label)
{
	int i;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->s[i].label, label))
			return &all->s[i];
	die("expect_ratio: no sweep called \"%s\" was given", label);
}

/* Values of the measure @name, a number for each seed. */
static const cJSON *values_of(const struct side *s, const char *name)
{
	const cJSON *all = cJSON_GetObjectItem(s->combo, "measures");
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(all, name);

	if (!m)
		die("expect_ratio: %s has no value %s", s->label, name);
	return cJSON_GetObjectItem(m, "values");
}

/* Order of doubles for qsort; NAN, "not reached", comes last. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

/* Ratios of the runs of two sides, seed by seed and then in order. */
static double *ratios(const struct side *a, const struct side *b,
		      const char *name)
{
	const cJSON *x = values_of(a, name), *y = values_of(b, name);
	double *v = xmalloc(sizeof(*v) * a->runs);
	int i;

	if (a->runs != b->runs || a->first_seed != b->first_seed)
		die("expect_ratio: %s and %s have other seeds", a->label,
		    b->label);
	if (a->clean_runs < a->runs || b->clean_runs < b->runs)
		die_unclean("expect_ratio: not all runs of %s and %s are clean",
			    a->label, b->label);
	for (i = 0; i < a->runs; i++) {
		const cJSON *p = cJSON_GetArrayItem(x, i);
		const cJSON *q = cJSON_GetArrayItem(y, i);

		v[i] = cJSON_IsNumber(p) && cJSON_IsNumber(q) &&
		       q->valuedouble > 0 ?
		       p->valuedouble / q->valuedouble : NAN;
	}
	qsort(v, a->runs, sizeof(*v), by_value);
	return v;
}

/* A number of JSON; null if it was not reached. */
static cJSON *number(double v)
{
	return isnan(v) ? cJSON_CreateNull() : cJSON_CreateNumber(v);
}

/* The ratio @r as a measure of the side @over, named "A/B value", and what is
 * expected of it: compare's table takes both from there.
 */
static void ratio_add(struct side *over, const struct side *under,
		      const struct ratio *r)
{
	double *v = ratios(over, under, r->name);
	int n = over->runs;
	double median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	char *name = xasprintf("%s/%s %s", r->over, r->under, r->name);
	cJSON *combo = (cJSON *)over->combo, *m, *e;
	struct verdicts verdict = { 0 };
	char *text;

	m = cJSON_GetObjectItemCaseSensitive(combo, "measures");
	if (!cJSON_GetObjectItemCaseSensitive(m, name)) {
		m = cJSON_AddObjectToObject(m, name);
		cJSON_AddStringToObject(m, "unit", "");
		cJSON_AddItemToObject(m, "median", number(median));
		cJSON_AddItemToObject(m, "min", number(v[0]));
		cJSON_AddItemToObject(m, "max", number(v[n - 1]));
	}
	judge_one(r, median, &verdict);
	text = xasprintf("%s %s", name, r->target);
	e = cJSON_CreateObject();
	cJSON_AddStringToObject(e, "text", text);
	cJSON_AddItemToObject(e, "value", number(median));
	cJSON_AddBoolToObject(e, "pass", verdict.v[0].pass);
	cJSON_AddItemToArray(cJSON_GetObjectItem(combo, "expectations"), e);
	over->passed &= verdict.v[0].pass;
	free(verdict.v[0].text);
	free(verdict.v);
	free(text);
	free(name);
	free(v);
}

/* Judge what the first side's scenario expects of ratios. */
void ratio_judge(struct sides *all)
{
	const cJSON *list = cJSON_GetObjectItem(all->s[0].sweep, "expect_ratio");
	const cJSON *e;

	cJSON_ArrayForEach(e, list) {
		struct ratio r;

		if (!ratio_parse(e->valuestring, &r))
			die("expect_ratio: \"%s\"", e->valuestring);
		ratio_add(side_of(all, r.over), side_of(all, r.under), &r);
		ratio_free(&r);
	}
}
