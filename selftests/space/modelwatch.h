/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What spacemodel tells beside its verdicts: a set-up over time, and which changes fail.
 */
#ifndef MODELWATCH_H
#define MODELWATCH_H

#include "bottleneck.h"
#include "space.h"

/* Run a set-up and print its classes once in @rtts base RTTs, a line each time. */
void watch_run(struct bn *b, const struct space_setup *s, double rtts);
/* Count how the interval after change @step ended. */
void watch_change(const struct space_setup *s, int step, bool failed);
/* Print the counts of all set-ups. */
void watch_print(void);

#endif /* MODELWATCH_H */
