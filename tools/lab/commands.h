/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of lab. Each takes its own arguments and returns the exit
 * code.
 */
#ifndef LAB_COMMANDS_H
#define LAB_COMMANDS_H

#include "util.h"

int cmd_run(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* Options that several commands share. */
struct options {
	const char *out;
	const char *kernel;
	int64_t seed;		/* -1: the scenario's */
	struct strv sets;
	bool quiet, leak_check;
	struct strv rest;	/* what is not an option */
};

/* Shared options that not all commands know; --kernel they all do. */
enum option_bits {
	OPTION_OUT = 1,
	OPTION_SEED = 2,
	OPTION_SET = 4,
	OPTION_QUIET = 8,
	OPTION_LEAK_CHECK = 16,
};

void options_init(struct options *o);
void options_check(const struct options *o);
bool option_is(const char *arg, const char *name);
int64_t option_seed(const char *what, const char *text);
bool option_common(struct options *o, int known, int argc, char **argv, int *i);
const char *option_value(int argc, char **argv, int *i);

#endif
