#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Questions and answers on one TCP connection, with a congestion control at each end.

answer.py listen CC PORT BYTES ANSWER_BYTES: answers each BYTES with ANSWER_BYTES.
answer.py CC ADDRESS PORT BYTES ANSWER_BYTES COUNT PAUSE_MS: asks COUNT times, each time after
a pause; prints the longest time of an answer in the later half of them, us.
"""
import socket
import sys
import time


def take(conn, count):
    """Has all of it come?"""
    while count:
        got = len(conn.recv(min(count, 1 << 20)))
        if not got:
            return False
        count -= got
    return True


def control(sock, name):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())


if sys.argv[1] == "listen":
    server = socket.create_server(("0.0.0.0", int(sys.argv[3])))
    control(server, sys.argv[2])
    conn = server.accept()[0]
    while take(conn, int(sys.argv[4])):
        conn.sendall(bytes(int(sys.argv[5])))
    sys.exit()
port, ask_bytes, answer_bytes, count, pause_ms = map(int, sys.argv[3:])
conn = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
control(conn, sys.argv[1])
conn.connect((sys.argv[2], port))
times_us = []
for _ in range(count):
    time.sleep(pause_ms / 1000)
    begin_ns = time.monotonic_ns()
    conn.sendall(bytes(ask_bytes))
    if not take(conn, answer_bytes):
        sys.exit("the other end is gone")
    times_us.append((time.monotonic_ns() - begin_ns) // 1000)
print(max(times_us[count // 2:]))
