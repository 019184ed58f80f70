// SPDX-License-Identifier: GPL-2.0
/* Measured line rates, kmod/lib/line_rate.h. */
#include "lib/line_rate.h"
#include "unit.h"

#define MSS		1448
#define OVERHEAD	90

static struct fl_rate_meter meter;
static struct fl_rate_path path;

/* An ACK of all but @flight packets of the @sent, at @now_us. */
static u32 ack(u32 now_us, u32 sent, u32 flight, u32 rtt_us, bool clean)
{
	const struct fl_rate_ack a = {
		.now_ns = now_us * 1000ULL, .snd_nxt = 0xffff0000 + sent * MSS,
		.una = 0xffff0000 + (sent - flight) * MSS,
		.pkts = 0xfffffff0 + sent - flight, .overhead_bytes = OVERHEAD,
		.rtt_ns = rtt_us * 1000, .clean = clean,
	};

	return fl_rate_round(&meter, &a);
}

/* 12304 bits a packet. */
TEST(a_window_in_a_round_trip)
{
	memset(&meter, 0, sizeof(meter));
	CHECK_EQ(ack(100, 20, 10, 50, true), 0u);
	/* not over yet */
	CHECK_EQ(ack(110, 24, 10, 50, true), 0u);
	CHECK_EQ(ack(150, 30, 10, 50, true), 10 * 12304000 / 50u);
	/* the next one begins at once, with what is in flight then */
	CHECK_EQ(ack(200, 50, 10, 50, true), 20 * 12304000 / 50u);
}

TEST(acks_that_come_together_are_no_fast_line)
{
	memset(&meter, 0, sizeof(meter));
	/* the first was held up and took 150 us; the others come right after it */
	CHECK_EQ(ack(1000, 20, 10, 150, true), 0u);
	CHECK_EQ(ack(1001, 30, 10, 150, true), 10 * 12304000 / 150u);
}

TEST(no_round_begins_with_an_unknown_delay)
{
	memset(&meter, 0, sizeof(meter));
	/* two ACKs in line with each other are no round trip */
	CHECK_EQ(ack(100, 20, 10, 0, true), 0u);
	CHECK_EQ(ack(112, 30, 10, 50, true), 0u);
	CHECK_EQ(ack(162, 40, 10, 0, true), 10 * 12304000 / 50u);
}

TEST(losses_and_pauses_tell_nothing)
{
	memset(&meter, 0, sizeof(meter));
	CHECK_EQ(ack(100, 20, 10, 50, true), 0u);
	CHECK_EQ(ack(120, 25, 10, 50, false), 0u);
	CHECK_EQ(ack(160, 35, 10, 50, true), 0u);
	CHECK_EQ(ack(210, 45, 10, 50, true), 10 * 12304000 / 50u);
	/* all is acknowledged: what comes after the pause begins anew */
	CHECK_EQ(ack(260, 45, 0, 50, true), 10 * 12304000 / 50u);
	CHECK_EQ(ack(10000, 56, 10, 50, true), 0u);
	CHECK_EQ(ack(10050, 66, 10, 50, true), 10 * 12304000 / 50u);
}

TEST(most_of_two_windows)
{
	memset(&path, 0, sizeof(path));
	CHECK(fl_rate_turn(&path, 7, 10));
	CHECK_EQ(fl_rate_most(&path), 0u);
	fl_rate_sample(&path, 4000, true, false);
	fl_rate_sample(&path, 9000, false, false);
	fl_rate_sample(&path, 5000, true, false);
	CHECK_EQ(fl_rate_most(&path), 9000u);
	CHECK(fl_rate_turn(&path, 7, 11));
	CHECK_EQ(fl_rate_most(&path), 9000u);
	fl_rate_sample(&path, 3000, true, false);
	CHECK(fl_rate_turn(&path, 7, 12));
	CHECK_EQ(fl_rate_most(&path), 3000u);
	/* two without a word */
	CHECK(fl_rate_turn(&path, 7, 14));
	CHECK_EQ(fl_rate_most(&path), 0u);
}

/* An ACK that another CPU has taken up before the window turned, and told of afterwards. */
TEST(late_word_of_another_cpu)
{
	memset(&path, 0, sizeof(path));
	fl_rate_turn(&path, 7, 10);
	fl_rate_sample(&path, 9000, true, false);
	CHECK(fl_rate_turn(&path, 7, 11));
	fl_rate_sample(&path, 5000, true, false);
	CHECK(fl_rate_turn(&path, 7, 10));
	fl_rate_sample(&path, 6000, true, false);
	CHECK_EQ(fl_rate_most(&path), 9000u);
	CHECK(fl_rate_turn(&path, 7, 11));
	CHECK_EQ(fl_rate_most(&path), 9000u);
	/* nor does another path take the place */
	CHECK(!fl_rate_turn(&path, 8, 10));
	CHECK(fl_rate_turn(&path, 7, 12));
	CHECK_EQ(fl_rate_most(&path), 6000u);
}

TEST(without_a_queue_nothing_is_known)
{
	memset(&path, 0, sizeof(path));
	fl_rate_turn(&path, 7, 10);
	fl_rate_sample(&path, 9000, false, false);
	CHECK_EQ(fl_rate_most(&path), 0u);
	CHECK(!fl_rate_is_queue(13800, 13000));
	CHECK(fl_rate_is_queue(13900, 13000));
	CHECK(!fl_rate_is_queue(1400, 1000));
	CHECK(fl_rate_is_queue(1600, 1000));
	CHECK(!fl_rate_is_queue(99000, 0));
}

TEST(application_limited_rates_raise_only)
{
	memset(&path, 0, sizeof(path));
	fl_rate_turn(&path, 7, 10);
	fl_rate_sample(&path, 9000, true, false);
	fl_rate_turn(&path, 7, 11);
	fl_rate_sample(&path, 100, true, true);
	/* nothing but the application's: the line is as fast as it was, or unknown */
	CHECK_EQ(fl_rate_most(&path), 9000u);
	fl_rate_turn(&path, 7, 12);
	CHECK_EQ(fl_rate_most(&path), 0u);
	fl_rate_sample(&path, 9000, true, false);
	fl_rate_sample(&path, 9500, false, true);
	CHECK_EQ(fl_rate_most(&path), 9500u);
}

TEST(paths_do_not_mix)
{
	memset(&path, 0, sizeof(path));
	fl_rate_turn(&path, 7, 10);
	fl_rate_sample(&path, 9000, true, false);
	CHECK(!fl_rate_turn(&path, 8, 11));
	CHECK_EQ(path.key, 7u);
	CHECK(fl_rate_turn(&path, 8, 12));
	CHECK_EQ(fl_rate_most(&path), 0u);
}

/* A lump of @pkts packets that begins and ends at these us, with delays of 100 us. */
static u32 lump(u32 from_us, u32 to_us, u32 pkts)
{
	const struct fl_rate_lump l = {
		.start_ns = from_us * 1000ULL, .end_ns = to_us * 1000ULL,
		.bytes = pkts * (MSS + OVERHEAD), .rtt_ns = 100000,
	};

	return fl_rate_sum(&path, &l);
}

/* One packet in flight at a time, as 16 flows on a slow line: no round, but a lump each 100 us. */
TEST(lumps_with_pauses)
{
	struct fl_rate_ack a = { .overhead_bytes = OVERHEAD, .rtt_ns = 100000, .clean = true };
	struct fl_rate_lump l = { };
	u32 i;

	memset(&meter, 0, sizeof(meter));
	for (i = 1; i <= 5; i++) {
		a.now_ns = 60000 * i;
		a.una = -MSS + i * MSS;
		a.snd_nxt = a.una;
		a.pkts = -2 + i;
		l = fl_rate_lump(&meter, &a);
		CHECK_EQ(l.bytes, i == 3 || i == 5 ? 2ULL * (MSS + OVERHEAD) : 0);
		CHECK_EQ(fl_rate_round(&meter, &a), 0u);
	}
	CHECK_EQ(l.start_ns, 180000u);
	CHECK_EQ(l.end_ns, 300000u);
	/* a loss: what is acknowledged next may have come before */
	a.clean = false;
	a.now_ns += 200000;
	a.una += MSS;
	CHECK_EQ(fl_rate_lump(&meter, &a).bytes, 0u);
	a.clean = true;
	a.now_ns += 200000;
	a.una += 3 * MSS;
	a.rtt_ns = 0;
	CHECK_EQ(fl_rate_lump(&meter, &a).bytes, 0u);
	a.rtt_ns = 100000;
	CHECK_EQ(fl_rate_lump(&meter, &a).bytes, 3ULL * MSS);
}

TEST(all_flows_of_a_path)
{
	u32 i, got = 0;

	memset(&path, 0, sizeof(path));
	fl_rate_turn(&path, 7, 0);
	CHECK_EQ(lump(900, 1000, 50), 0u);
	/* it began before */
	CHECK_EQ(lump(999, 1100, 1000), 0u);
	/* four flows, a packet in 100 us each */
	for (i = 10; i < 42; i++) {
		CHECK_EQ(got, 0u);
		got = lump(i * 100, i * 100 + 100, 4);
	}
	CHECK_EQ(got, 32 * 4 * 12304000 / 3300u);
	/* anew: the last lump is not counted twice */
	CHECK_EQ(lump(4200, 7400, 33), 33 * 12304000 / 3300u);
	/* one of another CPU that is late */
	CHECK_EQ(lump(7000, 7300, 33), 0u);
	CHECK_EQ(lump(7400, 10600, 33), 33 * 12304000 / 3300u);
	/* what was to another destination is not counted */
	CHECK(fl_rate_turn(&path, 8, 2));
	CHECK_EQ(lump(10600, 13800, 33), 0u);
}

UNIT_MAIN
