// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold: in every state, and at the end of every story in which from
 * now on nothing goes wrong.
 */
#include "net.h"

/* ---- in every state ---------------------------------------------------------- */

static bool on_path(u64 id, u8 packet, u8 n)
{
	const struct pyr_path *path = net_path(packet, n);
	u8 i;

	for (i = 0; i < path->hops; i++)
		if (path->hop[i] == id)
			return true;
	return false;
}

static void check_queues(const struct net *net, u8 n, u8 port)
{
	const struct node *node = &net->node[n];
	const struct pyr_port *p = &node->sw.port[port];
	u8 queue, i;

	for (queue = 0; queue < PYR_QUEUES_MAX; queue++) {
		const struct fifo *iq = &node->iq[port][queue];
		bool ready = p->ready[0] >> queue & 1;

		MUST(p->packets[queue] == iq->count, "packets are counted");
		MUST(ready == (iq->count && !p->holds[queue]),
		     "what may move is ready");
		for (i = 0; i < iq->count; i++) {
			u8 slot = net->packet[iq->packet[i]].slot;
			const struct pyr_root *root = &node->sw.root[slot];

			MUST(slot < PYR_ROOTS_MAX && root->used &&
			     root->queue == queue, "who waits, waits for a root");
			MUST(on_path(root->id, iq->packet[i], n),
			     "no packet waits for a root that it does not pass");
		}
	}
	for (i = 0; i < node->oq[port].count; i++)
		MUST(net->packet[node->oq[port].packet[i]].slot == PYR_NONE,
		     "the output queue is nobody's");
}

/* Counts packets of a root: by the port that they leave and came by. */
static void count(const struct net *net, u8 n, u8 slot, u32 *out, u32 *in)
{
	const struct node *node = &net->node[n];
	const struct fifo *iq;
	u8 port, queue, i;

	memset(out, 0, PYR_PORTS_MAX * sizeof(*out));
	memset(in, 0, PYR_PORTS_MAX * sizeof(*in));
	for (port = 0; port < PYR_PORTS_MAX; port++)
		for (queue = 0; queue < PYR_QUEUES_MAX; queue++)
			for (iq = &node->iq[port][queue], i = 0;
			     i < iq->count; i++)
				if (net->packet[iq->packet[i]].slot == slot) {
					out[port]++;
					in[net->packet[iq->packet[i]].in]++;
				}
}

static void check_root(const struct net *net, u8 n, u8 slot)
{
	const struct node *node = &net->node[n];
	const struct pyr_root *root = &node->sw.root[slot];
	u32 out[PYR_PORTS_MAX], in[PYR_PORTS_MAX];
	bool mine = PYR_ROOT_SWITCH(root->id) == node->sw.config.id;
	u8 port;

	count(net, n, slot, out, in);
	MUST(mine == (root->local != PYR_NONE) && !(mine && root->iq),
	     "no switch waits for itself");
	MUST(!(root->child_paused & ~root->child), "who waits is known");
	MUST(!(root->child_tell & ~root->child), "who is told is known");
	MUST(!(root->iq_paused & ~root->iq), "what is held back is a queue");
	MUST(!(root->into && root->child_paused),
	     "a root that gave way holds nobody");
	for (port = 0; port < PYR_PORTS_MAX; port++) {
		MUST(root->out_packets[port] == out[port] &&
		     (!out[port] || root->iq >> port & 1),
		     "a root's packets are counted and have a queue");
		MUST(mine || root->in_bytes[port] == in[port],
		     "a root's bytes are counted");
		if (!(root->child_paused >> port & 1))
			continue;
		MUST(mine ? node->oq[root->local].count : in[port],
		     "neighbours wait only while there is something");
	}
}

void net_check(const struct net *net)
{
	u8 n, port, slot;

	for (n = 0; n < setup.switches; n++) {
		const struct pyr_switch *sw = &net->node[n].sw;
		u8 roots = 0;

		for (port = 0; port < PYR_PORTS_MAX; port++) {
			u8 assigned = 0;

			check_queues(net, n, port);
			for (slot = 0; slot < PYR_ROOTS_MAX; slot++)
				assigned += sw->root[slot].used &&
					    sw->root[slot].iq >> port & 1;
			MUST(assigned == sw->port[port].assigned,
			     "queues are counted");
		}
		for (slot = 0; slot < PYR_ROOTS_MAX; slot++) {
			roots += sw->root[slot].used;
			if (sw->root[slot].used)
				check_root(net, n, slot);
		}
		MUST(roots == sw->roots, "roots are counted");
	}
}

/* ---- if nothing goes wrong any more ------------------------------------------- */

/* Everybody's time passes, and all that is said is heard. */
static void talk(struct net *net)
{
	unsigned int heard = 1, frames = 0;
	u8 n, port;

	for (n = 0; n < (setup.clocks ? setup.switches : 1); n++)
		net_do(net, (struct action){ TICK, n, 0, 0 });
	while (heard) {
		heard = 0;
		for (n = 0; n < setup.switches; n++)
			for (port = 1; port < PYR_PORTS_MAX; port++)
				for (; net->to[n][port].frames; heard++)
					net_do(net, (struct action){
						HEAR, n, port, 0 });
		frames += heard;
		MUST(frames < 1000, "frames come to an end");
	}
}

/* Both ends of a link think the same of a root. */
static void agree(const struct net *net, u8 n, u8 port)
{
	const struct pyr_switch *here = &net->node[n].sw;
	const struct pyr_switch *there = &net->node[neighbour[n][port]].sw;
	u8 there_port = neighbour_port[n][port], slot, other;

	for (slot = 0; slot < PYR_ROOTS_MAX; slot++) {
		const struct pyr_root *root = &here->root[slot];
		bool paused = root->child_paused >> port & 1, held = false;

		if (!root->used)
			continue;
		for (other = 0; other < PYR_ROOTS_MAX; other++)
			if (there->root[other].used &&
			    there->root[other].id == root->id)
				held = there->root[other].iq_paused >>
				       there_port & 1;
		if (paused && !held && there->roots == PYR_ROOTS_MAX)
			continue;
		if (root->child >> port & 1)
			MUST(held == paused,
			     "after two ticks both ends of a link know the same");
	}
}

static void work(struct net *net)
{
	u8 n, port;

	for (n = 0; n < setup.switches; n++)
		for (port = 0; port < PYR_PORTS_MAX; port++) {
			if (port && neighbour[n][port] == PYR_NONE)
				continue;
			if (net->to[n][port].packet != PYR_NONE)
				net_do(net, (struct action){
					ARRIVE, n, port, 0 });
			if (net_can_serve(net, n, port))
				net_do(net,
				       (struct action){ SERVE, n, port, 0 });
		}
}

void net_check_end(const struct net *from)
{
	static struct net net;
	unsigned int round, roots = 1;
	u8 n, port, f;

	net = *from;
	for (round = 0; round < 2 + (setup.forgeries || setup.restarts);
	     round++)
		talk(&net);
	for (n = 0; n < setup.switches; n++)
		for (port = 1; port < PYR_PORTS_MAX; port++)
			if (neighbour[n][port] != PYR_NONE)
				agree(&net, n, port);
	for (round = 0; round < 200 && roots; round++) {
		work(&net);
		talk(&net);
		net_check(&net);
		roots = 0;
		for (n = 0; n < setup.switches; n++)
			roots += net.node[n].sw.roots;
		for (f = 0; f < setup.flows; f++)
			roots += net.gone[f] != net.sent[f];
	}
	for (f = 0; f < setup.flows; f++)
		MUST(net.gone[f] == net.sent[f], "every packet arrives");
	MUST(!roots, "every tree dissolves");
}
