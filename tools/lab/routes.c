// SPDX-License-Identifier: GPL-2.0
/* Shortest paths through the switches, all equal ones (ECMP), and the base
 * RTT that follows from them.
 */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

/* Whose distances are known, one row a destination. */
static int **row;
static const struct scenario *owner;

/* The link of @p goes down or comes up: routes are others from now on. */
void link_state(struct port *p, bool down)
{
	p->down = down;
	p->peer->down = down;
	owner = NULL;
}

/* Distance in links of every node to @to; hosts do not forward. The table is
 * kept because everything asks again.
 */
static const int *distances(const struct scenario *sc, const struct node *to)
{
	int *d, *todo, head = 0, tail = 0, i;

	if (owner != sc) {
		row = xzalloc(sc->nodes * sizeof(*row));
		owner = sc;
	}
	if (row[to->index])
		return row[to->index];
	d = xmalloc(sc->nodes * sizeof(*d));
	todo = xmalloc(sc->nodes * sizeof(*todo));
	for (i = 0; i < sc->nodes; i++)
		d[i] = -1;
	d[to->index] = 0;
	todo[tail++] = to->index;
	while (head < tail) {
		const struct node *n = sc->node[todo[head++]];

		if (n != to && !n->is_switch)
			continue;
		for (i = 0; i < n->ports; i++) {
			const struct node *next = n->port[i]->peer->node;

			if (d[next->index] >= 0 || n->port[i]->down)
				continue;
			d[next->index] = d[n->index] + 1;
			todo[tail++] = next->index;
		}
	}
	free(todo);
	row[to->index] = d;
	return d;
}

/* Number of links between two nodes, -1 if there is no way. */
int hops_between(const struct scenario *sc, const struct node *a,
		 const struct node *b)
{
	return distances(sc, b)[a->index];
}

/* Ports of @from that lie on a shortest path to @to; returns how many. */
int next_hops(const struct scenario *sc, const struct node *from,
	      const struct node *to, struct port **out)
{
	const int *d = distances(sc, to);
	int i, n = 0;

	for (i = 0; i < from->ports; i++) {
		const struct node *next = from->port[i]->peer->node;

		if (!from->port[i]->down &&
		    d[next->index] >= 0 && d[next->index] + 1 == d[from->index] &&
		    (next == to || next->is_switch))
			out[n++] = from->port[i];
	}
	return n;
}

/* Time @wire_bytes take on the line of @p, rounded to the nearest ns. */
static int64_t link_time_ns(const struct port *p, int64_t wire_bytes)
{
	return (int64_t)((wire_bytes * 8.0 * NSEC_PER_SEC) / p->p.rate_bps +
			 0.5);
}

/* The port that a packet from @src to @dst takes next on the first of the
 * shortest paths, NULL if there is none.
 */
static const struct port *first_hop(const struct scenario *sc,
				    const struct node *src,
				    const struct node *dst)
{
	struct port **hop = xmalloc(src->ports * sizeof(*hop));
	const struct port *p = next_hops(sc, src, dst, hop) ? hop[0] : NULL;

	free(hop);
	return p;
}

/* Bytes on the line of @p for a packet of @bytes of IP. */
static int wire_bytes(const struct port *p, int bytes)
{
	return (bytes + 14 < 60 ? 60 : bytes + 14) + p->p.overhead_bytes;
}

/* Time from @src to @dst for a packet of @bytes of IP, stored and forwarded,
 * without queueing; -1 if there is no path.
 */
static int64_t one_way_ns(const struct scenario *sc, const struct node *src,
			  const struct node *dst, int bytes)
{
	const struct port *p;
	int64_t ns = 0;

	for (; src != dst; src = p->peer->node) {
		p = first_hop(sc, src, dst);
		if (!p)
			return -1;
		ns += link_time_ns(p, wire_bytes(p, bytes)) + p->p.delay_ns;
	}
	return ns;
}

/* IP and TCP headers, with timestamps. */
static int header_bytes(const struct scenario *sc)
{
	return (sc->ipv6 ? 40 : 20) + 32;
}

/* Round trip of a full packet and its ACK without queueing, -1 if no path. */
int64_t base_rtt_ns(const struct scenario *sc, const struct node *src,
		    const struct node *dst)
{
	int64_t there = one_way_ns(sc, src, dst, src->port[0]->p.mtu);
	int64_t back = one_way_ns(sc, dst, src, header_bytes(sc));

	return there < 0 || back < 0 ? -1 : there + back;
}

/* When a flow with a size would be complete at its receiver if it were alone
 * and never waited for ACKs: the whole of it on the slowest line, its last
 * packet also on the others, and the handshake if that belongs to the flow.
 */
int64_t ideal_fct_ns(const struct scenario *sc, const struct flow *f)
{
	int header = header_bytes(sc), mss = f->src->port[0]->p.mtu - header;
	int64_t packets = (f->bytes + mss - 1) / mss;
	int last = f->bytes - (packets - 1) * mss + header;
	const struct node *at = f->src;
	int64_t ns = 0, extra = 0;

	while (at != f->dst) {
		const struct port *p = first_hop(sc, at, f->dst);
		int64_t tail;

		if (!p)
			return -1;
		tail = link_time_ns(p, wire_bytes(p, last));
		ns += tail + p->p.delay_ns;
		tail = (packets - 1) *
		       link_time_ns(p, wire_bytes(p, mss + header));
		if (tail > extra)
			extra = tail;
		at = p->peer->node;
	}
	if (!sc->group[f->group].connect_early)
		ns += one_way_ns(sc, f->src, f->dst, header) +
		      one_way_ns(sc, f->dst, f->src, header);
	return ns + extra;
}
