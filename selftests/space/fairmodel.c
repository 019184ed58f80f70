// SPDX-License-Identifier: GPL-2.0
/*
 * fairmodel [FIRST LAST]: how do flows of one priority share?
 *
 * The core of PrioPlus in the packet model of the unit tests: 2, 8 and 32 flows of a priority
 * begin after each other on one port, each with a link of its own, and go on for 60 ms. Prints for
 * each rate, priority and number the mean and the least of Jain's index from 30 to 59 ms over the
 * seeds (1 to 5), and the least part of the line that was used; then the mean of all.
 *
 * Then the same of 2 and 8 flows on long paths, where the sender paces: they begin 100 base RTTs
 * after each other, and the index is that of 400 to 800 base RTTs after the last one.
 */
#include "bottleneck.h"
#include "space.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

u32 pp_rules_off;

#define END_NS		60000000ULL
#define FROM_NS		30000000ULL
#define TO_NS		59000000ULL
/* From one start to the next, on average; of more than MANY flows a quarter. */
#define STEP_NS		500000ULL
#define JITTER_NS	20000
#define MANY		8
#define FLOWS_MAX	32
/* Long paths, base RTTs. */
#define LONG_STEP_RTTS	100
#define LONG_FROM_RTTS	400
#define LONG_TO_RTTS	800
#define LONG_NUMBERS	2

/* Propagation delay of a link at a rate, ns: base RTTs of 50, 10.2 and 7.9 us. */
static const struct {
	u32 gbit;
	u64 prop_ns;
} lines[] = { { 1, 6000 }, { 10, 1900 }, { 100, 1900 } };

/* Long paths: rate, and propagation delay of each of the four links of a round trip, ns. */
static const struct {
	u32 gbit;
	u64 prop_ns;
} longs[] = { { 1, 500000 }, { 10, 500000 }, { 100, 50000 } };

static const u32 priorities[] = { 0, 2, 6 };
static const int numbers[] = { 2, 8, FLOWS_MAX };

/* Sum of an index, its least, and the least use of the line. */
struct result {
	double sum, least, used;
	int runs;
};

static void count(struct result *r, double index, double used)
{
	r->least = r->runs ? fmin(r->least, index) : index;
	r->used = r->runs ? fmin(r->used, used) : used;
	r->sum += index;
	r->runs++;
}

/* When flows start and what is counted, ns. */
struct times {
	u64 step_ns, from_ns, to_ns, end_ns;
};

/* Run @flows flows of @priority on @b with one seed, and count what they had. */
static void run(struct result *r, struct bn b, const struct times *t, u32 priority, int flows,
		u64 seed)
{
	double packets, sum = 0, squares = 0;
	u32 from[FLOWS_MAX];
	int f;

	bn_init(&b, flows, t->end_ns, seed);
	for (f = 0; f < flows; f++)
		if (bn_add(&b, f, 0, priority, false, f * t->step_ns + bn_random(&b) % JITTER_NS,
			   t->end_ns))
			die("no channel for priority %u", priority);
	pn_run(&b.net, t->from_ns);
	for (f = 0; f < flows; f++)
		from[f] = b.flow[f].snd_una;
	pn_run(&b.net, t->to_ns);
	for (f = 0; f < flows; f++) {
		packets = b.flow[f].snd_una - from[f];
		sum += packets;
		squares += packets * packets;
	}
	count(r, squares > 0 ? sum * sum / (flows * squares) : 0,
	      bn_share(&b, -1, t->from_ns, t->to_ns));
	bn_free(&b);
}

static void print_number(int flows, const struct result *r)
{
	printf("  %2d flows %.2f, least %.2f, used %.2f", flows, r->sum / r->runs, r->least,
	       r->used);
}

/* Print what each number of flows has on a line, and count it. */
static void row(struct result *all, int line, u32 priority, u64 first, u64 last)
{
	struct bn b = {
		.line_bps = lines[line].gbit * 1000000000ULL,
		.prop_ns = lines[line].prop_ns,
	};
	struct times t = { .from_ns = FROM_NS, .to_ns = TO_NS, .end_ns = END_NS };
	size_t number;
	u64 seed;

	printf("%3u Gbit/s, priority %u:", lines[line].gbit, priority);
	for (number = 0; number < ARRAY_SIZE(numbers); number++) {
		struct result r = { 0 };

		t.step_ns = numbers[number] > MANY ? STEP_NS / 4 : STEP_NS;
		for (seed = first; seed <= last; seed++)
			run(&r, b, &t, priority, numbers[number], seed);
		print_number(numbers[number], &r);
		count(all, r.sum / r.runs, r.used);
	}
	printf("\n");
}

/* The same on a long path, without and with delayed ACKs by turns. */
static void long_row(struct result *all, int line, u32 priority, u64 first, u64 last)
{
	struct bn b = {
		.line_bps = longs[line].gbit * 1000000000ULL,
		.prop_ns = longs[line].prop_ns,
	};
	u64 rtt_ns = 4 * longs[line].prop_ns, seed;
	size_t number;

	printf("%3u Gbit/s, %" PRIu64 " us, priority %u:", longs[line].gbit,
	       (uint64_t)rtt_ns / 1000, priority);
	for (number = 0; number < LONG_NUMBERS; number++) {
		u64 all_there_ns = numbers[number] * LONG_STEP_RTTS * rtt_ns;
		struct times t = {
			.step_ns = LONG_STEP_RTTS * rtt_ns,
			.from_ns = all_there_ns + LONG_FROM_RTTS * rtt_ns,
			.to_ns = all_there_ns + LONG_TO_RTTS * rtt_ns,
			.end_ns = all_there_ns + LONG_TO_RTTS * rtt_ns + 1000000,
		};
		struct result r = { 0 };

		for (seed = first; seed <= last; seed++) {
			b.delayed = seed % 2;
			run(&r, b, &t, priority, numbers[number], seed);
		}
		print_number(numbers[number], &r);
		count(all, r.sum / r.runs, r.used);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	u64 first = 1, last = 5;
	struct result all = { 0 }, all_long = { 0 };
	size_t line, prio;

	if (argc != 1 && (argc != 3 || !seeds_read(argv[1], argv[2], &first, &last)))
		die("usage: fairmodel [FIRST LAST], seeds, from 0 up");
	for (line = 0; line < ARRAY_SIZE(lines); line++)
		for (prio = 0; prio < ARRAY_SIZE(priorities); prio++)
			row(&all, line, priorities[prio], first, last);
	printf("mean index %.3f, least use of a line %.3f\n", all.sum / all.runs, all.used);
	last = min_t(u64, last, first + 1);
	for (line = 0; line < ARRAY_SIZE(longs); line++)
		for (prio = 0; prio < ARRAY_SIZE(priorities); prio++)
			long_row(&all_long, line, priorities[prio], first, last);
	printf("long paths, two seeds: mean index %.3f, least use of a line %.3f\n",
	       all_long.sum / all_long.runs, all_long.used);
	return 0;
}
