/* SPDX-License-Identifier: GPL-2.0 */
/*
 * labtap: what the lab's packet recorder writes; for kernel and user space.
 *
 * A tap records every packet that a device starts to send, and every packet
 * that the device's queueing discipline drops.
 *
 * Control, plain text, one command per write:
 *   /proc/net/labtap   (of the device's namespace; read: list of taps)
 *	add <tap> <dev> [<overhead_bytes>]
 *	del <tap>
 *     <tap> is a number below LABTAP_TAPS_MAX, unique in the whole machine.
 *     The overhead is what wire_len adds to the frame; without it that of the
 *     lablink device, or 24 for other devices.
 *   /proc/labtap       (global)
 *	start <max_records>	forget old records, make room, begin
 *	stop			no more records from now on
 *	free			give the memory back
 *     read, after stop: the records, struct labtap_rec, little endian.
 *   /proc/labtap_stats (global, read): lines "name value": running, records,
 *     overflow (records that found no room), max_records.
 */
#ifndef LABTAP_H
#define LABTAP_H

#include <linux/types.h>

/* The low four bits of labtap_rec.kind. */
enum labtap_kind {
	LABTAP_KIND_TX,		/* transmission starts at t_ns */
	LABTAP_KIND_DROP,	/* the root qdisc dropped it at t_ns */
};

#define LABTAP_KIND(kind)	((kind) & 15)
/* length of the TCP header, 0: not TCP; in the high bits of labtap_rec.kind */
#define LABTAP_DOFF_BYTES(kind)	((kind) >> 4 << 2)
#define LABTAP_QDELAY_UNKNOWN	0xffffffffU
#define LABTAP_TAPS_MAX		65536
#define LABTAP_RECORDS_MAX	100000000

/* One packet; 32 bytes, little endian, ports and sequence in host order. */
struct labtap_rec {
	__u64 t_ns;		/* CLOCK_MONOTONIC */
	__u32 qdelay_ns;	/* from entering the qdisc to t_ns */
	__u32 backlog_bytes;	/* left in the root qdisc and its children */
	__u16 tap;
	__u16 wire_len;		/* bytes on the line; 65535: that or more */
	__u16 sport;		/* 0: neither TCP nor UDP */
	__u16 dport;
	__u8 proto;		/* IPPROTO_*, 0: not IP */
	__u8 tos;		/* IPv4 TOS or IPv6 traffic class */
	__u8 tcp_flags;		/* byte 13 of the TCP header */
	__u8 kind;		/* see LABTAP_KIND() and LABTAP_DOFF_BYTES() */
	__u32 seq;		/* TCP sequence number */
};

#endif /* LABTAP_H */
