# SPDX-License-Identifier: GPL-2.0
"""Connections that are out of the ordinary, for credit.sh.

    odd.py take PORT [defer]        accepts, reads to the end; TCP_DEFER_ACCEPT
    odd.py keep PORT                accepts, reads until the peer resets, keeps the socket
    odd.py reset PORT               accepts, reads for 20 ms, resets
    odd.py answer PORT BYTES        answers each 20000 bytes with a byte, the first with BYTES
    odd.py WHAT CC ADDRESS PORT     a client, which ends with a line of numbers or names:

send        a MB; prints the control at the end
late        as send, but the control is set after the SYN has left
early       data is written before the connection is one; prints ms until 3 MB have come back
slow        30 MB/s at most (SO_MAX_PACING_RATE) for 300 ms; prints bytes/s
messages    20 kB each 100 ms, six of them; prints the longest time until one is answered, us
reset       writes 4 MB, resets after 3 ms
stay        writes for 30 ms to one that resets, keeps the socket for 1 s
again       a MB to its own host, then ends that connection and makes another with the same
            socket, for a MB; prints the control at the end of each
"""
import socket
import struct
import sys
import threading
import time

from ends import disconnect, set_control, take

SO_MAX_PACING_RATE = 47
LINGER_RESET = struct.pack("ii", 1, 0)


def control_of(sock):
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0")[0].decode()


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_RESET)
    sock.close()


def listen(port, defer):
    sock = socket.socket(socket.AF_INET6)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("::", port))
    if defer:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 5)
    sock.listen()
    return sock


def serve(what, port, words):
    listener = listen(port, "defer" in words)
    while True:
        end, _ = listener.accept()
        if what == "take":
            while end.recv(1 << 20):
                pass
        elif what == "keep":
            try:
                while end.recv(100000):
                    pass
            except ConnectionResetError:
                time.sleep(3)
        elif what == "reset":
            until = time.monotonic() + .02
            while time.monotonic() < until:
                end.recv(100000)
            reset(end)
            continue
        else:
            answer = int(words[0])
            set_control(end, "cubic")
            while take(end, 20000):
                end.sendall(bytes(answer))
                answer = 1
        end.close()


def connect_at_home(sock, port):
    with listen(port, False) as listener:
        sock.connect(("127.0.0.1", port))
        end = listener.accept()[0]
        thread = threading.Thread(target=take, args=(end, 1000000))
        thread.start()
        sock.sendall(bytes(1000000))
        thread.join()
        print(control_of(sock))
        disconnect(sock)
        end.close()


def main():
    what = sys.argv[1]
    if what in ("take", "keep", "answer") or (what == "reset" and len(sys.argv) == 3):
        serve(what, int(sys.argv[2]), sys.argv[3:])
    name, address, port = sys.argv[2:5]
    sock = socket.socket()
    if what != "late":
        set_control(sock, name)
    if what == "again":
        connect_at_home(sock, int(port))
    if what in ("late", "early"):
        sock.setblocking(False)
        try:
            sock.connect((address, int(port)))
        except BlockingIOError:
            pass
        sock.setblocking(True)
    else:
        sock.connect((address, int(port)))
    begun = time.monotonic()
    if what in ("send", "late", "again"):
        if what == "late":
            set_control(sock, name)
        sock.sendall(bytes(1000000))
        sock.shutdown(socket.SHUT_WR)
        sock.recv(1)
        print(control_of(sock))
    elif what == "early":
        sock.sendall(bytes(20000))
        take(sock, 3000000)
        print(int((time.monotonic() - begun) * 1e3))
    elif what == "slow":
        sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 30000000)
        count = 0
        while time.monotonic() < begun + .3:
            count += sock.send(bytes(100000))
        print(int(count / .3))
    elif what == "messages":
        longest = 0
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(6):
            start = time.monotonic()
            sock.sendall(bytes(20000))
            take(sock, 1)
            longest = max(longest, time.monotonic() - start)
            time.sleep(.1)
        print(int(longest * 1e6))
    elif what == "reset":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4000000)
        sock.sendall(bytes(4000000))
        time.sleep(.003)
        reset(sock)
    elif what == "stay":
        sock.setblocking(False)
        while time.monotonic() < begun + .03:
            try:
                sock.send(bytes(100000))
            except BlockingIOError:
                time.sleep(.0005)
            except ConnectionError:
                break
        time.sleep(1)


main()
