// SPDX-License-Identifier: GPL-2.0
/*
 * The file of jobs of fairlane weight (YAML):
 *
 *	jobs:
 *	  shuffle:
 *	    weight: 2
 *	    flows:
 *	      - {dst: 10.0.0.4, dport: 5201, size: 20gb}
 *	      - {name: small, dst: 10.0.0.5, size: 10gb, weight: 1}
 *
 * The words that name flows are those of "fairlane flow show". Every mistake is told
 * with its line, before anything is done.
 */
#include "weight_jobs.h"
#include "yamlfile.h"

#include <stdlib.h>
#include <string.h>

static double weight_of(const char *s)
{
	return attr_parse(FAIRLANE_WEIGHT, s, false) / 1000.0;
}

/* One key of a flow: ours, or a word of the filter. */
static void read_flow_key(struct yaml_file *r, const char *key, yaml_node_t *value,
			  void *arg)
{
	struct job_entry *e = arg;
	char *text = yaml_text(r, value, key);
	char *v[2] = { (char *)key, text };
	struct words w = { .v = v, .n = 2 };

	if (!strcmp(key, "name"))
		e->name = xprintf("%s", text);
	else if (!strcmp(key, "size"))
		e->size_bytes = need_size_bytes("size", text);
	else if (!strcmp(key, "weight"))
		e->base = weight_of(text);
	else if (!filter_word(&e->filter, &w))
		fail("\"%s\" is not known here: name, size, weight, or a word of a filter (src, dst, sport, dport, cookie, uid, pid, cgroup, cc, state)",
		     key);
}

static struct job_entry *entry_add(struct jobs *jobs, size_t job)
{
	struct job_entry *e;

	jobs->entry = xgrow(jobs->entry, jobs->entries, sizeof(*e));
	e = &jobs->entry[jobs->entries++];
	memset(e, 0, sizeof(*e));
	filter_init(&e->filter);
	e->base = 1;
	e->job = job;
	return e;
}

static void read_flows(struct yaml_file *r, struct jobs *jobs, yaml_node_t *list)
{
	yaml_node_item_t *item;

	yaml_at(r, list);
	if (list->type != YAML_SEQUENCE_NODE)
		fail("flows: a list is wanted");
	for (item = list->data.sequence.items.start;
	     item < list->data.sequence.items.top; item++) {
		struct job_entry *e = entry_add(jobs, jobs->jobs - 1);
		yaml_node_t *map = yaml_node(r, *item);

		yaml_pairs(r, map, "a flow", read_flow_key, e);
		yaml_at(r, map);
		if (!e->filter.listed)
			fail("nothing says which flows are meant (dst, dport, pid, ...)");
		if (!e->name)
			e->name = xprintf("%s", "");
	}
}

static void read_job_key(struct yaml_file *r, const char *key, yaml_node_t *value,
			 void *arg)
{
	struct jobs *jobs = arg;
	struct job *job = &jobs->job[jobs->jobs - 1];

	if (!strcmp(key, "flows")) {
		read_flows(r, jobs, value);
	} else if (!strcmp(key, "weight")) {
		job->sum = weight_of(yaml_text(r, value, key));
	} else if (!strcmp(key, "finish")) {
		job->finish_ns = need_time_ns("finish",
					      yaml_text(r, value, key));
		if (!job->finish_ns)
			fail("finish: a time above 0 is wanted");
	} else {
		yaml_at(r, value);
		fail("\"%s\" is not known here: flows, weight, finish", key);
	}
}

static void read_job(struct yaml_file *r, const char *key, yaml_node_t *value,
		     void *arg)
{
	struct jobs *jobs = arg;
	size_t before = jobs->entries;
	struct job *job;

	jobs->job = xgrow(jobs->job, jobs->jobs, sizeof(*job));
	job = &jobs->job[jobs->jobs++];
	memset(job, 0, sizeof(*job));
	job->name = xprintf("%s", key);
	yaml_pairs(r, value, key, read_job_key, jobs);
	yaml_at(r, value);
	if (jobs->entries == before)
		fail("job %s has no flows", key);
}

static void read_top(struct yaml_file *r, const char *key, yaml_node_t *value,
		     void *arg)
{
	yaml_at(r, value);
	if (strcmp(key, "jobs"))
		fail("\"%s\" is not known here: jobs", key);
	yaml_pairs(r, value, "jobs", read_job, arg);
}

/**
 * jobs_read() - read a file of jobs
 * @jobs: gets them
 * @path: the file, "-": stdin
 *
 * A mistake ends the program, with its line.
 */
void jobs_read(struct jobs *jobs, const char *path)
{
	struct yaml_file r;
	yaml_node_t *root = yaml_open(&r, path);

	memset(jobs, 0, sizeof(*jobs));
	yaml_pairs(&r, root, "the file", read_top, jobs);
	yaml_at(&r, root);
	if (!jobs->jobs)
		fail("no jobs");
	yaml_close(&r);
}

/**
 * jobs_one() - one job of all flows that a filter lets through
 * @jobs: gets it
 * @filter: the filter; it belongs to the job from now on
 */
void jobs_one(struct jobs *jobs, const struct filter *filter)
{
	struct job_entry *e;

	memset(jobs, 0, sizeof(*jobs));
	jobs->job = xgrow(NULL, 0, sizeof(*jobs->job));
	memset(jobs->job, 0, sizeof(*jobs->job));
	jobs->job[jobs->jobs++].name = xprintf("%s", "flows");
	e = entry_add(jobs, 0);
	e->name = xprintf("%s", "");
	e->filter = *filter;
}

/* The entry that a flow belongs to; NULL: none. */
const struct job_entry *jobs_find(const struct jobs *jobs,
				  const struct fairlane_flow *flow)
{
	size_t i;

	for (i = 0; i < jobs->entries; i++)
		if (filter_has(&jobs->entry[i].filter, flow))
			return &jobs->entry[i];
	return NULL;
}

void jobs_free(struct jobs *jobs)
{
	size_t i;

	for (i = 0; i < jobs->jobs; i++)
		free(jobs->job[i].name);
	for (i = 0; i < jobs->entries; i++) {
		free(jobs->entry[i].name);
		filter_free(&jobs->entry[i].filter);
	}
	free(jobs->job);
	free(jobs->entry);
	memset(jobs, 0, sizeof(*jobs));
}
