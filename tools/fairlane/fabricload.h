/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network's file of routes: what fabricload.c (the file, telling the kernel) and
 * fabricask.c (is it what this kernel does?) share.
 */
#ifndef FABRICLOAD_H
#define FABRICLOAD_H

#include <stddef.h>
#include <stdint.h>

#include <linux/fairlane.h>

/**
 * struct fabric_file - a network, as netlink wants it
 * @name: the file's
 * @sw: switches
 * @switches: how many
 * @prefix: destinations
 * @prefixes: how many
 * @group: next hops of one line of the file each
 * @groups: how many
 * @via: all next hops
 * @vias: how many
 * @route: group of each switch for each prefix
 */
struct fabric_file {
	const char *name;
	struct fabric_table_switch *sw;
	size_t switches;
	struct fabric_table_prefix *prefix;
	size_t prefixes;
	struct fabric_table_group *group;
	size_t groups;
	struct fabric_table_via *via;
	size_t vias;
	uint16_t *route;
};

/**
 * fabric_ask() - does this kernel route as the file says? If not, that is the end
 * @f: the file
 * @self: index of a switch of this namespace
 * @device: its ports' devices, 0: none
 */
void fabric_ask(const struct fabric_file *f, size_t self, const int32_t *device);

#endif /* FABRICLOAD_H */
