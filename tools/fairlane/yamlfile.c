// SPDX-License-Identifier: GPL-2.0
/* YAML files that people write. A mistake ends the program; what was read so far has
 * changed nothing.
 */
#include "yamlfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The place of a node, and the keys that lead there, go before what is said next. */
void yaml_at(const struct yaml_file *r, const yaml_node_t *node)
{
	snprintf(opt.where, sizeof(opt.where), "%.40s:%zu: %s%s", r->path,
		 node->start_mark.line + 1, r->key, r->key[0] ? ": " : "");
}

/* The text of a scalar; others, and those with a NUL ("\\0") that would end it, end the program. */
char *yaml_text(const struct yaml_file *r, const yaml_node_t *node,
		const char *what)
{
	yaml_at(r, node);
	if (node->type != YAML_SCALAR_NODE)
		fail("%s: a single value is wanted", what);
	if (strlen((char *)node->data.scalar.value) != node->data.scalar.length)
		fail("%s: it has a NUL byte, this is no text", what);
	return (char *)node->data.scalar.value;
}

yaml_node_t *yaml_node(struct yaml_file *r, int number)
{
	return yaml_document_get_node(&r->doc, number);
}

/**
 * yaml_pairs() - call a function for each key of a mapping
 * @r: the file
 * @map: the mapping; anything else ends the program
 * @what: what it is, for messages
 * @fn: the function
 * @arg: for @fn
 */
void yaml_pairs(struct yaml_file *r, yaml_node_t *map, const char *what,
		yaml_pair_fn *fn, void *arg)
{
	yaml_node_pair_t *pair, *other;
	size_t len = strlen(r->key);

	yaml_at(r, map);
	if (map->type != YAML_MAPPING_NODE)
		fail("%s: a mapping is wanted (key: value; an empty one is {})", what);
	for (pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_node(r, pair->key);
		const char *name = yaml_text(r, key, "a key");

		for (other = map->data.mapping.pairs.start; other < pair;
		     other++)
			if (!strcmp(name, (char *)yaml_node(r, other->key)
					  ->data.scalar.value))
				fail("key \"%s\" stands twice", name);
		snprintf(r->key + len, sizeof(r->key) - len, "%s%.32s",
			 len ? "." : "", name);
		fn(r, name, yaml_node(r, pair->value), arg);
		r->key[len] = 0;
	}
}

/* The next document of the file. */
static void load(struct yaml_file *r, yaml_parser_t *parser, yaml_document_t *doc)
{
	if (!yaml_parser_load(parser, doc))
		fail("%s:%zu: no valid YAML: %s", r->path,
		     parser->problem_mark.line + 1, parser->problem);
}

/**
 * yaml_open() - read a file
 * @r: is filled
 * @path: the file, "-": stdin
 *
 * Return: its root; what is no YAML, or more than one document, ends the program, with its line.
 */
yaml_node_t *yaml_open(struct yaml_file *r, const char *path)
{
	char *text = read_written(path);
	yaml_node_t *root;
	yaml_document_t rest;
	yaml_parser_t parser;

	r->path = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	r->key[0] = 0;
	if (!text)
		fail("%s: %s", path, strerror(errno));
	if (!yaml_parser_initialize(&parser))
		fail_kernel("out of memory");
	yaml_parser_set_input_string(&parser, (unsigned char *)text,
				     strlen(text));
	load(r, &parser, &r->doc);
	root = yaml_document_get_root_node(&r->doc);
	if (!root)
		fail("%s is empty", path);
	load(r, &parser, &rest);
	if (yaml_document_get_root_node(&rest))
		fail("%s:%zu: a second document begins (---), one is wanted", r->path,
		     rest.start_mark.line + 1);
	yaml_document_delete(&rest);
	yaml_parser_delete(&parser);
	free(text);
	return root;
}

/* All of it is read. */
void yaml_close(struct yaml_file *r)
{
	opt.where[0] = 0;
	yaml_document_delete(&r->doc);
}
