/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What will happen in a simulation, in the order of time: a wheel of buckets, each of
 * them sorted. Of two events at one time the one that was added first comes first.
 */
#ifndef PN_CLOCK_H
#define PN_CLOCK_H

#include "lib/fl_types.h"

#define PN_BUCKETS	65536
#define PN_FAR		1024
#define PN_NONE		U32_MAX

/**
 * struct pn_event - a packet on its way, a timer or whatever a simulation needs
 * @at: when it happens, in the user's unit of time
 * @sent: when the packet was sent
 * @object: for the user, instead of @sent
 * @told: largest delay that a link has told
 * @flow: whose it is, or the number of anything else
 * @value: for the user
 * @next: in its bucket
 * @order: of events that were added
 * @bytes: of the packet
 * @what: for the user
 * @hop: which link of its path is next, or a number for the user
 * @probe: the packet is no data
 */
struct pn_event {
	double at;
	union {
		double sent;
		void *object;
	};
	double told;
	u32 flow, value, next, order;
	u16 bytes;
	u8 what, hop;
	bool probe;
};

/**
 * struct pn_clock - all events
 * @event: room for them
 * @room: how many fit
 * @used: of @event, with the spare ones
 * @spare: events to be used again
 * @order: events so far
 * @pending: of them, not taken yet
 * @far: lists of events beyond the wheel, not sorted
 * @head: of each bucket's list
 * @tail: likewise
 * @busy: a bit for each bucket with events
 * @per_unit: buckets in a unit of time
 * @now: bucket since time zero
 * @moved: lists of @far whose events have come to the wheel
 * @count: events taken
 */
struct pn_clock {
	struct pn_event *event;
	u32 room, used, spare, order, pending;
	u32 far[PN_FAR];
	u32 head[PN_BUCKETS], tail[PN_BUCKETS];
	u64 busy[PN_BUCKETS / 64];
	double per_unit;
	s64 now, moved;
	u64 count;
};

void *pn_alloc(size_t count, size_t size);
struct pn_clock *pn_clock_open(double bucket);
void pn_clock_close(struct pn_clock *c);
struct pn_event *pn_clock_new(struct pn_clock *c);
void pn_clock_add(struct pn_clock *c, struct pn_event *ev);
struct pn_event *pn_clock_next(struct pn_clock *c, double until);
void pn_clock_drop(struct pn_clock *c, struct pn_event *ev);

#endif
