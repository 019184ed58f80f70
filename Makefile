# SPDX-License-Identifier: GPL-2.0
#
# How it fits together:
#
#   scripts/deps GROUP		installs what the machine lacks (apt), only if it does
#   tools/lab/kernel/build	the lab's kernel: cached in ~/.cache/fairlane by the hash
#				of patches, configuration, source and compiler
#   scripts/modules KERNEL	kmod/, qdisc/ and, for the lab, tools/lab/kmod/ are copied to
#				build/mod/<name>/src/ and built there: kernels side by side
#   tools/lab, tools/lab/guest,	have a Makefile each, whose default target puts its
#   iproute2-patches		products below $(O), which is absolute
#   selftests/run		runs groups of tests, see there
#
# Everything built lies in build/ (O=DIR: elsewhere). Folders need no order
# between them but: the lab needs all three, tests need the lab.

O	:= $(abspath $(or $(O),build))
KDIR	?=
DESTDIR	?=
PREFIX	?= /usr/local

# neither make nor kbuild can
ifneq ($(words $(O)),1)
$(error cannot build in a folder with blanks in its name: $(O))
endif

export O KDIR DESTDIR PREFIX

TOOLS := tools/lab tools/lab/guest tools/lab/kmod tools/libfairlane tools/fairlane iproute2-patches

.DEFAULT_GOAL := help
.PHONY: help deps kernel lab modules tools host-tools demo results check check-all lint space ablation \
	install install-tools uninstall dist deb docs clean distclean

help:
	@echo 'On any machine, nothing is loaded into its kernel:'
	@echo '  make demo       PrioPlus beside Swift in a virtual datacenter: table, plot, report'
	@echo '  make lab        the lab: its kernel, the modules, the tools (build/bin/lab)'
	@echo '  make check      tests (about 25 minutes on two processors; a fresh clone longer)'
	@echo '  make check-all  all tests: also debug kernel, storms on stock kernels, all figures'
	@echo '  make results    measure all figures again, write Documentation/results/'
	@echo '  make space SEEDS=1..100   random set-ups: which fail, worst first (CONTROL=, SET=)'
	@echo '  make lint       checkpatch, sparse, kernel-doc, shellcheck, codespell'
	@echo 'For a real host:'
	@echo '  make modules KDIR=/lib/modules/$$(uname -r)/build'
	@echo '  make tools && sudo make install   modules, tc plugin, lab (DESTDIR=, PREFIX=)'
	@echo '  make host-tools && sudo make install-tools   command, library, tc plugin; no lab'
	@echo '  sudo make uninstall'
	@echo '  make deb        packages for Debian: modules by DKMS, tools, library (build/deb/)'
	@echo '  make dist       the sources in a file (build/dist/)'
	@echo '  make docs       HTML of the manual (build/docs/)'
	@echo 'Pieces:'
	@echo '  make deps       install what is missing, for everything'
	@echo '  make modules    modules for the lab'"'"'s kernel'
	@echo '  make clean      remove build/;  make distclean: also the lab'"'"'s cached kernels'
	@echo 'Settings: O=DIR (build/), KSRC=FILE|DIR (kernel source), CC=, JOBS=, V=1'

deps:
	@scripts/deps all

lab: deps-lab
	@tools/lab/kernel/build uml > /dev/null
	@scripts/modules uml
	@$(MAKE) --no-print-directory tools

deps-lab:
	@scripts/deps lab

kernel: deps-lab
	@tools/lab/kernel/build uml > /dev/null

# KDIR= is for the kernel that is to run them; nothing is installed for it.
modules:
	@scripts/modules $(or $(KDIR),uml)

tools:
	@set -e; for dir in $(TOOLS); do \
		$(MAKE) $(if $(V),,-s) --no-print-directory -C $$dir O=$(O); \
	done

# What a host needs whose modules come by DKMS; no lab, no kernel.
host-tools:
	@set -e; for dir in tools/libfairlane tools/fairlane iproute2-patches; do \
		$(MAKE) $(if $(V),,-s) --no-print-directory -C $$dir O=$(O); \
	done

demo: lab
	@selftests/figures/demo

results: lab
	@selftests/figures/results

check: lab
	@scripts/deps test stock
	@selftests/run check

check-all: lab
	@scripts/deps test stock
	@selftests/run all

# CONTROL=CONTROL[/SPACE], SET='DIMENSION=VALUE ...', SSH=, SYSCTL=: see the script.
space: lab
	@scripts/deps test
	@selftests/space/sweep $(or $(CONTROL),prioplus/basic) $(or $(SEEDS),1..100) $(SET)

ablation:
	@scripts/deps test
	@selftests/space/ablation $(SEEDS)

lint:
	@scripts/deps lab test
	@selftests/run build/lint

install install-tools uninstall:
	@scripts/install $@

dist:
	@scripts/package dist

deb:
	@scripts/deps deb
	@scripts/package deb

docs:
	@scripts/deps docs
	@scripts/docs

clean:
	rm -rf $(O)

distclean: clean
	rm -rf $${XDG_CACHE_HOME:-$$HOME/.cache}/fairlane/kernel

.PHONY: deps-lab
