#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# shellcheck disable=SC1091,SC2013 # names of modules are words
#
# PID 1 of the virtual machine with a stock kernel: loads our modules, uses them,
# removes them. KTAP on the second serial line; the kernel log is on the first.
# Kernel command line: test_level=brief|check|all; slow: a kernel that checks itself; leaks, races:
# one that finds these.
/bin/busybox --install -s /bin
export PATH=/sbin:/bin TC_LIB_DIR=/tc
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
exec > /dev/ttyS1 2>&1 < /dev/null

number=0

# Some busybox shells prefer their own ip and tc, wherever PATH points.
ip()
{
	/sbin/ip "$@"
}

tc()
{
	/sbin/tc "$@"
}

# Runs a function as a test; its output explains a failure.
check()
{
	number=$((number + 1))
	if "$@" > /run/out 2>&1; then
		echo "ok $number $*"
	else
		sed 's/^/# /' /run/out
		dmesg | tail -n 5 | sed 's/^/# dmesg: /'
		echo "not ok $number $*"
	fi
	echo "test $number done: $*" > /dev/kmsg
}

# What is in /modules/order: what ours need, then ours, each after its needs.
load_modules()
{
	local ko

	while read -r ko; do
		insmod "/modules/$ko" || return 1
	done < /modules/order
	lsmod
	for ko in $(cat /modules/ours); do
		lsmod | grep -q "^$ko " || return 1
	done
}

# Two hosts, a link. Real names of the interfaces on both ends: eth0.
make_hosts()
{
	ip netns add a && ip netns add b &&
	ip link add eth0 netns a type veth peer name eth0 netns b &&
	ip -n a addr add 10.0.0.1/24 dev eth0 && ip -n b addr add 10.0.0.2/24 dev eth0 &&
	ip -n a link set lo up && ip -n b link set lo up &&
	ip -n a link set eth0 up && ip -n b link set eth0 up
}

# Delays here are those of an emulated machine: say so to the controls that go by
# delay, and how fast the line is (set by fabric_as_line).
settings()
{
	ip netns exec a sysctl -w net.fairlane.line_rate_mbps=200 net.fairlane.research.fluct_ns=5000000 \
		net.fairlane.noise_ns=5000000
}

# The plugin speaks to stock tc, and what was said is what is shown.
fabric_as_line()
{
	tc -n a qdisc replace dev eth0 root handle 1: fabric rate 200mbit delay 100us limit 512kb ecn 64kb &&
	tc -n b qdisc replace dev eth0 root handle 1: fabric rate 200mbit delay 100us &&
	tc -n a qdisc show dev eth0 && tc -n a qdisc show dev eth0 > /run/shown &&
	grep -q 'qdisc fabric 1: root' /run/shown && grep -q 'rate 200Mbit delay 100us' /run/shown &&
	grep -q 'limit 512Kb' /run/shown
}

fabric_counted()
{
	tc -s -n a qdisc show dev eth0
	# At least what the transfers before carried.
	[ "$(tc -s -n a qdisc show dev eth0 | sed -n 's/^ Sent \([0-9]*\) bytes.*/\1/p')" -gt 2400000 ]
}

netem_as_line()
{
	tc -n a qdisc replace dev eth0 root netem delay 1ms loss 1% limit 10000 &&
	tc -n b qdisc replace dev eth0 root netem delay 1ms limit 10000
}

# Flows of several priorities at once; everything must arrive, and be right.
transfer()
{
	flowgen -f a -t b -a 10.0.0.2 -c "$1" -n 6 -b 400000 -q 1-6 -L 0
}

# credit_says NAMESPACE COUNTER
credit_says() { ip netns exec "$1" sed -n "s/^$2 //p" /proc/net/fairlane_credit; }

# The receiver has nothing set and no hooks: it hears of the requests by knocks, and gives credit.
# The first flow may be too early for it on so slow a machine.
transfer_paid()
{
	local seen got

	seen=$(credit_says b requests) got=$(credit_says a got)
	for _ in 1 2 3; do
		flowgen -f a -t b -a 10.0.0.2 -c "$1" -b 400000 -L 0 || return 1
	done
	echo "requests $seen to $(credit_says b requests), credits $got to $(credit_says a got)"
	[ "$(ip netns exec b cat /proc/sys/net/fairlane/telemetry)" -eq 1 ] &&
		[ "$(credit_says b requests)" -gt "$seen" ] && [ "$(credit_says a got)" -ge $((got + 100)) ]
}

abort_storm()
{
	flowgen -f a -t b -a 10.0.0.2 -c "$1" -n 16 -b 200000 -q 1-6 -s 400
}

# Starts flowgen with the words "$@"; it goes on until let_go. Sets holder.
start_flows()
{
	mkfifo /run/hold 2> /dev/null
	rm -f /run/holding
	flowgen "$@" -h < /run/hold > /run/holding &
	holder=$!
	exec 8> /run/hold
}

# All flows have got something; with -b, all of it.
held()
{
	until grep -q holding /run/holding; do
		kill -0 "$holder" || return 1
		usleep 10000
	done
}

# Starts flows that go on until let_go.
hold()
{
	start_flows -f a -t b -a 10.0.0.2 -c "$1" -n 4 -q 1-4
	held
}

let_go()
{
	exec 8>&-
	wait "$holder"
}

# A congestion control in use cannot be removed; its flows stay alive.
removal_refused()
{
	hold "$1" || return 1
	if rmmod "tcp_$1"; then
		echo "tcp_$1 was removed under its sockets"
		let_go
		return 1
	fi
	let_go
}

# The number after "$2" in the counters of port $1.
counted()
{
	tc -s -n a qdisc show dev "$1" | sed -n "s/.*$2 \([0-9]*\).*/\1/p" | head -n 1
}

# Changes of both ports under load, and what is used meanwhile.
shared_buffer_changes()
{
	local rounds=12 loaded=0 used

	usleep 100000
	while [ $rounds -gt 0 ]; do
		rounds=$((rounds - 1))
		tc -n a qdisc change dev eth$((rounds % 2)) root handle 1: fabric buffer sw 250000 && return 1
		tc -n a qdisc change dev eth$((rounds % 2)) root handle 1: fabric \
			band 1 alpha $((1 << rounds % 4)) band 2 reserved $((10000 * (1 + rounds % 2))) || return 1
		used=$(counted eth0 "buffer used")
		echo "used $used"
		# 300000 less the least that two bands have reserved, and one packet each.
		[ "$used" -le $((300000 - 2 * 10000 + 2 * 1100)) ] || return 1
		[ "$used" -gt 0 ] && loaded=$((loaded + 1))
		usleep 50000
	done
	[ $loaded -ge 6 ]
}

# Two ports of one buffer, each loaded from a processor of its own, while their bands
# change: never more used than there is (but for the packet that each processor is just
# trying), all given back, and no byte lost in between. A port alone cannot change the
# size of what it shares.
shared_buffer_on_two_processors()
{
	local rounds i rate=2mbit wait=100

	# what sends is slower, too
	[ -z "$slow" ] || { rate=300kbit wait=600; }
	ip link add eth1 netns a type veth peer name eth1 netns b &&
	ip -n a addr add 10.0.1.1/24 dev eth1 && ip -n b addr add 10.0.1.2/24 dev eth1 &&
	ip -n a link set eth1 up && ip -n b link set eth1 up || return 1
	for i in 0 1; do
		tc -n a qdisc replace dev eth$i root handle 1: fabric rate $rate limit 100mb \
			bands 2 dscp 8:2 buffer sw 300000 band 1 alpha 4 band 2 reserved 20000 || return 1
	done
	touch /run/load
	for i in 0 1; do
		while [ -e /run/load ]; do
			ip netns exec a taskset $((i + 1)) fabric_send udp 10.0.$i.2 300 0:1000 32:700 0:200
		done &
	done
	shared_buffer_changes
	i=$?
	# whatever came of it: else both processors stay busy for all later tests
	rm /run/load
	wait
	[ $i -eq 0 ] || return 1
	for i in 0 1; do
		tc -s -n a qdisc show dev eth$i
		[ "$(counted eth$i "dropped:.* buffer")" -gt 0 ] || return 1
	done
	# At 2 Mbit/s what is left is gone in a second or two.
	rounds=$wait
	while [ "$(counted eth0 "waiting bytes")" -gt 0 ] || [ "$(counted eth1 "waiting bytes")" -gt 0 ]; do
		rounds=$((rounds - 1))
		[ $rounds -gt 0 ] || return 1
		usleep 50000
	done
	[ "$(counted eth0 "buffer used")" -eq 0 ] && [ "$(counted eth1 "buffer used")" -eq 0 ] &&
	tc -n a qdisc del dev eth0 root && ip -n a link del eth1
}

# Who looks at sockets has no lock: their controls change meanwhile, on the other processor.
watch_changes()
{
	# shellcheck disable=SC2086 # words
	ip link set lo up && ccwatch 300 cubic $controls
}

# The same for the queueing discipline.
fabric_removal_refused()
{
	fabric_as_line || return 1
	if rmmod sch_fabric; then
		echo "sch_fabric was removed while a device uses it"
		return 1
	fi
}

# Packets wait inside while their queue changes or goes away.
change_under_traffic()
{
	local rounds

	fabric_as_line && hold "$1" || return 1
	rounds=5
	while [ $rounds -gt 0 ]; do
		rounds=$((rounds - 1))
		tc -n a qdisc change dev eth0 root handle 1: fabric rate 500mbit limit 64kb &&
		tc -n a qdisc replace dev eth0 root handle 2: fabric rate 100mbit delay 1ms &&
		tc -n a qdisc del dev eth0 root && fabric_as_line || return 1
	done
	let_go
}

# A namespace goes away with flows and full queues in it.
delete_under_traffic()
{
	fabric_as_line && hold "$1" || return 1
	ip -n a link del eth0 || return 1
	# The flows of a link that is gone cannot end by themselves.
	kill "$holder"
	let_go
	ip netns del a && ip netns del b && make_hosts && settings
}

# A bond of two ports of 10 Gbit/s says 20, a flow goes through one of them, and a VLAN on it is as
# fast as that. In a namespace of its own, between two bonds.
line_rate_of_bond()
{
	local ns at=0 shown

	for ns in e f; do
		ip netns add $ns && ip -n $ns link set lo up || return 1
	done
	for port in p1 p2; do
		ip link add $port netns e type veth peer name $port netns f || return 1
	done
	for ns in e f; do
		at=$((at + 1))
		ip -n $ns link add agg type bond mode balance-rr miimon 10 &&
		ip -n $ns link set p1 master agg && ip -n $ns link set p2 master agg &&
		ip -n $ns link add link agg name agg.7 type vlan id 7 &&
		ip -n $ns link set agg up && ip -n $ns link set agg.7 up &&
		ip -n $ns addr add 10.6.0.$at/24 dev agg && ip -n $ns addr add 10.7.0.$at/24 dev agg.7 || return 1
	done
	usleep 500000
	# what it says of itself, and what was taken for the line once
	[ "$(ip netns exec e cat /sys/class/net/agg/speed)" = 20000 ] || return 1
	for net in 6 7; do
		flowgen -f e -t f -a 10.$net.0.2 -c prioplus -p 777$net -b -1 -L 3000 > /dev/null 2>&1 &
		usleep 1500000
		shown=$(fairlane -n e -j flow show dport 777$net | jq -c '[.[0].line_rate_mbps, .[0].from.line_rate_mbps]')
		wait $!
		echo "10.$net.0.2: $shown"
		[ "$shown" = '[10000,"device"]' ] || return 1
	done
	until_true nothing_to_send e && until_true nothing_to_send f || return 1
	ip netns del e && ip netns del f
}

# No socket in the namespace $1 has anything left to send: without a link it would try for minutes,
# and its control could not be removed as long.
nothing_to_send()
{
	# shellcheck disable=SC2016 # awk's
	! ip netns exec "$1" awk 'NR > 1 && $4 != "06"' /proc/net/tcp | grep -q .
}

# The control plane (selftests/net/control), with two processors and in real time.
control()
{
	FUZZ_ROUNDS=2000 ctl "$1"
}

# A socket whose device encrypts sends no probe.
encrypted()
{
	control encrypted && [ "$(cat /sys/module/fl_encrypts/parameters/seen)" -eq 0 ]
}

remove_modules()
{
	local ko

	ip netns del a
	ip netns del b
	# Namespaces, and with them sockets and devices, go away in the background.
	for ko in $(tac /modules/ours); do
		until rmmod "$ko" 2> /run/rmmod; do
			grep -q 'temporarily\|in use' /run/rmmod || { cat /run/rmmod; return 1; }
			usleep 10000
		done
	done
	! lsmod | grep -E "^($(tr '\n' '|' < /modules/ours)none) "
}

# Loaded and removed many times over: nothing may be left behind.
reload()
{
	local rounds ko

	rounds=10
	while [ $rounds -gt 0 ]; do
		rounds=$((rounds - 1))
		for ko in $(cat /modules/ours); do
			insmod "/modules/$ko.ko" || return 1
		done
		for ko in $(tac /modules/ours); do
			rmmod "$ko" || return 1
		done
	done
}

# What kmemleak finds in two looks, the second after all is old enough to be reported.
leaks()
{
	local file=/sys/kernel/debug/kmemleak

	mount -t debugfs none /sys/kernel/debug 2> /dev/null
	echo scan > $file && sleep 10 && echo scan > $file && cat $file || return 1
	[ -z "$(cat $file)" ]
}

# Data races are looked for from now on.
look_for_races()
{
	mount -t debugfs none /sys/kernel/debug 2> /dev/null
	echo on > /sys/kernel/debug/kcsan
}

# It sees one that is there on purpose. machine leaves that one out of the modules'.
a_race_is_seen()
{
	insmod /modules/fl_races.ko && rmmod fl_races &&
	dmesg | grep -q 'KCSAN: data-race in count \[fl_races\]'
}

# So many accesses were watched; machine has the reports.
looked_for_races()
{
	cat /sys/kernel/debug/kcsan
	[ "$(sed -n 's/^setup_watchpoints: *//p' /sys/kernel/debug/kcsan)" -ge 100000 ]
}

# Out of tree (4096) and unsigned (8192) they are; no warning, oops or worse.
taint()
{
	local flags

	flags=$(cat /proc/sys/kernel/tainted)
	echo "tainted: $flags"
	[ $((flags & ~(4096 | 8192))) -eq 0 ]
}

. /routers.sh

level=$(sed -n 's/.*test_level=\([a-z]*\).*/\1/p' /proc/cmdline)
slow=$(grep -ow slow /proc/cmdline)
controls=$(sed -n 's/^tcp_//p' /modules/ours)
races=$(grep -ow races /proc/cmdline)
echo "KTAP version 1"
if [ -n "$races" ]; then
	check look_for_races
	check a_race_is_seen
fi
check load_modules
check make_hosts
check settings
check fabric_as_line
# The stack's own first: if that fails, it is the queueing discipline.
for cc in cubic $controls; do
	check transfer "$cc"
done
check fabric_counted
for cc in expresspass flexpass; do
	check transfer_paid $cc
done
[ "$level" = brief ] || check shared_buffer_on_two_processors
check fabric_removal_refused
for cc in $controls; do
	check removal_refused "$cc"
done
check watch_changes
if [ "$level" = all ]; then
	for cc in cubic $controls; do
		check abort_storm "$cc"
		check change_under_traffic "$cc"
		check delete_under_traffic "$cc"
		check fabric_as_line
	done
	check netem_as_line
	for cc in cubic $controls; do
		check transfer "$cc"
		check abort_storm "$cc"
	done
fi
check told_net
for cc in hpcc mlcc powertcp soze; do
	check transfer_told $cc
done
check told_gone
check isolate_incast
check pfc_replaced
check parts_counted
check border_roles
if [ "$level" = brief ]; then
	check border_gone
else
	check border_replaced
fi
if [ "$level" = all ]; then
	check isolate_storm
	check border_storm
fi
for name in options inherit flow_names dump; do
	check control $name
done
[ ! -e /modules/fl_encrypts.ko ] || check encrypted
[ "$level" = brief ] || [ ! -e /modules/bonding.ko ] || check line_rate_of_bond
if [ "$level" = all ]; then
	for name in before_connect errors reuseport congestion_order policy_one policy_conditions policy_apply \
		events overrun netns_exit ceiling budget exchange owner fuzz; do
		check control $name
	done
fi
check remove_modules
if [ "$level" = all ]; then
	check reload
fi
! grep -qw leaks /proc/cmdline || check leaks
[ -z "$races" ] || check looked_for_races
check taint
echo "1..$number"
sync
poweroff -f
