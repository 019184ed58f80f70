// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic for sch_fabric's tests.
 *
 *	fabric_send udp DST ROUNDS[/GAP] TOS:BYTES[:COUNT]...
 *		each round sends COUNT (1) datagrams per TOS:BYTES (bytes of
 *		the frame), then waits for GAP us; SNDBUF in the environment: bytes
 *		that the socket may have on its way
 *	fabric_send gso DST COUNT
 *		COUNT UDP packets of GSO_PARTS parts, to be segmented on the way
 *	fabric_send frame DEV TYPE EPOCH SEQUENCE SWITCH PORT DISTANCE HOLD-NS [BYTES]
 *		a frame between switch ports (linux/fabric_frame.h), cut off after
 *		BYTES of its contents
 *	fabric_send flows DEV EPOCH SEQUENCE FIRST[-LAST] WAIT HOLD-NS [BYTES]
 *		frames of FABRIC_FRAME_FLOWS of these groups, of WAIT (hexadecimal)
 *	fabric_send pfc DEV CLASS QUANTA
 *		a frame of IEEE 802.1Qbb: the class waits so long
 *	fabric_send record DEV
 *		prints "NS DSCP ECN BYTES" of each UDP packet on DEV, NS since the
 *		first; ends when none has come for a while
 */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/fabric_frame.h>

#define FRAME_OVERHEAD	42	/* Ethernet, IPv4, UDP */
#define GSO_PARTS	10
#define GSO_BYTES	1000
#define UDP_SEGMENT	103	/* linux/udp.h; that clashes with netinet */

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int send_udp(char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	static char payload[65536];
	long rounds = atol(argv[1]);
	const char *slash = strchr(argv[1], '/');
	const char *buffer = getenv("SNDBUF");
	int fd, size = buffer ? atoi(buffer) : 1 << 30, i, tos, bytes, count;

	inet_pton(AF_INET, argv[0], &to.sin_addr);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		return fail("socket");
	while (rounds--) {
		for (i = 2; argv[i]; i++) {
			count = 1;
			if (sscanf(argv[i], "%i:%i:%i", &tos, &bytes,
				   &count) < 2 ||
			    setsockopt(fd, IPPROTO_IP, IP_TOS, &tos,
				       sizeof(tos)))
				return fail(argv[i]);
			/* A full queue is what some tests want. */
			while (count-- > 0)
				sendto(fd, payload, bytes - FRAME_OVERHEAD, 0,
				       (struct sockaddr *)&to, sizeof(to));
		}
		if (slash)
			usleep(atol(slash + 1));
	}
	return 0;
}

static int send_gso(char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	static char payload[GSO_PARTS * GSO_BYTES];
	int fd, size = 1 << 30, part = GSO_BYTES, count = atoi(argv[1]);

	inet_pton(AF_INET, argv[0], &to.sin_addr);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &part, sizeof(part)))
		return fail("socket");
	while (count--) {
		if (sendto(fd, payload, sizeof(payload), 0,
			   (struct sockaddr *)&to, sizeof(to)) < 0)
			return fail("sendto");
	}
	return 0;
}

#define QUIET_MS	500

/* Time at which the kernel received a packet, ns. */
static int64_t received_ns(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct timespec t = { 0 };

	if (c && c->cmsg_type == SCM_TIMESTAMPNS)
		memcpy(&t, CMSG_DATA(c), sizeof(t));
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int record(const char *dev)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1, size = 1 << 30;
	char control[CMSG_SPACE(sizeof(struct timespec))];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint8_t frame[65536], *ip = frame + ETH_HLEN;
	int64_t first_ns = 0, ns;
	ssize_t got;

	if (fd < 0 || !at.sll_ifindex ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return fail(dev);
	fprintf(stderr, "ready\n");
	while (poll(&p, 1, QUIET_MS) > 0) {
		struct iovec part = { frame, sizeof(frame) };
		struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1,
				    .msg_control = control,
				    .msg_controllen = sizeof(control) };

		got = recvmsg(fd, &m, 0);
		if (got < 0)
			return fail("recvmsg");
		if (got < FRAME_OVERHEAD || ip[9] != IPPROTO_UDP)
			continue;
		ns = received_ns(&m);
		if (!first_ns)
			first_ns = ns;
		printf("%lld %d %d %zd\n", (long long)(ns - first_ns),
		       ip[1] >> 2, ip[1] & 3, got);
	}
	return 0;
}

/* Send what a frame is made of. All by one socket: to close one takes some ms in the
 * debug kernel. With FABRIC_SEND_TO_ALL in the environment to the broadcast address.
 */
static int send_raw(const char *dev, void *frame, size_t bytes)
{
	static int fd = -1;
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(dev),
	};

	if (getenv("FABRIC_SEND_TO_ALL"))
		memset(frame, 0xff, 6);
	if (fd < 0)
		fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0 || !at.sll_ifindex ||
	    sendto(fd, frame, bytes, 0, (struct sockaddr *)&at, sizeof(at)) < 0)
		return fail(dev);
	return 0;
}

static int send_frame(char **argv)
{
	struct {
		uint8_t dest[6];
		uint8_t source[6];
		uint16_t type;
		struct fabric_frame frame;
		uint8_t zero[6];
	} __attribute__((packed)) p = {
		.dest = FABRIC_FRAME_DEST,
		.source = { 2, 0, 0, 0, 0, 0xcc },
		.type = htons(FABRIC_FRAME_ETHERTYPE),
		.frame = {
			.magic = htons(FABRIC_FRAME_MAGIC),
			.version = FABRIC_FRAME_VERSION,
			.type = atoi(argv[1]),
			.epoch = htonl(atoi(argv[2])),
			.sequence = htonl(atoi(argv[3])),
			.root_switch = htonl(atoi(argv[4])),
			.root_port = htons(atoi(argv[5])),
			.distance = atoi(argv[6]),
			.hold_ns = htonl(atoi(argv[7])),
		},
	};
	size_t bytes = argv[8] ? 14U + (unsigned int)atoi(argv[8]) : sizeof(p);

	return send_raw(argv[0], &p, bytes);
}

static int send_flows(char **argv)
{
	struct {
		uint8_t dest[6];
		uint8_t source[6];
		uint16_t type;
		struct fabric_flows_frame frame;
		uint8_t zero[6];
	} __attribute__((packed)) p = {
		.dest = FABRIC_FRAME_DEST,
		.source = { 2, 0, 0, 0, 0, 0xcc },
		.type = htons(FABRIC_FRAME_ETHERTYPE),
		.frame = {
			.magic = htons(FABRIC_FRAME_MAGIC),
			.version = FABRIC_FRAME_VERSION,
			.type = FABRIC_FRAME_FLOWS,
			.epoch = htonl(atoi(argv[1])),
			.wait = htobe64(strtoull(argv[4], NULL, 16)),
			.hold_ns = htonl(atoi(argv[5])),
		},
	};
	size_t bytes = argv[6] ? 14U + (unsigned int)atoi(argv[6]) : sizeof(p);
	int sequence = atoi(argv[2]), first = atoi(argv[3]), last = first, i;

	if (strchr(argv[3], '-'))
		last = atoi(strchr(argv[3], '-') + 1);
	for (i = first; i <= last; i++) {
		p.frame.sequence = htonl(sequence++);
		p.frame.group = htons(i);
		if (send_raw(argv[0], &p, bytes))
			return 1;
	}
	return 0;
}

static int send_pfc(char **argv)
{
	uint8_t p[60] = {
		0x01, 0x80, 0xc2, 0, 0, 0x01, 2, 0, 0, 0, 0, 0xcc, 0x88, 0x08,
		0x01, 0x01,
	};
	int class = atoi(argv[1]) & 7, quanta = atoi(argv[2]);

	p[17] = 1 << class;
	p[18 + 2 * class] = quanta >> 8;
	p[19 + 2 * class] = quanta;
	return send_raw(argv[0], p, sizeof(p));
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "pfc"))
		return send_pfc(argv + 2);
	if ((argc == 8 || argc == 9) && !strcmp(argv[1], "flows"))
		return send_flows(argv + 2);
	if ((argc == 10 || argc == 11) && !strcmp(argv[1], "frame"))
		return send_frame(argv + 2);
	if (argc >= 5 && !strcmp(argv[1], "udp"))
		return send_udp(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "gso"))
		return send_gso(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "record"))
		return record(argv[2]);
	fprintf(stderr, "usage: see the head of fabric_send.c\n");
	return 2;
}
