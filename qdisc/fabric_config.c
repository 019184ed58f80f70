// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: settings of the port from netlink and back to it.
 */
#include <linux/math64.h>

#include "fabric_config.h"
#include "core/pfc.h"

FABRIC_RANGE(fabric_range_limit, 1, FABRIC_LIMIT_MAX_BYTES);
FABRIC_RANGE(fabric_range_bytes, 0, FABRIC_LIMIT_MAX_BYTES);
FABRIC_RANGE(fabric_range_rate, 0, FABRIC_RATE_MAX_BPS);
FABRIC_RANGE(fabric_range_delay, 0, FABRIC_DELAY_MAX_NS);
FABRIC_RANGE(fabric_range_second, 0, FABRIC_STAMP_TIME_MAX_NS);
FABRIC_RANGE(fabric_range_flow_weight, 1, FABRIC_FLOW_WEIGHT_MAX_MILLI);
FABRIC_RANGE(fabric_range_round, 0, FABRIC_STAMP_ROUND_MAX_NS);

/* ---- what leads a packet to its band --------------------------------------- */

/* Starts from what is set now, or anew. */
static void fabric_maps_read(const struct fabric_sched *q, bool anew,
			     struct fabric_maps *maps)
{
	if (anew) {
		memset(maps, 0, sizeof(*maps));
		maps->nbands = 1;
		maps->default_band = FABRIC_BAND_LAST;
		return;
	}
	maps->nbands = q->nbands;
	maps->default_band = q->default_band;
	maps->use_dscp = q->use_dscp;
	maps->use_prio = q->use_prio;
	memcpy(maps->prio, q->prio_map, sizeof(maps->prio));
	memcpy(maps->dscp, q->dscp_map, sizeof(maps->dscp));
}

/* Reads a table that is either empty or whole. Return: 1 whole, 0 empty or a
 * negative error.
 */
static int fabric_map_read(const struct nlattr *attr, u8 *map, int size,
			   const char *text, struct netlink_ext_ack *extack)
{
	if (!nla_len(attr))
		return 0;
	if (nla_len(attr) != size)
		return fabric_refuse_attr(extack, attr, text);
	memcpy(map, nla_data(attr), size);
	return 1;
}

/* Checks that everything leads to bands that there are. Return: 0 or -EINVAL. */
int fabric_maps_check(const struct fabric_sched *q, struct nlattr **tb,
		      const struct fabric_maps *maps,
		      struct netlink_ext_ack *extack)
{
	size_t i;

	if (maps->default_band != FABRIC_BAND_LAST &&
	    maps->default_band >= maps->nbands)
		return fabric_refuse_attr(extack, tb[TCA_FABRIC_DEFAULT_BAND],
					  "default names a band that is not there");
	for (i = 0; maps->use_prio && i < ARRAY_SIZE(maps->prio); i++) {
		if (maps->prio[i] != FABRIC_MAP_DEFAULT &&
		    maps->prio[i] >= maps->nbands)
			return fabric_refuse_attr(extack, tb[TCA_FABRIC_PRIOMAP],
						  "priomap names a band that is not there");
	}
	for (i = 0; maps->use_dscp && i < ARRAY_SIZE(maps->dscp); i++) {
		if (maps->dscp[i] == FABRIC_MAP_DEFAULT)
			continue;
		if ((maps->dscp[i] & 0xf) >= maps->nbands)
			return fabric_refuse_attr(extack, tb[TCA_FABRIC_DSCPMAP],
						  "dscp names a band that is not there");
		if (maps->dscp[i] >> 4 >= FABRIC_COLOURS)
			return fabric_refuse_attr(extack, tb[TCA_FABRIC_DSCPMAP],
						  "dscp names a colour that is not there");
	}
	for (i = maps->nbands; i < q->nbands; i++) {
		if (q->bands[i].bound)
			return fabric_refuse_attr(extack, tb[TCA_FABRIC_BANDS],
						  "a filter leads to a band that would go");
	}
	return 0;
}

/**
 * fabric_maps_parse() - work out bands and tables after a change
 * @q: the port
 * @tb: attributes of the qdisc, ranges checked
 * @maps: filled
 * @extack: why not
 *
 * Return: 0 or a negative error.
 */
int fabric_maps_parse(const struct fabric_sched *q, struct nlattr **tb,
		      struct fabric_maps *maps, struct netlink_ext_ack *extack)
{
	int err;

	fabric_maps_read(q, tb[TCA_FABRIC_ANEW], maps);
	if (tb[TCA_FABRIC_BANDS])
		maps->nbands = nla_get_u8(tb[TCA_FABRIC_BANDS]);
	if (tb[TCA_FABRIC_DEFAULT_BAND])
		maps->default_band = nla_get_u8(tb[TCA_FABRIC_DEFAULT_BAND]);
	if (tb[TCA_FABRIC_PRIOMAP]) {
		err = fabric_map_read(tb[TCA_FABRIC_PRIOMAP], maps->prio,
				      sizeof(maps->prio),
				      "priomap must have 16 entries", extack);
		if (err < 0)
			return err;
		maps->use_prio = err;
	}
	if (tb[TCA_FABRIC_DSCPMAP]) {
		err = fabric_map_read(tb[TCA_FABRIC_DSCPMAP], maps->dscp,
				      sizeof(maps->dscp),
				      "dscp must have 64 entries", extack);
		if (err < 0)
			return err;
		maps->use_dscp = err;
	}
	return fabric_maps_check(q, tb, maps, extack);
}

/**
 * fabric_maps_apply() - put tables and bands into force
 * @q: the port; bands that go are empty already
 * @maps: what fabric_maps_parse() made
 */
void fabric_maps_apply(struct fabric_sched *q, const struct fabric_maps *maps)
{
	q->nbands = maps->nbands;
	q->default_band = maps->default_band;
	q->use_dscp = maps->use_dscp;
	q->use_prio = maps->use_prio;
	memcpy(q->prio_map, maps->prio, sizeof(q->prio_map));
	memcpy(q->dscp_map, maps->dscp, sizeof(q->dscp_map));
	fabric_classify_update(q);
}

/* Writes bands and tables; those that are not set are left out. */
int fabric_maps_dump(const struct fabric_sched *q, struct sk_buff *skb)
{
	if (nla_put_u8(skb, TCA_FABRIC_BANDS, q->nbands) ||
	    (q->default_band != FABRIC_BAND_LAST &&
	     nla_put_u8(skb, TCA_FABRIC_DEFAULT_BAND, q->default_band)) ||
	    (q->use_prio && nla_put(skb, TCA_FABRIC_PRIOMAP,
				    sizeof(q->prio_map), q->prio_map)) ||
	    (q->use_dscp && nla_put(skb, TCA_FABRIC_DSCPMAP,
				    sizeof(q->dscp_map), q->dscp_map)))
		return -EMSGSIZE;
	return 0;
}

/* ---- settings of the port -------------------------------------------------- */

static const struct nla_policy fabric_policy[TCA_FABRIC_MAX + 1] = {
	[TCA_FABRIC_PAD]		= { .type = NLA_FLAG },
	[TCA_FABRIC_LIMIT_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_limit),
	[TCA_FABRIC_RATE_BPS] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &fabric_range_rate),
	[TCA_FABRIC_DELAY_NS] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &fabric_range_delay),
	[TCA_FABRIC_OVERHEAD_BYTES] =
		NLA_POLICY_MAX(NLA_U32, FABRIC_OVERHEAD_MAX_BYTES),
	[TCA_FABRIC_ECN_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_bytes),
	[TCA_FABRIC_ECN_AT] = NLA_POLICY_MAX(NLA_U8, FABRIC_ECN_AT_DEQUEUE),
	[TCA_FABRIC_SPLIT_GSO] = NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_FABRIC_BANDS] = NLA_POLICY_RANGE(NLA_U8, 1, FABRIC_BANDS_MAX),
	[TCA_FABRIC_DEFAULT_BAND]	= { .type = NLA_U8 },
	[TCA_FABRIC_PRIOMAP]		= { .type = NLA_BINARY },
	[TCA_FABRIC_DSCPMAP]		= { .type = NLA_BINARY },
	[TCA_FABRIC_BUFFER_NAME]	= { .type = NLA_NUL_STRING,
					    .len = FABRIC_BUFFER_NAME_LEN - 1 },
	[TCA_FABRIC_BUFFER_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_limit),
	[TCA_FABRIC_STAMP] = NLA_POLICY_MAX(NLA_U8, __FABRIC_STAMP_MAX - 1),
	[TCA_FABRIC_STAMP_TAU_NS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_second),
	[TCA_FABRIC_STAMP_ROUND_NS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_round),
	[TCA_FABRIC_STAMP_HOLD_NS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_second),
	[TCA_FABRIC_BAND_OPTIONS]	= { .type = NLA_NESTED },
	[TCA_FABRIC_SWITCH]		= { .type = NLA_U32 },
	[TCA_FABRIC_SWITCH_PORT] =
		NLA_POLICY_MAX(NLA_U8, FABRIC_PORTS_MAX - 1),
	[TCA_FABRIC_SPEED_BPS] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &fabric_range_rate),
	[TCA_FABRIC_HOP_RTT_NS]		= { .type = NLA_U32 },
	[TCA_FABRIC_FRAMES] = NLA_POLICY_MAX(NLA_U8, FABRIC_FRAMES_BOTH),
	[TCA_FABRIC_MPU_BYTES] = NLA_POLICY_MAX(NLA_U32, FABRIC_MPU_MAX_BYTES),
	[TCA_FABRIC_ROLE] = NLA_POLICY_MAX(NLA_U8, __FABRIC_ROLE_MAX - 1),
	[TCA_FABRIC_HOST_RATE_BPS] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &fabric_range_rate),
	[TCA_FABRIC_FLOW_WAIT_NS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_second),
	[TCA_FABRIC_FLOW_THETA_NS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_second),
	[TCA_FABRIC_FLOW_FORM] = NLA_POLICY_MAX(NLA_U8, __FABRIC_FLOW_MAX - 1),
	[TCA_FABRIC_FLOW_WEIGHT_MILLI] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_flow_weight),
	[TCA_FABRIC_ANEW]		= { .type = NLA_FLAG },
};

static const struct fabric_text fabric_texts[] = {
	{ TCA_FABRIC_SWITCH_PORT, "switch-port must be 0 to 63" },
	{ TCA_FABRIC_SPEED_BPS, "speed must be at most 10 Tbit/s" },
	{ TCA_FABRIC_FRAMES, "frames must be none, tell, hear or both" },
	{ TCA_FABRIC_ROLE, "role must be none, wan or lan" },
	{ TCA_FABRIC_HOST_RATE_BPS, "host-rate must be at most 10 Tbit/s" },
	{ TCA_FABRIC_FLOW_WAIT_NS, "flow-delay must be at most 1 second" },
	{ TCA_FABRIC_FLOW_THETA_NS, "flow-theta must be at most 1 second" },
	{ TCA_FABRIC_FLOW_FORM, "flow-form must be filter, damped or printed" },
	{ TCA_FABRIC_FLOW_WEIGHT_MILLI, "flow-weight must be 0.001 to 8" },
	{ TCA_FABRIC_RATE_BPS,
	  "rate must be 0 (none) or 1 kbit/s to 10 Tbit/s" },
	{ TCA_FABRIC_LIMIT_BYTES, "limit must be 1 byte to 1 GiB" },
	{ TCA_FABRIC_DELAY_NS, "delay must be at most 10 seconds" },
	{ TCA_FABRIC_OVERHEAD_BYTES, "overhead must be at most 1024 bytes" },
	{ TCA_FABRIC_MPU_BYTES, "mpu must be at most 2048 bytes" },
	{ TCA_FABRIC_ECN_BYTES, "ecn threshold must be at most 1 GiB" },
	{ TCA_FABRIC_ECN_AT, "ecn must act at enqueue (0) or dequeue (1)" },
	{ TCA_FABRIC_SPLIT_GSO, "split-gso must be 0 or 1" },
	{ TCA_FABRIC_BANDS, "bands must be 1 to 16" },
	{ TCA_FABRIC_BUFFER_BYTES, "buffer must be 1 byte to 1 GiB" },
	{ TCA_FABRIC_STAMP, "stamp must be none, soze, tcp-int, load or power" },
	{ TCA_FABRIC_STAMP_TAU_NS, "stamp-tau must be at most 1 second" },
	{ TCA_FABRIC_STAMP_ROUND_NS, "stamp-round must be at most 65536 ns" },
	{ TCA_FABRIC_STAMP_HOLD_NS, "stamp-hold must be at most 1 second" },
};

/**
 * struct fabric_line_config - settings of the line after a change
 * @rate_bps: 0 if there is no line model
 * @delay_ns: propagation
 * @overhead_bytes: added to each packet
 * @mpu_bytes: least of a packet
 */
struct fabric_line_config {
	u64 rate_bps;
	u64 delay_ns;
	u32 overhead_bytes;
	u32 mpu_bytes;
};

/* Is the port one of many that a device's queues have? Then it is no line: each of
 * them would have the rate. htb chooses queues only where the device does its work.
 */
static bool fabric_is_one_of_queues(struct Qdisc *sch)
{
	const struct Qdisc *root = rtnl_dereference(qdisc_dev(sch)->qdisc);

	return sch->parent != TC_H_ROOT && root && root != sch &&
	       root->ops->cl_ops && root->ops->cl_ops->select_queue &&
	       (root->flags & TCQ_F_MQROOT || strcmp(root->ops->id, "htb"));
}

/* Works out the line's settings from the old ones and those given. */
static int fabric_line_parse(struct Qdisc *sch, struct nlattr **tb,
			     struct fabric_line_config *line,
			     struct netlink_ext_ack *extack)
{
	const struct fabric_sched *q = qdisc_priv(sch);
	const struct nlattr *rate = tb[TCA_FABRIC_RATE_BPS];
	const struct nlattr *delay = tb[TCA_FABRIC_DELAY_NS];
	const struct nlattr *overhead = tb[TCA_FABRIC_OVERHEAD_BYTES];
	const struct nlattr *mpu = tb[TCA_FABRIC_MPU_BYTES];

	line->rate_bps = rate ? nla_get_u64(rate) : q->line.rate_bps;
	line->delay_ns = delay ? nla_get_u64(delay) : q->delay_ns;
	line->overhead_bytes = overhead ? nla_get_u32(overhead) :
					  q->overhead_bytes;
	line->mpu_bytes = mpu ? nla_get_u32(mpu) : q->mpu_bytes;

	if (line->rate_bps) {
		if (line->rate_bps < FABRIC_RATE_MIN_BPS ||
		    line->rate_bps > FABRIC_RATE_MAX_BPS)
			return fabric_refuse_attr(extack, rate,
						  "rate must be 0 (none) or 1 kbit/s to 10 Tbit/s");
		if (fabric_is_one_of_queues(sch))
			return fabric_refuse_attr(extack, rate,
						  "rate needs the whole device: below mq each queue would have it");
		return 0;
	}
	if (line->delay_ns)
		return fabric_refuse_attr(extack, delay ? delay : rate,
					  "delay needs a rate");
	return 0;
}

/* Puts new settings of the line into force. Root lock held. */
static void fabric_line_apply(struct Qdisc *sch,
			      const struct fabric_line_config *line)
{
	struct fabric_sched *q = qdisc_priv(sch);
	u64 now_ns = ktime_get_ns();

	if (q->line.rate_bps)
		fabric_line_advance(sch, now_ns);
	if (!line->rate_bps)
		fabric_line_release(q, now_ns);

	fabric_line_set_rate(&q->line, line->rate_bps, now_ns);
	fabric_line_not_before(&q->line, q->sending ? 0 : now_ns);
	q->delay_ns = line->delay_ns;
	q->flying_max_bytes = min_t(u64, U32_MAX,
				    mul_u64_u64_div_u64(line->delay_ns,
							line->rate_bps,
							8ULL * NSEC_PER_SEC));
	q->overhead_bytes = line->overhead_bytes;
	q->mpu_bytes = line->mpu_bytes;
	if (q->sending)
		fabric_cb(q->sending)->deliver_ns =
			fabric_line_ceil_ns(&q->line) + q->delay_ns;
	if (q->line.rate_bps)
		fabric_line_advance(sch, now_ns);
}

/* Rate of the line after a change, or the device's speed, bit/s; 0: nobody knows it, or
 * the port is but one queue of the device.
 */
static u64 fabric_known_bps(struct Qdisc *sch, struct nlattr **tb, u64 rate_bps)
{
	const struct fabric_sched *q = qdisc_priv(sch);
	u64 speed_bps = 0;

	if (rate_bps)
		return rate_bps;
	if (tb[TCA_FABRIC_SPEED_BPS])
		speed_bps = nla_get_u64(tb[TCA_FABRIC_SPEED_BPS]);
	else if (q->isolate)
		speed_bps = fabric_isolate_settings(q)->speed_bps;
	if (fabric_is_one_of_queues(sch))
		return 0;
	speed_bps = speed_bps ?: fabric_device_bps(qdisc_dev(sch));
	/* without a carrier most devices tell none: other settings may change meanwhile */
	if (!speed_bps && !tb[TCA_FABRIC_RATE_BPS] && !tb[TCA_FABRIC_SPEED_BPS])
		speed_bps = q->load.rate_bps;
	return speed_bps;
}

/* Telemetry: numbers have a meaning only with a kind. */
static int fabric_stamp_parse(const struct fabric_sched *q, struct nlattr **tb,
			      struct fabric_stamp *stamp, u64 line_bps,
			      struct netlink_ext_ack *extack)
{
	const struct nlattr *tau = tb[TCA_FABRIC_STAMP_TAU_NS];
	const struct nlattr *round = tb[TCA_FABRIC_STAMP_ROUND_NS];
	const struct nlattr *hold = tb[TCA_FABRIC_STAMP_HOLD_NS];

	if (!tb[TCA_FABRIC_ANEW]) {
		stamp->kind = q->stamp.kind;
		stamp->tau_ns = q->stamp.tau_ns;
		stamp->round_ns = q->stamp.round_ns;
		stamp->hold_ns = q->stamp.hold_ns;
	}
	if (tb[TCA_FABRIC_STAMP])
		stamp->kind = nla_get_u8(tb[TCA_FABRIC_STAMP]);
	if (tau)
		stamp->tau_ns = nla_get_u32(tau);
	if (round)
		stamp->round_ns = nla_get_u32(round);
	if (hold)
		stamp->hold_ns = nla_get_u32(hold);
	if (!stamp->kind && (tau || round || hold))
		return fabric_refuse_attr(extack, tau ?: round ?: hold,
					  "stamp-tau, stamp-round and stamp-hold need stamp");
	if (stamp->round_ns & (stamp->round_ns - 1))
		return fabric_refuse_attr(extack, round,
					  "stamp-round must be a power of two");
	if (fabric_stamps_load(stamp)) {
		if (stamp->tau_ns || stamp->round_ns)
			return fabric_refuse_attr(extack, tau ?: round,
						  "stamp-tau and stamp-round are of delays, not of loads");
		if (!line_bps)
			return fabric_refuse_attr(extack, tb[TCA_FABRIC_STAMP],
						  "a load is of a whole line: say rate RATE where the device tells no speed");
	}
	if (!stamp->kind) {
		stamp->tau_ns = 0;
		stamp->round_ns = 0;
		stamp->hold_ns = 0;
	}
	return 0;
}

/**
 * struct fabric_change - settings after a change, checked
 * @line: the line
 * @maps: bands and tables
 * @stamp: telemetry
 * @line_bps: of the line, or of the device, where a load needs it; 0: not known
 * @buffer: shared buffer
 * @isolate: the port's switch
 * @named: bands that the change names
 * @bands: their settings
 */
struct fabric_change {
	struct fabric_line_config line;
	struct fabric_maps maps;
	struct fabric_stamp stamp;
	u64 line_bps;
	struct fabric_buffer *buffer;
	struct fabric_isolate_config isolate;
	u16 named;
	struct fabric_class_config bands[FABRIC_BANDS_MAX];
};

/* All bands begin with their defaults. */
static void fabric_bands_anew(const struct fabric_sched *q,
			      struct fabric_change *change)
{
	int i;

	for (i = 0; i < change->maps.nbands; i++)
		fabric_class_anew(q, &q->bands[i], &change->bands[i]);
	change->named = BIT(change->maps.nbands) - 1;
}

/* Settings of bands within those of the port. */
static int fabric_bands_parse(const struct fabric_sched *q, struct nlattr **tb,
			      struct fabric_change *change,
			      struct netlink_ext_ack *extack)
{
	bool buffered = q->buffer;
	struct nlattr *nest;
	int rem, err;

	if (tb[TCA_FABRIC_BUFFER_NAME])
		buffered = *(char *)nla_data(tb[TCA_FABRIC_BUFFER_NAME]);
	if (tb[TCA_FABRIC_ANEW])
		fabric_bands_anew(q, change);
	if (!tb[TCA_FABRIC_BAND_OPTIONS])
		return 0;
	nla_for_each_nested(nest, tb[TCA_FABRIC_BAND_OPTIONS], rem) {
		int i = nla_type(nest) - 1;

		if (i < 0 || i >= change->maps.nbands)
			return fabric_refuse_attr(extack, nest,
						  "options for a band that is not there");
		if (!(change->named & BIT(i)))
			fabric_class_read(q, &q->bands[i], &change->bands[i]);
		change->named |= BIT(i);
		err = fabric_class_parse(nest, buffered, &change->bands[i],
					 extack);
		if (err)
			return err;
	}
	return 0;
}

/* The band whose queue is no fifo after the change; -1: none, -2: more than one. */
static int fabric_queue_band(const struct fabric_sched *q,
			     const struct fabric_change *change)
{
	int i, found = -1;

	for (i = 0; i < change->maps.nbands; i++) {
		if (!(change->named & BIT(i) ? change->bands[i].queue :
					       q->bands[i].queue))
			continue;
		if (found >= 0)
			return -2;
		found = i;
	}
	return found;
}

/* The queue of a band after the change. */
static u8 fabric_queue_after(const struct fabric_sched *q,
			     const struct fabric_change *change, int band)
{
	if (band < 0)
		return FABRIC_QUEUE_FIFO;
	return change->named & BIT(band) ? change->bands[band].queue :
					   q->bands[band].queue;
}

/* How many queues of flows a band has after the change. */
static u8 fabric_queues_after(const struct fabric_sched *q,
			      const struct fabric_change *change, int band)
{
	if (band < 0)
		return 0;
	return change->named & BIT(band) ? change->bands[band].queues :
					   fabric_hash_queues(q, &q->bands[band]);
}

/* Has that band of a port so many queues of flows, and no other band? */
static bool fabric_hash_same(const struct fabric_sched *q, int band, u8 queues)
{
	return band < 0 ? !q->hash : queues == fabric_hash_queues(q, &q->bands[band]);
}

/* Why a port cannot have this queue and this switch, NULL: it can. */
static const char *fabric_isolate_refused(struct Qdisc *sch, int band,
					  const struct fabric_isolate_config *settings,
					  u64 rate_bps)
{
	const struct fabric_sched *q = qdisc_priv(sch);

	if (band == -2)
		return "one band of a port can isolate, hash or have pfc";
	if (band >= 0 && !settings->id && settings->queue != FABRIC_QUEUE_HASH)
		return "queue isolate and queue pfc need a switch";
	if (settings->id && rate_bps)
		return "a port of a switch is no line: the device has the speed";
	if (settings->queue == FABRIC_QUEUE_PFC && band >= PFC_CLASSES)
		return "pfc has 8 classes, which are bands 1 to 8";
	if (q->made && (q->isolate ? !fabric_isolate_same(settings, fabric_isolate_settings(q)) :
				     settings->id || !fabric_hash_same(q, band, settings->queues)))
		return "switch and queue are chosen when the port is made";
	if (settings->id && sch->parent != TC_H_ROOT)
		return "a port of a switch is the root of its device";
	return NULL;
}

/* The port's switch: said when the port is made, and as it was later. */
static int fabric_isolate_parse(struct Qdisc *sch, struct nlattr **tb,
				struct fabric_change *change,
				struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct fabric_isolate_config *settings = &change->isolate;
	int band = fabric_queue_band(q, change), err = 0;
	const char *refused;

	settings->frames = FABRIC_FRAMES_NONE;
	if (q->isolate)
		*settings = *fabric_isolate_settings(q);
	if (tb[TCA_FABRIC_SWITCH])
		settings->id = nla_get_u32(tb[TCA_FABRIC_SWITCH]);
	if (tb[TCA_FABRIC_SWITCH_PORT])
		settings->port = nla_get_u8(tb[TCA_FABRIC_SWITCH_PORT]);
	if (tb[TCA_FABRIC_SPEED_BPS])
		settings->speed_bps = nla_get_u64(tb[TCA_FABRIC_SPEED_BPS]);
	if (tb[TCA_FABRIC_HOP_RTT_NS])
		settings->hop_rtt_ns = nla_get_u32(tb[TCA_FABRIC_HOP_RTT_NS]);
	if (tb[TCA_FABRIC_FRAMES])
		settings->frames = nla_get_u8(tb[TCA_FABRIC_FRAMES]);
	settings->queue = fabric_queue_after(q, change, band);
	settings->queues = fabric_queues_after(q, change, band);
	settings->band = band < 0 ? 0 : band;
	refused = fabric_isolate_refused(sch, band, settings, change->line.rate_bps);
	if (refused)
		return fabric_refuse_attr(extack, tb[settings->id && change->line.rate_bps ?
						     TCA_FABRIC_RATE_BPS : TCA_FABRIC_SWITCH],
					  refused);
	if (settings->queue == FABRIC_QUEUE_HASH && !q->hash)
		err = fabric_hash_make(q, &q->bands[band], settings->queues);
	if (!err && settings->id && !q->isolate)
		err = fabric_isolate_join(sch, settings, extack);
	return err;
}

/* Is what was said of the role what it is? */
static bool fabric_border_same(const struct fabric_border_config *a,
			       const struct fabric_border_config *b)
{
	return a->role == b->role && a->form == b->form && a->wait_ns == b->wait_ns &&
	       a->theta_ns == b->theta_ns && a->weight_milli == b->weight_milli &&
	       a->host_bps == b->host_bps;
}

/* Why a port cannot have the role, NULL: it can. */
static const char *fabric_role_refused(struct Qdisc *sch, const struct fabric_change *change,
				       u8 role, u8 split_gso)
{
	if (change->stamp.kind != FABRIC_STAMP_LOAD)
		return "a port with a role stamps loads: say stamp load";
	if (role != FABRIC_ROLE_LAN)
		return NULL;
	if (change->line.rate_bps || sch->parent != TC_H_ROOT)
		return "a port of role lan is no line, and the root of a device that has the speed";
	if (change->isolate.id || change->isolate.queue)
		return "a port of role lan is no port of a switch and has no queue hash";
	if (!split_gso)
		return "role lan needs split-gso";
	return NULL;
}

/* The port's role in a border router: said when the port is made, and as it was later. */
static int fabric_role_parse(struct Qdisc *sch, struct nlattr **tb,
			     struct fabric_change *change, struct netlink_ext_ack *extack)
{
	struct fabric_border_config settings = {
		.wait_ns = FABRIC_FLOW_WAIT_DEFAULT_NS,
		.weight_milli = FABRIC_FLOW_WEIGHT_DEFAULT_MILLI,
	};
	const struct fabric_sched *q = qdisc_priv(sch);
	u8 split_gso = q->split_gso;
	const char *refused;

	if (q->border)
		settings = *fabric_border_settings(q);
	if (tb[TCA_FABRIC_ROLE])
		settings.role = nla_get_u8(tb[TCA_FABRIC_ROLE]);
	if (tb[TCA_FABRIC_HOST_RATE_BPS])
		settings.host_bps = nla_get_u64(tb[TCA_FABRIC_HOST_RATE_BPS]);
	if (tb[TCA_FABRIC_FLOW_WAIT_NS])
		settings.wait_ns = nla_get_u32(tb[TCA_FABRIC_FLOW_WAIT_NS]);
	if (tb[TCA_FABRIC_FLOW_THETA_NS])
		settings.theta_ns = nla_get_u32(tb[TCA_FABRIC_FLOW_THETA_NS]);
	if (tb[TCA_FABRIC_FLOW_FORM])
		settings.form = nla_get_u8(tb[TCA_FABRIC_FLOW_FORM]);
	if (tb[TCA_FABRIC_FLOW_WEIGHT_MILLI])
		settings.weight_milli = nla_get_u32(tb[TCA_FABRIC_FLOW_WEIGHT_MILLI]);
	if (tb[TCA_FABRIC_ANEW])
		split_gso = true;
	if (tb[TCA_FABRIC_SPLIT_GSO])
		split_gso = nla_get_u8(tb[TCA_FABRIC_SPLIT_GSO]);
	if (settings.role != FABRIC_ROLE_LAN &&
	    (tb[TCA_FABRIC_HOST_RATE_BPS] || tb[TCA_FABRIC_FLOW_WAIT_NS] ||
	     tb[TCA_FABRIC_FLOW_THETA_NS] || tb[TCA_FABRIC_FLOW_FORM] ||
	     tb[TCA_FABRIC_FLOW_WEIGHT_MILLI]))
		return fabric_refuse_attr(extack, NULL,
					  "host-rate and flow-... are of a port of role lan");
	if (q->made && (q->border ? !fabric_border_same(&settings, fabric_border_settings(q)) :
				    settings.role != FABRIC_ROLE_NONE))
		return fabric_refuse_attr(extack, tb[TCA_FABRIC_ROLE],
					  "a role, host-rate and flow-... are chosen when the port is made");
	if (!settings.role)
		return 0;
	refused = fabric_role_refused(sch, change, settings.role, split_gso);
	if (refused)
		return fabric_refuse_attr(extack, tb[TCA_FABRIC_ROLE], refused);
	return q->border ? 0 : fabric_border_join(sch, &settings, change->line_bps, extack);
}

/* Bytes of the buffer that the bands have for themselves, after the change if
 * one is given.
 */
static s64 fabric_reserved_bytes(const struct fabric_sched *q,
				 const struct fabric_change *change)
{
	unsigned int i, nbands = change ? change->maps.nbands : q->nbands;
	s64 bytes = 0;

	for (i = 0; i < nbands; i++)
		bytes += change && change->named & BIT(i) ?
			 change->bands[i].reserved_bytes :
			 q->bands[i].reserved_bytes;
	return bytes;
}

/* The shared buffer after the change; the port is a user of it from now on,
 * and its bands' reserved bytes are counted.
 */
static int fabric_buffer_parse(struct Qdisc *sch, struct nlattr **tb,
			       struct fabric_change *change,
			       struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	const struct nlattr *name = tb[TCA_FABRIC_BUFFER_NAME];
	const struct nlattr *bytes = tb[TCA_FABRIC_BUFFER_BYTES];
	struct fabric_buffer *buffer;
	u32 total = bytes ? nla_get_u32(bytes) : 0;
	const char *text = "";
	s64 more_bytes;

	if (name)
		text = nla_data(name);
	else if (q->buffer)
		text = fabric_buffer_name(q->buffer);
	if (!*text) {
		if (bytes)
			return fabric_refuse_attr(extack, bytes,
						  "a size needs a shared buffer's name");
		return 0;
	}
	buffer = fabric_buffer_get(dev_net(qdisc_dev(sch)), text, total,
				   extack);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	more_bytes = fabric_reserved_bytes(q, change);
	if (buffer == q->buffer)
		more_bytes -= fabric_reserved_bytes(q, NULL);
	/* One that the port has already is counted twice now. */
	if (total && !fabric_buffer_size_fits(buffer, total,
					      buffer == q->buffer ? 2 : 1)) {
		fabric_buffer_put(buffer);
		return fabric_refuse_attr(extack, bytes,
					  "other ports share this buffer, and it has another size");
	}
	if (fabric_buffer_reserve(buffer, more_bytes, total)) {
		change->buffer = buffer;
		return 0;
	}
	fabric_buffer_put(buffer);
	return fabric_refuse_attr(extack, name ? name : bytes,
				  "what the bands have reserved does not fit into the shared buffer");
}

/* Moves what waits from the old buffer to the new one. Root lock held. */
static void fabric_buffer_apply(struct fabric_sched *q,
				struct fabric_buffer *buffer)
{
	unsigned int i;

	for (i = 0; i < FABRIC_BANDS_MAX; i++) {
		struct fabric_band *band = &q->bands[i];

		if (q->buffer)
			fabric_buffer_leave(q->buffer, band);
		if (!buffer) {
			band->reserved_bytes = 0;
			band->alpha_milli = FABRIC_ALPHA_ONE;
			continue;
		}
		fabric_buffer_join(buffer, band);
	}
	q->buffer = buffer;
}

/* Numbers that need no check but their range, where nothing was said. */
static void fabric_numbers_default(struct fabric_sched *q)
{
	q->limit_bytes = FABRIC_LIMIT_DEFAULT_BYTES;
	q->split_gso = true;
	memset(&q->ecn, 0, sizeof(q->ecn));
	q->ecn.red.prob = FABRIC_PROB_ONE;
}

/* The same as they were said. Root lock held. */
static void fabric_numbers_apply(struct fabric_sched *q, struct nlattr **tb)
{
	unsigned int i;

	if (tb[TCA_FABRIC_ANEW])
		fabric_numbers_default(q);
	if (tb[TCA_FABRIC_LIMIT_BYTES])
		q->limit_bytes = nla_get_u32(tb[TCA_FABRIC_LIMIT_BYTES]);
	if (tb[TCA_FABRIC_SPLIT_GSO])
		q->split_gso = nla_get_u8(tb[TCA_FABRIC_SPLIT_GSO]);
	if (tb[TCA_FABRIC_ECN_BYTES]) {
		q->ecn.red.min = nla_get_u32(tb[TCA_FABRIC_ECN_BYTES]);
		q->ecn.red.max = q->ecn.red.min;
	}
	if (tb[TCA_FABRIC_ECN_AT])
		q->ecn.at = nla_get_u8(tb[TCA_FABRIC_ECN_AT]);
	for (i = 0; i < FABRIC_BANDS_MAX; i++) {
		if (!q->bands[i].ecn.own)
			q->bands[i].ecn = q->ecn;
	}
}

/* Settings of a port for which nothing was said. */
void fabric_config_default(struct fabric_sched *q)
{
	u64 now_ns = ktime_get_ns();
	unsigned int i;

	fabric_numbers_default(q);
	q->overhead_bytes = FABRIC_OVERHEAD_DEFAULT_BYTES;
	q->mpu_bytes = FABRIC_MPU_DEFAULT_BYTES;
	q->nbands = 1;
	q->default_band = FABRIC_BAND_LAST;
	q->random = get_random_u32() | 1;
	for (i = 0; i < FABRIC_BANDS_MAX; i++) {
		q->bands[i].stats.meter.start_ns = now_ns;
		fabric_class_default(q, &q->bands[i]);
	}
	fabric_classify_update(q);
	fabric_band_update(q);
}

/* Leaves the shared buffer; the bands are empty. */
void fabric_config_free(struct fabric_sched *q)
{
	if (!q->buffer)
		return;
	fabric_buffer_reserve(q->buffer, -fabric_reserved_bytes(q, NULL), 0);
	fabric_buffer_put(q->buffer);
	q->buffer = NULL;
}

/* Puts a checked change into force. */
static void fabric_change_apply(struct Qdisc *sch, struct nlattr **tb,
				struct fabric_change *change)
{
	struct fabric_sched *q = qdisc_priv(sch);
	s64 reserved_bytes = fabric_reserved_bytes(q, NULL);
	struct fabric_buffer *old = q->buffer;
	unsigned int i;

	fabric_class_remove(sch, change->maps.nbands);

	sch_tree_lock(sch);
	fabric_buffer_apply(q, change->buffer);
	fabric_maps_apply(q, &change->maps);
	fabric_numbers_apply(q, tb);
	for (i = 0; i < q->nbands; i++) {
		if (change->named & BIT(i))
			fabric_class_apply(q, &q->bands[i], &change->bands[i]);
	}
	q->stamp.kind = change->stamp.kind;
	q->stamp.tau_ns = change->stamp.tau_ns;
	q->stamp.round_ns = change->stamp.round_ns;
	q->stamp.hold_ns = change->stamp.hold_ns;
	q->stamp.told_ns = 0;
	q->stamp.since_ns = 0;
	fabric_load_set(&q->load, fabric_stamps_load(&q->stamp) ? change->line_bps : 0,
			q->stamp.kind == FABRIC_STAMP_POWER);
	fabric_line_apply(sch, &change->line);
	fabric_band_update(q);
	fabric_look_again(sch);
	sch_tree_unlock(sch);

	if (!old)
		return;
	if (old != change->buffer)
		fabric_buffer_reserve(old, -reserved_bytes, 0);
	fabric_buffer_put(old);
}

/**
 * fabric_config_change() - apply settings, all of them or none
 * @sch: the qdisc, perhaps with packets in it: none is lost, a limit below
 *	what is waiting only refuses arrivals; but bands that go lose theirs
 * @opt: TCA_OPTIONS; what it does not hold stays as it is
 * @extack: why not
 *
 * Context: rtnl held.
 * Return: 0 or a negative error.
 */
int fabric_config_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct fabric_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_FABRIC_MAX + 1];
	struct fabric_change *change;
	int err;

	err = nla_parse_nested(tb, TCA_FABRIC_MAX, opt, fabric_policy, extack);
	if (err == -ERANGE)
		fabric_name_range(extack, fabric_texts,
				  ARRAY_SIZE(fabric_texts));
	if (err < 0)
		return err;
	change = kzalloc(sizeof(*change), GFP_KERNEL_ACCOUNT);
	if (!change)
		return -ENOMEM;
	err = fabric_line_parse(sch, tb, &change->line, extack);
	if (!err)
		err = fabric_maps_parse(q, tb, &change->maps, extack);
	if (!err)
		change->line_bps = fabric_known_bps(sch, tb, change->line.rate_bps);
	if (!err)
		err = fabric_stamp_parse(q, tb, &change->stamp, change->line_bps, extack);
	if (!err)
		err = fabric_bands_parse(q, tb, change, extack);
	if (!err)
		err = fabric_isolate_parse(sch, tb, change, extack);
	if (!err)
		err = fabric_role_parse(sch, tb, change, extack);
	if (!err)
		err = fabric_buffer_parse(sch, tb, change, extack);
	if (!err)
		fabric_change_apply(sch, tb, change);
	kfree(change);
	return err;
}

/* Writes the line, ECN and telemetry where they are on. */
static int fabric_dump_parts(const struct fabric_sched *q, struct sk_buff *skb)
{
	if (q->line.rate_bps &&
	    (nla_put_u64_64bit(skb, TCA_FABRIC_RATE_BPS, q->line.rate_bps,
			       TCA_FABRIC_PAD) ||
	     nla_put_u64_64bit(skb, TCA_FABRIC_DELAY_NS, q->delay_ns,
			       TCA_FABRIC_PAD)))
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_FABRIC_OVERHEAD_BYTES, q->overhead_bytes) ||
	    nla_put_u32(skb, TCA_FABRIC_MPU_BYTES, q->mpu_bytes))
		return -EMSGSIZE;
	if (q->ecn.red.max &&
	    (nla_put_u32(skb, TCA_FABRIC_ECN_BYTES, q->ecn.red.max) ||
	     nla_put_u8(skb, TCA_FABRIC_ECN_AT, q->ecn.at)))
		return -EMSGSIZE;
	if (q->stamp.kind &&
	    (nla_put_u8(skb, TCA_FABRIC_STAMP, q->stamp.kind) ||
	     nla_put_u32(skb, TCA_FABRIC_STAMP_TAU_NS, q->stamp.tau_ns) ||
	     nla_put_u32(skb, TCA_FABRIC_STAMP_ROUND_NS, q->stamp.round_ns) ||
	     nla_put_u32(skb, TCA_FABRIC_STAMP_HOLD_NS, q->stamp.hold_ns)))
		return -EMSGSIZE;
	if (q->isolate) {
		const struct fabric_isolate_config *settings =
			fabric_isolate_settings(q);

		if (nla_put_u32(skb, TCA_FABRIC_SWITCH, settings->id) ||
		    nla_put_u8(skb, TCA_FABRIC_SWITCH_PORT, settings->port) ||
		    nla_put_u64_64bit(skb, TCA_FABRIC_SPEED_BPS,
				      settings->speed_bps, TCA_FABRIC_PAD) ||
		    nla_put_u32(skb, TCA_FABRIC_HOP_RTT_NS, settings->hop_rtt_ns) ||
		    nla_put_u8(skb, TCA_FABRIC_FRAMES, settings->frames))
			return -EMSGSIZE;
	}
	if (q->buffer &&
	    (nla_put_string(skb, TCA_FABRIC_BUFFER_NAME,
			    fabric_buffer_name(q->buffer)) ||
	     nla_put_u32(skb, TCA_FABRIC_BUFFER_BYTES,
			 fabric_buffer_bytes(q->buffer))))
		return -EMSGSIZE;
	return 0;
}

/* Writes the port's role. */
static int fabric_dump_role(const struct fabric_sched *q, struct sk_buff *skb)
{
	const struct fabric_border_config *settings;

	if (!q->border)
		return 0;
	settings = fabric_border_settings(q);
	if (nla_put_u8(skb, TCA_FABRIC_ROLE, settings->role))
		return -EMSGSIZE;
	if (settings->role == FABRIC_ROLE_LAN &&
	    (nla_put_u64_64bit(skb, TCA_FABRIC_HOST_RATE_BPS, settings->host_bps, TCA_FABRIC_PAD) ||
	     nla_put_u32(skb, TCA_FABRIC_FLOW_WAIT_NS, settings->wait_ns) ||
	     nla_put_u32(skb, TCA_FABRIC_FLOW_THETA_NS, settings->theta_ns) ||
	     nla_put_u8(skb, TCA_FABRIC_FLOW_FORM, settings->form) ||
	     nla_put_u32(skb, TCA_FABRIC_FLOW_WEIGHT_MILLI, settings->weight_milli)))
		return -EMSGSIZE;
	return 0;
}

/* Writes the settings of the bands. */
static int fabric_dump_bands(const struct fabric_sched *q, struct sk_buff *skb)
{
	struct nlattr *all, *one;
	unsigned int i;

	all = nla_nest_start(skb, TCA_FABRIC_BAND_OPTIONS);
	if (!all)
		return -EMSGSIZE;
	for (i = 0; i < q->nbands; i++) {
		one = nla_nest_start(skb, 1 + i);
		if (!one || fabric_class_dump_options(skb, q, &q->bands[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, one);
	}
	nla_nest_end(skb, all);
	return 0;
}

/* Writes every setting, as a message that makes the same port; what has no meaning
 * now is left out.
 * Context: rtnl held, so that nothing changes.
 */
int fabric_config_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct fabric_sched *q = qdisc_priv(sch);
	struct nlattr *opt;

	opt = nla_nest_start(skb, TCA_OPTIONS);
	if (!opt)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_FABRIC_LIMIT_BYTES, q->limit_bytes) ||
	    nla_put_u8(skb, TCA_FABRIC_SPLIT_GSO, q->split_gso) ||
	    fabric_maps_dump(q, skb) || fabric_dump_parts(q, skb) ||
	    fabric_dump_role(q, skb) ||
	    fabric_dump_bands(q, skb)) {
		nla_nest_cancel(skb, opt);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opt);
}
