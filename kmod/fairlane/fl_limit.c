// SPDX-License-Identifier: GPL-2.0
/*
 * What users without CAP_NET_ADMIN may do to the others.
 *
 * Ceilings: the best priority and the largest weight of a namespace. fl_attr.c
 * applies them, when something is set and again when they change.
 *
 * Budgets (Soeze, section 3.4: each application has a total weight that it can
 * distribute across flows; who raises one flow lowers others): the weights of
 * all sockets of a uid, and of all in a cgroup and below, add up to at most so
 * much. Counted is each socket that was given a weight, and each whose
 * congestion control goes by weight. A socket counts for its owner, whoever
 * holds it: neither fork() nor passing descriptors makes new weight. Opening
 * sockets is never refused, and a weight of less than one gives no credit
 * beyond that socket's own share, so idle sockets are worth nothing.
 *
 * A charge is checked and made under one lock: there is nothing to race for.
 * With privilege, weights are charged but not refused; so are those of
 * policies.
 */
#include <linux/cgroup.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "compat/compat.h"
#include "fl_control.h"

/**
 * struct fl_account_key - whose account
 * @ns: the namespace
 * @id: the uid or the cgroup's id
 * @kind: FL_PAYS_*
 */
struct fl_account_key {
	const struct fl_ns *ns;
	u64 id;
	u64 kind;
};

/**
 * struct fl_account - weights of a uid or a cgroup
 * @node: in fl_accounts, by @key
 * @key: whose
 * @list: in fl_ns.accounts
 * @rcu: look-ups for other namespaces pass by
 * @budget_milli: at most, thousandths; 0 = no budget of its own
 * @used_milli: sum of the weights
 * @flows: sockets counted
 * @path: of the cgroup, as it was named
 *
 * Everything but @node and @rcu is under fl_ns.account_lock.
 */
struct fl_account {
	struct rhash_head node;
	struct fl_account_key key;
	struct list_head list;
	struct rcu_head rcu;
	u32 budget_milli;
	u64 used_milli;
	u32 flows;
	char path[];
};

/* Of all namespaces. Who is root in one chooses its uids and cgroups: the hash has a
 * seed, and tables grow.
 */
static struct rhashtable fl_accounts;

static const struct rhashtable_params fl_accounts_params = {
	.key_len = sizeof(struct fl_account_key),
	.key_offset = offsetof(struct fl_account, key),
	.head_offset = offsetof(struct fl_account, node),
	.automatic_shrinking = true,
};

/* Context: ns->account_lock held. */
static struct fl_account *fl_account_of(const struct fl_ns *ns, u8 kind, u64 id)
{
	const struct fl_account_key key = { .ns = ns, .id = id, .kind = kind };

	return rhashtable_lookup_fast(&fl_accounts, &key, fl_accounts_params);
}

/* The nearest cgroup above the socket that has a budget. One that had is there as long as
 * it has sockets, and has no say. Context: ns->account_lock held.
 */
static struct fl_account *fl_account_above(const struct fl_ns *ns,
					   const struct sock *sk)
{
#ifdef FL_SOCK_CGROUP
	struct cgroup *cg = sock_cgroup_ptr((struct sock_cgroup_data *)
					    &sk->sk_cgrp_data);
	struct fl_account *a;

	for (; ns->budget_cgroups && cg; cg = cgroup_parent(cg)) {
		a = fl_account_of(ns, FL_PAYS_CGROUP, cgroup_id(cg));
		if (a && a->budget_milli)
			return a;
	}
#endif
	return NULL;
}

/* Context: ns->account_lock held. */
static struct fl_account *fl_account_new(struct fl_ns *ns, u8 kind, u64 id,
					 const char *path)
{
	size_t len = strlen(path) + 1;
	struct fl_account *a;

	a = kzalloc(struct_size(a, path, len),
		    GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!a)
		return NULL;
	a->key = (struct fl_account_key){ .ns = ns, .id = id, .kind = kind };
	memcpy(a->path, path, len);
	if (rhashtable_insert_fast(&fl_accounts, &a->node, fl_accounts_params)) {
		kfree(a);
		return NULL;
	}
	list_add_tail(&a->list, &ns->accounts);
	return a;
}

static void fl_account_free(struct fl_account *a)
{
	rhashtable_remove_fast(&fl_accounts, &a->node, fl_accounts_params);
	list_del(&a->list);
	kfree_rcu(a, rcu);
}

/* Nobody uses it and nobody has set it: forget it. */
static void fl_account_tidy(struct fl_account *a)
{
	if (!a->flows && !a->budget_milli)
		fl_account_free(a);
}

static u32 fl_account_budget(const struct fl_ns *ns, const struct fl_account *a)
{
	if (a->budget_milli || a->key.kind != FL_PAYS_UID)
		return a->budget_milli;
	return READ_ONCE(ns->budget_uid_milli);
}

static void fl_account_drop(struct fl_sock *f)
{
	struct fl_account *a;
	int i;

	for (i = 0; i < ARRAY_SIZE(f->account); i++) {
		a = f->account[i];
		f->account[i] = NULL;
		if (!a)
			continue;
		a->used_milli -= f->charged_milli;
		a->flows--;
		fl_account_tidy(a);
	}
	f->charged_milli = 0;
}

/* May the accounts of a flow take @milli instead of what they have? */
static bool fl_account_allows(const struct fl_ns *ns, const struct fl_sock *f,
			      struct fl_account *const *pays, u32 milli)
{
	u32 budget, i;
	u64 rest;

	for (i = 0; i < ARRAY_SIZE(f->account); i++) {
		if (!pays[i])
			continue;
		budget = fl_account_budget(ns, pays[i]);
		rest = pays[i]->used_milli;
		if (f->account[i] == pays[i])
			rest -= f->charged_milli;
		if (budget && rest + milli > budget)
			return false;
	}
	return true;
}

/**
 * fl_limit_charge() - let a socket's owner pay for a weight
 * @sk: the socket
 * @f: its settings
 * @milli: the weight that counts, thousandths; 0 = does not count any more
 * @enforce: refuse what exceeds the budget
 *
 * Who pays is decided anew: there may be other budgets now. The cgroup is the one in which the
 * socket was made: with cgroup v2 sockets do not move with their process.
 * Context: any, @f->lock held. Return: 0, or -EDQUOT and nothing changed.
 */
int fl_limit_charge(struct sock *sk, struct fl_sock *f, u32 milli,
		    bool enforce)
{
	struct fl_account *pays[2] = { };
	struct fl_ns *ns = f->ns;
	int i, err = 0;
	u32 uid;

	if (!milli && !f->charged_milli)
		return 0;
	spin_lock_bh(&ns->account_lock);
	if (!milli) {
		fl_account_drop(f);
		goto unlock;
	}
	uid = __kuid_val(sk->sk_uid);
	pays[FL_PAYS_UID] = fl_account_of(ns, FL_PAYS_UID, uid) ?:
			    fl_account_new(ns, FL_PAYS_UID, uid, "");
	/* nobody to pay, nothing to have */
	if (!pays[FL_PAYS_UID])
		err = enforce ? -ENOMEM : 0;
	pays[FL_PAYS_CGROUP] = fl_account_above(ns, sk);
	if (!err && enforce && milli > f->charged_milli &&
	    !fl_account_allows(ns, f, pays, milli))
		err = -EDQUOT;
	if (err)
		goto tidy;
	for (i = 0; i < ARRAY_SIZE(pays); i++) {
		if (!pays[i])
			continue;
		pays[i]->flows++;
		pays[i]->used_milli += milli;
	}
	fl_account_drop(f);
	memcpy(f->account, pays, sizeof(pays));
	f->charged_milli = milli;
	goto unlock;

tidy:
	if (pays[FL_PAYS_UID])
		fl_account_tidy(pays[FL_PAYS_UID]);
unlock:
	spin_unlock_bh(&ns->account_lock);
	return err;
}

/* The socket ends. Context: any, @f->lock held. */
void fl_limit_release(struct fl_sock *f)
{
	if (!READ_ONCE(f->charged_milli))
		return;
	spin_lock_bh(&f->ns->account_lock);
	fl_account_drop(f);
	spin_unlock_bh(&f->ns->account_lock);
}

/* Has any uid a budget? Context: any. */
bool fl_limit_of_uids(const struct fl_ns *ns)
{
	return READ_ONCE(ns->budget_uid_milli) ||
	       READ_ONCE(ns->budget_count) != READ_ONCE(ns->budget_cgroups);
}

/* Does another uid pay for the socket than its owner? Context: @f->lock held. */
bool fl_limit_is_others(const struct sock *sk, const struct fl_sock *f)
{
	const struct fl_account *a = f->account[FL_PAYS_UID];

	return a && a->key.id != __kuid_val(sk->sk_uid);
}

void fl_limit_net_init(struct fl_ns *ns)
{
	INIT_LIST_HEAD(&ns->accounts);
	spin_lock_init(&ns->account_lock);
	ns->priority_max = FL_LIMIT_PRIORITY;
	ns->weight_max_milli = FL_LIMIT_WEIGHT_MILLI;
}

/* The account to have a budget. An unprivileged user is the administrator of namespaces
 * of his own: there must be an end to what he can make the kernel keep. Context:
 * account_lock held. Return: NULL without memory, or an error.
 */
static struct fl_account *fl_budget_account(struct fl_ns *ns, int kind, u64 id,
					    const char *path, u32 milli,
					    struct netlink_ext_ack *extack)
{
	struct fl_account *a = fl_account_of(ns, kind, id);
	bool has = a && a->budget_milli;

	if (!milli && !has) {
		NL_SET_ERR_MSG(extack, "it has no budget");
		return ERR_PTR(-ENOENT);
	}
	if (!has && ns->budget_count >= FL_BUDGET_COUNT_MAX) {
		NL_SET_ERR_MSG(extack, "too many budgets");
		return ERR_PTR(-ENOSPC);
	}
	if (!a)
		a = fl_account_new(ns, kind, id, path);
	if (!a)
		return NULL;
	ns->budget_count += !!milli - has;
	if (kind == FL_PAYS_CGROUP)
		ns->budget_cgroups += !!milli - has;
	return a;
}

/**
 * fl_limit_inherit() - a new namespace's limits are those of another
 * @ns: the namespace, which nobody knows yet
 * @from: the other; its requests are held
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int fl_limit_inherit(struct fl_ns *ns, struct fl_ns *from)
{
	struct fl_account *a, *b;
	int err = 0;

	ns->priority_max = from->priority_max;
	ns->weight_max_milli = from->weight_max_milli;
	ns->budget_uid_milli = from->budget_uid_milli;
	spin_lock_bh(&from->account_lock);
	spin_lock_nested(&ns->account_lock, SINGLE_DEPTH_NESTING);
	list_for_each_entry(a, &from->accounts, list) {
		if (!a->budget_milli)
			continue;
		if (a->key.kind == FL_PAYS_UID && ns->net->user_ns != from->net->user_ns)
			continue;
		b = fl_budget_account(ns, a->key.kind, a->key.id, a->path,
				      a->budget_milli, NULL);
		if (IS_ERR_OR_NULL(b)) {
			err = -ENOMEM;
			break;
		}
		b->budget_milli = a->budget_milli;
	}
	spin_unlock(&ns->account_lock);
	spin_unlock_bh(&from->account_lock);
	return err;
}

/* Context: no flow is left in the namespace. */
void fl_limit_net_exit(struct fl_ns *ns)
{
	struct fl_account *a, *next;

	list_for_each_entry_safe(a, next, &ns->accounts, list)
		fl_account_free(a);
}

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_limit_init(void)
{
	return rhashtable_init(&fl_accounts, &fl_accounts_params);
}

/* Context: process, module unload, no namespace is left. */
void fl_limit_exit(void)
{
	rhashtable_destroy(&fl_accounts);
}

/* Context: process. */
int fl_limit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_ns *ns = fl_ns_of(genl_info_net(info));
	struct sk_buff *reply;
	void *head;

	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	head = genlmsg_put_reply(reply, info, fl_family, 0,
				 FL_CMD_LIMIT_GET);
	if (!head ||
	    nla_put_u32(reply, FL_A_LIMIT_PRIORITY_MAX,
			READ_ONCE(ns->priority_max)) ||
	    nla_put_u32(reply, FL_A_LIMIT_WEIGHT_MAX_MILLI,
			READ_ONCE(ns->weight_max_milli)) ||
	    nla_put_u32(reply, FL_A_LIMIT_BUDGET_UID_MILLI,
			READ_ONCE(ns->budget_uid_milli))) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}

/**
 * fl_limit_budget() - give or take a budget
 * @ns: the namespace
 * @kind: FL_PAYS_*: what @id is of
 * @id: the uid or the cgroup's id
 * @path: of the cgroup, "" where it was not named by a path
 * @milli: the budget, thousandths; 0 = none any more
 * @old: what it was
 * @extack: where to say why not
 *
 * Context: process. Sockets pay by it once fl_attr_commit() has looked at them.
 * Return: 0, -ENOENT nothing to take, -ENOSPC too many budgets, -ENOMEM.
 */
int fl_limit_budget(struct fl_ns *ns, int kind, u64 id, const char *path,
		    u32 milli, u32 *old, struct netlink_ext_ack *extack)
{
	struct fl_account *a;

	spin_lock_bh(&ns->account_lock);
	a = fl_budget_account(ns, kind, id, path, milli, extack);
	if (!IS_ERR_OR_NULL(a)) {
		*old = a->budget_milli;
		a->budget_milli = milli;
		fl_account_tidy(a);
	}
	spin_unlock_bh(&ns->account_lock);
	return a ? PTR_ERR_OR_ZERO(a) : -ENOMEM;
}

static int fl_budget_put(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct fl_ns *ns, const struct fl_account *a)
{
	void *head;

	head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   fl_family, NLM_F_MULTI, FL_CMD_BUDGET_GET);
	if (!head)
		return -EMSGSIZE;
	if ((a->key.kind == FL_PAYS_UID ?
	     nla_put_u32(skb, FL_A_BUDGET_UID,
			 from_kuid_munged(ns->net->user_ns,
					  KUIDT_INIT(a->key.id))) :
	     (fl_put_u64(skb, FL_A_BUDGET_CGROUP_ID, a->key.id) ||
	      (a->path[0] && nla_put_string(skb, FL_A_BUDGET_CGROUP,
					    a->path)))) ||
	    nla_put_u32(skb, FL_A_BUDGET_MILLI, a->budget_milli) ||
	    fl_put_u64(skb, FL_A_BUDGET_USED_MILLI, a->used_milli) ||
	    nla_put_u32(skb, FL_A_BUDGET_FLOWS, a->flows)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

/* Accounts in their order; those that come or go in between may be missed or
 * shown twice. Context: process.
 */
int fl_budget_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct fl_ns *ns = fl_ns_of(sock_net(cb->skb->sk));
	struct fl_account *a;
	long i = 0;
	int err = 0;

	spin_lock_bh(&ns->account_lock);
	list_for_each_entry(a, &ns->accounts, list) {
		if (i++ < cb->args[0])
			continue;
		err = fl_budget_put(skb, cb, ns, a);
		if (err)
			break;
		cb->args[0] = i;
	}
	spin_unlock_bh(&ns->account_lock);
	return skb->len ?: err;
}
