// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of border routers (MLCC) to the sender of data: ICMP, which says the load of the way to
 * the router where no ACK takes it along. linux/fairlane.h has the format, sch_fabric
 * (fabric_tell.c) sends them.
 *
 * Anybody can send ICMP. A message is believed for what makes an ICMP error believed, and more: it
 * quotes data that the socket has sent and that is not acknowledged, and how much the socket had
 * received then. Somebody who knows that can forge ACKs, too, and these say the same.
 *
 * The message is no segment: the stack shows it to nobody, so its socket is told here.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fl_control.h"
#include "fl_sock.h"
#include "fl_telemetry.h"

/* The data may have been sent before so much was received, bytes: the near loop is short. */
#define FL_MESSAGE_BEHIND	BIT(17)

/**
 * struct fl_message - a message of a border router
 * @near: forward word of type CLOSED
 * @source: port of the data
 * @dest: likewise
 * @seq: of the data
 * @ack: likewise, its acknowledgment number
 */
struct fl_message {
	u16 near;
	__be16 source;
	__be16 dest;
	u32 seq;
	u32 ack;
};

/* What is behind the IP header of the data. Return: false: too short, or no data. */
static bool fl_message_read_tcp(const struct sk_buff *skb, int at, struct fl_message *m)
{
	struct tcphdr buffer;
	const struct tcphdr *th = skb_header_pointer(skb, at, sizeof(buffer), &buffer);

	BUILD_BUG_ON(sizeof(buffer) != FL_NEAR_TCP_BYTES);
	if (!th || !th->ack || th->syn || th->rst)
		return false;
	m->source = th->source;
	m->dest = th->dest;
	m->seq = ntohl(th->seq);
	m->ack = ntohl(th->ack_seq);
	return true;
}

/* The socket that has sent the data, held; NULL: none, or it is not from here. Context: RCU. */
static struct sock *fl_message_sock_four(struct sk_buff *skb, int at, struct fl_message *m,
					 const struct nf_hook_state *state)
{
	struct iphdr buffer;
	const struct iphdr *ip = skb_header_pointer(skb, at, sizeof(buffer), &buffer);

	if (!ip || ip->version != 4 || ip->ihl < 5 || ip->protocol != IPPROTO_TCP ||
	    ip->saddr != ip_hdr(skb)->daddr || !fl_message_read_tcp(skb, at + ip->ihl * 4, m))
		return NULL;
	return __inet_lookup_established(FL_LOOKUP_IN(state->net), ip->daddr, m->dest, ip->saddr,
					 ntohs(m->source), skb->skb_iif, inet_sdif(skb));
}

#if IS_ENABLED(CONFIG_IPV6)
static struct sock *fl_message_sock_six(struct sk_buff *skb, int at, struct fl_message *m,
					const struct nf_hook_state *state)
{
	struct ipv6hdr buffer;
	const struct ipv6hdr *ip = skb_header_pointer(skb, at, sizeof(buffer), &buffer);

	if (!ip || ip->version != 6 || ip->nexthdr != IPPROTO_TCP ||
	    !ipv6_addr_equal(&ip->saddr, &ipv6_hdr(skb)->daddr) ||
	    !fl_message_read_tcp(skb, at + sizeof(*ip), m))
		return NULL;
	return __inet6_lookup_established(FL_LOOKUP_IN(state->net), &ip->daddr, m->dest,
					  &ip->saddr, ntohs(m->source), inet6_iif(skb),
					  inet6_sdif(skb));
}
#else
static struct sock *fl_message_sock_six(struct sk_buff *skb, int at, struct fl_message *m,
					const struct nf_hook_state *state)
{
	return NULL;
}
#endif

/* Has the socket sent this data, and is it in flight? */
static bool fl_message_believed(const struct sock *sk, const struct fl_message *m)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return !before(m->seq, READ_ONCE(tp->snd_una)) && before(m->seq, READ_ONCE(tp->snd_nxt)) &&
	       READ_ONCE(tp->rcv_nxt) - m->ack <= FL_MESSAGE_BEHIND;
}

/* The socket's congestion control is told, if no process has the socket: the next ACK or message
 * will tell it else.
 */
static void fl_message_tell(struct sock *sk)
{
	const struct fl_cc *cc;
	struct fl_sock *f;

	/* a program that was asked (NFQUEUE) passes the packet on in its own context */
	local_bh_disable();
	bh_lock_sock(sk);
	f = sock_owned_by_user(sk) ? NULL : fl_sock_find(sk);
	cc = f ? fl_sock_cc(f) : NULL;
	if (cc && cc->told && sk->sk_state != TCP_CLOSE)
		cc->told(sk);
	bh_unlock_sock(sk);
	local_bh_enable();
}

static void fl_message_take(struct sock *sk, struct fl_tel_net *tn, const struct fl_message *m)
{
	struct fl_tel *tel;

	if (!sk_fullsock(sk) || sk->sk_protocol != IPPROTO_TCP)
		return;
	tel = fl_tel_lookup(sk);
	if (!tel || READ_ONCE(tel->format) != FL_TEL_LOAD || !READ_ONCE(tel->sending))
		return;
	if (!fl_message_believed(sk, m)) {
		fl_tel_add(tn, FL_TEL_STRAY);
		return;
	}
	WRITE_ONCE(tel->near, m->near & FL_LOAD_TELL_MAX);
	WRITE_ONCE(tel->nears, tel->nears + 1);
	fl_tel_add(tn, FL_TEL_MESSAGES);
	fl_message_tell(sk);
}

/* Is the packet ICMP? Return: bytes of its IP header; 0: it is not. */
static int fl_message_ip_bytes(const struct sk_buff *skb, u8 pf)
{
	if (pf == NFPROTO_IPV4)
		return ip_hdr(skb)->protocol == IPPROTO_ICMP ? ip_hdr(skb)->ihl * 4 : 0;
	return ipv6_hdr(skb)->nexthdr == IPPROTO_ICMPV6 ? sizeof(struct ipv6hdr) : 0;
}

static bool fl_message_csum_ok(struct sk_buff *skb, u8 pf, int ip_bytes)
{
	if (pf == NFPROTO_IPV4)
		return !nf_ip_checksum(skb, NF_INET_LOCAL_IN, ip_bytes, IPPROTO_ICMP);
	return !nf_ip6_checksum(skb, NF_INET_LOCAL_IN, ip_bytes, IPPROTO_ICMPV6);
}

/**
 * fl_message_in() - a packet that is no TCP has come
 * @skb: the packet, whose data begins with its IP header
 * @tn: its namespace
 * @state: of the hook
 *
 * The packet goes on whatever it is. Context: LOCAL_IN, RCU; BH off, but after NFQUEUE.
 */
void fl_message_in(struct sk_buff *skb, struct fl_tel_net *tn, const struct nf_hook_state *state)
{
	bool four = state->pf == NFPROTO_IPV4;
	int ip_bytes = fl_message_ip_bytes(skb, state->pf);
	struct fl_message m;
	const u8 *at;
	u8 buffer[FL_NEAR_BYTES];
	struct sock *sk;

	if (likely(!ip_bytes))
		return;
	at = skb_header_pointer(skb, ip_bytes, sizeof(buffer), buffer);
	if (!at || at[0] != (four ? FL_NEAR_ICMP_TYPE : FL_NEAR_ICMPV6_TYPE) || at[1] ||
	    get_unaligned_be16(at + 4) != FL_LOAD_EXID)
		return;
	m.near = get_unaligned_be16(at + 6);
	if (!READ_ONCE(tn->profile->telemetry) || fl_load_type(m.near) != FL_LOAD_CLOSED ||
	    !fl_message_csum_ok(skb, state->pf, ip_bytes))
		return;
	ip_bytes += FL_NEAR_BYTES;
	sk = four ? fl_message_sock_four(skb, ip_bytes, &m, state) :
		    fl_message_sock_six(skb, ip_bytes, &m, state);
	if (!sk)
		return;
	fl_message_take(sk, tn, &m);
	sock_gen_put(sk);
}
