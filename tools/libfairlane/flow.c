// SPDX-License-Identifier: GPL-2.0
/* Flows by netlink: find, change, dump. */
#include "private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Changes that are sent with one system call. */
#define FL_BATCH	128
#define FL_DUMP_TRIES	8

/* Netlink's name of an attribute. */
static int fl_attr_of(enum fairlane_attr attr)
{
	static const int nr[FAIRLANE_ATTRS] = {
		[FAIRLANE_PRIORITY] = FL_A_FLOW_PRIORITY,
		[FAIRLANE_WEIGHT] = FL_A_FLOW_WEIGHT_MILLI,
		[FAIRLANE_BASE_RTT] = FL_A_FLOW_BASE_RTT_NS,
		[FAIRLANE_LINE_RATE] = FL_A_FLOW_LINE_RATE_MBPS,
		[FAIRLANE_DEADLINE] = FL_A_FLOW_DEADLINE_US,
	};

	return (unsigned int)attr < FAIRLANE_ATTRS ? nr[attr] : -EINVAL;
}

/* Which socket. Ports go in network order. */
int fl_put_id(struct nl_msg *msg, const struct fairlane_id *id)
{
	const uint8_t sport[2] = { id->sport >> 8, id->sport };
	const uint8_t dport[2] = { id->dport >> 8, id->dport };
	int len = id->family == AF_INET6 ? 16 : 4, err = 0;

	if (!id->cookie && !id->family)
		return -EINVAL;
	if (id->cookie)
		err |= nla_put_u64(msg, FL_A_FLOW_COOKIE, id->cookie);
	if (id->family) {
		err |= nla_put_u8(msg, FL_A_FLOW_FAMILY, id->family);
		err |= nla_put(msg, FL_A_FLOW_LADDR, len, id->src);
		err |= nla_put(msg, FL_A_FLOW_LPORT, 2, sport);
		err |= nla_put(msg, FL_A_FLOW_RADDR, len, id->dst);
		err |= nla_put(msg, FL_A_FLOW_RPORT, 2, dport);
	}
	return err ? -ENOMEM : 0;
}

/* The module's view of a socket. */
static void read_info(struct nlattr **a, struct fl_info *in)
{
	in->size_bytes = sizeof(*in);
	in->flags = fl_u32(a, FL_A_FLOW_FLAGS);
	in->cookie = fl_u64(a, FL_A_FLOW_COOKIE);
	fl_string(a, FL_A_FLOW_CC, in->cc, sizeof(in->cc));
	in->state = fl_u8(a, FL_A_FLOW_STATE);
	in->priority = fl_u32(a, FL_A_FLOW_PRIORITY);
	in->priority_from = fl_u8(a, FL_A_FLOW_PRIORITY_FROM);
	in->weight_from = fl_u8(a, FL_A_FLOW_WEIGHT_FROM);
	in->base_rtt_from = fl_u8(a, FL_A_FLOW_BASE_RTT_FROM);
	in->line_rate_from = fl_u8(a, FL_A_FLOW_LINE_RATE_FROM);
	in->deadline_from = fl_u8(a, FL_A_FLOW_DEADLINE_FROM);
	in->weight_milli = fl_u32(a, FL_A_FLOW_WEIGHT_MILLI);
	in->base_rtt_ns = fl_u32(a, FL_A_FLOW_BASE_RTT_NS);
	in->line_rate_mbps = fl_u32(a, FL_A_FLOW_LINE_RATE_MBPS);
	in->deadline_us = fl_u32(a, FL_A_FLOW_DEADLINE_US);
	in->flows_milli = fl_u32(a, FL_A_FLOW_FLOWS_MILLI);
	in->delay_ns = fl_u32(a, FL_A_FLOW_DELAY_NS);
	in->target_ns = fl_u32(a, FL_A_FLOW_TARGET_NS);
	in->limit_ns = fl_u32(a, FL_A_FLOW_LIMIT_NS);
	in->queue_ns = fl_u32(a, FL_A_FLOW_QUEUE_NS);
	in->target_queue_ns = fl_u32(a, FL_A_FLOW_TARGET_QUEUE_NS);
	in->window_milli = fl_u64(a, FL_A_FLOW_WINDOW_MILLI);
	in->rate_bps = fl_u64(a, FL_A_FLOW_RATE_BPS);
	in->stops = fl_u64(a, FL_A_FLOW_STOPS);
	in->probes = fl_u64(a, FL_A_FLOW_PROBES);
	in->probe_echoes = fl_u64(a, FL_A_FLOW_PROBE_ECHOES);
	in->probe_losses = fl_u64(a, FL_A_FLOW_PROBE_LOSSES);
	in->watchdogs = fl_u64(a, FL_A_FLOW_WATCHDOGS);
	in->opens = fl_u32(a, FL_A_FLOW_OPENS);
	in->telemetry_rx = fl_u64(a, FL_A_FLOW_TELEMETRY_RX);
	in->telemetry_bad = fl_u64(a, FL_A_FLOW_TELEMETRY_BAD);
	in->updates = fl_u64(a, FL_A_FLOW_UPDATES);
	in->hops = fl_u8(a, FL_A_FLOW_HOPS);
	in->credits = fl_u64(a, FL_A_FLOW_CREDITS);
	in->credits_wasted = fl_u64(a, FL_A_FLOW_CREDITS_WASTED);
	in->paid_segs = fl_u64(a, FL_A_FLOW_PAID_SEGS);
	in->unpaid_segs = fl_u64(a, FL_A_FLOW_UNPAID_SEGS);
	in->requests = fl_u32(a, FL_A_FLOW_REQUESTS);
	in->credit_segs = fl_u32(a, FL_A_FLOW_CREDIT_SEGS);
	in->held_ns = fl_u32(a, FL_A_FLOW_HELD_NS);
	in->policy = fl_u32(a, FL_A_FLOW_POLICY);
}

static void read_flow(struct nlattr **a, struct fairlane_flow *fl)
{
	memset(fl, 0, sizeof(*fl));
	fl->id.cookie = fl_u64(a, FL_A_FLOW_COOKIE);
	fl->id.family = fl_u8(a, FL_A_FLOW_FAMILY);
	fl_address(a, FL_A_FLOW_LADDR, fl->id.src);
	fl_address(a, FL_A_FLOW_RADDR, fl->id.dst);
	fl->id.sport = fl_port(a, FL_A_FLOW_LPORT);
	fl->id.dport = fl_port(a, FL_A_FLOW_RPORT);
	fl->state = fl_u8(a, FL_A_FLOW_TCP_STATE);
	fl->uid = fl_u32(a, FL_A_FLOW_UID);
	fl->ifindex = fl_u32(a, FL_A_FLOW_IFINDEX);
	fl_string(a, FL_A_FLOW_CC, fl->cc, sizeof(fl->cc));
	fl_string(a, FL_A_FLOW_HAD_CC, fl->had_cc, sizeof(fl->had_cc));
	fl->has_info = true;
	read_info(a, &fl->info);
}

static int keep_flow(struct nlattr **attrs, struct nlmsghdr *h, void *arg)
{
	struct fairlane_flow **flow = arg;

	(void)h;
	if (*flow)
		return 0;
	*flow = malloc(sizeof(**flow));
	if (!*flow)
		return -ENOMEM;
	read_flow(attrs, *flow);
	return 0;
}

int fairlane_flow_find(struct fairlane *connection,
		       const struct fairlane_id *id,
		       struct fairlane_flow **flow)
{
	struct fl_reply reply = { .fn = keep_flow, .arg = flow,
				  .max = FL_A_FLOW_MAX };
	struct nl_msg *msg = fl_message(connection, FL_CMD_FLOW_GET, 0);
	int err;

	*flow = NULL;
	err = msg ? fl_put_id(msg, id) : -ENOMEM;
	if (err) {
		nlmsg_free(msg);
		return fl_fail(connection, err, "no cookie and no addresses");
	}
	err = fl_send(connection, msg, &reply);
	if (!err && !*flow)
		err = fl_fail(connection, -ENOENT, NULL);
	if (err) {
		free(*flow);
		*flow = NULL;
	}
	return err;
}

/* A message that makes the change, or NULL and *err. */
static struct nl_msg *change_message(struct fairlane *f,
				     const struct fairlane_id *id,
				     const struct fairlane_setting *settings,
				     size_t count, int *err)
{
	struct nl_msg *msg = fl_message(f, FL_CMD_FLOW_SET, 0);
	uint32_t unset = 0;
	size_t i;

	*err = msg ? fl_put_id(msg, id) : -ENOMEM;
	for (i = 0; i < count && !*err; i++) {
		*err = fl_attr_of(settings[i].attr);
		if (*err < 0)
			break;
		if (settings[i].value == FAIRLANE_UNSET) {
			unset |= 1U << settings[i].attr;
			*err = 0;
		} else {
			*err = nla_put_u32(msg, *err, settings[i].value) ?
			       -ENOMEM : 0;
		}
	}
	if (!*err && unset && nla_put_u32(msg, FL_A_FLOW_UNSET, unset))
		*err = -ENOMEM;
	if (*err) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int fairlane_flow_set(struct fairlane *connection,
		      const struct fairlane_id *id,
		      const struct fairlane_setting *settings, size_t count)
{
	struct nl_msg *msg;
	int err;

	msg = change_message(connection, id, settings, count, &err);
	if (!msg)
		return fl_fail(connection, err, NULL);
	return fl_send(connection, msg, NULL);
}

/**
 * struct batch - changes that are under way
 * @f: the connection
 * @first: sequence number of the first
 * @changes: the changes
 * @count: how many
 * @open: how many verdicts are still to come
 */
struct batch {
	struct fairlane *f;
	uint32_t first;
	struct fairlane_change *changes;
	size_t count;
	size_t open;
};

/* Read the verdicts in one datagram. */
static void batch_verdicts(struct batch *b, char *buf, int len)
{
	struct nlmsghdr *h = (struct nlmsghdr *)buf;

	for (; nlmsg_ok(h, len); h = nlmsg_next(h, &len)) {
		uint32_t i = h->nlmsg_seq - b->first;
		char text[200];
		int err;

		if (h->nlmsg_type != NLMSG_ERROR || i >= b->count ||
		    b->changes[i].result <= 0)
			continue;
		err = fl_error_of(h, text, sizeof(text));
		b->changes[i].result = err;
		b->open--;
		if (err && !b->f->error[0])
			fl_fail(b->f, err, text);
	}
}

/* Put the changes into one buffer; its length, or a negative errno. */
static int batch_fill(struct batch *b, char **buf)
{
	size_t i, len = 0, room = 0;

	*buf = NULL;
	for (i = 0; i < b->count; i++) {
		struct fairlane_change *c = &b->changes[i];
		struct nl_msg *msg = change_message(b->f, &c->id, c->settings,
						    c->count, &c->result);
		struct nlmsghdr *h;

		if (!msg)
			continue;
		h = nlmsg_hdr(msg);
		h->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
		h->nlmsg_seq = b->first + i;
		h->nlmsg_pid = nl_socket_get_local_port(b->f->sk);
		if (len + NLMSG_ALIGN(h->nlmsg_len) > room) {
			char *more;

			room = 2 * room + NLMSG_ALIGN(h->nlmsg_len);
			more = realloc(*buf, room);
			if (!more) {
				nlmsg_free(msg);
				return -ENOMEM;
			}
			*buf = more;
		}
		memset(*buf + len, 0, NLMSG_ALIGN(h->nlmsg_len));
		memcpy(*buf + len, h, h->nlmsg_len);
		len += NLMSG_ALIGN(h->nlmsg_len);
		c->result = 1;	/* under way */
		b->open++;
		nlmsg_free(msg);
	}
	return len;
}

static __thread char answer[65536] __aligned(8);

/* Send changes with one system call and wait for all verdicts. */
static int batch_send(struct batch *b)
{
	int fd = nl_socket_get_fd(b->f->sk), len, err = 0;
	char *buf;

	len = batch_fill(b, &buf);
	if (len > 0 && send(fd, buf, len, 0) < 0)
		err = -errno;
	while (len > 0 && !err && b->open) {
		ssize_t got = recv(fd, answer, sizeof(answer), 0);

		if (got < 0 && errno != EINTR)
			err = -errno;
		else if (got > 0)
			batch_verdicts(b, answer, got);
	}
	free(buf);
	return len < 0 ? len : err;
}

int fairlane_flow_set_batch(struct fairlane *connection,
			    struct fairlane_change *changes, size_t count)
{
	size_t done, i;
	int refused = 0;

	connection->error[0] = 0;
	for (done = 0; done < count; done += FL_BATCH) {
		struct batch b = { .f = connection, .changes = changes + done };
		int err;

		b.count = count - done < FL_BATCH ? count - done : FL_BATCH;
		b.first = nl_socket_use_seq(connection->sk);
		for (i = 1; i < b.count; i++)
			nl_socket_use_seq(connection->sk);
		err = batch_send(&b);
		if (err)
			return fl_fail(connection, err, NULL);
	}
	for (i = 0; i < count; i++)
		refused += changes[i].result != 0;
	return refused;
}

/* Flows of a dump, kept until it is complete: it may be begun anew. */
struct collected {
	struct fairlane_flow *flows;
	size_t n;
	size_t room;
};

static int collect(struct nlattr **attrs, struct nlmsghdr *h, void *arg)
{
	struct collected *c = arg;

	(void)h;
	if (c->n == c->room) {
		size_t room = c->room ? 2 * c->room : 64;
		void *more = realloc(c->flows, room * sizeof(*c->flows));

		if (!more)
			return -ENOMEM;
		c->flows = more;
		c->room = room;
	}
	read_flow(attrs, &c->flows[c->n++]);
	return 0;
}

int fairlane_flow_dump(struct fairlane *connection, fairlane_flow_fn fn,
		       void *arg)
{
	struct collected c = { 0 };
	struct fl_reply reply = { .fn = collect, .arg = &c,
				  .max = FL_A_FLOW_MAX };
	int err = -EAGAIN, tries;
	size_t i;

	for (tries = 0; err == -EAGAIN && tries < FL_DUMP_TRIES; tries++) {
		c.n = 0;
		err = fl_send(connection,
			      fl_message(connection, FL_CMD_FLOW_GET,
					 NLM_F_DUMP), &reply);
	}
	for (i = 0; i < c.n && !err; i++)
		err = fn(&c.flows[i], arg);
	free(c.flows);
	return err;
}
