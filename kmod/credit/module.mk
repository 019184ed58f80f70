# SPDX-License-Identifier: GPL-2.0
# Credit: a module of its own. Any socket may give credit; two controls send by it.
obj-m += fairlane_credit.o
fairlane_credit-y := $(addprefix credit/,credit_main.o credit_table.o credit_packet.o \
		       credit_option.o credit_knock.o credit_receiver.o credit_pacer.o \
		       credit_sender.o credit_copy.o credit_control.o credit_trace.o \
		       core/gate.o core/loop.o)
