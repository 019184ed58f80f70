// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: settings of what leads a packet to its band.
 */
#include "fabric.h"

/* Starts from what is set now. */
static void fabric_maps_read(const struct fabric_sched *q,
			     struct fabric_maps *maps)
{
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

	fabric_maps_read(q, maps);
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
