// SPDX-License-Identifier: GPL-2.0
/*
 * The option in packets of sockets that take part.
 *
 * Out: data of a sender is green if credit pays for it, red if not, and says so; the
 * colour is decided here, where the packet leaves, and nowhere else. ACKs, and what
 * a receiver sends back, are control packets; they tell a sender of red data what has
 * come of it. Everything is done in hooks that fairlane.ko has anyway
 * (fairlane/fl_option.c), which also has looked whether TCP would believe what comes.
 *
 * In: small packets end here. Data goes on to TCP.
 */
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "compat/compat.h"
#include "credit/credit.h"
#include "fairlane/fl_option.h"
#include "fairlane/fl_telemetry.h"
#include "lib/telemetry.h"

static void fl_credit_dsfield(struct sk_buff *skb, u8 pf, u8 dsfield)
{
	if (pf == NFPROTO_IPV4)
		ipv4_change_dsfield(ip_hdr(skb), 0, dsfield);
	else
		ipv6_change_dsfield(ipv6_hdr(skb), 0, dsfield);
}

/* SACK blocks are the last option, and the last of them the oldest news: they give way to
 * ours. Return: bytes of the TCP header that are left; too many if nothing can go.
 */
static int fl_credit_trim(struct sk_buff *skb, u8 pf, int ip_bytes,
			  int tcp_bytes, int need)
{
	u8 *opt = skb->data + ip_bytes + FL_TCP_MIN_BYTES;
	u8 *end = skb->data + ip_bytes + tcp_bytes;
	int cut = roundup(tcp_bytes + need - FL_TCP_MAX_BYTES,
			  TCPOLEN_SACK_PERBLOCK);

	while (opt + 2 <= end && *opt != TCPOPT_SACK) {
		if (*opt == TCPOPT_NOP)
			opt++;
		else if (*opt != TCPOPT_EOL && opt[1] >= 2)
			opt += opt[1];
		else
			return tcp_bytes;
	}
	if (opt + 2 > end || opt + opt[1] != end ||
	    opt[1] < TCPOLEN_SACK_BASE + TCPOLEN_SACK_PERBLOCK + cut)
		return tcp_bytes;
	opt[1] -= cut;
	memmove(skb->data + cut, skb->data, ip_bytes + tcp_bytes - cut);
	__skb_pull(skb, cut);
	fl_option_fix(skb, (struct tcphdr *)(skb->data + ip_bytes), pf, -cut);
	return tcp_bytes - cut;
}

/* Puts the option at the front. A sender's packets have room for it; those of a socket that only
 * gives credit have not, if they are full of data. Return: has it been put in?
 */
static bool fl_credit_insert(struct sk_buff *skb, const struct sock *sk, u8 pf, int ip_bytes,
			     const struct fl_credit_msg *m)
{
	int front = ip_bytes + FL_TCP_MIN_BYTES, bytes = fl_credit_bytes(m->type);
	int tcp_bytes = ((struct tcphdr *)(skb->data + ip_bytes))->doff * 4;
	u8 *from, *to;

	if (unlikely(skb_cow_head(skb, bytes)))
		return false;
	if (unlikely(tcp_bytes + bytes > FL_TCP_MAX_BYTES))
		tcp_bytes = fl_credit_trim(skb, pf, ip_bytes, tcp_bytes, bytes);
	if (unlikely(tcp_bytes + bytes > FL_TCP_MAX_BYTES ||
		     skb->len + bytes > U16_MAX ||
		     !fl_option_path_has_room(skb, sk, ip_bytes + tcp_bytes, bytes)))
		return false;
	from = skb->data;
	to = __skb_push(skb, bytes);
	memmove(to, from, front);
	fl_option_fix(skb, (struct tcphdr *)(to + ip_bytes), pf, bytes);
	fl_credit_write(to + front, m);
	return true;
}

/* Segments and bytes of data in a packet that leaves. */
static u32 fl_credit_data_segs(const struct sk_buff *skb, int hdr_bytes)
{
	if (skb->len <= hdr_bytes)
		return 0;
	return skb_is_gso(skb) ? max_t(u32, skb_shinfo(skb)->gso_segs, 1) : 1;
}

/* Data of a sender: its colour. Without the socket's lock (NFQUEUE) what is counted here may be
 * wrong by a packet; credit/core/gate.c holds for that. Context: as fl_credit_out().
 */
static u8 fl_credit_colour(struct fl_sender *s, struct sock *sk, u32 segs,
			   u32 seq, u32 bytes, struct fl_credit_msg *m)
{
	/* pairs with fl_sender_credit() */
	u32 in = smp_load_acquire(&s->gate.in), left_segs, number;

	fl_sender_leaves(s, seq);
	/* a copy says nothing of the red segments after it: those may be lost as well */
	m->reds = (s->copying ? READ_ONCE(s->heard_reds) : s->red_segs) &
		  FL_CREDIT_REDS_MASK;
	if (fl_gate_take(&s->gate, in, segs, &number)) {
		m->type = FL_CREDIT_GREEN;
		m->part = s->ops->part;
		m->number = number;
		left_segs = fl_sender_backlog_after(sk, seq, bytes, segs);
		if (!left_segs)
			fl_gate_told_nothing(&s->gate, ktime_get_ns());
		left_segs = fl_sender_tells(s, left_segs);
		if (unlikely(s->copying)) {
			s->copy_segs -= min(s->copy_segs, segs);
			left_segs = max(left_segs, s->copy_segs);
		}
		fl_gate_tell(&s->gate, left_segs, m);
		return FL_CREDIT_DSCP_GREEN;
	}
	fl_sender_red(s, seq, bytes, segs);
	m->type = FL_CREDIT_RED;
	m->reds = s->red_segs & FL_CREDIT_REDS_MASK;
	return FL_CREDIT_DSCP_RED;
}

/**
 * fl_credit_out() - a packet leaves while somebody takes part
 * @skb: the packet, of a TCP socket
 * @sk: the socket
 * @state: of the hook
 * @ip_bytes: its IP header; 0 = TCP does not follow at once
 *
 * Context: LOCAL_OUT, RCU. Whoever sends holds the socket's lock, but for small packets and time
 * wait. A packet that a program held back (NFQUEUE) leaves in that program's context, without the
 * lock and with BH on, while others of the socket may leave.
 */
void fl_credit_out(struct sk_buff *skb, struct sock *sk,
		   const struct nf_hook_state *state, int ip_bytes)
{
	const struct fl_credit_settings *settings;
	struct fl_credit_node *sends, *gives;
	struct fl_credit_msg m = {};
	u8 colour = FL_CREDIT_DSCP_CONTROL;
	struct fl_receiver *r = NULL;
	struct tcphdr *th;
	bool ecn = false;
	int hdr_bytes;
	u32 segs;

	if (!ip_bytes || skb->ip_summed != CHECKSUM_PARTIAL || fl_tel_signed(sk))
		return;
	sends = fl_credit_find(sk, FL_CREDIT_SENDS);
	gives = fl_credit_find(sk, FL_CREDIT_RECEIVES);
	if (!sends && !gives)
		return;
	th = (struct tcphdr *)(skb->data + ip_bytes);
	if (tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_RST))
		return;
	/* a small packet of our own */
	if (th->doff * 4 >= FL_CREDIT_AT_BYTES + FL_CREDIT_SHORT_BYTES &&
	    fl_credit_is(get_unaligned_be32(th + 1)))
		return;
	hdr_bytes = ip_bytes + th->doff * 4;
	segs = fl_credit_data_segs(skb, hdr_bytes);
	if (segs && sends) {
		colour = fl_credit_colour(fl_sender_of(sends), sk, segs,
					  ntohl(th->seq), skb->len - hdr_bytes, &m);
		ecn = m.type == FL_CREDIT_RED || fl_sender_of(sends)->ops->ecn;
	} else if (gives) {
		r = fl_receiver_of(gives);
		if (READ_ONCE(r->tell)) {
			m.type = FL_CREDIT_SEEN;
			m.reds = READ_ONCE(r->reds);
			m.marks = READ_ONCE(r->marks);
		}
	}
	if (m.type && !fl_credit_insert(skb, sk, state->pf, ip_bytes, &m))
		fl_credit_note(state->net, FL_CREDIT_N_NO_ROOM, 1);
	else if (m.type == FL_CREDIT_SEEN)
		WRITE_ONCE(r->tell, READ_ONCE(r->tell) - 1);
	/* The data of a socket that only gives credit is not ours to mark. Nor are its ACKs while
	 * that is on its way: the peer drops data that they overtook by a window of its own data
	 * or more.
	 */
	if (!sends && (segs || READ_ONCE(tcp_sk(sk)->packets_out)))
		return;
	settings = fl_credit_of(state->net);
	fl_credit_dsfield(skb, state->pf, (READ_ONCE(settings->credit_dscp) + colour) << 2 |
			  (ecn ? INET_ECN_ECT_0 : 0));
}

/* What a small packet or data with the option does to its socket. */
static void fl_credit_take(struct sock *sk, const struct sk_buff *skb,
			   const struct nf_hook_state *state,
			   const struct fl_credit_msg *m)
{
	u8 dsfield = state->pf == NFPROTO_IPV4 ?
		     ipv4_get_dsfield(ip_hdr(skb)) :
		     ipv6_get_dsfield(ipv6_hdr(skb));

	switch (m->type) {
	case FL_CREDIT_REQUEST:
		fl_receiver_request(sk, m);
		break;
	case FL_CREDIT_GRANT:
	case FL_CREDIT_CREDIT:
		fl_sender_credit(sk, m);
		break;
	case FL_CREDIT_GREEN:
		fl_receiver_green(sk, m, fl_credit_data_segs(skb, 0),
				  INET_ECN_is_ce(dsfield));
		break;
	case FL_CREDIT_RED:
		fl_receiver_red(sk, m, fl_credit_data_segs(skb, 0),
				INET_ECN_is_ce(dsfield));
		break;
	case FL_CREDIT_SEEN:
		fl_sender_seen(sk, m);
		break;
	}
}

/**
 * fl_credit_in() - a packet has come whose first option is ours
 * @skb: the packet; headers are linear, its checksum is right
 * @sk: its socket, a connection
 * @state: of the hook
 * @ip_bytes: its IP header
 * @believed: the packet's numbers are within the window
 *
 * Context: LOCAL_IN, RCU, BH off. Return: NF_ACCEPT, or NF_STOLEN: the packet is gone.
 */
unsigned int fl_credit_in(struct sk_buff *skb, struct sock *sk,
			  const struct nf_hook_state *state, int ip_bytes,
			  bool believed)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + ip_bytes);
	bool data = skb->len > ip_bytes + th->doff * 4;
	struct fl_credit_msg m;
	bool small;

	if (!believed) {
		fl_credit_note(state->net, FL_CREDIT_N_STRAY, 1);
		return NF_ACCEPT;
	}
	if (!fl_credit_read((const u8 *)(th + 1),
			    th->doff * 4 - FL_CREDIT_AT_BYTES, &m))
		goto bad;
	small = m.type == FL_CREDIT_REQUEST || m.type == FL_CREDIT_GRANT ||
		m.type == FL_CREDIT_CREDIT;
	if (data == small && m.type != FL_CREDIT_SEEN)
		goto bad;
	fl_credit_take(sk, skb, state, &m);
	if (!small)
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;

bad:
	fl_credit_note(state->net, FL_CREDIT_N_BAD, 1);
	return NF_ACCEPT;
}
