// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "fairlane": commands, who may use them, counters.
 *
 * The ABI is in include/uapi/linux/fairlane.h, the same for programs in
 * Documentation/netlink/specs/fairlane.yaml. Attributes are checked strictly:
 * an unknown or malformed one is refused.
 *
 * Commands run one at a time in each namespace, under a lock of the namespace, not under
 * generic netlink's: who is root in a container may make a request take long, and
 * whoever else talks to any family would wait for it.
 */
#include <linux/module.h>
#include <net/genetlink.h>

#include "compat/compat.h"
#include "fl_control.h"

/* Longest path of a cgroup, so that a policy fits into a message. */
#define FL_PATH_LEN	1024

static const struct nla_policy fl_policy_nla[FL_A_POLICY_MAX + 1] = {
	[FL_A_POLICY_ORDER] = NLA_POLICY_MIN(NLA_U32, 1),
	[FL_A_POLICY_WHEN] = NLA_POLICY_RANGE(NLA_U32, 1, 3),
	[FL_A_POLICY_FAMILY] = { .type = NLA_U8 },
	[FL_A_POLICY_LADDR] = { .type = NLA_BINARY, .len = 16 },
	[FL_A_POLICY_LADDR_BITS] = NLA_POLICY_MAX(NLA_U8, 128),
	[FL_A_POLICY_RADDR] = { .type = NLA_BINARY, .len = 16 },
	[FL_A_POLICY_RADDR_BITS] = NLA_POLICY_MAX(NLA_U8, 128),
	[FL_A_POLICY_LPORT_MIN] = { .type = NLA_U16 },
	[FL_A_POLICY_LPORT_MAX] = { .type = NLA_U16 },
	[FL_A_POLICY_RPORT_MIN] = { .type = NLA_U16 },
	[FL_A_POLICY_RPORT_MAX] = { .type = NLA_U16 },
	[FL_A_POLICY_UID_MIN] = { .type = NLA_U32 },
	[FL_A_POLICY_UID_MAX] = { .type = NLA_U32 },
	[FL_A_POLICY_CGROUP] = { .type = NLA_NUL_STRING, .len = FL_PATH_LEN - 1 },
	[FL_A_POLICY_CGROUP_ID] = { .type = NLA_U64 },
	[FL_A_POLICY_CC] = { .type = NLA_NUL_STRING, .len = 15 },
	[FL_A_POLICY_PRIORITY] = { .type = NLA_U32 },
	[FL_A_POLICY_WEIGHT_MILLI] = { .type = NLA_U32 },
	[FL_A_POLICY_BASE_RTT_NS] = { .type = NLA_U32 },
	[FL_A_POLICY_LINE_RATE_MBPS] = { .type = NLA_U32 },
	[FL_A_POLICY_DEADLINE_US] = { .type = NLA_U32 },
	[FL_A_POLICY_ALL] = { .type = NLA_FLAG },
	[FL_A_POLICY_REPLACE] = { .type = NLA_FLAG },
	[FL_A_POLICY_COMMENT] = { .type = NLA_NUL_STRING,
				  .len = FL_COMMENT_LEN - 1 },
	[FL_A_POLICY_DSCP] = NLA_POLICY_MAX(NLA_U8, 63),
};

static const struct nla_policy fl_setting_nla[FL_A_SETTING_MAX + 1] = {
	[FL_A_SETTING_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[FL_A_SETTING_VALUE] = { .type = NLA_U32 },
};

static const struct nla_policy fl_profile_nla[FL_A_PROFILE_MAX + 1] = {
	[FL_A_PROFILE_FAMILY] = { .type = NLA_U8 },
	[FL_A_PROFILE_ADDR] = { .type = NLA_BINARY, .len = 16 },
	[FL_A_PROFILE_BITS] = NLA_POLICY_MAX(NLA_U8, 128),
	[FL_A_PROFILE_SETTING] = NLA_POLICY_NESTED(fl_setting_nla),
};

static const struct nla_policy fl_limit_nla[FL_A_LIMIT_MAX + 1] = {
	[FL_A_LIMIT_PRIORITY_MAX] = NLA_POLICY_MAX(NLA_U32, FL_PRIORITY_MAX),
	[FL_A_LIMIT_WEIGHT_MAX_MILLI] = { .type = NLA_U32 },
	[FL_A_LIMIT_BUDGET_UID_MILLI] = { .type = NLA_U32 },
};

static const struct nla_policy fl_budget_nla[FL_A_BUDGET_MAX + 1] = {
	[FL_A_BUDGET_UID] = { .type = NLA_U32 },
	[FL_A_BUDGET_CGROUP] = { .type = NLA_NUL_STRING, .len = FL_PATH_LEN - 1 },
	[FL_A_BUDGET_CGROUP_ID] = { .type = NLA_U64 },
	[FL_A_BUDGET_MILLI] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* Context: process. */
static int fl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_ns *ns = fl_ns_of(genl_info_net(info));
	struct sk_buff *reply;
	void *head;
	int i;

	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	head = genlmsg_put_reply(reply, info, fl_family, 0,
				 FL_CMD_STATS_GET);
	if (!head)
		goto full;
	for (i = FL_A_STAT_FLOWS; i <= FL_A_STAT_MAX; i++)
		if (i != FL_A_STAT_VERSION && i != FL_A_STAT_OFF && i != FL_A_STAT_SHARE &&
		    fl_put_u64(reply, i, atomic64_read(&ns->stats[i])))
			goto full;
	if (nla_put_string(reply, FL_A_STAT_VERSION, THIS_MODULE->version) ||
	    fl_put_u64(reply, FL_A_STAT_OFF, READ_ONCE(ns->off.on)) ||
	    fl_put_u64(reply, FL_A_STAT_SHARE, READ_ONCE(ns->off.share_permille)))
		goto full;
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);

full:
	nlmsg_free(reply);
	return -EMSGSIZE;
}

static int fl_pre_doit(FL_GENL_OPS *ops, struct sk_buff *skb,
		       struct genl_info *info)
{
	return mutex_lock_interruptible(&fl_ns_of(genl_info_net(info))->requests);
}

static void fl_post_doit(FL_GENL_OPS *ops, struct sk_buff *skb,
			 struct genl_info *info)
{
	mutex_unlock(&fl_ns_of(genl_info_net(info))->requests);
}

#define FL_OP(name_, policy_, max_)					\
	.cmd = FL_CMD_##name_, .policy = policy_, .maxattr = max_

static const struct genl_ops fl_genl_ops[] = {
	{
		FL_OP(FLOW_GET, fl_flow_nla, FL_A_FLOW_MAX),
		.doit = fl_flow_get_doit,
		.dumpit = fl_flow_get_dumpit,
	}, {
		/* one's own sockets need no privilege */
		FL_OP(FLOW_SET, fl_flow_nla, FL_A_FLOW_MAX),
		.doit = fl_flow_set_doit,
	}, {
		FL_OP(LIMIT_GET, fl_limit_nla, FL_A_LIMIT_MAX),
		.doit = fl_limit_get_doit,
	}, {
		FL_OP(LIMIT_SET, fl_limit_nla, FL_A_LIMIT_MAX),
		.doit = fl_limit_set_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		FL_OP(BUDGET_GET, fl_budget_nla, FL_A_BUDGET_MAX),
		.dumpit = fl_budget_get_dumpit,
	}, {
		FL_OP(BUDGET_SET, fl_budget_nla, FL_A_BUDGET_MAX),
		.doit = fl_budget_set_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		FL_OP(BUDGET_DEL, fl_budget_nla, FL_A_BUDGET_MAX),
		.doit = fl_budget_del_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		FL_OP(POLICY_GET, fl_policy_nla, FL_A_POLICY_MAX),
		.doit = fl_policy_get_doit,
		.dumpit = fl_policy_get_dumpit,
	}, {
		FL_OP(POLICY_ADD, fl_policy_nla, FL_A_POLICY_MAX),
		.doit = fl_policy_add_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		FL_OP(POLICY_DEL, fl_policy_nla, FL_A_POLICY_MAX),
		.doit = fl_policy_del_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		FL_OP(POLICY_APPLY, fl_policy_nla, FL_A_POLICY_MAX),
		.doit = fl_policy_apply_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		FL_OP(PROFILE_GET, fl_profile_nla, FL_A_PROFILE_MAX),
		.doit = fl_profile_get_doit,
		.dumpit = fl_profile_get_dumpit,
	}, {
		FL_OP(PROFILE_SET, fl_profile_nla, FL_A_PROFILE_MAX),
		.doit = fl_profile_set_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		FL_OP(PROFILE_DEL, fl_profile_nla, FL_A_PROFILE_MAX),
		.doit = fl_profile_del_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		FL_OP(STATS_GET, NULL, 0),
		.doit = fl_stats_get_doit,
	},
};

static const struct genl_multicast_group fl_genl_groups[] = {
	{ .name = FL_GENL_MCGRP_EVENTS, .flags = FL_GENL_MCAST_ADMIN },
};

static struct genl_family fl_genl_family __ro_after_init = {
	.name = FL_GENL_NAME,
	.version = FL_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.pre_doit = fl_pre_doit,
	.post_doit = fl_post_doit,
	.module = THIS_MODULE,
	.ops = fl_genl_ops,
	.n_ops = ARRAY_SIZE(fl_genl_ops),
	.mcgrps = fl_genl_groups,
	.n_mcgrps = ARRAY_SIZE(fl_genl_groups),
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_genl_init(void)
{
	int err;

	fl_family = &fl_genl_family;
	err = genl_register_family(&fl_genl_family);
	if (err)
		return err;
	/* after fl_family: pairs with fl_event_multicast() */
	smp_store_release(&fl_event_open, true);
	return 0;
}

/* Context: process, module unload. */
void fl_genl_exit(void)
{
	/* sockets that go still tell; the number of the group may be another's soon */
	WRITE_ONCE(fl_event_open, false);
	synchronize_rcu();
	genl_unregister_family(&fl_genl_family);
}
