// SPDX-License-Identifier: GPL-2.0
/*
 * Figures 8 and 10 of the Pyrrha paper: S1 and S2 send to R1, VS sends to VR;
 * S2's and VS's packets leave one spine by one port. What do they get?
 * Figure 24: the same flows in another order, so that the root moves.
 *
 *	victim [only=CONTROL] [key=value...]	keys as in struct settings
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define MS	1000000ULL

static struct settings set = {
	.leaves = 3, .spines = 2, .hosts = 2, .host_gbps = 100,
	.spine_gbps = 100, .delay_ns = 600, .buffer_bytes = 20000000,
	.pause_permille = PYR_PAUSE_DEFAULT_PERMILLE,
	.resume_permille = PYR_RESUME_DEFAULT_PERMILLE,
};

static const char *only;

static void option(const char *text)
{
	unsigned long value;
	char key[32];

	if (!strncmp(text, "only=", 5)) {
		only = text + 5;
		return;
	}
	if (sscanf(text, "%31[a-z_]=%lu", key, &value) != 2)
		exit(2);
	if (!strcmp(key, "delay_ns"))
		set.delay_ns = value;
	else if (!strcmp(key, "gbps"))
		set.host_gbps = value;
	else if (!strcmp(key, "pause_permille"))
		set.pause_permille = value;
	else if (!strcmp(key, "resume_permille"))
		set.resume_permille = value;
	else if (!strcmp(key, "all_moves"))
		set.all_moves = value;
	else if (!strcmp(key, "frame_loss_permille"))
		set.frame_loss_permille = value;
	else
		exit(2);
}

/* Percent of a host's line, of the last of three parts of the time. */
static void show(const char *name, const char *order, struct flow *flows,
		 const u64 *before, u64 span_ns)
{
	struct totals t;
	double share[3];
	int i;

	for (i = 0; i < 3; i++)
		share[i] = (flows[i].received_bytes - before[i]) * 8.0 /
			   span_ns / set.host_gbps * 100 *
			   (MTU_BYTES + WIRE_BYTES) / MTU_BYTES;
	sim_totals(&t);
	printf("%-8s %-9s %7.1f %7.1f %7.1f %9llu %7llu %6llu %5u %5llu\n", name,
	       order, share[0], share[1], share[2],
	       (unsigned long long)t.peak_bytes / 1000,
	       (unsigned long long)t.frames, (unsigned long long)t.reordered,
	       t.queues_max, (unsigned long long)t.dropped);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		u64 start_ns[3];
	} orders[] = {
		{ "fig10", { 0, MS, 2 * MS } },
		{ "fig24", { 2 * MS, 0, MS } },
	};
	enum mode mode;
	size_t j;
	int k;

	for (k = 1; k < argc; k++)
		option(argv[k]);
	set.spine_gbps = set.host_gbps;
	printf("%-8s %-9s %7s %7s %7s %9s %7s %6s %5s %5s\n", "control",
	       "scene", "S1 %", "S2 %", "VS %", "peak_kB", "frames",
	       "late", "IQs", "lost");
	for (mode = NONE; mode < MODES; mode++) {
		if (only && strcmp(only, mode_names[mode]))
			continue;
		for (j = 0; j < 2; j++) {
			/* S1, S2 at the first leaf; VS at the second. */
			struct flow flows[3] = {
				{ .from = 0, .to = 4, .spine = 0 },
				{ .from = 1, .to = 4, .spine = 1 },
				{ .from = 2, .to = 5, .spine = 1 },
			};
			u64 before[3];

			for (k = 0; k < 3; k++) {
				flows[k].start_ns = orders[j].start_ns[k];
				flows[k].bytes = ~0ULL;
			}
			set.mode = mode;
			sim_open(&set, flows, 3);
			sim_run(4 * MS);
			for (k = 0; k < 3; k++)
				before[k] = flows[k].received_bytes;
			sim_run(8 * MS);
			show(mode_names[mode], orders[j].name, flows, before,
			     4 * MS);
			sim_close();
		}
	}
	return 0;
}
