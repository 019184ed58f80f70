// SPDX-License-Identifier: GPL-2.0
/*
 * Pyrrha's isolation queues: see pyrrha.h. This file has the packets' side:
 * which queue, when a port becomes a root, when neighbours pause and resume.
 * pyrrha_frame.c has the frames' side.
 */
#include "core/pyrrha_state.h"

u32 pyr_hop_rtt_ns(u64 rate_bps, u32 delay_ns, u32 mtu_bytes)
{
	u64 packet_ns, rtt_ns, rem;

	if (!rate_bps)
		return U32_MAX;
	packet_ns = div64_u64_rem((u64)mtu_bytes * 8 * NSEC_PER_SEC, rate_bps,
				  &rem) + !!rem;
	rtt_ns = 2 * (u64)delay_ns + 4 * packet_ns;
	return rtt_ns < U32_MAX ? rtt_ns : U32_MAX;
}

int pyr_init(struct pyr_switch *sw, const struct pyr_config *config)
{
	unsigned int i;

	if (!config->id || !config->buckets || !config->tick_ns ||
	    !config->resume_permille ||
	    config->pause_permille <= config->resume_permille ||
	    config->queues + config->buckets > PYR_QUEUES_MAX)
		return -1;
	memset(sw, 0, sizeof(*sw));
	sw->config = *config;
	memset(sw->hash, PYR_NONE, sizeof(sw->hash));
	for (i = 0; i < PYR_PORTS_MAX; i++)
		sw->port[i].local = PYR_NONE;
	return 0;
}

/* The shortest output queue at @out that can make it a root. */
static void pyr_set_nominate(struct pyr_switch *sw, u8 out)
{
	u32 least = U32_MAX, bytes;
	u8 in;

	for (in = 0; in < PYR_PORTS_MAX; in++) {
		if (!sw->port[in].up || !sw->port[in].tell)
			continue;
		bytes = pyr_pause_bytes(sw, out, in);
		if (bytes < least)
			least = bytes;
	}
	WRITE_ONCE(sw->port[out].nominate_bytes, least);
}

void pyr_set_all_nominate(struct pyr_switch *sw)
{
	u8 out;

	for (out = 0; out < PYR_PORTS_MAX; out++)
		if (sw->port[out].up)
			pyr_set_nominate(sw, out);
}

static u32 pyr_scale_ns(u32 ns, u32 permille)
{
	u64 scaled = div64_u64((u64)ns * permille, 1000);

	return scaled < U32_MAX ? scaled : U32_MAX;
}

int pyr_port_up(struct pyr_switch *sw, u8 index,
		const struct pyr_port_config *config)
{
	struct pyr_port *port;
	u64 rate_q16;

	if (index >= PYR_PORTS_MAX || !config->rate_bps || !config->hop_rtt_ns)
		return -1;
	rate_q16 = mul_u64_u64_div_u64(config->rate_bps, 65536,
				       8 * (u64)NSEC_PER_SEC);
	if (rate_q16 > U32_MAX)
		return -1;
	port = &sw->port[index];
	port->up = true;
	port->tell = config->tell;
	port->hear = config->hear;
	if (port->tx_epoch != config->epoch) {
		port->tx_epoch = config->epoch;
		port->tx_sequence = 0;
	}
	port->rate_q16 = rate_q16 ? rate_q16 : 1;
	port->pause_ns = pyr_scale_ns(config->hop_rtt_ns,
				      sw->config.pause_permille);
	port->resume_ns = pyr_scale_ns(config->hop_rtt_ns,
				       sw->config.resume_permille);
	pyr_set_all_nominate(sw);
	return 0;
}

/*
 * When does pyr_sent() have to look at @out: as soon as a paused neighbour may
 * be resumed, or the queue that made it a root is gone.
 */
void pyr_set_resume(struct pyr_switch *sw, u8 out)
{
	struct pyr_port *port = &sw->port[out];
	u32 most = port->merged_bytes, bytes;
	u64 left;

	if (port->local != PYR_NONE) {
		left = sw->root[port->local].child_paused;
		for (; left; left &= left - 1) {
			bytes = pyr_resume_bytes(sw, out, __ffs64(left));
			if (bytes > most)
				most = bytes;
		}
	}
	WRITE_ONCE(port->resume_bytes, most);
}

void pyr_resume_child(struct pyr_switch *sw, u8 slot, u8 in)
{
	struct pyr_root *root = &sw->root[slot];

	root->child_paused &= ~PYR_BIT(in);
	root->child_left[in] = PYR_FORGET_TICKS;
	root->child_tell |= PYR_BIT(in);
	pyr_set_bit(sw->tell, slot);
}

/* The neighbour at @in is to hold back what passes the root. */
static void pyr_pause_child(struct pyr_switch *sw, u8 slot, u8 in)
{
	struct pyr_root *root = &sw->root[slot];

	root->child |= PYR_BIT(in);
	root->child_paused |= PYR_BIT(in);
	root->child_tell |= PYR_BIT(in);
	pyr_set_bit(sw->tell, slot);
}

/* May the neighbour at @in be paused for that root? */
static bool pyr_may_pause(const struct pyr_switch *sw,
			  const struct pyr_root *root, u8 in)
{
	return in < PYR_PORTS_MAX && sw->port[in].up && sw->port[in].tell &&
	       root->distance < PYR_HOPS_MAX &&
	       !(root->child_paused & PYR_BIT(in));
}

u8 pyr_root_get(struct pyr_switch *sw, u64 id)
{
	u8 slot = pyr_root_find(sw, id), *head;
	struct pyr_root *root;

	if (slot != PYR_NONE)
		return slot;
	for (slot = 0; slot < PYR_ROOTS_MAX && sw->root[slot].used; slot++)
		;
	if (slot == PYR_ROOTS_MAX) {
		sw->stats.full++;
		return PYR_NONE;
	}
	root = &sw->root[slot];
	memset(root, 0, sizeof(*root));
	root->used = true;
	root->id = id;
	root->local = PYR_NONE;
	root->queue = PYR_NONE;
	head = &sw->hash[pyr_hash(id)];
	root->next = *head;
	WRITE_ONCE(*head, slot);
	WRITE_ONCE(sw->roots, sw->roots + 1);
	if (sw->roots > sw->stats.roots_max)
		sw->stats.roots_max = sw->roots;
	return slot;
}

/*
 * A packet from @in made the output queue @oq_bytes long: is @out a root
 * (section 4.1)? Not asked of packets that waited in an isolation queue: they
 * move as fast as the port lets them, so that they say nothing of its load.
 * A port that gave way to a root further down still has the
 * packets that made it one. It is a root again only if its queue grew since.
 */
static void pyr_nominate(struct pyr_switch *sw, u8 out, u8 in, u32 oq_bytes)
{
	struct pyr_port *port = &sw->port[out];
	struct pyr_root *root;
	u32 pause_bytes;
	u8 slot;

	if (in >= PYR_PORTS_MAX)
		return;
	pause_bytes = pyr_pause_bytes(sw, out, in);
	if (oq_bytes <= pause_bytes)
		return;
	if (port->merged_bytes &&
	    oq_bytes <= (u64)port->merged_bytes + pause_bytes -
			pyr_resume_bytes(sw, out, in))
		return;
	slot = port->local;
	if (slot == PYR_NONE) {
		if (!sw->port[in].up || !sw->port[in].tell)
			return;
		slot = pyr_root_get(sw, PYR_ROOT(sw->config.id, out));
		if (slot == PYR_NONE)
			return;
		port->local = slot;
		sw->root[slot].local = out;
	}
	root = &sw->root[slot];
	if (!pyr_may_pause(sw, root, in))
		return;
	if (!root->child_paused)
		sw->stats.nominated++;
	root->into = 0;
	root->in_bytes[in] = oq_bytes;
	pyr_pause_child(sw, slot, in);
	pyr_set_resume(sw, out);
}

/*
 * The next queue of a packet at @out: of the roots on its path that have a
 * queue there, from stage @from on. Stages are the hops of the path, then the
 * shared queues in their own order.
 */
static u8 pyr_match(const struct pyr_switch *sw, u8 out,
		    const struct pyr_path *path, u8 from, u8 *stage)
{
	unsigned int hops = path->hops, i, shared;
	u8 slot, best = PYR_NONE;

	if (hops > PYR_HOPS_MAX)
		hops = PYR_HOPS_MAX;
	for (i = sw->sharing ? 0 : from; i < hops; i++) {
		slot = pyr_root_find(sw, path->hop[i]);
		if (slot == PYR_NONE || !(sw->root[slot].iq & PYR_BIT(out)))
			continue;
		if (sw->root[slot].queue < sw->config.queues) {
			if (i < from)
				continue;
			*stage = i;
			return slot;
		}
		shared = PYR_HOPS_MAX + sw->root[slot].queue -
			 sw->config.queues;
		if (shared >= from && (best == PYR_NONE || shared < *stage)) {
			best = slot;
			*stage = shared;
		}
	}
	return best;
}

bool pyr_passes_none(const struct pyr_switch *sw, const struct pyr_path *path)
{
	unsigned int i;

	for (i = 0; i < path->hops; i++)
		if (READ_ONCE(sw->hash[pyr_hash(path->hop[i])]) != PYR_NONE)
			return false;
	return true;
}

/* Puts a packet where its path leads from stage @from on. */
static u8 pyr_place(struct pyr_switch *sw, u8 out, struct pyr_packet *pkt,
		    const struct pyr_path *path, u8 from, u32 bytes)
{
	struct pyr_port *port = &sw->port[out];
	struct pyr_root *root;
	u8 in = pkt->in;

	pkt->slot = port->assigned ?
		    pyr_match(sw, out, path, from, &pkt->stage) : PYR_NONE;
	if (pkt->slot == PYR_NONE)
		return PYR_OQ;
	root = &sw->root[pkt->slot];
	root->out_packets[out]++;
	root->touched |= PYR_BIT(out);
	port->packets[root->queue]++;
	pyr_set_ready(port, root->queue);
	if (in < PYR_PORTS_MAX) {
		root->in_bytes[in] += bytes;
		if (!root->into && pyr_may_pause(sw, root, in) &&
		    root->in_bytes[in] > pyr_pause_bytes(sw, out, in))
			pyr_pause_child(sw, pkt->slot, in);
	}
	return root->queue;
}

u8 pyr_arrive(struct pyr_switch *sw, u8 out, struct pyr_packet *pkt,
	      const struct pyr_path *path, u32 bytes, u32 oq_bytes)
{
	u8 queue;

	pkt->stage = 0;
	queue = pyr_place(sw, out, pkt, path, 0, bytes);
	if (queue == PYR_OQ)
		pyr_nominate(sw, out, pkt->in, oq_bytes + bytes);
	else
		sw->stats.isolated++;
	return queue;
}

u8 pyr_pick(struct pyr_switch *sw, u8 out, u32 oq_bytes)
{
	struct pyr_port *port = &sw->port[out];
	unsigned int word = port->turn / 64, i;
	u64 ready;

	if (port->moved && oq_bytes) {
		port->moved = false;
		return PYR_NONE;
	}
	ready = port->ready[word] & ~((2ULL << port->turn % 64) - 1);
	for (i = 0; i <= PYR_QUEUE_WORDS; i++) {
		if (ready) {
			port->turn = word * 64 + __ffs64(ready);
			return port->turn;
		}
		word = (word + 1) % PYR_QUEUE_WORDS;
		ready = port->ready[word];
	}
	return PYR_NONE;
}

void pyr_drop(struct pyr_switch *sw, u8 out, const struct pyr_packet *pkt,
	      u32 bytes)
{
	struct pyr_port *port = &sw->port[out];
	struct pyr_root *root = &sw->root[pkt->slot];
	u8 in = pkt->in;

	root->out_packets[out]--;
	port->packets[root->queue]--;
	pyr_set_ready(port, root->queue);
	if (in >= PYR_PORTS_MAX)
		return;
	root->in_bytes[in] -= bytes;
	if ((root->child_paused & PYR_BIT(in)) &&
	    root->in_bytes[in] < pyr_resume_bytes(sw, out, in))
		pyr_resume_child(sw, pkt->slot, in);
}

u8 pyr_move(struct pyr_switch *sw, u8 out, struct pyr_packet *pkt,
	    const struct pyr_path *path, u32 bytes)
{
	u8 queue;

	pyr_drop(sw, out, pkt, bytes);
	queue = pyr_place(sw, out, pkt, path, pkt->stage + 1, bytes);
	sw->port[out].moved = queue == PYR_OQ;
	return queue;
}

void pyr_sent(struct pyr_switch *sw, u8 out, u32 oq_bytes)
{
	struct pyr_port *port = &sw->port[out];
	u64 left;
	u8 in;

	if (oq_bytes >= port->resume_bytes)
		return;
	if (oq_bytes < port->merged_bytes)
		port->merged_bytes = oq_bytes > port->nominate_bytes / 2 ?
				     oq_bytes : 0;
	if (port->local != PYR_NONE) {
		left = sw->root[port->local].child_paused;
		for (; left; left &= left - 1) {
			in = __ffs64(left);
			if (oq_bytes < pyr_resume_bytes(sw, out, in))
				pyr_resume_child(sw, port->local, in);
		}
	}
	pyr_set_resume(sw, out);
}

void pyr_give_way(struct pyr_switch *sw, u8 slot, u8 into)
{
	struct pyr_root *root = &sw->root[slot], *new = &sw->root[into];
	u64 left;
	u8 in;

	root->into = new->id;
	for (left = root->child; left; left &= left - 1) {
		in = __ffs64(left);
		pyr_resume_child(sw, slot, in);
		if (new->child & PYR_BIT(in))
			continue;
		new->child |= PYR_BIT(in);
		new->child_left[in] = PYR_FORGET_TICKS;
	}
}

void pyr_local_gives_way(struct pyr_switch *sw, u8 out, u8 into, u32 oq_bytes)
{
	struct pyr_port *port = &sw->port[out];

	if (port->local == PYR_NONE || !sw->root[port->local].child)
		return;
	pyr_give_way(sw, port->local, into);
	port->merged_bytes = oq_bytes;
	pyr_set_resume(sw, out);
	sw->stats.merged++;
}
