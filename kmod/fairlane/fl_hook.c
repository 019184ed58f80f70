// SPDX-License-Identifier: GPL-2.0
/*
 * When a namespace has the hooks of fl_option.c: while one of its sockets uses them and
 * FL_HOOK_LINGER longer, as long after somebody has asked for them, or while the namespace
 * reflects for all sockets.
 *
 * Congestion controls begin in softirq, where hooks cannot be registered, so a work item
 * does it: the first segments of the first socket may go without.
 */
#include <linux/netfilter.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fairlane.h"
#include "fl_telemetry.h"

/* The next user mostly comes soon. */
#define FL_HOOK_LINGER	(10 * HZ)

/* Has somebody asked for them not long ago? The last one may have been before jiffies of 32 bits
 * have turned over by half.
 */
static bool fl_hook_asked(const struct fl_tel_net *tn)
{
	return READ_ONCE(tn->asked_until_jiffies) - jiffies - 1 <= FL_HOOK_LINGER;
}

/* Should a namespace have the hooks? */
static bool fl_hook_wanted(struct fl_tel_net *tn)
{
	return !fl_is_off(tn->net) &&
	       (READ_ONCE(tn->profile->telemetry) == FL_TEL_ALL ||
		atomic_read(&tn->users) || fl_hook_asked(tn));
}

/* Have the hooks looked at after a time. Context: any. */
static void fl_hook_queue(struct fl_tel_net *tn, unsigned long delay)
{
	spin_lock_bh(&tn->closing_lock);
	if (!tn->closing)
		mod_delayed_work(fl_system_wq, &tn->work, delay);
	spin_unlock_bh(&tn->closing_lock);
}

/* Registers the hooks of a namespace, or takes them back. Without memory the next user
 * has it tried again. Context: work.
 */
static void fl_hook_work(struct work_struct *work)
{
	struct fl_tel_net *tn = container_of(to_delayed_work(work),
					     struct fl_tel_net, work);
	bool want = fl_hook_wanted(tn);

	if (want == tn->hooked)
		goto out;
	if (!want)
		nf_unregister_net_hooks(tn->net, tn->hooks, FL_TEL_HOOKS);
	else if (nf_register_net_hooks(tn->net, tn->hooks, FL_TEL_HOOKS))
		return;
	WRITE_ONCE(tn->hooked, want);
out:
	/* asked for by somebody who may find no use for them */
	if (READ_ONCE(tn->hooked) && fl_hook_asked(tn))
		fl_hook_queue(tn, FL_HOOK_LINGER + 1);
}

/**
 * fl_hook_use() - a socket needs the hooks from now on
 * @sk: the socket
 *
 * Context: any.
 */
void fl_hook_use(const struct sock *sk)
{
	struct fl_tel_net *tn = fl_tel_net_of(sock_net(sk));

	if (atomic_inc_return(&tn->users) == 1 || !READ_ONCE(tn->hooked))
		fl_hook_queue(tn, 0);
}
EXPORT_SYMBOL_GPL(fl_hook_use);

/* ... and does not any more. Context: any. */
void fl_hook_unuse(const struct sock *sk)
{
	struct fl_tel_net *tn = fl_tel_net_of(sock_net(sk));

	if (atomic_dec_and_test(&tn->users))
		fl_hook_queue(tn, FL_HOOK_LINGER);
}
EXPORT_SYMBOL_GPL(fl_hook_unuse);

/**
 * fl_hook_there() - are the hooks there?
 * @sk: a socket that uses them
 *
 * Return: false for the time that it takes to register them, or without memory. Context: any.
 */
bool fl_hook_there(const struct sock *sk)
{
	return READ_ONCE(fl_tel_net_of(sock_net(sk))->hooked);
}
EXPORT_SYMBOL_GPL(fl_hook_there);

/**
 * fl_hook_ask() - a peer wants to be heard: have the hooks for FL_HOOK_LINGER
 * @net: the namespace
 *
 * Whoever finds a use for them then calls fl_hook_use(). Context: any, RCU.
 */
void fl_hook_ask(struct net *net)
{
	struct fl_tel_net *tn = fl_tel_net_of(net);

	WRITE_ONCE(tn->asked_until_jiffies, jiffies + FL_HOOK_LINGER);
	if (!READ_ONCE(tn->hooked))
		fl_hook_queue(tn, 0);
}
EXPORT_SYMBOL_GPL(fl_hook_ask);

/* What a socket's own IP options take in each segment, bytes. */
static u32 fl_tel_ip_options(const struct sock *sk)
{
	const struct ip_options_rcu *four;
	u32 bytes = 0;

	rcu_read_lock();
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		const struct ipv6_txoptions *six = rcu_dereference(inet6_sk(sk)->opt);

		bytes = six ? six->opt_flen + six->opt_nflen : 0;
		rcu_read_unlock();
		return bytes;
	}
#endif
	four = rcu_dereference(inet_sk(sk)->inet_opt);
	bytes = four ? four->opt.optlen : 0;
	rcu_read_unlock();
	return bytes;
}

/**
 * fl_tel_reserve() - leave room for options in each full segment
 * @sk: the socket; caller holds its lock
 * @bytes: how much; 0 takes it back
 *
 * Not by adding and subtracting: IPv6 options that are set on a connection forget what
 * is added.
 */
void fl_tel_reserve(struct sock *sk, u32 bytes)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	icsk->icsk_ext_hdr_len = fl_tel_ip_options(sk) + bytes;
	icsk->icsk_sync_mss(sk, icsk->icsk_pmtu_cookie);
}
EXPORT_SYMBOL_GPL(fl_tel_reserve);

/**
 * fl_tel_make_room() - a socket that reflects has found no room in a full segment
 * @sk: the socket; caller holds its lock
 * @tel: its telemetry
 *
 * Not if something has reserved room. What the socket's last connection had reserved is gone with
 * it, @tel->reserved or not. Context: LOCAL_OUT.
 */
void fl_tel_make_room(struct sock *sk, struct fl_tel *tel)
{
	if (inet_csk(sk)->icsk_ext_hdr_len != fl_tel_ip_options(sk))
		return;
	tel->reserved = true;
	fl_tel_reserve(sk, FL_TELEMETRY_BYTES);
}

/**
 * fl_tel_start() - a congestion control wants telemetry
 * @sk: the socket
 * @format: which option
 *
 * From now on every segment with data bears the option. Context: init callback,
 * socket lock held, any.
 * Return: valid until fl_tel_stop(); NULL if there can be none: the socket's
 * traffic is signed, or there is no memory.
 */
struct fl_tel *fl_tel_start(struct sock *sk, enum fl_tel_format format)
{
	struct fl_tel *tel;

	if (fl_tel_signed(sk)) {
		fl_tel_add(fl_tel_net_of(sock_net(sk)), FL_TEL_SIGNED);
		return NULL;
	}
	rcu_read_lock();
	tel = fl_tel_make(sk);
	if (tel)
		refcount_inc(&tel->ref);
	rcu_read_unlock();
	if (!tel)
		return NULL;
	tel->reserved = true;
	fl_tel_reserve(sk, FL_TELEMETRY_BYTES);
	fl_hook_use(sk);
	WRITE_ONCE(tel->format, format);
	WRITE_ONCE(tel->sending, true);
	return tel;
}
EXPORT_SYMBOL_GPL(fl_tel_start);

/**
 * fl_tel_stop() - a congestion control leaves a socket
 * @sk: the socket
 * @tel: what fl_tel_start() gave, or NULL
 *
 * What the peer sends is still reflected as long as the hooks are there. Context:
 * release callback, socket lock held.
 */
void fl_tel_stop(struct sock *sk, struct fl_tel *tel)
{
	if (!tel)
		return;
	WRITE_ONCE(tel->sending, false);
	if (tel->reserved) {
		tel->reserved = false;
		if (sk->sk_state != TCP_CLOSE)
			fl_tel_reserve(sk, 0);
	}
	fl_hook_unuse(sk);
	fl_tel_put_ref(tel);
}
EXPORT_SYMBOL_GPL(fl_tel_stop);

/**
 * fl_tel_watch() - a congestion control wants to know the TTL of what comes, or not
 * @sk: the socket; caller holds its lock
 * @tel: where it is told, NULL = not watched; updated
 * @want: does it?
 *
 * Takes no room in segments. Without memory nothing is told. Context: any.
 */
void fl_tel_watch(struct sock *sk, struct fl_tel **tel, bool want)
{
	struct fl_tel *t = *tel;

	if (want == !!t)
		return;
	if (!want) {
		WRITE_ONCE(*tel, NULL);
		WRITE_ONCE(t->watched, false);
		atomic_dec(&fl_tel_watched);
		fl_hook_unuse(sk);
		fl_tel_put_ref(t);
		return;
	}
	rcu_read_lock();
	t = fl_tel_make(sk);
	if (t)
		refcount_inc(&t->ref);
	rcu_read_unlock();
	if (!t)
		return;
	fl_hook_use(sk);
	WRITE_ONCE(t->watched, true);
	atomic_inc(&fl_tel_watched);
	WRITE_ONCE(*tel, t);
}
EXPORT_SYMBOL_GPL(fl_tel_watch);

/* Settings of a namespace have changed. Context: RCU. */
static void fl_hook_settings(struct net *net)
{
	struct fl_tel_net *tn = fl_tel_net_of(net);

	if (READ_ONCE(tn->hooked) != fl_hook_wanted(tn))
		fl_hook_queue(tn, 0);
}

/* Each hook is given what belongs to its namespace: it is looked up once. */
static int __net_init fl_hook_net_init(struct net *net)
{
	struct fl_tel_net *tn = fl_tel_net_of(net);
	unsigned int i;

	for (i = 0; i < FL_TEL_HOOKS; i++) {
		tn->hooks[i] = fl_option_hooks[i];
		tn->hooks[i].priv = tn;
	}
	tn->net = net;
	tn->asked_until_jiffies = jiffies;
	spin_lock_init(&tn->closing_lock);
	INIT_DELAYED_WORK(&tn->work, fl_hook_work);
	/* what it has inherited may want them before the first packet */
	fl_hook_work(&tn->work.work);
	return 0;
}

static void __net_exit fl_hook_net_exit(struct net *net)
{
	struct fl_tel_net *tn = fl_tel_net_of(net);

	spin_lock_bh(&tn->closing_lock);
	tn->closing = true;
	spin_unlock_bh(&tn->closing_lock);
	cancel_delayed_work_sync(&tn->work);
	if (tn->hooked)
		nf_unregister_net_hooks(net, tn->hooks, FL_TEL_HOOKS);
}

static struct pernet_operations fl_hook_net_ops = {
	.init = fl_hook_net_init,
	.exit = fl_hook_net_exit,
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_hook_init(void)
{
	int err = register_pernet_subsys(&fl_hook_net_ops);

	if (!err)
		rcu_assign_pointer(fl_profile_watch, fl_hook_settings);
	return err;
}

/* Context: process, module unload. No hook runs afterwards. */
void fl_hook_exit(void)
{
	RCU_INIT_POINTER(fl_profile_watch, NULL);
	synchronize_rcu();
	unregister_pernet_subsys(&fl_hook_net_ops);
	synchronize_net();
}
