// SPDX-License-Identifier: GPL-2.0
/*
 * Packets for sch_fabric's tests, right ones and wrong ones, and what became of
 * them on the other side.
 *
 *	fabric_packet send DEV KEY=VALUE...
 *		sends frames; prints "sent N refused N" (by the kernel, as senseless)
 *	fabric_packet receive DEV KEY=VALUE...
 *		receives those that "send" with the same keys sends, until none
 *		has come for a while; prints JSON: packets, same (not a bit
 *		is different), wrong (checksums), partial (checksum left to the
 *		device), delays and tcp_int (fields of the options, in order)
 *	fabric_packet kinds 4|6
 *		what can be wrong, each with the counter that has to see it
 *	fabric_packet checksums DEV 0|1
 *		device's transmit checksums off or on
 *
 * Keys (defaults): v=4|6 (4), option=none|soze|int|load (none), value=N that the option
 * holds already (0), hop=N likewise (0), payload=BYTES (100), gso=BYTES of a
 * segment (0: none), partial=0|1 checksum left to the device (0), dscp=N (0),
 * ttl=N (64), ecn=N (0), vlan=tags (0 to 2; 0), count=N (1), gap=US between frames (0), bad=KIND or
 * bad=all (each in turn).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/fairlane.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define FRAME_MAX	65536
#define PATIENCE_MS	2000	/* for the first frame */
#define QUIET_MS	300	/* after the last */
#define TCP_BYTES	20
#define INT_VALUE	3	/* byte in TCP-INT's option: queue */
#define INT_HOP		4
#define INT_LATENCY	5

/* Nobody's addresses: the machines themselves must not care. */
static const uint8_t mac_to[6] = { 2, 0, 0, 0, 0, 0xbb };
static const uint8_t mac_from[6] = { 2, 0, 0, 0, 0, 0xaa };

struct spec {
	int v, option, value, hop, payload, gso, partial, dscp, ttl, ecn, vlan;
	int count, gap;
	const char *bad;
};

enum { OPTION_NONE, OPTION_SOZE, OPTION_INT, OPTION_LOAD };

/* Where things are in a frame. */
struct frame {
	uint8_t byte[FRAME_MAX];
	size_t len, ip, tcp, options;
};

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* The Internet checksum's sum, not folded. */
static uint32_t sum(const uint8_t *p, size_t bytes, uint32_t start)
{
	size_t i;

	for (i = 0; i + 1 < bytes; i += 2)
		start += p[i] << 8 | p[i + 1];
	return bytes & 1 ? start + (p[bytes - 1] << 8) : start;
}

static uint16_t fold(uint32_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

static void put16(uint8_t *p, uint16_t value)
{
	p[0] = value >> 8;
	p[1] = value & 0xff;
}

/* Sum of the pseudo header. */
static uint32_t pseudo(const struct frame *f, int v)
{
	size_t addresses = v == 4 ? f->ip + 12 : f->ip + 8;

	return sum(f->byte + addresses, v == 4 ? 8 : 32,
		   IPPROTO_TCP + (f->len - f->tcp));
}

/* ---- what can be wrong ------------------------------------------------------ */

static void doff_small(struct frame *f)
{
	f->byte[f->tcp + 12] = 0x40;
}

static void doff_large(struct frame *f)
{
	f->byte[f->tcp + 12] = 0xf0;
	f->len = f->tcp + TCP_BYTES;
}

static void option_zero(struct frame *f)
{
	f->byte[f->options + 1] = 0;
}

static void option_one(struct frame *f)
{
	f->byte[f->options + 1] = 1;
}

static void option_beyond(struct frame *f)
{
	f->byte[f->options + 1] = 41;
}

static void option_cut(struct frame *f)
{
	memset(f->byte + f->options, 1, 7);
	f->byte[f->options + 7] = FL_TELEMETRY_KIND;
}

static void option_lost(struct frame *f)
{
	f->len = f->options + 5;
}

static void option_ended(struct frame *f)
{
	f->byte[f->options] = 0;
}

static void option_other(struct frame *f)
{
	f->byte[f->options + 3] ^= 1;
}

static void tcp_short(struct frame *f)
{
	f->len = f->tcp + 8;
}

static void udp(struct frame *f)
{
	f->byte[f->tcp - f->ip == 20 ? f->ip + 9 : f->ip + 6] = IPPROTO_UDP;
}

static void ip_short(struct frame *f)
{
	f->len = f->ip + 10;
}

static void ip_version(struct frame *f)
{
	f->byte[f->ip] = 0x50 | (f->byte[f->ip] & 0xf);
}

static void ihl_small(struct frame *f)
{
	f->byte[f->ip] = 0x44;
}

static void ihl_large(struct frame *f)
{
	f->byte[f->ip] = 0x4f;
	f->len = f->ip + 40;
}

static void fragment_first(struct frame *f)
{
	f->byte[f->ip + 6] |= 0x20;
}

static void fragment_later(struct frame *f)
{
	f->byte[f->ip + 7] = 100;
}

/* An extension header before TCP's. */
static void v6_header(struct frame *f, uint8_t next)
{
	memmove(f->byte + f->tcp + 8, f->byte + f->tcp, f->len - f->tcp);
	memset(f->byte + f->tcp, 0, 8);
	f->byte[f->tcp] = IPPROTO_TCP;
	f->byte[f->ip + 6] = next;
	f->len += 8;
}

static void v6_hop_by_hop(struct frame *f)
{
	v6_header(f, IPPROTO_HOPOPTS);
	f->byte[f->tcp + 2] = 1;
	f->byte[f->tcp + 3] = 4;
}

static void v6_fragment_first(struct frame *f)
{
	v6_header(f, IPPROTO_FRAGMENT);
	f->byte[f->tcp + 3] = 1;
}

static void v6_fragment_later(struct frame *f)
{
	v6_header(f, IPPROTO_FRAGMENT);
	f->byte[f->tcp + 2] = 4;
}

static void protocol(struct frame *f)
{
	put16(f->byte + f->ip - 2, 0x88b5);
}

static void nothing_in_it(struct frame *f)
{
	f->len = f->ip;
}

static const struct {
	const char *name;
	const char *counter;
	int only;	/* version, 0: both */
	void (*spoil)(struct frame *f);
} kinds[] = {
	{ "doff-small", "malformed", 0, doff_small },
	{ "doff-large", "malformed", 0, doff_large },
	{ "option-zero", "malformed", 0, option_zero },
	{ "option-one", "malformed", 0, option_one },
	{ "option-beyond", "malformed", 0, option_beyond },
	{ "option-cut", "malformed", 0, option_cut },
	{ "option-lost", "malformed", 0, option_lost },
	{ "option-ended", "no_option", 0, option_ended },
	{ "option-other", "no_option", 0, option_other },
	{ "tcp-short", "malformed", 0, tcp_short },
	{ "udp", "not_tcp", 0, udp },
	{ "ip-short", "not_tcp", 0, ip_short },
	{ "ip-version", "not_tcp", 0, ip_version },
	{ "ihl-small", "not_tcp", 4, ihl_small },
	{ "ihl-large", "malformed", 4, ihl_large },
	{ "fragment-first", "not_tcp", 4, fragment_first },
	{ "fragment-later", "not_tcp", 4, fragment_later },
	{ "v6-fragment-first", "not_tcp", 6, v6_fragment_first },
	{ "v6-fragment-later", "not_tcp", 6, v6_fragment_later },
	{ "v6-hop-by-hop", "not_tcp", 6, v6_hop_by_hop },
	{ "protocol", "not_tcp", 0, protocol },
	{ "nothing", "not_tcp", 0, nothing_in_it },
};

#define KINDS ARRAY_SIZE(kinds)

/* ---- frames ------------------------------------------------------------------ */

static void build_ip(const struct spec *s, struct frame *f, size_t bytes)
{
	uint8_t *ip = f->byte + f->ip;

	if (s->v == 4) {
		ip[0] = 0x45;
		ip[1] = s->dscp << 2 | s->ecn;
		put16(ip + 2, bytes);
		ip[8] = s->ttl;
		ip[9] = IPPROTO_TCP;
		ip[12] = 192;
		ip[14] = 2;
		ip[15] = 1;
		ip[16] = 192;
		ip[18] = 2;
		ip[19] = 2;
		put16(ip + 10, ~fold(sum(ip, 20, 0)));
		return;
	}
	ip[0] = 0x60 | s->dscp >> 2;
	ip[1] = (s->dscp & 3) << 6 | s->ecn << 4;
	put16(ip + 4, bytes - 40);
	ip[6] = IPPROTO_TCP;
	ip[7] = s->ttl;
	put16(ip + 8, 0xfd00);
	ip[23] = 1;
	put16(ip + 24, 0xfd00);
	ip[39] = 2;
}

/* Writes the option. Returns its length. */
static size_t build_option(const struct spec *s, uint8_t *option)
{
	switch (s->option) {
	case OPTION_SOZE:
	case OPTION_LOAD:
		option[0] = FL_TELEMETRY_KIND;
		option[1] = FL_TELEMETRY_BYTES;
		put16(option + 2, s->option == OPTION_LOAD ? FL_LOAD_EXID : FL_TELEMETRY_EXID);
		put16(option + 4, s->value);
		return FL_TELEMETRY_BYTES;
	case OPTION_INT:
		option[0] = FL_TCP_INT_KIND;
		option[1] = FL_TCP_INT_BYTES;
		option[2] = 0xf0;
		option[INT_VALUE] = s->value;
		option[INT_HOP] = s->hop;
		return FL_TCP_INT_BYTES;
	default:
		return 0;
	}
}

/* Makes frame number @seq wrong if it has to be. */
static void spoil(const struct spec *s, struct frame *f, uint32_t seq)
{
	uint32_t fit = 0, turn = 0;
	size_t i;

	for (i = 0; i < KINDS; i++)
		fit += !kinds[i].only || kinds[i].only == s->v;
	for (i = 0; i < KINDS; i++) {
		if (kinds[i].only && kinds[i].only != s->v)
			continue;
		if (strcmp(s->bad, "all") ? !strcmp(s->bad, kinds[i].name) :
					    turn == seq % fit)
			kinds[i].spoil(f);
		turn++;
	}
}

static void build(const struct spec *s, struct frame *f, uint32_t seq)
{
	size_t option, i;
	uint8_t *tcp;

	memset(f, 0, sizeof(*f));
	memcpy(f->byte, mac_to, 6);
	memcpy(f->byte + 6, mac_from, 6);
	f->ip = ETH_HLEN;
	for (i = 0; i < (size_t)s->vlan; i++) {
		put16(f->byte + f->ip - 2, i + 1 < (size_t)s->vlan ?
					   ETH_P_8021AD : ETH_P_8021Q);
		/* Where IP's version and TOS would be: 4, and ECT(0) or (1). */
		put16(f->byte + f->ip, i ? 0x4005 : 7);
		f->ip += 4;
	}
	put16(f->byte + f->ip - 2, s->v == 4 ? ETH_P_IP : ETH_P_IPV6);
	f->tcp = f->ip + (s->v == 4 ? 20 : 40);
	f->options = f->tcp + TCP_BYTES;
	option = build_option(s, f->byte + f->options);
	f->len = f->options + option + s->payload;
	for (i = f->options + option; i < f->len; i++)
		f->byte[i] = i * 7;
	build_ip(s, f, f->len - f->ip);
	tcp = f->byte + f->tcp;
	put16(tcp, 1);
	put16(tcp + 2, 2);
	put16(tcp + 4, seq >> 16);
	put16(tcp + 6, seq);
	tcp[12] = (TCP_BYTES + option) / 4 << 4;
	tcp[13] = 0x10;
	put16(tcp + 16, s->partial || s->gso ?
	      fold(pseudo(f, s->v)) :
	      (uint16_t)~fold(sum(tcp, f->len - f->tcp, pseudo(f, s->v))));
	if (s->bad)
		spoil(s, f, seq);
}

static int send_frames(int fd, const struct spec *s)
{
	struct {
		struct virtio_net_hdr h;
		struct frame f;
	} __attribute__((packed)) p;
	int i, sent = 0, refused = 0;
	struct frame f;

	for (i = 0; i < s->count; i++) {
		memset(&p.h, 0, sizeof(p.h));
		build(s, &f, i);
		if (s->partial || s->gso) {
			p.h.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
			p.h.csum_start = f.tcp;
			p.h.csum_offset = 16;
		}
		if (s->gso) {
			p.h.gso_type = s->v == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 :
						   VIRTIO_NET_HDR_GSO_TCPV6;
			p.h.gso_size = s->gso;
			p.h.hdr_len = f.len - s->payload < f.len ?
				      f.len - s->payload : f.len;
		}
		memcpy(p.f.byte, f.byte, f.len);
		if (send(fd, &p, sizeof(p.h) + f.len, 0) < 0)
			refused++;
		else
			sent++;
		if (s->gap)
			usleep(s->gap);
	}
	printf("sent %d refused %d\n", sent, refused);
	return 0;
}

/* ---- what arrives --------------------------------------------------------------- */

struct result {
	int packets, same, wrong, partial;
	long bytes;
};

/* Is the checksum right? One that is left to the device is the pseudo header's. */
static bool right(const struct frame *f, int v, bool partial)
{
	const uint8_t *tcp = f->byte + f->tcp;

	if (partial)
		return (tcp[16] << 8 | tcp[17]) == fold(pseudo(f, v));
	return fold(sum(tcp, f->len - f->tcp, pseudo(f, v))) == 0xffff;
}

static void look(const struct spec *s, struct frame *got, bool partial,
		 struct result *r)
{
	static struct frame want;
	const uint8_t *o;

	build(s, &want, r->packets);
	r->packets++;
	r->bytes += got->len;
	r->partial += partial;
	/* The kernel takes out the first tag. */
	if (s->vlan && got->len + 4 == want.len) {
		memmove(got->byte + 16, got->byte + 12, got->len - 12);
		memcpy(got->byte + 12, want.byte + 12, 4);
		got->len += 4;
	}
	r->same += got->len == want.len &&
		   !memcmp(got->byte, want.byte, want.len);
	got->ip = want.ip;
	got->tcp = want.tcp;
	if (s->bad || got->len < want.options + FL_TCP_INT_BYTES)
		return;
	r->wrong += !right(got, s->v, partial);
	o = got->byte + want.options;
	if (s->option == OPTION_SOZE || s->option == OPTION_LOAD)
		printf("%s%d", r->packets > 1 ? "," : "", o[4] << 8 | o[5]);
	else if (s->option == OPTION_INT)
		printf("%s[%d,%d,%d]", r->packets > 1 ? "," : "", o[INT_VALUE],
		       o[INT_HOP], o[INT_LATENCY] << 16 |
		       o[INT_LATENCY + 1] << 8 | o[INT_LATENCY + 2]);
}

/* Receives one frame. Returns its length, -1 after an error. A tag that the kernel
 * has taken out is not put back.
 */
static ssize_t receive_one(int fd, struct frame *f, bool *partial)
{
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct iovec part = { f->byte, sizeof(f->byte) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t len = recvmsg(fd, &m, 0);
	struct tpacket_auxdata aux;
	struct cmsghdr *c;

	*partial = false;
	for (c = CMSG_FIRSTHDR(&m); len >= 0 && c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		*partial = aux.tp_status & TP_STATUS_CSUMNOTREADY;
	}
	return len;
}

static int receive_frames(int fd, const struct spec *s)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	static struct frame f;
	struct result r = { 0 };
	bool partial;
	ssize_t len;

	printf("{\"%s\":[", s->option == OPTION_INT ? "tcp_int" : "delays");
	fprintf(stderr, "ready\n");
	while (poll(&p, 1, r.packets ? QUIET_MS : PATIENCE_MS) > 0) {
		len = receive_one(fd, &f, &partial);
		if (len < 0)
			return fail("recvmsg");
		f.len = len;
		if (len >= 12 && !memcmp(f.byte + 6, mac_from, 6))
			look(s, &f, partial, &r);
	}
	printf("],\"packets\":%d,\"same\":%d,\"wrong\":%d,\"partial\":%d,\"bytes\":%ld}\n",
	       r.packets, r.same, r.wrong, r.partial, r.bytes);
	return 0;
}

/* ---- command line ---------------------------------------------------------------- */

static int parse(struct spec *s, char **argv)
{
	static const char * const options[] = { "none", "soze", "int", "load" };
	const struct {
		const char *key;
		int *value;
	} keys[] = {
		{ "v", &s->v }, { "value", &s->value }, { "hop", &s->hop },
		{ "payload", &s->payload }, { "gso", &s->gso },
		{ "partial", &s->partial }, { "dscp", &s->dscp },
		{ "ttl", &s->ttl }, { "vlan", &s->vlan },
		{ "ecn", &s->ecn },
		{ "count", &s->count }, { "gap", &s->gap },
	};
	size_t i;

	for (; *argv; argv++) {
		char *value = strchr(*argv, '=');

		if (!value)
			return -1;
		*value++ = 0;
		if (!strcmp(*argv, "bad")) {
			s->bad = value;
			continue;
		}
		if (!strcmp(*argv, "option")) {
			for (i = 0; i < ARRAY_SIZE(options) && strcmp(options[i], value); i++)
				;
			s->option = i;
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(keys); i++) {
			if (!strcmp(keys[i].key, *argv))
				break;
		}
		if (i == ARRAY_SIZE(keys))
			return -1;
		*keys[i].value = atoi(value);
	}
	return s->option > OPTION_LOAD || (s->v != 4 && s->v != 6) ||
	       s->payload < 0 || s->payload > 60000 ? -1 : 0;
}

static int open_packet(const char *dev, bool send)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = send ? 0 : htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1, size = 1 << 28;

	if (fd < 0 || !at.sll_ifindex ||
	    setsockopt(fd, SOL_PACKET, send ? PACKET_VNET_HDR : PACKET_AUXDATA,
		       &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, send ? SO_SNDBUFFORCE : SO_RCVBUFFORCE,
		       &size, sizeof(size)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return -1;
	return fd;
}

static int checksums(const char *dev, int on)
{
	struct ethtool_value value = { ETHTOOL_STXCSUM, on };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq request = { 0 };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
	request.ifr_data = (char *)&value;
	return ioctl(fd, SIOCETHTOOL, &request) ? fail(dev) : 0;
}

int main(int argc, char **argv)
{
	struct spec s = { .v = 4, .payload = 100, .ttl = 64, .count = 1 };
	bool sending = argc > 2 && !strcmp(argv[1], "send");
	size_t i;
	int fd;

	if (argc == 3 && !strcmp(argv[1], "kinds")) {
		for (i = 0; i < KINDS; i++) {
			if (!kinds[i].only || kinds[i].only == atoi(argv[2]))
				printf("%s:%s\n", kinds[i].name,
				       kinds[i].counter);
		}
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "checksums"))
		return checksums(argv[2], atoi(argv[3]));
	if (argc < 3 || (!sending && strcmp(argv[1], "receive")) ||
	    parse(&s, argv + 3)) {
		fprintf(stderr, "usage: see the head of fabric_packet.c\n");
		return 2;
	}
	fd = open_packet(argv[2], sending);
	if (fd < 0)
		return fail(argv[2]);
	return sending ? send_frames(fd, &s) : receive_frames(fd, &s);
}
