# SPDX-License-Identifier: GPL-2.0
obj-m += tcp_ledbat.o
tcp_ledbat-y := ledbat/tcp_ledbat.o
