// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of red data where there is credit and nothing else to send: FlexPass' proactive
 * retransmission (section 4.2). At the end of a message nothing comes after a
 * red segment that was lost, so that nobody would notice before TCP's timer does.
 *
 * TCP's queue does not know colours, and in the hook that decides a colour there is only a
 * clone of the packet. So the newest red packets are remembered by sequence numbers. What
 * is older is found lost by SACK when the copies arrive.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "credit/credit.h"
#include "fairlane/fl_segment.h"

/**
 * fl_sender_red() - a red packet leaves
 * @s: the sender
 * @seq: of its first byte
 * @bytes: of data
 * @segs: segments
 *
 * Context: as fl_credit_out(). Two at once may share an entry: a copy less is sent.
 */
void fl_sender_red(struct fl_sender *s, u32 seq, u32 bytes, u32 segs)
{
	s->red_segs += segs;
	s->red[s->reds++ % FL_SENDER_REDS] = (struct fl_red) {
		.seq = seq,
		.end = seq + bytes,
		.sent_ns = (u32)tcp_sk(s->node.sk)->tcp_clock_cache,
	};
}

/**
 * fl_sender_leaves() - a packet of data leaves, of whichever colour
 * @s: the sender
 * @seq: of its first byte
 *
 * What the own port has dropped TCP takes for not sent, and sends anew. It is neither lost nor
 * marked, so that a window would not hear of that queue. Context: as fl_credit_out().
 */
void fl_sender_leaves(struct fl_sender *s, u32 seq)
{
	if (s->reds && s->red[(s->reds - 1) % FL_SENDER_REDS].seq == seq &&
	    !before(seq, READ_ONCE(tcp_sk(s->node.sk)->snd_nxt)))
		s->own_drops++;
}

/* The packet of the retransmission queue with byte @seq in it, or NULL. */
static struct sk_buff *fl_copy_find(const struct sock *sk, u32 seq)
{
	struct rb_node *p = sk->tcp_rtx_queue.rb_node;
	struct sk_buff *skb;

	while (p) {
		skb = rb_to_skb(p);
		if (before(seq, TCP_SKB_CB(skb)->seq))
			p = p->rb_left;
		else if (!before(seq, TCP_SKB_CB(skb)->end_seq))
			p = p->rb_right;
		else
			return skb;
	}
	return NULL;
}

/* Has the packet been out for an RTT? Before that nobody can know of it, and nearly all have
 * come.
 */
static bool fl_copy_late(const struct tcp_sock *tp, const struct fl_red *red)
{
	return (u32)tp->tcp_clock_cache - red->sent_ns >=
	       (tp->srtt_us >> 3) * (u32)NSEC_PER_USEC;
}

/* The packet again, built beside the stack, which is not to count it. Its D-SACK must not
 * make the stack think that the network doubles packets (prioplus/pp_probe.c). Context:
 * socket lock held, BH off. Return: has it left?
 */
static bool fl_copy_send(struct sock *sk, struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 segs = tcp_skb_pcount(skb);
	struct sk_buff *c;

	tcp_skb_tsorted_save(skb) {
		c = __pskb_copy_fclone(skb, MAX_TCP_HEADER,
				       GFP_ATOMIC | __GFP_NOWARN, false);
	} tcp_skb_tsorted_restore(skb);
	if (!c)
		return false;
	INIT_LIST_HEAD(&c->tcp_tsorted_anchor);
	c->_skb_refdst = 0;
	c->destructor = NULL;
	c->dev = NULL;
	c->tstamp = 0;
	tp->dsack_dups = max_t(u32, tp->dsack_dups, tp->total_retrans);
	skb_shinfo(c)->gso_size = segs > 1 ? tcp_skb_mss(skb) : 0;
	skb_shinfo(c)->gso_segs = segs > 1 ? segs : 0;
	skb_shinfo(c)->gso_type = segs > 1 ? sk->sk_gso_type : 0;
	fl_segment_send(sk, c, cb->seq, TCPHDR_ACK | TCPHDR_PSH |
			(cb->tcp_flags & TCPHDR_FIN), fl_tcp_tsval(tp));
	return true;
}

/**
 * fl_sender_copy() - credit is left: send the oldest red packet again that may be lost
 * @s: the sender; caller holds the socket lock, BH off
 * @due_segs: what fl_sender_due() says
 *
 * Nothing that was acknowledged or sent again already, or left less than an RTT ago. Nothing
 * with acknowledged data after it either: that is lost, and the stack knows.
 *
 * Return: has a copy left?
 */
bool fl_sender_copy(struct fl_sender *s, u32 due_segs)
{
	struct sock *sk = s->node.sk;
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;
	bool sent = false;
	const struct fl_red *red;

	if (!s->ops->unsure || !s->ops->unsure(s))
		return false;
	if (s->reds - s->red_copied > FL_SENDER_REDS)
		s->red_copied = s->reds - FL_SENDER_REDS;
	while (s->red_copied != s->reds && !sent) {
		red = &s->red[s->red_copied % FL_SENDER_REDS];
		if (!fl_copy_late(tp, red))
			return false;
		s->red_copied++;
		if (!after(red->end, tp->snd_una))
			continue;
		skb = fl_copy_find(sk, after(red->seq, tp->snd_una) ? red->seq :
								      tp->snd_una);
		if (!skb || !skb->len || TCP_SKB_CB(skb)->sacked &
		    (TCPCB_SACKED_ACKED | TCPCB_LOST | TCPCB_RETRANS))
			continue;
		if (tp->sacked_out && before(TCP_SKB_CB(skb)->seq,
					     tcp_highest_sack_seq(tp)))
			continue;
		if (tcp_skb_pcount(skb) > due_segs)
			return false;
		s->copying = true;
		sent = fl_copy_send(sk, skb);
		s->copying = false;
	}
	return sent;
}
