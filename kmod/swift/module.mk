# SPDX-License-Identifier: GPL-2.0
obj-m += tcp_swift.o
tcp_swift-y := swift/tcp_swift.o
