// SPDX-License-Identifier: GPL-2.0
/*
 * Swift for TCP: delay-based congestion control with a target.
 *
 * The window control is swift/core/swift.c; this file connects it with the stack.
 * It is a baseline of the PrioPlus paper and useful alone.
 *
 * Target delay: base RTT plus net.fairlane.research.swift_target_ns. With 0, the
 * default, the D_target of the socket's priority (fl_sock.h) in PrioPlus'
 * channels, which is what the paper compares with (section 5: "Swift with
 * target delays aligned with D_target of PrioPlus"). Target scaling is off
 * unless net.fairlane.research.swift_range_ns is set. Each link of the path adds
 * net.fairlane.research.swift_hop_ns, 0 by default: for base RTTs that are the same for all
 * (net.fairlane.base_rtt_ns), and flows that wait at several ports. Kernel TCP is not
 * told how long the way of its data is, so the ACKs' is taken for it, by what is
 * left of their TTL (fl_option.c).
 *
 * Windows below two packets are paced: cwnd is one packet more, and sk_pacing_rate makes
 * the gaps (swift_put()). At two packets and more nothing is paced; sending is ACK-clocked.
 *
 * Start: line rate, W = BDP, as the paper's and its simulator's Swift.
 *
 * Not in the paper: a base RTT that is measured becomes longer with the path (swift_longer()), and
 * all let the queue drain to see the base RTT (swift_turn()). The smallest window is larger than a
 * packet in 1024 RTTs where an RTT is more than 0.26 ms (swift_min_wnd()). Each of these functions
 * and Documentation/design/prioplus.rst say why and what was measured.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fairlane/fl_sock.h"
#include "fairlane/fl_owd.h"
#include "fairlane/fl_late.h"
#include "fairlane/fl_trace.h"
#include "swift/swift_flow.h"

/* Smallest window: a packet in 1024 RTTs, see swift_min_wnd(). */
#define SWIFT_MIN_WND		(FL_WND_ONE >> 10)
/* The longest time between two packets, log2, ns: 268 ms. */
#define SWIFT_GAP_SHIFT		28
/* Target scaling is complete below this many packets (Swift: fs_min 0.1). */
#define SWIFT_SCALE_MIN_Q8	26
/* Target scaling begins below this many packets (Swift: fs_max 100). */
#define SWIFT_SCALE_MAX_Q8	(100 << 8)
/* Largest window in BDPs: the target is reached long before. */
#define SWIFT_MAX_BDP		8
/* A handshake that took longer, us, may have lost a packet and is no RTT. */
#define SWIFT_HANDSHAKE_MAX_US	200000
/* Base RTT until the first delay if the handshake gives none, us. */
#define SWIFT_GUESS_US		1000

/* Has anything changed that swift_configure() looks at? Then redo it. Once a round trip, when
 * nothing is in flight, or with a base RTT that is shorter than all before: @delay_ns, ns; 0: none.
 */
static noinline void swift_look(struct sock *sk, struct swift *sw, u32 delay_ns)
{
	const struct fl_profile *pf = fl_profile_for(sk, sw->fs);
	u32 gen = swift_gen(sk, sw, pf);
	u8 prio = fl_sock_prio(sk, sw->fs);
	u8 hops = 0;

	sw->look_at = tcp_sk(sk)->tcp_clock_cache >> SWIFT_LOW_SHIFT;
	swift_turn(sk, sw);
	if (gen != sw->gen) {
		fl_owd_want(sk, &sw->tel, READ_ONCE(pf->owd));
		fl_tel_watch(sk, &sw->watch,
			     READ_ONCE(swift_of(pf)->swift_hop_ns));
	}
	if (sw->watch)
		hops = fl_hops_of_ttl(READ_ONCE(sw->watch->ttl));
	if (delay_ns && (sw->guess || delay_ns < sw->base_ns)) {
		sw->base_ns = delay_ns;
		sw->guess = 0;
	} else if (gen == sw->gen && prio == sw->prio && hops == sw->hops) {
		fl_take_over(sk, sw->gso_segs);
		return;
	}
	sw->gen = gen;
	sw->prio = prio;
	sw->hops = hops;
	swift_configure(sk, sw, pf);
	fl_take_over(sk, sw->gso_segs);
}

/* Begin at line rate: W = BDP. Context: first ACK, socket lock held. */
static void swift_start(struct sock *sk, struct swift *sw,
			const struct fl_profile *pf)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 line_bps = fl_sock_line_bps(sk, sw->fs, pf, true);

	sw->base_ns = SWIFT_GUESS_US * NSEC_PER_USEC;
	sw->guess = tcp_min_rtt(tp) > SWIFT_HANDSHAKE_MAX_US;
	sw->una = tp->snd_una;
	if (!sw->guess)
		/* of short packets perhaps, and a microsecond more; on two links at least */
		sw->base_ns = (tcp_min_rtt(tp) + 1) * NSEC_PER_USEC +
			      2 * div64_u64((u64)fl_wire_bytes(sk) * 8 *
					    NSEC_PER_SEC, line_bps);
	sw->gen = swift_gen(sk, sw, pf) - 1;
	swift_look(sk, sw, 0);
	fl_swift_ops.init(&sw->state, tp->tcp_clock_cache);
	sw->wnd = (u64)sw->bdp_pkts << FL_WND_SHIFT;
}

/* What the flow does, for the control plane. Context: RCU, socket not locked. */
static void swift_info(struct sock *sk, const struct fl_attached *at,
		       struct fl_info *info)
{
	struct swift sw;

	fl_ca_seen(sk, &sw, sizeof(sw));
	info->state = sw.wnd ? FL_STATE_SENDING : FL_STATE_START;
	if (!sw.wnd)
		return;
	if (!info->base_rtt_ns) {
		info->base_rtt_ns = sw.base_ns;
		info->base_rtt_from = FL_FROM_MEASURED;
	}
	info->target_ns = sw.target_ns;
	info->hops = sw.hops;
	if (sw.tel)
		fl_owd_info(sk, info);
	info->window_milli = (sw.wnd * 1000) >> FL_WND_SHIFT;
	info->rate_bps = fl_wnd_bps(sw.wnd, READ_ONCE(tcp_sk(sk)->mss_cache),
				    max_t(u32, info->base_rtt_ns, 1));
}

static const struct fl_cc swift_cc = {
	.none = { .cc = &swift_cc },
	.name = "swift",
	.measures_line = true,
	.info = swift_info,
};

/* Put a window into the socket. Where it is less than two packets there would be one on its
 * way, whose ACK alone lets the next one go: if that ACK is lost, nothing but a timeout
 * helps. So two may be on their way, pacing keeps them apart, and the second one's ACK
 * tells of both. The paper (section 3.4) has one: with a tenth of the ACKs lost ten times
 * 7 flows of 61 kB took 10.0 s with one, 1.1 s with two (net/cc: lost_acks_of_small_windows).
 * Context: socket lock held.
 */
static void swift_put(struct sock *sk, u64 wnd, u32 rtt_ns)
{
	bool few = wnd < 2 * FL_WND_ONE;

	fl_apply_wnd(sk, wnd, few, rtt_ns);
	if (few)
		fl_pace_wnd(sk, wnd, max_t(u32, rtt_ns, 1));
}

/* Context: any, socket lock held. Without an RTT yet, the first ACK starts. */
static void swift_init(struct sock *sk)
{
	const struct fl_profile *pf;
	struct swift *sw = inet_csk_ca(sk);

	BUILD_BUG_ON(sizeof(struct swift) > ICSK_CA_PRIV_SIZE);
	memset(sw, 0, sizeof(*sw));
	sw->fs = fl_sock_attach(sk, &swift_cc);
	pf = fl_profile_for(sk, sw->fs);
	sw->base_ns = U32_MAX;
	fl_take_over(sk, 1);
	if (tcp_sk(sk)->srtt_us) {
		swift_start(sk, sw, pf);
		swift_put(sk, sw->wnd, sw->base_ns);
	}
}

/* Put the window into the socket where it is a small one, part of it is held back, or one-way
 * delays steer. Of a one-way delay the window is what fills that; the same rate fills the rest of
 * the round trip. Context: ACK, socket lock held.
 */
static noinline void swift_apply(struct sock *sk, const struct swift *sw,
				 const struct fl_sample *s, u32 base_ns)
{
	u64 wnd = sw->wnd;
	u32 extra_ns;

	if (!s->delay_ns && sw->tel && sw->tel->owd.on)
		return;
	if (sw->low_dip)
		wnd = swift_dip_wnd(wnd);
	if (sw->drain.on)
		wnd = FL_DRAIN_WND;
	if (!s->delay_ns || s->rtt_ns <= s->delay_ns) {
		swift_put(sk, wnd, s->delay_ns ?: sw->base_ns);
		return;
	}
	extra_ns = s->rtt_ns - s->delay_ns;
	wnd += div_u64(mul_u64_u32_shr(wnd, extra_ns, 10),
		       max_t(u32, s->delay_ns >> 10, 1));
	swift_put(sk, wnd, s->rtt_ns);
	fl_owd_pace(sk, wnd, base_ns, extra_ns);
}

/* A late ACK is no queue. A receiver keeps the ACK of a packet that came alone. With a window of
 * less than two that is each packet, and the window would stay at the smallest one for ever. With
 * a larger one it is the last packet of what the application or the receiver's window let go: that
 * ACK waits for the answer, or until the receiver reads, for as long as it takes. Each answer would
 * halve the window of the one that asks, and each pause that of the one that answers.
 * Context: ACK, socket lock held.
 */
static bool swift_may_be_late(const struct sock *sk, const struct swift *sw,
			      const struct rate_sample *rs, u32 delay_ns)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (sw->wnd < 2 * FL_WND_ONE && delay_ns >= FL_DELACK_NS)
		return true;
	if (tp->packets_out)
		return false;
	if (sw->wnd < 2 * FL_WND_ONE)
		return !tcp_send_head(sk);
	/* trains leave less than a third of the window unused */
	return 2 * rs->prior_in_flight <= tcp_snd_cwnd(tp);
}

/* Is the delay the receiver's? Until what is sent from now on is acknowledged none is believed, as
 * after a decrease. Context: ACK, socket lock held. Return: yes.
 */
static bool swift_doubt(struct sock *sk, struct swift *sw, struct fl_sample *s, u32 target_ns)
{
	if (!s->delay_ns)
		return false;
	sw->late = fl_late_next(sk, sw->late, s->delay_ns, target_ns,
				s->now_ns - s->delay_ns >= sw->state.dec_ns,
				sw->wnd < 2 * FL_WND_ONE);
	if (likely(sw->late != FL_LATE_ASK))
		return false;
	s->delay_ns = min(s->delay_ns, sw->base_ns);
	sw->state.dec_ns = s->now_ns;
	if (tcp_sk(sk)->packets_out)
		sw->late = fl_late_sends(sk, sw->late);
	return true;
}

/* As pp_data_ns(), on two links: nobody knows how many there are. Context: ACK, socket lock held.
 * Return: ns.
 */
static inline u32 swift_data_ns(struct sock *sk, struct swift *sw)
{
	u32 bytes = fl_ack_data(sk, &sw->rtt);

	if (likely(!bytes))
		return 0;
	return div64_u64(2ULL * 8 * NSEC_PER_SEC * bytes,
			 fl_sock_line_bps(sk, sw->fs, fl_profile_for(sk, sw->fs), true));
}

/* The target delay where it depends on the window, ns. Context: ACK, socket lock held. */
static noinline u32 swift_scaled_target_ns(const struct sock *sk, const struct swift *sw)
{
	const struct fl_profile *pf = fl_profile_for(sk, sw->fs);
	struct fl_swift_scaling sc = {
		.range_ns = READ_ONCE(swift_of(pf)->swift_range_ns),
		.min_pkts_q8 = SWIFT_SCALE_MIN_Q8,
		.max_pkts_q8 = SWIFT_SCALE_MAX_Q8,
	};

	return fl_swift_scaled_target(&sc, sw->target_ns, sw->wnd);
}

/* The target delay, ns. Context: ACK, socket lock held. */
static inline u32 swift_target_ns(const struct sock *sk, const struct swift *sw)
{
	return unlikely(sw->scaled) ? swift_scaled_target_ns(sk, sw) : sw->target_ns;
}

/* What an ACK says of the path and the line. @rtt_ns: the delay of full packets, ns; 0 = none.
 * @delay_ns: the ACK's. Context: ACK, socket lock held. Return: @rtt_ns, or what it may have been.
 */
static inline u32 swift_see(struct sock *sk, struct swift *sw, const struct rate_sample *rs,
			    u32 rtt_ns, u32 delay_ns)
{
	u16 past = (u16)(tcp_sk(sk)->tcp_clock_cache >> SWIFT_LOW_SHIFT) - sw->look_at;
	bool shorter = rtt_ns && unlikely(rtt_ns < sw->base_ns || sw->guess);

	if (shorter)
		rtt_ns = fl_rtt_most(sk, &sw->rtt, rtt_ns);

	if (unlikely(sw->measures) &&
	    fl_rate_measure(sk, sw->fs,
			    fl_sock_base_rtt_ns(sw->fs, fl_profile_for(sk, sw->fs)) ?: sw->base_ns,
			    delay_ns, rs)) {
		sw->gen--; /* for swift_look() to look again */
		past = U16_MAX;
	}
	/* with nothing in flight the next ACK may be far */
	if (shorter || !tcp_sk(sk)->packets_out || past > sw->base_ns >> SWIFT_LOW_SHIFT)
		swift_look(sk, sw, rtt_ns);
	return rtt_ns;
}

/* The smallest window at a round trip of @rtt_ns. Swift has a packet in 1000 RTTs. Below higher
 * priorities on 20 Mbit/s an RTT is 20 ms, and the next packet would leave when those have long
 * gone (net/cc: swift-starved). So a packet leaves after a quarter of a second at most, or after
 * an RTT that is longer. Context: any. Return: packets << FL_WND_SHIFT.
 */
static inline u64 swift_min_wnd(u32 rtt_ns)
{
	return clamp_t(u64, ((u64)rtt_ns << FL_WND_SHIFT) >> SWIFT_GAP_SHIFT, SWIFT_MIN_WND,
		       FL_WND_ONE);
}

/* Of a round trip, the one-way delay. Context: ACK, socket lock held. Return: base RTT, ns. */
static noinline u32 swift_one_way(const struct sock *sk, const struct swift *sw,
				  struct fl_sample *s)
{
	const struct fl_profile *pf = fl_profile_for(sk, sw->fs);
	u32 base_ns = fl_sock_base_rtt_ns(sw->fs, pf) ?: sw->base_ns;

	s->rtt_ns = s->delay_ns;
	s->delay_ns = fl_owd_sample(sw->tel, s->now_ns, s->rtt_ns, base_ns,
				    READ_ONCE(pf->noise_ns));
	return base_ns;
}

/* Context: each ACK of new data, softirq, socket lock held. */
static void swift_cong_control(FL_CONG_CONTROL_ARGS)
{
	struct swift *sw = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct fl_sample s = {
		.now_ns = tp->tcp_clock_cache,
		.delay_ns = fl_rtt_sample(sk, &sw->rtt, rs),
		.acked_pkts = rs->acked_sacked,
		.wnd_limited = !rs->is_app_limited,
	};
	u32 base_ns = sw->base_ns, target_ns, rtt_ns, data_ns;
	bool full, late;
	u64 max_wnd;

	/* the ACK of our SYN comes before swift_init(), which forgets */
	if (!inet_csk(sk)->icsk_ca_initialized)
		return;
	if (!sw->wnd)
		swift_start(sk, sw, fl_profile_for(sk, sw->fs));
	full = fl_full_packets(sk, fl_acked_bytes(sk, &sw->una), s.acked_pkts);
	data_ns = swift_data_ns(sk, sw);
	rtt_ns = swift_see(sk, sw, rs, full && !data_ns ? s.delay_ns : 0, s.delay_ns);
	if (unlikely(data_ns) && s.delay_ns)
		s.delay_ns -= min(data_ns, s.delay_ns - 1);
	if (unlikely(sw->tel) && s.delay_ns)
		base_ns = swift_one_way(sk, sw, &s);
	late = swift_may_be_late(sk, sw, rs, s.delay_ns);
	if (late)
		s.delay_ns = min(s.delay_ns, sw->base_ns);
	target_ns = swift_target_ns(sk, sw);
	if (unlikely(sw->drain.on)) {
		if (swift_drained(sk, sw, &s, late ? 0 : rtt_ns))
			target_ns = swift_target_ns(sk, sw);
	} else if (!swift_doubt(sk, sw, &s, target_ns) && !late &&
		   swift_longer(sk, sw, &s, target_ns, rtt_ns)) {
		target_ns = swift_target_ns(sk, sw);
	}
	max_wnd = max_t(u64, (u64)SWIFT_MAX_BDP * sw->bdp_pkts, 16) << FL_WND_SHIFT;
	if (!sw->low_dip && !sw->drain.on && s.delay_ns)
		fl_swift_ack(&sw->state, target_ns, sw->ai_wnd,
			     swift_min_wnd(max(s.rtt_ns, s.delay_ns)), max_wnd, &sw->wnd, &s);
	trace_fl_delay_update(sk, s.delay_ns, target_ns, (sw->wnd * 1000) >> FL_WND_SHIFT);
	if (likely(!sw->low_dip && !sw->drain.on && !sw->tel && sw->wnd >= 2 * FL_WND_ONE))
		fl_set_wnd(tp, sw->wnd >> FL_WND_SHIFT, ~0UL);
	else
		swift_apply(sk, sw, &s, base_ns);
	fl_rtt_remember(sk, &sw->rtt);
}

static void swift_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct swift *sw = inet_csk_ca(sk);

	if (event != CA_EVENT_TX_START)
		return;
	fl_smaller_path(sk);
	fl_rtt_first(sk, &sw->rtt);
	sw->late = fl_late_sends(sk, sw->late);
}

/* Losses: once for each recovery. Context: socket lock held. */
static void swift_set_state(struct sock *sk, u8 new_state)
{
	struct swift *sw = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_ns = (tp->srtt_us >> 3) * NSEC_PER_USEC;
	struct fl_target t = {
		.min_wnd = swift_min_wnd(rtt_ns),
		.max_wnd = U64_MAX,
	};

	if (!sw->wnd || (new_state != TCP_CA_Recovery &&
			 new_state != TCP_CA_Loss))
		return;
	fl_swift_ops.on_loss(&sw->state, &t, &sw->wnd, tp->tcp_clock_cache, rtt_ns,
			     new_state == TCP_CA_Loss ? FL_LOSS_TIMEOUT :
							FL_LOSS_FAST);
}

/* Required by the stack; the window is set in cong_control alone. */
static u32 swift_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static u32 swift_undo_cwnd(struct sock *sk)
{
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), 1);
}

static u32 swift_min_tso_segs(struct sock *sk)
{
	return 1;
}

/* Another congestion control, or the end. Also called without swift_init(), on
 * listeners, and twice. Context: socket lock held.
 */
static void swift_release(struct sock *sk)
{
	struct swift *sw = inet_csk_ca(sk);

	if (!sw->base_ns)
		return;
	sw->base_ns = 0;
	fl_sock_detach(sk, sw->fs);
	sw->fs = NULL;
	fl_owd_want(sk, &sw->tel, false);
	fl_tel_watch(sk, &sw->watch, false);
	fl_give_back(sk);
}

static struct tcp_congestion_ops tcp_swift __read_mostly = {
	.init		= swift_init,
	.release	= swift_release,
	.ssthresh	= swift_ssthresh,
	.undo_cwnd	= swift_undo_cwnd,
	.cong_control	= swift_cong_control,
	.set_state	= swift_set_state,
	.cwnd_event	= swift_cwnd_event,
	.min_tso_segs	= swift_min_tso_segs,
	.get_info	= fl_diag_fill,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.owner		= THIS_MODULE,
	.name		= "swift",
};

static int __init swift_register(void)
{
	return fl_cc_register(&tcp_swift, &swift_table);
}

static void __exit swift_unregister(void)
{
	fl_cc_unregister(&tcp_swift, &swift_table);
}

module_init(swift_register);
module_exit(swift_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("Swift: delay-based congestion control with a target");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
