/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unit tests in user space: a registry, checks, KTAP on stdout.
 *
 *	#include "unit.h"
 *
 *	TEST(swift_halves_on_loss)
 *	{
 *		CHECK(x > 3);
 *		CHECK_EQ(x, 4);			// prints both values
 *	}
 *
 *	UNIT_MAIN
 *
 * One file test_<subject>.c is one program; the Makefile beside this file finds
 * it, builds it with ASan and UBSan and links what it needs of the pure code:
 * kmod/lib and all folders named core. A test may instead #include the .c file it tests, to reach
 * its static functions. A failed check is reported and the test goes on, so
 * that one run shows everything that is wrong; REQUIRE() ends the test.
 * A test that checks nothing counts as failed. Names given as arguments select
 * tests; -l lists them.
 */
#ifndef FAIRLANE_UNIT_H
#define FAIRLANE_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

/* xorshift, after Marsaglia: the same numbers each time. @x is not 0. */
static inline uint32_t unit_random32(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

static inline uint64_t unit_random64(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

struct unit_test {
	const char *name;
	void (*fn)(void);
	struct unit_test *next;
};

static struct unit_test *unit_first, **unit_end = &unit_first;
static unsigned long unit_checks, unit_failed;
static const char *unit_skip_why;

/* Most failures shown of one test: a wrong loop must not print megabytes. */
#define UNIT_SHOWN_MAX 20

/* Adds a test to the registry; called by constructors, in file order. */
static inline void unit_register(struct unit_test *test)
{
	*unit_end = test;
	unit_end = &test->next;
}

/* Counts a check, true if it held; the caller then prints what went wrong. */
static inline bool unit_check(bool ok)
{
	unit_checks++;
	if (!ok)
		unit_failed++;
	return ok || unit_failed > UNIT_SHOWN_MAX;
}

#define TEST(tname)							\
	static void unit_fn_##tname(void);				\
	static struct unit_test unit_test_##tname = {			\
		.name = #tname, .fn = unit_fn_##tname,			\
	};								\
	__attribute__((constructor))					\
	static void unit_reg_##tname(void)				\
	{								\
		unit_register(&unit_test_##tname);			\
	}								\
	static void unit_fn_##tname(void)

#define UNIT_FAIL(fmt, ...)						\
	printf("# %s:%d: " fmt "\n", __FILE__, __LINE__, __VA_ARGS__)

/* The condition holds. */
#define CHECK(cond) do {						\
	if (!unit_check(cond))						\
		UNIT_FAIL("not true: %s", #cond);			\
} while (0)

/* The condition holds; explain with a printf text if it does not. */
#define CHECK_MSG(cond, fmt, ...) do {					\
	if (!unit_check(cond))						\
		UNIT_FAIL("not true: %s: " fmt, #cond, ##__VA_ARGS__);	\
} while (0)

#define UNIT_CMP(a, op, b) do {						\
	__typeof__(a) ua_ = (a);					\
	__typeof__(b) ub_ = (b);					\
	if (!unit_check(ua_ op ub_))					\
		UNIT_FAIL("not true: %s %s %s: %jd against %jd",	\
			  #a, #op, #b, (intmax_t)ua_, (intmax_t)ub_);	\
} while (0)

/* Integers compare as said; both values are shown if they do not. */
#define CHECK_EQ(a, b)	UNIT_CMP(a, ==, b)
#define CHECK_NE(a, b)	UNIT_CMP(a, !=, b)
#define CHECK_LT(a, b)	UNIT_CMP(a, <, b)
#define CHECK_LE(a, b)	UNIT_CMP(a, <=, b)
#define CHECK_GT(a, b)	UNIT_CMP(a, >, b)
#define CHECK_GE(a, b)	UNIT_CMP(a, >=, b)

/* |value - want| <= tolerance, for integers. */
#define CHECK_NEAR(value, want, tolerance) do {				\
	intmax_t uv_ = (value), uw_ = (want), ut_ = (tolerance);	\
	if (!unit_check(uv_ >= uw_ - ut_ && uv_ <= uw_ + ut_))		\
		UNIT_FAIL("%s: %jd is not within %jd of %jd",		\
			  #value, uv_, ut_, uw_);			\
} while (0)

/* Two texts are the same. */
#define CHECK_STR(a, b) do {						\
	const char *ua_ = (a), *ub_ = (b);				\
	if (!unit_check(ua_ && ub_ && !strcmp(ua_, ub_)))		\
		UNIT_FAIL("%s: \"%s\", expected \"%s\"", #a,		\
			  ua_ ? ua_ : "(null)", ub_ ? ub_ : "(null)");	\
} while (0)

/* Two pieces of memory are the same. */
#define CHECK_MEM(a, b, len) do {					\
	if (!unit_check(!memcmp((a), (b), (len))))			\
		UNIT_FAIL("%s and %s differ", #a, #b);			\
} while (0)

/* Without this the rest of the test makes no sense. */
#define REQUIRE(cond) do {						\
	bool ur_ = (cond);						\
									\
	if (!unit_check(ur_))						\
		UNIT_FAIL("required: %s", #cond);			\
	if (!ur_)							\
		return;							\
} while (0)

/* This machine cannot run the test: counts as skipped. */
#define SKIP(why) do {							\
	unit_skip_why = (why);						\
	return;								\
} while (0)

/* Is the test wanted by the command line? No names: all are. */
static inline bool unit_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

/* Runs one test and prints its KTAP line. Returns true unless it failed. */
static inline bool unit_run(const struct unit_test *test, int number)
{
	bool ok;

	unit_checks = 0;
	unit_failed = 0;
	unit_skip_why = NULL;
	fflush(stdout);
	test->fn();
	if (unit_failed > UNIT_SHOWN_MAX)
		printf("# … %lu failed checks in all\n", unit_failed);
	if (!unit_checks && !unit_skip_why)
		printf("# checked nothing\n");
	ok = !unit_failed && (unit_checks || unit_skip_why);
	printf("%s %d %s", ok ? "ok" : "not ok", number, test->name);
	if (ok && unit_skip_why)
		printf(" # SKIP %s", unit_skip_why);
	printf("\n");
	return ok;
}

/* Runs the wanted tests. Exit status 0 only if there were any and all passed. */
static inline int unit_main(int argc, char **argv)
{
	const struct unit_test *test;
	int count = 0, number = 0, failed = 0;

	if (argc == 2 && !strcmp(argv[1], "-l")) {
		for (test = unit_first; test; test = test->next)
			printf("%s\n", test->name);
		return 0;
	}
	for (test = unit_first; test; test = test->next)
		count += unit_wanted(test->name, argc, argv);
	printf("KTAP version 1\n1..%d\n", count);
	for (test = unit_first; test; test = test->next)
		if (unit_wanted(test->name, argc, argv))
			failed += !unit_run(test, ++number);
	return failed || !count;
}

#define UNIT_MAIN							\
	int main(int argc, char **argv)					\
	{								\
		return unit_main(argc, argv);				\
	}

#endif
