#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# shellcheck disable=SC2013,SC2015 # words; finish does not return
#
# PID 1 of the virtual machine in which one flow sends what the processor can carry: two
# namespaces, a veth with its default offloads, all controls of ours and the kernel's. Answers
# with lines
#
#	bulk WHEN CONTROL BYTES NS IDLE_MS PACKETS BACK
#
# one for each transfer. NS is its time, which is instructions where IDLE_MS, the processor's
# idle time, is 0: the clock goes by instructions. PACKETS are those with data, as large as
# the stack hands them out, BACK what came back: ACKs and credits. WHEN:
#
#	none	no module of ours is loaded
#	loaded	all are, nobody uses them
#	trains	64 segments in a packet, where the control hands out as many
#	default	as many as gso_segs 0 and credit_segs 0 mean
#	single	a segment in a packet
#
# Kernel command line: only=CONTROL, for profiles.
/bin/busybox --install -s /bin
export PATH=/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
exec > /dev/ttyS1 2>&1 < /dev/null

# Some busybox shells prefer their own ip and tc, wherever PATH points.
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

bytes=200000000

idle_ms()
{
	awk '$1 == "cpu" { print ($5 + $6) * 10 }' /proc/stat
}

# Packets, as large as the stack hands them out, that namespace $1 has sent.
sent()
{
	ip netns exec "$1" cat /sys/class/net/e0/statistics/tx_packets
}

# transfer WHEN CONTROL
transfer()
{
	local idle data acks ecn=0 listener=

	# who marks its SYN needs a listener that does not refuse it
	case $2 in
	dctcp|d2tcp)	ecn=1 listener="-l $2" ;;
	esac
	for n in a b; do
		must ip netns exec $n sysctl -q -w net.ipv4.tcp_ecn=$ecn
	done
	idle=$(idle_ms) data=$(sent a) acks=$(sent b)
	# shellcheck disable=SC2086 # words
	must flowgen -f a -t b -a 10.0.0.2 -c "$2" $listener -q 3 -b $bytes -L 0 > /run/flow
	echo "bulk $1 $2 $bytes $(sed -n 's/.* end \([0-9]*\) .*/\1/p' /run/flow)000 $(($(idle_ms) - idle)) $(($(sent a) - data)) $(($(sent b) - acks))"
}

# Settings of ours in both namespaces.
set_all()
{
	for setting; do
		for n in a b; do
			must ip netns exec $n sysctl -q -w "net.fairlane.$setting"
		done
	done
}

only=$(sed -n 's/.*only=\([^ ]*\).*/\1/p' /proc/cmdline)
while read -r ko; do
	must insmod "/modules/$ko"
done < /modules/first
for n in a b; do
	must ip netns add $n
	must ip -n $n link set lo up
	must ip netns exec $n sysctl -q -w net.ipv4.tcp_no_metrics_save=1
done
must ip link add e0 netns a type veth peer name e0 netns b
must ip -n a addr add 10.0.0.1/24 dev e0
must ip -n b addr add 10.0.0.2/24 dev e0
for n in a b; do
	must ip -n $n link set e0 up
done
# What the kernel does after booting is over, and caches are full.
sleep 20
transfer warm cubic > /dev/null
for _ in 1 2 3; do
	transfer none cubic
done
while read -r ko; do
	must insmod "/modules/$ko"
done < /modules/ours
transfer warm cubic > /dev/null
for _ in 1 2 3; do
	transfer loaded cubic
done
# Faster than the processor, and delays are those of an emulated machine.
set_all telemetry=2 line_rate_mbps=100000 noise_ns=5000000 research.fluct_ns=5000000 \
	research.gso_segs=64 research.credit_segs=64
for _ in 1 2; do
	for cc in $(cat /proc/sys/net/ipv4/tcp_available_congestion_control); do
		[ "${only:-$cc}" != "$cc" ] || transfer trains "$cc"
	done
done
bytes=$((bytes / 4))
for when in default single; do
	case $when in
	default) set_all research.gso_segs=0 research.credit_segs=0 ;;
	single)  set_all research.gso_segs=1 research.credit_segs=1 ;;
	esac
	for cc in $(cat /proc/sys/net/ipv4/tcp_available_congestion_control); do
		[ "${only:-$cc}" != "$cc" ] || transfer "$when" "$cc"
	done
done
finish 'done'
