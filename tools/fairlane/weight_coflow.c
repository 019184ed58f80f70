// SPDX-License-Identifier: GPL-2.0
/*
 * Flows of a coflow finish together, after Soeze, sections 5.1.2 and 5.1.3: nobody
 * waits for the last one. The sum of the job's weights stays what it is, so that a
 * bottleneck that they share is divided among jobs as before.
 *
 * A flow that would take longer than the job as a whole gets more weight, one that
 * would be done earlier gets less, each look half of what seems right. On a bottleneck
 * of the job's own, weights in proportion to what is left come out of that at
 * once; with several bottlenecks the flow that competes with others gets what those
 * that do not compete have no use for.
 */
#include "weight.h"

#include <math.h>

/* Before rates are known: as if all shared one bottleneck. */
static void choose_by_size(struct weight_job *job)
{
	size_t i;

	for (i = 0; i < job->n; i++)
		job->flow[i].want = job->flow[i].left_bytes;
}

static void choose_coflow(struct weight_job *job)
{
	double left = 0, rate = 0, target_s;
	bool known = true;
	size_t i;

	for (i = 0; i < job->n; i++) {
		left += job->flow[i].left_bytes;
		rate += job->flow[i].rate;
		known &= job->flow[i].rate > 0;
	}
	if (!known) {
		choose_by_size(job);
		weight_share(job);
		return;
	}
	/* as if they all shared their rates, or as it is wanted */
	target_s = job->finish_s >= 0 ? job->finish_s : left / rate;
	for (i = 0; i < job->n; i++) {
		struct weight_flow *f = &job->flow[i];

		f->want = f->weight;
		if (!weight_ending(job, f))
			f->want *= weight_step(weight_left_s(f), target_s);
	}
	weight_share(job);
}

const struct weight_policy weight_coflow = {
	.name = "coflow",
	.choose = choose_coflow,
	.keeps_sum = true,
};
