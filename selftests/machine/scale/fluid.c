// SPDX-License-Identifier: GPL-2.0
/*
 * Flows as rates. Time goes in steps of 2 us. A link's queue is what has arrived less
 * what its rate has carried, all in integers; it tells its queue divided by its rate,
 * as a switch stamps it. A flow hears with each of its packets, but at most so many
 * times in a round trip (VISITS): of the largest delay on its path one RTT ago, when
 * what is heard of now was sent. Then the core, the same code as the kernel's,
 * says what it sends until it hears again: the pace, or the window in an RTT.
 *
 * What a link passes on is less than what arrives while it is full, so a flow
 * arrives at its next links with as much less. Left out: that the change of a
 * rate reaches the second link of a path later than the first, and all that comes
 * from packets as such: their order, whether they meet, losses.
 */
#include "fluid.h"

#include <stdlib.h>

#define STEP_NS		2000LL			/* a step of time */
#define PAST		2048			/* steps that are remembered: 4 ms */
#define AGENDA		4096			/* steps that a flow can wait */
/* How often a flow hears in an RTT, at most; where there are many flows, less often. */
#define VISITS		4
#define VISITS_MANY	2
#define MANY		20000
#define TRIES		6			/* to find when a packet was sent */
#define RATE_SHIFT	3			/* rates are counted in 8 bytes/s */
#define NONE		UINT32_MAX

/**
 * struct fluid_flow - what a flow does, beside its struct sn_flow
 * @next: in its step of the agenda
 * @sent: step in which was sent what it has heard of last
 * @heard: step in which it has heard of that
 * @rate: what arrives at the links of its path, << RATE_SHIFT bytes/s
 * @begun: it has sent its first packets
 */
struct fluid_flow {
	u32 next, sent, heard;
	u32 rate[TREE_HOPS];
	bool begun;
};

/**
 * struct fluid - all of it
 * @n: network, parameters, cores
 * @flow: by number
 * @arrive: by link: sum of rates, << RATE_SHIFT bytes/s
 * @queue: by link, bytes * 10^9
 * @pass: by link: part of what arrives that it passes on, << 16
 * @carried: by link: sum of @arrive over steps
 * @past: by step and link: queueing delay, ns
 * @agenda: by step: the first flow that hears
 * @capacity: of a link, << RATE_SHIFT bytes/s
 * @step: of time
 */
struct fluid {
	struct net *n;
	struct fluid_flow *flow;
	int64_t *arrive, *queue;
	u32 *pass;
	u64 *carried;
	u32 *past;
	u32 agenda[AGENDA];
	int64_t capacity;
	u64 step;
};

struct fluid *fluid_new(struct net *n)
{
	struct fluid *fd = pn_alloc(1, sizeof(*fd));
	u32 i;

	fd->n = n;
	fd->flow = pn_alloc(n->sn.net.flows, sizeof(*fd->flow));
	fd->arrive = pn_alloc(n->tree.links, sizeof(*fd->arrive));
	fd->queue = pn_alloc(n->tree.links, sizeof(*fd->queue));
	fd->pass = pn_alloc(n->tree.links, sizeof(*fd->pass));
	fd->carried = pn_alloc(n->tree.links, sizeof(*fd->carried));
	fd->past = pn_alloc((size_t)n->tree.links * PAST, sizeof(*fd->past));
	fd->capacity = (int64_t)(n->sn.net.link[0].bps / 8) >> RATE_SHIFT;
	for (i = 0; i < AGENDA; i++)
		fd->agenda[i] = NONE;
	for (i = 0; i < n->tree.links; i++)
		fd->pass[i] = 1 << 16;
	return fd;
}

void fluid_free(struct fluid *fd)
{
	if (!fd)
		return;
	free(fd->flow);
	free(fd->arrive);
	free(fd->queue);
	free(fd->pass);
	free(fd->carried);
	free(fd->past);
	free(fd);
}

/* A flow hears again after a time. */
static void wait_ns(struct fluid *fd, u32 f, u64 ns)
{
	u64 steps = (ns + STEP_NS / 2) / STEP_NS;
	u32 *head;

	if (steps < 1)
		steps = 1;
	if (steps > AGENDA - 1)
		steps = AGENDA - 1;
	head = &fd->agenda[(fd->step + steps) % AGENDA];
	fd->flow[f].next = *head;
	*head = f;
}

/* What a flow sends from now on, bytes/s, goes to all links of its path. */
static void send_rate(struct fluid *fd, u32 f, u64 bytes_per_s)
{
	const struct pn_flow *pf = &fd->n->sn.net.flow[f];
	struct fluid_flow *ff = &fd->flow[f];
	u64 rate = bytes_per_s >> RATE_SHIFT;
	u32 h;

	for (h = 0; h < pf->hops; h++) {
		u32 l = pf->path[h];

		fd->arrive[l] += (int64_t)rate - ff->rate[h];
		ff->rate[h] = rate;
		rate = (rate * fd->pass[l]) >> 16;
	}
}

/* RTT of what a flow sends in a step, ns; @told_ns: the largest delay on its path. */
static u32 rtt_of(const struct fluid *fd, u32 f, u64 step, u32 *told_ns)
{
	const struct pn_flow *pf = &fd->n->sn.net.flow[f];
	const u32 *row = fd->past + step % PAST * fd->n->tree.links;
	u32 h, sum = fd->n->sn.flow[f].base_ns, most = 0;

	for (h = 0; h < pf->hops; h++) {
		sum += row[pf->path[h]];
		if (row[pf->path[h]] > most)
			most = row[pf->path[h]];
	}
	*told_ns = most;
	return sum;
}

/* When was sent what is heard of now? Not before what was heard of last. Mostly as much
 * later as it is now; else the RTT at that time says where to look next. Return: RTT.
 */
static u32 heard(struct fluid *fd, u32 f, u32 *told_ns)
{
	struct fluid_flow *ff = &fd->flow[f];
	int64_t low = ff->sent;
	int64_t high = fd->step - (u32)fd->n->sn.flow[f].base_ns / STEP_NS;
	int64_t at = ff->sent + (fd->step - ff->heard), late;
	u32 rtt_ns, tries;

	if (low < (int64_t)fd->step - PAST + 1)
		low = fd->step - PAST + 1;
	for (tries = 0; ; tries++) {
		if (at > high)
			at = high;
		if (at < low)
			at = low;
		rtt_ns = rtt_of(fd, f, at, told_ns);
		late = at + rtt_ns / STEP_NS - fd->step;
		if (tries == TRIES || high <= low ||
		    (late <= 1 + rtt_ns / (16 * STEP_NS) &&
		     late >= -1 - rtt_ns / (16 * STEP_NS)))
			break;
		if (late > 0)
			high = at - 1;
		else
			low = at + 1;
		at -= late;
		if (at < low || at > high)
			at = (low + high) / 2;
	}
	ff->sent = at;
	ff->heard = fd->step;
	return rtt_ns;
}

/* The first packets, all at once: they wait in the first link's queue, and go on
 * from there at its rate, an RTT's worth.
 */
static void begin(struct fluid *fd, u32 f)
{
	struct fluid_flow *ff = &fd->flow[f];
	u32 rtt_ns, told_ns, l = fd->n->sn.net.flow[f].path[0];

	rtt_ns = rtt_of(fd, f, fd->step, &told_ns);
	fd->queue[l] += SN_BURST * PN_WIRE * 1000000000LL;
	send_rate(fd, f, SN_BURST * PN_WIRE * 1000000000ULL / rtt_ns);
	fd->arrive[l] -= ff->rate[0];
	ff->rate[0] = 0;
	ff->sent = fd->step;
	ff->begun = true;
	wait_ns(fd, f, rtt_ns);
	ff->heard = fd->step + rtt_ns / STEP_NS;
}

/* An ACK. */
static void hear(struct fluid *fd, u32 f)
{
	struct sn *n = &fd->n->sn;
	struct sn_flow *fl = &n->flow[f];
	struct fluid_flow *ff = &fd->flow[f];
	u64 rate, bound, gap_ns;
	u32 rtt_ns, told_ns, now_ns;

	if (!ff->begun) {
		begin(fd, f);
		return;
	}
	rtt_ns = heard(fd, f, &told_ns);
	sn_hear(n, f, fd->step * STEP_NS, rtt_ns, told_ns);
	rate = sz_exp2(fl->sz.pace_l2);
	gap_ns = PN_WIRE * 1000000000ULL / rate;
	/* what is in flight is bounded by the window: by the queues of now */
	now_ns = rtt_of(fd, f, fd->step, &told_ns);
	bound = (u64)sz_window_pkts(&fl->sz, &n->par, fl->rest_ns) * PN_WIRE *
		1000000000ULL / now_ns;
	send_rate(fd, f, rate < bound ? rate : bound);
	rtt_ns /= n->net.flows > (int)MANY ? VISITS_MANY : VISITS;
	wait_ns(fd, f, gap_ns > rtt_ns ? gap_ns : rtt_ns);
}

/* A step of all links. */
static void links(struct fluid *fd)
{
	u32 *row = fd->past + fd->step % PAST * fd->n->tree.links;
	u32 l;

	for (l = 0; l < fd->n->tree.links; l++) {
		int64_t over = fd->arrive[l] - fd->capacity;

		fd->carried[l] += fd->arrive[l];
		row[l] = 0;
		if (over <= 0 && !fd->queue[l])
			continue;
		fd->queue[l] += over * (STEP_NS << RATE_SHIFT);
		if (fd->queue[l] < 0)
			fd->queue[l] = 0;
		row[l] = fd->queue[l] / (fd->capacity << RATE_SHIFT);
		fd->pass[l] = over > 0 ? (fd->capacity << 16) / fd->arrive[l] :
					 1 << 16;
	}
}

/**
 * fluid_run() - go on until a time
 * @fd: the network; links' counters of @fd->n follow
 * @until_ns: the time; whole steps are made
 */
void fluid_run(struct fluid *fd, double until_ns)
{
	struct sn *sn = &fd->n->sn;
	struct pn *n = &sn->net;
	u32 f, next, l;

	for (l = 0; !fd->step && l < fd->n->tree.links; l++) {
		fd->past[l] = n->link[l].free_ns;
		fd->queue[l] = fd->past[l] * (fd->capacity << RATE_SHIFT);
	}
	while ((fd->step + 1) * STEP_NS <= until_ns) {
		fd->step++;
		links(fd);
		f = fd->agenda[fd->step % AGENDA];
		fd->agenda[fd->step % AGENDA] = NONE;
		for (; f != NONE; f = next) {
			next = fd->flow[f].next;
			if (next != NONE) {
				__builtin_prefetch(&n->flow[next]);
				__builtin_prefetch(&sn->flow[next]);
				__builtin_prefetch(&fd->flow[next]);
			}
			hear(fd, f);
			n->clock->count++;
		}
	}
	n->now_ns = until_ns;
	for (l = 0; l < fd->n->tree.links; l++) {
		n->link[l].busy_ns += (double)fd->carried[l] * STEP_NS / fd->capacity;
		fd->carried[l] = 0;
		n->link[l].free_ns = n->now_ns + fd->queue[l] /
				     (fd->capacity << RATE_SHIFT);
	}
}

/* A flow begins at a time: its initial window, all at once. */
void fluid_start(struct fluid *fd, u32 f, double at_ns)
{
	wait_ns(fd, f, at_ns);
}

/* A flow that has its share, as net_settled(), which comes before. */
void fluid_settled(struct fluid *fd, u32 f)
{
	const struct sn *n = &fd->n->sn;

	fd->flow[f].begun = true;
	send_rate(fd, f, sz_exp2(n->flow[f].ideal_l2));
	wait_ns(fd, f, n->net.flow[f].next_ns);
}
