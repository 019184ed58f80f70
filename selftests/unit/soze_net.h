/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network in user space: senders with the Söze core, links that are FIFO
 * queues and tell the delay that a packet met, an ACK for every packet. Packets,
 * no TCP: what the algorithm does when everything around it is ideal. The lab
 * shows the rest.
 */
#ifndef SOZE_NET_H
#define SOZE_NET_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "soze/core/soze.h"

#define SN_WIRE		1538	/* bytes of a packet on the line */
#define SN_HOPS		4
#define SN_LINKS	16
#define SN_BURST	10	/* initial window, packets */

/* The paper's algorithm as printed, instead of the core. */
enum sn_printed {
	SN_CORE,
	SN_PER_RTT,	/* Algorithm 1: once an RTT */
	SN_PER_PACKET,	/* section 3.3: the same with each ACK */
};

enum sn_what { SN_START, SN_STOP, SN_WEIGHT, SN_SEND, SN_ARRIVE, SN_ACK };

struct sn_event {
	double at_ns, sent_ns, delay_ns;
	u64 order;
	u32 value;
	int flow, hop;
	enum sn_what what;
};

/**
 * struct sn_link - a link and its queue
 * @bps: rate
 * @quiet: does not tell its delay
 * @tau_ns: smooths what it tells, as stamp-tau of sch_fabric does; 0: not
 * @told_ns: what it told last
 * @last_ns: when it told it
 * @free_ns: when it has sent what it has
 * @busy_ns: time spent sending, since sn_clear()
 * @delay_sum_ns: of the packets since sn_clear()
 * @delay_max_ns: likewise
 * @packets: likewise
 */
struct sn_link {
	double bps;
	bool quiet;
	double tau_ns, told_ns, last_ns;
	double free_ns, busy_ns, delay_sum_ns, delay_max_ns;
	u64 packets;
};

/**
 * struct sn_flow - a flow
 * @sz: its core
 * @par: its parameters
 * @path: links
 * @hops: how many of them
 * @prop_ns: propagation, there and back
 * @base_ns: smallest RTT seen
 * @rest_ns: smoothed RTT without the delay told
 * @next_ns: when pacing allows the next packet
 * @bytes: delivered since sn_clear()
 * @ideal: share that a water-filling gives it, bit/s
 * @decided_ns: as printed: when it decided last
 * @told_ns: as printed: the delay that it heard last
 * @weight: in thousandths
 * @in_flight: packets
 * @sent: packets
 * @alive: sending
 * @timer: a SN_SEND event is there
 */
struct sn_flow {
	struct sz_core sz;
	struct sz_par par;
	int path[SN_HOPS], hops;
	double prop_ns, base_ns, rest_ns, next_ns, bytes, ideal, decided_ns, told_ns;
	u32 weight, in_flight;
	u64 sent;
	bool alive, timer;
};

/**
 * struct sn - the network
 * @link: links
 * @flow: flows
 * @heap: events to come
 * @now_ns: time
 * @order: events so far
 * @random: state of sn_random()
 * @events: in the heap
 * @room: of the heap
 * @wire: bytes of a packet on the line
 * @flows: how many
 * @printed: what flows do
 */
struct sn {
	struct sn_link link[SN_LINKS];
	struct sn_flow *flow;
	struct sn_event *heap;
	double now_ns;
	u64 order, random;
	size_t events, room;
	u32 wire;
	int flows;
	enum sn_printed printed;
};

/*
 * Equations 6 and 7 as printed: r = r (T^-1(D) / (r / w))^m with m = 0.25, where T^-1 is
 * equation 6's and so not the core's with many flows. Only the window,
 * r times the RTT, keeps to r; the gain has no bound.
 */
static inline void sn_on_ack_printed(struct sn *n, struct sn_flow *fl, double delay_ns,
				     double rtt_ns)
{
	double share = exp2(fl->par.alpha_l2 / (double)SZ_ONE) *
		       exp(-(delay_ns - fl->par.k_ns) / fl->par.q_ns);
	double rate = exp2(fl->sz.rate_l2 / (double)SZ_ONE);

	fl->told_ns = delay_ns;
	if (n->printed == SN_PER_RTT && n->now_ns - fl->decided_ns <= rtt_ns)
		return;
	fl->decided_ns = n->now_ns;
	rate *= pow(share * fl->weight / 1000 / rate, 0.25);
	fl->sz.rate_l2 = fmin(fmax(log2(rate) * SZ_ONE, 10. * SZ_ONE), fl->par.max_l2);
}

/* Packets that may be in flight; as printed: the rate in an RTT. */
static inline u32 sn_window_pkts(const struct sn *n, const struct sn_flow *fl)
{
	double rtt_ns = fl->rest_ns;

	if (!(rtt_ns > 0))
		return SN_BURST;
	if (n->printed == SN_CORE)
		return sz_window_pkts(&fl->sz, &fl->par, rtt_ns);
	return fmax(exp2(fl->sz.rate_l2 / (double)SZ_ONE) * (rtt_ns + fl->told_ns) / 1e9 /
		    n->wire, 1);
}

static inline double sn_random(struct sn *n)
{
	n->random ^= n->random << 13;
	n->random ^= n->random >> 7;
	n->random ^= n->random << 17;
	return (n->random >> 11) / 9007199254740992.0;
}

static inline bool sn_before(const struct sn_event *a, const struct sn_event *b)
{
	return a->at_ns < b->at_ns ||
	       (a->at_ns == b->at_ns && a->order < b->order);
}

static inline void sn_push(struct sn *n, struct sn_event e)
{
	size_t i = n->events++;

	e.order = n->order++;
	if (n->events > n->room) {
		n->room = n->room ? 2 * n->room : 4096;
		n->heap = realloc(n->heap, n->room * sizeof(*n->heap));
		if (!n->heap)
			abort();
	}
	while (i && sn_before(&e, &n->heap[(i - 1) / 2])) {
		n->heap[i] = n->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	n->heap[i] = e;
}

static inline struct sn_event sn_pop(struct sn *n)
{
	struct sn_event first = n->heap[0], last = n->heap[--n->events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < n->events) {
		if (child + 1 < n->events &&
		    sn_before(&n->heap[child + 1], &n->heap[child]))
			child++;
		if (!sn_before(&n->heap[child], &last))
			break;
		n->heap[i] = n->heap[child];
		i = child;
	}
	n->heap[i] = last;
	return first;
}

/* Sends what window and pacing allow; like TCP, the first packets unpaced. */
static inline void sn_send(struct sn *n, int f)
{
	struct sn_flow *fl = &n->flow[f];
	u32 window = sn_window_pkts(n, fl);
	double gap_ns, late_ns;

	while (fl->alive && fl->in_flight < window) {
		if (fl->sent >= SN_BURST && n->now_ns < fl->next_ns) {
			if (!fl->timer)
				sn_push(n, (struct sn_event) {
					.at_ns = fl->next_ns, .flow = f,
					.what = SN_SEND,
				});
			fl->timer = true;
			return;
		}
		/* as tcp_update_skb_after_send(): late packets are made up for */
		if (fl->rest_ns > 0 && n->printed == SN_CORE) {
			gap_ns = n->wire * 1e9 / sz_exp2(fl->sz.pace_l2);
			late_ns = n->now_ns - fl->next_ns;
			fl->next_ns = n->now_ns + gap_ns -
				      (late_ns < gap_ns / 2 ? late_ns : gap_ns / 2);
		}
		fl->in_flight++;
		fl->sent++;
		sn_push(n, (struct sn_event) {
			.at_ns = n->now_ns, .sent_ns = n->now_ns, .flow = f,
			.what = SN_ARRIVE,
		});
	}
}

/* A packet reaches a link: wait, be sent, go on or be acknowledged. */
static inline void sn_arrive(struct sn *n, struct sn_event e)
{
	struct sn_flow *fl = &n->flow[e.flow];
	struct sn_link *l = &n->link[fl->path[e.hop]];
	double start_ns = l->free_ns > n->now_ns ? l->free_ns : n->now_ns;
	double delay_ns = start_ns - n->now_ns;
	double step_ns = fl->prop_ns / (2 * fl->hops), gone_ns;

	l->free_ns = start_ns + n->wire * 8e9 / l->bps;
	l->busy_ns += l->free_ns - start_ns;
	l->delay_sum_ns += delay_ns;
	l->packets++;
	if (delay_ns > l->delay_max_ns)
		l->delay_max_ns = delay_ns;
	if (l->tau_ns > 0) {
		gone_ns = start_ns - l->last_ns;
		l->told_ns += (delay_ns - l->told_ns) *
			      fmin(gone_ns / l->tau_ns, 1);
		l->last_ns = start_ns;
		delay_ns = l->told_ns;
	}
	if (!l->quiet && delay_ns > e.delay_ns)
		e.delay_ns = delay_ns;
	e.at_ns = l->free_ns + step_ns;
	if (++e.hop == fl->hops) {
		fl->bytes += n->wire;
		e.what = SN_ACK;
		e.at_ns += fl->prop_ns / 2;
	}
	sn_push(n, e);
}

static inline void sn_acked(struct sn *n, const struct sn_event *e)
{
	struct sn_flow *fl = &n->flow[e->flow];
	double rtt_ns = n->now_ns - e->sent_ns;
	/* the option counts in units of 16 ns */
	u32 delay_ns = (u32)e->delay_ns & ~15U;
	struct sz_sample s = { .now_ns = n->now_ns, .delay_ns = delay_ns };
	bool first = !(fl->rest_ns > 0);

	fl->in_flight--;
	if (first || rtt_ns < fl->base_ns)
		fl->base_ns = rtt_ns;
	if (first) {
		fl->rest_ns = rtt_ns - delay_ns;
		sz_init(&fl->sz, &fl->par, n->now_ns,
			SN_BURST * n->wire * 1e9 / rtt_ns, fl->weight);
	} else {
		fl->rest_ns += (rtt_ns - delay_ns - fl->rest_ns) / 8;
	}
	s.rtt_ns = fl->rest_ns + delay_ns;
	if (n->printed == SN_CORE)
		sz_on_ack(&fl->sz, &fl->par, &s);
	else
		sn_on_ack_printed(n, fl, delay_ns, s.rtt_ns);
	sn_send(n, e->flow);
}

static inline void sn_handle(struct sn *n, const struct sn_event *e)
{
	struct sn_flow *fl = &n->flow[e->flow];

	switch (e->what) {
	case SN_START:
		fl->alive = true;
		sn_send(n, e->flow);
		break;
	case SN_STOP:
		fl->alive = false;
		break;
	case SN_WEIGHT:
		fl->weight = e->value;
		if (fl->rest_ns > 0)
			sz_set_weight(&fl->sz, &fl->par, e->value);
		sn_send(n, e->flow);
		break;
	case SN_SEND:
		fl->timer = false;
		sn_send(n, e->flow);
		break;
	case SN_ARRIVE:
		sn_arrive(n, *e);
		break;
	case SN_ACK:
		sn_acked(n, e);
		break;
	}
}

/* Goes on until a time. */
static inline void sn_run(struct sn *n, double until_ns)
{
	while (n->events && n->heap[0].at_ns < until_ns) {
		struct sn_event e = sn_pop(n);

		n->now_ns = e.at_ns;
		sn_handle(n, &e);
	}
	n->now_ns = until_ns;
}

static inline void sn_init(struct sn *n, int flows, u32 seed)
{
	memset(n, 0, sizeof(*n));
	n->flows = flows;
	n->wire = SN_WIRE;
	n->random = 88172645463325252ULL + seed * 1000003ULL;
	n->flow = calloc(flows, sizeof(*n->flow));
	if (!n->flow)
		abort();
}

static inline void sn_free(struct sn *n)
{
	free(n->flow);
	free(n->heap);
}

/* Flow f over links (ended by -1) with a weight, from a time on. */
static inline void sn_add(struct sn *n, int f, const struct sz_par *par,
			  const int *path, double prop_ns, u32 weight,
			  double start_ns)
{
	struct sn_flow *fl = &n->flow[f];

	fl->par = *par;
	while (path[fl->hops] >= 0) {
		fl->path[fl->hops] = path[fl->hops];
		fl->hops++;
	}
	fl->prop_ns = prop_ns;
	fl->weight = weight;
	sn_push(n, (struct sn_event) {
		.at_ns = start_ns, .flow = f, .what = SN_START,
	});
}

/* Counters begin again. */
static inline void sn_clear(struct sn *n)
{
	int i;

	for (i = 0; i < n->flows; i++)
		n->flow[i].bytes = 0;
	for (i = 0; i < SN_LINKS; i++) {
		n->link[i].busy_ns = 0;
		n->link[i].delay_sum_ns = 0;
		n->link[i].delay_max_ns = 0;
		n->link[i].packets = 0;
	}
}

static inline bool sn_uses(const struct sn_flow *fl, int link)
{
	int h;

	for (h = 0; h < fl->hops; h++)
		if (fl->path[h] == link)
			return true;
	return false;
}

/*
 * Weighted max-min by water filling: again and again the link on which a unit of
 * weight gets least is full, its flows have their rate. ideal: bit/s of each.
 */
static inline void sn_fill(struct sn *n)
{
	bool *done = calloc(n->flows, sizeof(*done));
	double left[SN_LINKS], weight, least;
	int i, l, worst;

	if (!done)
		abort();
	for (l = 0; l < SN_LINKS; l++)
		left[l] = n->link[l].bps;
	for (i = 0; i < n->flows; i++)
		done[i] = !n->flow[i].alive;
	for (;;) {
		worst = -1;
		least = INFINITY;
		for (l = 0; l < SN_LINKS; l++) {
			weight = 0;
			for (i = 0; i < n->flows; i++)
				if (!done[i] && sn_uses(&n->flow[i], l))
					weight += n->flow[i].weight;
			if (weight > 0 && left[l] / weight < least) {
				least = left[l] / weight;
				worst = l;
			}
		}
		if (worst < 0)
			break;
		for (i = 0; i < n->flows; i++) {
			if (done[i] || !sn_uses(&n->flow[i], worst))
				continue;
			done[i] = true;
			n->flow[i].ideal = least * n->flow[i].weight;
			for (l = 0; l < SN_LINKS; l++)
				if (sn_uses(&n->flow[i], l))
					left[l] -= n->flow[i].ideal;
		}
	}
	free(done);
}

/* Largest error of what flows got since sn_clear() at from_ns, permille. */
static inline double sn_worst_permille(struct sn *n, double from_ns)
{
	double worst = 0, error;
	int i;

	sn_fill(n);
	for (i = 0; i < n->flows; i++) {
		if (!n->flow[i].alive)
			continue;
		error = n->flow[i].bytes * 8e9 / (n->now_ns - from_ns) /
			n->flow[i].ideal - 1;
		if (fabs(error) > worst)
			worst = fabs(error);
	}
	return 1000 * worst;
}

/* Largest error of the rates that the flows have now, permille. */
static inline double sn_worst_rate_permille(struct sn *n)
{
	double sum = 0, ideal = 0, worst = 0, error;
	int i;

	sn_fill(n);
	for (i = 0; i < n->flows; i++) {
		if (!n->flow[i].alive)
			continue;
		sum += sz_exp2(n->flow[i].sz.rate_l2);
		ideal += n->flow[i].ideal;
	}
	for (i = 0; i < n->flows; i++) {
		if (!n->flow[i].alive)
			continue;
		error = sz_exp2(n->flow[i].sz.rate_l2) / sum /
			(n->flow[i].ideal / ideal) - 1;
		if (fabs(error) > worst)
			worst = fabs(error);
	}
	return 1000 * worst;
}

#endif /* SOZE_NET_H */
