// SPDX-License-Identifier: GPL-2.0
/*
 * Line rates of network devices and of paths, for congestion controls.
 *
 * A device tells its speed under rtnl only, a congestion control starts in
 * softirq. So a notifier asks each device when it comes up or changes, and
 * keeps the answer by namespace and ifindex, where softirq reads it under
 * RCU. A device that lies on others is as fast as they are (fl_speed_below()).
 *
 * Where the bottleneck is slower than the device, or the device tells nothing,
 * flows can measure (lib/line_rate.h): the most that any flow of the namespace got to a
 * destination in a round trip, or all of them in 32, of the last 34 to 68 seconds.
 * Destinations lie in a table of fixed size; one that finds its place taken goes on unmeasured.
 */
#include <linux/jhash.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "compat/compat.h"
#include "lib/line_rate.h"
#include "fl_paths.h"
#include "fl_sock.h"

/* A rate that has changed by less than this part of it has not. */
#define FL_SPEED_SAME_PART	32

/**
 * struct fl_speed_net - line rates in a network namespace
 * @mbps: ifindex -> Mbit/s as an xarray value
 * @paths: measured ones, by destination, of struct fl_rate_path
 * @lock: writers of entries; from softirq, too
 */
struct fl_speed_net {
	struct xarray mbps;
	struct fl_paths paths;
	/* of entries */
	spinlock_t lock;
};

static unsigned int fl_speed_net_id __read_mostly;
static u32 fl_speed_seed __read_mostly;

/* Speed of what a device lies on, Mbit/s; 0 = not known. Those below have been asked before.
 * The speed of a bond or team is the sum of its ports', but a flow goes through one of them: the
 * fastest that is up, as far as anybody knows. Context: process, rtnl held. Return: false, it lies
 * on nothing, or a bridge on many.
 */
static bool fl_speed_below(struct net_device *dev, u32 *mbps)
{
	struct net_device *lower;
	struct list_head *iter;
	u32 count = 0;
	void *entry;

	*mbps = 0;
	netdev_for_each_lower_dev(dev, lower, iter) {
		struct fl_speed_net *sn = net_generic(dev_net(lower), fl_speed_net_id);

		count++;
		entry = xa_load(&sn->mbps, lower->ifindex);
		if (entry && netif_carrier_ok(lower))
			*mbps = max_t(u32, *mbps, xa_to_value(entry));
	}
	return count == 1 || (count && netif_is_lag_master(dev));
}

/* Without memory the rate stays unknown, which is handled. A device that goes loses those below
 * after its NETDEV_UNREGISTER, and has no rate any more. Context: rtnl held.
 */
static void fl_speed_keep(struct net_device *dev, u32 mbps, gfp_t gfp)
{
	struct fl_speed_net *sn = net_generic(dev_net(dev), fl_speed_net_id);

	if (mbps && dev->reg_state == NETREG_REGISTERED)
		xa_store(&sn->mbps, dev->ifindex, xa_mk_value(mbps), gfp);
	else
		xa_erase(&sn->mbps, dev->ifindex);
}

/* What lies on a device that was asked. Context: rtnl held, RCU. */
static int fl_speed_above(struct net_device *dev, struct netdev_nested_priv *priv)
{
	u32 mbps;

	if (fl_speed_below(dev, &mbps))
		fl_speed_keep(dev, mbps, GFP_ATOMIC);
	return 0;
}

/* Context: process, rtnl held. */
static void fl_speed_ask(struct net_device *dev)
{
	struct netdev_nested_priv none = { };
	struct ethtool_link_ksettings ks;
	u32 mbps;

	if (!fl_speed_below(dev, &mbps))
		mbps = __ethtool_get_link_ksettings(dev, &ks) ||
		       ks.base.speed == (u32)SPEED_UNKNOWN ? 0 : ks.base.speed;
	fl_speed_keep(dev, mbps, GFP_KERNEL);
	rcu_read_lock();
	netdev_walk_all_upper_dev_rcu(dev, fl_speed_above, &none);
	rcu_read_unlock();
}

/* Context: process, rtnl held. */
static int fl_speed_event(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	const struct netdev_notifier_changeupper_info *change = ptr;
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct fl_speed_net *sn;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		fl_speed_ask(dev);
		break;
	case NETDEV_CHANGEUPPER:
		if (change->upper_dev->reg_state == NETREG_REGISTERED)
			fl_speed_ask(change->upper_dev);
		break;
	case NETDEV_UNREGISTER:
		sn = net_generic(dev_net(dev), fl_speed_net_id);
		xa_erase(&sn->mbps, dev->ifindex);
		break;
	}
	return NOTIFY_DONE;
}

/**
 * fl_device_mbps() - rate of the device that a socket sends through
 * @sk: the socket
 *
 * Context: socket lock held, or RCU, any.
 * Return: Mbit/s; 0 = not known.
 */
u32 fl_device_mbps(const struct sock *sk)
{
	struct fl_speed_net *sn;
	const struct dst_entry *dst;
	void *entry = NULL;

	rcu_read_lock();
	dst = __sk_dst_get((struct sock *)sk);
	if (dst) {
		sn = net_generic(sock_net(sk), fl_speed_net_id);
		entry = xa_load(&sn->mbps, dst->dev->ifindex);
	}
	rcu_read_unlock();
	return entry ? xa_to_value(entry) : 0;
}
EXPORT_SYMBOL_GPL(fl_device_mbps);

static u32 fl_speed_key(const struct sock *sk)
{
	u32 key;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		key = jhash2((const u32 *)&sk->sk_v6_daddr, 4, fl_speed_seed);
	else
#endif
		key = jhash_1word((__force u32)sk->sk_daddr, fl_speed_seed);
	return key ?: 1;
}

/* What has been measured to a socket's destination, kbit/s; 0 = nothing. What two
 * windows have told is kept until somebody measures again.
 */
static u32 fl_speed_path_kbps(const struct sock *sk)
{
	const struct fl_speed_net *sn = net_generic(sock_net(sk),
						    fl_speed_net_id);
	u32 key = fl_speed_key(sk);
	const struct fl_rate_path *p = fl_paths_find(&sn->paths, key, sizeof(*p));
	struct fl_rate_path copy = { };

	if (!p || READ_ONCE(p->key) != key)
		return 0;
	copy.now_kbps = READ_ONCE(p->now_kbps);
	copy.before_kbps = READ_ONCE(p->before_kbps);
	copy.queued = READ_ONCE(p->queued);
	return fl_rate_most(&copy);
}

/* Into the table: @kbps of a round trip, or 0, and a lump, if it has bytes.
 * Return: what the table says now, kbit/s.
 */
static u32 fl_speed_learn(const struct sock *sk, u32 kbps, const struct fl_rate_lump *lump,
			  bool queued, bool app_limited)
{
	struct fl_speed_net *sn = net_generic(sock_net(sk), fl_speed_net_id);
	u32 window = lump->end_ns >> FL_RATE_WINDOW_SHIFT;
	u32 key = fl_speed_key(sk), most = 0;
	struct fl_rate_path *p = fl_paths_make(&sn->paths, key, sizeof(*p));

	/* without memory the rate is not known, as before the first round */
	if (!p)
		return 0;
	/* nothing new, as for nearly all ACKs that end no lump */
	if (!lump->bytes && READ_ONCE(p->key) == key && READ_ONCE(p->window) == window &&
	    kbps <= READ_ONCE(p->now_kbps) &&
	    (!queued || READ_ONCE(p->queued) & 1))
		return fl_speed_path_kbps(sk);
	spin_lock_bh(&sn->lock);
	if (fl_rate_turn(p, key, window)) {
		/* the lock is taken once a round trip of each flow */
		if (lump->bytes)
			kbps = max_t(u32, kbps, fl_rate_sum(p, lump));
		fl_rate_sample(p, kbps, queued, app_limited);
		most = fl_rate_most(p);
	}
	spin_unlock_bh(&sn->lock);
	return most;
}

/**
 * fl_rate_measure() - measure the line rate with an ACK
 * @sk: the socket; caller holds its lock
 * @f: its settings, NULL = nothing is measured
 * @base_ns: RTT without queues, ns; 0 = not known
 * @rtt_ns: delay of this ACK, ns; 0 = none
 * @rs: what the stack says of it
 *
 * For flows whose profile has line_rate_measured; each ACK, or one in an RTT.
 * Context: ACK.
 * Return: true if the rate of the path has changed.
 */
bool fl_rate_measure(struct sock *sk, struct fl_sock *f, u32 base_ns,
		     u32 rtt_ns, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct fl_rate_ack a = {
		.now_ns = tp->tcp_clock_cache,
		.una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.pkts = tp->delivered,
		.rtt_ns = rtt_ns,
		.clean = inet_csk(sk)->icsk_ca_state == TCP_CA_Open,
	};
	struct fl_rate_lump lump;
	u32 kbps;

	if (!f)
		return false;
	if (!f->meter) {
		f->meter = kzalloc(sizeof(*f->meter), GFP_ATOMIC |
				   __GFP_NOWARN | __GFP_ACCOUNT);
		if (!f->meter)
			return false;
	}
	a.overhead_bytes = fl_wire_bytes(sk) - tp->mss_cache;
	kbps = fl_rate_round(f->meter, &a);
	lump = fl_rate_lump(f->meter, &a);
	if (!kbps && !lump.bytes)
		return false;
	kbps = fl_speed_learn(sk, kbps, &lump, fl_rate_is_queue(rtt_ns, base_ns),
			      rs->is_app_limited);
	if (max_t(u32, kbps, f->meter->seen_kbps) -
	    min_t(u32, kbps, f->meter->seen_kbps) <=
	    kbps / FL_SPEED_SAME_PART)
		return false;
	f->meter->seen_kbps = kbps;
	return true;
}
EXPORT_SYMBOL_GPL(fl_rate_measure);

/**
 * fl_line_bps() - line rate that a flow may count on
 * @sk: its socket
 * @pf: profile of the socket's namespace
 * @measured: may it be a measured one?
 * @from: where it comes from, enum fl_from; may be NULL
 *
 * The profile's, else a measured one if the profile wants that, else the one of the
 * device that the socket sends through, else FL_LINE_DEFAULT_BPS. A measured one is
 * no more than the device's and at least 1 Mbit/s. Context: socket lock held, or RCU, any.
 *
 * Return: bit/s, never 0.
 */
u64 fl_line_bps(const struct sock *sk, const struct fl_profile *pf,
		bool measured, u8 *from)
{
	u32 mbps = READ_ONCE(pf->line_rate_mbps), kbps = 0;
	u64 bps;
	u8 src;

	src = FL_FROM_NETNS;
	if (!mbps) {
		mbps = fl_device_mbps(sk);
		src = mbps ? FL_FROM_DEVICE : FL_FROM_ASSUMED;
		if (measured && READ_ONCE(pf->line_rate_measured))
			kbps = fl_speed_path_kbps(sk);
	}
	/* no faster and no slower than what the cores can count with, see fl_ppn() */
	bps = mbps ? min_t(u32, mbps, FL_LINE_MAX_MBPS) * 1000000ULL :
		     FL_LINE_DEFAULT_BPS;
	if (kbps && (src == FL_FROM_ASSUMED || kbps * 1000ULL < bps)) {
		bps = clamp_t(u64, kbps * 1000ULL,
			      FL_LINE_RATE_MIN_MBPS * 1000000ULL,
			      FL_LINE_MAX_MBPS * 1000000ULL);
		src = FL_FROM_MEASURED;
	}
	if (from)
		*from = src;
	return bps;
}
EXPORT_SYMBOL_GPL(fl_line_bps);

static int __net_init fl_speed_net_init(struct net *net)
{
	struct fl_speed_net *sn = net_generic(net, fl_speed_net_id);

	spin_lock_init(&sn->lock);
	xa_init_flags(&sn->mbps, XA_FLAGS_ACCOUNT);
	return 0;
}

static void __net_exit fl_speed_net_pre_exit(struct net *net)
{
	struct fl_speed_net *sn = net_generic(net, fl_speed_net_id);

	fl_paths_close(&sn->paths);
}

static void __net_exit fl_speed_net_exit(struct net *net)
{
	struct fl_speed_net *sn = net_generic(net, fl_speed_net_id);

	xa_destroy(&sn->mbps);
	fl_paths_free(&sn->paths);
}

static struct pernet_operations fl_speed_net_ops = {
	.init = fl_speed_net_init,
	.pre_exit = fl_speed_net_pre_exit,
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

	fl_speed_seed = get_random_u32();
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
