/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network of net.h without packets: flows are rates, links are integrals. For
 * flows by the million, which packets cannot afford.
 */
#ifndef SCALE_FLUID_H
#define SCALE_FLUID_H

#include "net.h"

struct fluid;

struct fluid *fluid_new(struct net *n);
void fluid_free(struct fluid *fd);
void fluid_start(struct fluid *fd, u32 f, int64_t at_ps);
void fluid_settled(struct fluid *fd, u32 f);
void fluid_run(struct fluid *fd, int64_t until_ps);

#endif
