// SPDX-License-Identifier: GPL-2.0
/*
 * Strict, table-driven reading of JSON objects into C structures.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

/* Notes the first error with the current path; always returns -1. */
int json_error(struct json_ctx *ctx, const char *fmt, ...)
{
	va_list args;
	int used;

	if (ctx->error[0])
		return -1;
	used = snprintf(ctx->error, sizeof(ctx->error), "%s: %s%s",
			ctx->document, ctx->path, ctx->path[0] ? ": " : "");
	if (used < 0 || (size_t)used >= sizeof(ctx->error))
		return -1;
	va_start(args, fmt);
	vsnprintf(ctx->error + used, sizeof(ctx->error) - used, fmt, args);
	va_end(args);
	return -1;
}

/* Goes into a key of an object; json_leave() with the result goes back. */
size_t json_enter_key(struct json_ctx *ctx, const char *key)
{
	size_t mark = strlen(ctx->path);

	snprintf(ctx->path + mark, sizeof(ctx->path) - mark, "%s%.60s",
		 mark ? "." : "", key);
	return mark;
}

/* Goes into an element of an array. */
static size_t json_enter_index(struct json_ctx *ctx, size_t index)
{
	size_t mark = strlen(ctx->path);

	snprintf(ctx->path + mark, sizeof(ctx->path) - mark, "[%zu]", index);
	return mark;
}

/* Back to where the matching json_enter_…() was called. */
void json_leave(struct json_ctx *ctx, size_t mark)
{
	ctx->path[mark] = '\0';
}

/* Reads a whole number. */
int json_int(struct json_ctx *ctx, const cJSON *item, int64_t *value)
{
	double number = item->valuedouble;

	if (!cJSON_IsNumber(item))
		return json_error(ctx, "must be a number");
	if (!isfinite(number) || number != floor(number) ||
	    fabs(number) > 9007199254740992.0)
		return json_error(ctx, "%g is not a whole number below 2^53",
				  number);
	*value = (int64_t)number;
	return 0;
}

/* Reads a text; the result lives as long as the document. */
int json_string(struct json_ctx *ctx, const cJSON *item, const char **value)
{
	if (!cJSON_IsString(item))
		return json_error(ctx, "must be a string");
	*value = item->valuestring;
	return 0;
}

/* Reads the value of one field of an object. */
static int json_value(struct json_ctx *ctx, const cJSON *item,
		      const struct json_field *field, void *dst)
{
	void *place = (char *)dst + field->offset;

	switch (field->type) {
	case JSON_INT:
		return json_int(ctx, item, place);
	case JSON_BOOL:
		if (!cJSON_IsBool(item))
			return json_error(ctx, "must be true or false");
		*(bool *)place = cJSON_IsTrue(item);
		return 0;
	case JSON_STR_NULL:
		if (cJSON_IsNull(item)) {
			*(const char **)place = NULL;
			return 0;
		}
		return json_string(ctx, item, place);
	case JSON_STR:
		return json_string(ctx, item, place);
	case JSON_LIST:
		return json_array(ctx, item, field->size, field->fn, place);
	case JSON_FN:
		return field->fn(ctx, item, place);
	}
	return json_error(ctx, "has no known type");
}

/* Finds the field of a key, or its count if there is none. */
static size_t json_find(const struct json_field *fields, size_t count,
			const char *key)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(fields[i].key, key))
			break;
	return i;
}

/*
 * Reads an object by a table: unknown, double and missing keys are errors. The
 * values are read in the table's order, whatever the document's is.
 */
int json_object(struct json_ctx *ctx, const cJSON *item,
		const struct json_field *fields, size_t fields_count,
		void *dst)
{
	const cJSON *found[JSON_FIELDS_MAX] = { NULL };
	const cJSON *child;
	size_t i, mark;
	int error;

	if (!cJSON_IsObject(item))
		return json_error(ctx, "must be an object");
	if (fields_count > JSON_FIELDS_MAX)
		return json_error(ctx, "has too many fields");
	cJSON_ArrayForEach(child, item) {
		i = json_find(fields, fields_count, child->string);
		if (i == fields_count)
			return json_error(ctx, "unknown key \"%.60s\"",
					  child->string);
		if (found[i])
			return json_error(ctx, "key \"%.60s\" stands twice",
					  child->string);
		found[i] = child;
	}
	for (i = 0; i < fields_count; i++) {
		if (!found[i]) {
			if (!fields[i].required)
				continue;
			return json_error(ctx, "key \"%s\" is missing",
					  fields[i].key);
		}
		mark = json_enter_key(ctx, fields[i].key);
		error = json_value(ctx, found[i], &fields[i], dst);
		json_leave(ctx, mark);
		if (error)
			return error;
	}
	return 0;
}

/* Zeroed memory that lives until json_free(); NULL and an error if none. */
void *json_alloc(struct json_ctx *ctx, size_t count, size_t size)
{
	struct json_block *block;

	block = calloc(1, sizeof(*block) + count * size);
	if (!block) {
		json_error(ctx, "no memory for %zu elements", count);
		return NULL;
	}
	block->next = ctx->blocks;
	ctx->blocks = block;
	return block->data;
}

/* Frees what json_alloc() gave. */
void json_free(struct json_block *blocks)
{
	struct json_block *next;

	for (; blocks; blocks = next) {
		next = blocks->next;
		free(blocks);
	}
}

/* Reads an array, calling fn for each element with a zeroed piece of memory. */
int json_array(struct json_ctx *ctx, const cJSON *item, size_t size, json_fn fn,
	       struct json_list *list)
{
	const cJSON *child;
	size_t count, i = 0, mark;
	int error;

	if (!cJSON_IsArray(item))
		return json_error(ctx, "must be an array");
	count = cJSON_GetArraySize(item);
	list->items = json_alloc(ctx, count, size);
	list->count = count;
	if (!list->items)
		return -1;
	cJSON_ArrayForEach(child, item) {
		mark = json_enter_index(ctx, i);
		error = fn(ctx, child, (char *)list->items + i++ * size);
		json_leave(ctx, mark);
		if (error)
			return error;
	}
	return 0;
}

/* Says at which line and column the text stops being JSON. */
static int json_syntax(struct json_ctx *ctx, const char *text, const char *end)
{
	unsigned int line = 1, column = 1;
	const char *p;

	for (p = text; p < end; p++) {
		column++;
		if (*p == '\n') {
			line++;
			column = 1;
		}
	}
	return json_error(ctx, "line %u, column %u: not JSON", line, column);
}

/* Parses a whole document; NULL and an error if it is not JSON. */
cJSON *json_parse(struct json_ctx *ctx, const char *text, size_t length)
{
	const char *end = text;
	cJSON *root;

	root = cJSON_ParseWithLengthOpts(text, length, &end, 0);
	if (!root) {
		json_syntax(ctx, text, end);
		return NULL;
	}
	while (end < text + length && *end && strchr(" \t\r\n", *end))
		end++;
	if (end < text + length && *end) {
		cJSON_Delete(root);
		json_syntax(ctx, text, end);
		return NULL;
	}
	return root;
}
