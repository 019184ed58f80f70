#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of lablink, in virtual time: every nanosecond is checked.
#
#	links.sh FOLDER-OF-LABLINK-CTL FOLDER-OF-LINKPROBE [TEST...]
#
# To be run as root in the lab's guest, with lablink and labtap loaded. KTAP;
# exit status 0 passed, 1 failed, 4 skipped.
# shellcheck disable=SC1091,SC2154 # lib.sh sets what is not set here
set -u
cd "$(dirname "$0")" || exit 1
. ./lib.sh

# Packets of IP size $2 at rate $1 (bit/s), $3 of them, overhead $4, ring $5.
check_gaps()
{
	line=$(($2 + 14 + $4))
	link_new rate "$1" delay 5us overhead "$4" ring "$5"
	tc -n a qdisc replace dev e0 root pfifo limit 10000
	probe -n "$3" -s "$2"
	equal "packets received" "$received" "$3"
	equal "packets reordered" "$reordered" 0
	between "shortest gap" "$gap_min" "$(floor_ns "$line" "$1")" \
		"$(ceil_ns "$line" "$1")"
	between "longest gap" "$gap_max" "$(floor_ns "$line" "$1")" \
		"$(ceil_ns "$line" "$1")"
	between "first to last" "$span" \
		"$(($(floor_ns $((line * ($3 - 1))) "$1") - 1))" \
		"$(($(ceil_ns $((line * ($3 - 1))) "$1") + 1))"
	equal "first delay" "$delay_first" $(($(ceil_ns "$line" "$1") + 5000))
	equal "late events" "$(setting a late_events)" 0
	equal "bytes on the line" "$(setting a line_bytes)" $((line * $3))
	link_del
}

test_gaps()
{
	for gbit in 1 10 25 40 100 200 400; do
		check_gaps $((gbit * 1000000000)) 1500 1000 24 1
		result "gaps of 1500-byte packets at $gbit Gbit/s"
	done
	check_gaps 9999999967 1500 1000 24 1
	check_gaps 3000000000 1471 1000 24 1
	result "gaps at rates that divide nothing"
	check_gaps 100000000000 64 1000 24 1
	result "gaps of small packets"
	check_gaps 100000000000 1500 1000 0 1
	check_gaps 100000000000 1500 1000 42 1
	result "gaps with another overhead"
	check_gaps 100000000000 1500 1000 24 2
	check_gaps 100000000000 1500 1000 24 64
	result "gaps with a longer ring"
	check_gaps 1000000 1500 20 24 1
	result "gaps at 1 Mbit/s"
}

test_jumbo()
{
	link_new rate 100gbit delay 5us
	ip -n a link set e0 mtu 9000
	ip -n b link set e0 mtu 9000
	probe -n 50 -s 9000
	equal "packets received" "$received" 50
	between "gap" "$gap_min" 723 723
	ip -n b link set e0 mtu 1500
	probe -n 10 -s 9000 -w 1
	equal "packets received by an end with a small MTU" "$received" 0
	equal "its errors" "$(ip netns exec b cat \
		/sys/class/net/e0/statistics/rx_length_errors)" 10
	link_del
	result "packets of 9000 bytes, and to an end that takes only 1500"
}

test_delay()
{
	for delay_ns in 0 1 999 5000 123456789; do
		link_new rate 10gbit delay $delay_ns
		probe -n 3 -g 10000 -w 1000
		equal "delay of $delay_ns, shortest" "$delay_min" \
			$((1231 + delay_ns))
		equal "delay of $delay_ns, longest" "$delay_max" \
			$((1231 + delay_ns))
		link_del
	done
	result "delay is exact"
}

test_infinite()
{
	link_new delay 7us
	probe -n 500
	equal "packets received" "$received" 500
	equal "first to last" "$span" 0
	equal "delay" "$delay_first" 7000
	equal "times that the queue stopped" "$(setting a queue_stops)" 0
	link_del
	result "no rate: all packets at once, after the delay"
}

test_backpressure()
{
	for ring in 1 4; do
		link_new rate 10gbit delay 5us ring $ring
		tc -n a qdisc replace dev e0 root pfifo limit 100
		probe -n 500
		equal "packets received, ring $ring" "$received" \
			$((100 + ring))
		equal "drops of the qdisc, ring $ring" \
			"$(qdisc_stat a dropped)" $((400 - ring))
		equal "packets on the line, ring $ring" \
			"$(setting a line_packets)" $((100 + ring))
		link_del
	done
	result "the queue forms in the root qdisc and it drops"
}

test_requeues()
{
	for qdisc in 'prio' 'ets bands 3' 'fq limit 5000 flow_limit 5000' \
		'tbf rate 5gbit burst 3000 limit 5000000' 'htb default 1'; do
		link_new rate 10gbit delay 5us
		# shellcheck disable=SC2086 # the words are arguments
		tc -n a qdisc replace dev e0 root handle 1: $qdisc ||
			fault "cannot make $qdisc"
		[ "$qdisc" = "${qdisc#htb}" ] ||
			tc -n a class add dev e0 classid 1:1 htb rate 5gbit
		probe -n 500
		equal "received through $qdisc" "$received" 500
		probe -n 500 -g 700
		equal "received through $qdisc, spread" "$received" 500
		equal "requeues of $qdisc" "$(qdisc_stat a requeues)" 0
		equal "late events with $qdisc" "$(setting a late_events)" 0
		link_del
	done
	result "no requeues"
}


test_priority()
{
	link_new rate 1gbit delay 5us
	tc -n a qdisc replace dev e0 root handle 1: prio bands 2 \
		priomap 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1
	linkprobe -f a -t b -a 10.0.0.2 -n 500 >"$work/bulk" &
	sleep 0.001
	probe -o 9001 -q 6 -n 20 -g 100000
	wait
	equal "urgent packets" "$received" 20
	between "delay of urgent packets, shortest" "$delay_min" 17304 29608
	between "delay of urgent packets, longest" "$delay_max" 17304 29608
	equal "bulk packets" \
		"$(sed -n 's/.*received=\([0-9]*\).*/\1/p' "$work/bulk")" 500
	link_del
	result "an urgent packet waits for one other at most"
}

test_release()
{
	link_new rate 1mbit delay 100ms
	probe -n 1 -r -w 1000
	between "packet released after" "$released" 12304000 12304400
	equal "delay" "$delay_first" 112304000
	probe -n 3 -r -w 1000
	between "three packets released after" "$released" 36912000 36912400
	link_del
	result "the sender is charged until the last bit has left, not longer"
}

# Prints the percentile $2 of the delays in file $1.
percentile()
{
	awk 'NF == 3 && $1 ~ /^[0-9]+$/ { print $3 - $2 }' "$1" | sort -n |
		awk -v p="$2" '{ v[NR] = $1 } END { print v[int(NR * p / 100)] }'
}

test_noise()
{
	link_new rate 100gbit delay 5us noise 0,1us,2us,10us seed 7
	linkprobe -f a -t b -a 10.0.0.2 -n 3000 -g 20000 -p >"$work/noise"
	between "shortest delay" "$(percentile "$work/noise" 0.1)" 5124 5324
	between "33 % quantile" "$(percentile "$work/noise" 33.3)" 6000 6250
	between "67 % quantile" "$(percentile "$work/noise" 66.7)" 6950 7500
	between "83 % quantile" "$(percentile "$work/noise" 83.3)" 10500 11700
	between "longest delay" "$(percentile "$work/noise" 100)" 14800 15124
	result "noise follows its quantiles"

	awk 'NF == 3 && $1 ~ /^[0-9]+$/ { print $3 - $2 }' "$work/noise" \
		>"$work/delays"
	for seed in 7 8; do
		lablink-ctl set e0 netns a seed $seed
		linkprobe -f a -t b -a 10.0.0.2 -n 3000 -g 20000 -p |
			awk 'NF == 3 && $1 ~ /^[0-9]+$/ { print $3 - $2 }' \
			>"$work/delays-$seed"
	done
	cmp -s "$work/delays" "$work/delays-7" ||
		fault "the same seed gives other noise"
	cmp -s "$work/delays" "$work/delays-8" &&
		fault "another seed gives the same noise"
	result "a seed gives the same noise again, another gives other noise"

	tc -n a qdisc replace dev e0 root pfifo limit 10000
	probe -n 3000
	equal "packets received" "$received" 3000
	equal "packets reordered" "$reordered" 0
	lablink-ctl set e0 netns a noise off
	probe -n 10 -g 20000
	equal "delay without noise" "$delay_min $delay_max" "5124 5124"
	link_del
	result "packets keep their order under noise; noise can be switched off"
}

test_changelink()
{
	link_new rate 10gbit delay 100us
	tc -n a qdisc replace dev e0 root pfifo limit 10000
	linkprobe -f a -t b -a 10.0.0.2 -n 3000 -p >"$work/probe" &
	sleep 0.001
	lablink-ctl set e0 netns a rate 1gbit || fault "cannot set the rate"
	sleep 0.01
	lablink-ctl set e0 netns a delay 1us || fault "cannot set the delay"
	wait
	grep -q 'received=3000 reordered=0' "$work/probe" ||
		fault "$(tail -n 3 "$work/probe")"
	# gaps at 10 Gbit/s, then at 1 Gbit/s, and a bunch as the delay shrinks
	awk 'NF == 3 && $1 ~ /^[0-9]+$/ {
		gap = $3 - last; last = $3
		if (!n++) next
		if (gap == 1230 || gap == 1231) { if (slow) bad++; fast++ }
		else if (gap == 12304) slow++
		else if (gap == 0) bunch++
		else other++
	} END { print fast + 0, slow + 0, bunch + 0, other + 0, bad + 0 }' \
		"$work/probe" >"$work/gaps"
	read -r fast slow bunch other bad <"$work/gaps"
	between "packets at 10 Gbit/s" "$fast" 500 2500
	between "packets at 1 Gbit/s" "$slow" 400 2400
	between "packets that caught up" "$bunch" 7 8
	between "other gaps" "$other" 0 2
	equal "fast ones after slow ones" "$bad" 0
	equal "rate of the other end" "$(setting b rate_bps)" 10000000000
	equal "delay of the other end" "$(setting b delay_ns)" 100000
	link_del
	result "rate and delay change under traffic, for one direction"
}

test_settings()
{
	link_new rate 12.5gbit delay 3us overhead 30 ring 5 noise 1us,2us \
		seed 9 offload on
	for end in a b; do
		lablink-ctl show e0 netns $end | head -n 7 >"$work/show"
		printf '%s\n' 'rate_bps 12500000000' 'delay_ns 3000' \
			'overhead_bytes 30' 'ring_pkts 5' 'noise_seed 9' \
			'offload 1' 'noise_ns 1000,2000' |
			cmp -s - "$work/show" || fault "$(cat "$work/show")"
	done
	equal "speed" "$(ip netns exec a cat /sys/class/net/e0/speed)" 12500
	equal "GSO segments with offload" "$(ip -n a -d link show e0 |
		sed -n 's/.*gso_max_segs \([0-9]*\).*/\1/p')" 65535
	lablink-ctl set e0 netns a offload off rate 400gbit
	equal "speed" "$(ip netns exec a cat /sys/class/net/e0/speed)" 400000
	equal "GSO segments without" "$(ip -n a -d link show e0 |
		sed -n 's/.*gso_max_segs \([0-9]*\).*/\1/p')" 1
	equal "offload of the other end" "$(setting b offload)" 1
	link_del
	result "every setting is dumped as it was made; the speed is the rate"
}

# Must be refused: arguments of lablink-ctl set; $1: part of the message.
refused()
{
	message=$1
	shift
	lablink-ctl set e0 netns a "$@" 2>"$work/error" &&
		fault "not refused: $*"
	grep -q "$message" "$work/error" || fault "$*: $(cat "$work/error")"
}

test_refusals()
{
	link_new rate 10gbit
	refused 'rate below 1000' rate 999
	refused 'out of range' rate 11tbit
	refused 'out of range' delay 11s
	refused 'out of range' overhead 1001
	refused 'out of range' ring 0
	refused 'out of range' ring 1025
	refused 'must not fall' noise 2us,1us
	refused 'above 1 s' noise 2s
	equal "rate" "$(setting a rate_bps)" 10000000000
	equal "noise" "$(setting a noise_ns)" off
	lablink-ctl add e0 netns a peer e1 netns a 2>/dev/null &&
		fault "a second device e0 is possible"
	lablink-ctl add e5 netns a peer e0 netns a 2>/dev/null &&
		fault "a second device e0 is possible as the other end"
	ip -n a link show e5 >/dev/null 2>&1 && fault "half a link is left"
	link_del
	result "bad settings are refused with a reason and change nothing"
}

test_down()
{
	for how in 'b down' 'a down' 'b carrier off' 'a carrier off'; do
		link_new rate 10gbit delay 10ms
		tc -n a qdisc replace dev e0 root pfifo limit 10000
		linkprobe -f a -t b -a 10.0.0.2 -n 3000 -w 50 >"$work/probe" &
		sleep 0.003
		# shellcheck disable=SC2086 # the words are arguments
		set -- $how
		node=$1
		shift
		ip -n "$node" link set e0 "$@"
		wait
		grep -q 'received=0' "$work/probe" ||
			fault "$how: $(head -n 1 "$work/probe")"
		lost=$(setting a lost_in_flight)
		between "$how: lost in flight" "$lost" 1500 3000
		equal "$how: carrier errors" "$(ip netns exec a cat \
			/sys/class/net/e0/statistics/tx_carrier_errors |
			awk -v lost="$lost" '{ print ($1 >= lost) }')" 1
		ip -n a link show e0 | grep -q 'NO-CARRIER\|state DOWN' ||
			fault "$how: a has a carrier"
		ip -n b link show e0 | grep -q 'NO-CARRIER\|state DOWN' ||
			fault "$how: b has a carrier"
		[ "$1" = down ] || ip -n "$node" link set e0 carrier on
		link_up
		sleep 0.01
		probe -n 10
		equal "$how: received when up again" "$received" 10
		link_del
	done
	result "link down, carrier off: what is in flight is lost, then it works"
}

test_offload()
{
	link_new rate 10gbit delay 5us offload on
	stream -f a -t b -a 10.0.0.2 -b 20000000 >"$work/on" ||
		fault "$(cat "$work/on")"
	packets_on=$(setting a line_packets)
	bytes_on=$(setting a line_bytes)
	stops_on=$(setting a queue_stops)
	link_del
	link_new rate 10gbit delay 5us
	stream -f a -t b -a 10.0.0.2 -b 20000000 >"$work/off" ||
		fault "$(cat "$work/off")"
	between "packets on the line without offload" \
		"$(setting a line_packets)" $((packets_on - 20)) \
		$((packets_on + 20))
	between "bytes on the line without offload" "$(setting a line_bytes)" \
		$((bytes_on - 30000)) $((bytes_on + 30000))
	between "queue stops without offload" "$(setting a queue_stops)" \
		13800 14000
	between "queue stops with offload" "$stops_on" 100 7000
	us_on=$(sed -n 's/.* end \([0-9]*\).*/\1/p' "$work/on")
	us_off=$(sed -n 's/.* end \([0-9]*\).*/\1/p' "$work/off")
	between "time with offload" "$us_on" $((us_off * 99 / 100)) \
		$((us_off * 103 / 100))
	grep -q "retrans 0 state done" "$work/off" || fault "$(cat "$work/off")"
	link_del
	result "large packets take as long as their segments"
}

test_gro()
{
	link_new rate 10gbit delay 5us
	ip netns exec b sh -c 'echo 20000 >/sys/class/net/e0/gro_flush_timeout
		echo 100 >/sys/class/net/e0/napi_defer_hard_irqs'
	stream -f a -t b -a 10.0.0.2 -b 5000000 >"$work/off" ||
		fault "$(cat "$work/off")"
	off=$(setting b line_packets)
	between "acknowledgements without GRO" "$off" 1700 3500
	lablink-ctl set e0 netns b offload on
	stream -f a -t b -a 10.0.0.2 -b 5000000 >"$work/on" ||
		fault "$(cat "$work/on")"
	grep -q "retrans 0 state done" "$work/on" || fault "$(cat "$work/on")"
	on=$(($(setting b line_packets) - off))
	between "acknowledgements with GRO" "$on" 50 400
	probe -n 100
	equal "packets received through NAPI" "$received/$reordered" 100/0
	link_del
	result "GRO merges when the user asks for it"
}

test_delete()
{
	netns_new a b
	for i in $(seq 200); do
		lablink-ctl add e0 netns a address 02:00:00:00:00:01 \
			peer e0 netns b address 02:00:00:00:00:02 \
			rate 10gbit delay 300us || fault "round $i"
		link_up
		linkprobe -f a -t b -a 10.0.0.2 -n 900 -w 1 >"$work/probe" &
		sleep 0.000$((i % 9 + 1))
		if [ $((i % 2)) -eq 0 ]; then
			ip -n a link del e0 || fault "round $i"
		else
			ip -n b link del e0 || fault "round $i"
		fi
		wait
	done
	ip -n a link show e0 >/dev/null 2>&1 && fault "a still has it"
	ip -n b link show e0 >/dev/null 2>&1 && fault "b still has it"
	ip netns del a
	ip netns del b
	result "200 links deleted with packets in all places"
}

test_netns()
{
	for i in 1 2 3 4 5 6; do
		link_new rate 10mbit delay 2s
		linkprobe -f a -t b -a 10.0.0.2 -n 500 -w 1 >"$work/probe"
		if [ $((i % 2)) -eq 0 ]; then
			ip netns del a
			rest=b
		else
			ip netns del b
			rest=a
		fi
		n=0
		while ip -n $rest link show e0 >/dev/null 2>&1; do
			sleep 0.1
			n=$((n + 1))
			if [ $n -gt 15 ]; then
				fault "the other end is still there"
				break
			fi
		done
		ip netns del $rest
	done
	result "namespaces deleted with packets in flight take the link along"
}

test_two_hops()
{
	link_new rate 100gbit delay 2us
	netns_new c
	lablink-ctl add e1 netns b address 02:00:00:00:00:03 \
		peer e0 netns c address 02:00:00:00:00:04 rate 25gbit delay 2us
	printf '%s\n' 'addr add 10.0.1.1/24 dev e1' 'link set e1 up' \
		'neigh replace 10.0.1.2 lladdr 02:00:00:00:00:04 dev e1' |
		ip -n b -batch -
	printf '%s\n' 'addr add 10.0.1.2/24 dev e0' 'link set e0 up' \
		'route add default via 10.0.1.1' \
		'neigh replace 10.0.1.1 lladdr 02:00:00:00:00:03 dev e0' |
		ip -n c -batch -
	ip -n a route add default via 10.0.0.2
	ip netns exec b sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	eval "$(linkprobe -f a -t c -a 10.0.1.2 -n 500)"
	equal "packets received" "$received/$reordered" 500/0
	equal "first delay" "$delay_first" $((124 + 2000 + 493 + 2000))
	between "gap" "$gap_min" 492 492
	between "gap" "$gap_max" 493 493
	stream -f a -t c -a 10.0.1.2 -b 3000000 >"$work/tcp" ||
		fault "$(cat "$work/tcp")"
	ip netns del c
	link_del
	result "store and forward through a router, UDP and TCP"
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- gaps jumbo delay infinite backpressure requeues priority \
	release noise changelink settings refusals down offload gro \
	two_hops delete netns
for name in "$@"; do
	"test_$name"
done
finish
