/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What those share who put options into segments that leave (LOCAL_OUT).
 */
#ifndef FL_OPTION_H
#define FL_OPTION_H

#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include <net/ipv6.h>
#include <net/tcp.h>

/**
 * struct fl_option_user - a module that has an option of its own
 * @exid: of the option, whose kind is 253 and which is the first of the header
 * @sockets: how many take part; while 0, packets that leave are not shown
 * @out: a packet of a TCP socket leaves; @ip_bytes 0: TCP does not follow at once
 * @in: a packet of a connection has come with the option; headers are linear, its
 *	checksum is right. @believed: its numbers are within the window. Return: verdict
 *
 * Context of @out: LOCAL_OUT, RCU, who owns the socket; after NFQUEUE the program that was
 * asked. Of @in: LOCAL_IN, RCU, BH off.
 */
struct fl_option_user {
	u16 exid;
	atomic_t *sockets;
	void (*out)(struct sk_buff *skb, struct sock *sk,
		    const struct nf_hook_state *state, int ip_bytes);
	unsigned int (*in)(struct sk_buff *skb, struct sock *sk,
			   const struct nf_hook_state *state, int ip_bytes,
			   bool believed);
};

int fl_option_register(const struct fl_option_user *user);
void fl_option_unregister(const struct fl_option_user *user);
bool fl_option_in_window(const struct sock *sk, const struct tcphdr *th);

/**
 * fl_option_path_has_room() - is there room on the path for a longer header?
 * @skb: the packet, whose data begins with the IP header
 * @sk: its socket
 * @header_bytes: of IP's and TCP's headers
 * @bytes: by how much TCP's is to grow
 *
 * TCP has brought the path's MTU up to date for this very segment. What is larger the host itself
 * throws away.
 */
static inline bool fl_option_path_has_room(const struct sk_buff *skb, const struct sock *sk,
					   u32 header_bytes, u32 bytes)
{
	u32 now = skb_is_gso(skb) ? header_bytes + skb_shinfo(skb)->gso_size : skb->len;

	return now + bytes <= READ_ONCE(inet_csk(sk)->icsk_pmtu_cookie);
}

/**
 * fl_option_fix() - the headers' own numbers, after a TCP header has grown
 * @skb: the packet, whose data begins with the moved IP header
 * @th: the moved TCP header
 * @pf: NFPROTO_IPV4 or NFPROTO_IPV6
 * @bytes: by how much, a multiple of 4; negative: it has shrunk
 *
 * The IP header's checksum is complete, TCP's is that of the pseudo header, which has the
 * length in it; the device or a fallback completes it over the new header.
 */
static inline void fl_option_fix(struct sk_buff *skb, struct tcphdr *th, u8 pf,
				 int bytes)
{
	__be16 change = htons(bytes > 0 ? bytes : (u16)(bytes - 1));

	skb->network_header -= bytes;
	skb->transport_header -= bytes;
	skb->csum_start -= bytes;
	/* doff is the upper half of a byte, and counts fours */
	((u8 *)th)[12] += bytes * 4;
	th->check = (__force __sum16)csum16_add((__force __sum16)th->check,
						change);
	if (pf == NFPROTO_IPV4) {
		struct iphdr *ip = (struct iphdr *)skb->data;

		ip->check = ~csum16_add(~ip->check, change);
		ip->tot_len = htons(skb->len);
	} else {
		ipv6_hdr(skb)->payload_len =
			htons(skb->len - sizeof(struct ipv6hdr));
	}
}

#endif /* FL_OPTION_H */
