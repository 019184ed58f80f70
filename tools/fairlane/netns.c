// SPDX-License-Identifier: GPL-2.0
/* -n NETNS: the network namespace that a command is about. */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/**
 * netns_open() - a network namespace by its name
 * @name: as "ip netns" names it, a path, or the number of a process that is in it
 *
 * Return: a file descriptor. Ends the program if there is none.
 */
int netns_open(const char *name)
{
	uint64_t pid;
	char *path;
	int fd;

	if (strchr(name, '/'))
		path = xprintf("%s", name);
	else
		path = xprintf("/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && parse_u64(name, 10, 1 << 22, &pid)) {
		free(path);
		path = xprintf("/proc/%s/ns/net", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		fail_kernel("network namespace \"%s\": %s (ip netns list shows them)",
			    name, strerror(errno));
	free(path);
	return fd;
}

/* Go into an open network namespace; @name is for messages. */
void netns_enter_fd(int fd, const char *name)
{
	if (setns(fd, CLONE_NEWNET))
		fail_kernel("network namespace \"%s\": %s%s", name,
			    strerror(errno),
			    errno == EPERM ? " (entering one needs root)" : "");
}

/**
 * netns_enter() - go into a network namespace
 * @name: as netns_open() knows it
 *
 * Sockets and /proc/sys/net are those of the namespace from then on.
 */
void netns_enter(const char *name)
{
	int fd = netns_open(name);

	netns_enter_fd(fd, name);
	close(fd);
}
