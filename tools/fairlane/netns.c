// SPDX-License-Identifier: GPL-2.0
/* -n NETNS: the network namespace that a command is about. */
#include "tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/**
 * netns_find() - a network namespace by its name, if there is one
 * @name: as "ip netns" names it, a path, or the number of a process that is in it
 *
 * Return: a file descriptor, or -1 and errno.
 */
int netns_find(const char *name)
{
	uint64_t pid;
	char *path;
	int fd, err;

	if (strchr(name, '/'))
		path = xprintf("%s", name);
	else
		path = xprintf("/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = errno;
	if (fd < 0 && err == ENOENT && parse_u64(name, 10, 1 << 22, &pid)) {
		free(path);
		path = xprintf("/proc/%s/ns/net", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		err = errno;
	}
	free(path);
	errno = err;
	return fd;
}

/**
 * netns_open() - a network namespace by its name
 * @name: as netns_find() knows it
 *
 * Return: a file descriptor. Ends the program if there is none.
 */
int netns_open(const char *name)
{
	int fd = netns_find(name);

	if (fd < 0)
		fail_kernel("network namespace \"%s\": %s (%s)", name, strerror(errno),
			    errno == EACCES || errno == EPERM ? "entering one needs root" :
			    "ip netns list shows them");
	return fd;
}

/* Go into an open network namespace; @name is for messages. */
void netns_enter_fd(int fd, const char *name)
{
	if (setns(fd, CLONE_NEWNET))
		fail_kernel("network namespace \"%s\": %s%s", name,
			    strerror(errno),
			    errno == EPERM ? " (entering one needs root)" : "");
}

/**
 * netns_enter() - go into a network namespace
 * @name: as netns_open() knows it
 *
 * Sockets and /proc/sys/net are those of the namespace from then on.
 */
void netns_enter(const char *name)
{
	int fd = netns_open(name);

	netns_enter_fd(fd, name);
	close(fd);
}

/* The number of the namespace that this process is in. */
char *netns_number(void)
{
	struct stat st;

	if (stat("/proc/self/ns/net", &st))
		fail_kernel("/proc/self/ns/net: %s", strerror(errno));
	return xprintf("%llu", (unsigned long long)st.st_ino);
}

/**
 * struct visit - a walk through all network namespaces
 * @fn: called in each
 * @arg: for @fn
 * @inode: of those that were found
 * @n: how many
 * @failed: where @fn did not return 0
 */
struct visit {
	netns_fn *fn;
	void *arg;
	ino_t *inode;
	size_t n;
	unsigned int failed;
};

/* Is it found for the first time? */
static bool visit_new(struct visit *v, int fd)
{
	struct stat st;
	size_t i;

	if (fstat(fd, &st))
		st.st_ino = 0;
	for (i = 0; i < v->n; i++)
		if (v->inode[i] == st.st_ino)
			return false;
	v->inode = xgrow(v->inode, v->n, sizeof(*v->inode));
	v->inode[v->n++] = st.st_ino;
	return true;
}

/* The namespace at @path, in a process of its own: it cannot come back. */
static void visit_there(struct visit *v, const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), status;
	pid_t pid;

	/* it has gone, then */
	if (fd < 0)
		return;
	/* a name whose namespace has gone is an empty file in /run/netns */
	if (ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET || !visit_new(v, fd)) {
		close(fd);
		return;
	}
	fflush(NULL);
	pid = fork();
	if (!pid) {
		netns_enter_fd(fd, path);
		status = v->fn(name, v->arg);
		fflush(NULL);
		_exit(status);
	}
	close(fd);
	v->failed += pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

/* Everything below @folder whose path ends with @rest. */
static void visit_folder(struct visit *v, const char *folder, const char *rest,
			 const char *what)
{
	DIR *dir = opendir(folder);
	struct dirent *d;
	char *path, *name;

	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		path = xprintf("%s/%s%s", folder, d->d_name, rest);
		name = xprintf("%s%s", what, d->d_name);
		visit_there(v, path, name);
		free(path);
		free(name);
	}
	if (dir)
		closedir(dir);
}

/**
 * netns_each() - call a function in each network namespace of the host
 * @fn: the function; runs in a process of its own, with a name for messages
 * @arg: for @fn
 * @failed: where @fn did not return 0, or nobody could go
 *
 * First this process' own, then those in /run/netns, then those that any process is in.
 *
 * Return: how many there are.
 */
size_t netns_each(netns_fn *fn, void *arg, unsigned int *failed)
{
	struct visit v = { .fn = fn, .arg = arg };

	visit_there(&v, "/proc/self/ns/net", "here");
	visit_folder(&v, "/run/netns", "", "");
	visit_folder(&v, "/proc", "/ns/net", "pid ");
	free(v.inode);
	*failed = v.failed;
	return v.n;
}
