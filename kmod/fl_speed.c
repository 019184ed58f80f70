// SPDX-License-Identifier: GPL-2.0
/*
 * Line rates of network devices, for congestion controls.
 *
 * A device tells its speed under rtnl only, a congestion control starts in
 * softirq. So a notifier asks each device when it comes up or changes, and
 * keeps the answer by namespace and ifindex, where softirq reads it under
 * RCU.
 */
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "compat.h"
#include "fairlane.h"

/**
 * struct fl_speed_net - line rates in a network namespace
 * @mbps: ifindex -> Mbit/s as an xarray value
 */
struct fl_speed_net {
	struct xarray mbps;
};

static unsigned int fl_speed_net_id __read_mostly;

static void fl_speed_ask(struct net_device *dev)
{
	struct fl_speed_net *sn = net_generic(dev_net(dev), fl_speed_net_id);
	struct ethtool_link_ksettings ks;

	if (__ethtool_get_link_ksettings(dev, &ks) || !ks.base.speed ||
	    ks.base.speed == (u32)SPEED_UNKNOWN) {
		xa_erase(&sn->mbps, dev->ifindex);
		return;
	}
	/* without memory the rate stays unknown, which is handled */
	xa_store(&sn->mbps, dev->ifindex, xa_mk_value(ks.base.speed),
		 GFP_KERNEL);
}

/* Context: process, rtnl held. */
static int fl_speed_event(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct fl_speed_net *sn;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		fl_speed_ask(dev);
		break;
	case NETDEV_UNREGISTER:
		sn = net_generic(dev_net(dev), fl_speed_net_id);
		xa_erase(&sn->mbps, dev->ifindex);
		break;
	}
	return NOTIFY_DONE;
}

/**
 * fl_line_bps() - line rate that a flow may count on
 * @sk: its socket
 * @pf: profile of the socket's namespace
 *
 * The profile's, else the one of the device that the socket sends through,
 * else FL_LINE_DEFAULT_BPS. Context: socket lock held, any.
 *
 * Return: bit/s, never 0.
 */
u64 fl_line_bps(const struct sock *sk, const struct fl_profile *pf)
{
	u32 mbps = READ_ONCE(pf->line_rate_mbps);
	const struct dst_entry *dst;
	struct fl_speed_net *sn;
	void *entry;

	if (!mbps) {
		rcu_read_lock();
		dst = __sk_dst_get((struct sock *)sk);
		if (dst) {
			sn = net_generic(sock_net(sk), fl_speed_net_id);
			entry = xa_load(&sn->mbps, dst->dev->ifindex);
			if (entry)
				mbps = xa_to_value(entry);
		}
		rcu_read_unlock();
	}
	/* no faster than what the cores can count with, see fl_ppn() */
	return mbps ? min_t(u32, mbps, FL_LINE_MAX_MBPS) * 1000000ULL :
		      FL_LINE_DEFAULT_BPS;
}
EXPORT_SYMBOL_GPL(fl_line_bps);

static int __net_init fl_speed_net_init(struct net *net)
{
	struct fl_speed_net *sn = net_generic(net, fl_speed_net_id);

	xa_init(&sn->mbps);
	return 0;
}

static void __net_exit fl_speed_net_exit(struct net *net)
{
	struct fl_speed_net *sn = net_generic(net, fl_speed_net_id);

	xa_destroy(&sn->mbps);
}

static struct pernet_operations fl_speed_net_ops = {
	.init = fl_speed_net_init,
	.exit = fl_speed_net_exit,
	.id = &fl_speed_net_id,
	.size = sizeof(struct fl_speed_net),
};

static struct notifier_block fl_speed_notifier = {
	.notifier_call = fl_speed_event,
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_speed_init(void)
{
	int err;

	err = register_pernet_subsys(&fl_speed_net_ops);
	if (err)
		return err;
	/* tells about the devices that are there already, too */
	err = register_netdevice_notifier(&fl_speed_notifier);
	if (err)
		unregister_pernet_subsys(&fl_speed_net_ops);
	return err;
}

/* Context: process, module unload. */
void fl_speed_exit(void)
{
	unregister_netdevice_notifier(&fl_speed_notifier);
	unregister_pernet_subsys(&fl_speed_net_ops);
}
