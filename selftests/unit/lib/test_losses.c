// SPDX-License-Identifier: GPL-2.0
/* Losses that no queue tells of, kmod/lib/losses.h. */
#include "lib/losses.h"
#include "unit.h"

#define RTT_US	1000

/* A recovery after so many more packets, of which so many were lost. */
static bool recovery(struct fl_losses *l, u32 came, u32 gone)
{
	return fl_losses_many(l, l->delivered + came, l->lost + gone, l->at_us + 10 * RTT_US);
}

/* One bad start, or one packet of a hundred lost at random, tells of no rate. */
TEST(few_losses_mean_nothing)
{
	struct fl_losses l = {};
	u32 i;

	for (i = 1; i < FL_LOSSES_TIMES; i++)
		CHECK(!recovery(&l, 500, 500));
	CHECK(!recovery(&l, 990, 10));
	for (i = 0; i < 100; i++)
		CHECK(!recovery(&l, 100, 1));
	fl_losses_cut(&l, false, 100);
	CHECK_EQ(l.most_pkts, 0u);
}

/* What is too few to tell counts with what comes next. */
TEST(few_packets_add_up)
{
	struct fl_losses l = {};
	u32 delivered = 0, lost = 0, i;
	bool many = false;

	for (i = 0; i < 4 * FL_LOSSES_TIMES; i++) {
		many = fl_losses_many(&l, delivered += 14, lost += 2, i);
		CHECK_EQ(many, i == 4 * FL_LOSSES_TIMES - 1);
	}
	CHECK(many);
}

/* Half at each recovery, a packet more for each window; free when the control wants far less. */
TEST(bounded_as_reno)
{
	struct fl_losses l = { .times = FL_LOSSES_TIMES };
	u32 i;

	fl_losses_cut(&l, true, 100);
	CHECK_EQ(l.most_pkts, 50u);
	for (i = 0; i < 50; i++)
		CHECK_EQ(fl_losses_bound(&l, 1, 1000 * FL_WND_ONE), 50 * FL_WND_ONE);
	CHECK_EQ(l.most_pkts, 51u);
	CHECK_EQ(fl_losses_bound(&l, 0, 20 * FL_WND_ONE), 20 * FL_WND_ONE);
	fl_losses_cut(&l, false, 1000);
	CHECK_EQ(l.most_pkts, 25u);
	for (i = 0; i < 10; i++)
		fl_losses_cut(&l, false, 0);
	CHECK_EQ(l.most_pkts, 2u);
	l.most_pkts = 40;
	CHECK_EQ(fl_losses_bound(&l, 1, 9 * FL_WND_ONE), 9 * FL_WND_ONE);
	CHECK_EQ(l.most_pkts, 0u);
}

/* A recovery that does not end, over the wrap of all counters. */
TEST(lasting_recovery)
{
	struct fl_losses l = { .delivered = -50u, .lost = -10u, .at_us = -1000u };

	CHECK(!fl_losses_last(&l, 50, 30, 900, RTT_US));
	CHECK(fl_losses_last(&l, 50, 30, 1100, RTT_US));
	CHECK(!fl_losses_last(&l, 50, -8u, 1100, RTT_US));
	CHECK(!fl_losses_last(&l, -40u, 0, 1100, RTT_US));
}

UNIT_MAIN
