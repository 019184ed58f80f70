// SPDX-License-Identifier: GPL-2.0
#include "bottleneck.h"

#define PROBE_BYTES	91	/* a probe or an ACK */
/* ACKs that a receiver sends at once after a probe; then every second packet's. */
#define QUICK		16
/* A packet that waits for its ACK longer than this has a probe sent after it, ns. */
#define WATCHDOG_NS	200000

enum { LATE_ACK = PN_OWN, PROBE_TIME };

static struct bn *bn_of(struct pn *n)
{
	return (struct bn *)((char *)n - offsetof(struct bn, net));
}

static u64 line_ns(u64 bps, u32 bytes)
{
	return bytes * 8000000000ULL / bps;
}

static u32 window(struct pn *n, u32 f)
{
	const struct bn_flow *fl = &bn_of(n)->flow[f];
	u32 pkts = fl->pp.wnd >> FL_WND_SHIFT ?: 1;

	if (fl->pp.stopped)
		return 0;
	return fl->left_pkts && pkts > fl->left_pkts - fl->snd_una ?
	       fl->left_pkts - fl->snd_una : pkts;
}

static double gap_ns(struct pn *n, u32 f)
{
	const struct bn_flow *fl = &bn_of(n)->flow[f];

	if (fl->pp.wnd >> FL_WND_SHIFT && !fl->ch.paced)
		return 0;
	return fl->ch.base_ns * FL_WND_ONE / (fl->pp.wnd | 1);
}

static void probe_after(struct bn *b, u32 f, u32 wait_ns)
{
	pn_at(&b->net, b->net.now_ns + wait_ns, f, PROBE_TIME,
	      ++b->flow[f].generation);
}

/* A packet has come to a receiver that acknowledges every second one: when does its ACK
 * leave, if not at once? What is kept back leaves with the watchdog's probe.
 */
static void delay_ack(struct bn *b, struct pn_event *ack)
{
	struct bn_flow *fl = &b->flow[ack->flow];
	u64 wait_ns = 2ULL * fl->ch.limit_ns;

	if (ack->probe) {
		fl->quick = QUICK;
	} else if (fl->quick) {
		fl->quick--;
		fl->held = false;
	} else if (fl->held) {
		fl->held = false;
	} else {
		fl->held = true;
		fl->held_seq = ack->value;
		ack->what = LATE_ACK;
		ack->at += wait_ns > WATCHDOG_NS ? wait_ns : WATCHDOG_NS;
	}
}

/* Counts what the port sends. */
static void passed(struct pn *n, struct pn_event *ev, double start_ns, double delay_ns)
{
	struct bn *b = bn_of(n);
	u64 epoch = start_ns / BN_EPOCH_NS;

	if (ev->what != PN_ACK)
		return;
	if (start_ns < b->end_ns) {
		b->bytes[epoch][ev->probe ? BN_CLASSES :
				b->flow[ev->flow].class] += ev->bytes;
		if (delay_ns > b->peak_ns[epoch])
			b->peak_ns[epoch] = delay_ns;
	}
	if (b->delayed)
		delay_ack(b, ev);
}

/* Data is acknowledged. */
static void heard(struct bn *b, const struct pn_event *ev, const struct fl_sample *s)
{
	struct bn_flow *fl = &b->flow[ev->flow];
	struct pn_flow *pf = &b->net.flow[ev->flow];

	fl->snd_una = ev->value;
	pf->in_flight = pf->sent - fl->snd_una;
	fl->end_ns = b->net.now_ns;
	if (fl->left_pkts && fl->snd_una >= fl->left_pkts) {
		pf->alive = false;
	} else if (!fl->pp.stopped && pp_on_ack(&fl->pp, &fl->ch, s) == PP_STOP) {
		fl->stops++;
		probe_after(b, ev->flow, fl->pp.probe_wait_ns);
	}
}

static void acked(struct pn *n, const struct pn_event *ev)
{
	struct bn *b = bn_of(n);
	struct bn_flow *fl = &b->flow[ev->flow];
	u32 delay_ns = n->now_ns - ev->sent, nxt = n->flow[ev->flow].sent;
	struct fl_sample s = {
		.now_ns = n->now_ns,
		/* of a packet whose ACK was kept back: none */
		.delay_ns = ev->what == LATE_ACK ? 0 : delay_ns,
		.acked_pkts = ev->value - fl->snd_una, .ack_seq = ev->value,
		.snd_nxt = nxt, .seq_per_pkt = 1, .wnd_limited = true,
	};

	if (!n->flow[ev->flow].alive)
		return;
	s.random = bn_random(b);
	if (b->jitter_ns && !ev->probe && s.delay_ns)
		s.delay_ns += bn_random(b) % b->jitter_ns;
	if (!ev->probe)
		heard(b, ev, &s);
	else if (fl->pp.stopped && pp_on_probe(&fl->pp, &fl->ch, delay_ns, nxt,
					       s.random) == PP_PROBE)
		probe_after(b, ev->flow, fl->pp.probe_wait_ns);
	pn_send(n, ev->flow);
}

static void own(struct pn *n, const struct pn_event *ev)
{
	struct bn *b = bn_of(n);
	struct bn_flow *fl = &b->flow[ev->flow];

	switch (ev->what) {
	case PN_START:
		pp_init(&fl->pp, &fl_swift_ops, n->now_ns, 0);
		probe_after(b, ev->flow, 0);
		break;
	case LATE_ACK:
		if (!fl->held || ev->value != fl->held_seq)
			break;
		fl->held = false;
		fl->quick = QUICK;
		acked(n, ev);
		break;
	case PROBE_TIME:
		if (n->flow[ev->flow].alive && fl->pp.stopped &&
		    ev->value == fl->generation)
			pn_packet(n, ev->flow, PROBE_BYTES, true);
		break;
	}
}

static const struct pn_control prioplus = {
	.window = window, .gap_ns = gap_ns, .acked = acked, .own = own,
	.passed = passed, .whole_ns = true,
};

/* Room for the flows and the counters of a run until end_ns. */
void bn_init(struct bn *b, int flows, u64 end_ns, u32 seed)
{
	size_t epochs = end_ns / BN_EPOCH_NS + 1;
	int f;

	/* a bucket is an eighth of a packet's time */
	pn_init(&b->net, &prioplus, 1 + flows, flows, PN_WIRE * 1e9 / b->line_bps, seed);
	b->wire_bytes = b->wire_bytes ?: PN_WIRE;
	b->net.wire_bytes = b->wire_bytes;
	b->access_bps = b->access_bps ?: b->line_bps;
	b->net.link[0].bps = b->line_bps;
	for (f = 0; f < flows; f++)
		b->net.link[1 + f].bps = b->access_bps;
	b->flows = flows;
	b->end_ns = end_ns;
	b->flow = pn_alloc(flows, sizeof(*b->flow));
	b->bytes = pn_alloc(epochs, sizeof(*b->bytes));
	b->peak_ns = pn_alloc(epochs, sizeof(*b->peak_ns));
}

void bn_free(struct bn *b)
{
	pn_free(&b->net);
	free(b->flow);
	free(b->bytes);
	free(b->peak_ns);
}

/* Flow f of a class and priority, alive from start to stop. */
int bn_add(struct bn *b, int f, int class, u32 prio, bool paper, u64 start_ns,
	   u64 stop_ns)
{
	u64 acks_ns = 2 * line_ns(b->access_bps, PROBE_BYTES);
	u64 base_ns = 4 * b->prop_ns + line_ns(b->line_bps, b->wire_bytes) +
		      line_ns(b->access_bps, b->wire_bytes) + acks_ns;
	struct bn_flow *fl = &b->flow[f];
	struct pn_flow *pf = &b->net.flow[f];
	struct pp_conf cf = {
		.base_ns = b->conf_base_ns ?: base_ns + 2 * fl->far_ns,
		.line_bps = b->conf_bps ?: b->line_bps,
		.wire_bytes = b->wire_bytes, .fluct_ns = b->fluct_ns ?: 3200,
		.noise_ns = b->noise_ns ?: 800,
		.probe_cap_ns = 1000000, .start_permille = paper ? 125 : 500,
		.resume_permille = 1000,
		.ai_bytes = 150, .paper = paper,
	};

	fl->class = class;
	pf->path[0] = 1 + f;
	pf->path[1] = 0;
	pf->hops = 2;
	pf->step_ns = b->prop_ns + fl->far_ns;
	pf->back_ns = 2 * b->prop_ns + acks_ns;
	pn_at(&b->net, start_ns, f, PN_START, 0);
	pn_at(&b->net, stop_ns, f, PN_STOP, 0);
	return pp_chan_init(&fl->ch, &cf, prio);
}

/* Part of the line's bytes in [from, to) that class had; -1: all of them. */
double bn_share(const struct bn *b, int class, u64 from_ns, u64 to_ns)
{
	u64 i, sum = 0;
	int c;

	for (i = from_ns / BN_EPOCH_NS; i < to_ns / BN_EPOCH_NS; i++)
		for (c = 0; c <= BN_CLASSES; c++)
			if (class < 0 || c == class)
				sum += b->bytes[i][c];
	return sum * 8e9 / b->line_bps / (to_ns - from_ns);
}

u32 bn_peak_ns(const struct bn *b, u64 from_ns, u64 to_ns)
{
	u32 peak = 0;
	u64 i;

	for (i = from_ns / BN_EPOCH_NS; i < to_ns / BN_EPOCH_NS; i++)
		if (b->peak_ns[i] > peak)
			peak = b->peak_ns[i];
	return peak;
}

/* Time from @from_ns until class has 95 % of the line for 200 us, in us. */
u32 bn_taken_us(const struct bn *b, int class, u64 from_ns, u64 to_ns)
{
	u64 t;

	for (t = from_ns; t + 200000 <= to_ns; t += 20000)
		if (bn_share(b, class, t, t + 20000) >= 0.95 &&
		    bn_share(b, class, t, t + 200000) >= 0.95)
			return (t - from_ns) / 1000;
	return 1000000;
}
