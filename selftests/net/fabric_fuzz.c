// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of sch_fabric as no tc would send them, straight over netlink.
 *
 *	fabric_fuzz refusals DEV
 *		each wrong message must be refused with its text and change
 *		nothing; KTAP subtests
 *	fabric_fuzz random DEV SEED COUNT
 *		COUNT random messages: settings of port and classes with values
 *		from the edges, doubled, truncated, of wrong length and type, bytes
 *		changed; frames through the port after each. Prints
 *		"accepted N refused N silent N frames N"; silent: a refusal as
 *		invalid (EINVAL, ERANGE) that does not say why.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/fairlane.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define HANDLE		0x10000U
#define MESSAGE_MAX	4096
#define FRAME_BYTES	1514

/* Not in every distribution's linux/netlink.h under these names. */
#define ACK_ERROR	NLMSG_ERROR

struct message {
	struct nlmsghdr h;
	struct tcmsg t;
	uint8_t rest[MESSAGE_MAX];
};

static int route_fd, packet_fd;
static int ifindex;
static uint32_t state = 1;

static uint32_t any(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* ---- messages -------------------------------------------------------------- */

static void start(struct message *m, int type, int flags, uint32_t classid)
{
	memset(m, 0, sizeof(*m));
	m->h.nlmsg_len = NLMSG_LENGTH(sizeof(m->t));
	m->h.nlmsg_type = type;
	m->h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	m->t.tcm_family = AF_UNSPEC;
	m->t.tcm_ifindex = ifindex;
	m->t.tcm_handle = classid ? classid : HANDLE;
	m->t.tcm_parent = classid ? HANDLE : TC_H_ROOT;
}

static struct nlattr *put(struct message *m, int type, const void *data,
			  int bytes)
{
	struct nlattr *a = (void *)((uint8_t *)m + NLMSG_ALIGN(m->h.nlmsg_len));

	if (m->h.nlmsg_len + bytes + 64 > sizeof(*m))
		return a;
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + bytes;
	if (bytes)
		memcpy((uint8_t *)a + NLA_HDRLEN, data, bytes);
	m->h.nlmsg_len = NLMSG_ALIGN(m->h.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static struct nlattr *nest(struct message *m, int type)
{
	return put(m, type | NLA_F_NESTED, NULL, 0);
}

static void end(struct message *m, struct nlattr *a)
{
	a->nla_len = (uint8_t *)m + NLMSG_ALIGN(m->h.nlmsg_len) - (uint8_t *)a;
}

/* The text of a refusal; "" if it has none. */
static void find_text(const struct nlmsghdr *h, char *text, size_t size)
{
	const struct nlmsgerr *e = (const void *)(h + 1);
	size_t at = NLMSG_HDRLEN + sizeof(*e);

	text[0] = 0;
	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		at += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	while (at + NLA_HDRLEN <= h->nlmsg_len) {
		const struct nlattr *a = (const void *)((const uint8_t *)h + at);

		if (a->nla_len < NLA_HDRLEN)
			return;
		if (a->nla_type == NLMSGERR_ATTR_MSG)
			snprintf(text, size, "%.*s", a->nla_len - NLA_HDRLEN,
				 (const char *)a + NLA_HDRLEN);
		at += NLA_ALIGN(a->nla_len);
	}
}

/* Sends a message. Returns 0 or the negative error; @text says why. */
static int ask(struct message *m, char *text, size_t size)
{
	static uint32_t buffer[16384];
	static uint32_t seq;
	ssize_t got;

	m->h.nlmsg_seq = ++seq;
	if (send(route_fd, m, m->h.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		const struct nlmsghdr *h = (const void *)buffer;
		const struct nlmsgerr *e = (const void *)(h + 1);

		got = recv(route_fd, buffer, sizeof(buffer), 0);
		if (got < 0)
			return -errno;
		if (h->nlmsg_seq != seq || h->nlmsg_type != ACK_ERROR)
			continue;
		find_text(h, text, size);
		return e->error;
	}
}

/* Deletes the port's qdisc. */
static void clear(void)
{
	struct message m;
	char text[256];

	start(&m, RTM_DELQDISC, 0, 0);
	m.t.tcm_handle = 0;
	ask(&m, text, sizeof(text));
}

/* ---- refusals ---------------------------------------------------------------- */

/* A wrong message: up to three attributes. */
static const struct refusal {
	const char *name;
	const char *text;
	bool of_class;
	struct {
		int type;
		int bytes;
		uint64_t value;
	} attr[3];
} refusals[] = {
	{ "priomap of 15", "priomap must have 16 entries", false,
	  { { TCA_FABRIC_PRIOMAP, 15, 0 } } },
	{ "priomap of 17", "priomap must have 16 entries", false,
	  { { TCA_FABRIC_PRIOMAP, 17, 0 } } },
	{ "dscp of 63", "dscp must have 64 entries", false,
	  { { TCA_FABRIC_DSCPMAP, 63, 0 } } },
	{ "dscp of 65", "dscp must have 64 entries", false,
	  { { TCA_FABRIC_DSCPMAP, 65, 0 } } },
	{ "dscp with a fourth colour", "dscp names a colour that is not there",
	  false, { { TCA_FABRIC_DSCPMAP, 64, 0x30 } } },
	{ "dscp with a band too many", "dscp names a band that is not there",
	  false, { { TCA_FABRIC_DSCPMAP, 64, 0x05 } } },
	{ "split-gso 2", "split-gso must be 0 or 1", false,
	  { { TCA_FABRIC_SPLIT_GSO, 1, 2 } } },
	{ "ecn at 2", "ecn must act at enqueue (0) or dequeue (1)", false,
	  { { TCA_FABRIC_ECN_BYTES, 4, 1 }, { TCA_FABRIC_ECN_AT, 1, 2 } } },
	{ "stamp 3", "stamp must be none, soze or tcp-int", false,
	  { { TCA_FABRIC_STAMP, 1, 3 } } },
	{ "buffer's size alone", "a size needs a shared buffer's name", false,
	  { { TCA_FABRIC_BUFFER_BYTES, 4, 1000 } } },
	{ "bands 17", "bands must be 1 to 16", false,
	  { { TCA_FABRIC_BANDS, 1, 17 } } },
	{ "limit of 8 bytes", "", false,
	  { { TCA_FABRIC_LIMIT_BYTES, 8, 1000 } } },
	{ "limit of 2 bytes", "", false,
	  { { TCA_FABRIC_LIMIT_BYTES, 2, 1000 } } },
	{ "rate of 4 bytes", "", false, { { TCA_FABRIC_RATE_BPS, 4, 100000 } } },
	{ "unknown attribute", "", false, { { TCA_FABRIC_MAX + 1, 4, 0 } } },
	{ "buffer's name without an end", "", false,
	  { { TCA_FABRIC_BUFFER_NAME, 16, ~0ULL } } },
	{ "bands' options not in a nest", "", false,
	  { { TCA_FABRIC_BAND_OPTIONS, 4, 0 } } },
	{ "class: ecn at alone", "ecn needs a threshold", true,
	  { { TCA_FABRIC_CLASS_ECN_AT, 1, 1 } } },
	{ "class: ecn at 2", "ecn must act at enqueue (0) or dequeue (1)", true,
	  { { TCA_FABRIC_CLASS_ECN_MAX, 4, 9 },
	    { TCA_FABRIC_CLASS_ECN_AT, 1, 2 } } },
	{ "class: ecn unit 2", "ecn unit must be bytes (0) or time (1)", true,
	  { { TCA_FABRIC_CLASS_ECN_MAX, 4, 9 },
	    { TCA_FABRIC_CLASS_ECN_UNIT, 1, 2 } } },
	{ "class: ecn drop 2", "ecn drop must be 0 or 1", true,
	  { { TCA_FABRIC_CLASS_ECN_MAX, 4, 9 },
	    { TCA_FABRIC_CLASS_ECN_DROP, 1, 2 } } },
	{ "class: ecn by time at enqueue",
	  "ecn by time acts at dequeue: before, the delay is not known", true,
	  { { TCA_FABRIC_CLASS_ECN_MAX, 4, 9 },
	    { TCA_FABRIC_CLASS_ECN_UNIT, 1, 1 },
	    { TCA_FABRIC_CLASS_ECN_AT, 1, 0 } } },
	{ "class: strict and weight",
	  "a strict band has neither weight nor quantum", true,
	  { { TCA_FABRIC_CLASS_STRICT, 0, 0 },
	    { TCA_FABRIC_CLASS_WEIGHT, 4, 1 } } },
	{ "class: weight and quantum",
	  "weight and quantum exclude each other", true,
	  { { TCA_FABRIC_CLASS_QUANTUM_BYTES, 4, 2000 },
	    { TCA_FABRIC_CLASS_WEIGHT, 4, 1 } } },
	{ "class: weight of 1 byte", "", true,
	  { { TCA_FABRIC_CLASS_WEIGHT, 1, 1 } } },
	{ "class: unknown attribute", "", true,
	  { { TCA_FABRIC_CLASS_MAX + 1, 4, 0 } } },
};

#define REFUSALS ((int)ARRAY_SIZE(refusals))

/* The port's settings as the kernel tells them. Returns their length. */
static size_t settings(uint8_t *to, size_t size)
{
	static uint32_t buffer[16384];
	const struct nlmsghdr *h = (const void *)buffer;
	struct message m;
	ssize_t got;
	size_t at = NLMSG_LENGTH(sizeof(struct tcmsg));

	start(&m, RTM_GETQDISC, 0, 0);
	m.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO;
	if (send(route_fd, &m, m.h.nlmsg_len, 0) < 0)
		return 0;
	got = recv(route_fd, buffer, sizeof(buffer), 0);
	if (got < 0 || h->nlmsg_type != RTM_NEWQDISC)
		return 0;
	while (at + NLA_HDRLEN <= h->nlmsg_len) {
		const struct nlattr *a = (const void *)((uint8_t *)buffer + at);

		if ((a->nla_type & NLA_TYPE_MASK) == TCA_OPTIONS &&
		    a->nla_len <= size) {
			memcpy(to, a, a->nla_len);
			return a->nla_len;
		}
		at += NLA_ALIGN(a->nla_len);
	}
	return 0;
}

/* Is this refused as it should be? */
static bool refused(const struct refusal *r)
{
	static uint8_t before[MESSAGE_MAX], after[MESSAGE_MAX];
	size_t bytes = settings(before, sizeof(before));
	uint8_t data[80];
	struct nlattr *options;
	struct message m;
	char text[256];
	int err, i;

	start(&m, r->of_class ? RTM_NEWTCLASS : RTM_NEWQDISC, 0,
	      r->of_class ? HANDLE | 1 : 0);
	put(&m, TCA_KIND, "fabric", 7);
	options = nest(&m, TCA_OPTIONS);
	for (i = 0; i < 3 && r->attr[i].type; i++) {
		/* Arrays have the value in each byte, an unended name 0xff. */
		memset(data, r->attr[i].value, sizeof(data));
		if (r->attr[i].bytes <= 8)
			memcpy(data, &r->attr[i].value, 8);
		put(&m, r->attr[i].type, data, r->attr[i].bytes);
	}
	end(&m, options);
	err = ask(&m, text, sizeof(text));
	if (err != -EINVAL && err != -ERANGE) {
		printf("    # %s: error %d\n", r->name, err);
		return false;
	}
	if (!*text || !strstr(text, r->text)) {
		printf("    # %s: \"%s\", not \"%s\"\n", r->name, text, r->text);
		return false;
	}
	if (!bytes || settings(after, sizeof(after)) != bytes ||
	    memcmp(before, after, bytes)) {
		printf("    # %s: settings have changed\n", r->name);
		return false;
	}
	return true;
}

static int all_refusals(void)
{
	struct message m;
	bool good = true;
	char text[256];
	int i;

	clear();
	start(&m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, 0);
	put(&m, TCA_KIND, "fabric", 7);
	if (ask(&m, text, sizeof(text))) {
		printf("# no port: %s\n", text);
		return 1;
	}
	for (i = 0; i < REFUSALS; i++)
		good &= refused(&refusals[i]);
	printf("# %d wrong messages\n", REFUSALS);
	return !good;
}

/* ---- random settings ------------------------------------------------------------ */

/* Bytes of each attribute's value; -1: an array, -2: a name. */
static const int port_bytes[TCA_FABRIC_MAX + 1] = {
	[TCA_FABRIC_LIMIT_BYTES] = 4, [TCA_FABRIC_RATE_BPS] = 8,
	[TCA_FABRIC_DELAY_NS] = 8, [TCA_FABRIC_OVERHEAD_BYTES] = 4,
	[TCA_FABRIC_ECN_BYTES] = 4, [TCA_FABRIC_ECN_AT] = 1,
	[TCA_FABRIC_SPLIT_GSO] = 1, [TCA_FABRIC_BANDS] = 1,
	[TCA_FABRIC_DEFAULT_BAND] = 1, [TCA_FABRIC_PRIOMAP] = -16,
	[TCA_FABRIC_DSCPMAP] = -64, [TCA_FABRIC_BUFFER_NAME] = 2,
	[TCA_FABRIC_BUFFER_BYTES] = 4, [TCA_FABRIC_STAMP] = 1,
	[TCA_FABRIC_STAMP_TAU_NS] = 4, [TCA_FABRIC_STAMP_ROUND_NS] = 4,
};

static const int class_bytes[TCA_FABRIC_CLASS_MAX + 1] = {
	[TCA_FABRIC_CLASS_QUANTUM_BYTES] = 4, [TCA_FABRIC_CLASS_WEIGHT] = 4,
	[TCA_FABRIC_CLASS_LIMIT_BYTES] = 4, [TCA_FABRIC_CLASS_RATE_BPS] = 8,
	[TCA_FABRIC_CLASS_BURST_BYTES] = 4, [TCA_FABRIC_CLASS_ECN_MIN] = 4,
	[TCA_FABRIC_CLASS_ECN_MAX] = 4, [TCA_FABRIC_CLASS_ECN_PROB] = 4,
	[TCA_FABRIC_CLASS_ECN_UNIT] = 1, [TCA_FABRIC_CLASS_ECN_AT] = 1,
	[TCA_FABRIC_CLASS_ECN_DROP] = 1, [TCA_FABRIC_CLASS_GREEN_BYTES] = 4,
	[TCA_FABRIC_CLASS_YELLOW_BYTES] = 4, [TCA_FABRIC_CLASS_RED_BYTES] = 4,
	[TCA_FABRIC_CLASS_RESERVED_BYTES] = 4,
	[TCA_FABRIC_CLASS_ALPHA_MILLI] = 4,
};

static uint64_t any_value(int bytes)
{
	static const uint64_t edges[] = {
		0, 1, 2, 3, 16, 255, 256, 1000, 4096, 65536, 1 << 20, 1 << 30,
		(1 << 30) + 1, 100000000, 10000000000, 10000000000001, ~0ULL,
	};

	/* Mostly what makes sense, alone at least. */
	if (bytes == 1 && any() % 8)
		return any() % 4;
	if (bytes > 1 && any() % 8)
		return bytes == 8 ? any() % 4 * 123456789ULL :
				    256U << any() % 9;
	if (any() % 4)
		return edges[any() % ARRAY_SIZE(edges)];
	return (uint64_t)any() << (any() % 32) >> (any() % 32);
}

static void put_any(struct message *m, int type, int bytes)
{
	uint8_t data[128] = { 0 };
	uint64_t value;
	int i;

	if (bytes < 0) {
		bytes = any() % 8 ? -bytes : (int)(any() % 80);
		for (i = 0; i < bytes; i++)
			data[i] = any() % 16 ? any() % 3 : any();
	} else {
		value = any_value(bytes);
		memcpy(data, &value, sizeof(value));
		if (type == TCA_FABRIC_BUFFER_NAME && bytes == 2 && any() % 8) {
			data[0] = any() % 4 ? 'a' + any() % 3 : 0;
			data[1] = 0;
		}
	}
	/* A wrong length, a wrong type. */
	if (!(any() % 64))
		bytes = any() % 24;
	if (!(any() % 64))
		type = any() % 40;
	if (!(any() % 64))
		type |= NLA_F_NESTED;
	put(m, type, data, bytes);
}

static void put_class(struct message *m)
{
	int i, n = any() % 3, type;

	for (i = 0; i < n; i++) {
		type = 2 + any() % (TCA_FABRIC_CLASS_MAX - 1);
		put_any(m, type, class_bytes[type]);
	}
}

static void put_port(struct message *m)
{
	struct nlattr *bands, *band;
	int i, n = any() % 3, type;

	if (any() % 2)
		put_any(m, TCA_FABRIC_BANDS, 1);
	for (i = 0; i < n; i++) {
		type = 2 + any() % (TCA_FABRIC_MAX - 2);
		put_any(m, type, port_bytes[type]);
	}
	if (any() % 8)
		return;
	bands = nest(m, TCA_FABRIC_BAND_OPTIONS);
	for (n = any() % 4; n; n--) {
		band = nest(m, any() % 16 ? any() % 5 : any() % 300);
		put_class(m);
		end(m, band);
	}
	end(m, bands);
}

/* Changes bytes of the options, or cuts them off. */
static void spoil(struct message *m, struct nlattr *options)
{
	uint8_t *from = (uint8_t *)options + NLA_HDRLEN;
	uint32_t bytes = (uint8_t *)m + m->h.nlmsg_len - from, n;

	if (bytes && !(any() % 8)) {
		for (n = 1 + any() % 4; n; n--)
			from[any() % bytes] = any();
	}
	if (bytes && !(any() % 16))
		m->h.nlmsg_len -= any() % (bytes < 32 ? bytes : 32);
	if (!(any() % 32))
		options->nla_len = any() % 64;
	if (!(any() % 32))
		options->nla_type &= ~NLA_F_NESTED;
}

static void random_message(struct message *m)
{
	static const int flags[] = {
		0, 0, NLM_F_CREATE, NLM_F_CREATE | NLM_F_EXCL,
		NLM_F_CREATE | NLM_F_REPLACE, NLM_F_REPLACE,
	};
	uint32_t what = any() % 32, number = any() % 8;
	struct nlattr *options;

	if (what == 0) {
		start(m, RTM_DELQDISC, 0, 0);
		m->t.tcm_handle = any() % 2 ? HANDLE : 0;
		return;
	}
	if (what <= 2) {
		start(m, RTM_DELTCLASS, 0, HANDLE | number);
		return;
	}
	if (what == 3) {
		/* Another kind of qdisc on a band. */
		start(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, 0);
		m->t.tcm_handle = 0;
		m->t.tcm_parent = HANDLE | (1 + any() % 4);
		put(m, TCA_KIND, any() % 3 ? "pfifo" : "fabric", 7);
		return;
	}
	if (what == 4) {
		start(m, RTM_DELQDISC, 0, 0);
		m->t.tcm_handle = 0;
		m->t.tcm_parent = HANDLE | (1 + any() % 4);
		return;
	}
	if (what < 16)
		start(m, RTM_NEWTCLASS, any() % 2 ? NLM_F_CREATE : 0,
		      HANDLE | number);
	else
		start(m, RTM_NEWQDISC, flags[any() % 6], 0);
	put(m, TCA_KIND, "fabric", 7);
	options = nest(m, TCA_OPTIONS);
	if (what < 16)
		put_class(m);
	else
		put_port(m);
	end(m, options);
	spoil(m, options);
}

/* Some frames: IPv4 or IPv6 by their type, any DSCP, ECN and length. */
static int frames(void)
{
	static uint8_t frame[FRAME_BYTES];
	int n = any() % 4, i, sent = 0;
	uint32_t v6;

	for (i = 0; i < n; i++) {
		v6 = any() % 2;
		memset(frame, 0, 14);
		frame[0] = 2;
		frame[5] = 0xbb;
		frame[6] = 2;
		frame[12] = v6 ? 0x86 : 0x08;
		frame[13] = v6 ? 0xdd : 0x00;
		frame[14] = v6 ? 0x60 | any() % 16 : 0x45;
		frame[15] = any();
		sent += send(packet_fd, frame, 60 + any() % (FRAME_BYTES - 60),
			     0) > 0;
	}
	if (!(any() % 16))
		usleep(any() % 2000);
	return sent;
}

static int random_messages(int count)
{
	int accepted = 0, refused_ones = 0, silent = 0, sent = 0, err;
	struct message m;
	char text[256];

	while (count--) {
		random_message(&m);
		err = ask(&m, text, sizeof(text));
		if (!err)
			accepted++;
		else
			refused_ones++;
		if ((err == -EINVAL || err == -ERANGE) && !*text) {
			silent++;
			printf("# silent: type %d error %d\n", m.h.nlmsg_type,
			       err);
		}
		sent += frames();
	}
	printf("accepted %d refused %d silent %d frames %d\n", accepted,
	       refused_ones, silent, sent);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };
	struct timeval patience = { .tv_sec = 5 };
	int one = 1, size = 1 << 28;

	if (argc < 3)
		goto usage;
	ifindex = if_nametoindex(argv[2]);
	at.sll_ifindex = ifindex;
	route_fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	packet_fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (!ifindex || route_fd < 0 || packet_fd < 0 ||
	    setsockopt(route_fd, SOL_NETLINK, NETLINK_EXT_ACK, &one,
		       sizeof(one)) ||
	    setsockopt(route_fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) ||
	    setsockopt(packet_fd, SOL_SOCKET, SO_SNDBUFFORCE, &size,
		       sizeof(size)) ||
	    bind(packet_fd, (struct sockaddr *)&at, sizeof(at))) {
		perror(argv[2]);
		return 1;
	}
	if (argc == 3 && !strcmp(argv[1], "refusals"))
		return all_refusals();
	if (argc == 5 && !strcmp(argv[1], "random")) {
		state = atoi(argv[3]) * 2654435761U | 1;
		return random_messages(atoi(argv[4]));
	}
usage:
	fprintf(stderr, "usage: see the head of fabric_fuzz.c\n");
	return 2;
}
