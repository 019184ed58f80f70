// SPDX-License-Identifier: GPL-2.0
/* fairlane off, on: one word that takes all connections, or a part, away from Fairlane, live. */
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OFF_SYSCTL	"/proc/sys/net/fairlane/off"
#define SHARE_SYSCTL	"/proc/sys/net/fairlane/share_permille"

static const char usage[] =
"usage: fairlane off [all]\n"
"       fairlane on [share P%] [all]\n"
"off: every connection that has a congestion control of Fairlane's goes on with the\n"
"     system's, live; new ones get the system's; nothing of Fairlane's leaves the host\n"
"on:  each gets back what it had; with a share only so many do, of those that are there\n"
"     and of new ones, the others stay as if it were off\n"
"all: in every network namespace of this host, not only in this one (-n NETNS)\n";

/**
 * struct off_state - what the module says after the change, of one namespace or of all
 * @flows: sockets whose control was taken away
 * @waiting: sockets that still have it: their owners have them locked
 */
struct off_state {
	uint64_t flows;
	uint64_t waiting;
};

static int on_state(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct off_state *s = arg;

	(void)h;
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

/* Writes a setting of the namespace that this process is in. Ends the program if
 * that is refused.
 */
static void off_write_one(const char *file, uint32_t value)
{
	char *text = xprintf("%u\n", value);
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		fail_kernel("there is no %s: the module fairlane is not loaded, or older than this command (modprobe fairlane)",
			    file);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail_kernel("cannot write %s: %s%s", file, strerror(errno),
			    errno == EACCES || errno == EPERM ?
			    " (needs root of this network namespace)" : "");
	close(fd);
	free(text);
}

/* Of this process' namespace. @share_permille: of the connections; 0: off, for all. */
static void off_write(uint32_t share_permille)
{
	/* first the share: nobody has our control for a moment */
	if (share_permille)
		off_write_one(SHARE_SYSCTL, share_permille);
	off_write_one(OFF_SYSCTL, !share_permille);
}

/**
 * struct off_all - what off_there() is to do, and what it adds up: in memory of all processes
 * @share_permille: of off_write()
 * @sum: of the namespaces
 */
struct off_all {
	uint32_t share_permille;
	struct off_state sum;
};

static int off_there(const char *name, void *arg)
{
	struct off_all *all = arg;
	struct off_state s;

	(void)name;
	off_write(all->share_permille);
	s = off_read();
	all->sum.flows += s.flows;
	all->sum.waiting += s.waiting;
	return EXIT_OK;
}

static struct off_state off_everywhere(uint32_t share_permille)
{
	struct off_all *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int failed;
	struct off_state s;
	size_t n;

	if (all == MAP_FAILED)
		fail_kernel("no memory: %s", strerror(errno));
	all->share_permille = share_permille;
	n = netns_each(off_there, all, &failed);
	if (failed)
		fail_kernel("%u network namespaces could not be switched", failed);
	if (!opt.json)
		printf("%zu network namespaces are %s\n", n, share_permille ? "on" : "off");
	s = all->sum;
	munmap(all, sizeof(*all));
	return s;
}

static void off_print(uint32_t share_permille, const struct off_state *s)
{
	if (opt.json) {
		cJSON *doc = cJSON_CreateObject();

		cJSON_AddBoolToObject(doc, "off", !share_permille);
		if (share_permille)
			cJSON_AddNumberToObject(doc, "share_permille", share_permille);
		json_u64(doc, "off_flows", s->flows);
		json_u64(doc, "off_waiting", s->waiting);
		json_print(doc);
		return;
	}
	if (!share_permille)
		printf("off: %llu sockets go on with the system's congestion control\n",
		       (unsigned long long)s->flows);
	else if (share_permille < 1000)
		printf("on for %u.%u%%: %llu sockets go on with the system's congestion control\n",
		       share_permille / 10, share_permille % 10,
		       (unsigned long long)s->flows);
	else
		printf("on: sockets have their congestion controls back\n");
	if (s->waiting)
		printf("%llu more follow when their owners let go of them\n",
		       (unsigned long long)s->waiting);
}

static int off_run(struct words *w, uint32_t share_permille)
{
	bool everywhere = false;
	struct off_state s;

	if (words_help(w, usage))
		return EXIT_OK;
	while (words_left(w)) {
		if (word_is(w, "all"))
			everywhere = true;
		else if (share_permille && word_is(w, "share"))
			share_permille = need_share(word_value(w, "share"));
		else
			words_end(w);
	}
	if (everywhere) {
		s = off_everywhere(share_permille);
	} else {
		off_write(share_permille);
		s = off_read();
	}
	off_print(share_permille, &s);
	return EXIT_OK;
}

int cmd_off(struct words *w)
{
	return off_run(w, 0);
}

int cmd_on(struct words *w)
{
	return off_run(w, 1000);
}
