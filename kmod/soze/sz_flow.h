/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Söze: what a flow has beside the socket.
 */
#ifndef SZ_FLOW_H
#define SZ_FLOW_H

#include "fairlane/fl_guided.h"
#include "soze/core/soze.h"

#define SZ_UNTOLD	U32_MAX
#define SZ_MOVES	U32_MAX

/**
 * struct sz_flow - a flow
 * @g: what it has in common with other controls
 * @core: rate control
 * @par: its parameters
 * @turn_ns: when @least_ns was last moved on, the low half
 * @least_ns: smallest RTT of this round trip and of the last, ns
 * @stands_ns: since when @stands_rtt_ns is what it is
 * @rest_ns: RTT without the delay told, smoothed, ns; 0: none
 * @queue_ns: delay told last, ns
 * @payload_l2: log2 of payload / bytes on the line, << SZ_SHIFT
 * @acked_pkts: acknowledged since the last decision, saturating
 * @burst_pkts: the most of that, forgotten by and by
 * @short_pkts: of sz_train_pkts(), saturating
 * @train_pkts: most segments in a train, @short_pkts or more
 * @hidden_ns: of @queue_ns, what nobody has told, ns
 * @stands_rtt_ns: the longest RTT, without the delay told, since that spoke of a share; 0: it does
 *	now; SZ_MOVES: it has become less
 * @bound_kbytes: no faster than this, kB on the line a second; 0 = no bound
 * @told_ns: average of the delays told since the last decision, ns; SZ_UNTOLD: there were none
 */
struct sz_flow {
	struct fl_guided g;
	struct sz_core core;
	struct sz_par par;
	u64 stands_ns;
	u32 turn_ns;
	u32 least_ns[2];
	u32 rest_ns;
	u32 queue_ns;
	u32 hidden_ns;
	u32 stands_rtt_ns;
	u32 bound_kbytes;
	s32 payload_l2;
	u32 told_ns;
	u16 acked_pkts;
	u16 burst_pkts;
	u8 short_pkts;
	u8 train_pkts;
};

#endif /* SZ_FLOW_H */
