// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane apply --undo: what was there before. The first apply that changes something
 * notes it for each namespace and port that it changes, the next ones add what they change
 * for the first time; --undo puts it back and forgets it. A namespace that was as the file says
 * already, when the first one looked, is left alone. One that came since, and so inherited, gets
 * what the namespace had that apply was called in.
 */
#include "apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER	"/run/fairlane"

/* Where it is noted: one file for each namespace that apply was called in. */
static char *note_path(void)
{
	char *number = netns_number(), *path;

	path = xprintf(FOLDER "/before-%s", number);
	free(number);
	return path;
}

/* NULL: there is none. One that cannot be read ends the program. */
static cJSON *note_read(const char *path)
{
	char *text = read_text(path);
	cJSON *doc = text ? cJSON_Parse(text) : NULL;

	if (!text && errno != ENOENT)
		fail_kernel("%s: %s", path, strerror(errno));
	free(text);
	return doc;
}

static void note_write(const char *path, const cJSON *doc)
{
	char *text = cJSON_PrintUnformatted(doc);

	mkdir(FOLDER, 0755);
	write_text(path, text, 0);
	free(text);
}

/* An empty note: the namespace that apply is called in, for those that will inherit, and numbers of
 * those that are the @same.
 */
static cJSON *note_new(bool all, const cJSON *same)
{
	cJSON *doc = cJSON_CreateObject();
	char *now = settings_now(), *control = control_now();

	cJSON_AddBoolToObject(doc, "all", all);
	cJSON_AddStringToObject(doc, "settings", now);
	cJSON_AddStringToObject(doc, "control", control);
	cJSON_AddItemToObject(doc, "same", cJSON_Duplicate(same, true));
	cJSON_AddObjectToObject(doc, "namespaces");
	cJSON_AddArrayToObject(doc, "ports");
	free(now);
	free(control);
	return doc;
}

static bool same_port(const cJSON *a, const cJSON *b)
{
	return !strcmp(text_at(a, "dev"), text_at(b, "dev")) &&
	       !strcmp(text_at(a, "netns"), text_at(b, "netns"));
}

static bool has_port(const cJSON *list, const cJSON *port)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
		if (same_port(item, port))
			return true;
	return false;
}

/**
 * before_keep() - note what is going to be changed
 * @doc: namespaces and ports that are different, and numbers of namespaces that are the same
 * @all: apply is about all namespaces
 */
void before_keep(const cJSON *doc, bool all)
{
	const cJSON *list = cJSON_GetObjectItem(doc, "namespaces"), *item;
	const cJSON *ports = cJSON_GetObjectItem(doc, "ports");
	char *path = note_path();
	cJSON *kept = note_read(path), *to;

	if (!cJSON_GetArraySize(list) && !cJSON_GetArraySize(ports))
		goto out;
	if (!kept)
		kept = note_new(all, cJSON_GetObjectItem(doc, "same"));
	to = cJSON_GetObjectItem(kept, "namespaces");
	cJSON_ArrayForEach(item, list) {
		const cJSON *state = cJSON_GetObjectItem(item, "state");
		const char *number = text_at(state, "number");

		if (!cJSON_GetObjectItem(to, number))
			cJSON_AddItemToObject(to, number,
					      cJSON_Duplicate(state, true));
	}
	to = cJSON_GetObjectItem(kept, "ports");
	cJSON_ArrayForEach(item, ports)
		if (!cJSON_GetObjectItem(item, "missing") && !has_port(to, item))
			cJSON_AddItemToArray(to, cJSON_Duplicate(item, true));
	note_write(path, kept);
out:
	cJSON_Delete(kept);
	free(path);
}

/* Was the namespace of that number there and nothing to change in it? */
static bool was_same(const cJSON *doc, const char *number)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItem(doc, "same"))
		if (!strcmp(item->valuestring, number))
			return true;
	return false;
}

/* One namespace as it was. */
static int restore_here(const char *name, void *arg)
{
	const cJSON *doc = arg, *was;
	char *number = netns_number(), *now = settings_now();
	char *control = control_now(), *wanted = NULL;
	const char *refused;
	int code = EXIT_OK;

	was = cJSON_GetObjectItem(cJSON_GetObjectItem(doc, "namespaces"), number);
	if (!was && was_same(doc, number))
		goto out;
	if (!was)
		was = doc;
	wanted = settings_here(text_at(was, "settings"));
	if (strcmp(now, wanted))
		code = settings_make(wanted, name);
	if (strcmp(control, text_at(was, "control"))) {
		refused = control_set(text_at(was, "control"));
		if (refused)
			note("%s: control %s: %s", name, text_at(was, "control"),
			     refused);
	}
out:
	free(wanted);
	free(number);
	free(now);
	free(control);
	return code;
}

/* A port as it was: a fabric of other options, or no fabric at all. */
static int restore_port(const cJSON *port)
{
	const char *dev = text_at(port, "dev"), *from = text_at(port, "from");
	static const char *const version[] = { "tc", "-V", NULL };
	char said[1024], *now;
	int fd;

	/* without tc no port shows a queue of ours */
	if (tool_run(said, sizeof(said), version))
		return EXIT_KERNEL;
	if (text_at(port, "netns")[0]) {
		fd = netns_find(text_at(port, "netns"));
		/* gone, and its port with it */
		if (fd < 0)
			return errno == ENOENT ? EXIT_OK : EXIT_KERNEL;
		netns_enter_fd(fd, text_at(port, "netns"));
	}
	now = port_text(dev);
	/* somebody has given it another one */
	if (!now)
		return EXIT_OK;
	free(now);
	if (port_del(dev))
		return EXIT_KERNEL;
	return from[0] ? port_set(dev, from, said, sizeof(said)) : EXIT_OK;
}

/* Return: how many could not be put back. */
static unsigned int restore_ports(const cJSON *list)
{
	unsigned int failed = 0;
	const cJSON *port;
	int status;
	pid_t pid;

	cJSON_ArrayForEach(port, list) {
		fflush(NULL);
		pid = fork();
		if (!pid)
			_exit(restore_port(port));
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
			note("port %s keeps its queue", text_at(port, "dev"));
			failed++;
		}
	}
	return failed;
}

/* Puts all back that was noted. Return: an exit code. */
int before_restore(void)
{
	char *path = note_path();
	cJSON *doc = note_read(path);
	bool json = opt.json;
	unsigned int failed = 0;

	opt.json = false;
	if (doc && cJSON_IsTrue(cJSON_GetObjectItem(doc, "all")))
		netns_each(restore_here, doc, &failed);
	else if (doc)
		failed = !!restore_here("here", doc);
	if (doc)
		failed += restore_ports(cJSON_GetObjectItem(doc, "ports"));
	if (failed)
		fail_kernel("apply --undo: %u namespaces or ports are not as they were; it can be tried again",
			    failed);
	if (doc)
		unlink(path);
	if (json)
		json_print(cJSON_CreateObject());
	else
		printf(doc ? "what apply has changed is as it was\n" :
		       "nothing was applied\n");
	cJSON_Delete(doc);
	free(path);
	return EXIT_OK;
}
