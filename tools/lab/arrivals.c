// SPDX-License-Identifier: GPL-2.0
/* Random arrivals: open-loop Poisson traffic with sizes from a distribution
 * file, and incast rounds. Everything is drawn from the run's seed here, so
 * the guest only sees a list of flows.
 */
#include "scenario.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Read lines "<bytes> <cumulative probability 0..1 or 0..100>". */
bool sizes_read(struct ynode *y, const char *name, struct sizes *z)
{
	char *path = y_file(y, name), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t room = 0;
	int number = 0, i;
	double b, p;
	bool ok = true;

	memset(z, 0, sizeof(*z));
	if (!f) {
		y_error(y, "cannot read %s: %s", path, strerror(errno));
		return false;
	}
	while (ok && getline(&line, &room, f) > 0) {
		number++;
		if (line[strspn(line, " \t\r\n")] == 0 ||
		    line[strspn(line, " \t")] == '#')
			continue;
		ok = sscanf(line, "%lf %lf", &b, &p) == 2 && b >= 0 &&
		     (!z->n || (b >= z->bytes[z->n - 1] &&
				p >= z->prob[z->n - 1]));
		if (!ok)
			y_error(y, "%s:%d: expected rising \"bytes probability\"",
				path, number);
		z->bytes = grow(z->bytes, z->n, sizeof(b));
		z->prob = grow(z->prob, z->n, sizeof(p));
		z->bytes[z->n] = b;
		z->prob[z->n++] = p;
	}
	if (ok && (z->n < 1 || z->prob[z->n - 1] <= 0)) {
		y_error(y, "%s holds no distribution", path);
		ok = false;
	}
	for (i = 0; ok && i < z->n; i++)
		z->prob[i] /= z->prob[z->n - 1] > 1.5 ? 100 : 1;
	if (ok && fabs(z->prob[z->n - 1] - 1) > 0.000001) {
		y_error(y, "%s does not end at probability 1 (or 100)", path);
		ok = false;
	}
	fclose(f);
	free(line);
	free(path);
	return ok;
}

/* Mean of the distribution, linear between its points. */
static double sizes_mean(const struct sizes *z)
{
	double mean = z->bytes[0] * z->prob[0];
	int i;

	for (i = 1; i < z->n; i++)
		mean += (z->bytes[i] + z->bytes[i - 1]) / 2 *
			(z->prob[i] - z->prob[i - 1]);
	return mean;
}

/* Draw one size, at least one byte. */
int64_t sizes_draw(const struct sizes *z, struct rng *rng)
{
	double u = rng_unit(rng), b = z->bytes[0];
	int i;

	for (i = 0; i < z->n; i++) {
		if (u > z->prob[i])
			continue;
		b = z->bytes[i];
		if (i && z->prob[i] > z->prob[i - 1])
			b = z->bytes[i - 1] + (z->bytes[i] - z->bytes[i - 1]) *
			    (u - z->prob[i - 1]) /
			    (z->prob[i] - z->prob[i - 1]);
		break;
	}
	return b < 1 ? 1 : llround(b);
}

/* Read between: [over, up to], the sizes that a group takes of all arrivals. */
static void between_read(struct ynode *y, int64_t *over, int64_t *most)
{
	struct strv text = { 0 };

	*over = -1;
	*most = INT64_MAX;
	if (!y_find(y, "between"))
		return;
	y_list(y, "between", &text);
	if (text.n != 2 || !parse_size(text.s[0], over) ||
	    !parse_size(text.s[1], most) || *over >= *most)
		y_error(y, "between: is a list of two rising sizes: [10kb, 1mb]");
}

/* The hosts that the key names: 1 at the place of each of them, by name; NULL without it. */
static bool *ends_read(struct scenario *sc, struct ynode *y, const char *key)
{
	struct node **list = NULL;
	struct strv names = { 0 };
	bool *in;
	int n = 0, i, k;

	if (!y_find(y, key))
		return NULL;
	y_list(y, key, &names);
	for (i = 0; i < names.n; i++)
		nodes_match(sc, y, names.s[i], false, &list, &n);
	in = xmalloc(sc->nodes * sizeof(*in));
	for (i = 0; i < sc->nodes; i++)
		for (in[i] = false, k = 0; k < n; k++)
			in[i] |= sc->node[i] == list[k];
	free(list);
	return in;
}

/* Are both hosts of a flow among @in? */
static bool ends_both(const struct scenario *sc, const bool *in,
		      const struct node *a, const struct node *b)
{
	int both = 0, i;

	for (i = 0; i < sc->nodes; i++)
		both += in[i] && (sc->node[i] == a || sc->node[i] == b);
	return both == 2;
}

/* Which arrivals are a group's: both:, not_both:. NULL: all. */
struct ends {
	bool *both, *not_both;
};

static bool ends_are(const struct scenario *sc, const struct ends *ends,
		     const struct node *a, const struct node *b)
{
	return (!ends->both || ends_both(sc, ends->both, a, b)) &&
	       (!ends->not_both || !ends_both(sc, ends->not_both, a, b));
}

static void ends_free(struct ends *ends)
{
	free(ends->both);
	free(ends->not_both);
}

/* Time to the next arrival of a Poisson process of @rate a second. */
static double gap_ns(struct rng *rng, double rate)
{
	return log(rng_unit(rng)) * -NSEC_PER_SEC / rate;
}

/* Poisson arrivals that load the sources' links to a stated fraction. */
static void poisson_load(struct scenario *sc, int g, struct ynode *y,
			 struct node **src, int srcs, struct node **dst,
			 int dsts, struct rng *rng)
{
	struct ynode *gy = sc->group[g].y;
	double load = y_real(y, "load", 0.5, 0.000001, 10), mean, rate;
	int64_t start = y_moment(sc, y_get(gy, "start"), 0);
	int64_t until = y_moment(sc, y_get(y, "until"), sc->duration_ns);
	int64_t line = y_rate(y, "of", src[0]->port[0]->p.rate_bps);
	const char *file = y_text(y, "sizes", NULL);
	int64_t fixed = y_size(gy, "size", NEVER);
	double one[1] = { fixed }, full[1] = { 1 };
	struct sizes z = { .bytes = one, .prob = full, .n = 1 };
	struct ends ends;
	int64_t over, most;
	double at;

	y_need(y, "load");
	between_read(y, &over, &most);
	if (file ? fixed != NEVER : fixed == NEVER) {
		y_error(y, "give the flows sizes: (a distribution file) or the group a size:");
		return;
	}
	if (file && !sizes_read(y, file, &z))
		return;
	if (until <= start) {
		y_error(y, "ends (until: or duration:) before it starts");
		return;
	}
	if (srcs == 1 && dsts == 1 && src[0] == dst[0])
		return;
	ends.both = ends_read(sc, y, "both");
	ends.not_both = ends_read(sc, y, "not_both");
	mean = sizes_mean(&z);
	/* flows a second of all sources together */
	rate = load * line * srcs / (8 * mean);
	for (at = start + gap_ns(rng, rate); at < until;
	     at += gap_ns(rng, rate)) {
		int64_t bytes = sizes_draw(&z, rng);
		struct node *s, *d;

		do {
			s = src[rng_below(rng, srcs)];
			d = dst[rng_below(rng, dsts)];
		} while (s == d);
		/* all groups of one process together are Poisson arrivals, too */
		if (bytes > over && bytes <= most && ends_are(sc, &ends, s, d))
			flow_add(sc, g, s, d, (int64_t)at, NEVER, bytes);
	}
	ends_free(&ends);
}

/* Rounds in which many sources send one block to one destination at once. */
static void incast_load(struct scenario *sc, int g, struct ynode *y,
			struct node **src, int srcs, struct node **dst,
			int dsts, struct rng *rng)
{
	struct ynode *gy = sc->group[g].y;
	int64_t start = y_moment(sc, y_get(gy, "start"), 0);
	int64_t size = y_size(gy, "size", NEVER);
	int64_t jitter = y_time(gy, "start_jitter", 0);
	int64_t every = y_time(y, "every", 0);
	int times = y_int(y, "times", 1, 1, 1000000);
	int fan_in = y_int(y, "fan_in", srcs, 1, 1000000);
	int count = y_int(gy, "count", 1, 1, 1000000);
	struct node **pool = xmalloc(srcs * sizeof(*pool));
	struct ends ends = {
		.both = ends_read(sc, y, "both"),
		.not_both = ends_read(sc, y, "not_both"),
	};
	int i, k, n, c;

	if (size == NEVER || size == 0)
		y_error(gy, "incast needs a size: for each sender's block");
	if (times > 1 && !every)
		y_error(y, "key \"every\" is missing here");
	for (i = 0; i < times && !y_errors(); i++) {
		struct node *to = dst[rng_below(rng, dsts)];

		for (k = n = 0; k < srcs; k++)
			if (src[k] != to)
				pool[n++] = src[k];
		if (fan_in > n && y_find(y, "fan_in")) {
			y_error(y, "fan_in %d, but only %d sources", fan_in, n);
			break;
		}
		for (k = 0; k < fan_in && k < n; k++) {
			int pick = k + rng_below(rng, n - k);
			struct node *s = pool[pick];

			pool[pick] = pool[k];
			pool[k] = s;
			for (c = 0; c < count; c++) {
				int64_t at = start + i * every + rng_below(rng, jitter);

				/* drawn by all groups of one process, to stay in step */
				if (ends_are(sc, &ends, s, to))
					flow_add(sc, g, s, to, at, NEVER, size);
			}
		}
	}
	ends_free(&ends);
	free(pool);
}

/* Expand a group that has poisson: or incast:; false if it has neither. */
bool arrivals_load(struct scenario *sc, int group, struct node **src, int srcs,
		   struct node **dst, int dsts, struct rng *rng)
{
	struct ynode *y = sc->group[group].y;
	struct ynode *poisson = y_get(y, "poisson");
	struct ynode *incast = y_get(y, "incast");

	if (poisson && incast)
		y_error(y, "give poisson or incast, not both");
	if (poisson && y_is_map(poisson))
		poisson_load(sc, group, poisson, src, srcs, dst, dsts, rng);
	else if (incast && y_is_map(incast))
		incast_load(sc, group, incast, src, srcs, dst, dsts, rng);
	return poisson || incast;
}
