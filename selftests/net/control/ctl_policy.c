// SPDX-License-Identifier: GPL-2.0
/* Tests of policies. */
#define _GNU_SOURCE
#include "ctl.h"

#define MANY	1000

static struct nl m;

static int policy_add(int fd, uint32_t order, bool replace)
{
	/* conditions and settings were added behind nl_start() */
	if (order)
		nl_u32(&m, FL_A_POLICY_ORDER, order);
	if (replace)
		nl_add(&m, FL_A_POLICY_REPLACE, NULL, 0);
	return nl_talk(fd, &m, NULL, NULL);
}

/* The policy in m gives this priority, which is its order too. */
static void gives(int fd, uint32_t prio)
{
	nl_u32(&m, FL_A_POLICY_PRIORITY, prio);
	EQUAL(policy_add(fd, prio, true), 0);
}

/* ... to sockets with one condition. */
static void want_u32(int fd, uint32_t prio, int type, uint32_t val)
{
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	if (type)
		nl_u32(&m, type, val);
	gives(fd, prio);
}

static void want_u8(int fd, uint32_t prio, int type, uint8_t val)
{
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u8(&m, type, val);
	gives(fd, prio);
}

static void want_str(int fd, uint32_t prio, int type, const char *text)
{
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_str(&m, type, text);
	gives(fd, prio);
}

static void want_prefix(int fd, uint32_t prio, int type, const void *addr, int len, uint8_t bits)
{
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_add(&m, type, addr, len);
	nl_u8(&m, type + 1, bits);
	gives(fd, prio);
}

static void gone(int fd)
{
	nl_start(&m, FL_CMD_POLICY_DEL, 0);
	nl_add(&m, FL_A_POLICY_ALL, NULL, 0);
	EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
}

static uint64_t found;

static void take_hits(struct nlattr **tb, void *arg)
{
	if (nl_num(tb[FL_A_POLICY_ORDER]) == *(uint32_t *)arg)
		found = nl_num(tb[FL_A_POLICY_HITS]);
}

static uint64_t hits(int fd, uint32_t order)
{
	found = ~0ULL;
	nl_start(&m, FL_CMD_POLICY_GET, NLM_F_DUMP);
	REQUIRE(!nl_talk(fd, &m, take_hits, &order));
	return found;
}

/* Of 1000 connections exactly the one that a policy describes. */
static void test_policy_one(void)
{
	static int client[MANY];
	int fd = nl_open(), listener = listen_on(V4, 0), i, port, changed = 0;
	uint32_t loopback = htonl(INADDR_LOOPBACK);

	many_files();
	for (i = 0; i < MANY; i++)
		client[i] = connect_to(V4, listener, NULL);
	/* a port that was used and will be used again */
	port = port_of(client[MANY / 2]);
	for (i = 0; i < MANY; i++) {
		struct linger abort = { 1, 0 };
		struct sockaddr_in from = { .sin_family = AF_INET };
		struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = loopback };

		if (!i) {
			nl_start(&m, FL_CMD_POLICY_ADD, 0);
			nl_u32(&m, FL_A_POLICY_WHEN, FL_WHEN_CONNECT);
			nl_add(&m, FL_A_POLICY_LADDR, &loopback, 4);
			nl_add(&m, FL_A_POLICY_RADDR, &loopback, 4);
			nl_u8(&m, FL_A_POLICY_RADDR_BITS, 8);
			nl_u16(&m, FL_A_POLICY_LPORT_MIN, port);
			nl_u16(&m, FL_A_POLICY_RPORT_MIN, port_of(listener));
			nl_u32(&m, FL_A_POLICY_UID_MIN, 0);
			nl_str(&m, FL_A_POLICY_CC, "cubic");
			nl_u32(&m, FL_A_POLICY_PRIORITY, 11);
			nl_u32(&m, FL_A_POLICY_WEIGHT_MILLI, 4000);
			REQUIRE(!policy_add(fd, 0, 0));
		}
		from.sin_port = htons(port_of(client[i]));
		to.sin_port = htons(port_of(listener));
		setsockopt(client[i], SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
		close(client[i]);
		client[i] = socket(AF_INET, SOCK_STREAM, 0);
		from.sin_addr.s_addr = loopback;
		REQUIRE(!bind(client[i], (void *)&from, sizeof(from)));
		REQUIRE(!connect(client[i], (void *)&to, sizeof(to)));
	}
	for (i = 0; i < MANY; i++)
		if (get_opt(client[i], FL_SO_PRIORITY) == 11 &&
		    get_opt(client[i], FL_SO_WEIGHT) == 4000) {
			EQUAL(port_of(client[i]), port);
			changed++;
		}
	EQUAL(changed, 1);
	EQUAL(hits(fd, 10), 1);
	EQUAL(stat_of(fd, FL_A_STAT_FLOWS), 1);
}

static int64_t prio_of(enum kind kind, int listener, bool accepted, const char *cc)
{
	int c = connect_to(kind, listener, cc), s = accept(listener, NULL, NULL);
	int64_t prio = get_opt(accepted ? s : c, FL_SO_PRIORITY);

	close(c);
	close(s);
	return prio;
}

/* Each condition, and the order. */
static void test_policy_conditions(void)
{
	static const struct in6_addr six = IN6ADDR_LOOPBACK_INIT;
	int fd = nl_open(), four = listen_on(V4, 0), sixth = listen_on(V6, 0);
	int mapped = listen_on(MAPPED, 0);
	uint32_t loopback = htonl(INADDR_LOOPBACK);

	want_u32(fd, 3, FL_A_POLICY_WHEN, FL_WHEN_ACCEPT);
	want_u32(fd, 5, FL_A_POLICY_WHEN, FL_WHEN_CONNECT);
	EQUAL(prio_of(V4, four, true, NULL), 3);
	EQUAL(prio_of(V6, sixth, true, "prioplus"), 3);
	EQUAL(prio_of(V4, four, false, NULL), 5);
	EQUAL(prio_of(V6, sixth, false, "prioplus"), 5);
	/* the first that matches decides */
	want_u32(fd, 2, 0, 0);
	EQUAL(prio_of(V4, four, true, NULL), 2);
	EQUAL(prio_of(V4, four, false, NULL), 2);
	gone(fd);
	EQUAL(prio_of(V4, four, false, NULL), 0);
	want_u8(fd, 4, FL_A_POLICY_FAMILY, AF_INET);
	want_u8(fd, 6, FL_A_POLICY_FAMILY, AF_INET6);
	EQUAL(prio_of(V4, four, false, NULL), 4);
	EQUAL(prio_of(MAPPED, mapped, false, NULL), 4);
	EQUAL(prio_of(MAPPED, mapped, true, NULL), 4);
	EQUAL(prio_of(V6, sixth, false, NULL), 6);
	gone(fd);
	want_prefix(fd, 4, FL_A_POLICY_RADDR, &loopback, 4, 9);
	want_prefix(fd, 6, FL_A_POLICY_LADDR, &six, 16, 128);
	EQUAL(prio_of(V4, four, false, NULL), 4);
	EQUAL(prio_of(V6, sixth, true, NULL), 6);
	gone(fd);
	loopback ^= htonl(1 << 23);
	want_prefix(fd, 4, FL_A_POLICY_RADDR, &loopback, 4, 9);
	EQUAL(prio_of(V4, four, false, NULL), 0);
	gone(fd);
	want_str(fd, 7, FL_A_POLICY_CC, "swift");
	EQUAL(prio_of(V4, four, false, NULL), 0);
	EQUAL(prio_of(V4, four, false, "swift"), 7);
	gone(fd);
	want_u32(fd, 7, FL_A_POLICY_UID_MIN, 1);
	EQUAL(prio_of(V4, four, false, NULL), 0);
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u32(&m, FL_A_POLICY_UID_MIN, 0);
	nl_u32(&m, FL_A_POLICY_UID_MAX, 9);
	gives(fd, 7);
	EQUAL(prio_of(V4, four, false, NULL), 7);
	gone(fd);
	want_u8(fd, 9, FL_A_POLICY_DSCP, 46);
	EQUAL(prio_of(V4, four, true, NULL), 0);
	setsockopt(four, IPPROTO_IP, IP_TOS, &(int){ 46 << 2 | 1 }, sizeof(int));
	setsockopt(sixth, IPPROTO_IPV6, IPV6_TCLASS, &(int){ 46 << 2 }, sizeof(int));
	/* what counts is what the socket itself sends */
	EQUAL(prio_of(V4, four, true, NULL), 9);
	EQUAL(prio_of(V6, sixth, true, NULL), 9);
	EQUAL(prio_of(V4, four, false, NULL), 0);
	EQUAL(prio_of(V6, sixth, false, NULL), 0);
	gone(fd);
	want_u8(fd, 9, FL_A_POLICY_DSCP, 0);
	EQUAL(prio_of(V6, sixth, true, NULL), 0);
	EQUAL(prio_of(V6, sixth, false, NULL), 9);
	gone(fd);
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u8(&m, FL_A_POLICY_DSCP, 64);
	nl_u32(&m, FL_A_POLICY_PRIORITY, 1);
	EQUAL(policy_add(fd, 1, false), -ERANGE);
	system("mkdir -p /run/cg && mount -t cgroup2 none /run/cg 2> /dev/null");
	system("mkdir -p /run/cg/pol/sub");
	want_str(fd, 8, FL_A_POLICY_CGROUP, "/pol");
	EQUAL(prio_of(V4, four, false, NULL), 0);
	write_file("/run/cg/pol/sub/cgroup.procs", "0");
	EQUAL(prio_of(V4, four, false, NULL), 8);
	write_file("/run/cg/cgroup.procs", "0");
	rmdir("/run/cg/pol/sub");
	rmdir("/run/cg/pol");
}

static uint32_t examined, changed;

static void take_apply(struct nlattr **tb, void *arg)
{
	(void)arg;
	examined = nl_num(tb[FL_A_POLICY_EXAMINED]);
	changed = nl_num(tb[FL_A_POLICY_CHANGED]);
}

static void apply(int fd)
{
	nl_start(&m, FL_CMD_POLICY_APPLY, 0);
	REQUIRE(!nl_talk(fd, &m, take_apply, NULL));
}

/* Live sockets change when asked to, and only then. */
static void test_policy_apply(void)
{
	struct pair p = make_pair(V4), q = make_pair(V6);
	int fd = nl_open();

	EQUAL(set_opt(q.client, FL_SO_PRIORITY, 1), 0);
	want_u32(fd, 6, FL_A_POLICY_WHEN, FL_WHEN_ACCEPT);
	want_u32(fd, 9, FL_A_POLICY_WHEN, FL_WHEN_CONNECT);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 0);
	apply(fd);
	EQUAL(examined, 4);
	EQUAL(changed, 3);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 9);
	EQUAL(get_opt(p.server, FL_SO_PRIORITY), 6);
	EQUAL(get_opt(q.client, FL_SO_PRIORITY), 1);
	EQUAL(unset_opt(q.client, FL_SO_PRIORITY), 0);
	EQUAL(get_opt(q.client, FL_SO_PRIORITY), 9);
	apply(fd);
	EQUAL(changed, 0);
	gone(fd);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 9);
	apply(fd);
	EQUAL(changed, 4);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 0);
}

/* Ends the connection, and makes another with the same socket. */
static void again(int fd, int listener)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct sockaddr_storage to;
	socklen_t len = sizeof(to);

	REQUIRE(!connect(fd, &none, sizeof(none)));
	REQUIRE(!getsockname(listener, (void *)&to, &len));
	REQUIRE(!connect(fd, (void *)&to, len));
}

/* Each connection of a socket is decided anew: by the policies that there are, or by none. */
static void test_policy_disconnect(void)
{
	int fd = nl_open(), listener = listen_on(V4, 0), client;

	want_u32(fd, 9, FL_A_POLICY_WHEN, FL_WHEN_CONNECT);
	client = connect_to(V4, listener, NULL);
	EQUAL(get_opt(client, FL_SO_PRIORITY), 9);
	want_u32(fd, 4, 0, 0);
	EQUAL(get_opt(client, FL_SO_PRIORITY), 9);
	again(client, listener);
	EQUAL(get_opt(client, FL_SO_PRIORITY), 4);
	gone(fd);
	EQUAL(get_opt(client, FL_SO_PRIORITY), 4);
	again(client, listener);
	EQUAL(get_opt(client, FL_SO_PRIORITY), 0);
	REQUIRE(!setsockopt(client, IPPROTO_TCP, TCP_CONGESTION, "prioplus", 8));
	want_u32(fd, 9, 0, 0);
	again(client, listener);
	EQUAL(get_opt(client, FL_SO_PRIORITY), 9);
	gone(fd);
	again(client, listener);
	EQUAL(get_opt(client, FL_SO_PRIORITY), 0);
}

/* One attribute that is refused, alone or with a priority. */
static void refused(int fd, int error, int type, const void *data, int len, bool prio)
{
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	if (type)
		nl_add(&m, type, data, len);
	if (prio)
		nl_u32(&m, FL_A_POLICY_PRIORITY, 1);
	EQUAL(nl_talk(fd, &m, NULL, NULL), error);
	REQUIRE(m.text[0]);
}

/* Refusals say why and leave nothing behind. */
static void test_policy_errors(void)
{
	uint32_t high = FL_PRIORITY_MAX + 1, unset = UINT32_MAX, zero = 0;
	uint32_t loopback = htonl(INADDR_LOOPBACK);
	uint16_t port = 7;
	uint8_t byte = 7;
	int fd = nl_open();

	refused(fd, -EINVAL, 0, NULL, 0, false);
	refused(fd, -EINVAL, FL_A_POLICY_PRIORITY, &high, 4, false);
	refused(fd, -EINVAL, FL_A_POLICY_PRIORITY, &unset, 4, false);
	refused(fd, -EINVAL, FL_A_POLICY_WEIGHT_MILLI, &zero, 4, false);
	refused(fd, -EINVAL, FL_A_POLICY_RPORT_MAX, &port, 2, true);
	refused(fd, -EINVAL, FL_A_POLICY_LPORT_MAX, &port, 2, true);
	refused(fd, -EINVAL, FL_A_POLICY_UID_MAX, &high, 4, true);
	refused(fd, -EINVAL, FL_A_POLICY_RADDR, "abc", 3, true);
	refused(fd, -EINVAL, FL_A_POLICY_RADDR_BITS, &byte, 1, true);
	refused(fd, -EAFNOSUPPORT, FL_A_POLICY_FAMILY, &byte, 1, true);
	refused(fd, -ENOENT, FL_A_POLICY_CGROUP, "/none", 6, true);
	refused(fd, -EINVAL, FL_A_POLICY_COMMENT, "a\nlimits set prio 15", 21, true);
	refused(fd, -EINVAL, FL_A_POLICY_COMMENT, "a\033[2K", 6, true);
	refused(fd, -EINVAL, FL_A_POLICY_CC, "cubic\n", 7, true);
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_add(&m, FL_A_POLICY_RADDR, &loopback, 4);
	nl_u8(&m, FL_A_POLICY_RADDR_BITS, 33);
	nl_u32(&m, FL_A_POLICY_PRIORITY, 1);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -EINVAL);
	REQUIRE(m.text[0]);
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u16(&m, FL_A_POLICY_RPORT_MIN, 9);
	nl_u16(&m, FL_A_POLICY_RPORT_MAX, 8);
	nl_u32(&m, FL_A_POLICY_PRIORITY, 1);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -EINVAL);
	REQUIRE(m.text[0]);
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u32(&m, FL_A_POLICY_PRIORITY, 1);
	EQUAL(policy_add(fd, 5, 0), 0);
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u32(&m, FL_A_POLICY_PRIORITY, 2);
	EQUAL(policy_add(fd, 5, 0), -EEXIST);
	REQUIRE(m.text[0]);
	nl_start(&m, FL_CMD_POLICY_DEL, 0);
	nl_u32(&m, FL_A_POLICY_ORDER, 6);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -ENOENT);
	REQUIRE(m.text[0]);
	nl_start(&m, FL_CMD_POLICY_DEL, 0);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -EINVAL);
	/* an attribute that the command does not know */
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u32(&m, FL_A_POLICY_MAX + 1, 2);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -EINVAL);
	EQUAL(hits(fd, 5), 0);
}

/* A prefix of v4-mapped addresses is one of IPv4: so are connections to them. */
static void test_policy_mapped(void)
{
	static const uint8_t mapped[16] = { [10] = 255, [11] = 255, [12] = 127 };
	int fd = nl_open();
	struct pair p;

	want_prefix(fd, 9, FL_A_POLICY_RADDR, mapped, sizeof(mapped), 104);
	p = make_pair(V4);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 9);
	close_pair(&p);
	p = make_pair(MAPPED);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 9);
	close_pair(&p);
	p = make_pair(V6);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 0);
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u8(&m, FL_A_POLICY_FAMILY, AF_INET6);
	nl_add(&m, FL_A_POLICY_RADDR, mapped, sizeof(mapped));
	nl_u32(&m, FL_A_POLICY_PRIORITY, 3);
	EQUAL(policy_add(fd, 0, false), -EINVAL);
}

const struct test policy_tests[] = {
	{ "policy_one", test_policy_one },
	{ "policy_conditions", test_policy_conditions },
	{ "policy_apply", test_policy_apply },
	{ "policy_disconnect", test_policy_disconnect },
	{ "policy_errors", test_policy_errors },
	{ "policy_mapped", test_policy_mapped },
	{ }
};
