/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows with Söze's core in a fat-tree: packets, FIFO queues that tell their
 * delay, an ACK for every packet. The model of selftests/unit/soze_net.h, for up
 * to a million flows.
 */
#ifndef SCALE_NET_H
#define SCALE_NET_H

#include "soze/core/soze.h"
#include "tree.h"
#include "wheel.h"

#define NET_WIRE	1538		/* bytes of a packet on the line */
#define NET_BURST	10		/* initial window, packets */
#define NET_PS		1000		/* in a nanosecond */
#define NET_PROP_PS	(1000 * NET_PS)	/* propagation of a link */
#define NET_TOLD_MAX_NS	1048560		/* most that the option can tell */
#define NET_SLACK_NS	20000		/* of an RTT that says that it was more */
#define NET_TAU_SHIFT	21		/* links smooth over 2^21 ps, 2 us */

/**
 * struct net_flow - a flow
 * @sz: its core
 * @next_ps: when pacing allows the next packet
 * @rest_ns: smoothed RTT without the delay told; 0: no ACK yet
 * @ideal_l2: its rate as the solver says, log2 of bytes/s
 * @weight_milli: its weight
 * @in_flight: packets
 * @sent: packets, counted to NET_BURST
 * @path: links
 * @hops: how many
 * @timer: an event waits for @next_ps
 */
struct net_flow {
	struct sz_core sz;
	int64_t next_ps;
	float rest_ns;
	s32 ideal_l2;
	u32 weight_milli, in_flight;
	u16 path[TREE_HOPS];
	u8 sent, hops;
	bool timer;
};

struct fluid;

struct net_link {
	int64_t free_ps, last_ps, told_ps, busy_ps;
};

/**
 * struct net - all of it
 * @tree: which links there are
 * @par: what all flows were set to
 * @wheel: packets and timers; of it, without packets, only the count
 * @fluid: the network without packets; NULL: with
 * @link: links, by number
 * @flow: flows
 * @flows: how many
 * @random: state of net_random()
 * @now_ps: time
 * @packet_ps: a packet's on a link
 * @line_bps: rate of all links
 * @rtt_sum_ns: of the ACKs since net_clear()
 * @acks: how many
 */
struct net {
	struct tree tree;
	struct sz_par par;
	struct wheel wheel;
	struct fluid *fluid;
	struct net_link *link;
	struct net_flow *flow;
	u32 flows;
	u64 random;
	int64_t now_ps, packet_ps;
	double line_bps, rtt_sum_ns;
	u64 acks;
};

void *net_need(size_t count, size_t size);
void net_init(struct net *n, u32 k, u32 flows, double line_bps, bool incast,
	      bool packets, u32 seed);
void net_free(struct net *n);
u32 net_random(struct net *n, u32 below);
void net_start(struct net *n, u32 f, int64_t at_ps);
void net_settled(struct net *n, u32 f);
void net_weight(struct net *n, u32 f, u32 weight_milli);
u32 net_base_ns(const struct net *n, const struct net_flow *fl);
void net_hear(struct net *n, struct net_flow *fl, u64 now_ns, u32 rtt_ns,
	      u32 told_ns);
void net_run(struct net *n, int64_t until_ps);
void net_clear(struct net *n);
int64_t net_busy(const struct net *n, u32 l);

#endif
