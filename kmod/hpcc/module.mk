# SPDX-License-Identifier: GPL-2.0
# HPCC; MLCC's sender, whose loops have HPCC's law, and PowerTCP use what it exports.
obj-m += tcp_hpcc.o tcp_mlcc.o tcp_powertcp.o
tcp_hpcc-y := $(addprefix hpcc/,tcp_hpcc.o core/hpcc.o)
tcp_mlcc-y := $(addprefix hpcc/,tcp_mlcc.o core/mlcc.o)
tcp_powertcp-y := $(addprefix hpcc/,tcp_powertcp.o core/powertcp.o)
