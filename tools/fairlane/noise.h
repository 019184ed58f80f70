/* SPDX-License-Identifier: GPL-2.0 */
/* fairlane noise: what its files share. */
#ifndef FAIRLANE_NOISE_H
#define FAIRLANE_NOISE_H

#include "tool.h"

#include <endian.h>

/* Bytes of a message. */
#define NOISE_SIZE_MIN	24
#define NOISE_SIZE_MAX	65536

/**
 * struct noise_opts - how to measure
 * @count: messages
 * @interval_ns: from one to the next, at least
 * @size: bytes of each
 * @kernel_clock: by the kernel's time stamps, if it has them
 */
struct noise_opts {
	uint64_t count;
	uint64_t interval_ns;
	size_t size;
	bool kernel_clock;
};

/**
 * struct noise_result - what was measured
 * @delay_ns: delays, room for all
 * @n: how many
 * @discarded: messages without a delay: a clock was set, or a time stamp got lost
 * @kernel_clock: the delays are the kernel's
 * @told: the responder's own time is taken off
 */
struct noise_result {
	uint64_t *delay_ns;
	size_t n;
	uint64_t discarded;
	bool kernel_clock;
	bool told;
};

/**
 * struct noise_stats - the distribution above its smallest delay
 * @min_ns: smallest delay
 * @mean_ns: of the rest, as are all that follow
 * @max_ns: longest
 */
struct noise_stats {
	uint64_t min_ns;
	uint64_t mean_ns;
	uint64_t max_ns;
};

void noise_respond(int fd);
void noise_ping(int fd, const struct noise_opts *o, struct noise_result *r);

/* noisestat.c: numbers only */
void noise_sort(struct noise_result *r, struct noise_stats *st);
uint64_t noise_percentile(const struct noise_result *r, uint32_t per_myriad);
uint64_t noise_fluctuation(uint64_t flows, uint64_t ai_bytes, uint64_t line_bps,
			   uint64_t target_ns);

#endif
