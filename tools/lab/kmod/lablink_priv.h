/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lablink: what the parts of the module share.
 */
#ifndef LABLINK_PRIV_H
#define LABLINK_PRIV_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "lablink.h"
#include "lablink_clock.h"

/**
 * struct lablink_noise - distribution of the extra delay
 * @state: of the random generator
 * @n: number of quantiles
 * @quantile_ns: equidistant, not falling
 */
struct lablink_noise {
	u64 state;
	u32 n;
	u32 quantile_ns[] __counted_by(n);
};

/**
 * struct lablink_line - one direction, kept with the end that sends
 * @clk: serialization; first, see lablink_clock.h
 * @lock: protects all of this struct
 * @up: both ends are up; nothing is in flight otherwise
 * @full: the device's queue is stopped because the ring is full
 * @ring_pkts: most packets in @ring
 * @noise_seed: as the user set it
 * @delay_ns: propagation delay
 * @last_due_ns: when the last packet on the way arrives
 * @armed_ns: when the timer will fire, U64_MAX: not armed
 * @ring: packets with the device, first one being sent
 * @way: packets on their way
 * @timer: soft; for the earliest of both
 * @noise: extra delay or NULL
 * @dev: the end that sends
 * @rx_dev: the end that receives; valid while @up
 * @line_pkts: see enum lablink_counter
 * @line_bytes: see enum lablink_counter
 * @queue_stops: see enum lablink_counter
 * @lost_in_flight: see enum lablink_counter
 * @late_events: see enum lablink_counter
 * @late_max_ns: see enum lablink_counter
 */
struct lablink_line {
	struct lablink_clock clk;
	spinlock_t lock;	/* protects all of this */
	bool up;
	bool full;
	u32 ring_pkts;
	u32 noise_seed;
	u64 delay_ns;
	u64 last_due_ns;
	u64 armed_ns;
	struct sk_buff_head ring;
	struct sk_buff_head way;
	struct hrtimer timer;
	struct lablink_noise *noise;
	struct net_device *dev;
	struct net_device *rx_dev;
	u64 line_pkts;
	u64 line_bytes;
	u64 queue_stops;
	u64 lost_in_flight;
	u64 late_events;
	u64 late_max_ns;
};

/**
 * struct lablink_priv - private data of one end
 * @line: the direction in which this end sends; first
 * @peer: the other end, NULL when the pair is going away (RTNL, RCU)
 * @end: 0 or 1: which end
 * @open: between ndo_open and ndo_stop (RTNL)
 * @cut: the user switched the carrier off at this end (RTNL)
 * @offload: large packets are allowed (RTNL)
 * @rx_masked: NAPI is scheduled and needs no kick (under @rx.lock)
 * @rx: packets for @napi
 * @napi: receives while GRO is on; without GRO packets go straight up
 */
struct lablink_priv {
	struct lablink_line line;
	struct net_device __rcu *peer;
	u8 end;
	bool open;
	bool cut;
	bool offload;
	bool rx_masked;
	struct sk_buff_head rx;
	struct napi_struct napi;
};

/* lablink_line.c */
void lablink_line_init(struct lablink_line *line, struct net_device *dev);
void lablink_line_up(struct lablink_line *line, struct net_device *rx_dev);
void lablink_line_down(struct lablink_line *line);
netdev_tx_t lablink_xmit(struct sk_buff *skb, struct net_device *dev);

/* lablink_rx.c */
void lablink_rx(struct net_device *dev, struct sk_buff *skb);
void lablink_rx_init(struct net_device *dev);
void lablink_rx_open(struct lablink_priv *priv);
void lablink_rx_stop(struct lablink_priv *priv);

/* lablink_dev.c */
extern const struct net_device_ops lablink_netdev_ops;
void lablink_pair_dissolve(struct net_device *dev, struct net_device *peer);

/* lablink_ethtool.c */
extern const struct ethtool_ops lablink_ethtool_ops;
void lablink_read_counters(struct lablink_line *line, u64 *value);

#endif /* LABLINK_PRIV_H */
