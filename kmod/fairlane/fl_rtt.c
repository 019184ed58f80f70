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
 * unless pacing has moved that ahead or the last one was sent again: where the stack's
 * microseconds say another time, these serve.
 *
 * Of an ACK for data that was sent twice the stack takes the time that the peer echoes, whole ms:
 * 1 ms of an RTT of 1.8. As a smallest delay such a time would stay for good, so the ACK tells
 * nothing.
 */
#include <linux/module.h>

#include "fairlane.h"

/* Time since the last packet was sent, ns, if it may be what an ACK acknowledges; else 0. */
static u64 fl_rtt_lone_ns(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->packets_out || READ_ONCE(sk->sk_pacing_rate) != ~0UL ||
	    tp->tcp_wstamp_ns >= tp->tcp_clock_cache)
		return 0;
	return tp->tcp_clock_cache - tp->tcp_wstamp_ns;
}

/**
 * fl_rtt_most() - how long may an RTT have been?
 * @sk: the socket
 * @r: what fl_rtt_remember() noted after the last ACK
 * @rtt_ns: what fl_rtt_sample() has returned, ns, not 0
 *
 * Of the stack's microseconds there may be one too few, which a smallest delay would keep.
 * Context: as fl_rtt_coarse(). Return: ns.
 */
u32 fl_rtt_most(const struct sock *sk, const struct fl_rtt *r, u32 rtt_ns)
{
	u32 i;

	for (i = 0; i < r->count; i++)
		if (r->sent[i].end_seq == tcp_sk(sk)->snd_una)
			return rtt_ns;
	if (rtt_ns == fl_rtt_lone_ns(sk))
		return rtt_ns;
	return rtt_ns + min_t(u32, NSEC_PER_USEC, U32_MAX - rtt_ns);
}
EXPORT_SYMBOL_GPL(fl_rtt_most);

/**
 * fl_rtt_coarse() - RTT of the newest data that an ACK acknowledges, if nothing was
 *	noted of it
 * @sk: the socket
 * @rs: the rate sample of this ACK; has an RTT
 *
 * Context: cong_control, socket lock held. Return: ns; 0: it tells nothing.
 */
u32 fl_rtt_coarse(struct sock *sk, const struct rate_sample *rs)
{
	u64 lone_ns = fl_rtt_lone_ns(sk), ns = (u64)rs->rtt_us * NSEC_PER_USEC;

	if (rs->rtt_us >= FL_RTT_MAX_US)
		return U32_MAX;
	if (tcp_sk(sk)->total_retrans && !((u32)rs->rtt_us % USEC_PER_MSEC))
		return 0;
	/* of the same packet, then */
	if (lone_ns + NSEC_PER_USEC > ns && lone_ns < ns + NSEC_PER_USEC)
		ns = lone_ns;
	return min_t(u64, ns, U32_MAX);
}
EXPORT_SYMBOL_GPL(fl_rtt_coarse);
