// SPDX-License-Identifier: GPL-2.0
/*
 * labinit: PID 1 of the lab's guest. Executes plan.json and switches off.
 *
 * The host passes the plan's path in the environment (LAB_PLAN=…). What went
 * well or wrong stands in raw/status, written last: "ok" or "error: <sentence>".
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "labinit.h"

#define LAB_FILES_MAX	1048576

static bool out_mounted;

/* Virtual time. */
int64_t lab_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Tells the host how far the run is. */
void lab_say(unsigned int percent, int64_t virtual_ns, const char *what)
{
	dprintf(STDOUT_FILENO, "LAB: %u %lld %s\n", percent,
		(long long)(virtual_ns / NS_PER_US), what);
}

/*
 * On a kernel that cannot write to the host's folders: sends the results as an archive to
 * the device that LAB_ARCHIVE names.
 */
static void lab_archive(void)
{
	const char *device = getenv("LAB_ARCHIVE");
	int status = 0;
	pid_t pid;

	if (!device || !out_mounted)
		return;
	pid = fork();
	if (!pid) {
		execl("/bin/busybox", "tar", "-c", "-f", device, "-C",
		      LAB_OUT_DIR, "raw", NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		dprintf(STDERR_FILENO,
			"LAB: error: cannot write the results to %s\n", device);
}

/*
 * Ends the machine. If that fails, the kernel panics when we exit. Started by
 * mistake as a plain command, only the process ends.
 */
__noreturn
static void lab_off(void)
{
	if (getpid() != 1)
		_exit(1);
	/* on the host's own kernel we are the first process of a namespace only */
	if (getenv("LAB_HOST"))
		_exit(0);
	lab_archive();
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

/* Ends the run with an error. */
void lab_fail(const char *fmt, ...)
{
	static bool failing;
	char text[2048];
	char *line;
	va_list args;
	int length;

	length = snprintf(text, sizeof(text), "error: ");
	va_start(args, fmt);
	vsnprintf(text + length, sizeof(text) - length - 1, fmt, args);
	va_end(args);
	/* the runner shows one line, and a command may have several */
	for (line = text; (line = strchr(line, '\n')); )
		*line = line[1] ? ' ' : '\0';
	dprintf(STDERR_FILENO, "LAB: %s\n", text);
	strcat(text, "\n");
	if (out_mounted && !failing) {
		failing = true;		/* raw_write() may fail, too */
		raw_write("status", text, strlen(text));
	}
	lab_off();
}

/*
 * Opens the plan. First act: the path may go through the host's /proc and lie
 * below its /dev or /tmp. Returns a number above the standard files' or -errno,
 * because there is no console yet to complain on.
 */
static int plan_open(void)
{
	const char *path = getenv("LAB_PLAN");
	int fd, high;

	if (!path)
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return high < 0 ? -errno : high;
}

/* Reads the plan's text from what plan_open() returned. */
static void plan_text(int fd, struct buffer *text)
{
	const char *path = getenv("LAB_PLAN");

	if (!path)
		lab_fail("no LAB_PLAN=<path of plan.json> on the command line");
	if (fd < 0)
		lab_fail("cannot open %s: %s", path, strerror(-fd));
	buffer_read_fd(text, fd, path);
	close(fd);
}

/*
 * Makes the file systems, then reads the plan: so that an error in the plan can
 * be reported in raw/status, provided that the plan at least says where.
 */
static struct plan *plan_setup(int fd)
{
	struct buffer text = { 0 };
	char error[JSON_ERROR_MAX];
	struct plan *plan;
	char *out;

	plan_text(fd, &text);
	out = plan_read_out(text.data, text.length);
	if (out) {
		mounts_make(out);
		out_mounted = true;
	}
	plan = plan_read(text.data, text.length, error, sizeof(error));
	if (!plan)
		lab_fail("%s", error);
	mounts_keep(plan);
	buffer_free(&text);
	free(out);
	return plan;
}

/* Makes the console our standard files; the host's /dev may have none. */
static void console_setup(void)
{
	int fd;

	/* on the host's own kernel they are there, and its console is not ours */
	if (getenv("LAB_HOST"))
		return;
	mounts_dev();
	fd = open("/dev/console", O_RDWR | O_NOCTTY);
	if (fd < 0)
		lab_fail("cannot open the console: %s", strerror(errno));
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Limits and environment of init and all its commands. */
static void process_setup(const struct plan *plan)
{
	struct rlimit files = { LAB_FILES_MAX, LAB_FILES_MAX };
	size_t i;

	if (setrlimit(RLIMIT_NOFILE, &files))
		lab_fail("cannot allow %d open files: %s", LAB_FILES_MAX,
			 strerror(errno));
	if (prctl(PR_SET_TIMERSLACK, 1))
		lab_fail("cannot set the timer slack: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	       1);
	setenv("HOME", "/tmp", 1);
	setenv("LC_ALL", "C", 1);
	setenv("LAB_OUT", LAB_OUT_DIR, 1);
	unsetenv("LAB_PLAN");
	for (i = 0; i < plan->env.count; i++) {
		const struct plan_pair *pair =
			PLAN_ITEM(struct plan_pair, plan->env, i);

		setenv(pair->name, pair->value, 1);
	}
	if (chdir("/"))
		lab_fail("cannot go to /: %s", strerror(errno));
}

/* Builds the network. */
static void network_make(const struct plan *plan)
{
	lab_say(0, 0, "modules");
	modules_load(plan);
	sysctls_write(plan);
	lab_say(0, 0, "nodes");
	nodes_make(plan);
	lab_say(0, 0, "links");
	links_make(plan);
	nodes_sysctl(plan);
	links_up(plan);
	lab_say(0, 0, "routes");
	netconf_make(plan);
	lab_say(0, 0, "ip");
	batches_run(plan, &plan->ip, "ip");
	lab_say(0, 0, "tc");
	batches_run(plan, &plan->tc, "tc");
	lab_say(0, 0, "fabric");
	fabric_load(plan);
	taps_add(plan);
}

static void meta_write(const struct traffic_result *result)
{
	struct buffer text = { 0 };
	struct utsname name;

	uname(&name);
	buffer_printf(&text,
		      "{\"t0_ns\":%lld,\"kernel\":\"%s %s\",\"processors\":%ld,\"packets_forwarded\":%llu,\"taps_lost\":%lld}\n",
		      (long long)result->t0_ns, name.release, name.machine,
		      sysconf(_SC_NPROCESSORS_ONLN),
		      (unsigned long long)result->packets_forwarded,
		      (long long)result->taps_lost);
	raw_write("meta.json", text.data, text.length);
	buffer_free(&text);
}

/* The exit code of the plan's command. */
static void exec_write(int code)
{
	char text[16];

	raw_write("exit", text, snprintf(text, sizeof(text), "%d\n", code));
}

int main(void)
{
	struct traffic_result result = { 0 };
	int fd = plan_open();
	struct plan *plan;

	if (getpid() != 1)
		lab_fail("labinit is the init of the lab's guest, not a command");
	console_setup();
	plan = plan_setup(fd);
	process_setup(plan);
	network_make(plan);
	if (plan->exec.argv.count) {
		taps_start(plan);
		exec_write(exec_run(plan));
		result.packets_forwarded = links_packets(plan);
		result.taps_lost = taps_collect(plan);
	} else {
		traffic_run(plan, &result);
	}
	lab_say(100, plan->end_ns, "collect");
	collect_run(plan);
	collect_netstat(plan);
	if (plan->leak_check)
		leak_check(plan);
	meta_write(&result);
	raw_write("status", "ok\n", 3);
	lab_off();
}
