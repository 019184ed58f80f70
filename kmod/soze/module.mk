# SPDX-License-Identifier: GPL-2.0
obj-m += tcp_soze.o
tcp_soze-y := $(addprefix soze/,tcp_soze.o sz_trace.o core/soze.o core/sz_target.o)
