// SPDX-License-Identifier: GPL-2.0
/*
 * PowerTCP for TCP: the rate follows the power of the busiest port on the way.
 *
 * The law is core/powertcp.c; this file connects it with the stack. The power comes with ACKs in
 * the field of the load (Documentation/reference/telemetry.rst), written by ports that stamp it
 * (sch_fabric, "stamp power"), and everything else is tcp_hpcc's.
 *
 * The rate is enforced by pacing. cwnd is a bound: one and a half times what the rate sends in
 * the RTT without queues, and two packets for delayed ACKs. The paper's window is two thirds of
 * that and sets the rate, a whole number of packets, of which there may be few. Of 40 set-ups of
 * the space powertcp/basic 27 are good with the paper's, 32 with this and 31 with twice the
 * paper's. After a loss in a queue that no port tells of, the window is two thirds of that
 * (core/hpcc.c, (5)).
 *
 * Ports that stamp loads instead are understood: a load is a power that does not see whether the
 * queue grows.
 *
 * Without telemetry a flow is a Reno flow (fairlane/fl_guided.h).
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "hpcc/hp_flow.h"
#include "hpcc/core/powertcp.h"

static struct kmem_cache *pt_cache;

/**
 * struct pt_settings - settings, /proc/sys/net/fairlane/research/
 * @powertcp_gamma_permille: gamma: weight of what an ACK says, thousandths
 */
struct pt_settings {
	u32 powertcp_gamma_permille;
};

static struct fl_setting pt_setting_table[] = {
	FL_RESEARCH_SETTING(struct pt_settings, powertcp_gamma_permille, 100,
			    PT_GAMMA_MIN_PERMILLE, PT_GAMMA_MAX_PERMILLE),
};

static struct fl_settings pt_table = {
	.owner = KBUILD_MODNAME,
	.table = pt_setting_table,
	.count = ARRAY_SIZE(pt_setting_table),
};

/**
 * struct pt_flow - a flow
 * @hp: what it has in common with HPCC
 * @gamma: of pt_gamma()
 */
struct pt_flow {
	struct hp_flow hp;
	u32 gamma;
};

static struct pt_flow *pt_flow_of(const struct fl_guided *g)
{
	return container_of(g, struct pt_flow, hp.g);
}

/* Something has changed that the parameters follow from. @pf: the profile */
static void pt_refresh(const struct sock *sk, const struct fl_guided_sock *gs,
		       struct fl_guided *g, const struct fl_profile *pf)
{
	const struct pt_settings *own = fl_profile_part(pf, &pt_table);

	hp_flow_of(g)->loop_ns = U32_MAX;
	hp_configure(sk, gs, hp_flow_of(g), pf);
	pt_flow_of(g)->gamma = pt_gamma(READ_ONCE(own->powertcp_gamma_permille));
	hp_tell_rtt(gs, hp_base_ns(g));
}

static void pt_apply(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g)
{
	struct hp_flow *fl = hp_flow_of(g);

	hp_tell_rtt(gs, hp_act_ns(fl));
	hp_set(sk, fl, fl->core.rate, fl->core.rate + (fl->core.untold ? 0 : fl->core.rate >> 1));
}

static void pt_heard(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g,
		     const struct rate_sample *rs, u32 rtt_ns, u32 what)
{
	struct pt_flow *fl = pt_flow_of(g);

	if (!hp_base_ns(g))
		return;
	if (!g->telling)
		hp_begin(sk, &fl->hp);
	hp_heard_rtt(&fl->hp, rtt_ns);
	pt_on_power(&fl->hp.core, &fl->hp.par, fl->gamma, fl_load_of(READ_ONCE(gs->tel->queue)),
		    hp_turned(sk, &fl->hp), rs->is_app_limited);
	g->updates++;
}

static void pt_info(const struct fl_guided *g, struct fl_info *info)
{
	info->rate_bps = 8 * READ_ONCE(hp_flow_of(g)->core.rate);
}

static const struct fl_guided_ops pt_guided = {
	.cc = {
		.none = { .cc = &pt_guided.cc },
		.name = "powertcp",
		.weighted = true,
		.info = fl_guided_info,
		.changed = fl_guided_changed,
	},
	.cache = &pt_cache,
	.flow_name = "pt_flow",
	.flow_bytes = sizeof(struct pt_flow),
	.format = FL_TEL_LOAD,
	.refresh = pt_refresh,
	.know_rtt = hp_know_rtt,
	.explained_ns = hp_explained_ns,
	.heard = pt_heard,
	.apply = pt_apply,
	.cut = hp_cut,
	.restart = hp_restart,
	.rtt_ns = hp_base_ns,
	.info = pt_info,
};

FL_GUIDED_CONTROL(tcp_powertcp, "powertcp", pt_guided);

static int __init pt_register(void)
{
	return fl_guided_register(&tcp_powertcp, &pt_table, &pt_guided);
}

static void __exit pt_unregister(void)
{
	fl_guided_unregister(&tcp_powertcp, &pt_table, &pt_guided);
}

module_init(pt_register);
module_exit(pt_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("PowerTCP: the rate follows the power of the busiest port");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
