# SPDX-License-Identifier: GPL-2.0
"""Connections whose peer promises data and sends none, for credit.sh.

    promise.py take PORT                                accepts connections, reads nothing
    promise.py FROM TO PORT CONNECTIONS EVERY_MS        asks for 65535 segments of credit on each of
                                                        its connections, again and again, until killed

Needs root: requests are raw packets, with the connections' own numbers.
"""
import socket
import struct
import sys
import time

from ends import packet, segment

TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ = 19, 20, 21
RECEIVED, SENT = 1, 2
REPAIR_OFF = -1
REQUEST = struct.pack("!BBHII", 253, 12, 0x4658, 1 << 28, 0xFFFF)


def numbers(sock):
    """The next sequence numbers: sent, received."""
    found = []
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    for queue in (SENT, RECEIVED):
        sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_QUEUE, queue)
        found.append(sock.getsockopt(socket.IPPROTO_TCP, TCP_QUEUE_SEQ) & 0xFFFFFFFF)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, REPAIR_OFF)
    return found


def request(sock, source, to, port):
    tcp = segment(source, to, (sock.getsockname()[1], port), numbers(sock), options=REQUEST)
    return packet(source, to, tcp)


def take(port):
    listener = socket.create_server(("0.0.0.0", port), backlog=1000)
    kept = []
    while True:
        kept.append(listener.accept())


def ask(source, to, port, count, every_ms):
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    socks = [socket.create_connection((to, port), source_address=(source, 0))
             for _ in range(count)]
    requests = [request(s, socket.inet_aton(source), socket.inet_aton(to), port) for s in socks]
    while True:
        for asked in requests:
            raw.sendto(asked, (to, 0))
            time.sleep(every_ms / 1e3 / count)


if sys.argv[1] == "take":
    take(int(sys.argv[2]))
else:
    ask(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
