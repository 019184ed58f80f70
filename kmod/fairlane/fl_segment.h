/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segments that a module builds and sends beside the stack, which does not count them:
 * probes of PrioPlus, copies of FlexPass, questions to receivers that read late.
 */
#ifndef FL_SEGMENT_H
#define FL_SEGMENT_H

#include <linux/types.h>
#include <net/tcp.h>

/* What is known of the delays of a flow that goes by them: they are the network's; so many more
 * ACKs are prompt, since the receiver was asked; the last delay may be the receiver's, who is to be
 * asked. Linux sends sixteen ACKs at once, of which the answer is one (TCP_MAX_QUICKACKS).
 */
#define FL_LATE_NOT	0
#define FL_LATE_PROMPT	15
#define FL_LATE_ASK	16
#define FL_LATE_BITS	5
/* A delay that is more by less than this part of it is not doubted, log2. */
#define FL_LATE_PART_SHIFT	3

void fl_segment_send(struct sock *sk, struct sk_buff *skb, u32 seq, u8 flags,
		     u32 tsval);
bool fl_segment_answered(const struct sock *sk);
bool fl_segment_may_ask(const struct sock *sk);
bool fl_segment_ask(struct sock *sk, u32 seq, u32 tsval);
void fl_smaller_path(struct sock *sk);
u8 fl_late_sends(struct sock *sk, u8 late);

/**
 * fl_late_next() - an ACK tells a delay
 * @sk: the socket; caller holds its lock
 * @late: what was known before
 * @delay_ns: the delay, ns
 * @target_ns: what the flow steers to, ns
 * @fresh: it is that of a packet which was sent after the receiver was asked
 *
 * A receiver whose application reads late keeps the ACKs of all that has come, and so does one with
 * a single packet: that is no queue, but the delay alone does not tell. ACKs that wait end with the
 * newest packet that has come, so the path takes no less than the time that the next one is on its
 * way already. Where that is below the target the delay is not believed. The flow sends a byte that
 * the receiver has already, upon which Linux acknowledges the next packets at once
 * (tcp_enter_quickack_mode()): these tell the truth.
 *
 * Return: what is known now. With FL_LATE_ASK the delay is not to be believed.
 */
static inline u8 fl_late_next(struct sock *sk, u8 late, u32 delay_ns, u32 target_ns, bool fresh)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct sk_buff *next;

	if (delay_ns < target_ns)
		return FL_LATE_NOT;
	if (late)
		return late - fresh;
	next = list_first_entry_or_null(&tp->tsorted_sent_queue, struct sk_buff,
					tcp_tsorted_anchor);
	if ((next && tp->tcp_clock_cache >= next->skb_mstamp_ns +
	     min(target_ns, delay_ns - (delay_ns >> FL_LATE_PART_SHIFT))) ||
	    !fl_segment_answered(sk))
		return FL_LATE_NOT;
	return FL_LATE_ASK;
}

#endif /* FL_SEGMENT_H */
