// SPDX-License-Identifier: GPL-2.0
/*
 * The way from the senders to the receiver, the same dimensions for all controls,
 * and the scenario as a whole.
 *
 * Each sender is a host of its own. With one hop they hang on the receiver's switch;
 * with more, a chain of switches follows, each link as fast as the bottleneck, and
 * the first one's port is it.
 */
#include "space.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Ethernet header and TCP with time stamps, and what a packet takes on the line. */
#define ACK_BYTES	(14 + 20 + 32 + 24)
#define LINE_BYTES	(14 + 24)
/* Least delay of a link, us. */
#define LEAST_DELAY_US	0.1

/* Time of @bytes on the bottleneck's line, us. */
static double line_us(const struct space_setup *s, double bytes)
{
	return bytes * 8e6 / s->rate_bps;
}

static int hops_of(const struct space_setup *s)
{
	const char *hops = dim_of(s, "hops");

	return *hops ? atoi(hops) : 1;
}

/* Delay of a link so that the base RTT is what was drawn, us. */
static double link_us(const struct space_setup *s, double base_us)
{
	int links = hops_of(s) + 1;
	double rest_us = base_us - links * line_us(s, s->wire_bytes + ACK_BYTES);
	double us = rest_us / (2 * links);

	return us < LEAST_DELAY_US ? LEAST_DELAY_US : us;
}

static const char *const basic_rates[] = { "10", "25", "40", "100" };

/* 10 to 100 Gbit/s, one hop. */
const struct path_range path_basic = {
	basic_rates, ARRAY_SIZE(basic_rates), 6, 400, false,
};

static const char *const wide_rates[] = {
	"0.01", "0.1", "1", "10", "25", "40", "100", "100", "200", "400",
};

/* 10 Mbit/s to 400 Gbit/s, and every dimension that there is. */
const struct path_range path_wide = {
	wide_rates, ARRAY_SIZE(wide_rates), 5, 5000, true,
};

/* Draw rate, base RTT, MTU and the other dimensions of the way. */
void path_draw(struct space_setup *s, const struct path_range *range)
{
	double base_us;
	int mtu;

	s->rate_bps = atof(dim_pick(s, "rate_gbit", range->rates,
				    range->rate_gbit)) * 1e9;
	if (range->wide) {
		mtu = atoi(DIM_PICK(s, "mtu", "1500", "1500", "4000", "9000"));
		DIM_PICK(s, "hops", "1", "1", "1", "2", "3");
		DIM_PICK(s, "far", "1", "1", "1", "4", "16");
		DIM_PICK(s, "noise", "none", "none", "none", "fig7", "uniform",
			 "machine");
		DIM_PICK(s, "offload", "off", "off", "on");
	} else {
		mtu = atoi(DIM_PICK(s, "mtu", "1500", "1500", "9000"));
		dim_text(s, "offload", "off");
	}
	base_us = dim_log(s, "base_us", range->low_us, range->high_us);
	DIM_PICK(s, "ack", "every", "delayed");
	/* not drawn: "buffers=stock" in the command line is for all set-ups */
	dim_text(s, "buffers", "large");
	/* likewise: uniform, and nobody tells the flows; 0 = none */
	dim_text(s, "jitter_us", "0");
	s->wire_bytes = mtu + LINE_BYTES;
	s->prop_us = link_us(s, base_us);
	s->base_us = (hops_of(s) + 1) *
		     (2 * s->prop_us + line_us(s, s->wire_bytes + ACK_BYTES));
}

static void entry_begin(struct space_text *t)
{
	if (!t->f)
		t->f = open_memstream(&t->text, &t->bytes);
	if (!t->f)
		die("no memory");
	if (t->entries++)
		fputs(", ", t->f);
}

/* Add an entry to a part of the scenario. */
void entry_add(struct space_text *t, const char *format, ...)
{
	va_list ap;

	entry_begin(t);
	va_start(ap, format);
	vfprintf(t->f, format, ap);
	va_end(ap);
}

/* Add a group of @flows hosts with a flow each; @format: the keys of the group
 * beside from.
 */
void group_add(struct space_setup *s, const char *name, int flows,
	       const char *format, ...)
{
	va_list ap;

	entry_add(&s->groups, "\"%s\": {\"from\": \"h[%d-%d]\", ", name,
		  s->hosts + 1, s->hosts + flows);
	va_start(ap, format);
	vfprintf(s->groups.f, format, ap);
	va_end(ap);
	fputs("}", s->groups.f);
	s->hosts += flows;
}

/* Add a measure, @format its keys, that must be as @must says (">= 0.95"). */
void measure_add(struct space_setup *s, const char *name, const char *must,
		 const char *format, ...)
{
	va_list ap;

	entry_add(&s->measures, "\"%s\": {", name);
	va_start(ap, format);
	vfprintf(s->measures.f, format, ap);
	va_end(ap);
	fputs("}", s->measures.f);
	if (must)
		entry_add(&s->expect, "\"%s %s\"", name, must);
}

/* What was added to a part. */
const char *path_entries(struct space_text *t)
{
	if (!t->f)
		return "";
	fflush(t->f);
	return t->text;
}

static void write_topology(const struct space_setup *s, FILE *out)
{
	double delay_ns = 1e3 * link_us(s, s->base_us);
	double far = atof(dim_of(s, "far"));
	int hops = hops_of(s), i;

	fprintf(out, "\"topology\": {\"hosts\": [\"h[1-%d]\", \"r\"], \"switches\": [\"s[1-%d]\"], \"links\": [",
		s->hosts, hops);
	for (i = 1; i <= s->hosts; i++)
		fprintf(out, "{\"ends\": [\"h%d\", \"s1\"]%s}, ", i,
			far > 1 && !(i % 2) ? ", \"delay\": \"${far_delay}\"" : "");
	for (i = 1; i < hops; i++)
		fprintf(out, "{\"ends\": [\"s%d\", \"s%d\"]}, ", i, i + 1);
	fprintf(out, "{\"ends\": [\"s%d\", \"r\"]}]}", hops);
	fprintf(out, ", \"link\": {\"rate\": \"%.0fbit\", \"delay\": \"%.0fns\", \"mtu\": %d",
		s->rate_bps, delay_ns, s->wire_bytes - LINE_BYTES);
	if (!strcmp(dim_of(s, "offload"), "on"))
		fputs(", \"offload\": \"on\"", out);
	fputs("}", out);
}

/* Noise is on the receiver's link, both ways. */
static void write_noise(const struct space_setup *s, FILE *out)
{
	/* as of a virtual machine: mostly little, now and then much */
	static const int machine_us[] = { 0, 1, 2, 3, 4, 5, 6, 8, 12, 40 };
	const char *noise = dim_of(s, "noise"), *jitter_us = dim_of(s, "jitter_us");
	char last[16];
	size_t i;

	snprintf(last, sizeof(last), "s%d", hops_of(s));
	if (*jitter_us && strcmp(jitter_us, "0"))
		noise = "jitter";
	if (!*noise || !strcmp(noise, "none"))
		return;
	fprintf(out, ", \"ports\": {\"r:%s\": {\"noise\": ", last);
	if (!strcmp(noise, "fig7"))
		/* minimum to maximum of Figure 7's distribution */
		fputs("[\"0ns\", \"100ns\", \"182ns\", \"250ns\", \"353ns\", \"876ns\"]", out);
	else if (!strcmp(noise, "jitter"))
		fprintf(out, "{\"max\": \"%sus\"}", jitter_us);
	else if (!strcmp(noise, "uniform"))
		fputs("{\"max\": \"5us\"}", out);
	else
		for (i = 0; i < ARRAY_SIZE(machine_us); i++)
			fprintf(out, "%s\"%dus\"%s", i ? ", " : "[", machine_us[i],
				i + 1 < ARRAY_SIZE(machine_us) ? "" : "]");
	fputs("}}", out);
}

/* Expect in both windows that the error of the median flow against weighted max-min is at
 * most @median, the sum of all errors at most @sum, @used of the line is used, and that
 * nothing is dropped.
 */
void shares_judge(struct space_setup *s, double median, double sum, double used)
{
	static const char *const when[] = { "before", "after" };
	char window[80], name[16], must[16];
	int p;

	for (p = 0; p < 2; p++) {
		snprintf(window, sizeof(window), "[\"%.1fus\", \"%.1fus\"]",
			 s->window[p].from_us, s->window[p].until_us - 1);
		measure_add(s, when[p], NULL, "\"kind\": \"max_min\", \"window\": %s",
			    window);
		entry_add(&s->expect, "\"%s.p50 <= %g\", \"%s.sum <= %g\"", when[p],
			  median, when[p], sum);
		snprintf(name, sizeof(name), "util%d", p);
		snprintf(must, sizeof(must), ">= %g", used);
		measure_add(s, name, must,
			    "\"kind\": \"utilisation\", \"window\": %s", window);
	}
	measure_add(s, "drops", "<= 0", "\"kind\": \"drops\"");
}

/* Where the lab's socket buffers would be what limits a flow at @rate_bps with an RTT of @rtt_us
 * (a window of 42 MB): larger ones. Stock ones begin as the kernel's do, and may become as large.
 */
void path_buffers(struct space_setup *s, double rate_bps, double rtt_us)
{
	double bytes = 4 * rate_bps / 8 * rtt_us / 1e6;

	if (!strcmp(dim_text(s, "buffers", "large"), "stock")) {
		entry_add(&s->defaults, "\"buffers\": \"stock\"");
		bytes = fmin(fmax(bytes, 64e6), 1e9);
		entry_add(&s->sysctl, "\"net.ipv4.tcp_rmem\": \"4096 131072 %.0f\"", bytes);
		entry_add(&s->sysctl, "\"net.ipv4.tcp_wmem\": \"4096 16384 %.0f\"", bytes);
	} else if (bytes > 64e6)
		entry_add(&s->defaults, "\"rcvbuf\": \"%.0fkb\", \"sndbuf\": \"%.0fkb\"",
			  fmin(bytes, 1e9) / 1e3, fmin(bytes, 1e9) / 1e3);
}

/* Write title, seed, duration and, but for its end, the dimensions. */
void path_write_head(const struct space_setup *s, FILE *out)
{
	int i;

	fprintf(out, "{\"title\": \"%s/%s %llu\", \"seed\": %llu, \"duration\": \"%.1fus\", \"params\": {",
		s->control, s->space, (unsigned long long)s->seed,
		(unsigned long long)s->seed, s->end_us);
	for (i = 0; i < s->dims; i++)
		fprintf(out, "%s\"%s\": \"%s\"", i ? ", " : "", s->dim[i].name,
			s->dim[i].value);
}

/* Write who sends, and what is measured and expected. */
void path_write_groups(struct space_setup *s, FILE *out)
{
	fprintf(out, ", \"groups\": {%s}, \"measures\": {%s}, \"expect\": [%s]",
		path_entries(&s->groups), path_entries(&s->measures), path_entries(&s->expect));
}

/* Write the scenario, which is YAML as JSON is. */
void path_write(struct space_setup *s, FILE *out)
{
	double far = atof(dim_of(s, "far"));

	path_buffers(s, s->rate_bps, s->base_us * fmax(far, 1));
	path_write_head(s, out);
	if (far > 1)
		fprintf(out, ", \"far_delay\": \"%.0fns\"",
			1e3 * link_us(s, s->base_us) +
			1e3 * s->base_us * (far - 1) / 2);
	fprintf(out, ", \"rtt_us\": \"%.3f\"}, ", s->base_us);
	write_topology(s, out);
	write_noise(s, out);
	fprintf(out, ", \"bottleneck\": \"s1:%s\", \"switches\": {\"*\": {\"qdisc\": \"%s\"}}",
		hops_of(s) > 1 ? "s2" : "r",
		*s->qdisc ? s->qdisc : "fabric limit 64mb");
	fprintf(out, ", \"group_defaults\": {\"to\": \"r\", \"cc\": \"%s\", \"ack\": \"%s\", \"start_jitter\": \"20us\"%s%s}",
		s->control, dim_of(s, "ack"), s->defaults.f ? ", " : "",
		path_entries(&s->defaults));
	path_write_groups(s, out);
	if (s->events.f)
		fprintf(out, ", \"events\": [%s]", path_entries(&s->events));
	fputs(", \"hosts\": {\"*\": {", out);
	if (*s->qdisc)
		fprintf(out, "\"qdisc\": \"%s\", ", s->qdisc);
	fprintf(out, "\"sysctl\": {%s}}}}\n", path_entries(&s->sysctl));
}
