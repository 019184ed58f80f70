// SPDX-License-Identifier: GPL-2.0
/*
 * How a host that only receives learns that somebody asks for credit.
 *
 * A namespace without a use for options has no hooks (fairlane/fl_hook.c), so nobody there
 * would see a request. A sender that gets no answer therefore *knocks*: its request has the
 * sequence number of a byte that is long acknowledged, as a keepalive of TCP has. The peer's
 * stack answers with an ACK and drops the packet, and what is dropped is shown by the
 * tracepoint kfree_skb. A packet that is not dropped costs nothing there.
 *
 * A knock from a connection of this host brings the hooks for some seconds. The next request
 * is answered, and the sockets that give credit keep the hooks. A knock that comes while a
 * process has the socket is not recognized: the stack has forgotten by then which namespace the
 * packet is for.
 */
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <net/dst_metadata.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>
#include <trace/events/skb.h>

#include "compat/compat.h"
#include "credit/credit.h"
#include "fairlane/fl_option.h"
#include "fairlane/fl_telemetry.h"
#include "fairlane/fl_tracepoint.h"

/* The TCP header of a knock, at least. */
#define FL_KNOCK_BYTES		(sizeof(struct tcphdr) + FL_CREDIT_LONG_BYTES)

static struct tracepoint *fl_knock_tracepoint;

/* The TCP header of a packet that may be any: all of it and of our option are in the linear
 * part. Return: NULL = it is none, or not with our option.
 */
static const struct tcphdr *fl_knock_header(const struct sk_buff *skb)
{
	const u8 *ip = skb_network_header(skb), *at = skb_transport_header(skb);
	const struct tcphdr *th = (const struct tcphdr *)at;

	if (at + FL_KNOCK_BYTES > skb_tail_pointer(skb))
		return NULL;
	if (skb->protocol == htons(ETH_P_IP)) {
		if (at < ip + sizeof(struct iphdr) || ip_hdr(skb)->protocol != IPPROTO_TCP)
			return NULL;
	} else if (at < ip + sizeof(struct ipv6hdr) || ipv6_hdr(skb)->nexthdr != IPPROTO_TCP) {
		return NULL;
	}
	return fl_credit_is(get_unaligned_be32(th + 1)) ? th : NULL;
}

/* The connection that a packet has come for. Context: RCU. Return: with a reference; NULL. */
static struct sock *fl_knock_socket(struct net *net, struct sk_buff *skb,
				    const struct tcphdr *th)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6)) {
		const struct ipv6hdr *ip = ipv6_hdr(skb);

		return __inet6_lookup_established(FL_LOOKUP_IN(net), &ip->saddr, th->source,
						  &ip->daddr, ntohs(th->dest),
						  skb->skb_iif, tcp_v6_sdif(skb));
	}
#endif
	return __inet_lookup_established(FL_LOOKUP_IN(net), ip_hdr(skb)->saddr, th->source,
					 ip_hdr(skb)->daddr, ntohs(th->dest),
					 skb->skb_iif, tcp_v4_sdif(skb));
}

/* Is it a connection that may give credit, and the knock its peer's? Whether net.fairlane.credit
 * refuses is said, and counted, when the next request comes.
 */
static bool fl_knock_good(const struct sock *sk, const struct tcphdr *th)
{
	return sk_fullsock(sk) && sk->sk_protocol == IPPROTO_TCP && fl_credit_possible(sk) &&
	       fl_option_in_window(sk, th);
}

/* A packet has been dropped, by anybody. Context: any; of a knock softirq, or BH off. */
static void fl_knock_on_drop(FL_KFREE_SKB_ARGS)
{
	const struct tcphdr *th;
	struct fl_credit_msg m;
	struct sock *sk;
	struct net *net;

	if ((skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6)) ||
	    !skb_transport_header_was_set(skb) || !skb_valid_dst(skb) || irqs_disabled())
		return;
	th = fl_knock_header(skb);
	if (!th || th->doff * 4 < FL_KNOCK_BYTES ||
	    !fl_credit_read((const u8 *)(th + 1), FL_CREDIT_LONG_BYTES, &m) ||
	    m.type != FL_CREDIT_REQUEST)
		return;
	net = dev_net(skb_dst(skb)->dev);
	rcu_read_lock();
	sk = fl_knock_socket(net, skb, th);
	if (sk) {
		if (fl_knock_good(sk, th))
			fl_hook_ask(net);
		sock_gen_put(sk);
	}
	rcu_read_unlock();
}

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_knock_init(void)
{
	/* the compiler compares the arguments */
	check_trace_callback_type_kfree_skb(fl_knock_on_drop);
	fl_knock_tracepoint = fl_tracepoint("kfree_skb");
	if (!fl_knock_tracepoint)
		return -EOPNOTSUPP;
	return tracepoint_probe_register(fl_knock_tracepoint, fl_knock_on_drop, NULL);
}

/* Context: process, module unload; tracepoint_synchronize_unregister() is the caller's. */
void fl_knock_exit(void)
{
	tracepoint_probe_unregister(fl_knock_tracepoint, fl_knock_on_drop, NULL);
}
