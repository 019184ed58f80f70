// SPDX-License-Identifier: GPL-2.0
/*
 * szflow: Söze flows between network namespaces, whose weight, rate and congestion
 * control change at given times; what each got in between. Both ends in one
 * process.
 *
 *	szflow FROM[,FROM...] TO ADDRESS FLOWS MS:FLOW:WHAT...
 *
 * Flow i comes from the i-th FROM, in turns; FLOW is a number or "all". WHAT, in
 * the order of the times:
 *
 *	weight=W	by FL_SO_WEIGHT
 *	mbps=R		the application writes R Mbit/s; 0: nothing; -1: all it can
 *	cc=NAME		congestion control; all start with soze
 *	inject=HEX	a segment with these options and no data to both ends
 *	udp=R		R Mbit/s of UDP from the first FROM; FLOW is ignored
 *	mark		a line for each of the flows since the last mark:
 *
 * mark MS flow N bytes B gap GAP_US retrans R queue NS fallback 0|1, where gap is the
 * longest time without data at the receiver and queue the delay told last. Ends with
 * the last event. All data is compared with what was sent. Exit status 0, or 1 with a
 * sentence.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/fairlane.h>

#include "ends.h"
#include "stream.h"

#define FLOWS_MAX	1024
/* How often limited applications write. */
#define TICK_NS		100000
#define DATAGRAM_BYTES	1400
#define PORT		5300

/**
 * struct flow - one connection
 * @s: its ends and data; @s.gap_ns since the last mark
 * @marked_bytes: received until the last mark
 * @retrans: retransmissions until the last mark
 * @mbps: what the application writes; -1: all it can
 * @budget: bytes it may write still
 */
struct flow {
	struct stream s;
	int64_t marked_bytes;
	uint32_t retrans;
	double mbps;
	double budget;
};

static struct flow flows[FLOWS_MAX];
static int flow_count;
static const char *address;
static int udp = -1;
static double udp_mbps, udp_budget;
static int raw_tx[FLOWS_MAX], raw_rx;

/* Connects all, in turns from the namespaces of the list. */
static void connect_all(char *from, const char *to)
{
	const char *names[16], *name;
	struct sockaddr_storage at;
	int listener, tx, rx, count = 0, one = 1, i;
	socklen_t length;

	length = parse_address(address, PORT, &at);
	listener = socket_in(to, at.ss_family, SOCK_STREAM);
	raw_rx = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&at, length) || listen(listener, 64))
		die("listen: %s", strerror(errno));
	for (name = strtok(from, ","); name && count < 16; name = strtok(NULL, ","))
		names[count++] = name;
	for (i = 0; i < flow_count; i++) {
		struct flow *f = &flows[i];

		enter(names[i % count]);
		if (!i)
			udp = socket(at.ss_family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
		raw_tx[i] = i < count ? socket(AF_INET, SOCK_RAW, IPPROTO_TCP) :
					raw_tx[i - count];
		tx = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (tx < 0)
			die("socket: %s", strerror(errno));
		set_cc(tx, "soze");
		if (connect(tx, (struct sockaddr *)&at, length))
			die("connect: %s", strerror(errno));
		rx = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (rx < 0)
			die("accept: %s", strerror(errno));
		stream_open(&f->s, i, tx, rx);
		f->mbps = -1;
	}
	close(listener);
}

/* May the flow write, and how much? */
static int64_t may_send(const struct flow *f)
{
	if (f->mbps < 0)
		return STREAM_CHUNK_BYTES;
	return f->budget < 1 ? 0 : f->budget > STREAM_CHUNK_BYTES ? STREAM_CHUNK_BYTES : f->budget;
}

/* Writes what fits. */
static void flow_send(struct flow *f)
{
	int64_t want, n;

	while ((want = may_send(f)) > 0) {
		n = stream_send(&f->s, want);
		if (!n)
			return;
		if (f->mbps >= 0)
			f->budget -= n;
	}
}

/* Reads what is there; no stream ends before the program does. */
static void flow_receive(struct flow *f)
{
	stream_receive(&f->s);
	if (f->s.done)
		die("flow %d: recv: end", f->s.number);
}

/* What applications have to write after @ns. Return: is any of them limited? */
static bool refill(int64_t ns)
{
	static const char data[DATAGRAM_BYTES];
	struct sockaddr_storage to;
	bool limited = udp_mbps > 0;
	socklen_t length;
	int i;

	for (i = 0; i < flow_count; i++) {
		if (flows[i].mbps <= 0)
			continue;
		limited = true;
		flows[i].budget += flows[i].mbps * ns / 8000;
	}
	udp_budget += udp_mbps * ns / 8000;
	length = parse_address(address, PORT + 1, &to);
	for (; udp_budget >= DATAGRAM_BYTES; udp_budget -= DATAGRAM_BYTES)
		sendto(udp, data, sizeof(data), 0, (struct sockaddr *)&to, length);
	return limited;
}

/* Sends and receives until a time. */
static void run_until(int64_t until_ns)
{
	static struct pollfd fds[2 * FLOWS_MAX];
	static int64_t filled_ns;
	int64_t t, left;
	bool limited;
	int i;

	for (t = stream_now(); t < until_ns; t = stream_now()) {
		limited = refill(t - filled_ns);
		filled_ns = t;
		for (i = 0; i < flow_count; i++) {
			fds[2 * i].fd = may_send(&flows[i]) ? flows[i].s.tx : -1;
			fds[2 * i].events = POLLOUT;
			fds[2 * i + 1].fd = flows[i].s.rx;
			fds[2 * i + 1].events = POLLIN;
		}
		left = until_ns - t;
		if (limited && left > TICK_NS)
			left = TICK_NS;
		if (ppoll(fds, 2 * flow_count,
			  &(struct timespec){ left / 1000000000, left % 1000000000 },
			  NULL) < 0)
			die("ppoll: %s", strerror(errno));
		for (i = 0; i < flow_count; i++) {
			if (fds[2 * i].fd >= 0 && fds[2 * i].revents)
				flow_send(&flows[i]);
			if (fds[2 * i + 1].revents)
				flow_receive(&flows[i]);
		}
	}
}

/* A line for a flow. */
static void report_flow(struct flow *f, double ms)
{
	struct fl_info fi = { 0 };
	struct tcp_info ti = { 0 };
	socklen_t length = sizeof(ti);

	getsockopt(f->s.tx, IPPROTO_TCP, TCP_INFO, &ti, &length);
	length = sizeof(fi);
	getsockopt(f->s.tx, IPPROTO_IP, FL_SO_INFO, &fi, &length);
	stream_note_gap(&f->s, stream_now());
	printf("mark %g flow %d bytes %lld gap %lld retrans %u queue %u fallback %d\n", ms,
	       f->s.number, (long long)(f->s.received_bytes - f->marked_bytes),
	       (long long)f->s.gap_ns / 1000, ti.tcpi_total_retrans - f->retrans,
	       fi.queue_ns, fi.state == FL_STATE_FALLBACK);
	f->marked_bytes = f->s.received_bytes;
	f->retrans = ti.tcpi_total_retrans;
	f->s.gap_ns = 0;
}

/* Sequence number of a socket's queue: what it writes next, or awaits. */
static uint32_t sequence(int fd, int queue)
{
	int on = TCP_REPAIR_ON, off = TCP_REPAIR_OFF_NO_WP, one = 1;
	socklen_t length = sizeof(uint32_t);
	uint32_t value;

	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)) ||
	    getsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &value, &length) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)) ||
	    /* which repair has taken away */
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		die("TCP_REPAIR: %s", strerror(errno));
	return value;
}

static uint32_t sum16(const unsigned char *at, size_t bytes, uint32_t sum)
{
	for (; bytes > 1; bytes -= 2, at += 2)
		sum += at[0] << 8 | at[1];
	return sum;
}

/* An ACK from one end of a connection to the other, with options. */
static void send_ack(int raw, int from, int to, const char *hex)
{
	unsigned char head[12 + 60] = { 0 }, *th = head + 12;
	struct sockaddr_in source, target;
	socklen_t length = sizeof(source);
	uint32_t value, sum;
	unsigned int byte;
	int bytes = 20;

	getsockname(from, (struct sockaddr *)&source, &length);
	getpeername(from, (struct sockaddr *)&target, &length);
	for (; bytes < 60 && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		th[bytes++] = byte;
	if (*hex || bytes % 4)
		die("options: %s", hex);
	memcpy(head, &source.sin_addr, 4);
	memcpy(head + 4, &target.sin_addr, 4);
	head[9] = IPPROTO_TCP;
	head[11] = bytes;
	memcpy(th, &source.sin_port, 2);
	memcpy(th + 2, &target.sin_port, 2);
	value = htonl(sequence(to, TCP_RECV_QUEUE));
	memcpy(th + 4, &value, 4);
	value = htonl(sequence(from, TCP_RECV_QUEUE));
	memcpy(th + 8, &value, 4);
	th[12] = bytes / 4 << 4;
	th[13] = 0x10;
	th[14] = 0xff;
	sum = sum16(head, 12 + bytes, 0);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	th[16] = sum >> 8;
	th[17] = sum;
	target.sin_port = 0;
	if (sendto(raw, th, bytes, 0, (struct sockaddr *)&target, sizeof(target)) != bytes)
		die("inject: %s", strerror(errno));
}

/* Does to one flow what an event says. */
static void act(struct flow *f, double ms, const char *what)
{
	double value = strchr(what, '=') ? atof(strchr(what, '=') + 1) : 0;
	int weight = value * FL_WEIGHT_ONE_MILLI + 0.5;

	if (!strcmp(what, "mark")) {
		report_flow(f, ms);
	} else if (!strncmp(what, "weight=", 7)) {
		if (setsockopt(f->s.tx, IPPROTO_IP, FL_SO_WEIGHT, &weight, sizeof(weight)))
			die("FL_SO_WEIGHT %d: %s", weight, strerror(errno));
	} else if (!strncmp(what, "mbps=", 5)) {
		f->mbps = value;
		f->budget = 0;
	} else if (!strncmp(what, "cc=", 3)) {
		set_cc(f->s.tx, what + 3);
	} else if (!strncmp(what, "inject=", 7)) {
		send_ack(raw_tx[f - flows], f->s.tx, f->s.rx, what + 7);
		send_ack(raw_rx, f->s.rx, f->s.tx, what + 7);
	} else if (!strncmp(what, "udp=", 4)) {
		udp_mbps = value;
	} else {
		die("event %s", what);
	}
}

/* Waits until an event is due and makes it happen. */
static void take_event(const char *text)
{
	char which[16], what[100];
	double ms;
	int i, k;

	if (sscanf(text, "%lf:%15[^:]:%99s", &ms, which, what) != 3)
		die("event %s", text);
	run_until(ms * 1e6);
	k = atoi(which);
	for (i = 0; i < flow_count; i++)
		if (i == k || !strcmp(which, "all"))
			act(&flows[i], ms, what);
}

int main(int argc, char **argv)
{
	struct rlimit files = { 4 * FLOWS_MAX, 4 * FLOWS_MAX };
	int i;

	if (argc < 6)
		die("call: szflow FROM[,FROM...] TO ADDRESS FLOWS MS:FLOW:WHAT...");
	prctl(PR_SET_TIMERSLACK, 1);
	setrlimit(RLIMIT_NOFILE, &files);
	address = argv[3];
	flow_count = atoi(argv[4]);
	if (flow_count < 1 || flow_count > FLOWS_MAX)
		die("%s flows", argv[4]);
	stream_prepare();
	connect_all(argv[1], argv[2]);
	stream_start();
	for (i = 5; i < argc; i++)
		take_event(argv[i]);
	return 0;
}
