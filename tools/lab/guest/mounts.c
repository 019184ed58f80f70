// SPDX-License-Identifier: GPL-2.0
/*
 * File systems of the guest. The root is the host's, read-only. /run and /tmp
 * become empty memory; folders below them that the plan needs are brought back
 * from the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "labinit.h"

static void mount_or_fail(const char *source, const char *target,
			  const char *type, unsigned long flags,
			  const char *data)
{
	if (mount(source, target, type, flags, data))
		lab_fail("cannot mount %s on %s: %s", type ? type : source,
			 target, strerror(errno));
}

/* mkdir -p */
static void make_folders(const char *path)
{
	char part[4096];
	char *slash;

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		lab_fail("path too long: %s", path);
	for (slash = strchr(part + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0755) && errno != EEXIST)
			lab_fail("cannot make folder %s: %s", part,
				 strerror(errno));
		*slash = '/';
	}
	if (mkdir(part, 0755) && errno != EEXIST)
		lab_fail("cannot make folder %s: %s", part, strerror(errno));
}

/*
 * Shows a folder of the host below /tmp or /run again, which the empty file
 * systems hide. Folders elsewhere are visible anyway.
 */
static void keep_folder(const char *path)
{
	char host[4200];
	struct stat info;

	if (strncmp(path, "/tmp/", 5) && strncmp(path, "/run/", 5))
		return;
	if (!strncmp(path, "/run/lab/", 9) || !stat(path, &info))
		return;
	snprintf(host, sizeof(host), LAB_HOST_DIR "%s", path);
	if (stat(host, &info) || !S_ISDIR(info.st_mode))
		return;
	make_folders(path);
	mount_or_fail(host, path, NULL, MS_BIND, NULL);
}

/* Keeps the folder of a file. */
static void keep_folder_of(const char *file)
{
	char folder[4096];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", file);
	slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return;
	*slash = '\0';
	keep_folder(folder);
}

/* Keeps all folders of a variable like PATH. */
static void keep_folders(const char *list)
{
	char *copy = strdup(list);
	char *rest = copy, *folder;

	if (!copy)
		lab_fail("no memory");
	while ((folder = strsep(&rest, ":")))
		keep_folder(folder);
	free(copy);
}

/* Shows what the plan needs of the host's /tmp and /run. */
void mounts_keep(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->env.count; i++)
		keep_folders(PLAN_ITEM(struct plan_pair, plan->env, i)->value);
	for (i = 0; i < plan->modules.count; i++)
		keep_folder_of(PLAN_ITEM(struct plan_module, plan->modules,
					 i)->path);
	for (i = 0; i < plan->exec.argv.count; i++) {
		const char *word = *PLAN_ITEM(const char *, plan->exec.argv, i);

		const char *value = strchr(word, '=');

		keep_folder(word);
		keep_folder_of(word);
		/* of "env NAME=/path command" */
		if (value && value[1] == '/') {
			keep_folders(value + 1);
			keep_folder_of(value + 1);
		}
	}
}

/* Mounts the devices, so that there is a console to report errors to. */
void mounts_dev(void)
{
	mount_or_fail("devtmpfs", "/dev", "devtmpfs", 0, NULL);
}

/*
 * Mounts everything else; afterwards raw/ can be written. out is a host's folder, which
 * only User Mode Linux can mount.
 */
void mounts_make(const char *out)
{
	/* nothing of it is to be seen outside of our mount namespace */
	if (getenv("LAB_HOST"))
		mount_or_fail("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	mount_or_fail("tmpfs", "/run", "tmpfs", 0, "mode=755");
	make_folders(LAB_HOST_DIR);
	make_folders(LAB_OUT_DIR);
	make_folders(LAB_NETNS_DIR);
	/* with an archive the results go to the host at the end */
	if (getenv("LAB_HOST"))
		mount_or_fail(out, LAB_OUT_DIR, NULL, MS_BIND, NULL);
	else if (!getenv("LAB_ARCHIVE"))
		mount_or_fail("none", LAB_OUT_DIR, "hostfs", 0, out);
	make_folders(LAB_RAW_DIR);
	mount_or_fail("/", LAB_HOST_DIR, NULL, MS_BIND, NULL);
	mount_or_fail("tmpfs", "/tmp", "tmpfs", 0, "mode=1777");
	mount_or_fail("proc", "/proc", "proc", 0, NULL);
	mount_or_fail("sysfs", "/sys", "sysfs", 0, NULL);
	if (mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL) &&
	    errno != ENOENT && errno != ENODEV)
		lab_fail("cannot mount debugfs: %s", strerror(errno));
	if (mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) &&
	    errno != ENOENT && errno != ENODEV)
		lab_fail("cannot mount tracefs: %s", strerror(errno));
	if (!mkdir("/dev/pts", 0755) || errno == EEXIST)
		mount("devpts", "/dev/pts", "devpts", 0, NULL);
}
