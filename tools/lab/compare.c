// SPDX-License-Identifier: GPL-2.0
/* lab compare: sweeps side by side, from the files they left. */
#include "commands.h"
#include "compare.h"
#include "results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Order of doubles for qsort. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A number that must be in a file; @dir is for the complaint. */
static int need_int(const cJSON *o, const char *key, const char *dir)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	if (!cJSON_IsNumber(m))
		die("%s: no \"%s\": not a finished sweep of this version", dir,
		    key);
	return m->valueint;
}

/* The command that repeats one combination. */
static char *side_command(const cJSON *sweep, const cJSON *combo, int runs,
			  int first)
{
	const cJSON *set;
	struct buf b = { 0 };

	buf_addf(&b, "build/bin/lab sweep %s --seeds %d",
		 json_text(sweep, "path"), runs);
	if (first != 1)
		buf_addf(&b, " --first-seed %d", first);
	cJSON_ArrayForEach(set, cJSON_GetObjectItem(combo, "set")) {
		/* as a shell wants it; none of ours has such a quote inside */
		const char *quote = strpbrk(set->valuestring, " \"[]*&;") ?
				    "'" : "";

		buf_addf(&b, " --set %s%s%s", quote, set->valuestring, quote);
	}
	return b.s;
}

/* What the runs of one side left: the first summary, speeds, verdicts. */
static void side_runs(struct side *s, int first)
{
	double *speed = xzalloc(sizeof(*speed) * s->runs);
	int i, n = 0;

	for (i = 0; i < s->runs; i++) {
		char *dir = xasprintf("%s/%s/seed-%d", s->dir,
				      json_text(s->combo, "name"), first + i);
		char *path = xasprintf("%s/summary.json", dir), *text;
		cJSON *json, *v;

		text = read_file(path, NULL);
		free(path);
		if (!text) {
			/* was not clean */
			free(dir);
			continue;
		}
		free(text);
		json = json_file(dir, "summary.json");
		s->passed &= cJSON_IsTrue(cJSON_GetObjectItem(json, "passed"));
		if (s->summary) {
			cJSON_Delete(json);
		} else {
			s->summary = json;
			s->run_dir = xstrdup(dir);
		}
		json = json_file(dir, "raw/speed.json");
		v = cJSON_GetObjectItem(json, "packets_x_hops_per_wall_s");
		if (cJSON_IsNumber(v))
			speed[n++] = v->valuedouble;
		cJSON_Delete(json);
		free(dir);
	}
	if (!s->summary)
		die("%s: no run of the sweep left results", s->dir);
	qsort(speed, n, sizeof(*speed), by_value);
	s->speed = n ? speed[n / 2] : 0;
	free(speed);
}

/* Die if @dir is what "lab run" has left. */
static void no_single_run(const char *dir)
{
	char *summary = xasprintf("%s/summary.json", dir), *sweep = xasprintf("%s/sweep.json", dir);

	if (access(sweep, F_OK) && !access(summary, F_OK))
		die("%s is a single run: lab sweep --seeds 1 makes what can be compared", dir);
	free(sweep);
	free(summary);
}

/* Read a sweep; each of its combinations becomes a side. */
static void side_read(struct sides *all, const char *label, const char *dir)
{
	const cJSON *list, *c, *e;
	cJSON *sweep;
	int first, seeds;

	no_single_run(dir);
	sweep = json_file(dir, "sweep.json");
	list = cJSON_GetObjectItem(sweep, "combinations");
	first = need_int(sweep, "first_seed", dir);
	seeds = need_int(sweep, "seeds", dir);
	cJSON_ArrayForEach(c, list) {
		struct side *s;

		all->s = grow(all->s, all->n, sizeof(*all->s));
		s = &all->s[all->n++];
		memset(s, 0, sizeof(*s));
		s->label = cJSON_GetArraySize(list) == 1 ? xstrdup(label) :
			   xasprintf("%s %s", label, json_text(c, "name"));
		s->dir = realpath(dir, NULL);
		s->sweep = sweep;
		s->combo = c;
		s->runs = seeds;
		s->first_seed = first;
		s->clean_runs = need_int(c, "clean_runs", dir);
		s->passed = s->clean_runs == seeds;
		s->command = side_command(sweep, c, seeds, first);
		cJSON_ArrayForEach(e, cJSON_GetObjectItem(c, "expectations"))
			s->passed &= cJSON_IsTrue(cJSON_GetObjectItem(e,
								      "pass"));
		side_runs(s, first);
	}
}

/* Write the section of a reStructuredText file. */
static void write_rst(const char *path, const struct comparison *c)
{
	FILE *f = fopen(path, "we");

	if (!f)
		die("cannot write %s: %s", path, strerror(errno));
	compare_rst(f, c);
	if (fclose(f))
		die("cannot write %s: %s", path, strerror(errno));
}

/* lab compare */
int cmd_compare(int argc, char **argv)
{
	const char *out = NULL, *rst = NULL, *rows = NULL;
	struct comparison c = { 0 };
	struct strv names = { 0 };
	int i, worst = LAB_OK;

	for (i = 0; i < argc; i++) {
		char *eq = strchr(argv[i], '=');

		if (option_is(argv[i], "--title")) {
			c.title = xstrdup(option_value(argc, argv, &i));
		} else if (option_is(argv[i], "--out")) {
			out = option_value(argc, argv, &i);
		} else if (option_is(argv[i], "--rst")) {
			rst = option_value(argc, argv, &i);
		} else if (option_is(argv[i], "--rows")) {
			rows = option_value(argc, argv, &i);
		} else if (argv[i][0] == '-' || !eq || eq == argv[i]) {
			die("lab compare: \"%s\" is neither an option nor NAME=FOLDER of a sweep",
			    argv[i]);
		} else {
			*eq = 0;
			if (strv_has(&names, argv[i]))
				die("lab compare: two sweeps are called %s", argv[i]);
			strv_addf(&names, "%s", argv[i]);
			side_read(&c.sides, argv[i], eq + 1);
		}
	}
	if (!c.sides.n)
		die("lab compare: name at least one sweep: NAME=FOLDER");
	if (!c.title)
		c.title = xstrdup(json_text(c.sides.s[0].summary, "title"));
	ratio_judge(&c.sides);
	table_make(&c.sides, rows, &c.table);
	if (rows && !c.table.matches)
		die("lab compare: no value matches --rows %s (sweep.csv has their names)", rows);
	compare_text(stdout, &c);
	if (rst)
		write_rst(rst, &c);
	if (out) {
		make_dirs(out);
		compare_json(out, &c);
		compare_html(out, &c);
		printf("report: %s/report.html\n", out);
	}
	for (i = 0; i < c.sides.n; i++) {
		const struct side *s = &c.sides.s[i];

		if (s->clean_runs < s->runs)
			worst = LAB_UNCLEAN;
		else if (!s->passed && worst == LAB_OK)
			worst = LAB_EXPECT;
	}
	return worst;
}
