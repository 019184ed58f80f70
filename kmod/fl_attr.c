// SPDX-License-Identifier: GPL-2.0
/*
 * A socket's settings: what is allowed, what is in force, who is told.
 */
#include <linux/module.h>
#include <linux/pkt_sched.h>

#include "compat.h"
#include "fl_control.h"

/**
 * struct fl_range - values that a setting may have
 * @name: for messages
 * @min: smallest
 * @max: largest
 */
struct fl_range {
	const char *name;
	u32 min;
	u32 max;
};

static const struct fl_range fl_ranges[__FL_SET_COUNT] = {
	[FL_SET_PRIORITY] = { "priority", 0, FL_PRIORITY_MAX },
	[FL_SET_WEIGHT] = { "weight", FL_WEIGHT_MIN_MILLI,
			    FL_WEIGHT_MAX_MILLI },
	[FL_SET_BASE_RTT] = { "base RTT", FL_BASE_RTT_MIN_NS,
			      FL_BASE_RTT_MAX_NS },
	[FL_SET_LINE_RATE] = { "line rate", FL_LINE_RATE_MIN_MBPS,
			       FL_LINE_RATE_MAX_MBPS },
	[FL_SET_DEADLINE] = { "deadline", FL_DEADLINE_MIN_US,
			      FL_DEADLINE_MAX_US },
};

/**
 * fl_flow_so_priority() - priority of a socket on which none is set
 * @sk: the socket
 * @f: its settings, may be NULL
 *
 * SO_PRIORITY. What needs no privilege there stays below the ceiling for those
 * without privilege; more than that was set with privilege. Context: any.
 */
u32 fl_flow_so_priority(const struct sock *sk, const struct fl_flow *f)
{
	u32 prio = READ_ONCE(sk->sk_priority);

	if (f && prio <= TC_PRIO_INTERACTIVE)
		prio = min(prio, READ_ONCE(f->ns->priority_max));
	return min_t(u32, prio, FL_PRIORITY_MAX);
}
EXPORT_SYMBOL_GPL(fl_flow_so_priority);

/* The most that one without privilege gets of a setting. */
static u32 fl_ceiling(const struct fl_ns *ns, enum fl_setting_id id)
{
	switch (id) {
	case FL_SET_PRIORITY:
		return READ_ONCE(ns->priority_max);
	case FL_SET_WEIGHT:
		return READ_ONCE(ns->weight_max_milli);
	default:
		return U32_MAX;
	}
}

/* May it be so? Context: any. Return: 0, -EINVAL, -EPERM. */
static int fl_attr_check(struct fl_ns *ns, struct fl_request *rq)
{
	u32 id, val;

	for (id = 0; id < __FL_SET_COUNT; id++) {
		val = rq->v.val[id];
		if (!(rq->v.set & BIT(id)) || val == FL_UNSET)
			continue;
		rq->bad = id;
		if (val < fl_ranges[id].min || val > fl_ranges[id].max) {
			FL_SET_ERR(rq->extack, "setting out of range",
				   "%s is not in %u..%u", fl_ranges[id].name,
				   fl_ranges[id].min, fl_ranges[id].max);
			fl_count(ns, FL_A_STAT_REFUSED_RANGE);
			return -EINVAL;
		}
		if (!rq->privileged && val > fl_ceiling(ns, id)) {
			FL_SET_ERR(rq->extack,
				   "above the ceiling, needs CAP_NET_ADMIN",
				   "%s above %u needs CAP_NET_ADMIN",
				   fl_ranges[id].name, fl_ceiling(ns, id));
			fl_count(ns, FL_A_STAT_REFUSED_CEILING);
			return -EPERM;
		}
	}
	return 0;
}

/* What a setting shall be; false = nothing is set. */
static bool fl_attr_want(const struct fl_flow *f, enum fl_setting_id id,
			 u32 *val, u8 *from)
{
	const struct fl_values *v;

	if (f->own.set & BIT(id))
		v = &f->own;
	else if (f->policy.set & BIT(id))
		v = &f->policy;
	else
		return false;
	*val = v->val[id];
	*from = v->from[id];
	if (v == &f->own && !(f->privileged & BIT(id)) &&
	    *val > fl_ceiling(f->ns, id)) {
		*val = fl_ceiling(f->ns, id);
		*from = FL_FROM_LIMIT;
	}
	return true;
}

/**
 * fl_attr_commit() - bring into force what is set
 * @sk: the socket
 * @f: its settings
 *
 * Context: any, socket lock held. Return: bits of what has changed.
 */
u32 fl_attr_commit(struct sock *sk, struct fl_flow *f)
{
	const struct fl_cc *cc;
	u32 id, changed = 0;

	for (id = 0; id < __FL_SET_COUNT; id++) {
		bool had = f->now.set & BIT(id);
		u8 from = FL_FROM_DEFAULT;
		u32 val = 0;
		bool has = fl_attr_want(f, id, &val, &from);

		if (had == has && val == f->now.val[id] &&
		    from == f->now.from[id])
			continue;
		if (!has)
			WRITE_ONCE(f->now.set, f->now.set & ~BIT(id));
		WRITE_ONCE(f->now.val[id], val);
		WRITE_ONCE(f->now.from[id], from);
		if (has)
			WRITE_ONCE(f->now.set, f->now.set | BIT(id));
		changed |= BIT(id);
		fl_count(f->ns, FL_A_STAT_CHANGES);
	}
	if (!changed)
		return 0;
	/* pairs with fl_flow_changed() */
	smp_store_release(&f->gen, f->gen + 1);
	cc = f->cc;
	if (cc && cc->changed)
		cc->changed(sk);
	return changed;
}

/**
 * fl_attr_set() - set or take back settings of a socket
 * @sk: the socket
 * @f: its settings
 * @rq: what is wanted; all of it happens or nothing
 *
 * Context: process, socket lock held. Return: 0, -EINVAL out of range, -EPERM
 * above the ceiling.
 */
int fl_attr_set(struct sock *sk, struct fl_flow *f, struct fl_request *rq)
{
	u32 id;
	int err;

	err = fl_attr_check(f->ns, rq);
	if (err)
		return err;
	for (id = 0; id < __FL_SET_COUNT; id++) {
		if (!(rq->v.set & BIT(id)))
			continue;
		if (rq->v.val[id] == FL_UNSET) {
			WRITE_ONCE(f->own.set, f->own.set & ~BIT(id));
			continue;
		}
		WRITE_ONCE(f->own.val[id], rq->v.val[id]);
		f->own.from[id] = rq->v.from[id];
		WRITE_ONCE(f->own.set, f->own.set | BIT(id));
		if (rq->privileged)
			f->privileged |= BIT(id);
		else
			f->privileged &= ~BIT(id);
	}
	fl_attr_commit(sk, f);
	return 0;
}

/**
 * fl_attr_inherit() - take over the settings of the listener
 * @f: new settings of an accepted socket
 * @listener: those of its listener, which may change meanwhile
 *
 * Context: softirq, RCU.
 */
void fl_attr_inherit(struct fl_flow *f, const struct fl_flow *listener)
{
	u32 id, set = READ_ONCE(listener->own.set);

	for (id = 0; id < __FL_SET_COUNT; id++) {
		f->own.val[id] = READ_ONCE(listener->own.val[id]);
		f->own.from[id] = FL_FROM_LISTENER;
	}
	f->own.set = set;
	f->privileged = READ_ONCE(listener->privileged);
	fl_count(f->ns, FL_A_STAT_INHERITED);
}

static u8 fl_info_from(const struct fl_flow *f, enum fl_setting_id id,
		       u8 otherwise)
{
	return f && f->now.set & BIT(id) ? f->now.from[id] : otherwise;
}

/**
 * fl_attr_info() - everything about a socket
 * @sk: the socket
 * @f: its settings, NULL = none
 * @info: is filled
 *
 * Context: socket lock held, or RCU and the socket held: values may then be
 * torn from one another.
 */
void fl_attr_info(struct sock *sk, const struct fl_flow *f,
		  struct fl_info *info)
{
	const struct fl_profile *pf = fl_profile_get(sock_net(sk));
	const struct tcp_congestion_ops *ca;
	const struct fl_cc *cc;
	u32 val;

	memset(info, 0, sizeof(*info));
	info->size_bytes = sizeof(*info);
	info->cookie = f ? READ_ONCE(f->cookie) : 0;
	info->priority = fl_flow_prio(sk, f);
	info->priority_from = fl_info_from(f, FL_SET_PRIORITY,
					   FL_FROM_SO_PRIORITY);
	info->weight_milli = fl_flow_weight_milli(sk, f);
	info->weight_from = fl_info_from(f, FL_SET_WEIGHT, FL_FROM_DEFAULT);
	val = READ_ONCE(pf->base_rtt_ns);
	info->base_rtt_ns = fl_flow_value(f, FL_SET_BASE_RTT, val);
	info->base_rtt_from = fl_info_from(f, FL_SET_BASE_RTT, val ?
					   FL_FROM_NETNS : FL_FROM_DEFAULT);
	val = READ_ONCE(pf->line_rate_mbps);
	info->line_rate_mbps = fl_flow_value(f, FL_SET_LINE_RATE, val);
	info->line_rate_from = fl_info_from(f, FL_SET_LINE_RATE, val ?
					    FL_FROM_NETNS : FL_FROM_DEVICE);
	if (!info->line_rate_mbps)
		info->line_rate_mbps = div_u64(fl_line_bps(sk, pf), 1000000);
	info->deadline_us = fl_flow_deadline_us(f);
	info->deadline_from = fl_info_from(f, FL_SET_DEADLINE,
					   FL_FROM_DEFAULT);
	info->policy = f ? READ_ONCE(f->policy_order) : 0;
	if (sk->sk_state == TCP_LISTEN)
		info->flags |= FL_INFO_LISTENER;

	rcu_read_lock();
	ca = READ_ONCE(inet_csk(sk)->icsk_ca_ops);
	if (ca)
		strscpy(info->cc, ca->name, sizeof(info->cc));
	cc = f ? READ_ONCE(f->cc) : NULL;
	if (cc)
		cc->info(sk, info);
	rcu_read_unlock();
}
