/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairlane.ko inside: what the files of the control plane share.
 *
 * Locks, outermost first:
 *	socket lock		a socket's struct fl_flow
 *	fl_ns.flows' own	the namespace's list of flows; BH
 */
#ifndef FL_CONTROL_H
#define FL_CONTROL_H

#include <linux/atomic.h>
#include <linux/netlink.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "fl_flow.h"

/**
 * struct fl_ns - the control plane of a network namespace
 * @flows: flows by the socket's cookie
 * @priority_max: best priority that needs no privilege
 * @weight_max_milli: largest weight that needs no privilege, thousandths
 * @stats: by FL_A_STAT_*
 */
struct fl_ns {
	struct xarray flows;
	u32 priority_max;
	u32 weight_max_milli;
	atomic64_t stats[__FL_A_STAT_MAX];
};

/**
 * struct fl_request - settings that somebody wants
 * @v: which, their values (FL_UNSET: take back), where they come from
 * @privileged: limits do not bind him
 * @extack: where to say why not, may be NULL
 * @bad: the setting that was refused
 */
struct fl_request {
	struct fl_values v;
	bool privileged;
	struct netlink_ext_ack *extack;
	enum fl_setting_id bad;
};

static inline void fl_count(struct fl_ns *ns, int stat)
{
	atomic64_inc(&ns->stats[stat]);
}

/* Is it a TCP socket of a kind that has settings? */
static inline bool fl_is_tcp(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_TCP &&
	       (sk->sk_family == AF_INET || sk->sk_family == AF_INET6);
}

/* fl_flow.c */
struct fl_ns *fl_ns_of(const struct net *net);
struct fl_flow *fl_flow_find(const struct sock *sk);
struct fl_flow *fl_flow_get(struct sock *sk, gfp_t gfp);
int fl_flow_init(void);
void fl_flow_exit(void);

/* fl_attr.c */
int fl_attr_set(struct sock *sk, struct fl_flow *f, struct fl_request *rq);
void fl_attr_inherit(struct fl_flow *f, const struct fl_flow *listener);
u32 fl_attr_commit(struct sock *sk, struct fl_flow *f);
void fl_attr_info(struct sock *sk, const struct fl_flow *f,
		  struct fl_info *info);

/* fl_sockopt.c */
int fl_sockopt_init(void);
void fl_sockopt_exit(void);

#endif /* FL_CONTROL_H */
