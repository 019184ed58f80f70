// SPDX-License-Identifier: GPL-2.0
/* Hashed queues that neighbours hold back: see bfc.h. */
#include <linux/fabric_frame.h>

#include "core/bfc.h"

#define BFC_BIT(n)	(1ULL << (n) % 64)

/* A queue's numbers are about to change, or have: @sign -1, 1. It is active, held or empty. */
static void bfc_count(struct bfc_port *p, u8 index, int sign)
{
	const struct bfc_queue *queue = &p->queue[index];

	if (!queue->packets)
		return;
	if (!queue->holds) {
		p->active += sign;
		p->ready[index / 64] &= ~BFC_BIT(index);
		if (sign > 0)
			p->ready[index / 64] |= BFC_BIT(index);
		return;
	}
	p->held += sign;
	p->held_packets += sign * (s32)queue->packets;
	p->held_bytes += sign * (s32)queue->bytes;
}

/* Has the flow to wait? */
static bool bfc_waits(const struct bfc_port *p, u16 flow)
{
	return p->wait[flow / BFC_GROUP_FLOWS] & BFC_BIT(flow);
}

void bfc_init(struct bfc_port *p, u8 queues)
{
	memset(p, 0, sizeof(*p));
	p->queues = queues;
	p->quantum = BFC_QUANTUM_BYTES;
}

/* The first bit at or after @from, round and round, that @words (the first @count bits) has;
 * BFC_NONE: it has none.
 */
static u8 bfc_bit_from(const u64 *words, u8 count, u8 from)
{
	u8 n = from / 64, steps = (count + 63) / 64, i;
	u64 word = words[n] & ~0ULL << from % 64;

	for (i = 0; i <= steps; i++) {
		if (word)
			return n * 64 + __ffs64(word);
		n = n + 1 < steps ? n + 1 : 0;
		word = words[n];
	}
	return BFC_NONE;
}

/* A queue for a flow that has none. */
static u8 bfc_queue_for(struct bfc_port *p, u16 flow)
{
	u8 chosen = (u32)flow * p->queues / BFC_FLOWS, found;
	u64 empty[BFC_QUEUE_WORDS];
	int i;

	for (i = 0; i < BFC_QUEUE_WORDS; i++) {
		empty[i] = ~p->busy[i];
		if (p->queues < (i + 1) * 64)
			empty[i] &= p->queues > i * 64 ?
				    BFC_BIT(p->queues) - 1 : 0;
	}
	found = bfc_bit_from(empty, p->queues, chosen);
	if (found != BFC_NONE)
		return found;
	p->shared++;
	return chosen;
}

/* A flow that had no packets comes. */
static u8 bfc_assign(struct bfc_port *p, u16 flow)
{
	u8 index = bfc_queue_for(p, flow);
	struct bfc_queue *queue = &p->queue[index];

	p->of[flow] = index;
	if (!queue->flows++) {
		p->busy[index / 64] |= BFC_BIT(index);
		p->used++;
		if (p->used > p->used_max)
			p->used_max = p->used;
	}
	if (bfc_waits(p, flow)) {
		bfc_count(p, index, -1);
		queue->holds++;
		bfc_count(p, index, 1);
	}
	return index;
}

u8 bfc_arrive(struct bfc_port *p, u16 flow, u32 bytes)
{
	u8 index = p->packets[flow] ? p->of[flow] : bfc_assign(p, flow);
	struct bfc_queue *queue = &p->queue[index];

	p->packets[flow]++;
	bfc_count(p, index, -1);
	queue->packets++;
	queue->bytes += bytes;
	bfc_count(p, index, 1);
	if (bytes > p->quantum)
		p->quantum = bytes;
	return index;
}

u8 bfc_pick(struct bfc_port *p)
{
	u8 index = p->turn;

	if (!p->active)
		return BFC_NONE;
	if (p->ready[index / 64] & BFC_BIT(index) &&
	    p->queue[index].deficit > 0)
		return index;
	index = bfc_bit_from(p->ready, p->queues,
			     index + 1 < p->queues ? index + 1 : 0);
	p->turn = index;
	/* No packet is larger: now it may send one. Of a turn that a neighbour ended nothing is
	 * left, or who holds a flow back and lets it go on would save up for it.
	 */
	if (p->queue[index].deficit > 0)
		p->queue[index].deficit = 0;
	p->queue[index].deficit += p->quantum;
	return index;
}

void bfc_take(struct bfc_port *p, u8 index, u32 bytes)
{
	struct bfc_queue *queue = &p->queue[index];

	bfc_count(p, index, -1);
	queue->packets--;
	queue->bytes -= bytes;
	bfc_count(p, index, 1);
	queue->deficit -= bytes;
	if (!queue->packets)
		queue->deficit = 0;
}

void bfc_leave(struct bfc_port *p, u16 flow)
{
	u8 index = p->of[flow];
	struct bfc_queue *queue = &p->queue[index];

	if (--p->packets[flow])
		return;
	if (bfc_waits(p, flow)) {
		bfc_count(p, index, -1);
		queue->holds--;
		bfc_count(p, index, 1);
	}
	if (--queue->flows)
		return;
	p->busy[index / 64] &= ~BFC_BIT(index);
	p->used--;
}

void bfc_hear(struct bfc_port *p, u8 group, u64 wait, u8 ticks)
{
	u64 changed = p->wait[group] ^ wait;

	p->wait[group] = wait;
	p->left[group] = ticks;
	if (wait)
		p->groups |= BFC_BIT(group);
	else
		p->groups &= ~BFC_BIT(group);
	for (; changed; changed &= changed - 1) {
		u16 flow = group * BFC_GROUP_FLOWS + __ffs64(changed);
		struct bfc_queue *queue = &p->queue[p->of[flow]];

		if (!p->packets[flow])
			continue;
		bfc_count(p, p->of[flow], -1);
		queue->holds += bfc_waits(p, flow) ? 1 : -1;
		bfc_count(p, p->of[flow], 1);
	}
}

bool bfc_tick(struct bfc_port *p)
{
	u8 before = p->active;
	u64 left;

	for (left = p->groups; left; left &= left - 1) {
		u8 group = __ffs64(left);

		if (--p->left[group])
			continue;
		bfc_hear(p, group, 0, 1);
		p->expired++;
	}
	return p->active != before;
}

/* ---- frames as bytes ------------------------------------------------------------------ */

#define AT(field)	offsetof(struct fabric_flows_frame, field)

static void bfc_put(u8 *to, u64 value, int bytes)
{
	while (bytes--) {
		to[bytes] = value;
		value >>= 8;
	}
}

static u64 bfc_get(const u8 *from, int bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | *from++;
	return value;
}

bool bfc_frame_read(struct bfc_frame *frame, const u8 *data, size_t bytes)
{
	u64 group;

	if (bytes < FABRIC_FRAME_BYTES ||
	    bfc_get(data + AT(magic), 2) != FABRIC_FRAME_MAGIC ||
	    data[AT(version)] != FABRIC_FRAME_VERSION ||
	    data[AT(type)] != BFC_FRAME_FLOWS)
		return false;
	group = bfc_get(data + AT(group), 2);
	if (group >= BFC_GROUPS)
		return false;
	frame->group = group;
	frame->epoch = bfc_get(data + AT(epoch), 4);
	frame->sequence = bfc_get(data + AT(sequence), 4);
	frame->wait = bfc_get(data + AT(wait), 8);
	frame->hold_ns = bfc_get(data + AT(hold_ns), 4);
	return true;
}

void bfc_frame_write(const struct bfc_frame *frame, u8 *data)
{
	memset(data, 0, FABRIC_FRAME_BYTES);
	bfc_put(data + AT(magic), FABRIC_FRAME_MAGIC, 2);
	data[AT(version)] = FABRIC_FRAME_VERSION;
	data[AT(type)] = BFC_FRAME_FLOWS;
	bfc_put(data + AT(epoch), frame->epoch, 4);
	bfc_put(data + AT(sequence), frame->sequence, 4);
	bfc_put(data + AT(group), frame->group, 2);
	bfc_put(data + AT(wait), frame->wait, 8);
	bfc_put(data + AT(hold_ns), frame->hold_ns, 4);
}
