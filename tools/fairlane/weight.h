/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairlane weight: what its files share. A policy (weight_shortest.c,
 * weight_coflow.c, weight_altruistic.c) is a function on numbers: it sees how much
 * each flow of a job has left and how fast it goes, and says what weight it is to
 * have. It knows no sockets, no clock, no files, and is tested so
 * (selftests/unit/tools/test_weight.c).
 */
#ifndef FAIRLANE_WEIGHT_H
#define FAIRLANE_WEIGHT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct weight_flow - a flow, as a policy sees it
 * @size_bytes: all that it has to deliver; if that is not declared what it has
 *	delivered and what waits in its socket
 * @left_bytes: what it still has to deliver, above 0
 * @rate: bytes a second since the last look; 0: not known yet
 * @base: its weight if nobody did anything, above 0
 * @weight: the weight that it has
 * @want: out: the weight that it is to have
 */
struct weight_flow {
	double size_bytes;
	double left_bytes;
	double rate;
	double base;
	double weight;
	double want;
};

/**
 * struct weight_job - flows that belong together, and what bounds their weights
 * @flow: those that are sending, at least one
 * @n: how many
 * @sum: what all their weights together come to; 0: nothing is kept
 * @at_most: they may come to less than the sum
 * @min: smallest weight, above 0
 * @max: largest weight
 * @finish_s: they are to be done in so many seconds; below 0: nothing is said
 * @interval_s: seconds between two looks
 * @largest_bytes: shortest-first: of that size is weight 1
 * @by_size: shortest-first: goes by the size, not by what is left
 */
struct weight_job {
	struct weight_flow *flow;
	size_t n;
	double sum;
	bool at_most;
	double min;
	double max;
	double finish_s;
	double interval_s;
	double largest_bytes;
	bool by_size;
};

/**
 * struct weight_policy - a way to choose weights
 * @name: on the command line
 * @choose: sets want of each flow of a job
 * @keeps_sum: keeps the sum of a job's weights unless told otherwise
 * @one_job: all flows are one job, whatever the file says
 */
struct weight_policy {
	const char *name;
	void (*choose)(struct weight_job *job);
	bool keeps_sum;
	bool one_job;
};

extern const struct weight_policy weight_shortest;
extern const struct weight_policy weight_coflow;
extern const struct weight_policy weight_altruistic;

/* weight_share.c */
double weight_bound(const struct weight_job *job, double weight);
void weight_share(struct weight_job *job);
double weight_left_s(const struct weight_flow *f);
bool weight_ending(const struct weight_job *job, const struct weight_flow *f);
double weight_step(double left_s, double target_s);

#endif
