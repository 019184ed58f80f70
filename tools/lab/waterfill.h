/* SPDX-License-Identifier: GPL-2.0 */
/* Weighted max-min shares by water filling: what a solver that knows all flows
 * and links says. The lab's measure max_min, the figures' simulation and the
 * unit tests use it; it knows none of them.
 */
#ifndef LAB_WATERFILL_H
#define LAB_WATERFILL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct wf_net - flows and the links they cross
 * @links: how many links
 * @flows: how many flows
 * @capacity: of each link, any unit, above 0
 * @weight: of each flow, above 0
 * @first: where a flow's links begin in @hop; @flows + 1 entries
 * @hop: numbers of links; a flow crosses each of its links once, one at least
 */
struct wf_net {
	uint32_t links, flows;
	const double *capacity;
	const double *weight;
	const uint32_t *first;
	const uint32_t *hop;
};

/**
 * struct wf_cost - what solving took, counted
 * @rounds: links that were found full, one after the other
 * @visits: times that a flow's use of a link was looked at
 * @moves: steps of links in the heap that orders them
 */
struct wf_cost {
	uint64_t rounds, visits, moves;
};

bool wf_solve(const struct wf_net *net, double *rate, struct wf_cost *cost);
double wf_check(const struct wf_net *net, const double *rate);

#endif
