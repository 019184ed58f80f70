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
 * struct fabric_isolate - a switch
 * @list: all of them
 * @net: its namespace; compared only
 * @users: ports
 * @npaths: paths
 * @no_path: packets whose path nobody told, of those that were looked at
 * @lock: protects all below; nests in root locks
 * @port: its ports, NULL: none of that number
 * @by_ifindex: a port by the last bits of its device's index, a guess
 * @ticking: @tick is set, or will set itself again
 * @sender: sends frames
 * @tick: core's time
 * @paths: table of paths
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
	u8 by_ifindex[FABRIC_IFINDEX_MASK + 1];
	bool ticking;
	struct tasklet_struct sender;
	struct hrtimer tick;
	struct hlist_head paths[FABRIC_PATHS_HASH];
	struct pyr_switch sw;
};

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
