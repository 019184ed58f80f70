// SPDX-License-Identifier: GPL-2.0
/*
 * A connection with TCP-MD5 signatures between two network namespaces:
 *
 *	signed FROM TO FROM-ADDRESS TO-ADDRESS CC
 *
 * Sends 1 MB with the congestion control; exit status 0 if all of it arrives.
 */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"

#define BYTES	1000000
#define PORT	5200

/* A socket in a namespace whose segments from and to the peer are signed. */
static int make_socket(const char *ns, const char *peer)
{
	struct tcp_md5sig sig = { .tcpm_keylen = 5, .tcpm_key = "weigh" };
	int fd = socket_in(ns, AF_INET, SOCK_STREAM), on = 1;
	struct sockaddr_storage a;

	parse_address(peer, 0, &a);
	memcpy(&sig.tcpm_addr, &a, sizeof(sig.tcpm_addr));
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &sig, sizeof(sig)))
		die("setsockopt: %s", strerror(errno));
	return fd;
}

static void send_all(int fd, const char *cc, const struct sockaddr *to,
		     socklen_t length)
{
	static const char data[10000];
	size_t sent = 0;
	ssize_t n;

	set_cc(fd, cc);
	if (connect(fd, to, length))
		die("connect: %s", strerror(errno));
	for (; sent < BYTES; sent += n) {
		n = send(fd, data, sizeof(data), MSG_NOSIGNAL);
		if (n < 0)
			die("send: %s", strerror(errno));
	}
	close(fd);
}

int main(int argc, char **argv)
{
	static char buffer[65536];
	struct sockaddr_storage at;
	size_t received = 0;
	int listener, fd;
	socklen_t length;
	ssize_t n;
	pid_t pid;

	if (argc != 6)
		return 2;
	listener = make_socket(argv[2], argv[3]);
	length = parse_address(argv[4], PORT, &at);
	if (bind(listener, (struct sockaddr *)&at, length) ||
	    listen(listener, 1))
		die("listen: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid) {
		close(listener);
		send_all(make_socket(argv[1], argv[4]), argv[5],
			 (struct sockaddr *)&at, length);
		return 0;
	}
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept: %s", strerror(errno));
	while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		received += n;
	waitpid(pid, NULL, 0);
	return n < 0 || received != BYTES;
}
