// SPDX-License-Identifier: GPL-2.0
/*
 * Flows by class: those of one priority that one policy made. A flow of PrioPlus that is
 * stopped waits for a higher priority; for which, this host can tell if its own flows
 * send to the same address.
 */
#include "classes.h"

#include <stdlib.h>
#include <string.h>

/* A flow with data that has sent nothing for so long starves, ms. One of PrioPlus that
 * waits sends a short train each second to see whether the line is idle.
 */
#define STARVING_MS	500

/* Does a flow have data and nothing to send it with? */
bool flow_starves(const struct fairlane_flow *f)
{
	return f->send_queue_bytes && f->has_tcp &&
	       f->last_sent_ms >= STARVING_MS;
}

/**
 * struct sender - who sends to an address
 * @family: AF_INET, AF_INET6
 * @dst: the address
 * @prios: bits of the priorities of those that send
 */
struct sender {
	uint8_t family;
	uint8_t dst[16];
	uint16_t prios;
};

struct senders {
	struct sender *s;
	size_t n;
};

static uint32_t prio_of(const struct fairlane_flow *f)
{
	uint32_t prio = flow_prio(f);

	return prio > FL_PRIORITY_MAX ? FL_PRIORITY_MAX : prio;
}

static bool is_stopped(const struct fairlane_flow *f)
{
	return !strcmp(flow_state(f), "stopped");
}

static int by_address(const void *a, const void *b)
{
	const struct sender *x = a, *y = b;

	return x->family != y->family ? x->family - y->family :
	       memcmp(x->dst, y->dst, sizeof(x->dst));
}

/* One entry for each address that something is sent to. */
static void senders_of(struct senders *list, const struct flows *now)
{
	size_t i, n = 0;

	list->s = xalloc(now->n * sizeof(*list->s));
	for (i = 0; i < now->n; i++) {
		const struct fairlane_flow *f = &now->f[i];

		if (!flow_prio_known(f) || is_stopped(f) ||
		    !f->send_queue_bytes)
			continue;
		list->s[n].family = f->id.family;
		memcpy(list->s[n].dst, f->id.dst, sizeof(f->id.dst));
		list->s[n++].prios = 1 << prio_of(f);
	}
	if (n)
		qsort(list->s, n, sizeof(*list->s), by_address);
	list->n = 0;
	for (i = 0; i < n; i++) {
		if (list->n && !by_address(&list->s[list->n - 1], &list->s[i]))
			list->s[list->n - 1].prios |= list->s[i].prios;
		else
			list->s[list->n++] = list->s[i];
	}
}

/* Bits of the priorities above a flow's that send to its address. */
static uint16_t above(const struct senders *list, const struct fairlane_flow *f)
{
	struct sender key = { .family = f->id.family };
	const struct sender *s;

	memcpy(key.dst, f->id.dst, sizeof(key.dst));
	s = list->n ? bsearch(&key, list->s, list->n, sizeof(key), by_address) :
	    NULL;
	return s ? s->prios & (0xfffe << prio_of(f)) : 0;
}

static struct class *class_for(struct classes *list,
			       const struct fairlane_flow *f)
{
	uint32_t policy = f->has_info ? f->info.policy : 0;
	struct class *c;
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->c[i].prio == prio_of(f) &&
		    list->c[i].policy == policy)
			return &list->c[i];
	list->c = xgrow(list->c, list->n, sizeof(*list->c));
	c = &list->c[list->n++];
	memset(c, 0, sizeof(*c));
	c->prio = prio_of(f);
	c->policy = policy;
	if (policy)
		policy_comment(policy, c->name, sizeof(c->name));
	return c;
}

static int by_class(const void *a, const void *b)
{
	const struct class *x = a, *y = b;

	return x->prio != y->prio ? (int)y->prio - (int)x->prio :
	       x->policy < y->policy ? -1 : x->policy > y->policy;
}

/**
 * classes_of() - sum up flows
 * @list: is filled
 * @now: the flows
 * @before: those of the last look, for rates, sorted by cookie; NULL: no rates
 */
void classes_of(struct classes *list, const struct flows *now,
		const struct flows *before)
{
	double seconds = before ? (now->time_ns - before->time_ns) / 1e9 : 0;
	struct senders senders;
	size_t i;

	memset(list, 0, sizeof(*list));
	senders_of(&senders, now);
	for (i = 0; i < now->n; i++) {
		const struct fairlane_flow *f = &now->f[i], *old;
		struct class *c;

		if (!flow_prio_known(f))
			continue;
		c = class_for(list, f);
		c->flows++;
		c->sending += f->send_queue_bytes && !is_stopped(f);
		c->starving += flow_starves(f);
		if (is_stopped(f) && f->send_queue_bytes) {
			uint16_t prios = above(&senders, f);

			c->waiting++;
			c->for_prio |= prios;
			c->for_others += !prios;
		}
		old = before ? flows_find(before, f->id.cookie) : NULL;
		if (old && seconds > 0)
			c->tx_bps += (f->acked_bytes - old->acked_bytes) * 8 /
				     seconds;
	}
	if (list->n)
		qsort(list->c, list->n, sizeof(*list->c), by_class);
	free(senders.s);
}

void classes_free(struct classes *list)
{
	free(list->c);
	memset(list, 0, sizeof(*list));
}

/* For whom a class waits: "prio 5 4, 2 flows for others"; valid until the next call. */
const char *class_waits(const struct class *c)
{
	static char text[96];
	const char *sep = "prio ";
	int len = 0, i;

	snprintf(text, sizeof(text), "%s", c->waiting ? "" : "-");
	for (i = FL_PRIORITY_MAX; i >= 0; i--) {
		if (!(c->for_prio >> i & 1))
			continue;
		len += snprintf(text + len, sizeof(text) - len, "%s%d", sep, i);
		sep = " ";
	}
	if (c->for_others)
		snprintf(text + len, sizeof(text) - len, "%s%u for others",
			 len ? ", " : "", c->for_others);
	return text;
}

cJSON *classes_json(const struct classes *list)
{
	cJSON *doc = cJSON_CreateArray(), *obj, *prios;
	size_t i;
	int p;

	for (i = 0; i < list->n; i++) {
		const struct class *c = &list->c[i];

		obj = cJSON_CreateObject();
		json_u64(obj, "prio", c->prio);
		if (c->policy)
			json_u64(obj, "policy", c->policy);
		if (c->name[0])
			cJSON_AddStringToObject(obj, "class", c->name);
		json_u64(obj, "flows", c->flows);
		json_u64(obj, "sending", c->sending);
		json_u64(obj, "waiting", c->waiting);
		json_u64(obj, "starving", c->starving);
		prios = cJSON_AddArrayToObject(obj, "waits_for_prio");
		for (p = FL_PRIORITY_MAX; p >= 0; p--)
			if (c->for_prio >> p & 1)
				cJSON_AddItemToArray(prios,
						     cJSON_CreateNumber(p));
		json_u64(obj, "waits_for_others", c->for_others);
		json_u64(obj, "sent_bps", c->tx_bps);
		cJSON_AddItemToArray(doc, obj);
	}
	return doc;
}

void classes_print(const struct classes *list, const char *end)
{
	size_t i;

	printf("%4s %-16s %6s %7s %7s %8s %10s  %s%s\n", "PRIO", "CLASS",
	       "FLOWS", "SENDING", "WAITING", "STARVING", "SENT/s",
	       "WAITS FOR", end);
	for (i = 0; i < list->n; i++) {
		const struct class *c = &list->c[i];

		printf("%4u %-16.16s %6u %7u %7u %8u %10s  %s%s\n", c->prio,
		       c->name[0] ? c->name : "-", c->flows, c->sending,
		       c->waiting, c->starving, show_rate(c->tx_bps),
		       class_waits(c), end);
	}
	printf("%s\n", end);
}
