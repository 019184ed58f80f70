// SPDX-License-Identifier: GPL-2.0
/*
 * The policies of fairlane weight on ideal networks: what they choose at once, where
 * a loop of looks ends, and that sums and bounds hold whatever they see.
 */
#include "unit.h"

#include "../../../tools/fairlane/weight_altruistic.c"
#include "../../../tools/fairlane/weight_shortest.c"
#include "../../../tools/fairlane/weight_coflow.c"
#include "../../../tools/fairlane/weight_share.c"

#include <stdlib.h>

#define FLOWS	4
#define TINY	0.00001

/* Flows of a job, and what else is on the port of each. */
struct net {
	struct weight_flow flow[FLOWS];
	int port[FLOWS];
	double other[FLOWS];	/* by port: weights of others */
	double rate[FLOWS];	/* by port: bytes a second */
	double done_s[FLOWS];
	size_t n;
};

static struct weight_job job_of(struct weight_flow *flow, size_t n)
{
	struct weight_job job = {
		.flow = flow, .n = n, .min = 0.01, .max = 100, .finish_s = -1,
		.interval_s = 0.01, .largest_bytes = 1000,
	};

	return job;
}

static double sum_of(const struct weight_job *job)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < job->n; i++)
		sum += job->flow[i].want;
	return sum;
}

/* The rates that weighted sharing gives. */
static void share_ports(struct net *net)
{
	size_t i, k;

	for (i = 0; i < net->n; i++) {
		double all = net->other[net->port[i]];

		for (k = 0; k < net->n; k++)
			if (net->port[k] == net->port[i] &&
			    net->flow[k].left_bytes > 0)
				all += net->flow[k].weight;
		net->flow[i].rate = net->rate[net->port[i]] *
				    net->flow[i].weight / all;
	}
}

/* Looks and changes every 10 ms until all is delivered; sum: what must be kept. */
static void run_net(struct net *net, const struct weight_policy *policy,
		    double sum)
{
	struct weight_flow seen[FLOWS];
	size_t index[FLOWS], i, n;
	double now_s = 0;
	int look;

	for (look = 0; look < 100000; look++) {
		struct weight_job job;

		for (i = n = 0; i < net->n; i++) {
			if (net->flow[i].left_bytes <= 0)
				continue;
			index[n] = i;
			seen[n] = net->flow[i];
			seen[n].rate = look ? seen[n].rate : 0;
			n++;
		}
		if (!n)
			return;
		job = job_of(seen, n);
		job.sum = sum;
		policy->choose(&job);
		if (sum > 0)
			CHECK(fabs(sum_of(&job) - sum) < TINY * sum);
		for (i = 0; i < n; i++)
			net->flow[index[i]].weight = seen[i].want;
		share_ports(net);
		now_s += job.interval_s;
		for (i = 0; i < n; i++) {
			struct weight_flow *f = &net->flow[index[i]];

			f->left_bytes -= f->rate * job.interval_s;
			if (f->left_bytes <= 0)
				net->done_s[index[i]] = now_s;
		}
	}
	CHECK(false);
}

static struct weight_flow flow_of(double bytes)
{
	struct weight_flow f = {
		.size_bytes = bytes, .left_bytes = bytes, .base = 1,
		.weight = 1, .want = 1,
	};

	return f;
}

/* The paper's weight = largest size / size, within the bounds. */
TEST(weight_shortest_paper)
{
	struct weight_flow flow[] = { flow_of(1000), flow_of(500), flow_of(100),
				      flow_of(1) };
	struct weight_job job = job_of(flow, 4);

	job.by_size = true;
	flow[1].left_bytes = 10;
	weight_shortest.choose(&job);
	CHECK(fabs(flow[0].want - 1) < TINY);
	CHECK(fabs(flow[1].want - 2) < TINY);
	CHECK(fabs(flow[2].want - 10) < TINY);
	CHECK(fabs(flow[3].want - 100) < TINY);
	job.by_size = false;
	weight_shortest.choose(&job);
	CHECK(fabs(flow[1].want - 100) < TINY);
	job.sum = 10;
	job.by_size = true;
	weight_shortest.choose(&job);
	CHECK(fabs(sum_of(&job) - 10) < TINY);
	CHECK(fabs(flow[2].want / flow[1].want - 5) < TINY);
}

/* On one port, together at once: weights in proportion to what is left. */
TEST(weight_coflow_one_port)
{
	struct net net = {
		.flow = { flow_of(300e6), flow_of(100e6) }, .n = 2,
		.other = { 2 }, .rate = { 1e9 },
	};
	struct weight_job job = job_of(net.flow, 2);

	job.sum = 2;
	weight_coflow.choose(&job);
	CHECK(fabs(net.flow[0].want - 1.5) < TINY);
	CHECK(fabs(net.flow[1].want - 0.5) < TINY);
	run_net(&net, &weight_coflow, 2);
	/* half of the port for 400 MB */
	CHECK(fabs(net.done_s[0] - 0.8) < 0.02);
	CHECK(fabs(net.done_s[1] - 0.8) < 0.02);
}

/* Figure 7: each on its own port with others, one twice as large. */
TEST(weight_coflow_straggler)
{
	struct net net = {
		.flow = { flow_of(500e6), flow_of(1000e6) }, .n = 2,
		.port = { 0, 1 }, .other = { 1, 2 }, .rate = { 1e9, 1e9 },
	};

	run_net(&net, &weight_coflow, 2);
	/* x^2 - 7 x + 2 = 0 is the first one's weight: 0.298 */
	CHECK(fabs(net.done_s[0] - 2.178) < 0.06);
	CHECK(fabs(net.done_s[1] - net.done_s[0]) < 0.06);
}

/* One that competes with nobody loses its weight, but not its rate. */
TEST(weight_coflow_alone)
{
	struct net net = {
		.flow = { flow_of(100e6), flow_of(1000e6) }, .n = 2,
		.port = { 0, 1 }, .other = { 0, 3 }, .rate = { 1e8, 1e9 },
	};

	run_net(&net, &weight_coflow, 2);
	CHECK(fabs(net.done_s[0] - 1) < 0.02);
	/* with nearly all of the 2 of 5 */
	CHECK(net.done_s[1] < 2.7);
}

/* A time to keep: no more weight than the time wants. */
TEST(weight_coflow_finish)
{
	struct weight_flow flow[] = { flow_of(100e6) };
	struct weight_job job = job_of(flow, 1);

	job.sum = 4;
	job.at_most = true;
	job.finish_s = 10;
	flow[0].rate = 20e6;
	weight_coflow.choose(&job);
	CHECK(fabs(flow[0].want - sqrt(0.5)) < TINY);
	flow[0].rate = 5e6;
	weight_coflow.choose(&job);
	CHECK(fabs(flow[0].want - sqrt(2)) < TINY);
	job.finish_s = 0;
	flow[0].weight = 3;
	weight_coflow.choose(&job);
	CHECK(fabs(flow[0].want - 4) < TINY);
}

/* Figure 9: f2 keeps what it needs to be done with f1, which is four times as large
 * and alone; the other one on its port gets the rest.
 */
TEST(weight_altruistic_figure_9)
{
	struct net net = {
		.flow = { flow_of(2800e6), flow_of(700e6) }, .n = 2,
		.port = { 0, 1 }, .other = { 0, 1 }, .rate = { 1e9, 1e9 },
	};

	run_net(&net, &weight_altruistic, 0);
	CHECK(fabs(net.done_s[0] - 2.8) < 0.02);
	CHECK(net.done_s[1] <= 2.8);
	CHECK(net.done_s[1] >= 2.4);
}

/* The slowest has its own weight, and nobody gets more than that. */
TEST(weight_altruistic_bounds)
{
	struct weight_flow flow[] = { flow_of(100e6), flow_of(10e6) };
	struct weight_job job = job_of(flow, 2);

	flow[0].rate = 10e6;
	flow[1].rate = 10e6;
	flow[0].base = 2;
	flow[0].weight = 0.5;
	weight_altruistic.choose(&job);
	CHECK(fabs(flow[0].want - 1) < TINY);
	CHECK(flow[1].want < 1);
	flow[0].weight = 2;
	weight_altruistic.choose(&job);
	CHECK(fabs(flow[0].want - 2) < TINY);
	/* one that stands may be the slowest: nobody gives up anything */
	flow[0].rate = 0;
	flow[1].weight = 0.7;
	weight_altruistic.choose(&job);
	CHECK(fabs(flow[1].want - 0.7) < TINY);
}

/* A sum out of reach gives the nearest that the bounds allow. */
TEST(weight_share_bounds)
{
	struct weight_flow flow[] = { flow_of(1), flow_of(1), flow_of(1) };
	struct weight_job job = job_of(flow, 3);

	job.sum = 1000;
	weight_share(&job);
	CHECK(fabs(sum_of(&job) - 300) < TINY);
	job.sum = 0.001;
	weight_share(&job);
	CHECK(fabs(sum_of(&job) - 0.03) < TINY);
	flow[0].want = 1000;
	flow[1].want = 1;
	flow[2].want = 1;
	job.max = 4;
	job.sum = 6;
	weight_share(&job);
	CHECK(fabs(flow[0].want - 4) < TINY);
	CHECK(fabs(flow[1].want - 1) < TINY);
}

/* Whatever it sees, a policy answers within the bounds. */
TEST(weight_any)
{
	static const struct weight_policy *const all[] = {
		&weight_shortest, &weight_coflow, &weight_altruistic,
	};
	struct weight_flow flow[FLOWS];
	int round;
	size_t i;

	srandom(1);
	for (round = 0; round < 30000; round++) {
		struct weight_job job = job_of(flow, 1 + random() % FLOWS);

		for (i = 0; i < job.n; i++) {
			flow[i] = flow_of(1 + pow(10, random() % 16));
			flow[i].left_bytes = 1 + random() % 1000000;
			flow[i].rate = random() % 3 ? pow(10, random() % 12) : 0;
			flow[i].weight = 0.001 * (1 + random() % 1000000);
			flow[i].base = 0.001 * (1 + random() % 1000000);
		}
		job.sum = random() % 2 ? random() % 50 : 0;
		job.at_most = random() % 2;
		job.finish_s = random() % 2 ? random() % 3 : -1;
		all[round % 3]->choose(&job);
		for (i = 0; i < job.n; i++) {
			CHECK(flow[i].want >= job.min);
			CHECK(flow[i].want <= job.max);
		}
	}
}

UNIT_MAIN
