// SPDX-License-Identifier: GPL-2.0
/*
 * The telemetry option, kmod/lib/telemetry.h: the test vectors of
 * Documentation/reference/telemetry.rst, what is malformed, and anything at all.
 */
#include "lib/telemetry.h"
#include "unit.h"

/* The switch has the same types in a header of its own. */
#define FABRIC_TYPES_H
#include "core/opt.h"

static const struct fabric_opt as_switch = {
	.kind = FL_TELEMETRY_KIND, .bytes = FL_TELEMETRY_BYTES,
	.exid = FL_TELEMETRY_EXID,
};

/* A TCP header with options (in hexadecimal), padded with end-of-list. */
static int header(u8 *th, const char *options)
{
	int bytes = FL_TCP_MIN_BYTES;
	unsigned int byte;

	memset(th, 0, FL_TCP_MAX_BYTES);
	for (; *options; options += options[2] ? 3 : 2) {
		if (sscanf(options, "%2x", &byte) != 1)
			abort();
		th[bytes++] = byte;
	}
	bytes = (bytes + 3) & ~3;
	th[12] = bytes / 4 << 4;
	return bytes;
}

static int find(const char *options)
{
	u8 th[FL_TCP_MAX_BYTES];

	return fl_tel_find(th, header(th, options));
}

TEST(vectors)
{
	static const struct {
		const char *options;
		int at, delay, echo;
	} v[] = {
		/* data as sent, nothing to echo; then 1.6 us met */
		{ "fd 08 46 4c 00 00 ff ff", 20, 0, 0xffff },
		{ "fd 08 46 4c 00 64 ff ff", 20, 100, 0xffff },
		/* an ACK that tells 23.008 us; time stamps behind */
		{ "fd 08 46 4c 00 00 05 9e 01 01 08 0a 00 00 00 01 00 00 00 02",
		  20, 0, 1438 },
		/* both; a delay beyond 17.3 ms */
		{ "fd 08 46 4c ff fe 00 10", 20, 0xfffe, 16 },
		/* behind others, at an odd place */
		{ "01 fd 08 46 4c 00 01 00 02", 21, 1, 2 },
		{ "08 0a 00 00 00 01 00 00 00 02 fd 08 46 4c 12 34 56 78", 30,
		  0x1234, 0x5678 },
		/* another experiment first */
		{ "fd 04 12 34 fd 08 46 4c 00 03 00 04", 24, 3, 4 },
	};
	u8 th[FL_TCP_MAX_BYTES], made[FL_TELEMETRY_BYTES];
	size_t i;
	int at;

	for (i = 0; i < ARRAY_SIZE(v); i++) {
		at = fl_tel_find(th, header(th, v[i].options));
		CHECK_EQ(at, v[i].at);
		CHECK_EQ(fabric_opt_find(th, (th[12] >> 4) * 4, &as_switch), at);
		CHECK(fl_tel_at(th + at));
		CHECK_EQ(fl_tel_delay(th + at), v[i].delay);
		CHECK_EQ(fl_tel_echo(th + at), v[i].echo);
		fl_tel_put(made, FL_TEL_DELAY, v[i].delay, v[i].echo);
		CHECK_MEM(made, th + at, sizeof(made));
	}
}

TEST(none)
{
	CHECK_EQ(find(""), FL_TEL_NONE);
	CHECK_EQ(find("01 01 08 0a 00 00 00 01 00 00 00 02"), FL_TEL_NONE);
	/* behind the end of the list nothing counts */
	CHECK_EQ(find("00 fd 08 46 4c 00 00 00 00"), FL_TEL_NONE);
	/* somebody else's experiment, of our length too */
	CHECK_EQ(find("fd 08 12 34 00 00 00 00"), FL_TEL_NONE);
	CHECK_EQ(find("fd 02 01 01"), FL_TEL_NONE);
}

TEST(malformed)
{
	/* another length with our ExID, shorter than its head, cut off */
	CHECK_EQ(find("fd 04 46 4c"), FL_TEL_MALFORMED);
	CHECK_EQ(find("fd 0a 46 4c 00 00 00 00 00 00"), FL_TEL_MALFORMED);
	CHECK_EQ(find("08 01 00 00"), FL_TEL_MALFORMED);
	CHECK_EQ(find("08 00 00 00"), FL_TEL_MALFORMED);
	CHECK_EQ(find("fd 08 46 4c"), FL_TEL_MALFORMED);
	CHECK_EQ(find("01 01 01 fd"), FL_TEL_MALFORMED);
}

TEST(units)
{
	u32 ns, before = 0;

	CHECK_EQ(fl_tel_units(0), 0);
	CHECK_EQ(fl_tel_units(1600), 100);
	CHECK_EQ(fl_tel_units(524287), 0x7fff);
	CHECK_EQ(fl_tel_ns(0x7fff), 524272u);
	CHECK_EQ(fl_tel_units(524288), 0x8000);
	CHECK_EQ(fl_tel_units(524288 + 511), 0x8000);
	CHECK_EQ(fl_tel_ns(0x8001), 524288u + 512);
	CHECK_EQ(FL_TELEMETRY_MAX_NS, 17300480u);
	CHECK_EQ(fl_tel_units(17300479), FL_TELEMETRY_MAX - 1);
	CHECK_EQ(fl_tel_units(~0ULL), FL_TELEMETRY_MAX);
	/* rounded down, by 0.1 % or 16 ns at most, and never falling */
	for (ns = 0; ns < 17300480; ns += 97) {
		u32 told = fl_tel_ns(fl_tel_units(ns));

		CHECK(told <= ns && ns - told < max_t(u32, 16, ns / 1000));
		CHECK(told >= before);
		before = told;
	}
}

/* Whatever comes, nothing beyond the header is read: ASan watches. */
TEST(anything)
{
	uint64_t r = 88172645463325252ULL;
	int i, j, bytes, at, found = 0;
	u8 *th;

	for (i = 0; i < 400000; i++) {
		bytes = 20 + (r >> 20) % 11 * 4;
		th = malloc(bytes);
		if (!th)
			abort();
		for (j = 0; j < bytes; j++) {
			unit_random64(&r);
			/* small numbers make options, and ours now and then */
			th[j] = r & 0x300 ? (r >> 32) % 11 : r >> 40;
		}
		if (i % 4 == 0 && bytes >= 28)
			fl_tel_put(th + 20 + (r >> 30) % (bytes - 27),
				   r >> 29 & FL_TEL_FORMAT_MASK, r, r >> 16);
		at = fl_tel_find(th, bytes);
		if (at > 0) {
			found++;
			if (at < 20 || at + FL_TELEMETRY_BYTES > bytes ||
			    !fl_tel_at(th + at))
				break;
		}
		free(th);
	}
	CHECK_EQ(i, 400000);
	CHECK_GT(found, 10000);
}

UNIT_MAIN
