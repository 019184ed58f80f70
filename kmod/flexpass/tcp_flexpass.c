// SPDX-License-Identifier: GPL-2.0
/*
 * FlexPass: credit for part of the line, a window for the rest (Lim, Bai, Zhu, Jung, Han,
 * "FlexPass: A Case for Flexible Credit-based Transport for Datacenter Networks",
 * EuroSys 2023).
 *
 * A segment leaves green for each credit (kmod/credit/), and red while there is room in a
 * DCTCP window of its own (core/fp_window.h). Switches give both a share of the line
 * beside other traffic, and drop red ones early. What is lost is repaired by credit, and
 * only by credit. TCP has one sequence for both.
 *
 * flexpass-ly is the paper's rival, layering: a segment needs credit and room in a DCTCP
 * window. Nothing leaves without credit, and switches mark green segments.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "credit/credit.h"
#include "fairlane/fl_sock.h"
#include "flexpass/core/fp_window.h"

/* First window of what leaves without credit, packets: ACKs of two packets come at once,
 * and more would be a burst that no credit has asked for.
 */
#define FLEXPASS_FIRST_PKTS	2

/* While so many segments of the flow, or as many as a credit pays for, wait in its own port, none
 * leaves without credit. Marks tell of other ports' queues an RTT later; this one is known at once.
 */
#define FLEXPASS_OWN_SEGS	4
/* Longer RTTs are all the same, us: ns are 32 bits. */
#define FLEXPASS_RTT_MAX_US	4000000

/**
 * struct flexpass - a flow
 * @flow: what all have that send by credit; the first
 * @wnd: what leaves without credit; of layering, what may be in flight
 * @lost: flexpass_lost() when @wnd was told of losses
 */
struct flexpass {
	struct fl_credit_flow flow;
	struct fp_window wnd;
	u32 lost;
};

FL_CREDIT_WITHOUT(tcp_flexpass_reno, "flexpass-reno");

static struct flexpass *flexpass_of(const struct fl_sender *s)
{
	return container_of(s, struct flexpass, flow.sender);
}

/* Segments that were lost, on the path or at the own port. */
static u32 flexpass_lost(const struct sock *sk, const struct fl_sender *s)
{
	return tcp_sk(sk)->lost + READ_ONCE(s->own_drops);
}

/* Context: socket lock held. */
static void flexpass_begin(struct sock *sk, struct fl_sock *fs,
			   struct fl_credit_flow *flow)
{
	struct flexpass *fp = container_of(flow, struct flexpass, flow);

	fp_window_init(&fp->wnd, FLEXPASS_FIRST_PKTS);
	fp->lost = flexpass_lost(sk, &flow->sender);
}

/* Packets that wait in the queueing discipline through which the socket sends. */
static u32 flexpass_port_pkts(struct sock *sk)
{
	int place = sk_tx_queue_get(sk);
	const struct dst_entry *dst;
	const struct Qdisc *q;
	u32 pkts = 0;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst && dst->dev->real_num_tx_queues) {
		if (place < 0 || place >= dst->dev->real_num_tx_queues)
			place = 0;
		q = rcu_dereference(netdev_get_tx_queue(dst->dev, place)->qdisc);
		pkts = q ? qdisc_qlen_sum(q) : 0;
	}
	rcu_read_unlock();
	return pkts;
}

/* Does the flow have enough in its own port's queue? A card that tells late what it has sent has
 * as much without a queue.
 */
static bool flexpass_own_full(const struct fl_sender *s)
{
	u32 segs = max_t(u32, s->gate.segs, FLEXPASS_OWN_SEGS);

	return sk_wmem_alloc_get(s->node.sk) > segs * SKB_TRUESIZE(tcp_sk(s->node.sk)->mss_cache) &&
	       flexpass_port_pkts(s->node.sk);
}

/* The same; if so, the stack asks again when a packet of the flow has left, as for its own limit
 * (tcp_small_queue_check()). A timer would ask on and on while a port is paused.
 */
static bool flexpass_own_waits(const struct fl_sender *s)
{
	if (!flexpass_own_full(s))
		return false;
	set_bit(TSQ_THROTTLED, &s->node.sk->sk_tsq_flags);
	/* the last one may have left before that was seen */
	smp_mb__after_atomic();
	return flexpass_own_full(s);
}

/* The newest RTT, not the smoothed one: what is sent again makes that longer by an eighth of a
 * tick of TCP's time stamps, 1 ms. Context of this and what follows: socket lock held.
 */
static u32 flexpass_room(const struct fl_sender *s, u64 *wait_ns)
{
	const struct tcp_sock *tp = tcp_sk(s->node.sk);
	u32 rtt_us = min_t(u32, tp->rack.rtt_us ?: tp->srtt_us >> 3, FLEXPASS_RTT_MAX_US);
	struct fp_window *w = &flexpass_of(s)->wnd;
	u32 room = fp_window_room(w, s->red_segs, ktime_get_ns(), rtt_us * NSEC_PER_USEC, wait_ns);

	if (!room || !flexpass_own_waits(s))
		return room;
	*wait_ns = 0;
	return 0;
}

static u32 flexpass_unsure(const struct fl_sender *s)
{
	return s->red_segs - flexpass_of(s)->wnd.seen;
}

/* Marks that the receiver has told of. Fewer than before, and what was told before was false
 * (fl_sender_seen()): nothing is known of the time between.
 */
static u32 flexpass_marks(const struct fl_sender *s, struct fp_window *w)
{
	s32 marks = fl_credit_reds_ahead(READ_ONCE(s->heard_marks), w->marks);

	if (marks < 0)
		fp_window_move(w, 0, w->marks + marks);
	return w->marks + max(marks, 0);
}

static bool flexpass_loss(struct flexpass *fp)
{
	const struct fl_sender *s = &fp->flow.sender;
	u32 lost = flexpass_lost(s->node.sk, s);
	bool loss = lost != fp->lost;

	fp->lost = lost;
	return loss;
}

/* The receiver has told of @reds more. More than were sent, and its count is another's: the
 * socket has been FlexPass' before, or somebody on the path has changed a number. It believes only
 * larger ones: ours go on from there. Else no red segment would ever be seen, and the window would
 * stay full.
 */
static void flexpass_count(struct fl_sender *s, s32 reds)
{
	struct fp_window *w = &flexpass_of(s)->wnd;

	if (reds <= 0 || (u32)reds <= flexpass_unsure(s))
		return;
	s->red_segs += reds;
	fp_window_move(w, reds, flexpass_marks(s, w));
}

/* What the receiver has told since the last ACK. */
static void flexpass_heard(struct fl_sender *s)
{
	struct flexpass *fp = flexpass_of(s);
	struct fp_window *w = &fp->wnd;
	u32 heard = READ_ONCE(s->heard_reds);
	s32 reds;

	flexpass_count(s, fl_credit_reds_ahead(heard, w->seen));
	reds = fl_credit_reds_ahead(heard, w->seen);
	/* TCP knows when all has come */
	if (!tcp_sk(s->node.sk)->packets_out)
		reds = flexpass_unsure(s);
	fp_window_update(w, s->red_segs, w->seen + max(reds, 0), flexpass_marks(s, w),
			 flexpass_loss(fp));
}

static void flexpass_timeout(struct fl_sender *s)
{
	fp_window_timeout(&flexpass_of(s)->wnd, s->red_segs);
}

/* Layering: all segments sent so far; TCP knows which of them are out. */
static u32 flexpass_ly_sent(const struct fl_sender *s)
{
	return (u32)(s->gate.paid_segs + s->gate.unpaid_segs);
}

/* Two at least, as DCTCP: the receiver keeps back the ACK of a lone segment. */
static u32 flexpass_ly_limit(const struct fl_sender *s)
{
	return max_t(u32, flexpass_of(s)->wnd.wnd >> FP_WND_SHIFT, 2);
}

static void flexpass_ly_heard(struct fl_sender *s)
{
	u32 out = tcp_packets_in_flight(tcp_sk(s->node.sk));
	struct flexpass *fp = flexpass_of(s);
	struct fp_window *w = &fp->wnd;
	u32 sent = flexpass_ly_sent(s), seen = sent - out;

	/* what counted as lost may count as in flight again */
	if ((s32)(seen - w->seen) < 0)
		seen = w->seen;
	fp_window_update(w, sent, seen, flexpass_marks(s, w), flexpass_loss(fp));
}

static void flexpass_ly_timeout(struct fl_sender *s)
{
	fp_window_timeout(&flexpass_of(s)->wnd, flexpass_ly_sent(s));
}

/* What the flow does, for the control plane. Context: RCU, socket not locked. */
static void flexpass_info(struct sock *sk, const struct fl_attached *at,
			  struct fl_info *info)
{
	const struct flexpass *fp;

	fl_credit_info(sk, at, info);
	if (info->state == FL_STATE_FALLBACK)
		return;
	fp = container_of(at, struct flexpass, flow.at);
	info->window_milli = ((u64)READ_ONCE(fp->wnd.wnd) * 1000) >> FP_WND_SHIFT;
}

static const struct fl_cc flexpass_cc = {
	.none = { .cc = &flexpass_cc },
	.name = "flexpass",
	.info = flexpass_info,
};

static const struct fl_cc flexpass_ly_cc = {
	.none = { .cc = &flexpass_ly_cc },
	.name = "flexpass-ly",
	.info = flexpass_info,
};

static const struct fl_sender_ops flexpass_sender = {
	.part = true,
	.cc = &flexpass_cc,
	.without = &tcp_flexpass_reno,
	.flow_bytes = sizeof(struct flexpass),
	.begin = flexpass_begin,
	.room = flexpass_room,
	.unsure = flexpass_unsure,
	.heard = flexpass_heard,
	.timeout = flexpass_timeout,
};

/* The credits of layering may ask for all of the line, as those of ExpressPass. */
static const struct fl_sender_ops flexpass_ly_sender = {
	.ecn = true,
	.cc = &flexpass_ly_cc,
	.without = &tcp_flexpass_reno,
	.flow_bytes = sizeof(struct flexpass),
	.begin = flexpass_begin,
	.limit = flexpass_ly_limit,
	.heard = flexpass_ly_heard,
	.timeout = flexpass_ly_timeout,
};

FL_CREDIT_CONTROL(tcp_flexpass, "flexpass", flexpass_sender);
FL_CREDIT_CONTROL(tcp_flexpass_ly, "flexpass-ly", flexpass_ly_sender);

static int __init flexpass_register(void)
{
	int err = tcp_register_congestion_control(&tcp_flexpass);

	if (err)
		return err;
	err = tcp_register_congestion_control(&tcp_flexpass_ly);
	if (err)
		tcp_unregister_congestion_control(&tcp_flexpass);
	return err;
}

static void __exit flexpass_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_flexpass_ly);
	tcp_unregister_congestion_control(&tcp_flexpass);
	/* timers that were running when their flow ended */
	rcu_barrier();
}

module_init(flexpass_register);
module_exit(flexpass_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("FlexPass: credit for part of the line, a window for the rest");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
MODULE_ALIAS("tcp_flexpass-ly");
