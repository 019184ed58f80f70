// SPDX-License-Identifier: GPL-2.0
/*
 * Commands inside nodes. Their output goes to memory files, so that a command
 * never waits for us.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "labinit.h"

extern char **environ;

static int memory_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		lab_fail("cannot make a memory file: %s", strerror(errno));
	return fd;
}

/* The words of a command as one text, for messages. */
void proc_text(const char *const *argv, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (; *argv && used < size; argv++)
		used += snprintf(text + used, size - used, "%s%s",
				 used ? " " : "", *argv);
}

/* Starts a command in a node with the three given files. */
static pid_t proc_spawn(int64_t node, const char *const *argv, int in, int out,
			int err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	char text[256];
	pid_t pid;
	int error;

	node_enter(node);
	sigemptyset(&none);
	error = posix_spawn_file_actions_init(&actions);
	if (!error)
		error = posix_spawnattr_init(&attr);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, in, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, out, 1);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, err, 2);
	if (!error)
		error = posix_spawnattr_setsigmask(&attr, &none);
	if (!error)
		error = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	if (!error)
		error = posix_spawnp(&pid, argv[0], &actions, &attr,
				     (char *const *)argv, environ);
	proc_text(argv, text, sizeof(text));
	if (error)
		lab_fail("%s: cannot run `%s`: %s", node_name(node), text,
			 strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	node_enter(PLAN_NO_NODE);
	return pid;
}

/* Starts a command; pidfd becomes readable when it ends. */
void proc_start(struct proc *proc, int64_t node, const char *const *argv,
		const char *input, size_t input_length)
{
	int in = memory_file("stdin");

	if (input_length &&
	    (write(in, input, input_length) != (ssize_t)input_length ||
	     lseek(in, 0, SEEK_SET)))
		lab_fail("cannot hand %zu bytes to %s: %s", input_length,
			 argv[0], strerror(errno));
	proc->out_fd = memory_file("stdout");
	proc->err_fd = memory_file("stderr");
	proc->pid = proc_spawn(node, argv, in, proc->out_fd, proc->err_fd);
	close(in);
	proc->pidfd = syscall(SYS_pidfd_open, proc->pid, 0);
	if (proc->pidfd < 0)
		lab_fail("no pidfd for %s: %s", argv[0], strerror(errno));
}

/*
 * Waits for the end of a command, reads what it said. Returns its exit code,
 * 128 + number for a signal.
 */
int proc_finish(struct proc *proc, struct buffer *out, struct buffer *err)
{
	int status;

	while (waitpid(proc->pid, &status, 0) < 0)
		if (errno != EINTR)
			lab_fail("waitpid: %s", strerror(errno));
	lseek(proc->out_fd, 0, SEEK_SET);
	lseek(proc->err_fd, 0, SEEK_SET);
	buffer_read_fd(out, proc->out_fd, "output of a command");
	buffer_read_fd(err, proc->err_fd, "errors of a command");
	close(proc->out_fd);
	close(proc->err_fd);
	close(proc->pidfd);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

/* Did a tool only warn? Its warnings go to the console. */
static bool only_warnings(const struct buffer *err)
{
	const char *line = err->data;

	for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, "Warning", 7))
			return false;
	fprintf(stderr, "%s", err->data);
	return true;
}

/* Runs one batch in its node; any complaint of the tool fails the run. */
static void batch_run(const struct plan_batch *batch, const char *tool)
{
	const char *const argv[] = { tool, "-batch", "-", NULL };
	struct buffer in = { 0 }, out = { 0 }, err = { 0 };
	const char *place, *line = "";
	unsigned long number;
	struct proc proc;
	size_t i;
	int code;

	if (!batch->lines.count)
		return;
	for (i = 0; i < batch->lines.count; i++)
		buffer_printf(&in, "%s\n",
			      *PLAN_ITEM(const char *, batch->lines, i));
	proc_start(&proc, batch->node, argv, in.data, in.length);
	code = proc_finish(&proc, &out, &err);
	if (code || !only_warnings(&err)) {
		place = strstr(err.data, "Command failed -:");
		number = place ? strtoul(place + 17, NULL, 10) : 0;
		if (number && number <= batch->lines.count)
			line = *PLAN_ITEM(const char *, batch->lines,
					  number - 1);
		lab_fail("%s: `%s %s`: %s (exit code %d)",
			 node_name(batch->node), tool,
			 *line ? line : "-batch", buffer_one_line(&err), code);
	}
	buffer_free(&in);
	buffer_free(&out);
	buffer_free(&err);
}

/* Runs all batches of one tool. */
void batches_run(const struct plan *plan, const struct json_list *batches,
		 const char *tool)
{
	size_t i;

	(void)plan;
	for (i = 0; i < batches->count; i++)
		batch_run(PLAN_ITEM(struct plan_batch, *batches, i), tool);
}

/* Tells sch_fabric's switches the routes of all, those that need them. */
void fabric_load(const struct plan *plan)
{
	static const char *const argv[] = { "fairlane", "fabric", "load", "-", NULL };
	size_t i;

	for (i = 0; i < plan->fabric.count; i++) {
		int64_t node = PLAN_ITEM(struct plan_fabric, plan->fabric, i)->node;
		struct buffer out = { 0 }, err = { 0 };
		struct proc proc;

		proc_start(&proc, node, argv, plan->fabric_routes, strlen(plan->fabric_routes));
		if (proc_finish(&proc, &out, &err))
			lab_fail("%s: %s", node_name(node), buffer_one_line(&err));
		buffer_free(&out);
		buffer_free(&err);
	}
}

/*
 * A terminal for the command's output that is not the kernel's console: bytes
 * come out as they went in.
 */
static int exec_terminal(void)
{
	struct termios modes;
	int fd = open("/dev/tty1", O_WRONLY | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return dup(STDOUT_FILENO);
	if (!tcgetattr(fd, &modes)) {
		cfmakeraw(&modes);
		tcsetattr(fd, TCSANOW, &modes);
	}
	return fd;
}

/*
 * Runs the plan's command with its output on the terminal. Returns its exit
 * code. Orphans that come to us as PID 1 are reaped meanwhile.
 */
int exec_run(const struct plan *plan)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = exec_terminal();
	pid_t pid, ended;
	int status;

	if (in < 0 || out < 0)
		lab_fail("no files for the command: %s", strerror(errno));
	pid = proc_spawn(plan->exec.node, plan->exec.argv.items, in, out, out);
	do {
		ended = waitpid(-1, &status, 0);
		if (ended < 0 && errno != EINTR)
			lab_fail("waitpid: %s", strerror(errno));
	} while (ended != pid);
	tcdrain(out);
	close(in);
	close(out);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}
