/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric: what fabric_border.c (routers, ports, tables), fabric_flows.c (packets) and
 * fabric_tell.c (messages to senders) share. See core/border.h for the rules,
 * Documentation/design/mlcc.rst for the whole.
 *
 * Connections and hosts are found by tables of the router, which are bounded: the connection that
 * was not seen for longest goes first. All of it is soft: what is forgotten is learnt again.
 */
#ifndef FABRIC_BORDER_H_
#define FABRIC_BORDER_H_

#include <linux/interrupt.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "fabric.h"
#include "core/border.h"

#define FABRIC_CONNS_HASH	1024	/* powers of two */
#define FABRIC_STRANGERS	256	/* connections without room that are told apart */
#define FABRIC_HOSTS_HASH	256
#define FABRIC_CONNS_DEFAULT	4096	/* of a router at most */
#define FABRIC_LANS_MAX		16
/* RTT between datacenters before a handshake has told one, ns. */
#define FABRIC_CROSS_DEFAULT_NS	10000000

/**
 * struct fabric_conn_key - a connection
 * @here: address of the host in this datacenter, IPv4 as ::ffff:a.b.c.d
 * @there: of the other
 * @here_port: TCP port
 * @there_port: likewise
 */
struct fabric_conn_key {
	struct in6_addr here;
	struct in6_addr there;
	__be16 here_port;
	__be16 there_port;
};

/**
 * struct fabric_flow - a queue: of a connection, or of those of a host that have none
 * @bd: the core's part
 * @fifo: packets; its port's root lock
 * @turn: in its host's list while there are packets
 * @deficit: bytes that it may send in this turn
 * @host: where they go
 * @max_bytes: most that ever waited
 * @seen: connections that share it, by their hashes
 */
struct fabric_flow {
	struct bd_flow bd;
	struct fabric_fifo fifo;
	struct list_head turn;
	s32 deficit;
	struct fabric_host *host;
	u32 max_bytes;
	u64 seen;
};

/* A host's queues hold at most so many times what the port's limit has left: 8 of 9 parts. First
 * bursts of 256 flows to one host are 105 MB where the limit is 128.
 */
#define FABRIC_HOST_ALPHA	8

/**
 * struct fabric_host - a receiving host behind a port
 * @node: in the router's table
 * @due: in its port's tree while packets wait, by bd_ready_ns()
 * @bd: the core's part
 * @addr: its address
 * @port: the port
 * @turns: its queues with packets
 * @bytes: that wait for it
 * @users: connections with a queue
 * @rest: queue of the others; NULL: none yet
 */
struct fabric_host {
	struct hlist_node node;
	struct rb_node due;
	struct bd_host bd;
	struct in6_addr addr;
	struct fabric_border_port *port;
	struct list_head turns;
	u32 bytes;
	unsigned int users;
	struct fabric_flow *rest;
};

/**
 * struct fabric_conn - a connection
 * @node: in the router's table
 * @lru: in the order in which they were seen
 * @key: which
 * @seen_ns: when it was seen last
 * @out_ns: when its SYN, or the answer to one, left for the other datacenter; 0: that is over
 * @in_ns: when one came from there; likewise
 * @cross_ns: from here to the other host and back, ns; 0: not known
 * @near_ns: to the host of this datacenter and back
 * @told_ns: when the sender was last told of @near, or could be
 * @near: load that its data has met up to here, as it came
 * @near_time: over what time, as the sender chose
 * @fresh: that has not been told yet
 * @untold: packets of data since an ACK that can tell, saturating
 * @arrived: load that data for the host of this datacenter came with
 * @arrives: that has not been told yet
 * @flow: its queue, NULL: none
 */
struct fabric_conn {
	struct hlist_node node;
	struct list_head lru;
	struct fabric_conn_key key;
	u64 seen_ns;
	u64 out_ns;
	u64 in_ns;
	u64 told_ns;
	u32 cross_ns;
	u32 near_ns;
	u16 near;
	u16 arrived;
	u8 near_time;
	bool fresh;
	bool arrives;
	u8 untold;
	struct fabric_flow *flow;
};

/**
 * struct fabric_border_port - a port's part
 * @router: its router
 * @sch: its qdisc
 * @settings: what the user chose
 * @par: what the core was told of them
 * @ifindex: its device
 * @due: hosts with packets, the first to be served first
 * @packets: that wait
 * @quantum: bytes of a queue's turn: of the largest packet so far, so that a turn has room for any
 */
struct fabric_border_port {
	struct fabric_border *router;
	struct Qdisc *sch;
	struct fabric_border_config settings;
	struct bd_par par;
	int ifindex;
	struct rb_root_cached due;
	u32 packets;
	u32 quantum;
};

/**
 * struct fabric_lan - a device towards the datacenter
 * @ifindex: which, 0: there is room for one
 * @ports: of role lan that it has: two while one takes the other's place
 */
struct fabric_lan {
	int ifindex;
	unsigned int ports;
};

/**
 * struct fabric_border - the border router of a namespace
 * @list: all of them
 * @net: its namespace, which outlives its devices and so this
 * @users: ports
 * @lock: protects all below; nests in root locks
 * @lan: devices towards the datacenter
 * @nconns: connections
 * @cross_ns: what handshakes have told, for connections that have told nothing
 * @crossed: one has
 * @count: by FABRIC_BORDER_*
 * @lru: connections, the one not seen for longest first
 * @conns: table of connections
 * @strangers_ns: when one without room in it was last sent a message, by its hash
 * @hosts: table of hosts
 * @message_ns: when all messages that were made are paid for
 * @messages: to be sent; has a lock of its own
 * @tell: sends them
 */
struct fabric_border {
	struct list_head list;
	struct net *net;
	unsigned int users;
	spinlock_t lock;	/* nests in root locks */
	struct fabric_lan lan[FABRIC_LANS_MAX];
	unsigned int nconns;
	u32 cross_ns;
	bool crossed;
	u64 count[FABRIC_BORDER_MAX + 1];
	struct list_head lru;
	struct hlist_head conns[FABRIC_CONNS_HASH];
	u64 strangers_ns[FABRIC_STRANGERS];
	struct hlist_head hosts[FABRIC_HOSTS_HASH];
	u64 message_ns;
	struct sk_buff_head messages;
	struct tasklet_struct tell;
};

/* fabric_border.c; the router's lock held */
u32 fabric_conn_hash(const struct fabric_conn_key *key);
struct fabric_conn *fabric_conn_find(struct fabric_border *router,
				     const struct fabric_conn_key *key, u64 now_ns);
struct fabric_conn *fabric_conn_make(struct fabric_border *router,
				     const struct fabric_conn_key *key, u64 now_ns);
struct fabric_host *fabric_host_find(struct fabric_border *router,
				     const struct in6_addr *addr,
				     const struct fabric_border_port *port);
void fabric_host_put(struct fabric_host *host);
struct fabric_flow *fabric_flow_make(struct fabric_border_port *p, struct fabric_conn *conn,
				     const struct in6_addr *addr, u64 now_ns);
void fabric_flow_free(struct fabric_border *router, struct fabric_conn *conn);
struct fabric_lan *fabric_lan_find(struct fabric_border *router, int ifindex);

/* fabric_tell.c */
void fabric_tell_init(struct fabric_border *router);
void fabric_tell_exit(struct fabric_border *router);
bool fabric_tell(struct fabric_border *router, const struct sk_buff *skb, int offset, u16 near,
		 u64 now_ns);

#endif /* FABRIC_BORDER_H_ */
