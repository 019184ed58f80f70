#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A receiver that seems to be near: acknowledges segments before they have come.

early.py DEVICE PORT SEGMENTS: of connections to PORT on DEVICE each segment of data is
answered with an ACK that is SEGMENTS ahead of it. The connection has no time stamps. Ends
when it is killed. Needs root.
"""
import socket
import struct
import sys

from ends import packet, segment

device, port, ahead = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ETH_P_IP = 0x0800
line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
line.bind((device, ETH_P_IP))


print("listening", flush=True)
while True:
    frame, (_, _, kind, _, _) = line.recvfrom(70000)
    if kind == socket.PACKET_OUTGOING or frame[23] != socket.IPPROTO_TCP:
        continue
    ip = frame[14:34]
    head = frame[34:54]
    length = struct.unpack("!H", ip[2:4])[0] - 20 - (head[12] >> 4) * 4
    source, to, seq, ack = struct.unpack("!HHII", head[:12])
    if to != port or length < 1000:
        continue
    tcp = segment(ip[16:20], ip[12:16], (to, source),
                  (ack, (seq + (1 + ahead) * length) & 0xFFFFFFFF), window=60000)
    line.send(frame[6:12] + frame[:6] + frame[12:14] +
              packet(ip[16:20], ip[12:16], tcp, flags=0x4000))
