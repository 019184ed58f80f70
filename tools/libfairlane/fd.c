// SPDX-License-Identifier: GPL-2.0
/* Attributes of a socket by its file descriptor: setsockopt and getsockopt. */
#include "libfairlane.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int option_of[FAIRLANE_ATTRS] = {
	[FAIRLANE_PRIORITY] = FL_SO_PRIORITY,
	[FAIRLANE_WEIGHT] = FL_SO_WEIGHT,
	[FAIRLANE_BASE_RTT] = FL_SO_BASE_RTT_NS,
	[FAIRLANE_LINE_RATE] = FL_SO_LINE_RATE_MBPS,
	[FAIRLANE_DEADLINE] = FL_SO_DEADLINE_US,
};

/* The level at which this socket's family has our options. */
static int level_of(int fd)
{
	int domain;
	socklen_t len = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len))
		return -errno;
	return domain == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
}

int fairlane_set(int fd, enum fairlane_attr attr, uint32_t value)
{
	int level = level_of(fd);

	if ((unsigned int)attr >= FAIRLANE_ATTRS)
		return -EINVAL;
	if (level < 0)
		return level;
	if (setsockopt(fd, level, option_of[attr], &value,
		       value == FAIRLANE_UNSET ? 0 : sizeof(value)))
		return -errno;
	return 0;
}

int fairlane_get(int fd, enum fairlane_attr attr, uint32_t *value)
{
	socklen_t len = sizeof(*value);
	int level = level_of(fd);

	if ((unsigned int)attr >= FAIRLANE_ATTRS)
		return -EINVAL;
	if (level < 0)
		return level;
	if (getsockopt(fd, level, option_of[attr], value, &len))
		return -errno;
	return 0;
}

uint32_t fairlane_info_value(const struct fl_info *info,
			     enum fairlane_attr attr, uint8_t *from)
{
	switch (attr) {
	case FAIRLANE_PRIORITY:
		*from = info->priority_from;
		return info->priority;
	case FAIRLANE_WEIGHT:
		*from = info->weight_from;
		return info->weight_milli;
	case FAIRLANE_BASE_RTT:
		*from = info->base_rtt_from;
		return info->base_rtt_ns;
	case FAIRLANE_LINE_RATE:
		*from = info->line_rate_from;
		return info->line_rate_mbps;
	case FAIRLANE_DEADLINE:
		*from = info->deadline_from;
		return info->deadline_us;
	default:
		*from = FL_FROM_DEFAULT;
		return 0;
	}
}

/* What was set on the socket itself; FAIRLANE_UNSET: nothing. */
static uint32_t explicit_value(int fd, enum fairlane_attr attr)
{
	struct fl_info info = { 0 };
	size_t size = sizeof(info);
	uint32_t value;
	uint8_t from;

	if (fairlane_info(fd, &info, &size))
		return FAIRLANE_UNSET;
	value = fairlane_info_value(&info, attr, &from);
	return from == FL_FROM_SOCKOPT || from == FL_FROM_NETLINK ||
	       from == FL_FROM_LISTENER ? value : FAIRLANE_UNSET;
}

int fairlane_set_many(int fd, const struct fairlane_setting *settings,
		      size_t count, size_t *failed)
{
	uint32_t before[2 * FAIRLANE_ATTRS];
	size_t i;
	int err = 0;

	if (count > 2 * FAIRLANE_ATTRS)
		return -E2BIG;
	for (i = 0; i < count && !err; i++) {
		before[i] = explicit_value(fd, settings[i].attr);
		err = fairlane_set(fd, settings[i].attr, settings[i].value);
	}
	if (!err)
		return 0;
	if (failed)
		*failed = i - 1;
	for (i--; i-- > 0;)
		fairlane_set(fd, settings[i].attr, before[i]);
	return err;
}

int fairlane_info(int fd, struct fl_info *info, size_t *size)
{
	socklen_t len = *size;
	int level = level_of(fd);

	if (level < 0)
		return level;
	if (getsockopt(fd, level, FL_SO_INFO, info, &len))
		return -errno;
	*size = len;
	return 0;
}

int fairlane_dup_fd(pid_t pid, int fd)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	int dup;

	if (pidfd < 0)
		return -errno;
	dup = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (dup < 0)
		dup = -errno;
	close(pidfd);
	return dup;
}
