/* SPDX-License-Identifier: GPL-2.0 */
/*
 * By which ports a packet will leave the switches after this one (Liu et al.,
 * "Pyrrha", section 4.2): a table of routes of all switches, and the kernel's
 * own choice among equal routes, computed as the kernel computes it.
 *
 * Pure: the caller loads the table and keeps its memory; a look-up reads only.
 * Several look-ups may run at once; a table does not change while one runs.
 */
#ifndef PATH_H
#define PATH_H

#include "core/types.h"
#include "core/pyrrha.h"

#define PATH_NONE	0xffff	/* as a switch, destination or group: none */
/* Next hops of a group at most: a look-up walks over them, at each switch on the way. */
#define PATH_VIAS_MAX	256

/* fib_multipath_hash_fields that can be computed here: the outer header's. */
#define PATH_FIELD_SRC_IP	0x01
#define PATH_FIELD_DST_IP	0x02
#define PATH_FIELD_IP_PROTO	0x04
#define PATH_FIELD_SRC_PORT	0x10
#define PATH_FIELD_DST_PORT	0x20
#define PATH_FIELDS		0x37

/**
 * struct path_flow - what the kernel hashes of a packet
 * @src: address, 4 or 16 bytes as in the packet
 * @dst: address, likewise
 * @sport: source port as in the packet (big-endian), 0: none
 * @dport: destination port, likewise
 * @proto: IP protocol
 * @v6: IPv6
 */
struct path_flow {
	u8 src[16];
	u8 dst[16];
	u16 sport;
	u16 dport;
	u8 proto;
	bool v6;
};

/**
 * struct path_via - a next hop
 * @port: port of the switch that leads there
 * @to: index of the switch behind it, PATH_NONE: a host
 * @bound: largest hash that leads there, see path_bounds()
 */
struct path_via {
	u16 port;
	u16 to;
	s32 bound;
};

/**
 * struct path_group - next hops of equal cost, in the order of the kernel's route
 * @first: index of the first in the table's @via
 * @count: how many, 1 to PATH_VIAS_MAX
 */
struct path_group {
	u32 first;
	u16 count;
};

/**
 * struct path_switch - a switch
 * @id: its number in the fabric, not 0
 * @seed: its net.ipv4.fib_multipath_hash_seed, 0: nobody knows how it chooses
 * @policy: its fib_multipath_hash_policy: 0, 1 or 3
 * @fields: its fib_multipath_hash_fields, of policy 3: PATH_FIELD_*
 */
struct path_switch {
	u32 id;
	u32 seed;
	u8 policy;
	u8 fields;
};

/**
 * struct path_prefix - destinations
 * @v6: of IPv6
 * @bits: length of the prefix
 * @dest: number of the destination that it leads to, below @dests
 * @addr: the address; what lies beyond @bits is 0
 * @up: index of the smallest prefix around this one, -1: none; path_check()
 *	sets it
 */
struct path_prefix {
	bool v6;
	u8 bits;
	u16 dest;
	u8 addr[16];
	s32 up;
};

/**
 * struct path_table - routes of all switches
 * @switches: how many
 * @dests: how many destinations
 * @prefixes: how many prefixes
 * @groups: how many groups
 * @vias: how many next hops
 * @sw: the switches, sorted by @id
 * @prefix: sorted: IPv4 first, then by address, the shorter of equal ones first
 * @group: the groups
 * @via: the next hops
 * @route: group of switch s to destination d at [s * dests + d], PATH_NONE: none
 */
struct path_table {
	u16 switches;
	u16 dests;
	u32 prefixes;
	u16 groups;
	u32 vias;
	struct path_switch *sw;
	struct path_prefix *prefix;
	struct path_group *group;
	struct path_via *via;
	u16 *route;
};

/**
 * path_check() - is a loaded table whole? Nothing of it is believed.
 * @table: the table; the prefixes' @up is filled in
 *
 * Return: NULL, or what is wrong with it.
 */
const char *path_check(struct path_table *table);

/**
 * path_bounds() - shares of equal routes, as fib_rebalance() computes them
 * @via: next hops of one group, all alive; @bound is filled in
 * @weight: their weights, 1 to 256
 * @count: how many
 */
void path_bounds(struct path_via *via, const u16 *weight, unsigned int count);

/**
 * path_hash() - the hash by which a switch chooses among equal routes
 * @sw: the switch
 * @flow: the packet
 *
 * As fib_multipath_hash() and rt6_multipath_hash() of Linux 6.11 and later for a
 * forwarded packet. Not covered, since a neighbour cannot know it: policy 1 of a
 * packet that has a hash of its sender's socket (l4_hash), policy 2, ICMP errors,
 * flow labels (policy 0 of IPv6), inner headers.
 *
 * Return: 0 to 2^31 - 1.
 */
u32 path_hash(const struct path_switch *sw, const struct path_flow *flow);

/**
 * path_dest() - where does an address lead? The longest prefix counts.
 * @table: the table
 * @v6: the address is of IPv6
 * @addr: 4 or 16 bytes as in a packet
 *
 * Return: the destination's number, PATH_NONE: nowhere.
 */
u16 path_dest(const struct path_table *table, bool v6, const u8 *addr);

/**
 * path_find() - the ports by which a packet will leave
 * @table: the table
 * @next: index of the first switch on the way, PATH_NONE: the next is a host
 * @dest: from path_dest()
 * @flow: the packet
 * @path: filled in; @hops 0 if the way is not known to its end
 *
 * Bounded: PYR_HOPS_MAX switches, each with one hash and one walk over next hops.
 */
void path_find(const struct path_table *table, u16 next, u16 dest,
	       const struct path_flow *flow, struct pyr_path *path);

/**
 * path_reach_from() - by which groups of next hops a switch's routes lead
 * @table: a checked table
 * @at: index of the switch
 * @ports: behind which of the own ports it is, a bit for each
 * @by: one for each group: @ports are added to those of the switch's routes
 *
 * The caller goes from distance to distance: over the switches that are there, then, with
 * path_reach_by(), over the groups. So each route and each next hop of the table is looked at once
 * for a distance, also where the routes of all switches are those of large groups. He may rest in
 * between.
 */
void path_reach_from(const struct path_table *table, u16 at, u64 ports, u64 *by);

/**
 * path_reach_by() - which switches come after those whose routes lead by a group
 * @table: a checked table
 * @group: index of the group
 * @ports: of path_reach_from(), for this group
 * @next: one for each switch: @ports are added to those that the group leads to
 */
void path_reach_by(const struct path_table *table, u16 group, u64 ports, u64 *next);

/**
 * path_reaches() - can a packet for a neighbour pass a congestion root?
 * @table: the table
 * @reach: one for each switch: bit d is set if some route passes it d hops after the
 *	neighbour
 * @root: PYR_ROOT()
 * @distance: hops from here to the root, as a frame tells it
 *
 * A frame that names a root for which this is not so is a mistake or a forgery.
 *
 * Return: true: the root's switch can be there.
 */
bool path_reaches(const struct path_table *table, const u8 *reach, u64 root,
		  u8 distance);

#endif /* PATH_H */
