// SPDX-License-Identifier: GPL-2.0
/* Where the project's files are: everything is found from the place of the
 * running program (build/bin/lab), so a moved checkout works.
 */
#include "util.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The build folder: the parent of the folder that holds this program. */
const char *path_build(void)
{
	static char path[PATH_MAX];
	ssize_t n;

	if (path[0])
		return path;
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n < 0)
		die("cannot read /proc/self/exe: is /proc mounted?");
	path[n] = 0;
	dirname(path);
	dirname(path);
	return path;
}

/* The source tree: the parent of the build folder if that looks right, else
 * the folder this program was built from.
 */
const char *path_root(void)
{
	static char *root;

	if (root)
		return root;
	root = xasprintf("%s/..", path_build());
	root = realpath(root, NULL);
	if (root) {
		char *probe = xasprintf("%s/tools/lab/kernel", root);

		if (access(probe, F_OK))
			root = NULL;
		free(probe);
	}
	if (!root)
		root = LAB_SRCDIR;
	return root;
}

/* The guest's first process. */
const char *path_labinit(void)
{
	static char *path;

	if (!path)
		path = xasprintf("%s/bin/labinit", path_build());
	return path;
}

/* Where tc finds its plugins, TC_LIB_DIR. */
const char *path_plugins(void)
{
	static char *path;

	if (!path)
		path = xasprintf("%s/tc", path_build());
	return path;
}

/* Where commands of a scenario are found, PATH. */
const char *path_programs(void)
{
	static char *path;

	if (!path)
		path = xasprintf("%s/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
				 path_build());
	return path;
}
