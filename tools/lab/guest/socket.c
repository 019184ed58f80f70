// SPDX-License-Identifier: GPL-2.0
/*
 * What senders and receivers do alike with sockets.
 */
#include <errno.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "traffic.h"

/*
 * All flows together queue about this much on each side: enough to wake up
 * rarely, little enough for the guest's memory.
 */
#define SHARE_TOTAL_BYTES	(128ULL * 1024 * 1024)
#define SHARE_MIN_BYTES		(64ULL * 1024)
#define SHARE_MAX_BYTES		(1024ULL * 1024)

static size_t sockets_open;

/* Counts senders that are open, or soon will be. */
void socket_opened(int change)
{
	sockets_open += change;
}

/* Bytes that one of the open flows should queue. */
uint64_t socket_share_bytes(void)
{
	uint64_t share = SHARE_TOTAL_BYTES / (sockets_open ? sockets_open : 1);

	if (share < SHARE_MIN_BYTES)
		return SHARE_MIN_BYTES;
	return share > SHARE_MAX_BYTES ? SHARE_MAX_BYTES : share;
}

/* Address and port for bind() and connect(). Returns the length. */
socklen_t socket_addr(union socket_addr *out, const struct plan_addr *addr,
		      int64_t port)
{
	memset(out, 0, sizeof(*out));
	out->any.sa_family = addr->family;
	if (addr->family == AF_INET) {
		out->v4.sin_addr = addr->v4;
		out->v4.sin_port = htons(port);
		return sizeof(out->v4);
	}
	out->v6.sin6_addr = addr->v6;
	out->v6.sin6_port = htons(port);
	return sizeof(out->v6);
}

/* Sets a number; what names it in the error. */
void socket_option(const struct flow *flow, int fd, int level, int name,
		   int value, const char *what)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		lab_fail("flow %lld: cannot set %s to %d: %s",
			 (long long)flow->plan->id, what, value,
			 strerror(errno));
}

/* Sets the congestion control. */
void socket_cc(const struct flow *flow, int fd, const char *cc)
{
	if (!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		return;
	if (errno == ENOENT)
		lab_fail("flow %lld: this kernel has no congestion control \"%s\" (is its module loaded?)",
			 (long long)flow->plan->id, cc);
	lab_fail("flow %lld: cannot use congestion control \"%s\": %s",
		 (long long)flow->plan->id, cc, strerror(errno));
}

/*
 * Closes a connection without a packet: neither FIN nor RST. Both ends are
 * ours, so nobody needs to be told, and the network sees a flow that simply
 * has no more data.
 */
void socket_close_silently(int fd)
{
	int on = TCP_REPAIR_ON;

	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)))
		lab_fail("cannot set TCP_REPAIR: %s", strerror(errno));
	close(fd);
}
