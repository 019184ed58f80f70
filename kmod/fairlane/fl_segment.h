/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segments that a module builds and sends beside the stack, which does not count them:
 * probes of PrioPlus, copies of FlexPass, questions to receivers that read late.
 */
#ifndef FL_SEGMENT_H
#define FL_SEGMENT_H

#include <linux/types.h>
#include <net/tcp.h>

void fl_segment_send(struct sock *sk, struct sk_buff *skb, u32 seq, u8 flags,
		     u32 tsval);
bool fl_segment_answered(const struct sock *sk);
bool fl_segment_may_ask(const struct sock *sk);
bool fl_segment_ask(struct sock *sk, u32 seq, u32 tsval);

#endif /* FL_SEGMENT_H */
