#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The FIN of an end whose peer has closed before.

fin.py listen PORT CONTROL: takes what comes, answers with as much, waits 20 ms after the peer's FIN
and sends its own; prints how long it takes until the peer has acknowledged that, us.
fin.py ADDRESS PORT CONTROL: sends 100 kB, takes the answer and closes.
"""
import socket
import struct
import sys
import time

BYTES = 100000
TCP_CLOSE = 7


def take(conn, count):
    while count:
        got = len(conn.recv(count))
        if not got:
            sys.exit("the other end is gone")
        count -= got


def state(conn):
    return struct.unpack("B", conn.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1))[0]


def serve(conn):
    take(conn, BYTES)
    conn.sendall(bytes(BYTES))
    if conn.recv(1):
        sys.exit("more than was asked")
    time.sleep(0.02)
    begin_ns = time.monotonic_ns()
    conn.shutdown(socket.SHUT_WR)
    while state(conn) != TCP_CLOSE and time.monotonic_ns() < begin_ns + 10**9:
        time.sleep(0.0001)
    print((time.monotonic_ns() - begin_ns) // 1000)


if sys.argv[1] == "listen":
    with socket.create_server(("0.0.0.0", int(sys.argv[2]))) as server:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
        with server.accept()[0] as conn:
            serve(conn)
else:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as conn:
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
        conn.connect((sys.argv[1], int(sys.argv[2])))
        conn.sendall(bytes(BYTES))
        take(conn, BYTES)
