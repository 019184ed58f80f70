// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC's core with the port's load, and PowerTCP's with its power (qdisc/core/load.h), in the
 * network of packetnet.h: fair shares, a full line, a short queue, from 1 to 256 flows.
 */
#include "core/load.h"
#include "hpcc/core/hpcc.h"
#include "hpcc/core/powertcp.h"
#include "packetnet.h"
#include "unit.h"

#define FLOWS_MAX	256

struct flow {
	struct hp_core hp;
	struct hp_par par;
	double base_ns;
	u32 turn;
	bool started;
};

struct run {
	struct pn net;
	struct fabric_load load;
	struct flow flow[FLOWS_MAX];
};

static struct run run;
/* Of PowerTCP, as of pt_gamma(); 0: HPCC. */
static u32 power_gamma;

static u32 window(struct pn *n, u32 f)
{
	const struct flow *fl = &run.flow[f];

	if (!fl->started)
		return 10;
	return fl->hp.rate * fl->base_ns * (power_gamma ? 1.5 : 1) / 1e9 / n->wire_bytes + 2;
}

static double gap_ns(struct pn *n, u32 f)
{
	const struct flow *fl = &run.flow[f];

	return fl->started ? n->wire_bytes * 1e9 / fl->hp.rate : 0;
}

static void acked(struct pn *n, const struct pn_event *ev)
{
	struct flow *fl = &run.flow[ev->flow];
	struct pn_flow *pf = &n->flow[ev->flow];
	double rtt_ns = n->now_ns - ev->sent;
	bool turned;

	pf->in_flight--;
	if (!fl->started || rtt_ns < fl->base_ns)
		fl->base_ns = rtt_ns;
	if (!fl->started)
		hp_init(&fl->hp, &fl->par, 10 * n->wire_bytes * 1e9 / rtt_ns);
	fl->started = true;
	/* what was in flight at the begin of the round trip has come back */
	turned = pf->sent - pf->in_flight >= fl->turn;
	if (turned)
		fl->turn = pf->sent + 1;
	if (power_gamma)
		pt_on_power(&fl->hp, &fl->par, power_gamma, fl_load_of(ev->told), turned, false);
	else
		hp_on_load(&fl->hp, &fl->par, fl_load_of(ev->told), turned, false);
	pn_send(n, ev->flow);
}

static void passed(struct pn *n, struct pn_event *ev, double start_ns, double delay_ns)
{
	const struct flow *fl = &run.flow[ev->flow];
	/* as tcp_hpcc.c: a flow that sends less than a packet in an RTT acts no faster */
	double gap = gap_ns(n, ev->flow);
	u8 time = fl_load_rtt(gap > fl->base_ns ? gap : fl->base_ns);

	run.load.bytes += ev->bytes;
	/* instead of the delay that packetnet has put there */
	ev->told = fl_load_code(fabric_load_tell(&run.load, time,
						 delay_ns * n->link[0].bps / 8e9, start_ns));
}

/* PN_START */
static void own(struct pn *n, const struct pn_event *ev)
{
	pn_send(n, ev->flow);
}

static const struct pn_control control = {
	.window = window, .gap_ns = gap_ns, .acked = acked, .own = own, .passed = passed,
	.late_made_up = true,
};

/* @flows to one link; flow 0 alone at first. */
static void begin(int flows, double bps, double base_ns, double second_ns, u32 weight0)
{
	struct hp_conf cf = {
		.line_bps = bps, .eta_permille = 950, .stages = 5, .flows = 4,
	};
	int i;

	memset(&run, 0, sizeof(run));
	fabric_load_set(&run.load, bps, power_gamma);
	pn_init(&run.net, &control, 1, flows, PN_WIRE * 1e9 / bps, 1);
	run.net.link[0].bps = bps;
	for (i = 0; i < flows; i++) {
		struct pn_flow *pf = &run.net.flow[i];

		cf.weight_milli = i ? 1000 : weight0;
		hp_par_init(&run.flow[i].par, &cf);
		pf->hops = 1;
		pf->step_ns = base_ns / 4;
		pf->back_ns = base_ns / 2;
		run.flow[i].base_ns = base_ns;
		pn_at(&run.net, (i ? second_ns : 0) + pn_random(&run.net) % 1000 * base_ns / 1e3,
		      i, PN_START, 0);
	}
}

/* Jain's index of what flows got since pn_clear(). */
static double jain(void)
{
	double sum = 0, squares = 0;
	int i;

	for (i = 0; i < run.net.flows; i++) {
		sum += run.net.flow[i].bytes;
		squares += run.net.flow[i].bytes * run.net.flow[i].bytes;
	}
	return sum * sum / squares / run.net.flows;
}

/* Settled after so many base RTTs: shares, line, queue in parts of what the line carries in a
 * base RTT.
 */
static void settled(int flows, double bps, double base_ns, double rtts, double queue)
{
	double from = rtts * base_ns, until = 2 * from, used, mean;

	begin(flows, bps, base_ns, 0, 1000);
	pn_run(&run.net, from);
	pn_clear(&run.net);
	pn_run(&run.net, until);
	used = run.net.link[0].busy_ns / (until - from);
	mean = run.net.link[0].delay_sum_ns / run.net.link[0].packets / base_ns;
	printf("# %d flows, %.0f Gbit/s, RTT %.0f us: J %.4f, line %.3f, queue mean %.3f max %.2f RTT\n",
	       flows, bps / 1e9, base_ns / 1e3, jain(), used, mean,
	       run.net.link[0].delay_max_ns / base_ns);
	CHECK_MSG(jain() >= 0.95, "%.4f", jain());
	CHECK_MSG(used >= 0.9, "%.3f", used);
	CHECK_MSG(mean <= queue, "%.3f", mean);
	pn_free(&run.net);
}

TEST(few_flows)
{
	settled(1, 100e9, 10000, 200, 0.05);
	settled(2, 25e9, 10000, 300, 0.08);
	settled(8, 100e9, 24000, 300, 0.08);
	settled(8, 10e9, 100000, 300, 0.08);
	settled(4, 25e9, 6000000, 300, 0.08);
}

TEST(many_flows)
{
	settled(32, 100e9, 24000, 400, 0.3);
	settled(64, 100e9, 24000, 400, 0.4);
	settled(256, 100e9, 24000, 600, 1.5);
	settled(64, 25e9, 13000, 600, 1.8);
}

/* A second flow comes to a full line; 80 round trips, additive steps. */
TEST(second_flow)
{
	begin(2, 100e9, 24000, 2e6, 1000);
	pn_run(&run.net, 2e6 + 150 * 24000);
	pn_clear(&run.net);
	pn_run(&run.net, 2e6 + 200 * 24000);
	CHECK_MSG(jain() >= 0.95, "%.4f", jain());
	CHECK_MSG(run.net.link[0].delay_max_ns <= 24000, "%.0f ns",
		  run.net.link[0].delay_max_ns);
	pn_free(&run.net);
}

/* Figure 7 of MLCC: four flows come to four on 100 Gbit/s. Its loop near the source is this
 * law with the RTT of the datacenter, however far the receiver is: fair within 2 ms.
 */
TEST(four_flows_join_four)
{
	double from = 3e6;
	int i;

	begin(8, 100e9, 24000, from, 1000);
	for (i = 1; i < 4; i++)
		pn_at(&run.net, 0, i, PN_START, 0);
	pn_run(&run.net, from + 2e6);
	pn_clear(&run.net);
	pn_run(&run.net, from + 2.5e6);
	printf("# 2 ms after: J %.4f, queue max %.2f RTT\n", jain(),
	       run.net.link[0].delay_max_ns / 24000);
	CHECK_MSG(jain() > 0.95, "%.4f", jain());
	pn_free(&run.net);
}

/* Weight 4 against weights 1 at rest. Return: the ratio of their rates. */
static double ratio_of_four(void)
{
	double ratio;

	begin(3, 100e9, 24000, 0, 4000);
	pn_run(&run.net, 400 * 24000);
	pn_clear(&run.net);
	pn_run(&run.net, 800 * 24000);
	ratio = 2 * run.net.flow[0].bytes / (run.net.flow[1].bytes + run.net.flow[2].bytes);
	pn_free(&run.net);
	return ratio;
}

TEST(weights)
{
	double ratio = ratio_of_four();

	CHECK_MSG(ratio > 3.6 && ratio < 4.4, "%.2f", ratio);
}

/* The same under PowerTCP's law. */
TEST(powertcp_few_flows)
{
	power_gamma = pt_gamma(100);
	settled(1, 100e9, 10000, 200, 0.05);
	settled(2, 25e9, 10000, 300, 0.1);
	settled(8, 100e9, 24000, 300, 0.2);
	settled(8, 10e9, 100000, 300, 0.08);
	settled(4, 25e9, 6000000, 300, 0.08);
	power_gamma = 0;
}

TEST(powertcp_many_flows)
{
	power_gamma = pt_gamma(100);
	settled(32, 100e9, 24000, 400, 0.3);
	settled(64, 100e9, 24000, 400, 0.4);
	settled(256, 100e9, 24000, 600, 2.5);
	settled(64, 25e9, 13000, 600, 1.8);
	power_gamma = 0;
}

TEST(powertcp_networks)
{
	static const double base_ns[] = { 6000, 13000, 24000, 100000, 1000000 };
	size_t i;
	int flows;

	power_gamma = pt_gamma(100);
	for (i = 0; i < ARRAY_SIZE(base_ns); i++)
		for (flows = 1; flows <= 202; flows = 3 * flows + 1)
			settled(flows, i % 2 ? 100e9 : 25e9, base_ns[i], 600, 4);
	power_gamma = 0;
}

TEST(powertcp_weights)
{
	double ratio;

	power_gamma = pt_gamma(100);
	ratio = ratio_of_four();
	CHECK_MSG(ratio > 3.4 && ratio < 4.6, "%.2f", ratio);
	power_gamma = 0;
}

UNIT_MAIN
