// SPDX-License-Identifier: GPL-2.0
/*
 * What no single key of plan.json shows: names and numbers that must be
 * unique, references, and settings that must fit together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#endif

static int plan_check_nodes(struct json_ctx *ctx, const struct plan *plan)
{
	const struct plan_node *nodes = plan->nodes.items;
	size_t i, j, mark;

	for (i = 0; i < plan->nodes.count; i++)
		for (j = 0; j < i; j++)
			if (!strcmp(nodes[i].name, nodes[j].name)) {
				mark = json_enter_key(ctx, "nodes");
				json_enter_index(ctx, i);
				json_error(ctx, "second node \"%s\"",
					   nodes[i].name);
				json_leave(ctx, mark);
				return -1;
			}
	return 0;
}

/* Does a node have a device of this name among the links up to an end? */
static bool plan_dev_before(const struct plan *plan, int64_t node,
			    const char *dev, size_t ends)
{
	const struct plan_end *end;
	size_t i;

	for (i = 0; i < ends; i++) {
		end = &PLAN_ITEM(struct plan_link, plan->links, i / 2)->end[i % 2];
		if (end->node == node && !strcmp(end->dev, dev))
			return true;
	}
	return false;
}

/* Device names are unique in a node; veth has no line. */
static int plan_check_links(struct json_ctx *ctx, const struct plan *plan)
{
	const struct plan_link *link;
	const struct plan_end *end;
	size_t i, mark;

	mark = json_enter_key(ctx, "links");
	for (i = 0; i < 2 * plan->links.count; i++) {
		size_t inner = json_enter_index(ctx, i / 2);

		link = PLAN_ITEM(struct plan_link, plan->links, i / 2);
		end = &link->end[i % 2];
		if (plan_dev_before(plan, end->node, end->dev, i))
			return json_error(ctx, "second device \"%s\" in its node",
					  end->dev);
		if (!strcmp(end->dev, "lo"))
			return json_error(ctx, "\"lo\" exists in every node");
		if (link->kind == PLAN_VETH &&
		    (end->rate_bps || end->delay_ns || end->noise_ns.count))
			return json_error(ctx,
					  "a veth has no rate_bps, delay_ns and noise_ns");
		json_leave(ctx, inner);
	}
	json_leave(ctx, mark);
	return 0;
}

/* Tap numbers are unique, and the devices exist. */
static int plan_check_taps(struct json_ctx *ctx, const struct plan *plan)
{
	const struct plan_tap *taps = plan->taps.items;
	size_t i, j, mark, inner;

	mark = json_enter_key(ctx, "taps");
	for (i = 0; i < plan->taps.count; i++) {
		inner = json_enter_index(ctx, i);
		for (j = 0; j < i; j++)
			if (taps[i].tap == taps[j].tap)
				return json_error(ctx, "second tap %lld",
						  (long long)taps[i].tap);
		if (!plan_dev_before(plan, taps[i].node, taps[i].dev,
				     2 * plan->links.count))
			return json_error(ctx, "no link has device \"%s\" in that node",
					  taps[i].dev);
		json_leave(ctx, inner);
	}
	json_leave(ctx, mark);
	return 0;
}

static int plan_check_flow(struct json_ctx *ctx, const struct plan *plan,
			   const struct plan_flow *flow)
{
	if (flow->src_addr.family != flow->dst_addr.family)
		return json_error(ctx, "src_addr and dst_addr are of different families");
	if (flow->bytes == 0)
		return json_error(ctx, "bytes is 0; give a size, or -1 to send until stop_ns");
	if (flow->stop_ns >= 0 && flow->stop_ns <= flow->start_ns)
		return json_error(ctx, "stop_ns %lld is not after start_ns %lld",
				  (long long)flow->stop_ns,
				  (long long)flow->start_ns);
	if (flow->start_ns > plan->end_ns)
		return json_error(ctx, "start_ns %lld is after end_ns %lld",
				  (long long)flow->start_ns,
				  (long long)plan->end_ns);
	return 0;
}

/* Order of flows: by number. */
static int plan_flow_order(const void *a, const void *b)
{
	const struct plan_flow *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/* Order by what is on the wire, to find two flows that look the same. */
static int plan_tuple_order(const void *a, const void *b)
{
	const struct plan_flow *left = *(const struct plan_flow *const *)a;
	const struct plan_flow *right = *(const struct plan_flow *const *)b;
	int order;

	order = (left->sport > right->sport) - (left->sport < right->sport);
	if (!order)
		order = (left->dport > right->dport) -
			(left->dport < right->dport);
	if (!order)
		order = memcmp(&left->src_addr, &right->src_addr,
			       sizeof(left->src_addr));
	if (!order)
		order = memcmp(&left->dst_addr, &right->dst_addr,
			       sizeof(left->dst_addr));
	return order;
}

/* No two flows share addresses and ports. */
static int plan_check_tuples(struct json_ctx *ctx, const struct plan *plan)
{
	size_t count = plan->flows.count, i;
	const struct plan_flow **order;

	order = json_alloc(ctx, count, sizeof(*order));
	if (!order)
		return -1;
	for (i = 0; i < count; i++)
		order[i] = PLAN_ITEM(struct plan_flow, plan->flows, i);
	qsort(order, count, sizeof(*order), plan_tuple_order);
	for (i = 1; i < count; i++)
		if (!plan_tuple_order(&order[i - 1], &order[i]))
			return json_error(ctx, "flows %lld and %lld have the same addresses and ports",
					  (long long)order[i - 1]->id,
					  (long long)order[i]->id);
	return 0;
}

/* Flows fit together; sorts them by number. */
static int plan_check_flows(struct json_ctx *ctx, struct plan *plan)
{
	struct plan_flow *flows = plan->flows.items;
	size_t i, mark, inner;

	mark = json_enter_key(ctx, "flows");
	if (plan->flows.count > PLAN_FLOWS_MAX)
		return json_error(ctx, "%zu flows, at most %d are possible",
				  plan->flows.count, PLAN_FLOWS_MAX);
	for (i = 0; i < plan->flows.count; i++) {
		inner = json_enter_index(ctx, i);
		if (plan_check_flow(ctx, plan, &flows[i]))
			return -1;
		json_leave(ctx, inner);
	}
	if (!plan->flows.count) {
		json_leave(ctx, mark);
		return 0;
	}
	qsort(flows, plan->flows.count, sizeof(*flows), plan_flow_order);
	for (i = 1; i < plan->flows.count; i++)
		if (flows[i].id == flows[i - 1].id)
			return json_error(ctx, "two flows have id %lld",
					  (long long)flows[i].id);
	if (plan_check_tuples(ctx, plan))
		return -1;
	json_leave(ctx, mark);
	return 0;
}

/* Index of the flow with a number; -1 if there is none. Flows are sorted. */
ssize_t plan_find_flow(const struct plan *plan, int64_t id)
{
	struct plan_flow key = { .id = id };
	const struct plan_flow *flow;

	if (!plan->flows.count)
		return -1;
	flow = bsearch(&key, plan->flows.items, plan->flows.count, sizeof(key),
		       plan_flow_order);
	return flow ? flow - (const struct plan_flow *)plan->flows.items : -1;
}

/* Turns a list of flow numbers into indices. */
int plan_resolve_ids(struct json_ctx *ctx, const struct plan *plan,
		     struct json_list *ids, const char *key)
{
	size_t mark = json_enter_key(ctx, key), i;
	int64_t *id = ids->items;
	ssize_t index;

	for (i = 0; i < ids->count; i++) {
		index = plan_find_flow(plan, id[i]);
		if (index < 0)
			return json_error(ctx, "there is no flow %lld",
					  (long long)id[i]);
		id[i] = index;
	}
	json_leave(ctx, mark);
	return 0;
}

/* An event is either a command or changes of flows. */
static int plan_check_event(struct json_ctx *ctx, const struct plan *plan,
			    struct plan_event *event)
{
	bool changes = event->so_priority >= 0 || event->cc ||
		       event->weight_milli >= 0;

	if (event->at_ns > plan->end_ns)
		return json_error(ctx, "at_ns %lld is after end_ns %lld",
				  (long long)event->at_ns,
				  (long long)plan->end_ns);
	if (!!event->argv.count + !!event->flows.count + !!event->stop.count !=
	    1)
		return json_error(ctx, "needs exactly one of argv, flows and stop");
	if (event->node != PLAN_NO_NODE && !event->argv.count)
		return json_error(ctx, "node goes with argv only");
	if (changes != !!event->flows.count)
		return json_error(ctx, "flows needs so_priority, cc or weight_milli, and they need flows");
	if (plan_resolve_ids(ctx, plan, &event->flows, "flows"))
		return -1;
	return plan_resolve_ids(ctx, plan, &event->stop, "stop");
}

static int plan_check_events(struct json_ctx *ctx, struct plan *plan)
{
	size_t mark = json_enter_key(ctx, "events"), inner, i;

	for (i = 0; i < plan->events.count; i++) {
		inner = json_enter_index(ctx, i);
		if (plan_check_event(ctx, plan,
				     PLAN_ITEM(struct plan_event, plan->events,
					       i)))
			return -1;
		json_leave(ctx, inner);
	}
	json_leave(ctx, mark);
	mark = json_enter_key(ctx, "sample");
	if (plan_resolve_ids(ctx, plan, &plan->sample.flows, "flows"))
		return -1;
	json_leave(ctx, mark);
	return 0;
}

/* No two files of "collect" have one name, nor a name that init writes. */
static int plan_check_collect(struct json_ctx *ctx, const struct plan *plan)
{
	static const char *const ours[] = {
		"status", "meta.json", "flows.csv", "pkts.bin", "samples.csv",
		"exit", "console.log", "kmemleak.txt",
	};
	const struct plan_collect *items = plan->collect.items;
	size_t mark = json_enter_key(ctx, "collect"), i, j;

	for (i = 0; i < plan->collect.count; i++) {
		json_enter_index(ctx, i);
		for (j = 0; j < ARRAY_SIZE(ours); j++)
			if (!strcmp(items[i].file, ours[j]))
				return json_error(ctx, "file \"%s\" is written by the lab",
						  items[i].file);
		for (j = 0; j < i; j++)
			if (!strcmp(items[i].file, items[j].file))
				return json_error(ctx, "second file \"%s\"",
						  items[i].file);
		json_leave(ctx, mark);
		json_enter_key(ctx, "collect");
	}
	json_leave(ctx, mark);
	return 0;
}

/* Checks a plan whose keys are right one by one; resolves references. */
int plan_resolve(struct json_ctx *ctx, struct plan *plan)
{
	if (plan->exec.argv.count &&
	    (plan->flows.count || plan->gates.count || plan->events.count ||
	     plan->sample.flows.count))
		return json_error(ctx, "exec excludes flows, gates, events and sample");
	if (plan_check_nodes(ctx, plan) || plan_check_links(ctx, plan) ||
	    plan_check_taps(ctx, plan) || plan_check_flows(ctx, plan) ||
	    plan_check_gates(ctx, plan) ||
	    plan_check_events(ctx, plan) || plan_check_collect(ctx, plan))
		return -1;
	return 0;
}
