/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plan of a run, as the guest's init executes it: read from plan.json,
 * names of nodes resolved to indices.
 * Times are in ns from time zero unless said otherwise.
 */
#ifndef LAB_PLAN_H
#define LAB_PLAN_H

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "json.h"

#define PLAN_NODE_NAME_MAX	64
#define PLAN_RECORDS_DEFAULT	4000000
#define PLAN_NO_NODE		(-1)

/* A name and a value: sysctl, environment. */
struct plan_pair {
	const char *name;
	const char *value;
};

struct plan_module {
	const char *path;
	const char *params;
};

struct plan_node {
	const char *name;
	struct json_list sysctl;	/* struct plan_pair */
};

struct plan_mac {
	uint8_t byte[ETH_ALEN];
	bool given;
};

struct plan_end {
	int64_t node;			/* index into nodes */
	const char *dev;
	struct plan_mac mac;
	bool offload;
	int64_t mtu;			/* 0: the kernel's default */
	int64_t rate_bps, delay_ns, overhead_bytes, ring_pkts;
	int64_t noise_seed;
	int64_t gso_max_segs;		/* 0: the kernel's default */
	int64_t txqueuelen;		/* the same */
	struct json_list noise_ns;	/* uint32_t */
};

enum plan_link_kind { PLAN_LABLINK, PLAN_VETH };

struct plan_link {
	enum plan_link_kind kind;
	struct plan_end end[2];
};

/* Lines for `ip -batch` or `tc -batch` inside one node. */
struct plan_batch {
	int64_t node;
	struct json_list lines;		/* const char * */
};

/* A node with ports of sch_fabric that must know the routes of all switches. */
struct plan_fabric {
	int64_t node;
};

struct plan_tap {
	int64_t tap;
	int64_t node;
	const char *dev;
};

struct plan_addr {
	int family;
	union {
		struct in_addr v4;
		struct in6_addr v6;
	};
};

/* An address of a node. */
struct plan_netaddr {
	int64_t node;
	const char *dev;
	struct plan_addr addr;
	int64_t bits;
};

/* A permanent neighbour. */
struct plan_neigh {
	int64_t node;
	const char *dev;
	struct plan_addr addr;
	struct plan_mac mac;
};

/* One way of a route: a gateway that is reached through a device. */
struct plan_hop {
	const char *dev;
	struct plan_addr via;
};

struct plan_route {
	int64_t node;
	struct plan_addr dst, src;	/* src: family 0 if none */
	int64_t bits;
	bool quickack;
	struct json_list hops;		/* struct plan_hop */
};

enum plan_connect { PLAN_CONNECT_EARLY, PLAN_CONNECT_AT_START };

struct plan_flow {
	int64_t id;			/* its place */
	int64_t src, dst;		/* nodes */
	struct plan_addr src_addr, dst_addr;
	int64_t sport, dport;
	const char *cc, *rcv_cc;	/* NULL: the node's default */
	int64_t so_priority, weight_milli, dscp;
	int64_t start_ns, stop_ns;	/* stop: -1 none */
	int64_t bytes;			/* -1 until stop */
	enum plan_connect connect;
	int64_t rcvbuf, sndbuf;		/* 0: the generator chooses */
	int64_t deadline_us;		/* 0: none */
	int64_t base_rtt_ns;		/* 0: not told */
	bool quickack;
	bool whole;			/* into the socket buffer at once */
	bool stock_buffers;		/* the generator sets none, and no first window */
};

/* Flows that start when others have been delivered; their start_ns counts from
 * then.
 */
struct plan_gate {
	struct json_list after;		/* int64_t, places in flows */
	struct json_list flows;		/* the same */
	int64_t delay_ns;		/* from the last delivery to the opening */
};

/* What happens at a time: a command, or changes of flows. */
struct plan_event {
	int64_t at_ns;
	int64_t node;
	struct json_list argv;		/* const char *, NULL at the end */
	struct json_list flows;		/* int64_t, places in flows */
	struct json_list stop;		/* the same */
	int64_t so_priority;		/* -1: no change */
	int64_t weight_milli;		/* -1: no change */
	const char *cc;			/* NULL: no change */
};

struct plan_sample {
	int64_t interval_ns;		/* 0: no samples */
	struct json_list flows;		/* int64_t, places in flows */
};

struct plan_collect {
	int64_t node;
	struct json_list argv;
	const char *file;
};

struct plan_exec {
	struct json_list argv;
	int64_t node;
};

struct plan {
	const char *out;
	struct json_list env;		/* struct plan_pair */
	struct json_list modules;	/* struct plan_module */
	struct json_list sysctl;	/* struct plan_pair */
	struct json_list nodes;		/* struct plan_node */
	struct json_list links;		/* struct plan_link */
	struct json_list addr;		/* struct plan_netaddr */
	struct json_list neigh;		/* struct plan_neigh */
	struct json_list route;		/* struct plan_route */
	struct json_list ip, tc;	/* struct plan_batch */
	struct json_list fabric;	/* struct plan_fabric */
	const char *fabric_routes;
	struct json_list taps;		/* struct plan_tap */
	int64_t tap_records_max;
	struct json_list flows;		/* struct plan_flow */
	struct json_list gates;		/* struct plan_gate */
	struct json_list events;	/* struct plan_event */
	struct plan_sample sample;
	int64_t end_ns;
	struct json_list collect;	/* struct plan_collect */
	struct plan_exec exec;
	bool leak_check;
	cJSON *document;		/* owns all texts */
	struct json_block *blocks;	/* all lists */
};

/* Element of a list, with its type. */
#define PLAN_ITEM(type, list, index) (&((type *)(list).items)[index])

struct plan *plan_read(const char *text, size_t length, char *error,
		       size_t error_size);
char *plan_read_out(const char *text, size_t length);
void plan_free(struct plan *plan);

#endif
