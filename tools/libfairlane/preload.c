// SPDX-License-Identifier: GPL-2.0
/*
 * What "fairlane run" puts into a program that knows nothing of priorities: each
 * TCP socket that it opens gets the settings in the environment.
 *
 *	FAIRLANE_PRIORITY, FAIRLANE_WEIGHT_MILLI, FAIRLANE_BASE_RTT_NS,
 *	FAIRLANE_LINE_RATE_MBPS, FAIRLANE_DEADLINE_US	numbers
 *	FAIRLANE_CC	congestion control
 *	FAIRLANE_DEBUG	say on stderr what could not be set
 *
 * Only socket() is caught: settings are made before connect() and listen(), and
 * sockets that accept() returns have those of their listener. Sockets that were
 * there when the program started (handed over by systemd or inetd) are
 * caught once, at the start. The program never sees a difference: what cannot be
 * set is left out, and errno is kept.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/fairlane.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Descriptors that are looked at when the program starts. */
#define INHERITED_MAX	64

static const struct {
	const char *name;
	int option;
} options[] = {
	{ "FAIRLANE_PRIORITY", FL_SO_PRIORITY },
	{ "FAIRLANE_WEIGHT_MILLI", FL_SO_WEIGHT },
	{ "FAIRLANE_BASE_RTT_NS", FL_SO_BASE_RTT_NS },
	{ "FAIRLANE_LINE_RATE_MBPS", FL_SO_LINE_RATE_MBPS },
	{ "FAIRLANE_DEADLINE_US", FL_SO_DEADLINE_US },
};

/* Say what could not be set, if somebody wants to know. */
static void complain(int fd, const char *what)
{
	if (getenv("FAIRLANE_DEBUG"))
		dprintf(STDERR_FILENO, "fairlane run: socket %d: %s: %s\n", fd,
			what, strerror(errno));
}

static void apply(int fd, int domain)
{
	int level = domain == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
	const char *cc = getenv("FAIRLANE_CC");
	size_t i;

	if (cc && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		complain(fd, cc);
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const char *text = getenv(options[i].name);
		unsigned int value;

		if (!text)
			continue;
		value = strtoul(text, NULL, 10);
		if (setsockopt(fd, level, options[i].option, &value,
			       sizeof(value)))
			complain(fd, options[i].name);
	}
}

int socket(int domain, int type, int protocol)
{
	static int (*real)(int domain, int type, int protocol);
	int fd, saved;

	if (!real)
		real = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
	if (!real) {
		errno = EIO;
		return -1;
	}
	fd = real(domain, type, protocol);
	if (fd < 0 || (domain != AF_INET && domain != AF_INET6) ||
	    (type & 0xf) != SOCK_STREAM ||
	    (protocol && protocol != IPPROTO_TCP))
		return fd;
	saved = errno;
	apply(fd, domain);
	errno = saved;
	return fd;
}

/* Sockets that the program was started with. */
__attribute__((constructor)) static void catch_inherited(void)
{
	int saved = errno, fd;

	for (fd = 0; fd < INHERITED_MAX; fd++) {
		int domain = 0, protocol = 0;
		socklen_t len = sizeof(int);

		if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) ||
		    protocol != IPPROTO_TCP)
			continue;
		len = sizeof(int);
		if (!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) &&
		    (domain == AF_INET || domain == AF_INET6))
			apply(fd, domain);
	}
	errno = saved;
}
