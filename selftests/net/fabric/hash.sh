# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # lib.sh and fabric.sh set the others
# Queues of flows that neighbours hold back, sourced by fabric.sh. Their rules have their own
# tests (selftests/unit/qdisc/test_bfc.c). sw() is isolate.sh's.

ALL=ffffffffffffffff

# queues COUNT WORD...: a port of switch 1; e1 is another, by which packets may come.
queues()
{
	tc -n fa qdisc del dev e0 root 2>/dev/null
	count=$1
	shift
	port limit 1mb switch 1 switch-port 0 frames both speed 10gbit "$@" band 1 queue hash "$count"
	seq=0
}

hashing() { queues 16 "$@"; }

# flows FIRST[-LAST] WAIT [HOLD-NS [SEQUENCE]]: from the neighbour at e0
flows()
{
	seq=$((seq + 64))
	ip netns exec fb "$SEND" flows e0 77 "${4:-$seq}" "$1" "$2" "${3:-50000000}" || fault "not sent"
	sleep 0.000002
}

hash() { stat ".fabric.hash.$1"; }

# Two flows share the line by bytes, whoever came first; each stays in order.
test_hash_shares_the_line()
{
	port limit 10mb rate 100mbit band 1 queue hash 128
	ip netns exec fb "$SEND" record e0 >"$out" 2>/dev/null &
	sleep 0.001
	send 100 4:1000 4:900 4:800
	send 100 8:500 8:600
	expect "two queues" "$(hash used)" -eq 2
	empty
	wait $!
	expect "all of them came" "$(wc -l <"$out")" -eq 500
	# of the first 150 kB the same by both
	part=$(awk '{ sum += $4; if ($2 == 1 && sum > 20000) one += $4 } sum > 120000 { exit } END { print one }' "$out")
	near "shares of the line" "$part" 50000 60
	same "order of the first" "$(awk '$2 == 1 { print $4 }' "$out" | paste -sd ' ' | sed 's/1000 900 800 \?//g')" ""
	same "order of the second" "$(awk '$2 == 2 { print $4 }' "$out" | paste -sd ' ' | sed 's/500 600 \?//g')" ""
	expect "queues left" "$(hash used)" -eq 0
	expect "most at a time" "$(hash used_max)" -eq 2
}

# Limits, marks and drops are those of any band: what waits for a neighbour counts for limits, not
# for marking.
test_hash_is_a_band()
{
	hashing bands 2 dscp 1:1 2:2
	tc -n fa class change dev e0 classid 1:1 fabric limit 10000 ecn 3000 || fault "not changed"
	flows 0-63 $ALL
	send 20 5:1000
	expect "limit" "$(cls 1 .backlog_packets)" -eq 10
	expect "dropped" "$(cls 1 .dropped.band)" -eq 10
	expect "most" "$(cls 1 .backlog_max_bytes)" -eq 10000
	expect "not marked" "$(cls 1 .marks)" -eq 0
	expect "held" "$(hash held_bytes)" -eq 10000
	send 5 8:1000
	expect "the other band is sent" "$(cls 2 .backlog_packets)" -eq 0
	flows 0-63 0
	empty
	expect "sent" "$(cls 1 .packets)" -eq 10
	tc -n fa qdisc del dev e0 root
	port limit 1mb rate 100mbit ecn 3000 band 1 queue hash
	send 20 1:1000
	# one is on the line; of the others three find no more than that
	expect "marked" "$(cls 1 .marks)" -eq 15
	empty
}

test_hash_waits_for_the_neighbour()
{
	hashing
	send 10 0:1000
	expect "nobody waits: sent" "$(cls 1 .packets)" -ge 10
	flows 0-63 $ALL
	expect "flows" "$(hash holds)" -eq 4096
	expect "without packets no queue is held" "$(hash held)" -eq 0
	send 20 0:1000
	expect "held" "$(cls 1 .backlog_packets)" -eq 20
	expect "counted" "$(stat .backlog)" -eq 20000
	expect "one queue" "$(hash held)" -eq 1
	ip netns exec fb "$SEND" record e0 >"$out" 2>/dev/null &
	sleep 0.0001
	flows 0-63 0
	wait $!
	expect "then sent" "$(grep -c ' 1000$' "$out")" -eq 20
	expect "obeyed" "$(sw .hash_frames_heard)" -eq 128
	expect "time" "$(hash held_ns)" -ge 100000
	expect "the same by the switch" "$(sw .hash_held_ns)" -eq "$(hash held_ns)"
	# Half of the flows wait, others pass. Of 16 queues most have one of the waiting at their head.
	queues 128
	flows 0-31 $ALL
	for bytes in $(seq 1001 1040); do
		send 1 0:"$bytes"
	done
	waiting=$(cls 1 .backlog_packets)
	expect "some wait" "$waiting" -ge 8
	expect "some do not" "$waiting" -le 32
	flows 0-63 0
	empty
}

# What nobody repeats ends; frames that are old, cut off, impossible or not allowed do nothing.
test_hash_frames_that_mean_nothing()
{
	hashing
	flows 0-63 $ALL 200000
	send 5 0:1000
	expect "held" "$(cls 1 .backlog_packets)" -eq 5
	sleep 0.001
	expect "sent after the time was over" "$(cls 1 .backlog_packets)" -eq 0
	expect "expired" "$(sw .hash_expired)" -eq 64
	expect "by the port" "$(hash expired)" -eq 64
	refused=$(sw .refused)
	flows 0-63 $ALL 50000000 1
	expect "old" "$(sw .refused)" -eq $((refused + 64))
	flows 64 $ALL
	flows 65535 $ALL
	ip netns exec fb "$SEND" flows e0 77 1000000 0 $ALL 50000000 30
	expect "nothing of it was heard" "$(hash holds)" -eq 0
	# A pause of Pyrrha's is for others.
	ip netns exec fb "$SEND" frame e0 1 77 2000000 9 1 2 50000000
	expect "no root" "$(sw '.roots | length')" -eq 0
	for frames in tell none; do
		hashing frames $frames
		flows 0-63 $ALL
		expect "a port of frames $frames" "$(hash holds)" -eq 0
	done
	tc -n fa qdisc del dev e0 root
	isolating
	seq=0
	flows 0-63 $ALL
	expect "a port that isolates" "$(sw .refused)" -ge 64
	send 5 0:1000
	empty
}

# Packets that come in by e1 and wait at e0 hold back their flow at the neighbour at e1, until they
# have gone, by whatever way.
test_hash_holds_back_who_fills_it()
{
	hashing
	tc -n fa qdisc replace dev e1 root handle 1: fabric limit 100kb switch 1 switch-port 1 \
		frames both speed 10gbit band 1 queue hash 16
	ip netns exec fa sysctl -q -w net.ipv4.ip_forward=1
	ip -n fa neigh replace 10.0.0.77 lladdr 02:00:00:00:00:77 dev e0
	ip -n fb addr del 10.0.0.2/24 dev e0
	ip -n fb route replace 10.0.0.0/24 via 10.0.1.1 dev e1
	ip -n fb neigh replace 10.0.1.1 dev e1 \
		lladdr "$(ip -n fa -j link show e1 | jq -r '.[0].address')"
	ip -n fb addr add 10.0.1.2/24 dev e1 2>/dev/null
	flows 0-63 $ALL 500000000
	# a hop's BDP is 8652 bytes: two links of 1 us, four packets of 1538
	ip netns exec fb "$SEND" udp 10.0.0.77 8 0:1000
	expect "wait" "$(cls 1 .backlog_packets)" -eq 8
	expect "not too much" "$(sw .hash_paused)" -eq 0
	ip netns exec fb "$SEND" udp 10.0.0.77 20 0:1000
	sleep 0.000001
	expect "a flow is held back" "$(sw .hash_paused)" -eq 1
	expect "told" "$(sw .hash_frames_sent)" -ge 1
	expect "too many" "$(hash over)" -ge 11
	sent=$(sw .hash_frames_sent)
	sleep 0.001
	expect "repeated" "$(sw .hash_frames_sent)" -gt $((sent + 10))
	flows 0-63 0
	sleep 0.0001
	expect "goes on" "$(sw .hash_resumed)" -eq 1
	sent=$(sw .hash_frames_sent)
	sleep 0.001
	expect "nothing more to say" "$(sw .hash_frames_sent)" -eq "$sent"
	for how in "ip -n fa link set e0 down" "tc -n fa qdisc del dev e0 root"; do
		ip -n fa link set e0 up
		ip -n fa neigh replace 10.0.0.77 lladdr 02:00:00:00:00:77 dev e0
		resumed=$(sw .hash_resumed)
		hashing
		flows 0-63 $ALL
		ip netns exec fb "$SEND" udp 10.0.0.77 20 0:1000
		sleep 0.0001
		$how
		sleep 0.0001
		expect "goes on after $how" "$(sw .hash_resumed)" -eq $((resumed + 1))
	done
}

# Another qdisc of the same port takes its place, under traffic too, and is heard; ports and devices
# go with what waits in them.
test_hash_port_is_replaced_and_goes()
{
	hashing
	flows 0-63 $ALL
	send 20 0:1000
	for handle in 2 3; do
		tc -n fa qdisc replace dev e0 root handle $handle: fabric limit 1mb switch 1 switch-port 0 \
			frames both band 1 queue hash $handle || fault "not replaced"
		expect "what waited is gone" "$(stat .backlog)" -eq 0
		flows 0-63 $ALL
		send 7 0:1000
		expect "held by the new one" "$(cls 1 .backlog_packets)" -eq 7
	done
	port_goes hashing "flows 0-63 $ALL"
}

# Settings change under traffic without a loss; what cannot change is refused.
test_hash_changes_under_traffic()
{
	port limit 10mb rate 100mbit bands 2 dscp 1:1 2:2 band 1 queue hash 64
	send 200 4:1000 8:1000
	tc -n fa qdisc change dev e0 root handle 1: fabric rate 200mbit band 1 ecn 50kb weight 3 ||
		fault "not changed"
	tc -n fa class change dev e0 classid 1:1 fabric queue hash 64 limit 2mb || fault "not changed"
	tc -n fa class change dev e0 classid 1:1 fabric queue hash 63 2>"$out" && fault "accepted"
	grep -qF "chosen when the port is made" "$out" || fault "$(cat "$out")"
	tc -n fa qdisc change dev e0 root handle 1: fabric band 1 queue fifo 2>"$out" && fault "accepted"
	grep -qF "chosen when the port is made" "$out" || fault "$(cat "$out")"
	tc -n fa qdisc add dev e0 parent 1:1 handle 5: pfifo 2>"$out" && fault "accepted"
	grep -qF "has no qdisc of its own" "$out" || fault "$(cat "$out")"
	empty
	expect "all were sent" "$(cls 1 .packets)" -eq 200
	expect "and of the other band" "$(cls 2 .packets)" -ge 200
	expect "nothing was dropped" "$(stat .drops)" -eq 0
}
