// SPDX-License-Identifier: GPL-2.0
/* SVG plots of a run, drawn by gnuplot from the run's own tables. The script
 * with its data stays in raw/, so a plot can be changed and drawn again.
 */
#include "results.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define POINTS_MAX	900	/* a line, about one a pixel; more are averaged */

/* Colours that stay apart in print and for the colour-blind (Okabe, Ito). */
static const char *const colour[] = {
	"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9",
	"#000000", "#999999",
};

/* A line of a plot. */
struct line {
	char *name;
	double *x, *y;
	int n;
};

struct lines {
	struct line *l;
	int n;
};

/* The line called @name; made if new. */
static struct line *line_find(struct lines *all, const char *name)
{
	int i;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->l[i].name, name))
			return &all->l[i];
	all->l = grow(all->l, all->n, sizeof(*all->l));
	memset(&all->l[all->n], 0, sizeof(*all->l));
	all->l[all->n].name = xstrdup(name);
	return &all->l[all->n++];
}

/* Append a point. */
static void line_add(struct line *l, double x, double y)
{
	l->x = grow(l->x, l->n, sizeof(*l->x));
	l->y = grow(l->y, l->n, sizeof(*l->y));
	l->x[l->n] = x;
	l->y[l->n++] = y;
}

/* Read columns of a table: x, name and y (column numbers from 0). */
static bool table_read(const char *dir, const char *file, int cx, int cn,
		       int cy, struct lines *out)
{
	char *path = xasprintf("%s/%s", dir, file), *text = NULL;
	FILE *f = fopen(path, "re");
	size_t room = 0;
	bool header = true;

	free(path);
	if (!f)
		return false;
	while (getline(&text, &room, f) > 0) {
		char *field[32], *p = text, *s;
		int n = 0;

		text[strcspn(text, "\n")] = 0;
		while (n < 32 && (s = strsep(&p, ",")))
			field[n++] = s;
		if (!header && n > cx && n > cn && n > cy && field[cy][0])
			line_add(line_find(out, field[cn]), atof(field[cx]),
				 atof(field[cy]));
		header = false;
	}
	fclose(f);
	free(text);
	return out->n > 0;
}

/* Order of doubles for qsort. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Turn a line's y values into their cumulative distribution. */
static void line_cdf(struct line *l)
{
	int i;

	qsort(l->y, l->n, sizeof(*l->y), by_value);
	for (i = 0; i < l->n; i++) {
		l->x[i] = l->y[i];
		l->y[i] = (i + 1.0) / l->n;
	}
}

/* Write a line as a gnuplot data block, averaged to POINTS_MAX points. */
static void put_block(FILE *f, const struct line *l, int number, double sx,
		      double sy, bool average)
{
	int step = average ? (l->n + POINTS_MAX - 1) / POINTS_MAX : 1, i, k;

	fprintf(f, "$d%d << END\n", number);
	for (i = 0; i < l->n; i += step) {
		int n = i + step < l->n ? step : l->n - i;
		double y = 0;

		for (k = 0; k < n; k++)
			y += l->y[i + k];
		fprintf(f, "%.9g %.6g\n", l->x[i] * sx, y / n * sy);
	}
	fprintf(f, "END\n");
}

/* What is common to one plot. */
struct plot {
	const char *file, *title, *xlabel, *ylabel;
	double sx, sy;
	bool average, logx, steps;
};

/* Text inside a gnuplot string in double quotes. */
static void put_quoted(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		fputc(*s, f);
	}
}

/* The range of x, where all points have the same: gnuplot would take this one, too, but
 * with a warning.
 */
static void put_range(FILE *f, const struct plot *p, const struct lines *all)
{
	double x = 0;
	int points = 0, i, k;

	for (i = 0; i < all->n; i++) {
		for (k = 0; k < all->l[i].n; k++) {
			if (points++ && all->l[i].x[k] * p->sx != x)
				return;
			x = all->l[i].x[k] * p->sx;
		}
	}
	if (points)
		fprintf(f, "set xrange [%.9g:%.9g]\n", x ? x * 0.99 : -1, x ? x * 1.01 : 1);
}

/* Draw one plot with gnuplot. */
static void plot_draw(const char *dir, const struct plot *p,
		      const struct lines *all)
{
	char *script = xasprintf("%s/raw/%s.gp", dir, p->file);
	char *local = xasprintf("raw/%s.gp", p->file);
	FILE *f = fopen(script, "we");
	int i, status;

	if (!f)
		die("cannot write %s: %s", script, strerror(errno));
	for (i = 0; i < all->n; i++)
		put_block(f, &all->l[i], i, p->sx, p->sy, p->average);
	fprintf(f, "set terminal svg size 900,360 noenhanced font 'sans,12' background '#ffffff'\n");
	fprintf(f, "set output '%s.svg'\nset title \"", p->file);
	put_quoted(f, p->title);
	fprintf(f, "\"\nset xlabel '%s'\nset ylabel '%s'\n", p->xlabel,
		p->ylabel);
	fprintf(f, "set grid lc rgb '#dddddd' lt 1\nset key outside right top\nset border 3\nset tics nomirror\nset yrange [0:*]\nset autoscale xfix\n");
	if (p->logx)
		fprintf(f, "set logscale x\n");
	put_range(f, p, all);
	fprintf(f, "plot ");
	for (i = 0; i < all->n; i++)
		fprintf(f, "%s$d%d using 1:2 with %s lw 1.5 lc rgb '%s' title '%s'",
			i ? ", " : "", i, p->steps ? "steps" : "lines",
			colour[i % ARRAY_SIZE(colour)], all->l[i].name);
	fprintf(f, "\n");
	if (fclose(f))
		die("cannot write %s: %s", script, strerror(errno));
	free(run_capture(&status, "env", "-C", dir, "gnuplot", local, NULL));
	if (status)
		die("gnuplot failed on %s: is gnuplot installed? (lab doctor)",
		    script);
	free(local);
	free(script);
}

/* Forget the lines. */
static void lines_free(struct lines *all)
{
	int i;

	for (i = 0; i < all->n; i++) {
		free(all->l[i].name);
		free(all->l[i].x);
		free(all->l[i].y);
	}
	free(all->l);
	memset(all, 0, sizeof(*all));
}

/* Largest y of all lines. */
static double lines_max(const struct lines *all)
{
	double max = 0;
	int i, k;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->l[i].n; k++)
			if (all->l[i].y[k] > max)
				max = all->l[i].y[k];
	return max;
}

/* Draw throughput.svg, queue.svg and fct.svg from what the run's folder has. */
void plot_dir(const char *dir)
{
	cJSON *summary = json_file(dir, "summary.json");
	cJSON *title = cJSON_GetObjectItem(summary, "title");
	const char *name = cJSON_IsString(title) ? title->valuestring : "";
	struct lines all = { 0 };
	int i;

	if (table_read(dir, "series.csv", 0, 1, 2, &all)) {
		bool giga = lines_max(&all) >= 1e9;
		struct plot p = {
			"throughput", name, "time, ms",
			giga ? "goodput, Gbit/s" : "goodput, Mbit/s",
			0.001, giga ? 1 / 1e9 : 1 / 1e6, true, false, false,
		};

		plot_draw(dir, &p, &all);
	}
	lines_free(&all);
	if (table_read(dir, "queues.csv", 0, 1, 4, &all)) {
		struct plot p = {
			"queue", "Queueing delay", "time, ms",
			"queueing delay, us", 0.001, 0.001, true, false, false,
		};

		if (all.n <= 16)
			plot_draw(dir, &p, &all);
	}
	lines_free(&all);
	if (table_read(dir, "flows.csv", 7, 1, 10, &all)) {
		struct plot p = {
			"fct", "Flow completion times", "completion time, us",
			"fraction of flows", 1, 1, false, true, true,
		};

		for (i = 0; i < all.n; i++)
			line_cdf(&all.l[i]);
		plot_draw(dir, &p, &all);
	}
	lines_free(&all);
	cJSON_Delete(summary);
}
