// SPDX-License-Identifier: GPL-2.0
/*
 * A connection with TCP-MD5 signatures between two network namespaces:
 *
 *	signed FROM TO FROM-ADDRESS TO-ADDRESS CC
 *
 * Sends 1 MB with the congestion control; exit status 0 if all of it arrives.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES	1000000
#define PORT	5200

static void die(const char *what)
{
	fprintf(stderr, "signed: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void enter(const char *ns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(ns);
	close(fd);
}

static struct sockaddr_in address(const char *text, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &a.sin_addr) != 1)
		die(text);
	return a;
}

/* A socket in a namespace whose segments from and to the peer are signed. */
static int make_socket(const char *ns, const char *peer)
{
	struct tcp_md5sig sig = { .tcpm_keylen = 5, .tcpm_key = "weigh" };
	struct sockaddr_in a = address(peer, 0);
	int fd, on = 1;

	enter(ns);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memcpy(&sig.tcpm_addr, &a, sizeof(a));
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &sig, sizeof(sig)))
		die("socket");
	return fd;
}

static void send_all(int fd, const char *cc, const struct sockaddr_in *to)
{
	static const char data[10000];
	size_t sent = 0;
	ssize_t n;

	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die(cc);
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		die("connect");
	for (; sent < BYTES; sent += n) {
		n = send(fd, data, sizeof(data), MSG_NOSIGNAL);
		if (n < 0)
			die("send");
	}
	close(fd);
}

int main(int argc, char **argv)
{
	static char buffer[65536];
	struct sockaddr_in at;
	size_t received = 0;
	int listener, fd;
	ssize_t n;
	pid_t pid;

	if (argc != 6)
		return 2;
	listener = make_socket(argv[2], argv[3]);
	at = address(argv[4], PORT);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(listener, 1))
		die("listen");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(listener);
		send_all(make_socket(argv[1], argv[4]), argv[5], &at);
		return 0;
	}
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		received += n;
	waitpid(pid, NULL, 0);
	return n < 0 || received != BYTES;
}
