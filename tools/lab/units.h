/* SPDX-License-Identifier: GPL-2.0 */
/* Values with units as people write them: 10gbit, 2.6us, 1500, 1mb, 28ms. */
#ifndef LAB_UNITS_H
#define LAB_UNITS_H

#include <stdbool.h>
#include <stdint.h>

bool parse_time(const char *text, int64_t *ns);
bool parse_rate(const char *text, int64_t *bps);
bool parse_size(const char *text, int64_t *bytes);
bool parse_real(const char *text, double *value);
bool parse_int(const char *text, int64_t *value);
bool parse_quantity(const char *text, const char *unit, double *value);
const char *quantity_words(const char *unit);
const char *fmt_time(int64_t ns);
const char *fmt_value(double value, const char *unit);

#endif
