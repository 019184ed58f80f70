// SPDX-License-Identifier: GPL-2.0
/* The events of events.h in a binary heap. */
#include <stdlib.h>

#include "events.h"

static struct event *heap;
static u32 heap_count, heap_room;
static u64 event_order;

static bool before(const struct event *a, const struct event *b)
{
	return a->ps != b->ps ? a->ps < b->ps : a->order < b->order;
}

void at(u64 ps, enum event_kind kind, u32 node, u8 port, void *what)
{
	struct event e = { ps, event_order++, kind, port, node, what };
	u32 i;

	if (heap_count == heap_room) {
		heap_room = heap_room ? heap_room * 2 : 1024;
		heap = realloc(heap, heap_room * sizeof(*heap));
	}
	for (i = heap_count++; i && before(&e, &heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

struct event next_event(void)
{
	struct event first = heap[0], last = heap[--heap_count];
	u32 i = 0, child;

	while ((child = 2 * i + 1) < heap_count) {
		if (child + 1 < heap_count &&
		    before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

u64 first_event_ps(void)
{
	return heap_count ? heap[0].ps : ~0ULL;
}
