/* SPDX-License-Identifier: GPL-2.0 */
/* Söze in the network of packetnet.h. */
#ifndef SOZE_NET_H
#define SOZE_NET_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../../tools/lab/waterfill.h"
#include "packetnet.h"
#include "soze/core/soze.h"

#define SN_BURST	10	/* initial window, packets */
#define SN_TOLD_MAX_NS	17300480	/* most that the kernel's option can tell */

/* The paper's algorithm as printed, instead of the core. */
enum sn_printed {
	SN_CORE,
	SN_PER_RTT,	/* Algorithm 1: once an RTT */
	SN_PER_PACKET,	/* section 3.3: the same with each ACK */
};

/* A flow's weight becomes the event's value. */
enum { SN_WEIGHT = PN_OWN };

/**
 * struct sn_flow - a flow
 * @sz: its core
 * @ideal_l2: log2 of @ideal in bytes/s, << SZ_SHIFT
 * @weight: in thousandths
 * @base_ns: smallest RTT seen
 * @rest_ns: smoothed RTT without the delay told; 0: no ACK yet
 * @ideal: share that the solver gives it, bit/s
 * @decided_ns: as printed: when it decided last
 * @told_ns: as printed: the delay that it heard last
 */
struct sn_flow {
	struct sz_core sz;
	s32 ideal_l2;
	u32 weight;
	double base_ns, rest_ns, ideal, decided_ns, told_ns;
};

/**
 * struct sn - the network
 * @net: links and packets
 * @par: parameters of all flows
 * @flow: flows
 * @printed: what flows do
 * @told_max_ns: most that the option can tell; 0: no bound
 * @rtt_sum_ns: of the ACKs since sn_clear()
 * @acks: how many
 */
struct sn {
	struct pn net;
	struct sz_par par;
	struct sn_flow *flow;
	enum sn_printed printed;
	u32 told_max_ns;
	double rtt_sum_ns;
	u64 acks;
};

static inline double sn_random(struct sn *n)
{
	return (pn_random(&n->net) >> 11) / 9007199254740992.0;
}

static inline void sn_run(struct sn *n, double until_ns)
{
	pn_run(&n->net, until_ns);
}

void sn_init(struct sn *n, const struct sz_conf *cf, int links, int flows,
	     double bucket_ns, u32 seed);
void sn_free(struct sn *n);
void sn_add(struct sn *n, u32 f, const int *path, double prop_ns, u32 weight,
	    double start_ns);
void sn_hear(struct sn *n, u32 f, double now_ns, double rtt_ns, double told_ns);
void sn_weigh(struct sn *n, u32 f, u32 weight);
void sn_clear(struct sn *n);
void sn_fill(struct sn *n, struct wf_cost *cost);
double sn_worst_permille(struct sn *n, double from_ns);
double sn_worst_rate_permille(struct sn *n);

#endif /* SOZE_NET_H */
