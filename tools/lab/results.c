// SPDX-License-Identifier: GPL-2.0
/* The tables of a run: series.csv, queues.csv, flows.csv. Their columns are an
 * interface, described in Documentation/guide/lab.rst: change nothing here.
 */
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A time in us: whole if it is whole, else with its nanoseconds. */
static void put_us(FILE *f, int64_t ns)
{
	if (ns % 1000)
		fprintf(f, "%lld.%03lld", (long long)(ns / 1000),
			(long long)(ns % 1000));
	else
		fprintf(f, "%lld", (long long)(ns / 1000));
}

/* Lines of series.csv: @bins intervals of @ns from @from_ns on. */
static void series_lines(const struct run *run, FILE *f, int64_t from_ns, int64_t ns, int bins)
{
	const struct scenario *sc = run->sc;
	double *b = bins_by_group(run, sc->series_receiver ? NULL : sc->bottleneck, PART_PAYLOAD,
				  from_ns, ns, bins, sc->series_receiver, -1, NULL);
	int i, g;

	for (i = 0; i < bins; i++) {
		for (g = 0; g < sc->groups; g++) {
			put_us(f, from_ns + i * ns);
			fprintf(f, ",%s,%.0f\n", sc->group[g].name,
				b[(size_t)g * bins + i] * 8e9 / ns);
		}
	}
	free(b);
}

/* series.csv: payload rate of each group in each interval; the time is the
 * start of the interval. The run may end within the last one.
 */
void series_write(const struct run *run)
{
	const struct scenario *sc = run->sc;
	int bins = sc->series_ns ? sc->duration_ns / sc->series_ns : 0;
	int64_t rest_ns = sc->series_ns ? sc->duration_ns % sc->series_ns : 0;
	FILE *f = open_out(run->dir, "series.csv");

	fputs("time_us,group,goodput_bps\n", f);
	series_lines(run, f, 0, sc->series_ns, bins);
	if (rest_ns)
		series_lines(run, f, bins * sc->series_ns, rest_ns, 1);
	close_out(f, run->dir, "series.csv");
}

/* The state of one port's queue in one interval: that of the last packet that
 * began its transmission in it.
 */
struct queue_state {
	double backlog_bytes, delay_ns;
};

/* queues.csv: each port's queue at each interval; an interval in which nothing
 * was sent shows an empty queue.
 */
void queues_write(const struct run *run)
{
	const struct scenario *sc = run->sc;
	int bins = sc->queues_ns ? (sc->duration_ns + sc->queues_ns - 1) /
				   sc->queues_ns : 0;
	struct queue_state *q = xzalloc(sizeof(*q) * bins * sc->queues + 1);
	int *of_tap = xmalloc(sizeof(*of_tap) * (sc->taps + 1)), i, k;
	FILE *f = open_out(run->dir, "queues.csv");
	size_t r;

	for (i = 0; i < sc->taps; i++)
		of_tap[i] = -1;
	for (i = 0; i < sc->queues; i++)
		of_tap[sc->queue[i]->tap] = i;
	for (r = 0; bins && r < run->recs; r++) {
		const struct labtap_rec *rec = &run->rec[r];
		int64_t t = rec_time(run, rec);
		struct queue_state *s;

		if (t < 0 || t >= sc->duration_ns || of_tap[rec->tap] < 0 ||
		    (rec->kind & 15) != LABTAP_KIND_TX)
			continue;
		s = &q[(size_t)of_tap[rec->tap] * bins + t / sc->queues_ns];
		s->backlog_bytes = rec->backlog_bytes;
		if (rec->qdelay_ns != LABTAP_QDELAY_UNKNOWN)
			s->delay_ns = rec->qdelay_ns;
	}
	fputs("time_us,port,band,backlog_bytes,delay_ns\n", f);
	for (k = 0; k < bins; k++) {
		for (i = 0; i < sc->queues; i++) {
			struct queue_state *s = &q[(size_t)i * bins + k];

			put_us(f, k * sc->queues_ns);
			fprintf(f, ",%s,0,%.0f,%.0f\n",
				port_name(sc->queue[i]), s->backlog_bytes,
				s->delay_ns);
		}
	}
	close_out(f, run->dir, "queues.csv");
	free(of_tap);
	free(q);
}

/* flows.csv: one row a flow. end_us is empty for a flow that was still sending
 * at the end; fct_us is empty unless a flow with a size delivered all of it.
 */
void flows_write(const struct run *run)
{
	const struct scenario *sc = run->sc;
	FILE *f = open_out(run->dir, "flows.csv");
	int i;

	fputs("flow,group,src,dst,cc,priority,weight,start_us,end_us,bytes,fct_us,retransmits\n",
	      f);
	for (i = 0; i < sc->flows; i++) {
		const struct flow *fl = &sc->flow[i];
		const struct group *g = &sc->group[fl->group];
		const struct flow_result *r = &run->flow[i];

		fprintf(f, "%d,%s,%s,%s,%s,%lld,%g,", i, g->name,
			fl->src->name, fl->dst->name, g->cc,
			(long long)g->priority, g->weight);
		if (r->start_ns != NEVER || fl->gate < 0)
			put_us(f, r->start_ns == NEVER ? fl->start_ns :
							 r->start_ns);
		fputc(',', f);
		if (r->end_ns != NEVER)
			put_us(f, r->end_ns);
		fprintf(f, ",%lld,", (long long)r->bytes_received);
		if (r->end_ns != NEVER && fl->bytes != NEVER &&
		    r->bytes_received >= fl->bytes)
			put_us(f, r->end_ns - r->start_ns);
		fprintf(f, ",%lld\n", (long long)r->retransmits);
	}
	close_out(f, run->dir, "flows.csv");
}
