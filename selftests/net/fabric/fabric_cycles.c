// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a port, over and over, with packets in it all the time.
 *
 *	fabric_cycles DEV COUNT
 *
 * A cycle: a port with bands, shared buffer, line and telemetry; frames; a class
 * more; a qdisc for a band; other settings; a filter's class less; frames; then the
 * port is deleted, replaced by another, or its device goes down. Whatever it holds
 * then has to be freed. Prints "cycles N frames N failed N".
 */
#include "fabric_netlink.h"

#include <linux/if.h>

static int failed;

/* Sends a message that must be accepted. */
static void must(struct message *m, const char *what)
{
	char text[256];
	int err = ask(m, text, sizeof(text));

	if (!err)
		return;
	failed++;
	printf("# %s: error %d %s\n", what, err, text);
}

static void put_u8(struct message *m, int type, uint8_t value)
{
	put(m, type, &value, sizeof(value));
}

static void put_u32(struct message *m, int type, uint32_t value)
{
	put(m, type, &value, sizeof(value));
}

static void put_u64(struct message *m, int type, uint64_t value)
{
	put(m, type, &value, sizeof(value));
}

/* A port, new or in the place of another. */
static void add(int flags, int i)
{
	struct nlattr *options, *bands, *band;
	uint8_t dscp[64];
	struct message m;
	int k;

	for (k = 0; k < 64; k++)
		dscp[k] = (k + i) % 4 | k % 3 << 4;
	start(&m, RTM_NEWQDISC, flags, 0);
	put(&m, TCA_KIND, "fabric", 7);
	options = nest(&m, TCA_OPTIONS);
	put_u32(&m, TCA_FABRIC_LIMIT_BYTES, 200000);
	put_u64(&m, TCA_FABRIC_RATE_BPS, i % 3 ? 100000000 : 0);
	put_u64(&m, TCA_FABRIC_DELAY_NS, i % 3 ? 3000 : 0);
	put_u8(&m, TCA_FABRIC_BANDS, 4);
	put(&m, TCA_FABRIC_DSCPMAP, dscp, sizeof(dscp));
	put(&m, TCA_FABRIC_BUFFER_NAME, i % 2 ? "odd" : "even", 5 - i % 2);
	put_u32(&m, TCA_FABRIC_BUFFER_BYTES, 300000);
	put_u8(&m, TCA_FABRIC_STAMP, 1 + i % 2);
	bands = nest(&m, TCA_FABRIC_BAND_OPTIONS);
	band = nest(&m, 2);
	put_u32(&m, TCA_FABRIC_CLASS_WEIGHT, 3);
	put_u32(&m, TCA_FABRIC_CLASS_RESERVED_BYTES, 5000);
	put_u32(&m, TCA_FABRIC_CLASS_RED_BYTES, 3000);
	end(&m, band);
	end(&m, bands);
	end(&m, options);
	must(&m, "add");
}

/* A fifth band, limited. */
static void add_class(void)
{
	struct nlattr *options;
	struct message m;

	start(&m, RTM_NEWTCLASS, NLM_F_CREATE, HANDLE | 5);
	put(&m, TCA_KIND, "fabric", 7);
	options = nest(&m, TCA_OPTIONS);
	put_u64(&m, TCA_FABRIC_CLASS_RATE_BPS, 10000000);
	put_u32(&m, TCA_FABRIC_CLASS_ECN_MAX, 2000);
	end(&m, options);
	must(&m, "add class");
}

static void delete_class(void)
{
	struct message m;

	start(&m, RTM_DELTCLASS, 0, HANDLE | 5);
	must(&m, "delete class");
}

/* A qdisc of its own for band 1. */
static void graft(int i)
{
	const char *kind = i % 2 ? "pfifo" : "fabric";
	struct message m;

	start(&m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, 0);
	m.t.tcm_handle = i % 2 ? 0x200000 : 0x210000;
	m.t.tcm_parent = HANDLE | 1;
	put(&m, TCA_KIND, kind, strlen(kind) + 1);
	must(&m, "graft");
}

/* Other settings for the same port; one in four without its last bands. */
static void change(int i)
{
	struct nlattr *options;
	struct message m;

	start(&m, RTM_NEWQDISC, 0, 0);
	put(&m, TCA_KIND, "fabric", 7);
	options = nest(&m, TCA_OPTIONS);
	put_u64(&m, TCA_FABRIC_RATE_BPS, i % 5 ? 50000000 : 0);
	if (!(i % 5))
		put_u64(&m, TCA_FABRIC_DELAY_NS, 0);
	put_u32(&m, TCA_FABRIC_ECN_BYTES, 1000);
	if (!(i % 4)) {
		put(&m, TCA_FABRIC_DSCPMAP, NULL, 0);
		put_u8(&m, TCA_FABRIC_BANDS, 2);
		put(&m, TCA_FABRIC_BUFFER_NAME, "", 1);
	}
	end(&m, options);
	must(&m, "change");
}

/* Device up or down. */
static void set_up(bool up)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg i;
		uint8_t rest[MESSAGE_MAX];
	} m = {
		.h = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(m.i)),
			.nlmsg_type = RTM_NEWLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.i = {
			.ifi_index = ifindex,
			.ifi_change = IFF_UP,
			.ifi_flags = up ? IFF_UP : 0,
		},
	};

	must((struct message *)&m, up ? "up" : "down");
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[2]) : 0, i;
	long sent = 0;

	if (argc != 3 || open_device(argv[1])) {
		fprintf(stderr, "usage: see the head of fabric_cycles.c\n");
		return 2;
	}
	clear();
	for (i = 0; i < count; i++) {
		add(NLM_F_CREATE | (i % 6 == 1 ? NLM_F_REPLACE : NLM_F_EXCL), i);
		sent += frames() + frames();
		add_class();
		graft(i);
		sent += frames();
		delete_class();
		change(i);
		sent += frames() + frames();
		if (i % 8 == 7)
			usleep(any() % 500);
		/* Some stay, for the next to take their place. */
		if (i % 6 == 0)
			continue;
		if (i % 6 == 3)
			set_up(false);
		clear();
		if (i % 6 == 3)
			set_up(true);
	}
	clear();
	printf("cycles %d frames %ld failed %d\n", count, sent, failed);
	return failed > 0;
}
