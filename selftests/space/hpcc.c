// SPDX-License-Identifier: GPL-2.0
/*
 * Set-ups of HPCC and PowerTCP: flows of weight 1 at one port, of which about half leave or join
 * at a time.
 * Nobody sets anything but "stamp load", or "stamp power", on ports.
 *
 *	basic	2 to 64 flows, 10 to 100 Gbit/s, base RTT 6 to 200 us, one hop
 *	wide	the same and every dimension of path.c
 *
 * From max(1 ms, 300 RTTs, 300 packets of each flow) after the start and after the change on,
 * for a third of that: the error of the median flow and half of the sum of all errors against
 * even shares of what is carried are at most .1, the line is .9 used, nothing is dropped.
 */
#include "space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void draw_flows(struct space_setup *s)
{
	const char *flows = DIM_PICK(s, "flows", "2", "3", "5", "8", "16", "32", "64");
	const char *change = DIM_PICK(s, "change", "leave", "join");
	double packet_us = s->wire_bytes * 8e6 / s->rate_bps, settle_us;
	int i, p, stay = (atoi(flows) + 1) / 2;
	bool there[2];

	s->flows = atoi(flows);
	settle_us = fmax(1000, 300 * fmax(s->base_us * fmax(1, atof(dim_of(s, "far"))),
					  packet_us * s->flows));
	for (p = 0; p < 2; p++) {
		s->window[p].from_us = p * settle_us * 4 / 3 + settle_us;
		s->window[p].until_us = (p + 1) * settle_us * 4 / 3;
	}
	s->change_us = s->window[0].until_us;
	s->end_us = s->window[1].until_us + 1;
	for (i = 0; i < 2; i++) {
		there[0] = !i || strcmp(change, "join");
		there[1] = !i || strcmp(change, "leave");
		group_add(s, i ? "others" : "stay", i ? s->flows - stay : stay,
			  "\"start\": \"%.1fus\", \"stop\": \"%.1fus\"",
			  there[0] ? 0 : s->change_us, there[1] ? s->end_us : s->change_us);
	}
}

static void draw(struct space_setup *s)
{
	static const char *const rates[] = { "10", "25", "40", "100" };
	static const struct path_range basic = {
		rates, ARRAY_SIZE(rates), 6, 200, false,
	};
	static const struct path_range wide = {
		rates, ARRAY_SIZE(rates), 6, 400, true,
	};

	path_draw(s, space_is(s, "wide") ? &wide : &basic);
	snprintf(s->qdisc, sizeof(s->qdisc), "fabric limit 64mb stamp %s",
		 strcmp(s->control, "powertcp") ? "load" : "power");
	draw_flows(s);
	shares_judge(s, 0.1, 0.2, 0.9);
}

static const char *const spaces[] = { "basic", "wide", NULL };

const struct space_control space_hpcc = {
	.name = "hpcc",
	.spaces = spaces,
	.draw = draw,
};

const struct space_control space_powertcp = {
	.name = "powertcp",
	.spaces = spaces,
	.draw = draw,
};
