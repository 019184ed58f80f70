#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Both ends of one TCP connection send at once.

duplex.py listen PORT BYTES: the end that accepts, with the system's congestion control.
duplex.py CC ADDRESS PORT BYTES: the other one, with CC.

Each sends BYTES and takes as many; an end that hears nothing for a second gives up.
"""
import select
import socket
import sys

from ends import end_to, listen

SILENCE_S = 1

if sys.argv[1] == "listen":
    conn = listen(int(sys.argv[2])).accept()[0]
else:
    conn = end_to(sys.argv[2], sys.argv[1])
    conn.connect((sys.argv[2], int(sys.argv[3])))
conn.setblocking(False)
to_send = to_take = int(sys.argv[-1])
block = bytes(65536)
while to_send or to_take:
    readable, writable, _ = select.select([conn], [conn] if to_send else [], [], SILENCE_S)
    if not readable and not writable:
        sys.exit("silence with %d bytes to send and %d to take" % (to_send, to_take))
    if readable:
        got = len(conn.recv(65536))
        if not got:
            sys.exit("the other end is gone")
        to_take -= got
    if writable:
        to_send -= conn.send(block[:to_send])
# all of it has been taken when the other end closes
conn.shutdown(socket.SHUT_WR)
conn.setblocking(True)
conn.settimeout(SILENCE_S)
while conn.recv(65536):
    pass
