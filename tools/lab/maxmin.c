// SPDX-License-Identifier: GPL-2.0
/* The measure max_min: how far the flows' shares are from weighted max-min. The
 * paths are those that packets took, as recorded, so ECMP needs no model;
 * what a link can give to data is its rate less what else it carried, ACKs and
 * so on.
 */
#include "measures.h"
#include "waterfill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Records every port through which a flow may go from @at on. */
static void record_paths(struct scenario *sc, const struct node *at,
			 const struct node *dst)
{
	struct port **hop = xmalloc(at->ports * sizeof(*hop) + 1);
	int n = at == dst ? 0 : next_hops(sc, at, dst, hop), i;

	for (i = 0; i < n; i++) {
		tap_add(sc, hop[i]);
		record_paths(sc, hop[i]->peer->node, dst);
	}
	free(hop);
}

/* A flow's weight from @ns on; *until: when it changes next, NEVER if not. */
static double weight_at(const struct scenario *sc, int group, int64_t ns,
			int64_t *until)
{
	double weight = sc->group[group].weight;
	int i;

	*until = NEVER;
	for (i = 0; i < sc->events; i++) {
		const struct event *e = &sc->event[i];

		if (e->group != group || e->weight < 0)
			continue;
		if (e->at_ns <= ns)
			weight = e->weight;
		else if (*until == NEVER || e->at_ns < *until)
			*until = e->at_ns;
	}
	return weight;
}

/* Reads the measure: all ports on the flows' ways are recorded, and weights must
 * hold for the whole window.
 */
void maxmin_check(struct scenario *sc, const struct measure *m)
{
	int64_t until;
	int i;

	if (m->to_ns <= m->from_ns)
		return;
	for (i = 0; i < sc->flows; i++)
		if (!i || sc->flow[i].src != sc->flow[i - 1].src ||
		    sc->flow[i].dst != sc->flow[i - 1].dst)
			record_paths(sc, sc->flow[i].src, sc->flow[i].dst);
	for (i = 0; i < sc->groups; i++) {
		weight_at(sc, i, m->from_ns, &until);
		if (until != NEVER && until < m->to_ns)
			y_error(m->y, "the weight of group %s changes within the window",
				sc->group[i].name);
	}
}

/* What the recorders saw in the window. */
struct seen {
	double *other;		/* line bytes of what is no data, by recorder */
	double *bytes;		/* line bytes of a flow at its first port */
	uint8_t *used;		/* flows x recorders */
	int flows, taps;
};

static void look(const struct measure *m, const struct run *run, struct seen *s)
{
	const struct scenario *sc = run->sc;
	size_t i;

	s->flows = sc->flows;
	s->taps = sc->taps;
	s->other = xzalloc((s->taps + 1) * sizeof(*s->other));
	s->bytes = xzalloc((s->flows + 1) * sizeof(*s->bytes));
	s->used = xzalloc((size_t)s->flows * s->taps + 1);
	for (i = 0; i < run->recs; i++) {
		const struct labtap_rec *r = &run->rec[i];
		int64_t t = rec_time(run, r);
		bool data;
		int f;

		if (t < m->from_ns || t >= m->to_ns ||
		    LABTAP_KIND(r->kind) != LABTAP_KIND_TX)
			continue;
		f = rec_flow(run, r, &data);
		if (f < 0 || !data || !rec_payload(run, r)) {
			s->other[r->tap] += r->wire_len;
			continue;
		}
		s->used[(size_t)f * s->taps + r->tap] = 1;
		if (sc->tap[r->tap]->peer->node == sc->flow[f].dst)
			s->bytes[f] += r->wire_len;
	}
}

/* Order of doubles for qsort. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Errors of the flows that count, and how many links are full in the ideal. */
static void report(const struct measure *m, const struct run *run,
		   const struct wf_net *net, const int *flow,
		   const struct seen *s, struct values *out)
{
	double *ideal = xzalloc((net->flows + 1) * sizeof(*ideal));
	double *error = xzalloc((net->flows + 1) * sizeof(*error));
	double sum = 0, away = 0, all = 0;
	struct wf_cost cost;
	uint32_t i, n = 0;

	if (!wf_solve(net, ideal, &cost))
		die("out of memory");
	for (i = 0; i < net->flows; i++) {
		double bytes = s->bytes[flow[i]];

		if (m->group && !m->group[run->sc->flow[flow[i]].group])
			continue;
		error[n] = fabs(bytes / ideal[i] - 1);
		sum += error[n++];
		away += fabs(bytes - ideal[i]);
		all += ideal[i];
	}
	qsort(error, n, sizeof(*error), by_value);
	value_add(out, "", n ? error[(n - 1) / 2] : NAN, "%s.p50", m->name);
	value_add(out, "", n ? sum / n : NAN, "%s.mean", m->name);
	value_add(out, "", n ? error[n - 1] : NAN, "%s.max", m->name);
	value_add(out, "", all > 0 ? away / all : NAN, "%s.sum", m->name);
	value_add(out, "", cost.rounds, "%s.links", m->name);
	free(ideal);
	free(error);
}

/* Errors of the flows' shares in the window against water filling. */
void eval_maxmin(const struct measure *m, const struct run *run,
		 struct values *out)
{
	const struct scenario *sc = run->sc;
	struct seen s;
	double *capacity, *weight;
	uint32_t *first, *hop;
	struct wf_net net = { 0 };
	int64_t until;
	int *flow, f, t;

	look(m, run, &s);
	capacity = xzalloc((s.taps + 1) * sizeof(*capacity));
	weight = xzalloc((s.flows + 1) * sizeof(*weight));
	first = xzalloc((s.flows + 1) * sizeof(*first));
	hop = xzalloc(((size_t)s.flows * s.taps + 1) * sizeof(*hop));
	flow = xzalloc((s.flows + 1) * sizeof(*flow));
	for (t = 0; t < s.taps; t++)
		capacity[t] = fmax(line_bytes(sc->tap[t], m->to_ns - m->from_ns) -
				   s.other[t], 1);
	for (f = 0; f < s.flows; f++) {
		if (!(s.bytes[f] > 0))
			continue;
		flow[net.flows] = f;
		weight[net.flows] = weight_at(sc, sc->flow[f].group,
					      m->from_ns, &until);
		first[net.flows + 1] = first[net.flows];
		for (t = 0; t < s.taps; t++)
			if (s.used[(size_t)f * s.taps + t])
				hop[first[net.flows + 1]++] = t;
		net.flows++;
	}
	net.links = s.taps;
	net.capacity = capacity;
	net.weight = weight;
	net.first = first;
	net.hop = hop;
	report(m, run, &net, flow, &s, out);
	free(s.other);
	free(s.bytes);
	free(s.used);
	free(capacity);
	free(weight);
	free(first);
	free(hop);
	free(flow);
}
