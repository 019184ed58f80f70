# SPDX-License-Identifier: GPL-2.0
"""What the tests' scripts share that have an end of a TCP connection, or say that they had one.

in_guest (group.sh) puts it into PYTHONPATH.
"""
import ctypes
import socket
import struct


def set_control(sock, name):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())


def listen(port, control=None):
    """Listens at all addresses of both families; accepted ends have the control."""
    sock = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    if control:
        set_control(sock, control)
    return sock


def end_to(address, control=None):
    """An end that can connect to the address."""
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    if control:
        set_control(sock, control)
    return sock


def disconnect(sock):
    """Ends the connection, not the socket, which can make another."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.connect(sock.fileno(), struct.pack("H14x", socket.AF_UNSPEC), 16):
        raise OSError(ctypes.get_errno(), "disconnect")


def take(sock, count):
    """Reads so many bytes. Return: has all of it come?"""
    while count > 0:
        got = len(sock.recv(min(count, 1 << 20)))
        if not got:
            return False
        count -= got
    return True


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def segment(source, to, ports, numbers, window=1000, options=b""):
    """An ACK without data: the addresses are IPv4 in 4 bytes each, numbers those of sequence and ACK."""
    options += b"\0" * (-len(options) % 4)
    tcp = struct.pack("!HHIIBBHHH", *ports, *numbers, (20 + len(options)) // 4 << 4, 0x10,
                      window, 0, 0) + options
    pseudo = source + to + struct.pack("!HH", socket.IPPROTO_TCP, len(tcp))
    return tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]


def packet(source, to, tcp, number=0, flags=0):
    """An IPv4 packet with this segment; number: its identification, flags: those and the offset."""
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), number & 0xFFFF, flags, 64,
                       socket.IPPROTO_TCP, 0) + source + to
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + tcp
