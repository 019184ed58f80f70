#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# sch_fabric under traffic, judged by its counters (lib.sh). Names of tests as
# arguments select; line.sh, stamp.sh and hostile.sh have more.
# shellcheck disable=SC1090,SC1091,SC2034,SC2154 # lib.sh has the other half
set -u
. "${LIB:?the file selftests/lib/guest.sh}"
. ./lib.sh
. ./stamp.sh
. ./hostile.sh
. ./line.sh
. ./isolate.sh
. ./hash.sh

test_rate_is_exact()
{
	for rate in 1 10 100 400; do
		port limit 100mb rate ${rate}gbit
		before=$(stat .fabric.busy_ns)
		send 1000 0:1500 || fault "not sent"
		sleep 0.1
		busy=$(($(stat .fabric.busy_ns) - before))
		near "busy time at $rate Gbit/s" $busy $((1000 * 1524 * 8 / rate)) 1
		tc -n fa qdisc del dev e0 root
	done
}

# Of each band a line in $out: its number, bytes sent, packets that wait, bytes sent by all
sent_by_bands()
{
	# shellcheck disable=SC2016 # jq's
	stat '.fabric.bands | ([.[].bytes] | add) as $all | .[] | "\(.band) \(.bytes) \(.backlog_packets) \($all)"' > "$out"
}

test_round_robin_shares()
{
	port limit 1gb rate 1gbit bands 16 \
		dscp 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9 10:10 11:11 12:12 13:13 14:14 15:15 16:16
	words='' total=0
	for i in $(seq 1 16); do
		weight=$((i % 4 == 0 ? 8 : i % 4))
		band "$i" weight "$weight"
		words="$words $((i * 4)):$((100 + i * 80))"
		total=$((total + weight))
	done
	# A band may be off by a turn: 10 MB make that less than 1 %.
	# shellcheck disable=SC2086 # words
	send 4000 $words || fault "not sent"
	sleep 0.07
	sent_by_bands
	expect "bands" "$(wc -l < "$out")" -eq 16
	while read -r i bytes left all; do
		weight=$((i % 4 == 0 ? 8 : i % 4))
		expect "band $i still has packets" "$left" -gt 0
		near "share of band $i of $all" "$bytes" $((all * weight / total)) 10
	done < "$out"
	empty 1
}

test_strict_order()
{
	port limit 100mb rate 10mbit bands 3 dscp 1:1 2:2 3:3
	send 300 12:1000 8:1000 4:1000 || fault "not sent"
	sleep 0.1
	expect "band 1 waiting" "$(cls 1 .backlog_packets)" -gt 0
	near "band 3 hardly served" "$(cls 3 .packets)" 1 3000
	sleep 0.25
	expect "band 2 waiting" "$(cls 2 .backlog_packets)" -gt 0
	near "band 3 still hardly served" "$(cls 3 .packets)" 1 3000
	expect "band 1 done" "$(cls 1 .backlog_packets)" -eq 0
	expect "band 1 has served all" "$(cls 1 .packets)" -eq 300
	empty
}

test_band_rate_limit()
{
	port limit 1gb rate 1gbit bands 2 dscp 1:1 2:2
	band 1 rate 50mbit burst 0
	send 3000 4:1000 || fault "not sent"
	one=$(cls 1 .packets)
	sleep 0.2
	two=$(cls 1 .packets)
	near "packets in 200 ms at 50 Mbit/s" $((two - one)) $((200000000 / (1024 * 160))) 10
	send 500 8:1000 || fault "not sent"
	sleep 0.0045
	expect "the other band need not wait" "$(cls 2 .packets)" -gt 400
	port rate 1gbit
	band 1 rate none
	empty 0.1
}

# Weights 1 to 64 and bands of long and of short packets: a band may be off by a
# turn, so 200 turns make that 1 % of the lightest.
test_round_robin_extremes()
{
	for weights in "1 64" "64 1 7" "1 64 2 1 3 8 1 1 5 1 2 1 4 1 6 1"; do
		words='' sum=0 i=0 bands=$(echo "$weights" | wc -w)
		tc -n fa qdisc del dev e0 root 2>/dev/null
		# shellcheck disable=SC2046 # words
		port limit 1gb rate 10gbit bands "$bands" dscp \
			$(seq 1 "$bands" | sed 's/.*/&:&/')
		for weight in $weights; do
			i=$((i + 1)) sum=$((sum + weight))
			band $i weight "$weight"
			words="$words $((i * 4)):$((80 + i * 30)):$weight $((i * 4)):$((1500 - i * 30)):$weight"
		done
		# shellcheck disable=SC2086 # words
		send 230 $words || fault "not sent"
		# 200 rounds of 1580 bytes and two overheads.
		sleep "$(echo "$sum" | awk '{ printf "%.6f", $1 * 200 * 1628 * 8 / 1e10 }')"
		sent_by_bands
		expect "bands" "$(wc -l < "$out")" -eq "$bands"
		while read -r i bytes left all; do
			# shellcheck disable=SC2086 # words
			set -- $weights
			shift $((i - 1))
			expect "band $i still has packets" "$left" -gt 0
			near "$bands bands, share of band $i of $all" "$bytes" $((all * $1 / sum)) 10
		done < "$out"
		empty 1
	done
}

# FlexPass's switch (sections 4.1 and 5), plain senders: .5 of the line is for
# credits to allocate, so these get 86 bytes for each 86 + 1538.
test_flexpass_profile()
{
	port preset flexpass-paper rate 1gbit
	# Too many credits all the time; green, red and others at once.
	send 2500/10 160:60 &
	send 600 164:1500 0:1500 168:1500 || fault "not sent"
	one=$(stat '.fabric | tojson')
	sleep 0.01
	two=$(stat '.fabric | tojson')
	ns=10000000
	# delta NUMBER EXPRESSION: of band NUMBER, over these 10 ms
	delta() { jq -n "[$one, $two] | map(.bands[$1 - 1]) | (.[1] | $2) - (.[0] | $2)"; }

	# each counts as 86 bytes, of which these have 84
	near "credits by their rate" "$(delta 1 .packets)" $((ns * 500 / (1624 * 8000))) 10
	near "Q1 : Q2" "$(delta 2 .bytes)" "$(delta 3 .bytes)" 3
	wire=$(($(delta 1 '.bytes + 24 * .packets') + $(delta 2 '.bytes + 24 * .packets') + $(delta 3 '.bytes + 24 * .packets')))
	near "the line is full" $wire $((ns / 8)) 2
	drops=$(cls 1 .dropped.band)
	expect "credits beyond the limit dropped" "$drops" -gt 500
	expect "credit queue of 10" "$(cls 1 .backlog_max_bytes)" -le 600
	# 10 credits wait for each other, and never for more than one full frame.
	expect "credits are strict" "$(cls 1 .delay_max_ns)" -le $((10 * 25955 + 12304))
	near "red held at its threshold" "$(echo "$one" | jq '.bands[1].colours.red.backlog_bytes')" 150000 11
	expect "red dropped" "$(cls 2 .colours.red.dropped.colour)" -ge 499
	near "green beyond that threshold" "$(echo "$one" | jq '.bands[1].colours.green.backlog_bytes')" 900000 20
	expect "green not dropped" "$(cls 2 '.colours.green.dropped | add')" -eq 0
	expect "Q2 not dropped" "$(cls 3 '.dropped | add')" -eq 0
	wait
	empty
}

test_dscp_and_default()
{
	port limit 10mb bands 4 default 3 dscp 46:1 10:2:yellow 12:2:red
	send 10 184:100 40:100 48:100 0:100 187:100 || fault "not sent"
	expect "DSCP 46, ECN bits ignored" "$(cls 1 .packets)" -eq 20
	expect "yellow" "$(cls 2 .colours.yellow.packets)" -eq 10
	expect "red" "$(cls 2 .colours.red.packets)" -eq 10
	expect "others" "$(cls 3 .packets)" -ge 10
	expect "nothing in band 4" "$(cls 4 .packets)" -eq 0
	ip -n fa neigh del 10.0.0.2 dev e0
	send 1 184:100
	expect "ARP goes to the default band" "$(cls 3 .packets)" -ge 11
}

test_filter_and_priority()
{
	port limit 10mb bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
	tc -n fa filter add dev e0 parent 1: protocol ip prio 1 u32 \
		match ip tos 0x20 0xff classid 1:1
	tc -n fa filter add dev e0 parent 1: protocol ip prio 2 u32 \
		match ip tos 0x40 0xff action drop
	send 10 0x20:100 0:100 0x40:100
	expect "filtered" "$(cls 1 .packets)" -eq 10
	expect "by priority" "$(cls 2 .packets)" -eq 10
	expect "dropped by the action" "$(stat .fabric.dropped.filter)" -eq 10
}

test_ecn()
{
	port limit 100mb rate 1gbit ecn 15000
	send 100 2:1000
	# The first is sent at once, the 17th sees 16 waiting before it.
	near "marked at enqueue" "$(stat .fabric.marks)" 83 30
	empty
	port ecn off
	band 1 ecn 15000 dequeue
	m=$(stat .fabric.marks)
	send 100 2:1000
	empty
	near "marked at dequeue" $(($(stat .fabric.marks) - m)) 84 30
	band 1 ecn-delay 100us drop
	d=$(stat .fabric.dropped.ecn)
	send 100 0:1000
	empty
	expect "not markable, dropped" $(($(stat .fabric.dropped.ecn) - d)) -gt 70
	m=$(stat .fabric.marks)
	band 1 ecn 1 10mb prob 0.8
	send 2000 2:1000
	empty
	# a standard deviation is 12
	near "RED" $(($(stat .fabric.marks) - m)) 152 350
}

test_shared_buffer()
{
	port rate 1mbit buffer sw 1000000
	tc -n fa qdisc add dev e1 root handle 1: fabric rate 1mbit buffer sw
	band 1 alpha 0.5
	send 1000 0:1000
	near "a third of the pool" "$(stat .fabric.backlog_bytes)" 333000 10
	ip netns exec fa "$SEND" udp 10.0.1.2 1000 0:1000
	second=$(tc -n fa -s -j qdisc show dev e1 | jq '.[0].fabric.backlog_bytes')
	near "the other port: half of the rest" "$second" 333000 10
	near "used" "$(stat .fabric.buffer_used_bytes)" 666000 10
	expect "dropped for the buffer" "$(stat .fabric.dropped.buffer)" -gt 600
	tc -n fa qdisc del dev e1 root
	near "given back by the port that went" "$(stat .fabric.buffer_used_bytes)" 333000 10
	band 1 reserved 200000
	near "reserved is not of the pool" "$(stat .fabric.buffer_used_bytes)" 133000 20
	expect "pool" "$(stat .fabric.buffer_pool_bytes)" -eq 800000
	port rate none
	sleep 0.1
	port limit 1mb
	send 1 0:100
	empty
	expect "nothing used" "$(stat .fabric.buffer_used_bytes)" -eq 0
}

test_child_qdisc()
{
	port limit 10mb rate 1gbit bands 2 dscp 1:1 2:2
	tc -n fa qdisc add dev e0 parent 1:1 handle 10: pfifo limit 50
	send 100 4:1000 8:1000
	expect "child's drops are counted" "$(cls 1 .dropped.child)" -ge 48
	sleep 0.0001
	tc -n fa qdisc replace dev e0 parent 1:1 handle 11: pfifo limit 60
	empty
	send 30 4:1000 8:1000
	tc -n fa qdisc del dev e0 parent 1:1
	empty
	tc -n fa qdisc add dev e0 parent 1:2 handle 12: tbf rate 100mbit burst 2000 limit 100000
	n=$(cls 1 .packets)
	send 50 8:1000 4:1000
	sleep 0.0006
	expect "a slow child does not hold up others" $(($(cls 1 .packets) - n)) -ge 48
	empty
}

test_gso_split_under_a_parent()
{
	tc -n fa qdisc add dev e0 root handle 9: tbf rate 1gbit burst 100000 limit 10000000
	tc -n fa qdisc add dev e0 parent 9:1 handle 1: fabric limit 10mb
	ip netns exec fa "$SEND" gso 10.0.0.2 20 || fault "not sent"
	sleep 0.1
	parent=$(tc -n fa -s -j qdisc show dev e0 | jq '.[] | select(.kind == "tbf") | .qlen + .backlog')
	expect "parent's counts" "$parent" -eq 0
	child=$(tc -n fa -s -j qdisc show dev e0 | jq -c '.[] | select(.kind == "fabric") | [.fabric.gso_split, .packets]')
	expect "GSO packets split" "$(echo "$child" | jq '.[0]')" -eq 20
	expect "their parts" "$(echo "$child" | jq '.[1]')" -ge 200
	tc -n fa qdisc del dev e0 root
}

# What a filter's action takes, or drops, is no loss to the sender: not of a GSO packet either.
test_filter_takes_parts_of_gso()
{
	port limit 10mb
	for action in "mirred egress redirect dev e1" "drop"; do
		# shellcheck disable=SC2086 # words
		tc -n fa filter add dev e0 parent 1: protocol ip matchall action $action ||
			fault "no filter: $action"
		split=$(stat .fabric.gso_split) lost=$(counter fa UdpSndbufErrors)
		ip netns exec fa "$SEND" gso 10.0.0.2 20 || fault "$action: not sent"
		expect "$action: split" $(($(stat .fabric.gso_split) - split)) -eq 20
		expect "$action: told as lost" $(($(counter fa UdpSndbufErrors) - lost)) -eq 0
		tc -n fa filter del dev e0 parent 1:
	done
	port limit 1000
	ip netns exec fa "$SEND" gso 10.0.0.2 20 || fault "not sent"
	expect "no room: told as lost" $(($(counter fa UdpSndbufErrors) - lost)) -gt 0
	empty
}

# All that waits is dropped when the parent asks for a packet. Another class of it has
# some, and nothing but this dequeue would send them.
test_drops_below_a_parent()
{
	tc -n fa qdisc add dev e0 root handle 9: tbf rate 10mbit burst 2000 limit 10000000
	tc -n fa qdisc add dev e0 parent 9:1 handle 8: drr
	for i in 1 2; do
		tc -n fa class add dev e0 parent 8: classid 8:$i drr
		tc -n fa filter add dev e0 parent 8: protocol ip prio $i u32 \
			match ip tos $((i * 4)) 0xff classid 8:$i
	done
	tc -n fa filter add dev e0 parent 8: protocol all prio 9 matchall classid 8:2
	tc -n fa qdisc add dev e0 parent 8:1 handle 1: fabric
	band 1 ecn-delay 1ms drop
	send 100 4:1000 8:1000 || fault "not sent"
	sleep 1
	left=$(tc -n fa -s -j qdisc show dev e0 | jq -c 'map(.qlen + .backlog) | add')
	expect "left behind" "$left" -eq 0
	# 10 of 100 packets have been served after 1 ms, and with them the last one
	drops=$(tc -n fa -s -j qdisc show dev e0 | jq '.[] | select(.kind == "fabric") | .drops')
	expect "dropped" "$drops" -ge 90
	expect "not the last one" "$drops" -le 99
	tc -n fa qdisc del dev e0 root
}

test_change_under_traffic()
{
	port limit 100mb rate 100mbit bands 4 dscp 1:1 2:2 3:3 4:4
	send 200 4:1000 8:1000 12:1000 16:1000
	for i in 1 2 3; do
		port rate 1gbit delay 5us
		port rate none delay 0
		port rate 100mbit
		band $i weight $i
		band $i strict
	done
	send 200 4:1000 8:1000 12:1000 16:1000
	port dscp off bands 2
	gone=$(stat '.fabric.dropped."band-gone"')
	expect "packets of deleted bands are counted" "$gone" -gt 0
	empty 2
	expect "all others were sent" $(($(stat .packets) + gone)) -ge 1600
	port bands 4
	send 100 4:1000
	tc -n fa qdisc del dev e0 root
}

# A preset leaves nothing of what the port was before but its line and its buffer.
test_preset_is_the_whole()
{
	for what in "flexpass speed 1gbit" prio8 soze dctcp; do
		tc -n fa qdisc del dev e0 root 2> /dev/null
		# shellcheck disable=SC2086 # words
		port preset $what rate 1gbit buffer sw 1mb
		want=$(stat '.options | tojson')
		port limit 5000 ecn 3000 dequeue no-split-gso bands 9 default 2 priomap 3 dscp 0:9:red \
			stamp power stamp-hold 1ms band 1 weight 3 rate 64kbit burst 172 each 86 packets 3 \
			limit 7000 ecn-delay 5us drop green 2000 yellow 3000 red 4000 reserved 5000 alpha 0.1
		# shellcheck disable=SC2086 # words
		port preset $what
		same "preset $what" "$(stat '.options | tojson')" "$want"
		[ "$what" != prio8 ] || send 100 224:1000
		expect "drops after $what" "$(stat .drops)" -eq 0
	done
	tc -n fa qdisc del dev e0 root
}

test_change_acts_at_once()
{
	# By the old settings the next packet would be due in eight seconds.
	port limit 10mb rate 1kbit bands 2 dscp 1:1 2:2
	band 2 rate 1kbit burst 0
	send 50 4:976 8:976
	sleep 0.01
	expect "all wait" "$(stat .packets)" -le 2
	port rate none
	sleep 0.01
	expect "band 1 sent" "$(cls 1 .backlog_packets)" -eq 0
	expect "band 2 waits for its own rate" "$(cls 2 .backlog_packets)" -ge 48
	band 2 rate none
	sleep 0.01
	expect "band 2 sent" "$(cls 2 .backlog_packets)" -eq 0
	expect "busy no longer than that" "$(stat .fabric.busy_ns)" -lt 60000000
	port rate 1kbit
	send 50 4:976
	tc -n fa qdisc add dev e0 parent 1:1 handle 10: pfifo
	expect "the band's qdisc took its place" "$(cls 1 '.dropped."band-gone"')" -ge 48
	sleep 9
	port rate none
	busy=$(stat .fabric.busy_ns)
	sleep 1
	expect "idle once what waited was dropped" "$(stat .fabric.busy_ns)" -eq "$busy"
	empty
}

test_life_by_tc()
{
	for i in $(seq 1 10); do
		tc -n fa qdisc add dev e0 root handle 1: fabric rate 1gbit delay 3us \
			bands 3 dscp 0:$((i % 3 + 1)) buffer sw 1mb stamp soze
		send 20 0:1500 0:100
		tc -n fa class add dev e0 classid 1:4 fabric weight 3 reserved 1000
		tc -n fa qdisc add dev e0 parent 1:2 handle 20: pfifo
		port rate 2gbit ecn 1000
		send 20 0:1500
		tc -n fa class del dev e0 classid 1:4
		if [ $((i % 2)) -eq 0 ]; then
			tc -n fa qdisc del dev e0 root
		else
			ip -n fa link set e0 down
			tc -n fa qdisc del dev e0 root
			ip -n fa link set e0 up
			ip -n fa neigh replace 10.0.0.2 lladdr "$(ip -n fb -j link show e0 | jq -r '.[0].address')" dev e0
		fi || fault "not removed"
	done
}

run_tests_of "$0 line.sh isolate.sh hash.sh stamp.sh hostile.sh" "$@"
