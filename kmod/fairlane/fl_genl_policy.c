// SPDX-License-Identifier: GPL-2.0
/*
 * Policies over netlink: show, add, delete, apply to live sockets.
 */
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fl_policy.h"

/* Of a v4-mapped address, before the IPv4 one. */
#define FL_MAPPED_BITS	96

/* A new policy without an order goes this far behind the last. */
#define FL_POLICY_STEP	10

/* FL_A_POLICY_* by enum fl_setting_id. */
static const int fl_policy_types[__FL_SET_COUNT] = {
	[FL_SET_PRIORITY] = FL_A_POLICY_PRIORITY,
	[FL_SET_WEIGHT] = FL_A_POLICY_WEIGHT_MILLI,
	[FL_SET_BASE_RTT] = FL_A_POLICY_BASE_RTT_NS,
	[FL_SET_LINE_RATE] = FL_A_POLICY_LINE_RATE_MBPS,
	[FL_SET_DEADLINE] = FL_A_POLICY_DEADLINE_US,
};

/* Context: ns->requests held. */
static struct fl_policy *fl_policy_of(struct fl_ns *ns, u32 order)
{
	struct fl_policy *p;

	list_for_each_entry(p, &ns->policies, list)
		if (p->order == order)
			return p;
	return NULL;
}

static void fl_policies_changed(struct fl_ns *ns, u32 order, u8 kind)
{
	struct fl_event ev = {
		.kind = kind,
		.what = order,
		.new_from = FL_FROM_NETLINK,
	};

	WRITE_ONCE(ns->policy_gen, ns->policy_gen + 1);
	fl_event_send(ns, &ev);
}

static int fl_policy_put_match(struct sk_buff *skb, const struct fl_policy *p)
{
	int len = fl_addr_len(p->family);

	if (p->family && nla_put_u8(skb, FL_A_POLICY_FAMILY, p->family))
		return -EMSGSIZE;
	if (p->laddr_bits &&
	    (nla_put(skb, FL_A_POLICY_LADDR, len, &p->local) ||
	     nla_put_u8(skb, FL_A_POLICY_LADDR_BITS, p->laddr_bits)))
		return -EMSGSIZE;
	if (p->raddr_bits &&
	    (nla_put(skb, FL_A_POLICY_RADDR, len, &p->remote) ||
	     nla_put_u8(skb, FL_A_POLICY_RADDR_BITS, p->raddr_bits)))
		return -EMSGSIZE;
	if (p->has_ports & 1 &&
	    (nla_put_u16(skb, FL_A_POLICY_LPORT_MIN, p->lport_min) ||
	     nla_put_u16(skb, FL_A_POLICY_LPORT_MAX, p->lport_max)))
		return -EMSGSIZE;
	if (p->has_ports & 2 &&
	    (nla_put_u16(skb, FL_A_POLICY_RPORT_MIN, p->rport_min) ||
	     nla_put_u16(skb, FL_A_POLICY_RPORT_MAX, p->rport_max)))
		return -EMSGSIZE;
	if (p->has_uid &&
	    (nla_put_u32(skb, FL_A_POLICY_UID_MIN, p->uid_min) ||
	     nla_put_u32(skb, FL_A_POLICY_UID_MAX, p->uid_max)))
		return -EMSGSIZE;
	if (p->cgroup &&
	    (fl_put_u64(skb, FL_A_POLICY_CGROUP_ID, p->cgroup) ||
	     (p->path && nla_put_string(skb, FL_A_POLICY_CGROUP, p->path))))
		return -EMSGSIZE;
	if (p->cc[0] && nla_put_string(skb, FL_A_POLICY_CC, p->cc))
		return -EMSGSIZE;
	if (p->has_dscp && nla_put_u8(skb, FL_A_POLICY_DSCP, p->dscp))
		return -EMSGSIZE;
	return 0;
}

static int fl_policy_put(struct sk_buff *skb, const struct fl_policy *p)
{
	int id;

	if (nla_put_u32(skb, FL_A_POLICY_ORDER, p->order) ||
	    nla_put_u32(skb, FL_A_POLICY_WHEN, p->when) ||
	    fl_policy_put_match(skb, p))
		return -EMSGSIZE;
	for (id = 0; id < __FL_SET_COUNT; id++)
		if (p->values.present & BIT(id) &&
		    nla_put_u32(skb, fl_policy_types[id], p->values.val[id]))
			return -EMSGSIZE;
	if (fl_put_u64(skb, FL_A_POLICY_HITS, atomic64_read(&p->hits)) ||
	    (p->comment[0] &&
	     nla_put_string(skb, FL_A_POLICY_COMMENT, p->comment)))
		return -EMSGSIZE;
	return 0;
}

static int fl_policy_reply(struct genl_info *info, const struct fl_policy *p,
			   u8 cmd)
{
	size_t more = p->path ? strlen(p->path) : 0;
	struct sk_buff *reply;
	void *head;

	reply = genlmsg_new(NLMSG_GOODSIZE + more, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	head = genlmsg_put_reply(reply, info, fl_family, 0, cmd);
	if (!head || fl_policy_put(reply, p)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}

/* The policy that a request names, or an error. */
static struct fl_policy *fl_policy_named(struct genl_info *info)
{
	struct nlattr *nla = info->attrs[FL_A_POLICY_ORDER];
	struct fl_policy *p;

	if (!nla) {
		NL_SET_ERR_MSG(info->extack, "give the order of the policy");
		return ERR_PTR(-EINVAL);
	}
	p = fl_policy_of(fl_ns_of(genl_info_net(info)), nla_get_u32(nla));
	if (p)
		return p;
	NL_SET_ERR_MSG_ATTR(info->extack, nla, "no policy of this order");
	return ERR_PTR(-ENOENT);
}

/* Context: process. */
int fl_policy_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_policy *p = fl_policy_named(info);

	return IS_ERR(p) ? PTR_ERR(p) :
			   fl_policy_reply(info, p, FL_CMD_POLICY_GET);
}

/* In order; a change in between marks the rest of the dump as interrupted
 * (NLM_F_DUMP_INTR). Context: process.
 */
int fl_policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct fl_ns *ns = fl_ns_of(sock_net(cb->skb->sk));
	struct fl_policy *p;
	void *head;
	int err = 0;

	rcu_read_lock();
	cb->seq = READ_ONCE(ns->policy_gen);
	list_for_each_entry_rcu(p, &ns->policies, list) {
		if (p->order <= cb->args[0])
			continue;
		err = -EMSGSIZE;
		head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				   cb->nlh->nlmsg_seq, fl_family,
				   NLM_F_MULTI, FL_CMD_POLICY_GET);
		if (!head)
			break;
		genl_dump_check_consistent(cb, head);
		if (fl_policy_put(skb, p)) {
			genlmsg_cancel(skb, head);
			break;
		}
		genlmsg_end(skb, head);
		cb->args[0] = p->order;
		err = 0;
	}
	rcu_read_unlock();
	return skb->len ?: err;
}

/* A prefix: address of @type, length of @type_bits. */
static int fl_policy_prefix(struct fl_policy *p, struct genl_info *info,
			    int type, int type_bits, struct in6_addr *addr,
			    u8 *bits)
{
	struct nlattr *nla = info->attrs[type], *len = info->attrs[type_bits];
	int bytes = nla ? nla_len(nla) : 0;
	u8 family = bytes == 4 ? AF_INET : AF_INET6;
	struct in6_addr whole = { };

	if (!nla) {
		if (!len)
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, len,
				    "length of a prefix without address");
		return -EINVAL;
	}
	if (bytes != 4 && bytes != 16) {
		NL_SET_ERR_MSG_ATTR(info->extack, nla,
				    "address is not 4 or 16 bytes");
		return -EINVAL;
	}
	*bits = len ? nla_get_u8(len) : bytes * 8;
	if (*bits > bytes * 8) {
		NL_SET_ERR_MSG_ATTR(info->extack, len,
				    "prefix is longer than the address");
		return -EINVAL;
	}
	/* whole: no struct in6_addr to read from */
	memcpy(&whole, nla_data(nla), bytes);
	if (bytes == 16 && *bits >= FL_MAPPED_BITS && ipv6_addr_v4mapped(&whole)) {
		/* as connections are known: IPv4 */
		family = AF_INET;
		*bits -= FL_MAPPED_BITS;
		whole = (struct in6_addr){ .s6_addr32[0] = whole.s6_addr32[3] };
	}
	if (p->family && p->family != family) {
		NL_SET_ERR_MSG_ATTR(info->extack, nla,
				    "address does not fit the family");
		return -EINVAL;
	}
	p->family = family;
	ipv6_addr_prefix(addr, &whole, *bits);
	return 0;
}

static int fl_policy_ports(struct genl_info *info, int type_min, int type_max,
			   u16 *min, u16 *max, bool *has)
{
	struct nlattr *first = info->attrs[type_min];
	struct nlattr *last = info->attrs[type_max];

	*has = first;
	if (!first && !last)
		return 0;
	if (first) {
		*min = nla_get_u16(first);
		*max = last ? nla_get_u16(last) : *min;
	}
	if (!first || *min > *max) {
		NL_SET_ERR_MSG_ATTR(info->extack, last,
				    "range of ports without its start, or empty");
		return -EINVAL;
	}
	return 0;
}

static int fl_policy_uids(struct fl_policy *p, struct genl_info *info)
{
	struct nlattr *first = info->attrs[FL_A_POLICY_UID_MIN];
	struct nlattr *last = info->attrs[FL_A_POLICY_UID_MAX];

	if (!first && !last)
		return 0;
	if (first) {
		p->has_uid = true;
		p->uid_min = nla_get_u32(first);
		p->uid_max = last ? nla_get_u32(last) : p->uid_min;
	}
	if (!first || p->uid_min > p->uid_max) {
		NL_SET_ERR_MSG_ATTR(info->extack, last,
				    "range of uids without its start, or empty");
		return -EINVAL;
	}
	return 0;
}

/**
 * fl_cgroup_named() - a cgroup by its path in cgroup v2, or by its id
 * @info: the request
 * @path_type: attribute with the path
 * @id_type: attribute with the id
 * @id: is set; 0 = none is named
 *
 * Context: process. Return: 0, -ENOENT, or -EOPNOTSUPP: sockets have no cgroup here.
 */
int fl_cgroup_named(struct genl_info *info, int path_type, int id_type, u64 *id)
{
	struct nlattr *path = info->attrs[path_type];
	struct nlattr *nla = info->attrs[id_type];
#ifdef FL_SOCK_CGROUP
	struct cgroup *cg;

	*id = nla ? nla_get_u64(nla) : 0;
	if (!path)
		return 0;
	cg = cgroup_get_from_path(nla_data(path));
	if (IS_ERR(cg)) {
		NL_SET_ERR_MSG_ATTR(info->extack, path,
				    "no such path in cgroup v2");
		return PTR_ERR(cg);
	}
	*id = cgroup_id(cg);
	cgroup_put(cg);
	return 0;
#else
	*id = 0;
	if (!path && !nla)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, path ?: nla,
			    "this kernel does not know the cgroup of a socket (CONFIG_SOCK_CGROUP_DATA)");
	return -EOPNOTSUPP;
#endif
}

static int fl_policy_cgroup_of(struct fl_policy *p, struct genl_info *info)
{
	struct nlattr *path = info->attrs[FL_A_POLICY_CGROUP];
	int err = fl_cgroup_named(info, FL_A_POLICY_CGROUP,
				  FL_A_POLICY_CGROUP_ID, &p->cgroup);

	if (err || !path)
		return err;
	p->path = nla_strdup(path, GFP_KERNEL_ACCOUNT);
	return p->path ? 0 : -ENOMEM;
}

/* What matching sockets get. */
static int fl_policy_values(struct fl_policy *p, struct genl_info *info)
{
	int id, err;

	if (!fl_values_parse(&p->values, info->attrs, fl_policy_types,
			     FL_FROM_POLICY)) {
		NL_SET_ERR_MSG(info->extack,
			       "policy gives nothing: name a priority, weight, ...");
		return -EINVAL;
	}
	/* an administrator has made it */
	p->values.privileged = p->values.present;
	for (id = 0; id < __FL_SET_COUNT; id++) {
		if (!(p->values.present & BIT(id)))
			continue;
		err = fl_attr_range(id, p->values.val[id], info->extack);
		if (err)
			return err;
	}
	return 0;
}

static bool fl_policy_controls(const char *s)
{
	while (*s && !iscntrl(*s))
		s++;
	return *s;
}

/* Words that tools show, and write line by line into files of settings. */
static int fl_policy_words(struct fl_policy *p, struct genl_info *info)
{
	struct nlattr **tb = info->attrs;

	if (tb[FL_A_POLICY_CC])
		nla_strscpy(p->cc, tb[FL_A_POLICY_CC], sizeof(p->cc));
	if (tb[FL_A_POLICY_COMMENT])
		nla_strscpy(p->comment, tb[FL_A_POLICY_COMMENT], sizeof(p->comment));
	if (!fl_policy_controls(p->cc) && !fl_policy_controls(p->comment))
		return 0;
	NL_SET_ERR_MSG(info->extack, "control characters cannot be in a name or a comment");
	return -EINVAL;
}

/* Everything but the order. */
static int fl_policy_parse(struct fl_policy *p, struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	bool local, remote;
	int err;

	p->when = FL_WHEN_CONNECT | FL_WHEN_ACCEPT;
	if (tb[FL_A_POLICY_WHEN])
		p->when = nla_get_u32(tb[FL_A_POLICY_WHEN]);
	if (tb[FL_A_POLICY_FAMILY]) {
		p->family = nla_get_u8(tb[FL_A_POLICY_FAMILY]);
		if (p->family != AF_INET && p->family != AF_INET6) {
			NL_SET_ERR_MSG_ATTR(info->extack,
					    tb[FL_A_POLICY_FAMILY],
					    "family is not IPv4 or IPv6");
			return -EAFNOSUPPORT;
		}
	}
	p->has_dscp = tb[FL_A_POLICY_DSCP];
	if (p->has_dscp)
		p->dscp = nla_get_u8(tb[FL_A_POLICY_DSCP]);
	err = fl_policy_words(p, info) ?:
	      fl_policy_prefix(p, info, FL_A_POLICY_LADDR,
			       FL_A_POLICY_LADDR_BITS, &p->local,
			       &p->laddr_bits) ?:
	      fl_policy_prefix(p, info, FL_A_POLICY_RADDR,
			       FL_A_POLICY_RADDR_BITS, &p->remote,
			       &p->raddr_bits) ?:
	      fl_policy_ports(info, FL_A_POLICY_LPORT_MIN,
			      FL_A_POLICY_LPORT_MAX, &p->lport_min,
			      &p->lport_max, &local) ?:
	      fl_policy_ports(info, FL_A_POLICY_RPORT_MIN,
			      FL_A_POLICY_RPORT_MAX, &p->rport_min,
			      &p->rport_max, &remote) ?:
	      fl_policy_uids(p, info) ?:
	      fl_policy_cgroup_of(p, info) ?:
	      fl_policy_values(p, info);
	if (!err)
		p->has_ports = local | remote << 1;
	return err;
}

/* Put it where its order belongs. */
static void fl_policy_insert(struct fl_ns *ns, struct fl_policy *new)
{
	struct fl_policy *p;

	list_for_each_entry(p, &ns->policies, list)
		if (p->order > new->order)
			break;
	list_add_tail_rcu(&new->list, &p->list);
	ns->policy_count++;
}

/* Its order, and what is there already. */
static int fl_policy_place(struct fl_ns *ns, struct fl_policy *p,
			   struct genl_info *info, struct fl_policy **old)
{
	struct nlattr *nla = info->attrs[FL_A_POLICY_ORDER];
	u32 last = 0;

	*old = NULL;
	if (nla) {
		p->order = nla_get_u32(nla);
		*old = fl_policy_of(ns, p->order);
		if (*old && !info->attrs[FL_A_POLICY_REPLACE]) {
			NL_SET_ERR_MSG_ATTR(info->extack, nla,
					    "there is a policy of this order");
			return -EEXIST;
		}
	} else {
		if (!list_empty(&ns->policies))
			last = list_last_entry(&ns->policies, struct fl_policy,
					       list)->order;
		if (last > U32_MAX - FL_POLICY_STEP) {
			NL_SET_ERR_MSG(info->extack,
				       "no room behind the last, give an order");
			return -ENOSPC;
		}
		p->order = last + FL_POLICY_STEP;
	}
	if (!*old && ns->policy_count >= FL_POLICY_COUNT_MAX) {
		NL_SET_ERR_MSG(info->extack, "too many policies");
		return -ENOSPC;
	}
	return 0;
}

/* Context: process. */
int fl_policy_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_ns *ns = fl_ns_of(genl_info_net(info));
	struct fl_policy *p, *old;
	int err;

	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	err = fl_policy_parse(p, info) ?: fl_policy_place(ns, p, info, &old);
	if (err) {
		kfree(p->path);
		kfree(p);
		return err;
	}
	if (old) {
		list_replace_rcu(&old->list, &p->list);
		fl_policy_free(old);
	} else {
		fl_policy_insert(ns, p);
	}
	fl_policies_changed(ns, p->order, FL_EVENT_POLICY_ADD);
	return fl_policy_reply(info, p, FL_CMD_POLICY_ADD);
}

static void fl_policy_drop(struct fl_ns *ns, struct fl_policy *p)
{
	u32 order = p->order;

	list_del_rcu(&p->list);
	ns->policy_count--;
	fl_policy_free(p);
	fl_policies_changed(ns, order, FL_EVENT_POLICY_DEL);
}

/* Context: process. */
int fl_policy_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_ns *ns = fl_ns_of(genl_info_net(info));
	struct fl_policy *p, *next;

	if (info->attrs[FL_A_POLICY_ALL]) {
		list_for_each_entry_safe(p, next, &ns->policies, list)
			fl_policy_drop(ns, p);
		return 0;
	}
	p = fl_policy_named(info);
	if (IS_ERR(p))
		return PTR_ERR(p);
	fl_policy_drop(ns, p);
	return 0;
}

/**
 * struct fl_reapply - POLICY_APPLY
 * @net: where
 * @examined: connections
 * @changed: those whose settings changed
 */
struct fl_reapply {
	struct net *net;
	u32 examined;
	u32 changed;
};

/* Context: process. */
static void fl_policy_reapply(struct sock *sk, void *arg)
{
	struct fl_reapply *r = arg;
	struct fl_choice choice;
	struct fl_sock *f;
	u32 changed = 0;

	if (!((1 << READ_ONCE(sk->sk_state)) &
	      (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT | TCPF_FIN_WAIT1 |
	       TCPF_CLOSING | TCPF_LAST_ACK)))
		return;
	r->examined++;
	fl_policy_choose(sk, fl_lookup_accepted(r->net, sk), &choice);
	rcu_read_lock();
	f = choice.order ? fl_sock_get(sk, GFP_ATOMIC) : fl_sock_find(sk);
	if (f) {
		spin_lock_bh(&f->lock);
		if (fl_policy_note(f, &choice))
			changed = fl_attr_commit(sk, f);
		spin_unlock_bh(&f->lock);
	}
	rcu_read_unlock();
	if (!changed)
		return;
	r->changed++;
	fl_sock_tell(sk);
}

/* Context: process. */
int fl_policy_apply_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fl_reapply r = { .net = genl_info_net(info) };
	struct sk_buff *reply;
	void *head;

	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	fl_lookup_each(r.net, fl_policy_reapply, &r);
	head = genlmsg_put_reply(reply, info, fl_family, 0,
				 FL_CMD_POLICY_APPLY);
	if (!head ||
	    nla_put_u32(reply, FL_A_POLICY_EXAMINED, r.examined) ||
	    nla_put_u32(reply, FL_A_POLICY_CHANGED, r.changed)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}
