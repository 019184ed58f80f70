// SPDX-License-Identifier: GPL-2.0
/*
 * linkstream: send bytes by TCP from one namespace to another and tell how
 * long it took. One process; the receiver lets the kernel drop the data.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ends.h"

#define PORT 9001
#define CHUNK_BYTES 4194304
#define LOWAT_BYTES 524288

static const char usage_text[] =
"usage: linkstream -f NETNS -t NETNS -a ADDRESS [-b BYTES] [-w MS]\n"
"  -f NETNS    send from here\n"
"  -t NETNS    receive here\n"
"  -a ADDRESS  IPv4 address of the receiver\n"
"  -b BYTES    how much (10000000)\n"
"  -w MS       give up when nothing comes for so long (1000)\n";

/* What to do, from the command line. */
struct options {
	const char *from;
	const char *to;
	const char *address;
	long long bytes;
	int wait_ms;
};

/* A TCP socket in a namespace; it stays there. */
static int open_socket(const char *netns)
{
	int fd = socket_in(netns, AF_INET, SOCK_STREAM), buffer = 1 << 26;
	int low = LOWAT_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer,
		       sizeof(buffer)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer,
		       sizeof(buffer)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)))
		die("socket: %s", strerror(errno));
	return fd;
}

/* Connect both ends; the sender in fd[0], the receiver in fd[1]. */
static void connect_ends(const struct options *opt, int *fd)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
	};
	int one = 1, listener = open_socket(opt->to);

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(listener, 1))
		die("listen: %s", strerror(errno));
	if (inet_pton(AF_INET, opt->address, &addr.sin_addr) != 1)
		die("'%s' is not an IPv4 address", opt->address);
	fd[0] = open_socket(opt->from);
	if (connect(fd[0], (struct sockaddr *)&addr, sizeof(addr)))
		die("connect: %s", strerror(errno));
	fd[1] = accept(listener, NULL, NULL);
	if (fd[1] < 0)
		die("accept: %s", strerror(errno));
	close(listener);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	fcntl(fd[1], F_SETFL, O_NONBLOCK);
}

/* Move all bytes; how many arrived. */
static long long transfer(const struct options *opt, const int *fd)
{
	struct pollfd pollfd[2] = {
		{ .fd = fd[0], .events = POLLOUT },
		{ .fd = fd[1], .events = POLLIN },
	};
	long long sent = 0, received = 0;
	static char data[CHUNK_BYTES];
	ssize_t n;

	while (received < opt->bytes) {
		if (poll(pollfd, 2, opt->wait_ms) <= 0)
			break;
		if (pollfd[0].revents) {
			n = opt->bytes - sent < CHUNK_BYTES ?
				opt->bytes - sent : CHUNK_BYTES;
			n = send(fd[0], data, (size_t)n, MSG_NOSIGNAL);
			if (n < 0)
				break;
			sent += n;
			if (sent == opt->bytes) {
				pollfd[0].fd = -1;
				shutdown(fd[0], SHUT_WR);
			}
		}
		if (pollfd[1].revents) {
			n = recv(fd[1], NULL, 1 << 30, MSG_TRUNC);
			if (n <= 0)
				break;
			received += n;
		}
	}
	return received;
}

int main(int argc, char **argv)
{
	struct options opt = { .bytes = 10000000, .wait_ms = 1000 };
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	long long received;
	int64_t start_ns;
	int c, fd[2];

	while ((c = getopt(argc, argv, "f:t:a:b:w:h")) != -1) {
		if (c == 'f')
			opt.from = optarg;
		else if (c == 't')
			opt.to = optarg;
		else if (c == 'a')
			opt.address = optarg;
		else if (c == 'b')
			opt.bytes = atoll(optarg);
		else if (c == 'w')
			opt.wait_ms = atoi(optarg);
		else
			opt.bytes = 0;
	}
	if (!opt.from || !opt.to || !opt.address || opt.bytes <= 0 ||
	    optind != argc) {
		fputs(usage_text, stderr);
		return 1;
	}
	connect_ends(&opt, fd);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	received = transfer(&opt, fd);
	getsockopt(fd[0], IPPROTO_TCP, TCP_INFO, &info, &len);
	printf("bytes=%lld ns=%" PRId64 " segments=%u retransmits=%u\n",
	       received, clock_ns(CLOCK_MONOTONIC) - start_ns, info.tcpi_segs_out,
	       info.tcpi_total_retrans);
	return received != opt.bytes;
}
