/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric: what fabric_isolate.c (packets, frames, locks), fabric_path.c and fabric_way.c
 * (where packets go) and fabric_genl.c (what is to be seen) share. See core/pyrrha.h for the rules.
 */
#ifndef FABRIC_ISOLATE_H
#define FABRIC_ISOLATE_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/spinlock.h>

#include "fabric.h"
#include "core/bfc.h"
#include "core/path.h"
#include "core/pfc.h"
#include "core/pyrrha.h"

#define FABRIC_IFINDEX_MASK	255

struct genl_info;

/**
 * struct fabric_table - paths of a switch, as it was told
 * @rcu: to free it
 * @generation: which of the switch's tables, not 0
 * @self: index of the switch
 * @next: index of the switch behind each port, PATH_NONE: none, or none that is known
 * @paths: routes of all switches
 * @weight: of @paths' next hops
 * @reach: for each port, of each switch: bit d is set if some route passes it d hops after the
 *	port's neighbour
 */
struct fabric_table {
	struct rcu_head rcu;
	u32 generation;
	u16 self;
	u16 next[FABRIC_PORTS_MAX];
	struct path_table paths;
	u16 *weight;
	u8 *reach;
};

#define FABRIC_WAYS_BITS	8
#define FABRIC_WAYS		BIT(FABRIC_WAYS_BITS)	/* flows remembered at a port */

/**
 * union fabric_flow - what tells flows apart
 * @flow: as the kernel's hash sees it; the rest is 0
 * @word: to compare it
 */
union fabric_flow {
	struct path_flow flow;
	u64 word[5];
};

/**
 * struct fabric_way - which ports a flow passes after a port
 * @key: the flow
 * @generation: of the table from which it is known, 0: nothing is
 * @here: the port of this switch by which the table says that it leaves, PATH_NONE: nothing
 * @known: @path is
 * @right: and this is the port @here
 * @parked: its packets that are parked at the port
 * @path: the ports
 */
struct fabric_way {
	union fabric_flow key;
	u32 generation;
	u16 here;
	bool known;
	bool right;
	u32 parked;
	struct pyr_path path;
};

/**
 * struct fabric_isolate_port - a port's part
 * @iso: its switch
 * @state: what the core keeps of it
 * @sch: its qdisc, a root
 * @settings: what the user chose
 * @config: what the core was told of them
 * @band: the band that isolates; its fifo is the output queue
 * @ifindex: its device
 * @index: its number in the switch
 * @joined: it is in the switch's table; changes with the switch's lock held
 * @due: a packet has left the output queue since a parked one came to it
 * @no_path: packets whose path nobody told, of those that were looked at
 * @foretold: packets of which the table tells the port, or, while packets of their flow wait, the
 *	table before
 * @mistold: those of them for which it is another one; both are counted while there are roots
 * @heir: port of the same device that takes its place when it goes, NULL: none
 * @frames: to be sent
 * @queue: isolation queues
 * @way: of flows seen lately, and a spare one
 */
struct fabric_isolate_port {
	struct fabric_isolate *iso;
	const struct pyr_port *state;
	struct Qdisc *sch;
	struct fabric_isolate_config settings;
	struct pyr_port_config config;
	struct fabric_band *band;
	int ifindex;
	u8 index;
	bool joined;
	bool due;
	u64 no_path;
	u64 foretold;
	u64 mistold;
	struct fabric_isolate_port *heir;
	struct fabric_fifo frames;
	struct fabric_fifo queue[PYR_QUEUES_MAX];
	struct fabric_way way[FABRIC_WAYS + 1];
};

/**
 * struct fabric_pfc - pauses of whole bands
 * @held: bytes that came in by each port and wait at others; without the lock
 * @tells: ports that pause their neighbours
 * @paused: those of them whose neighbour waits
 * @tell: those of them that have a frame to send
 * @pauses: frames sent
 * @resumes: frames sent that end a pause
 * @heard: frames obeyed
 */
struct fabric_pfc {
	atomic_t held[PYR_PORTS_MAX];
	u64 tells;
	u64 paused;
	u64 tell;
	u64 pauses;
	u64 resumes;
	u64 heard;
};

/**
 * struct fabric_hash - a band's queues of flows
 * @core: their state
 * @band: the band
 * @port: its part of a switch, NULL: none
 * @held: queues that a neighbour has held back since @since_ns
 * @since_ns: since when
 * @held_ns: how long queues were held before that, in sum
 * @over: packets that found too many in their queue
 * @queue: the queues
 */
struct fabric_hash {
	struct bfc_port core;
	struct fabric_band *band;
	struct fabric_isolate_port *port;
	u8 held;
	u64 since_ns;
	u64 held_ns;
	u64 over;
	struct fabric_fifo queue[BFC_QUEUES_MAX];
};

/**
 * struct fabric_hash_switch - what ports with queues of flows tell their neighbours
 * @tells: ports that may; changes with the lock
 * @waits: those of them whose neighbour holds back flows
 * @tell: those of them that have a frame to send
 * @holding: ports that hold back flows for their neighbour
 * @look: those of them that have to look whether they still do
 * @pauses: flows that neighbours were told to hold back
 * @resumes: and to let go on
 * @sent: frames
 * @heard: frames obeyed
 * @refused: frames that were not: not allowed, old
 * @expired: of ports that are gone
 * @held_ns: of ports that are gone
 * @used_max: of ports that are gone
 * @told: what the neighbour at a port is told; of ports that may, or might once
 */
struct fabric_hash_switch {
	u64 tells;
	u64 waits;
	u64 tell;
	u64 holding;
	u64 look;
	u64 pauses;
	u64 resumes;
	u64 sent;
	u64 heard;
	u64 refused;
	u64 expired;
	u64 held_ns;
	u8 used_max;
	struct bfc_told *told[PYR_PORTS_MAX];
};

/**
 * struct fabric_isolate - a switch
 * @list: all of them
 * @net: its namespace; it is there as long as a port is
 * @users: ports
 * @generation: of @table
 * @no_path: of ports that are gone
 * @foretold: of ports that are gone
 * @mistold: of ports that are gone
 * @lock: protects all below; nests in root locks
 * @port: its ports, NULL: none of that number
 * @ifindex: its ports' devices, 0: none; read without the lock
 * @by_ifindex: a port by the last bits of its device's index, a guess; likewise
 * @ticking: @tick is set, or will set itself again
 * @sender: sends frames
 * @tick: core's time
 * @table: paths, NULL: none, read under RCU
 * @draft: a table that is being told, NULL: none
 * @pfc: pauses of whole bands
 * @hash: queues of flows
 * @sw: the core's state
 */
struct fabric_isolate {
	struct list_head list;
	struct net *net;
	unsigned int users;
	u32 generation;
	u64 no_path;
	u64 foretold;
	u64 mistold;
	spinlock_t lock;	/* nests in root locks */
	struct fabric_isolate_port *port[PYR_PORTS_MAX];
	int ifindex[PYR_PORTS_MAX];
	u8 by_ifindex[FABRIC_IFINDEX_MASK + 1];
	bool ticking;
	struct tasklet_struct sender;
	struct hrtimer tick;
	struct fabric_table __rcu *table;
	struct fabric_table *draft;
	struct fabric_pfc pfc;
	struct fabric_hash_switch hash;
	struct pyr_switch sw;
};

/* Does an arriving packet go to the output queue for sure, of which nothing is told? Without
 * the switch's lock.
 */
static inline bool fabric_isolate_calm(const struct fabric_isolate_port *p,
				       u32 oq_bytes)
{
	return !pyr_any_root(&p->iso->sw) && pyr_arrive_quick(p->state, oq_bytes);
}

/* Is there neither a frame to send nor a parked packet that may move? */
static inline bool fabric_isolate_idle(const struct fabric_isolate_port *p)
{
	return !p->frames.head && !pyr_pick_quick(p->state);
}

/* A packet of the band has left the output queue. */
static inline void fabric_isolate_sent(struct fabric_isolate_port *p)
{
	p->due = true;
	if (unlikely(!pyr_sent_quick(p->state, p->band->fifo.bytes)))
		fabric_isolate_tell_sent(p);
}

/* The port of that device; PYR_NONE: it is none of the switch. */
static inline u8 fabric_isolate_port_of(const struct fabric_isolate *iso, int ifindex)
{
	u8 port = READ_ONCE(iso->by_ifindex[ifindex & FABRIC_IFINDEX_MASK]);

	if (!ifindex)
		return PYR_NONE;
	if (port < PYR_PORTS_MAX && READ_ONCE(iso->ifindex[port]) == ifindex)
		return port;
	for (port = 0; port < PYR_PORTS_MAX; port++) {
		if (READ_ONCE(iso->ifindex[port]) == ifindex)
			return port;
	}
	return PYR_NONE;
}

/* The port at which a packet came in, perhaps by a VLAN; PYR_NONE: at none of the switch. Context:
 * root lock of a port held.
 */
static inline u8 fabric_isolate_ingress(const struct fabric_isolate *iso,
					int ifindex)
{
	u8 port = fabric_isolate_port_of(iso, ifindex);

	if (likely(port != PYR_NONE) || !ifindex)
		return port;	/* or made here */
	return fabric_isolate_port_of(iso, fabric_vlan_lower(iso->net, ifindex));
}

/* Is there something to say, or to look at? Context: the switch's lock. */
static inline bool fabric_isolate_busy(const struct fabric_isolate *iso)
{
	return iso->pfc.tell | iso->hash.tell | iso->hash.look ||
	       pyr_has_frame(&iso->sw);
}

/* Has time to pass? Context: the switch's lock. */
static inline bool fabric_isolate_awake(const struct fabric_isolate *iso)
{
	return iso->sw.roots ||
	       (iso->pfc.paused | iso->hash.waits | iso->hash.holding);
}

/* After each change: send what there is to say, let time pass. Context: the switch's
 * lock.
 */
static inline void fabric_isolate_kick(struct fabric_isolate *iso)
{
	if (fabric_isolate_busy(iso))
		tasklet_schedule(&iso->sender);
	/* Not hrtimer_active(): the last tick may just be ending. */
	if (!fabric_isolate_awake(iso) || iso->ticking)
		return;
	iso->ticking = true;
	hrtimer_start(&iso->tick, ns_to_ktime(iso->sw.config.tick_ns),
		      HRTIMER_MODE_REL_SOFT);
}

/* The port may have something to send. Not while it is being made, nor while it is being
 * taken down. Context: softirq, its root lock or the switch's lock held.
 */
static inline void fabric_isolate_wake(struct Qdisc *sch)
{
	if (rcu_access_pointer(qdisc_dev(sch)->qdisc) == sch &&
	    !test_bit(__QDISC_STATE_DEACTIVATED, &sch->state))
		__netif_schedule(sch);
}

/* fabric_hash.c: the switch's lock held; unplug: also the root lock; take and look: only that;
 * room: process
 */
bool fabric_hash_next(struct fabric_isolate *iso, struct bfc_frame *frame, u8 *port);
void fabric_hash_tick(struct fabric_isolate *iso);
bool fabric_hash_room(struct fabric_isolate *iso, u8 port);
void fabric_hash_plug(struct fabric_isolate_port *p);
void fabric_hash_unplug(struct fabric_isolate_port *p);
void fabric_hash_count(const struct fabric_isolate_port *p, u64 *count);
void fabric_hash_take(struct fabric_isolate_port *p, const void *data);
void fabric_hash_look(struct fabric_isolate_port *p, const void *nothing);

/* fabric_pfc.c: the switch's lock held */
bool fabric_pfc_next(struct fabric_isolate *iso, u8 *data, u8 *port);
void fabric_pfc_tick(struct fabric_isolate *iso);

void fabric_isolates_lock(void);
void fabric_isolates_unlock(void);
struct fabric_isolate *fabric_isolate_find(const struct net *net, u32 id);
struct fabric_isolate *fabric_isolate_next(const struct net *net,
					   struct fabric_isolate *iso);

/* fabric_path.c */
int fabric_table_new(struct sk_buff *skb, struct genl_info *info);
int fabric_table_add(struct sk_buff *skb, struct genl_info *info);
int fabric_table_use(struct sk_buff *skb, struct genl_info *info);

/* fabric_way.c: root lock of the port held */
bool fabric_table_believes(const struct fabric_isolate *iso, u8 port,
			   const struct pyr_frame *frame);
struct fabric_way *fabric_way_look(struct fabric_isolate_port *p, const struct sk_buff *skb,
				   bool arrives);
struct fabric_way *fabric_way_of(struct fabric_isolate_port *p, const struct sk_buff *skb);
void fabric_way_park(struct fabric_isolate_port *p, struct fabric_way *way, struct sk_buff *skb);
void fabric_way_unpark(struct fabric_isolate_port *p, const struct sk_buff *skb);

#endif /* FABRIC_ISOLATE_H */
