/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pyrrha.c and pyrrha_frame.c share and nobody else needs: the table of
 * roots, thresholds, the queues' readiness.
 */
#ifndef PYRRHA_STATE_H
#define PYRRHA_STATE_H

#include "core/pyrrha.h"

#define PYR_BIT(n)	(1ULL << (n))

static inline void pyr_set_bit(u64 *words, u8 n)
{
	words[n / 64] |= PYR_BIT(n % 64);
}

static inline void pyr_clear_bit(u64 *words, u8 n)
{
	words[n / 64] &= ~PYR_BIT(n % 64);
}

static inline bool pyr_test_bit(const u64 *words, u8 n)
{
	return words[n / 64] & PYR_BIT(n % 64);
}

/* Spreads names; below PYR_HASH_SIZE. */
static inline u8 pyr_hash(u64 id)
{
	return (id * 0x9e3779b97f4a7c15ULL >> 56) & (PYR_HASH_SIZE - 1);
}

/* The root's slot, PYR_NONE if it is not known. */
static inline u8 pyr_root_find(const struct pyr_switch *sw, u64 id)
{
	u8 slot = sw->hash[pyr_hash(id)];

	while (slot != PYR_NONE && sw->root[slot].id != id)
		slot = sw->root[slot].next;
	return slot;
}

/* Bytes that a line of that rate sends in a time, at least 1. */
static inline u32 pyr_bytes(u32 rate_q16, u32 ns)
{
	u64 bytes = (u64)rate_q16 * ns >> 16;

	if (!bytes)
		return 1;
	return bytes < U32_MAX ? bytes : U32_MAX;
}

/* What @out may hold of what came by @in before @in's neighbour is paused. */
static inline u32 pyr_pause_bytes(const struct pyr_switch *sw, u8 out, u8 in)
{
	return pyr_bytes(sw->port[out].rate_q16, sw->port[in].pause_ns);
}

/* Below this the neighbour is resumed: it covers the time until that acts. */
static inline u32 pyr_resume_bytes(const struct pyr_switch *sw, u8 out, u8 in)
{
	return pyr_bytes(sw->port[out].rate_q16, sw->port[in].resume_ns);
}

/* A queue may move packets if it has some and nobody holds it back. */
static inline void pyr_set_ready(struct pyr_port *port, u8 queue)
{
	u64 words = port->ready[queue / 64];

	if (port->packets[queue] && !port->holds[queue])
		words |= PYR_BIT(queue % 64);
	else
		words &= ~PYR_BIT(queue % 64);
	WRITE_ONCE(port->ready[queue / 64], words);
}

/* pyrrha.c; it calls nothing of pyrrha_frame.c */
void pyr_set_all_nominate(struct pyr_switch *sw);
void pyr_set_resume(struct pyr_switch *sw, u8 out);
u8 pyr_root_get(struct pyr_switch *sw, u64 id);
void pyr_resume_child(struct pyr_switch *sw, u8 slot, u8 in);
void pyr_give_way(struct pyr_switch *sw, u8 slot, u8 into);
void pyr_local_gives_way(struct pyr_switch *sw, u8 out, u8 into, u32 oq_bytes);

#endif /* PYRRHA_STATE_H */
