// SPDX-License-Identifier: GPL-2.0
/*
 * rtnetlink requests: one message at a time, its answer, the kernel's reason.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "netlink.h"

#define MESSAGE_MAX	32768

/* The message under construction. */
static union {
	struct nlmsghdr header;
	char data[MESSAGE_MAX];
} message;

/* Reserves aligned room at the end of the message. */
void *netlink_room(size_t length)
{
	size_t used = NLMSG_ALIGN(message.header.nlmsg_len);

	if (used + NLMSG_ALIGN(length) > sizeof(message.data))
		lab_fail("a netlink message got longer than %zu bytes",
			 sizeof(message.data));
	message.header.nlmsg_len = used + NLMSG_ALIGN(length);
	return memset(message.data + used, 0, NLMSG_ALIGN(length));
}

struct rtattr *netlink_attr(unsigned short type, const void *data,
			    size_t length)
{
	struct rtattr *attr = netlink_room(RTA_LENGTH(length));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(length);
	if (length)
		memcpy(RTA_DATA(attr), data, length);
	return attr;
}

void netlink_u32(unsigned short type, uint32_t value)
{
	netlink_attr(type, &value, sizeof(value));
}

void netlink_u64(unsigned short type, uint64_t value)
{
	netlink_attr(type, &value, sizeof(value));
}

/* Begins a nest of attributes. */
struct rtattr *netlink_nest(unsigned short type)
{
	return netlink_attr(type | NLA_F_NESTED, NULL, 0);
}

void netlink_nest_end(struct rtattr *nest)
{
	nest->rta_len = message.data + message.header.nlmsg_len - (char *)nest;
}

/* Begins a message; returns room for the header of its family. */
void *netlink_begin(unsigned short type, unsigned short flags, size_t header)
{
	memset(&message.header, 0, sizeof(message.header));
	message.header.nlmsg_len = NLMSG_HDRLEN;
	message.header.nlmsg_type = type;
	message.header.nlmsg_flags = NLM_F_REQUEST | flags;
	return netlink_room(header);
}

/* Finds the kernel's words about an error in its answer. */
static void netlink_reason(const struct nlmsghdr *answer, char *reason,
			   size_t size)
{
	const struct nlmsgerr *error = NLMSG_DATA(answer);
	size_t skip = sizeof(*error);
	struct rtattr *attr;
	int left;

	reason[0] = '\0';
	if (!(answer->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(answer->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(error->msg.nlmsg_len) - sizeof(error->msg);
	attr = (struct rtattr *)((char *)error + skip);
	left = answer->nlmsg_len - NLMSG_HDRLEN - skip;
	for (; left > 0 && RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if (attr->rta_type == NLMSGERR_ATTR_MSG)
			snprintf(reason, size, " (%s)", (char *)RTA_DATA(attr));
}

/* Sends the message in a node and takes the first answer. */
static ssize_t netlink_exchange(int64_t node, void *answer, size_t size)
{
	int fd = node_netlink(node);
	ssize_t got;

	if (send(fd, message.data, message.header.nlmsg_len, 0) < 0)
		lab_fail("node %s: rtnetlink: %s", node_name(node),
			 strerror(errno));
	got = recv(fd, answer, size, 0);
	if (got < NLMSG_HDRLEN)
		lab_fail("node %s: no answer from rtnetlink", node_name(node));
	return got;
}

/*
 * Sends the message in a node. Returns the kernel's answer, 0 or -errno, and
 * its reason in brackets or an empty text.
 */
int netlink_send(int64_t node, char *reason, size_t reason_size)
{
	static char answer[MESSAGE_MAX];
	struct nlmsghdr *header = (struct nlmsghdr *)answer;
	struct nlmsgerr *error = NLMSG_DATA(header);
	ssize_t got;

	message.header.nlmsg_flags |= NLM_F_ACK;
	got = netlink_exchange(node, answer, sizeof(answer));
	if (got < (ssize_t)NLMSG_LENGTH(sizeof(*error)) ||
	    header->nlmsg_type != NLMSG_ERROR)
		lab_fail("node %s: no answer from rtnetlink", node_name(node));
	netlink_reason(header, reason, reason_size);
	return error->error;
}

/* Sends a question in a node. Returns the answer; NULL if it is an error. */
const struct nlmsghdr *netlink_ask(int64_t node)
{
	static char answer[MESSAGE_MAX];
	struct nlmsghdr *header = (struct nlmsghdr *)answer;

	netlink_exchange(node, answer, sizeof(answer));
	return header->nlmsg_type == NLMSG_ERROR ? NULL : header;
}
