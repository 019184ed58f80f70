/* SPDX-License-Identifier: GPL-2.0 */
/* What lab writes about a run, and what it makes of that. */
#ifndef LAB_RESULTS_H
#define LAB_RESULTS_H

#include <cjson/cJSON.h>

#include "boot.h"
#include "measures.h"

/* results.c */
void series_write(const struct run *run);
void queues_write(const struct run *run);
void flows_write(const struct run *run);

/* summary.c */
cJSON *json_value(double v);
cJSON *json_seed(int64_t seed);
void summary_write(const struct run *run, const struct values *values,
		   const struct verdicts *verdicts);
void summary_print(const struct run *run, const struct values *values,
		   const struct verdicts *verdicts);

/* environment.c */
void environment_write(const struct run *run, const char *kernel,
		       const struct strv *sets,
		       const struct module_list *modules);
void speed_write(const struct run *run, const struct boot *boot);

/* run.c */
void folder_lock(const char *dir);
char *run_folder(const char *out, const char *path);
int unclean(const struct boot *b, const char *dir, const char *why);

/* plot.c, report.c: from the files in @dir alone */
void plot_dir(const char *dir);
void report_dir(const char *dir);
cJSON *json_file(const char *dir, const char *name);
const char *json_text(const cJSON *o, const char *key);
void put_html(FILE *f, const char *s);
void put_style(FILE *f);
void put_svg(FILE *f, const char *dir, const char *name);

#endif
