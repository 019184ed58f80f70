/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Frames that the switch ports of sch_fabric send to their neighbours on the
 * other end of a link. Used by the kernel, the dissector and the tests.
 *
 * A frame never leaves its link: the destination address is one that bridges
 * do not forward, and routers see no IP header. All numbers are big-endian.
 *
 *	 0	6	destination FABRIC_FRAME_DEST
 *	 6	6	source, the sending port's address
 *	12	2	EtherType FABRIC_FRAME_ETHERTYPE
 *	14	40	struct fabric_frame, or fabric_flows_frame
 *	54	6	zero, up to Ethernet's minimum without FCS
 *
 * A frame states a condition, not a change: losing, repeating or delaying one
 * is made good by the next. The sender repeats what still holds.
 *
 * Append only: a number once given to something keeps its meaning.
 */
#ifndef _UAPI_LINUX_FABRIC_FRAME_H
#define _UAPI_LINUX_FABRIC_FRAME_H

#include <linux/types.h>

/* The IEEE's "local experimental" EtherType 1 (IEEE 802, 9.2.3). */
#define FABRIC_FRAME_ETHERTYPE	0x88b5
/* The nearest bridge's group address (IEEE 802.1Q, table 8-1). */
#define FABRIC_FRAME_DEST	{ 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e }
/* Others use this EtherType too. The first two bytes say "Fairlane". */
#define FABRIC_FRAME_MAGIC	0x464c
#define FABRIC_FRAME_VERSION	1
#define FABRIC_FRAME_BYTES	40
#define FABRIC_FRAME_HOPS_MAX	7	/* largest distance */

/* Types. PAUSE, RESUME, MERGE and FLOWS go upstream, RELEASE goes downstream. */
enum {
	FABRIC_FRAME_UNSPEC,
	/* Packets that will pass root wait until RESUME or for hold_ns. */
	FABRIC_FRAME_PAUSE,
	/* Packets that will pass root may be sent. */
	FABRIC_FRAME_RESUME,
	/* As RESUME; their packets that pass into are isolated for into. */
	FABRIC_FRAME_MERGE,
	/* The sender has no queue for root any more. */
	FABRIC_FRAME_RELEASE,
	/* Which flows of a group wait, for hold_ns: struct fabric_flows_frame. */
	FABRIC_FRAME_FLOWS,
	__FABRIC_FRAME_MAX,
};

#define FABRIC_FRAME_MAX (__FABRIC_FRAME_MAX - 1)

/**
 * struct fabric_frame - what follows the Ethernet header
 * @magic: FABRIC_FRAME_MAGIC
 * @version: FABRIC_FRAME_VERSION; others are refused
 * @type: FABRIC_FRAME_*; unknown ones are refused
 * @epoch: a number that the sending port drew when it began to send frames
 * @sequence: 1 more than in the port's frame before; a receiver refuses a
 *	frame that is not newer (modulo 2^32) than the last one of this epoch
 * @root_switch: the congestion root's switch, not 0
 * @root_port: its port
 * @distance: hops from the receiver to the root, or in a MERGE to @into: 1 to
 *	FABRIC_FRAME_HOPS_MAX; 0 in a RELEASE
 * @reserved: 0, not looked at by a receiver
 * @into_switch: in a MERGE the root that takes @root's place, else 0
 * @into_port: its port, else 0
 * @reserved2: 0, not looked at by a receiver
 * @hold_ns: in a PAUSE how long it holds if it is not repeated, else 0
 * @held_bytes: bytes that the sender holds of what the receiver sent for root,
 *	or the root's queue when it asked first; for people
 * @threshold_bytes: above this it sends PAUSE; for people
 */
struct fabric_frame {
	__be16	magic;
	__u8	version;
	__u8	type;
	__be32	epoch;
	__be32	sequence;
	__be32	root_switch;
	__be16	root_port;
	__u8	distance;
	__u8	reserved;
	__be32	into_switch;
	__be16	into_port;
	__be16	reserved2;
	__be32	hold_ns;
	__be32	held_bytes;
	__be32	threshold_bytes;
};

/**
 * struct fabric_flows_frame - what follows the Ethernet header in a frame of type FLOWS
 * @magic: FABRIC_FRAME_MAGIC
 * @version: FABRIC_FRAME_VERSION
 * @type: FABRIC_FRAME_FLOWS
 * @epoch: as in struct fabric_frame
 * @sequence: as in struct fabric_frame; frames of all types count
 * @group: of flows, below 64. A flow is 12 bits of a hash (qdisc/core/bfc.h), the first 6 of
 *	which are its group
 * @reserved: 0, not looked at by a receiver
 * @wait: bit n: flow n of the group is to wait; others may go on
 * @reserved2: 0, not looked at by a receiver
 * @hold_ns: for how long, if it is not repeated
 * @reserved3: 0, not looked at by a receiver
 *
 * The sender repeats it as long as any flow of the group is to wait.
 */
struct fabric_flows_frame {
	__be16	magic;
	__u8	version;
	__u8	type;
	__be32	epoch;
	__be32	sequence;
	__be16	group;
	__be16	reserved;
	__be64	wait;
	__be32	reserved2;
	__be32	hold_ns;
	__be32	reserved3[2];
};

#endif /* _UAPI_LINUX_FABRIC_FRAME_H */
