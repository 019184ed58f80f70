/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The traffic generator: what its files share.
 *
 * One process, one epoll. Every flow has a sending socket in its source node
 * and a receiving one in its destination. CPU work costs no virtual time, so a
 * sender that is woken while data is still queued is never the bottleneck; what
 * counts is that wake-ups are few. All times here are CLOCK_MONOTONIC in ns.
 */
#ifndef LAB_TRAFFIC_H
#define LAB_TRAFFIC_H

#include "labinit.h"

enum flow_state {
	FLOW_IDLE,		/* no connection yet */
	FLOW_CONNECTING,
	FLOW_CONNECTED,		/* early: waits for its start */
	FLOW_SENDING,
	FLOW_FINISHING,		/* all bytes handed over, FIN queued */
	FLOW_DRAINING,		/* stopped: only what is in flight matters */
	FLOW_DONE,		/* all bytes acknowledged */
	FLOW_STOPPED,
	FLOW_FAILED,
};

struct flow {
	const struct plan_flow *plan;
	enum flow_state state;
	int fd, peer_fd;		/* -1: none */
	int error;			/* errno of FLOW_FAILED */
	bool waits;			/* a gate starts it, not the clock */
	const char *cc;			/* now, events may change it */
	int64_t so_priority;		/* the same */
	int64_t weight_milli;		/* the same */
	int64_t connected_ns, started_ns, received_ns, acked_ns, stopped_ns;
	int64_t progress_ns;		/* draining: last acknowledgment */
	uint64_t queued_bytes;		/* handed to the socket */
	uint64_t received_bytes;	/* read from the peer's socket */
	uint64_t lowat_bytes;		/* receiver's threshold to wake up */
	uint64_t sent_bytes, acked_bytes, retransmits;	/* from tcp_info */
};

/* Kinds of things to wait for; order matters only for the agenda's ties. */
enum agenda_kind {
	AGENDA_STOP, AGENDA_EVENT, AGENDA_START, AGENDA_DRAIN, AGENDA_SAMPLE,
	AGENDA_PROGRESS, AGENDA_END,
};

/* Who owns a file descriptor in the epoll. */
enum watch_kind {
	WATCH_TIMER, WATCH_SENDER, WATCH_LISTENER, WATCH_RECEIVER,
	WATCH_COMMAND,
};

/* agenda.c: what happens when; ties by kind, then by index */
struct agenda_item {
	int64_t at_ns;
	enum agenda_kind kind;
	size_t index;
};

void agenda_add(int64_t at_ns, enum agenda_kind kind, size_t index);
const struct agenda_item *agenda_first(void);
struct agenda_item agenda_take(void);

/* traffic.c */
extern struct flow *flows;
extern size_t flows_count;

void watch_add(int fd, enum watch_kind kind, size_t index, uint32_t events);
int64_t traffic_ns(int64_t at_ns);
int64_t traffic_now_ns(void);

/* sender.c */
void sender_connect(struct flow *flow);
void sender_start(struct flow *flow);
void sender_stop(struct flow *flow);
void sender_drain(struct flow *flow);
void sender_event(struct flow *flow, uint32_t events);
void sender_read_info(struct flow *flow);
void sender_set_priority(struct flow *flow, int64_t so_priority);
void sender_set_weight(struct flow *flow, int64_t weight_milli);
void sender_set_cc(struct flow *flow, const char *cc);
void sender_check_cc(const struct plan *plan);
bool sender_ready(const struct flow *flow);

/* cutoff.c */
void cutoff_prepare(const struct plan *plan);
void cutoff_now(const struct flow *flow);

/* gates.c */
void gates_make(const struct plan *plan);
void gates_delivered(const struct flow *flow);

/* receiver.c */
void receiver_listen(const struct plan *plan);
void receiver_unlisten(void);
void receiver_accept(size_t listener);
void receiver_event(struct flow *flow, uint32_t events);
void receiver_close_silently(struct flow *flow);
void receiver_read_info(struct flow *flow);

/* socket.c: helpers for both sides */
union socket_addr {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

socklen_t socket_addr(union socket_addr *out, const struct plan_addr *addr,
		      int64_t port);
void socket_option(const struct flow *flow, int fd, int level, int name,
		   int value, const char *what);
void socket_cc(const struct flow *flow, int fd, const char *cc);
void socket_close_silently(int fd);
uint64_t socket_share_bytes(void);
void socket_opened(int change);

/* events.c */
void event_run(const struct plan *plan, size_t index);
void event_command_ended(const struct plan *plan, size_t index);
void events_wait(const struct plan *plan);

/* sample.c */
void sample_take(const struct plan *plan, int64_t at_ns);
void sample_write(const struct plan *plan);

/* flowlist.c */
void flowlist_write(void);

#endif
