/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow by the load of the busiest port: what HPCC, MLCC, whose loops have HPCC's
 * law, and PowerTCP have in common.
 */
#ifndef HP_FLOW_H
#define HP_FLOW_H

#include "fairlane/fl_guided.h"
#include "hpcc/core/hpcc.h"

/* The window of HPCC and MLCC: what a rate sends in so many RTTs without queues. */
#define HP_WINDOW_RTTS		2
/* A train is what a flow sends in this part of its loop, log2. */
#define HP_TRAIN_SHIFT		4

/**
 * struct hp_flow - a flow
 * @g: what it has in common with other controls
 * @core: rate control
 * @par: its parameters
 * @turn_seq: when this is acknowledged the round trip is over
 * @pkts_per_rate: packets in an RTT without queues for each byte/s, << HP_PER_RATE_SHIFT
 * @train_per_rate: packets in a train for each byte/s, likewise
 * @loop_ns: trains are as for an RTT of so much at most, ns
 * @payload_q16: part of the line's bytes that is payload, << 16
 * @wire_bytes: a full packet on the line
 * @rtt_ns: the last RTT while nothing was out of order, ns
 * @least_segs: segments in a train, at least; fl_sock_gso_segs()
 */
struct hp_flow {
	struct fl_guided g;
	struct hp_core core;
	struct hp_par par;
	u32 turn_seq;
	u32 wire_bytes;
	u32 pkts_per_rate;
	u32 train_per_rate;
	u32 loop_ns;
	u32 payload_q16;
	u32 rtt_ns;
	u8 least_segs;
};

static inline struct hp_flow *hp_flow_of(const struct fl_guided *g)
{
	return container_of(g, struct hp_flow, g);
}

/* An RTT has come, ns, 0: none. A receiver compresses what it says of packets out of order. */
static inline void hp_heard_rtt(struct hp_flow *fl, u32 rtt_ns)
{
	if (fl->g.ordered && rtt_ns)
		fl->rtt_ns = rtt_ns;
}

/* What the window holds, in an RTT without queues, of a flow that sends at a rate, bytes/s.
 * Where nobody tells of the queue, the window is the paper's: the queue bounds what is sent,
 * not the rate, and half of the window lets it drain, not the line.
 */
static inline u64 hp_window(const struct hp_core *hp, u64 rate)
{
	return hp->untold ? rate : HP_WINDOW_RTTS * rate;
}

u32 hp_base_ns(const struct fl_guided *g);
void hp_tell_rtt(const struct fl_guided_sock *gs, u32 rtt_ns);
void hp_configure(const struct sock *sk, const struct fl_guided_sock *gs, struct hp_flow *fl,
		  const struct fl_profile *pf);
void hp_know_window(struct hp_flow *fl);
void hp_begin(struct sock *sk, struct hp_flow *fl);
void hp_set(struct sock *sk, struct hp_flow *fl, u64 rate, u64 window);
void hp_know_rtt(const struct fl_guided_sock *gs, struct fl_guided *g);
u32 hp_explained_ns(const struct fl_guided_sock *gs, const struct fl_guided *g);
bool hp_turned(const struct sock *sk, struct hp_flow *fl);
u32 hp_act_ns(const struct hp_flow *fl);
void hp_heard_load(const struct sock *sk, struct hp_flow *fl, u32 load,
		   const struct rate_sample *rs);
u64 hp_untold(const struct sock *sk, const struct fl_guided *g);
void hp_cut(const struct sock *sk, struct fl_guided *g, u8 state);
void hp_restart(struct fl_guided *g, u64 now_ns, u64 rate);

#endif /* HP_FLOW_H */
