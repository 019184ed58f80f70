// SPDX-License-Identifier: GPL-2.0
/*
 * Pyrrha's isolation queues: see pyrrha.h. This file has the frames' side: what
 * neighbours say, what is said to them, what time and lost links do to both.
 *
 * Soft state. A switch repeats what it wants of a neighbour at every tick: a
 * PAUSE as long as it holds, a RESUME until the neighbour releases its queue or
 * PYR_FORGET_TICKS times. A PAUSE that is not repeated ends. So a lost frame
 * costs a tick, or PYR_HOLD_TICKS of them if no neighbour is there any more, and
 * a frame that is late, repeated or untrue is overruled by the next true one.
 */
#include "core/pyrrha_state.h"

/* The number of a root's queue. Beyond the limit it is one that others share. */
static u8 pyr_queue_get(struct pyr_switch *sw, u64 id)
{
	u8 queue;

	for (queue = 0; queue < sw->config.queues; queue++) {
		if (pyr_test_bit(sw->queue_used, queue))
			continue;
		pyr_set_bit(sw->queue_used, queue);
		return queue;
	}
	sw->sharing++;
	sw->stats.shared++;
	return sw->config.queues + pyr_hash(id) % sw->config.buckets;
}

static void pyr_queue_put(struct pyr_switch *sw, u8 queue)
{
	if (queue < sw->config.queues)
		pyr_clear_bit(sw->queue_used, queue);
	else
		sw->sharing--;
}

/* Gives the root a queue at @out, if it has none there. */
static void pyr_iq_assign(struct pyr_switch *sw, u8 slot, u8 out, u32 oq_bytes)
{
	struct pyr_root *root = &sw->root[slot];
	struct pyr_port *port = &sw->port[out];

	if (root->iq & PYR_BIT(out))
		return;
	if (root->queue == PYR_NONE)
		root->queue = pyr_queue_get(sw, root->id);
	root->iq |= PYR_BIT(out);
	root->touched |= PYR_BIT(out);
	root->release_tell &= ~PYR_BIT(out);
	WRITE_ONCE(port->assigned, port->assigned + 1);
	sw->stats.assigned++;
	if (port->assigned > sw->stats.assigned_max)
		sw->stats.assigned_max = port->assigned;
	/* Part of what passes @out also passes this root (section 4.1). */
	pyr_local_gives_way(sw, out, slot, oq_bytes);
}

static void pyr_iq_pause(struct pyr_switch *sw, u8 slot, u8 out)
{
	struct pyr_root *root = &sw->root[slot];
	struct pyr_port *port = &sw->port[out];

	if (root->iq_paused & PYR_BIT(out))
		return;
	root->iq_paused |= PYR_BIT(out);
	port->holds[root->queue]++;
	pyr_set_ready(port, root->queue);
}

static void pyr_iq_resume(struct pyr_switch *sw, u8 slot, u8 out)
{
	struct pyr_root *root = &sw->root[slot];
	struct pyr_port *port = &sw->port[out];

	if (!(root->iq_paused & PYR_BIT(out)))
		return;
	root->iq_paused &= ~PYR_BIT(out);
	port->holds[root->queue]--;
	pyr_set_ready(port, root->queue);
}

/* Takes the root's queue at @out back; no packet waits there for it. */
static void pyr_iq_release(struct pyr_switch *sw, u8 slot, u8 out)
{
	struct pyr_root *root = &sw->root[slot];
	struct pyr_port *port = &sw->port[out];

	if (!(root->iq & PYR_BIT(out)))
		return;
	pyr_iq_resume(sw, slot, out);
	root->iq &= ~PYR_BIT(out);
	WRITE_ONCE(port->assigned, port->assigned - 1);
	sw->stats.released++;
	if (port->up && port->tell) {
		root->release_tell |= PYR_BIT(out);
		pyr_set_bit(sw->tell, slot);
	}
	if (!root->iq) {
		pyr_queue_put(sw, root->queue);
		root->queue = PYR_NONE;
	}
}

/* ---- frames heard --------------------------------------------------------- */

static bool pyr_frame_possible(const struct pyr_frame *frame)
{
	if (frame->type < PYR_PAUSE || frame->type > PYR_RELEASE ||
	    !PYR_ROOT_SWITCH(frame->root))
		return false;
	if (frame->type == PYR_RELEASE)
		return true;
	if (!frame->distance || frame->distance > PYR_HOPS_MAX)
		return false;
	return frame->type != PYR_MERGE ||
	       (PYR_ROOT_SWITCH(frame->into) && frame->into != frame->root);
}

bool pyr_frame_newer(struct pyr_switch *sw, u8 index, u32 epoch, u32 sequence)
{
	struct pyr_port *port = &sw->port[index];

	if (port->heard && port->rx_epoch == epoch &&
	    (s32)(sequence - port->rx_sequence) <= 0)
		return false;
	port->heard = true;
	port->rx_epoch = epoch;
	port->rx_sequence = sequence;
	return true;
}

/* The root's slot, made if need be, with a queue at @out. */
static u8 pyr_frame_root(struct pyr_switch *sw, u8 out, u64 id, u8 distance,
			 u32 oq_bytes)
{
	u8 slot = pyr_root_get(sw, id);

	if (slot != PYR_NONE) {
		sw->root[slot].distance = distance;
		pyr_iq_assign(sw, slot, out, oq_bytes);
	}
	return slot;
}

u8 pyr_hold_ticks(const struct pyr_switch *sw, u32 hold_ns)
{
	u64 ticks = div64_u64((u64)hold_ns + sw->config.tick_ns - 1,
			      sw->config.tick_ns);

	if (!ticks)
		return 1;
	return ticks < 255 ? ticks : 255;
}

static enum pyr_heard pyr_hear_pause(struct pyr_switch *sw, u8 out,
				     const struct pyr_frame *frame,
				     u32 oq_bytes)
{
	u8 slot = pyr_frame_root(sw, out, frame->root, frame->distance,
				 oq_bytes);

	if (slot == PYR_NONE)
		return PYR_HEARD_FULL;
	sw->root[slot].into = 0;
	sw->root[slot].hold_left[out] = pyr_hold_ticks(sw, frame->hold_ns);
	pyr_iq_pause(sw, slot, out);
	return PYR_HEARD_OK;
}

static enum pyr_heard pyr_hear_resume(struct pyr_switch *sw, u8 out,
				      const struct pyr_frame *frame,
				      u32 oq_bytes)
{
	u8 slot = pyr_root_find(sw, frame->root), into;

	if (slot == PYR_NONE || !(sw->root[slot].iq & PYR_BIT(out)))
		return PYR_HEARD_UNKNOWN;
	pyr_iq_resume(sw, slot, out);
	/* In a ring the new root may be a port of this switch. */
	if (frame->type == PYR_RESUME ||
	    PYR_ROOT_SWITCH(frame->into) == sw->config.id)
		return PYR_HEARD_OK;
	into = pyr_frame_root(sw, out, frame->into, frame->distance, oq_bytes);
	if (into == PYR_NONE)
		return PYR_HEARD_FULL;
	pyr_give_way(sw, slot, into);
	return PYR_HEARD_OK;
}

/* A neighbour that is to wait has no queue yet, or will hear of it again. */
static enum pyr_heard pyr_hear_release(struct pyr_switch *sw, u8 in,
				       const struct pyr_frame *frame)
{
	u8 slot = pyr_root_find(sw, frame->root);
	struct pyr_root *root;

	if (slot == PYR_NONE)
		return PYR_HEARD_UNKNOWN;
	root = &sw->root[slot];
	if (!(root->child & ~root->child_paused & PYR_BIT(in)))
		return PYR_HEARD_UNKNOWN;
	root->child &= ~PYR_BIT(in);
	root->child_tell &= ~PYR_BIT(in);
	return PYR_HEARD_OK;
}

static enum pyr_heard pyr_hear(struct pyr_switch *sw, u8 index,
			       const struct pyr_frame *frame, u32 oq_bytes)
{
	struct pyr_port *port = &sw->port[index];

	if (!port->up || !port->hear)
		return PYR_HEARD_DEAF;
	if (!pyr_frame_possible(frame))
		return PYR_HEARD_MALFORMED;
	if (!pyr_frame_newer(sw, index, frame->epoch, frame->sequence))
		return PYR_HEARD_OLD;
	if (frame->type == PYR_RELEASE)
		return pyr_hear_release(sw, index, frame);
	if (PYR_ROOT_SWITCH(frame->root) == sw->config.id)
		return PYR_HEARD_SELF;
	if (frame->type == PYR_PAUSE)
		return pyr_hear_pause(sw, index, frame, oq_bytes);
	return pyr_hear_resume(sw, index, frame, oq_bytes);
}

enum pyr_heard pyr_frame_in(struct pyr_switch *sw, u8 port,
			    const struct pyr_frame *frame, u32 oq_bytes)
{
	enum pyr_heard heard;

	if (port >= PYR_PORTS_MAX)
		return PYR_HEARD_DEAF;
	heard = pyr_hear(sw, port, frame, oq_bytes);
	sw->stats.heard[heard]++;
	return heard;
}

/* ---- frames to send ------------------------------------------------------- */

/* What is the neighbour at @in to do about the root? */
static void pyr_frame_child(struct pyr_switch *sw, const struct pyr_root *root,
			    u8 in, struct pyr_frame *frame)
{
	u8 into = root->into ? pyr_root_find(sw, root->into) : PYR_NONE;
	u8 out = root->local;

	if (out == PYR_NONE && root->iq)
		out = __ffs64(root->iq);
	frame->distance = root->distance + 1;
	frame->held_bytes = root->in_bytes[in];
	if (out != PYR_NONE)
		frame->threshold_bytes = pyr_pause_bytes(sw, out, in);
	if (root->child_paused & PYR_BIT(in)) {
		u64 hold_ns = (u64)sw->config.tick_ns * PYR_HOLD_TICKS;

		frame->type = PYR_PAUSE;
		frame->hold_ns = hold_ns < U32_MAX ? hold_ns : U32_MAX;
		return;
	}
	frame->type = PYR_RESUME;
	if (into != PYR_NONE && sw->root[into].distance < PYR_HOPS_MAX) {
		frame->type = PYR_MERGE;
		frame->into = root->into;
		frame->distance = sw->root[into].distance + 1;
	}
}

/* Takes a frame about one root; false: there is none. */
static bool pyr_root_frame(struct pyr_switch *sw, struct pyr_root *root,
			   struct pyr_frame *frame, u8 *port)
{
	memset(frame, 0, sizeof(*frame));
	frame->root = root->id;
	if (root->child_tell) {
		*port = __ffs64(root->child_tell);
		root->child_tell &= root->child_tell - 1;
		pyr_frame_child(sw, root, *port, frame);
		return true;
	}
	if (root->release_tell) {
		*port = __ffs64(root->release_tell);
		root->release_tell &= root->release_tell - 1;
		frame->type = PYR_RELEASE;
		return true;
	}
	return false;
}

bool pyr_next_frame(struct pyr_switch *sw, struct pyr_frame *frame, u8 *port)
{
	unsigned int word;
	u8 slot;

	for (word = 0; word < PYR_SLOT_WORDS; word++) {
		while (sw->tell[word]) {
			slot = word * 64 + __ffs64(sw->tell[word]);
			if (pyr_root_frame(sw, &sw->root[slot], frame, port)) {
				frame->epoch = sw->port[*port].tx_epoch;
				frame->sequence = ++sw->port[*port].tx_sequence;
				sw->stats.sent[frame->type]++;
				return true;
			}
			pyr_clear_bit(sw->tell, slot);
		}
	}
	return false;
}

/* ---- time ----------------------------------------------------------------- */

/* The root's queues: pauses end, idle ones go. Returns ports that may send. */
static u64 pyr_tick_queues(struct pyr_switch *sw, u8 slot)
{
	struct pyr_root *root = &sw->root[slot];
	u64 left, wake = 0;
	u8 out;

	for (left = root->iq; left; left &= left - 1) {
		out = __ffs64(left);
		if (root->iq_paused & PYR_BIT(out)) {
			if (--root->hold_left[out])
				continue;
			pyr_iq_resume(sw, slot, out);
			sw->stats.expired++;
			wake |= PYR_BIT(out);
		} else if (!root->out_packets[out] && !root->child &&
			   !(root->touched & PYR_BIT(out))) {
			pyr_iq_release(sw, slot, out);
		}
	}
	root->touched = 0;
	return wake;
}

/* The root's neighbours hear again what they are to do, or are forgotten. */
static void pyr_tick_children(struct pyr_switch *sw, u8 slot)
{
	struct pyr_root *root = &sw->root[slot];
	u64 left;
	u8 in;

	for (left = root->child & ~root->child_paused; left; left &= left - 1) {
		in = __ffs64(left);
		if (--root->child_left[in])
			continue;
		root->child &= ~PYR_BIT(in);
		sw->stats.forgotten++;
	}
	root->child_tell = root->child;
	if (root->child_tell)
		pyr_set_bit(sw->tell, slot);
}

/* Forgets a root about which there is nothing left to know. */
static void pyr_root_put(struct pyr_switch *sw, u8 slot)
{
	struct pyr_root *root = &sw->root[slot];
	u8 *link = &sw->hash[pyr_hash(root->id)];

	while (*link != slot)
		link = &sw->root[*link].next;
	WRITE_ONCE(*link, root->next);
	if (root->local != PYR_NONE)
		sw->port[root->local].local = PYR_NONE;
	root->used = false;
	pyr_clear_bit(sw->tell, slot);
	WRITE_ONCE(sw->roots, sw->roots - 1);
}

u64 pyr_tick(struct pyr_switch *sw)
{
	struct pyr_root *root;
	u64 wake = 0;
	u8 slot;

	for (slot = 0; slot < PYR_ROOTS_MAX; slot++) {
		root = &sw->root[slot];
		if (!root->used)
			continue;
		wake |= pyr_tick_queues(sw, slot);
		pyr_tick_children(sw, slot);
		if (!root->iq && !root->child && !root->release_tell)
			pyr_root_put(sw, slot);
	}
	return wake;
}

void pyr_port_down(struct pyr_switch *sw, u8 index)
{
	struct pyr_port *port = &sw->port[index];
	struct pyr_root *root;
	u64 left;
	u8 slot;

	for (slot = 0; slot < PYR_ROOTS_MAX; slot++) {
		root = &sw->root[slot];
		if (!root->used)
			continue;
		root->child &= ~PYR_BIT(index);
		root->child_paused &= ~PYR_BIT(index);
		root->child_tell &= ~PYR_BIT(index);
		root->release_tell &= ~PYR_BIT(index);
		if (root->local != index)
			continue;
		for (left = root->child_paused; left; left &= left - 1)
			pyr_resume_child(sw, slot, __ffs64(left));
	}
	port->up = false;
	port->heard = false;
	port->merged_bytes = 0;
	pyr_set_resume(sw, index);
	pyr_set_all_nominate(sw);
}
