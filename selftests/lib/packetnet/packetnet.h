/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network in user space: packets, no TCP. Links are FIFO queues that tell the delay
 * that a packet met, flows have a path, a window and pacing, every packet has an ACK,
 * which meets no queue. It shows what a control does when everything around it is ideal;
 * the lab shows the rest. The control is plugged in: bottleneck.h, soze_net.h.
 */
#ifndef PACKETNET_H
#define PACKETNET_H

#include "clock.h"

#define PN_WIRE		1538	/* bytes of a packet on the line */
#define PN_HOPS		6

/* Events; a control's own begin with PN_OWN. */
enum { PN_START, PN_STOP, PN_TIMER, PN_ARRIVE, PN_ACK, PN_OWN };

/**
 * struct pn_link - a link and its queue
 * @bps: rate
 * @tau_ns: smooths what it tells, as stamp-tau of sch_fabric does; 0: not
 * @told_ns: what it told last
 * @last_ns: when it told it
 * @free_ns: when it has sent what it has
 * @busy_ns: time spent sending, since pn_clear()
 * @delay_sum_ns: of the packets since pn_clear()
 * @delay_max_ns: likewise
 * @packets: likewise
 */
struct pn_link {
	double bps;
	double tau_ns, told_ns, last_ns;
	double free_ns, busy_ns, delay_sum_ns, delay_max_ns;
	u64 packets;
};

/**
 * struct pn_flow - what the network knows of a flow
 * @path: links
 * @hops: how many of them
 * @alive: sending
 * @timer: a PN_TIMER waits for @next_ns
 * @in_flight: packets
 * @sent: packets
 * @next_ns: when pacing allows the next packet
 * @step_ns: from a link to what comes next
 * @back_ns: of an ACK from the receiver
 * @bytes: delivered since pn_clear()
 */
struct pn_flow {
	u16 path[PN_HOPS];
	u8 hops;
	bool alive, timer;
	u32 in_flight, sent;
	double next_ns, step_ns, back_ns, bytes;
};

struct pn;

/**
 * struct pn_control - a congestion control
 * @window: of a flow, packets
 * @gap_ns: pacing's time from a packet to the next; 0: not paced
 * @acked: an ACK arrives
 * @own: an event of the control's own, or PN_START
 * @passed: a link begins to send a packet at a time, after a delay; @ev says what comes
 *	next and may be changed; NULL: nothing to do
 * @late_made_up: a packet that leaves late does not delay the next, as in
 *	tcp_update_skb_after_send()
 * @whole_ns: sending takes whole ns
 */
struct pn_control {
	u32 (*window)(struct pn *n, u32 f);
	double (*gap_ns)(struct pn *n, u32 f);
	void (*acked)(struct pn *n, const struct pn_event *ev);
	void (*own)(struct pn *n, const struct pn_event *ev);
	void (*passed)(struct pn *n, struct pn_event *ev, double start_ns,
		       double delay_ns);
	bool late_made_up, whole_ns;
};

/**
 * struct pn - the network
 * @control: of all flows
 * @clock: events, in ns
 * @link: links
 * @flow: flows
 * @links: how many
 * @flows: how many
 * @wire_bytes: a packet on the line
 * @now_ns: time
 * @random: state of pn_random()
 */
struct pn {
	const struct pn_control *control;
	struct pn_clock *clock;
	struct pn_link *link;
	struct pn_flow *flow;
	int links, flows;
	u32 wire_bytes;
	double now_ns;
	u64 random;
};

void pn_init(struct pn *n, const struct pn_control *control, int links, int flows,
	     double bucket_ns, u32 seed);
void pn_free(struct pn *n);
u64 pn_random(struct pn *n);
void pn_at(struct pn *n, double at_ns, u32 f, u8 what, u32 value);
void pn_packet(struct pn *n, u32 f, u32 bytes, bool probe);
void pn_send(struct pn *n, u32 f);
void pn_run(struct pn *n, double until_ns);
void pn_clear(struct pn *n);

#endif
