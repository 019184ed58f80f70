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
	if (!names.n && y_find(y, "of")->kind != Y_MAP)
		y_error(y, "of: name one value at least");
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
	if (!strcmp(y_text(y, "kind", ""), "ratio") && names.n && names.n != 2)
		y_error(y, "of: a ratio is of two values");
	free(names.s);
}

/* The values in of:, NULL after an error: one is not there, or they have different units
 * (a scenario like that is not loaded, so no run finds one). *count: how many.
 */
static const struct value **of_values(const struct measure *m,
				      const struct values *all, int *count)
{
	const struct value **v;
	struct strv names = { 0 };
	bool good = true;
	int i;

	y_list(m->y, "of", &names);
	*count = names.n;
	v = xmalloc((names.n + 1) * sizeof(*v));
	for (i = 0; i < names.n; i++) {
		v[i] = value_need(m->y, all, names.s[i]);
		good = good && v[i];
		if (good && strcmp(v[i]->unit, v[0]->unit)) {
			y_error(m->y, "of: %s has another unit than %s",
				v[i]->name, v[0]->name);
			good = false;
		}
		free(names.s[i]);
	}
	free(names.s);
	if (good)
		return v;
	free(v);
	return NULL;
}

/* The first value divided by the second. */
void eval_ratio(const struct measure *m, const struct run *run,
		struct values *out)
{
	const struct value **v;
	int n;

	(void)run;
	v = of_values(m, out, &n);
	if (v)
		value_add(out, "", v[1]->v ? v[0]->v / v[1]->v : NAN, "%s",
			  m->name);
	free(v);
}

enum derived { MEAN, LARGEST, SPREAD };

/* Mean, largest or spread of the values in of:; "not reached" if one of them is. */
static void derived(const struct measure *m, enum derived what,
		    struct values *out)
{
	double sum = 0, max = -INFINITY, min = INFINITY;
	const struct value **v;
	int i, n;

	v = of_values(m, out, &n);
	if (!v)
		return;
	for (i = 0; i < n; i++) {
		sum += v[i]->v;
		max = isnan(sum) ? NAN : fmax(max, v[i]->v);
		min = isnan(sum) ? NAN : fmin(min, v[i]->v);
	}
	if (what == SPREAD)
		max -= min;
	value_add(out, n ? v[0]->unit : "", what == MEAN ? sum / n : max, "%s",
		  m->name);
	free(v);
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
