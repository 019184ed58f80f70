// SPDX-License-Identifier: GPL-2.0
#include "core/border.h"

/* HPCC's own settings (hpcc.rst). */
#define BD_ETA_PERMILLE		950
#define BD_STAGES		5
#define BD_FLOWS		4
/* A full packet on the line, bytes. */
#define BD_WIRE_BYTES		1538
/* A sender is told nothing longer than this before it counts as new, in RTT_C. */
#define BD_STALE_RTTS		2
/* Nor is a host's rate known any more if no load has come for so long, ns. */
#define BD_SILENCE_NS		10000000
/* And neither, however slow, if nothing came for the time of so many packets: a receiver tells of
 * every second one.
 */
#define BD_SILENCE_PKTS		4

/**
 * bd_par_init() - parameters of a port
 * @par: set
 * @line_bps: of its hosts, bit/s
 * @weight_milli: of each flow beside flows of the datacenter, thousandths
 * @form: of DQM
 * @wait_ns: D_t: how long packets are to wait, ns
 * @theta_ns: of DQM, ns; 0: RTT_C
 */
void bd_par_init(struct bd_par *par, u64 line_bps, u32 weight_milli, enum dqm_form form,
		 u32 wait_ns, u32 theta_ns)
{
	par->weight_milli = weight_milli;
	par->line_bytes = clamp_t(u64, line_bps / 8, BD_WIRE_BYTES, DQM_RATE_MAX);
	par->least_ns = div64_u64((u64)BD_LEAST_PKTS * BD_WIRE_BYTES * NSEC_PER_SEC,
				  par->line_bytes);
	par->dqm = (struct dqm_par) {
		.form = form, .theta_ns = theta_ns, .target_ns = wait_ns,
		.line_bytes = par->line_bytes,
		.min_bytes = 1,
		.wire_bytes = BD_WIRE_BYTES,
	};
}

/* The law's steps are those of the flows that wait, each with its weight, and bounded in all: there
 * is room for so many steps, not for so many flows. Flows are below 2^16, weights below 2^13.
 */
static void bd_weigh(struct bd_host *h, const struct bd_par *par)
{
	u32 flows = max_t(u32, (h->flows + BIT(BD_FLOWS_SHIFT - 1)) >> BD_FLOWS_SHIFT, 1);
	struct hp_conf cf = {
		.line_bps = 8 * par->line_bytes, .eta_permille = BD_ETA_PERMILLE,
		.stages = BD_STAGES, .flows = BD_FLOWS,
		.weight_milli = min_t(u32, flows * par->weight_milli,
				      BD_WEIGHT_MAX * HP_WEIGHT_ONE_MILLI),
	};

	if (cf.weight_milli == h->weight_milli)
		return;
	h->weight_milli = cf.weight_milli;
	hp_par_init(&h->law, &cf);
}

/**
 * bd_host_init() - a host with its first flow
 * @h: the host
 * @par: parameters of its port
 * @now_ns: time
 *
 * Nothing is known of the way behind: it begins with the line's rate, as the paper's.
 */
void bd_host_init(struct bd_host *h, const struct bd_par *par, u64 now_ns)
{
	memset(h, 0, sizeof(*h));
	h->flows = BIT(BD_FLOWS_SHIFT);
	bd_weigh(h, par);
	hp_init(&h->hp, &h->law, par->line_bytes);
	h->next_ns = now_ns;
	h->echo_ns = now_ns;
	h->round_ns = now_ns;
	h->round = 1;
}

/* Rate of one of the flows that wait, bytes/s. */
u64 bd_share(const struct bd_host *h)
{
	u32 flows = max_t(u32, h->flows, BIT(BD_FLOWS_SHIFT));

	return mul_u64_u64_div_u64(h->hp.rate, BIT(BD_FLOWS_SHIFT), flows);
}

/**
 * bd_flow_init() - a flow comes, or comes again after silence
 * @f: the flow; its queue stays
 * @h: its host
 * @par: parameters
 * @cross_ns: RTT_C, ns
 * @now_ns: time
 */
void bd_flow_init(struct bd_flow *f, const struct bd_host *h, const struct bd_par *par,
		  u32 cross_ns, u64 now_ns)
{
	dqm_init(&f->dqm, &par->dqm, max_t(u32, cross_ns, BD_NEAR_MIN_NS),
		 h->base_ns ?: BD_NEAR_DEFAULT_NS, bd_share(h));
	f->step_ns = now_ns;
	f->seen_ns = now_ns;
	f->round = 0;
	f->left = false;
}

/* Is a time longer than that of BD_SILENCE_PKTS at a rate? */
static bool bd_silent(s64 ns, u64 rate)
{
	return ns >= (s64)div64_u64((u64)BD_SILENCE_PKTS * BD_WIRE_BYTES * NSEC_PER_SEC, rate);
}

/**
 * bd_stale() - does what the sender was told say nothing any more?
 * @f: the flow
 * @now_ns: time
 *
 * Who is told a packet in several round trips is not silent between them: counted as new it
 * would be told the line's rate, and fill its queue for seconds.
 */
bool bd_stale(const struct bd_flow *f, u64 now_ns)
{
	s64 ns = now_ns - f->seen_ns;

	return !f->queue_bytes && ns > BD_STALE_RTTS * (s64)f->dqm.cross_ns &&
	       bd_silent(ns, f->dqm.tell);
}

/**
 * bd_wake() - a packet comes to a host for which none waits
 * @h: the host
 * @par: parameters
 * @now_ns: time
 *
 * After silence its rate is as old as that of a new host: of the way behind nothing is known. A
 * host whose rate is a packet in many milliseconds (by its weight, or its share) is not silent.
 */
void bd_wake(struct bd_host *h, const struct bd_par *par, u64 now_ns)
{
	s64 ns = now_ns - h->echo_ns;

	if (ns < BD_SILENCE_NS || !bd_silent(ns, h->hp.rate))
		return;
	h->flows = BIT(BD_FLOWS_SHIFT);
	bd_weigh(h, par);
	hp_init(&h->hp, &h->law, par->line_bytes);
	h->echo_ns = now_ns;
}

/**
 * bd_arrive() - a packet waits
 * @h: the host
 * @f: the flow
 * @bytes: of the packet
 * @now_ns: time
 */
void bd_arrive(struct bd_host *h, struct bd_flow *f, u32 bytes, u64 now_ns)
{
	if (!f->queue_bytes)
		h->waiting++;
	f->queue_bytes += bytes;
	f->seen_ns = now_ns;
}

/* A packet that waited is gone without being sent, or is being sent. */
void bd_forget(struct bd_host *h, struct bd_flow *f, u32 bytes)
{
	f->queue_bytes -= bytes;
	if (!f->queue_bytes)
		h->waiting--;
}

static bool bd_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/**
 * bd_leave() - a packet leaves its queue
 * @h: the host
 * @f: the flow
 * @par: parameters
 * @bytes: of the packet
 * @wire_bytes: of it on the line
 * @end: sequence number behind its data, and its FIN
 * @now_ns: time
 *
 * Anybody can forge a packet. One that neither follows what left nor is old makes no RTT, and what
 * comes after it need not follow it: or nothing that is acknowledged would count any more.
 */
void bd_leave(struct bd_host *h, struct bd_flow *f, const struct bd_par *par, u32 bytes,
	      u32 wire_bytes, u32 end, u64 now_ns)
{
	u64 from_ns = max_t(u64, h->next_ns + BD_BURST_NS, now_ns) - BD_BURST_NS;
	bool follows = !f->left || end - f->end < BD_ACK_WINDOW;
	s64 waiting;

	h->next_ns = from_ns + mul_u64_u64_div_u64(wire_bytes, NSEC_PER_SEC, h->hp.rate);
	waiting = (s64)min_t(u32, h->waiting, BD_FLOWS_COUNTED) << BD_FLOWS_SHIFT;
	h->flows += (waiting - h->flows) >> BD_FLOWS_EWMA_SHIFT;
	dqm_packet(&f->dqm, &par->dqm);
	bd_forget(h, f, bytes);
	if (f->left && f->end - end < BD_ACK_WINDOW)
		return;
	f->end = end;
	f->left = true;
	if (f->round == h->round || !follows)
		return;
	f->round = h->round;
	f->mark = end;
	f->mark_ns = now_ns;
}

/**
 * bd_pass() - the end of a flow leaves without having waited: nothing of it did
 * @f: the flow
 * @end: sequence number behind the FIN
 */
void bd_pass(struct bd_flow *f, u32 end)
{
	if (f->left && end - f->end < BD_ACK_WINDOW)
		f->end = end;
}

/* Can that be an acknowledgment of what has left? */
bool bd_acks(const struct bd_flow *f, u32 ack)
{
	return f->shared || (f->left && f->end - ack < BD_ACK_WINDOW);
}

/* The way to the host and back has taken a time. */
static void bd_sample(struct bd_host *h, s64 ns)
{
	u32 rtt_ns = clamp_t(s64, ns, BD_NEAR_MIN_NS, BD_NEAR_MAX_NS);

	if (!h->base_ns) {
		h->base_ns = rtt_ns;
		h->rtt_ns = rtt_ns;
	}
	h->base_ns = min_t(u32, h->base_ns, rtt_ns);
	h->rtt_ns += ((s32)rtt_ns - (s32)h->rtt_ns) / 8;
}

/**
 * bd_echo() - an ACK brings the load that a packet has met behind the router
 * @h: the host
 * @f: the flow, of which @ack acknowledges something (bd_acks())
 * @par: parameters
 * @ack: what it acknowledges
 * @load: the load, as of fl_load_code()
 * @now_ns: time
 *
 * A host whose queues are empty gets no more than it had: its senders do not use it.
 */
void bd_echo(struct bd_host *h, struct bd_flow *f, const struct bd_par *par, u32 ack,
	     u16 load, u64 now_ns)
{
	s64 round_ns = now_ns - h->round_ns;
	bool turned;

	if (!f->shared && f->round == h->round && !bd_before(ack, f->mark)) {
		bd_sample(h, now_ns - f->mark_ns);
		h->answered = true;
		f->round = 0;
	}
	turned = round_ns >= par->least_ns &&
		 (h->answered || round_ns > 2LL * (h->rtt_ns ?: BD_NEAR_DEFAULT_NS));
	h->echo_ns = now_ns;
	hp_on_load(&h->hp, &h->law, fl_load_of(load), turned, !h->waiting);
	if (!turned)
		return;
	bd_weigh(h, par);
	h->round++;
	h->round_ns = now_ns;
	h->answered = false;
}

/**
 * bd_tell() - what the sender is to send at, at most
 * @h: the host
 * @f: the flow
 * @par: parameters
 * @now_ns: time
 *
 * Return: bytes on the line a second.
 */
u64 bd_tell(struct bd_host *h, struct bd_flow *f, const struct bd_par *par, u64 now_ns)
{
	s64 ns = now_ns - f->step_ns;
	u32 steps;

	if (ns < (s64)f->dqm.step_ns)
		return f->dqm.tell;
	steps = min_t(u64, div_u64(ns, f->dqm.step_ns), U32_MAX);
	dqm_credit(&f->dqm, &par->dqm, bd_share(h));
	dqm_step(&f->dqm, &par->dqm, f->queue_bytes, steps);
	f->step_ns = now_ns - (ns - (u64)steps * f->dqm.step_ns);
	return f->dqm.tell;
}
