# SPDX-License-Identifier: GPL-2.0
"""A sender whose own process keeps the socket's lock.

    stall.py CC ADDRESS PORT MS     writes 200 kB, then from a page that does not come for MS
                                    milliseconds; prints the ms that all of it took afterwards
"""
import ctypes
import fcntl
import mmap
import os
import socket
import struct
import sys
import threading
import time

from ends import set_control

PAGE_BYTES = 4096
SYS_USERFAULTFD = 323
UFFDIO_API = 0xC018AA3F
UFFDIO_REGISTER = 0xC020AA00
UFFDIO_ZEROPAGE = 0xC020AA04
UFFD_API = 0xAA
REGISTER_MISSING = 1


def missing_page():
    page = mmap.mmap(-1, PAGE_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    faults = ctypes.CDLL(None).syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
    fcntl.ioctl(faults, UFFDIO_API, struct.pack("QQQ", UFFD_API, 0, 0))
    fcntl.ioctl(faults, UFFDIO_REGISTER,
                struct.pack("QQQQ", start, PAGE_BYTES, REGISTER_MISSING, 0))
    return page, start, faults


def main():
    control, address, port, stall_ms = sys.argv[1:5]
    sock = socket.socket()
    set_control(sock, control)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1000000)
    sock.connect((address, int(port)))
    page, start, faults = missing_page()
    sock.sendall(bytes(200000))
    thread = threading.Thread(target=sock.send, args=(memoryview(page),))
    thread.start()
    os.read(faults, 32)
    time.sleep(int(stall_ms) / 1e3)
    begun = time.monotonic()
    fcntl.ioctl(faults, UFFDIO_ZEROPAGE, struct.pack("QQQQ", start, PAGE_BYTES, 0, 0))
    thread.join()
    sock.shutdown(socket.SHUT_WR)
    sock.recv(1)
    print(int((time.monotonic() - begun) * 1e3))


main()
