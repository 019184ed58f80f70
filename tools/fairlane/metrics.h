/* SPDX-License-Identifier: GPL-2.0 */
/* fairlane metrics: how what is measured is printed. */
#ifndef FAIRLANE_METRICS_H
#define FAIRLANE_METRICS_H

#include "tool.h"

/**
 * struct metrics - where metrics go, and how
 * @out: where
 * @text: in the older text format of Prometheus, for a file that node-exporter reads;
 *	else OpenMetrics
 * @name: of the family that is printed now
 * @counter: it never falls
 */
struct metrics {
	FILE *out;
	bool text;
	const char *name;
	bool counter;
};

void metrics_family(struct metrics *m, const char *name, bool counter, const char *help);
void metrics_number(struct metrics *m, double value);
void metrics_sample(struct metrics *m, double value, const char *labels, ...) PRINTF(3, 4);

/* the sources */
bool metrics_module(struct metrics *m);
void metrics_flows(struct metrics *m);
void metrics_ports(struct metrics *m);

#endif
