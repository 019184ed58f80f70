# SPDX-License-Identifier: GPL-2.0
# tcp_prioplus.ko calls the core of Swift, too.
obj-m += tcp_swift.o
tcp_swift-y := $(addprefix swift/,tcp_swift.o swift_path.o swift_configure.o core/swift.o)
