#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The FIN of an end whose peer has closed before.

fin.py listen PORT CONTROL: takes what comes, answers with as much, waits 20 ms after the peer's FIN
and sends its own; prints how long it takes until the peer has acknowledged that, us.
fin.py ADDRESS PORT CONTROL: sends 100 kB, takes the answer and closes.
"""
import socket
import sys
import time

from ends import end_to, listen, take

BYTES = 100000
TCP_CLOSE = 7


def serve(conn):
    if not take(conn, BYTES):
        sys.exit("the other end is gone")
    conn.sendall(bytes(BYTES))
    if conn.recv(1):
        sys.exit("more than was asked")
    time.sleep(0.02)
    begin_ns = time.monotonic_ns()
    conn.shutdown(socket.SHUT_WR)
    while (conn.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != TCP_CLOSE and
           time.monotonic_ns() < begin_ns + 10**9):
        time.sleep(0.0001)
    print((time.monotonic_ns() - begin_ns) // 1000)


where, port, control = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if where == "listen":
    with listen(port, control) as server, server.accept()[0] as conn:
        serve(conn)
else:
    with end_to(where, control) as conn:
        conn.connect((where, port))
        conn.sendall(bytes(BYTES))
        if not take(conn, BYTES):
            sys.exit("the other end is gone")
