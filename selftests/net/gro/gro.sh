#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2086 # awk; words
#
# How many segments GRO merges at a receiver, with and without the telemetry option,
# in virtual time:
#
#	ga --- gr --- gb	25 Gbit/s from gr to gb, sch_fabric there
#
# gb's device merges what comes within 10 us, as a NIC with moderated interrupts.
# Prints "gro FLOWS KIND SEGMENTS PACKETS": of all data that came in 20 ms, the
# segments and the packets that GRO made of them. KIND: none (Reno, no option),
# unstamped (Söze, nobody stamps: the option never changes), each (each packet has its
# own stamp), or round:NS and hold:TIME of sch_fabric's stamps.
# Needs root, lablink, sch_fabric, ip, tc, nstat and, in PATH, flowgen, offload and
# lablink-ctl; $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"

net()
{
	three_nodes ga gr gb 100gbit '' || return 1
	lablink-ctl set east netns gr rate 25gbit || return 1
	lablink-ctl set e0 netns gb rate 25gbit || return 1
	in_ns ga sysctl -q -w net.fairlane.line_rate_mbps=25000
	for n in ga gb; do
		in_ns $n sysctl -q -w net.ipv4.tcp_rmem='4096 16777216 33554432' \
			net.ipv4.tcp_wmem='4096 16777216 33554432'
	done
	flowgen -f ga -t gb -a 10.0.2.1 -c reno -b 1000 > /dev/null || return 1
	in_ns gb offload e0 gro on || return 1
	# The sysfs of gb's devices is mounted in there.
	in_ns gb sh -c 'echo 10000 > /sys/class/net/e0/gro_flush_timeout &&
		echo 2 > /sys/class/net/e0/napi_defer_hard_irqs'
}

count() { in_ns gb nstat -asz "$1" 2> /dev/null | awk -v c="$1" '$1 == c { print $2 }'; }

# measure FLOWS KIND CONTROL FABRIC'S WORDS
measure()
{
	flows=$1 kind=$2 cc=$3
	shift 3
	# anew: "replace" would keep what is not named
	tc -n gr qdisc del dev east root 2> /dev/null
	tc -n gr qdisc add dev east root handle 1: fabric limit 4mb "$@" || return 1
	flowgen -f ga -t gb -a 10.0.2.1 -c "$cc" -n "$flows" -b -1 -L 30 > /run/a &
	sleep 0.008
	segments=$(count IpExtInNoECTPkts) packets=$(count IpInReceives)
	sleep 0.02
	segments=$(($(count IpExtInNoECTPkts) - segments))
	packets=$(($(count IpInReceives) - packets))
	wait
	echo "gro $flows $kind $segments $packets"
}

trap 'drop_nodes ga gr gb' EXIT
sleep 0.01
load_modules fairlane tcp_soze && net || exit 1
for n in 1 4 16; do
	measure $n none reno || exit 1
	measure $n unstamped soze || exit 1
	measure $n each soze stamp soze || exit 1
	for kind in ${KINDS:-round:1024 hold:8us hold:16us hold:24us}; do
		measure $n $kind soze stamp soze "stamp-${kind%:*}" "${kind#*:}" || exit 1
	done
done
