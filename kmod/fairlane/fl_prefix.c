// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles by destination: settings for connections to a prefix, beside those
 * of the namespace (fl_profile.c). What a profile does not set it takes from
 * there, also when that changes later.
 *
 * A flow looks up its profile when it begins and when the set of profiles has
 * changed, and holds it in between. Generations come from one counter for all
 * profiles of the machine, so that a flow that moves from one to another sees
 * a change as well.
 */
#include <net/ipv6.h>

#include "fl_prefix.h"

static void fl_prefix_put(struct fl_prefix *p)
{
	if (refcount_dec_and_test(&p->ref))
		kfree_rcu(p, rcu);
}

/**
 * fl_prefix_forget() - a flow lets go of its profile
 * @f: the flow
 *
 * Context: socket lock held, or nobody uses @f.
 */
void fl_prefix_forget(struct fl_sock *f)
{
	struct fl_prefix *p = f->prefix;

	if (!p)
		return;
	WRITE_ONCE(f->prefix, NULL);
	atomic_dec(&p->flows);
	fl_prefix_put(p);
}

/**
 * fl_prefix_find() - choose the profile of a flow
 * @sk: the socket
 * @f: its settings
 *
 * Context: any, socket lock held.
 * Return: the profile, valid until the next call for @f.
 */
const struct fl_profile *fl_prefix_find(const struct sock *sk,
					struct fl_sock *f)
{
	struct fl_ns *ns = f->ns;
	struct fl_prefix *p;
	struct fl_tuple t;
	u32 gen;

	/* pairs with the release in fl_prefixes_changed() */
	gen = smp_load_acquire(&ns->prefix_gen);
	fl_prefix_forget(f);
	fl_tuple_of(sk, &t);
	rcu_read_lock();
	list_for_each_entry_rcu(p, &ns->prefixes, list) {
		if (p->addr.family != t.family ||
		    !ipv6_prefix_equal(&t.remote, &p->addr.remote, p->bits) ||
		    !refcount_inc_not_zero(&p->ref))
			continue;
		atomic_inc(&p->flows);
		WRITE_ONCE(f->prefix, p);
		break;
	}
	rcu_read_unlock();
	f->prefix_gen = gen;
	return f->prefix ? &f->prefix->profile : ns->profile;
}

/* A generation that no other profile has. Context: any. */
u32 fl_profile_next_gen(void)
{
	static atomic_t last;

	return atomic_inc_return(&last);
}

/* What is in force, from its own settings and the namespace's. */
static void fl_prefix_compute(struct fl_prefix *p)
{
	const struct fl_profile *whole = fl_ns_of(p->net)->profile;
	const struct fl_profile *from;
	size_t i;

	for (i = 0; i < FL_SETTINGS_MAX; i++) {
		from = p->present & BIT_ULL(i) ? &p->own : whole;
		WRITE_ONCE(p->profile.value[i], READ_ONCE(from->value[i]));
	}
	/* pairs with fl_profile_gen() */
	smp_store_release(&p->profile.gen, fl_profile_next_gen());
}

/**
 * fl_prefix_rebase() - the namespace's settings have changed
 * @net: the namespace
 *
 * Context: process.
 */
void fl_prefix_rebase(struct net *net)
{
	struct fl_ns *ns = fl_ns_of(net);
	struct fl_prefix *p;

	mutex_lock(&ns->prefix_lock);
	list_for_each_entry(p, &ns->prefixes, list)
		fl_prefix_compute(p);
	mutex_unlock(&ns->prefix_lock);
}

/**
 * fl_prefix_forget_settings() - some settings are there no more
 * @net: the namespace
 * @which: bits of their numbers
 *
 * Context: process.
 */
void fl_prefix_forget_settings(struct net *net, u64 which)
{
	struct fl_ns *ns = fl_ns_of(net);
	struct fl_prefix *p;

	mutex_lock(&ns->prefix_lock);
	list_for_each_entry(p, &ns->prefixes, list)
		p->present &= ~which;
	mutex_unlock(&ns->prefix_lock);
}

/**
 * fl_prefix_new() - a profile that sets nothing yet
 * @net: the namespace
 * @t: the prefix, as in struct fl_prefix
 * @bits: its length
 *
 * Context: process. Return: not in any list; NULL without memory.
 */
struct fl_prefix *fl_prefix_new(struct net *net, const struct fl_tuple *t,
				u8 bits)
{
	struct fl_prefix *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	INIT_LIST_HEAD(&p->list);
	refcount_set(&p->ref, 1);
	p->net = net;
	p->addr = *t;
	p->bits = bits;
	p->profile = *fl_ns_of(net)->profile;
	return p;
}

/* The profile of exactly this prefix. Context: generic netlink's lock. */
struct fl_prefix *fl_prefix_named(struct fl_ns *ns, const struct fl_tuple *t,
				  u8 bits)
{
	struct fl_prefix *p;

	list_for_each_entry(p, &ns->prefixes, list)
		if (p->bits == bits && p->addr.family == t->family &&
		    ipv6_addr_equal(&p->addr.remote, &t->remote))
			return p;
	return NULL;
}

/* Flows are to look again. 0 stays the mark of a namespace without any. */
static void fl_prefixes_changed(struct fl_ns *ns)
{
	u32 gen = ns->prefix_gen + 1;

	/* pairs with fl_prefix_find() */
	smp_store_release(&ns->prefix_gen, gen ?: 1);
}

/**
 * fl_prefix_insert() - put a profile where it belongs, or compute it anew
 * @ns: the namespace
 * @new: the profile, in the list already or not
 *
 * Context: process, generic netlink's lock.
 */
void fl_prefix_insert(struct fl_ns *ns, struct fl_prefix *new)
{
	struct fl_prefix *p;

	mutex_lock(&ns->prefix_lock);
	fl_prefix_compute(new);
	if (list_empty(&new->list)) {
		list_for_each_entry(p, &ns->prefixes, list)
			if (p->bits < new->bits)
				break;
		list_add_tail_rcu(&new->list, &p->list);
		ns->prefix_count++;
		fl_prefixes_changed(ns);
	}
	mutex_unlock(&ns->prefix_lock);
}

/* Context: process, generic netlink's lock. */
void fl_prefix_remove(struct fl_ns *ns, struct fl_prefix *p)
{
	mutex_lock(&ns->prefix_lock);
	list_del_rcu(&p->list);
	ns->prefix_count--;
	fl_prefixes_changed(ns);
	mutex_unlock(&ns->prefix_lock);
	fl_prefix_put(p);
}

/* Context: process, the namespace goes: no flow is left in it. */
void fl_prefix_net_exit(struct fl_ns *ns)
{
	struct fl_prefix *p, *next;

	list_for_each_entry_safe(p, next, &ns->prefixes, list)
		fl_prefix_remove(ns, p);
}
