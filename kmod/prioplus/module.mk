# SPDX-License-Identifier: GPL-2.0
obj-m += tcp_prioplus.o
tcp_prioplus-y := $(addprefix prioplus/,tcp_prioplus.o pp_probe.o pp_see.o pp_info.o \
		    pp_owd.o pp_open.o pp_share.o pp_kin.o pp_configure.o pp_setting.o pp_trace.o core/prioplus.o core/pp_count.o \
		    core/pp_chan.o core/pp_step.o core/pp_grow.o core/pp_weight.o core/pp_core.o \
		    core/paper.o)
