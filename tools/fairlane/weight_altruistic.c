// SPDX-License-Identifier: GPL-2.0
/*
 * Altruism, after Soeze, section 5.1.4: a flow that would be done before the
 * slowest of its job gives up the bandwidth that it does not need, to whoever it is
 * that can use it. The job is not later for it. A flow never has more than its own
 * weight.
 */
#include "weight.h"

#include <math.h>

/* A flow is to be done a little before the slowest, so that an error of the estimate
 * makes the job no later.
 */
#define EARLY	0.9

static void choose_altruistic(struct weight_job *job)
{
	double slowest_s = job->finish_s;
	size_t i;

	if (job->finish_s < 0)
		for (i = 0; i < job->n; i++)
			slowest_s = fmax(slowest_s,
					 weight_left_s(&job->flow[i]));
	for (i = 0; i < job->n; i++) {
		struct weight_flow *f = &job->flow[i];
		double left_s = weight_left_s(f);

		f->want = f->weight;
		if (f->rate > 0 && !weight_ending(job, f) && !isinf(slowest_s))
			f->want *= weight_step(left_s, left_s < slowest_s ?
					       slowest_s * EARLY : 0);
		f->want = weight_bound(job, fmin(f->want, f->base));
	}
}

const struct weight_policy weight_altruistic = {
	.name = "altruistic",
	.choose = choose_altruistic,
};
