// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: switches over generic netlink: what paths packets take, what is
 * congested and what waits.
 */
#include <net/genetlink.h>

#include "fabric_isolate.h"

static const struct nla_policy fabric_genl_policy[FABRIC_A_MAX + 1] = {
	[FABRIC_A_PAD]		= { .type = NLA_FLAG },
	[FABRIC_A_SWITCH]	= { .type = NLA_U32 },
	[FABRIC_A_PORT]		= NLA_POLICY_MAX(NLA_U8, FABRIC_PORTS_MAX - 1),
	[FABRIC_A_TO]		= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[FABRIC_A_HOPS]		= { .type = NLA_BINARY,
				    .len = FABRIC_PATH_HOPS_MAX * sizeof(u64) },
};

/* Puts a path into the table, in the place of another of the same key. Context:
 * fabric_isolates_lock().
 */
static int fabric_path_set(struct fabric_isolate *iso, struct fabric_path *new)
{
	struct fabric_path *old;
	int err = 0;

	spin_lock_bh(&iso->lock);
	old = fabric_path_find(iso, &new->key);
	if (old) {
		hlist_del(&old->node);
		iso->npaths--;
	}
	if (!new->path.hops) {
		kfree(new);
	} else if (iso->npaths == FABRIC_PATHS_MAX) {
		kfree(new);
		err = -ENOSPC;
	} else {
		hlist_add_head(&new->node, fabric_path_head(iso, &new->key));
		iso->npaths++;
	}
	spin_unlock_bh(&iso->lock);
	kfree(old);
	return err;
}

/* Is each hop a port, and none the same as another? */
static bool fabric_path_possible(const struct pyr_path *path)
{
	int i, j;

	for (i = 0; i < path->hops; i++) {
		if (!PYR_ROOT_SWITCH(path->hop[i]))
			return false;
		for (j = 0; j < i; j++) {
			if (path->hop[j] == path->hop[i])
				return false;
		}
	}
	return true;
}

/* Context: process. */
static int fabric_genl_path_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct fabric_isolate *iso;
	struct fabric_path *path;
	int err = -ENODEV, bytes;

	if (!a[FABRIC_A_SWITCH] || !a[FABRIC_A_PORT] || !a[FABRIC_A_TO] ||
	    !a[FABRIC_A_HOPS]) {
		NL_SET_ERR_MSG_MOD(info->extack,
				   "a path needs switch, port, destination and hops");
		return -EINVAL;
	}
	bytes = nla_len(a[FABRIC_A_HOPS]);
	if (bytes % sizeof(u64)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[FABRIC_A_HOPS],
				    "a hop has 8 bytes");
		return -EINVAL;
	}
	path = kzalloc(sizeof(*path), GFP_KERNEL_ACCOUNT);
	if (!path)
		return -ENOMEM;
	path->key.port = nla_get_u8(a[FABRIC_A_PORT]);
	nla_memcpy(&path->key.to, a[FABRIC_A_TO], sizeof(path->key.to));
	path->path.hops = bytes / sizeof(u64);
	nla_memcpy(path->path.hop, a[FABRIC_A_HOPS], bytes);
	if (!fabric_path_possible(&path->path)) {
		kfree(path);
		NL_SET_ERR_MSG_ATTR(info->extack, a[FABRIC_A_HOPS],
				    "a path passes no port twice, and switches are not 0");
		return -EINVAL;
	}
	fabric_isolates_lock();
	iso = fabric_isolate_find(genl_info_net(info),
				  nla_get_u32(a[FABRIC_A_SWITCH]));
	if (iso)
		err = fabric_path_set(iso, path);
	fabric_isolates_unlock();
	if (!iso) {
		kfree(path);
		NL_SET_ERR_MSG_MOD(info->extack,
				   "no port of this namespace has such a switch");
	}
	return err;
}

static int fabric_genl_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, FABRIC_A_PAD);
}

/* Writes what a switch has counted. */
static int fabric_genl_counts(struct sk_buff *skb, const struct pyr_stats *s,
			      const struct fabric_pfc *pfc, u64 no_path)
{
	u64 count[FABRIC_COUNT_MAX + 1] = {
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
		[FABRIC_COUNT_NO_PATH] = no_path,
		[FABRIC_COUNT_PFC_PAUSE] = pfc->pauses,
		[FABRIC_COUNT_PFC_RESUME] = pfc->resumes,
		[FABRIC_COUNT_PFC_HEARD] = pfc->heard,
	};
	struct nlattr *nest = nla_nest_start(skb, FABRIC_A_COUNTS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = PYR_HEARD_OK + 1; i < __PYR_HEARD_MAX; i++)
		count[FABRIC_COUNT_REFUSED] += s->heard[i];
	for (i = 1; i <= FABRIC_COUNT_MAX; i++) {
		if (nla_put_u64_64bit(skb, i, count[i], FABRIC_COUNT_UNSPEC))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Writes a switch. */
static int fabric_genl_switch(struct sk_buff *skb, struct fabric_isolate *iso)
{
	struct fabric_pfc pfc;
	struct pyr_stats stats;
	u64 ports = 0, no_path;
	unsigned int i;

	spin_lock_bh(&iso->lock);
	stats = iso->sw.stats;
	no_path = iso->no_path;
	pfc = iso->pfc;
	for (i = 0; i < PYR_PORTS_MAX; i++) {
		if (iso->port[i])
			ports |= BIT_ULL(i);
	}
	spin_unlock_bh(&iso->lock);
	return nla_put_u32(skb, FABRIC_A_SWITCH, iso->sw.config.id) ||
	       fabric_genl_u64(skb, FABRIC_A_PORTS, ports) ||
	       nla_put_u32(skb, FABRIC_A_PATHS, iso->npaths) ||
	       fabric_genl_counts(skb, &stats, &pfc, no_path);
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
		.cmd	= FABRIC_CMD_PATH_SET,
		.flags	= GENL_UNS_ADMIN_PERM,
		.doit	= fabric_genl_path_set,
	},
	{
		.cmd	= FABRIC_CMD_SWITCH_GET,
		.dumpit	= fabric_genl_dump,
	},
};

static struct genl_family fabric_genl_family __ro_after_init = {
	.name		= FABRIC_GENL_NAME,
	.version	= FABRIC_GENL_VERSION,
	.maxattr	= FABRIC_A_MAX,
	.policy		= fabric_genl_policy,
	.netnsok	= true,
	.module		= THIS_MODULE,
	.ops		= fabric_genl_ops,
	.n_ops		= ARRAY_SIZE(fabric_genl_ops),
	.resv_start_op	= __FABRIC_CMD_MAX,
};

int __init fabric_genl_init(void)
{
	return genl_register_family(&fabric_genl_family);
}

void fabric_genl_exit(void)
{
	genl_unregister_family(&fabric_genl_family);
}
