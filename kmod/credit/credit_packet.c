// SPDX-License-Identifier: GPL-2.0
/*
 * Small packets: a TCP segment without data and with our option, on the way of the
 * connection itself, so that firewalls know it, NICs steer it and ECMP puts it
 * where the connection's other packets are. A host that does not know of credit takes
 * it for an ACK that says nothing new.
 *
 * A credit must leave while a process has the socket, too: so nothing here needs the
 * socket lock. The headers are built from numbers that are read once, and the
 * packet is given its route, so that the stack does not touch the socket's.
 */
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "compat/compat.h"
#include "credit/credit.h"

/* Is it IPv4 on the line, of a socket of either family? */
static bool fl_credit_is_four(const struct sock *sk)
{
	return inet_csk(sk)->icsk_af_ops->net_header_len == sizeof(struct iphdr);
}

/* What IPv6 wants to know to tell whether a route is still good. */
static u32 fl_credit_route_cookie(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (!fl_credit_is_four(sk))
		return READ_ONCE(inet6_sk(sk)->dst_cookie);
#endif
	return 0;
}

/* The time stamps of a connection: a request may be what ends the handshake, and with SYN cookies
 * all options of the connection are in the stamp that comes back.
 */
static void fl_credit_put_stamp(const struct tcp_sock *tp, u8 *at)
{
	put_unaligned_be32(TCPOPT_NOP << 24 | TCPOPT_NOP << 16 | TCPOPT_TIMESTAMP << 8 |
			   TCPOLEN_TIMESTAMP, at);
	put_unaligned_be32(fl_tcp_tsval(tp) + tp->tsoffset, at + 4);
	put_unaligned_be32(tp->rx_opt.ts_recent, at + 8);
}

static void fl_credit_put_tcp(const struct sock *sk, struct sk_buff *skb,
			      const struct fl_credit_msg *m, u32 seq)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	bool stamp = m->type == FL_CREDIT_REQUEST && tp->rx_opt.tstamp_ok;
	u32 bytes = sizeof(struct tcphdr) + fl_credit_bytes(m->type) +
		    (stamp ? TCPOLEN_TSTAMP_ALIGNED : 0);
	struct tcphdr *th = skb_push(skb, bytes);
	s32 wnd = READ_ONCE(tp->rcv_wup) + READ_ONCE(tp->rcv_wnd) -
		  READ_ONCE(tp->rcv_nxt);
	/* stays after the handshake; the stack writes the bits beside it */
	u32 shift = data_race((u32)tp->rx_opt.rcv_wscale);

	memset(th, 0, bytes);
	skb_reset_transport_header(skb);
	th->source = inet_sk(sk)->inet_sport;
	th->dest = inet_sk(sk)->inet_dport;
	th->seq = htonl(seq);
	th->ack_seq = htonl(READ_ONCE(tp->rcv_nxt));
	th->doff = bytes / 4;
	th->ack = 1;
	th->window = htons(min_t(u32, max(wnd, 0) >> shift, U16_MAX));
	fl_credit_write((u8 *)(th + 1), m);
	if (stamp)
		fl_credit_put_stamp(tp, (u8 *)th + bytes - TCPOLEN_TSTAMP_ALIGNED);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
}

static int fl_credit_send_four(struct sock *sk, struct sk_buff *skb, u8 dsfield)
{
	const struct inet_sock *inet = inet_sk(sk);
	u32 bytes = skb->len;
	struct iphdr *ip;
	int ttl = READ_ONCE(inet->uc_ttl);

	tcp_hdr(skb)->check = ~tcp_v4_check(bytes, inet->inet_saddr,
					    inet->inet_daddr, 0);
	ip = skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	memset(ip, 0, sizeof(*ip));
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = dsfield;
	ip->frag_off = htons(IP_DF);
	ip->ttl = ttl < 0 ? ip4_dst_hoplimit(skb_dst(skb)) : ttl;
	ip->protocol = IPPROTO_TCP;
	ip->saddr = inet->inet_saddr;
	ip->daddr = inet->inet_daddr;
	skb->protocol = htons(ETH_P_IP);
	return ip_local_out(sock_net(sk), sk, skb);
}

#if IS_ENABLED(CONFIG_IPV6)
static int fl_credit_send_six(struct sock *sk, struct sk_buff *skb, u8 dsfield)
{
	const struct ipv6_pinfo *np = inet6_sk(sk);
	u32 bytes = skb->len;
	struct ipv6hdr *ip;
	/* a bit field in some kernels, so no READ_ONCE() */
	int hops = np->hop_limit;
	struct flowi6 fl6 = {};

	tcp_hdr(skb)->check = ~tcp_v6_check(bytes, &sk->sk_v6_rcv_saddr,
					    &sk->sk_v6_daddr, 0);
	ip = skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	/* what the stack's packets have: equal paths are chosen by it, too */
	ip6_flow_hdr(ip, dsfield, ip6_make_flowlabel(sock_net(sk), skb, np->flow_label,
						     ip6_default_np_autolabel(sock_net(sk)), &fl6));
	ip->payload_len = htons(bytes);
	ip->nexthdr = IPPROTO_TCP;
	ip->hop_limit = hops < 0 ? ip6_dst_hoplimit(skb_dst(skb)) : hops;
	ip->saddr = sk->sk_v6_rcv_saddr;
	ip->daddr = sk->sk_v6_daddr;
	skb->protocol = htons(ETH_P_IPV6);
	return ip6_local_out(sock_net(sk), sk, skb);
}
#else
static int fl_credit_send_six(struct sock *sk, struct sk_buff *skb, u8 dsfield)
{
	kfree_skb(skb);
	return -EAFNOSUPPORT;
}
#endif

/* The socket's route, if it is good: only the socket's owner may look for another. */
static struct dst_entry *fl_credit_route(struct sock *sk)
{
	struct dst_entry *dst = sk_dst_get(sk);

	if (!dst || !dst->obsolete)
		return dst;
	if (dst->ops->check(dst, fl_credit_route_cookie(sk)))
		return dst;
	dst_release(dst);
	return NULL;
}

/**
 * fl_credit_reroute_owned() - look for a route, if the socket's own is not good any more
 * @sk: the socket, of a connection; caller holds its lock
 *
 * What the stack sends does that by itself. Who waits for credit sends nothing by the stack.
 */
void fl_credit_reroute_owned(struct sock *sk)
{
	inet_csk(sk)->icsk_af_ops->rebuild_header(sk);
}

/**
 * fl_credit_reroute() - the same for a socket that just gives credit
 * @sk: the socket, of a connection; held
 *
 * A process that has the socket will send an ACK. Context: softirq, no socket lock.
 */
void fl_credit_reroute(struct sock *sk)
{
	struct dst_entry *dst = fl_credit_route(sk);

	if (likely(dst)) {
		dst_release(dst);
		return;
	}
	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk) && sk->sk_state != TCP_CLOSE)
		fl_credit_reroute_owned(sk);
	bh_unlock_sock(sk);
}

/**
 * fl_credit_send() - send a small packet
 * @sk: the socket, of a connection; held
 * @colour: which of our DSCPs it gets
 * @m: what its option says
 * @seq: its sequence number: snd_nxt, but for a knock
 *
 * Context: any with BH off, with or without the socket lock; requests with it.
 * Return: 0; NET_XMIT_DROP and the like: the own port dropped it; or a negative errno.
 */
int fl_credit_send(struct sock *sk, enum fl_credit_colour colour,
		   const struct fl_credit_msg *m, u32 seq)
{
	const struct fl_credit_settings *settings = fl_credit_of(sock_net(sk));
	u8 dsfield = (READ_ONCE(settings->credit_dscp) + colour) << 2;
	struct dst_entry *dst = fl_credit_route(sk);
	struct sk_buff *skb;

	if (!dst)
		return -EHOSTUNREACH;
	skb = alloc_skb(MAX_TCP_HEADER, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb) {
		dst_release(dst);
		return -ENOMEM;
	}
	skb_reserve(skb, MAX_TCP_HEADER);
	skb_dst_set(skb, dst);
	skb->priority = READ_ONCE(sk->sk_priority);
	skb->mark = READ_ONCE(sk->sk_mark);
	fl_credit_put_tcp(sk, skb, m, seq);
	/* as the stack's own ACKs, they are no data that waits in the device */
	skb_set_tcp_pure_ack(skb);
	skb_set_owner_w(skb, sk);
	skb_set_hash_from_sk(skb, sk);
	return fl_credit_is_four(sk) ? fl_credit_send_four(sk, skb, dsfield) :
				       fl_credit_send_six(sk, skb, dsfield);
}
