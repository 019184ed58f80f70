// SPDX-License-Identifier: GPL-2.0
/* The reactive window of FlexPass. */
#include "unit.h"

#include "flexpass/core/fp_window.h"

#define RTT_NS 20000

static u32 seed = 7;
static u64 now_ns = 1000000;

static u32 may_leave(struct fp_window *w, u32 sent, u64 at_ns)
{
	u64 wait_ns;

	return fp_window_room(w, sent, at_ns, RTT_NS, &wait_ns);
}

static u32 draw(u32 below)
{
	return unit_random32(&seed) % below;
}

/* RTTs with a full window, @marked of each 1024 segments marked. */
static void rounds(struct fp_window *w, u32 *sent, u32 *marks, int n, u32 marked)
{
	while (n--) {
		u32 pkts, i;

		now_ns += 4096ULL * RTT_NS;
		*sent += may_leave(w, *sent, now_ns);
		pkts = *sent - w->seen;
		for (i = 0; i < pkts; i++) {
			now_ns += RTT_NS / pkts;
			*marks += draw(1024) < marked;
			fp_window_update(w, *sent, w->seen + 1, *marks, false);
			*sent += may_leave(w, *sent, now_ns);
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

/* The receiver counts on from what another flow of the socket has sent: moved in the middle of a
 * window and after a loss, a window does all that it would have done otherwise.
 */
TEST(window_goes_on_from_other_counts)
{
	const u32 by = 4000000000U, other_marks = 77;
	struct fp_window w, other;
	u32 sent = 0, marks = 0, moved, moved_marks, n;

	fp_window_init(&w, 2);
	rounds(&w, &sent, &marks, 4, 0);
	rounds(&w, &sent, &marks, 2, 1024);
	sent += may_leave(&w, sent, now_ns);
	for (n = 0; n < 3; n++)
		fp_window_update(&w, sent, w.seen + 1, marks, n == 2);
	other = w;
	moved = sent + by;
	moved_marks = other_marks;
	w.round_marks = marks;
	fp_window_move(&other, by, other_marks);
	/* asked for by windows below one alone */
	CHECK_EQ(other.sent, w.sent + by);
	for (n = 0; n < 200; n++) {
		now_ns += RTT_NS;
		fp_window_update(&w, sent, w.seen + (sent != w.seen), marks += n & 1,
				 n == 1 || n == 90);
		fp_window_update(&other, moved, other.seen + (moved != other.seen),
				 moved_marks += n & 1, n == 1 || n == 90);
		CHECK_EQ(w.wnd, other.wnd);
		CHECK_EQ(w.alpha, other.alpha);
		sent += may_leave(&w, sent, now_ns);
		moved += may_leave(&other, moved, now_ns);
		CHECK_EQ(moved - sent, by);
	}
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
	CHECK(w.alpha < BIT(FP_ALPHA_SHIFT) * 3 / 10);
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
	w.slow_start = false;
	for (i = 1; i <= 50; i++)
		fp_window_update(&w, 100, i, 0, true);
	CHECK_EQ(w.wnd >> FP_WND_SHIFT, 50U);
	/* the queue is there for another RTT */
	fp_window_update(&w, 160, 149, 0, true);
	CHECK_EQ(w.wnd >> FP_WND_SHIFT, 50U);
	fp_window_update(&w, 160, 150, 0, true);
	CHECK_EQ(w.wnd >> FP_WND_SHIFT, 25U);
}

/* The first mark or loss ends slow start, and all marks and losses of what was sent until then, and
 * in the RTT that follows, belong to it.
 */
TEST(slow_start_ends_with_one_cut)
{
	struct fp_window w;
	u32 i, way;

	for (way = 0; way < 2; way++) {
		fp_window_init(&w, 160);
		fp_window_update(&w, 160, 1, !way, way);
		CHECK(!w.slow_start);
		CHECK_EQ(w.wnd, 80 * FP_WND_ONE);
		for (i = 2; i < 240; i++)
			fp_window_update(&w, 240, i, i, i & 1);
		CHECK_EQ(w.wnd, 80 * FP_WND_ONE);
		/* what follows counts again */
		fp_window_update(&w, 320, i, i, way);
		CHECK(w.wnd < 80 * FP_WND_ONE);
	}
}

/* However much room there is, no more than a few segments leave at once, and a window in an RTT. */
TEST(window_leaves_evenly)
{
	u32 slow_start, sent, step, most, room;
	struct fp_window w;

	for (slow_start = 0; slow_start < 2; slow_start++) {
		fp_window_init(&w, 400);
		w.slow_start = slow_start;
		/* nothing is out: nothing would wake the flow */
		CHECK_EQ(may_leave(&w, 0, now_ns), 400U);
		sent = 1;
		may_leave(&w, sent, now_ns);
		for (step = most = 0; step < 100; step++) {
			now_ns += RTT_NS / 100;
			room = may_leave(&w, sent, now_ns);
			most = max_t(u32, most, room);
			sent += room;
			if (step == 39)
				CHECK(sent >= (slow_start ? 230 : 190) &&
				      sent <= (slow_start ? 255 : 215));
		}
		CHECK(most <= 8);
		CHECK_EQ(sent, 400U);
		/* late ones are few, however long it was */
		fp_window_update(&w, sent, sent - 1, 0, false);
		now_ns += 100 * RTT_NS;
		CHECK_EQ(may_leave(&w, sent, now_ns), 8U);
	}
}

/* A flow that sleeps as long as it is told has as many to send as may leave at once, or all that
 * the window allows, and none of its time is lost.
 */
TEST(window_says_when_more_may_leave)
{
	u32 sent = 1, room, wakes = 0;
	u64 wait_ns, begin_ns = now_ns;
	struct fp_window w;

	fp_window_init(&w, 400);
	fp_window_room(&w, sent, now_ns, RTT_NS, &wait_ns);
	while (wait_ns && ++wakes < 400) {
		now_ns += wait_ns;
		room = fp_window_room(&w, sent, now_ns, RTT_NS, &wait_ns);
		CHECK(room == 8 || sent + room == 400);
		sent += room;
		CHECK(!may_leave(&w, sent, now_ns));
		fp_window_room(&w, sent, now_ns, RTT_NS, &wait_ns);
	}
	CHECK_EQ(sent, 400U);
	CHECK(now_ns - begin_ns <= RTT_NS * 2 / 3 && now_ns - begin_ns >= RTT_NS * 3 / 5);
}

/* Three quarters are out: it grows; less: it does not. Small windows grow if half is. */
TEST(window_that_is_not_used_does_not_grow)
{
	static const u32 wnds[][2] = { { 400, 300 }, { 40, 30 }, { 20, 12 }, { 8, 4 }, { 2, 1 } };
	struct fp_window w;
	u32 i, out;

	for (i = 0; i < ARRAY_SIZE(wnds); i++) {
		for (out = 1; out <= wnds[i][0]; out++) {
			fp_window_init(&w, wnds[i][0]);
			fp_window_update(&w, out, 1, 0, false);
			CHECK_EQ(w.wnd > wnds[i][0] * FP_WND_ONE, out >= wnds[i][1]);
		}
	}
}

/* Below one packet: one in 1 / W RTTs, one at a time, and what is late comes after. */
TEST(window_below_one_is_a_part_of_the_time)
{
	struct fp_window w;
	u32 n, once, sent = 0, came = 0, step_ns;
	u64 begin_ns, end_ns;

	for (step_ns = RTT_NS / 4; step_ns <= 64 * RTT_NS; step_ns *= 4) {
		fp_window_init(&w, 1);
		w.seen = sent;
		may_leave(&w, sent, now_ns);
		w.wnd = FP_WND_ONE / 8;
		begin_ns = now_ns;
		for (n = came = 0; n < 8000; n++) {
			now_ns += step_ns;
			for (once = 0; once < 20 && may_leave(&w, sent, now_ns); once++) {
				sent++;
				CHECK_EQ(may_leave(&w, sent, now_ns), 0U);
				/* however long it takes, the first is still out */
				CHECK_EQ(may_leave(&w, sent, now_ns + RTT_NS), 0U);
				w.seen = sent;
				came++;
			}
		}
		end_ns = (now_ns - begin_ns) / RTT_NS / 8;
		CHECK(came <= end_ns + 1);
		CHECK(came >= end_ns - 17);
	}
	/* who has sent nothing for long may not make up for it */
	now_ns += 1000000ULL * RTT_NS;
	for (n = 0; n < 20 && may_leave(&w, sent, now_ns); n++)
		w.seen = ++sent;
	CHECK(n > 1 && n <= 18);
}

/* Parts of packets count: 1.25 is two in one RTT of four. */
TEST(window_carries_parts_of_packets)
{
	struct fp_window w;
	u32 sent = 0, n;

	fp_window_init(&w, 1);
	w.slow_start = false;
	for (n = 0; n < 400; n++) {
		w.wnd = FP_WND_ONE * 5 / 4;
		w.alpha = 0;
		sent += may_leave(&w, sent, now_ns);
		/* all marked: it does not grow, and with alpha 0 does not shrink */
		fp_window_update(&w, sent, sent, sent, false);
	}
	CHECK(sent >= 498 && sent <= 502);
}

/* Whatever they begin with, flows that meet the same marks come to have the same. */
TEST(windows_become_even)
{
	u32 part, f, i;

	for (part = 350; part <= 550; part += 50) {
		double sum = 0, squares = 0;

		for (f = 0; f < 64; f++) {
			u32 sent = 0, marks = 0;
			struct fp_window w;
			double came = 0;

			fp_window_init(&w, 1 + f % 8);
			w.slow_start = false;
			for (i = 0; i < 1000; i++) {
				u32 before = sent, room;

				now_ns += RTT_NS;
				room = may_leave(&w, before, now_ns);
				if (!room)
					continue;
				sent += room;
				while (room--)
					marks += draw(1024) < part;
				fp_window_update(&w, sent, sent, marks, false);
				came += i < 100 ? 0 : sent - before;
			}
			sum += came;
			squares += came * came;
		}
		CHECK(sum * sum / 64 / squares > 0.97);
	}
}

/* A window that marks close opens again within a few packets when they are gone. */
TEST(window_below_one_opens_again)
{
	struct fp_window w;
	u32 sent = 0, marks = 0;

	fp_window_init(&w, 2);
	rounds(&w, &sent, &marks, 100, 1024);
	CHECK_EQ(w.wnd, (u32)FP_WND_MIN);
	rounds(&w, &sent, &marks, 4, 0);
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
			sent += may_leave(&w, sent, now_ns += draw(4 * RTT_NS));
			CHECK(sent - w.seen <= FP_WND_MAX_PKTS * 2);
		}
		fp_window_update(&w, sent, sent, marks, false);
		may_leave(&w, sent, now_ns);
		CHECK(may_leave(&w, sent, now_ns + 4096 * (u64)RTT_NS) >= 1);
	}
}

UNIT_MAIN
