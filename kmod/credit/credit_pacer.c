// SPDX-License-Identifier: GPL-2.0
/*
 * The pacer: one queue and one timer for each port of the host through which credit is
 * given. Flows are in the queue by the time at which they are due (a credit, or the
 * end of their patience), and the port's clock (credit/core/turn.h) says when it may
 * give the next credit. All flows of a port thus share what it can receive, in turn.
 *
 * The timer takes the first flow, lets it put itself back, and sends without the lock.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <net/netns/hash.h>

#include "compat/compat.h"
#include "credit/credit.h"

/* Credits that a run of the timer may give: it lets others have the processor. */
#define FL_PACER_RUN	16

/* By namespace and device, of which root of a user namespace can have thousands. */
static DEFINE_HASHTABLE(fl_pacers, 8);
static DEFINE_SPINLOCK(fl_pacers_lock);

/* Have the timer fire when the first in the queue is due. Context: port's lock. */
static void fl_pacer_arm(struct fl_pacer *p)
{
	struct timerqueue_node *first = timerqueue_getnext(&p->queue);
	u64 due_ns;

	if (!first || p->dead)
		return;
	due_ns = max_t(u64, ktime_to_ns(first->expires), p->turn.free_ns);
	hrtimer_start(&p->timer, ns_to_ktime(due_ns), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/**
 * fl_pacer_queue() - put a flow into the queue
 * @p: the port; caller holds its lock
 * @r: the flow; moves if it is there already
 * @due_ns: when it is due, monotonic ns
 */
void fl_pacer_queue(struct fl_pacer *p, struct fl_receiver *r, u64 due_ns)
{
	if (r->queued)
		timerqueue_del(&p->queue, &r->due);
	r->due.expires = ns_to_ktime(due_ns);
	r->queued = true;
	if (timerqueue_add(&p->queue, &r->due))
		fl_pacer_arm(p);
}

/* The opposite. Context: port's lock. */
void fl_pacer_unqueue(struct fl_pacer *p, struct fl_receiver *r)
{
	if (!r->queued)
		return;
	r->queued = false;
	timerqueue_del(&p->queue, &r->due);
}

/* The first flow, if it is due and the port is free. Context: port's lock. */
static struct fl_receiver *fl_pacer_next(struct fl_pacer *p, u64 now_ns)
{
	struct timerqueue_node *first = timerqueue_getnext(&p->queue);
	struct fl_receiver *r;

	if (!first || ktime_to_ns(first->expires) > now_ns)
		return NULL;
	r = container_of(first, struct fl_receiver, due);
	return r->waiting || p->turn.free_ns <= now_ns ? r : NULL;
}

/* Context: softirq. */
static enum hrtimer_restart fl_pacer_fire(struct hrtimer *timer)
{
	struct fl_pacer *p = container_of(timer, struct fl_pacer, timer);
	struct fl_credit_msg m;
	struct fl_receiver *r;
	struct sock *sk;
	int left = FL_PACER_RUN, err;
	u64 now_ns;

	rcu_read_lock();
	spin_lock(&p->lock);
	while (!p->dead && left--) {
		now_ns = ktime_get_ns();
		r = fl_pacer_next(p, now_ns);
		if (!r)
			break;
		sk = r->node.sk;
		/* nor does it have its turn, which counts in a namespace that may be gone */
		if (unlikely(!fl_net_stays(sk))) {
			fl_pacer_unqueue(p, r);
			continue;
		}
		if (!p->ops->turn(r, now_ns, &m))
			continue;
		sock_hold(sk);
		spin_unlock(&p->lock);
		err = fl_credit_send(sk, FL_CREDIT_DSCP_CREDIT, &m,
				     READ_ONCE(tcp_sk(sk)->snd_nxt));
		spin_lock(&p->lock);
		/* Only what the port's limit drops is given again. Without a way (route or
		 * carrier gone, a firewall) it is lost like others, so silence ends it: given
		 * again, it was tried at the flow's rate for as long as the socket lived.
		 */
		if (unlikely(net_xmit_eval(err) > 0))
			p->ops->dropped(r);
		sock_put(sk);
	}
	fl_pacer_arm(p);
	spin_unlock(&p->lock);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

static u32 fl_pacer_key(const struct net *net, int ifindex)
{
	return jhash_1word(ifindex, net_hash_mix(net));
}

static struct fl_pacer *fl_pacer_new(const struct net *net, int ifindex,
				     const struct fl_pacer_ops *ops)
{
	struct fl_pacer *p = kzalloc(sizeof(*p), GFP_ATOMIC | __GFP_NOWARN |
				     __GFP_ACCOUNT);

	if (!p)
		return NULL;
	p->net = net;
	p->ifindex = ifindex;
	p->ops = ops;
	spin_lock_init(&p->lock);
	timerqueue_init_head(&p->queue);
	hrtimer_setup(&p->timer, fl_pacer_fire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	return p;
}

/**
 * fl_pacer_get() - the pacer of a port
 * @net: namespace
 * @ifindex: device
 * @ops: what its flows do; the same for all
 *
 * Context: BH off. Return: fl_pacer_put() it; NULL without memory.
 */
struct fl_pacer *fl_pacer_get(const struct net *net, int ifindex,
			      const struct fl_pacer_ops *ops)
{
	u32 key = fl_pacer_key(net, ifindex);
	struct fl_pacer *p;

	spin_lock_bh(&fl_pacers_lock);
	hash_for_each_possible(fl_pacers, p, hash, key)
		if (p->net == net && p->ifindex == ifindex)
			goto found;
	p = fl_pacer_new(net, ifindex, ops);
	if (p)
		hash_add(fl_pacers, &p->hash, key);
found:
	if (p)
		p->users++;
	spin_unlock_bh(&fl_pacers_lock);
	return p;
}

/**
 * fl_pacer_put() - a receiver leaves
 * @p: its port; the receiver is not queued
 *
 * Context: any but the timer's own; none of our locks held.
 */
void fl_pacer_put(struct fl_pacer *p)
{
	bool last;

	spin_lock_bh(&fl_pacers_lock);
	last = !--p->users;
	if (last)
		hash_del(&p->hash);
	spin_unlock_bh(&fl_pacers_lock);
	if (!last)
		return;
	spin_lock_bh(&p->lock);
	p->dead = true;
	spin_unlock_bh(&p->lock);
	hrtimer_cancel(&p->timer);
	kfree_rcu(p, rcu);
}
