// SPDX-License-Identifier: GPL-2.0
/*
 * What a congestion control and fairlane.ko's hooks cost, in cycles of the time
 * stamp counter. Under QEMU's instruction counting with shift=0 a cycle is an
 * instruction.
 *
 *	echo "watch FIRST LAST" > /proc/cc_cost	connections to these ports
 *	echo "control NAME" > /proc/cc_cost	count its callbacks
 *	echo hooks > /proc/cc_cost		count our hooks in this namespace
 *	echo reset > /proc/cc_cost		begin
 *	cat /proc/cc_cost			what was counted since
 *
 * A callback in the struct tcp_congestion_ops of a control, which is found through
 * a socket, is replaced by one of ours that reads the counter before and after it;
 * so is the function of each netfilter hook that belongs to fairlane.ko. What is
 * counted in one and belongs to another (a control that sends a probe through a
 * hook) counts once, for the inner one. What a callback that does nothing would
 * cost, the call with it, does not count.
 *
 * A line of the answer is "ROLE WHAT CALLS CYCLES"; the role is that of the
 * connection's end: sender or receiver. "timer" is of hrtimers whose function is
 * tcp_prioplus', of any connection; "rto" of the stack's own timer.
 *
 * Meant for a machine of its own with one processor; interrupts are off while
 * something is counted.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/timex.h>
#include <net/inet_hashtables.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include "cost.h"

#define COST_CONTROLS	16
/* Readings in a row, of which the least counts. */
#define COST_READINGS	100

static const char * const cost_names[] = {
	[COST_CONTROL] = "cong_control",
	[COST_AVOID] = "cong_avoid",
	[COST_ACK_EVENT] = "in_ack_event",
	[COST_ACKED] = "pkts_acked",
	[COST_EVENT] = "cwnd_event",
	[COST_SSTHRESH] = "ssthresh",
	[COST_SEGS] = "min_tso_segs",
	[COST_STATE] = "set_state",
	[COST_OUT_DATA] = "out_data",
	[COST_OUT_ACK] = "out_ack",
	[COST_OUT_PLAIN] = "out_other",
	[COST_IN_DATA] = "in_data",
	[COST_IN_ACK] = "in_ack",
	[COST_LOOKUP] = "lookup",
	[COST_TIMER] = "timer",
	[COST_RTO] = "rto",
};

static const char * const cost_roles[] = { "sender", "receiver", "nobody" };

/**
 * struct cost_control - a congestion control whose callbacks are ours
 * @ops: where they are
 * @real: what they were
 */
struct cost_control {
	struct tcp_congestion_ops *ops;
	struct tcp_congestion_ops real;
};

struct cost_sum cost_sums[COST_ROLES][COST_WHATS];
static struct cost_control cost_controls[COST_CONTROLS];
static unsigned int cost_control_count;
static u64 cost_inner;
static u64 cost_reading;
static u64 cost_dispatch;
static u16 cost_first = 1, cost_last = 65535;
static nf_hookfn *cost_hook_out, *cost_hook_in;

void cost_begin(struct cost_span *span)
{
	local_irq_save(span->flags);
	local_bh_disable();
	span->inner = cost_inner;
	cost_inner = 0;
	span->from = get_cycles();
}

void cost_end(struct cost_span *span, enum cost_role role, enum cost_what what)
{
	u64 cycles = get_cycles() - span->from - cost_reading;
	struct cost_sum *sum = &cost_sums[role][what];

	sum->calls++;
	sum->cycles += cycles - cost_inner;
	cost_inner = span->inner + cycles;
	_local_bh_enable();
	local_irq_restore(span->flags);
}

static bool cost_watched(u16 port)
{
	return port >= cost_first && port <= cost_last;
}

/* Which end of a connection is this? */
enum cost_role cost_role_of(const struct sock *sk)
{
	if (!sk || !sk_fullsock(sk))
		return COST_NOBODY;
	if (cost_watched(ntohs(sk->sk_dport)))
		return COST_SENDER;
	if (cost_watched(sk->sk_num))
		return COST_RECEIVER;
	return COST_NOBODY;
}

/* Congestion controls ------------------------------------------------------ */

static const struct tcp_congestion_ops *cost_real(const struct sock *sk)
{
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;
	unsigned int i;

	for (i = 0; i < cost_control_count; i++)
		if (cost_controls[i].ops == ops)
			break;
	/* only counted controls call us */
	return &cost_controls[i].real;
}

static void cost_cong_control(struct sock *sk, u32 ack, int flag,
			      const struct rate_sample *rs)
{
	const struct tcp_congestion_ops *real = cost_real(sk);
	enum cost_role role = cost_role_of(sk);
	struct cost_span span;

	cost_begin(&span);
	real->cong_control(sk, ack, flag, rs);
	cost_end(&span, role, COST_CONTROL);
}

static void cost_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	const struct tcp_congestion_ops *real = cost_real(sk);
	enum cost_role role = cost_role_of(sk);
	struct cost_span span;

	cost_begin(&span);
	real->cong_avoid(sk, ack, acked);
	cost_end(&span, role, COST_AVOID);
}

static void cost_ack_event(struct sock *sk, u32 flags)
{
	const struct tcp_congestion_ops *real = cost_real(sk);
	enum cost_role role = cost_role_of(sk);
	struct cost_span span;

	cost_begin(&span);
	real->in_ack_event(sk, flags);
	cost_end(&span, role, COST_ACK_EVENT);
}

static void cost_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_congestion_ops *real = cost_real(sk);
	enum cost_role role = cost_role_of(sk);
	struct cost_span span;

	cost_begin(&span);
	real->pkts_acked(sk, sample);
	cost_end(&span, role, COST_ACKED);
}

static void cost_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	const struct tcp_congestion_ops *real = cost_real(sk);
	enum cost_role role = cost_role_of(sk);
	struct cost_span span;

	cost_begin(&span);
	real->cwnd_event(sk, event);
	cost_end(&span, role, COST_EVENT);
}

static u32 cost_ssthresh(struct sock *sk)
{
	const struct tcp_congestion_ops *real = cost_real(sk);
	enum cost_role role = cost_role_of(sk);
	struct cost_span span;
	u32 result;

	cost_begin(&span);
	result = real->ssthresh(sk);
	cost_end(&span, role, COST_SSTHRESH);
	return result;
}

static u32 cost_min_tso_segs(struct sock *sk)
{
	const struct tcp_congestion_ops *real = cost_real(sk);
	enum cost_role role = cost_role_of(sk);
	struct cost_span span;
	u32 result;

	cost_begin(&span);
	result = real->min_tso_segs(sk);
	cost_end(&span, role, COST_SEGS);
	return result;
}

static void cost_set_state(struct sock *sk, u8 state)
{
	const struct tcp_congestion_ops *real = cost_real(sk);
	enum cost_role role = cost_role_of(sk);
	struct cost_span span;

	cost_begin(&span);
	real->set_state(sk, state);
	cost_end(&span, role, COST_STATE);
}

/* Puts our callbacks in the place of those that a control has. */
static void cost_wrap(struct tcp_congestion_ops *ops)
{
	if (ops->cong_control)
		WRITE_ONCE(ops->cong_control, cost_cong_control);
	if (ops->cong_avoid)
		WRITE_ONCE(ops->cong_avoid, cost_cong_avoid);
	if (ops->in_ack_event)
		WRITE_ONCE(ops->in_ack_event, cost_ack_event);
	if (ops->pkts_acked)
		WRITE_ONCE(ops->pkts_acked, cost_pkts_acked);
	if (ops->cwnd_event)
		WRITE_ONCE(ops->cwnd_event, cost_cwnd_event);
	if (ops->ssthresh)
		WRITE_ONCE(ops->ssthresh, cost_ssthresh);
	if (ops->min_tso_segs)
		WRITE_ONCE(ops->min_tso_segs, cost_min_tso_segs);
	if (ops->set_state)
		WRITE_ONCE(ops->set_state, cost_set_state);
}

/* Counts a control's callbacks. Context: process. Return: 0 or an error. */
static int cost_add_control(char *name)
{
	struct tcp_congestion_ops *ops;
	struct socket *sock;
	unsigned int i;
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			       &sock);
	if (err)
		return err;
	err = sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION,
				    KERNEL_SOCKPTR(name), strlen(name));
	ops = (struct tcp_congestion_ops *)inet_csk(sock->sk)->icsk_ca_ops;
	for (i = 0; !err && i < cost_control_count; i++)
		if (cost_controls[i].ops == ops)
			goto release;
	if (!err && cost_control_count == COST_CONTROLS)
		err = -ENOSPC;
	if (!err) {
		cost_controls[i].ops = ops;
		cost_controls[i].real = *ops;
		cost_control_count++;
		cost_wrap(ops);
	}
release:
	sock_release(sock);
	return err;
}

/* Hooks -------------------------------------------------------------------- */

/* Bytes of TCP payload of an IPv4 packet, -1 if it is no TCP. */
static int cost_payload(const struct sk_buff *skb, u16 *sport, u16 *dport)
{
	const struct iphdr *ip = ip_hdr(skb);
	const struct tcphdr *th;

	if (ip->protocol != IPPROTO_TCP || skb_headlen(skb) < ip->ihl * 4 + 20)
		return -1;
	th = (const struct tcphdr *)(skb->data + ip->ihl * 4);
	*sport = ntohs(th->source);
	*dport = ntohs(th->dest);
	return skb->len - ip->ihl * 4 - th->doff * 4;
}

/* What finding the connection takes, if the stack has not yet: it is moved from
 * TCP to the hook, which leaves it in the packet.
 */
static void cost_count_lookup(const struct sk_buff *skb,
			      const struct nf_hook_state *state,
			      enum cost_role role)
{
	const struct iphdr *ip = ip_hdr(skb);
	const struct tcphdr *th = (const void *)skb->data + ip->ihl * 4;
	struct cost_span span;
	struct sock *sk;

	cost_begin(&span);
	sk = __inet_lookup_established(state->net,
				       state->net->ipv4.tcp_death_row.hashinfo,
				       ip->saddr, th->source, ip->daddr,
				       ntohs(th->dest), skb->skb_iif,
				       inet_sdif(skb));
	cost_end(&span, role, COST_LOOKUP);
	if (sk)
		sock_gen_put(sk);
}

static unsigned int cost_hook(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	bool in = state->hook == NF_INET_LOCAL_IN;
	enum cost_role role = COST_NOBODY;
	enum cost_what what = COST_OUT_PLAIN;
	u16 sport = 0, dport = 0;
	struct cost_span span;
	unsigned int result, packets;
	int payload;

	packets = max_t(u16, 1, skb_shinfo(skb)->gso_segs);
	payload = cost_payload(skb, &sport, &dport);
	if (payload >= 0) {
		/* by ports: the packet may have no socket yet */
		if (cost_watched(in ? sport : dport))
			role = COST_SENDER;
		else if (cost_watched(in ? dport : sport))
			role = COST_RECEIVER;
	}
	if (role != COST_NOBODY && in) {
		what = payload ? COST_IN_DATA : COST_IN_ACK;
		if (!skb->sk)
			cost_count_lookup(skb, state, role);
	} else if (role != COST_NOBODY) {
		what = payload ? COST_OUT_DATA : COST_OUT_ACK;
	}
	cost_begin(&span);
	result = in ? cost_hook_in(priv, skb, state) :
		      cost_hook_out(priv, skb, state);
	cost_end(&span, role, what);
	cost_sums[role][what].packets += packets;
	return result;
}

/* Is a function one of module @module? */
bool cost_is_of(const void *function, const char *module)
{
	char name[KSYM_SYMBOL_LEN], tail[MODULE_NAME_LEN + 3];

	snprintf(tail, sizeof(tail), "[%s]", module);
	sprint_symbol(name, (unsigned long)function);
	return strstr(name, tail);
}

/* Puts our function in the place of fairlane.ko's. */
static int cost_wrap_hooks(const struct net *net, unsigned int hooknum,
			   nf_hookfn **real, bool undo)
{
	struct nf_hook_entries *e;
	unsigned int i, found = 0;

	e = rcu_dereference_protected(net->nf.hooks_ipv4[hooknum], true);
	for (i = 0; e && i < e->num_hook_entries; i++) {
		if (undo && e->hooks[i].hook == cost_hook) {
			WRITE_ONCE(e->hooks[i].hook, *real);
		} else if (!undo && cost_is_of(e->hooks[i].hook, "fairlane")) {
			*real = e->hooks[i].hook;
			WRITE_ONCE(e->hooks[i].hook, cost_hook);
			found++;
		}
	}
	return undo || found == 1 ? 0 : -ENOENT;
}

static int cost_hooks(const struct net *net, bool undo)
{
	return cost_wrap_hooks(net, NF_INET_LOCAL_OUT, &cost_hook_out, undo) ?:
	       cost_wrap_hooks(net, NF_INET_LOCAL_IN, &cost_hook_in, undo);
}

static unsigned int cost_nothing(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	return NF_ACCEPT;
}

static int cost_passed(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return 0;
}

/* Cycles of a pass through a place that has at most one hook that does nothing:
 * the least of several, which has met no interrupt.
 */
static u64 cost_pass(struct sk_buff *skb)
{
	u64 least = U64_MAX, from, to;
	int i;

	for (i = 0; i < COST_READINGS; i++) {
		from = get_cycles();
		NF_HOOK(NFPROTO_IPV6, NF_INET_FORWARD, &init_net, NULL, skb,
			NULL, NULL, cost_passed);
		to = get_cycles();
		least = min(least, to - from);
	}
	return least;
}

/* What netfilter takes to call a hook. Context: process. */
static int cost_measure_dispatch(void)
{
	static const struct nf_hook_ops ops = {
		.hook = cost_nothing,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_FORWARD,
	};
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);
	u64 without;
	int err;

	if (!skb)
		return -ENOMEM;
	without = cost_pass(skb);
	err = nf_register_net_hook(&init_net, &ops);
	if (!err) {
		cost_dispatch = cost_pass(skb) - without;
		nf_unregister_net_hook(&init_net, &ops);
	}
	kfree_skb(skb);
	return err;
}

/* Orders and answers ------------------------------------------------------- */

static ssize_t cost_write(struct file *file, const char __user *from,
			  size_t len, loff_t *pos)
{
	char text[64], name[TCP_CA_NAME_MAX];
	unsigned int first, last;
	int err = -EINVAL;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = 0;
	if (sscanf(text, "watch %u %u", &first, &last) == 2) {
		cost_first = first;
		cost_last = last;
		err = 0;
	} else if (sscanf(text, "control %15s", name) == 1) {
		err = cost_add_control(name);
	} else if (!strncmp(text, "hooks", 5)) {
		err = cost_hooks(current->nsproxy->net_ns, false);
	} else if (!strncmp(text, "reset", 5)) {
		memset(cost_sums, 0, sizeof(cost_sums));
		err = 0;
	}
	return err ? err : len;
}

static int cost_show(struct seq_file *seq, void *v)
{
	unsigned int role, what;

	seq_printf(seq, "nobody dispatch 1 %llu\n", cost_dispatch);
	for (role = 0; role < COST_ROLES; role++)
		for (what = 0; what < COST_WHATS; what++)
			if (cost_sums[role][what].calls)
				seq_printf(seq, "%s %s %llu %llu %llu\n",
					   cost_roles[role], cost_names[what],
					   cost_sums[role][what].calls,
					   cost_sums[role][what].cycles,
					   cost_sums[role][what].packets);
	return 0;
}

static int cost_open(struct inode *inode, struct file *file)
{
	return single_open(file, cost_show, NULL);
}

static const struct proc_ops cost_ops = {
	.proc_open	= cost_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= cost_write,
};

static void cost_empty(struct sock *sk, u32 flags)
{
}

/* What a callback that does nothing is counted with: the least of several, which
 * has met no interrupt.
 */
static void cost_calibrate(void)
{
	struct cost_sum *sum = &cost_sums[COST_NOBODY][COST_ACK_EVENT];
	struct cost_control *c = &cost_controls[0];
	u64 least = U64_MAX;
	struct cost_span span;
	int i;

	c->real.in_ack_event = cost_empty;
	for (i = 0; i < COST_READINGS; i++) {
		sum->cycles = 0;
		cost_begin(&span);
		/* not known to the compiler, as in earnest */
		barrier();
		c->real.in_ack_event(NULL, 0);
		cost_end(&span, COST_NOBODY, COST_ACK_EVENT);
		least = min(least, sum->cycles);
	}
	c->real.in_ack_event = NULL;
	sum->calls = 0;
	sum->cycles = 0;
	cost_inner = 0;
	cost_reading = least;
}

static int __init cost_init(void)
{
	int err;

	cost_calibrate();
	err = cost_measure_dispatch();
	if (err)
		return err;
	err = cost_timer_init();
	if (err)
		return err;
	if (!proc_create("cc_cost", 0600, NULL, &cost_ops)) {
		cost_timer_exit();
		return -ENOMEM;
	}
	return 0;
}
module_init(cost_init);

/* Nobody is inside of what was replaced: there is no traffic any more. */
static void __exit cost_exit(void)
{
	unsigned int i;
	struct net *net;

	remove_proc_entry("cc_cost", NULL);
	for (i = 0; i < cost_control_count; i++)
		*cost_controls[i].ops = cost_controls[i].real;
	down_read(&net_rwsem);
	for_each_net(net)
		cost_hooks(net, true);
	up_read(&net_rwsem);
	cost_timer_exit();
	synchronize_net();
}
module_exit(cost_exit);

MODULE_AUTHOR("The Fairlane authors");
MODULE_DESCRIPTION("Counts what congestion controls and hooks cost");
MODULE_LICENSE("GPL");
