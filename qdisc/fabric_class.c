// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: bands as classes: settings, qdiscs grafted on them, filters.
 *
 * Classes 1 to n exist; adding makes n + 1, only n can be deleted. So a band's
 * number is its place in the order of service, and nothing has to be searched.
 */
#include "fabric_fast.h"

static struct fabric_band *fabric_class_band(struct Qdisc *sch,
					     unsigned long arg)
{
	struct fabric_sched *q = qdisc_priv(sch);

	return &q->bands[arg - 1];
}

/* Adds a class or changes one. */
static int fabric_class_change(struct Qdisc *sch, u32 classid, u32 parentid,
			       struct nlattr **tca, unsigned long *arg,
			       struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_class_config c;
	struct fabric_band *band;
	bool added = !*arg;
	int err;

	if (added && (q->nbands == FABRIC_BANDS_MAX ||
		      TC_H_MIN(classid) != q->nbands + 1U))
		return fabric_refuse_attr(extack, NULL,
					  q->nbands == FABRIC_BANDS_MAX ?
					  "there are 16 bands already" :
					  "bands are numbered without gaps: the next one only can be added");
	band = added ? &q->bands[q->nbands] : fabric_class_band(sch, *arg);
	fabric_class_read(q, band, &c);
	if (tca[TCA_OPTIONS]) {
		err = fabric_class_parse(tca[TCA_OPTIONS], q->buffer, &c,
					 extack);
		if (err)
			return err;
		if (c.queue != band->queue ||
		    c.queues != fabric_hash_queues(q, band))
			return fabric_refuse_attr(extack, tca[TCA_OPTIONS],
						  "a band's queue is chosen when the port is made");
	}
	if (q->buffer &&
	    !fabric_buffer_reserve(q->buffer, (s64)c.reserved_bytes -
					      band->reserved_bytes, 0))
		return fabric_refuse_attr(extack, NULL,
					  "reserved does not fit into the shared buffer");
	sch_tree_lock(sch);
	fabric_class_apply(q, band, &c);
	if (added) {
		q->nbands++;
		fabric_classify_update(q);
		*arg = q->nbands;
	}
	fabric_band_update(q);
	fabric_look_again(sch);
	sch_tree_unlock(sch);
	return 0;
}

/* Deletes the last class if nothing leads to it. */
static int fabric_class_delete(struct Qdisc *sch, unsigned long arg,
			       struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_FABRIC_MAX + 1] = { NULL };
	struct fabric_maps maps;
	s64 reserved_bytes;
	int err;

	if (arg != q->nbands || arg == 1)
		return fabric_refuse_attr(extack, NULL,
					  arg == 1 ? "the first band stays" :
					  "only the last band can be deleted");
	if (fabric_class_band(sch, arg)->queue)
		return fabric_refuse_attr(extack, NULL,
					  "the band that isolates, hashes or has pfc stays as long as the port");
	err = fabric_maps_parse(q, tb, &maps, extack);
	if (err)
		return err;
	maps.nbands--;
	err = fabric_maps_check(q, tb, &maps, extack);
	if (err)
		return err;
	reserved_bytes = q->bands[maps.nbands].reserved_bytes;
	fabric_class_remove(sch, maps.nbands);
	if (q->buffer)
		fabric_buffer_reserve(q->buffer, -reserved_bytes, 0);
	sch_tree_lock(sch);
	fabric_maps_apply(q, &maps);
	sch_tree_unlock(sch);
	return 0;
}

static unsigned long fabric_class_find(struct Qdisc *sch, u32 classid)
{
	const struct fabric_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	return minor <= q->nbands ? minor : 0;
}

/* Gives a band a qdisc of its own, or (new NULL) takes it away. */
static int fabric_class_graft(struct Qdisc *sch, unsigned long arg,
			      struct Qdisc *new, struct Qdisc **old,
			      struct netlink_ext_ack *extack)
{
	struct fabric_band *band = fabric_class_band(sch, arg);
	struct fabric_sched *q = qdisc_priv(sch);

	if (band->queue && new)
		return fabric_refuse_attr(extack, NULL,
					  "a band that isolates, hashes or has pfc has no qdisc of its own");
	/* Role lan: it could not have flows' queues before it. Role wan: what comes out of it is
	 * neither stamped nor looked at, so that both loops would stop.
	 */
	if (q->border && new)
		return fabric_refuse_attr(extack, NULL,
					  "a band of a port with a role has no qdisc of its own");
	/* At once: a packet that came in between would never leave. */
	sch_tree_lock(sch);
	fabric_band_purge(sch, band, FABRIC_DROP_BAND_GONE);
	*old = band->child;
	band->child = new;
	if (*old)
		qdisc_purge_queue(*old);
	fabric_band_gone_idle(q);
	fabric_band_update(qdisc_priv(sch));
	sch_tree_unlock(sch);
	return 0;
}

static struct Qdisc *fabric_class_leaf(struct Qdisc *sch, unsigned long arg)
{
	return fabric_class_band(sch, arg)->child;
}

/* The band's qdisc has become empty by itself. Root lock held. */
static void fabric_class_qlen_notify(struct Qdisc *sch, unsigned long arg)
{
	struct fabric_sched *q = qdisc_priv(sch);

	if (!fabric_band_packets(fabric_class_band(sch, arg)))
		fabric_order_idle(&q->order, arg - 1);
}

static void fabric_class_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	const struct fabric_sched *q = qdisc_priv(sch);
	unsigned int i;

	if (walker->stop)
		return;
	for (i = 0; i < q->nbands; i++) {
		if (!tc_qdisc_stats_dump(sch, i + 1, walker))
			break;
	}
}

static struct tcf_block *fabric_class_block(struct Qdisc *sch,
					    unsigned long arg,
					    struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);

	if (arg) {
		NL_SET_ERR_MSG_MOD(extack,
				   "filters belong to the qdisc, not to a class");
		return NULL;
	}
	return q->block;
}

static unsigned long fabric_class_bind(struct Qdisc *sch, unsigned long parent,
				       u32 classid)
{
	unsigned long arg = fabric_class_find(sch, classid);

	if (arg)
		fabric_class_band(sch, arg)->bound++;
	return arg;
}

static void fabric_class_unbind(struct Qdisc *sch, unsigned long arg)
{
	fabric_class_band(sch, arg)->bound--;
}

static int fabric_class_dump(struct Qdisc *sch, unsigned long arg,
			     struct sk_buff *skb, struct tcmsg *tcm)
{
	struct fabric_band *band = fabric_class_band(sch, arg);
	struct nlattr *opt;

	tcm->tcm_parent = TC_H_ROOT;
	tcm->tcm_handle = TC_H_MAKE(sch->handle, arg);
	if (band->child)
		tcm->tcm_info = band->child->handle;

	opt = nla_nest_start(skb, TCA_OPTIONS);
	if (!opt)
		return -EMSGSIZE;
	if (fabric_class_dump_options(skb, qdisc_priv(sch), band)) {
		nla_nest_cancel(skb, opt);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opt);
}

static int fabric_class_dump_stats(struct Qdisc *sch, unsigned long arg,
				   struct gnet_dump *d)
{
	return fabric_stats_dump_class(sch, fabric_class_band(sch, arg), d);
}

const struct Qdisc_class_ops fabric_class_ops = {
	.graft		= fabric_class_graft,
	.leaf		= fabric_class_leaf,
	.qlen_notify	= fabric_class_qlen_notify,
	.find		= fabric_class_find,
	.change		= fabric_class_change,
	.delete		= fabric_class_delete,
	.walk		= fabric_class_walk,
	.tcf_block	= fabric_class_block,
	.bind_tcf	= fabric_class_bind,
	.unbind_tcf	= fabric_class_unbind,
	.dump		= fabric_class_dump,
	.dump_stats	= fabric_class_dump_stats,
};
