/* SPDX-License-Identifier: GPL-2.0 */
/* What a finished run left behind, in memory. */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "scenario.h"
#include "kmod/labtap.h"

/* A line of the guest's raw/flows.csv; times relative to time zero, NEVER if
 * it did not happen.
 */
struct flow_result {
	bool seen;
	int64_t connect_ns, start_ns, end_ns;
	int64_t bytes_sent, bytes_acked, bytes_received;
	int64_t retransmits;
	char state[24];
};

struct run {
	const struct scenario *sc;
	const char *dir;	/* NULL: nothing happened, there are no files */
	int64_t t0_ns;
	char *kernel;		/* release of the guest's kernel */
	double packets_forwarded;
	const struct labtap_rec *rec;
	size_t recs;
	int longest_wire;	/* of all records, bytes */
	struct flow_result *flow;	/* by flow number */
};

/* runfiles.c */
char *run_load(struct run *run, const struct scenario *sc, const char *dir);
int64_t run_start_ns(const struct run *run, const struct flow *f);

/* packets.c */
enum packet_part {
	PART_WIRE,		/* every byte on the line */
	PART_DATA_WIRE,		/* line bytes of packets with payload */
	PART_PAYLOAD,		/* payload bytes */
};

int rec_flow(const struct run *run, const struct labtap_rec *r, bool *data);
int rec_payload(const struct run *run, const struct labtap_rec *r);
int64_t rec_time(const struct run *run, const struct labtap_rec *r);
double *bins_by_group(const struct run *run, const struct port *port,
		      enum packet_part part, int64_t from_ns, int64_t bin_ns,
		      int bins, bool at_receiver, uint64_t dscps, double *all);
bool rec_has_dscp(const struct labtap_rec *r, uint64_t dscps);
double *bytes_by_flow(const struct run *run, const struct port *port,
		      enum packet_part part, int64_t from_ns, int64_t to_ns);
double line_bytes(const struct port *port, int64_t ns);

#endif
