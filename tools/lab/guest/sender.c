// SPDX-License-Identifier: GPL-2.0
/*
 * The sending side of flows.
 *
 * TCP_NOTSENT_LOWAT keeps data queued: the sender is woken when half of it is
 * gone and tops up in no virtual time.
 *
 * A stop is immediate: cutoff.c keeps the socket from sending anything more.
 * When all that was in flight is acknowledged, both ends are closed without a
 * packet.
 */
#include <errno.h>
#include <linux/fairlane.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "traffic.h"

#define SNDBUF_BYTES		(64 << 20)
#define SMALL_BYTES		8192	/* fits into any buffer */
#define BLOCK_BYTES		(256 << 10)	/* read again and again */
#define BLOCKS			8
/* How often to look whether all that was in flight is acknowledged. */
#define DRAIN_MIN_NS		(2 * NS_PER_US)
#define DRAIN_MAX_NS		NS_PER_MS
/* Without news for that long, no more will come. */
#define DRAIN_LIMIT_NS		(20 * NS_PER_MS)
/* A SYN can announce no larger window. */
#define SYN_WINDOW_BYTES	65535
#define FIRST_WINDOW_BYTES	(16 << 20)

#define TCP_STATE_FIN_WAIT2	5
#define TCP_STATE_CLOSE		7

static char block[BLOCK_BYTES];

/* The connection is gone before its time. */
static void sender_failed(struct flow *flow, int error)
{
	flow->error = error;
	flow->state = FLOW_FAILED;
	close(flow->fd);
	flow->fd = -1;
	socket_opened(-1);
}

/* Takes over the counters of a live socket. */
static void sender_info(struct flow *flow, struct tcp_info *info)
{
	socklen_t length = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (getsockopt(flow->fd, IPPROTO_TCP, TCP_INFO, info, &length))
		lab_fail("flow %lld: no tcp_info: %s",
			 (long long)flow->plan->id, strerror(errno));
	/* attempts after the cut-off count as sent but were not */
	if (flow->state != FLOW_DRAINING) {
		flow->sent_bytes = info->tcpi_bytes_sent -
				   info->tcpi_bytes_retrans;
		flow->retransmits = info->tcpi_total_retrans;
	}
	/* SYN and FIN count as one acknowledged byte each */
	flow->acked_bytes = info->tcpi_bytes_acked ? info->tcpi_bytes_acked - 1 :
						     0;
	if (flow->acked_bytes > flow->queued_bytes)
		flow->acked_bytes = flow->queued_bytes;
}

/* Takes over the counters if the socket is still open. */
void sender_read_info(struct flow *flow)
{
	struct tcp_info info;

	if (flow->fd >= 0)
		sender_info(flow, &info);
}

/* Options that must be set before the SYN. */
static void sender_options(struct flow *flow)
{
	const struct plan_flow *plan = flow->plan;
	int sndbuf = plan->sndbuf ? plan->sndbuf : SNDBUF_BYTES;

	socket_option(flow, flow->fd, SOL_SOCKET, SO_REUSEADDR, 1,
		      "SO_REUSEADDR");
	if (plan->sndbuf || (!plan->stock_buffers &&
			     (plan->bytes < 0 || plan->bytes > SMALL_BYTES))) {
		socket_option(flow, flow->fd, SOL_SOCKET, SO_SNDBUFFORCE,
			      sndbuf, "SO_SNDBUFFORCE");
		/* who heeds a deadline needs to know all of the message */
		if (!plan->deadline_us && !plan->whole)
			socket_option(flow, flow->fd, IPPROTO_TCP,
				      TCP_NOTSENT_LOWAT, socket_share_bytes(),
				      "TCP_NOTSENT_LOWAT");
	}
	if (flow->cc)
		socket_cc(flow, flow->fd, flow->cc);
	/* IP_TOS overwrites the priority, so it comes first */
	if (plan->dscp && plan->src_addr.family == AF_INET)
		socket_option(flow, flow->fd, IPPROTO_IP, IP_TOS,
			      plan->dscp << 2, "IP_TOS");
	if (plan->dscp && plan->src_addr.family == AF_INET6)
		socket_option(flow, flow->fd, IPPROTO_IPV6, IPV6_TCLASS,
			      plan->dscp << 2, "IPV6_TCLASS");
	if (flow->so_priority || plan->dscp)
		socket_option(flow, flow->fd, SOL_SOCKET, SO_PRIORITY,
			      flow->so_priority, "SO_PRIORITY");
	if (flow->weight_milli != FL_WEIGHT_ONE_MILLI)
		socket_option(flow, flow->fd, IPPROTO_IP, FL_SO_WEIGHT,
			      flow->weight_milli, "FL_SO_WEIGHT");
	if (plan->deadline_us)
		socket_option(flow, flow->fd, IPPROTO_IP, FL_SO_DEADLINE_US,
			      plan->deadline_us, "FL_SO_DEADLINE_US");
	if (plan->base_rtt_ns)
		socket_option(flow, flow->fd, IPPROTO_IP, FL_SO_BASE_RTT_NS,
			      plan->base_rtt_ns, "FL_SO_BASE_RTT_NS");
}

/* Makes the socket in its node and sends the SYN. */
void sender_connect(struct flow *flow)
{
	const struct plan_flow *plan = flow->plan;
	union socket_addr addr;
	socklen_t length;

	node_enter(plan->src);
	flow->fd = socket(plan->src_addr.family,
			  SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (flow->fd < 0)
		lab_fail("flow %lld: no socket: %s", (long long)plan->id,
			 strerror(errno));
	sender_options(flow);
	length = socket_addr(&addr, &plan->src_addr, plan->sport);
	if (bind(flow->fd, &addr.any, length))
		lab_fail("flow %lld: cannot bind to its src_addr, port %lld, in node %s: %s",
			 (long long)plan->id, (long long)plan->sport,
			 node_name(plan->src), strerror(errno));
	flow->state = FLOW_CONNECTING;
	length = socket_addr(&addr, &plan->dst_addr, plan->dport);
	if (connect(flow->fd, &addr.any, length) && errno != EINPROGRESS) {
		sender_failed(flow, errno);
		return;
	}
	watch_add(flow->fd, WATCH_SENDER, flow - flows,
		  EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

/*
 * The SYN-ACK could announce 64 KB only, though the receiver has room for more
 * and will say so in its first acknowledgment. A first flight must not hang
 * on that: tell the sender now.
 */
static void sender_open_window(struct flow *flow)
{
	int on = TCP_REPAIR_ON, off = TCP_REPAIR_OFF_NO_WP;
	struct tcp_repair_window window;
	socklen_t length = sizeof(window);
	int fd = flow->fd;

	if (flow->plan->stock_buffers ||
	    (flow->plan->bytes >= 0 && flow->plan->bytes <= SYN_WINDOW_BYTES) ||
	    (flow->plan->rcvbuf && flow->plan->rcvbuf < FIRST_WINDOW_BYTES))
		return;
	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) ||
	    getsockopt(fd, IPPROTO_TCP, TCP_REPAIR_WINDOW, &window, &length))
		lab_fail("flow %lld: cannot read its window: %s",
			 (long long)flow->plan->id, strerror(errno));
	window.snd_wnd = FIRST_WINDOW_BYTES;
	window.max_window = FIRST_WINDOW_BYTES;
	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_WINDOW, &window, length) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)))
		lab_fail("flow %lld: cannot set its window: %s",
			 (long long)flow->plan->id, strerror(errno));
	/* repair has taken it away; flow N + 40000 has the same port */
	socket_option(flow, fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
}

/* Hands a piece of data to the socket. Returns whether it took all of it and
 * there is more.
 */
static bool sender_fill_piece(struct flow *flow)
{
	struct iovec parts[BLOCKS];
	struct msghdr message = { .msg_iov = parts };
	uint64_t left, part, asked = 0;
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	ssize_t done;

	left = BLOCK_BYTES * BLOCKS;
	if (flow->plan->bytes >= 0 &&
	    left >= flow->plan->bytes - flow->queued_bytes) {
		left = flow->plan->bytes - flow->queued_bytes;
		flags |= MSG_MORE;	/* the last segment takes the FIN */
	}
	while (left) {
		part = left > BLOCK_BYTES ? BLOCK_BYTES : left;
		parts[message.msg_iovlen].iov_base = block;
		parts[message.msg_iovlen++].iov_len = part;
		asked += part;
		left -= part;
	}
	done = sendmsg(flow->fd, &message, flags);
	if (done < 0 && errno != EAGAIN) {
		sender_failed(flow, errno);
		return false;
	}
	if (done > 0)
		flow->queued_bytes += done;
	return done == (ssize_t)asked && !(flags & MSG_MORE);
}

/* Hands data to the socket until it takes no more. */
static void sender_fill(struct flow *flow)
{
	while (sender_fill_piece(flow))
		;
	if (flow->state == FLOW_FAILED || flow->plan->bytes < 0 ||
	    flow->queued_bytes < (uint64_t)flow->plan->bytes)
		return;
	flow->state = FLOW_FINISHING;
	if (shutdown(flow->fd, SHUT_WR))
		sender_failed(flow, errno);
}

/* The flow's time has come. */
void sender_start(struct flow *flow)
{
	flow->started_ns = lab_now_ns();
	if (flow->state == FLOW_CONNECTED) {
		flow->state = FLOW_SENDING;
		sender_fill(flow);
	} else if (flow->state == FLOW_IDLE) {
		socket_opened(1);
		sender_connect(flow);
	}
}

/* Is the connection up on both sides? */
bool sender_ready(const struct flow *flow)
{
	return flow->state == FLOW_CONNECTED && flow->peer_fd >= 0;
}

/* What went wrong with the connection; otherwise, if nothing is known. */
static int sender_error(const struct flow *flow, int otherwise)
{
	int error = 0;
	socklen_t length = sizeof(error);

	if (getsockopt(flow->fd, SOL_SOCKET, SO_ERROR, &error, &length))
		return errno;
	return error ? error : otherwise;
}

/* connect() has come to an end. */
static void sender_connected(struct flow *flow, uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP)) {
		sender_failed(flow, sender_error(flow, ECONNABORTED));
		return;
	}
	flow->connected_ns = traffic_now_ns();
	sender_open_window(flow);
	if (flow->plan->connect == PLAN_CONNECT_EARLY) {
		flow->state = FLOW_CONNECTED;
		return;
	}
	flow->state = FLOW_SENDING;
	sender_fill(flow);
}

/* Something happened after the last byte was queued: was the FIN acknowledged? */
static void sender_finishing(struct flow *flow)
{
	struct tcp_info info;

	sender_info(flow, &info);
	if (info.tcpi_state < TCP_STATE_FIN_WAIT2 ||
	    info.tcpi_state > TCP_STATE_CLOSE)
		return;
	if (flow->acked_bytes < (uint64_t)flow->plan->bytes) {
		sender_failed(flow, sender_error(flow, ECONNABORTED));
		return;
	}
	flow->acked_ns = traffic_now_ns();
	flow->state = FLOW_DONE;
	close(flow->fd);
	flow->fd = -1;
	socket_opened(-1);
}

/* Both ends go, without a packet. */
static void sender_end(struct flow *flow)
{
	if (flow->fd >= 0) {
		socket_close_silently(flow->fd);
		flow->fd = -1;
		socket_opened(-1);
	}
	receiver_close_silently(flow);
	flow->state = FLOW_STOPPED;
}

/* epoll says something about the socket. */
void sender_event(struct flow *flow, uint32_t events)
{
	if (flow->fd < 0)
		return;
	if (flow->state == FLOW_CONNECTING) {
		sender_connected(flow, events);
		return;
	}
	if (flow->state == FLOW_FINISHING) {
		sender_finishing(flow);
		return;
	}
	if (flow->state == FLOW_DRAINING) {
		if (events & (EPOLLERR | EPOLLHUP))
			sender_end(flow);
		return;
	}
	if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) {
		sender_read_info(flow);
		sender_failed(flow, sender_error(flow, ECONNRESET));
	} else if (flow->state == FLOW_SENDING) {
		sender_fill(flow);
	}
}

/* Looks whether all that was in flight is acknowledged. */
void sender_drain(struct flow *flow)
{
	uint64_t acked_bytes = flow->acked_bytes;
	struct tcp_info info;
	int64_t wait_ns, now_ns;

	if (flow->state != FLOW_DRAINING)
		return;
	sender_info(flow, &info);
	now_ns = lab_now_ns();
	if (flow->acked_bytes > acked_bytes)
		flow->progress_ns = now_ns;
	if (flow->acked_bytes >= flow->sent_bytes ||
	    now_ns >= flow->progress_ns + DRAIN_LIMIT_NS) {
		sender_end(flow);
		return;
	}
	wait_ns = (now_ns - flow->progress_ns) / 2;
	if (wait_ns < info.tcpi_rtt * NS_PER_US / 4)
		wait_ns = info.tcpi_rtt * NS_PER_US / 4;
	if (wait_ns < DRAIN_MIN_NS)
		wait_ns = DRAIN_MIN_NS;
	if (wait_ns > DRAIN_MAX_NS)
		wait_ns = DRAIN_MAX_NS;
	agenda_add(now_ns + wait_ns, AGENDA_DRAIN, flow - flows);
}

/* Ends a flow now, whatever it is doing. */
void sender_stop(struct flow *flow)
{
	switch (flow->state) {
	case FLOW_SENDING:
	case FLOW_FINISHING:
		cutoff_now(flow);
		sender_read_info(flow);
		flow->state = FLOW_DRAINING;
		flow->stopped_ns = lab_now_ns();
		flow->progress_ns = flow->stopped_ns;
		sender_drain(flow);
		return;
	case FLOW_IDLE:
	case FLOW_CONNECTED:
		flow->stopped_ns = lab_now_ns();
		sender_end(flow);
		return;
	case FLOW_CONNECTING:
		flow->stopped_ns = lab_now_ns();
		close(flow->fd);
		flow->fd = -1;
		socket_opened(-1);
		receiver_close_silently(flow);
		flow->state = FLOW_STOPPED;
		return;
	case FLOW_DRAINING:
	case FLOW_DONE:
	case FLOW_STOPPED:
	case FLOW_FAILED:
		return;
	}
}

/* Changes SO_PRIORITY of a live flow, or of one to come. */
void sender_set_priority(struct flow *flow, int64_t so_priority)
{
	flow->so_priority = so_priority;
	if (flow->fd >= 0)
		socket_option(flow, flow->fd, SOL_SOCKET, SO_PRIORITY,
			      so_priority, "SO_PRIORITY");
}

/* Changes the weight of a live flow, or of one to come. */
void sender_set_weight(struct flow *flow, int64_t weight_milli)
{
	flow->weight_milli = weight_milli;
	if (flow->fd >= 0)
		socket_option(flow, flow->fd, IPPROTO_IP, FL_SO_WEIGHT,
			      weight_milli, "FL_SO_WEIGHT");
}

/* Changes the congestion control of a live flow, or of one to come. */
void sender_set_cc(struct flow *flow, const char *cc)
{
	flow->cc = cc;
	if (flow->fd >= 0)
		socket_cc(flow, flow->fd, cc);
}

/*
 * Tries each flow's congestion control once before the traffic, so that a
 * missing one is not found half-way through a run.
 */
void sender_check_cc(const struct plan *plan)
{
	struct flow probe = { 0 };
	const char *last[2] = { NULL, NULL };
	size_t i, side;
	int fd;

	node_enter(PLAN_NO_NODE);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		lab_fail("no socket: %s", strerror(errno));
	for (i = 0; i < flows_count; i++) {
		const char *cc[2] = { flows[i].plan->cc, flows[i].plan->rcv_cc };

		for (side = 0; side < 2; side++) {
			if (!cc[side] ||
			    (last[side] && !strcmp(cc[side], last[side])))
				continue;
			probe.plan = flows[i].plan;
			socket_cc(&probe, fd, cc[side]);
			last[side] = cc[side];
		}
	}
	probe.plan = NULL;
	for (i = 0; i < plan->events.count; i++) {
		const struct plan_event *event =
			PLAN_ITEM(struct plan_event, plan->events, i);

		if (!event->cc)
			continue;
		probe.plan = flows[*PLAN_ITEM(int64_t, event->flows, 0)].plan;
		socket_cc(&probe, fd, event->cc);
	}
	close(fd);
}
