// SPDX-License-Identifier: GPL-2.0
/* Read YAML into a tree with file, line and key of every node; overrides from
 * the command line (--set) and ${parameters} are applied to that tree.
 */
#include "yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define MAX_DEPTH 40
#define MAX_BASES 8
/* Nodes that aliases and merge keys may add to those of a file. */
#define MAX_COPIES 1000000

/* How many more nodes the file that is being read may have. */
static long nodes_left;

/* Put @child into @parent under @key (NULL in a list). */
static void attach(struct ynode *parent, struct ynode *child, const char *key)
{
	child->parent = parent;
	child->key = key ? xstrdup(key) : NULL;
	child->index = parent->n;
	parent->child = grow(parent->child, parent->n, sizeof(child));
	parent->child[parent->n++] = child;
}

/* A node. Aliases of aliases would make a short file fill the memory: they are counted. */
static struct ynode *new_node(const char *file, int line)
{
	struct ynode *n;

	if (!nodes_left--)
		die("%s:%d: aliases add more than %d nodes to this file", file, line, MAX_COPIES);
	n = xzalloc(sizeof(*n));
	n->file = file;
	n->line = line;
	return n;
}

/* Deep copy, for merge keys. */
static struct ynode *copy_tree(const struct ynode *n)
{
	struct ynode *c = new_node(n->file, n->line);
	int i;

	c->kind = n->kind;
	c->text = n->text ? xstrdup(n->text) : NULL;
	for (i = 0; i < n->n; i++)
		attach(c, copy_tree(n->child[i]), n->child[i]->key);
	return c;
}

static struct ynode *convert(yaml_document_t *doc, int id, const char *file,
			     int depth);

/* Fill map @n from the document's mapping; "<<" merges another mapping. */
static void convert_map(yaml_document_t *doc, yaml_node_t *yn, struct ynode *n,
			int depth)
{
	struct ynode *merged = NULL;
	yaml_node_pair_t *p;
	int i;

	for (p = yn->data.mapping.pairs.start; p < yn->data.mapping.pairs.top;
	     p++) {
		yaml_node_t *k = yaml_document_get_node(doc, p->key);
		struct ynode *v = convert(doc, p->value, n->file, depth + 1);
		const char *key;

		if (k->type != YAML_SCALAR_NODE)
			die("%s:%zu: a key must be plain text", n->file,
			    k->start_mark.line + 1);
		key = (const char *)k->data.scalar.value;
		v->line = k->start_mark.line + 1;
		if (!strcmp(key, "<<") && v->kind == Y_MAP && !merged)
			merged = v;
		else if (y_find(n, key) || (!strcmp(key, "<<") && merged))
			die("%s:%d: %s: this key stands twice", n->file,
			    v->line, key);
		else
			attach(n, v, key);
	}
	for (i = 0; merged && i < merged->n; i++)
		if (!y_find(n, merged->child[i]->key))
			attach(n, copy_tree(merged->child[i]),
			       merged->child[i]->key);
}

/* Turn node @id of libyaml's document into ours. */
static struct ynode *convert(yaml_document_t *doc, int id, const char *file,
			     int depth)
{
	yaml_node_t *yn = yaml_document_get_node(doc, id);
	struct ynode *n = new_node(file, yn->start_mark.line + 1);
	yaml_node_item_t *it;

	if (depth > MAX_DEPTH)
		die("%s:%d: nested too deeply", file, n->line);
	switch (yn->type) {
	case YAML_MAPPING_NODE:
		n->kind = Y_MAP;
		convert_map(doc, yn, n, depth);
		break;
	case YAML_SEQUENCE_NODE:
		n->kind = Y_SEQ;
		for (it = yn->data.sequence.items.start;
		     it < yn->data.sequence.items.top; it++)
			attach(n, convert(doc, *it, file, depth + 1), NULL);
		break;
	default:
		n->kind = Y_SCALAR;
		if (memchr(yn->data.scalar.value, 0, yn->data.scalar.length))
			die("%s:%d: a text with a NUL byte", file, n->line);
		n->text = xstrdup((const char *)yn->data.scalar.value);
	}
	return n;
}

/* Say what is wrong with the text: where a construct begins that is not
 * complete, else where the parser stopped.
 */
static void parse_failed(const yaml_parser_t *p, const char *file)
{
	bool open = p->context && !strncmp(p->context, "while scanning", 14);
	size_t line = open ? p->context_mark.line : p->problem_mark.line;

	die("%s:%zu: not valid YAML: %s%s%s", file, line + 1,
	    p->problem ? p->problem : "?", p->context ? " " : "",
	    p->context ? p->context : "");
}

/* Die if another document follows: it would not be read. */
static void parse_end(yaml_parser_t *p, const char *file)
{
	yaml_document_t doc;

	if (!yaml_parser_load(p, &doc))
		parse_failed(p, file);
	if (yaml_document_get_root_node(&doc))
		die("%s:%zu: a second document begins here: a file is one scenario",
		    file, doc.start_mark.line + 1);
	yaml_document_delete(&doc);
}

/* The line of @text in which @at stands. */
static int line_of(const char *text, const char *at)
{
	int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* Parse @text as one YAML document or die, naming @file and the line. */
static struct ynode *parse(const char *text, size_t len, const char *file)
{
	const char *nul = memchr(text, 0, len);
	yaml_parser_t p;
	yaml_document_t doc;
	yaml_node_t *top;
	struct ynode *root;

	/* libyaml takes it for the end */
	if (nul)
		die("%s:%d: not valid YAML: a NUL byte", file,
		    line_of(text, nul));
	yaml_parser_initialize(&p);
	yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
	if (!yaml_parser_load(&p, &doc))
		parse_failed(&p, file);
	top = yaml_document_get_root_node(&doc);
	if (!top)
		die("%s:1: the file is empty", file);
	nodes_left = doc.nodes.top - doc.nodes.start + MAX_COPIES;
	root = convert(&doc, top - doc.nodes.start + 1, file, 0);
	yaml_document_delete(&doc);
	parse_end(&p, file);
	yaml_parser_delete(&p);
	return root;
}

/* A file named in a scenario: relative names start at the folder of the file
 * that names it.
 */
char *y_file(const struct ynode *n, const char *name)
{
	const char *slash = strrchr(n->file, '/');

	if (name[0] == '/' || !slash)
		return xstrdup(name);
	return xasprintf("%.*s/%s", (int)(slash - n->file), n->file, name);
}

/* Take child @i out of @n. */
static void detach(struct ynode *n, int i)
{
	for (n->n--; i < n->n; i++) {
		n->child[i] = n->child[i + 1];
		n->child[i]->index = i;
	}
}

/* Change mapping @base as @own says: mappings key by key; null takes a key away,
 * anything else replaces it. Keys keep their places, new ones come last.
 */
static void overlay(struct ynode *base, struct ynode *own)
{
	int i;

	base->file = own->file;
	base->line = own->line;
	for (i = 0; i < own->n; i++) {
		struct ynode *c = own->child[i], *b = y_find(base, c->key);

		if (!b) {
			attach(base, c, c->key);
		} else if (y_is_null(c)) {
			detach(base, b->index);
		} else if (b->kind == Y_MAP && c->kind == Y_MAP) {
			overlay(b, c);
		} else {
			c->parent = base;
			c->index = b->index;
			base->child[b->index] = c;
		}
	}
}

/* Load the file @path, which the node @by (NULL: the user) names; the names of
 * all files that are read go to @files.
 */
static struct ynode *load(const char *path, const struct ynode *by,
			  struct strv *files)
{
	struct ynode *root, *base;
	size_t len;
	char *text = read_file(path, &len);

	if (!text && by)
		die("%s:%d: base: cannot read %s: %s", by->file, by->line, path,
		    strerror(errno));
	if (!text)
		die("cannot read scenario %s: %s", path, strerror(errno));
	strv_addf(files, "%s", path);
	root = parse(text, len, xstrdup(path));
	if (root->kind != Y_MAP)
		die("%s:%d: a scenario is a mapping of keys", path, root->line);
	free(text);
	by = y_find(root, "base");
	if (!by)
		return root;
	if (by->kind != Y_SCALAR || y_is_null(by))
		die("%s:%d: base: name one file", by->file, by->line);
	if (files->n >= MAX_BASES)
		die("%s:%d: base: more than %d files inherit from each other; is it a circle?",
		    by->file, by->line, MAX_BASES);
	detach(root, by->index);
	base = load(y_file(by, by->text), by, files);
	overlay(base, root);
	return base;
}

/* Load a scenario and the files that it inherits from (base:), or die with one
 * sentence. Their names go to @files, the scenario's first.
 */
struct ynode *yaml_load(const char *path, struct strv *files)
{
	return load(path, NULL, files);
}

/* Child of @n named @part: key of a map or number in a list. */
static struct ynode *step_into(struct ynode *n, const char *part)
{
	char *end;
	long i;

	if (n->kind == Y_MAP)
		return y_find(n, part);
	i = strtol(part, &end, 10);
	if (n->kind != Y_SEQ || *end || i < 0 || i >= n->n)
		return NULL;
	return n->child[i];
}

/* Apply one "--set a.b.c=value". A name without dots that is a parameter sets
 * the parameter. Missing maps are made, null takes a key away; a wrong key is found
 * later like any other unknown key.
 */
void yaml_set(struct ynode *root, const char *assignment)
{
	const char *eq = strchr(assignment, '=');
	struct ynode *at = root, *value, *params = y_find(root, "params");
	struct strv part = { 0 };
	char *path;
	int i;

	if (!eq || eq == assignment)
		die("--set %s: write key=value", assignment);
	path = xasprintf("%.*s", (int)(eq - assignment), assignment);
	value = eq[1] ? parse(eq + 1, strlen(eq + 1), "--set") :
			parse("\"\"", 2, "--set");
	strv_split(&part, path, '.');
	if (part.n == 1 && params && params->kind == Y_MAP && y_find(params, path))
		at = params;
	for (i = 0; i < part.n; i++) {
		struct ynode *next = step_into(at, part.s[i]);

		if (i == part.n - 1) {
			if (next && at->kind == Y_MAP && at != params && y_is_null(value)) {
				detach(at, next->index);
			} else if (next) {
				value->parent = at;
				value->key = next->key;
				value->index = next->index;
				at->child[next->index] = value;
			} else if (at->kind == Y_MAP) {
				attach(at, value, part.s[i]);
			} else {
				die("--set %s: no such entry in the scenario",
				    path);
			}
			return;
		}
		if (!next) {
			if (at->kind != Y_MAP)
				die("--set %s: no such entry in the scenario",
				    path);
			next = xzalloc(sizeof(*next));
			next->kind = Y_MAP;
			next->file = "--set";
			next->line = 1;
			attach(at, next, part.s[i]);
		}
		at = next;
	}
}

/* Replace each ${name} in @n's text by the parameter's value. */
static void substitute(struct ynode *n, const struct ynode *params)
{
	struct buf b = { 0 };
	const char *p, *end;
	int i;

	for (i = 0; i < n->n; i++)
		substitute(n->child[i], params);
	if (!n->text || !strstr(n->text, "${"))
		return;
	for (p = n->text; *p; p++) {
		struct ynode *v;
		char *name;

		if (p[0] != '$' || p[1] != '{') {
			buf_add(&b, p, 1);
			continue;
		}
		end = strchr(p, '}');
		if (!end) {
			y_error(n, "\"${\" without \"}\"");
			break;
		}
		name = xasprintf("%.*s", (int)(end - p - 2), p + 2);
		v = params ? y_find(params, name) : NULL;
		if (v && v->kind == Y_SCALAR && v != n)
			buf_addf(&b, "%s", v->text);
		else
			y_error(n, "no parameter named %s under params:", name);
		free(name);
		p = end;
	}
	free(n->text);
	n->text = b.s ? b.s : xstrdup("");
}

/* Fill in ${name} everywhere; parameters may use ones that stand before. */
void yaml_params(struct ynode *root)
{
	struct ynode *params = y_get(root, "params");
	int i;

	if (params && params->kind != Y_MAP) {
		y_error(params, "params: is a mapping of names to values");
		return;
	}
	for (i = 0; params && i < params->n; i++) {
		params->child[i]->used = true;
		if (params->child[i]->kind != Y_SCALAR)
			y_error(params->child[i], "a parameter is one value");
		substitute(params->child[i], params);
	}
	substitute(root, params);
}
