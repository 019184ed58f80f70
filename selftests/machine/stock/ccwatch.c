// SPDX-License-Identifier: GPL-2.0
/*
 * ccwatch: one process changes the congestion control of sockets and sends through them while
 * another reads what the kernel shows of them, by getsockopt() and by inet_diag,
 * neither of which takes the socket's lock.
 *
 *	ccwatch ROUNDS CC CC...
 *
 * ROUNDS: dumps of inet_diag. Exit status 0, or 1 with a sentence; what goes wrong in
 * the kernel is in its log.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/fairlane.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAIRS	4

static int tx[PAIRS], rx[PAIRS];
static char data[1 << 14];

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "ccwatch: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Connections of this host with itself, full of data. */
static void connect_all(void)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(5400),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, i;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, PAIRS))
		die("listen");
	for (i = 0; i < PAIRS; i++) {
		tx[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(tx[i], (struct sockaddr *)&at, sizeof(at)))
			die("connect");
		rx[i] = accept(listener, NULL, NULL);
		if (rx[i] < 0)
			die("accept");
	}
}

/* The window moves: less, where the control has it wait. */
static void send_some(int i)
{
	send(tx[i], data, sizeof(data), MSG_DONTWAIT);
	while (recv(rx[i], data, sizeof(data), MSG_DONTWAIT) > 0)
		;
}

/* From one control to the next, for ever. */
__attribute__((noreturn))
static void change(char **cc, int count)
{
	unsigned int i, n;

	for (n = 0;; n++)
		for (i = 0; i < PAIRS; i++) {
			const char *name = cc[(n + i) % count];

			if (setsockopt(tx[i], IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)))
				die(name);
			send_some(i);
		}
}

/* Reads a dump to its end. Return: how many sockets had attributes of ours. */
static int dump(int nl)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 req;
	} ask = {
		.head = {
			.nlmsg_len = sizeof(ask),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.req = {
			.sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 0xff,
			.idiag_states = ~0U,
		},
	};
	static char buffer[1 << 16];
	struct nlmsghdr *m;
	int ours = 0;
	ssize_t n;

	if (send(nl, &ask, sizeof(ask), 0) < 0)
		die("netlink");
	for (;;) {
		n = recv(nl, buffer, sizeof(buffer), 0);
		if (n <= 0)
			die("netlink");
		for (m = (struct nlmsghdr *)buffer; NLMSG_OK(m, (size_t)n);
		     m = NLMSG_NEXT(m, n)) {
			const struct inet_diag_msg *d = NLMSG_DATA(m);
			const struct nlattr *a = (const void *)(d + 1);
			const char *end = (const char *)m + m->nlmsg_len;

			if (m->nlmsg_type == NLMSG_DONE)
				return ours;
			if (m->nlmsg_type == NLMSG_ERROR)
				die("inet_diag");
			for (; (const char *)(a + 1) <= end && a->nla_len >= sizeof(*a);
			     a = (const void *)((const char *)a + NLA_ALIGN(a->nla_len)))
				ours += a->nla_type == FL_DIAG_ATTR;
		}
	}
}

int main(int argc, char **argv)
{
	int nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG), rounds, i, ours = 0;
	union tcp_cc_info info;
	socklen_t length;
	pid_t pid;

	if (argc < 4) {
		fputs("call: ccwatch ROUNDS CC CC...\n", stderr);
		return 2;
	}
	connect_all();
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		/* whatever ends the other one */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		change(argv + 2, argc - 2);
	}
	for (rounds = atoi(argv[1]); rounds > 0; rounds--) {
		ours += dump(nl);
		for (i = 0; i < 8 * PAIRS; i++) {
			length = sizeof(info);
			if (getsockopt(tx[i % PAIRS], IPPROTO_TCP, TCP_CC_INFO, &info, &length))
				die("TCP_CC_INFO");
		}
	}
	if (waitpid(pid, NULL, WNOHANG))
		die("the other process ended");
	kill(pid, SIGKILL);
	printf("%d answers\n", ours);
	return !ours;
}
