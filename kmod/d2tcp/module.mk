# SPDX-License-Identifier: GPL-2.0
obj-m += tcp_d2tcp.o
tcp_d2tcp-y := $(addprefix d2tcp/,tcp_d2tcp.o core/d2tcp.o)
