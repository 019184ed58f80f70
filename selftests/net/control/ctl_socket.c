// SPDX-License-Identifier: GPL-2.0
/* Tests of the socket options. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "ctl.h"

/** struct option_case - an option and its range */
struct option_case {
	int opt;
	uint32_t min, max, good;
	int64_t unset;
};

static const struct option_case options[] = {
	{ FL_SO_PRIORITY, 0, FL_PRIORITY_MAX, 7, 0 },
	{ FL_SO_WEIGHT, FL_WEIGHT_MIN_MILLI, FL_WEIGHT_MAX_MILLI, 2500, FL_WEIGHT_ONE_MILLI },
	{ FL_SO_BASE_RTT_NS, FL_BASE_RTT_MIN_NS, FL_BASE_RTT_MAX_NS, 12345, 0 },
	{ FL_SO_LINE_RATE_MBPS, FL_LINE_RATE_MIN_MBPS, FL_LINE_RATE_MAX_MBPS, 400, 10000 },
	{ FL_SO_DEADLINE_US, FL_DEADLINE_MIN_US, FL_DEADLINE_MAX_US, 777, 0 },
};

#define OPTIONS	(sizeof(options) / sizeof(*options))

/* One option on one socket: whole range, refusals that change nothing. */
static void check_option(int fd, const struct option_case *o)
{
	EQUAL(get_opt(fd, o->opt), o->unset);
	EQUAL(set_opt(fd, o->opt, o->good), 0);
	EQUAL(set_opt(fd, o->opt, o->max + 1), -EINVAL);
	if (o->min)
		EQUAL(set_opt(fd, o->opt, o->min - 1), -EINVAL);
	EQUAL(set_opt(fd, o->opt, UINT32_MAX - 1), -EINVAL);
	/* no number means anything but itself */
	EQUAL(set_opt(fd, o->opt, UINT32_MAX), -EINVAL);
	EQUAL(get_opt(fd, o->opt), o->good);
	EQUAL(set_opt(fd, o->opt, o->min), 0);
	EQUAL(get_opt(fd, o->opt), o->min);
	EQUAL(set_opt(fd, o->opt, o->max), 0);
	EQUAL(get_opt(fd, o->opt), o->max);
	EQUAL(unset_opt(fd, o->opt), 0);
	EQUAL(get_opt(fd, o->opt), o->unset);
	EQUAL(set_opt(fd, o->opt, o->good), 0);
}

/* Every option on every kind of socket: new, listening, connected, accepted. */
static void test_options(void)
{
	enum kind kind;
	size_t i;

	for (kind = 0; kind < KINDS; kind++) {
		int fresh = socket(kind == V4 ? AF_INET : AF_INET6, SOCK_STREAM, 0);
		struct pair p = make_pair(kind);

		for (i = 0; i < OPTIONS; i++) {
			check_option(fresh, &options[i]);
			check_option(p.client, &options[i]);
			check_option(p.server, &options[i]);
			check_option(p.listener, &options[i]);
		}
		close(fresh);
		close_pair(&p);
	}
}

/* What is set before connect() is there afterwards, in either level. */
static void test_before_connect(void)
{
	enum kind kind;
	uint32_t val;
	socklen_t len = sizeof(val);
	int fd, l;

	for (kind = 0; kind < KINDS; kind++) {
		struct sockaddr_storage ss;
		socklen_t ss_len = sizeof(ss);

		l = listen_on(kind, 0);
		fd = socket(kind == V4 ? AF_INET : AF_INET6, SOCK_STREAM, 0);
		EQUAL(set_opt(fd, FL_SO_PRIORITY, 5), 0);
		if (kind != V4) {
			val = 3000;
			EQUAL(setsockopt(fd, IPPROTO_IPV6, FL_SO_WEIGHT, &val, sizeof(val)), 0);
			val = 0;
			EQUAL(getsockopt(fd, IPPROTO_IPV6, FL_SO_WEIGHT, &val, &len), 0);
			EQUAL(val, 3000);
		}
		getsockname(l, (void *)&ss, &ss_len);
		REQUIRE(!connect(fd, (void *)&ss, ss_len));
		EQUAL(get_opt(fd, FL_SO_PRIORITY), 5);
		if (kind != V4)
			EQUAL(get_opt(fd, FL_SO_WEIGHT), 3000);
		close(fd);
		close(l);
	}
}

/* Bad buffers, bad sockets: an error that says what, nothing changed. */
static void test_errors(void)
{
	struct pair p = make_pair(V4);
	struct fl_info info;
	uint32_t val = 3;
	socklen_t len;
	int udp = socket(AF_INET, SOCK_DGRAM, 0);
	/* TCP by its number, and no TCP socket */
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	int raw6 = socket(AF_INET6, SOCK_RAW, IPPROTO_TCP);
	int i;

	/* 0 takes it back */
	for (i = 1; i < 4; i++)
		REQUIRE(setsockopt(p.client, IPPROTO_IP, FL_SO_PRIORITY, &val, i) &&
			errno == EINVAL);
	REQUIRE(setsockopt(p.client, IPPROTO_IP, FL_SO_PRIORITY, (void *)8, 4));
	EQUAL(errno, EFAULT);
	EQUAL(set_opt(udp, FL_SO_PRIORITY, 3), -ENOPROTOOPT);
	EQUAL(get_opt(udp, FL_SO_PRIORITY), -ENOPROTOOPT);
	EQUAL(set_opt(raw, FL_SO_PRIORITY, 3), -ENOPROTOOPT);
	EQUAL(get_opt(raw, FL_SO_PRIORITY), -ENOPROTOOPT);
	REQUIRE(setsockopt(raw6, IPPROTO_IPV6, FL_SO_PRIORITY, &val, sizeof(val)) &&
		errno == ENOPROTOOPT);
	EQUAL(set_opt(p.client, FL_SO_INFO, 3), -ENOPROTOOPT);
	EQUAL(set_opt(p.client, FL_SO_END, 3), -ENOPROTOOPT);
	len = 3;
	REQUIRE(getsockopt(p.client, IPPROTO_IP, FL_SO_PRIORITY, &val, &len) && errno == EINVAL);
	len = 4;
	REQUIRE(getsockopt(p.client, IPPROTO_IP, FL_SO_PRIORITY, (void *)8, &len));
	EQUAL(errno, EFAULT);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 0);
	/* larger buffers are fine, and a shorter one gets the front of the info */
	len = sizeof(info);
	memset(&info, 0xaa, sizeof(info));
	REQUIRE(!getsockopt(p.client, IPPROTO_IP, FL_SO_INFO, &info, &len));
	EQUAL(len, sizeof(info));
	EQUAL(info.size_bytes, sizeof(info));
	REQUIRE(!strcmp(info.cc, "cubic"));
	EQUAL(info.priority_from, FL_FROM_SO_PRIORITY);
	memset(&info, 0xaa, sizeof(info));
	len = 8;
	REQUIRE(!getsockopt(p.client, IPPROTO_IP, FL_SO_INFO, &info, &len));
	EQUAL(info.size_bytes, 8);
	EQUAL((uint8_t)info.cc[0], 0xaa);
}

/* Until a connection has come: connect() returns before the listener has its last packet,
 * where another thread serves the loopback.
 */
static void wait_for_child(int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	EQUAL(poll(&p, 1, 10000), 1);
}

/* Accepted sockets have what their listener had when the connection came. */
static void test_inherit(void)
{
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		struct pair p = make_pair(kind);
		struct fl_info info;
		socklen_t len = sizeof(info);
		int c, s;

		EQUAL(get_opt(p.server, FL_SO_PRIORITY), 0);
		EQUAL(set_opt(p.listener, FL_SO_PRIORITY, 4), 0);
		EQUAL(set_opt(p.listener, FL_SO_WEIGHT, 1700), 0);
		EQUAL(set_opt(p.listener, FL_SO_DEADLINE_US, 99), 0);
		c = connect_to(kind, p.listener, NULL);
		wait_for_child(p.listener);
		EQUAL(set_opt(p.listener, FL_SO_PRIORITY, 5), 0);
		s = accept(p.listener, NULL, NULL);
		EQUAL(get_opt(s, FL_SO_PRIORITY), 4);
		EQUAL(get_opt(s, FL_SO_WEIGHT), 1700);
		EQUAL(get_opt(s, FL_SO_DEADLINE_US), 99);
		EQUAL(get_opt(c, FL_SO_PRIORITY), 0);
		REQUIRE(!getsockopt(s, IPPROTO_IP, FL_SO_INFO, &info, &len));
		EQUAL(info.priority_from, FL_FROM_LISTENER);
		EQUAL(info.cookie, cookie_of(s));
		/* its own now */
		EQUAL(set_opt(s, FL_SO_PRIORITY, 6), 0);
		EQUAL(get_opt(p.listener, FL_SO_PRIORITY), 5);
		EQUAL(get_opt(p.server, FL_SO_PRIORITY), 0);
		close(c);
		close(s);
		close_pair(&p);
	}
}

/* Listeners of one port: each hands down its own. */
static void test_reuseport(void)
{
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);
	struct pollfd p[2];
	int n[2] = { };
	int i, s;

	p[0].fd = listen_on(V4, 0);
	REQUIRE(!getsockname(p[0].fd, (void *)&sin, &len));
	p[1].fd = listen_on(V4, ntohs(sin.sin_port));
	for (i = 0; i < 2; i++) {
		EQUAL(set_opt(p[i].fd, FL_SO_PRIORITY, i + 1), 0);
		p[i].events = POLLIN;
	}
	for (i = 0; i < 64; i++)
		connect_to(V4, p[0].fd, NULL);
	while (n[0] + n[1] < 64) {
		REQUIRE(poll(p, 2, 10000) > 0);
		for (i = 0; i < 2; i++) {
			if (!p[i].revents)
				continue;
			s = accept(p[i].fd, NULL, NULL);
			EQUAL(get_opt(s, FL_SO_PRIORITY), i + 1);
			n[i]++;
		}
	}
	/* a fair hash gives none to one of them once in 2^63 */
	REQUIRE(n[0] && n[1]);
}

/* Choosing a congestion control before, between and after loses nothing. */
static void test_congestion_order(void)
{
	static const char * const ccs[] = { "prioplus", "cubic", "swift", "prioplus", "reno" };
	struct pair p = make_pair(V4);
	struct fl_info info;
	socklen_t len;
	size_t i;

	EQUAL(set_opt(p.client, FL_SO_PRIORITY, 6), 0);
	for (i = 0; i < sizeof(ccs) / sizeof(*ccs); i++) {
		REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, ccs[i], strlen(ccs[i])));
		EQUAL(get_opt(p.client, FL_SO_PRIORITY), i ? 5 + i - 1 : 6);
		EQUAL(set_opt(p.client, FL_SO_PRIORITY, 5 + i), 0);
		len = sizeof(info);
		REQUIRE(!getsockopt(p.client, IPPROTO_IP, FL_SO_INFO, &info, &len));
		REQUIRE(!strcmp(info.cc, ccs[i]));
		EQUAL(info.state == FL_STATE_NONE,
		      !strcmp(ccs[i], "cubic") || !strcmp(ccs[i], "reno"));
	}
}

/* A control that is chosen while the handshake is under way knows neither what the peer
 * can do nor an RTT; it must not make up its mind about the connection then.
 */
static void test_congestion_early(void)
{
	static const char * const ccs[] = { "prioplus", "swift" };
	static char block[65536];
	struct pair p = make_pair(V4);
	struct sockaddr_in sin;
	struct fl_info info;
	socklen_t len;
	size_t i, j;

	REQUIRE(!system("ip link set lo mtu 1500"));
	REQUIRE(!system("tc qdisc add dev lo root netem limit 10000 delay 500us"));
	for (i = 0; i < sizeof(ccs) / sizeof(*ccs); i++) {
		close(p.client);
		close(p.server);
		p.client = socket(AF_INET, SOCK_STREAM, 0);
		len = sizeof(sin);
		REQUIRE(!getsockname(p.listener, (void *)&sin, &len));
		fcntl(p.client, F_SETFL, O_NONBLOCK);
		REQUIRE(connect(p.client, (void *)&sin, len) && errno == EINPROGRESS);
		REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, ccs[i], strlen(ccs[i])));
		fcntl(p.client, F_SETFL, 0);
		p.server = accept(p.listener, NULL, NULL);
		for (j = 0; j < 10; j++) {
			REQUIRE(send(p.client, block, 8192, 0) == 8192);
			wait_ns(50000000);
			REQUIRE(recv(p.server, block, sizeof(block), MSG_DONTWAIT) > 0);
		}
		len = sizeof(info);
		REQUIRE(!getsockopt(p.client, IPPROTO_IP, FL_SO_INFO, &info, &len));
		printf("# %s: state %u, %llu probes, base RTT %u ns\n", ccs[i], info.state,
		       (unsigned long long)info.probes, info.base_rtt_ns);
		EQUAL(info.state, FL_STATE_SENDING);
		REQUIRE(info.base_rtt_ns > 900000 && info.base_rtt_ns < 1100000);
		REQUIRE(i || info.probes);
	}
}

static int mss_of(int fd)
{
	socklen_t len = sizeof(int);
	int mss;

	REQUIRE(!getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len));
	return mss;
}

/* Room for the telemetry option comes and goes with what wants it, and IPv6 options that
 * are set meanwhile keep theirs: longer packets than the path takes would never arrive.
 */
static void test_room(void)
{
	static const uint8_t padn[8] = { 0, 0, 1, 4 };
	struct pair p;
	int mss;

	REQUIRE(!system("ip link set lo mtu 1500"));
	write_file("/proc/sys/net/fairlane/research/owd", "1");
	p = make_pair(V6);
	mss = mss_of(p.client);
	REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, "prioplus", 8));
	EQUAL(mss_of(p.client), mss - FL_TELEMETRY_BYTES);
	REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5));
	EQUAL(mss_of(p.client), mss);
	REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, "prioplus", 8));
	REQUIRE(!setsockopt(p.client, IPPROTO_IPV6, IPV6_DSTOPTS, padn, sizeof(padn)));
	REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5));
	EQUAL(mss_of(p.client), mss - (int)sizeof(padn));
	REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, "prioplus", 8));
	EQUAL(mss_of(p.client), mss - (int)sizeof(padn) - FL_TELEMETRY_BYTES);
}

/* SO_PRIORITY serves as long as nothing else is said. */
static void test_so_priority(void)
{
	struct pair p = make_pair(V4);
	int prio;

	for (prio = 0; prio <= 20; prio++) {
		REQUIRE(!setsockopt(p.client, SOL_SOCKET, SO_PRIORITY, &prio, sizeof(prio)));
		EQUAL(get_opt(p.client, FL_SO_PRIORITY),
		      prio < FL_PRIORITY_MAX ? prio : FL_PRIORITY_MAX);
	}
	EQUAL(set_opt(p.client, FL_SO_PRIORITY, 0), 0);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), 0);
	EQUAL(unset_opt(p.client, FL_SO_PRIORITY), 0);
	EQUAL(get_opt(p.client, FL_SO_PRIORITY), FL_PRIORITY_MAX);
}

/* A new priority is what the control steers by within two RTTs. */
static void test_live_change(void)
{
	struct pair p = make_pair(V4);
	static char block[65536];
	struct fl_info before, after;
	socklen_t len = sizeof(before);
	int i;

	REQUIRE(!system("ip link set lo mtu 1500"));
	REQUIRE(!system("tc qdisc add dev lo root netem limit 10000 delay 500us"));
	close(p.client);
	close(p.server);
	p.client = connect_to(V4, p.listener, "prioplus");
	p.server = accept(p.listener, NULL, NULL);
	EQUAL(set_opt(p.client, FL_SO_PRIORITY, 1), 0);
	/* something always in flight: ACKs every RTT */
	for (i = 0; i < 20; i++) {
		REQUIRE(send(p.client, block, 8192, 0) == 8192);
		wait_ns(1000000);
		REQUIRE(recv(p.server, block, sizeof(block), MSG_DONTWAIT) != 0);
	}
	REQUIRE(!getsockopt(p.client, IPPROTO_IP, FL_SO_INFO, &before, &len));
	REQUIRE(before.state == FL_STATE_SENDING && before.target_ns > 0);
	EQUAL(set_opt(p.client, FL_SO_PRIORITY, 9), 0);
	for (i = 0; i < 2; i++) {
		REQUIRE(send(p.client, block, 8192, 0) == 8192);
		wait_ns(1000000);
	}
	REQUIRE(!getsockopt(p.client, IPPROTO_IP, FL_SO_INFO, &after, &len));
	/* D_target(i) is i channels above a base RTT that may have become smaller */
	printf("# target %u ns, then %u ns; base RTT %u ns, then %u ns\n", before.target_ns,
	       after.target_ns, before.base_rtt_ns, after.base_rtt_ns);
	EQUAL(after.target_ns - after.base_rtt_ns,
	      9 * (before.target_ns - before.base_rtt_ns));
}

/* Not a test by itself: sockets with settings that stay while modules go. After
 * SIGUSR1 they must work, with new settings if the module is there.
 */
static void test_hold(void)
{
	struct pair p[2 * KINDS];
	sigset_t set;
	char byte;
	int i;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < 2 * KINDS; i++) {
		p[i] = make_pair(i % KINDS);
		EQUAL(set_opt(p[i].client, FL_SO_WEIGHT, 2000), 0);
		EQUAL(set_opt(p[i].listener, FL_SO_PRIORITY, 2), 0);
		close(connect_to(i % KINDS, p[i].listener, NULL));
	}
	puts("held");
	REQUIRE(!sigwait(&set, &i));
	for (i = 0; i < 2 * KINDS; i++) {
		int s;

		REQUIRE(send(p[i].client, "x", 1, 0) == 1);
		REQUIRE(recv(p[i].server, &byte, 1, 0) == 1);
		/* came before, with what the module then had */
		s = accept(p[i].listener, NULL, NULL);
		REQUIRE(s >= 0);
		if (get_opt(s, FL_SO_PRIORITY) == -ENOPROTOOPT)
			continue;
		/* a module that has come anew knows nothing of what was set */
		EQUAL(get_opt(p[i].client, FL_SO_WEIGHT), FL_WEIGHT_ONE_MILLI);
		EQUAL(set_opt(p[i].client, FL_SO_WEIGHT, 3000), 0);
		EQUAL(get_opt(p[i].client, FL_SO_WEIGHT), 3000);
	}
}

/* Not a test by itself: looks at a socket that has had telemetry until there is nobody
 * to ask, while modules go.
 */
static void test_look(void)
{
	static struct nl m;
	struct pair p;
	int fd, err;

	write_file("/proc/sys/net/fairlane/research/owd", "1");
	p = make_pair(V4);
	REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, "prioplus", 8));
	REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5));
	fd = nl_open();
	puts("looking");
	do {
		get_opt(p.client, FL_SO_PRIORITY);
		nl_start(&m, FL_CMD_FLOW_GET, 0);
		nl_u64(&m, FL_A_FLOW_COOKIE, cookie_of(p.client));
		err = nl_talk(fd, &m, NULL, NULL);
		wait_ns(20000);
	} while (!err);
	EQUAL(err, -ENOENT);
}

const struct test socket_tests[] = {
	{ "options", test_options },
	{ "before_connect", test_before_connect },
	{ "errors", test_errors },
	{ "inherit", test_inherit },
	{ "reuseport", test_reuseport },
	{ "congestion_order", test_congestion_order },
	{ "congestion_early", test_congestion_early },
	{ "room", test_room },
	{ "so_priority", test_so_priority },
	{ "live_change", test_live_change },
	{ "hold", test_hold },
	{ "look", test_look },
	{ }
};
