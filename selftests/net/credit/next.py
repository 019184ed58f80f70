# SPDX-License-Identifier: GPL-2.0
"""Who gets data by credit on connections that one socket makes one after the other, for begin.sh.

    next.py CONTROL PORT            accepts two connections, and answers bytes with 20 kB each
    next.py ADDRESS PORT            asks twice on a connection, and twice on the socket's next one;
                                    prints how long each answer takes, us
"""
import socket
import sys
import time

from ends import disconnect, end_to, listen, take

ANSWER = 20000


def answer(port, control):
    with listen(port, control) as listener:
        for _ in range(2):
            with listener.accept()[0] as end:
                try:
                    while end.recv(1):
                        end.sendall(bytes(ANSWER))
                except ConnectionResetError:
                    pass


def ask(end):
    begun = time.monotonic()
    end.sendall(b"x")
    take(end, ANSWER)
    return int((time.monotonic() - begun) * 1e6)


def main():
    where, port = sys.argv[1], int(sys.argv[2])
    if not where[0].isdigit():
        answer(port, where)
        return
    end = end_to(where, "cubic")
    for _ in range(2):
        end.connect((where, port))
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        print(ask(end), ask(end))
        disconnect(end)


main()
