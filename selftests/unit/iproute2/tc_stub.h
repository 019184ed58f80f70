/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tc's functions that a plugin uses, in our own words, for test_q_fabric.c, which
 * includes this after the plugin's sources. What is printed as text is in "shown".
 */
#ifndef TC_STUB_H
#define TC_STUB_H

static unsigned int overflows;

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int alen)
{
	struct rtattr *a = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	if ((int)(NLMSG_ALIGN(n->nlmsg_len) + RTA_SPACE(alen)) > maxlen) {
		overflows++;
		return -1;
	}
	a->rta_type = type;
	a->rta_len = RTA_LENGTH(alen);
	if (alen)
		memcpy(RTA_DATA(a), data, alen);
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + RTA_ALIGN(a->rta_len);
	return 0;
}

struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type)
{
	struct rtattr *nest = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	addattr_l(n, maxlen, type, NULL, 0);
	return nest;
}

int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest)
{
	nest->rta_len = (char *)n + NLMSG_ALIGN(n->nlmsg_len) - (char *)nest;
	return n->nlmsg_len;
}

int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags)
{
	memset(tb, 0, sizeof(tb[0]) * (max + 1));
	for (; RTA_OK(rta, len); rta = RTA_NEXT(rta, len)) {
		int type = rta->rta_type & ~flags;

		if (type <= max && !tb[type])
			tb[type] = rta;
	}
	return 0;
}

int get_u32(__u32 *val, const char *arg, int base)
{
	char *end;
	unsigned long number = strtoul(arg, &end, base);

	if (!*arg || *end || number > UINT32_MAX)
		return -1;
	*val = number;
	return 0;
}

/* A number and a unit of the table, or none. */
static int get_unit(double *value, const char *text,
		    const struct fabric_unit *units)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text)
		return -1;
	if (!*end)
		return 0;
	for (; units->name; units++) {
		if (!strcasecmp(end, units->name)) {
			*value *= units->factor;
			return 0;
		}
	}
	return -1;
}

int get_size(unsigned int *size, const char *str)
{
	static const struct fabric_unit units[] = {
		{ "b", 1 }, { "k", 1 << 10 }, { "kb", 1 << 10 },
		{ "m", 1 << 20 }, { "mb", 1 << 20 }, { "g", 1 << 30 },
		{ "gb", 1 << 30 }, { NULL, 0 },
	};
	double bytes;

	if (get_unit(&bytes, str, units) || !(bytes >= 0) || bytes > UINT_MAX)
		return -1;
	*size = bytes;
	return 0;
}

int get_time64(__s64 *time, const char *str)
{
	static const struct fabric_unit units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 },
		{ "ns", 1 }, { NULL, 0 },
	};
	double ns;

	if (get_unit(&ns, str, units) || !(ns > -1e18 && ns < 1e18))
		return -1;
	*time = ns;
	return 0;
}

/* What is printed as text. */
static char shown[8192];

__attribute__((format(printf, 1, 2)))
static int show(const char *format, ...)
{
	size_t at = strlen(shown);
	va_list args;

	va_start(args, format);
	vsnprintf(shown + at, sizeof(shown) - at, format, args);
	va_end(args);
	return 0;
}

/* Formats are constants of the sources; the compiler cannot see that here. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
#define SHOW(t, format, value) \
	((t) == PRINT_JSON ? 0 : show((format), (value)))

int print_color_uint(enum output_type t, enum color_attr color, const char *key,
		     const char *fmt, unsigned int value)
{
	(void)color;
	(void)key;
	return SHOW(t, fmt, value);
}

int print_color_u64(enum output_type t, enum color_attr color, const char *key,
		    const char *fmt, uint64_t value)
{
	(void)color;
	(void)key;
	return SHOW(t, fmt, value);
}

int print_color_string(enum output_type t, enum color_attr color,
		       const char *key, const char *fmt, const char *value)
{
	(void)color;
	(void)key;
	return SHOW(t, fmt, value);
}

int print_color_bool(enum output_type t, enum color_attr color, const char *key,
		     const char *fmt, bool value)
{
	(void)color;
	(void)key;
	return SHOW(t, fmt, value);
}

void open_json_object(const char *str)
{
	(void)str;
}

void close_json_object(void)
{
}

void open_json_array(enum output_type type, const char *str)
{
	(void)type;
	(void)str;
}

void close_json_array(enum output_type type, const char *delim)
{
	(void)type;
	(void)delim;
}

void print_nl(void)
{
	show("\n");
}

bool is_json_context(void)
{
	return false;
}

#endif /* TC_STUB_H */
