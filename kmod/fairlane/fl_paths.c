// SPDX-License-Identifier: GPL-2.0
/* Rows of a namespace's table of paths, see fl_paths.h. */
#include "fl_paths.h"

/**
 * fl_paths_make() - the place of a path, with a new row if there is none
 * @t: the table
 * @key: of the path
 * @bytes: size of an entry
 *
 * Several may try at once; the first one's row stays. Context: as fl_paths_find().
 * Return: the entry, zeroed if it is new; NULL without memory, or in a closed table.
 */
void *fl_paths_make(struct fl_paths *t, u32 key, size_t bytes)
{
	void **row = &t->row[(key % FL_PATHS) >> FL_PATHS_ROW_SHIFT];
	void *fresh;

	if (!READ_ONCE(*row)) {
		fresh = kcalloc(BIT(FL_PATHS_ROW_SHIFT), bytes,
				GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
		if (fresh && cmpxchg(row, NULL, fresh))
			kfree(fresh);
	}
	return fl_paths_find(t, key, bytes);
}

/**
 * fl_paths_close() - take all rows away, and let nobody make new ones
 * @t: the table of a namespace that goes
 *
 * Sockets of users are gone. One of the kernel's own may hold no reference on the namespace, and be
 * closed after this by who opened it; a timer of the stack's then asks for its path again, and
 * finds none. Context: pre_exit of a namespace, once.
 */
void fl_paths_close(struct fl_paths *t)
{
	int i;

	for (i = 0; i < FL_PATHS_ROWS; i++)
		t->old[i] = xchg(&t->row[i], ZERO_SIZE_PTR);
}

/**
 * fl_paths_free() - free all rows
 * @t: the table, closed
 *
 * Context: exit of a namespace, a grace period after pre_exit: who had found a row is through.
 */
void fl_paths_free(struct fl_paths *t)
{
	int i;

	for (i = 0; i < FL_PATHS_ROWS; i++)
		kfree(t->old[i]);
}
