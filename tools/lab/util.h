/* SPDX-License-Identifier: GPL-2.0 */
/* Small helpers every part of the lab's host runner uses: memory, text,
 * files, a seeded random source. Nothing here knows about scenarios.
 */
#ifndef LAB_UTIL_H
#define LAB_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NSEC_PER_USEC	1000LL
#define NSEC_PER_SEC	1000000000LL
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a)	__attribute__((format(printf, f, a)))

/* Exit codes of lab; documented in Documentation/guide/lab.rst. */
enum lab_exit {
	LAB_OK = 0,
	LAB_EXPECT = 1,		/* clean run, but an expectation failed */
	LAB_USAGE = 2,		/* bad command line or scenario */
	LAB_UNCLEAN = 3,	/* the guest or its kernel failed */
};

void die(const char *fmt, ...) PRINTF(1, 2) __attribute__((noreturn));
void die_unclean(const char *fmt, ...) PRINTF(1, 2) __attribute__((noreturn));
void *xmalloc(size_t size);
void *xzalloc(size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);
void *grow(void *array, int count, size_t item_size);

/* A list of strings that owns them. */
struct strv {
	char **s;
	int n;
};

void strv_add(struct strv *v, char *s);
void strv_addf(struct strv *v, const char *fmt, ...) PRINTF(2, 3);
bool strv_has(const struct strv *v, const char *s);
void strv_split(struct strv *v, const char *text, char sep);

/* Growing text buffer. */
struct buf {
	char *s;
	size_t len;
	size_t room;
};

void buf_addf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_add(struct buf *b, const char *s, size_t len);

char *read_file(const char *path, size_t *len);
void write_file(const char *path, const char *text);
FILE *open_out(const char *dir, const char *name);
void close_out(FILE *f, const char *dir, const char *name);
void make_dirs(const char *path);
char *run_capture(int *status, const char *program, ...)
	__attribute__((sentinel));
void remove_tree(const char *path);
bool name_match(const char *pattern, const char *name);

/* Largest seed, 2^53: results have it as a number of JSON, which readers take for a double. */
#define SEED_MAX	9007199254740992LL

/* Seeded random numbers: the same on every machine and C library. */
struct rng {
	uint64_t s;
};

void rng_seed(struct rng *r, uint64_t seed, const char *purpose);
uint64_t rng_u64(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t limit);
double rng_unit(struct rng *r);

/* Where the project's parts are; see paths.c. */
const char *path_root(void);
const char *path_build(void);
const char *path_labinit(void);
const char *path_plugins(void);
const char *path_programs(void);

#endif
