/* SPDX-License-Identifier: GPL-2.0 */
/* A policy: which sockets, and what they get. */
#ifndef FL_POLICY_H
#define FL_POLICY_H

#include "fl_control.h"

/**
 * struct fl_policy - a rule; see FL_A_POLICY_*
 * @list: in fl_ns.policies, by @order; RCU
 * @order: names it
 * @when: FL_WHEN_*
 * @family: AF_INET, AF_INET6; 0 = any
 * @laddr_bits: length of the local prefix, 0 = any
 * @raddr_bits: length of the remote prefix
 * @has_ports: bit 0: local ports, bit 1: remote ports
 * @has_uid: @uid_min, @uid_max hold
 * @has_dscp: @dscp holds
 * @dscp: of what the socket sends
 * @local: local prefix
 * @remote: remote prefix
 * @lport_min: first local port
 * @lport_max: last local port
 * @rport_min: first remote port
 * @rport_max: last remote port
 * @uid_min: first uid, in the user namespace of the network namespace
 * @uid_max: last uid
 * @cgroup: id, 0 = any
 * @cc: congestion control; empty = any
 * @values: what matching sockets get
 * @hits: sockets that it decided for
 * @comment: for people
 * @path: of the cgroup, as it was named, or NULL
 * @rcu: readers are sockets that begin
 */
struct fl_policy {
	struct list_head list;
	u32 order;
	u8 when;
	u8 family;
	u8 laddr_bits;
	u8 raddr_bits;
	u8 has_ports;
	bool has_uid;
	bool has_dscp;
	u8 dscp;
	struct in6_addr local;
	struct in6_addr remote;
	u16 lport_min;
	u16 lport_max;
	u16 rport_min;
	u16 rport_max;
	u32 uid_min;
	u32 uid_max;
	u64 cgroup;
	char cc[TCP_CA_NAME_MAX];
	struct fl_values values;
	atomic64_t hits;
	char comment[FL_COMMENT_LEN];
	char *path;
	struct rcu_head rcu;
};

void fl_policy_free(struct fl_policy *p);

#endif /* FL_POLICY_H */
