// SPDX-License-Identifier: GPL-2.0
/*
 * ExpressPass: the receiver says when to send (Cho, Jang, Han, "Credit-Scheduled
 * Delay-Bounded Congestion Control for Datacenters", SIGCOMM 2017).
 *
 * Everything is in kmod/credit/: here is the congestion control that users choose. A
 * segment leaves for each credit and never without. Switches must give credits a band of
 * their own whose rate is what their data may have (sch_fabric), and packets of other
 * controls in the data's band get nothing: that is what FlexPass is for.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "credit/credit.h"
#include "fairlane/fl_sock.h"

/**
 * struct expresspass - a flow
 * @at: for readers
 * @sender: what sends by credit
 * @rcu: readers
 */
struct expresspass {
	struct fl_attached at;
	struct fl_sender sender;
	struct rcu_head rcu;
};

/**
 * struct expresspass_ca - what a flow keeps in the socket
 * @fs: settings of the socket
 * @ep: the rest; NULL = not started, or no memory
 * @started: expresspass_init() was here
 */
struct expresspass_ca {
	struct fl_sock *fs;
	struct expresspass *ep;
	bool started;
};

static struct tcp_congestion_ops tcp_expresspass_reno;

static const struct fl_sender_ops expresspass_sender = {
	.without = &tcp_expresspass_reno,
};

/* What the flow does, for the control plane. Context: RCU, socket not locked. */
static void expresspass_info(struct sock *sk, const struct fl_attached *at,
			     struct fl_info *info)
{
	const struct expresspass *ep;

	info->state = FL_STATE_FALLBACK;
	info->window_milli = (u64)READ_ONCE(tcp_sk(sk)->snd_cwnd) * 1000;
	if (at == &at->cc->none)
		return;
	ep = container_of(at, struct expresspass, at);
	fl_sender_info(&ep->sender, info);
}

static const struct fl_cc expresspass_cc = {
	.none = { .cc = &expresspass_cc },
	.name = "expresspass",
	.info = expresspass_info,
};

/* Context: any, socket lock held; handshake complete. */
static void expresspass_init(struct sock *sk)
{
	struct expresspass_ca *ca = inet_csk_ca(sk);
	struct expresspass *ep;

	BUILD_BUG_ON(sizeof(*ca) > ICSK_CA_PRIV_SIZE);
	memset(ca, 0, sizeof(*ca));
	ca->started = true;
	ca->fs = fl_sock_attach(sk, &expresspass_cc);
	ep = kzalloc(sizeof(*ep), GFP_ATOMIC | __GFP_NOWARN);
	if (!ep || fl_sender_start(sk, &ep->sender, &expresspass_sender)) {
		kfree(ep);
		fl_credit_note(sock_net(sk), FL_CREDIT_N_FALLBACKS, 1);
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &tcp_expresspass_reno);
		return;
	}
	ep->at.cc = &expresspass_cc;
	ca->ep = ep;
	fl_sock_show(ca->fs, &ep->at);
}

/* Another congestion control, or the end. Also called without expresspass_init(), on
 * listeners, and twice. Context: socket lock held.
 */
static void expresspass_release(struct sock *sk)
{
	struct expresspass_ca *ca = inet_csk_ca(sk);
	struct expresspass *ep = ca->ep;

	if (!ca->started)
		return;
	ca->started = false;
	ca->ep = NULL;
	fl_sock_detach(sk, ca->fs);
	ca->fs = NULL;
	if (!ep)
		return;
	fl_sender_stop(sk, &ep->sender);
	kfree_rcu(ep, rcu);
}

/* Context: each ACK, socket lock held. */
static void expresspass_cong_control(FL_CONG_CONTROL_ARGS)
{
	struct expresspass_ca *ca = inet_csk_ca(sk);

	/* the ACK of our SYN comes before expresspass_init() */
	if (inet_csk(sk)->icsk_ca_initialized && ca->ep)
		fl_sender_window(&ca->ep->sender);
}

/* The stack is about to send. Context: socket lock held. */
static u32 expresspass_min_tso_segs(struct sock *sk)
{
	struct expresspass_ca *ca = inet_csk_ca(sk);

	if (inet_csk(sk)->icsk_ca_initialized && ca->ep)
		fl_sender_before_xmit(&ca->ep->sender);
	return 1;
}

/* Required by the stack; the window is set by credits alone. */
static u32 expresspass_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static u32 expresspass_undo_cwnd(struct sock *sk)
{
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), 1);
}

static struct tcp_congestion_ops tcp_expresspass __read_mostly = {
	.init		= expresspass_init,
	.release	= expresspass_release,
	.ssthresh	= expresspass_ssthresh,
	.undo_cwnd	= expresspass_undo_cwnd,
	.cong_control	= expresspass_cong_control,
	.min_tso_segs	= expresspass_min_tso_segs,
	.get_info	= fl_diag_fill,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.owner		= THIS_MODULE,
	.name		= "expresspass",
};

/* For peers and paths without credit; never registered. */
static struct tcp_congestion_ops tcp_expresspass_reno __read_mostly = {
	.release	= expresspass_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.get_info	= fl_diag_fill,
	.owner		= THIS_MODULE,
	.name		= "expresspass-reno",
};

static int __init expresspass_register(void)
{
	return tcp_register_congestion_control(&tcp_expresspass);
}

static void __exit expresspass_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_expresspass);
	/* timers that were running when their flow ended */
	rcu_barrier();
}

module_init(expresspass_register);
module_exit(expresspass_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("ExpressPass: the receiver says when to send");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
