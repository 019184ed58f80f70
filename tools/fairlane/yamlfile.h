/* SPDX-License-Identifier: GPL-2.0 */
/* YAML files that people write: every mistake is told with file, line and key. */
#ifndef FAIRLANE_YAMLFILE_H
#define FAIRLANE_YAMLFILE_H

#include "tool.h"

#include <yaml.h>

/**
 * struct yaml_file - a file that is being read
 * @path: for messages
 * @doc: all of it
 * @key: the keys that lead to where reading is, with dots; for messages
 */
struct yaml_file {
	const char *path;
	yaml_document_t doc;
	char key[96];
};

typedef void yaml_pair_fn(struct yaml_file *r, const char *key,
			  yaml_node_t *value, void *arg);

yaml_node_t *yaml_open(struct yaml_file *r, const char *path);
void yaml_close(struct yaml_file *r);
void yaml_at(const struct yaml_file *r, const yaml_node_t *node);
char *yaml_text(const struct yaml_file *r, const yaml_node_t *node,
		const char *what);
yaml_node_t *yaml_node(struct yaml_file *r, int number);
void yaml_pairs(struct yaml_file *r, yaml_node_t *map, const char *what,
		yaml_pair_fn *fn, void *arg);

#endif
