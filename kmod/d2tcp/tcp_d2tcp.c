// SPDX-License-Identifier: GPL-2.0
/*
 * D2TCP: DCTCP that knows deadlines (Vamanan et al., SIGCOMM 2012).
 *
 * The arithmetic is core/d2tcp.c. Everything but the reduction is DCTCP as RFC
 * 8257 has it: alpha from the marks of each RTT, Reno's growth, slow start, half
 * of the window for a loss. Switches must mark (sch_fabric: ecn), and the
 * receiver must echo each mark: set d2tcp or dctcp there, too. Without ECN on the
 * path a socket is Reno.
 *
 * The deadline is FL_SO_DEADLINE_US (fl_sock.h), a time from the start of a
 * message; 0 and unset are DCTCP. What the kernel knows of messages:
 *
 * - It sees bytes, not messages. One begins with the first data sent after
 *   everything before it was acknowledged, or when the deadline is changed while
 *   data is there. An application that pipelines messages on a connection sets the
 *   deadline anew for each.
 * - B, the rest of a message, is what is queued in the send buffer or not
 *   acknowledged. While the application waits for room in the send buffer there
 *   may be more, and then d is not below 1 (fl_d2tcp_imminence()). With a buffer
 *   that takes the message (SO_SNDBUF, net.ipv4.tcp_wmem) B is exact.
 * - A pause of the application in the middle of a message, long enough for
 *   everything to be acknowledged, begins a new one.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "d2tcp/core/d2tcp.h"
#include "fairlane/fl_sock.h"
#include "fairlane/fl_trace.h"

/* g of DCTCP is 1 / 2 to this (RFC 8257, section 4.2: 1/16). */
#define D2TCP_SHIFT_G	4

/**
 * struct d2tcp - what a flow keeps in the socket
 * @fs: settings of the socket
 * @start_ns: when the message began, monotonic ns
 * @deadline_us: deadline in force, us from @start_ns; 0 = none
 * @alpha: fraction of marked packets, << FL_D2TCP_ALPHA_SHIFT
 * @old_delivered: tp->delivered when this RTT began
 * @old_delivered_ce: tp->delivered_ce then
 * @next_seq: the RTT ends when this is acknowledged
 * @loss_cwnd: window before the last reduction, packets
 * @prior_rcv_nxt: as a receiver: tp->rcv_nxt at the last packet
 * @d: imminence at the last reduction, << FL_D2TCP_D_SHIFT
 * @ce: as a receiver: the last packet was marked
 * @started: d2tcp_init() was here
 * @reno: there is no ECN
 */
struct d2tcp {
	struct fl_sock *fs;
	u64 start_ns;
	u32 deadline_us;
	u32 alpha;
	u32 old_delivered;
	u32 old_delivered_ce;
	u32 next_seq;
	u32 loss_cwnd;
	u32 prior_rcv_nxt;
	u16 d;
	u8 ce;
	u8 started:1,
	   reno:1;
};

static struct tcp_congestion_ops tcp_d2tcp, tcp_d2tcp_reno;

/* Begin an RTT. */
static void d2tcp_round(const struct tcp_sock *tp, struct d2tcp *dt)
{
	dt->next_seq = tp->snd_nxt;
	dt->old_delivered = tp->delivered;
	dt->old_delivered_ce = tp->delivered_ce;
}

/* What the flow does, for the control plane. Context: RCU, socket not locked. */
static void d2tcp_info(struct sock *sk, const struct fl_attached *at,
		       struct fl_info *info)
{
	u32 cwnd = fl_snd_cwnd_seen(sk);
	u32 srtt_us = READ_ONCE(tcp_sk(sk)->srtt_us) >> 3;
	struct d2tcp dt;

	fl_ca_seen(sk, &dt, sizeof(dt));
	info->state = dt.reno ? FL_STATE_FALLBACK : FL_STATE_SENDING;
	info->window_milli = (u64)cwnd * 1000;
	info->rate_bps = div_u64((u64)cwnd * fl_mss_seen(sk) * 8 * USEC_PER_SEC,
				 max_t(u32, srtt_us, 1));
}

/* Has the deadline changed? Then the message begins now. Context: socket lock
 * held, process or softirq.
 */
static void d2tcp_changed(struct sock *sk)
{
	struct d2tcp *dt = inet_csk_ca(sk);
	u32 deadline_us = fl_sock_deadline_us(dt->fs);

	if (dt->deadline_us == deadline_us)
		return;
	dt->deadline_us = deadline_us;
	dt->start_ns = ktime_get_ns();
}

static const struct fl_cc d2tcp_cc = {
	.none = { .cc = &d2tcp_cc },
	.name = "d2tcp",
	.info = d2tcp_info,
	.changed = d2tcp_changed,
};

/* Context: any, socket lock held; handshake complete. */
static void d2tcp_init(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct d2tcp *dt = inet_csk_ca(sk);

	BUILD_BUG_ON(sizeof(struct d2tcp) > ICSK_CA_PRIV_SIZE);
	memset(dt, 0, sizeof(*dt));
	dt->fs = fl_sock_attach(sk, &d2tcp_cc);
	dt->started = 1;
	dt->deadline_us = fl_sock_deadline_us(dt->fs);
	dt->start_ns = ktime_get_ns();
	if (!fl_tcp_ecn(tp)) {
		dt->reno = 1;
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &tcp_d2tcp_reno);
		INET_ECN_dontxmit(sk);
		return;
	}
	dt->alpha = FL_D2TCP_ALPHA_ONE;
	dt->d = FL_D2TCP_D_ONE;
	dt->prior_rcv_nxt = tp->rcv_nxt;
	d2tcp_round(tp, dt);
}

/* d of the message that is being sent. Context: ACK, socket lock held. */
static u32 d2tcp_imminence(const struct sock *sk, const struct d2tcp *dt)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct fl_d2tcp_need n = {
		.left_bytes = tp->write_seq - tp->snd_una,
		.cwnd_bytes = (u64)tcp_snd_cwnd(tp) * tp->mss_cache,
		.rtt_8us = tp->srtt_us,
		.left_us = dt->deadline_us,
		.more = sk->sk_socket &&
			test_bit(SOCK_NOSPACE, &sk->sk_socket->flags),
	};

	if (!dt->deadline_us)
		return FL_D2TCP_D_ONE;
	n.left_us -= div_u64(ktime_get_ns() - dt->start_ns, NSEC_PER_USEC);
	return fl_d2tcp_imminence(&n);
}

/* The window after a mark. Context: the stack's, once for each RTT with marks,
 * socket lock held. Losses come here, too, and d2tcp_loss() afterwards.
 */
static u32 d2tcp_ssthresh(struct sock *sk)
{
	struct d2tcp *dt = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	dt->loss_cwnd = cwnd;
	dt->d = d2tcp_imminence(sk, dt);
	return fl_d2tcp_reduce(cwnd, fl_d2tcp_penalty(dt->alpha, dt->d));
}

/* A loss takes half, as in RFC 8257, section 3.5. */
static void d2tcp_loss(struct sock *sk)
{
	struct d2tcp *dt = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	dt->loss_cwnd = tcp_snd_cwnd(tp);
	WRITE_ONCE(tp->snd_ssthresh, max_t(u32, dt->loss_cwnd / 2, FL_D2TCP_MIN_PKTS));
}

/* Context: each ACK, softirq or backlog, socket lock held. */
static void d2tcp_in_ack_event(struct sock *sk, u32 flags)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct d2tcp *dt = inet_csk_ca(sk);

	if (before(tp->snd_una, dt->next_seq))
		return;
	dt->alpha = fl_d2tcp_alpha(dt->alpha, tp->delivered - dt->old_delivered,
				   tp->delivered_ce - dt->old_delivered_ce,
				   D2TCP_SHIFT_G);
	d2tcp_round(tp, dt);
	trace_fl_delay_update(sk, (tp->srtt_us >> 3) * NSEC_PER_USEC, 0,
			      (u64)tcp_snd_cwnd(tp) * 1000);
}

static void d2tcp_set_state(struct sock *sk, u8 new_state)
{
	if (new_state == TCP_CA_Recovery &&
	    new_state != inet_csk(sk)->icsk_ca_state)
		d2tcp_loss(sk);
}

/* What ACKs from here on say of marks. */
static void d2tcp_echo(struct sock *sk, bool ce)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (ce)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* As a receiver: a packet has come, marked or not. An ACK must not stand for
 * packets of both kinds, so a change sends what is owed first (RFC 8257, section
 * 3.2). Context: softirq, socket lock held.
 */
static void d2tcp_packet(struct sock *sk, struct d2tcp *dt, bool ce)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (dt->ce != ce) {
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			d2tcp_echo(sk, dt->ce);
			fl_tcp_send_ack(sk, dt->prior_rcv_nxt);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	dt->prior_rcv_nxt = tcp_sk(sk)->rcv_nxt;
	dt->ce = ce;
	d2tcp_echo(sk, ce);
}

/* Context: socket lock held. */
static void d2tcp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct d2tcp *dt = inet_csk_ca(sk);

	switch (event) {
	case CA_EVENT_ECN_IS_CE:
		d2tcp_packet(sk, dt, true);
		break;
	case CA_EVENT_ECN_NO_CE:
		d2tcp_packet(sk, dt, false);
		break;
	case CA_EVENT_LOSS:
		/* the retransmission timer */
		d2tcp_loss(sk);
		break;
	case CA_EVENT_TX_START:
		/* nothing in flight; after a timeout everything is lost */
		if (!tcp_sk(sk)->packets_out)
			dt->start_ns = ktime_get_ns();
		break;
	default:
		break;
	}
}

static u32 d2tcp_undo_cwnd(struct sock *sk)
{
	const struct d2tcp *dt = inet_csk_ca(sk);

	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), dt->loss_cwnd);
}

/* As the kernel's DCTCP, so that ss shows it: alpha in 1/1024. Context: RCU,
 * socket not locked: values may be torn from one another.
 */
static size_t d2tcp_get_info(struct sock *sk, u32 ext, int *attr,
			     union tcp_cc_info *info)
{
	size_t size = fl_diag_fill(sk, ext, attr, info);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct d2tcp dt;

	if (size)
		return size;
	if (!(ext & ((1 << (INET_DIAG_DCTCPINFO - 1)) |
		     (1 << (INET_DIAG_VEGASINFO - 1)))))
		return 0;
	memset(&info->dctcp, 0, sizeof(info->dctcp));
	fl_ca_seen(sk, &dt, sizeof(dt));
	if (dt.started && !dt.reno) {
		info->dctcp.dctcp_enabled = 1;
		info->dctcp.dctcp_ce_state = dt.ce;
		info->dctcp.dctcp_alpha = dt.alpha >> (FL_D2TCP_ALPHA_SHIFT - 10);
		info->dctcp.dctcp_ab_ecn = fl_mss_seen(sk) *
			(READ_ONCE(tp->delivered_ce) - dt.old_delivered_ce);
		info->dctcp.dctcp_ab_tot = fl_mss_seen(sk) *
			(READ_ONCE(tp->delivered) - dt.old_delivered);
	}
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

/* Another congestion control, or the end. Also called without d2tcp_init(), on
 * listeners, and twice. The socket's next connection, if it makes one, may have ECN. Context:
 * socket lock held.
 */
static void d2tcp_release(struct sock *sk)
{
	struct d2tcp *dt = inet_csk_ca(sk);

	if (!dt->started)
		return;
	dt->started = 0;
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &tcp_d2tcp);
	fl_sock_detach(sk, dt->fs);
	dt->fs = NULL;
}

static struct tcp_congestion_ops tcp_d2tcp __read_mostly = {
	.init		= d2tcp_init,
	.release	= d2tcp_release,
	.in_ack_event	= d2tcp_in_ack_event,
	.cwnd_event	= d2tcp_cwnd_event,
	.ssthresh	= d2tcp_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= d2tcp_undo_cwnd,
	.set_state	= d2tcp_set_state,
	.get_info	= d2tcp_get_info,
	.flags		= TCP_CONG_NEEDS_ECN | TCP_CONG_NON_RESTRICTED,
	.owner		= THIS_MODULE,
	.name		= "d2tcp",
};

/* For paths without ECN; never registered. */
static struct tcp_congestion_ops tcp_d2tcp_reno __read_mostly = {
	.release	= d2tcp_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.get_info	= d2tcp_get_info,
	.owner		= THIS_MODULE,
	.name		= "d2tcp-reno",
};

static int __init d2tcp_register(void)
{
	return tcp_register_congestion_control(&tcp_d2tcp);
}

static void __exit d2tcp_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_d2tcp);
}

module_init(d2tcp_register);
module_exit(d2tcp_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("D2TCP: DCTCP that knows deadlines");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
