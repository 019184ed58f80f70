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
void fluid_start(struct fluid *fd, u32 f, double at_ns);
void fluid_settled(struct fluid *fd, u32 f);
void fluid_run(struct fluid *fd, double until_ns);

#endif
