// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel modules.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "labinit.h"

/* What a failed finit_module() means, in words. */
static const char *module_reason(int error)
{
	switch (error) {
	case ENOEXEC:
		return "it is not a module for this kernel (see the console)";
	case ENOENT:
		return "it needs symbols that no loaded module has (see the console)";
	case EINVAL:
		return "wrong parameters, or it does not fit this kernel (see the console)";
	default:
		return strerror(error);
	}
}

/*
 * The kernel only warns about parameters that a module does not have: look
 * them up in the module's file, where each has a text "parmtype=NAME:…".
 */
static void module_check_params(const struct plan_module *module, int fd)
{
	struct buffer image = { 0 };
	char *params = strdup(module->params), *rest = params, *word;
	char mark[256];

	if (!params)
		lab_fail("no memory");
	buffer_read_fd(&image, fd, module->path);
	while ((word = strsep(&rest, " "))) {
		if (!*word)
			continue;
		word[strcspn(word, "=")] = '\0';
		snprintf(mark, sizeof(mark), "parmtype=%s:", word);
		if (!memmem(image.data, image.length, mark, strlen(mark)))
			lab_fail("module %s has no parameter \"%s\"",
				 module->path, word);
	}
	buffer_free(&image);
	free(params);
}

/* Loads the plan's modules in order; one that is there already is fine. */
void modules_load(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->modules.count; i++) {
		const struct plan_module *module =
			PLAN_ITEM(struct plan_module, plan->modules, i);
		const char *params = module->params ? module->params : "";
		int fd = open(module->path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			lab_fail("cannot open module %s: %s", module->path,
				 strerror(errno));
		if (*params)
			module_check_params(module, fd);
		if (syscall(SYS_finit_module, fd, params, 0) &&
		    errno != EEXIST)
			lab_fail("cannot load module %s%s%s: %s", module->path,
				 *params ? " " : "", params,
				 module_reason(errno));
		close(fd);
	}
}
