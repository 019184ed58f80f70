// SPDX-License-Identifier: GPL-2.0
/* Events: who changed what, when, and by which way. They have a netlink socket of
 * their own, so that they cannot mix with answers.
 */
#include "private.h"

#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <string.h>
#include <sys/socket.h>

/* Room for some 30,000 events that the reader has not fetched. */
#define FL_EVENT_BYTES	(8 << 20)

int fairlane_events(struct fairlane *connection)
{
	struct nl_sock *sk = connection->events;
	int group, err, force = FL_EVENT_BYTES;

	if (sk)
		return nl_socket_get_fd(sk);
	group = genl_ctrl_resolve_grp(connection->sk, FL_GENL_NAME,
				      FL_GENL_MCGRP_EVENTS);
	if (group < 0)
		return fl_fail(connection, -ENOENT, "this module has no events");
	sk = nl_socket_alloc();
	if (!sk)
		return fl_fail(connection, -ENOMEM, NULL);
	nl_socket_disable_seq_check(sk);
	err = genl_connect(sk);
	if (!err) {
		nl_socket_set_buffer_size(sk, FL_EVENT_BYTES, 0);
		/* beyond the system's limit, if we may */
		setsockopt(nl_socket_get_fd(sk), SOL_SOCKET, SO_RCVBUFFORCE,
			   &force, sizeof(force));
		err = nl_socket_add_membership(sk, group);
	}
	if (err) {
		nl_socket_free(sk);
		return fl_fail(connection, -EPERM, nl_geterror(err));
	}
	connection->events = sk;
	return nl_socket_get_fd(sk);
}

static void read_event(struct nlattr **a, struct fairlane_event *e)
{
	memset(e, 0, sizeof(*e));
	e->seq = fl_u64(a, FL_A_EVENT_SEQ);
	e->time_ns = fl_u64(a, FL_A_EVENT_TIME_NS);
	e->kind = fl_u8(a, FL_A_EVENT_KIND);
	e->what = fl_u32(a, FL_A_EVENT_WHAT);
	e->old_value = fl_u32(a, FL_A_EVENT_OLD);
	e->new_value = fl_u32(a, FL_A_EVENT_NEW);
	e->old_from = fl_u8(a, FL_A_EVENT_OLD_FROM);
	e->new_from = fl_u8(a, FL_A_EVENT_NEW_FROM);
	e->has_who = a[FL_A_EVENT_UID] || a[FL_A_EVENT_PID];
	e->uid = fl_u32(a, FL_A_EVENT_UID);
	e->pid = fl_u32(a, FL_A_EVENT_PID);
	fl_string(a, FL_A_EVENT_COMM, e->comm, sizeof(e->comm));
	e->error = fl_u32(a, FL_A_EVENT_ERROR);
	e->has_flow = a[FL_A_EVENT_COOKIE];
	e->id.cookie = fl_u64(a, FL_A_EVENT_COOKIE);
	e->id.family = fl_u8(a, FL_A_EVENT_FAMILY);
	fl_address(a, FL_A_EVENT_LADDR, e->id.src);
	fl_address(a, FL_A_EVENT_RADDR, e->id.dst);
	e->id.sport = fl_port(a, FL_A_EVENT_LPORT);
	e->id.dport = fl_port(a, FL_A_EVENT_RPORT);
	e->owner = fl_u32(a, FL_A_EVENT_OWNER);
	fl_string(a, FL_A_EVENT_CC, e->cc, sizeof(e->cc));
	e->policy = fl_u32(a, FL_A_EVENT_POLICY);
	fl_string(a, FL_A_EVENT_NAME, e->name, sizeof(e->name));
	e->prefix_bits = fl_u8(a, FL_A_EVENT_BITS);
	e->has_uid_of = a[FL_A_EVENT_UID_OF];
	e->uid_of = fl_u32(a, FL_A_EVENT_UID_OF);
	e->cgroup = fl_u64(a, FL_A_EVENT_CGROUP_ID);
}

int fairlane_events_read(struct fairlane *connection, fairlane_event_fn fn,
			 void *arg)
{
	static __thread char buf[65536] __aligned(8);
	struct nlattr *attrs[FL_A_EVENT_MAX + 1];
	struct fairlane_event event;
	struct nlmsghdr *h;
	int err = 0, len;

	if (!connection->events)
		return fl_fail(connection, -EINVAL, "not subscribed");
	while (!err) {
		len = recv(nl_socket_get_fd(connection->events), buf,
			   sizeof(buf), MSG_DONTWAIT);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno == EAGAIN ? 0 :
			       fl_fail(connection, -errno, NULL);
		for (h = (struct nlmsghdr *)buf; nlmsg_ok(h, len) && !err;
		     h = nlmsg_next(h, &len)) {
			if (h->nlmsg_type != connection->family ||
			    genlmsg_parse(h, 0, attrs, FL_A_EVENT_MAX, NULL))
				continue;
			read_event(attrs, &event);
			err = fn(&event, arg);
		}
	}
	return err;
}
