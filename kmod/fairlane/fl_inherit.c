// SPDX-License-Identifier: GPL-2.0
/*
 * A new network namespace begins with what the first one has: settings, profiles,
 * policies, ceilings and budgets, before it has a device or a socket. So containers
 * come with what the operator has said of the host's network, and nobody has to be told
 * of each. Later the two know nothing of each other.
 *
 * Policies that name uids, and budgets of uids, stay behind where uids are others: in a namespace
 * of another user namespace. What is copied is charged to who makes the namespace.
 *
 * Namespaces that are there when fairlane.ko is loaded find nothing to copy.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "fl_policy.h"
#include "fl_prefix.h"

static int fl_inherit_policies(struct fl_ns *ns, const struct fl_ns *first)
{
	const struct fl_policy *from;
	struct fl_policy *p;

	list_for_each_entry(from, &first->policies, list) {
		if (from->has_uid && ns->net->user_ns != first->net->user_ns)
			continue;
		p = kmemdup(from, sizeof(*p), GFP_KERNEL_ACCOUNT);
		if (!p)
			return -ENOMEM;
		atomic64_set(&p->hits, 0);
		if (from->path) {
			p->path = kstrdup(from->path, GFP_KERNEL_ACCOUNT);
			if (!p->path) {
				kfree(p);
				return -ENOMEM;
			}
		}
		list_add_tail_rcu(&p->list, &ns->policies);
		ns->policy_count++;
	}
	return 0;
}

/* Context: fl_settings_lock held. */
static int fl_inherit_prefixes(struct fl_ns *ns, const struct fl_ns *first)
{
	const struct fl_prefix *from;
	struct fl_prefix *p;

	list_for_each_entry(from, &first->prefixes, list) {
		p = fl_prefix_new(ns->net, &from->addr, from->bits);
		if (!p)
			return -ENOMEM;
		p->own = from->own;
		p->present = from->present;
		fl_prefix_insert(ns, p);
	}
	return 0;
}

/* What the first namespace has. Context: its requests are held. */
static int fl_inherit_all(struct fl_ns *ns, struct fl_ns *first)
{
	int err;

	mutex_lock(&fl_settings_lock);
	fl_profile_inherit(ns->net);
	err = fl_inherit_prefixes(ns, first);
	mutex_unlock(&fl_settings_lock);
	return err ?: fl_inherit_policies(ns, first) ?:
	       fl_limit_inherit(ns, first);
}

/* What it has copied before an error goes with the namespace. */
static int __net_init fl_inherit_net_init(struct net *net)
{
	struct fl_ns *first = fl_ns_of(&init_net);
	int err;

	if (net_eq(net, &init_net))
		return 0;
	mutex_lock(&first->requests);
	err = fl_inherit_all(fl_ns_of(net), first);
	mutex_unlock(&first->requests);
	return err;
}

static struct pernet_operations fl_inherit_net_ops = {
	.init = fl_inherit_net_init,
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_inherit_init(void)
{
	return register_pernet_subsys(&fl_inherit_net_ops);
}

/* Context: process, module unload. */
void fl_inherit_exit(void)
{
	unregister_pernet_subsys(&fl_inherit_net_ops);
}
