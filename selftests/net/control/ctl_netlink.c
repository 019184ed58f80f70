// SPDX-License-Identifier: GPL-2.0
/* Tests of netlink: flows, profiles, events, dumps, namespaces. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "ctl.h"

#define MANY	1000

static struct nl m;

static uint64_t last_cookie, last_weight;

static void take_flow(struct nlattr **tb, void *arg)
{
	(void)arg;
	last_cookie = nl_num(tb[FL_A_FLOW_COOKIE]);
	last_weight = nl_num(tb[FL_A_FLOW_WEIGHT_MILLI]);
}

/* The name of a connection by its addresses. */
static void add_tuple(enum kind kind, int fd, int peer)
{
	static const uint8_t mapped[16] = { [10] = 255, [11] = 255, [12] = 127, [15] = 1 };
	static const uint8_t six[16] = { [15] = 1 };
	const void *addr = kind == V6 ? six : kind == MAPPED ? mapped : mapped + 12;
	int len = kind == V4 ? 4 : 16;

	nl_add(&m, FL_A_FLOW_LADDR, addr, len);
	nl_add(&m, FL_A_FLOW_RADDR, addr, len);
	nl_u16(&m, FL_A_FLOW_LPORT, htons(port_of(fd)));
	nl_u16(&m, FL_A_FLOW_RPORT, htons(port_of(peer)));
}

/* FLOW_SET with an attribute, @type 0: none, and what to take back. */
static int change(int fd, int sock, int type, uint32_t val, uint32_t unset)
{
	nl_start(&m, FL_CMD_FLOW_SET, 0);
	nl_u64(&m, FL_A_FLOW_COOKIE, cookie_of(sock));
	if (type)
		nl_u32(&m, type, val);
	if (unset)
		nl_u32(&m, FL_A_FLOW_UNSET, unset);
	return nl_talk(fd, &m, NULL, NULL);
}

/* Settings are taken back by their names: no number means anything but itself. */
static void test_flow_unset(void)
{
	struct pair p = make_pair(V4);
	int fd = nl_open();

	EQUAL(change(fd, p.client, FL_A_FLOW_WEIGHT_MILLI, 1234, 0), 0);
	EQUAL(change(fd, p.client, FL_A_FLOW_WEIGHT_MILLI, UINT32_MAX, 0), -EINVAL);
	EQUAL(change(fd, p.client, FL_A_FLOW_WEIGHT_MILLI, 5, 1 << FL_SET_WEIGHT), -EINVAL);
	REQUIRE(m.text[0]);
	EQUAL(change(fd, p.client, 0, 0, 1 << __FL_SET_COUNT), -EINVAL);
	EQUAL(get_opt(p.client, FL_SO_WEIGHT), 1234);
	EQUAL(change(fd, p.client, FL_A_FLOW_PRIORITY, 4, 1 << FL_SET_WEIGHT), 0);
	EQUAL(get_opt(p.client, FL_SO_WEIGHT), FL_WEIGHT_ONE_MILLI);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 4);
	EQUAL(change(fd, p.client, 0, 0, 1 << FL_SET_PRIORITY), 0);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 0);
}

/* Sockets by tuple and by cookie, with settings and without, and listeners. */
static void test_flow_names(void)
{
	int fd = nl_open();
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		struct pair p = make_pair(kind);

		nl_start(&m, FL_CMD_FLOW_GET, 0);
		add_tuple(kind, p.client, p.server);
		EQUAL(nl_talk(fd, &m, take_flow, NULL), 0);
		EQUAL(last_weight, FL_WEIGHT_ONE_MILLI);
		nl_start(&m, FL_CMD_FLOW_SET, 0);
		add_tuple(kind, p.client, p.server);
		nl_u32(&m, FL_A_FLOW_WEIGHT_MILLI, 1234);
		nl_u32(&m, FL_A_FLOW_PRIORITY, 3);
		EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
		EQUAL(get_opt(p.client, FL_SO_WEIGHT), 1234);
		EQUAL(get_opt(p.client, FL_SO_PRIORITY), 3);
		EQUAL(get_opt(p.server, FL_SO_WEIGHT), FL_WEIGHT_ONE_MILLI);
		/* all or nothing */
		nl_start(&m, FL_CMD_FLOW_SET, 0);
		nl_u64(&m, FL_A_FLOW_COOKIE, cookie_of(p.client));
		nl_u32(&m, FL_A_FLOW_WEIGHT_MILLI, 5);
		nl_u32(&m, FL_A_FLOW_PRIORITY, 99);
		EQUAL(nl_talk(fd, &m, NULL, NULL), -EINVAL);
		EQUAL(get_opt(p.client, FL_SO_WEIGHT), 1234);
		/* a socket that we have never heard of */
		nl_start(&m, FL_CMD_FLOW_SET, 0);
		nl_u64(&m, FL_A_FLOW_COOKIE, cookie_of(p.server));
		nl_u32(&m, FL_A_FLOW_WEIGHT_MILLI, 777);
		EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
		EQUAL(get_opt(p.server, FL_SO_WEIGHT), 777);
		nl_start(&m, FL_CMD_FLOW_GET, 0);
		nl_u64(&m, FL_A_FLOW_COOKIE, cookie_of(p.listener));
		EQUAL(nl_talk(fd, &m, take_flow, NULL), 0);
		EQUAL(last_cookie, cookie_of(p.listener));
		nl_start(&m, FL_CMD_FLOW_SET, 0);
		add_tuple(kind, p.listener, p.listener);
		nl_u16(&m, FL_A_FLOW_RPORT, 0);
		nl_u32(&m, FL_A_FLOW_PRIORITY, 2);
		EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
		EQUAL(get_opt(p.listener, FL_SO_PRIORITY), 2);
		close_pair(&p);
	}
	nl_start(&m, FL_CMD_FLOW_SET, 0);
	nl_u64(&m, FL_A_FLOW_COOKIE, 1ULL << 60);
	nl_u32(&m, FL_A_FLOW_PRIORITY, 2);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -ENOENT);
	REQUIRE(m.text[0]);
	nl_start(&m, FL_CMD_FLOW_SET, 0);
	nl_u64(&m, FL_A_FLOW_COOKIE, 1);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -EINVAL);
	REQUIRE(m.text[0]);
	nl_start(&m, FL_CMD_FLOW_GET, 0);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -EINVAL);
	REQUIRE(m.text[0]);
}

/* A setting of the profile of 127.0.0.0/bits, 0: the namespace's. */
static int profile(int fd, int bits, const char *name, uint32_t value)
{
	uint32_t net = htonl(0x7f000000);
	int at;

	nl_start(&m, FL_CMD_PROFILE_SET, 0);
	if (bits) {
		nl_add(&m, FL_A_PROFILE_ADDR, &net, 4);
		nl_u8(&m, FL_A_PROFILE_BITS, bits);
	}
	at = nl_nest(&m, FL_A_PROFILE_SETTING);
	nl_str(&m, FL_A_SETTING_NAME, name);
	nl_u32(&m, FL_A_SETTING_VALUE, value);
	nl_nest_end(&m, at);
	return nl_talk(fd, &m, NULL, NULL);
}

/* Profiles: the longest prefix decides, the rest comes from the namespace. */
static void test_profiles(void)
{
	uint32_t ten = htonl(0x7f000000);
	struct pair p = make_pair(V4);
	int fd = nl_open();

	REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, "swift", 5));
	EQUAL(profile(fd, 0, "base_rtt_ns", 50000), 0);
	EQUAL(get_opt(p.client, FL_SO_BASE_RTT_NS), 50000);
	EQUAL(profile(fd, 8, "base_rtt_ns", 60000), 0);
	EQUAL(profile(fd, 16, "line_rate_mbps", 300), 0);
	/* a flow takes it in with its next ACK */
	REQUIRE(send(p.client, "x", 1, 0) == 1);
	wait_ns(1000000);
	EQUAL(get_opt(p.client, FL_SO_BASE_RTT_NS), 50000);
	EQUAL(get_opt(p.client, FL_SO_LINE_RATE_MBPS), 300);
	EQUAL(profile(fd, 0, "base_rtt_ns", 70000), 0);
	EQUAL(get_opt(p.client, FL_SO_BASE_RTT_NS), 70000);
	nl_start(&m, FL_CMD_PROFILE_DEL, 0);
	nl_add(&m, FL_A_PROFILE_ADDR, &ten, 4);
	nl_u8(&m, FL_A_PROFILE_BITS, 16);
	EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
	EQUAL(nl_talk(fd, &m, NULL, NULL), -ENOENT);
	REQUIRE(m.text[0]);
	REQUIRE(send(p.client, "x", 1, 0) == 1);
	wait_ns(1000000);
	EQUAL(get_opt(p.client, FL_SO_BASE_RTT_NS), 60000);
	/* the socket's own comes first */
	EQUAL(set_opt(p.client, FL_SO_BASE_RTT_NS, 1000), 0);
	EQUAL(get_opt(p.client, FL_SO_BASE_RTT_NS), 1000);
	EQUAL(profile(fd, 8, "nonsense", 1), -ENOENT);
	REQUIRE(m.text[0]);
	EQUAL(profile(fd, 8, "gso_segs", 65), -EINVAL);
	REQUIRE(m.text[0]);
	EQUAL(profile(fd, 33, "gso_segs", 6), -EINVAL);
	REQUIRE(m.text[0]);
	EQUAL(profile(fd, 4, "gso_segs", 6), -EINVAL);
	REQUIRE(m.text[0]);
}

/* One event, if there is one. Return: 1, 0 or a negative errno. */
int read_event(int fd, struct seen *s)
{
	static char in[8192];
	int len = recv(fd, in, sizeof(in), MSG_DONTWAIT);
	uint64_t seq;

	if (len < 0)
		return errno == EAGAIN ? 0 : -errno;
	REQUIRE(nl_parse((void *)in, s->tb));
	seq = nl_num(s->tb[FL_A_EVENT_SEQ]);
	if (!s->count++)
		s->first = seq;
	else if (seq != s->last + 1)
		s->gaps += seq - s->last - 1;
	s->last = seq;
	return 1;
}

int listen_events(void)
{
	int fd = nl_open(), group = nl_group(), size = 16 << 20;

	REQUIRE(!setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)));
	REQUIRE(!setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)));
	return fd;
}

/* As many events as changes, in order; each says who, what, old and new. */
static void test_events(void)
{
	struct pair p = make_pair(V4);
	int fd = listen_events(), nl = nl_open(), i;
	struct seen s = { };

	for (i = 1; i <= 2000; i++)
		EQUAL(set_opt(i & 1 ? p.client : p.server, FL_SO_WEIGHT, 1000 + i), 0);
	EQUAL(set_opt(p.client, FL_SO_WEIGHT, 1000 + 1999), 0);	/* no change */
	EQUAL(set_opt(p.client, FL_SO_PRIORITY, 99), -EINVAL);
	while (read_event(fd, &s) > 0)
		if (s.count <= 2000) {
			int sk = s.count & 1 ? p.client : p.server;
			int old = s.count > 2 ? 1000 + s.count - 2 : 1000;

			EQUAL(nl_num(s.tb[FL_A_EVENT_KIND]), FL_EVENT_ATTR);
			EQUAL(nl_num(s.tb[FL_A_EVENT_WHAT]), FL_SET_WEIGHT);
			EQUAL(nl_num(s.tb[FL_A_EVENT_NEW]), 1000 + s.count);
			EQUAL(nl_num(s.tb[FL_A_EVENT_OLD]), old);
			EQUAL(nl_num(s.tb[FL_A_EVENT_NEW_FROM]), FL_FROM_SOCKOPT);
			EQUAL(nl_num(s.tb[FL_A_EVENT_PID]), getpid());
			EQUAL(nl_num(s.tb[FL_A_EVENT_UID]), 0);
			EQUAL(nl_num(s.tb[FL_A_EVENT_COOKIE]), cookie_of(sk));
			EQUAL(ntohs(nl_num(s.tb[FL_A_EVENT_LPORT])), port_of(sk));
		}
	printf("# %llu events, %llu lost, last number %llu\n", (unsigned long long)s.count,
	       (unsigned long long)stat_of(nl, FL_A_STAT_EVENTS_LOST),
	       (unsigned long long)stat_of(nl, FL_A_STAT_EVENTS));
	EQUAL(s.count, 2001);
	EQUAL(nl_num(s.tb[FL_A_EVENT_KIND]), FL_EVENT_REFUSED);
	EQUAL(nl_num(s.tb[FL_A_EVENT_ERROR]), EINVAL);
	EQUAL(s.gaps, 0);
	EQUAL(s.last, stat_of(nl, FL_A_STAT_EVENTS));
	EQUAL(stat_of(nl, FL_A_STAT_CHANGES), 2000);
	EQUAL(stat_of(nl, FL_A_STAT_EVENTS_LOST), 0);
}

/* A reader that is too slow learns that it was, and how much it missed. */
static void test_overrun(void)
{
	struct pair p = make_pair(V4);
	int fd = listen_events(), nl = nl_open(), size = 16384, i, r, overruns = 0;
	struct seen s = { };

	REQUIRE(!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
	for (i = 1; i <= 3000; i++)
		EQUAL(set_opt(p.client, FL_SO_WEIGHT, 1000 + i), 0);
	while ((r = read_event(fd, &s)) != 0)
		if (r < 0) {
			EQUAL(r, -ENOBUFS);
			overruns++;
		}
	EQUAL(set_opt(p.client, FL_SO_WEIGHT, 1), 0);
	EQUAL(read_event(fd, &s), 1);
	REQUIRE(overruns >= 1);
	EQUAL(s.last, 3001);
	EQUAL(s.count + s.gaps, 3001);
	REQUIRE(s.gaps > 100);
	EQUAL(stat_of(nl, FL_A_STAT_EVENTS), s.last);
}

#define LONG_LIVED	1500

static uint8_t times_seen[1 << 20];

/* A dump read slowly, while sockets come and go: every one that stays is shown
 * exactly once.
 */
static void test_dump(void)
{
	int fd = nl_open(), listener = listen_on(V4, 0), i, left;
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	static int stay[LONG_LIVED], come[LONG_LIVED];
	static char in[8192];
	struct nlattr *tb[NL_ATTRS];
	struct nlmsghdr *h;
	bool done = false;

	many_files();
	for (i = 0; i < LONG_LIVED; i++) {
		stay[i] = socket(AF_INET, SOCK_STREAM, 0);
		come[i] = socket(AF_INET, SOCK_STREAM, 0);
		EQUAL(set_opt(stay[i], FL_SO_PRIORITY, 3), 0);
		if (i & 1)
			EQUAL(set_opt(come[i], FL_SO_PRIORITY, 3), 0);
	}
	nl_start(&m, FL_CMD_FLOW_GET, NLM_F_DUMP);
	h = (void *)m.buf;
	h->nlmsg_len = m.len;
	REQUIRE(sendto(fd, m.buf, m.len, 0, (void *)&to, sizeof(to)) == m.len);
	for (i = 0; !done; i++) {
		if (i < LONG_LIVED) {
			close(come[i]);
			come[i] = socket(AF_INET, SOCK_STREAM, 0);
			set_opt(come[i], FL_SO_PRIORITY, 1);
			close(connect_to(V4, listener, "prioplus"));
		}
		left = recv(fd, in, sizeof(in), 0);
		REQUIRE(left > 0);
		for (h = (void *)in; NLMSG_OK(h, (unsigned int)left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == NLMSG_DONE) {
				EQUAL(*(int *)NLMSG_DATA(h), 0);
				done = true;
				break;
			}
			REQUIRE(h->nlmsg_type != NLMSG_ERROR && nl_parse(h, tb));
			REQUIRE(nl_num(tb[FL_A_FLOW_COOKIE]) < sizeof(times_seen));
			times_seen[nl_num(tb[FL_A_FLOW_COOKIE])]++;
		}
	}
	for (i = 0; i < LONG_LIVED; i++)
		EQUAL(times_seen[cookie_of(stay[i])], 1);
	printf("# read in %d messages\n", i);
	for (i = 0; i < (int)sizeof(times_seen); i++)
		REQUIRE(times_seen[i] <= 1);
}

/* A namespace that goes with everything set. */
static void test_netns_exit(void)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 20; i++) {
		pid = fork();
		if (!pid) {
			struct pair p, q;
			int fd;

			REQUIRE(!unshare(CLONE_NEWNET));
			REQUIRE(!system("ip link set lo up"));
			fd = nl_open();
			listen_events();
			nl_start(&m, FL_CMD_POLICY_ADD, 0);
			nl_str(&m, FL_A_POLICY_COMMENT, "to be forgotten");
			nl_u32(&m, FL_A_POLICY_PRIORITY, 9);
			EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
			EQUAL(profile(fd, 8, "base_rtt_ns", 60000), 0);
			nl_start(&m, FL_CMD_BUDGET_SET, 0);
			nl_u32(&m, FL_A_BUDGET_UID, 5);
			nl_u32(&m, FL_A_BUDGET_MILLI, 5000);
			EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
			p = make_pair(V4);
			q = make_pair(V6);
			p.client = connect_to(V4, p.listener, "prioplus");
			q.client = connect_to(V6, q.listener, "swift");
			EQUAL(set_opt(p.client, FL_SO_WEIGHT, 3000), 0);
			EQUAL(set_opt(q.listener, FL_SO_WEIGHT, 3000), 0);
			REQUIRE(send(p.client, &m, 10000, 0) == 10000);
			exit(0);
		}
		REQUIRE(waitpid(pid, &status, 0) == pid);
		EQUAL(status, 0);
	}
	/* they go in the background */
	wait_ns(500000000);
}

#define COST_FLOWS	10000

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static void count_flow(struct nlattr **tb, void *arg)
{
	(void)tb;
	++*(int *)arg;
}

/* The longest time for which another process does not get the processor while all flows are
 * switched off and on, although it has precedence. It asks each 50 us.
 */
static long off_keeps_ns(void)
{
	struct sched_param first = { .sched_priority = 1 };
	long *longest = mmap(NULL, sizeof(*longest), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long now, last;
	pid_t pid;

	REQUIRE(longest != MAP_FAILED);
	pid = fork();
	if (!pid) {
		REQUIRE(!sched_setscheduler(0, SCHED_FIFO, &first));
		for (last = now_ns();; last = now) {
			wait_ns(50000);
			now = now_ns();
			if (now - last > *longest)
				*longest = now - last;
		}
	}
	wait_ns(1000000);
	write_file("/proc/sys/net/fairlane/off", "1");
	write_file("/proc/sys/net/fairlane/off", "0");
	wait_ns(1000000);
	kill(pid, SIGKILL);
	REQUIRE(waitpid(pid, NULL, 0) == pid);
	return *longest;
}

/* What a setting and a dump take, and for how long off keeps others waiting. Judged where the
 * clock counts instructions (selftests/machine/control-cost); elsewhere it only has to work.
 */
static void test_cost(void)
{
	static int flow[COST_FLOWS];
	int fd = nl_open(), i, flows = 0;
	struct pair p = make_pair(V4);
	long start, set_ns, dump_ns;

	many_files();
	for (i = 0; i < COST_FLOWS; i++) {
		flow[i] = socket(AF_INET, SOCK_STREAM, 0);
		EQUAL(set_opt(flow[i], FL_SO_PRIORITY, 3), 0);
	}
	set_opt(p.client, FL_SO_WEIGHT, 1);
	start = now_ns();
	for (i = 0; i < 1000; i++)
		set_opt(p.client, FL_SO_WEIGHT, 1000 + i);
	set_ns = (now_ns() - start) / 1000;
	start = now_ns();
	nl_start(&m, FL_CMD_FLOW_GET, NLM_F_DUMP);
	EQUAL(nl_talk(fd, &m, count_flow, &flows), 0);
	dump_ns = now_ns() - start;
	EQUAL(flows, COST_FLOWS + 1);
	printf("# set %ld ns, dump of %d flows %ld ns\n", set_ns, flows, dump_ns);
	printf("# off keeps others for %ld ns\n", off_keeps_ns());
}

const struct test netlink_tests[] = {
	{ "flow_names", test_flow_names },
	{ "flow_unset", test_flow_unset },
	{ "profiles", test_profiles },
	{ "events", test_events },
	{ "overrun", test_overrun },
	{ "dump", test_dump },
	{ "netns_exit", test_netns_exit },
	{ "cost", test_cost },
	{ }
};
