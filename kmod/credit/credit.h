/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credit: what congestion controls share whose receivers say when to send
 * (ExpressPass, FlexPass). Documentation/design/credit.rst tells how it works.
 *
 *	credit_table.c		which sockets take part; begin and end of all
 *	credit_packet.c		small packets
 *	credit_option.c		the option: in and out
 *	credit_receiver.c	gives credit; any socket can
 *	credit_pacer.c		when: a queue of flows for each port of the host
 *	credit_sender.c		sends by credit; the congestion controls' part
 *	credit_copy.c		copies of red data, where credit is left
 *	credit_control.c	callbacks that all those controls have
 *	credit_trace.c		tracepoints
 *
 * All of it is fairlane_credit.ko, which modprobe loads with fairlane.ko: receivers need no
 * setting. Without any user it costs a look at a counter for each packet that leaves.
 */
#ifndef FL_CREDIT_H
#define FL_CREDIT_H

#include <linux/hrtimer.h>
#include <linux/netfilter.h>
#include <linux/rhashtable-types.h>
#include <linux/timerqueue.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "credit/core/gate.h"
#include "credit/core/loop.h"
#include "credit/core/turn.h"
#include "credit/core/want.h"
#include "fairlane/fairlane.h"
#include "fairlane/fl_sock.h"

struct fl_info;
struct fl_pacer;

/**
 * struct fl_credit_settings - settings of credit, /proc/sys/net/fairlane/
 * @credit: give credit to peers that ask for it
 * @credit_dscp: first of the FL_CREDIT_DSCPS code points of credit-driven controls
 * @credit_segs: segments that a credit pays for; 0 = 1, or 8 above 10 Gbit/s
 * @credit_host_limit: all flows of a port together get no more credit than one would
 * @expresspass_permille: part of the line that credits of ExpressPass may ask for
 * @flexpass_permille: the same of FlexPass
 */
struct fl_credit_settings {
	u32 credit;
	u32 credit_dscp;
	u32 credit_segs;
	u32 credit_host_limit;
	u32 expresspass_permille;
	u32 flexpass_permille;
};

const struct fl_credit_settings *fl_credit_of(const struct net *net);

/* Counters of a network namespace, /proc/net/fairlane_credit. */
enum fl_credit_count {
	FL_CREDIT_N_REQUESTS,	/* requests that came */
	FL_CREDIT_N_GIVEN,	/* credits given */
	FL_CREDIT_N_PORT_DROPS,	/* ... that the own port dropped at once */
	FL_CREDIT_N_BACK,	/* green segments that came */
	FL_CREDIT_N_LOST,	/* credits that did not come back */
	FL_CREDIT_N_TIMEOUTS,	/* times that nothing came back for too long */
	FL_CREDIT_N_GOT,	/* credits that came */
	FL_CREDIT_N_WASTED,	/* ... and paid for nothing */
	FL_CREDIT_N_ASKED,	/* requests sent */
	FL_CREDIT_N_FALLBACKS,	/* flows that went on without credit */
	FL_CREDIT_N_BAD,	/* malformed options that came */
	FL_CREDIT_N_STRAY,	/* small packets that were not believed */
	FL_CREDIT_N_REFUSED,	/* requests that got no answer */
	FL_CREDIT_N_NO_ROOM,	/* options left out: the header would be too long */
	FL_CREDIT_COUNTS,
};

enum fl_credit_role {
	FL_CREDIT_SENDS,
	FL_CREDIT_RECEIVES,
};

/**
 * struct fl_credit_node - a socket that takes part, in the table
 * @hash: of @sk
 * @sk: the socket
 * @role: what it does; a socket may be in the table once for each
 */
struct fl_credit_node {
	struct rhash_head hash;
	struct sock *sk;
	u8 role;
};

/* ---- receiver ---------------------------------------------------------------- */

/* Packets that tell of red segments for each that comes: a sender that has given up, perhaps
 * since somebody eats our option, must get ACKs without.
 */
#define FL_RECEIVER_TELL	4

/**
 * struct fl_receiver - a socket that gives credit
 * @node: in the table, which holds a reference on the socket
 * @port: the host's port that its credits leave through
 * @due: in the port's queue while @queued
 * @loop: how fast
 * @want: how many
 * @turn: how long a credit occupies the port, ns << FL_TURN_SHIFT
 * @waiting: @due is the time to give up waiting, not that of a credit
 * @heard_ns: when a credit last came back, or the flow began
 * @mss: that the peer takes, for which @turn is; 0: it is for the own MTU
 * @segs: segments of a credit
 * @silent: times in a row that nothing came back for too long, at most FL_RECEIVER_SILENT_MAX - 1
 * @queued: in the port's queue
 * @known: a credit has come back
 * @gone: out of the table
 * @part: FlexPass' part of the line
 * @reds: highest count of red segments that has come, modulo FL_CREDIT_REDS_MASK + 1
 * @marks: red segments that came marked, likewise
 * @colours: red or marked segments have come: the sender wants to know
 * @tell: so many packets to the sender still tell of it
 * @rcu: hooks
 *
 * Everything but @node and what counts red segments is protected by the port's lock.
 */
struct fl_receiver {
	struct fl_credit_node node;
	struct fl_pacer *port;
	struct timerqueue_node due;
	struct fl_loop loop;
	struct fl_want want;
	u64 turn;
	u64 heard_ns;
	u16 mss;
	u8 segs;
	u8 silent;
	bool waiting;
	bool queued;
	bool known;
	bool gone;
	bool part;
	u16 reds;
	u16 marks;
	bool colours;
	u8 tell;
	struct rcu_head rcu;
};

/**
 * struct fl_pacer_ops - what a flow does in its port's queue
 * @turn: it is the turn of a flow, first in the queue: the flow leaves the queue or puts
 *	itself back. Context: port's lock. Return: is @m a credit to send?
 * @dropped: the limit of the own port has dropped the credit just given. Context: port's
 *	lock, which was given up in between
 */
struct fl_pacer_ops {
	bool (*turn)(struct fl_receiver *r, u64 now_ns, struct fl_credit_msg *m);
	void (*dropped)(struct fl_receiver *r);
};

/**
 * struct fl_pacer - a port of the host that gives credit
 * @hash: of all ports
 * @net: its namespace, as long as a receiver is left
 * @ifindex: of the device
 * @ops: of its flows
 * @users: receivers; the table's lock
 * @lock: of what follows, and of the receivers
 * @turn: its clock
 * @queue: receivers, by when they are due
 * @timer: soft
 * @dead: the timer must not be started any more
 * @rcu: for those who have found it through a receiver
 */
struct fl_pacer {
	struct hlist_node hash;
	const struct net *net;
	int ifindex;
	const struct fl_pacer_ops *ops;
	u32 users;
	spinlock_t lock; /* what follows, and the receivers */
	struct fl_turn turn;
	struct timerqueue_head queue;
	struct hrtimer timer;
	bool dead;
	struct rcu_head rcu;
};

/* ---- sender ------------------------------------------------------------------ */

struct fl_sender;

struct fl_credit_flow;

/**
 * struct fl_sender_ops - what distinguishes the credit-driven controls
 * @part: asks for FlexPass' part of the line
 * @ecn: switches may mark green segments, and the receiver tells of the marks
 * @cc: what the control plane knows it by
 * @without: the control that goes on when nobody gives credit
 * @flow_bytes: memory of a flow, which begins with struct fl_credit_flow
 * @begin: sets up the control's own part of a flow, which is zeroed; optional
 * @limit: most segments in flight, whatever the credit; optional
 * @room: segments that may leave now without credit, and after how long more may, 0: not before
 *	an ACK comes; optional
 * @unsure: red segments of which nobody knows yet whether they have come; optional
 * @heard: an ACK has come, and with it perhaps counts of red segments; optional
 * @timeout: TCP's timer has expired; optional
 *
 * Context of all: socket lock held, BH off.
 */
struct fl_sender_ops {
	bool part;
	bool ecn;
	const struct fl_cc *cc;
	struct tcp_congestion_ops *without;
	u32 flow_bytes;
	void (*begin)(struct sock *sk, struct fl_sock *fs,
		      struct fl_credit_flow *flow);
	u32 (*limit)(const struct fl_sender *s);
	u32 (*room)(const struct fl_sender *s, u64 *wait_ns);
	u32 (*unsure)(const struct fl_sender *s);
	void (*heard)(struct fl_sender *s);
	void (*timeout)(struct fl_sender *s);
};

/* Red packets that are remembered, for copies; a power of two. */
#define FL_SENDER_REDS	16

/**
 * struct fl_red - a packet that left without credit
 * @seq: of its first byte
 * @end: after its last
 * @sent_ns: when it left, the lower half
 */
struct fl_red {
	u32 seq;
	u32 end;
	u32 sent_ns;
};

/**
 * struct fl_sender - a socket that sends by credit
 * @node: in the table
 * @ops: of its congestion control
 * @gate: its books
 * @timer: is anybody there who gives credit?
 * @wake: more may leave without credit
 * @watch_credits: @gate.in when the timer was started
 * @newest: number of the newest credit that came; who takes credits in
 * @asked: requests sent
 * @unanswered: requests in a row to which no credit came
 * @known: the receiver has answered
 * @again: asks again after a fallback: times in a row without a credit, and one
 * @lossy: times in a row that data was lost which credits had paid for (fl_sender_judge())
 * @forgotten: it has given nothing for FL_SENDER_FORGET, though it was asked
 * @started: in the table
 * @dead: released; the timer does nothing
 * @held: the timers' reference on the socket is taken
 * @armed: the timer runs
 * @kept: times in a row that a process had the socket when the timer expired, saturating
 * @spending: inside fl_sender_spend()
 * @pushing: fl_sender_push() is: new data may leave, what is lost may not
 * @tail: the timer looks after red data at the end
 * @copying: inside fl_sender_copy()
 * @copy_segs: red segments for which credit was asked, to copy them
 * @watch_una: snd_una when the timer was started for that
 * @red_segs: red segments sent so far
 * @heard_reds: newest count that the peer told; written by hooks
 * @heard_marks: likewise
 * @red: the newest red packets, a ring
 * @reds: red packets put into the ring so far
 * @red_copied: of those, copied or not to be
 * @own_drops: times that the own port dropped the newest of them
 * @heard_jiffies: when a credit came last, or was asked for
 * @again_jiffies: fell back, and when to ask again; 0 = never
 * @judged_delivered: tp->delivered when @lossy was looked at
 * @judged_lost: likewise, segments lost, without those that had come all the same
 * @judged_reds: likewise, @red_segs without those that may still be found lost
 */
struct fl_sender {
	struct fl_credit_node node;
	const struct fl_sender_ops *ops;
	struct fl_gate gate;
	struct hrtimer timer;
	struct hrtimer wake;
	u32 watch_credits;
	u32 newest;
	u32 asked;
	u8 unanswered;
	bool known;
	u8 again;
	u8 lossy;
	bool forgotten;
	bool started;
	bool dead;
	bool held;
	bool armed;
	u8 kept;
	bool spending;
	bool pushing;
	bool tail;
	bool copying;
	u32 copy_segs;
	u32 watch_una;
	u32 red_segs;
	u16 heard_reds;
	u16 heard_marks;
	struct fl_red red[FL_SENDER_REDS];
	u32 reds;
	u32 red_copied;
	u32 own_drops;
	unsigned long heard_jiffies;
	unsigned long again_jiffies;
	u32 judged_delivered;
	u32 judged_lost;
	u32 judged_reds;
};

/**
 * struct fl_credit_flow - a flow of a credit-driven control
 * @at: for readers
 * @sender: what sends by credit
 * @rcu: hooks, and readers of get_info()
 */
struct fl_credit_flow {
	struct fl_attached at;
	struct fl_sender sender;
	struct rcu_head rcu;
};

/* For the congestion controls */
void fl_credit_init_sk(struct sock *sk, const struct fl_sender_ops *ops);
void fl_credit_release_sk(struct sock *sk);
FL_CONG_CONTROL(fl_credit_cong_control);
void fl_credit_set_state(struct sock *sk, u8 new_state);
u32 fl_credit_min_tso_segs(struct sock *sk);
void fl_credit_without_avoid(struct sock *sk, u32 ack, u32 acked);
u32 fl_credit_ssthresh(struct sock *sk);
u32 fl_credit_undo_cwnd(struct sock *sk);
void fl_credit_info(struct sock *sk, const struct fl_attached *at,
		    struct fl_info *info);

/* Defines the control @_ops, called @_name, whose flows have the fl_sender_ops @_sender. */
#define FL_CREDIT_CONTROL(_ops, _name, _sender)			\
/* Context: any, socket lock held; handshake complete. */	\
static void _ops##_init(struct sock *sk)			\
{								\
	fl_credit_init_sk(sk, &(_sender));			\
}								\
								\
static struct tcp_congestion_ops _ops __read_mostly = {		\
	.init		= _ops##_init,				\
	.release	= fl_credit_release_sk,			\
	.ssthresh	= fl_credit_ssthresh,			\
	.undo_cwnd	= fl_credit_undo_cwnd,			\
	.cong_control	= fl_credit_cong_control,		\
	.set_state	= fl_credit_set_state,			\
	.min_tso_segs	= fl_credit_min_tso_segs,		\
	.get_info	= fl_diag_fill,				\
	.flags		= TCP_CONG_NON_RESTRICTED,		\
	.owner		= THIS_MODULE,				\
	.name		= _name,				\
}

/* The control @_ops, called @_name, of flows without credit; never registered. */
#define FL_CREDIT_WITHOUT(_ops, _name)				\
/* the compiler drops the end of a name that just fits */	\
static_assert(sizeof(_name) <= TCP_CA_NAME_MAX);		\
static struct tcp_congestion_ops _ops __read_mostly = {		\
	.release	= fl_credit_release_sk,			\
	.ssthresh	= tcp_reno_ssthresh,			\
	.cong_avoid	= fl_credit_without_avoid,		\
	.undo_cwnd	= tcp_reno_undo_cwnd,			\
	.get_info	= fl_diag_fill,				\
	.owner		= THIS_MODULE,				\
	.name		= _name,				\
}

/* Within the folder */
struct fl_credit_node *fl_credit_find(const struct sock *sk,
				      enum fl_credit_role role);
int fl_credit_add(struct fl_credit_node *node);
void fl_credit_del(struct fl_credit_node *node);
void fl_credit_end_all(void (*end)(struct fl_credit_node *node));
bool fl_credit_possible(const struct sock *sk);
int fl_credit_table_init(void);
void fl_credit_table_exit(void);
void fl_credit_note(const struct net *net, enum fl_credit_count what, u32 n);

int fl_credit_send(struct sock *sk, enum fl_credit_colour colour,
		   const struct fl_credit_msg *m, u32 seq);
void fl_credit_reroute_owned(struct sock *sk);
void fl_credit_reroute(struct sock *sk);

int fl_knock_init(void);
void fl_knock_exit(void);

void fl_receiver_request(struct sock *sk, const struct fl_credit_msg *m);
void fl_receiver_green(struct sock *sk, const struct fl_credit_msg *m, u32 segs,
		       bool marked);
void fl_receiver_red(struct sock *sk, const struct fl_credit_msg *m, u32 segs,
		     bool marked);
void fl_receiver_end(struct fl_receiver *r);

struct fl_pacer *fl_pacer_get(const struct net *net, int ifindex,
			      const struct fl_pacer_ops *ops);
void fl_pacer_put(struct fl_pacer *p);
void fl_pacer_queue(struct fl_pacer *p, struct fl_receiver *r, u64 due_ns);
void fl_pacer_unqueue(struct fl_pacer *p, struct fl_receiver *r);

int fl_sender_start(struct sock *sk, struct fl_sender *s,
		    const struct fl_sender_ops *ops);
void fl_sender_stop(struct sock *sk, struct fl_sender *s);
void fl_sender_free(struct fl_sender *s);
void fl_sender_window(struct fl_sender *s);
void fl_sender_tail(struct fl_sender *s);
void fl_sender_ask(struct fl_sender *s);
void fl_sender_before_xmit(struct fl_sender *s);
bool fl_sender_judge(struct fl_sender *s);
bool fl_sender_asks_again(const struct fl_sender *s);
void fl_sender_info(const struct fl_sender *s, struct fl_info *info);
u32 fl_sender_due(const struct fl_sender *s);
void fl_sender_leaves(struct fl_sender *s, u32 seq);
void fl_sender_red(struct fl_sender *s, u32 seq, u32 bytes, u32 segs);
bool fl_sender_copy(struct fl_sender *s, u32 due_segs);

void fl_sender_credit(struct sock *sk, const struct fl_credit_msg *m);
void fl_sender_seen(struct sock *sk, const struct fl_credit_msg *m);
u32 fl_sender_backlog(const struct sock *sk);
u32 fl_sender_backlog_after(const struct sock *sk, u32 seq, u32 bytes, u32 segs);
u32 fl_sender_tells(struct fl_sender *s, u32 left_segs);

/* Fallback: goes on with another control at once. Context: socket lock held. */
void fl_sender_fall_back(struct sock *sk, struct fl_sender *s,
			 const struct fl_sender_ops *ops);

static inline struct fl_receiver *fl_receiver_of(struct fl_credit_node *node)
{
	return container_of(node, struct fl_receiver, node);
}

static inline struct fl_sender *fl_sender_of(struct fl_credit_node *node)
{
	return container_of(node, struct fl_sender, node);
}

/* How many take part: while none does, packets are not looked at. */
extern atomic_t fl_credit_users;

void fl_credit_out(struct sk_buff *skb, struct sock *sk,
		   const struct nf_hook_state *state, int ip_bytes);
unsigned int fl_credit_in(struct sk_buff *skb, struct sock *sk,
			  const struct nf_hook_state *state, int ip_bytes,
			  bool believed);

#endif /* FL_CREDIT_H */
