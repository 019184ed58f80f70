/* SPDX-License-Identifier: GPL-2.0 */
/* fairlane apply: what a file wants, compared with what is there. */
#ifndef FAIRLANE_APPLY_H
#define FAIRLANE_APPLY_H

#include "fabricfile.h"

/**
 * struct rehearsed - what a file comes to, as the kernel itself tells it
 * @settings: as settings_now() has them
 * @port: tc's text for each port of the file
 * @narrow: what its ports have no room for
 */
struct rehearsed {
	char *settings;
	char **port;
	cJSON *narrow;
};

/* rehearse.c */
void rehearse(const struct fabric_file *f, struct rehearsed *r);
void rehearsed_free(const struct fabric_file *f, struct rehearsed *r);

/* room.c */
cJSON *room_read(void);
void room_port(const cJSON *doc, const struct fabric_port *p, const char *text, uint32_t mbps,
	       cJSON *list);

/* applyport.c */
char *port_text(const char *dev);
int port_set(const char *dev, const char *options, char *said, size_t size);
int port_del(const char *dev);
void port_mtu(const char *dev, int mtu);
void port_missing(const struct fabric_port *p, cJSON *list);
int port_make(const struct fabric_port *p, const char *wanted, bool dry_run,
	      cJSON *list);

/* applyuids.c */
char *settings_here(const char *text);

/* applybefore.c */
void before_keep(const cJSON *doc, bool all);
int before_restore(void);

/* apply.c */
const char *text_at(const cJSON *obj, const char *key);
char *control_now(void);
const char *control_set(const char *name);
cJSON *apply_compare(const char *path);

#endif
