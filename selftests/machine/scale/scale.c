// SPDX-License-Identifier: GPL-2.0
/*
 * Söze with many flows (Figure 19 in shape): how long until every flow has its
 * share, against a water-filling solver, in the network of the unit tests. KTAP.
 *
 * Not with sanitizers, as the unit tests are: this is about millions of packets.
 */
#include <stdio.h>

#include "soze_net.h"

#define BASE_NS		10000
#define LINE_BPS	100e9

/* Flows that start within two RTTs, weights 1 to 4. Return: no target missed. */
static bool scale(int flows, double bin_ns, int bins, double limit_ns,
		  double permille)
{
	struct sz_conf cf = { .line_bps = LINE_BPS, .wire_bytes = PN_WIRE };
	static const int path[] = { 0, -1 };
	double settled_ns = 0, worst = 0;
	struct sn n;
	int i;

	sn_init(&n, &cf, 1, flows, 0, 1);
	for (i = 0; i < flows; i++)
		sn_add(&n, i, path, BASE_NS, 1000 * (1 + i % 4),
		       sn_random(&n) * 2 * BASE_NS);
	for (i = 1; i <= bins; i++) {
		sn_run(&n, i * bin_ns);
		worst = sn_worst_rate_permille(&n);
		if (worst > 50)
			settled_ns = i * bin_ns;
	}
	printf("# %d flows: all within 5 %% after %.1f ms, at the end %.1f permille off, queue %.1f us\n",
	       flows, settled_ns / 1e6, worst,
	       n.net.link[0].delay_sum_ns / n.net.link[0].packets / 1e3);
	sn_free(&n);
	return settled_ns <= limit_ns && worst <= permille;
}

/* One setting, all derived from the line, everywhere. Bounds are the project's 20
 * permille but where that is missed: "known" is what it is there.
 */
static const struct anywhere {
	int flows;
	double gbit, base_us, warm_ms, measured_ms, known;
} everywhere[] = {
	/* two flows: a packet's time is a quarter of q; without (11) they lock */
	{ 2, 1, 5, 100, 100, 0 },
	{ 10, 1, 5, 400, 200, 0 },
	{ 100, 1, 5, 1000, 500, 0 },
	/* a packet in 30 ms for weight 1, beside queues of as many packets */
	{ 1000, 1, 5, 20000, 10000, 300 },
	{ 2, 1, 5000, 12000, 2000, 0 },
	{ 10, 1, 5000, 8000, 2000, 0 },
	{ 100, 1, 5000, 8000, 2000, 0 },
	{ 2, 10, 5, 50, 10, 0 },
	{ 300, 10, 20, 1000, 200, 0 },
	{ 2, 25, 5, 5, 5, 0 },
	{ 10, 25, 5, 10, 10, 0 },
	{ 100, 25, 5, 60, 30, 0 },
	{ 1000, 25, 5, 1200, 600, 0 },
	{ 1000, 25, 100, 1200, 600, 0 },
	{ 10, 25, 1000, 800, 200, 0 },
	{ 100, 25, 1000, 800, 200, 0 },
	{ 1000, 100, 100, 150, 50, 0 },
	{ 2, 400, 5, 2, 1, 0 },
	{ 10, 400, 5, 4, 2, 0 },
	{ 100, 400, 5, 10, 10, 0 },
	{ 1000, 400, 5, 60, 30, 0 },
	{ 10000, 400, 10, 600, 200, 0 },
	{ 10, 400, 200, 200, 20, 0 },
	{ 2, 100, 1000, 800, 100, 0 },
	{ 10, 100, 1000, 1000, 100, 0 },
};

static bool anywhere(const struct anywhere *at)
{
	struct sz_conf cf = { .line_bps = at->gbit * 1e9, .wire_bytes = PN_WIRE };
	static const int path[] = { 0, -1 };
	double permille, used;
	struct sn n;
	int i;

	sn_init(&n, &cf, 1, at->flows, 0, 1);
	for (i = 0; i < at->flows; i++)
		sn_add(&n, i, path, at->base_us * 1e3, 1000 * (1 + i % 4),
		       sn_random(&n) * 2e3 * at->base_us);
	sn_run(&n, at->warm_ms * 1e6);
	sn_clear(&n);
	sn_run(&n, (at->warm_ms + at->measured_ms) * 1e6);
	permille = sn_worst_permille(&n, at->warm_ms * 1e6);
	used = n.net.link[0].busy_ns / at->measured_ms / 1e6;
	printf("# %d flows, %.0f Gbit/s, %.0f us, after %.0f ms: %.1f permille%s, %.4f used, queue %.1f us\n",
	       at->flows, at->gbit, at->base_us, at->warm_ms, permille,
	       permille > 20 ? " (MISSED: 20)" : "", used,
	       n.net.link[0].delay_sum_ns / n.net.link[0].packets / 1e3);
	sn_free(&n);
	return permille <= fmax(at->known, 20) && used >= 0.999;
}

int main(void)
{
	static const struct {
		int flows;
		double bin_ns;
		int bins;
		double limit_ns, permille;
	} runs[] = {
		{ 2, 50e3, 100, 1e6, 5 },
		{ 10, 50e3, 100, 2e6, 5 },
		{ 100, 100e3, 100, 7e6, 5 },
		{ 1000, 1e6, 100, 50e6, 20 },
		{ 10000, 30e6, 100, 2400e6, 50 },
	};
	int failed = 0, count = sizeof(runs) / sizeof(*runs), i;
	int places = sizeof(everywhere) / sizeof(*everywhere);

	printf("KTAP version 1\n1..%d\n", count + places);
	for (i = 0; i < count; i++) {
		bool ok = scale(runs[i].flows, runs[i].bin_ns, runs[i].bins,
				runs[i].limit_ns, runs[i].permille);

		printf("%s %d %d flows settle\n", ok ? "ok" : "not ok", i + 1,
		       runs[i].flows);
		fflush(stdout);
		failed |= !ok;
	}
	for (i = 0; i < places; i++) {
		const struct anywhere *at = &everywhere[i];
		bool ok = anywhere(at);

		printf("%s %d %d flows, %.0f Gbit/s, %.0f us\n", ok ? "ok" : "not ok",
		       count + i + 1, at->flows, at->gbit, at->base_us);
		fflush(stdout);
		failed |= !ok;
	}
	return failed;
}
