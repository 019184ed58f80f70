// SPDX-License-Identifier: GPL-2.0
/*
 * The cores of credit-driven controls: option, feedback loop, turns of a port,
 * the sender's books.
 */
#include "unit.h"

#include "credit/core/gate.h"
#include "credit/core/loop.h"
#include "credit/core/turn.h"
#include "credit/core/want.h"
#include "credit/core/wire.h"

/* Numbers of any type. */
#define SAME(a, b)	CHECK_EQ((s64)(a), (s64)(b))

static u32 seed = 1;

static u32 draw(u32 below)
{
	return unit_random32(&seed) % below;
}

/* ---- option ---------------------------------------------------------------- */

TEST(option_comes_out_as_it_went_in)
{
	int i;

	for (i = 0; i < 20000; i++) {
		struct fl_credit_msg m = { .type = 1 + draw(6) }, r;
		u32 bytes = fl_credit_bytes(m.type);
		u8 *at = malloc(bytes);

		switch (m.type) {
		case FL_CREDIT_REQUEST:
		case FL_CREDIT_GREEN:
			m.part = draw(2);
			m.number = draw(FL_CREDIT_NUMBER_MASK + 1);
			m.reds = draw(FL_CREDIT_REDS_MASK + 1);
			m.backlog_segs = draw(FL_CREDIT_BACKLOG_MAX + 1);
			break;
		case FL_CREDIT_GRANT:
		case FL_CREDIT_CREDIT:
			m.segs = 1 + draw(FL_CREDIT_SEGS_MAX);
			m.number = draw(FL_CREDIT_NUMBER_MASK + 1);
			break;
		default:
			m.reds = draw(FL_CREDIT_REDS_MASK + 1);
			m.marks = draw(FL_CREDIT_REDS_MASK + 1);
		}
		fl_credit_write(at, &m);
		CHECK(fl_credit_is(fl_credit_get32(at)));
		CHECK(fl_credit_read(at, bytes, &r));
		SAME(r.type, m.type);
		SAME(r.number, m.number);
		SAME(r.segs, m.segs);
		SAME(r.part, m.part);
		SAME(r.reds, m.reds);
		SAME(r.marks, m.marks);
		SAME(r.backlog_segs, m.backlog_segs);
		/* one byte less, and it is not there */
		CHECK(!fl_credit_read(at, bytes - 1, &r));
		free(at);
	}
}

/* Nothing is read beyond what is there (ASan), and no type is believed that is none. */
TEST(option_of_random_bytes)
{
	struct fl_credit_msg m;
	int i, n, good = 0;

	for (i = 0; i < 200000; i++) {
		u32 room = draw(16);
		u8 *at = malloc(room ?: 1);

		for (n = 0; n < (int)room; n++)
			at[n] = draw(256);
		if (room > 4)
			at[1] = draw(16);
		if (room >= 4 && fl_credit_read(at, room, &m)) {
			good++;
			CHECK(m.type >= FL_CREDIT_REQUEST && m.type <= FL_CREDIT_SEEN);
			CHECK(m.segs <= FL_CREDIT_SEGS_MAX);
			CHECK(at[1] <= room);
		}
		free(at);
	}
	CHECK(good > 1000);
}

TEST(numbers_wrap)
{
	SAME(fl_credit_ahead(0, FL_CREDIT_NUMBER_MASK), 1);
	SAME(fl_credit_ahead(FL_CREDIT_NUMBER_MASK, 0), -1);
	SAME(fl_credit_ahead(5, 3), 2);
	SAME(fl_credit_reds_ahead(2, FL_CREDIT_REDS_MASK), 3);
	SAME(fl_credit_reds_ahead(0, 1), -1);
}

/* ---- feedback loop ------------------------------------------------------------ */

/* Flows through one limiter of credits: @queue at most, served one each @gap_ns. */
struct net {
	struct fl_loop loop[16];
	u32 number[16];
	u64 due_ns[16];
	u64 got[16];
	u64 dropped;
	struct { u64 ns; u32 flow, number; } back[1 << 16];
	u32 in, out;
	u64 free_ns;
};

static struct net *net_new(int flows, u32 max)
{
	struct net *n = calloc(1, sizeof(*n));
	int i;

	for (i = 0; i < flows; i++) {
		fl_loop_init(&n->loop[i], max, draw(1 << 30));
		n->number[i] = draw(FL_CREDIT_NUMBER_MASK);
		fl_loop_begin(&n->loop[i], n->number[i]);
		n->due_ns[i] = 1 + draw(1000);
	}
	return n;
}

static void net_run(struct net *n, int flows, u64 until_ns, u32 gap_ns, u32 rtt_ns,
		    u32 queue)
{
	for (;;) {
		int i, f = 0;
		u64 now;

		for (i = 1; i < flows; i++)
			if (n->due_ns[i] < n->due_ns[f])
				f = i;
		now = n->due_ns[f];
		while (n->out != n->in && n->back[n->out % (1 << 16)].ns <= now) {
			u32 o = n->out++ % (1 << 16), who = n->back[o].flow;

			fl_loop_back(&n->loop[who], n->back[o].number, n->back[o].ns);
			n->got[who]++;
		}
		if (now > until_ns)
			return;
		fl_loop_update(&n->loop[f], now);
		fl_loop_sent(&n->loop[f], n->number[f], now);
		if (n->free_ns > now + (u64)queue * gap_ns) {
			n->dropped++;
		} else {
			u32 o = n->in++ % (1 << 16);

			n->free_ns = max_t(u64, n->free_ns, now) + gap_ns;
			n->back[o].ns = n->free_ns + rtt_ns;
			n->back[o].flow = f;
			n->back[o].number = n->number[f];
		}
		n->number[f] = (n->number[f] + 1) & FL_CREDIT_NUMBER_MASK;
		n->due_ns[f] = now + fl_loop_gap_ns(&n->loop[f]);
	}
}

/* Whatever the line, the RTT, the number of flows and the queue of credits: the
 * limiter is busy, and nobody is left behind.
 */
TEST(loop_fills_and_shares)
{
	int i, round;

	for (round = 0; round < 40; round++) {
		int flows = 1 + draw(8);
		u32 gap_ns = 100 + draw(3000), rtt_ns = 5000 + draw(60000);
		u32 max = 1000000000U / gap_ns, queue = 8 + draw(8);
		struct net *n = net_new(flows, max);
		u64 warm_ns = 100ULL * (rtt_ns + flows * gap_ns * 4);
		u64 all = 0, least = -1ULL, most = 0;
		u64 span_ns = 400ULL * (rtt_ns + flows * gap_ns * 4);

		net_run(n, flows, warm_ns, gap_ns, rtt_ns, queue);
		memset(n->got, 0, sizeof(n->got));
		net_run(n, flows, warm_ns + span_ns, gap_ns, rtt_ns, queue);
		for (i = 0; i < flows; i++) {
			all += n->got[i];
			least = min_t(u64, least, n->got[i]);
			most = max_t(u64, most, n->got[i]);
		}
		CHECK(all * gap_ns > span_ns * 85 / 100);
		CHECK(all * gap_ns < span_ns * 101 / 100);
		if (least * 3 < most)
			printf("# flows %d gap %u rtt %u queue %u: %lu to %lu\n", flows,
			       gap_ns, rtt_ns, queue, least, most);
		CHECK(least * 4 > most);
		free(n);
	}
}

TEST(loop_keeps_its_bounds)
{
	int i;

	for (i = 0; i < 300; i++) {
		u32 max = 1 + draw(100000000), number = draw(1 << 22), n;
		struct fl_loop l;
		u64 now = 1 + draw(1000000);

		fl_loop_init(&l, max, draw(1 << 30));
		fl_loop_begin(&l, number);
		for (n = 0; n < 300; n++) {
			fl_loop_sent(&l, number, now);
			now += draw(4) ? draw(100000) : draw(2000000000);
			/* anything that may come in a packet */
			fl_loop_back(&l, draw(3) ? number : draw(1 << 22), now);
			fl_loop_update(&l, now);
			number = (number + 1 + draw(5)) & FL_CREDIT_NUMBER_MASK;
			CHECK(l.rate >= 1 && l.rate <= l.max);
			CHECK(l.w >= FL_LOOP_W_MIN && l.w <= FL_LOOP_W_MAX);
			CHECK(l.dropped <= l.total);
			CHECK(fl_loop_gap_ns(&l) <= l.gap_ns + (l.gap_ns >> FL_LOOP_JITTER_SHIFT));
		}
	}
}

TEST(loop_halves_its_rate_in_silence)
{
	struct fl_loop l;
	u32 was, i;

	fl_loop_init(&l, 1000000, 7);
	was = l.rate;
	fl_loop_silence(&l);
	SAME(l.rate, was / 2);
	SAME(l.gap_ns, 1000000000 / l.rate);
	for (i = 0; i < 40; i++)
		fl_loop_silence(&l);
	SAME(l.rate, FL_LOOP_RATE_MIN);
	SAME(l.w, FL_LOOP_W_MIN);
	/* never slower than a credit in an RTT */
	l.rtt_ns = 100000;
	fl_loop_silence(&l);
	SAME(l.rate, 10000);
}

TEST(loop_reordering_is_no_loss)
{
	struct fl_loop l;
	u32 n;

	fl_loop_init(&l, 1000000, 7);
	fl_loop_begin(&l, 0);
	fl_loop_back(&l, 0, 1000);
	for (n = 1; n < 101; n += 2) {
		fl_loop_back(&l, n + 1, 1000);
		fl_loop_back(&l, n, 1000);
	}
	SAME(l.total, 100);
	SAME(l.dropped, 0);
}

TEST(loop_gap_is_the_rate_on_average)
{
	struct fl_loop l;
	u64 sum = 0;
	int i;

	fl_loop_init(&l, 1000000, 12345);
	for (i = 0; i < 100000; i++)
		sum += fl_loop_gap_ns(&l);
	CHECK(sum / 100000 > 1990 && sum / 100000 < 2010);
}

/* ---- turns of a port ------------------------------------------------------------- */

TEST(turn_of_known_lines)
{
	/* 1624 bytes at 10 Gbit/s are 1299.2 ns; half of the line takes twice that */
	SAME(fl_turn_long(1624, 10000000000ULL, 1000), 332595);
	SAME(fl_turn_long(1624, 10000000000ULL, 500), 665190);
	SAME(fl_turn_long(12390, 100000000000ULL, 1000) >> 8, 991);
	/* no overflow at the ends */
	SAME(fl_turn_long(1 << 22, 1000000, 1) >> 8, FL_TURN_MAX_NS);
	CHECK(fl_turn_long(172, 1600000000000ULL, 1000) > 0);
}

/* A port gives no more than its rate in any time, and all of it when it is busy. */
TEST(turn_keeps_the_rate)
{
	int round, i;

	for (round = 0; round < 200; round++) {
		u64 turn = fl_turn_long(100 + draw(12000), 1000000ULL * (1 + draw(100000)),
					1 + draw(1000));
		struct fl_turn t = { 0 };
		u64 now = 1000, first = 0, least;

		for (i = 0; i < 1000; i++) {
			if (now < t.free_ns)
				now = t.free_ns;
			if (draw(50) == 0)
				now += draw(10 * (turn >> 8) + 1);
			fl_turn_take(&t, now, turn);
			if (!i)
				first = now;
			least = max_t(s64, i - 2 - FL_TURN_LATE, 0);
			CHECK((now - first) << 8 >= least * turn);
		}
	}
}

TEST(turn_is_full_without_gaps)
{
	struct fl_turn t = { .free_ns = 5 };
	u64 turn = fl_turn_long(1624, 10000000000ULL, 1000);
	int i;

	for (i = 0; i < 1000000; i++)
		fl_turn_take(&t, t.free_ns, turn);
	/* 1.2992 s, exact to the rounding of one turn */
	CHECK(t.free_ns > 1299195000 && t.free_ns < 1299205000);
}

/* ---- the sender's books -------------------------------------------------------- */

TEST(gate_never_more_than_a_credit_pays_for)
{
	int round, i;

	for (round = 0; round < 500; round++) {
		struct fl_gate g = { 0 };
		u64 allowed = 0, left = 0;
		u32 number = draw(FL_CREDIT_NUMBER_MASK), last = number, got;

		for (i = 0; i < 500; i++) {
			if (draw(2)) {
				u32 segs = 1 + draw(draw(2) ? 1 : 64);

				number += 1 + draw(3);
				if (fl_gate_put(&g, g.out, number, segs)) {
					g.in++;
					allowed += segs;
				} else {
					SAME(g.in - g.out, FL_GATE_DUE);
				}
			} else if (draw(8)) {
				u32 segs = 1 + draw(10), due = fl_gate_due_segs(&g, g.in);
				bool paid = fl_gate_take(&g, g.in, segs, &got);

				SAME(paid, due >= segs);
				if (paid) {
					left += segs;
					CHECK(fl_credit_ahead(got, last) >= 0);
					last = got;
				}
			} else {
				fl_gate_waste(&g, g.in);
				SAME(fl_gate_due_segs(&g, g.in), 0);
			}
			SAME(g.paid_segs, left);
			CHECK(left <= allowed);
		}
		CHECK(g.wasted <= g.credits);
		SAME(g.credits + (g.in - g.out), g.in);
	}
}

/* A credit of several segments pays for packet after packet, and counts as used. */
TEST(gate_credit_of_eight)
{
	struct fl_gate g = { 0 };
	u32 number = 0;

	CHECK(fl_gate_put(&g, 0, 9, 8));
	g.in = 1;
	CHECK(fl_gate_take(&g, 1, 3, &number));
	SAME(number, 9);
	SAME(fl_gate_due_segs(&g, 1), 5);
	CHECK(!fl_gate_take(&g, 1, 6, &number));
	SAME(g.unpaid_segs, 6);
	CHECK(fl_gate_put(&g, 0, 10, 8));
	g.in = 2;
	CHECK(fl_gate_take(&g, 2, 6, &number));
	SAME(number, 10);
	SAME(g.credits, 1);
	fl_gate_waste(&g, 2);
	SAME(g.credits, 2);
	SAME(g.wasted, 0);
}

/* Two packets that left without the lock took the same credit: nothing is due, and nothing goes
 * round 2^32 times, until credits have come after it.
 */
TEST(gate_taken_twice)
{
	struct fl_gate g = { 0 };
	u32 number = 0;

	CHECK(fl_gate_put(&g, 0, 9, 1));
	g.in = 1;
	g.out = 2;
	SAME(fl_gate_due_segs(&g, 1), 0);
	fl_gate_waste(&g, 1);
	SAME(g.out, 2);
	SAME(g.wasted, 0);
	CHECK(!fl_gate_take(&g, 1, 1, &number));
	CHECK(fl_gate_put(&g, 2, 10, 1));
	CHECK(fl_gate_put(&g, 2, 11, 1));
	g.in = 3;
	SAME(fl_gate_due_segs(&g, 3), 1);
	CHECK(fl_gate_take(&g, 3, 1, &number));
	SAME(fl_gate_due_segs(&g, 3), 0);
	/* more used of a credit than it pays for */
	CHECK(fl_gate_put(&g, 3, 12, 1));
	g.in = 4;
	g.used_segs = 2;
	SAME(fl_gate_due_segs(&g, 4), 0);
}

/* Sender and receiver agree on the last credit, whatever is lost on the way; nothing is
 * left unsent and, without losses, no credit is wasted.
 */
TEST(gate_and_want_agree)
{
	int round;

	for (round = 0; round < 2000; round++) {
		u32 segs = 1 + draw(3) * draw(8), first = 1 + draw(300), loss = draw(3) * 10;
		struct fl_gate g = { .number = draw(FL_CREDIT_NUMBER_MASK) };
		struct fl_want w = { .last = g.number, .after = g.number, .lost = g.number };
		u32 backlog = first, asked = 0, given = 0;

		while (backlog && asked < 1000) {
			struct fl_credit_msg m = { .type = FL_CREDIT_REQUEST };
			u32 number;

			if (fl_gate_must_tell(&g, backlog)) {
				fl_gate_tell(&g, backlog, &m);
				asked++;
				if (draw(100) >= loss)
					CHECK(fl_want_told(&w, m.number, m.backlog_segs, segs));
			}
			if (!fl_want_more(&w)) {
				/* both sides have timers */
				fl_want_lose(&w);
				g.told = false;
				continue;
			}
			number = fl_want_give(&w);
			given++;
			if (draw(100) < loss)
				continue;
			CHECK(fl_gate_put(&g, g.out, number, segs));
			g.in++;
			while (backlog && fl_gate_due_segs(&g, g.in)) {
				CHECK(fl_gate_take(&g, g.in, 1, &number));
				backlog--;
				m.type = FL_CREDIT_GREEN;
				m.number = number;
				fl_gate_tell(&g, backlog, &m);
				if (draw(100) >= loss)
					fl_want_told(&w, m.number, m.backlog_segs, segs);
			}
			fl_gate_waste(&g, g.in);
			if (!loss)
				SAME(fl_want_out(&w), 0);
		}
		SAME(backlog, 0);
		SAME(g.paid_segs, first);
		SAME(g.wasted, 0);
		if (!loss) {
			SAME(given, (first + segs - 1) / segs);
			SAME(asked, 1);
			CHECK(!fl_want_more(&w));
		}
	}
}

/* A sender and its receiver, a microsecond a step. */
struct promise_sim {
	struct fl_gate g;
	struct fl_want w;
	u32 segs;		/* of a credit */
	u32 backlog;
	u32 way[8];		/* credits on their way, by step modulo 8; 0: none */
	u64 now_ns;
	u32 requests;
};

#define PROMISE_SOON_NS	20000

static void promise_request(struct promise_sim *sim, u32 backlog)
{
	struct fl_credit_msg m = { .type = FL_CREDIT_REQUEST };

	fl_gate_tell(&sim->g, backlog, &m);
	fl_want_told(&sim->w, m.number, m.backlog_segs, sim->segs);
	sim->requests++;
}

/* What credits pay for leaves, and tells. */
static void promise_spend(struct promise_sim *sim)
{
	struct fl_gate *g = &sim->g;
	u32 number;

	while (sim->backlog && fl_gate_due_segs(g, g->in)) {
		struct fl_credit_msg m = { .type = FL_CREDIT_GREEN };

		CHECK(fl_gate_take(g, g->in, 1, &number));
		sim->backlog--;
		m.number = number;
		if (!sim->backlog)
			fl_gate_told_nothing(g, sim->now_ns);
		m.backlog_segs = sim->backlog + fl_gate_promise(g, 0);
		g->keeps |= m.backlog_segs > sim->backlog;
		fl_gate_tell(g, m.backlog_segs, &m);
		fl_want_told(&sim->w, m.number, m.backlog_segs, sim->segs);
	}
	if (fl_gate_due_segs(g, g->in) &&
	    !fl_gate_keep_ns(g, sim->now_ns, PROMISE_SOON_NS)) {
		fl_gate_waste(g, g->in);
		if (g->told)
			promise_request(sim, 0);
	}
	if (sim->backlog && fl_gate_must_tell(g, sim->backlog)) {
		fl_gate_writes(g, sim->now_ns, PROMISE_SOON_NS);
		promise_request(sim, sim->backlog + fl_gate_promise(g, 0));
	}
}

/* Time goes by. */
static void promise_steps(struct promise_sim *sim, u32 steps)
{
	while (steps--) {
		u32 at = sim->now_ns / 1000 % ARRAY_SIZE(sim->way);

		if (sim->way[at]) {
			if (fl_gate_put(&sim->g, sim->g.out, sim->way[at], sim->segs))
				sim->g.in++;
			sim->way[at] = 0;
		}
		promise_spend(sim);
		if (fl_want_more(&sim->w))
			sim->way[at] = fl_want_give(&sim->w);
		sim->now_ns += 1000;
	}
}

static struct promise_sim promise_begin(u32 segs)
{
	return (struct promise_sim) {
		.g = { .number = 1000 }, .w = { .last = 1000, .after = 1000, .lost = 1000 },
		.segs = segs, .now_ns = 1000000,
	};
}

/* An application that writes before or soon after its last write has left asks at first, and then
 * no more. Hardly anything is wasted, and each write leaves at once.
 */
TEST(promise_to_who_writes_on)
{
	u32 segs, i;

	for (segs = 1; segs <= 64; segs *= 8) {
		struct promise_sim sim = promise_begin(segs);

		for (i = 0; i < 4000; i++) {
			if (i == 2000)
				sim.requests = 0;
			sim.backlog += 5;
			promise_spend(&sim);
			if (i >= 2000)
				SAME(sim.backlog, 0);
			promise_steps(&sim, 15);
		}
		SAME(sim.requests, 0);
		SAME(sim.g.wasted, 0);
	}
}

/* One that waits for longer after each write asks each time, and is promised nothing. */
TEST(promise_nothing_to_who_pauses)
{
	struct promise_sim sim = promise_begin(8);
	u32 i;

	for (i = 0; i < 1000; i++) {
		sim.backlog += 5;
		promise_steps(&sim, 40);
		SAME(sim.backlog, 0);
	}
	SAME(sim.requests, 1000);
	SAME(sim.g.credits, 1000);
	SAME(sim.g.wasted, 0);
}

/* Whatever the application does, all leaves, and of 64 credits one is wasted at most. */
TEST(promise_is_bounded)
{
	int round;

	for (round = 0; round < 200; round++) {
		u32 segs = 1 + draw(3) * draw(8), soon = draw(100), most = 1 + draw(40), i;
		struct promise_sim sim = promise_begin(segs);

		for (i = 0; i < 2000; i++) {
			sim.backlog += 1 + draw(most);
			promise_steps(&sim, draw(100) < soon ? draw(15) : 30 + draw(50));
		}
		promise_steps(&sim, 30000);
		SAME(sim.backlog, 0);
		SAME(fl_gate_due_segs(&sim.g, sim.g.in), 0);
		CHECK(sim.g.wasted <= (sim.g.credits >> FL_GATE_PROMISE_SHIFT));
	}
}

/* Numbers that were never given, or older than what is known, change nothing. */
TEST(want_believes_no_other_numbers)
{
	struct fl_want w = { 0 };
	int i;

	CHECK(fl_want_told(&w, 0, 1000, 1));
	for (i = 0; i < 500; i++)
		fl_want_give(&w);
	CHECK(fl_want_told(&w, 400, 10, 1));
	CHECK(!fl_want_told(&w, 501, 65535, 1));
	CHECK(!fl_want_told(&w, 399, 65535, 1));
	SAME(w.credits, 10);
	SAME(fl_want_out(&w), 100);
	CHECK(!fl_want_more(&w));
	fl_want_lose(&w);
	CHECK(fl_want_more(&w));
}

UNIT_MAIN
