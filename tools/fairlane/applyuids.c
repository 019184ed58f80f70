// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane apply: uids that there are in a network namespace. One of a user namespace has only
 * those that are mapped into it, often a single one (sandboxes, unshare -Urn). The kernel takes no
 * budget of another there, and no socket there has such an owner: what the file says of it means
 * nothing.
 */
#include "apply.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char uid_line[] = "limits set uid ";

/* The uids of the user namespace that this network namespace belongs to, as /proc has them; NULL:
 * it is the own one, or it cannot be entered.
 */
static char *uids_there(void)
{
	int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), status = 1;
	int user = net < 0 ? -1 : ioctl(net, NS_GET_USERNS);
	FILE *f = file_for_child();
	char *text = NULL;
	pid_t pid;
	long len;

	fflush(NULL);
	pid = user < 0 ? -1 : fork();
	if (!pid) {
		text = setns(user, CLONE_NEWUSER) ? NULL : read_text("/proc/self/uid_map");
		if (text)
			fputs(text, f);
		fflush(f);
		_exit(!text);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !status) {
		fseek(f, 0, SEEK_END);
		len = ftell(f);
		rewind(f);
		text = xalloc(len + 1);
		text[fread(text, 1, len, f)] = 0;
	}
	fclose(f);
	if (user >= 0)
		close(user);
	if (net >= 0)
		close(net);
	return text;
}

static bool map_has(const char *map, unsigned long uid)
{
	unsigned long first, outside, count;
	int used;

	while (sscanf(map, "%lu %lu %lu%n", &first, &outside, &count, &used) == 3) {
		if (uid >= first && uid - first < count)
			return true;
		map += used;
	}
	return false;
}

/**
 * settings_here() - what a text of settings means in this namespace
 * @text: as settings_now() has it
 *
 * Return: to be freed: the text without budgets of uids that are not there.
 */
char *settings_here(const char *text)
{
	char *map = strstr(text, uid_line) ? uids_there() : NULL, *here, *to;
	const size_t len = sizeof(uid_line) - 1;
	size_t n;

	here = xprintf("%s", text);
	for (to = here; map && *text; text += n) {
		n = strcspn(text, "\n");
		n += text[n] == '\n';
		if (!strncmp(text, uid_line, len) && !map_has(map, strtoul(text + len, NULL, 10)))
			continue;
		memcpy(to, text, n);
		to += n;
		*to = 0;
	}
	if (map && to == here)
		*to = 0;
	free(map);
	return here;
}
