// SPDX-License-Identifier: GPL-2.0
/*
 * ccflow: TCP flows between two network namespaces, both ends in one process,
 * every byte that arrives compared with what was sent.
 *
 * For the lab, where time is virtual: a limit in ms means the same on any
 * machine. Prints a line for each flow,
 *
 *	flow N received BYTES gap GAP_US end END_US state done|open|aborted
 *
 * where gap is the longest time without data at the receiver, and end is when
 * the last byte came. -w BYTES@US: the application has BYTES more to send
 * every US, not everything at once. Exit status 0: all flows did what was asked,
 * 1: not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/fairlane.h>

#include "ends.h"
#include "stream.h"

#define FLOWS_MAX	512

static struct {
	const char *from, *to, *address;
	const char *cc;			/* of the sender */
	const char *switch_cc;		/* taken in turns with cc */
	const char *listener_cc;
	int flows, port, priority;
	unsigned int deadline_us;	/* 0: none is set */
	int64_t bytes;			/* of each flow, -1: until limit_ms */
	int64_t limit_ns, switch_ns, abort_ns, priority_ns;
	int64_t write_bytes;		/* offered every write_ns, 0: all at once */
	int64_t write_ns;
	int priority_then;
	long switches;
	bool priority_by_fl_so;		/* the later one, not by SO_PRIORITY */
	bool accepted_sends;
	bool close_early;		/* close with all data still queued */
} opt = {
	.address = "10.0.0.2", .flows = 1, .port = 5000, .priority = -1,
	.bytes = 1 << 20, .limit_ns = 10000000000LL, .switch_ns = -1,
	.abort_ns = -1, .priority_ns = -1,
};

static struct stream flows[FLOWS_MAX];

static void set_priority(int fd, int priority)
{
	if (priority >= 0 && setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority,
					sizeof(priority)))
		die("SO_PRIORITY %d: %s", priority, strerror(errno));
}

/* The later priority. */
static void change_priority(int fd)
{
	int priority = opt.priority_then;

	if (!opt.priority_by_fl_so)
		set_priority(fd, priority);
	else if (setsockopt(fd, IPPROTO_IP, FL_SO_PRIORITY, &priority,
			    sizeof(priority)))
		die("FL_SO_PRIORITY %d: %s", priority, strerror(errno));
}

static void set_deadline(int fd, unsigned int us)
{
	if (us && setsockopt(fd, IPPROTO_IP, FL_SO_DEADLINE_US, &us, sizeof(us)))
		die("FL_SO_DEADLINE_US %u: %s", us, strerror(errno));
}

/* The sender's control: the default if none is named. */
static void set_sender_cc(int fd)
{
	if (opt.cc)
		set_cc(fd, opt.cc);
}

/* Connects a flow; the sender's control is set before. */
static void flow_connect(struct stream *f, int listener)
{
	struct sockaddr_storage to;
	socklen_t length = parse_address(opt.address, opt.port, &to);
	int client, server;

	client = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client < 0)
		die("socket: %s", strerror(errno));
	if (!opt.accepted_sends) {
		set_sender_cc(client);
		set_priority(client, opt.priority);
		set_deadline(client, opt.deadline_us);
	}
	if (connect(client, (struct sockaddr *)&to, length))
		die("connect: %s", strerror(errno));
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (server < 0)
		die("accept: %s", strerror(errno));
	stream_open(f, f - flows, opt.accepted_sends ? server : client,
		    opt.accepted_sends ? client : server);
	if (opt.accepted_sends) {
		set_sender_cc(server);
		set_priority(server, opt.priority);
		set_deadline(server, opt.deadline_us);
	}
}

/* Listens, connects all. */
static void connect_all(void)
{
	struct sockaddr_storage at;
	socklen_t length;
	int listener, one = 1, i;

	enter(opt.to);
	length = parse_address(opt.address, opt.port, &at);
	listener = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (opt.listener_cc)
		set_cc(listener, opt.listener_cc);
	if (at.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&at)->sin6_addr = in6addr_any;
	if (bind(listener, (struct sockaddr *)&at, length) ||
	    listen(listener, 64))
		die("listen: %s", strerror(errno));
	enter(opt.from);
	for (i = 0; i < opt.flows; i++)
		flow_connect(&flows[i], listener);
	close(listener);
}

/* Bytes that each flow has been offered by now. */
static int64_t offered_bytes(void)
{
	int64_t bytes = INT64_MAX;

	if (opt.write_bytes)
		bytes = opt.write_bytes * (1 + stream_now() / opt.write_ns);
	return opt.bytes >= 0 && opt.bytes < bytes ? opt.bytes : bytes;
}

/* Writes what fits. */
static void flow_send(struct stream *f)
{
	int64_t offered = offered_bytes();

	while (f->sent_bytes < offered)
		if (!stream_send(f, offered - f->sent_bytes))
			return;
	if (opt.bytes < 0 || f->sent_bytes < opt.bytes)
		return;
	if (opt.close_early) {
		close(f->tx);
		f->tx = -1;
	} else {
		shutdown(f->tx, SHUT_WR);
	}
}

/* Resets all connections. */
static void abort_all(void)
{
	struct linger linger = { .l_onoff = 1 };
	int i;

	for (i = 0; i < opt.flows; i++) {
		if (flows[i].tx < 0)
			continue;
		setsockopt(flows[i].tx, SOL_SOCKET, SO_LINGER, &linger,
			   sizeof(linger));
		close(flows[i].tx);
		flows[i].tx = -1;
	}
}

/* Waits for events on all flows, at most until a time. */
static void wait_events(int64_t until_ns)
{
	static struct pollfd fds[2 * FLOWS_MAX];
	struct timespec ts;
	int64_t left = until_ns - stream_now(), offered = offered_bytes();
	struct stream *f;
	int i;

	for (i = 0; i < opt.flows; i++) {
		f = &flows[i];
		fds[2 * i].fd = f->sent_bytes >= offered ? -1 : f->tx;
		fds[2 * i].events = POLLOUT;
		fds[2 * i + 1].fd = f->done ? -1 : f->rx;
		fds[2 * i + 1].events = POLLIN;
	}
	if (left < 0)
		left = 0;
	ts.tv_sec = left / 1000000000;
	ts.tv_nsec = left % 1000000000;
	if (ppoll(fds, 2 * opt.flows, &ts, NULL) < 0)
		die("ppoll: %s", strerror(errno));
	for (i = 0; i < opt.flows; i++) {
		if (fds[2 * i].fd >= 0 && fds[2 * i].revents)
			flow_send(&flows[i]);
		if (fds[2 * i + 1].fd >= 0 && fds[2 * i + 1].revents)
			stream_receive(&flows[i]);
	}
}

/* Takes turns between the two controls on all flows. */
static void switch_all(void)
{
	static int turn;
	int i;

	turn = !turn;
	for (i = 0; i < opt.flows; i++)
		if (flows[i].tx >= 0)
			set_cc(flows[i].tx, turn ? opt.switch_cc : opt.cc);
}

static bool all_done(void)
{
	int i;

	for (i = 0; i < opt.flows; i++)
		if (!flows[i].done)
			return false;
	return true;
}

/* Sends and does what is due, until all is done or the limit. */
static void run(void)
{
	int64_t next_switch = opt.switch_ns, until;
	long switches = opt.switches;
	int i;

	for (i = 0; i < opt.flows; i++)
		flows[i].last_ns = stream_now();
	while (!all_done() && stream_now() < opt.limit_ns) {
		until = opt.limit_ns;
		if (switches > 0 && next_switch < until)
			until = next_switch;
		if (opt.write_bytes && (stream_now() / opt.write_ns + 1) * opt.write_ns < until)
			until = (stream_now() / opt.write_ns + 1) * opt.write_ns;
		if (opt.abort_ns >= 0 && opt.abort_ns < until)
			until = opt.abort_ns;
		if (opt.priority_ns >= 0 && opt.priority_ns < until)
			until = opt.priority_ns;
		wait_events(until);
		if (opt.abort_ns >= 0 && stream_now() >= opt.abort_ns) {
			abort_all();
			return;
		}
		if (opt.priority_ns >= 0 && stream_now() >= opt.priority_ns) {
			for (i = 0; i < opt.flows; i++)
				change_priority(flows[i].tx);
			opt.priority_ns = -1;
		}
		if (switches > 0 && stream_now() >= next_switch) {
			switch_all();
			next_switch += opt.switch_ns;
			switches--;
		}
	}
	if (opt.switches && switches)
		die("%ld switches were not made before the end", switches);
}

/* Prints a line for each flow. Return: exit status. */
static int report(void)
{
	int status = 0, i;

	for (i = 0; i < opt.flows; i++) {
		struct stream *f = &flows[i];
		bool complete = f->done && f->received_bytes == opt.bytes;
		const char *state = opt.abort_ns >= 0 ? "aborted" :
				    complete ? "done" : "open";

		printf("flow %d received %lld gap %lld end %lld state %s\n", i,
		       (long long)f->received_bytes,
		       (long long)f->gap_ns / 1000,
		       (long long)f->last_ns / 1000, state);
		if (opt.bytes >= 0 && opt.abort_ns < 0 && !complete)
			status = 1;
	}
	return status;
}

__attribute__((noreturn))
static void usage(void)
{
	fputs("call: ccflow -f NS -t NS [-a ADDRESS] [-p PORT] [-c CC] [-l LISTENER-CC]\n"
	      "	[-n FLOWS] [-b BYTES] [-q PRIORITY] [-Q PRIORITY@MS [-F]] [-L LIMIT-MS]\n"
	      "	[-S CC@TIMES@US] [-A ABORT-MS] [-D DEADLINE-US] [-w BYTES@US] [-r] [-e]\n", stderr);
	exit(2);
}

/* An option that is a number. Return: false if it is none of these. */
static bool parse_number(int c, const char *text)
{
	double value = atof(text);

	switch (c) {
	case 'p':
		opt.port = value;
		break;
	case 'n':
		opt.flows = value;
		break;
	case 'b':
		opt.bytes = value;
		break;
	case 'q':
		opt.priority = value;
		break;
	case 'L':
		opt.limit_ns = value * 1e6;
		break;
	case 'A':
		opt.abort_ns = value * 1e6;
		break;
	case 'D':
		opt.deadline_us = value;
		break;
	default:
		return false;
	}
	return true;
}

/* The other options. Return: false if it is none of these, or malformed. */
static bool parse_other(int c, char *text)
{
	static char name[16];
	double ms;
	long us, bytes;

	switch (c) {
	case 'f':
		opt.from = text;
		break;
	case 't':
		opt.to = text;
		break;
	case 'a':
		opt.address = text;
		break;
	case 'c':
		opt.cc = text;
		break;
	case 'l':
		opt.listener_cc = text;
		break;
	case 'r':
		opt.accepted_sends = true;
		break;
	case 'e':
		opt.close_early = true;
		break;
	case 'F':
		opt.priority_by_fl_so = true;
		break;
	case 'Q':
		if (sscanf(text, "%d@%lf", &opt.priority_then, &ms) != 2)
			return false;
		opt.priority_ns = ms * 1e6;
		break;
	case 'S':
		if (sscanf(text, "%15[^@]@%ld@%ld", name, &opt.switches, &us) != 3)
			return false;
		opt.switch_cc = name;
		opt.switch_ns = us * 1000LL;
		break;
	case 'w':
		if (sscanf(text, "%ld@%ld", &bytes, &us) != 2 || bytes < 1 || us < 1)
			return false;
		opt.write_bytes = bytes;
		opt.write_ns = us * 1000LL;
		break;
	default:
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	int c;

	prctl(PR_SET_TIMERSLACK, 1);
	while ((c = getopt(argc, argv, "f:t:a:p:c:l:n:b:q:Q:L:S:A:D:w:reF")) != -1)
		if (!(optarg && parse_number(c, optarg)) && !parse_other(c, optarg))
			usage();
	if (!opt.from || !opt.to || opt.flows < 1 || opt.flows > FLOWS_MAX ||
	    optind != argc)
		usage();
	stream_prepare();
	connect_all();
	stream_start();
	run();
	return report();
}
