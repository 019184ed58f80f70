// SPDX-License-Identifier: GPL-2.0
/* Start the guest (User Mode Linux in virtual time), watch its console, end it
 * if it makes no progress.
 *
 * The kernel mixes its command line into its random numbers, so the command
 * line is the same text in every run: the plan and the guest's init are passed
 * as open files, the run's folder as the current one.
 */
#include "boot.h"
#include "units.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FD_EXEC		196
#define FD_INIT		197
#define FD_PLAN		198

/* Processor seconds without a sign of life before a guest counts as hung, and
 * wall seconds in which it used no processor at all. Debug kernels are slow.
 */
#define HANG_CPU_S		300
#define HANG_CPU_DEBUG_S	3000
#define HANG_IDLE_S		120

/* Set before signals can come and after they no longer matter. */
static pid_t guest_pid;
static int interrupted;

/* Interrupted: end the guest; boot_guest() then cleans up and follows. */
static void on_signal(int sig)
{
	interrupted = sig;
	if (guest_pid > 0)
		kill(-guest_pid, SIGKILL);
}

/* Catch what interrupts a run while there is a guest. Who ignores a signal (nohup) goes on to. */
static void catch_signals(bool on)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (signal(signals[i], on ? on_signal : SIG_DFL) == SIG_IGN)
			signal(signals[i], SIG_IGN);
}

/* Path of the kernel to start; dies with the cure if it was not built. */
char *kernel_binary(const char *kernel)
{
	char *script = xasprintf("%s/tools/lab/kernel/build", path_root());
	char *folder, *path;
	int status;

	if (!kernel_is_uml(kernel))
		return machine_kernel(kernel);
	folder = run_capture(&status, script, kernel, "--print", NULL);
	if (!folder || status)
		die("no kernel \"%s\": %s %s --print failed", kernel, script,
		    kernel);
	folder[strcspn(folder, "\n")] = 0;
	path = xasprintf("%s/linux", folder);
	if (access(path, X_OK))
		die("the lab's kernel \"%s\" is not built: %s/tools/lab/kernel/build %s",
		    kernel, path_root(), kernel);
	free(folder);
	free(script);
	return path;
}

/* Give @fd the fixed number @want in the guest's process. */
static void place_fd(int fd, int want)
{
	if (fd < 0 || dup2(fd, want) < 0)
		_exit(126);
}

/* In the child: become the guest's kernel. Does not return. */
static void exec_kernel(const struct boot *b, const char *binary,
			const char *tmp, const int *console, const int *output)
{
	struct rlimit no_core = { 0, 0 };
	char *plan = xasprintf("%s/raw/plan.json", b->dir);
	int null = open("/dev/null", O_RDONLY);
	int init = open(path_labinit(), O_RDONLY);
	int fd = open(plan, O_RDONLY);
	struct strv arg = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* the size of the guest's memory depends on where its heap starts */
	personality(ADDR_NO_RANDOMIZE);
	setrlimit(RLIMIT_CORE, &no_core);
	place_fd(null, 0);
	place_fd(console[1], 1);
	place_fd(console[1], 2);
	place_fd(init, FD_INIT);
	place_fd(fd, FD_PLAN);
	if (b->exec)
		place_fd(output[1], FD_EXEC);
	if (chdir(b->dir))
		_exit(126);
	clearenv();
	setenv("UML_SEED", xasprintf("%llu", (unsigned long long)b->seed + 1),
	       1);
	setenv("TMPDIR", tmp, 1);
	setenv("HOME", tmp, 1);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	strv_addf(&arg, "linux");
	strv_addf(&arg, "mem=4G");
	strv_addf(&arg, "root=/dev/root");
	strv_addf(&arg, "rootfstype=hostfs");
	strv_addf(&arg, "hostfs=/");
	strv_addf(&arg, "ro");
	strv_addf(&arg, "con=null");
	strv_addf(&arg, "con0=null,fd:1");
	if (b->exec)
		strv_addf(&arg, "con1=null,fd:%d", FD_EXEC);
	strv_addf(&arg, "loglevel=6");
	strv_addf(&arg, "random.trust_cpu=off");
	strv_addf(&arg, "time-travel=inf-cpu");
	strv_addf(&arg, "time-travel-start=1767225600000000000");
	if (!strcmp(b->kernel, "uml-debug")) {
		strv_addf(&arg, "kasan_multi_shot");
		if (!b->leak_check)
			strv_addf(&arg, "kmemleak=off");
	}
	strv_addf(&arg, "init=/proc/self/fd/%d", FD_INIT);
	strv_addf(&arg, "LAB_PLAN=/proc/self/fd/%d", FD_PLAN);
	strv_add(&arg, NULL);
	execv(binary, arg.s);
	_exit(127);
}

/* In the child: start what becomes the guest, with its console. Does not return. */
static void exec_guest(const struct boot *b, const char *binary,
		       const char *tmp, const int *console, const int *output)
{
	if (kernel_is_uml(b->kernel))
		exec_kernel(b, binary, tmp, console, output);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	place_fd(open("/dev/null", O_RDONLY), 0);
	place_fd(console[1], 1);
	place_fd(console[1], 2);
	machine_exec(b, binary, tmp);
	_exit(127);
}

/* Processor seconds used so far by the processes of group @pgid. */
static double group_cpu_s(pid_t pgid)
{
	DIR *proc = opendir("/proc");
	double ticks = 0;
	struct dirent *e;

	while (proc && (e = readdir(proc))) {
		unsigned long long user, sys;
		char *path, *text, *p;
		int pg;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		path = xasprintf("/proc/%s/stat", e->d_name);
		text = read_file(path, NULL);
		free(path);
		p = text ? strrchr(text, ')') : NULL;
		if (p && sscanf(p + 1, " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
				&pg, &user, &sys) == 3 && pg == pgid)
			ticks += user + sys;
		free(text);
	}
	if (proc)
		closedir(proc);
	return ticks / sysconf(_SC_CLK_TCK);
}

/* Processor seconds of silence after which a guest counts as hung. */
static double hang_limit_s(const struct boot *b)
{
	const char *own = getenv("LAB_HANG_CPU_S");
	double limit_s;

	if (own && own[0]) {
		if (!parse_real(own, &limit_s) || limit_s <= 0)
			die("LAB_HANG_CPU_S=%s: write seconds of processor time, above 0",
			    own);
		return limit_s;
	}
	return strcmp(b->kernel, "uml-debug") ? HANG_CPU_S : HANG_CPU_DEBUG_S;
}

/* State of the watch over one guest. */
struct watch {
	struct boot *b;
	struct progress progress;
	struct kernellog log;
	struct buf line;
	FILE *console;
	double cpu_s, wall_s;	/* at the last sign of life */
	double last_cpu_s, idle_since_s;
	double limit_s;		/* processor time without one */
	char *said;		/* why the guest's first program gave up */
	bool hung;
	bool started;		/* the guest's first program has spoken */
	bool early;		/* ended: its kernel complained before that */
};

/* Did a kernel that is not the lab's complain while it booted? No program and no
 * module of ours is there before labinit has spoken: an emulated processor brings
 * that about, at times.
 */
static bool complained_early(const struct watch *w)
{
	return w->log.bad && !w->started && !kernel_is_uml(w->b->kernel);
}

/* Text from the console: log it, and look at every whole line. */
static void take_console(struct watch *w, const char *s, size_t n)
{
	size_t i;

	fwrite(s, 1, n, w->console);
	fflush(w->console);
	for (i = 0; i < n; i++) {
		if (s[i] == '\r')
			continue;
		if (s[i] != '\n') {
			buf_add(&w->line, s + i, 1);
			continue;
		}
		buf_add(&w->line, "", 0);
		if (!strncmp(w->line.s, "LAB: ", 5)) {
			w->started = true;
			if (!w->said && !strncmp(w->line.s + 5, "error: ", 7))
				w->said = xstrdup(w->line.s + 12);
			progress_line(&w->progress, w->line.s);
		} else {
			kernellog_line(&w->log, w->line.s);
		}
		w->line.len = 0;
		if (w->b->boots == 1 && complained_early(w)) {
			w->early = true;
			kill(-guest_pid, SIGKILL);
		}
	}
}

/* Is the guest still doing something? Looked at while it is silent. */
static void check_hang(struct watch *w)
{
	double now = wall_seconds(), cpu = group_cpu_s(guest_pid);

	if (cpu > w->last_cpu_s + 0.05) {
		w->last_cpu_s = cpu;
		w->idle_since_s = now;
	}
	if (cpu - w->cpu_s > w->limit_s || now - w->idle_since_s > HANG_IDLE_S) {
		w->hung = true;
		kill(-guest_pid, SIGKILL);
	}
}

/* Read the guest's console and output until it has closed both. */
static void follow(struct watch *w, int console, int output)
{
	struct pollfd fds[2] = { { .fd = console, .events = POLLIN },
				 { .fd = output, .events = POLLIN } };
	char chunk[65536];
	int i;

	w->idle_since_s = wall_seconds();
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		int n = poll(fds, 2, 2000);

		if (n < 0 && errno != EINTR)
			break;
		if (n <= 0) {
			check_hang(w);
			continue;
		}
		for (i = 0; i < 2; i++) {
			ssize_t got;

			if (!fds[i].revents)
				continue;
			got = read(fds[i].fd, chunk, sizeof(chunk));
			if (got <= 0) {
				fds[i].fd = -1;
				continue;
			}
			w->cpu_s = w->last_cpu_s;
			if (i == 0)
				take_console(w, chunk, got);
			else if (write(1, chunk, got) != got)
				kill(-guest_pid, SIGKILL);
		}
	}
}

/* Why the guest did not end as it should; NULL if it did. */
static char *judge(struct watch *w, int status)
{
	char *path = xasprintf("%s/raw/status", w->b->dir), *text;

	text = read_file(path, NULL);
	free(path);
	if (text)
		text[strcspn(text, "\n")] = 0;
	if (w->hung)
		return xasprintf("the guest made no progress and was ended (a program in it loops without reading the clock, or nothing is left to happen)");
	if (text && !strncmp(text, "error: ", 7))
		return xasprintf("the guest failed: %s", text + 7);
	if (w->said)
		return xasprintf("the guest failed: %s", w->said);
	if (WIFSIGNALED(status))
		return xasprintf("the guest's kernel died of signal %d (%s)",
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return xasprintf("the guest's kernel could not be run (exit code %d): try lab doctor",
				 WEXITSTATUS(status));
	if (!text || strcmp(text, "ok"))
		return xasprintf("the guest switched off before it was done");
	if (w->log.bad)
		return xasprintf("the guest's kernel complained %d time%s",
				 w->log.bad, w->log.bad > 1 ? "s" : "");
	return NULL;
}

/* Start the guest and follow it to its end; its exit status. */
static int run_guest(struct watch *w, const char *binary)
{
	struct boot *b = w->b;
	int console[2], output[2] = { -1, -1 }, status = 0;
	char *tmp = guest_tmp(), *path = xasprintf("%s/raw", b->dir);

	b->boots++;
	w->console = open_out(path, "console.log");
	if (pipe2(console, O_CLOEXEC) || (b->exec && pipe2(output, O_CLOEXEC)))
		die("cannot make a pipe: %s", strerror(errno));
	progress_init(&w->progress, b->quiet);
	fflush(NULL);
	guest_pid = fork();
	if (guest_pid < 0)
		die("cannot start a process: %s", strerror(errno));
	if (!guest_pid) {
		setpgid(0, 0);
		exec_guest(b, binary, tmp, console, output);
	}
	setpgid(guest_pid, guest_pid);
	catch_signals(true);
	close(console[1]);
	if (b->exec)
		close(output[1]);
	follow(w, console[0], output[0]);
	waitpid(guest_pid, &status, 0);
	kill(-guest_pid, SIGKILL);
	guest_pid = 0;
	progress_end(&w->progress);
	close_out(w->console, path, "console.log");
	close(console[0]);
	if (b->exec)
		close(output[0]);
	remove_tree(tmp);
	if (interrupted && b->passing)
		remove_tree(b->dir);
	catch_signals(false);
	if (interrupted)
		raise(interrupted);
	free(path);
	free(tmp);
	return status;
}

/* Run the guest described by raw/plan.json to its end. Returns NULL if it was
 * clean, else one sentence; b->trouble then holds the kernel's complaints.
 */
char *boot_guest(struct boot *b)
{
	struct watch w = { .b = b, .limit_s = hang_limit_s(b) };
	char *binary = kernel_binary(b->kernel), *path;
	struct rusage before, after;
	double start = wall_seconds();
	int status;

	if (access(path_labinit(), X_OK))
		die("%s is not built: make tools", path_labinit());
	path = xasprintf("%s/raw/status", b->dir);
	unlink(path);
	free(path);
	getrusage(RUSAGE_CHILDREN, &before);
	status = run_guest(&w, binary);
	if (w.early) {
		w.log.report.s[strcspn(w.log.report.s, "\n")] = 0;
		fprintf(stderr, "# the kernel complained before our first program, booted once more:%s\n",
			w.log.report.s + 1);
		w = (struct watch){ .b = b, .limit_s = w.limit_s };
		status = run_guest(&w, binary);
	}
	getrusage(RUSAGE_CHILDREN, &after);
	b->wall_s = wall_seconds() - start;
	b->cpu_s = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
		   (after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
		   (after.ru_utime.tv_usec - before.ru_utime.tv_usec +
		    after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6;
	b->trouble = w.log.report;
	free(binary);
	return judge(&w, status);
}
