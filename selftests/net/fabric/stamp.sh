# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # lib.sh and fabric.sh set the others
# Tests of telemetry, sourced by fabric.sh. Frames are made by fabric_packet and
# judged by it on the other side.

# exchange KEY=VALUE... (to both), then "--" and keys for the sender alone. The
# receiver's findings are then in $got.
exchange()
{
	both=''
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		both="$both $1"
		shift
	done
	[ $# -eq 0 ] || shift
	# shellcheck disable=SC2086 # words
	ip netns exec fb "$PACKET" receive e0 $both >"$out" 2>"$out.ready" &
	until grep -q ready "$out.ready"; do sleep 0.001; done
	# shellcheck disable=SC2086 # words
	ip netns exec fa "$PACKET" send e0 $both "$@" >"$out.sent" || fault "not sent"
	wait $!
	got=$(cat "$out")
	rm -f "$out.ready"
}

# A jq expression over what the receiver found.
got() { echo "$got" | jq -c "$1"; }

same() { expect "$1" "$2" = "$3"; }

# Delays in a queue of frames that came at once: frame i waits while i others of $1
# bytes (and 24 of overhead) leave at 1 Gbit/s. The jq expression $3 makes a field
# of ns; prints those of $2 frames.
waits() { jq -nc "[range($2) * ($1 + 24) * 8 | $3]"; }
units='. / 16 | floor'

test_stamp_in_all_offload_states()
{
	for off in 0 1; do
		ip netns exec fa "$PACKET" checksums e0 $((1 - off))
		tc -n fa qdisc del dev e0 root 2>/dev/null
		port limit 100mb rate 1gbit stamp soze
		for v in 4 6; do
			head=$((v == 4 ? 62 : 82))
			what="IPv$v, checksums of the device off: $off"
			exchange v=$v option=soze count=20
			same "$what, complete" "$(got .delays)" "$(waits $((head + 100)) 20 "$units")"
			same "$what, complete, wrong" "$(got .wrong)" 0
			exchange v=$v option=soze count=20 partial=1
			same "$what, partial" "$(got .delays)" "$(waits $((head + 100)) 20 "$units")"
			same "$what, partial, wrong" "$(got '[.wrong, .partial]')" "[0,$((off ? 0 : 20))]"
			# 3 GSO packets are 9 full segments and 3 of 500 bytes: mixed delays.
			exchange v=$v option=soze count=3 gso=1000 payload=4000
			same "$what, GSO" "$(got .delays)" "$(waits $((head + 1000)) 12 "$units")"
			same "$what, GSO, wrong" "$(got '[.packets, .wrong, .partial]')" "[12,0,$((off ? 0 : 12))]"
		done
		expect "GSO packets split" "$(stat .fabric.gso_split)" -eq 6
		expect "stamped" "$(stat .fabric.telemetry.stamped)" -eq 104
		expect "raised: all but the first of each six" "$(stat .fabric.telemetry.raised)" -eq 98
	done
	empty
}

test_stamp_on_a_whole_gso_packet()
{
	port limit 100mb rate 1gbit no-split-gso stamp soze
	for v in 4 6; do
		exchange v=$v option=soze count=2 gso=1000 payload=10000
		same "IPv$v wrong" "$(got '[.packets, .wrong, .partial]')" '[2,0,2]'
		expect "IPv$v second waited" "$(got '.delays[1]')" -gt 5000
	done
	# Cut only after the qdisc, by the device's driver: each part has the value.
	ip netns exec fa "$PACKET" checksums e0 0
	exchange v=4 option=soze count=2 gso=1000 payload=10000
	same "cut later, wrong" "$(got '[.packets, .wrong, .partial]')" '[20,0,0]'
	same "cut later, values" "$(got '.delays | unique | length')" 2
}

test_stamp_keeps_the_largest()
{
	port limit 100mb rate 1gbit stamp soze
	exchange v=4 option=soze count=20 value=65000
	same "larger values stay" "$(got .same)" 20
	expect "raised" "$(stat .fabric.telemetry.raised)" -eq 0
	exchange v=4 option=soze count=20 value=1000
	same "the larger of two" "$(got .delays)" "$(waits 162 20 "$units | if . < 1000 then 1000 else . end")"
	port stamp none
	exchange v=4 option=soze count=20 value=7
	same "off" "$(got .same)" 20
}

test_stamp_rounding()
{
	port limit 100mb rate 1gbit stamp soze stamp-round 4096
	exchange v=4 option=soze count=50
	# A value stays until the delay is more than 2048 ns outside of what it means, the
	# middle of which is told.
	same "values" "$(got .delays)" "$(waits 162 50 . | jq -c '[foreach .[] as $ns (0;
		if $ns + 2048 >= . and $ns < . + 6144 then . else ($ns / 4096 | floor * 4096) end;
		if . > 0 then (. + 2048) / 16 else 0 end)]')"
	same "wrong" "$(got .wrong)" 0
	expect "fewer values, so that GRO can merge" "$(got '.delays | unique | length')" -eq 18
}

test_stamp_smoothing()
{
	port limit 100mb rate 1gbit stamp soze stamp-tau 20us
	exchange v=4 option=soze count=100
	# One step each 1488 ns, by that part of tau; whole ns, towards zero.
	same "values" "$(got .delays)" "$(jq -nc '[foreach range(100) as $i (0;
		. + (($i * 1488 - .) * 1488 / 20000 | floor); . / 16 | floor)]')"
	same "wrong" "$(got .wrong)" 0
}

test_stamp_holding()
{
	port limit 100mb rate 1gbit stamp soze stamp-hold 20us
	exchange v=4 option=soze count=100
	# A packet each 1488 ns: that of 0 us, and from then on each fourteenth is told.
	same "values" "$(got .delays)" "$(jq -nc '[range(100) | (. / 14 | floor) * 14 * 1488 / 16 | floor]')"
	same "wrong" "$(got .wrong)" 0
	# Rounded as well: a step of 32768 is left when the delay is half of one beyond.
	port limit 100mb rate 1gbit stamp soze stamp-hold 20us stamp-round 32768
	exchange v=4 option=soze count=100
	same "rounded, values" "$(got '.delays | unique')" "$(jq -nc '[0, (1, 2, 3 | . * 2048 + 1024)]')"
}

test_stamp_tcp_int()
{
	port limit 100mb rate 1gbit stamp tcp-int
	for v in 4 6; do
		bytes=$((v == 4 ? 1466 : 1486))
		# The first is sent at once; the last leaves nothing behind.
		want=$(jq -nc "[range(60) | . as \$i |
			[128 + (if \$i == 0 then 0 else (59 - \$i) * $bytes / 8192 | floor end), 61,
			 (\$i * ($bytes + 24) * 8 / 256 | floor)]]")
		exchange v=$v option=int payload=1400 count=60 ttl=61
		same "IPv$v queue, hop, latency" "$(got .tcp_int)" "$want"
		same "IPv$v wrong" "$(got .wrong)" 0
		# Another hop had 5 * 8 KiB: only a deeper queue takes its place.
		exchange v=$v option=int payload=1400 count=60 ttl=61 value=133 hop=64
		same "IPv$v after another hop" "$(got .tcp_int)" "$(echo "$want" |
			jq -c 'map(if .[0] > 133 then . else [133, 64, .[2]] end)')"
		same "IPv$v wrong" "$(got .wrong)" 0
	done
	exchange v=4 option=int count=10 gso=1000 payload=3000 partial=1
	same "GSO" "$(got '[.packets, .wrong]')" '[30,0]'
	exchange v=4 option=soze count=5
	expect "another option is not it" "$(stat .fabric.telemetry.no_option)" -eq 5
	empty
}

# The load that 10 frames of 1466 bytes at once meet at 1 Gbit/s, for a time of $1 ns, as the
# option's number; each but the first comes after $2 ns, in which the line was full.
loads()
{
	jq -nc "[range(10) | . as \$i | (if \$i == 0 then 0 else 1 end) + (9 - \$i) * 1466 * 8 / $1 |
		if . < 0.0625 then 0 else . as \$l | (. | log2 | floor) as \$e |
		(\$e + 4) * 128 + ((\$l / pow(2; \$e) - 1) * 128 | floor) end]"
}

# close WHAT WANTED: the loads found, but for one unit and those of the first frame
close()
{
	same "$1" "$(got "[.delays[1:], $2[1:]] | transpose | map((.[0] - .[1] | fabs) <= 1) | all")" true
}

test_stamp_load()
{
	port limit 100mb rate 1gbit stamp load
	for v in 4 6; do
		payload=$((v == 4 ? 1404 : 1384))
		exchange v=$v option=load payload=$payload count=10
		close "IPv$v loads" "$(loads 8192)"
		expect "IPv$v first" "$(got '.delays[0]')" -lt 1024
		same "IPv$v wrong" "$(got .wrong)" 0
		exchange v=$v option=load payload=$payload count=10 partial=1
		close "IPv$v loads, partial checksums" "$(loads 8192)"
		same "IPv$v partial, wrong" "$(got .wrong)" 0
	done
	# A load of another hop, and words that are not for switches, stay.
	exchange v=4 option=load payload=1404 count=10 value=1023
	same "larger ones stay" "$(got .same)" 10
	for type in 1 2 3; do
		exchange v=4 option=load payload=1404 count=10 value=$((type << 14))
		same "type $type stays" "$(got .same)" 10
	done
	# Over a longer time a burst is a smaller load; the time itself stays in the option.
	exchange v=4 option=load payload=1404 count=30 value=$((9 << 10))
	same "time of 4 ms" "$(got '.delays | map(. >= 9216 and . < 9216 + 64) | all')" true
	expect "not zero" "$(got '.delays | max')" -gt 9216
	exchange v=4 option=soze payload=1404 count=10
	same "the other option stays" "$(got .same)" 10
	empty
}

test_stamp_load_counts_all()
{
	# Packets without the option, and those of a child qdisc, are load too.
	# The first packet with a time knows nothing of what was before.
	port limit 100mb rate 1gbit stamp load
	exchange v=4 option=load payload=1404 count=1 value=$((15 << 10))
	exchange v=4 payload=1404 count=40000
	exchange v=4 option=load payload=1404 count=1 value=$((15 << 10))
	seen=$(got '.delays[0]')
	expect "40000 packets before" $((seen & 1023)) -gt 50
	tc -n fa qdisc add dev e0 parent 1:1 handle 2: pfifo limit 100000
	sleep 3
	exchange v=4 option=load payload=1404 count=1 value=$((15 << 10))
	exchange v=4 payload=1404 count=40000
	tc -n fa qdisc del dev e0 parent 1:1
	exchange v=4 option=load payload=1404 count=1 value=$((15 << 10))
	expect "through a child" $(($(got '.delays[0]') & 1023)) -gt 50
}

test_stamp_power()
{
	port limit 100mb rate 1gbit stamp power
	exchange v=4 option=load payload=1404 count=10
	# While the queue drains, the preambles of what leaves, which no queue counts, look
	# like arrivals: power falls, and is 0 with the last frames only.
	same "drained" "$(got '.delays[7:] | map(. < 64) | all')" true
	same "what comes at once" "$(got '.delays[1]')" 1023
	same "wrong" "$(got .wrong)" 0
}

test_ipv6_classification()
{
	port limit 10mb bands 4 default 4 dscp 46:1 10:2:yellow 12:2:red 0:3
	for dscp in 46 10 12 0 63; do
		for v in 4 6; do
			ip netns exec fa "$PACKET" send e0 v=$v dscp=$dscp count=10 >"$out"
			same "all sent" "$(cat "$out")" "sent 10 refused 0"
		done
		# The machine's own tag between Ethernet and IP hides nothing.
		ip netns exec fa "$PACKET" send e0 v=6 vlan=1 dscp=$dscp count=10 >"$out"
	done
	expect "DSCP 46" "$(cls 1 .packets)" -eq 30
	expect "yellow" "$(cls 2 .colours.yellow.packets)" -eq 30
	expect "red" "$(cls 2 .colours.red.packets)" -eq 30
	expect "DSCP 0" "$(cls 3 .packets)" -eq 30
	expect "not in the table" "$(cls 4 .packets)" -ge 30
}

# Counts of the parent $1 and of the fabric below it are the same, at any time.
same_counts()
{
	counts=$(tc -n fa -s -j qdisc show dev e0 | jq -c "
		(.[] | select(.kind == \"$1\") | [.qlen, .backlog]),
		(.[] | select(.kind == \"fabric\") | [.qlen, .backlog])" | sort -u)
	same "$1 and fabric below it ($2): lines" "$(echo "$counts" | wc -l)" 1
}

test_tcp_gso_split_under_a_parent()
{
	for parent in "tbf rate 100mbit burst 100000 limit 10000000" "ets bands 2 strict 2" drr; do
		kind=${parent%% *}
		for limit in 10mb 60000; do
			tc -n fa qdisc del dev e0 root 2>/dev/null
			# shellcheck disable=SC2086 # words
			tc -n fa qdisc add dev e0 root handle 9: $parent
			if [ "$kind" = drr ]; then
				tc -n fa class add dev e0 parent 9: classid 9:1 drr
				tc -n fa filter add dev e0 parent 9: protocol all prio 1 matchall classid 9:1
			fi
			# A line, so that packets wait; drops at the smaller limit.
			tc -n fa qdisc add dev e0 parent 9:1 handle 1: fabric limit $limit \
				rate 50mbit bands 2 dscp 46:1
			if [ "$kind" = ets ]; then
				tc -n fa filter add dev e0 parent 9: protocol all prio 1 matchall classid 9:1
			fi
			for v in 4 6; do
				ip netns exec fa "$PACKET" send e0 v=$v option=soze count=10 gso=1000 payload=9500 dscp=46 >"$out"
				same_counts "$kind" "after IPv$v"
				sleep 0.003
				same_counts "$kind" "later, IPv$v"
			done
			sleep 1
			same_counts "$kind" end
			done=$(tc -n fa -s -j qdisc show dev e0 | jq '.[] | select(.kind == "fabric") |
				[(.fabric.bands[0] | .packets + (.dropped | add)), .fabric.gso_split, .qlen, (.drops > 0)]' | jq -c .)
			same "$kind, limit $limit: parts, GSO packets, left" "$done" \
				"[200,20,0,$([ $limit = 60000 ] && echo true || echo false)]"
		done
	done
}
