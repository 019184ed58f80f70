# SPDX-License-Identifier: GPL-2.0
obj-m += tcp_hpcc.o
tcp_hpcc-y := $(addprefix hpcc/,tcp_hpcc.o core/hpcc.o)
