// SPDX-License-Identifier: GPL-2.0
/*
 * flowgen: TCP flows between network namespaces, both ends in one process, every byte
 * that arrives compared with what was sent. Call it without arguments for the options.
 *
 * MS:FLOW:WHAT are events in the order of their times, FLOW is a number or "all":
 *
 *	priority=P	by SO_PRIORITY
 *	fl_priority=P	by FL_SO_PRIORITY
 *	weight=W	by FL_SO_WEIGHT
 *	cc=NAME		congestion control
 *	pace=R		SO_MAX_PACING_RATE of R MB/s; 0: none
 *	mbps=R		the application writes R Mbit/s; 0: nothing; -1: all it can
 *	inject=HEX	a segment with these options and no data to both ends
 *	udp=R		R Mbit/s of UDP from the first sender's namespace; FLOW is ignored
 *	abort		reset; the program ends with it
 *	mark		a line for each of the flows since the last mark:
 *
 * mark MS flow N bytes B gap GAP_US retrans R queue NS fallback 0|1, where gap is the
 * longest time without data at the receiver and queue the delay told last. Without
 * marks a line for each flow at the end:
 *
 * flow N received BYTES gap GAP_US end END_US retrans R state done|open|aborted
 *
 * where end is when the last byte came. Ends when all flows are done, at the limit, or
 * with the last event. Times are those of the kernel's clock: virtual in the lab; what
 * has no limit (-L 0, -h, -s) waits for nothing but data, however slow the machine. -g is
 * the limit of each flow's silence: while it has data that has not come, something comes.
 * Exit status 0: all flows did what was asked, 1: not, with a sentence.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/fairlane.h>

#include "ends.h"
#include "inject.h"
#include "stream.h"

#define SENDERS_MAX	16
/* How often applications of a given rate write. */
#define TICK_NS		100000
#define DATAGRAM_BYTES	1400
/* Of -B: as much as is wanted, and the receiver wakes up for as much. */
#define LOWAT_BYTES	524288

/**
 * struct flow - one connection
 * @s: its ends and data; @s.gap_ns since the last mark
 * @marked_bytes: received until the last mark
 * @retrans: retransmissions until the last mark
 * @mbps: what the application writes; -1: all it can
 * @budget: bytes it may write still
 * @abort_at: bytes received after which an end resets, in a storm
 * @owes_ns: since when data waits or is on its way of which nothing has come
 * @shut: the sender is done
 */
struct flow {
	struct stream s;
	int64_t marked_bytes;
	uint32_t retrans;
	double mbps;
	double budget;
	int64_t abort_at;
	int64_t owes_ns;
	bool shut;
};

static struct {
	const char *from[SENDERS_MAX], *to, *address;
	int senders;
	const char *cc;			/* of the sender */
	const char *listener_cc;
	char switch_cc[16];		/* taken in turns with cc */
	int flows, port, priority, priorities, buffer_bytes;
	unsigned int deadline_us;	/* 0: none is set */
	int64_t bytes;			/* of each flow, -1: until the end */
	int64_t limit_ns, switch_ns;
	int64_t silence_ns;		/* longest of a flow that has data, 0: any */
	int64_t write_bytes;		/* offered every write_ns, 0: all at once */
	int64_t write_ns;
	long switches, storm;
	bool accepted_sends;
	bool close_early;		/* close with all data still queued */
	bool hold;			/* keep the connections until stdin ends */
	bool drain;			/* and until all has come that was sent till then */
} opt = {
	.address = "10.0.0.2", .flows = 1, .port = 5000, .priority = -1, .priorities = 1,
	.bytes = INT64_MAX, .limit_ns = -1,
};

static struct flow *flows;
static int listener, udp = -1;
static double udp_mbps, udp_budget;
static long begun, reset;
static bool aborted, marked;
static uint64_t random_state = 88172645463325252ULL;

static void set(int fd, int level, int name, int value, const char *what)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("%s %d: %s", what, value, strerror(errno));
}

/* The same numbers in each run (xorshift64). */
static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const char *sender_ns(const struct flow *f)
{
	return opt.senders ? opt.from[(f - flows) % opt.senders] : NULL;
}

/* A TCP socket in a namespace (NULL: this one). */
static int tcp_socket(const char *ns, int family)
{
	int fd;

	if (ns)
		enter(ns);
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	if (opt.buffer_bytes) {
		set(fd, SOL_SOCKET, SO_RCVBUFFORCE, opt.buffer_bytes, "SO_RCVBUFFORCE");
		set(fd, SOL_SOCKET, SO_SNDBUFFORCE, opt.buffer_bytes, "SO_SNDBUFFORCE");
		set(fd, SOL_SOCKET, SO_RCVLOWAT, LOWAT_BYTES, "SO_RCVLOWAT");
	}
	return fd;
}

/* Settings of the end that sends. */
static void set_sender(const struct flow *f, int fd)
{
	if (opt.cc)
		set_cc(fd, opt.cc);
	if (opt.priority >= 0)
		set(fd, SOL_SOCKET, SO_PRIORITY, opt.priority + (f - flows) % opt.priorities,
		    "SO_PRIORITY");
	if (opt.deadline_us)
		set(fd, IPPROTO_IP, FL_SO_DEADLINE_US, opt.deadline_us, "FL_SO_DEADLINE_US");
}

static void start_listening(void)
{
	struct sockaddr_storage at;
	socklen_t length = parse_address(opt.address, opt.port, &at);

	listener = tcp_socket(opt.to, at.ss_family);
	set(listener, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (opt.listener_cc)
		set_cc(listener, opt.listener_cc);
	if (at.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&at)->sin6_addr = in6addr_any;
	if (bind(listener, (struct sockaddr *)&at, length) || listen(listener, 64))
		die("listen: %s", strerror(errno));
}

/* Connects a flow; a sender that connects has its settings before. */
static void flow_connect(struct flow *f)
{
	struct sockaddr_storage to;
	socklen_t length = parse_address(opt.address, opt.port, &to);
	int client = tcp_socket(sender_ns(f), to.ss_family), server;

	if (!opt.accepted_sends)
		set_sender(f, client);
	if (connect(client, (struct sockaddr *)&to, length))
		die("connect: %s", strerror(errno));
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (server < 0)
		die("accept: %s", strerror(errno));
	if (opt.accepted_sends)
		set_sender(f, server);
	*f = (struct flow){ .mbps = -1, .abort_at = -1 };
	if (opt.storm)
		f->abort_at = random_next() % opt.bytes;
	stream_open(&f->s, f - flows, opt.accepted_sends ? server : client,
		    opt.accepted_sends ? client : server);
	begun++;
}

/* Closes an end, with a reset if asked for. */
static void close_end(int *fd, bool with_reset)
{
	struct linger linger = { .l_onoff = 1 };

	if (*fd < 0)
		return;
	if (with_reset)
		setsockopt(*fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(*fd);
	*fd = -1;
}

/* Bytes that the flow may write at a time, of all that it has to. */
static int64_t may_send(const struct flow *f, int64_t now_ns)
{
	int64_t most = opt.bytes >= 0 ? opt.bytes : INT64_MAX, offered;

	if (f->shut || f->s.tx < 0)
		return 0;
	if (opt.write_bytes) {
		offered = opt.write_bytes * (1 + now_ns / opt.write_ns);
		most = offered < most ? offered : most;
	}
	most -= f->s.sent_bytes;
	if (f->mbps >= 0 && f->budget < most)
		most = f->budget < 1 ? 0 : f->budget;
	return most;
}

/* Writes what fits. */
static void flow_send(struct flow *f, int64_t now_ns)
{
	int64_t want, n;

	while ((want = may_send(f, now_ns)) > 0) {
		if (f->s.sent_bytes == f->s.received_bytes)
			f->owes_ns = now_ns;
		n = stream_send(&f->s, want);
		if (!n)
			return;
		if (f->mbps >= 0)
			f->budget -= n;
	}
	if (opt.bytes < 0 || f->s.sent_bytes < opt.bytes)
		return;
	f->shut = true;
	if (opt.close_early)
		close_end(&f->s.tx, false);
	else if (!opt.hold)
		shutdown(f->s.tx, SHUT_WR);
}

/* In a storm: the connection is over, and another one begins. */
static void flow_again(struct flow *f)
{
	close_end(&f->s.tx, false);
	close_end(&f->s.rx, false);
	if (begun < opt.storm)
		flow_connect(f);
	else
		f->s.done = true;
}

/* Reads what is there. */
static void flow_receive(struct flow *f, int64_t now_ns)
{
	stream_receive(&f->s, now_ns);
	f->owes_ns = now_ns;
	if (f->s.done && f->s.received_bytes != (opt.drain ? f->s.sent_bytes : opt.bytes))
		die("flow %d ended after %lld of %lld bytes", f->s.number,
		    (long long)f->s.received_bytes,
		    (long long)(opt.drain ? f->s.sent_bytes : opt.bytes));
	if (opt.storm && f->s.received_bytes > f->abort_at) {
		reset++;
		close_end(random_next() & 1 ? &f->s.rx : &f->s.tx, true);
		flow_again(f);
	} else if (opt.storm && f->s.done) {
		flow_again(f);
	}
}

/* Stdin has ended. Drained, flows send no more, and end when all has come. */
static void end_hold(void)
{
	int i;

	opt.hold = false;
	for (i = 0; opt.drain && i < opt.flows; i++) {
		flows[i].shut = true;
		shutdown(flows[i].s.tx, SHUT_WR);
	}
}

/* What applications have to write after @ns. Return: has any of them a rate? */
static bool refill(int64_t ns)
{
	static const char data[DATAGRAM_BYTES];
	bool limited = udp_mbps > 0;
	struct sockaddr_storage to;
	socklen_t length;
	int i;

	for (i = 0; i < opt.flows; i++) {
		if (flows[i].mbps <= 0)
			continue;
		limited = true;
		flows[i].budget += flows[i].mbps * ns / 8000;
	}
	udp_budget += udp_mbps * ns / 8000;
	length = parse_address(opt.address, opt.port + 1, &to);
	for (; udp_budget >= DATAGRAM_BYTES; udp_budget -= DATAGRAM_BYTES)
		sendto(udp, data, sizeof(data), 0, (struct sockaddr *)&to, length);
	return limited;
}

/* Ends the program if a flow with data has been silent for too long. */
static void note_silence(const struct flow *f, int64_t now_ns)
{
	if (opt.silence_ns && f->s.sent_bytes > f->s.received_bytes &&
	    now_ns - f->owes_ns > opt.silence_ns)
		die("flow %d has been silent for %lld ms: %lld of %lld bytes have come",
		    f->s.number, (long long)(now_ns - f->owes_ns) / 1000000,
		    (long long)f->s.received_bytes, (long long)f->s.sent_bytes);
}

/*
 * Waits for events on all flows, at most until a time; -1: none, and serves them.
 * The time is asked for once and not for each flow: in the lab a call to the kernel is dear.
 * Return: the time at which the wait was over.
 */
static int64_t wait_events(int64_t now_ns, int64_t until_ns)
{
	static struct pollfd *fds;
	int64_t left = until_ns - now_ns;
	const struct pollfd *tx, *rx;
	struct timespec ts;
	struct flow *f;
	int i;

	if (!fds)
		fds = calloc(1 + 2 * opt.flows, sizeof(*fds));
	for (i = 0; i < opt.flows; i++) {
		f = &flows[i];
		fds[2 * i].fd = may_send(f, now_ns) > 0 ? f->s.tx : -1;
		fds[2 * i].events = POLLOUT;
		fds[2 * i + 1].fd = f->s.done ? -1 : f->s.rx;
		fds[2 * i + 1].events = POLLIN;
	}
	fds[2 * i].fd = opt.hold ? 0 : -1;
	fds[2 * i].events = POLLIN;
	if (left < 0)
		left = 0;
	ts.tv_sec = left / NS_PER_S;
	ts.tv_nsec = left % NS_PER_S;
	if (ppoll(fds, 1 + 2 * opt.flows, until_ns < 0 ? NULL : &ts, NULL) < 0)
		die("ppoll: %s", strerror(errno));
	now_ns = stream_now();
	if (fds[2 * opt.flows].revents)
		end_hold();
	for (i = 0; i < opt.flows; i++) {
		f = &flows[i];
		tx = &fds[2 * i];
		rx = &fds[2 * i + 1];
		if (tx->fd >= 0 && tx->fd == f->s.tx && tx->revents)
			flow_send(f, now_ns);
		if (rx->fd >= 0 && rx->fd == f->s.rx && rx->revents)
			flow_receive(f, now_ns);
		note_silence(f, now_ns);
	}
	return now_ns;
}

/* Takes turns between the two controls on all flows. */
static void switch_all(void)
{
	static int turn;
	int i;

	turn = !turn;
	for (i = 0; i < opt.flows; i++)
		if (flows[i].s.tx >= 0)
			set_cc(flows[i].s.tx, turn ? opt.switch_cc : opt.cc);
}

/* Have all flows ended, or, held, come so far that this is said, and stdin ended? */
static bool finished(void)
{
	static bool held, said;
	int64_t enough = opt.bytes >= 0 ? opt.bytes - 1 : opt.write_bytes ? 0 : STREAM_CHUNK_BYTES;
	int i;

	held |= opt.hold;
	if (held && !opt.hold && !opt.drain)
		return true;
	for (i = 0; i < opt.flows; i++)
		if (opt.hold ? flows[i].s.received_bytes <= enough : !flows[i].s.done)
			return false;
	if (opt.hold && !said) {
		said = true;
		printf("holding\n");
		fflush(stdout);
	}
	return !opt.hold;
}

/* Sends and receives until a time (-1: none) or until all is done. */
static void run_until(int64_t until_ns)
{
	static int64_t filled_ns, next_switch = -1;
	int64_t t, next, tick;

	if (next_switch < 0)
		next_switch = opt.switch_ns;
	/* writing and reading take time: what is left to wait for is of now */
	for (t = stream_now(); (until_ns < 0 || t < until_ns) && !finished(); t = stream_now()) {
		next = until_ns;
		if (opt.switches > 0 && (next < 0 || next_switch < next))
			next = next_switch;
		tick = opt.write_bytes ? (t / opt.write_ns + 1) * opt.write_ns : 0;
		if (refill(t - filled_ns))
			tick = t + TICK_NS;
		filled_ns = t;
		if (tick && (next < 0 || tick < next))
			next = tick;
		if (opt.silence_ns && (next < 0 || t + opt.silence_ns / 4 < next))
			next = t + opt.silence_ns / 4;
		if (wait_events(t, next) >= next_switch && opt.switches > 0) {
			switch_all();
			next_switch += opt.switch_ns;
			opt.switches--;
		}
	}
}

/* TCP's count of retransmissions. */
static uint32_t retransmissions(const struct flow *f)
{
	struct tcp_info ti = { 0 };
	socklen_t length = sizeof(ti);

	if (f->s.tx >= 0)
		getsockopt(f->s.tx, IPPROTO_TCP, TCP_INFO, &ti, &length);
	return ti.tcpi_total_retrans;
}

/* A line for a flow since the last mark. */
static void print_mark(struct flow *f, double ms)
{
	struct fl_info fi = { 0 };
	socklen_t length = sizeof(fi);
	uint32_t retrans = retransmissions(f);

	getsockopt(f->s.tx, IPPROTO_IP, FL_SO_INFO, &fi, &length);
	stream_note_gap(&f->s, stream_now());
	printf("mark %g flow %d bytes %lld gap %lld retrans %u queue %u fallback %d\n", ms,
	       f->s.number, (long long)(f->s.received_bytes - f->marked_bytes),
	       (long long)f->s.gap_ns / 1000, retrans - f->retrans, fi.queue_ns,
	       fi.state == FL_STATE_FALLBACK);
	f->marked_bytes = f->s.received_bytes;
	f->retrans = retrans;
	f->s.gap_ns = 0;
	marked = true;
}

/* Does to one flow what an event says. */
static void act(struct flow *f, double ms, const char *what)
{
	const char *text = strchr(what, '=') ? strchr(what, '=') + 1 : "";
	int length = strcspn(what, "=");
	double value = atof(text);

	if (!strcmp(what, "mark")) {
		print_mark(f, ms);
	} else if (!strcmp(what, "abort")) {
		close_end(&f->s.tx, true);
		aborted = true;
	} else if (!strncmp(what, "weight", length)) {
		set(f->s.tx, IPPROTO_IP, FL_SO_WEIGHT, value * FL_WEIGHT_ONE_MILLI + 0.5,
		    "FL_SO_WEIGHT");
	} else if (!strncmp(what, "priority", length)) {
		set(f->s.tx, SOL_SOCKET, SO_PRIORITY, value, "SO_PRIORITY");
	} else if (!strncmp(what, "fl_priority", length)) {
		set(f->s.tx, IPPROTO_IP, FL_SO_PRIORITY, value, "FL_SO_PRIORITY");
	} else if (!strncmp(what, "mbps", length)) {
		f->mbps = value;
		f->budget = 0;
	} else if (!strncmp(what, "cc", length)) {
		set_cc(f->s.tx, text);
	} else if (!strncmp(what, "pace", length)) {
		set(f->s.tx, SOL_SOCKET, SO_MAX_PACING_RATE, value ? value * 1e6 : -1,
		    "SO_MAX_PACING_RATE");
	} else if (!strncmp(what, "inject", length)) {
		inject(sender_ns(f), f->s.tx, f->s.rx, text);
		inject(opt.to, f->s.rx, f->s.tx, text);
	} else if (!strncmp(what, "udp", length)) {
		if (udp < 0)
			udp = socket_in(opt.from[0], strchr(opt.address, ':') ? AF_INET6 : AF_INET,
					SOCK_DGRAM | SOCK_NONBLOCK);
		udp_mbps = value;
	} else {
		die("event %s", what);
	}
}

/* Waits until an event is due and makes it happen, unless all is done before. */
static void take_event(const char *text, bool last)
{
	char which[16], what[100];
	double ms;
	int i, k;

	if (sscanf(text, "%lf:%15[^:]:%99s", &ms, which, what) != 3)
		die("event %s", text);
	run_until(ms * 1e6);
	k = atoi(which);
	for (i = 0; !finished() && i < opt.flows; i++)
		if (i == k || !strcmp(which, "all"))
			act(&flows[i], ms, what);
	if (last && opt.limit_ns < 0)
		opt.limit_ns = ms * 1e6;
}

/* Prints a line for each flow. Return: exit status. */
static int report(void)
{
	int status = 0, i;

	if (opt.switches)
		die("%ld switches were not made before the end", opt.switches);
	if (opt.storm || opt.limit_ns == 0)
		printf("%ld connections, %ld aborted\n", begun, reset);
	for (i = 0; !marked && !opt.storm && i < opt.flows; i++) {
		struct flow *f = &flows[i];
		bool complete = f->s.done && f->s.received_bytes == opt.bytes;

		printf("flow %d received %lld gap %lld end %lld retrans %u state %s\n", i,
		       (long long)f->s.received_bytes, (long long)f->s.gap_ns / 1000,
		       (long long)f->s.last_ns / 1000, retransmissions(f),
		       aborted ? "aborted" : complete ? "done" : "open");
		if (opt.bytes >= 0 && opt.limit_ns && !aborted && !complete)
			status = 1;
	}
	return status;
}

static const char usage_text[] =
"call: flowgen [OPTIONS] [MS:FLOW:WHAT...]\n"
"  -f NS[,NS...]  namespaces of the senders, in turns; without: this one\n"
"  -t NS          namespace of the receivers\n"
"  -a ADDRESS     of the receivers (10.0.0.2)\n"
"  -p PORT        (5000)\n"
"  -n FLOWS       (1)\n"
"  -b BYTES       of each (1 MiB); -1: until the end\n"
"  -c CC, -l CC   congestion control of senders, of the listener\n"
"  -q P[-P]       SO_PRIORITY; a range: flows take turns\n"
"  -D US          FL_SO_DEADLINE_US\n"
"  -B BYTES       socket buffers of this size\n"
"  -r             the accepted end sends\n"
"  -w BYTES@US    the application has so much more to write every US\n"
"  -S CC@TIMES@US takes turns between CC and that of -c\n"
"  -e             senders close with their data still queued\n"
"  -L MS          ends then (10000, with events the last one); 0: no limit\n"
"  -g MS          no flow that has data is silent for longer\n"
"  -h             says \"holding\" when data flows, without -b for ever, or when all has\n"
"                 come, and goes on until stdin ends\n"
"  -d             with -h and without -b: then until all has come that was sent\n"
"  -s NUMBER      so many connections, each reset by one end somewhere\n";

__attribute__((noreturn))
static void usage(void)
{
	fputs(usage_text, stderr);
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
	case 'B':
		opt.buffer_bytes = value;
		break;
	case 'L':
		opt.limit_ns = value * 1e6;
		break;
	case 'g':
		opt.silence_ns = value * 1e6;
		break;
	case 'D':
		opt.deadline_us = value;
		break;
	case 's':
		opt.storm = value;
		break;
	default:
		return false;
	}
	return true;
}

/* The other options. Return: false if it is none of these, or malformed. */
static bool parse_other(int c, char *text)
{
	long us, bytes;
	int last;

	switch (c) {
	case 'f':
		for (text = strtok(text, ","); text && opt.senders < SENDERS_MAX;
		     text = strtok(NULL, ","))
			opt.from[opt.senders++] = text;
		return true;
	case 't':
		opt.to = text;
		return true;
	case 'a':
		opt.address = text;
		return true;
	case 'c':
		opt.cc = text;
		return true;
	case 'l':
		opt.listener_cc = text;
		return true;
	case 'r':
		return opt.accepted_sends = true;
	case 'e':
		return opt.close_early = true;
	case 'h':
		return opt.hold = true;
	case 'd':
		return opt.drain = true;
	case 'q':
		if (sscanf(text, "%d-%d", &opt.priority, &last) == 2)
			opt.priorities = last - opt.priority + 1;
		return opt.priorities > 0;
	case 'S':
		if (sscanf(text, "%15[^@]@%ld@%ld", opt.switch_cc, &opt.switches, &us) != 3)
			return false;
		opt.switch_ns = us * 1000LL;
		return true;
	case 'w':
		if (sscanf(text, "%ld@%ld", &bytes, &us) != 2 || bytes < 1 || us < 1)
			return false;
		opt.write_bytes = bytes;
		opt.write_ns = us * 1000LL;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	struct rlimit files = { 1 << 16, 1 << 16 };
	int c, i;

	prctl(PR_SET_TIMERSLACK, 1);
	while ((c = getopt(argc, argv, "f:t:a:p:n:b:c:l:q:D:B:w:S:L:g:s:rehd")) != -1)
		if (!(optarg && parse_number(c, optarg)) && !parse_other(c, optarg))
			usage();
	if (argc == 1 || opt.flows < 1 || (opt.hold && opt.storm))
		usage();
	if (opt.hold || opt.storm)
		opt.limit_ns = 0;
	if (opt.bytes == INT64_MAX)
		opt.bytes = opt.hold || optind < argc ? -1 : 1 << 20;
	if (opt.limit_ns < 0 && optind == argc)
		opt.limit_ns = 10 * NS_PER_S;
	if (opt.storm && opt.storm < opt.flows)
		opt.flows = opt.storm;
	setrlimit(RLIMIT_NOFILE, &files);
	flows = calloc(opt.flows, sizeof(*flows));
	stream_prepare();
	start_listening();
	for (i = 0; i < opt.flows; i++)
		flow_connect(&flows[i]);
	if (!opt.storm)
		close(listener);
	stream_start();
	for (; optind < argc; optind++)
		take_event(argv[optind], optind == argc - 1);
	if (!aborted)
		run_until(opt.limit_ns ? opt.limit_ns : -1);
	return report();
}
