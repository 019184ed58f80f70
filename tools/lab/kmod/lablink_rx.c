// SPDX-License-Identifier: GPL-2.0
/*
 * lablink: a packet arrives.
 */
#include <linux/etherdevice.h>

#include "lablink_priv.h"

/*
 * Forget what the sending machine knew about a packet; the far end of a cable
 * is another machine even when it is in the same namespace.
 */
static void lablink_scrub(struct sk_buff *skb)
{
	skb_scrub_packet(skb, true);
	skb_clear_hash(skb);
	skb_set_queue_mapping(skb, 0);
	/* 0: SKB_CLOCK_REALTIME, and before 6.10 "not monotonic" */
	skb_set_delivery_time(skb, 0, 0);
	skb_hwtstamps(skb)->hwtstamp = 0;
	skb->priority = 0;
}

/*
 * Hand a packet to NAPI, for GRO. Softirq context. GRO changes the packet's
 * list of fragments, which a sending TCP still shares: a NIC has its own.
 */
static void lablink_rx_napi(struct lablink_priv *priv, struct sk_buff *skb)
{
	bool kick;

	if (skb_unclone(skb, GFP_ATOMIC)) {
		dev_core_stats_rx_dropped_inc(skb->dev);
		kfree_skb(skb);
		return;
	}
	/* NICs tell it, and GRO keeps so few flows without that it merges none */
	skb_get_hash(skb);
	spin_lock(&priv->rx.lock);
	__skb_queue_tail(&priv->rx, skb);
	kick = !priv->rx_masked;
	priv->rx_masked = true;
	spin_unlock(&priv->rx.lock);
	if (kick)
		napi_schedule(&priv->napi);
}

/**
 * lablink_rx() - a packet arrives at a device
 * @dev: the receiver, up
 * @skb: the frame, as the sender's qdisc gave it
 *
 * Softirq context, no lock held. Without GRO the packet goes straight up, in
 * the same softirq: exact and cheap. With GRO it goes through NAPI, which
 * merges packets if the user has set gro_flush_timeout and
 * napi_defer_hard_irqs, as on a NIC with interrupt moderation.
 */
void lablink_rx(struct net_device *dev, struct sk_buff *skb)
{
	struct lablink_priv *priv = netdev_priv(dev);

	if (unlikely(!is_skb_forwardable(dev, skb))) {
		DEV_STATS_INC(dev, rx_errors);
		DEV_STATS_INC(dev, rx_length_errors);
		kfree_skb(skb);
		return;
	}
	dev_sw_netstats_rx_add(dev, skb->len);
	lablink_scrub(skb);
	skb->protocol = eth_type_trans(skb, dev);
	skb_postpull_rcsum(skb, eth_hdr(skb), ETH_HLEN);
	if (dev->features & NETIF_F_GRO || priv->rx_masked)
		lablink_rx_napi(priv, skb);
	else
		netif_receive_skb(skb);
}

/* NAPI's poll: pass packets through GRO. Softirq context. */
static int lablink_poll(struct napi_struct *napi, int budget)
{
	struct lablink_priv *priv = container_of(napi, struct lablink_priv,
						 napi);
	struct sk_buff *skb;
	int done = 0;
	bool again;

	while (done < budget) {
		spin_lock(&priv->rx.lock);
		skb = __skb_dequeue(&priv->rx);
		spin_unlock(&priv->rx.lock);
		if (!skb)
			break;
		napi_gro_receive(napi, skb);
		done++;
	}
	if (done < budget && napi_complete_done(napi, done)) {
		spin_lock(&priv->rx.lock);
		again = !skb_queue_empty(&priv->rx);
		priv->rx_masked = again;
		spin_unlock(&priv->rx.lock);
		if (again)
			napi_schedule(napi);
	}
	return done;
}

/**
 * lablink_rx_init() - prepare the receiving side of a new device
 * @dev: the device
 */
void lablink_rx_init(struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);

	skb_queue_head_init(&priv->rx);
	netif_napi_add(dev, &priv->napi, lablink_poll);
}

/**
 * lablink_rx_open() - start to receive
 * @priv: the end
 *
 * Process context, under RTNL, before packets can arrive.
 */
void lablink_rx_open(struct lablink_priv *priv)
{
	priv->rx_masked = false;
	napi_enable(&priv->napi);
}

/**
 * lablink_rx_stop() - receive no more
 * @priv: the end
 *
 * Process context, under RTNL, when no more packets can arrive.
 */
void lablink_rx_stop(struct lablink_priv *priv)
{
	napi_disable(&priv->napi);
	skb_queue_purge(&priv->rx);
}
