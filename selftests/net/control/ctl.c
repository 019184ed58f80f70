// SPDX-License-Identifier: GPL-2.0
/*
 * ctl: tests of the control plane from user space.
 *
 *	ctl TEST	runs one in a network namespace of its own; exit status 0
 *			passed, 1 failed, with the reason on stdout
 *	ctl		lists them
 *
 * Needs root and fairlane.ko, tcp_prioplus.ko, tcp_swift.ko loaded.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>

#include "ctl.h"

static int family_id;

void wait_ns(long ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&ts, NULL);
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	REQUIRE(fd >= 0);
	REQUIRE(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* An address of lo; returns its length. */
static socklen_t address(enum kind kind, int port, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *six = (void *)ss;
	struct sockaddr_in *four = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (kind == V4) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(*four);
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	six->sin6_addr = in6addr_loopback;
	if (kind == MAPPED)
		inet_pton(AF_INET6, "::ffff:127.0.0.1", &six->sin6_addr);
	return sizeof(*six);
}

int listen_on(enum kind kind, int port)
{
	int one = 1, fd = socket(kind == V4 ? AF_INET : AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_storage ss;
	socklen_t len = address(kind, port, &ss);

	REQUIRE(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	REQUIRE(!bind(fd, (void *)&ss, len));
	REQUIRE(!listen(fd, 4096));
	return fd;
}

int connect_to(enum kind kind, int listener, const char *cc)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	int fd = socket(kind == V4 ? AF_INET : AF_INET6, SOCK_STREAM, 0);

	REQUIRE(fd >= 0);
	if (cc)
		REQUIRE(!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)));
	REQUIRE(!getsockname(listener, (void *)&ss, &len));
	REQUIRE(!connect(fd, (void *)&ss, len));
	return fd;
}

struct pair make_pair(enum kind kind)
{
	struct pair p = { .listener = listen_on(kind, 0) };

	p.client = connect_to(kind, p.listener, NULL);
	p.server = accept(p.listener, NULL, NULL);
	REQUIRE(p.server >= 0);
	return p;
}

void close_pair(struct pair *p)
{
	close(p->client);
	close(p->server);
	close(p->listener);
}

int set_opt(int fd, int opt, uint32_t val)
{
	return setsockopt(fd, IPPROTO_IP, opt, &val, sizeof(val)) ? -errno : 0;
}

int unset_opt(int fd, int opt)
{
	return setsockopt(fd, IPPROTO_IP, opt, NULL, 0) ? -errno : 0;
}

int64_t get_opt(int fd, int opt)
{
	socklen_t len = sizeof(uint32_t);
	uint32_t val;

	if (getsockopt(fd, IPPROTO_IP, opt, &val, &len))
		return -errno;
	return val;
}

uint64_t cookie_of(int fd)
{
	socklen_t len = sizeof(uint64_t);
	uint64_t cookie;

	REQUIRE(!getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len));
	return cookie;
}

void as_user(int uid)
{
	REQUIRE(!setresgid(uid, uid, uid));
	REQUIRE(!setresuid(uid, uid, uid));
}

int port_of(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	REQUIRE(!getsockname(fd, (void *)&ss, &len));
	return ntohs(((struct sockaddr_in *)&ss)->sin_port);
}

void many_files(void)
{
	struct rlimit r = { 65536, 65536 };

	REQUIRE(!setrlimit(RLIMIT_NOFILE, &r));
}

int nl_open(void)
{
	int one = 1, fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };

	REQUIRE(fd >= 0);
	REQUIRE(!bind(fd, (void *)&any, sizeof(any)));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	return fd;
}

void nl_start(struct nl *m, int cmd, int flags)
{
	struct nlmsghdr *h = (void *)m->buf;
	struct genlmsghdr *g = NLMSG_DATA(h);

	memset(m->buf, 0, 256);
	h->nlmsg_type = family_id;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	h->nlmsg_seq = 1;
	g->cmd = cmd;
	g->version = FL_GENL_VERSION;
	m->len = NLMSG_HDRLEN + GENL_HDRLEN;
}

void nl_add(struct nl *m, int type, const void *data, int len)
{
	struct nlattr *a = (void *)(m->buf + m->len);

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memset((char *)a + NLA_HDRLEN, 0, NLA_ALIGN(len));
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	m->len += NLA_HDRLEN + NLA_ALIGN(len);
}

void nl_u8(struct nl *m, int type, uint8_t v)
{
	nl_add(m, type, &v, sizeof(v));
}

void nl_u16(struct nl *m, int type, uint16_t v)
{
	nl_add(m, type, &v, sizeof(v));
}

void nl_u32(struct nl *m, int type, uint32_t v)
{
	nl_add(m, type, &v, sizeof(v));
}

void nl_u64(struct nl *m, int type, uint64_t v)
{
	nl_add(m, type, &v, sizeof(v));
}

void nl_str(struct nl *m, int type, const char *s)
{
	nl_add(m, type, s, strlen(s) + 1);
}

int nl_nest(struct nl *m, int type)
{
	int at = m->len;

	nl_add(m, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void nl_nest_end(struct nl *m, int at)
{
	struct nlattr *a = (void *)(m->buf + at);

	a->nla_len = m->len - at;
}

static void parse_attrs(const char *p, int left, struct nlattr **tb, int max)
{
	memset(tb, 0, sizeof(*tb) * max);
	while (left >= NLA_HDRLEN) {
		struct nlattr *a = (void *)p;
		int type = a->nla_type & NLA_TYPE_MASK;

		if (a->nla_len < NLA_HDRLEN || a->nla_len > left)
			return;
		if (type < max)
			tb[type] = a;
		p += NLA_ALIGN(a->nla_len);
		left -= NLA_ALIGN(a->nla_len);
	}
}

bool nl_parse(const struct nlmsghdr *h, struct nlattr **tb)
{
	if (h->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return false;
	parse_attrs((char *)h + NLMSG_HDRLEN + GENL_HDRLEN,
		    h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, tb, NL_ATTRS);
	return true;
}

uint64_t nl_num(const struct nlattr *a)
{
	uint64_t v = 0;

	REQUIRE(a);
	memcpy(&v, (char *)a + NLA_HDRLEN, a->nla_len - NLA_HDRLEN);
	return v;
}

/* An error message or the end of a dump; true if that was the last message. */
static bool nl_end(struct nl *m, const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = NLMSG_DATA(h);
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];

	if (h->nlmsg_type == NLMSG_DONE) {
		m->error = -*(int *)NLMSG_DATA(h);
		return true;
	}
	if (h->nlmsg_type != NLMSG_ERROR)
		return false;
	m->error = -e->error;
	if (h->nlmsg_flags & NLM_F_ACK_TLVS) {
		parse_attrs((char *)(e + 1), h->nlmsg_len - NLMSG_HDRLEN - sizeof(*e),
			    tb, NLMSGERR_ATTR_MAX + 1);
		if (tb[NLMSGERR_ATTR_MSG])
			snprintf(m->text, sizeof(m->text), "%s",
				 (char *)tb[NLMSGERR_ATTR_MSG] + NLA_HDRLEN);
	}
	return true;
}

int nl_talk(int fd, struct nl *m, void (*each)(struct nlattr **tb, void *arg), void *arg)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct nlmsghdr *h = (void *)m->buf;
	struct nlattr *tb[NL_ATTRS];
	static char in[65536];
	int left;

	h->nlmsg_len = m->len;
	m->error = 0;
	m->text[0] = 0;
	REQUIRE(sendto(fd, m->buf, m->len, 0, (void *)&to, sizeof(to)) == m->len);
	for (;;) {
		left = recv(fd, in, sizeof(in), 0);
		REQUIRE(left > 0);
		for (h = (void *)in; NLMSG_OK(h, (unsigned int)left);
		     h = NLMSG_NEXT(h, left)) {
			if (nl_end(m, h))
				return -m->error;
			if (each && nl_parse(h, tb))
				each(tb, arg);
		}
	}
}

/**
 * struct family - what the controller says
 * @id: of the family
 * @group: of its multicast group
 */
struct family {
	int id;
	int group;
};

static void take_family(struct nlattr **tb, void *arg)
{
	struct family *f = arg;
	struct nlattr *group[CTRL_ATTR_MCAST_GRP_MAX + 1];
	struct nlattr *groups = tb[CTRL_ATTR_MCAST_GROUPS];
	struct nlattr *one;

	f->id = nl_num(tb[CTRL_ATTR_FAMILY_ID]);
	REQUIRE(groups);
	one = (void *)((char *)groups + NLA_HDRLEN);
	parse_attrs((char *)one + NLA_HDRLEN, one->nla_len - NLA_HDRLEN, group,
		    CTRL_ATTR_MCAST_GRP_MAX + 1);
	f->group = nl_num(group[CTRL_ATTR_MCAST_GRP_ID]);
}

static struct family find_family(void)
{
	static struct nl m;
	struct family f;
	int fd = nl_open();

	nl_start(&m, CTRL_CMD_GETFAMILY, 0);
	((struct nlmsghdr *)m.buf)->nlmsg_type = GENL_ID_CTRL;
	nl_str(&m, CTRL_ATTR_FAMILY_NAME, FL_GENL_NAME);
	REQUIRE(!nl_talk(fd, &m, take_family, &f));
	close(fd);
	return f;
}

int nl_group(void)
{
	return find_family().group;
}

/**
 * struct wanted_stat - a counter that is asked for
 * @stat: FL_A_STAT_*
 * @value: its value
 */
struct wanted_stat {
	int stat;
	uint64_t value;
};

static void take_stat(struct nlattr **tb, void *arg)
{
	struct wanted_stat *w = arg;

	w->value = nl_num(tb[w->stat]);
}

uint64_t stat_of(int fd, int stat)
{
	struct wanted_stat w = { .stat = stat };
	static struct nl m;

	nl_start(&m, FL_CMD_STATS_GET, 0);
	REQUIRE(!nl_talk(fd, &m, take_stat, &w));
	return w.value;
}

static void lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	REQUIRE(!ioctl(fd, SIOCSIFFLAGS, &ifr));
	close(fd);
}

int main(int argc, char **argv)
{
	const struct test *all[] = {
		socket_tests, policy_tests, netlink_tests, limit_tests, hostile_tests,
		fuzz_tests,
	};
	const struct test *t;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		for (t = all[i]; t->name; t++) {
			if (argc == 1)
				puts(t->name);
			if (argc != 2 || strcmp(t->name, argv[1]))
				continue;
			REQUIRE(!unshare(CLONE_NEWNET));
			lo_up();
			family_id = find_family().id;
			t->run();
			return 0;
		}
	}
	return argc == 1 ? 0 : 2;
}
