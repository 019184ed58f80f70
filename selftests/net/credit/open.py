#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""TCP Fast Open: connections whose first data is in their SYN, once the listener has given a cookie.

open.py listen PORT CONNECTIONS		prints the bytes that come by each
open.py CONTROL ADDRESS PORT CONNECTIONS BYTES
"""
import socket
import sys

from ends import end_to

TCP_FASTOPEN = 23


def drain(end):
    """Bytes that come until the other end shuts down; answers one."""
    end.settimeout(10)
    got = 0
    while data := end.recv(1 << 20):
        got += len(data)
    end.sendall(b"k")
    return got


if sys.argv[1] == "listen":
    listener = socket.socket(socket.AF_INET6)
    listener.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 16)
    listener.bind(("::", int(sys.argv[2])))
    listener.listen()
    listener.settimeout(10)
    print(*[drain(listener.accept()[0]) for _ in range(int(sys.argv[3]))])
else:
    control, address, port, connections, size = sys.argv[1:]
    data = bytes(int(size))
    for _ in range(int(connections)):
        with end_to(address, control) as end:
            sent = end.sendto(data, socket.MSG_FASTOPEN, (address, int(port)))
            end.sendall(data[sent:])
            end.shutdown(socket.SHUT_WR)
            if end.recv(1) != b"k":
                sys.exit("no answer")
