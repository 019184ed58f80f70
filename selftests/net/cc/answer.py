#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Questions and answers on TCP connections, with a congestion control at each end.

answer.py listen PORT TALK...: answers, one TALK after the other, with PORT, PORT + 1 ...
answer.py ADDRESS PORT TALK...: asks COUNT times in each TALK, each time after its pause, and waits
LATE_US before it takes 64 kB or what there is of an answer, and again before it takes the next.
Prints a line for each TALK: how long it took, and the longest time of an answer in the later half
of them, us.

TALK is CONTROL:ASKER:COUNT:BYTES:ANSWER_BYTES:PAUSE_MS:LATE_US; ASKER is the control of the end that
asks, the system's if it is empty.
"""
import sys
import time

from ends import end_to, listen, take

BLOCK = 65536


def talk(text):
    cc, asker, *numbers = text.split(":")
    return cc, asker, *map(int, numbers)


def answer(server, ask_bytes, answer_bytes):
    conn = server.accept()[0]
    with conn:
        while take(conn, ask_bytes):
            conn.sendall(bytes(answer_bytes))


def take_late(conn, count, late_us):
    while count:
        time.sleep(late_us / 1000000)
        got = len(conn.recv(min(BLOCK, count)))
        if not got:
            return False
        count -= got
    return True


def ask(address, port, asker, count, ask_bytes, answer_bytes, pause_ms, late_us):
    times_us = []
    with end_to(address, asker) as conn:
        conn.connect((address, port))
        begun_ns = time.monotonic_ns()
        for _ in range(count):
            time.sleep(pause_ms / 1000)
            begin_ns = time.monotonic_ns()
            conn.sendall(bytes(ask_bytes))
            if not (take_late(conn, answer_bytes, late_us) if late_us else take(conn, answer_bytes)):
                sys.exit("the other end is gone")
            times_us.append((time.monotonic_ns() - begin_ns) // 1000)
        return (time.monotonic_ns() - begun_ns) // 1000, max(times_us[count // 2:])


first_port = int(sys.argv[2])
talks = [talk(text) for text in sys.argv[3:]]
if sys.argv[1] == "listen":
    servers = [listen(first_port + i, cc) for i, (cc, *_) in enumerate(talks)]
    for server, (_, _, _, ask_bytes, answer_bytes, *_) in zip(servers, talks):
        answer(server, ask_bytes, answer_bytes)
else:
    for i, (_, *what) in enumerate(talks):
        print(*ask(sys.argv[1], first_port + i, *what), flush=True)
