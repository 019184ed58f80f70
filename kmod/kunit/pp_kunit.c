// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what tcp_prioplus has of the kernel: the table of channels, whose keys
 * users choose.
 */
#include <kunit/test.h>
#include <linux/delay.h>

#include "prioplus/pp_share.c"

#define PP_KUNIT_FLOWS	8192

/* As many channels as there are flows. */
static void pp_kunit_take(struct kunit *test, struct pp_flow *fl, u32 count)
{
	struct pp_chan chan = { };
	u32 i;

	for (i = 0; i < count; i++) {
		chan.base_ns = i + 1;
		KUNIT_ASSERT_TRUE(test, pp_chan_take(&fl[i], &chan));
	}
}

/* Channels in the fullest place of the table. */
static u32 pp_kunit_longest(void)
{
	u32 i, count, longest = 0;
	struct bucket_table *tbl;
	struct rhash_head *pos;

	rcu_read_lock();
	tbl = rht_dereference_rcu(pp_shared_table.tbl, &pp_shared_table);
	for (i = 0; i < tbl->size; i++) {
		count = 0;
		rht_for_each_rcu(pos, tbl, i)
			count++;
		longest = max(longest, count);
	}
	rcu_read_unlock();
	return longest;
}

/* A flow with settings of its own costs the others nothing: what is looked at for one of
 * them does not grow with their number.
 */
static void pp_kunit_many_channels(struct kunit *test)
{
	struct pp_flow *fl = kvcalloc(PP_KUNIT_FLOWS, sizeof(*fl), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_TRUE(test, fl);
	KUNIT_ASSERT_EQ(test, pp_share_init(), 0);
	pp_kunit_take(test, fl, PP_KUNIT_FLOWS);
	/* it grows in the background */
	for (i = 0; i < 100 && pp_kunit_longest() > 16; i++)
		msleep(20);
	KUNIT_EXPECT_LE(test, pp_kunit_longest(), 16U);
	KUNIT_EXPECT_PTR_NE(test, fl[0].chan, fl[1].chan);
	/* the same settings, the same channel */
	pp_kunit_take(test, fl + 1, 1);
	KUNIT_EXPECT_PTR_EQ(test, fl[0].chan, fl[1].chan);
	for (i = 0; i < PP_KUNIT_FLOWS; i++)
		pp_chan_drop(&fl[i]);
	KUNIT_EXPECT_EQ(test, pp_idle_count, (u32)PP_IDLE_MAX);
	pp_share_exit();
	kvfree(fl);
}

/* Settings that meet in one place of the table today are apart after the next boot. */
static void pp_kunit_seeds_differ(struct kunit *test)
{
	const struct pp_chan chan = { .base_ns = 1 };
	/* not on the stack: it has a work item, which the kernel would want annotated */
	struct rhashtable *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);
	u32 hash[2], i;

	KUNIT_ASSERT_NOT_NULL(test, table);
	for (i = 0; i < ARRAY_SIZE(hash); i++) {
		KUNIT_ASSERT_EQ(test, rhashtable_init(table, &pp_shared_params), 0);
		rcu_read_lock();
		hash[i] = rht_key_get_hash(table, &chan, pp_shared_params,
					   rht_dereference_rcu(table->tbl, table)->hash_rnd);
		rcu_read_unlock();
		rhashtable_destroy(table);
	}
	KUNIT_EXPECT_NE(test, hash[0], hash[1]);
}

static struct kunit_case pp_kunit_cases[] = {
	KUNIT_CASE(pp_kunit_many_channels),
	KUNIT_CASE(pp_kunit_seeds_differ),
	{}
};

static struct kunit_suite pp_kunit_suite = {
	.name = "prioplus_channels",
	.test_cases = pp_kunit_cases,
};

kunit_test_suite(pp_kunit_suite);
