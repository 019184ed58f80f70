// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: checking numbers that come from netlink.
 *
 * Ranges are checked here, not by the policy, so that the refusal can name the
 * option: the policy's "integer out of range" does not say which integer.
 */
#include "fabric.h"

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

/* The number in an attribute of any unsigned type. */
static u64 fabric_attr_value(const struct nlattr *attr)
{
	switch (nla_len(attr)) {
	case sizeof(u8):
		return nla_get_u8(attr);
	case sizeof(u32):
		return nla_get_u32(attr);
	default:
		return nla_get_u64(attr);
	}
}

/**
 * fabric_check_ranges() - check each number by itself
 * @tb: attributes, their lengths checked by a policy
 * @ranges: what they may be
 * @count: how many ranges
 * @extack: why not
 *
 * Return: 0 or -EINVAL.
 */
int fabric_check_ranges(struct nlattr **tb, const struct fabric_range *ranges,
			size_t count, struct netlink_ext_ack *extack)
{
	const struct fabric_range *range;

	for (range = ranges; range < ranges + count; range++) {
		const struct nlattr *attr = tb[range->type];
		u64 value;

		if (!attr)
			continue;
		value = fabric_attr_value(attr);
		if (value < range->min || value > range->max)
			return fabric_refuse_attr(extack, attr, range->text);
	}
	return 0;
}
