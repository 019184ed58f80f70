// SPDX-License-Identifier: GPL-2.0
/*
 * labtap: the tracepoints, and from a packet to a record.
 *
 * The time when a packet enters the qdisc travels with it in the hardware
 * timestamp of its shared info, which nobody uses on the way out. Zero means
 * that the packet was not seen entering: it came before the recorder was
 * started, or is a segment cut from a large packet by the qdisc.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/tracepoint.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sch_generic.h>

#include "lablink_clock.h"
#include "lablink_skb.h"
#include "labtap_priv.h"

/* A tracepoint and what is called there. */
struct labtap_probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
};

/* Ports, flags and sequence of the transport header at @offset. */
static void labtap_parse_transport(struct labtap_rec *rec,
				   const struct sk_buff *skb, int offset)
{
	struct tcphdr tcp_copy;
	struct udphdr udp_copy;
	const struct tcphdr *tcp;
	const struct udphdr *udp;

	if (rec->proto == IPPROTO_TCP) {
		tcp = skb_header_pointer(skb, offset, sizeof(tcp_copy),
					 &tcp_copy);
		if (!tcp)
			return;
		rec->sport = ntohs(tcp->source);
		rec->dport = ntohs(tcp->dest);
		rec->seq = ntohl(tcp->seq);
		rec->tcp_flags = ((const u8 *)tcp)[13];
		rec->kind |= tcp->doff << 4;
	} else if (rec->proto == IPPROTO_UDP) {
		udp = skb_header_pointer(skb, offset, sizeof(udp_copy),
					 &udp_copy);
		if (!udp)
			return;
		rec->sport = ntohs(udp->source);
		rec->dport = ntohs(udp->dest);
	}
}

/* Fill in what the packet's headers say. Any context. */
static void labtap_parse(struct labtap_rec *rec, const struct sk_buff *skb)
{
	int offset = skb_network_offset(skb);
	struct ipv6hdr ip6_copy;
	struct iphdr ip_copy;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;
	__be16 fragment = 0;
	u8 proto;

	if (skb->protocol == htons(ETH_P_IP)) {
		ip = skb_header_pointer(skb, offset, sizeof(ip_copy),
					&ip_copy);
		if (!ip || ip->version != 4 || ip->ihl < 5)
			return;
		rec->proto = ip->protocol;
		rec->tos = ip->tos;
		if (ip->frag_off & htons(IP_OFFSET))
			return;
		offset += ip->ihl * 4;
	} else if (skb->protocol == htons(ETH_P_IPV6)) {
		ip6 = skb_header_pointer(skb, offset, sizeof(ip6_copy),
					 &ip6_copy);
		if (!ip6 || ip6->version != 6)
			return;
		rec->tos = ipv6_get_dsfield(ip6);
		proto = ip6->nexthdr;
		offset = ipv6_skip_exthdr(skb, offset + sizeof(*ip6), &proto,
					  &fragment);
		rec->proto = proto;
		if (offset < 0 || fragment & htons(IP6_OFFSET))
			return;
	} else {
		return;
	}
	labtap_parse_transport(rec, skb, offset);
}

/* Bytes in the root qdisc of the packet's queue, its children included. */
static u32 labtap_backlog_bytes(const struct net_device *dev,
				const struct sk_buff *skb)
{
	struct netdev_queue *txq = skb_get_tx_queue(dev, skb);
	u32 qlen, backlog_bytes;

	rcu_read_lock();
	qdisc_qstats_qlen_backlog(rcu_dereference(txq->qdisc), &qlen,
				  &backlog_bytes);
	rcu_read_unlock();
	return backlog_bytes;
}

/* Write the record of a packet; @queued_ns: 0 if unknown. RCU. */
static void labtap_packet(const struct labtap_tap *tap,
			  const struct sk_buff *skb, u8 kind, u64 now_ns,
			  u64 queued_ns)
{
	u32 segs, wire_len;
	struct labtap_rec rec = {
		.t_ns = now_ns,
		.qdelay_ns = LABTAP_QDELAY_UNKNOWN,
		.backlog_bytes = labtap_backlog_bytes(tap->dev, skb),
		.tap = tap->tap,
		.kind = kind,
	};

	if (queued_ns)
		rec.qdelay_ns = now_ns <= queued_ns ? 0 :
			min_t(u64, now_ns - queued_ns,
			      LABTAP_QDELAY_UNKNOWN - 1);
	wire_len = lablink_line_bytes(skb, tap->line_overhead ?
				      READ_ONCE(tap->clk->overhead_bytes) :
				      tap->overhead_bytes, &segs);
	rec.wire_len = min_t(u32, wire_len, U16_MAX);
	labtap_parse(&rec, skb);
	labtap_store(&rec);
}

/* net_dev_queue: a packet enters the qdisc. BH off, under RCU. */
static void labtap_on_queue(void *unused, struct sk_buff *skb)
{
	if (labtap_find(skb->dev))
		skb_hwtstamps(skb)->hwtstamp = ktime_get();
}

/* net_dev_start_xmit: the driver gets a packet. BH off, under RCU. */
static void labtap_on_xmit(void *unused, const struct sk_buff *skb,
			   const struct net_device *dev)
{
	const struct labtap_tap *tap = labtap_find(dev);
	u64 now_ns, queued_ns;

	if (!tap)
		return;
	queued_ns = skb_shinfo(skb)->hwtstamps.hwtstamp;
	skb_shinfo(skb)->hwtstamps.hwtstamp = 0;
	now_ns = ktime_get_ns();
	if (tap->clk)
		now_ns = lablink_clock_start_ns(tap->clk, now_ns);
	labtap_packet(tap, skb, LABTAP_KIND_TX, now_ns, queued_ns);
}

/*
 * kfree_skb: a packet is dropped; by a tapped device's qdisc if it entered one
 * and has not left it. Any context but hardirq. @skb->dev may be anything in
 * packets that have no device: it is compared, never followed.
 */
static void labtap_on_drop(void *unused, struct sk_buff *skb, void *location,
			   enum skb_drop_reason reason, struct sock *rx_sk)
{
	const struct labtap_tap *tap = labtap_find(skb->dev);
	u64 queued_ns;

	if (!tap)
		return;
	queued_ns = skb_hwtstamps(skb)->hwtstamp;
	if (!queued_ns)
		return;
	skb_hwtstamps(skb)->hwtstamp = 0;
	labtap_packet(tap, skb, LABTAP_KIND_DROP, ktime_get_ns(), queued_ns);
}

static struct labtap_probe labtap_probes[] = {
	{ .name = "net_dev_queue", .function = labtap_on_queue },
	{ .name = "net_dev_start_xmit", .function = labtap_on_xmit },
	{ .name = "kfree_skb", .function = labtap_on_drop },
};

/* Keep the tracepoint if it is one of ours. */
static void labtap_match(struct tracepoint *tracepoint, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(labtap_probes); i++)
		if (!strcmp(tracepoint->name, labtap_probes[i].name))
			labtap_probes[i].tracepoint = tracepoint;
}

/**
 * labtap_probes_find() - look up the tracepoints
 *
 * Module init. Return: 0 or -ENOENT if the kernel lacks one.
 */
int labtap_probes_find(void)
{
	int i;

	for_each_kernel_tracepoint(labtap_match, NULL);
	for (i = 0; i < ARRAY_SIZE(labtap_probes); i++) {
		if (!labtap_probes[i].tracepoint) {
			pr_err("labtap: this kernel has no tracepoint %s\n",
			       labtap_probes[i].name);
			return -ENOENT;
		}
	}
	return 0;
}

/**
 * labtap_probes_attach() - begin to see packets
 *
 * Process context. Return: 0 or -errno.
 */
int labtap_probes_attach(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(labtap_probes); i++) {
		err = tracepoint_probe_register(labtap_probes[i].tracepoint,
						labtap_probes[i].function,
						NULL);
		if (err)
			goto undo;
	}
	return 0;
undo:
	while (i--)
		tracepoint_probe_unregister(labtap_probes[i].tracepoint,
					    labtap_probes[i].function, NULL);
	tracepoint_synchronize_unregister();
	return err;
}

/**
 * labtap_probes_detach() - see no packet any more
 *
 * When it returns no probe is running. Process context.
 */
void labtap_probes_detach(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(labtap_probes); i++)
		tracepoint_probe_unregister(labtap_probes[i].tracepoint,
					    labtap_probes[i].function, NULL);
	tracepoint_synchronize_unregister();
}
