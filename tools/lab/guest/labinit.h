/* SPDX-License-Identifier: GPL-2.0 */
/*
 * labinit: PID 1 of the lab's guest. What its files share.
 *
 * Errors end the run at once: lab_fail() writes one sentence to raw/status and
 * switches the machine off. So no function here returns an error unless its
 * comment says so.
 */
#ifndef LABINIT_H
#define LABINIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "plan.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define __noreturn		__attribute__((__noreturn__))

#define NS_PER_US	1000LL
#define NS_PER_MS	1000000LL
#define NS_PER_S	1000000000LL

#define LAB_OUT_DIR	"/run/lab/out"		/* the host's OUT, writable */
#define LAB_RAW_DIR	LAB_OUT_DIR "/raw"
#define LAB_HOST_DIR	"/run/lab/host"		/* the host's root, read-only */
#define LAB_NETNS_DIR	"/run/netns"

/* main.c: the course of a run */
__noreturn __printf(1, 2)
void lab_fail(const char *fmt, ...);
void lab_say(unsigned int percent, int64_t virtual_ns, const char *what);
int64_t lab_now_ns(void);

/* buffer.c: growing text, files */
struct buffer {
	char *data;
	size_t length, room;
};

void buffer_add(struct buffer *buffer, const void *data, size_t length);
__printf(2, 3)
void buffer_printf(struct buffer *buffer, const char *fmt, ...);
void buffer_read_fd(struct buffer *buffer, int fd, const char *what);
const char *buffer_one_line(struct buffer *buffer);
void buffer_free(struct buffer *buffer);
void raw_write(const char *file, const void *data, size_t length);
int file_write(const char *path, const char *text);

/* mounts.c: file systems */
void mounts_dev(void);
void mounts_make(const char *out);
void mounts_keep(const struct plan *plan);

/* module.c */
void modules_load(const struct plan *plan);

/* node.c: network namespaces */
void nodes_make(const struct plan *plan);
void nodes_remove(void);
void nodes_sysctl(const struct plan *plan);
void sysctls_write(const struct plan *plan);
void node_enter(int64_t node);
int node_netlink(int64_t node);
int node_fd(int64_t node);
const char *node_name(int64_t node);

/* link.c: network devices */
void links_make(const struct plan *plan);
void links_up(const struct plan *plan);
uint64_t links_packets(const struct plan *plan);

/* netconf.c: addresses, neighbours, routes */
void netconf_make(const struct plan *plan);

/* proc.c: commands */
struct proc {
	pid_t pid;
	int pidfd;
	int out_fd, err_fd;	/* memory files */
};

void proc_start(struct proc *proc, int64_t node, const char *const *argv,
		const char *input, size_t input_length);
int proc_finish(struct proc *proc, struct buffer *out, struct buffer *err);
void proc_text(const char *const *argv, char *text, size_t size);
void batches_run(const struct plan *plan, const struct json_list *batches,
		 const char *tool);
void fabric_load(const struct plan *plan);
int exec_run(const struct plan *plan);

/* tap.c: packet recorder */
void taps_add(const struct plan *plan);
void taps_start(const struct plan *plan);
int64_t taps_collect(const struct plan *plan);

/* collect.c: results */
void collect_run(const struct plan *plan);
void collect_netstat(const struct plan *plan);

/* teardown.c */
void leak_check(const struct plan *plan);

/* traffic.c: the course of the traffic */
struct traffic_result {
	int64_t t0_ns;
	uint64_t packets_forwarded;
	int64_t taps_lost;
};

void traffic_run(const struct plan *plan, struct traffic_result *result);
void traffic_close(void);

#endif
