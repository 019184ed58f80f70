// SPDX-License-Identifier: GPL-2.0
/*
 * linkprobe: send UDP packets from one namespace to another and measure, to
 * the nanosecond, when they arrive.
 *
 * Arrival is the kernel's receive timestamp. The send time is the clock just
 * before send(); in the lab's virtual time nothing happens in between. Both
 * are CLOCK_REALTIME of one machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ends.h"

#define PORT_DEFAULT 9000

/* What to do, from the command line. */
struct options {
	const char *from;
	const char *to;
	const char *address;
	unsigned int count;
	unsigned int size_bytes;
	long long gap_ns;
	int wait_ms;
	int priority;
	uint16_t port;
	bool print_all;
	bool watch_release;
};

/* The start of each packet. */
struct payload {
	uint32_t seq;
	uint32_t pad;
	int64_t sent_ns;
};

/* One packet as received. */
struct arrival {
	struct payload payload;
	int64_t at_ns;
};

static const char usage_text[] =
"usage: linkprobe -f NETNS -t NETNS -a ADDRESS [OPTION...]\n"
"  -f NETNS    send from here\n"
"  -t NETNS    receive here\n"
"  -a ADDRESS  IPv4 address of the receiver\n"
"  -n COUNT    packets (100)\n"
"  -s BYTES    size of the IP packet, 44 to 65507 (1500)\n"
"  -g NS       time from one packet to the next, 0: all at once (0)\n"
"  -w MS       give up when nothing comes for so long (100)\n"
"  -o PORT     UDP port (9000)\n"
"  -q N        SO_PRIORITY (0)\n"
"  -r          tell when the kernel let go of all that was sent (to 100 ns)\n"
"  -p          print every packet: sequence, ns sent, ns received\n";

/* The receiving socket. */
static int open_receiver(const struct options *opt)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(opt->port),
	};
	int fd = socket_in(opt->to, AF_INET, SOCK_DGRAM), one = 1, buffer = 1 << 30;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer,
		       sizeof(buffer)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("receiver: %s", strerror(errno));
	return fd;
}

/* The sending socket. */
static int open_sender(const struct options *opt)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(opt->port),
	};
	int fd = socket_in(opt->from, AF_INET, SOCK_DGRAM), buffer = 1 << 30;

	if (inet_pton(AF_INET, opt->address, &addr.sin_addr) != 1)
		die("'%s' is not an IPv4 address", opt->address);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer,
		       sizeof(buffer)) ||
	    setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &opt->priority,
		       sizeof(opt->priority)) ||
	    connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("sender: %s", strerror(errno));
	return fd;
}

/* Send all packets; the number that the kernel took. */
static unsigned int send_all(int fd, const struct options *opt)
{
	static char data[65536];
	struct payload *payload = (struct payload *)data;
	int64_t next_ns = clock_ns(CLOCK_REALTIME);
	unsigned int i, sent = 0;
	struct timespec ts;

	for (i = 0; i < opt->count; i++) {
		if (opt->gap_ns) {
			next_ns += opt->gap_ns;
			ts.tv_sec = next_ns / NS_PER_S;
			ts.tv_nsec = next_ns % NS_PER_S;
			clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts,
					NULL);
		}
		payload->seq = i;
		if (opt->gap_ns || !i)
			next_ns = clock_ns(CLOCK_REALTIME);
		payload->sent_ns = next_ns;
		if (send(fd, data, opt->size_bytes - 28, 0) >= 0)
			sent++;
		else if (errno != ENOBUFS)
			die("send: %s", strerror(errno));
	}
	return sent;
}

/* Wait until the kernel holds nothing more of what was sent; the time. */
static int64_t wait_release(int fd)
{
	const struct timespec step = { .tv_nsec = 100 };
	int held;

	for (;;) {
		if (ioctl(fd, SIOCOUTQ, &held))
			die("SIOCOUTQ: %s", strerror(errno));
		if (!held)
			return clock_ns(CLOCK_REALTIME);
		nanosleep(&step, NULL);
	}
}

/* Receive until all are there or nothing comes; the number received. */
static unsigned int receive_all(int fd, const struct options *opt,
				unsigned int sent, struct arrival *arrival)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	char control[128], data[65536];
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct cmsghdr *cmsg;
	struct timespec ts;
	unsigned int n;

	for (n = 0; n < sent; n++) {
		struct msghdr msg = {
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};

		if (poll(&pollfd, 1, opt->wait_ms) <= 0)
			break;
		if (recvmsg(fd, &msg, 0) < (ssize_t)sizeof(struct payload))
			die("receive: %s", strerror(errno));
		cmsg = CMSG_FIRSTHDR(&msg);
		if (!cmsg || cmsg->cmsg_type != SCM_TIMESTAMPNS)
			die("received without timestamp");
		memcpy(&ts, CMSG_DATA(cmsg), sizeof(ts));
		memcpy(&arrival[n].payload, data, sizeof(arrival[n].payload));
		arrival[n].at_ns = ts.tv_sec * NS_PER_S + ts.tv_nsec;
	}
	return n;
}

/* Print what the packets say together: name=value, for a shell's eval. */
static void print_summary(const struct arrival *arrival, unsigned int sent,
			  unsigned int n)
{
	int64_t gap, gap_min = INT64_MAX, gap_max = INT64_MIN;
	int64_t delay, delay_min = INT64_MAX, delay_max = INT64_MIN;
	int64_t delay_sum = 0;
	unsigned int i, reordered = 0;

	for (i = 0; i < n; i++) {
		delay = arrival[i].at_ns - arrival[i].payload.sent_ns;
		delay_min = delay < delay_min ? delay : delay_min;
		delay_max = delay > delay_max ? delay : delay_max;
		delay_sum += delay;
		if (!i)
			continue;
		gap = arrival[i].at_ns - arrival[i - 1].at_ns;
		gap_min = gap < gap_min ? gap : gap_min;
		gap_max = gap > gap_max ? gap : gap_max;
		if (arrival[i].payload.seq < arrival[i - 1].payload.seq)
			reordered++;
	}
	printf("sent=%u received=%u reordered=%u\n", sent, n, reordered);
	if (!n)
		return;
	if (n > 1)
		printf("gap_min=%" PRId64 " gap_max=%" PRId64 " span=%"
		       PRId64 "\n", gap_min, gap_max,
		       arrival[n - 1].at_ns - arrival[0].at_ns);
	printf("delay_first=%" PRId64 " delay_min=%" PRId64 " delay_max=%"
	       PRId64 " delay_mean=%" PRId64 "\n",
	       arrival[0].at_ns - arrival[0].payload.sent_ns, delay_min,
	       delay_max, delay_sum / n);
}

/* Read the command line. */
static void parse_options(int argc, char **argv, struct options *opt)
{
	int c;

	while ((c = getopt(argc, argv, "f:t:a:n:s:g:w:o:q:prh")) != -1) {
		switch (c) {
		case 'f':
			opt->from = optarg;
			break;
		case 't':
			opt->to = optarg;
			break;
		case 'a':
			opt->address = optarg;
			break;
		case 'n':
			opt->count = (unsigned int)number(optarg, 1, 10000000);
			break;
		case 's':
			opt->size_bytes = (unsigned int)number(optarg, 44,
							       65507);
			break;
		case 'g':
			opt->gap_ns = number(optarg, 0, NS_PER_S);
			break;
		case 'w':
			opt->wait_ms = (int)number(optarg, 1, 100000);
			break;
		case 'o':
			opt->port = (uint16_t)number(optarg, 1, 65535);
			break;
		case 'q':
			opt->priority = (int)number(optarg, 0, 15);
			break;
		case 'r':
			opt->watch_release = true;
			break;
		case 'p':
			opt->print_all = true;
			break;
		default:
			fputs(usage_text, c == 'h' ? stdout : stderr);
			exit(c != 'h');
		}
	}
	if (!opt->from || !opt->to || !opt->address || optind != argc) {
		fputs(usage_text, stderr);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct options opt = { .count = 100, .size_bytes = 1500,
			       .wait_ms = 100, .port = PORT_DEFAULT };
	unsigned int i, n, sent;
	int64_t start_ns;
	struct arrival *arrival;
	int receiver, sender;

	parse_options(argc, argv, &opt);
	arrival = calloc(opt.count, sizeof(*arrival));
	if (!arrival)
		die("no memory for %u packets", opt.count);
	prctl(PR_SET_TIMERSLACK, 1);
	receiver = open_receiver(&opt);
	sender = open_sender(&opt);
	start_ns = clock_ns(CLOCK_REALTIME);
	sent = send_all(sender, &opt);
	if (opt.watch_release)
		printf("released=%" PRId64 "\n",
		       wait_release(sender) - start_ns);
	n = receive_all(receiver, &opt, sent, arrival);
	for (i = 0; opt.print_all && i < n; i++)
		printf("%" PRIu32 " %" PRId64 " %" PRId64 "\n",
		       arrival[i].payload.seq,
		       arrival[i].payload.sent_ns - start_ns,
		       arrival[i].at_ns - start_ns);
	print_summary(arrival, sent, n);
	return 0;
}
