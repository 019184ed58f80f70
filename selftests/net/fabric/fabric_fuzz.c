// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of sch_fabric as no tc would send them, straight over netlink.
 *
 *	fabric_fuzz refusals DEV
 *		each wrong message must be refused with its text and change
 *		nothing; KTAP subtests
 *	fabric_fuzz replay DEV
 *		makes the port again from what the kernel tells of it; the same
 *		must be told of the new one
 *	fabric_fuzz dump DEV BYTES
 *		asks a new socket for all qdiscs, with a buffer of so many bytes,
 *		twice; prints "bands N omitted 0|1" for DEV's each time
 *	fabric_fuzz generic DEV
 *		asks the family "fabric" for its switches, first with what no header may
 *		have; prints "error N" for each of these messages, 0 for the right one
 *	fabric_fuzz random DEV SEED COUNT
 *		COUNT random messages: settings of port and classes with values
 *		from the edges, doubled, truncated, of wrong length and type, bytes
 *		changed; frames through the port after each. Prints
 *		"accepted N refused N silent N frames N"; silent: a refusal as
 *		invalid (EINVAL, ERANGE) that does not say why.
 */
#include "fabric_netlink.h"

#include <linux/gen_stats.h>
#include <linux/genetlink.h>

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
	{ "stamp 5", "stamp must be none, soze, tcp-int, load or power", false,
	  { { TCA_FABRIC_STAMP, 1, 5 } } },
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

/* Is a port that is made of the settings of another one the same? */
static bool replay(void)
{
	static uint8_t before[MESSAGE_MAX], after[MESSAGE_MAX];
	size_t bytes = settings(before, sizeof(before));
	const struct nlattr *options = (const void *)before;
	struct message m;
	char text[256];

	if (!bytes) {
		printf("# no settings\n");
		return false;
	}
	clear();
	start(&m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, 0);
	put(&m, TCA_KIND, "fabric", 7);
	put(&m, TCA_OPTIONS | NLA_F_NESTED, options + 1, bytes - NLA_HDRLEN);
	if (ask(&m, text, sizeof(text))) {
		printf("# the kernel's own settings are refused: %s\n", text);
		return false;
	}
	if (settings(after, sizeof(after)) != bytes ||
	    memcmp(before, after, bytes)) {
		printf("# settings are not the same\n");
		return false;
	}
	return true;
}

/* ---- dumps ---------------------------------------------------------------------- */

/* Next attribute of type @type from @at to @end; NULL: none. */
static const struct nlattr *find(const void *from, const void *end, int type)
{
	const uint8_t *at = from;

	while (at + NLA_HDRLEN <= (const uint8_t *)end) {
		const struct nlattr *a = (const void *)at;

		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		at += NLA_ALIGN(a->nla_len);
	}
	return NULL;
}

static const struct nlattr *inside(const struct nlattr *a, int type)
{
	return a ? find(a + 1, (const uint8_t *)a + a->nla_len, type) : NULL;
}

/* Prints what a message has of the bands. */
static void print_bands(const struct nlmsghdr *h)
{
	const struct nlattr *app, *bands;
	int i, count = 0;

	app = inside(find((const uint8_t *)h + NLMSG_LENGTH(sizeof(struct tcmsg)),
			  (const uint8_t *)h + h->nlmsg_len, TCA_STATS2),
		     TCA_STATS_APP);
	bands = inside(app, TCA_FABRIC_STATS_BANDS);
	for (i = 1; bands && i <= FABRIC_BANDS_MAX; i++)
		count += !!inside(bands, i);
	printf("bands %d omitted %d\n", count,
	       !!inside(app, TCA_FABRIC_STATS_BANDS_OMITTED));
}

/* One dump. Returns false if the socket breaks. */
static bool dump(int fd, size_t bytes)
{
	struct {
		struct nlmsghdr h;
		struct tcmsg t;
	} ask = {
		.h = { .nlmsg_len = sizeof(ask), .nlmsg_type = RTM_GETQDISC,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
	};
	static uint32_t buffer[16384];

	if (send(fd, &ask, sizeof(ask), 0) < 0)
		return false;
	for (;;) {
		const struct nlmsghdr *h = (const void *)buffer;
		ssize_t got = recv(fd, buffer, bytes, 0);

		if (got <= 0)
			return false;
		for (; NLMSG_OK(h, (size_t)got); h = NLMSG_NEXT(h, got)) {
			const struct tcmsg *t = NLMSG_DATA(h);

			if (h->nlmsg_type == NLMSG_DONE)
				return true;
			if (h->nlmsg_type != RTM_NEWQDISC)
				return false;
			if (t->tcm_ifindex == ifindex)
				print_bands(h);
		}
	}
}

static int dump_twice(size_t bytes)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	return fd < 0 || bytes > 65536 || !dump(fd, bytes) || !dump(fd, bytes);
}

/* ---- generic netlink ---------------------------------------------------------------- */

struct generic {
	struct nlmsghdr h;
	struct genlmsghdr g;
	struct nlattr a;
	char name[GENL_NAMSIZ];
};

/* Sends a message. Returns what came first: a message, in memory of this function's. */
static const struct nlmsghdr *ask_generic(int fd, struct generic *m, size_t bytes)
{
	static uint32_t buffer[8192];

	m->h.nlmsg_len = bytes;
	if (send(fd, m, bytes, 0) < 0 ||
	    recv(fd, buffer, sizeof(buffer), 0) < (ssize_t)sizeof(m->h))
		return NULL;
	return (const void *)buffer;
}

/* Number of the family; 0: there is none. */
static uint16_t family_id(int fd)
{
	struct generic m = {
		.h = { .nlmsg_type = GENL_ID_CTRL, .nlmsg_flags = NLM_F_REQUEST },
		.g = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 },
		.a = { .nla_len = NLA_HDRLEN + sizeof(FABRIC_GENL_NAME),
		       .nla_type = CTRL_ATTR_FAMILY_NAME },
		.name = FABRIC_GENL_NAME,
	};
	const struct nlmsghdr *h = ask_generic(fd, &m, sizeof(m) - sizeof(m.name) +
					       NLA_ALIGN(sizeof(FABRIC_GENL_NAME)));
	const uint8_t *at, *end;

	if (!h || h->nlmsg_type != GENL_ID_CTRL)
		return 0;
	end = (const uint8_t *)h + h->nlmsg_len;
	for (at = (const uint8_t *)(h + 1) + GENL_HDRLEN; at + NLA_HDRLEN < end;
	     at += NLA_ALIGN(((const struct nlattr *)at)->nla_len)) {
		if (((const struct nlattr *)at)->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(const uint16_t *)(at + NLA_HDRLEN);
	}
	return 0;
}

static int generic_headers(void)
{
	static const struct {
		uint16_t flags;
		uint16_t reserved;
	} headers[] = { { NLM_F_DUMP, 1 }, { NLM_F_DUMP | 0x800, 0 }, { NLM_F_DUMP, 0 } };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	uint16_t id = fd < 0 ? 0 : family_id(fd);
	unsigned int i;

	for (i = 0; id && i < ARRAY_SIZE(headers); i++) {
		struct generic m = {
			.h = { .nlmsg_type = id, .nlmsg_flags = NLM_F_REQUEST | headers[i].flags },
			.g = { .cmd = FABRIC_CMD_SWITCH_GET, .version = FABRIC_GENL_VERSION,
			       .reserved = headers[i].reserved },
		};
		const struct nlmsghdr *h = ask_generic(fd, &m, NLMSG_LENGTH(GENL_HDRLEN));

		if (!h)
			return 1;
		printf("error %d\n", h->nlmsg_type != ACK_ERROR ? 0 :
		       -((const struct nlmsgerr *)(h + 1))->error);
	}
	return !id;
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
	[TCA_FABRIC_STAMP_HOLD_NS] = 4, [TCA_FABRIC_MPU_BYTES] = 4,
	[TCA_FABRIC_SWITCH] = 4, [TCA_FABRIC_SWITCH_PORT] = 1,
	[TCA_FABRIC_SPEED_BPS] = 8, [TCA_FABRIC_HOP_RTT_NS] = 4,
	[TCA_FABRIC_FRAMES] = 1, [TCA_FABRIC_ROLE] = 1,
	[TCA_FABRIC_HOST_RATE_BPS] = 8, [TCA_FABRIC_FLOW_WAIT_NS] = 4,
	[TCA_FABRIC_FLOW_THETA_NS] = 4, [TCA_FABRIC_FLOW_FORM] = 1,
	[TCA_FABRIC_FLOW_WEIGHT_MILLI] = 4, [TCA_FABRIC_ANEW] = 0,
};

static const int class_bytes[TCA_FABRIC_CLASS_MAX + 1] = {
	[TCA_FABRIC_CLASS_LIMIT_PACKETS] = 4, [TCA_FABRIC_CLASS_QUEUE] = 1,
	[TCA_FABRIC_CLASS_QUEUES] = 1,
	[TCA_FABRIC_CLASS_QUANTUM_BYTES] = 4, [TCA_FABRIC_CLASS_WEIGHT] = 4,
	[TCA_FABRIC_CLASS_LIMIT_BYTES] = 4, [TCA_FABRIC_CLASS_RATE_BPS] = 8,
	[TCA_FABRIC_CLASS_BURST_BYTES] = 4, [TCA_FABRIC_CLASS_EACH_BYTES] = 4,
	[TCA_FABRIC_CLASS_ECN_MIN] = 4,
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
		type = 2 + any() % (TCA_FABRIC_MAX - 1);
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

static int random_messages(int count)
{
	int accepted = 0, refused_ones = 0, silent = 0, sent = 0, err;
	static uint8_t told[MESSAGE_MAX];
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
		if (count % 64 == 0 && settings(told, sizeof(told)) &&
		    !replay())
			silent++;
	}
	printf("accepted %d refused %d silent %d frames %d\n", accepted,
	       refused_ones, silent, sent);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3 || open_device(argv[2]))
		goto usage;
	if (argc == 3 && !strcmp(argv[1], "refusals"))
		return all_refusals();
	if (argc == 3 && !strcmp(argv[1], "replay"))
		return !replay();
	if (argc == 3 && !strcmp(argv[1], "generic"))
		return generic_headers();
	if (argc == 4 && !strcmp(argv[1], "dump"))
		return dump_twice(atoi(argv[3]));
	if (argc == 5 && !strcmp(argv[1], "random")) {
		state = atoi(argv[3]) * 2654435761U | 1;
		return random_messages(atoi(argv[4]));
	}
usage:
	fprintf(stderr, "usage: see the head of fabric_fuzz.c\n");
	return 2;
}
