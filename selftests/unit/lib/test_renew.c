// SPDX-License-Identifier: GPL-2.0
/* When the smallest RTT is no longer true, kmod/lib/renew.h. */
#include "lib/renew.h"
#include "unit.h"

#define BASE_NS		35000U
#define OWN_NS		40000U
#define WINDOW_NS	BIT_ULL(FL_RENEW_WINDOW_SHIFT)

/* A flow that hears of one RTT in each window. */
struct path {
	struct fl_renew r;
	u64 now_ns;
	u32 base_ns;
	u32 dips;
};

/* A window in which the least RTT is @rtt_ns, and @dip_ns in a dip that holds back @own_ns. */
static void window(struct path *p, u32 own_ns, u32 rtt_ns, u32 dip_ns)
{
	if (rtt_ns)
		fl_renew_rtt(&p->r, rtt_ns + 1000);
	if (rtt_ns)
		fl_renew_rtt(&p->r, rtt_ns);
	p->now_ns = p->r.turn_ns;
	p->base_ns = fl_renew_turn(&p->r, p->base_ns, own_ns, p->now_ns, p->now_ns);
	if (!p->r.dip_end_ns)
		return;
	p->dips++;
	/* the queue of before, and two round trips */
	CHECK(p->r.dip_end_ns >= p->now_ns + rtt_ns + 2 * p->base_ns);
	CHECK(p->r.dip_end_ns >= p->now_ns + FL_RENEW_DIP_NS);
	if (dip_ns)
		fl_renew_rtt(&p->r, dip_ns);
	p->base_ns = fl_renew_dipped(&p->r, p->base_ns);
	CHECK_EQ(p->r.dip_end_ns, 0u);
}

static struct path path_of(u32 base_ns)
{
	struct path p = { .base_ns = base_ns };

	/* the first window begins somewhere and has nothing */
	p.r.turn_ns = 1;
	window(&p, OWN_NS, 0, 0);
	return p;
}

/* RTTs come near the smallest one: nothing is done. */
TEST(true_base)
{
	struct path p = path_of(BASE_NS);
	int i;

	for (i = 0; i < 100; i++)
		window(&p, i % 2 * OWN_NS, BASE_NS + i * 200, 0);
	CHECK_EQ(p.base_ns, BASE_NS);
	CHECK_EQ(p.dips, 0u);
}

/* The path is longer: known after one window without the old RTT. */
TEST(longer_path)
{
	struct path p = path_of(BASE_NS);

	window(&p, OWN_NS, BASE_NS, 0);
	window(&p, OWN_NS, BASE_NS + 100000, BASE_NS + 95000);
	CHECK_EQ(p.base_ns, BASE_NS + 95000);
	CHECK_EQ(p.dips, 1u);
	p = path_of(BASE_NS);
	window(&p, 0, BASE_NS + 100000, 0);
	CHECK_EQ(p.base_ns, BASE_NS + 100000);
	CHECK_EQ(p.dips, 0u);
}

/* A queue drains in each dip, which proves the smallest RTT for the next window, too. */
TEST(queue)
{
	struct path p = path_of(BASE_NS);
	u32 i;

	for (i = 1; i <= 1000; i++) {
		window(&p, OWN_NS, BASE_NS + 200000, BASE_NS + 1000);
		CHECK_EQ(p.base_ns, BASE_NS);
		CHECK_EQ(p.dips, (i + 1) / 2);
	}
	/* nothing came in the dip: nothing is known */
	p = path_of(BASE_NS);
	window(&p, OWN_NS, BASE_NS + 200000, 0);
	CHECK_EQ(p.base_ns, BASE_NS);
}

/* Others keep the rest of the queue, but it answers to what this flow sends. */
TEST(part_of_a_queue)
{
	struct path p = path_of(BASE_NS);
	u32 i;

	for (i = 0; i < 1000; i++)
		window(&p, OWN_NS, BASE_NS + 200000, BASE_NS + 200000 - OWN_NS / 2);
	CHECK_EQ(p.base_ns, BASE_NS);
	CHECK_EQ(p.dips, 1000u);
	window(&p, OWN_NS, BASE_NS + 200000, BASE_NS + 200001 - OWN_NS / 2);
	CHECK_EQ(p.base_ns, BASE_NS + 200001 - OWN_NS / 2);
}

/* Others have filled what the flow has left. */
TEST(longer_in_the_dip)
{
	struct path p = path_of(BASE_NS);

	window(&p, OWN_NS, BASE_NS + 100000, BASE_NS + 300000);
	CHECK_EQ(p.base_ns, BASE_NS + 100000);
}

/* A queue that grows by 200 us above whatever is taken for the path, and never drains. */
TEST(queue_of_others)
{
	struct path p = path_of(BASE_NS);
	u32 i, before, taken = 0, last = 0;

	for (i = 1; i <= 7200; i++) {
		before = p.base_ns;
		window(&p, i % 2 * OWN_NS, p.base_ns + 200000, p.base_ns + 200000);
		if (p.base_ns == before)
			continue;
		/* twice as many windows as for the last one */
		if (taken)
			CHECK(taken > FL_RENEW_WAIT_SHIFT || i - last == BIT(taken));
		last = i;
		taken++;
	}
	/* an hour of windows */
	CHECK(taken >= 10 && taken <= 16);
	/* what was true for long enough is forgotten */
	for (i = 0; i < 20; i++)
		window(&p, OWN_NS, p.base_ns, 0);
	CHECK_EQ(p.r.wait_shift, 0u);
}

/* What stands without windows: each time that it is taken needs twice as many for the next. */
TEST(stands)
{
	struct fl_renew r = {};
	u32 base_ns = BASE_NS;
	int i;

	base_ns = fl_renew_stood(&r, base_ns + 100000, base_ns);
	CHECK_EQ(base_ns, BASE_NS + 100000);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(base_ns, (u32)(BASE_NS + (i >= 2 ? 200000 : 100000)));
		base_ns = fl_renew_stood(&r, BASE_NS + 200000, base_ns);
	}
	CHECK_EQ(r.stale, 1u);
	r.stale = U16_MAX - 1;
	r.wait_shift = FL_RENEW_WAIT_SHIFT;
	CHECK_EQ(fl_renew_stood(&r, U32_MAX, 1), U32_MAX);
	CHECK_EQ(r.wait_shift, FL_RENEW_WAIT_SHIFT);
}

/* Windows end with the wall clock's, those of longer paths with those of shorter ones. */
TEST(windows)
{
	u32 bases[] = { 1, BASE_NS, 10000000, 1000000000, U32_MAX - 1 };
	u64 wall_ns = 1700000000123456789ULL, now_ns;
	struct fl_renew r;
	u32 i;

	for (i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		r = (struct fl_renew){};
		now_ns = 5000;
		fl_renew_turn(&r, bases[i], OWN_NS, now_ns, wall_ns);
		CHECK_EQ((wall_ns + r.turn_ns - now_ns) % WINDOW_NS, 0u);
		wall_ns += r.turn_ns - now_ns;
		now_ns = r.turn_ns;
		fl_renew_turn(&r, bases[i], OWN_NS, now_ns, wall_ns);
		CHECK_EQ((r.turn_ns - now_ns) % WINDOW_NS, 0u);
		CHECK(r.turn_ns - now_ns <= BIT_ULL(FL_RENEW_WINDOW_MOST));
		/* a dip is short beside it */
		CHECK(bases[i] > 500000000 || r.turn_ns - now_ns >= 128ULL * bases[i]);
	}
}

static u32 random_below(u32 bound)
{
	static u64 state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % bound;
}

/* Whoever leaves out RTTs when one is short enough comes to the same smallest RTTs. */
TEST(enough)
{
	struct fl_renew all = {}, few = {};
	u32 all_base_ns = BASE_NS, few_base_ns = BASE_NS, rtt_ns, left_out = 0;
	u64 now_ns = 1;
	int i;

	for (i = 0; i < 200000; i++) {
		/* each of some hundred has a base of its own */
		rtt_ns = BASE_NS + i / 700 % 5 * 30000 - 2000 + random_below(25000);
		all_base_ns = min_t(u32, all_base_ns, rtt_ns);
		few_base_ns = min_t(u32, few_base_ns, rtt_ns);
		rtt_ns -= random_below(4000);
		fl_renew_rtt(&all, rtt_ns);
		if (fl_renew_enough(&few, few_base_ns))
			left_out++;
		else
			fl_renew_rtt(&few, rtt_ns);
		CHECK_EQ(few_base_ns, all_base_ns);
		if (i % 100)
			continue;
		if (all.dip_end_ns) {
			all_base_ns = fl_renew_dipped(&all, all_base_ns);
			few_base_ns = fl_renew_dipped(&few, few_base_ns);
		} else {
			now_ns = all.turn_ns + 1;
			all_base_ns = fl_renew_turn(&all, all_base_ns, OWN_NS, now_ns, now_ns);
			few_base_ns = fl_renew_turn(&few, few_base_ns, OWN_NS, now_ns, now_ns);
		}
		CHECK_EQ(few.dip_end_ns, all.dip_end_ns);
		CHECK_EQ(few.stale, all.stale);
	}
	CHECK(left_out > 10000);
}

TEST(bounds)
{
	struct fl_renew r = {};
	u32 base_ns;

	fl_renew_rtt(&r, U32_MAX);
	base_ns = fl_renew_turn(&r, 1, 1, 1, 1);
	CHECK_EQ(base_ns, 1u);
	CHECK_EQ(r.dip_end_ns, 1ULL + U32_MAX + 2);
	CHECK_EQ(fl_renew_dipped(&r, 1), 1u);
	r.answer_ns = U32_MAX - 1;
	fl_renew_rtt(&r, U32_MAX);
	CHECK_EQ(fl_renew_dipped(&r, 1), U32_MAX);
	/* a smallest RTT above all that comes */
	fl_renew_rtt(&r, 1);
	CHECK_EQ(fl_renew_turn(&r, U32_MAX, 0, 2, 2), U32_MAX);
	r.stale = U16_MAX;
	fl_renew_rtt(&r, U32_MAX);
	fl_renew_turn(&r, 1, 1, 3, 3);
	CHECK_EQ(r.stale, U16_MAX);
}

UNIT_MAIN
