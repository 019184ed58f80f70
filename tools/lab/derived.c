// SPDX-License-Identifier: GPL-2.0
/* Measures made of other measures: mean, largest and spread of several, the ratio
 * of two.
 */
#include "measures.h"
#include "yaml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Check of:, names of values of measures that stand before this one. Which
 * values a measure has (.p50 ...) is only known after the run.
 */
void derived_check(struct scenario *sc, struct ynode *y)
{
	struct strv names = { 0 };
	int i, k;

	if (!y_need(y, "of"))
		return;
	y_list(y, "of", &names);
	for (i = 0; i < names.n; i++) {
		size_t len = strcspn(names.s[i], ".");
		bool found = false;

		for (k = 0; sc->measures && k < sc->measures->n; k++) {
			const struct ynode *m = sc->measures->child[k];

			if (m == y)
				break;
			found |= strlen(m->key) == len &&
				 !strncmp(m->key, names.s[i], len);
		}
		if (!found)
			y_error(y, "of: no measure called \"%.*s\" before this one",
				(int)len, names.s[i]);
		free(names.s[i]);
	}
	if (!strcmp(y_text(y, "kind", ""), "ratio") && names.n != 2)
		y_error(y, "of: a ratio is of two values");
	free(names.s);
}

/* Value by name; an error if there is none. */
static const struct value *value_need(const struct measure *m,
				      const struct values *all,
				      const char *name)
{
	const struct value *v = value_find(all, name);

	if (!v)
		die("measure %s: there is no value %s (a measure of several values is named like %s.p50)",
		    m->name, name, name);
	return v;
}

/* The first value divided by the second. */
void eval_ratio(const struct measure *m, const struct run *run,
		struct values *out)
{
	struct strv names = { 0 };
	const struct value *a, *b;

	(void)run;
	y_list(m->y, "of", &names);
	a = value_need(m, out, names.s[0]);
	b = value_need(m, out, names.s[1]);
	if (strcmp(a->unit, b->unit))
		die("measure %s: %s has another unit than %s", m->name,
		    names.s[1], names.s[0]);
	value_add(out, "", b->v ? a->v / b->v : NAN, "%s", m->name);
	free(names.s[0]);
	free(names.s[1]);
	free(names.s);
}

enum derived { MEAN, LARGEST, SPREAD };

/* Mean, largest or spread of the values in of:; "not reached" if one of them is. */
static void derived(const struct measure *m, enum derived what,
		    struct values *out)
{
	struct strv names = { 0 };
	const char *unit = "";
	double sum = 0, max = -INFINITY, min = INFINITY;
	int i;

	y_list(m->y, "of", &names);
	for (i = 0; i < names.n; i++) {
		const struct value *v = value_need(m, out, names.s[i]);

		if (i && strcmp(unit, v->unit))
			die("measure %s: %s has another unit than %s", m->name,
			    names.s[i], names.s[0]);
		unit = v->unit;
		sum += v->v;
		max = isnan(sum) ? NAN : fmax(max, v->v);
		min = isnan(sum) ? NAN : fmin(min, v->v);
		free(names.s[i]);
	}
	free(names.s);
	if (what == SPREAD)
		max -= min;
	value_add(out, unit, what == MEAN ? sum / i : max, "%s", m->name);
}

/* The mean of other values of the run. */
void eval_mean(const struct measure *m, const struct run *run,
	       struct values *out)
{
	(void)run;
	derived(m, MEAN, out);
}

/* The largest of other values of the run. */
void eval_largest(const struct measure *m, const struct run *run,
		  struct values *out)
{
	(void)run;
	derived(m, LARGEST, out);
}

/* Largest less smallest of other values of the run. */
void eval_spread(const struct measure *m, const struct run *run,
		 struct values *out)
{
	(void)run;
	derived(m, SPREAD, out);
}
