// SPDX-License-Identifier: GPL-2.0
/* fairlane off, on: one word that takes all connections away from Fairlane, live. */
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFF_SYSCTL	"/proc/sys/net/fairlane/off"

static const char usage[] =
"usage: fairlane off [all]\n"
"       fairlane on [all]\n"
"off: every connection that has a congestion control of Fairlane's goes on with the\n"
"     system's, live; new ones get the system's; nothing of Fairlane's leaves the host\n"
"on:  each gets back what it had\n"
"all: in every network namespace of this host, not only in this one (-n NETNS)\n";

/**
 * struct off_state - what the module says after the change
 * @known: it says so
 * @flows: sockets whose control was taken away
 * @waiting: sockets that still have it: their owners have them locked
 */
struct off_state {
	bool known;
	uint64_t flows;
	uint64_t waiting;
};

static int on_state(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct off_state *s = arg;

	(void)h;
	s->known = a[FL_A_STAT_OFF];
	s->flows = fl_u64(a, FL_A_STAT_OFF_FLOWS);
	s->waiting = fl_u64(a, FL_A_STAT_OFF_WAITING);
	return 0;
}

static struct off_state off_read(void)
{
	struct fairlane *f = connect_module();
	struct off_state s = { 0 };

	ask_do(f, ask_message(f, FL_CMD_STATS_GET, 0), on_state, FL_A_STAT_MAX,
	       &s, "stats");
	fairlane_close(f);
	return s;
}

/* Writes the setting of the namespace that this process is in. Ends the program if
 * that is refused.
 */
static void off_write(bool off)
{
	int fd = open(OFF_SYSCTL, O_WRONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		fail_kernel("there is no %s: the module fairlane is not loaded, or older than this command (modprobe fairlane)",
			    OFF_SYSCTL);
	if (fd < 0 || write(fd, off ? "1\n" : "0\n", 2) != 2)
		fail_kernel("cannot write %s: %s", OFF_SYSCTL, strerror(errno));
	close(fd);
}

static int off_there(const char *name, void *arg)
{
	(void)name;
	off_write(*(const bool *)arg);
	return EXIT_OK;
}

static void off_everywhere(bool off)
{
	unsigned int failed;
	size_t n = netns_each(off_there, &off, &failed);

	if (failed)
		fail_kernel("%u network namespaces could not be switched", failed);
	if (!opt.json)
		printf("%zu network namespaces are %s\n", n, off ? "off" : "on");
}

static void off_print(bool off, const struct off_state *s)
{
	if (opt.json) {
		cJSON *doc = cJSON_CreateObject();

		cJSON_AddBoolToObject(doc, "off", off);
		json_u64(doc, "off_flows", s->flows);
		json_u64(doc, "off_waiting", s->waiting);
		json_print(doc);
		return;
	}
	if (off)
		printf("off: %llu sockets go on with the system's congestion control\n",
		       (unsigned long long)s->flows);
	else
		printf("on: sockets have their congestion controls back\n");
	if (s->waiting)
		printf("%llu more follow when their owners let go of them\n",
		       (unsigned long long)s->waiting);
}

static int off_run(struct words *w, bool off)
{
	struct off_state s;

	if (words_help(w)) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (word_is(w, "all")) {
		words_end(w);
		off_everywhere(off);
	} else {
		words_end(w);
		off_write(off);
	}
	s = off_read();
	off_print(off, &s);
	return EXIT_OK;
}

int cmd_off(struct words *w)
{
	return off_run(w, true);
}

int cmd_on(struct words *w)
{
	return off_run(w, false);
}
