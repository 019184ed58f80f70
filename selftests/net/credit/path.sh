# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2086,SC2154,SC3044 # words; credit.sh has the other half; own functions
# What paths and peers do to credits, sourced by credit.sh: eat them, lose them, reorder them.

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

# A process keeps its own socket for long. The sender's timer, which looks whether it may go on, does
# so rarer and rarer, and what waits leaves when the process has let go.
test_owner_keeps_the_socket()
{
	odd_server take 6505
	for cc in $controls; do
		mount -t tracefs none $tracing 2> /dev/null
		echo > $tracing/trace
		echo 1 > $tracing/events/timer/hrtimer_expire_entry/enable || fault "no event of timers"
		ms=$(in_ns xa python3 ./stall.py $cc 10.0.2.1 6505 1000 2> /run/errors)
		echo 0 > $tracing/events/timer/hrtimer_expire_entry/enable
		looks=$(grep -c 'function=fl_sender_fire' $tracing/trace)
		echo "# $cc: looked $looks times, $ms ms afterwards"
		expect "$cc: looks in a second" "$looks" -ge 4
		expect "$cc: looks in a second" "$looks" -le 60
		expect "$cc: ms afterwards" "$ms" -le 100
	done
	odd_end
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

# A Linux router whose port has bands by the DSCP (pfifo_fast, prio): green 41 would overtake red 42, and
# the flow has half of the line. All four DSCPs from 38 on are in one band.
test_one_band()
{
	lablink-ctl set east netns xr rate 1gbit && tc -n xr qdisc replace dev east root handle 2: pfifo_fast ||
		fault "no bands"
	for ns in xa xb; do
		in_ns $ns sysctl -q -w net.fairlane.research.credit_dscp=38
	done
	flow -c flexpass -b 6000000 -L 1000 > /run/out
	echo "# $(cat /run/out)"
	# 51 ms are the line's, and from 40 on it takes 110
	complete /run/out 60000
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
