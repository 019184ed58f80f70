// SPDX-License-Identifier: GPL-2.0
/* lab sweep: run a scenario for many seeds and settings through GNU parallel,
 * which can also spread the runs over machines that share the file system.
 */
#include "commands.h"
#include "results.h"
#include "sweep.h"
#include "units.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct sweep_options {
	struct options common;
	int64_t seeds, first_seed, jobs;
	const char *sshlogin;
};

/* Append @arg as one word of a shell command. */
static void add_quoted(struct buf *b, const char *arg)
{
	buf_addf(b, " '");
	for (; *arg; arg++) {
		if (*arg == '\'')
			buf_addf(b, "'\\''");
		else
			buf_add(b, arg, 1);
	}
	buf_addf(b, "'");
}

/* All combinations of the values in --set a=1,2 --set b=x,y: each as a list
 * of single assignments. "\," is a comma inside a value, and so is one inside
 * brackets.
 */
static void combine(struct sweep *s, const struct strv *sets)
{
	int i, k, c, before;

	s->combo = grow(NULL, 0, sizeof(*s->combo));
	memset(s->combo, 0, sizeof(*s->combo));
	s->combos = 1;
	for (i = 0; i < sets->n; i++) {
		struct strv values = { 0 };
		const char *eq = strchr(sets->s[i], '='), *p;
		struct buf one = { 0 };
		struct combo *next;
		int depth = 0;

		if (!eq)
			die("--set %s: write key=value,value", sets->s[i]);
		for (p = eq + 1; ; p++) {
			if (*p == '\\' && p[1] == ',') {
				buf_add(&one, ++p, 1);
			} else if (!*p || (*p == ',' && !depth)) {
				strv_addf(&values, "%.*s=%s",
					  (int)(eq - sets->s[i]), sets->s[i],
					  one.s ? one.s : "");
				one.len = 0;
				buf_add(&one, "", 0);
				if (!*p)
					break;
			} else {
				depth += strchr("[{", *p) ? 1 :
					 strchr("]}", *p) ? -1 : 0;
				buf_add(&one, p, 1);
			}
		}
		before = s->combos;
		next = xzalloc(sizeof(*next) * before * values.n);
		for (c = 0; c < before; c++) {
			for (k = 0; k < values.n; k++) {
				struct combo *to = &next[c * values.n + k];
				int j;

				for (j = 0; j < s->combo[c].set.n; j++)
					strv_addf(&to->set, "%s",
						  s->combo[c].set.s[j]);
				strv_addf(&to->set, "%s", values.s[k]);
			}
		}
		free(s->combo);
		s->combo = next;
		s->combos = before * values.n;
	}
}

/* Name every combination for its folder: only what varies between them. */
static void name_combos(struct sweep *s)
{
	int c, i, k;

	for (c = 0; c < s->combos; c++) {
		struct buf b = { 0 };
		char *p;

		buf_add(&b, "", 0);
		for (i = 0; i < s->combo[c].set.n; i++) {
			bool varies = false;

			for (k = 0; k < s->combos; k++)
				varies |= !!strcmp(s->combo[k].set.s[i],
						   s->combo[c].set.s[i]);
			if (varies)
				buf_addf(&b, "%s%s", b.len ? "," : "",
					 s->combo[c].set.s[i]);
		}
		s->combo[c].name = b.len ? b.s : xstrdup("all");
		for (p = s->combo[c].name; *p; p++)
			if (*p == '/' || *p == ' ')
				*p = '_';
		for (k = 0; k < c; k++)
			if (!strcmp(s->combo[k].name, s->combo[c].name))
				die("--set: two combinations would have the folder \"%s\"",
				    s->combo[c].name);
	}
}

/* One line for parallel: run one seed of one combination, say how it ended. */
static void add_job(struct buf *b, const struct sweep *s,
		    const struct sweep_options *o, int combo, int seed)
{
	char *lab = xasprintf("%s/bin/lab", path_build());
	char *dir = sweep_run_dir(s, combo, seed);
	char *number = xasprintf("%lld", (long long)s->first_seed + seed);
	int i;

	make_dirs(dir);
	buf_addf(b, "cd");
	add_quoted(b, s->cwd);
	buf_addf(b, " &&");
	add_quoted(b, lab);
	buf_addf(b, " run --quiet");
	add_quoted(b, s->scenario);
	buf_addf(b, " --kernel");
	add_quoted(b, o->common.kernel);
	buf_addf(b, " --seed %s --out", number);
	add_quoted(b, dir);
	for (i = 0; i < s->combo[combo].set.n; i++) {
		buf_addf(b, " --set");
		add_quoted(b, s->combo[combo].set.s[i]);
	}
	buf_addf(b, " >");
	add_quoted(b, dir);
	buf_addf(b, "/run.log 2>&1; echo JOB %d %d $?\n", combo, seed);
	free(number);
	free(dir);
	free(lab);
}

/* Show the end of a run's log, after a run that was not clean. */
static void show_log(const struct sweep *s, int combo, int seed)
{
	char *dir = sweep_run_dir(s, combo, seed);
	char *path = xasprintf("%s/run.log", dir);
	char *text = read_file(path, NULL);
	size_t len = text ? strlen(text) : 0;

	if (text)
		fprintf(stderr, "%s\n", len > 3000 ? text + len - 3000 : text);
	free(text);
	free(path);
	free(dir);
}

/* What an earlier sweep said of this folder must not be taken for this one's. */
static void forget_results(const struct sweep *s)
{
	static const char *const ours[] = { "sweep.json", "sweep.csv" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ours); i++) {
		char *file = xasprintf("%s/%s", s->dir, ours[i]);

		unlink(file);
		free(file);
	}
}

/* Run all jobs and note how each ended. */
static void run_jobs(struct sweep *s, const struct sweep_options *o)
{
	char *file = xasprintf("%s/jobs.txt", s->dir), *line = NULL;
	struct buf jobs = { 0 }, command = { 0 };
	int c, k, rc, done = 0;
	size_t room = 0;
	FILE *p;

	for (k = 0; k < s->seeds; k++)
		for (c = 0; c < s->combos; c++)
			add_job(&jobs, s, o, c, k);
	write_file(file, jobs.s);
	buf_addf(&command, "SHELL=/bin/sh exec parallel --will-cite --line-buffer --jobs %lld",
		 (long long)o->jobs);
	if (o->sshlogin) {
		buf_addf(&command, " --sshlogin");
		add_quoted(&command, o->sshlogin);
	}
	buf_addf(&command, " -a");
	add_quoted(&command, file);
	p = popen(command.s, "re");
	if (!p)
		die("cannot start parallel: %s", strerror(errno));
	while (getline(&line, &room, p) > 0) {
		if (sscanf(line, "JOB %d %d %d", &c, &k, &rc) != 3 || c < 0 ||
		    c >= s->combos || k < 0 || k >= s->seeds) {
			fputs(line, stderr);
			continue;
		}
		s->combo[c].exit_code[k] = rc;
		fprintf(stderr, "%d/%d  %s, seed %lld: %s\n", ++done,
			s->combos * s->seeds, s->combo[c].name,
			(long long)s->first_seed + k,
			rc == LAB_OK ? "ok" : rc == LAB_EXPECT ?
			"an expectation failed" : "not clean");
		if (rc != LAB_OK && rc != LAB_EXPECT)
			show_log(s, c, k);
	}
	rc = pclose(p);
	if (!done)
		die("parallel ran nothing (exit code %d): is GNU parallel installed? (lab doctor)",
		    WEXITSTATUS(rc));
	free(line);
	free(file);
	free(jobs.s);
	free(command.s);
}

/* Integer value of an option, from @min up. */
static int64_t int_option(int argc, char **argv, int *i, int64_t min)
{
	const char *name = argv[*i], *v = option_value(argc, argv, i);
	int64_t n;

	if (!parse_int(v, &n) || n < min || n > 1000000)
		die("%s %s: not an integer from %lld", name, v,
		    (long long)min);
	return n;
}

/* Read the command line of lab sweep. */
static void parse_options(struct sweep_options *o, int argc, char **argv)
{
	const int known = OPTION_OUT | OPTION_SEED | OPTION_SET;
	int i;

	memset(o, 0, sizeof(*o));
	options_init(&o->common);
	o->seeds = 5;
	o->first_seed = 1;
	o->jobs = sysconf(_SC_NPROCESSORS_ONLN);
	for (i = 0; i < argc; i++) {
		if (option_is(argv[i], "--seeds"))
			o->seeds = int_option(argc, argv, &i, 1);
		else if (option_is(argv[i], "--first-seed"))
			o->first_seed = int_option(argc, argv, &i, 0);
		else if (option_is(argv[i], "--jobs"))
			o->jobs = int_option(argc, argv, &i, 1);
		else if (option_is(argv[i], "--sshlogin"))
			o->sshlogin = option_value(argc, argv, &i);
		else if (!option_common(&o->common, known, argc, argv, &i))
			die("lab sweep: unknown option %s", argv[i]);
	}
	if (o->common.rest.n != 1)
		die("lab sweep: name one scenario file");
	if (o->common.seed >= 0)
		die("lab sweep: --seeds and --first-seed choose the seeds");
	options_check(&o->common);
}

/* lab sweep */
int cmd_sweep(int argc, char **argv)
{
	static char cwd[PATH_MAX];
	struct sweep_options o;
	struct sweep s = { 0 };
	char *name, *dot;
	int c, k;

	parse_options(&o, argc, argv);
	s.scenario = o.common.rest.s[0];
	s.cwd = getcwd(cwd, sizeof(cwd));
	s.seeds = o.seeds;
	s.first_seed = o.first_seed;
	combine(&s, &o.common.sets);
	name_combos(&s);
	for (c = 0; c < s.combos; c++) {
		s.combo[c].sc = scenario_load(s.scenario, &s.combo[c].set,
					      s.first_seed);
		s.combo[c].exit_code = xmalloc(sizeof(int) * s.seeds);
		for (k = 0; k < s.seeds; k++)
			s.combo[c].exit_code[k] = LAB_UNCLEAN;
	}
	name = xstrdup(strrchr(s.scenario, '/') ?
		       strrchr(s.scenario, '/') + 1 : s.scenario);
	dot = strrchr(name, '.');
	if (dot && dot != name)
		*dot = 0;
	s.dir = o.common.out ? xstrdup(o.common.out) :
		xasprintf("%s/results/%s-sweep", path_build(), name);
	make_dirs(s.dir);
	s.dir = realpath(s.dir, NULL);
	if (!s.dir || !s.cwd)
		die("cannot use the sweep's folder: %s", strerror(errno));
	folder_lock(s.dir);
	forget_results(&s);
	run_jobs(&s, &o);
	return sweep_report(&s);
}
