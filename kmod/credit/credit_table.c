// SPDX-License-Identifier: GPL-2.0
/*
 * Which sockets send by credit or give it: a table by socket, and counters.
 *
 * An entry holds a reference on its socket. A sender's goes with its congestion
 * control. A receiver's is made by a packet, whatever the congestion control is, and
 * goes with the socket (credit_main.c).
 */
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/mptcp.h>
#include <net/netns/generic.h>

#include "credit/credit.h"
#include "fairlane/fl_telemetry.h"

/* Buckets of the table: 2^this. */
#define FL_CREDIT_TABLE_SHIFT	12

/**
 * struct fl_credit_net - counters of a network namespace
 * @n: by enum fl_credit_count
 */
struct fl_credit_net {
	atomic64_t n[FL_CREDIT_COUNTS];
};

static const char * const fl_credit_names[] = {
	[FL_CREDIT_N_REQUESTS] = "requests",
	[FL_CREDIT_N_GIVEN] = "given",
	[FL_CREDIT_N_PORT_DROPS] = "port_drops",
	[FL_CREDIT_N_BACK] = "back",
	[FL_CREDIT_N_LOST] = "lost",
	[FL_CREDIT_N_TIMEOUTS] = "timeouts",
	[FL_CREDIT_N_GOT] = "got",
	[FL_CREDIT_N_WASTED] = "wasted",
	[FL_CREDIT_N_ASKED] = "asked",
	[FL_CREDIT_N_FALLBACKS] = "fallbacks",
	[FL_CREDIT_N_BAD] = "bad",
	[FL_CREDIT_N_STRAY] = "stray",
	[FL_CREDIT_N_REFUSED] = "refused",
	[FL_CREDIT_N_NO_ROOM] = "no_room",
};

static struct fl_setting fl_credit_setting_table[] = {
	FL_SETTING(struct fl_credit_settings, credit, 1, 0, 1),
	FL_RESEARCH_SETTING(struct fl_credit_settings, credit_dscp, 40, 0,
			    64 - FL_CREDIT_DSCPS),
	FL_RESEARCH_SETTING(struct fl_credit_settings, credit_segs, 0, 0, FL_CREDIT_SEGS_MAX),
	FL_RESEARCH_SETTING(struct fl_credit_settings, credit_host_limit, 1, 0, 1),
	FL_RESEARCH_SETTING(struct fl_credit_settings, expresspass_permille, 1000, 1, 1000),
	FL_RESEARCH_SETTING(struct fl_credit_settings, flexpass_permille, 480, 1, 1000),
};

static struct fl_settings fl_credit_settings = {
	.owner = KBUILD_MODNAME,
	.table = fl_credit_setting_table,
	.count = ARRAY_SIZE(fl_credit_setting_table),
};

static DEFINE_HASHTABLE(fl_credit_table, FL_CREDIT_TABLE_SHIFT);
static DEFINE_SPINLOCK(fl_credit_lock);
static unsigned int fl_credit_net_id __read_mostly;
atomic_t fl_credit_users __read_mostly;

/* Settings of a namespace. Read with READ_ONCE. Context: any, @net is held. */
const struct fl_credit_settings *fl_credit_of(const struct net *net)
{
	return fl_profile_part(fl_profile_get(net), &fl_credit_settings);
}

/**
 * fl_credit_possible() - may a socket take part at all?
 * @sk: the socket, of a connection
 *
 * Options must not be signed: a module cannot sign them. MPTCP has a mapping for each
 * byte. Context: any.
 */
bool fl_credit_possible(const struct sock *sk)
{
	return !fl_tel_signed(sk) && !sk_is_mptcp(sk);
}

static struct hlist_head *fl_credit_bucket(const struct sock *sk)
{
	return &fl_credit_table[hash_ptr((void *)sk, FL_CREDIT_TABLE_SHIFT)];
}

/**
 * fl_credit_find() - does a socket take part?
 * @sk: the socket
 * @role: as what
 *
 * Context: RCU, the socket is held or its lock. Return: valid under RCU; NULL.
 */
struct fl_credit_node *fl_credit_find(const struct sock *sk,
				      enum fl_credit_role role)
{
	struct fl_credit_node *node;

	hlist_for_each_entry_rcu(node, fl_credit_bucket(sk), hash)
		if (node->sk == sk && node->role == role)
			return node;
	return NULL;
}

/**
 * fl_credit_add() - a socket takes part from now on
 * @node: its entry, which holds a reference on the socket; it has none of its role
 *
 * Context: any.
 */
void fl_credit_add(struct fl_credit_node *node)
{
	spin_lock_bh(&fl_credit_lock);
	hlist_add_head_rcu(&node->hash, fl_credit_bucket(node->sk));
	spin_unlock_bh(&fl_credit_lock);
	atomic_inc(&fl_credit_users);
}

/* The opposite. The entry may be looked at until a grace period has passed. */
void fl_credit_del(struct fl_credit_node *node)
{
	atomic_dec(&fl_credit_users);
	spin_lock_bh(&fl_credit_lock);
	hlist_del_rcu(&node->hash);
	spin_unlock_bh(&fl_credit_lock);
}

/**
 * fl_credit_each() - do something with each entry
 * @act: may end the entry
 *
 * Context: process, nobody makes entries any more.
 */
void fl_credit_each(void (*act)(struct fl_credit_node *node))
{
	struct fl_credit_node *node;
	struct hlist_node *next;
	int i;

	hash_for_each_safe(fl_credit_table, i, next, node, hash)
		act(node);
}

/* Context: any, @net is held. */
void fl_credit_note(const struct net *net, enum fl_credit_count what, u32 n)
{
	struct fl_credit_net *cn = net_generic(net, fl_credit_net_id);

	atomic64_add(n, &cn->n[what]);
}
EXPORT_SYMBOL_GPL(fl_credit_note);

static int fl_credit_print(struct seq_file *seq, void *v)
{
	struct fl_credit_net *cn = net_generic(seq_file_single_net(seq),
					       fl_credit_net_id);
	int i;

	for (i = 0; i < FL_CREDIT_COUNTS; i++)
		seq_printf(seq, "%s %llu\n", fl_credit_names[i],
			   (u64)atomic64_read(&cn->n[i]));
	return 0;
}

static int __net_init fl_credit_net_init(struct net *net)
{
	return proc_create_net_single("fairlane_credit", 0444, net->proc_net,
				      fl_credit_print, NULL) ? 0 : -ENOMEM;
}

static void __net_exit fl_credit_net_exit(struct net *net)
{
	remove_proc_entry("fairlane_credit", net->proc_net);
}

static struct pernet_operations fl_credit_net_ops = {
	.init = fl_credit_net_init,
	.exit = fl_credit_net_exit,
	.id = &fl_credit_net_id,
	.size = sizeof(struct fl_credit_net),
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_credit_table_init(void)
{
	int err;

	BUILD_BUG_ON(ARRAY_SIZE(fl_credit_names) != FL_CREDIT_COUNTS);
	err = fl_settings_register(&fl_credit_settings);
	if (err)
		return err;
	err = register_pernet_subsys(&fl_credit_net_ops);
	if (err)
		fl_settings_unregister(&fl_credit_settings);
	return err;
}

/* Context: process, module unload, the table is empty. */
void fl_credit_table_exit(void)
{
	unregister_pernet_subsys(&fl_credit_net_ops);
	fl_settings_unregister(&fl_credit_settings);
}
