// SPDX-License-Identifier: GPL-2.0
/* Words of the command line, messages, memory. */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct options opt = { .keys = "" };

static void say(const char *kind, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%s: %s", kind, opt.where);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

/* The user's mistake: say it and end, nothing was done. */
void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("Error", fmt, ap);
	va_end(ap);
	exit(EXIT_USAGE);
}

/* The kernel refused, or something is missing: say it and end. */
void fail_kernel(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("Error", fmt, ap);
	va_end(ap);
	exit(EXIT_KERNEL);
}

/* Worth knowing, but no error. */
void note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("Note", fmt, ap);
	va_end(ap);
}

bool words_left(const struct words *w)
{
	return w->i < w->n;
}

/* The next word, or "". */
const char *word_peek(const struct words *w)
{
	return words_left(w) ? w->v[w->i] : "";
}

const char *word_next(struct words *w)
{
	return words_left(w) ? w->v[w->i++] : "";
}

/* The word @key has its value: the second time is a mistake, whichever of them was meant. */
static void say_once(struct words *w, const char *key)
{
	int i;

	for (i = 0; i < w->said_n; i++)
		if (!strcmp(w->said[i], key))
			fail("\"%s\" twice", key);
	if (w->said_n == WORDS_SAID)
		fail("too many words");
	w->said[w->said_n++] = key;
}

/* The text after the word @key, which was just read; it may be empty. */
const char *word_text(struct words *w, const char *key)
{
	say_once(w, key);
	if (!words_left(w))
		fail("\"%s\" needs a value", key);
	return word_next(w);
}

static const char *filled(const char *s, const char *key)
{
	if (!s[0])
		fail("\"%s\" needs a value, \"\" is none", key);
	return s;
}

/* As word_text(), but never "": a condition without a value would hold for everybody. */
const char *word_value(struct words *w, const char *key)
{
	return filled(word_text(w, key), key);
}

/* As word_value(), of a word that may come again: each of its values counts. */
const char *word_more(struct words *w, const char *key)
{
	if (!words_left(w))
		fail("\"%s\" needs a value", key);
	return filled(word_next(w), key);
}

/* The name of a file. Options stand before the object: behind it they would be files. */
const char *word_file(struct words *w)
{
	const char *s = word_next(w);

	if (s[0] == '-' && s[1])
		fail("what is \"%s\"? (a file of that name is \"./%s\")", s, s);
	return s;
}

/* Is the next word @keyword? If so it is used up. */
bool word_is(struct words *w, const char *keyword)
{
	if (!words_left(w) || strcmp(w->v[w->i], keyword))
		return false;
	w->i++;
	return true;
}

/* Is it one of those that stand before the object? */
static bool is_option(const char *s)
{
	static const char *const options[] = {
		"--json", "--pretty", "--details", "--netns", "--version", "--help",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(s, options[i]))
			return true;
	return s[0] == '-' && s[1] && strspn(s + 1, "jpdnVh") == strlen(s) - 1;
}

/* No more words are allowed. */
void words_end(const struct words *w)
{
	if (!words_left(w))
		return;
	if (is_option(w->v[w->i]))
		fail("\"%s\" stands before the object: fairlane %s ... (fairlane -h)",
		     w->v[w->i], w->v[w->i]);
	fail("what is \"%s\"? (\"help\" shows what is known here)", w->v[w->i]);
}

/* Is help asked for? Then prints it. */
bool words_help(const struct words *w, const char *usage)
{
	const char *s = word_peek(w);

	if (strcmp(s, "help") && strcmp(s, "-h") && strcmp(s, "--help"))
		return false;
	fputs(usage, stdout);
	return true;
}

/* Candidates for an ambiguous word, for the message. */
static void fail_ambiguous(const struct command *list, size_t count,
			   const char *what, const char *s)
{
	char text[256] = "";
	size_t i, len = 0;

	for (i = 0; i < count; i++)
		if (!strncmp(list[i].name, s, strlen(s)))
			len += snprintf(text + len, sizeof(text) - len, "%s%s",
					len ? ", " : "", list[i].name);
	fail("%s \"%s\" may be any of: %s", what, s, text);
}

/**
 * command_run() - do what the next word says
 * @list: the words that are known
 * @count: how many
 * @what: what they are, for messages
 * @standard: the word if there is none; NULL: print @usage and fail
 * @usage: help text
 * @w: the command line
 *
 * Any beginning of a word that fits no other one is enough, as with ip.
 *
 * Return: the command's exit code.
 */
int command_run(const struct command *list, size_t count, const char *what,
		const char *standard, const char *usage, struct words *w)
{
	const struct command *found = NULL;
	const char *s;
	size_t i, hits = 0;

	if (words_help(w, usage))
		return EXIT_OK;
	if (!words_left(w) && !standard) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	s = words_left(w) ? word_next(w) : standard;
	for (i = 0; i < count; i++) {
		if (!strcmp(list[i].name, s)) {
			found = &list[i];
			hits = 1;
			break;
		}
		if (s[0] && !strncmp(list[i].name, s, strlen(s))) {
			/* two words for the same thing are no doubt */
			hits += !found || found->run != list[i].run;
			found = &list[i];
		}
	}
	if (!hits)
		fail("no %s \"%s\" (\"help\" shows what is known here)", what,
		     s);
	if (hits > 1)
		fail_ambiguous(list, count, what, s);
	/* an object has its own; in a file nobody would read it */
	if (strcmp(what, "object") && !opt.where[0] && words_help(w, usage))
		return EXIT_OK;
	return found->run(w);
}

void *xalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		fail_kernel("out of memory");
	return p;
}

/* Room for one more in an array of @count items, which grows by powers of 2. */
void *xgrow(void *array, size_t count, size_t item)
{
	if (count & (count - 1) || (count && count < 8))
		return array;
	array = realloc(array, (count ? count * 2 : 8) * item);
	if (!array)
		fail_kernel("out of memory");
	return array;
}

char *xprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (len < 0)
		fail_kernel("out of memory");
	return s;
}

/* A file with a NUL behind it ("-": stdin), or NULL (errno says why). */
static char *read_bytes(const char *path, size_t *size)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	size_t len = 0, got;
	char *s = NULL;

	if (!f)
		return NULL;
	do {
		s = realloc(s, len + 4097);
		if (!s)
			fail_kernel("out of memory");
		got = fread(s + len, 1, 4096, f);
		len += got;
	} while (got);
	s[len] = 0;
	if (ferror(f)) {
		free(s);
		s = NULL;
	}
	if (f != stdin)
		fclose(f);
	*size = len;
	return s;
}

/* A file as a string ("-": stdin), or NULL (errno says why). */
char *read_text(const char *path)
{
	size_t size;

	return read_bytes(path, &size);
}

/* As read_text(), of a file that people write: what is behind a NUL byte would be lost, so that
 * one ends the program.
 */
char *read_written(const char *path)
{
	size_t size;
	char *s = read_bytes(path, &size);

	if (s && strlen(s) != size)
		fail("%s: it has a NUL byte, this is no text", path);
	return s;
}
