// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: settings of a band from netlink and back to it.
 */
#include <linux/math64.h>

#include "fabric_config.h"

FABRIC_RANGE(fabric_range_bytes, 0, FABRIC_LIMIT_MAX_BYTES);
FABRIC_RANGE(fabric_range_rate, 0, FABRIC_RATE_MAX_BPS);
FABRIC_RANGE(fabric_range_quantum, FABRIC_QUANTUM_MIN_BYTES,
	     FABRIC_QUANTUM_MAX_BYTES);
FABRIC_RANGE(fabric_range_burst, 0, FABRIC_BURST_MAX_BYTES);
FABRIC_RANGE(fabric_range_prob, 1, FABRIC_PROB_MAX);
FABRIC_RANGE(fabric_range_alpha, 1, FABRIC_ALPHA_MAX_MILLI);

/**
 * fabric_refuse_attr() - refuse an attribute with a text
 * @extack: where the text goes, may be NULL
 * @attr: the attribute, NULL if it is not one alone
 * @text: lives as long as the module
 *
 * Return: -EINVAL.
 */
int fabric_refuse_attr(struct netlink_ext_ack *extack,
		       const struct nlattr *attr, const char *text)
{
	if (extack) {
		if (attr)
			NL_SET_BAD_ATTR(extack, attr);
		extack->_msg = text;
	}
	return -EINVAL;
}

/**
 * fabric_name_range() - say which option a policy has found out of its range
 * @extack: has what the policy said
 * @texts: what to say instead, by attribute
 * @count: how many texts
 *
 * The policy's "integer out of range" does not say which integer.
 */
void fabric_name_range(struct netlink_ext_ack *extack,
		       const struct fabric_text *texts, size_t count)
{
	const struct fabric_text *text;

	if (!extack || !extack->bad_attr)
		return;
	for (text = texts; text < texts + count; text++) {
		if (text->type == nla_type(extack->bad_attr))
			extack->_msg = text->text;
	}
}

static const struct nla_policy fabric_class_policy[TCA_FABRIC_CLASS_MAX + 1] = {
	[TCA_FABRIC_CLASS_PAD]		= { .type = NLA_FLAG },
	[TCA_FABRIC_CLASS_STRICT]	= { .type = NLA_FLAG },
	[TCA_FABRIC_CLASS_QUANTUM_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_quantum),
	[TCA_FABRIC_CLASS_WEIGHT] =
		NLA_POLICY_RANGE(NLA_U32, 1, FABRIC_WEIGHT_MAX),
	[TCA_FABRIC_CLASS_LIMIT_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_bytes),
	[TCA_FABRIC_CLASS_RATE_BPS] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &fabric_range_rate),
	[TCA_FABRIC_CLASS_BURST_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_burst),
	[TCA_FABRIC_CLASS_EACH_BYTES] =
		NLA_POLICY_MAX(NLA_U32, FABRIC_EACH_MAX_BYTES),
	[TCA_FABRIC_CLASS_ECN_MIN] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_bytes),
	[TCA_FABRIC_CLASS_ECN_MAX] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_bytes),
	[TCA_FABRIC_CLASS_ECN_PROB] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_prob),
	[TCA_FABRIC_CLASS_ECN_UNIT] =
		NLA_POLICY_MAX(NLA_U8, FABRIC_ECN_UNIT_NS),
	[TCA_FABRIC_CLASS_ECN_AT] =
		NLA_POLICY_MAX(NLA_U8, FABRIC_ECN_AT_DEQUEUE),
	[TCA_FABRIC_CLASS_ECN_DROP] = NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_FABRIC_CLASS_GREEN_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_bytes),
	[TCA_FABRIC_CLASS_YELLOW_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_bytes),
	[TCA_FABRIC_CLASS_RED_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_bytes),
	[TCA_FABRIC_CLASS_RESERVED_BYTES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_bytes),
	[TCA_FABRIC_CLASS_ALPHA_MILLI] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &fabric_range_alpha),
	[TCA_FABRIC_CLASS_LIMIT_PACKETS] = { .type = NLA_U32 },
	[TCA_FABRIC_CLASS_QUEUE] =
		NLA_POLICY_MAX(NLA_U8, __FABRIC_QUEUE_MAX - 1),
	[TCA_FABRIC_CLASS_QUEUES] =
		NLA_POLICY_RANGE(NLA_U8, 1, FABRIC_HASH_QUEUES_MAX),
};

static const struct fabric_text fabric_class_texts[] = {
	{ TCA_FABRIC_CLASS_QUEUE,
	  "queue must be fifo (0), isolate (1), pfc (2) or hash (3)" },
	{ TCA_FABRIC_CLASS_QUEUES, "queue hash has 1 to 128 queues" },
	{ TCA_FABRIC_CLASS_QUANTUM_BYTES,
	  "quantum must be 256 bytes to 1 MiB" },
	{ TCA_FABRIC_CLASS_WEIGHT, "weight must be 1 to 256" },
	{ TCA_FABRIC_CLASS_LIMIT_BYTES, "limit must be at most 1 GiB" },
	{ TCA_FABRIC_CLASS_RATE_BPS,
	  "rate must be 0 (none) or 1 kbit/s to 10 Tbit/s" },
	{ TCA_FABRIC_CLASS_BURST_BYTES, "burst must be at most 16 MiB" },
	{ TCA_FABRIC_CLASS_EACH_BYTES, "each must be at most 9216 bytes" },
	{ TCA_FABRIC_CLASS_ECN_MIN,
	  "ecn threshold must be at most 1 GiB or 1.07 seconds" },
	{ TCA_FABRIC_CLASS_ECN_MAX,
	  "ecn threshold must be at most 1 GiB or 1.07 seconds" },
	{ TCA_FABRIC_CLASS_ECN_PROB,
	  "ecn probability must be above 0 and at most 1" },
	{ TCA_FABRIC_CLASS_ECN_UNIT, "ecn unit must be bytes (0) or time (1)" },
	{ TCA_FABRIC_CLASS_ECN_AT,
	  "ecn must act at enqueue (0) or dequeue (1)" },
	{ TCA_FABRIC_CLASS_ECN_DROP, "ecn drop must be 0 or 1" },
	{ TCA_FABRIC_CLASS_GREEN_BYTES, "green must be at most 1 GiB" },
	{ TCA_FABRIC_CLASS_YELLOW_BYTES, "yellow must be at most 1 GiB" },
	{ TCA_FABRIC_CLASS_RED_BYTES, "red must be at most 1 GiB" },
	{ TCA_FABRIC_CLASS_RESERVED_BYTES, "reserved must be at most 1 GiB" },
	{ TCA_FABRIC_CLASS_ALPHA_MILLI, "alpha must be 0.001 to 1000" },
};

/* Settings of a band of which nothing was said; it is empty. */
void fabric_class_default(struct fabric_sched *q, struct fabric_band *band)
{
	unsigned int index = band - q->bands;

	band->limit_bytes = 0;
	band->limit_packets = 0;
	memset(band->colour_limit_bytes, 0, sizeof(band->colour_limit_bytes));
	band->coloured = false;
	band->ecn = q->ecn;
	band->reserved_bytes = 0;
	band->alpha_milli = FABRIC_ALPHA_ONE;
	memset(&band->pass, 0, sizeof(band->pass));
	band->burst_bytes = 0;
	band->burst_ns = 0;
	band->each_bytes = 0;
	band->weight = 0;
	q->shaped &= ~BIT(index);
	q->order.strict |= BIT(index);
	q->order.quantum[index] = 0;
}

/* Settings of a band as they are. */
void fabric_class_read(const struct fabric_sched *q,
		       const struct fabric_band *band,
		       struct fabric_class_config *c)
{
	unsigned int index = band - q->bands;

	c->strict = q->order.strict & BIT(index);
	c->weight = band->weight;
	c->quantum = q->order.quantum[index];
	c->limit_bytes = band->limit_bytes;
	c->limit_packets = band->limit_packets;
	c->rate_bps = band->pass.rate_bps;
	c->burst_bytes = band->burst_bytes;
	c->each_bytes = band->each_bytes;
	c->ecn = band->ecn;
	memcpy(c->colour, band->colour_limit_bytes, sizeof(c->colour));
	c->reserved_bytes = band->reserved_bytes;
	c->alpha_milli = band->alpha_milli;
	c->queue = band->queue;
	c->queues = fabric_hash_queues(q, band);
}

/* Settings of a band of which nothing is said, with the queue that it has. */
void fabric_class_anew(const struct fabric_sched *q,
		       const struct fabric_band *band,
		       struct fabric_class_config *c)
{
	memset(c, 0, sizeof(*c));
	c->strict = true;
	c->alpha_milli = FABRIC_ALPHA_ONE;
	c->queue = band->queue;
	c->queues = fabric_hash_queues(q, band);
}

/* Strict, or round robin by weight or by quantum. */
static int fabric_class_parse_order(struct nlattr **tb,
				    struct fabric_class_config *c,
				    struct netlink_ext_ack *extack)
{
	struct nlattr *quantum = tb[TCA_FABRIC_CLASS_QUANTUM_BYTES];
	struct nlattr *weight = tb[TCA_FABRIC_CLASS_WEIGHT];

	if (tb[TCA_FABRIC_CLASS_STRICT] && (quantum || weight))
		return fabric_refuse_attr(extack, tb[TCA_FABRIC_CLASS_STRICT],
					  "a strict band has neither weight nor quantum");
	if (quantum && weight)
		return fabric_refuse_attr(extack, quantum,
					  "weight and quantum exclude each other");
	if (tb[TCA_FABRIC_CLASS_STRICT] || quantum || weight) {
		c->strict = !quantum && !weight;
		c->weight = weight ? nla_get_u32(weight) : 0;
		c->quantum = quantum ? nla_get_u32(quantum) :
				       c->weight * FABRIC_WEIGHT_BYTES;
	}
	return 0;
}

/* The band's own rate. */
static int fabric_class_parse_rate(struct nlattr **tb,
				   struct fabric_class_config *c,
				   struct netlink_ext_ack *extack)
{
	struct nlattr *rate = tb[TCA_FABRIC_CLASS_RATE_BPS];
	struct nlattr *burst = tb[TCA_FABRIC_CLASS_BURST_BYTES];
	struct nlattr *each = tb[TCA_FABRIC_CLASS_EACH_BYTES];

	if (rate)
		c->rate_bps = nla_get_u64(rate);
	if (burst)
		c->burst_bytes = nla_get_u32(burst);
	if (each)
		c->each_bytes = nla_get_u32(each);
	if (c->rate_bps && c->rate_bps < FABRIC_RATE_MIN_BPS)
		return fabric_refuse_attr(extack, rate,
					  "rate must be 0 (none) or 1 kbit/s to 10 Tbit/s");
	if (!c->rate_bps) {
		if (burst)
			return fabric_refuse_attr(extack, burst,
						  "burst needs a rate");
		if (c->each_bytes && each)
			return fabric_refuse_attr(extack, each,
						  "each needs a rate");
		c->burst_bytes = 0;
		c->each_bytes = 0;
	}
	return 0;
}

/* When the band marks; each threshold set anew replaces the whole. */
static int fabric_class_parse_ecn(struct nlattr **tb,
				  struct fabric_class_config *c,
				  struct netlink_ext_ack *extack)
{
	struct nlattr *min = tb[TCA_FABRIC_CLASS_ECN_MIN];
	struct nlattr *max = tb[TCA_FABRIC_CLASS_ECN_MAX];
	struct nlattr *prob = tb[TCA_FABRIC_CLASS_ECN_PROB];
	struct fabric_ecn *ecn = &c->ecn;

	if (!max) {
		if (min || prob || tb[TCA_FABRIC_CLASS_ECN_UNIT] ||
		    tb[TCA_FABRIC_CLASS_ECN_AT] ||
		    tb[TCA_FABRIC_CLASS_ECN_DROP])
			return fabric_refuse_attr(extack, min,
						  "ecn needs a threshold");
		return 0;
	}
	memset(ecn, 0, sizeof(*ecn));
	ecn->own = true;
	ecn->red.max = nla_get_u32(max);
	ecn->red.min = min ? nla_get_u32(min) : ecn->red.max;
	ecn->red.prob = prob ? nla_get_u32(prob) : FABRIC_PROB_ONE;
	if (tb[TCA_FABRIC_CLASS_ECN_UNIT])
		ecn->unit = nla_get_u8(tb[TCA_FABRIC_CLASS_ECN_UNIT]);
	if (tb[TCA_FABRIC_CLASS_ECN_AT])
		ecn->at = nla_get_u8(tb[TCA_FABRIC_CLASS_ECN_AT]);
	else if (ecn->unit == FABRIC_ECN_UNIT_NS)
		ecn->at = FABRIC_ECN_AT_DEQUEUE;
	if (tb[TCA_FABRIC_CLASS_ECN_DROP])
		ecn->drop = nla_get_u8(tb[TCA_FABRIC_CLASS_ECN_DROP]);

	if (ecn->red.min > ecn->red.max)
		return fabric_refuse_attr(extack, min,
					  "ecn min must not be above max");
	if (prob && ecn->red.min == ecn->red.max)
		return fabric_refuse_attr(extack, prob,
					  "ecn probability needs min below max");
	if (ecn->unit == FABRIC_ECN_UNIT_NS &&
	    ecn->at == FABRIC_ECN_AT_ENQUEUE)
		return fabric_refuse_attr(extack, tb[TCA_FABRIC_CLASS_ECN_AT],
					  "ecn by time acts at dequeue: before, the delay is not known");
	return 0;
}

/* What the band holds of the shared buffer. */
static int fabric_class_parse_buffer(struct nlattr **tb, bool buffered,
				     struct fabric_class_config *c,
				     struct netlink_ext_ack *extack)
{
	struct nlattr *reserved = tb[TCA_FABRIC_CLASS_RESERVED_BYTES];
	struct nlattr *alpha = tb[TCA_FABRIC_CLASS_ALPHA_MILLI];

	if (reserved)
		c->reserved_bytes = nla_get_u32(reserved);
	if (alpha)
		c->alpha_milli = nla_get_u32(alpha);
	if ((reserved || alpha) && !buffered)
		return fabric_refuse_attr(extack, reserved ? reserved : alpha,
					  "reserved and alpha need a shared buffer");
	/* What was reserved of a buffer that the port leaves is gone. */
	if (!buffered) {
		c->reserved_bytes = 0;
		c->alpha_milli = FABRIC_ALPHA_ONE;
	}
	return 0;
}

/* What kind of queue, and how many. */
static int fabric_class_parse_queue(struct nlattr **tb,
				    struct fabric_class_config *c,
				    struct netlink_ext_ack *extack)
{
	struct nlattr *queues = tb[TCA_FABRIC_CLASS_QUEUES];

	if (tb[TCA_FABRIC_CLASS_QUEUE])
		c->queue = nla_get_u8(tb[TCA_FABRIC_CLASS_QUEUE]);
	if (c->queue != FABRIC_QUEUE_HASH) {
		c->queues = 0;
		return !queues ? 0 :
		       fabric_refuse_attr(extack, queues,
					  "only queue hash has a number of queues");
	}
	if (queues)
		c->queues = nla_get_u8(queues);
	else if (!c->queues)
		c->queues = FABRIC_HASH_QUEUES_DEFAULT;
	return 0;
}

/**
 * fabric_class_parse() - work out a band's settings after a change
 * @opt: nest of TCA_FABRIC_CLASS_*
 * @buffered: the port has a shared buffer
 * @c: settings before and after
 * @extack: why not
 *
 * Return: 0 or a negative error.
 */
int fabric_class_parse(struct nlattr *opt, bool buffered,
		       struct fabric_class_config *c,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_FABRIC_CLASS_MAX + 1];
	int err, i;

	err = nla_parse_nested(tb, TCA_FABRIC_CLASS_MAX, opt,
			       fabric_class_policy, extack);
	if (err == -ERANGE)
		fabric_name_range(extack, fabric_class_texts,
				  ARRAY_SIZE(fabric_class_texts));
	if (err < 0)
		return err;
	err = fabric_class_parse_order(tb, c, extack);
	if (!err)
		err = fabric_class_parse_rate(tb, c, extack);
	if (!err)
		err = fabric_class_parse_ecn(tb, c, extack);
	if (!err)
		err = fabric_class_parse_buffer(tb, buffered, c, extack);
	if (!err)
		err = fabric_class_parse_queue(tb, c, extack);
	if (err)
		return err;
	if (tb[TCA_FABRIC_CLASS_LIMIT_BYTES])
		c->limit_bytes = nla_get_u32(tb[TCA_FABRIC_CLASS_LIMIT_BYTES]);
	if (tb[TCA_FABRIC_CLASS_LIMIT_PACKETS])
		c->limit_packets =
			nla_get_u32(tb[TCA_FABRIC_CLASS_LIMIT_PACKETS]);
	for (i = 0; i < FABRIC_COLOURS; i++) {
		if (tb[TCA_FABRIC_CLASS_GREEN_BYTES + i])
			c->colour[i] = nla_get_u32(tb[TCA_FABRIC_CLASS_GREEN_BYTES + i]);
	}
	return 0;
}

/* Puts settings into force. Root lock held. */
void fabric_class_apply(struct fabric_sched *q, struct fabric_band *band,
			const struct fabric_class_config *c)
{
	unsigned int index = band - q->bands, i;

	if (q->buffer)
		fabric_buffer_leave(q->buffer, band);
	band->reserved_bytes = c->reserved_bytes;
	band->alpha_milli = c->alpha_milli;
	if (q->buffer)
		fabric_buffer_join(q->buffer, band);

	band->limit_bytes = c->limit_bytes;
	band->limit_packets = c->limit_packets;
	band->ecn = c->ecn.own ? c->ecn : q->ecn;
	band->coloured = false;
	for (i = 0; i < FABRIC_COLOURS; i++) {
		band->colour_limit_bytes[i] = c->colour[i];
		band->coloured |= c->colour[i];
	}

	fabric_line_set_rate(&band->pass, c->rate_bps, ktime_get_ns());
	band->burst_bytes = c->burst_bytes;
	band->burst_ns = c->rate_bps ?
			 div64_u64((u64)c->burst_bytes * 8 * NSEC_PER_SEC,
				   c->rate_bps) : 0;
	band->each_bytes = c->each_bytes;
	q->shaped &= ~BIT(index);
	if (c->rate_bps || band->pfc)
		q->shaped |= BIT(index);

	band->weight = c->weight;
	q->order.quantum[index] = c->quantum;
	q->order.strict &= ~BIT(index);
	if (c->strict)
		q->order.strict |= BIT(index);
	else if (!(q->order.active & BIT(index)))
		q->order.deficit[index] = 0;
}

/* Writes a band's marking. */
static int fabric_class_dump_ecn(struct sk_buff *skb,
				 const struct fabric_ecn *ecn)
{
	if (!ecn->own)
		return 0;
	if (nla_put_u32(skb, TCA_FABRIC_CLASS_ECN_MAX, ecn->red.max))
		return -EMSGSIZE;
	if (!ecn->red.max)
		return 0;
	if (nla_put_u32(skb, TCA_FABRIC_CLASS_ECN_MIN, ecn->red.min) ||
	    (ecn->red.min < ecn->red.max &&
	     nla_put_u32(skb, TCA_FABRIC_CLASS_ECN_PROB, ecn->red.prob)) ||
	    nla_put_u8(skb, TCA_FABRIC_CLASS_ECN_UNIT, ecn->unit) ||
	    nla_put_u8(skb, TCA_FABRIC_CLASS_ECN_AT, ecn->at) ||
	    nla_put_u8(skb, TCA_FABRIC_CLASS_ECN_DROP, ecn->drop))
		return -EMSGSIZE;
	return 0;
}

/* Writes the limits of the colours that have one. */
static int fabric_class_dump_colours(struct sk_buff *skb, const u32 *colour)
{
	int i;

	for (i = 0; i < FABRIC_COLOURS; i++) {
		if (colour[i] &&
		    nla_put_u32(skb, TCA_FABRIC_CLASS_GREEN_BYTES + i,
				colour[i]))
			return -EMSGSIZE;
	}
	return 0;
}

/* Writes a band's settings; what has no meaning now is left out. */
int fabric_class_dump_options(struct sk_buff *skb,
			      const struct fabric_sched *q,
			      const struct fabric_band *band)
{
	struct fabric_class_config c;

	fabric_class_read(q, band, &c);
	if (c.strict ? nla_put_flag(skb, TCA_FABRIC_CLASS_STRICT) :
	    c.weight ? nla_put_u32(skb, TCA_FABRIC_CLASS_WEIGHT, c.weight) :
		       nla_put_u32(skb, TCA_FABRIC_CLASS_QUANTUM_BYTES,
				   c.quantum))
		return -EMSGSIZE;
	if ((c.queue && nla_put_u8(skb, TCA_FABRIC_CLASS_QUEUE, c.queue)) ||
	    (c.queues && nla_put_u8(skb, TCA_FABRIC_CLASS_QUEUES, c.queues)) ||
	    (c.limit_bytes &&
	     nla_put_u32(skb, TCA_FABRIC_CLASS_LIMIT_BYTES, c.limit_bytes)) ||
	    (c.limit_packets &&
	     nla_put_u32(skb, TCA_FABRIC_CLASS_LIMIT_PACKETS,
			 c.limit_packets)) ||
	    (c.rate_bps &&
	     (nla_put_u64_64bit(skb, TCA_FABRIC_CLASS_RATE_BPS, c.rate_bps,
				TCA_FABRIC_CLASS_PAD) ||
	      nla_put_u32(skb, TCA_FABRIC_CLASS_BURST_BYTES,
			  c.burst_bytes))) ||
	    (c.each_bytes &&
	     nla_put_u32(skb, TCA_FABRIC_CLASS_EACH_BYTES, c.each_bytes)) ||
	    fabric_class_dump_ecn(skb, &c.ecn) ||
	    fabric_class_dump_colours(skb, c.colour) ||
	    (q->buffer &&
	     (nla_put_u32(skb, TCA_FABRIC_CLASS_RESERVED_BYTES,
			  c.reserved_bytes) ||
	      nla_put_u32(skb, TCA_FABRIC_CLASS_ALPHA_MILLI, c.alpha_milli))))
		return -EMSGSIZE;
	return 0;
}

/**
 * fabric_class_remove() - take bands away
 * @sch: the qdisc
 * @nbands: how many stay; nothing leads to the others any more
 *
 * What waits in them is dropped and counted; what waits for them in a border router's queues
 * is sent later, as if they were there. Their counters stay, so that the
 * port's sums never go back. What they had reserved is for the caller to return.
 *
 * Context: rtnl held, not the root lock.
 */
void fabric_class_remove(struct Qdisc *sch, unsigned int nbands)
{
	struct fabric_sched *q = qdisc_priv(sch);
	unsigned int i;

	for (i = nbands; i < q->nbands; i++) {
		struct fabric_band *band = &q->bands[i];
		struct Qdisc *child = NULL;

		if (band->child)
			child = qdisc_replace(sch, NULL, &band->child);
		sch_tree_lock(sch);
		fabric_band_purge(sch, band, FABRIC_DROP_BAND_GONE);
		if (q->buffer)
			fabric_buffer_leave(q->buffer, band);
		fabric_class_default(q, band);
		if (q->buffer)
			fabric_buffer_join(q->buffer, band);
		fabric_band_update(q);
		sch_tree_unlock(sch);
		if (child)
			qdisc_put(child);
	}
}
