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
#include <fcntl.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/fairlane.h>

#define FLOWS_MAX	1024
#define CHUNK_BYTES	65536
/* Prime: no buffer hides a shift. */
#define PERIOD_BYTES	65521
/* How often limited applications write. */
#define TICK_NS		100000
#define DATAGRAM_BYTES	1400
#define PORT		5300

/**
 * struct flow - one connection
 * @tx: end that sends
 * @rx: end that receives
 * @sent: bytes that tx took
 * @received: bytes that came, all right
 * @marked: @received at the last mark
 * @last_ns: when data came last
 * @gap_ns: longest time without, since the last mark
 * @retrans: retransmissions until the last mark
 * @mbps: what the application writes; -1: all it can
 * @budget: bytes it may write still
 */
struct flow {
	int tx;
	int rx;
	int64_t sent;
	int64_t received;
	int64_t marked;
	int64_t last_ns;
	int64_t gap_ns;
	uint32_t retrans;
	double mbps;
	double budget;
};

static struct flow flows[FLOWS_MAX];
static int flow_count;
static const char *address;
static unsigned char pattern[PERIOD_BYTES + CHUNK_BYTES];
static unsigned char buffer[CHUNK_BYTES];
static int64_t zero_ns;
static int udp = -1;
static double udp_mbps, udp_budget;
static int raw_tx[FLOWS_MAX], raw_rx;

/* Ends with a sentence. */
__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "# szflow: ");
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

static const unsigned char *pattern_at(const struct flow *f, int64_t offset)
{
	return pattern + (offset + (f - flows) * 4099) % PERIOD_BYTES;
}

static void set_cc(int fd, const char *cc)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die("TCP_CONGESTION %s: %s", cc, strerror(errno));
}

/* The receiver's address and a port. Return: its length. */
static socklen_t parse_address(int port, struct sockaddr_storage *to)
{
	struct sockaddr_in6 *v6 = (void *)to;
	struct sockaddr_in *v4 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, address, &v6->sin6_addr) != 1)
		die("%s is no address", address);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	return sizeof(*v6);
}

/* Connects all, in turns from the namespaces of the list. */
static void connect_all(char *from, const char *to)
{
	const char *names[16], *name;
	struct sockaddr_storage at;
	int listener, count = 0, one = 1, i;
	socklen_t length;

	enter(to);
	length = parse_address(PORT, &at);
	raw_rx = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	listener = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
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
		f->tx = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (f->tx < 0)
			die("socket: %s", strerror(errno));
		set_cc(f->tx, "soze");
		if (connect(f->tx, (struct sockaddr *)&at, length))
			die("connect: %s", strerror(errno));
		f->rx = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (f->rx < 0)
			die("accept: %s", strerror(errno));
		fcntl(f->tx, F_SETFL, O_NONBLOCK);
		fcntl(f->rx, F_SETFL, O_NONBLOCK);
		f->mbps = -1;
	}
	close(listener);
}

/* May the flow write, and how much? */
static int64_t may_send(const struct flow *f)
{
	if (f->mbps < 0)
		return CHUNK_BYTES;
	return f->budget < 1 ? 0 : f->budget > CHUNK_BYTES ? CHUNK_BYTES : f->budget;
}

/* Writes what fits. */
static void flow_send(struct flow *f)
{
	int64_t want;
	ssize_t n;

	while ((want = may_send(f)) > 0) {
		n = send(f->tx, pattern_at(f, f->sent), want, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			die("flow %d: send: %s", (int)(f - flows), strerror(errno));
		f->sent += n;
		if (f->mbps >= 0)
			f->budget -= n;
	}
}

/* Reads what is there and compares. */
static void flow_receive(struct flow *f)
{
	int64_t t = now();
	ssize_t n;

	while ((n = recv(f->rx, buffer, sizeof(buffer), 0)) > 0) {
		if (memcmp(buffer, pattern_at(f, f->received), n))
			die("flow %d: wrong data after byte %lld", (int)(f - flows),
			    (long long)f->received);
		f->received += n;
		if (t - f->last_ns > f->gap_ns)
			f->gap_ns = t - f->last_ns;
		f->last_ns = t;
	}
	if (!n || errno != EAGAIN)
		die("flow %d: recv: %s", (int)(f - flows), n ? strerror(errno) : "end");
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
	length = parse_address(PORT + 1, &to);
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

	for (t = now(); t < until_ns; t = now()) {
		limited = refill(t - filled_ns);
		filled_ns = t;
		for (i = 0; i < flow_count; i++) {
			fds[2 * i].fd = may_send(&flows[i]) ? flows[i].tx : -1;
			fds[2 * i].events = POLLOUT;
			fds[2 * i + 1].fd = flows[i].rx;
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
	int64_t t = now();

	getsockopt(f->tx, IPPROTO_TCP, TCP_INFO, &ti, &length);
	length = sizeof(fi);
	getsockopt(f->tx, IPPROTO_IP, FL_SO_INFO, &fi, &length);
	if (t - f->last_ns > f->gap_ns)
		f->gap_ns = t - f->last_ns;
	printf("mark %g flow %d bytes %lld gap %lld retrans %u queue %u fallback %d\n", ms,
	       (int)(f - flows), (long long)(f->received - f->marked),
	       (long long)f->gap_ns / 1000, ti.tcpi_total_retrans - f->retrans,
	       fi.queue_ns, fi.state == FL_STATE_FALLBACK);
	f->marked = f->received;
	f->retrans = ti.tcpi_total_retrans;
	f->gap_ns = 0;
	f->last_ns = t;
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
		if (setsockopt(f->tx, IPPROTO_IP, FL_SO_WEIGHT, &weight, sizeof(weight)))
			die("FL_SO_WEIGHT %d: %s", weight, strerror(errno));
	} else if (!strncmp(what, "mbps=", 5)) {
		f->mbps = value;
		f->budget = 0;
	} else if (!strncmp(what, "cc=", 3)) {
		set_cc(f->tx, what + 3);
	} else if (!strncmp(what, "inject=", 7)) {
		send_ack(raw_tx[f - flows], f->tx, f->rx, what + 7);
		send_ack(raw_rx, f->rx, f->tx, what + 7);
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
	make_pattern();
	connect_all(argv[1], argv[2]);
	zero_ns = now();
	for (i = 5; i < argc; i++)
		take_event(argv[i]);
	return 0;
}
