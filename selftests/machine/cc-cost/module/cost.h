/* SPDX-License-Identifier: GPL-2.0 */
/* cc_cost.ko inside: what is counted, see cost_main.c. */
#ifndef CC_COST_H
#define CC_COST_H

#include <net/sock.h>

enum cost_what {
	COST_CONTROL,		/* cong_control */
	COST_AVOID,		/* cong_avoid */
	COST_ACK_EVENT,		/* in_ack_event */
	COST_ACKED,		/* pkts_acked */
	COST_EVENT,		/* cwnd_event */
	COST_SSTHRESH,
	COST_SEGS,		/* min_tso_segs */
	COST_STATE,		/* set_state */
	COST_OUT_DATA,		/* hook on the way out, packet with data, */
	COST_OUT_ACK,		/* and without */
	COST_OUT_PLAIN,		/* of a connection of the other role, or none */
	COST_IN_DATA,
	COST_IN_ACK,
	COST_LOOKUP,		/* what TCP needs to find the connection */
	COST_TIMER,
	COST_RTO,
	COST_WHATS,
};

enum cost_role {
	COST_SENDER,
	COST_RECEIVER,
	COST_NOBODY,
	COST_ROLES,
};

/**
 * struct cost_sum - what was counted of one kind
 * @calls: how often
 * @cycles: in all
 * @packets: on the line, of what hooks have seen: a call may be for many
 */
struct cost_sum {
	u64 calls;
	u64 cycles;
	u64 packets;
};

/**
 * struct cost_span - something that is being counted
 * @flags: interrupts
 * @inner: what was counted inside of the one around it
 * @from: when it began
 */
struct cost_span {
	unsigned long flags;
	u64 inner;
	u64 from;
};

extern struct cost_sum cost_sums[COST_ROLES][COST_WHATS];

void cost_begin(struct cost_span *span);
void cost_end(struct cost_span *span, enum cost_role role, enum cost_what what);
enum cost_role cost_role_of(const struct sock *sk);
bool cost_is_of(const void *function, const char *module);

/* cost_timer.c */
int cost_timer_init(void);
void cost_timer_exit(void);

#endif /* CC_COST_H */
