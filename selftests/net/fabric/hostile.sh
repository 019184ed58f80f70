# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # lib.sh and fabric.sh set the others
# Bad input, sourced by fabric.sh: packets that lie, settings that make no sense,
# devices that change and go. Each time there is a clear error, or the packet passes
# as it is and is counted; and the port works afterwards.

# A port with everything on.
everything()
{
	tc -n fa qdisc del dev e0 root 2>/dev/null
	port limit 1mb rate "${1:-10gbit}" delay 1us bands 4 default 3 \
		dscp 0-15:1 16-31:2:yellow 32-47:3:red 48-63:4 ecn 30000 \
		buffer sw 2mb stamp soze "${2:-split-gso}" \
		band 1 weight 1 green 500kb band 2 weight 2 yellow 400kb reserved 1000 \
		band 3 weight 3 red 300kb alpha 2 band 4 strict rate 5gbit burst 3000 ecn-delay 1ms drop
}

# Right packets pass as ever.
works()
{
	exchange v=4 option=soze count=5
	same "after $1: packets, wrong" "$(got '[.packets, .wrong]')" '[5,0]'
}

test_bad_headers_pass_untouched()
{
	everything
	# All in one queue, so that they stay in order.
	port default 1
	for v in 4 6; do
		kinds=$("$PACKET" kinds $v)
		count=$((5 * $(echo "$kinds" | wc -l)))
		before=$(stat '.fabric | tojson')
		exchange v=$v option=soze "count=$count" bad=all
		now=$(stat '.fabric | tojson')
		same "IPv$v: passed, the same" "$(got '[.packets, .same]')" "[$count,$count]"
		for counter in malformed no_option not_tcp; do
			expect "IPv$v: counted as $counter" \
				"$(jq -nc "[$before, $now] | map(.telemetry.$counter) | .[1] - .[0]")" \
				-ge $((5 * $(echo "$kinds" | grep -c ":$counter")))
		done
		same "IPv$v: neither stamped nor dropped" "$(jq -nc "[$before, $now] |
			map([.telemetry.stamped, (.dropped | add)]) | .[0] == .[1]")" true
	done
	works "bad headers"
	empty
}

# A border router parses more, twice: all pass, and right data waits in its queue and arrives.
test_bad_headers_pass_a_border()
{
	for role in "role wan" "role lan"; do
		tc -n fa qdisc del dev e0 root 2>/dev/null
		# shellcheck disable=SC2086 # words
		port limit 1mb stamp load $role
		for v in 4 6; do
			count=$((5 * $("$PACKET" kinds $v | wc -l)))
			exchange v=$v option=load "count=$count" bad=all
			same "$role, IPv$v: passed, wrong" "$(got '[.packets, .wrong]')" "[$count,0]"
		done
		exchange v=4 option=load count=20
		same "$role: right ones, wrong ones" "$(got '[.packets, .wrong]')" '[20,0]'
		empty
	done
	expect "right ones waited" "$(stat .fabric.border.queued)" -ge 20
}

# The kernel refuses some as senseless. What it lets in is segmented (or dropped
# and counted, if it cannot be), or, unsplit, passes.
test_bad_gso_packets()
{
	for split in split-gso no-split-gso; do
		everything 10gbit $split
		for v in 4 6; do
			before=$(stat '.fabric | tojson')
			ip netns exec fa "$PACKET" send e0 v=$v option=soze gso=1000 payload=4000 count=200 bad=all >"$out"
			read -r _ sent _ refused <"$out"
			sleep 0.01
			result=$(jq -nc "[$before, $(stat '.fabric | tojson')] |
				map([.gso_split, .dropped.segment, .packets]) |
				[.[1][0] - .[0][0], .[1][1] - .[0][1], .[1][2] - .[0][2]]")
			echo "# $split, IPv$v: sent $sent, refused $refused; split, dropped, packets: $result"
			expect "sent" "$sent" -gt 50
			same "all accounted for" "$(echo "$result" |
				jq "if \"$split\" == \"split-gso\" then .[2] >= 4 * .[0] and .[0] > 0
				else .[0] == 0 and .[2] >= $sent end")" true
		done
		works "$split"
		empty
	done
}

test_mtu_changes_under_load()
{
	everything 100mbit
	ip netns exec fa "$PACKET" send e0 v=4 option=soze payload=1300 count=400 gap=100 >"$out.1" &
	one=$!
	ip netns exec fa "$PACKET" send e0 v=6 option=soze dscp=20 gso=1000 payload=5000 count=100 gap=400 >"$out.2" &
	for mtu in 68 600 9000 1280 65535 1500 576 1500; do
		sleep 0.005
		ip -n fa link set e0 mtu $mtu || fault "no MTU of $mtu"
		ip -n fb link set e0 mtu $mtu || fault "no MTU of $mtu"
	done
	wait $one
	wait $!
	read -r _ sent _ refused <"$out.1"
	expect "frames beyond the MTU are refused before" "$refused" -gt 0
	expect "and others sent" "$sent" -gt 100
	rm -f "$out.1" "$out.2"
	sleep 0.5
	works "MTU changes"
	empty
}

# A bridge in fa: what comes in by e2 goes to e0, where the port under test marks it,
# and, flooded, to e1.
bridge()
{
	ip -n fa link add br0 type bridge
	ip link add e2 netns fa type veth peer name e2 netns fb
	ip -n fb link set e2 up
	for dev in e0 e1 e2; do
		ip -n fa addr flush dev $dev
		ip -n fa link set $dev up master br0 || fault "no bridge"
	done
	ip -n fa link set br0 up
	sleep 0.1
}

# forwarded DEV KEY=VALUE...: frames from e2 through the bridge; what DEV of fb sees
forwarded()
{
	dev=$1
	shift
	ip netns exec fb "$PACKET" receive "$dev" "$@" >"$out" 2>"$out.ready" &
	until grep -q ready "$out.ready"; do sleep 0.001; done
	ip netns exec fb "$PACKET" send e2 "$@" >"$out.sent" || fault "not sent"
	wait $!
	got=$(cat "$out")
	rm -f "$out.ready"
}

test_marks_one_of_flooded_frames()
{
	bridge
	port limit 1mb rate 100mbit ecn 1
	for v in 4 6; do
		forwarded e1 v=$v ecn=2 count=20
		same "IPv$v: the others' frames, the same" "$(got '[.packets, .same]')" '[20,20]'
		forwarded e0 v=$v ecn=2 count=20
		same "IPv$v: marked but the first two" "$(got '[.packets, .same]')" '[20,2]'
		same "IPv$v: wrong checksums" "$(got .wrong)" 0
	done
	empty
}

# Marks, and classifies by DSCP, behind tags as without.
test_marks_behind_tags()
{
	bridge
	port limit 1mb rate 100mbit ecn 1 bands 2 dscp 46:1
	for tags in 0 1 2; do
		for v in 4 6; do
			before=$(stat .fabric.marks) one=$(cls 1 .packets)
			forwarded e0 v=$v ecn=1 dscp=46 vlan=$tags count=20
			same "IPv$v, $tags tags: all but the first two are different" \
				"$(got '[.packets, .same, .wrong]')" '[20,2,0]'
			expect "IPv$v, $tags tags: marks" $(($(stat .fabric.marks) - before)) -eq 18
			expect "IPv$v, $tags tags: by DSCP" $(($(cls 1 .packets) - one)) -eq 20
			forwarded e0 v=$v dscp=46 vlan=$tags count=20
			same "IPv$v, $tags tags: not ECN-capable" "$(got '[.packets, .same]')" '[20,20]'
		done
	done
	empty
}

test_devices_go_under_load()
{
	for i in 1 2 3 4 5 6; do
		everything 10mbit
		tc -n fa qdisc add dev e1 root handle 1: fabric rate 10mbit buffer sw
		tc -n fa qdisc add dev e0 parent 1:2 handle 20: pfifo
		ip netns exec fa "$PACKET" send e0 option=soze payload=1000 count=100 gap=200 >"$out.1" 2>&1 &
		ip netns exec fa "$PACKET" send e0 v=6 dscp=40 option=soze gso=1000 payload=5000 count=20 gap=1000 >"$out.2" 2>&1 &
		ip netns exec fa "$SEND" udp 10.0.1.2 50 0:1000 16:1000
		sleep 0.005
		expect "something waits" "$(stat .qlen)" -gt 0
		expect "in the buffer, too" "$(stat .fabric.buffer_used_bytes)" -gt 0
		case $i in
		[14]) ip -n fa link del e0 ;;
		[25]) ip -n fb link del e0 ;;
		3) ip -n fa link set e0 down && ip -n fa link del e0 ;;
		6) ip netns del fa ;;
		esac || fault "device $i does not go"
		wait
		if [ "$i" -ne 6 ]; then
			tc -n fa -s -j qdisc show dev e1 >"$out"
			near "the buffer has what e1 holds" \
				"$(jq '.[0].fabric.buffer_used_bytes' "$out")" \
				"$(jq '.[0].fabric.backlog_bytes' "$out")" 0
		fi
		net || fault "no network"
	done
	rm -f "$out.1" "$out.2"
	everything
	works "devices went"
}

test_netlink_refusals()
{
	ip netns exec fa "$FUZZ" refusals e0 >"$out" || fault "ended badly"
	grep '#' "$out"
}

# A family that is new refuses what its header may say only later.
test_netlink_headers()
{
	ip netns exec fa "$FUZZ" generic e0 >"$out" || fault "no answer"
	same "errors" "$(paste -s -d ';' "$out")" 'error 22;error 22;error 0'
}

test_netlink_random_settings()
{
	for seed in ${SEEDS:-1 2 3}; do
		ip netns exec fa "$FUZZ" random e0 "$seed" "${MESSAGES:-2000}" >"$out" || fault "ended badly"
		grep '#' "$out" && fault "seed $seed"
		read -r _ accepted _ refused _ <"$out"
		echo "# seed $seed: $(tail -n 1 "$out")"
		expect "accepted" "$accepted" -gt $((${MESSAGES:-2000} / 8))
		expect "refused" "$refused" -gt $((${MESSAGES:-2000} / 8))
	done
	everything
	works "random settings"
	sleep 20
	empty
}

# The whole life of a port. The last line says how often.
test_life_cycles()
{
	ip netns exec fa "$HELPERS/fabric_cycles" e0 "${CYCLES:-300}" >"$out" || fault "ended badly"
	sed 's/^\([^#]\)/# \1/' "$out"
	expect "frames" "$(sed -n 's/.* frames \([0-9]*\) .*/\1/p' "$out")" -gt $((${CYCLES:-300} * 3))
	everything
	works "cycles"
	empty
}

# Counters of bands that a message has no room for are said to be missing.
test_bands_are_told_or_said_to_be_missing()
{
	for bands in 1 16; do
		tc -n fa qdisc del dev e0 root 2>/dev/null
		words=''
		for i in $(seq 1 "$bands"); do
			words="$words $i:$i $((i + 16)):$i:yellow $((i + 32)):$i:red"
		done
		# shellcheck disable=SC2086 # words
		port limit 1mb rate 10mbit bands "$bands" dscp $words
		for i in $(seq 1 "$bands"); do
			band "$i" weight 1 red 1500 yellow 1500 limit 4000 rate 10mbit
			send 3 $((i * 4)):1000 $((i * 4 + 64)):1000 $((i * 4 + 128)):1000
		done
		for bytes in 3000 4096 13000 20000 32768; do
			ip netns exec fa "$FUZZ" dump e0 $bytes >"$out" || fault "buffer of $bytes: no answer"
			echo "# $bands bands, buffer of $bytes: $(paste -s -d ';' "$out")"
			expect "$bands bands, buffer of $bytes: told or missing" \
				"$(grep -cx -e "bands $bands omitted 0" -e 'bands 0 omitted 1' "$out")" -eq 2
		done
		expect "in a large buffer: told" "$(grep -c "bands $bands" "$out")" -ge 1
	done
}

# full WORDS...: a port that has much to tell, of all of its 16 bands and colours
full()
{
	tc -n fa qdisc del dev e0 root 2>/dev/null
	words=''
	for i in $(seq 1 16); do
		words="$words $i:$i $((i + 16)):$i:yellow $((i + 32)):$i:red"
	done
	# shellcheck disable=SC2086 # words
	port limit 90000 ecn 30000 bands 16 default 3 priomap 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 \
		dscp $words buffer averylongname01 2mb "$@"
	for i in $(seq 1 16); do
		band "$i" weight 1 red 1500 yellow 1500 green 2500 limit 4000 packets 5 rate 10mbit burst 3000 \
			each 86 ecn-delay 1ms 2ms prob 0.5 drop reserved 10 alpha 2
		send 9 $((i * 4)):1000 $((i * 4 + 64)):1000 $((i * 4 + 128)):1000
	done
}

# A port whose counters leave no room in a message for what the kernel writes behind them would be
# lost to who asks, and so would all devices behind it.
test_full_ports_are_told()
{
	for kind in "rate 100mbit stamp tcp-int" "rate 100mbit stamp load role wan band 1 queue hash 32" \
		    "stamp load role wan switch 77 switch-port 3 speed 10gbit frames both band 1 queue hash 32"; do
		# shellcheck disable=SC2086 # words
		full $kind
		# shellcheck disable=SC2016 # for the shell in there
		ip netns exec fa sh -c 'for bytes in $(seq 4096 64 14336); do
				"$0" dump e0 "$bytes" || echo "no answer"
				echo "buffer $bytes"
			done' "$FUZZ" >"$out"
		wrong=$(awk '/^buffer/ { n++; if (told != 2 || other) print $2 ":" said; told = other = 0; said = ""; next }
			{ said = said " " $0 ";" }
			/^(bands 16 omitted 0|bands 0 omitted 1)$/ { told++; next }
			/^no answer/ { other++ }
			END { if (n != 161) print n + 0 " buffers" }' "$out")
		[ -z "$wrong" ] || fault "$kind, buffer of $wrong"
		expect "$kind: bands" "$(tail -n 3 "$out" | grep -cx 'bands 16 omitted 0')" -ge 1
		ip netns exec fa "$FUZZ" dump e1 4096 >"$out" || fault "$kind, e1: no answer"
		expect "$kind: the device behind it" "$(grep -c bands "$out")" -eq 2
	done
}

# One message with what the kernel tells of a port makes it again.
test_settings_make_the_same_port()
{
	everything
	ip netns exec fa "$FUZZ" replay e0 >"$out" || fault "$(cat "$out")"
	expect "band 2" "$(tc -n fa class show dev e0 classid 1:2 | grep -c 'weight 2 .*yellow 400Kb reserved 1000b')" -eq 1
	works "that"
	port limit 1mb
	ip netns exec fa "$FUZZ" replay e0 >"$out" || fault "$(cat "$out")"
}
