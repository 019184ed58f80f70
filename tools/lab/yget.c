// SPDX-License-Identifier: GPL-2.0
/* Read typed values out of a YAML tree. Every error names file, line and key;
 * errors are counted, so that one run of lab shows them all.
 */
#include "yaml.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

static int errors;

/* Full name of a node: groups.p3.start, events.2.at */
static char *key_path(const struct ynode *n)
{
	char *up, *s;

	if (!n->parent)
		return xstrdup("");
	up = key_path(n->parent);
	s = n->key ? xasprintf("%s%s%s", up, *up ? "." : "", n->key) :
		     xasprintf("%s%s%d", up, *up ? "." : "", n->index);
	free(up);
	return s;
}

/* Report one error at @n and count it. */
void y_error(const struct ynode *n, const char *fmt, ...)
{
	char *path = key_path(n);
	va_list ap;

	if (++errors <= 20) {
		fprintf(stderr, "%s:%d: %s%s", n->file, n->line, path,
			*path ? ": " : "");
		va_start(ap, fmt);
		vfprintf(stderr, fmt, ap);
		va_end(ap);
		fputc('\n', stderr);
	}
	free(path);
}

/* Number of errors reported so far. */
int y_errors(void)
{
	return errors;
}

/* Edit distance, to guess which key a misspelt one was meant to be. */
static int distance(const char *a, const char *b)
{
	int la = strlen(a), lb = strlen(b), row[64], i, j;

	if (la > 60 || lb > 60)
		return 99;
	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		int diag = row[0];

		row[0] = i;
		for (j = 1; j <= lb; j++) {
			int best = diag + (a[i - 1] != b[j - 1]);

			diag = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

/* Number of the one of @names that @word was meant to be, -1 if it is like none. A word
 * that is the beginning of one alone (prio) is that one.
 */
int y_guess(const char *word, const char *const *names, int n)
{
	int best = 4, guess = -1, begin = -1, begins = 0, i;

	for (i = 0; i < n && strlen(word) > 2; i++) {
		if (strncmp(word, names[i], strlen(word)))
			continue;
		begin = i;
		begins++;
	}
	if (begins == 1)
		return begin;
	for (i = 0; i < n; i++) {
		int d = distance(word, names[i]);

		/* not more than half of it is misspelt */
		if (d < best && 2 * d <= (int)strlen(word)) {
			best = d;
			guess = i;
		}
	}
	return guess;
}

/* Report every key that nobody asked for. */
void y_check_unknown(const struct ynode *n)
{
	int i, guess;

	for (i = 0; i < n->n; i++) {
		struct ynode *c = n->child[i];

		if (c->used || n->kind != Y_MAP) {
			y_check_unknown(c);
			continue;
		}
		guess = y_guess(c->key, (const char *const *)n->asked.s,
				n->asked.n);
		if (guess >= 0)
			y_error(c, "unknown key; did you mean \"%s\"?",
				n->asked.s[guess]);
		else
			y_error(c, "unknown key");
	}
}

/* Number of the word @s, which stands at @n, in @names (NULL-terminated); -1 and an
 * error that lists them if it is none of these.
 */
int y_one_of(const struct ynode *n, const char *s, const char *const *names)
{
	struct buf b = { 0 };
	int i;

	for (i = 0; names[i]; i++) {
		if (!strcmp(names[i], s))
			return i;
		buf_addf(&b, "%s%s", i ? ", " : "", names[i]);
	}
	y_error(n, "\"%s\" is none of: %s", s, b.s);
	free(b.s);
	return -1;
}

/* Child named @key without marking it as used. */
struct ynode *y_find(const struct ynode *map, const char *key)
{
	int i;

	for (i = 0; i < map->n; i++)
		if (map->child[i]->key && !strcmp(map->child[i]->key, key))
			return map->child[i];
	return NULL;
}

/* Is @n YAML's "nothing"? */
bool y_is_null(const struct ynode *n)
{
	return n->kind == Y_SCALAR &&
	       (!strcmp(n->text, "~") || !strcmp(n->text, "null"));
}

/* Child named @key, NULL if absent or empty; the key counts as known. */
struct ynode *y_get(struct ynode *map, const char *key)
{
	struct ynode *n;

	if (!map || map->kind != Y_MAP)
		return NULL;
	if (!strv_has(&map->asked, key))
		strv_addf(&map->asked, "%s", key);
	n = y_find(map, key);
	if (!n)
		return NULL;
	n->used = true;
	return y_is_null(n) ? NULL : n;
}

/* Child named @key; its absence is an error. */
struct ynode *y_need(struct ynode *map, const char *key)
{
	struct ynode *n = y_get(map, key);

	if (!n)
		y_error(map, "key \"%s\" is missing here", key);
	return n;
}

/* Is @n a mapping? If not, say so. */
bool y_is_map(struct ynode *n)
{
	if (n->kind == Y_MAP)
		return true;
	y_error(n, "expected a mapping of keys here");
	return false;
}

/* Text of a scalar node, NULL with an error for anything else. */
const char *y_scalar(struct ynode *n)
{
	n->used = true;
	if (n->kind == Y_SCALAR)
		return n->text;
	y_error(n, "expected one value here");
	return NULL;
}

/* Text value or default. */
const char *y_text(struct ynode *map, const char *key, const char *dflt)
{
	struct ynode *n = y_get(map, key);
	const char *s = n ? y_scalar(n) : NULL;

	return s ? s : dflt;
}

/* Integer in a range or default. */
int64_t y_int(struct ynode *map, const char *key, int64_t dflt, int64_t min,
	      int64_t max)
{
	struct ynode *n = y_get(map, key);
	const char *s = n ? y_scalar(n) : NULL;
	int64_t v;

	if (!s)
		return dflt;
	if (parse_int(s, &v) && v >= min && v <= max)
		return v;
	y_error(n, "\"%s\" is not an integer from %lld to %lld", s,
		(long long)min, (long long)max);
	return dflt;
}

/* Real number in a range or default; "98%" is 0.98. */
double y_real(struct ynode *map, const char *key, double dflt, double min,
	      double max)
{
	struct ynode *n = y_get(map, key);
	const char *s = n ? y_scalar(n) : NULL;
	double v;

	if (!s)
		return dflt;
	if (parse_quantity(s, "", &v) && v >= min && v <= max)
		return v;
	y_error(n, "\"%s\" is not a number from %g to %g", s, min, max);
	return dflt;
}

/* on/off, true/false, yes/no or default. */
bool y_bool(struct ynode *map, const char *key, bool dflt)
{
	static const char *const names[] = { "off", "on", "false", "true",
					     "no", "yes", NULL };

	return y_choice(map, key, names, dflt) & 1;
}

/* Number of the word in @names (NULL-terminated) or default. */
int y_choice(struct ynode *map, const char *key, const char *const *names,
	     int dflt)
{
	struct ynode *n = y_get(map, key);
	const char *s = n ? y_scalar(n) : NULL;
	int i = s ? y_one_of(n, s, names) : -1;

	return i < 0 ? dflt : i;
}

typedef bool (*parse_fn)(const char *text, int64_t *value);

/* Value with a unit, not negative, or default. */
static int64_t y_unit(struct ynode *map, const char *key, int64_t dflt,
		      parse_fn parse, const char *what)
{
	struct ynode *n = y_get(map, key);
	const char *s = n ? y_scalar(n) : NULL;
	int64_t v;

	if (!s)
		return dflt;
	if (parse(s, &v) && v >= 0)
		return v;
	y_error(n, "\"%s\" is not %s", s, what);
	return dflt;
}

/* Time in ns or default. */
int64_t y_time(struct ynode *map, const char *key, int64_t dflt)
{
	return y_unit(map, key, dflt, parse_time, quantity_words("us"));
}

/* Rate in bit/s or default. */
int64_t y_rate(struct ynode *map, const char *key, int64_t dflt)
{
	return y_unit(map, key, dflt, parse_rate, quantity_words("bps"));
}

/* Size in bytes or default. */
int64_t y_size(struct ynode *map, const char *key, int64_t dflt)
{
	return y_unit(map, key, dflt, parse_size, quantity_words("bytes"));
}

/* Refuse a value of @key above @max, which is @text; a default is not asked. */
void y_at_most(struct ynode *map, const char *key, int64_t value, int64_t max,
	       const char *text)
{
	if (value > max && y_find(map, key))
		y_error(y_find(map, key), "at most %s", text);
}

/* One text or a list of texts. */
void y_list(struct ynode *map, const char *key, struct strv *out)
{
	struct ynode *n = y_get(map, key);
	int i;

	if (!n)
		return;
	if (n->kind == Y_SCALAR) {
		strv_addf(out, "%s", n->text);
		return;
	}
	if (n->kind == Y_MAP) {
		y_error(n, "expected one value or a list");
		return;
	}
	for (i = 0; i < n->n; i++) {
		const char *s = y_scalar(n->child[i]);

		if (s)
			strv_addf(out, "%s", s);
	}
}
