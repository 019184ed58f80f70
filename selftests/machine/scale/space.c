// SPDX-License-Identifier: GPL-2.0
/*
 * Söze over random set-ups on one port, in the network of the unit tests: 1 to 100 Gbit/s,
 * base RTT 6 us to 1 ms, packets of 1500 or 9000 bytes, 2 to 64 flows with weights over
 * three decades, half of which leave, join or change their weight. Prints what fails.
 *
 * A phase is good if after max(1 ms, 40 RTTs of path and queue, 40 packets of the median
 * flow), for max(2 ms, 40 such RTTs, 100 such packets), the median flow and the sum of all
 * errors are within 5 % of weighted max-min, and the line is 97 % used.
 */
#include <stdio.h>

#include "soze_net.h"

#define SPACE_FLOWS	64
#define SPACE_PART	0.05
#define SPACE_USED	0.97

/**
 * struct setup - a set-up
 * @bps: rate of the port
 * @base_ns: base RTT
 * @flows: how many
 * @wire: bytes of a packet
 * @what: 'l'eave, 'j'oin or 'c'hange is what those do that do not stay
 * @weight: thousandths, before and after
 * @stays: nothing happens to the flow
 */
struct setup {
	double bps, base_ns;
	int flows;
	u32 wire;
	char what;
	u32 weight[SPACE_FLOWS][2];
	bool stays[SPACE_FLOWS];
};

/* What a phase gave. */
struct phase {
	double median, sum, used;
};

static u64 state;

static double draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) / 9007199254740992.0;
}

static u32 draw_weight(void)
{
	return 100 * pow(1000, draw());
}

static void draw_setup(struct setup *s, u32 seed)
{
	static const double gbits[] = { 1, 10, 25, 40, 100 };
	static const int flows[] = { 2, 3, 5, 8, 16, 32, 64 };
	int i;

	state = 0x9e3779b97f4a7c15ULL * (seed + 1ULL);
	for (i = 0; i < 20; i++)
		draw();
	s->bps = gbits[(int)(draw() * 5)] * 1e9;
	s->wire = draw() < 0.7 ? 1538 : 9038;
	s->base_ns = fmax(6000 * pow(1000 / 6., draw()), 3 * s->wire * 8e9 / s->bps);
	s->flows = flows[(int)(draw() * 7)];
	s->what = "ljc"[(int)(draw() * 3)];
	for (i = 0; i < s->flows; i++) {
		s->weight[i][0] = draw_weight();
		s->weight[i][1] = s->what == 'c' ? draw_weight() : s->weight[i][0];
		s->stays[i] = draw() < 0.5;
	}
	/* one that stays, one that does not */
	s->stays[0] = true;
	s->stays[s->flows - 1] = false;
}

/* Is flow @i there in phase @p? */
static bool is_there(const struct setup *s, int i, int p)
{
	return s->stays[i] || s->what == 'c' || (s->what == 'l') == !p;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Until phase @p counts, and for how long it does, ns. */
static void times(const struct setup *s, const struct sz_par *par, int p,
		  double *settle_ns, double *window_ns)
{
	double weight[SPACE_FLOWS], sum = 0, rtt_ns, gap_ns;
	int i, n = 0;

	for (i = 0; i < s->flows; i++)
		if (is_there(s, i, p)) {
			weight[n] = s->weight[i][s->stays[i] ? 0 : p];
			sum += weight[n++];
		}
	qsort(weight, n, sizeof(*weight), by_size);
	gap_ns = s->wire * 8e9 / s->bps * sum / weight[(n - 1) / 2];
	rtt_ns = s->base_ns + fmax(0, par->k_ns + par->q_ns * log(sum / 1000));
	*settle_ns = fmax(1e6, 40 * fmax(rtt_ns, gap_ns));
	*window_ns = fmax(2e6, fmax(40 * rtt_ns, 100 * gap_ns));
}

static bool measure(struct sn *n, double settle_ns, double window_ns, struct phase *ph)
{
	double begin_ns = n->net.now_ns + settle_ns, error[SPACE_FLOWS], rate;
	int i, flows = 0;

	sn_run(n, begin_ns);
	sn_clear(n);
	sn_run(n, begin_ns + window_ns);
	sn_fill(n, NULL);
	ph->sum = 0;
	for (i = 0; i < n->net.flows; i++) {
		if (!n->net.flow[i].alive)
			continue;
		rate = n->net.flow[i].bytes * 8e9 / window_ns;
		error[flows++] = fabs(rate / n->flow[i].ideal - 1);
		ph->sum += fabs(rate - n->flow[i].ideal) / n->net.link[0].bps;
	}
	qsort(error, flows, sizeof(*error), by_size);
	ph->median = error[flows / 2];
	ph->used = n->net.link[0].busy_ns / window_ns;
	return ph->median <= SPACE_PART && ph->sum <= SPACE_PART && ph->used >= SPACE_USED;
}

static void change(struct sn *n, const struct setup *s)
{
	int i;

	for (i = 0; i < s->flows; i++) {
		double at_ns = n->net.now_ns;

		if (s->stays[i])
			continue;
		at_ns += s->what == 'j' ? 20000 * sn_random(n) : 0;
		pn_at(&n->net, at_ns, i, s->what == 'l' ? PN_STOP :
		      s->what == 'j' ? PN_START : SN_WEIGHT, s->weight[i][1]);
	}
}

static bool run(u32 seed)
{
	static const int path[] = { 0, -1 };
	double settle_ns, window_ns;
	struct setup s = { 0 };
	struct sz_conf cf = { 0 };
	struct phase ph[2];
	bool good = true;
	struct sn n;
	int i, p;

	draw_setup(&s, seed);
	cf.line_bps = s.bps;
	cf.wire_bytes = s.wire;
	sn_init(&n, &cf, 1, s.flows, 0, seed);
	for (i = 0; i < s.flows; i++)
		sn_add(&n, i, path, s.base_ns - s.wire * 8e9 / s.bps, s.weight[i][0],
		       is_there(&s, i, 0) ? 20000 * sn_random(&n) : INFINITY);
	for (p = 0; p < 2; p++) {
		times(&s, &n.par, p, &settle_ns, &window_ns);
		if (p)
			change(&n, &s);
		good &= measure(&n, settle_ns, window_ns, &ph[p]);
	}
	if (!good)
		printf("# seed %u: %.0f Gbit/s, %.0f us, %u bytes, %d flows (%c): median off by %.3f %.3f, sum %.3f %.3f, used %.3f %.3f\n",
		       seed, s.bps / 1e9, s.base_ns / 1e3, s.wire, s.flows, s.what,
		       ph[0].median, ph[1].median, ph[0].sum, ph[1].sum, ph[0].used,
		       ph[1].used);
	sn_free(&n);
	return good;
}

int main(int argc, char **argv)
{
	u32 first = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : 100;
	u32 least = argc > 3 ? atoi(argv[3]) : 0, good = 0, i;

	for (i = 0; i < count; i++)
		good += run(first + i);
	printf("# good: %u of %u, wanted %u\n", good, count, least);
	return good < least;
}
