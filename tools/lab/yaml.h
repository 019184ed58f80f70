/* SPDX-License-Identifier: GPL-2.0 */
/* A YAML file as a tree in which every node knows its file, line and key, so
 * that errors can name them, and in which unknown keys are found.
 */
#ifndef LAB_YAML_H
#define LAB_YAML_H

#include "util.h"

enum ykind { Y_SCALAR, Y_SEQ, Y_MAP };

struct ynode {
	enum ykind kind;
	const char *file;
	int line;
	char *key;		/* name in the parent map, NULL in a list */
	int index;		/* place in the parent */
	char *text;		/* of a scalar */
	struct ynode *parent;
	struct ynode **child;
	int n;
	bool used;		/* somebody asked for it */
	struct strv asked;	/* keys somebody asked this map for */
};

struct ynode *yaml_load(const char *path, struct strv *files);
void yaml_set(struct ynode *root, const char *assignment);
void yaml_params(struct ynode *root);

char *y_file(const struct ynode *n, const char *name);
void y_error(const struct ynode *n, const char *fmt, ...) PRINTF(2, 3);
int y_errors(void);
void y_check_unknown(const struct ynode *root);
int y_guess(const char *word, const char *const *names, int n);
int y_one_of(const struct ynode *n, const char *s, const char *const *names);

struct ynode *y_find(const struct ynode *map, const char *key);
struct ynode *y_get(struct ynode *map, const char *key);
struct ynode *y_need(struct ynode *map, const char *key);
bool y_is_map(struct ynode *n);
bool y_is_null(const struct ynode *n);

const char *y_text(struct ynode *map, const char *key, const char *dflt);
int64_t y_int(struct ynode *map, const char *key, int64_t dflt, int64_t min,
	      int64_t max);
double y_real(struct ynode *map, const char *key, double dflt, double min,
	      double max);
bool y_bool(struct ynode *map, const char *key, bool dflt);
int64_t y_time(struct ynode *map, const char *key, int64_t dflt);
int64_t y_rate(struct ynode *map, const char *key, int64_t dflt);
int64_t y_size(struct ynode *map, const char *key, int64_t dflt);
void y_at_most(struct ynode *map, const char *key, int64_t value, int64_t max,
	       const char *text);
void y_list(struct ynode *map, const char *key, struct strv *out);
int y_choice(struct ynode *map, const char *key, const char *const *names,
	     int dflt);
const char *y_scalar(struct ynode *n);

#endif
