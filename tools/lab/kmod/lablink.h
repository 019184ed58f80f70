/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lablink: netlink interface of the lab's exact link (rtnl kind "lablink").
 *
 * Usable from user space and from the kernel. A lablink is a pair of network
 * devices, one for each end of a cable. RTM_NEWLINK makes both ends with the
 * same settings; RTM_NEWLINK on an existing end (changelink) changes only the
 * direction in which that end sends, while traffic runs.
 *
 * All attributes are in IFLA_LINKINFO / IFLA_INFO_DATA. Numbers are in host
 * byte order, as everywhere in rtnetlink.
 */
#ifndef LABLINK_H
#define LABLINK_H

#define LABLINK_KIND "lablink"

enum lablink_attr {
	LABLINK_A_UNSPEC,
	/*
	 * Only when making a link, as VETH_INFO_PEER: struct ifinfomsg, then
	 * IFLA_* attributes of the other end (IFLA_IFNAME, IFLA_ADDRESS,
	 * IFLA_MTU, IFLA_NET_NS_FD, IFLA_NET_NS_PID ...). Without it the other
	 * end is made in the same namespace with a name of the kernel's choice.
	 */
	LABLINK_A_PEER,
	/* u64, bits per second on the line; 0: infinitely fast (default) */
	LABLINK_A_RATE_BPS,
	/* u64, propagation delay in ns (default 0) */
	LABLINK_A_DELAY_NS,
	/*
	 * u32, bytes that each packet takes on the line on top of the frame
	 * that the kernel knows (14-byte Ethernet header included there).
	 * Default LABLINK_OVERHEAD_DEFAULT: preamble 8, gap 12, FCS 4.
	 * Short frames are not padded to 60 bytes.
	 */
	LABLINK_A_OVERHEAD_BYTES,
	/*
	 * u32, packets that the device holds: the one being sent and those
	 * taken from the qdisc ahead of time. 1 (default): the qdisc chooses
	 * the next packet exactly when the previous one has left.
	 */
	LABLINK_A_RING_PKTS,
	/*
	 * array of u32: equidistant quantiles in ns (first = minimum, last =
	 * maximum) of an extra delay, drawn for each packet with linear
	 * interpolation between neighbours. Must not fall. Packets never
	 * overtake each other. Empty: no noise (default).
	 */
	LABLINK_A_NOISE_NS,
	/* u32, seed of the noise; setting it or the quantiles starts afresh */
	LABLINK_A_NOISE_SEED,
	/*
	 * u8, 0 (default): one packet is one packet on the line, no TSO, no
	 * GRO. 1: TSO and GRO are allowed; a large packet occupies the line
	 * for as long as its segments would and arrives as one.
	 */
	LABLINK_A_OFFLOAD,
	LABLINK_A_PAD,
	/* read only, nested enum lablink_counter, one u64 each */
	LABLINK_A_COUNTERS,
	__LABLINK_A_MAX,
};

#define LABLINK_A_MAX (__LABLINK_A_MAX - 1)

/* Counters of one direction, also in `ethtool -S`. */
enum lablink_counter {
	LABLINK_C_UNSPEC,
	LABLINK_C_LINE_PKTS,	/* packets on the line, after segmentation */
	LABLINK_C_LINE_BYTES,	/* bytes on the line, overhead included */
	LABLINK_C_QUEUE_STOPS,	/* times the ring was full */
	LABLINK_C_LOST_IN_FLIGHT, /* packets lost because the link went down */
	LABLINK_C_LATE_EVENTS,	/* timer events that came late */
	LABLINK_C_LATE_MAX_NS,	/* the latest of them */
	LABLINK_C_PAD,
	__LABLINK_C_MAX,
};

#define LABLINK_C_MAX (__LABLINK_C_MAX - 1)

#define LABLINK_OVERHEAD_DEFAULT	24
#define LABLINK_OVERHEAD_MAX		1000
#define LABLINK_RING_DEFAULT		1
#define LABLINK_RING_MAX		1024
#define LABLINK_RATE_MIN_BPS		1000ULL
#define LABLINK_RATE_MAX_BPS		10000000000000ULL
#define LABLINK_DELAY_MAX_NS		10000000000ULL
#define LABLINK_NOISE_QUANTILES_MAX	1024
#define LABLINK_NOISE_MAX_NS		1000000000U

#endif /* LABLINK_H */
