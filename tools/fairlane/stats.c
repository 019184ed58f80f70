// SPDX-License-Identifier: GPL-2.0
/* fairlane stats: counters of the namespace, as text, JSON or OpenMetrics. */
#include "ask.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
"usage: fairlane stats [--openmetrics]\n"
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

/**
 * struct group - flows of one kind
 * @cc: congestion control
 * @prio: priority
 * @state: enum fl_state by name
 * @n: how many
 */
struct group {
	char cc[16];
	uint32_t prio;
	const char *state;
	unsigned int n;
};

/* Count the flows by control, priority and state: few groups, many flows. */
static struct group *count_flows(size_t *n)
{
	struct group *groups = NULL;
	struct filter filter;
	struct flows list;
	size_t i, j;

	*n = 0;
	filter_init(&filter);
	flows_read(&list, &filter);
	for (i = 0; i < list.n; i++) {
		const struct fairlane_flow *f = &list.f[i];

		if (!flow_prio_known(f))
			continue;
		for (j = 0; j < *n; j++)
			if (!strcmp(groups[j].cc, f->cc) &&
			    groups[j].prio == flow_prio(f) &&
			    !strcmp(groups[j].state, flow_state(f)))
				break;
		if (j == *n) {
			groups = xgrow(groups, *n, sizeof(*groups));
			memcpy(groups[j].cc, f->cc, sizeof(groups[j].cc));
			groups[j].prio = flow_prio(f);
			groups[j].state = flow_state(f);
			groups[j].n = 0;
			(*n)++;
		}
		groups[j].n++;
	}
	flows_free(&list);
	return groups;
}

static void print_openmetrics(const struct stats *s)
{
	struct group *groups;
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		const struct counter *c = &counters[i];

		if (!s->has[i])
			continue;
		printf("# HELP fairlane_%s %s\n", c->name, c->help);
		printf("# TYPE fairlane_%s %s\n", c->name,
		       c->gauge ? "gauge" : "counter");
		printf("fairlane_%s%s %llu\n", c->name,
		       c->gauge ? "" : "_total",
		       (unsigned long long)s->value[i]);
	}
	groups = count_flows(&n);
	printf("# HELP fairlane_connections flows by congestion control, priority and state\n"
	       "# TYPE fairlane_connections gauge\n");
	for (i = 0; i < n; i++)
		printf("fairlane_connections{cc=\"%s\",prio=\"%u\",state=\"%s\"} %u\n",
		       groups[i].cc, groups[i].prio,
		       groups[i].state[0] ? groups[i].state : "none",
		       groups[i].n);
	free(groups);
	printf("# HELP fairlane_module version of the kernel module\n"
	       "# TYPE fairlane_module info\n"
	       "fairlane_module_info{version=\"%s\"} 1\n# EOF\n", s->version);
}

int cmd_stats(struct words *w)
{
	struct stats s = { 0 };
	struct fairlane *f;
	bool openmetrics;
	cJSON *doc;
	size_t i;

	if (words_help(w)) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	word_is(w, "show");
	openmetrics = word_is(w, "--openmetrics") || word_is(w, "openmetrics");
	words_end(w);
	if (openmetrics && opt.json)
		fail("stats: OpenMetrics or JSON, not both");
	f = connect_module();
	ask_do(f, ask_message(f, FL_CMD_STATS_GET, 0), on_stats,
	       FL_A_STAT_MAX, &s, "stats");
	fairlane_close(f);
	if (openmetrics) {
		print_openmetrics(&s);
		return EXIT_OK;
	}
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
