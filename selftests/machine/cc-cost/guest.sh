#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# shellcheck disable=SC2013,SC2015 # words; finish does not return
#
# PID 1 of the virtual machine that counts what congestion controls cost. Host a
# sends to host b through router r, whose port to b is a fabric of 200 Mbit/s; all
# of TCP, routing and the fabric are real, and so are queues and RTTs.
#
# Answers with lines
#
#	ack CONTROL FLOWS ROLE WHAT CALLS CYCLES	from cc_cost.c, over 0.4 s
#	carried FLOWS ROLE WHAT CALLS CYCLES PACKETS	Söze with TSO and GRO
#	stopped FLOWS ROLE WHAT CALLS CYCLES		the same of stopped flows
#	stamp NAME CYCLES PACKETS			a fabric without and with it
#	slab CONTROL FLOWS CACHE OBJECTS BYTES		what the flows have added
#
# Kernel command line: only=CONTROL, for profiles: that one, and /proc/kallsyms.
/bin/busybox --install -s /bin
export PATH=/sbin:/bin TC_LIB_DIR=/tc
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

tc()
{
	/sbin/tc "$@"
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

in_a()
{
	ip netns exec a "$@"
}

# Tells cc_cost.ko what to count.
order()
{
	echo "$*" > /proc/cc_cost || finish "failed: cc_cost: $*"
}

# Has our hooks in namespace $1 counted; false if there are none.
count_hooks()
{
	ip netns exec "$1" sh -c 'echo hooks > /proc/cc_cost' 2> /dev/null
}

make_net()
{
	local ns i

	for ns in a r b; do
		must ip netns add $ns
		must ip -n $ns link set lo up
	done
	must ip link add eth0 netns a type veth peer name eth0 netns r
	must ip link add eth1 netns r type veth peer name eth0 netns b
	must ip -n a addr add 10.0.0.1/24 dev eth0
	must ip -n r addr add 10.0.0.254/24 dev eth0
	must ip -n r addr add 10.0.1.254/24 dev eth1
	must ip -n b addr add 10.0.1.1/24 dev eth0
	for ns in a b; do
		must ip -n $ns link set eth0 gso_max_segs 1 up
	done
	must ip -n r link set eth0 gso_max_segs 1 up
	must ip -n r link set eth1 gso_max_segs 1 up
	must ip -n a route add default via 10.0.0.254
	must ip -n b route add default via 10.0.1.254
	must ip netns exec r sysctl -q -w net.ipv4.ip_forward=1
	must tc -n r qdisc add dev eth1 root fabric rate 200mbit delay 500us limit 1mb ecn 60kb stamp soze
	must tc -n r qdisc add dev eth0 root fabric rate 1gbit delay 500us limit 1mb
	# Delays are those of an emulated machine: so are their fluctuations.
	for ns in a b; do
		must ip netns exec $ns sysctl -q -w net.fairlane.line_rate_mbps=200 \
			net.fairlane.research.fluct_ns=1000000 net.fairlane.noise_ns=500000
		count_hooks $ns && finish "failed: a namespace without a user has hooks"
		# b reflects for cubic, too
		must ip netns exec $ns sysctl -q -w net.fairlane.telemetry=2
		i=0
		until count_hooks $ns; do
			i=$((i + 1))
			[ $i -lt 100 ] || finish "failed: hooks"
			usleep 20000
		done
	done
}

# hold NAME PORT ARGS: flows that go on until "let_go NAME".
hold()
{
	local name=$1 port=$2 i=0

	shift 2
	mkfifo "/run/$name.in" || finish "failed: mkfifo"
	: > "/run/$name.out"
	flowgen -f a -t b -a 10.0.1.1 -p "$port" -h "$@" < "/run/$name.in" > "/run/$name.out" 2>&1 &
	case $name in
	one)	exec 8> /run/one.in ;;
	two)	exec 9> /run/two.in ;;
	esac
	until grep -q holding "/run/$name.out"; do
		i=$((i + 1))
		[ $i -lt 1000 ] || finish "failed: $name: $(cat "/run/$name.out")"
		usleep 20000
	done
}

let_go()
{
	case $1 in
	one)	exec 8>&- ;;
	two)	exec 9>&- ;;
	esac
	until grep -q connections "/run/$1.out"; do
		usleep 20000
	done
	rm "/run/$1.in" "/run/$1.out"
	# what is left in queues
	usleep 200000
}

# ack CONTROL FLOWS
ack()
{
	local ecn=0 receiver=reno stamp=soze

	[ "${only:-$1}" = "$1" ] || return 0
	case $1 in
	hpcc|mlcc)	stamp=load ;;
	powertcp)	stamp=power ;;
	# A receiver that does not need ECN refuses it to a sender that marks its SYN.
	dctcp|d2tcp)	ecn=1 receiver=$1 ;;
	esac
	must in_a sysctl -q -w net.ipv4.tcp_ecn=$ecn
	must ip netns exec b sysctl -q -w net.ipv4.tcp_ecn=$ecn net.ipv4.tcp_congestion_control="$receiver"
	must tc -n r qdisc change dev eth1 root fabric stamp $stamp
	order control "$1"
	order watch 5000 5063
	hold one 5000 -c "$1" -n "$2" -q 3
	usleep 600000
	order reset
	usleep 400000
	sed "s/^/ack $1 $2 /" /proc/cc_cost
	let_go one
}

# The same with large packets: Söze's senders hand out several segments at once, as many as
# at 100 Gbit/s, which is the alpha here (at that of 200 Mbit/s a train is one segment); the
# fabric cuts them up and stamps each, and the receiver's device merges what comes within
# 1 ms.
carried()
{
	[ "${only:-soze}" = soze ] || return 0
	for ns in a b; do
		must ip -n $ns link set eth0 gso_max_segs 64
		must ip netns exec $ns sysctl -q -w net.fairlane.research.gso_segs=16 \
			net.fairlane.soze_alpha_mbps=100000
	done
	must ip -n r link set eth0 gso_max_segs 64
	# veth merges what a device without TSO has sent
	must ip netns exec r offload eth1 tso off
	must ip netns exec b offload eth0 gro on
	must ip netns exec b sh -c 'echo 1000000 > /sys/class/net/eth0/gro_flush_timeout'
	must tc -n r qdisc change dev eth1 root fabric stamp soze stamp-hold 500us
	hold one 5000 -c soze -n "$1" -q 3
	usleep 600000
	order reset
	usleep 400000
	sed "s/^/carried $1 /" /proc/cc_cost
	let_go one
}

# A flow of Swift with a higher target keeps flows of PrioPlus stopped: first they
# have the line, then it comes.
stopped()
{
	hold one 5000 -c prioplus -n "$1" -q 1
	hold two 7000 -c swift -n 1 -q 6
	sleep 1
	order watch 5000 5063
	order reset
	usleep 500000
	sed "s/^/stopped $1 /" /proc/cc_cost
	let_go two
	let_go one
}

# As in selftests/machine/cost: enqueue and dequeue, packets of 1514 bytes in turn.
stamp()
{
	local name=$1 rounds=100 answer

	shift
	must tc qdisc add dev d0 root handle 1: fabric limit 1mb "$@"
	echo "d0 10 1" > /proc/qdisc_cost && echo "d0 $rounds 1" > /proc/qdisc_cost ||
		finish "failed: qdisc_cost"
	answer=$(cat /proc/qdisc_cost)
	[ "${answer#* }" = $rounds ] || finish "failed: packets lost: $answer"
	echo "stamp $name $answer"
	must tc qdisc del dev d0 root
}

# Empty slabs and those that processors keep do not count.
slabs()
{
	local file

	for file in /sys/kernel/slab/*/shrink; do
		echo 1 > "$file"
	done
	sed -n '3,$p' /proc/slabinfo | while read -r name _ objects size _; do
		echo "$name $objects $size"
	done
}

# What connections of a control have added to the kernel's slabs.
slab()
{
	local i=0

	sleep 1
	mkfifo /run/many.in || finish "failed: mkfifo"
	: > /run/many.out
	slabs > /run/before
	flowgen -a 127.0.0.1 -p 6000 -l reno -c "$1" -n "$2" -b 20000 -h < /run/many.in > /run/many.out 2>&1 &
	exec 7> /run/many.in
	until grep -q holding /run/many.out; do
		i=$((i + 1))
		[ $i -lt 3000 ] || finish "failed: connections: $(cat /run/many.out)"
		usleep 10000
	done
	sleep 1
	slabs > /run/after
	exec 7>&-
	wait $!
	awk -v what="slab $1 $2" 'NR == FNR { before[$1] = $2; next }
		$2 > before[$1] { print what, $1, $2 - before[$1], $3 }' /run/before /run/after
	rm /run/many.in
	sleep 1
}

only=$(sed -n 's/.*only=\([^ ]*\).*/\1/p' /proc/cmdline)
for ko in $(cat /modules/order); do
	insmod "/modules/$ko" || finish "failed: insmod $ko"
done
# Those that may be used in namespaces: all of them.
cat /proc/sys/net/ipv4/tcp_available_congestion_control > /run/all
cat /run/all > /proc/sys/net/ipv4/tcp_allowed_congestion_control || finish "failed: controls"
must ip link set lo up
must ip link add d0 type dummy
must ip link set d0 up
stamp without
stamp with stamp soze
make_net
for flows in 1 8; do
	for cc in reno dctcp bbr swift ledbat d2tcp prioplus prioplus-ledbat soze hpcc powertcp mlcc; do
		ack $cc $flows
	done
done
[ -z "$only" ] || {
	carried 8
	cat /proc/kallsyms
	finish "done"
}
for flows in 4 16; do
	stopped $flows
done
for cc in reno bbr prioplus prioplus-ledbat swift ledbat d2tcp soze hpcc powertcp mlcc; do
	slab $cc 1000
done
carried 8
finish "done"
