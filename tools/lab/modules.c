// SPDX-License-Identifier: GPL-2.0
/* Which kernel modules a run needs: the scenario's own list, and what its
 * links, qdiscs and congestion controls ask for.
 */
#include "scenario.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Add the modules that the one in file @path says it needs: a list after "depends="
 * in its .modinfo. Those that were not built here are the kernel's own.
 */
static void add_needed(struct module_list *out, const char *kernel,
		       const char *path)
{
	static const char mark[] = "depends=";
	size_t bytes;
	char *text = read_file(path, &bytes);
	const char *at = memmem(text, bytes, mark, strlen(mark));
	struct strv name = { 0 };
	int i;

	/* the list ends with a zero, the file is longer than it */
	if (at)
		strv_split(&name, at + strlen(mark), ',');
	for (i = 0; i < name.n; i++)
		module_add(out, kernel, name.s[i], NULL, false);
	free(text);
}

/* Add module @name once if its file was built for @kernel, after those it needs. If
 * it is required and was not built, say how to build it.
 */
void module_add(struct module_list *out, const char *kernel, const char *name,
		const char *params, bool required)
{
	char *path = xasprintf("%s/mod/%s/%s.ko", path_build(), kernel, name);

	if (strv_has(&out->name, name)) {
		free(path);
		return;
	}
	if (access(path, R_OK)) {
		if (required)
			die("module %s is not built for kernel %s (%s is missing): scripts/modules %s",
			    name, kernel, path, kernel);
		free(path);
		return;
	}
	add_needed(out, kernel, path);
	strv_addf(&out->name, "%s", name);
	strv_add(&out->path, path);
	strv_addf(&out->params, "%s", params ? params : "");
}

/* Add "<prefix><word>" for each word of @text that is the name of a module. What
 * follows a dash is a variant that the same module has.
 */
static void add_words(const struct scenario *sc, struct module_list *out,
		      const char *kernel, const char *prefix, const char *text)
{
	struct strv word = { 0 };
	int i;

	strv_split(&word, text, ' ');
	for (i = 0; i < word.n; i++) {
		char *name;

		if (strchr(word.s[i], '/'))
			continue;
		name = xasprintf("%s%s", prefix, word.s[i]);
		name[strcspn(name, "-")] = '\0';
		module_add(out, kernel, name, pairs_get(&sc->modules, name),
			   !strcmp(name, "sch_fabric"));
		free(name);
	}
}

/* Is one of Fairlane's settings set? */
static bool has_settings(const struct pairs *sysctl)
{
	static const char family[] = "net.fairlane.";
	int i;

	for (i = 0; i < sysctl->n; i++)
		if (!strncmp(sysctl->key[i], family, strlen(family)))
			return true;
	return false;
}

/* Add all congestion controls that were built: a setting comes with its control, and a
 * scenario may set it where no flow has that control.
 */
static void add_controls(struct module_list *out, const char *kernel)
{
	char *pattern = xasprintf("%s/mod/%s/tcp_*.ko", path_build(), kernel);
	glob_t found;
	size_t i;

	if (!glob(pattern, 0, NULL, &found)) {
		for (i = 0; i < found.gl_pathc; i++) {
			char *name = strrchr(found.gl_pathv[i], '/') + 1;

			name[strcspn(name, ".")] = '\0';
			module_add(out, kernel, name, NULL, false);
		}
		globfree(&found);
	}
	free(pattern);
}

/* Everything @sc needs in @kernel. What a kernel has built in is not there as
 * a file and is left out; the guest says so if it lacks it, too.
 */
void modules_for(const struct scenario *sc, const char *kernel,
		 struct module_list *out)
{
	const struct pairs *m = &sc->modules;
	bool lablink = false, veth = false, settings = has_settings(&sc->sysctl);
	int i, k, c;

	module_add(out, kernel, "fairlane", pairs_get(m, "fairlane"), false);
	for (i = 0; i < sc->groups; i++) {
		add_words(sc, out, kernel, "tcp_", sc->group[i].cc);
		if (sc->group[i].receiver_cc)
			add_words(sc, out, kernel, "tcp_",
				  sc->group[i].receiver_cc);
	}
	for (i = 0; i < sc->events; i++)
		if (sc->event[i].cc)
			add_words(sc, out, kernel, "tcp_", sc->event[i].cc);
	for (i = 0; i < sc->nodes; i++) {
		settings |= has_settings(&sc->node[i]->sysctl);
		for (k = 0; k < sc->node[i]->ports; k++) {
			const struct port *p = sc->node[i]->port[k];

			lablink |= !p->p.veth;
			veth |= p->p.veth;
			if (!p->tc.n)
				add_words(sc, out, kernel, "sch_", p->qdisc);
			for (c = 0; c < p->tc.n; c++)
				add_words(sc, out, kernel, "sch_",
					  p->tc.s[c]);
		}
	}
	if (settings)
		add_controls(out, kernel);
	if (lablink)
		module_add(out, kernel, "lablink", pairs_get(m, "lablink"),
			   true);
	if (veth)
		module_add(out, kernel, "veth", NULL, false);
	if (sc->taps)
		module_add(out, kernel, "labtap", pairs_get(m, "labtap"),
			   true);
	for (i = 0; i < m->n; i++)
		module_add(out, kernel, m->key[i], m->value[i], true);
}
