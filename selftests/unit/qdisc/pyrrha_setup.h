/* SPDX-License-Identifier: GPL-2.0 */
/* A Pyrrha switch of four ports, what it hears and what it says. */
#ifndef PYRRHA_SETUP_H
#define PYRRHA_SETUP_H

#include "unit.h"
#include "core/pyrrha.h"

/* 8 Gbit/s is a byte a nanosecond: 1000 ns make a one-hop BDP of 1000 bytes. */
#define BDP	1000
#define ME	7
#define UP	0	/* towards the roots */
#define UP2	1
#define LEFT	2	/* where packets come from */
#define RIGHT	3
#define NEAR	PYR_ROOT(20, 1)
#define FAR	PYR_ROOT(30, 4)

static struct pyr_switch sw;
static u32 sequence;

static const struct pyr_path both = { .hops = 2, .hop = { NEAR, FAR } };
static const struct pyr_path far_only = {
	.hops = 2, .hop = { PYR_ROOT(21, 1), FAR }
};

static const struct pyr_path other = {
	.hops = 2, .hop = { PYR_ROOT(20, 2), PYR_ROOT(30, 5) }
};

/* A switch of four ports that tell and hear; @queues of them own a root. */
static inline void set_up_queues(u8 queues)
{
	struct pyr_config config = {
		.id = ME, .queues = queues, .buckets = 2,
		.pause_permille = 2000, .resume_permille = 1000,
		.tick_ns = 8000,
	};
	struct pyr_port_config port = {
		.rate_bps = 8000000000ULL, .hop_rtt_ns = BDP, .epoch = 99,
		.tell = true, .hear = true,
	};
	u8 i;

	sequence = 0;
	CHECK_EQ(pyr_init(&sw, &config), 0);
	for (i = UP; i <= RIGHT; i++)
		CHECK_EQ(pyr_port_up(&sw, i, &port), 0);
}

static inline void set_up(void)
{
	set_up_queues(100);
}

/* Hears a frame with the next sequence number. */
static inline int hear(u8 port, u8 type, u64 root, u8 distance, u64 into)
{
	struct pyr_frame frame = {
		.type = type, .distance = distance, .epoch = 1,
		.sequence = ++sequence, .root = root, .into = into,
		.hold_ns = 4 * 8000,
	};

	return pyr_frame_in(&sw, port, &frame, 0);
}

/* The next frame is of that type, about that root, by that port. */
static inline struct pyr_frame next_is(u8 type, u64 root, u8 port)
{
	struct pyr_frame frame = { 0 };
	u8 by = PYR_NONE;

	CHECK(pyr_has_frame(&sw));
	CHECK(pyr_next_frame(&sw, &frame, &by));
	CHECK_EQ(frame.type, type);
	CHECK_EQ(frame.root, root);
	CHECK_EQ(by, port);
	return frame;
}

static inline bool silent(void)
{
	struct pyr_frame frame;
	u8 port;

	return !pyr_next_frame(&sw, &frame, &port);
}

static inline void hush(void)
{
	while (!silent())
		;
}

static inline u8 arrive(struct pyr_packet *pkt, u8 in,
			const struct pyr_path *path, u32 oq_bytes)
{
	pkt->in = in;
	return pyr_arrive(&sw, UP, pkt, path, 1000, oq_bytes);
}

#endif
