// SPDX-License-Identifier: GPL-2.0
/*
 * Pyrrha's frames as bytes: struct fabric_frame of <linux/fabric_frame.h>,
 * byte by byte, since a received frame may lie at any address.
 */
#include <linux/fabric_frame.h>

#include "core/pyrrha.h"

#define AT(field)	offsetof(struct fabric_frame, field)

static void put16(u8 *to, u16 value)
{
	to[0] = value >> 8;
	to[1] = value & 0xff;
}

static void put32(u8 *to, u32 value)
{
	put16(to, value >> 16);
	put16(to + 2, value & 0xffff);
}

static u16 get16(const u8 *from)
{
	return from[0] << 8 | from[1];
}

static u32 get32(const u8 *from)
{
	return (u32)get16(from) << 16 | get16(from + 2);
}

bool pyr_frame_read(struct pyr_frame *frame, const u8 *data, size_t bytes)
{
	if (bytes < FABRIC_FRAME_BYTES ||
	    get16(data + AT(magic)) != FABRIC_FRAME_MAGIC ||
	    data[AT(version)] != FABRIC_FRAME_VERSION)
		return false;
	frame->type = data[AT(type)];
	frame->distance = data[AT(distance)];
	frame->epoch = get32(data + AT(epoch));
	frame->sequence = get32(data + AT(sequence));
	frame->root = PYR_ROOT(get32(data + AT(root_switch)),
			       get16(data + AT(root_port)));
	frame->into = PYR_ROOT(get32(data + AT(into_switch)),
			       get16(data + AT(into_port)));
	frame->hold_ns = get32(data + AT(hold_ns));
	frame->held_bytes = get32(data + AT(held_bytes));
	frame->threshold_bytes = get32(data + AT(threshold_bytes));
	return true;
}

void pyr_frame_write(const struct pyr_frame *frame, u8 *data)
{
	memset(data, 0, FABRIC_FRAME_BYTES);
	put16(data + AT(magic), FABRIC_FRAME_MAGIC);
	data[AT(version)] = FABRIC_FRAME_VERSION;
	data[AT(type)] = frame->type;
	data[AT(distance)] = frame->distance;
	put32(data + AT(epoch), frame->epoch);
	put32(data + AT(sequence), frame->sequence);
	put32(data + AT(root_switch), PYR_ROOT_SWITCH(frame->root));
	put16(data + AT(root_port), PYR_ROOT_PORT(frame->root));
	put32(data + AT(into_switch), PYR_ROOT_SWITCH(frame->into));
	put16(data + AT(into_port), PYR_ROOT_PORT(frame->into));
	put32(data + AT(hold_ns), frame->hold_ns);
	put32(data + AT(held_bytes), frame->held_bytes);
	put32(data + AT(threshold_bytes), frame->threshold_bytes);
}
