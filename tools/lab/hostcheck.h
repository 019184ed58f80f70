/* SPDX-License-Identifier: GPL-2.0 */
/* What the host offers to a guest. */
#ifndef LAB_HOSTCHECK_H
#define LAB_HOSTCHECK_H

#include <stdbool.h>

/* A guest of the usual size writes less than this to its memory file. */
#define TMP_NEED_BYTES	1e9

bool folder_maps_exec(const char *folder);
double folder_free_bytes(const char *folder);
const char *const *tmp_folders(void);

#endif
