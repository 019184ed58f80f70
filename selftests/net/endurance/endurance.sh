#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015,SC2048,SC2086,SC2154,SC2317 # fault after any; words; guest.sh's; called by name
#
# Connections of all controls, thousands one after the other and hundreds that stay, while
# their settings, controls and queues change and their path loses, repeats, reorders,
# damages and goes away. A round takes a second of virtual time and more. In each:
#
#	new flows, of which every byte must come, and be right; flowgen looks. Nobody who has
#		data is silent for longer than $silence_ms, neither they nor those that stay: all
#		together are a tenth of the line, so right of way is never far
#	one change of what is live
#	one fault of the path, which ends before the round
#
#	ca --- cr --- cb	100 Mbit/s from ca to cr, 1 Gbit/s from cr to cb
#
# Needs root, lablink, ip, tc, jq and, in PATH, fairlane, flowgen and lablink-ctl;
# $MODULES is the folder of the modules, $ROUNDS how many, $SEED of what sequence.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}" "${ROUNDS:?}" "${SEED:?}"
controls='prioplus prioplus-ledbat swift ledbat d2tcp soze expresspass flexpass hpcc powertcp mlcc cubic'
changes='prio weight off cc cc_back policy profile queue namespace reset'
faults='loss duplicate reorder damage delay flap silence_of_acks none'
failslab=/sys/kernel/debug/failslab
silence_ms=10000
mount -t debugfs none /sys/kernel/debug 2> /dev/null
[ ! -e $failslab/probability ] || faults="$faults allocations"

drop_net() { drop_nodes ca cr cb cn; }

net()
{
	load_modules tcp_swift tcp_ledbat tcp_d2tcp tcp_prioplus tcp_soze fairlane_credit tcp_expresspass \
		tcp_flexpass tcp_hpcc tcp_powertcp tcp_mlcc sch_fabric || return 1
	three_nodes ca cr cb 100mbit 'quickack 1' || return 1
	for n in ca cb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=100 net.fairlane.base_rtt_ns=300000 \
			net.fairlane.research.fluct_ns=400000 net.fairlane.noise_ns=250000 net.fairlane.telemetry=2
	done
	flow -p 4999 -c cubic -b 1000 > /dev/null
}

flow() { flowgen -f ca -t cb -a 10.0.2.1 "$@"; }
fl() { fairlane -n ca "$@"; }

# Everything in the plan is drawn at once: round, flows, control, bytes, change, fault.
plan()
{
	awk -v seed="$SEED" -v rounds="$ROUNDS" -v c="$controls" -v h="$changes" -v f="$faults" 'BEGIN {
		srand(seed)
		nc = split(c, cc); nh = split(h, change); nf = split(f, fault)
		for (i = 1; i <= rounds; i++)
			print i, 1 + int(rand() * 8), cc[1 + int(rand() * nc)], int(exp(6 + rand() * 6)),
				change[1 + int(rand() * nh)], fault[1 + int(rand() * nf)], int(rand() * 1000)
	}'
}

# The path's fault in the direction of data or of ACKs; heal ends it. Delays stay within the
# noise that was set: a base RTT that is wrong silences Swift, which believes it.
netem()
{
	tc -n "$1" qdisc replace dev e0 root netem limit 2000 $2 || fault "netem $2"
}

hurt()
{
	case $1 in
	loss)		netem ca 'loss 2%' ;;
	duplicate)	netem ca 'duplicate 3%' ;;
	reorder)	netem ca 'delay 500us reorder 75%' ;;
	damage)		netem ca 'corrupt 2%' ;;
	delay)		netem cb 'delay 100us 50us' ;;
	silence_of_acks) netem cb 'loss 10%' ;;
	allocations)	fail_allocations 10 ;;
	flap)		ip -n cr link set east down; sleep 0.1; ip -n cr link set east up ;;
	esac
}

heal()
{
	case $1 in
	loss|duplicate|reorder|damage)	tc -n ca qdisc del dev e0 root ;;
	delay|silence_of_acks)		tc -n cb qdisc del dev e0 root ;;
	allocations)			fail_allocations 0 ;;
	esac
}

# change WHAT NUMBER: of what is live.
change()
{
	case $1 in
	prio)	fl flow set all prio $(($2 % 7)) > /dev/null 2>&1 ;;
	weight)	fl flow set all weight $((1 + $2 % 10)) > /dev/null 2>&1 ;;
	off)	fl off > /dev/null && sleep 0.05 && fl on > /dev/null || fault "off and on" ;;
	cc)	fl flow set from cubic cc prioplus all > /dev/null 2>&1 ;;
	cc_back) fl flow set from prioplus cc soze share 50% all > /dev/null 2>&1 ;;
	policy)	fl policy add order 10 dport 6000-9000 prio $(($2 % 7)) weight 2 > /dev/null && sleep 0.05 &&
			fl policy flush > /dev/null || fault "policy" ;;
	profile) fl profile set fluct_ns $((300000 + $2 * 100)) > /dev/null || fault "profile" ;;
	queue)	tc -n cr qdisc replace dev east root handle $((1 + $2 % 3)): fabric limit 200kb ecn $((20 + $2 % 80))kb \
			stamp "$(echo soze load power | cut -d' ' -f$((1 + $2 % 3)))" || fault "queue" ;;
	namespace) ip netns add cn && flowgen -f cn -t cn -a 127.0.0.1 -c prioplus -b 1000 -L 100 > /dev/null 2>&1
		ip netns del cn ;;
	reset)	flow -p 4500 -c prioplus -n 10 -b 20000 -q 1-6 -s 20 -L 0 > /dev/null || fault "resets" ;;
	esac
}

# What the kernel has given away and has not got back, KiB, once what goes in the background has gone.
kept_kb()
{
	echo 3 > /proc/sys/vm/drop_caches
	awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo
}

now_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }

# Of each 100 allocations that cannot wait, packets mostly, $1 fail; of those that have failed
# so far, $failed_allocations is the number.
failed_allocations=0
fail_allocations()
{
	[ "$1" -gt 0 ] || failed_allocations=$((failed_allocations + 1000000 - $(cat $failslab/times)))
	echo 1000000 > $failslab/times
	echo Y > $failslab/ignore-gfp-wait
	echo 0 > $failslab/verbose
	echo "$1" > $failslab/probability
}

test_half_an_hour()
{
	connections=0 bytes=0 rounds=0 early='' longest=0 longest_is=''
	# Those that stay: they have a little to say each second, and are told of all changes.
	mkfifo /run/stay
	flow -p 5900 -c prioplus -n 300 -q 1-6 -b -1 -w 1400@1000000 -g $silence_ms -h < /run/stay > /run/staying 2>&1 &
	stayer=$!
	exec 8> /run/stay
	until grep -q holding /run/staying; do
		kill -0 $stayer 2> /dev/null || { fault "flows that stay: $(cat /run/staying)"; return; }
		sleep 0.1
	done
	plan > /run/plan
	while read -r round flows cc size what bad draw; do
		rounds=$round
		port=$((6000 + round % 3000))
		hurt $bad
		listener=
		[ $cc != d2tcp ] || listener='-l d2tcp'
		flow -p $port -c $cc $listener -n $flows -b $size -q 1-6 -g $silence_ms -L 60000 > /run/flow 2>&1 &
		one=$! began=$(now_ms)
		sleep 0.02
		change $what $draw
		wait $one
		status=$?
		took=$(($(now_ms) - began))
		[ $took -le $longest ] || { longest=$took; longest_is="$flows flows of $cc, $size bytes, $what, $bad"; }
		[ $status -eq 0 ] || fault "round $round: $flows flows of $cc, $size bytes, $what, $bad: $(tail -n 3 /run/flow)"
		heal $bad
		connections=$((connections + flows))
		bytes=$((bytes + flows * size))
		sleep 0.9
		[ $round -ne $((ROUNDS / 4)) ] || early=$(kept_kb)
		[ ! -e $fault_mark ] || break
	done < /run/plan
	echo "# $rounds rounds, $connections connections, $bytes bytes, $(cut -d' ' -f1 /proc/uptime) s of virtual time"
	echo "# longest transfer: $longest ms: $longest_is"
	head -n "$rounds" /run/plan | awk '{ n["change " $5]++; n["fault " $6]++; n["control " $3]++ }
		END { for (k in n) print "# " k, n[k] }' | sort
	[ ! -e $failslab/probability ] || echo "# allocations that failed: $failed_allocations"
	# the path was as bad as the plan says
	for c in TcpRetransSegs:ca TcpInCsumErrors:cb TcpExtTCPDSACKOldSent:cb TcpExtTCPOFOQueue:cb; do
		expect "$c" "$(counter ${c#*:} ${c%:*})" -gt 0
	done
	[ $rounds -lt 100 ] || [ ! -e $failslab/probability ] || expect "allocations that failed" $failed_allocations -gt 0
	kill -0 $stayer 2> /dev/null || fault "flows that stay have gone: $(tail -n 3 /run/staying)"
	late=$(kept_kb)
	echo "# kernel memory after a quarter ${early:-?} KiB, at the end $late KiB"
	# flat: what a slab's last page may be off
	expect "kernel memory, KiB" "$late" -le $((${early:-$late} + 2048))
	exec 8>&-
	wait $stayer || fault "flows that stay: $(tail -n 3 /run/staying)"
	# orphans and TIME_WAIT end in the background
	sleep 150
	expect "sockets with our controls" "$(fl -j stats | jq .flows_cc)" -eq 0
	expect "sockets that off has taken" "$(fl -j stats | jq .off_flows)" -eq 0
	expect "bytes that wait at the port" "$(tc -n cr -s -j qdisc show dev east | jq '[.. | .backlog? // 0 | numbers] | add')" -eq 0
	# a module goes only if nobody holds anything of it; the lab looks for objects that stay
	drop_net
	for m in tcp_prioplus tcp_swift tcp_ledbat tcp_d2tcp tcp_soze tcp_expresspass tcp_flexpass tcp_powertcp tcp_mlcc tcp_hpcc \
		fairlane_credit sch_fabric; do
		remove_module $m 200 1 || fault "$m is still in use"
	done
}

run_tests 1 ${*:-half_an_hour}
