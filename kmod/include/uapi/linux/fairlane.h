/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Fairlane: the one ABI header, used by modules, tools, tc plugin and tests.
 *
 * Append only: a number once given to something keeps its meaning. One block
 * per subject; units are in the names (_BYTES, _BPS = bit/s, _NS).
 */
#ifndef _UAPI_LINUX_FAIRLANE_H
#define _UAPI_LINUX_FAIRLANE_H

#include <linux/types.h>

/* ---- sch_fabric: TCA_KIND "fabric" -------------------------------------- */
#ifndef TCA_FABRIC_MAX

#define FABRIC_BANDS_MAX		16
#define FABRIC_LIMIT_DEFAULT_BYTES	1048576U
#define FABRIC_LIMIT_MAX_BYTES		1073741824U
#define FABRIC_RATE_MIN_BPS		1000ULL
#define FABRIC_RATE_MAX_BPS		10000000000000ULL
#define FABRIC_DELAY_MAX_NS		10000000000ULL
#define FABRIC_OVERHEAD_DEFAULT_BYTES	24	/* preamble 8, FCS 4, gap 12 */
#define FABRIC_OVERHEAD_MAX_BYTES	1024
#define FABRIC_COLOURS			3	/* green 0, yellow 1, red 2 */
#define FABRIC_MAP_DEFAULT		255	/* in a map: the default band */
#define FABRIC_QUANTUM_MIN_BYTES	256
#define FABRIC_QUANTUM_MAX_BYTES	1048576U
#define FABRIC_WEIGHT_MAX		256
#define FABRIC_WEIGHT_BYTES		1514	/* quantum of weight 1 */
#define FABRIC_BURST_MAX_BYTES		16777216U
#define FABRIC_PROB_MAX			1000000	/* millionths: always */
#define FABRIC_ALPHA_MAX_MILLI		1000000	/* thousandths: 1000 */
#define FABRIC_BUFFER_NAME_LEN		16	/* with the final 0 */
#define FABRIC_STAMP_TAU_MAX_NS		1000000000U
#define FABRIC_STAMP_ROUND_MAX_NS	65536U

/* Attributes in TCA_OPTIONS of the qdisc. */
enum {
	TCA_FABRIC_UNSPEC,
	TCA_FABRIC_PAD,
	TCA_FABRIC_LIMIT_BYTES,		/* u32 waiting bytes of the port */
	TCA_FABRIC_RATE_BPS,		/* u64 line rate, 0: the device's */
	TCA_FABRIC_DELAY_NS,		/* u64 propagation, needs a rate */
	TCA_FABRIC_OVERHEAD_BYTES,	/* u32 a packet on the line, needs a rate */
	TCA_FABRIC_ECN_BYTES,		/* u32 marking threshold, 0: off */
	TCA_FABRIC_ECN_AT,		/* u8 FABRIC_ECN_AT_* */
	TCA_FABRIC_SPLIT_GSO,		/* u8 0: keep, 1: segment on enqueue */
	TCA_FABRIC_BANDS,		/* u8 classes 1 to this one exist */
	TCA_FABRIC_DEFAULT_BAND,	/* u8 from 0, 255: the last */
	TCA_FABRIC_PRIOMAP,		/* u8[16] band or MAP_DEFAULT; empty: none */
	TCA_FABRIC_DSCPMAP,		/* u8[64] band | colour << 4, likewise */
	TCA_FABRIC_BUFFER_NAME,		/* string, empty: no shared buffer */
	TCA_FABRIC_BUFFER_BYTES,	/* u32 of the whole shared buffer */
	TCA_FABRIC_STAMP,		/* u8 FABRIC_STAMP_* */
	TCA_FABRIC_STAMP_TAU_NS,	/* u32 smoothing, 0: none */
	TCA_FABRIC_STAMP_ROUND_NS,	/* u32 power of two, 0: none */
	TCA_FABRIC_BAND_OPTIONS,	/* nest: 1 + band, nest of CLASS_*; set only */
	__TCA_FABRIC_MAX,
};

#define TCA_FABRIC_MAX (__TCA_FABRIC_MAX - 1)

enum {
	FABRIC_ECN_AT_ENQUEUE,	/* bytes ahead of the arriving packet */
	FABRIC_ECN_AT_DEQUEUE,	/* bytes left behind by the departing packet */
};

enum {
	FABRIC_STAMP_NONE,
	FABRIC_STAMP_SOZE,	/* largest queueing delay on the way */
	FABRIC_STAMP_TCP_INT,	/* p4app-TCP-INT: queue depth, hop, latency */
	__FABRIC_STAMP_MAX,
};

/* Attributes in TCA_OPTIONS of a class (band). */
enum {
	TCA_FABRIC_CLASS_UNSPEC,
	TCA_FABRIC_CLASS_PAD,
	TCA_FABRIC_CLASS_STRICT,	/* flag: before all that are not */
	TCA_FABRIC_CLASS_QUANTUM_BYTES,	/* u32 round robin */
	TCA_FABRIC_CLASS_WEIGHT,	/* u32 round robin */
	TCA_FABRIC_CLASS_LIMIT_BYTES,	/* u32 0: only the port's */
	TCA_FABRIC_CLASS_RATE_BPS,	/* u64 0: none */
	TCA_FABRIC_CLASS_BURST_BYTES,	/* u32 needs a rate */
	TCA_FABRIC_CLASS_ECN_MIN,	/* u32 in ECN_UNIT; a step if MAX equal */
	TCA_FABRIC_CLASS_ECN_MAX,	/* u32 both 0: off */
	TCA_FABRIC_CLASS_ECN_PROB,	/* u32 millionths at MAX */
	TCA_FABRIC_CLASS_ECN_UNIT,	/* u8 FABRIC_ECN_UNIT_* */
	TCA_FABRIC_CLASS_ECN_AT,	/* u8 FABRIC_ECN_AT_* */
	TCA_FABRIC_CLASS_ECN_DROP,	/* u8 1: drop what cannot be marked */
	TCA_FABRIC_CLASS_GREEN_BYTES,	/* u32 limit of this colour, 0: none */
	TCA_FABRIC_CLASS_YELLOW_BYTES,	/* u32 */
	TCA_FABRIC_CLASS_RED_BYTES,	/* u32 */
	TCA_FABRIC_CLASS_RESERVED_BYTES,/* u32 of the shared buffer */
	TCA_FABRIC_CLASS_ALPHA_MILLI,	/* u32 dynamic threshold */
	__TCA_FABRIC_CLASS_MAX,
};

#define TCA_FABRIC_CLASS_MAX (__TCA_FABRIC_CLASS_MAX - 1)

enum {
	FABRIC_ECN_UNIT_BYTES,
	FABRIC_ECN_UNIT_NS,	/* queueing delay, at dequeue only */
};

/* Why a packet was dropped; also the attribute type inside STATS_DROPS. */
enum {
	FABRIC_DROP_UNSPEC,
	FABRIC_DROP_LIMIT,	/* the port's byte limit */
	FABRIC_DROP_SEGMENT,	/* a GSO packet that could not be split */
	FABRIC_DROP_BAND,	/* the band's byte limit */
	FABRIC_DROP_COLOUR,	/* the colour's byte limit */
	FABRIC_DROP_BUFFER,	/* the shared buffer's dynamic threshold */
	FABRIC_DROP_ECN,	/* should have been marked but could not be */
	FABRIC_DROP_FILTER,	/* a filter's action said so */
	FABRIC_DROP_CHILD,	/* the band's own qdisc did not take it */
	FABRIC_DROP_BAND_GONE,	/* its band was deleted or given a qdisc */
	__FABRIC_DROP_MAX,
};

#define FABRIC_DROP_MAX (__FABRIC_DROP_MAX - 1)

/* Bin 0 counts delays below 1 ns, bin i those in [2^(i-1), 2^i) ns, the last
 * one everything above.
 */
#define FABRIC_HIST_BINS	32

/* Attributes in TCA_STATS_APP. */
enum {
	TCA_FABRIC_STATS_UNSPEC,
	TCA_FABRIC_STATS_PAD,
	TCA_FABRIC_STATS_BYTES,			/* u64 begun to be sent */
	TCA_FABRIC_STATS_PACKETS,		/* u64 */
	TCA_FABRIC_STATS_MARKS,			/* u64 CE set (or found set) */
	TCA_FABRIC_STATS_DROPS,			/* nest of u64, FABRIC_DROP_* */
	TCA_FABRIC_STATS_BACKLOG_BYTES,		/* u32 waiting, without the line */
	TCA_FABRIC_STATS_BACKLOG_PACKETS,	/* u32 */
	TCA_FABRIC_STATS_BACKLOG_MAX_BYTES,	/* u32 */
	TCA_FABRIC_STATS_DELAY_MIN_NS,		/* u64 queueing delays */
	TCA_FABRIC_STATS_DELAY_MEAN_NS,		/* u64 */
	TCA_FABRIC_STATS_DELAY_MAX_NS,		/* u64 */
	TCA_FABRIC_STATS_DELAY_HIST,		/* u64[FABRIC_HIST_BINS] */
	TCA_FABRIC_STATS_RATE_BPS,		/* u64 last window of >= 1 ms */
	TCA_FABRIC_STATS_BUSY_NS,		/* u64 sending or backlogged */
	TCA_FABRIC_STATS_LINE_PACKETS,		/* u32 being sent, propagating */
	TCA_FABRIC_STATS_GSO_SPLIT,		/* u64 GSO packets segmented */
	TCA_FABRIC_STATS_COLOURS,		/* nest of nests, 1 + colour */
	TCA_FABRIC_STATS_STAMPS,		/* nest of u64, FABRIC_STAMPED_* */
	TCA_FABRIC_STATS_BUFFER_USED_BYTES,	/* u64 of the shared pool */
	TCA_FABRIC_STATS_BUFFER_POOL_BYTES,	/* u64 total without reserved */
	TCA_FABRIC_STATS_BANDS,			/* nest: 1 + band, nest of these */
	__TCA_FABRIC_STATS_MAX,
};

#define TCA_FABRIC_STATS_MAX (__TCA_FABRIC_STATS_MAX - 1)

/* Attributes in one nest of STATS_COLOURS. */
enum {
	TCA_FABRIC_COLOUR_UNSPEC,
	TCA_FABRIC_COLOUR_PAD,
	TCA_FABRIC_COLOUR_BYTES,		/* u64 */
	TCA_FABRIC_COLOUR_PACKETS,		/* u64 */
	TCA_FABRIC_COLOUR_DROPS,		/* nest of u64, FABRIC_DROP_* */
	TCA_FABRIC_COLOUR_BACKLOG_BYTES,	/* u32 */
	__TCA_FABRIC_COLOUR_MAX,
};

#define TCA_FABRIC_COLOUR_MAX (__TCA_FABRIC_COLOUR_MAX - 1)

/* What became of packets that were to be stamped. */
enum {
	FABRIC_STAMPED_UNSPEC,
	FABRIC_STAMPED_SEEN,		/* had the option */
	FABRIC_STAMPED_RAISED,		/* ... and its value was changed */
	FABRIC_STAMPED_NO_OPTION,
	FABRIC_STAMPED_MALFORMED,	/* short, or options that lie */
	FABRIC_STAMPED_NOT_TCP,
	__FABRIC_STAMPED_MAX,
};

#define FABRIC_STAMPED_MAX (__FABRIC_STAMPED_MAX - 1)

/*
 * The telemetry option that FABRIC_STAMP_SOZE raises, RFC 6994 experiment:
 *	kind 253 | length 8 | ExID be16 | delay be16 | echo be16
 * delay: largest queueing delay met, in units of 1 << SHIFT ns, set to 0 by the
 * sender, saturating at MAX. echo belongs to the hosts. Four-byte aligned at the
 * very front of the options it costs least, but it is found anywhere.
 */
#define FL_TELEMETRY_KIND	253
#define FL_TELEMETRY_BYTES	8
#define FL_TELEMETRY_EXID	0x464c
#define FL_TELEMETRY_SHIFT	4
#define FL_TELEMETRY_MAX	0xfffe

/* TCP-INT's option (p4app-TCP-INT v0.4), fields of which a switch writes:
 * byte 3 queue depth (0x80 | bytes / 8192), largest over the hops; byte 4 the
 * TTL seen there; bytes 5 to 7 sum of hop latencies in 256 ns.
 */
#define FL_TCP_INT_KIND		0x72
#define FL_TCP_INT_BYTES	12

#endif /* TCA_FABRIC_MAX */

#endif /* _UAPI_LINUX_FAIRLANE_H */
