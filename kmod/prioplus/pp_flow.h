/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_prioplus.ko inside: a flow's state and the calls between its files.
 */
#ifndef PP_FLOW_H
#define PP_FLOW_H

#include <linux/hrtimer.h>
#include <linux/rcupdate.h>
#include <net/tcp.h>

#include "lib/hold.h"
#include "lib/losses.h"
#include "prioplus/core/pp_ack.h"
#include "fairlane/fl_sock.h"
#include "fairlane/fl_telemetry.h"
#include "pp_setting.h"
#include "pp_trace.h"

/* Probes that may be without an echo before a flow stops trusting echoes; u8. */
#define PP_PROBES_OUT_MAX	64
/* Unanswered probes in a row after which a flow goes on without, and asks once a second. */
#define PP_PROBES_LOST_MAX	32
/* No ACK for this long with data in flight: ask with a probe, ns. At least. */
#define PP_WATCHDOG_NS		(200 * NSEC_PER_USEC)
/* Probes have the sequence numbers of this many bytes in turn, a power of two. */
#define PP_PROBE_TURNS		64
/* Probes lost while an ACK with their time stamp came, before any echo: the peer
 * must have no D-SACK.
 */
#define PP_PROBES_PLAIN_MAX	3

/** enum pp_timer - what the flow's timer is for */
enum pp_timer {
	PP_TIMER_NONE,
	PP_TIMER_PROBE,		/* time to send the next probe */
	PP_TIMER_ECHO,		/* the echo of a probe is overdue */
	PP_TIMER_FLUSH,		/* echoes of lost probes have had their time */
	PP_TIMER_WATCHDOG,	/* sending, but no ACK comes */
	PP_TIMER_DRAINED,	/* the queue is drained, see pp_dip() */
};

/** enum pp_dsack - what a D-SACK in an ACK is of, while probes are out */
enum pp_dsack {
	PP_DSACK_UNSEEN,	/* nobody has looked */
	PP_DSACK_ECHO,		/* of the newest probe, or there is none */
	PP_DSACK_OLD,		/* of an older probe, or once more */
	PP_DSACK_DATA,		/* of data that arrived twice */
};

/**
 * struct pp_flow - a flow
 * @at: what readers find it by
 * @sk: its socket
 * @fs: settings of the socket
 * @tel: telemetry, for one-way delays; NULL = RTTs
 * @delay_ns: newest delay that steered, of @tel, ns
 * @extra_ns: what its round trip was longer, ns; 0 without @tel
 * @flows_kept_q8: #flow when ACKs began to wait, << PP_FLOWS_SHIFT; 0 = they do not
 * @core: the algorithm
 * @chan: the channel of its priority, shared, see pp_share.c
 * @kin: flows to the same host, of the same priority, see pp_kin.c; NULL = it needs none
 * @kin_told_q8: what the flow has told them that it has in flight, packets << PP_KIN_SHIFT
 * @kin_told_weight: its weight as it has told them, 0 = it does not send
 * @timer: one timer for all purposes, see @timer_for
 * @probe_sent_ns: when the newest probe was sent, monotonic ns
 * @probe_nxt: tp->snd_nxt at that time
 * @probe_tsval: its time stamp, as the peer echoes it
 * @probe_seq: its sequence number
 * @random: state of pp_random()
 * @gen: generation of profile and settings together that @chan comes from
 * @gso_segs: most segments in a packet, see fl_sock_gso_segs()
 * @kin_prio: the priority that its kin know
 * @mss: MSS that @chan comes from, bytes
 * @prio: priority that @chan comes from
 * @dsack_seen: tp->dsack_dups as it was after the last probe or echo
 * @dsack_hidden: what to put back into tp->dsack_dups with the echo
 * @stale_end: data before this number was in flight when the flow resumed
 * @stale_pkts: packets that may be dead in flight, see pp_apply()
 * @silent_since_ns: when this silence began, see pp_open.c, monotonic ns
 * @ask_ns: when the next train leaves if the silence lasts, monotonic ns
 * @silent_delivered_pkts: tp->delivered at that time
 * @silent_least_ns: shortest probe's RTT in this silence, ns
 * @silent_most_ns: longest one, ns
 * @hold: for how long the path holds packets, by the last train, or while pp_base_rtt() says
 *	that it does
 * @losses: what was lost, and the bound of the window that follows from it
 * @longer_ns: the path is longer than its base RTT says by this, see pp_open.c, ns
 * @open_ns: an open flow steers for this above the base RTT, ns
 * @train_end: sequence number after the train
 * @train_part_ns: least delay of the part of it that comes back, ns; U32_MAX = none yet
 * @train_first_ns: least delay of its first part, ns; U32_MAX = none yet
 * @train_most_ns: largest of the least delays of the others, ns; 0 = none yet
 * @train_late_ns: least delay of its late half, ns; U32_MAX = none yet
 * @train_gap_ns: time between two packets of the next train, and on the line that an open
 *	flow has found idle, ns; 0 = that of the line that was given
 * @train_pkts: packets of the train that is on its way, see pp_open.c; 0 = none is
 * @refill_ns: the delay says nothing so long after a dip, see pp_dip(), ns
 * @resumed_ns: RTT of the probe that let the flow go, ns; 0 = none did
 * @links_ns: a full packet takes so much longer than a probe, ns; 0 = not known
 * @links_seen_ns: the same as the last start saw it, ns; 0 = not yet
 * @probes_out: probes without an echo
 * @probes_lost: unanswered probes in a row
 * @probes_plain: probes answered without a D-SACK, see PP_PROBES_PLAIN_MAX
 * @probe_due: the timer found the socket owned by a process: send a probe
 *	from min_tso_segs. Written without the socket lock, like @dead: no bits
 * @rare: an ACK cannot take the short way: it looks what is out of the ordinary, see
 *	pp_usual() in tcp_prioplus.c
 * @dead: released; only the timer may still look at it
 * @silent_probes: probes of this silence
 * @held_look_acks: so many ACKs are looked at for packets that the path has held
 * @links_same: looks in a row that agree with @links_seen_ns
 * @train_part: the part of the train that comes back
 * @plain: an ACK without a D-SACK had the time stamp of the newest probe
 * @late: echoes of probes that were given up may still come
 * @alike: the newest of these has the time stamp of the newest probe
 * @dsack: what the ACK's D-SACK is, enum pp_dsack
 * @timer_for: enum pp_timer
 * @turned: no other of the last probes has @probe_seq
 * @started: a first probe was sent, or the flow began without
 * @timer_ref: the timer holds a reference on the socket
 * @found_idle: a train of this silence has found the line idle, see pp_open.c
 * @fallback: probes are not answered on this path: goes on without stopping
 * @opened: likewise, after a second of silence
 * @held_seen: the path has held packets since pp_silence_begins()
 * @resumed: the first packet after @resumed_ns is not back
 * @refills: the window is what it was before a dip, the queue may not be, see pp_dip()
 * @echoed: the receiver has answered a probe of a flow that sends: no ACK is kept longer
 * @kin_waits: its kin know that it waits for a turn
 * @drained: the next echo is of a time when all let the queue drain, see pp_dip()
 * @stats: counters that pp_info.c shows
 * @rcu: readers of get_info() do not hold the socket lock; nothing is probed any more
 *
 * What is used together lies together. The memory of a flow is a target: whatever
 * only the holder of the socket lock needs has a place in struct pp_sock as well.
 */
struct pp_flow {
	struct fl_attached at;
	struct sock *sk;
	struct fl_sock *fs;
	struct fl_tel *tel;
	const struct pp_chan *chan;
	struct pp_kin *kin;
	struct pp_core core;
	u32 delay_ns;
	u32 extra_ns;
	u32 flows_kept_q8;
	u32 kin_told_q8;
	u32 kin_told_weight;
	u32 random;
	u32 gen;
	u16 mss;
	u8 prio;
	u8 gso_segs;
	u8 kin_prio;
	struct hrtimer timer;
	union {
		struct {
			u64 probe_sent_ns;
			u32 probe_nxt;
			u32 probe_tsval;
		};
		struct rcu_head rcu;
	};
	u32 probe_seq;
	u32 dsack_seen;
	u32 dsack_hidden;
	u64 silent_since_ns;
	u64 ask_ns;
	u32 silent_delivered_pkts;
	u32 silent_least_ns;
	u32 silent_most_ns;
	struct fl_hold hold;
	struct fl_losses losses;
	u32 longer_ns;
	union {
		u32 open_ns;
		u32 train_end;
	};
	union {
		struct {
			u32 stale_end;
			u32 stale_pkts;
		};
		struct {
			u32 train_part_ns;
			u32 train_first_ns;
			u32 train_most_ns;
			u32 train_late_ns;
		};
	};
	u32 train_gap_ns;
	u32 refill_ns;
	u32 resumed_ns;
	u32 links_ns;
	u32 links_seen_ns;
	u8 probes_out;
	u8 probes_lost;
	u8 timer_for;
	u8 probe_due;
	u8 rare;
	u8 dead;
	u8 silent_probes;
	u8 train_part;
	u8 held_look_acks;
	u8 links_same;
	u16 train_pkts;
	u8 dsack:2,
	   probes_plain:2,
	   started:1,
	   plain:1,
	   late:1,
	   alike:1;
	u8 turned:1,
	   timer_ref:1,
	   found_idle:1,
	   fallback:1,
	   opened:1,
	   held_seen:1,
	   refills:1,
	   resumed:1;
	u8 drained:1,
	   echoed:1,
	   kin_waits:1;
	struct {
		u32 stops;
		u32 probes;
		u32 echoes;
		u32 watchdogs;
		u32 doubles;
		u32 opens;
	} stats;
};

/**
 * struct pp_sock - what lies in the socket itself (ICSK_CA_PRIV_SIZE bytes)
 * @flow: the flow; NULL on listeners and without memory
 * @base: measured base RTTs
 * @rtt: delay samples
 * @una: tp->snd_una at the last ACK
 * @look_seq: an ACK beyond this number looks for changes, see pp_look()
 * @least_ns: smallest delay of a full packet since the last look, ns
 * @last_ack_ns: when the last ACK came, monotonic ns
 * @dip_end_ns: when the dip has ended, or began, monotonic ns; 0 = no dip, see pp_dip()
 * @over_ns: since when the delay has been above the limit, monotonic ns; 0 = it is
 *	not; kept while ACKs wait
 *
 * All of it is for the holder of the socket lock alone.
 */
struct pp_sock {
	struct pp_flow __rcu *flow;
	struct fl_base_rtt base;
	struct fl_rtt rtt;
	u32 una;
	u32 look_seq;
	u32 least_ns;
	u64 last_ack_ns;
	u64 dip_end_ns;
	u64 over_ns;
};

/* The flow of a socket. Context: socket lock held. */
static inline struct pp_flow *pp_flow_of(struct sock *sk)
{
	const struct pp_sock *ps = inet_csk_ca(sk);

	return rcu_dereference_protected(ps->flow, lockdep_sock_is_held(sk));
}

/* What a flow has in its socket. Context: socket lock held. */
static inline struct pp_sock *pp_sock_of(const struct pp_flow *fl)
{
	return inet_csk_ca(fl->sk);
}

/* Base RTTs that a flow has measured. Context: socket lock held. */
static inline struct fl_base_rtt *pp_base_rtt(const struct pp_flow *fl)
{
	return &pp_sock_of(fl)->base;
}

/* A number for waits and probabilities, where it need not be hard to guess: a
 * linear congruence, seeded for each flow. Its upper bits are the better ones.
 */
static inline u32 pp_random(struct pp_flow *fl)
{
	fl->random = fl->random * 1664525 + 1013904223;
	return fl->random ^ fl->random >> 16;
}

/* pp_configure.c */
bool pp_configure(struct pp_flow *fl, const struct fl_profile *pf);

/* pp_share.c */
bool pp_chan_take(struct pp_flow *fl, const struct pp_chan *want);
void pp_chan_drop(struct pp_flow *fl);
int pp_share_init(void);
void pp_share_exit(void);

/* pp_kin.c */
void pp_kin_join(struct pp_flow *fl, u64 line_bps);
void pp_kin_leave(struct pp_flow *fl);
void pp_kin_tell(struct pp_flow *fl, u32 has_q8, u32 delay_ns);
int pp_kin_init(void);
void pp_kin_exit(void);

/* pp_open.c */
void pp_apply(struct pp_flow *fl);
void pp_fall_back(struct pp_flow *fl);
void pp_silence_begins(struct pp_flow *fl);
bool pp_silence_goes_on(const struct pp_flow *fl);
void pp_still_silent(struct pp_flow *fl, u32 rtt_ns);
void pp_train_acked(struct pp_flow *fl, const struct fl_sample *s);
void pp_held_acked(struct pp_flow *fl, const struct fl_sample *s);
bool pp_open_ends(struct pp_flow *fl);
void pp_expect_longer(struct pp_flow *fl, const struct fl_profile *pf);
bool pp_is_shorter(struct pp_flow *fl, u32 delay_ns, u32 probe_delay_ns);

/* pp_probe.c */
extern struct kmem_cache *pp_flow_cache;
void pp_probe_init(struct pp_flow *fl,
		   enum hrtimer_restart (*fire)(struct hrtimer *timer));
void pp_probe_release(struct pp_flow *fl);
void pp_probe_now(struct pp_flow *fl);
void pp_probe_after(struct pp_flow *fl, u32 wait_ns);
void pp_probe_stopped(struct pp_flow *fl, u32 wait_ns, u32 delay_ns);
bool pp_probe_drained(struct pp_flow *fl, u32 delay_ns);
bool pp_base_is_measured(const struct pp_flow *fl);
void pp_probe_again(struct pp_flow *fl);
void pp_probe_arm_watch(struct pp_flow *fl);
bool pp_probe_echo(struct pp_flow *fl);
bool pp_timer_act(struct pp_flow *fl);

/* pp_see.c */
void pp_see_use(void);
void pp_see_unuse(void);
int pp_see_init(void);
void pp_see_exit(void);

/* pp_owd.c */
u32 pp_one_way(struct pp_flow *fl, u32 rtt_ns, u32 base_ns);
enum pp_verdict pp_decide_rare(struct pp_flow *fl, const struct fl_sample *s,
			       const struct rate_sample *rs);

/* The core's decision about an ACK, in any case. Context: ACK. Return: PP_SEND, or
 * PP_STOP.
 */
static inline enum pp_verdict pp_decide(struct pp_flow *fl,
					const struct fl_sample *s,
					const struct rate_sample *rs)
{
	if (fl->fallback || fl->tel)
		return pp_decide_rare(fl, s, rs);
	return pp_on_rare_ack(&fl->core, fl->chan, s);
}

/* See to it that a sending flow cannot fall silent, see pp_probe_arm_watch(). Context:
 * socket lock held.
 */
static inline void pp_probe_watch(struct pp_flow *fl)
{
	if (unlikely(fl->timer_for == PP_TIMER_NONE))
		pp_probe_arm_watch(fl);
}

/* Is the flow silent until the queue is drained? Whatever else its timer is armed for ends that.
 * Context: socket lock held.
 */
static inline bool pp_is_silent(const struct pp_flow *fl)
{
	return fl->timer_for == PP_TIMER_DRAINED;
}

/* The delay above which no priority sends, ns. */
static inline u64 pp_longest_queue_ns(const struct pp_chan *ch)
{
	return ch->base_ns + (PP_PRIO_MAX + 1ULL) * ch->width_ns;
}

/* pp_info.c */
extern const struct fl_cc pp_cc;
size_t pp_get_info(struct sock *sk, u32 ext, int *attr,
		   union tcp_cc_info *info);

/* Tell who traces that the flow has stopped, or goes again. Context: socket lock
 * held.
 */
static inline void pp_trace_state(const struct pp_flow *fl, u32 delay_ns)
{
	const struct pp_core *pp = &fl->core;

	if (trace_fl_prioplus_state_enabled())
		trace_fl_prioplus_state(fl->sk, pp->stopped, delay_ns,
					fl->chan->limit_ns,
					pp->stopped ? 0 :
					(pp->wnd * 1000) >> FL_WND_SHIFT,
					(u64)pp->flows_q8 * 1000 >> 8);
}

#endif /* PP_FLOW_H */
