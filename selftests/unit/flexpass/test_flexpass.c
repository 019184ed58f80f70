// SPDX-License-Identifier: GPL-2.0
/* The reactive window of FlexPass. */
#include "unit.h"

#include "flexpass/core/fp_window.h"

static u32 seed = 7, credits;

static u32 draw(u32 below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

/* RTTs with a full window, @marked of each 1024 segments marked. */
static void rounds(struct fp_window *w, u32 *sent, u32 *marks, int n, u32 marked)
{
	while (n--) {
		u32 pkts, i;

		credits += 64;
		*sent += fp_window_room(w, *sent, credits);
		pkts = *sent - w->seen;
		for (i = 0; i < pkts; i++) {
			*marks += draw(1024) < marked;
			fp_window_update(w, *sent, w->seen + 1, *marks, false);
			*sent += fp_window_room(w, *sent, credits);
		}
	}
}

TEST(window_doubles_until_the_first_mark)
{
	struct fp_window w;
	u32 sent = 0, marks = 0;

	fp_window_init(&w, 2);
	rounds(&w, &sent, &marks, 4, 0);
	CHECK_EQ(w.wnd >> FP_WND_SHIFT, 32U);
	rounds(&w, &sent, &marks, 1, 1024);
	CHECK(!w.slow_start);
	CHECK(w.wnd >> FP_WND_SHIFT <= 33);
}

/* Without marks a packet an RTT; all marked, and alpha goes to 1 and the window below one. */
TEST(window_grows_and_shrinks_as_dctcp)
{
	struct fp_window w;
	u32 sent = 0, marks = 0, before;

	fp_window_init(&w, 20);
	w.slow_start = false;
	before = w.wnd;
	rounds(&w, &sent, &marks, 10, 0);
	CHECK(w.wnd > before + 9 * FP_WND_ONE);
	CHECK(w.wnd < before + 11 * FP_WND_ONE);
	CHECK_EQ(w.alpha, 0U);
	rounds(&w, &sent, &marks, 400, 1024);
	CHECK(w.alpha > (1 << FP_ALPHA_SHIFT) * 9 / 10);
	CHECK_EQ(w.wnd, (u32)FP_WND_MIN);
	rounds(&w, &sent, &marks, 2000, 0);
	CHECK_EQ(w.alpha, 0U);
}

TEST(window_halves_once_a_window)
{
	struct fp_window w;
	u32 i;

	fp_window_init(&w, 100);
	for (i = 1; i <= 50; i++)
		fp_window_update(&w, 100, i, 0, true);
	CHECK_EQ(w.wnd >> FP_WND_SHIFT, 50U);
	fp_window_update(&w, 100, 100, 0, true);
	CHECK_EQ(w.wnd >> FP_WND_SHIFT, 25U);
}

/* Below one packet: so many for a credit, one at a time. */
TEST(window_below_one_is_a_part_of_the_credits)
{
	struct fp_window w;
	u32 n, sent = 0, seen = 0, came = 0;

	fp_window_init(&w, 1);
	w.wnd = FP_WND_ONE / 8;
	for (n = 1; n <= 8000; n++) {
		if (!fp_window_room(&w, sent, n))
			continue;
		sent++;
		CHECK_EQ(fp_window_room(&w, sent, n), 0U);
		/* however many credits come, the first is still out */
		CHECK_EQ(fp_window_room(&w, sent, n + 1000), 0U);
		w.seen = ++seen;
		came++;
	}
	CHECK(came >= 999 && came <= 1000);
	/* the numbers wrap */
	sent++;
	CHECK_EQ(fp_window_room(&w, sent, ~0U - 3), 0U);
	w.seen = sent;
	CHECK_EQ(fp_window_room(&w, sent, 3), 0U);
	CHECK_EQ(fp_window_room(&w, sent, 4), 1U);
}

/* A window that marks close opens again at once when they are gone. */
TEST(window_below_one_opens_again)
{
	struct fp_window w;
	u32 sent = 0, marks = 0;

	fp_window_init(&w, 2);
	rounds(&w, &sent, &marks, 100, 1024);
	CHECK_EQ(w.wnd, (u32)FP_WND_MIN);
	rounds(&w, &sent, &marks, 2, 0);
	CHECK(w.wnd >= FP_WND_ONE);
}

/* What is marked does not make it grow: at one packet it would never shrink. */
TEST(window_of_one_shrinks)
{
	struct fp_window w;
	u32 i;

	fp_window_init(&w, 1);
	w.slow_start = false;
	for (i = 1; i < 30; i++)
		fp_window_update(&w, i, i, i, false);
	CHECK(w.wnd < FP_WND_ONE);
}

/* Whatever comes: the window stays in its bounds, and opens again. */
TEST(window_of_anything)
{
	int round, i;

	for (round = 0; round < 300; round++) {
		struct fp_window w;
		u32 sent = 0, marks = 0;

		fp_window_init(&w, 1 + draw(64));
		for (i = 0; i < 500; i++) {
			u32 out = sent - w.seen, came = out ? draw(out + 1) : 0;

			marks += draw(draw(2) ? 2 : 20000);
			fp_window_update(&w, sent, w.seen + came, marks, !draw(10));
			if (!draw(50))
				fp_window_timeout(&w, sent);
			CHECK(w.wnd >= FP_WND_MIN && w.wnd <= FP_WND_MAX_PKTS << FP_WND_SHIFT);
			CHECK(w.alpha <= BIT(FP_ALPHA_SHIFT));
			sent += fp_window_room(&w, sent, credits += draw(20));
			CHECK(sent - w.seen <= FP_WND_MAX_PKTS * 2);
		}
		fp_window_update(&w, sent, sent, marks, false);
		fp_window_room(&w, sent, credits);
		CHECK(fp_window_room(&w, sent, credits + 64) >= 1);
	}
}

UNIT_MAIN
