// SPDX-License-Identifier: GPL-2.0
/* Measures of queues: the delay of the packets that leave a port, and what
 * they leave behind in it. Every packet is one sample.
 */
#include "measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Order of doubles for qsort. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The smallest value that at least p % of the values do not exceed. */
static double percentile(const double *sorted, size_t n, double p)
{
	double rank = ceil(p / 100 * n - 0.000000001);

	if (!n)
		return NAN;
	return sorted[rank < 1 ? 0 : (size_t)rank - 1];
}

/* Add "<prefix>.p50" and the like, ".mean" and ".max"; sorts @x. */
void values_of_samples(const struct measure *m, const char *prefix,
		       const char *unit, double *x, size_t n,
		       struct values *out)
{
	double sum = 0;
	size_t i;
	int k;

	qsort(x, n, sizeof(*x), by_value);
	for (i = 0; i < n; i++)
		sum += x[i];
	for (k = 0; k < m->percentiles; k++)
		value_add(out, unit, percentile(x, n, m->percentile[k]),
			  "%s.p%g", prefix, m->percentile[k]);
	value_add(out, unit, n ? sum / n : NAN, "%s.mean", prefix);
	value_add(out, unit, n ? x[n - 1] : NAN, "%s.max", prefix);
}

/* Has the packet left the port in the window, is it one of the groups and DSCPs, and is
 * what is asked of it known?
 */
static bool counts(const struct measure *m, const struct run *run,
		   const struct labtap_rec *r, bool delay)
{
	int64_t t = rec_time(run, r);
	bool data;
	int f;

	if (t < m->from_ns || t >= m->to_ns ||
	    run->sc->tap[r->tap] != m->port ||
	    (r->kind & 15) != LABTAP_KIND_TX || !rec_has_dscp(r, m->dscps) ||
	    (delay && r->qdelay_ns == LABTAP_QDELAY_UNKNOWN))
		return false;
	f = rec_flow(run, r, &data);
	return !m->group || (f >= 0 && m->group[run->sc->flow[f].group]);
}

/* Collect one number of every packet that left the port in the window. */
static double *samples(const struct measure *m, const struct run *run,
		       bool delay, size_t *n)
{
	double *x = xmalloc(sizeof(*x) * (run->recs + 1));
	size_t i;

	for (*n = i = 0; i < run->recs; i++) {
		const struct labtap_rec *r = &run->rec[i];

		if (counts(m, run, r, delay))
			x[(*n)++] = delay ? r->qdelay_ns / 1e3 : r->backlog_bytes;
	}
	return x;
}

/* Time from entering the port's queue to the start of the transmission. */
void eval_queue_delay(const struct measure *m, const struct run *run,
		      struct values *out)
{
	size_t n;
	double *x = samples(m, run, true, &n);

	values_of_samples(m, m->name, "us", x, n, out);
	free(x);
}

/* Bytes left in the port's queue when a packet starts its transmission. */
void eval_backlog(const struct measure *m, const struct run *run,
		  struct values *out)
{
	size_t n;
	double *x = samples(m, run, false, &n);

	values_of_samples(m, m->name, "bytes", x, n, out);
	free(x);
}

/* Mean over time of the bytes that wait in the port's queue: what each packet brings along
 * to it is its bytes for as long as it waits (Little's law).
 */
void eval_occupancy(const struct measure *m, const struct run *run,
		    struct values *out)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < run->recs; i++) {
		const struct labtap_rec *r = &run->rec[i];

		if (counts(m, run, r, true))
			sum += (double)r->wire_len * r->qdelay_ns;
	}
	value_add(out, "bytes", sum / (m->to_ns - m->from_ns), "%s", m->name);
}

/* Completion time of a flow in us, NAN if it did not end. */
static double fct_us(const struct run *run, const struct flow *f)
{
	const struct flow_result *r = &run->flow[f->id];

	if (!r->seen || r->end_ns == NEVER || f->bytes == NEVER ||
	    r->bytes_received < f->bytes)
		return NAN;
	return (r->end_ns - r->start_ns) / 1e3;
}

/* Completion times, or slowdowns, by class of size. Class k holds flows of
 * more than classes[k-1] and at most classes[k] bytes.
 */
static void eval_flows(const struct measure *m, const struct run *run,
		       bool slowdown, struct values *out)
{
	const struct scenario *sc = run->sc;
	double *x = xmalloc(sizeof(*x) * (sc->flows + 1));
	int64_t lo = 0, hi;
	int k, i;

	for (k = 0; k <= m->classes; k++, lo = hi) {
		size_t n = 0, unfinished = 0;
		char *prefix;

		hi = k < m->classes ? m->class_bytes[k] : INT64_MAX;
		for (i = 0; i < sc->flows; i++) {
			const struct flow *f = &sc->flow[i];
			int64_t start_ns = run_start_ns(run, f);
			double us = fct_us(run, f);

			if ((m->group && !m->group[f->group]) ||
			    f->bytes == NEVER || f->bytes <= lo ||
			    f->bytes > hi || start_ns < m->from_ns ||
			    start_ns >= m->to_ns)
				continue;
			if (isnan(us))
				unfinished++;
			else
				x[n++] = slowdown ? us * 1e3 / ideal_fct_ns(sc, f) : us;
		}
		if (!m->classes)
			prefix = xstrdup(m->name);
		else if (k < m->classes)
			prefix = xasprintf("%s.to_%lld", m->name,
					   (long long)hi);
		else
			prefix = xasprintf("%s.over_%lld", m->name,
					   (long long)lo);
		values_of_samples(m, prefix, slowdown ? "" : "us", x, n, out);
		value_add(out, "flows", n, "%s.count", prefix);
		value_add(out, "flows", unfinished, "%s.unfinished", prefix);
		free(prefix);
	}
	free(x);
}

/* Flow completion times. */
void eval_fct(const struct measure *m, const struct run *run,
	      struct values *out)
{
	eval_flows(m, run, false, out);
}

/* Flow completion times divided by what the flow would take alone. */
void eval_slowdown(const struct measure *m, const struct run *run,
		   struct values *out)
{
	eval_flows(m, run, true, out);
}
