# SPDX-License-Identifier: GPL-2.0
obj-m += tcp_flexpass.o
tcp_flexpass-y := $(addprefix flexpass/,tcp_flexpass.o core/fp_window.o)
