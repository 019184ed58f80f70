# SPDX-License-Identifier: GPL-2.0
# HPCC, and MLCC's sender, whose loops have HPCC's law and use what it exports.
obj-m += tcp_hpcc.o tcp_mlcc.o
tcp_hpcc-y := $(addprefix hpcc/,tcp_hpcc.o core/hpcc.o)
tcp_mlcc-y := $(addprefix hpcc/,tcp_mlcc.o core/mlcc.o)
