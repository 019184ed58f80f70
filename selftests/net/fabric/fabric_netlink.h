/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to sch_fabric straight over netlink, and frames through its port: what
 * fabric_fuzz and fabric_cycles share.
 */
#ifndef FABRIC_NETLINK_H
#define FABRIC_NETLINK_H

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/fairlane.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define HANDLE		0x10000U
#define MESSAGE_MAX	4096
#define FRAME_BYTES	1514

/* Not in every distribution's linux/netlink.h under these names. */
#define ACK_ERROR	NLMSG_ERROR

struct message {
	struct nlmsghdr h;
	struct tcmsg t;
	uint8_t rest[MESSAGE_MAX];
};

static int route_fd, packet_fd;
static int ifindex;
static uint32_t state = 1;

static inline uint32_t any(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* ---- messages -------------------------------------------------------------- */

static inline void start(struct message *m, int type, int flags, uint32_t classid)
{
	memset(m, 0, sizeof(*m));
	m->h.nlmsg_len = NLMSG_LENGTH(sizeof(m->t));
	m->h.nlmsg_type = type;
	m->h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	m->t.tcm_family = AF_UNSPEC;
	m->t.tcm_ifindex = ifindex;
	m->t.tcm_handle = classid ? classid : HANDLE;
	m->t.tcm_parent = classid ? HANDLE : TC_H_ROOT;
}

static inline struct nlattr *put(struct message *m, int type, const void *data,
				 int bytes)
{
	struct nlattr *a = (void *)((uint8_t *)m + NLMSG_ALIGN(m->h.nlmsg_len));

	if (m->h.nlmsg_len + bytes + 64 > sizeof(*m))
		return a;
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + bytes;
	if (bytes)
		memcpy((uint8_t *)a + NLA_HDRLEN, data, bytes);
	m->h.nlmsg_len = NLMSG_ALIGN(m->h.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static inline struct nlattr *nest(struct message *m, int type)
{
	return put(m, type | NLA_F_NESTED, NULL, 0);
}

static inline void end(struct message *m, struct nlattr *a)
{
	a->nla_len = (uint8_t *)m + NLMSG_ALIGN(m->h.nlmsg_len) - (uint8_t *)a;
}

/* The text of a refusal; "" if it has none. */
static inline void find_text(const struct nlmsghdr *h, char *text, size_t size)
{
	const struct nlmsgerr *e = (const void *)(h + 1);
	size_t at = NLMSG_HDRLEN + sizeof(*e);

	text[0] = 0;
	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		at += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	while (at + NLA_HDRLEN <= h->nlmsg_len) {
		const struct nlattr *a = (const void *)((const uint8_t *)h + at);

		if (a->nla_len < NLA_HDRLEN)
			return;
		if (a->nla_type == NLMSGERR_ATTR_MSG)
			snprintf(text, size, "%.*s", a->nla_len - NLA_HDRLEN,
				 (const char *)a + NLA_HDRLEN);
		at += NLA_ALIGN(a->nla_len);
	}
}

/* Sends a message. Returns 0 or the negative error; @text says why. */
static inline int ask(struct message *m, char *text, size_t size)
{
	static uint32_t buffer[16384];
	static uint32_t seq;
	ssize_t got;

	m->h.nlmsg_seq = ++seq;
	if (send(route_fd, m, m->h.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		const struct nlmsghdr *h = (const void *)buffer;
		const struct nlmsgerr *e = (const void *)(h + 1);

		got = recv(route_fd, buffer, sizeof(buffer), 0);
		if (got < 0)
			return -errno;
		if (h->nlmsg_seq != seq || h->nlmsg_type != ACK_ERROR)
			continue;
		find_text(h, text, size);
		return e->error;
	}
}

/* Deletes the port's qdisc. */
static inline void clear(void)
{
	struct message m;
	char text[256];

	start(&m, RTM_DELQDISC, 0, 0);
	m.t.tcm_handle = 0;
	ask(&m, text, sizeof(text));
}

/* Some frames: IPv4 or IPv6 by their type, any DSCP, ECN and length. */
static inline int frames(void)
{
	static uint8_t frame[FRAME_BYTES];
	int n = any() % 4, i, sent = 0;
	uint32_t v6;

	for (i = 0; i < n; i++) {
		v6 = any() % 2;
		memset(frame, 0, 14);
		frame[0] = 2;
		frame[5] = 0xbb;
		frame[6] = 2;
		frame[12] = v6 ? 0x86 : 0x08;
		frame[13] = v6 ? 0xdd : 0x00;
		frame[14] = v6 ? 0x60 | any() % 16 : 0x45;
		frame[15] = any();
		sent += send(packet_fd, frame, 60 + any() % (FRAME_BYTES - 60),
			     0) > 0;
	}
	if (!(any() % 16))
		usleep(any() % 2000);
	return sent;
}

/* Opens the sockets for a device. Returns 0, or -1 after a complaint. */
static inline int open_device(const char *dev)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };
	struct timeval patience = { .tv_sec = 5 };
	int one = 1, size = 1 << 28;

	ifindex = if_nametoindex(dev);
	at.sll_ifindex = ifindex;
	route_fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	packet_fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (!ifindex || route_fd < 0 || packet_fd < 0 ||
	    setsockopt(route_fd, SOL_NETLINK, NETLINK_EXT_ACK, &one,
		       sizeof(one)) ||
	    setsockopt(route_fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) ||
	    setsockopt(packet_fd, SOL_SOCKET, SO_SNDBUFFORCE, &size,
		       sizeof(size)) ||
	    bind(packet_fd, (struct sockaddr *)&at, sizeof(at))) {
		perror(dev);
		return -1;
	}
	return 0;
}

#endif /* FABRIC_NETLINK_H */
