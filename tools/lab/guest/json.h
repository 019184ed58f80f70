/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strict, table-driven reading of JSON objects into C structures. Whatever is
 * not in the tables is an error that names its path in the document.
 */
#ifndef LAB_JSON_H
#define LAB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>

#define __printf(fmt, args)	__attribute__((__format__(printf, fmt, args)))

#define JSON_PATH_MAX	256
#define JSON_ERROR_MAX	512
#define JSON_FIELDS_MAX	32

/* Memory of the lists; freed all at once. */
struct json_block {
	struct json_block *next;
	max_align_t data[];
};

/* State of one reading: where we are, and the error if there was one. */
struct json_ctx {
	char path[JSON_PATH_MAX];	/* "flows[3].src" */
	char error[JSON_ERROR_MAX];	/* "plan.json: flows[3].src: …" */
	const char *document;		/* name of the document in errors */
	void *user;			/* for the functions of the tables */
	struct json_block *blocks;
};

enum json_type {
	JSON_INT,	/* int64_t */
	JSON_BOOL,	/* bool */
	JSON_STR,	/* const char *, points into the document */
	JSON_STR_NULL,	/* the same or null */
	JSON_LIST,	/* struct json_list, the function reads an element */
	JSON_FN,	/* the function decides */
};

typedef int (*json_fn)(struct json_ctx *ctx, const cJSON *item, void *dst);

/* One key of an object: where its value goes and what it may be. */
struct json_field {
	const char *key;
	enum json_type type;
	size_t offset;
	bool required;
	json_fn fn;		/* JSON_LIST, JSON_FN */
	size_t size;		/* of an element, JSON_LIST */
};

/* A growing list of equal elements. */
struct json_list {
	void *items;
	size_t count;
};

__printf(2, 3)
int json_error(struct json_ctx *ctx, const char *fmt, ...);
size_t json_enter_key(struct json_ctx *ctx, const char *key);
void json_leave(struct json_ctx *ctx, size_t mark);
int json_int(struct json_ctx *ctx, const cJSON *item, int64_t *value);
int json_string(struct json_ctx *ctx, const cJSON *item, const char **value);
int json_object(struct json_ctx *ctx, const cJSON *item,
		const struct json_field *fields, size_t fields_count,
		void *dst);
int json_array(struct json_ctx *ctx, const cJSON *item, size_t size, json_fn fn,
	       struct json_list *list);
void *json_alloc(struct json_ctx *ctx, size_t count, size_t size);
void json_free(struct json_block *blocks);
cJSON *json_parse(struct json_ctx *ctx, const char *text, size_t length);

#endif
