// SPDX-License-Identifier: GPL-2.0
/* Text that others have chosen, and JSON on stdout. One command prints one document, or one
 * on each line if it goes on (monitor, watch).
 */
#include "tool.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

/**
 * put_name() - print the name of a process
 * @name: any bytes: everybody names his own
 *
 * What a terminal would obey, and what would begin a line, is a "?", as in ps.
 */
void put_name(const char *name)
{
	for (; *name; name++)
		putchar(isprint((unsigned char)*name) ? *name : '?');
}

/* Bytes of the character of UTF-8 that @s begins with; 0: it begins with none. */
static size_t utf8_bytes(const unsigned char *s)
{
	/* by the first byte: how many follow, and the least that they may say */
	size_t more = s[0] < 0x80 ? 0 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3, i;
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	uint32_t v = more ? s[0] & 0x3f >> more : s[0];

	if (!s[0] || (s[0] >= 0x80 && s[0] < 0xc0) || s[0] > 0xf4)
		return 0;
	for (i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (s[i] & 0x3f);
	}
	return v < least[more] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0 : more + 1;
}

bool is_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n;

	while ((n = utf8_bytes(p)))
		p += n;
	return !*p;
}

/* Names of processes and cgroups may have any bytes, but nobody could read the document: what
 * is no UTF-8 becomes U+FFFD.
 */
static void put_utf8(const char *s)
{
	size_t n;

	while (*s) {
		n = utf8_bytes((const unsigned char *)s);
		if (n)
			fwrite(s, 1, n, stdout);
		else
			fputs("\xef\xbf\xbd", stdout);
		s += n ? n : 1;
	}
	putchar('\n');
}

/* Print and release. A reader that went away is no mistake of ours. */
static void put(cJSON *doc, bool pretty)
{
	char *text = pretty ? cJSON_Print(doc) : cJSON_PrintUnformatted(doc);

	if (!text)
		fail_kernel("out of memory");
	if (is_utf8(text))
		puts(text);
	else
		put_utf8(text);
	free(text);
	cJSON_Delete(doc);
}

void json_print(cJSON *doc)
{
	put(doc, opt.pretty);
}

void json_line(cJSON *doc)
{
	put(doc, false);
	fflush(stdout);
}

/* With -j: the document of a command that has nothing to tell. */
void json_done(void)
{
	if (opt.json)
		json_print(cJSON_CreateObject());
}

/* An integer, all its digits. */
void json_u64(cJSON *obj, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	cJSON_AddItemToObject(obj, key, cJSON_CreateRaw(text));
}

void json_text(cJSON *obj, const char *key, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cJSON_AddStringToObject(obj, key, text);
}

/* The text of a field; "": there is none. */
const char *json_text_of(const cJSON *obj, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(obj, key);

	return cJSON_IsString(v) ? v->valuestring : "";
}

/* The number in a field, or the sum of those in an object; 0: there is none. */
double json_number_of(const cJSON *obj, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(obj, key), *part;
	double sum = 0;

	if (cJSON_IsNumber(v))
		return v->valuedouble;
	cJSON_ArrayForEach(part, v)
		sum += cJSON_IsNumber(part) ? part->valuedouble : 0;
	return sum;
}
