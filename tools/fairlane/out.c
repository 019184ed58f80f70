// SPDX-License-Identifier: GPL-2.0
/* JSON on stdout. One command prints one document, or one on each line if it
 * goes on (monitor, watch).
 */
#include "tool.h"

#include <stdarg.h>
#include <stdlib.h>

/* Print and release. A reader that went away is no mistake of ours. */
static void put(cJSON *doc, bool pretty)
{
	char *text = pretty ? cJSON_Print(doc) : cJSON_PrintUnformatted(doc);

	if (!text)
		fail_kernel("out of memory");
	puts(text);
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
