/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files that read plan.json share: shapes of table entries, and
 * values of one kind that stand in many places.
 */
#ifndef LAB_PLAN_KEYS_H
#define LAB_PLAN_KEYS_H

#include "plan.h"

#define FIELD(stype, name, jtype, need, ...)				\
	{ #name, jtype, offsetof(struct stype, name), need, __VA_ARGS__ }
#define INT(stype, name, need, lo, hi)					\
	FIELD(stype, name, JSON_INT, need, lo, hi, NULL)
#define STR(stype, name, need)	FIELD(stype, name, JSON_STR, need, 0, 0, NULL)
#define STR_NULL(stype, name)						\
	FIELD(stype, name, JSON_STR_NULL, false, 0, 0, NULL)
#define BOOL(stype, name, need)	FIELD(stype, name, JSON_BOOL, need, 0, 0, NULL)
#define FN(stype, name, need, fn)					\
	FIELD(stype, name, JSON_FN, need, 0, 0, fn)
#define OBJECT(ctx, item, fields, dst)					\
	json_object(ctx, item, fields, sizeof(fields) / sizeof((fields)[0]), dst)

/* plan.c */
int plan_node_ref(struct json_ctx *ctx, const struct cJSON *item, void *dst);
int plan_dev(struct json_ctx *ctx, const struct cJSON *item, void *dst);
int plan_mac(struct json_ctx *ctx, const struct cJSON *item, void *dst);
int plan_addr(struct json_ctx *ctx, const struct cJSON *item, void *dst);
int plan_ids(struct json_ctx *ctx, const struct cJSON *item, void *dst);

/* plan_gates.c */
int plan_gates(struct json_ctx *ctx, const struct cJSON *item, void *dst);

/* plan_net.c */
int plan_addrs(struct json_ctx *ctx, const struct cJSON *item, void *dst);
int plan_neighs(struct json_ctx *ctx, const struct cJSON *item, void *dst);
int plan_routes(struct json_ctx *ctx, const struct cJSON *item, void *dst);

#endif
