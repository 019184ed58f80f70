// SPDX-License-Identifier: GPL-2.0
/*
 * The sender's side: the congestion control part of ExpressPass and FlexPass.
 *
 * The gate is the congestion window: it is always what is in flight and what may
 * leave now. When a credit comes, the window is opened by what it pays for and the
 * stack is made to send (TCP_TSQ_DEFERRED, release_cb): first what is lost, then what
 * was never sent, as FlexPass wants it. While a process has the socket, the credit waits
 * and release_sock() does the same.
 *
 * A receiver is asked for credit when there is something to send, and again when it
 * goes on for too long without any. If nobody answers, the flow goes on with
 * another congestion control: nobody waits for a peer that does not know of credit, or for
 * a path that eats the packets.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "credit/credit.h"
#include "credit/credit_trace.h"
#include "fairlane/fl_telemetry.h"

/* How long to wait for credit before asking again: ms, RTTs; doubled each time. */
#define FL_SENDER_WAIT_NS	NSEC_PER_MSEC
#define FL_SENDER_WAIT_RTTS	4
#define FL_SENDER_BACKOFF_MAX	6
/* How long to wait at the end for news of red data: ns, RTTs; doubled likewise. */
#define FL_SENDER_TAIL_NS	(200 * NSEC_PER_USEC)
#define FL_SENDER_TAIL_RTTS	2
/* Requests in a row without any answer: the peer does not know of credit. */
#define FL_SENDER_ASK_UNKNOWN	3
/* The same of a peer that has answered before. */
#define FL_SENDER_ASK_KNOWN	10
/* A receiver that has given nothing for so long may have forgotten what it was told: it gives up
 * after five silences, 31 times 2 RTTs, 4 gaps and .1 ms (fl_receiver_patience_ns()), which is 4 ms
 * at an RTT of 10 us. Where RTTs are longer than 1 ms it may be told once more than it needs.
 */
#define FL_SENDER_FORGET	(HZ / 20)
/* An application that writes within an RTT and so long after the receiver was told that nothing is
 * left goes on writing, and its credit is kept for as long. A time of its own since a process that
 * has the processor to itself writes no faster than it gets it.
 */
#define FL_SENDER_SOON_NS	(50 * NSEC_PER_USEC)
/* A flow to which credits came, and then none, asks again after a second, 2 s, and so on until
 * 2^this s. Each time it waits for the answers to three requests: 7 ms. A receiver that has never
 * given credit may not know of it, and is not asked again. A flow whose paid data was lost waits
 * for 8 s first, and as much longer each time as one to which no credit came.
 */
#define FL_SENDER_AGAIN_SHIFT_MAX	10
#define FL_SENDER_AGAIN_LOSSY		4
/* Where all switches of the path take part, what credits have paid for is not lost. Of so many
 * segments, more than one of 2^this is lost, so many times in a row: they do not, and the flow goes
 * on without credit. Its credits do not see others, nor what the path can carry.
 */
#define FL_SENDER_JUDGED_SEGS	256
#define FL_SENDER_LOST_SHIFT	5
#define FL_SENDER_LOSSY_TIMES	4
/* Credits of a receiver's that may be lost in a row: others' numbers are not believed. */
#define FL_SENDER_AHEAD_MAX	16384
/* An ACK that was overtaken tells of so many marks less than the last one, at most. An ACK that
 * tells of fewer is right, and what was heard before was false. Chosen, not measured: where ACKs
 * are overtaken by more, marks count twice.
 */
#define FL_SENDER_OLD_MARKS	64

/* Does the stack keep back a last segment that is not full (tcp_nagle_test())? */
static bool fl_sender_holds_rest(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (sk->sk_shutdown & SEND_SHUTDOWN || tp->snd_una != tp->snd_up ||
	    tp->nonagle & TCP_NAGLE_PUSH)
		return false;
	if (tp->nonagle & TCP_NAGLE_CORK)
		return true;
	/* the second bound: the last small segment may be 2 GB ago */
	return !tp->nonagle && tp->packets_out && after(tp->snd_sml, tp->snd_una) &&
	       !after(tp->snd_sml, tp->snd_nxt);
}

/* Does the application wait for room to write more? Context: as fl_credit_out(); RCU keeps the
 * struct socket of a socket that is just being closed.
 */
static bool fl_sender_is_full(const struct sock *sk)
{
	const struct socket *sock = READ_ONCE(sk->sk_socket);

	return sock && test_bit(SOCK_NOSPACE, &sock->flags);
}

/* Segments from @seq on that the stack would send if their turn came: written, and the peer has
 * room for all of each. A credit for a segment that the stack keeps back would be wasted, and asked
 * for again in each RTT. The ACK that lets the segment go has the stack send, which asks. A FIN
 * needs no credit.
 */
static u32 fl_sender_segs(const struct sock *sk, u32 seq)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 end = tp->write_seq, mss = max_t(u32, tp->mss_cache, 1), segs;

	if (after(end, tcp_wnd_end(tp)))
		return after(tcp_wnd_end(tp), seq) ? (tcp_wnd_end(tp) - seq) / mss : 0;
	if (sk->sk_shutdown & SEND_SHUTDOWN && after(end, seq))
		end--;
	if (!after(end, seq))
		return 0;
	segs = (end - seq) / mss;
	if (end - seq != segs * mss && !fl_sender_holds_rest(sk))
		segs++;
	return segs;
}

/**
 * fl_sender_backlog() - what there is to send
 * @sk: the socket; caller holds its lock
 *
 * Return: segments: lost ones, and those never sent.
 */
u32 fl_sender_backlog(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return fl_sender_segs(sk, tp->snd_nxt) +
	       (tp->lost_out > tp->retrans_out ? tp->lost_out - tp->retrans_out : 0);
}

/**
 * fl_sender_backlog_after() - the same, when a packet has left
 * @sk: the socket
 * @seq: of the packet
 * @bytes: of the packet
 * @segs: of the packet
 *
 * Context: as fl_credit_out(). Without the socket's lock the number may be old; the next packet
 * tells another.
 */
u32 fl_sender_backlog_after(const struct sock *sk, u32 seq, u32 bytes, u32 segs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 lost = tp->lost_out > tp->retrans_out ?
		   tp->lost_out - tp->retrans_out : 0;

	if (!before(seq, tp->snd_nxt))
		return fl_sender_segs(sk, seq + bytes) + lost;
	return fl_sender_segs(sk, tp->snd_nxt) +
	       lost - min(lost, segs);
}

/**
 * fl_sender_tells() - what the receiver is told of
 * @s: the sender
 * @left_segs: what there is to send
 *
 * By the time that a credit comes, an application that writes on has written as much more as is in
 * flight now. Two things tell that it does. It waits for room to write, and what is in flight makes
 * room: without that rule an RTT would have as many credits as TCP_NOTSENT_LOWAT lets wait. Or it
 * has written soon after there was nothing left (credit/core/gate.c). For the peer's window neither
 * holds: who reads slowly makes room by reading.
 *
 * Context: as fl_credit_out(). Return: segments.
 */
u32 fl_sender_tells(struct fl_sender *s, u32 left_segs)
{
	const struct sock *sk = s->node.sk;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 flight_segs = tcp_packets_in_flight(tp), more_segs;

	if (after(tp->write_seq, tcp_wnd_end(tp)) || sk->sk_shutdown & SEND_SHUTDOWN)
		return left_segs;
	if (left_segs && left_segs < flight_segs && fl_sender_is_full(sk))
		more_segs = flight_segs;
	else
		more_segs = fl_gate_promise(&s->gate, flight_segs);
	if (more_segs)
		s->gate.keeps = true;
	return left_segs + more_segs;
}

/* See FL_SENDER_SOON_NS. */
static u64 fl_sender_soon_ns(const struct fl_sender *s)
{
	return (u64)(tcp_sk(s->node.sk)->srtt_us >> 3) * NSEC_PER_USEC + FL_SENDER_SOON_NS;
}

/**
 * fl_sender_due() - segments that credits pay for now
 * @s: the sender; caller holds the socket lock
 */
u32 fl_sender_due(const struct fl_sender *s)
{
	/* pairs with fl_sender_credit() */
	return fl_gate_due_segs(&s->gate, smp_load_acquire(&s->gate.in));
}

/* The timers' reference on the socket. Context: socket lock held. */
static void fl_sender_hold(struct fl_sender *s)
{
	if (!s->held) {
		s->held = true;
		sock_hold(s->node.sk);
	}
}

/* Have more sent in @wait_ns, if there is more; 0: do not. Context: socket lock held. */
static void fl_sender_wake_in(struct fl_sender *s, u64 wait_ns)
{
	if (!wait_ns || !tcp_send_head(s->node.sk) || hrtimer_is_queued(&s->wake))
		return;
	fl_sender_hold(s);
	hrtimer_start(&s->wake, ns_to_ktime(wait_ns), HRTIMER_MODE_REL_PINNED_SOFT);
}

/* Does lost data wait for credit? */
static bool fl_sender_mends(const struct fl_sender *s)
{
	const struct tcp_sock *tp = tcp_sk(s->node.sk);

	return tp->lost_out > tp->retrans_out;
}

/* Let the stack send what may leave now, and no more. With credit due only what it pays for, so
 * that a packet has one colour. Context: socket lock held. Return: segments that may leave without
 * credit now, if nothing is lost; @wait_ns becomes the time after which more may, or 0.
 */
static u32 fl_sender_open(struct fl_sender *s, u64 *wait_ns)
{
	struct sock *sk = s->node.sk;
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *head = tcp_send_head(sk);
	u32 more = fl_sender_due(s), out = tcp_packets_in_flight(tp), most, room = 0;

	*wait_ns = 0;
	if (s->ops->limit) {
		most = s->ops->limit(s);
		more = min(more, most > out ? most - out : 0);
	}
	/* what leaves before there are hooks is not counted */
	if (!more && s->ops->room && fl_hook_there(sk))
		room = s->ops->room(s, wait_ns);
	if (!fl_sender_mends(s))
		more += room;
	/* a FIN of its own */
	if (head && TCP_SKB_CB(head)->tcp_flags & TCPHDR_FIN && !head->len)
		more++;
	fl_snd_cwnd_set(tp, out + more);
	return room;
}

/**
 * fl_sender_window() - let the stack send what may leave now, and no more
 * @s: the sender; caller holds the socket lock
 *
 * Where the stack would send lost data first, a timer sends what needs no credit. It also sends
 * what may leave later: nothing else may come in time.
 */
void fl_sender_window(struct fl_sender *s)
{
	u64 wait_ns;
	u32 room = fl_sender_open(s, &wait_ns);

	fl_sender_wake_in(s, room && fl_sender_mends(s) ? 1 : wait_ns);
}

/* Of a receiver that has answered the shortest RTT counts: a queue that has gone may have made
 * the smoothed one a thousand times as long.
 */
static u64 fl_sender_wait_ns(const struct fl_sender *s)
{
	const struct tcp_sock *tp = tcp_sk(s->node.sk);
	u32 rtt_us = tp->srtt_us >> 3;
	u64 ns;

	if (s->known && !s->tail)
		rtt_us = min(rtt_us, tcp_min_rtt(tp));
	ns = (u64)rtt_us * NSEC_PER_USEC;
	ns = s->tail ? max_t(u64, ns * FL_SENDER_TAIL_RTTS, FL_SENDER_TAIL_NS) :
		       max_t(u64, ns * FL_SENDER_WAIT_RTTS, FL_SENDER_WAIT_NS);
	return ns << min_t(u32, s->unanswered, FL_SENDER_BACKOFF_MAX);
}

/* Has anything come since fl_sender_watch()? */
static bool fl_sender_moves(const struct fl_sender *s)
{
	return READ_ONCE(s->gate.in) != s->watch_credits ||
	       (s->tail && s->watch_una != tcp_sk(s->node.sk)->snd_una);
}

/* Look whether credit comes, at the @tail: or news of red data. What was answered does not make
 * the wait for the next answer longer. Context: socket lock held.
 */
static void fl_sender_watch(struct fl_sender *s, bool tail)
{
	if (s->armed && (!tail || s->tail))
		return;
	if (fl_sender_moves(s))
		s->unanswered = 0;
	s->armed = true;
	s->tail = tail;
	s->watch_credits = READ_ONCE(s->gate.in);
	s->watch_una = tcp_sk(s->node.sk)->snd_una;
	fl_sender_hold(s);
	hrtimer_start(&s->timer, ns_to_ktime(fl_sender_wait_ns(s)),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * fl_sender_tail() - have the timer look after red data, if there is nothing else
 * @s: the sender; caller holds the socket lock
 *
 * While there is other data to send, what comes after a lost segment tells of it.
 */
void fl_sender_tail(struct fl_sender *s)
{
	if (s->ops->unsure && !(s->armed && s->tail) && s->ops->unsure(s) &&
	    !fl_sender_backlog(s->node.sk))
		fl_sender_watch(s, true);
}

/* Is the request to be a knock (credit_knock.c)? Until the peer has answered the second is, and all
 * are where it is known that the peer has the connection. A peer that had answered the SYN with a
 * cookie, and got neither our ACK nor the first request, would reset the connection.
 */
static bool fl_sender_knocks(const struct fl_sender *s)
{
	const struct tcp_sock *tp = tcp_sk(s->node.sk);

	return !s->known && (tp->bytes_received || tp->bytes_acked > 1 || s->unanswered == 1);
}

/* Tell the receiver what there is to send, 0: stop. Context: socket lock held, BH off or
 * process.
 */
static void fl_sender_request(struct fl_sender *s, u32 backlog_segs)
{
	struct fl_credit_msg m = {
		.type = FL_CREDIT_REQUEST,
		.part = s->ops->part,
	};
	struct sock *sk = s->node.sk;
	const struct tcp_sock *tp = tcp_sk(sk);

	fl_gate_tell(&s->gate, backlog_segs, &m);
	s->heard_jiffies = jiffies;
	WRITE_ONCE(s->asked, s->asked + 1);
	fl_credit_note(sock_net(sk), FL_CREDIT_N_ASKED, 1);
	trace_fl_credit_asked(sk, m.backlog_segs, s->unanswered);
	fl_credit_reroute_owned(sk);
	local_bh_disable();
	fl_credit_send(sk, FL_CREDIT_DSCP_CONTROL, &m,
		       fl_sender_knocks(s) ? tp->snd_una - 1 : tp->snd_nxt);
	local_bh_enable();
}

/**
 * fl_sender_ask() - ask for credit, if there is something to send and none will come
 * @s: the sender; caller holds the socket lock
 */
void fl_sender_ask(struct fl_sender *s)
{
	u32 backlog_segs = fl_sender_backlog(s->node.sk);

	if (s->gate.told && time_after(jiffies, s->heard_jiffies + FL_SENDER_FORGET)) {
		s->gate.told = 0;
		s->forgotten = true;
	}
	/* packets that credit pays for tell by themselves */
	if (backlog_segs <= fl_sender_due(s) || !fl_gate_must_tell(&s->gate, backlog_segs))
		return;
	fl_gate_writes(&s->gate, ktime_get_ns(), fl_sender_soon_ns(s));
	fl_sender_request(s, fl_sender_tells(s, backlog_segs));
	fl_sender_watch(s, false);
}

/* Have the stack send what the window allows. Context: socket lock held, no process has it; BH
 * off.
 */
static void fl_sender_send(struct fl_sender *s)
{
	struct sock *sk = s->node.sk;

	if (!test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
		sock_hold(sk);
	s->spending = true;
	sk->sk_prot->release_cb(sk);
	s->spending = false;
}

/* New data may leave without credit while lost data waits for it: the stack must find no
 * window when it looks for what is lost, and one when it looks for new data
 * (fl_sender_before_xmit()). Context: as fl_sender_send().
 */
static void fl_sender_push(struct fl_sender *s)
{
	struct tcp_sock *tp = tcp_sk(s->node.sk);
	u64 wait_ns;

	if (!s->ops->room || !fl_sender_mends(s) || !tcp_send_head(s->node.sk) ||
	    !s->ops->room(s, &wait_ns))
		return;
	fl_snd_cwnd_set(tp, tcp_packets_in_flight(tp));
	s->pushing = true;
	fl_sender_send(s);
	s->pushing = false;
}

/* Is what is due kept for what the application is going to write? A timer looks again at the end.
 * Context: as fl_sender_send().
 */
static bool fl_sender_keeps(struct fl_sender *s)
{
	u64 keep_ns;

	if (fl_sender_backlog(s->node.sk) || s->node.sk->sk_shutdown & SEND_SHUTDOWN)
		return false;
	keep_ns = fl_gate_keep_ns(&s->gate, ktime_get_ns(), fl_sender_soon_ns(s));
	if (keep_ns && !hrtimer_is_queued(&s->wake)) {
		fl_sender_hold(s);
		hrtimer_start(&s->wake, ns_to_ktime(keep_ns), HRTIMER_MODE_REL_PINNED_SOFT);
	}
	return keep_ns;
}

/* There is nothing to send for what is due, or it has been kept for too long. Context: socket lock
 * held. Return: has a credit paid for nothing?
 */
static bool fl_sender_waste(struct fl_sender *s)
{
	u64 wasted = s->gate.wasted;

	/* pairs with fl_sender_credit() */
	fl_gate_waste(&s->gate, smp_load_acquire(&s->gate.in));
	fl_credit_note(sock_net(s->node.sk), FL_CREDIT_N_WASTED, s->gate.wasted - wasted);
	return s->gate.wasted != wasted;
}

/* What is left over is wasted, unless it waits for its turn. */
static void fl_sender_rest(struct fl_sender *s)
{
	struct sock *sk = s->node.sk;
	u32 due_segs;
	bool kept;

	/* the device below, or SO_MAX_PACING_RATE: its timer has them spent */
	if (test_bit(TSQ_THROTTLED, &sk->sk_tsq_flags) ||
	    hrtimer_is_queued(&tcp_sk(sk)->pacing_timer))
		return;
	for (due_segs = fl_sender_due(s); due_segs && fl_sender_copy(s, due_segs);)
		due_segs = fl_sender_due(s);
	if (fl_sender_keeps(s))
		return;
	kept = s->gate.kept_ns;
	if (!fl_sender_waste(s))
		return;
	/* more would come, or is believed to be of use? */
	if (s->gate.told && !fl_sender_backlog(sk) &&
	    (kept || fl_credit_ahead(s->gate.until, s->gate.number) > 0))
		fl_sender_request(s, 0);
}

/* Spend what is due. Context: socket lock held, no process has it; BH off. */
static void fl_sender_spend(struct fl_sender *s)
{
	u64 wait_ns;

	fl_sender_open(s, &wait_ns);
	fl_sender_send(s);
	if (fl_sender_due(s))
		fl_sender_rest(s);
	if (!fl_sender_due(s))
		fl_sender_push(s);
	/* if the stack has kept back what may leave, it waits for something else */
	if (!fl_sender_open(s, &wait_ns))
		fl_sender_wake_in(s, wait_ns);
	fl_sender_ask(s);
	fl_sender_tail(s);
}

/* What may leave now leaves, at the latest when a process gives the socket back. Context: BH, spin
 * lock of the socket held.
 */
static void fl_sender_go_on(struct fl_sender *s)
{
	struct sock *sk = s->node.sk;

	if (!sock_owned_by_user(sk))
		fl_sender_spend(s);
	else if (!test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
		sock_hold(sk);
}

/* May this be the next credit of the receiver that we asked? */
static bool fl_sender_believes(const struct fl_sender *s,
			       const struct fl_credit_msg *m)
{
	s32 ahead = fl_credit_ahead(m->number, READ_ONCE(s->newest));

	return !s->known || (ahead > 0 && ahead <= FL_SENDER_AHEAD_MAX);
}

static void fl_sender_put(struct fl_sender *s, const struct fl_credit_msg *m)
{
	struct fl_gate *g = &s->gate;
	const struct net *net = sock_net(s->node.sk);

	if (!fl_sender_believes(s, m)) {
		fl_credit_note(net, FL_CREDIT_N_STRAY, 1);
		return;
	}
	s->known = true;
	s->forgotten = false;
	s->heard_jiffies = jiffies;
	WRITE_ONCE(s->newest, m->number);
	fl_credit_note(net, FL_CREDIT_N_GOT, 1);
	if (!fl_gate_put(g, READ_ONCE(g->out), m->number, m->segs)) {
		fl_credit_note(net, FL_CREDIT_N_WASTED, 1);
		return;
	}
	/* the slot before the count: pairs with fl_sender_due() */
	smp_store_release(&g->in, g->in + 1);
	trace_fl_credit_got(s->node.sk, m->number, m->segs, fl_sender_due(s), s->red_segs);
}

/**
 * fl_sender_credit() - a credit has come, or the answer to a request
 * @sk: the socket
 * @m: the packet's option
 *
 * Context: softirq, RCU, no socket lock; the packet is one that TCP would have believed.
 */
void fl_sender_credit(struct sock *sk, const struct fl_credit_msg *m)
{
	struct fl_credit_node *node;
	struct fl_sender *s;

	bh_lock_sock(sk);
	node = fl_credit_find(sk, FL_CREDIT_SENDS);
	s = node ? fl_sender_of(node) : NULL;
	if (!s) {
		bh_unlock_sock(sk);
		return;
	}
	if (m->type == FL_CREDIT_GRANT) {
		/* the number before that of the first credit; or of the next, of a receiver that
		 * is another, or whose credits were lost for long
		 */
		if (!s->known || s->unanswered || s->forgotten) {
			WRITE_ONCE(s->newest, m->number);
			/* not 0 where another control had credits before us */
			WRITE_ONCE(s->gate.number, m->number);
		}
		s->known = true;
	} else {
		fl_sender_put(s, m);
		fl_sender_go_on(s);
	}
	bh_unlock_sock(sk);
}

/**
 * fl_sender_seen() - the receiver tells what has come of red segments
 * @sk: the socket
 * @m: the packet's option
 *
 * The packet goes on to TCP, which calls the congestion control. Context: as
 * fl_sender_credit().
 */
void fl_sender_seen(struct sock *sk, const struct fl_credit_msg *m)
{
	struct fl_credit_node *node = fl_credit_find(sk, FL_CREDIT_SENDS);
	struct fl_sender *s;
	s32 marks;

	if (!node)
		return;
	s = fl_sender_of(node);
	if (fl_credit_reds_ahead(m->reds, READ_ONCE(s->heard_reds)) > 0)
		WRITE_ONCE(s->heard_reds, m->reds);
	marks = fl_credit_reds_ahead(m->marks, READ_ONCE(s->heard_marks));
	if (marks > 0 || marks < -FL_SENDER_OLD_MARKS)
		WRITE_ONCE(s->heard_marks, m->marks);
}

/* Segments of a packet: what a credit pays for in equal packets, so that the stack does not keep
 * back a small rest, which would be wasted. Where rests are kept, as many as fit.
 */
static u32 fl_sender_gso_segs(const struct fl_sender *s)
{
	const struct sock *sk = s->node.sk;
	u32 segs = max_t(u32, s->gate.segs, 1);
	u32 fit = sk->sk_gso_max_size / max_t(u32, tcp_sk(sk)->mss_cache, 1), n;

	for (n = clamp_t(u32, fit, 1, segs); segs % n && !s->gate.keeps;)
		n--;
	return n;
}

/**
 * fl_sender_before_xmit() - the stack is about to send: the min_tso_segs callback
 * @s: the sender; caller holds the socket lock
 */
void fl_sender_before_xmit(struct fl_sender *s)
{
	struct sock *sk = s->node.sk;
	u64 wait_ns;

	sk->sk_gso_max_segs = fl_sender_gso_segs(s);
	if (s->pushing)
		fl_snd_cwnd_set(tcp_sk(sk),
				tcp_packets_in_flight(tcp_sk(sk)) + s->ops->room(s, &wait_ns));
	if (s->spending)
		return;
	/* a process had the socket when the timer expired, and writes now */
	if (s->gate.kept_ns &&
	    !fl_gate_keep_ns(&s->gate, ktime_get_ns(), fl_sender_soon_ns(s)))
		fl_sender_waste(s);
	fl_sender_window(s);
	fl_sender_ask(s);
}

/* Segments lost so far, without those of which D-SACKs say that they had come. */
static u32 fl_sender_lost(const struct sock *sk)
{
	return tcp_sk(sk)->lost - tcp_sk(sk)->dsack_dups;
}

/* Will a credit come? Of who asks again after a fallback the first credit itself tells. */
static bool fl_sender_hopes(const struct fl_sender *s)
{
	return s->again ? READ_ONCE(s->gate.in) : s->known;
}

/* Nothing has come. Context: socket lock held, no process has it; BH off. */
static void fl_sender_silence(struct fl_sender *s)
{
	struct sock *sk = s->node.sk;
	u32 backlog_segs = fl_sender_backlog(sk);
	bool tail = s->tail, moves = fl_sender_moves(s);

	s->tail = false;
	if (moves) {
		s->unanswered = 0;
		/* a process had the socket when they came */
		if (fl_sender_due(s))
			fl_sender_spend(s);
		if (backlog_segs)
			fl_sender_watch(s, false);
		else
			fl_sender_tail(s);
		return;
	}
	if (!backlog_segs && s->ops->unsure) {
		/* once more all that is remembered */
		backlog_segs = s->ops->unsure(s);
		s->copy_segs = backlog_segs;
		s->red_copied = s->reds - min_t(u32, s->reds, FL_SENDER_REDS);
	}
	if (!backlog_segs)
		return;
	s->unanswered++;
	if (s->unanswered >= (fl_sender_hopes(s) ? FL_SENDER_ASK_KNOWN : FL_SENDER_ASK_UNKNOWN)) {
		fl_sender_fall_back(sk, s, s->ops);
		fl_sender_send(s);
		return;
	}
	/* a peer may wait for data before it has a connection (TCP_DEFER_ACCEPT) */
	if (!s->known && !tcp_sk(sk)->packets_out) {
		fl_snd_cwnd_set(tcp_sk(sk), 1);
		fl_sender_send(s);
	}
	fl_sender_request(s, backlog_segs);
	fl_sender_watch(s, tail);
}

/* A process has the socket, for as long as it likes: the timer looks again, and rarer each time.
 * Nobody pays for softirqs. Context: soft timer, spin lock of the socket held.
 */
static void fl_sender_look_again(struct fl_sender *s)
{
	hrtimer_start(&s->timer, ns_to_ktime((u64)FL_SENDER_WAIT_NS << s->kept),
		      HRTIMER_MODE_REL_PINNED_SOFT);
	if (s->kept < FL_SENDER_BACKOFF_MAX)
		s->kept++;
}

static enum hrtimer_restart fl_sender_fire(struct hrtimer *timer)
{
	struct fl_sender *s = container_of(timer, struct fl_sender, timer);
	struct sock *sk = s->node.sk;

	rcu_read_lock();
	bh_lock_sock(sk);
	if (!READ_ONCE(s->dead) && !hrtimer_is_queued(timer) && fl_net_stays(sk) &&
	    sk->sk_state != TCP_CLOSE) {
		if (sock_owned_by_user(sk)) {
			fl_sender_look_again(s);
		} else {
			s->kept = 0;
			s->armed = false;
			fl_sender_silence(s);
		}
	}
	bh_unlock_sock(sk);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* More may leave without credit. Context: soft timer, which has a reference on the socket. */
static enum hrtimer_restart fl_sender_wake(struct hrtimer *timer)
{
	struct fl_sender *s = container_of(timer, struct fl_sender, wake);
	struct sock *sk = s->node.sk;

	rcu_read_lock();
	bh_lock_sock(sk);
	if (!READ_ONCE(s->dead) && !hrtimer_is_queued(timer) && fl_net_stays(sk) &&
	    sk->sk_state != TCP_CLOSE)
		fl_sender_go_on(s);
	bh_unlock_sock(sk);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/**
 * fl_sender_start() - a congestion control begins to send by credit
 * @sk: the socket
 * @s: zeroed, to be freed by RCU after fl_sender_stop(), with fl_sender_free()
 * @ops: the congestion control's
 *
 * Context: init callback, socket lock held. Return: 0; -EOPNOTSUPP: this connection cannot; or
 * another negative errno without memory.
 */
int fl_sender_start(struct sock *sk, struct fl_sender *s,
		    const struct fl_sender_ops *ops)
{
	int err;

	s->node.sk = sk;
	s->node.role = FL_CREDIT_SENDS;
	s->ops = ops;
	hrtimer_setup(&s->timer, fl_sender_fire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_setup(&s->wake, fl_sender_wake, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_SOFT);
	if (!fl_credit_possible(sk) || !tcp_is_sack(tcp_sk(sk)))
		return -EOPNOTSUPP;
	err = fl_credit_add(&s->node);
	if (err)
		return err;
	WRITE_ONCE(s->started, true);
	fl_hook_use(sk);
	/* another control may have paced */
	fl_give_back(sk);
	fl_tel_reserve(sk, FL_CREDIT_LONG_BYTES);
	/* the stack's own ECN is not used */
	INET_ECN_dontxmit(sk);
	s->judged_delivered = tcp_sk(sk)->delivered;
	s->judged_lost = fl_sender_lost(sk);
	fl_sender_window(s);
	return 0;
}

/**
 * fl_sender_stop() - the opposite; twice is once
 * @sk: the socket
 * @s: the sender
 *
 * Context: release callback and others, socket lock held.
 */
void fl_sender_stop(struct sock *sk, struct fl_sender *s)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!s->started)
		return;
	WRITE_ONCE(s->started, false);
	fl_credit_del(&s->node);
	fl_hook_unuse(sk);
	/* it may run just now, on any processor; fl_sender_free() waits for it */
	WRITE_ONCE(s->dead, true);
	hrtimer_try_to_cancel(&s->timer);
	hrtimer_try_to_cancel(&s->wake);
	if (sk->sk_state == TCP_CLOSE)
		return;
	fl_tel_reserve(sk, 0);
	sk->sk_gso_max_segs = fl_route_gso_segs(sk);
	fl_snd_cwnd_set(tp, tcp_packets_in_flight(tp) + TCP_INIT_CWND);
	WRITE_ONCE(tp->snd_ssthresh, TCP_INFINITE_SSTHRESH);
	if (!tp->prior_cwnd)
		tp->prior_cwnd = TCP_INIT_CWND;
	/* another control takes over in setsockopt(): it is to send */
	if (sock_owned_by_user(sk) && sk->sk_state == TCP_ESTABLISHED &&
	    !test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
		sock_hold(sk);
}

/**
 * fl_sender_free() - the memory of a sender goes
 * @s: the sender, stopped
 *
 * Whether its timer still runs cannot be known before: who stops it may own the socket as a process
 * and holds no lock that the timer takes. So the timers' reference on the socket lasts until here.
 * Context: RCU callback.
 */
void fl_sender_free(struct fl_sender *s)
{
	hrtimer_cancel(&s->timer);
	hrtimer_cancel(&s->wake);
	if (s->held)
		sock_put(s->node.sk);
}

/**
 * fl_sender_fall_back() - go on with another congestion control
 * @sk: the socket; caller holds its lock
 * @s: the sender
 * @ops: its congestion control's
 */
void fl_sender_fall_back(struct sock *sk, struct fl_sender *s,
			 const struct fl_sender_ops *ops)
{
	fl_credit_note(sock_net(sk), FL_CREDIT_N_FALLBACKS, 1);
	fl_sender_stop(sk, s);
	if (s->lossy >= FL_SENDER_LOSSY_TIMES && s->again < FL_SENDER_AGAIN_LOSSY)
		s->again = FL_SENDER_AGAIN_LOSSY;
	else if (READ_ONCE(s->gate.in) && s->lossy < FL_SENDER_LOSSY_TIMES)
		s->again = 1;
	else if (s->again && s->again <= FL_SENDER_AGAIN_SHIFT_MAX)
		s->again++;
	if (s->again)
		s->again_jiffies = (jiffies + (HZ << (s->again - 1))) | 1;
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, ops->without);
}

/* Was too much of the last segments lost that credits had paid for? What left without credit may
 * be lost, and is found lost later than it was sent: what the last look has not found may be among
 * what was in flight then. Context: ACK, socket lock held.
 */
static bool fl_sender_is_lossy(struct fl_sender *s)
{
	const struct tcp_sock *tp = tcp_sk(s->node.sk);
	s32 lost = fl_sender_lost(s->node.sk) - s->judged_lost;
	u32 segs = tp->delivered - s->judged_delivered + max(lost, 0);
	s64 paid = (s64)lost - (s->red_segs - s->judged_reds);

	if (segs < FL_SENDER_JUDGED_SEGS)
		return false;
	s->judged_delivered = tp->delivered;
	s->judged_lost = fl_sender_lost(s->node.sk);
	s->judged_reds = s->red_segs - clamp_t(s64, -paid, 0, tp->packets_out);
	s->lossy = paid > segs >> FL_SENDER_LOST_SHIFT ? s->lossy + 1 : 0;
	return s->lossy >= FL_SENDER_LOSSY_TIMES;
}

/**
 * fl_sender_judge() - leave a path whose switches do not give room to what credits pay for
 * @s: the sender; caller holds the socket lock
 *
 * Who has a window for all that is in flight heeds losses itself. Context: ACK. Return: true, and
 * the flow goes on with half of what was in flight.
 */
bool fl_sender_judge(struct fl_sender *s)
{
	struct sock *sk = s->node.sk;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 half;

	if (s->ops->limit || !fl_sender_is_lossy(s))
		return false;
	half = max(tcp_packets_in_flight(tp) / 2, 2U);
	fl_sender_fall_back(sk, s, s->ops);
	WRITE_ONCE(tp->snd_ssthresh, half);
	fl_snd_cwnd_set(tp, half);
	return true;
}

/**
 * fl_sender_asks_again() - is it time for a flow that fell back to ask for credit again?
 * @s: the sender; caller holds the socket lock
 */
bool fl_sender_asks_again(const struct fl_sender *s)
{
	return s->again_jiffies && time_after(jiffies, s->again_jiffies);
}

/**
 * fl_sender_info() - what a flow does, for the control plane
 * @s: the sender
 * @info: where to
 *
 * Context: RCU, socket not locked: values may be torn.
 */
void fl_sender_info(const struct fl_sender *s, struct fl_info *info)
{
	if (!READ_ONCE(s->started))
		return;
	info->state = READ_ONCE(s->gate.credits) ? FL_STATE_SENDING :
						   FL_STATE_START;
	info->window_milli = 0;
	info->credits = READ_ONCE(s->gate.credits);
	info->credits_wasted = READ_ONCE(s->gate.wasted);
	info->paid_segs = READ_ONCE(s->gate.paid_segs);
	info->unpaid_segs = READ_ONCE(s->gate.unpaid_segs);
	info->requests = READ_ONCE(s->asked);
	info->credit_segs = READ_ONCE(s->gate.segs);
}
