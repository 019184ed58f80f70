// SPDX-License-Identifier: GPL-2.0
/*
 * Flows over netlink: show one or all, change one.
 *
 * A dump goes through the namespace's list in the order of cookies, and the
 * last cookie shown is all it remembers: a flow that lives through the dump is
 * shown once, whatever comes and goes beside it.
 */
#include <net/genetlink.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fl_control.h"

/* Room for all attributes of a flow: fl_append() does not ask for it. That it is
 * enough is seen to in fl_flow_put_attrs().
 */
#define FL_FLOW_BYTES	768

/* Flows that a dump looks at before others may have the processor. */
#define FL_DUMP_LOOK	256

const struct nla_policy fl_flow_nla[FL_A_FLOW_MAX + 1] = {
	[FL_A_FLOW_COOKIE] = NLA_POLICY_MIN(NLA_U64, 1),
	[FL_A_FLOW_FAMILY] = { .type = NLA_U8 },
	[FL_A_FLOW_LADDR] = { .type = NLA_BINARY, .len = 16 },
	[FL_A_FLOW_RADDR] = { .type = NLA_BINARY, .len = 16 },
	[FL_A_FLOW_LPORT] = { .type = NLA_U16 },
	[FL_A_FLOW_RPORT] = { .type = NLA_U16 },
	[FL_A_FLOW_IFINDEX] = { .type = NLA_U32 },
	[FL_A_FLOW_CC] = { .type = NLA_NUL_STRING, .len = 15 },
	[FL_A_FLOW_PRIORITY] = { .type = NLA_U32 },
	[FL_A_FLOW_WEIGHT_MILLI] = { .type = NLA_U32 },
	[FL_A_FLOW_BASE_RTT_NS] = { .type = NLA_U32 },
	[FL_A_FLOW_LINE_RATE_MBPS] = { .type = NLA_U32 },
	[FL_A_FLOW_DEADLINE_US] = { .type = NLA_U32 },
	[FL_A_FLOW_UNSET] = NLA_POLICY_MASK(NLA_U32, BIT(__FL_SET_COUNT) - 1),
};

/* FL_A_FLOW_* by enum fl_setting_id. */
static const int fl_flow_types[__FL_SET_COUNT] = {
	[FL_SET_PRIORITY] = FL_A_FLOW_PRIORITY,
	[FL_SET_WEIGHT] = FL_A_FLOW_WEIGHT_MILLI,
	[FL_SET_BASE_RTT] = FL_A_FLOW_BASE_RTT_NS,
	[FL_SET_LINE_RATE] = FL_A_FLOW_LINE_RATE_MBPS,
	[FL_SET_DEADLINE] = FL_A_FLOW_DEADLINE_US,
};

/**
 * struct fl_field - a member of struct fl_info as an attribute
 * @type: FL_A_FLOW_*
 * @offset: of the member
 * @size: of the member: 1, 4 or 8 bytes
 */
struct fl_field {
	u8 type;
	u8 offset;
	u8 size;
};

#define FL_FIELD(type_, member_, size_)					\
	{ FL_A_FLOW_##type_, offsetof(struct fl_info, member_), size_ }

static const struct fl_field fl_always[] = {
	FL_FIELD(WEIGHT_MILLI, weight_milli, 4),
	FL_FIELD(BASE_RTT_NS, base_rtt_ns, 4),
	FL_FIELD(LINE_RATE_MBPS, line_rate_mbps, 4),
	FL_FIELD(PRIORITY_FROM, priority_from, 1),
	FL_FIELD(WEIGHT_FROM, weight_from, 1),
	FL_FIELD(BASE_RTT_FROM, base_rtt_from, 1),
	FL_FIELD(LINE_RATE_FROM, line_rate_from, 1),
	FL_FIELD(STATE, state, 1),
	FL_FIELD(FLAGS, flags, 4),
};

/* Left out while 0: a flow has few of them. */
static const struct fl_field fl_optional[] = {
	FL_FIELD(DEADLINE_US, deadline_us, 4),
	FL_FIELD(DEADLINE_FROM, deadline_from, 1),
	FL_FIELD(POLICY, policy, 4),
	FL_FIELD(FLOWS_MILLI, flows_milli, 4),
	FL_FIELD(DELAY_NS, delay_ns, 4),
	FL_FIELD(TARGET_NS, target_ns, 4),
	FL_FIELD(LIMIT_NS, limit_ns, 4),
	FL_FIELD(QUEUE_NS, queue_ns, 4),
	FL_FIELD(TARGET_QUEUE_NS, target_queue_ns, 4),
	FL_FIELD(WINDOW_MILLI, window_milli, 8),
	FL_FIELD(RATE_BPS, rate_bps, 8),
	FL_FIELD(STOPS, stops, 8),
	FL_FIELD(PROBES, probes, 8),
	FL_FIELD(PROBE_ECHOES, probe_echoes, 8),
	FL_FIELD(PROBE_LOSSES, probe_losses, 8),
	FL_FIELD(WATCHDOGS, watchdogs, 8),
	FL_FIELD(TELEMETRY_RX, telemetry_rx, 8),
	FL_FIELD(TELEMETRY_BAD, telemetry_bad, 8),
	FL_FIELD(UPDATES, updates, 8),
	FL_FIELD(HOPS, hops, 1),
	FL_FIELD(CREDITS, credits, 8),
	FL_FIELD(CREDITS_WASTED, credits_wasted, 8),
	FL_FIELD(PAID_SEGS, paid_segs, 8),
	FL_FIELD(UNPAID_SEGS, unpaid_segs, 8),
	FL_FIELD(REQUESTS, requests, 4),
	FL_FIELD(CREDIT_SEGS, credit_segs, 4),
	FL_FIELD(HELD_NS, held_ns, 4),
	FL_FIELD(OPENS, opens, 4),
};

/* Append an attribute; the caller has seen to the room. A dump is nothing but
 * this, so it does not go through nla_put()'s five calls.
 */
static void fl_append(struct sk_buff *skb, int type, const void *data, int len)
{
	struct nlattr *nla = __skb_put(skb, nla_total_size(len));

	nla->nla_type = type;
	nla->nla_len = nla_attr_size(len);
	/* the padding first: the last word may be half data */
	if (len & (NLA_ALIGNTO - 1))
		*(u32 *)((void *)nla + nla_total_size(len) - NLA_ALIGNTO) = 0;
	__builtin_memcpy(nla_data(nla), data, len);
}

static void fl_append_u8(struct sk_buff *skb, int type, u8 val)
{
	fl_append(skb, type, &val, sizeof(val));
}

static void fl_append_u16(struct sk_buff *skb, int type, __be16 val)
{
	fl_append(skb, type, &val, sizeof(val));
}

static void fl_append_u32(struct sk_buff *skb, int type, u32 val)
{
	fl_append(skb, type, &val, sizeof(val));
}

static void fl_append_u64(struct sk_buff *skb, int type, u64 val)
{
	nla_align_64bit(skb, FL_A_PAD);
	fl_append(skb, type, &val, sizeof(val));
}

static void fl_append_fields(struct sk_buff *skb, const struct fl_info *info,
			     const struct fl_field *fields, size_t count,
			     bool optional)
{
	const struct fl_field *f;
	const void *member;
	u64 val;

	for (f = fields; f < fields + count; f++) {
		member = (const void *)info + f->offset;
		val = f->size == 8 ? *(const u64 *)member :
		      f->size == 4 ? *(const u32 *)member :
				     *(const u8 *)member;
		if (optional && !val)
			continue;
		if (f->size == 8)
			fl_append_u64(skb, f->type, val);
		else if (f->size == 4)
			fl_append_u32(skb, f->type, val);
		else
			fl_append_u8(skb, f->type, val);
	}
}

/* The control to come back to. It is changed under the same lock. */
static void fl_append_had(struct sk_buff *skb, struct fl_sock *f)
{
	spin_lock_bh(&f->lock);
	fl_append(skb, FL_A_FLOW_HAD_CC, f->had, sizeof(f->had));
	spin_unlock_bh(&f->lock);
}

/* The attributes of a flow. Context: RCU, socket held. */
static int fl_flow_put_attrs(struct sk_buff *skb, struct user_namespace *user,
			     struct sock *sk, struct fl_sock *f)
{
	struct fl_info info;
	struct fl_tuple t;
	int ifindex, len;

	/* cookie, two addresses, names of two controls; eight of at most 4 bytes */
	BUILD_BUG_ON(nla_total_size_64bit(sizeof(u64)) +
		     2 * nla_total_size(sizeof(struct in6_addr)) +
		     2 * nla_total_size(sizeof(info.cc)) +
		     8 * nla_total_size(sizeof(u32)) +
		     (ARRAY_SIZE(fl_always) + ARRAY_SIZE(fl_optional)) *
		     nla_total_size_64bit(sizeof(u64)) > FL_FLOW_BYTES);
	if (skb_tailroom(skb) < FL_FLOW_BYTES)
		return -EMSGSIZE;
	fl_attr_info(sk, f, &info);
	fl_tuple_of(sk, &t);
	len = fl_addr_len(t.family);
	fl_append_u64(skb, FL_A_FLOW_COOKIE, atomic64_read(&sk->sk_cookie));
	fl_append_u8(skb, FL_A_FLOW_FAMILY, t.family);
	fl_append(skb, FL_A_FLOW_LADDR, &t.local, len);
	fl_append(skb, FL_A_FLOW_RADDR, &t.remote, len);
	fl_append_u16(skb, FL_A_FLOW_LPORT, t.lport);
	fl_append_u16(skb, FL_A_FLOW_RPORT, t.rport);
	ifindex = READ_ONCE(sk->sk_bound_dev_if);
	if (ifindex)
		fl_append_u32(skb, FL_A_FLOW_IFINDEX, ifindex);
	fl_append_u8(skb, FL_A_FLOW_TCP_STATE, READ_ONCE(sk->sk_state));
	fl_append_u32(skb, FL_A_FLOW_UID, from_kuid_munged(user, sk->sk_uid));
	fl_append(skb, FL_A_FLOW_CC, info.cc, strlen(info.cc) + 1);
	if (info.flags & FL_INFO_OFF)
		fl_append_had(skb, f);
	fl_append_u32(skb, FL_A_FLOW_PRIORITY, info.priority);
	fl_append_fields(skb, &info, fl_always, ARRAY_SIZE(fl_always), false);
	fl_append_fields(skb, &info, fl_optional, ARRAY_SIZE(fl_optional),
			 true);
	return 0;
}

/* User namespace of who asks. */
static struct user_namespace *fl_reader_ns(const struct sk_buff *skb)
{
	return sk_user_ns(NETLINK_CB(skb).sk);
}

/* An address of 4 or 16 bytes; IPv4 may be given v4-mapped. */
static int fl_addr_parse(struct in6_addr *to, const struct nlattr *nla,
			 u8 *family, struct netlink_ext_ack *extack)
{
	u8 got = nla_len(nla) == 4 ? AF_INET : AF_INET6;

	if (nla_len(nla) != 4 && nla_len(nla) != 16) {
		NL_SET_ERR_MSG_ATTR(extack, nla, "address is not 4 or 16 bytes");
		return -EINVAL;
	}
	memcpy(to, nla_data(nla), nla_len(nla));
	if (got == AF_INET6 && ipv6_addr_v4mapped(to)) {
		to->s6_addr32[0] = to->s6_addr32[3];
		got = AF_INET;
	}
	if (*family && *family != got) {
		NL_SET_ERR_MSG_ATTR(extack, nla, "addresses are of two families");
		return -EINVAL;
	}
	*family = got;
	return 0;
}

/* The socket with the addresses and ports of a request. Return: held, or an error. */
static struct sock *fl_flow_by_tuple(struct net *net, struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	struct fl_tuple t = { };
	struct sock *sk;
	int err = 0;

	if (!tb[FL_A_FLOW_LPORT] ||
	    !tb[FL_A_FLOW_RADDR] != !tb[FL_A_FLOW_RPORT] ||
	    (tb[FL_A_FLOW_RPORT] && !tb[FL_A_FLOW_LADDR]) ||
	    (!tb[FL_A_FLOW_LADDR] && !tb[FL_A_FLOW_FAMILY])) {
		NL_SET_ERR_MSG(info->extack,
			       "name the socket: cookie, or addresses and ports, or a listener's port and its address or family");
		return ERR_PTR(-EINVAL);
	}
	if (tb[FL_A_FLOW_LADDR])
		err = fl_addr_parse(&t.local, tb[FL_A_FLOW_LADDR], &t.family,
				    info->extack);
	if (!err && tb[FL_A_FLOW_RADDR])
		err = fl_addr_parse(&t.remote, tb[FL_A_FLOW_RADDR], &t.family,
				    info->extack);
	if (err)
		return ERR_PTR(err);
	if (!t.family)
		t.family = nla_get_u8(tb[FL_A_FLOW_FAMILY]);
	if (t.family != AF_INET && t.family != AF_INET6) {
		NL_SET_ERR_MSG(info->extack, "family is not IPv4 or IPv6");
		return ERR_PTR(-EAFNOSUPPORT);
	}
	t.lport = nla_get_be16(tb[FL_A_FLOW_LPORT]);
	if (tb[FL_A_FLOW_RPORT])
		t.rport = nla_get_be16(tb[FL_A_FLOW_RPORT]);
	sk = fl_lookup_by_tuple(net, &t, tb[FL_A_FLOW_IFINDEX] ?
			      nla_get_u32(tb[FL_A_FLOW_IFINDEX]) : 0);
	if (sk)
		return sk;
	NL_SET_ERR_MSG(info->extack,
		       "no such connection or listener; bound to a device? give its index");
	return ERR_PTR(-ENOENT);
}

/* The socket with this cookie, not 0. Those that have settings are in an index. Others are found
 * by addresses, if the request has them, too, or looked for in the kernel's tables, which takes
 * as long as they are large: for the namespace's administrator. Context: process. Return: held,
 * or NULL.
 */
static struct sock *fl_flow_by_cookie(struct sk_buff *skb, struct net *net,
				      struct genl_info *info, u64 cookie)
{
	struct sock *sk = NULL;
	struct fl_sock *f;

	rcu_read_lock();
	f = xa_load(&fl_ns_of(net)->flows, cookie);
	if (f)
		sk = fl_sock_hold(f);
	rcu_read_unlock();
	if (!sk && info->attrs[FL_A_FLOW_LPORT]) {
		sk = fl_flow_by_tuple(net, info);
		if (IS_ERR(sk)) {
			sk = NULL;
		} else if (atomic64_read(&sk->sk_cookie) != cookie) {
			sock_gen_put(sk);
			sk = NULL;
		}
	}
	if (!sk && netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN))
		sk = fl_lookup_by_cookie(net, cookie);
	return sk;
}

/* The socket that a request names. Return: held, or an error. */
static struct sock *fl_flow_named(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	struct nlattr *cookie = info->attrs[FL_A_FLOW_COOKIE];
	struct sock *sk;

	if (!cookie)
		return fl_flow_by_tuple(net, info);
	sk = fl_flow_by_cookie(skb, net, info, nla_get_u64(cookie));
	if (sk)
		return sk;
	NL_SET_ERR_MSG_ATTR(info->extack, cookie,
			    "no TCP socket with this cookie here; of one without settings and privilege give the addresses");
	return ERR_PTR(-ENOENT);
}

/* Context: process. */
int fl_flow_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sock *sk = fl_flow_named(skb, info);
	struct sk_buff *reply;
	void *head;
	int err;

	if (IS_ERR(sk))
		return PTR_ERR(sk);
	err = -ENOMEM;
	reply = genlmsg_new(2 * FL_FLOW_BYTES, GFP_KERNEL);
	if (!reply)
		goto put;
	head = genlmsg_put_reply(reply, info, fl_family, 0,
				 FL_CMD_FLOW_GET);
	err = -EMSGSIZE;
	if (head) {
		rcu_read_lock();
		err = fl_flow_put_attrs(reply, fl_reader_ns(skb), sk,
					fl_sock_find(sk));
		rcu_read_unlock();
	}
	if (err) {
		nlmsg_free(reply);
		goto put;
	}
	genlmsg_end(reply, head);
	err = genlmsg_reply(reply, info);
put:
	sock_put(sk);
	return err;
}

/* Does a socket pass the filter of a dump? */
static bool fl_flow_wanted(const struct sock *sk, struct nlattr *const *tb)
{
	const struct inet_sock *inet = inet_sk(sk);

	if (!tb)
		return true;
	if (tb[FL_A_FLOW_LPORT] &&
	    nla_get_be16(tb[FL_A_FLOW_LPORT]) != htons(inet->inet_num))
		return false;
	if (tb[FL_A_FLOW_RPORT] &&
	    nla_get_be16(tb[FL_A_FLOW_RPORT]) != inet->inet_dport)
		return false;
	if (tb[FL_A_FLOW_FAMILY]) {
		struct fl_tuple t;

		fl_tuple_of(sk, &t);
		if (t.family != nla_get_u8(tb[FL_A_FLOW_FAMILY]))
			return false;
	}
	return !tb[FL_A_FLOW_CC] ||
	       !nla_strcmp(tb[FL_A_FLOW_CC], fl_cc_name(sk));
}

/* One flow into a dump. Context: RCU. Return: -EMSGSIZE if it does not fit. */
static int fl_flow_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			    struct fl_sock *f)
{
	struct sock *sk = fl_sock_hold(f);
	void *head;
	int err = 0;

	if (!sk)
		return 0;
	if (!fl_flow_wanted(sk, fl_genl_dump_attrs(cb)))
		goto put;
	err = -EMSGSIZE;
	head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			   cb->nlh->nlmsg_seq, fl_family, NLM_F_MULTI,
			   FL_CMD_FLOW_GET);
	if (!head)
		goto put;
	err = fl_flow_put_attrs(skb, fl_reader_ns(cb->skb), sk, f);
	if (err)
		genlmsg_cancel(skb, head);
	else
		genlmsg_end(skb, head);
put:
	sock_put(sk);
	return err;
}

/**
 * struct fl_flow_dump - where a dump is, in netlink_callback.ctx
 * @cookie: last cookie shown
 */
struct fl_flow_dump {
	unsigned long cookie;
};

/* The next flows into a dump, some of them: anybody may ask for those of a filter that
 * none passes. Context: process. Return: 0 and all are done, 1 and there may be more,
 * -EMSGSIZE and the message is full.
 */
static int fl_flow_dump_some(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct fl_ns *ns = fl_ns_of(sock_net(cb->skb->sk));
	struct fl_flow_dump *at = (void *)cb->ctx;
	unsigned long cookie = at->cookie;
	struct fl_sock *f;
	int i, err = 1;

	rcu_read_lock();
	for (i = 0; i < FL_DUMP_LOOK && err == 1; i++) {
		f = xa_find_after(&ns->flows, &cookie, ULONG_MAX, XA_PRESENT);
		err = f ? fl_flow_dump_one(skb, cb, f) ?: 1 : 0;
		if (err == 1)
			at->cookie = cookie;
	}
	rcu_read_unlock();
	return err;
}

/* Context: process. */
int fl_flow_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	int err;

	BUILD_BUG_ON(sizeof(struct fl_flow_dump) > sizeof(cb->ctx));
	do {
		err = fl_flow_dump_some(skb, cb);
		cond_resched();
	} while (err > 0);
	/* a full message is sent and the dump goes on after it */
	return skb->len ?: err;
}

/**
 * fl_values_parse() - settings from attributes
 * @v: is filled
 * @tb: the attributes, u32 each
 * @types: their types by enum fl_setting_id
 * @from: where they come from
 *
 * Return: how many.
 */
int fl_values_parse(struct fl_values *v, struct nlattr *const *tb,
		    const int *types, u8 from)
{
	int id, count = 0;

	for (id = 0; id < __FL_SET_COUNT; id++) {
		if (!tb[types[id]])
			continue;
		v->present |= BIT(id);
		v->val[id] = nla_get_u32(tb[types[id]]);
		v->from[id] = from;
		count++;
	}
	return count;
}

/* Is it his socket? Who opened the netlink socket counts too: it may have been
 * handed to a program with more rights.
 */
static bool fl_flow_owned(struct sk_buff *skb, const struct sock *sk)
{
	const struct socket *sock = NETLINK_CB(skb).sk->sk_socket;

	return uid_eq(current_euid(), sk->sk_uid) && sock && sock->file &&
	       uid_eq(sock->file->f_cred->euid, sk->sk_uid);
}

/* Context: process. */
int fl_flow_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	struct fl_request rq = { .extack = info->extack };
	struct fl_sock *f;
	struct sock *sk;
	int err;

	if (info->attrs[FL_A_FLOW_UNSET])
		rq.unset = nla_get_u32(info->attrs[FL_A_FLOW_UNSET]);
	if (!fl_values_parse(&rq.v, info->attrs, fl_flow_types,
			     FL_FROM_NETLINK) && !rq.unset) {
		NL_SET_ERR_MSG(info->extack, "nothing to set");
		return -EINVAL;
	}
	if (rq.v.present & rq.unset) {
		NL_SET_ERR_MSG(info->extack,
			       "a setting is set and taken back at once");
		return -EINVAL;
	}
	sk = fl_flow_named(skb, info);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	rq.privileged = netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN);
	err = -EPERM;
	if (!rq.privileged && !fl_flow_owned(skb, sk)) {
		NL_SET_ERR_MSG(info->extack,
			       "somebody else's socket: needs CAP_NET_ADMIN");
		fl_count(fl_ns_of(net), FL_A_STAT_REFUSED_OWNER);
		goto put;
	}
	rcu_read_lock();
	f = fl_sock_get(sk, GFP_ATOMIC);
	if (f)
		err = fl_attr_set(sk, f, &rq);
	else
		err = fl_sock_gone(sk) ? -ENOENT : -ENOMEM;
	rcu_read_unlock();
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "the connection has ended");
	if (rq.changed)
		fl_sock_tell(sk);
put:
	sock_put(sk);
	return err;
}
