/* SPDX-License-Identifier: GPL-2.0 */
/* All flows let the queue drain at a turn of the wall clock, see fl_drain.c. */
#ifndef FL_DRAIN_H
#define FL_DRAIN_H

#include <net/tcp.h>

#include "fairlane/fairlane.h"

/* What a flow sends in the middle of a turn: two packets, which a receiver acknowledges at once. */
#define FL_DRAIN_WND	(2 * FL_WND_ONE)
/* The shortest turn of the wall clock, log2, ns: .13 s. */
#define FL_DRAIN_SHIFT	27

/**
 * struct fl_drain - a flow and the turns of the wall clock
 * @more: a turn is 2^this times as long as the shortest one, fl_drain_more()
 * @turn: the last turn that was seen
 * @on: the queue is being drained: FL_DRAIN_WND is the window, and delays say nothing
 */
struct fl_drain {
	u8 more : 4;
	u8 turn : 1;
	u8 on : 1;
};

/* The wall clock at the ACK that is taken in, ns. */
static inline u64 fl_drain_wall_ns(const struct tcp_sock *tp)
{
	return ktime_to_ns(ktime_mono_to_real(ns_to_ktime(tp->tcp_clock_cache)));
}

/* The turn that runs. */
static inline bool fl_drain_turn(const struct fl_drain *d, u64 wall_ns)
{
	return (wall_ns >> (FL_DRAIN_SHIFT + d->more)) & 1;
}

/**
 * fl_drain_due() - must fl_drain_begin() look?
 * @sk: the socket; caller holds its lock
 * @d: the flow's turns
 * @wnd: the flow's window, packets << FL_WND_SHIFT
 *
 * Who has nothing to send is silent, and what comes next need not wait. Context: ACK.
 */
static inline bool fl_drain_due(struct sock *sk, const struct fl_drain *d, u64 wnd)
{
	return !d->on && tcp_send_head(sk) &&
	       (wnd < FL_DRAIN_WND || fl_drain_turn(d, fl_drain_wall_ns(tcp_sk(sk))) != d->turn);
}

u8 fl_drain_more(u32 base_ns, u32 pkt_ns);
bool fl_drain_begin(struct sock *sk, struct fl_drain *d, u32 pkt_ns, u64 *back_ns);
u32 fl_drain_seen(struct sock *sk, struct fl_drain *d, const struct fl_sample *s,
		  const struct fl_rtt *rtt, u32 rtt_ns, u32 pkt_ns, u64 *back_ns);

#endif /* FL_DRAIN_H */
