// SPDX-License-Identifier: GPL-2.0
/*
 * What is collected after the traffic.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "labinit.h"

/* Runs the plan's commands and keeps what they print. */
void collect_run(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->collect.count; i++) {
		const struct plan_collect *collect =
			PLAN_ITEM(struct plan_collect, plan->collect, i);
		struct buffer out = { 0 }, err = { 0 };
		struct proc proc;
		char text[256];
		int code;

		proc_start(&proc, collect->node, collect->argv.items, NULL, 0);
		code = proc_finish(&proc, &out, &err);
		proc_text(collect->argv.items, text, sizeof(text));
		if (code)
			lab_fail("%s: `%s` ended with exit code %d; it said: \"%.500s\"",
				 node_name(collect->node), text, code,
				 buffer_one_line(&err));
		raw_write(collect->file, out.data, out.length);
		buffer_free(&out);
		buffer_free(&err);
	}
}

/* Keeps the protocol counters of each node. */
void collect_netstat(const struct plan *plan)
{
	static const char *const files[] = {
		"/proc/self/net/snmp", "/proc/self/net/netstat",
		"/proc/self/net/snmp6", "/proc/self/net/fairlane_credit",
	};
	struct buffer text = { 0 };
	char name[PLAN_NODE_NAME_MAX + 32];
	size_t i, j;
	int fd;

	for (i = 0; i < plan->nodes.count; i++) {
		node_enter(i);
		text.length = 0;
		for (j = 0; j < ARRAY_SIZE(files); j++) {
			fd = open(files[j], O_RDONLY | O_CLOEXEC);
			if (fd < 0)
				continue;	/* no IPv6, no such module */
			buffer_read_fd(&text, fd, files[j]);
			close(fd);
		}
		snprintf(name, sizeof(name), "netstat-%s.txt", node_name(i));
		raw_write(name, text.data, text.length);
	}
	node_enter(PLAN_NO_NODE);
	buffer_free(&text);
}
