// SPDX-License-Identifier: GPL-2.0
/*
 * Channels, which flows share. pp_configure() computes the one of a flow.
 *
 * A channel follows from profile, priority, weight, base RTT and line rate, so the
 * flows of a path and a priority have the same one, and there are a few for thousands
 * of flows. It never changes: a flow whose settings or base RTT do takes another one.
 * That happens a few times in a flow's life, so one lock for all will do, and what is done
 * under it takes the same time however many channels there are: users choose the settings
 * of flows, and may have as many channels as they have sockets.
 *
 * A new flow begins with the channel of its handshake's RTT and leaves it with the
 * first echo. The next one wants the same, so channels that nobody has stay for a
 * while, the last PP_IDLE_MAX of them. Freed at once, they would be a channel of memory
 * for each connection of the last seconds: for that long the kernel gathers what is to
 * be freed under RCU.
 */
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "ledbat/core/ledbat.h"
#include "prioplus/core/pp_weight.h"
#include "pp_flow.h"

/* Most that the handshake's RTT is believed before the first own sample, us: a
 * lost SYN or SYN-ACK makes it a second, and the wait for a lost probe follows
 * from it. Longer paths are found by that wait's doubling.
 */
#define PP_HANDSHAKE_MAX_US	5000

/* W_LS, permille of the BDP (section 4.4: 125 to 1000); with paper = 1; */
#define PP_START_PERMILLE	500
#define PP_START_PAPER		125
/* with short_flows = 1, as the first window there. */
#define PP_START_SHORT		1000
#define PP_FIRST_SHORT		500
/* Longest wait before a probe, ns, and with short_flows = 1. */
#define PP_PROBE_CAP_NS		NSEC_PER_MSEC
#define PP_PROBE_CAP_SHORT_NS	(10 * NSEC_PER_USEC)

/* Channels that are kept without a flow. */
#define PP_IDLE_MAX		64

/**
 * struct pp_shared - a channel and who has it
 * @chan: the channel
 * @flows: that have it
 * @node: in the table, by @chan
 * @idle: among those without a flow, the one that was left last at the end
 * @rcu: readers of get_info() do not hold the socket lock
 */
struct pp_shared {
	struct pp_chan chan;
	u32 flows;
	struct rhash_head node;
	union {
		struct list_head idle;
		struct rcu_head rcu;
	};
};

/* It grows, and its hash has a seed: nobody can tell which settings meet in one place. */
static struct rhashtable pp_shared_table;
static LIST_HEAD(pp_idle);
static u32 pp_idle_count;
/* of the table, the list and all @flows; also in softirq */
static DEFINE_SPINLOCK(pp_shared_lock);

static const struct rhashtable_params pp_shared_params = {
	.key_len = sizeof(struct pp_chan),
	.key_offset = offsetof(struct pp_shared, chan),
	.head_offset = offsetof(struct pp_shared, node),
	.automatic_shrinking = true,
};

/* Context: pp_shared_lock held. */
static struct pp_shared *pp_shared_new(const struct pp_chan *want)
{
	struct pp_shared *s = kmalloc(sizeof(*s), GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);

	if (!s)
		return NULL;
	s->chan = *want;
	s->flows = 0;
	if (rhashtable_insert_fast(&pp_shared_table, &s->node, pp_shared_params)) {
		kfree(s);
		return NULL;
	}
	list_add_tail(&s->idle, &pp_idle);
	pp_idle_count++;
	return s;
}

/* Frees the channel that has been without a flow for the longest time. Context:
 * pp_shared_lock held.
 */
static void pp_shared_evict(void)
{
	struct pp_shared *s = list_first_entry(&pp_idle, struct pp_shared,
					       idle);

	list_del(&s->idle);
	pp_idle_count--;
	rhashtable_remove_fast(&pp_shared_table, &s->node, pp_shared_params);
	kfree_rcu(s, rcu);
}

/* Another flow has it. Context: pp_shared_lock held. */
static void pp_shared_get(struct pp_shared *s)
{
	if (s->flows++)
		return;
	list_del(&s->idle);
	pp_idle_count--;
}

/* Context: pp_shared_lock held. */
static void pp_shared_put(const struct pp_chan *chan)
{
	struct pp_shared *s = container_of(chan, struct pp_shared, chan);

	if (--s->flows)
		return;
	list_add_tail(&s->idle, &pp_idle);
	if (++pp_idle_count > PP_IDLE_MAX)
		pp_shared_evict();
}

/**
 * pp_chan_take() - let a flow have a channel
 * @fl: the flow; caller holds the socket lock
 * @want: the channel, padding included
 *
 * Context: any. Return: false without memory: the flow has what it had.
 */
bool pp_chan_take(struct pp_flow *fl, const struct pp_chan *want)
{
	const struct pp_chan *old = fl->chan;
	struct pp_shared *s;

	spin_lock_bh(&pp_shared_lock);
	s = rhashtable_lookup_fast(&pp_shared_table, want, pp_shared_params) ?:
	    pp_shared_new(want);
	if (s) {
		pp_shared_get(s);
		/* pairs with READ_ONCE() in pp_info.c */
		smp_store_release(&fl->chan, &s->chan);
		if (old)
			pp_shared_put(old);
	}
	spin_unlock_bh(&pp_shared_lock);
	return s;
}

/**
 * pp_chan_drop() - a flow ends
 * @fl: the flow; it is not used any more, but by readers under RCU
 *
 * Context: any.
 */
void pp_chan_drop(struct pp_flow *fl)
{
	if (!fl->chan)
		return;
	spin_lock_bh(&pp_shared_lock);
	pp_shared_put(fl->chan);
	spin_unlock_bh(&pp_shared_lock);
}

/* Context: process, module load. Return: 0 or a negative errno. */
int pp_share_init(void)
{
	return rhashtable_init(&pp_shared_table, &pp_shared_params);
}

/**
 * pp_share_exit() - free the channels that no flow has
 *
 * Context: process, module unload; no flow takes or leaves any.
 */
void pp_share_exit(void)
{
	spin_lock_bh(&pp_shared_lock);
	while (pp_idle_count)
		pp_shared_evict();
	spin_unlock_bh(&pp_shared_lock);
	rhashtable_destroy(&pp_shared_table);
}

/* Measured base RTT, ns; 0 = not yet. */
static u32 pp_measured_base_ns(const struct pp_flow *fl, u64 line_bps, u32 wire)
{
	u32 base_ns = pp_base_rtt(fl)->data_ns;
	u64 probe_ns = pp_base_rtt(fl)->probe_ns;

	if (probe_ns != FL_BASE_NONE) {
		/* a probe is shorter than a packet, on two links at least */
		probe_ns += 2 * div64_u64((u64)wire * 8 * NSEC_PER_SEC,
					  line_bps);
		base_ns = min_t(u64, base_ns, probe_ns);
	}
	return base_ns == FL_BASE_NONE ? 0 : base_ns;
}

/* How a flow starts and comes back. With short_flows = 1 it takes the room that it sees at
 * once, comes back with the first probe below its limit and does not wait long for one:
 * good where few flows of a priority meet and most are gone after some RTTs.
 */
static void pp_conf_short(struct pp_conf *cf, bool short_flows)
{
	cf->start_permille = cf->paper ? PP_START_PAPER : PP_START_PERMILLE;
	cf->resume_permille = 1000;
	cf->probe_cap_ns = PP_PROBE_CAP_NS;
	if (!short_flows)
		return;
	cf->start_permille = PP_START_SHORT;
	cf->first_permille = PP_FIRST_SHORT;
	cf->resume_permille = 0;
	cf->probe_cap_ns = PP_PROBE_CAP_SHORT_NS;
}

/**
 * pp_configure() - compute and take a flow's channel
 * @fl: the flow; caller holds the socket lock
 * @pf: its profile
 *
 * Return: false without memory for a channel: the flow keeps what it has.
 */
bool pp_configure(struct pp_flow *fl, const struct fl_profile *pf)
{
	const struct pp_settings *own = fl_profile_part(pf, &pp_table);
	u32 wire = fl_wire_bytes(fl->sk);
	u64 line_bps = fl_sock_line_bps(fl->sk, fl->fs, pf, true);
	struct pp_conf cf = {
		.base_ns = fl_sock_base_rtt_ns(fl->fs, pf),
		.line_bps = line_bps,
		.wire_bytes = wire,
		.fluct_ns = READ_ONCE(pf->fluct_ns),
		.noise_ns = READ_ONCE(pf->noise_ns),
		.urgent_prio = READ_ONCE(own->urgent_priority),
		.ai_bytes = READ_ONCE(pf->ai_bytes),
		.share_ns = READ_ONCE(own->share_ns),
		.weight_milli = fl_sock_weight_milli(fl->sk, fl->fs),
		.paper = READ_ONCE(own->paper),
	};
	u32 was_milli = fl->chan ? fl->chan->weight_milli : 0;
	bool was_paper = fl->chan && fl->chan->paper;
	struct pp_chan chan = { };

	pp_conf_short(&cf, READ_ONCE(own->short_flows));
	/* GAIN is a packet in an RTT */
	if (fl->core.original == &fl_ledbat_channel_ops)
		cf.ai_bytes = wire;
	if (!cf.base_ns) {
		cf.base_ns = pp_measured_base_ns(fl, line_bps, wire);
		cf.probe_base_ns = pp_base_rtt(fl)->probe_ns != FL_BASE_NONE ?
				   pp_base_rtt(fl)->probe_ns : 0;
	}
	if (!cf.base_ns)
		cf.base_ns = clamp_t(u32, tcp_sk(fl->sk)->srtt_us >> 3, 1,
				     PP_HANDSHAKE_MAX_US) * NSEC_PER_USEC;
	/* see pp_open.c */
	cf.base_ns += min_t(u32, fl->longer_ns, NSEC_PER_SEC);
	if (cf.probe_base_ns)
		cf.probe_base_ns += min_t(u32, fl->longer_ns, NSEC_PER_SEC);
	/* a measured RTT is any; ranges of the profile make this succeed */
	cf.base_ns = min_t(u32, cf.base_ns, NSEC_PER_SEC);
	cf.probe_base_ns = min_t(u32, cf.probe_base_ns, NSEC_PER_SEC);
	/* A probe is sooner than a packet. Else a receiver that acknowledges early makes
	 * flows go on by their probes and stop by their packets, again and again.
	 */
	if (cf.probe_base_ns >= cf.base_ns)
		cf.probe_base_ns = 0;
	pp_chan_init(&chan, &cf, fl->opened ? 0 : fl->prio);
	/* given for full packets only: how much shorter a probe takes depends on
	 * how many links there are
	 */
	if (!fl->longer_ns)
		chan.probe_base_ns = min_t(u32, chan.probe_base_ns,
					   pp_base_rtt(fl)->probe_ns);
	if (fl->fallback)
		chan.limit_ns = U32_MAX;
	if (fl->opened)
		chan.target_ns = max(chan.target_ns,
				     chan.base_ns + fl->open_ns);
	if (!pp_chan_take(fl, &chan))
		return false;
	pp_reweigh(&fl->core, fl->chan, was_milli);
	if (was_paper != fl->chan->paper) {
		/* what one way keeps of a round means nothing to the other */
		fl->core.glide = 0;
		pp_skip(&fl->core, tcp_sk(fl->sk)->snd_nxt);
	}
	return true;
}
