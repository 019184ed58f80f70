/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segments that a module builds and sends beside the stack, which does not count them:
 * probes of PrioPlus, copies of FlexPass.
 */
#ifndef FL_SEGMENT_H
#define FL_SEGMENT_H

#include <linux/types.h>

struct sk_buff;
struct sock;

void fl_segment_send(struct sock *sk, struct sk_buff *skb, u32 seq, u8 flags,
		     u32 tsval);

#endif /* FL_SEGMENT_H */
