// SPDX-License-Identifier: GPL-2.0
/* fairlane run: a program that knows nothing of priorities, with sockets that have
 * one. The settings go into the environment, fairlane-preload.so makes them.
 */
#include "tool.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef FAIRLANE_LIBDIR
#define FAIRLANE_LIBDIR "/usr/local/lib/fairlane"
#endif
#define PRELOAD_NAME	"fairlane-preload.so"

static const char usage[] =
"usage: fairlane run [--prio N] [--weight W] [--base-rtt TIME] [--line-rate RATE]\n"
"                    [--deadline TIME] [--cc NAME] [--quiet|--debug] -- CMD [ARGS]\n"
"Every TCP socket that CMD and its children open gets these settings, those that\n"
"they accept() as well. The exit code is CMD's; 126 it cannot be run, 127 it is not\n"
"there. Programs that are linked statically, or set-uid, cannot be reached that way:\n"
"use \"fairlane policy add\". --debug says what could not be set, socket by socket.\n";

static const char *const variable[FAIRLANE_ATTRS] = {
	[FAIRLANE_PRIORITY] = "FAIRLANE_PRIORITY",
	[FAIRLANE_WEIGHT] = "FAIRLANE_WEIGHT_MILLI",
	[FAIRLANE_BASE_RTT] = "FAIRLANE_BASE_RTT_NS",
	[FAIRLANE_LINE_RATE] = "FAIRLANE_LINE_RATE_MBPS",
	[FAIRLANE_DEADLINE] = "FAIRLANE_DEADLINE_US",
};

/**
 * struct run - what was asked for
 * @list: settings
 * @n: how many
 * @cc: congestion control, NULL: the default
 * @quiet: do not try the settings first
 * @debug: tell what could not be set
 */
struct run {
	struct fairlane_setting list[FAIRLANE_ATTRS];
	size_t n;
	const char *cc;
	bool quiet;
	bool debug;
};

/* The library: beside this program, installed or built, or the usual place. */
static char *find_library(void)
{
	static const char *const places[] = { "lib/fairlane", "lib" };
	char self[PATH_MAX], *slash, *path, *real;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	self[len > 0 ? len : 0] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	for (i = 0; i < ARRAY_SIZE(places) && slash; i++) {
		path = xprintf("%s/../%s/%s", self, places[i], PRELOAD_NAME);
		real = realpath(path, NULL);
		free(path);
		if (real)
			return real;
	}
	if (!access(FAIRLANE_LIBDIR "/" PRELOAD_NAME, R_OK))
		return xprintf("%s", FAIRLANE_LIBDIR "/" PRELOAD_NAME);
	fail_kernel("run: %s is not there: make tools, or make install",
		    PRELOAD_NAME);
}

/* Where execvp() finds the program; NULL: nowhere. */
static char *find_command(const char *name)
{
	char *dirs, *save, *dir, *found = NULL;

	if (strchr(name, '/'))
		return access(name, F_OK) ? NULL : xprintf("%s", name);
	dirs = xprintf("%s", getenv("PATH") ?: "/usr/bin:/bin");
	for (dir = strtok_r(dirs, ":", &save); dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		found = xprintf("%s/%s", dir, name);
		if (access(found, X_OK)) {
			free(found);
			found = NULL;
		}
	}
	free(dirs);
	return found;
}

/* Is it an ELF program without an interpreter, so that nothing is preloaded? */
static bool is_static(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Ehdr *e = MAP_FAILED;
	struct stat st = { 0 };
	bool linked = true;
	size_t i;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size >= (off_t)sizeof(*e))
		e = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (e == MAP_FAILED)
		return false;
	if (!memcmp(e->e_ident, ELFMAG, SELFMAG) &&
	    e->e_ident[EI_CLASS] == ELFCLASS64 &&
	    e->e_phentsize == sizeof(Elf64_Phdr) &&
	    e->e_phoff <= (uint64_t)st.st_size &&
	    e->e_phnum <= (st.st_size - e->e_phoff) / sizeof(Elf64_Phdr)) {
		const Elf64_Phdr *p = (const void *)((const char *)e +
						     e->e_phoff);

		for (i = 0, linked = false; i < e->e_phnum; i++)
			linked |= p[i].p_type == PT_INTERP;
	}
	munmap((void *)e, st.st_size);
	return !linked;
}

/* Refuse what cannot work, and say what would. */
static void check_command(const char *name)
{
	char *path = find_command(name);
	struct stat st;

	if (!path) {
		fprintf(stderr, "Error: run: %s: no such command\n", name);
		exit(127);
	}
	if (is_static(path))
		fail("run: %s is linked statically, nothing can be preloaded into it: use \"fairlane policy add\"",
		     path);
	if (geteuid() && !stat(path, &st) && st.st_mode & (S_ISUID | S_ISGID))
		fail("run: %s is set-uid or set-gid, the system preloads nothing into it: use \"fairlane policy add\"",
		     path);
	free(path);
}

/* Try the settings on a socket of our own, to complain before the program runs. */
static void try_settings(const struct run *r)
{
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	size_t failed = 0;
	int err;

	if (sock < 0)
		return;
	if (r->cc && setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, r->cc,
				strlen(r->cc)))
		fail_kernel("run: --cc %s: %s%s", r->cc, strerror(errno),
			    errno == ENOENT ?
			    " (not there, or its module is not loaded: modprobe tcp_NAME)" :
			    errno == EPERM ?
			    " (not for users: sysctl net.ipv4.tcp_allowed_congestion_control)" : "");
	err = fairlane_set_many(sock, r->list, r->n, &failed);
	if (err)
		fail_kernel("run: --%s %s: %s%s",
			    attrs[r->list[failed].attr].word,
			    attr_show(r->list[failed].attr,
				      r->list[failed].value), strerror(-err),
			    err == -ENOPROTOOPT ?
			    " (the module fairlane is not loaded: modprobe fairlane)" :
			    err == -EPERM ?
			    " (above the limit for users: fairlane limits show)" :
			    "");
	close(sock);
}

static void set_environment(const struct run *r)
{
	char *library = find_library(), *old = getenv("LD_PRELOAD"), *list;
	char number[16];
	size_t i;

	list = old && old[0] ? xprintf("%s:%s", library, old) :
	       xprintf("%s", library);
	setenv("LD_PRELOAD", list, 1);
	for (i = 0; i < r->n; i++) {
		snprintf(number, sizeof(number), "%u", r->list[i].value);
		setenv(variable[r->list[i].attr], number, 1);
	}
	if (r->cc)
		setenv("FAIRLANE_CC", r->cc, 1);
	if (r->debug)
		setenv("FAIRLANE_DEBUG", "1", 1);
	free(list);
	free(library);
}

static void take_control(struct run *r, struct words *w)
{
	/* --cc=NAME comes as a command line of its own */
	if (r->cc)
		fail("\"--cc\" twice");
	r->cc = word_value(w, "--cc");
}

/* Options up to "--" or the first word that is none. */
static void read_run(struct run *r, struct words *w)
{
	memset(r, 0, sizeof(*r));
	while (words_left(w) && !strncmp(word_peek(w), "--", 2)) {
		char *word = w->v[w->i], *eq = strchr(word, '=');

		if (word_is(w, "--"))
			break;
		if (word_is(w, "--debug")) {
			r->debug = true;
			continue;
		}
		if (word_is(w, "--quiet")) {
			r->quiet = true;
			continue;
		}
		if (eq) {
			/* --prio=5 is --prio 5 */
			char *two[2] = { xprintf("%.*s", (int)(eq - word - 2),
						 word + 2), eq + 1 };
			struct words pair = { .v = two, .n = 2 };

			if (word_is(&pair, "cc"))
				take_control(r, &pair);
			else if (!word_setting(&pair, r->list, &r->n, false))
				fail("run: no option \"%s\"", word);
			free(two[0]);
			w->i++;
			continue;
		}
		w->v[w->i] = word + 2;
		if (word_is(w, "cc"))
			take_control(r, w);
		else if (!word_setting(w, r->list, &r->n, false))
			fail("run: no option \"%s\"", word);
	}
	if (!words_left(w))
		fail("run: which command?");
	/* "-p 3 -- CMD" would run -p; behind "--" a command may have any name */
	if (w->v[w->i][0] == '-' && (!w->i || strcmp(w->v[w->i - 1], "--")))
		fail("run: no option \"%s\" (fairlane run help)", w->v[w->i]);
	if (!r->n && !r->cc)
		fail("run: nothing to set (--prio, --weight, --cc, ...)");
}

int cmd_run(struct words *w)
{
	struct run r;

	if (words_help(w, usage))
		return EXIT_OK;
	if (!words_left(w)) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	if (opt.json)
		fail("run: the output is the command's, there is no JSON");
	read_run(&r, w);
	check_command(w->v[w->i]);
	if (!r.quiet)
		try_settings(&r);
	set_environment(&r);
	fflush(NULL);
	w->v[w->n] = NULL;
	execvp(w->v[w->i], w->v + w->i);
	fprintf(stderr, "Error: run: %s: %s\n", w->v[w->i], strerror(errno));
	exit(errno == ENOENT ? 127 : 126);
}
