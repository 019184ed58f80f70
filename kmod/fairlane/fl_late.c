// SPDX-License-Identifier: GPL-2.0
/*
 * Receivers that acknowledge late, for controls that go by the delay.
 *
 * A receiver whose application reads late keeps the ACKs of all that has come, and so does one with
 * a single packet: that is no queue, but the delay alone does not tell. ACKs that wait end with the
 * newest packet that has come, so the path takes no less than the time that the next one is on its
 * way already. Where that is below the target the delay is not believed. The flow sends a byte that
 * the receiver has already, upon which Linux acknowledges the next packets at once
 * (tcp_enter_quickack_mode()): these tell the truth.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "fairlane/fairlane.h"
#include "fairlane/fl_late.h"
#include "fairlane/fl_segment.h"

/**
 * fl_late_asks() - an ACK tells a delay above the target: may it be the receiver's?
 * @sk: the socket; caller holds its lock
 * @delay_ns: the delay, ns
 * @target_ns: what the flow steers to, ns
 *
 * Return: FL_LATE_ASK, or FL_LATE_NOT.
 */
u8 fl_late_asks(struct sock *sk, u32 delay_ns, u32 target_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct sk_buff *next;

	next = list_first_entry_or_null(&tp->tsorted_sent_queue, struct sk_buff,
					tcp_tsorted_anchor);
	if ((next && tp->tcp_clock_cache >= next->skb_mstamp_ns +
	     min(target_ns, delay_ns - (delay_ns >> FL_LATE_PART_SHIFT))) ||
	    !fl_segment_answered(sk))
		return FL_LATE_NOT;
	return FL_LATE_ASK;
}
EXPORT_SYMBOL_GPL(fl_late_asks);

/**
 * fl_late_sends() - a flow is about to send
 * @sk: the socket; caller holds its lock
 * @late: what is known of its delays
 *
 * The answer to the byte is a D-SACK, of which the stack must not think that the network doubles
 * packets (prioplus/pp_probe.c).
 *
 * Return: what is known then.
 */
u8 fl_late_sends(struct sock *sk, u8 late)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (late != FL_LATE_ASK || !fl_segment_may_ask(sk))
		return late;
	tp->dsack_dups = max_t(u32, tp->dsack_dups, tp->total_retrans);
	local_bh_disable();
	fl_segment_ask(sk, tp->snd_una - 1, fl_tcp_tsval(tp));
	local_bh_enable();
	return FL_LATE_PROMPT;
}
EXPORT_SYMBOL_GPL(fl_late_sends);
