#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A sender that has data which may not leave yet.

held.py listen PORT MS: the end that accepts; it reads nothing for MS milliseconds, then all.
held.py CC ADDRESS PORT WHY MS: the other one, with CC. WHY its data stays, for MS milliseconds:
	cork	less than a segment is written, under TCP_CORK
	reader	all that the buffers of both ends take is written
"""
import socket
import sys
import time

from ends import end_to

PATIENCE_S = 5
CORKED_BYTES = 100
BUFFER_BYTES = 200000

if sys.argv[1] == "listen":
    server = socket.create_server(("0.0.0.0", int(sys.argv[2])))
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    conn = server.accept()[0]
    time.sleep(int(sys.argv[3]) / 1000)
    conn.settimeout(PATIENCE_S)
    while conn.recv(65536):
        pass
    sys.exit()
why, pause_s = sys.argv[4], int(sys.argv[5]) / 1000
conn = end_to(sys.argv[2], sys.argv[1])
conn.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
conn.connect((sys.argv[2], int(sys.argv[3])))
if why == "cork":
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    conn.send(bytes(CORKED_BYTES))
    time.sleep(pause_s)
else:
    end_s = time.monotonic() + pause_s
    while (left_s := end_s - time.monotonic()) > 0:
        conn.settimeout(left_s)
        try:
            conn.send(bytes(65536))
        except TimeoutError:
            break
conn.shutdown(socket.SHUT_WR)
conn.settimeout(PATIENCE_S)
while conn.recv(65536):
    pass
