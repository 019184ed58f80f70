#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2048,SC2086,SC2317,SC3044 # words; called by name; own functions
#
# fairlane metrics with traffic, in virtual time:
#
#	ca --- cr --- cb	1 Gbit/s from cr to cb, sch_fabric with two bands
#
# Lines that begin with "#sender ", "#router ", "#border ", "#file ", "#borderfile " are handed
# out for run to look at. Needs root, lablink, ip, tc, jq and, in PATH, fairlane, flowgen and
# lablink-ctl; $MODULES is the folder of the modules.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"

drop_net() { drop_nodes ca cr cb; }

net()
{
	three_nodes ca cr cb '10gbit' 'quickack 1' || return 1
	for n in ca cb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=1000 \
			net.fairlane.research.fluct_ns=30000 net.fairlane.noise_ns=10000
	done
	tc -n cr qdisc replace dev east root handle 1: fabric bands 2 limit 100kb ecn 50kb switch 1 switch-port 0
	flow -c cubic -b 1000 > /dev/null
}

flow() { flowgen -f ca -t cb -a 10.0.2.1 "$@"; }

# value FILE SAMPLE: the number of a sample.
value() { awk -v s="$2" '$1 == s { print $2 }' "$1"; }

# A high priority, a low one that waits for it, another control that fell back, one
# that was there before.
test_flows()
{
	flow -c prioplus -q 1 -b -1 -L 2500 > /dev/null &
	flow -p 5002 -c cubic -b -1 -L 1000 0:all:mbps=10 > /dev/null &
	sleep 0.02
	flow -p 5001 -n 2 -c prioplus -q 5 -b -1 -L 2400 > /dev/null &
	sleep 0.05
	fairlane -n ca metrics > /run/early
	expect "up" "$(value /run/early fairlane_up)" -eq 1
	expect "high flows" "$(value /run/early 'fairlane_connections{cc="prioplus",prio="5",state="sending"}')" -eq 2
	expect "low flows" "$(value /run/early 'fairlane_connections{cc="prioplus",prio="1",state="stopped"}')" -eq 1
	expect "waiting" "$(value /run/early 'fairlane_waiting_flows{prio="1"}')" -eq 1
	expect "starving" "$(value /run/early 'fairlane_starving_flows{prio="1"}')" -eq 0
	expect "probes" "$(value /run/early 'fairlane_live_probes{what="sent"}')" -gt 0
	# a chance to send may come in between
	tries=0
	until [ "$(in_ns ca ss -tinHO 'dport = :5000' | grep -oE 'lastsnd:[0-9]+' | cut -d: -f2)" -ge 500 ]; do
		sleep 0.05
		tries=$((tries + 1))
		[ $tries -lt 40 ] || break
	done
	fairlane -n ca metrics > /run/late
	expect "starving after half a second" "$(value /run/late 'fairlane_starving_flows{prio="1"}')" -eq 1
	expect "starving, high" "$(value /run/late 'fairlane_starving_flows{prio="5"}')" -eq 0
	fairlane -n ca -j top count 1 > /run/a
	expect "starving in top" "$(jq -c '[.classes[] | select(.waiting > 0) | [.prio, .starving, .waits_for_prio, .waits_for_others]]' /run/a)" = '[[1,1,[5],0]]'
	fairlane -n ca -j check > /run/a
	expect "starving in check" "$(jq -r '.[] | select(.check == "starving") | .verdict, .text' /run/a | tr '\n' ';')" = \
		'note;1 flows of prio 1 (no class) have data and send nothing: prio 5 send to the same hosts;'
	sed 's/^/#sender /' /run/late >&9
	fairlane -n ca metrics /run/file || fault "no file"
	sed 's/^/#file /' /run/file >&9
	expect "files" "$(echo /run/file*)" = /run/file
	fairlane -n cr metrics > /run/router
	sed 's/^/#router /' /run/router >&9
	expect "bytes of the port" "$(value /run/router 'fairlane_port_sent_bytes_total{dev="east",handle="1:"}')" -gt 10000000
	expect "bands" "$(grep -c '^fairlane_band_sent_bytes_total{dev="east"' /run/router)" -eq 2
	expect "lines of a border router that is none" "$(grep -c border /run/router)" -eq 0
	fairlane -n ca off > /dev/null
	fairlane -n ca metrics > /run/off
	expect "off" "$(value /run/off fairlane_off)" -eq 1
	expect "flows taken" "$(value /run/off fairlane_off_flows)" -eq 3
	fairlane -n ca on > /dev/null
	wait
}

# As many lines with 60 flows as with one.
test_cardinality()
{
	flow -c prioplus -q 3 -b -1 -L 60 > /dev/null &
	sleep 0.02
	one=$(fairlane -n ca metrics | grep -vc fairlane_connections)
	flow -p 5001 -n 60 -c prioplus -q 3 -b -1 -L 30 > /dev/null &
	sleep 0.02
	expect "lines" "$(fairlane -n ca metrics | grep -vc fairlane_connections)" -eq "$one"
	expect "kinds of flows" "$(fairlane -n ca metrics | grep -c '^fairlane_connections')" -le 6
	wait
}

# What a border router has counted, as tc says it: of flows both ways, first without room for any
# connection, then with room for few and for few messages.
test_border()
{
	settings=/sys/module/sch_fabric/parameters
	conns=$(cat $settings/border_conns) messages=$(cat $settings/border_messages)
	echo 0 > $settings/border_conns
	tc -n cr qdisc replace dev west root handle 2: fabric limit 4mb stamp load role lan || fault "role lan"
	tc -n cr qdisc replace dev east root handle 2: fabric limit 4mb stamp load role wan || fault "role wan"
	for room in 4 "$conns"; do
		flow -c mlcc -n 8 -b -1 -L 30 > /dev/null
		flowgen -f cb -t ca -a 10.0.1.1 -p 5100 -c mlcc -n 8 -b -1 -L 30 > /dev/null
		echo "$room" > $settings/border_conns
		echo 100 > $settings/border_messages
	done
	echo "$messages" > $settings/border_messages
	# more for one host than its part of the port: hpcc is Reno here
	tc -n cr qdisc del dev west root
	tc -n cr qdisc add dev west root handle 2: fabric limit 60kb stamp load role lan host-rate 50mbit || fault "limit"
	flowgen -f cb -t ca -a 10.0.1.1 -p 5200 -c hpcc -n 16 -b -1 -L 30 > /dev/null
	# what the ends say when they close
	sleep 1
	fairlane -n cr metrics > /run/border
	sed 's/^/#border /' /run/border >&9
	fairlane -n cr metrics /run/borderfile || fault "no file"
	sed 's/^/#borderfile /' /run/borderfile >&9
	for what in connections credits told messages unsent refused evicted shared host_full; do
		has=$(tc -n cr -s -j qdisc show dev west | jq ".[0].fabric.border.$what")
		[ $what = connections ] || what=${what}_total
		expect "$what" "$(value /run/border fairlane_border_$what)" = "$has"
		# nobody lies here
		[ $what = refused_total ] || expect "$what" "$has" -gt 0
	done
}

load_modules fairlane tcp_swift tcp_prioplus tcp_mlcc fairlane_credit sch_fabric || exit 1
run_tests 1 ${*:-flows cardinality border}
