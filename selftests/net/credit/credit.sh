#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2034,SC2046,SC2086,SC2317,SC3044 # awk; guest.sh's; words; called by name; own functions
#
# Controls whose receivers give credit, in virtual time:
#
#	xa --- xr --- xb	1 Gbit/s from xr to xb, base RTT about 35 us
#
# Names of tests as arguments select. Needs root, lablink, ip, tc, ss and, in
# PATH, flowgen and lablink-ctl; $MODULES is the folder of the modules.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
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

# what ss and fairlane say of the flow to port $1
says()
{
	in_ns xa ss -tinHO "dport = :$1"
	fairlane -n xa -j flow show dport "$1"
}

# Nobody gives credit: after three requests the flow goes on with another control.
test_peer_without_credit()
{
	in_ns xb sysctl -q -w net.fairlane.credit=0
	for cc in $controls; do
		# what the flow before has left in the queue
		sleep 0.1
		flow -c $cc -n 4 -b 300000 -L 1000 > /run/out || fault "$cc"
		complete /run/out 30000
		asked=$(credit xa asked) fell=$(credit xa fallbacks)
		flow -c $cc -b -1 -L 30 > /run/out &
		sleep 0.02
		says 5000 > /run/says
		wait
		# expresspass-reno would fill the name's 16 bytes
		shown=$cc-reno
		[ "$cc" != expresspass ] || shown=xpass-reno
		grep -q "$shown" /run/says || fault "another control is not shown: $(cat /run/says)"
		grep -q fallback /run/says || fault "no fallback: $(cat /run/says)"
		# three without an answer, and whenever there is more than twice what was told
		expect "requests" $(($(credit xa asked) - asked)) -le 6
		expect "fallbacks" $(($(credit xa fallbacks) - fell)) -eq 1
		expect "bytes in 30 ms" "$(field received 0 /run/out)" -ge 2000000
	done
	expect "refused" "$(credit xb refused)" -ge 6
}

# eating DEVICE MATCH...: the router eats what it sends through DEVICE
eating()
{
	dev=$1
	shift
	tc -n xr qdisc replace dev "$dev" clsact
	# shellcheck disable=SC2046 # words
	tc -n xr filter add dev "$dev" egress protocol ip pref 1 u32 $(printf 'match %s ' "$@") action drop ||
		fault "no filter $*"
}

# A path that eats credits, or everything with our option, one way or the other: another
# control takes over, and what it sends has no option.
test_path_eats()
{
	option='u32 0xfd004658 0xff00ffff at 40'
	for cc in $controls; do
		for what in credits west east; do
			if [ $what = credits ]; then
				eating west 'ip tos 0xa0 0xfc'
			else
				eating $what "$option"
			fi
			sleep 0.5
			fell=$(credit xa fallbacks)
			fall=2
			# without credits alone its window goes on
			[ "$cc $what" != 'flexpass credits' ] || fall=0
			flow -c $cc -n 2 -b 300000 -L 8000 > /run/out || fault "$cc, $what"
			complete /run/out 700000
			expect "fallbacks of $cc, $what" $(($(credit xa fallbacks) - fell)) -eq $fall
			tc -n xr qdisc del dev east clsact 2> /dev/null
			tc -n xr qdisc del dev west clsact 2> /dev/null
		done
	done
}

# Impairment $1 (netem) of the data's way, $2 of the credits'.
impaired()
{
	tc -n xr qdisc replace dev east root netem limit 1000 rate 1gbit delay 5us $1 || fault "netem $1"
	tc -n xr qdisc replace dev west root netem limit 1000 delay 5us $2 || fault "netem $2"
	for cc in $controls; do
		flow -c $cc -n 3 -b 3000000 -L 4000 > /run/out || fault "$cc with $*"
		complete /run/out 700000
		echo "# $cc: $(credit xa asked) requests, $(credit xa fallbacks) fallbacks"
		expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
	done
}

test_data_loss() { impaired 'loss random 1%' ''; }
test_credit_loss() { impaired '' 'loss random 5%'; }
test_reordering() { impaired 'delay 40us reorder 95% 50%' 'delay 40us reorder 95% 50%'; }
test_duplicates() { impaired 'duplicate 5%' 'duplicate 5%'; }

# A network that is not prepared, slower than the receiver's line: cubic in the same queue lives, and
# the flow goes on without credit, for longer each time.
test_not_prepared()
{
	lablink-ctl set east netns xr rate 100mbit || fault "no rate"
	tc -n xr qdisc replace dev east root handle 2: pfifo limit 100
	for cc in $controls; do
		fell=$(credit xa fallbacks)
		flow -c cubic -p 5001 -b -1 -L 2000 500:all:mark 2000:all:mark > /run/cubic &
		flow -c $cc -b -1 -L 2000 500:all:mark 2000:all:mark > /run/out
		wait
		echo "# $cc $(mark_bytes /run/out 2) bytes beside $(mark_bytes /run/cubic 2) of cubic"
		expect "fallbacks of $cc" $(($(credit xa fallbacks) - fell)) -ge 1
		expect "fallbacks of $cc" $(($(credit xa fallbacks) - fell)) -le 3
		# 1.5 s are 17.5 MB
		expect "bytes of cubic beside $cc" "$(mark_bytes /run/cubic 2)" -ge 1750000
		expect "bytes of $cc" "$(mark_bytes /run/out 2)" -ge 1750000
	done
}

# Aborts at any moment, both ends; nothing is left.
test_aborts()
{
	for cc in $controls; do
		for ms in 1 3 10; do
			flow -c $cc -n 60 -b -1 $ms:all:abort > /run/out
			expect "aborted" "$(grep -c 'state aborted' /run/out)" -eq 60
			flow -r -c $cc -n 60 -b -1 $ms:all:abort > /run/out
			expect "aborted" "$(grep -c 'state aborted' /run/out)" -eq 60
		done
		flow -c $cc -n 20 -b 100000 -e -L 2000 > /run/out || fault "lost data at close()"
		complete /run/out 100000
	done
	sleep 2
	expect "sockets left" "$(in_ns xa ss -tnH state established | wc -l)" -eq 0
	given=$(credit xb given)
	sleep 1
	expect "credits to nobody" "$(credit xb given)" -eq "$given"
}

# A receiver whose way to the sender has gone gives up after some silences, however the socket
# lives on, and the flow ends once there is a way again.
test_no_way()
{
	for cc in $controls; do
		flow -c $cc -b 20000000 -L 8000 > /run/out &
		sleep 0.05
		ip -n xb link set e0 down
		sleep 0.01
		given=$(credit xb given)
		sleep 0.5
		given=$(($(credit xb given) - given))
		ip -n xb link set e0 up
		in_ns xb ip route replace default via 10.0.2.254
		wait
		echo "# $cc: $given credits in 500 ms without a way; $(cat /run/out)"
		# five silences with 64 out at most, each
		expect "$cc: credits without a way" "$given" -le 400
		complete /run/out 3000000
	done
}

# TCP Fast Open: the second connection has data in its SYN, and no ACK of its own ends the handshake.
# Credit comes all the same.
test_fast_open()
{
	in_ns xb sysctl -q -w net.ipv4.tcp_fastopen=2
	port=6200
	for cc in $controls; do
		for addr in 10.0.2.1 fd00:2::1; do
			port=$((port + 1))
			in_ns xb python3 ./open.py listen $port 3 > /run/heard 2>&1 &
			sleep 0.05
			opened=$(counter xa TcpExtTCPFastOpenActive) fell=$(credit xa fallbacks)
			in_ns xa python3 ./open.py $cc $addr $port 3 300000 2> /run/errors ||
				fault "$cc to $addr: $(cat /run/errors)"
			wait $! || fault "$cc to $addr: $(cat /run/heard)"
			expect "bytes of $cc to $addr" "$(cat /run/heard)" = "300000 300000 300000"
			expect "fast opens of $cc to $addr" \
				$(($(counter xa TcpExtTCPFastOpenActive) - opened)) -ge 2
			expect "$cc to $addr: fallbacks" $(($(credit xa fallbacks) - fell)) -eq 0
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

# Without SACK, without time stamps.
test_poor_peers()
{
	for key in tcp_timestamps tcp_sack; do
		in_ns xb sysctl -q -w net.ipv4.$key=0
		for cc in $controls; do
			flow -c $cc -n 2 -b 3000000 -L 1000 > /run/out || fault "$cc without $key"
			complete /run/out 50000
		done
		in_ns xb sysctl -q -w net.ipv4.$key=1
	done
}

# A receiver whose packets may be six times as large as the sender's gives credit for what comes. If
# the sender's route has it take less than it sends, that is not believed for long.
test_mixed_mtu()
{
	ip -n xb link set e0 mtu 9000 || fault "no MTU of 9000"
	for cc in $controls; do
		for addr in 10.0.2.1 fd00:2::1; do
			got=$(credit xa got)
			flow -a $addr -c $cc -b 4000000 -L 1000 > /run/out || fault "$cc to $addr"
			complete /run/out 20000
			got=$(($(credit xa got) - got))
			echo "# $cc $addr: $got credits, end at $(field end 0 /run/out) us"
			# of 2800 segments; FlexPass' credit is for .48 of the line
			expect "credits of $cc to $addr" $got -gt 1000
			expect "end of $cc to $addr, us" "$(field end 0 /run/out)" -le 60000
		done
		ip -n xa route change default via 10.0.1.254 advmss 600 || fault "no advmss"
		again=$(counter xa TcpRetransSegs)
		flow -c $cc -b 4000000 -L 1000 > /run/out || fault "$cc with advmss"
		complete /run/out 20000
		again=$(($(counter xa TcpRetransSegs) - again))
		[ $cc != expresspass ] || expect "segments sent again" $again -le 20
		ip -n xa route change default via 10.0.1.254
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

# Credits and requests of somebody who is not the peer: none is believed, and the counters tell.
# Of somebody who sees everything: as many credits as the receiver bears, no more.
test_forged()
{
	for cc in $controls; do
		in_ns xa sysctl -q -w net.ipv4.ip_local_port_range='30000 30000'
		flow -c $cc -b -1 -L 40 > /run/out &
		sleep 0.01
		stray=$(credit xa stray) requests=$(credit xb requests)
		in_ns xr python3 ./forge.py credit 10.0.2.1 5000 10.0.1.1 30000 2000 || fault "forge.py"
		in_ns xr python3 ./forge.py request 10.0.1.1 30000 10.0.2.1 5000 2000 || fault "forge.py"
		expect "credits not believed" $(($(credit xa stray) - stray)) -ge 1990
		expect "requests that were believed" $(($(credit xb requests) - requests)) -le 20
		wait
		expect "malformed" "$(credit xa bad)" -eq 0
		in_ns xr python3 ./forge.py garbage 10.0.2.1 5000 10.0.1.1 30000 500 || fault "forge.py"
	done
}

# lied DEV TYPE ADD WHAT: two flows, and for 10 ms somebody behind DEV adds ADD to what the first one's
# options of a TYPE say. 50 ms later each has what it had, or nearly.
lied()
{
	marks='40:all:mark 70:all:mark 130:all:mark 160:all:mark'
	flow -c flexpass -b -1 $marks > /run/a &
	flow -c flexpass -p 5001 -b -1 $marks > /run/b &
	sleep 0.07
	[ $1 = west ] && at=20 || at=22
	tc -n xr qdisc replace dev $1 clsact
	tc -n xr filter add dev $1 egress protocol ip u32 match u16 5000 0xffff at $at \
		match u32 0xfd004658 0xff00ffff at 40 match u32 $2 0xf0000000 at 44 \
		action pedit ex munge offset 44 u32 add $3 pipe action csum tcp || fault "no filter"
	sleep 0.01
	hits=$(tc -n xr -s -j filter show dev $1 egress | jq '[.[].options.actions[]?.stats.packets] | max')
	tc -n xr qdisc del dev $1 clsact
	wait
	echo "# $4, $hits times: $(mark_bytes /run/a 2) and $(mark_bytes /run/b 2), then $(mark_bytes /run/a 4) and $(mark_bytes /run/b 4) bytes"
	expect "false $4" $hits -ge 10
	for f in a b; do
		expect "bytes after false $4" "$(mark_bytes /run/$f 4)" -ge $(($(mark_bytes /run/$f 2) * 7 / 10))
	done
}

# Counts of red segments and of marks that were false are forgotten.
test_lies()
{
	lablink-ctl set east netns xr delay 500us || fault "no delay"
	lied west 0x60000000 0x03e80000 "counts of what has come"
	lied west 0x60000000 4000 "counts of marks"
	lied east 0x50000000 0x03e80000 "counts of what was sent"
}

test_idle_flows()
{
	for cc in $controls; do
		flow -c $cc -n 400 -b 20000 -w 2000@100000 -L 4000 > /run/out || fault "$cc"
		complete /run/out 150000
	done
}

# Three hundred connections ask for credit, each twice a second, and send nothing: another flow has
# the line. With 64 credits after each of five silences, again at each request, it had .004 of it.
test_promises()
{
	ip netns exec xb python3 ./promise.py take 6600 &
	sleep 0.05
	ip netns exec xr python3 ./promise.py 10.0.2.254 10.0.2.1 6600 300 500 &
	sleep 0.7
	requests=$(credit xb requests) given=$(credit xb given)
	flow -c expresspass -b -1 -L 100 > /run/out || fault "no flow"
	requests=$(($(credit xb requests) - requests)) given=$(($(credit xb given) - given))
	echo "# beside $requests requests: $given credits, $(cat /run/out)"
	expect "requests" $requests -ge 30
	# 100 ms of the line are 11 MB
	expect "bytes of who sends" "$(field received 0 /run/out)" -ge 10000000
	ip netns pids xr | xargs -r kill
	ip netns pids xb | xargs -r kill
}

# kB of the kernel's slabs that are in use
slabs() { awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo; }

# Ten thousand connections that have nothing to send: nobody gives or asks for credit, another
# flow has the line, and what they take is a fixed amount each, given back at their end.
test_many_idle()
{
	for cc in reno $heavy; do
		rm -f /run/many.*
		before=$(slabs) fell=$(credit xa fallbacks)
		mkfifo /run/idle
		exec 7<> /run/idle
		# in parts, since a process looks at all of its connections for each event
		part=0
		while [ $part -lt 10 ]; do
			(
				# a function's own redirection would keep it open
				exec 7>&-
				flow -c $cc -n 1000 -b 3000 -p $((6000 + part)) -h \
					< /run/idle > /run/many.$part 2>&1
			) &
			tries=0
			until grep -qs holding /run/many.$part; do
				tries=$((tries + 1))
				[ $tries -lt 100 ] || { fault "$cc: not all data came"; break; }
				sleep 0.1
			done
			part=$((part + 1))
		done
		# what red data that came late has its sender ask for
		sleep 0.1
		given=$(credit xb given) asked=$(credit xa asked) idle=$(($(slabs) - before))
		sleep 1
		expect "$cc: credits for idle flows" $(($(credit xb given) - given)) -eq 0
		expect "$cc: requests of idle flows" $(($(credit xa asked) - asked)) -eq 0
		flow -c $cc -n 1 -b 2000000 -L 1000 > /run/out || fault "$cc beside idle flows"
		complete /run/out 20000
		exec 7>&-
		wait
		rm /run/idle
		sleep 2
		left=$(($(slabs) - before))
		echo "# $cc: slabs $idle kB with 10000 idle flows, $left kB after them"
		if [ $cc = reno ]; then
			reno_idle=$idle reno_left=$left
			continue
		fi
		# a thousand that ask at once: some hundred of expresspass give up waiting
		echo "# $cc: $(($(credit xa fallbacks) - fell)) flows fell back"
		# sender, receiver and what the hooks keep
		expect "$cc: bytes of an idle flow beside reno's" $(((idle - reno_idle) * 1024 / 10000)) -le 2048
		expect "$cc: kB that stay, beside reno" $((left - reno_left)) -le 2048
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

# Nobody in either namespace has used an option for long, so there are no hooks, and the first
# request is not seen. A knock brings them.
test_first_flow()
{
	for cc in $controls; do
		for addr in 10.0.2.1 fd00:2::1 ::ffff:10.0.2.1; do
			sleep 12
			asked=$(credit xa asked) seen=$(credit xb requests) got=$(credit xa got)
			flow -a $addr -c $cc -b 300000 -L 1000 > /run/out || fault "$cc to $addr"
			complete /run/out 5000
			first=$(field end 0 /run/out)
			expect "requests that nobody saw" $(($(credit xa asked) - asked - $(credit xb requests) + seen)) -ge 1
			expect "credits" $(($(credit xa got) - got)) -ge 50
			flow -a $addr -c $cc -b 300000 -L 1000 > /run/out || fault "$cc to $addr"
			echo "# $cc to $addr: $first us, then $(field end 0 /run/out)"
			expect "us more than the second" $((first - $(field end 0 /run/out))) -le 4000
		done
	done
	expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
}

# The same on a long path, where much is in flight when the first flow knocks.
test_first_flow_of_long_path()
{
	lablink-ctl set e0 netns xa delay 10ms || fault "no delay"
	for n in xa xb; do
		in_ns $n sysctl -q -w net.ipv4.tcp_rmem="4096 16000000 16000000" \
			net.ipv4.tcp_wmem="4096 16000000 16000000"
	done
	for cc in $controls; do
		sleep 12
		got=$(credit xa got)
		flow -c $cc -b 20000000 -L 5000 > /run/out || fault "$cc"
		complete /run/out 3000000
		echo "# $cc: $(field end 0 /run/out) us, asked $(credit xa asked), $(credit xa stray) stray, $(credit xa wasted) wasted"
		expect "credits" $(($(credit xa got) - got)) -ge 1000
	done
	expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
}

# The control is set after the SYN has left; a listener waits for data (TCP_DEFER_ACCEPT). Both
# are connections as any other.
test_late_and_deferred()
{
	for cc in $controls; do
		for way in late send; do
			got=$(credit xa got)
			odd_server take 6500 $([ $way = late ] || echo defer)
			expect "control, $way" "$(odd $way $cc 10.0.2.1 6500)" = "$cc"
			expect "credits, $way" $(($(credit xa got) - got)) -ge 50
			odd_end
		done
	done
}

# SYN cookies: a request that ends the handshake brings the connection's options back.
test_cookies()
{
	in_ns xb sysctl -q -w net.ipv4.tcp_syncookies=2
	odd_server answer 6501 3000000
	for cc in $controls; do
		ms=$(odd early $cc 10.0.2.1 6501)
		echo "# $cc: $ms ms"
		expect "ms for 3 MB from the server" "${ms:-99999}" -le 60
	done
	odd_end
}

# A route that has nothing to do with the connection makes all routes of the receiver, the sender or
# both old.
test_new_route()
{
	for cc in $controls; do
		for at in xb xa "xa xb"; do
			odd_server answer 6502 1
			odd messages $cc 10.0.2.1 6502 > /run/us &
			client=$!
			sleep 0.25
			for n in $at; do
				in_ns $n ip link add d0 type dummy
				in_ns $n ip link set d0 up
			done
			wait $client
			echo "# $cc, $at: $(cat /run/us) us at most"
			expect "longest message, us" "$(cat /run/us)" -le 5000
			odd_end
			for n in $at; do
				in_ns $n ip link del d0
			done
		done
	done
}

# The route leads through another port of the receiver: from now on credits are for that one's line.
# On the way back 10 Gbit/s meet 1 Gbit/s, and red segments are lost while others are out of order.
test_other_port()
{
	lablink-ctl add e1 netns xa peer e1 netns xb rate 10gbit delay 2us || fault "no second link"
	for n in xa xb; do
		[ $n = xa ] && at=1 || at=2
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=0 net.ipv4.tcp_rmem="4096 16000000 16000000" \
			net.ipv4.tcp_wmem="4096 16000000 16000000"
		ip -n $n addr add 10.0.9.$at/24 dev e1
		ip -n $n link set e1 up || fault "e1 not up"
	done
	flow -c cubic -b 1000 -a 10.0.9.2 > /run/out || fault "no way over e1"
	for cc in $heavy; do
		flow -c $cc -b -1 120:all:mark 200:all:mark 320:all:mark 400:all:mark -L 400 > /run/out &
		sleep 0.1
		ip -n xa route add 10.0.2.1/32 via 10.0.9.2
		ip -n xb route add 10.0.1.1/32 via 10.0.9.1 || fault "no route"
		sleep 0.2
		ip -n xa route del 10.0.2.1/32
		ip -n xb route del 10.0.1.1/32 || fault "no route back"
		wait
		echo "# $cc: $(mark_bytes /run/out 2) bytes in 80 ms of 10 Gbit/s, then $(mark_bytes /run/out 4) of 1 Gbit/s"
		expect "bytes at 10 Gbit/s" "$(mark_bytes /run/out 2)" -ge 80000000
		expect "bytes at 1 Gbit/s again" "$(mark_bytes /run/out 4)" -ge 8000000
	done
	expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
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

# Credits are eaten for six seconds, while red data goes on: the receiver has given up, and so many
# credits were lost that their numbers are not believed any more. When the path is as before, credits are
# given and used again.
test_credits_come_again()
{
	flow -c flexpass -b -1 -w 60000@1000 -L 7000 > /run/out &
	sleep 0.2
	eating west 'ip tos 0xa0 0xfc'
	sleep 6
	tc -n xr qdisc del dev west clsact
	got=$(credit xa got)
	sleep 0.5
	got=$(($(credit xa got) - got))
	echo "# after 6 s without credits: $got in 500 ms"
	expect "credits again" $got -ge 5000
	wait
}

# Nothing passes for half a second: the flow goes on without credit, and by credit again once the path
# is as before.
back_after_outage()
{
	flow -c $1 -b -1 2600:all:mark 3000:all:mark -L 3000 > /run/out &
	sleep 0.1
	eating west 'ip protocol 6 0xff'
	eating east 'ip protocol 6 0xff'
	sleep 0.5
	expect "$1: goes on without" "$(in_ns xa ss -Htin dst 10.0.2.1 | grep -c -- -reno)" -ge 1
	for dev in west east; do
		tc -n xr qdisc del dev $dev clsact
	done
	sleep 2
	got=$(credit xa got)
	wait
	got=$(($(credit xa got) - got))
	echo "# $1: $got credits, $(mark_bytes /run/out 2) bytes in the last 400 ms"
	expect "credits of $1 at last" "$got" -ge 10000
	expect "bytes of $1 at last" "$(mark_bytes /run/out 2)" -ge 40000000
}

# Where credits are eaten for good, the flow has them neither asked for in each round trip nor waits
# for them.
eaten_for_good()
{
	flow -c $1 -b -1 1000:all:mark 5000:all:mark -L 5000 > /run/out &
	sleep 0.1
	eating west 'ip tos 0xa0 0xfc'
	sleep 0.9
	asked=$(credit xa asked)
	wait
	tc -n xr qdisc del dev west clsact
	asked=$(($(credit xa asked) - asked))
	echo "# $1 without credits: $asked requests, $(mark_bytes /run/out 2) bytes in 4 s"
	expect "requests of $1" $asked -le 30
	expect "bytes of $1" "$(mark_bytes /run/out 2)" -ge 430000000
}

test_outage()
{
	for cc in $controls; do
		[ "$level:$cc" = check:flexpass ] || back_after_outage $cc
		[ "$level" = check ] || eaten_for_good $cc
	done
}

# The core drops most credits, which are for eight segments that come in packets of their own: the
# receiver counts a credit once, and its loop finds the rate.
test_large_credits_lost()
{
	for n in xa xb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=10000 net.ipv4.tcp_rmem="4096 16000000 16000000" \
			net.ipv4.tcp_wmem="4096 16000000 16000000"
	done
	in_ns xb sysctl -q -w net.fairlane.research.credit_segs=8
	for dev in east west; do
		tc -n xr qdisc replace dev $dev root handle 1: fabric preset flexpass speed 1gbit \
			band 1 rate 6942kbit burst 212 || fault "no band for credits"
	done
	given=$(credit xb given) got=$(credit xa got)
	flow -c expresspass -b -1 -L 200 > /run/out || fault "no flow"
	given=$(($(credit xb given) - given)) got=$(($(credit xa got) - got))
	echo "# $given credits given, $got came"
	expect "credits that came" $got -ge 1500
	expect "credits given" $given -le $((2 * got))
}

# Who has reset, or was reset and not closed by its application, asks for nothing and gives nothing.
test_resets()
{
	for cc in $controls; do
		odd_server reset 6504
		odd stay $cc 10.0.2.1 6504 &
		client=$!
		sleep 0.1
		asked=$(credit xa asked)
		sleep 0.8
		expect "requests after a reset" $(($(credit xa asked) - asked)) -eq 0
		wait $client
		odd_end
		odd_server keep 6505
		odd reset $cc 10.0.2.1 6505
		sleep 0.05
		given=$(credit xb given) resets=$(counter xa TcpOutRsts)
		sleep 1
		expect "credits after a reset" $(($(credit xb given) - given)) -eq 0
		expect "resets" $(($(counter xa TcpOutRsts) - resets)) -eq 0
		odd_end
	done
	expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
}

load || exit 1
all_only=credits_come_again
[ "$level" != check ] || all_only=
if [ $# -gt 0 ]; then
	run_tests 1 "$@"
else
	run_tests 1 credit_pays_for_all accepted data_both_ways own_band_back own_port stock_buffers one_host held_data \
		peer_without_credit path_eats data_loss credit_loss reordering duplicates not_prepared aborts no_way \
		fast_open switch poor_peers mixed_mtu back_again \
		forged lies idle_flows promises many_idle first_flow first_flow_of_long_path late_and_deferred cookies new_route other_port pacing \
		$all_only outage large_credits_lost resets trace removal
fi
