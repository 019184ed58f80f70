// SPDX-License-Identifier: GPL-2.0
/*
 * Shortest flow first, after Soeze, section 5.1.5: weight = largest size / size.
 * Small flows finish earlier, large ones are slowed down but never stopped.
 *
 * The paper's flows have the weight of their size from beginning to end (by size).
 * The default goes by what is left, so that a large flow that is nearly done is not
 * overtaken by everything that begins.
 */
#include "weight.h"

#include <math.h>

static void choose_shortest(struct weight_job *job)
{
	size_t i;

	for (i = 0; i < job->n; i++) {
		struct weight_flow *f = &job->flow[i];
		double bytes = job->by_size ? f->size_bytes : f->left_bytes;

		f->want = f->base * job->largest_bytes / fmax(bytes, 1);
	}
	weight_share(job);
}

const struct weight_policy weight_shortest = {
	.name = "shortest-first",
	.choose = choose_shortest,
	.one_job = true,
};
