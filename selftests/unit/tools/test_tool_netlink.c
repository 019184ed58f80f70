// SPDX-License-Identifier: GPL-2.0
/*
 * libfairlane reading what a kernel sends: verdicts with their text, flows, events,
 * sockets; whole, cut short, and random. A kernel is trusted, its version is not.
 */
#include "unit.h"

#include "../../../tools/libfairlane/conn.c"
#include "../../../tools/libfairlane/flow.c"
#include "../../../tools/libfairlane/event.c"
#include "../../../tools/libfairlane/diag.c"

static uint32_t seed = 1;

static uint32_t noise(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* An error message with a text, capped or with the request in it. */
static struct nlmsghdr *error_message(char *buf, int err, bool capped,
				      const char *text)
{
	struct nlmsghdr *h = (struct nlmsghdr *)buf;
	struct nlmsgerr *e = nlmsg_data(h);
	struct nlattr *a;
	int len = sizeof(*e);

	memset(buf, 0, 1024);
	e->error = err;
	e->msg.nlmsg_len = NLMSG_HDRLEN + 20;
	if (!capped)
		len += 20;
	a = (struct nlattr *)((char *)e + NLMSG_ALIGN(len));
	a->nla_type = NLMSGERR_ATTR_MSG;
	a->nla_len = NLA_HDRLEN + strlen(text) + 1;
	memcpy(nla_data(a), text, strlen(text) + 1);
	h->nlmsg_type = NLMSG_ERROR;
	h->nlmsg_flags = NLM_F_ACK_TLVS | (capped ? NLM_F_CAPPED : 0);
	h->nlmsg_len = NLMSG_HDRLEN + NLMSG_ALIGN(len) + a->nla_len;
	return h;
}

TEST(verdicts)
{
	char buf[1024] __aligned(8), text[64];
	struct nlmsghdr *h;
	uint32_t len, full;

	h = error_message(buf, -EPERM, true, "above the limit");
	CHECK_EQ(fl_error_of(h, text, sizeof(text)), -EPERM);
	CHECK_STR(text, "above the limit");
	h = error_message(buf, -EEXIST, false, "order 5 is taken");
	CHECK_EQ(fl_error_of(h, text, sizeof(text)), -EEXIST);
	CHECK_STR(text, "order 5 is taken");
	/* cut short: the errno at least, no reading beyond */
	full = h->nlmsg_len;
	for (len = NLMSG_HDRLEN; len < full; len++) {
		char *copy = malloc(len);

		h->nlmsg_len = len;
		memcpy(copy, buf, len);
		fl_error_of((struct nlmsghdr *)copy, text, sizeof(text));
		free(copy);
	}
	CHECK(true);
}

/* A message of the family with random attributes; the length is exact. */
static struct nl_msg *random_message(int max)
{
	struct nl_msg *msg = nlmsg_alloc_size(4096);
	int n = noise() % 40, i;

	genlmsg_put(msg, 0, 0, 20, 0, 0, 1, 1);
	for (i = 0; i < n; i++) {
		uint8_t data[40];
		int len = noise() % sizeof(data), j;

		for (j = 0; j < len; j++)
			data[j] = noise();
		nla_put(msg, noise() % (max + 3), len, data);
	}
	return msg;
}

TEST(random_flows_and_events)
{
	int i;

	for (i = 0; i < 20000; i++) {
		struct nlattr *attrs[FL_A_FLOW_MAX + 1];
		struct nlattr *events[FL_A_EVENT_MAX + 1];
		struct nl_msg *msg = random_message(FL_A_FLOW_MAX);
		struct fairlane_flow flow;
		struct fairlane_event event;

		if (!genlmsg_parse(nlmsg_hdr(msg), 0, attrs, FL_A_FLOW_MAX,
				   NULL)) {
			read_flow(attrs, &flow);
			CHECK(memchr(flow.cc, 0, sizeof(flow.cc)));
		}
		nlmsg_free(msg);
		msg = random_message(FL_A_EVENT_MAX);
		if (!genlmsg_parse(nlmsg_hdr(msg), 0, events, FL_A_EVENT_MAX,
				   NULL)) {
			read_event(events, &event);
			CHECK(memchr(event.comm, 0, sizeof(event.comm)));
			CHECK(memchr(event.name, 0, sizeof(event.name)));
		}
		nlmsg_free(msg);
	}
}

/* What goes out comes back. */
TEST(flow_round_trip)
{
	struct nl_msg *msg = nlmsg_alloc_size(4096);
	/* static: what is between the fields is compared, too */
	static struct fairlane_id id = {
		.cookie = 0x123456789a, .family = AF_INET,
		.src = { 10, 0, 0, 1 }, .dst = { 10, 0, 0, 2 },
		.sport = 40000, .dport = 5201,
	};
	struct nlattr *attrs[FL_A_FLOW_MAX + 1];
	struct fairlane_flow flow;

	genlmsg_put(msg, 0, 0, 20, 0, 0, 1, 1);
	CHECK_EQ(fl_put_id(msg, &id), 0);
	nla_put_u32(msg, FL_A_FLOW_PRIORITY, 7);
	nla_put_u32(msg, FL_A_FLOW_WEIGHT_MILLI, 2500);
	nla_put_u8(msg, FL_A_FLOW_PRIORITY_FROM, FL_FROM_POLICY);
	nla_put_u32(msg, FL_A_FLOW_POLICY, 12);
	nla_put_string(msg, FL_A_FLOW_CC, "prioplus");
	CHECK_EQ(genlmsg_parse(nlmsg_hdr(msg), 0, attrs, FL_A_FLOW_MAX, NULL), 0);
	read_flow(attrs, &flow);
	CHECK(!memcmp(&flow.id, &id, sizeof(id)));
	CHECK_EQ((int)flow.info.priority, 7);
	CHECK_EQ((int)flow.info.weight_milli, 2500);
	CHECK_EQ((int)flow.info.priority_from, FL_FROM_POLICY);
	CHECK_EQ((int)flow.info.policy, 12);
	CHECK_STR(flow.cc, "prioplus");
	nlmsg_free(msg);
	msg = nlmsg_alloc_size(4096);
	memset(&id, 0, sizeof(id));
	CHECK_EQ(fl_put_id(msg, &id), -EINVAL);
	nlmsg_free(msg);
}

static int count(const struct fairlane_flow *flow, void *arg)
{
	(*(int *)arg)++;
	return memchr(flow->cc, 0, sizeof(flow->cc)) ? 0 : -1;
}

/* Sockets: well-formed headers, random attributes, random lengths. */
TEST(random_sockets)
{
	int i, seen = 0;

	for (i = 0; i < 20000; i++) {
		int len = NLMSG_HDRLEN + noise() % 400, j, stopped = 0;
		char *buf = malloc(len);
		struct nlmsghdr *h = (struct nlmsghdr *)buf;

		for (j = 0; j < len; j++)
			buf[j] = noise() % 4 ? noise() % 24 : noise();
		h->nlmsg_len = noise() % 4 ? (uint32_t)len : noise() % 500;
		h->nlmsg_type = noise() % 8 ? SOCK_DIAG_BY_FAMILY :
				noise() % 5;
		read_datagram(buf, len, count, &seen, &stopped);
		CHECK_EQ(stopped, 0);
		free(buf);
	}
	CHECK(seen > 1000);
}

UNIT_MAIN
