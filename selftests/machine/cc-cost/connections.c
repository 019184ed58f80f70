// SPDX-License-Identifier: GPL-2.0
/*
 * connections CONTROL NUMBER: so many TCP connections over loopback whose senders
 * have a congestion control, a packet sent on each; prints "ready", goes on until
 * stdin ends. Their memory is looked at meanwhile.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT		6000
#define BYTES		20000

static void control(int fd, const char *name)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)))
		err(1, "%s", name);
}

/* Sends something, and takes it out at the other end. */
static void pass(int from, int to)
{
	static char data[BYTES];
	ssize_t n, left = sizeof(data);

	if (write(from, data, sizeof(data)) != sizeof(data))
		err(1, "write");
	while (left > 0) {
		n = read(to, data, left);
		if (n <= 0)
			err(1, "read");
		left -= n;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct rlimit files = { 1 << 20, 1 << 20 };
	int listener, one = 1, i, from, to, number;
	char c;

	if (argc != 3)
		errx(2, "Usage: connections CONTROL NUMBER");
	number = atoi(argv[2]);
	setrlimit(RLIMIT_NOFILE, &files);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	control(listener, "reno");
	if (bind(listener, (void *)&at, sizeof(at)) || listen(listener, 64))
		err(1, "listen");
	for (i = 0; i < number; i++) {
		from = socket(AF_INET, SOCK_STREAM, 0);
		if (from < 0)
			err(1, "socket");
		control(from, argv[1]);
		if (connect(from, (void *)&at, sizeof(at)))
			err(1, "connect");
		to = accept(listener, NULL, NULL);
		if (to < 0)
			err(1, "accept");
		pass(from, to);
	}
	printf("ready\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
