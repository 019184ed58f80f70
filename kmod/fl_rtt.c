// SPDX-License-Identifier: GPL-2.0
/*
 * Delay samples in nanoseconds.
 *
 * What a congestion control is given (rate_sample.rtt_us) is the difference
 * of two times cut to microseconds: wrong by up to 1 us each way, a quarter
 * of a 4 us channel. The stack keeps both times in ns: tcp_clock_cache when
 * the ACK came, skb_mstamp_ns when the packet left. But a packet is gone when
 * the callbacks run. So the times of the next packets in line are noted after
 * each ACK, and looked up by the sequence number that the next ACK reaches.
 *
 * With nothing noted (a window of one packet) and nothing left in flight, the
 * packet acknowledged is the last one sent, and tcp_wstamp_ns is its time,
 * unless pacing has moved that ahead. Else the stack's microseconds serve.
 */
#include <linux/module.h>

#include "fairlane.h"

/* Delays from here on are all the same: the longest, us. 2^32 ns are 4.29 s. */
#define FL_RTT_MAX_US	4000000

/**
 * fl_rtt_sample() - RTT of the newest data that this ACK acknowledges
 * @sk: the socket
 * @r: what fl_rtt_remember() noted after the last ACK
 * @rs: the rate sample of this ACK
 *
 * Context: cong_control, socket lock held.
 * Return: ns; 0 if the ACK tells nothing (retransmitted data, nothing new).
 */
u32 fl_rtt_sample(struct sock *sk, const struct fl_rtt *r,
		  const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 now_ns = tp->tcp_clock_cache;
	u32 i;

	if (rs->rtt_us < 0 || !rs->acked_sacked)
		return 0;
	if (rs->rtt_us >= FL_RTT_MAX_US)
		return U32_MAX;
	for (i = r->count; i--; )
		if (r->end_seq[i] == tp->snd_una)
			return (u32)now_ns - r->sent_ns[i];
	if (!tp->packets_out && READ_ONCE(sk->sk_pacing_rate) == ~0UL &&
	    tp->tcp_wstamp_ns < now_ns)
		return min_t(u64, now_ns - tp->tcp_wstamp_ns, U32_MAX);
	return min_t(u64, (u64)rs->rtt_us * NSEC_PER_USEC, U32_MAX);
}
EXPORT_SYMBOL_GPL(fl_rtt_sample);

/**
 * fl_rtt_remember() - note when the packets next in line were sent
 * @sk: the socket
 * @r: where to note it
 *
 * RACK's list has what is in flight by time of sending, which is their order but
 * for packets that were sent again. Those are left out: an ACK of them tells
 * nothing. Context: end of cong_control, socket lock held.
 */
void fl_rtt_remember(struct sock *sk, struct fl_rtt *r)
{
	struct sk_buff *skb;
	u32 n = 0;

	list_for_each_entry(skb, &tcp_sk(sk)->tsorted_sent_queue,
			    tcp_tsorted_anchor) {
		if (TCP_SKB_CB(skb)->sacked & TCPCB_EVER_RETRANS)
			continue;
		r->end_seq[n] = TCP_SKB_CB(skb)->end_seq;
		r->sent_ns[n] = skb->skb_mstamp_ns;
		if (++n == FL_RTT_AHEAD)
			break;
	}
	r->count = n;
}
EXPORT_SYMBOL_GPL(fl_rtt_remember);
