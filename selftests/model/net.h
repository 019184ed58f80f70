/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small network of Pyrrha switches whose every state can be counted: the core
 * of qdisc/core/pyrrha.h, packets of one byte, links that hold one packet and
 * a few frames. net.c says what can happen next and what must hold always.
 */
#ifndef MODEL_NET_H
#define MODEL_NET_H

/* Small enough to copy and to hash a million times. */
#define PYR_PORTS_MAX		4
#define PYR_ROOTS_MAX		5
#define PYR_QUEUES_MAX		5
#define PYR_HASH_SIZE		4
#define PYR_HOLD_TICKS		2
#define PYR_FORGET_TICKS	2

#include "core/pyrrha.h"

#define SWITCHES_MAX	4
#define FLOWS_MAX	4
#define PACKETS_MAX	12
#define EDGES_MAX	6
#define FRAMES_MAX	2	/* on a link at a time, each way */
#define HOST		0	/* port of every switch towards its host */
#define QUEUES		4	/* isolation queues of their own */

/**
 * struct flow - a flow: packets from the first switch's host to the last one's
 * @hops: switches on its way
 * @at: these switches
 * @packets: how many
 */
struct flow {
	u8 hops;
	u8 at[SWITCHES_MAX];
	u8 packets;
};

/**
 * struct setup - what is checked
 * @name: for people
 * @switches: how many
 * @edges: how many links between them
 * @edge: their ends
 * @flows: how many flows
 * @flow: they
 * @clocks: each switch ticks on its own; else all tick together
 * @wire: packets take time on a link
 * @frames: most frames on a link; more wait
 * @faults: frames may be lost or heard twice; 0: never
 * @restarts: links that may go down and up again
 * @forgeries: frames that may come out of nothing
 */
struct setup {
	const char *name;
	u8 switches;
	u8 edges;
	u8 edge[EDGES_MAX][2];
	u8 flows;
	struct flow flow[FLOWS_MAX];
	u8 clocks;
	u8 wire;
	u8 frames;
	u8 faults;
	u8 restarts;
	u8 forgeries;
};

/* First in, first out. */
struct fifo {
	u8 count;
	u8 packet[PACKETS_MAX];
};

struct node {
	struct pyr_switch sw;
	struct fifo oq[PYR_PORTS_MAX];
	struct fifo iq[PYR_PORTS_MAX][PYR_QUEUES_MAX];
};

/* What is on its way to a port. */
struct link {
	u8 packet;		/* PYR_NONE: none */
	u8 frames;
	struct pyr_frame frame[FRAMES_MAX];
};

/* A state. All that is not used is zero, so that equal states look equal. */
struct net {
	struct node node[SWITCHES_MAX];
	struct link to[SWITCHES_MAX][PYR_PORTS_MAX];
	struct pyr_packet packet[PACKETS_MAX];
	u8 sent[FLOWS_MAX];
	u8 delivered[FLOWS_MAX];	/* number of the last packet */
	u8 gone[FLOWS_MAX];
	u8 restarts;
	u8 forgeries;
};

enum kind {
	SEND,		/* host of flow a sends */
	SERVE,		/* switch a, port b: a packet leaves */
	ARRIVE,		/* switch a, port b: the packet on the link arrives */
	HEAR,		/* switch a, port b: frame c arrives */
	LOSE,		/* frame c is lost */
	AGAIN,		/* frame c arrives and stays, to arrive again */
	TICK,		/* switch a, or all: see struct setup */
	RESTART,	/* switch a, port b: link lost and back */
	FORGE,		/* switch a, port b: forgery c arrives */
};

struct action {
	u8 kind;
	u8 a;
	u8 b;
	u8 c;
};

#define ACTIONS_MAX	128

extern struct setup setup;
extern u8 neighbour[SWITCHES_MAX][PYR_PORTS_MAX];	/* PYR_NONE: none */
extern u8 neighbour_port[SWITCHES_MAX][PYR_PORTS_MAX];

/* Ends the run: the property @what does not hold. */
extern void (*violated)(const char *what);
#define MUST(condition, what) do {					\
	if (!(condition))						\
		violated(what);						\
} while (0)

/* The state at the beginning, for @setup. */
void net_start(struct net *net);
/* What can happen in a state. Returns how much. */
unsigned int net_actions(const struct net *net, struct action *actions);
/* It happens; then switches send the frames for which links have room. */
void net_do(struct net *net, struct action action);
/* Equal states of different past become equal bytes. */
void net_normal(struct net *net);
/* What must hold in every state. */
void net_check(const struct net *net);
/* What must come of a state if nothing goes wrong any more. */
void net_check_end(const struct net *net);
void net_print(const struct net *net, struct action action);
bool net_can_serve(const struct net *net, u8 n, u8 out);
/* A packet's onward path at a switch. */
const struct pyr_path *net_path(u8 packet, u8 n);

#endif
