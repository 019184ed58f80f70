// SPDX-License-Identifier: GPL-2.0
/* fairlane: priority and weight of TCP sockets, from the command line. This file
 * reads the options and calls one of the objects.
 */
#include "tool.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAIRLANE_VERSION
#define FAIRLANE_VERSION "unknown"
#endif

static const char usage[] =
"usage: fairlane [OPTIONS] OBJECT [COMMAND] [...]\n"
"  flow show|set|watch            sockets: priority, weight, state\n"
"  policy add|replace|del|show|flush|apply\n"
"                                 rules that set them\n"
"  profile show|set|del           numbers of the congestion controls, by destination\n"
"  limits show|set                what users may set; budgets of users and cgroups\n"
"  stats                          counters of the module\n"
"  metrics [FILE]                 all that Prometheus should know: flows, ports, bands\n"
"  monitor                        who changes what: the audit trail\n"
"  noise measure|respond          how much delays vary, and what follows\n"
"  fabric show|load               switches: congestion roots, paths; border routers\n"
"  off [all], on [share P%] [all] sockets get the system's congestion control, live, or\n"
"                                 all or a part get theirs back\n"
"  apply [FILE] [--dry-run]       host, namespaces and ports as fabric.yaml says\n"
"  check [FILE]                   what is missing here, what is not as fabric.yaml\n"
"                                 says, what starves, and the cure\n"
"  report [FILE]                  everything that a bug report needs\n"
"  top                            a live table of flows\n"
"  save [FILE], restore [FILE]    settings as a file of commands\n"
"  weight shortest-first|coflow|altruistic\n"
"                                 watches flows and sets their weights\n"
"  run [SETTINGS] -- CMD...       a program whose sockets get these settings\n"
"OPTIONS: -j JSON, -p with line breaks, -d details, -n NETNS, -V version, -h help;\n"
"they stand before OBJECT\n"
"\"fairlane OBJECT help\" tells more, fairlane(8) all.\n";

static const struct command objects[] = {
	{ "flow", cmd_flow }, { "policy", cmd_policy },
	{ "profile", cmd_profile }, { "limits", cmd_limits },
	{ "stats", cmd_stats }, { "monitor", cmd_monitor },
	{ "check", cmd_check }, { "report", cmd_report }, { "top", cmd_top },
	{ "save", cmd_save }, { "restore", cmd_restore }, { "run", cmd_run },
	{ "weight", cmd_weight },
	{ "noise", cmd_noise }, { "fabric", cmd_fabric },
	{ "off", cmd_off }, { "on", cmd_on }, { "apply", cmd_apply },
	{ "metrics", cmd_metrics },
};

/* Do what a command line says, without its options: restore does, too. */
int run_words(struct words *w)
{
	return command_run(objects, ARRAY_SIZE(objects), "object", NULL, usage,
			   w);
}

static void print_version(void)
{
	if (opt.json) {
		cJSON *doc = cJSON_CreateObject();

		cJSON_AddStringToObject(doc, "version", FAIRLANE_VERSION);
		json_u64(doc, "schema", JSON_SCHEMA);
		json_print(doc);
	} else {
		printf("fairlane %s, JSON schema %d\n", FAIRLANE_VERSION,
		       JSON_SCHEMA);
	}
}

/* The options before the object; -jp is -j -p. */
static bool read_options(struct words *w)
{
	bool version = false;

	while (words_left(w) && word_peek(w)[0] == '-' && word_peek(w)[1]) {
		const char *s = word_next(w), *p;

		if (!strcmp(s, "--json"))
			s = "-j";
		else if (!strcmp(s, "--pretty"))
			s = "-p";
		else if (!strcmp(s, "--details"))
			s = "-d";
		else if (!strcmp(s, "--netns"))
			s = "-n";
		else if (!strcmp(s, "--version"))
			s = "-V";
		else if (!strcmp(s, "--help"))
			s = "-h";
		for (p = s + 1; *p; p++) {
			if (*p == 'j')
				opt.json = true;
			else if (*p == 'p')
				opt.pretty = true;
			else if (*p == 'd')
				opt.details = true;
			else if (*p == 'V')
				version = true;
			else if (*p == 'h')
				return fputs(usage, stdout), false;
			else if (*p == 'n' && !p[1])
				netns_enter(word_more(w, "-n")), opt.netns = true;
			else
				fail("no option \"%s\" (fairlane -h)", s);
		}
	}
	if (version)
		print_version();
	return !version;
}

/* "help OBJECT" is "OBJECT help". */
static void help_first(struct words *w)
{
	char *help;

	if (w->n - w->i < 2 || strcmp(word_peek(w), "help"))
		return;
	help = w->v[w->i];
	w->v[w->i] = w->v[w->i + 1];
	w->v[w->i + 1] = help;
}

int main(int argc, char **argv)
{
	struct words w = { .v = argv + 1, .n = argc - 1 };
	int code = EXIT_OK;

	if (read_options(&w)) {
		help_first(&w);
		code = run_words(&w);
	}
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		fail_kernel("cannot write the output%s%s", errno ? ": " : "",
			    errno ? strerror(errno) : "");
	return code;
}
