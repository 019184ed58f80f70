/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rtnetlink requests: begin, add attributes, send. One message at a time.
 */
#ifndef LAB_NETLINK_H
#define LAB_NETLINK_H

#include <linux/rtnetlink.h>

#include "labinit.h"

#define NETLINK_REASON_MAX	256

void *netlink_begin(unsigned short type, unsigned short flags, size_t header);
void *netlink_room(size_t length);
struct rtattr *netlink_attr(unsigned short type, const void *data,
			    size_t length);
void netlink_u32(unsigned short type, uint32_t value);
void netlink_u64(unsigned short type, uint64_t value);
struct rtattr *netlink_nest(unsigned short type);
void netlink_nest_end(struct rtattr *nest);
int netlink_send(int64_t node, char *reason, size_t reason_size);
const struct nlmsghdr *netlink_ask(int64_t node);

#endif
