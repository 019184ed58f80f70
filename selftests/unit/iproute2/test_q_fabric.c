// SPDX-License-Identifier: GPL-2.0
/*
 * tc's side of the fabric qdisc in user space: words to attributes and back, with
 * tc's own functions replaced by a few lines. Any words must be taken or refused
 * with a complaint; what is printed of settings must read back to the same.
 */
#include <limits.h>
#include <stdarg.h>
#include "unit.h"

/* What the sources say on stderr, and how often they have complained. */
static unsigned int complaints;

__attribute__((format(printf, 2, 3)))
static int complain(FILE *f, const char *format, ...)
{
	(void)f;
	complaints += !!*format;
	return 0;
}

#define FABRIC_PLUGIN
#define fprintf complain
#include "../../../iproute2-patches/q_fabric.c"
#include "../../../iproute2-patches/q_fabric_value.c"
#include "../../../iproute2-patches/q_fabric_print.c"
#undef fprintf

#include "tc_stub.h"

/* ---- help of the tests ---------------------------------------------------------- */

#define WORDS_MAX 200

struct message {
	struct nlmsghdr n;
	char rest[FABRIC_OPTIONS_MAX_BYTES];
};

static uint32_t state = 4711;

static uint32_t any(void)
{
	return unit_random32(&state);
}

/* Parses words, each in memory of its own length, as many as there are: a look
 * beyond is seen.
 */
static int parse(struct message *m, char *const *words, int count, bool class)
{
	char **argv = malloc(count * sizeof(*argv) + 1);
	int i, result;

	memset(m, 0, sizeof(*m));
	m->n.nlmsg_len = NLMSG_HDRLEN;
	m->n.nlmsg_type = class ? RTM_NEWTCLASS : RTM_NEWQDISC;
	for (i = 0; i < count; i++)
		argv[i] = strdup(words[i]);
	result = (class ? fabric_parse_copt : fabric_parse_opt)
		 (&fabric_qdisc_util, count, argv, &m->n, "dev");
	for (i = 0; i < count; i++)
		free(argv[i]);
	free(argv);
	return result;
}

/* Cuts a text into words. Returns how many. */
static int cut(char *text, char **words)
{
	int count = 0;
	char *word;

	for (word = strtok(text, "\n "); word && count < WORDS_MAX;
	     word = strtok(NULL, "\n "))
		words[count++] = word;
	return count;
}

static int parse_text(struct message *m, const char *text, bool class)
{
	char copy[sizeof(shown)], *words[WORDS_MAX];

	snprintf(copy, sizeof(copy), "%s", text);
	return parse(m, words, cut(copy, words), class);
}

static struct rtattr *options(struct message *m)
{
	return (void *)m->rest;
}

/* Do both hold the same attributes, whatever their order? */
static bool same(struct message *a, struct message *b, int max)
{
	struct rtattr *left[64], *right[64];
	int i;

	parse_nest(left, max, options(a));
	parse_nest(right, max, options(b));
	for (i = 1; i <= max; i++) {
		if (!left[i] != !right[i])
			return false;
		if (left[i] && (left[i]->rta_len != right[i]->rta_len ||
				memcmp(RTA_DATA(left[i]), RTA_DATA(right[i]),
				       RTA_PAYLOAD(left[i]))))
			return false;
	}
	return true;
}

/* Prints the settings, reads them again, compares. */
static bool reads_back(struct message *m, bool class)
{
	static struct message again;

	shown[0] = 0;
	if (class)
		fabric_print_copt(&fabric_qdisc_util, stdout, options(m));
	else
		fabric_print_opt(&fabric_qdisc_util, stdout, options(m));
	if (!parse_text(&again, shown, class) &&
	    same(m, &again, class ? TCA_FABRIC_CLASS_MAX : TCA_FABRIC_MAX))
		return true;
	printf("# not the same: %s\n", shown);
	return false;
}

static void put(struct message *m, int type, uint64_t value, int bytes)
{
	addattr_l(&m->n, FABRIC_OPTIONS_MAX_BYTES, type, &value, bytes);
}

static uint32_t any_bytes(void)
{
	uint32_t bytes = any() >> any() % 32;

	return 1 + bytes % FABRIC_LIMIT_MAX_BYTES;
}

/* ---- tests ------------------------------------------------------------------------ */

TEST(dscp_table)
{
	uint8_t map[64];

	memset(map, FABRIC_MAP_DEFAULT, sizeof(map));
	CHECK(!parse_dscp(map, "46:1"));
	CHECK_EQ(map[46], 0);
	CHECK(!parse_dscp(map, "0x0a-12,20:16:red"));
	CHECK_EQ(map[10], 15 | 2 << 4);
	CHECK_EQ(map[12], 15 | 2 << 4);
	CHECK_EQ(map[20], 15 | 2 << 4);
	CHECK(!parse_dscp(map, "11:0"));
	CHECK_EQ(map[11], FABRIC_MAP_DEFAULT);
	CHECK(parse_dscp(map, "64:1"));
	CHECK(parse_dscp(map, "1:17"));
	CHECK(parse_dscp(map, "2-1:1"));
	CHECK(parse_dscp(map, "1:1:blue"));
	CHECK(parse_dscp(map, "1:0:red"));
	CHECK(parse_dscp(map, "1,:1"));
	CHECK(parse_dscp(map, "1-:1"));
	CHECK(parse_dscp(map, "-1:1"));
	CHECK(parse_dscp(map, ":1"));
	CHECK(parse_dscp(map, "1"));
	CHECK(parse_dscp(map, "18446744073709551617:1"));
}

TEST(fuzz_dscp_words)
{
	static const char letters[] = "0123456789011223--,,::::redgnylow x ";
	unsigned int taken = 0, n;
	uint8_t map[64];
	size_t i, length;

	for (n = 0; n < 500000; n++) {
		char *word;

		length = 3 + any() % 10;
		word = malloc(length + 1);
		REQUIRE(word);
		for (i = 0; i < length; i++)
			word[i] = letters[any() % (sizeof(letters) - 1)];
		word[length] = 0;
		memset(map, FABRIC_MAP_DEFAULT, sizeof(map));
		taken += !parse_dscp(map, word);
		for (i = 0; i < 64; i++) {
			REQUIRE(map[i] == FABRIC_MAP_DEFAULT ||
				map[i] >> 4 < FABRIC_COLOURS);
		}
		free(word);
	}
	CHECK_GT(taken, 1000U);
}

/* Words that mean something, in any order, and some that do not. */
TEST(fuzz_command_lines)
{
	static const char * const known[] = {
		"limit", "rate", "delay", "overhead", "mpu", "packets", "speed", "ecn", "split-gso",
		"no-split-gso", "bands", "default", "priomap", "dscp", "buffer",
		"stamp", "stamp-tau", "stamp-round", "stamp-hold", "band", "strict", "weight",
		"quantum", "burst", "each", "ecn-delay", "green", "yellow", "red",
		"reserved", "alpha", "preset", "flexpass", "dctcp", "soze",
		"prio8", "prob", "enqueue", "dequeue", "drop", "pass", "off",
		"none", "last", "tcp-int", "help", "0", "1", "2", "16", "17",
		"-1", "1mb", "10gbit", "10us", "0.5", "1e300", "nan", "inf",
		"4294967296", "99999999999999999999", "0-63:1", "46:2:red", "sw",
		"", ":", "0x", "x", "averyverylongnameofabuffer",
	};
	static struct message m;
	unsigned int taken = 0, refused = 0, silent = 0, n;

	for (n = 0; n < 150000; n++) {
		char *words[80];
		int count = any() % (n % 64 ? 8 : 80), i, before = complaints;
		bool class = any() % 3 == 0;

		for (i = 0; i < count; i++)
			words[i] = (char *)known[any() % ARRAY_SIZE(known)];
		/* Every other one begins well. */
		if (count > 1 && any() % 2) {
			words[0] = (char *)(class ? "weight" : "bands");
			words[1] = (char *)"2";
		}
		if (!parse(&m, words, count, class)) {
			taken++;
			continue;
		}
		refused++;
		silent += complaints == (unsigned int)before;
	}
	CHECK_GT(taken, 1000U);
	CHECK_GT(refused, 1000U);
	CHECK_EQ(silent, 0U);
	CHECK_EQ(overflows, 0U);
}

/* The same option so often that they fit, and then do not: what has no room in tc's request is
 * not left out, and nothing is written behind it.
 */
TEST(more_options_than_fit)
{
	static const struct {
		const char *word;
		int count;
		bool class;
		int result;
	} lines[] = {
		{ "split-gso", 900, false, 0 }, { "split-gso", 1100, false, -1 },
		{ "strict", 1000, true, 0 }, { "strict", 1100, true, -1 },
	};
	static struct message m;
	char *words[1100];
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		unsigned int before = complaints;

		for (k = 0; k < ARRAY_SIZE(words); k++)
			words[k] = (char *)lines[i].word;
		CHECK_EQ(parse(&m, words, lines[i].count, lines[i].class), lines[i].result);
		CHECK_EQ(complaints - before, (unsigned int)-lines[i].result);
		CHECK(m.n.nlmsg_len <= (lines[i].class ? 4096 : sizeof(m)));
	}
	overflows = 0;
}

/* A second table is a mistake: the first would be lost. A preset's can be given anew. */
TEST(tables_that_stand_twice)
{
	static const struct {
		const char *text;
		int result;
	} lines[] = {
		{ "bands 2 dscp 8:1 dscp 10:2", -1 },
		{ "bands 2 dscp 8:1 10:2", 0 },
		{ "bands 2 dscp 8:1 limit 1mb dscp off", -1 },
		{ "bands 2 priomap 1 2 priomap 2", -1 },
		{ "bands 2 dscp 8:1 priomap 1 2", 0 },
		{ "preset prio8 dscp off", 0 },
		{ "limit 1mb limit 2mb", 0 },
	};
	static struct message m;
	unsigned int i, before;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		before = complaints;
		CHECK_EQ(parse_text(&m, lines[i].text, false), lines[i].result);
		CHECK_EQ(complaints - before, (unsigned int)-lines[i].result);
	}
}

/* What the kernel tells of a port. */
TEST(port_settings_read_back)
{
	static const uint64_t rates[] = { 1000, 999999937, 10000000000ULL,
					  10000000000000ULL };
	static struct message m;
	int n, i;

	for (n = 0; n < 40000; n++) {
		struct rtattr *nest;
		uint8_t map[64];

		memset(&m, 0, sizeof(m));
		m.n.nlmsg_len = NLMSG_HDRLEN;
		nest = addattr_nest(&m.n, FABRIC_OPTIONS_MAX_BYTES,
				    TCA_OPTIONS | NLA_F_NESTED);
		put(&m, TCA_FABRIC_LIMIT_BYTES, any_bytes(), 4);
		put(&m, TCA_FABRIC_SPLIT_GSO, any() % 2, 1);
		if (any() % 2)
			put(&m, TCA_FABRIC_BANDS, 2 + any() % 15, 1);
		if (any() % 2)
			put(&m, TCA_FABRIC_DEFAULT_BAND, any() % 16, 1);
		if (any() % 2) {
			for (i = 0; i < 16; i++)
				map[i] = any() % 4 ? any() % 16 :
						     FABRIC_MAP_DEFAULT;
			addattr_l(&m.n, FABRIC_OPTIONS_MAX_BYTES,
				  TCA_FABRIC_PRIOMAP, map, 16);
		}
		if (any() % 2) {
			uint32_t few = 1 + any() % 16;

			for (i = 0; i < 64; i++)
				map[i] = any() % 3 ? (any() % few) |
						     (any() % 3) << 4 :
						     FABRIC_MAP_DEFAULT;
			/* An empty table is not told. */
			map[any() % 64] = 0;
			addattr_l(&m.n, FABRIC_OPTIONS_MAX_BYTES,
				  TCA_FABRIC_DSCPMAP, map, 64);
		}
		if (any() % 2) {
			put(&m, TCA_FABRIC_RATE_BPS, rates[any() % 4], 8);
			put(&m, TCA_FABRIC_DELAY_NS,
			    any() % FABRIC_DELAY_MAX_NS, 8);
			put(&m, TCA_FABRIC_OVERHEAD_BYTES, any() % 1025, 4);
		}
		if (any() % 2) {
			put(&m, TCA_FABRIC_ECN_BYTES, any_bytes(), 4);
			put(&m, TCA_FABRIC_ECN_AT, any() % 2, 1);
		}
		if (any() % 2) {
			put(&m, TCA_FABRIC_STAMP, 1 + any() % 2, 1);
			if (any() % 2)
				put(&m, TCA_FABRIC_STAMP_TAU_NS,
				    1 + any() % 1000000000, 4);
			if (any() % 2)
				put(&m, TCA_FABRIC_STAMP_ROUND_NS,
				    1U << any() % 17, 4);
			if (any() % 2)
				put(&m, TCA_FABRIC_STAMP_HOLD_NS,
				    1 + any() % 1000000000, 4);
		}
		if (any() % 2) {
			addattr_l(&m.n, FABRIC_OPTIONS_MAX_BYTES,
				  TCA_FABRIC_BUFFER_NAME, "switch-1", 9);
			put(&m, TCA_FABRIC_BUFFER_BYTES, any_bytes(), 4);
		}
		addattr_nest_end(&m.n, nest);
		REQUIRE(reads_back(&m, false));
	}
}

/* Marking of a class. */
static void put_ecn(struct message *m)
{
	bool time = any() % 2;
	uint32_t min = (any_bytes() + 1) / 2, max = min;

	if (any() % 4 == 0) {
		put(m, TCA_FABRIC_CLASS_ECN_MAX, 0, 4);
		return;
	}
	if (any() % 2)
		max = min + any_bytes() / 2;
	put(m, TCA_FABRIC_CLASS_ECN_MAX, max, 4);
	put(m, TCA_FABRIC_CLASS_ECN_MIN, min, 4);
	if (min < max)
		put(m, TCA_FABRIC_CLASS_ECN_PROB, 1 + any() % 1000000, 4);
	if (time)
		put(m, TCA_FABRIC_CLASS_ECN_UNIT, FABRIC_ECN_UNIT_NS, 1);
	put(m, TCA_FABRIC_CLASS_ECN_AT, time || any() % 2, 1);
	put(m, TCA_FABRIC_CLASS_ECN_DROP, any() % 2, 1);
}

/* What the kernel tells of a class. */
TEST(class_settings_read_back)
{
	static struct message m;
	int n, i;

	for (n = 0; n < 40000; n++) {
		struct rtattr *nest;

		memset(&m, 0, sizeof(m));
		m.n.nlmsg_len = NLMSG_HDRLEN;
		nest = addattr_nest(&m.n, FABRIC_OPTIONS_MAX_BYTES,
				    TCA_OPTIONS | NLA_F_NESTED);
		switch (any() % 3) {
		case 0:
			put(&m, TCA_FABRIC_CLASS_STRICT, 0, 0);
			break;
		case 1:
			put(&m, TCA_FABRIC_CLASS_WEIGHT, 1 + any() % 256, 4);
			break;
		case 2:
			put(&m, TCA_FABRIC_CLASS_QUANTUM_BYTES, any_bytes(), 4);
		}
		if (any() % 2)
			put(&m, TCA_FABRIC_CLASS_LIMIT_BYTES, any_bytes(), 4);
		if (any() % 2) {
			put(&m, TCA_FABRIC_CLASS_RATE_BPS,
			    1000 + any() * 1999ULL, 8);
			put(&m, TCA_FABRIC_CLASS_BURST_BYTES, any_bytes(), 4);
			put(&m, TCA_FABRIC_CLASS_EACH_BYTES, any_bytes(), 4);
		}
		if (any() % 2)
			put_ecn(&m);
		for (i = 0; i < FABRIC_COLOURS; i++) {
			if (any() % 2)
				put(&m, TCA_FABRIC_CLASS_GREEN_BYTES + i,
				    any_bytes(), 4);
		}
		if (any() % 2) {
			put(&m, TCA_FABRIC_CLASS_RESERVED_BYTES, any_bytes(), 4);
			put(&m, TCA_FABRIC_CLASS_ALPHA_MILLI,
			    1 + any() % 1000000, 4);
		}
		addattr_nest_end(&m.n, nest);
		REQUIRE(reads_back(&m, true));
	}
}

/* Any bytes at all as settings and as counters: nothing is read beyond them. */
TEST(fuzz_printing)
{
	unsigned int n, bytes, i, letters = 0;

	for (n = 0; n < 100000; n++) {
		struct rtattr *a;
		char *to;

		bytes = RTA_ALIGN(4 + any() % 400);
		a = malloc(bytes);
		REQUIRE(a);
		to = (char *)a;
		for (i = 0; i < bytes; i++)
			to[i] = any() % 4 ? 0 : any();
		for (i = 4; i + 4 < bytes; i += RTA_ALIGN(4 + any() % 20)) {
			((struct rtattr *)(to + i))->rta_len = 4 + any() % 20;
			((struct rtattr *)(to + i))->rta_type = any() % 24;
		}
		a->rta_len = bytes;
		shown[0] = 0;
		switch (n % 3) {
		case 0:
			fabric_print_opt(&fabric_qdisc_util, stdout, a);
			break;
		case 1:
			fabric_print_copt(&fabric_qdisc_util, stdout, a);
			break;
		case 2:
			fabric_print_xstats(&fabric_qdisc_util, stdout, a);
		}
		letters += strlen(shown);
		free(a);
	}
	CHECK_GT(letters, 100000U);
}

/* The kernel has 15 characters. */
TEST(names_of_buffers)
{
	static struct message a;

	CHECK(!parse_text(&a, "buffer fifteen-letters 1mb", false));
	CHECK(parse_text(&a, "buffer fifteen-letters. 1mb", false));
}

/* A time that no field holds is not a short one. */
TEST(long_times)
{
	static const int types[] = {
		TCA_FABRIC_STAMP_TAU_NS, TCA_FABRIC_STAMP_HOLD_NS,
		TCA_FABRIC_FLOW_WAIT_NS, TCA_FABRIC_FLOW_THETA_NS,
	};
	struct rtattr *tb[64];
	static struct message a;
	size_t i;

	REQUIRE(!parse_text(&a, "stamp-tau 5s stamp-hold 5s flow-delay 5s flow-theta 5s", false));
	parse_nest(tb, TCA_FABRIC_MAX, options(&a));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		REQUIRE(tb[types[i]]);
		CHECK_EQ(*(uint32_t *)RTA_DATA(tb[types[i]]), UINT32_MAX);
	}
}

/* A preset is options, and that what is not among them gets its default. */
TEST(presets_are_options)
{
	static const char * const lines[][2] = {
		{ "preset dctcp", "limit 4mb ecn 97500 enqueue" },
		{ "preset soze", "limit 4mb stamp soze" },
		{ "preset prio8",
		  "limit 4mb bands 8 dscp 56-63:1 48-55:2 40-47:3 32-39:4 24-31:5 16-23:6 8-15:7 0-7:8",
		},
		{ "preset flexpass rate 10gbit",
		  "limit 4mb bands 3 dscp 40:1 41,43:2 42:2:red rate 10gbit band 1 strict packets 10 rate 254187192bit burst 172 each 86 band 2 weight 1 ecn-delay 10000ns red 50000 band 3 weight 1 ecn-delay 78000ns",
		},
		{
			"preset flexpass speed 10gbit limit 2mb",
			"limit 4mb bands 3 dscp 40:1 41,43:2 42:2:red limit 2mb band 1 strict packets 10 rate 254187192bit burst 172 each 86 band 2 weight 1 ecn-delay 10000ns red 50000 band 3 weight 1 ecn-delay 78000ns",
		},
		{
			/* 8 segments a credit, and thresholds of the line's time */
			"preset flexpass speed 100gbit",
			"limit 4mb bands 3 dscp 40:1 41,43:2 42:2:red band 1 strict packets 10 rate 333171912bit burst 172 each 86 band 2 weight 1 ecn-delay 10000ns red 500000 band 3 weight 1 ecn-delay 78000ns",
		},
		{
			/* large packets: some of them fit below the thresholds */
			"preset flexpass speed 1gbit mtu 9000 segs 2",
			"limit 4mb bands 3 dscp 40:1 41,43:2 42:2:red band 1 strict packets 10 rate 2272877bit burst 172 each 86 band 2 weight 1 ecn-delay 576896ns red 288448 band 3 weight 1 ecn-delay 4499784ns",
		},
		{
			"preset flexpass-paper mtu 1500 speed 40gbit segs 1",
			"limit 4mb bands 3 dscp 40:1 41,43:2 42:2:red band 1 strict packets 10 rate 1059113300bit burst 172 each 86 band 2 weight 1 ecn 65000 enqueue red 150000 band 3 weight 1 ecn 100000 enqueue",
		},
		{
			"preset expresspass speed 10gbit band 2 limit 1mb",
			"limit 4mb bands 2 dscp 40:1 band 1 strict packets 10 rate 529556650bit burst 172 each 86 band 2 weight 1 band 2 limit 1mb",
		},
	};
	struct rtattr *tb[TCA_FABRIC_MAX + 1];
	static struct message a, b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		CHECK(!parse_text(&a, lines[i][0], false));
		CHECK(!parse_text(&b, lines[i][1], false));
		CHECK(same(&a, &b, TCA_FABRIC_ANEW - 1));
		parse_nest(tb, TCA_FABRIC_MAX, options(&a));
		CHECK(tb[TCA_FABRIC_ANEW]);
		parse_nest(tb, TCA_FABRIC_MAX, options(&b));
		CHECK(!tb[TCA_FABRIC_ANEW]);
	}
	CHECK(parse_text(&a, "preset flexpass", false));
	CHECK(parse_text(&a, "preset flexpass speed", false));
	CHECK(parse_text(&a, "preset flexpass speed 1gbit mtu 0", false));
	CHECK(parse_text(&a, "preset flexpass speed 1gbit mtu 65536", false));
	CHECK(parse_text(&a, "preset flexpass speed 1gbit segs 65", false));
	CHECK(parse_text(&a, "preset flexpass speed 1gbit segs", false));
	/* nothing of these depends on them */
	CHECK(parse_text(&a, "preset dctcp mtu 9000", false));
	CHECK(parse_text(&a, "preset prio8 speed 1gbit segs 2", false));
	CHECK(parse_text(&a, "preset flexpass speed x", false));
	CHECK(parse_text(&a, "preset flexpass speed 0", false));
	CHECK(parse_text(&a, "preset dctcp speed 0", false));
	CHECK(parse_text(&a, "preset dctcp speed none", false));
	CHECK(parse_text(&a, "preset dctcp speed 11tbit", false));
	CHECK(parse_text(&a, "preset nothing", false));
	CHECK(parse_text(&a, "preset", false));
}

/* Has the file @name the word @word, with no letter before or after it? */
static bool has_word(const char *name, const char *word)
{
	static char text[65536];
	FILE *f = fopen(name, "r");
	size_t length;
	char *at;

	if (!f)
		return false;
	length = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[length] = 0;
	for (at = strstr(text, word); at; at = strstr(at + 1, word)) {
		char before = at > text ? at[-1] : ' ';
		char after = at[strlen(word)];

		/* no part of a longer word. */
		if ((before != '-' || at == text) &&
		    !(before >= 'a' && before <= 'z') && after != '-' &&
		    !(after >= 'a' && after <= 'z'))
			return true;
	}
	return false;
}

/* The folder of the sources; tests run anywhere. */
#define FABRIC TOP "/iproute2-patches"

/* Each option is in the usage text, the manual page and the completion. */
TEST(options_are_documented)
{
	static const char * const files[] = {
		FABRIC "/q_fabric.c", FABRIC "/tc-fabric.8", FABRIC "/tc-fabric.bash",
	};
	static const char * const others[] = {
		"preset", "flexpass", "flexpass-paper", "expresspass", "dctcp",
		"prio8", "mtu", "segs", "enqueue", "dequeue", "prob",
		"drop", "pass", "none", "last", "off", "tcp-int",
	};
	const struct fabric_option *o;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		for (o = fabric_port_options; o->name; o++)
			CHECK_MSG(has_word(files[i], o->name), "%s: %s", files[i],
				  o->name);
		for (o = fabric_band_options; o->name; o++)
			CHECK_MSG(has_word(files[i], o->name), "%s: %s", files[i],
				  o->name);
		for (k = 0; k < ARRAY_SIZE(others); k++)
			CHECK_MSG(has_word(files[i], others[k]), "%s: %s",
				  files[i], others[k]);
	}
	CHECK(!has_word(files[1], "nosuchoption"));
}

UNIT_MAIN
