/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bottleneck in user space: senders with the PrioPlus core behind one FIFO
 * port, an ACK for every packet. Packets, no TCP. It shows what the algorithm
 * does when everything around it is ideal; the lab shows the rest.
 */
#ifndef BOTTLENECK_H
#define BOTTLENECK_H

#include <stdlib.h>
#include <string.h>

#include "prioplus/core/prioplus.h"
#include "swift/core/swift.h"

#define BN_WIRE		1538	/* bytes of a packet on the line */
#define BN_PROBE	91	/* bytes of a probe or an ACK */
#define BN_CLASSES	8
#define BN_EPOCH_NS	10000	/* resolution of the counters */

/* ACKs that a receiver sends at once after a probe; then every second packet's. */
#define BN_QUICK	16
/* A packet that waits for its ACK longer than this has a probe sent after it, ns. */
#define BN_WATCHDOG_NS	200000

enum bn_what {
	BN_START, BN_STOP, BN_ARRIVE, BN_ACK, BN_LATE_ACK, BN_PROBE_TIME,
	BN_PACE,
};

struct bn_event {
	u64 at_ns;
	u64 order;
	u64 sent_ns;
	enum bn_what what;
	int flow;
	u32 seq;
	u32 generation;
	bool probe;
};

struct bn_flow {
	struct pp_core pp;
	struct pp_chan ch;
	u64 far_ns;		/* the sender's link is longer by this, each way */
	u64 end_ns;		/* time of the last ACK */
	u32 stops;
	u64 nic_free_ns;
	u64 pace_ns;
	u32 snd_nxt;
	u32 snd_una;
	u32 generation;
	u32 left_pkts;		/* 0: no end */
	u8 class;
	bool alive;
	bool pacing;
	u8 quick;		/* ACKs that the receiver still sends at once */
	bool held;		/* it keeps back the ACK of a packet */
	u32 held_generation;
};

/**
 * struct bn - a run
 * @line_bps: rate of the bottleneck
 * @wire_bytes: a full packet on the line; 0 = BN_WIRE
 * @delayed: the receivers acknowledge every second packet
 * @access_bps: rate of the senders' links; 0 = @line_bps
 * @conf_bps: line rate that the flows are told; 0 = @line_bps
 * @conf_base_ns: base RTT that the flows are told; 0 = the true one
 * @prop_ns: propagation delay of a link; there are two each way
 * @jitter_ns: each delay sample of data is longer by up to this
 * @fluct_ns: A of the channels; 0 = 3200
 * @noise_ns: B of the channels; 0 = 800
 * @now_ns: time
 * @end_ns: end of the run
 * @port_free_ns: when the port has sent what it has
 * @random: state of the generator
 * @flow: the flows
 * @flows: how many
 * @heap: what will happen, the next first
 * @events: how much of @heap is used
 * @room: how much there is
 * @order: events so far; those of one time keep their order
 * @bytes: bytes of class and time on the bottleneck's line, by epoch
 * @peak_ns: longest queueing delay by epoch
 */
struct bn {
	u64 line_bps;
	u32 wire_bytes;
	bool delayed;
	u64 access_bps;
	u64 conf_bps;
	u32 conf_base_ns;
	u64 prop_ns;
	u32 jitter_ns;
	u32 fluct_ns;
	u32 noise_ns;
	u64 now_ns;
	u64 end_ns;
	u64 port_free_ns;
	u64 random;
	struct bn_flow *flow;
	int flows;
	struct bn_event *heap;
	size_t events, room;
	u64 order;
	u32 (*bytes)[BN_CLASSES + 1];
	u32 *peak_ns;
};

static inline u32 bn_wire(const struct bn *b)
{
	return b->wire_bytes ?: BN_WIRE;
}

static inline u32 bn_random(struct bn *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random >> 16;
}

static inline u64 bn_line_ns(const struct bn *b, u32 bytes)
{
	return bytes * 8000000000ULL / b->line_bps;
}

static inline u64 bn_access_ns(const struct bn *b, u32 bytes)
{
	return bytes * 8000000000ULL / (b->access_bps ?: b->line_bps);
}

static inline bool bn_before(const struct bn_event *a,
			     const struct bn_event *b)
{
	return a->at_ns < b->at_ns ||
	       (a->at_ns == b->at_ns && a->order < b->order);
}

static inline void bn_push(struct bn *b, struct bn_event e)
{
	size_t i = b->events++;

	e.order = b->order++;
	if (b->events > b->room) {
		b->room = b->room ? 2 * b->room : 1024;
		b->heap = realloc(b->heap, b->room * sizeof(*b->heap));
		if (!b->heap)
			abort();
	}
	while (i && bn_before(&e, &b->heap[(i - 1) / 2])) {
		b->heap[i] = b->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	b->heap[i] = e;
}

static inline struct bn_event bn_pop(struct bn *b)
{
	struct bn_event first = b->heap[0], last = b->heap[--b->events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < b->events) {
		if (child + 1 < b->events &&
		    bn_before(&b->heap[child + 1], &b->heap[child]))
			child++;
		if (!bn_before(&b->heap[child], &last))
			break;
		b->heap[i] = b->heap[child];
		i = child;
	}
	b->heap[i] = last;
	return first;
}

/* A packet leaves the sender's card. */
static inline void bn_send(struct bn *b, int f, bool probe)
{
	struct bn_flow *fl = &b->flow[f];
	struct bn_event e = {
		.what = BN_ARRIVE, .flow = f, .probe = probe,
		.sent_ns = b->now_ns,
	};

	if (fl->nic_free_ns < b->now_ns)
		fl->nic_free_ns = b->now_ns;
	fl->nic_free_ns += bn_access_ns(b, probe ? BN_PROBE : bn_wire(b));
	e.at_ns = fl->nic_free_ns + b->prop_ns + fl->far_ns;
	if (!probe)
		e.seq = ++fl->snd_nxt;
	bn_push(b, e);
}

static inline void bn_send_window(struct bn *b, int f)
{
	struct bn_flow *fl = &b->flow[f];
	u32 pkts = fl->pp.wnd >> FL_WND_SHIFT;
	bool paced;

	if (!fl->alive || fl->pp.stopped)
		return;
	while (fl->snd_nxt - fl->snd_una < (pkts ? pkts : 1)) {
		if (fl->left_pkts && fl->snd_nxt >= fl->left_pkts)
			return;
		paced = !pkts || fl->ch.paced;
		if (paced && b->now_ns < fl->pace_ns) {
			if (!fl->pacing)
				bn_push(b, (struct bn_event) {
					.at_ns = fl->pace_ns, .flow = f,
					.what = BN_PACE,
				});
			fl->pacing = true;
			return;
		}
		if (paced)
			fl->pace_ns = b->now_ns + fl->ch.base_ns * FL_WND_ONE /
						  (fl->pp.wnd | 1);
		bn_send(b, f, false);
	}
}

static inline void bn_probe_after(struct bn *b, int f, u32 wait_ns)
{
	bn_push(b, (struct bn_event) {
		.at_ns = b->now_ns + wait_ns, .flow = f, .what = BN_PROBE_TIME,
		.generation = ++b->flow[f].generation,
	});
}

/* A packet has come to a receiver that acknowledges every second one: when does its ACK
 * leave, if not at once? What is kept back leaves with the watchdog's probe.
 */
static inline void bn_delay_ack(struct bn *b, struct bn_event *ack)
{
	struct bn_flow *fl = &b->flow[ack->flow];
	u64 wait_ns = 2ULL * fl->ch.limit_ns;

	if (ack->probe) {
		fl->quick = BN_QUICK;
	} else if (fl->quick) {
		fl->quick--;
		fl->held = false;
	} else if (fl->held) {
		fl->held = false;
	} else {
		fl->held = true;
		ack->what = BN_LATE_ACK;
		ack->generation = ++fl->held_generation;
		ack->at_ns += wait_ns > BN_WATCHDOG_NS ? wait_ns :
							 BN_WATCHDOG_NS;
	}
}

/* A packet reaches the port: wait, be sent, be acknowledged. */
static inline void bn_arrive(struct bn *b, const struct bn_event *e)
{
	u64 start_ns = b->port_free_ns > b->now_ns ? b->port_free_ns :
						     b->now_ns;
	u32 bytes = e->probe ? BN_PROBE : bn_wire(b);
	u64 epoch = start_ns / BN_EPOCH_NS;
	struct bn_event ack = *e;

	b->port_free_ns = start_ns + bn_line_ns(b, bytes);
	if (start_ns < b->end_ns) {
		b->bytes[epoch][e->probe ? BN_CLASSES :
				b->flow[e->flow].class] += bytes;
		if (start_ns - b->now_ns > b->peak_ns[epoch])
			b->peak_ns[epoch] = start_ns - b->now_ns;
	}
	ack.what = BN_ACK;
	ack.at_ns = b->port_free_ns + 3 * b->prop_ns +
		    b->flow[e->flow].far_ns + 2 * bn_access_ns(b, BN_PROBE);
	if (b->delayed)
		bn_delay_ack(b, &ack);
	bn_push(b, ack);
}

static inline void bn_acked(struct bn *b, const struct bn_event *e)
{
	struct bn_flow *fl = &b->flow[e->flow];
	u32 delay_ns = b->now_ns - e->sent_ns;
	struct fl_sample s = {
		.now_ns = b->now_ns,
		/* of a packet whose ACK was kept back: none */
		.delay_ns = e->what == BN_LATE_ACK ? 0 : delay_ns,
		.acked_pkts = e->seq - fl->snd_una, .ack_seq = e->seq,
		.snd_nxt = fl->snd_nxt, .seq_per_pkt = 1,
		.random = bn_random(b), .wnd_limited = true,
	};

	if (b->jitter_ns && !e->probe && s.delay_ns)
		s.delay_ns += bn_random(b) % b->jitter_ns;
	if (e->probe) {
		if (fl->pp.stopped &&
		    pp_on_probe(&fl->pp, &fl->ch, delay_ns, fl->snd_nxt,
				s.random) == PP_PROBE)
			bn_probe_after(b, e->flow, fl->pp.probe_wait_ns);
	} else {
		fl->snd_una = e->seq;
		fl->end_ns = b->now_ns;
		if (fl->left_pkts && e->seq >= fl->left_pkts) {
			fl->alive = false;
		} else if (!fl->pp.stopped &&
			   pp_on_ack(&fl->pp, &fl->ch, &s) == PP_STOP) {
			fl->stops++;
			bn_probe_after(b, e->flow, fl->pp.probe_wait_ns);
		}
	}
	bn_send_window(b, e->flow);
}

static inline void bn_handle(struct bn *b, const struct bn_event *e)
{
	struct bn_flow *fl = &b->flow[e->flow];

	switch (e->what) {
	case BN_START:
		fl->alive = true;
		pp_init(&fl->pp, &fl_swift_ops, b->now_ns, fl->snd_nxt);
		bn_probe_after(b, e->flow, 0);
		break;
	case BN_STOP:
		fl->alive = false;
		break;
	case BN_ARRIVE:
		bn_arrive(b, e);
		break;
	case BN_ACK:
		if (fl->alive)
			bn_acked(b, e);
		break;
	case BN_LATE_ACK:
		if (!fl->alive || !fl->held ||
		    e->generation != fl->held_generation)
			break;
		fl->held = false;
		fl->quick = BN_QUICK;
		bn_acked(b, e);
		break;
	case BN_PROBE_TIME:
		if (fl->alive && fl->pp.stopped &&
		    e->generation == fl->generation)
			bn_send(b, e->flow, true);
		break;
	case BN_PACE:
		fl->pacing = false;
		bn_send_window(b, e->flow);
		break;
	}
}

static inline void bn_run(struct bn *b)
{
	while (b->events && b->heap[0].at_ns < b->end_ns) {
		struct bn_event e = bn_pop(b);

		b->now_ns = e.at_ns;
		bn_handle(b, &e);
	}
}

static inline u64 bn_base_ns(const struct bn *b)
{
	return 4 * b->prop_ns + bn_line_ns(b, bn_wire(b)) +
	       bn_access_ns(b, bn_wire(b)) + 2 * bn_access_ns(b, BN_PROBE);
}

/* Room for the flows and the counters of a run until end_ns. */
static inline void bn_init(struct bn *b, int flows, u64 end_ns, u32 seed)
{
	size_t epochs = end_ns / BN_EPOCH_NS + 1;

	b->flows = flows;
	b->end_ns = end_ns;
	b->random = 88172645463325252ULL + seed * 1000003ULL;
	b->flow = calloc(flows, sizeof(*b->flow));
	b->bytes = calloc(epochs, sizeof(*b->bytes));
	b->peak_ns = calloc(epochs, sizeof(*b->peak_ns));
	if (!b->flow || !b->bytes || !b->peak_ns)
		abort();
}

static inline void bn_free(struct bn *b)
{
	free(b->flow);
	free(b->bytes);
	free(b->peak_ns);
	free(b->heap);
}

/* Flow f of a class and priority, alive from start to stop. */
static inline int bn_add(struct bn *b, int f, int class, u32 prio, bool paper,
			 u64 start_ns, u64 stop_ns)
{
	struct pp_conf cf = {
		.base_ns = b->conf_base_ns ?:
			   bn_base_ns(b) + 2 * b->flow[f].far_ns,
		.line_bps = b->conf_bps ?: b->line_bps,
		.wire_bytes = bn_wire(b), .fluct_ns = b->fluct_ns ?: 3200,
		.noise_ns = b->noise_ns ?: 800,
		.probe_cap_ns = 1000000, .start_permille = paper ? 125 : 500,
		.resume_permille = 1000,
		.ai_bytes = 150, .paper = paper,
	};
	struct bn_event e = { .flow = f };

	b->flow[f].class = class;
	e.at_ns = start_ns;
	e.what = BN_START;
	bn_push(b, e);
	e.at_ns = stop_ns;
	e.what = BN_STOP;
	bn_push(b, e);
	return pp_chan_init(&b->flow[f].ch, &cf, prio);
}

/* Part of the line's bytes in [from, to) that class had; -1: all of them. */
static inline double bn_share(const struct bn *b, int class, u64 from_ns,
			      u64 to_ns)
{
	u64 i, sum = 0;
	int c;

	for (i = from_ns / BN_EPOCH_NS; i < to_ns / BN_EPOCH_NS; i++)
		for (c = 0; c <= BN_CLASSES; c++)
			if (class < 0 || c == class)
				sum += b->bytes[i][c];
	return sum * 8e9 / b->line_bps / (to_ns - from_ns);
}

static inline u32 bn_peak_ns(const struct bn *b, u64 from_ns, u64 to_ns)
{
	u32 peak = 0;
	u64 i;

	for (i = from_ns / BN_EPOCH_NS; i < to_ns / BN_EPOCH_NS; i++)
		if (b->peak_ns[i] > peak)
			peak = b->peak_ns[i];
	return peak;
}

/* Time from @from_ns until class has 95 % of the line for 200 us, in us. */
static inline u32 bn_taken_us(const struct bn *b, int class, u64 from_ns,
			      u64 to_ns)
{
	u64 t;

	for (t = from_ns; t + 200000 <= to_ns; t += 20000)
		if (bn_share(b, class, t, t + 20000) >= 0.95 &&
		    bn_share(b, class, t, t + 200000) >= 0.95)
			return (t - from_ns) / 1000;
	return 1000000;
}

#endif /* BOTTLENECK_H */
