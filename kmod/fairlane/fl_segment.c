// SPDX-License-Identifier: GPL-2.0
/* Segments beside the stack, see fl_segment.h. */
#include <net/tcp.h>

#include "compat/compat.h"
#include "fairlane/fairlane.h"
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

/**
 * fl_segment_answered() - does the peer answer a byte that it has got already?
 * @sk: the socket, in any state from the handshake on; caller holds its lock
 *
 * Options must not be signed: a module cannot sign them (TCP-MD5, TCP-AO).
 * MPTCP has a mapping for each byte. Without SACK there are no echoes. A socket whose
 * segments are to be looked at before they reach the device (kTLS in the device) sends
 * bytes that the device makes: such a byte would be dropped, or upset its state.
 */
bool fl_segment_answered(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

#ifdef CONFIG_TCP_MD5SIG
	if (rcu_access_pointer(tp->md5sig_info))
		return false;
#endif
#ifdef CONFIG_TCP_AO
	if (rcu_access_pointer(tp->ao_info))
		return false;
#endif
#ifdef CONFIG_SOCK_VALIDATE_XMIT
	if (READ_ONCE(sk->sk_validate_xmit_skb))
		return false;
#endif
	return tcp_is_sack(tp) && !sk_is_mptcp(sk);
}
EXPORT_SYMBOL_GPL(fl_segment_answered);

/**
 * fl_segment_may_ask() - may this socket send such a byte now?
 * @sk: the socket; caller holds its lock
 *
 * The peer must keep a connection to answer. An accepted socket begins in
 * SYN-RECV and may do so a moment later.
 */
bool fl_segment_may_ask(const struct sock *sk)
{
	return fl_net_stays(sk) &&
	       ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT |
				       TCPF_FIN_WAIT1 | TCPF_CLOSING |
				       TCPF_LAST_ACK)) &&
	       fl_segment_answered(sk);
}
EXPORT_SYMBOL_GPL(fl_segment_may_ask);

/**
 * fl_segment_ask() - send one
 * @sk: the socket, fl_segment_may_ask(); caller holds its lock
 * @seq: of the byte, before tp->snd_una
 * @tsval: its time stamp
 *
 * Return: has it left?
 */
bool fl_segment_ask(struct sock *sk, u32 seq, u32 tsval)
{
	struct sk_buff *skb;

	skb = alloc_skb(MAX_TCP_HEADER + 1, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return false;
	skb_reserve(skb, MAX_TCP_HEADER);
	skb_put_u8(skb, 0);
	fl_segment_send(sk, skb, seq, TCPHDR_ACK, tsval);
	return true;
}
EXPORT_SYMBOL_GPL(fl_segment_ask);
