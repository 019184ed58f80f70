// SPDX-License-Identifier: GPL-2.0
/*
 * lablink: an exact link for the lab, a pair of network devices.
 *
 * This part: making, changing, showing and removing a pair over rtnetlink.
 */
#include <linux/ethtool.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "compat/compat.h"
#include "lablink_priv.h"

#define LABLINK_FEATURES (NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | \
			  NETIF_F_RXCSUM | NETIF_F_HIGHDMA)

static struct rtnl_link_ops lablink_link_ops;

static const struct netlink_range_validation lablink_rate_range = {
	.max = LABLINK_RATE_MAX_BPS,
};

static const struct netlink_range_validation lablink_delay_range = {
	.max = LABLINK_DELAY_MAX_NS,
};

static const struct nla_policy lablink_policy[LABLINK_A_MAX + 1] = {
	[LABLINK_A_PEER] = NLA_POLICY_MIN_LEN(sizeof(struct ifinfomsg)),
	[LABLINK_A_RATE_BPS] = NLA_POLICY_FULL_RANGE(NLA_U64,
						     &lablink_rate_range),
	[LABLINK_A_DELAY_NS] = NLA_POLICY_FULL_RANGE(NLA_U64,
						     &lablink_delay_range),
	[LABLINK_A_OVERHEAD_BYTES] = NLA_POLICY_MAX(NLA_U32,
						    LABLINK_OVERHEAD_MAX),
	[LABLINK_A_RING_PKTS] = NLA_POLICY_RANGE(NLA_U32, 1, LABLINK_RING_MAX),
	[LABLINK_A_NOISE_NS] = { .type = NLA_BINARY,
				 .len = LABLINK_NOISE_QUANTILES_MAX *
					sizeof(u32) },
	[LABLINK_A_NOISE_SEED] = { .type = NLA_U32 },
	[LABLINK_A_OFFLOAD] = NLA_POLICY_MAX(NLA_U8, 1),
	[LABLINK_A_PAD] = { .type = NLA_REJECT },
	[LABLINK_A_COUNTERS] = { .type = NLA_REJECT },
};

/* Refuse what is no distribution. */
static int lablink_check_noise(const struct nlattr *attr,
			       struct netlink_ext_ack *extack)
{
	const u32 *quantile_ns = nla_data(attr);
	u32 i, n = nla_len(attr) / sizeof(u32);

	if (nla_len(attr) % sizeof(u32)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "noise: not a whole number of u32");
		return -EINVAL;
	}
	for (i = 0; i < n; i++) {
		if (quantile_ns[i] > LABLINK_NOISE_MAX_NS) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "noise: quantile above 1 s");
			return -ERANGE;
		}
		if (i && quantile_ns[i] < quantile_ns[i - 1]) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "noise: quantiles must not fall");
			return -EINVAL;
		}
	}
	return 0;
}

/* rtnl validate: both for new and for changed links. */
static int lablink_validate(struct nlattr *tb[], struct nlattr *data[],
			    struct netlink_ext_ack *extack)
{
	u64 rate_bps;

	if (tb[IFLA_ADDRESS]) {
		if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN) {
			NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
					    "not an Ethernet address");
			return -EINVAL;
		}
		if (!is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS]))) {
			NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
					    "address is zero or multicast");
			return -EADDRNOTAVAIL;
		}
	}
	if (!data)
		return 0;
	if (data[LABLINK_A_RATE_BPS]) {
		rate_bps = nla_get_u64(data[LABLINK_A_RATE_BPS]);
		if (rate_bps && rate_bps < LABLINK_RATE_MIN_BPS) {
			NL_SET_ERR_MSG_ATTR(extack, data[LABLINK_A_RATE_BPS],
					    "rate below 1000 bit/s (0: infinite)");
			return -ERANGE;
		}
	}
	if (data[LABLINK_A_NOISE_NS])
		return lablink_check_noise(data[LABLINK_A_NOISE_NS], extack);
	return 0;
}

/* Make the noise that @data asks for; NULL if none, or an error pointer. */
static struct lablink_noise *lablink_make_noise(struct lablink_priv *priv,
						struct nlattr *data[])
{
	const struct lablink_noise *old = priv->line.noise;
	const struct nlattr *attr = data[LABLINK_A_NOISE_NS];
	struct lablink_noise *noise;
	u32 n = attr ? nla_len(attr) / sizeof(u32) : old ? old->n : 0;
	u32 seed = priv->line.noise_seed;

	if (!n)
		return NULL;
	noise = kmalloc(struct_size(noise, quantile_ns, n), GFP_KERNEL);
	if (!noise)
		return ERR_PTR(-ENOMEM);
	noise->n = n;
	memcpy(noise->quantile_ns, attr ? nla_data(attr) : old->quantile_ns,
	       n * sizeof(u32));
	if (data[LABLINK_A_NOISE_SEED])
		seed = nla_get_u32(data[LABLINK_A_NOISE_SEED]);
	noise->state = (u64)seed << 1 | priv->end;
	return noise;
}

/* Allow or forbid large packets. Under RTNL; the caller updates features. */
static void lablink_set_offload(struct net_device *dev, bool offload)
{
	struct lablink_priv *priv = netdev_priv(dev);
	const netdev_features_t large = NETIF_F_GSO | NETIF_F_GSO_SOFTWARE;

	priv->offload = offload;
	if (offload) {
		dev->wanted_features |= large | NETIF_F_GRO;
		WRITE_ONCE(dev->gso_max_segs, GSO_MAX_SEGS);
	} else {
		dev->wanted_features &= ~(large | NETIF_F_GRO);
		WRITE_ONCE(dev->gso_max_segs, 1);
	}
}

/*
 * Give one end the settings in @data, which have been validated; those not
 * there stay. Nothing changes on error. Process context, under RTNL.
 */
static int lablink_configure(struct net_device *dev, struct nlattr *data[],
			     struct netlink_ext_ack *extack)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct lablink_line *line = &priv->line;
	struct lablink_noise *noise = NULL;
	bool new_noise = data[LABLINK_A_NOISE_NS] || data[LABLINK_A_NOISE_SEED];

	if (new_noise) {
		noise = lablink_make_noise(priv, data);
		if (IS_ERR(noise)) {
			NL_SET_ERR_MSG(extack, "no memory for the noise");
			return PTR_ERR(noise);
		}
	}

	spin_lock_bh(&line->lock);
	if (data[LABLINK_A_RATE_BPS])
		lablink_clock_set_rate(&line->clk,
				       nla_get_u64(data[LABLINK_A_RATE_BPS]));
	if (data[LABLINK_A_DELAY_NS])
		line->delay_ns = nla_get_u64(data[LABLINK_A_DELAY_NS]);
	if (data[LABLINK_A_OVERHEAD_BYTES])
		line->clk.overhead_bytes =
			nla_get_u32(data[LABLINK_A_OVERHEAD_BYTES]);
	if (data[LABLINK_A_RING_PKTS])
		line->ring_pkts = nla_get_u32(data[LABLINK_A_RING_PKTS]);
	if (data[LABLINK_A_NOISE_SEED])
		line->noise_seed = nla_get_u32(data[LABLINK_A_NOISE_SEED]);
	if (new_noise)
		swap(line->noise, noise);
	spin_unlock_bh(&line->lock);

	kfree(noise);
	return 0;
}

/* rtnl changelink: the direction in which this end sends. */
static int lablink_changelink(struct net_device *dev, struct nlattr *tb[],
			      struct nlattr *data[],
			      struct netlink_ext_ack *extack)
{
	int err;

	if (!data)
		return 0;
	if (data[LABLINK_A_PEER]) {
		NL_SET_ERR_MSG_ATTR(extack, data[LABLINK_A_PEER],
				    "the other end cannot be replaced");
		return -EOPNOTSUPP;
	}
	err = lablink_configure(dev, data, extack);
	if (err)
		return err;
	if (data[LABLINK_A_OFFLOAD]) {
		lablink_set_offload(dev, nla_get_u8(data[LABLINK_A_OFFLOAD]));
		netdev_update_features(dev);
	}
	return 0;
}

/* Register one end with its settings; on error it is not registered. */
static int lablink_register(struct net_device *dev, u8 end, bool keep_gso_segs,
			    struct nlattr *data[],
			    struct netlink_ext_ack *extack)
{
	struct lablink_priv *priv = netdev_priv(dev);
	unsigned int gso_max_segs = dev->gso_max_segs;
	bool offload = false;
	int err;

	priv->end = end;
	if (data) {
		err = lablink_configure(dev, data, extack);
		if (err)
			return err;
		offload = data[LABLINK_A_OFFLOAD] &&
			  nla_get_u8(data[LABLINK_A_OFFLOAD]);
	}
	err = register_netdevice(dev);
	if (err)
		return err;
	netif_carrier_off(dev);
	lablink_set_offload(dev, offload);
	if (keep_gso_segs)
		WRITE_ONCE(dev->gso_max_segs, gso_max_segs);
	netdev_update_features(dev);
	return 0;
}

/* Make and register the other end from what LABLINK_A_PEER says. */
static struct net_device *lablink_new_peer(struct net *src_net,
					   struct nlattr *data[],
					   u32 want_ifindex,
					   struct netlink_ext_ack *extack)
{
	struct nlattr *attr = data ? data[LABLINK_A_PEER] : NULL;
	struct nlattr *tb[IFLA_MAX + 1] = {};
	unsigned char assign = NET_NAME_ENUM;
	char name[IFNAMSIZ] = LABLINK_KIND "%d";
	struct ifinfomsg *ifi = NULL;
	struct net_device *peer;
	struct net *net;
	int err;

	if (attr) {
		ifi = nla_data(attr);
		err = rtnl_nla_parse_ifinfomsg(tb, attr, extack);
		if (!err)
			err = lablink_validate(tb, NULL, extack);
		if (err)
			return ERR_PTR(err);
	}
	if (tb[IFLA_IFNAME]) {
		nla_strscpy(name, tb[IFLA_IFNAME], IFNAMSIZ);
		assign = NET_NAME_USER;
	}
	net = rtnl_link_get_net(src_net, tb);
	if (IS_ERR(net)) {
		NL_SET_ERR_MSG(extack, "no such namespace for the other end");
		return ERR_CAST(net);
	}
	peer = rtnl_create_link(net, name, assign, &lablink_link_ops, tb,
				extack);
	if (IS_ERR(peer))
		goto out;
	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(peer);
	if (ifi && want_ifindex)
		peer->ifindex = ifi->ifi_index;
	err = lablink_register(peer, 1, tb[IFLA_GSO_MAX_SEGS], data, extack);
	if (err) {
		free_netdev(peer);
		peer = ERR_PTR(err);
		goto out;
	}
	err = rtnl_configure_link(peer, ifi, 0, NULL);
	if (err) {
		unregister_netdevice(peer);
		peer = ERR_PTR(err);
	}
out:
	put_net(net);
	return peer;
}

/* Both ends, with the same settings. */
static int lablink_make(struct net *src_net, struct net_device *dev,
			struct nlattr *tb[], struct nlattr *data[],
			struct netlink_ext_ack *extack)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct lablink_priv *peer_priv;
	struct net_device *peer;
	int err;

	peer = lablink_new_peer(src_net, data, dev->ifindex, extack);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	peer_priv = netdev_priv(peer);

	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	err = lablink_register(dev, 0, tb[IFLA_GSO_MAX_SEGS], data, extack);
	if (err) {
		unregister_netdevice(peer);
		return err;
	}
	rcu_assign_pointer(priv->peer, peer);
	rcu_assign_pointer(peer_priv->peer, dev);
	return 0;
}

FL_NEWLINK(lablink_newlink, lablink_make)

/* rtnl dellink: both ends go. Called for each end when namespaces go. */
static void lablink_dellink(struct net_device *dev, struct list_head *head)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);

	if (peer)
		lablink_pair_dissolve(dev, peer);
	unregister_netdevice_queue(dev, head);
	if (peer)
		unregister_netdevice_queue(peer, head);
}

/* rtnl get_size: room for lablink_fill_info(). */
static size_t lablink_get_size(const struct net_device *dev)
{
	const struct lablink_priv *priv = netdev_priv(dev);
	const struct lablink_noise *noise = priv->line.noise;

	return 2 * nla_total_size_64bit(sizeof(u64)) +
	       3 * nla_total_size(sizeof(u32)) +
	       nla_total_size(noise ? noise->n * sizeof(u32) : 0) +
	       nla_total_size(sizeof(u8)) +
	       nla_total_size(0) +
	       LABLINK_C_MAX * nla_total_size_64bit(sizeof(u64));
}

/* Dump the counters of one direction. Under RTNL. */
static int lablink_fill_counters(struct sk_buff *skb,
				 struct lablink_line *line)
{
	u64 value[LABLINK_C_PAD - 1];
	struct nlattr *nest;
	int i;

	lablink_read_counters(line, value);
	nest = nla_nest_start(skb, LABLINK_A_COUNTERS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(value); i++)
		if (nla_put_u64_64bit(skb, i + 1, value[i], LABLINK_C_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* rtnl fill_info: every setting of this end. Under RTNL. */
static int lablink_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct lablink_line *line = &priv->line;
	struct lablink_noise *noise = line->noise;

	if (nla_put_u64_64bit(skb, LABLINK_A_RATE_BPS, line->clk.rate_bps,
			      LABLINK_A_PAD) ||
	    nla_put_u64_64bit(skb, LABLINK_A_DELAY_NS, line->delay_ns,
			      LABLINK_A_PAD) ||
	    nla_put_u32(skb, LABLINK_A_OVERHEAD_BYTES,
			line->clk.overhead_bytes) ||
	    nla_put_u32(skb, LABLINK_A_RING_PKTS, line->ring_pkts) ||
	    nla_put(skb, LABLINK_A_NOISE_NS,
		    noise ? noise->n * sizeof(u32) : 0,
		    noise ? noise->quantile_ns : NULL) ||
	    nla_put_u32(skb, LABLINK_A_NOISE_SEED, line->noise_seed) ||
	    nla_put_u8(skb, LABLINK_A_OFFLOAD, priv->offload))
		return -EMSGSIZE;
	return lablink_fill_counters(skb, line);
}

/* rtnl get_link_net: where the other end is. */
static struct net *lablink_get_link_net(const struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);

	return dev_net(peer ? peer : dev);
}

/* One queue is what makes the qdisc's order the line's order. */
static unsigned int lablink_get_num_queues(void)
{
	return 1;
}

/* priv_destructor: the last step of removal, no reference is left. */
static void lablink_free(struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);

	kfree(priv->line.noise);
}

/* rtnl setup: a new device, not registered yet. */
static void lablink_setup(struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);

	ether_setup(dev);
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	dev->netdev_ops = &lablink_netdev_ops;
	dev->ethtool_ops = &lablink_ethtool_ops;
	dev->features |= LABLINK_FEATURES;
	dev->hw_features = LABLINK_FEATURES | NETIF_F_GSO_SOFTWARE;
	dev->vlan_features = dev->features;
	dev->hw_enc_features = LABLINK_FEATURES;
	dev->needs_free_netdev = true;
	dev->priv_destructor = lablink_free;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	dev->max_mtu = ETH_MAX_MTU;
	lablink_line_init(&priv->line, dev);
	lablink_rx_init(dev);
}

static struct rtnl_link_ops lablink_link_ops = {
	.kind			= LABLINK_KIND,
	.priv_size		= sizeof(struct lablink_priv),
	.setup			= lablink_setup,
	.maxtype		= LABLINK_A_MAX,
	.policy			= lablink_policy,
	.validate		= lablink_validate,
	.newlink		= lablink_newlink,
	.changelink		= lablink_changelink,
	.dellink		= lablink_dellink,
	.get_size		= lablink_get_size,
	.fill_info		= lablink_fill_info,
	.get_link_net		= lablink_get_link_net,
	.get_num_tx_queues	= lablink_get_num_queues,
	.get_num_rx_queues	= lablink_get_num_queues,
};

static int __init lablink_init(void)
{
	BUILD_BUG_ON(offsetof(struct lablink_priv, line.clk));
	return rtnl_link_register(&lablink_link_ops);
}

static void __exit lablink_exit(void)
{
	rtnl_link_unregister(&lablink_link_ops);
}

module_init(lablink_init);
module_exit(lablink_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Fairlane lab: link with exact rate and delay");
MODULE_ALIAS_RTNL_LINK(LABLINK_KIND);
