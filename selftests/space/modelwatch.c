// SPDX-License-Identifier: GPL-2.0
#include "modelwatch.h"

#include <math.h>
#include <stdio.h>

/* More channels between two classes than this count alike. */
#define CHANNELS_MAX	6

/**
 * enum change - what happens at the beginning of an interval
 * @FIRST: the first class starts
 * @HIGHER: a class starts above all that send
 * @LOWER: a class starts below one that sends
 * @HEIR_ALONE: the highest class stops, one waits
 * @HEIR: the highest class stops, several wait
 * @WAITING: a class that waits ends
 * @CHANGES: how many kinds there are
 */
enum change { FIRST, HIGHER, LOWER, HEIR_ALONE, HEIR, WAITING, CHANGES };

static const char *const change_names[CHANGES] = {
	[FIRST] = "the first class starts",
	[HIGHER] = "a higher class starts",
	[LOWER] = "a lower class starts",
	[HEIR_ALONE] = "the highest class stops, one waits",
	[HEIR] = "the highest class stops, several wait",
	[WAITING] = "a class that waits ends",
};

static u32 all[CHANGES][CHANNELS_MAX + 1], failed_of[CHANGES][CHANNELS_MAX + 1];
static u32 lone[CHANGES], lone_failed[CHANGES];

static bool sends(const struct space_setup *s, int class, double at_us)
{
	return s->class[class].start_us <= at_us + 1 &&
	       s->class[class].stop_us > at_us + 1;
}

/* The class that starts or stops at a change; classes are sorted by priority. */
static int changed_class(const struct space_setup *s, double at_us)
{
	int i;

	for (i = 0; i < s->classes; i++)
		if (fabs(s->class[i].start_us - at_us) < 1 ||
		    fabs(s->class[i].stop_us - at_us) < 1)
			return i;
	return -1;
}

void watch_change(const struct space_setup *s, int step, bool failed)
{
	double at_us = step * s->step_us;
	int changed = changed_class(s, at_us), top = prioplus_top(s, at_us);
	int i, next = -1, others = 0, channels = 0;
	enum change what;

	if (changed < 0 || top < 0)
		return;
	for (i = 0; i < top; i++) {
		if (sends(s, i, at_us)) {
			next = i;
			others++;
		}
	}
	if (sends(s, changed, at_us))
		what = changed < top ? LOWER : others ? HIGHER : FIRST;
	else
		what = changed < top ? WAITING : others ? HEIR : HEIR_ALONE;
	if (what == HIGHER)
		channels = s->class[top].priority - s->class[next].priority;
	else if (what == HEIR || what == HEIR_ALONE)
		channels = s->class[changed].priority - s->class[top].priority;
	if (channels > CHANNELS_MAX)
		channels = CHANNELS_MAX;
	all[what][channels]++;
	failed_of[what][channels] += failed;
	if (s->class[top].flows == 1) {
		lone[what]++;
		lone_failed[what] += failed;
	}
}

void watch_print(void)
{
	u32 n, bad, what, channels;

	printf("failed, by what had changed; of these with one flow in the highest class; by channels between\n");
	for (what = 0; what < CHANGES; what++) {
		for (n = 0, bad = 0, channels = 0; channels <= CHANNELS_MAX; channels++) {
			n += all[what][channels];
			bad += failed_of[what][channels];
		}
		if (!n)
			continue;
		printf("  %-38s %5u of %5u; %4u of %4u;", change_names[what], bad, n,
		       lone_failed[what], lone[what]);
		for (channels = 1; channels <= CHANNELS_MAX; channels++)
			if (all[what][channels])
				printf(" %u: %u of %u", channels, failed_of[what][channels],
				       all[what][channels]);
		printf("\n");
	}
}

/* Bytes that the line has sent of each class until now. */
static void count_bytes(const struct bn *b, u64 *sum)
{
	u64 epoch, epochs = b->end_ns / BN_EPOCH_NS + 1;
	int class;

	for (class = 0; class < BN_CLASSES; class++)
		for (sum[class] = 0, epoch = 0; epoch < epochs; epoch++)
			sum[class] += b->bytes[epoch][class];
}

/* One class: its share of the line, flows that send, and what they believe. */
static void print_class(const struct bn *b, const struct space_setup *s, int class,
			double share)
{
	const struct bn_flow *fl;
	double wnd = 0, flows = 0;
	int f, on = 0, there = 0, gap = 0;

	for (f = 0; f < b->flows; f++) {
		fl = &b->flow[f];
		if (fl->class != class || !b->net.flow[f].alive)
			continue;
		there++;
		flows += (double)fl->pp.flows_q8 / PP_FLOWS_ONE;
		gap += fl->pp.gap;
		if (fl->pp.stopped)
			continue;
		on++;
		wnd += (double)fl->pp.wnd / fl->ch.bdp_wnd;
	}
	if (there)
		printf(" | %d: %3.0f %% %d/%d W %.2f #flow %.1f gap %.1f",
		       s->class[class].priority, 100 * share, on, there, wnd,
		       flows / there, (double)gap / there);
}

void watch_run(struct bn *b, const struct space_setup *s, double rtts)
{
	double every_ns = fmax(rtts * s->base_us * 1e3, 1000), at_ns, queue_ns;
	u64 last[BN_CLASSES] = { 0 }, sum[BN_CLASSES];
	int i;

	printf("# a line: time, us; queue, channels of %u ns; for each class: part of the line, flows that send, their windows in BDPs, #flow, gap\n",
	       b->flow[0].ch.width_ns);
	for (at_ns = every_ns; at_ns < b->end_ns; at_ns += every_ns) {
		pn_run(&b->net, at_ns);
		count_bytes(b, sum);
		queue_ns = fmax(b->net.link[0].free_ns - at_ns, 0);
		printf("# %9.1f q %5.2f", at_ns / 1e3,
		       queue_ns / b->flow[0].ch.width_ns);
		for (i = 0; i < s->classes; i++)
			print_class(b, s, i, (sum[i] - last[i]) * 8e9 / b->line_bps /
				    every_ns);
		printf("\n");
		memcpy(last, sum, sizeof(last));
	}
	bn_run(b);
}
