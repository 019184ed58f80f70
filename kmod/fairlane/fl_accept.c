// SPDX-License-Identifier: GPL-2.0
/*
 * Who has accepted a connection pays for its weight.
 *
 * Until it is accepted a socket has the owner of its listener, and its weight is charged to him.
 * accept() gives it to whoever calls that. Where a service has its listeners from somebody else, as
 * from systemd or from a process of root's, budgets of the service would bind nothing. Nothing in
 * the kernel tells of accept(), so a work item looks at sockets that are established and were
 * charged: soon, and later and later while some are not accepted.
 */
#include <net/sock.h>

#include "fl_accept.h"

/* Has somebody accepted it, or never will? Its owner is known behind the lock. */
static bool fl_accept_done(struct sock *sk)
{
	bool done;

	read_lock_bh(&sk->sk_callback_lock);
	done = sk->sk_socket || sock_flag(sk, SOCK_DEAD);
	read_unlock_bh(&sk->sk_callback_lock);
	return done;
}

/* A marked flow. Context: process, the socket is held. Return: is it settled? */
static bool fl_accept_one(struct fl_ns *ns, struct sock *sk)
{
	struct fl_sock *f;
	u32 changed = 0;

	if (!fl_accept_done(sk))
		return false;
	rcu_read_lock();
	f = fl_sock_find(sk);
	if (f) {
		xa_lock_bh(&ns->flows);
		__xa_clear_mark(&ns->flows, f->cookie, FL_ACCEPT_MARK);
		xa_unlock_bh(&ns->flows);
		spin_lock_bh(&f->lock);
		changed = fl_attr_accepted(sk, f);
		spin_unlock_bh(&f->lock);
	}
	rcu_read_unlock();
	if (changed)
		fl_sock_tell(sk);
	return true;
}

static void fl_accept_work(struct work_struct *work)
{
	struct fl_accept *a = container_of(to_delayed_work(work), struct fl_accept, work);
	struct fl_ns *ns = container_of(a, struct fl_ns, accept);
	unsigned long cookie = 0;
	bool left = false, more;
	struct fl_sock *f;
	struct sock *sk;

	do {
		rcu_read_lock();
		f = xa_find_after(&ns->flows, &cookie, ULONG_MAX, FL_ACCEPT_MARK);
		more = f;
		sk = f ? fl_sock_hold(f) : NULL;
		rcu_read_unlock();
		if (!sk)
			continue;
		left |= !fl_accept_one(ns, sk);
		sock_put(sk);
		cond_resched();
	} while (more);
	if (!left) {
		a->again = FL_ACCEPT_AGAIN_MIN;
		return;
	}
	fl_accept_queue(ns, a->again);
	a->again = min_t(unsigned long, 2 * a->again, FL_ACCEPT_AGAIN_MAX);
}

static int __net_init fl_accept_net_init(struct net *net)
{
	struct fl_accept *a = &fl_ns_of(net)->accept;

	spin_lock_init(&a->lock);
	INIT_DELAYED_WORK(&a->work, fl_accept_work);
	a->again = FL_ACCEPT_AGAIN_MIN;
	return 0;
}

static void __net_exit fl_accept_net_exit(struct net *net)
{
	struct fl_accept *a = &fl_ns_of(net)->accept;

	spin_lock_bh(&a->lock);
	a->closing = true;
	spin_unlock_bh(&a->lock);
	cancel_delayed_work_sync(&a->work);
}

static struct pernet_operations fl_accept_net_ops = {
	.init = fl_accept_net_init,
	.exit = fl_accept_net_exit,
};

/* Context: process, module load; nobody has a budget yet. Return: 0 or a negative errno. */
int fl_accept_init(void)
{
	return register_pernet_subsys(&fl_accept_net_ops);
}

/* Context: process, module unload. */
void fl_accept_exit(void)
{
	unregister_pernet_subsys(&fl_accept_net_ops);
}
