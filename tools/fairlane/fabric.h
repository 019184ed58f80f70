/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink of sch_fabric: what fabric.c and fabricload.c share. */
#ifndef FABRIC_H
#define FABRIC_H

#include <netlink/msg.h>

#include "tool.h"

/* Data in a message at most. */
#define FABRIC_DATA_BYTES	16384

/* Before messages are made; fails if sch_fabric is not loaded. */
void fabric_connect(void);
void fabric_disconnect(void);

/* A message for sch_fabric. */
struct nl_msg *fabric_message(int cmd);
void fabric_put(struct nl_msg *msg, int attr, const void *data, int len);

/* Sends it and waits for the answer; an error is the end, with what the kernel says of it. */
void fabric_send(struct nl_msg *msg, const char *what);

int cmd_fabric_load(struct words *w);

#endif /* FABRIC_H */
