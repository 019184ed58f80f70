// SPDX-License-Identifier: GPL-2.0
/*
 * labtap: a packet recorder for the lab.
 *
 * This part: which devices are recorded; /proc/net/labtap.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>

#include "lablink.h"
#include "lablink_clock.h"
#include "labtap_priv.h"

#define LABTAP_HASH_BITS 8
#define LABTAP_OVERHEAD_DEFAULT LABLINK_OVERHEAD_DEFAULT
#define LABTAP_OVERHEAD_MAX LABLINK_OVERHEAD_MAX

static DEFINE_HASHTABLE(labtap_taps, LABTAP_HASH_BITS);
static DECLARE_BITMAP(labtap_used, LABTAP_TAPS_MAX);

/**
 * labtap_find() - the tap of a device, or NULL
 * @dev: the device; only its address is used
 *
 * Called for every packet of every device. RCU or RTNL.
 */
struct labtap_tap *labtap_find(const struct net_device *dev)
{
	struct labtap_tap *tap;

	hash_for_each_possible_rcu(labtap_taps, tap, node, (unsigned long)dev,
				   lockdep_rtnl_is_held())
		if (tap->dev == dev)
			return tap;
	return NULL;
}

/* Forget a tap. Under RTNL. */
static void labtap_remove(struct labtap_tap *tap)
{
	hash_del_rcu(&tap->node);
	clear_bit(tap->tap, labtap_used);
	kfree_rcu(tap, rcu);
}

/* Tap a device; @overhead_bytes < 0: what the device itself says. */
static int labtap_add(struct net *net, unsigned int number, const char *name,
		      int overhead_bytes)
{
	struct net_device *dev;
	struct labtap_tap *tap;

	ASSERT_RTNL();
	dev = __dev_get_by_name(net, name);
	if (!dev)
		return -ENODEV;
	if (labtap_find(dev))
		return -EBUSY;
	if (test_and_set_bit(number, labtap_used))
		return -EEXIST;
	tap = kzalloc(sizeof(*tap), GFP_KERNEL);
	if (!tap) {
		clear_bit(number, labtap_used);
		return -ENOMEM;
	}
	tap->dev = dev;
	tap->tap = number;
	tap->overhead_bytes = LABTAP_OVERHEAD_DEFAULT;
	if (dev->rtnl_link_ops &&
	    !strcmp(dev->rtnl_link_ops->kind, LABLINK_KIND)) {
		tap->clk = netdev_priv(dev);
		tap->line_overhead = true;
	}
	if (overhead_bytes >= 0) {
		tap->overhead_bytes = overhead_bytes;
		tap->line_overhead = false;
	}
	hash_add_rcu(labtap_taps, &tap->node, (unsigned long)dev);
	return 0;
}

/* Remove a tap of one namespace by its number. */
static int labtap_del(struct net *net, unsigned int number)
{
	struct labtap_tap *tap;
	int bucket;

	ASSERT_RTNL();
	hash_for_each(labtap_taps, bucket, tap, node) {
		if (tap->tap == number && net_eq(dev_net(tap->dev), net)) {
			labtap_remove(tap);
			return 0;
		}
	}
	return -ENOENT;
}

/* A command written to /proc/net/labtap; see labtap.h. Process context. */
static int labtap_net_write(struct file *file, char *text, size_t size)
{
	struct net *net = seq_file_single_net(file->private_data);
	int n, words, err, overhead_bytes = -1, end = 0;
	unsigned int number;
	char name[IFNAMSIZ];
	bool add;

	text = strim(text);
	words = sscanf(text, "add %u %15s%n %d%n", &number, name, &end,
		       &overhead_bytes, &n);
	add = words >= 2;
	if (words == 3) {
		end = n;
		if (overhead_bytes < 0 || overhead_bytes > LABTAP_OVERHEAD_MAX)
			return -ERANGE;
	}
	if (!add && sscanf(text, "del %u%n", &number, &end) != 1)
		return -EINVAL;
	if (text[end])
		return -EINVAL;
	if (number >= LABTAP_TAPS_MAX)
		return -ERANGE;
	rtnl_lock();
	err = add ? labtap_add(net, number, name, overhead_bytes) :
		    labtap_del(net, number);
	rtnl_unlock();
	return err;
}

/* List the taps of a namespace as the commands that make them. */
static int labtap_net_show(struct seq_file *seq, void *unused)
{
	struct net *net = seq_file_single_net(seq);
	struct labtap_tap *tap;
	int bucket;

	rtnl_lock();
	hash_for_each(labtap_taps, bucket, tap, node)
		if (net_eq(dev_net(tap->dev), net))
			seq_printf(seq, "add %u %s %u\n", tap->tap,
				   tap->dev->name, tap->line_overhead ?
				   tap->clk->overhead_bytes :
				   tap->overhead_bytes);
	rtnl_unlock();
	return 0;
}

/* pernet init: /proc/net/labtap of a new namespace. */
static int __net_init labtap_net_init(struct net *net)
{
	if (!proc_create_net_single_write("labtap", 0644, net->proc_net,
					  labtap_net_show, labtap_net_write,
					  NULL))
		return -ENOMEM;
	return 0;
}

/* pernet exit. */
static void __net_exit labtap_net_exit(struct net *net)
{
	remove_proc_entry("labtap", net->proc_net);
}

static struct pernet_operations labtap_net_ops = {
	.init = labtap_net_init,
	.exit = labtap_net_exit,
};

/* A device goes away or moves to another namespace: so does its tap. */
static int labtap_netdev_event(struct notifier_block *nb, unsigned long event,
			       void *info)
{
	struct labtap_tap *tap;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	tap = labtap_find(netdev_notifier_info_to_dev(info));
	if (tap)
		labtap_remove(tap);
	return NOTIFY_DONE;
}

static struct notifier_block labtap_netdev_notifier = {
	.notifier_call = labtap_netdev_event,
};

/**
 * labtap_taps_init() - allow taps to be made
 *
 * Module init. Return: 0 or -errno.
 */
int labtap_taps_init(void)
{
	int err = register_netdevice_notifier(&labtap_netdev_notifier);

	if (err)
		return err;
	err = register_pernet_subsys(&labtap_net_ops);
	if (err)
		unregister_netdevice_notifier(&labtap_netdev_notifier);
	return err;
}

/**
 * labtap_taps_exit() - forget all taps
 *
 * Module exit; no probe runs any more.
 */
void labtap_taps_exit(void)
{
	struct labtap_tap *tap;
	struct hlist_node *next;
	int bucket;

	unregister_pernet_subsys(&labtap_net_ops);
	unregister_netdevice_notifier(&labtap_netdev_notifier);
	rtnl_lock();
	hash_for_each_safe(labtap_taps, bucket, next, tap, node)
		labtap_remove(tap);
	rtnl_unlock();
}
