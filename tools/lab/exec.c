// SPDX-License-Identifier: GPL-2.0
/* lab exec: run one command as root in a bare guest, for tests that need a
 * kernel with our modules but no scenario.
 */
#include "commands.h"
#include "results.h"
#include "units.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Add "NAME" or "NAME:PARAMETERS". */
static void add_module(struct module_list *modules, const char *kernel,
		       const char *arg)
{
	char *name = xstrdup(arg), *params = strchr(name, ':');

	if (params)
		*params++ = 0;
	module_add(modules, kernel, name, params, true);
	free(name);
}

/* The command as the guest runs it: in the caller's folder. */
static struct strv command_line(int argc, char **argv)
{
	static char cwd[PATH_MAX];
	struct strv out = { 0 };
	int i;

	if (!getcwd(cwd, sizeof(cwd)))
		die("cannot find the current folder: %s", strerror(errno));
	strv_addf(&out, "/bin/sh");
	strv_addf(&out, "-c");
	strv_addf(&out, "cd \"$0\" && exec \"$@\"");
	strv_addf(&out, "%s", cwd);
	for (i = 0; i < argc; i++)
		strv_addf(&out, "%s", argv[i]);
	return out;
}

/* Without --out nothing stays behind: show the end of the console instead. */
static void show_console(const char *dir)
{
	char *path = xasprintf("%s/raw/console.log", dir);
	size_t len = 0;
	char *text = read_file(path, &len);

	if (text)
		fprintf(stderr, "...%s\n", len > 1500 ? text + len - 1500 : text);
	free(text);
	free(path);
}

/* How the command ended: its exit code, or that of an unclean run. */
static int exit_code(const struct boot *b, const char *dir)
{
	char *path = xasprintf("%s/raw/exit", dir);
	char *text = read_file(path, NULL);
	int64_t code;

	free(path);
	if (!text)
		return unclean(b, dir, "the guest did not say how the command ended");
	text[strcspn(text, "\n")] = 0;
	if (!parse_int(text, &code))
		return unclean(b, dir, "the guest left a broken exit code");
	free(text);
	return code;
}

/* Read the options up to "--"; returns where the command starts. */
static int exec_options(struct options *o, struct strv *modules, int argc,
			char **argv)
{
	const int known = OPTION_OUT | OPTION_SEED | OPTION_LEAK_CHECK;
	int i;

	options_init(o);
	for (i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		if (option_is(argv[i], "--module"))
			strv_addf(modules, "%s", option_value(argc, argv, &i));
		else if (argv[i][0] != '-' ||
			 !option_common(o, known, argc, argv, &i))
			die("lab exec: unknown option %s (the command follows after --)",
			    argv[i]);
	}
	if (i + 1 >= argc)
		die("lab exec: write -- and the command to run");
	options_check(o);
	if (!kernel_is_uml(o->kernel))
		die("lab exec: kernel %s has not this machine's files: uml and uml-debug have; lab run runs scenarios there",
		    o->kernel);
	return i + 1;
}

/* Without the option LAB_SEED, without that 1. */
static int64_t exec_seed(const struct options *o)
{
	const char *seed = getenv("LAB_SEED");

	if (o->seed >= 0)
		return o->seed;
	return seed && *seed ? option_seed("LAB_SEED", seed) : 1;
}

/* lab exec [options] -- CMD… */
int cmd_exec(int argc, char **argv)
{
	struct module_list modules = { 0 };
	struct strv names = { 0 }, command;
	struct boot b = { .exec = true, .quiet = true };
	struct options o;
	char *dir, *path, *text, *why;
	int i, code;

	i = exec_options(&o, &names, argc, argv);
	command = command_line(argc - i, argv + i);
	free(kernel_binary(o.kernel));
	for (i = 0; i < names.n; i++)
		add_module(&modules, o.kernel, names.s[i]);
	dir = run_folder(o.out ? o.out : guest_tmp(), "exec");
	path = xasprintf("%s/raw/plan.json", dir);
	text = plan_exec_text(&modules, &command, o.leak_check);
	write_file(path, text);
	free(text);
	free(path);
	b.kernel = o.kernel;
	b.dir = dir;
	b.passing = !o.out;
	b.seed = exec_seed(&o);
	b.leak_check = o.leak_check;
	why = boot_guest(&b);
	if (why && !o.out && !b.trouble.s)
		show_console(dir);
	code = why ? unclean(&b, o.out ? dir : NULL, why) : exit_code(&b, dir);
	if (b.passing)
		remove_tree(dir);
	return code;
}
