/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A discrete-event simulation of a leaf-spine network, packet by packet, whose
 * switches and hosts run the core of qdisc/core/pyrrha.h or one of its rivals.
 * Times are in picoseconds, so that a byte at 400 Gbit/s is a whole number.
 */
#ifndef SIM_H
#define SIM_H

#include "core/pyrrha.h"

#define PS_PER_NS	1000ULL
#define MTU_BYTES	1500
#define WIRE_BYTES	38	/* preamble, header, FCS, gap */
#define FRAME_BYTES	84	/* the smallest frame on the line */
#define HOPS_MAX	4
#define QUEUES		100	/* of a port, besides the output queue */

enum mode {
	NONE,		/* one queue a port */
	PFC,		/* ports pause each other as a whole, 802.1Qbb */
	PYRRHA,
	MODES
};

extern const char *const mode_names[MODES];

/**
 * struct settings - what is simulated
 * @mode: which flow control
 * @leaves: leaf switches
 * @spines: spine switches
 * @hosts: at each leaf
 * @host_gbps: rate of hosts' links
 * @spine_gbps: rate between leaves and spines
 * @delay_ns: of every link
 * @buffer_bytes: of a switch; what does not fit is lost
 * @window_bytes: of a flow, 0: none
 * @pause_permille: of Pyrrha
 * @resume_permille: of Pyrrha
 * @all_moves: Pyrrha moves one packet of each queue, not one in all
 * @frame_loss_permille: of frames
 */
struct settings {
	enum mode mode;
	u16 leaves;
	u16 spines;
	u16 hosts;
	u32 host_gbps;
	u32 spine_gbps;
	u32 delay_ns;
	u64 buffer_bytes;
	u64 window_bytes;
	u32 pause_permille;
	u32 resume_permille;
	bool all_moves;
	u32 frame_loss_permille;
};

/**
 * struct flow - from one host to another
 * @from: host
 * @to: host
 * @spine: on its way, if they have different leaves
 * @start_ns: when
 * @bytes: how much; ~0: for ever
 * @class: for statistics
 * @done_ns: when the last byte arrived, 0: not yet
 * @received_bytes: so far
 * @sent_bytes: given to the host's port so far
 * @next_sequence: of the last packet sent
 * @got_sequence: of the last packet received
 * @in_host: packets that wait in the host
 */
struct flow {
	u32 from;
	u32 to;
	u16 spine;
	u64 start_ns;
	u64 bytes;
	u8 class;
	u64 done_ns;
	u64 received_bytes;
	u64 sent_bytes;
	u64 next_sequence;
	u64 got_sequence;
	u32 in_host;
};

/**
 * struct totals - what a simulation counted
 * @reordered: packets that arrived after a later one
 * @dropped: packets lost
 * @frames: all frames
 * @peak_bytes: most bytes in a switch
 * @queues_max: most isolation queues in use at a port
 * @roots_left: roots in any table at the end
 */
struct totals {
	u64 reordered;
	u64 dropped;
	u64 frames;
	u64 peak_bytes;
	u32 queues_max;
	u32 roots_left;
};

void sim_open(const struct settings *settings, struct flow *flows, u32 count);
/* Runs until a time, or until nothing is left to happen. */
void sim_run(u64 until_ns);
void sim_totals(struct totals *totals);
void sim_close(void);
u32 sim_random(u32 below);

#endif
