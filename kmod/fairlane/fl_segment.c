// SPDX-License-Identifier: GPL-2.0
/* Segments beside the stack, see fl_segment.h. */
#include <net/tcp.h>

#include "compat/compat.h"
#include "fairlane/fl_segment.h"

/* Header and options. Context: socket lock held. */
static void fl_segment_header(const struct sock *sk, struct sk_buff *skb, u32 seq,
			      u8 flags, u32 tsval)
{
	const struct inet_sock *inet = inet_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 opt_bytes = tp->rx_opt.tstamp_ok ? TCPOLEN_TSTAMP_ALIGNED : 0;
	struct tcphdr *th = skb_push(skb, sizeof(*th) + opt_bytes);
	__be32 *opt = (__be32 *)(th + 1);

	memset(th, 0, sizeof(*th));
	skb_reset_transport_header(skb);
	th->source = inet->inet_sport;
	th->dest = inet->inet_dport;
	th->seq = htonl(seq);
	th->ack_seq = htonl(tp->rcv_nxt);
	th->doff = (sizeof(*th) + opt_bytes) / 4;
	tcp_flag_byte(th) = flags;
	th->window = htons(min_t(u32, tcp_receive_window(tp) >>
				 tp->rx_opt.rcv_wscale, U16_MAX));
	if (!opt_bytes)
		return;
	opt[0] = htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) |
		       (TCPOPT_TIMESTAMP << 8) | TCPOLEN_TIMESTAMP);
	opt[1] = htonl(tsval + tp->tsoffset);
	opt[2] = htonl(tp->rx_opt.ts_recent);
}

/**
 * fl_segment_send() - send a segment that the stack does not count
 * @sk: its connection, established; caller holds the socket lock, BH off
 * @skb: the data alone, after room for MAX_TCP_HEADER bytes, on no list and without
 *	destructor; given away. GSO fields are the caller's
 * @seq: of its first byte
 * @flags: TCPHDR_ACK and others
 * @tsval: its time stamp, without the connection's offset, if there are time stamps
 */
void fl_segment_send(struct sock *sk, struct sk_buff *skb, u32 seq, u8 flags,
		     u32 tsval)
{
	skb->ip_summed = CHECKSUM_PARTIAL;
	fl_segment_header(sk, skb, seq, flags, tsval);
	skb_set_owner_w(skb, sk);
	skb_set_hash_from_sk(skb, sk);
	fl_tcp_send_check(sk, skb);
	memset(skb->cb, 0, sizeof(skb->cb));
	inet_csk(sk)->icsk_af_ops->queue_xmit(sk, skb, &inet_sk(sk)->cork.fl);
}
EXPORT_SYMBOL_GPL(fl_segment_send);
