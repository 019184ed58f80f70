// SPDX-License-Identifier: GPL-2.0
/*
 * lablink: the network device: open, stop, carrier, features.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "lablink_priv.h"

/* Carrier and lines follow both ends. Process context, under RTNL. */
static void lablink_update_carrier(struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);
	struct lablink_priv *peer_priv;

	if (!peer)
		return;
	peer_priv = netdev_priv(peer);
	if (priv->open && peer_priv->open && !priv->cut && !peer_priv->cut) {
		lablink_line_up(&priv->line, peer);
		lablink_line_up(&peer_priv->line, dev);
		netif_carrier_on(dev);
		netif_carrier_on(peer);
	} else {
		netif_carrier_off(dev);
		netif_carrier_off(peer);
		lablink_line_down(&priv->line);
		lablink_line_down(&peer_priv->line);
	}
}

/* ndo_open: process context, under RTNL. */
static int lablink_open(struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);

	lablink_rx_open(priv);
	netif_start_queue(dev);
	priv->open = true;
	lablink_update_carrier(dev);
	return 0;
}

/* ndo_stop: process context, under RTNL; the qdisc is gone already. */
static int lablink_stop(struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);

	priv->open = false;
	lablink_update_carrier(dev);
	netif_stop_queue(dev);
	lablink_rx_stop(priv);
	return 0;
}

/* ndo_change_carrier: pull or plug the cable at this end. Under RTNL. */
static int lablink_change_carrier(struct net_device *dev, bool carrier)
{
	struct lablink_priv *priv = netdev_priv(dev);

	priv->cut = !carrier;
	lablink_update_carrier(dev);
	return 0;
}

/* ndo_fix_features: no large packets unless allowed. Under RTNL. */
static netdev_features_t lablink_fix_features(struct net_device *dev,
					      netdev_features_t features)
{
	struct lablink_priv *priv = netdev_priv(dev);

	if (!priv->offload)
		features &= ~NETIF_F_GSO_MASK & ~NETIF_F_GSO;
	return features;
}

/* ndo_get_iflink: RCU or RTNL. */
static int lablink_get_iflink(const struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct net_device *peer;
	int ifindex;

	rcu_read_lock();
	peer = rcu_dereference(priv->peer);
	ifindex = peer ? READ_ONCE(peer->ifindex) : 0;
	rcu_read_unlock();
	return ifindex;
}

/* ndo_set_rx_mode: every packet is seen, there is nothing to filter. */
static void lablink_set_rx_mode(struct net_device *dev)
{
}

const struct net_device_ops lablink_netdev_ops = {
	.ndo_open		= lablink_open,
	.ndo_stop		= lablink_stop,
	.ndo_start_xmit		= lablink_xmit,
	.ndo_change_carrier	= lablink_change_carrier,
	.ndo_fix_features	= lablink_fix_features,
	.ndo_get_iflink		= lablink_get_iflink,
	.ndo_set_rx_mode	= lablink_set_rx_mode,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_features_check	= passthru_features_check,
};

/**
 * lablink_pair_dissolve() - take the two ends apart, before they are removed
 * @dev: one end
 * @peer: the other end
 *
 * Afterwards neither can send to the other. Process context, under RTNL.
 */
void lablink_pair_dissolve(struct net_device *dev, struct net_device *peer)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct lablink_priv *peer_priv = netdev_priv(peer);

	netif_carrier_off(dev);
	netif_carrier_off(peer);
	lablink_line_down(&priv->line);
	lablink_line_down(&peer_priv->line);
	RCU_INIT_POINTER(priv->peer, NULL);
	RCU_INIT_POINTER(peer_priv->peer, NULL);
}
