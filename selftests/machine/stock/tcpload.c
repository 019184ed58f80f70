// SPDX-License-Identifier: GPL-2.0
/*
 * tcpload: TCP connections between two network namespaces, both ends in one
 * process, everything that arrives compared with what was sent.
 *
 * For stock kernels in real time: there is no clock in it, it waits for events
 * only, so a slow machine changes nothing but the time it takes. It is linked
 * statically to run in an initramfs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
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
#include <sys/socket.h>
#include <unistd.h>

#define FLOWS_MAX	64
/* Length of the pattern before it repeats; prime, so no buffer size hides a shift. */
#define PERIOD_BYTES	65521
#define CHUNK_BYTES	65536

/**
 * struct flow - one connection at a time, and the next one after it
 * @listener: socket that accepts it
 * @tx: sending socket, -1 if none
 * @rx: receiving socket, -1 before it is accepted
 * @connected: tx has got its SYN ACK
 * @sent_bytes: accepted by tx
 * @received_bytes: read from rx and found right
 * @wanted_bytes: to be sent
 * @abort_at: bytes received after which an end is aborted, -1 never
 * @abort_rx: it is the receiving end that aborts
 */
struct flow {
	int listener;
	int tx;
	int rx;
	bool connected;
	int64_t sent_bytes;
	int64_t received_bytes;
	int64_t wanted_bytes;
	int64_t abort_at;
	bool abort_rx;
};

static struct {
	const char *cc;
	const char *address;
	int from_ns, to_ns;
	int port;
	int flows;
	int priority;
	int priorities;
	int64_t bytes;
	long storm;		/* connections to make and abort */
	bool hold;		/* keep the connections full until stdin ends */
} opt = {
	.from_ns = -1, .to_ns = -1, .port = 5000, .flows = 4, .bytes = 1 << 20,
	.priorities = 1,
};

static struct flow flows[FLOWS_MAX];
static unsigned char pattern[PERIOD_BYTES + CHUNK_BYTES];
static uint64_t random_state = 88172645463325252ULL;
static long connections_begun, connections_done, connections_aborted;

/* Ends with a sentence. */
__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "tcpload: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

/* The same numbers in each run (xorshift64). */
static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Fills the pattern that all data is a window of. */
static void make_pattern(void)
{
	size_t i;

	for (i = 0; i < PERIOD_BYTES; i++)
		pattern[i] = random_next() >> 56;
	for (; i < sizeof(pattern); i++)
		pattern[i] = pattern[i - PERIOD_BYTES];
}

/* What a flow has at an offset, good for CHUNK_BYTES. */
static const unsigned char *pattern_at(const struct flow *flow, int64_t offset)
{
	return pattern + (offset + (flow - flows) * 4099) % PERIOD_BYTES;
}

/* A non-blocking TCP socket in a namespace (-1: in the present one). */
static int make_socket(int ns)
{
	int fd;

	if (ns >= 0 && setns(ns, CLONE_NEWNET))
		die("setns: %s", strerror(errno));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	return fd;
}

static void set_option(int fd, int level, int name, const void *value,
		       socklen_t size, const char *what)
{
	if (setsockopt(fd, level, name, value, size))
		die("%s: %s", what, strerror(errno));
}

static struct sockaddr_in address_of(const struct flow *flow)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(opt.port + (flow - flows)),
	};

	if (inet_pton(AF_INET, opt.address, &to.sin_addr) != 1)
		die("%s is not an IPv4 address", opt.address);
	return to;
}

/* Opens the listening socket of a flow, once. */
static void flow_listen(struct flow *flow)
{
	struct sockaddr_in at = address_of(flow);
	int one = 1;

	flow->listener = make_socket(opt.to_ns);
	set_option(flow->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one),
		   "SO_REUSEADDR");
	if (bind(flow->listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(flow->listener, 8))
		die("listen on %s: %s", opt.address, strerror(errno));
}

/* Starts a connection. */
static void flow_connect(struct flow *flow)
{
	struct sockaddr_in to = address_of(flow);
	int priority = opt.priority + (flow - flows) % opt.priorities;
	char name[16] = "";
	socklen_t size = sizeof(name);

	flow->tx = make_socket(opt.from_ns);
	flow->rx = -1;
	flow->connected = false;
	flow->sent_bytes = 0;
	flow->received_bytes = 0;
	flow->wanted_bytes = opt.bytes;
	flow->abort_at = -1;
	if (opt.storm) {
		flow->abort_at = random_next() % opt.bytes;
		flow->abort_rx = random_next() & 1;
	}
	set_option(flow->tx, SOL_SOCKET, SO_PRIORITY, &priority,
		   sizeof(priority), "SO_PRIORITY");
	if (opt.cc) {
		set_option(flow->tx, IPPROTO_TCP, TCP_CONGESTION, opt.cc,
			   strlen(opt.cc), opt.cc);
		if (getsockopt(flow->tx, IPPROTO_TCP, TCP_CONGESTION, name, &size) ||
		    strcmp(name, opt.cc))
			die("asked for %s, got %s", opt.cc, name);
	}
	if (connect(flow->tx, (struct sockaddr *)&to, sizeof(to)) &&
	    errno != EINPROGRESS)
		die("connect: %s", strerror(errno));
	connections_begun++;
}

/* Closes an end, at once and with a reset if asked for. */
static void close_end(int *fd, bool reset)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	if (*fd < 0)
		return;
	if (reset)
		set_option(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once),
			   "SO_LINGER");
	close(*fd);
	*fd = -1;
}

/* The connection is over: the next one, if any is left to make. */
static void flow_done(struct flow *flow)
{
	close_end(&flow->tx, false);
	close_end(&flow->rx, false);
	connections_done++;
	if (opt.storm && connections_begun < opt.storm)
		flow_connect(flow);
}

/*
 * A call failed. In a storm the other end may have gone away, which ends the
 * connection; anything else is a fault.
 */
static void flow_failed(struct flow *flow, const char *what)
{
	if (!opt.storm || (errno != ECONNRESET && errno != EPIPE))
		die("flow %td after %lld bytes: %s: %s", flow - flows,
		    (long long)flow->received_bytes, what, strerror(errno));
	flow_done(flow);
}

/* Sends as much as fits. */
static void flow_send(struct flow *flow)
{
	int error = 0;
	socklen_t size = sizeof(error);
	ssize_t done;
	int64_t left;

	if (!flow->connected) {
		getsockopt(flow->tx, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error) {
			errno = error;
			flow_failed(flow, "connect");
			return;
		}
		flow->connected = true;
	}
	left = flow->wanted_bytes - flow->sent_bytes;
	if (opt.hold || left > CHUNK_BYTES)
		left = CHUNK_BYTES;
	done = send(flow->tx, pattern_at(flow, flow->sent_bytes), left,
		    MSG_NOSIGNAL);
	if (done < 0) {
		if (errno != EAGAIN)
			flow_failed(flow, "send");
		return;
	}
	flow->sent_bytes += done;
	if (!opt.hold && flow->sent_bytes == flow->wanted_bytes &&
	    shutdown(flow->tx, SHUT_WR))
		flow_failed(flow, "shutdown");
}

/* Reads what has come, compares, aborts if it is time for that. */
static void flow_receive(struct flow *flow)
{
	static unsigned char buffer[CHUNK_BYTES];
	ssize_t done = recv(flow->rx, buffer, sizeof(buffer), 0);

	if (done < 0) {
		if (errno != EAGAIN)
			flow_failed(flow, "receive");
		return;
	}
	if (!done) {
		if (flow->received_bytes != flow->wanted_bytes && !opt.storm)
			die("flow %td ended after %lld of %lld bytes",
			    flow - flows, (long long)flow->received_bytes,
			    (long long)flow->wanted_bytes);
		flow_done(flow);
		return;
	}
	if (memcmp(buffer, pattern_at(flow, flow->received_bytes), done))
		die("flow %td: wrong data after %lld bytes", flow - flows,
		    (long long)flow->received_bytes);
	flow->received_bytes += done;
	if (flow->abort_at >= 0 && flow->received_bytes > flow->abort_at) {
		connections_aborted++;
		close_end(flow->abort_rx ? &flow->rx : &flow->tx, true);
		if (flow->abort_rx && flow->tx >= 0 && !flow->connected)
			die("data before the connection was made");
		if (flow->rx < 0 || flow->tx < 0)
			flow_done(flow);
	}
}

/* Takes the connection that has come for a flow. */
static void flow_accept(struct flow *flow)
{
	int fd = accept4(flow->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno != EAGAIN && errno != ECONNABORTED)
			die("accept: %s", strerror(errno));
		return;
	}
	/* One that was aborted before we looked is of no interest. */
	close_end(&flow->rx, false);
	flow->rx = fd;
}

/* Does what the events of a flow ask for. */
static void flow_events(struct flow *flow, const struct pollfd *poll_fds)
{
	if (poll_fds[0].revents)
		flow_accept(flow);
	if (poll_fds[1].revents && poll_fds[1].fd == flow->rx)
		flow_receive(flow);
	if (poll_fds[2].revents && poll_fds[2].fd == flow->tx &&
	    (opt.hold || !flow->connected ||
	     flow->sent_bytes < flow->wanted_bytes))
		flow_send(flow);
}

/* Fills in what a flow waits for. */
static void flow_wait_for(const struct flow *flow, struct pollfd *poll_fds)
{
	bool sending = opt.hold || !flow->connected ||
		       flow->sent_bytes < flow->wanted_bytes;

	poll_fds[0] = (struct pollfd){ .fd = flow->listener, .events = POLLIN };
	poll_fds[1] = (struct pollfd){ .fd = flow->rx, .events = POLLIN };
	poll_fds[2] = (struct pollfd){ .fd = sending ? flow->tx : -1,
				       .events = POLLOUT };
}

/* Everything is done, or, holding, stdin has ended. */
static bool finished(const struct pollfd *in)
{
	if (opt.hold)
		return in->revents;
	return connections_done == (opt.storm ? opt.storm : opt.flows);
}

static void run(void)
{
	struct pollfd poll_fds[1 + 3 * FLOWS_MAX] = { 0 };
	bool said = false;
	int i, ready;

	for (i = 0; i < opt.flows; i++) {
		flow_listen(&flows[i]);
		flow_connect(&flows[i]);
	}
	while (!finished(&poll_fds[0])) {
		poll_fds[0] = (struct pollfd){ .fd = opt.hold ? 0 : -1,
					       .events = POLLIN };
		for (i = 0; i < opt.flows; i++)
			flow_wait_for(&flows[i], &poll_fds[1 + 3 * i]);
		if (poll(poll_fds, 1 + 3 * opt.flows, -1) < 0)
			die("poll: %s", strerror(errno));
		ready = 0;
		for (i = 0; i < opt.flows; i++) {
			flow_events(&flows[i], &poll_fds[1 + 3 * i]);
			ready += flows[i].received_bytes > CHUNK_BYTES;
		}
		if (opt.hold && !said && ready == opt.flows) {
			said = true;
			printf("holding\n");
			fflush(stdout);
		}
	}
}

static int open_namespace(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

static long long parse_number(const char *text, long long min, long long max)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end || end == text || value < min || value > max)
		die("%s: expected a number from %lld to %lld", text, min, max);
	return value;
}

static void explain(void)
{
	fprintf(stderr,
		"Usage: tcpload -a ADDRESS [-f NETNS] [-t NETNS] [-c CC] [-n FLOWS] [-b BYTES]\n"
		"               [-p PORT] [-q PRIORITY] [-Q PRIORITIES] [-s CONNECTIONS | -h]\n"
		"  -f, -t   namespaces of senders and receivers\n"
		"  -a       address the receivers listen at\n"
		"  -c       congestion control of the senders\n"
		"  -n, -b   flows at once, bytes each\n"
		"  -q, -Q   first SO_PRIORITY, number of them (flows take turns)\n"
		"  -s       abort storm: so many connections, each reset by one end somewhere\n"
		"  -h       hold: print \"holding\" once data flows, go on until stdin ends\n");
	exit(2);
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "a:f:t:c:n:b:p:q:Q:s:h")) != -1) {
		switch (c) {
		case 'a':
			opt.address = optarg;
			break;
		case 'f':
			opt.from_ns = open_namespace(optarg);
			break;
		case 't':
			opt.to_ns = open_namespace(optarg);
			break;
		case 'c':
			opt.cc = optarg;
			break;
		case 'n':
			opt.flows = parse_number(optarg, 1, FLOWS_MAX);
			break;
		case 'b':
			opt.bytes = parse_number(optarg, 1, INT64_MAX);
			break;
		case 'p':
			opt.port = parse_number(optarg, 1, 65535 - FLOWS_MAX);
			break;
		case 'q':
			opt.priority = parse_number(optarg, 0, 15);
			break;
		case 'Q':
			opt.priorities = parse_number(optarg, 1, 16);
			break;
		case 's':
			opt.storm = parse_number(optarg, 1, INT32_MAX);
			break;
		case 'h':
			opt.hold = true;
			break;
		default:
			explain();
		}
	}
	if (!opt.address || optind != argc || (opt.hold && opt.storm))
		explain();
	if (opt.storm && opt.storm < opt.flows)
		opt.flows = opt.storm;
	make_pattern();
	run();
	printf("%ld connections, %ld aborted\n", connections_begun,
	       connections_aborted);
	return 0;
}
