// SPDX-License-Identifier: GPL-2.0
/* The table of lab compare: a row for each value that somebody published or
 * that a target was set for.
 */
#include "compare.h"
#include "results.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One reference column: the same name in several sweeps is one column as long
 * as they do not speak of the same rows.
 */
struct refcol {
	const char *name;
	int side;		/* -1: of all that have the name */
};

/* A value short enough for a table; its unit is named elsewhere. */
static char *short_value(const cJSON *v, const char *unit)
{
	if (!cJSON_IsNumber(v))
		return xstrdup("not reached");
	if (!unit[0])
		return xasprintf("%.3f", v->valuedouble);
	if (!strcmp(unit, "us"))
		return xasprintf(fabs(v->valuedouble) < 100 ? "%.1f" : "%.0f",
				 v->valuedouble);
	return xasprintf("%.10g", v->valuedouble);
}

/* "260 (180 .. 360)" */
static char *spread_cell(const struct side *s, const char *name)
{
	const cJSON *all = cJSON_GetObjectItem(s->combo, "measures");
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(all, name);
	const char *unit = json_text(m, "unit");
	char *mid, *min, *max, *text;

	if (!m)
		return xstrdup("");
	mid = short_value(cJSON_GetObjectItem(m, "median"), unit);
	min = short_value(cJSON_GetObjectItem(m, "min"), unit);
	max = short_value(cJSON_GetObjectItem(m, "max"), unit);
	text = strcmp(min, max) ? xasprintf("%s (%s .. %s)", mid, min, max) :
	       xstrdup(mid);
	free(mid);
	free(min);
	free(max);
	return text;
}

/* A side's references called @name. */
static const cJSON *side_refs(const struct side *s, const char *name)
{
	const cJSON *all = cJSON_GetObjectItem(s->summary, "references");

	return cJSON_GetObjectItemCaseSensitive(all, name);
}

/* Do two sides have references called @name for one row? */
static bool refs_clash(const struct sides *sides, const char *name)
{
	const cJSON *r;
	int a, b;

	for (a = 0; a < sides->n; a++)
		for (b = a + 1; b < sides->n; b++)
			cJSON_ArrayForEach(r, side_refs(&sides->s[a], name))
				if (json_text(side_refs(&sides->s[b], name),
					      r->string)[0])
					return true;
	return false;
}

/* All reference columns. */
static int refcols(const struct sides *sides, struct refcol **out)
{
	const cJSON *r;
	int i, k, n = 0;

	*out = NULL;
	for (i = 0; i < sides->n; i++) {
		cJSON_ArrayForEach(r, cJSON_GetObjectItem(sides->s[i].summary,
							  "references")) {
			bool clash = refs_clash(sides, r->string);

			for (k = 0; k < n; k++)
				if (!strcmp((*out)[k].name, r->string) &&
				    !clash)
					break;
			if (k < n)
				continue;
			*out = grow(*out, n, sizeof(**out));
			(*out)[n].name = r->string;
			(*out)[n++].side = clash ? i : -1;
		}
	}
	return n;
}

/* Text of a reference column in the row @name, "" if it has none. */
static const char *ref_cell(const struct sides *sides, const struct refcol *c,
			    const char *name)
{
	const char *text = "";
	int i;

	for (i = 0; i < sides->n; i++)
		if ((c->side < 0 || c->side == i) && !text[0])
			text = json_text(side_refs(&sides->s[i], c->name),
					 name);
	return text;
}

/* The targets of all sides for the value @name, with their verdicts. */
static char *target_cell(const struct sides *sides, const char *name,
			 bool *missed)
{
	struct buf b = { 0 };
	const cJSON *e;
	int i;

	buf_add(&b, "", 0);
	*missed = false;
	for (i = 0; i < sides->n; i++) {
		const struct side *s = &sides->s[i];

		cJSON_ArrayForEach(e, cJSON_GetObjectItem(s->combo,
							  "expectations")) {
			const char *text = json_text(e, "text");
			size_t len = strlen(name);
			bool pass = cJSON_IsTrue(cJSON_GetObjectItem(e,
								     "pass"));

			if (strncmp(text, name, len) || text[len] != ' ')
				continue;
			buf_addf(&b, "%s", b.len ? ", " : "");
			if (sides->n > 1)
				buf_addf(&b, "%s ", s->label);
			buf_addf(&b, "%s: %s", text + len + 1,
				 pass ? "ok" : "MISSED");
			*missed |= !pass;
		}
	}
	return b.s;
}

/* All values of all sides, in the order of the scenarios; the order of the
 * first side that has a value counts.
 */
static void value_names(const struct sides *sides, struct strv *out)
{
	const cJSON *m;
	int i;

	for (i = 0; i < sides->n; i++)
		cJSON_ArrayForEach(m, cJSON_GetObjectItem(sides->s[i].combo,
							  "measures"))
			if (!strv_has(out, m->string))
				strv_addf(out, "%s", m->string);
}

/* Unit of the value @name. */
static const char *value_unit(const struct sides *sides, const char *name)
{
	int i;

	for (i = 0; i < sides->n; i++) {
		const cJSON *all = cJSON_GetObjectItem(sides->s[i].combo,
						       "measures");
		const cJSON *m = cJSON_GetObjectItemCaseSensitive(all, name);

		if (m)
			return json_text(m, "unit");
	}
	return "";
}

/* Append an empty row; returns its cells. */
static char **row_add(struct table *t)
{
	int i;

	t->cell = realloc(t->cell, sizeof(*t->cell) * (t->rows + 1) * t->cols);
	t->missed = realloc(t->missed, sizeof(*t->missed) * (t->rows + 1));
	if (!t->cell || !t->missed)
		die("out of memory");
	t->missed[t->rows] = false;
	for (i = 0; i < t->cols; i++)
		t->cell[t->rows * t->cols + i] = NULL;
	return &t->cell[t->rows++ * t->cols];
}

/* The header's texts. */
static void header_row(const struct sides *sides, const struct refcol *ref,
		       int refs, struct table *t)
{
	char **row = row_add(t);
	int i, k = 0;

	row[k++] = xstrdup("measure");
	row[k++] = xstrdup("unit");
	for (i = 0; i < refs; i++)
		row[k++] = ref[i].side < 0 ? xstrdup(ref[i].name) :
			   xasprintf("%s: %s", ref[i].name,
				     sides->s[ref[i].side].label);
	for (i = 0; i < sides->n; i++)
		row[k++] = xasprintf("%s here", sides->s[i].label);
	row[k] = xstrdup("target");
}

/* Make the table; values that match the pattern @rows, NULL for none, have a row
 * even if nobody expects anything of them.
 */
void table_make(const struct sides *sides, const char *rows, struct table *t)
{
	struct strv names = { 0 };
	struct refcol *ref;
	int refs = refcols(sides, &ref), i, k;

	memset(t, 0, sizeof(*t));
	t->cols = 3 + refs + sides->n;
	header_row(sides, ref, refs, t);
	value_names(sides, &names);
	for (i = 0; i < names.n; i++) {
		bool missed, worth = rows && name_match(rows, names.s[i]);
		char *target = target_cell(sides, names.s[i], &missed), **row;

		t->matches += worth;
		for (k = 0; k < refs; k++)
			worth |= ref_cell(sides, &ref[k], names.s[i])[0] != 0;
		if (!worth && !target[0]) {
			free(target);
			continue;
		}
		row = row_add(t);
		t->missed[t->rows - 1] = missed;
		row[0] = xstrdup(names.s[i]);
		row[1] = xstrdup(value_unit(sides, names.s[i]));
		for (k = 0; k < refs; k++)
			row[2 + k] = xstrdup(ref_cell(sides, &ref[k],
						      names.s[i]));
		for (k = 0; k < sides->n; k++)
			row[2 + refs + k] = spread_cell(&sides->s[k],
							names.s[i]);
		row[2 + refs + sides->n] = target;
	}
	free(ref);
}
