// SPDX-License-Identifier: GPL-2.0
/*
 * Figure 19 of Söze's paper: how long flows in a fat-tree take until they have
 * their weighted max-min shares, against a solver by water filling.
 *
 *	fig19 [-r] K FLOWS start|change|incast [LIMIT_MS] [SEED]
 *
 * start: all flows begin within two base RTTs, between random hosts. change: flows
 * that have had the shares of their weights all draw new weights at once. incast: as
 * start, all to one host. Weights are 1 to 4. -r: rates and queues instead of packets
 * (fluid.c). Prints one JSON object:
 *
 *	sum_us		until the allocation as a whole is right to 5 %: the sum of what
 *			flows are away from their shares, in parts of the sum of shares
 *	most_us		until 90 % of the flows are within 5 % of their shares
 *	nearly_us	until 99 % are
 *	all_us		until all are
 *			(for the rest of the run and for 300 us; null: not in LIMIT_MS)
 *	rtt_us		mean RTT at the end
 *	sum, worst, median	errors of rates at the end, averages of 30 bins for the sum
 *	near		part of the flows that is within 5 % then
 *	utilisation	of the busiest link, at the end
 *	before		near, before the weights change
 *	virtual_us	how long the run was, on the network's clock
 *	events		what was simulated
 *	solver_rounds, solver_steps, solver_cpu_ms	what the solver took, counted; the
 *			time is that of this machine, for information
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net.h"

#define LINE_BPS	100e9
#define BASE_NS		13000.	/* base RTT through the core, rounded up */
#define BIN_NS		10000.
#define HOLD_NS		300000.	/* settled that long: the run ends */
/* Before weights change: so long, and until 99 % of the flows are at their shares, but
 * not longer than that; packets cost more than rates.
 */
#define WARM_NS		600000.
#define WARM_MAX_NS	3000000.
#define WARM_FLOWS	1000
/* Flows are looked at in bins of 10 us; where they are so many that looking would
 * take longer than running, in fewer.
 */
#define BIN_FLOWS	10000
#define HOLD_BINS_MIN	3

/* 5 % more and less, log2 << SZ_SHIFT */
#define MORE_L2		1180937
#define LESS_L2		(-1241523)

enum { SUM, MOST, NEARLY, ALL, LEVELS };

/* What is said of a run, see above. */
struct result {
	double settled_us[LEVELS];	/* NAN: not reached */
	double sum, worst, median, near, rtt_us, util, virtual_us, before;
};

/* How far the flows are from their shares at a time. */
struct state {
	u32 near;	/* flows within 5 % */
	double sum;	/* sum of all that they are away, relative */
};

static u32 flows_of(const struct net *n)
{
	return n->sn.net.flows;
}

/* Processor time of this program. */
static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Solves for the present weights; the shares go to the flows. */
static void solve(struct net *n, struct wf_cost *cost, double *solver_s)
{
	double begin = cpu_s();
	int f;

	sn_fill(&n->sn, cost);
	*solver_s = cpu_s() - begin;
	for (f = 0; f < n->sn.net.flows; f++)
		n->sn.flow[f].ideal_l2 = log2(n->sn.flow[f].ideal / 8) * SZ_ONE;
}

static struct state look(const struct net *n)
{
	struct state s = { 0 };
	double away = 0, all = 0;
	u32 f;

	for (f = 0; f < flows_of(n); f++) {
		const struct sn_flow *fl = &n->sn.flow[f];
		bool known = fl->rest_ns > 0;
		s32 error = fl->sz.rate_l2 - fl->ideal_l2;
		double ideal = sz_exp2(fl->ideal_l2);

		s.near += known && error <= MORE_L2 && error >= LESS_L2;
		away += fabs((known ? sz_exp2(fl->sz.rate_l2) : 0) - ideal);
		all += ideal;
	}
	s.sum = away / all;
	return s;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What a link still has to send. */
static double backlog_ns(const struct net *n, u32 l)
{
	return fmax(0, n->sn.net.link[l].free_ns - n->sn.net.now_ns);
}

/* Errors at the end, busiest link, RTT. */
static void errors(struct net *n, double from_ns, struct result *r)
{
	double *e = malloc(flows_of(n) * sizeof(*e));
	double busy = 0;
	u32 i;

	if (!e)
		exit(2);
	for (i = 0; i < flows_of(n); i++)
		e[i] = fabs(exp2((n->sn.flow[i].sz.rate_l2 - n->sn.flow[i].ideal_l2) /
				 (double)SZ_ONE) - 1);
	qsort(e, flows_of(n), sizeof(*e), by_size);
	r->worst = e[flows_of(n) - 1];
	r->median = e[flows_of(n) / 2];
	for (i = 0; i < n->tree.links; i++)
		busy = fmax(busy, n->sn.net.link[i].busy_ns - backlog_ns(n, i));
	r->util = busy / (n->sn.net.now_ns - from_ns);
	r->rtt_us = n->sn.acks ? n->sn.rtt_sum_ns / n->sn.acks / 1000 : NAN;
	free(e);
}

/* Runs until all flows have had their shares for a while, or to the limit. */
static void settle(struct net *n, double limit_ns, struct result *r)
{
	double bin_ns = BIN_NS * (1 + flows_of(n) / (BIN_FLOWS + 1));
	u32 hold = HOLD_NS / bin_ns > HOLD_BINS_MIN ? HOLD_NS / bin_ns : HOLD_BINS_MIN;
	double begin_ns = n->sn.net.now_ns, bad_ns[LEVELS];
	u32 bins = limit_ns / bin_ns, bin;
	struct state s = { 0 };
	int i;

	for (i = 0; i < LEVELS; i++)
		bad_ns[i] = begin_ns;
	for (bin = 1; bin <= bins; bin++) {
		net_run(n, begin_ns + bin * bin_ns);
		s = look(n);
		if (s.sum > 0.05)
			bad_ns[SUM] = n->sn.net.now_ns;
		if (s.near < flows_of(n) - flows_of(n) / 10)
			bad_ns[MOST] = n->sn.net.now_ns;
		if (s.near < flows_of(n) - flows_of(n) / 100)
			bad_ns[NEARLY] = n->sn.net.now_ns;
		if (s.near < flows_of(n))
			bad_ns[ALL] = n->sn.net.now_ns;
		if (bin % 100 == 0)
			fprintf(stderr, "%.1f ms: %u of %u flows, %.1f %% away, %.0f s\n",
				(n->sn.net.now_ns - begin_ns) / 1e6, s.near, flows_of(n),
				100 * s.sum, cpu_s());
		if (n->sn.net.now_ns - bad_ns[ALL] >= hold * bin_ns)
			break;
	}
	for (i = 0; i < LEVELS; i++)
		r->settled_us[i] = n->sn.net.now_ns - bad_ns[i] < hold * bin_ns ?
				   NAN : (bad_ns[i] - begin_ns) / 1e3;
	r->virtual_us = n->sn.net.now_ns / 1e3;
	begin_ns = n->sn.net.now_ns;
	sn_clear(&n->sn);
	for (i = 0; i < n->sn.net.links; i++)
		n->sn.net.link[i].busy_ns = backlog_ns(n, i);
	for (bin = 1; bin <= hold; bin++) {
		net_run(n, begin_ns + bin * bin_ns);
		s = look(n);
		r->sum += s.sum / hold;
		r->near += s.near / (double)flows_of(n) / hold;
	}
	errors(n, begin_ns, r);
}

static void number(const char *name, double v, const char *format)
{
	printf(", \"%s\": ", name);
	if (isnan(v))
		printf("null");
	else
		printf(format, v);
}

/* The queueing delay at which a flow has its share. */
static double share_delay_ns(const struct net *n, u32 f)
{
	const struct sn_flow *fl = &n->sn.flow[f];

	return sz_target_delay_ns(&n->sn.par, fl->ideal_l2 - fl->sz.weight_l2);
}

/* Queues of full links: T of the least that a unit of weight has there. Of links that
 * one flow fills alone, the first has the queue.
 */
static void stand_queues(struct net *n)
{
	u32 *users = calloc(n->tree.links, sizeof(*users)), f, h, l;
	bool *first = calloc(n->tree.links, sizeof(*first));

	if (!users || !first)
		exit(2);
	for (l = 0; l < n->tree.links; l++)
		n->sn.net.link[l].busy_ns = 0;
	for (f = 0; f < flows_of(n); f++)
		for (h = 0; h < n->sn.net.flow[f].hops; h++) {
			n->sn.net.link[n->sn.net.flow[f].path[h]].busy_ns +=
				sz_exp2(n->sn.flow[f].ideal_l2);
			users[n->sn.net.flow[f].path[h]]++;
		}
	for (f = 0; f < flows_of(n); f++) {
		double delay_ns = share_delay_ns(n, f);

		for (h = 0; h < n->sn.net.flow[f].hops; h++) {
			struct pn_link *link = &n->sn.net.link[n->sn.net.flow[f].path[h]];

			if (link->busy_ns >= link->bps / 8 * 0.999 &&
			    link->free_ns < delay_ns)
				link->free_ns = delay_ns;
		}
	}
	for (f = 0; f < flows_of(n); f++) {
		const struct pn_flow *pf = &n->sn.net.flow[f];
		double delay_ns = share_delay_ns(n, f);

		for (h = 0; h < pf->hops; h++)
			if (n->sn.net.link[pf->path[h]].free_ns == delay_ns)
				break;
		if (h < pf->hops)
			first[pf->path[h]] = true;
	}
	for (l = 0; l < n->tree.links; l++) {
		if (!first[l] && users[l] == 1)
			n->sn.net.link[l].free_ns = 0;
		n->sn.net.link[l].told_ns = n->sn.net.link[l].free_ns;
	}
	free(first);
	free(users);
}

/* Flows that have their shares, since long. */
static void begin_settled(struct net *n)
{
	u32 f, h;

	for (f = 0; f < flows_of(n); f++)
		net_settled(n, f);
	stand_queues(n);
	/* the RTT without the delay told has the other queues in it */
	for (f = 0; f < flows_of(n); f++) {
		double sum_ns = 0, most_ns = 0, ns;

		for (h = 0; h < n->sn.net.flow[f].hops; h++) {
			ns = n->sn.net.link[n->sn.net.flow[f].path[h]].free_ns;
			sum_ns += ns;
			most_ns = fmax(ns, most_ns);
		}
		n->sn.flow[f].rest_ns += sum_ns - most_ns;
	}
}

/* Return: part of the flows that are at their shares. */
static double warm(struct net *n, double limit_ns)
{
	u32 near;

	do {
		net_run(n, n->sn.net.now_ns + WARM_NS);
		near = look(n).near;
	} while (near < flows_of(n) - flows_of(n) / 100 &&
		 n->sn.net.now_ns < limit_ns);
	return near / (double)flows_of(n);
}

static void print(const struct net *n, const char *what, u32 seed,
		  const struct result *r, const struct wf_cost *cost,
		  double solver_s)
{
	printf("{\"model\": \"%s\", \"k\": %u, \"hosts\": %u, \"flows\": %u, \"what\": \"%s\", \"seed\": %u",
	       n->fluid ? "rates" : "packets", n->tree.k, n->tree.hosts,
	       flows_of(n), what, seed);
	number("sum_us", r->settled_us[SUM], "%.0f");
	number("most_us", r->settled_us[MOST], "%.0f");
	number("nearly_us", r->settled_us[NEARLY], "%.0f");
	number("all_us", r->settled_us[ALL], "%.0f");
	number("rtt_us", r->rtt_us, "%.1f");
	number("sum", r->sum, "%.4f");
	number("worst", r->worst, "%.4f");
	number("median", r->median, "%.4f");
	number("near", r->near, "%.4f");
	number("utilisation", r->util, "%.4f");
	number("before", r->before, "%.4f");
	number("virtual_us", r->virtual_us, "%.0f");
	number("events", n->sn.net.clock->count, "%.0f");
	number("solver_rounds", cost->rounds, "%.0f");
	number("solver_steps", cost->visits + cost->moves, "%.0f");
	number("solver_cpu_ms", solver_s * 1e3, "%.2f");
	printf("}\n");
}

static int usage(void)
{
	fprintf(stderr, "use: fig19 [-r] K FLOWS start|change|incast [LIMIT_MS] [SEED]\n");
	return 2;
}

int main(int argc, char **argv)
{
	u32 k, flows, seed, f;
	bool change, incast, rates;
	double limit_ms, solver_s;
	struct result r = { .before = NAN };
	struct wf_cost cost;
	struct net *n;

	rates = argc > 1 && !strcmp(argv[1], "-r");
	argc -= rates;
	argv += rates;
	if (argc < 4 || argc > 6)
		return usage();
	k = atoi(argv[1]);
	flows = atoi(argv[2]);
	change = !strcmp(argv[3], "change");
	incast = !strcmp(argv[3], "incast");
	limit_ms = argc > 4 ? atof(argv[4]) : 50;
	seed = argc > 5 ? atoi(argv[5]) : 1;
	if (flows < 1 || flows > 10000000 || !(limit_ms >= 1 && limit_ms <= 1e5) ||
	    (!change && !incast && strcmp(argv[3], "start")))
		return usage();
	n = malloc(sizeof(*n));
	if (!n)
		return 2;
	net_init(n, k, flows, LINE_BPS, incast, !rates, seed);
	solve(n, &cost, &solver_s);
	if (change) {
		begin_settled(n);
		r.before = warm(n, rates ? limit_ms * 1e6 :
				   flows > WARM_FLOWS ? WARM_NS : WARM_MAX_NS);
		for (f = 0; f < flows; f++)
			net_weight(n, f, 1000 * (1 + net_random(n, 4)));
		solve(n, &cost, &solver_s);
	} else {
		for (f = 0; f < flows; f++)
			net_start(n, f, 2 * BASE_NS *
				  (net_random(n, 1 << 20) / 1048576.));
	}
	settle(n, limit_ms * 1e6, &r);
	print(n, argv[3], seed, &r, &cost, solver_s);
	net_free(n);
	free(n);
	return 0;
}
