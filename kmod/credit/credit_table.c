// SPDX-License-Identifier: GPL-2.0
/*
 * Which sockets send by credit or give it: a table by socket, which grows, and counters.
 *
 * An entry holds a reference on its socket. A sender's goes with its congestion
 * control. A receiver's is made by a packet, whatever the congestion control is, and
 * goes with the socket (credit_main.c).
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/rhashtable.h>
#include <linux/seq_file.h>
#include <net/mptcp.h>
#include <net/netns/generic.h>

#include "credit/credit.h"
#include "fairlane/fl_telemetry.h"

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

/**
 * struct fl_credit_key - what an entry is found by
 * @sk: its socket
 * @role: its role
 */
struct fl_credit_key {
	const struct sock *sk;
	u8 role;
};

/* Sockets are at least a cache line apart. */
static u32 fl_credit_hash(const void *data, u32 len, u32 seed)
{
	const struct fl_credit_key *key = data;

	return (hash_ptr((void *)key->sk, 32) ^ seed) + key->role;
}

static u32 fl_credit_node_hash(const void *data, u32 len, u32 seed)
{
	const struct fl_credit_node *node = data;
	struct fl_credit_key key = { .sk = node->sk, .role = node->role };

	return fl_credit_hash(&key, len, seed);
}

static int fl_credit_differs(struct rhashtable_compare_arg *arg, const void *data)
{
	const struct fl_credit_key *key = arg->key;
	const struct fl_credit_node *node = data;

	return node->sk != key->sk || node->role != key->role;
}

static const struct rhashtable_params fl_credit_params = {
	.hashfn = fl_credit_hash,
	.obj_hashfn = fl_credit_node_hash,
	.obj_cmpfn = fl_credit_differs,
	.head_offset = offsetof(struct fl_credit_node, hash),
	.automatic_shrinking = true,
};

static struct rhashtable fl_credit_table;
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
	struct fl_credit_key key = { .sk = sk, .role = role };

	return rhashtable_lookup(&fl_credit_table, &key, fl_credit_params);
}

/**
 * fl_credit_add() - a socket takes part from now on
 * @node: its entry, which holds a reference on the socket
 *
 * Context: any. Return: 0; -EEXIST: it has an entry of this role, which may have come this moment;
 * or another negative errno without memory.
 */
int fl_credit_add(struct fl_credit_node *node)
{
	struct fl_credit_key key = { .sk = node->sk, .role = node->role };
	int err = rhashtable_lookup_insert_key(&fl_credit_table, &key, &node->hash,
					       fl_credit_params);

	if (!err)
		atomic_inc(&fl_credit_users);
	return err;
}

/* The opposite. The entry may be looked at until a grace period has passed. */
void fl_credit_del(struct fl_credit_node *node)
{
	if (!rhashtable_remove_fast(&fl_credit_table, &node->hash, fl_credit_params))
		atomic_dec(&fl_credit_users);
}

/**
 * fl_credit_end_all() - end all entries
 * @end: ends one: takes it out of the table
 *
 * Context: process, nobody makes entries any more.
 */
void fl_credit_end_all(void (*end)(struct fl_credit_node *node))
{
	struct rhashtable_iter iter;
	struct fl_credit_node *node;

	/* a table that is being moved must be walked again */
	while (atomic_read(&fl_credit_users)) {
		rhashtable_walk_enter(&fl_credit_table, &iter);
		rhashtable_walk_start(&iter);
		while ((node = rhashtable_walk_next(&iter)) && !IS_ERR(node))
			end(node);
		rhashtable_walk_stop(&iter);
		rhashtable_walk_exit(&iter);
		cond_resched();
	}
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
	err = rhashtable_init(&fl_credit_table, &fl_credit_params);
	if (err)
		return err;
	err = fl_settings_register(&fl_credit_settings);
	if (err)
		goto table;
	err = register_pernet_subsys(&fl_credit_net_ops);
	if (err)
		goto settings;
	return 0;

settings:
	fl_settings_unregister(&fl_credit_settings);
table:
	rhashtable_destroy(&fl_credit_table);
	return err;
}

/* Context: process, module unload, the table is empty. */
void fl_credit_table_exit(void)
{
	unregister_pernet_subsys(&fl_credit_net_ops);
	fl_settings_unregister(&fl_credit_settings);
	rhashtable_destroy(&fl_credit_table);
}
