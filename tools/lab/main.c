// SPDX-License-Identifier: GPL-2.0
/* lab: run scenarios in a virtual datacenter. This file reads the command line
 * and calls one of the commands.
 */
#include "boot.h"
#include "commands.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: lab COMMAND …\n"
	"  run SCENARIO [--out DIR] [--set KEY=VALUE]… [--seed N]\n"
	"      [--kernel K] [--leak-check] [--quiet]\n"
	"                       run a scenario; exit status 0 only if the run was\n"
	"                       clean and every expectation held\n"
	"  sweep SCENARIO [--seeds N] [--first-seed K] [--set KEY=A,B,C]… [--out DIR]\n"
	"      [--jobs N] [--sshlogin LIST] [--kernel K]\n"
	"                       run it for many seeds (5) and settings, show medians\n"
	"  compare NAME=DIR… [--title TEXT] [--rows PATTERN] [--out DIR]\n"
	"      [--rst FILE]\n"
	"                       sweeps side by side, with references and targets:\n"
	"                       a table and, with --out, report.html, compare.json\n"
	"  validate SCENARIO [--set KEY=VALUE]… [--seed N] [--kernel K]\n"
	"                       check a scenario and show what it would do\n"
	"  list                 scenarios that come with the project\n"
	"  plot DIR             draw the plots and the report of a run again\n"
	"  exec [--kernel K] [--module NAME[:PARAMETERS]]… [--seed N] [--out DIR]\n"
	"      [--leak-check] -- CMD…\n"
	"                       run a command as root in a bare guest\n"
	"  doctor               what this machine lacks or forbids, and the cure\n"
	"K is uml, uml-debug, debian-6.1, debian-6.12, debian-newest or host\n"
	"Scenario format, files and exit codes: Documentation/guide/lab.rst\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", cmd_run }, { "sweep", cmd_sweep },
	{ "validate", cmd_validate }, { "list", cmd_list },
	{ "compare", cmd_compare }, { "plot", cmd_plot },
	{ "exec", cmd_exec }, { "doctor", cmd_doctor },
};

/* Defaults of the shared options; LAB_KERNEL names another flavour. */
void options_init(struct options *o)
{
	const char *kernel = getenv("LAB_KERNEL");

	memset(o, 0, sizeof(*o));
	o->kernel = kernel && kernel[0] ? kernel : "uml";
	o->seed = -1;
}

/* A kernel that there is, and options that only make sense together. */
void options_check(const struct options *o)
{
	kernel_known(o->kernel);
	if (o->leak_check && strcmp(o->kernel, "uml-debug"))
		die("--leak-check needs --kernel uml-debug, only that kernel tracks its memory");
}

/* Value of option number *i: "--x=value" or the next argument. */
const char *option_value(int argc, char **argv, int *i)
{
	const char *name = argv[*i], *eq = strchr(name, '='), *value;

	if (!strncmp(name, "--", 2) && eq)
		value = eq + 1;
	else
		value = *i + 1 < argc ? argv[++*i] : "";
	/* an empty folder would be the root's */
	if (!value[0])
		die("option %s needs a value", name);
	return value;
}

/* Is argument @arg the option @name, with or without "=value"? */
bool option_is(const char *arg, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(arg, name, len) && (!arg[len] || arg[len] == '=');
}

/* A seed, as @what has it: an option or the environment. */
int64_t option_seed(const char *what, const char *text)
{
	int64_t seed;

	if (!parse_int(text, &seed) || seed < 0 || seed > SEED_MAX)
		die("%s %s: a seed is an integer from 0 to %lld", what, text, SEED_MAX);
	return seed;
}

/* Take argument number *i if it is a plain word or a shared option that the command knows
 * (enum option_bits).
 */
bool option_common(struct options *o, int known, int argc, char **argv, int *i)
{
	const char *a = argv[*i];

	if ((known & OPTION_OUT) && option_is(a, "--out"))
		o->out = option_value(argc, argv, i);
	else if (option_is(a, "--kernel"))
		o->kernel = option_value(argc, argv, i);
	else if ((known & OPTION_SEED) && option_is(a, "--seed"))
		o->seed = option_seed("--seed", option_value(argc, argv, i));
	else if ((known & OPTION_SET) && option_is(a, "--set"))
		strv_addf(&o->sets, "%s", option_value(argc, argv, i));
	else if ((known & OPTION_QUIET) && !strcmp(a, "--quiet"))
		o->quiet = true;
	else if ((known & OPTION_LEAK_CHECK) && !strcmp(a, "--leak-check"))
		o->leak_check = true;
	else if (a[0] != '-')
		strv_addf(&o->rest, "%s", a);
	else
		return false;
	return true;
}

static bool is_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h") ||
	       !strcmp(arg, "help");
}

int main(int argc, char **argv)
{
	size_t i;

	if ((argc > 1 && is_help(argv[1])) || (argc > 2 && is_help(argv[2]))) {
		fputs(usage, stdout);
		return LAB_OK;
	}
	for (i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 2, argv + 2);
	if (argc > 1)
		fprintf(stderr, "lab: no command \"%s\"\n", argv[1]);
	fputs(usage, stderr);
	return LAB_USAGE;
}
