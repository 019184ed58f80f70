// SPDX-License-Identifier: GPL-2.0
/* Pyrrha's frames, what time does to their effect, and tables that are full. */
#include "pyrrha_setup.h"

TEST(a_root_gives_way_to_one_further_down)
{
	struct pyr_frame frame;
	struct pyr_packet pkt;

	set_up();
	arrive(&pkt, LEFT, &both, 5000);
	next_is(PYR_PAUSE, PYR_ROOT(ME, UP), LEFT);
	/* What the port is a root for may pass this one as well. */
	frame = (struct pyr_frame){ .type = PYR_PAUSE, .distance = 2,
		.epoch = 1, .sequence = ++sequence, .root = FAR };
	CHECK(pyr_frame_in(&sw, UP, &frame, 6000) == PYR_HEARD_OK);
	frame = next_is(PYR_MERGE, PYR_ROOT(ME, UP), LEFT);
	CHECK_EQ(frame.into, FAR);
	CHECK_EQ(frame.distance, 3);
	CHECK(silent());
	CHECK_EQ(sw.stats.merged, 1U);
	/* The queue of before makes no root again; a growing one does. */
	arrive(&pkt, RIGHT, &other, 6000);
	CHECK(silent());
	arrive(&pkt, RIGHT, &other, 6001);
	next_is(PYR_PAUSE, PYR_ROOT(ME, UP), RIGHT);
	CHECK_EQ(sw.stats.merged, 1U);
}

TEST(after_a_merge_the_queue_that_drained_counts)
{
	struct pyr_frame frame = { .type = PYR_PAUSE, .distance = 2,
		.epoch = 1, .sequence = 1, .root = FAR };
	struct pyr_packet pkt;

	set_up();
	arrive(&pkt, LEFT, &both, 5000);
	CHECK(pyr_frame_in(&sw, UP, &frame, 6000) == PYR_HEARD_OK);
	hush();
	CHECK(!pyr_sent_quick(&sw.port[UP], 5999));
	pyr_sent(&sw, UP, 3000);
	arrive(&pkt, RIGHT, &other, 3000);
	CHECK(silent());
	pyr_sent(&sw, UP, 500);
	CHECK(pyr_sent_quick(&sw.port[UP], 400));
	arrive(&pkt, RIGHT, &other, 1001);
	next_is(PYR_PAUSE, PYR_ROOT(ME, UP), RIGHT);
}

TEST(merge_frees_the_old_root_and_isolates_for_the_new_one)
{
	struct pyr_packet pkt, late;
	u8 near;
	int i;

	set_up();
	hear(UP, PYR_PAUSE, NEAR, 1, 0);
	near = arrive(&pkt, LEFT, &both, 0);
	for (i = 0; i < 2; i++)
		arrive(&late, LEFT, &both, 0);
	next_is(PYR_PAUSE, NEAR, LEFT);
	CHECK_EQ(hear(UP, PYR_MERGE, NEAR, 2, FAR), PYR_HEARD_OK);
	next_is(PYR_MERGE, NEAR, LEFT);
	CHECK(silent());
	/* A queue of a root that gave way pauses nobody. */
	arrive(&late, LEFT, &both, 0);
	CHECK(silent());
	CHECK_EQ(pyr_pick(&sw, UP, 0), near);
	CHECK_NE(pyr_move(&sw, UP, &pkt, &both, 1000), PYR_OQ);
	CHECK_EQ(sw.root[pkt.slot].id, FAR);
	/* Until it pauses again. */
	hear(UP, PYR_PAUSE, NEAR, 1, 0);
	arrive(&late, LEFT, &both, 0);
	next_is(PYR_PAUSE, NEAR, LEFT);
}

TEST(merge_of_an_unknown_root_or_in_a_ring_only_resumes)
{
	struct pyr_packet pkt;
	u8 near;

	set_up();
	CHECK_EQ(hear(UP, PYR_MERGE, NEAR, 2, FAR), PYR_HEARD_UNKNOWN);
	CHECK_EQ(sw.roots, 0);
	hear(UP, PYR_PAUSE, NEAR, 1, 0);
	near = arrive(&pkt, LEFT, &both, 0);
	CHECK_EQ(pyr_pick(&sw, UP, 0), PYR_NONE);
	CHECK_EQ(hear(UP, PYR_MERGE, NEAR, 2, PYR_ROOT(ME, LEFT)),
		 PYR_HEARD_OK);
	CHECK_EQ(pyr_pick(&sw, UP, 0), near);
	CHECK_EQ(sw.roots, 1);
}

TEST(frames_that_cannot_be_are_refused)
{
	struct pyr_frame old = { .type = PYR_PAUSE, .distance = 2, .epoch = 1,
				 .sequence = 5, .root = FAR };

	set_up();
	CHECK_EQ(hear(UP, 0, FAR, 2, 0), PYR_HEARD_MALFORMED);
	CHECK_EQ(hear(UP, PYR_RELEASE + 1, FAR, 2, 0), PYR_HEARD_MALFORMED);
	CHECK_EQ(hear(UP, PYR_PAUSE, 0, 2, 0), PYR_HEARD_MALFORMED);
	CHECK_EQ(hear(UP, PYR_PAUSE, FAR, 0, 0), PYR_HEARD_MALFORMED);
	CHECK_EQ(hear(UP, PYR_MERGE, FAR, 1, 0), PYR_HEARD_MALFORMED);
	CHECK_EQ(hear(UP, PYR_MERGE, FAR, 1, FAR), PYR_HEARD_MALFORMED);
	CHECK_EQ(hear(RIGHT + 1, PYR_PAUSE, FAR, 2, 0), PYR_HEARD_DEAF);
	CHECK_EQ(hear(PYR_PORTS_MAX, PYR_PAUSE, FAR, 2, 0), PYR_HEARD_DEAF);
	CHECK_EQ(hear(UP, PYR_PAUSE, PYR_ROOT(ME, UP2), 1, 0), PYR_HEARD_SELF);
	CHECK_EQ(hear(UP, PYR_RESUME, FAR, 2, 0), PYR_HEARD_UNKNOWN);
	CHECK_EQ(hear(UP, PYR_RELEASE, FAR, 0, 0), PYR_HEARD_UNKNOWN);
	CHECK_EQ(sw.roots, 0);
	sequence = 20;
	CHECK_EQ(hear(UP, PYR_PAUSE, FAR, 2, 0), PYR_HEARD_OK);
	CHECK(pyr_frame_in(&sw, UP, &old, 0) == PYR_HEARD_OLD);
	sequence--;
	CHECK_EQ(hear(UP, PYR_RESUME, FAR, 2, 0), PYR_HEARD_OLD);
	/* The neighbour began anew. */
	old.epoch = 2;
	CHECK(pyr_frame_in(&sw, UP, &old, 0) == PYR_HEARD_OK);
	CHECK_EQ(sw.stats.heard[PYR_HEARD_MALFORMED], 6U);
}

TEST(a_pause_ends_if_nobody_repeats_it)
{
	int i;

	set_up();
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(pyr_tick(&sw), 0U);
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(pyr_tick(&sw), 0U);
	CHECK_EQ(pyr_tick(&sw), 1U << UP);
	CHECK_EQ(sw.stats.expired, 1U);
	CHECK(silent());
	/* Idle and resumed: released, told, and forgotten. */
	pyr_tick(&sw);
	next_is(PYR_RELEASE, FAR, UP);
	CHECK_EQ(sw.port[UP].assigned, 0);
	pyr_tick(&sw);
	CHECK_EQ(sw.roots, 0);
	CHECK(pyr_arrive_quick(&sw.port[UP], 0));
}

/* A neighbour cannot stop a port for long by asking for it. */
TEST(a_pause_holds_for_255_ticks_at_most)
{
	struct pyr_frame frame = { .type = PYR_PAUSE, .distance = 2,
		.root = FAR, .hold_ns = 0xffffffff };
	int ticks = 0;

	set_up();
	CHECK(pyr_frame_in(&sw, UP, &frame, 0) == PYR_HEARD_OK);
	while (!pyr_tick(&sw))
		ticks++;
	CHECK_EQ(ticks, 254);
}

TEST(what_holds_is_repeated_and_what_is_not_answered_forgotten)
{
	struct pyr_packet pkt;
	int i;

	set_up();
	arrive(&pkt, LEFT, &other, 5000);
	next_is(PYR_PAUSE, PYR_ROOT(ME, UP), LEFT);
	for (i = 0; i < 20; i++) {
		pyr_tick(&sw);
		next_is(PYR_PAUSE, PYR_ROOT(ME, UP), LEFT);
	}
	pyr_sent(&sw, UP, 0);
	next_is(PYR_RESUME, PYR_ROOT(ME, UP), LEFT);
	for (i = 1; i < PYR_FORGET_TICKS; i++) {
		pyr_tick(&sw);
		next_is(PYR_RESUME, PYR_ROOT(ME, UP), LEFT);
	}
	pyr_tick(&sw);
	CHECK(silent());
	CHECK_EQ(sw.roots, 0);
	CHECK_EQ(sw.stats.forgotten, 1U);
}

TEST(release_ends_it_unless_the_neighbour_is_paused)
{
	struct pyr_packet pkt;

	set_up();
	arrive(&pkt, LEFT, &other, 5000);
	hush();
	CHECK_EQ(hear(LEFT, PYR_RELEASE, PYR_ROOT(ME, UP), 0, 0),
		 PYR_HEARD_UNKNOWN);
	pyr_sent(&sw, UP, 0);
	CHECK_EQ(hear(LEFT, PYR_RELEASE, PYR_ROOT(ME, UP), 0, 0), PYR_HEARD_OK);
	CHECK(silent());
	pyr_tick(&sw);
	CHECK_EQ(sw.roots, 0);
}

TEST(a_queue_stays_while_neighbours_have_one)
{
	struct pyr_packet pkt[3];
	int i;

	set_up();
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	for (i = 0; i < 3; i++)
		arrive(&pkt[i], LEFT, &both, 0);
	hear(UP, PYR_RESUME, FAR, 2, 0);
	for (i = 0; i < 3; i++)
		pyr_move(&sw, UP, &pkt[i], &both, 1000);
	for (i = 0; i < 3; i++)
		pyr_tick(&sw);
	CHECK_EQ(sw.port[UP].assigned, 1);
	CHECK_EQ(hear(LEFT, PYR_RELEASE, FAR, 0, 0), PYR_HEARD_OK);
	pyr_tick(&sw);
	CHECK_EQ(sw.port[UP].assigned, 0);
}

TEST(roots_beyond_the_queues_share)
{
	struct pyr_path way = { .hops = 3 };
	struct pyr_packet pkt;
	u8 own, shared;

	set_up_queues(1);
	hear(UP, PYR_PAUSE, PYR_ROOT(20, 1), 1, 0);
	hear(UP, PYR_PAUSE, PYR_ROOT(21, 1), 2, 0);
	hear(UP, PYR_PAUSE, PYR_ROOT(22, 1), 3, 0);
	CHECK_EQ(sw.stats.shared, 2U);
	/* Nearest last on this path: those with a queue of their own go first. */
	way.hop[0] = PYR_ROOT(22, 1);
	way.hop[1] = PYR_ROOT(21, 1);
	way.hop[2] = PYR_ROOT(20, 1);
	own = arrive(&pkt, LEFT, &way, 0);
	CHECK_EQ(own, 0);
	shared = pyr_move(&sw, UP, &pkt, &way, 1000);
	CHECK(shared == 1 || shared == 2);
	/* Each shared queue once, in their own order, whoever shares it. */
	own = pyr_move(&sw, UP, &pkt, &way, 1000);
	CHECK(own == PYR_OQ || own > shared);
	if (own != PYR_OQ)
		CHECK_EQ(pyr_move(&sw, UP, &pkt, &way, 1000), PYR_OQ);
}

TEST(a_full_table_isolates_no_more_and_recovers)
{
	int i;

	set_up();
	for (i = 0; i < PYR_ROOTS_MAX; i++)
		CHECK_EQ(hear(UP, PYR_PAUSE, PYR_ROOT(20, i), 1, 0),
			 PYR_HEARD_OK);
	CHECK_EQ(hear(UP, PYR_PAUSE, FAR, 1, 0), PYR_HEARD_FULL);
	CHECK_EQ(sw.stats.full, 1U);
	CHECK_EQ(sw.port[UP].assigned, PYR_ROOTS_MAX);
	for (i = 0; i < 7; i++) {
		pyr_tick(&sw);
		hush();
	}
	CHECK_EQ(sw.roots, 0);
	CHECK_EQ(sw.sharing, 0);
	CHECK_EQ(sw.queue_used[0] | sw.queue_used[1], 0U);
	CHECK_EQ(hear(UP, PYR_PAUSE, FAR, 1, 0), PYR_HEARD_OK);
}

TEST(a_lost_link_resumes_those_it_paused)
{
	struct pyr_packet pkt;

	set_up();
	arrive(&pkt, LEFT, &other, 5000);
	hush();
	pyr_port_down(&sw, UP);
	next_is(PYR_RESUME, PYR_ROOT(ME, UP), LEFT);
	CHECK_EQ(hear(UP, PYR_PAUSE, FAR, 1, 0), PYR_HEARD_DEAF);
	pyr_port_down(&sw, LEFT);
	pyr_tick(&sw);
	CHECK(silent());
	CHECK_EQ(sw.roots, 0);
}

TEST(frames_are_what_the_header_says)
{
	static const u8 bytes[] = {
		0x46, 0x4c, 1, 3, 0, 0, 0, 9, 1, 2, 3, 4,
		0, 0, 0, 20, 0, 1, 5, 0, 0, 0, 0, 30, 0, 4, 0, 0,
		0, 0, 0x7d, 0, 0, 0, 0x10, 0, 0, 1, 0, 0
	};
	struct pyr_frame frame, back;
	u8 data[40];

	CHECK(pyr_frame_read(&frame, bytes, sizeof(bytes)));
	CHECK_EQ(frame.type, PYR_MERGE);
	CHECK_EQ(frame.epoch, 9U);
	CHECK_EQ(frame.sequence, 0x01020304U);
	CHECK_EQ(frame.root, NEAR);
	CHECK_EQ(frame.into, FAR);
	CHECK_EQ(frame.distance, 5);
	CHECK_EQ(frame.hold_ns, 32000U);
	CHECK_EQ(frame.held_bytes, 4096U);
	CHECK_EQ(frame.threshold_bytes, 65536U);
	pyr_frame_write(&frame, data);
	CHECK_MEM(data, bytes, sizeof(bytes));
	CHECK(!pyr_frame_read(&back, bytes, sizeof(bytes) - 1));
	data[2] = 2;
	CHECK(!pyr_frame_read(&back, data, sizeof(data)));
	data[2] = 1;
	data[0] = 0;
	CHECK(!pyr_frame_read(&back, data, sizeof(data)));
}

UNIT_MAIN
