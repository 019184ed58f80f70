/* SPDX-License-Identifier: GPL-2.0 */
/* Profiles: settings of a namespace, and of destinations in it. */
#ifndef FL_PREFIX_H
#define FL_PREFIX_H

#include "fl_control.h"

/**
 * struct fl_prefix - profile of a destination's prefix
 * @list: in fl_ns.prefixes, the longest first; RCU
 * @rcu: readers are sockets
 * @ref: the list's and one of each flow that uses it
 * @flows: how many these are
 * @net: the namespace
 * @addr: the prefix; family is AF_INET or AF_INET6, address in remote
 * @bits: its length
 * @profile: what is in force
 * @own: what it sets itself
 * @present: bits of the settings in @own, by their numbers
 */
struct fl_prefix {
	struct list_head list;
	struct rcu_head rcu;
	refcount_t ref;
	atomic_t flows;
	struct net *net;
	struct fl_tuple addr;
	u8 bits;
	struct fl_profile profile;
	struct fl_profile own;
	u64 present;
};

/* fl_profile.c */
extern struct mutex fl_settings_lock;
const struct fl_setting *fl_setting_at(size_t i);
const struct fl_setting *fl_setting_from(size_t *i);
void fl_profile_inherit(struct net *net);
void fl_profile_write(struct net *net, size_t i, u32 value);

/* fl_prefix.c */
u32 fl_profile_next_gen(void);
void fl_prefix_forget_settings(struct net *net, u64 which);
void fl_prefix_rebase(struct net *net);
struct fl_prefix *fl_prefix_new(struct net *net, const struct fl_tuple *t,
				u8 bits);
void fl_prefix_insert(struct fl_ns *ns, struct fl_prefix *new);
void fl_prefix_remove(struct fl_ns *ns, struct fl_prefix *p);
struct fl_prefix *fl_prefix_named(struct fl_ns *ns, const struct fl_tuple *t,
				  u8 bits);

#endif /* FL_PREFIX_H */
