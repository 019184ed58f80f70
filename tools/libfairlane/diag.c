// SPDX-License-Identifier: GPL-2.0
/*
 * All TCP sockets by the kernel's own sock_diag: no privilege, nothing of ours
 * but the congestion controls' get_info() is needed.
 *
 * The bit FL_DIAG_EXT in the request, which ss never sets and the kernel does
 * not look at, makes our congestion controls answer with struct fl_diag.
 */
#include "private.h"
#include "tcpinfo.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* One socket as the kernel describes it. */
static void read_socket(struct nlmsghdr *h, struct fairlane_flow *fl)
{
	const struct inet_diag_msg *m = nlmsg_data(h);
	int len = nlmsg_attrlen(h, sizeof(*m)), rest;
	struct nlattr *a;

	memset(fl, 0, sizeof(*fl));
	fl->id.family = m->idiag_family;
	fl->id.cookie = (uint64_t)m->id.idiag_cookie[1] << 32 |
			m->id.idiag_cookie[0];
	memcpy(fl->id.src, m->id.idiag_src, 16);
	memcpy(fl->id.dst, m->id.idiag_dst, 16);
	fl->id.sport = ntohs(m->id.idiag_sport);
	fl->id.dport = ntohs(m->id.idiag_dport);
	fl->ifindex = m->id.idiag_if;
	fl->state = m->idiag_state;
	fl->uid = m->idiag_uid;
	fl->inode = m->idiag_inode;
	fl->send_queue_bytes = m->idiag_wqueue;
	fl->recv_queue_bytes = m->idiag_rqueue;
	nla_for_each_attr(a, nlmsg_attrdata(h, sizeof(*m)), len, rest) {
		switch (nla_type(a)) {
		case INET_DIAG_INFO:
			fl_read_tcp_info(nla_data(a), nla_len(a), fl);
			break;
		case INET_DIAG_CONG:
			nla_strlcpy(fl->cc, a, sizeof(fl->cc));
			break;
		case INET_DIAG_CGROUP_ID:
			if (nla_len(a) >= (int)sizeof(fl->cgroup))
				memcpy(&fl->cgroup, nla_data(a),
				       sizeof(fl->cgroup));
			break;
		case FL_DIAG_ATTR:
			if (nla_len(a) < (int)sizeof(fl->diag))
				break;
			memcpy(&fl->diag, nla_data(a), sizeof(fl->diag));
			fl->has_diag = fl->diag.version >= FL_DIAG_VERSION;
			break;
		}
	}
}

/* Hand on one datagram; 1: there is more to come, 0: the end, negative: error. */
static int read_datagram(char *buf, int len, fairlane_flow_fn fn, void *arg,
			 int *stopped)
{
	struct nlmsghdr *h = (struct nlmsghdr *)buf;
	struct fairlane_flow flow;
	char text[8];

	for (; nlmsg_ok(h, len); h = nlmsg_next(h, &len)) {
		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type == NLMSG_ERROR)
			return fl_error_of(h, text, sizeof(text));
		if (nlmsg_datalen(h) < (int)sizeof(struct inet_diag_msg))
			return -EBADMSG;
		if (*stopped)
			continue;
		read_socket(h, &flow);
		*stopped = fn(&flow, arg);
	}
	return 1;
}

static int dump_family(struct nl_sock *sk, uint8_t family, uint32_t states,
		       fairlane_flow_fn fn, void *arg)
{
	struct inet_diag_req_v2 req = {
		.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1) |
			     1 << (INET_DIAG_CONG - 1) | FL_DIAG_EXT,
		.idiag_states = states,
	};
	static __thread char buf[65536] __aligned(8);
	int err, stopped = 0;

	err = nl_send_simple(sk, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req,
			     sizeof(req));
	if (err < 0)
		return -EIO;
	do {
		ssize_t len = recv(nl_socket_get_fd(sk), buf, sizeof(buf), 0);

		if (len < 0 && errno == EINTR)
			err = 1;
		else if (len < 0)
			err = -errno;
		else
			err = read_datagram(buf, len, fn, arg, &stopped);
	} while (err == 1);
	return err ? err : stopped;
}

int fairlane_diag_dump(uint32_t states, fairlane_flow_fn fn, void *arg)
{
	struct nl_sock *sk = nl_socket_alloc();
	int err;

	if (!sk)
		return -ENOMEM;
	err = nl_connect(sk, NETLINK_SOCK_DIAG) ? -EPROTONOSUPPORT : 0;
	if (!err)
		err = dump_family(sk, AF_INET, states, fn, arg);
	if (!err) {
		err = dump_family(sk, AF_INET6, states, fn, arg);
		if (err == -ENOENT)	/* no IPv6 here */
			err = 0;
	}
	nl_socket_free(sk);
	return err;
}
