// SPDX-License-Identifier: GPL-2.0
/* Does the harness itself notice what is wrong? */
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

static void body_true(void)
{
	CHECK(true);
}

static void body_false(void)
{
	CHECK_EQ(1, 2);
	CHECK_STR("a", "b");
}

static void body_nothing(void)
{
}

static void body_skip(void)
{
	SKIP("no reason");
}

/* Out of the compiler's sight, so that it cannot see the mistakes coming. */
__attribute__((noipa)) static int plus(int a, int b)
{
	return a + b;
}

__attribute__((noipa)) static void put(char *text, size_t where)
{
	text[where] = 1;
}

static void body_overflow(void)
{
	CHECK(plus(0x7fffffff, 1));
}

static void body_overrun(void)
{
	char *text = malloc(8);

	put(text, 8);
	free(text);
	CHECK(true);
}

/*
 * Runs a test body in a child, silently. Returns its exit status: 0 passed, 1
 * failed, anything else: a sanitizer ended it.
 */
static int outcome(void (*body)(void))
{
	const struct unit_test test = { .name = "child", .fn = body };
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) ||
		    !freopen("/dev/null", "w", stderr))
			_exit(99);
		_exit(!unit_run(&test, 1));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(checks_decide)
{
	CHECK_EQ(outcome(body_true), 0);
	CHECK_EQ(outcome(body_false), 1);
}

TEST(empty_test_fails_and_skip_passes)
{
	CHECK_EQ(outcome(body_nothing), 1);
	CHECK_EQ(outcome(body_skip), 0);
}

TEST(sanitizers_are_on)
{
	CHECK_GT(outcome(body_overflow), 0);
	CHECK_GT(outcome(body_overrun), 0);
}

UNIT_MAIN
