/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion controls that are guided by telemetry: what they have in common. Each brings a
 * struct fl_guided_ops, which says what distinguishes it.
 *
 * Without telemetry (yet, or any more: nothing heard for 8 RTTs with ACKs of 16 packets in
 * them) a flow is a Reno flow: slow start, one packet an RTT, half of the window after a
 * loss. With the first echo its control begins, with what the flow sends then. struct fl_info
 * and net/fairlane_telemetry tell of it.
 */
#ifndef FL_GUIDED_H
#define FL_GUIDED_H

#include "compat/compat.h"
#include "fairlane.h"
#include "fl_sock.h"
#include "fl_telemetry.h"
#include "lib/hold.h"
#include "lib/losses.h"
#include "lib/renew.h"

/* With the times of so many packets known, no others are noted. */
#define FL_GUIDED_NOTED_PKTS	2
/* Without an echo for so many packets acknowledged, and some RTTs: fall back. */
#define FL_GUIDED_LOST_PKTS	16
/* The window while a queue drains: two packets, or the ACK of one would be delayed. */
#define FL_GUIDED_DIP_PKTS	2

/**
 * struct fl_guided - what every such flow has, the first field of its own struct
 * @at: what readers find it by
 * @ack_ns: when the last ACK came
 * @unheard_seq: the round trip without an echo ends when something behind it is acknowledged
 * @dip_seq: what was sent before the dip
 * @rcu: readers of struct fl_info, who do not look at these three
 * @updates: echoes that were acted on
 * @echoes: tel->echoes that was seen
 * @base_ns: smallest RTT of a full packet, as long as it is true (@renew), ns; U32_MAX: none
 * @set_base_ns: base RTT by settings, ns; 0: none
 * @hold: what ACKs say of a path that holds packets
 * @renew: what RTTs say of a path that has become longer
 * @losses: what was lost
 * @gen: of profile and settings
 * @gso_segs: most segments in a packet; while @telling the control's @apply sets it
 * @set_segs: no more than the profile says
 * @una: tp->snd_una at the last ACK
 * @unheard_pkts: acknowledged since the last echo, saturating
 * @mss: that the control's parameters are for
 * @telling: echoes come: this is the control, not Reno
 * @ever: they have come once
 * @lossy: losses tell of a rate, whether or not RTTs tell of a queue
 * @tells: tel->tells that was seen
 * @nears: tel->nears that was seen
 * @ordered: nothing was out of order at the last ACK
 * @has_tel: the socket has telemetry; as it was when the flow began, for readers
 * @unheard_rtts: round trips since the last echo, saturating
 */
struct fl_guided {
	struct fl_attached at;
	union {
		struct {
			u64 ack_ns;
			u32 unheard_seq;
			u32 dip_seq;
		};
		struct rcu_head rcu;
	};
	u64 updates;
	u32 echoes;
	u32 base_ns;
	u32 set_base_ns;
	struct fl_hold hold;
	struct fl_renew renew;
	struct fl_losses losses;
	u32 gen;
	u32 una;
	u16 unheard_pkts;
	u16 mss;
	bool telling;
	bool ever;
	bool lossy;
	u8 tells;
	u8 nears;
	u8 gso_segs;
	u8 set_segs;
	bool ordered;
	bool has_tel;
	u8 unheard_rtts;
};

/* What has come with an ACK: bits. */
#define FL_GUIDED_ECHO		BIT(0)	/* the load or delay that data met */
#define FL_GUIDED_TELL		BIT(1)	/* the rate of a border router */
#define FL_GUIDED_NEAR		BIT(2)	/* that of the way to the other; never alone */

/**
 * struct fl_guided_sock - what the socket keeps
 * @fs: its settings
 * @tel: its telemetry, NULL: there can be none
 * @flow: the rest; NULL: no memory, Reno for ever. RCU: readers of struct fl_info
 * @rtt: delay samples
 * @active: fl_guided_init_sk() was called
 */
struct fl_guided_sock {
	struct fl_sock *fs;
	struct fl_tel *tel;
	struct fl_guided __rcu *flow;
	struct fl_rtt rtt;
	bool active;
};

/**
 * struct fl_guided_ops - a control
 * @cc: for the control plane; its @info, @changed and @told are fl_guided_info(), _changed()
 *	and, if there is @near, _told()
 * @cache: where its flows come from; fl_guided_register() makes it
 * @flow_name: name of that
 * @flow_bytes: size of its own struct
 * @format: the option that it lives on
 * @border: what a border router tells is an echo, too
 * @refresh: settings, profile or MSS have changed: compute what follows from them
 * @know_rtt: @base_ns has changed; optional
 * @explained_ns: so much of an RTT is no path, for all that the last echo says, ns
 * @waits: an ACK, before anything else is done with it; true: nothing else shall be; optional
 * @heard: an ACK with an echo; what has come, and an RTT, ns, 0: none. It calls
 *	fl_guided_begin() if the flow is not @telling
 * @near: a border router has told of the way to it, without an ACK; optional. It may call
 *	fl_guided_begin() as well. Return: the rate may be another now
 * @apply: put rate and window into the socket, and say how long a train may be, see
 *	fl_guided_train()
 * @cut: losses or CE marks, once for each recovery; the new state
 * @slow: rates of a packet in many RTTs are meant, its gaps are no silence. (HPCC's are not: a
 *	false load brings a flow there, and to begin anew is what frees it.)
 * @forgets: after silence the flow begins with the initial window; optional
 * @restart: after silence, with this rate, bytes on the line a second
 * @rtt_ns: what an RTT is, ns
 * @info: what it knows beside the rest, while @telling
 *
 * Context of all but @info: socket lock held.
 */
struct fl_guided_ops {
	struct fl_cc cc;
	struct kmem_cache **cache;
	const char *flow_name;
	size_t flow_bytes;
	enum fl_tel_format format;
	bool border;
	void (*refresh)(const struct sock *sk, const struct fl_guided_sock *gs,
			struct fl_guided *g, const struct fl_profile *pf);
	void (*know_rtt)(const struct fl_guided_sock *gs, struct fl_guided *g);
	u32 (*explained_ns)(const struct fl_guided_sock *gs, const struct fl_guided *g);
	bool (*waits)(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g,
		      u32 acked_pkts, bool heard);
	void (*heard)(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g,
		      const struct rate_sample *rs, u32 rtt_ns, u32 what);
	bool (*near)(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g);
	void (*apply)(struct sock *sk, const struct fl_guided_sock *gs, struct fl_guided *g);
	void (*cut)(const struct sock *sk, struct fl_guided *g, u8 state);
	bool slow;
	bool (*forgets)(const struct fl_guided *g);
	void (*restart)(struct fl_guided *g, u64 now_ns, u64 rate);
	u32 (*rtt_ns)(const struct fl_guided *g);
	void (*info)(const struct fl_guided *g, struct fl_info *info);
};

int fl_guided_register(struct tcp_congestion_ops *ca, struct fl_settings *table,
		       const struct fl_guided_ops *ops);
void fl_guided_unregister(struct tcp_congestion_ops *ca, struct fl_settings *table,
			  const struct fl_guided_ops *ops);
void fl_guided_init_sk(struct sock *sk, const struct fl_guided_ops *ops);
void fl_guided_release(struct sock *sk);
void fl_guided_set_state(struct sock *sk, u8 new_state);
void fl_guided_recovers(struct sock *sk, struct fl_guided *g);
void fl_guided_cwnd_event(struct sock *sk, enum tcp_ca_event event);
u32 fl_guided_ssthresh(struct sock *sk);
u32 fl_guided_undo_cwnd(struct sock *sk);
u32 fl_guided_min_tso_segs(struct sock *sk);
void fl_guided_changed(struct sock *sk);
void fl_guided_told(struct sock *sk);
void fl_guided_info(struct sock *sk, const struct fl_attached *at, struct fl_info *info);
void fl_guided_reno_ack(struct sock *sk, const struct rate_sample *rs);
void fl_guided_unheard(struct sock *sk, struct fl_guided *g, const struct rate_sample *rs);
u64 fl_guided_begin(struct sock *sk, struct fl_guided *g, u32 rtt_ns);
u32 fl_guided_renew(const struct sock *sk, struct fl_guided *g);

/* Context: socket lock held. */
static inline struct fl_guided *fl_guided_of(const struct sock *sk)
{
	const struct fl_guided_sock *gs = inet_csk_ca(sk);

	return rcu_dereference_protected(gs->flow, true);
}

/* Has anything changed that the control's parameters follow from? @pf: the profile */
static __always_inline void fl_guided_refresh(const struct sock *sk,
					      const struct fl_guided_sock *gs,
					      struct fl_guided *g,
					      const struct fl_profile *pf,
					      const struct fl_guided_ops *ops)
{
	u32 gen = fl_settings_gen(gs->fs, pf);
	u16 mss = min_t(u32, tcp_sk(sk)->mss_cache, U16_MAX);

	if (likely(gen == g->gen && mss == g->mss))
		return;
	g->gen = gen;
	g->mss = mss;
	g->set_base_ns = fl_sock_base_rtt_ns(gs->fs, pf);
	g->set_segs = READ_ONCE(pf->gso_segs) ?: FL_TRAIN_MAX_SEGS;
	fl_hold_set(&g->hold, fl_sock_line_bps(sk, gs->fs, pf, false), fl_wire_bytes(sk));
	ops->refresh(sk, gs, g, pf);
}

/* Has it, while not @telling, no hope of telemetry? Trains would do no harm then. */
static inline bool fl_guided_is_reno(const struct fl_guided *g)
{
	return READ_ONCE(g->ever) || READ_ONCE(g->unheard_pkts) > FL_GUIDED_LOST_PKTS;
}

/* So many segments may leave at once. */
static inline void fl_guided_train(struct fl_guided *g, u64 segs)
{
	g->gso_segs = min_t(u64, segs, g->set_segs);
}

/* The times of packets in flight for the next ACKs, which are for two at most, mostly:
 * what was noted once serves several. With losses about it may be sent again.
 */
static inline void fl_guided_remember(struct sock *sk, struct fl_rtt *r)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (r->count < FL_RTT_AHEAD ||
	    tp->sacked_out + tp->lost_out + tp->retrans_out ||
	    !after(r->sent[FL_RTT_AHEAD - FL_GUIDED_NOTED_PKTS].end_seq, tp->snd_una))
		fl_rtt_remember(sk, r);
}

/* An echo has come, or none could. */
static inline void fl_guided_count_anew(const struct sock *sk, struct fl_guided *g)
{
	g->unheard_seq = tcp_sk(sk)->snd_nxt;
	g->unheard_pkts = 0;
	g->unheard_rtts = 0;
}

/* What has come with this ACK: bits, 0: no echo. */
static __always_inline u32 fl_guided_echo(const struct sock *sk,
					  const struct fl_guided_sock *gs,
					  struct fl_guided *g,
					  const struct fl_guided_ops *ops)
{
	u32 echoes = READ_ONCE(gs->tel->echoes), what = 0;
	u8 tells, nears;

	if (echoes != g->echoes)
		what = FL_GUIDED_ECHO;
	if (ops->border) {
		tells = READ_ONCE(gs->tel->tells);
		nears = READ_ONCE(gs->tel->nears);
		if (tells != g->tells)
			what |= FL_GUIDED_TELL;
		if (what && nears != g->nears)
			what |= FL_GUIDED_NEAR;
		g->tells = tells;
		g->nears = nears;
	}
	if (what) {
		g->echoes = echoes;
		fl_guided_count_anew(sk, g);
	}
	return what;
}

/* Is there a dip whose ACKs are of packets that were sent before it? */
static inline bool fl_guided_draining(const struct sock *sk, const struct fl_guided *g)
{
	return g->renew.dip_end_ns && !after(tcp_sk(sk)->snd_una, g->dip_seq);
}

/* @rtt_ns: of full packets, 0: there is none. Return: is the smallest one another now?
 * Context: ACK, socket lock held.
 */
static __always_inline bool fl_guided_know(const struct sock *sk,
					   const struct fl_guided_sock *gs,
					   struct fl_guided *g, u32 rtt_ns,
					   const struct fl_guided_ops *ops)
{
	u32 before_ns = g->base_ns, told_ns;

	if (rtt_ns) {
		g->base_ns = min(before_ns, rtt_ns);
		if (!fl_renew_enough(&g->renew, g->base_ns) && !fl_guided_draining(sk, g)) {
			told_ns = ops->explained_ns(gs, g);
			fl_renew_rtt(&g->renew, rtt_ns > told_ns ? rtt_ns - told_ns : 1);
		}
	}
	if (unlikely(g->ack_ns >= g->renew.turn_ns || g->renew.dip_end_ns))
		g->base_ns = fl_guided_renew(sk, g);
	return g->base_ns != before_ns;
}

/* Is that ACK a delayed one? Its packet was alone. @rtt_ns: of it */
static inline bool fl_guided_late(const struct fl_guided *g, const struct rate_sample *rs,
				  u32 rtt_ns)
{
	return rs->prior_in_flight <= 1 && rtt_ns >= FL_DELACK_NS &&
	       rtt_ns - FL_DELACK_NS >= g->base_ns;
}

/* What comes at once has been held, unless packets are out of order: a receiver tells of up to 44
 * such packets with one ACK (tcp_comp_sack_nr), and the ACK that fills the hole tells of the rest.
 * Context: ACK, socket lock held.
 */
static inline void fl_guided_hold(const struct sock *sk, struct fl_guided *g, u32 acked_pkts)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	bool ordered = inet_csk(sk)->icsk_ca_state == TCP_CA_Open && !tp->sacked_out;

	if (likely(ordered && g->ordered))
		fl_hold_acked(&g->hold, g->ack_ns, acked_pkts,
			      (tp->srtt_us >> 3) * NSEC_PER_USEC);
	g->ordered = ordered;
}

/**
 * fl_guided_ack() - the cong_control callback
 * @sk: the socket
 * @rs: its rate sample
 * @ops: the control's, known to the compiler, which puts its functions in here
 *
 * Context: each ACK of new data, softirq, socket lock held.
 */
static __always_inline void fl_guided_ack(struct sock *sk, const struct rate_sample *rs,
					  const struct fl_guided_ops *ops)
{
	u32 acked_pkts = max_t(s32, rs->acked_sacked, 0), rtt_ns, heard;
	struct fl_guided_sock *gs = inet_csk_ca(sk);
	struct fl_guided *g = fl_guided_of(sk);
	const struct fl_profile *pf;
	bool full;

	if (!g || !gs->tel) {
		fl_guided_reno_ack(sk, rs);
		return;
	}
	g->ack_ns = tcp_sk(sk)->tcp_clock_cache;
	fl_guided_hold(sk, g, acked_pkts);
	heard = fl_guided_echo(sk, gs, g, ops);
	if (ops->waits && ops->waits(sk, gs, g, acked_pkts, heard)) {
		g->una = tcp_sk(sk)->snd_una;
		fl_guided_remember(sk, &gs->rtt);
		return;
	}
	pf = fl_profile_for(sk, gs->fs);
	rtt_ns = fl_rtt_sample(sk, &gs->rtt, rs);
	fl_guided_refresh(sk, gs, g, pf, ops);
	full = fl_full_packets(sk, fl_acked_bytes(sk, &g->una), acked_pkts) &&
	       !fl_guided_late(g, rs, rtt_ns);
	if (fl_guided_know(sk, gs, g, full ? rtt_ns : 0, ops) && ops->know_rtt)
		ops->know_rtt(gs, g);
	if (g->renew.dip_end_ns) {
		/* until then ACKs say nothing of what the flow would send */
		fl_snd_cwnd_set(tcp_sk(sk), min_t(u32, FL_GUIDED_DIP_PKTS,
						  tcp_sk(sk)->snd_cwnd_clamp));
		fl_guided_remember(sk, &gs->rtt);
		return;
	}
	if (unlikely(inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery) && g->telling)
		fl_guided_recovers(sk, g);
	if (heard)
		ops->heard(sk, gs, g, rs, rtt_ns, heard);
	else
		fl_guided_unheard(sk, g, rs);
	if (g->telling) {
		ops->apply(sk, gs, g);
	} else {
		fl_guided_train(g, fl_guided_is_reno(g) ? FL_TRAIN_MAX_SEGS : 1);
		fl_guided_reno_ack(sk, rs);
	}
	fl_take_over(sk, g->gso_segs);
	fl_guided_remember(sk, &gs->rtt);
}

/* The control @_ca, called @_name, by its struct fl_guided_ops @_ops. */
#define FL_GUIDED_CONTROL(_ca, _name, _ops)			\
static const struct fl_guided_ops *const _ca##_ops = &(_ops);	\
								\
/* Context: any, socket lock held. */				\
static void _ca##_init(struct sock *sk)				\
{								\
	fl_guided_init_sk(sk, _ca##_ops);			\
}								\
								\
static void _ca##_ack(FL_CONG_CONTROL_ARGS)			\
{								\
	fl_guided_ack(sk, rs, _ca##_ops);			\
}								\
								\
static struct tcp_congestion_ops _ca __read_mostly = {		\
	.init		= _ca##_init,				\
	.release	= fl_guided_release,			\
	.ssthresh	= fl_guided_ssthresh,			\
	.undo_cwnd	= fl_guided_undo_cwnd,			\
	.cong_control	= _ca##_ack,				\
	.set_state	= fl_guided_set_state,			\
	.cwnd_event	= fl_guided_cwnd_event,			\
	.min_tso_segs	= fl_guided_min_tso_segs,		\
	.get_info	= fl_diag_fill,				\
	.flags		= TCP_CONG_NON_RESTRICTED,		\
	.owner		= THIS_MODULE,				\
	.name		= _name,				\
}

#endif /* FL_GUIDED_H */
