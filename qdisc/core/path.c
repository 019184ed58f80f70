// SPDX-License-Identifier: GPL-2.0
/* The way of a packet through the switches: see path.h. */
#include "core/path.h"

/* ---- the table --------------------------------------------------------------- */

static unsigned int addr_bits(bool v6)
{
	return v6 ? 128 : 32;
}

/* Are the first @bits bits of two addresses the same? */
static bool same_bits(const u8 *a, const u8 *b, unsigned int bits)
{
	unsigned int bytes = bits / 8, rest = bits % 8;

	if (memcmp(a, b, bytes))
		return false;
	return !rest || !((a[bytes] ^ b[bytes]) >> (8 - rest));
}

static bool prefix_holds(const struct path_prefix *prefix, bool v6,
			 const u8 *addr)
{
	return prefix->v6 == v6 && same_bits(prefix->addr, addr, prefix->bits);
}

/* The order of a table: below 0 if @a is before (@v6, @addr, @bits). */
static int prefix_order(const struct path_prefix *a, bool v6, const u8 *addr,
			u8 bits)
{
	int order;

	if (a->v6 != v6)
		return v6 ? -1 : 1;
	order = memcmp(a->addr, addr, addr_bits(v6) / 8);
	return order ? order : a->bits - bits;
}

static bool prefix_clean(const struct path_prefix *prefix)
{
	static const u8 zero[16];
	unsigned int i = prefix->bits / 8;

	if (prefix->bits > addr_bits(prefix->v6))
		return false;
	if (prefix->bits % 8) {
		if (prefix->addr[i] & (0xff >> prefix->bits % 8))
			return false;
		i++;
	}
	return !memcmp(prefix->addr + i, zero, 16 - i);
}

static const char *check_prefixes(struct path_table *t)
{
	struct path_prefix *prefix;
	s32 i, up;

	for (i = 0; i < (s32)t->prefixes; i++) {
		prefix = &t->prefix[i];
		if (!prefix_clean(prefix))
			return "a prefix has bits beyond its length";
		if (prefix->dest >= t->dests)
			return "a prefix leads to no destination";
		if (i && prefix_order(&t->prefix[i - 1], prefix->v6,
				      prefix->addr, prefix->bits) >= 0)
			return "prefixes are not sorted, or one is there twice";
		/* Around it is the one before, or one around that. */
		for (up = i - 1; up >= 0; up = t->prefix[up].up)
			if (prefix_holds(&t->prefix[up], prefix->v6,
					 prefix->addr))
				break;
		prefix->up = up;
	}
	return NULL;
}

static const char *check_group(const struct path_table *t,
			       const struct path_group *group)
{
	u32 i;

	if (!group->count || group->first >= t->vias ||
	    group->count > t->vias - group->first)
		return "a route has no next hop";
	if (group->count > PATH_VIAS_MAX)
		return "a route has more than 256 next hops";
	for (i = group->first; i < group->first + group->count; i++)
		if (t->via[i].to != PATH_NONE && t->via[i].to >= t->switches)
			return "a next hop is no switch";
	if (group->count > 1 && t->via[i - 1].bound != 0x7fffffff)
		return "the last next hop does not take the largest hash";
	return NULL;
}

static bool switch_fits(const struct path_switch *sw)
{
	if (!sw->id || sw->policy == 2 || sw->policy > 3)
		return false;
	return sw->policy != 3 ||
	       (sw->fields && !(sw->fields & ~PATH_FIELDS));
}

const char *path_check(struct path_table *t)
{
	const char *wrong;
	u64 i;

	if (!t->switches || t->switches == PATH_NONE || !t->dests ||
	    t->groups == PATH_NONE || t->prefixes > 0x7fffffff)
		return "a table of no or of too many switches or routes";
	for (i = 0; i < t->switches; i++) {
		if (!switch_fits(&t->sw[i]))
			return "a switch has no number or hashes in a way that cannot be computed";
		if (i && t->sw[i].id <= t->sw[i - 1].id)
			return "switches are not sorted, or two have one number";
	}
	for (i = 0; i < t->groups; i++) {
		wrong = check_group(t, &t->group[i]);
		if (wrong)
			return wrong;
	}
	for (i = 0; i < (u64)t->switches * t->dests; i++) {
		if (t->route[i] == PATH_NONE)
			continue;
		if (t->route[i] >= t->groups)
			return "a route is no group of next hops";
	}
	return check_prefixes(t);
}

u16 path_dest(const struct path_table *t, bool v6, const u8 *addr)
{
	u8 key[16] = { 0 };
	u32 low = 0, high = t->prefixes, middle;
	s32 at;

	memcpy(key, addr, addr_bits(v6) / 8);
	while (low < high) {
		middle = low + (high - low) / 2;
		if (prefix_order(&t->prefix[middle], v6, key, addr_bits(v6)) <=
		    0)
			low = middle + 1;
		else
			high = middle;
	}
	for (at = (s32)low - 1; at >= 0; at = t->prefix[at].up)
		if (prefix_holds(&t->prefix[at], v6, key))
			return t->prefix[at].dest;
	return PATH_NONE;
}

void path_bounds(struct path_via *via, const u16 *weight, unsigned int count)
{
	u64 total = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		total += weight[i];
	if (!total)
		return;
	for (i = 0; i < count; i++) {
		sum += weight[i];
		via[i].bound = (s32)(div64_u64((sum << 31) + total / 2, total) -
				     1);
	}
}

/* ---- a way ------------------------------------------------------------------- */

/* Return: NULL: that cannot be known. */
static const struct path_via *choose(const struct path_table *t,
				     const struct path_group *group, u16 at,
				     const struct path_flow *flow)
{
	const struct path_via *via = &t->via[group->first];
	u32 hash, i;

	if (group->count == 1)
		return via;
	if (!t->sw[at].seed)
		return NULL;
	hash = path_hash(&t->sw[at], flow);
	for (i = 0; i + 1 < group->count; i++)
		if (via[i].bound >= 0 && hash <= (u32)via[i].bound)
			break;
	return &via[i];
}

void path_find(const struct path_table *t, u16 next, u16 dest,
	       const struct path_flow *flow, struct pyr_path *path)
{
	const struct path_via *via;
	u16 group;

	path->hops = 0;
	if (dest >= t->dests)
		return;
	while (next != PATH_NONE && path->hops < PYR_HOPS_MAX) {
		group = t->route[(u32)next * t->dests + dest];
		via = group == PATH_NONE ? NULL :
		      choose(t, &t->group[group], next, flow);
		if (!via) {
			path->hops = 0;
			return;
		}
		path->hop[path->hops++] = PYR_ROOT(t->sw[next].id, via->port);
		next = via->to;
	}
	if (next != PATH_NONE)
		path->hops = 0;
}

void path_reach_from(const struct path_table *t, u16 at, u64 ports, u64 *by)
{
	const u16 *route = &t->route[(u32)at * t->dests];
	u32 dest;

	for (dest = 0; dest < t->dests; dest++) {
		if (route[dest] != PATH_NONE)
			by[route[dest]] |= ports;
	}
}

void path_reach_by(const struct path_table *t, u16 group, u64 ports, u64 *next)
{
	const struct path_via *via = &t->via[t->group[group].first];
	u32 i;

	for (i = 0; i < t->group[group].count; i++) {
		if (via[i].to != PATH_NONE)
			next[via[i].to] |= ports;
	}
}

bool path_reaches(const struct path_table *t, const u8 *reach, u64 root,
		  u8 distance)
{
	u32 low = 0, high = t->switches, middle, id = PYR_ROOT_SWITCH(root);

	if (!distance || distance > PYR_HOPS_MAX)
		return false;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (t->sw[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->switches && t->sw[low].id == id &&
	       reach[low] & 1 << (distance - 1);
}
