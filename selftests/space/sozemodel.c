// SPDX-License-Identifier: GPL-2.0
/*
 * sozemodel SPACE FIRST LAST [DIMENSION=VALUE]...
 *
 * Set-ups of Söze in user space: the core in the packet model of the unit tests. It knows
 * neither TCP nor noise, offload, hops, far hosts and delayed ACKs.
 *
 * Prints a line a set-up: seed, of each phase the errors of the median flow and of all and
 * the use of the line, dimensions, and what failed; and then the counts.
 */
#include "soze_net.h"
#include "space.h"

#define ERROR_MOST	0.05
#define USED_LEAST	0.97
#define LONE_LEAST	0.95
#define JITTER_NS	20000

/* What a phase gave. */
struct phase {
	double median, sum, used;
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Run the phase to its end and measure its window. */
static void measure(struct sn *n, const struct space_window *w, struct phase *ph)
{
	double error[SPACE_FLOWS], window_ns = 1e3 * (w->until_us - w->from_us);
	double rate, ideal = 0;
	int f, flows = 0;

	sn_run(n, 1e3 * w->from_us);
	sn_clear(n);
	sn_run(n, 1e3 * w->until_us);
	sn_fill(n, NULL);
	ph->sum = 0;
	for (f = 0; f < n->net.flows; f++) {
		if (!n->net.flow[f].alive)
			continue;
		rate = n->net.flow[f].bytes * 8e9 / window_ns;
		error[flows++] = fabs(rate / n->flow[f].ideal - 1);
		ph->sum += fabs(rate - n->flow[f].ideal);
		ideal += n->flow[f].ideal;
	}
	ph->sum /= ideal;
	qsort(error, flows, sizeof(*error), by_size);
	ph->median = error[(flows - 1) / 2];
	ph->used = n->net.link[0].busy_ns / window_ns;
}

/* What happens between the phases. */
static void change(struct sn *n, const struct space_setup *s)
{
	const struct space_flow *f;
	double at_ns;
	int i;

	for (i = 0; i < s->flows; i++) {
		f = &s->flow[i];
		at_ns = 1e3 * s->change_us;
		if (f->there[0] && !f->there[1])
			pn_at(&n->net, at_ns, i, PN_STOP, 0);
		else if (!f->there[0])
			pn_at(&n->net, at_ns + JITTER_NS * sn_random(n), i, PN_START, 0);
		else if (f->weight[0] < f->weight[1] || f->weight[0] > f->weight[1])
			pn_at(&n->net, at_ns, i, SN_WEIGHT, lround(1000 * f->weight[1]));
	}
}

static void simulate(const struct space_setup *s, struct phase *ph)
{
	int links = fmax(1, atof(dim_of(s, "links"))), path[8], l;
	double passed_ns = s->wire_bytes * 8e9 / s->rate_bps;
	struct sz_conf cf = { .line_bps = s->rate_bps, .wire_bytes = s->wire_bytes };
	struct sn n;
	int i;

	if (!strcmp(dim_of(s, "base"), "given"))
		cf.base_ns = 1e3 * s->base_us;
	sn_init(&n, &cf, links, s->flows, 0, s->seed);
	n.told_max_ns = SN_TOLD_MAX_NS;
	for (l = 1; l < links; l++)
		n.net.link[l].bps *= dim_random(s, l & 1 ? "odd" : "even") < 0.5 ? 1 : 0.4;
	for (i = 0; i < s->flows; i++) {
		for (l = s->flow[i].first; l <= s->flow[i].last; l++)
			path[l - s->flow[i].first] = l;
		path[l - s->flow[i].first] = -1;
		sn_add(&n, i, path, fmax(1e3 * s->base_us - passed_ns, 200),
		       lround(1000 * s->flow[i].weight[0]),
		       s->flow[i].there[0] ? JITTER_NS * sn_random(&n) : INFINITY);
	}
	measure(&n, &s->window[0], &ph[0]);
	if (s->change_us > 0) {
		change(&n, s);
		measure(&n, &s->window[1], &ph[1]);
	}
	sn_free(&n);
}

/* Is what a phase gave what the lab expects? */
static bool is_good(const struct space_setup *s, const struct phase *ph)
{
	if (s->flows == 1)
		return ph->used >= LONE_LEAST;
	/* in a row, link 0 need not be the one that is full */
	return ph->median <= ERROR_MOST && ph->sum <= ERROR_MOST &&
	       (*dim_of(s, "links") || ph->used >= USED_LEAST);
}

/* Run one set-up and print it. Return: is it good? */
static bool run(const char *space, u64 seed, int argc, char **argv)
{
	struct space_setup s = { .control = "soze", .space = space, .seed = seed };
	struct phase ph[2];
	bool good;
	int i;

	for (i = 0; i < argc; i++)
		dim_give(&s, argv[i]);
	space_soze.draw(&s);
	dim_check(&s);
	simulate(&s, ph);
	good = true;
	printf("%llu", (unsigned long long)seed);
	for (i = 0; i < (s.change_us > 0 ? 2 : 1); i++) {
		good &= is_good(&s, &ph[i]);
		printf("  %.3f %.3f %.3f", ph[i].median, ph[i].sum, ph[i].used);
	}
	for (i = 0; i < s.dims; i++)
		printf(" %s=%s", s.dim[i].name, s.dim[i].value);
	puts(good ? "" : "  FAILED");
	return good;
}

int main(int argc, char **argv)
{
	uint64_t seed, first, last;
	static const char *const spaces[] = { "basic", "wide", "lone", "chain" };
	u32 good = 0, n = 0;
	size_t i;

	if (argc < 4 || !seeds_read(argv[2], argv[3], &first, &last))
		die("usage: sozemodel SPACE FIRST LAST [DIMENSION=VALUE]..., FIRST and LAST are seeds, from 0 up");
	for (i = 0; i < ARRAY_SIZE(spaces); i++)
		if (!strcmp(argv[1], spaces[i]))
			break;
	if (i == ARRAY_SIZE(spaces))
		die("there is no space \"%s\": basic, wide, lone, chain", argv[1]);
	for (seed = first; seed <= last; seed++, n++)
		good += run(argv[1], seed, argc - 4, argv + 4);
	printf("%u set-ups: %u good\n", n, good);
	return 0;
}
