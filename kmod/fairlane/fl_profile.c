// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a network namespace: /proc/sys/net/fairlane/, and those for researchers in
 * its folder research. Each name, unit,
 * range and default is in Documentation/reference/sysctl.rst; struct fl_profile says
 * what the common ones are for, a congestion control's header what its own are
 * for. fl_setting.h has how a control brings them.
 *
 *	                 fl_settings_lock
 *	tables  ----------------------------------  namespaces
 *	(one a module, registered)                  (struct fl_net)
 *	          a struct fl_net_table where both meet: the files in /proc/sys
 *
 * Whichever comes later, a table or a namespace, makes the files. Values lie in the
 * namespace's profile, which congestion controls read without a lock.
 *
 * A value changes live: writers bump a generation that flows compare on each
 * ACK, PrioPlus once an RTT, so that a flow recomputes what it derived from the
 * profile only then.
 * Only the owner of the namespace may write (mode 0644), anybody may read.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "compat/compat.h"
#include "fl_prefix.h"
#include "fl_telemetry.h"
#include "lib/train.h"

/* The largest base_rtt_ns, fluct_ns and noise_ns keep the limit of PrioPlus'
 * highest priority below 2^32 ns.
 */
static struct fl_setting fl_common_table[] = {
	FL_SETTING(struct fl_profile, line_rate_mbps, 0, 0, FL_LINE_MAX_MBPS),
	FL_RESEARCH_SETTING(struct fl_profile, line_rate_measured, 0, 0, 1),
	FL_SETTING(struct fl_profile, base_rtt_ns, 0, 0, 1000000000),
	FL_RESEARCH_SETTING(struct fl_profile, fluct_ns, 3200, 0, 50000000),
	FL_SETTING(struct fl_profile, noise_ns, 800, 1, 50000000),
	FL_RESEARCH_SETTING(struct fl_profile, ai_bytes, 150, 1, 1000000),
	FL_RESEARCH_SETTING(struct fl_profile, gso_segs, 0, 0, FL_TRAIN_MAX_SEGS),
	FL_RESEARCH_SETTING(struct fl_profile, ss_compat, 0, 0, 1),
	FL_SETTING(struct fl_profile, telemetry, FL_TEL_OWN, 0,
		   __FL_TEL_MODES - 1),
	FL_RESEARCH_SETTING(struct fl_profile, owd, 0, 0, 1),
};

static struct fl_settings fl_common = {
	.owner = KBUILD_MODNAME,
	.table = fl_common_table,
	.count = ARRAY_SIZE(fl_common_table),
};

/**
 * struct fl_net - what a network namespace has
 * @net: the namespace
 * @profile: the settings
 * @list: all namespaces
 * @tables: struct fl_net_table
 */
struct fl_net {
	struct net *net;
	struct fl_profile profile;
	struct list_head list;
	struct list_head tables;
};

/**
 * struct fl_net_table - the files of a table's settings in a namespace
 * @list: of the namespace
 * @settings: the table
 * @fn: the namespace
 * @header: the registered sysctl tables: operators' and researchers', NULL = empty
 * @table: the files of each, with an empty entry at their end
 */
struct fl_net_table {
	struct list_head list;
	const struct fl_settings *settings;
	struct fl_net *fn;
	struct ctl_table_header *header[2];
	struct ctl_table table[];
};

static unsigned int fl_net_id __read_mostly;

/* The lists of tables and namespaces, and what fl_setting_at() returns. Process
 * context; held for allocations and while files are made, never while anything
 * waits for a user.
 */
DEFINE_MUTEX(fl_settings_lock);
/* Held while files are taken back, outside of the lock above. That waits for whoever is reading or
 * writing one, into a page that he provides at leisure. So who makes a namespace or asks for its
 * settings does not take it: namespaces that go do, and modules.
 */
static DEFINE_MUTEX(fl_files_lock);
static LIST_HEAD(fl_tables);
static LIST_HEAD(fl_nets);

/* Settings by their numbers, NULL = none. */
static const struct fl_setting *fl_setting_by_number[FL_SETTINGS_MAX];

/**
 * fl_profile_get() - settings of a namespace
 * @net: the namespace
 *
 * Read fields with READ_ONCE: they change at any time. Context: any, as long
 * as @net is held, which a socket of it does.
 */
const struct fl_profile *fl_profile_get(const struct net *net)
{
	const struct fl_net *fn = net_generic(net, fl_net_id);

	return &fn->profile;
}
EXPORT_SYMBOL_GPL(fl_profile_get);

/* A setting by its number, below FL_SETTINGS_MAX; NULL = there is none.
 * Context: fl_settings_lock held.
 */
const struct fl_setting *fl_setting_at(size_t i)
{
	lockdep_assert_held(&fl_settings_lock);
	return fl_setting_by_number[i];
}

/**
 * fl_setting_from() - the first setting from a number on
 * @i: the number to begin with; the found setting's afterwards
 *
 * Context: fl_settings_lock held.
 * Return: the setting, NULL behind the last one.
 */
const struct fl_setting *fl_setting_from(size_t *i)
{
	for (; *i < FL_SETTINGS_MAX; ++*i)
		if (fl_setting_at(*i))
			return fl_setting_at(*i);
	return NULL;
}

/* Who acts when settings change, instead of with the next packet; NULL = nobody. */
fl_profile_watch_fn __rcu *fl_profile_watch;

/* Flows look again. Context: process. */
static void fl_profile_changed(struct fl_net *fn)
{
	/* pairs with fl_profile_gen() */
	smp_store_release(&fn->profile.gen, fl_profile_next_gen());
	fl_prefix_rebase(fn->net);
}

/* The same when somebody has written one, not while the namespace begins. */
static void fl_profile_written(struct fl_net *fn)
{
	fl_profile_watch_fn *watch;

	fl_profile_changed(fn);
	rcu_read_lock();
	watch = rcu_dereference(fl_profile_watch);
	if (watch)
		watch(fn->net);
	rcu_read_unlock();
}

/**
 * fl_profile_write() - change a setting of a namespace
 * @net: the namespace
 * @i: number of the setting
 * @value: in its range
 *
 * Context: process.
 */
void fl_profile_write(struct net *net, size_t i, u32 value)
{
	struct fl_net *fn = net_generic(net, fl_net_id);

	WRITE_ONCE(fn->profile.value[i], value);
	fl_profile_written(fn);
}

/**
 * fl_profile_inherit() - a new namespace's settings are those of the first one
 * @net: the namespace, which nobody knows yet
 *
 * Context: process, fl_settings_lock held.
 */
void fl_profile_inherit(struct net *net)
{
	const struct fl_profile *first = fl_profile_get(&init_net);
	struct fl_net *fn = net_generic(net, fl_net_id);
	size_t i;

	for (i = 0; fl_setting_from(&i); i++)
		WRITE_ONCE(fn->profile.value[i], READ_ONCE(first->value[i]));
	fl_profile_changed(fn);
}

/* Read or write a setting's file. Context: process. */
static int fl_setting_handler(FL_CTL_TABLE *ctl, int write, void *buffer,
			      size_t *lenp, loff_t *ppos)
{
	const struct fl_setting *st = ctl->extra1;
	unsigned int min = st->min, max = st->max;
	struct ctl_table file = *ctl;
	int err;

	file.extra1 = &min;
	file.extra2 = &max;
	err = proc_douintvec_minmax(&file, write, buffer, lenp, ppos);
	if (!err && write)
		fl_profile_written(ctl->extra2);
	return err;
}

/* Bits of the numbers of a table's settings. */
static u64 fl_settings_bits(const struct fl_settings *s)
{
	return GENMASK_ULL(s->first + s->count - 1, s->first);
}

/* Takes back the files of a table. */
static void fl_table_unregister(struct fl_net_table *t)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(t->header); i++)
		if (t->header[i])
			unregister_net_sysctl_table(t->header[i]);
}

/* Makes the files of a table, operators' or researchers', from @file on. Return: the end
 * of what is used of the array; NULL without memory.
 */
static struct ctl_table *fl_table_register(struct fl_net_table *t,
					   struct ctl_table *file, bool research)
{
	const struct fl_settings *s = t->settings;
	struct ctl_table *first = file;
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (s->table[i].research != research)
			continue;
		*file++ = (struct ctl_table) {
			.procname = s->table[i].name,
			.data = &t->fn->profile.value[s->first + i],
			.maxlen = sizeof(u32),
			.mode = 0644,
			.proc_handler = fl_setting_handler,
			.extra1 = &s->table[i],
			.extra2 = t->fn,
		};
	}
	if (file == first)
		return file;
	t->header[research] =
		fl_register_net_sysctl(t->fn->net, research ? "net/fairlane/research" :
				       "net/fairlane", first, file - first);
	return t->header[research] ? file + 1 : NULL;
}

/* A table's settings come to a namespace. Without memory some of its files may be there. Context:
 * fl_settings_lock held.
 */
static int fl_table_add(struct fl_net *fn, const struct fl_settings *s)
{
	struct ctl_table *file;
	struct fl_net_table *t;
	size_t i;

	/* each setting has an entry, each of the two tables an empty one */
	t = kzalloc(struct_size(t, table, s->count + 2), GFP_KERNEL_ACCOUNT);
	if (!t)
		return -ENOMEM;
	t->settings = s;
	t->fn = fn;
	list_add(&t->list, &fn->tables);
	for (i = 0; i < s->count; i++)
		WRITE_ONCE(fn->profile.value[s->first + i], s->table[i].initial);
	file = fl_table_register(t, t->table, false);
	if (!file || !fl_table_register(t, file, true))
		return -ENOMEM;
	fl_profile_changed(fn);
	return 0;
}

/* Takes back the files of tables that are in no namespace's list any more. Context: fl_files_lock
 * held, fl_settings_lock not.
 */
static void fl_tables_free(struct list_head *tables)
{
	struct fl_net_table *t, *next;

	list_for_each_entry_safe(t, next, tables, list) {
		fl_table_unregister(t);
		kfree(t);
	}
}

/* Finds numbers that are free. Context: fl_settings_lock held. */
static int fl_settings_place(struct fl_settings *s)
{
	size_t i, run = 0;

	for (i = 0; i < s->count; i++)
		if (s->table[i].offset != i * sizeof(u32))
			return -EINVAL;
	for (i = 0; s->count && i < FL_SETTINGS_MAX; i++) {
		run = fl_setting_by_number[i] ? 0 : run + 1;
		if (run == s->count) {
			s->first = i + 1 - run;
			return 0;
		}
	}
	return -ENOSPC;
}

/* Puts a table's settings, or nothing, where others find them by number.
 * Context: fl_settings_lock held.
 */
static void fl_settings_number(const struct fl_settings *s, bool there)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		fl_setting_by_number[s->first + i] = there ? &s->table[i] : NULL;
}

/**
 * fl_settings_register() - a module brings settings
 * @s: its table; static
 *
 * Before anything calls fl_profile_part() for it. Context: process, module load.
 * Return: 0; -EINVAL: @s names not each u32 of a struct in order; -ENOSPC: more than
 * FL_SETTINGS_MAX settings; -ENOMEM.
 */
int fl_settings_register(struct fl_settings *s)
{
	struct fl_net *fn;
	int err;

	mutex_lock(&fl_settings_lock);
	err = fl_settings_place(s);
	if (err) {
		pr_err("fairlane: no place for the settings of %s\n", s->owner);
		mutex_unlock(&fl_settings_lock);
		return err;
	}
	list_add_tail(&s->list, &fl_tables);
	fl_settings_number(s, true);
	list_for_each_entry(fn, &fl_nets, list) {
		err = fl_table_add(fn, s);
		if (err)
			break;
	}
	mutex_unlock(&fl_settings_lock);
	if (err)
		fl_settings_unregister(s);
	return err;
}
EXPORT_SYMBOL_GPL(fl_settings_register);

/* Takes a table off all namespaces' lists. Context: fl_settings_lock held. */
static void fl_tables_take(const struct fl_settings *s, struct list_head *tables)
{
	struct fl_net_table *t, *next;
	struct fl_net *fn;

	list_for_each_entry(fn, &fl_nets, list)
		list_for_each_entry_safe(t, next, &fn->tables, list)
			if (t->settings == s)
				list_move(&t->list, tables);
}

/**
 * fl_settings_unregister() - a module takes its settings away
 * @s: what was registered
 *
 * After the last reader of fl_profile_part() is gone. The numbers are another table's only when
 * nobody can write by the files any more. Context: process, module unload.
 */
void fl_settings_unregister(struct fl_settings *s)
{
	LIST_HEAD(tables);
	struct fl_net *fn;

	mutex_lock(&fl_files_lock);
	mutex_lock(&fl_settings_lock);
	list_del(&s->list);
	fl_tables_take(s, &tables);
	mutex_unlock(&fl_settings_lock);
	fl_tables_free(&tables);
	mutex_lock(&fl_settings_lock);
	fl_settings_number(s, false);
	list_for_each_entry(fn, &fl_nets, list)
		fl_prefix_forget_settings(fn->net, fl_settings_bits(s));
	mutex_unlock(&fl_settings_lock);
	mutex_unlock(&fl_files_lock);
}
EXPORT_SYMBOL_GPL(fl_settings_unregister);

static void fl_net_exit(struct net *net)
{
	struct fl_net *fn = net_generic(net, fl_net_id);
	LIST_HEAD(tables);

	mutex_lock(&fl_files_lock);
	mutex_lock(&fl_settings_lock);
	list_del(&fn->list);
	list_splice_init(&fn->tables, &tables);
	mutex_unlock(&fl_settings_lock);
	fl_tables_free(&tables);
	mutex_unlock(&fl_files_lock);
}

static int __net_init fl_net_init(struct net *net)
{
	struct fl_net *fn = net_generic(net, fl_net_id);
	struct fl_settings *s;
	int err = 0;

	fn->net = net;
	INIT_LIST_HEAD(&fn->tables);
	fl_ns_of(net)->profile = &fn->profile;
	fn->profile.gen = fl_profile_next_gen();
	mutex_lock(&fl_settings_lock);
	list_add(&fn->list, &fl_nets);
	list_for_each_entry(s, &fl_tables, list) {
		err = fl_table_add(fn, s);
		if (err)
			break;
	}
	mutex_unlock(&fl_settings_lock);
	if (err)
		fl_net_exit(net);
	return err;
}

static struct pernet_operations fl_net_ops = {
	.init = fl_net_init,
	.exit = fl_net_exit,
	.id = &fl_net_id,
	.size = sizeof(struct fl_net),
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_profile_init(void)
{
	int err = register_pernet_subsys(&fl_net_ops);

	if (err)
		return err;
	err = fl_settings_register(&fl_common);
	if (err)
		unregister_pernet_subsys(&fl_net_ops);
	return err;
}

/* Context: process, module unload: nothing uses a profile any more. */
void fl_profile_exit(void)
{
	fl_settings_unregister(&fl_common);
	unregister_pernet_subsys(&fl_net_ops);
}
