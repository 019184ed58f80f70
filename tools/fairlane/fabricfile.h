/* SPDX-License-Identifier: GPL-2.0 */
/* fabric.yaml: what the fabric is, in one file (Documentation/guide/fabric-file.rst). */
#ifndef FAIRLANE_FABRICFILE_H
#define FAIRLANE_FABRICFILE_H

#include "tool.h"

#define FABRIC_FILE	"/etc/fairlane/fabric.yaml"

/* A class of 16 words and a comment. */
#define FABRIC_WORDS	40

/**
 * struct fabric_step - a setting of the file, as a command
 * @where: file, line and key, for messages
 * @words: the command line
 * @n: how many
 * @top: of a key that stands at the top of the file
 */
struct fabric_step {
	char *where;
	char *words[FABRIC_WORDS];
	int n;
	bool top;
};

/**
 * struct fabric_port - a port of a router
 * @where: file, line and key, for messages
 * @dev: its device
 * @netns: the network namespace of the device; NULL: that of the command
 * @options: words after "fabric", as tc takes them
 */
struct fabric_port {
	char *where;
	char *dev;
	char *netns;
	char *options;
};

/**
 * struct fabric_file - all that a file says
 * @step: settings, in the order of the file
 * @steps: how many
 * @port: ports
 * @ports: how many
 * @control: congestion control of new sockets; NULL: not said
 * @control_where: where that stands
 * @all: for all network namespaces of the host, not only for one
 */
struct fabric_file {
	struct fabric_step *step;
	size_t steps;
	struct fabric_port *port;
	size_t ports;
	char *control;
	char *control_where;
	bool all;
};

void fabric_file_read(struct fabric_file *f, const char *path);
void fabric_file_free(struct fabric_file *f);

#endif
