// SPDX-License-Identifier: GPL-2.0
/*
 * Pyrrha's state of one switch, event by event: queues, roots, frames, time.
 * What several switches do together is shown by selftests/model.
 */
#include "unit.h"
#include "core/pyrrha.h"

/* 8 Gbit/s is a byte a nanosecond: 1000 ns make a one-hop BDP of 1000 bytes. */
#define BDP	1000
#define ME	7
#define UP	0	/* towards the roots */
#define UP2	1
#define LEFT	2	/* where packets come from */
#define RIGHT	3
#define NEAR	PYR_ROOT(20, 1)
#define FAR	PYR_ROOT(30, 4)

static struct pyr_switch sw;
static u32 sequence;

static const struct pyr_path both = { .hops = 2, .hop = { NEAR, FAR } };
static const struct pyr_path far_only = {
	.hops = 2, .hop = { PYR_ROOT(21, 1), FAR }
};

static const struct pyr_path other = {
	.hops = 2, .hop = { PYR_ROOT(20, 2), PYR_ROOT(30, 5) }
};

/* A switch of four ports that tell and hear; @queues of them own a root. */
static void set_up_queues(u8 queues)
{
	struct pyr_config config = {
		.id = ME, .queues = queues, .buckets = 2,
		.pause_permille = 2000, .resume_permille = 1000,
		.tick_ns = 8000,
	};
	struct pyr_port_config port = {
		.rate_bps = 8000000000ULL, .hop_rtt_ns = BDP, .epoch = 99,
		.tell = true, .hear = true,
	};
	u8 i;

	sequence = 0;
	CHECK_EQ(pyr_init(&sw, &config), 0);
	for (i = UP; i <= RIGHT; i++)
		CHECK_EQ(pyr_port_up(&sw, i, &port), 0);
}

static void set_up(void)
{
	set_up_queues(100);
}

/* Hears a frame with the next sequence number. */
static int hear(u8 port, u8 type, u64 root, u8 distance, u64 into)
{
	struct pyr_frame frame = {
		.type = type, .distance = distance, .epoch = 1,
		.sequence = ++sequence, .root = root, .into = into,
		.hold_ns = 4 * 8000,
	};

	return pyr_frame_in(&sw, port, &frame, 0);
}

/* The next frame is of that type, about that root, by that port. */
static struct pyr_frame next_is(u8 type, u64 root, u8 port)
{
	struct pyr_frame frame = { 0 };
	u8 by = PYR_NONE;

	CHECK(pyr_has_frame(&sw));
	CHECK(pyr_next_frame(&sw, &frame, &by));
	CHECK_EQ(frame.type, type);
	CHECK_EQ(frame.root, root);
	CHECK_EQ(by, port);
	return frame;
}

static bool silent(void)
{
	struct pyr_frame frame;
	u8 port;

	return !pyr_next_frame(&sw, &frame, &port);
}

static void hush(void)
{
	while (!silent())
		;
}

static u8 arrive(struct pyr_packet *pkt, u8 in, const struct pyr_path *path,
		 u32 oq_bytes)
{
	pkt->in = in;
	return pyr_arrive(&sw, UP, pkt, path, 1000, oq_bytes);
}

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
