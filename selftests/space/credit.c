// SPDX-License-Identifier: GPL-2.0
/*
 * Set-ups of controls by credit: flows that start one after the other at one port, and
 * messages among them.
 *
 *	basic	1 to 16 flows, 10 to 100 Gbit/s, base RTT 6 to 400 us, one hop
 *	wide	1 to 64 flows and every dimension of path.c
 *
 * From 20 base RTTs + 40 packets of each flow + 1 ms after the last start on the line must be
 * used and the flows equal, and every message must arrive.
 */
#include "space.h"

#include <math.h>
#include <string.h>

static void draw(struct space_setup *s)
{
	bool wide = !space_is(s, "basic");
	char window[80], qdisc[96];
	int flows, messages;
	double packet_us;

	path_draw(s, wide ? &path_wide : &path_basic);
	flows = 1 << dim_int(s, "flows", 0, wide ? 6 : 4);
	messages = dim_int(s, "messages", 1, 8);
	packet_us = s->wire_bytes * 8e6 / s->rate_bps;
	s->settle_us = 20 * s->base_us + 40 * flows * packet_us + 1000;
	s->end_us = 2 * s->settle_us + fmax(2000, 100 * flows * packet_us);
	group_add(s, "long", flows,
		  "\"start\": \"0us\", \"stop\": \"%.1fus\"", s->end_us - 1);
	group_add(s, "message", messages,
		  "\"start\": \"%.1fus\", \"size\": \"%dkb\"",
		  s->settle_us / 2, dim_int(s, "size_kb", 1, 100));
	snprintf(qdisc, sizeof(qdisc), "fabric preset %s speed %.0fbit",
		 s->control, s->rate_bps);
	snprintf(s->qdisc, sizeof(s->qdisc), "%s", qdisc);
	snprintf(window, sizeof(window), "[\"%.1fus\", \"%.1fus\"]",
		 s->end_us - s->settle_us, s->end_us - 2);
	/* a credit takes 86 bytes beside each segment */
	measure_add(s, "util", strcmp(s->control, "expresspass") ? ">= 0.95" : ">= 0.9",
		    "\"kind\": \"utilisation\", \"count\": \"data\", \"window\": %s", window);
	measure_add(s, "fair", ">= 0.8",
		    "\"kind\": \"fairness\", \"group\": \"long\", \"window\": %s", window);
	measure_add(s, "messages", NULL,
		    "\"kind\": \"fct\", \"group\": \"message\", \"percentiles\": [50]");
	entry_add(&s->expect, "\"messages.unfinished == 0\"");
}

static const char *const spaces[] = { "basic", "wide", NULL };

const struct space_control space_expresspass = {
	.name = "expresspass",
	.spaces = spaces,
	.draw = draw,
};

const struct space_control space_flexpass = {
	.name = "flexpass",
	.spaces = spaces,
	.draw = draw,
};
