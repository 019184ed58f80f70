// SPDX-License-Identifier: GPL-2.0
/* The arithmetic of fairlane noise: percentiles, and A of the paper's appendix D. */
#include "unit.h"

#include "../../../tools/fairlane/noisestat.c"

#define N	10000

static uint64_t delays[N];

TEST(percentiles_by_rank)
{
	struct noise_result r = { .delay_ns = delays, .n = N };
	struct noise_stats st;
	size_t i;

	/* 5000 .. 14999 in some order */
	for (i = 0; i < N; i++)
		delays[i] = 5000 + i * 7919 % N;
	noise_sort(&r, &st);
	CHECK_EQ(st.min_ns, 5000u);
	CHECK_EQ(st.max_ns, N - 1u);
	CHECK_EQ(st.mean_ns, (N - 1) / 2u);
	CHECK_EQ(noise_percentile(&r, 5000), N / 2 - 1u);
	CHECK_EQ(noise_percentile(&r, 9985), 9984u);
	CHECK_EQ(noise_percentile(&r, 10000), N - 1u);
	CHECK_EQ(noise_percentile(&r, 0), 0u);
	/* of one */
	r.n = 1;
	CHECK_EQ(noise_percentile(&r, 9985), 0u);
	CHECK_EQ(noise_percentile(&r, 5000), 0u);
}

TEST(fluctuation_of_the_paper)
{
	/* 3.2 us for 150 flows: 100 Gbit/s, W_AI 150 bytes */
	CHECK_EQ(noise_fluctuation(150, 150, 100000000000ULL, 0), 3240u);
	/* a decrease takes half of the target at most */
	CHECK_EQ(noise_fluctuation(150, 150, 100000000000ULL, 10000), 3240u);
	CHECK_EQ(noise_fluctuation(150, 150, 100000000000ULL, 1000), 2300u);
	CHECK_EQ(noise_fluctuation(1, 1, 1600000000000ULL, 0), 0u);
	CHECK_EQ(noise_fluctuation(100000, 1000000, 1000000, 0),
		 1440000000000000u);
}

UNIT_MAIN
