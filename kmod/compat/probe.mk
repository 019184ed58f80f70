# SPDX-License-Identifier: GPL-2.0
#
# What the kernel to build for has, found by looking at its headers: version
# numbers lie, since stable and vendor series move things both ways. Included
# by the Kbuild files; each finding is a -DHAVE_..., used in compat.h only.

fl-has = $(if $(shell grep -s -E -l $(1) $(srctree)/include/$(2)),-D$(3)=1)

# the segmentation of GSO packets moved to a header of its own
ccflags-y += $(call fl-has,skb_gso_segment,net/gso.h,HAVE_NET_GSO_H)
# tcp_congestion_ops.cong_control(sk, ack, flag, rs), was (sk, rs)
ccflags-y += $(call fl-has,'cong_control..struct sock .sk. u32 ack',net/tcp.h,HAVE_CONG_CONTROL_ACK)
# sysctl handlers get a const table
ccflags-y += $(call fl-has,'proc_handler.const struct ctl_table',linux/sysctl.h,HAVE_CONST_CTL_TABLE)
# the size of a sysctl table is an argument, no end mark
ccflags-y += $(call fl-has,register_net_sysctl_sz,net/net_namespace.h,HAVE_REGISTER_NET_SYSCTL_SZ)
# hrtimer_init() and the function pointer in one call
ccflags-y += $(call fl-has,' hrtimer_setup.',linux/hrtimer.h,HAVE_HRTIMER_SETUP)
# the classifier as qdiscs call it, which refuses what they cannot do; once tcf_classify()
ccflags-y += $(call fl-has,tcf_classify_qdisc,net/pkt_cls.h,HAVE_TCF_CLASSIFY_QDISC)
# TCP timestamps in us
ccflags-y += $(call fl-has,tcp_usec_ts,linux/tcp.h,HAVE_TCP_USEC_TS)
# the request of a generic netlink dump as a struct genl_info
ccflags-y += $(call fl-has,'genl_info_dump.struct',net/genetlink.h,HAVE_GENL_INFO_DUMP)
# a family's pre_doit(const struct genl_split_ops *, ...), was struct genl_ops
ccflags-y += $(call fl-has,'pre_doit..const struct genl_split_ops',net/genetlink.h,HAVE_GENL_SPLIT_OPS)
# __tcp_send_ack(sk, rcv_nxt, flags), was (sk, rcv_nxt)
ccflags-y += $(call fl-has,'void __tcp_send_ack.*u16 flags',net/tcp.h,HAVE_SEND_ACK_FLAGS)
# look-ups of sockets take the table beside the namespace
ccflags-y += $(call fl-has,'__inet_lookup_established.net. hashinfo',net/inet_hashtables.h,HAVE_LOOKUP_HASHINFO)
# ECN has modes (AccECN), was the flag TCP_ECN_OK
ccflags-y += $(call fl-has,tcp_ecn_mode_any,net/tcp.h,HAVE_TCP_ECN_MODE)
# the end of the pending timer is a function, was icsk_timeout
ccflags-y += $(call fl-has,tcp_timeout_expires,net/inet_connection_sock.h,HAVE_TCP_TIMEOUT_EXPIRES)
# each family of addresses has its function for checksums
ccflags-y += $(call fl-has,'send_check..struct sock',net/inet_connection_sock.h,HAVE_SEND_CHECK)
# tcp_probe shows a const segment
ccflags-y += $(call fl-has,'TP_PROTO.struct sock .sk. const struct sk_buff',trace/events/tcp.h,HAVE_TCP_PROBE_CONST)
# kfree_skb shows the socket that was to have the packet, a const one in newer kernels
ccflags-y += $(call fl-has,'enum skb_drop_reason reason. struct sock .rx_sk',trace/events/skb.h,HAVE_KFREE_SKB_SOCK)
ccflags-y += $(call fl-has,'enum skb_drop_reason reason. const struct sock .rx_sk',trace/events/skb.h,HAVE_KFREE_SKB_CONST)
# rtnl_link_ops.newlink(dev, params, extack), was (net, dev, tb, data, extack)
ccflags-y += $(call fl-has,'struct rtnl_newlink_params .',net/rtnetlink.h,HAVE_NEWLINK_PARAMS)
# the queue of work that runs where it was queued, was system_wq
ccflags-y += $(call fl-has,'extern struct workqueue_struct .system_percpu_wq',linux/workqueue.h,HAVE_SYSTEM_PERCPU_WQ)
# qdiscs count packets on the wire by a number that each packet has
ccflags-y += $(call fl-has,pkt_segs,net/sch_generic.h,HAVE_QDISC_PKT_SEGS)
