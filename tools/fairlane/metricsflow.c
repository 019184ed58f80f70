// SPDX-License-Identifier: GPL-2.0
/* fairlane metrics: connections, by what they are and do. */
#include "classes.h"
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

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

/**
 * struct sums - of all flows
 * @groups: by control, priority and state: few groups, many flows
 * @n: how many groups
 * @waiting: stopped, with data to send; by priority
 * @starving: with data to send, and nothing sent for half a second; by priority
 * @taken: those that "fairlane off" has given another control
 * @probes: sent
 * @echoes: answered
 * @losses: not answered
 * @stops: times that a flow stopped
 * @opens: times that a silent flow found its settings wrong
 */
struct sums {
	struct group *groups;
	size_t n;
	unsigned int waiting[FL_PRIORITY_MAX + 1];
	unsigned int starving[FL_PRIORITY_MAX + 1];
	unsigned int taken;
	double probes;
	double echoes;
	double losses;
	double stops;
	double opens;
};

static struct group *group_of(struct sums *s, const struct fairlane_flow *f)
{
	const char *state = flow_state(f);
	struct group *g;
	size_t i;

	if (!state[0])
		state = "none";
	for (i = 0; i < s->n; i++) {
		g = &s->groups[i];
		if (g->prio == flow_prio(f) && !strcmp(g->cc, f->cc) && !strcmp(g->state, state))
			return g;
	}
	s->groups = xgrow(s->groups, s->n, sizeof(*s->groups));
	g = &s->groups[s->n++];
	memcpy(g->cc, f->cc, sizeof(g->cc));
	g->prio = flow_prio(f);
	g->state = state;
	g->n = 0;
	return g;
}

static void sums_add(struct sums *s, const struct fairlane_flow *f)
{
	uint32_t prio = flow_prio(f);

	group_of(s, f)->n++;
	if (prio > FL_PRIORITY_MAX)
		prio = FL_PRIORITY_MAX;
	s->waiting[prio] += f->send_queue_bytes && !strcmp(flow_state(f), "stopped");
	s->starving[prio] += flow_starves(f);
	s->taken += f->had_cc[0] != '\0';
	if (!f->has_info)
		return;
	s->probes += f->info.probes;
	s->echoes += f->info.probe_echoes;
	s->losses += f->info.probe_losses;
	s->stops += f->info.stops;
	s->opens += f->info.opens;
}

static void by_priority(struct metrics *m, const char *name, const unsigned int *count,
			const char *help)
{
	unsigned int i;

	metrics_family(m, name, false, help);
	for (i = 0; i <= FL_PRIORITY_MAX; i++)
		metrics_sample(m, count[i], "prio=\"%u\"", i);
}

/* Sums of those that live: they fall when a connection ends. */
static void of_the_living(struct metrics *m, const struct sums *s)
{
	metrics_family(m, "live_probes", false,
		       "probes of the flows that live, by what became of them");
	metrics_sample(m, s->probes, "what=\"sent\"");
	metrics_sample(m, s->echoes, "what=\"answered\"");
	metrics_sample(m, s->losses, "what=\"lost\"");
	metrics_family(m, "live_stops", false, "times that the flows that live have stopped");
	metrics_number(m, s->stops);
	metrics_family(m, "live_opens", false,
		       "times that a silent flow of those that live found its settings wrong");
	metrics_number(m, s->opens);
}

void metrics_flows(struct metrics *m)
{
	struct filter filter;
	struct flows list;
	struct sums s = { 0 };
	size_t i;

	filter_init(&filter);
	flows_read(&list, &filter);
	for (i = 0; i < list.n; i++)
		if (flow_prio_known(&list.f[i]))
			sums_add(&s, &list.f[i]);
	metrics_family(m, "connections", false,
		       "flows by congestion control, priority and state");
	for (i = 0; i < s.n; i++)
		metrics_sample(m, s.groups[i].n, "cc=\"%s\",prio=\"%u\",state=\"%s\"",
			       s.groups[i].cc, s.groups[i].prio, s.groups[i].state);
	by_priority(m, "waiting_flows", s.waiting,
		    "flows that have data and wait for a higher priority");
	by_priority(m, "starving_flows", s.starving,
		    "flows that have data and have sent none for half a second");
	of_the_living(m, &s);
	free(s.groups);
	filter_free(&filter);
	flows_free(&list);
}
