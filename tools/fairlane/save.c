// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane save and restore: limits, profiles and policies as a file of commands.
 *
 * restore makes the settings exactly those of the file. It reads the whole file
 * before it changes anything, and if the kernel refuses a line afterwards, it
 * puts back what was there.
 */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
"usage: fairlane save [FILE]\n"
"       fairlane restore [--check] [FILE]\n"
"FILE has lines \"policy add ...\", \"profile set ...\", \"limits set ...\", as on the\n"
"command line; # begins a comment, \"\" hold blanks, \\ keeps the next character in\n"
"them. Default is stdout or stdin.\n"
"restore replaces all that is set by what the file says; a bad line leaves everything\n"
"as it was. --check only reads the file.\n";

#define WORDS_MAX	256

/* The name of the text that takes all settings back: this very one, a file may be called so. */
static const char reset_name[] = "reset";

/* What a file may say. */
static const char *const allowed[][2] = {
	{ "policy", "add" }, { "profile", "set" }, { "limits", "set" },
};

/* Everything that is set, as the text of a file: in the words with which it was set. */
static void write_settings(FILE *out)
{
	limits_save(out, NULL, false);
	profile_save(out, NULL);
	policy_save(out, NULL, false);
}

/* The same as the kernel has it now, to compare with and to come back to. */
static void write_exactly(FILE *out)
{
	limits_save(out, NULL, true);
	profile_save(out, NULL);
	policy_save(out, NULL, true);
}

static void write_file(FILE *out)
{
	fprintf(out, "# fairlane %s: read it back by fairlane restore\n",
		FAIRLANE_VERSION);
	write_settings(out);
}

/* What @write prints. */
static char *settings_text(void (*write)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		fail_kernel("out of memory");
	write(out);
	fclose(out);
	return text;
}

static void save_file(const char *path)
{
	char *text = settings_text(write_file);

	write_text(path, text, 0);
	free(text);
}

int cmd_save(struct words *w)
{
	const char *path = "-";
	cJSON *doc, *list;

	if (words_help(w, usage))
		return EXIT_OK;
	if (words_left(w))
		path = word_file(w);
	words_end(w);
	if (opt.json) {
		if (strcmp(path, "-"))
			fail("save: JSON goes to stdout; restore reads commands");
		doc = cJSON_CreateObject();
		limits_save(NULL, doc, false);
		list = cJSON_AddArrayToObject(doc, "profiles");
		profile_save(NULL, list);
		list = cJSON_AddArrayToObject(doc, "policies");
		policy_save(NULL, list, false);
		json_print(doc);
	} else if (strcmp(path, "-")) {
		save_file(path);
	} else {
		write_settings(stdout);
	}
	return EXIT_OK;
}

/* ---- restore ------------------------------------------------------------------ */

/* Cut the next line off the text; NULL at its end. */
static char *next_line(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end++ = 0;
	*text = end ? end : line + strlen(line);
	return line;
}

/* A word of a file, in quotes if it needs them; split() reads it. */
void save_word(FILE *out, const char *s)
{
	if (s[0] && !strpbrk(s, " \t\"'\\#")) {
		fputs(s, out);
		return;
	}
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', out);
		fputc(*s, out);
	}
	fputc('"', out);
}

/* Cut a line into words, in place; quotes hold blanks, a backslash in them what
 * follows, # begins a comment.
 */
static int split(char *line, char **words)
{
	int n = 0;

	while (*line) {
		char *start, *to, quote = 0;

		line += strspn(line, " \t\r");
		if (!*line || *line == '#')
			break;
		if (n == WORDS_MAX)
			fail("more than %d words", WORDS_MAX);
		start = line;
		to = line;
		for (; *line && (quote || !strchr(" \t\r", *line)); line++) {
			if (quote && *line == '\\' && line[1])
				*to++ = *++line;
			else if (quote ? *line == quote :
				 *line == '"' || *line == '\'')
				quote = quote ? 0 : *line;
			else
				*to++ = *line;
		}
		if (quote)
			fail("a quote is not closed");
		if (*line)
			line++;
		*to = 0;
		words[n++] = start;
	}
	return n;
}

static bool is_allowed(char **words, int n)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(allowed); i++)
		if (n >= 2 && !strcmp(words[0], allowed[i][0]) &&
		    !strcmp(words[1], allowed[i][1]))
			return true;
	return false;
}

/* Do what a text says, line by line; any mistake ends the program. */
static void run_text(const char *text, const char *name)
{
	char *copy = xprintf("%s", text), *rest = copy, *line;
	char *words[WORDS_MAX];
	int number = 0;

	while ((line = next_line(&rest))) {
		struct words w = { .v = words };

		number++;
		/* nobody has written the lines that take all back */
		if (name != reset_name)
			snprintf(opt.where, sizeof(opt.where), "%.40s line %d: ", name, number);
		else
			snprintf(opt.where, sizeof(opt.where), "taking settings back: ");
		w.n = split(line, words);
		if (!w.n)
			continue;
		if (!is_allowed(words, w.n) && name != reset_name)
			fail("only \"policy add\", \"profile set\" and \"limits set\" can be in a file");
		run_words(&w);
	}
	opt.where[0] = 0;
	free(copy);
}

/* Do it in a child, so that a refusal ends only that. Returns its exit code. */
static int try_text(const char *reset, const char *text, const char *name)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		run_text(reset, reset_name);
		run_text(text, name);
		fflush(NULL);
		_exit(EXIT_OK);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail_kernel("fork: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_KERNEL;
}

static void write_reset(FILE *out)
{
	fputs("policy flush\n", out);
	profile_reset(out);
	limits_reset(out);
}

/* All of a file, or of stdin. */
static char *read_input(const char *path)
{
	char *text = read_written(path);

	if (!text)
		fail("%s: %s", path, strerror(errno));
	return text;
}

/* All settings of this namespace, as restore reads them. */
char *settings_now(void)
{
	return settings_text(write_exactly);
}

/* Takes all settings of this namespace back. A refusal ends the program. */
void settings_clear(void)
{
	char *reset = settings_text(write_reset);

	run_text(reset, reset_name);
	free(reset);
}

/**
 * settings_make() - make the settings of this namespace those of a text
 * @text: what settings_now() returns, or a file of restore's
 * @name: of the text, for messages
 *
 * Return: 0. If the kernel refuses a line, it has said so, all is as it was, and the
 * exit code is returned.
 */
int settings_make(const char *text, const char *name)
{
	char *before = settings_now(), *reset = settings_text(write_reset), *now;
	int code = try_text(reset, text, name);

	free(reset);
	now = code ? settings_now() : NULL;
	/* who may change nothing has changed nothing */
	if (code && strcmp(now, before)) {
		reset = settings_text(write_reset);
		if (try_text(reset, before, "before"))
			fail_kernel("%s: what was there before could not be put back",
				    name);
		free(reset);
	}
	free(now);
	free(before);
	return code;
}

int cmd_restore(struct words *w)
{
	char *text;
	const char *path = "-";
	bool json = opt.json, check_only;

	if (words_help(w, usage))
		return EXIT_OK;
	if (opt.where[0])
		fail("restore inside of a file");
	opt.json = false;	/* the commands in the file say nothing */
	check_only = word_is(w, "--check") || word_is(w, "check");
	if (words_left(w))
		path = word_file(w);
	words_end(w);
	text = read_input(path);
	opt.check_only = true;
	run_text(text, path);
	opt.check_only = false;
	if (!check_only && settings_make(text, path))
		fail_kernel("restore: everything is as it was before");
	free(text);
	opt.json = json;
	json_done();
	return EXIT_OK;
}
