/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Priority-based flow control (IEEE 802.1Q, clause 36): when a neighbour is to wait, for how
 * long, and the frame that says so. Pure integers.
 */
#ifndef PFC_H
#define PFC_H

#include "core/types.h"

#define PFC_CLASSES		8
#define PFC_ETHERTYPE		0x8808	/* MAC control */
#define PFC_DEST		{ 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 }
#define PFC_OPCODE		0x0101
#define PFC_BYTES		20	/* opcode, classes, a time for each */
#define PFC_QUANTUM_BITS	512
#define PFC_QUANTA_MAX		0xffff
/* A neighbour waits while it holds more than this part of what is free. */
#define PFC_FREE_SHIFT		3
/* It goes on once it holds so much less: two packets. */
#define PFC_RESUME_BYTES	3076

/* Is a neighbour to wait of whose packets @held_bytes are here, while @free_bytes are free? */
static inline bool pfc_pauses(u32 held_bytes, u64 free_bytes)
{
	return held_bytes > free_bytes >> PFC_FREE_SHIFT;
}

/* May one that waits go on? */
static inline bool pfc_resumes(u32 held_bytes, u64 free_bytes)
{
	return !held_bytes ||
	       held_bytes + PFC_RESUME_BYTES <= free_bytes >> PFC_FREE_SHIFT;
}

/**
 * pfc_quanta() - a time as a frame says it
 * @hold_ns: the time
 * @rate_bps: of the link, not 0
 *
 * Return: 1 to PFC_QUANTA_MAX, the time rounded up.
 */
static inline u16 pfc_quanta(u64 hold_ns, u64 rate_bps)
{
	u64 bits = mul_u64_u64_div_u64(hold_ns, rate_bps, NSEC_PER_SEC);
	u64 quanta = bits / PFC_QUANTUM_BITS + 1;

	return quanta < PFC_QUANTA_MAX ? quanta : PFC_QUANTA_MAX;
}

/* The time that @quanta are at @rate_bps, in ns. */
static inline u64 pfc_hold_ns(u16 quanta, u64 rate_bps)
{
	return div64_u64((u64)quanta * PFC_QUANTUM_BITS * NSEC_PER_SEC,
			 rate_bps);
}

/* Writes what follows the EtherType, @data with room for PFC_BYTES bytes: the class waits,
 * or with no @quanta goes on.
 */
static inline void pfc_write(u8 class, u16 quanta, u8 *data)
{
	memset(data, 0, PFC_BYTES);
	data[0] = PFC_OPCODE >> 8;
	data[1] = PFC_OPCODE & 0xff;
	data[3] = 1 << class;
	data[4 + 2 * class] = quanta >> 8;
	data[5 + 2 * class] = quanta & 0xff;
}

/**
 * pfc_read() - what a frame says of a class
 * @class: below PFC_CLASSES
 * @data: what follows the EtherType, PFC_BYTES bytes
 *
 * Return: quanta, 0: it goes on; -1: nothing.
 */
static inline int pfc_read(u8 class, const u8 *data)
{
	if ((data[0] << 8 | data[1]) != PFC_OPCODE || !(data[3] >> class & 1))
		return -1;
	return data[4 + 2 * class] << 8 | data[5 + 2 * class];
}

#endif /* PFC_H */
