/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairlane.ko inside: what the files of the control plane share.
 *
 * Locks, outermost first:
 *	fl_ns.requests		requests of a namespace come one at a time: policies,
 *				profiles, limits are changed under it (or under
 *				rtnl-free sysctl writes, see fl_prefix.c)
 *	socket lock		never taken inside fl_ns.requests: a socket's owner
 *				can keep it for as long as he likes
 *	fl_sock.lock		a socket's settings; BH
 *	fl_ns.account_lock	accounts and what flows are charged; BH
 *	fl_ns.event_lock	numbers events and keeps them in order; BH
 *	fl_ns.flows' own	the namespace's list of flows; BH
 * Who only reads policies, profiles and flows needs RCU.
 */
#ifndef FL_CONTROL_H
#define FL_CONTROL_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/spinlock.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netlink.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "fl_sock.h"

/* Owners of sockets that events tell apart; a power of two. */
#define FL_EVENT_OWNERS_SHIFT	6

struct genl_info;
struct genl_family;
struct netlink_callback;

/**
 * struct fl_off - whether a namespace does without our congestion controls, fl_off.c
 * @on: it does: net.fairlane.off
 * @share_permille: of its connections so many have one of ours all the same, the others are
 *	as if it were off: net.fairlane.share_permille
 * @closing: the namespace goes: @work is not queued any more
 * @lock: of @closing
 * @work: brings flows to where they should be
 * @again: jiffies until it looks again at those that were locked; the work's
 * @header: of the sysctl
 * @table: likewise
 */
struct fl_off {
	u32 on;
	u32 share_permille;
	bool closing;
	spinlock_t lock;		/* closing */
	struct delayed_work work;
	unsigned long again;
	struct ctl_table_header *header;
	struct ctl_table table[3];
};

/**
 * struct fl_accept - who accepts connections, fl_accept.c
 * @closing: the namespace goes: @work is not queued any more
 * @lock: of @closing
 * @work: looks who has accepted
 * @again: jiffies until it looks again at those that nobody has; the work's
 */
struct fl_accept {
	bool closing;
	spinlock_t lock;		/* closing */
	struct delayed_work work;
	unsigned long again;
};

/**
 * struct fl_ns - the control plane of a network namespace
 * @net: the namespace
 * @profile: its settings
 * @requests: held while a netlink request is answered
 * @flows: flows by the socket's cookie
 * @priority_max: best priority that needs no privilege
 * @weight_max_milli: largest weight that needs no privilege, thousandths
 * @budget_uid_milli: sum of weights of a uid without a budget of its own; 0 =
 *	not limited
 * @stats: by FL_A_STAT_*
 * @policies: struct fl_policy in their order; RCU
 * @policy_gen: changes with @policies
 * @policy_count: how many there are
 * @prefixes: struct fl_prefix, the longest first; RCU
 * @prefix_lock: for writers of @prefixes
 * @prefix_gen: changes with @prefixes; 0 = there were never any
 * @prefix_count: how many there are
 * @accounts: struct fl_account
 * @budget_count: how many of them were given a budget
 * @budget_cgroups: how many of these are cgroups'
 * @account_lock: for these
 * @event_lock: for @event_seq and the order of events
 * @event_seq: number of the last event
 * @event_second: the second that @event_spent is of
 * @event_spent: events of sockets, by a hash of their owner
 * @off: does it do without our congestion controls?
 * @accept: who accepts its connections?
 */
struct fl_ns {
	struct net *net;
	const struct fl_profile *profile;
	struct mutex requests;		/* one at a time */
	struct xarray flows;
	u32 priority_max;
	u32 weight_max_milli;
	u32 budget_uid_milli;
	atomic64_t stats[__FL_A_STAT_MAX];
	struct list_head policies;
	u32 policy_gen;
	u32 policy_count;
	struct list_head prefixes;
	struct mutex prefix_lock;	/* changes of prefixes */
	u32 prefix_gen;
	u32 prefix_count;
	struct list_head accounts;
	u32 budget_count;
	u32 budget_cgroups;
	spinlock_t account_lock;	/* accounts, budgets, charges */
	spinlock_t event_lock;		/* event_seq and order */
	u64 event_seq;
	u32 event_second;
	u16 event_spent[1 << FL_EVENT_OWNERS_SHIFT];
	struct fl_off off;
	struct fl_accept accept;
};

/**
 * struct fl_request - settings that somebody wants
 * @v: which, their values, where they come from
 * @unset: bits of enum fl_setting_id: which to take back, none of @v
 * @privileged: limits do not bind him
 * @extack: where to say why not, may be NULL
 * @bad: the setting that was refused
 * @changed: bits of what has changed
 */
struct fl_request {
	struct fl_values v;
	u8 unset;
	bool privileged;
	struct netlink_ext_ack *extack;
	enum fl_setting_id bad;
	u32 changed;
};

/**
 * struct fl_choice - what the policies say of a connection
 * @values: settings
 * @order: the policy; 0 = none matches
 * @gen: generation of the policies that were asked
 */
struct fl_choice {
	struct fl_values values;
	u32 order;
	u32 gen;
};

/**
 * struct fl_tuple - addresses of a connection; v4-mapped ones are IPv4
 * @family: AF_INET or AF_INET6
 * @lport: local port
 * @rport: remote port
 * @local: local address, IPv4 in the first word
 * @remote: remote address
 */
struct fl_tuple {
	u8 family;
	__be16 lport;
	__be16 rport;
	struct in6_addr local;
	struct in6_addr remote;
};

/**
 * struct fl_event - something that happened, see FL_A_EVENT_*
 * @kind: enum fl_event_kind
 * @what: depends on @kind
 * @old: value before
 * @new: value now
 * @old_from: enum fl_from
 * @new_from: enum fl_from
 * @error: positive errno
 * @sk: the socket; NULL = none
 * @fs: its settings
 * @name: of a profile's setting
 * @tuple: prefix of a profile, in remote
 * @bits: of that prefix
 * @uid_of: owner of a budget, if @has_uid
 * @has_uid: see @uid_of
 * @cgroup_id: owner of a budget
 */
struct fl_event {
	u8 kind;
	u32 what;
	u32 old;
	u32 new;
	u8 old_from;
	u8 new_from;
	int error;
	const struct sock *sk;
	const struct fl_sock *fs;
	const char *name;
	const struct fl_tuple *tuple;
	u8 bits;
	u32 uid_of;
	bool has_uid;
	u64 cgroup_id;
};

static inline void fl_count(struct fl_ns *ns, int stat)
{
	atomic64_inc(&ns->stats[stat]);
}

/* Attributes of any kind that are nothing but padding. */
#define FL_A_PAD	1
static_assert(FL_A_FLOW_PAD == FL_A_PAD && FL_A_POLICY_PAD == FL_A_PAD &&
	      FL_A_BUDGET_PAD == FL_A_PAD && FL_A_STAT_PAD == FL_A_PAD &&
	      FL_A_EVENT_PAD == FL_A_PAD);

/* Aligned to 8 bytes, by padding, where the processor wants that. */
static inline int fl_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, FL_A_PAD);
}

/* Is it a TCP socket of a kind that has settings? A raw socket may have the same
 * protocol, but is no struct tcp_sock.
 */
static inline bool fl_is_tcp(const struct sock *sk)
{
	return sk->sk_type == SOCK_STREAM && sk->sk_protocol == IPPROTO_TCP &&
	       (sk->sk_family == AF_INET || sk->sk_family == AF_INET6);
}

/* Name of a socket's congestion control. Context: RCU, or socket lock held. */
static inline const char *fl_cc_name(const struct sock *sk)
{
	const struct tcp_congestion_ops *ca;

	ca = READ_ONCE(inet_csk(sk)->icsk_ca_ops);
	return ca ? ca->name : "";
}

/* Bytes of an address in struct fl_tuple. */
static inline int fl_addr_len(u8 family)
{
	return family == AF_INET ? 4 : 16;
}

/* fl_sock.c */
extern unsigned int fl_ns_id;
struct fl_sock *fl_sock_find(const struct sock *sk);
struct fl_sock *fl_sock_get(struct sock *sk, gfp_t gfp);
struct sock *fl_sock_hold(struct fl_sock *f);
void fl_sock_tell(struct sock *sk);
bool fl_sock_gone(const struct sock *sk);
int fl_sock_init(void);
void fl_sock_exit(void);

/* Control plane of a namespace. Context: any, @net is held. */
static inline struct fl_ns *fl_ns_of(const struct net *net)
{
	return net_generic(net, fl_ns_id);
}

/* fl_attr.c */
int fl_attr_set(struct sock *sk, struct fl_sock *f, struct fl_request *rq);
int fl_attr_range(enum fl_setting_id id, u32 val,
		  struct netlink_ext_ack *extack);
void fl_attr_inherit(struct sock *sk, struct fl_sock *f,
		     const struct fl_sock *listener);
u32 fl_attr_commit(struct sock *sk, struct fl_sock *f);
u32 fl_attr_accepted(struct sock *sk, struct fl_sock *f);
void fl_attr_tell(struct sock *sk, struct fl_sock *f);
void fl_attr_info(struct sock *sk, const struct fl_sock *f,
		  struct fl_info *info);

/* fl_lookup.c */
void fl_tuple_of(const struct sock *sk, struct fl_tuple *t);
struct sock *fl_lookup_by_tuple(struct net *net, const struct fl_tuple *t,
				int ifindex);
struct sock *fl_lookup_listener(const struct sock *sk);
bool fl_lookup_accepted(struct net *net, const struct sock *sk);
struct sock *fl_lookup_by_cookie(struct net *net, u64 cookie);
void fl_lookup_each(struct net *net, void (*act)(struct sock *sk, void *arg),
		    void *arg);

/* fl_event.c */
extern const struct genl_family *fl_family;
extern bool fl_event_open;
void fl_event_send(struct fl_ns *ns, const struct fl_event *ev);

/* fl_accept.c */
int fl_accept_init(void);
void fl_accept_exit(void);

/* fl_off.c */
int fl_off_init(void);
void fl_off_exit(void);

/* fl_inherit.c */
int fl_inherit_init(void);
void fl_inherit_exit(void);

/* fl_limit.c */
/* The two that pay for a socket: fl_sock.account[]. */
#define FL_PAYS_UID	0
#define FL_PAYS_CGROUP	1

int fl_limit_budget(struct fl_ns *ns, int kind, u64 id, const char *path,
		    u32 milli, u32 *old, struct netlink_ext_ack *extack);
int fl_limit_charge(struct sock *sk, struct fl_sock *f, u32 milli,
		    bool enforce);
void fl_limit_release(struct fl_sock *f);
bool fl_limit_of_uids(const struct fl_ns *ns);
bool fl_limit_is_others(const struct sock *sk, const struct fl_sock *f);
int fl_limit_init(void);
void fl_limit_exit(void);
void fl_limit_net_init(struct fl_ns *ns);
int fl_limit_inherit(struct fl_ns *ns, struct fl_ns *from);
void fl_limit_net_exit(struct fl_ns *ns);
int fl_limit_get_doit(struct sk_buff *skb, struct genl_info *info);
int fl_limit_set_doit(struct sk_buff *skb, struct genl_info *info);
int fl_budget_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int fl_budget_set_doit(struct sk_buff *skb, struct genl_info *info);
int fl_budget_del_doit(struct sk_buff *skb, struct genl_info *info);

/* fl_policy.c, fl_genl_policy.c */
void fl_policy_choose(const struct sock *sk, bool accepted,
		      struct fl_choice *choice);
bool fl_policy_note(struct fl_sock *f, const struct fl_choice *choice);
void fl_policy_net_exit(struct fl_ns *ns);
int fl_policy_get_doit(struct sk_buff *skb, struct genl_info *info);
int fl_policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int fl_policy_add_doit(struct sk_buff *skb, struct genl_info *info);
int fl_policy_del_doit(struct sk_buff *skb, struct genl_info *info);
int fl_policy_apply_doit(struct sk_buff *skb, struct genl_info *info);

/* fl_prefix.c, fl_genl_profile.c */
const struct fl_profile *fl_prefix_find(const struct sock *sk,
					struct fl_sock *f);
void fl_prefix_forget(struct fl_sock *f);
void fl_prefix_net_exit(struct fl_ns *ns);
int fl_profile_get_doit(struct sk_buff *skb, struct genl_info *info);
int fl_profile_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int fl_profile_set_doit(struct sk_buff *skb, struct genl_info *info);
int fl_profile_del_doit(struct sk_buff *skb, struct genl_info *info);

/* fl_genl_flow.c */
int fl_flow_get_doit(struct sk_buff *skb, struct genl_info *info);
int fl_flow_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int fl_flow_set_doit(struct sk_buff *skb, struct genl_info *info);
int fl_cgroup_named(struct genl_info *info, int path_type, int id_type, u64 *id);
int fl_values_parse(struct fl_values *v, struct nlattr *const *tb,
		    const int *types, u8 from);

/* fl_genl.c */
extern const struct nla_policy fl_flow_nla[FL_A_FLOW_MAX + 1];
int fl_genl_init(void);
void fl_genl_exit(void);

/* fl_sockopt.c */
int fl_sockopt_init(void);
void fl_sockopt_exit(void);

#endif /* FL_CONTROL_H */
