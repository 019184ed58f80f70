#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2317,SC3044 # awk; guest.sh's; words; called by name; own functions
#
# Controls whose receivers give credit, in virtual time:
#
#	xa --- xr --- xb	1 Gbit/s from xr to xb, base RTT about 35 us
#
# Names of tests as arguments select; begin.sh, path.sh and peers.sh have more. Needs root,
# lablink, ip, tc, ss and, in PATH, flowgen and lablink-ctl; $MODULES is the folder of the modules.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
. ./begin.sh
. ./path.sh
. ./peers.sh
: "${MODULES:?folder of the modules}"
# as a newcomer has it: a host has hooks while it needs them
telemetry=1
level=${TEST_LEVEL:-all}
controls="expresspass flexpass"
# check: no rivals, credits of one segment and of many, and where much is sent one control
rivals=flexpass-ly sizes="1 4 8" heavy=$controls
[ "$level" != check ] || rivals='' sizes="1 8" heavy=flexpass

load()
{
	modules=
	for cc in $controls; do
		modules="$modules tcp_$cc"
	done
	load_modules fairlane fairlane_credit $modules sch_fabric
}

drop_net() { drop_nodes xa xr xb; }

# A fresh topology, whose 1 Gbit/s link has a band for credits both ways: for all of the line,
# also with IPv6.
net()
{
	three_nodes xa xr xb '10gbit' '' || return 1
	for n in xa xb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=1000
	done
	for dev in east west; do
		tc -n xr qdisc replace dev $dev root handle 1: fabric preset flexpass speed 1gbit \
			band 1 rate 64mbit burst 212 || return 1
	done
	# Time stamps of the first microsecond are 0, which the stack takes for none.
	sleep 0.01
	# Address resolution done before anything is timed.
	flow -c cubic -b 1000 -a 10.0.2.1 > /dev/null &&
	flow -c cubic -b 1000 -a fd00:2::1 > /dev/null &&
	# and both hosts have the hooks: the first segment of the first flow goes without credit
	flow -c expresspass -b 1000 > /dev/null
}

flow() { flowgen -f xa -t xb -a 10.0.2.1 "$@"; }

# Counter $2 of credit in namespace $1.
credit() { in_ns "$1" awk -v c="$2" '$1 == c { print $2 }' /proc/net/fairlane_credit; }

# Every segment has had its credit; nearly every credit was used; nobody fell back.
# A receiver has no setting.
test_credit_pays_for_all()
{
	families="10.0.2.1 fd00:2::1 ::ffff:10.0.2.1"
	# layering, a rival for figures, only here
	for cc in $controls $rivals; do
		for segs in $sizes; do
			in_ns xb sysctl -q -w net.fairlane.research.credit_segs=$segs
			all_got=0 all_wasted=0
			# A flow's end wastes what comes within an RTT: few credits of 8 segments,
			# now none, now five. So the 36 ends of nine transfers count together.
			again=
			[ $cc != flexpass ] || again="$families $families"
			for addr in $families $again; do
				got=$(credit xa got) wasted=$(credit xa wasted)
				data=$(counter xa TcpExtTCPOrigDataSent)
				flow -a $addr -c $cc -n 4 -b 1000000 -L 1000 > /run/out ||
					fault "$cc to $addr"
				complete /run/out 20000
				got=$(($(credit xa got) - got))
				wasted=$(($(credit xa wasted) - wasted))
				data=$(($(counter xa TcpExtTCPOrigDataSent) - data))
				echo "# $cc $addr: $segs segments a credit, $got credits, $wasted wasted, $data segments"
				if [ $cc = flexpass ]; then
					# .48 of the line, if the other half is used
					expect "credits" "$got" -gt $((1200 / segs))
				else
					expect "credits" "$got" -gt $((2700 / segs))
					expect "segments for $got credits of $segs" "$data" -le $((got * segs))
				fi
				all_got=$((all_got + got)) all_wasted=$((all_wasted + wasted))
			done
			expect "permille wasted of $all_got credits for $segs segments" \
				$((all_wasted * 1000 / all_got)) -le 20
		done
		expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
		expect "malformed" "$(($(credit xa bad) + $(credit xb bad)))" -eq 0
		expect "not believed" "$(($(credit xa stray) + $(credit xb stray)))" -eq 0
	done
}

# From an accepted socket, and both ways at once.
test_accepted()
{
	for cc in $controls; do
		flow -r -c $cc -n 4 -b 1000000 -L 1000 > /run/out || fault "from an accepted socket"
		complete /run/out 20000
		in_ns xa sysctl -q -w net.ipv4.tcp_congestion_control=$cc
		in_ns xb sysctl -q -w net.ipv4.tcp_congestion_control=$cc
		flow -n 2 -b 2000000 -L 1000 > /run/a &
		flow -r -p 5001 -n 2 -b 2000000 -L 1000 > /run/b
		complete /run/b 20000
		wait
		complete /run/a 20000
	done
}

# One connection, whose other end sends as well, by another control: its packets are full, and
# what it would tell of red data has no room in them.
test_data_both_ways()
{
	port=6100
	for cc in $controls; do
		for addr in 10.0.2.1 fd00:2::1; do
			port=$((port + 1))
			too_large=$(counter xb IpFragFails)
			in_ns xb python3 ./duplex.py listen $port 3000000 2> /run/errors &
			sleep 0.05
			in_ns xa python3 ./duplex.py $cc $addr $port 3000000 2>> /run/errors ||
				fault "$cc to $addr: $(cat /run/errors)"
			wait $! || fault "$cc to $addr: $(cat /run/errors)"
			expect "packets that were too large" $(($(counter xb IpFragFails) - too_large)) -eq 0
		done
	done
	expect "options without room" "$(credit xb no_room)" -gt 0
}

# The same where the other end's data waits in a band of its own, behind other cubic: no ACK of that
# end overtakes so much data that the peer takes the data's own acknowledgment for too old, and drops
# it.
test_own_band_back()
{
	in_ns xa sysctl -q -w net.ipv4.tcp_rmem='4096 131072 131072'
	challenges=$(counter xb TcpExtTCPChallengeACK)
	flow -c cubic -b -1 -L 400 > /run/out &
	sleep 0.02
	in_ns xa python3 ./duplex.py listen 6110 1500000 2> /run/errors &
	listener=$!
	sleep 0.03
	start=$(date +%s%N)
	in_ns xb python3 ./duplex.py flexpass 10.0.1.1 6110 1500000 2>> /run/errors || fault "$(cat /run/errors)"
	wait $listener || fault "$(cat /run/errors)"
	ms=$((($(date +%s%N) - start) / 1000000))
	wait
	echo "# 1.5 MB each way in $ms ms"
	expect "challenges" $(($(counter xb TcpExtTCPChallengeACK) - challenges)) -eq 0
	expect "ms for 1.5 MB" $ms -le 150
}

# A host whose own port is the slowest, with the kernel's queue, which marks nothing: what that
# drops counts as lost, so that the credits which the host gives are not stuck in a queue that is
# always full.
test_own_port()
{
	drops=$(tc -n xb -s -j qdisc show dev e0 | jq '.[0].drops')
	flow -r -p 5001 -c flexpass -n 4 -b -1 -L 60 > /run/b &
	flow -c flexpass -n 4 -b -1 20:all:mark 60:all:mark -L 60 > /run/a
	wait
	drops=$(($(tc -n xb -s -j qdisc show dev e0 | jq '.[0].drops') - drops))
	bytes=$(sed -n 's/^mark 60 .* bytes \([0-9]*\) .*/\1/p' /run/a | awk '{ x += $1 } END { print x + 0 }')
	echo "# $drops dropped at the own port; $bytes bytes in 40 ms the other way"
	expect "dropped at the own port" "$drops" -le 300
	# credits are for .48 of 4.7 MB
	expect "bytes in 40 ms the other way" "$bytes" -ge 1400000
}

# TCP_NOTSENT_LOWAT: the application writes when less than 32 kB wait. That is what a flow has to
# send, and four times as much is in flight where it has the line, 1 Gbit/s, at an RTT of 1 ms. With
# credit for what waits alone a flow would have a third of the line.
test_notsent_lowat()
{
	lablink-ctl set e0 netns xa delay 500us || fault "no delay"
	lablink-ctl set west netns xr delay 500us || fault "no delay back"
	in_ns xa sysctl -q -w net.ipv4.tcp_notsent_lowat=32768
	for cc in cubic $heavy; do
		wasted=$(credit xa wasted) got=$(credit xa got)
		flow -c $cc -b -1 50:all:mark 100:all:mark -L 100 > /run/out || fault "$cc"
		wasted=$(($(credit xa wasted) - wasted)) got=$(($(credit xa got) - got))
		bytes=$(sed -n 's/^mark 100 .* bytes \([0-9]*\) .*/\1/p' /run/out)
		echo "# $cc: $bytes bytes in 50 ms; $got credits, $wasted wasted"
		[ "$cc" = cubic ] && continue
		expect "bytes of $cc in 50 ms" "$bytes" -ge 4500000
		expect "credits that $cc wasted, of a hundred" $((100 * wasted / got)) -le 2
	done
}

# An application writes on before the credit for its last write has been spent, or soon after. What it
# is going to write is promised, so that not each write has a request and a round trip of its own. One
# that pauses is promised nothing. FlexPass sends a part without credit; what it asked for then is
# wasted, promised or not.
test_writes_on()
{
	while read -r write us most; do
		for cc in expresspass $heavy; do
			asked=$(credit xa asked) wasted=$(credit xa wasted) got=$(credit xa got)
			flow -c $cc -b $((write * 1000)) -w "$write@$us" -L 2000 > /run/out || fault "$cc"
			complete /run/out 1100000
			asked=$(($(credit xa asked) - asked)) wasted=$(($(credit xa wasted) - wasted))
			got=$(($(credit xa got) - got))
			echo "# $cc: $write bytes each $us us: end $(field end 0 /run/out) us, $asked requests, $got credits, $wasted wasted"
			expect "requests of $cc, $write bytes each $us us" "$asked" -le "$most"
			[ $cc = expresspass ] || continue
			expect "credits that $cc wasted, of a thousand" $((1000 * wasted / got)) -lt 16
		done
	done <<-END
		1000 30 100
		8000 100 100
		40000 400 1100
		8000 1000 2100
	END
}

# The buffers of a host as it is installed: the sender's begins with 16 kB, and grows with what is in
# flight. At 1 Gbit/s and an RTT of 4 ms half of the line is .25 MB.
test_stock_buffers()
{
	lablink-ctl set e0 netns xa delay 2ms || fault "no delay"
	lablink-ctl set west netns xr delay 2ms || fault "no delay back"
	in_ns xa sysctl -q -w net.ipv4.tcp_wmem='4096 16384 4194304'
	in_ns xb sysctl -q -w net.ipv4.tcp_rmem='4096 131072 6291456'
	for cc in cubic $heavy; do
		flow -c $cc -b -1 -L 1000 > /run/out
		bytes=$(field received 0 /run/out)
		echo "# $cc: $bytes bytes in 1 s"
		case $cc in
		cubic)		least=$((bytes * 9 / 10)) ;;
		# half of it grows as DCTCP does
		flexpass)	expect "bytes of $cc" "$bytes" -ge $((least * 8 / 10)) ;;
		# credits are for .48 of the line, and their rate grows by round trips
		expresspass)	expect "bytes of $cc" "$bytes" -ge $((least * 4 / 10)) ;;
		esac
		sleep 0.1
	done
}

# Both ends on one host: what comes back comes from within the sending of a packet, and acknowledges
# it before it counts as sent. No credit is taken for a stranger's.
test_one_host()
{
	ip link add v0 netns xa type veth peer name v0 netns xb || fault "no veth"
	for n in xa xb; do
		[ $n = xa ] && at=1 || at=2
		ip -n $n addr add 10.0.9.$at/24 dev v0 || fault "no address"
		ip -n $n link set v0 up || fault "not up"
	done
	for cc in $controls; do
		stray=$(credit xa stray) got=$(credit xa got)
		flowgen -f xa -t xb -a 10.0.9.2 -c $cc -b 20000000 -L 4000 > /run/out || fault "$cc"
		echo "# $cc: $(($(credit xa got) - got)) credits, $(($(credit xa stray) - stray)) not believed"
		expect "credits of $cc" $(($(credit xa got) - got)) -gt 50
		expect "credits of $cc that were not believed" $(($(credit xa stray) - stray)) -eq 0
	done
}

# What the stack keeps back, since it is less than a segment, or since the peer has no room for all
# of a segment, needs no credit: nobody asks in each round trip for a credit to waste.
test_held_data()
{
	port=6300
	for cc in $controls; do
		for why in cork reader; do
			port=$((port + 1))
			in_ns xb python3 ./held.py listen $port 150 2> /run/errors &
			sleep 0.05
			asked=$(credit xa asked) wasted=$(credit xa wasted)
			in_ns xa python3 ./held.py $cc 10.0.2.1 $port $why 100 2>> /run/errors ||
				fault "$cc, $why: $(cat /run/errors)"
			wait $! || fault "$cc, $why: $(cat /run/errors)"
			asked=$(($(credit xa asked) - asked)) wasted=$(($(credit xa wasted) - wasted))
			echo "# $cc, $why: asked $asked times, $wasted credits wasted"
			[ $why = cork ] && most=10 || most=100
			expect "requests of $cc, $why" "$asked" -le $most
			expect "wasted of $cc, $why" "$wasted" -le $most
		done
	done
}

# From one control to another under traffic.
test_switch()
{
	for cc in $controls; do
		for other in cubic reno; do
			flow -c $cc -n 4 -b 4000000 -S $other@100@200 -L 2000 > /run/out ||
				fault "$cc and $other"
			complete /run/out 100000
		done
	done
}

# Another control for a while, and back: as fast as before, though the receiver still counts what
# the first one has sent. On a path that is never empty, so that nothing else tells what has come.
test_back_again()
{
	tc -n xb qdisc replace dev e0 root netem delay 1ms limit 10000 || fault "no longer path"
	for cc in $controls $rivals; do
		for ms in 50 110; do
			flow -c $cc -b -1 $ms:all:cc=cubic $((ms + 30)):all:cc=$cc $((ms + 130)):all:mark \
				$((ms + 230)):all:mark > /run/out || fault "$cc"
			bytes=$(mark_bytes /run/out 2)
			echo "# $cc, which cubic had from $ms ms on: $bytes bytes in .1 s"
			# 12.5 MB are all of the line
			expect "bytes of $cc" "$bytes" -ge 10000000
		done
	done
}

tracing=/sys/kernel/tracing

trace_flows()
{
	mount -t tracefs none $tracing 2> /dev/null
	echo > $tracing/trace
	echo 1 > $tracing/events/fairlane/enable || fault "no tracepoints"
}

# traced TEXT...: lines of the trace with this text.
traced() { grep -c "$*" $tracing/trace; }

# Credits can be followed from outside, at both ends.
test_trace()
{
	for cc in $controls; do
		trace_flows
		given=$(credit xb given) got=$(credit xa got) asked=$(credit xa asked)
		flow -c $cc -b 500000 -L 1000 > /run/out || fault "$cc"
		echo 0 > $tracing/events/fairlane/enable
		expect "$cc: credits given, in the trace" "$(traced fl_credit_given: '.*:5000 .*gap_ns=[1-9]')" \
			-eq $(($(credit xb given) - given))
		expect "$cc: credits that came, in the trace" "$(traced fl_credit_got: '.*:5000 .*due_segs=[1-9]')" \
			-eq $(($(credit xa got) - got))
		expect "$cc: requests in the trace" "$(traced fl_credit_asked: '.*backlog_segs=')" \
			-eq $(($(credit xa asked) - asked))
	done
}

# Modules go while sockets have been using them, and come back.
test_removal()
{
	drop_net
	for cc in $controls; do
		remove_module tcp_$cc 300 1 || fault "tcp_$cc cannot be removed"
	done
	remove_module fairlane_credit 50 0.1 || fault "fairlane_credit cannot be removed"
	remove_module fairlane 50 0.1 || fault "fairlane cannot be removed"
	load || fault "modules cannot be loaded again"
}

# odd WORDS...: a client of odd.py's in xa
odd() { in_ns xa python3 ./odd.py "$@" 2>> /run/errors; }

# odd_server WORDS...: a server of odd.py's in xb, until odd_end
odd_server()
{
	# in_ns would be a shell of its own
	ip netns exec xb python3 ./odd.py "$@" 2> /run/errors &
	server=$!
	sleep 0.05
}

odd_end()
{
	kill $server
	wait $server 2> /dev/null
}

# What the control before has left, and what the application asks for.
test_pacing()
{
	for cc in $controls; do
		flow -c bbr -b -1 2:all:cc=$cc 300:all:mark 400:all:mark > /run/out || fault "$cc after bbr"
		echo "# bbr, then $cc: $(mark_bytes /run/out 2) bytes in 100 ms"
		expect "bytes after bbr" "$(mark_bytes /run/out 2)" -ge 10000000
		odd_server take 6503
		got=$(credit xa got) wasted=$(credit xa wasted)
		expect "bytes/s" "$(odd slow $cc 10.0.2.1 6503)" -ge 25000000
		got=$(($(credit xa got) - got)) wasted=$(($(credit xa wasted) - wasted))
		echo "# $cc with SO_MAX_PACING_RATE: $got credits, $wasted wasted"
		expect "permille wasted" $((1000 * wasted / (got + 1))) -le 200
		odd_end
	done
}

load || exit 1
all_only=credits_come_again
[ "$level" != check ] || all_only=
if [ $# -gt 0 ]; then
	run_tests 1 "$@"
else
	run_tests 1 credit_pays_for_all accepted data_both_ways own_band_back own_port notsent_lowat writes_on stock_buffers one_host held_data \
		peer_without_credit owner_keeps_the_socket path_eats data_loss credit_loss reordering duplicates not_prepared one_band aborts no_way \
		fast_open switch poor_peers mixed_mtu back_again \
		forged lies idle_flows promises many_idle first_flow first_flow_of_long_path late_and_deferred next_connection next_connection_receives cookies new_route other_port pacing \
		$all_only outage large_credits_lost resets trace removal
fi
