/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric's order of service: strict bands first, lowest number first; the
 * others by deficit weighted round robin. Sets of bands are bit masks, so that
 * finding the next band takes no list and no loop over idle bands.
 */
#ifndef FABRIC_ORDER_H
#define FABRIC_ORDER_H

#include "core/types.h"

#define FABRIC_ORDER_BANDS	16

/**
 * struct fabric_order - who is served next
 * @active: bands that have something to send
 * @strict: bands that are served before all others
 * @turn: the round-robin band that is being served
 * @deficit: bytes that a band may still send in its turn
 * @quantum: bytes that a band gets a turn; only of bands that are not strict
 */
struct fabric_order {
	u16 active;
	u16 strict;
	u8 turn;
	u32 deficit[FABRIC_ORDER_BANDS];
	u32 quantum[FABRIC_ORDER_BANDS];
};

/* Length of a band's first packet; 0 if it turns out to have none. */
typedef u32 (*fabric_head_fn)(void *context, unsigned int band);

/**
 * fabric_order_activate() - a band has something to send
 * @o: the order
 * @band: its number
 */
static inline void fabric_order_activate(struct fabric_order *o,
					 unsigned int band)
{
	o->active |= 1U << band;
}

/**
 * fabric_order_idle() - a band has nothing left; it loses what it did not use
 * @o: the order
 * @band: its number
 */
static inline void fabric_order_idle(struct fabric_order *o, unsigned int band)
{
	o->active &= ~(1U << band);
	o->deficit[band] = 0;
}

/* The band after @turn in the set @mask, round and round; @mask is not 0. */
static inline unsigned int fabric_order_after(u32 mask, unsigned int turn)
{
	u32 above = mask & ~((2U << turn) - 1);

	return __ffs(above ? above : mask);
}

/* The band whose turn it was may not go on, and the turn is another's: what is left of it is lost,
 * but for what did not suffice for a packet. Or who is held back again and again would save up.
 */
static inline void fabric_order_break(struct fabric_order *o, unsigned int band,
				      fabric_head_fn head, void *context)
{
	u32 bytes = head(context, band);

	if (o->deficit[band] >= bytes)
		o->deficit[band] = bytes ? bytes - 1 : 0;
}

/**
 * fabric_order_next() - whose turn is it? The caller then takes that packet.
 * @o: the order
 * @allowed: bands that may be served now
 * @head: tells the length of a band's first packet
 * @context: for @head
 *
 * A lone round-robin band is not charged: there is nobody to share with.
 *
 * Return: the band's number, or -1 if no active band is allowed.
 */
static inline int fabric_order_next(struct fabric_order *o, u32 allowed,
				    fabric_head_fn head, void *context)
{
	u32 mask = o->active & allowed;
	unsigned int turn = o->turn;
	u32 bytes;

	if (mask & o->strict)
		return __ffs(mask & o->strict);
	if (!(mask & (1U << turn))) {
		if (mask & (mask - 1) && o->deficit[turn])
			fabric_order_break(o, turn, head, context);
		goto next;
	}
	while (mask & (mask - 1)) {
		bytes = head(context, turn);
		/* Also false if there are none. */
		if (bytes - 1 < o->deficit[turn]) {
			o->deficit[turn] -= bytes;
			return turn;
		}
		if (!bytes) {
			/* Nothing to spend it on: it must not pile up. */
			o->deficit[turn] = 0;
			mask &= ~(1U << turn);
			if (!mask)
				break;
		}
next:
		if (!(mask & (mask - 1)))
			break;
		turn = fabric_order_after(mask, turn);
		o->turn = turn;
		o->deficit[turn] += o->quantum[turn];
	}
	return mask ? (int)__ffs(mask) : -1;
}

#endif /* FABRIC_ORDER_H */
