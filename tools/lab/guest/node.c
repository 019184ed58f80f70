// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes: network namespaces, bound to /run/netns/NAME as `ip netns` does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "labinit.h"

/* One namespace; the last one in the array is init's own. */
struct node {
	const char *name;
	int fd;
	int netlink;	/* rtnetlink socket inside, -1 before first use */
};

static struct node *nodes;
static size_t nodes_count;
static int64_t node_current = PLAN_NO_NODE;

/* The node with an index, or init's namespace for PLAN_NO_NODE. */
static struct node *node_get(int64_t node)
{
	return &nodes[node == PLAN_NO_NODE ? (int64_t)nodes_count : node];
}

const char *node_name(int64_t node)
{
	return node_get(node)->name;
}

int node_fd(int64_t node)
{
	return node_get(node)->fd;
}

/*
 * Goes into a node: sockets made from now on belong to it, for good. Does
 * nothing if that is where we are.
 */
void node_enter(int64_t node)
{
	if (node == node_current)
		return;
	if (setns(node_fd(node), CLONE_NEWNET))
		lab_fail("cannot enter node %s: %s", node_name(node),
			 strerror(errno));
	node_current = node;
}

/* An rtnetlink socket inside a node. */
int node_netlink(int64_t index)
{
	struct node *node = node_get(index);
	int one = 1;

	if (node->netlink >= 0)
		return node->netlink;
	node_enter(index);
	node->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			       NETLINK_ROUTE);
	if (node->netlink < 0)
		lab_fail("node %s: no rtnetlink socket: %s", node->name,
			 strerror(errno));
	/* without it the kernel gives no reasons, only error numbers */
	setsockopt(node->netlink, SOL_NETLINK, NETLINK_EXT_ACK, &one,
		   sizeof(one));
	return node->netlink;
}

static int node_open_self(const char *name)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		lab_fail("node %s: cannot open its namespace: %s", name,
			 strerror(errno));
	return fd;
}

/* Makes one namespace and its name. */
static void node_make(struct node *node)
{
	char path[sizeof(LAB_NETNS_DIR) + PLAN_NODE_NAME_MAX + 2];
	int fd;

	if (unshare(CLONE_NEWNET))
		lab_fail("cannot make a namespace for node %s: %s", node->name,
			 strerror(errno));
	snprintf(path, sizeof(path), LAB_NETNS_DIR "/%s", node->name);
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0)
		lab_fail("cannot make %s: %s", path, strerror(errno));
	close(fd);
	if (mount("/proc/self/ns/net", path, NULL, MS_BIND, NULL))
		lab_fail("cannot bind %s: %s", path, strerror(errno));
	node->fd = node_open_self(node->name);
}

/* Makes all namespaces; we are in init's own afterwards. */
void nodes_make(const struct plan *plan)
{
	size_t i;

	nodes_count = plan->nodes.count;
	nodes = calloc(nodes_count + 1, sizeof(*nodes));
	if (!nodes)
		lab_fail("no memory for %zu nodes", nodes_count);
	nodes[nodes_count].name = "(init)";
	nodes[nodes_count].fd = node_open_self("(init)");
	nodes[nodes_count].netlink = -1;
	for (i = 0; i < nodes_count; i++) {
		nodes[i].name = PLAN_ITEM(struct plan_node, plan->nodes,
					  i)->name;
		nodes[i].netlink = -1;
		node_make(&nodes[i]);
	}
	node_current = (int64_t)nodes_count;	/* none of the others */
	node_enter(PLAN_NO_NODE);
}

/* Gives all namespaces up; the kernel takes them apart in the background. */
void nodes_remove(void)
{
	char path[sizeof(LAB_NETNS_DIR) + PLAN_NODE_NAME_MAX + 2];
	size_t i;

	node_enter(PLAN_NO_NODE);
	for (i = 0; i < nodes_count; i++) {
		snprintf(path, sizeof(path), LAB_NETNS_DIR "/%s",
			 nodes[i].name);
		if (umount2(path, MNT_DETACH) || unlink(path))
			lab_fail("cannot remove %s: %s", path,
				 strerror(errno));
		close(nodes[i].fd);
		if (nodes[i].netlink >= 0)
			close(nodes[i].netlink);
	}
}

/*
 * Writes sysctls where we are; names with dots, or with slashes. With optional, those that
 * this namespace does not have or may not change are left as they are.
 */
static void sysctl_write(const struct json_list *pairs, const char *where,
			 bool optional)
{
	char path[512];
	size_t i;
	char *p;
	int error;

	for (i = 0; i < pairs->count; i++) {
		const struct plan_pair *pair =
			PLAN_ITEM(struct plan_pair, *pairs, i);

		if (snprintf(path, sizeof(path), "/proc/sys/%s", pair->name) >=
		    (int)sizeof(path))
			lab_fail("%s: sysctl name too long: %s", where,
				 pair->name);
		for (p = path + strlen("/proc/sys/");
		     !strchr(pair->name, '/') && *p; p++)
			if (*p == '.')
				*p = '/';
		error = file_write(path, pair->value);
		if (optional && (error == -ENOENT || error == -EACCES ||
				 error == -EPERM))
			continue;
		if (error == -ENOENT)
			lab_fail("%s: there is no sysctl %s", where,
				 pair->name);
		if (error)
			lab_fail("%s: sysctl %s does not accept \"%s\": %s",
				 where, pair->name, pair->value,
				 strerror(-error));
	}
}

/*
 * Writes the sysctls that are for all: namespaces that come inherit them. Those of the
 * host's own kernel are not ours to change; nodes_sysctl() writes what each node has of
 * them for itself.
 */
void sysctls_write(const struct plan *plan)
{
	if (!getenv("LAB_HOST"))
		sysctl_write(&plan->sysctl, "all nodes", false);
}

/* Writes the sysctls of each node. */
void nodes_sysctl(const struct plan *plan)
{
	bool host = getenv("LAB_HOST");
	size_t i;

	for (i = 0; i < plan->nodes.count; i++) {
		const struct plan_node *node =
			PLAN_ITEM(struct plan_node, plan->nodes, i);

		if (!node->sysctl.count && !host)
			continue;
		node_enter(i);
		if (host)
			sysctl_write(&plan->sysctl, node->name, true);
		sysctl_write(&node->sysctl, node->name, false);
	}
	node_enter(PLAN_NO_NODE);
}
