// SPDX-License-Identifier: GPL-2.0
/* Which process has a socket: /proc/PID/fd. Without root only one's own. */
#include "tool.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Add the sockets of one process; false if it cannot be looked into. */
static bool add_process(struct proc_sockets *list, int pid)
{
	char path[64], link[64], *comm;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	comm = read_text(path);
	if (comm)
		comm[strcspn(comm, "\n")] = 0;
	while ((e = readdir(dir))) {
		struct proc_socket s = { .pid = pid, .fd = atoi(e->d_name) };
		ssize_t len = readlinkat(dirfd(dir), e->d_name, link,
					 sizeof(link) - 1);

		if (len < 0)
			continue;
		link[len] = 0;
		if (sscanf(link, "socket:[%u]", &s.inode) != 1)
			continue;
		snprintf(s.comm, sizeof(s.comm), "%.15s", comm ? comm : "?");
		list->s = xgrow(list->s, list->n, sizeof(*list->s));
		list->s[list->n++] = s;
	}
	closedir(dir);
	free(comm);
	return true;
}

/* Sockets of one process; none is an error, for the user. */
void proc_sockets_of(struct proc_sockets *list, int pid)
{
	if (!add_process(list, pid))
		fail_kernel("process %d: %s%s", pid, strerror(errno),
			    errno == EACCES ? " (another user's: needs root)" :
			    "");
}

static int by_inode(const void *a, const void *b)
{
	const struct proc_socket *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

void proc_sockets_all(struct proc_sockets *list)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	memset(list, 0, sizeof(*list));
	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			add_process(list, atoi(e->d_name));
	closedir(dir);
	if (list->n)
		qsort(list->s, list->n, sizeof(*list->s), by_inode);
}

/* The first one with this inode; the next ones follow it in the list. */
const struct proc_socket *proc_find(const struct proc_sockets *list,
				    uint32_t inode)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (list->s[mid].inode < inode)
			low = mid + 1;
		else
			high = mid;
	}
	return inode && low < list->n && list->s[low].inode == inode ?
	       &list->s[low] : NULL;
}
