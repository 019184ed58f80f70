# SPDX-License-Identifier: GPL-2.0
"""A socket whose first connection finds no ECN, and whose second does, for rivals.sh.

    again.py CONTROL                prints what the control is called after each of them

Both are to the own host, whose net.ipv4.tcp_ecn is 0: then it depends on the listener's control.
"""
import socket
import sys

from ends import disconnect, end_to, listen


def main():
    sock = end_to("127.0.0.1", sys.argv[1])
    for port, control in ((5201, "cubic"), (5202, sys.argv[1])):
        with listen(port, control):
            sock.connect(("127.0.0.1", port))
            name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
            print(name.split(b"\0")[0].decode())
            disconnect(sock)


main()
