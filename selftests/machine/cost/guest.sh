#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# shellcheck disable=SC2013,SC2015,SC2086 # words; finish does not return
#
# PID 1 of the virtual machine that counts. Each line of /rows names a qdisc and
# its options; the answer has the instructions of all packets and the packets,
# for packets that come alone and for bursts.
/bin/busybox --install -s /bin
export PATH=/sbin:/bin TC_LIB_DIR=/tc
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
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

# count ROUNDS BURST: once to warm up, once in earnest. $roots: as /proc/qdisc_cost has it.
count()
{
	echo "d0 10 $2 $roots" > /proc/qdisc_cost && echo "d0 $1 $2 $roots" > /proc/qdisc_cost &&
	cat /proc/qdisc_cost
}

for ko in $(cat /modules/order); do
	insmod "/modules/$ko" || finish "failed: insmod $ko"
done
ip link add d0 type dummy && ip link set d0 up && ip route add 10.0.0.0/16 dev d0 ||
	finish "failed: dummy device"

# row NAME QDISC-AND-OPTIONS: counts, prints, removes.
row()
{
	local name=$1 alone burst i

	shift
	[ "${only:-$name}" = "$name" ] || return 0
	tc qdisc add dev d0 root handle 1: "$@" || finish "failed: tc qdisc add $*"
	if [ "$1" = fabric ] && [ "$bands" = 8 ]; then
		for i in 1 2 3 4 5 6 7 8; do
			tc class change dev d0 classid 1:$i fabric weight 1 $colours || finish "failed: class"
		done
	fi
	if [ -n "$roots" ]; then
		# The roots are ports of switch 9, which addresses 10.0.1.* pass.
		{
			printf '%s\n' "port 1:0 to 8" "port 8:1 to 9" "port 8:2 to 7"
			for i in $(seq 0 15); do
				echo "route 1 port 0 to 10.0.1.$i"
				echo "route 8 port 1 to 10.0.1.$i"
				echo "route 9 port $i to 10.0.1.$i"
			done
			printf '%s\n' "route 1 port 0 to 10.0.0.2" "route 8 port 2 to 10.0.0.2" "route 7 port 3 to 10.0.0.2"
		} | fairlane fabric load - > /dev/null || finish "failed: paths"
	fi
	alone=$(count $rounds 1) && burst=$(count $rounds 64) || finish "failed: $name"
	# Everything must have come out again, nothing may have been marked or dropped.
	[ "${alone#* }" = $rounds ] && [ "${burst#* }" = $((rounds * 64)) ] || finish "failed: $name: packets lost: $alone $burst"
	echo "row|$name|${alone% *}|$rounds|${burst% *}|$((rounds * 64))"
	[ "$name" != "$only" ] || { tc -s qdisc show dev d0; cat /proc/modules; }
	tc qdisc del dev d0 root || finish "failed: tc qdisc del"
}

map="0 1 2 3 4 5 6 7 7 7 7 7 7 7 7 7"
dscp="0-7:1 8-15:2:yellow 16-23:3:red 24-31:4 32-39:5 40-47:6 48-55:7 56-63:8"
quanta="1514 1514 1514 1514 1514 1514 1514 1514"
colours=
bands=8
roots=
rounds=$(sed -n 's/.*rounds=\([^ ]*\).*/\1/p' /proc/cmdline)
rounds=${rounds:-200}
only=$(sed -n 's/.*only=\([^ ]*\).*/\1/p' /proc/cmdline)
# shellcheck disable=SC2086 # words
{
	row pfifo pfifo limit 1000
	row red red limit 1mb min 100kb max 300kb avpkt 1000 burst 110 bandwidth 10gbit ecn
	row ets ets bands 8 quanta $quanta priomap $map
	row fq_codel fq_codel
	row cake cake
	row fabric fabric limit 1mb bands 8 priomap $map
	colours="green 500kb yellow 300kb red 200kb"
	row colour fabric limit 1mb bands 8 dscp $dscp
	row ecn fabric limit 1mb bands 8 dscp $dscp ecn 100kb
	row buffer fabric limit 1mb bands 8 dscp $dscp ecn 100kb buffer sw 2mb
	row stamp fabric limit 1mb bands 8 dscp $dscp ecn 100kb buffer sw 2mb stamp soze
	colours=
	bands=1
	row band fabric limit 1mb
	row bandbuffer fabric limit 1mb ecn 100kb buffer sw 2mb
	isolate="switch 1 switch-port 0 speed 10gbit hop-rtt 2ms frames hear band 1 queue isolate"
	row isolate fabric limit 1mb ecn 100kb buffer sw 2mb $isolate
	roots="16 0"
	row roots fabric limit 1mb ecn 100kb buffer sw 2mb $isolate
	roots="16 1"
	row parked fabric limit 1mb ecn 100kb buffer sw 2mb $isolate
}
finish "done"
