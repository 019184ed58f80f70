/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pyrrha's isolation queues: the state of one switch (Liu et al., "Pyrrha:
 * Congestion-Root-Based Flow Control", sections 4.1 to 4.4).
 *
 * Pure integers: no packets, no clock, no locks, no allocation. The caller
 * keeps the packets, tells what happens to them, and does what is answered.
 *
 *	packet for port P       pyr_arrive()     -> its queue at P
 *	a queue of P may move   pyr_pick()       -> that queue
 *	packet taken from it    pyr_move()       -> its next queue at P
 *	packet leaves the OQ    pyr_sent()
 *	packet lost in a queue  pyr_drop()
 *	frame heard at port P   pyr_frame_in()
 *	every tick_ns           pyr_tick()       -> ports that may send again
 *	after each of them      pyr_next_frame() -> a frame and where to send it,
 *	                                            until there is none
 *
 * Each output port has one output queue (PYR_OQ), which is never held back, and
 * isolation queues. An isolation queue holds the packets that will pass one
 * congestion root: an output port further down that asked for it. A packet
 * visits the queues of all roots on its path, the nearest root first, then the
 * output queue. Why the order of a flow's packets never changes:
 *  - every queue is first in, first out;
 *  - a flow visits its queues in one order, that of its path;
 *  - a queue comes and goes between visits only: a root loses its queue at a
 *    port only while no packet waits there for it.
 *
 * Nothing here believes a neighbour: a frame can make packets wait for a
 * bounded time, at the port that heard it, if their path passes the root.
 *
 * Locking: the caller serialises all calls for one switch. What the functions
 * pyr_*_quick() read may be read without that lock.
 */
#ifndef PYRRHA_H
#define PYRRHA_H

#include "core/types.h"

/* The model checker builds smaller switches, whose states it can count. */
#ifndef PYR_PORTS_MAX
#define PYR_PORTS_MAX	64	/* sets of ports are 64 bit wide */
#endif
#ifndef PYR_ROOTS_MAX
#define PYR_ROOTS_MAX	192
#endif
#ifndef PYR_QUEUES_MAX
#define PYR_QUEUES_MAX	128	/* at each port, both kinds together */
#endif
#define PYR_HOPS_MAX	7	/* FABRIC_FRAME_HOPS_MAX */

#define PYR_QUEUES_DEFAULT		100	/* section 6, "Parameters" */
#define PYR_BUCKETS_DEFAULT		4
#define PYR_PAUSE_DEFAULT_PERMILLE	2000	/* K_pause 2, section 6 */
#define PYR_RESUME_DEFAULT_PERMILLE	1000	/* K_resume 1, section 6 */

#define PYR_OQ		255	/* as a queue: the output queue */
#define PYR_NONE	255	/* as a slot, port or queue: none */

/* A PAUSE holds for so many ticks of its sender if it is not repeated. */
#ifndef PYR_HOLD_TICKS
#define PYR_HOLD_TICKS		4
#endif
/* So often a RESUME is repeated to a neighbour that does not answer. */
#ifndef PYR_FORGET_TICKS
#define PYR_FORGET_TICKS	8
#endif

/* Names of roots: switch and port in one number; 0 is none. */
#define PYR_ROOT(switch_id, port)	((u64)(switch_id) << 16 | (u16)(port))
#define PYR_ROOT_SWITCH(root)		((u32)((root) >> 16))
#define PYR_ROOT_PORT(root)		((u16)(root))

/* As FABRIC_FRAME_*. */
enum pyr_type {
	PYR_PAUSE = 1,
	PYR_RESUME,
	PYR_MERGE,
	PYR_RELEASE,
	__PYR_TYPE_MAX,
};

/**
 * struct pyr_frame - a frame's contents, see struct fabric_frame
 * @type: PYR_PAUSE to PYR_RELEASE
 * @distance: hops from the receiver to the root (MERGE: to @into)
 * @epoch: drawn when the sending port came up
 * @sequence: counts the port's frames
 * @root: PYR_ROOT()
 * @into: PYR_ROOT() of MERGE, else 0
 * @hold_ns: how long a PAUSE holds
 * @held_bytes: what the sender holds
 * @threshold_bytes: above this it sends PAUSE
 */
struct pyr_frame {
	u8 type;
	u8 distance;
	u32 epoch;
	u32 sequence;
	u64 root;
	u64 into;
	u32 hold_ns;
	u32 held_bytes;
	u32 threshold_bytes;
};

/**
 * pyr_frame_read() - what a frame says
 * @frame: filled in
 * @data: what follows the Ethernet header
 * @bytes: length of @data
 *
 * Return: false: it is no frame of this version, or cut off.
 */
bool pyr_frame_read(struct pyr_frame *frame, const u8 *data, size_t bytes);

/**
 * pyr_frame_write() - a frame as it goes on the line
 * @frame: its contents
 * @data: room for FABRIC_FRAME_BYTES bytes, after the Ethernet header
 */
void pyr_frame_write(const struct pyr_frame *frame, u8 *data);

struct pyr_switch;

/* For how many ticks does what a neighbour asks for hold? */
u8 pyr_hold_ticks(const struct pyr_switch *sw, u32 hold_ns);

/**
 * pyr_frame_newer() - is a frame newer than all that the port has heard?
 * @sw: the switch
 * @port: below PYR_PORTS_MAX
 * @epoch: of the frame
 * @sequence: of the frame
 *
 * Return: true: it is, and is the newest now.
 */
bool pyr_frame_newer(struct pyr_switch *sw, u8 port, u32 epoch, u32 sequence);

/**
 * struct pyr_path - the ports that a packet will leave by, after this switch
 * @hops: how many, 0: unknown or none
 * @hop: PYR_ROOT() of each, the nearest first; no port twice
 */
struct pyr_path {
	u8 hops;
	u64 hop[PYR_HOPS_MAX];
};

/**
 * struct pyr_packet - what the caller keeps with each packet
 * @in: port by which it came, PYR_NONE: made here
 * @slot: root in whose queue it waits, PYR_NONE: in the output queue
 * @stage: which of the roots on its path that is
 */
struct pyr_packet {
	u8 in;
	u8 slot;
	u8 stage;
};

/**
 * struct pyr_config - settings of a switch
 * @id: its number in the fabric, not 0
 * @queues: isolation queues of a port with a root of their own, 0 to
 *	PYR_QUEUES_MAX - @buckets
 * @buckets: queues at each port that the roots beyond that share, at least 1
 * @pause_permille: a neighbour is paused above so many one-hop BDPs
 * @resume_permille: and resumed below so many, less than @pause_permille
 * @tick_ns: time between calls of pyr_tick(), at least 1: some one-hop RTTs
 */
struct pyr_config {
	u32 id;
	u8 queues;
	u8 buckets;
	u32 pause_permille;
	u32 resume_permille;
	u32 tick_ns;
};

/**
 * struct pyr_port_config - settings of a port
 * @rate_bps: of its line, in bit/s
 * @hop_rtt_ns: from a PAUSE to its effect here, see pyr_hop_rtt_ns()
 * @epoch: drawn at random when the port comes up
 * @tell: frames are sent by this port
 * @hear: frames that came by this port are obeyed
 */
struct pyr_port_config {
	u64 rate_bps;
	u32 hop_rtt_ns;
	u32 epoch;
	bool tell;
	bool hear;
};

/**
 * struct pyr_root - a congestion root that the switch knows
 * @id: PYR_ROOT()
 * @into: root that takes its place (soft merging), 0: none
 * @iq: output ports with a queue for it
 * @iq_paused: those of them that wait for its RESUME
 * @touched: those of them that took a packet since the last tick
 * @child: ports whose neighbour was told of it and has not released it
 * @child_paused: those of them that are to wait
 * @child_tell: those of them to which the present condition must be sent
 * @release_tell: output ports by which a RELEASE must be sent
 * @local: this switch's own port @local is the root, PYR_NONE: it is elsewhere
 * @distance: hops to it
 * @queue: its queue's number at every port, PYR_NONE: none yet
 * @next: next root of the same hash
 * @used: this slot holds a root
 * @hold_left: ticks until a PAUSE ends, by output port
 * @child_left: ticks until a child is forgotten, by port
 * @in_bytes: bytes in its queues, by the port at which they came in; of a
 *	local root, the output queue's length when that port was paused
 * @out_packets: packets in its queue, by output port
 */
struct pyr_root {
	u64 id;
	u64 into;
	u64 iq;
	u64 iq_paused;
	u64 touched;
	u64 child;
	u64 child_paused;
	u64 child_tell;
	u64 release_tell;
	u8 local;
	u8 distance;
	u8 queue;
	u8 next;
	bool used;
	u8 hold_left[PYR_PORTS_MAX];
	u8 child_left[PYR_PORTS_MAX];
	u32 in_bytes[PYR_PORTS_MAX];
	u32 out_packets[PYR_PORTS_MAX];
};

#define PYR_QUEUE_WORDS	((PYR_QUEUES_MAX + 63) / 64)

/**
 * struct pyr_port - a port of the switch
 * @up: in use
 * @tell: frames are sent by it
 * @hear: frames that came by it are obeyed
 * @heard: @rx_epoch and @rx_sequence are known
 * @local: slot of the root that this port itself is, PYR_NONE: it is none
 * @turn: queue that pyr_pick() chose last
 * @moved: the last packet that moved went to the output queue
 * @assigned: roots with a queue here; 0: every packet goes to the output queue
 * @rate_q16: bytes a nanosecond, times 65536
 * @pause_ns: how much of a line's rate to hold before a PAUSE
 * @resume_ns: and before a RESUME
 * @nominate_bytes: no shorter output queue here makes a root
 * @resume_bytes: no longer output queue here leads to a RESUME
 * @merged_bytes: shortest output queue since this port gave up being a root
 *	for another one; 0: it was short since then
 * @tx_epoch: of frames sent
 * @tx_sequence: of the last frame sent
 * @rx_epoch: of the last frame heard
 * @rx_sequence: of the last frame heard
 * @ready: queues that have packets and are not held back
 * @holds: roots that hold back a queue
 * @packets: packets in a queue
 */
struct pyr_port {
	bool up;
	bool tell;
	bool hear;
	bool heard;
	u8 local;
	u8 turn;
	bool moved;
	u16 assigned;
	u32 rate_q16;
	u32 pause_ns;
	u32 resume_ns;
	u32 nominate_bytes;
	u32 resume_bytes;
	u32 merged_bytes;
	u32 tx_epoch;
	u32 tx_sequence;
	u32 rx_epoch;
	u32 rx_sequence;
	u64 ready[PYR_QUEUE_WORDS];
	u8 holds[PYR_QUEUES_MAX];
	u32 packets[PYR_QUEUES_MAX];
};

/* What became of a frame that was heard; also the index of its counter. */
enum pyr_heard {
	PYR_HEARD_OK,
	PYR_HEARD_DEAF,		/* the port does not listen to its neighbour */
	PYR_HEARD_OLD,		/* late or repeated */
	PYR_HEARD_SELF,		/* names this switch as a root further down */
	PYR_HEARD_MALFORMED,	/* impossible contents */
	PYR_HEARD_UNKNOWN,	/* about a root that this switch does not hold */
	PYR_HEARD_FULL,		/* no room for one more root */
	__PYR_HEARD_MAX,
};

/**
 * struct pyr_stats - counters of a switch
 * @sent: frames by type
 * @heard: frames by what became of them
 * @nominated: times that a port of this switch made itself a root
 * @merged: times that such a port gave way to a root further down
 * @assigned: queues given to roots
 * @released: queues taken back
 * @shared: queues given that other roots have too
 * @expired: pauses that ended because nobody repeated them
 * @forgotten: neighbours that never answered
 * @full: roots that found no room
 * @isolated: packets that went through a queue
 * @roots_max: most roots at a time
 * @assigned_max: most queues in use at one port
 */
struct pyr_stats {
	u64 sent[__PYR_TYPE_MAX];
	u64 heard[__PYR_HEARD_MAX];
	u64 nominated;
	u64 merged;
	u64 assigned;
	u64 released;
	u64 shared;
	u64 expired;
	u64 forgotten;
	u64 full;
	u64 isolated;
	u16 roots_max;
	u16 assigned_max;
};

#define PYR_SLOT_WORDS	((PYR_ROOTS_MAX + 63) / 64)
#ifndef PYR_HASH_SIZE
#define PYR_HASH_SIZE	256	/* a power of two, not more */
#endif

/**
 * struct pyr_switch - a switch; large: the caller allocates it
 * @config: settings
 * @roots: roots in use
 * @sharing: those of them with a queue that others may have too
 * @tell: roots that have a frame to send
 * @queue_used: queues with a root of their own
 * @hash: first root of each hash
 * @root: the roots
 * @port: the ports
 * @stats: counters
 */
struct pyr_switch {
	struct pyr_config config;
	u16 roots;
	u16 sharing;
	u64 tell[PYR_SLOT_WORDS];
	u64 queue_used[PYR_QUEUE_WORDS];
	u8 hash[PYR_HASH_SIZE];
	struct pyr_root root[PYR_ROOTS_MAX];
	struct pyr_port port[PYR_PORTS_MAX];
	struct pyr_stats stats;
};

/**
 * pyr_hop_rtt_ns() - time from the decision to PAUSE to its effect at a port
 * @rate_bps: rate of the link in bit/s, both ways
 * @delay_ns: propagation, one way
 * @mtu_bytes: largest packet on the line, overhead included
 *
 * The frame waits for the packet that is being sent, flies, waits until the
 * neighbour has sent the packet that it has begun; that packet flies. One
 * packet more is what arrives before a port can know it.
 *
 * Return: nanoseconds, at most U32_MAX.
 */
u32 pyr_hop_rtt_ns(u64 rate_bps, u32 delay_ns, u32 mtu_bytes);

/**
 * pyr_init() - begin with a switch without ports
 * @sw: the switch, contents undefined
 * @config: copied
 *
 * Return: 0, or -1 if a setting is out of its range.
 */
int pyr_init(struct pyr_switch *sw, const struct pyr_config *config);

/**
 * pyr_port_up() - a port comes into use, or its settings change
 * @sw: the switch
 * @port: below PYR_PORTS_MAX
 * @config: copied
 *
 * A changed @config->epoch begins a new epoch of the frames that it sends.
 *
 * Return: 0, or -1 if a setting is out of its range.
 */
int pyr_port_up(struct pyr_switch *sw, u8 port,
		const struct pyr_port_config *config);

/**
 * pyr_port_down() - a port goes out of use, or its link is lost
 * @sw: the switch
 * @port: the port; its isolation queues must be empty: pyr_drop() each packet
 *
 * Those whom this port paused as a root are resumed (appendix A). What this
 * port's neighbour asked for ends with time, as if the neighbour fell silent.
 */
void pyr_port_down(struct pyr_switch *sw, u8 port);

/**
 * pyr_arrive_quick() - may a packet go to the output queue without a look?
 * @port: the output port
 * @oq_bytes: its output queue's length with the packet
 *
 * Context: without the switch's lock.
 *
 * Return: true: it may, pyr_arrive() need not be called (its pyr_packet has
 * @slot PYR_NONE).
 */
static inline bool pyr_arrive_quick(const struct pyr_port *port, u32 oq_bytes)
{
	return !READ_ONCE(port->assigned) &&
	       oq_bytes <= READ_ONCE(port->nominate_bytes);
}

/* Is anything congested? Without the switch's lock. */
static inline bool pyr_any_root(const struct pyr_switch *sw)
{
	return READ_ONCE(sw->roots);
}

/**
 * pyr_passes_none() - is no root known on a packet's path?
 * @sw: the switch
 * @path: the packet's onward path, of at most PYR_HOPS_MAX hops
 *
 * Then pyr_arrive() makes no use of @path, and need not be called if the output queue is not
 * too long. Context: without the switch's lock. A root that has a queue at a port is seen
 * by all that came after pyr_frame_in() there.
 *
 * Return: true: none; false: there may be one.
 */
bool pyr_passes_none(const struct pyr_switch *sw, const struct pyr_path *path);

/* Does a port's output queue of that length make no root? Without the switch's lock. */
static inline bool pyr_is_short(const struct pyr_port *port, u32 oq_bytes)
{
	return oq_bytes <= READ_ONCE(port->nominate_bytes);
}

/**
 * pyr_arrive() - a packet arrived
 * @sw: the switch
 * @out: port by which it will leave
 * @pkt: @in is set by the caller, the rest here
 * @path: its onward path
 * @bytes: its length
 * @oq_bytes: output queue's length without the packet
 *
 * Return: the queue to append it to, PYR_OQ or 0 to PYR_QUEUES_MAX - 1.
 */
u8 pyr_arrive(struct pyr_switch *sw, u8 out, struct pyr_packet *pkt,
	      const struct pyr_path *path, u32 bytes, u32 oq_bytes);

/* Is there a queue from which a packet may move? Without the switch's lock. */
static inline bool pyr_pick_quick(const struct pyr_port *port)
{
	u64 any = 0;
	int i;

	for (i = 0; i < PYR_QUEUE_WORDS; i++)
		any |= READ_ONCE(port->ready[i]);
	return any;
}

/**
 * pyr_pick() - from which queue is a packet to move next? Round robin.
 * @sw: the switch
 * @out: the output port
 * @oq_bytes: its output queue's length
 *
 * Each time before it takes a packet from the output queue, the caller moves
 * packets until one came to the output queue or there is none to pick. While the
 * output queue has packets every second time there is none: so isolated packets
 * take half of the line from the others and no more.
 *
 * Return: the queue, whose first packet is then given to pyr_move(); PYR_NONE.
 */
u8 pyr_pick(struct pyr_switch *sw, u8 out, u32 oq_bytes);

/**
 * pyr_move() - a packet was taken from an isolation queue
 * @sw: the switch
 * @out: the output port
 * @pkt: as pyr_arrive() left it; changed
 * @path: its onward path, as it was then
 * @bytes: its length
 *
 * Return: the queue to append it to.
 */
u8 pyr_move(struct pyr_switch *sw, u8 out, struct pyr_packet *pkt,
	    const struct pyr_path *path, u32 bytes);

/**
 * pyr_drop() - a packet was taken from an isolation queue and is gone
 * @sw: the switch
 * @out: the output port
 * @pkt: as pyr_arrive() left it
 * @bytes: its length
 */
void pyr_drop(struct pyr_switch *sw, u8 out, const struct pyr_packet *pkt,
	      u32 bytes);

/* Is pyr_sent() of no use? Without the switch's lock. */
static inline bool pyr_sent_quick(const struct pyr_port *port, u32 oq_bytes)
{
	return oq_bytes >= READ_ONCE(port->resume_bytes);
}

/**
 * pyr_sent() - the output queue became shorter
 * @sw: the switch
 * @out: the output port
 * @oq_bytes: its length now
 */
void pyr_sent(struct pyr_switch *sw, u8 out, u32 oq_bytes);

/**
 * pyr_frame_in() - a frame was heard
 * @sw: the switch
 * @port: by which it came
 * @frame: its contents, not believed
 * @oq_bytes: length of that port's output queue
 *
 * Return: what became of it. If PYR_HEARD_OK, @port may have something to send.
 */
enum pyr_heard pyr_frame_in(struct pyr_switch *sw, u8 port,
			    const struct pyr_frame *frame, u32 oq_bytes);

/* Are there frames to send? */
static inline bool pyr_has_frame(const struct pyr_switch *sw)
{
	u64 any = 0;
	int i;

	for (i = 0; i < PYR_SLOT_WORDS; i++)
		any |= sw->tell[i];
	return any;
}

/**
 * pyr_next_frame() - take a frame to send
 * @sw: the switch
 * @frame: filled in
 * @port: port to send it by
 *
 * Return: false: there is none.
 */
bool pyr_next_frame(struct pyr_switch *sw, struct pyr_frame *frame, u8 *port);

/**
 * pyr_tick() - time passes: repeat, expire, release
 * @sw: the switch
 *
 * Called every @tick_ns while @sw->roots is not 0, and not needed while it is.
 *
 * Return: the set of ports that may have something to send again.
 */
u64 pyr_tick(struct pyr_switch *sw);

#endif /* PYRRHA_H */
