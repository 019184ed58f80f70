#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sends credits, requests or garbage that pretend to be of a TCP connection.

forge.py credit|request|garbage FROM PORT TO PORT COUNT: sequence numbers are guesses.
Needs root.
"""
import random
import socket
import struct
import sys

what, source, source_port, to, to_port, count = sys.argv[1:7]
source, to = socket.inet_aton(source), socket.inet_aton(to)
out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def option():
    if what == "credit":
        return struct.pack("!BBHI", 253, 8, 0x4658, 3 << 28 | 63 << 22 | random.getrandbits(22))
    if what == "request":
        return struct.pack("!BBHII", 253, 12, 0x4658, 1 << 28, 0xFFFF)
    body = random.randbytes(random.choice((4, 8, 12)))
    return struct.pack("!BBH", 253, random.choice((4, 8, 12, 255)), 0x4658) + body


for i in range(int(count)):
    opt = option()
    opt += b"\0" * (-len(opt) % 4)
    tcp = struct.pack("!HHIIBBHHH", int(source_port), int(to_port), random.getrandbits(32),
                      random.getrandbits(32), (20 + len(opt)) // 4 << 4, 0x10, 1000, 0, 0) + opt
    pseudo = source + to + struct.pack("!HH", 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), i & 0xFFFF, 0, 64, 6, 0, source, to)
    out.sendto(ip + tcp, (socket.inet_ntoa(to), 0))
