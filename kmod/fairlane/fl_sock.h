/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is set on a socket: virtual priority, weight, and what else steers its
 * congestion control. For any TCP socket: of any congestion control, before
 * connect, listening. See Documentation/reference/control.rst.
 *
 * A struct fl_sock exists for each socket that was told something or has one
 * of our congestion controls, and dies with it. Each setting has at most two
 * sources: its own (setsockopt, netlink, the listener's) and a policy's; the
 * own one wins. What is in force is computed when either changes; a congestion
 * control reads that with two loads, and sees changes by a generation.
 *
 * Writers hold the flow's own lock, fl_sock.lock, and never wait for the socket's:
 * its owner can keep that one for as long as he likes. Readers, congestion controls
 * among them, take no lock: they read each number with READ_ONCE, and whoever
 * computes something from more than one does so again when the generation changes.
 */
#ifndef FL_SOCK_H
#define FL_SOCK_H

#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/fairlane.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>

#include "fairlane.h"
#include "lib/train.h"

struct fl_account;
struct fl_cc;
struct fl_ns;
struct fl_prefix;
struct fl_rate_meter;

/**
 * struct fl_attached - what a congestion control has of a socket, for readers
 * @cc: whose it is
 *
 * Part of the control's own memory, which is freed under RCU after fl_sock_detach().
 * Readers do not hold the socket lock: when they look into the socket's private
 * area it may be another control's already, and no pointer there can be followed.
 */
struct fl_attached {
	const struct fl_cc *cc;
};

/**
 * struct fl_cc - what a congestion control offers to the control plane
 * @none: of a socket for which nothing was shown yet; its @cc is this
 * @name: as in tcp_congestion_ops
 * @weighted: it heeds the weight: its sockets count for the budget
 * @measures_line: it counts on measured line rates, see fl_rate_measure()
 * @info: fill in what it knows; zeroed otherwise, settings already there. From what
 *	fl_sock_show() has shown, or @none. Context: RCU, socket possibly not
 *	locked: values may be torn
 * @changed: settings have changed on a live socket; optional, for a control that wants
 *	to act before its next ACK or RTT, where it compares generations anyway: not
 *	called if a process has the socket just then and somebody else made the change.
 *	Context: socket lock held, process or softirq
 * @told: the socket's border router has told something without an ACK (fl_message.c);
 *	optional. Context: socket lock held, softirq
 *
 * Static; the module may not go before the last fl_sock_detach(), which its
 * release callback does.
 */
struct fl_cc {
	struct fl_attached none;
	const char *name;
	bool weighted;
	bool measures_line;
	void (*info)(struct sock *sk, const struct fl_attached *at,
		     struct fl_info *info);
	void (*changed)(struct sock *sk);
	void (*told)(struct sock *sk);
};

/**
 * struct fl_values - settings from one source
 * @present: bit mask of enum fl_setting_id: which there are
 * @privileged: bits of @present that limits do not bind
 * @from: enum fl_from
 * @val: their values
 */
struct fl_values {
	u8 present;
	u8 privileged;
	u8 from[__FL_SET_COUNT];
	u32 val[__FL_SET_COUNT];
};

/**
 * struct fl_decided - what policies have decided of a socket
 * @values: settings
 * @order: the policy; 0 = none does any more
 */
struct fl_decided {
	struct fl_values values;
	u32 order;
};

/**
 * struct fl_sock - a socket's settings
 * @now: in force
 * @gen: changes whenever @now does
 * @prefix_gen: generation of the namespace's profiles that @prefix is of; this and
 *	@prefix: socket lock
 * @policy_gen: generation of the policies that were asked; 0 = not yet
 * @ns: its network namespace
 * @prefix: profile of its destination; NULL = the namespace's
 * @attached: what the congestion control shows, while one of ours is attached
 * @sk: the socket, which outlives this
 * @meter: of fl_rate_measure(), socket lock; NULL = nothing measured yet
 * @own: set by setsockopt, by netlink, or inherited
 * @decided: set by a policy, NULL = never; lives as long as this
 * @charged_milli: how much its weight costs @account
 * @ref: the table's, and one of an attached congestion control
 * @lock: of @now, @own, @decided, @policy_gen, @cookie, @gone and what is charged; BH,
 *	inside the socket lock
 * @gone: the socket is going: nothing is set, listed or charged any more
 * @asked: somebody had chosen the control @had for it; socket lock
 * @cookie: the socket's, once it is in @ns' list; 0 = not yet
 * @node: in the table of all flows, by @sk
 * @had: the control to come back to when the namespace is on again, "" = none; changed
 *	under the socket lock and @lock
 * @given: what it has instead, to compare with: it is not held
 * @account: who pays for the weight, NULL = not counted; fl_limit.c. Writers'
 *	alone, who come no more once @ref is 0
 * @rcu: readers in netlink and in the table
 */
struct fl_sock {
	struct fl_values now;
	u32 gen;
	u32 prefix_gen;
	u32 policy_gen;
	struct fl_ns *ns;
	struct fl_prefix *prefix;
	const struct fl_attached __rcu *attached;
	struct sock *sk;
	struct fl_rate_meter *meter;
	struct fl_values own;
	u32 charged_milli;
	struct fl_decided __rcu *decided;
	refcount_t ref;
	spinlock_t lock;	/* see above */
	bool gone;
	bool asked;
	u64 cookie;
	struct rhash_head node;
	char had[TCP_CA_NAME_MAX];
	const struct tcp_congestion_ops *given;
	union {
		struct fl_account *account[2];
		struct rcu_head rcu;
	};
};

/* What policies have decided of it, NULL = nothing. Context: its lock held, or RCU. */
static inline const struct fl_decided *fl_sock_decided(const struct fl_sock *f)
{
	return rcu_dereference_check(f->decided, true);
}

/* The policy that decided, 0 = none did. Context: likewise. */
static inline u32 fl_sock_policy(const struct fl_sock *f)
{
	const struct fl_decided *d = fl_sock_decided(f);

	return d ? READ_ONCE(d->order) : 0;
}

/* For congestion controls ------------------------------------------------- */

struct fl_sock *fl_sock_attach(struct sock *sk, const struct fl_cc *cc);
void fl_sock_show(struct fl_sock *f, const struct fl_attached *at);
void fl_sock_detach(struct sock *sk, struct fl_sock *f);
const struct fl_attached *fl_sock_shown(const struct sock *sk,
					const struct fl_cc *cc);

/* Which of ours is attached? Context: socket lock held, or RCU. */
static inline const struct fl_cc *fl_sock_cc(const struct fl_sock *f)
{
	const struct fl_attached *at = rcu_dereference_check(f->attached, true);

	return at ? at->cc : NULL;
}

/**
 * fl_ca_seen() - what a control keeps in the socket itself, for readers without its lock
 * @sk: the socket
 * @copy: where to
 * @bytes: so much of it
 *
 * No order of its owner's makes such a reader safe: the socket's control may be changed
 * just then, and the next one overwrites all of it. So nothing in the copy is believed but
 * as a number to show, and no pointer in it is followed.
 */
static inline void fl_ca_seen(const struct sock *sk, void *copy, size_t bytes)
{
	/* see above */
	data_race(memcpy(copy, inet_csk_ca(sk), bytes));
}

u32 fl_sock_so_priority(const struct sock *sk);
const struct fl_profile *fl_profile_for(const struct sock *sk,
					struct fl_sock *f);

/* fl_diag.c: for get_info() */
union tcp_cc_info;
size_t fl_diag_fill(struct sock *sk, u32 ext, int *attr,
		    union tcp_cc_info *info);

/**
 * fl_sock_changed() - have settings changed since the caller looked?
 * @f: the socket's settings, NULL if there was no memory
 * @gen: what the caller saw, updated
 *
 * SO_PRIORITY is not among them: fl_sock_prio() is to be compared. What is read
 * afterwards is no older than the change. Context: any.
 */
static inline bool fl_sock_changed(const struct fl_sock *f, u32 *gen)
{
	u32 now;

	if (!f)
		return false;
	/* pairs with the release in fl_attr_commit() */
	now = smp_load_acquire(&f->gen);
	if (likely(now == *gen))
		return false;
	*gen = now;
	return true;
}

/* Generation of the settings, for fl_settings_gen(). */
static inline u32 fl_sock_gen(const struct fl_sock *f)
{
	/* pairs with the release in fl_attr_commit() */
	return f ? smp_load_acquire(&f->gen) : 0;
}

/* Differs from what it was if the settings @f or the profile @pf have changed. Profiles
 * have generations in no order, and a sum would miss a step down of the one and up of the
 * other: times the golden ratio of 2^32, steps below 10^4 never meet each other.
 */
static inline u32 fl_settings_gen(const struct fl_sock *f,
				  const struct fl_profile *pf)
{
	return fl_profile_gen(pf) * 0x9e3779b1U + fl_sock_gen(f);
}

/* A setting in force, or what to take if nobody has set it. */
static inline u32 fl_sock_value(const struct fl_sock *f, enum fl_setting_id id,
				u32 otherwise)
{
	if (f && READ_ONCE(f->now.present) & BIT(id))
		return READ_ONCE(f->now.val[id]);
	return otherwise;
}

/**
 * fl_sock_prio() - virtual priority of a socket
 * @sk: the socket
 * @f: its settings, may be NULL
 *
 * Set on it, else by policy, else SO_PRIORITY. Context: any.
 * Return: 0 to FL_PRIORITY_MAX, which is the best.
 */
static inline u8 fl_sock_prio(const struct sock *sk, const struct fl_sock *f)
{
	if (f && READ_ONCE(f->now.present) & BIT(FL_SET_PRIORITY))
		return READ_ONCE(f->now.val[FL_SET_PRIORITY]);
	return fl_sock_so_priority(sk);
}

/* Weight, thousandths: FL_WEIGHT_MIN_MILLI to FL_WEIGHT_MAX_MILLI. */
static inline u32 fl_sock_weight_milli(const struct sock *sk,
				       const struct fl_sock *f)
{
	return fl_sock_value(f, FL_SET_WEIGHT, FL_WEIGHT_ONE_MILLI);
}

/* Base RTT: the socket's own, else its profile's; 0 = measure it. ns. */
static inline u32 fl_sock_base_rtt_ns(const struct fl_sock *f,
				      const struct fl_profile *pf)
{
	return fl_sock_value(f, FL_SET_BASE_RTT, READ_ONCE(pf->base_rtt_ns));
}

/* Line rate: the socket's own, else the profile's, a measured one if @measured may
 * be, or the device's; bit/s.
 */
static inline u64 fl_sock_line_bps(const struct sock *sk,
				   const struct fl_sock *f,
				   const struct fl_profile *pf, bool measured)
{
	u32 mbps = fl_sock_value(f, FL_SET_LINE_RATE, 0);

	return mbps ? mbps * 1000000ULL : fl_line_bps(sk, pf, measured, NULL);
}

/* Half of the noise that delays are allowed may be the flow's own trains. */
#define FL_TRAIN_NOISE_PART	2

/**
 * fl_sock_gso_segs() - segments in a packet that the noise allows
 * @sk: the socket; caller holds its lock
 * @pf: its profile
 * @line_bps: fl_sock_line_bps()
 *
 * The profile's; where that is 0, as many as wait for each other for half of the noise. A control
 * that goes by delay sends no more at once, one that goes by a port's load no less.
 */
static inline u32 fl_sock_gso_segs(const struct sock *sk, const struct fl_profile *pf,
				   u64 line_bps)
{
	return READ_ONCE(pf->gso_segs) ?:
	       fl_train_segs(line_bps, fl_wire_bytes(sk),
			     READ_ONCE(pf->noise_ns) / FL_TRAIN_NOISE_PART);
}

bool fl_rate_measure(struct sock *sk, struct fl_sock *f, u32 base_ns,
		     u32 rtt_ns, const struct rate_sample *rs);

/* Deadline of a message since its start, us; 0 = none. */
static inline u32 fl_sock_deadline_us(const struct fl_sock *f)
{
	return fl_sock_value(f, FL_SET_DEADLINE, 0);
}

#endif /* FL_SOCK_H */
