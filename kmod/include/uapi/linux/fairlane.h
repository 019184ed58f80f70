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
#define FABRIC_LIMIT_MAX_BYTES		1073741824U
#define FABRIC_DELAY_MAX_NS		10000000000ULL
#define FABRIC_OVERHEAD_DEFAULT_BYTES	24	/* preamble 8, FCS 4, gap 12 */
#define FABRIC_MPU_DEFAULT_BYTES	84	/* 64 with FCS, preamble, gap */
#define FABRIC_COLOURS			3	/* green 0, yellow 1, red 2 */
#define FABRIC_MAP_DEFAULT		255	/* in a map: the default band */
#define FABRIC_WEIGHT_BYTES		1514	/* quantum of weight 1 */
#define FABRIC_PROB_MAX			1000000	/* millionths: always */
#define FABRIC_BUFFER_NAME_LEN		16	/* with the final 0 */

/* Attributes in TCA_OPTIONS of the qdisc. */
enum {
	TCA_FABRIC_UNSPEC,
	TCA_FABRIC_PAD,
	TCA_FABRIC_LIMIT_BYTES,		/* u32 waiting bytes of the port */
	TCA_FABRIC_RATE_BPS,		/* u64 line rate, 0: the device's */
	TCA_FABRIC_DELAY_NS,		/* u64 propagation, needs a rate */
	TCA_FABRIC_OVERHEAD_BYTES,	/* u32 a packet on the wire beyond its length */
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
	TCA_FABRIC_BAND_OPTIONS,	/* nest: 1 + band, nest of CLASS_* */
	TCA_FABRIC_STAMP_HOLD_NS,	/* u32 told as it is for so long, 0: anew */
	TCA_FABRIC_MPU_BYTES,		/* u32 least of a packet on the wire */
	TCA_FABRIC_SWITCH,		/* u32 number of the port's switch, 0: none */
	TCA_FABRIC_SWITCH_PORT,		/* u8 the port's number there, below 64 */
	TCA_FABRIC_SPEED_BPS,		/* u64 of the device, 0: as it tells */
	TCA_FABRIC_HOP_RTT_NS,		/* u32 from PAUSE to its effect, 0: by speed */
	TCA_FABRIC_FRAMES,		/* u8 FABRIC_FRAMES_* */
	TCA_FABRIC_ROLE,		/* u8 FABRIC_ROLE_*, when the port is made */
	TCA_FABRIC_HOST_RATE_BPS,	/* u64 of the hosts behind role lan, 0: the port's */
	TCA_FABRIC_FLOW_WAIT_NS,	/* u32 role lan: how long data is to wait */
	TCA_FABRIC_FLOW_THETA_NS,	/* u32 role lan: to get there, 0: the round trip */
	TCA_FABRIC_FLOW_FORM,		/* u8 FABRIC_FLOW_* */
	TCA_FABRIC_FLOW_WEIGHT_MILLI,	/* u32 role lan: of a flow, 1 to 8000 thousandths */
	TCA_FABRIC_ANEW,		/* flag: what is not here gets its default, but for line,
					 * shared buffer, switch, role and kinds of queue
					 */
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
	FABRIC_STAMP_LOAD,	/* largest load on the way: HPCC's utilisation */
	FABRIC_STAMP_POWER,	/* the same field with PowerTCP's power */
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
	TCA_FABRIC_CLASS_LIMIT_PACKETS,	/* u32 0: none */
	TCA_FABRIC_CLASS_QUEUE,		/* u8 FABRIC_QUEUE_*, when the port is made */
	TCA_FABRIC_CLASS_QUEUES,	/* u8 how many of FABRIC_QUEUE_HASH */
	TCA_FABRIC_CLASS_EACH_BYTES,	/* u32 of a packet, for the rate; 0: its own */
	__TCA_FABRIC_CLASS_MAX,
};

#define TCA_FABRIC_CLASS_MAX (__TCA_FABRIC_CLASS_MAX - 1)

enum {
	FABRIC_QUEUE_FIFO,
	FABRIC_QUEUE_ISOLATE,	/* a queue for each congestion root further down */
	FABRIC_QUEUE_PFC,	/* a fifo that pauses neighbours (IEEE 802.1Qbb) */
	FABRIC_QUEUE_HASH,	/* queues of flows that neighbours pause (BFC) */
	__FABRIC_QUEUE_MAX,
};

/* Most queues of FABRIC_QUEUE_HASH, and how many if nobody says. */
#define FABRIC_HASH_QUEUES_MAX		128
#define FABRIC_HASH_QUEUES_DEFAULT	32

/* Frames to and from the neighbour; a neighbour that is not trusted is not heard. */
#define FABRIC_FRAMES_NONE	0
#define FABRIC_FRAMES_TELL	1
#define FABRIC_FRAMES_HEAR	2
#define FABRIC_FRAMES_BOTH	3

enum {
	FABRIC_ECN_UNIT_BYTES,
	FABRIC_ECN_UNIT_NS,	/* queueing delay, at dequeue only */
};

/* Why a packet was dropped; also the attribute type inside STATS_DROPS. */
enum {
	FABRIC_DROP_UNSPEC,
	FABRIC_DROP_LIMIT,	/* the port's byte limit */
	FABRIC_DROP_SEGMENT,	/* a GSO packet that could not be split */
	FABRIC_DROP_BAND,	/* the band's limit of bytes or packets */
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
	TCA_FABRIC_STATS_BANDS_OMITTED,		/* flag: no room, ask classes */
	TCA_FABRIC_STATS_BORDER,		/* nest of u64, FABRIC_BORDER_* */
	TCA_FABRIC_STATS_FLOWS,			/* struct tc_fabric_flow[], seen last first */
	TCA_FABRIC_STATS_HASH,			/* nest of u64, FABRIC_HASH_* */
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

/* The state of a port's queues of flows. */
enum {
	FABRIC_HASH_UNSPEC,
	FABRIC_HASH_USED,	/* queues with packets */
	FABRIC_HASH_USED_MAX,	/* most at a time */
	FABRIC_HASH_HELD,	/* queues in which packets wait for a neighbour */
	FABRIC_HASH_HELD_BYTES,	/* what waits there */
	FABRIC_HASH_HELD_NS,	/* how long queues were held, in sum */
	FABRIC_HASH_HOLDS,	/* flows that the neighbour holds back now, with packets or not */
	FABRIC_HASH_SHARED,	/* flows that came while no queue was empty */
	FABRIC_HASH_EXPIRED,	/* groups of flows that nobody held back any longer */
	FABRIC_HASH_OVER,	/* packets that found too many in their queue */
	__FABRIC_HASH_MAX,
};

#define FABRIC_HASH_MAX (__FABRIC_HASH_MAX - 1)

/* The port of a border router (MLCC): none, to the long line, to the datacenter. */
enum {
	FABRIC_ROLE_NONE,
	FABRIC_ROLE_WAN,
	FABRIC_ROLE_LAN,
	__FABRIC_ROLE_MAX,
};

/* From what the queues' management aims at to what senders are told. */
enum {
	FABRIC_FLOW_FILTER,	/* a low-pass */
	FABRIC_FLOW_DAMPED,	/* the paper's token, against the rate that is told */
	FABRIC_FLOW_PRINTED,	/* the paper's token as printed */
	__FABRIC_FLOW_MAX,
};

/* What a border router has counted; that of all its ports. */
enum {
	FABRIC_BORDER_UNSPEC,
	FABRIC_BORDER_CONNS,	/* connections known now */
	FABRIC_BORDER_EVICTED,	/* forgotten for others */
	FABRIC_BORDER_QUEUED,	/* packets that had to wait in a connection's queue */
	FABRIC_BORDER_SHARED,	/* of them, in one that connections share */
	FABRIC_BORDER_UNQUEUED,	/* data that did not: no option, or no memory */
	FABRIC_BORDER_CREDITS,	/* loads of ACKs taken */
	FABRIC_BORDER_REFUSED,	/* not believed: of no data that left, or from elsewhere */
	FABRIC_BORDER_TOLD,	/* rates told */
	FABRIC_BORDER_NEAR_READ, /* loads of data for the other datacenter */
	FABRIC_BORDER_NEAR_TOLD, /* of them, told to senders */
	FABRIC_BORDER_MESSAGES,	/* of those, in messages of their own */
	FABRIC_BORDER_UNSENT,	/* messages not sent: too many, no memory, no way */
	FABRIC_BORDER_HOST_FULL, /* packets dropped: their host has its part of the port's limit */
	__FABRIC_BORDER_MAX,
};

#define FABRIC_BORDER_MAX (__FABRIC_BORDER_MAX - 1)

/**
 * struct tc_fabric_flow - a connection's queue at a port of role lan
 * @here: address of the host behind the port, IPv4 as ::ffff:a.b.c.d
 * @there: of the sender
 * @here_port: TCP port
 * @there_port: likewise
 * @backlog_bytes: waiting
 * @backlog_packets: waiting
 * @backlog_max_bytes: most that ever waited
 * @cross_ns: to the sender and back
 * @near_ns: to the host and back without queues, 0: not known
 * @flows_milli: queues of the host that wait, on average, thousandths
 * @reserved: 0
 * @host_bps: what the host's queues are emptied at together
 * @credit_bps: what one of them is
 * @tell_bps: what the sender is told
 */
struct tc_fabric_flow {
	__u8 here[16];
	__u8 there[16];
	__u16 here_port;
	__u16 there_port;
	__u32 backlog_bytes;
	__u32 backlog_packets;
	__u32 backlog_max_bytes;
	__u32 cross_ns;
	__u32 near_ns;
	__u32 flows_milli;
	__u32 reserved;
	__u64 host_bps;
	__u64 credit_bps;
	__u64 tell_bps;
};

/*
 * The telemetry option that FABRIC_STAMP_SOZE raises, Documentation/reference/telemetry.rst:
 *	kind 253 | length 8 | ExID be16 | delay be16 | echo be16
 * Delays are in units of 1 << SHIFT ns below COARSE (0.52 ms); each unit from COARSE on
 * is 1 << COARSE_SHIFT ns more (512 ns, 0.1 % at most), saturating at MAX (17.3 ms). The
 * larger number is the longer delay, so who raises it compares numbers.
 */
#define FL_TELEMETRY_KIND	253
#define FL_TELEMETRY_BYTES	8
#define FL_TELEMETRY_EXID	0x464c
#define FL_TELEMETRY_SHIFT	4
#define FL_TELEMETRY_COARSE	0x8000
#define FL_TELEMETRY_COARSE_SHIFT	9
#define FL_TELEMETRY_MAX	0xfffe
#define FL_TELEMETRY_NO_ECHO	0xffff	/* nothing to tell since the last one */

/*
 * The option that FABRIC_STAMP_LOAD and _POWER raise, of the same length and kind:
 *	kind 253 | length 8 | ExID be16 | forward be16 | reverse be16
 * forward: type:2 (OPEN, CLOSED) | rtt:4 | load:10;
 * reverse: type:2 (NONE, ECHO) | 0:4 | load:10, or type:2 (TELL) | rate:14.
 * load is exponent:3 | part:7 and means (128 + part) / 128 * 2^(exponent - 4): 1 is a
 * full line without a queue; 0 is that or less, MAX 15.9 or more. rtt says over what time
 * it is meant: 8192 ns << rtt. The larger number is the larger load.
 * rate is exponent:5 | part:9 and means (512 + part) << exponent bytes/s.
 * CLOSED and TELL are those of border routers (Documentation/design/mlcc.rst), on what goes to
 * the sender of the data.
 */
#define FL_LOAD_EXID		0x464d
#define FL_LOAD_MAX		0x3ff	/* also the mask of the field */
#define FL_LOAD_ONE		0x200	/* load 1 */
#define FL_LOAD_RTT_SHIFT	10
#define FL_LOAD_RTT_MAX		15
#define FL_LOAD_RTT_NS_SHIFT	13
#define FL_LOAD_TYPE_SHIFT	14
#define FL_LOAD_OPEN		0	/* forward: switches raise it */
#define FL_LOAD_CLOSED		2	/* forward: load up to the border, switches pass it on */
#define FL_LOAD_NONE		0	/* reverse: nothing has come since the last one */
#define FL_LOAD_ECHO		1
#define FL_LOAD_TELL		3	/* reverse: rate that the far border asks for */
#define FL_LOAD_TELL_MAX	0x3fff	/* also the mask of the field */

/*
 * A border router tells the sender of data the load up to the border in a message of its own
 * where no ACK takes it along: ICMP type 253 (RFC 4727) or ICMPv6 type 200 (RFC 4443), code 0,
 * and behind the checksum
 *	ExID be16 (FL_LOAD_EXID) | near be16, a forward word of type CLOSED
 * and then, as in errors, the IP header of the data and FL_NEAR_TCP_BYTES of its TCP header.
 */
#define FL_NEAR_ICMP_TYPE	253
#define FL_NEAR_ICMPV6_TYPE	200
#define FL_NEAR_BYTES		8	/* before the IP header */
#define FL_NEAR_TCP_BYTES	20

/* TCP-INT's option (p4app-TCP-INT v0.4), fields of which a switch writes:
 * byte 3 queue depth (0x80 | bytes / 8192), largest over the hops; byte 4 the
 * TTL seen there; bytes 5 to 7 sum of hop latencies in 256 ns.
 */
#define FL_TCP_INT_KIND		0x72
#define FL_TCP_INT_BYTES	12

/* ---- sch_fabric: generic netlink "fabric" ----------------------------------
 *
 * What changes something needs CAP_NET_ADMIN in the namespace; SWITCH_GET is a dump for
 * anybody. A switch comes with its first port and goes with the last.
 *
 * A table has the routes of all switches, so that a switch knows which ports packets pass
 * after it. TABLE_NEW begins one that nobody uses yet, TABLE_ADD tells it part by part, and
 * TABLE_USE puts it in the place of the one in use, if it is whole.
 */
#define FABRIC_GENL_NAME	"fabric"
#define FABRIC_GENL_VERSION	1
#define FABRIC_PORTS_MAX	64

enum {
	FABRIC_CMD_UNSPEC,
	FABRIC_CMD_SWITCH_GET,	/* dump: a message each switch, then each root */
	FABRIC_CMD_TABLE_NEW,	/* SWITCH, SIZES */
	FABRIC_CMD_TABLE_ADD,	/* SWITCH, PART, OFFSET, ENTRIES */
	FABRIC_CMD_TABLE_USE,	/* SWITCH */
	__FABRIC_CMD_MAX,
};

#define FABRIC_CMD_MAX (__FABRIC_CMD_MAX - 1)

enum {
	FABRIC_A_UNSPEC,
	FABRIC_A_PAD,
	FABRIC_A_SWITCH,	/* u32 */
	FABRIC_A_PORTS,		/* u64 set of ports in use */
	FABRIC_A_PATHS,		/* u32 destinations in the table */
	FABRIC_A_COUNTS,	/* nest of u64, FABRIC_COUNT_* */
	FABRIC_A_ROOT,		/* u64 switch << 16 | port: a congestion root */
	FABRIC_A_DISTANCE,	/* u8 hops to it, 0: a port of this switch */
	FABRIC_A_PARKING,	/* u64 set of ports that have a queue for it */
	FABRIC_A_PAUSED,	/* u64 set of those that wait */
	FABRIC_A_TOLD,		/* u64 set of ports whose neighbour knows of it */
	FABRIC_A_PAUSING,	/* u64 set of those whose neighbour is to wait */
	FABRIC_A_PARKED_PACKETS, /* u32 */
	FABRIC_A_SIZES,		/* struct fabric_table_sizes */
	FABRIC_A_PART,		/* u8 FABRIC_PART_* */
	FABRIC_A_OFFSET,	/* u32 first entry that is told */
	FABRIC_A_ENTRIES,	/* array of what the part has */
	FABRIC_A_DEVICES,	/* s32[]: the ports' devices, 0: none */
	__FABRIC_A_MAX,
};

#define FABRIC_A_MAX (__FABRIC_A_MAX - 1)

/**
 * struct fabric_table_sizes - how many entries the parts of a table have
 * @switches: switches
 * @prefixes: prefixes
 * @groups: groups
 * @vias: next hops
 */
struct fabric_table_sizes {
	__u32 switches;
	__u32 prefixes;
	__u32 groups;
	__u32 vias;
};

#define FABRIC_TABLE_MAX	65534	/* switches, prefixes, groups */
#define FABRIC_TABLE_VIAS_MAX	1048576
#define FABRIC_TABLE_ROUTES_MAX	16777216 /* switches times prefixes */

enum {
	FABRIC_PART_UNSPEC,
	FABRIC_PART_SWITCHES,	/* struct fabric_table_switch[], sorted by number */
	FABRIC_PART_PREFIXES,	/* struct fabric_table_prefix[], sorted: IPv4 first, then
				 * by address, the shorter of equal ones first
				 */
	FABRIC_PART_GROUPS,	/* struct fabric_table_group[] */
	FABRIC_PART_VIAS,	/* struct fabric_table_via[] */
	FABRIC_PART_ROUTES,	/* u16[]: group of each switch for each prefix, the first
				 * switch's first; FABRIC_TABLE_NONE: no route
				 */
	__FABRIC_PART_MAX,
};

#define FABRIC_PART_MAX (__FABRIC_PART_MAX - 1)
#define FABRIC_TABLE_NONE	0xffff

/**
 * struct fabric_table_switch - a switch
 * @id: its number, not 0
 * @seed: its net.ipv4.fib_multipath_hash_seed, 0: not known
 * @policy: its fib_multipath_hash_policy
 * @fields: its fib_multipath_hash_fields
 * @reserved: 0
 */
struct fabric_table_switch {
	__u32 id;
	__u32 seed;
	__u8 policy;
	__u8 fields;
	__u16 reserved;
};

/**
 * struct fabric_table_prefix - a destination
 * @addr: address; IPv4 in the first four bytes
 * @bits: length
 * @v6: 1: IPv6
 * @reserved: 0
 */
struct fabric_table_prefix {
	__u8 addr[16];
	__u8 bits;
	__u8 v6;
	__u16 reserved;
};

/**
 * struct fabric_table_group - next hops of equal cost, in the order of the kernel's route
 * @first: index of the first
 * @count: how many
 * @reserved: 0
 */
struct fabric_table_group {
	__u32 first;
	__u16 count;
	__u16 reserved;
};

/**
 * struct fabric_table_via - a next hop
 * @port: port that leads there
 * @to: index of the switch behind it, FABRIC_TABLE_NONE: a host
 * @weight: of the kernel's next hop, 1 to 256
 * @reserved: 0
 */
struct fabric_table_via {
	__u16 port;
	__u16 to;
	__u16 weight;
	__u16 reserved;
};

enum {
	FABRIC_COUNT_UNSPEC,
	FABRIC_COUNT_PAUSE,	/* frames sent */
	FABRIC_COUNT_RESUME,
	FABRIC_COUNT_MERGE,
	FABRIC_COUNT_RELEASE,
	FABRIC_COUNT_HEARD,	/* frames obeyed */
	FABRIC_COUNT_REFUSED,	/* frames of no meaning here, or not allowed */
	FABRIC_COUNT_NOMINATED,	/* a port became a root */
	FABRIC_COUNT_MERGED,	/* such a port gave way to one further down */
	FABRIC_COUNT_ASSIGNED,	/* queues given to roots */
	FABRIC_COUNT_RELEASED,	/* queues taken back */
	FABRIC_COUNT_SHARED,	/* queues given that others had */
	FABRIC_COUNT_EXPIRED,	/* pauses that nobody repeated */
	FABRIC_COUNT_FORGOTTEN,	/* neighbours that never answered */
	FABRIC_COUNT_FULL,	/* roots without room */
	FABRIC_COUNT_ISOLATED,	/* packets parked */
	FABRIC_COUNT_ROOTS_MAX,	/* most roots at a time */
	FABRIC_COUNT_QUEUES_MAX, /* most queues in use at a port */
	FABRIC_COUNT_NO_PATH,	/* packets whose path nobody told */
	FABRIC_COUNT_PFC_PAUSE,	/* frames of IEEE 802.1Qbb sent: wait */
	FABRIC_COUNT_PFC_RESUME, /* and go on */
	FABRIC_COUNT_PFC_HEARD,	/* such frames obeyed */
	FABRIC_COUNT_FORETOLD,	/* packets that left while there were roots, and of which
				 * the table tells by which port
				 */
	FABRIC_COUNT_MISTOLD,	/* those of them that left by another port */
	FABRIC_COUNT_HASH_PAUSE, /* flows of queue hash that neighbours were told to hold back */
	FABRIC_COUNT_HASH_RESUME, /* and to let go on */
	FABRIC_COUNT_HASH_SENT,	/* frames that told so, repeated ones too */
	FABRIC_COUNT_HASH_HEARD, /* such frames obeyed */
	FABRIC_COUNT_HASH_EXPIRED, /* groups of flows that nobody held back any longer */
	FABRIC_COUNT_HASH_HELD_NS, /* how long queues were held, in sum */
	FABRIC_COUNT_HASH_USED_MAX, /* most queues with packets at a port */
	__FABRIC_COUNT_MAX,
};

#define FABRIC_COUNT_MAX (__FABRIC_COUNT_MAX - 1)

#endif /* TCA_FABRIC_MAX */

/* ---- credit-driven controls: an option in TCP headers -----------------------
 *
 * The first option of the header, Documentation/design/credit.rst:
 *	kind 253 | length 8 or 12 | ExID be16 | type:4 value:28 be32 | more be32
 * Types with a length of 12 have "more". Small packets are TCP segments without
 * data that the receiving host takes out before its TCP sees them.
 */
#ifndef FL_CREDIT_KIND

#define FL_CREDIT_KIND		253
#define FL_CREDIT_EXID		0x4658
#define FL_CREDIT_SHORT_BYTES	8
#define FL_CREDIT_LONG_BYTES	12

enum fl_credit_type {
	FL_CREDIT_REQUEST = 1,	/* small, to the receiver: what there is to send */
	FL_CREDIT_GRANT,	/* small, to the sender: heard, credit will come */
	FL_CREDIT_CREDIT,	/* small, to the sender: a credit */
	FL_CREDIT_GREEN,	/* on data that a credit pays for */
	FL_CREDIT_RED,		/* on data that none does */
	FL_CREDIT_SEEN,		/* on what goes to the sender: red data seen so far */
};

/* Fields. REQUEST, GREEN: part:1 of value | 0:5 | number:22; more is
 * 0:2 reds:14 | backlog:16. GRANT, CREDIT: segments - 1:6 | number:22.
 * RED, SEEN: reds:14 | marks:14.
 */
#define FL_CREDIT_PART		0x08000000U
#define FL_CREDIT_SEGS_SHIFT	22
#define FL_CREDIT_SEGS_MAX	64
#define FL_CREDIT_NUMBER_BITS	22
#define FL_CREDIT_NUMBER_MASK	0x3fffffU
#define FL_CREDIT_REDS_MASK	0x3fffU
#define FL_CREDIT_BACKLOG_MAX	0xffffU	/* segments: that or more */

/* DSCPs, from net.fairlane.research.credit_dscp (40) on. */
enum fl_credit_colour {
	FL_CREDIT_DSCP_CREDIT,
	FL_CREDIT_DSCP_GREEN,	/* data that a credit pays for */
	FL_CREDIT_DSCP_RED,	/* data that none does */
	FL_CREDIT_DSCP_CONTROL,	/* requests, ACKs */
	FL_CREDIT_DSCPS,
};

#endif /* FL_CREDIT_KIND */

/* ---- sockets: setsockopt(), getsockopt() ---------------------------------
 *
 * Level IPPROTO_IP on any TCP socket; on AF_INET6 sockets IPPROTO_IPV6 too. A
 * value is a __u32 in host order; a length of 0 takes a setting back. Reading
 * gives the value in force and needs no privilege. Documentation/reference/control.rst has
 * the errors.
 */
#ifndef FL_GENL_NAME

#define FL_SO_PRIORITY		20560	/* virtual priority, FL_PRIORITY_MAX is best */
#define FL_SO_WEIGHT		20561	/* thousandths, FL_WEIGHT_MIN_MILLI .. MAX */
#define FL_SO_BASE_RTT_NS	20562	/* RTT without queues */
#define FL_SO_LINE_RATE_MBPS	20563	/* of the bottleneck */
#define FL_SO_DEADLINE_US	20564	/* from the start of a message */
#define FL_SO_INFO		20565	/* get only: struct fl_info */
#define FL_SO_END		20566

#define FL_PRIORITY_MAX		15
#define FL_WEIGHT_MIN_MILLI	1
#define FL_WEIGHT_ONE_MILLI	1000	/* what a socket has that was told nothing */
#define FL_WEIGHT_MAX_MILLI	1000000
/* Without CAP_NET_ADMIN a deadline needs a ceiling of weights (FL_A_LIMIT_WEIGHT_MAX_MILLI)
 * of at least that; base RTT and line rate need CAP_NET_ADMIN in any case.
 */
#define FL_DEADLINE_WEIGHT_MILLI 2000
#define FL_BASE_RTT_MIN_NS	100
#define FL_BASE_RTT_MAX_NS	1000000000U
#define FL_LINE_RATE_MIN_MBPS	1
#define FL_LINE_RATE_MAX_MBPS	1600000
#define FL_DEADLINE_MIN_US	1
#define FL_DEADLINE_MAX_US	1000000000U

/* The settings of a socket, as in FL_EVENT_ATTR and FL_A_EVENT_WHAT. */
enum fl_setting_id {
	FL_SET_PRIORITY,
	FL_SET_WEIGHT,
	FL_SET_BASE_RTT,
	FL_SET_LINE_RATE,
	FL_SET_DEADLINE,
	__FL_SET_COUNT,
};

/* Where a number comes from. */
enum fl_from {
	FL_FROM_DEFAULT,	/* built in */
	FL_FROM_SO_PRIORITY,	/* sk_priority: SO_PRIORITY, IP_TOS */
	FL_FROM_SOCKOPT,	/* the socket's own options above */
	FL_FROM_NETLINK,	/* FL_CMD_FLOW_SET */
	FL_FROM_LISTENER,	/* inherited by accept() */
	FL_FROM_POLICY,		/* FL_CMD_POLICY_ADD */
	FL_FROM_NETNS,		/* the namespace's settings (sysctl) */
	FL_FROM_PROFILE,	/* a profile of the destination's prefix */
	FL_FROM_DEVICE,		/* what the network device tells */
	FL_FROM_MEASURED,	/* the flow has seen it */
	FL_FROM_DERIVED,	/* computed from others */
	FL_FROM_LIMIT,		/* what the limits left of it */
	FL_FROM_ASSUMED,	/* nobody knows: a guess, for want of better */
	__FL_FROM_COUNT,
};

/* What a flow does. */
enum fl_state {
	FL_STATE_NONE,		/* the congestion control is not one of ours */
	FL_STATE_START,		/* nothing sent or measured yet */
	FL_STATE_SENDING,
	FL_STATE_STOPPED,	/* PrioPlus: yields to higher priorities, probes */
	FL_STATE_FALLBACK,	/* no probes or no telemetry: goes without */
	__FL_STATE_COUNT,
};

/* fl_info.flags */
#define FL_INFO_PROBES		0x1	/* the path answers probes */
#define FL_INFO_TELEMETRY	0x2	/* telemetry arrives */
#define FL_INFO_TELEMETRY_SENT	0x4	/* ... and is offered to the peer */
#define FL_INFO_APP_LIMITED	0x8	/* the application limits the rate */
#define FL_INFO_LISTENER	0x10	/* settings for accepted sockets */
#define FL_INFO_OWD		0x20	/* one-way delay by telemetry, not RTT */
#define FL_INFO_OPEN		0x40	/* PrioPlus: silent for a second, so an ordinary control */
#define FL_INFO_OFF		0x80	/* net.fairlane.off took its control away */

/**
 * struct fl_info - what a socket does and why (FL_SO_INFO)
 * @size_bytes: bytes that the kernel has filled; later versions append
 * @flags: FL_INFO_*
 * @cookie: names the socket (SO_COOKIE, inet_diag)
 * @cc: congestion control
 * @state: enum fl_state
 * @priority: virtual priority in force
 * @priority_from: enum fl_from; so are the others named _from
 * @weight_from: of @weight_milli
 * @base_rtt_from: of @base_rtt_ns
 * @line_rate_from: of @line_rate_mbps
 * @deadline_from: of @deadline_us
 * @hops: links of the path by the peer's TTL, 0: not known (swift with
 *	net.fairlane.research.swift_hop_ns)
 * @weight_milli: weight in force, thousandths
 * @base_rtt_ns: RTT of a full packet without queues, 0: not known
 * @line_rate_mbps: of the bottleneck
 * @deadline_us: 0: none
 * @flows_milli: estimated flows in the channel, thousandths, 0: none
 * @delay_ns: newest RTT sample, in whole us of a control that keeps none itself;
 *	0: none
 * @target_ns: delay steered to, base RTT included, 0: none
 * @limit_ns: delay above which the flow stops, 0: never
 * @queue_ns: newest largest queueing delay on the path by telemetry
 * @target_queue_ns: Soeze: queueing delay that its rate asks for
 * @window_milli: congestion window, thousandths of a packet, 0: stopped
 * @rate_bps: window in a base RTT, payload bit/s
 * @stops: times that the flow has stopped
 * @probes: probes sent
 * @probe_echoes: probes answered
 * @probe_losses: probes that were not
 * @watchdogs: times that the watchdog had to ask
 * @telemetry_rx: ACKs with telemetry
 * @telemetry_bad: telemetry options that were malformed
 * @updates: Soeze: decisions
 * @policy: order of the policy that the settings come from, 0: none
 * @opens: PrioPlus: times that a silent flow found its settings wrong, or was an
 *	ordinary control for want of better
 * @credits: credits that came (expresspass, flexpass)
 * @credits_wasted: of those, the ones for which there was nothing to send
 * @paid_segs: segments that credits have paid for: green ones
 * @unpaid_segs: segments that left without credit: red ones
 * @requests: requests for credit
 * @credit_segs: segments that a credit pays for, 0: not known
 * @held_ns: PrioPlus: the path was found to hold packets for up to this without a queue, 0: it
 *	was not
 * @reserved: 0
 */
struct fl_info {
	__u32 size_bytes;
	__u32 flags;
	__u64 cookie;
	char  cc[16];
	__u8  state;
	__u8  priority;
	__u8  priority_from;
	__u8  weight_from;
	__u8  base_rtt_from;
	__u8  line_rate_from;
	__u8  deadline_from;
	__u8  hops;
	__u32 weight_milli;
	__u32 base_rtt_ns;
	__u32 line_rate_mbps;
	__u32 deadline_us;
	__u32 flows_milli;
	__u32 delay_ns;
	__u32 target_ns;
	__u32 limit_ns;
	__u32 queue_ns;
	__u32 target_queue_ns;
	__u64 window_milli;
	__u64 rate_bps;
	__u64 stops;
	__u64 probes;
	__u64 probe_echoes;
	__u64 probe_losses;
	__u64 watchdogs;
	__u64 telemetry_rx;
	__u64 telemetry_bad;
	__u64 updates;
	__u32 policy;
	__u32 opens;
	__u64 credits;
	__u64 credits_wasted;
	__u64 paid_segs;
	__u64 unpaid_segs;
	__u32 requests;
	__u32 credit_segs;
	__u32 held_ns;
	__u32 reserved;
};

/* ---- inet_diag: state in 20 bytes, without privilege -----------------------
 *
 * A congestion control may answer a socket dump with one attribute. If the
 * request's idiag_ext has the bit FL_DIAG_EXT (that of INET_DIAG_SHUTDOWN, which
 * nobody else sets since the kernel answers that one always) ours answer with
 * this one, else as net.fairlane.research.ss_compat says.
 */
#define FL_DIAG_ATTR		0x3f46
#define FL_DIAG_EXT		0x80
#define FL_DIAG_VERSION		1

/**
 * struct fl_diag - the essence of struct fl_info
 * @version: FL_DIAG_VERSION
 * @state: enum fl_state
 * @priority: virtual priority in force
 * @priority_from: enum fl_from
 * @weight_milli: weight in force, thousandths
 * @base_rtt_ns: 0: not known
 * @delay_ns: newest RTT sample, 0: none
 * @flows_q4: estimated flows, sixteenths, saturating; 0: not estimated
 * @queue_us: Soeze: newest largest queueing delay, saturating
 */
struct fl_diag {
	__u8  version;
	__u8  state;
	__u8  priority;
	__u8  priority_from;
	__u32 weight_milli;
	__u32 base_rtt_ns;
	__u32 delay_ns;
	__u16 flows_q4;
	__u16 queue_us;
};

/* ---- generic netlink: family "fairlane" -----------------------------------
 *
 * Documentation/netlink/specs/fairlane.yaml says the same. u64 attributes are
 * aligned, by an attribute _PAD before them, where the processor needs it.
 * Reading needs no privilege; writing needs CAP_NET_ADMIN in the user namespace
 * of the network namespace, except FLOW_SET on one's own sockets within the
 * limits. Listening to events needs CAP_NET_ADMIN too: they tell who does what.
 */
#define FL_GENL_NAME		"fairlane"
#define FL_GENL_VERSION		1
#define FL_GENL_MCGRP_EVENTS	"events"

enum {
	FL_CMD_UNSPEC,
	FL_CMD_FLOW_GET,	/* one by cookie or tuple; dump with filters */
	FL_CMD_FLOW_SET,	/* by cookie or tuple */
	FL_CMD_POLICY_GET,	/* one by order; dump in order */
	FL_CMD_POLICY_ADD,	/* answers with the policy as stored */
	FL_CMD_POLICY_DEL,	/* by order; all with FL_A_POLICY_ALL */
	FL_CMD_POLICY_APPLY,	/* to live sockets; answers with counts */
	FL_CMD_PROFILE_GET,	/* one by prefix, the namespace's without; dump */
	FL_CMD_PROFILE_SET,	/* likewise; creates */
	FL_CMD_PROFILE_DEL,	/* by prefix */
	FL_CMD_LIMIT_GET,
	FL_CMD_LIMIT_SET,
	FL_CMD_BUDGET_GET,	/* dump: who has what, who uses what */
	FL_CMD_BUDGET_SET,	/* of a uid or a cgroup */
	FL_CMD_BUDGET_DEL,
	FL_CMD_STATS_GET,
	FL_CMD_EVENT,		/* multicast only */
	__FL_CMD_MAX,
};

#define FL_CMD_MAX (__FL_CMD_MAX - 1)

/* FLOW_*. Ports are big endian, addresses 4 or 16 bytes, v4-mapped ones 4. */
enum {
	FL_A_FLOW_UNSPEC,
	FL_A_FLOW_PAD,
	FL_A_FLOW_COOKIE,		/* u64 */
	FL_A_FLOW_FAMILY,		/* u8 AF_INET, AF_INET6 */
	FL_A_FLOW_LADDR,		/* binary, local */
	FL_A_FLOW_RADDR,		/* binary, remote */
	FL_A_FLOW_LPORT,		/* u16 be */
	FL_A_FLOW_RPORT,		/* u16 be, 0: the listener */
	FL_A_FLOW_IFINDEX,		/* u32 sk_bound_dev_if, 0: any */
	FL_A_FLOW_TCP_STATE,		/* u8 TCP_ESTABLISHED = 1, ... */
	FL_A_FLOW_UID,			/* u32 as the reader's user namespace sees it */
	FL_A_FLOW_CC,			/* string */
	FL_A_FLOW_PRIORITY,		/* u32 in force; FLOW_SET: to be */
	FL_A_FLOW_WEIGHT_MILLI,		/* u32 likewise */
	FL_A_FLOW_BASE_RTT_NS,		/* u32 likewise */
	FL_A_FLOW_LINE_RATE_MBPS,	/* u32 likewise */
	FL_A_FLOW_DEADLINE_US,		/* u32 likewise */
	FL_A_FLOW_PRIORITY_FROM,	/* u8 enum fl_from */
	FL_A_FLOW_WEIGHT_FROM,		/* u8 */
	FL_A_FLOW_BASE_RTT_FROM,	/* u8 */
	FL_A_FLOW_LINE_RATE_FROM,	/* u8 */
	FL_A_FLOW_DEADLINE_FROM,	/* u8 */
	FL_A_FLOW_POLICY,		/* u32 order of the policy, absent: none */
	FL_A_FLOW_STATE,		/* u8 enum fl_state */
	FL_A_FLOW_FLAGS,		/* u32 FL_INFO_* */
	FL_A_FLOW_FLOWS_MILLI,		/* u32; these are those of struct fl_info */
	FL_A_FLOW_DELAY_NS,		/* u32 */
	FL_A_FLOW_TARGET_NS,		/* u32 */
	FL_A_FLOW_LIMIT_NS,		/* u32 */
	FL_A_FLOW_QUEUE_NS,		/* u32 */
	FL_A_FLOW_TARGET_QUEUE_NS,	/* u32 */
	FL_A_FLOW_WINDOW_MILLI,		/* u64 */
	FL_A_FLOW_RATE_BPS,		/* u64 */
	FL_A_FLOW_STOPS,		/* u64 */
	FL_A_FLOW_PROBES,		/* u64 */
	FL_A_FLOW_PROBE_ECHOES,		/* u64 */
	FL_A_FLOW_PROBE_LOSSES,		/* u64 */
	FL_A_FLOW_WATCHDOGS,		/* u64 */
	FL_A_FLOW_TELEMETRY_RX,		/* u64 */
	FL_A_FLOW_TELEMETRY_BAD,	/* u64 */
	FL_A_FLOW_UPDATES,		/* u64 */
	FL_A_FLOW_HOPS,			/* u8 */
	FL_A_FLOW_CREDITS,		/* u64 */
	FL_A_FLOW_CREDITS_WASTED,	/* u64 */
	FL_A_FLOW_PAID_SEGS,		/* u64 */
	FL_A_FLOW_UNPAID_SEGS,		/* u64 */
	FL_A_FLOW_REQUESTS,		/* u32 */
	FL_A_FLOW_CREDIT_SEGS,		/* u32 */
	FL_A_FLOW_OPENS,		/* u32 */
	FL_A_FLOW_UNSET,		/* u32 FLOW_SET: take back, bits of fl_setting_id */
	FL_A_FLOW_HAD_CC,		/* string, with FL_INFO_OFF: what it had before */
	FL_A_FLOW_HELD_NS,		/* u32 */
	__FL_A_FLOW_MAX,
};

#define FL_A_FLOW_MAX (__FL_A_FLOW_MAX - 1)

/* When a policy acts; FL_A_POLICY_WHEN. */
#define FL_WHEN_CONNECT		0x1
#define FL_WHEN_ACCEPT		0x2

/* Attributes of POLICY_*. Policies are tried in their order, the first that
 * matches decides. All conditions given must hold; none: any socket.
 */
enum {
	FL_A_POLICY_UNSPEC,
	FL_A_POLICY_PAD,
	FL_A_POLICY_ORDER,		/* u32 from 1, names the policy; ADD without: last */
	FL_A_POLICY_WHEN,		/* u32 FL_WHEN_*, default both */
	FL_A_POLICY_FAMILY,		/* u8 of the prefixes, or alone */
	FL_A_POLICY_LADDR,		/* binary, local prefix */
	FL_A_POLICY_LADDR_BITS,		/* u8 default: all */
	FL_A_POLICY_RADDR,		/* binary, remote prefix */
	FL_A_POLICY_RADDR_BITS,		/* u8 */
	FL_A_POLICY_LPORT_MIN,		/* u16 host order */
	FL_A_POLICY_LPORT_MAX,		/* u16 default: MIN */
	FL_A_POLICY_RPORT_MIN,		/* u16 */
	FL_A_POLICY_RPORT_MAX,		/* u16 */
	FL_A_POLICY_UID_MIN,		/* u32 owner of the socket */
	FL_A_POLICY_UID_MAX,		/* u32 default: MIN */
	FL_A_POLICY_CGROUP,		/* string, path in cgroup v2; with its children */
	FL_A_POLICY_CGROUP_ID,		/* u64 the same by its inode */
	FL_A_POLICY_CC,			/* string */
	FL_A_POLICY_PRIORITY,		/* u32 what matching sockets get; at least one */
	FL_A_POLICY_WEIGHT_MILLI,	/* u32 */
	FL_A_POLICY_BASE_RTT_NS,	/* u32 */
	FL_A_POLICY_LINE_RATE_MBPS,	/* u32 */
	FL_A_POLICY_DEADLINE_US,	/* u32 */
	FL_A_POLICY_HITS,		/* u64 sockets that it decided for */
	FL_A_POLICY_ALL,		/* flag: POLICY_DEL all */
	FL_A_POLICY_EXAMINED,		/* u32 answer to POLICY_APPLY: sockets */
	FL_A_POLICY_CHANGED,		/* u32 ... whose settings it changed */
	FL_A_POLICY_COMMENT,		/* string, for people */
	FL_A_POLICY_REPLACE,		/* flag: POLICY_ADD may replace that order */
	FL_A_POLICY_DSCP,		/* u8 0 to 63: the socket's own, in its packets */
	__FL_A_POLICY_MAX,
};

#define FL_A_POLICY_MAX (__FL_A_POLICY_MAX - 1)
#define FL_POLICY_COUNT_MAX	4096
#define FL_COMMENT_LEN		64	/* with the final 0 */

/* Attributes of PROFILE_*. A profile has the settings of net.fairlane.*
 * (Documentation/reference/sysctl.rst) by their names; the one without prefix is the
 * namespace's and is what the sysctls show. A profile with a prefix takes
 * what it does not set from there. The longest prefix wins.
 */
enum {
	FL_A_PROFILE_UNSPEC,
	FL_A_PROFILE_PAD,
	FL_A_PROFILE_FAMILY,		/* u8 */
	FL_A_PROFILE_ADDR,		/* binary, prefix of the remote address */
	FL_A_PROFILE_BITS,		/* u8 */
	FL_A_PROFILE_SETTING,		/* nest of FL_A_SETTING_*, many */
	FL_A_PROFILE_FLOWS,		/* u32 flows that use it now */
	__FL_A_PROFILE_MAX,
};

#define FL_A_PROFILE_MAX (__FL_A_PROFILE_MAX - 1)
#define FL_PROFILE_COUNT_MAX	1024

enum {
	FL_A_SETTING_UNSPEC,
	FL_A_SETTING_NAME,		/* string, "base_rtt_ns" */
	FL_A_SETTING_VALUE,		/* u32; PROFILE_SET without: back to default */
	FL_A_SETTING_FROM,		/* u8 enum fl_from: DEFAULT, NETNS, PROFILE */
	FL_A_SETTING_DEFAULT,		/* u32 */
	FL_A_SETTING_LOWEST,		/* u32 */
	FL_A_SETTING_HIGHEST,		/* u32 */
	FL_A_SETTING_RESEARCH,		/* flag: for researchers, not for operators */
	__FL_A_SETTING_MAX,
};

#define FL_A_SETTING_MAX (__FL_A_SETTING_MAX - 1)

/* Attributes of LIMIT_*: what users without CAP_NET_ADMIN may set. */
enum {
	FL_A_LIMIT_UNSPEC,
	FL_A_LIMIT_PRIORITY_MAX,	/* u32 default FL_LIMIT_PRIORITY */
	FL_A_LIMIT_WEIGHT_MAX_MILLI,	/* u32 default FL_LIMIT_WEIGHT_MILLI */
	FL_A_LIMIT_BUDGET_UID_MILLI,	/* u32 of each uid that has no own, 0: none */
	__FL_A_LIMIT_MAX,
};

#define FL_A_LIMIT_MAX (__FL_A_LIMIT_MAX - 1)
#define FL_LIMIT_PRIORITY	6	/* as SO_PRIORITY allows without privilege */
#define FL_LIMIT_WEIGHT_MILLI	10000

/* Attributes of BUDGET_*: sum of the weights of a uid's or cgroup's sockets. */
enum {
	FL_A_BUDGET_UNSPEC,
	FL_A_BUDGET_PAD,
	FL_A_BUDGET_UID,		/* u32, or a cgroup: */
	FL_A_BUDGET_CGROUP,		/* string, path in cgroup v2; with its children */
	FL_A_BUDGET_CGROUP_ID,		/* u64 */
	FL_A_BUDGET_MILLI,		/* u32 0: none of its own */
	FL_A_BUDGET_USED_MILLI,		/* u64 */
	FL_A_BUDGET_FLOWS,		/* u32 sockets that are counted */
	__FL_A_BUDGET_MAX,
};

#define FL_A_BUDGET_MAX (__FL_A_BUDGET_MAX - 1)
#define FL_BUDGET_COUNT_MAX	4096	/* set ones; more: -ENOSPC */

/* Answer to STATS_GET: counters since the namespace began, u64. */
enum {
	FL_A_STAT_UNSPEC,
	FL_A_STAT_PAD,
	FL_A_STAT_FLOWS,		/* sockets known now */
	FL_A_STAT_FLOWS_CC,		/* ... with one of our congestion controls */
	FL_A_STAT_CREATED,
	FL_A_STAT_NOMEM,		/* sockets that got no room: defaults */
	FL_A_STAT_CHANGES,		/* settings changed, by anybody */
	FL_A_STAT_INHERITED,		/* sockets that took over a listener's */
	FL_A_STAT_POLICY_HITS,
	FL_A_STAT_REFUSED_RANGE,	/* EINVAL */
	FL_A_STAT_REFUSED_CEILING,	/* EPERM */
	FL_A_STAT_REFUSED_BUDGET,	/* EDQUOT */
	FL_A_STAT_REFUSED_OWNER,	/* EPERM: somebody else's socket */
	FL_A_STAT_EVENTS,		/* sequence number of the last event */
	FL_A_STAT_EVENTS_LOST,		/* no memory; slow readers see a gap */
	FL_A_STAT_VERSION,		/* string: of fairlane.ko */
	FL_A_STAT_OFF,			/* net.fairlane.off: 0 or 1 */
	FL_A_STAT_OFF_FLOWS,		/* sockets whose control was taken away */
	FL_A_STAT_OFF_WAITING,		/* ... whose owner keeps us from doing that, now */
	FL_A_STAT_SHARE,		/* net.fairlane.share_permille: 1 to 1000 */
	__FL_A_STAT_MAX,
};

#define FL_A_STAT_MAX (__FL_A_STAT_MAX - 1)

enum fl_event_kind {
	FL_EVENT_ATTR,			/* a socket's setting: WHAT is enum fl_setting_id */
	FL_EVENT_REFUSED,		/* ... was refused, ERROR says why */
	FL_EVENT_POLICY_ADD,		/* WHAT is its order */
	FL_EVENT_POLICY_DEL,
	FL_EVENT_PROFILE,		/* NAME, OLD, NEW */
	FL_EVENT_LIMIT,			/* WHAT is FL_A_LIMIT_* */
	FL_EVENT_BUDGET,		/* of UID_OF or CGROUP_ID */
	__FL_EVENT_COUNT,
};

/* Attributes of FL_CMD_EVENT. SEQ goes up by one for each event of the namespace:
 * a gap is an event that this reader did not get. Of the events of one owner's sockets
 * at most FL_EVENT_RATE a second are sent, so that nobody hides what others do behind
 * his own. The settings are in force when the event is sent.
 */
#define FL_EVENT_RATE	4096

enum {
	FL_A_EVENT_UNSPEC,
	FL_A_EVENT_PAD,
	FL_A_EVENT_SEQ,			/* u64 from 1 */
	FL_A_EVENT_TIME_NS,		/* u64 CLOCK_REALTIME */
	FL_A_EVENT_KIND,		/* u8 enum fl_event_kind */
	FL_A_EVENT_WHAT,		/* u32 see the kind */
	FL_A_EVENT_OLD,			/* u32 in force before */
	FL_A_EVENT_NEW,			/* u32 in force now; REFUSED: asked for */
	FL_A_EVENT_OLD_FROM,		/* u8 enum fl_from */
	FL_A_EVENT_NEW_FROM,		/* u8: also the reason */
	FL_A_EVENT_UID,			/* u32 who did it; absent in softirq */
	FL_A_EVENT_PID,			/* u32 likewise; in a network namespace of another
					 * user namespace than the first: as it sees itself
					 */
	FL_A_EVENT_COMM,		/* string likewise */
	FL_A_EVENT_ERROR,		/* u32 positive errno */
	FL_A_EVENT_COOKIE,		/* u64 the socket */
	FL_A_EVENT_FAMILY,		/* u8 */
	FL_A_EVENT_LADDR,		/* binary */
	FL_A_EVENT_RADDR,		/* binary */
	FL_A_EVENT_LPORT,		/* u16 be */
	FL_A_EVENT_RPORT,		/* u16 be */
	FL_A_EVENT_OWNER,		/* u32 uid of the socket */
	FL_A_EVENT_CC,			/* string */
	FL_A_EVENT_POLICY,		/* u32 order of the policy that did it */
	FL_A_EVENT_NAME,		/* string: of a profile's setting */
	FL_A_EVENT_UID_OF,		/* u32 whose budget */
	FL_A_EVENT_CGROUP_ID,		/* u64 whose budget */
	FL_A_EVENT_BITS,		/* u8 of a profile's prefix, which is RADDR */
	__FL_A_EVENT_MAX,
};

#define FL_A_EVENT_MAX (__FL_A_EVENT_MAX - 1)

#endif /* FL_GENL_NAME */

#endif /* _UAPI_LINUX_FAIRLANE_H */
