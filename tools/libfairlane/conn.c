// SPDX-License-Identifier: GPL-2.0
/*
 * The connection to the module: one request, its replies, its verdict with the
 * text that the kernel gives with it.
 *
 * libnl turns errnos into numbers of its own and loses some on the way, so the
 * verdict is taken from the message itself.
 */
#include "private.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Large enough for a dump's messages and a burst of events. */
#define FL_RECEIVE_BYTES	(1048576)

/* errno that is closest to an error of libnl. */
static int errno_of(int nlerr)
{
	switch (-nlerr) {
	case NLE_SUCCESS:	return 0;
	case NLE_NOMEM:		return -ENOMEM;
	case NLE_OBJ_NOTFOUND:	return -ENOENT;
	case NLE_PERM:		return -EPERM;
	case NLE_DUMP_INTR:	return -EAGAIN;
	case NLE_AGAIN:		return -EAGAIN;
	case NLE_NOADDR:	return -EADDRNOTAVAIL;
	case NLE_AF_NOSUPPORT:	return -EAFNOSUPPORT;
	case NLE_PROTO_MISMATCH: return -EPROTONOSUPPORT;
	case NLE_MSG_OVERFLOW:
	case NLE_MSG_TRUNC:	return -EMSGSIZE;
	default:		return -EIO;
	}
}

int fl_fail(struct fairlane *f, int err, const char *text)
{
	if (err)
		snprintf(f->error, sizeof(f->error), "%s",
			 text && text[0] ? text : strerror(-err));
	return err;
}

/**
 * fl_error_of() - the verdict of an error or done message
 * @h: the message
 * @text: gets the kernel's explanation, or ""
 * @size: of @text
 *
 * Return: 0 or a negative errno.
 */
int fl_error_of(struct nlmsghdr *h, char *text, size_t size)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = { NULL };
	const struct nlmsgerr *e = nlmsg_data(h);
	int skip = sizeof(int), len = nlmsg_datalen(h), err;

	text[0] = 0;
	if (len < (int)sizeof(int))
		return 0;
	err = e->error;
	if (h->nlmsg_type == NLMSG_ERROR) {
		if (len < (int)sizeof(*e))
			return err;
		skip = sizeof(*e);
		if (!(h->nlmsg_flags & NLM_F_CAPPED)) {
			/* the request is in between */
			if (e->msg.nlmsg_len < NLMSG_HDRLEN ||
			    e->msg.nlmsg_len > (uint32_t)len)
				return err;
			skip += e->msg.nlmsg_len - NLMSG_HDRLEN;
		}
	}
	skip = NLMSG_ALIGN(skip);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS && skip <= len &&
	    !nla_parse(tb, NLMSGERR_ATTR_MAX,
		       (struct nlattr *)((char *)nlmsg_data(h) + skip),
		       len - skip, NULL) && tb[NLMSGERR_ATTR_MSG])
		nla_strlcpy(text, tb[NLMSGERR_ATTR_MSG], size);
	return err;
}

/* libnl has met an error message. */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct fairlane *f = arg;
	struct nlmsghdr *h = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);
	char text[200];

	(void)from;
	f->result = fl_error_of(h, text, sizeof(text));
	fl_fail(f, f->result, text);
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct fairlane *f = arg;

	(void)msg;
	f->result = 0;
	return NL_STOP;
}

/* The end of a dump has a verdict as well. */
static int on_done(struct nl_msg *msg, void *arg)
{
	struct fairlane *f = arg;
	char text[200];

	f->result = fl_error_of(nlmsg_hdr(msg), text, sizeof(text));
	if (f->result > 0)	/* how many messages: not ours */
		f->result = 0;
	fl_fail(f, f->result, text);
	return NL_STOP;
}

/* Only answers to this request: an earlier one may have been left half read. */
static int on_sequence(struct nl_msg *msg, void *arg)
{
	const struct fairlane *f = arg;

	return nlmsg_hdr(msg)->nlmsg_seq == f->seq ? NL_OK : NL_SKIP;
}

/* The kernel's list has changed while it was dumped. */
static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct fairlane *f = arg;

	(void)msg;
	f->interrupted = true;
	return NL_OK;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct fl_reply *r = arg;
	struct nlattr *attrs[r->max + 1];

	if (r->stopped)
		return NL_OK;
	if (genlmsg_parse(nlmsg_hdr(msg), 0, attrs, r->max, NULL)) {
		r->stopped = -EBADMSG;
		fl_fail(r->f, -EBADMSG, "the kernel's reply cannot be read");
	} else {
		r->stopped = r->fn(attrs, nlmsg_hdr(msg), r->arg);
	}
	return NL_OK;
}

struct nl_msg *fl_message(struct fairlane *f, int cmd, int flags)
{
	/* policies with everything set, and profiles, take more than 1 page
	 * on nobody's machine
	 */
	struct nl_msg *msg = nlmsg_alloc_size(16384);

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, f->family, 0,
				flags, cmd, FL_GENL_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* One round of a request. */
static int transact(struct fairlane *f, struct nl_msg *msg,
		    struct fl_reply *reply)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err;

	if (!cb)
		return fl_fail(f, -ENOMEM, NULL);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, f);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, f);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_done, f);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, f);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, f);
	if (reply && reply->fn)
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, reply);
	f->result = 1;
	f->interrupted = false;
	nl_complete_msg(f->sk, msg);
	f->seq = nlmsg_hdr(msg)->nlmsg_seq;
	err = nl_send(f->sk, msg);
	while (err >= 0 && f->result > 0)
		err = nl_recvmsgs(f->sk, cb);
	nl_cb_put(cb);
	if (err < 0 && f->result > 0) {
		fl_fail(f, -EIO, nl_geterror(err));
		return errno_of(err);
	}
	if (!f->result && f->interrupted)
		return fl_fail(f, -EAGAIN, "the list changed while it was read");
	return f->result;
}

/**
 * fl_send() - send a request and wait for its verdict
 * @f: the connection
 * @msg: the request, freed here
 * @reply: what to do with the replies, or NULL
 *
 * Return: 0, a negative errno, or what the reply's function has returned.
 */
int fl_send(struct fairlane *f, struct nl_msg *msg, struct fl_reply *reply)
{
	int err;

	f->error[0] = 0;
	if (!msg)
		return fl_fail(f, -ENOMEM, NULL);
	if (reply) {
		reply->f = f;
		reply->stopped = 0;
	}
	if (!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP))
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_ACK;
	nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_REQUEST;
	err = transact(f, msg, reply);
	nlmsg_free(msg);
	return reply && reply->stopped ? reply->stopped : err;
}

/* A netlink socket as we want it; NULL and *err. */
static struct nl_sock *new_socket(int *err)
{
	struct nl_sock *sk = nl_socket_alloc();
	int on = 1;

	if (!sk) {
		*err = -ENOMEM;
		return NULL;
	}
	*err = errno_of(genl_connect(sk));
	if (*err) {
		nl_socket_free(sk);
		return NULL;
	}
	nl_socket_set_buffer_size(sk, FL_RECEIVE_BYTES, 0);
	nl_socket_set_msg_buf_size(sk, 65536);
	setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_EXT_ACK, &on,
		   sizeof(on));
	setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_CAP_ACK, &on,
		   sizeof(on));
	setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_GET_STRICT_CHK,
		   &on, sizeof(on));
	return sk;
}

int fairlane_open(struct fairlane **connection)
{
	struct fairlane *f = calloc(1, sizeof(*f));
	int err;

	*connection = NULL;
	if (!f)
		return -ENOMEM;
	f->sk = new_socket(&err);
	if (!f->sk) {
		free(f);
		return err;
	}
	f->family = genl_ctrl_resolve(f->sk, FL_GENL_NAME);
	if (f->family < 0) {
		fairlane_close(f);
		return -ENOENT;
	}
	*connection = f;
	return 0;
}

void fairlane_close(struct fairlane *connection)
{
	if (!connection)
		return;
	nl_socket_free(connection->sk);
	if (connection->events)
		nl_socket_free(connection->events);
	free(connection);
}

const char *fairlane_error(const struct fairlane *connection)
{
	return connection->error;
}

/* ---- attributes ------------------------------------------------------------ */

uint64_t fl_u64(struct nlattr **attrs, int nr)
{
	struct nlattr *a = attrs[nr];
	uint64_t v;

	if (!a)
		return 0;
	if (nla_len(a) < (int)sizeof(v))
		return fl_u32(attrs, nr);
	memcpy(&v, nla_data(a), sizeof(v));
	return v;
}

uint32_t fl_u32(struct nlattr **attrs, int nr)
{
	struct nlattr *a = attrs[nr];

	if (!a)
		return 0;
	return nla_len(a) >= 4 ? nla_get_u32(a) : fl_u8(attrs, nr);
}

uint8_t fl_u8(struct nlattr **attrs, int nr)
{
	struct nlattr *a = attrs[nr];

	return a && nla_len(a) >= 1 ? nla_get_u8(a) : 0;
}

/* A port in network order. */
uint16_t fl_port(struct nlattr **attrs, int nr)
{
	const uint8_t *p;

	if (!attrs[nr] || nla_len(attrs[nr]) < 2)
		return 0;
	p = nla_data(attrs[nr]);
	return p[0] << 8 | p[1];
}

void fl_address(struct nlattr **attrs, int nr, uint8_t *addr)
{
	memset(addr, 0, 16);
	if (attrs[nr])
		nla_memcpy(addr, attrs[nr], 16);
}

void fl_string(struct nlattr **attrs, int nr, char *s, size_t size)
{
	s[0] = 0;
	if (attrs[nr])
		nla_strlcpy(s, attrs[nr], size);
}
