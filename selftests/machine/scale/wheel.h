/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of a simulation with millions of packets: a wheel of buckets of 16 ns,
 * in each the order of insertion. Packets are the events, so nothing is copied.
 * Two packets in one bucket may be handled up to 16 ns in the wrong order; their
 * own times stay exact.
 */
#ifndef SCALE_WHEEL_H
#define SCALE_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

#include "tree.h"

#define WHEEL_SHIFT	14	/* a bucket is 2^14 ps */
#define WHEEL_BUCKETS	65536
#define WHEEL_NONE	UINT32_MAX

/**
 * struct wheel_event - a packet on its way, or a sender's timer
 * @at_ps: when it happens
 * @sent_ps: when the packet was sent
 * @flow: whose it is
 * @told_ns: largest delay that a link has told
 * @next: in its bucket
 * @what: for the simulation
 * @hop: which link of @path is next
 * @hops: links of @path
 * @path: links
 */
struct wheel_event {
	int64_t at_ps, sent_ps;
	uint32_t flow, told_ns, next;
	uint8_t what, hop, hops;
	uint16_t path[TREE_HOPS];
};

struct wheel {
	struct wheel_event *event;
	uint32_t room, used, spare;
	uint32_t head[WHEEL_BUCKETS], tail[WHEEL_BUCKETS];
	uint64_t busy[WHEEL_BUCKETS / 64];
	uint32_t far;		/* events beyond the wheel */
	int64_t now;		/* bucket since time zero */
	int64_t sorted;		/* when the far ones were looked at last */
	uint64_t count;		/* events handled */
};

void wheel_init(struct wheel *w);
void wheel_free(struct wheel *w);
uint32_t wheel_new(struct wheel *w);
void wheel_add(struct wheel *w, uint32_t e);
uint32_t wheel_next(struct wheel *w, int64_t until_ps);
void wheel_drop(struct wheel *w, uint32_t e);

#endif
