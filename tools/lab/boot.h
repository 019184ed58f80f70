/* SPDX-License-Identifier: GPL-2.0 */
/* Start a guest and stay with it until it has switched itself off. */
#ifndef LAB_BOOT_H
#define LAB_BOOT_H

#include "util.h"

struct boot {
	const char *kernel;	/* flavour: uml, uml-debug, debian-6.12 … */
	const char *dir;	/* run's folder; holds raw/plan.json */
	uint64_t seed;
	bool exec;		/* stream the command's output to stdout */
	bool leak_check;
	bool quiet;		/* no progress */
	bool passing;		/* the folder goes with the run */
	int boots;		/* so far */
	double wall_s;		/* filled in: how long it took */
	double cpu_s;		/* and how much processor time */
	struct buf trouble;	/* what the kernel complained about */
};

char *kernel_binary(const char *kernel);
char *boot_guest(struct boot *b);

/* machine.c */
bool kernel_is_uml(const char *kernel);
void kernel_known(const char *kernel);
char *machine_kernel(const char *kernel);
void machine_exec(const struct boot *b, const char *image, const char *tmp);

/* kernellog.c */
struct kernellog {
	int after;		/* lines still to keep after a bad one */
	int bad;		/* reports so far */
	struct buf report;
};

void kernellog_line(struct kernellog *k, const char *line);

/* progress.c */
struct progress {
	bool quiet, tty, shown;
	int percent;
	double start_s;
};

void progress_init(struct progress *p, bool quiet);
void progress_line(struct progress *p, const char *line);
void progress_end(struct progress *p);
double wall_seconds(void);

/* hostcheck.c */
char *guest_tmp(void);

#endif
