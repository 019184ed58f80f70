// SPDX-License-Identifier: GPL-2.0
/*
 * Set-ups of MLCC: two datacenters and a line between them. Flows between the datacenters share a
 * full link in either one with flows that stay there. Border routers have what
 * Documentation/design/mlcc.rst tells to set, hosts nothing.
 *
 *	basic	1 to 25 Gbit/s hosts, RTT 200 us to 4 ms, 1 to 4 flows of each kind, 2 to 4 times
 *		as many as the link has room for, or just as many
 *	wide	the same and 100 Gbit/s, RTT to 10 ms, 8 flows of each kind
 *	faults	as basic, with one fault:
 *		near	the senders' border router has no roles
 *		far	nor has that of the receivers
 *		none	neither has: from end to end
 *		restart	the receivers' loses all that waits, and has no roles for a RTT
 *		blind_a	the full port in the senders' datacenter does not stamp
 *		blind_b	nor does that in the receivers'
 *		twice	each datacenter has two border routers: data and ACKs of a flow pass the
 *			same ones or others
 *		loss	the long line loses one packet in 1024, both ways
 *
 * One kind of flows begins, or both do; the second begins when the first has been judged.
 * From max(8 ms, 12 RTTs of the long line) after each begin on, for half of that: the link is
 * .9 used, the least flow of what shares a link has a fair part (fairness .9), nothing is dropped.
 * Packets of flows between the datacenters wait for at most 4 ms at the border router.
 * With a fault drops and waits are not judged, but no flow may be silent for 4 RTTs of the long
 * line and what a full buffer holds. Where the loop of a full port is missing (the sender's border
 * router for the port in its datacenter, the receiver's for the other, ACKs that go another way, a
 * port that does not stamp) a flow is one from end to end there: HPCC, which has a fairness of
 * .82 in the packet model of the issue. So .8 will do at that port.
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

/* Has the set-up a fault, and which? */
static bool has(const struct space_setup *s, const char *fault)
{
	return !strcmp(dim_of(s, "fault"), fault);
}

/* No flow that passes a full port is silent from the time when it was first judged on. */
static void judge_silence(struct space_setup *s)
{
	char name[16], must[32];
	int side;

	snprintf(must, sizeof(must), "<= %.0fus",
		 4 * s->base_us + 22 * 8.4e12 / s->rate_bps);
	for (side = 0; side < 2; side++) {
		snprintf(name, sizeof(name), "silent_%c", 'a' + side);
		measure_add(s, name, must,
			    "\"kind\": \"silence\", \"window\": [\"%.1fus\", \"%.1fus\"], \"group\": [\"cross\", \"intra_%c\"], \"port\": \"%s\"",
			    s->window[0].from_us, s->window[1].until_us, 'a' + side,
			    side ? "bspine1:bleaf1" : "aleaf1:aspine1");
	}
}

/* Has a side's border router no roles? */
static bool missing(const struct space_setup *s, int side)
{
	return has(s, side ? "far" : "near") || has(s, "none");
}

/* Has the full port of a side no loop of its own? */
static bool blind(const struct space_setup *s, int side)
{
	return missing(s, side) || has(s, side ? "blind_b" : "blind_a") ||
	       (side && has(s, "twice"));
}

/* What goes wrong, from when the first window begins on. */
static void draw_fault(struct space_setup *s)
{
	int side;

	DIM_PICK(s, "fault", "near", "far", "none", "restart", "blind_a", "blind_b", "twice",
		 "loss");
	for (side = 0; has(s, "loss") && side < 2; side++) {
		entry_add(&s->events, "{\"at\": \"0us\", \"node\": \"%cdci1\", \"run\": \"",
			  'b' - side);
		fprintf(s->events.f,
			"tc qdisc add dev %cdci1 clsact && tc filter add dev %cdci1 ingress protocol ip u32 match u16 0 3ff at 4 action drop",
			'a' + side, 'a' + side);
		fputs("\"}", s->events.f);
	}
	if (has(s, "restart")) {
		entry_add(&s->events, "{\"at\": \"%.1fus\", \"node\": \"bdci1\", \"run\": \"",
			  s->window[0].until_us - s->base_us);
		fprintf(s->events.f,
			"tc qdisc del dev bspine1 root && sleep %.6f && tc qdisc replace dev bspine1 root fabric limit 128mb stamp load role lan host-rate %sgbit",
			s->base_us / 1e6, dim_of(s, "rate_gbit"));
		fputs("\"}", s->events.f);
	}
}

/* Measures of the window @p. */
static void judge(struct space_setup *s, int p, bool cross, bool intra)
{
	bool fault = space_is(s, "faults");
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
		measure_add(s, name, blind(s, side) ? ">= 0.8" : ">= 0.9",
			    "\"kind\": \"fairness\", \"per\": \"flow\", \"window\": %s, \"group\": [\"cross\", \"intra_%c\"], \"port\": \"%s\"",
			    window, 'a' + side, side ? "bspine1:bleaf1" : "aleaf1:aspine1");
	}
	if (!cross || fault)
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
	if (space_is(s, "faults"))
		draw_fault(s);
	judge(s, 0, early[0], early[1]);
	judge(s, 1, true, true);
	if (space_is(s, "faults"))
		judge_silence(s);
	else
		measure_add(s, "drops", "<= 0", "\"kind\": \"drops\"");
}

static void write_topology(const struct space_setup *s, FILE *out)
{
	double wan_bps = s->rate_bps * atof(dim_of(s, "wan_part"));
	int side;

	fprintf(out, "\"topology\": {\"dci\": {\"leaves\": 2, \"spines\": 1, \"hosts\": %d, \"rate\": \"%sgbit\", \"delay\": \"%dus\", ",
		s->hosts, dim_of(s, "rate_gbit"), HOST_US);
	fprintf(out, "\"uplink_rate\": \"%.0fbit\", \"uplink_delay\": \"%dus\", \"wan_rate\": \"%.0fbit\", \"wan_delay\": \"%.1fus\", \"mtu\": %d}",
		s->rate_bps, UPLINK_US, wan_bps, s->base_us / 2, s->wire_bytes - LINE_BYTES);
	if (has(s, "twice")) {
		fprintf(out, ", \"switches\": [\"adci2\", \"bdci2\"], \"links\": [{\"ends\": [\"adci2\", \"bdci2\"], \"rate\": \"%.0fbit\", \"delay\": \"%.1fus\"}",
			wan_bps, s->base_us / 2);
		for (side = 'a'; side <= 'b'; side++)
			fprintf(out, ", {\"ends\": [\"%cspine1\", \"%cdci2\"], \"rate\": \"%.0fbit\", \"delay\": \"%dus\"}",
				side, side, s->rate_bps, UPLINK_US);
		fprintf(out, "]}, \"link\": {\"mtu\": %d", s->wire_bytes - LINE_BYTES);
	}
	fputs("}", out);
}

/* A port's qdisc; @words: what it has beside the load, or instead. */
static void write_port(FILE *out, const char *port, int mb, const char *words)
{
	fprintf(out, "\"%s\": {\"qdisc\": \"fabric limit %dmb %s\"}", port, mb, words);
}

static void write_ports(const struct space_setup *s, FILE *out)
{
	double bdp_mb = s->rate_bps / 8e6 * s->base_us / 1e6;
	int border_mb = fmin(fmax(BORDER_MB, 2 * bdp_mb), BORDER_MOST_MB);
	char lan[80], name[24];
	const char *words;
	int side, n;

	snprintf(lan, sizeof(lan), "stamp load role lan host-rate %sgbit", dim_of(s, "rate_gbit"));
	fputs("\"hosts\": {\"*\": {\"qdisc\": \"fabric limit 64mb stamp load\"}}, ", out);
	fputs("\"switches\": {", out);
	write_port(out, "*", 22, "stamp load");
	for (side = 0; side < 2; side++) {
		fputs(", ", out);
		snprintf(name, sizeof(name), "%cdci*", 'a' + side);
		write_port(out, name, border_mb,
			   missing(s, side) ? "stamp load" : lan);
	}
	fputs("}, \"ports\": {", out);
	for (side = 0; side < 2; side++) {
		words = missing(s, side) ? "stamp load" : "stamp load role wan";
		for (n = 1; n <= (has(s, "twice") ? 2 : 1); n++) {
			snprintf(name, sizeof(name), "%cdci%d:%cdci%d", 'a' + side, n,
				 'b' - side, n);
			fputs(side || n > 1 ? ", " : "", out);
			write_port(out, name, border_mb, words);
		}
	}
	if (has(s, "blind_a") || has(s, "blind_b")) {
		fputs(", ", out);
		write_port(out, has(s, "blind_a") ? "aleaf1:aspine1" : "bspine1:bleaf1", 22, "");
	}
	fputs("}", out);
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
	if (s->events.f)
		fprintf(out, ", \"events\": [%s]", path_entries(&s->events));
	fputs("}\n", out);
}

static const char *const spaces[] = { "basic", "wide", "faults", NULL };

const struct space_control space_mlcc = {
	.name = "mlcc",
	.spaces = spaces,
	.draw = draw,
	.write = write_scenario,
};
