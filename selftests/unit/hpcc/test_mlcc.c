// SPDX-License-Identifier: GPL-2.0
/* MLCC's sender, kmod/hpcc/core/mlcc.c: equation 10, and what is in force for how long. */
#include "hpcc/core/mlcc.h"
#include "unit.h"

#define RTT_NS		6000000ULL
#define GBIT		125000000ULL	/* bytes/s */
/* Over 8192 ns << 2. */
#define NEAR_RTT	2
#define ROUND_NS	32768ULL

TEST(the_smaller_rate_counts)
{
	struct ml_core ml = { 0 };

	ml_on_tell(&ml, 1000, 10 * GBIT);
	ml_on_near(&ml, 1000, NEAR_RTT);
	CHECK_EQ(ml_rate(&ml, 5 * GBIT), 5 * GBIT);
	CHECK_EQ(ml_rate(&ml, 25 * GBIT), 10 * GBIT);
	ml_on_tell(&ml, 2000, 4 * GBIT);
	CHECK_EQ(ml_rate(&ml, 5 * GBIT), 4 * GBIT);
}

/* Nobody tells a rate: what HPCC says from end to end, the near loop or not. */
TEST(without_a_border_router)
{
	struct ml_core ml = { 0 };

	CHECK_EQ(ml_rate(&ml, 5 * GBIT), 5 * GBIT);
	ml_on_near(&ml, 1000, NEAR_RTT);
	CHECK_EQ(ml_rate(&ml, 25 * GBIT), 25 * GBIT);
}

TEST(what_is_told_expires)
{
	u64 now_ns = 1000 + ML_EXPIRE_RTTS * RTT_NS;
	struct ml_core ml = { 0 };

	ml_on_tell(&ml, 1000, GBIT);
	ml_on_near(&ml, 2000, NEAR_RTT);
	ml_expire(&ml, now_ns, RTT_NS);
	CHECK(ml.border);
	CHECK(ml.near);
	ml_expire(&ml, now_ns + 1, RTT_NS);
	CHECK(!ml.border);
	CHECK(ml.near);
	ml_expire(&ml, now_ns + 1001, RTT_NS);
	CHECK(!ml.near);
	CHECK_EQ(ml_rate(&ml, 5 * GBIT), 5 * GBIT);
}

/* A load that is told many times in a round acts once. */
TEST(rounds_of_the_near_loop)
{
	u64 now_ns = 1000000000ULL;
	struct ml_core ml = { 0 };
	int i, over = 0;

	CHECK(ml_on_near(&ml, now_ns, NEAR_RTT));
	for (i = 1; i <= 320; i++)
		over += ml_on_near(&ml, now_ns + i * ROUND_NS / 32, NEAR_RTT);
	CHECK_EQ(over, 10);
	CHECK_EQ(ml.near_rtt, NEAR_RTT);
	CHECK(ml_on_near(&ml, now_ns + 17 * ROUND_NS, NEAR_RTT));
	/* rounds of another length, as the router says */
	CHECK(!ml_on_near(&ml, now_ns + 18 * ROUND_NS, NEAR_RTT + 1));
	CHECK(ml_on_near(&ml, now_ns + 19 * ROUND_NS, NEAR_RTT + 1));
}

/* The first load: a share of the line, the less the more waits, not beyond what is told. */
TEST(begin_with_a_share)
{
	struct ml_core ml = { 0 };

	/* nothing is told before the first ACK comes */
	CHECK_EQ(ml_start(&ml, 6 * GBIT, 1 << 15), 3 * GBIT / 2);
	CHECK_EQ(ml_start(&ml, 6 * GBIT, 2 << FL_LOAD_HOST_SHIFT), 3 * GBIT / 4);
	ml_on_tell(&ml, 1000, 10 * GBIT);
	CHECK_EQ(ml_start(&ml, 6 * GBIT, 1 << 15), 3 * GBIT / 2);
	CHECK_EQ(ml_start(&ml, 6 * GBIT, 1 << FL_LOAD_HOST_SHIFT), 3 * GBIT / 2);
	CHECK_EQ(ml_start(&ml, 6 * GBIT, 4 << FL_LOAD_HOST_SHIFT), 3 * GBIT / 8);
	CHECK_EQ(ml_start(&ml, 48 * GBIT, 0), 10 * GBIT);
}

/* Loads that are older than that beginning: four rounds of the near loop. */
TEST(older_than_the_beginning)
{
	u64 now_ns = 1000000;
	struct ml_core ml = { 0 };

	CHECK(!ml_starting(&ml, now_ns));
	ml_on_near(&ml, now_ns, NEAR_RTT);
	ml_started(&ml, now_ns, GBIT);
	CHECK(ml_starting(&ml, now_ns));
	CHECK(ml_starting(&ml, now_ns + 4 * ROUND_NS - 1));
	CHECK(!ml_starting(&ml, now_ns + 4 * ROUND_NS));
	/* rounds from end to end: one */
	ml.far = true;
	ml_started(&ml, now_ns, GBIT);
	CHECK(ml_starting(&ml, now_ns + ROUND_NS - 1));
	CHECK(!ml_starting(&ml, now_ns + ROUND_NS));
}

/* A flow that begins doubles up to its share, once in four rounds, until something waits. */
TEST(doubles)
{
	struct ml_core ml = { 0 };
	u64 now_ns = 1000000;

	ml_on_near(&ml, now_ns, NEAR_RTT);
	CHECK(!ml_double(&ml, now_ns, GBIT, 0));
	ml_started(&ml, now_ns, 3 * GBIT);
	now_ns += 4 * ROUND_NS;
	CHECK_EQ(ml_double(&ml, now_ns, GBIT, 1 << FL_LOAD_HOST_SHIFT), 2 * GBIT);
	CHECK(ml_starting(&ml, now_ns + 4 * ROUND_NS - 1));
	CHECK_EQ(ml_double(&ml, now_ns, 2 * GBIT, 0), 3 * GBIT);
	CHECK(!ml_double(&ml, now_ns, 3 * GBIT, 0));
	CHECK(!ml_double(&ml, now_ns, GBIT, 0));
	/* once something waits it has begun */
	ml_started(&ml, now_ns, 3 * GBIT);
	CHECK(!ml_double(&ml, now_ns, GBIT, (1 << FL_LOAD_HOST_SHIFT) + 1));
	CHECK(!ml_double(&ml, now_ns, GBIT, 0));
	/* no more than is told; a pause forgets it */
	ml_started(&ml, now_ns, 3 * GBIT);
	ml_on_tell(&ml, now_ns, GBIT * 3 / 2);
	CHECK_EQ(ml_double(&ml, now_ns, GBIT, 0), GBIT * 3 / 2);
	ml_started(&ml, now_ns, 3 * GBIT);
	ml_again(&ml);
	CHECK(!ml_double(&ml, now_ns, GBIT, 0));
}

/* Rounds of the near loop: with a border router at either end. With the own one alone the rest of
 * the way has a loop beside it, once an ACK has come that asks for no rate. A pause forgets both.
 */
TEST(two_loops)
{
	struct ml_core ml = { 0 };

	CHECK(!ml_apart(&ml));
	CHECK(!ml_beside(&ml));
	ml_on_near(&ml, 1000, NEAR_RTT);
	CHECK(ml_apart(&ml));
	CHECK(!ml_beside(&ml));
	ml.heard = true;
	CHECK(ml_apart(&ml));
	CHECK(ml_beside(&ml));
	ml_on_tell(&ml, 2000, GBIT);
	CHECK(ml_apart(&ml));
	CHECK(!ml_beside(&ml));
	ml_again(&ml);
	CHECK(!ml_apart(&ml));
	CHECK(!ml_beside(&ml));
	CHECK(!ml.heard);
	CHECK_EQ(ml_rate(&ml, 5 * GBIT), 5 * GBIT);
	/* the far one alone */
	ml_on_tell(&ml, 3000, GBIT);
	CHECK(ml_apart(&ml));
	CHECK(!ml_beside(&ml));
}

UNIT_MAIN
