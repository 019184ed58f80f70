// SPDX-License-Identifier: GPL-2.0
/*
 * Set-ups of Söze: flows with weights at one port, of which about half leave, join or get
 * other weights at a time.
 *
 *	basic	2 to 64 flows, weights over three decades, 1 to 100 Gbit/s, base RTT 6 to
 *		1000 us, one hop
 *	wide	weights over six decades and every dimension of path.c
 *	chain	2 to 4 links in a row, of which each flow takes some (sozemodel alone)
 *	lone	one flow of weight .001 to 1000 on an idle path
 *
 * Shares are judged from max(1 ms, 40 RTTs of path and queue, 40 packets of the median
 * flow) after the start and after the change on, for max(2 ms, 40 such RTTs, 100 such
 * packets): the error of the median flow and the sum of all errors against weighted
 * max-min are at most .05, the line is .97 used, nothing is dropped. A lone flow has .95
 * of the line after 30 RTTs.
 */
#include "space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a queue of Söze's defaults is for a sum of weights, us: k + q ln(sum), with
 * alpha / beta = 1000. The core bends it beyond 22 (soze.c, (9)), which is left out here.
 */
static double queue_us(const struct space_setup *s, double weights)
{
	double packet_us = s->wire_bytes * 8e6 / s->rate_bps;
	double p_us = fmax(60, 28 * packet_us);
	double k_us = fmax(3, 2.5 * packet_us);

	if (!strcmp(dim_of(s, "base"), "given"))
		p_us = fmax(p_us, fmin(700, 3.45 * s->base_us));
	return fmax(0, k_us + p_us / log(1000) * log(weights));
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* When phase @p, which begins at @from_us, is judged. */
static void draw_window(struct space_setup *s, int p, double from_us)
{
	double weight[SPACE_FLOWS], sum = 0, rtt_us, gap_us, all_us;
	int i, n = 0;

	for (i = 0; i < s->flows; i++) {
		if (!s->flow[i].there[p])
			continue;
		weight[n] = s->flow[i].weight[p];
		sum += weight[n++];
	}
	qsort(weight, n, sizeof(*weight), by_size);
	gap_us = s->wire_bytes * 8e6 / s->rate_bps * sum / weight[(n - 1) / 2];
	/* the longest way */
	rtt_us = s->base_us * fmax(1, atof(dim_of(s, "far"))) +
		 queue_us(s, sum) * fmax(1, atof(dim_of(s, "links")));
	all_us = 40 * fmax(rtt_us, gap_us);
	s->window[p].from_us = from_us + fmax(1000, all_us);
	s->window[p].until_us = s->window[p].from_us +
				fmax(2000, fmax(all_us, 100 * gap_us));
}

/* Name @i of many, in @each. */
static const char *name_of(char each[24], const char *name, int i)
{
	snprintf(each, 24, "%s%d", name, i);
	return each;
}

/* A weight over the space's decades, in thousandths, for flow @i. */
static double draw_weight(const struct space_setup *s, const char *name, int i,
			  bool wide)
{
	char each[24];
	double x = dim_random(s, name_of(each, name, i));

	return round(wide ? pow(1e6, x) : 100 * pow(1e3, x)) / 1000;
}

static void draw_flows(struct space_setup *s, bool wide)
{
	const char *links = space_is(s, "chain") ? DIM_PICK(s, "links", "2", "3", "4") : "1";
	const char *flows = DIM_PICK(s, "flows", "2", "3", "5", "8", "16", "32", "64");
	const char *change = DIM_PICK(s, "change", "leave", "join", "weights");
	struct space_flow *f;
	bool stays;
	char each[24];
	int i;

	s->flows = atoi(flows);
	for (i = 0; i < s->flows; i++) {
		f = &s->flow[i];
		/* at least one stays, at least one does not */
		stays = !i || (i < s->flows - 1 &&
			       dim_random(s, name_of(each, "stays", i)) < 0.5);
		f->weight[0] = draw_weight(s, "weight", i, wide);
		f->weight[1] = !strcmp(change, "weights") && !stays ?
			       draw_weight(s, "other", i, wide) : f->weight[0];
		f->there[0] = stays || strcmp(change, "join");
		f->there[1] = stays || strcmp(change, "leave");
		f->first = dim_random(s, name_of(each, "first", i)) * atoi(links);
		f->last = f->first + dim_random(s, name_of(each, "last", i)) *
			  (atoi(links) - f->first);
	}
	draw_window(s, 0, 0);
	s->change_us = s->window[0].until_us;
	draw_window(s, 1, s->change_us);
	s->end_us = s->window[1].until_us + 1;
}

/* A group for each flow: each has a weight of its own. */
static void add_flows(struct space_setup *s)
{
	const struct space_flow *f;
	char name[16];
	int i;

	for (i = 0; i < s->flows; i++) {
		f = &s->flow[i];
		snprintf(name, sizeof(name), "f%d", i);
		group_add(s, name, 1,
			  "\"weight\": %.3f, \"start\": \"%.1fus\", \"stop\": \"%.1fus\"",
			  f->weight[0], f->there[0] ? 0 : s->change_us,
			  f->there[1] ? s->end_us : s->change_us);
		if (f->weight[1] < f->weight[0] || f->weight[1] > f->weight[0])
			entry_add(&s->events,
				  "{\"at\": \"%.1fus\", \"group\": \"%s\", \"weight\": %.3f}",
				  s->change_us, name, f->weight[1]);
	}
}

static void draw_lone(struct space_setup *s)
{
	double settle_us;

	s->flows = 1;
	s->flow[0].weight[0] = draw_weight(s, "weight", 0, true);
	s->flow[0].weight[1] = s->flow[0].weight[0];
	s->flow[0].there[0] = true;
	s->flow[0].there[1] = true;
	settle_us = 30 * (s->base_us * fmax(1, atof(dim_of(s, "far"))) +
			  queue_us(s, s->flow[0].weight[0]));
	s->end_us = settle_us + fmax(2000, settle_us);
	s->window[0].from_us = settle_us;
	s->window[0].until_us = s->end_us - 1;
	add_flows(s);
	measure_add(s, "util", ">= 0.95",
		    "\"kind\": \"utilisation\", \"window\": [\"%.1fus\", \"%.1fus\"]",
		    s->window[0].from_us, s->window[0].until_us);
}

static void draw(struct space_setup *s)
{
	static const char *const rates[] = { "1", "10", "25", "40", "100" };
	static const struct path_range range = {
		rates, ARRAY_SIZE(rates), 6, 1000, false,
	};
	bool wide = space_is(s, "wide") || space_is(s, "lone");

	path_draw(s, wide ? &path_wide : &range);
	if (!strcmp(DIM_PICK(s, "base", "measured", "measured", "given"), "given"))
		entry_add(&s->sysctl, "\"net.fairlane.base_rtt_ns\": %.0f",
			  1e3 * s->base_us);
	snprintf(s->qdisc, sizeof(s->qdisc), "fabric limit 64mb stamp soze");
	if (space_is(s, "lone")) {
		draw_lone(s);
		return;
	}
	draw_flows(s, wide);
	add_flows(s);
	shares_judge(s, 0.05, 0.05, 0.97);
}

static const char *const spaces[] = { "basic", "wide", "lone", NULL };

const struct space_control space_soze = {
	.name = "soze",
	.spaces = spaces,
	.draw = draw,
};
