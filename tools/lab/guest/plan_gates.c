// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and checking of "gates" in plan.json: which flows start when which
 * others have been delivered.
 */
#include <string.h>

#include "plan_keys.h"

static int plan_gate(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_gate, after, true, plan_ids),
		FN(plan_gate, flows, true, plan_ids),
		INT(plan_gate, delay_ns, false, 0, PLAN_TIME_MAX_NS),
	};

	return OBJECT(ctx, item, fields, dst);
}

int plan_gates(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_gate), plan_gate, dst);
}

/* One gate: its flows exist, can be delivered, wait for nothing else. */
static int plan_check_gate(struct json_ctx *ctx, const struct plan *plan,
			   struct plan_gate *gate, bool *waits)
{
	size_t i;

	if (!gate->after.count || !gate->flows.count)
		return json_error(ctx, "after and flows must not be empty");
	if (plan_resolve_ids(ctx, plan, &gate->after, "after") ||
	    plan_resolve_ids(ctx, plan, &gate->flows, "flows"))
		return -1;
	for (i = 0; i < gate->after.count; i++) {
		const struct plan_flow *flow =
			PLAN_ITEM(struct plan_flow, plan->flows,
				  *PLAN_ITEM(int64_t, gate->after, i));

		if (flow->bytes < 0)
			return json_error(ctx, "flow %lld has no bytes, so it never ends",
					  (long long)flow->id);
	}
	for (i = 0; i < gate->flows.count; i++) {
		int64_t flow = *PLAN_ITEM(int64_t, gate->flows, i);

		if (waits[flow])
			return json_error(ctx, "flow %lld waits for two gates",
					  (long long)PLAN_ITEM(struct plan_flow,
							       plan->flows,
							       flow)->id);
		waits[flow] = true;
	}
	return 0;
}

/* Is all that a gate waits for able to start? */
static bool gate_can_open(const struct plan_gate *gate, const bool *waits)
{
	size_t i;

	for (i = 0; i < gate->after.count; i++)
		if (waits[*PLAN_ITEM(int64_t, gate->after, i)])
			return false;
	return true;
}

/* Opens what can open until nothing more does; what is left is a circle. */
static int plan_check_circle(struct json_ctx *ctx, const struct plan *plan,
			     bool *waits)
{
	size_t count = plan->gates.count, opened = 0, before, i, k;
	bool *open = json_alloc(ctx, count, sizeof(*open));

	if (!open)
		return -1;
	do {
		before = opened;
		for (i = 0; i < count; i++) {
			const struct plan_gate *gate =
				PLAN_ITEM(struct plan_gate, plan->gates, i);

			if (open[i] || !gate_can_open(gate, waits))
				continue;
			open[i] = true;
			opened++;
			for (k = 0; k < gate->flows.count; k++)
				waits[*PLAN_ITEM(int64_t, gate->flows, k)] =
					false;
		}
	} while (opened != before);
	for (i = 0; i < count && opened < count; i++)
		if (!open[i]) {
			json_enter_index(ctx, i);
			return json_error(ctx, "waits for its own flows: it never opens");
		}
	return 0;
}

/* Gates fit the flows; turns numbers of flows into indices. */
int plan_check_gates(struct json_ctx *ctx, struct plan *plan)
{
	size_t mark = json_enter_key(ctx, "gates"), inner, i;
	bool *waits;

	if (!plan->gates.count) {
		json_leave(ctx, mark);
		return 0;
	}
	waits = json_alloc(ctx, plan->flows.count + 1, sizeof(*waits));
	if (!waits)
		return -1;
	for (i = 0; i < plan->gates.count; i++) {
		inner = json_enter_index(ctx, i);
		if (plan_check_gate(ctx, plan,
				    PLAN_ITEM(struct plan_gate, plan->gates, i),
				    waits))
			return -1;
		json_leave(ctx, inner);
	}
	if (plan_check_circle(ctx, plan, waits))
		return -1;
	json_leave(ctx, mark);
	return 0;
}
