// SPDX-License-Identifier: GPL-2.0
/*
 * Pyrrha's state of one switch, event by event: queues, roots, frames, time.
 * What several switches do together is shown by selftests/model.
 */
#include "pyrrha_setup.h"

TEST(without_roots_all_go_to_the_output_queue)
{
	struct pyr_packet pkt;

	set_up();
	CHECK(pyr_arrive_quick(&sw.port[UP], 2000));
	CHECK_EQ(arrive(&pkt, LEFT, &both, 0), PYR_OQ);
	CHECK_EQ(pkt.slot, PYR_NONE);
	CHECK_EQ(pyr_pick(&sw, UP, 0), PYR_NONE);
	CHECK(silent());
	CHECK_EQ(sw.roots, 0);
}

TEST(settings_out_of_range_are_refused)
{
	struct pyr_config good = {
		.id = 1, .queues = 10, .buckets = 1, .pause_permille = 2,
		.resume_permille = 1, .tick_ns = 1,
	}, bad;
	struct pyr_port_config port = { .rate_bps = 1, .hop_rtt_ns = 1 };

	CHECK_EQ(pyr_init(&sw, &good), 0);
	bad = good;
	bad.id = 0;
	CHECK_EQ(pyr_init(&sw, &bad), -1);
	bad = good;
	bad.buckets = 0;
	CHECK_EQ(pyr_init(&sw, &bad), -1);
	bad = good;
	bad.tick_ns = 0;
	CHECK_EQ(pyr_init(&sw, &bad), -1);
	bad = good;
	bad.resume_permille = 2;
	CHECK_EQ(pyr_init(&sw, &bad), -1);
	bad = good;
	bad.queues = PYR_QUEUES_MAX;
	CHECK_EQ(pyr_init(&sw, &bad), -1);
	CHECK_EQ(pyr_init(&sw, &good), 0);
	CHECK_EQ(pyr_port_up(&sw, PYR_PORTS_MAX, &port), -1);
	CHECK_EQ(pyr_port_up(&sw, 0, &port), 0);
	port.rate_bps = 10000000000000ULL;
	CHECK_EQ(pyr_port_up(&sw, 0, &port), 0);
	port.rate_bps = ~0ULL;
	CHECK_EQ(pyr_port_up(&sw, 0, &port), -1);
	port.rate_bps = 0;
	CHECK_EQ(pyr_port_up(&sw, 0, &port), -1);
}

TEST(a_hop_takes_the_flight_both_ways_and_four_packets)
{
	/* 1538 bytes at 100 Gbit/s: 123.04 ns, rounded up. */
	CHECK_EQ(pyr_hop_rtt_ns(100000000000ULL, 600, 1538), 1696U);
	CHECK_EQ(pyr_hop_rtt_ns(1, 0, 9000), 0xffffffffU);
	CHECK_EQ(pyr_hop_rtt_ns(0, 0, 9000), 0xffffffffU);
}

TEST(a_long_output_queue_makes_a_root_for_each_who_fills_it)
{
	struct pyr_frame frame;
	struct pyr_packet pkt;

	set_up();
	CHECK_EQ(arrive(&pkt, LEFT, &other, 1000), PYR_OQ);
	CHECK(silent());
	CHECK(!pyr_arrive_quick(&sw.port[UP], 2001));
	CHECK_EQ(arrive(&pkt, LEFT, &other, 1001), PYR_OQ);
	frame = next_is(PYR_PAUSE, PYR_ROOT(ME, UP), LEFT);
	CHECK_EQ(frame.distance, 1);
	CHECK_EQ(frame.hold_ns, 32000U);
	CHECK_EQ(frame.held_bytes, 2001U);
	CHECK_EQ(frame.threshold_bytes, 2000U);
	CHECK_EQ(frame.epoch, 99U);
	CHECK_EQ(frame.sequence, 1U);
	CHECK(silent());
	/* Once is enough; the other neighbour's packet makes it wait too. */
	arrive(&pkt, LEFT, &other, 3000);
	CHECK(silent());
	arrive(&pkt, RIGHT, &other, 4000);
	next_is(PYR_PAUSE, PYR_ROOT(ME, UP), RIGHT);
	/* A packet that was made here has no neighbour behind it. */
	arrive(&pkt, PYR_NONE, &other, 9000);
	CHECK(silent());
	CHECK_EQ(sw.stats.nominated, 1U);

	CHECK(pyr_sent_quick(&sw.port[UP], 1000));
	CHECK(!pyr_sent_quick(&sw.port[UP], 999));
	pyr_sent(&sw, UP, 1000);
	CHECK(silent());
	pyr_sent(&sw, UP, 999);
	next_is(PYR_RESUME, PYR_ROOT(ME, UP), LEFT);
	next_is(PYR_RESUME, PYR_ROOT(ME, UP), RIGHT);
	CHECK(pyr_sent_quick(&sw.port[UP], 0));
	CHECK(silent());
}

TEST(a_neighbour_that_is_not_told_is_not_paused)
{
	struct pyr_port_config host = {
		.rate_bps = 8000000000ULL, .hop_rtt_ns = BDP,
	};
	struct pyr_packet pkt;

	set_up();
	pyr_port_up(&sw, LEFT, &host);
	arrive(&pkt, LEFT, &other, 9000);
	CHECK(silent());
	CHECK_EQ(sw.roots, 0);
	CHECK_EQ(hear(LEFT, PYR_PAUSE, FAR, 2, 0), PYR_HEARD_DEAF);
}

TEST(a_paused_root_keeps_its_packets_and_no_others)
{
	struct pyr_packet a, b, c;
	u8 queue;

	set_up();
	CHECK_EQ(hear(UP, PYR_PAUSE, FAR, 2, 0), PYR_HEARD_OK);
	CHECK(!pyr_arrive_quick(&sw.port[UP], 0));
	CHECK(pyr_arrive_quick(&sw.port[UP2], 0));
	queue = arrive(&a, LEFT, &both, 0);
	CHECK_NE(queue, PYR_OQ);
	CHECK_EQ(arrive(&b, LEFT, &other, 0), PYR_OQ);
	CHECK_EQ(arrive(&c, LEFT, &far_only, 0), queue);
	CHECK(!pyr_pick_quick(&sw.port[UP]));
	CHECK_EQ(pyr_pick(&sw, UP, 0), PYR_NONE);
	CHECK_EQ(hear(UP, PYR_RESUME, FAR, 2, 0), PYR_HEARD_OK);
	CHECK(pyr_pick_quick(&sw.port[UP]));
	CHECK_EQ(pyr_pick(&sw, UP, 0), queue);
	CHECK_EQ(pyr_move(&sw, UP, &a, &both, 1000), PYR_OQ);
	CHECK_EQ(pyr_pick(&sw, UP, 0), queue);
	CHECK_EQ(pyr_move(&sw, UP, &c, &far_only, 1000), PYR_OQ);
	CHECK_EQ(pyr_pick(&sw, UP, 0), PYR_NONE);
	CHECK_EQ(sw.stats.isolated, 2U);
}

TEST(a_path_without_roots_is_seen_as_such)
{
	struct pyr_path none = { 0 };

	set_up();
	CHECK(pyr_passes_none(&sw, &both));
	CHECK(!pyr_any_root(&sw));
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	CHECK(pyr_any_root(&sw));
	CHECK(!pyr_passes_none(&sw, &both));
	CHECK(pyr_passes_none(&sw, &other));
	CHECK(pyr_passes_none(&sw, &none));
	hear(UP, PYR_RESUME, FAR, 2, 0);
	pyr_tick(&sw);
	pyr_tick(&sw);
	next_is(PYR_RELEASE, FAR, UP);
	pyr_tick(&sw);
	CHECK(pyr_passes_none(&sw, &both));
}

TEST(a_packet_visits_the_nearest_root_first_and_waits_for_all)
{
	struct pyr_packet pkt;
	u8 near, far;

	set_up();
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	hear(UP, PYR_RESUME, FAR, 2, 0);
	hear(UP, PYR_PAUSE, NEAR, 1, 0);
	near = arrive(&pkt, LEFT, &both, 0);
	CHECK_EQ(pyr_pick(&sw, UP, 0), PYR_NONE);
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	hear(UP, PYR_RESUME, NEAR, 1, 0);
	CHECK_EQ(pyr_pick(&sw, UP, 0), near);
	far = pyr_move(&sw, UP, &pkt, &both, 1000);
	CHECK_NE(far, PYR_OQ);
	CHECK_NE(far, near);
	CHECK_EQ(pyr_pick(&sw, UP, 0), PYR_NONE);
	hear(UP, PYR_RESUME, FAR, 2, 0);
	CHECK_EQ(pyr_pick(&sw, UP, 0), far);
	CHECK_EQ(pyr_move(&sw, UP, &pkt, &both, 1000), PYR_OQ);
}

/* A neighbour that lies about the distance cannot change the order. */
TEST(order_is_the_paths_not_the_frames)
{
	struct pyr_packet pkt;
	u8 near, far;

	set_up();
	hear(UP, PYR_PAUSE, NEAR, 5, 0);
	hear(UP, PYR_PAUSE, FAR, 1, 0);
	near = arrive(&pkt, LEFT, &both, 0);
	far = pyr_move(&sw, UP, &pkt, &both, 1000);
	CHECK_EQ(sw.root[pkt.slot].id, FAR);
	CHECK_NE(near, far);
	CHECK_EQ(pyr_move(&sw, UP, &pkt, &both, 1000), PYR_OQ);
}

/* Else isolated packets could take the whole line from the others. */
TEST(every_second_time_the_output_queue_goes_first)
{
	struct pyr_packet pkt[3];
	u8 queue;
	int i;

	set_up();
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	hear(UP, PYR_RESUME, FAR, 2, 0);
	for (i = 0; i < 3; i++)
		arrive(&pkt[i], LEFT, &both, 0);
	queue = pyr_pick(&sw, UP, 5000);
	CHECK_NE(queue, PYR_NONE);
	CHECK_EQ(pyr_move(&sw, UP, &pkt[0], &both, 1000), PYR_OQ);
	CHECK_EQ(pyr_pick(&sw, UP, 5000), PYR_NONE);
	CHECK_EQ(pyr_pick(&sw, UP, 5000), queue);
	CHECK_EQ(pyr_move(&sw, UP, &pkt[1], &both, 1000), PYR_OQ);
	/* An empty one has nothing to go first. */
	CHECK_EQ(pyr_pick(&sw, UP, 0), queue);
}

TEST(a_packet_that_moves_makes_no_root)
{
	struct pyr_packet pkt;

	set_up();
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	hear(UP, PYR_RESUME, FAR, 2, 0);
	arrive(&pkt, LEFT, &both, 9000);
	CHECK_EQ(pyr_move(&sw, UP, &pkt, &both, 1000), PYR_OQ);
	CHECK(silent());
	arrive(&pkt, LEFT, &other, 9000);
	next_is(PYR_PAUSE, PYR_ROOT(ME, UP), LEFT);
}

TEST(queues_move_in_turn)
{
	struct pyr_packet a, b;
	u8 first, second;

	set_up();
	hear(UP, PYR_PAUSE, PYR_ROOT(20, 2), 1, 0);
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	hear(UP, PYR_RESUME, PYR_ROOT(20, 2), 1, 0);
	hear(UP, PYR_RESUME, FAR, 2, 0);
	arrive(&a, LEFT, &other, 0);
	arrive(&a, LEFT, &other, 0);
	arrive(&b, LEFT, &far_only, 0);
	arrive(&b, LEFT, &far_only, 0);
	first = pyr_pick(&sw, UP, 0);
	second = pyr_pick(&sw, UP, 0);
	CHECK_NE(first, second);
	CHECK_EQ(pyr_pick(&sw, UP, 0), first);
	CHECK_EQ(pyr_pick(&sw, UP, 0), second);
}

TEST(a_long_queue_pauses_who_fills_it)
{
	struct pyr_packet pkt[4];
	struct pyr_frame frame;
	int i;

	set_up();
	hear(UP, PYR_PAUSE, FAR, 2, 0);
	/* Also by the other port: what counts is who sent it, not where it waits. */
	hear(UP2, PYR_PAUSE, FAR, 2, 0);
	hush();
	for (i = 0; i < 2; i++)
		arrive(&pkt[i], LEFT, &both, 0);
	CHECK(silent());
	pkt[2].in = LEFT;
	pyr_arrive(&sw, UP2, &pkt[2], &both, 1, 0);
	frame = next_is(PYR_PAUSE, FAR, LEFT);
	CHECK_EQ(frame.distance, 3);
	CHECK_EQ(frame.held_bytes, 2001U);
	arrive(&pkt[3], RIGHT, &both, 0);
	CHECK(silent());
	pyr_drop(&sw, UP2, &pkt[2], 1);
	pyr_drop(&sw, UP, &pkt[0], 1000);
	CHECK(silent());
	hear(UP, PYR_RESUME, FAR, 2, 0);
	CHECK_EQ(pyr_move(&sw, UP, &pkt[1], &both, 1000), PYR_OQ);
	next_is(PYR_RESUME, FAR, LEFT);
}

TEST(a_root_at_the_largest_distance_is_not_passed_on)
{
	struct pyr_packet pkt;
	int i;

	set_up();
	hear(UP, PYR_PAUSE, FAR, PYR_HOPS_MAX, 0);
	for (i = 0; i < 9; i++)
		arrive(&pkt, LEFT, &both, 0);
	CHECK(silent());
	CHECK_EQ(hear(UP, PYR_PAUSE, NEAR, PYR_HOPS_MAX + 1, 0),
		 PYR_HEARD_MALFORMED);
}

UNIT_MAIN
