/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Söze: what a flow has beside the socket, and what the socket keeps.
 */
#ifndef SZ_FLOW_H
#define SZ_FLOW_H

#include "fairlane/fairlane.h"
#include "fairlane/fl_sock.h"
#include "fairlane/fl_telemetry.h"
#include "soze/core/soze.h"

/**
 * struct sz_flow - a flow
 * @at: what readers find it by
 * @core: rate control
 * @par: its parameters
 * @last_echo_ns: when the last echo came
 * @ack_ns: when the last ACK came
 * @rcu: readers of struct fl_info, who do not look at these two
 * @updates: decisions
 * @echoes: tel->echoes that was seen
 * @turn_ns: when @least_ns was last moved on, the low half
 * @base_ns: smallest RTT seen, ns; U32_MAX: none
 * @set_base_ns: base RTT by settings, ns; 0: none
 * @least_ns: smallest RTT of this round trip and of the last, ns
 * @rest_ns: RTT without the delay told, smoothed, ns; 0: none
 * @queue_ns: delay told last, ns
 * @payload_l2: log2 of payload / bytes on the line, << SZ_SHIFT
 * @gen: of profile and settings
 * @una: tp->snd_una at the last ACK
 * @unheard_pkts: acknowledged since the last echo, saturating
 * @mss: that @par is for
 * @acked_pkts: acknowledged since the last decision, saturating
 * @burst_pkts: the most of that, forgotten by and by
 * @told_ns: average of the numbers told since the last decision, as of fl_tel_units()
 * @between: there were some
 * @telling: echoes come: this is Söze, not Reno
 * @ever: they have come once
 */
struct sz_flow {
	struct fl_attached at;
	struct sz_core core;
	struct sz_par par;
	union {
		struct {
			u64 last_echo_ns;
			u64 ack_ns;
		};
		struct rcu_head rcu;
	};
	u64 updates;
	u32 echoes;
	u32 turn_ns;
	u32 least_ns[2];
	u32 base_ns;
	u32 set_base_ns;
	u32 rest_ns;
	u32 queue_ns;
	s32 payload_l2;
	u32 gen;
	u32 una;
	u16 unheard_pkts;
	u16 mss;
	u16 acked_pkts;
	u16 burst_pkts;
	u32 told_ns;
	bool between : 1;
	bool telling : 1;
	bool ever : 1;
};

/**
 * struct sz_sock - what the socket keeps
 * @fs: its settings
 * @tel: its telemetry, NULL: there can be none
 * @flow: the rest; NULL: no memory, Reno for ever. RCU: readers of struct fl_info
 * @rtt: delay samples; here because there is room
 * @active: sz_init_sock() was called
 */
struct sz_sock {
	struct fl_sock *fs;
	struct fl_tel *tel;
	struct sz_flow __rcu *flow;
	struct fl_rtt rtt;
	bool active;
};

#endif /* SZ_FLOW_H */
