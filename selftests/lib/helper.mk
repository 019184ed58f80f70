# SPDX-License-Identifier: GPL-2.0
# Builds helpers of tests, for their folders' Makefiles, which set before the include
#
#	GROUP		folder below $(O)/selftests
#	HELPERS		programs; each from its own .c and
#	SHARED		sources of selftests/lib (without path), for all of them
#
# O= is the build folder.
TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
O ?= $(TOP)/build
CFLAGS ?= -O2 -g
CFLAGS += -std=gnu11 -Wall -Wextra -Wshadow
CFLAGS += -I$(TOP)/kmod/include/uapi -I$(TOP)/selftests/lib
DIR := $(O)/selftests/$(GROUP)
LIB := $(addprefix $(TOP)/selftests/lib/,$(SHARED) $(SHARED:.c=.h))

all: $(addprefix $(DIR)/,$(HELPERS))

$(DIR)/%: %.c $(LIB) Makefile $(TOP)/selftests/lib/helper.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $(filter %.c,$^)

clean:
	rm -rf $(DIR)

.PHONY: all clean
