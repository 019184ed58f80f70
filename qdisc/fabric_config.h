/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric: what fabric_band_config.c (settings of a band) and fabric_config.c
 * (settings of the port) share.
 */
#ifndef FABRIC_CONFIG_H
#define FABRIC_CONFIG_H

#include "fabric.h"

/**
 * struct fabric_text - what the refusal of a number says
 * @type: attribute
 * @text: the text
 */
struct fabric_text {
	u16 type;
	const char *text;
};

/* A range of numbers. Not const: policies of older kernels point to them as to something
 * that may be written.
 */
#define FABRIC_RANGE(name, from, to) \
	static struct netlink_range_validation name = \
		{ .min = (from), .max = (to) }

void fabric_name_range(struct netlink_ext_ack *extack,
		       const struct fabric_text *texts, size_t count);

#endif /* FABRIC_CONFIG_H */
