/* SPDX-License-Identifier: GPL-2.0 */
/* What will happen in a simulation, in the order of time. */
#ifndef EVENTS_H
#define EVENTS_H

#include "core/types.h"

enum event_kind { START, DONE, ARRIVE, FRAME, TICK, ACK };

struct event {
	u64 ps;
	u64 order;
	u8 kind;
	u8 port;
	u32 node;
	void *what;
};

/* Something will happen: at a time, to a port of a node or to flow @node. */
void at(u64 ps, enum event_kind kind, u32 node, u8 port, void *what);
/* When does the next thing happen? ~0: nothing will. */
u64 first_event_ps(void);
/* Takes it; there is one. Of two at one time the one told first. */
struct event next_event(void);

#endif
