#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Answers whose receiver reads late, with a congestion control at the end that answers.

late.py listen PORT TALK...: answers, one TALK after the other, with PORT, PORT + 1 ...
late.py ADDRESS PORT TALK...: asks COUNT times in each TALK; waits LATE_US before it takes 64 kB or
what there is of an answer, and again before it takes the next; prints how long each TALK took, us.

TALK is CONTROL:COUNT:BYTES:LATE_US.
"""
import socket
import sys
import time

BLOCK = 65536


def talk(text):
    cc, *numbers = text.split(":")
    return cc, *map(int, numbers)


def answer(server, size):
    conn = server.accept()[0]
    with conn:
        while conn.recv(1):
            conn.sendall(bytes(size))


def ask(peer, count, size, late_us):
    with socket.create_connection(peer) as conn:
        begin_ns = time.monotonic_ns()
        for _ in range(count):
            conn.sendall(b"?")
            left = size
            while left:
                time.sleep(late_us / 1000000)
                got = len(conn.recv(min(BLOCK, left)))
                if not got:
                    sys.exit("the other end is gone")
                left -= got
        return (time.monotonic_ns() - begin_ns) // 1000


if sys.argv[1] == "listen":
    talks = [talk(text) for text in sys.argv[3:]]
    servers = [socket.create_server(("0.0.0.0", int(sys.argv[2]) + i)) for i in range(len(talks))]
    for server, (cc, *_) in zip(servers, talks):
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    for server, (_, _, size, _) in zip(servers, talks):
        answer(server, size)
else:
    for i, (_, *what) in enumerate(map(talk, sys.argv[3:])):
        print(ask((sys.argv[1], int(sys.argv[2]) + i), *what), flush=True)
