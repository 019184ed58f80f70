# SPDX-License-Identifier: GPL-2.0
obj-m += tcp_expresspass.o
tcp_expresspass-y := expresspass/tcp_expresspass.o
