// SPDX-License-Identifier: GPL-2.0
/* What the packet recorders saw: which flow, how much payload, and bytes
 * binned over time. A packet counts in a bin with that part of its bytes that
 * was on the line during the bin, so a full line is exactly 1.0.
 */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SPORT	20000
#define FIRST_DPORT	10000
#define SPORTS		40000

/* Number of the flow a record belongs to, -1 if none; *data tells whether it
 * goes from the sender to the receiver.
 */
int rec_flow(const struct run *run, const struct labtap_rec *r, bool *data)
{
	int s = r->sport, d = r->dport, id;

	*data = s >= FIRST_SPORT;
	if (!*data) {
		s = r->dport;
		d = r->sport;
	}
	if (s < FIRST_SPORT || s >= FIRST_SPORT + SPORTS || d < FIRST_DPORT ||
	    d >= FIRST_SPORT)
		return -1;
	id = (d - FIRST_DPORT) * SPORTS + s - FIRST_SPORT;
	return id < run->sc->flows ? id : -1;
}

/* Payload bytes of a TCP packet. The high half of kind is the TCP header's
 * length in words; a recorder that does not say it leaves 0, then 32 bytes are
 * assumed (timestamps, nothing else).
 */
int rec_payload(const struct run *run, const struct labtap_rec *r)
{
	const struct port *p = run->sc->tap[r->tap];
	int header = r->kind >> 4 ? 4 * (r->kind >> 4) : 32;
	int frame = r->wire_len - p->p.overhead_bytes;
	int payload = frame - 14 - (run->sc->ipv6 ? 40 : 20) - header;

	/* the shortest frame is padded, not filled */
	return payload > 0 && frame > 60 ? payload : 0;
}

/* Start of the transmission, relative to time zero. */
int64_t rec_time(const struct run *run, const struct labtap_rec *r)
{
	return (int64_t)r->t_ns - run->t0_ns;
}

/* Is its DSCP one of @dscps, or @dscps nothing? */
bool rec_has_dscp(const struct labtap_rec *r, uint64_t dscps)
{
	return !dscps || dscps >> (r->tos >> 2) & 1;
}

/* What a full line carries in @ns. */
double line_bytes(const struct port *port, int64_t ns)
{
	return port->p.rate_bps * (double)ns / 8e9;
}

/* Bytes of a record that count for @part. */
static double part_bytes(const struct run *run, const struct labtap_rec *r,
			 enum packet_part part, bool data)
{
	int payload;

	if (part == PART_WIRE)
		return r->wire_len;
	payload = data ? rec_payload(run, r) : 0;
	if (!payload)
		return 0;
	return part == PART_PAYLOAD ? payload : r->wire_len;
}

/* First record at or after @ns; records are in order of time. */
static size_t first_record(const struct run *run, int64_t ns)
{
	size_t lo = 0, hi = run->recs;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (rec_time(run, &run->rec[mid]) < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Spread @bytes sent from @a to @b (ns) over the bins that start at @from. */
static void spread(double *bins, int n, int64_t from_ns, int64_t bin_ns,
		   double a, double b, double bytes)
{
	double per_ns = b > a ? bytes / (b - a) : 0;
	int i;

	a -= from_ns;
	b -= from_ns;
	if (b <= 0 || a >= (double)n * bin_ns)
		return;
	i = a > 0 ? (int)(a / bin_ns) : 0;
	for (; i < n && (double)i * bin_ns < b; i++) {
		double lo = (double)i * bin_ns, hi = lo + bin_ns;

		if (lo < a)
			lo = a;
		if (hi > b)
			hi = b;
		if (hi > lo)
			bins[i] += (hi - lo) * per_ns;
	}
}

/* Was the packet, of flow @f if that is not negative, recorded at @port? NULL means the
 * last link on its way: others that are recorded see the same packet, too.
 */
static bool rec_at(const struct run *run, const struct labtap_rec *r,
		   const struct port *port, int f)
{
	const struct port *p = run->sc->tap[r->tap];

	return port ? p == port : f >= 0 && p->peer->node == run->sc->flow[f].dst;
}

/* Longest time from the start of a transmission until the packet is through. */
static int64_t longest_ns(const struct run *run, bool at_receiver)
{
	double longest = 0;
	int i;

	for (i = 0; i < run->sc->taps; i++) {
		const struct link_params *p = &run->sc->tap[i]->p;
		double ns = run->longest_wire * 8e9 / p->rate_bps +
			    (at_receiver ? p->delay_ns : 0);

		if (ns > longest)
			longest = ns;
	}
	return longest + 1;
}

/* Bytes of each group in each bin, groups x bins, seen at @port, or on the last links if
 * that is NULL. With @at_receiver the time is that of the arrival at the far end.
 * Only packets with one of @dscps, 0: all. If @all is given it gets the bytes of everything, known
 * flows or not.
 */
double *bins_by_group(const struct run *run, const struct port *port,
		      enum packet_part part, int64_t from_ns, int64_t bin_ns,
		      int bins, bool at_receiver, uint64_t dscps, double *all)
{
	const struct scenario *sc = run->sc;
	double *out = xzalloc(sizeof(*out) * sc->groups * bins + 1);
	int64_t to_ns = from_ns + bins * bin_ns;
	size_t i = first_record(run, from_ns - longest_ns(run, at_receiver));

	for (; i < run->recs; i++) {
		const struct labtap_rec *r = &run->rec[i];
		const struct port *p = sc->tap[r->tap];
		double start = rec_time(run, r), end, bytes;
		bool data;
		int f;

		if (start >= to_ns)
			break;
		if ((r->kind & 15) != LABTAP_KIND_TX || !rec_has_dscp(r, dscps))
			continue;
		f = rec_flow(run, r, &data);
		if (!rec_at(run, r, port, f))
			continue;
		bytes = part_bytes(run, r, part, data);
		if (bytes == 0 || (!all && f < 0))
			continue;
		if (at_receiver)
			start += p->p.delay_ns;
		end = start + r->wire_len * 8e9 / p->p.rate_bps;
		if (all)
			spread(all, bins, from_ns, bin_ns, start, end, bytes);
		if (f >= 0 && data)
			spread(out + (size_t)sc->flow[f].group * bins, bins,
			       from_ns, bin_ns, start, end, bytes);
	}
	return out;
}

/* Bytes of each flow that @port, or without it the last link, began to send in a window. */
double *bytes_by_flow(const struct run *run, const struct port *port,
		      enum packet_part part, int64_t from_ns, int64_t to_ns)
{
	double *out = xzalloc(sizeof(*out) * run->sc->flows);
	size_t i;

	for (i = first_record(run, from_ns); i < run->recs; i++) {
		const struct labtap_rec *r = &run->rec[i];
		bool data;
		int f;

		if (rec_time(run, r) >= to_ns)
			break;
		if ((r->kind & 15) != LABTAP_KIND_TX)
			continue;
		f = rec_flow(run, r, &data);
		if (f >= 0 && data && rec_at(run, r, port, f))
			out[f] += part_bytes(run, r, part, data);
	}
	return out;
}
