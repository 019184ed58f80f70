// SPDX-License-Identifier: GPL-2.0
/*
 * Söze for TCP: bandwidth in proportion to a weight, at any bottleneck.
 *
 * The rate control is core/soze.c; this file connects it with the stack. The
 * largest queueing delay on the path comes with ACKs (fl_option.c), written by
 * switches (sch_fabric, "stamp soze") and reflected by the receiver, which needs
 * fairlane.ko too, with any congestion control.
 *
 * Without telemetry a flow is a Reno flow (fairlane/fl_guided.h).
 *
 * The rate is enforced by pacing. It is payload that the stack paces and lines
 * that are shared, so both forms of the rate are kept (payload_l2). cwnd is the
 * bound of core/soze.c (5), for which the RTT without the delay told is
 * smoothed.
 *
 * Two departures from the paper, which decides with each ACK and whose window is no
 * more than the rate's. A flow that has known its share for 64 round trips decides eight
 * times in an RTT, with the average of what it heard in between. That is cheaper where ACKs are
 * many (selftests/machine/cc-cost). And the window has room for what is acknowledged at
 * once: where a card gathers packets for 10 us one flow had 59 % of 25 Gbit/s otherwise
 * (selftests/net/gro).
 *
 * A bottleneck that does not tell its delay (another switch, the sender's own
 * qdisc) is seen in the RTT: what the smallest RTT of the last two round trips
 * exceeds the base RTT, four times the delay told (queues on other hops), how long
 * packets are held (lib/hold.h) and 20 us, counts as queueing delay. So does what
 * the option has no numbers for. What ACKs waited is told as well and taken off
 * before: no queue of the data. The base RTT is the flow's own and is measured anew where no
 * RTT comes near it any more (lib/renew.h). Queues stay bounded, shares are as good as the flows'
 * base RTTs. Better have "fabric stamp soze" there, on hosts as well.
 *
 * Losses and CE marks: rate times 0.7, once for each recovery; after a timeout a
 * quarter, and start. A loss in a queue that nobody tells of bounds the rate
 * (sz_raise_bound()). After a pause of 16 RTTs a flow goes on with the rate that it had, halved
 * for each RTO, and half of the line at most (fairlane/fl_guided.c). An application that sends less
 * than it may changes nothing: the share is what D tells, used or not.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "sz_flow.h"
#include "sz_trace.h"

/* RTT that the delay told explains: base RTT, this, and 4 times the delay. */
#define SZ_HIDDEN_SLACK_NS	20000
#define SZ_HIDDEN_DELAYS	4
/* Largest bound of a rate, kB/s: 17 Tbit/s. */
#define SZ_BOUND_MAX_KBYTES	(U32_MAX / 2)
/* What nobody tells of, and stands for so many RTTs, and so long, is the path. */
#define SZ_STANDS_RTTS		16
/* That is asked only where the share is less than a packet in so many RTTs, log2. */
#define SZ_STANDS_GAP		3
#define SZ_STANDS_LEAST_NS	50000000
/* It stands still if it moves by no more than this part of it, log2, and the slack. */
#define SZ_STANDS_SHIFT		4
/* Smoothing of it, log2 of samples. */
#define SZ_REST_SHIFT		3
/* So many decisions in an RTT at most, log2; other ACKs are added up. */
#define SZ_DECIDE_SHIFT		3
/* The longest train is what is sent in this part of a round trip, log2. */
#define SZ_TRAIN_SHIFT		4
/* What is acknowledged at once is forgotten by this part in a decision, log2. */
#define SZ_BURST_SHIFT		3
/* As much of it, in packets, the window has room for anyway; in smaller windows than the
 * second it is left out: what comes at once there was sent at once.
 */
#define SZ_BURST_PKTS		2
#define SZ_BURST_WINDOW_PKTS	16

static struct kmem_cache *sz_cache;

static struct sz_flow *sz_flow_of(const struct fl_guided *g)
{
	return container_of(g, struct sz_flow, g);
}

/**
 * struct sz_settings - Söze's settings, /proc/sys/net/fairlane/
 * @soze_alpha_mbps: alpha for weight 1, Mbit/s; 0 = line_rate_mbps
 */
struct sz_settings {
	u32 soze_alpha_mbps;
};

static struct fl_setting sz_setting_table[] = {
	FL_SETTING(struct sz_settings, soze_alpha_mbps, 0, 0, SZ_RATE_MAX_MBPS),
};

static struct fl_settings sz_table = {
	.owner = KBUILD_MODNAME,
	.table = sz_setting_table,
	.count = ARRAY_SIZE(sz_setting_table),
};

/* Parameters from the profile; the defaults if people have set nonsense. */
static void sz_configure(const struct sock *sk, struct sz_flow *fl,
			 const struct fl_sock *fs, const struct fl_profile *pf)
{
	const struct sz_settings *own = fl_profile_part(pf, &sz_table);
	u32 wire = fl_wire_bytes(sk);
	struct sz_conf cf = {
		.line_bps = fl_sock_line_bps(sk, fs, pf, false),
		.wire_bytes = wire,
		.base_ns = READ_ONCE(pf->base_rtt_ns),
		.alpha_mbps = READ_ONCE(own->soze_alpha_mbps),
	};

	if (sz_par_init(&fl->par, &cf)) {
		cf.alpha_mbps = 0;
		sz_par_init(&fl->par, &cf);
	}
	fl->payload_l2 = sz_log2(tcp_sk(sk)->mss_cache) - sz_log2(wire);
}

/* Something has changed that sz_configure() or the core look at. @pf: the profile */
static void sz_refresh(const struct sock *sk, const struct fl_guided_sock *gs,
		       struct fl_guided *g, const struct fl_profile *pf)
{
	struct sz_flow *fl = sz_flow_of(g);

	sz_configure(sk, fl, gs->fs, pf);
	fl->short_pkts = min_t(u32, sz_train_pkts(&fl->par), FL_TRAIN_MAX_SEGS);
	fl->train_pkts = fl->short_pkts;
	if (g->telling)
		sz_set_weight(&fl->core, &fl->par,
			      fl_sock_weight_milli(sk, gs->fs));
}

/* Put the core's rate and window into the socket. */
static __always_inline void sz_apply(struct sock *sk, const struct fl_guided_sock *gs,
				     struct fl_guided *g)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sz_flow *fl = sz_flow_of(g);
	u32 pkts, burst_pkts = fl->burst_pkts;
	u64 rate;

	rate = sz_exp2((s64)fl->core.pace_l2 + fl->payload_l2);
	rate = min_t(u64, max_t(u64, rate, 1000), READ_ONCE(sk->sk_max_pacing_rate));
	pkts = sz_window_pkts(&fl->core, &fl->par, max_t(u32, fl->rest_ns, 1));
	if (pkts >= SZ_BURST_WINDOW_PKTS &&
	    burst_pkts > SZ_BURST_PKTS + (pkts >> SZ_DECIDE_SHIFT))
		pkts += burst_pkts - SZ_BURST_PKTS - (pkts >> SZ_DECIDE_SHIFT);
	fl_snd_cwnd_set(tp, clamp_t(u32, pkts, 1, tp->snd_cwnd_clamp));
	WRITE_ONCE(sk->sk_pacing_rate, rate);
	fl_guided_train(g, min_t(u32, fl->train_pkts,
				 max_t(u32, fl->short_pkts, pkts >> SZ_TRAIN_SHIFT)));
}

/* The first echo (again): go on with what is sent now. After Reno's slow start
 * that is a share already, and the queue is Reno's.
 */
static noinline void sz_begin(struct sock *sk, const struct fl_guided_sock *gs,
			      struct sz_flow *fl, u32 rtt_ns)
{
	bool share = fl->g.ever || !tcp_in_slow_start(tcp_sk(sk));
	u32 weight_milli = fl_sock_weight_milli(sk, gs->fs);
	u64 rate = fl_guided_begin(sk, &fl->g, rtt_ns);

	if (share)
		sz_resume(&fl->core, &fl->par, fl->g.ack_ns, rate, weight_milli);
	else
		sz_init(&fl->core, &fl->par, fl->g.ack_ns, rate, weight_milli);
}

/* RTT less what ACKs wait on their way back: that is no queue of the data's.
 * Several hops may have as much as the one that tells most.
 */
static u32 sz_rtt_there_ns(u32 rtt_ns, u32 back_ns)
{
	return rtt_ns - min(rtt_ns - 1, SZ_HIDDEN_DELAYS * back_ns);
}

/* How long packets are held on the way, ns. */
static noinline u64 sz_held_ns(const struct sz_flow *fl)
{
	u64 gap_ns = sz_exp2((s64)fl->par.packet_l2 - fl->core.rate_l2);

	return fl_hold_pairs(&fl->g.hold) * min_t(u64, gap_ns, NSEC_PER_SEC);
}

/* Queueing delay that the RTT shows and nobody tells, ns. @rtt_ns: without that of
 * the way back.
 */
static u32 sz_hidden_ns(struct sz_flow *fl, u32 rtt_ns, u64 now_ns, u32 base_ns)
{
	u64 known_ns;
	u32 least_ns;

	if ((u32)now_ns - fl->turn_ns > fl->rest_ns + fl->queue_ns) {
		fl->turn_ns = now_ns;
		fl->least_ns[1] = fl->least_ns[0];
		fl->least_ns[0] = rtt_ns;
	}
	fl->least_ns[0] = min(fl->least_ns[0], rtt_ns);
	if (base_ns == U32_MAX)
		return 0;
	least_ns = min(fl->least_ns[0], fl->least_ns[1]);
	known_ns = base_ns + SZ_HIDDEN_SLACK_NS + fl->queue_ns;
	if (fl->queue_ns < FL_TELEMETRY_MAX_NS)
		known_ns += (u64)(SZ_HIDDEN_DELAYS - 1) * fl->queue_ns;
	if (likely(least_ns <= known_ns))
		return 0;
	known_ns += sz_held_ns(fl);
	return least_ns > known_ns ? least_ns - known_ns : 0;
}

/* Is it the RTT that tells most of the queue? */
static bool sz_untold(const struct sz_flow *fl)
{
	return fl->hidden_ns && fl->hidden_ns >= fl->queue_ns - fl->hidden_ns;
}

/* A delay that nobody tells of, and that leaves the flow less than a packet in many RTTs, is waited
 * for. A queue that others do not feed is gone after its own time, and one that they do feed moves.
 * What has come and stands still for many RTTs is the path, which has become longer: the flow need
 * not wait until a window of lib/renew.h ends. Context: ACK with an RTT of @rtt_ns, socket lock
 * held.
 */
static noinline void sz_wait_for_hidden(struct sz_flow *fl, u32 rtt_ns)
{
	s64 told_l2 = sz_target_rate_l2(&fl->par, fl->queue_ns) + fl->core.weight_l2;
	u32 near_ns = SZ_HIDDEN_SLACK_NS + (fl->hidden_ns >> SZ_STANDS_SHIFT);
	struct fl_guided *g = &fl->g;
	u32 most_ns = fl->stands_rtt_ns;

	if (told_l2 + sz_log2(rtt_ns) >= fl->par.packet_l2 - SZ_STANDS_GAP * (s64)SZ_ONE) {
		fl->stands_rtt_ns = 0;
	} else if (rtt_ns > (u64)most_ns + near_ns) {
		fl->stands_rtt_ns = rtt_ns;
		fl->stands_ns = g->ack_ns;
	} else if ((u64)rtt_ns + near_ns < most_ns) {
		fl->stands_rtt_ns = SZ_MOVES;
	} else if (g->ack_ns - fl->stands_ns >= max_t(u64, (u64)SZ_STANDS_RTTS * rtt_ns,
						     SZ_STANDS_LEAST_NS)) {
		fl->stands_ns = g->ack_ns;
		g->base_ns = fl_renew_stood(&g->renew, min(rtt_ns, most_ns), g->base_ns);
	}
}

/* How long may a train be? Where no port has a queue, trains make nobody wait, and they are what
 * a processor can carry. They double in a round trip, @turn, so what they make wait at the port
 * of their own host is heard of before it is k/2.
 */
static void sz_set_train(struct sz_flow *fl, u32 delay_ns, bool turn)
{
	if (!sz_is_empty(&fl->par, delay_ns))
		fl->train_pkts = fl->short_pkts;
	else if (turn)
		fl->train_pkts = min_t(u32, 2 * fl->train_pkts, FL_TRAIN_MAX_SEGS);
}

/* For who looks, with the socket lock or without: its rate, bit/s. */
static u64 sz_bps_of(const struct sz_flow *fl)
{
	return 8 * sz_exp2((s64)READ_ONCE(fl->core.rate_l2) + READ_ONCE(fl->payload_l2));
}

static noinline void sz_trace(struct sock *sk, const struct fl_guided_sock *gs,
			      const struct sz_flow *fl)
{
	trace_fl_soze_update(sk, fl->queue_ns, fl->core.target_ns, sz_bps_of(fl),
			     fl_sock_weight_milli(sk, gs->fs));
}

/* Do ports tell of more than they hide? */
static bool sz_is_told(const struct sz_flow *fl)
{
	return !sz_untold(fl) && fl->queue_ns > SZ_HIDDEN_SLACK_NS;
}

/* A queue that nobody tells of may be full before its delay is what T asks for: each flow would
 * come back from its cut in some round trips, and what is too much would be lost, a tenth of all
 * packets. So after such a loss a flow is AIMD's: half a packet more for each unit of weight in a
 * round trip, which with a cut of 30 % is Reno's share (3 (1 - .7) / (1 + .7) = .53). It is bounded
 * so until ports tell. Context: once in a round trip, socket lock held.
 */
static noinline void sz_raise_bound(struct sock *sk, const struct fl_guided_sock *gs,
				    struct sz_flow *fl, u32 rtt_ns)
{
	u64 step_kbytes;

	if (sz_is_told(fl)) {
		fl->bound_kbytes = 0;
		return;
	}
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Open)
		return;
	step_kbytes = div_u64((u64)fl_wire_bytes(sk) * fl_sock_weight_milli(sk, gs->fs) *
			      NSEC_PER_USEC / 2, rtt_ns) + 1;
	/* no line is that fast: a bound of a flow that has lost once long ago must not wrap */
	fl->bound_kbytes = min_t(u64, fl->bound_kbytes + step_kbytes, SZ_BOUND_MAX_KBYTES);
}

/* An echo has come: its delay, and the RTT without it. */
static __always_inline void sz_heard(struct sock *sk, const struct fl_guided_sock *gs,
				     struct fl_guided *g, const struct rate_sample *rs,
				     u32 rtt_ns, u32 what)
{
	u32 base_ns = g->set_base_ns ?: g->base_ns;
	u32 told_ns = fl_tel_ns(READ_ONCE(gs->tel->queue));
	struct sz_flow *fl = sz_flow_of(g);
	struct sz_sample s = { .now_ns = g->ack_ns };
	u32 rest_ns, back_ns, turn_ns = fl->turn_ns;

	if (!g->telling) {
		fl->rest_ns = 0;
		fl->told_ns = SZ_UNTOLD;
	}
	fl->queue_ns = fl->told_ns == SZ_UNTOLD ? told_ns : (told_ns + fl->told_ns) / 2;
	fl->told_ns = SZ_UNTOLD;
	fl->burst_pkts = max_t(u16, fl->acked_pkts, fl->burst_pkts -
			       (fl->burst_pkts >> SZ_BURST_SHIFT));
	fl->acked_pkts = 0;
	back_ns = fl_tel_ns(READ_ONCE(gs->tel->back));
	if (rtt_ns) {
		/* differences have signs */
		rtt_ns = min_t(u32, rtt_ns, S32_MAX);
		fl->hidden_ns = sz_hidden_ns(fl, sz_rtt_there_ns(rtt_ns, back_ns),
					     s.now_ns, base_ns);
		fl->queue_ns += fl->hidden_ns;
		rest_ns = max_t(s32, rtt_ns - fl->queue_ns, 1);
		if (!fl->rest_ns)
			fl->rest_ns = rest_ns;
		fl->rest_ns += ((s32)(rest_ns - fl->rest_ns)) >> SZ_REST_SHIFT;
		if (unlikely(fl->hidden_ns | fl->stands_rtt_ns) && !g->set_base_ns)
			sz_wait_for_hidden(fl, rtt_ns - min(rtt_ns - 1,
							    fl->queue_ns - fl->hidden_ns));
	}
	if (!fl->rest_ns)
		return;
	s.delay_ns = fl->queue_ns;
	s.rtt_ns = fl->rest_ns + fl->queue_ns;
	if (!g->telling)
		sz_begin(sk, gs, fl, s.rtt_ns);
	if (unlikely(fl->bound_kbytes) && fl->turn_ns != turn_ns)
		sz_raise_bound(sk, gs, fl, s.rtt_ns);
	sz_on_ack(&fl->core, &fl->par, s);
	if (unlikely(fl->bound_kbytes))
		sz_keep_below(&fl->core, &fl->par, fl->bound_kbytes * 1000ULL);
	sz_set_train(fl, s.delay_ns, fl->turn_ns != turn_ns);
	g->updates++;
	if (trace_fl_soze_update_enabled())
		sz_trace(sk, gs, fl);
}

/* Was there a decision just now? */
static bool sz_can_wait(const struct sz_flow *fl)
{
	return fl->g.telling && sz_settled(&fl->core) &&
	       fl->g.ack_ns - fl->core.last_ns <
	       (fl->rest_ns + fl->queue_ns) >> SZ_DECIDE_SHIFT;
}

/* Has this ACK an echo so soon after a decision that it can wait for the next one? */
static __always_inline bool sz_waits(struct sock *sk, const struct fl_guided_sock *gs,
				     struct fl_guided *g, u32 acked_pkts, bool heard)
{
	struct sz_flow *fl = sz_flow_of(g);
	u32 told_ns;

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Open)
		fl->acked_pkts = min_t(u32, fl->acked_pkts + acked_pkts, U16_MAX);
	if (!heard || !sz_can_wait(fl))
		return false;
	told_ns = fl_tel_ns(READ_ONCE(gs->tel->queue));
	fl->told_ns = fl->told_ns == SZ_UNTOLD ? told_ns : (told_ns + fl->told_ns) / 2;
	return true;
}

static void sz_cut(const struct sock *sk, struct fl_guided *g, u8 state)
{
	struct sz_flow *fl = sz_flow_of(g);

	sz_on_loss(&fl->core, &fl->par, state == TCP_CA_Loss);
	if (state != TCP_CA_CWR && (sz_untold(fl) || (g->lossy && !sz_is_told(fl))))
		fl->bound_kbytes = clamp_t(u64, div_u64(sz_exp2(fl->core.rate_l2), 1000), 1,
					   SZ_BOUND_MAX_KBYTES);
}

static void sz_again(struct fl_guided *g, u64 now_ns, u64 rate)
{
	struct sz_flow *fl = sz_flow_of(g);

	sz_restart(&fl->core, &fl->par, now_ns, rate);
}

/* The delay told, at several ports, on the way there and back. */
static u32 sz_explained_ns(const struct fl_guided_sock *gs, const struct fl_guided *g)
{
	return SZ_HIDDEN_DELAYS * (fl_tel_ns(READ_ONCE(gs->tel->queue)) +
				   fl_tel_ns(READ_ONCE(gs->tel->back)));
}

static u32 sz_rtt_ns(const struct fl_guided *g)
{
	const struct sz_flow *fl = container_of(g, struct sz_flow, g);

	return fl->rest_ns + fl->queue_ns;
}

static void sz_info(const struct fl_guided *g, struct fl_info *info)
{
	const struct sz_flow *fl = container_of(g, struct sz_flow, g);

	info->queue_ns = READ_ONCE(fl->queue_ns);
	info->target_queue_ns = READ_ONCE(fl->core.target_ns);
	info->delay_ns = READ_ONCE(fl->rest_ns) + info->queue_ns;
	info->rate_bps = sz_bps_of(fl);
}

static const struct fl_guided_ops sz_guided = {
	.cc = {
		.none = { .cc = &sz_guided.cc },
		.name = "soze",
		.weighted = true,
		.info = fl_guided_info,
		.changed = fl_guided_changed,
	},
	.cache = &sz_cache,
	.flow_name = "sz_flow",
	.flow_bytes = sizeof(struct sz_flow),
	.format = FL_TEL_DELAY,
	.refresh = sz_refresh,
	.explained_ns = sz_explained_ns,
	.waits = sz_waits,
	.heard = sz_heard,
	.apply = sz_apply,
	.cut = sz_cut,
	.slow = true,
	.restart = sz_again,
	.rtt_ns = sz_rtt_ns,
	.info = sz_info,
};

FL_GUIDED_CONTROL(tcp_soze, "soze", sz_guided);

static int __init sz_register(void)
{
	return fl_guided_register(&tcp_soze, &sz_table, &sz_guided);
}

static void __exit sz_unregister(void)
{
	fl_guided_unregister(&tcp_soze, &sz_table, &sz_guided);
}

module_init(sz_register);
module_exit(sz_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("Söze: weighted sharing by the largest queueing delay");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
