// SPDX-License-Identifier: GPL-2.0
/* environment.json: versions and settings of a run, without anything that
 * differs between two runs of the same thing (no times, no folders). How fast
 * the run was on this machine goes to raw/speed.json instead.
 */
#include "results.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Hash of a file's content (FNV-1a, 64 bits) as text, "none" if unreadable. */
static const char *file_hash(const char *path)
{
	static char text[20];
	uint64_t h = 0xcbf29ce484222325ULL;
	size_t len, i;
	char *s = read_file(path, &len);

	if (!s)
		return "none";
	for (i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ULL;
	free(s);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)h);
	return text;
}

/* First line a program prints, "unknown" if it fails. */
static char *first_line(const char *a, const char *b, const char *c,
			const char *d, const char *e)
{
	int status;
	char *text = run_capture(&status, a, b, c, d, e, NULL);

	if (!text || status) {
		free(text);
		return xstrdup("unknown");
	}
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* Commit of the source tree, with "-dirty" if tracked files were changed;
 * "unknown" outside of a repository.
 */
static char *commit(void)
{
	static const char script[] =
		"g() { git -c safe.directory='*' -C \"$0\" \"$@\" 2> /dev/null; }; "
		"id=$(g rev-parse HEAD) || exit 1; "
		"[ -z \"$(g status --porcelain --untracked-files=no)\" ] || id=$id-dirty; "
		"echo \"$id\"";

	return first_line("sh", "-c", script, path_root(), NULL);
}

/* Write environment.json. */
void environment_write(const struct run *run, const char *kernel,
		       const struct strv *sets,
		       const struct module_list *modules)
{
	const struct scenario *sc = run->sc;
	cJSON *json = cJSON_CreateObject(), *o, *list;
	char *path = xasprintf("%s/environment.json", run->dir), *text;
	char *binary = kernel_binary(kernel);
	int i;

	text = commit();
	cJSON_AddStringToObject(json, "commit", text);
	free(text);
	o = cJSON_AddObjectToObject(json, "kernel");
	cJSON_AddStringToObject(o, "flavour", kernel);
	cJSON_AddStringToObject(o, "release", run->kernel);
	cJSON_AddStringToObject(o, "hash", file_hash(binary));
	list = cJSON_AddArrayToObject(json, "modules");
	for (i = 0; i < modules->name.n; i++) {
		o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "name", modules->name.s[i]);
		cJSON_AddStringToObject(o, "parameters",
					modules->params.s[i]);
		cJSON_AddStringToObject(o, "hash",
					file_hash(modules->path.s[i]));
		cJSON_AddItemToArray(list, o);
	}
	o = cJSON_AddObjectToObject(json, "tools");
	text = first_line("tc", "-V", NULL, NULL, NULL);
	cJSON_AddStringToObject(o, "tc", text);
	free(text);
	text = first_line("ip", "-V", NULL, NULL, NULL);
	cJSON_AddStringToObject(o, "ip", text);
	free(text);
	cJSON_AddStringToObject(o, "labinit", file_hash(path_labinit()));
	o = cJSON_AddObjectToObject(json, "scenario");
	cJSON_AddStringToObject(o, "hash", file_hash(sc->path));
	list = cJSON_AddArrayToObject(o, "base");
	for (i = 1; i < sc->files.n; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(file_hash(sc->files.s[i])));
	cJSON_AddItemToObject(o, "seed", json_seed(sc->seed));
	add_strings(o, "set", sets);
	o = cJSON_AddObjectToObject(json, "counts");
	cJSON_AddNumberToObject(o, "nodes", sc->nodes);
	cJSON_AddNumberToObject(o, "links", sc->links);
	cJSON_AddNumberToObject(o, "flows", sc->flows);
	cJSON_AddNumberToObject(o, "packets_x_hops", run->packets_forwarded);
	cJSON_AddNumberToObject(o, "packets_recorded", run->recs);
	text = cJSON_Print(json);
	write_file(path, text);
	cJSON_Delete(json);
	free(binary);
	free(text);
	free(path);
}

/* Write raw/speed.json and raw/speed.txt (which the report shows). */
void speed_write(const struct run *run, const struct boot *boot)
{
	double rate = run->packets_forwarded / boot->wall_s;
	char *path = xasprintf("%s/raw/speed.json", run->dir), *text;

	text = xasprintf("{\"wall_s\": %.3f, \"cpu_s\": %.3f, \"packets_x_hops\": %.0f, \"packets_x_hops_per_wall_s\": %.0f}\n",
			 boot->wall_s, boot->cpu_s, run->packets_forwarded,
			 rate);
	write_file(path, text);
	free(text);
	free(path);
	path = xasprintf("%s/raw/speed.txt", run->dir);
	text = xasprintf("%.0f packets x hops in %.2f s: %.0f a second (%.2f s of processor time)\n",
			 run->packets_forwarded, boot->wall_s, rate,
			 boot->cpu_s);
	write_file(path, text);
	printf("%s", text);
	free(text);
	free(path);
}
