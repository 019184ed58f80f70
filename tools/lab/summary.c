// SPDX-License-Identifier: GPL-2.0
/* summary.json, and the same as a table on the terminal. */
#include "results.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number with nine digits, so that files do not depend on rounding noise;
 * null for "not reached".
 */
cJSON *json_value(double v)
{
	char text[40];

	if (isnan(v))
		return cJSON_CreateNull();
	snprintf(text, sizeof(text), "%.9g", v);
	return cJSON_CreateRaw(text);
}

/* A seed with all its digits: cJSON writes large numbers like 1e+15. */
cJSON *json_seed(int64_t seed)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)seed);
	return cJSON_CreateRaw(text);
}

/* references: {paper: {preempt_4: 2ms}, …}: text of a column for a value. */
static const char *reference(const struct ynode *refs, int column,
			     const char *name)
{
	const struct ynode *n = y_find(refs->child[column], name);

	return n && n->kind == Y_SCALAR ? n->text : NULL;
}

/* Write summary.json. */
void summary_write(const struct run *run, const struct values *values,
		   const struct verdicts *verdicts)
{
	const struct scenario *sc = run->sc;
	const struct ynode *refs = y_find(sc->root, "references");
	cJSON *json = cJSON_CreateObject(), *o, *m, *u;
	char *path, *text;
	const char *slash = strrchr(sc->path, '/');
	int i, k;

	cJSON_AddStringToObject(json, "title", sc->title);
	cJSON_AddStringToObject(json, "description", sc->description);
	cJSON_AddStringToObject(json, "scenario", slash ? slash + 1 : sc->path);
	cJSON_AddItemToObject(json, "seed", json_seed(sc->seed));
	o = cJSON_AddObjectToObject(json, "params");
	for (i = 0; i < sc->params.n; i++)
		cJSON_AddStringToObject(o, sc->params.key[i],
					sc->params.value[i]);
	cJSON_AddBoolToObject(json, "passed", !verdicts->failed);
	m = cJSON_AddObjectToObject(json, "measures");
	u = cJSON_AddObjectToObject(json, "units");
	for (i = 0; i < values->n; i++) {
		cJSON_AddItemToObject(m, values->v[i].name,
				      json_value(values->v[i].v));
		cJSON_AddStringToObject(u, values->v[i].name,
					values->v[i].unit);
	}
	o = cJSON_AddArrayToObject(json, "expectations");
	for (i = 0; i < verdicts->n; i++) {
		cJSON *e = cJSON_CreateObject();

		cJSON_AddStringToObject(e, "text", verdicts->v[i].text);
		cJSON_AddItemToObject(e, "value",
				      json_value(verdicts->v[i].value));
		cJSON_AddBoolToObject(e, "pass", verdicts->v[i].pass);
		cJSON_AddItemToArray(o, e);
	}
	o = cJSON_AddObjectToObject(json, "references");
	for (i = 0; refs && i < refs->n; i++) {
		cJSON *c = cJSON_AddObjectToObject(o, refs->child[i]->key);

		for (k = 0; k < values->n; k++) {
			const char *t = reference(refs, i, values->v[k].name);

			if (t)
				cJSON_AddStringToObject(c, values->v[k].name,
							t);
		}
		/* of ratios of sweeps, for lab compare */
		for (k = 0; k < refs->child[i]->n; k++) {
			const struct ynode *n = refs->child[i]->child[k];

			if (n->text && strchr(n->key, '/'))
				cJSON_AddStringToObject(c, n->key, n->text);
		}
	}
	text = cJSON_Print(json);
	path = xasprintf("%s/summary.json", run->dir);
	write_file(path, text);
	free(text);
	free(path);
	cJSON_Delete(json);
}

/* The last part of a name: "p99.9" of "fct.to_1000.p99.9"; NULL if there is
 * only one.
 */
static const char *leaf(const char *name)
{
	const char *dot = NULL, *p;

	for (p = strchr(name, '.'); p; p = strchr(p + 1, '.'))
		if (p[1] < '0' || p[1] > '9')
			dot = p;
	return dot;
}

/* Print the values, the references beside them, then the expectations. Values
 * of one measure that nobody compares with anything share a line.
 */
void summary_print(const struct run *run, const struct values *values,
		   const struct verdicts *verdicts)
{
	const struct ynode *refs = y_find(run->sc->root, "references");
	int i, k, width = 8;
	size_t open = 0;

	for (i = 0; i < values->n; i++)
		if ((int)strlen(values->v[i].name) > width)
			width = strlen(values->v[i].name);
	printf("%-*s  %16s", width, "measure", "this run");
	for (k = 0; refs && k < refs->n; k++)
		printf("  %16s", refs->child[k]->key);
	for (i = 0; i < values->n; i++) {
		const struct value *v = &values->v[i];
		const char *dot = leaf(v->name);
		bool alone = !dot;

		for (k = 0; refs && k < refs->n; k++)
			alone |= !!reference(refs, k, v->name);
		if (!alone) {
			size_t base = dot - v->name + 1;

			if (open != base || !i ||
			    strncmp(v->name, values->v[i - 1].name, base))
				printf("\n%-*.*s ", width, (int)base - 1,
				       v->name);
			open = base;
			printf(" %s %s", dot + 1, fmt_value(v->v, v->unit));
			continue;
		}
		open = 0;
		printf("\n%-*s  %16s", width, v->name,
		       fmt_value(v->v, v->unit));
		for (k = 0; refs && k < refs->n; k++) {
			const char *t = reference(refs, k, v->name);

			printf("  %16s", t ? t : "");
		}
	}
	printf("\n");
	for (i = 0; i < verdicts->n; i++)
		printf("%s %s  (%s)\n",
		       verdicts->v[i].pass ? "  ok  " : "FAILED",
		       verdicts->v[i].text,
		       fmt_value(verdicts->v[i].value, verdicts->v[i].unit));
}
