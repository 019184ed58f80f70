// SPDX-License-Identifier: GPL-2.0
/* fairlane metrics: all that a monitoring system should know of this namespace, in the
 * format that Prometheus reads. How many lines there are depends on controls, priorities,
 * ports and bands, never on how many connections there are.
 */
#include "metrics.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
"usage: fairlane metrics [FILE]\n"
"OpenMetrics on stdout; with FILE the text format of Prometheus, put there in one step,\n"
"for node-exporter's textfile collector (fairlane-metrics.timer does that).\n"
"Counters run since the namespace, the port or the border router began; nobody resets them.\n";

/**
 * metrics_family() - the samples that follow are of this kind
 * @m: where they go
 * @name: without "fairlane_" and "_total"
 * @counter: it never falls
 * @help: a sentence
 */
void metrics_family(struct metrics *m, const char *name, bool counter, const char *help)
{
	const char *end = counter && m->text ? "_total" : "";

	m->name = name;
	m->counter = counter;
	fprintf(m->out, "# HELP fairlane_%s%s %s\n# TYPE fairlane_%s%s %s\n", name, end, help,
		name, end, counter ? "counter" : "gauge");
}

/* The number of a family that has only one. */
void metrics_number(struct metrics *m, double value)
{
	fprintf(m->out, "fairlane_%s%s %.0f\n", m->name, m->counter ? "_total" : "", value);
}

/**
 * metrics_sample() - one number of the family
 * @m: where it goes
 * @value: the number
 * @labels: format of what is between the braces
 */
void metrics_sample(struct metrics *m, double value, const char *labels, ...)
{
	va_list args;

	fprintf(m->out, "fairlane_%s%s{", m->name, m->counter ? "_total" : "");
	va_start(args, labels);
	vfprintf(m->out, labels, args);
	va_end(args);
	fprintf(m->out, "} %.0f\n", value);
}

/* Counters that the kernel prints as lines of a name and a number. */
static void metrics_proc(struct metrics *m, const char *path, const char *name, const char *help)
{
	FILE *f = fopen(path, "r");
	unsigned long long value;
	char what[32];

	if (!f)
		return;
	metrics_family(m, name, true, help);
	while (fscanf(f, "%31s %llu", what, &value) == 2)
		if (strcmp(what, "hooked"))
			metrics_sample(m, value, "event=\"%s\"", what);
	fclose(f);
}

/* Everything, in one format or the other. */
static void metrics_print(FILE *out, bool text)
{
	struct metrics m = { .out = out, .text = text };

	metrics_family(&m, "up", false, "1 if the module fairlane is loaded and answers");
	metrics_number(&m, access("/sys/module/fairlane", F_OK) == 0);
	if (metrics_module(&m))
		metrics_flows(&m);
	metrics_proc(&m, "/proc/net/fairlane_telemetry", "telemetry_events",
		     "what happened to telemetry options");
	metrics_proc(&m, "/proc/net/fairlane_credit", "credit_events",
		     "what happened to credits and requests");
	metrics_ports(&m);
	if (!text)
		fputs("# EOF\n", out);
}

/* For everybody to read: node-exporter is not root. */
static void metrics_to_file(const char *path)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		fail_kernel("out of memory");
	metrics_print(out, true);
	fclose(out);
	write_text(path, text, 0644);
	free(text);
}

int cmd_metrics(struct words *w)
{
	const char *path;

	if (words_help(w, usage))
		return EXIT_OK;
	if (opt.json)
		fail("metrics: it has a format of its own; stats and flow show have JSON");
	path = words_left(w) ? word_file(w) : NULL;
	words_end(w);
	if (path && strcmp(path, "-"))
		metrics_to_file(path);
	else
		metrics_print(stdout, false);
	return EXIT_OK;
}
