// SPDX-License-Identifier: GPL-2.0
/* Both ends of a connection in one process: see ends.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ends.h"

void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "# %s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

long long number(const char *text, long long min, long long max)
{
	long long value;
	char *end;

	errno = 0;
	value = strtoll(text, &end, 0);
	if (end == text || *end || errno || value < min || value > max)
		die("'%s' is no integer from %lld to %lld", text, min, max);
	return value;
}

void enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("namespace %s: %s", name, strerror(errno));
	close(fd);
}

int socket_in(const char *name, int family, int type)
{
	int fd;

	enter(name);
	fd = socket(family, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	return fd;
}

socklen_t parse_address(const char *text, int port, struct sockaddr_storage *to)
{
	struct sockaddr_in6 *v6 = (void *)to;
	struct sockaddr_in *v4 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) != 1)
		die("%s is no address", text);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	return sizeof(*v6);
}

void set_cc(int fd, const char *cc)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die("TCP_CONGESTION %s: %s", cc, strerror(errno));
}
