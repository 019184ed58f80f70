// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver's side: any TCP socket gives credit to a peer that asks for it, whatever
 * its own congestion control is. It needs no setting, and net.fairlane.credit refuses.
 *
 * How fast is the feedback loop's business (credit/core/loop.h), how many
 * credit/core/want.h's, when the pacer's. What a peer may ask for is bounded: a socket
 * gives at most the port's rate, at most for 65535 segments at a time, and stops when
 * nothing comes back. Who sends without credit gains nothing here.
 */
#include <linux/random.h>
#include <net/inet_ecn.h>

#include "credit/credit.h"
#include "credit/credit_trace.h"
#include "fairlane/fl_sock.h"
#include "fairlane/fl_telemetry.h"

/* Defined below, with its functions. */
static const struct fl_pacer_ops fl_receiver_ops;

/* Silence after which what is on its way counts as lost: so many RTTs and gaps, and
 * time for a process that has the socket; doubled each time.
 */
#define FL_RECEIVER_RTTS	2
#define FL_RECEIVER_GAPS	4
#define FL_RECEIVER_PATIENCE_NS	100000
/* Silences in a row after which a flow is dead. */
#define FL_RECEIVER_SILENT_MAX	5
/* Credits that may be given without anything coming back; and by how much fewer after each silence,
 * log2: what is given to one is taken from the others of the port.
 */
#define FL_RECEIVER_OUT_MIN	64
#define FL_RECEIVER_DOUBT_SHIFT	2
/* So many credits of which none has come back tell that the flow is too fast. With any number,
 * one of 400 flows that write 2 kB at the same time waited for half a second (net/credit:
 * idle_flows).
 */
#define FL_RECEIVER_MANY	8
/* A sender that has not heard of so many credits is told the number anew: from twice as many on it
 * does not believe them (FL_SENDER_AHEAD_MAX).
 */
#define FL_RECEIVER_KNOWS_MAX	8192
/* Segments of a credit where the line is faster than this. */
#define FL_RECEIVER_FAST_BPS	10000000000ULL
#define FL_RECEIVER_FAST_SEGS	8
/* A small packet with its IP header on the line, bytes. */
#define FL_RECEIVER_SMALL_BYTES	(sizeof(struct tcphdr) + FL_CREDIT_SHORT_BYTES + \
				 FL_LINE_OVERHEAD_BYTES)

static u64 fl_receiver_patience_ns(const struct fl_receiver *r)
{
	u64 ns = (u64)r->loop.rtt_ns * FL_RECEIVER_RTTS +
		 (u64)r->loop.gap_ns * FL_RECEIVER_GAPS + FL_RECEIVER_PATIENCE_NS;

	return ns << r->silent;
}

/* Has the peer sent more in a segment than it takes itself? @mss: that. */
static bool fl_receiver_passed(const struct sock *sk, u32 mss)
{
	return READ_ONCE(inet_csk(sk)->icsk_ack.rcv_mss) > mss;
}

/* What a full packet of the peer takes on the line, bytes. The peer's handshake has told the
 * largest segment that the peer takes, and its device sends no larger one. With the own MTU of
 * 9000 in its place a sender of 1500 would have a sixth of the line. A peer that sends larger
 * segments all the same (its route has an advmss) has not told what its device sends: the own
 * MTU counts then. Context: port's lock, RCU.
 */
static u32 fl_receiver_wire(struct fl_receiver *r)
{
	const struct sock *sk = r->node.sk;
	const struct dst_entry *dst = __sk_dst_get((struct sock *)sk);
	u32 mtu = dst ? dst_mtu(dst) : ETH_DATA_LEN;
	u32 mss = READ_ONCE(tcp_sk(sk)->rx_opt.mss_clamp);
	u32 told = mss + sizeof(struct tcphdr) + inet_csk(sk)->icsk_af_ops->net_header_len;

	r->mss = 0;
	if (told < mtu && !fl_receiver_passed(sk, mss)) {
		r->mss = mss;
		mtu = told;
	}
	return mtu + FL_LINE_OVERHEAD_BYTES;
}

/* Turn, segments and rate as the profile, the line and the class of the flow have it.
 * Context: port's lock, RCU.
 */
static void fl_receiver_configure(struct fl_receiver *r, bool part)
{
	const struct sock *sk = r->node.sk;
	const struct fl_credit_settings *settings = fl_credit_of(sock_net(sk));
	const struct fl_profile *pf = fl_profile_get(sock_net(sk));
	u32 permille = READ_ONCE(settings->expresspass_permille), wire, small;
	u64 line_bps = fl_line_bps(sk, pf, false, NULL), turn, max;

	if (part)
		permille = READ_ONCE(settings->flexpass_permille);
	r->part = part;
	r->segs = READ_ONCE(settings->credit_segs);
	if (!r->segs)
		r->segs = line_bps > FL_RECEIVER_FAST_BPS ?
			  FL_RECEIVER_FAST_SEGS : 1;
	small = FL_RECEIVER_SMALL_BYTES + inet_csk(sk)->icsk_af_ops->net_header_len;
	wire = fl_receiver_wire(r);
	turn = fl_turn_long(small + r->segs * wire, line_bps, permille);
	max = div64_u64((u64)NSEC_PER_SEC << FL_TURN_SHIFT, max_t(u64, turn, 1));
	fl_loop_init(&r->loop, min_t(u64, max, U32_MAX), get_random_u32());
	/* the port's own rate: all flows together, or only what a credit itself takes */
	r->turn = READ_ONCE(settings->credit_host_limit) ? turn :
		  fl_turn_long(small, line_bps, 1000);
}

/**
 * fl_receiver_end() - a socket gives no credit any more
 * @r: the receiver
 *
 * Twice is once. Context: any, none of our locks held.
 */
void fl_receiver_end(struct fl_receiver *r)
{
	struct fl_pacer *p = r->port;
	bool gone;

	spin_lock_bh(&p->lock);
	gone = r->gone;
	r->gone = true;
	if (!gone)
		fl_pacer_unqueue(p, r);
	spin_unlock_bh(&p->lock);
	if (gone)
		return;
	fl_credit_del(&r->node);
	fl_hook_unuse(r->node.sk);
	fl_pacer_put(p);
	sock_put(r->node.sk);
	kfree_rcu(r, rcu);
}

/* What is known of the sender goes on at another port; the rate is that port's. @before has ended:
 * who has found it before that may still count a packet there, which the next one mends. Nobody
 * knows @r yet, so no lock is needed. Context: RCU.
 */
static void fl_receiver_copy(struct fl_receiver *r, const struct fl_receiver *before)
{
	r->want = before->want;
	r->known = before->known;
	r->reds = READ_ONCE(before->reds);
	r->marks = READ_ONCE(before->marks);
	r->colours = READ_ONCE(before->colours);
	fl_receiver_configure(r, before->part);
}

/* The device that credits leave through, and what comes, comes by. Context: RCU. Return: 0, no
 * route is known; a dead one has a device that is none.
 */
static int fl_receiver_ifindex(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);

	return dst && dst->obsolete <= 0 ? dst->dev->ifindex : 0;
}

/* Numbers begin anywhere, so that nobody else can guess the next credit's, or where those of
 * @before end, of another port. Two requests may come at once, on two processors: the first makes
 * it. Context: RCU, BH off. Return: NULL without memory or route, or if the socket is closed.
 */
static struct fl_receiver *fl_receiver_make(struct sock *sk, const struct fl_receiver *before)
{
	u32 number = get_random_u32() & FL_CREDIT_NUMBER_MASK;
	int ifindex = fl_receiver_ifindex(sk), err;
	struct fl_credit_node *other = NULL;
	struct fl_receiver *r;

	if (!ifindex)
		return NULL;
	r = kzalloc(sizeof(*r),
		    GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!r)
		return NULL;
	r->port = fl_pacer_get(sock_net(sk), ifindex, &fl_receiver_ops);
	if (!r->port) {
		kfree(r);
		return NULL;
	}
	r->node.sk = sk;
	r->node.role = FL_CREDIT_RECEIVES;
	r->want = (struct fl_want) { .last = number, .after = number, .lost = number };
	timerqueue_init(&r->due);
	if (before)
		fl_receiver_copy(r, before);
	sock_hold(sk);
	err = fl_credit_add(&r->node);
	if (err) {
		fl_pacer_put(r->port);
		sock_put(sk);
		kfree(r);
		if (err == -EEXIST)
			other = fl_credit_find(sk, FL_CREDIT_RECEIVES);
		return other ? fl_receiver_of(other) : NULL;
	}
	fl_hook_use(sk);
	/* pairs with fl_credit_on_destroy() */
	smp_mb();
	if (READ_ONCE(sk->sk_state) == TCP_CLOSE) {
		fl_receiver_end(r);
		return NULL;
	}
	return r;
}

/* The pacer of a socket's receiver is that of the port which the socket's route leads through.
 * Another port has another line and another MTU: a flow would have credits for 1 Gbit/s on 10
 * Gbit/s, or the reverse. Context: RCU, BH off. Return: @r, or the one that takes its place; NULL
 * without memory.
 */
static struct fl_receiver *fl_receiver_follow(struct fl_receiver *r)
{
	int ifindex = fl_receiver_ifindex(r->node.sk);

	if (likely(!ifindex || ifindex == r->port->ifindex))
		return r;
	fl_receiver_end(r);
	return fl_receiver_make(r->node.sk, r);
}

/* May somebody else's packet make this socket give credit? With TCP Fast Open the request may be
 * what ends the handshake: the peer keeps its ACK back for data, which waits for credit.
 */
static bool fl_receiver_willing(const struct sock *sk)
{
	return READ_ONCE(fl_credit_of(sock_net(sk))->credit) &&
	       !fl_is_off(sock_net(sk)) &&
	       fl_credit_possible(sk) &&
	       (1 << READ_ONCE(sk->sk_state)) &
	       (TCPF_SYN_RECV | TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2);
}

/* Many credits are out, and nothing has come back for long? After a silence a few are many, and
 * there is no waiting before. Context: port's lock.
 */
static bool fl_receiver_deaf(const struct fl_receiver *r, u64 now_ns)
{
	u32 most = FL_RECEIVER_OUT_MIN >> (FL_RECEIVER_DOUBT_SHIFT * r->silent);

	return fl_want_out(&r->want) >= max_t(u32, most, 1) &&
	       (r->silent || now_ns - r->heard_ns > fl_receiver_patience_ns(r));
}

/* The flow is in the queue from now on, if it wants credit. Who asks again does not make the wait
 * for what is out any longer or shorter. Context: port's lock.
 */
static void fl_receiver_wake(struct fl_receiver *r, u64 now_ns)
{
	if (r->gone || !fl_want_more(&r->want))
		return;
	if (r->queued && (!r->waiting || fl_receiver_deaf(r, now_ns)))
		return;
	if (!r->queued) {
		fl_loop_begin(&r->loop, r->want.last + 1);
		r->heard_ns = now_ns;
	}
	r->waiting = false;
	fl_pacer_queue(r->port, r, now_ns);
}

/**
 * fl_receiver_request() - a peer tells what it has to send
 * @sk: the socket
 * @m: its request
 *
 * Answered at once, so that the peer knows that credit will come, if late, and with which numbers.
 * A sender that has spent credit and asks with a right number knows that already. Context: softirq,
 * RCU, no socket lock; the packet was what TCP would have believed.
 */
void fl_receiver_request(struct sock *sk, const struct fl_credit_msg *m)
{
	struct fl_credit_msg grant = { .type = FL_CREDIT_GRANT };
	struct fl_credit_node *node;
	struct fl_receiver *r;
	bool knows;

	fl_credit_note(sock_net(sk), FL_CREDIT_N_REQUESTS, 1);
	fl_credit_reroute(sk);
	node = fl_credit_find(sk, FL_CREDIT_RECEIVES);
	r = node ? fl_receiver_follow(fl_receiver_of(node)) : NULL;
	if (r && fl_is_off(sock_net(sk)))
		r = NULL;
	else if (!r && fl_receiver_willing(sk))
		r = fl_receiver_make(sk, NULL);
	if (!r) {
		fl_credit_note(sock_net(sk), FL_CREDIT_N_REFUSED, 1);
		return;
	}
	spin_lock_bh(&r->port->lock);
	if (!r->segs || r->part != m->part)
		fl_receiver_configure(r, m->part);
	/* who has got no credit yet knows no number */
	knows = fl_want_told(&r->want, r->known ? m->number : r->want.after,
			     m->backlog_segs, r->segs) && r->known &&
		fl_credit_ahead(r->want.last, m->number) < FL_RECEIVER_KNOWS_MAX;
	fl_receiver_wake(r, ktime_get_ns());
	grant.segs = r->segs;
	grant.number = r->want.last;
	spin_unlock_bh(&r->port->lock);
	if (!knows)
		fl_credit_send(sk, FL_CREDIT_DSCP_CONTROL, &grant, READ_ONCE(tcp_sk(sk)->snd_nxt));
}

/* So many red segments have been sent: all that have not come are lost, on a fixed path with
 * one queue. @marks of the segments just come are marked. Hooks on two processors may meet; the
 * next packet mends it.
 */
static void fl_receiver_reds(struct fl_receiver *r, u16 reds, u32 marks)
{
	bool first = !READ_ONCE(r->colours) && (reds || marks);

	if (marks)
		WRITE_ONCE(r->marks, (r->marks + marks) & FL_CREDIT_REDS_MASK);
	/* the first count may be any: another receiver may have been here before */
	if (first || fl_credit_reds_ahead(reds, READ_ONCE(r->reds)) > 0)
		WRITE_ONCE(r->reds, reds);
	if (first)
		WRITE_ONCE(r->colours, true);
	if (READ_ONCE(r->colours))
		WRITE_ONCE(r->tell, FL_RECEIVER_TELL);
}

/**
 * fl_receiver_green() - data has come that a credit has paid for
 * @sk: the socket
 * @m: its option
 * @segs: its segments
 * @marked: a switch has marked it
 *
 * Context: as fl_receiver_request().
 */
void fl_receiver_green(struct sock *sk, const struct fl_credit_msg *m, u32 segs,
		       bool marked)
{
	struct fl_credit_node *node = fl_credit_find(sk, FL_CREDIT_RECEIVES);
	u64 now_ns = ktime_get_ns();
	struct fl_receiver *r;
	u32 dropped, lost = 0;

	r = node ? fl_receiver_follow(fl_receiver_of(node)) : NULL;
	if (!r)
		return;
	fl_receiver_reds(r, m->reds, marked ? segs : 0);
	spin_lock_bh(&r->port->lock);
	/* not before the last given one, nor one that was never given */
	if (r->segs && fl_want_told(&r->want, m->number, m->backlog_segs, r->segs)) {
		if (r->mss && fl_receiver_passed(sk, r->mss)) {
			fl_receiver_configure(r, r->part);
			fl_loop_begin(&r->loop, r->want.last + 1);
		}
		dropped = r->loop.dropped;
		fl_loop_back(&r->loop, m->number, now_ns);
		lost = r->loop.dropped > dropped ? r->loop.dropped - dropped : 0;
		r->silent = 0;
		r->known = true;
		r->heard_ns = now_ns;
		fl_receiver_wake(r, now_ns);
	}
	spin_unlock_bh(&r->port->lock);
	fl_credit_note(sock_net(sk), FL_CREDIT_N_BACK, 1);
	if (lost)
		fl_credit_note(sock_net(sk), FL_CREDIT_N_LOST, lost);
}

/* Nothing has come back for too long. Return: go on? Context: port's lock. */
static bool fl_receiver_silence(struct fl_receiver *r)
{
	fl_credit_note(sock_net(r->node.sk), FL_CREDIT_N_TIMEOUTS, 1);
	r->waiting = false;
	r->heard_ns = ktime_get_ns();
	/* a few may have met a burst of others */
	if (fl_want_out(&r->want) >= FL_RECEIVER_MANY)
		fl_loop_silence(&r->loop);
	fl_want_lose(&r->want);
	fl_loop_begin(&r->loop, r->want.last + 1);
	if (++r->silent < FL_RECEIVER_SILENT_MAX)
		return true;
	/* until it asks again, and then as long as the last time */
	r->silent = FL_RECEIVER_SILENT_MAX - 1;
	r->want.credits = 0;
	return false;
}

/**
 * fl_receiver_turn() - it is a flow's turn
 * @r: the flow, first in its port's queue; caller holds the port's lock
 * @now_ns: monotonic time
 * @m: becomes the credit
 *
 * Leaves the queue or puts itself back. Return: is there a credit to send?
 */
static bool fl_receiver_turn(struct fl_receiver *r, u64 now_ns,
			     struct fl_credit_msg *m)
{
	u64 due_ns = ktime_to_ns(r->due.expires);
	struct fl_pacer *p = r->port;
	u32 gap_ns;

	fl_pacer_unqueue(p, r);
	/* reset by its peer, but not closed by its owner */
	if (READ_ONCE(r->node.sk->sk_state) == TCP_CLOSE)
		return false;
	if (r->waiting && !fl_receiver_silence(r))
		return false;
	if (!fl_want_more(&r->want) || fl_receiver_deaf(r, now_ns)) {
		if (fl_want_out(&r->want)) {
			r->waiting = true;
			fl_pacer_queue(p, r, now_ns + fl_receiver_patience_ns(r));
		}
		return false;
	}
	fl_loop_update(&r->loop, now_ns);
	m->type = FL_CREDIT_CREDIT;
	m->segs = r->segs;
	m->number = fl_want_give(&r->want);
	fl_loop_sent(&r->loop, m->number, now_ns);
	fl_turn_take(&p->turn, now_ns, r->turn);
	gap_ns = fl_loop_gap_ns(&r->loop);
	fl_pacer_queue(p, r, fl_turn_due_ns(due_ns, gap_ns, now_ns));
	trace_fl_credit_given(r->node.sk, m->number, m->segs, fl_want_out(&r->want), gap_ns);
	fl_credit_note(sock_net(r->node.sk), FL_CREDIT_N_GIVEN, 1);
	return true;
}

/**
 * fl_receiver_dropped() - the limit of the own port has dropped the credit just given
 * @r: the flow; caller holds the port's lock, which it gave up in between
 *
 * It is not on its way, so its number comes again.
 */
static void fl_receiver_dropped(struct fl_receiver *r)
{
	fl_credit_note(sock_net(r->node.sk), FL_CREDIT_N_PORT_DROPS, 1);
	if (r->gone || !fl_want_out(&r->want))
		return;
	r->want.last = (r->want.last - 1) & FL_CREDIT_NUMBER_MASK;
	r->loop.timing = false;
	r->loop.total++;
	r->loop.dropped++;
}

static const struct fl_pacer_ops fl_receiver_ops = {
	.turn = fl_receiver_turn,
	.dropped = fl_receiver_dropped,
};

/**
 * fl_receiver_red() - data has come that no credit has paid for
 * @sk: the socket
 * @m: its option
 * @segs: its segments
 * @marked: a switch has marked it
 *
 * Who has not asked for credit is told nothing. Context: as fl_receiver_request().
 */
void fl_receiver_red(struct sock *sk, const struct fl_credit_msg *m, u32 segs,
		     bool marked)
{
	struct fl_credit_node *node = fl_credit_find(sk, FL_CREDIT_RECEIVES);

	if (node)
		fl_receiver_reds(fl_receiver_of(node), m->reds, marked ? segs : 0);
}
