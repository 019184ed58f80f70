#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015,SC2086,SC2317 # "|| fault" for any of these; words; called by name
#
# PrioPlus where single packets are lost, late or large, on live sockets, in
# virtual time:
#
#	pa --- pr --- pb	10 Gbit/s, and 1 Gbit/s from pr to pb; base RTT about 40 us
#
# Names of tests as arguments select. Needs root, lablink, ip, tc, jq and, in
# PATH, flowgen, fairlane and lablink-ctl; $MODULES is the folder of the modules.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
# Payload that 1 Gbit/s takes in a ms: segments of 1448 bytes, 1538 on the line.
LINE_BYTES_MS=117680
tracing=/sys/kernel/tracing

drop_net() { drop_nodes pa pr pb; }

# A fresh topology whose routes have the attributes $*; channels of a few packets' time.
hosts()
{
	three_nodes pa pr pb 10gbit "$*" || return 1
	in_ns pa sysctl -q -w net.fairlane.line_rate_mbps=1000 \
		net.fairlane.research.fluct_ns=30000 net.fairlane.noise_ns=10000
	tc -n pr qdisc replace dev east root handle 1: pfifo limit 500
}

# Address resolution done before anything is timed.
warm() { flowgen -f pa -t pb -a 10.0.2.1 -c cubic -b 1000 > /dev/null; }

net() { hosts quickack 1 && warm; }

# pp PRIORITY PORT OPTION...: flows of PrioPlus.
pp()
{
	priority=$1 port=$2
	shift 2
	flowgen -f pa -t pb -a 10.0.2.1 -c prioplus -q $priority -p $port "$@"
}

# probes ACTION [MASK]: what becomes of probes at e0 of pa (segments of IPv4 with one byte
# and a time stamp, 53 bytes), or of those whose identification has none of MASK's bits
# (hexadecimal without 0x, as tc reads masks).
probes()
{
	tc -n pa qdisc replace dev e0 clsact
	tc -n pa filter del dev e0 egress 2> /dev/null
	tc -n pa filter add dev e0 egress protocol ip pref 1 u32 \
		match ip protocol 6 0xff match u16 53 0xffff at 2 match u16 0 ${2-0} at 4 action $1
}

# Packets that an action at e0 of pa has dropped.
dropped() { tc -n pa -s -j filter show dev e0 egress | jq '[.[].options.actions[]?.stats.drops] | add // 0'; }

# A low flow that is preempted from 50 to 100 ms of its 150, with probes as they are; it
# waits from $2 us (2000) after the start of the high one on, is back within $1 us, and no
# state of exception is left.
preempted()
{
	pp 1 5000 -b -1 -L 150 > /run/low &
	sleep 0.05
	pp 5 5001 -b -1 -L 50 > /run/high
	in_ns pa fairlane flow show dport 5000 > /run/show
	wait
	echo "# low $(paste -sd, /run/low); high $(cat /run/high); $(dropped) dropped"
	grep -q fallback /run/show && fault "fallback: $(cat /run/show)"
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge $((45 * LINE_BYTES_MS))
	expect "pause of the low one, us" "$(field gap 0 /run/low)" -ge $((50000 - ${2:-2000}))
	expect "pause of the low one, us" "$(field gap 0 /run/low)" -le $((50000 + $1))
	expect "bytes of the low one" "$(field received 0 /run/low)" \
		-ge $(((95000 - $1) * LINE_BYTES_MS / 1000))
}

# Every second, eighth and 32nd probe is lost (a flow counts its packets in the
# identification): the flow waits for the next.
test_lost_probes()
{
	for n in 2 8 32; do
		probes drop "$(printf %x $((n - 1)))"
		preempted $((2000 + 16000 / n))
		expect "probes lost, every ${n}th" "$(dropped)" -ge 1
	done
}

# No probe passes for the last 20 ms of the wait: a flow asks on, more slowly (1 ms at
# most lies between two), and is back soon after they pass again.
test_probes_pause()
{
	probes ok
	(sleep 0.08 && probes drop && sleep 0.03 && probes ok) &
	preempted 15000
}

# What is written every 5 ms loses one packet of ten: often the last ones, after which no
# ACK comes. Nothing but a timer finds that; ours does not wait for the stack's 200 ms.
test_lost_tails()
{
	tc -n pr qdisc replace dev east root netem limit 1000 rate 1gbit delay 5us loss random 10%
	for bytes in 1000 4000 20000; do
		pp 3 5000 -w $bytes@5000 -b $((200 * bytes)) -L 3000 > /run/a
		echo "# writes of $bytes bytes: $(cat /run/a)"
		done_by "writes of $bytes bytes" /run/a 1100000
		expect "longest gap, us" "$(field gap 0 /run/a)" -le 40000
	done
}

# done_by WHAT FILE US: the flow in FILE is complete, its last byte by US.
done_by()
{
	end=$(field end 0 $2)
	grep -q 'state done' $2 || fault "$1 is not complete: $(cat $2)"
	expect "$1, us until its end" "${end:-99999999}" -le $3
}

# The path is dead for 0.4 s. The stack tries again after 0.2, 0.6, 1.4 s; from then on
# all is as before: the high one has the line, the low one waits, then has it.
test_dead_path()
{
	pp 1 5000 -n 2 -b -1 -L 3000 > /run/low &
	sleep 0.1
	pp 5 5001 -b -1 -L 2400 > /run/high &
	sleep 0.1
	tc -n pr qdisc replace dev east root netem loss 100%
	sleep 0.4
	tc -n pr qdisc replace dev east root handle 1: pfifo limit 500
	# 1.0 to 2.4 s: the high one is back for long
	sleep 0.9
	before=$(in_ns pa ss -tinHO "dport = :5001" | sed -n 's/.*bytes_acked:\([0-9]*\).*/\1/p')
	sleep 0.5
	after=$(in_ns pa ss -tinHO "dport = :5001" | sed -n 's/.*bytes_acked:\([0-9]*\).*/\1/p')
	wait
	echo "# low $(paste -sd, /run/low); high $(cat /run/high); $((after - before)) bytes in 500 ms"
	expect "bytes of the high one in 500 ms" $((after - before)) -ge $((480 * LINE_BYTES_MS))
	low=$(($(field received 0 /run/low) + $(field received 1 /run/low)))
	# 100 ms before and 500 ms after
	expect "bytes of the low ones" $low -ge $((560 * LINE_BYTES_MS))
}

# The path is ten times as long as the base RTT that was given: every probe is above the
# limit. An idle line is not silent for that: the flow finds out and says so.
test_longer_path()
{
	net || fault "no network"
	in_ns pa sysctl -q -w net.fairlane.base_rtt_ns=50000
	tc -n pr qdisc replace dev east root netem limit 1000 delay 500us
	pp 1 5000 -b -1 -L 1000 > /run/a &
	sleep 0.9
	in_ns pa fairlane -j flow show dport 5000 > /run/show
	wait
	echo "# $(cat /run/a)"
	# the proof takes about 20 ms
	expect "bytes" "$(field received 0 /run/a)" -ge $((900 * LINE_BYTES_MS))
	expect "opens" "$(jq '[.. | .opens? // empty] | add' /run/show)" -ge 1
}

# alone_in_noise MS [SETTING]: a lone flow for MS with 200 us of noise; what it received.
alone_in_noise()
{
	net || fault "no network"
	in_ns pa sysctl -q -w net.fairlane.base_rtt_ns=50000 ${2:-}
	lablink-ctl set e0 netns pb delay 500us noise 0,50us,100us,200us seed 7 ||
		fault "no noise"
	pp 1 5000 -b -1 -L "$1" > /run/a
	echo "# $(cat /run/a)"
	expect "bytes" "$(field received 0 /run/a)" -ge $((1500 * LINE_BYTES_MS))
}

# The same with 200 us of noise: no two probes see the same delay, and only a train of
# packets tells that the line is idle.
test_noisy_path() { alone_in_noise 3000; }

# The same with a line rate of eight times the true one: every train waits for itself. The
# next one leaves as fast as that one came back, and does not. Two seconds of silence, and
# half of the rest.
test_wrong_line() { alone_in_noise 5000 net.fairlane.line_rate_mbps=8000; }

# Behind a higher priority that fills the line for seconds, trains of both kinds wait: the
# low flow stays silent.
test_long_wait()
{
	net || fault "no network"
	pp 1 5000 -b -1 -L 4600 > /run/low &
	sleep 0.05
	pp 5 5001 -b -1 -L 4500 > /run/high
	wait
	echo "# low $(cat /run/low); high $(cat /run/high)"
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge $((4400 * LINE_BYTES_MS))
}

# The same at 20 Mbit/s, where the silence has seen the high one's queue and, at the turn of
# windows, none: trains are longer than it takes the high one to give way, and to come back.
test_slow_line()
{
	net || fault "no network"
	lablink-ctl set east netns pr rate 20mbit || fault "no slow line"
	in_ns pa sysctl -q -w net.fairlane.line_rate_mbps=20 net.fairlane.noise_ns=400000 \
		net.fairlane.research.fluct_ns=1600000
	pp 1 5000 -b -1 -L 5000 > /run/low &
	sleep 0.4
	pp 5 5001 -b -1 -L 4500 > /run/high
	wait
	echo "# low $(cat /run/low); high $(cat /run/high)"
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge $((4100 * LINE_BYTES_MS / 50))
}

# ends WHAT FILE MOST: the one flow of the file is complete after so many us.
ends()
{
	end=$(field end 0 "$2")
	echo "# $1: complete after ${end:-?} us"
	expect "us until $1 is complete" "${end:-99999999}" -le "$3"
}

# A policer on the way, where nothing waits: what is lost is no more than some times Reno's.
test_policer()
{
	for dev in east west; do
		lablink-ctl set $dev netns pr delay 2ms || fault "no delay"
	done
	police pr east 60
	for cc in reno prioplus prioplus-ledbat; do
		flowgen -f pa -t pb -a 10.0.2.1 -c $cc -b -1 500:all:mark 1500:all:mark > /run/a
		lost=$(awk '$2 == 1500 { print $10 }' /run/a)
		[ $cc != reno ] || reno=$lost
		echo "# $cc: $lost lost, $(mark_bytes /run/a 2) bytes in a second"
		expect "lost of $cc" "$lost" -le $((4 * reno))
		# of 7.2 MB
		expect "bytes of $cc" "$(mark_bytes /run/a 2)" -ge 4000000
	done
}

# One address, and hosts near and far behind it. What a flow to the near one has seen makes
# the first flow to the far one find out that its path is longer; those after it begin with
# that, whatever the near one's have seen meanwhile. 500 kB take 4.2 ms and some RTTs.
test_near_and_far()
{
	net || fault "no network"
	tc -n pr qdisc replace dev west root handle 1: prio bands 2 \
		priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
		tc -n pr qdisc add dev west parent 1:2 netem limit 1000 delay 600us &&
		tc -n pr filter add dev west parent 1: protocol ip u32 match ip sport 5001 0xffff flowid 1:2 ||
		fault "no path to the far one"
	pp 1 5000 -b 100000 -L 1000 > /run/near
	pp 1 5001 -b 500000 -L 1000 > /run/first
	ends "the first flow to the far one" /run/first 60000
	for _ in 1 2 3; do
		pp 1 5000 -b 500000 -L 1000 > /run/near
		ends "a flow to the near one" /run/near 8000
		pp 1 5001 -b 500000 -L 1000 > /run/far
		ends "another to the far one" /run/far 16000
	done
}

# base_of PORT: the base RTT that a new flow to the port has after 15 ms, ns.
base_of()
{
	pp 1 "$1" -b -1 -L 20 > /run/a &
	sleep 0.015
	in_ns pa fairlane -j flow show dport "$1" | jq '.[].base_rtt_ns'
	wait
}

# A flow whose SO_PRIORITY changes overtakes its own packets in its host's port, and sends again what
# is not lost. The ACK of both tells no RTT that is shorter than the path's.
test_overtaking()
{
	lablink-ctl set e0 netns pa rate 1gbit || fault "no slow port"
	before_ns=$(base_of 5001)
	events=''
	at=10
	while [ $at -lt 70 ]; do
		events="$events $at:0:priority=6 $((at + 1)):0:priority=1"
		at=$((at + 2))
	done
	pp 1 5000 -b -1 -L 80 $events 80:0:mark > /run/a
	retrans=$(awk '{ for (i = 1; i < NF; i++) if ($i == "retrans") print $(i + 1) }' /run/a)
	expect "segments sent again" "${retrans:-0}" -ge 10
	expect "base RTT after that, ns, of $before_ns" "$(base_of 5002)" -ge $((before_ns - 2000))
}

# A receiver says that packets have come which are still on their way: its flow seems to have
# an RTT that no path to its address has, and other flows are told so.
test_early_acks()
{
	net && tc -n pr qdisc replace dev west root netem limit 1000 delay 500us || fault "no network"
	in_ns pa sysctl -q -w net.ipv4.tcp_timestamps=0
	ip netns exec pb python3 ./early.py e0 5000 20 > /run/early &
	liar=$!
	until grep -q listening /run/early; do sleep 0.001; done
	pp 1 5000 -b 4000000 -L 200 > /run/liar
	kill $liar
	wait
	pp 1 5001 -b 500000 -L 1000 > /run/first &
	sleep 0.0005
	base_ns=$(in_ns pa fairlane -j flow show dport 5001 | jq '.[].base_rtt_ns')
	expect "base RTT that the next flow is told, ns" "${base_ns:-999999}" -le 450000
	wait
	ends "the first flow to the others" /run/first 60000
	for _ in 1 2 3; do
		pp 1 5001 -b 500000 -L 1000 > /run/next
		ends "another flow" /run/next 10000
	done
}

# The receiver delays its ACKs as it likes: every second packet, the last one 40 ms.
test_delayed_acks()
{
	hosts && warm || fault "no network"
	probes ok
	preempted 2000
	pp 3 5000 -w 1000@5000 -b 200000 -L 3000 > /run/a
	echo "# writes of 1000 bytes: $(cat /run/a)"
	done_by "writes of 1000 bytes" /run/a 1100000
}

# ACKs come in bunches, 60 us long, as behind network cards that gather interrupts, and
# hosts hand what these allow to the device at once, up to 16 segments, the last of which
# waits 185 us at the bottleneck for the others. The noise says both; the queue of the high
# one is 1.4 ms long with such channels, and a start takes two or three of these.
test_large_packets()
{
	hosts quickack 1 || fault "no network"
	in_ns pa sysctl -q -w net.fairlane.noise_ns=255000 net.fairlane.research.gso_segs=16
	lablink-ctl set e0 netns pa offload on && lablink-ctl set west netns pr offload on &&
		lablink-ctl set east netns pr offload on && lablink-ctl set e0 netns pb offload on &&
		tc -n pr qdisc replace dev west root netem slot 60us 60us || fault "no offload"
	warm
	probes ok
	mount -t tracefs none $tracing 2> /dev/null
	echo 'len > 5900' > $tracing/events/net/net_dev_queue/filter &&
		echo 1 > $tracing/events/net/net_dev_queue/enable || fault "no event of devices"
	preempted 2000 3500
	echo 0 > $tracing/events/net/net_dev_queue/enable
	large=$(grep -c 'dev=e0' $tracing/trace)
	echo "# $large times four segments or more at once"
	expect "times that four segments or more were one packet" "$large" -ge 500
}

trap 'drop_net' EXIT
# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load_modules fairlane tcp_prioplus || exit 1
tests=${*:-lost_probes probes_pause lost_tails dead_path longer_path near_and_far overtaking early_acks delayed_acks large_packets noisy_path wrong_line long_wait slow_line policer}
run_tests 1 $tests
