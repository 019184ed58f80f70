/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows with Söze's core in a fat-tree, up to a million: packets (soze_net.h), or rates
 * (fluid.h).
 */
#ifndef SCALE_NET_H
#define SCALE_NET_H

#include "soze_net.h"
#include "tree.h"

#define NET_PROP_NS	1000		/* propagation of a link */
#define NET_TAU_NS	2097.152	/* links smooth what they tell over 2^21 ps */

struct fluid;

/**
 * struct net - all of it
 * @sn: links and flows; without packets, of its clock only the count
 * @tree: which links there are
 * @fluid: the network without packets; NULL: with
 */
struct net {
	struct sn sn;
	struct tree tree;
	struct fluid *fluid;
};

void net_init(struct net *n, u32 k, u32 flows, double line_bps, bool incast,
	      bool packets, u32 seed);
void net_free(struct net *n);
u32 net_random(struct net *n, u32 below);
void net_start(struct net *n, u32 f, double at_ns);
void net_settled(struct net *n, u32 f);
void net_weight(struct net *n, u32 f, u32 weight_milli);
void net_run(struct net *n, double until_ns);

#endif
