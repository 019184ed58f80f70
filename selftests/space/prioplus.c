// SPDX-License-Identifier: GPL-2.0
/*
 * Set-ups of PrioPlus: classes of flows with priorities that come and go at one
 * port.
 *
 *	basic	2 to 5 of 11 classes, 10 to 100 Gbit/s, base RTT 6 to 400 us, one hop
 *	wide	2 to 8 of 16 classes and every dimension of path.c
 *	lone	one flow on an idle path, whatever it believes
 *
 * Between two changes the time is judged that is left after max(300 us, 20 base
 * RTTs): the highest class that sends has .95 of the link, and the line is .95 used.
 */
#include "linux/fairlane.h"
#include "space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A permutation of @n numbers that seed and @name decide. */
static void shuffle(struct space_setup *s, const char *name, int *order, int n)
{
	char each[24];
	int i, k, t;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i > 0; i--) {
		snprintf(each, sizeof(each), "%s%d", name, i);
		k = dim_random(s, each) * (i + 1);
		t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
}

/* Priorities of the classes, rising. */
static void draw_priorities(struct space_setup *s, struct space_class *c, int n,
			    int highest)
{
	int of[32], i, k, t;

	shuffle(s, "priority", of, highest);
	for (i = 0; i < n; i++) {
		t = of[i] + 1;
		for (k = i; k > 0 && c[k - 1].priority > t; k--)
			c[k].priority = c[k - 1].priority;
		c[k].priority = t;
	}
}

/* Classes start one after the other, and then stop one after the other. */
static void draw_order(struct space_setup *s, struct space_class *c, int n)
{
	const char *order = DIM_PICK(s, "order", "up", "up", "down", "random",
				     "random", "random");
	int start[SPACE_CLASSES], stop[SPACE_CLASSES], i;

	shuffle(s, "start", start, n);
	shuffle(s, "stop", stop, n);
	for (i = 0; i < n; i++) {
		if (!strcmp(order, "up")) {
			start[i] = i;
			stop[i] = n - 1 - i;
		} else if (!strcmp(order, "down")) {
			start[i] = n - 1 - i;
			stop[i] = n - 1 - i;
		}
	}
	for (i = 0; i < n; i++) {
		c[i].start_us = start[i] * s->step_us;
		/* nobody is there after the last stop */
		c[i].stop_us = (n + stop[i]) * s->step_us;
	}
	s->end_us = (2 * n - 1) * s->step_us;
	for (i = 0; i < n; i++)
		c[i].stop_us = fmin(c[i].stop_us, s->end_us);
}

/* The highest class that sends from @at_us on; -1 if none does. */
int prioplus_top(const struct space_setup *s, double at_us)
{
	int i, top = -1;

	for (i = 0; i < s->classes; i++)
		if (s->class[i].start_us <= at_us + 1 &&
		    s->class[i].stop_us > at_us + 1)
			top = i;
	return top;
}

/* What is judged between two changes. */
static void judge(struct space_setup *s)
{
	char window[80], name[16];
	double from_us;
	int step, top;

	for (step = 0; step < 2 * s->classes - 1; step++) {
		from_us = step * s->step_us;
		snprintf(window, sizeof(window), "[\"%.1fus\", \"%.1fus\"]",
			 from_us + s->settle_us, from_us + s->step_us - 1);
		top = prioplus_top(s, from_us);
		if (top < 0)
			continue;
		snprintf(name, sizeof(name), "share%d", step);
		measure_add(s, name, ">= 0.95",
			    "\"kind\": \"share\", \"group\": \"c%d\", \"window\": %s",
			    s->class[top].priority, window);
		snprintf(name, sizeof(name), "util%d", step);
		measure_add(s, name, ">= 0.95",
			    "\"kind\": \"utilisation\", \"window\": %s", window);
	}
}

/* Lower classes above 5 % for long. */
static void judge_intrusion(struct space_setup *s)
{
	double limit_us = fmax(1000, 50 * s->base_us);
	double bin_us = fmax(limit_us / 10,
			     40 * s->wire_bytes * 8e6 / s->rate_bps);
	char must[40];

	snprintf(must, sizeof(must), "<= %.0fus", limit_us);
	measure_add(s, "intrusion", must,
		    "\"kind\": \"intrusion\", \"bin\": \"%.0fns\"",
		    1e3 * fmin(bin_us, s->end_us));
}

/* What the flows are told of the path. */
static void draw_base(struct space_setup *s)
{
	const char *base = DIM_PICK(s, "base", "measured", "measured", "given",
				    "low", "high");

	if (!strcmp(base, "given"))
		entry_add(&s->defaults, "\"base_rtt\": \"path\"");
	else if (!strcmp(base, "low"))
		entry_add(&s->defaults, "\"base_rtt\": \"%.0fns\"",
			  700 * s->base_us);
	else if (!strcmp(base, "high"))
		entry_add(&s->defaults, "\"base_rtt\": \"%.0fns\"",
			  1500 * s->base_us);
	/* at_start: a handshake meets the queue that stands then */
	if (strcmp(dim_text(s, "connect", "early"), "early"))
		entry_add(&s->defaults, "\"connect\": \"at_start\"");
}

static void draw_staircase(struct space_setup *s, bool wide)
{
	int n = wide ? dim_int(s, "classes", 2, 8) : dim_int(s, "classes", 2, 5);
	int flows = 0, i;
	struct space_class *c = s->class;
	char name[16];

	draw_priorities(s, c, n, wide ? 15 : 11);
	draw_order(s, c, n);
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "flows%d", i);
		c[i].flows = 1 << (int)(dim_random(s, name) * (wide ? 7 : 5));
		flows += c[i].flows;
	}
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "c%d", c[i].priority);
		group_add(s, name, c[i].flows,
			  "\"priority\": %d, \"start\": \"%.1fus\", \"stop\": \"%.1fus\"",
			  c[i].priority, c[i].start_us, c[i].stop_us);
	}
	snprintf(name, sizeof(name), "%d", flows);
	dim_text(s, "flows", name);
	s->classes = n;
	judge(s);
	judge_intrusion(s);
}

/* The line rate that a flow is told: the true one (of its device), or a wrong one. */
static void draw_line(struct space_setup *s)
{
	const char *line = DIM_PICK(s, "line", "true", "true", "quarter",
				    "fourfold", "16fold");
	double times = 1;

	if (!strcmp(line, "quarter"))
		times = 0.25;
	else if (!strcmp(line, "fourfold"))
		times = 4;
	else if (!strcmp(line, "16fold"))
		times = 16;
	if (times != 1)
		entry_add(&s->sysctl, "\"net.fairlane.line_rate_mbps\": %.0f",
			  fmin(fmax(1, times * s->rate_bps / 1e6),
			       FL_LINE_RATE_MAX_MBPS));
}

/* One flow: .9 of the line within 100 base RTTs and 50 ms. */
static void draw_lone(struct space_setup *s)
{
	double settle_us = 100 * s->base_us + 50e3;
	int priority = dim_int(s, "priority", 0, 15);

	s->end_us = settle_us + fmax(2000, 40 * s->base_us);
	group_add(s, "lone", 1,
		  "\"priority\": %d, \"start\": \"0us\", \"stop\": \"%.1fus\"",
		  priority, s->end_us);
	measure_add(s, "util", ">= 0.9",
		    "\"kind\": \"utilisation\", \"window\": [\"%.1fus\", \"%.1fus\"]",
		    settle_us, s->end_us - 1);
}

static void draw(struct space_setup *s)
{
	bool wide = !space_is(s, "basic");

	path_draw(s, wide ? &path_wide : &path_basic);
	s->settle_us = fmax(300, 20 * s->base_us);
	s->step_us = s->settle_us + fmax(2000, 20 * s->base_us);
	draw_base(s);
	if (space_is(s, "lone")) {
		draw_line(s);
		draw_lone(s);
	} else {
		draw_staircase(s, wide);
	}
}

static const char *const spaces[] = { "basic", "wide", "lone", NULL };

const struct space_control space_prioplus = {
	.name = "prioplus",
	.spaces = spaces,
	.draw = draw,
};
