// SPDX-License-Identifier: GPL-2.0
/* The simulation of sim.h: events, links, queues, and the three flow controls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "sim.h"

#define BUCKET_PS	16384	/* of the clock */
#define RTT_ACK_NS	5000	/* acknowledgements meet no queue */

struct packet {
	struct packet *next;
	u32 flow;
	u64 sequence;
	u32 bytes;
	u8 hop;			/* of its flow's way */
	struct pyr_packet pkt;
};

struct fifo {
	struct packet *head;
	struct packet **tail;
	u32 bytes;
};

struct frame {
	struct frame *next;
	struct pyr_frame pyr;
	bool pause;
};

struct port {
	u32 peer;
	u8 peer_port;
	u64 rate_gbps;
	bool busy;
	bool paused;			/* PFC */
	bool told;			/* PFC: the neighbour is paused */
	u64 in_bytes;			/* PFC: what came by this port */
	struct frame *frames;
	struct fifo oq;
	struct fifo q[QUEUES];
};

struct node {
	bool host;
	u8 ports;
	u64 bytes;
	bool ticking;
	struct port *port;
	struct pyr_switch *sw;
};

const char *const mode_names[MODES] = { "none", "pfc", "pyrrha" };

static struct settings set;
static struct flow *flows;
static u32 flow_count, node_count, host_count;
static struct node *nodes;
static u64 now_ps;
static struct pn_clock *events;
static struct totals totals;
static u32 random_state = 1;

u32 sim_random(u32 below)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (u64)random_state * below >> 32;
}

enum { START, DONE, ARRIVE, FRAME, TICK, ACK };

/* Something will happen: at a time, to a port of a node or to flow @node. */
static void at(u64 ps, u8 what, u32 node, u8 port, void *object)
{
	struct pn_event *ev = pn_clock_new(events);

	*ev = (struct pn_event) {
		.at = ps, .object = object, .flow = node, .what = what, .hop = port,
	};
	pn_clock_add(events, ev);
}

/* ---- the network --------------------------------------------------------------- */

static u32 leaf_node(u32 leaf)
{
	return host_count + leaf;
}

static u32 spine_node(u32 spine)
{
	return host_count + set.leaves + spine;
}

static u32 node_id(u32 node)
{
	return node + 1;
}

static void join(u32 a, u8 pa, u32 b, u8 pb, u32 gbps)
{
	nodes[a].port[pa].peer = b;
	nodes[a].port[pa].peer_port = pb;
	nodes[a].port[pa].rate_gbps = gbps;
	nodes[b].port[pb].peer = a;
	nodes[b].port[pb].peer_port = pa;
	nodes[b].port[pb].rate_gbps = gbps;
}

static u64 line_ps(const struct port *port, u32 bytes)
{
	return (u64)bytes * 8000 / port->rate_gbps;
}

static u32 hop_rtt_ns(const struct port *port)
{
	return pyr_hop_rtt_ns(port->rate_gbps * 1000000000ULL, set.delay_ns,
			      MTU_BYTES + WIRE_BYTES);
}

static void add_node(u32 index, u8 ports, bool host)
{
	struct pyr_config config = {
		.id = node_id(index), .queues = QUEUES, .buckets = 4,
		.pause_permille = set.pause_permille,
		.resume_permille = set.resume_permille, .tick_ns = 16000,
	};
	struct node *node = &nodes[index];
	u8 i, j;

	node->host = host;
	node->ports = ports;
	node->port = calloc(ports, sizeof(*node->port));
	for (i = 0; i < ports; i++) {
		node->port[i].oq.tail = &node->port[i].oq.head;
		for (j = 0; j < QUEUES; j++)
			node->port[i].q[j].tail = &node->port[i].q[j].head;
	}
	node->sw = calloc(1, sizeof(*node->sw));
	pyr_init(node->sw, &config);
}

static void ports_up(u32 index)
{
	struct node *node = &nodes[index];
	u8 i;

	for (i = 0; i < node->ports; i++) {
		struct pyr_port_config config = {
			.rate_bps = node->port[i].rate_gbps * 1000000000ULL,
			.hop_rtt_ns = hop_rtt_ns(&node->port[i]),
			.epoch = 1, .tell = true, .hear = true,
		};

		pyr_port_up(node->sw, i, &config);
	}
}

/* A flow's way: the ports it leaves by, its host's first. */
static u8 way(const struct flow *flow, u32 *node, u8 *port)
{
	u32 from = flow->from / set.hosts, to = flow->to / set.hosts;
	u8 hops = 0;

	node[hops] = flow->from;
	port[hops++] = 0;
	if (from != to) {
		node[hops] = leaf_node(from);
		port[hops++] = set.hosts + flow->spine;
		node[hops] = spine_node(flow->spine);
		port[hops++] = to;
	}
	node[hops] = leaf_node(to);
	port[hops++] = flow->to % set.hosts;
	return hops;
}

static void onward(const struct packet *packet, struct pyr_path *path)
{
	u32 node[HOPS_MAX];
	u8 port[HOPS_MAX], hops = way(&flows[packet->flow], node, port), i;

	path->hops = 0;
	for (i = packet->hop + 1; i < hops; i++)
		path->hop[path->hops++] = PYR_ROOT(node_id(node[i]), port[i]);
}

/* ---- frames -------------------------------------------------------------------- */

static void serve(u32 index, u8 out);

static void send_frame(u32 index, u8 out, const struct pyr_frame *pyr,
		       bool pause)
{
	struct frame *frame = calloc(1, sizeof(*frame)), **end;

	totals.frames++;
	if (pyr)
		frame->pyr = *pyr;
	frame->pause = pause;
	for (end = &nodes[index].port[out].frames; *end; end = &(*end)->next)
		;
	*end = frame;
	serve(index, out);
}

/* What Pyrrha's core has to say; its clock runs while it knows roots. */
static void speak(u32 index)
{
	struct node *node = &nodes[index];
	struct pyr_frame frame;
	u8 port;

	while (pyr_next_frame(node->sw, &frame, &port))
		send_frame(index, port, &frame, frame.type == PYR_PAUSE);
	if (node->sw->roots && !node->ticking) {
		node->ticking = true;
		at(now_ps + node->sw->config.tick_ns * PS_PER_NS, TICK, index,
		   0, NULL);
	}
}

static void hear_frame(u32 index, u8 in, struct frame *frame)
{
	struct port *port = &nodes[index].port[in];

	if (set.mode == PFC)
		port->paused = frame->pause;
	else
		pyr_frame_in(nodes[index].sw, in, &frame->pyr, port->oq.bytes);
	free(frame);
	if (set.mode == PYRRHA)
		speak(index);
	serve(index, in);
}

/* ---- queues -------------------------------------------------------------------- */

static void push(struct fifo *fifo, struct packet *packet)
{
	packet->next = NULL;
	*fifo->tail = packet;
	fifo->tail = &packet->next;
	fifo->bytes += packet->bytes;
}

static struct packet *pop(struct fifo *fifo)
{
	struct packet *packet = fifo->head;

	fifo->head = packet->next;
	if (!fifo->head)
		fifo->tail = &fifo->head;
	fifo->bytes -= packet->bytes;
	return packet;
}

static void put(struct port *port, u8 queue, struct packet *packet)
{
	push(queue == PYR_OQ ? &port->oq : &port->q[queue], packet);
}

/* 802.1Qbb with a dynamic threshold, alpha 2, and room for what still comes. */
static void pfc_look(u32 index, u8 in)
{
	struct node *node = &nodes[index];
	struct port *port = &node->port[in];
	u64 hop = hop_rtt_ns(port) * port->rate_gbps / 8, limit;

	limit = node->bytes < set.buffer_bytes ?
		(set.buffer_bytes - node->bytes) * 2 : 0;
	if (limit > set.buffer_bytes / node->ports)
		limit = set.buffer_bytes / node->ports;
	limit = limit > 2 * hop ? limit - hop : hop;
	if (!port->told && port->in_bytes > limit) {
		port->told = true;
		send_frame(index, in, NULL, true);
	} else if (port->told && port->in_bytes + hop / 2 < limit) {
		port->told = false;
		send_frame(index, in, NULL, false);
	}
}

static void enter(u32 index, u8 out, u8 in, struct packet *packet)
{
	struct node *node = &nodes[index];
	struct port *port = &node->port[out];
	struct pyr_path path;

	if (!node->host && node->bytes + packet->bytes > set.buffer_bytes) {
		totals.dropped++;
		free(packet);
		return;
	}
	node->bytes += packet->bytes;
	if (!node->host && node->bytes > totals.peak_bytes)
		totals.peak_bytes = node->bytes;
	packet->pkt = (struct pyr_packet){ in, PYR_NONE, 0 };
	if (set.mode == PYRRHA) {
		onward(packet, &path);
		put(port, pyr_arrive(node->sw, out, &packet->pkt, &path,
				     packet->bytes, port->oq.bytes), packet);
		speak(index);
	} else {
		put(port, PYR_OQ, packet);
		if (set.mode == PFC && in != PYR_NONE) {
			node->port[in].in_bytes += packet->bytes;
			pfc_look(index, in);
		}
	}
	serve(index, out);
}

/* ---- what a port sends next ------------------------------------------------------ */

static bool move_one(u32 index, u8 out, u8 *to)
{
	struct node *node = &nodes[index];
	struct port *port = &node->port[out];
	u8 queue = pyr_pick(node->sw, out, set.all_moves ? 0 : port->oq.bytes);
	struct packet *packet;
	struct pyr_path path;

	if (queue == PYR_NONE)
		return false;
	packet = pop(&port->q[queue]);
	onward(packet, &path);
	*to = pyr_move(node->sw, out, &packet->pkt, &path,
		       packet->bytes);
	put(port, *to, packet);
	return true;
}

static struct packet *pyrrha_take(u32 index, u8 out)
{
	struct port *port = &nodes[index].port[out];
	struct packet *packet;
	u32 moves = set.all_moves ? nodes[index].sw->port[out].assigned : 1;
	u8 to;

	while (moves || !port->oq.head) {
		if (!move_one(index, out, &to))
			break;
		if (moves && to == PYR_OQ)
			moves--;
	}
	if (!port->oq.head)
		return NULL;
	packet = pop(&port->oq);
	pyr_sent(nodes[index].sw, out, port->oq.bytes);
	return packet;
}

static struct packet *take(u32 index, u8 out)
{
	struct port *port = &nodes[index].port[out];

	if (set.mode == PYRRHA)
		return pyrrha_take(index, out);
	return port->oq.head && !port->paused ? pop(&port->oq) : NULL;
}

static void feed(u32 flow);

static void left(u32 index, struct packet *packet)
{
	struct node *node = &nodes[index];
	u8 in = packet->pkt.in;

	node->bytes -= packet->bytes;
	if (set.mode == PFC && in != PYR_NONE) {
		node->port[in].in_bytes -= packet->bytes;
		pfc_look(index, in);
	}
	if (!node->host)
		return;
	flows[packet->flow].in_host--;
	feed(packet->flow);
}

static void serve(u32 index, u8 out)
{
	struct port *port = &nodes[index].port[out];
	struct packet *packet;
	struct frame *frame = port->frames;
	u64 fly_ps = set.delay_ns * PS_PER_NS, ps;

	if (port->busy)
		return;
	if (frame) {
		port->frames = frame->next;
		frame->next = NULL;
		ps = line_ps(port, FRAME_BYTES);
		port->busy = true;
		at(now_ps + ps, DONE, index, out, NULL);
		if (sim_random(1000) < set.frame_loss_permille)
			free(frame);
		else
			at(now_ps + ps + fly_ps, FRAME, port->peer,
			   port->peer_port, frame);
		return;
	}
	packet = take(index, out);
	if (set.mode == PYRRHA)
		speak(index);
	if (!packet)
		return;
	ps = line_ps(port, packet->bytes + WIRE_BYTES);
	port->busy = true;
	at(now_ps + ps, DONE, index, out, NULL);
	at(now_ps + ps + fly_ps, ARRIVE, port->peer, port->peer_port, packet);
	left(index, packet);
}

/* ---- hosts --------------------------------------------------------------------- */

/* As TCP Small Queues: two packets of a flow wait in its host. */
static void feed(u32 index)
{
	struct flow *flow = &flows[index];
	struct packet *packet;
	u64 rest;

	while (flow->in_host < 2 && flow->sent_bytes < flow->bytes) {
		if (set.window_bytes && flow->sent_bytes >=
		    flow->received_bytes + set.window_bytes)
			return;
		rest = flow->bytes - flow->sent_bytes;
		packet = calloc(1, sizeof(*packet));
		packet->flow = index;
		packet->bytes = rest < MTU_BYTES ? rest : MTU_BYTES;
		packet->sequence = ++flow->next_sequence;
		flow->sent_bytes += packet->bytes;
		flow->in_host++;
		enter(flow->from, 0, PYR_NONE, packet);
	}
}

static void deliver(struct packet *packet)
{
	struct flow *flow = &flows[packet->flow];

	totals.reordered += packet->sequence <= flow->got_sequence;
	flow->got_sequence = packet->sequence;
	flow->received_bytes += packet->bytes;
	if (flow->received_bytes == flow->bytes)
		flow->done_ns = now_ps / PS_PER_NS;
	if (set.window_bytes)
		at(now_ps + RTT_ACK_NS / 2 * PS_PER_NS, ACK, packet->flow, 0,
		   NULL);
	free(packet);
}

static void arrive(u32 index, u8 in, struct packet *packet)
{
	u32 node[HOPS_MAX];
	u8 port[HOPS_MAX];

	if (nodes[index].host) {
		deliver(packet);
		return;
	}
	way(&flows[packet->flow], node, port);
	packet->hop++;
	enter(index, port[packet->hop], in, packet);
}

static void tick(u32 index)
{
	struct node *node = &nodes[index];
	u64 wake = pyr_tick(node->sw);
	u8 i;

	node->ticking = false;
	speak(index);
	for (i = 0; i < node->ports; i++)
		if (wake >> i & 1)
			serve(index, i);
}

/* ---- all ----------------------------------------------------------------------- */

void sim_open(const struct settings *settings, struct flow *list, u32 count)
{
	u32 i, j;

	set = *settings;
	flows = list;
	flow_count = count;
	host_count = set.leaves * set.hosts;
	node_count = host_count + set.leaves + set.spines;
	nodes = calloc(node_count, sizeof(*nodes));
	memset(&totals, 0, sizeof(totals));
	now_ps = 0;
	random_state = 1;
	events = pn_clock_open(BUCKET_PS);
	for (i = 0; i < node_count; i++)
		add_node(i, i < host_count ? 1 :
			 i < host_count + set.leaves ? set.hosts + set.spines :
			 set.leaves, i < host_count);
	for (i = 0; i < host_count; i++)
		join(i, 0, leaf_node(i / set.hosts), i % set.hosts,
		     set.host_gbps);
	for (i = 0; i < set.leaves; i++)
		for (j = 0; j < set.spines; j++)
			join(leaf_node(i), set.hosts + j, spine_node(j), i,
			     set.spine_gbps);
	for (i = 0; i < node_count; i++)
		ports_up(i);
	for (i = 0; i < count; i++)
		at(flows[i].start_ns * PS_PER_NS, START, i, 0, NULL);
}

void sim_run(u64 until_ns)
{
	struct pn_event *ev, e;

	while ((ev = pn_clock_next(events, until_ns * PS_PER_NS + 1))) {
		e = *ev;
		pn_clock_drop(events, ev);
		now_ps = e.at;
		switch (e.what) {
		case START:
		case ACK:
			feed(e.flow);
			break;
		case DONE:
			nodes[e.flow].port[e.hop].busy = false;
			serve(e.flow, e.hop);
			break;
		case ARRIVE:
			arrive(e.flow, e.hop, e.object);
			break;
		case FRAME:
			hear_frame(e.flow, e.hop, e.object);
			break;
		default:
			tick(e.flow);
		}
	}
}

void sim_totals(struct totals *to)
{
	u32 i;

	for (i = 0; i < node_count; i++) {
		const struct pyr_switch *sw = nodes[i].sw;

		totals.roots_left += sw->roots;
		if (sw->stats.assigned_max > totals.queues_max)
			totals.queues_max = sw->stats.assigned_max;
	}
	*to = totals;
}

void sim_close(void)
{
	struct pn_event *ev;
	u32 i;

	while ((ev = pn_clock_next(events, INFINITY)))
		free(ev->object);
	pn_clock_close(events);
	for (i = 0; i < node_count; i++) {
		free(nodes[i].port);
		free(nodes[i].sw);
	}
	free(nodes);
}
