# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # lib.sh and fabric.sh set the others
# Isolation queues, sourced by fabric.sh: the other end of the link says by frames what
# is to wait. The state machine has its own tests (selftests/unit/qdisc).

PAUSE=1 RESUME=2

# A port of switch 1; packets to fb pass port 1 of switch 8 and port 1 of switch 9 after it, others
# port 1 of switch 7.
isolating()
{
	port limit 1mb switch 1 switch-port 0 frames both "$@" band 1 queue isolate
	load "# a network" "port 1:0 to 8" "port 8:1 to 9" "port 8:2 to 7" \
		"route 1 port 0 to 10.0.0.2 10.0.0.7" "route 8 port 1 to 10.0.0.2" \
		"route 8 port 2 to 10.0.0.7" "route 9 port 1 to 10.0.0.2" \
		"route 7 port 1 to 10.0.0.7" || fault "not loaded: $(cat "$out")"
	seq=0
}

# load LINES...: a file of routes
load() { printf '%s\n' "$@" | ip netns exec fa fairlane fabric load - >"$out" 2>&1; }

# A file of routes is refused, with that text.
load_refused()
{
	text=$1
	shift
	load "$@" && fault "accepted: $*"
	grep -qF "$text" "$out" || fault "$*: $(cat "$out")"
}

# frame TYPE SWITCH PORT [HOLD-NS [SEQUENCE [DISTANCE]]]: from the neighbour
frame()
{
	seq=$((seq + 1))
	ip netns exec fb "$SEND" frame e0 "$1" 77 "${5:-$seq}" "$2" "$3" "${6:-2}" "${4:-50000000}" || fault "not sent"
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

# A slow port makes the switch's time slow while it is there, and not for ever.
test_slow_port_goes()
{
	isolating
	tc -n fa qdisc add dev e1 root handle 1: fabric switch 1 switch-port 1 hop-rtt 1ms band 1 queue isolate ||
		fault "no slow port"
	tc -n fa qdisc del dev e1 root
	frame $PAUSE 9 1 200000
	send 5 0:1000
	expect "parked" "$(cls 1 .backlog_packets)" -eq 5
	sleep 0.001
	expect "sent after the time was over" "$(cls 1 .backlog_packets)" -eq 0
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

# Of those that only go from one root's queue to the next one's 64 do so at a time. The rest go
# on at once, though another band waits for its rate.
test_parked_packets_move_beside_a_slow_band()
{
	isolating bands 2 dscp 1:1 2:2
	band 2 rate 8kbit burst 0
	frame $PAUSE 8 1 5000000000 1 1
	frame $PAUSE 9 1 5000000000
	send 200 4:1000
	expect "parked" "$(cls 1 .backlog_packets)" -eq 200
	send 3 8:1000
	sleep 0.002
	expect "the other band waits" "$(cls 2 .backlog_packets)" -eq 2
	frame $RESUME 8 1 0 3 1
	sleep 0.0001
	same "all wait for the root behind" "$(sw '.roots | map([.root, .parked_packets]) | tojson')" '[["9:1",200]]'
	frame $RESUME 9 1 0 4
	sleep 0.001
	expect "all sent" "$(cls 1 .packets)" -ge 200
}

# A port whose packets are all parked is busy, whatever becomes of its other bands.
test_parked_packets_keep_the_port_busy()
{
	isolating bands 2 dscp 1:1 2:2
	frame $PAUSE 9 1
	send 20 4:1000
	expect "parked" "$(cls 1 .backlog_packets)" -eq 20
	tc -n fa qdisc add dev e0 parent 1:2 handle 20: pfifo || fault "no qdisc of its own"
	busy=$(stat .fabric.busy_ns)
	sleep 0.001
	expect "busy" $(($(stat .fabric.busy_ns) - busy)) -ge 1000000
	frame $RESUME 9 1
	empty
	busy=$(stat .fabric.busy_ns)
	sleep 0.001
	expect "idle" $(($(stat .fabric.busy_ns) - busy)) -eq 0
}

# Ports, devices and the module's state go with packets parked in them.
test_isolating_port_goes()
{
	port_goes isolating "frame $PAUSE 9 1"
}

# One file has the routes of a whole network; a line that is none is named.
test_routes_from_a_file()
{
	isolating
	same "loaded" "$(cat "$out")" "4 switches, 2 prefixes, told to 1 switch of this namespace"
	expect "paths" "$(sw .paths)" -eq 2
	load_refused ":2: switch N [policy P]" "" "route 1 ports 0 to 10.0.0.2"
	load_refused ":1: switch, port or route" "path 1"
	load_refused ":1: a number" "port 1:0 to x"
	load_refused ":1: a number" "route 1 port 0*257 to 10.0.0.2"
	load_refused ":1: a prefix" "route 1 port 0 to 10.0.0"
	load_refused ":1: policy 2" "switch 1 policy 2"
	load_refused "no routes" "port 1:0 to 8"
	load_refused ":2: switch 1 has a second route" "route 1 port 0 to 10.0.0.2" "route 1 port 1 to 10.0.0.2"
	load_refused "port 1:0 leads to two switches" "port 1:0 to 8" "port 1:0 to 9" "route 1 port 0 to 10.0.0.2"
	load_refused "the kernel, by" "route 1 port 1 to 10.0.0.2"
	load_refused "the kernel, by device 0" "route 1 port 0 to 99.0.0.2"
	frame $PAUSE 9 1
	send 5 0:1000
	expect "parked as before" "$(cls 1 .backlog_packets)" -eq 5
	empty
}

# What the table says of this switch is compared with what it does while there is a root; so
# is a packet that is not looked at otherwise.
test_paths_are_checked()
{
	isolating
	tc -n fa qdisc replace dev e1 root handle 1: fabric limit 1mb switch 1 switch-port 1 \
		frames both band 1 queue isolate
	send 10 0:1000
	expect "without a root nothing is compared" "$(sw .foretold)" -eq 0
	frame $PAUSE 7 1
	sleep 0.00001
	send 10 0:1000
	expect "foretold" "$(sw .foretold)" -eq 10
	expect "and it was true" "$(sw .mistold)" -eq 0
	expect "known" "$(sw .no_path)" -eq 0
	# The file tells of a route that is taken away.
	ip -n fa route add 10.0.0.2/32 dev e1
	load "port 1:0 to 8" "port 1:1 to 8" "route 1 port 1 to 10.0.0.2" "route 8 port 2 to 10.0.0.2" ||
		fault "$(cat "$out")"
	ip -n fa route del 10.0.0.2/32 dev e1
	frame $PAUSE 7 1
	send 10 0:1000
	expect "foretold" "$(sw .foretold)" -eq 20
	expect "and it was not" "$(sw .mistold)" -eq 10
	# What another qdisc of the port counted is kept.
	tc -n fa qdisc replace dev e0 root handle 2: fabric limit 1mb switch 1 switch-port 0 \
		frames both band 1 queue isolate || fault "not replaced"
	expect "kept" "$(sw '[.foretold, .mistold] | tojson')" = "[20,10]"
	tc -n fa qdisc del dev e1 root
	empty
}

# A root is believed only if a route leads there, and it is as far.
test_roots_that_cannot_be()
{
	isolating
	refused=$(sw .refused)
	frame $PAUSE 5 1
	frame $PAUSE 8 1
	expect "refused" $(($(sw .refused) - refused)) -eq 2
	expect "no root" "$(sw '.roots | length')" -eq 0
	frame $PAUSE 7 1
	expect "a root" "$(sw '.roots | length')" -eq 1
	empty
}

# Another file while packets are parked: a flow whose packets wait keeps its way, so that none
# overtakes them.
test_routes_change_in_order()
{
	isolating
	frame $PAUSE 9 1
	# One flow: five packets now and five in 2 ms.
	ip netns exec fa "$SEND" udp 10.0.0.2 2/2000 0:1000:5 &
	sleep 0.001
	expect "parked" "$(cls 1 .backlog_packets)" -eq 5
	load "port 1:0 to 8" "port 8:2 to 7" "route 1 port 0 to 10.0.0.2" "route 8 port 2 to 10.0.0.2" \
		"route 7 port 1 to 10.0.0.2" || fault "$(cat "$out")"
	wait $!
	others=$(cls 1 .packets)
	expect "those behind them wait, too" "$(cls 1 .backlog_packets)" -eq 10
	frame $RESUME 9 1
	sleep 0.0001
	expect "all sent" $(($(cls 1 .packets) - others)) -eq 10
	frame $PAUSE 7 1
	send 5 0:1000
	expect "the new way" "$(cls 1 .backlog_packets)" -eq 5
	expect "its root" "$(sw '.roots[0].root')" = "7:1"
	empty
}

# 60 switches with 60 prefixes: 3600 routes, more than a message holds.
test_many_routes()
{
	isolating
	ip -n fa route add 10.7.0.0/16 dev e0
	awk 'BEGIN {
		print "port 1:0 to 8"
		for (s = 8; s < 67; s++) {
			if (s < 66) print "port " s ":2 to " s + 1
			for (n = 0; n < 60; n++) print "route " s " port 2 to 10.7." n ".0/24"
		}
		for (n = 0; n < 60; n++) print "route 1 port 0 to 10.7." n ".0/24"
	}' | ip netns exec fa fairlane fabric load - > "$out" 2>&1 || fault "$(cat "$out")"
	expect "prefixes" "$(sw .paths)" -eq 60
	frame $PAUSE 9 2
	expect "a root behind the neighbour" "$(sw '.roots | length')" -eq 1
	frame $PAUSE 40 2
	expect "one that is farther" "$(sw '.roots | length')" -eq 1
	ip -n fa route del 10.7.0.0/16 dev e0
	empty
}

# The kernel's choice among equal routes is computed; a file by which it is another is refused.
test_equal_routes()
{
	port limit 1mb switch 1 switch-port 0 frames both band 1 queue isolate
	tc -n fa qdisc replace dev e1 root handle 1: fabric limit 1mb switch 1 switch-port 1 \
		frames both band 1 queue isolate
	ip -n fa link add d0 type dummy && ip -n fa link set d0 up
	ip -n fa route add 10.8.0.0/24 dev d0
	ip -n fa route add 10.9.0.0/24 nexthop dev e0 weight 1 nexthop dev e1 weight 3
	tc -n fa qdisc replace dev d0 root handle 1: fabric limit 1mb switch 1 switch-port 2 \
		speed 10gbit band 1 queue isolate
	ip netns exec fa sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0
	equal() { load "$1" "port 1:0 to 8" "port 1:1 to 9" "route 1 port ${2:-0,1*3} to 10.9.0.0/24" \
		"route 1 port 2 to 10.8.0.7" "route 8 port 0 to 10.9.0.0/24" "route 9 port 0 to 10.9.0.0/24"; }
	for policy in 0 1 3; do
		ip netns exec fa sysctl -q -w net.ipv4.fib_multipath_hash_policy=$policy \
			net.ipv4.fib_multipath_hash_seed=4711
		equal "switch 1 policy $policy seed 4711" || fault "policy $policy: $(cat "$out")"
		equal "switch 1 policy $policy" || fault "of which nothing is said: $(cat "$out")"
		equal "switch 1 policy $policy seed 4712" && fault "another seed"
		grep -q "leaves by port [01], says the file; the kernel, by port [01]:" "$out" ||
			fault "$(cat "$out")"
		equal "switch 1 policy $policy seed 4711" 0*3,1 && fault "other weights"
		equal "switch 1 policy $policy seed 4711" 1*3,0 && fault "another order"
	done
	equal "switch 1 policy 1 seed 4711" && fault "another policy"
	equal "switch 1 policy 3 fields 0x37 seed 4711" && fault "other fields"
	tc -n fa qdisc del dev e1 root
	ip -n fa link del d0
	ip -n fa route del 10.9.0.0/24
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
	# no bridge passes on what is for its neighbours; of all others nobody knows where they come from
	(export FABRIC_SEND_TO_ALL=1; pfc 1 60000)
	send 20 8:1000
	expect "of another address" "$(cls 2 .backlog_packets)" -eq 0
	expect "not heard" "$(sw .pfc_heard)" -eq 3
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

# A line of ten milliseconds makes the switch's time slow. What it says still holds until it is said
# again: a neighbour waits for 255 ticks of its own at most, 5.1 ms, and a frame of pfc says 65535
# quanta at most, 3.36 ms at 10 Gbit/s.
test_pauses_of_slow_switches_hold()
{
	# held QUEUE SPEED COUNTER US: packets wait at e0, and so the neighbour at e1 is paused
	held()
	{
		net
		for i in 0 1; do
			tc -n fa qdisc add dev e$i root handle 1: fabric limit 1mb switch 1 \
				switch-port $i frames both speed "$2" hop-rtt 10ms \
				band 1 queue "$1" rate 1kbit
		done
		ip netns exec fa sysctl -q -w net.ipv4.ip_forward=1
		ip -n fa neigh replace 10.0.0.77 lladdr 02:00:00:00:00:77 dev e0
		ip -n fb addr del 10.0.0.2/24 dev e0
		ip -n fb route replace 10.0.0.0/24 via 10.0.1.1 dev e1
		ip -n fb neigh replace 10.0.1.1 dev e1 \
			lladdr "$(ip -n fa -j link show e1 | jq -r '.[0].address')"
		ip netns exec fb "$SEND" udp 10.0.0.77 200 0:1000
		sleep 0.001
		told=$(sw ".$3")
		expect "$1: paused" "$told" -ge 1
		sleep 0.1
		expect "$1: repeated in 100 ms" $(($(sw ".$3") - told)) -ge $((100000 / $4))
		tc -n fa qdisc del dev e0 root
	}
	held pfc 10gbit pfc_pause_sent 3355
	held isolate 1mbit pause_sent 5100
	held hash 1mbit hash_frames_sent 5100
}

# What comes in by a VLAN device on e1 came by e1: its neighbour waits.
test_pfc_pauses_who_fills_it_tagged()
{
	port limit 100kb switch 1 switch-port 0 frames both speed 10gbit band 1 queue pfc
	tc -n fa qdisc replace dev e1 root handle 1: fabric limit 100kb switch 1 switch-port 1 \
		frames both speed 10gbit band 1 queue pfc
	ip netns exec fa sysctl -q -w net.ipv4.ip_forward=1
	ip -n fa neigh replace 10.0.0.77 lladdr 02:00:00:00:00:77 dev e0
	for n in fa fb; do
		ip -n $n link add link e1 name v1 type vlan proto 802.1ad id 7
		ip -n $n link add link v1 name v2 type vlan id 8
		ip -n $n link set v1 up
		ip -n $n link set v2 up
	done
	ip -n fa addr add 10.0.2.1/24 dev v2
	ip -n fb addr add 10.0.2.2/24 dev v2
	ip -n fb addr del 10.0.0.2/24 dev e0
	ip -n fb route replace 10.0.0.0/24 via 10.0.2.1 dev v2
	ip -n fb neigh replace 10.0.2.1 dev v2 \
		lladdr "$(ip -n fa -j link show v2 | jq -r '.[0].address')"
	pfc 0 60000
	ip netns exec fb "$SEND" udp 10.0.0.77 20 0:1000
	sleep 0.000001
	expect "wait" "$(cls 1 .backlog_packets)" -eq 20
	expect "paused" "$(sw .pfc_pause_sent)" -ge 1
	pfc 0 0
	sleep 0.0001
	expect "resumed" "$(sw .pfc_resume_sent)" -eq 1
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
	refused "one band of a port can isolate, hash" bands 2 band 1 queue hash band 2 queue hash
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
	tc -n fa qdisc del dev e0 root
	isolating
	tc -n fa qdisc add dev e0 parent 1:1 pfifo 2>"$out"
	grep -qF "no qdisc of its own" "$out" || fault "$(cat "$out")"
	port limit 2mb
	ip netns exec fa "$FUZZ" replay e0 >"$out" || fault "$(cat "$out")"
	send 5 0:1000
	empty
}
