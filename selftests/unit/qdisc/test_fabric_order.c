// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric's order of service: strict bands, round robin by deficit.
 */
#include "unit.h"
#include "core/order.h"

/* Bands that always have a packet; its size from a table or at random. */
struct source {
	struct fabric_order order;
	u32 head[FABRIC_ORDER_BANDS];
	u64 sent[FABRIC_ORDER_BANDS];
	u32 random;
	u32 min_bytes;
	u32 max_bytes;
};

static u32 new_size(struct source *s)
{
	return s->min_bytes + unit_random32(&s->random) % (s->max_bytes - s->min_bytes + 1);
}

static u32 head_bytes(void *context, unsigned int band)
{
	struct source *s = context;

	return s->head[band];
}

static void set_up(struct source *s, unsigned int bands, const u32 *weights,
		   u32 min_bytes, u32 max_bytes)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->random = 12345;
	s->min_bytes = min_bytes;
	s->max_bytes = max_bytes;
	for (i = 0; i < bands; i++) {
		s->order.quantum[i] = weights[i] * 1514;
		s->head[i] = new_size(s);
		fabric_order_activate(&s->order, i);
	}
}

static int serve(struct source *s, u32 allowed)
{
	int band = fabric_order_next(&s->order, allowed, head_bytes, s);

	if (band >= 0) {
		s->sent[band] += s->head[band];
		s->head[band] = new_size(s);
	}
	return band;
}

/* Largest error of the shares in thousandths of what is due. */
static u64 share_error(const struct source *s, unsigned int bands,
		       const u32 *weights)
{
	u64 all = 0, weight = 0, worst = 0;
	unsigned int i;

	for (i = 0; i < bands; i++) {
		all += s->sent[i];
		weight += weights[i];
	}
	for (i = 0; i < bands; i++) {
		u64 due = all * weights[i] / weight;
		u64 off = s->sent[i] > due ? s->sent[i] - due :
					     due - s->sent[i];

		if (off * 1000 / due > worst)
			worst = off * 1000 / due;
	}
	return worst;
}

TEST(shares_are_exact_with_any_sizes_and_weights)
{
	static const u32 sizes[][2] = { { 64, 64 }, { 1514, 1514 },
					{ 64, 1514 }, { 64, 9014 } };
	unsigned int bands, i;
	size_t k;

	for (bands = 2; bands <= 16; bands++) {
		u32 weights[16];

		for (i = 0; i < bands; i++)
			weights[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 64 : 7;
		for (k = 0; k < ARRAY_SIZE(sizes); k++) {
			struct source s;
			int n;

			set_up(&s, bands, weights, sizes[k][0], sizes[k][1]);
			for (n = 0; n < 1000000; n++)
				serve(&s, ~0U);
			CHECK_LE(share_error(&s, bands, weights), 10U);
		}
	}
}

TEST(strict_goes_first_lowest_number_first)
{
	static const u32 weights[] = { 1, 1, 1, 1 };
	struct source s;

	set_up(&s, 4, weights, 100, 100);
	s.order.strict = 0x5;
	CHECK_EQ(serve(&s, ~0U), 0);
	fabric_order_idle(&s.order, 0);
	CHECK_EQ(serve(&s, ~0U), 2);
	fabric_order_idle(&s.order, 2);
	CHECK(serve(&s, ~0U) & 1);
	fabric_order_activate(&s.order, 2);
	CHECK_EQ(serve(&s, ~0U), 2);
}

TEST(a_band_that_may_not_send_is_passed_over)
{
	static const u32 weights[] = { 1, 1, 1 };
	struct source s;
	int i;

	set_up(&s, 3, weights, 1500, 1500);
	for (i = 0; i < 1000; i++)
		CHECK_NE(serve(&s, ~2U), 1);
	CHECK_EQ(serve(&s, 2), 1);
	CHECK_EQ(serve(&s, 8), -1);
	s.order.strict = 1;
	CHECK_NE(serve(&s, ~1U), 0);
}

TEST(nothing_to_send)
{
	struct source s = { 0 };

	CHECK_EQ(fabric_order_next(&s.order, ~0U, head_bytes, &s), -1);
}

TEST(bands_without_a_packet_do_not_hang_it)
{
	static const u32 weights[] = { 1, 1, 1 };
	struct source s;

	set_up(&s, 3, weights, 1500, 1500);
	s.head[0] = 0;
	s.head[1] = 0;
	CHECK_EQ(fabric_order_next(&s.order, ~0U, head_bytes, &s), 2);
	s.head[2] = 0;
	/* The last one is for the caller to find empty. */
	CHECK_GE(fabric_order_next(&s.order, ~0U, head_bytes, &s), 0);
}

/* A qdisc of its own may show no packet for long; then it has one. */
TEST(band_that_showed_nothing_has_saved_nothing)
{
	static const u32 weights[] = { 1, 1, 1 };
	struct source s;
	int i;

	set_up(&s, 3, weights, 1500, 1500);
	s.head[0] = 0;
	for (i = 0; i < 1000; i++) {
		fabric_order_next(&s.order, ~0U, head_bytes, &s);
		CHECK_LE(s.order.deficit[0], 1514U);
	}
	s.head[0] = 1500;
	memset(s.sent, 0, sizeof(s.sent));
	for (i = 0; i < 3000; i++)
		serve(&s, ~0U);
	CHECK_NEAR(s.sent[0], 1500 * 1000, 3000);
}

TEST(idle_band_loses_its_deficit)
{
	static const u32 weights[] = { 2, 2 };
	struct source s;

	set_up(&s, 2, weights, 1500, 1500);
	serve(&s, ~0U);
	CHECK_GT(s.order.deficit[s.order.turn], 0U);
	fabric_order_idle(&s.order, s.order.turn);
	CHECK_EQ(s.order.deficit[s.order.turn], 0U);
}

/* A band that may not send after each of its packets, as one with a rate or one that a neighbour
 * pauses, has no more of the line afterwards than it would have.
 */
TEST(a_band_that_is_held_back_saves_nothing_up)
{
	static const u32 weights[] = { 10, 1, 1 };
	struct source s;
	int i, in_turn;

	set_up(&s, 3, weights, 1514, 1514);
	for (i = 0; i < 1000; i++) {
		while (serve(&s, ~0U))
			;
		CHECK(serve(&s, ~1U) > 0);
	}
	while (!serve(&s, ~0U))
		;
	while (serve(&s, ~0U))
		;
	for (in_turn = 1; !serve(&s, ~0U); in_turn++)
		;
	CHECK_LE(in_turn, 11);
}

/* Nor does it lose its turn to a lone other, or what small turns have to add up for a packet. */
TEST(a_band_that_is_held_back_has_its_share)
{
	static const u32 weights[] = { 10, 1, 1 };
	struct source s;
	int i;

	set_up(&s, 2, weights, 1514, 1514);
	for (i = 0; i < 1000; i++)
		serve(&s, i & 1 ? ~1U : ~0U);
	CHECK(s.sent[0] * 10 >= s.sent[1] * 8);
	set_up(&s, 3, weights, 1514, 1514);
	for (i = 0; i < 3; i++)
		s.order.quantum[i] = 256;
	for (i = 0; i < 60000; i++)
		serve(&s, i % 7 ? ~0U : ~1U);
	CHECK(s.sent[0] * 10 >= s.sent[1] * 8);
}

TEST(smallest_quantum_and_largest_packet_come_to_an_end)
{
	struct source s = { .min_bytes = 1 << 20, .max_bytes = 1 << 20,
			    .random = 1 };
	int i;

	for (i = 0; i < 16; i++) {
		s.order.quantum[i] = 256;
		s.head[i] = 1 << 20;
		fabric_order_activate(&s.order, i);
	}
	for (i = 0; i < 64; i++)
		CHECK_GE(serve(&s, ~0U), 0);
	for (i = 0; i < 16; i++)
		CHECK_EQ(s.sent[i], 4ULL << 20);
}

UNIT_MAIN
