// SPDX-License-Identifier: GPL-2.0
/*
 * The module: packets come and go through credit_option.c, and receivers end with their
 * sockets, at the tracepoint tcp_destroy_sock, or when a socket that has been disconnected makes
 * another connection, at inet_sock_set_state: the next sender knows no number of the last one's,
 * and has other packets.
 *
 * A hook on another processor may make a receiver just then. The socket's state is
 * TCP_CLOSE long before the tracepoint, so whoever has added a receiver looks at the
 * state afterwards and takes the receiver back: one of the two sees the other.
 */
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <trace/events/sock.h>
#include <trace/events/tcp.h>

#include "credit/credit.h"
#include "fairlane/fl_option.h"
#include "fairlane/fl_tracepoint.h"

static struct tracepoint *fl_credit_tracepoint;
static struct tracepoint *fl_credit_state_tracepoint;

/* Context: socket lock held, its state is TCP_CLOSE. */
static void fl_credit_on_destroy(void *data, struct sock *sk)
{
	struct fl_credit_node *node;

	/* pairs with fl_receiver_make() */
	smp_mb();
	if (!atomic_read(&fl_credit_users))
		return;
	rcu_read_lock();
	node = fl_credit_find(sk, FL_CREDIT_RECEIVES);
	if (node)
		fl_receiver_end(fl_receiver_of(node));
	rcu_read_unlock();
}

/* Before the state changes. Context: socket lock held. */
static void fl_credit_on_state(void *data, const struct sock *sk, const int old, const int new)
{
	if (old == TCP_CLOSE)
		fl_credit_on_destroy(NULL, (struct sock *)sk);
}

static const struct fl_option_user fl_credit_option = {
	.exid = FL_CREDIT_EXID,
	.sockets = &fl_credit_users,
	.out = fl_credit_out,
	.in = fl_credit_in,
};

static int __init fl_credit_init(void)
{
	int err;

	/* the compiler compares the arguments */
	check_trace_callback_type_tcp_destroy_sock(fl_credit_on_destroy);
	check_trace_callback_type_inet_sock_set_state(fl_credit_on_state);
	fl_credit_tracepoint = fl_tracepoint("tcp_destroy_sock");
	fl_credit_state_tracepoint = fl_tracepoint("inet_sock_set_state");
	if (!fl_credit_tracepoint || !fl_credit_state_tracepoint)
		return -EOPNOTSUPP;
	err = fl_credit_table_init();
	if (err)
		return err;
	err = tracepoint_probe_register(fl_credit_tracepoint,
					fl_credit_on_destroy, NULL);
	if (err)
		goto table;
	err = tracepoint_probe_register(fl_credit_state_tracepoint, fl_credit_on_state, NULL);
	if (err)
		goto probe;
	err = fl_knock_init();
	if (err)
		goto state;
	err = fl_option_register(&fl_credit_option);
	if (err)
		goto knock;
	return 0;

knock:
	fl_knock_exit();
state:
	tracepoint_probe_unregister(fl_credit_state_tracepoint, fl_credit_on_state, NULL);
probe:
	tracepoint_probe_unregister(fl_credit_tracepoint, fl_credit_on_destroy,
				    NULL);
	tracepoint_synchronize_unregister();
table:
	fl_credit_table_exit();
	return err;
}

static void fl_credit_end(struct fl_credit_node *node)
{
	fl_receiver_end(fl_receiver_of(node));
}

/* No congestion control is left, sockets that give credit may be. */
static void __exit fl_credit_exit(void)
{
	fl_option_unregister(&fl_credit_option);
	fl_knock_exit();
	tracepoint_probe_unregister(fl_credit_state_tracepoint, fl_credit_on_state, NULL);
	tracepoint_probe_unregister(fl_credit_tracepoint, fl_credit_on_destroy,
				    NULL);
	tracepoint_synchronize_unregister();
	fl_credit_end_all(fl_credit_end);
	fl_credit_table_exit();
	rcu_barrier();
}

module_init(fl_credit_init);
module_exit(fl_credit_exit);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("Credit: receivers say when data may leave");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
