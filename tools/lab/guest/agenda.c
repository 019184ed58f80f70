// SPDX-License-Identifier: GPL-2.0
/*
 * The agenda: a binary heap of what happens when. Ties go by kind and index,
 * so the order never depends on how items came in.
 */
#include <stdlib.h>

#include "traffic.h"

static struct agenda_item *heap;
static size_t heap_count, heap_room;

/* Does a come before b? */
static bool agenda_before(const struct agenda_item *a,
			  const struct agenda_item *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->index < b->index;
}

void agenda_add(int64_t at_ns, enum agenda_kind kind, size_t index)
{
	struct agenda_item item = { at_ns, kind, index };
	size_t place = heap_count++, parent;

	if (heap_count > heap_room) {
		heap_room = heap_room ? 2 * heap_room : 256;
		heap = realloc(heap, heap_room * sizeof(*heap));
		if (!heap)
			lab_fail("no memory for %zu timers", heap_room);
	}
	for (; place; place = parent) {
		parent = (place - 1) / 2;
		if (!agenda_before(&item, &heap[parent]))
			break;
		heap[place] = heap[parent];
	}
	heap[place] = item;
}

/* What comes next; NULL if nothing does. */
const struct agenda_item *agenda_first(void)
{
	return heap_count ? &heap[0] : NULL;
}

/* Takes what comes next. There must be something. */
struct agenda_item agenda_take(void)
{
	struct agenda_item first = heap[0], last = heap[--heap_count];
	size_t place = 0, child;

	for (; (child = 2 * place + 1) < heap_count; place = child) {
		if (child + 1 < heap_count &&
		    agenda_before(&heap[child + 1], &heap[child]))
			child++;
		if (!agenda_before(&heap[child], &last))
			break;
		heap[place] = heap[child];
	}
	heap[place] = last;
	return first;
}
