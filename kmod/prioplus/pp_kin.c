// SPDX-License-Identifier: GPL-2.0
/*
 * Kin: flows of one host to another, of one priority, and what all of them have in flight.
 *
 * Two links lie between the flows of a host and the line's queue, and a probe, or the first packet
 * of a window, waits on each of them behind the packets of the others. Where a channel is few
 * packets wide (pp_chan.few), that is more than a channel: the second flow of a host takes the
 * first one for a higher priority, and one of the two has nothing for seconds. What the kin have
 * in flight is known exactly, so what it explains is nobody else's: pp_kin_explains() in core/.
 * How many of them wait is known as well, so they take turns: pp_kin_turn().
 *
 * Each flow tells what it has once in a round trip, and when it stops, resumes, or has nothing more
 * to send, and at a probe whether it waits. A network namespace has kin of its own.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>

#include "pp_flow.h"

/** struct pp_kin_key - who is kin; no padding */
struct pp_kin_key {
	const struct net *net;
	struct in6_addr from;
	struct in6_addr to;
};

/**
 * struct pp_kin - some kin
 * @key: who they are
 * @node: in the table, by @key
 * @flows: how many they are
 * @delay_ns: that one of them has seen last, ns
 * @has_q8: what those of each priority have in flight, packets << PP_KIN_SHIFT
 * @weights: the sum of the weights of those that send, >> PP_KIN_WEIGHT_SHIFT
 * @waits: how many of each priority wait for a turn
 * @rcu: the table may be looking at it when it goes
 */
struct pp_kin {
	struct pp_kin_key key;
	struct rhash_head node;
	u32 flows;
	u32 delay_ns;
	atomic_t has_q8[PP_PRIO_MAX + 1];
	atomic_t weights[PP_PRIO_MAX + 1];
	atomic_t waits[PP_PRIO_MAX + 1];
	struct rcu_head rcu;
};

/* Thousandths of a weight are more than a sum needs. */
#define PP_KIN_WEIGHT_SHIFT	6

static struct rhashtable pp_kin_table;
/* of the table and all @flows; also in softirq */
static DEFINE_SPINLOCK(pp_kin_lock);

static const struct rhashtable_params pp_kin_params = {
	.key_len = sizeof(struct pp_kin_key),
	.key_offset = offsetof(struct pp_kin, key),
	.head_offset = offsetof(struct pp_kin, node),
	.automatic_shrinking = true,
};

static void pp_kin_key_of(const struct sock *sk, struct pp_kin_key *key)
{
	key->net = sock_net(sk);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		key->from = sk->sk_v6_rcv_saddr;
		key->to = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &key->from);
	ipv6_addr_set_v4mapped(sk->sk_daddr, &key->to);
}

/* Context: pp_kin_lock held. */
static struct pp_kin *pp_kin_new(const struct pp_kin_key *key)
{
	struct pp_kin *kin = kzalloc(sizeof(*kin), GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);

	if (!kin)
		return NULL;
	kin->key = *key;
	if (rhashtable_insert_fast(&pp_kin_table, &kin->node, pp_kin_params)) {
		kfree(kin);
		return NULL;
	}
	return kin;
}

/* Does @fl wait for a turn? Who stopped as it has nothing to send does not. */
static void pp_kin_wait(struct pp_flow *fl, bool waits)
{
	if (waits != fl->kin_waits)
		atomic_add(waits ? 1 : -1, &fl->kin->waits[fl->kin_prio]);
	fl->kin_waits = waits;
}

/**
 * pp_kin_leave() - a flow has no kin any more
 * @fl: the flow; caller holds the socket lock
 *
 * Context: any.
 */
void pp_kin_leave(struct pp_flow *fl)
{
	struct pp_kin *kin = fl->kin;

	if (!kin)
		return;
	pp_kin_tell(fl, 0, 0);
	pp_kin_wait(fl, false);
	fl->kin = NULL;
	fl->core.kin_q8 = 0;
	spin_lock_bh(&pp_kin_lock);
	if (!--kin->flows) {
		rhashtable_remove_fast(&pp_kin_table, &kin->node, pp_kin_params);
		kfree_rcu(kin, rcu);
	}
	spin_unlock_bh(&pp_kin_lock);
}

/* Is the host's own link the slowest one? Then all kin wait in its queue. Behind a slower link they
 * may be in queues of different ways, and those of one way explain nothing on another. A quarter
 * less is the own link with something taken off.
 */
static bool pp_kin_share_link(const struct pp_flow *fl, u64 line_bps)
{
	return line_bps >= fl_device_mbps(fl->sk) * 750000ULL;
}

/**
 * pp_kin_join() - a flow's channel, or its priority, is another one
 * @fl: the flow; caller holds the socket lock
 * @line_bps: the line rate that it goes by, bit/s
 *
 * Who cannot have kin for want of memory goes by delays alone. Context: any.
 */
void pp_kin_join(struct pp_flow *fl, u64 line_bps)
{
	struct pp_kin_key key;
	struct pp_kin *kin;

	if (!fl->chan->few || fl->fallback || !pp_kin_share_link(fl, line_bps)) {
		pp_kin_leave(fl);
		return;
	}
	if (fl->kin) {
		if (fl->kin_prio != fl->prio) {
			pp_kin_tell(fl, 0, 0);
			pp_kin_wait(fl, false);
		}
		fl->kin_prio = fl->prio;
		return;
	}
	pp_kin_key_of(fl->sk, &key);
	spin_lock_bh(&pp_kin_lock);
	kin = rhashtable_lookup_fast(&pp_kin_table, &key, pp_kin_params) ?: pp_kin_new(&key);
	if (kin)
		kin->flows++;
	spin_unlock_bh(&pp_kin_lock);
	fl->kin = kin;
	fl->kin_prio = fl->prio;
}

/* What others have of @of, without @own. */
static u32 pp_kin_others(const atomic_t *of, u32 own)
{
	return max_t(s32, atomic_read(of) - (s32)own, 0);
}

/**
 * pp_kin_tell() - what a flow has in flight, and what its kin have
 * @fl: the flow; caller holds the socket lock
 * @has_q8: what it has, packets << PP_KIN_SHIFT
 * @delay_ns: that it sees, ns; 0 = it sees none
 *
 * Context: any.
 */
void pp_kin_tell(struct pp_flow *fl, u32 has_q8, u32 delay_ns)
{
	u32 weight = has_q8 ? max_t(u32, fl->chan->weight_milli >> PP_KIN_WEIGHT_SHIFT, 1) : 0;
	u32 prio = fl->kin_prio, peers, sum;
	struct pp_kin *kin = fl->kin;
	bool more;

	if (!kin)
		return;
	if (has_q8 != fl->kin_told_q8)
		atomic_add((s32)(has_q8 - fl->kin_told_q8), &kin->has_q8[prio]);
	if (weight != fl->kin_told_weight)
		atomic_add((s32)(weight - fl->kin_told_weight), &kin->weights[prio]);
	pp_kin_wait(fl, fl->core.stopped && tcp_send_head(fl->sk));
	fl->core.kin_waits = atomic_read(&kin->waits[prio]);
	if (delay_ns)
		WRITE_ONCE(kin->delay_ns, delay_ns);
	fl->kin_told_q8 = has_q8;
	fl->kin_told_weight = weight;
	peers = pp_kin_others(&kin->has_q8[prio], has_q8);
	more = (u64)peers * weight > 2ULL * has_q8 * pp_kin_others(&kin->weights[prio], weight);
	for (sum = peers; prio; prio--)
		sum += pp_kin_others(&kin->has_q8[prio - 1], 0);
	fl->core.kin_q8 = sum;
	fl->core.kin_ns = READ_ONCE(kin->delay_ns);
	if (more != fl->core.kin_more)
		fl->core.ai_of = 0;
	fl->core.kin_more = more;
}

/* Context: process, module load. Return: 0 or a negative errno. */
int pp_kin_init(void)
{
	return rhashtable_init(&pp_kin_table, &pp_kin_params);
}

/* Context: process, module unload; all flows are gone. */
void pp_kin_exit(void)
{
	rhashtable_destroy(&pp_kin_table);
}
