/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs and their flows, as the user names them, for fairlane weight. */
#ifndef FAIRLANE_WEIGHT_JOBS_H
#define FAIRLANE_WEIGHT_JOBS_H

#include "tool.h"

/**
 * struct job_entry - flows of a job
 * @name: of the flows, for the output; may be ""
 * @filter: which they are
 * @size_bytes: that each delivers; 0: what waits in its socket is what is known
 * @base: weight of each if nobody did anything
 * @job: index of the job
 */
struct job_entry {
	char *name;
	struct filter filter;
	uint64_t size_bytes;
	double base;
	size_t job;
};

/**
 * struct job - flows that belong together
 * @name: of the job
 * @sum: what its weights are to come to; 0: not said
 * @finish_ns: how long it may take from its first flow on; 0: not said
 * @began_ns: when its first flow was seen sending; 0: not yet
 * @base_sum: the most that the base weights of its sending flows have come to
 */
struct job {
	char *name;
	double sum;
	uint64_t finish_ns;
	uint64_t began_ns;
	double base_sum;
};

/* All jobs. An entry belongs to the first that fits a flow. */
struct jobs {
	struct job *job;
	size_t jobs;
	struct job_entry *entry;
	size_t entries;
};

void jobs_read(struct jobs *jobs, const char *path);
void jobs_one(struct jobs *jobs, const struct filter *filter);
const struct job_entry *jobs_find(const struct jobs *jobs,
				  const struct fairlane_flow *flow);
void jobs_free(struct jobs *jobs);

#endif
