// SPDX-License-Identifier: GPL-2.0
/* fairlane off, on: one word that takes all connections away from Fairlane, live. */
#include "ask.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/**
 * struct seen - network namespaces that were found
 * @inode: each has one
 * @n: how many
 */
struct seen {
	ino_t *inode;
	size_t n;
};

/* Does somebody else's namespace at @path, seen for the first time, in a process of its
 * own: it cannot come back. Return: is it done?
 */
static bool off_there(struct seen *seen, const char *path, bool off)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), status;
	struct stat st;
	size_t i;
	pid_t pid;

	/* it has gone, then */
	if (fd < 0)
		return true;
	if (fstat(fd, &st))
		st.st_ino = 0;
	for (i = 0; i < seen->n && seen->inode[i] != st.st_ino; i++)
		;
	if (i < seen->n) {
		close(fd);
		return true;
	}
	seen->inode = xgrow(seen->inode, seen->n, sizeof(*seen->inode));
	seen->inode[seen->n++] = st.st_ino;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		netns_enter_fd(fd, path);
		off_write(off);
		_exit(EXIT_OK);
	}
	close(fd);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* Everything below @folder whose path ends with @rest. Return: how many failed. */
static unsigned int off_folder(struct seen *seen, const char *folder,
			       const char *rest, bool off)
{
	DIR *dir = opendir(folder);
	unsigned int failed = 0;
	struct dirent *d;
	char *path;

	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		path = xprintf("%s/%s%s", folder, d->d_name, rest);
		failed += !off_there(seen, path, off);
		free(path);
	}
	if (dir)
		closedir(dir);
	return failed;
}

/* Those with a name, and those that some process is in. */
static void off_everywhere(bool off)
{
	struct seen seen = { 0 };
	unsigned int failed;

	failed = off_folder(&seen, "/run/netns", "", off) +
		 off_folder(&seen, "/proc", "/ns/net", off);
	free(seen.inode);
	if (failed)
		fail_kernel("%u network namespaces could not be switched", failed);
	if (!opt.json)
		printf("%zu network namespaces are %s\n", seen.n, off ? "off" : "on");
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
