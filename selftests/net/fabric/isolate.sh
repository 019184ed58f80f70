# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # lib.sh and fabric.sh set the others
# Isolation queues, sourced by fabric.sh: the other end of the link says by frames what
# is to wait. The state machine has its own tests (selftests/unit/qdisc).

PAUSE=1 RESUME=2

# A port of switch 1; packets to fb pass port 1 of switch 9 after it.
isolating()
{
	port limit 1mb switch 1 switch-port 0 frames both "$@" band 1 queue isolate
	ip netns exec fa fairlane fabric path switch 1 port 0 to 10.0.0.2 via 9:1 || fault "no path"
	seq=0
}

# frame TYPE SWITCH PORT [HOLD-NS [SEQUENCE]]: from the neighbour
frame()
{
	seq=$((seq + 1))
	ip netns exec fb "$SEND" frame e0 "$1" 77 "${5:-$seq}" "$2" "$3" 2 "${4:-50000000}" || fault "not sent"
	sleep 0.000001
}

sw() { ip netns exec fa fairlane -j fabric show | jq -r ".[0] | $1"; }

test_isolates_what_passes_a_root()
{
	isolating
	send 10 0:1000
	expect "nothing is congested: sent" "$(cls 1 .packets)" -ge 10
	frame $PAUSE 9 1
	before=$(cls 1 .packets)
	send 20 0:1000
	ip -n fa addr add 10.0.0.9/24 dev e0
	ip -n fa neigh replace 10.0.0.77 lladdr 02:00:00:00:00:77 dev e0
	ip netns exec fa "$SEND" udp 10.0.0.77 5 0:500
	expect "others pass" $(($(cls 1 .packets) - before)) -ge 5
	expect "parked" "$(cls 1 .backlog_packets)" -eq 20
	expect "counted" "$(stat .backlog)" -eq 20000
	expect "packets of the root" "$(sw '.roots[0].parked_packets')" -eq 20
	same "root" "$(sw '.roots[0] | [.root, .distance, .parking, .paused] | tojson')" '["9:1",2,[0],[0]]'
	ip netns exec fb "$SEND" record e0 >"$out" 2>/dev/null &
	sleep 0.0001
	frame $RESUME 9 1
	wait $!
	expect "then sent" "$(grep -c ' 1000$' "$out")" -eq 20
	expect "queues in use" "$(sw '.roots | length')" -eq 0
	empty
}

# A PAUSE that nobody repeats ends; one that is old, forged, cut off, or names this switch
# does nothing.
test_pause_ends_by_itself()
{
	isolating
	frame $PAUSE 9 1 200000
	send 5 0:1000
	expect "parked" "$(cls 1 .backlog_packets)" -eq 5
	sleep 0.001
	expect "sent after the time was over" "$(cls 1 .backlog_packets)" -eq 0
	expect "expired" "$(sw .expired)" -eq 1
	empty
}

test_frames_that_mean_nothing()
{
	isolating
	frame $RESUME 9 1
	frame $PAUSE 9 1 50000000 1
	frame $PAUSE 1 3
	frame $PAUSE 0 0
	frame 9 9 1
	ip netns exec fb "$SEND" frame e0 $PAUSE 77 1000 9 1 2 50000000 20
	send 5 0:1000
	expect "nothing is parked" "$(cls 1 .backlog_packets)" -eq 0
	expect "refused" "$(sw .refused)" -ge 3
	tc -n fa qdisc del dev e0 root
	isolating frames tell
	frame $PAUSE 9 1
	send 5 0:1000
	expect "a port that does not listen" "$(cls 1 .backlog_packets)" -eq 0
	tc -n fa qdisc del dev e0 root
	isolating frames none
	frame $PAUSE 9 1
	send 5 0:1000
	expect "a port of which nothing was said" "$(cls 1 .backlog_packets)" -eq 0
	empty
}

# Another qdisc of the same port takes its place, under traffic too, and is heard.
test_isolating_port_is_replaced()
{
	isolating
	frame $PAUSE 9 1
	send 20 0:1000
	expect "parked" "$(cls 1 .backlog_packets)" -eq 20
	for handle in 2 3; do
		tc -n fa qdisc replace dev e0 root handle $handle: fabric limit 1mb switch 1 switch-port 0 \
			frames both band 1 queue isolate || fault "not replaced"
		expect "what was parked is gone" "$(stat .backlog)" -eq 0
		frame $PAUSE 9 1
		send 7 0:1000
		expect "parked by the new one" "$(cls 1 .backlog_packets)" -eq 7
		expect "one switch" "$(ip netns exec fa fairlane -j fabric show | jq length)" -eq 1
	done
	# One that cannot be made leaves the old one as it was.
	tc -n fa qdisc replace dev e0 root handle 4: fabric limit 1mb switch 1 switch-port 0 \
		frames both band 1 queue isolate band 1 limit 1kb reserved 5mb 2>"$out" && fault "accepted"
	expect "still parked" "$(cls 1 .backlog_packets)" -eq 7
	frame $RESUME 9 1
	empty
}

# Parked packets stay while another band has the line, then take turns.
test_parked_packets_count()
{
	isolating bands 2 dscp 1:1 2:2
	frame $PAUSE 9 1
	tc -n fa class change dev e0 classid 1:1 fabric limit 10000
	send 20 4:1000
	expect "limit counts them" "$(cls 1 .backlog_packets)" -eq 10
	expect "dropped" "$(cls 1 .dropped.band)" -eq 10
	expect "most" "$(cls 1 .backlog_max_bytes)" -eq 10000
	frame $RESUME 9 1
	empty
	expect "all of them sent" "$(cls 1 .packets)" -eq 10
}

# Ports, devices and the module's state go with packets parked in them.
test_isolating_port_goes()
{
	for how in "tc -n fa qdisc del dev e0 root" "ip -n fa link set e0 down" \
		   "tc -n fa qdisc replace dev e0 root handle 2: pfifo" "ip -n fa link del e0"; do
		tc -n fa qdisc del dev e0 root 2>/dev/null
		ip -n fa link set e0 up
		ip -n fa neigh replace 10.0.0.2 dev e0 \
			lladdr "$(ip -n fb -j link show e0 | jq -r '.[0].address')"
		isolating
		frame $PAUSE 9 1
		send 20 0:1000
		expect "parked" "$(cls 1 .backlog_packets)" -eq 20
		$how || fault "$how"
		sleep 0.01
		[ "$how" = "ip -n fa link set e0 down" ] ||
			expect "no switch after $how" "$(ip netns exec fa fairlane -j fabric show)" = "[]"
	done
}

# One file has the paths of a whole network; a line that is none is named.
test_paths_from_a_file()
{
	port limit 1mb switch 1 switch-port 0 frames both band 1 queue isolate
	{
		echo "# all switches"
		for i in $(seq 2 9); do
			echo "switch 1 port 0 to 10.0.0.$i via 9:1"
			echo "switch 2 port 0 to 10.0.0.$i via 9:2"
		done
	} >"$out"
	same "loaded" "$(ip netns exec fa fairlane fabric load "$out")" \
		"8 paths set, 8 of switches elsewhere"
	expect "paths" "$(sw .paths)" -eq 8
	seq=0
	frame $PAUSE 9 1
	send 5 0:1000
	expect "parked" "$(cls 1 .backlog_packets)" -eq 5
	echo "switch 1 port 0 to 10.0.0.2 via 9:1 10:1" >>"$out"
	ip netns exec fa fairlane fabric load "$out" 2>"$out.err" && fault "accepted"
	grep -q ':18: switch N port P' "$out.err" || fault "$(cat "$out.err")"
	rm -f "$out.err"
	empty
}

# pfc CLASS QUANTA: from the neighbour of port e0
pfc() { ip netns exec fb "$SEND" pfc e0 "$1" "$2" || fault "not sent"; sleep 0.000001; }

# 1000 quanta of 512 bit are 51.2 us at 10 Gbit/s.
test_pfc_pauses_the_band()
{
	port limit 1mb bands 2 switch 1 switch-port 0 frames both speed 10gbit \
		dscp 1:1 2:2 band 2 queue pfc
	pfc 1 1000
	send 20 4:1000 8:1000
	expect "the other band is sent" "$(cls 1 .backlog_packets)" -eq 0
	expect "this one waits" "$(cls 2 .backlog_packets)" -eq 20
	sleep 0.00004
	expect "as long as it was told" "$(cls 2 .backlog_packets)" -eq 20
	sleep 0.00002
	expect "and no longer" "$(cls 2 .backlog_packets)" -eq 0
	pfc 1 60000
	pfc 0 60000
	send 20 4:1000 8:1000
	expect "another class" "$(cls 1 .backlog_packets)" -eq 0
	expect "this one waits again" "$(cls 2 .backlog_packets)" -eq 20
	pfc 1 0
	sleep 0.000001
	expect "until it may go on" "$(cls 2 .backlog_packets)" -eq 0
	expect "obeyed" "$(sw .pfc_heard)" -eq 3
	empty
}

# Packets that come in by e1 and wait at e0 pause the neighbour at e1, until they have gone.
test_pfc_pauses_who_fills_it()
{
	port limit 100kb switch 1 switch-port 0 frames both speed 10gbit band 1 queue pfc
	tc -n fa qdisc replace dev e1 root handle 1: fabric limit 100kb switch 1 switch-port 1 \
		frames both speed 10gbit band 1 queue pfc
	ip netns exec fa sysctl -q -w net.ipv4.ip_forward=1
	ip -n fa neigh replace 10.0.0.77 lladdr 02:00:00:00:00:77 dev e0
	ip -n fb addr del 10.0.0.2/24 dev e0
	ip -n fb route replace 10.0.0.0/24 via 10.0.1.1 dev e1
	ip -n fb neigh replace 10.0.1.1 dev e1 \
		lladdr "$(ip -n fa -j link show e1 | jq -r '.[0].address')"
	ip -n fb addr add 10.0.1.2/24 dev e1 2>/dev/null
	pfc 0 60000
	ip netns exec fb "$SEND" udp 10.0.0.77 10 0:1000
	expect "wait" "$(cls 1 .backlog_packets)" -eq 10
	expect "an eighth is not there yet" "$(sw .pfc_pause_sent)" -eq 0
	ip netns exec fb "$SEND" udp 10.0.0.77 3 0:1000
	sleep 0.000001
	expect "paused" "$(sw .pfc_pause_sent)" -ge 1
	expect "not resumed" "$(sw .pfc_resume_sent)" -eq 0
	paused=$(sw .pfc_pause_sent)
	sleep 0.0001
	expect "repeated" "$(sw .pfc_pause_sent)" -gt "$paused"
	expect "goes out" "$(ip netns exec fa tc -s -j qdisc show dev e1 | jq '.[0].packets')" -gt 1
	pfc 0 0
	sleep 0.0001
	expect "resumed" "$(sw .pfc_resume_sent)" -eq 1
	paused=$(sw .pfc_pause_sent)
	sleep 0.001
	expect "no more pauses" "$(sw .pfc_pause_sent)" -eq "$paused"
	# What is thrown away is no longer counted either.
	pfc 0 60000
	ip netns exec fb "$SEND" udp 10.0.0.77 20 0:1000
	sleep 0.0001
	expect "paused anew" "$(sw .pfc_pause_sent)" -gt "$paused"
	ip -n fa link set e0 down
	sleep 0.0001
	expect "resumed, the packets are gone" "$(sw .pfc_resume_sent)" -eq 2
}

test_isolation_refusals()
{
	# refused TEXT WORDS...: tc's answer
	refused()
	{
		text=$1
		shift
		tc -n fa qdisc add dev e0 root handle 1: fabric "$@" 2>"$out" && fault "accepted: $*"
		grep -qF "$text" "$out" || fault "$*: $(cat "$out")"
	}
	refused "need a switch" band 1 queue isolate
	refused "need a switch" band 1 queue pfc
	refused "pfc has 8 classes" bands 9 switch 1 band 9 queue pfc
	refused "one band of a port can isolate" bands 2 switch 1 band 1 queue isolate band 2 queue isolate
	refused "a port of a switch is no line" rate 1gbit switch 1 band 1 queue isolate
	isolating
	tc -n fa qdisc add dev e1 root handle 1: fabric switch 1 switch-port 0 band 1 queue isolate 2>"$out"
	grep -qF "the switch has a port of this number already" "$out" || fault "$(cat "$out")"
	tc -n fa qdisc change dev e0 root handle 1: fabric switch-port 4 2>"$out"
	grep -qF "chosen when the port is made" "$out" || fault "$(cat "$out")"
	tc -n fa qdisc del dev e0 root
	port limit 1mb bands 2 switch 1 switch-port 0 band 2 queue isolate
	tc -n fa class del dev e0 classid 1:2 2>"$out"
	grep -qF "stays as long as the port" "$out" || fault "$(cat "$out")"
	for via in 9:1,9:1 0:1; do
		ip netns exec fa fairlane fabric path switch 1 port 0 to 10.0.0.2 via $via 2>"$out" &&
			fault "accepted: $via"
	done
	tc -n fa qdisc del dev e0 root
	isolating
	tc -n fa qdisc add dev e0 parent 1:1 pfifo 2>"$out"
	grep -qF "no qdisc of its own" "$out" || fault "$(cat "$out")"
	port limit 2mb
	ip netns exec fa "$FUZZ" replay e0 >"$out" || fault "$(cat "$out")"
	send 5 0:1000
	empty
}
