// SPDX-License-Identifier: GPL-2.0
/* The kernel's struct tcp_info. In a file of its own: the C library has an older
 * structure of the same name, which libnl's headers bring in.
 */
#include "libfairlane.h"

#include <linux/tcp.h>
#include <string.h>

#include "tcpinfo.h"

void fl_read_tcp_info(const void *data, size_t len, struct fairlane_flow *fl)
{
	struct tcp_info ti = { 0 };

	/* an older kernel's is shorter, a newer one's longer */
	memcpy(&ti, data, len < sizeof(ti) ? len : sizeof(ti));
	fl->has_tcp = true;
	fl->cwnd_pkts = ti.tcpi_snd_cwnd;
	fl->mss_bytes = ti.tcpi_snd_mss;
	fl->rtt_us = ti.tcpi_rtt;
	fl->min_rtt_us = ti.tcpi_min_rtt == UINT32_MAX ? 0 : ti.tcpi_min_rtt;
	fl->unacked_pkts = ti.tcpi_unacked;
	fl->last_sent_ms = ti.tcpi_last_data_sent;
	fl->retrans_pkts = ti.tcpi_total_retrans;
	fl->acked_bytes = ti.tcpi_bytes_acked;
	fl->received_bytes = ti.tcpi_bytes_received;
	/* "no pacing" is all ones */
	fl->pacing_bps = ti.tcpi_pacing_rate >= UINT64_MAX / 8 ? 0 :
			 ti.tcpi_pacing_rate * 8;
	fl->delivery_bps = ti.tcpi_delivery_rate * 8;
}
