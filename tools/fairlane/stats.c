// SPDX-License-Identifier: GPL-2.0
/* fairlane stats: counters of the namespace, as text, JSON or among the metrics. */
#include "ask.h"
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
"usage: fairlane stats\n"
"Counters run since the namespace began and are never reset: take differences.\n";

/* struct counter - one number of the module; gauge: it may fall */
static const struct counter {
	int attr;
	const char *name;
	bool gauge;
	const char *help;
} counters[] = {
	{ FL_A_STAT_FLOWS, "flows", true, "sockets known now" },
	{ FL_A_STAT_FLOWS_CC, "flows_cc", true,
	  "of these, with one of our congestion controls" },
	{ FL_A_STAT_CREATED, "created", false, "sockets that became known" },
	{ FL_A_STAT_NOMEM, "nomem", false,
	  "sockets that got no memory and run with defaults" },
	{ FL_A_STAT_CHANGES, "changes", false, "settings changed, by anybody" },
	{ FL_A_STAT_INHERITED, "inherited", false,
	  "sockets that took over their listener's settings" },
	{ FL_A_STAT_POLICY_HITS, "policy_hits", false,
	  "sockets that a policy decided for" },
	{ FL_A_STAT_REFUSED_RANGE, "refused_range", false,
	  "settings refused, out of range" },
	{ FL_A_STAT_REFUSED_CEILING, "refused_ceiling", false,
	  "settings refused, above the limits for users" },
	{ FL_A_STAT_REFUSED_BUDGET, "refused_budget", false,
	  "settings refused, above the budget of a user or cgroup" },
	{ FL_A_STAT_REFUSED_OWNER, "refused_owner", false,
	  "settings refused, another user's socket" },
	{ FL_A_STAT_EVENTS, "events", false, "changes and refusals reported" },
	{ FL_A_STAT_EVENTS_LOST, "events_lost", false,
	  "events that did not reach a reader" },
	{ FL_A_STAT_OFF, "off", true, "net.fairlane.off: 1 by fairlane off" },
	{ FL_A_STAT_OFF_FLOWS, "off_flows", true,
	  "sockets whose congestion control off has taken away" },
	{ FL_A_STAT_OFF_WAITING, "off_waiting", true,
	  "sockets that still have it, for their owners have them locked" },
	{ FL_A_STAT_SHARE, "share_permille", true,
	  "net.fairlane.share_permille: of the sockets, by fairlane on share" },
};

/**
 * struct stats - what was read
 * @value: by place in counters
 * @has: known to this module
 * @version: of the module
 */
struct stats {
	uint64_t value[ARRAY_SIZE(counters)];
	bool has[ARRAY_SIZE(counters)];
	char version[32];
};

static int on_stats(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct stats *s = arg;
	size_t i;

	(void)h;
	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		s->has[i] = a[counters[i].attr];
		s->value[i] = fl_u64(a, counters[i].attr);
	}
	fl_string(a, FL_A_STAT_VERSION, s->version, sizeof(s->version));
	return 0;
}

/* Reads them. Return: false, the module is not there. */
static bool stats_read(struct stats *s)
{
	struct fairlane *f;

	if (fairlane_open(&f))
		return false;
	ask_do(f, ask_message(f, FL_CMD_STATS_GET, 0), on_stats, FL_A_STAT_MAX, s, "stats");
	fairlane_close(f);
	return true;
}

/* The module's numbers among the metrics. Return: is it there? */
bool metrics_module(struct metrics *m)
{
	struct stats s = { 0 };
	size_t i;

	if (!stats_read(&s))
		return false;
	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		if (!s.has[i])
			continue;
		metrics_family(m, counters[i].name, !counters[i].gauge, counters[i].help);
		metrics_number(m, s.value[i]);
	}
	metrics_family(m, "module_info", false, "version of the kernel module");
	metrics_sample(m, 1, "version=\"%s\"", s.version);
	return true;
}

int cmd_stats(struct words *w)
{
	struct stats s = { 0 };
	cJSON *doc;
	size_t i;

	if (words_help(w, usage))
		return EXIT_OK;
	word_is(w, "show");
	words_end(w);
	/* says what to do if it is not there */
	fairlane_close(connect_module());
	stats_read(&s);
	doc = cJSON_CreateObject();
	cJSON_AddStringToObject(doc, "version", s.version);
	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		if (!s.has[i])
			continue;
		json_u64(doc, counters[i].name, s.value[i]);
		if (!opt.json)
			printf("%-16s %12llu  %s\n", counters[i].name,
			       (unsigned long long)s.value[i],
			       counters[i].help);
	}
	if (opt.json)
		json_print(doc);
	else
		cJSON_Delete(doc);
	return EXIT_OK;
}
