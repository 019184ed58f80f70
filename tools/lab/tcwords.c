// SPDX-License-Identifier: GPL-2.0
/* Checks of qdisc: and tc: by tc itself, with the plugin for sch_fabric. It looks for the
 * device when all its words are right, so here every command is for one that cannot be:
 * whatever else tc complains of is a wrong word.
 */
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* No device is called like that: the kernel allows no slash. */
#define NO_DEVICE	"no/device"
/* What tc says when its words are right. */
#define WORDS_RIGHT	"Cannot find device"
/* After what it said of a command comes "Command failed FILE:LINE". */
#define FAILED		"Command failed "

/* Is @text one command about a port's device, and no other? What is not is not asked
 * about, since here it might be obeyed.
 */
static bool is_harmless(const char *text)
{
	static const char *const objects[] = { "qdisc ", "class ", "filter " };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(objects); i++)
		if (!strncmp(text, objects[i], strlen(objects[i])))
			return strstr(text, " dev $dev ") && !strchr(text, '\n');
	return false;
}

/* Is the qdisc that a command of @y makes one of the lab's kernel? tc takes any name: what it
 * does not know it leaves to the kernel.
 */
static void kind_check(const struct ynode *y, const char *command)
{
	/* words before the kind that another one follows */
	static const char *const pairs[] = { "dev", "handle", "parent" };
	struct strv word = { 0 };
	size_t k;
	int i;

	strv_split(&word, command, ' ');
	if (word.n < 2 || strcmp(word.s[0], "qdisc") ||
	    (strcmp(word.s[1], "add") && strcmp(word.s[1], "replace")))
		return;
	for (i = 2; i < word.n; i++) {
		if (!strcmp(word.s[i], "root"))
			continue;
		for (k = 0; k < ARRAY_SIZE(pairs); k++)
			if (!strcmp(word.s[i], pairs[k]))
				break;
		if (k < ARRAY_SIZE(pairs)) {
			i++;
			continue;
		}
		y_one_of(y, word.s[i], name_qdiscs);
		return;
	}
}

/* Take @command, which stands at @y; @kinds: its qdisc must be one of the lab's kernel. */
static void command_add(struct tc_words *w, const struct ynode *y,
			const char *command, bool kinds)
{
	char *text;

	if (!is_harmless(command))
		return;
	if (kinds)
		kind_check(y, command);
	text = tc_text(command, NO_DEVICE, 0, "1");
	buf_addf(&w->batch, "%s\n", text);
	free(text);
	w->at = grow(w->at, w->n, sizeof(*w->at));
	w->at[w->n++] = y;
}

/* Take what qdisc: and tc: of one mapping say; @kinds as in command_add(). */
void tc_words_read(struct tc_words *w, const struct ynode *map, bool kinds)
{
	const struct ynode *qdisc = y_find(map, "qdisc");
	const struct ynode *tc = y_find(map, "tc");
	int i;

	if (qdisc && !y_is_null(qdisc) && qdisc->text[0]) {
		char *text = xasprintf("qdisc replace dev $dev root handle 1: %s",
				       qdisc->text);

		command_add(w, qdisc, text, kinds);
		free(text);
	}
	if (tc && tc->kind == Y_SCALAR)
		command_add(w, tc, tc->text, kinds);
	for (i = 0; tc && i < tc->n; i++)
		command_add(w, tc->child[i], tc->child[i]->text, kinds);
}

/* Report what tc said in @text of commands whose words are wrong. */
static void complaints(const struct tc_words *w, char *text)
{
	const char *first = NULL;
	bool right = false;
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		int number;

		if (sscanf(line, FAILED "%*[^:]:%d", &number) == 1) {
			if (!right && number >= 1 && number <= w->n)
				y_error(w->at[number - 1], "tc: %s",
					first ? first : "these are not its words");
			first = NULL;
			right = false;
			continue;
		}
		right |= !strncmp(line, WORDS_RIGHT, strlen(WORDS_RIGHT));
		if (!first && line[0])
			first = line;
	}
}

/* Let tc read the commands, and report those that it does not understand. */
void tc_words_check(struct tc_words *w)
{
	static const char script[] =
		"PATH=$1 TC_LIB_DIR=$2; export PATH TC_LIB_DIR; "
		"exec tc -force -batch \"$0\" 2>&1 > /dev/null";
	int fd, status;
	char *file, *text;

	if (!w->n)
		return;
	fd = memfd_create("tc", 0);
	if (fd < 0 || write(fd, w->batch.s, w->batch.len) != (ssize_t)w->batch.len)
		die("cannot make a file in memory: %s", strerror(errno));
	file = xasprintf("/proc/self/fd/%d", fd);
	text = run_capture(&status, "sh", "-c", script, file, path_programs(),
			   path_plugins(), NULL);
	if (!text || !WIFEXITED(status) || WEXITSTATUS(status) > 2)
		die("cannot ask tc whether qdiscs are right: is it installed (lab doctor)?");
	complaints(w, text);
	free(text);
	free(file);
	close(fd);
}
