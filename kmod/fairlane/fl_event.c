// SPDX-License-Identifier: GPL-2.0
/*
 * Events: each change that the control plane makes, as a message to the
 * multicast group "events" of the namespace.
 *
 * An event gets its number and is handed to the readers under one lock, so all
 * of them see the same order. A reader that is too slow loses events: its
 * socket reports ENOBUFS once, and the numbers have a gap. Without readers an
 * event costs a lock and an addition.
 *
 * Anybody can make events, by changing his sockets or failing to. Owners are told apart
 * by a hash of their uid, and each may have FL_EVENT_RATE events in a second of 2^30 ns:
 * the others' are not drowned in his.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>
#include <net/tcp.h>

#include "fl_control.h"

/* Enough for all attributes. */
#define FL_EVENT_BYTES	512

/* log2 of ns in what counts as a second. */
#define FL_EVENT_SECOND_SHIFT	30

/* fl_genl.c's, which needs all files that answer requests: none of them needs it. It is set
 * before the first request can come and stays: at unload a request may be under way that began
 * before. Context: a request.
 */
const struct genl_family *fl_family;
/* Is the family registered, so that events have a group? Released after fl_family is set. Context:
 * RCU.
 */
bool fl_event_open;

/* The process as those may know it who listen here. */
static u32 fl_event_pid(const struct fl_ns *ns)
{
	if (ns->net->user_ns == &init_user_ns)
		return task_tgid_nr(current);
	return task_tgid_vnr(current);
}

/* Who does it, if it is a process. */
static int fl_event_put_actor(struct sk_buff *skb, const struct fl_ns *ns)
{
	char comm[TASK_COMM_LEN];

	if (!in_task() || current->flags & PF_KTHREAD)
		return 0;
	/* not get_task_comm(): its lock is not for softirqs, event_lock is */
	strscpy_pad(comm, current->comm, sizeof(comm));
	return nla_put_u32(skb, FL_A_EVENT_UID,
			   from_kuid_munged(ns->net->user_ns, current_uid())) ||
	       nla_put_u32(skb, FL_A_EVENT_PID, fl_event_pid(ns)) ||
	       nla_put_string(skb, FL_A_EVENT_COMM, comm);
}

static int fl_event_put_sock(struct sk_buff *skb, const struct fl_ns *ns,
			     const struct fl_event *ev)
{
	const struct sock *sk = ev->sk;
	struct fl_tuple t;
	int len;

	fl_tuple_of(sk, &t);
	len = fl_addr_len(t.family);
	return fl_put_u64(skb, FL_A_EVENT_COOKIE, ev->fs->cookie) ||
	       nla_put_u8(skb, FL_A_EVENT_FAMILY, t.family) ||
	       nla_put(skb, FL_A_EVENT_LADDR, len, &t.local) ||
	       nla_put(skb, FL_A_EVENT_RADDR, len, &t.remote) ||
	       nla_put_be16(skb, FL_A_EVENT_LPORT, t.lport) ||
	       nla_put_be16(skb, FL_A_EVENT_RPORT, t.rport) ||
	       nla_put_u32(skb, FL_A_EVENT_OWNER,
			   from_kuid_munged(ns->net->user_ns, sk->sk_uid)) ||
	       nla_put_string(skb, FL_A_EVENT_CC, fl_cc_name(sk)) ||
	       (fl_sock_policy(ev->fs) &&
		nla_put_u32(skb, FL_A_EVENT_POLICY, fl_sock_policy(ev->fs)));
}

static int fl_event_put(struct sk_buff *skb, const struct fl_ns *ns,
			const struct fl_event *ev)
{
	if (fl_put_u64(skb, FL_A_EVENT_SEQ, ns->event_seq) ||
	    fl_put_u64(skb, FL_A_EVENT_TIME_NS, ktime_get_real_ns()) ||
	    nla_put_u8(skb, FL_A_EVENT_KIND, ev->kind) ||
	    nla_put_u32(skb, FL_A_EVENT_WHAT, ev->what) ||
	    nla_put_u32(skb, FL_A_EVENT_OLD, ev->old) ||
	    nla_put_u32(skb, FL_A_EVENT_NEW, ev->new) ||
	    nla_put_u8(skb, FL_A_EVENT_OLD_FROM, ev->old_from) ||
	    nla_put_u8(skb, FL_A_EVENT_NEW_FROM, ev->new_from) ||
	    (ev->error && nla_put_u32(skb, FL_A_EVENT_ERROR, ev->error)) ||
	    fl_event_put_actor(skb, ns) ||
	    (ev->sk && fl_event_put_sock(skb, ns, ev)) ||
	    (ev->name && nla_put_string(skb, FL_A_EVENT_NAME, ev->name)) ||
	    (ev->has_uid && nla_put_u32(skb, FL_A_EVENT_UID_OF, ev->uid_of)) ||
	    (ev->cgroup_id &&
	     fl_put_u64(skb, FL_A_EVENT_CGROUP_ID, ev->cgroup_id)))
		return -EMSGSIZE;
	if (ev->tuple &&
	    (nla_put_u8(skb, FL_A_EVENT_FAMILY, ev->tuple->family) ||
	     nla_put(skb, FL_A_EVENT_RADDR, fl_addr_len(ev->tuple->family),
		     &ev->tuple->remote) ||
	     nla_put_u8(skb, FL_A_EVENT_BITS, ev->bits)))
		return -EMSGSIZE;
	return 0;
}

/* May the owner of a socket have another event? Context: ns->event_lock held. */
static bool fl_event_allowed(struct fl_ns *ns, const struct sock *sk)
{
	u32 slot = hash_32(__kuid_val(sk->sk_uid), FL_EVENT_OWNERS_SHIFT);
	u32 second = ktime_get_ns() >> FL_EVENT_SECOND_SHIFT;

	if (second != ns->event_second) {
		ns->event_second = second;
		memset(ns->event_spent, 0, sizeof(ns->event_spent));
	}
	if (ns->event_spent[slot] >= FL_EVENT_RATE)
		return false;
	ns->event_spent[slot]++;
	return true;
}

/* Context: ns->event_lock held. Return: 0, or an error if nobody got it. */
static int fl_event_multicast(struct fl_ns *ns, const struct fl_event *ev)
{
	struct sk_buff *skb;
	void *head;
	int err;

	/* settings may be made before requests can, and afterwards; fl_genl_init() releases */
	if (!smp_load_acquire(&fl_event_open) || !genl_has_listeners(fl_family, ns->net, 0))
		return 0;
	if (ev->sk && !fl_event_allowed(ns, ev->sk))
		return -ENOBUFS;
	skb = genlmsg_new(FL_EVENT_BYTES, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return -ENOMEM;
	head = genlmsg_put(skb, 0, ns->event_seq, fl_family, 0, FL_CMD_EVENT);
	err = head ? fl_event_put(skb, ns, ev) : -EMSGSIZE;
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, head);
	err = genlmsg_multicast_netns(fl_family, ns->net, skb, 0, 0, GFP_ATOMIC);
	return err == -ESRCH ? 0 : err;
}

/**
 * fl_event_send() - tell everybody
 * @ns: where it happened
 * @ev: what
 *
 * Context: process or softirq; of @ev->sk, if any, the settings are locked.
 */
void fl_event_send(struct fl_ns *ns, const struct fl_event *ev)
{
	spin_lock_bh(&ns->event_lock);
	ns->event_seq++;
	atomic64_set(&ns->stats[FL_A_STAT_EVENTS], ns->event_seq);
	if (fl_event_multicast(ns, ev))
		fl_count(ns, FL_A_STAT_EVENTS_LOST);
	spin_unlock_bh(&ns->event_lock);
}
