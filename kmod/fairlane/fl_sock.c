// SPDX-License-Identifier: GPL-2.0
/*
 * Which sockets have settings: a table by socket, a list by cookie for each
 * network namespace, and when entries come and go.
 *
 * Sockets do not know of us, so we ask the kernel's tracepoints:
 *
 *	tcp_destroy_sock	a socket goes: so does its entry
 *	inet_sock_set_state	LISTEN -> SYN_RECV: a socket has just been
 *				copied from its listener
 *				-> ESTABLISHED: the connection is known
 *
 * Both are called with the socket locked. Netlink makes entries without that lock, for
 * which a process may keep it waiting: whoever has made one looks afterwards whether
 * the socket has gone meanwhile. The copy of a listener still bears
 * the listener's cookie when it enters SYN_RECV (inet_csk_clone_lock() sets the
 * state before the cookie): that names the very listener, in a group with
 * SO_REUSEPORT too, and costs nothing while no socket has settings.
 *
 * A listener's settings are taken over then, but take effect when the
 * connection is established or its congestion control starts, whichever comes
 * first: only then there is a tuple and a cookie to report.
 *
 * Socket pointers are table keys only while their socket lives. Entries are
 * freed by RCU, and not before an attached congestion control lets go of
 * them, which the stack makes it do after tcp_destroy_sock.
 */
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/sock_diag.h>
#include <linux/tracepoint.h>
#include <net/inet_hashtables.h>
#include <net/netns/generic.h>
#include <net/tcp.h>
#include <trace/events/sock.h>
#include <trace/events/tcp.h>

#include "fl_accept.h"
#include "fl_off.h"
#include "fl_prefix.h"
#include "fl_tracepoint.h"
#include "lib/line_rate.h"

static const struct rhashtable_params fl_table_params = {
	.key_len = sizeof(struct sock *),
	.key_offset = offsetof(struct fl_sock, sk),
	.head_offset = offsetof(struct fl_sock, node),
	.automatic_shrinking = true,
};

static struct rhashtable fl_table;
static struct kmem_cache *fl_sock_cache;
unsigned int fl_ns_id __read_mostly;

/**
 * fl_sock_find() - a socket's settings, if it has any
 * @sk: the socket
 *
 * Context: socket lock held, or RCU and the socket held.
 */
struct fl_sock *fl_sock_find(const struct sock *sk)
{
	struct fl_sock *f;

	if (!atomic_read(&fl_table.nelems))
		return NULL;
	rcu_read_lock();
	f = rhashtable_lookup(&fl_table, &sk, fl_table_params);
	rcu_read_unlock();
	return f;
}

/* Has the last reference of a process gone, and the connection? Then its settings
 * are freed. Context: any, the socket is held.
 */
bool fl_sock_gone(const struct sock *sk)
{
	return READ_ONCE(sk->sk_state) == TCP_CLOSE && sock_flag(sk, SOCK_DEAD);
}

/* Context: RCU callback. */
static void fl_sock_free_rcu(struct rcu_head *rcu)
{
	struct fl_sock *f = container_of(rcu, struct fl_sock, rcu);

	kfree(rcu_dereference_protected(f->decided, true));
	kmem_cache_free(fl_sock_cache, f);
}

static void fl_sock_put(struct fl_sock *f)
{
	if (!refcount_dec_and_test(&f->ref))
		return;
	fl_prefix_forget(f);
	kfree(f->meter);
	call_rcu(&f->rcu, fl_sock_free_rcu);
}

/* Nobody finds it any more. Called twice if a socket goes while its settings are made,
 * or outlives its namespace. Context: RCU, or socket lock held.
 */
static void fl_sock_remove(struct fl_sock *f)
{
	bool first;

	spin_lock_bh(&f->lock);
	first = !f->gone;
	f->gone = true;
	if (first) {
		rhashtable_remove_fast(&fl_table, &f->node, fl_table_params);
		if (f->cookie)
			xa_erase_bh(&f->ns->flows, f->cookie);
		if (*f->had)
			atomic64_dec(&f->ns->stats[FL_A_STAT_OFF_FLOWS]);
		fl_limit_release(f);
	}
	spin_unlock_bh(&f->lock);
	if (!first)
		return;
	atomic64_dec(&f->ns->stats[FL_A_STAT_FLOWS]);
	fl_sock_put(f);
}

/* New settings, all unset, or those that another has made just now. Context: socket
 * lock held, or RCU and the socket held.
 */
static struct fl_sock *fl_sock_create(struct sock *sk, gfp_t gfp)
{
	struct fl_ns *ns = fl_ns_of(sock_net(sk));
	struct fl_sock *f, *other;

	/* nobody would free it */
	if (fl_sock_gone(sk))
		return NULL;
	f = kmem_cache_zalloc(fl_sock_cache, gfp | __GFP_NOWARN);
	if (!f)
		goto nomem;
	f->sk = sk;
	f->ns = ns;
	refcount_set(&f->ref, 1);
	spin_lock_init(&f->lock);
	other = rhashtable_lookup_get_insert_fast(&fl_table, &f->node,
						  fl_table_params);
	if (other) {
		kmem_cache_free(fl_sock_cache, f);
		if (IS_ERR(other))
			goto nomem;
		return other;
	}
	fl_count(ns, FL_A_STAT_FLOWS);
	fl_count(ns, FL_A_STAT_CREATED);
	/* pairs with fl_on_destroy(): one of the two sees the other */
	smp_mb();
	if (!fl_sock_gone(sk))
		return f;
	fl_sock_remove(f);
	return NULL;

nomem:
	fl_count(ns, FL_A_STAT_NOMEM);
	return NULL;
}

/* Put it into the namespace's list, if it is not there. Context: @f->lock held; not
 * before the socket has its own cookie. Without memory it is not listed; the next call
 * tries again.
 */
static void fl_sock_list(struct sock *sk, struct fl_sock *f)
{
	u32 halves[2];
	u64 cookie;

	if (f->cookie || f->gone)
		return;
	sock_diag_save_cookie(sk, halves);
	cookie = halves[0] | (u64)halves[1] << 32;
	if (!xa_insert_bh(&f->ns->flows, cookie, f, GFP_ATOMIC | __GFP_NOWARN))
		WRITE_ONCE(f->cookie, cookie);
}

/**
 * fl_sock_get() - a socket's settings, made if there are none
 * @sk: the socket, not one that was just copied
 * @gfp: how to allocate
 *
 * Context: socket lock held, or RCU and the socket held. Return: NULL without memory, or
 * if the socket has gone.
 */
struct fl_sock *fl_sock_get(struct sock *sk, gfp_t gfp)
{
	struct fl_sock *f = fl_sock_find(sk);

	if (!f)
		f = fl_sock_create(sk, gfp);
	if (f && !READ_ONCE(f->cookie)) {
		spin_lock_bh(&f->lock);
		fl_sock_list(sk, f);
		spin_unlock_bh(&f->lock);
	}
	return f;
}

/**
 * fl_sock_hold() - hold the socket of settings that were found in a list
 * @f: the settings
 *
 * Context: RCU. Return: the socket (sock_put()), or NULL: it is on its way out.
 */
struct sock *fl_sock_hold(struct fl_sock *f)
{
	struct sock *sk = f->sk;

	if (!refcount_inc_not_zero(&sk->sk_refcnt))
		return NULL;
	/* its memory may be another socket by now */
	if (atomic64_read(&sk->sk_cookie) == READ_ONCE(f->cookie))
		return sk;
	sock_gen_put(sk);
	return NULL;
}

/**
 * fl_sock_tell() - fl_attr_tell() for a caller that has not locked the socket
 * @sk: the socket, held
 *
 * If a process has locked the socket, for however long, the control looks with its next
 * ACK or RTT. Context: process.
 */
void fl_sock_tell(struct sock *sk)
{
	struct fl_sock *f;

	local_bh_disable();
	bh_lock_sock(sk);
	f = sock_owned_by_user(sk) ? NULL : fl_sock_find(sk);
	if (f)
		fl_attr_tell(sk, f);
	bh_unlock_sock(sk);
	local_bh_enable();
}

/* Was a connection accepted, by what it did just now or by who listens? */
static bool fl_sock_accepted(const struct sock *sk, int old)
{
	if (old == TCP_SYN_SENT || old == TCP_SYN_RECV)
		return old == TCP_SYN_RECV;
	return fl_lookup_accepted(sock_net(sk), sk);
}

/* A connection begins, or its congestion control: settings take effect. The
 * policies are asked once, @old is the state that the connection was in. Where there are none,
 * what they had decided of the socket's last connection is to be forgotten. Context: socket lock
 * held.
 */
static void fl_sock_begin(struct sock *sk, struct fl_sock *f, int old)
{
	struct fl_choice choice;
	bool asked = !READ_ONCE(f->policy_gen) &&
		     (!list_empty(&f->ns->policies) || fl_sock_policy(f));
	u32 changed;

	if (asked)
		fl_policy_choose(sk, fl_sock_accepted(sk, old), &choice);
	/* another destination than the last time, perhaps */
	f->prefix_gen = 0;
	spin_lock_bh(&f->lock);
	fl_sock_list(sk, f);
	if (asked)
		fl_policy_note(f, &choice);
	changed = fl_attr_commit(sk, f);
	spin_unlock_bh(&f->lock);
	if (changed)
		fl_attr_tell(sk, f);
	if (old == TCP_SYN_RECV)
		fl_accept_note(f);
}

/**
 * fl_sock_attach() - a congestion control begins with a socket
 * @sk: the socket
 * @cc: the congestion control
 *
 * Context: init callback, softirq or process, socket lock held.
 * Return: the settings, valid until fl_sock_detach(); NULL without memory: all
 * fl_sock_...() take that for a socket with nothing set.
 */
struct fl_sock *fl_sock_attach(struct sock *sk, const struct fl_cc *cc)
{
	struct fl_sock *f = fl_sock_get(sk, GFP_ATOMIC);

	if (!f)
		return NULL;
	refcount_inc(&f->ref);
	/* the socket's last connection had other sequence numbers */
	if (f->meter)
		memset(f->meter, 0, sizeof(*f->meter));
	fl_count(f->ns, FL_A_STAT_FLOWS_CC);
	rcu_assign_pointer(f->attached, &cc->none);
	fl_sock_begin(sk, f, sk->sk_state);
	if (unlikely(fl_off_flow(f->ns, f->cookie)))
		fl_off_note(f);
	return f;
}
EXPORT_SYMBOL_GPL(fl_sock_attach);

/**
 * fl_sock_show() - from now on readers may look at what a congestion control has
 * @f: what fl_sock_attach() gave, or NULL
 * @at: in the control's memory of the flow, complete
 *
 * Context: any, socket lock held.
 */
void fl_sock_show(struct fl_sock *f, const struct fl_attached *at)
{
	if (f)
		rcu_assign_pointer(f->attached, at);
}
EXPORT_SYMBOL_GPL(fl_sock_show);

/**
 * fl_sock_shown() - what a congestion control has of a socket
 * @sk: the socket
 * @cc: the congestion control
 *
 * Context: RCU; the socket need not be locked. Return: what fl_sock_show() has shown;
 * NULL if that was nothing, or another control's.
 */
const struct fl_attached *fl_sock_shown(const struct sock *sk,
					const struct fl_cc *cc)
{
	const struct fl_sock *f = fl_sock_find(sk);
	const struct fl_attached *at = f ? rcu_dereference(f->attached) : NULL;

	return at && at->cc == cc && at != &cc->none ? at : NULL;
}
EXPORT_SYMBOL_GPL(fl_sock_shown);

/**
 * fl_sock_detach() - a congestion control leaves a socket
 * @sk: the socket
 * @f: what fl_sock_attach() gave, or NULL; not to be used afterwards
 *
 * What is set stays, for the next congestion control. Context: release
 * callback, any, socket lock held.
 */
void fl_sock_detach(struct sock *sk, struct fl_sock *f)
{
	if (!f)
		return;
	atomic64_dec(&f->ns->stats[FL_A_STAT_FLOWS_CC]);
	RCU_INIT_POINTER(f->attached, NULL);
	/* its weight may not count any more */
	spin_lock_bh(&f->lock);
	fl_attr_commit(sk, f);
	spin_unlock_bh(&f->lock);
	fl_sock_put(f);
}
EXPORT_SYMBOL_GPL(fl_sock_detach);

/**
 * fl_profile_for() - the profile that a socket goes by
 * @sk: the socket
 * @f: its settings, may be NULL
 *
 * Context: socket lock held; valid until it is released.
 */
const struct fl_profile *fl_profile_for(const struct sock *sk,
					struct fl_sock *f)
{
	if (!f)
		return fl_profile_get(sock_net(sk));
	if (unlikely(f->prefix_gen != READ_ONCE(f->ns->prefix_gen)))
		return fl_prefix_find(sk, f);
	return f->prefix ? &f->prefix->profile : f->ns->profile;
}
EXPORT_SYMBOL_GPL(fl_profile_for);

/* A socket was copied from its listener. Its cookie is the listener's still; newer kernels
 * have none there. Context: softirq, the copy is locked and nobody knows it yet.
 */
static void fl_on_copy(struct sock *sk)
{
	struct fl_ns *ns = fl_ns_of(sock_net(sk));
	u64 cookie = atomic64_read(&sk->sk_cookie);
	struct fl_sock *listener, *f;
	struct sock *lsk;

	rcu_read_lock();
	if (!cookie && !xa_empty(&ns->flows)) {
		lsk = fl_lookup_listener(sk);
		cookie = lsk ? atomic64_read(&lsk->sk_cookie) : 0;
	}
	listener = cookie ? xa_load(&ns->flows, cookie) : NULL;
	if (listener && READ_ONCE(listener->own.present)) {
		f = fl_sock_create(sk, GFP_ATOMIC);
		if (f)
			fl_attr_inherit(sk, f, listener);
	}
	rcu_read_unlock();
}

/* A connection of which we know nothing is established: does a policy concern it?
 * Context: socket lock held.
 */
static void fl_on_unknown(struct sock *sk, int old)
{
	struct fl_choice choice;
	struct fl_sock *f;

	if (list_empty(&fl_ns_of(sock_net(sk))->policies))
		return;
	fl_policy_choose(sk, fl_sock_accepted(sk, old), &choice);
	f = choice.order ? fl_sock_get(sk, GFP_ATOMIC) : NULL;
	if (!f)
		return;
	spin_lock_bh(&f->lock);
	fl_policy_note(f, &choice);
	fl_attr_commit(sk, f);
	spin_unlock_bh(&f->lock);
	if (old == TCP_SYN_RECV)
		fl_accept_note(f);
}

static void fl_on_state(void *data, const struct sock *csk, const int old,
			const int new)
{
	struct sock *sk = (struct sock *)csk;
	struct fl_sock *f;

	if (!fl_is_tcp(sk))
		return;
	if (new == TCP_SYN_RECV && old == TCP_LISTEN) {
		fl_on_copy(sk);
	} else if (new == TCP_ESTABLISHED) {
		f = fl_sock_find(sk);
		if (f)
			fl_sock_begin(sk, f, old);
		else
			fl_on_unknown(sk, old);
	} else if (new == TCP_CLOSE) {
		/* disconnect: the next connection is decided anew */
		f = fl_sock_find(sk);
		if (f)
			WRITE_ONCE(f->policy_gen, 0);
	}
}

static void fl_on_destroy(void *data, struct sock *sk)
{
	struct fl_sock *f;

	/* pairs with fl_sock_create() */
	smp_mb();
	f = fl_sock_find(sk);
	if (f)
		fl_sock_remove(f);
}

/**
 * struct fl_hook - a tracepoint that we follow
 * @name: of the tracepoint
 * @probe: called at it
 * @tp: the tracepoint, once found
 */
struct fl_hook {
	const char *name;
	void *probe;
	struct tracepoint *tp;
};

/* Freeing is the last to stop. */
static struct fl_hook fl_hooks[] = {
	{ .name = "tcp_destroy_sock", .probe = fl_on_destroy },
	{ .name = "inet_sock_set_state", .probe = fl_on_state },
};

static void fl_hooks_stop(size_t count)
{
	while (count--)
		tracepoint_probe_unregister(fl_hooks[count].tp,
					    fl_hooks[count].probe, NULL);
	tracepoint_synchronize_unregister();
}

static int fl_hooks_start(void)
{
	size_t i;
	int err;

	/* the compiler compares the arguments */
	check_trace_callback_type_inet_sock_set_state(fl_on_state);
	check_trace_callback_type_tcp_destroy_sock(fl_on_destroy);
	for (i = 0; i < ARRAY_SIZE(fl_hooks); i++) {
		err = -EOPNOTSUPP;
		fl_hooks[i].tp = fl_tracepoint(fl_hooks[i].name);
		if (fl_hooks[i].tp)
			err = tracepoint_probe_register(fl_hooks[i].tp,
							fl_hooks[i].probe,
							NULL);
		if (err) {
			pr_err("fairlane: no tracepoint %s: %d\n",
			       fl_hooks[i].name, err);
			fl_hooks_stop(i);
			return err;
		}
	}
	return 0;
}

static int __net_init fl_ns_init(struct net *net)
{
	struct fl_ns *ns = fl_ns_of(net);

	ns->net = net;
	mutex_init(&ns->requests);
	xa_init_flags(&ns->flows, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&ns->policies);
	ns->policy_gen = 1;
	INIT_LIST_HEAD(&ns->prefixes);
	mutex_init(&ns->prefix_lock);
	spin_lock_init(&ns->event_lock);
	fl_limit_net_init(ns);
	return 0;
}

/* Sockets of user space keep their namespace alive; one of the kernel's own may
 * outlast this call, without settings then.
 */
static void __net_exit fl_ns_exit(struct net *net)
{
	struct fl_ns *ns = fl_ns_of(net);
	struct fl_sock *f;
	unsigned long i;

	rcu_read_lock();
	xa_for_each(&ns->flows, i, f)
		fl_sock_remove(f);
	rcu_read_unlock();
	xa_destroy(&ns->flows);
	fl_policy_net_exit(ns);
	fl_prefix_net_exit(ns);
	fl_limit_net_exit(ns);
}

static struct pernet_operations fl_ns_ops = {
	.init = fl_ns_init,
	.exit = fl_ns_exit,
	.id = &fl_ns_id,
	.size = sizeof(struct fl_ns),
};

/* Only flows that no namespace lists, for want of memory, are left. */
static void fl_sock_free_last(void *ptr, void *arg)
{
	struct fl_sock *f = ptr;

	fl_prefix_forget(f);
	kfree(f->meter);
	kfree(rcu_dereference_protected(f->decided, true));
	kmem_cache_free(fl_sock_cache, f);
}

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_sock_init(void)
{
	int err;

	/* a process may have as many as it has sockets, at its group's expense */
	fl_sock_cache = kmem_cache_create("fairlane_flow",
					  sizeof(struct fl_sock), 0,
					  SLAB_ACCOUNT, NULL);
	if (!fl_sock_cache)
		return -ENOMEM;
	err = rhashtable_init(&fl_table, &fl_table_params);
	if (err)
		goto cache;
	err = register_pernet_subsys(&fl_ns_ops);
	if (err)
		goto table;
	err = fl_hooks_start();
	if (err)
		goto pernet;
	return 0;

pernet:
	unregister_pernet_subsys(&fl_ns_ops);
table:
	rhashtable_destroy(&fl_table);
cache:
	kmem_cache_destroy(fl_sock_cache);
	return err;
}

/* Context: process, module unload: no congestion control is left, sockets with
 * settings may be.
 */
void fl_sock_exit(void)
{
	fl_hooks_stop(ARRAY_SIZE(fl_hooks));
	unregister_pernet_subsys(&fl_ns_ops);
	rhashtable_free_and_destroy(&fl_table, fl_sock_free_last, NULL);
	rcu_barrier();
	kmem_cache_destroy(fl_sock_cache);
}
