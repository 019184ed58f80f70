// SPDX-License-Identifier: GPL-2.0
/* base: of the lab's scenarios: what a file inherits, changes and takes away. */
#include "unit.h"

#include "../../../tools/lab/yaml.c"

#include <sys/stat.h>

/* The runner ends without freeing what it has read. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static char *folder;
static struct strv files;

/* Writes a file of the scenario. */
static void put(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", folder, name);

	write_file(path, text);
	free(path);
}

/* What file @name amounts to. */
static struct ynode *get(const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);

	memset(&files, 0, sizeof(files));
	return yaml_load(path, &files);
}

/* The node at @path, keys and numbers separated by dots; NULL if there is none. */
static struct ynode *at(struct ynode *n, const char *path)
{
	struct strv part = { 0 };
	int i;

	strv_split(&part, path, '.');
	for (i = 0; n && i < part.n; i++)
		n = step_into(n, part.s[i]);
	return n;
}

/* Text of the value at @path. */
static const char *text_at(struct ynode *root, const char *path)
{
	struct ynode *n = at(root, path);

	return n && n->text ? n->text : "(none)";
}

/* Removes the files. */
static void clean(void)
{
	char *command = xasprintf("rm -r '%s'", folder);

	CHECK_EQ(system(command), 0);
	free(command);
}

/* Makes a folder with three files that inherit from each other. */
static void three_files(void)
{
	char *sub;

	free(folder);
	folder = xasprintf("%s/test_lab_base.XXXXXX", getenv("TMPDIR") ?: P_tmpdir);
	REQUIRE(mkdtemp(folder));
	sub = xasprintf("%s/sub", folder);
	CHECK_EQ(mkdir(sub, 0700), 0);
	free(sub);
	put("sub/ground.yaml",
	    "title: ground\n"
	    "params: {a: 1, b: 2}\n"
	    "groups:\n"
	    "  one: {from: h1, size: 1kb}\n"
	    "  two: {from: h2}\n"
	    "list: [x, y]\n"
	    "gone: {k: v}\n"
	    "file: sizes.cdf\n");
	put("middle.yaml",
	    "base: sub/ground.yaml\n"
	    "params: {b: 3}\n"
	    "groups:\n"
	    "  three: {from: h3}\n"
	    "  one: {to: h9}\n");
	put("top.yaml",
	    "title: top\n"
	    "base: middle.yaml\n"
	    "list: [z]\n"
	    "gone: null\n"
	    "never: null\n"
	    "params: 5\n"
	    "groups: {two: null, one: {size: 2kb}}\n");
}

TEST(mappings_merge_at_any_depth)
{
	struct ynode *root;

	three_files();
	root = get("middle.yaml");
	CHECK_STR(text_at(root, "params.a"), "1");
	CHECK_STR(text_at(root, "params.b"), "3");
	CHECK_STR(text_at(root, "groups.one.from"), "h1");
	CHECK_STR(text_at(root, "groups.one.size"), "1kb");
	CHECK_STR(text_at(root, "groups.one.to"), "h9");
	CHECK_STR(text_at(root, "title"), "ground");
	CHECK(!at(root, "base"));
	clean();
}

TEST(others_replace_and_null_removes)
{
	struct ynode *root, *list;

	three_files();
	root = get("top.yaml");
	list = at(root, "list");
	REQUIRE(list);
	CHECK_EQ(list->n, 1);
	CHECK_STR(text_at(root, "list.0"), "z");
	CHECK_STR(text_at(root, "params"), "5");
	CHECK(!at(root, "gone"));
	CHECK(!at(root, "groups.two"));
	CHECK_STR(text_at(root, "groups.one.size"), "2kb");
	CHECK_STR(text_at(root, "title"), "top");
	/* what the base does not have is left to those who ask for it */
	CHECK(!y_get(root, "never"));
	CHECK_EQ(files.n, 3);
	CHECK(strstr(files.s[0], "/top.yaml") && strstr(files.s[1], "/middle.yaml") &&
	      strstr(files.s[2], "/sub/ground.yaml"));
	clean();
}

TEST(keys_keep_their_places)
{
	struct ynode *root, *groups;
	int i;

	three_files();
	root = get("top.yaml");
	groups = at(root, "groups");
	REQUIRE(groups && groups->n == 2);
	CHECK_STR(groups->child[0]->key, "one");
	CHECK_STR(groups->child[1]->key, "three");
	for (i = 0; i < groups->n; i++) {
		CHECK_EQ(groups->child[i]->index, i);
		CHECK(groups->child[i]->parent == groups);
	}
	/* --set finds what was merged */
	yaml_set(root, "groups.three.from=h4");
	CHECK_STR(text_at(root, "groups.three.from"), "h4");
	CHECK_STR(text_at(root, "groups.one.from"), "h1");
	clean();
}

TEST(values_know_their_file_and_line)
{
	struct ynode *root, *n;
	char *name;

	three_files();
	root = get("top.yaml");
	n = at(root, "groups.one.from");
	REQUIRE(n);
	CHECK(strstr(n->file, "/sub/ground.yaml"));
	CHECK_EQ(n->line, 4);
	n = at(root, "groups.one.to");
	REQUIRE(n);
	CHECK(strstr(n->file, "/middle.yaml"));
	CHECK_EQ(n->line, 5);
	/* a missing key is missing in the last file that speaks of the mapping */
	n = at(root, "groups.one");
	CHECK(strstr(n->file, "/top.yaml"));
	CHECK_EQ(n->line, 7);
	n = at(root, "file");
	name = y_file(n, n->text);
	CHECK(strstr(name, "/sub/sizes.cdf"));
	free(name);
	clean();
}

UNIT_MAIN
