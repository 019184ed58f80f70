#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# shellcheck disable=SC2013,SC2015 # words; finish does not return
#
# PID 1 of the virtual machine that counts what modules cost that nobody uses. Two
# namespaces and a veth; a Cubic flow of single packets. Answers with lines
#
#	run WHAT NS PACKETS
#
# one for each transfer. NS is instructions: nothing waits, and the clock goes by instructions. The modules come and
# go three times, and the first time only warms up: until some twenty transfers are over each
# takes up to 2 instructions in 1000 more, with modules or without. WHAT:
#
#	none	no module of ours is loaded
#	loaded	all are, nobody uses them
#	used	one flow of each control has come and gone, the hooks' time is over
#	hooked	the namespaces reflect telemetry for all sockets: what the others must not cost
/bin/busybox --install -s /bin
export PATH=/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
exec > /dev/ttyS1 2>&1 < /dev/null

# Some busybox shells prefer their own ip, wherever PATH points.
ip()
{
	/sbin/ip "$@"
}

finish()
{
	echo "$*"
	sync
	poweroff -f
	exit
}

must()
{
	"$@" || finish "failed: $*"
}

bytes=20000000

# count WHAT: two transfers fill the caches, the next nine count. The pauses have the transfers
# begin at different phases of the tick, which alone makes .1 %.
count()
{
	for phase in 00 11 05 23 17 31 02 29 13 37 07; do
		sleep 0.0$phase
		must flowgen -f a -t b -a 10.0.0.2 -c cubic -b $bytes -L 0 > /run/flow
		sed -n 's/.* end \([0-9]*\) .*/\1/p' /run/flow
	done | tail -n 9 | sort -n > /run/counts
	[ "$(wc -l < /run/counts)" -eq 9 ] || finish "failed: transfers of $1"
	echo "# $round: $1, us: $(tr '\n' ' ' < /run/counts)"
	[ "$round" = 'warming up' ] ||
		sed "s|.*|run $1 &000 $((bytes / 1448))|" /run/counts
}

must insmod "/modules/$(cat /modules/first)"
for n in a b; do
	must ip netns add $n
	must ip -n $n link set lo up
	# Each transfer begins alike, and none grows its buffers.
	must ip netns exec $n sysctl -q -w net.ipv4.tcp_no_metrics_save=1
	for buffer in rmem wmem; do
		must ip netns exec $n sysctl -q -w net.ipv4.tcp_$buffer="131072 131072 131072"
	done
done
must ip link add e0 netns a type veth peer name e0 netns b
must ip -n a addr add 10.0.0.1/24 dev e0
must ip -n b addr add 10.0.0.2/24 dev e0
for n in a b; do
	must ip netns exec $n offload e0 tso off gso off gro off
	must ip -n $n link set e0 up
done
# Unloads all of ours, the last one first.
unload()
{
	names=
	for ko in $(cat /modules/order); do
		names="${ko%.ko} $names"
	done
	for name in $names; do
		must rmmod "$name"
	done
}

# What the kernel does after booting is over.
sleep 20
for round in 'warming up' first second; do
	count none
	for ko in $(cat /modules/order); do
		must insmod "/modules/$ko"
	done
	count loaded
	for cc in prioplus soze swift ledbat d2tcp expresspass; do
		must flowgen -f a -t b -a 10.0.0.2 -c $cc -b 100000 -L 20000 > /run/flow
	done
	sleep 12
	count used
	for n in a b; do
		must ip netns exec $n sysctl -q -w net.fairlane.telemetry=2
	done
	sleep 1
	count hooked
	unload
done
finish 'done'
