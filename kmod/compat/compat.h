/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows that kernels differ. Decided by what is there, never
 * by version numbers: distributions move things both ways. What the
 * preprocessor cannot see, the Kbuild files (-DHAVE_...) or probe.sh find out.
 */
#ifndef FAIRLANE_COMPAT_H
#define FAIRLANE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/netlink.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>
#include <net/ip6_checksum.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include <net/tcp.h>

/* skb_gso_segment() moved here from linux/netdevice.h. */
#ifdef HAVE_NET_GSO_H
#include <net/gso.h>
#endif

/* Older kernels ask for the module by its file name, sch_<id>. */
#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(id) MODULE_ALIAS("net-sch-" id)
#endif

/* A socket knows its cgroup. selftests/build/small builds as if it did not. */
#if defined(CONFIG_SOCK_CGROUP_DATA) && !defined(FL_WITHOUT_SOCK_CGROUP)
#define FL_SOCK_CGROUP
#endif

/* What a sysctl handler gets. */
#ifdef HAVE_CONST_CTL_TABLE
#define FL_CTL_TABLE const struct ctl_table
#else
#define FL_CTL_TABLE struct ctl_table
#endif

/* Tables end with an empty entry, which newer kernels must not see. */
static inline struct ctl_table_header *
fl_register_net_sysctl(struct net *net, const char *path,
		       struct ctl_table *table, size_t entries)
{
#ifdef HAVE_REGISTER_NET_SYSCTL_SZ
	return register_net_sysctl_sz(net, path, table, entries);
#else
	return register_net_sysctl(net, path, table);
#endif
}

/* Arguments of tcp_congestion_ops.cong_control. */
#ifdef HAVE_CONG_CONTROL_ACK
#define FL_CONG_CONTROL_ARGS \
	struct sock *sk, u32 ack, int flag, const struct rate_sample *rs
#else
#define FL_CONG_CONTROL_ARGS \
	struct sock *sk, const struct rate_sample *rs
#endif

/* The declaration of such a callback. */
#define FL_CONG_CONTROL(name)	void name(FL_CONG_CONTROL_ARGS)

/* Attributes of the request that a dump answers. */
#ifdef HAVE_GENL_INFO_DUMP
#define fl_genl_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#else
#define fl_genl_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#endif

/* A multicast group for those with CAP_NET_ADMIN in the namespace. */
#ifdef GENL_MCAST_CAP_NET_ADMIN
#define FL_GENL_MCAST_ADMIN	GENL_MCAST_CAP_NET_ADMIN
#else
#define FL_GENL_MCAST_ADMIN	GENL_UNS_ADMIN_PERM
#endif

/* What a family's pre_doit() and post_doit() get. */
#ifdef HAVE_GENL_SPLIT_OPS
#define FL_GENL_OPS	const struct genl_split_ops
#else
#define FL_GENL_OPS	const struct genl_ops
#endif

/* A refusal with numbers in it. Older kernels can send plain texts only. */
#ifdef NL_SET_ERR_MSG_FMT_MOD
#define FL_SET_ERR(extack, plain, fmt, args...) do {		\
	BUILD_BUG_ON(!sizeof(plain));				\
	NL_SET_ERR_MSG_FMT_MOD((extack), fmt, ##args);		\
} while (0)
#else
#define FL_SET_ERR(extack, plain, fmt, args...) do {		\
	no_printk(fmt, ##args);					\
	NL_SET_ERR_MSG_MOD((extack), plain);			\
} while (0)
#endif

/* Newer kernels complain of the old name. */
#ifdef HAVE_SYSTEM_PERCPU_WQ
#define fl_system_wq	system_percpu_wq
#else
#define fl_system_wq	system_wq
#endif

#ifndef HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, const enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* Kernels before it was added do with TC_ACT_REDIRECT what they always did. */
#ifndef HAVE_TCF_CLASSIFY_QDISC
#define tcf_classify_qdisc(skb, filters, res, compat_mode) \
	tcf_classify(skb, NULL, filters, res, compat_mode)
#endif

/* A packet of a qdisc's own making is one on the wire. Newer kernels keep the number for qdiscs to
 * count by, where a part of a GSO packet has it from the whole.
 */
static inline void fl_qdisc_one_packet(struct sk_buff *skb)
{
#ifdef HAVE_QDISC_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
}

/* TSval of a segment sent now, without the connection's offset. */
static inline u32 fl_tcp_tsval(const struct tcp_sock *tp)
{
#ifdef HAVE_TCP_USEC_TS
	return tcp_clock_ts(tp->tcp_usec_ts);
#else
	return tcp_time_stamp_raw();
#endif
}

/* Tick of a connection's time stamps, ns. */
static inline u32 fl_tcp_tick_ns(const struct tcp_sock *tp)
{
#ifdef HAVE_TCP_USEC_TS
	if (tp->tcp_usec_ts)
		return NSEC_PER_USEC;
#endif
	return NSEC_PER_SEC / TCP_TS_HZ;
}

/* An ACK of what had come until rcv_nxt, sent now. */
static inline void fl_tcp_send_ack(struct sock *sk, u32 rcv_nxt)
{
#ifdef HAVE_SEND_ACK_FLAGS
	__tcp_send_ack(sk, rcv_nxt, 0);
#else
	__tcp_send_ack(sk, rcv_nxt);
#endif
}

/* What look-ups of sockets begin with: the namespace's table was an argument. */
#ifdef HAVE_LOOKUP_HASHINFO
#define FL_LOOKUP_IN(net)	(net), (net)->ipv4.tcp_death_row.hashinfo
#else
#define FL_LOOKUP_IN(net)	(net)
#endif

/* Has the handshake agreed on ECN? */
static inline bool fl_tcp_ecn(const struct tcp_sock *tp)
{
#ifdef HAVE_TCP_ECN_MODE
	return tcp_ecn_mode_any(tp);
#else
	return tp->ecn_flags & TCP_ECN_OK;
#endif
}

/* Set the window, packets. tcp_get_info() reads it without the socket lock, and older kernels'
 * tcp_snd_cwnd_set() is a plain write. 0, of which that one warns, is a window like others.
 */
static inline void fl_snd_cwnd_set(struct tcp_sock *tp, u32 pkts)
{
	WRITE_ONCE(tp->snd_cwnd, pkts);
}

/* The window and the packet size, for readers who do not hold the socket lock. */
static inline u32 fl_snd_cwnd_seen(const struct sock *sk)
{
	return READ_ONCE(tcp_sk(sk)->snd_cwnd);
}

static inline u32 fl_mss_seen(const struct sock *sk)
{
	return READ_ONCE(tcp_sk(sk)->mss_cache);
}

/* When the pending timer of the stack ends, jiffies. */
static inline unsigned long fl_tcp_timeout(const struct sock *sk)
{
#ifdef HAVE_TCP_TIMEOUT_EXPIRES
	return tcp_timeout_expires(sk);
#else
	return inet_csk(sk)->icsk_timeout;
#endif
}

/* Checksum of a segment that is about to be sent. */
static inline void fl_tcp_send_check(struct sock *sk, struct sk_buff *skb)
{
#ifdef HAVE_SEND_CHECK
	inet_csk(sk)->icsk_af_ops->send_check(sk, skb);
#else
#if IS_ENABLED(CONFIG_IPV6)
	if (inet_csk(sk)->icsk_af_ops->net_header_len == sizeof(struct ipv6hdr)) {
		__tcp_v6_send_check(skb, &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr);
		return;
	}
#endif
	__tcp_v4_send_check(skb, inet_sk(sk)->inet_saddr,
			    inet_sk(sk)->inet_daddr);
#endif
}

/* What the tracepoint kfree_skb shows. */
#ifdef HAVE_KFREE_SKB_CONST
#define FL_KFREE_SKB_ARGS \
	void *data, struct sk_buff *skb, void *location, enum skb_drop_reason reason, \
	const struct sock *rx_sk
#elif defined(HAVE_KFREE_SKB_SOCK)
#define FL_KFREE_SKB_ARGS \
	void *data, struct sk_buff *skb, void *location, enum skb_drop_reason reason, \
	struct sock *rx_sk
#else
#define FL_KFREE_SKB_ARGS \
	void *data, struct sk_buff *skb, void *location, enum skb_drop_reason reason
#endif

/* The segment that the tracepoint tcp_probe shows. */
#ifdef HAVE_TCP_PROBE_CONST
#define FL_TCP_PROBE_SKB	const struct sk_buff
#else
#define FL_TCP_PROBE_SKB	struct sk_buff
#endif

/* rtnl_link_ops.newlink as @name, which calls @make(namespace of the peer, dev, tb, data,
 * extack).
 */
#ifdef HAVE_NEWLINK_PARAMS
#define FL_NEWLINK(name, make)						\
static int name(struct net_device *dev, struct rtnl_newlink_params *p,	\
		struct netlink_ext_ack *extack)				\
{									\
	return make(p->src_net, dev, p->tb, p->data, extack);		\
}
#else
#define FL_NEWLINK(name, make)						\
static int name(struct net *net, struct net_device *dev,		\
		struct nlattr **tb, struct nlattr **data,		\
		struct netlink_ext_ack *extack)				\
{									\
	return make(net, dev, tb, data, extack);			\
}
#endif

#endif /* FAIRLANE_COMPAT_H */
