// SPDX-License-Identifier: GPL-2.0
/* A segment made by hand on a live connection: see inject.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ends.h"
#include "inject.h"

/* Sequence number of a socket's queue: what it writes next, or awaits. */
static uint32_t sequence(int fd, int queue)
{
	int on = TCP_REPAIR_ON, off = TCP_REPAIR_OFF_NO_WP, one = 1;
	socklen_t length = sizeof(uint32_t);
	uint32_t value;

	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)) ||
	    getsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &value, &length) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)) ||
	    /* which repair has taken away */
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		die("TCP_REPAIR: %s", strerror(errno));
	return value;
}

static uint32_t sum16(const unsigned char *at, size_t bytes, uint32_t sum)
{
	for (; bytes > 1; bytes -= 2, at += 2)
		sum += at[0] << 8 | at[1];
	return sum;
}

void inject(const char *ns, int from, int to, const char *hex)
{
	unsigned char head[12 + 60] = { 0 }, *th = head + 12;
	struct sockaddr_in source, target;
	socklen_t length = sizeof(source);
	uint32_t value, sum;
	int bytes = 20, raw;
	unsigned int byte;

	enter(ns);
	raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP);
	if (raw < 0)
		die("raw socket: %s", strerror(errno));
	getsockname(from, (struct sockaddr *)&source, &length);
	getpeername(from, (struct sockaddr *)&target, &length);
	for (; bytes < 60 && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		th[bytes++] = byte;
	if (*hex || bytes % 4)
		die("options: %s", hex);
	memcpy(head, &source.sin_addr, 4);
	memcpy(head + 4, &target.sin_addr, 4);
	head[9] = IPPROTO_TCP;
	head[11] = bytes;
	memcpy(th, &source.sin_port, 2);
	memcpy(th + 2, &target.sin_port, 2);
	value = htonl(sequence(to, TCP_RECV_QUEUE));
	memcpy(th + 4, &value, 4);
	value = htonl(sequence(from, TCP_RECV_QUEUE));
	memcpy(th + 8, &value, 4);
	th[12] = bytes / 4 << 4;
	th[13] = 0x10;
	th[14] = 0xff;
	sum = sum16(head, 12 + bytes, 0);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	th[16] = sum >> 8;
	th[17] = sum;
	target.sin_port = 0;
	if (sendto(raw, th, bytes, 0, (struct sockaddr *)&target, sizeof(target)) != bytes)
		die("sendto: %s", strerror(errno));
	close(raw);
}
