/* SPDX-License-Identifier: GPL-2.0 */
/*
 * labtap: what the parts of the module share.
 */
#ifndef LABTAP_PRIV_H
#define LABTAP_PRIV_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "labtap.h"

struct lablink_clock;

/**
 * struct labtap_tap - a device that is recorded
 * @node: in the hash by @dev (RCU; changed under RTNL)
 * @dev: the device; registered as long as the tap is in the hash
 * @clk: its line if it is a lablink device, else NULL
 * @overhead_bytes: added to each frame unless @line_overhead
 * @line_overhead: take what the lablink device adds
 * @tap: the user's number
 * @rcu: for freeing
 */
struct labtap_tap {
	struct hlist_node node;
	const struct net_device *dev;
	const struct lablink_clock *clk;
	u32 overhead_bytes;
	bool line_overhead;
	u16 tap;
	struct rcu_head rcu;
};

/* labtap_taps.c */
struct labtap_tap *labtap_find(const struct net_device *dev);
int labtap_taps_init(void);
void labtap_taps_exit(void);

/* labtap_packet.c */
int labtap_probes_find(void);
int labtap_probes_attach(void);
void labtap_probes_detach(void);

/* labtap_record.c */
void labtap_store(const struct labtap_rec *rec);
int labtap_record_init(void);
void labtap_record_exit(void);

#endif /* LABTAP_PRIV_H */
