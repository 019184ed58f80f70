// SPDX-License-Identifier: GPL-2.0
/* Find in the guest's kernel log what no healthy run contains: panics, oopses,
 * warnings, lockdep, sanitizer and leak reports.
 */
#include "boot.h"

#include <string.h>

#define CONTEXT_LINES	40
#define REPORT_MAX	20000

static const char *const signs[] = {
	"WARNING:",
	"BUG:",
	"kernel BUG at",
	"Kernel panic",
	"Oops",
	"UBSAN:",
	"KASAN:",
	"KFENCE:",
	"KCSAN:",
	"possible circular locking",
	"possible recursive locking",
	"possible irq lock inversion",
	"inconsistent lock state",
	"bad unlock balance",
	"held lock freed",
	"suspicious RCU usage",
	"Invalid wait context",
	"sleeping function called",
	"scheduling while atomic",
	"rcu: INFO:",
	"blocked for more than",
	"refcount_t:",
	"ODEBUG:",
	"list_add corruption",
	"list_del corruption",
	"general protection fault",
	"Unable to handle kernel",
	"Segfault with no mm",
	"unreferenced object",
	"Out of memory: Killed",
	"page allocation failure",
	"unregister_netdevice: waiting",
	"ptrace set fp regs failed",
};

/* Look at one line of the log; a bad one and the lines after it are kept. */
void kernellog_line(struct kernellog *k, const char *line)
{
	bool bad = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signs) && !bad; i++)
		bad = strstr(line, signs[i]);
	if (bad) {
		k->bad++;
		k->after = CONTEXT_LINES;
	} else if (k->after > 0) {
		k->after--;
	} else {
		return;
	}
	if (k->report.len < REPORT_MAX)
		buf_addf(&k->report, "  %s\n", line);
}
