#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2048,SC2086,SC2317,SC3044 # words; called by name; own functions
#
# Off by one word: live connections go on with the system's control, and come back.
#
#	ca --- cr --- cb	1 Gbit/s from cr to cb, base RTT about 35 us
#
# Names of tests as arguments select. Needs root, lablink, ip, tc, ss, jq and, in PATH,
# fairlane, flowgen and lablink-ctl; $MODULES is the folder of the modules.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
controls='prioplus soze d2tcp flexpass hpcc powertcp mlcc'
[ "${TEST_LEVEL:-all}" = check ] || controls="$controls prioplus-ledbat swift ledbat expresspass flexpass-ly"
tracing=/sys/kernel/tracing
port=5000

load()
{
	load_modules fairlane tcp_swift tcp_ledbat tcp_d2tcp tcp_prioplus tcp_soze fairlane_credit tcp_expresspass \
		tcp_flexpass tcp_hpcc tcp_powertcp tcp_mlcc sch_fabric
}
drop_net() { drop_nodes ca cr cb; }

net()
{
	port=$(((port / 10 + 1) * 10))
	sysctl -q -w net.fairlane.off=0
	three_nodes ca cr cb '10gbit' 'quickack 1' || return 1
	for n in ca cb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=1000 net.ipv4.tcp_congestion_control=cubic \
			net.fairlane.research.fluct_ns=30000 net.fairlane.noise_ns=10000
	done
	tc -n cr qdisc replace dev east root handle 1: pfifo limit 500
	flow -p $port -c cubic -b 1000 > /dev/null
}

flow() { flowgen -f ca -t cb -a 10.0.2.1 "$@"; }

# The tool in the senders' namespace.
fl() { fairlane -n ca "$@"; }

# Congestion control of the socket in ca that sends to port $1, and what it does.
cc_to() { fl -j flow show dport "$1" | jq -r '.[0].cc'; }
state_to() { fl -j flow show dport "$1" | jq -r '.[0].state'; }

# cr's ports are what control $1 needs. $stamped: it goes by what they stamp. For mlcc cr is the
# border router of ca's datacenter.
ports_for()
{
	east='pfifo limit 500' west=pfifo stamped=
	case $1 in
	soze) east='fabric stamp soze' ;;
	hpcc) east='fabric stamp load' ;;
	powertcp) east='fabric stamp power' ;;
	mlcc) east='fabric stamp load role wan' west='fabric stamp load role lan' ;;
	esac
	[ "${east%% *}" = pfifo ] || stamped=yes
	tc -n cr qdisc del dev east root
	tc -n cr qdisc del dev west root 2> /dev/null
	tc -n cr qdisc add dev east root handle 1: $east || fault "no $east"
	tc -n cr qdisc add dev west root handle 1: $west || fault "no $west"
}

# Number of probes of PrioPlus flows of this test since probes_from: those of earlier ones
# are still closing.
probes() { grep fl_prioplus_probe $tracing/trace | grep -c ":${port%?}[0-9] "; }
probes_from()
{
	mount -t tracefs none $tracing 2> /dev/null
	echo > $tracing/trace
	echo 1 > $tracing/events/fairlane/enable || fault "no tracepoints"
}

# stat NAME: a counter of ca.
stat() { fl -j stats | jq ".$1"; }

# Every control: off, cubic goes on; nothing of ours is on the socket; on, it is back.
test_every_control()
{
	for cc in $controls; do
		port=$((port + 1))
		ports_for $cc
		# with ECN only if both ends ask for it
		[ $cc != d2tcp ] || listener='-l d2tcp'
		flow -p $port -c $cc ${listener-} -q 3 -b -1 -L 30 10:all:mark 20:all:mark 30:all:mark > /run/out &
		listener=
		sleep 0.01
		expect "before" "$(cc_to $port)" = $cc
		[ -z "$stamped" ] || expect "telemetry of $cc" "$(state_to $port)" = sending
		[ $cc != mlcc ] || expect "messages of the border router" "$(told ca messages)" -gt 0
		fl off > /run/off || fault "off: $(cat /run/off)"
		expect "$cc off" "$(cc_to $port)" = cubic
		expect "sockets with ours after $cc" "$(stat flows_cc)" -eq 0
		expect "sockets taken from $cc" "$(stat off_flows)" -eq 1
		fl flow show dport $port | grep -q " cubic .*off (had $cc)" ||
			fault "flow show: $(fl flow show dport $port)"
		sleep 0.01
		fl on > /run/off || fault "on: $(cat /run/off)"
		expect "$cc on" "$(cc_to $port)" = $cc
		expect "sockets taken" "$(stat off_flows)" -eq 0
		sleep 0.005
		[ -z "$stamped" ] || expect "telemetry of $cc after on" "$(state_to $port)" = sending
		wait
		# 10 ms at 1 Gbit/s are 1.2 MB
		expect "bytes of $cc" "$(mark_bytes /run/out 1)" -ge 300000
		expect "bytes after $cc was off" "$(mark_bytes /run/out 2)" -ge 300000
		expect "bytes after $cc was on" "$(mark_bytes /run/out 3)" -ge 300000
	done
}

# The end of the data is lost while the flow is off, and nothing new is written: who is on again
# sends it all again, not a packet with each timeout of 200 ms.
test_lost_before_on()
{
	for cc in cubic $controls; do
		port=$((port + 1))
		ports_for $cc
		[ $cc != d2tcp ] || listener='-l d2tcp'
		# 15 packets are written at 10 ms
		fl off > /dev/null
		flow -p $port -c $cc ${listener-} -w 20000@10000 -b 40000 -L 5000 > /run/out &
		listener=
		sleep 0.008
		tc -n cr qdisc replace dev east root handle 9: netem loss 100% || fault "no netem"
		sleep 0.006
		fl on > /dev/null
		ports_for $cc
		wait
		echo "# $cc: $(cat /run/out)"
		expect "retransmissions with $cc" "$(field retrans 0 /run/out)" -ge 13
		expect "end of what was lost before $cc was on, us" "$(field end 0 /run/out)" -le 500000
	done
}

# A flow that waits for a higher priority, with nothing in flight, sends at once.
test_stopped()
{
	flow -p $port -c prioplus -q 1 -b -1 -L 60 40:all:mark 60:all:mark > /run/low &
	sleep 0.02
	flow -p $((port + 1)) -c prioplus -q 5 -b -1 -L 40 > /run/high &
	sleep 0.01
	expect "state" "$(fl -j flow show dport $port | jq -r '.[0].state')" = stopped
	fl off > /dev/null
	probes_from
	sleep 0.01
	expect "probes" "$(probes)" -eq 0
	expect "window of the one that waited" "$(in_ns ca ss -tinHO "dport = :$port" | grep -oE 'cwnd:[0-9]+' | cut -d: -f2)" -ge 1
	fl on > /dev/null
	sleep 0.005
	[ "$(probes)" -gt 0 ] || fault "no probes after on"
	wait
	expect "bytes of the one that waited" "$(mark_bytes /run/low 2)" -ge 200000
}

# New sockets, connecting and accepting, by name and by default.
test_new_sockets()
{
	in_ns ca sysctl -q -w net.ipv4.tcp_congestion_control=prioplus
	fl off > /dev/null
	probes_from
	port=${port%?}0
	for ask in '-c prioplus' '' '-r -c soze' '-c expresspass'; do
		port=$((port + 1))
		flow -p $port $ask -q 1 -b -1 -L 20 > /run/out &
		sleep 0.01
		expect "sockets with ours ($ask)" "$(stat flows_cc)" -eq 0
		[ "$ask" = '-r -c soze' ] || expect "control ($ask)" "$(cc_to $port)" = cubic
		wait
		expect "bytes ($ask)" "$(field received 0 /run/out)" -ge 1000000
	done
	# of the moment between the handshake and the work
	expect "probes of two flows" "$(probes)" -le 2

	fl on > /dev/null
	flow -p $((port + 1)) -c prioplus -q 1 -b -1 -L 10 > /run/out &
	sleep 0.005
	expect "after on" "$(cc_to $((port + 1)))" = prioplus
	wait
}

# Ports of the connections to port $1 that have control $2, sorted.
ports_with() { fl -j flow show dport "$1" | jq -r ".[] | select(.cc == \"$2\") | .src" | sort; }

# A canary: a share of the connections, of those that run and of new ones.
test_share()
{
	[ -p /run/stay ] || mkfifo /run/stay
	flow -p $port -c prioplus -n 80 -b 1000 -h < /run/stay > /run/staying 2>&1 &
	exec 8> /run/stay
	until grep -q holding /run/staying; do sleep 0.001; done
	fl on share 20% > /run/off || fault "on share: $(cat /run/off)"
	few=$(stat flows_cc)
	# four deviations
	between "of 80, a fifth" "$few" 3 31
	expect "the others" "$(stat off_flows)" -eq $((80 - few))
	grep -q "on for 20.0%: $((80 - few)) sockets" /run/off || fault "says $(cat /run/off)"
	ports_with $port prioplus > /run/few
	expect "ports" "$(wc -l < /run/few)" -eq "$few"
	fl on share 60% > /dev/null
	ports_with $port prioplus > /run/more
	between "of 80, three fifths" "$(wc -l < /run/more)" 31 65
	expect "some that had it have lost it" "$(comm -23 /run/few /run/more | wc -l)" -eq 0
	fl off > /dev/null
	expect "off" "$(stat flows_cc)" -eq 0
	fl on > /dev/null
	expect "on" "$(stat flows_cc)" -eq 80
	fl flow set dport $port from prioplus all cc cubic share 20% > /dev/null
	ports_with $port cubic > /run/set
	cmp -s /run/few /run/set || fault "flow set chooses others"
	exec 8>&-
	wait

	# new ones: by name, and by default
	fl on share 50% > /dev/null
	in_ns ca sysctl -q -w net.ipv4.tcp_congestion_control=prioplus
	for ask in '-c prioplus' ''; do
		port=$((port + 1))
		flow -p $port $ask -n 80 -b 1000 -h < /run/stay > /run/staying 2>&1 &
		exec 8> /run/stay
		until grep -q holding /run/staying; do sleep 0.001; done
		sleep 0.01
		few=$(ports_with $port prioplus | wc -l)
		between "of 80 new ones ($ask)" "$few" 22 58
		expect "others ($ask)" "$(ports_with $port cubic | wc -l)" -eq $((80 - few))
		exec 8>&-
		wait
	done
	ip netns add cnew
	expect "a new namespace" "$(in_ns cnew sysctl -n net.fairlane.share_permille)" -eq 1000
	sysctl -q -w net.fairlane.share_permille=300
	ip netns add cnew2
	expect "one of a host with a share" "$(in_ns cnew2 sysctl -n net.fairlane.share_permille)" -eq 300
	sysctl -q -w net.fairlane.share_permille=1000
	ip netns del cnew; ip netns del cnew2
	for bad in 0% 101% 5 x%; do
		! fl on share $bad 2> /dev/null || fault "takes $bad"
	done
	! fl off share 5% 2> /dev/null || fault "off with a share"
}

# What somebody chose meanwhile stays, the system's control too, by whatever way the flow had come
# to its control; what was chosen before comes back, however often it was off.
test_chosen_meanwhile()
{
	for cc in reno cubic; do
		for ask in '-c prioplus' ''; do
			port=$((port + 1))
			in_ns ca sysctl -q -w net.ipv4.tcp_congestion_control=prioplus
			flow -p $port $ask -q 3 -b -1 -L 60 30:all:cc=$cc > /run/out &
			sleep 0.01
			fl off > /dev/null
			fl on > /dev/null
			expect "$cc ($ask), after on" "$(cc_to $port)" = prioplus
			fl off > /dev/null
			sleep 0.025
			expect "$cc ($ask), chosen while off" "$(cc_to $port)" = $cc
			fl on > /dev/null
			expect "$cc ($ask), after that" "$(cc_to $port)" = $cc
			expect "sockets taken" "$(stat off_flows)" -eq 0
			wait
		done
	done
}

# The modules can be removed while their connections go on.
test_modules_go()
{
	for cc in prioplus soze flexpass mlcc; do
		port=$((port + 1))
		flow -p $port -c $cc -q 3 -b -1 -L 400 20:all:mark 400:all:mark > /run/out &
		sleep 0.02
		! rmmod tcp_$cc 2> /dev/null || fault "tcp_$cc has a user and is gone"
		fl off > /dev/null
		rmmod tcp_$cc || fault "tcp_$cc stays"
		# there is nothing to come back to: what is there stays
		fl on > /dev/null
		expect "without the module" "$(cc_to $port)" = cubic
		wait
		expect "bytes after tcp_$cc had gone" "$(mark_bytes /run/out 2)" -ge 2000000
		load
	done
}

# A host that is off stays off for containers that come; off all reaches those that are
# there, and tells how many sockets there are in all of them.
test_namespaces()
{
	flow -p $port -c prioplus -q 3 -b -1 -L 60 > /run/out &
	flowgen -f cb -t ca -a 10.0.1.1 -p $port -c prioplus -q 3 -n 2 -b -1 -L 60 > /run/back &
	sleep 0.01
	expect "off of one" "$(fairlane -j off | jq .off)" = true
	expect "another" "$(cc_to $port)" = prioplus
	ip netns add cnew
	expect "a new one" "$(in_ns cnew sysctl -n net.fairlane.off)" -eq 1
	ip netns del cnew
	fairlane off all > /run/off
	grep -q 'network namespaces are off' /run/off || fault "off all: $(cat /run/off)"
	grep -q '^off: 3 sockets' /run/off || fault "off all: $(cat /run/off)"
	expect "off all" "$(cc_to $port)" = cubic
	expect "sockets, again" "$(fairlane -j off all | jq .off_flows)" -eq 3
	expect "of one namespace" "$(fl -j off | jq .off_flows)" -eq 1
	expect "on all" "$(fairlane -j on all | jq .off_flows)" -eq 0
	expect "on all" "$(cc_to $port)" = prioplus
	wait
}

# The receiver's host is off: it reflects nothing and gives no credit.
test_receiver()
{
	for cc in soze expresspass; do
		port=$((port + 1))
		flow -p $port -c $cc -b -1 -L 420 0:all:mbps=20 350:all:mark 420:all:mark > /run/out &
		sleep 0.01
		fairlane -n cb off > /dev/null
		# ten requests without an answer take a third of a second
		sleep 0.34
		fl -d flow show dport $port > /run/a
		grep -q fallback /run/a || fault "$cc does not see it: $(cat /run/a)"
		fairlane -n cb on > /dev/null
		wait
		expect "bytes of $cc without its peer" "$(mark_bytes /run/out 2)" -ge 100000
	done
}

# Without privilege nobody switches anything, and other words are refused.
test_refusals()
{
	for bad in 2 -1 x; do
		! in_ns ca sysctl -q -w net.fairlane.off=$bad 2> /dev/null || fault "takes $bad"
	done
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v fairlane)" off > /run/a 2>&1 &&
		fault "everybody may"
	grep -q 'cannot write' /run/a || fault "says $(cat /run/a)"
	expect "off" "$(in_ns ca sysctl -n net.fairlane.off)" -eq 0
}

cp "$(command -v fairlane)" /run/fairlane && PATH=/run:$PATH
load || exit 1
run_tests 1 ${*:-modules_go every_control lost_before_on stopped new_sockets chosen_meanwhile share namespaces receiver refusals}
