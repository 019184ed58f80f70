// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane apply: the host, its network namespaces and its ports as fabric.yaml says.
 *
 *	file -> commands -> tried in a namespace of its own -> text of the settings
 *	                                                          | compared
 *	each namespace ------------------------------> its text --+-> made, if different
 *
 * What is equal is not touched, so it can be run as often as one likes.
 */
#include "apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL_SYSCTL	"/proc/sys/net/ipv4/tcp_congestion_control"

static const char usage[] =
"usage: fairlane apply [FILE] [--dry-run]\n"
"       fairlane apply --undo\n"
"Makes this host, its network namespaces and its ports what FILE says, by default\n"
FABRIC_FILE "; with -n NETNS only that namespace, and ports in it. A\n"
"mistake in FILE is told with its line and key, and nothing is changed. What is so\n"
"already is left alone. --dry-run shows what would be changed: - is there, + comes.\n"
"--undo takes back what the first apply since boot, or since the last --undo, found.\n";

/**
 * struct apply - what the functions for namespaces share
 * @settings: how they are to be
 * @control: of new sockets; NULL: left alone
 * @dry_run: change nothing
 * @record: gets a line of JSON for each namespace that is different
 */
struct apply {
	const char *settings;
	const char *control;
	bool dry_run;
	FILE *record;
};

/* The congestion control of new sockets here. */
char *control_now(void)
{
	char *name = sysctl_text(CONTROL_SYSCTL);

	return name ? name : xprintf("%s", "");
}

/* Return: NULL, or why not. */
const char *control_set(const char *name)
{
	int fd = open(CONTROL_SYSCTL, O_WRONLY | O_CLOEXEC);
	ssize_t len = strlen(name);
	int err = 0;

	if (fd < 0 || write(fd, name, len) != len)
		err = errno;
	if (fd >= 0)
		close(fd);
	return !err ? NULL : err == ENOENT ?
	       "there is no such congestion control (modprobe tcp_NAME)" :
	       strerror(err);
}

/* ---- one namespace ------------------------------------------------------------ */

/* Is @line, of @len characters, a line of @text? */
static bool has_line(const char *text, const char *line, size_t len)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n == len && !strncmp(text, line, len))
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

/* Lines of @from that @other lacks, as an array. */
static cJSON *lines_missing(const char *from, const char *other)
{
	cJSON *list = cJSON_CreateArray();

	while (*from) {
		size_t n = strcspn(from, "\n");

		if (!has_line(other, from, n)) {
			char *line = xprintf("%.*s", (int)n, from);

			cJSON_AddItemToArray(list, cJSON_CreateString(line));
			free(line);
		}
		from += n + (from[n] == '\n');
	}
	return list;
}

/* A line for the namespace that is different; "state" is what it is now, for --undo. @code: of
 * the change.
 */
static void record(const struct apply *a, const char *name, const char *now,
		   const char *control, bool other, int code)
{
	cJSON *obj = cJSON_CreateObject(), *state;
	char *text;

	cJSON_AddStringToObject(obj, "netns", name);
	cJSON_AddItemToObject(obj, "remove", lines_missing(now, a->settings));
	cJSON_AddItemToObject(obj, "add", lines_missing(a->settings, now));
	if (other) {
		text = xprintf("control %s", control);
		cJSON_AddItemToArray(cJSON_GetObjectItem(obj, "remove"),
				     cJSON_CreateString(text));
		free(text);
		text = xprintf("control %s", a->control);
		cJSON_AddItemToArray(cJSON_GetObjectItem(obj, "add"),
				     cJSON_CreateString(text));
		free(text);
	}
	if (code)
		cJSON_AddTrueToObject(obj, "failed");
	state = cJSON_AddObjectToObject(obj, "state");
	text = netns_number();
	cJSON_AddStringToObject(state, "number", text);
	free(text);
	cJSON_AddStringToObject(state, "settings", now);
	cJSON_AddStringToObject(state, "control", control);
	text = cJSON_PrintUnformatted(obj);
	fprintf(a->record, "%s\n", text);
	fflush(a->record);
	free(text);
	cJSON_Delete(obj);
}

/* A line for a namespace that is as it is to be: --undo leaves it alone. */
static void record_same(const struct apply *a)
{
	char *number = netns_number();

	fprintf(a->record, "\"%s\"\n", number);
	fflush(a->record);
	free(number);
}

/* Makes this namespace what @a says. Return: an exit code. */
static int make_here(const struct apply *a, const char *name, bool settings,
		     bool other)
{
	const char *refused = NULL;
	int code = EXIT_OK;

	if (settings)
		code = settings_make(a->settings, name);
	if (settings && !code)
		policy_reapply();
	if (other)
		refused = control_set(a->control);
	if (!refused)
		return code;
	fprintf(stderr, "Error: %s: control %s: %s\n", name, a->control, refused);
	return EXIT_KERNEL;
}

static int apply_here(const char *name, void *arg)
{
	struct apply a = *(const struct apply *)arg;
	char *now = settings_now(), *control = control_now(), *wanted = settings_here(a.settings);
	bool settings = strcmp(now, wanted);
	bool other = a.control && strcmp(control, a.control);
	int code = EXIT_OK;

	a.settings = wanted;
	if (!a.dry_run)
		code = make_here(&a, name, settings, other);
	if (settings || other)
		record(&a, name, now, control, other, code);
	else
		record_same(&a);
	free(wanted);
	free(now);
	free(control);
	return code;
}

/* ---- all of them -------------------------------------------------------------- */

/* Namespaces that are different, as an array; numbers of the others are added to @same. @failed:
 * how many could not be made so.
 */
static cJSON *apply_namespaces(struct apply *a, bool all, cJSON *same, unsigned int *failed)
{
	cJSON *list = cJSON_CreateArray(), *item;
	char *line = NULL;
	size_t size = 0;

	a->record = file_for_child();
	*failed = 0;
	if (all && !opt.netns)
		netns_each(apply_here, a, failed);
	else
		*failed = !!apply_here("here", a);
	rewind(a->record);
	while (getline(&line, &size, a->record) > 0) {
		item = cJSON_Parse(line);
		cJSON_AddItemToArray(cJSON_IsString(item) ? same : list, item);
	}
	free(line);
	fclose(a->record);
	return list;
}

/* A port in a namespace with a name; what is different comes back by a pipe, as text. */
static int port_there(const struct fabric_port *p, const char *wanted,
		      bool dry_run, cJSON *list)
{
	int fd = netns_find(p->netns), status = EXIT_KERNEL;
	FILE *tmp;
	char *line = NULL, *text;
	size_t size = 0;
	pid_t pid;

	if (fd < 0 && errno == ENOENT) {
		port_missing(p, list);
		return EXIT_OK;
	}
	if (fd < 0)
		fail_kernel("network namespace \"%s\": %s", p->netns, strerror(errno));
	tmp = file_for_child();
	fflush(NULL);
	pid = fork();
	if (!pid) {
		cJSON *mine = cJSON_CreateArray();

		netns_enter_fd(fd, p->netns);
		status = port_make(p, wanted, dry_run, mine);
		if (cJSON_GetArraySize(mine)) {
			text = cJSON_PrintUnformatted(cJSON_GetArrayItem(mine, 0));
			fprintf(tmp, "%s\n", text);
		}
		fflush(NULL);
		_exit(status);
	}
	close(fd);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail_kernel("fork: %s", strerror(errno));
	rewind(tmp);
	if (getline(&line, &size, tmp) > 0)
		cJSON_AddItemToArray(list, cJSON_Parse(line));
	free(line);
	fclose(tmp);
	return status ? EXIT_KERNEL : EXIT_OK;
}

static cJSON *apply_ports(const struct fabric_file *f,
			  const struct rehearsed *r, bool dry_run,
			  unsigned int *failed)
{
	cJSON *list = cJSON_CreateArray();
	size_t i;

	for (i = 0; i < f->ports; i++) {
		const struct fabric_port *p = &f->port[i];

		*failed += !!(p->netns ?
			      port_there(p, r->port[i], dry_run, list) :
			      port_make(p, r->port[i], dry_run, list));
	}
	return list;
}

/* ---- output --------------------------------------------------------------------- */

static void print_lines(const cJSON *list, char sign)
{
	const cJSON *line;

	cJSON_ArrayForEach(line, list)
		printf("  %c %s\n", sign, cJSON_GetStringValue(line));
}

const char *text_at(const cJSON *obj, const char *key)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(obj, key));

	return s ? s : "";
}

/* What a line about @item ends with. */
static const char *outcome(const cJSON *item, bool dry_run)
{
	if (cJSON_GetObjectItem(item, "missing"))
		return ": it is not there yet; apply again when it comes";
	if (dry_run)
		return "";
	return cJSON_GetObjectItem(item, "failed") ? ": failed" : ": changed";
}

static void print_port(const cJSON *port, bool dry_run)
{
	printf("port %s%s%s%s\n", text_at(port, "dev"),
	       cJSON_GetObjectItem(port, "netns") ? " in " : "",
	       text_at(port, "netns"), outcome(port, dry_run));
	if (!dry_run || cJSON_GetObjectItem(port, "missing"))
		return;
	if (text_at(port, "from")[0])
		printf("  - fabric %s\n", text_at(port, "from"));
	printf("  + fabric %s\n", text_at(port, "to"));
}

static void print_changes(cJSON *doc, const char *path, bool dry_run)
{
	const cJSON *item;

	if (opt.json) {
		json_print(doc);
		return;
	}
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(doc, "namespaces")) {
		printf("namespace %s%s\n", text_at(item, "netns"),
		       outcome(item, dry_run));
		if (!dry_run)
			continue;
		print_lines(cJSON_GetObjectItem(item, "remove"), '-');
		print_lines(cJSON_GetObjectItem(item, "add"), '+');
	}
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(doc, "ports"))
		print_port(item, dry_run);
	if (!cJSON_GetArraySize(cJSON_GetObjectItem(doc, "namespaces")) &&
	    !cJSON_GetArraySize(cJSON_GetObjectItem(doc, "ports")))
		printf("everything is as %s says\n", path);
	cJSON_Delete(doc);
}

/* ---- the command -------------------------------------------------------------------- */

/* Without what only --undo is to know. */
static void without_state(cJSON *doc)
{
	cJSON *item;

	cJSON_DeleteItemFromObject(doc, "same");
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(doc, "namespaces"))
		cJSON_DeleteItemFromObject(item, "state");
}

/* Namespaces and ports compared with what they are to be, and made so unless dry_run. */
static cJSON *apply_all(struct apply *a, const struct fabric_file *f,
			const struct rehearsed *r, unsigned int *failed)
{
	cJSON *doc = cJSON_CreateObject();
	cJSON *same = cJSON_AddArrayToObject(doc, "same");
	unsigned int ports = 0;

	cJSON_AddItemToObject(doc, "namespaces",
			      apply_namespaces(a, f->all, same, failed));
	cJSON_AddItemToObject(doc, "ports",
			      apply_ports(f, r, a->dry_run, &ports));
	*failed += ports;
	return doc;
}

/* All that a file says. What is different is kept for --undo before it is changed. */
static cJSON *apply_file(const char *path, bool dry_run, unsigned int *failed)
{
	struct apply a = { .dry_run = true };
	struct fabric_file f;
	struct rehearsed r;
	bool json = opt.json;
	cJSON *doc;

	fabric_file_read(&f, path);
	rehearse(&f, &r);
	/* the commands say nothing themselves */
	opt.json = false;
	a.settings = r.settings;
	a.control = f.control;
	doc = apply_all(&a, &f, &r, failed);
	/* what could not be looked at keeps nobody else from what the file says */
	if (!dry_run) {
		before_keep(doc, f.all && !opt.netns);
		cJSON_Delete(doc);
		a.dry_run = false;
		doc = apply_all(&a, &f, &r, failed);
	}
	without_state(doc);
	if (dry_run) {
		cJSON_AddItemToObject(doc, "narrow", r.narrow);
		r.narrow = NULL;
	}
	cJSON_AddStringToObject(doc, "file", path);
	cJSON_AddBoolToObject(doc, "dry_run", dry_run);
	opt.json = json;
	rehearsed_free(&f, &r);
	fabric_file_free(&f);
	return doc;
}

/**
 * apply_compare() - how a file and the system differ
 * @path: the file
 *
 * Return: the document of "apply --dry-run". A mistake in the file ends the program.
 */
cJSON *apply_compare(const char *path)
{
	unsigned int failed;

	return apply_file(path, true, &failed);
}

int cmd_apply(struct words *w)
{
	const char *path = NULL;
	bool dry_run = false, undo = false;
	unsigned int failed;
	cJSON *doc;

	if (words_help(w, usage))
		return EXIT_OK;
	while (words_left(w)) {
		if (word_is(w, "--dry-run") || word_is(w, "dry-run"))
			dry_run = true;
		else if (word_is(w, "--undo") || word_is(w, "undo"))
			undo = true;
		else if (!path && (word_peek(w)[0] != '-' ||
				   !word_peek(w)[1]))
			path = word_next(w);
		else
			words_end(w);
	}
	if (undo && (path || dry_run))
		fail("apply --undo: nothing else goes with it");
	if (undo)
		return before_restore();
	doc = apply_file(path ? path : FABRIC_FILE, dry_run, &failed);
	print_changes(doc, path ? path : FABRIC_FILE, dry_run);
	if (failed)
		fail_kernel("apply: %u namespaces or ports are not as the file says",
			    failed);
	return EXIT_OK;
}
