// SPDX-License-Identifier: GPL-2.0
/* Measures of rates: throughput, share, utilisation, the times until a group
 * has the link, fairness, convergence, intrusion, silence.
 *
 * Unless said otherwise a share counts line bytes of packets with payload
 * (overhead included) against what the line can carry: 1.0 is a full link.
 */
#include "measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One bin over the whole window: bytes of the measure's groups. */
static double window_bytes(const struct measure *m, const struct run *run,
			   enum packet_part part, bool everyone, double *all)
{
	double *b = bins_by_group(run, m->receivers ? NULL : m->port, part,
				  m->from_ns, m->to_ns - m->from_ns, 1,
				  m->receivers, everyone ? 0 : m->dscps, all);
	double sum = 0;
	int g;

	for (g = 0; g < run->sc->groups; g++)
		if (everyone || !m->group || m->group[g])
			sum += b[g];
	free(b);
	return sum;
}

/* Payload bits per second of the groups in the window. */
void eval_throughput(const struct measure *m, const struct run *run,
		     struct values *out)
{
	double bytes = window_bytes(m, run, PART_PAYLOAD, false, NULL);

	value_add(out, "bps", bytes * 8e9 / (m->to_ns - m->from_ns), "%s",
		  m->name);
}

/* Part of the link (or of all data) that the groups have in the window. */
void eval_share(const struct measure *m, const struct run *run,
		struct values *out)
{
	double mine = window_bytes(m, run, PART_DATA_WIRE, false, NULL);
	double whole = m->mode ?
		       window_bytes(m, run, PART_DATA_WIRE, true, NULL) :
		       line_bytes(m->port, m->to_ns - m->from_ns);

	value_add(out, "", whole > 0 ? mine / whole : 0, "%s", m->name);
}

/* Part of the window during which the line was busy. */
void eval_utilisation(const struct measure *m, const struct run *run,
		      struct values *out)
{
	double all = 0, data;

	data = window_bytes(m, run, m->mode ? PART_DATA_WIRE : PART_WIRE, true,
			    &all);
	value_add(out, "", (m->mode ? data : all) /
		  line_bytes(m->port, m->to_ns - m->from_ns), "%s", m->name);
}

/* Sum of the measure's groups in each bin. */
static double *bins_of_groups(const struct measure *m, const struct run *run,
			      int bins)
{
	double *b = bins_by_group(run, m->port, PART_DATA_WIRE, m->from_ns,
				  m->bin_ns, bins, false, -1, NULL);
	double *sum = xzalloc(sizeof(*sum) * bins + 1);
	int g, i;

	for (g = 0; g < run->sc->groups; g++)
		for (i = 0; (!m->group || m->group[g]) && i < bins; i++)
			sum[i] += b[(size_t)g * bins + i];
	free(b);
	return sum;
}

/* First bin from which every bin stays inside [lo, hi] of a full line for the
 * hold time; NAN if there is none before the end.
 */
static double time_to_hold(const struct measure *m, const struct run *run,
			   double lo, double hi)
{
	int bins = (m->to_ns - m->from_ns) / m->bin_ns;
	int need = (m->hold_ns + m->bin_ns - 1) / m->bin_ns, good = 0, i;
	double *b = bins_of_groups(m, run, bins);
	double full = line_bytes(m->port, m->bin_ns), at = NAN;

	if (need < 1)
		need = 1;
	for (i = 0; i < bins; i++) {
		double share = b[i] / full;

		good = share >= lo && share <= hi ? good + 1 : 0;
		if (good == need) {
			at = (i + 1 - need) * m->bin_ns / 1e3;
			break;
		}
	}
	free(b);
	return at;
}

/* preempt and reclaim: time until the groups have the fraction of the link and
 * keep it for the hold time.
 */
void eval_reach(const struct measure *m, const struct run *run,
		struct values *out)
{
	value_add(out, "us", time_to_hold(m, run, m->fraction, INFINITY), "%s",
		  m->name);
}

/* Time until the groups' share is near the target and stays there. */
void eval_convergence(const struct measure *m, const struct run *run,
		      struct values *out)
{
	value_add(out, "us", time_to_hold(m, run, m->target - m->tolerance,
					  m->target + m->tolerance),
		  "%s", m->name);
}

/* Was the flow there at any time of the window? One that had nothing to send has no share. */
static bool flow_there(const struct run *run, const struct flow *f, const struct measure *m)
{
	int64_t end = run->flow[f->id].end_ns;

	return run_start_ns(run, f) < m->to_ns && (end == NEVER || end > m->from_ns);
}

/* Jain's index over the flows (or groups) of the measure that were there in the window,
 * each flow's bytes divided by its weight if the measure says so.
 */
void eval_fairness(const struct measure *m, const struct run *run,
		   struct values *out)
{
	const struct scenario *sc = run->sc;
	double *b = bytes_by_flow(run, m->receivers ? NULL : m->port,
				  PART_DATA_WIRE, m->from_ns, m->to_ns);
	double *sum = xzalloc(sizeof(*sum) * sc->groups);
	bool *there = xzalloc(sizeof(*there) * sc->groups);
	double s = 0, q = 0;
	int i, n = 0;

	for (i = 0; i < sc->flows; i++) {
		int g = sc->flow[i].group;
		double x = m->mode >= 2 ? b[i] / sc->group[g].weight : b[i];

		if ((m->group && !m->group[g]) || !flow_there(run, &sc->flow[i], m))
			continue;
		there[g] = true;
		sum[g] += x;
		if (m->mode & 1)
			continue;
		n++;
		s += x;
		q += x * x;
	}
	for (i = 0; (m->mode & 1) && i < sc->groups; i++) {
		if (!there[i])
			continue;
		n++;
		s += sum[i];
		q += sum[i] * sum[i];
	}
	value_add(out, "", q > 0 ? s * s / (n * q) : NAN, "%s", m->name);
	free(there);
	free(sum);
	free(b);
}

/* Is any flow of the group sending in the middle of the bin? */
static bool group_active(const struct run *run, int g, int64_t ns)
{
	const struct group *gr = &run->sc->group[g];
	int i;

	for (i = 0; i < gr->count; i++) {
		const struct flow *f = &run->sc->flow[gr->first + i];
		const struct flow_result *r = &run->flow[f->id];
		int64_t end = f->stop_ns;

		if (f->bytes != NEVER && r->end_ns != NEVER)
			end = r->end_ns;
		if (run_start_ns(run, f) <= ns && (end == NEVER || ns < end))
			return true;
	}
	return false;
}

/* Longest unbroken time during which a group had more than the fraction of the
 * link in every bin although a group of higher priority was sending.
 */
void eval_intrusion(const struct measure *m, const struct run *run,
		    struct values *out)
{
	const struct scenario *sc = run->sc;
	int bins = (m->to_ns - m->from_ns) / m->bin_ns, g, i;
	double *b = bins_by_group(run, m->port, PART_DATA_WIRE, m->from_ns,
				  m->bin_ns, bins, false, -1, NULL);
	double limit = m->fraction * line_bytes(m->port, m->bin_ns);
	int *length = xzalloc(sizeof(*length) * sc->groups), longest = 0;

	for (i = 0; i < bins; i++) {
		int64_t mid = m->from_ns + i * m->bin_ns + m->bin_ns / 2;
		int64_t top = -1;

		for (g = 0; g < sc->groups; g++)
			if (sc->group[g].priority > top &&
			    group_active(run, g, mid))
				top = sc->group[g].priority;
		for (g = 0; g < sc->groups; g++) {
			bool bad = sc->group[g].priority < top &&
				   (!m->group || m->group[g]) &&
				   b[(size_t)g * bins + i] > limit;

			length[g] = bad ? length[g] + 1 : 0;
			if (length[g] > longest)
				longest = length[g];
		}
	}
	value_add(out, "us", longest * m->bin_ns / 1e3, "%s", m->name);
	free(length);
	free(b);
}

/* Until when the flow has something to send, at most @to_ns. */
static int64_t flow_until(const struct run *run, const struct flow *f, int64_t to_ns)
{
	const struct flow_result *r = &run->flow[f->id];
	int64_t end = f->bytes == NEVER ? f->stop_ns : r->end_ns;

	return end == NEVER || end > to_ns ? to_ns : end;
}

/* Longest time in which a flow that had something to send sent no data; of all flows. */
void eval_silence(const struct measure *m, const struct run *run, struct values *out)
{
	const struct scenario *sc = run->sc;
	int64_t *last = xmalloc(sizeof(*last) * sc->flows + 1), longest = 0, gap;
	size_t k;
	int i;

	for (i = 0; i < sc->flows; i++) {
		last[i] = run_start_ns(run, &sc->flow[i]);
		if (last[i] < m->from_ns)
			last[i] = m->from_ns;
	}
	for (k = 0; k < run->recs && rec_time(run, &run->rec[k]) < m->to_ns; k++) {
		const struct labtap_rec *r = &run->rec[k];
		bool data;

		if (sc->tap[r->tap] != m->port || (r->kind & 15) != LABTAP_KIND_TX)
			continue;
		i = rec_flow(run, r, &data);
		if (i < 0 || !data || !rec_payload(run, r) || rec_time(run, r) < last[i])
			continue;
		gap = rec_time(run, r) - last[i];
		last[i] += gap;
		if ((!m->group || m->group[sc->flow[i].group]) && gap > longest)
			longest = gap;
	}
	for (i = 0; i < sc->flows; i++) {
		gap = flow_until(run, &sc->flow[i], m->to_ns) - last[i];
		if ((!m->group || m->group[sc->flow[i].group]) && gap > longest)
			longest = gap;
	}
	value_add(out, "us", longest / 1e3, "%s", m->name);
	free(last);
}
