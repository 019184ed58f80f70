// SPDX-License-Identifier: GPL-2.0
/*
 * Reading of plan.json: addresses, neighbours and routes of the nodes.
 */
#include "plan_keys.h"

static int plan_netaddr(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_netaddr, node, true, plan_node_ref),
		FN(plan_netaddr, dev, true, plan_dev),
		FN(plan_netaddr, addr, true, plan_addr),
		INT(plan_netaddr, bits, true, 0, 128),
	};

	return OBJECT(ctx, item, fields, dst);
}

/* A list of addresses. */
int plan_addrs(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_netaddr),
			  plan_netaddr, dst);
}

static int plan_neigh(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_neigh, node, true, plan_node_ref),
		FN(plan_neigh, dev, true, plan_dev),
		FN(plan_neigh, addr, true, plan_addr),
		FN(plan_neigh, mac, true, plan_mac),
	};

	return OBJECT(ctx, item, fields, dst);
}

/* A list of permanent neighbours. */
int plan_neighs(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_neigh), plan_neigh,
			  dst);
}

static int plan_hop(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_hop, dev, true, plan_dev),
		FN(plan_hop, via, true, plan_addr),
	};

	return OBJECT(ctx, item, fields, dst);
}

static int plan_hops(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_hop), plan_hop, dst);
}

static int plan_route(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	static const struct json_field fields[] = {
		FN(plan_route, node, true, plan_node_ref),
		FN(plan_route, dst, true, plan_addr),
		INT(plan_route, bits, true, 0, 128),
		FN(plan_route, src, false, plan_addr),
		BOOL(plan_route, quickack, false),
		FN(plan_route, hops, true, plan_hops),
	};
	const struct plan_route *route = dst;

	if (OBJECT(ctx, item, fields, dst))
		return -1;
	return route->hops.count ? 0 : json_error(ctx, "has no hops");
}

/* A list of routes. */
int plan_routes(struct json_ctx *ctx, const cJSON *item, void *dst)
{
	return json_array(ctx, item, sizeof(struct plan_route), plan_route,
			  dst);
}
