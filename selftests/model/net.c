// SPDX-License-Identifier: GPL-2.0
/*
 * The network of net.h: what can happen, and what happens then. The switches'
 * caller does here what a qdisc does: see the table at the top of pyrrha.h.
 */
#include <stdio.h>

#include "core/pyrrha_state.h"
#include "net.h"

#define FORGERIES	5

struct setup setup;
u8 neighbour[SWITCHES_MAX][PYR_PORTS_MAX];
u8 neighbour_port[SWITCHES_MAX][PYR_PORTS_MAX];
void (*violated)(const char *what);

static u8 packet_first[FLOWS_MAX];	/* of each flow */
static u8 packet_flow[PACKETS_MAX];
static u8 out_port[FLOWS_MAX][SWITCHES_MAX];
static struct pyr_path path[FLOWS_MAX][SWITCHES_MAX];

/* ---- setting up ------------------------------------------------------------ */

static u64 name_of(u8 node, u8 port)
{
	return PYR_ROOT(node + 1, port);
}

static void wire(void)
{
	u8 ports[SWITCHES_MAX] = { 1, 1, 1, 1 };
	u8 i, a, b;

	memset(neighbour, PYR_NONE, sizeof(neighbour));
	for (i = 0; i < setup.edges; i++) {
		a = setup.edge[i][0];
		b = setup.edge[i][1];
		neighbour[a][ports[a]] = b;
		neighbour[b][ports[b]] = a;
		neighbour_port[a][ports[a]] = ports[b];
		neighbour_port[b][ports[b]] = ports[a];
		ports[a]++;
		ports[b]++;
	}
}

static void route(u8 f)
{
	const struct flow *flow = &setup.flow[f];
	u8 i, j, port;

	for (i = 0; i < flow->hops; i++) {
		out_port[f][flow->at[i]] = HOST;
		for (port = 1; port < PYR_PORTS_MAX; port++)
			if (i + 1 < flow->hops &&
			    neighbour[flow->at[i]][port] == flow->at[i + 1])
				out_port[f][flow->at[i]] = port;
	}
	memset(path[f], 0, sizeof(path[f]));
	for (i = 0; i < flow->hops; i++)
		for (j = i + 1; j < flow->hops; j++)
			path[f][flow->at[i]].hop[path[f][flow->at[i]].hops++] =
				name_of(flow->at[j],
					out_port[f][flow->at[j]]);
}

static void port_up(struct net *net, u8 n, u8 port, u32 epoch)
{
	/* A byte a nanosecond: a neighbour may fill 1 byte, not 2. */
	struct pyr_port_config config = {
		.rate_bps = 8000000000ULL, .hop_rtt_ns = 1, .epoch = epoch,
		.tell = port != HOST, .hear = port != HOST,
	};

	pyr_port_up(&net->node[n].sw, port, &config);
}

void net_start(struct net *net)
{
	struct pyr_config config = {
		.queues = QUEUES, .buckets = 1, .pause_permille = 1500,
		.resume_permille = 1000, .tick_ns = 1,
	};
	u8 n, port, f, i, packets = 0;

	wire();
	memset(net, 0, sizeof(*net));
	for (n = 0; n < SWITCHES_MAX; n++)
		for (port = 0; port < PYR_PORTS_MAX; port++)
			net->to[n][port].packet = PYR_NONE;
	for (n = 0; n < setup.switches; n++) {
		config.id = n + 1;
		pyr_init(&net->node[n].sw, &config);
		for (port = 0; port < PYR_PORTS_MAX; port++)
			if (port == HOST || neighbour[n][port] != PYR_NONE)
				port_up(net, n, port, 1);
	}
	for (f = 0; f < setup.flows; f++) {
		route(f);
		packet_first[f] = packets;
		for (i = 0; i < setup.flow[f].packets; i++)
			packet_flow[packets++] = f;
	}
}

/* ---- packets --------------------------------------------------------------- */

static void push(struct fifo *fifo, u8 packet)
{
	fifo->packet[fifo->count++] = packet;
}

static u8 pop(struct fifo *fifo)
{
	u8 packet = fifo->packet[0];

	memmove(fifo->packet, fifo->packet + 1, PACKETS_MAX - 1);
	fifo->packet[PACKETS_MAX - 1] = 0;
	fifo->count--;
	return packet;
}

static void put(struct node *node, u8 out, u8 queue, u8 packet)
{
	push(queue == PYR_OQ ? &node->oq[out] : &node->iq[out][queue], packet);
}

/* It waits for the nearest root beyond stage @from that has a queue here. */
static void check_place(const struct net *net, u8 n, u8 out, u8 packet, u8 from)
{
	const struct pyr_path *way = &path[packet_flow[packet]][n];
	const struct pyr_switch *sw = &net->node[n].sw;
	u8 hop, slot, nearest = PYR_NONE;

	for (hop = from; hop < way->hops && nearest == PYR_NONE; hop++)
		for (slot = 0; slot < PYR_ROOTS_MAX; slot++)
			if (sw->root[slot].used &&
			    sw->root[slot].id == way->hop[hop] &&
			    sw->root[slot].iq >> out & 1)
				nearest = slot;
	MUST(net->packet[packet].slot == nearest,
	     "a packet waits for the next root on its path");
}

static void enter(struct net *net, u8 n, u8 in, u8 packet)
{
	u8 f = packet_flow[packet], out = out_port[f][n];
	struct node *node = &net->node[n];
	struct pyr_packet *pkt = &net->packet[packet];

	pkt->in = in;
	put(node, out, pyr_arrive(&node->sw, out, pkt, &path[f][n], 1,
				  node->oq[out].count), packet);
	check_place(net, n, out, packet, 0);
}

/* The packet on the link to a port arrives there. */
static void arrive(struct net *net, u8 n, u8 port)
{
	u8 packet = net->to[n][port].packet;

	net->to[n][port].packet = PYR_NONE;
	enter(net, n, port, packet);
}

/* Moves a packet between queues. False: none may move. */
static bool move(struct net *net, u8 n, u8 out, bool *to_oq)
{
	struct node *node = &net->node[n];
	u8 queue = pyr_pick(&node->sw, out, node->oq[out].count), packet, from;
	struct pyr_packet *pkt;

	if (queue == PYR_NONE)
		return false;
	MUST(node->iq[out][queue].count, "a queue that is picked has a packet");
	packet = pop(&node->iq[out][queue]);
	pkt = &net->packet[packet];
	from = pkt->stage + 1;
	MUST(!(node->sw.root[pkt->slot].iq_paused >> out & 1),
	     "no packet leaves the queue of a root that said PAUSE");
	queue = pyr_move(&node->sw, out, pkt, &path[packet_flow[packet]][n], 1);
	put(node, out, queue, packet);
	check_place(net, n, out, packet, from);
	*to_oq = queue == PYR_OQ;
	return true;
}

static void serve(struct net *net, u8 n, u8 out)
{
	struct node *node = &net->node[n];
	unsigned int moves = 0;
	bool moved = false;
	struct link *link;
	u8 packet, f, i;

	while (!moved && move(net, n, out, &moved))
		MUST(++moves <= PACKETS_MAX * SWITCHES_MAX,
		     "a packet visits each queue once");
	if (!node->oq[out].count)
		return;
	packet = pop(&node->oq[out]);
	pyr_sent(&node->sw, out, node->oq[out].count);
	memset(&net->packet[packet], 0, sizeof(net->packet[packet]));
	if (out != HOST) {
		link = &net->to[neighbour[n][out]][neighbour_port[n][out]];
		link->packet = packet;
		if (!setup.wire)
			arrive(net, neighbour[n][out], neighbour_port[n][out]);
		return;
	}
	f = packet_flow[packet];
	i = packet - packet_first[f] + 1;
	MUST(i > net->delivered[f], "a flow's packets arrive in order");
	net->delivered[f] = i;
	net->gone[f]++;
}

/* ---- frames ---------------------------------------------------------------- */

/* The switch sends a frame. False: it has none, or the link has no room. */
static bool tell(struct net *net, u8 n)
{
	static struct pyr_switch before;
	struct pyr_switch *sw = &net->node[n].sw;
	struct pyr_frame frame;
	struct link *link;
	u8 port;

	if (!pyr_has_frame(sw))
		return false;
	before = *sw;
	if (!pyr_next_frame(sw, &frame, &port))
		return false;
	MUST(neighbour[n][port] != PYR_NONE, "frames go to switches");
	frame.held_bytes = 0;
	frame.threshold_bytes = 0;
	link = &net->to[neighbour[n][port]][neighbour_port[n][port]];
	if (link->frames == setup.frames) {
		*sw = before;
		return false;
	}
	link->frame[link->frames++] = frame;
	return true;
}

static bool newer(const struct pyr_port *port, const struct pyr_frame *frame)
{
	return !port->heard || port->rx_epoch != frame->epoch ||
	       (s32)(frame->sequence - port->rx_sequence) > 0;
}

static void hear(struct net *net, u8 n, u8 port, const struct pyr_frame *frame)
{
	struct node *node = &net->node[n];
	static struct pyr_switch before;
	bool news = newer(&node->sw.port[port], frame);

	if (!news)
		before = node->sw;
	pyr_frame_in(&node->sw, port, frame, node->oq[port].count);
	if (news)
		return;
	before.stats = node->sw.stats;
	MUST(!memcmp(&before, &node->sw, sizeof(before)),
	     "a frame that is not news changes nothing");
}

static void take_frame(struct link *link, u8 i)
{
	link->frames--;
	memmove(&link->frame[i], &link->frame[i + 1],
		(link->frames - i) * sizeof(link->frame[0]));
	memset(&link->frame[link->frames], 0, sizeof(link->frame[0]));
}

/* The worst that a neighbour could say that is not so. */
static void forge(struct net *net, u8 n, u8 port, u8 which)
{
	u64 mine = name_of(n, HOST), last = 0;
	struct pyr_frame frame = { 0 };
	u8 f;

	for (f = 0; f < setup.flows; f++)
		last = name_of(setup.flow[f].at[setup.flow[f].hops - 1], HOST);
	frame.epoch = 1;
	frame.sequence = net->node[n].sw.port[port].rx_sequence + 1;
	frame.distance = 1;
	frame.hold_ns = 2;
	frame.type = which == 0 || which == 1 ? PYR_PAUSE :
		     which == 2 ? PYR_RESUME :
		     which == 3 ? PYR_MERGE : PYR_RELEASE;
	frame.root = which == 0 ? mine : last;
	if (which == 3)
		frame.into = name_of(neighbour[n][port], port);
	pyr_frame_in(&net->node[n].sw, port, &frame,
		     net->node[n].oq[port].count);
}

/* ---- lost links ------------------------------------------------------------ */

static void restart(struct net *net, u8 n, u8 port)
{
	struct node *node = &net->node[n];
	u32 epoch = node->sw.port[port].tx_epoch;
	struct fifo *iq;
	u8 queue, packet;

	for (queue = 0; queue < PYR_QUEUES_MAX; queue++) {
		for (iq = &node->iq[port][queue]; iq->count;) {
			packet = pop(iq);
			pyr_drop(&node->sw, port, &net->packet[packet], 1);
			memset(&net->packet[packet], 0,
			       sizeof(net->packet[packet]));
			net->gone[packet_flow[packet]]++;
		}
	}
	pyr_port_down(&node->sw, port);
	port_up(net, n, port, epoch + 1);
	net->restarts++;
}

/* ---- actions --------------------------------------------------------------- */

bool net_can_serve(const struct net *net, u8 n, u8 out)
{
	const struct node *node = &net->node[n];

	if (out != HOST &&
	    net->to[neighbour[n][out]][neighbour_port[n][out]].packet !=
	    PYR_NONE)
		return false;
	return node->oq[out].count || pyr_pick_quick(&node->sw.port[out]);
}

static unsigned int port_actions(const struct net *net, u8 n, u8 port,
				 struct action *to)
{
	const struct link *link = &net->to[n][port];
	unsigned int count = 0;
	u8 i;

	if (net_can_serve(net, n, port))
		to[count++] = (struct action){ SERVE, n, port, 0 };
	if (port == HOST)
		return count;
	if (link->packet != PYR_NONE)
		to[count++] = (struct action){ ARRIVE, n, port, 0 };
	for (i = 0; i < link->frames; i++) {
		to[count++] = (struct action){ HEAR, n, port, i };
		if (!setup.faults)
			break;
		to[count++] = (struct action){ LOSE, n, port, i };
		to[count++] = (struct action){ AGAIN, n, port, i };
	}
	if (net->restarts < setup.restarts)
		to[count++] = (struct action){ RESTART, n, port, 0 };
	if (net->forgeries < setup.forgeries)
		for (i = 0; i < FORGERIES; i++)
			to[count++] = (struct action){ FORGE, n, port, i };
	return count;
}

unsigned int net_actions(const struct net *net, struct action *to)
{
	unsigned int count = 0;
	bool ticks = false;
	u8 n, port, f;

	for (f = 0; f < setup.flows; f++)
		if (net->sent[f] < setup.flow[f].packets)
			to[count++] = (struct action){ SEND, f, 0, 0 };
	for (n = 0; n < setup.switches; n++) {
		for (port = 0; port < PYR_PORTS_MAX; port++)
			if (port == HOST || neighbour[n][port] != PYR_NONE)
				count += port_actions(net, n, port, to + count);
		if (!net->node[n].sw.roots || (ticks && !setup.clocks))
			continue;
		ticks = true;
		to[count++] = (struct action){ TICK, n, 0, 0 };
	}
	return count;
}

static void happen(struct net *net, struct action action)
{
	struct link *link = &net->to[action.a][action.b];
	struct pyr_frame frame;
	u8 f = action.a, packet, n;

	switch (action.kind) {
	case SEND:
		packet = packet_first[f] + net->sent[f]++;
		enter(net, setup.flow[f].at[0], HOST, packet);
		break;
	case SERVE:
		serve(net, action.a, action.b);
		break;
	case ARRIVE:
		arrive(net, action.a, action.b);
		break;
	case HEAR:
	case AGAIN:
		frame = link->frame[action.c];
		if (action.kind == HEAR)
			take_frame(link, action.c);
		hear(net, action.a, action.b, &frame);
		break;
	case LOSE:
		take_frame(link, action.c);
		break;
	case TICK:
		for (n = 0; n < setup.switches; n++)
			if (n == action.a || !setup.clocks)
				pyr_tick(&net->node[n].sw);
		break;
	case RESTART:
		restart(net, action.a, action.b);
		break;
	default:
		net->forgeries++;
		forge(net, action.a, action.b, action.c);
	}
}

void net_do(struct net *net, struct action action)
{
	u8 n;

	happen(net, action);
	for (n = 0; n < setup.switches; n++)
		while (tell(net, n))
			;
}

/* ---- equal states look equal ------------------------------------------------ */

/* Of sequence numbers only their order matters: they become ranks. */
static void normal_link(struct net *net, u8 n, u8 port)
{
	struct pyr_port *rx = &net->node[n].sw.port[port], *tx;
	struct link *link = &net->to[n][port];
	u32 rank[FRAMES_MAX], last = 0;
	u8 i, j;

	tx = &net->node[neighbour[n][port]].sw.port[neighbour_port[n][port]];
	for (i = 0; i < link->frames; i++) {
		const struct pyr_frame *frame = &link->frame[i];

		rank[i] = newer(rx, frame);
		for (j = 0; rank[i] && j < link->frames; j++)
			rank[i] += link->frame[j].epoch == frame->epoch &&
				   newer(rx, &link->frame[j]) &&
				   link->frame[j].sequence < frame->sequence;
		if (rank[i] > last && frame->epoch == tx->tx_epoch)
			last = rank[i];
	}
	for (i = 0; i < link->frames; i++)
		link->frame[i].sequence = rank[i];
	if (rx->heard && rx->rx_epoch == tx->tx_epoch &&
	    (s32)(tx->tx_sequence - rx->rx_sequence) < 0)
		tx->tx_sequence -= rx->rx_sequence;
	else
		tx->tx_sequence = last;
	rx->rx_sequence = 0;
}

/* Which root lies in which slot, and has which queue, is chance: sorts them. */
static void normal_roots(struct net *net, u8 n)
{
	static struct node old;
	struct node *node = &net->node[n];
	struct pyr_switch *sw = &node->sw;
	u8 slot_of[PYR_ROOTS_MAX], queue_of[PYR_QUEUES_MAX];
	u8 slot, best, port, queues = 0, queue, i, packet;
	bool sorted = true;

	for (slot = 0; slot + 1 < PYR_ROOTS_MAX; slot++)
		if (sw->root[slot + 1].used &&
		    (!sw->root[slot].used ||
		     sw->root[slot].id > sw->root[slot + 1].id))
			sorted = false;
	for (slot = 0; slot < PYR_ROOTS_MAX; slot++)
		if (sw->root[slot].used && sw->root[slot].queue != PYR_NONE &&
		    sw->root[slot].queue != queues++)
			sorted = false;
	if (sorted)
		return;
	old = *node;
	memset(sw->root, 0, sizeof(sw->root));
	memset(sw->hash, PYR_NONE, sizeof(sw->hash));
	memset(slot_of, PYR_NONE, sizeof(slot_of));
	memset(queue_of, PYR_NONE, sizeof(queue_of));
	memset(sw->queue_used, 0, sizeof(sw->queue_used));
	memset(sw->tell, 0, sizeof(sw->tell));
	memset(node->iq, 0, sizeof(node->iq));
	queues = 0;
	for (i = 0; i < sw->roots; i++) {
		struct pyr_root *root = &sw->root[i];

		for (best = PYR_NONE, slot = 0; slot < PYR_ROOTS_MAX; slot++)
			if (old.sw.root[slot].used &&
			    slot_of[slot] == PYR_NONE &&
			    (best == PYR_NONE ||
			     old.sw.root[slot].id < old.sw.root[best].id))
				best = slot;
		slot_of[best] = i;
		*root = old.sw.root[best];
		root->next = sw->hash[pyr_hash(root->id)];
		sw->hash[pyr_hash(root->id)] = i;
		if (old.sw.tell[0] >> best & 1)
			sw->tell[0] |= 1ULL << i;
		if (root->local != PYR_NONE)
			sw->port[root->local].local = i;
		if (root->queue == PYR_NONE)
			continue;
		queue_of[root->queue] = queues;
		root->queue = queues++;
		sw->queue_used[0] |= 1ULL << root->queue;
	}
	for (port = 0; port < PYR_PORTS_MAX; port++) {
		struct pyr_port *p = &sw->port[port];
		const struct pyr_port *was = &old.sw.port[port];

		memset(p->holds, 0, sizeof(p->holds));
		memset(p->packets, 0, sizeof(p->packets));
		p->ready[0] = 0;
		p->turn = 0;
		for (queue = 0; queue < PYR_QUEUES_MAX; queue++) {
			u8 to = queue_of[queue];

			if (to == PYR_NONE)
				continue;
			p->holds[to] = was->holds[queue];
			p->packets[to] = was->packets[queue];
			if (was->ready[0] >> queue & 1)
				p->ready[0] |= 1ULL << to;
			node->iq[port][to] = old.iq[port][queue];
			for (i = 0; i < node->iq[port][to].count; i++) {
				packet = node->iq[port][to].packet[i];
				slot = net->packet[packet].slot;
				net->packet[packet].slot = slot_of[slot];
			}
		}
	}
}

void net_normal(struct net *net)
{
	u8 n, port, slot;

	for (n = 0; n < PACKETS_MAX; n++)
		if (net->packet[n].slot == PYR_NONE)
			net->packet[n].stage = 0;
	for (n = 0; n < setup.switches; n++) {
		struct pyr_switch *sw = &net->node[n].sw;

		memset(&sw->stats, 0, sizeof(sw->stats));
		for (port = 0; port < PYR_PORTS_MAX; port++)
			if (!pyr_pick_quick(&sw->port[port]))
				sw->port[port].turn = 0;
		for (slot = 0; slot < PYR_ROOTS_MAX; slot++) {
			struct pyr_root *root = &sw->root[slot];

			if (!root->used) {
				memset(root, 0, sizeof(*root));
				continue;
			}
			for (port = 0; port < PYR_PORTS_MAX; port++) {
				if (!(root->iq_paused >> port & 1))
					root->hold_left[port] = 0;
				if (!(root->child >> port & 1) ||
				    root->child_paused >> port & 1)
					root->child_left[port] = 0;
				if (root->local != PYR_NONE)
					root->in_bytes[port] = 0;
			}
		}
	}
	for (n = 0; n < setup.switches; n++)
		for (port = 1; port < PYR_PORTS_MAX; port++)
			if (neighbour[n][port] != PYR_NONE)
				normal_link(net, n, port);
	for (n = 0; n < setup.switches; n++)
		normal_roots(net, n);
}

void net_print(const struct net *net, struct action action)
{
	static const char *const kinds[] = {
		"send", "serve", "arrive", "hear", "lose", "again", "tick",
		"restart", "forge"
	};
	static const char *const types[] = {
		"", "PAUSE", "RESUME", "MERGE", "RELEASE"
	};
	const struct link *link = &net->to[action.a][action.b];
	const struct pyr_frame *frame = &link->frame[action.c];

	printf("#   %s %u", kinds[action.kind], action.a);
	if (action.kind != SEND && action.kind != TICK)
		printf(":%u", action.b);
	if (action.kind == HEAR || action.kind == LOSE || action.kind == AGAIN)
		printf(" %s of %u:%u", types[frame->type],
		       PYR_ROOT_SWITCH(frame->root) - 1,
		       PYR_ROOT_PORT(frame->root));
	printf("\n");
}

const struct pyr_path *net_path(u8 packet, u8 n)
{
	return &path[packet_flow[packet]][n];
}
