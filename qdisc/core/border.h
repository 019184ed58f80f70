/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MLCC's border router: flows from another datacenter to a host wait in queues of their
 * own. This is what decides, for a host, how fast its queues are emptied (the credit loop) and,
 * for a flow, what its sender is told (core/dqm.h). Pure integers: no packets, no clock, no
 * locks. The caller serialises, and keeps the packets.
 *
 *	bd_host_init()	the first flow to a host
 *	bd_flow_init()	a flow
 *	bd_wake()	a packet comes to a host for which none waits
 *	bd_arrive()	a packet waits
 *	bd_ready_ns()	when the host's next packet may leave
 *	bd_leave()	it leaves
 *	bd_pass()	a FIN leaves without having waited
 *	bd_echo()	an ACK with the load that a packet met behind the router
 *	bd_tell()	what to tell the sender in it
 *
 * Times are those of the ports by which packets come and ACKs go. A port with a line of its own
 * lags behind the others, and a packet that has waited for the router's lock brings the time of
 * before. So a time may be some microseconds earlier than one that was told already.
 *
 * Where it departs from the paper, and why:
 *
 * The law runs here and not in the receiver: the router believes a load, not a rate. It is
 * HPCC's (hpcc/core), which the paper leaves open.
 *
 * One loop for a host, its queues in turn, instead of one for each flow: 64 flows' additive
 * steps are more than a line has room for, and rounds of flows with less than a packet in a
 * round trip do not end. The step is that of as many flows as wait, so that a host's flows have the
 * shares that they would have alone. The operator may give these flows another weight beside those
 * of the datacenter: it multiplies the step, as in HPCC. Weights times flows are BD_WEIGHT_MAX at
 * most.
 *
 * A round is over when something is acknowledged that left its queue after the round began, and
 * had not left before: there is no number on the wire. If nothing is (a packet of the flow
 * is lost, and TCP acknowledges nothing behind it), two round trips end it.
 *
 * A round takes the time of BD_LEAST_PKTS packets at least, and loads are told over that: of a
 * line that carries two packets in a round trip a few ACKs that come at once would be a load of
 * 4, and cut the rate to a tenth.
 *
 * How many flows wait is an average over packets that leave. A flow that sends less than its
 * share waits a part of the time only, and by Little's law counts as the part of its share that
 * it takes.
 */
#ifndef FABRIC_BORDER_H
#define FABRIC_BORDER_H

#include "core/dqm.h"
#include "core/types.h"
#include "hpcc/core/hpcc.h"
#include "lib/load.h"

/* Steps of the law at most, in those of one flow of weight 1. */
#define BD_WEIGHT_MAX		8
/* Fractional bits of flows that wait. */
#define BD_FLOWS_SHIFT		16
/* More flows count as so many: an average has 32 bits. */
#define BD_FLOWS_COUNTED	65535
/* The average moves by 1 / 2^this at each packet. */
#define BD_FLOWS_EWMA_SHIFT	6
/* Loads are those of so many packets at least, at the hosts' line. */
#define BD_LEAST_PKTS		8
/* A host's packets may leave so much faster after they left late, ns. */
#define BD_BURST_NS		5000
/* The way behind the router is taken to be so long before an ACK tells, ns. */
#define BD_NEAR_DEFAULT_NS	32768
#define BD_NEAR_MIN_NS		1000
#define BD_NEAR_MAX_NS		100000000
/* An acknowledgment is about what has left, and not about what left long ago, bytes. */
#define BD_ACK_WINDOW		BIT(30)

/**
 * struct bd_par - parameters of a port
 * @line_bytes: of its hosts, bytes on the line a second
 * @weight_milli: of each flow beside flows of the datacenter, 1 to 1000 BD_WEIGHT_MAX, thousandths
 * @least_ns: what BD_LEAST_PKTS take on it: a round is not shorter, ns
 * @dqm: of the queues' management
 */
struct bd_par {
	u64 line_bytes;
	u32 weight_milli;
	u32 least_ns;
	struct dqm_par dqm;
};

/**
 * struct bd_host - a receiving host behind a port
 * @hp: the law
 * @law: its parameters
 * @next_ns: when all that left is paid for
 * @echo_ns: when the last load came
 * @round_ns: when the round began
 * @round: its number
 * @answered: something is acknowledged that left in it
 * @base_ns: shortest time from the router to the host and back, ns; 0: not known
 * @rtt_ns: it now, ns
 * @weight_milli: steps of the law, in thousandths of those of one flow of weight 1
 * @waiting: flows with a queue now
 * @flows: average of it, << BD_FLOWS_SHIFT
 */
struct bd_host {
	struct hp_core hp;
	struct hp_par law;
	u64 next_ns;
	u64 echo_ns;
	u64 round_ns;
	u32 round;
	bool answered;
	u32 base_ns;
	u32 rtt_ns;
	u32 weight_milli;
	u32 waiting;
	u32 flows;
};

/**
 * struct bd_flow - a queue: a flow's, or that of flows that share one
 * @dqm: what its sender is told
 * @step_ns: when DQM was last stepped
 * @seen_ns: when a packet last came
 * @mark_ns: when the first new data of the round left
 * @round: that round
 * @mark: the sequence number behind that data
 * @end: behind all that left
 * @left: something has
 * @shared: by flows: sequence numbers say nothing
 * @queue_bytes: waiting, without what packets have on the line beyond their length
 */
struct bd_flow {
	struct dqm_flow dqm;
	u64 step_ns;
	u64 seen_ns;
	u64 mark_ns;
	u32 round;
	u32 mark;
	u32 end;
	bool left;
	bool shared;
	u32 queue_bytes;
};

/* When the host's next packet may leave. */
static inline u64 bd_ready_ns(const struct bd_host *h)
{
	return h->next_ns;
}

/* The number of the time over which ports behind are to tell loads. */
static inline u8 bd_time(const struct bd_host *h, const struct bd_par *par)
{
	return fl_load_rtt(h->base_ns ? max_t(u32, h->base_ns, par->least_ns) :
					BD_NEAR_DEFAULT_NS);
}

/**
 * bd_cross_ns() - RTT_C of connections whose handshake nobody has seen
 * @known_ns: what others' were, ns
 * @told_ns: what one more was, ns
 *
 * A host may take a second for its answer, or somebody who forges one next to no time: one
 * handshake moves by an eighth what all others go by.
 */
static inline u32 bd_cross_ns(u32 known_ns, u32 told_ns)
{
	return clamp_t(u32, told_ns, known_ns - known_ns / 8, known_ns + known_ns / 8);
}

void bd_par_init(struct bd_par *par, u64 line_bps, u32 weight_milli, enum dqm_form form,
		 u32 wait_ns, u32 theta_ns);
void bd_host_init(struct bd_host *h, const struct bd_par *par, u64 now_ns);
void bd_flow_init(struct bd_flow *f, const struct bd_host *h, const struct bd_par *par,
		  u32 cross_ns, u64 now_ns);
bool bd_stale(const struct bd_flow *f, u64 now_ns);
void bd_wake(struct bd_host *h, const struct bd_par *par, u64 now_ns);
void bd_arrive(struct bd_host *h, struct bd_flow *f, u32 bytes, u64 now_ns);
void bd_leave(struct bd_host *h, struct bd_flow *f, const struct bd_par *par, u32 bytes,
	      u32 wire_bytes, u32 end, u64 now_ns);
void bd_pass(struct bd_flow *f, u32 end);
void bd_forget(struct bd_host *h, struct bd_flow *f, u32 bytes);
bool bd_acks(const struct bd_flow *f, u32 ack);
void bd_echo(struct bd_host *h, struct bd_flow *f, const struct bd_par *par, u32 ack,
	     u16 load, u64 now_ns);
u64 bd_share(const struct bd_host *h);
u64 bd_tell(struct bd_host *h, struct bd_flow *f, const struct bd_par *par, u64 now_ns);

#endif /* FABRIC_BORDER_H */
