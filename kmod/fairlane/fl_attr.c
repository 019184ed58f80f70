// SPDX-License-Identifier: GPL-2.0
/*
 * A socket's settings: what is allowed, what is in force, who is told.
 */
#include <linux/module.h>
#include <linux/pkt_sched.h>

#include "compat/compat.h"
#include "fl_prefix.h"
#include "fl_telemetry.h"
#include "fl_trace.h"

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
 * fl_sock_so_priority() - priority of a socket on which none is set
 * @sk: the socket
 *
 * SO_PRIORITY. What needs no privilege there stays below the ceiling for those
 * without privilege; more than that was set with privilege. Context: any.
 */
u32 fl_sock_so_priority(const struct sock *sk)
{
	u32 prio = READ_ONCE(sk->sk_priority);

	if (prio <= TC_PRIO_INTERACTIVE)
		prio = min(prio,
			   READ_ONCE(fl_ns_of(sock_net(sk))->priority_max));
	return min_t(u32, prio, FL_PRIORITY_MAX);
}
EXPORT_SYMBOL_GPL(fl_sock_so_priority);

/* The most that one without privilege gets of a setting; 0 = nothing at all. A longer
 * base RTT is a higher target, as a priority is; a higher line rate is a larger share, as
 * a weight is. A near deadline makes D2TCP take up to FL_DEADLINE_WEIGHT_MILLI: for
 * whom the ceiling of weights is above that it is nothing new.
 */
static u32 fl_ceiling(const struct fl_ns *ns, enum fl_setting_id id)
{
	u32 weight_max_milli = READ_ONCE(ns->weight_max_milli);

	switch (id) {
	case FL_SET_PRIORITY:
		return READ_ONCE(ns->priority_max);
	case FL_SET_WEIGHT:
		return weight_max_milli;
	case FL_SET_DEADLINE:
		return weight_max_milli < FL_DEADLINE_WEIGHT_MILLI ? 0 :
								     U32_MAX;
	default:
		return 0;
	}
}

/**
 * fl_attr_range() - is a value one that its setting may have?
 * @id: the setting
 * @val: the value
 * @extack: where to say why not, may be NULL
 *
 * Context: any. Return: 0 or -EINVAL.
 */
int fl_attr_range(enum fl_setting_id id, u32 val,
		  struct netlink_ext_ack *extack)
{
	const struct fl_range *r = &fl_ranges[id];

	if (val >= r->min && val <= r->max)
		return 0;
	FL_SET_ERR(extack, "setting out of range", "%s is not in %u..%u",
		   r->name, r->min, r->max);
	return -EINVAL;
}

/* Say why somebody without privilege does not get it. */
static void fl_attr_above(enum fl_setting_id id, u32 ceiling,
			  struct netlink_ext_ack *extack)
{
	if (ceiling)
		FL_SET_ERR(extack, "above the ceiling, needs CAP_NET_ADMIN",
			   "%s above %u needs CAP_NET_ADMIN",
			   fl_ranges[id].name, ceiling);
	else
		FL_SET_ERR(extack, "needs CAP_NET_ADMIN",
			   "%s needs CAP_NET_ADMIN", fl_ranges[id].name);
}

/* May it be so? Context: any. Return: 0, -EINVAL, -EPERM. */
static int fl_attr_check(struct fl_ns *ns, struct fl_request *rq)
{
	u32 id, val;
	int err;

	for (id = 0; id < __FL_SET_COUNT; id++) {
		val = rq->v.val[id];
		if (!(rq->v.present & BIT(id)))
			continue;
		rq->bad = id;
		err = fl_attr_range(id, val, rq->extack);
		if (err) {
			fl_count(ns, FL_A_STAT_REFUSED_RANGE);
			return err;
		}
		if (!rq->privileged && val > fl_ceiling(ns, id)) {
			fl_attr_above(id, fl_ceiling(ns, id), rq->extack);
			fl_count(ns, FL_A_STAT_REFUSED_CEILING);
			return -EPERM;
		}
	}
	return 0;
}

/* What a setting shall be; false = nothing is set. */
static bool fl_attr_want(const struct fl_sock *f, enum fl_setting_id id,
			 u32 *val, u8 *from)
{
	const struct fl_decided *d = fl_sock_decided(f);
	const struct fl_values *v;

	if (f->own.present & BIT(id))
		v = &f->own;
	else if (d && d->values.present & BIT(id))
		v = &d->values;
	else
		return false;
	*val = v->val[id];
	*from = v->from[id];
	if (!(v->privileged & BIT(id)) &&
	    *val > fl_ceiling(f->ns, id)) {
		*val = fl_ceiling(f->ns, id);
		*from = FL_FROM_LIMIT;
	}
	return true;
}

/* The value in force, as everybody sees it. */
static u32 fl_attr_seen(const struct sock *sk, const struct fl_sock *f,
			enum fl_setting_id id, u8 *from)
{
	*from = f->now.present & BIT(id) ? f->now.from[id] :
		id == FL_SET_PRIORITY ? FL_FROM_SO_PRIORITY : FL_FROM_DEFAULT;
	switch (id) {
	case FL_SET_PRIORITY:
		return fl_sock_prio(sk, f);
	case FL_SET_WEIGHT:
		return fl_sock_weight_milli(sk, f);
	default:
		return fl_sock_value(f, id, 0);
	}
}

/* Write one setting. */
static void fl_attr_write(struct fl_sock *f, enum fl_setting_id id, bool has,
			  u32 val, u8 from)
{
	if (!has)
		WRITE_ONCE(f->now.present, f->now.present & ~BIT(id));
	WRITE_ONCE(f->now.val[id], val);
	WRITE_ONCE(f->now.from[id], from);
	if (has)
		WRITE_ONCE(f->now.present, f->now.present | BIT(id));
}

/* The weight that counts for the budget; 0 = this socket does not. */
static u32 fl_attr_weight_counted(const struct sock *sk,
				  const struct fl_sock *f)
{
	const struct fl_cc *cc = fl_sock_cc(f);

	if (!(f->now.present & BIT(FL_SET_WEIGHT)) && !(cc && cc->weighted))
		return 0;
	return fl_sock_weight_milli(sk, f);
}

/**
 * fl_attr_commit() - bring into force what is set
 * @sk: the socket
 * @f: its settings
 *
 * Context: any, @f->lock held; RCU or the socket lock.
 * Return: bits of what has changed: then fl_attr_tell() or fl_sock_tell() is due.
 */
u32 fl_attr_commit(struct sock *sk, struct fl_sock *f)
{
	struct fl_event ev[__FL_SET_COUNT];
	u32 id, i, count = 0, changed = 0;

	if (f->gone)
		return 0;
	for (id = 0; id < __FL_SET_COUNT; id++) {
		bool had = f->now.present & BIT(id);
		u8 from = FL_FROM_DEFAULT;
		u32 val = 0;
		bool has = fl_attr_want(f, id, &val, &from);

		if (had == has && val == f->now.val[id] &&
		    from == f->now.from[id])
			continue;
		memset(&ev[count], 0, sizeof(ev[count]));
		ev[count].kind = FL_EVENT_ATTR;
		ev[count].what = id;
		ev[count].sk = sk;
		ev[count].fs = f;
		ev[count].old = fl_attr_seen(sk, f, id, &ev[count].old_from);
		fl_attr_write(f, id, has, val, from);
		ev[count].new = fl_attr_seen(sk, f, id, &ev[count].new_from);
		count++;
		changed |= BIT(id);
		fl_count(f->ns, FL_A_STAT_CHANGES);
	}
	fl_limit_charge(sk, f, fl_attr_weight_counted(sk, f), false);
	if (!changed)
		return 0;
	/* pairs with fl_sock_changed() */
	smp_store_release(&f->gen, f->gen + 1);
	for (i = 0; i < count; i++) {
		trace_fl_attr_change(sk, f->cookie, ev[i].what, ev[i].old,
				     ev[i].new, ev[i].new_from);
		fl_event_send(f->ns, &ev[i]);
	}
	return changed;
}

/**
 * fl_attr_tell() - let the congestion control look at what fl_attr_commit() has changed
 * @sk: the socket
 * @f: its settings
 *
 * Context: any, socket lock held, @f->lock not.
 */
void fl_attr_tell(struct sock *sk, struct fl_sock *f)
{
	const struct fl_cc *cc = fl_sock_cc(f);

	if (cc && cc->changed)
		cc->changed(sk);
}

/* Tell that a request was refused. */
static void fl_attr_refused(struct sock *sk, struct fl_sock *f,
			    const struct fl_request *rq, int err)
{
	struct fl_event ev = {
		.kind = FL_EVENT_REFUSED,
		.what = rq->bad,
		.new = rq->v.val[rq->bad],
		.new_from = rq->v.from[rq->bad],
		.error = -err,
		.sk = sk,
		.fs = f,
	};

	ev.old = fl_attr_seen(sk, f, rq->bad, &ev.old_from);
	fl_event_send(f->ns, &ev);
}

/* Pay for a weight before having it. */
static int fl_attr_pay(struct sock *sk, struct fl_sock *f,
		       struct fl_request *rq)
{
	int err;

	if (!(rq->v.present & BIT(FL_SET_WEIGHT)) || rq->privileged)
		return 0;
	rq->bad = FL_SET_WEIGHT;
	err = fl_limit_charge(sk, f, rq->v.val[FL_SET_WEIGHT], true);
	if (err == -EDQUOT) {
		NL_SET_ERR_MSG(rq->extack,
			       "weight exceeds the budget of the socket's owner: lower another flow first");
		fl_count(f->ns, FL_A_STAT_REFUSED_BUDGET);
	}
	return err;
}

/**
 * fl_attr_set() - set or take back settings of a socket
 * @sk: the socket
 * @f: its settings
 * @rq: what is wanted; all of it happens or nothing
 *
 * Context: process; RCU or the socket lock. If @rq->changed, fl_attr_tell() or
 * fl_sock_tell() is due. Return: 0, -EINVAL out of range, -EPERM above the
 * ceiling, -EDQUOT beyond the budget, -ENOMEM, -ENOENT the connection has ended.
 */
int fl_attr_set(struct sock *sk, struct fl_sock *f, struct fl_request *rq)
{
	u32 id;
	int err;

	spin_lock_bh(&f->lock);
	err = f->gone ? -ENOENT :
	      fl_attr_check(f->ns, rq) ?: fl_attr_pay(sk, f, rq);
	if (err) {
		if (err != -ENOENT)
			fl_attr_refused(sk, f, rq, err);
		goto unlock;
	}
	WRITE_ONCE(f->own.present, f->own.present & ~rq->unset);
	for (id = 0; id < __FL_SET_COUNT; id++) {
		if (!(rq->v.present & BIT(id)))
			continue;
		WRITE_ONCE(f->own.val[id], rq->v.val[id]);
		f->own.from[id] = rq->v.from[id];
		/* pairs with the acquire in fl_attr_inherit() */
		smp_store_release(&f->own.present, f->own.present | BIT(id));
		if (rq->privileged)
			f->own.privileged |= BIT(id);
		else
			f->own.privileged &= ~BIT(id);
	}
	rq->changed = fl_attr_commit(sk, f);
unlock:
	spin_unlock_bh(&f->lock);
	return err;
}

/**
 * fl_attr_inherit() - take over the settings of the listener
 * @sk: an accepted socket, just copied
 * @f: its settings, new
 * @listener: those of its listener, which may change meanwhile
 *
 * A weight that the budget of the listener's owner cannot pay is not taken
 * over: the socket has what it would have without. Context: softirq, RCU.
 */
void fl_attr_inherit(struct sock *sk, struct fl_sock *f,
		     const struct fl_sock *listener)
{
	/* who sees that it is set sees to what: 0 is no weight */
	u32 id, present = smp_load_acquire(&listener->own.present);
	u32 weight;

	for (id = 0; id < __FL_SET_COUNT; id++) {
		f->own.val[id] = READ_ONCE(listener->own.val[id]);
		f->own.from[id] = FL_FROM_LISTENER;
	}
	f->own.privileged = READ_ONCE(listener->own.privileged);
	weight = min(f->own.val[FL_SET_WEIGHT], fl_ceiling(f->ns,
							   FL_SET_WEIGHT));
	if (present & BIT(FL_SET_WEIGHT) &&
	    !(f->own.privileged & BIT(FL_SET_WEIGHT)) &&
	    fl_limit_charge(sk, f, weight, true)) {
		present &= ~BIT(FL_SET_WEIGHT);
		fl_count(f->ns, FL_A_STAT_REFUSED_BUDGET);
	}
	f->own.present = present;
	fl_count(f->ns, FL_A_STAT_INHERITED);
}

/**
 * fl_attr_accepted() - a socket has got an owner who may be another than its listener's
 * @sk: the socket
 * @f: its settings
 *
 * From now on he pays. A weight of the listener's that he cannot pay he has not. Context: process,
 * @f->lock held; RCU. Return: as fl_attr_commit().
 */
u32 fl_attr_accepted(struct sock *sk, struct fl_sock *f)
{
	u32 weight = f->charged_milli;

	if (f->gone || !fl_limit_is_others(sk, f))
		return 0;
	fl_limit_release(f);
	if (f->own.present & BIT(FL_SET_WEIGHT) && !(f->own.privileged & BIT(FL_SET_WEIGHT)) &&
	    fl_limit_charge(sk, f, weight, true)) {
		WRITE_ONCE(f->own.present, f->own.present & ~BIT(FL_SET_WEIGHT));
		fl_count(f->ns, FL_A_STAT_REFUSED_BUDGET);
	}
	return fl_attr_commit(sk, f);
}

static u8 fl_info_from(const struct fl_sock *f, enum fl_setting_id id,
		       u8 otherwise)
{
	return f && READ_ONCE(f->now.present) & BIT(id) ? READ_ONCE(f->now.from[id]) :
							  otherwise;
}

/* Line rate, and where it comes from; measured only for controls that do that. */
static void fl_info_line(struct sock *sk, const struct fl_sock *f,
			 const struct fl_profile *pf, u8 from_profile,
			 struct fl_info *info)
{
	const struct fl_attached *at = f ? rcu_dereference(f->attached) : NULL;
	bool measured = at && at->cc->measures_line;
	u64 bps;
	u8 from;

	bps = fl_line_bps(sk, pf, measured, &from);
	if (from == FL_FROM_NETNS)
		from = from_profile;
	info->line_rate_mbps = fl_sock_value(f, FL_SET_LINE_RATE,
					     div_u64(bps, 1000000));
	info->line_rate_from = fl_info_from(f, FL_SET_LINE_RATE, from);
}

/* What the stack and the option's hooks know of a socket whatever its congestion
 * control is and tells.
 */
static void fl_info_common(const struct sock *sk, struct fl_info *info)
{
	const struct fl_tel *tel = fl_tel_lookup(sk);

	if (tel)
		info->telemetry_bad = READ_ONCE(tel->bad);
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return;
	/* a bit among the stack's own */
	if (data_race(!!tcp_sk(sk)->rate_app_limited))
		info->flags |= FL_INFO_APP_LIMITED;
	/* RACK keeps the newest sample, in us */
	if (!info->delay_ns)
		info->delay_ns = NSEC_PER_USEC *
				 min_t(u32, READ_ONCE(tcp_sk(sk)->rack.rtt_us),
				       U32_MAX / NSEC_PER_USEC);
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
void fl_attr_info(struct sock *sk, const struct fl_sock *f,
		  struct fl_info *info)
{
	const struct fl_profile *pf = fl_profile_get(sock_net(sk));
	const struct fl_attached *at;
	u8 from_profile = FL_FROM_NETNS;
	const struct fl_prefix *p;
	u32 val;

	rcu_read_lock();
	p = f ? READ_ONCE(f->prefix) : NULL;
	if (p) {
		pf = &p->profile;
		from_profile = FL_FROM_PROFILE;
	}
	memset(info, 0, sizeof(*info));
	info->size_bytes = sizeof(*info);
	info->cookie = f ? READ_ONCE(f->cookie) : 0;
	info->priority = fl_sock_prio(sk, f);
	info->priority_from = fl_info_from(f, FL_SET_PRIORITY,
					   FL_FROM_SO_PRIORITY);
	info->weight_milli = fl_sock_weight_milli(sk, f);
	info->weight_from = fl_info_from(f, FL_SET_WEIGHT, FL_FROM_DEFAULT);
	val = READ_ONCE(pf->base_rtt_ns);
	info->base_rtt_ns = fl_sock_value(f, FL_SET_BASE_RTT, val);
	info->base_rtt_from = fl_info_from(f, FL_SET_BASE_RTT, val ?
					   from_profile : FL_FROM_DEFAULT);
	fl_info_line(sk, f, pf, from_profile, info);
	info->deadline_us = fl_sock_deadline_us(f);
	info->deadline_from = fl_info_from(f, FL_SET_DEADLINE,
					   FL_FROM_DEFAULT);
	info->policy = f ? fl_sock_policy(f) : 0;
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		info->flags |= FL_INFO_LISTENER;
	if (f && READ_ONCE(*f->had))
		info->flags |= FL_INFO_OFF;
	strscpy(info->cc, fl_cc_name(sk), sizeof(info->cc));
	at = f ? rcu_dereference(f->attached) : NULL;
	if (at)
		at->cc->info(sk, at, info);
	fl_info_common(sk, info);
	rcu_read_unlock();
}
