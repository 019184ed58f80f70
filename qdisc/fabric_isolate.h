/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric: what fabric_isolate.c (packets, frames, locks) and fabric_genl.c
 * (paths, what is to be seen) share. See core/pyrrha.h for the rules.
 */
#ifndef FABRIC_ISOLATE_H
#define FABRIC_ISOLATE_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/spinlock.h>

#include "fabric.h"
#include "core/pfc.h"
#include "core/pyrrha.h"

#define FABRIC_PATHS_HASH	1024	/* a power of two */
#define FABRIC_PATHS_MAX	65536	/* of a switch */
#define FABRIC_IFINDEX_MASK	255

/**
 * struct fabric_path_key - packets of one path
 * @to: destination, IPv4 as ::ffff:a.b.c.d
 * @port: output port
 */
struct fabric_path_key {
	struct in6_addr to;
	u32 port;
};

/**
 * struct fabric_path - the ports that packets pass after this switch
 * @node: in the switch's table
 * @key: which packets
 * @path: which ports
 */
struct fabric_path {
	struct hlist_node node;
	struct fabric_path_key key;
	struct pyr_path path;
};

/**
 * struct fabric_isolate_port - a port's part
 * @iso: its switch
 * @sch: its qdisc, a root
 * @set: settings
 * @config: what the core was told of them
 * @band: the band that isolates; its fifo is the output queue
 * @ifindex: its device
 * @index: its number in the switch
 * @joined: it is in the switch's table; changes with the switch's lock held
 * @due: a packet has left the output queue since a parked one came to it
 * @heir: port of the same device that takes its place when it goes, NULL: none
 * @frames: to be sent
 * @queue: isolation queues
 */
struct fabric_isolate_port {
	struct fabric_isolate *iso;
	struct Qdisc *sch;
	struct fabric_isolate_config set;
	struct pyr_port_config config;
	struct fabric_band *band;
	int ifindex;
	u8 index;
	bool joined;
	bool due;
	struct fabric_isolate_port *heir;
	struct fabric_fifo frames;
	struct fabric_fifo queue[PYR_QUEUES_MAX];
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
 * struct fabric_isolate - a switch
 * @list: all of them
 * @net: its namespace; compared only
 * @users: ports
 * @npaths: paths
 * @no_path: packets whose path nobody told, of those that were looked at
 * @lock: protects all below; nests in root locks
 * @port: its ports, NULL: none of that number
 * @ifindex: its ports' devices, 0: none; read without the lock
 * @by_ifindex: a port by the last bits of its device's index, a guess; likewise
 * @ticking: @tick is set, or will set itself again
 * @sender: sends frames
 * @tick: core's time
 * @paths: table of paths
 * @pfc: pauses of whole bands
 * @sw: the core's state
 */
struct fabric_isolate {
	struct list_head list;
	struct net *net;
	unsigned int users;
	unsigned int npaths;
	u64 no_path;
	spinlock_t lock;	/* nests in root locks */
	struct fabric_isolate_port *port[PYR_PORTS_MAX];
	int ifindex[PYR_PORTS_MAX];
	u8 by_ifindex[FABRIC_IFINDEX_MASK + 1];
	bool ticking;
	struct tasklet_struct sender;
	struct hrtimer tick;
	struct hlist_head paths[FABRIC_PATHS_HASH];
	struct fabric_pfc pfc;
	struct pyr_switch sw;
};

/* The port at which a packet came in; PYR_NONE: at none of the switch. */
static inline u8 fabric_isolate_ingress(const struct fabric_isolate *iso,
					int ifindex)
{
	u8 port = READ_ONCE(iso->by_ifindex[ifindex & FABRIC_IFINDEX_MASK]);

	if (!ifindex)
		return PYR_NONE;	/* made here */
	if (port < PYR_PORTS_MAX && READ_ONCE(iso->ifindex[port]) == ifindex)
		return port;
	for (port = 0; port < PYR_PORTS_MAX; port++) {
		if (READ_ONCE(iso->ifindex[port]) == ifindex)
			return port;
	}
	return PYR_NONE;
}

/* After each change: send what there is to say, let time pass. Context: the switch's
 * lock.
 */
static inline void fabric_isolate_kick(struct fabric_isolate *iso)
{
	if (iso->pfc.tell || pyr_has_frame(&iso->sw))
		tasklet_schedule(&iso->sender);
	/* Not hrtimer_active(): the last tick may just be ending. */
	if ((!iso->sw.roots && !iso->pfc.paused) || iso->ticking)
		return;
	iso->ticking = true;
	hrtimer_start(&iso->tick, ns_to_ktime(iso->sw.config.tick_ns),
		      HRTIMER_MODE_REL_SOFT);
}

/* fabric_pfc.c: the switch's lock held */
bool fabric_pfc_next(struct fabric_isolate *iso, u8 *data, u8 *port);
void fabric_pfc_tick(struct fabric_isolate *iso);

void fabric_isolates_lock(void);
void fabric_isolates_unlock(void);
struct fabric_isolate *fabric_isolate_find(const struct net *net, u32 id);
struct fabric_isolate *fabric_isolate_next(const struct net *net,
					   struct fabric_isolate *iso);
struct hlist_head *fabric_path_head(struct fabric_isolate *iso,
				    const struct fabric_path_key *key);
struct fabric_path *fabric_path_find(struct fabric_isolate *iso,
				     const struct fabric_path_key *key);

#endif /* FABRIC_ISOLATE_H */
