// SPDX-License-Identifier: GPL-2.0
/*
 * lablink: one direction of the link: ring, serialization, way, timer.
 *
 * A packet enters the ring in lablink_xmit() and gets the time when its last
 * bit will have left. One soft timer per direction serves whatever comes next:
 * the end of a transmission (the packet is the sender's no longer, the qdisc
 * is asked for another one) or the arrival of a packet at the far end.
 *
 * A transmission ends at a fraction of a nanosecond. Its end is served in the
 * nanosecond where it falls, an arrival in the one after. So a packet that
 * comes in at line rate finds the line free and need not be queued.
 */
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <net/sch_generic.h>

#include "compat/compat.h"
#include "lablink_priv.h"
#include "lablink_skb.h"

/**
 * struct lablink_cb - what a packet carries with it through the link
 * @due_ns: in the ring: end of transmission; on its way: arrival
 * @segs: packets on the line
 * @fraction: the transmission ends a fraction after @due_ns
 */
struct lablink_cb {
	u64 due_ns;
	u32 segs;
	bool fraction;
};

/* The link owns the control block of every packet in its lists. */
static struct lablink_cb *lablink_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct lablink_cb) > sizeof(skb->cb));
	return (struct lablink_cb *)skb->cb;
}

/* Make the timer fire at the next event. Under line->lock. */
static void lablink_arm(struct lablink_line *line)
{
	struct sk_buff *skb;
	u64 next_ns = U64_MAX;

	skb = skb_peek(&line->ring);
	if (skb)
		next_ns = lablink_cb(skb)->due_ns;
	skb = skb_peek(&line->way);
	if (skb)
		next_ns = min(next_ns, lablink_cb(skb)->due_ns);
	if (next_ns >= line->armed_ns)
		return;
	line->armed_ns = next_ns;
	hrtimer_start(&line->timer, ns_to_ktime(next_ns),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * The last bit of a packet has left: it is no longer the sender's (this lets
 * TCP queue more) and is on its way. Under line->lock.
 */
static void lablink_sent(struct lablink_line *line, struct sk_buff *skb)
{
	struct lablink_noise *noise = line->noise;
	struct lablink_cb *cb = lablink_cb(skb);

	skb_orphan(skb);
	dev_sw_netstats_tx_add(line->dev, cb->segs, skb->len);
	cb->due_ns += line->delay_ns + cb->fraction;
	if (noise)
		cb->due_ns += lablink_quantile(noise->quantile_ns, noise->n,
					       lablink_random(&noise->state));
	if (cb->due_ns < line->last_due_ns)
		cb->due_ns = line->last_due_ns;
	line->last_due_ns = cb->due_ns;
	__skb_queue_tail(&line->way, skb);
}

/* Book how late an event was served. Under line->lock. */
static void lablink_book_late(struct lablink_line *line, u64 late_ns)
{
	if (likely(!late_ns))
		return;
	line->late_events++;
	if (late_ns > line->late_max_ns)
		line->late_max_ns = late_ns;
}

/*
 * The ring has room again: ask the qdisc for a packet. If it has none, which
 * is common, spare the softirq; with several CPUs one may be coming in just
 * now, so ask always. Softirq context, under line->lock.
 */
static void lablink_resume(struct lablink_line *line, u64 now_ns)
{
	struct netdev_queue *txq = netdev_get_tx_queue(line->dev, 0);

	line->full = false;
	line->clk.resumed_ns = now_ns;
	rcu_read_lock();
	if (IS_ENABLED(CONFIG_SMP) ||
	    qdisc_qlen_sum(rcu_dereference(txq->qdisc)))
		netif_tx_wake_queue(txq);
	else
		netif_tx_start_queue(txq);
	rcu_read_unlock();
}

/*
 * The timer: serve all events up to now, in order. Softirq context. Arrived
 * packets go up after the lock is released, as they may well come back here
 * through lablink_xmit(). The timer is armed last: of timers for the same time
 * the one armed first comes first, and the line that the packets go out on is
 * to be free when more of them arrive.
 */
static enum hrtimer_restart lablink_timer(struct hrtimer *timer)
{
	struct lablink_line *line = container_of(timer, struct lablink_line,
						 timer);
	struct sk_buff_head arrived;
	struct net_device *rx_dev;
	struct sk_buff *skb;
	u64 now_ns;

	__skb_queue_head_init(&arrived);
	spin_lock(&line->lock);
	if (unlikely(!line->up)) {
		spin_unlock(&line->lock);
		return HRTIMER_NORESTART;
	}
	rx_dev = line->rx_dev;
	now_ns = ktime_get_ns();
	line->armed_ns = U64_MAX;
	while ((skb = skb_peek(&line->ring)) &&
	       lablink_cb(skb)->due_ns <= now_ns) {
		lablink_book_late(line, now_ns - lablink_cb(skb)->due_ns);
		__skb_unlink(skb, &line->ring);
		lablink_sent(line, skb);
	}
	if (line->full && skb_queue_len(&line->ring) < line->ring_pkts)
		lablink_resume(line, now_ns);
	while ((skb = skb_peek(&line->way)) &&
	       lablink_cb(skb)->due_ns <= now_ns) {
		lablink_book_late(line, now_ns - lablink_cb(skb)->due_ns);
		__skb_unlink(skb, &line->way);
		__skb_queue_tail(&arrived, skb);
	}
	spin_unlock(&line->lock);

	while ((skb = __skb_dequeue(&arrived)))
		lablink_rx(rx_dev, skb);

	spin_lock(&line->lock);
	if (line->up)
		lablink_arm(line);
	spin_unlock(&line->lock);
	return HRTIMER_NORESTART;
}

/*
 * Take a packet from the qdisc. The queue stops here when the ring is full, so
 * a packet is never refused. BH off, under the queue's lock.
 */
netdev_tx_t lablink_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct lablink_priv *priv = netdev_priv(dev);
	struct lablink_line *line = &priv->line;
	u64 now_ns = ktime_get_ns();
	u32 line_bytes;

	if (unlikely(skb_orphan_frags(skb, GFP_ATOMIC))) {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);

	spin_lock(&line->lock);
	if (unlikely(!line->up)) {
		spin_unlock(&line->lock);
		DEV_STATS_INC(dev, tx_errors);
		DEV_STATS_INC(dev, tx_carrier_errors);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	line_bytes = lablink_line_bytes(skb, line->clk.overhead_bytes,
					&lablink_cb(skb)->segs);
	line_bytes = min(line_bytes, LABLINK_BURST_MAX_BYTES);
	line->line_pkts += lablink_cb(skb)->segs;
	line->line_bytes += line_bytes;
	lablink_clock_send(&line->clk, now_ns, line_bytes);
	lablink_cb(skb)->due_ns = line->clk.finish_ns;
	lablink_cb(skb)->fraction = line->clk.finish_ps != 0;
	if (line->clk.finish_ns <= now_ns && skb_queue_empty(&line->ring))
		lablink_sent(line, skb);
	else
		__skb_queue_tail(&line->ring, skb);
	if (skb_queue_len(&line->ring) >= line->ring_pkts) {
		line->full = true;
		line->queue_stops++;
		netif_stop_queue(dev);
	}
	lablink_arm(line);
	spin_unlock(&line->lock);
	return NETDEV_TX_OK;
}

/**
 * lablink_line_up() - let packets flow
 * @line: one direction
 * @rx_dev: where they arrive; must exist until lablink_line_down()
 *
 * Process context, under RTNL.
 */
void lablink_line_up(struct lablink_line *line, struct net_device *rx_dev)
{
	spin_lock_bh(&line->lock);
	line->rx_dev = rx_dev;
	line->up = true;
	spin_unlock_bh(&line->lock);
}

/**
 * lablink_line_down() - lose what is in flight and let nothing in
 * @line: one direction
 *
 * When it returns the timer is not running and will not start. Process
 * context, under RTNL.
 */
void lablink_line_down(struct lablink_line *line)
{
	struct sk_buff_head lost;
	u32 n;

	__skb_queue_head_init(&lost);
	spin_lock_bh(&line->lock);
	line->up = false;
	line->armed_ns = U64_MAX;
	line->clk.finish_ns = 0;
	line->clk.finish_ps = 0;
	line->last_due_ns = 0;
	skb_queue_splice_tail_init(&line->ring, &lost);
	skb_queue_splice_tail_init(&line->way, &lost);
	n = skb_queue_len(&lost);
	line->lost_in_flight += n;
	if (line->full) {
		line->full = false;
		netif_wake_queue(line->dev);
	}
	spin_unlock_bh(&line->lock);

	hrtimer_cancel(&line->timer);
	DEV_STATS_ADD(line->dev, tx_errors, n);
	DEV_STATS_ADD(line->dev, tx_carrier_errors, n);
	__skb_queue_purge(&lost);
}

/**
 * lablink_line_init() - prepare the line of a new device
 * @line: one direction
 * @dev: the end that sends
 */
void lablink_line_init(struct lablink_line *line, struct net_device *dev)
{
	spin_lock_init(&line->lock);
	__skb_queue_head_init(&line->ring);
	__skb_queue_head_init(&line->way);
	hrtimer_setup(&line->timer, lablink_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	line->dev = dev;
	line->armed_ns = U64_MAX;
	line->ring_pkts = LABLINK_RING_DEFAULT;
	line->clk.overhead_bytes = LABLINK_OVERHEAD_DEFAULT;
}
