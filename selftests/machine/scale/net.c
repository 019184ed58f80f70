// SPDX-License-Identifier: GPL-2.0
#include "fluid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRIVE, ACKED, TIMER };

/* Zeroed memory, or the end. */
void *net_need(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p) {
		fprintf(stderr, "no memory for %zu x %zu bytes\n", count, size);
		exit(2);
	}
	return p;
}

u32 net_random(struct net *n, u32 below)
{
	n->random ^= n->random << 13;
	n->random ^= n->random >> 7;
	n->random ^= n->random << 17;
	return (n->random >> 33) % below;
}

/* Flows between random hosts, or all to the first, over one of the equal paths,
 * weights 1 to 4.
 */
void net_init(struct net *n, u32 k, u32 flows, double line_bps, bool incast,
	      bool packets, u32 seed)
{
	struct sz_conf cf = { .line_bps = line_bps, .wire_bytes = NET_WIRE };
	u32 f, src, dst;

	memset(n, 0, sizeof(*n));
	n->random = 88172645463325252ULL + seed * 1000003ULL;
	if (tree_init(&n->tree, k) || sz_par_init(&n->par, &cf)) {
		fprintf(stderr, "k = %u: even, 2 to %d\n", k, TREE_K_MAX);
		exit(2);
	}
	if (packets)
		wheel_init(&n->wheel);
	n->line_bps = line_bps;
	n->packet_ps = NET_WIRE * 8e12 / line_bps + 0.5;
	n->link = net_need(n->tree.links, sizeof(*n->link));
	n->flow = net_need(flows, sizeof(*n->flow));
	n->flows = flows;
	for (f = 0; f < flows; f++) {
		struct net_flow *fl = &n->flow[f];

		src = net_random(n, n->tree.hosts - incast) + incast;
		dst = net_random(n, n->tree.hosts - 1);
		dst = incast ? 0 : dst + (dst >= src);
		fl->hops = tree_path(&n->tree, src, dst,
				     net_random(n, k * k / 4), fl->path);
		fl->weight_milli = 1000 * (1 + net_random(n, 4));
	}
	n->fluid = packets ? NULL : fluid_new(n);
}

void net_free(struct net *n)
{
	if (!n->fluid)
		wheel_free(&n->wheel);
	fluid_free(n->fluid);
	free(n->link);
	free(n->flow);
}

static void add(struct net *n, u32 f, int what, int64_t at_ps)
{
	u32 e = wheel_new(&n->wheel);
	struct wheel_event *ev = &n->wheel.event[e];

	*ev = (struct wheel_event) {
		.at_ps = at_ps, .sent_ps = at_ps, .flow = f, .what = what,
	};
	if (what == ARRIVE) {
		ev->hops = n->flow[f].hops;
		memcpy(ev->path, n->flow[f].path, sizeof(ev->path));
	}
	wheel_add(&n->wheel, e);
}

/* Sends what window and pacing allow; like TCP, the first packets unpaced. */
static void send_some(struct net *n, u32 f)
{
	struct net_flow *fl = &n->flow[f];
	bool known = fl->rest_ns > 0;
	u32 window = known ? sz_window_pkts(&fl->sz, &n->par, fl->rest_ns) :
			     NET_BURST;
	int64_t gap_ps = 0, late_ps;

	if (known)
		gap_ps = NET_WIRE * 1e12 / sz_exp2(fl->sz.pace_l2);
	while (fl->in_flight < window) {
		if (fl->sent >= NET_BURST && n->now_ps < fl->next_ps) {
			if (!fl->timer)
				add(n, f, TIMER, fl->next_ps);
			fl->timer = true;
			return;
		}
		/* as tcp_update_skb_after_send(): late packets are made up for */
		if (known) {
			late_ps = n->now_ps - fl->next_ps;
			fl->next_ps = n->now_ps + gap_ps -
				      (late_ps < gap_ps / 2 ? late_ps : gap_ps / 2);
		}
		fl->in_flight++;
		fl->sent += fl->sent < NET_BURST;
		add(n, f, ARRIVE, n->now_ps);
	}
}

/* A packet reaches a link: wait, be sent, go on or be acknowledged. */
static void arrive(struct net *n, u32 e)
{
	struct wheel_event *ev = &n->wheel.event[e];
	struct net_link *l = &n->link[ev->path[ev->hop]];
	int64_t start_ps = l->free_ps > ev->at_ps ? l->free_ps : ev->at_ps;
	int64_t delay_ps = start_ps - ev->at_ps;
	int64_t gone_ps = start_ps - l->last_ps;
	u32 told_ns;

	l->free_ps = start_ps + n->packet_ps;
	l->busy_ps += n->packet_ps;
	if (gone_ps >= 1 << NET_TAU_SHIFT)
		l->told_ps = delay_ps;
	else
		l->told_ps += (delay_ps - l->told_ps) * gone_ps >> NET_TAU_SHIFT;
	l->last_ps = start_ps;
	told_ns = l->told_ps / NET_PS;
	if (told_ns > ev->told_ns)
		ev->told_ns = told_ns;
	ev->at_ps = l->free_ps + NET_PROP_PS;
	if (++ev->hop == ev->hops) {
		ev->what = ACKED;
		ev->at_ps += ev->hops * NET_PROP_PS;
	}
	wheel_add(&n->wheel, e);
}

/**
 * net_base_ns() - RTT without queues
 * @n: the network
 * @fl: the flow
 *
 * Return: ns.
 */
u32 net_base_ns(const struct net *n, const struct net_flow *fl)
{
	return fl->hops * (2 * NET_PROP_PS + n->packet_ps) / NET_PS;
}

/**
 * net_hear() - what a flow makes of an ACK
 * @n: the network
 * @fl: the flow
 * @now_ns: time, ns
 * @rtt_ns: RTT, ns
 * @told_ns: the largest delay that a link has told, ns
 */
void net_hear(struct net *n, struct net_flow *fl, u64 now_ns, u32 rtt_ns,
	      u32 told_ns)
{
	struct sz_sample s = { .now_ns = now_ns, .delay_ns = told_ns & ~15U };
	u32 known_ns = net_base_ns(n, fl) + NET_TOLD_MAX_NS + NET_SLACK_NS;

	/* the option counts in units of 16 ns, with 16 bits; what it has no numbers
	 * for is seen in the RTT, as in tcp_soze.c
	 */
	if (told_ns >= NET_TOLD_MAX_NS)
		s.delay_ns = NET_TOLD_MAX_NS +
			     (rtt_ns > known_ns ? rtt_ns - known_ns : 0);
	n->rtt_sum_ns += rtt_ns;
	n->acks++;
	if (!(fl->rest_ns > 0)) {
		fl->rest_ns = rtt_ns > s.delay_ns ? rtt_ns - s.delay_ns : 1;
		sz_init(&fl->sz, &n->par, now_ns,
			NET_BURST * NET_WIRE * 1000000000ULL / rtt_ns,
			fl->weight_milli);
	} else {
		fl->rest_ns += ((float)rtt_ns - s.delay_ns - fl->rest_ns) / 8;
		if (fl->rest_ns < 1)
			fl->rest_ns = 1;
	}
	s.rtt_ns = fl->rest_ns + s.delay_ns;
	sz_on_ack(&fl->sz, &n->par, &s);
}

static void acked(struct net *n, const struct wheel_event *ev)
{
	struct net_flow *fl = &n->flow[ev->flow];

	fl->in_flight--;
	net_hear(n, fl, ev->at_ps / NET_PS, (ev->at_ps - ev->sent_ps) / NET_PS,
		 ev->told_ns);
}

/* Goes on until a time. */
void net_run(struct net *n, int64_t until_ps)
{
	u32 e, f;

	if (n->fluid) {
		fluid_run(n->fluid, until_ps);
		return;
	}
	while ((e = wheel_next(&n->wheel, until_ps)) != WHEEL_NONE) {
		struct wheel_event *ev = &n->wheel.event[e];

		n->now_ps = ev->at_ps;
		if (ev->what == ARRIVE) {
			arrive(n, e);
			continue;
		}
		f = ev->flow;
		if (ev->what == ACKED)
			acked(n, ev);
		else
			n->flow[f].timer = false;
		wheel_drop(&n->wheel, e);
		send_some(n, f);
	}
	n->now_ps = until_ps;
}

/* A flow begins at a time: its initial window, all at once. */
void net_start(struct net *n, u32 f, int64_t at_ps)
{
	if (n->fluid) {
		fluid_start(n->fluid, f, at_ps);
		return;
	}
	n->flow[f].timer = true;
	add(n, f, TIMER, at_ps);
}

/* A flow that has its share, ideal_l2, since long; its first packet leaves within
 * the time of one.
 */
void net_settled(struct net *n, u32 f)
{
	struct net_flow *fl = &n->flow[f];
	u64 rate = sz_exp2(fl->ideal_l2);
	int64_t gap_ps = NET_WIRE * 1e12 / rate;

	sz_init(&fl->sz, &n->par, 0, rate, fl->weight_milli);
	fl->sz.starting = false;
	fl->sz.age = U32_MAX;
	fl->sent = NET_BURST;
	fl->rest_ns = net_base_ns(n, fl);
	fl->next_ps = gap_ps * (net_random(n, 1 << 20) / 1048576.);
	if (n->fluid)
		fluid_settled(n->fluid, f);
	else
		net_start(n, f, fl->next_ps);
}

/* A flow has another weight. */
void net_weight(struct net *n, u32 f, u32 weight_milli)
{
	struct net_flow *fl = &n->flow[f];

	fl->weight_milli = weight_milli;
	if (!(fl->rest_ns > 0))
		return;
	sz_set_weight(&fl->sz, &n->par, weight_milli);
	if (!n->fluid)
		send_some(n, f);
}

/* What a link still has to send, ps. */
static int64_t backlog(const struct net *n, u32 l)
{
	int64_t rest_ps = n->link[l].free_ps - n->now_ps;

	return rest_ps > 0 ? rest_ps : 0;
}

/* The time that a link has been sending since net_clear(), ps. */
int64_t net_busy(const struct net *n, u32 l)
{
	return n->link[l].busy_ps - backlog(n, l);
}

/* Counters begin again. */
void net_clear(struct net *n)
{
	u32 l;

	for (l = 0; l < n->tree.links; l++)
		n->link[l].busy_ps = backlog(n, l);
	n->rtt_sum_ns = 0;
	n->acks = 0;
}
