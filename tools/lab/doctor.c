// SPDX-License-Identifier: GPL-2.0
/* lab doctor: what this machine lacks or forbids, one sentence and a cure
 * each. Ends by booting a guest if everything else is there.
 */
#include "commands.h"
#include "boot.h"
#include "hostcheck.h"

#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define XSTATE_MAX_BYTES	12288	/* what the lab's kernel patch covers */
#define MEMORY_NEED_BYTES	1.5e9
#define BUILD_NEED_BYTES	4e9

static int problems;

/* One line of the report; problems count. */
static void report(bool ok, const char *what, const char *fmt, ...)
	PRINTF(3, 4);
static void report(bool ok, const char *what, const char *fmt, ...)
{
	va_list ap;

	printf("%s  %-14s ", ok ? "ok     " : "PROBLEM", what);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	problems += !ok;
}

/* Can a process be traced and its system calls be intercepted? */
static bool ptrace_works(void)
{
	int status = 0;
	pid_t pid = fork();
	bool ok;

	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		getppid();
		_exit(0);
	}
	ok = pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
	if (ok)
		ok = !ptrace(PTRACE_SYSEMU, pid, NULL, NULL) &&
		     waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
	if (pid > 0)
		kill(pid, SIGKILL);
	return ok;
}

static void check_ptrace(void)
{
	char *text;

	if (ptrace_works()) {
		report(true, "ptrace", "processes can be traced");
		return;
	}
	text = read_file("/proc/sys/kernel/yama/ptrace_scope", NULL);
	if (text && atoi(text) >= 2)
		report(false, "ptrace", "tracing is switched off on this machine: sysctl kernel.yama.ptrace_scope=1");
	else
		report(false, "ptrace", "tracing is forbidden here, as in containers: start the container with --cap-add=SYS_PTRACE --security-opt seccomp=unconfined");
	free(text);
}

static void check_processor(void)
{
	unsigned int a, b, c = 0, d;
	struct utsname u;

	uname(&u);
	if (strcmp(u.machine, "x86_64")) {
		report(false, "processor", "%s: User Mode Linux runs on x86_64 only; use an x86_64 machine",
		       u.machine);
		return;
	}
	if (__get_cpuid_count(0xd, 0, &a, &b, &c, &d) && c > XSTATE_MAX_BYTES)
		report(false, "processor", "its register state has %u bytes, the lab's kernel saves %d: raise HOST_FP_SIZE in tools/lab/kernel/patches",
		       c, XSTATE_MAX_BYTES);
	else
		report(true, "processor", "x86_64, register state of %u bytes",
		       c);
}

/* Number in a file, or a huge one if it has none ("max", missing). */
static double file_number(const char *path)
{
	char *text = read_file(path, NULL), *end;
	double v = 1e18, n;

	if (text) {
		n = strtod(text, &end);
		if (end != text)
			v = n;
	}
	free(text);
	return v;
}

static void check_memory(void)
{
	char *text = read_file("/proc/meminfo", NULL);
	char *line = text ? strstr(text, "MemAvailable:") : NULL;
	double bytes = line ? atof(line + 13) * 1024 : 0;
	double group = file_number("/sys/fs/cgroup/memory.max");

	free(text);
	if (group < bytes)
		bytes = group;
	if (bytes < MEMORY_NEED_BYTES)
		report(false, "memory", "%.1f GB are free, a guest wants %.1f GB: end something else, or give the container more",
		       bytes / 1e9, MEMORY_NEED_BYTES / 1e9);
	else
		report(true, "memory", "%.1f GB free", bytes / 1e9);
}

static void check_tmp(void)
{
	const char *const *f;
	struct buf why = { 0 };

	for (f = tmp_folders(); *f; f++) {
		double room = folder_free_bytes(*f);

		if (access(*f, W_OK)) {
			buf_addf(&why, "%s cannot be written; ", *f);
		} else if (!folder_maps_exec(*f)) {
			buf_addf(&why, "%s is mounted noexec; ", *f);
		} else if (room < TMP_NEED_BYTES) {
			buf_addf(&why, "%s has only %.0f MB free; ", *f,
				 room / 1e6);
		} else {
			report(true, "temporary", "the guest's memory goes to %s%s",
			       *f, why.s ? " (see below)" : "");
			if (why.s)
				printf("         %-14s %s\n", "", why.s);
			return;
		}
	}
	report(false, "temporary", "%sset LAB_TMPDIR to a folder that allows execution and has %.0f MB, best in memory (docker: --shm-size=2g)",
	       why.s, TMP_NEED_BYTES / 1e6);
}

/* Is there a program of that name? */
static bool have_program(const char *name)
{
	char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "");
	struct strv dirs = { 0 };
	bool found = false;
	int i;

	strv_split(&dirs, path, ':');
	strv_addf(&dirs, "/usr/sbin");
	strv_addf(&dirs, "/sbin");
	for (i = 0; i < dirs.n && !found; i++) {
		char *file = xasprintf("%s/%s", dirs.s[i], name);

		found = !access(file, X_OK);
		free(file);
	}
	free(path);
	return found;
}

static void check_programs(void)
{
	static const char *const need[][3] = {
		{ "gnuplot", "gnuplot-nox", "draws the plots" },
		{ "parallel", "parallel", "runs sweeps" },
		{ "ip", "iproute2", "sets up the guest's network" },
		{ "tc", "iproute2", "sets up the guest's queues" },
		{ "git", "git", "tells the version in environment.json" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(need); i++) {
		if (have_program(need[i][0]))
			report(true, need[i][0], "installed");
		else
			report(false, need[i][0], "is missing, it %s: apt install %s",
			       need[i][2], need[i][1]);
	}
}

/* Path of the kernel if it was built, else NULL. */
static char *built_kernel(void)
{
	char *script = xasprintf("%s/tools/lab/kernel/build", path_root());
	char *folder, *path;
	int status;

	folder = run_capture(&status, script, "uml", "--print", NULL);
	free(script);
	if (!folder || status)
		return NULL;
	folder[strcspn(folder, "\n")] = 0;
	path = xasprintf("%s/linux", folder);
	free(folder);
	return access(path, X_OK) ? NULL : path;
}

/* The kernel, or what is needed to build it. */
static bool check_kernel(void)
{
	const char *source = "/usr/src/linux-source-6.12.tar.xz";
	char *path = built_kernel();
	const char *home = getenv("HOME") ? getenv("HOME") : "/";

	if (path) {
		report(true, "kernel", "%s", path);
		free(path);
		return true;
	}
	if (getenv("KSRC") && access(getenv("KSRC"), R_OK))
		report(false, "kernel source", "KSRC=%s cannot be read: let KSRC name a Linux 6.12 source folder or archive",
		       getenv("KSRC"));
	else if (!getenv("KSRC") && access(source, R_OK))
		report(false, "kernel source", "%s is missing: apt install linux-source-6.12, or on another distribution KSRC=<Linux 6.12 source> make lab",
		       source);
	else if (folder_free_bytes(home) < BUILD_NEED_BYTES)
		report(false, "disk", "%.1f GB free in %s, building the kernel takes %.0f GB: set XDG_CACHE_HOME to a folder with room",
		       folder_free_bytes(home) / 1e9, home,
		       BUILD_NEED_BYTES / 1e9);
	else
		report(false, "kernel", "the lab's kernel is not built: make lab");
	return false;
}

static bool check_built(void)
{
	static const char *const need[] = {
		"bin/labinit", "mod/uml/lablink.ko", "mod/uml/labtap.ko",
		"mod/uml/sch_fabric.ko", "tc/q_fabric.so",
	};
	bool all = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(need); i++) {
		char *path = xasprintf("%s/%s", path_build(), need[i]);

		if (access(path, R_OK)) {
			report(false, "build", "%s is missing: make lab", path);
			all = false;
		}
		free(path);
	}
	if (all)
		report(true, "build", "modules and tools in %s", path_build());
	return all;
}

/* Boot a guest that runs nothing but true. */
static void check_boot(void)
{
	char *lab = xasprintf("%s/bin/lab", path_build());
	double start = wall_seconds();
	char *text;
	int status;

	text = run_capture(&status, lab, "exec", "--", "true", NULL);
	if (text && !status)
		report(true, "guest", "boots, and ends after %.2f s",
		       wall_seconds() - start);
	else
		report(false, "guest", "does not boot: the message above says why");
	free(text);
	free(lab);
}

/* lab doctor */
int cmd_doctor(int argc, char **argv)
{
	bool bootable;
	int old;

	if (argc)
		die("lab doctor: takes no arguments, got %s", argv[0]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_processor();
	check_ptrace();
	old = personality(0xffffffff);
	if (old < 0 || personality(old | ADDR_NO_RANDOMIZE) < 0)
		report(false, "addresses", "fixed address layout is forbidden here, results may differ from run to run: start the container with --security-opt seccomp=unconfined");
	else
		report(true, "addresses", "a fixed address layout is allowed");
	check_memory();
	check_tmp();
	check_programs();
	bootable = check_kernel();
	bootable &= check_built();
	if (bootable)
		check_boot();
	printf("%s\n", problems ? "Some things need a cure." :
				  "Nothing is missing.");
	return problems ? 1 : LAB_OK;
}
