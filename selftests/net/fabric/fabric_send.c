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
 *	fabric_send tcp SRC DST COUNT DELAY-UNITS
 *		COUNT bare TCP segments with the telemetry option, its delay so
 *	fabric_send check COUNT
 *		receives such segments, prints "max <largest delay> bad <wrong
 *		checksums>"; ends after COUNT
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
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/fabric_frame.h>
#include <linux/fairlane.h>

#define FRAME_OVERHEAD	42	/* Ethernet, IPv4, UDP */
#define PAYLOAD		1400
#define GSO_PARTS	10
#define GSO_BYTES	1000
#define UDP_SEGMENT	103	/* linux/udp.h; that clashes with netinet */

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* The Internet checksum's sum, not folded. */
static uint32_t sum(const void *data, size_t bytes, uint32_t start)
{
	const uint8_t *p = data;
	size_t i;

	for (i = 0; i + 1 < bytes; i += 2)
		start += p[i] << 8 | p[i + 1];
	return bytes & 1 ? start + (p[bytes - 1] << 8) : start;
}

static uint16_t fold(uint32_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return ~s;
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

/* An IPv4 packet with a TCP header, our option and some data. */
struct packet {
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t option[FL_TELEMETRY_BYTES];
	uint8_t payload[PAYLOAD];
} __attribute__((packed));

/* Checksum of the TCP segment with its pseudo header. */
static uint16_t tcp_sum(const struct packet *p)
{
	const uint8_t *ip = (const uint8_t *)p;
	size_t bytes = sizeof(*p) - sizeof(p->ip);

	/* Addresses are the last 8 bytes of the IP header. */
	return fold(sum(ip + sizeof(p->ip), bytes,
			sum(ip + sizeof(p->ip) - 8, 8, IPPROTO_TCP + bytes)));
}

static int send_tcp(char **argv)
{
	static struct packet p;
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd, size = 1 << 30, count = atoi(argv[2]), value = atoi(argv[3]);

	inet_pton(AF_INET, argv[1], &to.sin_addr);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		return fail("socket");
	p.ip.version = 4;
	p.ip.ihl = 5;
	p.ip.ttl = 64;
	p.ip.protocol = IPPROTO_TCP;
	inet_pton(AF_INET, argv[0], &p.ip.saddr);
	p.ip.daddr = to.sin_addr.s_addr;
	p.ip.tot_len = htons(sizeof(p));
	p.tcp.source = htons(1);
	p.tcp.dest = htons(2);
	p.tcp.doff = (sizeof(p.tcp) + sizeof(p.option)) / 4;
	p.option[0] = FL_TELEMETRY_KIND;
	p.option[1] = FL_TELEMETRY_BYTES;
	p.option[2] = FL_TELEMETRY_EXID >> 8;
	p.option[3] = FL_TELEMETRY_EXID & 0xff;
	p.option[4] = value >> 8;
	p.option[5] = value & 0xff;
	while (count--) {
		p.tcp.check = 0;
		p.tcp.seq = htonl(count);
		p.tcp.check = htons(tcp_sum(&p));
		if (sendto(fd, &p, sizeof(p), 0, (struct sockaddr *)&to,
			   sizeof(to)) < 0)
			return fail("sendto");
	}
	return 0;
}

static int check_tcp(char **argv)
{
	struct packet p;
	int fd, count = atoi(argv[0]), bad = 0, largest = 0, value;

	fd = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	if (fd < 0)
		return fail("socket");
	puts("ready");
	fflush(stdout);
	while (count > 0) {
		ssize_t got = recv(fd, &p, sizeof(p), 0);

		if (got < 0)
			return fail("recv");
		/* The machine's own resets come by here as well. */
		if (got != sizeof(p))
			continue;
		count--;
		bad += tcp_sum(&p) != 0;
		value = p.option[4] << 8 | p.option[5];
		if (value > largest)
			largest = value;
	}
	printf("max %d bad %d\n", largest, bad);
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

static int send_frame(char **argv)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(argv[0]),
	};
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
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || !at.sll_ifindex ||
	    sendto(fd, &p, bytes, 0, (struct sockaddr *)&at, sizeof(at)) < 0)
		return fail(argv[0]);
	return 0;
}

static int send_flows(char **argv)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(argv[0]),
	};
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
	int fd = socket(AF_PACKET, SOCK_RAW, 0), sequence = atoi(argv[2]);
	int first = atoi(argv[3]), last = first, i;

	if (strchr(argv[3], '-'))
		last = atoi(strchr(argv[3], '-') + 1);
	for (i = first; i <= last; i++) {
		p.frame.sequence = htonl(sequence++);
		p.frame.group = htons(i);
		if (fd < 0 || !at.sll_ifindex ||
		    sendto(fd, &p, bytes, 0, (struct sockaddr *)&at, sizeof(at)) < 0)
			return fail(argv[0]);
	}
	return 0;
}

static int send_pfc(char **argv)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(argv[0]),
	};
	uint8_t p[60] = {
		0x01, 0x80, 0xc2, 0, 0, 0x01, 2, 0, 0, 0, 0, 0xcc, 0x88, 0x08,
		0x01, 0x01,
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), class = atoi(argv[1]) & 7;
	int quanta = atoi(argv[2]);

	p[17] = 1 << class;
	p[18 + 2 * class] = quanta >> 8;
	p[19 + 2 * class] = quanta;
	if (fd < 0 || !at.sll_ifindex ||
	    sendto(fd, p, sizeof(p), 0, (struct sockaddr *)&at, sizeof(at)) < 0)
		return fail(argv[0]);
	return 0;
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
	if (argc == 6 && !strcmp(argv[1], "tcp"))
		return send_tcp(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check_tcp(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "record"))
		return record(argv[2]);
	fprintf(stderr, "usage: see the head of fabric_send.c\n");
	return 2;
}
