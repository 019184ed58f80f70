// SPDX-License-Identifier: GPL-2.0
/*
 * What a packet costs in a device's root qdisc: enqueue and dequeue, counted in
 * cycles of the time stamp counter. Under QEMU's instruction counting with
 * shift=0 a cycle is an instruction.
 *
 *	echo "DEV ROUNDS BURST [ROOTS [PARK]]" > /proc/qdisc_cost; cat /proc/qdisc_cost
 *
 * A round enqueues BURST packets, then dequeues until the qdisc is empty. The
 * answer: cycles of all rounds, packets that came out again. With ROOTS the device's
 * neighbour asks before each round that what passes switch 9's ports below ROOTS waits.
 * With PARK packets go to 10.0.1.0 and on, as many addresses as roots, and the neighbour
 * lets them go before they are dequeued. Every packet is
 * made anew before each round, outside of what is counted: TCP/IPv4, 1514 bytes
 * every fourth of 114, ECN-capable, skb priority and DSCP class selector 0 to 7 in
 * turn, a flow of its own with its hash known, and the telemetry option.
 * Meant for a machine of its own: it runs with interrupts off.
 */
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/tcp.h>
#include <linux/timex.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <linux/fabric_frame.h>

#define COST_BURST_MAX		256
#define COST_ROUNDS_MAX		100000
#define COST_LONG_BYTES		1514
#define COST_SHORT_BYTES	114
#define COST_BANDS		8
#define COST_OPTION_BYTES	8
#define COST_TTL		64
#define COST_ROOTS_MAX		64
#define COST_ROOT_SWITCH	9
#define COST_ROOT_DISTANCE	2
#define COST_HOLD_NS		NSEC_PER_SEC

/* Söze's option of sch_fabric, nothing measured yet. */
static const u8 cost_option[COST_OPTION_BYTES] = { 253, 8, 0x46, 0x4c };

static struct sk_buff *cost_skbs[COST_BURST_MAX];
static u64 cost_cycles;
static u64 cost_packets;
static u32 cost_sequence;

/**
 * struct cost_order - what is to be counted
 * @rounds: how often
 * @burst: packets of a round
 * @roots: congestion roots that the neighbour names
 * @park: packets pass them
 */
struct cost_order {
	unsigned int rounds;
	unsigned int burst;
	unsigned int roots;
	unsigned int park;
};

/**
 * cost_prepare() - make a packet what it was before it went through a qdisc
 * @skb: the packet
 * @dev: device
 * @i: its number
 * @to: where it goes
 *
 * Context: process.
 */
static void cost_prepare(struct sk_buff *skb, struct net_device *dev,
			 unsigned int i, u32 to)
{
	u32 len = i % 4 == 3 ? COST_SHORT_BYTES : COST_LONG_BYTES;
	struct tcphdr *tcp;
	struct iphdr *ip;

	/* One reference is ours, so that a drop does not free it. */
	refcount_set(&skb->users, 2);
	skb_mark_not_on_list(skb);
	skb_trim(skb, 0);
	skb_put(skb, len);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(*ip));
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->dev = dev;
	skb->tstamp = 0;
	skb->protocol = htons(ETH_P_IP);
	skb->priority = i % COST_BANDS;
	skb->ip_summed = CHECKSUM_NONE;
	skb_set_hash(skb, (i + 1) * 0x9e3779b1U, PKT_HASH_TYPE_L4);
	qdisc_skb_cb(skb)->pkt_len = len;

	ip = ip_hdr(skb);
	memset(ip, 0, sizeof(*ip) + sizeof(*tcp));
	ip->version = 4;
	ip->ihl = 5;
	ip->tos = i % COST_BANDS << 5 | 2;
	ip->ttl = COST_TTL;
	ip->protocol = IPPROTO_TCP;
	ip->tot_len = htons(len - ETH_HLEN);
	ip->saddr = htonl(0x0a000001);
	ip->daddr = htonl(to);
	ip_send_check(ip);
	tcp = tcp_hdr(skb);
	tcp->source = htons(20000 + i);
	tcp->dest = htons(10000);
	tcp->ack = 1;
	tcp->doff = (sizeof(*tcp) + COST_OPTION_BYTES) / 4;
	memcpy(tcp + 1, cost_option, sizeof(cost_option));
}

/* The device's neighbour says something of each root. Context: process. */
static void cost_hear(struct net_device *dev, unsigned int roots, u8 type)
{
	struct fabric_frame *frame;
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < roots; i++) {
		skb = netdev_alloc_skb(dev, ETH_ZLEN);
		if (!skb)
			return;		/* then the packets do not come out as they should */
		skb_reset_mac_header(skb);
		frame = skb_put_zero(skb, ETH_ZLEN - ETH_HLEN);
		frame->magic = htons(FABRIC_FRAME_MAGIC);
		frame->version = FABRIC_FRAME_VERSION;
		frame->type = type;
		frame->epoch = htonl(1);
		frame->sequence = htonl(++cost_sequence);
		frame->root_switch = htonl(COST_ROOT_SWITCH);
		frame->root_port = htons(i);
		frame->distance = COST_ROOT_DISTANCE;
		frame->hold_ns = htonl(type == FABRIC_FRAME_PAUSE ? COST_HOLD_NS : 0);
		skb->protocol = htons(FABRIC_FRAME_ETHERTYPE);
		local_bh_disable();
		netif_receive_skb(skb);
		local_bh_enable();
	}
}

/* Enqueues packets. Context: process. Return: cycles. */
static u64 cost_put(struct Qdisc *sch, unsigned int burst)
{
	struct sk_buff *to_free = NULL;
	unsigned long flags;
	unsigned int i;
	u64 from;

	spin_lock_bh(qdisc_lock(sch));
	local_irq_save(flags);
	from = get_cycles();
	for (i = 0; i < burst; i++)
		sch->enqueue(cost_skbs[i], sch, &to_free);
	from = get_cycles() - from;
	local_irq_restore(flags);
	spin_unlock_bh(qdisc_lock(sch));
	if (unlikely(to_free))
		kfree_skb_list(to_free);
	return from;
}

/* Dequeues all. Context: process. Return: cycles. */
static u64 cost_take(struct Qdisc *sch)
{
	unsigned int n = 0;
	unsigned long flags;
	u64 from;

	spin_lock_bh(qdisc_lock(sch));
	local_irq_save(flags);
	from = get_cycles();
	while (sch->dequeue(sch))
		n++;
	from = get_cycles() - from;
	local_irq_restore(flags);
	spin_unlock_bh(qdisc_lock(sch));
	cost_packets += n;
	return from;
}

/* Counts. Context: process, rtnl held. Return: 0 or a negative error. */
static int cost_count(struct net_device *dev, const struct cost_order *o)
{
	struct Qdisc *sch = rtnl_dereference(dev->qdisc);
	unsigned int round, i, parked = 0;

	if (!sch->enqueue)
		return -EINVAL;
	cost_cycles = 0;
	cost_packets = 0;
	for (round = 0; round < o->rounds; round++) {
		for (i = 0; i < o->burst; i++)
			cost_prepare(cost_skbs[i], dev, i,
				     o->park ? 0x0a000100 + i % o->roots :
					       0x0a000002);
		cost_hear(dev, o->roots, FABRIC_FRAME_PAUSE);
		cost_cycles += cost_put(sch, o->burst);
		/* Else the stack would send what may go. */
		local_bh_disable();
		if (o->park) {
			cost_take(sch);
			parked += sch->q.qlen;
			cost_hear(dev, o->roots, FABRIC_FRAME_RESUME);
		}
		cost_cycles += cost_take(sch);
		local_bh_enable();
	}
	/* All of them, or it is not that which was counted. */
	return o->park && parked != o->rounds * o->burst ? -EINVAL : 0;
}

/* Takes an order. Context: process. Return: its length or a negative error. */
static ssize_t cost_write(struct file *file, const char __user *from,
			  size_t len, loff_t *pos)
{
	struct cost_order o = { 0 };
	char text[64], name[IFNAMSIZ];
	struct net_device *dev;
	int err;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = 0;
	if (sscanf(text, "%15s %u %u %u %u", name, &o.rounds, &o.burst,
		   &o.roots, &o.park) < 3 ||
	    !o.burst || o.burst > COST_BURST_MAX || o.rounds > COST_ROUNDS_MAX ||
	    o.roots > COST_ROOTS_MAX || (o.park && !o.roots))
		return -EINVAL;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, name);
	err = dev ? cost_count(dev, &o) : -ENODEV;
	rtnl_unlock();
	return err ? err : len;
}

/* Says what was counted last. Context: process. */
static int cost_show(struct seq_file *seq, void *v)
{
	seq_printf(seq, "%llu %llu\n", cost_cycles, cost_packets);
	return 0;
}

/* Context: process. */
static int cost_open(struct inode *inode, struct file *file)
{
	return single_open(file, cost_show, NULL);
}

static const struct proc_ops cost_ops = {
	.proc_open	= cost_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= cost_write,
};

/* Frees what there is. Context: process. */
static void cost_free(void)
{
	unsigned int i;

	for (i = 0; i < COST_BURST_MAX && cost_skbs[i]; i++) {
		refcount_set(&cost_skbs[i]->users, 1);
		kfree_skb(cost_skbs[i]);
	}
}

static int __init cost_init(void)
{
	unsigned int i;

	for (i = 0; i < COST_BURST_MAX; i++) {
		cost_skbs[i] = alloc_skb(COST_LONG_BYTES, GFP_KERNEL);
		if (!cost_skbs[i])
			goto fail;
		memset(cost_skbs[i]->data, 0, COST_LONG_BYTES);
	}
	if (!proc_create("qdisc_cost", 0600, NULL, &cost_ops))
		goto fail;
	return 0;
fail:
	cost_free();
	return -ENOMEM;
}
module_init(cost_init);

static void __exit cost_exit(void)
{
	remove_proc_entry("qdisc_cost", NULL);
	cost_free();
}
module_exit(cost_exit);

MODULE_AUTHOR("The Fairlane authors");
MODULE_DESCRIPTION("Counts what a packet costs in a qdisc");
MODULE_LICENSE("GPL");
