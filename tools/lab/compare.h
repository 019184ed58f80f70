/* SPDX-License-Identifier: GPL-2.0 */
/* Sweeps side by side: what lab compare reads, and the table it makes. */
#ifndef LAB_COMPARE_H
#define LAB_COMPARE_H

#include <cjson/cJSON.h>

#include "util.h"

/* One combination of one sweep. */
struct side {
	char *label;
	char *dir;		/* the sweep's folder */
	char *run_dir;		/* its first run */
	char *command;		/* what repeats it */
	cJSON *summary;		/* of the first run */
	const cJSON *sweep;	/* sweep.json */
	const cJSON *combo;	/* inside it */
	int runs, clean_runs, first_seed;
	bool passed;		/* all runs clean, every expectation held */
	double speed;		/* packets x hops per wall second, median */
};

struct sides {
	struct side *s;
	int n;
};

/* Texts in rows and columns; row 0 is the header. */
struct table {
	int rows, cols;
	char **cell;		/* rows x cols, none is NULL */
	bool *missed;		/* by row: a target was missed */
	int matches;		/* values that --rows matches */
};

struct comparison {
	char *title;
	struct sides sides;
	struct table table;
};

void ratio_judge(struct sides *all);
void table_make(const struct sides *sides, const char *rows, struct table *t);
void compare_text(FILE *f, const struct comparison *c);
void compare_rst(FILE *f, const struct comparison *c);
void compare_html(const char *out, const struct comparison *c);
void compare_json(const char *out, const struct comparison *c);

#endif
