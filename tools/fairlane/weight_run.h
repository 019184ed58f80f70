/* SPDX-License-Identifier: GPL-2.0 */
/* A run of fairlane weight: what its files know of flows, and do with them. */
#ifndef FAIRLANE_WEIGHT_RUN_H
#define FAIRLANE_WEIGHT_RUN_H

#include "weight.h"
#include "weight_jobs.h"

#include <time.h>

/* Where flows are looked for. */
struct place {
	char *name;
	int fd;			/* of the network namespace, -1: this one */
	struct fairlane *module;
};

/**
 * struct tracked - a flow over several looks
 * @place: index of the place, and
 * @id: name of the flow there
 * @entry: what it belongs to
 * @look: number of the look that saw it last
 * @acked_bytes: delivered by then
 * @left_bytes: still to deliver
 * @rate: bytes a second
 * @active: it sends
 * @before_milli: its weight when it was seen first; FAIRLANE_UNSET: nobody set one
 * @weight_milli: its weight
 * @want_milli: the weight that it is to have
 * @changed: we have set its weight
 * @refused: the last error of a change, told once
 */
struct tracked {
	size_t place;
	struct fairlane_id id;
	const struct job_entry *entry;
	uint32_t look;
	uint64_t acked_bytes;
	uint64_t left_bytes;
	double rate;
	bool active;
	uint32_t before_milli;
	uint32_t weight_milli;
	uint32_t want_milli;
	bool changed;
	int refused;
};

/**
 * struct steering - all that a run of fairlane weight knows
 * @policy: how weights are chosen
 * @jobs: whose flows
 * @place: where they are
 * @places: how many places
 * @flow: all flows that were ever seen and still exist
 * @flows: how many
 * @sorted: so many of them are in order of place and cookie
 * @look: number of the present look
 * @now_ns: time of the present look
 * @passed_ns: since the one before; 0: it is the first
 * @interval_ns: between two looks
 * @for_ns: ends after that; 0: does not
 * @once: one look
 * @dry_run: changes nothing
 * @min: smallest weight
 * @max: largest weight
 * @sum: of a job that says none; 0: none
 * @by_size: shortest-first by size
 * @largest_bytes: given, or the largest that was seen
 * @largest_given: it is given
 * @refusals: changes that were refused
 */
struct steering {
	const struct weight_policy *policy;
	struct jobs jobs;
	struct place *place;
	size_t places;
	struct tracked *flow;
	size_t flows;
	size_t sorted;
	uint32_t look;
	uint64_t now_ns;
	uint64_t passed_ns;
	uint64_t interval_ns;
	uint64_t for_ns;
	bool once;
	bool dry_run;
	double min;
	double max;
	double sum;
	bool by_size;
	double largest_bytes;
	bool largest_given;
	uint64_t refusals;
};

/* weight_look.c: what the flows do */
uint64_t weight_clock_ns(clockid_t id);
void weight_enter(const struct place *p);
void weight_look(struct steering *s);

/* weight_set.c: what weights they get */
void weight_choose(struct steering *s);
void weight_apply(struct steering *s);
void weight_put_back(struct steering *s);

#endif
