// SPDX-License-Identifier: GPL-2.0
/*
 * The way of a packet through other switches: destinations, equal routes, the
 * kernel's choice among them.
 */
#include <arpa/inet.h>

#include "unit.h"
#include "core/path.h"

/*
 * What routers of Linux 6.12 chose among four next hops of weight 1, 1, 2, 3:
 * "ip route get", asked for a packet of TCP that came in by another device.
 */
static const struct {
	u8 policy;
	u8 fields;
	u32 seed;
	const char *src;
	const char *dst;
	u16 sport;
	u16 dport;
	u8 chosen;
} answers[] = {
	{ 0, 0x37, 4711U, "10.9.1.4", "10.2.183.172", 27180, 1831, 3 },
	{ 0, 0x37, 4711U, "10.9.2.5", "10.2.102.22", 26834, 27152, 0 },
	{ 0, 0x37, 4711U, "10.9.3.6", "10.2.31.148", 29069, 18170, 3 },
	{ 0, 0x37, 4711U, "10.9.4.7", "10.2.243.137", 8912, 7026, 1 },
	{ 1, 0x37, 1U, "10.9.1.4", "10.2.108.212", 19426, 2626, 2 },
	{ 1, 0x37, 1U, "10.9.2.5", "10.2.243.126", 29824, 17679, 1 },
	{ 1, 0x37, 1U, "10.9.3.6", "10.2.135.19", 30006, 30351, 0 },
	{ 1, 0x37, 1U, "10.9.4.7", "10.2.129.29", 14546, 14997, 0 },
	{ 1, 0x37, 4294967295U, "10.9.1.4", "10.2.18.161", 16993, 22463, 3 },
	{ 1, 0x37, 4294967295U, "10.9.2.5", "10.2.10.124", 7847, 22614, 1 },
	{ 1, 0x37, 4294967295U, "10.9.3.6", "10.2.18.93", 17743, 16998, 2 },
	{ 1, 0x37, 4294967295U, "10.9.4.7", "10.2.35.39", 32524, 19517, 0 },
	{ 3, 0x37, 4711U, "10.9.1.4", "10.2.229.146", 26892, 23431, 0 },
	{ 3, 0x37, 4711U, "10.9.2.5", "10.2.254.73", 24120, 6063, 1 },
	{ 3, 0x37, 4711U, "10.9.3.6", "10.2.79.18", 148, 32011, 3 },
	{ 3, 0x37, 4711U, "10.9.4.7", "10.2.239.25", 14534, 8386, 1 },
	{ 3, 0x33, 1U, "10.9.1.4", "10.2.75.223", 11585, 23860, 3 },
	{ 3, 0x33, 1U, "10.9.2.5", "10.2.65.67", 23739, 5443, 1 },
	{ 3, 0x33, 1U, "10.9.3.6", "10.2.65.72", 10524, 24388, 1 },
	{ 3, 0x33, 1U, "10.9.4.7", "10.2.216.161", 22367, 5950, 3 },
	{ 3, 0x03, 4294967295U, "10.9.1.4", "10.2.238.154", 26683, 30431, 3 },
	{ 3, 0x03, 4294967295U, "10.9.2.5", "10.2.147.123", 457, 7611, 0 },
	{ 3, 0x03, 4294967295U, "10.9.3.6", "10.2.86.6", 7485, 18490, 3 },
	{ 3, 0x03, 4294967295U, "10.9.4.7", "10.2.109.142", 27146, 11413, 1 },
	{ 1, 0x37, 1U, "fd09::5", "fd02::5832", 6227, 7465, 3 },
	{ 1, 0x37, 1U, "fd09::7", "fd02::1470", 5699, 4221, 1 },
	{ 1, 0x37, 1U, "fd09::12", "fd02::2454", 13143, 32276, 0 },
	{ 1, 0x37, 1U, "fd09::14", "fd02::4558", 18011, 7032, 1 },
	{ 1, 0x37, 1U, "fd09::17", "fd02::5969", 21551, 4047, 3 },
	{ 1, 0x37, 1U, "fd09::24", "fd02::8029", 16778, 30252, 3 },
	{ 1, 0x37, 1U, "fd09::28", "fd02::4467", 24524, 10247, 3 },
	{ 1, 0x37, 1U, "fd09::29", "fd02::35", 11789, 27027, 3 },
};

static struct path_flow flow_of(const char *src, const char *dst, u16 sport,
				u16 dport)
{
	struct path_flow flow = {
		.v6 = strchr(src, ':'), .proto = 6,
		.sport = htons(sport), .dport = htons(dport),
	};
	int family = flow.v6 ? AF_INET6 : AF_INET;

	CHECK_EQ(inet_pton(family, src, flow.src), 1);
	CHECK_EQ(inet_pton(family, dst, flow.dst), 1);
	return flow;
}

TEST(the_choice_is_the_kernels)
{
	static const u16 weight[] = { 1, 1, 2, 3 };
	struct path_via via[4];
	size_t i;

	path_bounds(via, weight, 4);
	CHECK_EQ(via[3].bound, 0x7fffffff);
	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		struct path_switch sw = {
			.id = 1, .seed = answers[i].seed,
			.policy = answers[i].policy,
			.fields = answers[i].fields,
		};
		struct path_flow flow = flow_of(answers[i].src, answers[i].dst,
						answers[i].sport,
						answers[i].dport);
		s32 hash = path_hash(&sw, &flow);
		int chosen = 0;

		while (hash > via[chosen].bound)
			chosen++;
		CHECK_MSG(chosen == answers[i].chosen, "%s to %s: %d",
			  answers[i].src, answers[i].dst, chosen);
	}
}

TEST(both_directions_hash_alike)
{
	struct path_switch sw = { .id = 1, .seed = 7, .policy = 1 };
	struct path_flow there = flow_of("10.0.0.1", "10.0.1.9", 1, 2);
	struct path_flow back = flow_of("10.0.1.9", "10.0.0.1", 2, 1);

	u32 hash = path_hash(&sw, &there);

	CHECK_EQ(path_hash(&sw, &back), hash);
	sw.seed = 8;
	CHECK_NE(path_hash(&sw, &there), hash);
}

/*
 * Two leaves (10, 11) and two spines (20, 21), four destinations: two hosts at
 * each leaf. Leaves choose between the spines.
 */
static struct path_switch switches[4];
static struct path_via vias[8];
static struct path_group groups[7];
static struct path_prefix prefixes[4];
static u16 routes[4 * 4];
static struct path_table table;

static void build(void)
{
	static const struct path_switch plain[4] = {
		{ 10, 1, 3, 0x37 }, { 11, 2, 3, 0x37 },
		{ 20, 0, 0, 0 }, { 21, 0, 0, 0 },
	};
	static const u16 even[2] = { 1, 1 };
	static const u16 route[16] = {
		2, 3, 0, 0,	/* leaf 10: its hosts, else up */
		1, 1, 2, 3,
		4, 4, 5, 5,	/* spines: down */
		4, 4, 5, 5,
	};
	static const char *const net[4] = {
		"10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.0"
	};
	int i;

	memcpy(switches, plain, sizeof(plain));
	memcpy(routes, route, sizeof(route));
	/* Up: ports 2 and 3. */
	for (i = 0; i < 2; i++) {
		vias[2 * i] = (struct path_via){ .port = 2, .to = 2 };
		vias[2 * i + 1] = (struct path_via){ .port = 3, .to = 3 };
		path_bounds(&vias[2 * i], even, 2);
		groups[i] = (struct path_group){ 2 * i, 2 };
		/* To the hosts by ports 0 and 1, to the leaves likewise. */
		vias[4 + i] = (struct path_via){ .port = i, .to = PATH_NONE };
		groups[2 + i] = (struct path_group){ 4 + i, 1 };
		vias[6 + i] = (struct path_via){ .port = i, .to = i };
		groups[4 + i] = (struct path_group){ 6 + i, 1 };
	}
	for (i = 0; i < 4; i++) {
		prefixes[i] = (struct path_prefix){ .bits = 32, .dest = i };
		inet_pton(AF_INET, net[i], prefixes[i].addr);
	}
	/* The last one is the rack around the third: it comes before it. */
	prefixes[3].bits = 24;
	prefixes[3].dest = 3;
	{
		struct path_prefix rack = prefixes[3];

		prefixes[3] = prefixes[2];
		prefixes[2] = rack;
	}
	table = (struct path_table){
		.switches = 4, .dests = 4, .prefixes = 4, .groups = 6,
		.vias = 8, .sw = switches, .prefix = prefixes, .group = groups,
		.via = vias, .route = routes,
	};
}

static u16 dest(const char *addr)
{
	u8 bytes[16];

	inet_pton(strchr(addr, ':') ? AF_INET6 : AF_INET, addr, bytes);
	return path_dest(&table, strchr(addr, ':'), bytes);
}

TEST(the_longest_prefix_counts)
{
	build();
	CHECK(!path_check(&table));
	CHECK_EQ(dest("10.0.0.1"), 0);
	CHECK_EQ(dest("10.0.0.2"), 1);
	CHECK_EQ(dest("10.0.1.1"), 2);
	CHECK_EQ(dest("10.0.1.0"), 3);
	CHECK_EQ(dest("10.0.1.77"), 3);
	CHECK_EQ(dest("10.0.0.3"), PATH_NONE);
	CHECK_EQ(dest("9.255.255.255"), PATH_NONE);
	CHECK_EQ(dest("255.255.255.255"), PATH_NONE);
	CHECK_EQ(dest("a00:1::"), PATH_NONE);
}

TEST(a_way_leads_to_the_host)
{
	struct path_flow flow = flow_of("10.0.0.1", "10.0.1.1", 1000, 80);
	struct pyr_path path;
	int spine, port, seen[2] = { 0 };

	build();
	CHECK(!path_check(&table));
	/* From a host: the leaf's choice, the spine, the leaf's port. */
	for (port = 0; port < 64; port++) {
		flow.sport = htons(port);
		path_find(&table, 0, 2, &flow, &path);
		CHECK_EQ(path.hops, 3);
		spine = PYR_ROOT_PORT(path.hop[0]) - 2;
		CHECK_EQ(path.hop[0], PYR_ROOT(10, 2 + spine));
		CHECK_EQ(path.hop[1], PYR_ROOT(20 + spine, 1));
		CHECK_EQ(path.hop[2], PYR_ROOT(11, 0));
		seen[spine]++;
	}
	CHECK(seen[0] > 16 && seen[1] > 16);
	/* From the leaf by its port 3: no choice is left. */
	path_find(&table, 3, 3, &flow, &path);
	CHECK_EQ(path.hops, 2);
	CHECK_EQ(path.hop[0], PYR_ROOT(21, 1));
	CHECK_EQ(path.hop[1], PYR_ROOT(11, 1));
	path_find(&table, PATH_NONE, 3, &flow, &path);
	CHECK_EQ(path.hops, 0);
	path_find(&table, 0, PATH_NONE, &flow, &path);
	CHECK_EQ(path.hops, 0);
	routes[3 * 4 + 3] = PATH_NONE;
	path_find(&table, 3, 3, &flow, &path);
	CHECK_EQ(path.hops, 0);
	/* How the leaf chooses nobody knows. */
	switches[0].seed = 0;
	CHECK(!path_check(&table));
	path_find(&table, 0, 2, &flow, &path);
	CHECK_EQ(path.hops, 0);
	path_find(&table, 2, 2, &flow, &path);
	CHECK_EQ(path.hops, 2);
	switches[0].seed = 1;
	/* Round and round: no end, so nothing is known. */
	routes[2 * 4 + 3] = 4;
	routes[3] = 0;
	path_find(&table, 2, 3, &flow, &path);
	CHECK_EQ(path.hops, 0);
}

/* As the glue walks: behind port 0 is switch @next. */
static void walk(u16 next, u8 *reach)
{
	u64 now[4] = { 0 }, after[4], by[ARRAY_SIZE(groups)];
	u32 hop, at;

	memset(reach, 0, table.switches);
	now[next] = 1;
	for (hop = 0; hop < PYR_HOPS_MAX; hop++) {
		memset(after, 0, sizeof(after));
		memset(by, 0, sizeof(by));
		for (at = 0; at < table.switches; at++) {
			if (!now[at])
				continue;
			CHECK_EQ(now[at], 1U);
			reach[at] |= BIT(hop);
			path_reach_from(&table, at, now[at], by);
		}
		for (at = 0; at < table.groups; at++)
			path_reach_by(&table, at, by[at], after);
		memcpy(now, after, sizeof(now));
	}
}

TEST(a_walk_tells_ports_apart)
{
	u64 after[4] = { 0 }, by[ARRAY_SIZE(groups)] = { 0 };
	u32 i;

	build();
	path_reach_from(&table, 2, 5, by);
	path_reach_from(&table, 3, 8, by);
	for (i = 0; i < table.groups; i++)
		path_reach_by(&table, i, by[i], after);
	CHECK_EQ(after[0], 13U);
	CHECK_EQ(after[1], 13U);
	CHECK_EQ(after[2] | after[3], 0U);
}

TEST(roots_that_cannot_be_there_are_known)
{
	u8 reach[4];

	build();
	CHECK(!path_check(&table));
	walk(2, reach);
	CHECK(path_reaches(&table, reach, PYR_ROOT(20, 1), 1));
	CHECK(path_reaches(&table, reach, PYR_ROOT(11, 0), 2));
	CHECK(!path_reaches(&table, reach, PYR_ROOT(11, 0), 1));
	CHECK(!path_reaches(&table, reach, PYR_ROOT(20, 1), 2));
	CHECK(!path_reaches(&table, reach, PYR_ROOT(12, 1), 2));
	CHECK(!path_reaches(&table, reach, PYR_ROOT(20, 1), 0));
	CHECK(!path_reaches(&table, reach, PYR_ROOT(20, 1), PYR_HOPS_MAX + 1));
}

TEST(a_broken_table_is_refused)
{
	build();
	switches[2].policy = 2;
	CHECK(path_check(&table));
	build();
	switches[0].fields = 0x38;
	CHECK(path_check(&table));
	build();
	switches[1].id = 10;
	CHECK(path_check(&table));
	build();
	routes[5] = 6;
	CHECK(path_check(&table));
	build();
	groups[5].first = 8;
	CHECK(path_check(&table));
	build();
	groups[5].count = 0xffff;
	CHECK(path_check(&table));
	build();
	{
		/* more than a look-up may walk over */
		static struct path_via many[PATH_VIAS_MAX + 1];
		struct path_via *was = table.via;
		u32 i, vias_was = table.vias;

		for (i = 0; i < ARRAY_SIZE(many); i++)
			many[i] = (struct path_via){ .to = PATH_NONE, .bound = 0x7fffffff };
		table.via = many;
		table.vias = ARRAY_SIZE(many);
		for (i = 0; i < ARRAY_SIZE(groups); i++)
			groups[i] = (struct path_group){ .first = 0, .count = 1 };
		CHECK(!path_check(&table));
		groups[5].count = PATH_VIAS_MAX;
		CHECK(!path_check(&table));
		groups[5].count = PATH_VIAS_MAX + 1;
		CHECK(path_check(&table));
		table.via = was;
		table.vias = vias_was;
	}
	build();
	vias[7].to = 4;
	CHECK(path_check(&table));
	build();
	vias[1].bound = 5;
	CHECK(path_check(&table));
	build();
	prefixes[0].addr[5] = 1;
	CHECK(path_check(&table));
	build();
	prefixes[0].bits = 33;
	CHECK(path_check(&table));
	build();
	prefixes[1].addr[3] = 1;
	CHECK(path_check(&table));
	build();
	prefixes[1].dest = 4;
	CHECK(path_check(&table));
}

UNIT_MAIN
