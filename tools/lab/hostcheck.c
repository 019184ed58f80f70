// SPDX-License-Identifier: GPL-2.0
/* Where on the host a guest can keep its memory: it maps a temporary file
 * executable, so the file system must allow that and have room.
 */
#include "hostcheck.h"
#include "boot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Can a file in @folder be mapped executable? */
bool folder_maps_exec(const char *folder)
{
	char *name = xasprintf("%s/lab-probe-XXXXXX", folder);
	int fd = mkstemp(name);
	void *p = MAP_FAILED;

	if (fd >= 0) {
		if (!ftruncate(fd, 4096))
			p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_SHARED, fd, 0);
		unlink(name);
		close(fd);
	}
	free(name);
	if (p == MAP_FAILED)
		return false;
	munmap(p, 4096);
	return true;
}

/* Free bytes of the file system of @folder. */
double folder_free_bytes(const char *folder)
{
	struct statvfs v;

	if (statvfs(folder, &v))
		return 0;
	return (double)v.f_bavail * v.f_frsize;
}

/* Folders to try, best first: memory before disk. Who names one wants no other. */
const char *const *tmp_folders(void)
{
	static const char *list[4];
	const char *own = getenv("LAB_TMPDIR");
	int n = 0;

	if (own && own[0]) {
		list[n++] = own;
		return list;
	}
	list[n++] = "/dev/shm";
	if (getenv("TMPDIR"))
		list[n++] = getenv("TMPDIR");
	list[n++] = "/tmp";
	return list;
}

/* Make a private temporary folder for a guest or die with the cure. */
char *guest_tmp(void)
{
	const char *const *f;

	for (f = tmp_folders(); *f; f++) {
		char *dir;

		if (folder_free_bytes(*f) < TMP_NEED_BYTES ||
		    !folder_maps_exec(*f))
			continue;
		dir = xasprintf("%s/lab-XXXXXX", *f);
		if (mkdtemp(dir))
			return dir;
		free(dir);
	}
	f = tmp_folders();
	if (!f[1])
		die("LAB_TMPDIR=%s: not a folder that is writable, not mounted noexec and has %.0f MB free (lab doctor shows why)",
		    f[0], TMP_NEED_BYTES / 1e6);
	die("no temporary folder that is writable, not mounted noexec and has %.0f MB free: set LAB_TMPDIR to one (lab doctor shows why)",
	    TMP_NEED_BYTES / 1e6);
}
