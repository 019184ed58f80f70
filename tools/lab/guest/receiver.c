// SPDX-License-Identifier: GPL-2.0
/*
 * The receiving side of flows: one listener per node, family and port.
 *
 * Data is dropped in the kernel (MSG_TRUNC). SO_RCVLOWAT makes wake-ups few;
 * it is never more than what the flow has still to deliver, so the last byte
 * always wakes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "traffic.h"

#define RCVBUF_BYTES	(32 * 1024 * 1024)
#define BACKLOG		65535
#define READ_BYTES	(1024 * 1024 * 1024)
#define PACKET_BYTES	500	/* comes in one piece, no threshold needed */

/* A listening socket, and the flows that will come to it. */
struct listener {
	int fd;
	int64_t node, port;
	int family;
	size_t first, count;	/* in by_listener */
	bool mixed;		/* its flows want different rcv_cc */
};

static struct listener *listeners;
static size_t listeners_count;
static size_t *by_listener;	/* flows, by listener, then by source port */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Flows of one listener stand together, by source port. */
static int flow_order(const void *a, const void *b)
{
	const struct plan_flow *left = flows[*(const size_t *)a].plan;
	const struct plan_flow *right = flows[*(const size_t *)b].plan;
	int order = compare(left->dst, right->dst);

	if (!order)
		order = compare(left->dst_addr.family, right->dst_addr.family);
	if (!order)
		order = compare(left->dport, right->dport);
	if (!order)
		order = compare(left->sport, right->sport);
	return order ? order : compare(left->id, right->id);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/*
 * What the listening socket must have before the SYN comes: the congestion
 * control (one that needs ECN decides about it in the handshake) and the
 * buffer. If flows differ, one that wants ECN wins here, and each connection
 * gets its own later.
 */
static const char *listener_cc(struct listener *listener)
{
	const char *cc = flows[by_listener[listener->first]].plan->rcv_cc;
	size_t i;

	for (i = 1; i < listener->count; i++) {
		const char *other =
			flows[by_listener[listener->first + i]].plan->rcv_cc;

		if (same_text(cc, other))
			continue;
		listener->mixed = true;
		if (other && (!cc || !strcmp(other, "dctcp")))
			cc = other;
	}
	return cc;
}

/* Receive buffer of the listener: the largest that one of its flows wants; 0: the host's. */
static int listener_rcvbuf(const struct listener *listener)
{
	int64_t most = 0, rcvbuf;
	size_t i;

	for (i = 0; i < listener->count; i++) {
		const struct plan_flow *plan = flows[by_listener[listener->first + i]].plan;

		rcvbuf = plan->rcvbuf;
		if (!rcvbuf && !plan->stock_buffers)
			rcvbuf = RCVBUF_BYTES;
		if (rcvbuf > most)
			most = rcvbuf;
	}
	return most;
}

/* Opens one listening socket. */
static void listener_open(struct listener *listener)
{
	const struct flow *flow = &flows[by_listener[listener->first]];
	struct plan_addr anywhere = { .family = listener->family };
	const char *cc = listener_cc(listener);
	union socket_addr addr;
	int64_t rcvbuf;
	socklen_t length;

	node_enter(listener->node);
	file_write("/proc/sys/net/core/somaxconn", "65535");
	file_write("/proc/sys/net/ipv4/tcp_max_syn_backlog", "65535");
	listener->fd = socket(listener->family,
			      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener->fd < 0)
		lab_fail("node %s: no socket: %s", node_name(listener->node),
			 strerror(errno));
	socket_option(flow, listener->fd, SOL_SOCKET, SO_REUSEADDR, 1,
		      "SO_REUSEADDR");
	if (listener->family == AF_INET6)
		socket_option(flow, listener->fd, IPPROTO_IPV6, IPV6_V6ONLY, 1,
			      "IPV6_V6ONLY");
	rcvbuf = listener_rcvbuf(listener);
	if (rcvbuf)
		socket_option(flow, listener->fd, SOL_SOCKET, SO_RCVBUFFORCE, rcvbuf,
			      "SO_RCVBUFFORCE");
	if (cc)
		socket_cc(flow, listener->fd, cc);
	length = socket_addr(&addr, &anywhere, listener->port);
	if (bind(listener->fd, &addr.any, length) ||
	    listen(listener->fd, BACKLOG))
		lab_fail("node %s: cannot listen on port %lld: %s",
			 node_name(listener->node), (long long)listener->port,
			 strerror(errno));
	watch_add(listener->fd, WATCH_LISTENER, listener - listeners, EPOLLIN);
}

/* Makes the listeners of all flows. */
void receiver_listen(const struct plan *plan)
{
	struct listener *listener = NULL;
	size_t i;

	by_listener = calloc(flows_count + 1, sizeof(*by_listener));
	listeners = calloc(flows_count + 1, sizeof(*listeners));
	if (!by_listener || !listeners)
		lab_fail("no memory for %zu flows", plan->flows.count);
	for (i = 0; i < flows_count; i++)
		by_listener[i] = i;
	qsort(by_listener, flows_count, sizeof(*by_listener), flow_order);
	for (i = 0; i < flows_count; i++) {
		const struct plan_flow *flow = flows[by_listener[i]].plan;

		if (!listener || listener->node != flow->dst ||
		    listener->port != flow->dport ||
		    listener->family != flow->dst_addr.family) {
			listener = &listeners[listeners_count++];
			listener->node = flow->dst;
			listener->port = flow->dport;
			listener->family = flow->dst_addr.family;
			listener->first = i;
		}
		listener->count++;
	}
	for (i = 0; i < listeners_count; i++)
		listener_open(&listeners[i]);
}

/* Closes all listeners. */
void receiver_unlisten(void)
{
	size_t i;

	for (i = 0; i < listeners_count; i++)
		close(listeners[i].fd);
	listeners_count = 0;
}

/* Is this connection's far end the flow's source? */
static bool flow_is_from(const struct plan_flow *flow,
			 const union socket_addr *peer)
{
	if (flow->src_addr.family == AF_INET)
		return !memcmp(&flow->src_addr.v4, &peer->v4.sin_addr,
			       sizeof(peer->v4.sin_addr));
	return !memcmp(&flow->src_addr.v6, &peer->v6.sin6_addr,
		       sizeof(peer->v6.sin6_addr));
}

/* The flow that a connection belongs to; NULL if none. */
static struct flow *listener_flow(const struct listener *listener,
				  const union socket_addr *peer)
{
	/* the port stands at the same place in both families */
	int64_t sport = ntohs(peer->v4.sin_port);
	size_t low = 0, high = listener->count, middle;
	struct flow *flow;

	while (low < high) {
		middle = (low + high) / 2;
		flow = &flows[by_listener[listener->first + middle]];
		if (flow->plan->sport < sport)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < listener->count; low++) {
		flow = &flows[by_listener[listener->first + low]];
		if (flow->plan->sport != sport)
			break;
		if (flow_is_from(flow->plan, peer))
			return flow;
	}
	return NULL;
}

/* Sets up the receiving socket of a flow. */
static void receiver_setup(const struct listener *listener, struct flow *flow)
{
	const struct plan_flow *plan = flow->plan;

	if (listener->mixed && plan->rcv_cc)
		socket_cc(flow, flow->peer_fd, plan->rcv_cc);
	if (plan->rcvbuf)
		socket_option(flow, flow->peer_fd, SOL_SOCKET, SO_RCVBUFFORCE,
			      plan->rcvbuf, "SO_RCVBUFFORCE");
	/* a receiver that waits for more than its buffer holds makes it larger */
	flow->lowat_bytes = plan->stock_buffers ? PACKET_BYTES : socket_share_bytes();
	if (plan->bytes >= 0 && (uint64_t)plan->bytes < flow->lowat_bytes)
		flow->lowat_bytes = plan->bytes;
	if (plan->rcvbuf && flow->lowat_bytes > (uint64_t)plan->rcvbuf / 4)
		flow->lowat_bytes = plan->rcvbuf / 4;
	if (flow->lowat_bytes > PACKET_BYTES)
		socket_option(flow, flow->peer_fd, SOL_SOCKET, SO_RCVLOWAT,
			      flow->lowat_bytes, "SO_RCVLOWAT");
	watch_add(flow->peer_fd, WATCH_RECEIVER, flow - flows,
		  EPOLLIN | EPOLLRDHUP | EPOLLET);
}

/* Takes a connection that waits at a listener; epoll tells of the next. */
void receiver_accept(size_t index)
{
	const struct listener *listener = &listeners[index];
	union socket_addr peer;
	socklen_t length = sizeof(peer);
	struct flow *flow;
	int fd;

	fd = accept4(listener->fd, &peer.any, &length,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED))
		return;
	if (fd < 0)
		lab_fail("node %s, port %lld: cannot accept: %s",
			 node_name(listener->node), (long long)listener->port,
			 strerror(errno));
	flow = listener_flow(listener, &peer);
	if (!flow || flow->peer_fd >= 0 || flow->state == FLOW_STOPPED) {
		socket_close_silently(fd);
		return;
	}
	flow->peer_fd = fd;
	receiver_setup(listener, flow);
}

/* Takes over the count of bytes that have arrived, read or not. */
void receiver_read_info(struct flow *flow)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof(info);

	if (flow->peer_fd < 0)
		return;
	if (getsockopt(flow->peer_fd, IPPROTO_TCP, TCP_INFO, &info, &length))
		lab_fail("flow %lld: no tcp_info of its receiver: %s",
			 (long long)flow->plan->id, strerror(errno));
	flow->received_bytes = info.tcpi_bytes_received;
}

/* The connection is over without a packet. */
void receiver_close_silently(struct flow *flow)
{
	if (flow->peer_fd < 0)
		return;
	receiver_read_info(flow);
	socket_close_silently(flow->peer_fd);
	flow->peer_fd = -1;
}

/* Never waits for more than what is still to come. */
static void receiver_lowat(struct flow *flow)
{
	uint64_t left;

	if (flow->plan->bytes < 0)
		return;
	left = flow->plan->bytes - flow->received_bytes;
	if (!left || left >= flow->lowat_bytes)
		return;
	flow->lowat_bytes = left;
	socket_option(flow, flow->peer_fd, SOL_SOCKET, SO_RCVLOWAT, left,
		      "SO_RCVLOWAT");
}

/* epoll says something about a receiving socket: read, drop, perhaps close. */
void receiver_event(struct flow *flow, uint32_t events)
{
	bool closing = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
	bool complete;
	ssize_t got;

	if (flow->peer_fd < 0)
		return;
	do {
		got = recv(flow->peer_fd, NULL, READ_BYTES,
			   MSG_TRUNC | MSG_DONTWAIT);
		if (got > 0)
			flow->received_bytes += got;
		complete = flow->plan->bytes >= 0 &&
			   flow->received_bytes >= (uint64_t)flow->plan->bytes;
	} while (got > 0 && closing && !complete);
	if (complete && flow->received_ns < 0) {
		flow->received_ns = traffic_now_ns();
		gates_delivered(flow);
	}
	if ((complete && closing) || !got || (got < 0 && errno != EAGAIN)) {
		close(flow->peer_fd);
		flow->peer_fd = -1;
		return;
	}
	receiver_lowat(flow);
}
