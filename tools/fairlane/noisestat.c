// SPDX-License-Identifier: GPL-2.0
/* The arithmetic of fairlane noise. */
#include "noise.h"

#include <stdlib.h>

/* Swift's decrease, permille (PrioPlus, section 6). */
#define BETA_PERMILLE		800
#define MAX_MDF_PERMILLE	500

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the delays, at least one, and makes noise of them: what each is above the
 * smallest.
 */
void noise_sort(struct noise_result *r, struct noise_stats *st)
{
	uint64_t sum = 0;
	size_t i;

	qsort(r->delay_ns, r->n, sizeof(*r->delay_ns), by_value);
	st->min_ns = r->delay_ns[0];
	for (i = 0; i < r->n; i++) {
		r->delay_ns[i] -= st->min_ns;
		sum += r->delay_ns[i];
	}
	st->mean_ns = sum / r->n;
	st->max_ns = r->delay_ns[r->n - 1];
}

/* The smallest of the sorted noises that @per_myriad / 10000 of all do not exceed. */
uint64_t noise_percentile(const struct noise_result *r, uint32_t per_myriad)
{
	size_t rank = (r->n * (uint64_t)per_myriad + 9999) / 10000;

	return r->delay_ns[rank ? rank - 1 : 0];
}

/**
 * noise_fluctuation() - A of PrioPlus: how much Swift's delay moves
 * @flows: n, of one priority
 * @ai_bytes: W_AI on the line
 * @line_bps: line rate
 * @target_ns: target delay; 0 = as long as can be
 *
 * Appendix D: n W_AI / LineRate above the target; below it, a decrease by
 * min(beta n W_AI / (LineRate Target), max_mdf) of the target. The paper prints max
 * there, but max_mdf is the most that a decrease takes, and its own 3.2 us for 150
 * flows at 100 Gbit/s are 1.8 n W_AI / LineRate.
 *
 * Return: ns.
 */
uint64_t noise_fluctuation(uint64_t flows, uint64_t ai_bytes, uint64_t line_bps,
			   uint64_t target_ns)
{
	double above = flows * 8e9 * ai_bytes / line_bps;
	double below = above * BETA_PERMILLE / 1000;
	double most = target_ns * (MAX_MDF_PERMILLE / 1000.0);

	if (target_ns && below > most)
		below = most;
	return above + below + 0.5;
}
