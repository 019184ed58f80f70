// SPDX-License-Identifier: GPL-2.0
/* fairlane check: policies that decide for no socket, since one before each of them matches all
 * sockets that it matches. The documents of policy show have all conditions.
 */
#include "tool.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* So many are told one by one. */
#define TOLD_MAX	8

/**
 * struct rule - the conditions of a policy
 * @doc: the policy
 * @directions: how many it matches, 1 or 2
 * @direction: the first of them
 * @src: own prefix; family 0: any
 * @dst: the peer's
 * @family: what the policy says of it, NULL: nothing
 * @word: congestion control, DSCP, number of the cgroup; NULL: any
 * @range: own ports, the peer's, uids
 */
struct rule {
	const cJSON *doc;
	int directions;
	const char *direction;
	struct prefix src, dst;
	const char *family, *word[3];
	struct { double min, max; } range[3];
};

/* A field's text: strings and long integers have one. */
static const char *field(const cJSON *doc, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(doc, key);

	return v ? v->valuestring : NULL;
}

static void rule_read(struct rule *r, const cJSON *doc)
{
	static const char *const words[] = { "cc", "dscp", "cgroup_id" };
	static const char *const ranges[] = { "sport", "dport", "uid" };
	const cJSON *when = cJSON_GetObjectItem(doc, "when"), *v;
	const char *s;
	size_t i;

	memset(r, 0, sizeof(*r));
	r->doc = doc;
	r->directions = cJSON_GetArraySize(when);
	r->direction = r->directions ? cJSON_GetArrayItem(when, 0)->valuestring : "";
	r->family = field(doc, "family");
	s = field(doc, "src");
	if (s)
		parse_prefix(s, false, &r->src);
	s = field(doc, "dst");
	if (s)
		parse_prefix(s, false, &r->dst);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		r->word[i] = field(doc, words[i]);
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		v = cJSON_GetObjectItem(doc, ranges[i]);
		r->range[i].min = v ? cJSON_GetArrayItem(v, 0)->valuedouble : 0;
		r->range[i].max = v ? cJSON_GetArrayItem(v, 1)->valuedouble : UINT32_MAX;
	}
}

/* Are all addresses of @b in @a? */
static bool prefix_covers(const struct prefix *a, const struct prefix *b)
{
	size_t bytes = a->len / 8, bits = a->len % 8;

	if (!a->family)
		return true;
	if (a->family != b->family || a->len > b->len || memcmp(a->addr, b->addr, bytes))
		return false;
	return !bits || !((a->addr[bytes] ^ b->addr[bytes]) >> (8 - bits));
}

/* Does @a match all sockets that @b matches, as far as can be told? */
static bool rule_covers(const struct rule *a, const struct rule *b)
{
	size_t i;

	if (a->directions < b->directions ||
	    (a->directions == 1 && strcmp(a->direction, b->direction)))
		return false;
	for (i = 0; i < ARRAY_SIZE(a->word); i++)
		if (a->word[i] && (!b->word[i] || strcmp(a->word[i], b->word[i])))
			return false;
	for (i = 0; i < ARRAY_SIZE(a->range); i++)
		if (a->range[i].min > b->range[i].min || a->range[i].max < b->range[i].max)
			return false;
	if (a->family && (!b->family || strcmp(a->family, b->family)))
		return false;
	return prefix_covers(&a->src, &b->src) && prefix_covers(&a->dst, &b->dst);
}

/* A policy as people know it: order and comment. */
static char *rule_name(const struct rule *r)
{
	const char *comment = field(r->doc, "comment");

	if (!comment)
		return xprintf("policy %s", field(r->doc, "order"));
	return xprintf("policy %s (%s)", field(r->doc, "order"), comment);
}

static void tell_shadowed(const struct rule *a, const struct rule *b)
{
	char *before = rule_name(a), *after = rule_name(b);

	check_add(VERDICT_NOTE, "shadowed",
		  "the first that matches decides: put the one with more conditions first",
		  "%s decides for no socket: %s, before it, matches all that it does",
		  after, before);
	free(before);
	free(after);
}

/* Policies are tried in their order, which the list has. */
void check_policies(void)
{
	cJSON *docs = cJSON_CreateArray();
	unsigned int told = 0;
	struct rule *list;
	const cJSON *doc;
	size_t n = 0, i;

	policy_save(NULL, docs, false);
	list = xalloc((cJSON_GetArraySize(docs) + 1) * sizeof(*list));
	cJSON_ArrayForEach(doc, docs) {
		rule_read(&list[n], doc);
		for (i = 0; i < n && !rule_covers(&list[i], &list[n]); i++)
			;
		if (i < n && told++ < TOLD_MAX)
			tell_shadowed(&list[i], &list[n]);
		n++;
	}
	if (told > TOLD_MAX)
		check_add(VERDICT_NOTE, "shadowed", "fairlane policy show",
			  "%u more policies decide for no socket", told - TOLD_MAX);
	free(list);
	cJSON_Delete(docs);
}
