// SPDX-License-Identifier: GPL-2.0
/*
 * Set-ups of MLCC: two datacenters and a line between them. Flows between the datacenters share a
 * full link in either one with flows that stay there. Border routers have what
 * Documentation/design/mlcc.rst tells to set, hosts nothing.
 *
 *	basic	1 to 25 Gbit/s hosts, RTT 200 us to 4 ms, 1 to 4 flows of each kind, 2 to 4 times
 *		as many as the link has room for, or just as many
 *	wide	the same and 100 Gbit/s, RTT to 10 ms, 8 flows of each kind
 *
 * One kind of flows begins, or both do; the second begins when the first has been judged.
 * From max(8 ms, 12 RTTs of the long line) after each begin on, for half of that: the link is
 * .9 used, the least flow of what shares a link has a fair part (fairness .9), nothing is dropped.
 * Packets of flows between the datacenters wait for at most 4 ms at the border router.
 */
#include "space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Delays of a host's link and between switches, us; the paper's section 4.1. */
#define HOST_US		1
#define UPLINK_US	5
/* Least time for shares, us. */
#define SETTLE_US	8000
/* Least buffer of a border router, and the most that "limit" takes, MB. */
#define BORDER_MB	128
#define BORDER_MOST_MB	1024
/* What a packet takes on the line beside the MTU. */
#define LINE_BYTES	(14 + 24)

/* @flows hosts from the number @from on send to as many from the number @to on. */
static void begin(struct space_setup *s, const char *name, const char *ways, int from, int to,
		  int flows, bool now)
{
	entry_add(&s->groups,
		  "\"%s\": {\"from\": \"%c[%d-%d]\", \"to\": \"%c[%d-%d]\", \"start\": \"%.1fus\"}",
		  name, ways[0], from, from + flows - 1, ways[1], to, to + flows - 1,
		  now ? 0 : s->change_us);
}

/* Measures of the window @p. */
static void judge(struct space_setup *s, int p, bool cross, bool intra)
{
	char window[80], name[16];
	int side;

	snprintf(window, sizeof(window), "[\"%.1fus\", \"%.1fus\"]",
		 s->window[p].from_us, s->window[p].until_us - 1);
	snprintf(name, sizeof(name), "util%d", p);
	/* one kind alone may not fill the link */
	if (cross && intra)
		measure_add(s, name, ">= 0.9", "\"kind\": \"utilisation\", \"window\": %s",
			    window);
	for (side = 0; side < 2 && cross && intra; side++) {
		snprintf(name, sizeof(name), "share_%c%d", 'a' + side, p);
		measure_add(s, name, ">= 0.9",
			    "\"kind\": \"fairness\", \"per\": \"flow\", \"window\": %s, \"group\": [\"cross\", \"intra_%c\"], \"port\": \"%s\"",
			    window, 'a' + side, side ? "bspine1:bleaf1" : "aleaf1:aspine1");
	}
	if (!cross)
		return;
	snprintf(name, sizeof(name), "waits%d", p);
	measure_add(s, name, NULL,
		    "\"kind\": \"queue_delay\", \"port\": \"bdci1:bspine1\", \"group\": \"cross\", \"percentiles\": [99], \"window\": %s",
		    window);
	entry_add(&s->expect, "\"%s.p99 <= 4ms\"", name);
}

static void draw(struct space_setup *s)
{
	bool wide = space_is(s, "wide");
	const char *host = wide ? DIM_PICK(s, "rate_gbit", "1", "10", "25", "100") :
				  DIM_PICK(s, "rate_gbit", "1", "10", "25");
	int cross = atoi(wide ? DIM_PICK(s, "cross", "1", "2", "4", "8") :
				DIM_PICK(s, "cross", "1", "2", "4"));
	int intra = atoi(wide ? DIM_PICK(s, "intra", "1", "2", "4", "8") :
				DIM_PICK(s, "intra", "1", "2", "4"));
	double over = atof(DIM_PICK(s, "over", "1", "2", "4"));
	const char *first = DIM_PICK(s, "first", "both", "both", "cross", "intra");
	bool early[2];
	double settle_us;
	int p;

	DIM_PICK(s, "wan_part", "1", "2", "4");
	s->wire_bytes = atoi(DIM_PICK(s, "mtu", "1500", "1500", "9000")) + LINE_BYTES;
	DIM_PICK(s, "ack", "every", "delayed");
	s->base_us = dim_log(s, "wan_rtt_us", 200, wide ? 10000 : 4000);
	/* four flows of each kind on a link for two hosts: each has a quarter of its own */
	s->rate_bps = atof(host) * 1e9 * fmax((cross + intra) / over, 1);
	path_buffers(s, atof(host) * 1e9, s->base_us);
	s->hosts = cross + intra;
	settle_us = fmax(SETTLE_US, 12 * s->base_us);
	for (p = 0; p < 2; p++) {
		s->window[p].from_us = settle_us * (1 + 1.5 * p);
		s->window[p].until_us = settle_us * 1.5 * (1 + p);
	}
	s->change_us = s->window[0].until_us;
	s->end_us = s->window[1].until_us + 1;
	early[0] = strcmp(first, "intra");
	early[1] = strcmp(first, "cross");
	/* hosts of the first leaf are 1 to s->hosts, those of the second follow */
	begin(s, "cross", "ab", 1, 1, cross, early[0]);
	begin(s, "intra_a", "aa", cross + 1, s->hosts + 1, intra, early[1]);
	begin(s, "intra_b", "bb", s->hosts + 1, cross + 1, intra, early[1]);
	judge(s, 0, early[0], early[1]);
	judge(s, 1, true, true);
	measure_add(s, "drops", "<= 0", "\"kind\": \"drops\"");
}

static void write_topology(const struct space_setup *s, FILE *out)
{
	fprintf(out, "\"topology\": {\"dci\": {\"leaves\": 2, \"spines\": 1, \"hosts\": %d, \"rate\": \"%sgbit\", \"delay\": \"%dus\", ",
		s->hosts, dim_of(s, "rate_gbit"), HOST_US);
	fprintf(out, "\"uplink_rate\": \"%.0fbit\", \"uplink_delay\": \"%dus\", \"wan_rate\": \"%.0fbit\", \"wan_delay\": \"%.1fus\", \"mtu\": %d}}",
		s->rate_bps, UPLINK_US, s->rate_bps * atof(dim_of(s, "wan_part")),
		s->base_us / 2, s->wire_bytes - LINE_BYTES);
}

static void write_ports(const struct space_setup *s, FILE *out)
{
	double bdp_mb = s->rate_bps / 8e6 * s->base_us / 1e6;
	int border_mb = fmin(fmax(BORDER_MB, 2 * bdp_mb), BORDER_MOST_MB);

	fputs("\"hosts\": {\"*\": {\"qdisc\": \"fabric limit 64mb stamp load\"}}, ", out);
	fputs("\"switches\": {\"*\": {\"qdisc\": \"fabric limit 22mb stamp load\"}, ", out);
	fprintf(out, "\"*dci1\": {\"qdisc\": \"fabric limit %dmb stamp load role lan host-rate %sgbit\"}}, ",
		border_mb, dim_of(s, "rate_gbit"));
	fprintf(out, "\"ports\": {\"adci1:bdci1\": {\"qdisc\": \"fabric limit %dmb stamp load role wan\"}, ",
		border_mb);
	fprintf(out, "\"bdci1:adci1\": {\"qdisc\": \"fabric limit %dmb stamp load role wan\"}}",
		border_mb);
}

static void write_scenario(struct space_setup *s, FILE *out)
{
	path_write_head(s, out);
	fputs("}, ", out);
	write_topology(s, out);
	fputs(", ", out);
	write_ports(s, out);
	fprintf(out, ", \"bottleneck\": \"bspine1:bleaf1\", \"group_defaults\": {\"cc\": \"mlcc\", \"receiver_cc\": \"mlcc\", \"ack\": \"%s\", \"start_jitter\": \"20us\"%s%s}",
		dim_of(s, "ack"), s->defaults.f ? ", " : "", path_entries(&s->defaults));
	path_write_groups(s, out);
	fputs("}\n", out);
}

static const char *const spaces[] = { "basic", "wide", NULL };

const struct space_control space_mlcc = {
	.name = "mlcc",
	.spaces = spaces,
	.draw = draw,
	.write = write_scenario,
};
