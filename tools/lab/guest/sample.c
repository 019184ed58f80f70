// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of senders' tcp_info at equal intervals: raw/samples.csv.
 */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "traffic.h"

static struct buffer rows;

/* One row for a flow with an open socket. */
static void sample_flow(const struct flow *flow, int64_t at_ns)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof(info);
	long long pacing_bps = -1;	/* not paced */

	if (flow->fd < 0)
		return;
	if (getsockopt(flow->fd, IPPROTO_TCP, TCP_INFO, &info, &length))
		lab_fail("flow %lld: no tcp_info: %s",
			 (long long)flow->plan->id, strerror(errno));
	if (info.tcpi_pacing_rate < UINT64_MAX / 16)
		pacing_bps = info.tcpi_pacing_rate * 8;
	buffer_printf(&rows, "%lld,%lld,%u,%u,%u,%u,%lld,%u\n",
		      (long long)at_ns, (long long)flow->plan->id,
		      info.tcpi_snd_cwnd, info.tcpi_rtt,
		      info.tcpi_snd_ssthresh, info.tcpi_unacked, pacing_bps,
		      info.tcpi_delivered);
}

/* Takes one sample; at_ns is relative to time zero. */
void sample_take(const struct plan *plan, int64_t at_ns)
{
	const int64_t *index = plan->sample.flows.items;
	size_t i;

	for (i = 0; i < plan->sample.flows.count; i++)
		sample_flow(&flows[index[i]], at_ns);
}

void sample_write(const struct plan *plan)
{
	static const char head[] =
		"time_ns,id,cwnd,rtt_us,ssthresh,unacked,pacing_bps,delivered\n";
	struct buffer text = { 0 };

	if (!plan->sample.interval_ns)
		return;
	buffer_add(&text, head, strlen(head));
	if (rows.length)
		buffer_add(&text, rows.data, rows.length);
	raw_write("samples.csv", text.data, text.length);
	buffer_free(&text);
	buffer_free(&rows);
}
