# SPDX-License-Identifier: GPL-2.0
# KUnit tests of the cores and tables, where the kernel has KUnit.
obj-$(if $(CONFIG_KUNIT),m) += fairlane_kunit.o
fairlane_kunit-y := kunit/fl_kunit.o kunit/pp_kunit.o
