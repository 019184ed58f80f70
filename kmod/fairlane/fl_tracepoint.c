// SPDX-License-Identifier: GPL-2.0
/* The kernel's tracepoints, which it does not export: found by name. */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "fl_tracepoint.h"

struct fl_tracepoint_wanted {
	const char *name;
	struct tracepoint *found;
};

static void fl_tracepoint_match(struct tracepoint *tp, void *data)
{
	struct fl_tracepoint_wanted *wanted = data;

	if (!strcmp(tp->name, wanted->name))
		wanted->found = tp;
}

/**
 * fl_tracepoint() - find a tracepoint of the kernel itself
 * @name: its name
 *
 * A caller has the compiler compare the arguments: check_trace_callback_type_NAME(). Context:
 * process. Return: valid for ever; NULL: this kernel has none of that name.
 */
struct tracepoint *fl_tracepoint(const char *name)
{
	struct fl_tracepoint_wanted wanted = { .name = name };

	for_each_kernel_tracepoint(fl_tracepoint_match, &wanted);
	return wanted.found;
}
EXPORT_SYMBOL_GPL(fl_tracepoint);
