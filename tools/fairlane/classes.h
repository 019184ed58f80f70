/* SPDX-License-Identifier: GPL-2.0 */
/* Flows by class: who waits for whom. */
#ifndef FAIRLANE_CLASSES_H
#define FAIRLANE_CLASSES_H

#include "tool.h"

/**
 * struct class - flows of one priority that the same policy, or none, gave it
 * @prio: the priority
 * @policy: order of the policy; 0: none
 * @name: the policy's comment, or ""
 * @flows: how many
 * @sending: of these, how many send
 * @waiting: stopped, with data
 * @starving: with data, and nothing sent for half a second
 * @for_prio: bits of the priorities that the waiting ones see sending to where they send
 * @for_others: waiting ones that see none: flows of other hosts are in the way, or nobody
 * @tx_bps: acknowledged by the peers since the last look
 */
struct class {
	uint32_t prio;
	uint32_t policy;
	char name[FL_COMMENT_LEN];
	unsigned int flows;
	unsigned int sending;
	unsigned int waiting;
	unsigned int starving;
	uint16_t for_prio;
	unsigned int for_others;
	double tx_bps;
};

/**
 * struct classes - all of them, the highest priority first
 * @c: the classes
 * @n: how many
 */
struct classes {
	struct class *c;
	size_t n;
};

bool flow_starves(const struct fairlane_flow *f);
void classes_of(struct classes *list, const struct flows *now,
		const struct flows *before);
void classes_free(struct classes *list);
const char *class_waits(const struct class *c);
cJSON *classes_json(const struct classes *list);
void classes_print(const struct classes *list, const char *end);

/* policy.c: comments of the policies, for names */
void policy_comment(uint32_t order, char *name, size_t size);

#endif
