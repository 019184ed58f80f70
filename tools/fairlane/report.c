// SPDX-License-Identifier: GPL-2.0
/* fairlane report: everything that a bug report needs, in one file. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
"usage: fairlane report [FILE]\n"
"Writes versions, check, settings, flows, counters, devices, qdiscs and our lines of\n"
"the kernel log to FILE (fairlane-report-TIME.txt; \"-\" is stdout). Nothing is sent\n"
"anywhere. It holds addresses and names of programs: look before you publish it.\n";

/* A section: what it shows, by which command. "fairlane": this program. */
static const struct section {
	const char *title;
	const char *command;
} sections[] = {
	{ "versions", "fairlane -V; uname -a; grep PRETTY_NAME /etc/os-release" },
	{ "check", "fairlane check" },
	{ "modules",
	  "lsmod | grep -E '^(Module|fairlane|tcp_|sch_)'; for m in fairlane $(ls /sys/module/fairlane/holders 2>/dev/null) sch_fabric; do modinfo -F filename $m; modinfo -F srcversion $m; modinfo -F vermagic $m; done"
	},
	{ "taint", "cat /proc/sys/kernel/tainted" },
	{ "settings", "fairlane -d profile show; fairlane limits show; fairlane policy show" },
	{ "flows", "fairlane -d flow show state all | head -n 2000" },
	{ "counters", "fairlane stats" },
	{ "sysctls",
	  "sysctl -a 2>/dev/null | grep -E '^net\\.(fairlane|core\\.(default_qdisc|[rw]mem)|ipv4\\.tcp_(available|allowed|congestion|ecn|timestamps|sack|dsack|rmem|wmem|notsent|slow_start|no_metrics|recovery|early_retrans))'"
	},
	{ "TCP counters",
	  "nstat -asz | grep -E '^(TcpRetrans|TcpExt(TCPDSACK|TCPTimeouts|TCPLossProbes|TCPSackRecovery|TCPSpurious))'"
	},
	{ "devices", "ip -d -s link; ip addr; ip route; ip -6 route" },
	{ "offloads",
	  "for d in $(ls /sys/class/net); do ethtool -k $d 2>/dev/null | grep -E '^(Features|tcp-seg|generic|large)'; ethtool -c $d 2>/dev/null | grep -E '^(Coalesce|Adaptive|rx-usecs:)'; done"
	},
	{ "qdiscs",
	  "tc -s qdisc; for d in $(ls /sys/class/net); do tc -s class show dev $d; done"
	},
	{ "sockets as ss sees them", "ss -tinmeH | head -n 400" },
	{ "machine",
	  "nproc; grep -m1 'model name' /proc/cpuinfo; head -n 3 /proc/meminfo; cat /sys/devices/system/clocksource/clocksource0/current_clocksource"
	},
	{ "kernel log",
	  "dmesg 2>&1 | grep -iE 'fairlane|prioplus|swift|soze|ledbat|d2tcp|sch_fabric|BUG|WARNING|Oops|dmesg:' | tail -n 200"
	},
};

/* One command of a section; its errors belong to the report. */
static void run_section(FILE *out, const struct section *s)
{
	char *self = xprintf("fairlane() { '/proc/%d/exe' \"$@\"; }; %s",
			     (int)getpid(), s->command);
	pid_t pid;

	fprintf(out, "==== %s\n", s->title);
	fflush(out);
	pid = fork();
	if (!pid) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(out), STDERR_FILENO);
		setenv("LC_ALL", "C", 1);
		execl("/bin/sh", "sh", "-c", self, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		fprintf(out, "(could not be run: %s)\n", strerror(errno));
	fputc('\n', out);
	free(self);
}

int cmd_report(struct words *w)
{
	bool to_stdout;
	char name[64];
	const char *path = name;
	time_t now = time(NULL);
	FILE *out = stdout;
	struct tm tm;
	size_t i;

	if (words_help(w, usage))
		return EXIT_OK;
	gmtime_r(&now, &tm);
	strftime(name, sizeof(name), "fairlane-report-%Y%m%dT%H%M%SZ.txt", &tm);
	if (words_left(w))
		path = word_file(w);
	words_end(w);
	to_stdout = !strcmp(path, "-");
	if (to_stdout && opt.json)
		fail("report: JSON tells the name of the file; it cannot be \"-\"");
	if (!to_stdout) {
		/* never over a file that is there */
		out = fopen(path, "wxe");
		if (!out)
			fail_kernel("%s: %s", path, strerror(errno));
	}
	setenv("PATH", xprintf("%s:/usr/sbin:/sbin", getenv("PATH") ?: ""), 1);
	strftime(name, sizeof(name), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(out, "Fairlane report, %s\n\n", name);
	strftime(name, sizeof(name), "fairlane-report-%Y%m%dT%H%M%SZ.txt", &tm);
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		run_section(out, &sections[i]);
	if (fflush(out) || ferror(out)) {
		int err = errno;

		if (!to_stdout)
			unlink(path);
		fail_kernel("%s: %s", path, strerror(err));
	}
	if (to_stdout)
		return EXIT_OK;
	fclose(out);
	if (opt.json) {
		cJSON *doc = cJSON_CreateObject();

		cJSON_AddStringToObject(doc, "file", path);
		json_print(doc);
	} else {
		printf("%s: look at it before you publish it, it holds addresses and names\n",
		       path);
	}
	return EXIT_OK;
}
