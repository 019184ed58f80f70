// SPDX-License-Identifier: GPL-2.0
/*
 * Reading of plan.json: the tables of its keys. What spans several keys is
 * checked in plan_check.c.
 */
#include <linux/fairlane.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kmod/lablink.h"
#include "../kmod/labtap.h"
#include "plan_keys.h"

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
	if (!*pair->name || strstr(pair->name, ".."))
		return json_error(ctx, "\"%s\" is no name", pair->name);
	return 0;
}

static int plan_pairs(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_pair), plan_pair, dst);
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
		if (!error && (!*pair->name || strchr(pair->name, '=')))
			error = json_error(ctx, "is no name of a variable");
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

/* A list of texts, one line each. */
static int plan_line(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	const char **line = dst;

	if (json_string(ctx, item, line))
		return -1;
	return strchr(*line, '\n') ? json_error(ctx, "is more than one line") :
				     0;
}

static int plan_lines(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(char *), plan_line, dst);
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

/* Name of a file without folder. */
static int plan_file(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	const char **file = dst;

	if (json_string(ctx, item, file))
		return -1;
	if (!**file || **file == '.' || strchr(*file, '/'))
		return json_error(ctx, "\"%s\" must be a plain file name",
				  *file);
	return 0;
}

/* Name of a node, which must have been defined: gives its index. */
int plan_node_ref(struct json_ctx *ctx, const cJSON *item, void *dst)
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

/* Name of a network device. */
int plan_dev(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	const char **dev = dst;

	if (json_string(ctx, item, dev))
		return -1;
	if (!**dev || strlen(*dev) >= IFNAMSIZ || strpbrk(*dev, "/: \t\n") ||
	    !strcmp(*dev, ".") || !strcmp(*dev, ".."))
		return json_error(ctx,
				  "\"%s\" is no device name (1..%d characters)",
				  *dev, IFNAMSIZ - 1);
	return 0;
}

/* 02:00:00:00:00:01, not a group address. */
int plan_mac(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	struct plan_mac *mac = dst;
	unsigned int byte[ETH_ALEN];
	const char *text;
	int used = 0, i;

	if (json_string(ctx, item, &text))
		return -1;
	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1],
		   &byte[2], &byte[3], &byte[4], &byte[5], &used) != ETH_ALEN ||
	    text[used] || strlen(text) != 17)
		return json_error(ctx, "\"%s\" is no Ethernet address", text);
	if (byte[0] & 1)
		return json_error(ctx, "\"%s\" is a group address", text);
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

	if (json_int(ctx, item, 0, LABLINK_NOISE_MAX_NS, &value))
		return -1;
	*quantile = value;
	return 0;
}

/* The quantiles, which must not fall. */
static int plan_noise(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	struct json_list *list = dst;
	const uint32_t *noise_ns;
	size_t i;

	if (cJSON_IsNull(item))
		return 0;
	if (json_array(ctx, item, sizeof(uint32_t), plan_quantile, list))
		return -1;
	noise_ns = list->items;
	for (i = 1; i < list->count; i++)
		if (noise_ns[i] < noise_ns[i - 1])
			return json_error(ctx, "quantile %zu falls", i);
	if (list->count == 1 || list->count > LABLINK_NOISE_QUANTILES_MAX)
		return json_error(ctx, "%zu quantiles, may be 2..%d",
				  list->count, LABLINK_NOISE_QUANTILES_MAX);
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
int plan_addr(struct json_ctx *ctx, const cJSON *item, void *dst)
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

/* Name of a congestion control, or null for the default. */
static int plan_cc(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	const char **cc = dst;

	if (cJSON_IsNull(item))
		return 0;
	if (json_string(ctx, item, cc))
		return -1;
	if (!**cc || strlen(*cc) > PLAN_CC_MAX)
		return json_error(ctx,
				  "\"%s\" is no congestion control (1..%d characters)",
				  *cc, PLAN_CC_MAX);
	return 0;
}

/* A flow's number, as in "id" of the flows. */
static int plan_id(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_int(ctx, item, 0, INT32_MAX, dst);
}

/* Numbers of flows. */
int plan_ids(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(int64_t), plan_id, dst);
}

static int plan_module(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		STR(plan_module, path, true),
		STR(plan_module, params, false),
	};

	return OBJECT(ctx, item, fields, dst);
}

static int plan_modules(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_module), plan_module,
			  dst);
}

static int plan_node(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		STR(plan_node, name, true),
		FN(plan_node, sysctl, false, plan_pairs),
	};
	const struct plan_node *node = dst;

	if (OBJECT(ctx, item, fields, dst))
		return -1;
	if (!*node->name || *node->name == '.' || strchr(node->name, '/') ||
	    strlen(node->name) > PLAN_NODE_NAME_MAX)
		return json_error(ctx, "\"%s\" is no name of a node",
				  node->name);
	return 0;
}

static int plan_nodes(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_node), plan_node, dst);
}

static int plan_end(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_end, node, true, plan_node_ref),
		FN(plan_end, dev, true, plan_dev),
		FN(plan_end, mac, false, plan_mac),
		INT(plan_end, mtu, false, 68, 65535),
		INT(plan_end, rate_bps, false, 0, LABLINK_RATE_MAX_BPS),
		INT(plan_end, delay_ns, false, 0, LABLINK_DELAY_MAX_NS),
		INT(plan_end, overhead_bytes, false, 0, LABLINK_OVERHEAD_MAX),
		INT(plan_end, ring_pkts, false, 1, LABLINK_RING_MAX),
		BOOL(plan_end, offload, false),
		INT(plan_end, gso_max_segs, false, 1, 65535),
		INT(plan_end, txqueuelen, false, 0, 100000000),
		FN(plan_end, noise_ns, false, plan_noise),
		INT(plan_end, noise_seed, false, 0, UINT32_MAX),
	};
	struct plan_end *end = dst;

	end->overhead_bytes = LABLINK_OVERHEAD_DEFAULT;
	end->ring_pkts = LABLINK_RING_DEFAULT;
	return OBJECT(ctx, item, fields, dst);
}

static int plan_link(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_link, kind, true, plan_kind),
		{ "a", JSON_FN, offsetof(struct plan_link, end[0]), true, 0, 0,
		  plan_end },
		{ "b", JSON_FN, offsetof(struct plan_link, end[1]), true, 0, 0,
		  plan_end },
	};

	return OBJECT(ctx, item, fields, dst);
}

static int plan_links(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_link), plan_link, dst);
}

static int plan_batch(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_batch, node, true, plan_node_ref),
		{ "batch", JSON_FN, offsetof(struct plan_batch, lines), true, 0,
		  0, plan_lines },
	};

	return OBJECT(ctx, item, fields, dst);
}

static int plan_batches(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_batch), plan_batch,
			  dst);
}

static int plan_tap(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		INT(plan_tap, tap, true, 0, LABTAP_TAPS_MAX - 1),
		FN(plan_tap, node, true, plan_node_ref),
		FN(plan_tap, dev, true, plan_dev),
	};

	return OBJECT(ctx, item, fields, dst);
}

static int plan_taps(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_tap), plan_tap, dst);
}

static int plan_flow(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_flow, id, true, plan_id),
		FN(plan_flow, src, true, plan_node_ref),
		FN(plan_flow, dst, true, plan_node_ref),
		FN(plan_flow, src_addr, true, plan_addr),
		FN(plan_flow, dst_addr, true, plan_addr),
		INT(plan_flow, sport, true, 1, 65535),
		INT(plan_flow, dport, true, 1, 65535),
		FN(plan_flow, cc, false, plan_cc),
		FN(plan_flow, rcv_cc, false, plan_cc),
		INT(plan_flow, so_priority, false, 0, INT32_MAX),
		INT(plan_flow, weight_milli, false, 1, FL_WEIGHT_MAX_MILLI),
		INT(plan_flow, dscp, false, 0, 63),
		INT(plan_flow, start_ns, true, 0, PLAN_TIME_MAX_NS),
		INT(plan_flow, stop_ns, false, -1, PLAN_TIME_MAX_NS),
		INT(plan_flow, bytes, false, -1, 1LL << 50),
		FN(plan_flow, connect, false, plan_connect),
		INT(plan_flow, rcvbuf, false, 0, 1 << 30),
		INT(plan_flow, sndbuf, false, 0, 1 << 30),
		INT(plan_flow, deadline_us, false, 0, FL_DEADLINE_MAX_US),
		INT(plan_flow, base_rtt_ns, false, 0, 1000000000),
		BOOL(plan_flow, quickack, false),
		BOOL(plan_flow, whole, false),
	};
	struct plan_flow *flow = dst;

	flow->weight_milli = 1000;
	flow->stop_ns = -1;
	flow->bytes = -1;
	return OBJECT(ctx, item, fields, dst);
}

static int plan_flows(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_flow), plan_flow, dst);
}

static int plan_event(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		INT(plan_event, at_ns, true, 0, PLAN_TIME_MAX_NS),
		FN(plan_event, node, false, plan_node_null),
		FN(plan_event, argv, false, plan_argv),
		FN(plan_event, flows, false, plan_ids),
		FN(plan_event, stop, false, plan_ids),
		INT(plan_event, so_priority, false, 0, INT32_MAX),
		INT(plan_event, weight_milli, false, 1, FL_WEIGHT_MAX_MILLI),
		FN(plan_event, cc, false, plan_cc),
	};
	struct plan_event *event = dst;

	event->node = PLAN_NO_NODE;
	event->so_priority = -1;
	event->weight_milli = -1;
	return OBJECT(ctx, item, fields, dst);
}

static int plan_events(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_event), plan_event,
			  dst);
}

static int plan_sample(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		INT(plan_sample, interval_ns, true, 100, PLAN_TIME_MAX_NS),
		FN(plan_sample, flows, true, plan_ids),
	};

	return cJSON_IsNull(item) ? 0 : OBJECT(ctx, item, fields, dst);
}

static int plan_collect(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_collect, node, false, plan_node_null),
		FN(plan_collect, argv, true, plan_argv),
		FN(plan_collect, file, true, plan_file),
	};
	struct plan_collect *collect = dst;

	collect->node = PLAN_NO_NODE;
	return OBJECT(ctx, item, fields, dst);
}

static int plan_collects(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_collect), plan_collect,
			  dst);
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
	INT(plan, version, true, PLAN_VERSION, PLAN_VERSION),
	STR(plan, out, true),
	FN(plan, env, false, plan_env),
	FN(plan, modules, false, plan_modules),
	FN(plan, sysctl, false, plan_pairs),
	FN(plan, nodes, false, plan_nodes),
	FN(plan, links, false, plan_links),
	FN(plan, addr, false, plan_addrs),
	FN(plan, neigh, false, plan_neighs),
	FN(plan, route, false, plan_routes),
	FN(plan, ip, false, plan_batches),
	FN(plan, tc, false, plan_batches),
	FN(plan, taps, false, plan_taps),
	INT(plan, tap_records_max, false, 1, PLAN_RECORDS_MAX),
	FN(plan, flows, false, plan_flows),
	FN(plan, gates, false, plan_gates),
	FN(plan, events, false, plan_events),
	FN(plan, sample, false, plan_sample),
	INT(plan, end_ns, false, 0, PLAN_TIME_MAX_NS),
	FN(plan, collect, false, plan_collects),
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
 * Reads and checks a plan. NULL and one sentence in error if it is not right;
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
	if (!bad)
		bad = plan_resolve(&ctx, plan);
	plan->blocks = ctx.blocks;
	if (!bad)
		return plan;
	snprintf(error, error_size, "%s", ctx.error);
	plan_free(plan);
	return NULL;
}
