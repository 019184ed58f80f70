// SPDX-License-Identifier: GPL-2.0
/* Expectations: "util >= 0.98", "preempt_4 <= 300us", "queue_p4.p50 within
 * 15us .. 17us", "drops == 0".
 */
#include "measures.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum op { OP_GE, OP_LE, OP_EQ, OP_WITHIN };

struct expectation {
	char *name;
	enum op op;
	char *a, *b;		/* texts with units */
};

/* Split the text into its parts; false if it is not an expectation. */
static bool expect_parse(const char *text, struct expectation *e)
{
	static const char *const ops[] = { ">=", "<=", "==", "within" };
	char name[128], op[16], rest[128], *dots;
	size_t i;

	memset(e, 0, sizeof(*e));
	if (sscanf(text, "%127s %15s %127[^\n]", name, op, rest) != 3)
		return false;
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strcmp(op, ops[i]))
			break;
	if (i == ARRAY_SIZE(ops))
		return false;
	e->op = i;
	e->name = xstrdup(name);
	dots = strstr(rest, "..");
	if (e->op == OP_WITHIN ? !dots : !!dots)
		return false;
	if (dots) {
		struct strv b = { 0 };

		strv_split(&b, dots + 2, ' ');
		*dots = 0;
		if (b.n != 1)
			return false;
		e->b = b.s[0];
	}
	for (i = strlen(rest); i && rest[i - 1] == ' '; i--)
		rest[i - 1] = 0;
	e->a = xstrdup(rest);
	return rest[0] && !strchr(rest, ' ');
}

/* The value called @name, "measure" or "measure.part", among those of a run, @known; an
 * error if there is none. Without @known only the measure must be there.
 */
const struct value *expect_value(struct ynode *at, struct ynode *measures,
				 const char *name, const struct values *known)
{
	char *base = xasprintf("%.*s", (int)strcspn(name, "."), name);
	const struct value *v = NULL;

	if (!measures || !y_find(measures, base))
		y_error(at, "no measure called \"%s\"", base);
	else if (known)
		v = value_need(at, known, name);
	free(base);
	return v;
}

/* Is @text, which the value @v is compared with, of its kind? If not, say so. */
static void unit_check(struct ynode *at, const char *text, const struct value *v)
{
	double number;

	if (text && !parse_quantity(text, v->unit, &number))
		y_error(at, "%s: \"%s\" is not %s", v->name, text,
			quantity_words(v->unit));
}

/* Do the ends of "within" leave nothing between them? What has another unit is not asked. */
static bool ends_crossed(const struct expectation *e, const char *unit)
{
	double a, b;

	return e->b && parse_quantity(e->a, unit, &a) &&
	       parse_quantity(e->b, unit, &b) && a > b;
}

/* Check the texts, and that the values exist and have these units. @known: the values of
 * a run, NULL if there are errors in the measures.
 */
void expect_check(struct ynode *list, struct ynode *measures,
		  const struct values *known)
{
	int i;

	if (list->kind != Y_SEQ) {
		y_error(list, "expected a list of expectations");
		return;
	}
	for (i = 0; i < list->n; i++) {
		const char *text = y_scalar(list->child[i]);
		const struct value *v;
		struct expectation e;

		if (!text)
			continue;
		if (!expect_parse(text, &e)) {
			y_error(list->child[i], "\"%s\" is not an expectation: write measure >= value, <= value, == value or within value .. value",
				text);
			continue;
		}
		v = expect_value(list->child[i], measures, e.name, known);
		if (!v)
			continue;
		unit_check(list->child[i], e.a, v);
		unit_check(list->child[i], e.b, v);
		if (ends_crossed(&e, v->unit))
			y_error(list->child[i], "%s: nothing is within %s .. %s: the smaller one comes first",
				v->name, e.a, e.b);
	}
}

/* Does @v fulfil the expectation? */
static bool expect_holds(const struct expectation *e, double v,
			 const char *unit, bool *unit_ok)
{
	double a, b = 0;

	*unit_ok = parse_quantity(e->a, unit, &a) &&
		   (!e->b || parse_quantity(e->b, unit, &b));
	if (!*unit_ok || isnan(v))
		return false;
	switch (e->op) {
	case OP_GE:
		return v >= a;
	case OP_LE:
		return v <= a;
	case OP_EQ:
		return v == a;
	default:
		return v >= a && v <= b;
	}
}

/* Is "<= 1.05", @target, something to expect of a number without unit? */
bool expect_valid(const char *name, const char *target)
{
	char *text = xasprintf("%s %s", name, target);
	struct expectation e;
	bool unit_ok = false;

	if (expect_parse(text, &e) && !ends_crossed(&e, ""))
		expect_holds(&e, 1, "", &unit_ok);
	free(text);
	return unit_ok;
}

/* Judge the values; a value that was not reached fulfils nothing. */
void expect_run(const struct ynode *list, const struct values *values,
		struct verdicts *out)
{
	int i;

	for (i = 0; list && i < list->n; i++) {
		const char *text = list->child[i]->text;
		struct expectation e;
		const struct value *v;
		struct verdict *d;
		bool unit_ok = true;

		expect_parse(text, &e);
		v = value_find(values, e.name);
		out->v = grow(out->v, out->n, sizeof(*out->v));
		d = &out->v[out->n++];
		d->text = xstrdup(text);
		d->name = e.name;
		d->value = v ? v->v : NAN;
		d->unit = v ? v->unit : "";
		d->pass = v && expect_holds(&e, v->v, v->unit, &unit_ok);
		if (!v)
			die("expectation \"%s\": there is no value %s (a measure of several values is named like %s.p50)",
			    text, e.name, e.name);
		if (!unit_ok)
			die("expectation \"%s\": the value has unit \"%s\"",
			    text, v->unit[0] ? v->unit : "none");
		out->failed += !d->pass;
	}
}
