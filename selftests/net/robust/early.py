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

device, port, ahead = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ETH_P_IP = 0x0800
line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
line.bind((device, ETH_P_IP))


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


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
    tcp = struct.pack("!HHIIBBHHH", to, source, ack, (seq + (1 + ahead) * length) & 0xFFFFFFFF,
                      5 << 4, 0x10, 60000, 0, 0)
    pseudo = ip[16:20] + ip[12:16] + struct.pack("!HH", 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    out = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + ip[16:20] + ip[12:16]
    out = out[:10] + struct.pack("!H", checksum(out)) + out[12:]
    line.send(frame[6:12] + frame[:6] + frame[12:14] + out + tcp)
