// SPDX-License-Identifier: GPL-2.0
#include "wheel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MASK	(WHEEL_BUCKETS - 1)

void wheel_init(struct wheel *w)
{
	memset(w, 0, sizeof(*w));
	memset(w->head, 0xff, sizeof(w->head));
	w->spare = WHEEL_NONE;
	w->far = WHEEL_NONE;
}

void wheel_free(struct wheel *w)
{
	free(w->event);
}

/* An event to be filled in and added. Pointers to others are stale afterwards. */
uint32_t wheel_new(struct wheel *w)
{
	uint32_t e = w->spare;

	if (e != WHEEL_NONE) {
		w->spare = w->event[e].next;
		return e;
	}
	if (w->used == w->room) {
		w->room = w->room ? 2 * w->room : 4096;
		w->event = realloc(w->event, w->room * sizeof(*w->event));
		if (!w->event) {
			fprintf(stderr, "no memory for %u events\n", w->room);
			exit(2);
		}
	}
	return w->used++;
}

/* Gives an event back. */
void wheel_drop(struct wheel *w, uint32_t e)
{
	w->event[e].next = w->spare;
	w->spare = e;
}

static void put(struct wheel *w, uint32_t e, int64_t bucket)
{
	uint32_t b = bucket & MASK;

	w->event[e].next = WHEEL_NONE;
	if (w->head[b] == WHEEL_NONE)
		w->head[b] = e;
	else
		w->event[w->tail[b]].next = e;
	w->tail[b] = e;
	w->busy[b / 64] |= 1ULL << (b % 64);
}

/* An event that is in the past happens now. */
void wheel_add(struct wheel *w, uint32_t e)
{
	int64_t bucket = w->event[e].at_ps >> WHEEL_SHIFT;

	if (bucket < w->now)
		bucket = w->now;
	if (bucket < w->now + WHEEL_BUCKETS) {
		put(w, e, bucket);
		return;
	}
	w->event[e].next = w->far;
	w->far = e;
}

/* Far events that the wheel reaches by now. */
static void look_far(struct wheel *w)
{
	uint32_t e = w->far, next;

	w->far = WHEEL_NONE;
	for (; e != WHEEL_NONE; e = next) {
		next = w->event[e].next;
		wheel_add(w, e);
	}
	w->sorted = w->now;
}

/* Number of buckets from here to one with events, at most those of a word. */
static int to_busy(const struct wheel *w)
{
	uint32_t b = w->now & MASK;
	uint64_t word = w->busy[b / 64] >> (b % 64);

	return word ? __builtin_ctzll(word) : 64 - (int)(b % 64);
}

/* The next event, taken out; WHEEL_NONE if there is none before a time. */
uint32_t wheel_next(struct wheel *w, int64_t until_ps)
{
	int64_t until = until_ps >> WHEEL_SHIFT;
	uint32_t b, e;
	int skip;

	for (;;) {
		if (w->now - w->sorted >= WHEEL_BUCKETS / 4)
			look_far(w);
		skip = to_busy(w);
		if (w->now + skip >= until) {
			w->now = until;
			return WHEEL_NONE;
		}
		w->now += skip;
		b = w->now & MASK;
		e = w->head[b];
		if (e == WHEEL_NONE)
			continue;
		w->head[b] = w->event[e].next;
		if (w->head[b] == WHEEL_NONE)
			w->busy[b / 64] &= ~(1ULL << (b % 64));
		w->count++;
		return e;
	}
}
