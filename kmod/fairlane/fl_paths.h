/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A namespace's table of paths, which comes into being row by row with the flows that use it:
 * a namespace where nobody measures has none. Two paths may want the same place; what that
 * means is the user's business, as are the lock and the key that each entry begins with.
 */
#ifndef _FL_PATHS_H
#define _FL_PATHS_H

#include <linux/slab.h>
#include <linux/types.h>

/* Paths of a table, and of a row. */
#define FL_PATHS		1024
#define FL_PATHS_ROW_SHIFT	6
#define FL_PATHS_ROWS		(FL_PATHS >> FL_PATHS_ROW_SHIFT)

/**
 * struct fl_paths - a table of paths; zeroed, it is empty
 * @row: FL_PATHS_ROWS arrays of 2^FL_PATHS_ROW_SHIFT entries; NULL until a flow wants a
 *	place there. A row stays until the table is closed; ZERO_SIZE_PTR from then on
 * @old: the rows of a closed table
 */
struct fl_paths {
	void *row[FL_PATHS_ROWS];
	void *old[FL_PATHS_ROWS];
};

/**
 * fl_paths_find() - the place of a path
 * @t: the table
 * @key: of the path
 * @bytes: size of an entry
 *
 * Context: the lock of a socket that holds the namespace, or RCU; the entry is used as long.
 * Return: the entry, which may be another path's; NULL where there is no row.
 */
static inline void *fl_paths_find(const struct fl_paths *t, u32 key, size_t bytes)
{
	u32 place = key % FL_PATHS;
	void *row;

	/* pairs with cmpxchg() of fl_paths_make(): entries are zeroed before they are seen */
	row = smp_load_acquire(&t->row[place >> FL_PATHS_ROW_SHIFT]);
	if (ZERO_OR_NULL_PTR(row))
		return NULL;
	return row + (place & (BIT(FL_PATHS_ROW_SHIFT) - 1)) * bytes;
}

void *fl_paths_make(struct fl_paths *t, u32 key, size_t bytes);
void fl_paths_close(struct fl_paths *t);
void fl_paths_free(struct fl_paths *t);

#endif /* _FL_PATHS_H */
