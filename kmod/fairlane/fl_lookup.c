// SPDX-License-Identifier: GPL-2.0
/*
 * Finding sockets in the kernel's tables: by their addresses, all of a namespace.
 * Whether they have settings is of no account here. Bound but unconnected sockets
 * are in none of the tables: their owner has setsockopt().
 */
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fl_control.h"

/* Sockets that are held at once while a table is walked. */
#define FL_WALK_BATCH	32

/**
 * fl_tuple_of() - addresses of a socket
 * @sk: the socket
 * @t: is filled
 */
void fl_tuple_of(const struct sock *sk, struct fl_tuple *t)
{
	const struct inet_sock *inet = inet_sk(sk);

	memset(t, 0, sizeof(*t));
	t->lport = htons(inet->inet_num);
	t->rport = inet->inet_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 &&
	    !ipv6_addr_v4mapped(&sk->sk_v6_daddr) &&
	    !ipv6_addr_v4mapped(&sk->sk_v6_rcv_saddr)) {
		t->family = AF_INET6;
		t->local = sk->sk_v6_rcv_saddr;
		t->remote = sk->sk_v6_daddr;
		return;
	}
#endif
	t->family = AF_INET;
	t->local.s6_addr32[0] = inet->inet_rcv_saddr;
	t->remote.s6_addr32[0] = inet->inet_daddr;
}

static struct inet_hashinfo *fl_hashinfo(struct net *net)
{
	return net->ipv4.tcp_death_row.hashinfo;
}

/* Context: RCU. Return: a listener, not held. */
static struct sock *fl_listener(struct net *net, const struct fl_tuple *t,
				int ifindex)
{
	u16 port = ntohs(t->lport);

	if (t->family == AF_INET)
		return __inet_lookup_listener(FL_LOOKUP_IN(net), NULL, 0,
					      t->remote.s6_addr32[0], t->rport,
					      t->local.s6_addr32[0], port,
					      ifindex, 0);
#if IS_ENABLED(CONFIG_IPV6)
	return inet6_lookup_listener(FL_LOOKUP_IN(net), NULL, 0,
				     &t->remote, t->rport, &t->local, port,
				     ifindex, 0);
#else
	return NULL;
#endif
}

/**
 * fl_lookup_by_tuple() - a connection, or with remote port 0 a listener
 * @net: the namespace
 * @t: addresses
 * @ifindex: of the device that the socket is bound to, or 0
 *
 * Context: process. Return: the socket, held (sock_gen_put()), or NULL.
 */
struct sock *fl_lookup_by_tuple(struct net *net, const struct fl_tuple *t,
				int ifindex)
{
	u16 port = ntohs(t->lport);
	struct sock *sk = NULL;

	rcu_read_lock();
	if (!t->rport) {
		sk = fl_listener(net, t, ifindex);
		if (sk && !refcount_inc_not_zero(&sk->sk_refcnt))
			sk = NULL;
	} else if (t->family == AF_INET) {
		sk = __inet_lookup_established(FL_LOOKUP_IN(net),
					       t->remote.s6_addr32[0], t->rport,
					       t->local.s6_addr32[0], port,
					       ifindex, 0);
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		sk = __inet6_lookup_established(FL_LOOKUP_IN(net),
						&t->remote, t->rport, &t->local,
						port, ifindex, 0);
#endif
	}
	rcu_read_unlock();
	if (sk && !sk_fullsock(sk)) {
		sock_gen_put(sk);
		sk = NULL;
	}
	return sk;
}

/**
 * fl_lookup_listener() - the listener that a socket was copied from
 * @sk: the copy, which has the listener's addresses still
 *
 * Of several listeners with these addresses any. Context: RCU. Return: not held, or NULL.
 */
struct sock *fl_lookup_listener(const struct sock *sk)
{
	struct fl_tuple t;

	fl_tuple_of(sk, &t);
	return fl_listener(sock_net(sk), &t, sk->sk_bound_dev_if);
}

/**
 * fl_lookup_accepted() - was this connection accepted, not made, here?
 * @net: the namespace
 * @sk: the connection
 *
 * Nothing in a socket says so. If somebody listens on its address, it was.
 * Context: process or softirq.
 */
bool fl_lookup_accepted(struct net *net, const struct sock *sk)
{
	struct fl_tuple t;
	bool found;

	fl_tuple_of(sk, &t);
	rcu_read_lock();
	found = fl_listener(net, &t, sk->sk_bound_dev_if);
	rcu_read_unlock();
	return found;
}

/**
 * struct fl_walk - the place in a walk over the tables
 * @net: the namespace
 * @batch: sockets, held
 * @count: how many
 */
struct fl_walk {
	struct net *net;
	struct sock *batch[FL_WALK_BATCH];
	unsigned int count;
};

/* One socket of a bucket. @skip counts those that were seen already. Return:
 * false if the batch is full.
 */
static bool fl_walk_take(struct fl_walk *w, struct sock *sk, u32 *skip)
{
	if (!net_eq(sock_net(sk), w->net) || !sk_fullsock(sk) || !fl_is_tcp(sk))
		return true;
	if (*skip) {
		--*skip;
		return true;
	}
	if (w->count == FL_WALK_BATCH)
		return false;
	if (refcount_inc_not_zero(&sk->sk_refcnt))
		w->batch[w->count++] = sk;
	return true;
}

/* Connections of a bucket. */
static void fl_walk_fill(struct fl_walk *w, unsigned int bucket, u32 skip)
{
	struct inet_hashinfo *h = fl_hashinfo(w->net);
	struct hlist_nulls_node *node;
	struct sock *sk;
	spinlock_t *lock;	/* of the bucket */

	w->count = 0;
	if (hlist_nulls_empty(&h->ehash[bucket].chain))
		return;
	lock = inet_ehash_lockp(h, bucket);
	spin_lock_bh(lock);
	sk_nulls_for_each(sk, node, &h->ehash[bucket].chain)
		if (!fl_walk_take(w, sk, &skip))
			break;
	spin_unlock_bh(lock);
}

/**
 * fl_lookup_each() - do something with each connection
 * @net: the namespace
 * @act: what; the socket is held, not locked
 * @arg: for @act
 *
 * Context: process. Sockets that come or go meanwhile may be left out.
 */
void fl_lookup_each(struct net *net, void (*act)(struct sock *sk, void *arg),
		    void *arg)
{
	struct inet_hashinfo *h = fl_hashinfo(net);
	struct fl_walk w = { .net = net };
	unsigned int bucket, i, seen;

	for (bucket = 0; bucket <= h->ehash_mask; bucket++) {
		seen = 0;
		do {
			fl_walk_fill(&w, bucket, seen);
			for (i = 0; i < w.count; i++) {
				act(w.batch[i], arg);
				sock_put(w.batch[i]);
			}
			seen += w.count;
		} while (w.count == FL_WALK_BATCH);
		cond_resched();
	}
}

/* Is it the socket that is looked for? Then hold it. Context: its bucket's lock held. */
static bool fl_lookup_is(struct net *net, struct sock *sk, u64 cookie)
{
	return net_eq(sock_net(sk), net) && sk_fullsock(sk) && fl_is_tcp(sk) &&
	       atomic64_read(&sk->sk_cookie) == cookie &&
	       refcount_inc_not_zero(&sk->sk_refcnt);
}

/**
 * fl_lookup_by_cookie() - the connection or listener with a cookie
 * @net: the namespace
 * @cookie: not 0
 *
 * Goes through all of the kernel's tables until it is found. Context: process.
 * Return: the socket, held (sock_put()), or NULL.
 */
struct sock *fl_lookup_by_cookie(struct net *net, u64 cookie)
{
	struct inet_hashinfo *h = fl_hashinfo(net);
	struct sock *sk, *found = NULL;
	struct hlist_nulls_node *node;
	unsigned int bucket;
	spinlock_t *lock;	/* of the bucket */

	for (bucket = 0; !found && bucket <= h->lhash2_mask; bucket++) {
		spin_lock_bh(&h->lhash2[bucket].lock);
		sk_nulls_for_each(sk, node, &h->lhash2[bucket].nulls_head) {
			if (!fl_lookup_is(net, sk, cookie))
				continue;
			found = sk;
			break;
		}
		spin_unlock_bh(&h->lhash2[bucket].lock);
		cond_resched();
	}
	for (bucket = 0; !found && bucket <= h->ehash_mask; bucket++) {
		cond_resched();
		if (hlist_nulls_empty(&h->ehash[bucket].chain))
			continue;
		lock = inet_ehash_lockp(h, bucket);
		spin_lock_bh(lock);
		sk_nulls_for_each(sk, node, &h->ehash[bucket].chain) {
			if (!fl_lookup_is(net, sk, cookie))
				continue;
			found = sk;
			break;
		}
		spin_unlock_bh(lock);
	}
	return found;
}
