// SPDX-License-Identifier: GPL-2.0
/*
 * Incast among other traffic (the Pyrrha paper's figures 2 and 11, smaller):
 * 4 leaves of 8 hosts at 100 Gbit/s, 2 spines at 400. Hosts of other leaves send
 * to host 0 at once, 48 flows of 30 to 40 packets, again and again; all other
 * hosts send to each other by chance. Flows have a window of 64 kB.
 *
 *	mix [LOAD_PERCENT [MICROSECONDS]]
 *
 * Prints for each flow control how long flows took, in microseconds: mean and
 * 99th percentile of those that share a leaf with the incast ("vulnerable"), of
 * the others ("background") and of the incast.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define LEAVES		4
#define HOSTS		8
#define FLOWS_MAX	200000
#define INCAST_FLOWS	48

enum class { VULNERABLE, BACKGROUND, INCAST, CLASSES };

static struct flow flows[FLOWS_MAX];
static u32 count;

static void add(u64 start_ns, u32 from, u32 to, u64 bytes, enum class class)
{
	if (count == FLOWS_MAX)
		exit(2);
	flows[count++] = (struct flow){
		.from = from, .to = to, .spine = sim_random(2),
		.start_ns = start_ns, .bytes = bytes, .class = class,
	};
}

/* Many small ones, most bytes in few large ones; 52 kB on average. */
static u64 draw_bytes(void)
{
	u32 x = sim_random(100);

	if (x < 50)
		return 500 + sim_random(3000);
	if (x < 80)
		return 10000 + sim_random(20000);
	return x < 95 ? 50000 + sim_random(100000) : 600000;
}

static void draw_flows(u32 load_percent, u64 until_ns)
{
	double gap_ns = 52000 * 8.0 / 100 / (load_percent / 100.0), at;
	u64 period_ns = INCAST_FLOWS * 35 * 1538 * 8 / 100 * 2, start;
	u32 from, to, i;

	count = 0;
	for (from = 1; from < LEAVES * HOSTS; from++) {
		for (at = 0;;) {
			at -= gap_ns * log((1 + sim_random(999999)) / 1e6);
			if (at >= until_ns)
				break;
			do
				to = 1 + sim_random(LEAVES * HOSTS - 1);
			while (to / HOSTS == from / HOSTS);
			add(at, from, to, draw_bytes(),
			    to < HOSTS || from < HOSTS ? VULNERABLE :
			    BACKGROUND);
		}
	}
	for (start = 30000; start < until_ns; start += period_ns)
		for (i = 0; i < INCAST_FLOWS; i++)
			add(start + sim_random(100),
			    HOSTS + sim_random((LEAVES - 1) * HOSTS), 0,
			    (30 + sim_random(11)) * MTU_BYTES, INCAST);
}

static int order(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void show_class(enum class class, u32 *open)
{
	static double us[FLOWS_MAX];
	double sum = 0;
	u32 n = 0, i;

	for (i = 0; i < count; i++) {
		if (flows[i].class != class)
			continue;
		if (!flows[i].done_ns) {
			++*open;
			continue;
		}
		us[n] = (flows[i].done_ns - flows[i].start_ns) / 1000.0;
		sum += us[n++];
	}
	qsort(us, n, sizeof(*us), order);
	printf(" %8.1f %8.1f", n ? sum / n : 0, n ? us[n * 99 / 100] : 0);
}

int main(int argc, char **argv)
{
	struct settings set = {
		.leaves = LEAVES, .spines = 2, .hosts = HOSTS,
		.host_gbps = 100, .spine_gbps = 400, .delay_ns = 600,
		.buffer_bytes = 4000000, .window_bytes = 64000,
		.pause_permille = PYR_PAUSE_DEFAULT_PERMILLE,
		.resume_permille = PYR_RESUME_DEFAULT_PERMILLE,
	};
	u32 load = argc > 1 ? atoi(argv[1]) : 60;
	u64 until_ns = (argc > 2 ? atoi(argv[2]) : 2000) * 1000ULL;
	struct totals t;
	enum mode mode;

	printf("%-8s %8s %8s %8s %8s %8s %8s %8s %6s %5s %5s %5s %5s\n",
	       "control", "vul.mean", "vul.99", "bg.mean", "bg.99", "inc.mean",
	       "inc.99", "peak_kB", "late", "IQs", "lost", "open", "roots");
	for (mode = NONE; mode < MODES; mode++) {
		u32 open = 0;

		set.mode = mode;
		sim_open(&set, flows, 0);
		sim_close();
		draw_flows(load, until_ns);
		sim_open(&set, flows, count);
		sim_run(until_ns * 10);
		printf("%-8s", mode_names[mode]);
		show_class(VULNERABLE, &open);
		show_class(BACKGROUND, &open);
		show_class(INCAST, &open);
		sim_totals(&t);
		printf(" %8llu %6llu %5u %5llu %5u %5u\n",
		       (unsigned long long)t.peak_bytes / 1000,
		       (unsigned long long)t.reordered, t.queues_max,
		       (unsigned long long)t.dropped, open, t.roots_left);
		fflush(stdout);
		sim_close();
	}
	return 0;
}
