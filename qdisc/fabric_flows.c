// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: what a border router (MLCC) does with packets.
 *
 *	role lan	data waits in its connection's queue until its host's rate allows, then
 *			goes to its band; its load begins anew
 *	role wan	the load that an ACK echoes is the credit loop's; the sender is told a
 *			rate instead
 *	role wan	the load of data is read behind the port's own, and begins anew
 *	role lan	it is told to the sender in an ACK, or in a message if none comes
 *
 * Believed are segments as they come: a router cannot know TCP's windows. An ACK's load counts if
 * it came in by a port of role lan and acknowledges what has left a queue.
 */
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "fabric_border.h"
#include "core/opt.h"
#include "lib/load.h"
#include "lib/telemetry.h"

/* Packets that leave their queues at once at most. */
#define FABRIC_RELEASE_MAX	32
/* After so many packets of data without an ACK that tells, a message does. */
#define FABRIC_NEAR_PKTS	16
/* Two to this many long round trips are a pause, as for the sender (FL_GUIDED_IDLE_RTTS). */
#define FABRIC_NEAR_PAUSE_SHIFT	4
/* Connections that a shared queue can tell apart. */
#define FABRIC_SEEN_BITS	64

/**
 * struct fabric_segment - a TCP segment
 * @src: address, IPv4 as ::ffff:a.b.c.d
 * @dst: likewise
 * @src_port: TCP port
 * @dst_port: likewise
 * @offset: of the TCP header from skb->data
 * @header_bytes: of it
 * @payload_bytes: behind it
 * @seq: sequence number
 * @ack: acknowledgment number, if @acks
 * @acks: it has one
 * @syn: SYN is set
 * @fin: FIN is set, which has a sequence number
 * @ends: FIN or RST is set
 * @at: offset of the option with a load in the header, 0: there is none
 * @forward: its first half
 * @reverse: its second
 */
struct fabric_segment {
	struct in6_addr src;
	struct in6_addr dst;
	__be16 src_port;
	__be16 dst_port;
	int offset;
	int header_bytes;
	u32 payload_bytes;
	u32 seq;
	u32 ack;
	bool acks;
	bool syn;
	bool fin;
	bool ends;
	int at;
	u16 forward;
	u16 reverse;
};

static const struct fabric_opt fabric_flows_option = {
	.kind = FL_TELEMETRY_KIND,
	.bytes = FL_TELEMETRY_BYTES,
	.exid = FL_LOAD_EXID,
};

/* ---- what a segment says ------------------------------------------------------------ */

/* Addresses, and where TCP begins. Return: bytes of the IP packet behind that, or -1. */
static int fabric_segment_ip(const struct sk_buff *skb, struct fabric_segment *s)
{
	const union fabric_ip *ip;
	union fabric_ip buffer;
	int version, bytes;

	ip = fabric_find_tcp(skb, &buffer, &version, &s->offset);
	if (!ip)
		return -1;
	if (version == 4) {
		ipv6_addr_set_v4mapped(ip->v4.saddr, &s->src);
		ipv6_addr_set_v4mapped(ip->v4.daddr, &s->dst);
		bytes = ntohs(ip->v4.tot_len) - ip->v4.ihl * 4;
	} else {
		s->src = ip->v6.saddr;
		s->dst = ip->v6.daddr;
		bytes = ntohs(ip->v6.payload_len);
	}
	/* large packets of the kernel's own say 0 */
	return skb_is_gso(skb) ? (int)skb->len - s->offset : bytes;
}

/* Return: false: it is no whole TCP segment. */
static bool fabric_segment_read(const struct sk_buff *skb, struct fabric_segment *s)
{
	u8 buffer[FABRIC_TCP_MAX_BYTES];
	int left = fabric_segment_ip(skb, s);
	const struct tcphdr *tcp;
	const u8 *th;

	if (left < FABRIC_TCP_MIN_BYTES || left > (int)skb->len - s->offset)
		return false;
	th = skb_header_pointer(skb, s->offset, FABRIC_TCP_MIN_BYTES, buffer);
	s->header_bytes = th ? fabric_tcp_bytes(th) : FABRIC_OPT_MALFORMED;
	if (s->header_bytes < 0 || s->header_bytes > left)
		return false;
	th = skb_header_pointer(skb, s->offset, s->header_bytes, buffer);
	if (!th)
		return false;
	tcp = (const struct tcphdr *)th;
	s->src_port = tcp->source;
	s->dst_port = tcp->dest;
	s->payload_bytes = left - s->header_bytes;
	s->seq = ntohl(tcp->seq);
	s->ack = ntohl(tcp->ack_seq);
	s->acks = tcp->ack;
	s->syn = tcp->syn;
	s->fin = tcp->fin;
	s->ends = s->fin || tcp->rst;
	s->at = max(fabric_opt_find(th, s->header_bytes, &fabric_flows_option), 0);
	if (s->syn)
		s->at = 0;
	if (s->at) {
		s->forward = th[s->at + 4] << 8 | th[s->at + 5];
		s->reverse = th[s->at + 6] << 8 | th[s->at + 7];
	}
	return true;
}

/* The number that acknowledges all of it; of a SYN nobody asks. */
static u32 fabric_segment_end(const struct fabric_segment *s)
{
	return s->seq + s->payload_bytes + s->fin;
}

/* Puts a half of the option into the packet. */
static void fabric_segment_put(struct sk_buff *skb, const struct fabric_segment *s, int half,
			       u16 value)
{
	u8 *th = fabric_writable(skb, s->offset, s->header_bytes);

	if (!th)
		return;
	fabric_replace_byte(skb, th, s->at + 4 + 2 * half, value >> 8);
	fabric_replace_byte(skb, th, s->at + 5 + 2 * half, value & 0xff);
}

#define FABRIC_FORWARD	0
#define FABRIC_REVERSE	1

/* The key is of 36 bytes without a gap: it is compared and hashed as it lies there. */
static void fabric_segment_key(const struct fabric_segment *s, bool out,
			       struct fabric_conn_key *key)
{
	BUILD_BUG_ON(sizeof(*key) != 36);
	key->here = out ? s->src : s->dst;
	key->there = out ? s->dst : s->src;
	key->here_port = out ? s->src_port : s->dst_port;
	key->there_port = out ? s->dst_port : s->src_port;
}

/* ---- how far hosts are: handshakes ------------------------------------------------- */

static u32 fabric_since(u64 from_ns, u64 now_ns)
{
	/* another processor's time may be earlier */
	return clamp_t(s64, now_ns - from_ns, BD_NEAR_MIN_NS, NSEC_PER_SEC);
}

/* A SYN, or what follows one, goes to the other datacenter. */
static void fabric_handshake_out(struct fabric_conn *conn, bool syn, u64 now_ns)
{
	if (conn->in_ns && !conn->near_ns)
		conn->near_ns = fabric_since(conn->in_ns, now_ns);
	conn->in_ns = 0;
	if (syn)
		conn->out_ns = now_ns;
}

/* Likewise from there. */
static void fabric_handshake_in(struct fabric_border *router, struct fabric_conn *conn, bool syn,
				u64 now_ns)
{
	if (conn->out_ns && !conn->cross_ns) {
		conn->cross_ns = fabric_since(conn->out_ns, now_ns);
		router->cross_ns = router->crossed ? bd_cross_ns(router->cross_ns, conn->cross_ns) :
						     conn->cross_ns;
		router->crossed = true;
	}
	conn->out_ns = 0;
	if (syn)
		conn->in_ns = now_ns;
}

/* ---- from the long line ---------------------------------------------------------------- */

/* Over what time loads of the way to here are meant: a router that has not seen the handshake both
 * ways keeps what the sender chose.
 */
static u8 fabric_near_time(const struct fabric_conn *conn)
{
	return conn->near_ns ? fl_load_rtt(conn->near_ns) : conn->near_time;
}

/* What the sender is told of the way to here. */
static u16 fabric_near_word(const struct fabric_conn *conn)
{
	return fl_load_word(FL_LOAD_CLOSED, fabric_near_time(conn), conn->near);
}

/* An ACK goes to a sender of this datacenter: it is told what its data has met up to here,
 * each load once. What others have written there does not pass.
 */
static void fabric_near_tell(struct fabric_border *router, struct fabric_conn *conn,
			     struct sk_buff *skb, const struct fabric_segment *s, u64 now_ns)
{
	if (!s->at)
		return;
	if (conn) {
		conn->untold = 0;
		conn->told_ns = now_ns;
	}
	if (!conn || !conn->fresh) {
		if (fl_load_type(s->forward) == FL_LOAD_CLOSED)
			fabric_segment_put(skb, s, FABRIC_FORWARD,
					   fl_load_word(FL_LOAD_OPEN, 0, 0));
		return;
	}
	conn->fresh = false;
	fabric_segment_put(skb, s, FABRIC_FORWARD, fabric_near_word(conn));
	router->count[FABRIC_BORDER_NEAR_TOLD]++;
}

/* The host has got packets, or its next may leave at another time. */
static void fabric_host_queue(struct fabric_host *host)
{
	struct rb_node **at = &host->port->due.rb_root.rb_node, *parent = NULL;
	u64 ready_ns = bd_ready_ns(&host->bd);
	bool first = true;

	while (*at) {
		parent = *at;
		if (ready_ns < bd_ready_ns(&rb_entry(parent, struct fabric_host, due)->bd)) {
			at = &parent->rb_left;
		} else {
			at = &parent->rb_right;
			first = false;
		}
	}
	rb_link_node(&host->due, parent, at);
	rb_insert_color_cached(&host->due, &host->port->due, first);
}

/* The queue in which the segment has to wait; NULL: none. */
static struct fabric_flow *fabric_flow_of(struct fabric_border_port *p, struct fabric_conn *conn,
					  const struct fabric_conn_key *key,
					  const struct fabric_segment *s, u64 now_ns)
{
	struct fabric_flow *flow = conn ? conn->flow : NULL;
	struct fabric_host *host;

	/* its way has changed */
	if (flow && flow->host->port != p) {
		if (flow->fifo.head)
			return NULL;
		fabric_flow_free(p->router, conn);
		flow = NULL;
	}
	if (!conn) {
		host = fabric_host_find(p->router, &key->here, p);
		flow = host ? host->rest : NULL;
	}
	if (flow && (s->payload_bytes || flow->fifo.head))
		return flow;
	if (!s->payload_bytes || !s->at || fl_load_type(s->forward) != FL_LOAD_OPEN)
		return NULL;
	if (conn)
		flow = fabric_flow_make(p, conn, &key->here, now_ns);
	if (!flow)
		flow = fabric_flow_make(p, NULL, &key->here, now_ns);
	return flow;
}

/* A packet waits in a queue. */
static void fabric_flow_push(struct fabric_sched *q, struct fabric_flow *flow,
			     struct sk_buff *skb, u32 len, u64 now_ns)
{
	struct fabric_border_port *p = q->border;
	struct fabric_host *host = flow->host;

	if (bd_stale(&flow->bd, now_ns))
		bd_flow_init(&flow->bd, &host->bd, &p->par, flow->bd.dqm.cross_ns, now_ns);
	if (list_empty(&host->turns)) {
		bd_wake(&host->bd, &p->par, now_ns);
		fabric_host_queue(host);
	}
	p->quantum = max(p->quantum, len);
	if (!flow->fifo.head) {
		flow->deficit = p->quantum;
		list_add_tail(&flow->turn, &host->turns);
	}
	fabric_fifo_push(&flow->fifo, skb, len);
	flow->max_bytes = max(flow->max_bytes, flow->fifo.bytes);
	bd_arrive(&host->bd, &flow->bd, len, now_ns);
	host->bytes += len;
	p->packets++;
	q->apart_bytes += len;
}

/* What the router has to do with a segment that comes from the long line. Return: the
 * queue in which it has to wait, NULL: none. Context: the router's lock.
 */
static struct fabric_flow *fabric_segment_in(struct fabric_border_port *p, struct sk_buff *skb,
					     const struct fabric_segment *s, u64 now_ns)
{
	struct fabric_border *router = p->router;
	struct fabric_conn_key key;
	struct fabric_conn *conn;
	struct fabric_flow *flow;

	fabric_segment_key(s, false, &key);
	conn = fabric_conn_find(router, &key, now_ns);
	if (!conn && (s->syn || (s->at && s->payload_bytes)))
		conn = fabric_conn_make(router, &key, now_ns);
	if (conn)
		fabric_handshake_in(router, conn, s->syn, now_ns);
	if (s->syn)
		return NULL;
	if (!s->payload_bytes && !s->ends) {
		fabric_near_tell(router, conn, skb, s, now_ns);
		return NULL;
	}
	flow = fabric_flow_of(p, conn, &key, s, now_ns);
	if (!flow && s->fin && conn && conn->flow)
		bd_pass(&conn->flow->bd, fabric_segment_end(s));
	if (flow && conn && s->at && fl_load_type(s->forward) == FL_LOAD_OPEN) {
		conn->arrived = s->forward & FL_LOAD_MAX;
		conn->arrives = true;
	}
	if (flow && flow->bd.shared && !flow->fifo.head)
		flow->seen = 0;
	if (flow && flow->bd.shared)
		flow->seen |= BIT_ULL(fabric_conn_hash(&key) & (FABRIC_SEEN_BITS - 1));
	return flow;
}

/**
 * fabric_border_arrive() - a packet comes to a port with a role
 * @q: the port
 * @band: its band
 * @skb: the packet, admitted
 * @len: its bytes
 *
 * A host may have so many times what there is room left for all: who acknowledges slowly, and
 * has a sender that does not heed what it is told, does not fill the port for the others. The port
 * has room for the packet, so a host for which nothing waits has, too: none is made for a packet
 * that is refused, and addresses of a whole prefix fill no memory.
 *
 * Return: 1: it waits in a queue of its own; 0: it goes to its band; -FABRIC_DROP_LIMIT: its host
 * has its part already. Context: the qdisc's root lock held.
 */
int fabric_border_arrive(struct fabric_sched *q, struct fabric_band *band,
			 struct sk_buff *skb, u32 len)
{
	struct fabric_border_port *p = q->border;
	u64 now_ns = fabric_cb(skb)->enqueue_ns;
	struct fabric_segment s;
	struct fabric_flow *flow;
	bool full;

	BUILD_BUG_ON(FABRIC_HOST_ALPHA < 1);
	if (p->settings.role != FABRIC_ROLE_LAN || !fabric_segment_read(skb, &s))
		return 0;
	spin_lock(&p->router->lock);
	flow = fabric_segment_in(p, skb, &s, now_ns);
	full = flow && flow->host->bytes + len >
		       FABRIC_HOST_ALPHA * (u64)(q->limit_bytes - q->waiting_bytes);
	if (full) {
		p->router->count[FABRIC_BORDER_HOST_FULL]++;
	} else if (flow) {
		fabric_flow_push(q, flow, skb, len, now_ns);
		p->router->count[FABRIC_BORDER_QUEUED]++;
		p->router->count[FABRIC_BORDER_SHARED] += flow->bd.shared;
	} else if (s.payload_bytes) {
		p->router->count[FABRIC_BORDER_UNQUEUED]++;
	}
	spin_unlock(&p->router->lock);
	if (full)
		return -FABRIC_DROP_LIMIT;
	if (!flow)
		return 0;
	band->parked_bytes += len;
	band->parked_packets++;
	if (band->fifo.bytes + band->parked_bytes > band->stats.backlog_max_bytes)
		band->stats.backlog_max_bytes = band->fifo.bytes + band->parked_bytes;
	return 1;
}

/* The queue whose turn it is; one of more packets than its turn has lets the next go first. No
 * packet is larger than a turn: after one more each of them may send.
 */
static struct fabric_flow *fabric_host_turn(struct fabric_host *host)
{
	struct fabric_flow *flow;

	for (;;) {
		flow = list_first_entry(&host->turns, struct fabric_flow, turn);
		if (flow->deficit > 0)
			return flow;
		flow->deficit += host->port->quantum;
		list_move_tail(&flow->turn, &host->turns);
	}
}

/* A packet leaves a host's queues and goes to its band. */
static void fabric_host_leave(struct fabric_sched *q, struct fabric_host *host, u64 now_ns)
{
	struct fabric_border_port *p = host->port;
	struct fabric_flow *flow = fabric_host_turn(host);
	struct fabric_segment s = { 0 };
	struct fabric_band *band;
	struct sk_buff *skb;
	u32 len, end = 0;

	skb = fabric_fifo_pop(&flow->fifo, &len);
	flow->deficit -= len;
	if (!flow->fifo.head)
		list_del_init(&flow->turn);
	if (fabric_segment_read(skb, &s))
		end = fabric_segment_end(&s);
	rb_erase_cached(&host->due, &p->due);
	bd_leave(&host->bd, &flow->bd, &p->par, len, fabric_wire_bytes(q, skb), end, now_ns);
	if (s.at && fl_load_type(s.forward) == FL_LOAD_OPEN)
		fabric_segment_put(skb, &s, FABRIC_FORWARD,
				   fl_load_word(FL_LOAD_OPEN, bd_time(&host->bd, &p->par), 0));
	if (!list_empty(&host->turns))
		fabric_host_queue(host);
	host->bytes -= len;
	p->packets--;
	q->apart_bytes -= len;
	band = &q->bands[fabric_cb(skb)->band];
	band->parked_bytes -= len;
	band->parked_packets--;
	fabric_fifo_push(&band->fifo, skb, len);
	fabric_order_activate(&q->order, band->index);
	fabric_host_put(host);
}

/* The host whose packet may leave first, NULL: nothing waits. */
static struct fabric_host *fabric_border_first(struct fabric_border_port *p)
{
	struct rb_node *node = rb_first_cached(&p->due);

	return node ? rb_entry(node, struct fabric_host, due) : NULL;
}

/**
 * fabric_border_release() - let packets go whose hosts' rates allow it
 * @sch: the qdisc, a port with a role
 * @now_ns: time
 *
 * Context: the qdisc's root lock held.
 */
void fabric_border_release(struct Qdisc *sch, u64 now_ns)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_border_port *p = q->border;
	struct fabric_host *host;
	int i;

	if (!p->packets)
		return;
	spin_lock(&p->router->lock);
	for (i = 0; i < FABRIC_RELEASE_MAX; i++) {
		host = fabric_border_first(p);
		if (!host || bd_ready_ns(&host->bd) > now_ns)
			break;
		fabric_host_leave(q, host, now_ns);
	}
	spin_unlock(&p->router->lock);
}

/**
 * fabric_border_wait() - nothing is to be sent now: look again when a host's packet may leave
 * @sch: the qdisc, a port with a role
 *
 * Context: the qdisc's root lock held.
 */
void fabric_border_wait(struct Qdisc *sch)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_border_port *p = q->border;
	struct fabric_host *host;
	u64 ready_ns = q->retry_ns;

	if (!p->packets)
		return;
	spin_lock(&p->router->lock);
	host = fabric_border_first(p);
	if (host && (!ready_ns || bd_ready_ns(&host->bd) < ready_ns))
		ready_ns = bd_ready_ns(&host->bd);
	spin_unlock(&p->router->lock);
	qdisc_watchdog_schedule_ns(&q->watchdog, ready_ns);
}

/**
 * fabric_border_reset() - throw away what waits
 * @q: the port, with a role
 *
 * Context: any. When the qdisc goes the root lock is not held, and packets of other ports come in
 * softirq, on this processor too.
 */
void fabric_border_reset(struct fabric_sched *q)
{
	struct fabric_border_port *p = q->border;
	struct fabric_host *host;
	struct fabric_flow *flow;
	struct sk_buff *skb;
	unsigned int i;
	u32 len;

	spin_lock_bh(&p->router->lock);
	while ((host = fabric_border_first(p))) {
		rb_erase_cached(&host->due, &p->due);
		host->bytes = 0;
		while (!list_empty(&host->turns)) {
			flow = list_first_entry(&host->turns, struct fabric_flow, turn);
			list_del_init(&flow->turn);
			while ((skb = fabric_fifo_pop(&flow->fifo, &len))) {
				bd_forget(&host->bd, &flow->bd, len);
				rtnl_kfree_skbs(skb, skb);
			}
		}
		/* no packet leaves that would, if no connection has a queue there */
		fabric_host_put(host);
	}
	spin_unlock_bh(&p->router->lock);
	p->packets = 0;
	q->apart_bytes = 0;
	for (i = 0; i < FABRIC_BANDS_MAX; i++) {
		q->bands[i].parked_bytes = 0;
		q->bands[i].parked_packets = 0;
	}
}

/* ---- to the long line ------------------------------------------------------------------ */

static bool fabric_is_lan(struct fabric_border *router, int ifindex)
{
	return ifindex && fabric_lan_find(router, ifindex);
}

/* Did the packet come from the datacenter, perhaps by a VLAN? Context: the router's lock. */
static bool fabric_came_by_lan(struct fabric_border *router, const struct sk_buff *skb)
{
	return fabric_is_lan(router, skb->skb_iif) ||
	       fabric_is_lan(router, fabric_vlan_lower(router->net, skb->skb_iif));
}

/* The queue of what an ACK acknowledges, NULL: none. */
static struct fabric_flow *fabric_flow_acked(struct fabric_border *router,
					     const struct fabric_conn *conn,
					     const struct fabric_conn_key *key)
{
	struct fabric_host *host;

	if (conn)
		return conn->flow;
	host = fabric_host_find(router, &key->here, NULL);
	return host ? host->rest : NULL;
}

/* What a sender is told: of a queue that is shared, its part. */
static u64 fabric_flow_tell(struct fabric_flow *flow, u64 now_ns)
{
	u64 rate = bd_tell(&flow->host->bd, &flow->bd, &flow->host->port->par, now_ns);

	if (flow->bd.shared)
		rate = div_u64(rate, max_t(u32, hweight64(flow->seen), 1));
	return rate;
}

/* Over what time loads of the whole way to a sender, or from one, are meant. */
static u8 fabric_cross_time(const struct fabric_border *router, const struct fabric_conn *conn)
{
	return fl_load_rtt(conn->cross_ns ?: router->cross_ns);
}

/* Likewise the load with which its data came: the sender's own border router, which tells of the
 * way to itself, takes that load out of data and what is written here out of ACKs. Without one the
 * sender hears of its datacenter and of the long line from here alone.
 */
static void fabric_arrived_tell(struct fabric_border *router, struct fabric_conn *conn,
				struct sk_buff *skb, const struct fabric_segment *s)
{
	u16 word = fl_load_word(FL_LOAD_OPEN, 0, 0);

	if (s->payload_bytes)
		return;
	if (conn && conn->arrives) {
		conn->arrives = false;
		word = fl_load_word(FL_LOAD_CLOSED, fabric_cross_time(router, conn),
				    conn->arrived);
	} else if (fl_load_type(s->forward) != FL_LOAD_CLOSED) {
		return;
	}
	fabric_segment_put(skb, s, FABRIC_FORWARD, word);
}

/* An ACK goes to a sender in the other datacenter. What it is told, the router says alone. */
static void fabric_credit(struct fabric_border *router, struct fabric_conn *conn,
			  struct fabric_flow *flow, struct sk_buff *skb,
			  const struct fabric_segment *s, u64 now_ns)
{
	if (fl_load_type(s->reverse) == FL_LOAD_ECHO) {
		if (s->acks && bd_acks(&flow->bd, s->ack) && fabric_came_by_lan(router, skb)) {
			bd_echo(&flow->host->bd, &flow->bd, &flow->host->port->par, s->ack,
				s->reverse & FL_LOAD_MAX, now_ns);
			router->count[FABRIC_BORDER_CREDITS]++;
		} else {
			router->count[FABRIC_BORDER_REFUSED]++;
		}
	}
	fabric_segment_put(skb, s, FABRIC_REVERSE,
			   FL_LOAD_TELL << FL_LOAD_TYPE_SHIFT |
			   fl_load_rate_code(fabric_flow_tell(flow, now_ns)));
	fabric_arrived_tell(router, conn, skb, s);
	router->count[FABRIC_BORDER_TOLD]++;
}

/* ACKs take loads along. When they do not come, or such that cannot, a message does, once a round
 * of the near loop. Receivers acknowledge every second packet, those with GRO some more at once:
 * less than FABRIC_NEAR_PKTS without an ACK are no reason. An ACK that came when a message had told
 * all is one that can. A sender that was told nothing for so long that it was a pause begins, or
 * begins again: its first packet is reason enough, if the handshake has shown that there is such a
 * sender.
 */
static bool fabric_near_due(struct fabric_conn *conn, u64 now_ns)
{
	/* another processor's time may be later */
	s64 since_ns = max_t(s64, now_ns - conn->told_ns, 0);

	if (conn->cross_ns && since_ns >> FABRIC_NEAR_PAUSE_SHIFT > conn->cross_ns)
		return true;
	if (conn->untold < FABRIC_NEAR_PKTS) {
		conn->untold++;
		return false;
	}
	return since_ns >> (FL_LOAD_RTT_NS_SHIFT + fabric_near_time(conn));
}

/* Likewise of a connection that the router has no room for: ACKs tell it nothing. */
static bool fabric_stranger_due(struct fabric_border *router, const struct fabric_conn_key *key,
				u8 time, u64 now_ns)
{
	u64 *told_ns = &router->strangers_ns[fabric_conn_hash(key) & (FABRIC_STRANGERS - 1)];

	if ((s64)(now_ns - *told_ns) < 1LL << (FL_LOAD_RTT_NS_SHIFT + time))
		return false;
	*told_ns = now_ns;
	return true;
}

/* Data goes to the other datacenter: what it has met up to here is kept for its sender. */
static void fabric_near_read(struct fabric_border *router, struct fabric_conn *conn,
			     const struct fabric_conn_key *key, struct sk_buff *skb,
			     const struct fabric_segment *s, u64 now_ns)
{
	u8 time = fl_load_time(s->forward);
	u16 load = s->forward & FL_LOAD_MAX;

	if (fl_load_type(s->forward) != FL_LOAD_OPEN)
		return;
	router->count[FABRIC_BORDER_NEAR_READ]++;
	if (conn) {
		conn->near = load;
		conn->near_time = time;
		conn->fresh = true;
		if (fabric_near_due(conn, now_ns)) {
			conn->told_ns = now_ns;
			if (fabric_tell(router, skb, s->offset, fabric_near_word(conn), now_ns))
				conn->fresh = false;
		}
	} else if (fabric_stranger_due(router, key, time, now_ns)) {
		fabric_tell(router, skb, s->offset, fl_load_word(FL_LOAD_CLOSED, time, load),
			    now_ns);
	}
	/* where no border router follows, the rest of the way is the whole way's loop */
	if (conn && conn->cross_ns)
		time = fabric_cross_time(router, conn);
	fabric_segment_put(skb, s, FABRIC_FORWARD, fl_load_word(FL_LOAD_OPEN, time, 0));
}

/**
 * fabric_border_sent() - the service of a packet begins at a port with a role
 * @q: the port; its own load is in the packet
 * @skb: the packet
 * @now_ns: time
 *
 * Context: the qdisc's root lock held.
 */
void fabric_border_sent(struct fabric_sched *q, struct sk_buff *skb, u64 now_ns)
{
	struct fabric_border *router = q->border->router;
	struct fabric_conn_key key;
	struct fabric_segment s;
	struct fabric_conn *conn;
	struct fabric_flow *flow;

	if (q->border->settings.role != FABRIC_ROLE_WAN || !fabric_segment_read(skb, &s))
		return;
	fabric_segment_key(&s, true, &key);
	spin_lock(&router->lock);
	conn = fabric_conn_find(router, &key, now_ns);
	if (!conn && (s.syn || (s.at && s.payload_bytes)))
		conn = fabric_conn_make(router, &key, now_ns);
	if (conn)
		fabric_handshake_out(conn, s.syn, now_ns);
	if (s.at) {
		if (s.payload_bytes)
			fabric_near_read(router, conn, &key, skb, &s, now_ns);
		flow = fabric_flow_acked(router, conn, &key);
		if (flow)
			fabric_credit(router, conn, flow, skb, &s, now_ns);
	}
	spin_unlock(&router->lock);
}
