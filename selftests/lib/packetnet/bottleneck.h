/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PrioPlus in the network of packetnet.h: senders, each with a link of its own, behind
 * one port.
 */
#ifndef BOTTLENECK_H
#define BOTTLENECK_H

#include <stdlib.h>
#include <string.h>

#include "packetnet.h"
#include "prioplus/core/pp_ack.h"
#include "swift/core/swift.h"

#define BN_CLASSES	8
#define BN_EPOCH_NS	10000	/* resolution of the counters */

/**
 * struct bn_flow - a flow
 * @pp: its core
 * @ch: its channel
 * @far_ns: its links are longer by this, each way
 * @end_ns: time of the last ACK
 * @stops: how often it has stopped
 * @snd_una: packets that are acknowledged
 * @generation: of its probes' timers
 * @left_pkts: it ends after so many; 0: no end
 * @held_seq: the packet whose ACK is kept back
 * @class: for counters
 * @quick: ACKs that the receiver still sends at once
 * @held: it keeps back the ACK of a packet
 */
struct bn_flow {
	struct pp_core pp;
	struct pp_chan ch;
	u64 far_ns, end_ns;
	u32 stops, snd_una, generation, left_pkts, held_seq;
	u8 class, quick;
	bool held;
};

/**
 * struct bn - a run
 * @net: the network; link 0 is the port
 * @line_bps: rate of the bottleneck
 * @wire_bytes: a full packet on the line; 0 = PN_WIRE
 * @delayed: the receivers acknowledge every second packet
 * @access_bps: rate of the senders' links; 0 = @line_bps
 * @conf_bps: line rate that the flows are told; 0 = @line_bps
 * @conf_base_ns: base RTT that the flows are told; 0 = the true one
 * @prop_ns: propagation delay of a link; there are two each way
 * @jitter_ns: each delay sample of data is longer by up to this
 * @fluct_ns: A of the channels; 0 = 3200
 * @noise_ns: B of the channels; 0 = 800
 * @end_ns: end of the run
 * @flow: the flows
 * @flows: how many
 * @bytes: bytes of class and time on the bottleneck's line, by epoch
 * @peak_ns: longest queueing delay by epoch
 */
struct bn {
	struct pn net;
	u64 line_bps;
	u32 wire_bytes;
	bool delayed;
	u64 access_bps;
	u64 conf_bps;
	u32 conf_base_ns;
	u64 prop_ns;
	u32 jitter_ns;
	u32 fluct_ns;
	u32 noise_ns;
	u64 end_ns;
	struct bn_flow *flow;
	int flows;
	u32 (*bytes)[BN_CLASSES + 1];
	u32 *peak_ns;
};

static inline u32 bn_random(struct bn *b)
{
	return pn_random(&b->net) >> 16;
}

static inline void bn_run(struct bn *b)
{
	pn_run(&b->net, b->end_ns);
}

void bn_init(struct bn *b, int flows, u64 end_ns, u32 seed);
void bn_free(struct bn *b);
int bn_add(struct bn *b, int f, int class, u32 prio, bool paper, u64 start_ns,
	   u64 stop_ns);
double bn_share(const struct bn *b, int class, u64 from_ns, u64 to_ns);
u32 bn_peak_ns(const struct bn *b, u64 from_ns, u64 to_ns);
u32 bn_taken_us(const struct bn *b, int class, u64 from_ns, u64 to_ns);

#endif /* BOTTLENECK_H */
