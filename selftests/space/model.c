// SPDX-License-Identifier: GPL-2.0
/*
 * spacemodel SPACE FIRST LAST [without=RULE | watch=RTTS]... [DIMENSION=VALUE]...
 *
 * Set-ups of PrioPlus in user space: the core in the packet model of the unit tests, a
 * hundred times as fast as in the lab. It knows neither TCP nor measured base RTTs, noise,
 * offload, hops and far hosts.
 *
 * Prints a line a set-up: the least of its shares and utilisations, seed, share and
 * utilisation of each interval, dimensions; then which changes fail, and the counts.
 * watch=RTTS prints each set-up over time as well, a line in so many base RTTs.
 */
#include "modelwatch.h"

#include <math.h>
#include <stdio.h>

u32 pp_rules_off;
static bool paper;
static double watch_rtts;

static const char *const rules[__PP_RULES] = {
	[PP_SCALE] = "scale",
	[PP_COUNT] = "count",
	[PP_STEP] = "step",
	[PP_PATIENCE] = "patience",
	[PP_RETURN] = "return",
};

#define GOOD	0.95
#define BROKEN	0.5

/* Flows of a set-up, with the lab's jitter of starts. */
static void fill(struct bn *b, const struct space_setup *s)
{
	int i, k, f = 0;

	for (i = 0; i < s->classes; i++) {
		for (k = 0; k < s->class[i].flows; k++) {
			u64 start_ns = s->class[i].start_us * 1e3;

			if (bn_add(b, f++, i, s->class[i].priority, paper,
				   start_ns + bn_random(b) % 20000,
				   s->class[i].stop_us * 1e3))
				die("no channel for seed %llu",
				    (unsigned long long)s->seed);
		}
	}
}

/* Print what the intervals had. Return: the least of it. */
static double judge(const struct bn *b, const struct space_setup *s)
{
	double from_us, share, used, least = 1;
	u64 from_ns, to_ns;
	int step, top;

	for (step = 0; step < 2 * s->classes - 1; step++) {
		from_us = step * s->step_us;
		top = prioplus_top(s, from_us);
		if (top < 0)
			continue;
		from_ns = ceil((from_us + s->settle_us) * 1e3 / BN_EPOCH_NS) *
			  BN_EPOCH_NS;
		to_ns = floor((from_us + s->step_us - 1) * 1e3 / BN_EPOCH_NS) *
			BN_EPOCH_NS;
		share = bn_share(b, top, from_ns, to_ns);
		used = bn_share(b, -1, from_ns, to_ns);
		least = fmin(least, fmin(share, used));
		watch_change(s, step, fmin(share, used) < GOOD);
		printf(" %d:%.2f/%.2f", s->class[top].priority, share, used);
	}
	return least;
}

/* Run one set-up and print it. Return: the least share or utilisation. */
static double simulate(const char *space, u64 seed, int argc, char **argv)
{
	struct space_setup s = {
		.control = "prioplus", .space = space, .seed = seed,
	};
	struct bn b = { 0 };
	int i, flows = 0;
	double least;

	for (i = 0; i < argc; i++)
		dim_give(&s, argv[i]);
	space_prioplus.draw(&s);
	dim_check(&s);
	if (!s.classes)
		die("%s has no classes", space);
	b.line_bps = s.rate_bps;
	b.wire_bytes = s.wire_bytes;
	b.delayed = !strcmp(dim_of(&s, "ack"), "delayed");
	b.prop_ns = s.prop_us * 1e3;
	for (i = 0; i < s.classes; i++)
		flows += s.class[i].flows;
	bn_init(&b, flows, s.end_us * 1e3, seed);
	fill(&b, &s);
	if (watch_rtts)
		watch_run(&b, &s, watch_rtts);
	else
		bn_run(&b);
	printf("%llu", (unsigned long long)seed);
	least = judge(&b, &s);
	for (i = 0; i < s.dims; i++)
		printf(" %s=%s", s.dim[i].name, s.dim[i].value);
	printf("  least %.3f\n", least);
	bn_free(&b);
	return least;
}

/* without=RULE, or without=all for the paper's own way; watch=RTTS. Return: is the word one of
 * these?
 */
static bool take_word(const char *word)
{
	int i;

	if (!strncmp(word, "watch=", 6)) {
		watch_rtts = atof(word + 6);
		if (watch_rtts <= 0)
			die("watch=%s: a number of base RTTs above 0 is wanted", word + 6);
		return true;
	}
	if (strncmp(word, "without=", 8))
		return false;
	word += 8;
	for (i = 0; i < __PP_RULES; i++)
		if (!strcmp(word, rules[i]))
			break;
	paper = !strcmp(word, "all");
	if (i < __PP_RULES)
		pp_rules_off |= BIT(i);
	else if (!paper)
		die("there is no rule \"%s\"", word);
	return true;
}

int main(int argc, char **argv)
{
	const char *space;
	uint64_t seed, first, last;
	u32 n = 0, good = 0, broken = 0;
	double least;

	if (argc < 4 || !seeds_read(argv[2], argv[3], &first, &last))
		die("usage: spacemodel SPACE FIRST LAST [without=RULE | watch=RTTS]... [DIMENSION=VALUE]..., FIRST and LAST are seeds, from 0 up");
	space = argv[1];
	if (strcmp(space, "basic") && strcmp(space, "wide"))
		die("there is no space \"%s\" with classes: basic, wide", space);
	while (argc > 4 && take_word(argv[4])) {
		argv++;
		argc--;
	}
	for (seed = first; seed <= last; seed++) {
		least = simulate(space, seed, argc - 4, argv + 4);
		n++;
		good += least >= GOOD;
		broken += least < BROKEN;
	}
	watch_print();
	printf("%u set-ups: %u good, %u broken (an interval below .5)\n", n,
	       good, broken);
	return 0;
}
