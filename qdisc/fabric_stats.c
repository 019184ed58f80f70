// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: what was counted.
 */
#include <linux/math64.h>

#include "fabric.h"

/**
 * struct fabric_view - counters of a band or of the whole port
 * @stats: what was counted
 * @backlog_bytes: waiting
 * @backlog_packets: waiting
 * @colour_bytes: waiting of each colour
 */
struct fabric_view {
	struct fabric_stats stats;
	u32 backlog_bytes;
	u32 backlog_packets;
	u32 colour_bytes[FABRIC_COLOURS];
};

/* Adds a band's counters to a view; backlog_max_bytes is not a sum. */
static void fabric_view_add(struct fabric_view *view, struct fabric_band *band,
			    u64 now_ns)
{
	struct fabric_stats *sum = &view->stats, *stats = &band->stats;
	int colour, why;

	for (colour = 0; colour < FABRIC_COLOURS; colour++) {
		sum->bytes[colour] += stats->bytes[colour];
		sum->packets[colour] += stats->packets[colour];
		for (why = 0; why <= FABRIC_DROP_MAX; why++)
			sum->drops[colour][why] += stats->drops[colour][why];
		view->colour_bytes[colour] += band->colour_bytes[colour];
	}
	sum->marks += stats->marks;
	fabric_delay_merge(&sum->delay, &stats->delay);
	fabric_meter_roll(&stats->meter, now_ns);
	sum->meter.bps += stats->meter.bps;
	view->backlog_bytes += fabric_band_bytes(band);
	view->backlog_packets += fabric_band_packets(band);
}

/* Sum over the colours. */
static u64 fabric_all_colours(const u64 *count)
{
	return count[0] + count[1] + count[2];
}

/* Writes a 64-bit counter. */
static int fabric_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, TCA_FABRIC_STATS_PAD);
}

/* Writes the drops by reason, of one colour or (colour < 0) of all; a reason that
 * is left out has not occurred.
 */
static int fabric_put_drops(struct sk_buff *skb, int type,
			    const struct fabric_stats *s, int colour)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int why, i;

	if (!nest)
		return -EMSGSIZE;
	for (why = 1; why <= FABRIC_DROP_MAX; why++) {
		u64 count = 0;

		for (i = 0; i < FABRIC_COLOURS; i++) {
			if (colour < 0 || i == colour)
				count += s->drops[i][why];
		}
		if (count &&
		    nla_put_u64_64bit(skb, why, count, FABRIC_DROP_UNSPEC))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Whether anything was counted of a colour. */
static bool fabric_colour_seen(const struct fabric_view *view, int colour)
{
	int why;

	if (view->stats.packets[colour] || view->colour_bytes[colour])
		return true;
	for (why = 1; why <= FABRIC_DROP_MAX; why++) {
		if (view->stats.drops[colour][why])
			return true;
	}
	return false;
}

/* Writes what was counted of each colour that was seen. */
static int fabric_put_colours(struct sk_buff *skb,
			      const struct fabric_view *view)
{
	struct nlattr *all = nla_nest_start(skb, TCA_FABRIC_STATS_COLOURS);
	int i;

	if (!all)
		return -EMSGSIZE;
	for (i = 0; i < FABRIC_COLOURS; i++) {
		struct nlattr *one;

		if (!fabric_colour_seen(view, i))
			continue;
		one = nla_nest_start(skb, 1 + i);
		if (!one ||
		    nla_put_u64_64bit(skb, TCA_FABRIC_COLOUR_BYTES,
				      view->stats.bytes[i],
				      TCA_FABRIC_COLOUR_PAD) ||
		    nla_put_u64_64bit(skb, TCA_FABRIC_COLOUR_PACKETS,
				      view->stats.packets[i],
				      TCA_FABRIC_COLOUR_PAD) ||
		    fabric_put_drops(skb, TCA_FABRIC_COLOUR_DROPS,
				     &view->stats, i) ||
		    nla_put_u32(skb, TCA_FABRIC_COLOUR_BACKLOG_BYTES,
				view->colour_bytes[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, one);
	}
	nla_nest_end(skb, all);
	return 0;
}

/* Writes what became of packets to be stamped. */
static int fabric_put_stamps(struct sk_buff *skb,
			     const struct fabric_stamp *stamp)
{
	struct nlattr *nest;
	int i;

	if (!stamp->kind)
		return 0;
	nest = nla_nest_start(skb, TCA_FABRIC_STATS_STAMPS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= FABRIC_STAMPED_MAX; i++) {
		if (nla_put_u64_64bit(skb, i, stamp->count[i],
				      FABRIC_STAMPED_UNSPEC))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Writes how full the shared buffer is. */
static int fabric_put_buffer(struct sk_buff *skb,
			     const struct fabric_buffer *buffer)
{
	if (!buffer)
		return 0;
	return fabric_put_u64(skb, TCA_FABRIC_STATS_BUFFER_USED_BYTES,
			      fabric_buffer_used(buffer)) ||
	       fabric_put_u64(skb, TCA_FABRIC_STATS_BUFFER_POOL_BYTES,
			      fabric_buffer_pool(buffer));
}

/* Writes the delays; nothing if none was measured. */
static int fabric_put_delay(struct sk_buff *skb, const struct fabric_delay *d)
{
	u64 count = fabric_delay_count(d);

	if (!count)
		return 0;
	return fabric_put_u64(skb, TCA_FABRIC_STATS_DELAY_MIN_NS,
			      fabric_delay_min_ns(d)) ||
	       fabric_put_u64(skb, TCA_FABRIC_STATS_DELAY_MEAN_NS,
			      div64_u64(d->sum_ns, count)) ||
	       fabric_put_u64(skb, TCA_FABRIC_STATS_DELAY_MAX_NS, d->max_ns) ||
	       nla_put(skb, TCA_FABRIC_STATS_DELAY_HIST, sizeof(d->hist),
		       d->hist);
}

/* Writes what bands and port have in common. */
static int fabric_put_view(struct sk_buff *skb, const struct fabric_view *view)
{
	const struct fabric_stats *s = &view->stats;

	return fabric_put_u64(skb, TCA_FABRIC_STATS_BYTES,
			      fabric_all_colours(s->bytes)) ||
	       fabric_put_u64(skb, TCA_FABRIC_STATS_PACKETS,
			      fabric_all_colours(s->packets)) ||
	       fabric_put_u64(skb, TCA_FABRIC_STATS_MARKS, s->marks) ||
	       fabric_put_drops(skb, TCA_FABRIC_STATS_DROPS, s, -1) ||
	       nla_put_u32(skb, TCA_FABRIC_STATS_BACKLOG_BYTES,
			   view->backlog_bytes) ||
	       nla_put_u32(skb, TCA_FABRIC_STATS_BACKLOG_PACKETS,
			   view->backlog_packets) ||
	       nla_put_u32(skb, TCA_FABRIC_STATS_BACKLOG_MAX_BYTES,
			   s->backlog_max_bytes) ||
	       fabric_put_delay(skb, &s->delay) ||
	       fabric_put_u64(skb, TCA_FABRIC_STATS_RATE_BPS, s->meter.bps) ||
	       fabric_put_colours(skb, view);
}

/* Is this message small, and is what is being written the first in it? The kernel
 * makes notifications and the first answer to a new socket so: the counters of the
 * bands would not fit, and a record that does not fit is lost for good. What does
 * not fit into what others have left of a large message is told in the next.
 */
static bool fabric_message_small(const struct sk_buff *skb)
{
	return skb->len + skb_tailroom(skb) <= NLMSG_GOODSIZE;
}

static bool fabric_message_first(const struct sk_buff *skb)
{
	return nlmsg_hdr(skb)->nlmsg_len == nlmsg_msg_size(sizeof(struct tcmsg));
}

/* Writes what only the port has. */
static int fabric_put_port(struct sk_buff *skb, const struct fabric_sched *q,
			   u64 now_ns)
{
	u64 busy_ns = q->busy_ns + (q->busy ? now_ns - q->busy_from_ns : 0);

	return fabric_put_u64(skb, TCA_FABRIC_STATS_BUSY_NS, busy_ns) ||
	       nla_put_u32(skb, TCA_FABRIC_STATS_LINE_PACKETS,
			   q->flying.packets + !!q->sending) ||
	       fabric_put_u64(skb, TCA_FABRIC_STATS_GSO_SPLIT, q->gso_split) ||
	       fabric_put_stamps(skb, &q->stamp) ||
	       (q->hash && fabric_hash_dump_stats(q, skb)) ||
	       (q->border &&
		fabric_border_dump_stats(q, skb, !fabric_message_small(skb))) ||
	       fabric_put_buffer(skb, q->buffer);
}

/* Writes a band's counters. */
static int fabric_put_band(struct sk_buff *skb, struct fabric_band *band,
			   struct fabric_view *view, u64 now_ns)
{
	struct nlattr *one = nla_nest_start(skb, 1 + band->index);

	memset(view, 0, sizeof(*view));
	fabric_view_add(view, band, now_ns);
	view->stats.backlog_max_bytes = band->stats.backlog_max_bytes;
	if (!one || fabric_put_view(skb, view))
		return -EMSGSIZE;
	nla_nest_end(skb, one);
	return 0;
}

/* Is there room left for what the kernel writes behind the port's own counters? */
static bool fabric_message_room(const struct sk_buff *skb)
{
	return skb_tailroom(skb) >= FABRIC_STATS_BEHIND_BYTES;
}

/* Writes each band's counters, since not every tc can show classes in JSON; or says
 * that they are left out: then classes have them.
 */
static int fabric_put_bands(struct sk_buff *skb, struct fabric_sched *q,
			    struct fabric_view *view, u64 now_ns)
{
	struct nlattr *all;
	unsigned int i;
	int err = 0;

	if (fabric_message_small(skb))
		return nla_put_flag(skb, TCA_FABRIC_STATS_BANDS_OMITTED);
	all = nla_nest_start(skb, TCA_FABRIC_STATS_BANDS);
	if (!all)
		return -EMSGSIZE;
	for (i = 0; i < q->nbands && !err; i++)
		err = fabric_put_band(skb, &q->bands[i], view, now_ns);
	if (!err && fabric_message_room(skb)) {
		nla_nest_end(skb, all);
		return 0;
	}
	if (!fabric_message_first(skb))
		return -EMSGSIZE;
	nla_nest_cancel(skb, all);
	return nla_put_flag(skb, TCA_FABRIC_STATS_BANDS_OMITTED);
}

/* Writes all counters of the port, of which the caller has the sum in @view. Root lock held. */
static int fabric_put_all(struct sk_buff *skb, struct fabric_sched *q,
			  struct fabric_view *view, u64 now_ns)
{
	return fabric_put_view(skb, view) ||
	       fabric_put_port(skb, q, now_ns) ||
	       fabric_put_bands(skb, q, view, now_ns) ||
	       !fabric_message_room(skb);
}

/* They do not fit into a message of the port's own: to say nothing of them but that costs less
 * than the port and, in a dump, all devices behind it.
 */
static int fabric_put_none(struct sk_buff *skb)
{
	struct nlattr *app = nla_nest_start(skb, TCA_STATS_APP);

	if (!app || nla_put_flag(skb, TCA_FABRIC_STATS_BANDS_OMITTED))
		return -1;
	nla_nest_end(skb, app);
	return 0;
}

/**
 * fabric_stats_dump() - write the port's counters
 * @sch: the qdisc
 * @d: where to
 *
 * Context: rtnl held, takes the root lock so that the numbers fit together.
 * Return: 0, or -1 if there was no room.
 */
int fabric_stats_dump(struct Qdisc *sch, struct gnet_dump *d)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_view *view;
	struct nlattr *app;
	unsigned int i;
	int err = -1;
	u64 now_ns;

	view = kzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);
	if (!view)
		return -1;
	app = nla_nest_start(d->skb, TCA_STATS_APP);
	if (!app)
		goto out;

	sch_tree_lock(sch);
	/* Not before: packets may have been sent while we waited for the lock. */
	now_ns = ktime_get_ns();
	if (q->line.rate_bps)
		fabric_line_advance(sch, now_ns);
	/* Bands that went had counters too. */
	for (i = 0; i < FABRIC_BANDS_MAX; i++)
		fabric_view_add(view, &q->bands[i], now_ns);
	view->stats.backlog_max_bytes = q->waiting_max_bytes;
	sch->qstats.overlimits = view->stats.marks;
	err = fabric_put_all(d->skb, q, view, now_ns);
	sch_tree_unlock(sch);

	if (!err) {
		nla_nest_end(d->skb, app);
		goto out;
	}
	nla_nest_cancel(d->skb, app);
	err = fabric_message_first(d->skb) ? fabric_put_none(d->skb) : -1;
out:
	kfree(view);
	return err;
}

/* Writes a class's counters as tc knows them from every qdisc. */
static int fabric_put_basic(struct gnet_dump *d, const struct fabric_view *view)
{
	struct gnet_stats_queue queue = {
		.backlog = view->backlog_bytes,
		.overlimits = view->stats.marks,
	};
	struct gnet_stats_basic_sync basic;
	u64 drops = 0;
	int colour, why;

	for (colour = 0; colour < FABRIC_COLOURS; colour++) {
		for (why = 0; why <= FABRIC_DROP_MAX; why++)
			drops += view->stats.drops[colour][why];
	}
	queue.drops = drops;
	gnet_stats_basic_sync_init(&basic);
	/* not _bstats_update(): that of older kernels takes 32 bits of packets */
	u64_stats_add(&basic.bytes, fabric_all_colours(view->stats.bytes));
	u64_stats_add(&basic.packets, fabric_all_colours(view->stats.packets));
	return gnet_stats_copy_basic(d, NULL, &basic, true) < 0 ||
	       gnet_stats_copy_queue(d, NULL, &queue,
				     view->backlog_packets) < 0;
}

/**
 * fabric_stats_dump_class() - write a band's counters
 * @sch: the qdisc
 * @band: the band
 * @d: where to
 *
 * Context: rtnl held, takes the root lock.
 * Return: 0, or -1 if there was no room.
 */
int fabric_stats_dump_class(struct Qdisc *sch, struct fabric_band *band,
			    struct gnet_dump *d)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_view *view;
	struct nlattr *app;
	int err = -1;
	u64 now_ns;

	view = kzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);
	if (!view)
		return -1;
	sch_tree_lock(sch);
	now_ns = ktime_get_ns();
	if (q->line.rate_bps)
		fabric_line_advance(sch, now_ns);
	fabric_view_add(view, band, now_ns);
	view->stats.backlog_max_bytes = band->stats.backlog_max_bytes;
	sch_tree_unlock(sch);

	if (fabric_put_basic(d, view))
		goto out;
	app = nla_nest_start(d->skb, TCA_STATS_APP);
	if (!app)
		goto out;
	if (fabric_put_view(d->skb, view)) {
		nla_nest_cancel(d->skb, app);
		goto out;
	}
	nla_nest_end(d->skb, app);
	err = 0;
out:
	kfree(view);
	return err;
}
