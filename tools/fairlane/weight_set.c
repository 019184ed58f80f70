// SPDX-License-Identifier: GPL-2.0
/* fairlane weight, changing: the policy's choice for each job, and the changes of
 * weights that come of it.
 */
#include "weight_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A change of less than so much is not worth an event. */
#define WORTH	0.02

/* The size of a flow, as far as it is known. */
static double size_of(const struct tracked *t)
{
	return (double)t->acked_bytes + t->left_bytes;
}

/* Bounds of a job; NULL: all flows are one. */
static void job_bounds(struct steering *s, struct job *job,
		       struct weight_job *w)
{
	double base = 0;
	size_t i;

	for (i = 0; i < w->n; i++)
		base += w->flow[i].base;
	w->min = s->min;
	w->max = s->max;
	w->sum = s->sum;
	w->finish_s = -1;
	w->interval_s = s->interval_ns / 1e9;
	w->largest_bytes = s->largest_bytes;
	w->by_size = s->by_size;
	if (!job)
		return;
	if (!job->began_ns)
		job->began_ns = s->now_ns;
	if (base > job->base_sum)
		job->base_sum = base;
	if (job->sum)
		w->sum = job->sum;
	if (!w->sum && s->policy->keeps_sum)
		w->sum = job->base_sum;
	if (job->finish_ns) {
		w->at_most = true;
		w->finish_s = fmax(0, ((double)job->finish_ns -
				       (s->now_ns - job->began_ns)) / 1e9);
	}
}

/* Thousandths within what the kernel takes. */
static uint32_t to_milli(double weight)
{
	double milli = weight * 1000 + 0.5;

	return fmin(fmax(milli, FL_WEIGHT_MIN_MILLI), FL_WEIGHT_MAX_MILLI);
}

/* Let the policy choose for the sending flows of job @number, or of all. */
static void choose_job(struct steering *s, size_t number)
{
	struct weight_job w = { .flow = xalloc(s->flows * sizeof(*w.flow)) };
	size_t *index = xalloc(s->flows * sizeof(*index)), i;

	for (i = 0; i < s->flows; i++) {
		const struct tracked *t = &s->flow[i];

		if (!t->active ||
		    (!s->policy->one_job && t->entry->job != number))
			continue;
		index[w.n] = i;
		w.flow[w.n].size_bytes = size_of(t);
		w.flow[w.n].left_bytes = t->left_bytes;
		w.flow[w.n].rate = t->rate;
		w.flow[w.n].base = t->entry->base;
		w.flow[w.n].weight = t->weight_milli / 1000.0;
		w.flow[w.n++].want = t->weight_milli / 1000.0;
		if (!s->largest_given && size_of(t) > s->largest_bytes)
			s->largest_bytes = size_of(t);
	}
	if (w.n) {
		job_bounds(s, s->policy->one_job ? NULL : &s->jobs.job[number],
			   &w);
		s->policy->choose(&w);
	}
	for (i = 0; i < w.n; i++)
		s->flow[index[i]].want_milli = to_milli(w.flow[i].want);
	free(index);
	free(w.flow);
}

/**
 * weight_choose() - let the policy choose, for each job
 * @s: what the last look has seen; gets the weights that are wanted
 */
void weight_choose(struct steering *s)
{
	size_t jobs = s->policy->one_job ? 1 : s->jobs.jobs, i;

	for (i = 0; i < jobs; i++)
		choose_job(s, i);
}

static bool worth_it(const struct tracked *t)
{
	double old = t->weight_milli, new = t->want_milli;

	return fabs(new - old) > WORTH * old;
}

/* What is to change: if one flow of a job is worth it all are, for the sum's sake. */
static size_t changes_of(struct steering *s, struct tracked **list)
{
	bool *worth = xalloc(s->jobs.jobs * sizeof(*worth));
	size_t n = 0, i;

	for (i = 0; i < s->flows; i++)
		worth[s->flow[i].entry->job] |= worth_it(&s->flow[i]);
	for (i = 0; i < s->flows; i++) {
		struct tracked *t = &s->flow[i];

		if (t->want_milli != t->weight_milli &&
		    (s->policy->one_job ? worth_it(t) :
					  worth[t->entry->job]))
			list[n++] = t;
	}
	free(worth);
	return n;
}

static void print_json(const struct steering *s, const struct tracked *t,
		       int err)
{
	cJSON *doc = cJSON_CreateObject();

	json_u64(doc, "time_ns", weight_clock_ns(CLOCK_REALTIME));
	cJSON_AddStringToObject(doc, "policy", s->policy->name);
	cJSON_AddStringToObject(doc, "job",
				s->jobs.job[t->entry->job].name);
	if (t->entry->name[0])
		cJSON_AddStringToObject(doc, "name", t->entry->name);
	if (s->place[t->place].name)
		cJSON_AddStringToObject(doc, "netns", s->place[t->place].name);
	id_json(doc, &t->id);
	json_u64(doc, "delivered_bytes", t->acked_bytes);
	json_u64(doc, "left_bytes", t->left_bytes);
	json_u64(doc, "rate_bps", t->rate * 8);
	cJSON_AddItemToObject(doc, "old_weight",
			      cJSON_CreateRaw(show_milli(t->weight_milli)));
	cJSON_AddItemToObject(doc, "weight",
			      cJSON_CreateRaw(show_milli(t->want_milli)));
	cJSON_AddStringToObject(doc, "result", err ? "refused" :
				s->dry_run ? "dry-run" : "changed");
	if (err)
		cJSON_AddStringToObject(doc, "error", strerror(-err));
	json_line(doc);
}

static void print_change(const struct steering *s, const struct tracked *t,
			 int err)
{
	if (opt.json) {
		print_json(s, t, err);
		return;
	}
	printf("%s%s%s %s weight %s to %s left %s",
	       s->jobs.job[t->entry->job].name, t->entry->name[0] ? " " : "",
	       t->entry->name, flow_tuple(&t->id), show_milli(t->weight_milli),
	       show_milli(t->want_milli), show_bytes(t->left_bytes));
	if (t->rate > 0)
		printf(" rate %s", show_rate(t->rate * 8));
	printf("%s%s\n", err ? " refused: " :
	       s->dry_run ? " (dry run)" : "", err ? strerror(-err) : "");
	fflush(stdout);
}

/* What the kernel said to a change. A flow that is gone by now is no refusal. */
static void take_result(struct steering *s, struct tracked *t, int err)
{
	if (err == -ENOENT)
		return;
	if (!err)
		t->changed = !s->dry_run;
	else
		s->refusals++;
	if (!err || err != t->refused)
		print_change(s, t, err);
	t->refused = err;
	if (!err)
		t->weight_milli = t->want_milli;
}

/* Lowered flows first: what they give up is what others may take. */
static int lower_first(const void *a, const void *b)
{
	const struct tracked *x = *(struct tracked *const *)a;
	const struct tracked *y = *(struct tracked *const *)b;
	bool up_x = x->want_milli > x->weight_milli;
	bool up_y = y->want_milli > y->weight_milli;

	if (up_x != up_y)
		return up_x - up_y;
	return (x > y) - (x < y);
}

/* Set the weights of @n flows of one place. */
static void set_weights(struct steering *s, struct place *p,
			struct tracked **list, size_t n)
{
	struct fairlane_setting *weight = xalloc(n * sizeof(*weight));
	struct fairlane_change *change = xalloc(n * sizeof(*change));
	size_t i;

	for (i = 0; i < n; i++) {
		weight[i].attr = FAIRLANE_WEIGHT;
		weight[i].value = list[i]->want_milli;
		change[i].id = list[i]->id;
		change[i].settings = &weight[i];
		change[i].count = 1;
	}
	if (!s->dry_run &&
	    fairlane_flow_set_batch(p->module, change, n) < 0)
		fail_kernel("netlink: %s", fairlane_error(p->module));
	for (i = 0; i < n; i++)
		take_result(s, list[i], change[i].result);
	free(change);
	free(weight);
}

/*
 * Make the changes that are wanted. With flows of a job in several places what is
 * lowered is lowered everywhere before anything is raised.
 */
void weight_apply(struct steering *s)
{
	struct tracked **list = xalloc((s->flows + 1) * sizeof(struct tracked *));
	size_t n = changes_of(s, list), first, last;

	if (n)
		qsort(list, n, sizeof(struct tracked *), lower_first);
	for (first = 0; first < n; first = last) {
		for (last = first + 1; last < n; last++)
			if (list[last]->place != list[first]->place)
				break;
		set_weights(s, &s->place[list[first]->place], list + first,
			    last - first);
	}
	free(list);
}

/* Flows that still live get back the weights that they had. */
void weight_put_back(struct steering *s)
{
	struct fairlane_setting weight = { .attr = FAIRLANE_WEIGHT };
	size_t i;
	int up;

	for (up = 0; up < 2; up++) {
		for (i = 0; i < s->flows; i++) {
			struct tracked *t = &s->flow[i];
			uint32_t before = t->before_milli == FAIRLANE_UNSET ?
					  FL_WEIGHT_ONE_MILLI : t->before_milli;

			/* what goes down first, as in weight_apply() */
			if (!t->changed || (up && before <= t->weight_milli) ||
			    (!up && before > t->weight_milli))
				continue;
			weight.value = t->before_milli;
			fairlane_flow_set(s->place[t->place].module, &t->id,
					  &weight, 1);
		}
	}
}
