// SPDX-License-Identifier: GPL-2.0
/*
 * Limits over netlink: ceilings and budgets are set, and sockets that have settings are
 * brought under them at once. fl_limit.c says what they mean.
 */
#include <net/genetlink.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "fl_control.h"

static void fl_limit_write(struct fl_ns *ns, u32 *limit, u32 what,
			   const struct nlattr *nla)
{
	struct fl_event ev = { .kind = FL_EVENT_LIMIT, .what = what };

	if (!nla || *limit == nla_get_u32(nla))
		return;
	ev.old = *limit;
	ev.new = nla_get_u32(nla);
	ev.new_from = FL_FROM_NETLINK;
	WRITE_ONCE(*limit, ev.new);
	fl_event_send(ns, &ev);
}

/* Limits have changed: to each socket that has settings they apply again. Context:
 * process.
 */
static void fl_limit_reapply(struct fl_ns *ns)
{
	unsigned long cookie = 0;
	struct fl_sock *f;
	struct sock *sk;
	u32 changed;

	for (;;) {
		changed = 0;
		rcu_read_lock();
		f = xa_find_after(&ns->flows, &cookie, ULONG_MAX, XA_PRESENT);
		sk = f ? fl_sock_hold(f) : NULL;
		if (sk) {
			spin_lock_bh(&f->lock);
			changed = fl_attr_commit(sk, f);
			spin_unlock_bh(&f->lock);
		}
		rcu_read_unlock();
		if (!f)
			break;
		if (changed)
			fl_sock_tell(sk);
		if (sk)
			sock_put(sk);
		cond_resched();
	}
}

/* Ceilings act on live sockets too, at once. Context: process. */
int fl_limit_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_ns *ns = fl_ns_of(genl_info_net(info));
	struct nlattr *weight = info->attrs[FL_A_LIMIT_WEIGHT_MAX_MILLI];
	struct nlattr *budget = info->attrs[FL_A_LIMIT_BUDGET_UID_MILLI];
	struct nlattr *prio = info->attrs[FL_A_LIMIT_PRIORITY_MAX];

	if (!prio && !weight && !budget) {
		NL_SET_ERR_MSG(info->extack, "no limit given");
		return -EINVAL;
	}
	if (weight && (!nla_get_u32(weight) ||
		       nla_get_u32(weight) > FL_WEIGHT_MAX_MILLI)) {
		NL_SET_ERR_MSG_ATTR(info->extack, weight,
				    "weight is not in 1..1000000 thousandths");
		return -ERANGE;
	}
	fl_limit_write(ns, &ns->priority_max, FL_A_LIMIT_PRIORITY_MAX, prio);
	fl_limit_write(ns, &ns->weight_max_milli, FL_A_LIMIT_WEIGHT_MAX_MILLI,
		       weight);
	fl_limit_write(ns, &ns->budget_uid_milli, FL_A_LIMIT_BUDGET_UID_MILLI,
		       budget);
	fl_limit_reapply(ns);
	return 0;
}

/* Whom a request is about. Return: FL_PAYS_*, or an error. */
static int fl_budget_whom(struct genl_info *info, kuid_t *uid, u64 *cgroup)
{
	struct nlattr *nla = info->attrs[FL_A_BUDGET_UID];
	int err = fl_cgroup_named(info, FL_A_BUDGET_CGROUP,
				  FL_A_BUDGET_CGROUP_ID, cgroup);

	*uid = INVALID_UID;
	if (err)
		return err;
	if (!nla == !*cgroup) {
		NL_SET_ERR_MSG(info->extack, "give a uid or a cgroup");
		return -EINVAL;
	}
	if (!nla)
		return FL_PAYS_CGROUP;
	*uid = make_kuid(genl_info_net(info)->user_ns, nla_get_u32(nla));
	if (uid_valid(*uid))
		return FL_PAYS_UID;
	NL_SET_ERR_MSG_ATTR(info->extack, nla,
			    "no such uid in this user namespace");
	return -EINVAL;
}

/* Write a budget, 0 = none any more. */
static int fl_budget_write(struct genl_info *info, u32 milli)
{
	struct fl_ns *ns = fl_ns_of(genl_info_net(info));
	struct nlattr *path = info->attrs[FL_A_BUDGET_CGROUP];
	struct fl_event ev = { .kind = FL_EVENT_BUDGET, .new = milli };
	u64 cgroup;
	int kind, err;
	kuid_t uid;

	kind = fl_budget_whom(info, &uid, &cgroup);
	if (kind < 0)
		return kind;
	err = fl_limit_budget(ns, kind,
			      kind == FL_PAYS_UID ? __kuid_val(uid) : cgroup,
			      path ? nla_data(path) : "", milli, &ev.old,
			      info->extack);
	if (err)
		return err;
	ev.new_from = FL_FROM_NETLINK;
	ev.has_uid = kind == FL_PAYS_UID;
	if (ev.has_uid)
		ev.uid_of = nla_get_u32(info->attrs[FL_A_BUDGET_UID]);
	ev.cgroup_id = cgroup;
	fl_event_send(ns, &ev);
	/* who pays may be another now */
	fl_limit_reapply(ns);
	return 0;
}

/* Context: process. */
int fl_budget_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	if (!info->attrs[FL_A_BUDGET_MILLI]) {
		NL_SET_ERR_MSG(info->extack, "no budget given");
		return -EINVAL;
	}
	return fl_budget_write(info,
			       nla_get_u32(info->attrs[FL_A_BUDGET_MILLI]));
}

/* Context: process. */
int fl_budget_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return fl_budget_write(info, 0);
}
