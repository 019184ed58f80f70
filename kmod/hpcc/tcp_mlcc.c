// SPDX-License-Identifier: GPL-2.0
/*
 * MLCC's sender for TCP: between datacenters, by what two border routers tell.
 *
 * What is told is in the option with a load (fl_option.c, Documentation/reference/telemetry.rst):
 * the load of the way to the sender's own border router, and the rate that the receiver's border
 * router asks for. The former steers HPCC's law (hpcc/core/) in rounds of some 20 us, the
 * latter is a bound; the flow sends at the smaller of both (core/mlcc.c, equation 10).
 *
 * No ACK of what is sent comes for the long round trip, hundreds of those of the near loop. The
 * load of the way to the border comes with ACKs, and in messages of the router's own where none
 * come (fairlane/fl_message.c). With the first, which is about its first packet, a flow begins
 * with a share of the line (ml_start()); without messages with the first ACK.
 *
 * A flow that is told nothing for 4 RTTs is HPCC from end to end: within a datacenter, or
 * where no border router is set up. Each router works without the other: the far one tells of the
 * whole way to itself, and behind the own one alone a flow is HPCC from end to end (ml_beside()).
 * Without telemetry it is Reno (fairlane/fl_guided.h).
 *
 * The rate is enforced by pacing. Between datacenters cwnd is a bound only: twice what is
 * told for an RTT without queues. The near loop may halve a rate many times in an RTT, and
 * a window that followed would stop the flow until what is in flight has arrived.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "hpcc/hp_flow.h"
#include "hpcc/core/mlcc.h"

/* A round of the near loop takes as long as so many packets at the line's rate at least, as one
 * behind the receiver's router does: over less a load says whether a packet was there.
 */
#define ML_ROUND_PKTS		8
/* Longest RTT that is believed of a handshake, us. */
#define ML_HANDSHAKE_MAX_US	1000000

static struct kmem_cache *ml_cache;

/**
 * struct ml_settings - settings, /proc/sys/net/fairlane/research/
 * @mlcc_near_rtt_ns: RTT between a host and its border router, ns, until a flow hears it
 * @mlcc_messages: 1: border routers' messages count; 0: only what comes with ACKs
 */
struct ml_settings {
	u32 mlcc_near_rtt_ns;
	u32 mlcc_messages;
};

static struct fl_setting ml_setting_table[] = {
	FL_RESEARCH_SETTING(struct ml_settings, mlcc_near_rtt_ns, 25000, 1000, 1000000),
	FL_RESEARCH_SETTING(struct ml_settings, mlcc_messages, 1, 0, 1),
};

static struct fl_settings ml_table = {
	.owner = KBUILD_MODNAME,
	.table = ml_setting_table,
	.count = ARRAY_SIZE(ml_setting_table),
};

/**
 * struct ml_flow - a flow
 * @hp: what it has in common with HPCC; its rate is R_NS, or that from end to end
 * @ml: what border routers have told
 * @whole: by what is echoed, while ml_beside()
 * @near_ns: setting
 * @least_rtt: a round of the near loop takes so long at least, as of fl_load_rtt()
 * @messages: setting
 */
struct ml_flow {
	struct hp_flow hp;
	struct ml_core ml;
	struct hp_core whole;
	u32 near_ns;
	u8 least_rtt;
	bool messages;
};

static struct ml_flow *ml_flow_of(const struct fl_guided *g)
{
	return container_of(g, struct ml_flow, hp.g);
}

/* Switches are told over what time loads are wanted: what the loop that they serve takes. */
static void ml_tell_rtt(const struct fl_guided_sock *gs, const struct ml_flow *fl)
{
	u32 near_ns = fl->ml.near ? 1U << (FL_LOAD_RTT_NS_SHIFT + fl->ml.near_rtt) : fl->near_ns;

	hp_tell_rtt(gs, fl->hp.g.telling && !ml_apart(&fl->ml) ? hp_act_ns(&fl->hp) : near_ns);
}

static void ml_know_rtt(const struct fl_guided_sock *gs, struct fl_guided *g)
{
	hp_know_window(hp_flow_of(g));
}

/* Something has changed that the parameters follow from. @pf: the profile */
static void ml_refresh(const struct sock *sk, const struct fl_guided_sock *gs,
		       struct fl_guided *g, const struct fl_profile *pf)
{
	const struct ml_settings *own = fl_profile_part(pf, &ml_table);
	struct ml_flow *fl = ml_flow_of(g);
	u64 round_ns;

	fl->near_ns = READ_ONCE(own->mlcc_near_rtt_ns);
	/* trains are in the near loop */
	fl->hp.loop_ns = fl->near_ns;
	hp_configure(sk, gs, &fl->hp, pf);
	round_ns = div64_u64((u64)ML_ROUND_PKTS * fl->hp.wire_bytes * NSEC_PER_SEC,
			     fl->hp.par.max_bytes);
	fl->least_rtt = fl_load_rtt(min_t(u64, round_ns, U32_MAX));
	fl->messages = READ_ONCE(own->mlcc_messages);
	ml_tell_rtt(gs, fl);
}

/* What the flow sends at, bytes on the line a second. */
static u64 ml_flow_rate(const struct ml_flow *fl)
{
	u64 rate = ml_rate(&fl->ml, fl->hp.core.rate);

	return ml_beside(&fl->ml) ? min(rate, fl->whole.rate) : rate;
}

static void ml_apply(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g)
{
	struct ml_flow *fl = ml_flow_of(g);
	u64 rate = ml_flow_rate(fl), window;

	if (fl->ml.border)
		window = HP_WINDOW_RTTS * fl->ml.told;
	else if (ml_beside(&fl->ml))
		window = hp_window(&fl->whole, fl->whole.rate);
	else
		window = hp_window(&fl->hp.core, rate);
	ml_tell_rtt(gs, fl);
	hp_set(sk, &fl->hp, rate, window);
}

/* Does a load of this time come from the far border router, which tells of the whole way to itself
 * if there is none at this end? Its rounds are round trips: a start needs one of them.
 */
static bool ml_is_far(const struct ml_flow *fl, u8 time)
{
	return time + 1 >= fl_load_rtt(hp_base_ns(&fl->hp.g));
}

/* A flow that sent at a rate, bytes/s, needs the loop of the whole way from now on, if it has not
 * had it. It begins with a part of its share, as in the near loop.
 */
static void ml_begin_whole(const struct fl_tel *tel, struct ml_flow *fl, bool beside, u64 rate)
{
	u32 load = fl_load_of(READ_ONCE(tel->queue));

	if (!beside && ml_beside(&fl->ml))
		hp_init(&fl->whole, &fl->hp.par,
			max(rate, ml_start(&fl->ml, fl->hp.par.whole_bytes, load)));
}

/* The load of the way to the border router has come; @limited: by the application. */
static void ml_heard_near(struct ml_flow *fl, const struct fl_tel *tel, u64 now_ns, bool limited)
{
	u16 word = READ_ONCE(tel->near);
	u32 load = fl_load_of(word);
	bool first = !fl->ml.near;
	u64 start = ml_start(&fl->ml, fl->hp.par.whole_bytes, load);
	bool turned = ml_on_near(&fl->ml, now_ns, max(fl_load_time(word), fl->least_rtt));

	fl->ml.far = ml_is_far(fl, fl_load_time(word));
	if (first && start > fl->hp.core.rate) {
		ml_started(&fl->ml, now_ns, fl->hp.par.whole_bytes);
	} else {
		if (ml_starting(&fl->ml, now_ns))
			return;
		start = ml_double(&fl->ml, now_ns, fl->hp.core.rate, load);
	}
	if (start)
		hp_restart(&fl->hp.g, now_ns, start);
	else
		hp_on_load(&fl->hp.core, &fl->hp.par, load, turned, limited);
}

/* A message is the first that the flow hears: the handshake has measured its RTT. Return: it has */
static bool ml_begin(struct sock *sk, struct ml_flow *fl)
{
	struct fl_guided *g = &fl->hp.g;
	u32 rtt_us = min_t(u32, tcp_sk(sk)->srtt_us >> 3, ML_HANDSHAKE_MAX_US);

	if (!hp_base_ns(g)) {
		if (!rtt_us)
			return false;
		g->base_ns = rtt_us * NSEC_PER_USEC;
		hp_know_window(&fl->hp);
	}
	hp_begin(sk, &fl->hp);
	fl_guided_count_anew(sk, g);
	return true;
}

/* Likewise, in a message: what the border router tells a flow that begins, or one that ACKs tell
 * something. A flow that has fallen back needs an ACK: of the way behind the border a message says
 * nothing.
 */
static bool ml_near(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g)
{
	struct ml_flow *fl = ml_flow_of(g);
	bool beside = ml_beside(&fl->ml);
	u64 rate;

	if (!fl->messages)
		return false;
	if (!g->telling && (g->ever || !ml_begin(sk, fl)))
		return false;
	rate = ml_flow_rate(fl);
	ml_heard_near(fl, gs->tel, ktime_get_ns(), !tcp_send_head(sk));
	ml_begin_whole(gs->tel, fl, beside, rate);
	g->updates++;
	return true;
}

/* What border routers tell with an ACK, and what is no longer in force. */
static void ml_heard_border(struct sock *sk, const struct fl_tel *tel, struct ml_flow *fl, u32 what,
			    bool limited)
{
	u64 now_ns = fl->hp.g.ack_ns;
	bool border = fl->ml.border;

	fl->ml.heard = true;
	ml_expire(&fl->ml, now_ns, max_t(u64, hp_base_ns(&fl->hp.g),
					 (u64)(tcp_sk(sk)->srtt_us >> 3) * NSEC_PER_USEC));
	if (what & FL_GUIDED_TELL)
		ml_on_tell(&fl->ml, now_ns, max_t(u64, fl_load_rate_of(READ_ONCE(tel->tell)),
						  fl->hp.par.min_bytes));
	/* what was one loop becomes two, or the other way round */
	if (border != fl->ml.border)
		hp_restart(&fl->hp.g, now_ns, fl->hp.core.rate);
	if (what & FL_GUIDED_NEAR)
		ml_heard_near(fl, tel, now_ns, limited);
}

/* Something has come: the rate of the far border router, the load of the way to the near one,
 * or the load of the whole way, or of the rest of it.
 */
static void ml_heard(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g,
		     const struct rate_sample *rs, u32 rtt_ns, u32 what)
{
	u32 load = fl_load_of(READ_ONCE(gs->tel->queue));
	struct ml_flow *fl = ml_flow_of(g);
	bool apart, beside;
	u64 rate;

	if (!hp_base_ns(g))
		return;
	if (!g->telling) {
		hp_begin(sk, &fl->hp);
		fl->ml.border = false;
	}
	hp_heard_rtt(&fl->hp, rtt_ns);
	apart = ml_apart(&fl->ml);
	beside = ml_beside(&fl->ml);
	rate = ml_flow_rate(fl);
	ml_heard_border(sk, gs->tel, fl, what, rs->is_app_limited);
	if (ml_beside(&fl->ml)) {
		ml_begin_whole(gs->tel, fl, beside, rate);
		if (what & FL_GUIDED_ECHO)
			hp_on_load(&fl->whole, &fl->hp.par, load, hp_turned(sk, &fl->hp),
				   rs->is_app_limited || fl->hp.core.rate < fl->whole.rate);
	} else if (!ml_apart(&fl->ml)) {
		if (apart)
			hp_restart(g, g->ack_ns, rate);
		hp_heard_load(sk, &fl->hp, load, rs);
	} else if (!fl->ml.near) {
		/* nobody tells of the way to the border: steps, until losses halve them */
		hp_heard_load(sk, &fl->hp, fl->hp.par.eta, rs);
	}
	g->updates++;
}

/* A flow that acts apart from the way behind the border would be blind for a long round trip. */
static bool ml_forgets(const struct fl_guided *g)
{
	return ml_apart(&ml_flow_of(g)->ml);
}

/* After a pause nothing that borders told is true. */
static void ml_restart(struct fl_guided *g, u64 now_ns, u64 rate)
{
	ml_again(&ml_flow_of(g)->ml);
	hp_restart(g, now_ns, rate);
}

/* Losses concern both loops, a port that tells nothing that of the whole way. Context: socket
 * lock held.
 */
static void ml_cut(const struct sock *sk, struct fl_guided *g, u8 state)
{
	struct ml_flow *fl = ml_flow_of(g);
	bool timeout = state == TCP_CA_Loss;
	u64 untold = hp_untold(sk, g);

	if (state == TCP_CA_CWR)
		return;
	hp_on_loss(&fl->hp.core, &fl->hp.par, timeout, ml_apart(&fl->ml) ? 0 : untold);
	if (ml_beside(&fl->ml))
		hp_on_loss(&fl->whole, &fl->hp.par, timeout, untold);
}

/* Border routers keep a queue between datacenters, and tell rates, not how long that is. */
static u32 ml_explained_ns(const struct fl_guided_sock *gs, const struct fl_guided *g)
{
	const struct ml_flow *fl = container_of(g, struct ml_flow, hp.g);

	return ml_apart(&fl->ml) ? U32_MAX : hp_explained_ns(gs, g);
}

static void ml_info(const struct fl_guided *g, struct fl_info *info)
{
	const struct ml_flow *fl = ml_flow_of(g);
	struct ml_core ml = {
		.border = READ_ONCE(fl->ml.border),
		.told = READ_ONCE(fl->ml.told),
		.near = READ_ONCE(fl->ml.near),
		.heard = READ_ONCE(fl->ml.heard),
	};
	u64 rate = ml_rate(&ml, READ_ONCE(fl->hp.core.rate));

	if (ml_beside(&ml))
		rate = min_t(u64, rate, READ_ONCE(fl->whole.rate));
	info->rate_bps = 8 * rate;
}

static const struct fl_guided_ops ml_guided = {
	.cc = {
		.none = { .cc = &ml_guided.cc },
		.name = "mlcc",
		.weighted = true,
		.info = fl_guided_info,
		.changed = fl_guided_changed,
		.told = fl_guided_told,
	},
	.cache = &ml_cache,
	.flow_name = "ml_flow",
	.flow_bytes = sizeof(struct ml_flow),
	.format = FL_TEL_LOAD,
	.border = true,
	.refresh = ml_refresh,
	.know_rtt = ml_know_rtt,
	.explained_ns = ml_explained_ns,
	.heard = ml_heard,
	.near = ml_near,
	.apply = ml_apply,
	.cut = ml_cut,
	.forgets = ml_forgets,
	.restart = ml_restart,
	.rtt_ns = hp_base_ns,
	.info = ml_info,
};

FL_GUIDED_CONTROL(tcp_mlcc, "mlcc", ml_guided);

static int __init ml_register(void)
{
	return fl_guided_register(&tcp_mlcc, &ml_table, &ml_guided);
}

static void __exit ml_unregister(void)
{
	fl_guided_unregister(&tcp_mlcc, &ml_table, &ml_guided);
}

module_init(ml_register);
module_exit(ml_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("MLCC: between datacenters, by what border routers tell");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
