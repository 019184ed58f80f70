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
#include "../../../tools/lab/waterfill.h"

#define LINE_BPS	100e9
#define BASE_PS		(13000LL * NET_PS)	/* base RTT through the core, rounded up */
#define BIN_PS		(10000LL * NET_PS)
#define HOLD_PS		(300000LL * NET_PS)	/* settled that long: the run ends */
/* Before weights change: so long, and until 99 % of the flows are at their shares, but
 * not longer than that; packets cost more than rates.
 */
#define WARM_PS		(600000LL * NET_PS)
#define WARM_MAX_PS	(3000000LL * NET_PS)
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
	u32 *first = malloc((n->flows + 1ULL) * sizeof(*first));
	u32 *hop = malloc((size_t)n->flows * TREE_HOPS * sizeof(*hop));
	double *capacity = malloc(n->tree.links * sizeof(*capacity));
	double *weight = malloc(n->flows * sizeof(*weight));
	double *rate = malloc(n->flows * sizeof(*rate)), begin;
	struct wf_net wf = {
		n->tree.links, n->flows, capacity, weight, first, hop,
	};
	u32 f, h, used = 0;

	if (!first || !hop || !capacity || !weight || !rate)
		exit(2);
	for (h = 0; h < n->tree.links; h++)
		capacity[h] = n->line_bps / 8;
	for (f = 0; f < n->flows; f++) {
		weight[f] = n->flow[f].weight_milli / 1000.;
		first[f] = used;
		for (h = 0; h < n->flow[f].hops; h++)
			hop[used++] = n->flow[f].path[h];
	}
	first[f] = used;
	begin = cpu_s();
	if (!wf_solve(&wf, rate, cost))
		exit(2);
	*solver_s = cpu_s() - begin;
	if (wf_check(&wf, rate) * 1e6 > 1) {
		fprintf(stderr, "the solver's shares are not max-min\n");
		exit(3);
	}
	for (f = 0; f < n->flows; f++)
		n->flow[f].ideal_l2 = log2(rate[f]) * SZ_ONE;
	free(first);
	free(hop);
	free(capacity);
	free(weight);
	free(rate);
}

static struct state look(const struct net *n)
{
	struct state s = { 0 };
	double away = 0, all = 0;
	u32 f;

	for (f = 0; f < n->flows; f++) {
		const struct net_flow *fl = &n->flow[f];
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

/* Errors at the end, busiest link, RTT. */
static void errors(struct net *n, int64_t from_ps, struct result *r)
{
	double *e = malloc(n->flows * sizeof(*e));
	int64_t busy = 0;
	u32 i;

	if (!e)
		exit(2);
	for (i = 0; i < n->flows; i++)
		e[i] = fabs(exp2((n->flow[i].sz.rate_l2 - n->flow[i].ideal_l2) /
				 (double)SZ_ONE) - 1);
	qsort(e, n->flows, sizeof(*e), by_size);
	r->worst = e[n->flows - 1];
	r->median = e[n->flows / 2];
	for (i = 0; i < n->tree.links; i++)
		if (net_busy(n, i) > busy)
			busy = net_busy(n, i);
	r->util = (double)busy / (n->now_ps - from_ps);
	r->rtt_us = n->acks ? n->rtt_sum_ns / n->acks / 1000 : NAN;
	free(e);
}

/* Runs until all flows have had their shares for a while, or to the limit. */
static void settle(struct net *n, int64_t limit_ps, struct result *r)
{
	int64_t bin_ps = BIN_PS * (1 + n->flows / (BIN_FLOWS + 1));
	u32 hold = HOLD_PS / bin_ps > HOLD_BINS_MIN ? HOLD_PS / bin_ps : HOLD_BINS_MIN;
	int64_t begin_ps = n->now_ps, bad_ps[LEVELS];
	u32 bins = limit_ps / bin_ps, bin;
	struct state s = { 0 };
	int i;

	for (i = 0; i < LEVELS; i++)
		bad_ps[i] = begin_ps;
	for (bin = 1; bin <= bins; bin++) {
		net_run(n, begin_ps + bin * bin_ps);
		s = look(n);
		if (s.sum > 0.05)
			bad_ps[SUM] = n->now_ps;
		if (s.near < n->flows - n->flows / 10)
			bad_ps[MOST] = n->now_ps;
		if (s.near < n->flows - n->flows / 100)
			bad_ps[NEARLY] = n->now_ps;
		if (s.near < n->flows)
			bad_ps[ALL] = n->now_ps;
		if (bin % 100 == 0)
			fprintf(stderr, "%.1f ms: %u of %u flows, %.1f %% away, %.0f s\n",
				(n->now_ps - begin_ps) / 1e9, s.near, n->flows,
				100 * s.sum, cpu_s());
		if (n->now_ps - bad_ps[ALL] >= hold * bin_ps)
			break;
	}
	for (i = 0; i < LEVELS; i++)
		r->settled_us[i] = n->now_ps - bad_ps[i] < hold * bin_ps ?
				   NAN : (bad_ps[i] - begin_ps) / 1e6;
	r->virtual_us = n->now_ps / 1e6;
	begin_ps = n->now_ps;
	net_clear(n);
	for (bin = 1; bin <= hold; bin++) {
		net_run(n, begin_ps + bin * bin_ps);
		s = look(n);
		r->sum += s.sum / hold;
		r->near += s.near / (double)n->flows / hold;
	}
	errors(n, begin_ps, r);
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
static int64_t share_delay_ps(const struct net *n, const struct net_flow *fl)
{
	return sz_target_delay_ns(&n->par, fl->ideal_l2 - fl->sz.weight_l2) *
	       (int64_t)NET_PS;
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
		n->link[l].busy_ps = 0;
	for (f = 0; f < n->flows; f++)
		for (h = 0; h < n->flow[f].hops; h++) {
			n->link[n->flow[f].path[h]].busy_ps +=
				sz_exp2(n->flow[f].ideal_l2);
			users[n->flow[f].path[h]]++;
		}
	for (f = 0; f < n->flows; f++) {
		int64_t delay_ps = share_delay_ps(n, &n->flow[f]);

		for (h = 0; h < n->flow[f].hops; h++) {
			struct net_link *link = &n->link[n->flow[f].path[h]];

			if (link->busy_ps >= n->line_bps / 8 * 0.999 &&
			    link->free_ps < delay_ps)
				link->free_ps = delay_ps;
		}
	}
	for (f = 0; f < n->flows; f++) {
		const struct net_flow *fl = &n->flow[f];
		int64_t delay_ps = share_delay_ps(n, fl);

		for (h = 0; h < fl->hops; h++)
			if (n->link[fl->path[h]].free_ps == delay_ps)
				break;
		if (h < fl->hops)
			first[fl->path[h]] = true;
	}
	for (l = 0; l < n->tree.links; l++) {
		if (!first[l] && users[l] == 1)
			n->link[l].free_ps = 0;
		n->link[l].told_ps = n->link[l].free_ps;
	}
	free(first);
	free(users);
}

/* Flows that have their shares, since long. */
static void begin_settled(struct net *n)
{
	u32 f, h;

	for (f = 0; f < n->flows; f++)
		net_settled(n, f);
	stand_queues(n);
	/* the RTT without the delay told has the other queues in it */
	for (f = 0; f < n->flows; f++) {
		int64_t sum_ps = 0, most_ps = 0, ps;

		for (h = 0; h < n->flow[f].hops; h++) {
			ps = n->link[n->flow[f].path[h]].free_ps;
			sum_ps += ps;
			most_ps = ps > most_ps ? ps : most_ps;
		}
		n->flow[f].rest_ns += (sum_ps - most_ps) / NET_PS;
	}
}

/* Return: part of the flows that are at their shares. */
static double warm(struct net *n, int64_t limit_ps)
{
	u32 near;

	do {
		net_run(n, n->now_ps + WARM_PS);
		near = look(n).near;
	} while (near < n->flows - n->flows / 100 && n->now_ps < limit_ps);
	return near / (double)n->flows;
}

static void print(const struct net *n, const char *what, u32 seed,
		  const struct result *r, const struct wf_cost *cost,
		  double solver_s)
{
	printf("{\"model\": \"%s\", \"k\": %u, \"hosts\": %u, \"flows\": %u, \"what\": \"%s\", \"seed\": %u",
	       n->fluid ? "rates" : "packets", n->tree.k, n->tree.hosts,
	       n->flows, what, seed);
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
	number("events", n->wheel.count, "%.0f");
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
		r.before = warm(n, rates ? limit_ms * 1e9 :
				   flows > WARM_FLOWS ? WARM_PS : WARM_MAX_PS);
		for (f = 0; f < flows; f++)
			net_weight(n, f, 1000 * (1 + net_random(n, 4)));
		solve(n, &cost, &solver_s);
	} else {
		for (f = 0; f < flows; f++)
			net_start(n, f, 2 * BASE_PS *
				  (net_random(n, 1 << 20) / 1048576.));
	}
	settle(n, limit_ms * 1e9, &r);
	print(n, argv[3], seed, &r, &cost, solver_s);
	net_free(n);
	free(n);
	return 0;
}
