/* SPDX-License-Identifier: GPL-2.0 */
/* Many runs of one scenario: combinations of settings, each with many seeds. */
#ifndef LAB_SWEEP_H
#define LAB_SWEEP_H

#include "measures.h"

struct combo {
	char *name;
	struct strv set;	/* key=value */
	struct scenario *sc;
	int *exit_code;		/* of each seed's run */
};

struct sweep {
	const char *scenario, *cwd;
	char *dir;
	int64_t first_seed;
	int seeds;
	struct combo *combo;
	int combos;
};

char *sweep_run_dir(const struct sweep *s, int combo, int seed);
int sweep_report(const struct sweep *s);

#endif
