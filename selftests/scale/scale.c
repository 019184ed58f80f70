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
	struct sz_conf cf = { .line_bps = LINE_BPS, .wire_bytes = SN_WIRE };
	static const int path[] = { 0, -1 };
	double settled_ns = 0, worst = 0;
	struct sz_par par;
	struct sn n;
	int i;

	sn_init(&n, flows, 1);
	if (sz_par_init(&par, &cf))
		abort();
	n.link[0].bps = LINE_BPS;
	for (i = 0; i < flows; i++)
		sn_add(&n, i, &par, path, BASE_NS, 1000 * (1 + i % 4),
		       sn_random(&n) * 2 * BASE_NS);
	for (i = 1; i <= bins; i++) {
		sn_run(&n, i * bin_ns);
		worst = sn_worst_rate_permille(&n);
		if (worst > 50)
			settled_ns = i * bin_ns;
	}
	printf("# %d flows: all within 5 %% after %.1f ms, at the end %.1f permille off, queue %.1f us\n",
	       flows, settled_ns / 1e6, worst,
	       n.link[0].delay_sum_ns / n.link[0].packets / 1e3);
	sn_free(&n);
	return settled_ns <= limit_ns && worst <= permille;
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

	printf("KTAP version 1\n1..%d\n", count);
	for (i = 0; i < count; i++) {
		bool ok = scale(runs[i].flows, runs[i].bin_ns, runs[i].bins,
				runs[i].limit_ns, runs[i].permille);

		printf("%s %d %d flows settle\n", ok ? "ok" : "not ok", i + 1,
		       runs[i].flows);
		fflush(stdout);
		failed |= !ok;
	}
	return failed;
}
