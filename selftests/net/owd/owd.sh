#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2086,SC2317 # awk, jq, perl; words; called by name
#
# One-way delay by telemetry (net.fairlane.research.owd) on live sockets, in virtual time:
#
#	oa --- or --- ob	1 Gbit/s from or to ob, sch_fabric stamps there
#
# Names of tests as arguments select. Needs root, lablink, sch_fabric, ip, tc, jq
# and, in PATH, flowgen, fairlane and lablink-ctl; $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"

load() { load_modules fairlane tcp_swift tcp_prioplus; }
drop_net() { drop_nodes oa or ob; }
flow() { flowgen -f oa -t ob -a 10.0.2.1 "$@"; }
# Settings of the sender's namespace.
set_a()
{
	case $1 in
	base_rtt_ns | noise_ns | line_rate_mbps | telemetry) in_ns oa sysctl -q -w "net.fairlane.$1=$2" ;;
	*) in_ns oa sysctl -q -w "net.fairlane.research.$1=$2" ;;
	esac
}

# A fresh topology. Channels as wide as four packets, which take 12.3 us each.
net()
{
	three_nodes oa or ob '10gbit' '' || return 1
	in_ns oa sysctl -q -w net.fairlane.line_rate_mbps=1000 net.fairlane.research.fluct_ns=40000 \
		net.fairlane.noise_ns=10000 net.fairlane.base_rtt_ns=30000 net.fairlane.research.owd=1
	tc -n or qdisc replace dev east root handle 1: fabric limit 1mb stamp soze || return 1
	flow -c cubic -b 1000 > /dev/null && flow -c cubic -b 1000 -a fd00:2::1 > /dev/null
}

# Members of the only flow with the control $1: jq's $2.
shown()
{
	in_ns oa fairlane -j flow show cc "$1" state connected |
		jq -r "[.[] | select(.state != \"none\")][-1] | $2"
}

# Is the flow of control $1 steered by one-way delays?
one_way() { shown "$1" '.flags | index("one_way") != null'; }

# Packets dropped at the bottleneck.
drops() { tc -n or -s -j qdisc show dev east | jq '.[0].drops'; }

# All that can, with both families, change after change on a live flow.
test_live()
{
	for pair in prioplus/10.0.2.1 prioplus/fd00:2::1 prioplus-ledbat/10.0.2.1 swift/10.0.2.1; do
		cc=${pair%%/*}
		set_a owd 1
		flow -a ${pair#*/} -c $cc -q 3 -b -1 -L 200 > /run/a &
		sleep 0.05
		expect "$pair: one-way" "$(one_way $cc)" = true
		expect "$pair: queue told" "$(shown $cc .queue_ns)" -gt 10000
		set_a owd 0
		sleep 0.03
		expect "$pair: RTT" "$(one_way $cc)" = false
		sent=$(told oa sent)
		sleep 0.03
		expect "$pair: options since it is off" "$(told oa sent)" -eq "$sent"
		set_a owd 1
		sleep 0.03
		expect "$pair: again" "$(one_way $cc)" = true
		wait
		# 23.6 MB without interruption
		expect "$pair: bytes in 0.2 s" "$(field received 0 /run/a)" -ge 20000000
	done
	expect "drops" "$(drops)" -eq 0
}

# The peer stops to reflect: the RTT counts, and the flow goes on at its rate.
test_peer_falls_silent()
{
	for cc in prioplus swift; do
		in_ns ob sysctl -q -w net.fairlane.telemetry=2
		flow -c $cc -q 3 -b -1 -L 200 > /run/a &
		sleep 0.05
		expect "$cc: one-way" "$(one_way $cc)" = true
		in_ns ob sysctl -q -w net.fairlane.telemetry=0
		sleep 0.05
		expect "$cc: one-way without echoes" "$(one_way $cc)" = false
		expect "$cc: echoes are counted" "$(shown $cc .telemetry_rx)" -ge 100
		in_ns ob sysctl -q -w net.fairlane.telemetry=2
		sleep 0.05
		expect "$cc: one-way again" "$(one_way $cc)" = true
		wait
		expect "$cc: bytes in 0.2 s" "$(field received 0 /run/a)" -ge 20000000
	done
	expect "drops" "$(drops)" -eq 0
}

# The switch stops to stamp, options pass: what nobody tells is seen in the RTT.
test_switch_falls_silent()
{
	for cc in prioplus swift; do
		tc -n or qdisc change dev east root handle 1: fabric stamp soze
		flow -c $cc -q 3 -b -1 -L 150 > /run/a &
		sleep 0.05
		expect "$cc: queue told" "$(shown $cc .queue_ns)" -gt 10000
		tc -n or qdisc change dev east root handle 1: fabric stamp none
		sleep 0.05
		expect "$cc: queue told by nobody" "$(shown $cc .queue_ns)" -eq 0
		wait
		expect "$cc: bytes in 0.15 s" "$(field received 0 /run/a)" -ge 15000000
		# D_limit is 240 us: 30 kB
		expect "$cc: longest queue, bytes" \
			"$(tc -n or -s -j qdisc show dev east | jq '.[0].fabric.backlog_max_bytes')" -le 60000
	done
	expect "drops" "$(drops)" -eq 0
}

# A router behind the bottleneck writes over what ports tell. With "no queue" the RTT tells of
# the queue, so nobody is faster than the path. With the longest there is, flows are slow or
# wait, as they would if it dropped their packets, and go on when it stops to. Nobody has said
# what the line is: the device can ten times as much.
test_lying_router()
{
	load_modules tcp_soze tcp_hpcc tcp_powertcp || fault "no modules"
	set_a line_rate_mbps 10000
	tc -n ob qdisc replace dev e0 clsact
	for cc in prioplus swift soze hpcc powertcp; do
		case $cc in
		hpcc)		option=0xfd08464d most=0x03ff stamp=load ;;
		powertcp)	option=0xfd08464d most=0x03ff stamp=power ;;
		*)		option=0xfd08464c most=0xfffe stamp=soze ;;
		esac
		for word in 0x0000 $most; do
			tc -n or qdisc replace dev east root handle 1: fabric limit 1mb stamp $stamp
			tc -n ob filter add dev e0 ingress protocol ip u32 match u32 $option 0xffffffff at 40 \
				action pedit munge offset 44 u16 set $word pipe action csum tcp || fault "filter"
			flow -c $cc -q 3 -n 2 -b -1 150:all:mark 400:all:mark > /run/a &
			sleep 0.15
			tc -n ob filter del dev e0 ingress
			wait $!
			sum=$(awk '$2 == 150 { x += $6 } END { print x }' /run/a)
			after=$(awk '$2 == 400 { x += $6 } END { print x }' /run/a)
			echo "# $cc, $word: $sum bytes, $after afterwards, drops $(drops)"
			[ $word != 0x0000 ] || expect "$cc: bytes in 150 ms without a word of queues" "$sum" -ge 14000000
			expect "$cc, $word: drops" "$(drops)" -eq 0
			# 29 MB without interruption
			expect "$cc, $word: bytes in 250 ms afterwards" "$after" -ge 5000000
			tc -n or qdisc del dev east root
		done
	done
	# the test of removal knows the others only
	for m in tcp_powertcp tcp_hpcc tcp_soze; do
		remove_module $m 200 10 || fault "$m is still in use"
	done
}

# Losses: ACKs full of SACK blocks have no room for the option.
test_losses()
{
	tc -n or qdisc replace dev east root netem limit 1000 rate 1gbit delay 5us loss random 2%
	for cc in prioplus prioplus-ledbat swift; do
		flow -c $cc -q 3 -n 2 -b 1000000 -L 60000 > /run/a || fault "$cc: with losses"
	done
}

# TTL and hop limit that the peer sends from now on.
first_ttl()
{
	in_ns ob sysctl -q -w net.ipv4.ip_default_ttl=$1
	for dev in $(in_ns ob ls /proc/sys/net/ipv6/conf); do
		in_ns ob sysctl -q -w net/ipv6/conf/$dev/hop_limit=$1
	done
}

# Swift's target grows with the links that the peer's TTL tells, live, with both
# families; who does not want that is not told.
test_hops()
{
	set_a owd 0
	for addr in 10.0.2.1 fd00:2::1; do
		set_a swift_hop_ns 10000
		flow -a $addr -c swift -q 3 -b -1 -L 150 > /run/a &
		sleep 0.03
		expect "$addr: hops" "$(shown swift .hops)" = 2
		expect "$addr: target" "$(shown swift .target_ns)" -eq 200000
		# the way has become longer: what the peer sends passes more routers
		first_ttl 60
		sleep 0.03
		expect "$addr: hops of a longer way" "$(shown swift .hops)" = 6
		expect "$addr: its target" "$(shown swift .target_ns)" -eq 240000
		# a peer that begins with another TTL is as far
		first_ttl 128
		sleep 0.03
		expect "$addr: hops from 128" "$(shown swift .hops)" = 2
		set_a swift_hop_ns 0
		sleep 0.03
		expect "$addr: hops nobody wants" "$(shown swift .hops)" = null
		expect "$addr: target without" "$(shown swift .target_ns)" -eq 180000
		wait
		expect "$addr: bytes in 0.15 s" "$(field received 0 /run/a)" -ge 15000000
		first_ttl 64
	done
	expect "options without owd" "$(told oa sent)" -eq 0
}

# Line rate of the newest flow of control $1 and where it comes from.
line() { shown "$1" '"\(.line_rate_mbps) \(.from.line_rate_mbps)"'; }

# The bottleneck is slower than the device: measured if wanted, by each control.
test_line_rate()
{
	set_a owd 0
	set_a line_rate_mbps 0
	for pair in prioplus/10.0.2.1 swift/fd00:2::1; do
		cc=${pair%%/*}
		set_a line_rate_measured 0
		flow -a ${pair#*/} -c $cc -q 3 -b -1 -L 200 > /run/a &
		sleep 0.05
		expect "$pair: of the device" "$(line $cc)" = '10000 device'
		set_a line_rate_measured 1
		sleep 0.05
		measured=$(line $cc)
		expect "$pair: from" "${measured#* }" = measured
		expect "$pair: measured, Mbit/s" "${measured% *}" -ge 970
		expect "$pair: measured, Mbit/s" "${measured% *}" -le 1010
		set_a line_rate_mbps 900
		sleep 0.03
		expect "$pair: given" "$(line $cc)" = '900 set'
		set_a line_rate_mbps 0
		wait
		expect "$pair: bytes in 0.2 s" "$(field received 0 /run/a)" -ge 20000000
	done
	# the loopback tells no speed, and has no queue
	in_ns oa ip link set lo up
	flowgen -f oa -t oa -a 127.0.0.1 -c swift -q 3 -b -1 -L 5 > /run/a &
	sleep 0.003
	expect "nobody knows" "$(line swift)" = '10000 assumed'
	wait
}

# Sixteen flows that have never had the line alone measure it together.
test_line_rate_of_many()
{
	set_a owd 0
	set_a line_rate_mbps 0
	set_a line_rate_measured 1
	for pair in prioplus/10.0.2.1 swift/fd00:2::1; do
		cc=${pair%%/*}
		flow -a ${pair#*/} -c $cc -q 3 -n 16 -b -1 -L 200 > /run/a &
		sleep 0.15
		measured=$(line $cc)
		expect "$pair: from" "${measured#* }" = measured
		expect "$pair: measured, Mbit/s" "${measured% *}" -ge 800
		expect "$pair: measured, Mbit/s" "${measured% *}" -le 1010
		wait
	done
}

# One socket makes two connections, one after the other: in_ns NODE python3 -c "$twice" NODE
twice='
import sys
from ends import disconnect, end_to, listen
if sys.argv[1] == "ob":
    with listen(7000) as port:
        for _ in range(2):
            with port.accept()[0] as end:
                try:
                    while end.recv(1 << 20):
                        pass
                except ConnectionResetError:
                    pass
    sys.exit()
end = end_to("10.0.2.1", "swift")
for _ in range(2):
    end.connect(("10.0.2.1", 7000))
    end.sendall(bytes(3000000))
    disconnect(end)'

# What a socket's first connection has counted says nothing of the rate of its second one.
test_line_rate_of_next_connection()
{
	set_a owd 0
	set_a line_rate_mbps 0
	set_a line_rate_measured 1
	in_ns ob python3 -c "$twice" ob > /run/b 2>&1 &
	sleep 0.05
	in_ns oa python3 -c "$twice" oa > /run/a 2>&1 || fault "$(cat /run/a)"
	wait
	expect "the peer" "$(cat /run/b)" = ""
	flow -c swift -q 3 -b -1 -L 100 > /run/a &
	sleep 0.05
	measured=$(line swift)
	expect "from" "${measured#* }" = measured
	expect "measured, Mbit/s" "${measured% *}" -ge 970
	expect "measured, Mbit/s" "${measured% *}" -le 1010
	wait
}

# To another control and back under traffic; the modules go while sockets, which
# have telemetry, live on.
test_removal()
{
	flow -c prioplus -n 4 -b 3000000 -S swift@100@200 -L 5000 > /run/a || fault "taking turns"
	# PrioPlus calls Swift's core and LEDBAT's, so the three go in this order
	for m in tcp_prioplus tcp_swift tcp_ledbat; do
		remove_module $m 200 10 || fault "$m is still in use"
	done
	load_modules tcp_prioplus
	remove_under_sockets prioplus tcp_prioplus tcp_swift tcp_ledbat
}

trap 'drop_net' EXIT
# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load || exit 1
tests=${*:-live peer_falls_silent switch_falls_silent lying_router losses hops line_rate line_rate_of_many line_rate_of_next_connection removal}
run_tests 1 $tests
