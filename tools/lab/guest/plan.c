// SPDX-License-Identifier: GPL-2.0
/*
 * Reading of plan.json: the tables of its keys. The runner (tools/lab/plan.c), which is
 * built with the guest, has checked what people write; here a value has the right kind,
 * and what is referred to is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kmod/lablink.h"
#include "plan.h"

#define FIELD(stype, name, jtype, need, ...)				\
	{ #name, jtype, offsetof(struct stype, name), need, __VA_ARGS__ }
#define INT(stype, name, need)	FIELD(stype, name, JSON_INT, need, NULL, 0)
#define STR(stype, name, need)	FIELD(stype, name, JSON_STR, need, NULL, 0)
#define STR_NULL(stype, name)	FIELD(stype, name, JSON_STR_NULL, false, NULL, 0)
#define BOOL(stype, name, need)	FIELD(stype, name, JSON_BOOL, need, NULL, 0)
#define FN(stype, name, need, fn)	FIELD(stype, name, JSON_FN, need, fn, 0)
#define LIST(stype, name, need, etype, fn)				\
	FIELD(stype, name, JSON_LIST, need, fn, sizeof(etype))
#define OBJECT(ctx, item, fields, dst)					\
	json_object(ctx, item, fields, sizeof(fields) / sizeof((fields)[0]), dst)
/* The function that reads an object of these fields. */
#define READ_FN(name, ...)						\
static int name(struct json_ctx *ctx, const struct cJSON *item, void *dst) \
{									\
	static const struct json_field fields[] = { __VA_ARGS__ };	\
									\
	return OBJECT(ctx, item, fields, dst);				\
}

/* [name, value], both texts. */
static int plan_pair(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	struct plan_pair *pair = dst;
	const cJSON *name = cJSON_GetArrayItem(item, 0);
	const cJSON *value = cJSON_GetArrayItem(item, 1);

	if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2 ||
	    !cJSON_IsString(name) || !cJSON_IsString(value))
		return json_error(ctx, "must be [\"name\", \"value\"]");
	pair->name = name->valuestring;
	pair->value = value->valuestring;
	return 0;
}

/* {"NAME":"value", …} */
static int plan_env(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	struct json_list *list = dst;
	struct plan_pair *pair;
	const cJSON *child;
	size_t mark;
	int error;

	if (!cJSON_IsObject(item))
		return json_error(ctx, "must be an object");
	list->items = json_alloc(ctx, cJSON_GetArraySize(item), sizeof(*pair));
	if (!list->items)
		return -1;
	cJSON_ArrayForEach(child, item) {
		pair = PLAN_ITEM(struct plan_pair, *list, list->count++);
		mark = json_enter_key(ctx, child->string);
		pair->name = child->string;
		error = json_string(ctx, child, &pair->value);
		json_leave(ctx, mark);
		if (error)
			return error;
	}
	return 0;
}

static int plan_text(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_string(ctx, item, dst);
}

/* A command: at least one word; a NULL follows the last. */
static int plan_argv(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	struct json_list words, *argv = dst;
	const char **copy;

	if (json_array(ctx, item, sizeof(char *), plan_text, &words))
		return -1;
	if (!words.count || !**PLAN_ITEM(const char *, words, 0))
		return json_error(ctx, "needs a command");
	copy = json_alloc(ctx, words.count + 1, sizeof(char *));
	if (!copy)
		return -1;
	memcpy(copy, words.items, words.count * sizeof(char *));
	argv->items = copy;
	argv->count = words.count;
	return 0;
}

/* Name of a node, which must have been defined: gives its index. */
static int plan_node_ref(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	const struct plan *plan = ctx->user;
	int64_t *node = dst;
	const char *name;
	size_t i;

	if (json_string(ctx, item, &name))
		return -1;
	for (i = 0; i < plan->nodes.count; i++)
		if (!strcmp(PLAN_ITEM(struct plan_node, plan->nodes, i)->name,
			    name))
			break;
	if (i == plan->nodes.count)
		return json_error(ctx, "there is no node \"%s\"", name);
	*node = i;
	return 0;
}

/* The same, or null for none. */
static int plan_node_null(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return cJSON_IsNull(item) ? 0 : plan_node_ref(ctx, item, dst);
}

/* 02:00:00:00:00:01 */
static int plan_mac(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	struct plan_mac *mac = dst;
	unsigned int byte[ETH_ALEN];
	const char *text;
	int used = 0, i;

	if (json_string(ctx, item, &text))
		return -1;
	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1],
		   &byte[2], &byte[3], &byte[4], &byte[5], &used) != ETH_ALEN ||
	    text[used])
		return json_error(ctx, "\"%s\" is no Ethernet address", text);
	for (i = 0; i < ETH_ALEN; i++)
		mac->byte[i] = byte[i];
	mac->given = true;
	return 0;
}

/* One quantile of the noise. */
static int plan_quantile(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	uint32_t *quantile = dst;
	int64_t value;

	if (json_int(ctx, item, &value))
		return -1;
	*quantile = value;
	return 0;
}

static int plan_kind(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	enum plan_link_kind *kind = dst;
	const char *text;

	if (json_string(ctx, item, &text))
		return -1;
	if (!strcmp(text, "lablink"))
		*kind = PLAN_LABLINK;
	else if (!strcmp(text, "veth"))
		*kind = PLAN_VETH;
	else
		return json_error(ctx, "\"%s\" is neither lablink nor veth",
				  text);
	return 0;
}

static int plan_connect(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	enum plan_connect *connect = dst;
	const char *text;

	if (json_string(ctx, item, &text))
		return -1;
	if (!strcmp(text, "early"))
		*connect = PLAN_CONNECT_EARLY;
	else if (!strcmp(text, "at_start"))
		*connect = PLAN_CONNECT_AT_START;
	else
		return json_error(ctx, "\"%s\" is neither early nor at_start",
				  text);
	return 0;
}

/* An IPv4 or IPv6 address. */
static int plan_addr(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	struct plan_addr *addr = dst;
	const char *text;

	if (json_string(ctx, item, &text))
		return -1;
	if (inet_pton(AF_INET, text, &addr->v4) == 1)
		addr->family = AF_INET;
	else if (inet_pton(AF_INET6, text, &addr->v6) == 1)
		addr->family = AF_INET6;
	else
		return json_error(ctx, "\"%s\" is no IP address", text);
	return 0;
}

/* A flow's number, its place in the list. */
static int plan_id(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	const struct plan *plan = ctx->user;
	int64_t *id = dst;

	if (json_int(ctx, item, id))
		return -1;
	if (*id < 0 || *id >= (int64_t)plan->flows.count)
		return json_error(ctx, "there is no flow %lld", (long long)*id);
	return 0;
}

READ_FN(plan_module, STR(plan_module, path, true),
	STR(plan_module, params, false))

READ_FN(plan_node, STR(plan_node, name, true),
	LIST(plan_node, sysctl, false, struct plan_pair, plan_pair))

static int plan_end(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_end, node, true, plan_node_ref),
		STR(plan_end, dev, true),
		FN(plan_end, mac, false, plan_mac),
		INT(plan_end, mtu, false),
		INT(plan_end, rate_bps, false),
		INT(plan_end, delay_ns, false),
		INT(plan_end, overhead_bytes, false),
		INT(plan_end, ring_pkts, false),
		BOOL(plan_end, offload, false),
		INT(plan_end, gso_max_segs, false),
		INT(plan_end, txqueuelen, false),
		LIST(plan_end, noise_ns, false, uint32_t, plan_quantile),
		INT(plan_end, noise_seed, false),
	};
	struct plan_end *end = dst;

	end->overhead_bytes = LABLINK_OVERHEAD_DEFAULT;
	end->ring_pkts = LABLINK_RING_DEFAULT;
	return OBJECT(ctx, item, fields, dst);
}

READ_FN(plan_link, FN(plan_link, kind, true, plan_kind),
	{ "a", JSON_FN, offsetof(struct plan_link, end[0]), true, plan_end, 0 },
	{ "b", JSON_FN, offsetof(struct plan_link, end[1]), true, plan_end, 0 })

READ_FN(plan_batch, FN(plan_batch, node, true, plan_node_ref),
	{ "batch", JSON_LIST, offsetof(struct plan_batch, lines), true, plan_text,
	  sizeof(char *) })

READ_FN(plan_fabric, FN(plan_fabric, node, true, plan_node_ref))

READ_FN(plan_netaddr, FN(plan_netaddr, node, true, plan_node_ref),
	STR(plan_netaddr, dev, true),
	FN(plan_netaddr, addr, true, plan_addr),
	INT(plan_netaddr, bits, true))

READ_FN(plan_neigh, FN(plan_neigh, node, true, plan_node_ref),
	STR(plan_neigh, dev, true),
	FN(plan_neigh, addr, true, plan_addr),
	FN(plan_neigh, mac, true, plan_mac))

READ_FN(plan_hop, STR(plan_hop, dev, true),
	FN(plan_hop, via, true, plan_addr))

READ_FN(plan_route, FN(plan_route, node, true, plan_node_ref),
	FN(plan_route, dst, true, plan_addr),
	INT(plan_route, bits, true),
	FN(plan_route, src, false, plan_addr),
	BOOL(plan_route, quickack, false),
	LIST(plan_route, hops, true, struct plan_hop, plan_hop))

READ_FN(plan_tap, INT(plan_tap, tap, true),
	FN(plan_tap, node, true, plan_node_ref),
	STR(plan_tap, dev, true))

static int plan_flow(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		INT(plan_flow, id, true),
		FN(plan_flow, src, true, plan_node_ref),
		FN(plan_flow, dst, true, plan_node_ref),
		FN(plan_flow, src_addr, true, plan_addr),
		FN(plan_flow, dst_addr, true, plan_addr),
		INT(plan_flow, sport, true),
		INT(plan_flow, dport, true),
		STR_NULL(plan_flow, cc),
		STR_NULL(plan_flow, rcv_cc),
		INT(plan_flow, so_priority, false),
		INT(plan_flow, weight_milli, false),
		INT(plan_flow, dscp, false),
		INT(plan_flow, start_ns, true),
		INT(plan_flow, stop_ns, false),
		INT(plan_flow, bytes, false),
		FN(plan_flow, connect, false, plan_connect),
		INT(plan_flow, rcvbuf, false),
		INT(plan_flow, sndbuf, false),
		INT(plan_flow, deadline_us, false),
		INT(plan_flow, base_rtt_ns, false),
		BOOL(plan_flow, quickack, false),
		BOOL(plan_flow, whole, false),
		BOOL(plan_flow, stock_buffers, false),
	};
	struct plan_flow *flow = dst;

	flow->weight_milli = 1000;
	flow->stop_ns = -1;
	flow->bytes = -1;
	return OBJECT(ctx, item, fields, dst);
}

READ_FN(plan_gate, LIST(plan_gate, after, true, int64_t, plan_id),
	LIST(plan_gate, flows, true, int64_t, plan_id),
	INT(plan_gate, delay_ns, false))

static int plan_event(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		INT(plan_event, at_ns, true),
		FN(plan_event, node, false, plan_node_null),
		FN(plan_event, argv, false, plan_argv),
		LIST(plan_event, flows, false, int64_t, plan_id),
		LIST(plan_event, stop, false, int64_t, plan_id),
		INT(plan_event, so_priority, false),
		INT(plan_event, weight_milli, false),
		STR_NULL(plan_event, cc),
	};
	struct plan_event *event = dst;

	event->node = PLAN_NO_NODE;
	event->so_priority = -1;
	event->weight_milli = -1;
	return OBJECT(ctx, item, fields, dst);
}

static int plan_sample(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		INT(plan_sample, interval_ns, true),
		LIST(plan_sample, flows, true, int64_t, plan_id),
	};

	return cJSON_IsNull(item) ? 0 : OBJECT(ctx, item, fields, dst);
}

static int plan_collect(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_collect, node, false, plan_node_null),
		FN(plan_collect, argv, true, plan_argv),
		STR(plan_collect, file, true),
	};
	struct plan_collect *collect = dst;

	collect->node = PLAN_NO_NODE;
	return OBJECT(ctx, item, fields, dst);
}

static int plan_exec(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_exec, argv, true, plan_argv),
		FN(plan_exec, node, false, plan_node_null),
	};
	struct plan_exec *exec = dst;

	exec->node = PLAN_NO_NODE;
	return cJSON_IsNull(item) ? 0 : OBJECT(ctx, item, fields, dst);
}

static const struct json_field plan_fields[] = {
	STR(plan, out, true),
	FN(plan, env, false, plan_env),
	LIST(plan, modules, false, struct plan_module, plan_module),
	LIST(plan, sysctl, false, struct plan_pair, plan_pair),
	LIST(plan, nodes, false, struct plan_node, plan_node),
	LIST(plan, links, false, struct plan_link, plan_link),
	LIST(plan, addr, false, struct plan_netaddr, plan_netaddr),
	LIST(plan, neigh, false, struct plan_neigh, plan_neigh),
	LIST(plan, route, false, struct plan_route, plan_route),
	LIST(plan, ip, false, struct plan_batch, plan_batch),
	LIST(plan, tc, false, struct plan_batch, plan_batch),
	LIST(plan, fabric, false, struct plan_fabric, plan_fabric),
	STR(plan, fabric_routes, false),
	LIST(plan, taps, false, struct plan_tap, plan_tap),
	INT(plan, tap_records_max, false),
	LIST(plan, flows, false, struct plan_flow, plan_flow),
	LIST(plan, gates, false, struct plan_gate, plan_gate),
	LIST(plan, events, false, struct plan_event, plan_event),
	FN(plan, sample, false, plan_sample),
	INT(plan, end_ns, false),
	LIST(plan, collect, false, struct plan_collect, plan_collect),
	FN(plan, exec, false, plan_exec),
	BOOL(plan, leak_check, false),
};

/* Frees a plan; NULL is fine. */
void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	json_free(plan->blocks);
	cJSON_Delete(plan->document);
	free(plan);
}

/*
 * Just the plan's "out", even if the rest is wrong, to be freed; NULL if the
 * text has none. Errors in it are left to plan_read().
 */
char *plan_read_out(const char *text, size_t length)
{
	cJSON *root = cJSON_ParseWithLength(text, length);
	const cJSON *out = cJSON_GetObjectItemCaseSensitive(root, "out");
	char *copy = cJSON_IsString(out) ? strdup(out->valuestring) : NULL;

	cJSON_Delete(root);
	return copy;
}

/*
 * Reads a plan. NULL and one sentence in error if it is not right;
 * otherwise plan_free() frees it.
 */
struct plan *plan_read(const char *text, size_t length, char *error,
		       size_t error_size)
{
	struct json_ctx ctx = { .document = "plan.json" };
	struct plan *plan = calloc(1, sizeof(*plan));
	int bad = -1;

	if (!plan) {
		snprintf(error, error_size, "no memory for the plan");
		return NULL;
	}
	plan->tap_records_max = PLAN_RECORDS_DEFAULT;
	plan->exec.node = PLAN_NO_NODE;
	ctx.user = plan;
	plan->document = json_parse(&ctx, text, length);
	if (plan->document)
		bad = OBJECT(&ctx, plan->document, plan_fields, plan);
	plan->blocks = ctx.blocks;
	if (!bad)
		return plan;
	snprintf(error, error_size, "%s", ctx.error);
	plan_free(plan);
	return NULL;
}
