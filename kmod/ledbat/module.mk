# SPDX-License-Identifier: GPL-2.0
# tcp_prioplus.ko calls the core of LEDBAT, too.
obj-m += tcp_ledbat.o
tcp_ledbat-y := $(addprefix ledbat/,tcp_ledbat.o core/ledbat.o)
