// SPDX-License-Identifier: GPL-2.0
/* Dimensions of a set-up: what the seed or the command line says. */
#include "space.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("space: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

/* Take a seed from the command line. Return: is @text one, digits alone? */
bool seed_read(const char *text, uint64_t *seed)
{
	errno = 0;
	*seed = strtoull(text, NULL, 10);
	return text[0] && !text[strspn(text, "0123456789")] && !errno;
}

/* Take two seeds. Return: are they, in that order? */
bool seeds_read(const char *first, const char *last, uint64_t *from, uint64_t *to)
{
	return seed_read(first, from) && seed_read(last, to) && *from <= *to;
}

/* FNV-1a, so that names give numbers. */
static uint64_t hash_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	return h;
}

/* A number in [0, 1) for a name, the same for the same seed and space. */
double dim_random(const struct space_setup *s, const char *name)
{
	uint64_t x = hash_text(0xcbf29ce484222325ULL, s->space);

	/* splitmix64 */
	x = hash_text(hash_text(x, "/"), name) + s->seed * 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	x ^= x >> 31;
	return (double)(x >> 11) / (1ULL << 53);
}

static struct space_dim *dim_find(struct space_setup *s, const char *name)
{
	int i;

	for (i = 0; i < s->dims; i++)
		if (!strcmp(s->dim[i].name, name))
			return &s->dim[i];
	return NULL;
}

static struct space_dim *dim_new(struct space_setup *s, const char *name)
{
	struct space_dim *d = &s->dim[s->dims];

	if (s->dims++ == SPACE_DIMS)
		die("more than %d dimensions", SPACE_DIMS);
	snprintf(d->name, sizeof(d->name), "%s", name);
	d->given = false;
	return d;
}

/* The command line gives a dimension: NAME=VALUE. */
void dim_give(struct space_setup *s, const char *assignment)
{
	const char *eq = strchr(assignment, '=');
	struct space_dim *d;
	char name[24];

	if (!eq || eq == assignment || eq - assignment >= (int)sizeof(name))
		die("\"%s\" is not DIMENSION=VALUE", assignment);
	snprintf(name, sizeof(name), "%.*s", (int)(eq - assignment), assignment);
	d = dim_find(s, name) ?: dim_new(s, name);
	snprintf(d->value, sizeof(d->value), "%s", eq + 1);
	d->given = true;
}

/* Refuse what the command line gave and nobody asked for. */
void dim_check(const struct space_setup *s)
{
	int i;

	for (i = 0; i < s->dims; i++)
		if (s->dim[i].given)
			die("%s/%s has no dimension \"%s\"", s->control, s->space,
			    s->dim[i].name);
}

/* The value of a dimension: @value, unless the command line gives another. */
const char *dim_text(struct space_setup *s, const char *name, const char *value)
{
	struct space_dim *d = dim_find(s, name);

	if (!d) {
		d = dim_new(s, name);
		snprintf(d->value, sizeof(d->value), "%s", value);
	}
	d->given = false;
	return d->value;
}

/* One of @n values. Whoever lists one several times gets it more often. */
const char *dim_pick(struct space_setup *s, const char *name, int n,
		     const char *const *values)
{
	const char *value = dim_text(s, name,
				     values[(int)(dim_random(s, name) * n)]);
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(value, values[i]))
			return value;
	die("%s: \"%s\" is none of its values", name, value);
}

/* A number between @low and @high, the same number of them in each octave. */
double dim_log(struct space_setup *s, const char *name, double low, double high)
{
	char text[40];

	snprintf(text, sizeof(text), "%.4g",
		 low * pow(high / low, dim_random(s, name)));
	return atof(dim_text(s, name, text));
}

/* An integer from @low to @high. */
int dim_int(struct space_setup *s, const char *name, int low, int high)
{
	char text[40];

	snprintf(text, sizeof(text), "%d",
		 low + (int)(dim_random(s, name) * (high - low + 1)));
	return atoi(dim_text(s, name, text));
}

/* The value of a dimension that was drawn. */
const char *dim_of(const struct space_setup *s, const char *name)
{
	int i;

	for (i = 0; i < s->dims; i++)
		if (!strcmp(s->dim[i].name, name))
			return s->dim[i].value;
	return "";
}

bool space_is(const struct space_setup *s, const char *name)
{
	return !strcmp(s->space, name);
}
