# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # lib.sh and fabric.sh set the others
# The line of a set rate, sourced by fabric.sh: devices that are slower than it, what
# is charged to senders, settings that change.

# A device e2 that takes $1, with the port $2... on it.
slow_device()
{
	rate=$1
	shift
	lablink-ctl add e2 netns fa peer e2 netns fb rate "$rate" delay 2us ring 2 || fault "no lablink"
	ip -n fa link set e2 up
	ip -n fb link set e2 up
	ip -n fa addr add 10.0.2.1/24 dev e2
	ip -n fb addr add 10.0.2.2/24 dev e2
	ip -n fa neigh replace 10.0.2.2 dev e2 \
		lladdr "$(ip -n fb -j link show e2 | jq -r '.[0].address')"
	tc -n fa qdisc replace dev e2 root handle 1: fabric "$@"
}

stat2() { tc -n fa -s -j qdisc show dev e2 | jq -r ".[0] | $1"; }

# Nothing of what the line has sent may pile up before the device, whose own
# speed counts then: limit, drops and delays are those of a port without a line.
test_device_slower_than_line()
{
	for delay in 0 3us; do
		slow_device 1gbit limit 100kb rate 10gbit delay $delay
		ip netns exec fa "$SEND" udp 10.0.2.2 2000/2 0:1500
		expect "held" "$(stat2 .backlog)" -le $((102400 + 6 * 1500))
		near "full" "$(stat2 .backlog)" 102400 60
		expect "dropped" "$(stat2 .fabric.dropped.limit)" -gt 1500
		sleep 0.0004
		busy=$(stat2 .packets)
		sleep 0.0004
		near "packets of 400 us at the device's rate" $(($(stat2 .packets) - busy)) 33 120
		sleep 0.01
		expect "nothing left" "$(stat2 .backlog)" -eq 0
		# 67 full packets before it, at 12.19 us each
		near "the longest delay" "$(stat2 .fabric.delay_max_ns)" 820000 30
		ip -n fa link del e2
	done
}

# While a device is slow the line stands still: what waits then leaves at the
# line's rate, not at once.
test_device_that_recovers()
{
	slow_device 100mbit limit 100kb rate 1gbit
	ip netns exec fa "$SEND" udp 10.0.2.2 400/20 0:1500
	expect "held" "$(stat2 .backlog)" -le $((102400 + 6 * 1500))
	lablink-ctl set e2 netns fa rate 100gbit
	# The packet that is on the link takes its 122 us.
	sleep 0.00014
	before=$(stat2 .packets)
	sleep 0.0004
	near "packets of 400 us at the line's rate" $(($(stat2 .packets) - before)) 33 120
	sleep 0.01
	expect "nothing left" "$(stat2 .backlog)" -eq 0
	ip -n fa link del e2
}

# A device that the line is slower than sets no limit.
test_line_slower_than_device()
{
	slow_device 10gbit limit 100mb rate 1gbit delay 5us
	before=$(stat2 .fabric.busy_ns)
	ip netns exec fa "$SEND" udp 10.0.2.2 1000 0:1500
	sleep 0.1
	near "busy time" $(($(stat2 .fabric.busy_ns) - before)) $((1000 * 1524 * 8)) 1
	ip -n fa link del e2
}

# A packet that flies is no longer its sender's: a socket of 64 kB fills the line,
# though 1.25 MB are on it.
test_flying_is_not_charged()
{
	port limit 1mb rate 1gbit delay 10ms
	SNDBUF=32768 ip netns exec fa "$SEND" udp 10.0.0.2 3000 0:1500 &
	sleep 0.02
	before=$(stat .fabric.packets)
	sleep 0.01
	near "packets of 10 ms" $(($(stat .fabric.packets) - before)) 820 10
	wait $!
	expect "dropped" "$(stat '.fabric.dropped | add')" -eq 0
	empty
}

# A band with a qdisc of its own keeps its rate also when nobody looks in between.
test_child_keeps_rate_on_long_line()
{
	port limit 1mb rate 1gbit delay 2ms
	band 1 rate 100mbit burst 0
	tc -n fa qdisc add dev e0 parent 1:1 handle 10: pfifo limit 100
	ip netns exec fb "$SEND" record e0 >"$out" 2>/dev/null &
	sleep 0.01
	send 20 0:1000
	wait $!
	near "20 packets take" "$(tail -n 1 "$out" | cut -d ' ' -f 1)" $((19 * 1024 * 80)) 1
}

# What was owed at a low rate is owed at the high one.
test_raised_rate_acts_at_once()
{
	port limit 1mb rate 1kbit bands 3 default 3 dscp 1:1 2:2
	send 2 4:1000
	sleep 0.5
	port rate 10gbit
	sleep 0.001
	expect "line: sent" "$(cls 1 .packets)" -eq 2
	empty 0
	band 2 rate 1kbit burst 0
	send 2 8:1000
	sleep 0.5
	expect "band: sent" "$(cls 2 .packets)" -eq 1
	band 2 rate 10gbit burst 0
	sleep 0.001
	expect "band: then sent" "$(cls 2 .packets)" -eq 2
	# Lowered, the rest of a packet takes longer, too.
	port rate 1mbit
	send 1 4:1226
	sleep 0.005
	port rate 100kbit
	send 1 4:1226
	sleep 0.04
	expect "line: the second waits" "$(cls 1 .backlog_packets)" -eq 1
	sleep 0.015
	expect "line: the second is sent" "$(cls 1 .backlog_packets)" -eq 0
}

# A band's rate counts what a packet takes on the wire, whether the port is the line
# or a device is: 84 bytes of a frame of 60, or what overhead and mpu say.
test_band_rate_counts_wire_bytes()
{
	for words in "rate 1gbit:744" "rate none:744" "overhead 40:625" "overhead 0 mpu 0:1041" \
		     "overhead 0 mpu 100:625"; do
		# shellcheck disable=SC2086 # words
		port limit 1mb bands 2 dscp 1:1 ${words%:*}
		band 1 rate 1mbit burst 0
		send 1100 4:60
		before=$(cls 1 .packets)
		sleep 0.5
		near "packets in 500 ms with $words" $(($(cls 1 .packets) - before)) "${words#*:}" 4
		tc -n fa qdisc del dev e0 root
	done
}

test_limit_of_packets()
{
	port limit 1mb rate 1mbit bands 2 dscp 1:1
	band 1 packets 10
	send 1 4:1000:3 4:60:17
	expect "waiting" "$(cls 1 .backlog_packets)" -eq 10
	expect "dropped by the band's limit" "$(cls 1 .dropped.band)" -eq 9
	band 1 packets 0
	send 1 4:60:20
	expect "without a limit" "$(cls 1 .backlog_packets)" -eq 30
	port rate none
	empty
}
