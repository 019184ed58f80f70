// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC for TCP: the rate follows the load of the busiest port on the way.
 *
 * The rate control is core/hpcc.c; this file connects it with the stack. The load comes
 * with ACKs (fl_option.c), written by switches (sch_fabric, "stamp load") and reflected by
 * the receiver, which needs fairlane.ko too, with any congestion control. The sender tells
 * switches over what time loads are to be counted: its RTT, or the time between two of its
 * packets if that is longer.
 *
 * Without telemetry a flow is a Reno flow (fairlane/fl_guided.h).
 *
 * The rate is enforced by pacing. cwnd is a bound: twice what the rate sends in the RTT without
 * queues, and two packets for delayed ACKs, so that what nobody tells of, or tells too late, does
 * not fill a queue for ever. The paper's window is half of that. ACKs of hosts that take their
 * time come later than after that RTT: with such of a virtual machine, up to 40 us at an RTT of
 * 25 us, five flows had .85 of the line, and .97 with twice the window. A path that holds packets
 * for longer has room for them beside (lib/hold.h): a lone flow had .42 of its line otherwise.
 *
 * Losses halve the rate once for each recovery, a timeout leaves a quarter; CE marks are
 * left to the load. After a loss in a queue that no port tells of, the window is the paper's
 * (hp_window()). After a pause of 16 RTTs a flow goes on with the rate that it had, halved for each
 * RTO, and half of the line at most (fairlane/fl_guided.c).
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "hpcc/hp_flow.h"

/* Room in the window beside the rate times the RTT, packets: a delayed ACK. */
#define HP_EXTRA_PKTS		2
/* Fractional bits of the packets in an RTT for each byte/s of rate: 0.37 s and packets of
 * 1500 bytes have room in 32 bits. The second: of the dividend.
 */
#define HP_PER_RATE_SHIFT	44
#define HP_PER_RATE_MORE_SHIFT	31

/* An RTT that exceeds the one without queues by more, and by a train, has a queue in it, ns.
 * Chosen: a port that loses packets has a longer one, 80 us with 100 kB on 10 Gbit/s.
 */
#define HP_UNTOLD_NS		10000

static struct kmem_cache *hp_cache;

/**
 * struct hp_settings - settings, /proc/sys/net/fairlane/research/
 * @hpcc_eta_permille: eta: load to steer for, thousandths
 * @hpcc_stages: maxStage: round trips with additive steps alone
 * @hpcc_flows: N: for so many flows at a port there is room for steps without a queue
 */
struct hp_settings {
	u32 hpcc_eta_permille;
	u32 hpcc_stages;
	u32 hpcc_flows;
};

static struct fl_setting hp_setting_table[] = {
	FL_RESEARCH_SETTING(struct hp_settings, hpcc_eta_permille, 950, HP_ETA_MIN_PERMILLE,
			    HP_ETA_MAX_PERMILLE),
	FL_RESEARCH_SETTING(struct hp_settings, hpcc_stages, 5, 0, HP_STAGES_MAX),
	FL_RESEARCH_SETTING(struct hp_settings, hpcc_flows, 4, 1, HP_FLOWS_MAX),
};

static struct fl_settings hp_table = {
	.owner = KBUILD_MODNAME,
	.table = hp_setting_table,
	.count = ARRAY_SIZE(hp_setting_table),
};

/* RTT without queues, ns; 0: not known. */
u32 hp_base_ns(const struct fl_guided *g)
{
	if (g->set_base_ns)
		return g->set_base_ns;
	return g->base_ns == U32_MAX ? 0 : g->base_ns;
}
EXPORT_SYMBOL_GPL(hp_base_ns);

/* Switches are told over what time loads are wanted: what the flow takes to act. */
void hp_tell_rtt(const struct fl_guided_sock *gs, u32 rtt_ns)
{
	u8 rtt = fl_load_rtt(rtt_ns);

	if (gs->tel && READ_ONCE(gs->tel->rtt) != rtt)
		WRITE_ONCE(gs->tel->rtt, rtt);
}
EXPORT_SYMBOL_GPL(hp_tell_rtt);

/* Packets in a time for each byte/s, << HP_PER_RATE_SHIFT, saturating. */
static u32 hp_per_rate(u32 ns, u32 wire_bytes)
{
	return min_t(u64, U32_MAX,
		     div64_u64((u64)ns << HP_PER_RATE_MORE_SHIFT,
			       div_u64(NSEC_PER_SEC * (u64)wire_bytes,
				       1U << (HP_PER_RATE_SHIFT - HP_PER_RATE_MORE_SHIFT))));
}

/* RTT or packets have changed: what window and trains follow from. Context: socket lock held. */
void hp_know_window(struct hp_flow *fl)
{
	u32 base_ns = hp_base_ns(&fl->g);

	fl->pkts_per_rate = hp_per_rate(base_ns, fl->wire_bytes);
	fl->train_per_rate = hp_per_rate(min(base_ns, fl->loop_ns) >> HP_TRAIN_SHIFT,
					 fl->wire_bytes);
}
EXPORT_SYMBOL_GPL(hp_know_window);

/* Parameters from settings and profile. Context: socket lock held. */
void hp_configure(const struct sock *sk, const struct fl_guided_sock *gs, struct hp_flow *fl,
		  const struct fl_profile *pf)
{
	const struct hp_settings *own = fl_profile_part(pf, &hp_table);
	struct hp_conf cf = {
		.line_bps = fl_sock_line_bps(sk, gs->fs, pf, false),
		.eta_permille = READ_ONCE(own->hpcc_eta_permille),
		.stages = READ_ONCE(own->hpcc_stages),
		.flows = READ_ONCE(own->hpcc_flows),
		.weight_milli = fl_sock_weight_milli(sk, gs->fs),
	};

	fl->wire_bytes = fl_wire_bytes(sk);
	fl->payload_q16 = ((u32)fl->g.mss << 16) / fl->wire_bytes;
	fl->least_segs = fl_sock_gso_segs(sk, pf, cf.line_bps);
	hp_par_init(&fl->par, &cf);
	hp_know_window(fl);
}
EXPORT_SYMBOL_GPL(hp_configure);

static u64 hp_pkts(u64 rate, u32 per_rate)
{
	return mul_u64_u32_shr(rate, per_rate, 32) >> (HP_PER_RATE_SHIFT - 32);
}

/**
 * hp_set() - put rate and window into the socket: it is payload that the stack paces
 * @sk: the socket; caller holds its lock
 * @fl: its flow
 * @rate: what to send at, bytes on the line a second
 * @window: what the window holds, likewise, in an RTT without queues
 */
void hp_set(struct sock *sk, struct hp_flow *fl, u64 rate, u64 window)
{
	/* more than ULONG_MAX is not paced on 32-bit machines */
	u64 payload = min_t(u64, mul_u64_u32_shr(rate, fl->payload_q16, 16), ULONG_MAX);
	u64 pkts = hp_pkts(window, fl->pkts_per_rate);

	/* a pair of what comes at once is a gap of the flow, and a packet in flight */
	pkts += fl_hold_pairs(&fl->g.hold);
	fl_guided_train(&fl->g, max_t(u64, 1 + hp_pkts(rate, fl->train_per_rate), fl->least_segs));
	fl_set_wnd(tcp_sk(sk), min_t(u64, pkts, BIT(24)) + HP_EXTRA_PKTS,
		   max_t(unsigned long, payload, 1000));
}
EXPORT_SYMBOL_GPL(hp_set);

/* The time in which a flow can act from end to end: its RTT, or that between two packets if
 * it sends less than one in an RTT.
 */
u32 hp_act_ns(const struct hp_flow *fl)
{
	u64 part = mul_u64_u32_shr(fl->core.rate, fl->pkts_per_rate, 32);

	if (likely(part >> (HP_PER_RATE_SHIFT - 32)))
		return hp_base_ns(&fl->g);
	return min_t(u64, U32_MAX, div64_u64(NSEC_PER_SEC * (u64)fl->wire_bytes,
					     fl->core.rate));
}
EXPORT_SYMBOL_GPL(hp_act_ns);

/* The first echo (again): go on with what is sent now. Context: socket lock held. */
void hp_begin(struct sock *sk, struct hp_flow *fl)
{
	hp_init(&fl->core, &fl->par, fl_guided_begin(sk, &fl->g, hp_base_ns(&fl->g)));
	fl->turn_seq = tcp_sk(sk)->snd_nxt;
}
EXPORT_SYMBOL_GPL(hp_begin);

/* Is a round trip over with this ACK? Once for each ACK. Context: socket lock held. */
bool hp_turned(const struct sock *sk, struct hp_flow *fl)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!hp_is_over(fl->turn_seq, tp->snd_una, tp->snd_nxt))
		return false;
	fl->turn_seq = tp->snd_nxt + 1;
	return true;
}
EXPORT_SYMBOL_GPL(hp_turned);

/* HPCC from end to end; @load: of the way, << FL_LOAD_HOST_SHIFT. Context: socket lock held. */
void hp_heard_load(const struct sock *sk, struct hp_flow *fl, u32 load,
		   const struct rate_sample *rs)
{
	hp_on_load(&fl->core, &fl->par, load, hp_turned(sk, fl), rs->is_app_limited);
}
EXPORT_SYMBOL_GPL(hp_heard_load);

/* A port that is told to be full explains any RTT: then the window bounds nothing. */
u32 hp_explained_ns(const struct fl_guided_sock *gs, const struct fl_guided *g)
{
	const struct hp_flow *fl = container_of(g, struct hp_flow, g);

	return fl_load_of(READ_ONCE(gs->tel->queue)) >= fl->par.eta ? U32_MAX : 0;
}
EXPORT_SYMBOL_GPL(hp_explained_ns);

/* RTTs show a queue, or losses a rate, and no port tells that it is full. Context: socket lock
 * held. Return: what came through in the last RTT, bytes on the line a second; 0: there is no
 * such queue.
 */
u64 hp_untold(const struct sock *sk, const struct fl_guided *g)
{
	const struct hp_flow *fl = container_of(g, struct hp_flow, g);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 base_ns = hp_base_ns(g);

	/* what comes last in a train has waited for the rest of it */
	if ((fl->rtt_ns <= base_ns + (base_ns >> HP_TRAIN_SHIFT) + HP_UNTOLD_NS && !g->lossy) ||
	    hp_explained_ns(inet_csk_ca(sk), g))
		return 0;
	if (!tp->rate_interval_us)
		return U64_MAX;
	return max_t(u64, 1, div_u64((u64)tp->rate_delivered * fl->wire_bytes * USEC_PER_SEC,
				     tp->rate_interval_us));
}
EXPORT_SYMBOL_GPL(hp_untold);

/* CE marks are left to the load. Context: socket lock held. */
void hp_cut(const struct sock *sk, struct fl_guided *g, u8 state)
{
	struct hp_flow *fl = hp_flow_of(g);

	if (state != TCP_CA_CWR)
		hp_on_loss(&fl->core, &fl->par, state == TCP_CA_Loss, hp_untold(sk, g));
}
EXPORT_SYMBOL_GPL(hp_cut);

/* Context: socket lock held. */
void hp_restart(struct fl_guided *g, u64 now_ns, u64 rate)
{
	struct hp_flow *fl = hp_flow_of(g);

	hp_init(&fl->core, &fl->par, rate);
}
EXPORT_SYMBOL_GPL(hp_restart);

/* The RTT without queues is known, or another. Context: socket lock held. */
void hp_know_rtt(const struct fl_guided_sock *gs, struct fl_guided *g)
{
	hp_know_window(hp_flow_of(g));
	hp_tell_rtt(gs, hp_base_ns(g));
}
EXPORT_SYMBOL_GPL(hp_know_rtt);

static void hp_refresh(const struct sock *sk, const struct fl_guided_sock *gs,
		       struct fl_guided *g, const struct fl_profile *pf)
{
	hp_flow_of(g)->loop_ns = U32_MAX;
	hp_configure(sk, gs, hp_flow_of(g), pf);
	hp_tell_rtt(gs, hp_base_ns(g));
}

static void hp_apply(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g)
{
	struct hp_flow *fl = hp_flow_of(g);

	hp_tell_rtt(gs, hp_act_ns(fl));
	hp_set(sk, fl, fl->core.rate, hp_window(&fl->core, fl->core.rate));
}

static void hp_heard(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g,
		     const struct rate_sample *rs, u32 rtt_ns, u32 what)
{
	struct hp_flow *fl = hp_flow_of(g);

	if (!hp_base_ns(g))
		return;
	if (!g->telling)
		hp_begin(sk, fl);
	hp_heard_rtt(fl, rtt_ns);
	hp_heard_load(sk, fl, fl_load_of(READ_ONCE(gs->tel->queue)), rs);
	g->updates++;
}

static void hp_info(const struct fl_guided *g, struct fl_info *info)
{
	info->rate_bps = 8 * READ_ONCE(hp_flow_of(g)->core.rate);
}

static const struct fl_guided_ops hp_guided = {
	.cc = {
		.none = { .cc = &hp_guided.cc },
		.name = "hpcc",
		.weighted = true,
		.info = fl_guided_info,
		.changed = fl_guided_changed,
	},
	.cache = &hp_cache,
	.flow_name = "hp_flow",
	.flow_bytes = sizeof(struct hp_flow),
	.format = FL_TEL_LOAD,
	.refresh = hp_refresh,
	.know_rtt = hp_know_rtt,
	.explained_ns = hp_explained_ns,
	.heard = hp_heard,
	.apply = hp_apply,
	.cut = hp_cut,
	.restart = hp_restart,
	.rtt_ns = hp_base_ns,
	.info = hp_info,
};

FL_GUIDED_CONTROL(tcp_hpcc, "hpcc", hp_guided);

static int __init hp_register(void)
{
	return fl_guided_register(&tcp_hpcc, &hp_table, &hp_guided);
}

static void __exit hp_unregister(void)
{
	fl_guided_unregister(&tcp_hpcc, &hp_table, &hp_guided);
}

module_init(hp_register);
module_exit(hp_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("HPCC: the rate follows the load of the busiest port");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
