// SPDX-License-Identifier: GPL-2.0
/*
 * What the congestion controls that send by credit have in common: their callbacks.
 * Each brings a struct fl_sender_ops, which says what distinguishes it.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "credit/credit.h"
#include "fairlane/fl_sock.h"

/* A send buffer has room for so many times what is in flight. At 10 Gbit/s and an RTT of 1 ms a
 * flow has .88 with 2 of what it has with buffers that do not limit, all with 4: the application is
 * woken when a third is free.
 */
#define FL_CREDIT_BUFFER_FLIGHTS	4

/**
 * struct fl_credit_ca - what a flow keeps in the socket
 * @fs: settings of the socket
 * @flow: the rest; NULL = not started, or no memory
 * @later: begin with these as soon as the connection is one; NULL = begun
 * @with: the control
 * @started: fl_credit_init_sk() was here
 */
struct fl_credit_ca {
	struct fl_sock *fs;
	struct fl_credit_flow *flow;
	const struct fl_sender_ops *later;
	const struct tcp_congestion_ops *with;
	bool started;
};

/* Is it known what the peer can do? Not before its SYN has come, nor while a program puts a
 * connection together (TCP_REPAIR).
 */
static bool fl_credit_connected(const struct sock *sk)
{
	return sk->sk_state != TCP_SYN_SENT && !tcp_sk(sk)->repair;
}

/* Begins to send by credit, or goes on with @ops->without. Context: socket lock held, any. */
static void fl_credit_begin(struct sock *sk, const struct fl_sender_ops *ops)
{
	struct fl_credit_ca *ca = inet_csk_ca(sk);
	struct fl_credit_flow *flow = kzalloc(ops->flow_bytes,
					      GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);

	if (flow && ops->begin)
		ops->begin(sk, ca->fs, flow);
	if (!flow || fl_sender_start(sk, &flow->sender, ops)) {
		kfree(flow);
		fl_credit_note(sock_net(sk), FL_CREDIT_N_FALLBACKS, 1);
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, ops->without);
		return;
	}
	flow->at.cc = ops->cc;
	ca->flow = flow;
	fl_sock_show(ca->fs, &flow->at);
}

/* The ACK of our SYN comes before the init callback, unless the control was set after the SYN had
 * left: the stack does not call it again then. Context: socket lock held.
 */
static struct fl_sender *fl_credit_sender(struct sock *sk)
{
	struct fl_credit_ca *ca = inet_csk_ca(sk);
	const struct fl_sender_ops *ops;

	if (!inet_csk(sk)->icsk_ca_initialized)
		return NULL;
	ops = ca->later;
	if (unlikely(ops) && fl_credit_connected(sk)) {
		ca->later = NULL;
		fl_credit_begin(sk, ops);
	}
	return ca->flow ? &ca->flow->sender : NULL;
}

/**
 * fl_credit_init_sk() - the init callback of a control
 * @sk: the socket; caller holds its lock; mostly its handshake is complete
 * @ops: the control's
 *
 * Without memory, or on a connection that cannot, the flow begins with @ops->without.
 */
void fl_credit_init_sk(struct sock *sk, const struct fl_sender_ops *ops)
{
	struct fl_credit_ca *ca = inet_csk_ca(sk);

	BUILD_BUG_ON(sizeof(*ca) > ICSK_CA_PRIV_SIZE);
	memset(ca, 0, sizeof(*ca));
	ca->started = true;
	ca->with = inet_csk(sk)->icsk_ca_ops;
	ca->fs = fl_sock_attach(sk, ops->cc);
	if (fl_credit_connected(sk))
		fl_credit_begin(sk, ops);
	else
		ca->later = ops;
}
EXPORT_SYMBOL_GPL(fl_credit_init_sk);

/* Context: RCU callback. */
static void fl_credit_free_rcu(struct rcu_head *rcu)
{
	struct fl_credit_flow *flow = container_of(rcu, struct fl_credit_flow, rcu);

	fl_sender_free(&flow->sender);
	kfree(flow);
}

/* By credit again, as after a switch; without memory a second later. Context: socket lock held. */
static void fl_credit_try_again(struct sock *sk, struct fl_credit_flow *before)
{
	struct fl_credit_ca *ca = inet_csk_ca(sk);

	before->sender.again_jiffies = (jiffies + HZ) | 1;
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, ca->with);
	fl_credit_begin(sk, before->sender.ops);
	if (ca->flow == before)
		return;
	ca->flow->sender.again = before->sender.again;
	call_rcu(&before->rcu, fl_credit_free_rcu);
}

/* The cong_avoid callback of those without credit: Reno, until it is time to ask again. Context:
 * ACKs, socket lock held.
 */
void fl_credit_without_avoid(struct sock *sk, u32 ack, u32 acked)
{
	const struct fl_credit_ca *ca = inet_csk_ca(sk);

	if (ca->flow && fl_sender_asks_again(&ca->flow->sender))
		fl_credit_try_again(sk, ca->flow);
	else
		tcp_reno_cong_avoid(sk, ack, acked);
}
EXPORT_SYMBOL_GPL(fl_credit_without_avoid);

/**
 * fl_credit_release_sk() - the release callback: another control, or the end
 * @sk: the socket; caller holds its lock
 *
 * Also called without fl_credit_init_sk(), on listeners, and twice. Of a connection that ends while
 * its socket stays (disconnect) the next one asks for credit again. Both have the same owner.
 */
void fl_credit_release_sk(struct sock *sk)
{
	struct fl_credit_ca *ca = inet_csk_ca(sk);
	struct fl_credit_flow *flow = ca->flow;

	if (!ca->started)
		return;
	ca->started = false;
	ca->flow = NULL;
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, ca->with);
	fl_sock_detach(sk, ca->fs);
	ca->fs = NULL;
	if (!flow)
		return;
	fl_sender_stop(sk, &flow->sender);
	call_rcu(&flow->rcu, fl_credit_free_rcu);
}
EXPORT_SYMBOL_GPL(fl_credit_release_sk);

/* The stack makes a send buffer larger while the congestion window has room (tcp_new_space()),
 * which ours never has: 46 kB would be all that a flow may have in flight. So this does what the
 * stack does, with the same bounds: room for some times what was in flight, @flight_pkts. An
 * application waits for room because the buffer is small or because credit is slow. In the second
 * case little is in flight. Context: each ACK, socket lock held.
 */
static void fl_credit_widen(struct sock *sk, u32 flight_pkts)
{
	u32 pkt_bytes = tcp_sk(sk)->mss_cache + MAX_TCP_HEADER +
			SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	u64 bytes;

	if (!sk->sk_socket || !test_bit(SOCK_NOSPACE, &sk->sk_socket->flags) ||
	    sk->sk_userlocks & SOCK_SNDBUF_LOCK ||
	    tcp_under_memory_pressure(sk))
		return;
	pkt_bytes = roundup_pow_of_two(pkt_bytes) + SKB_DATA_ALIGN(sizeof(struct sk_buff));
	bytes = min_t(u64, (u64)FL_CREDIT_BUFFER_FLIGHTS * flight_pkts * pkt_bytes,
		      READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[2]));
	if (bytes > READ_ONCE(sk->sk_sndbuf))
		WRITE_ONCE(sk->sk_sndbuf, bytes);
}

/* The cong_control callback. Context: each ACK, socket lock held. */
void fl_credit_cong_control(FL_CONG_CONTROL_ARGS)
{
	struct fl_sender *s = fl_credit_sender(sk);

	if (!s)
		return;
	fl_unpace(sk);
	fl_credit_widen(sk, rs->prior_in_flight);
	if (s->ops->heard)
		s->ops->heard(s);
	if (fl_sender_judge(s))
		return;
	fl_sender_window(s);
	fl_sender_tail(s);
}
EXPORT_SYMBOL_GPL(fl_credit_cong_control);

/* The set_state callback: TCP's timer asks for credit.
 *
 * There is no undo. What has come later than was thought makes the stack take back all marks of
 * loss (tcp_undo_cwnd_reduction()), also of segments that RACK has marked and that wait for credit
 * to be sent again. RACK has taken those out of its list and does not look at them again: they
 * waited for TCP's timer. Nor is there a window to be given back. Context: socket lock held.
 */
void fl_credit_set_state(struct sock *sk, u8 new_state)
{
	struct fl_sender *s = fl_credit_sender(sk);

	if (!s)
		return;
	if (new_state >= TCP_CA_Recovery)
		tcp_sk(sk)->undo_marker = 0;
	if (new_state != TCP_CA_Loss)
		return;
	if (s->ops->timeout)
		s->ops->timeout(s);
	fl_sender_ask(s);
}
EXPORT_SYMBOL_GPL(fl_credit_set_state);

/* The min_tso_segs callback: the stack is about to send. Context: socket lock held. */
u32 fl_credit_min_tso_segs(struct sock *sk)
{
	struct fl_sender *s = fl_credit_sender(sk);

	if (s)
		fl_sender_before_xmit(s);
	return 1;
}
EXPORT_SYMBOL_GPL(fl_credit_min_tso_segs);

/* Required by the stack; the window is set by credits and fl_sender_ops.room alone. */
u32 fl_credit_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}
EXPORT_SYMBOL_GPL(fl_credit_ssthresh);

/* Likewise. */
u32 fl_credit_undo_cwnd(struct sock *sk)
{
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), 1);
}
EXPORT_SYMBOL_GPL(fl_credit_undo_cwnd);

/* What the flow does, for the control plane. Context: RCU, socket not locked. */
void fl_credit_info(struct sock *sk, const struct fl_attached *at,
		    struct fl_info *info)
{
	const struct fl_credit_flow *flow;

	info->state = FL_STATE_FALLBACK;
	info->window_milli = 1000ULL * fl_snd_cwnd_seen(sk);
	if (at == &at->cc->none)
		return;
	flow = container_of(at, struct fl_credit_flow, at);
	fl_sender_info(&flow->sender, info);
}
EXPORT_SYMBOL_GPL(fl_credit_info);
