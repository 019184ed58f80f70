// SPDX-License-Identifier: GPL-2.0
/*
 * Takes everything down again that a run has built, to see that nothing is
 * left: sockets, nodes with their links and qdiscs, modules. Then looks for
 * memory of the kernel that nobody points to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "labinit.h"

#define KMEMLEAK_FILE		"/sys/kernel/debug/kmemleak"
#define KMEMLEAK_AGE_NS		(6 * NS_PER_S)	/* younger is not reported */
/*
 * Namespaces are taken apart in the background; nothing tells of the end but
 * that their modules can go. A socket whose data nobody acknowledges any more lives
 * until its retransmissions are over, tcp_orphan_retries: two minutes of virtual time.
 */
#define UNLOAD_LIMIT_NS		(300 * NS_PER_S)
#define UNLOAD_STEP_NS		(10 * NS_PER_MS)

static void pass_time(int64_t ns)
{
	struct timespec time = { ns / NS_PER_S, ns % NS_PER_S };

	nanosleep(&time, NULL);
}

/* The name under which the kernel knows a module's file. */
static void module_name(const char *path, char *name, size_t size)
{
	const char *slash = strrchr(path, '/');
	char *p;

	snprintf(name, size, "%s", slash ? slash + 1 : path);
	p = strstr(name, ".ko");
	if (p)
		*p = '\0';
	for (p = name; *p; p++)
		if (*p == '-')
			*p = '_';
}

/* Unloads a module as soon as nothing uses it any more. */
static void module_unload(const char *path)
{
	int64_t waited_ns = 0;
	char name[128];

	module_name(path, name, sizeof(name));
	while (syscall(SYS_delete_module, name, O_NONBLOCK)) {
		if (errno == ENOENT)
			return;		/* an event has unloaded it */
		if (errno != EWOULDBLOCK && errno != EBUSY)
			lab_fail("cannot unload module %s: %s", name,
				 strerror(errno));
		if (waited_ns >= UNLOAD_LIMIT_NS)
			lab_fail("module %s is still in use after all sockets, links and nodes are gone",
				 name);
		pass_time(UNLOAD_STEP_NS);
		waited_ns += UNLOAD_STEP_NS;
	}
}

/* Takes everything down. */
static void teardown(const struct plan *plan)
{
	size_t i;

	traffic_close();
	nodes_remove();
	for (i = plan->modules.count; i--;)
		module_unload(PLAN_ITEM(struct plan_module, plan->modules,
					i)->path);
}

/* Two scans, because an object must be old enough to be reported. */
static void scan(struct buffer *report)
{
	int error, i, fd;

	for (i = 0; i < 2; i++) {
		error = file_write(KMEMLEAK_FILE, "scan");
		if (error)
			lab_fail("cannot look for leaks: %s: %s (needs the debug kernel)",
				 KMEMLEAK_FILE, strerror(-error));
		pass_time(KMEMLEAK_AGE_NS);
	}
	fd = open(KMEMLEAK_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		lab_fail("cannot look for leaks: %s: %s", KMEMLEAK_FILE,
			 strerror(errno));
	buffer_read_fd(report, fd, KMEMLEAK_FILE);
	close(fd);
}

/* Takes everything down and reports memory that got lost. Needs the debug kernel. */
void leak_check(const struct plan *plan)
{
	struct buffer report = { 0 };

	lab_say(100, plan->end_ns, "leaks");
	teardown(plan);
	scan(&report);
	raw_write("kmemleak.txt", report.data, report.length);
	if (report.length)
		fprintf(stderr, "%s", report.data);
	buffer_free(&report);
}
