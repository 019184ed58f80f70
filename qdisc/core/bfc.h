/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hashed queues that neighbours hold back (Goyal et al., "Backpressure Flow Control", NSDI 2022):
 * the state of one port's queues, and of what a port's neighbour is told. Pure integers: no
 * packets, no clock, no locks, no allocation.
 *
 *	packet arrives		bfc_arrive()	-> its queue
 *				bfc_is_over()	-> is it one of too many there?
 *	what is sent next	bfc_pick()	-> a queue; bfc_take() its first packet
 *	it is gone		bfc_leave()
 *	neighbour says		bfc_hear()
 *	time passes		bfc_tick()
 *
 *	one too many by a port	bfc_told_more(), and bfc_told_less() once it is gone
 *	to the neighbour there	bfc_told_next()	-> a frame's contents
 *	time passes		bfc_told_again()
 *
 * A flow is 12 bits of a hash of addresses and ports, the same at all switches. A flow that comes
 * has the queue where it has packets already, else an empty one, else one by its hash. So its
 * packets stay in order. Queues that are not held back are served round robin by bytes. A packet
 * that finds more in its queue than the one-hop BDP divided by the queues that want to send holds
 * its flow back at the port before, until it is gone.
 *
 * Where this is simpler than the paper: neighbours name flows and not queues, since no header says
 * in which queue a packet waited before; the queue in which the flow waits is held. First packets
 * of flows have no queue of their own. How many flows go on at a time is not limited. A frame
 * tells all flows of a group, and is repeated.
 */
#ifndef FABRIC_BFC_H
#define FABRIC_BFC_H

#include "core/types.h"

#define BFC_QUEUES_MAX		128
#define BFC_QUEUE_WORDS		(BFC_QUEUES_MAX / 64)
#define BFC_GROUPS		64	/* sets of groups are 64 bit wide */
#define BFC_GROUP_FLOWS		64	/* as those of flows in a group */
#define BFC_FLOWS		(BFC_GROUPS * BFC_GROUP_FLOWS)
#define BFC_NONE		255	/* as a queue: none */
#define BFC_QUANTUM_BYTES	1514	/* at least, and the largest packet so far */

/**
 * struct bfc_queue - a queue
 * @flows: flows that have packets which are not gone
 * @holds: those of them that are to wait
 * @packets: waiting; one that was taken does not wait
 * @bytes: their lengths
 * @deficit: bytes that it may still send in its turn, or (negative) has sent before
 */
struct bfc_queue {
	u32 flows;
	u32 holds;
	u32 packets;
	u32 bytes;
	s32 deficit;
};

/**
 * struct bfc_port - queues of a port
 * @queues: how many
 * @turn: the one that was picked last
 * @used: with packets that are not gone
 * @used_max: most of them at a time
 * @active: that may send: packets wait and nobody holds them back
 * @held: in which packets wait, and are held back
 * @held_packets: packets that wait in them
 * @held_bytes: their lengths
 * @quantum: largest packet so far, at least BFC_QUANTUM_BYTES
 * @shared: flows that came while no queue was empty
 * @expired: groups that went on because nobody repeated that they wait
 * @busy: set of used queues
 * @ready: set of active queues
 * @groups: groups of flows some of which are to wait
 * @left: ticks until a group goes on
 * @wait: flows that are to wait, by group
 * @queue: the queues
 * @packets: of each flow that are not gone
 * @of: the queue of a flow that has packets
 */
struct bfc_port {
	u8 queues;
	u8 turn;
	u8 used;
	u8 used_max;
	u8 active;
	u8 held;
	u32 held_packets;
	u32 held_bytes;
	u32 quantum;
	u64 shared;
	u64 expired;
	u64 busy[BFC_QUEUE_WORDS];
	u64 ready[BFC_QUEUE_WORDS];
	u64 groups;
	u8 left[BFC_GROUPS];
	u64 wait[BFC_GROUPS];
	struct bfc_queue queue[BFC_QUEUES_MAX];
	u32 packets[BFC_FLOWS];
	u8 of[BFC_FLOWS];
};

/**
 * struct bfc_told - what the neighbour at a port is told
 * @groups: groups of flows some of which are to wait
 * @tell: groups of which a frame is to be sent
 * @wait: flows that are to wait, by group
 * @over: packets of a flow that are too many
 */
struct bfc_told {
	u64 groups;
	u64 tell;
	u64 wait[BFC_GROUPS];
	u32 over[BFC_FLOWS];
};

/* As FABRIC_FRAME_FLOWS. */
#define BFC_FRAME_FLOWS	5

/**
 * struct bfc_frame - a frame's contents, see struct fabric_flows_frame
 * @epoch: drawn when the sending port came up
 * @sequence: counts the port's frames
 * @group: of flows, below BFC_GROUPS
 * @wait: those that are to wait
 * @hold_ns: for how long, if it is not repeated
 */
struct bfc_frame {
	u32 epoch;
	u32 sequence;
	u8 group;
	u64 wait;
	u32 hold_ns;
};

/**
 * bfc_frame_read() - what a frame says
 * @frame: filled in
 * @data: what follows the Ethernet header
 * @bytes: length of @data
 *
 * Return: false: it is no such frame, of another version, impossible or cut off.
 */
bool bfc_frame_read(struct bfc_frame *frame, const u8 *data, size_t bytes);

/**
 * bfc_frame_write() - a frame as it goes on the line
 * @frame: its contents
 * @data: room for FABRIC_FRAME_BYTES bytes, after the Ethernet header
 */
void bfc_frame_write(const struct bfc_frame *frame, u8 *data);

/* Adds a word to a hash that begins with 0; the result of the last one is bfc_flow()'s. */
static inline u64 bfc_mix(u64 hash, u32 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* The flow of a hash. */
static inline u16 bfc_flow(u64 hash)
{
	return (u32)hash >> 20;
}

/**
 * bfc_init() - begin with empty queues of which nobody holds back any
 * @p: contents undefined
 * @queues: 1 to BFC_QUEUES_MAX
 */
void bfc_init(struct bfc_port *p, u8 queues);

/**
 * bfc_arrive() - a packet arrived
 * @p: the port
 * @flow: its flow, below BFC_FLOWS
 * @bytes: its length
 *
 * Return: the queue to append it to.
 */
u8 bfc_arrive(struct bfc_port *p, u16 flow, u32 bytes);

/* Are there more than the queue's part of @hop_bytes (the one-hop BDP) in it? */
static inline bool bfc_is_over(const struct bfc_port *p, u8 queue,
			       u32 hop_bytes)
{
	return (u64)p->queue[queue].bytes * (p->active ? p->active : 1) >
	       hop_bytes;
}

/**
 * bfc_pick() - whose turn is it?
 * @p: the port
 *
 * Return: the queue, whose first packet is then given to bfc_take(); BFC_NONE: there is none.
 */
u8 bfc_pick(struct bfc_port *p);

/**
 * bfc_take() - the first packet of the queue that was picked is taken
 * @p: the port
 * @queue: the queue
 * @bytes: the packet's length
 */
void bfc_take(struct bfc_port *p, u8 queue, u32 bytes);

/**
 * bfc_leave() - a packet that was taken is gone
 * @p: the port
 * @flow: its flow
 */
void bfc_leave(struct bfc_port *p, u16 flow);

/**
 * bfc_hear() - the neighbour says which flows of a group are to wait
 * @p: the port
 * @group: below BFC_GROUPS
 * @wait: they
 * @ticks: for so long, at least 1
 */
void bfc_hear(struct bfc_port *p, u8 group, u64 wait, u8 ticks);

/**
 * bfc_tick() - time passes: what is not repeated ends
 * @p: the port
 *
 * Return: true: something may go on.
 */
bool bfc_tick(struct bfc_port *p);

/* A packet of a flow is one too many. Return: true: the neighbour has to be told. */
static inline bool bfc_told_more(struct bfc_told *t, u16 flow)
{
	u8 group = flow / BFC_GROUP_FLOWS;

	if (t->over[flow]++)
		return false;
	t->wait[group] |= 1ULL << flow % BFC_GROUP_FLOWS;
	t->groups |= 1ULL << group;
	t->tell |= 1ULL << group;
	return true;
}

/* It is gone. Return: true: the neighbour has to be told. */
static inline bool bfc_told_less(struct bfc_told *t, u16 flow)
{
	u8 group = flow / BFC_GROUP_FLOWS;

	if (!t->over[flow] || --t->over[flow])
		return false;
	t->wait[group] &= ~(1ULL << flow % BFC_GROUP_FLOWS);
	if (!t->wait[group])
		t->groups &= ~(1ULL << group);
	t->tell |= 1ULL << group;
	return true;
}

/* All that holds has to be said again. */
static inline void bfc_told_again(struct bfc_told *t)
{
	t->tell |= t->groups;
}

/* Takes what is to be said: @frame's group and flows. Return: false: nothing. */
static inline bool bfc_told_next(struct bfc_told *t, struct bfc_frame *frame)
{
	if (!t->tell)
		return false;
	frame->group = __ffs64(t->tell);
	frame->wait = t->wait[frame->group];
	t->tell &= t->tell - 1;
	return true;
}

#endif /* FABRIC_BFC_H */
