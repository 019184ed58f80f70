// SPDX-License-Identifier: GPL-2.0
/*
 * Channels, which flows share.
 *
 * A channel follows from profile, priority, weight, base RTT and line rate, so the
 * flows of a path and a priority have the same one, and there are a few for thousands
 * of flows. It never changes: a flow whose settings or base RTT do takes another one.
 * That happens a few times in a flow's life, so one lock for all will do.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "pp_flow.h"

#define PP_SHARED_SHIFT		8

/**
 * struct pp_shared - a channel and who has it
 * @chan: the channel
 * @hash: of it
 * @flows: that have it
 * @node: in the table, by @hash
 * @rcu: readers of get_info() do not hold the socket lock
 */
struct pp_shared {
	struct pp_chan chan;
	u32 hash;
	u32 flows;
	struct hlist_node node;
	struct rcu_head rcu;
};

static DEFINE_HASHTABLE(pp_shared_table, PP_SHARED_SHIFT);
/* of the table and all @flows; also in softirq */
static DEFINE_SPINLOCK(pp_shared_lock);

static struct pp_shared *pp_shared_find(const struct pp_chan *want, u32 hash)
{
	struct pp_shared *s;

	hash_for_each_possible(pp_shared_table, s, node, hash)
		if (s->hash == hash && !memcmp(&s->chan, want, sizeof(*want)))
			return s;
	return NULL;
}

static struct pp_shared *pp_shared_new(const struct pp_chan *want, u32 hash)
{
	struct pp_shared *s = kmalloc(sizeof(*s), GFP_ATOMIC | __GFP_NOWARN);

	if (!s)
		return NULL;
	s->chan = *want;
	s->hash = hash;
	s->flows = 0;
	hash_add(pp_shared_table, &s->node, hash);
	return s;
}

/* Context: pp_shared_lock held. */
static void pp_shared_put(const struct pp_chan *chan)
{
	struct pp_shared *s = container_of(chan, struct pp_shared, chan);

	if (--s->flows)
		return;
	hash_del(&s->node);
	kfree_rcu(s, rcu);
}

/**
 * pp_chan_take() - let a flow have a channel
 * @fl: the flow; caller holds the socket lock
 * @want: the channel, padding included
 *
 * Context: any. Return: false without memory: the flow has what it had.
 */
bool pp_chan_take(struct pp_flow *fl, const struct pp_chan *want)
{
	u32 hash = jhash(want, sizeof(*want), 0);
	const struct pp_chan *old = fl->chan;
	struct pp_shared *s;

	spin_lock_bh(&pp_shared_lock);
	s = pp_shared_find(want, hash) ?: pp_shared_new(want, hash);
	if (s) {
		s->flows++;
		/* pairs with READ_ONCE() in pp_info.c */
		smp_store_release(&fl->chan, &s->chan);
		if (old)
			pp_shared_put(old);
	}
	spin_unlock_bh(&pp_shared_lock);
	return s;
}

/**
 * pp_chan_drop() - a flow ends
 * @fl: the flow; it is not used any more, but by readers under RCU
 *
 * Context: any.
 */
void pp_chan_drop(struct pp_flow *fl)
{
	if (!fl->chan)
		return;
	spin_lock_bh(&pp_shared_lock);
	pp_shared_put(fl->chan);
	spin_unlock_bh(&pp_shared_lock);
}
