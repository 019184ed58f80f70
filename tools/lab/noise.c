// SPDX-License-Identifier: GPL-2.0
/* Noise on the delay of a link: a curve of quantiles from a list, from a file
 * of cumulative probabilities, or uniform between 0 and a maximum.
 */
#include "scenario.h"
#include "units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Value of the curve given by @n points (x ascending in p) at probability q. */
static double curve_at(const double *x, const double *p, int n, double q)
{
	int i;

	if (q <= p[0])
		return x[0];
	for (i = 1; i < n; i++)
		if (q <= p[i])
			return p[i] > p[i - 1] ?
			       x[i - 1] + (x[i] - x[i - 1]) *
			       (q - p[i - 1]) / (p[i] - p[i - 1]) : x[i];
	return x[n - 1];
}

/* Turn a curve of (ns, probability) points into equidistant quantiles. */
static void noise_from_curve(struct noise *out, const double *x,
			     const double *p, int n, double scale)
{
	int i;

	out->n = NOISE_POINTS;
	for (i = 0; i < NOISE_POINTS; i++)
		out->quantile_ns[i] =
			curve_at(x, p, n, p[n - 1] * i / (NOISE_POINTS - 1)) *
			scale + 0.5;
}

/* Read lines "<microseconds> <cumulative probability>"; # starts a comment. */
static void noise_from_file(struct ynode *y, const char *name, double scale,
			    struct noise *out)
{
	char *path = y_file(y, name), *line = NULL;
	double *x = NULL, *p = NULL, us, prob;
	FILE *f = fopen(path, "re");
	int n = 0, number = 0;
	size_t room = 0;

	if (!f) {
		y_error(y, "cannot read %s: %s", path, strerror(errno));
		return;
	}
	while (getline(&line, &room, f) > 0) {
		number++;
		if (line[strspn(line, " \t\r\n")] == 0 ||
		    line[strspn(line, " \t")] == '#')
			continue;
		if (sscanf(line, "%lf %lf", &us, &prob) != 2 || us < 0 ||
		    (n && (us * 1e3 < x[n - 1] || prob < p[n - 1]))) {
			y_error(y, "%s:%d: expected rising \"microseconds probability\"",
				path, number);
			break;
		}
		x = grow(x, n, sizeof(*x));
		p = grow(p, n, sizeof(*p));
		x[n] = us * 1e3;
		p[n++] = prob;
	}
	if (n > 1 && p[n - 1] > 0)
		noise_from_curve(out, x, p, n, scale);
	else
		y_error(y, "%s holds no curve", path);
	fclose(f);
	free(line);
	free(x);
	free(p);
	free(path);
}

/* noise: [0ns, 200ns, 900ns] (equidistant quantiles), or
 * noise: {max: 10us} (uniform), or noise: {file: curve.txt, scale: 2}
 */
void noise_load(struct ynode *map, const char *key, struct noise *out)
{
	struct ynode *y = y_get(map, key);
	const char *file;
	int64_t v, before = 0;
	double scale;
	int i;

	if (!y)
		return;
	if (y->kind == Y_SCALAR) {
		if (strcmp(y->text, "off"))
			y_error(y, "expected off, a list of times, {max: …} or {file: …}");
		out->n = 0;
		return;
	}
	if (y->kind == Y_SEQ) {
		double x[NOISE_POINTS], p[NOISE_POINTS];

		if (y->n < 2 || y->n > NOISE_POINTS) {
			y_error(y, "2 to %d quantiles, please", NOISE_POINTS);
			return;
		}
		for (i = 0; i < y->n; i++) {
			const char *s = y_scalar(y->child[i]);

			if (!s || !parse_time(s, &v) || v < before) {
				y_error(y->child[i], "quantiles are rising times");
				return;
			}
			before = v;
			x[i] = v;
			p[i] = (double)i / (y->n - 1);
		}
		noise_from_curve(out, x, p, y->n, 1);
		return;
	}
	file = y_text(y, "file", NULL);
	scale = y_real(y, "scale", 1, 0, 1e6);
	if (file) {
		noise_from_file(y, file, scale, out);
	} else if (y_need(y, "max")) {
		double x[2] = { 0, y_time(y, "max", 0) }, p[2] = { 0, 1 };

		noise_from_curve(out, x, p, 2, scale);
	}
}
