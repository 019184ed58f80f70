#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Questions and answers on TCP connections, with a congestion control at each end.

answer.py listen PORT TALK...: answers, one TALK after the other, with PORT, PORT + 1 ...
answer.py ADDRESS PORT COUNT TALK...: asks COUNT times in each TALK, each time after its pause;
prints a line for each: the longest time of an answer in the later half of them, us.

TALK is CONTROL:BYTES:ANSWER_BYTES:PAUSE_MS.
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


def answer(server, ask_bytes, answer_bytes):
    conn = server.accept()[0]
    with conn:
        while take(conn, ask_bytes):
            conn.sendall(bytes(answer_bytes))


def longest_us(peer, count, cc, ask_bytes, answer_bytes, pause_ms):
    times_us = []
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as conn:
        control(conn, cc)
        conn.connect(peer)
        for _ in range(count):
            time.sleep(pause_ms / 1000)
            begin_ns = time.monotonic_ns()
            conn.sendall(bytes(ask_bytes))
            if not take(conn, answer_bytes):
                sys.exit("the other end is gone")
            times_us.append((time.monotonic_ns() - begin_ns) // 1000)
    return max(times_us[count // 2:])


def talk(text):
    cc, *numbers = text.split(":")
    return cc, *map(int, numbers)


if sys.argv[1] == "listen":
    talks = [talk(text) for text in sys.argv[3:]]
    servers = [socket.create_server(("0.0.0.0", int(sys.argv[2]) + i)) for i in range(len(talks))]
    for server, (cc, *_) in zip(servers, talks):
        control(server, cc)
    for server, (_, ask_bytes, answer_bytes, _) in zip(servers, talks):
        answer(server, ask_bytes, answer_bytes)
else:
    for i, what in enumerate(map(talk, sys.argv[4:])):
        print(longest_us((sys.argv[1], int(sys.argv[2]) + i), int(sys.argv[3]), *what))
