// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric's decisions: marking, dynamic threshold; smoothing; option walk.
 */
#include "unit.h"
#include "core/aqm.h"
#include "core/opt.h"

TEST(step_marks_above_the_threshold_only)
{
	struct fabric_red red = { .min = 1000, .max = 1000,
				  .prob = FABRIC_PROB_ONE };

	CHECK(!fabric_red_hits(&red, 0, 0));
	CHECK(!fabric_red_hits(&red, 1000, 0));
	CHECK(fabric_red_hits(&red, 1001, 0xffffffff));
}

TEST(red_is_linear_between_min_and_max)
{
	struct fabric_red red = { .min = 1000, .max = 3000, .prob = 200000 };
	u32 random = 7, hits = 0;
	int i;

	for (i = 0; i < 1000000; i++)
		hits += fabric_red_hits(&red, 2000, fabric_random(&random));
	CHECK_NEAR(hits, 100000, 1000);
	CHECK(!fabric_red_hits(&red, 1000, 0));
	CHECK(fabric_red_hits(&red, 3001, 0xffffffff));
	for (hits = 0, i = 0; i < 1000000; i++)
		hits += fabric_red_hits(&red, 3000, fabric_random(&random));
	CHECK_NEAR(hits, 200000, 2000);
}

TEST(random_numbers_do_not_stick)
{
	u32 state = 1;
	int i;

	for (i = 0; i < 100000; i++)
		REQUIRE(fabric_random(&state));
}

TEST(dynamic_threshold_converges_to_alpha_share)
{
	/* One queue may take alpha / (1 + alpha) of the pool. */
	static const u32 alphas[] = { 125, 250, 1000, 4000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(alphas); i++) {
		u64 pool = 1000000, used = 0;

		while (fabric_dt_fits(pool, used, used + 100, 100, alphas[i]))
			used += 100;
		CHECK_NEAR(used, pool * alphas[i] / (1000 + alphas[i]), 200);
	}
}

TEST(dynamic_threshold_never_exceeds_the_pool)
{
	CHECK(fabric_dt_fits(1000, 900, 100, 100, 1000000));
	CHECK(!fabric_dt_fits(1000, 901, 100, 100, 1000000));
	CHECK(!fabric_dt_fits(0, 0, 1, 1, 1000000));
	CHECK(fabric_dt_fits(0, 0, 0, 0, 1));
	/* The largest numbers that netlink lets in. */
	CHECK(fabric_dt_fits(1 << 30, 0, 1 << 30, 1 << 30, 1000000));
}

TEST(reserved_bytes_are_not_in_the_pool)
{
	CHECK_EQ(fabric_shared_bytes(0, 100), 0U);
	CHECK_EQ(fabric_shared_bytes(100, 100), 0U);
	CHECK_EQ(fabric_shared_bytes(150, 100), 50U);
}

TEST(smoothing_moves_by_the_time_that_passed)
{
	CHECK_EQ(fabric_smooth(100, 300, 0, 10), 100U);
	CHECK_EQ(fabric_smooth(100, 300, 5, 10), 200U);
	CHECK_EQ(fabric_smooth(300, 100, 5, 10), 200U);
	CHECK_EQ(fabric_smooth(100, 300, 10, 10), 300U);
	CHECK_EQ(fabric_smooth(100, 300, 1000, 10), 300U);
	CHECK_EQ(fabric_smooth(100, 300, 0, 0), 300U);
	CHECK_EQ(fabric_smooth(0, 0xffffffff, 999999999, 1000000000),
		 4294967290U);
}

TEST(rounding_tells_the_same_as_long_as_it_can)
{
	/* rounded down at first */
	CHECK_EQ(fabric_round(0, 5000, 1024), 4096U);
	/* what is told stands for 4096 to 5119, and stays 512 beyond it */
	CHECK_EQ(fabric_round(4096, 3584, 1024), 4096U);
	CHECK_EQ(fabric_round(4096, 3583, 1024), 3072U);
	CHECK_EQ(fabric_round(4096, 5631, 1024), 4096U);
	CHECK_EQ(fabric_round(4096, 5632, 1024), 5120U);
	CHECK_EQ(fabric_round(4096, 0, 1024), 0U);
	/* the ends of the range, and no rounding at all */
	CHECK_EQ(fabric_round(0xfffffc00, 0xffffffff, 1024), 0xfffffc00U);
	CHECK_EQ(fabric_round(0, 0xffffffff, 65536), 0xffff0000U);
	CHECK_EQ(fabric_round(7, 8, 1), 8U);
	CHECK_EQ(fabric_round(8, 8, 1), 8U);
	/* told as the middle, but nothing of next to nothing */
	CHECK_EQ(fabric_round_middle(4096, 1024), 4608U);
	CHECK_EQ(fabric_round_middle(0, 1024), 0U);
	CHECK_EQ(fabric_round_middle(0xffff0000, 65536), 0xffff8000U);
	CHECK_EQ(fabric_round_middle(8, 1), 8U);
}

/* A header with options. */
struct header {
	u8 byte[FABRIC_TCP_MAX_BYTES];
};

static struct header make(const u8 *options, int bytes)
{
	struct header h = { { 0 } };

	memcpy(h.byte + FABRIC_TCP_MIN_BYTES, options, bytes);
	h.byte[12] = (FABRIC_TCP_MIN_BYTES + (bytes + 3) / 4 * 4) / 4 << 4;
	return h;
}

static int find(const struct header *h, u8 kind, u8 length, u16 exid)
{
	struct fabric_opt want = { kind, length, exid };
	int bytes = fabric_tcp_bytes(h->byte);

	return bytes < 0 ? bytes : fabric_opt_find(h->byte, bytes, &want);
}

#define FIND(kind, length, exid, ...) ({				\
	const u8 options_[] = { __VA_ARGS__ };				\
	struct header h_ = make(options_, sizeof(options_));		\
	find(&h_, kind, length, exid); })

TEST(option_is_found_anywhere)
{
	CHECK_EQ(FIND(253, 8, 0x464c, 253, 8, 0x46, 0x4c, 0, 0, 0, 0), 20);
	CHECK_EQ(FIND(253, 8, 0x464c, 1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 253,
		      8, 0x46, 0x4c, 0, 0, 0, 0), 32);
	CHECK_EQ(FIND(253, 8, 0x464c, 1, 253, 8, 0x46, 0x4c, 0, 0, 0, 0), 21);
	CHECK_EQ(FIND(114, 4, 0, 114, 4, 0, 0), 20);
}

TEST(other_options_are_not_it)
{
	CHECK_EQ(FIND(253, 8, 0x464c, 253, 8, 0x46, 0x4d, 0, 0, 0, 0), 0);
	CHECK_EQ(FIND(253, 8, 0x464c, 253, 4, 0x46, 0x4c), 0);
	CHECK_EQ(FIND(253, 8, 0x464c, 254, 8, 0x46, 0x4c, 0, 0, 0, 0), 0);
	CHECK_EQ(FIND(253, 8, 0x464c, 253, 4, 0x46, 0x4c, 253, 8, 0x46, 0x4c, 0,
		      0, 0, 0), 24);
	CHECK_EQ(FIND(253, 8, 0x464c, 0, 0, 0, 0, 253, 8, 0x46, 0x4c, 0, 0, 0,
		      0), 0);
	CHECK_EQ(FIND(253, 8, 0x464c, 1, 1, 1, 1), 0);
}

TEST(lying_lengths_are_malformed)
{
	CHECK_EQ(FIND(253, 8, 0, 253, 0, 0, 0), FABRIC_OPT_MALFORMED);
	CHECK_EQ(FIND(253, 8, 0, 253, 1, 0, 0), FABRIC_OPT_MALFORMED);
	CHECK_EQ(FIND(253, 8, 0, 253, 8, 0, 0), FABRIC_OPT_MALFORMED);
	CHECK_EQ(FIND(253, 8, 0, 1, 1, 1, 253), FABRIC_OPT_MALFORMED);
	CHECK_EQ(FIND(253, 8, 0, 8, 255, 0, 0), FABRIC_OPT_MALFORMED);
}

TEST(short_data_offset_is_malformed)
{
	struct header h = { { 0 } };
	int i;

	for (i = 0; i < 5; i++) {
		h.byte[12] = i << 4;
		CHECK_EQ(fabric_tcp_bytes(h.byte), FABRIC_OPT_MALFORMED);
	}
	h.byte[12] = 0xff;
	CHECK_EQ(fabric_tcp_bytes(h.byte), 60);
}

/* Any bytes at all, in a buffer of exactly their length, so that the address
 * sanitizer sees a step beyond the end. What is found must be inside.
 */
TEST(fuzz_option_walk)
{
	static const struct fabric_opt wants[] = {
		{ 253, 8, 0x464c }, { 0x72, 12, 0 }, { 253, 2, 0x464c },
	};
	u32 random = 99, found = 0, bad = 0;
	int n, i;

	for (n = 0; n < 3000000; n++) {
		int bytes = 20 + fabric_random(&random) % 11 * 4, at;
		const struct fabric_opt *want = &wants[n % 3];
		u8 *th = malloc(bytes);

		REQUIRE(th);
		for (i = 0; i < bytes; i++) {
			u32 r = fabric_random(&random);

			th[i] = r & 0x100 ? r : r & 0x200 ? want->kind :
				r & 0x400 ? want->bytes :
				r & 0x800 ? 0x46 : r & 0x1000 ? 0x4c : r & 1;
		}
		at = fabric_opt_find(th, bytes, want);
		if (at > 0) {
			found++;
			REQUIRE(at >= 20 && at + want->bytes <= bytes &&
				th[at] == want->kind &&
				th[at + 1] == want->bytes);
		}
		bad += at == FABRIC_OPT_MALFORMED;
		free(th);
	}
	CHECK_GT(found, 1000U);
	CHECK_GT(bad, 1000U);
}

UNIT_MAIN
