// SPDX-License-Identifier: GPL-2.0
/* What the policies of fairlane weight have in common: bounds, sums, times. */
#include "weight.h"

#include <math.h>

/* A look's estimates are noisy: one moves a weight by at most so much. */
#define STEP_MAX	2.0
/* Flows that are done in so many looks keep their weight: it would come too late, and
 * what is left of them is too little to tell a rate from.
 */
#define ENDING_LOOKS	2

/**
 * weight_bound() - a weight within the bounds
 * @job: has the bounds
 * @weight: any
 *
 * Return: the nearest weight that is allowed.
 */
double weight_bound(const struct weight_job *job, double weight)
{
	return fmin(fmax(weight, job->min), job->max);
}

/* Scales what is wanted by @factor, within the bounds; returns the sum. */
static double scaled(const struct weight_job *job, double factor)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < job->n; i++)
		sum += weight_bound(job, job->flow[i].want * factor);
	return sum;
}

/**
 * weight_share() - make the wanted weights come to the job's sum
 * @job: the job; sum 0: only the bounds are kept
 *
 * All are scaled by one factor, and those that would be out of bounds are at the
 * bound. A sum that the bounds do not allow gives what is nearest to it.
 */
void weight_share(struct weight_job *job)
{
	double low = 0, high = 1, factor = 1;
	size_t i;
	int k;

	if (job->sum > 0 && !(job->at_most && scaled(job, 1) <= job->sum)) {
		while (high < 1e12 && scaled(job, high) < job->sum)
			high *= 2;
		for (k = 0; k < 80; k++) {
			factor = (low + high) / 2;
			if (scaled(job, factor) < job->sum)
				low = factor;
			else
				high = factor;
		}
	}
	for (i = 0; i < job->n; i++)
		job->flow[i].want = weight_bound(job, job->flow[i].want *
						 factor);
}

/**
 * weight_left_s() - how long a flow still takes at its present rate
 * @f: the flow
 *
 * Return: seconds; infinite for a flow that stands.
 */
double weight_left_s(const struct weight_flow *f)
{
	return f->rate > 0 ? f->left_bytes / f->rate : INFINITY;
}

/**
 * weight_ending() - is a flow so near its end that it is left alone?
 * @job: its job
 * @f: the flow
 */
bool weight_ending(const struct weight_job *job, const struct weight_flow *f)
{
	return f->rate > 0 &&
	       weight_left_s(f) < ENDING_LOOKS * job->interval_s;
}

/**
 * weight_step() - by what a weight changes so that a flow comes nearer to its time
 * @left_s: how long it takes at its present rate
 * @target_s: how long it is to take
 *
 * The square root of what would be right if the rate went with the weight: half
 * way, because the rate is that of the look before, and others change, too.
 *
 * Return: a factor from 1/2 to 2.
 */
double weight_step(double left_s, double target_s)
{
	double step;

	if (!(target_s > 0))
		return STEP_MAX;
	if (isinf(left_s))
		return STEP_MAX;
	step = sqrt(left_s / target_s);
	return fmin(fmax(step, 1 / STEP_MAX), STEP_MAX);
}
