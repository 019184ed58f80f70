// SPDX-License-Identifier: GPL-2.0
/*
 * Off by one word: net.fairlane.off = 1, and every connection of the namespace that has
 * one of our congestion controls goes on with the system's, with its data, its window
 * and its socket untouched. net.fairlane.off = 0 gives each back what it had. With
 * net.fairlane.share_permille below 1000 that is so for a part of the connections, those that
 * run and those that come: a canary.
 *
 *	write of the sysctl		init callback of a control while off
 *	marks all flows			marks its flow
 *	            \			/
 *	             work: for each marked flow
 *			lock the socket, unless its owner has it
 *			off: the system's control;  on: the one that it had
 *			unmark
 *	             some left? again, later and later
 *
 * The control is changed for real, as setsockopt(TCP_CONGESTION) does it, instead of
 * having each control act as if it were another: then nothing of ours is in the way
 * of what the operator wants to be rid of, its module can be removed with the
 * connections running, and no control has to know of this. The kernel exports no function
 * for it, so this file does what tcp_reinit_congestion_control() does.
 *
 * A socket whose owner has locked it is not waited for: he can keep it for as long
 * as he likes. Meanwhile no ACK reaches its control either. The work comes back.
 *
 * The system's control is the namespace's default; if that is one of ours, the first
 * namespace's; if that is, too, cubic, and reno without it. The one who knows all by name
 * is TCP: a socket of the kernel's, never connected, is told to use it, holds its module
 * and has the pointer.
 *
 * Lost with the control: what it has learned of the path. Kept: settings of the socket
 * (fl_sock.h). A connection begins with our control if the application asks for it, or
 * the default says so, and has it until the work comes, mostly before its first data.
 */
#include <linux/bpf.h>
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <linux/sysctl.h>
#include <net/inet_ecn.h>

#include "compat/compat.h"
#include "fl_off.h"

/* Until sockets that were locked are looked at again: at first, and at most. */
#define FL_OFF_AGAIN_MIN	1
#define FL_OFF_AGAIN_MAX	(HZ / 2)

/* Flows that are marked at once. */
#define FL_OFF_LOOK	256

/**
 * fl_is_off() - does a namespace do without our congestion controls?
 * @net: the namespace
 *
 * Context: any.
 */
bool fl_is_off(const struct net *net)
{
	return READ_ONCE(fl_ns_of(net)->off.on);
}
EXPORT_SYMBOL_GPL(fl_is_off);

/* Is it one of ours? They all tell the same of a socket. Context: @sk is held. */
static bool fl_off_ours(struct sock *sk, const struct tcp_congestion_ops *ca)
{
	union tcp_cc_info info;
	int attr = 0;

	return ca->get_info && ca->get_info(sk, FL_DIAG_EXT, &attr, &info) &&
	       attr == FL_DIAG_ATTR;
}

/* Has the kernel's socket @holder hold a control. Context: process; may load a module.
 * Return: the control, valid as long as @holder has it; NULL if there is none of that
 * name, or it is a BPF program, which modules cannot hold.
 */
static const struct tcp_congestion_ops *fl_off_find(struct socket *holder,
						    const char *name)
{
	const struct tcp_congestion_ops *ca = inet_csk(holder->sk)->icsk_ca_ops;

	if (strcmp(ca->name, name)) {
		if (holder->ops->setsockopt(holder, SOL_TCP, TCP_CONGESTION,
					    KERNEL_SOCKPTR((void *)name),
					    strlen(name)))
			return NULL;
		ca = inet_csk(holder->sk)->icsk_ca_ops;
	}
#ifdef BPF_MODULE_OWNER
	if (ca->owner == BPF_MODULE_OWNER)
		return NULL;
#endif
	return ca;
}

/* Name of a namespace's default. */
static void fl_off_default(const struct net *net, char *name)
{
	rcu_read_lock();
	strscpy(name, rcu_dereference(net->ipv4.tcp_congestion_control)->name,
		TCP_CA_NAME_MAX);
	rcu_read_unlock();
}

/* The system's control, held by @holder. Return: NULL without memory. */
static const struct tcp_congestion_ops *fl_off_system(struct fl_ns *ns,
						      struct socket *holder)
{
	char names[4][TCP_CA_NAME_MAX] = { "", "", "cubic", "reno" };
	const struct tcp_congestion_ops *ca;
	size_t i;

	fl_off_default(ns->net, names[0]);
	fl_off_default(&init_net, names[1]);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ca = fl_off_find(holder, names[i]);
		if (ca && !fl_off_ours(holder->sk, ca))
			return ca;
	}
	return NULL;
}

/* Have the stack's own timer send what waits: it has a reference of its own, and a flow
 * that PrioPlus or credit had stopped gets no ACK that would do it. Context: socket
 * locked by this, not by its owner.
 */
static void fl_off_send(struct sock *sk)
{
	struct hrtimer *timer = &tcp_sk(sk)->pacing_timer;

	if (hrtimer_try_to_cancel(timer) != 1)
		sock_hold(sk);
	hrtimer_start(timer, 0, HRTIMER_MODE_REL_PINNED_SOFT);
}

/* Gives a connection another control. Context: BH, socket locked by this, not by its
 * owner; somebody holds @ca. Return: is that done?
 */
static bool fl_off_switch(struct sock *sk, const struct tcp_congestion_ops *ca)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_congestion_ops *old = icsk->icsk_ca_ops;

	if (!try_module_get(ca->owner))
		return false;
	if (old->release)
		old->release(sk);
	WRITE_ONCE(icsk->icsk_ca_ops, ca);
	memset(icsk->icsk_ca_priv, 0, sizeof(icsk->icsk_ca_priv));
	module_put(old->owner);
	tcp_sk(sk)->prior_ssthresh = 0;
	if (ca->init)
		ca->init(sk);
	if (tcp_ca_needs_ecn(sk))
		INET_ECN_xmit(sk);
	else
		INET_ECN_dontxmit(sk);
	fl_off_send(sk);
	return true;
}

/* Notes what a flow had, "" = nothing, and what it was given instead. */
static void fl_off_remember(struct fl_sock *f, const char *had,
			    const struct tcp_congestion_ops *given)
{
	spin_lock_bh(&f->lock);
	if (!f->gone) {
		atomic64_add(!!*had - !!*f->had,
			     &f->ns->stats[FL_A_STAT_OFF_FLOWS]);
		strscpy_pad(f->had, had, sizeof(f->had));
		f->given = given;
	}
	spin_unlock_bh(&f->lock);
}

/* A flow is as it should be, whatever that is. @ca: the system's control while off; that
 * called @had while on, NULL = there is no such any more. The kernel notes that somebody has chosen
 * a control, also one that the socket has; that is taken away with @had, so that a choice made
 * meanwhile is seen. Context: as fl_off_switch().
 */
static void fl_off_settle(struct sock *sk, struct fl_sock *f, bool off,
			  const struct tcp_congestion_ops *ca, const char *had)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_congestion_ops *now = icsk->icsk_ca_ops;
	char name[TCP_CA_NAME_MAX];

	if (!icsk->icsk_ca_initialized)
		return;
	if (off) {
		if (!rcu_access_pointer(f->attached))
			return;
		/* one that nobody can ask for by name is a part of another */
		strscpy(name, now->list.next ? now->name :
			rcu_dereference(f->attached)->cc->name, sizeof(name));
		if (!fl_off_switch(sk, ca))
			return;
		f->asked = icsk->icsk_ca_setsockopt;
		icsk->icsk_ca_setsockopt = 0;
		fl_off_remember(f, name, ca);
		return;
	}
	if (!*f->had || strcmp(f->had, had))
		return;
	if (ca && now == f->given && !icsk->icsk_ca_setsockopt && fl_off_switch(sk, ca))
		icsk->icsk_ca_setsockopt = f->asked;
	fl_off_remember(f, "", NULL);
}

/* One marked flow. Context: process, the socket is held. Return: is it settled? */
static bool fl_off_one(struct fl_ns *ns, struct sock *sk, bool off,
		       const struct tcp_congestion_ops *ca, const char *had)
{
	struct fl_sock *f;
	bool mine;

	local_bh_disable();
	bh_lock_sock(sk);
	mine = !sock_owned_by_user(sk);
	if (mine) {
		rcu_read_lock();
		f = fl_sock_find(sk);
		if (f) {
			xa_lock(&ns->flows);
			__xa_clear_mark(&ns->flows, f->cookie, FL_OFF_MARK);
			xa_unlock(&ns->flows);
			fl_off_settle(sk, f, off, ca, had);
		}
		rcu_read_unlock();
	}
	bh_unlock_sock(sk);
	local_bh_enable();
	return mine;
}

/* The next marked flow from @cookie on. Return: false behind the last. *@sk: its socket,
 * held; NULL = it is going. @had: the control that it had.
 */
static bool fl_off_next(struct fl_ns *ns, unsigned long *cookie,
			struct sock **sk, char *had)
{
	struct fl_sock *f;

	rcu_read_lock();
	f = xa_find(&ns->flows, cookie, ULONG_MAX, FL_OFF_MARK);
	*sk = f ? fl_sock_hold(f) : NULL;
	if (*sk)
		strscpy(had, f->had, TCP_CA_NAME_MAX);
	rcu_read_unlock();
	return f;
}

/* All marked flows. Return: how many could not be settled now. */
static u32 fl_off_pass(struct fl_ns *ns, struct socket *holder)
{
	const struct tcp_congestion_ops *ca;
	char had[TCP_CA_NAME_MAX];
	unsigned long cookie = 0;
	struct sock *sk;
	u32 left = 0;
	bool off;

	while (fl_off_next(ns, &cookie, &sk, had)) {
		if (sk) {
			off = fl_off_flow(ns, cookie);
			ca = off ? fl_off_system(ns, holder) :
			     *had ? fl_off_find(holder, had) : NULL;
			/* without memory it stays marked, too */
			left += (off && !ca) || !fl_off_one(ns, sk, off, ca, had);
			sock_put(sk);
		}
		if (++cookie == 0)
			break;
		cond_resched();
	}
	return left;
}

static void fl_off_work(struct work_struct *work)
{
	struct fl_off *o = container_of(to_delayed_work(work), struct fl_off,
					work);
	struct fl_ns *ns = container_of(o, struct fl_ns, off);
	struct socket *holder;
	u32 left = 1;

	if (!sock_create_kern(ns->net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			      &holder)) {
		left = fl_off_pass(ns, holder);
		sock_release(holder);
	}
	atomic64_set(&ns->stats[FL_A_STAT_OFF_WAITING], left);
	if (!left) {
		o->again = FL_OFF_AGAIN_MIN;
		return;
	}
	fl_off_queue(ns, o->again);
	o->again = min_t(unsigned long, 2 * o->again, FL_OFF_AGAIN_MAX);
}

/* Marks all flows, some at a time: with softirqs off nobody else's packets go on. A flow that
 * comes meanwhile has seen the setting. Context: process.
 */
static void fl_off_mark(struct fl_ns *ns)
{
	unsigned long cookie = 0;
	struct fl_sock *f;
	int i;

	do {
		xa_lock_bh(&ns->flows);
		for (i = 0; i < FL_OFF_LOOK; i++) {
			f = xa_find_after(&ns->flows, &cookie, ULONG_MAX, XA_PRESENT);
			if (!f)
				break;
			__xa_set_mark(&ns->flows, cookie, FL_OFF_MARK);
		}
		xa_unlock_bh(&ns->flows);
		cond_resched();
	} while (f);
}

/* The setting has been written: each flow is looked at. Returns when all were but those
 * whose owners have them locked. Context: process.
 */
static void fl_off_written(struct fl_ns *ns)
{
	fl_profile_watch_fn *watch;

	fl_off_mark(ns);
	fl_off_queue(ns, 0);
	flush_delayed_work(&ns->off.work);
	/* telemetry is neither put in nor reflected while off */
	rcu_read_lock();
	watch = rcu_dereference(fl_profile_watch);
	if (watch)
		watch(ns->net);
	rcu_read_unlock();
}

/* One of both settings, of a namespace. */
static int fl_off_setting(struct fl_ns *ns, FL_CTL_TABLE *ctl, int write, void *buffer,
			  size_t *lenp, loff_t *ppos)
{
	const u32 *value = ctl->data;
	u32 before = READ_ONCE(*value);
	int err;

	err = proc_douintvec_minmax(ctl, write, buffer, lenp, ppos);
	if (!err && write && before != READ_ONCE(*value))
		fl_off_written(ns);
	return err;
}

static int fl_off_handler(FL_CTL_TABLE *ctl, int write, void *buffer,
			  size_t *lenp, loff_t *ppos)
{
	return fl_off_setting(container_of(ctl->data, struct fl_ns, off.on), ctl,
			      write, buffer, lenp, ppos);
}

static int fl_off_share_handler(FL_CTL_TABLE *ctl, int write, void *buffer,
				size_t *lenp, loff_t *ppos)
{
	return fl_off_setting(container_of(ctl->data, struct fl_ns, off.share_permille), ctl,
			      write, buffer, lenp, ppos);
}

static int __net_init fl_off_net_init(struct net *net)
{
	const struct fl_off *first = &fl_ns_of(&init_net)->off;
	struct fl_off *o = &fl_ns_of(net)->off;

	spin_lock_init(&o->lock);
	INIT_DELAYED_WORK(&o->work, fl_off_work);
	o->again = FL_OFF_AGAIN_MIN;
	o->table[0] = (struct ctl_table) {
		.procname = "off",
		.data = &o->on,
		.maxlen = sizeof(o->on),
		.mode = 0644,
		.proc_handler = fl_off_handler,
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	};
	o->table[1] = (struct ctl_table) {
		.procname = "share_permille",
		.data = &o->share_permille,
		.maxlen = sizeof(o->share_permille),
		.mode = 0644,
		.proc_handler = fl_off_share_handler,
		.extra1 = SYSCTL_ONE,
		.extra2 = SYSCTL_ONE_THOUSAND,
	};
	o->share_permille = 1000;
	o->header = fl_register_net_sysctl(net, "net/fairlane", o->table, 2);
	if (!o->header)
		return -ENOMEM;
	/* a host that is off stays off for containers that come */
	if (!net_eq(net, &init_net)) {
		WRITE_ONCE(o->on, READ_ONCE(first->on));
		WRITE_ONCE(o->share_permille, READ_ONCE(first->share_permille));
	}
	return 0;
}

static void __net_exit fl_off_net_exit(struct net *net)
{
	struct fl_off *o = &fl_ns_of(net)->off;

	unregister_net_sysctl_table(o->header);
	spin_lock_bh(&o->lock);
	o->closing = true;
	spin_unlock_bh(&o->lock);
	cancel_delayed_work_sync(&o->work);
}

static struct pernet_operations fl_off_net_ops = {
	.init = fl_off_net_init,
	.exit = fl_off_net_exit,
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_off_init(void)
{
	return register_pernet_subsys(&fl_off_net_ops);
}

/* Context: process, module unload. */
void fl_off_exit(void)
{
	unregister_pernet_subsys(&fl_off_net_ops);
}
