// SPDX-License-Identifier: GPL-2.0
/* Checks of names that a run would only find wrong in the guest: modules, congestion
 * controls, settings, tc's words. It is the guest that knows them, so a run leaves it
 * to the guest; lab validate says it before.
 */
#include "names.h"
#include "boot.h"

#include <stdlib.h>
#include <string.h>

/* Settings have this in front; others are the kernel's. */
#define FAMILY "net.fairlane."

/* What follows the last dot. */
static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* Is there a setting of Fairlane's called as the key of @y? One with the same end is
 * meant where there is none: "research." is easily forgotten.
 */
static void setting_check(const struct ynode *y)
{
	const char **end = NULL;
	int n, guess;

	if (strncmp(y->key, FAMILY, strlen(FAMILY)))
		return;
	for (n = 0; name_settings[n]; n++) {
		if (!strcmp(y->key, name_settings[n]))
			break;
		end = grow(end, n, sizeof(*end));
		end[n] = last_part(name_settings[n]);
	}
	guess = y_guess(last_part(y->key), end, n);
	free(end);
	if (name_settings[n])
		return;
	if (guess >= 0)
		y_error(y, "there is no such setting; did you mean \"%s\"?",
			name_settings[guess]);
	else
		y_error(y, "there is no such setting (Documentation/reference/sysctl.rst has them)");
}

/* Is the control under @key one of the lab's kernel, or of our modules? */
static void control_check(const struct ynode *map, const char *key)
{
	const struct ynode *y = y_find(map, key);

	/* what a group has from group_defaults: is looked at there */
	if (y && y->parent == map && !y_is_null(y))
		y_one_of(y, y->text, name_controls);
}

/* Check the names in one mapping of the scenario. */
static void map_check(const struct ynode *map, bool controls)
{
	const struct ynode *sysctl = y_find(map, "sysctl");
	int i;

	for (i = 0; sysctl && i < sysctl->n; i++)
		setting_check(sysctl->child[i]);
	if (!controls)
		return;
	control_check(map, "cc");
	control_check(map, "receiver_cc");
}

/* Check the names in a scenario that was loaded, and end the program if one is wrong. A
 * kernel that is not the lab's may have controls and qdiscs of its own.
 */
void names_check(const struct scenario *sc, const char *kernel)
{
	static const char *const places[] = { "hosts", "switches", "ports",
					      "groups", "events" };
	const struct ynode *defaults = y_find(sc->root, "group_defaults");
	const struct ynode *modules = y_find(sc->root, "modules");
	bool lab = kernel_is_uml(kernel);
	struct tc_words words = { 0 };
	size_t i;
	int k;

	for (k = 0; modules && k < modules->n; k++)
		y_one_of(modules->child[k], modules->child[k]->key,
			 name_modules);
	map_check(sc->root, false);
	if (defaults)
		map_check(defaults, lab);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		const struct ynode *y = y_find(sc->root, places[i]);

		for (k = 0; y && k < y->n; k++) {
			map_check(y->child[k], lab);
			tc_words_read(&words, y->child[k], lab);
		}
	}
	tc_words_check(&words);
	scenario_errors(sc->path);
}
