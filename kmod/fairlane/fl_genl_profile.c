// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles over netlink: the namespace's settings, which the sysctls show too,
 * and those of prefixes. Settings go by their names, so what a congestion
 * control brings needs no new attribute.
 */
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "compat/compat.h"
#include "fl_prefix.h"

/* Enough for all settings. */
#define FL_PROFILE_BYTES	8192

/**
 * struct fl_wish - settings that somebody wants in a profile
 * @present: bits of settings with a value
 * @reset: bits of settings to take back
 * @value: the values
 */
struct fl_wish {
	u64 present;
	u64 reset;
	u32 value[FL_SETTINGS_MAX];
};

/* The prefix that a request names. Return: 0 none, 1 one, or an error. */
static int fl_profile_prefix(struct genl_info *info, struct fl_tuple *t,
			     u8 *bits)
{
	struct nlattr *addr = info->attrs[FL_A_PROFILE_ADDR];
	struct nlattr *len = info->attrs[FL_A_PROFILE_BITS];
	struct in6_addr all = { };
	int bytes;

	memset(t, 0, sizeof(*t));
	if (!addr) {
		if (!len && !info->attrs[FL_A_PROFILE_FAMILY])
			return 0;
		NL_SET_ERR_MSG(info->extack, "prefix without address");
		return -EINVAL;
	}
	bytes = nla_len(addr);
	t->family = bytes == 4 ? AF_INET : AF_INET6;
	if ((bytes != 4 && bytes != 16) ||
	    (info->attrs[FL_A_PROFILE_FAMILY] &&
	     nla_get_u8(info->attrs[FL_A_PROFILE_FAMILY]) != t->family)) {
		NL_SET_ERR_MSG_ATTR(info->extack, addr,
				    "address does not fit the family");
		return -EINVAL;
	}
	*bits = len ? nla_get_u8(len) : bytes * 8;
	if (*bits > bytes * 8) {
		NL_SET_ERR_MSG_ATTR(info->extack, len,
				    "prefix is longer than the address");
		return -EINVAL;
	}
	memcpy(&all, nla_data(addr), bytes);
	ipv6_addr_prefix(&t->remote, &all, *bits);
	if (!ipv6_addr_equal(&t->remote, &all)) {
		NL_SET_ERR_MSG_ATTR(info->extack, addr,
				    "address has bits beyond the prefix");
		return -EINVAL;
	}
	return 1;
}

static int fl_profile_put_setting(struct sk_buff *skb,
				  const struct fl_setting *st, u32 value,
				  u8 from)
{
	struct nlattr *nest = nla_nest_start(skb, FL_A_PROFILE_SETTING);

	if (!nest ||
	    nla_put_string(skb, FL_A_SETTING_NAME, st->name) ||
	    nla_put_u32(skb, FL_A_SETTING_VALUE, value) ||
	    nla_put_u8(skb, FL_A_SETTING_FROM, from) ||
	    nla_put_u32(skb, FL_A_SETTING_DEFAULT, st->initial) ||
	    nla_put_u32(skb, FL_A_SETTING_LOWEST, st->min) ||
	    nla_put_u32(skb, FL_A_SETTING_HIGHEST, st->max) ||
	    (st->research && nla_put_flag(skb, FL_A_SETTING_RESEARCH)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* A profile, @p NULL: the namespace's. */
static int fl_profile_put(struct sk_buff *skb, struct net *net,
			  const struct fl_prefix *p)
{
	const struct fl_profile *pf = p ? &p->profile : fl_profile_get(net);
	const struct fl_setting *st;
	size_t i;

	if (p && (nla_put_u8(skb, FL_A_PROFILE_FAMILY, p->addr.family) ||
		  nla_put(skb, FL_A_PROFILE_ADDR,
			  fl_addr_len(p->addr.family), &p->addr.remote) ||
		  nla_put_u8(skb, FL_A_PROFILE_BITS, p->bits) ||
		  nla_put_u32(skb, FL_A_PROFILE_FLOWS,
			      atomic_read(&p->flows))))
		return -EMSGSIZE;
	for (i = 0; (st = fl_setting_from(&i)); i++) {
		u32 value = READ_ONCE(pf->value[i]);
		u8 from = value == st->initial ? FL_FROM_DEFAULT :
						 FL_FROM_NETNS;

		if (p && p->present & BIT_ULL(i))
			from = FL_FROM_PROFILE;
		if (fl_profile_put_setting(skb, st, value, from))
			return -EMSGSIZE;
	}
	return 0;
}

/* Context: process. */
int fl_profile_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	struct fl_prefix *p = NULL;
	struct sk_buff *reply;
	struct fl_tuple t;
	void *head;
	bool full;
	u8 bits;
	int has;

	has = fl_profile_prefix(info, &t, &bits);
	if (has < 0)
		return has;
	if (has) {
		p = fl_prefix_named(fl_ns_of(net), &t, bits);
		if (!p) {
			NL_SET_ERR_MSG(info->extack,
				       "no profile of this prefix");
			return -ENOENT;
		}
	}
	reply = genlmsg_new(FL_PROFILE_BYTES, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	head = genlmsg_put_reply(reply, info, fl_family, 0,
				 FL_CMD_PROFILE_GET);
	mutex_lock(&fl_settings_lock);
	full = !head || fl_profile_put(reply, net, p);
	mutex_unlock(&fl_settings_lock);
	if (full) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}

static int fl_profile_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			       struct net *net, const struct fl_prefix *p)
{
	void *head;

	head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   fl_family, NLM_F_MULTI, FL_CMD_PROFILE_GET);
	if (!head)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, head);
	if (fl_profile_put(skb, net, p)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	cb->args[0]++;
	return 0;
}

/* The namespace's, then the longest prefix first. Context: process. */
int fl_profile_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(cb->skb->sk);
	struct fl_ns *ns = fl_ns_of(net);
	struct fl_prefix *p;
	long i = 0;
	int err = 0;

	mutex_lock(&fl_settings_lock);
	rcu_read_lock();
	cb->seq = READ_ONCE(ns->prefix_gen) + 1;
	if (!cb->args[0])
		err = fl_profile_dump_one(skb, cb, net, NULL);
	list_for_each_entry_rcu(p, &ns->prefixes, list) {
		if (err)
			break;
		if (++i >= cb->args[0])
			err = fl_profile_dump_one(skb, cb, net, p);
	}
	rcu_read_unlock();
	mutex_unlock(&fl_settings_lock);
	return skb->len ?: err;
}

/* Index of a setting, or an error. */
static int fl_profile_setting(const struct nlattr *name,
			      struct netlink_ext_ack *extack)
{
	const struct fl_setting *st;
	size_t i;

	if (!name) {
		NL_SET_ERR_MSG(extack, "setting without a name");
		return -EINVAL;
	}
	for (i = 0; (st = fl_setting_from(&i)); i++)
		if (!nla_strcmp(name, st->name))
			return i;
	NL_SET_ERR_MSG_ATTR(extack, name, "no such setting");
	return -ENOENT;
}

/* All settings of a request, checked. */
static int fl_profile_wish(struct genl_info *info, struct fl_wish *wish)
{
	struct nlattr *nla, *tb[FL_A_SETTING_MAX + 1];
	const struct fl_setting *st;
	int left, i, err;

	nlmsg_for_each_attr(nla, info->nlhdr, GENL_HDRLEN, left) {
		if (nla_type(nla) != FL_A_PROFILE_SETTING)
			continue;
		/* checked against the policy when it came in */
		err = nla_parse_nested(tb, FL_A_SETTING_MAX, nla, NULL,
				       info->extack);
		if (err)
			return err;
		i = fl_profile_setting(tb[FL_A_SETTING_NAME], info->extack);
		if (i < 0)
			return i;
		st = fl_setting_at(i);
		wish->present &= ~BIT_ULL(i);
		wish->reset &= ~BIT_ULL(i);
		if (!tb[FL_A_SETTING_VALUE]) {
			wish->reset |= BIT_ULL(i);
			continue;
		}
		wish->present |= BIT_ULL(i);
		wish->value[i] = nla_get_u32(tb[FL_A_SETTING_VALUE]);
		if (wish->value[i] < st->min || wish->value[i] > st->max) {
			FL_SET_ERR(info->extack, "setting out of range",
				   "%s is not in %u..%u", st->name, st->min,
				   st->max);
			return -EINVAL;
		}
	}
	return 0;
}

static void fl_profile_tell(struct net *net, const struct fl_prefix *p,
			    const struct fl_setting *st, u32 old, u32 new)
{
	struct fl_event ev = {
		.kind = FL_EVENT_PROFILE,
		.name = st->name,
		.old = old,
		.new = new,
		.new_from = p ? FL_FROM_PROFILE : FL_FROM_NETNS,
	};

	if (p) {
		ev.tuple = &p->addr;
		ev.bits = p->bits;
	}
	if (old != new)
		fl_event_send(fl_ns_of(net), &ev);
}

/* The namespace's own settings. */
static void fl_profile_set_net(struct net *net, const struct fl_wish *wish)
{
	const struct fl_profile *pf = fl_profile_get(net);
	const struct fl_setting *st;
	u32 old, new;
	size_t i;

	for (i = 0; (st = fl_setting_from(&i)); i++) {
		if (!((wish->present | wish->reset) & BIT_ULL(i)))
			continue;
		old = READ_ONCE(pf->value[i]);
		new = wish->present & BIT_ULL(i) ? wish->value[i] : st->initial;
		fl_profile_write(net, i, new);
		fl_profile_tell(net, NULL, st, old, new);
	}
}

static int fl_profile_set_prefix(struct genl_info *info,
				 const struct fl_wish *wish,
				 const struct fl_tuple *t, u8 bits)
{
	struct net *net = genl_info_net(info);
	struct fl_ns *ns = fl_ns_of(net);
	struct fl_prefix *p = fl_prefix_named(ns, t, bits);
	const struct fl_setting *st;
	struct fl_profile before;
	size_t i;

	if (!p) {
		if (ns->prefix_count >= FL_PROFILE_COUNT_MAX) {
			NL_SET_ERR_MSG(info->extack, "too many profiles");
			return -ENOSPC;
		}
		p = fl_prefix_new(net, t, bits);
		if (!p)
			return -ENOMEM;
	}
	before = p->profile;
	/* fl_prefix_rebase() reads it when somebody writes a sysctl meanwhile */
	mutex_lock(&ns->prefix_lock);
	for (i = 0; (st = fl_setting_from(&i)); i++)
		if (wish->present & BIT_ULL(i))
			p->own.value[i] = wish->value[i];
	p->present = (p->present | wish->present) & ~wish->reset;
	mutex_unlock(&ns->prefix_lock);
	fl_prefix_insert(ns, p);
	for (i = 0; (st = fl_setting_from(&i)); i++)
		fl_profile_tell(net, p, st, before.value[i],
				READ_ONCE(p->profile.value[i]));
	return 0;
}

/* Context: process. */
int fl_profile_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_wish *wish;
	struct fl_tuple t;
	int err, has;
	u8 bits;

	has = fl_profile_prefix(info, &t, &bits);
	if (has < 0)
		return has;
	wish = kzalloc(sizeof(*wish), GFP_KERNEL_ACCOUNT);
	if (!wish)
		return -ENOMEM;
	mutex_lock(&fl_settings_lock);
	err = fl_profile_wish(info, wish);
	if (!err && has) {
		err = fl_profile_set_prefix(info, wish, &t, bits);
	} else if (!err && !(wish->present | wish->reset)) {
		NL_SET_ERR_MSG(info->extack, "nothing to set");
		err = -EINVAL;
	} else if (!err) {
		fl_profile_set_net(genl_info_net(info), wish);
	}
	mutex_unlock(&fl_settings_lock);
	kfree(wish);
	return err;
}

/* Context: process. */
int fl_profile_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_ns *ns = fl_ns_of(genl_info_net(info));
	const struct fl_profile *whole = fl_profile_get(ns->net);
	const struct fl_setting *st;
	struct fl_prefix *p;
	struct fl_tuple t;
	size_t i;
	int has;
	u8 bits;

	has = fl_profile_prefix(info, &t, &bits);
	if (has < 0)
		return has;
	p = has ? fl_prefix_named(ns, &t, bits) : NULL;
	if (!p) {
		NL_SET_ERR_MSG(info->extack, "no profile of this prefix");
		return -ENOENT;
	}
	mutex_lock(&fl_settings_lock);
	for (i = 0; (st = fl_setting_from(&i)); i++)
		fl_profile_tell(ns->net, p, st,
				READ_ONCE(p->profile.value[i]),
				READ_ONCE(whole->value[i]));
	mutex_unlock(&fl_settings_lock);
	fl_prefix_remove(ns, p);
	return 0;
}
