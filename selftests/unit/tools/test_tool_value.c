// SPDX-License-Identifier: GPL-2.0
/*
 * Values of the command fairlane: what is read, what is refused, and that what is
 * printed reads back as the same. Then random text: no reader may fall over it.
 */
#include "unit.h"

#include "../../../tools/fairlane/attr.c"
#include "../../../tools/fairlane/value.c"
#include "../../../tools/fairlane/words.c"
#include "../../../tools/fairlane/out.c"

#include <sys/socket.h>

static uint64_t read_time(const char *s)
{
	uint64_t v;

	return parse_time_ns(s, &v) ? v : UINT64_MAX;
}

static uint64_t read_rate(const char *s)
{
	uint64_t v;

	return parse_rate_bps(s, &v) ? v : UINT64_MAX;
}

static uint64_t read_milli(const char *s)
{
	uint64_t v;

	return parse_milli(s, &v) ? v : UINT64_MAX;
}

TEST(times)
{
	CHECK_EQ(read_time("12us"), (uint64_t)12000);
	CHECK_EQ(read_time("2.5us"), (uint64_t)2500);
	CHECK_EQ(read_time("1s"), (uint64_t)1000000000);
	CHECK_EQ(read_time("10min"), (uint64_t)600000000000);
	CHECK_EQ(read_time("0.5min"), (uint64_t)30000000000);
	CHECK_EQ(read_time("1m"), UINT64_MAX);
	CHECK_EQ(read_time("400000000min"), UINT64_MAX);
	CHECK_EQ(read_time("0"), (uint64_t)0);
	CHECK_EQ(read_time("1MS"), (uint64_t)1000000);
	CHECK_EQ(read_time("5"), UINT64_MAX);
	CHECK_EQ(read_time(""), UINT64_MAX);
	CHECK_EQ(read_time("us"), UINT64_MAX);
	CHECK_EQ(read_time("-1us"), UINT64_MAX);
	CHECK_EQ(read_time("+1us"), UINT64_MAX);
	CHECK_EQ(read_time(" 1us"), UINT64_MAX);
	CHECK_EQ(read_time("1us "), UINT64_MAX);
	CHECK_EQ(read_time("1..2us"), UINT64_MAX);
	CHECK_EQ(read_time("0.5ns"), UINT64_MAX);
	CHECK_EQ(read_time("1.2345us"), UINT64_MAX);
	CHECK_EQ(read_time("99999999999999999999s"), UINT64_MAX);
	CHECK_EQ(read_time("18446744074s"), UINT64_MAX);
	CHECK_EQ(read_time("0x10us"), UINT64_MAX);
	CHECK_EQ(read_time("1e3us"), UINT64_MAX);
	CHECK_EQ(read_time("nanus"), UINT64_MAX);
}

TEST(rates)
{
	CHECK_EQ(read_rate("25gbit"), (uint64_t)25000000000);
	CHECK_EQ(read_rate("1.6tbit"), (uint64_t)1600000000000);
	CHECK_EQ(read_rate("100Mbit"), (uint64_t)100000000);
	CHECK_EQ(read_rate("100"), UINT64_MAX);
	CHECK_EQ(read_rate("100mb"), UINT64_MAX);
	CHECK_EQ(read_rate("0.5bit"), UINT64_MAX);
}

TEST(weights)
{
	CHECK_EQ(read_milli("2.5"), (uint64_t)2500);
	CHECK_EQ(read_milli("0.001"), (uint64_t)1);
	CHECK_EQ(read_milli("1000"), (uint64_t)1000000);
	CHECK_EQ(read_milli(".5"), (uint64_t)500);
	CHECK_EQ(read_milli("1."), (uint64_t)1000);
	CHECK_EQ(read_milli("1.5000"), (uint64_t)1500);
	CHECK_EQ(read_milli("0.0005"), UINT64_MAX);
	CHECK_EQ(read_milli("."), UINT64_MAX);
	CHECK_EQ(read_milli("1,5"), UINT64_MAX);
	CHECK_EQ(read_milli("inf"), UINT64_MAX);
}

/* Printed and read again: the same number, over the whole range. */
TEST(round_trips)
{
	uint64_t v, got;

	for (v = 1; v < 3000000000ULL; v = v * 7 / 5 + 1) {
		CHECK_EQ(read_time(show_time(v)), v);
		CHECK(parse_milli(show_milli(v % 1000001), &got));
		CHECK_EQ(got, v % 1000001);
	}
	for (v = 1; v <= 1600000; v = v * 7 / 5 + 1)
		if (v < 1000000 || !(v % 1000))
			CHECK_EQ(read_rate(show_rate(v * 1e6)), v * 1000000);
}

TEST(prefixes)
{
	static const char *const good[] = {
		"10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "fd00::1", "fd00::/16",
		"::/0", "::ffff:10.0.0.1", "any",
	};
	static const char *const bad[] = {
		"", "/", "10.0.0.1/8", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/",
		"fd00::1/64", "fd00::/129", "fd00", "10.0.0.0/-1", "[fd00::1",
		"[fd00::1]x", "10.0.0.1:80", "10.0.0.1:", "example", "1.2.3.4/8/8",
	};
	struct prefix p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK(parse_prefix(good[i], false, &p));
		CHECK_STR(show_prefix(&p), good[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!parse_prefix(bad[i], false, &p));
	CHECK(parse_prefix("10.0.0.1:80", true, &p));
	CHECK_EQ((int)p.port, 80);
	CHECK(parse_prefix("[fd00::1]:443", true, &p));
	CHECK_EQ((int)p.port, 443);
	CHECK_EQ((int)p.family, AF_INET6);
	CHECK(parse_prefix("*:80", true, &p));
	CHECK(!p.family && p.port == 80);
	CHECK(!parse_prefix("10.0.0.1:0", true, &p));
	CHECK(!parse_prefix("10.0.0.1:65536", true, &p));
}

/* Against a plain comparison, bit by bit. */
TEST(prefix_membership)
{
	uint32_t seed = 1;
	int i, bit;

	for (i = 0; i < 20000; i++) {
		struct prefix p = { .family = AF_INET6 };
		uint8_t addr[16];
		bool want = true;

		for (bit = 0; bit < 16; bit++) {
			seed = seed * 1664525 + 1013904223;
			addr[bit] = seed >> 24;
			/* mostly alike, or nothing would ever fit */
			p.addr[bit] = seed & 0x8000 ? addr[bit] :
				      addr[bit] ^ (1 << (seed >> 8 & 7));
		}
		p.len = (seed >> 16) % 129;
		prefix_mask(&p);
		for (bit = 0; bit < p.len; bit++)
			if ((addr[bit / 8] ^ p.addr[bit / 8]) &
			    (0x80 >> bit % 8))
				want = false;
		CHECK_EQ(prefix_has(&p, AF_INET6, addr), want);
	}
}

TEST(mapped_addresses)
{
	struct prefix p;
	uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 7 };

	CHECK(parse_prefix("10.0.0.0/8", false, &p));
	CHECK(prefix_has(&p, AF_INET6, mapped));
	mapped[0] = 1;
	CHECK(!prefix_has(&p, AF_INET6, mapped));
	CHECK(prefix_has(&p, AF_INET, mapped + 12));
}

TEST(ports_and_cookies)
{
	uint16_t first, last;
	uint64_t cookie;

	CHECK(parse_ports("80", &first, &last) && first == 80 && last == 80);
	CHECK(parse_ports("1-65535", &first, &last) && last == 65535);
	CHECK(!parse_ports("0", &first, &last));
	CHECK(!parse_ports("5-4", &first, &last));
	CHECK(!parse_ports("65536", &first, &last));
	CHECK(!parse_ports("80-", &first, &last));
	CHECK(!parse_ports("-80", &first, &last));
	CHECK(!parse_ports("http", &first, &last));
	CHECK(parse_cookie("sk:1a", &cookie) && cookie == 0x1a);
	CHECK(parse_cookie("0xffffffffffffffff", &cookie) && cookie == UINT64_MAX);
	CHECK(!parse_cookie("0", &cookie));
	CHECK(!parse_cookie("1g", &cookie));
	CHECK(!parse_cookie("10000000000000000", &cookie));
	CHECK(!parse_cookie("-1", &cookie));
}

TEST(states)
{
	uint32_t all, connected, mask, sum = 0;
	unsigned int i;

	CHECK(parse_tcp_states("all", &all));
	CHECK(parse_tcp_states("connected", &connected));
	CHECK_EQ(all & ~connected, 1U << TCP_LISTEN | 1U << TCP_CLOSE);
	CHECK(!parse_tcp_states("time-wait", &mask));
	CHECK(!parse_tcp_states("open", &mask));
	for (i = 1; i < 12; i++)
		if (parse_tcp_states(name_of_tcp(i), &mask))
			sum |= mask;
	CHECK_EQ(sum, all);
	CHECK_STR(name_of_tcp(99), "unknown");
	CHECK_STR(name_of_source(99), "unknown");
	CHECK_STR(name_of_state(99), "unknown");
	/* every number that the ABI has got a name */
	for (i = 0; i < __FL_FROM_COUNT; i++)
		CHECK(strcmp(name_of_source(i), "unknown"));
	for (i = 0; i < __FL_STATE_COUNT; i++)
		CHECK(strcmp(name_of_state(i), "unknown"));
}

/* As RFC 3629 has it. */
TEST(utf8)
{
	static const char *const good[] = {
		"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
		"\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
		"S\xc3\xb6ze \xe2\x82\xac",
	};
	static const char *const bad[] = {
		"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2z", "\xe0\x9f\xbf",
		"\xe2\x82", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
		"\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff\xfe", "a\xff",
		"\xf8\x88\x80\x80\x80",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		CHECK(is_utf8(good[i]));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!is_utf8(bad[i]));
}

/* Random text: readers say yes or no. Sanitizers watch. */
TEST(noise)
{
	static const char letters[] = "0123456789.:/-[]xXgmkunstbi fdF\n\t%\xff";
	uint32_t seed = 7, yes = 0;
	int i, j;

	for (i = 0; i < 200000; i++) {
		char *text;
		struct prefix p;
		uint64_t v;
		uint16_t a, b;
		int len;

		seed = seed * 1664525 + 1013904223;
		len = seed >> 27;
		text = malloc(len + 1);
		for (j = 0; j < len; j++) {
			seed = seed * 1664525 + 1013904223;
			text[j] = letters[(seed >> 16) % (sizeof(letters) - 1)];
		}
		text[len] = 0;
		yes += parse_time_ns(text, &v) + parse_rate_bps(text, &v) +
		       parse_milli(text, &v) + parse_cookie(text, &v) +
		       parse_prefix(text, true, &p) + parse_ports(text, &a, &b);
		free(text);
	}
	/* some of it must make sense, or this has tested nothing */
	CHECK(yes > 100);
}

UNIT_MAIN
