/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of tc that a plugin uses, in our own words: distributions ship no
 * headers of iproute2. These have kept their shape from 5.10 on.
 */
#ifndef TC_ABI_H
#define TC_ABI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <linux/rtnetlink.h>

/* What tc looks up as <kind>_qdisc_util; all eight callbacks must be there. */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(struct qdisc_util *qu, struct rtattr *opt,
			 bool *has_block);
};

enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_NONE = 6,
};

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int alen);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags);

int get_u32(__u32 *val, const char *arg, int base);
int get_size(unsigned int *size, const char *str);
int get_time64(__s64 *time, const char *str);

int print_color_uint(enum output_type t, enum color_attr color, const char *key,
		     const char *fmt, unsigned int value);
int print_color_u64(enum output_type t, enum color_attr color, const char *key,
		    const char *fmt, uint64_t value);
int print_color_string(enum output_type t, enum color_attr color,
		       const char *key, const char *fmt, const char *value);
int print_color_bool(enum output_type t, enum color_attr color, const char *key,
		     const char *fmt, bool value);
void open_json_object(const char *str);
void close_json_object(void);
void open_json_array(enum output_type type, const char *str);
void close_json_array(enum output_type type, const char *delim);
void print_nl(void);
bool is_json_context(void);

#endif /* TC_ABI_H */
