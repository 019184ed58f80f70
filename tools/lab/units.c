// SPDX-License-Identifier: GPL-2.0
/* Parse and print values with units. Times are integers of nanoseconds, rates
 * of bits per second, sizes of bytes; k, m and g are powers of 1000, kib, mib
 * and gib powers of 1024.
 */
#include "units.h"
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	double scale;
};

static const struct unit time_units[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 },
};

static const struct unit rate_units[] = {
	{ "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 },
	{ "tbit", 1e12 }, { NULL, 0 },
};

static const struct unit size_units[] = {
	{ "", 1 }, { "b", 1 }, { "k", 1e3 }, { "kb", 1e3 }, { "m", 1e6 },
	{ "mb", 1e6 }, { "g", 1e9 }, { "gb", 1e9 }, { "kib", 1024 },
	{ "mib", 1048576 }, { "gib", 1073741824 }, { NULL, 0 },
};

/* Parse a plain decimal number that fills the whole text. */
bool parse_real(const char *text, double *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && !strchr("+-.", text[0]))
		return false;
	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value) &&
	       !strpbrk(text, "xXpP");
}

/* Parse a decimal integer that fills the whole text and that 64 bits hold. */
bool parse_int(const char *text, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

/* Parse a number and one of the units; a bare 0 needs no unit. */
static bool parse_units(const char *text, const struct unit *u, int64_t *out)
{
	size_t len = strspn(text, "+-.0123456789");
	char *number = xasprintf("%.*s", (int)len, text);
	double v;
	bool ok = parse_real(number, &v);

	free(number);
	if (!ok)
		return false;
	text += len;
	while (*text == ' ')
		text++;
	if (!*text && v == 0) {
		*out = 0;
		return true;
	}
	for (; u->name; u++) {
		if (strcasecmp(u->name, text))
			continue;
		v = v * u->scale;
		if (fabs(v) > 9e18)
			return false;
		*out = llround(v);
		return true;
	}
	return false;
}

/* "28ms" → nanoseconds. */
bool parse_time(const char *text, int64_t *ns)
{
	return parse_units(text, time_units, ns);
}

/* "10gbit" → bits per second. */
bool parse_rate(const char *text, int64_t *bps)
{
	return parse_units(text, rate_units, bps);
}

/* "1mb" or "1500" → bytes. */
bool parse_size(const char *text, int64_t *bytes)
{
	return parse_units(text, size_units, bytes);
}

/* What values of a measure can be, by their unit, and how people write that. */
struct quantity {
	const char *unit;
	bool (*parse)(const char *text, int64_t *value);
	double scale;		/* what is parsed, divided by this, has the unit */
	const char *words;
};

static const struct quantity quantities[] = {
	{ "us", parse_time, 1e3, "a time (write 28ms, 2.6us, 100ns, 1s)" },
	{ "bps", parse_rate, 1, "a rate (write 10gbit, 100mbit)" },
	{ "bytes", parse_size, 1, "a size (write 1500, 64kb, 1mb, 1mib)" },
};

/* The kind of quantity that has this unit, NULL: plain numbers. */
static const struct quantity *quantity_of(const char *unit)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(quantities); i++)
		if (!strcmp(quantities[i].unit, unit))
			return &quantities[i];
	return NULL;
}

/* What a value with this unit is, for messages: "a time (write ...)". */
const char *quantity_words(const char *unit)
{
	const struct quantity *q = quantity_of(unit);

	return q ? q->words : "a number (it has no unit)";
}

/* Parse what an expectation compares with into the unit of the measure. What has a
 * unit is written with one; plain numbers may be in percent.
 */
bool parse_quantity(const char *text, const char *unit, double *value)
{
	const struct quantity *q = quantity_of(unit);
	int64_t v;

	if (q && q->parse(text, &v)) {
		*value = v / q->scale;
		return true;
	}
	if (q || parse_real(text, value))
		return !q;
	if (text[0] && text[strlen(text) - 1] == '%') {
		char *num = xasprintf("%.*s", (int)strlen(text) - 1, text);
		bool ok = parse_real(num, value);

		free(num);
		*value /= 100;
		return ok;
	}
	return false;
}

/* One of a few rotating buffers, so that several calls fit one printf. */
static char *fmt_slot(void)
{
	static char slot[8][48];
	static int next;

	return slot[next++ & 7];
}

/* Print a time with the unit that suits it. */
const char *fmt_time(int64_t ns)
{
	char *s = fmt_slot();

	if (ns % 1000000 == 0 || ns >= 10000000)
		snprintf(s, 48, "%.9gms", ns / 1e6);
	else if (ns >= 1000)
		snprintf(s, 48, "%.9gus", ns / 1e3);
	else
		snprintf(s, 48, "%lldns", (long long)ns);
	return s;
}

/* Print a rate with the unit that suits it. */
static const char *fmt_rate(int64_t bps)
{
	char *s = fmt_slot();

	if (bps >= 1000000000)
		snprintf(s, 48, "%.6ggbit", bps / 1e9);
	else
		snprintf(s, 48, "%.6gmbit", bps / 1e6);
	return s;
}

/* Print the value of a measure for people. */
const char *fmt_value(double value, const char *unit)
{
	char *s = fmt_slot();

	if (isnan(value))
		snprintf(s, 48, "not reached");
	else if (!strcmp(unit, "bps"))
		return fmt_rate(llround(value));
	else if (!strcmp(unit, "us"))
		snprintf(s, 48, "%.2f us", value);
	else if (!strcmp(unit, "bytes") || !strcmp(unit, "packets") ||
		 !strcmp(unit, "flows"))
		snprintf(s, 48, "%.0f %s", value, unit);
	else
		snprintf(s, 48, "%.4f", value);
	return s;
}
