// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: the rate limits of the bands. Whose turn it is: fabric_fast.h.
 */
#include "fabric.h"

/* When a limited band may send again: what it sent is paid for but for the
 * burst.
 */
static u64 fabric_band_ready_ns(const struct fabric_band *band)
{
	u64 paid_ns = fabric_line_ceil_ns(&band->pass);

	return paid_ns > band->burst_ns ? paid_ns - band->burst_ns : 0;
}

/* Bands that may send at a time; sets when the first other one may. */
u32 fabric_serve_allowed(struct fabric_sched *q, u64 at_ns)
{
	u32 waiting = q->shaped & q->order.active, allowed = ~0U;

	q->retry_ns = 0;
	while (waiting) {
		unsigned int i = __ffs(waiting);
		u64 ready_ns = fabric_band_ready_ns(&q->bands[i]);

		waiting &= waiting - 1;
		if (ready_ns <= at_ns)
			continue;
		allowed &= ~BIT(i);
		if (!q->retry_ns || ready_ns < q->retry_ns)
			q->retry_ns = ready_ns;
	}
	return allowed;
}
