/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric: what its files share.
 *
 *	enqueue -> fabric_main.c: segment GSO packets, find band and colour
 *	        -> fabric_fast.h: room (fabric_switch.c), marking, queue
 *	dequeue <- fabric_fast.h: order of service, fabric_stamp.c
 *	        <- fabric_line.c: line of a set rate, delay; at once if no rate
 *
 * Files call only what is below them in this list, or inline functions:
 *
 *	fabric_main.c		arrival, departure, the qdisc's life
 *	fabric_class.c		bands as classes
 *	fabric_config.c		settings of the port
 *	fabric_genl.c		switches over generic netlink
 *	fabric_isolate.c	isolation queues
 *	fabric_flows.c		border routers: packets
 *	fabric_border.c		border routers: ports, tables
 *	fabric_tell.c		border routers: messages to senders
 *	fabric_band_config.c	settings of a band
 *	fabric_stats.c		what was counted
 *	fabric_line.c		the line
 *	fabric_stamp.c		telemetry
 *	fabric_band.c		which band, marking, rates of bands
 *	fabric_pfc.c		pauses of whole bands
 *	fabric_hash.c		queues of flows
 *	fabric_switch.c		the shared buffer
 *
 * Everything here is called with the qdisc's root lock held unless it says
 * otherwise.
 */
#ifndef FABRIC_H
#define FABRIC_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <linux/fairlane.h>

#include "compat/compat.h"
#include "core/aqm.h"
#include "core/line.h"
#include "core/load.h"
#include "core/meter.h"
#include "core/order.h"
#include "core/pyrrha.h"

/* Defaults and limits of settings: no part of the ABI, policies tell them. */
#define FABRIC_LIMIT_DEFAULT_BYTES	1048576U
#define FABRIC_RATE_MIN_BPS		1000ULL
#define FABRIC_RATE_MAX_BPS		10000000000000ULL
#define FABRIC_OVERHEAD_MAX_BYTES	1024
#define FABRIC_MPU_MAX_BYTES		2048
#define FABRIC_QUANTUM_MIN_BYTES	256
#define FABRIC_QUANTUM_MAX_BYTES	1048576U
#define FABRIC_WEIGHT_MAX		256
#define FABRIC_BURST_MAX_BYTES		16777216U
/* Of a packet that counts as so many bytes for a rate. */
#define FABRIC_EACH_MAX_BYTES		9216U
#define FABRIC_ALPHA_MAX_MILLI		1000000	/* thousandths: 1000 */
#define FABRIC_STAMP_TIME_MAX_NS	1000000000U
#define FABRIC_STAMP_ROUND_MAX_NS	65536U
#define FABRIC_FLOW_WAIT_DEFAULT_NS	1000000U
#define FABRIC_FLOW_WEIGHT_DEFAULT_MILLI	1000U
#define FABRIC_FLOW_WEIGHT_MAX_MILLI		8000U

/**
 * struct fabric_hash_cb - of a packet in queues of flows
 * @flow: its flow, see core/bfc.h
 * @in: port by which it came, if it is one too many of the flow there; else PYR_NONE
 */
struct fabric_hash_cb {
	u16 flow;
	u8 in;
};

/**
 * struct fabric_cb - what a packet carries while the qdisc holds it
 * @enqueue_ns: arrival, CLOCK_MONOTONIC; first, since the lab's recorder reads it
 * @deliver_ns: departure from the delay line, once on the line
 * @pyr: where it is parked; a port that isolates has no line
 * @way: its flow's place at the port, while it is parked
 * @hash: of queues of flows, before the packet is on the line
 * @band: its band
 * @colour: its colour
 * @untimed: came from a band's own qdisc, which uses this space itself
 */
struct fabric_cb {
	u64 enqueue_ns;
	union {
		u64 deliver_ns;
		struct {
			struct pyr_packet pyr;
			u16 way;
		};
		struct fabric_hash_cb hash;
	};
	u8 band;
	u8 colour;
	u8 untimed;
} __packed __aligned(4);

/* The packet's private part of the control block. */
static inline struct fabric_cb *fabric_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct fabric_cb));
	return (struct fabric_cb *)qdisc_skb_cb(skb)->data;
}

/**
 * struct fabric_fifo - packets in order of arrival
 * @head: first packet, NULL if none
 * @tail: last packet, valid if there is a first
 * @packets: how many
 * @bytes: sum of their lengths
 */
struct fabric_fifo {
	struct sk_buff *head;
	struct sk_buff *tail;
	u32 packets;
	u32 bytes;
};

/* Appends a packet of @len bytes (the caller has them in a register). */
static inline void fabric_fifo_push(struct fabric_fifo *fifo,
				    struct sk_buff *skb, u32 len)
{
	skb->next = NULL;
	if (fifo->head)
		fifo->tail->next = skb;
	else
		fifo->head = skb;
	fifo->tail = skb;
	fifo->packets++;
	fifo->bytes += len;
}

/* Takes the first packet and tells its length; NULL if there is none. */
static inline struct sk_buff *fabric_fifo_pop(struct fabric_fifo *fifo,
					      u32 *len)
{
	struct sk_buff *skb = fifo->head;

	if (!skb)
		return NULL;
	*len = qdisc_pkt_len(skb);
	fifo->head = skb->next;
	skb_mark_not_on_list(skb);
	fifo->packets--;
	fifo->bytes -= *len;
	return skb;
}

/**
 * struct fabric_stats - counters of a band
 * @bytes: bytes of packets whose service has begun, by colour
 * @packets: those packets, by colour
 * @drops: packets by colour and FABRIC_DROP_*
 * @marks: packets that were to be marked and could be
 * @backlog_max_bytes: most bytes ever waiting
 * @delay: queueing delays, arrival to start of service
 * @meter: rate of service
 */
struct fabric_stats {
	u64 bytes[FABRIC_COLOURS];
	u64 packets[FABRIC_COLOURS];
	u64 drops[FABRIC_COLOURS][FABRIC_DROP_MAX + 1];
	u64 marks;
	u32 backlog_max_bytes;
	struct fabric_delay delay;
	struct fabric_meter meter;
};

/**
 * struct fabric_ecn - marking of a band
 * @red: thresholds, @red.max 0: off
 * @unit: FABRIC_ECN_UNIT_*
 * @at: FABRIC_ECN_AT_*
 * @drop: drop what cannot be marked
 * @own: set for the band; else the port's
 */
struct fabric_ecn {
	struct fabric_red red;
	u8 unit;
	u8 at;
	bool drop;
	bool own;
};

/**
 * struct fabric_band - one queue of the port
 * @fifo: waiting packets
 * @child: a qdisc that queues instead of @fifo, NULL if none
 * @limit_bytes: most bytes in @fifo, 0: only the port's limit
 * @limit_packets: most packets in @fifo, 0: none
 * @colour_bytes: bytes of each colour in @fifo
 * @colour_limit_bytes: most bytes of each colour, 0: none
 * @coloured: any of these limits is set
 * @queue: FABRIC_QUEUE_*
 * @isolate: parks what passes a congestion root, see fabric_isolate.c
 * @pfc: pauses neighbours and is paused by them, see fabric_pfc.c
 * @paused_until_ns: until then the neighbour takes nothing of it
 * @parked_bytes: bytes that are parked, beside those in @fifo
 * @parked_packets: their packets
 * @ecn: marking
 * @reserved_bytes: of the shared buffer, for this band alone
 * @alpha_milli: its dynamic threshold
 * @pass: the band's own rate limit: when what it sent is paid for, rate 0: none
 * @burst_bytes: how far it may be ahead of that
 * @burst_ns: the same as time
 * @each_bytes: what each packet counts as for the rate, 0: its bytes on the wire
 * @weight: as set, 0: the quantum was set
 * @bound: filters that lead here
 * @index: its number
 * @plain: has nothing that only some bands have: qdisc, limits, marking, rate, a
 *	shared buffer; what happens to every packet need not ask for each
 * @stats: its counters
 */
struct fabric_band {
	struct fabric_fifo fifo;
	struct Qdisc *child;
	u32 limit_bytes;
	u32 limit_packets;
	u32 colour_bytes[FABRIC_COLOURS];
	u32 colour_limit_bytes[FABRIC_COLOURS];
	bool coloured;
	u8 queue;
	bool isolate;
	bool pfc;
	u64 paused_until_ns;
	u32 parked_bytes;
	u32 parked_packets;
	struct fabric_ecn ecn;
	u32 reserved_bytes;
	u32 alpha_milli;
	struct fabric_line pass;
	u32 burst_bytes;
	u64 burst_ns;
	u32 each_bytes;
	u32 weight;
	u32 bound;
	u8 index;
	bool plain;
	struct fabric_stats stats;
};

struct fabric_buffer;

/**
 * struct fabric_stamp - telemetry
 * @kind: FABRIC_STAMP_*
 * @round_ns: values are rounded to a multiple of this power of two
 * @told_ns: what rounding last gave
 * @tau_ns: time constant of the filter
 * @value_ns: its output
 * @hold_ns: a value is told for so long
 * @held_ns: the value that is; of a load its number
 * @last_ns: when the filter was last fed
 * @since_ns: when @held_ns was taken
 * @count: packets by FABRIC_STAMPED_*
 */
struct fabric_stamp {
	u8 kind;
	u32 round_ns;
	u32 told_ns;
	u32 tau_ns;
	u32 value_ns;
	u32 hold_ns;
	u32 held_ns;
	u64 last_ns;
	u64 since_ns;
	u64 count[FABRIC_STAMPED_MAX + 1];
};

/* Is the telemetry of the line's load? */
static inline bool fabric_stamps_load(const struct fabric_stamp *stamp)
{
	return stamp->kind >= FABRIC_STAMP_LOAD;
}

/**
 * struct fabric_sched - private part of the qdisc
 * @limit_bytes: most bytes that may wait in all bands together
 * @waiting_bytes: bytes in the bands' own queues
 * @waiting_max_bytes: most bytes ever in them together
 * @apart_bytes: of @waiting_bytes, in queues of a border router: no part of the load
 * @split_gso: segment GSO packets on enqueue
 * @by_map: without filters, @band_map alone leads to the band
 * @use_dscp: @dscp_map is set
 * @use_prio: @prio_map is set
 * @nbands: bands in use
 * @default_band: where others go; FABRIC_BAND_LAST: the last band
 * @random: state of the random numbers
 * @order: order of service
 * @shaped: bands with a rate limit
 * @retry_ns: when the first of the limited bands may send again, 0: no such
 * @filters: filters of the qdisc
 * @block: what they hang on
 * @buffer: the shared buffer, NULL: none
 * @stamp: telemetry
 * @ecn: marking of bands that have no own
 * @band_map: skb priority to band, made of @prio_map and @default_band
 * @prio_map: skb priority to band, as set
 * @dscp_map: DSCP to band and colour
 * @overhead_bytes: added to each packet on the wire, for the line and for rates of
 *	bands
 * @mpu_bytes: least that a packet takes there
 * @delay_ns: propagation
 * @line: the line's rate and virtual time; no line model if its rate is 0
 * @sending: the packet on the line, NULL if the line is idle
 * @flying: sent packets that wait for their arrival, in order
 * @flying_max_bytes: what can fly at a time
 * @watchdog: fires when the first of them arrives
 * @armed_ns: what it is set to, if the device was told to ask again then; else 0
 * @late_ns: by how much it was late, until the device has taken all that was due
 * @busy_from_ns: start of the running busy period, if @busy
 * @busy_ns: length of the finished ones
 * @busy: something is waiting or being sent
 * @gso_split: packets that were segmented
 * @isolate: the port's part of a switch, NULL: none
 * @border: the port's part of a border router, NULL: none
 * @hash: queues of flows of one of its bands, NULL: none
 * @made: the port is there: what can be set only before cannot be any more
 * @bands: the queues
 * @load: what the line carries, if the telemetry is of that
 */
struct fabric_sched {
	u32 limit_bytes;
	u32 waiting_bytes;
	u32 waiting_max_bytes;
	u32 apart_bytes;
	bool split_gso;
	bool by_map;
	bool use_dscp;
	bool use_prio;
	u8 nbands;
	u8 default_band;
	u32 random;

	struct fabric_order order;
	u16 shaped;
	u64 retry_ns;

	struct tcf_proto __rcu *filters;
	struct tcf_block *block;
	struct fabric_buffer *buffer;
	struct fabric_stamp stamp;
	struct fabric_ecn ecn;
	u8 band_map[TC_PRIO_MAX + 1];
	u8 prio_map[TC_PRIO_MAX + 1];
	u8 dscp_map[64];

	u32 overhead_bytes;
	u32 mpu_bytes;
	u64 delay_ns;
	struct fabric_line line;
	struct sk_buff *sending;
	struct fabric_fifo flying;
	u32 flying_max_bytes;
	struct qdisc_watchdog watchdog;
	u64 armed_ns;
	u64 late_ns;

	u64 busy_from_ns;
	u64 busy_ns;
	bool busy;
	u64 gso_split;

	struct fabric_isolate_port *isolate;
	struct fabric_border_port *border;
	struct fabric_hash *hash;
	bool made;

	struct fabric_band bands[FABRIC_BANDS_MAX];
	struct fabric_load load;
};

#define FABRIC_BAND_LAST	255

/* Bytes that a packet takes on the line or of a band's rate. */
static inline u32 fabric_wire_bytes(const struct fabric_sched *q,
				    const struct sk_buff *skb)
{
	return clamp_t(u32, qdisc_pkt_len(skb) + q->overhead_bytes,
		       q->mpu_bytes, FABRIC_LINE_BYTES_MAX);
}

/* Bytes waiting in a band, its own qdisc's included. */
static inline u32 fabric_band_bytes(const struct fabric_band *band)
{
	return band->child ? band->child->qstats.backlog :
			     band->fifo.bytes + band->parked_bytes;
}

/* Packets waiting in a band, its own qdisc's included. */
static inline u32 fabric_band_packets(const struct fabric_band *band)
{
	return band->child ? band->child->q.qlen :
			     band->fifo.packets + band->parked_packets;
}

/* fabric_band.c: which band and which colour */
#define FABRIC_COLOUR_SHIFT	4	/* as in a DSCP table's entry */
#define FABRIC_NO_BAND		BIT(16)	/* above all minor numbers */
#define FABRIC_TAKEN		BIT(17)
#define FABRIC_FRAME		BIT(18)
/* Class of frames between neighbours, before all bands. */
#define FABRIC_MINOR_FRAMES	0xfff0
int fabric_classify(struct sk_buff *skb, struct Qdisc *sch);
void fabric_classify_update(struct fabric_sched *q);

/* fabric_band.c: bands */
#define FABRIC_TAGS_MAX		8	/* VLAN tags that are looked behind */

/* An IP header of either version. */
union fabric_ip {
	struct iphdr v4;
	struct ipv6hdr v6;
};

int fabric_find_ip(const struct sk_buff *skb, int *version);
const union fabric_ip *fabric_find_tcp(const struct sk_buff *skb, union fabric_ip *buffer,
				       int *version, int *offset);
u16 fabric_packet_flow(const struct sk_buff *skb);
int fabric_band_refuse(struct Qdisc *sch, struct fabric_band *band,
		       u8 colour, int why, struct sk_buff *skb,
		       struct sk_buff **to_free);
bool fabric_band_mark(struct fabric_sched *q, struct fabric_band *band,
		      struct sk_buff *skb, u64 value);
int fabric_band_enqueue_child(struct Qdisc *sch, struct fabric_band *band,
			      struct sk_buff *skb, u8 colour,
			      struct sk_buff **to_free);
struct sk_buff *fabric_band_take_child(struct fabric_sched *q,
				       struct fabric_band *band);
struct sk_buff *fabric_band_take_marking(struct Qdisc *sch,
					 struct fabric_band *band, u64 now_ns);
bool fabric_band_queue(struct fabric_sched *q, struct fabric_band *band,
		       struct sk_buff *skb, u32 len);
void fabric_band_left(struct fabric_sched *q, struct fabric_band *band,
		      const struct sk_buff *skb, u32 len);
void fabric_band_update(struct fabric_sched *q);
void fabric_band_gone_idle(struct fabric_sched *q);
void fabric_band_purge(struct Qdisc *sch, struct fabric_band *band, int why);

/* fabric_band.c: rate limits of the bands */
u32 fabric_serve_allowed(struct fabric_sched *q, u64 at_ns);

/* fabric_line.c */
void fabric_line_advance(struct Qdisc *sch, u64 now_ns);
struct sk_buff *fabric_line_dequeue(struct Qdisc *sch, u64 now_ns);
void fabric_look_again(struct Qdisc *sch);
void fabric_line_release(struct fabric_sched *q, u64 now_ns);

/* fabric_stamp.c */
u8 *fabric_writable(struct sk_buff *skb, int offset, int bytes);
void fabric_replace_byte(struct sk_buff *skb, u8 *th, int at, u8 value);
void fabric_stamp_packet(struct fabric_sched *q, const struct fabric_band *band,
			 struct sk_buff *skb, u64 delay_ns, u64 now_ns);

/* fabric_switch.c: any context */
int fabric_vlan_lower(struct net *net, int ifindex);

/* fabric_switch.c: rtnl held; charge and uncharge also with the root lock */
struct fabric_buffer *fabric_buffer_get(struct net *net, const char *name,
					u32 bytes,
					struct netlink_ext_ack *extack);
void fabric_buffer_put(struct fabric_buffer *buffer);
bool fabric_buffer_charge(struct fabric_buffer *buffer,
			  const struct fabric_band *band, u32 len);
void fabric_buffer_uncharge(struct fabric_buffer *buffer,
			    const struct fabric_band *band, u32 len);
bool fabric_buffer_reserve(struct fabric_buffer *buffer, s64 more, u32 bytes);
bool fabric_buffer_size_fits(struct fabric_buffer *buffer, u32 bytes,
			     unsigned int mine);
void fabric_buffer_join(struct fabric_buffer *buffer,
			const struct fabric_band *band);
void fabric_buffer_leave(struct fabric_buffer *buffer,
			 const struct fabric_band *band);
const char *fabric_buffer_name(const struct fabric_buffer *buffer);
u32 fabric_buffer_bytes(const struct fabric_buffer *buffer);
u64 fabric_buffer_used(const struct fabric_buffer *buffer);
u64 fabric_buffer_pool(const struct fabric_buffer *buffer);

/* fabric_band_config.c: numbers */
int fabric_refuse_attr(struct netlink_ext_ack *extack,
		       const struct nlattr *attr, const char *text);

/* fabric_config.c: settings of the port; rtnl held, not the root lock */
void fabric_config_default(struct fabric_sched *q);
int fabric_config_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack);
int fabric_config_dump(struct Qdisc *sch, struct sk_buff *skb);
void fabric_config_free(struct fabric_sched *q);

/* fabric_class.c: classes; rtnl held, not the root lock */
extern const struct Qdisc_class_ops fabric_class_ops;

/* fabric_band_config.c: settings of a band; rtnl held; default and apply also with
 * the root lock
 */
/**
 * struct fabric_class_config - settings of a band
 * @strict: no round robin
 * @weight: 0: @quantum was set
 * @quantum: bytes
 * @limit_bytes: 0: none
 * @limit_packets: 0: none
 * @rate_bps: 0: none
 * @burst_bytes: beyond the rate
 * @each_bytes: of a packet, for the rate; 0: its own
 * @ecn: marking
 * @colour: limits by colour
 * @reserved_bytes: of the shared buffer
 * @alpha_milli: dynamic threshold
 * @queue: FABRIC_QUEUE_*
 * @queues: how many it has, of FABRIC_QUEUE_HASH
 */
struct fabric_class_config {
	bool strict;
	u32 weight;
	u32 quantum;
	u32 limit_bytes;
	u32 limit_packets;
	u64 rate_bps;
	u32 burst_bytes;
	u32 each_bytes;
	struct fabric_ecn ecn;
	u32 colour[FABRIC_COLOURS];
	u32 reserved_bytes;
	u32 alpha_milli;
	u8 queue;
	u8 queues;
};

void fabric_class_default(struct fabric_sched *q, struct fabric_band *band);
void fabric_class_anew(const struct fabric_sched *q,
		       const struct fabric_band *band,
		       struct fabric_class_config *c);
void fabric_class_read(const struct fabric_sched *q,
		       const struct fabric_band *band,
		       struct fabric_class_config *c);
int fabric_class_parse(struct nlattr *opt, bool buffered,
		       struct fabric_class_config *c,
		       struct netlink_ext_ack *extack);
void fabric_class_apply(struct fabric_sched *q, struct fabric_band *band,
			const struct fabric_class_config *c);
int fabric_class_dump_options(struct sk_buff *skb,
			      const struct fabric_sched *q,
			      const struct fabric_band *band);
void fabric_class_remove(struct Qdisc *sch, unsigned int nbands);

/* fabric_config.c: maps; rtnl held; apply also with the root lock */
/**
 * struct fabric_maps - number of bands and what leads to them
 * @nbands: bands
 * @default_band: or FABRIC_BAND_LAST
 * @use_dscp: @dscp is set
 * @use_prio: @prio is set
 * @prio: skb priority to band
 * @dscp: DSCP to band | colour << 4
 */
struct fabric_maps {
	u8 nbands;
	u8 default_band;
	bool use_dscp;
	bool use_prio;
	u8 prio[TC_PRIO_MAX + 1];
	u8 dscp[64];
};

int fabric_maps_parse(const struct fabric_sched *q, struct nlattr **tb,
		      struct fabric_maps *maps, struct netlink_ext_ack *extack);
int fabric_maps_check(const struct fabric_sched *q, struct nlattr **tb,
		      const struct fabric_maps *maps,
		      struct netlink_ext_ack *extack);
void fabric_maps_apply(struct fabric_sched *q, const struct fabric_maps *maps);
int fabric_maps_dump(const struct fabric_sched *q, struct sk_buff *skb);

/* fabric_stats.c: counters; rtnl held, takes the root lock */
/* What the kernel writes behind a qdisc's own counters: packets and bytes (40), an estimator's
 * rates (40), the queue (28), all of that as older kernels had it (48), and some to spare.
 */
#define FABRIC_STATS_BEHIND_BYTES	192
int fabric_stats_dump(struct Qdisc *sch, struct gnet_dump *d);
int fabric_stats_dump_class(struct Qdisc *sch, struct fabric_band *band,
			    struct gnet_dump *d);

/* fabric_isolate.c: root lock held; join and leave: rtnl, not the root lock */
/**
 * struct fabric_isolate_config - what was said of a port's switch
 * @id: the switch's number, 0: none
 * @port: the port's number there
 * @queue: FABRIC_QUEUE_* of a band that needs the switch; fifo: none, the port is only where
 *	packets come in
 * @band: that band
 * @queues: how many it has, of FABRIC_QUEUE_HASH
 * @frames: FABRIC_FRAMES_*
 * @speed_bps: of the device, 0: as it tells
 * @hop_rtt_ns: from a PAUSE to its effect, 0: by the speed
 */
struct fabric_isolate_config {
	u32 id;
	u8 port;
	u8 queue;
	u8 band;
	u8 queues;
	u8 frames;
	u64 speed_bps;
	u32 hop_rtt_ns;
};

void fabric_isolate_init(const struct Qdisc_ops *ops);
u64 fabric_device_bps(struct net_device *dev);
int fabric_isolate_join(struct Qdisc *sch, struct fabric_isolate_config *settings,
			struct netlink_ext_ack *extack);
void fabric_isolate_leave(struct fabric_sched *q);
const struct fabric_isolate_config *
fabric_isolate_settings(const struct fabric_sched *q);
bool fabric_isolate_same(const struct fabric_isolate_config *a,
			 const struct fabric_isolate_config *b);
int fabric_isolate_enqueue_frame(struct Qdisc *sch, struct sk_buff *skb,
				 struct sk_buff **to_free);
bool fabric_isolate_park(struct fabric_sched *q, struct fabric_band *band,
			 struct sk_buff *skb, u32 len);
void fabric_isolate_prepare(struct Qdisc *sch);
void fabric_isolate_tell_sent(struct fabric_isolate_port *p);
struct sk_buff *fabric_isolate_frame(struct fabric_sched *q);
void fabric_isolate_reset(struct fabric_sched *q);

/* fabric_pfc.c: root lock held */
void fabric_pfc_arrive(struct fabric_sched *q, struct sk_buff *skb, u32 len);
void fabric_pfc_leave(struct fabric_sched *q, const struct sk_buff *skb,
		      u32 len);

void fabric_pfc_forget(struct fabric_sched *q, struct fabric_band *band);

/* fabric_hash.c: root lock held; make and free: rtnl */
int fabric_hash_make(struct fabric_sched *q, struct fabric_band *band, u8 queues);
u8 fabric_hash_queues(const struct fabric_sched *q, const struct fabric_band *band);
void fabric_hash_free(struct fabric_sched *q);
void fabric_hash_arrive(struct fabric_sched *q, struct sk_buff *skb, u32 len, u16 flow);
void fabric_hash_leave(struct fabric_sched *q, const struct sk_buff *skb);
void fabric_hash_reset(struct fabric_sched *q);
int fabric_hash_dump_stats(const struct fabric_sched *q, struct sk_buff *skb);

/* fabric_border.c: join and leave: rtnl, not the root lock */
/**
 * struct fabric_border_config - what was said of a port's role
 * @role: FABRIC_ROLE_*
 * @form: FABRIC_FLOW_*
 * @wait_ns: how long data is to wait
 * @theta_ns: time to get there, 0: the round trip
 * @weight_milli: of a flow from the other datacenter beside flows of this one, thousandths
 * @host_bps: of the hosts behind it, 0: the port's
 */
struct fabric_border_config {
	u8 role;
	u8 form;
	u32 wait_ns;
	u32 theta_ns;
	u32 weight_milli;
	u64 host_bps;
};

int fabric_border_join(struct Qdisc *sch, const struct fabric_border_config *settings, u64 line_bps,
		       struct netlink_ext_ack *extack);
void fabric_border_leave(struct fabric_sched *q);
const struct fabric_border_config *fabric_border_settings(const struct fabric_sched *q);
int fabric_border_dump_stats(const struct fabric_sched *q, struct sk_buff *skb, bool flows);

/* fabric_flows.c: root lock held */
int fabric_border_arrive(struct fabric_sched *q, struct fabric_band *band,
			 struct sk_buff *skb, u32 len);
void fabric_border_release(struct Qdisc *sch, u64 now_ns);
void fabric_border_wait(struct Qdisc *sch);
void fabric_border_reset(struct fabric_sched *q);
void fabric_border_sent(struct fabric_sched *q, struct sk_buff *skb, u64 now_ns);

/* fabric_genl.c */
int fabric_genl_init(void);
void fabric_genl_exit(void);

#endif /* FABRIC_H */
