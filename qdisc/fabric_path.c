// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: a switch's table of paths, core/path.h, as netlink tells it.
 *
 * A loader (fairlane fabric load) tells the routes of all switches in parts into a draft. When
 * they are complete, they are checked and take the place of the table in use. Packets read it
 * under RCU.
 */
#include <net/genetlink.h>

#include "fabric_isolate.h"

/* A table and all that belongs to it is one piece of memory. */
static size_t fabric_table_bytes(const struct fabric_table_sizes *n)
{
	size_t routes = (size_t)n->switches * n->prefixes;

	return sizeof(struct fabric_table) +
	       n->switches * (sizeof(struct path_switch) + FABRIC_PORTS_MAX) +
	       n->prefixes * sizeof(struct path_prefix) +
	       n->groups * sizeof(struct path_group) +
	       n->vias * (sizeof(struct path_via) + sizeof(u16)) + routes * sizeof(u16);
}

/* A table of no contents. Return: it or NULL. */
static struct fabric_table *fabric_table_make(const struct fabric_table_sizes *n)
{
	struct fabric_table *t = kvzalloc(fabric_table_bytes(n), GFP_KERNEL_ACCOUNT);
	struct path_table *paths;

	if (!t)
		return NULL;
	paths = &t->paths;
	paths->switches = n->switches;
	paths->dests = n->prefixes;
	paths->prefixes = n->prefixes;
	paths->groups = n->groups;
	paths->vias = n->vias;
	paths->sw = (void *)(t + 1);
	paths->prefix = (void *)(paths->sw + n->switches);
	paths->group = (void *)(paths->prefix + n->prefixes);
	paths->via = (void *)(paths->group + n->groups);
	paths->route = (void *)(paths->via + n->vias);
	t->weight = paths->route + (size_t)n->switches * n->prefixes;
	t->reach = (void *)(t->weight + n->vias);
	memset(paths->route, 0xff, (size_t)n->switches * n->prefixes * sizeof(u16));
	return t;
}

/* The switch that a message names; an error is told. Context: fabric_isolates_lock(). */
static struct fabric_isolate *fabric_table_switch(struct genl_info *info)
{
	struct fabric_isolate *iso;

	iso = fabric_isolate_find(genl_info_net(info),
				  nla_get_u32(info->attrs[FABRIC_A_SWITCH]));
	if (!iso)
		NL_SET_ERR_MSG_MOD(info->extack,
				   "no port of this namespace has such a switch");
	return iso;
}

static bool fabric_table_fits(const struct fabric_table_sizes *n)
{
	return n->switches && n->switches <= FABRIC_TABLE_MAX && n->prefixes &&
	       n->prefixes <= FABRIC_TABLE_MAX && n->groups && n->groups <= FABRIC_TABLE_MAX &&
	       n->vias && n->vias <= FABRIC_TABLE_VIAS_MAX &&
	       (u64)n->switches * n->prefixes <= FABRIC_TABLE_ROUTES_MAX;
}

/* Begins a draft; one that was begun before is forgotten. Context: process. */
int fabric_table_new(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct fabric_table_sizes sizes;
	struct fabric_isolate *iso;
	struct fabric_table *t;

	if (!a[FABRIC_A_SWITCH] || !a[FABRIC_A_SIZES]) {
		NL_SET_ERR_MSG_MOD(info->extack, "a table needs a switch and its sizes");
		return -EINVAL;
	}
	nla_memcpy(&sizes, a[FABRIC_A_SIZES], sizeof(sizes));
	if (!fabric_table_fits(&sizes)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[FABRIC_A_SIZES],
				    "a table has 1 to 65534 switches, prefixes and groups, and 16777216 routes at most");
		return -EINVAL;
	}
	t = fabric_table_make(&sizes);
	if (!t)
		return -ENOMEM;
	fabric_isolates_lock();
	iso = fabric_table_switch(info);
	if (iso)
		swap(iso->draft, t);
	fabric_isolates_unlock();
	kvfree(t);
	return iso ? 0 : -ENODEV;
}

static void fabric_table_set_switch(struct fabric_table *t, u32 i, const void *entry)
{
	const struct fabric_table_switch *from = entry;

	t->paths.sw[i] = (struct path_switch){
		.id = from->id, .seed = from->seed,
		.policy = from->policy, .fields = from->fields,
	};
}

static void fabric_table_set_prefix(struct fabric_table *t, u32 i, const void *entry)
{
	struct path_prefix *prefix = &t->paths.prefix[i];
	const struct fabric_table_prefix *from = entry;

	prefix->v6 = from->v6;
	prefix->bits = from->bits;
	prefix->dest = i;
	memcpy(prefix->addr, from->addr, sizeof(prefix->addr));
}

static void fabric_table_set_group(struct fabric_table *t, u32 i, const void *entry)
{
	const struct fabric_table_group *from = entry;

	t->paths.group[i] = (struct path_group){ .first = from->first, .count = from->count };
}

static void fabric_table_set_via(struct fabric_table *t, u32 i, const void *entry)
{
	const struct fabric_table_via *from = entry;

	t->paths.via[i] = (struct path_via){ .port = from->port, .to = from->to };
	t->weight[i] = from->weight;
}

static void fabric_table_set_route(struct fabric_table *t, u32 i, const void *entry)
{
	t->paths.route[i] = *(const u16 *)entry;
}

/**
 * struct fabric_table_part - one kind of entries
 * @bytes: of an entry
 * @set: puts one in its place
 */
struct fabric_table_part {
	u32 bytes;
	void (*set)(struct fabric_table *t, u32 i, const void *entry);
};

static const struct fabric_table_part fabric_table_parts[FABRIC_PART_MAX + 1] = {
	[FABRIC_PART_SWITCHES] = { sizeof(struct fabric_table_switch), fabric_table_set_switch },
	[FABRIC_PART_PREFIXES] = { sizeof(struct fabric_table_prefix), fabric_table_set_prefix },
	[FABRIC_PART_GROUPS] = { sizeof(struct fabric_table_group), fabric_table_set_group },
	[FABRIC_PART_VIAS] = { sizeof(struct fabric_table_via), fabric_table_set_via },
	[FABRIC_PART_ROUTES] = { sizeof(u16), fabric_table_set_route },
};

static u32 fabric_table_room(const struct path_table *t, u8 part)
{
	switch (part) {
	case FABRIC_PART_SWITCHES:
		return t->switches;
	case FABRIC_PART_PREFIXES:
		return t->prefixes;
	case FABRIC_PART_GROUPS:
		return t->groups;
	case FABRIC_PART_VIAS:
		return t->vias;
	default:
		return (u32)t->switches * t->dests;
	}
}

/* Tells a draft some entries. Return: 0 or a negative error. */
static int fabric_table_tell(struct fabric_table *t, struct nlattr **a)
{
	u32 offset = nla_get_u32(a[FABRIC_A_OFFSET]), room, count, i;
	u8 part = nla_get_u8(a[FABRIC_A_PART]);
	const struct fabric_table_part *kind = &fabric_table_parts[part];

	room = fabric_table_room(&t->paths, part);
	count = nla_len(a[FABRIC_A_ENTRIES]) / kind->bytes;
	if (nla_len(a[FABRIC_A_ENTRIES]) % kind->bytes || offset > room ||
	    count > room - offset)
		return -EINVAL;
	for (i = 0; i < count; i++)
		kind->set(t, offset + i, nla_data(a[FABRIC_A_ENTRIES]) + i * kind->bytes);
	return 0;
}

/* Context: process. */
int fabric_table_add(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct fabric_isolate *iso;
	int err = -ENODEV;

	if (!a[FABRIC_A_SWITCH] || !a[FABRIC_A_PART] || !a[FABRIC_A_OFFSET] ||
	    !a[FABRIC_A_ENTRIES]) {
		NL_SET_ERR_MSG_MOD(info->extack,
				   "switch, part, offset and entries are needed");
		return -EINVAL;
	}
	fabric_isolates_lock();
	iso = fabric_table_switch(info);
	if (iso && !iso->draft) {
		NL_SET_ERR_MSG_MOD(info->extack, "no table of this switch was begun");
		err = -EINVAL;
	} else if (iso) {
		err = fabric_table_tell(iso->draft, a);
		if (err)
			NL_SET_ERR_MSG_ATTR(info->extack, a[FABRIC_A_ENTRIES],
					    "more entries than the table has, or parts of one");
	}
	fabric_isolates_unlock();
	return err;
}

/* ---- a table comes into use ---------------------------------------------------- */

/* Shares of next hops. Groups that are none path_check() finds. */
static void fabric_table_weigh(struct fabric_table *t)
{
	const struct path_group *group = t->paths.group;
	u32 i;

	for (i = 0; i < t->paths.groups; i++) {
		if (group[i].count <= PATH_VIAS_MAX && group[i].first < t->paths.vias &&
		    group[i].count <= t->paths.vias - group[i].first)
			path_bounds(&t->paths.via[group[i].first],
				    &t->weight[group[i].first], group[i].count);
		/* 65534 groups may have the same 256 next hops: .3 s */
		cond_resched();
	}
}

/* What is behind the switch's own ports. Return: NULL, or what is wrong. */
static const char *fabric_table_neighbours(struct fabric_table *t)
{
	const struct path_group *group;
	const struct path_via *via;
	u32 i, k;
	u16 route;

	for (i = 0; i < FABRIC_PORTS_MAX; i++)
		t->next[i] = PATH_NONE;
	for (i = 0; i < t->paths.dests; i++) {
		route = t->paths.route[(u32)t->self * t->paths.dests + i];
		if (route == PATH_NONE)
			continue;
		group = &t->paths.group[route];
		for (k = 0; k < group->count; k++) {
			via = &t->paths.via[group->first + k];
			if (via->port >= FABRIC_PORTS_MAX || via->to == PATH_NONE)
				continue;
			if (t->next[via->port] != PATH_NONE && t->next[via->port] != via->to)
				return "a port of this switch leads to two neighbours";
			t->next[via->port] = via->to;
		}
	}
	return NULL;
}

/* What a walk over a table's switches needs: behind which ports each of them is, at this and at
 * the next distance, and each group of next hops between the two.
 */
struct fabric_table_walk {
	u64 *now;
	u64 *next;
	u64 *by;
};

/* Lets others have the processor. Return: false: the walk is to end. */
static bool fabric_table_rest(void)
{
	cond_resched();
	return !fatal_signal_pending(current);
}

/* Notes what is at distance @hop, and looks what comes after it. Return: false: it was to end. */
static bool fabric_table_step(struct fabric_table *t, struct fabric_table_walk *w,
			      unsigned int hop)
{
	u32 switches = t->paths.switches, at;
	bool last = hop + 1 == PYR_HOPS_MAX;
	u64 left;

	memset(w->next, 0, switches * sizeof(*w->next));
	memset(w->by, 0, t->paths.groups * sizeof(*w->by));
	for (at = 0; at < switches; at++) {
		if (!w->now[at])
			continue;
		for (left = w->now[at]; left; left &= left - 1)
			t->reach[(size_t)__ffs64(left) * switches + at] |= BIT(hop);
		if (last)
			continue;
		path_reach_from(&t->paths, at, w->now[at], w->by);
		if (!fabric_table_rest())
			return false;
	}
	for (at = 0; at < t->paths.groups; at++) {
		if (!w->by[at])
			continue;
		path_reach_by(&t->paths, at, w->by[at], w->next);
		if (!fabric_table_rest())
			return false;
	}
	swap(w->now, w->next);
	return true;
}

/* Which switches can come after those behind the own ports, and how far. Nothing of ours is locked,
 * but who adds or removes a family waits for requests of all families, and those after him for him:
 * so the walk takes no longer than the table is large. Return: NULL, or why it was not found out.
 */
static const char *fabric_table_reach(struct fabric_table *t)
{
	u32 switches = t->paths.switches;
	struct fabric_table_walk w = { 0 };
	unsigned int hop, port;
	bool going = true;
	void *memory;

	memory = kvzalloc((2 * switches + t->paths.groups) * sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return "no memory";
	w.now = memory;
	w.next = w.now + switches;
	w.by = w.next + switches;
	memset(t->reach, 0, (size_t)FABRIC_PORTS_MAX * switches);
	for (port = 0; port < FABRIC_PORTS_MAX; port++) {
		if (t->next[port] != PATH_NONE)
			w.now[t->next[port]] |= BIT_ULL(port);
	}
	for (hop = 0; going && hop < PYR_HOPS_MAX; hop++)
		going = fabric_table_step(t, &w, hop);
	kvfree(memory);
	return going ? NULL : "a signal ended it";
}

/* Return: NULL, or what is wrong with it. Context: process, nothing locked. */
static const char *fabric_table_finish(struct fabric_table *t, u32 id)
{
	const char *wrong;

	fabric_table_weigh(t);
	wrong = path_check(&t->paths);
	if (wrong)
		return wrong;
	for (t->self = 0; t->self < t->paths.switches; t->self++) {
		if (t->paths.sw[t->self].id == id)
			break;
	}
	if (t->self == t->paths.switches)
		return "the table has not this switch";
	wrong = fabric_table_neighbours(t);
	return wrong ?: fabric_table_reach(t);
}

/* The switch's draft, which is the caller's then. Return: 0 or a negative error, told. */
static int fabric_table_take(struct genl_info *info, struct fabric_table **t)
{
	struct fabric_isolate *iso;
	int err = -ENODEV;

	fabric_isolates_lock();
	iso = fabric_table_switch(info);
	if (iso) {
		*t = iso->draft;
		iso->draft = NULL;
		err = *t ? 0 : -EINVAL;
		if (err)
			NL_SET_ERR_MSG_MOD(info->extack, "no table of this switch was begun");
	}
	fabric_isolates_unlock();
	return err;
}

/* A finished table takes the place of that in use. Return: 0, or -ENODEV: the switch has gone. */
static int fabric_table_install(struct genl_info *info, struct fabric_table *t)
{
	struct fabric_table *old = NULL;
	struct fabric_isolate *iso;

	fabric_isolates_lock();
	iso = fabric_table_switch(info);
	if (iso) {
		/* Never 0, which no way of a packet has that is known. */
		iso->generation += 1 + (iso->generation == U32_MAX);
		t->generation = iso->generation;
		old = rcu_dereference_protected(iso->table, true);
		rcu_assign_pointer(iso->table, t);
	}
	fabric_isolates_unlock();
	if (old)
		kvfree_rcu(old, rcu);
	return iso ? 0 : -ENODEV;
}

/* Puts the draft in the table's place. Context: process. */
int fabric_table_use(struct sk_buff *skb, struct genl_info *info)
{
	struct fabric_table *t = NULL;
	const char *wrong;
	int err;

	if (!info->attrs[FABRIC_A_SWITCH]) {
		NL_SET_ERR_MSG_MOD(info->extack, "a switch is needed");
		return -EINVAL;
	}
	err = fabric_table_take(info, &t);
	if (err)
		return err;
	wrong = fabric_table_finish(t, nla_get_u32(info->attrs[FABRIC_A_SWITCH]));
	if (wrong) {
		if (info->extack)
			info->extack->_msg = wrong;
		err = -EINVAL;
	} else {
		err = fabric_table_install(info, t);
	}
	if (err)
		kvfree(t);
	return err;
}
