/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of a network namespace and of destinations in it: profiles.
 *
 *	a profile   value[0 .. FL_SETTINGS_MAX), one u32 a setting
 *	            [ common: struct fl_profile's fields ][ tcp_soze's ][ tcp_swift's ] ...
 *
 * An operator has four numbers to know (base RTT, line rate, noise, Soeze's alpha) and
 * two switches (telemetry, credit); they lie in /proc/sys/net/fairlane/. All others have
 * a default that is right where those are, are for researchers, and lie in
 * /proc/sys/net/fairlane/research/.
 *
 * fairlane.ko knows the common settings only. A congestion control brings a table
 * of its own: a struct of u32 fields, a struct fl_setting for each, and a
 * struct fl_settings that names both. While the control's module is registered,
 * its settings have room in every profile, a file each in
 * /proc/sys, and their names in netlink; "fairlane profile" finds
 * them there. The control reads them by fl_profile_part().
 */
#ifndef FL_SETTING_H
#define FL_SETTING_H

#include <linux/list.h>
#include <linux/types.h>

/* Most settings that a profile can have: a u64 has a bit for each. */
#define FL_SETTINGS_MAX		64

/**
 * struct fl_setting - a setting of a profile
 * @name: file name, and name in netlink
 * @offset: of its u32 in the table's struct
 * @initial: default
 * @min: smallest value
 * @max: largest value
 * @research: for researchers, not for operators
 */
struct fl_setting {
	const char *name;
	size_t offset;
	unsigned int initial;
	unsigned int min;
	unsigned int max;
	bool research;
};

/* The setting @field_ of the struct @type_, whose fields all are u32. */
#define FL_SETTING(type_, field_, initial_, min_, max_)			\
	{ .name = #field_, .offset = offsetof(type_, field_),		\
	  .initial = initial_, .min = min_, .max = max_ }

/* The same for researchers. */
#define FL_RESEARCH_SETTING(type_, field_, initial_, min_, max_)	\
	{ .name = #field_, .offset = offsetof(type_, field_),		\
	  .initial = initial_, .min = min_, .max = max_, .research = true }

/**
 * struct fl_settings - the settings that a module brings
 * @owner: who brings them, for messages
 * @table: the settings, in the order of their fields
 * @count: how many there are: the whole struct, no gaps
 * @first: number of the first one in a profile; fairlane.ko's
 * @list: all tables; fairlane.ko's
 */
struct fl_settings {
	const char *owner;
	struct fl_setting *table;
	size_t count;
	u32 first;
	struct list_head list;
};

int fl_settings_register(struct fl_settings *s);
void fl_settings_unregister(struct fl_settings *s);

#endif /* FL_SETTING_H */
