/* SPDX-License-Identifier: GPL-2.0 */
/* Names that a scenario may use. The lists end with NULL; tools/lab/lists makes them
 * of the sources, so they are those of the tree that lab was built from.
 */
#ifndef LAB_NAMES_H
#define LAB_NAMES_H

#include "scenario.h"

extern const char *const name_modules[];
extern const char *const name_controls[];	/* of the lab's kernel with all modules */
extern const char *const name_qdiscs[];		/* likewise */
extern const char *const name_settings[];	/* net.fairlane.* */

void names_check(const struct scenario *sc, const char *kernel);

/* tcwords.c: commands that tc is asked about, and where they stand. */
struct tc_words {
	struct buf batch;	/* a line each */
	const struct ynode **at;
	int n;
};

void tc_words_read(struct tc_words *w, const struct ynode *map, bool kinds);
void tc_words_check(struct tc_words *w);

#endif
