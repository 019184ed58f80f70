// SPDX-License-Identifier: GPL-2.0
/* lab run, validate, list, plot: one scenario. */
#include "commands.h"
#include "names.h"
#include "results.h"
#include "units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LATE_NS		5000	/* of a flow's start, worth a warning */

/* Name of a scenario for folders: its file without path and ending. */
static char *scenario_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = xstrdup(slash ? slash + 1 : path);
	char *dot = strrchr(name, '.');

	if (dot && dot != name)
		*dot = 0;
	return name;
}

/* Nobody else may write to the folder as long as this process lives: their files would be
 * taken for ours.
 */
void folder_lock(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* some file systems know no locks */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		die("%s is in use by another run: --out names another folder", dir);
}

/* Remove what an earlier run left in raw/. Files of somebody else are not ours to remove. */
static void empty_raw(const char *raw)
{
	char *plan = xasprintf("%s/plan.json", raw);
	bool ours = !access(plan, F_OK);
	DIR *d = opendir(raw);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!ours)
			die("%s has files that are of no run: --out names another folder", raw);
		/* last, it says whose folder this is */
		if (strcmp(e->d_name, "plan.json"))
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
	unlink(plan);
	free(plan);
}

/* Make the run's folder and remove the results of an earlier run in it, so
 * that nothing stale can be taken for new. Returns its absolute path.
 */
char *run_folder(const char *out, const char *path)
{
	static const char *const ours[] = {
		"summary.json", "series.csv", "queues.csv", "flows.csv",
		"environment.json", "report.html", "throughput.svg",
		"queue.svg", "fct.svg",
	};
	char *name = scenario_name(path), *dir, *raw, *abs;
	size_t i;

	dir = out ? xstrdup(out) :
		    xasprintf("%s/results/%s", path_build(), name);
	raw = xasprintf("%s/raw", dir);
	make_dirs(raw);
	folder_lock(raw);
	empty_raw(raw);
	for (i = 0; i < ARRAY_SIZE(ours); i++) {
		char *file = xasprintf("%s/%s", dir, ours[i]);

		unlink(file);
		free(file);
	}
	abs = realpath(dir, NULL);
	if (!abs)
		die("cannot use folder %s: %s", dir, strerror(errno));
	free(raw);
	free(dir);
	free(name);
	return abs;
}

/* Write a text file into raw/. */
static void write_raw(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/raw/%s", dir, name);

	write_file(path, text);
	free(path);
}

/* Say what went wrong in the guest, with the kernel's own words, and where the
 * rest of them is if @dir stays.
 */
int unclean(const struct boot *b, const char *dir, const char *why)
{
	if (b->trouble.s)
		fprintf(stderr, "%s", b->trouble.s);
	fprintf(stderr, "lab: %s\n", why);
	if (dir)
		fprintf(stderr, "lab: the guest's console: %s/raw/console.log\n",
			dir);
	return LAB_UNCLEAN;
}

/* The guest's processor is free but its clock moves a little with each flow it
 * starts; say so if that made starts late.
 */
static void warn_late(const struct run *run)
{
	int64_t worst = 0;
	int i, late = 0;

	for (i = 0; i < run->sc->flows; i++) {
		int64_t lag = run->flow[i].start_ns - run->sc->flow[i].start_ns;

		if (run->flow[i].start_ns == NEVER || lag <= LATE_NS ||
		    run->sc->flow[i].gate >= 0)
			continue;
		late++;
		if (lag > worst)
			worst = lag;
	}
	if (late)
		fprintf(stderr, "lab: %d of %d flows started more than %s later than planned, the worst %s; flows.csv has the true times\n",
			late, run->sc->flows, fmt_time(LATE_NS),
			fmt_time(worst));
}

/* lab run */
int cmd_run(int argc, char **argv)
{
	const int known = OPTION_OUT | OPTION_SEED | OPTION_SET | OPTION_QUIET |
			  OPTION_LEAK_CHECK;
	struct options o;
	struct module_list modules = { 0 };
	struct values values = { 0 };
	struct verdicts verdicts = { 0 };
	struct scenario *sc;
	struct boot b = { 0 };
	struct run run;
	char *dir, *why, *routes;
	int i;

	options_init(&o);
	for (i = 0; i < argc; i++)
		if (!option_common(&o, known, argc, argv, &i))
			die("lab run: unknown option %s", argv[i]);
	if (o.rest.n != 1)
		die("lab run: name one scenario file (lab list shows some)");
	options_check(&o);
	sc = scenario_load(o.rest.s[0], &o.sets, o.seed);
	machine_check(sc, o.kernel);
	free(kernel_binary(o.kernel));
	modules_for(sc, o.kernel, &modules);
	dir = run_folder(o.out, sc->path);
	write_raw(dir, "plan.json", plan_text(sc, &modules, o.leak_check));
	routes = fabric_routes(sc);
	if (routes)
		write_raw(dir, "fabric.routes", routes);
	free(routes);
	if (!o.quiet)
		fprintf(stderr, "%s: %s\n", sc->path, sc->title);
	b.kernel = o.kernel;
	b.dir = dir;
	b.seed = sc->seed;
	b.leak_check = o.leak_check;
	b.quiet = o.quiet;
	why = boot_guest(&b);
	if (!why)
		why = run_load(&run, sc, dir);
	if (why)
		return unclean(&b, dir, why);
	warn_late(&run);
	series_write(&run);
	queues_write(&run);
	flows_write(&run);
	measures_run(&run, &values);
	expect_run(sc->expect, &values, &verdicts);
	summary_write(&run, &values, &verdicts);
	environment_write(&run, o.kernel, &o.sets, &modules);
	summary_print(&run, &values, &verdicts);
	speed_write(&run, &b);
	plot_dir(dir);
	report_dir(dir);
	printf("results: %s (report.html, summary.json)\n", dir);
	return verdicts.failed ? LAB_EXPECT : LAB_OK;
}

/* lab validate: check, and show what the scenario would do. */
int cmd_validate(int argc, char **argv)
{
	struct options o;
	struct scenario *sc;
	int i;

	options_init(&o);
	for (i = 0; i < argc; i++)
		if (!option_common(&o, OPTION_SEED | OPTION_SET, argc, argv, &i))
			die("lab validate: unknown option %s", argv[i]);
	if (o.rest.n != 1)
		die("lab validate: name one scenario file");
	options_check(&o);
	sc = scenario_load(o.rest.s[0], &o.sets, o.seed);
	names_check(sc, o.kernel);
	printf("%s: %s\n", sc->path, sc->title);
	printf("%d nodes, %d links, %d flows in %d groups, %d events, %s\n",
	       sc->nodes, sc->links, sc->flows, sc->groups, sc->events,
	       fmt_time(sc->duration_ns));
	for (i = 0; i < sc->groups; i++) {
		const struct group *g = &sc->group[i];
		const struct flow *f = &sc->flow[g->first];

		if (!g->count)
			continue;
		printf("group %s: %d flows, %s, priority %lld, from %s, first %s to %s, base RTT %s\n",
		       g->name, g->count, g->cc, (long long)g->priority,
		       g->waits ? "when others have completed" :
				  fmt_time(group_start_ns(sc, i)), f->src->name,
		       f->dst->name,
		       fmt_time(base_rtt_ns(sc, f->src, f->dst)));
	}
	printf("valid\n");
	return LAB_OK;
}

/* Title of a scenario file without checking all of it. */
static const char *scenario_title(const char *path)
{
	struct strv files = { 0 };
	struct ynode *root = yaml_load(path, &files);

	return y_text(root, "title", "(no title)");
}

/* Order of names for scandir: numbers by value. */
static int by_version(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/* List the scenarios in @dir and the folders in it. */
static void list_dir(const char *dir, const char *cut)
{
	struct dirent **e;
	int n = scandir(dir, &e, NULL, by_version), i;

	for (i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, e[i]->d_name);
		const char *dot = strrchr(e[i]->d_name, '.');
		struct stat st;

		if (e[i]->d_name[0] == '.' || stat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode))
			list_dir(path, cut);
		else if (dot && !strcmp(dot, ".yaml"))
			printf("%-40s  %s\n", path + strlen(cut) + 1,
			       scenario_title(path));
		free(path);
	}
}

/* lab list */
int cmd_list(int argc, char **argv)
{
	char *dir;

	if (argc)
		die("lab list: takes no arguments, got %s", argv[0]);
	dir = xasprintf("%s/selftests/figures", path_root());
	list_dir(dir, path_root());
	free(dir);
	return LAB_OK;
}

/* lab plot */
int cmd_plot(int argc, char **argv)
{
	if (argc != 1)
		die("lab plot: name the folder of one run");
	plot_dir(argv[0]);
	report_dir(argv[0]);
	printf("%s/report.html\n", argv[0]);
	return LAB_OK;
}
