/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a packet is on the line; for lablink and labtap.
 */
#ifndef LABLINK_SKB_H
#define LABLINK_SKB_H

#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>

/* Headers that each segment of a large packet repeats; any context. */
static inline u32 lablink_gso_header_bytes(const struct sk_buff *skb)
{
	bool tcp = skb_shinfo(skb)->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6);

	if (skb->encapsulation)
		return skb_inner_transport_offset(skb) +
			(tcp ? inner_tcp_hdrlen(skb) : sizeof(struct udphdr));
	return skb_transport_offset(skb) +
		(tcp ? tcp_hdrlen(skb) : sizeof(struct udphdr));
}

/**
 * lablink_line_bytes() - bytes on the line of a packet with all its segments
 * @skb: a packet as a driver gets it
 * @overhead_bytes: on top of each segment
 * @segs: gets the number of segments
 *
 * Any context.
 */
static inline u32 lablink_line_bytes(const struct sk_buff *skb,
				     u32 overhead_bytes, u32 *segs)
{
	u32 bytes = skb->len, header;

	*segs = 1;
	if (skb_is_gso(skb)) {
		header = lablink_gso_header_bytes(skb);
		if (header < skb->len)
			*segs = DIV_ROUND_UP(skb->len - header,
					     skb_shinfo(skb)->gso_size);
		bytes += (*segs - 1) * header;
	}
	return bytes + *segs * overhead_bytes;
}

#endif /* LABLINK_SKB_H */
