// SPDX-License-Identifier: GPL-2.0
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MASK	(PN_BUCKETS - 1)
#define FAR_SHIFT	14	/* buckets that one list of far events is for */
#define FAR_AHEAD	(PN_BUCKETS >> FAR_SHIFT)
#define NEVER		(INT64_MAX / 2)	/* a bucket that does not come */

/* Zeroed memory, or the end. */
void *pn_alloc(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p) {
		fprintf(stderr, "no memory for %zu x %zu bytes\n", count, size);
		exit(2);
	}
	return p;
}

/**
 * pn_clock_open() - no events, at time zero
 * @bucket: the length of a bucket in the user's unit of time; best with few events in
 *	each, and most of them less than PN_BUCKETS buckets ahead
 *
 * Return: the clock, for pn_clock_close(); without memory the program ends.
 */
struct pn_clock *pn_clock_open(double bucket)
{
	struct pn_clock *c = pn_alloc(1, sizeof(*c));

	memset(c->head, 0xff, sizeof(c->head));
	c->spare = PN_NONE;
	memset(c->far, 0xff, sizeof(c->far));
	c->per_unit = 1 / bucket;
	return c;
}

void pn_clock_close(struct pn_clock *c)
{
	free(c->event);
	free(c);
}

/* An event to be filled in and added. Pointers to others are stale afterwards. */
struct pn_event *pn_clock_new(struct pn_clock *c)
{
	struct pn_event *ev;

	if (c->spare != PN_NONE) {
		ev = &c->event[c->spare];
		c->spare = ev->next;
		return ev;
	}
	if (c->used == c->room) {
		c->room = c->room ? 2 * c->room : 1024;
		c->event = realloc(c->event, c->room * sizeof(*c->event));
		if (!c->event) {
			fprintf(stderr, "no memory for %u events\n", c->room);
			exit(2);
		}
	}
	return &c->event[c->used++];
}

/* Gives an event back. */
void pn_clock_drop(struct pn_clock *c, struct pn_event *ev)
{
	ev->next = c->spare;
	c->spare = ev - c->event;
}

static bool before(const struct pn_event *a, const struct pn_event *b)
{
	return a->at != b->at ? a->at < b->at : (s32)(a->order - b->order) < 0;
}

/* An event to its place in the wheel, or to the far ones of its time. */
static void put(struct pn_clock *c, struct pn_event *ev)
{
	double place = ev->at * c->per_unit;
	s64 bucket = place < NEVER ? place : NEVER, far = bucket >> FAR_SHIFT;
	u32 b = bucket & MASK, e = ev - c->event, *link = &c->head[b];

	if (far >= c->moved) {
		if (far >= c->moved + PN_FAR)
			far = c->moved + PN_FAR - 1;
		ev->next = c->far[far % PN_FAR];
		c->far[far % PN_FAR] = e;
		return;
	}
	if (*link != PN_NONE && before(&c->event[c->tail[b]], ev))
		link = &c->event[c->tail[b]].next;
	while (*link != PN_NONE && before(&c->event[*link], ev))
		link = &c->event[*link].next;
	ev->next = *link;
	*link = e;
	if (ev->next == PN_NONE)
		c->tail[b] = e;
	c->busy[b / 64] |= 1ULL << (b % 64);
}

/* An event that is filled in; @ev->at is not in the past. */
void pn_clock_add(struct pn_clock *c, struct pn_event *ev)
{
	ev->order = c->order++;
	c->pending++;
	put(c, ev);
}

/* Far events for which the wheel has room by now. */
static void look_far(struct pn_clock *c)
{
	u32 *head = &c->far[c->moved++ % PN_FAR], e = *head, next;

	*head = PN_NONE;
	for (; e != PN_NONE; e = next) {
		next = c->event[e].next;
		put(c, &c->event[e]);
	}
}

/* Number of buckets from here to one with events, at most those of a word. */
static int to_busy(const struct pn_clock *c)
{
	u32 b = c->now & MASK;
	u64 word = c->busy[b / 64] >> (b % 64);

	return word ? __builtin_ctzll(word) : 64 - (int)(b % 64);
}

/* The next event, taken out, to be added again or dropped; NULL if there is none before
 * a time.
 */
struct pn_event *pn_clock_next(struct pn_clock *c, double until)
{
	double place = until * c->per_unit;
	s64 last = place < NEVER ? place : NEVER;
	struct pn_event *ev;
	u32 b;

	while (c->pending) {
		while (c->moved < (c->now >> FAR_SHIFT) + FAR_AHEAD)
			look_far(c);
		b = c->now & MASK;
		if (c->head[b] == PN_NONE) {
			int skip = to_busy(c);

			if (c->now + skip > last) {
				c->now = last;
				return NULL;
			}
			c->now += skip;
			continue;
		}
		ev = &c->event[c->head[b]];
		if (ev->at >= until)
			return NULL;
		c->head[b] = ev->next;
		if (ev->next == PN_NONE)
			c->busy[b / 64] &= ~(1ULL << (b % 64));
		c->pending--;
		c->count++;
		return ev;
	}
	return NULL;
}
