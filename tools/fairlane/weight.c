// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane weight: watches flows and sets their weights by a policy, again and
 * again. This file has the command and the loop; weight_look.c and weight_set.c the
 * steps of it, the policies (weight.h) know only numbers.
 */
#include "weight_run.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
"usage: fairlane weight POLICY jobs FILE | FILTER [netns NAME[,NAME]...]\n"
"                       [interval TIME] [for TIME] [once] [dry-run]\n"
"                       [min W] [max W] [sum W] [by size|left] [largest SIZE]\n"
"POLICY:   shortest-first   weight = largest size / what a flow has left\n"
"          coflow           the flows of a job finish together\n"
"          altruistic       a flow gives up what it does not need to finish with\n"
"                           the slowest of its job\n"
"Looks at the flows every TIME (100ms) until it is interrupted, or once; prints what\n"
"it changes, with -j a JSON object a line. At the end the flows get back the weights\n"
"that they had. How much a flow has left: FILE tells the size, or what waits in its\n"
"socket is taken for all. fairlane(8) tells more.\n";

static atomic_int ended;

static void on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

static void take_places(struct steering *s, char *names)
{
	char *save, *name;

	for (name = strtok_r(names, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		s->place = xgrow(s->place, s->places, sizeof(*s->place));
		s->place[s->places].name = xprintf("%s", name);
		s->place[s->places].module = NULL;
		s->place[s->places++].fd = netns_open(name);
	}
	if (!s->places)
		fail("netns: the name of a network namespace is wanted");
}

static double take_weight(const char *key, struct words *w)
{
	const char *text = word_value(w, key);
	uint64_t milli;

	if (!parse_milli(text, &milli) || milli < FL_WEIGHT_MIN_MILLI ||
	    milli > FL_WEIGHT_MAX_MILLI)
		fail("%s %s: a weight from 0.001 to 1000 is wanted", key, text);
	return milli / 1000.0;
}

/* A time of at least a microsecond. */
static uint64_t take_time(const char *key, struct words *w)
{
	uint64_t ns = need_time_ns(key, word_value(w, key));

	if (ns < 1000)
		fail("%s: at least 1us", key);
	return ns;
}

static void take_by(struct steering *s, const char *text)
{
	if (strcmp(text, "size") && strcmp(text, "left"))
		fail("by %s: size or left is wanted", text);
	s->by_size = !strcmp(text, "size");
}

/* One word, and its value. "--once" is "once", as others are used to it. */
static bool steering_word(struct steering *s, struct words *w,
			  const char **jobs, bool *seen_by)
{
	const char *word = word_peek(w);

	if (!strncmp(word, "--", 2))
		w->v[w->i] += 2;
	if (word_is(w, "jobs"))
		*jobs = word_value(w, "jobs");
	else if (word_is(w, "netns"))
		take_places(s, xprintf("%s", word_more(w, "netns")));
	else if (word_is(w, "interval"))
		s->interval_ns = take_time("interval", w);
	else if (word_is(w, "for"))
		s->for_ns = take_time("for", w);
	else if (word_is(w, "once"))
		s->once = true;
	else if (word_is(w, "dry-run"))
		s->dry_run = true;
	else if (word_is(w, "min"))
		s->min = take_weight("min", w);
	else if (word_is(w, "max"))
		s->max = take_weight("max", w);
	else if (word_is(w, "sum"))
		s->sum = take_weight("sum", w);
	else if (word_is(w, "largest"))
		s->largest_bytes = need_size_bytes("largest",
						   word_value(w, "largest"));
	else if (word_is(w, "by"))
		take_by(s, word_value(w, "by")), *seen_by = true;
	else
		return false;
	return true;
}

static void read_steering(struct steering *s, struct words *w)
{
	const char *jobs = NULL;
	struct filter filter;
	bool by = false;

	filter_init(&filter);
	while (words_left(w))
		if (!steering_word(s, w, &jobs, &by) &&
		    !filter_word(&filter, w))
			words_end(w);
	if (jobs && filter.listed)
		fail("weight: a file of jobs names the flows, there is nothing to filter");
	if (!jobs && !filter.listed)
		fail("weight: which flows? (jobs FILE, or a filter such as \"dport 5201\")");
	if (s->min > s->max)
		fail("min is above max");
	if (s->once && s->for_ns)
		fail("once and for do not go together");
	if (s->policy != &weight_shortest && (by || s->largest_bytes > 0))
		fail("by and largest belong to shortest-first");
	s->largest_given = s->largest_bytes > 0;
	if (jobs)
		jobs_read(&s->jobs, jobs);
	else
		jobs_one(&s->jobs, &filter);
}

/* Connections to the module, each in its namespace. */
static void connect_places(struct steering *s)
{
	size_t i;

	if (!s->places) {
		s->place = xgrow(NULL, 0, sizeof(*s->place));
		memset(s->place, 0, sizeof(*s->place));
		s->place[0].fd = -1;
		s->places = 1;
	}
	for (i = 0; i < s->places; i++) {
		weight_enter(&s->place[i]);
		s->place[i].module = connect_module();
	}
}

/* Sleeps until @until_ns, or a signal. */
static void wait_until(uint64_t until_ns)
{
	struct timespec t = {
		.tv_sec = until_ns / NSEC_PER_SEC,
		.tv_nsec = until_ns % NSEC_PER_SEC,
	};

	while (!ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t,
					 NULL) == EINTR)
		;
}

static void steer(struct steering *s)
{
	uint64_t begin_ns = weight_clock_ns(CLOCK_MONOTONIC), next_ns = begin_ns;
	uint64_t end_ns = s->for_ns ? begin_ns + s->for_ns : UINT64_MAX;

	while (!ended) {
		weight_look(s);
		weight_choose(s);
		weight_apply(s);
		next_ns += s->interval_ns;
		if (s->once || next_ns >= end_ns)
			break;
		/* looks that took too long are left out, not made up for */
		if (next_ns < weight_clock_ns(CLOCK_MONOTONIC))
			next_ns = weight_clock_ns(CLOCK_MONOTONIC) + s->interval_ns;
		wait_until(next_ns);
	}
	if (!ended && s->for_ns)
		wait_until(end_ns);
	if (!s->once && !s->dry_run)
		weight_put_back(s);
}

static int run_policy(const struct weight_policy *policy, struct words *w)
{
	struct steering s = {
		.policy = policy,
		.interval_ns = NSEC_PER_SEC / 10,
		.min = 0.01,
		.max = 100,
	};
	size_t i;

	if (words_help(w, usage))
		return EXIT_OK;
	read_steering(&s, w);
	if (opt.check_only)
		return EXIT_OK;
	connect_places(&s);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	steer(&s);
	for (i = 0; i < s.places; i++) {
		fairlane_close(s.place[i].module);
		free(s.place[i].name);
		if (s.place[i].fd >= 0)
			close(s.place[i].fd);
	}
	jobs_free(&s.jobs);
	free(s.place);
	free(s.flow);
	return s.once && s.refusals ? EXIT_KERNEL : EXIT_OK;
}

static int run_shortest(struct words *w)
{
	return run_policy(&weight_shortest, w);
}

static int run_coflow(struct words *w)
{
	return run_policy(&weight_coflow, w);
}

static int run_altruistic(struct words *w)
{
	return run_policy(&weight_altruistic, w);
}

int cmd_weight(struct words *w)
{
	static const struct command commands[] = {
		{ "shortest-first", run_shortest }, { "coflow", run_coflow },
		{ "altruistic", run_altruistic },
	};

	return command_run(commands, ARRAY_SIZE(commands), "policy", NULL,
			   usage, w);
}
