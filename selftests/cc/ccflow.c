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
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/fairlane.h>

#define FLOWS_MAX	512
/* Length of the pattern before it repeats; prime: no buffer hides a shift. */
#define PERIOD_BYTES	65521
#define CHUNK_BYTES	65536

/**
 * struct flow - one connection
 * @tx: end that sends, -1 closed
 * @rx: end that receives
 * @sent_bytes: taken by tx
 * @received_bytes: read from rx and found right
 * @last_ns: when data came last
 * @gap_ns: longest time without data
 * @done: the receiver saw the end of the stream
 */
struct flow {
	int tx;
	int rx;
	int64_t sent_bytes;
	int64_t received_bytes;
	int64_t last_ns;
	int64_t gap_ns;
	bool done;
};

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

static struct flow flows[FLOWS_MAX];
static unsigned char pattern[PERIOD_BYTES + CHUNK_BYTES];
static unsigned char buffer[CHUNK_BYTES];
static int64_t zero_ns;

/* Ends with a sentence. */
__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "# ccflow: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

/* Time since the start, ns. */
static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec - zero_ns;
}

/* Fills the pattern that all data is a window of (xorshift64). */
static void make_pattern(void)
{
	uint64_t x = 88172645463325252ULL;
	size_t i;

	for (i = 0; i < PERIOD_BYTES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		pattern[i] = x >> 56;
	}
	for (; i < sizeof(pattern); i++)
		pattern[i] = pattern[i - PERIOD_BYTES];
}

/* What a flow has at an offset, good for CHUNK_BYTES. */
static const unsigned char *pattern_at(const struct flow *f, int64_t offset)
{
	return pattern + (offset + (f - flows) * 4099) % PERIOD_BYTES;
}

/* Changes to a namespace by name. */
static void enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("namespace %s: %s", name, strerror(errno));
	close(fd);
}

static void set_cc(int fd, const char *cc)
{
	if (cc && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die("TCP_CONGESTION %s: %s", cc, strerror(errno));
}

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

/* The address as a socket address. Return: its length. */
static socklen_t parse_address(int port, struct sockaddr_storage *to)
{
	struct sockaddr_in6 *v6 = (void *)to;
	struct sockaddr_in *v4 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, opt.address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, opt.address, &v6->sin6_addr) != 1)
		die("%s is no address", opt.address);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	return sizeof(*v6);
}

/* Connects a flow; the sender's control is set before. */
static void flow_connect(struct flow *f, int listener)
{
	struct sockaddr_storage to;
	socklen_t length = parse_address(opt.port, &to);
	int client, server;

	client = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client < 0)
		die("socket: %s", strerror(errno));
	if (!opt.accepted_sends) {
		set_cc(client, opt.cc);
		set_priority(client, opt.priority);
		set_deadline(client, opt.deadline_us);
	}
	if (connect(client, (struct sockaddr *)&to, length))
		die("connect: %s", strerror(errno));
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (server < 0)
		die("accept: %s", strerror(errno));
	f->tx = opt.accepted_sends ? server : client;
	f->rx = opt.accepted_sends ? client : server;
	if (opt.accepted_sends) {
		set_cc(server, opt.cc);
		set_priority(server, opt.priority);
		set_deadline(server, opt.deadline_us);
	}
	fcntl(f->tx, F_SETFL, O_NONBLOCK);
	fcntl(f->rx, F_SETFL, O_NONBLOCK);
}

/* Listens, connects all. */
static void connect_all(void)
{
	struct sockaddr_storage at;
	socklen_t length;
	int listener, one = 1, i;

	enter(opt.to);
	length = parse_address(opt.port, &at);
	listener = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
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
		bytes = opt.write_bytes * (1 + now() / opt.write_ns);
	return opt.bytes >= 0 && opt.bytes < bytes ? opt.bytes : bytes;
}

/* Writes what fits. */
static void flow_send(struct flow *f)
{
	int64_t offered = offered_bytes(), want;
	ssize_t n;

	while (f->sent_bytes < offered) {
		want = offered - f->sent_bytes;
		if (want > CHUNK_BYTES)
			want = CHUNK_BYTES;
		n = send(f->tx, pattern_at(f, f->sent_bytes), want, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			die("flow %d: send: %s", (int)(f - flows), strerror(errno));
		f->sent_bytes += n;
	}
	if (opt.bytes < 0 || f->sent_bytes < opt.bytes)
		return;
	if (opt.close_early) {
		close(f->tx);
		f->tx = -1;
	} else {
		shutdown(f->tx, SHUT_WR);
	}
}

/* Reads what is there and compares. */
static void flow_receive(struct flow *f)
{
	int64_t t = now();
	ssize_t n;

	while ((n = recv(f->rx, buffer, sizeof(buffer), 0)) > 0) {
		if (memcmp(buffer, pattern_at(f, f->received_bytes), n))
			die("flow %d: wrong data after byte %lld", (int)(f - flows),
			    (long long)f->received_bytes);
		f->received_bytes += n;
		if (t - f->last_ns > f->gap_ns)
			f->gap_ns = t - f->last_ns;
		f->last_ns = t;
	}
	if (n == 0)
		f->done = true;
	else if (errno != EAGAIN)
		die("flow %d: recv: %s", (int)(f - flows), strerror(errno));
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
	int64_t left = until_ns - now(), offered = offered_bytes();
	struct flow *f;
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
			flow_receive(&flows[i]);
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
		flows[i].last_ns = now();
	while (!all_done() && now() < opt.limit_ns) {
		until = opt.limit_ns;
		if (switches > 0 && next_switch < until)
			until = next_switch;
		if (opt.write_bytes && (now() / opt.write_ns + 1) * opt.write_ns < until)
			until = (now() / opt.write_ns + 1) * opt.write_ns;
		if (opt.abort_ns >= 0 && opt.abort_ns < until)
			until = opt.abort_ns;
		if (opt.priority_ns >= 0 && opt.priority_ns < until)
			until = opt.priority_ns;
		wait_events(until);
		if (opt.abort_ns >= 0 && now() >= opt.abort_ns) {
			abort_all();
			return;
		}
		if (opt.priority_ns >= 0 && now() >= opt.priority_ns) {
			for (i = 0; i < opt.flows; i++)
				change_priority(flows[i].tx);
			opt.priority_ns = -1;
		}
		if (switches > 0 && now() >= next_switch) {
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
		struct flow *f = &flows[i];
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
	make_pattern();
	connect_all();
	zero_ns = now();
	run();
	return report();
}
