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

from ends import packet, segment

what, source, source_port, to, to_port, count = sys.argv[1:7]
source, to = socket.inet_aton(source), socket.inet_aton(to)
out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)


def option():
    if what == "credit":
        return struct.pack("!BBHI", 253, 8, 0x4658, 3 << 28 | 63 << 22 | random.getrandbits(22))
    if what == "request":
        return struct.pack("!BBHII", 253, 12, 0x4658, 1 << 28, 0xFFFF)
    body = random.randbytes(random.choice((4, 8, 12)))
    return struct.pack("!BBH", 253, random.choice((4, 8, 12, 255)), 0x4658) + body


for i in range(int(count)):
    numbers = random.getrandbits(32), random.getrandbits(32)
    tcp = segment(source, to, (int(source_port), int(to_port)), numbers, options=option())
    out.sendto(packet(source, to, tcp, number=i), (socket.inet_ntoa(to), 0))
