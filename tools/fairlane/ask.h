/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands that speak netlink themselves share (ask.c). */
#ifndef FAIRLANE_ASK_H
#define FAIRLANE_ASK_H

#include "private.h"
#include "tool.h"

void ask_dump(int cmd, fl_reply_fn fn, int max, void *arg);
void ask_do(struct fairlane *f, struct nl_msg *msg, fl_reply_fn fn, int max,
	    void *arg, const char *what);
struct nl_msg *ask_message(struct fairlane *f, int cmd, int flags);
void ask_u8(struct nl_msg *msg, int attr, uint8_t v);
void ask_u16(struct nl_msg *msg, int attr, uint16_t v);
void ask_u32(struct nl_msg *msg, int attr, uint32_t v);
void ask_u64(struct nl_msg *msg, int attr, uint64_t v);
void ask_text(struct nl_msg *msg, int attr, const char *s);
void ask_bytes(struct nl_msg *msg, int attr, const void *data, int len);
const char *cgroup_word(const char *s);
bool cgroup_number(const char *s, uint64_t *id);
bool cgroup_gone(const char *path, uint64_t id);
void cgroup_save(FILE *out, const char *path, uint64_t id, bool exact);

#endif
