/* SPDX-License-Identifier: GPL-2.0 */
/* Is a delay the network's or the receiver's? See fl_late.c. */
#ifndef FL_LATE_H
#define FL_LATE_H

#include <linux/types.h>
#include <net/sock.h>

/* What is known of the delays of a flow that goes by them: they are the network's; so many more
 * ACKs are prompt, since the receiver was asked; the last delay may be the receiver's, who is to be
 * asked. Linux sends sixteen ACKs at once, of which the answer is one (TCP_MAX_QUICKACKS).
 */
#define FL_LATE_NOT	0
#define FL_LATE_PROMPT	15
#define FL_LATE_ASK	16
/* A delay that is more by less than this part of it is not doubted, log2. */
#define FL_LATE_PART_SHIFT	3

u8 fl_late_sends(struct sock *sk, u8 late);
u8 fl_late_asks(struct sock *sk, u32 delay_ns, u32 target_ns);

/**
 * fl_late_next() - an ACK tells a delay
 * @sk: the socket; caller holds its lock
 * @late: what was known before
 * @delay_ns: the delay, ns
 * @target_ns: what the flow steers to, ns
 * @fresh: it is that of a packet which was sent after the receiver was asked
 *
 * Return: what is known now. With FL_LATE_ASK the delay is not to be believed.
 */
static inline u8 fl_late_next(struct sock *sk, u8 late, u32 delay_ns, u32 target_ns, bool fresh)
{
	if (delay_ns < target_ns)
		return FL_LATE_NOT;
	return late ? late - fresh : fl_late_asks(sk, delay_ns, target_ns);
}

#endif /* FL_LATE_H */
