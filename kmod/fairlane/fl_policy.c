// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: which sockets get what without being asked.
 *
 * Ordered rules of a namespace. When a connection is established, made here or
 * accepted, the first that matches decides; what the socket or its listener
 * was told itself comes before that. A policy is the administrator's, so
 * ceilings and budgets do not bind it.
 *
 * Live sockets are only looked at again on request (FL_CMD_POLICY_APPLY): a
 * rule that is added must not upset what runs.
 */
#include <linux/cgroup.h>
#include <linux/ipv6.h>
#include <net/genetlink.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fl_policy.h"

/* Runs after all readers are gone. */
static void fl_policy_free_rcu(struct rcu_head *rcu)
{
	struct fl_policy *p = container_of(rcu, struct fl_policy, rcu);

	kfree(p->path);
	kfree(p);
}

/* It is in no list any more. Context: any. */
void fl_policy_free(struct fl_policy *p)
{
	call_rcu(&p->rcu, fl_policy_free_rcu);
}

static bool fl_policy_cgroup(const struct fl_policy *p, const struct sock *sk)
{
#ifdef FL_SOCK_CGROUP
	struct cgroup *cg = sock_cgroup_ptr((struct sock_cgroup_data *)
					    &sk->sk_cgrp_data);

	for (; cg; cg = cgroup_parent(cg))
		if (cgroup_id(cg) == p->cgroup)
			return true;
#endif
	return false;
}

/* DSCP of what a socket sends: as it was told, or as its listener was. */
static u8 fl_policy_dscp(const struct sock *sk, const struct fl_tuple *t)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (t->family == AF_INET6)
		return READ_ONCE(inet6_sk(sk)->tclass) >> 2;
#endif
	return READ_ONCE(inet_sk(sk)->tos) >> 2;
}

static bool fl_policy_matches(const struct fl_policy *p, const struct sock *sk,
			      const struct fl_tuple *t, u8 when)
{
	u16 lport = ntohs(t->lport), rport = ntohs(t->rport);
	u32 uid;

	if (!(p->when & when) || (p->family && p->family != t->family))
		return false;
	if (p->has_ports & 1 && (lport < p->lport_min || lport > p->lport_max))
		return false;
	if (p->has_ports & 2 && (rport < p->rport_min || rport > p->rport_max))
		return false;
	if (p->laddr_bits &&
	    !ipv6_prefix_equal(&t->local, &p->local, p->laddr_bits))
		return false;
	if (p->raddr_bits &&
	    !ipv6_prefix_equal(&t->remote, &p->remote, p->raddr_bits))
		return false;
	if (p->has_uid) {
		uid = from_kuid(sock_net(sk)->user_ns, sk->sk_uid);
		if (uid < p->uid_min || uid > p->uid_max)
			return false;
	}
	if (p->has_dscp && fl_policy_dscp(sk, t) != p->dscp)
		return false;
	if (p->cc[0] && strcmp(p->cc, fl_cc_name(sk)))
		return false;
	return !p->cgroup || fl_policy_cgroup(p, sk);
}

/**
 * fl_policy_choose() - what the policies say of a connection
 * @sk: the socket, its addresses known
 * @accepted: it was accepted, not made
 * @choice: is filled
 *
 * Context: any.
 */
void fl_policy_choose(const struct sock *sk, bool accepted,
		      struct fl_choice *choice)
{
	struct fl_ns *ns = fl_ns_of(sock_net(sk));
	u8 when = accepted ? FL_WHEN_ACCEPT : FL_WHEN_CONNECT;
	struct fl_policy *p;
	struct fl_tuple t;

	memset(choice, 0, sizeof(*choice));
	choice->gen = READ_ONCE(ns->policy_gen);
	fl_tuple_of(sk, &t);
	rcu_read_lock();
	list_for_each_entry_rcu(p, &ns->policies, list) {
		if (!fl_policy_matches(p, sk, &t, when))
			continue;
		choice->values = p->values;
		choice->order = p->order;
		atomic64_inc(&p->hits);
		fl_count(ns, FL_A_STAT_POLICY_HITS);
		break;
	}
	rcu_read_unlock();
}

/**
 * fl_policy_note() - note what the policies say of a connection
 * @f: its settings; fl_attr_commit() is left to the caller
 * @choice: what they say
 *
 * Context: any, @f->lock held. Return: have the policies' settings changed?
 */
bool fl_policy_note(struct fl_sock *f, const struct fl_choice *choice)
{
	struct fl_decided *d = rcu_dereference_protected(f->decided, true);
	bool changed;

	if (!d && choice->order) {
		d = kzalloc(sizeof(*d),
			    GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
		if (!d) {
			fl_count(f->ns, FL_A_STAT_NOMEM);
			return false;
		}
		rcu_assign_pointer(f->decided, d);
	}
	WRITE_ONCE(f->policy_gen, choice->gen);
	if (!d)
		return false;
	changed = memcmp(&d->values, &choice->values, sizeof(d->values));
	d->values = choice->values;
	WRITE_ONCE(d->order, choice->order);
	return changed;
}

/* Context: process, namespace goes: nothing runs in it. */
void fl_policy_net_exit(struct fl_ns *ns)
{
	struct fl_policy *p, *next;

	list_for_each_entry_safe(p, next, &ns->policies, list) {
		list_del_rcu(&p->list);
		fl_policy_free(p);
	}
}
