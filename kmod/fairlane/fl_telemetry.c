// SPDX-License-Identifier: GPL-2.0
/*
 * Which sockets have telemetry: a table by socket, and counters.
 *
 * A socket gets an entry when its congestion control wants telemetry, or, where the
 * namespace reflects for all sockets, when the first option comes with data. The second
 * happens in a netfilter hook, for each packet, where the settings of a socket (fl_sock.c),
 * which have a lock of their own, are no place for it.
 *
 * Entries go with the socket, at the tracepoint tcp_destroy_sock, or when a socket that has been
 * disconnected makes another connection, at inet_sock_set_state: the next peer is told nothing of
 * what the last one's data has met.
 *
 * A hook on another processor may add one just then. The socket's state is TCP_CLOSE long
 * before the tracepoint, so whoever has added an entry looks at the state
 * afterwards and takes it back: one of the two sees the other.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/rhashtable.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>
#include <net/netns/generic.h>
#include <net/tcp.h>
#include <trace/events/sock.h>
#include <trace/events/tcp.h>

#include "compat/compat.h"
#include "fairlane.h"
#include "fl_telemetry.h"
#include "fl_tracepoint.h"

static const char * const fl_tel_names[] = {
	[FL_TEL_SENT] = "sent",
	[FL_TEL_ECHOED] = "echoed",
	[FL_TEL_NO_ROOM] = "no_room",
	[FL_TEL_SIGNED] = "signed",
	[FL_TEL_HEARD] = "heard",
	[FL_TEL_ECHOES] = "echoes",
	[FL_TEL_BAD] = "bad",
	[FL_TEL_STRAY] = "stray",
	[FL_TEL_NO_MEMORY] = "no_memory",
	[FL_TEL_FALLBACKS] = "fallbacks",
	[FL_TEL_EATEN] = "eaten",
	[FL_TEL_MESSAGES] = "messages",
};

/* Each packet looks up. Sockets are at least a cache line apart. */
static u32 fl_tel_hash(const void *key, u32 len, u32 seed)
{
	return hash_ptr(*(const void * const *)key, 32) ^ seed;
}

static int fl_tel_differs(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct fl_tel *tel = obj;

	return tel->sk != *(const struct sock * const *)arg->key;
}

static const struct rhashtable_params fl_tel_params = {
	.hashfn = fl_tel_hash,
	.obj_cmpfn = fl_tel_differs,
	.key_len = sizeof(struct sock *),
	.key_offset = offsetof(struct fl_tel, sk),
	.head_offset = offsetof(struct fl_tel, node),
	.automatic_shrinking = true,
};

static struct rhashtable fl_tel_table;
static struct kmem_cache *fl_tel_cache;
unsigned int fl_tel_net_id __read_mostly;

/* Sockets whose TTL is watched: without, no packet is looked at for it. */
atomic_t fl_tel_watched __read_mostly;
static struct tracepoint *fl_tel_tracepoint;
static struct tracepoint *fl_tel_state_tracepoint;

/* For fl_tel_lookup(): entries by the hash of their socket, one in a place, who came
 * first. The others are found in the table, which has all.
 */
struct fl_tel *fl_tel_near[1 << FL_TEL_NEAR_SHIFT];

/* Entries are put at their places and taken away under this, and @gone is set. Nothing else is
 * locked inside. BH.
 */
static DEFINE_SPINLOCK(fl_tel_near_lock);

/* Let an entry be found at its place, if that is free. It may be taken out of the table just now,
 * and a reader that finds it afterwards is not waited for: so it is not put there any more.
 * Context: RCU, process or softirq.
 */
static void fl_tel_show(struct fl_tel *tel)
{
	struct fl_tel **place = fl_tel_place(tel->sk);

	if (READ_ONCE(*place))
		return;
	spin_lock_bh(&fl_tel_near_lock);
	if (!*place && !tel->gone) {
		/* pairs with fl_tel_lookup(), by the address */
		smp_store_release(place, tel);
	}
	spin_unlock_bh(&fl_tel_near_lock);
}

static void fl_tel_hide(struct fl_tel *tel)
{
	struct fl_tel **place = fl_tel_place(tel->sk);

	spin_lock_bh(&fl_tel_near_lock);
	tel->gone = true;
	if (*place == tel)
		WRITE_ONCE(*place, NULL);
	spin_unlock_bh(&fl_tel_near_lock);
}

/* What fl_tel_lookup() has not found at its place. Context: RCU, the socket is
 * held.
 */
struct fl_tel *fl_tel_search(const struct sock *sk)
{
	struct fl_tel *tel;

	if (!atomic_read(&fl_tel_table.nelems))
		return NULL;
	tel = rhashtable_lookup(&fl_tel_table, &sk, fl_tel_params);
	if (tel)
		fl_tel_show(tel);
	return tel;
}

/* Context: RCU callback. */
static void fl_tel_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(fl_tel_cache, container_of(rcu, struct fl_tel, rcu));
}

/* Gives back a reference. Context: any. */
void fl_tel_put_ref(struct fl_tel *tel)
{
	if (refcount_dec_and_test(&tel->ref))
		call_rcu(&tel->rcu, fl_tel_free_rcu);
}

static void fl_tel_remove(struct fl_tel *tel)
{
	if (rhashtable_remove_fast(&fl_tel_table, &tel->node, fl_tel_params))
		return;
	fl_tel_hide(tel);
	fl_tel_put_ref(tel);
}

/**
 * fl_tel_make() - find or make a socket's entry
 * @sk: the socket, held
 *
 * Context: RCU, any; without the socket lock.
 * Return: valid under RCU; NULL without memory or if the socket is closed.
 */
struct fl_tel *fl_tel_make(struct sock *sk)
{
	struct fl_tel *tel = fl_tel_lookup(sk), *other;

	if (tel)
		return tel;
	tel = kmem_cache_zalloc(fl_tel_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!tel)
		goto nomem;
	tel->sk = sk;
	refcount_set(&tel->ref, 1);
	other = rhashtable_lookup_get_insert_fast(&fl_tel_table, &tel->node,
						  fl_tel_params);
	if (other) {
		kmem_cache_free(fl_tel_cache, tel);
		if (IS_ERR(other))
			goto nomem;
		return other;
	}
	/* see the head of this file; pairs with fl_tel_on_destroy() */
	smp_mb();
	if (READ_ONCE(sk->sk_state) == TCP_CLOSE) {
		fl_tel_remove(tel);
		return NULL;
	}
	return tel;

nomem:
	fl_tel_add(fl_tel_net_of(sock_net(sk)), FL_TEL_NO_MEMORY);
	return NULL;
}

/* Counts a flow that goes on without telemetry. Context: any. */
void fl_tel_note_fallback(const struct sock *sk)
{
	fl_tel_add(fl_tel_net_of(sock_net(sk)), FL_TEL_FALLBACKS);
}
EXPORT_SYMBOL_GPL(fl_tel_note_fallback);

/* Context: socket lock held, its state is TCP_CLOSE. */
static void fl_tel_on_destroy(void *data, struct sock *sk)
{
	struct fl_tel *tel;

	/* pairs with fl_tel_make() */
	smp_mb();
	rcu_read_lock();
	tel = fl_tel_lookup(sk);
	if (tel)
		fl_tel_remove(tel);
	rcu_read_unlock();
}

/* Before the state changes. Context: socket lock held. */
static void fl_tel_on_state(void *data, const struct sock *sk, const int old, const int new)
{
	if (old == TCP_CLOSE)
		fl_tel_on_destroy(NULL, (struct sock *)sk);
}

static int fl_tel_print(struct seq_file *seq, void *v)
{
	struct fl_tel_net *tn = fl_tel_net_of(seq_file_single_net(seq));
	int i, cpu;
	u64 sum;

	for (i = 0; i < FL_TEL_COUNTS; i++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(tn->counts, cpu)->n[i]);
		seq_printf(seq, "%s %llu\n", fl_tel_names[i], sum);
	}
	seq_printf(seq, "hooked %d\n", READ_ONCE(tn->hooked));
	return 0;
}

static int __net_init fl_tel_net_init(struct net *net)
{
	struct fl_tel_net *tn = fl_tel_net_of(net);

	tn->profile = fl_profile_get(net);
	tn->counts = alloc_percpu(struct fl_tel_counts);
	if (!tn->counts)
		return -ENOMEM;
	if (!proc_create_net_single("fairlane_telemetry", 0444, net->proc_net,
				    fl_tel_print, NULL)) {
		free_percpu(tn->counts);
		return -ENOMEM;
	}
	return 0;
}

static void __net_exit fl_tel_net_exit(struct net *net)
{
	remove_proc_entry("fairlane_telemetry", net->proc_net);
	free_percpu(fl_tel_net_of(net)->counts);
}

static struct pernet_operations fl_tel_net_ops = {
	.init = fl_tel_net_init,
	.exit = fl_tel_net_exit,
	.id = &fl_tel_net_id,
	.size = sizeof(struct fl_tel_net),
};

/* No hook and no congestion control is left, sockets may be. */
static void fl_tel_free(void *ptr, void *arg)
{
	kmem_cache_free(fl_tel_cache, ptr);
}

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_telemetry_init(void)
{
	int err;

	BUILD_BUG_ON(ARRAY_SIZE(fl_tel_names) != FL_TEL_COUNTS);
	/* the compiler compares the arguments */
	check_trace_callback_type_tcp_destroy_sock(fl_tel_on_destroy);
	check_trace_callback_type_inet_sock_set_state(fl_tel_on_state);
	fl_tel_tracepoint = fl_tracepoint("tcp_destroy_sock");
	fl_tel_state_tracepoint = fl_tracepoint("inet_sock_set_state");
	if (!fl_tel_tracepoint || !fl_tel_state_tracepoint)
		return -EOPNOTSUPP;
	/* packets make them, in softirq: what a process makes is its group's */
	BUILD_BUG_ON(sizeof(struct fl_tel) > max_t(size_t, SMP_CACHE_BYTES, 64));
	fl_tel_cache = kmem_cache_create("fairlane_telemetry",
					 sizeof(struct fl_tel), 0,
					 SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT,
					 NULL);
	if (!fl_tel_cache)
		return -ENOMEM;
	err = rhashtable_init(&fl_tel_table, &fl_tel_params);
	if (err)
		goto cache;
	err = register_pernet_subsys(&fl_tel_net_ops);
	if (err)
		goto table;
	err = tracepoint_probe_register(fl_tel_tracepoint, fl_tel_on_destroy,
					NULL);
	if (err)
		goto pernet;
	err = tracepoint_probe_register(fl_tel_state_tracepoint, fl_tel_on_state, NULL);
	if (err)
		goto probe;
	return 0;

probe:
	tracepoint_probe_unregister(fl_tel_tracepoint, fl_tel_on_destroy, NULL);
	tracepoint_synchronize_unregister();
pernet:
	unregister_pernet_subsys(&fl_tel_net_ops);
table:
	rhashtable_destroy(&fl_tel_table);
cache:
	kmem_cache_destroy(fl_tel_cache);
	return err;
}

/* Context: process, module unload, after fl_hook_exit(). */
void fl_telemetry_exit(void)
{
	tracepoint_probe_unregister(fl_tel_state_tracepoint, fl_tel_on_state, NULL);
	tracepoint_probe_unregister(fl_tel_tracepoint, fl_tel_on_destroy, NULL);
	tracepoint_synchronize_unregister();
	unregister_pernet_subsys(&fl_tel_net_ops);
	rhashtable_free_and_destroy(&fl_tel_table, fl_tel_free, NULL);
	rcu_barrier();
	kmem_cache_destroy(fl_tel_cache);
}
