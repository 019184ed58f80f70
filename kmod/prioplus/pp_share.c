// SPDX-License-Identifier: GPL-2.0
/*
 * Channels, which flows share. pp_configure() computes the one of a flow
 * (pp_configure.c).
 *
 * A channel follows from profile, priority, weight, base RTT and line rate, so the
 * flows of a path and a priority have the same one, and there are a few for thousands
 * of flows. It never changes: a flow whose settings or base RTT do takes another one.
 * That happens a few times in a flow's life, so one lock for all will do, and what is done
 * under it takes the same time however many channels there are: users choose the settings
 * of flows, and may have as many channels as they have sockets.
 *
 * A new flow begins with the channel of its handshake's RTT and leaves it with the
 * first echo. The next one wants the same, so channels that nobody has stay for a
 * while, the last PP_IDLE_MAX of them. Freed at once, they would be a channel of memory
 * for each connection of the last seconds: for that long the kernel gathers what is to
 * be freed under RCU.
 */
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "pp_flow.h"

/* Channels that are kept without a flow. */
#define PP_IDLE_MAX		64

/**
 * struct pp_shared - a channel and who has it
 * @chan: the channel
 * @flows: that have it
 * @node: in the table, by @chan
 * @idle: among those without a flow, the one that was left last at the end
 * @rcu: readers of get_info() do not hold the socket lock
 */
struct pp_shared {
	struct pp_chan chan;
	u32 flows;
	struct rhash_head node;
	union {
		struct list_head idle;
		struct rcu_head rcu;
	};
};

/* It grows, and its hash has a seed: nobody can tell which settings meet in one place. */
static struct rhashtable pp_shared_table;
static LIST_HEAD(pp_idle);
static u32 pp_idle_count;
/* of the table, the list and all @flows; also in softirq */
static DEFINE_SPINLOCK(pp_shared_lock);

static const struct rhashtable_params pp_shared_params = {
	.key_len = sizeof(struct pp_chan),
	.key_offset = offsetof(struct pp_shared, chan),
	.head_offset = offsetof(struct pp_shared, node),
	.automatic_shrinking = true,
};

/* Context: pp_shared_lock held. */
static struct pp_shared *pp_shared_new(const struct pp_chan *want)
{
	struct pp_shared *s = kmalloc(sizeof(*s), GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);

	if (!s)
		return NULL;
	s->chan = *want;
	s->flows = 0;
	if (rhashtable_insert_fast(&pp_shared_table, &s->node, pp_shared_params)) {
		kfree(s);
		return NULL;
	}
	list_add_tail(&s->idle, &pp_idle);
	pp_idle_count++;
	return s;
}

/* Frees the channel that has been without a flow for the longest time. Context:
 * pp_shared_lock held.
 */
static void pp_shared_evict(void)
{
	struct pp_shared *s = list_first_entry(&pp_idle, struct pp_shared,
					       idle);

	list_del(&s->idle);
	pp_idle_count--;
	rhashtable_remove_fast(&pp_shared_table, &s->node, pp_shared_params);
	kfree_rcu(s, rcu);
}

/* Another flow has it. Context: pp_shared_lock held. */
static void pp_shared_get(struct pp_shared *s)
{
	if (s->flows++)
		return;
	list_del(&s->idle);
	pp_idle_count--;
}

/* Context: pp_shared_lock held. */
static void pp_shared_put(const struct pp_chan *chan)
{
	struct pp_shared *s = container_of(chan, struct pp_shared, chan);

	if (--s->flows)
		return;
	list_add_tail(&s->idle, &pp_idle);
	if (++pp_idle_count > PP_IDLE_MAX)
		pp_shared_evict();
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
	const struct pp_chan *old = fl->chan;
	struct pp_shared *s;

	spin_lock_bh(&pp_shared_lock);
	s = rhashtable_lookup_fast(&pp_shared_table, want, pp_shared_params) ?:
	    pp_shared_new(want);
	if (s) {
		pp_shared_get(s);
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

/* Context: process, module load. Return: 0 or a negative errno. */
int pp_share_init(void)
{
	return rhashtable_init(&pp_shared_table, &pp_shared_params);
}

/**
 * pp_share_exit() - free the channels that no flow has
 *
 * Context: process, module unload; no flow takes or leaves any.
 */
void pp_share_exit(void)
{
	spin_lock_bh(&pp_shared_lock);
	while (pp_idle_count)
		pp_shared_evict();
	spin_unlock_bh(&pp_shared_lock);
	rhashtable_destroy(&pp_shared_table);
}
