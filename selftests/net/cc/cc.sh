#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC1091,SC2086,SC2317,SC3044 # words; called by name; own functions
#
# Congestion controls on live sockets, in virtual time:
#
#	ca --- cr --- cb	1 Gbit/s from cr to cb, base RTT about 35 us
#
# Names of tests as arguments select; jitter.sh, path.sh, priority.sh, rivals.sh and
# settings.sh have more. Needs root, lablink, ip, tc, ss and, in
# PATH, flowgen and lablink-ctl; $MODULES is the folder of the modules.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
. ./priority.sh
. ./jitter.sh
. ./path.sh
. ./settings.sh
. ./rivals.sh
: "${MODULES:?folder of the modules}"
# check: one case of the tests that take long
level=${TEST_LEVEL:-all}
controls='prioplus swift soze ledbat d2tcp expresspass'

load() { load_modules fairlane tcp_swift tcp_ledbat tcp_d2tcp tcp_prioplus tcp_soze fairlane_credit tcp_expresspass tcp_flexpass sch_fabric; }
drop_net() { drop_nodes ca cr cb; }

# A fresh topology, settings at their defaults but for channels of a few packets'
# time; cr keeps the defaults.
net()
{
	three_nodes ca cr cb '10gbit' 'quickack 1' || return 1
	for n in ca cb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=1000 \
			net.fairlane.research.fluct_ns=30000 net.fairlane.noise_ns=10000 net.fairlane.research.ss_compat=1
	done
	tc -n cr qdisc replace dev east root handle 1: pfifo limit 500
	# Address resolution done before anything is timed.
	flow -c cubic -b 1000 -a 10.0.2.1 > /dev/null &&
	flow -c cubic -b 1000 -a fd00:2::1 > /dev/null
}

flow() { flowgen -f ca -t cb -a 10.0.2.1 "$@"; }

# What ss says about the sockets to port $1 that send.
ss_of() { in_ns ca ss -tinHOe "dport = :$1"; }

test_addresses()
{
	for cc in $controls; do
		in_ns ca sysctl -n net.ipv4.tcp_available_congestion_control |
			grep -qw $cc || fault "$cc is not there"
		for addr in 10.0.2.1 fd00:2::1 ::ffff:10.0.2.1; do
			flow -a $addr -c $cc -q 2 -n 4 -b 1000000 -L 1000 > /run/out ||
				fault "$cc to $addr"
			complete /run/out 50000
			# ... and from an accepted socket.
			flow -a $addr -r -c $cc -q 2 -n 4 -b 1000000 -L 1000 > /run/out ||
				fault "$cc from $addr"
			complete /run/out 50000
		done
	done
}

# Settings and routes as they come, on a line of 10 Gbit/s.
as_it_comes()
{
	for n in ca cb; do
		for s in line_rate_mbps noise_ns research.fluct_ns; do
			in_ns $n sysctl -q -w "net.fairlane.$s=$(in_ns cr sysctl -n "net.fairlane.$s")"
		done
	done
	lablink-ctl set east netns cr rate 10gbit
	lablink-ctl set e0 netns cb rate 10gbit
	ip -n ca route replace default via 10.0.1.254
	ip -n cb route replace default via 10.0.2.254
}

# What is asked and answered on one connection, with the same control at both ends. The last ACK of
# each answer waits for the next question, and that of each question for the answer: no queue.
# LEDBAT's window is not what is in flight at the end of each.
test_answers()
{
	as_it_comes
	talks=''
	for cc in $controls prioplus-ledbat; do
		talks="$talks $cc:$cc:40:100:1000:10:0 $cc:$cc:40:100000:100000:0:0 $cc:$cc:40:100000:100000:20:0"
	done
	in_ns cb python3 ./answer.py listen 5101 $talks &
	sleep 0.01
	in_ns ca python3 ./answer.py 10.0.2.1 5101 $talks > /run/out || fault "no answers"
	wait
	for talk in $talks; do
		# cubic needs 10 us for the short ones and 181 us for the others
		case $talk in
		*:1000:*) most_us=60 ;;
		ledbat:*) most_us=250 ;;
		*) most_us=900 ;;
		esac
		read -r _ us || us=-1
		between "longest time with $talk, us" "${us:--1}" 1 $most_us
	done < /run/out
}

# Answers with pauses of 30 ms, each after a probe: a flow goes on with what it had, and does not begin
# anew. The base RTT is 100 us.
test_questions()
{
	as_it_comes
	for dev in 'east netns cr' 'e0 netns cb'; do
		lablink-ctl set $dev delay 48us || fault "no delay"
	done
	for what in prioplus:0:70000:430 prioplus:2:70000:430 prioplus:6:70000:430 prioplus:2:300000:710 \
		prioplus-ledbat:2:70000:430; do
		IFS=: read -r cc priority bytes most_us <<-EOF
			$what
		EOF
		flow -c $cc -q $priority -w $bytes@30000 -b $((5 * bytes)) -L 400 > /run/out || fault "$what"
		# cubic needs 111 and 306 us, and a new flow 498 and 790
		between "last answer of $what, us" $(($(field end 0 /run/out) - 120000)) 200 $most_us
	done
}

# A receiver that reads late keeps the ACKs of all that is in flight until then: no queue. It waits
# before it takes an answer, or the next 64 kB of a long one.
test_late_readers()
{
	as_it_comes
	talks=''
	for cc in swift ledbat; do
		for late_us in 200 2000; do
			talks="$talks $cc::40:1:40000:0:$late_us $cc::1:1:6000000:0:$late_us"
		done
	done
	in_ns ca python3 ./answer.py listen 5101 $talks &
	sleep 0.01
	in_ns cb python3 ./answer.py 10.0.1.1 5101 $talks > /run/out || fault "no answers"
	wait
	for talk in $talks; do
		# cubic needs 8, 80, 18 and 184 ms
		case $talk in
		*:40:*:200) most_us=24000 ;;
		*:40:*) most_us=240000 ;;
		*:200) most_us=54000 ;;
		*) most_us=552000 ;;
		esac
		read -r us _ || us=-1
		between "time of $talk, us" "${us:--1}" 1 $most_us
	done < /run/out
}

# An answer of three packets, again and again. LEDBAT begins with two, and what has waited for the
# window makes it grow, even if it is one packet: each answer took two round trips for ever.
test_short_answers()
{
	as_it_comes
	lablink-ctl set east netns cr delay 500us || fault "no delay"
	talk=ledbat::40:1:4000:20:0
	in_ns cb python3 ./answer.py listen 5101 $talk &
	sleep 0.01
	in_ns ca python3 ./answer.py 10.0.2.1 5101 $talk > /run/out || fault "no answers"
	wait
	read -r _ us < /run/out || us=-1
	# a round trip is 510 us
	between "longest time with $talk, us" "$us" 500 800
}

# Both ends of a connection send. An ACK comes with data then, whose time on the links is no queue.
# Taken for one, it was more than Swift steers for with priority 0: 16 ms.
test_both_ways()
{
	as_it_comes
	run="fairlane run --cc swift --prio 0 --"
	in_ns cb $run python3 ../credit/duplex.py listen 5200 1500000 &
	sleep 0.01
	begin_ns=$(date +%s%N)
	in_ns ca $run python3 ../credit/duplex.py swift 10.0.2.1 5200 1500000 || fault "silence"
	us=$((($(date +%s%N) - begin_ns) / 1000))
	wait
	# 1.3 ms with all of the line
	expect "time of 1.5 MB each way, us" $us -le 6000
	# Two connections, one each way. The ACKs of each wait behind the data of the other. A lone flow of
	# PrioPlus pushed a half of the line beyond what fills the line, and the other one had 1.1 MB.
	flow -c prioplus -q 0 -b -1 -L 200 > /run/a &
	sleep 0.001
	flowgen -f cb -t ca -a 10.0.1.1 -p 5001 -c prioplus -q 0 -b -1 -L 200 > /run/b
	wait
	for way in a b; do
		# All of the line is 232 MB. Over 50 ms one way has from a 37th to half of the line.
		expect "bytes of prioplus one way of two" "$(field received 0 /run/$way)" -ge 20000000
	done
}

# Bytes of the flow in the file $1 between its mark at $2 ms and the one before.
marked() { awk -v ms="$2" '$2 == ms { for (i = 5; i < NF; i++) if ($i == "bytes") print $(i + 1) }' "$1"; }

# Sum of the bytes of the flows in the file $1 and their fairness (Jain), permille.
shares()
{
	awk '$1 == "flow" { n++; x += $4; xx += $4 * $4 }
	     END { print x, n * xx ? int(1000 * x * x / (n * xx)) : 0 }' "$1"
}

# Impairment $1 (netem) towards the receiver, $2 on the way back; all must end
# in $3 ms.
impaired()
{
	tc -n cr qdisc replace dev east root netem limit 1000 rate 1gbit delay 5us $1 || fault "netem $1"
	tc -n cr qdisc replace dev west root netem limit 1000 delay 5us $2 || fault "netem $2"
	for cc in $controls; do
		# Swift has no probes: a lost tail costs a timeout or two. They
		# double, from 3 s on after a lost SYN-ACK.
		case $cc-$2 in
		prioplus-*) gap=50000 ;;
		*-) gap=700000 ;;
		*) gap=15000000 ;;
		esac
		undo=$(counter ca TcpExtTCPDSACKUndo)
		flow -c $cc -q 2 -n 3 -b 3000000 -L $3 > /run/a &
		flow -c $cc -q 4 -p 5001 -n 2 -b 1000000 -L $3 > /run/b
		complete /run/b $gap
		wait
		# The low flows of prioplus pause while the high ones send.
		complete /run/a $((gap + 60000))
		expect "undone by D-SACKs ($cc $*)" "$(counter ca TcpExtTCPDSACKUndo)" -eq "$undo"
	done
}

test_loss() { impaired 'loss random 1%' '' 2000; }

# A SYN-ACK lost twice or three times costs 3 or 7 s.
test_ack_loss() { impaired '' 'loss random 10%' 60000; }

test_reordering()
{
	# Undoing is right here: what was reordered is sent twice.
	tc -n cr qdisc replace dev east root netem limit 1000 rate 1gbit delay 40us reorder 95% 50%
	flow -c prioplus -q 2 -n 3 -b 2000000 -L 2000 > /run/a || fault prioplus
	complete /run/a 50000
	flow -c swift -q 2 -n 3 -b 2000000 -L 2000 > /run/a || fault swift
	complete /run/a 700000
}

# The peer has closed: what it keeps of the connection answers no probe, and the FIN of this end, which
# closes 20 ms later, needs none. It waited 200 ms for the stack's timer.
test_last_fin()
{
	for cc in $controls prioplus-ledbat flexpass; do
		in_ns cb python3 ./fin.py listen 5201 $cc > /run/out &
		sleep 0.01
		in_ns ca python3 ./fin.py 10.0.2.1 5201 $cc
		wait
		expect "time of the last FIN and its ACK with $cc, us" "$(cat /run/out)" -le 10000
	done
}

# From one control to another under traffic, stopped and sending.
test_switch()
{
	for other in cubic swift reno; do
		flow -c prioplus -q 5 -p 5001 -n 2 -b -1 -L 60 > /run/high &
		flow -c prioplus -q 1 -n 4 -b 4000000 -S $other@200@200 -L 2000 > /run/low ||
			fault "prioplus and $other"
		complete /run/low 50000
		wait
	done
	# Away from prioplus while stopped: the other one sends at once.
	flow -c prioplus -q 5 -p 5001 -b -1 -L 30 > /run/high &
	flow -c prioplus -q 1 -b -1 -S cubic@1@15000 -L 20 > /run/low
	wait
	expect "bytes in 5 ms of cubic after the switch" "$(field received 0 /run/low)" -ge 200000
	expect "pause, us" "$(field gap 0 /run/low)" -le 16000
}

# That is no more than $1 now, and a third of it at least; $2: of what.
trains_are()
{
	train=$(largest_train 1448)
	expect "segments in the largest packet of $cc, $2" "$train" -le $1
	expect "segments in the largest packet of $cc, $2" "$train" -ge $((($1 + 2) / 3))
}

# As many segments leave at once as the noise allows on this line, also when it changes under a
# flow. Another control, live, has none of that.
test_trains()
{
	watch_trains ca cr cb
	for cc in swift ledbat prioplus prioplus-ledbat; do
		# what the last one has sent has come
		sleep 0.5
		in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=1000
		while read -r most set; do
			in_ns ca sysctl -q -w $set
			largest_train 1448 > /run/none
			flow -c $cc -q 5 -b 2000000 -L 500 > /run/a || fault "$cc"
			trains_are $most "$set"
		done <<- END
			1 net.fairlane.noise_ns=24000
			11 net.fairlane.noise_ns=255000
			6 net.fairlane.line_rate_mbps=500
			3 net.fairlane.research.gso_segs=3
			1 net.fairlane.noise_ns=10000 net.fairlane.research.gso_segs=0
		END
		flow -c $cc -q 5 -b -1 -L 90 -S cubic@1@80000 > /run/a &
		sleep 0.02
		trains_are 1 "before the noise is known"
		in_ns ca sysctl -q -w net.fairlane.noise_ns=255000
		sleep 0.05
		trains_are 11 "after"
		wait
		expect "segments in the largest packet of cubic after $cc" "$(largest_train 1448)" -ge 12
	done
	watch_trains
}

# By the sysctl's default and by the listener's choice.
test_listener()
{
	for cc in $controls; do
		flow -q 2 -r -l $cc -b 1000000 -L 500 > /run/a || fault "listener with $cc"
		flow -l $cc -c cubic -b 1000000 -L 500 > /run/a || fault "receiver with $cc"
		in_ns ca sysctl -q -w net.ipv4.tcp_congestion_control=$cc
		in_ns cb sysctl -q -w net.ipv4.tcp_congestion_control=$cc
		flow -q 2 -n 10 -b 200000 -L 500 > /run/a || fault "default $cc"
		complete /run/a 50000
		flow -q 2 -r -n 10 -b 200000 -L 500 > /run/a || fault "default $cc, accepted"
		complete /run/a 50000
		in_ns ca sysctl -q -w net.ipv4.tcp_congestion_control=cubic
		in_ns cb sysctl -q -w net.ipv4.tcp_congestion_control=cubic
	done
	# An accepted socket stops as a connected one does.
	flow -r -c prioplus -q 1 -b -1 -L 30 > /run/low &
	sleep 0.01
	in_ns cb ss -tinHO "sport = :5000" | grep -q bbr: || fault "accepted socket has no flow"
	wait
}

# Peers without time stamps, SACK, D-SACK; paths without probes.
test_poor_peers()
{
	for key in tcp_timestamps tcp_sack tcp_dsack; do
		in_ns cb sysctl -q -w net.ipv4.$key=0
		for cc in $controls; do
			flow -c $cc -q 2 -n 2 -b 3000000 -L 1000 > /run/a || fault "$cc without $key"
			complete /run/a 50000
		done
		in_ns cb sysctl -q -w net.ipv4.$key=1
	done
	# Without SACK there is no probe from the beginning, and it says so.
	in_ns cb sysctl -q -w net.ipv4.tcp_sack=0
	flow -c prioplus -q 2 -p 5001 -b -1 -L 30 > /run/a &
	sleep 0.02
	expect "without SACK" "$(fairlane -n ca -j flow show dport 5001 | jq -r '.[].state')" = fallback
	wait
	# Nor one to draw ACKs that receivers delay, on a line whose rate nobody has told.
	as_it_comes
	lablink-ctl set east netns cr rate 1gbit
	for cc in prioplus prioplus-ledbat; do
		flow -c $cc -p 5001 -b -1 -L 100 > /run/a
		# cubic has 11 MB
		expect "bytes of $cc without SACK" "$(field received 0 /run/a)" -ge 2500000
	done
	in_ns cb sysctl -q -w net.ipv4.tcp_sack=1
	net
	tc -n ca qdisc replace dev e0 clsact
	tc -n ca filter add dev e0 egress protocol ip pref 1 u32 \
		match ip protocol 6 0xff match u16 53 0xffff at 2 action drop
	flow -c prioplus -q 2 -n 2 -b 3000000 -L 2000 > /run/a || fault "without probes"
	complete /run/a 600000
	# ... and it says so. 32 lost probes take a third of a second.
	flow -c prioplus -q 2 -p 5001 -b -1 -L 700 > /run/a &
	sleep 0.6
	in_ns ca fairlane flow show dport 5001 > /run/show
	grep -q fallback /run/show || fault "no fallback: $(cat /run/show)"
	wait
	tc -n ca qdisc del dev e0 clsact
}

# Smoothed RTT of the flow to port 5000, us.
rtt_us() { ss_of 5000 | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^rtt:/) { split($i, a, "[:/]"); print int(a[2] * 1000) } }'; }

# Windows below one packet: 60 flows on 100 Mbit/s.
test_many_flows()
{
	lablink-ctl set east netns cr rate 100mbit
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100 \
		net.fairlane.research.fluct_ns=100000 net.fairlane.noise_ns=30000
	many=$controls
	[ "$level" != check ] || many='prioplus soze'
	for cc in $many; do
		# Somebody must tell Söze the delay. It is more than the option has
		# numbers for (1 ms), so the base RTT must be known as well.
		if [ $cc = soze ]; then
			tc -n cr qdisc replace dev east root handle 2: fabric limit 760kb stamp soze
			in_ns ca sysctl -q -w net.fairlane.base_rtt_ns=100000
		fi
		# A fair share is a packet in 7 ms: 5 s are 700 of them.
		flow -c $cc -q 3 -n 60 -b -1 -L 5000 > /run/a
		shares /run/a > /run/jain
		read -r sum jain < /run/jain
		# 5 s: 59 MB of payload
		echo "# $cc: $sum bytes, fairness $jain permille"
		expect "bytes of all ($cc)" "$sum" -ge 30000000
		# Swift alone is not fair there, with the stock minimum window.
		[ $cc = swift ] || expect "fairness of $cc, permille" "$jain" -ge 800
		if [ $cc = soze ]; then
			tc -n cr qdisc replace dev east root handle 1: pfifo limit 500
			in_ns ca sysctl -q -w net.fairlane.base_rtt_ns=0
		fi
	done
	lablink-ctl set east netns cr rate 1gbit
}

# No removal under live sockets; a storm of aborted ones leaves nothing.
test_removal()
{
	for cc in $controls flexpass; do
		flow -c $cc -b -1 -L 20 > /run/a &
		sleep 0.01
		rmmod tcp_$cc 2> /dev/null && fault "tcp_$cc was removed in use"
		rmmod fairlane 2> /dev/null && fault "fairlane was removed in use"
		wait
		for _ in 1 2 3 4 5; do
			flow -c $cc -q 1 -n 60 -b -1 3:all:abort > /run/a
		done
	done
	# Orphans, of earlier tests too, must end at some time: 2000 s at most.
	for cc in $controls flexpass; do
		remove_module tcp_$cc 200 10 || fault "tcp_$cc stays in use"
	done
	drop_net
	rmmod sch_fabric || fault "sch_fabric is not removed"
	rmmod fairlane_credit || fault "not removed: $(lsmod)"
	rmmod fairlane || fault "not removed: $(lsmod)"
	load || fault "not loaded again"
}

# What SO_MAX_PACING_RATE had slowed is as fast as before when the owner takes it back, with the
# controls that set no rate, too: those by credit, and Reno where nobody tells of queues.
test_owner_paces()
{
	for what in $controls flexpass soze-untold; do
		[ $what != soze-untold ] || in_ns cb sysctl -q -w net.fairlane.telemetry=0
		flow -c ${what%-*} -b -1 -L 90 10:0:pace=2.5 20:0:mark 40:0:mark 40:0:pace=0 \
			60:0:mark 90:0:mark > /run/a
		# 20 ms at 20 Mbit/s are 50 kB and what had left before, 30 ms at 1 Gbit/s 3.5 MB
		expect "bytes of $what in 20 ms while paced" "$(marked /run/a 40)" -le 200000
		expect "bytes of $what in 30 ms afterwards" "$(marked /run/a 90)" -ge 2400000
		in_ns cb sysctl -q -w net.fairlane.telemetry=2
	done
}

trap 'drop_net' EXIT
# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load || exit 1
tests=${*:-addresses default_priority answers short_answers questions late_readers smaller_path_mtu both_ways any_length slower_line slower_line_measured turns_on_a_true_line untold_jitter untold_long_jitter told_noise dips priorities priority_change live_priority probes trace loss loss_and_base_rtt ack_loss lost_acks_of_small_windows owner_paces reordering double_data dsack_count close_stopped last_fin hundreds switch trains
	listener poor_peers outage base_rtt base_rtt_given base_rtt_agrees base_rtt_memory settings ledbat prioplus_ledbat one_way deadlines next_connection many_flows
	ecn mixed_mtu path_change longer_route much_longer_route short_flows removal}
run_tests 1 $tests
