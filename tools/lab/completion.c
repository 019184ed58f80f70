// SPDX-License-Identifier: GPL-2.0
/* How long groups of flows took as a whole: a job, a coflow, an iteration of a
 * training job. And how many flows took less than their twins in another group.
 */
#include "measures.h"

#include <math.h>
#include <stdlib.h>

enum completion_per { PER_ALL, PER_TIME, PER_ROUND };

/* Checks that the groups can complete, and that per: means something. */
void completion_check(struct scenario *sc, const struct measure *m)
{
	int i;

	if (m->mode != PER_ALL && m->from_ns != NEVER)
		y_error(m->y, "from: does not go with per:");
	if (m->mode == PER_ALL && y_find(m->y, "percentiles"))
		y_error(m->y, "percentiles: goes with per:");
	for (i = 0; i < sc->flows; i++) {
		const struct flow *f = &sc->flow[i];

		if ((m->group && !m->group[f->group]) || f->bytes != NEVER)
			continue;
		y_error(m->y, "group %s never completes: it has no size",
			sc->group[f->group].name);
		return;
	}
}

/* The time in which some flows were delivered. */
struct span {
	int64_t from_ns, to_ns;		/* NEVER: no flow yet */
	bool complete;
};

static const struct span no_span = { NEVER, NEVER, true };

/* Take a flow into the span. */
static void span_add(struct span *span, const struct run *run,
		     const struct flow *f)
{
	const struct flow_result *r = &run->flow[f->id];

	if (r->start_ns == NEVER || r->end_ns == NEVER ||
	    r->bytes_received < f->bytes) {
		span->complete = false;
		return;
	}
	if (span->from_ns == NEVER || r->start_ns < span->from_ns)
		span->from_ns = r->start_ns;
	if (r->end_ns > span->to_ns)
		span->to_ns = r->end_ns;
}

/* Its length in us; NAN if not all was delivered. */
static double span_us(const struct span *span)
{
	if (!span->complete || span->to_ns == NEVER)
		return NAN;
	return (span->to_ns - span->from_ns) / 1e3;
}

/* Each time, or each round, of each group is a sample. */
static void eval_per(const struct measure *m, const struct run *run,
		     struct values *out)
{
	const struct scenario *sc = run->sc;
	double *us = xmalloc(sizeof(*us) * (sc->flows + 1));
	int g, i, first, unfinished = 0;
	size_t n = 0;

	for (g = 0; g < sc->groups; g++) {
		const struct group *gr = &sc->group[g];
		int flows = gr->count / gr->passes;

		if ((m->group && !m->group[g]) || !gr->count)
			continue;
		if (m->mode == PER_TIME)
			flows *= gr->rounds;
		for (first = 0; first < gr->count; first += flows) {
			struct span span = no_span;

			for (i = first; i < first + flows; i++)
				span_add(&span, run, &sc->flow[gr->first + i]);
			if (isnan(span_us(&span)))
				unfinished++;
			else
				us[n++] = span_us(&span);
		}
	}
	values_of_samples(m, m->name, "us", us, n, out);
	value_add(out, "", n, "%s.count", m->name);
	value_add(out, "", unfinished, "%s.unfinished", m->name);
	free(us);
}

/* From the first start (or a moment) to the last delivery. */
void eval_completion(const struct measure *m, const struct run *run,
		     struct values *out)
{
	const struct scenario *sc = run->sc;
	struct span span = no_span;
	int i;

	if (m->mode != PER_ALL) {
		eval_per(m, run, out);
		return;
	}
	for (i = 0; i < sc->flows; i++)
		if (!m->group || m->group[sc->flow[i].group])
			span_add(&span, run, &sc->flow[i]);
	if (m->from_ns != NEVER)
		span.from_ns = m->from_ns;
	value_add(out, "us", span_us(&span), "%s", m->name);
}

/* The only group that a measure names, -1 if it names several. */
static int one_group(const struct scenario *sc, const struct measure *m)
{
	int g, found = -1;

	for (g = 0; g < sc->groups; g++) {
		if (!m->group[g])
			continue;
		if (found >= 0)
			return -1;
		found = g;
	}
	return found;
}

/* Twins: two groups of as many flows of the same sizes. */
void faster_check(struct scenario *sc, const struct measure *m)
{
	const struct group *a, *b = &sc->group[m->than];
	int g = one_group(sc, m), i;

	if (g < 0) {
		y_error(m->y, "group: names one group");
		return;
	}
	a = &sc->group[g];
	if (a->count != b->count) {
		y_error(m->y, "group %s has %d flows, %s %d", a->name, a->count,
			b->name, b->count);
		return;
	}
	for (i = 0; i < a->count; i++) {
		const struct flow *x = &sc->flow[a->first + i];
		const struct flow *y = &sc->flow[b->first + i];

		if (x->bytes == y->bytes && x->bytes != NEVER)
			continue;
		y_error(m->y, "flow %d of %s is not of the size of that of %s (groups with the same draw: are)",
			i, a->name, b->name);
		return;
	}
}

/* Part of the flows that took less time than those of the same number in the
 * other group; one that did not end was not faster.
 */
void eval_faster(const struct measure *m, const struct run *run,
		 struct values *out)
{
	const struct scenario *sc = run->sc;
	const struct group *a = &sc->group[one_group(sc, m)];
	const struct group *b = &sc->group[m->than];
	int i, faster = 0;

	for (i = 0; i < a->count; i++) {
		struct span x = no_span, y = no_span;

		span_add(&x, run, &sc->flow[a->first + i]);
		span_add(&y, run, &sc->flow[b->first + i]);
		faster += x.complete && (!y.complete ||
					 span_us(&x) < span_us(&y));
	}
	value_add(out, "", a->count ? (double)faster / a->count : NAN, "%s",
		  m->name);
}
