// SPDX-License-Identifier: GPL-2.0
/*
 * lablink: ethtool.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>

#include "lablink_priv.h"

static const char lablink_counter_names[][ETH_GSTRING_LEN] = {
	"line_packets",
	"line_bytes",
	"queue_stops",
	"lost_in_flight",
	"late_events",
	"late_max_ns",
};

/**
 * lablink_read_counters() - read the counters of one direction
 * @line: the direction
 * @value: room for one value for each, in the order of enum lablink_counter
 */
void lablink_read_counters(struct lablink_line *line, u64 *value)
{
	spin_lock_bh(&line->lock);
	value[LABLINK_C_LINE_PKTS - 1] = line->line_pkts;
	value[LABLINK_C_LINE_BYTES - 1] = line->line_bytes;
	value[LABLINK_C_QUEUE_STOPS - 1] = line->queue_stops;
	value[LABLINK_C_LOST_IN_FLIGHT - 1] = line->lost_in_flight;
	value[LABLINK_C_LATE_EVENTS - 1] = line->late_events;
	value[LABLINK_C_LATE_MAX_NS - 1] = line->late_max_ns;
	spin_unlock_bh(&line->lock);
}

/* Under RTNL, as all of ethtool. */
static void lablink_get_drvinfo(struct net_device *dev,
				struct ethtool_drvinfo *info)
{
	strscpy(info->driver, LABLINK_KIND, sizeof(info->driver));
}

/* The line rate as the device's speed; unknown if below 1 Mbit/s or infinite. */
static int lablink_get_link_ksettings(struct net_device *dev,
				      struct ethtool_link_ksettings *ks)
{
	struct lablink_priv *priv = netdev_priv(dev);
	u64 mbps = div_u64(READ_ONCE(priv->line.clk.rate_bps), 1000000);

	ks->base.speed = mbps ? (u32)mbps : (u32)SPEED_UNKNOWN;
	ks->base.duplex = DUPLEX_FULL;
	ks->base.port = PORT_FIBRE;
	ks->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

/* The ring's size. */
static void lablink_get_ringparam(struct net_device *dev,
				  struct ethtool_ringparam *ring,
				  struct kernel_ethtool_ringparam *kernel_ring,
				  struct netlink_ext_ack *extack)
{
	struct lablink_priv *priv = netdev_priv(dev);

	ring->tx_max_pending = LABLINK_RING_MAX;
	ring->tx_pending = READ_ONCE(priv->line.ring_pkts);
}

/* Number of counters. */
static int lablink_get_sset_count(struct net_device *dev, int sset)
{
	return sset == ETH_SS_STATS ? ARRAY_SIZE(lablink_counter_names) :
		-EOPNOTSUPP;
}

/* Names of the counters. */
static void lablink_get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	if (sset == ETH_SS_STATS)
		memcpy(data, lablink_counter_names,
		       sizeof(lablink_counter_names));
}

/* Values of the counters. */
static void lablink_get_ethtool_stats(struct net_device *dev,
				      struct ethtool_stats *stats, u64 *data)
{
	struct lablink_priv *priv = netdev_priv(dev);

	BUILD_BUG_ON(ARRAY_SIZE(lablink_counter_names) != LABLINK_C_PAD - 1);
	lablink_read_counters(&priv->line, data);
}

const struct ethtool_ops lablink_ethtool_ops = {
	.get_drvinfo		= lablink_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= lablink_get_link_ksettings,
	.get_ringparam		= lablink_get_ringparam,
	.get_ts_info		= ethtool_op_get_ts_info,
	.get_sset_count		= lablink_get_sset_count,
	.get_strings		= lablink_get_strings,
	.get_ethtool_stats	= lablink_get_ethtool_stats,
};
