// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: settings of the port, from netlink and back to it.
 */
#include "fabric.h"

static const struct nla_policy fabric_policy[TCA_FABRIC_MAX + 1] = {
	[TCA_FABRIC_LIMIT_BYTES]	= { .type = NLA_U32 },
	[TCA_FABRIC_RATE_BPS]		= { .type = NLA_U64 },
	[TCA_FABRIC_DELAY_NS]		= { .type = NLA_U64 },
	[TCA_FABRIC_OVERHEAD_BYTES]	= { .type = NLA_U32 },
	[TCA_FABRIC_ECN_BYTES]		= { .type = NLA_U32 },
	[TCA_FABRIC_ECN_AT]		= { .type = NLA_U8 },
	[TCA_FABRIC_SPLIT_GSO]		= { .type = NLA_U8 },
	[TCA_FABRIC_BANDS]		= { .type = NLA_U8 },
	[TCA_FABRIC_DEFAULT_BAND]	= { .type = NLA_U8 },
	[TCA_FABRIC_PRIOMAP]		= { .type = NLA_BINARY },
	[TCA_FABRIC_DSCPMAP]		= { .type = NLA_BINARY },
	[TCA_FABRIC_BUFFER_NAME]	= { .type = NLA_NUL_STRING,
					    .len = FABRIC_BUFFER_NAME_LEN - 1 },
	[TCA_FABRIC_BUFFER_BYTES]	= { .type = NLA_U32 },
	[TCA_FABRIC_STAMP]		= { .type = NLA_U8 },
	[TCA_FABRIC_STAMP_TAU_NS]	= { .type = NLA_U32 },
	[TCA_FABRIC_STAMP_ROUND_NS]	= { .type = NLA_U32 },
	[TCA_FABRIC_STAMP_HOLD_NS]	= { .type = NLA_U32 },
	[TCA_FABRIC_BAND_OPTIONS]	= { .type = NLA_NESTED },
};

static const struct fabric_range fabric_ranges[] = {
	{ TCA_FABRIC_LIMIT_BYTES, 1, FABRIC_LIMIT_MAX_BYTES,
	  "limit must be 1 byte to 1 GiB" },
	{ TCA_FABRIC_DELAY_NS, 0, FABRIC_DELAY_MAX_NS,
	  "delay must be at most 10 seconds" },
	{ TCA_FABRIC_OVERHEAD_BYTES, 0, FABRIC_OVERHEAD_MAX_BYTES,
	  "overhead must be at most 1024 bytes" },
	{ TCA_FABRIC_ECN_BYTES, 0, FABRIC_LIMIT_MAX_BYTES,
	  "ecn threshold must be at most 1 GiB" },
	{ TCA_FABRIC_ECN_AT, 0, FABRIC_ECN_AT_DEQUEUE,
	  "ecn must act at enqueue (0) or dequeue (1)" },
	{ TCA_FABRIC_SPLIT_GSO, 0, 1, "split-gso must be 0 or 1" },
	{ TCA_FABRIC_BANDS, 1, FABRIC_BANDS_MAX, "bands must be 1 to 16" },
	{ TCA_FABRIC_BUFFER_BYTES, 1, FABRIC_LIMIT_MAX_BYTES,
	  "buffer must be 1 byte to 1 GiB" },
	{ TCA_FABRIC_STAMP, 0, __FABRIC_STAMP_MAX - 1,
	  "stamp must be none, soze or tcp-int" },
	{ TCA_FABRIC_STAMP_TAU_NS, 0, FABRIC_STAMP_TAU_MAX_NS,
	  "stamp-tau must be at most 1 second" },
	{ TCA_FABRIC_STAMP_ROUND_NS, 0, FABRIC_STAMP_ROUND_MAX_NS,
	  "stamp-round must be at most 65536 ns" },
	{ TCA_FABRIC_STAMP_HOLD_NS, 0, FABRIC_STAMP_HOLD_MAX_NS,
	  "stamp-hold must be at most 1 second" },
};

/**
 * struct fabric_line_config - settings of the line after a change
 * @rate_bps: 0 if there is no line model
 * @delay_ns: propagation
 * @overhead_bytes: added to each packet
 */
struct fabric_line_config {
	u64 rate_bps;
	u64 delay_ns;
	u32 overhead_bytes;
};

/* Works out the line's settings from the old ones and those given. */
static int fabric_line_parse(const struct fabric_sched *q, struct nlattr **tb,
			     struct fabric_line_config *line,
			     struct netlink_ext_ack *extack)
{
	const struct nlattr *rate = tb[TCA_FABRIC_RATE_BPS];
	const struct nlattr *delay = tb[TCA_FABRIC_DELAY_NS];
	const struct nlattr *overhead = tb[TCA_FABRIC_OVERHEAD_BYTES];

	line->rate_bps = rate ? nla_get_u64(rate) : q->line.rate_bps;
	line->delay_ns = delay ? nla_get_u64(delay) : q->delay_ns;
	line->overhead_bytes = overhead ? nla_get_u32(overhead) :
					  q->overhead_bytes;

	if (line->rate_bps) {
		if (line->rate_bps < FABRIC_RATE_MIN_BPS ||
		    line->rate_bps > FABRIC_RATE_MAX_BPS)
			return fabric_refuse_attr(extack, rate,
						  "rate must be 0 (none) or 1 kbit/s to 10 Tbit/s");
		return 0;
	}
	if (line->delay_ns)
		return fabric_refuse_attr(extack, delay ? delay : rate,
					  "delay needs a rate");
	if (overhead)
		return fabric_refuse_attr(extack, overhead,
					  "overhead needs a rate");
	line->overhead_bytes = FABRIC_OVERHEAD_DEFAULT_BYTES;
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
	else if (!q->line.rate_bps)
		q->line.finish_ns = now_ns;

	fabric_line_set_rate(&q->line, line->rate_bps);
	q->delay_ns = line->delay_ns;
	q->overhead_bytes = line->overhead_bytes;
	if (q->line.rate_bps)
		fabric_line_advance(sch, now_ns);
}

/* Telemetry: numbers have a meaning only with a kind. */
static int fabric_stamp_parse(const struct fabric_sched *q, struct nlattr **tb,
			      struct fabric_stamp *stamp,
			      struct netlink_ext_ack *extack)
{
	const struct nlattr *tau = tb[TCA_FABRIC_STAMP_TAU_NS];
	const struct nlattr *round = tb[TCA_FABRIC_STAMP_ROUND_NS];
	const struct nlattr *hold = tb[TCA_FABRIC_STAMP_HOLD_NS];

	stamp->kind = q->stamp.kind;
	stamp->tau_ns = q->stamp.tau_ns;
	stamp->round_ns = q->stamp.round_ns;
	stamp->hold_ns = q->stamp.hold_ns;
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
 * @buffer: shared buffer
 * @named: bands that the change names
 * @bands: their settings
 */
struct fabric_change {
	struct fabric_line_config line;
	struct fabric_maps maps;
	struct fabric_stamp stamp;
	struct fabric_buffer *buffer;
	u16 named;
	struct fabric_class_config bands[FABRIC_BANDS_MAX];
};

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

/* Numbers that need no check but their range. Root lock held. */
static void fabric_numbers_apply(struct fabric_sched *q, struct nlattr **tb)
{
	unsigned int i;

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

	q->limit_bytes = FABRIC_LIMIT_DEFAULT_BYTES;
	q->overhead_bytes = FABRIC_OVERHEAD_DEFAULT_BYTES;
	q->split_gso = true;
	q->nbands = 1;
	q->default_band = FABRIC_BAND_LAST;
	q->random = get_random_u32() | 1;
	q->ecn.red.prob = FABRIC_PROB_ONE;
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
	if (err < 0)
		return err;
	err = fabric_check_ranges(tb, fabric_ranges, ARRAY_SIZE(fabric_ranges),
				  extack);
	if (err)
		return err;
	change = kzalloc(sizeof(*change), GFP_KERNEL);
	if (!change)
		return -ENOMEM;
	err = fabric_line_parse(q, tb, &change->line, extack);
	if (!err)
		err = fabric_maps_parse(q, tb, &change->maps, extack);
	if (!err)
		err = fabric_stamp_parse(q, tb, &change->stamp, extack);
	if (!err)
		err = fabric_bands_parse(q, tb, change, extack);
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
			       TCA_FABRIC_PAD) ||
	     nla_put_u32(skb, TCA_FABRIC_OVERHEAD_BYTES, q->overhead_bytes)))
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
	if (q->buffer &&
	    (nla_put_string(skb, TCA_FABRIC_BUFFER_NAME,
			    fabric_buffer_name(q->buffer)) ||
	     nla_put_u32(skb, TCA_FABRIC_BUFFER_BYTES,
			 fabric_buffer_bytes(q->buffer))))
		return -EMSGSIZE;
	return 0;
}

/* Writes every setting; what has no meaning now is left out.
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
	    fabric_maps_dump(q, skb) || fabric_dump_parts(q, skb)) {
		nla_nest_cancel(skb, opt);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opt);
}
