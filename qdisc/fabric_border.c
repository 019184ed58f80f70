// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: border routers (MLCC): routers and their ports, tables of connections and
 * hosts, what is to be seen. fabric_flows.c has what happens to packets, fabric_tell.c messages.
 *
 * A router is made with the first port of a namespace that has a role, and goes with the last. Its
 * lock nests in root locks: a port never takes another's root lock.
 */
#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/slab.h>

#include "fabric_border.h"

/* Connections that are looked at for one to forget. */
#define FABRIC_EVICT_TRIES	8
/* Queues that one message tells. */
#define FABRIC_FLOWS_TOLD	64
/* Room for what comes behind them: the shared buffer, that bands are left out, the kernel's own. */
#define FABRIC_FLOWS_BEHIND_BYTES	(64 + FABRIC_STATS_BEHIND_BYTES)

static unsigned int border_conns = FABRIC_CONNS_DEFAULT;
module_param(border_conns, uint, 0644);
MODULE_PARM_DESC(border_conns, "connections that a border router knows at most (3 kB each with a queue)");

/* Others choose addresses and TCP ports: they must not be able to choose places, too. */
static u32 fabric_border_seed __read_mostly;

static LIST_HEAD(fabric_borders);
/* Protects the list and users. */
static DEFINE_MUTEX(fabric_borders_mutex);

/* ---- tables -------------------------------------------------------------------- */

u32 fabric_conn_hash(const struct fabric_conn_key *key)
{
	return jhash(key, sizeof(*key), fabric_border_seed);
}

/* The connection, which is the one seen last from now on; NULL: not known. */
struct fabric_conn *fabric_conn_find(struct fabric_border *router,
				     const struct fabric_conn_key *key, u64 now_ns)
{
	u32 at = fabric_conn_hash(key) & (FABRIC_CONNS_HASH - 1);
	struct fabric_conn *conn;

	hlist_for_each_entry(conn, &router->conns[at], node) {
		if (memcmp(&conn->key, key, sizeof(*key)))
			continue;
		list_move_tail(&conn->lru, &router->lru);
		conn->seen_ns = now_ns;
		return conn;
	}
	return NULL;
}

static struct hlist_head *fabric_host_head(struct fabric_border *router,
					   const struct in6_addr *addr)
{
	u32 hash = jhash(addr, sizeof(*addr), fabric_border_seed);

	return &router->hosts[hash & (FABRIC_HOSTS_HASH - 1)];
}

/* A host behind a port, or (@port NULL) behind any; NULL: not known. */
struct fabric_host *fabric_host_find(struct fabric_border *router,
				     const struct in6_addr *addr,
				     const struct fabric_border_port *port)
{
	struct fabric_host *host;

	hlist_for_each_entry(host, fabric_host_head(router, addr), node) {
		if (ipv6_addr_equal(&host->addr, addr) && (!port || host->port == port))
			return host;
	}
	return NULL;
}

static struct fabric_host *fabric_host_make(struct fabric_border_port *p,
					    const struct in6_addr *addr, u64 now_ns)
{
	struct fabric_host *host;

	host = kzalloc(sizeof(*host), GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!host)
		return NULL;
	host->addr = *addr;
	host->port = p;
	INIT_LIST_HEAD(&host->turns);
	bd_host_init(&host->bd, &p->par, now_ns);
	hlist_add_head(&host->node, fabric_host_head(p->router, addr));
	return host;
}

/* A host goes if no connection has a queue to it, and nothing waits. */
void fabric_host_put(struct fabric_host *host)
{
	if (host->users || !list_empty(&host->turns))
		return;
	hlist_del(&host->node);
	kfree(host->rest);
	kfree(host);
}

/**
 * fabric_flow_make() - a queue
 * @p: the port
 * @conn: for this connection; NULL: for those to the host that have none
 * @addr: the host
 * @now_ns: time
 *
 * Return: it, or that of the host's other connections, or NULL without memory.
 */
struct fabric_flow *fabric_flow_make(struct fabric_border_port *p, struct fabric_conn *conn,
				     const struct in6_addr *addr, u64 now_ns)
{
	struct fabric_host *host = fabric_host_find(p->router, addr, p);
	u32 cross_ns = p->router->cross_ns;
	struct fabric_flow *flow;

	if (!host)
		host = fabric_host_make(p, addr, now_ns);
	if (!host)
		return NULL;
	if (!conn && host->rest)
		return host->rest;
	flow = kzalloc(sizeof(*flow), GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!flow) {
		fabric_host_put(host);
		return NULL;
	}
	flow->host = host;
	flow->bd.shared = !conn;
	INIT_LIST_HEAD(&flow->turn);
	if (conn) {
		host->users++;
		conn->flow = flow;
		cross_ns = conn->cross_ns ?: cross_ns;
	} else {
		host->rest = flow;
	}
	bd_flow_init(&flow->bd, &host->bd, &p->par, cross_ns, now_ns);
	return flow;
}

/* A connection's queue, which is empty, goes. */
void fabric_flow_free(struct fabric_border *router, struct fabric_conn *conn)
{
	struct fabric_host *host = conn->flow->host;

	kfree(conn->flow);
	conn->flow = NULL;
	host->users--;
	fabric_host_put(host);
}

static void fabric_conn_free(struct fabric_border *router, struct fabric_conn *conn)
{
	if (conn->flow)
		fabric_flow_free(router, conn);
	hlist_del(&conn->node);
	list_del(&conn->lru);
	router->nconns--;
	kfree(conn);
}

/* Makes room: the connection goes that was not seen for longest, if that is longer than its round
 * trip: among more that send than have room some shall be known. Return: false: packets of all
 * that were looked at wait, or they send.
 */
static bool fabric_conn_evict(struct fabric_border *router, u64 now_ns)
{
	struct fabric_conn *conn;
	int i;

	for (i = 0; i < FABRIC_EVICT_TRIES; i++) {
		conn = list_first_entry(&router->lru, struct fabric_conn, lru);
		/* another processor's time may be later */
		if ((s64)(now_ns - conn->seen_ns) <= (s64)(conn->cross_ns ?: router->cross_ns))
			return false;
		if (!conn->flow || !conn->flow->fifo.head) {
			fabric_conn_free(router, conn);
			router->count[FABRIC_BORDER_EVICTED]++;
			return true;
		}
		list_move_tail(&conn->lru, &router->lru);
	}
	return false;
}

/* A connection that is not known yet. Return: it; NULL: no room or no memory. */
struct fabric_conn *fabric_conn_make(struct fabric_border *router,
				     const struct fabric_conn_key *key, u64 now_ns)
{
	struct fabric_conn *conn;

	if (router->nconns >= READ_ONCE(border_conns) &&
	    (list_empty(&router->lru) || !fabric_conn_evict(router, now_ns)))
		return NULL;
	conn = kzalloc(sizeof(*conn), GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!conn)
		return NULL;
	conn->key = *key;
	conn->seen_ns = now_ns;
	hlist_add_head(&conn->node,
		       &router->conns[fabric_conn_hash(key) & (FABRIC_CONNS_HASH - 1)]);
	list_add_tail(&conn->lru, &router->lru);
	router->nconns++;
	return conn;
}

/* ---- routers and ports ----------------------------------------------------------- */

/* The router of a namespace, made if need be. Context: fabric_borders_mutex. */
static struct fabric_border *fabric_border_get(struct net *net)
{
	struct fabric_border *router;

	list_for_each_entry(router, &fabric_borders, list) {
		if (router->net == net)
			goto found;
	}
	router = kvzalloc(sizeof(*router), GFP_KERNEL_ACCOUNT);
	if (!router)
		return NULL;
	net_get_random_once(&fabric_border_seed, sizeof(fabric_border_seed));
	router->net = net;
	router->cross_ns = FABRIC_CROSS_DEFAULT_NS;
	spin_lock_init(&router->lock);
	INIT_LIST_HEAD(&router->lru);
	fabric_tell_init(router);
	list_add(&router->list, &fabric_borders);
found:
	router->users++;
	return router;
}

/* Context: fabric_borders_mutex, no port has packets that wait. */
static void fabric_border_put(struct fabric_border *router)
{
	struct fabric_conn *conn, *next;

	if (--router->users)
		return;
	list_del(&router->list);
	fabric_tell_exit(router);
	list_for_each_entry_safe(conn, next, &router->lru, lru)
		fabric_conn_free(router, conn);
	kvfree(router);
}

/* A device towards the datacenter; NULL: it is none. Context: the router's lock. */
struct fabric_lan *fabric_lan_find(struct fabric_border *router, int ifindex)
{
	int i;

	for (i = 0; i < FABRIC_LANS_MAX; i++) {
		if (router->lan[i].ifindex == ifindex)
			return &router->lan[i];
	}
	return NULL;
}

/* A port of role lan comes. One that takes the place of another of its device does so before that
 * one goes, and needs no room of its own. Return: false: no room.
 */
static bool fabric_lan_join(struct fabric_border *router, int ifindex)
{
	struct fabric_lan *lan = fabric_lan_find(router, ifindex) ?: fabric_lan_find(router, 0);

	if (!lan)
		return false;
	lan->ifindex = ifindex;
	lan->ports++;
	return true;
}

/* One goes. */
static void fabric_lan_leave(struct fabric_border *router, int ifindex)
{
	struct fabric_lan *lan = fabric_lan_find(router, ifindex);

	if (lan && !--lan->ports)
		lan->ifindex = 0;
}

/**
 * fabric_border_join() - a port gets a role
 * @sch: the qdisc, new
 * @settings: what was said
 * @line_bps: of the port, bit/s
 * @extack: why not
 *
 * Context: rtnl held.
 * Return: 0 or a negative error.
 */
int fabric_border_join(struct Qdisc *sch, const struct fabric_border_config *settings, u64 line_bps,
		       struct netlink_ext_ack *extack)
{
	struct fabric_border_port *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	struct net_device *dev = qdisc_dev(sch);
	struct fabric_sched *q = qdisc_priv(sch);
	bool listed = true;

	if (!p)
		return -ENOMEM;
	p->sch = sch;
	p->settings = *settings;
	p->ifindex = dev->ifindex;
	p->due = RB_ROOT_CACHED;
	BUILD_BUG_ON(BD_WEIGHT_MAX * HP_WEIGHT_ONE_MILLI != FABRIC_FLOW_WEIGHT_MAX_MILLI);
	bd_par_init(&p->par, settings->host_bps ?: line_bps, settings->weight_milli,
		    settings->form, settings->wait_ns, settings->theta_ns);
	mutex_lock(&fabric_borders_mutex);
	p->router = fabric_border_get(dev_net(dev));
	if (p->router && settings->role == FABRIC_ROLE_LAN) {
		spin_lock_bh(&p->router->lock);
		listed = fabric_lan_join(p->router, p->ifindex);
		spin_unlock_bh(&p->router->lock);
		if (!listed)
			fabric_border_put(p->router);
	}
	mutex_unlock(&fabric_borders_mutex);
	if (!p->router || !listed) {
		bool full = p->router;

		kfree(p);
		return full ? fabric_refuse_attr(extack, NULL,
						 "a router has 16 ports of role lan at most") :
			      -ENOMEM;
	}
	q->border = p;
	return 0;
}

/* What was said of the port's role. */
const struct fabric_border_config *fabric_border_settings(const struct fabric_sched *q)
{
	return &q->border->settings;
}

/* Forgets what goes to hosts behind the port; nothing waits. Context: the router's lock. */
static void fabric_border_forget(struct fabric_border_port *p)
{
	struct fabric_border *router = p->router;
	struct fabric_host *host;
	struct hlist_node *next;
	struct fabric_conn *conn;
	int i;

	list_for_each_entry(conn, &router->lru, lru) {
		if (conn->flow && conn->flow->host->port == p)
			fabric_flow_free(router, conn);
	}
	/* those that only have a queue that connections share */
	for (i = 0; i < FABRIC_HOSTS_HASH; i++) {
		hlist_for_each_entry_safe(host, next, &router->hosts[i], node) {
			if (host->port == p)
				fabric_host_put(host);
		}
	}
}

/* The port goes. Context: rtnl held, after reset, so that nothing waits. */
void fabric_border_leave(struct fabric_sched *q)
{
	struct fabric_border_port *p = q->border;

	mutex_lock(&fabric_borders_mutex);
	spin_lock_bh(&p->router->lock);
	if (p->settings.role == FABRIC_ROLE_LAN) {
		fabric_lan_leave(p->router, p->ifindex);
		fabric_border_forget(p);
	}
	spin_unlock_bh(&p->router->lock);
	fabric_border_put(p->router);
	mutex_unlock(&fabric_borders_mutex);
	q->border = NULL;
	kfree(p);
}

/* ---- what is to be seen ------------------------------------------------------------ */

/* One connection's queue. */
static void fabric_flow_show(const struct fabric_conn *conn, struct tc_fabric_flow *to)
{
	const struct fabric_flow *flow = conn->flow;
	const struct bd_host *host = &flow->host->bd;

	memset(to, 0, sizeof(*to));
	memcpy(to->here, &conn->key.here, sizeof(to->here));
	memcpy(to->there, &conn->key.there, sizeof(to->there));
	to->here_port = ntohs(conn->key.here_port);
	to->there_port = ntohs(conn->key.there_port);
	to->backlog_bytes = flow->fifo.bytes;
	to->backlog_packets = flow->fifo.packets;
	to->backlog_max_bytes = flow->max_bytes;
	to->cross_ns = flow->bd.dqm.cross_ns;
	to->near_ns = host->base_ns;
	to->flows_milli = (u64)host->flows * 1000 >> BD_FLOWS_SHIFT;
	to->host_bps = 8 * host->hp.rate;
	to->credit_bps = 8 * bd_share(host);
	to->tell_bps = 8 * flow->bd.dqm.tell;
}

/* Writes the queues of a port, as many as there is room for. Context: the router's lock. */
static int fabric_border_put_flows(struct sk_buff *skb, const struct fabric_border_port *p)
{
	int room = skb_tailroom(skb) - NLA_HDRLEN - FABRIC_FLOWS_BEHIND_BYTES;
	int most = room / (int)sizeof(struct tc_fabric_flow);
	struct fabric_conn *conn;
	struct nlattr *attr;
	int count = 0;

	most = min(most - 1, FABRIC_FLOWS_TOLD);
	attr = most > 0 ? nla_reserve(skb, TCA_FABRIC_STATS_FLOWS, 0) : NULL;
	if (!attr)
		return 0;
	list_for_each_entry_reverse(conn, &p->router->lru, lru) {
		if (!conn->flow || conn->flow->host->port != p)
			continue;
		fabric_flow_show(conn, skb_put(skb, sizeof(struct tc_fabric_flow)));
		if (++count == most)
			break;
	}
	attr->nla_len = nla_attr_size(count * sizeof(struct tc_fabric_flow));
	return 0;
}

/**
 * fabric_border_dump_stats() - write what the port's router has counted
 * @q: the port, with a role
 * @skb: where to
 * @flows: the port's queues, too
 *
 * Context: root lock held.
 * Return: 0 or -EMSGSIZE.
 */
int fabric_border_dump_stats(const struct fabric_sched *q, struct sk_buff *skb, bool flows)
{
	const struct fabric_border_port *p = q->border;
	struct fabric_border *router = p->router;
	struct nlattr *nest = nla_nest_start(skb, TCA_FABRIC_STATS_BORDER);
	int i, err = 0;

	if (!nest)
		return -EMSGSIZE;
	spin_lock(&router->lock);
	router->count[FABRIC_BORDER_CONNS] = router->nconns;
	for (i = 1; i <= FABRIC_BORDER_MAX && !err; i++)
		err = nla_put_u64_64bit(skb, i, router->count[i], FABRIC_BORDER_UNSPEC);
	if (!err)
		nla_nest_end(skb, nest);
	if (!err && flows)
		err = fabric_border_put_flows(skb, p);
	spin_unlock(&router->lock);
	return err;
}
