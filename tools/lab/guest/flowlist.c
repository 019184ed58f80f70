// SPDX-License-Identifier: GPL-2.0
/*
 * What became of each flow: raw/flows.csv.
 */
#define _GNU_SOURCE
#include <string.h>

#include "traffic.h"

/* Name of a state for people; a failed flow says why. */
static void state_text(const struct flow *flow, char *text, size_t size)
{
	static const char *const names[] = {
		[FLOW_IDLE] = "waiting",
		[FLOW_CONNECTING] = "connecting",
		[FLOW_CONNECTED] = "waiting",
		[FLOW_SENDING] = "running",
		[FLOW_FINISHING] = "running",
		[FLOW_DRAINING] = "stopped",
		[FLOW_DONE] = "done",
		[FLOW_STOPPED] = "stopped",
		[FLOW_FAILED] = "failed",
	};

	if (flow->state == FLOW_FAILED)
		snprintf(text, size, "failed:%s", strerrorname_np(flow->error));
	else
		snprintf(text, size, "%s", names[flow->state]);
}

/* When a flow ended: all bytes received, or stopped; -1: it did not. */
static int64_t end_ns(const struct flow *flow)
{
	if (flow->plan->bytes >= 0 && flow->received_ns >= 0)
		return traffic_ns(flow->received_ns);
	if (flow->state == FLOW_STOPPED || flow->state == FLOW_DRAINING)
		return traffic_ns(flow->stopped_ns);
	return -1;
}

void flowlist_write(void)
{
	struct buffer text = { 0 };
	char state[64];
	size_t i;

	buffer_printf(&text,
		      "id,connect_ns,start_ns,end_ns,bytes_sent,bytes_acked,bytes_received,retransmits,state,acked_ns\n");
	for (i = 0; i < flows_count; i++) {
		struct flow *flow = &flows[i];

		sender_read_info(flow);
		receiver_read_info(flow);
		state_text(flow, state, sizeof(state));
		buffer_printf(&text,
			      "%lld,%lld,%lld,%lld,%llu,%llu,%llu,%llu,%s,%lld\n",
			      (long long)flow->plan->id,
			      (long long)traffic_ns(flow->connected_ns),
			      (long long)traffic_ns(flow->started_ns),
			      (long long)end_ns(flow),
			      (unsigned long long)flow->sent_bytes,
			      (unsigned long long)flow->acked_bytes,
			      (unsigned long long)flow->received_bytes,
			      (unsigned long long)flow->retransmits, state,
			      (long long)traffic_ns(flow->acked_ns));
	}
	raw_write("flows.csv", text.data, text.length);
	buffer_free(&text);
}
