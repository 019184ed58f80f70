// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a network namespace: /proc/sys/net/fairlane/. Each name, unit,
 * range and default is in Documentation/sysctl.rst; struct fl_profile says
 * what each is for.
 *
 * A value changes live: writers bump a generation that flows compare on each
 * ACK, PrioPlus once an RTT, so that a flow recomputes what it derived from the
 * profile only then.
 * Only the owner of the namespace may write (mode 0644), anybody may read.
 */
#include <linux/module.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "compat/compat.h"
#include "d2tcp/core/d2tcp.h"
#include "fl_prefix.h"
#include "prioplus/core/prioplus.h"
#include "soze/core/soze.h"

#define FL_SETTING(field, initial_, min_, max_)				\
	{ .name = #field, .offset = offsetof(struct fl_profile, field),	\
	  .initial = initial_, .min = min_, .max = max_ }

/* Not const: sysctl tables point into it through void pointers. The largest
 * base_rtt_ns, fluct_ns and noise_ns keep the limit of the highest priority
 * below 2^32 ns.
 */
static struct fl_setting fl_settings[] = {
	FL_SETTING(line_rate_mbps, 0, 0, FL_LINE_MAX_MBPS),
	FL_SETTING(line_rate_measured, 0, 0, 1),
	FL_SETTING(base_rtt_ns, 0, 0, 1000000000),
	FL_SETTING(probe_rtt_ns, 0, 0, 1000000000),
	FL_SETTING(fluct_ns, 3200, 0, 50000000),
	FL_SETTING(noise_ns, 800, 1, 50000000),
	FL_SETTING(epsilon_ns, 0, 0, 100000000),
	FL_SETTING(start_permille, 500, 1, 1000),
	FL_SETTING(start_middle_permille, 250, 1, 1000),
	FL_SETTING(start_middle_priority, 0, 0, PP_PRIO_MAX),
	FL_SETTING(start_high_permille, 1000, 1, 1000),
	FL_SETTING(start_high_priority, 0, 0, PP_PRIO_MAX),
	FL_SETTING(first_permille, 0, 0, 1000),
	FL_SETTING(urgent_priority, 0, 0, FL_PRIORITY_MAX),
	FL_SETTING(unlimited_priority, 0, 0, FL_PRIORITY_MAX),
	FL_SETTING(resume_permille, 1000, 0, 1000),
	FL_SETTING(ai_bytes, 150, 1, 1000000),
	FL_SETTING(share_ns, 0, 0, 1000000),
	FL_SETTING(probe_cap_us, 1000, 10, 100000),
	FL_SETTING(probe_timeout_us, 1000, 50, 1000000),
	FL_SETTING(paper, 0, 0, 1),
	FL_SETTING(swift_target_ns, 0, 0, 1000000000),
	FL_SETTING(swift_range_ns, 0, 0, 1000000000),
	FL_SETTING(swift_hop_ns, 0, 0, 10000000),
	FL_SETTING(ledbat_target_ns, 0, 0, 100000000),
	FL_SETTING(ledbat_gain_permille, 1000, 1, 1000),
	FL_SETTING(ledbat_allowed_pkts, 1, 1, 64),
	FL_SETTING(ledbat_init_pkts, 2, 1, TCP_INIT_CWND),
	FL_SETTING(ledbat_min_pkts, 2, 1, TCP_INIT_CWND),
	FL_SETTING(d2tcp_shift_g, 4, 0, FL_D2TCP_SHIFT_G_MAX),
	FL_SETTING(gso_segs, 1, 1, 64),
	FL_SETTING(ss_compat, 1, 0, 1),
	FL_SETTING(telemetry, 1, 0, 1),
	FL_SETTING(owd, 0, 0, 1),
	FL_SETTING(soze_alpha_mbps, 0, 0, SZ_RATE_MAX_MBPS),
	FL_SETTING(soze_beta_mbps, 0, 0, SZ_RATE_MAX_MBPS),
	FL_SETTING(soze_p_ns, 0, 0, SZ_P_MAX_NS),
	FL_SETTING(soze_k_ns, 0, 0, SZ_K_MAX_NS),
	FL_SETTING(soze_m_permille, 0, 0, SZ_M_MAX_PERMILLE),
	FL_SETTING(soze_form, 0, 0, SZ_FORMS - 1),
};

/**
 * struct fl_net - what a network namespace has
 * @net: the namespace
 * @profile: the settings
 * @header: the registered sysctl table
 * @table: the table, with an empty entry at its end
 */
struct fl_net {
	struct net *net;
	struct fl_profile profile;
	struct ctl_table_header *header;
	struct ctl_table table[ARRAY_SIZE(fl_settings) + 1];
};

static unsigned int fl_net_id __read_mostly;

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

/* A setting by its number; NULL behind the last. */
const struct fl_setting *fl_setting_at(size_t i)
{
	BUILD_BUG_ON(ARRAY_SIZE(fl_settings) > FL_SETTINGS_MAX);
	return i < ARRAY_SIZE(fl_settings) ? &fl_settings[i] : NULL;
}

/* A generation that no other profile has. Context: any. */
u32 fl_profile_next_gen(void)
{
	static atomic_t last;

	return atomic_inc_return(&last);
}

/* Flows look again. Context: process. */
static void fl_profile_changed(struct fl_net *fn)
{
	/* pairs with fl_profile_gen() */
	smp_store_release(&fn->profile.gen, fl_profile_next_gen());
	fl_prefix_rebase(fn->net);
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

	WRITE_ONCE(*fl_setting_in(&fn->profile, &fl_settings[i]), value);
	fl_profile_changed(fn);
}

/* Namespace that a table entry belongs to: its data lies in the profile. */
static struct fl_net *fl_net_of_entry(FL_CTL_TABLE *ctl)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fl_settings); i++)
		if (ctl->procname == fl_settings[i].name)
			return ctl->data - fl_settings[i].offset -
			       offsetof(struct fl_net, profile);
	return NULL;
}

/* Read or write a setting. Context: process. */
static int fl_setting_handler(FL_CTL_TABLE *ctl, int write, void *buffer,
			      size_t *lenp, loff_t *ppos)
{
	struct fl_net *fn = fl_net_of_entry(ctl);
	int err;

	err = proc_douintvec_minmax(ctl, write, buffer, lenp, ppos);
	if (!err && write && fn)
		fl_profile_changed(fn);
	return err;
}

static int __net_init fl_net_init(struct net *net)
{
	struct fl_net *fn = net_generic(net, fl_net_id);
	size_t i;

	fn->net = net;
	fl_ns_of(net)->profile = &fn->profile;
	fn->profile.gen = fl_profile_next_gen();
	for (i = 0; i < ARRAY_SIZE(fl_settings); i++) {
		struct fl_setting *st = &fl_settings[i];
		u32 *value = (void *)&fn->profile + st->offset;

		*value = st->initial;
		fn->table[i] = (struct ctl_table) {
			.procname = st->name,
			.data = value,
			.maxlen = sizeof(*value),
			.mode = 0644,
			.proc_handler = fl_setting_handler,
			.extra1 = &st->min,
			.extra2 = &st->max,
		};
	}
	fn->header = fl_register_net_sysctl(net, "net/fairlane", fn->table,
					    ARRAY_SIZE(fl_settings));
	return fn->header ? 0 : -ENOMEM;
}

static void __net_exit fl_net_exit(struct net *net)
{
	struct fl_net *fn = net_generic(net, fl_net_id);

	unregister_net_sysctl_table(fn->header);
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
	return register_pernet_subsys(&fl_net_ops);
}

/* Context: process, module unload: nothing uses a profile any more. */
void fl_profile_exit(void)
{
	unregister_pernet_subsys(&fl_net_ops);
}
