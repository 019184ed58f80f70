// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: what a border router (MLCC) tells senders in messages of its own.
 *
 * What data has met up to the border goes to its sender with ACKs. A sender that gets none is
 * blind: for the long round trip after it has begun to send, in pauses of the receiver, and while
 * ACKs have payload. It is sent a message then, at most one in a round of the near loop: ICMP as
 * errors are, with the headers of the data that it is about, by which the sender knows that
 * whoever wrote it has seen that data. linux/fairlane.h has the format.
 *
 * A message is made under the locks of the port that sends the data, and sent by a tasklet: its way
 * leads through another port.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>

#include "fabric_border.h"

#define FABRIC_MESSAGES_DEFAULT	250000	/* of a router a second */
/* So far ahead of that rate at most, ns. */
#define FABRIC_MESSAGES_BURST_NS 1000000
#define FABRIC_MESSAGES_WAIT	1024	/* to be sent, at most */
#define FABRIC_MESSAGE_TTL	64
/* Room before a message: its own IP header, and what devices want. */
#define FABRIC_MESSAGE_ROOM	(LL_MAX_HEADER + sizeof(struct ipv6hdr))

static unsigned int border_messages = FABRIC_MESSAGES_DEFAULT;
module_param(border_messages, uint, 0644);
MODULE_PARM_DESC(border_messages, "messages that a border router sends a second at most, 0: none");

/**
 * struct fabric_message_cb - what is known of a message that is to be sent
 * @vrf: index of the device of the VRF that the data came by; 0: none
 */
struct fabric_message_cb {
	int vrf;
};

static struct fabric_message_cb *fabric_message_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct fabric_message_cb) > sizeof(skb->cb));
	return (struct fabric_message_cb *)skb->cb;
}

/* ---- sending: context of the tasklet ------------------------------------------------ */

/* Return: 0, or the message was not sent and is still there. */
static int fabric_message_out_four(struct net *net, struct sk_buff *skb)
{
	const struct iphdr *data = (struct iphdr *)(skb->data + FL_NEAR_BYTES);
	struct flowi4 fl4 = {
		.daddr = data->saddr,
		.flowi4_oif = fabric_message_cb(skb)->vrf,
		.flowi4_proto = IPPROTO_ICMP,
	};
	struct rtable *rt = ip_route_output_key(net, &fl4);
	struct icmphdr *icmp = (struct icmphdr *)skb->data;
	struct iphdr *ip;

	if (IS_ERR(rt))
		return PTR_ERR(rt);
	/* the source of the data was no host's, but all of a link's */
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return -EINVAL;
	}
	skb_dst_set(skb, &rt->dst);
	icmp->checksum = ip_compute_csum(icmp, skb->len);
	ip = skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	memset(ip, 0, sizeof(*ip));
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = IPTOS_PREC_INTERNETCONTROL;
	ip->frag_off = htons(IP_DF);
	ip->ttl = FABRIC_MESSAGE_TTL;
	ip->protocol = IPPROTO_ICMP;
	ip->saddr = fl4.saddr;
	ip->daddr = fl4.daddr;
	memset(skb->cb, 0, sizeof(skb->cb));
	ip_local_out(net, NULL, skb);
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
static int fabric_message_out_six(struct net *net, struct sk_buff *skb)
{
	const struct ipv6hdr *data = (struct ipv6hdr *)(skb->data + FL_NEAR_BYTES);
	struct icmp6hdr *icmp = (struct icmp6hdr *)skb->data;
	struct flowi6 fl6 = {
		.daddr = data->saddr,
		.flowi6_oif = fabric_message_cb(skb)->vrf,
		.flowi6_proto = IPPROTO_ICMPV6,
	};
	u32 bytes = skb->len;
	struct dst_entry *dst;
	struct ipv6hdr *ip;

	/* a bridge passes IPv6 also where it was switched off at boot and has no tables */
	if (!ipv6_mod_enabled())
		return -EAFNOSUPPORT;
	if (ipv6_addr_is_multicast(&data->saddr))
		return -EINVAL;
	dst = ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	skb_dst_set(skb, dst);
	icmp->icmp6_cksum = csum_ipv6_magic(&fl6.saddr, &fl6.daddr, bytes, IPPROTO_ICMPV6,
					    csum_partial(icmp, bytes, 0));
	ip = skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip, IPTOS_PREC_INTERNETCONTROL, 0);
	ip->payload_len = htons(bytes);
	ip->nexthdr = IPPROTO_ICMPV6;
	ip->hop_limit = FABRIC_MESSAGE_TTL;
	ip->saddr = fl6.saddr;
	ip->daddr = fl6.daddr;
	memset(skb->cb, 0, sizeof(skb->cb));
	ip6_local_out(net, NULL, skb);
	return 0;
}
#else
static int fabric_message_out_six(struct net *net, struct sk_buff *skb)
{
	return -EAFNOSUPPORT;
}
#endif

/* Sends what is to be sent. Context: tasklet. */
static void fabric_messages_out(struct tasklet_struct *tasklet)
{
	struct fabric_border *router = from_tasklet(router, tasklet, tell);
	unsigned int failed = 0;
	struct sk_buff *skb;
	int err;

	while ((skb = skb_dequeue(&router->messages))) {
		if (skb->protocol == htons(ETH_P_IP))
			err = fabric_message_out_four(router->net, skb);
		else
			err = fabric_message_out_six(router->net, skb);
		if (err) {
			kfree_skb(skb);
			failed++;
		}
	}
	if (!failed)
		return;
	spin_lock(&router->lock);
	router->count[FABRIC_BORDER_UNSENT] += failed;
	spin_unlock(&router->lock);
}

/* ---- making: context of the data -------------------------------------------------- */

/* May the router send one more message? */
static bool fabric_message_allowed(struct fabric_border *router, u64 now_ns)
{
	u32 rate = READ_ONCE(border_messages);

	if (!rate || skb_queue_len_lockless(&router->messages) >= FABRIC_MESSAGES_WAIT)
		return false;
	if (router->message_ns > now_ns + FABRIC_MESSAGES_BURST_NS)
		return false;
	router->message_ns = max(router->message_ns, now_ns) + (u32)NSEC_PER_SEC / rate;
	return true;
}

/* The message about a packet, without its own IP header and checksum. @offset: of the packet's TCP
 * header. Return: NULL: no memory, or the packet is not what it should be.
 */
static struct sk_buff *fabric_message_make(const struct sk_buff *data, int offset, u16 near)
{
	int version, at = fabric_find_ip(data, &version), bytes = offset + FL_NEAR_TCP_BYTES - at;
	struct sk_buff *skb;
	u8 *message;

	if (at < 0 || bytes > data->len - at)
		return NULL;
	skb = alloc_skb(FABRIC_MESSAGE_ROOM + FL_NEAR_BYTES + bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, FABRIC_MESSAGE_ROOM);
	message = skb_put_zero(skb, FL_NEAR_BYTES + bytes);
	message[0] = version == 4 ? FL_NEAR_ICMP_TYPE : FL_NEAR_ICMPV6_TYPE;
	put_unaligned_be16(FL_LOAD_EXID, message + 4);
	put_unaligned_be16(near, message + 6);
	if (skb_copy_bits(data, at, message + FL_NEAR_BYTES, bytes)) {
		kfree_skb(skb);
		return NULL;
	}
	skb_reset_transport_header(skb);
	skb->protocol = htons(version == 4 ? ETH_P_IP : ETH_P_IPV6);
	return skb;
}

/**
 * fabric_tell() - tell the sender of a packet in a message what it has met up to here
 * @router: the router; caller holds its lock
 * @skb: the packet
 * @offset: of its TCP header from skb->data
 * @near: the forward word of type CLOSED
 * @now_ns: time
 *
 * Return: will it be sent?
 */
bool fabric_tell(struct fabric_border *router, const struct sk_buff *skb, int offset, u16 near,
		 u64 now_ns)
{
	struct sk_buff *message = NULL;

	if (fabric_message_allowed(router, now_ns))
		message = fabric_message_make(skb, offset, near);
	if (!message) {
		router->count[FABRIC_BORDER_UNSENT] += !!READ_ONCE(border_messages);
		return false;
	}
	fabric_message_cb(message)->vrf =
		l3mdev_master_ifindex_by_index(router->net, skb->skb_iif);
	router->count[FABRIC_BORDER_NEAR_TOLD]++;
	router->count[FABRIC_BORDER_MESSAGES]++;
	skb_queue_tail(&router->messages, message);
	tasklet_schedule(&router->tell);
	return true;
}

/* A router begins. */
void fabric_tell_init(struct fabric_border *router)
{
	skb_queue_head_init(&router->messages);
	tasklet_setup(&router->tell, fabric_messages_out);
}

/* It ends: no port makes messages any more. Context: process. */
void fabric_tell_exit(struct fabric_border *router)
{
	tasklet_kill(&router->tell);
	skb_queue_purge(&router->messages);
}
