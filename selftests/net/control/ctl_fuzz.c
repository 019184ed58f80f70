// SPDX-License-Identifier: GPL-2.0
/*
 * Bad input at random: netlink messages (attributes of any type and length,
 * nested, cut off, huge) and socket options (any number, length, value), while
 * sockets with settings live. FUZZ_ROUNDS in the environment: how long. What must
 * come out is errors; the kernel's log is the judge, and that the family still
 * answers and the sockets still work.
 */
#define _GNU_SOURCE
#include "ctl.h"

static struct nl m;

/* One attribute; deeper ones inside of it now and then. */
static void random_attr(int depth)
{
	static const int sizes[] = { 0, 1, 2, 3, 4, 4, 4, 4, 8, 8, 16, 17, 64, 1025, 5000 };
	int type = random() % 48, len = sizes[random() % 15], at, i;
	char data[5000];

	if (m.len > 40000)
		return;
	if (depth < 4 && random() % 4 == 0) {
		at = nl_nest(&m, type);
		for (i = random() % 5; i > 0; i--)
			random_attr(depth + 1);
		nl_nest_end(&m, at);
		return;
	}
	/* small numbers pass more checks */
	for (i = 0; i < len; i++)
		data[i] = random() % 3 ? 0 : random();
	if (len && random() % 2)
		data[0] = random() % 20;
	if (len > 1 && random() % 4 == 0)
		memcpy(data, random() % 2 ? "/" : "x", 2);
	nl_add(&m, type, data, len);
}

/* A message with a good header, more or less good contents, perhaps cut off. */
static void random_message(int fd, uint64_t cookie)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct nlmsghdr *h = (void *)m.buf;
	struct nlattr *a;
	int i;

	nl_start(&m, random() % (FL_CMD_MAX + 3), random() % 3 ? 0 : NLM_F_DUMP);
	if (random() % 2)
		nl_u64(&m, FL_A_FLOW_COOKIE, cookie);
	for (i = random() % 6; i > 0; i--)
		random_attr(0);
	h->nlmsg_len = m.len;
	switch (random() % 8) {
	case 0:
		h->nlmsg_len -= random() % (m.len - NLMSG_HDRLEN + 1);
		break;
	case 1:
		if (m.len > 24) {
			a = (void *)(m.buf + NLMSG_HDRLEN + GENL_HDRLEN);
			a->nla_len = random();
		}
		break;
	case 2:
		h->nlmsg_flags = NLM_F_REQUEST | random();
		break;
	}
	(void)!sendto(fd, m.buf, m.len, MSG_DONTWAIT, (void *)&to, sizeof(to));
}

static void random_option(int fd)
{
	static const int sizes[] = { 0, 1, 3, 4, 4, 4, 5, 8, 167, 168, 169, 4096, -1, 1 << 30 };
	socklen_t len = sizes[random() % 14];
	int opt = FL_SO_PRIORITY + random() % 7;
	int level = random() % 2 ? IPPROTO_IP : IPPROTO_IPV6;
	static char buf[4096];
	uint32_t val = random() % 2 ? random() % 16 : random() * 2654435761U;

	memcpy(buf, &val, sizeof(val));
	if (random() % 2)
		setsockopt(fd, level, opt, random() % 8 ? buf : (void *)8, len);
	else
		getsockopt(fd, level, opt, len <= sizeof(buf) ? buf : (void *)8, &len);
}

static void test_fuzz(void)
{
	const char *rounds = getenv("FUZZ_ROUNDS"), *seed = getenv("FUZZ_SEED");
	long n = rounds ? atol(rounds) : 20000;
	int fd = nl_open(), ask = nl_open(), i;
	static char trash[65536];
	struct pair p[KINDS];

	srandom(seed ? atoi(seed) : 1);
	for (i = 0; i < KINDS; i++) {
		p[i] = make_pair(i);
		set_opt(p[i].client, FL_SO_WEIGHT, 2000);
	}
	while (n--) {
		i = random() % KINDS;
		random_message(fd, cookie_of(random() % 2 ? p[i].client : p[i].listener));
		while (recv(fd, trash, sizeof(trash), MSG_DONTWAIT) > 0)
			;
		random_option(p[i].client);
		random_option(p[i].listener);
		if (random() % 64)
			continue;
		/* connections begin and end under whatever is set now */
		close(p[i].client);
		close(p[i].server);
		p[i].client = connect_to(i, p[i].listener, random() % 2 ? "prioplus" : NULL);
		p[i].server = accept(p[i].listener, NULL, NULL);
		REQUIRE(p[i].server >= 0);
	}
	printf("# %llu changes, %llu out of range\n",
	       (unsigned long long)stat_of(ask, FL_A_STAT_CHANGES),
	       (unsigned long long)stat_of(ask, FL_A_STAT_REFUSED_RANGE));
	/* some of it was good enough to do something */
	REQUIRE(stat_of(ask, FL_A_STAT_CHANGES) > 100);
	REQUIRE(stat_of(ask, FL_A_STAT_REFUSED_RANGE) > 100);
	for (i = 0; i < KINDS; i++)
		EQUAL(set_opt(p[i].client, FL_SO_PRIORITY, 4), 0);
}

const struct test fuzz_tests[] = {
	{ "fuzz", test_fuzz },
	{ }
};
