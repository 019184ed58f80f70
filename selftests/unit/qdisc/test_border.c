// SPDX-License-Identifier: GPL-2.0
/*
 * MLCC's border router, qdisc/core/border.h, in the network of packetnet.h: flows from another
 * datacenter come over a long line, wait in queues by flow, and share a port (and hosts' links)
 * with flows of the datacenter, which are HPCC's.
 *
 *	senders --RTT_C / 2--> queues --> port of the router --> leaf --> host's link
 *
 * Figures 8 and 9 of the paper, many flows to one host, senders that do not use what they are told,
 * lost options, and set-ups at random.
 */
#include <math.h>
#include <stdlib.h>

#include "core/border.h"
#include "core/load.h"
#include "packetnet.h"
#include "unit.h"

#define FLOWS_MAX	256
#define HOSTS_MAX	64
#define LINKS_MAX	(2 + HOSTS_MAX)
#define SHOT_NS		100000
#define SHOTS		4096

enum { OUT = PN_OWN, COME, GO, HEAR, SHOT };

/* A number above all delays in ns, for packetnet keeps the larger. */
#define TOLD_CODE	1e12

struct flow {
	bool cross;
	/* of one behind the router: what it is told, its own limit, its queue */
	double rate, limit;
	struct bd_flow bd;
	u32 queued, host, odd;
	bool known;
	/* of one of the datacenter */
	struct hp_core hp;
	double base_ns;
	u32 turn;
	bool started;
};

struct host {
	struct bd_host bd;
	u32 turn;
	bool known, timer;
};

/* A set-up, and what came out. */
struct setup {
	double line_bps, leaf_bps, port_bps, cross_ns, near_ns;
	int cross, intra, hosts;
	enum dqm_form form;
	u32 theta_ns, loss_permille;
	/* of cross flows; 0: 1000 */
	u32 weight_milli;
	/* cross flows send at most this; 0: the line */
	double limit_bps;
	u32 seed;
};

static struct {
	struct pn net;
	struct setup set;
	struct bd_par par;
	struct hp_par hpcc;
	struct fabric_load load[LINKS_MAX];
	struct flow flow[FLOWS_MAX];
	struct host host[HOSTS_MAX];
	double queue_bytes[SHOTS], delay_ms[SHOTS];
	int shots;
} run;

static double wire(void)
{
	return run.net.wire_bytes;
}

/* ---- hosts of the datacenter ------------------------------------------------- */

static u32 window(struct pn *n, u32 f)
{
	const struct flow *fl = &run.flow[f];

	(void)n;
	if (fl->cross)
		return 0;
	return fl->started ? fl->hp.rate * fl->base_ns / 1e9 / wire() + 2 : 10;
}

static double gap_ns(struct pn *n, u32 f)
{
	const struct flow *fl = &run.flow[f];

	(void)n;
	return fl->started ? wire() * 1e9 / fl->hp.rate : wire() * 8e9 / run.set.line_bps;
}

static u16 code_of(double told)
{
	return told >= TOLD_CODE ? told - TOLD_CODE : 0;
}

/* ---- the router -------------------------------------------------------------- */

static void serve(u32 number);

static void wake(u32 number)
{
	struct host *h = &run.host[number];
	double at = bd_ready_ns(&h->bd);

	if (h->timer || !h->bd.waiting)
		return;
	h->timer = true;
	pn_at(&run.net, at > run.net.now_ns ? at : run.net.now_ns, 0, GO, number);
}

/* The host's next packet leaves: queues in turn. */
static void serve(u32 number)
{
	struct host *h = &run.host[number];
	struct flow *fl = NULL;
	int i;

	h->timer = false;
	if (!h->bd.waiting)
		return;
	for (i = 0; i < run.set.cross; i++) {
		h->turn = (h->turn + 1) % run.set.cross;
		fl = &run.flow[h->turn];
		if (fl->host == number && fl->bd.queue_bytes)
			break;
	}
	CHECK(fl && fl->host == number && fl->bd.queue_bytes);
	bd_leave(&h->bd, &fl->bd, &run.par, run.net.wire_bytes, run.net.wire_bytes,
		 (run.net.flow[h->turn].sent + 1) * 1000, run.net.now_ns);
	pn_packet(&run.net, h->turn, run.net.wire_bytes, false);
	wake(number);
}

static void come(u32 f)
{
	struct flow *fl = &run.flow[f];
	struct host *h = &run.host[fl->host];
	u64 now_ns = run.net.now_ns;

	if (!h->known)
		bd_host_init(&h->bd, &run.par, now_ns);
	h->known = true;
	if (!fl->known || bd_stale(&fl->bd, now_ns))
		bd_flow_init(&fl->bd, &h->bd, &run.par, run.set.cross_ns, now_ns);
	fl->known = true;
	if (!h->bd.waiting)
		bd_wake(&h->bd, &run.par, now_ns);
	bd_arrive(&h->bd, &fl->bd, run.net.wire_bytes, now_ns);
	wake(fl->host);
}

/* An ACK at the router, for every second packet. */
static void credited(const struct pn_event *ev)
{
	struct flow *fl = &run.flow[ev->flow];
	struct host *h = &run.host[fl->host];
	u32 ack = ev->value * 1000;

	if (++fl->odd & 1)
		return;
	CHECK(bd_acks(&fl->bd, ack));
	if (pn_random(&run.net) % 1000 >= run.set.loss_permille)
		bd_echo(&h->bd, &fl->bd, &run.par, ack, code_of(ev->told), run.net.now_ns);
	pn_at(&run.net, run.net.now_ns + run.set.cross_ns / 2, ev->flow, HEAR,
	      fl_load_rate_code(bd_tell(&h->bd, &fl->bd, &run.par, run.net.now_ns)));
}

/* ---- both ---------------------------------------------------------------------- */

static void acked(struct pn *n, const struct pn_event *ev)
{
	struct flow *fl = &run.flow[ev->flow];
	struct pn_flow *pf = &n->flow[ev->flow];
	double rtt_ns = n->now_ns - ev->sent;
	bool turned;

	if (fl->cross) {
		credited(ev);
		return;
	}
	pf->in_flight--;
	if (!fl->started || rtt_ns < fl->base_ns)
		fl->base_ns = rtt_ns;
	if (!fl->started)
		hp_init(&fl->hp, &run.hpcc, 10 * wire() * 1e9 / rtt_ns);
	fl->started = true;
	turned = pf->sent - pf->in_flight >= fl->turn;
	if (turned)
		fl->turn = pf->sent + 1;
	hp_on_load(&fl->hp, &run.hpcc, fl_load_of(code_of(ev->told)), turned, false);
	pn_send(n, ev->flow);
}

static void passed(struct pn *n, struct pn_event *ev, double start_ns, double delay_ns)
{
	const struct flow *fl = &run.flow[ev->flow];
	u32 link = n->flow[ev->flow].path[ev->hop - 1];
	struct fabric_load *load = &run.load[link];
	u8 time = fl->cross ? bd_time(&run.host[fl->host].bd, &run.par) :
			      fl_load_rtt(fl->started ? fl->base_ns : run.set.near_ns);
	u16 code;

	load->bytes += ev->bytes;
	code = fl_load_code(fabric_load_tell(load, time, delay_ns * n->link[link].bps / 8e9,
					     start_ns));
	if (TOLD_CODE + code > ev->told)
		ev->told = TOLD_CODE + code;
}

static void shoot(void)
{
	double bytes = 0, delay = 0;
	int i;

	for (i = 0; i < run.set.cross; i++) {
		const struct flow *fl = &run.flow[i];

		bytes += fl->bd.queue_bytes;
		if (fl->known)
			delay += fl->bd.queue_bytes * 1e3 / bd_share(&run.host[fl->host].bd);
	}
	if (run.shots < SHOTS) {
		run.queue_bytes[run.shots] = bytes;
		run.delay_ms[run.shots++] = delay / run.set.cross;
	}
	pn_at(&run.net, run.net.now_ns + SHOT_NS, 0, SHOT, 0);
}

static void own(struct pn *n, const struct pn_event *ev)
{
	struct flow *fl = &run.flow[ev->flow];
	double rate = fl->rate;

	switch (ev->what) {
	case PN_START:
		if (fl->cross)
			pn_at(n, n->now_ns, ev->flow, OUT, 0);
		else
			pn_send(n, ev->flow);
		break;
	case OUT:
		if (fl->limit && rate > fl->limit)
			rate = fl->limit;
		pn_at(n, n->now_ns + run.set.cross_ns / 2, ev->flow, COME, 0);
		if (n->flow[ev->flow].alive)
			pn_at(n, n->now_ns + wire() * 1e9 / rate, ev->flow, OUT, 0);
		break;
	case COME:
		come(ev->flow);
		break;
	case GO:
		serve(ev->value);
		break;
	case HEAR:
		fl->rate = fl_load_rate_of(ev->value);
		if (fl->rate > run.set.line_bps / 8)
			fl->rate = run.set.line_bps / 8;
		break;
	case SHOT:
		shoot();
	}
}

static const struct pn_control control = {
	.window = window, .gap_ns = gap_ns, .acked = acked, .own = own, .passed = passed,
	.late_made_up = true,
};

/* Flows 0 to cross - 1 are from far, to the first of the hosts; the others to those after them. */
static void begin(const struct setup *s)
{
	struct hp_conf cf = {
		.line_bps = s->line_bps, .eta_permille = 950, .stages = 5, .flows = 4,
		.weight_milli = 1000,
	};
	int i, all = s->cross + s->intra;

	memset(&run, 0, sizeof(run));
	run.set = *s;
	bd_par_init(&run.par, s->line_bps, s->weight_milli ?: HP_WEIGHT_ONE_MILLI, s->form, 1000000,
		    s->theta_ns);
	hp_par_init(&run.hpcc, &cf);
	pn_init(&run.net, &control, LINKS_MAX, all, PN_WIRE * 8e9 / s->port_bps, s->seed);
	for (i = 0; i < LINKS_MAX; i++) {
		run.net.link[i].bps = i == 0 ? s->port_bps : i == 1 ? s->leaf_bps : s->line_bps;
		fabric_load_set(&run.load[i], run.net.link[i].bps, false);
	}
	for (i = 0; i < all; i++) {
		struct pn_flow *pf = &run.net.flow[i];
		struct flow *fl = &run.flow[i];

		fl->cross = i < s->cross;
		fl->host = fl->cross ? i % s->hosts : 0;
		fl->rate = s->line_bps / 8;
		fl->limit = s->limit_bps / 8;
		pf->path[pf->hops++] = fl->cross ? 0 : 1;
		if (fl->cross)
			pf->path[pf->hops++] = 1;
		pf->path[pf->hops++] = 2 + (fl->cross ? i % s->hosts :
					    (s->hosts + i - s->cross) % HOSTS_MAX);
		pf->step_ns = s->near_ns / 2 / pf->hops;
		pf->back_ns = s->near_ns / 2;
		fl->base_ns = s->near_ns;
		pn_at(&run.net, (fl->cross ? 1e6 : 0) + i * 100, i, PN_START, 0);
	}
	pn_at(&run.net, 0, 0, SHOT, 0);
}

static double jain(int from, int to)
{
	double sum = 0, squares = 0;
	int i;

	for (i = from; i < to; i++) {
		sum += run.net.flow[i].bytes;
		squares += run.net.flow[i].bytes * run.net.flow[i].bytes;
	}
	return squares > 0 ? sum * sum / squares / (to - from) : 0;
}

/* When queues are within a part of the target for good; from time @from_ms on. */
static double settled_ms(double part, double target_ms)
{
	int i, last = 0;

	for (i = 0; i < run.shots; i++) {
		if (run.delay_ms[i] < target_ms * (1 - part) ||
		    run.delay_ms[i] > target_ms * (1 + part))
			last = i;
	}
	return last * (SHOT_NS / 1e6);
}

static double most(const double *v, int from)
{
	double m = 0;
	int i;

	for (i = from; i < run.shots; i++)
		m = v[i] > m ? v[i] : m;
	return m;
}

/* ---- one step at a time ---------------------------------------------------------- */

#define CROSS_NS	6000000U
#define FULL		1500U
#define LINE_BPS	1000000000ULL

static struct bd_par one_par;
static struct bd_host one;
static struct bd_flow one_flow;

/* A host on 1 Gbit/s with one flow, at @now_ns. */
static void alone(u64 now_ns)
{
	memset(&one_flow, 0, sizeof(one_flow));
	bd_par_init(&one_par, LINE_BPS, HP_WEIGHT_ONE_MILLI, DQM_FILTER, 1000000, 0);
	bd_host_init(&one, &one_par, now_ns);
	bd_flow_init(&one_flow, &one, &one_par, CROSS_NS, now_ns);
}

/* A packet comes and leaves at once. */
static void passes(u32 end, u64 now_ns)
{
	bd_arrive(&one, &one_flow, FULL, now_ns);
	bd_leave(&one, &one_flow, &one_par, FULL, FULL + 38, end, now_ns);
}

TEST(a_flow_is_stale_when_nothing_came_for_two_round_trips)
{
	alone(1000);
	CHECK(!bd_stale(&one_flow, 1000 + 2ULL * CROSS_NS));
	CHECK(bd_stale(&one_flow, 1001 + 2ULL * CROSS_NS));
	bd_arrive(&one, &one_flow, FULL, 5000);
	CHECK_EQ(one.waiting, 1U);
	CHECK(!bd_stale(&one_flow, 5001 + 2ULL * CROSS_NS));
	bd_forget(&one, &one_flow, FULL);
	CHECK_EQ(one.waiting, 0U);
	CHECK(!bd_stale(&one_flow, 5000 + 2ULL * CROSS_NS));
	CHECK(bd_stale(&one_flow, 5001 + 2ULL * CROSS_NS));
	/* A flow that comes again is as new: what it acknowledged before says nothing. */
	one_flow.left = true;
	one_flow.round = one.round;
	bd_flow_init(&one_flow, &one, &one_par, CROSS_NS, 20000000);
	CHECK(!one_flow.left && one_flow.round != one.round);
	CHECK(!bd_stale(&one_flow, 20000000 + 2ULL * CROSS_NS));
}

TEST(a_host_s_rate_is_forgotten_after_silence)
{
	u64 now_ns = 1000000, cut;
	int i;

	/* a new host is not silent */
	alone(50000000);
	CHECK_EQ(one.flows, BIT(BD_FLOWS_SHIFT));
	one.hp.rate = 1000;
	bd_wake(&one, &one_par, 50000001);
	CHECK_EQ(one.hp.rate, 1000U);
	alone(now_ns);
	CHECK_EQ(one.hp.rate, LINE_BPS / 8);
	CHECK_EQ(bd_ready_ns(&one), now_ns);
	passes(FULL, now_ns);
	for (i = 0; i < 20; i++) {
		now_ns += 200000;
		bd_echo(&one, &one_flow, &one_par, FULL,
			fl_load_code(2ULL << FL_LOAD_SHIFT), now_ns);
	}
	cut = one.hp.rate;
	CHECK(cut < LINE_BPS / 8 / 2);
	bd_wake(&one, &one_par, now_ns + 9999999);
	CHECK_EQ(one.hp.rate, cut);
	one.flows = 5 << BD_FLOWS_SHIFT;
	bd_wake(&one, &one_par, now_ns + 10000000);
	CHECK_EQ(one.hp.rate, LINE_BPS / 8);
	CHECK_EQ(one.flows, BIT(BD_FLOWS_SHIFT));
	/* once */
	one.hp.rate = cut;
	bd_wake(&one, &one_par, now_ns + 10000001);
	CHECK_EQ(one.hp.rate, cut);
}

/* A rate of a packet in many milliseconds: there is nothing to hear in between. */
TEST(who_is_slow_is_not_silent)
{
	const u64 packet_ns = 1538 * 1000000ULL, now_ns = 1000000;
	int i;

	alone(now_ns);
	one.hp.rate = 1000;
	bd_wake(&one, &one_par, now_ns + 4 * packet_ns - 1);
	CHECK_EQ(one.hp.rate, 1000U);
	bd_wake(&one, &one_par, now_ns + 4 * packet_ns);
	CHECK_EQ(one.hp.rate, LINE_BPS / 8);
	one_flow.dqm.tell = 1000;
	CHECK(!bd_stale(&one_flow, now_ns + 4 * packet_ns - 1));
	CHECK(bd_stale(&one_flow, now_ns + 4 * packet_ns));
	/* nor does it stay slow, with the least of steps */
	alone(now_ns);
	one_par.weight_milli = 1;
	bd_arrive(&one, &one_flow, FULL, now_ns);
	one.hp.rate = 1;
	hp_turn(&one.hp, &one.law);
	for (i = 0; i < 40; i++)
		bd_echo(&one, &one_flow, &one_par, 0, fl_load_code((1ULL << FL_LOAD_SHIFT) / 10),
			now_ns + (i + 1) * 1000000ULL);
	CHECK_EQ(one.weight_milli, 1U);
	CHECK_EQ(one.hp.rate, LINE_BPS / 8);
}

TEST(what_was_not_sent_is_not_acknowledged)
{
	alone(0);
	CHECK(!bd_acks(&one_flow, 0));
	bd_pass(&one_flow, 1);
	CHECK(!bd_acks(&one_flow, 1));
	passes(2 * FULL, 0);
	CHECK(bd_acks(&one_flow, 2 * FULL));
	CHECK(bd_acks(&one_flow, 0));
	CHECK(!bd_acks(&one_flow, 2 * FULL + 1));
	CHECK(bd_acks(&one_flow, 2 * FULL - (BD_ACK_WINDOW - 1)));
	CHECK(!bd_acks(&one_flow, 2 * FULL - BD_ACK_WINDOW));
	/* a retransmission does not take back what has left */
	passes(FULL, 10);
	CHECK_EQ(one_flow.end, 2 * FULL);
	/* a FIN that did not wait: behind it, but not behind an old one */
	bd_pass(&one_flow, 2 * FULL + 1);
	CHECK(bd_acks(&one_flow, 2 * FULL + 1));
	CHECK(!bd_acks(&one_flow, 2 * FULL + 2));
	bd_pass(&one_flow, FULL + 1);
	CHECK_EQ(one_flow.end, 2 * FULL + 1);
	one_flow.shared = true;
	CHECK(bd_acks(&one_flow, 99 * FULL));
}

/* A packet with the addresses and ports of a flow and any number: the flow's own count after it. */
TEST(a_forged_packet_is_forgotten)
{
	static const u32 forged[] = {
		BD_ACK_WINDOW / 2 * 3, BIT(31), -(BD_ACK_WINDOW / 2 * 3), -BD_ACK_WINDOW,
	};
	u32 i, end = 7 * FULL;

	for (i = 0; i < ARRAY_SIZE(forged); i++) {
		alone(0);
		passes(end, 0);
		bd_echo(&one, &one_flow, &one_par, end, 0, BD_NEAR_MAX_NS);
		/* it is the first of the round: its ACK comes at once, and is none */
		passes(end + forged[i], BD_NEAR_MAX_NS);
		bd_echo(&one, &one_flow, &one_par, end + forged[i], 0, BD_NEAR_MAX_NS + 1);
		CHECK_EQ(one.base_ns, (u32)BD_NEAR_MAX_NS);
		passes(end + FULL, BD_NEAR_MAX_NS);
		CHECK(bd_acks(&one_flow, end));
		CHECK(bd_acks(&one_flow, end + FULL));
		CHECK(!bd_acks(&one_flow, end + FULL + 1));
		/* nor the end of a flow */
		bd_pass(&one_flow, end + FULL + forged[i]);
		CHECK(bd_acks(&one_flow, end));
		CHECK(!bd_acks(&one_flow, end + FULL + 1));
		/* a round has an RTT again */
		passes(end + 2 * FULL, BD_NEAR_MAX_NS);
		bd_echo(&one, &one_flow, &one_par, end + 2 * FULL, 0, BD_NEAR_MAX_NS + 20000);
		CHECK_EQ(one.base_ns, 20000U);
	}
}

TEST(a_round_ends_with_new_data_s_ack_or_after_two_round_trips)
{
	u16 calm = fl_load_code((1ULL << FL_LOAD_SHIFT) / 2);
	u64 ns = 1000000;

	alone(0);
	CHECK_EQ(one_par.least_ns, BD_LEAST_PKTS * 1538 * 8U);
	CHECK_EQ(one.round, 1U);
	passes(FULL, ns);
	passes(2 * FULL, ns + 10);
	/* of before the round's mark */
	bd_echo(&one, &one_flow, &one_par, FULL - 1, calm, ns + 40000);
	CHECK(!one.base_ns && one.round == 2);	/* two round trips of the default are over */
	passes(3 * FULL, ns + 100000);
	bd_echo(&one, &one_flow, &one_par, 2 * FULL, calm, ns + 100010);
	CHECK_EQ(one.round, 2U);
	/* acknowledged too early for the fewest packets: heard, but the round goes on */
	bd_echo(&one, &one_flow, &one_par, 3 * FULL, calm, ns + 120000);
	CHECK_EQ(one.round, 2U);
	CHECK_EQ(one.base_ns, 20000U);
	CHECK(one.answered);
	bd_echo(&one, &one_flow, &one_par, 3 * FULL, calm, ns + 40000 + one_par.least_ns);
	CHECK_EQ(one.round, 3U);
	CHECK(!one.answered);
	/* the average moves by an eighth, the least stays */
	ns += 40000 + one_par.least_ns;
	passes(4 * FULL, ns);
	bd_echo(&one, &one_flow, &one_par, 4 * FULL, calm, ns + 100000);
	CHECK_EQ(one.base_ns, 20000U);
	CHECK_EQ(one.rtt_ns, 30000U);
	CHECK_EQ(one.round, 4U);
	/* nothing is acknowledged of what left: two round trips, and not less than least_ns */
	ns += 100000;
	one.rtt_ns = one_par.least_ns;
	bd_echo(&one, &one_flow, &one_par, 4 * FULL, calm, ns + 2 * one_par.least_ns);
	CHECK_EQ(one.round, 4U);
	bd_echo(&one, &one_flow, &one_par, 4 * FULL, calm, ns + 2 * one_par.least_ns + 1);
	CHECK_EQ(one.round, 5U);
}

/* One of many handshakes that takes a second, or no time, changes little for the others. */
TEST(one_handshake_is_not_believed_of_all)
{
	u32 ns = 1000000, i;

	CHECK_EQ(bd_cross_ns(ns, 1010000), 1010000U);
	CHECK_EQ(bd_cross_ns(ns, 1000000000), 1125000U);
	CHECK_EQ(bd_cross_ns(ns, BD_NEAR_MIN_NS), 875000U);
	CHECK_EQ(bd_cross_ns(BD_NEAR_MIN_NS, BD_NEAR_MIN_NS), (u32)BD_NEAR_MIN_NS);
	CHECK_EQ(bd_cross_ns(1000000000, 1000000000), 1000000000U);
	/* all of them do */
	for (i = 0; i < 20; i++)
		ns = bd_cross_ns(ns, 5000000);
	CHECK_EQ(ns, 5000000U);
}

TEST(a_sender_is_told_in_steps)
{
	u64 told, step_ns;

	alone(0);
	step_ns = one_flow.dqm.step_ns;
	bd_arrive(&one, &one_flow, 100 * FULL, 0);
	told = one_flow.dqm.tell;
	CHECK_EQ(bd_tell(&one, &one_flow, &one_par, step_ns - 1), told);
	CHECK_EQ(one_flow.step_ns, 0U);
	bd_tell(&one, &one_flow, &one_par, step_ns);
	CHECK_EQ(one_flow.step_ns, step_ns);
	/* what is over of a step is not lost */
	bd_tell(&one, &one_flow, &one_par, 4 * step_ns - 1);
	CHECK_EQ(one_flow.step_ns, 3 * step_ns);
	CHECK(one_flow.dqm.tell < told);
}

TEST(more_flows_than_can_be_counted)
{
	u32 i, before = 0;

	alone(0);
	one.waiting = 100000;
	for (i = 0; i < 2000; i++) {
		passes(i * FULL, i * 12304ULL);
		CHECK(one.flows >= before);
		before = one.flows;
	}
	CHECK(one.flows >> BD_FLOWS_SHIFT >= 65000);
	CHECK(bd_share(&one) > 0);
}

TEST(steps_are_those_of_flows_that_wait)
{
	u32 i, before;

	alone(0);
	CHECK_EQ(one.weight_milli, 1000U);
	CHECK_EQ(bd_share(&one), LINE_BPS / 8);
	one.waiting = 3;
	for (i = 0; i < 1000; i++)
		passes(i * FULL, i * 12304ULL);
	/* the one that passes counts while it does */
	CHECK(one.flows > 39 * BIT(BD_FLOWS_SHIFT) / 10 && one.flows <= 4 * BIT(BD_FLOWS_SHIFT));
	CHECK_EQ(bd_share(&one), one.hp.rate * BIT(BD_FLOWS_SHIFT) / one.flows);
	before = one.law.step_bytes;
	one.round_ns = 0;
	bd_echo(&one, &one_flow, &one_par, 0, fl_load_code(1), 1000000000);
	CHECK_EQ(one.weight_milli, 4000U);
	CHECK(one.law.step_bytes > 3 * before && one.law.step_bytes <= 4 * before);
	/* each of them with its weight, up to what there is room for */
	one_par.weight_milli = 500;
	one.round_ns = 0;
	bd_echo(&one, &one_flow, &one_par, 0, fl_load_code(1), 2000000000);
	CHECK_EQ(one.weight_milli, 2000U);
	one_par.weight_milli = 8000;
	one.round_ns = 0;
	bd_echo(&one, &one_flow, &one_par, 0, fl_load_code(1), 3000000000);
	CHECK_EQ(one.weight_milli, 1000U * BD_WEIGHT_MAX);
	/* weights count in all, not flows: 64 of little weight have theirs */
	one.flows = 64 << BD_FLOWS_SHIFT;
	one_par.weight_milli = 10;
	one.round_ns = 0;
	bd_echo(&one, &one_flow, &one_par, 0, fl_load_code(1), 4000000000);
	CHECK_EQ(one.weight_milli, 640U);
	one.flows = 4096 << BD_FLOWS_SHIFT;
	one_par.weight_milli = 8000;
	one.round_ns = 0;
	bd_echo(&one, &one_flow, &one_par, 0, fl_load_code(1), 5000000000);
	CHECK_EQ(one.weight_milli, 1000U * BD_WEIGHT_MAX);
}

/* Ports do not agree on the time to the microsecond. */
TEST(a_time_of_before_is_no_silence)
{
	u64 told, rate;

	alone(1000000000);
	bd_echo(&one, &one_flow, &one_par, FULL, fl_load_code(2ULL << FL_LOAD_SHIFT), 1000200000);
	bd_echo(&one, &one_flow, &one_par, FULL, fl_load_code(2ULL << FL_LOAD_SHIFT), 1000400000);
	rate = one.hp.rate;
	CHECK(rate < LINE_BPS / 8);
	bd_wake(&one, &one_par, 1000399000);
	CHECK_EQ(one.hp.rate, rate);
	/* neither a round nor a step, and none is lost */
	told = one.round;
	bd_echo(&one, &one_flow, &one_par, FULL, fl_load_code(1), one.round_ns - 1);
	CHECK_EQ(one.round, told);
	bd_flow_init(&one_flow, &one, &one_par, CROSS_NS, 2000000000);
	told = one_flow.dqm.tell;
	CHECK_EQ(bd_tell(&one, &one_flow, &one_par, 1999999000), told);
	CHECK_EQ(one_flow.step_ns, 2000000000U);
	CHECK(!bd_stale(&one_flow, 1999999000));
}

/* Late by less than BD_BURST_NS is made up for, by more is lost. */
TEST(packets_leave_at_the_rate)
{
	u64 packet_ns;

	alone(1000000);
	packet_ns = (FULL + 38) * 8;
	passes(FULL, 1000000);
	CHECK_EQ(bd_ready_ns(&one), 1000000 + packet_ns);
	passes(2 * FULL, 1000000 + packet_ns + BD_BURST_NS);
	CHECK_EQ(bd_ready_ns(&one), 1000000 + 2 * packet_ns);
	passes(3 * FULL, 9000000);
	CHECK_EQ(bd_ready_ns(&one), 9000000 - BD_BURST_NS + packet_ns);
}

/* ---- figures ------------------------------------------------------------------- */

static const struct setup figure9 = {
	.line_bps = 25e9, .leaf_bps = 100e9, .port_bps = 100e9, .cross_ns = 6040000,
	.near_ns = 22000, .cross = 4, .intra = 4, .hosts = 4, .seed = 1,
};

static double figure(enum dqm_form form, u32 theta_ns, double ms)
{
	struct setup s = figure9;
	double settled, used;

	s.form = form;
	s.theta_ns = theta_ns;
	begin(&s);
	pn_run(&run.net, 9e6);
	pn_clear(&run.net);
	pn_run(&run.net, ms * 1e6);
	settled = settled_ms(.25, 1) - 4;
	used = run.net.link[1].busy_ns / (ms * 1e6 - 9e6);
	printf("# form %d, theta %u: J %.4f, leaf %.3f, its queue mean %.2f max %.1f us, peak %.1f, rest %.1f MB, settled %.1f ms\n",
	       form, theta_ns, jain(0, 8), used,
	       run.net.link[1].delay_sum_ns / run.net.link[1].packets / 1e3,
	       run.net.link[1].delay_max_ns / 1e3, most(run.queue_bytes, 0) / 1e6,
	       run.queue_bytes[run.shots - 1] / 1e6, settled);
	CHECK_MSG(jain(0, 8) > .95, "%.4f", jain(0, 8));
	CHECK_MSG(used > .9, "%.3f", used);
	pn_free(&run.net);
	return settled;
}

TEST(figures_8_and_9)
{
	double ms;

	ms = figure(DQM_FILTER, 0, 60);
	CHECK_MSG(ms <= 25, "%.1f ms", ms);
	ms = figure(DQM_DAMPED, 18000000, 100);
	CHECK_MSG(ms <= 60, "%.1f ms", ms);
}

/* ---- what the paper does not show ------------------------------------------------ */

struct result {
	/* Jain's index of all, of those from far; what the link is used, and could be */
	double fair, fair_cross, used, could, queue_us;
	/* of one of the flows from far */
	double cross_bps;
};

/* From @from_ms to @until_ms. */
static struct result measure(const struct setup *s, const char *name, double from_ms,
			     double until_ms)
{
	/* the link that is full: a host's, or the leaf's */
	bool host = s->hosts * s->line_bps < s->leaf_bps && !s->intra;
	int i, link = host ? 2 : 1;
	struct result r;

	begin(s);
	pn_run(&run.net, from_ms * 1e6);
	pn_clear(&run.net);
	pn_run(&run.net, until_ms * 1e6);
	r.used = 0;
	for (i = link; i < (host ? 2 + s->hosts : 2); i++)
		r.used += run.net.link[i].busy_ns / ((until_ms - from_ms) * 1e6) /
			  (host ? s->hosts : 1);
	r.fair = jain(0, s->cross + s->intra);
	r.fair_cross = jain(0, s->cross);
	r.could = host ? 1 : fmin(1, (s->hosts + fmin(s->intra, HOSTS_MAX - s->hosts)) *
				  s->line_bps / s->leaf_bps);
	r.queue_us = run.net.link[link].delay_max_ns / 1e3;
	r.cross_bps = run.net.flow[0].bytes * 8e3 / (until_ms - from_ms);
	printf("# %s: J %.4f, cross alone %.4f, used %.3f, its queue mean %.2f max %.1f us, router peak %.1f, now %.1f MB, %.2f ms, settled %.1f ms\n",
	       name, r.fair, r.fair_cross, r.used,
	       run.net.link[link].delay_sum_ns / (run.net.link[link].packets + 1.) / 1e3,
	       r.queue_us, most(run.queue_bytes, 0) / 1e6, run.queue_bytes[run.shots - 1] / 1e6,
	       run.delay_ms[run.shots - 1], settled_ms(.25, 1));
	pn_free(&run.net);
	return r;
}

/* The ratio of shares of flows from far and of others, from @from_ms to @until_ms, as a part of the
 * weight. The caller frees.
 */
static double weigh(struct setup *s, u32 milli, double from_ms, double until_ms)
{
	double cross = 0, intra = 0, part;
	int i;

	s->weight_milli = milli;
	begin(s);
	pn_run(&run.net, from_ms * 1e6);
	pn_clear(&run.net);
	pn_run(&run.net, until_ms * 1e6);
	for (i = 0; i < s->cross; i++)
		cross += run.net.flow[i].bytes;
	for (i = s->cross; i < s->cross + s->intra; i++)
		intra += run.net.flow[i].bytes;
	part = cross / s->cross / (intra / s->intra) / (milli / 1e3);
	printf("# weight %.3g, %d flows: %.3f of it, %.3f of the line used\n", milli / 1e3,
	       s->cross, part, (cross + intra) * 8e3 / (until_ms - from_ms) / s->port_bps);
	return part;
}

/* The policy between flows from far and those of the datacenter. The first burst takes a slow host
 * the longer; the last weight is as much as a host has in all.
 */
TEST(weights_of_flows_from_far)
{
	static const u32 milli[] = { 10, 100, 250, 500, 2000, 4000, 8000 };
	struct setup s = figure9;
	double part;
	u32 k;

	for (k = 0; k < ARRAY_SIZE(milli); k++) {
		part = milli[k] < 100 ? weigh(&s, milli[k], 70, 90) : weigh(&s, milli[k], 30, 60);
		CHECK_MSG(part > .9 && part < (milli[k] < 100 ? 1.2 : 1.1), "%.3f", part);
		CHECK_MSG(jain(0, 4) > .99, "%.4f", jain(0, 4));
		pn_free(&run.net);
	}
}

/* A packet in 8 to 13 ms for a host, less than one in RTT_C: that is no silence, after which the
 * host would begin with the line's rate again, and the sender would be told it.
 */
TEST(least_weight)
{
	struct setup s = figure9;
	double part;
	int i;

	s.line_bps = 1e9;
	s.leaf_bps = 4e9;
	s.port_bps = 4e9;
	s.near_ns = 150000;
	part = weigh(&s, 1, 3000, 4000);
	CHECK_MSG(part > .9 && part < 2, "%.3f", part);
	CHECK_MSG(jain(0, 4) > .99, "%.4f", jain(0, 4));
	for (i = 0; i < s.cross; i++)
		CHECK_MSG(run.flow[i].bd.queue_bytes < 10 * wire(), "%u",
			  run.flow[i].bd.queue_bytes);
	pn_free(&run.net);
}

/* Little weights add up to what many flows to one host have. */
TEST(many_flows_of_little_weight)
{
	struct setup s = figure9;
	double part;

	s.hosts = 1;
	s.cross = 32;
	part = weigh(&s, 25, 60, 120);
	CHECK_MSG(part > .9 && part < 1.2, "%.3f", part);
	CHECK_MSG(jain(0, 32) > .95, "%.4f", jain(0, 32));
	pn_free(&run.net);
}

TEST(many_flows_to_one_host)
{
	static const int flows[] = { 16, 64, 128 };
	struct setup s = figure9;
	struct result r;
	size_t i;

	s.hosts = 1;
	s.intra = 0;
	for (i = 0; i < ARRAY_SIZE(flows); i++) {
		s.cross = flows[i];
		r = measure(&s, "to one host", 30, 60);
		CHECK_MSG(r.fair > .95, "%.4f", r.fair);
		CHECK_MSG(r.used > .94, "%.3f", r.used);
	}
}

/* Flows to one host have what each would have alone: the host's steps are those of all. */
TEST(few_flows_to_one_host_beside_others)
{
	struct setup s = figure9;
	struct result r;

	s.hosts = 1;
	s.intra = 16;
	r = measure(&s, "four to one host beside 16", 15, 25);
	CHECK_MSG(r.fair > .95, "%.4f", r.fair);
}

TEST(lost_options)
{
	struct setup s = figure9;
	struct result r;

	s.loss_permille = 500;
	r = measure(&s, "half of the options lost", 10, 60);
	CHECK_MSG(r.fair > .95, "%.4f", r.fair);
}

/* Senders that cannot send more: what is left of the line is used, and they are not told less
 * than they send.
 */
TEST(senders_with_limits)
{
	struct setup s = figure9;
	struct result r;

	s.limit_bps = 5e9;
	r = measure(&s, "senders of 5 Gbit/s", 10, 60);
	CHECK_MSG(r.used > .94, "%.3f", r.used);
	CHECK_MSG(r.cross_bps > 4.9e9, "%.0f", r.cross_bps);
}

/* ---- set-ups at random -------------------------------------------------------------- */

static double between(double from, double to)
{
	return from * pow(to / from, (pn_random(&run.net) >> 11) / 9007199254740992.0);
}

/* RTT_C .5 to 20 ms, 10 to 100 us behind the router (but 12 packets at least), 1 to 100 Gbit/s,
 * 1 to 64 flows to one or more hosts, beside others or alone, up to half of the options lost.
 */
static struct setup any(u32 seed)
{
	static const double rates[] = { 1e9, 10e9, 25e9, 40e9, 100e9 };
	struct setup s = { .seed = seed };
	int i;

	memset(&run.net, 0, sizeof(run.net));
	run.net.random = 88172645463325252ULL + seed * 1000003ULL;
	for (i = 0; i < 20; i++)
		pn_random(&run.net);
	s.line_bps = rates[pn_random(&run.net) % ARRAY_SIZE(rates)];
	s.leaf_bps = s.line_bps * (1 + pn_random(&run.net) % 4);
	s.port_bps = s.leaf_bps;
	s.cross_ns = between(500000, 20000000);
	s.near_ns = fmax(between(10000, 100000), 12 * PN_WIRE * 8e9 / s.line_bps);
	s.cross = between(1, 65);
	s.hosts = fmin(between(1, s.cross + 1), s.cross);
	s.intra = pn_random(&run.net) % 2 ? between(1, 16) : 0;
	s.loss_permille = pn_random(&run.net) % 2 ? pn_random(&run.net) % 500 : 0;
	return s;
}

/* Fair and full once what came before senders were told anything has been sent. */
static void check_any(u32 seed, double most_packets)
{
	struct setup s = any(seed);
	double there = fmin((s.hosts + fmin(s.intra, HOSTS_MAX - s.hosts)) * s.line_bps,
			    s.leaf_bps);
	double drain = fmin(s.hosts * s.line_bps, s.leaf_bps);
	double burst_ns = 2 * s.cross * s.line_bps * s.cross_ns / drain;
	double ms = 1 + (5 * s.cross_ns + 500 * s.near_ns + burst_ns) / 1e6;
	struct result r;
	char name[160];

	if (1.3 * ms * there / (8000. * PN_WIRE) > most_packets)
		return;
	snprintf(name, sizeof(name),
		 "seed %u: %.0f and %.0f Gbit/s, %.2f ms, %.0f us, %d flows to %d hosts, %d others, %u permille lost, from %.0f ms",
		 seed, s.line_bps / 1e9, s.leaf_bps / 1e9, s.cross_ns / 1e6, s.near_ns / 1e3,
		 s.cross, s.hosts, s.intra, s.loss_permille, ms);
	r = measure(&s, name, ms, 1.3 * ms);
	CHECK_MSG(r.fair_cross > .95, "%.4f", r.fair_cross);
	CHECK_MSG(r.used > .9 * r.could, "%.3f of %.3f", r.used, r.could);
}

/* TEST_SEEDS=N: so many, of any length. */
TEST(any_set_up)
{
	const char *all = getenv("TEST_SEEDS");
	u32 seed, seeds = all ? strtoul(all, NULL, 10) : 40;

	for (seed = 1; seed <= seeds; seed++)
		check_any(seed, all ? 4e6 : 60e3);
}

UNIT_MAIN
