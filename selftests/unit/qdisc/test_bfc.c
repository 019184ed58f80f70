// SPDX-License-Identifier: GPL-2.0
/* Queues of flows that neighbours hold back: core/bfc.h. */
#include <stdlib.h>

#include "unit.h"
#include "core/bfc.h"

static struct bfc_port port;
static struct bfc_told told;

/* Sends the packet whose turn it is, all of @bytes. Return: its queue. */
static u8 serve(u16 flow_of_queue[], u32 bytes)
{
	u8 queue = bfc_pick(&port);

	if (queue == BFC_NONE)
		return queue;
	bfc_take(&port, queue, bytes);
	bfc_leave(&port, flow_of_queue[queue]);
	return queue;
}

/* Every flow has a queue of its own as long as there are as many; then they share. */
TEST(an_empty_queue_first)
{
	u8 queues, queue;
	u64 seen[2];
	int i;

	for (queues = 1; queues <= BFC_QUEUES_MAX; queues++) {
		bfc_init(&port, queues);
		memset(seen, 0, sizeof(seen));
		for (i = 0; i < queues; i++) {
			queue = bfc_arrive(&port, i * 31 % BFC_FLOWS, 1000);
			CHECK_LT(queue, queues);
			CHECK(!(seen[queue / 64] >> queue % 64 & 1));
			seen[queue / 64] |= 1ULL << queue % 64;
			CHECK_EQ(bfc_arrive(&port, i * 31 % BFC_FLOWS, 1000), queue);
		}
		CHECK_EQ(port.used, queues);
		CHECK_EQ(port.active, queues);
		CHECK_EQ(port.shared, 0U);
		CHECK_LT(bfc_arrive(&port, 4000, 1000), queues);
		CHECK_EQ(port.shared, 1U);
		CHECK_EQ(port.used_max, queues);
	}
}

/* Bytes are shared, not packets, and a packet as large as any does not starve. */
TEST(round_robin_by_bytes)
{
	static const u32 size[3] = { 1500, 300, 9000 };
	u64 sent[3] = { 0 };
	u8 queue[3], turn;
	int i, j;

	bfc_init(&port, 8);
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 4000; j++)
			queue[i] = bfc_arrive(&port, i * 1000, size[i]);
	}
	while (sent[0] < 900000) {
		turn = bfc_pick(&port);
		for (i = 0; queue[i] != turn; i++)
			;
		bfc_take(&port, turn, size[i]);
		bfc_leave(&port, i * 1000);
		sent[i] += size[i];
	}
	for (i = 0; i < 3; i++)
		CHECK_NEAR(sent[i], 900000, 2 * 9000);
}

/* A neighbour that holds a flow back after each of its packets saves nothing up for it. */
TEST(a_turn_that_was_ended_is_lost)
{
	int i, in_turn = 0;
	u8 a, b = 0;

	bfc_init(&port, 8);
	a = bfc_arrive(&port, 70, 100);
	for (i = 0; i < 2000; i++) {
		bfc_arrive(&port, 70, 100);
		b = bfc_arrive(&port, 2000, 1500);
	}
	for (i = 0; i < 1000; i++) {
		while (bfc_pick(&port) != a) {
			bfc_take(&port, b, 1500);
			bfc_leave(&port, 2000);
		}
		bfc_take(&port, a, 100);
		bfc_leave(&port, 70);
		bfc_hear(&port, 1, 1ULL << 6, 3);
		CHECK_EQ(bfc_pick(&port), b);
		bfc_hear(&port, 1, 0, 3);
		bfc_take(&port, b, 1500);
		bfc_leave(&port, 2000);
	}
	while (bfc_pick(&port) != a) {
		bfc_take(&port, b, 1500);
		bfc_leave(&port, 2000);
	}
	for (; bfc_pick(&port) == a; in_turn++) {
		bfc_take(&port, a, 100);
		bfc_leave(&port, 70);
	}
	CHECK_EQ(in_turn, (BFC_QUANTUM_BYTES + 99) / 100);
}

TEST(a_flow_waits)
{
	u16 flow[128] = { 0 };
	u8 a, b;

	bfc_init(&port, 16);
	a = bfc_arrive(&port, 70, 1000);
	b = bfc_arrive(&port, 130, 500);
	flow[a] = 70;
	flow[b] = 130;
	bfc_hear(&port, 1, 1ULL << 6, 3);
	CHECK_EQ(port.held, 1);
	CHECK_EQ(port.held_bytes, 1000U);
	CHECK_EQ(port.active, 1);
	CHECK_EQ(serve(flow, 500), b);
	CHECK_EQ(serve(flow, 500), BFC_NONE);
	/* the same again, and another flow of the group, of which there is no packet */
	bfc_hear(&port, 1, 3ULL << 6, 3);
	CHECK_EQ(port.held_packets, 1U);
	bfc_hear(&port, 1, 1ULL << 7, 3);
	CHECK_EQ(port.held, 0);
	CHECK_EQ(serve(flow, 1000), a);
	CHECK_EQ(port.used, 0);
	/* that flow comes: it waits from the beginning */
	a = bfc_arrive(&port, 71, 200);
	CHECK_EQ(port.held_bytes, 200U);
	flow[a] = 71;
	CHECK(!bfc_tick(&port));
	CHECK(!bfc_tick(&port));
	CHECK(bfc_tick(&port));
	CHECK_EQ(port.expired, 1U);
	CHECK_EQ(port.groups, 0U);
	CHECK_EQ(serve(flow, 200), a);
}

/* A queue waits as long as one of its flows does; a packet that was taken goes all the same. */
TEST(flows_share_a_queue)
{
	bfc_init(&port, 1);
	bfc_arrive(&port, 1, 100);
	bfc_arrive(&port, 2, 100);
	bfc_arrive(&port, 2, 100);
	CHECK_EQ(bfc_pick(&port), 0);
	bfc_take(&port, 0, 100);
	bfc_hear(&port, 0, 6, 9);
	CHECK_EQ(port.held, 1);
	CHECK_EQ(port.held_packets, 2U);
	bfc_leave(&port, 1);
	CHECK_EQ(bfc_pick(&port), BFC_NONE);
	bfc_hear(&port, 0, 2, 9);
	CHECK_EQ(bfc_pick(&port), 0);
	CHECK_EQ(port.held_bytes, 0U);
}

/* What is too much depends on how many want to send. */
TEST(threshold)
{
	u8 queue;

	bfc_init(&port, 32);
	queue = bfc_arrive(&port, 9, 1000);
	CHECK(!bfc_is_over(&port, queue, 1000));
	CHECK(bfc_is_over(&port, queue, 999));
	bfc_arrive(&port, 900, 10);
	CHECK(bfc_is_over(&port, queue, 1999));
	CHECK(!bfc_is_over(&port, queue, 2000));
	bfc_hear(&port, 9 / 64, ~0ULL, 1);
	bfc_hear(&port, 900 / 64, ~0ULL, 1);
	CHECK_EQ(port.active, 0);
	CHECK(!bfc_is_over(&port, queue, 1000));
}

TEST(what_neighbours_are_told)
{
	struct bfc_frame frame;

	memset(&told, 0, sizeof(told));
	CHECK(!bfc_told_next(&told, &frame));
	CHECK(bfc_told_more(&told, 4095));
	CHECK(!bfc_told_more(&told, 4095));
	CHECK(bfc_told_next(&told, &frame));
	CHECK_EQ(frame.group, 63);
	CHECK_EQ(frame.wait, 1ULL << 63);
	CHECK(!bfc_told_next(&told, &frame));
	bfc_told_again(&told);
	CHECK(bfc_told_next(&told, &frame));
	CHECK(!bfc_told_less(&told, 4095));
	CHECK(bfc_told_less(&told, 4095));
	CHECK(!bfc_told_less(&told, 4095));
	CHECK(bfc_told_next(&told, &frame));
	CHECK_EQ(frame.wait, 0U);
	CHECK_EQ(told.groups, 0U);
	bfc_told_again(&told);
	CHECK(!bfc_told_next(&told, &frame));
}

/* A flow is the same at all switches, of whatever kernel and byte order. */
TEST(flows_of_hashes)
{
	u32 seen[64] = { 0 }, i;
	u64 hash = 0;

	hash = bfc_mix(hash, 0x0a000001);
	hash = bfc_mix(hash, 0x0a000002);
	hash = bfc_mix(hash, 6);
	hash = bfc_mix(hash, 0x12345678);
	CHECK_EQ(bfc_flow(hash), 809);
	CHECK_EQ(bfc_flow(0), 0);
	for (i = 0; i < 6400; i++) {
		hash = bfc_mix(bfc_mix(bfc_mix(0, 0x0a000001 + i % 7), 0x0a000002), i);
		CHECK_LT(bfc_flow(hash), BFC_FLOWS);
		seen[bfc_flow(hash) / 64]++;
	}
	for (i = 0; i < 64; i++)
		CHECK_NEAR(seen[i], 100, 50);
}

TEST(frames)
{
	static const u8 want[40] = {
		0x46, 0x4c, 1, 5, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 9, 0, 63, 0, 0,
		0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0x86, 0xa0,
	};
	struct bfc_frame frame = {
		.epoch = 0x12345678, .sequence = 9, .group = 63,
		.wait = 0x8000000000000001ULL, .hold_ns = 100000,
	}, read;
	u8 data[40];
	int i;

	bfc_frame_write(&frame, data);
	CHECK_MEM(data, want, sizeof(want));
	CHECK(bfc_frame_read(&read, data, sizeof(data)));
	CHECK_EQ(read.epoch, frame.epoch);
	CHECK_EQ(read.sequence, 9U);
	CHECK_EQ(read.group, 63);
	CHECK_EQ(read.wait, frame.wait);
	CHECK_EQ(read.hold_ns, 100000U);
	CHECK(!bfc_frame_read(&read, data, 39));
	for (i = 0; i < 4; i++) {
		data[i] ^= 4;
		CHECK(!bfc_frame_read(&read, data, sizeof(data)));
		data[i] ^= 4;
	}
	data[13] = 64;
	CHECK(!bfc_frame_read(&read, data, sizeof(data)));
}

/* ---- at random: against a list of packets ------------------------------------------------ */

#define PACKETS 300

struct packet {
	u16 flow;
	u8 queue;
	u16 bytes;
	u32 number;
};

static struct packet list[PACKETS];	/* waiting, in order of arrival */
static int count;
static u64 waits[BFC_GROUPS];

/* Is a flow of that queue's packets, waiting or taken, to wait? */
static bool is_held(u8 queue, const struct packet *taken)
{
	int i;

	for (i = 0; i < count; i++) {
		if (list[i].queue == queue &&
		    waits[list[i].flow / 64] >> list[i].flow % 64 & 1)
			return true;
	}
	return taken && taken->queue == queue && waits[taken->flow / 64] >> taken->flow % 64 & 1;
}

/* Do all sums agree? */
static void compare(const struct packet *taken)
{
	u32 packets[128] = { 0 }, bytes[128] = { 0 }, held = 0, held_bytes = 0, active = 0, i;

	for (i = 0; i < (u32)count; i++) {
		packets[list[i].queue]++;
		bytes[list[i].queue] += list[i].bytes;
	}
	for (i = 0; i < port.queues; i++) {
		CHECK_EQ(port.queue[i].packets, packets[i]);
		CHECK_EQ(port.queue[i].bytes, bytes[i]);
		if (!packets[i])
			continue;
		if (is_held(i, taken)) {
			held++;
			held_bytes += bytes[i];
		} else {
			active++;
		}
	}
	CHECK_EQ(port.held, held);
	CHECK_EQ(port.held_bytes, held_bytes);
	CHECK_EQ(port.active, active);
}

/* The first packet of that queue. */
static struct packet take(u8 queue)
{
	struct packet found;
	int i;

	for (i = 0; list[i].queue != queue; i++)
		;
	found = list[i];
	memmove(list + i, list + i + 1, (--count - i) * sizeof(*list));
	return found;
}

static void random_step(struct packet *taken, bool *has, u32 *number, u32 *last)
{
	int what = rand() % 8;
	u8 group = rand() % 3, queue;

	if (what < 4 && count < PACKETS) {
		struct packet *p = &list[count];

		p->flow = rand() % 40 * 5;
		p->bytes = 60 + rand() % 1500;
		p->number = ++*number;
		p->queue = bfc_arrive(&port, p->flow, p->bytes);
		count++;
	} else if (what < 6) {
		if (*has) {
			bfc_leave(&port, taken->flow);
			*has = false;
			return;
		}
		queue = bfc_pick(&port);
		if (queue == BFC_NONE)
			return;
		*taken = take(queue);
		bfc_take(&port, queue, taken->bytes);
		CHECK_LT(last[taken->flow], taken->number);
		last[taken->flow] = taken->number;
		*has = true;
	} else if (what == 6) {
		waits[group] = rand() % 2 ? (u64)rand() << 33 ^ rand() : 0;
		bfc_hear(&port, group, waits[group], 255);
	}
}

TEST(random_order_and_sums)
{
	static u32 last[BFC_FLOWS];
	struct packet taken = { 0 };
	u32 number = 0, round, i;
	bool has = false;

	srand(1);
	for (round = 0; round < 20; round++) {
		bfc_init(&port, 1 + rand() % BFC_QUEUES_MAX);
		memset(waits, 0, sizeof(waits));
		memset(last, 0, sizeof(last));
		count = 0;
		has = false;
		for (i = 0; i < 3000; i++) {
			random_step(&taken, &has, &number, last);
			compare(has ? &taken : NULL);
		}
		for (i = 0; i < 3; i++) {
			bfc_hear(&port, i, 0, 1);
			waits[i] = 0;
		}
		for (i = 0; i < 3000 && (count || has); i++)
			random_step(&taken, &has, &number, last);
	}
}

UNIT_MAIN
