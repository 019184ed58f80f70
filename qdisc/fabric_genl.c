// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: switches over generic netlink: what is congested and what waits. What is told
 * of paths, fabric_path.c takes.
 */
#include <net/genetlink.h>

#include "fabric_isolate.h"

static const struct nla_policy fabric_genl_policy[FABRIC_A_MAX + 1] = {
	[FABRIC_A_PAD]		= { .type = NLA_FLAG },
	[FABRIC_A_SWITCH]	= { .type = NLA_U32 },
	[FABRIC_A_SIZES]	= NLA_POLICY_EXACT_LEN(sizeof(struct fabric_table_sizes)),
	[FABRIC_A_PART]		= NLA_POLICY_RANGE(NLA_U8, 1, FABRIC_PART_MAX),
	[FABRIC_A_OFFSET]	= { .type = NLA_U32 },
	[FABRIC_A_ENTRIES]	= { .type = NLA_BINARY },
};

static int fabric_genl_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, FABRIC_A_PAD);
}

/* What a switch has counted. Context: its lock. */
static void fabric_genl_count(const struct fabric_isolate *iso, u64 *count)
{
	const struct pyr_stats *s = &iso->sw.stats;
	const struct fabric_pfc *pfc = &iso->pfc;
	const u64 now[FABRIC_COUNT_MAX + 1] = {
		[FABRIC_COUNT_PAUSE] = s->sent[PYR_PAUSE],
		[FABRIC_COUNT_RESUME] = s->sent[PYR_RESUME],
		[FABRIC_COUNT_MERGE] = s->sent[PYR_MERGE],
		[FABRIC_COUNT_RELEASE] = s->sent[PYR_RELEASE],
		[FABRIC_COUNT_HEARD] = s->heard[PYR_HEARD_OK],
		[FABRIC_COUNT_NOMINATED] = s->nominated,
		[FABRIC_COUNT_MERGED] = s->merged,
		[FABRIC_COUNT_ASSIGNED] = s->assigned,
		[FABRIC_COUNT_RELEASED] = s->released,
		[FABRIC_COUNT_SHARED] = s->shared,
		[FABRIC_COUNT_EXPIRED] = s->expired,
		[FABRIC_COUNT_FORGOTTEN] = s->forgotten,
		[FABRIC_COUNT_FULL] = s->full,
		[FABRIC_COUNT_ISOLATED] = s->isolated,
		[FABRIC_COUNT_ROOTS_MAX] = s->roots_max,
		[FABRIC_COUNT_QUEUES_MAX] = s->assigned_max,
		[FABRIC_COUNT_NO_PATH] = iso->no_path,
		[FABRIC_COUNT_PFC_PAUSE] = pfc->pauses,
		[FABRIC_COUNT_PFC_RESUME] = pfc->resumes,
		[FABRIC_COUNT_PFC_HEARD] = pfc->heard,
		[FABRIC_COUNT_FORETOLD] = iso->foretold,
		[FABRIC_COUNT_MISTOLD] = iso->mistold,
		[FABRIC_COUNT_REFUSED] = iso->hash.refused,
		[FABRIC_COUNT_HASH_PAUSE] = iso->hash.pauses,
		[FABRIC_COUNT_HASH_RESUME] = iso->hash.resumes,
		[FABRIC_COUNT_HASH_SENT] = iso->hash.sent,
		[FABRIC_COUNT_HASH_HEARD] = iso->hash.heard,
		[FABRIC_COUNT_HASH_EXPIRED] = iso->hash.expired,
		[FABRIC_COUNT_HASH_HELD_NS] = iso->hash.held_ns,
		[FABRIC_COUNT_HASH_USED_MAX] = iso->hash.used_max,
	};
	int i;

	memcpy(count, now, sizeof(now));
	for (i = PYR_HEARD_OK + 1; i < __PYR_HEARD_MAX; i++)
		count[FABRIC_COUNT_REFUSED] += s->heard[i];
	for (i = 0; i < PYR_PORTS_MAX; i++) {
		if (!iso->port[i])
			continue;
		count[FABRIC_COUNT_NO_PATH] += READ_ONCE(iso->port[i]->no_path);
		count[FABRIC_COUNT_FORETOLD] += READ_ONCE(iso->port[i]->foretold);
		count[FABRIC_COUNT_MISTOLD] += READ_ONCE(iso->port[i]->mistold);
		fabric_hash_count(iso->port[i], count);
	}
}

/* Writes what a switch has counted. */
static int fabric_genl_counts(struct sk_buff *skb, const u64 *count)
{
	struct nlattr *nest = nla_nest_start(skb, FABRIC_A_COUNTS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= FABRIC_COUNT_MAX; i++) {
		if (nla_put_u64_64bit(skb, i, count[i], FABRIC_COUNT_UNSPEC))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Writes a switch. Context: fabric_isolates_lock(). */
static int fabric_genl_switch(struct sk_buff *skb, struct fabric_isolate *iso)
{
	const struct fabric_table *t = rcu_dereference_protected(iso->table, true);
	u64 count[FABRIC_COUNT_MAX + 1], ports = 0;
	s32 device[PYR_PORTS_MAX] = { 0 };
	unsigned int i;

	spin_lock_bh(&iso->lock);
	fabric_genl_count(iso, count);
	for (i = 0; i < PYR_PORTS_MAX; i++) {
		if (!iso->port[i])
			continue;
		ports |= BIT_ULL(i);
		device[i] = iso->ifindex[i];
	}
	spin_unlock_bh(&iso->lock);
	return nla_put_u32(skb, FABRIC_A_SWITCH, iso->sw.config.id) ||
	       fabric_genl_u64(skb, FABRIC_A_PORTS, ports) ||
	       nla_put(skb, FABRIC_A_DEVICES, sizeof(device), device) ||
	       nla_put_u32(skb, FABRIC_A_PATHS, t ? t->paths.dests : 0) ||
	       fabric_genl_counts(skb, count);
}

/* Writes a root that the switch knows. */
static int fabric_genl_root(struct sk_buff *skb, struct fabric_isolate *iso,
			    unsigned int slot)
{
	u64 id, parking, paused, told, pausing;
	const struct pyr_root *root = &iso->sw.root[slot];
	u32 packets = 0;
	unsigned int i;
	u8 distance;

	spin_lock_bh(&iso->lock);
	id = root->id;
	distance = root->local == PYR_NONE ? root->distance : 0;
	parking = root->iq;
	paused = root->iq_paused;
	told = root->child;
	pausing = root->child_paused;
	for (i = 0; i < PYR_PORTS_MAX; i++)
		packets += root->out_packets[i];
	spin_unlock_bh(&iso->lock);
	return nla_put_u32(skb, FABRIC_A_SWITCH, iso->sw.config.id) ||
	       fabric_genl_u64(skb, FABRIC_A_ROOT, id) ||
	       nla_put_u8(skb, FABRIC_A_DISTANCE, distance) ||
	       fabric_genl_u64(skb, FABRIC_A_PARKING, parking) ||
	       fabric_genl_u64(skb, FABRIC_A_PAUSED, paused) ||
	       fabric_genl_u64(skb, FABRIC_A_TOLD, told) ||
	       fabric_genl_u64(skb, FABRIC_A_PAUSING, pausing) ||
	       nla_put_u32(skb, FABRIC_A_PARKED_PACKETS, packets);
}

static struct genl_family fabric_genl_family;

/* One message: a switch (@part 0) or its root in slot @part - 1. Return: -EMSGSIZE
 * if there is no room.
 */
static int fabric_genl_message(struct sk_buff *skb, struct netlink_callback *cb,
			       struct fabric_isolate *iso, unsigned int part)
{
	void *head;

	if (part && !READ_ONCE(iso->sw.root[part - 1].used))
		return 0;
	head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   &fabric_genl_family, NLM_F_MULTI,
			   FABRIC_CMD_SWITCH_GET);
	if (!head)
		return -EMSGSIZE;
	if (part ? fabric_genl_root(skb, iso, part - 1) :
		   fabric_genl_switch(skb, iso)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

/* Context: process. args: how many switches and parts have been told. */
static int fabric_genl_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct net *net = sock_net(skb->sk);
	struct fabric_isolate *iso;
	long n = 0;

	fabric_isolates_lock();
	for (iso = fabric_isolate_next(net, NULL); iso;
	     iso = fabric_isolate_next(net, iso), n++) {
		if (n < cb->args[0])
			continue;
		for (; cb->args[1] <= PYR_ROOTS_MAX; cb->args[1]++) {
			if (fabric_genl_message(skb, cb, iso, cb->args[1]))
				goto out;
		}
		cb->args[0]++;
		cb->args[1] = 0;
	}
out:
	fabric_isolates_unlock();
	return skb->len;
}

static const struct genl_ops fabric_genl_ops[] = {
	{
		.cmd	= FABRIC_CMD_SWITCH_GET,
		.dumpit	= fabric_genl_dump,
	},
	{
		.cmd	= FABRIC_CMD_TABLE_NEW,
		.flags	= GENL_UNS_ADMIN_PERM,
		.doit	= fabric_table_new,
	},
	{
		.cmd	= FABRIC_CMD_TABLE_ADD,
		.flags	= GENL_UNS_ADMIN_PERM,
		.doit	= fabric_table_add,
	},
	{
		.cmd	= FABRIC_CMD_TABLE_USE,
		.flags	= GENL_UNS_ADMIN_PERM,
		.doit	= fabric_table_use,
	},
};

static struct genl_family fabric_genl_family __ro_after_init = {
	.name		= FABRIC_GENL_NAME,
	.version	= FABRIC_GENL_VERSION,
	.maxattr	= FABRIC_A_MAX,
	.policy		= fabric_genl_policy,
	.netnsok	= true,
	.parallel_ops	= true,	/* each takes the lock that it needs; a large table takes long */
	.module		= THIS_MODULE,
	.ops		= fabric_genl_ops,
	.n_ops		= ARRAY_SIZE(fabric_genl_ops),
};

int __init fabric_genl_init(void)
{
	return genl_register_family(&fabric_genl_family);
}

void fabric_genl_exit(void)
{
	genl_unregister_family(&fabric_genl_family);
}
