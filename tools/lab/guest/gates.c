// SPDX-License-Identifier: GPL-2.0
/*
 * Gates: flows that start when others have been delivered. A gate counts the
 * flows that it still waits for; the one that brings the count to zero puts the
 * starts on the agenda.
 */
#include <stdlib.h>

#include "traffic.h"

static const struct json_list *gates;
static size_t *left;		/* by gate: flows that it still waits for */
static size_t *first;		/* by flow: its first place in "opens" */
static size_t *opens;		/* gates, in the order of the flows they wait for */

/* A flow's index in one of a gate's lists. */
static size_t gate_index(const struct json_list *list, size_t place)
{
	return *PLAN_ITEM(int64_t, *list, place);
}

/* Counts, then fills, the gates that wait for each flow. */
static void gates_index(const struct plan *plan)
{
	size_t *next, i, k, sum = 0;

	for (i = 0; i < plan->gates.count; i++) {
		const struct plan_gate *gate =
			PLAN_ITEM(struct plan_gate, plan->gates, i);

		left[i] = gate->after.count;
		sum += gate->after.count;
		for (k = 0; k < gate->after.count; k++)
			first[gate_index(&gate->after, k) + 1]++;
	}
	for (i = 0; i < flows_count; i++)
		first[i + 1] += first[i];
	opens = calloc(sum + 1, sizeof(*opens));
	next = calloc(flows_count + 1, sizeof(*next));
	if (!opens || !next)
		lab_fail("no memory for what %zu gates wait for", sum);
	for (i = 0; i < plan->gates.count; i++) {
		const struct plan_gate *gate =
			PLAN_ITEM(struct plan_gate, plan->gates, i);

		for (k = 0; k < gate->after.count; k++) {
			size_t flow = gate_index(&gate->after, k);

			opens[first[flow] + next[flow]++] = i;
		}
	}
	free(next);
}

/* Notes what waits for what; after the flows have been made. */
void gates_make(const struct plan *plan)
{
	size_t i, k;

	gates = &plan->gates;
	left = calloc(plan->gates.count + 1, sizeof(*left));
	first = calloc(flows_count + 2, sizeof(*first));
	if (!left || !first)
		lab_fail("no memory for %zu gates", plan->gates.count);
	gates_index(plan);
	for (i = 0; i < plan->gates.count; i++) {
		const struct plan_gate *gate =
			PLAN_ITEM(struct plan_gate, plan->gates, i);

		for (k = 0; k < gate->flows.count; k++)
			flows[gate_index(&gate->flows, k)].waits = true;
	}
}

/* All that a gate waits for has been delivered. */
static void gate_open(const struct plan_gate *gate)
{
	int64_t open_ns = traffic_now_ns() + gate->delay_ns;
	size_t k;

	for (k = 0; k < gate->flows.count; k++) {
		size_t flow = gate_index(&gate->flows, k);

		agenda_add(open_ns + flows[flow].plan->start_ns, AGENDA_START,
			   flow);
	}
}

/* A flow has been delivered, now. */
void gates_delivered(const struct flow *flow)
{
	size_t index = flow - flows, i;

	for (i = first[index]; i < first[index + 1]; i++)
		if (!--left[opens[i]])
			gate_open(PLAN_ITEM(struct plan_gate, *gates,
					    opens[i]));
}
