// SPDX-License-Identifier: GPL-2.0
/*
 * Measured base RTTs, shared by the flows of a host.
 *
 * A flow that begins while others keep a queue never sees the empty path: all
 * it measures is that queue, and it takes it for the base RTT. A delay-based
 * control with that error gets more than its share, and PrioPlus a higher
 * priority than it has. So what one flow has seen, all flows of the namespace
 * to the same destination know, for two windows of 2.1 s. The minimum forgets,
 * since routes change, and for that it must be renewed while a queue stands:
 * from time to time flows let it drain (fl_base_rtt_drain(), tcp_prioplus.c). These times are
 * those of the wall clock, so hosts whose clocks agree drain it together.
 *
 * Paths lie in a table of fixed size (fl_paths.h). Two that share a place do not share a
 * minimum: the second one goes on with what each flow has seen, which is as
 * good as no table. The key has the size of packets, since the base RTT does.
 *
 * An address is not always one path: behind a virtual one are hosts near and far, and a
 * receiver that acknowledges what has not come yet seems to be near. What others have seen
 * is a hint, then, that is too low for some, who find out (pp_open.c). They tell how long
 * their path is, and who begins with a handshake that took as long begins with that.
 */
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#include "fairlane.h"
#include "fl_paths.h"

/* Longest RTT of a handshake that is believed, us. */
#define FL_BASE_HANDSHAKE_US	200000

/**
 * struct fl_base_rtt_net - paths of a network namespace
 * @paths: of struct fl_base_rtt_path
 * @lock: writers of paths; from softirq, too
 */
struct fl_base_rtt_net {
	struct fl_paths paths;
	/* of entries; see above */
	spinlock_t lock;
};

static unsigned int fl_base_rtt_net_id __read_mostly;
static u32 fl_base_rtt_seed __read_mostly;

static u32 fl_base_rtt_key(const struct sock *sk)
{
	u32 salt = fl_base_rtt_seed ^ tcp_sk(sk)->mss_cache;
	u32 key;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		key = jhash2((const u32 *)&sk->sk_v6_daddr, 4, salt);
	else
#endif
		key = jhash_1word((__force u32)sk->sk_daddr, salt);
	return key ?: 1;
}

/* The window at monotonic time @now_ns. The wall clock is asked once in each, and each time that a
 * queue is let drain: if it is set meanwhile, a flow finds out then.
 */
static u32 fl_base_rtt_window(struct fl_base_rtt *b, u64 now_ns)
{
	u64 wall_ns, turn_ns;

	if (likely(now_ns < b->turn_ns))
		return b->window;
	wall_ns = ktime_to_ns(ktime_mono_to_real(ns_to_ktime(now_ns)));
	turn_ns = BIT_ULL(b->drain_shift ?: FL_BASE_WINDOW_SHIFT);
	b->turned |= !!b->turn_ns;
	b->turn_ns = now_ns + turn_ns - (wall_ns & (turn_ns - 1));
	return wall_ns >> FL_BASE_WINDOW_SHIFT;
}

/**
 * fl_base_rtt_drain() - how often are queues let drain?
 * @b: the flow's base RTTs
 * @shift: each time that so many ns of the wall clock turn, log2; at most FL_BASE_WINDOW_SHIFT
 */
void fl_base_rtt_drain(struct fl_base_rtt *b, u8 shift)
{
	if (b->drain_shift == shift)
		return;
	b->drain_shift = shift;
	b->turn_ns = 0;
}
EXPORT_SYMBOL_GPL(fl_base_rtt_drain);

/* What the table says, into the flow's own. Return: has it changed? */
static bool fl_base_rtt_take(struct fl_base_rtt *b, u32 data_ns, u32 probe_ns, u32 held_ns)
{
	if (b->data_ns == data_ns && b->probe_ns == probe_ns && b->held_ns == held_ns)
		return false;
	b->data_ns = data_ns;
	b->probe_ns = probe_ns;
	b->held_ns = held_ns;
	return true;
}

/* What the handshake says of a probe's RTT, ns; 0 = nothing. Its packets are as short as
 * probes, and many a connection that sends into a queue was made before the queue. The
 * stack counts whole microseconds: one more, so as not to be too low, which is up to 2 us
 * too much. Where nothing has left since the SYN, its time is known in ns. What is longer
 * than FL_BASE_HANDSHAKE_US may be of a SYN that was sent again.
 */
static u32 fl_base_rtt_handshake_ns(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 ns = tp->tcp_clock_cache - tp->tcp_wstamp_ns;
	u32 us = tcp_min_rtt(tp);

	if (!tp->srtt_us || us > FL_BASE_HANDSHAKE_US)
		return 0;
	/* of the same packet, then */
	if (ns > (us - 1ULL) * NSEC_PER_USEC && ns < (us + 1ULL) * NSEC_PER_USEC)
		return ns;
	return (us + 1) * NSEC_PER_USEC;
}

/**
 * fl_base_rtt_start() - what is known about a flow's path
 * @sk: the socket; caller holds its lock
 * @b: the flow's base RTTs, initialised
 */
void fl_base_rtt_start(struct sock *sk, struct fl_base_rtt *b)
{
	b->key = fl_base_rtt_key(sk);
	b->mss = tcp_sk(sk)->mss_cache;
	b->data_ns = FL_BASE_NONE;
	b->probe_ns = FL_BASE_NONE;
	b->held_ns = 0;
	b->drain_shift = 0;
	b->turn_ns = 0;
	b->window = fl_base_rtt_window(b, ktime_get_ns());
	fl_base_rtt_learn(sk, b, ktime_get_ns(), 0, fl_base_rtt_handshake_ns(sk));
}
EXPORT_SYMBOL_GPL(fl_base_rtt_start);

/**
 * fl_base_rtt_learn() - tell and ask for base RTTs
 * @sk: the socket; caller holds its lock
 * @b: the flow's base RTTs, updated
 * @now_ns: monotonic time, ns
 * @data_ns: delay of a full packet, ns; 0 = none
 * @probe_ns: delay of a probe, ns; 0 = none
 *
 * Context: softirq or process. Takes no lock unless there is something new.
 * Return: true if the flow's base RTTs have changed; @b->turned is set at the
 * turn of a window.
 */
bool fl_base_rtt_learn(struct sock *sk, struct fl_base_rtt *b, u64 now_ns,
		       u32 data_ns, u32 probe_ns)
{
	struct fl_base_rtt_net *bn = net_generic(sock_net(sk), fl_base_rtt_net_id);
	u32 window = fl_base_rtt_window(b, now_ns);
	struct fl_base_rtt_path *p;
	u32 d, q, held_ns;

	if (b->mss != tcp_sk(sk)->mss_cache) {
		b->mss = tcp_sk(sk)->mss_cache;
		b->key = fl_base_rtt_key(sk);
		b->data_ns = FL_BASE_NONE;
	}
	b->window = window;
	data_ns = data_ns ?: FL_BASE_NONE;
	probe_ns = probe_ns ?: FL_BASE_NONE;
	p = fl_paths_find(&bn->paths, b->key, sizeof(*p)) ?:
	    fl_paths_make(&bn->paths, b->key, sizeof(*p));
	if (unlikely(!p))
		return fl_base_rtt_take(b, min_t(u32, b->data_ns, data_ns),
					min_t(u32, b->probe_ns, probe_ns), 0);
	if (READ_ONCE(p->key) == b->key && READ_ONCE(p->window) == window &&
	    data_ns >= READ_ONCE(p->now_ns[FL_BASE_DATA]) &&
	    probe_ns >= READ_ONCE(p->now_ns[FL_BASE_PROBE])) {
		d = min_t(u32, READ_ONCE(p->now_ns[FL_BASE_DATA]),
			  READ_ONCE(p->before_ns[FL_BASE_DATA]));
		q = min_t(u32, READ_ONCE(p->now_ns[FL_BASE_PROBE]),
			  READ_ONCE(p->before_ns[FL_BASE_PROBE]));
		return fl_base_rtt_take(b, d, q, fl_base_rtt_held(p, window));
	}
	spin_lock_bh(&bn->lock);
	if (!fl_base_rtt_turn(p, b->key, window)) {
		spin_unlock_bh(&bn->lock);
		return fl_base_rtt_take(b, min_t(u32, b->data_ns, data_ns),
					min_t(u32, b->probe_ns, probe_ns), 0);
	}
	fl_base_rtt_sample(p, FL_BASE_DATA, data_ns);
	fl_base_rtt_sample(p, FL_BASE_PROBE, probe_ns);
	d = fl_base_rtt_least(p, FL_BASE_DATA);
	q = fl_base_rtt_least(p, FL_BASE_PROBE);
	held_ns = fl_base_rtt_held(p, window);
	spin_unlock_bh(&bn->lock);
	return fl_base_rtt_take(b, d, q, held_ns);
}
EXPORT_SYMBOL_GPL(fl_base_rtt_learn);

/**
 * fl_base_rtt_tell_longer() - tell others that the path is longer than they say
 * @sk: the socket; caller holds its lock
 * @b: the flow's base RTTs
 * @probe_ns: RTT of a probe on the flow's path when it is empty, ns
 *
 * Context: softirq or process.
 */
void fl_base_rtt_tell_longer(struct sock *sk, const struct fl_base_rtt *b,
			     u32 probe_ns)
{
	struct fl_base_rtt_net *bn = net_generic(sock_net(sk), fl_base_rtt_net_id);
	struct fl_base_rtt_path *p = fl_paths_find(&bn->paths, b->key, sizeof(*p));

	if (!p)
		return;
	spin_lock_bh(&bn->lock);
	if (fl_base_rtt_turn(p, b->key, b->window))
		fl_base_rtt_sample(p, FL_BASE_LONGER, probe_ns);
	spin_unlock_bh(&bn->lock);
}
EXPORT_SYMBOL_GPL(fl_base_rtt_tell_longer);

/**
 * fl_base_rtt_tell_held() - tell others for how long the path holds packets
 * @sk: the socket; caller holds its lock
 * @b: the flow's base RTTs
 * @held_ns: up to this, ns
 *
 * Who asks with fl_base_rtt_learn() knows it until FL_BASE_HELD_WINDOWS after the last word.
 * Context: softirq or process.
 */
void fl_base_rtt_tell_held(struct sock *sk, const struct fl_base_rtt *b, u32 held_ns)
{
	struct fl_base_rtt_net *bn = net_generic(sock_net(sk), fl_base_rtt_net_id);
	struct fl_base_rtt_path *p = fl_paths_find(&bn->paths, b->key, sizeof(*p));

	if (!p)
		return;
	spin_lock_bh(&bn->lock);
	if (fl_base_rtt_turn(p, b->key, b->window))
		fl_base_rtt_hold(p, held_ns);
	spin_unlock_bh(&bn->lock);
}
EXPORT_SYMBOL_GPL(fl_base_rtt_tell_held);

/**
 * fl_base_rtt_longer() - is there a longer path to the flow's address that may be its own?
 * @sk: the socket; caller holds its lock
 * @b: the flow's base RTTs, just after fl_base_rtt_start()
 *
 * Nobody else's word makes a path longer than the flow's own handshake was.
 * Context: softirq or process. Return: RTT of a probe there, ns; 0 = no.
 */
u32 fl_base_rtt_longer(const struct sock *sk, const struct fl_base_rtt *b)
{
	const struct fl_base_rtt_net *bn = net_generic(sock_net(sk),
						       fl_base_rtt_net_id);
	const struct fl_base_rtt_path *p = fl_paths_find(&bn->paths, b->key,
							 sizeof(*p));
	u32 ns;

	if (!p)
		return 0;
	ns = min_t(u32, READ_ONCE(p->now_ns[FL_BASE_LONGER]),
		   READ_ONCE(p->before_ns[FL_BASE_LONGER]));
	if (READ_ONCE(p->key) != b->key || READ_ONCE(p->window) != b->window ||
	    ns == FL_BASE_NONE ||
	    ns > fl_base_rtt_handshake_ns(sk) + NSEC_PER_USEC)
		return 0;
	return ns;
}
EXPORT_SYMBOL_GPL(fl_base_rtt_longer);

static int __net_init fl_base_rtt_net_init(struct net *net)
{
	struct fl_base_rtt_net *bn = net_generic(net, fl_base_rtt_net_id);

	spin_lock_init(&bn->lock);
	return 0;
}

static void __net_exit fl_base_rtt_net_pre_exit(struct net *net)
{
	struct fl_base_rtt_net *bn = net_generic(net, fl_base_rtt_net_id);

	fl_paths_close(&bn->paths);
}

static void __net_exit fl_base_rtt_net_exit(struct net *net)
{
	struct fl_base_rtt_net *bn = net_generic(net, fl_base_rtt_net_id);

	fl_paths_free(&bn->paths);
}

static struct pernet_operations fl_base_rtt_net_ops = {
	.init = fl_base_rtt_net_init,
	.pre_exit = fl_base_rtt_net_pre_exit,
	.exit = fl_base_rtt_net_exit,
	.id = &fl_base_rtt_net_id,
	.size = sizeof(struct fl_base_rtt_net),
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_base_rtt_init(void)
{
	fl_base_rtt_seed = get_random_u32();
	return register_pernet_subsys(&fl_base_rtt_net_ops);
}

/* Context: process, module unload. */
void fl_base_rtt_exit(void)
{
	unregister_pernet_subsys(&fl_base_rtt_net_ops);
}
