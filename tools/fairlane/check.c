// SPDX-License-Identifier: GPL-2.0
/* fairlane check: what is missing or in the way here, one sentence and a cure each.
 * This file: kernel, modules, tc; checknet.c: devices and TCP.
 */
#include "tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECURE_BOOT	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static const char usage[] =
"usage: fairlane check [FILE]\n"
"Looks at modules, congestion controls, tc, devices, offloads, sysctls, Secure Boot; at\n"
"flows that starve, whose channel is too narrow, that fit no class, whose path is too\n"
"long for buffers, windows, timeouts or the device's queue; and whether host,\n"
"namespaces and ports are as FILE says (/etc/fairlane/fabric.yaml, if it is there).\n"
"Exit code 3 if there is a problem; a note is worth knowing but none.\n";

static const char *const verdicts[] = {
	[VERDICT_OK] = "ok", [VERDICT_NOTE] = "note",
	[VERDICT_PROBLEM] = "problem",
};

static cJSON *results;
static int problems;

/**
 * check_add() - one result
 * @verdict: how it came out
 * @id: stable name of the check
 * @cure: what to do, or NULL
 * @fmt: what was found
 */
void check_add(enum verdict verdict, const char *id, const char *cure,
	       const char *fmt, ...)
{
	cJSON *obj = cJSON_CreateObject();
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	problems += verdict == VERDICT_PROBLEM;
	cJSON_AddStringToObject(obj, "check", id);
	cJSON_AddStringToObject(obj, "verdict", verdicts[verdict]);
	cJSON_AddStringToObject(obj, "text", text);
	if (cure)
		cJSON_AddStringToObject(obj, "cure", cure);
	cJSON_AddItemToArray(results, obj);
	if (opt.json)
		return;
	printf("%-8s %-14s %s\n", verdict == VERDICT_PROBLEM ? "PROBLEM" :
	       verdicts[verdict], id, text);
	if (cure)
		printf("%-8s %-14s -> %s\n", "", "", cure);
}

/* First line of a file, or NULL. */
char *sysctl_text(const char *path)
{
	char *text = read_text(path);

	if (text)
		text[strcspn(text, "\n")] = 0;
	return text;
}

long sysctl_number(const char *path, long otherwise)
{
	char *text = sysctl_text(path);
	long v = text && text[0] ? strtol(text, NULL, 10) : otherwise;

	free(text);
	return v;
}

/* Runs a program; @buf: its stdout and stderr. Return: its exit status; 127: it could
 * not be run.
 */
int tool_run(char *buf, size_t size, const char *const argv[])
{
	int pipes[2], status = 0;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	buf[0] = 0;
	if (pipe2(pipes, O_CLOEXEC))
		return 127;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		dup2(pipes[1], STDERR_FILENO);
		execvp(argv[0], (char **)argv);
		_exit(127);
	}
	close(pipes[1]);
	while (len + 1 < size &&
	       (got = read(pipes[0], buf + len, size - 1 - len)) > 0)
		len += got;
	buf[len] = 0;
	close(pipes[0]);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
	       WEXITSTATUS(status) : 127;
}

/* Output of a program (stdout and stderr); false: it could not be run. */
static bool tool_output(char *buf, size_t size, const char *const argv[])
{
	return tool_run(buf, size, argv) != 127;
}

/* ---- modules --------------------------------------------------------------- */

/* Is there a module of that name for the running kernel? */
static bool module_installed(const char *release, const char *name)
{
	char *path = xprintf("/lib/modules/%s/modules.dep", release);
	char *text = read_text(path), *file = xprintf("/%s.ko", name);
	bool found = text && strstr(text, file);

	free(path);
	free(text);
	free(file);
	return found;
}

static bool module_loaded(const char *name)
{
	char *path = xprintf("/sys/module/%s", name);
	bool found = !access(path, F_OK);

	free(path);
	return found;
}

/* Does the kernel take only signed modules? */
static bool signatures_needed(void)
{
	unsigned char var[5] = { 0 };
	char *lockdown = sysctl_text("/sys/kernel/security/lockdown");
	bool needed = lockdown && !strstr(lockdown, "[none]");
	FILE *f = fopen(SECURE_BOOT, "re");

	if (f && fread(var, 1, sizeof(var), f) == sizeof(var) && var[4])
		needed = true;
	if (f)
		fclose(f);
	if (sysctl_number("/sys/module/module/parameters/sig_enforce", 0) ||
	    sysctl_number("/proc/sys/kernel/modules_disabled", 0))
		needed = true;
	free(lockdown);
	return needed;
}

static void check_core(const struct utsname *u)
{
	char *version = sysctl_text("/sys/module/fairlane/version");
	struct fairlane *f;

	if (!module_loaded("fairlane")) {
		check_add(VERDICT_PROBLEM, "fairlane",
			  module_installed(u->release, "fairlane") ?
			  "modprobe fairlane" :
			  "make modules KDIR=/lib/modules/$(uname -r)/build && sudo make install",
			  "the module fairlane is not loaded%s",
			  module_installed(u->release, "fairlane") ? "" :
			  ", and there is none for this kernel");
		free(version);
		return;
	}
	if (fairlane_open(&f)) {
		check_add(VERDICT_PROBLEM, "fairlane",
			  "rmmod the modules and load those that belong to this tool",
			  "the module fairlane %s is loaded but has no netlink family: it is older than this tool",
			  version ? version : "");
		free(version);
		return;
	}
	fairlane_close(f);
	if (version && strcmp(version, FAIRLANE_VERSION))
		check_add(VERDICT_NOTE, "fairlane",
			  "install module and tool of one version",
			  "the module is %s, this tool is %s", version,
			  FAIRLANE_VERSION);
	else
		check_add(VERDICT_OK, "fairlane", NULL,
			  "the module is loaded, version %s",
			  version ? version : "unknown");
	free(version);
}

/* Is congestion control @name one of ours? The module of each of them uses
 * fairlane.ko; what follows a dash is a variant that the same module has.
 */
static bool control_is_ours(const char *name)
{
	char *path = xprintf("/sys/module/fairlane/holders/tcp_%.*s",
			     (int)strcspn(name, "-"), name);
	bool ours = !access(path, F_OK);

	free(path);
	return ours;
}

/* Our congestion controls: loaded, loadable, which one is the default. */
static void check_controls(const struct utsname *u)
{
	char *available = sysctl_text("/proc/sys/net/ipv4/tcp_available_congestion_control");
	char *standard = sysctl_text("/proc/sys/net/ipv4/tcp_congestion_control");
	char loaded[256] = "", *word, *rest = available;
	bool is_standard = false;
	size_t len = 0;

	while ((word = strsep(&rest, " "))) {
		if (!*word || !control_is_ours(word))
			continue;
		if (len < sizeof(loaded))
			len += snprintf(loaded + len, sizeof(loaded) - len,
					"%s%s", len ? " " : "", word);
		is_standard |= standard && !strcmp(word, standard);
	}
	if (len)
		check_add(VERDICT_OK, "controls", NULL,
			  "loaded: %s; new sockets get %s", loaded,
			  standard ? standard : "?");
	else
		check_add(VERDICT_PROBLEM, "controls",
			  module_installed(u->release, "tcp_prioplus") ?
			  "modprobe tcp_prioplus" :
			  "make modules KDIR=/lib/modules/$(uname -r)/build && sudo make install",
			  "none of our congestion controls is loaded: priorities have no effect");
	if (len && standard && !is_standard)
		check_add(VERDICT_NOTE, "default-cc",
			  "sysctl net.ipv4.tcp_congestion_control=prioplus, or fairlane run --cc prioplus, or setsockopt(TCP_CONGESTION)",
			  "new sockets get %s, which knows no priorities",
			  standard);
	free(available);
	free(standard);
}

/* Whatever the sockets are told, these decide first (off.c). */
static void check_off(void)
{
	char *off = sysctl_text("/proc/sys/net/fairlane/off");
	char *share = sysctl_text("/proc/sys/net/fairlane/share_permille");

	if (off && strcmp(off, "0"))
		check_add(VERDICT_PROBLEM, "off", "fairlane on",
			  "Fairlane is off: connections have the system's congestion control");
	else if (share && strcmp(share, "1000"))
		check_add(VERDICT_NOTE, "off", "fairlane on",
			  "of the connections %s of 1000 have our congestion controls, others the system's",
			  share);
	free(off);
	free(share);
}

static void check_modules(void)
{
	struct utsname u;

	uname(&u);
	check_add(VERDICT_OK, "kernel", NULL, "%s %s", u.release, u.machine);
	if (signatures_needed() && !module_loaded("fairlane"))
		check_add(VERDICT_PROBLEM, "secure-boot",
			  "sign the modules with a key enrolled by mokutil (DKMS does both), or turn Secure Boot off",
			  "this kernel takes signed modules only: modprobe will say \"Key was rejected by service\"");
	check_core(&u);
	check_controls(&u);
	check_off();
}

/* ---- tc ---------------------------------------------------------------------- */

/* A program in PATH or where administrators' programs are, or NULL. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *dirs = xprintf("%s:/usr/sbin:/sbin", path ? path : ""), *save;
	char *dir, *found = NULL;

	for (dir = strtok_r(dirs, ":", &save); dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		char *file = xprintf("%s/%s", dir, name);

		if (!access(file, X_OK))
			found = file;
		else
			free(file);
	}
	free(dirs);
	return found;
}

/* Where this tc looks for plugins: it is compiled in. NULL: nowhere. */
static char *plugin_folder(const char *tc)
{
	const char *env = getenv("TC_LIB_DIR");
	FILE *f = env ? NULL : fopen(tc, "re");
	char text[256], *folder = NULL;
	size_t len = 0;
	int c;

	if (env)
		return xprintf("%s", env);
	if (!f)
		return NULL;
	while (!folder && (c = getc(f)) != EOF) {
		if (c >= ' ' && c < 127 && len + 1 < sizeof(text)) {
			text[len++] = c;
			continue;
		}
		text[len] = 0;
		if (text[0] == '/' && len > 4 && !strcmp(text + len - 4, "/tc/"))
			folder = xprintf("%.*s", (int)len - 1, text);
		len = 0;
	}
	fclose(f);
	return folder;
}

static void check_tc(void)
{
	char version[256] = "", *tc = find_program("tc"), *folder, *plugin;
	const char *const argv[] = { tc, "-V", NULL };

	if (!tc) {
		check_add(VERDICT_NOTE, "tc", "apt install iproute2",
			  "there is no tc here; only sch_fabric needs it");
		return;
	}
	tool_output(version, sizeof(version), argv);
	version[strcspn(version, "\n")] = 0;
	folder = plugin_folder(tc);
	if (!folder) {
		check_add(VERDICT_NOTE, "tc",
			  "build iproute2 with the patches in iproute2-patches/",
			  "%s: %s cannot load plugins, so it cannot set up sch_fabric",
			  tc, version);
		free(tc);
		return;
	}
	plugin = xprintf("%s/q_fabric.so", folder);
	if (access(plugin, R_OK))
		check_add(VERDICT_NOTE, "tc",
			  "sudo make install, or TC_LIB_DIR=DIR in tc's environment (sudo drops it)",
			  "%s: the plugin for sch_fabric is not in %s (\"Unknown qdisc\"); only a switch port needs it",
			  version, folder);
	else
		check_add(VERDICT_OK, "tc", NULL, "%s, plugin %s", version,
			  plugin);
	free(plugin);
	free(folder);
	free(tc);
}

/* ---- all ----------------------------------------------------------------------- */

/* CONFIG_HZ, from the kernel's configuration if it can be read; 0: unknown. */
static long config_hz(void)
{
	char *path, *text, *line;
	struct utsname u;
	long hz = 0;

	uname(&u);
	path = xprintf("/boot/config-%s", u.release);
	text = read_text(path);
	line = text ? strstr(text, "\nCONFIG_HZ=") : NULL;
	if (line)
		hz = atol(line + 11);
	free(path);
	free(text);
	return hz;
}

static void check_clock(void)
{
	char *source = sysctl_text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
	struct timespec res = { 0 };
	long hz = config_hz();

	clock_getres(CLOCK_MONOTONIC, &res);
	if (res.tv_nsec > 1000) {
		/* a kernel that has just booted changes over with a tick */
		usleep(20000);
		clock_getres(CLOCK_MONOTONIC, &res);
	}
	if (res.tv_sec || res.tv_nsec > 1000)
		check_add(VERDICT_PROBLEM, "timers",
			  "boot without highres=off, with CONFIG_HIGH_RES_TIMERS",
			  "timers tick every %s: probes and pacing need high resolution",
			  show_time(res.tv_sec * NSEC_PER_SEC + res.tv_nsec));
	else if (source && (!strcmp(source, "hpet") ||
			    !strcmp(source, "acpi_pm") ||
			    !strcmp(source, "jiffies")))
		check_add(VERDICT_NOTE, "timers", "boot with clocksource=tsc if the machine allows it",
			  "reading the clock (%s) takes about a microsecond: delay is measured worse",
			  source);
	else
		check_add(VERDICT_OK, "timers", NULL,
			  "high resolution, clock %s%s",
			  source ? source : "unknown", !hz ? "" :
			  hz >= 1000 ? ", HZ 1000" : ", HZ below 1000");
	if (hz && hz < 1000)
		check_add(VERDICT_NOTE, "hz", NULL,
			  "HZ is %ld: lost last packets are found late (timeouts in steps of %ld ms); PrioPlus' own watchdog does not depend on it",
			  hz, 1000 / hz);
	free(source);
}

/* All checks; the array of results belongs to the caller. @path: of fabric.yaml, NULL:
 * the usual one. Returns problems.
 */
int check_all(cJSON **doc, const char *path)
{
	results = cJSON_CreateArray();
	problems = 0;
	check_modules();
	check_clock();
	check_tcp();
	check_devices();
	check_tc();
	check_flows();
	check_fabric(path);
	*doc = results;
	return problems;
}

int cmd_check(struct words *w)
{
	const char *path = NULL;
	cJSON *doc;
	int found;

	if (words_help(w, usage))
		return EXIT_OK;
	if (words_left(w))
		path = word_file(w);
	words_end(w);
	found = check_all(&doc, path);
	if (opt.json) {
		json_print(doc);
	} else {
		cJSON_Delete(doc);
		if (found)
			printf("%d problem%s.\n", found, found > 1 ? "s" : "");
		else
			printf("Nothing is in the way.\n");
	}
	return found ? EXIT_PROBLEM : EXIT_OK;
}
