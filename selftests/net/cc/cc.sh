#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317,SC3044 # words; called by name; own functions
#
# Congestion controls on live sockets, in virtual time:
#
#	ca --- cr --- cb	1 Gbit/s from cr to cb, base RTT about 35 us
#
# Names of tests as arguments select. Needs root, lablink, ip, tc, ss and, in
# PATH, flowgen and lablink-ctl; $MODULES is the folder of the modules.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
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

# Does check say of a flow with the control $1 that the path's jitter is more than was told?
noise_of_a_flow()
{
	flow -c "$1" -b -1 -L 600 > /run/out &
	sleep 0.5
	in_ns ca fairlane -j check | jq -r '.[] | select(.check == "jitter").text' > /run/check
	wait
	[ -s /run/check ]
}

# Who was never told a priority has 0, and an idle line for itself, whose delays jitter a little.
test_default_priority()
{
	lablink-ctl set east netns cr noise 0,2us seed 7 || fault "no noise"
	for cc in cubic $controls prioplus-ledbat; do
		flow -c $cc -b 5000000 -L 1000 > /run/out || fault "$cc has not sent 5 MB in a second"
		# 42 ms at 1 Gbit/s, and what they take to grow
		expect "time of 5 MB with $cc, us" "$(field end 0 /run/out)" -le 80000
	done
	# and one whose delays jitter by as much as was said
	lablink-ctl set east netns cr noise 0,50us seed 7 || fault "no noise"
	in_ns ca sysctl -q -w net.fairlane.noise_ns=50000
	for cc in $controls prioplus-ledbat; do
		flow -c $cc -b 5000000 -L 1000 > /run/out || fault "$cc has not sent 5 MB in a second"
		expect "time of 5 MB with $cc and jitter, us" "$(field end 0 /run/out)" -le 150000
	done
	for cc in swift prioplus; do
		noise_of_a_flow $cc && fault "$cc crawls: $(cat /run/check)"
		in_ns ca sysctl -q -w net.fairlane.noise_ns=800
		noise_of_a_flow $cc || fault "nobody says that $cc crawls: $(cat /run/check)"
		grep -q 'noise_ns, 800, says' /run/check || fault "not by how much: $(cat /run/check)"
		in_ns ca sysctl -q -w net.fairlane.noise_ns=50000
	done
	in_ns ca sysctl -q -w net.fairlane.noise_ns=10000
	lablink-ctl set east netns cr noise off
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
		talks="$talks $cc:100:1000:10 $cc:100000:100000:0 $cc:100000:100000:20"
	done
	in_ns cb python3 ./answer.py listen 5101 $talks &
	sleep 0.01
	in_ns ca python3 ./answer.py 10.0.2.1 5101 40 $talks > /run/out || fault "no answers"
	wait
	for talk in $talks; do
		# cubic needs 10 us for the short ones and 181 us for the others
		case $talk in
		*:100:*) most_us=60 ;;
		ledbat:*) most_us=250 ;;
		*) most_us=900 ;;
		esac
		read -r us || us=-1
		between "longest time with $talk, us" "$us" 1 $most_us
	done < /run/out
}

# A receiver that reads late keeps the ACKs of all that is in flight until then: no queue. It waits
# before it takes an answer, or the next 64 kB of a long one.
test_late_readers()
{
	as_it_comes
	talks=''
	for cc in swift ledbat; do
		talks="$talks $cc:40:40000:200 $cc:40:40000:2000 $cc:1:6000000:200 $cc:1:6000000:2000"
	done
	in_ns ca python3 ./late.py listen 5101 $talks &
	sleep 0.01
	in_ns cb python3 ./late.py 10.0.1.1 5101 $talks > /run/out || fault "no answers"
	wait
	for talk in $talks; do
		# cubic needs 8, 80, 18 and 184 ms
		case $talk in
		*:40:*:200) most_us=24000 ;;
		*:40:*) most_us=240000 ;;
		*:200) most_us=54000 ;;
		*) most_us=552000 ;;
		esac
		read -r us || us=-1
		between "time of $talk, us" "${us:--1}" 1 $most_us
	done < /run/out
}

# The path's MTU shrinks. The first flow that is told changes the host's route, and a flow with a packet
# or two in flight has none when it finds its packets too large for that: it waited 200 ms for a timer.
test_smaller_path_mtu()
{
	as_it_comes
	for d in east:cr e0:cb; do
		lablink-ctl set ${d%:*} netns ${d#*:} rate 1gbit
	done
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=1000
	for d in ca:e0 cr:west cr:east cb:e0; do
		ip -n ${d%:*} link set ${d#*:} mtu 9000 || fault "no MTU of 9000"
	done
	for cc in swift ledbat prioplus; do
		flow -c $cc -q 1 -n 8 -b -1 -L 240 > /run/a &
		sleep 0.02
		ip -n cr link set east mtu 1400 || fault "no MTU of 1400"
		wait
		while read -r _ n _ received _ longest _; do
			expect "longest gap of flow $n of $cc ($received bytes), us" "$longest" -le 100000
		done < /run/a
		ip -n cr link set east mtu 9000
		# what the host has learned of the path
		ip -n ca route flush cache
	done
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
	flow -c prioplus -q 0 -b -1 -L 50 > /run/a &
	sleep 0.001
	flowgen -f cb -t ca -a 10.0.1.1 -p 5001 -c prioplus -q 0 -b -1 -L 50 > /run/b
	wait
	for way in a b; do
		# all of the line is 58 MB
		expect "bytes of prioplus one way of two" "$(field received 0 /run/$way)" -ge 2500000
	done
}

# A lone flow of Swift on paths of any length: its base RTT is not short by a part of a microsecond,
# which is as much as its target is above that.
test_any_length()
{
	as_it_comes
	for delay in 2us 2300ns 2700ns 5us; do
		lablink-ctl set east netns cr delay $delay
		flow -c swift -b -1 -L 30 > /run/a
		# 30 ms at 10 Gbit/s are 35 MB of payload
		expect "bytes of swift at $delay" "$(field received 0 /run/a)" -ge 31000000
	done
}

# A line that is slower than the device, which nobody has told: a packet takes longer than that of ten
# links as fast as the device, and the base RTT has that time in it.
test_slower_line()
{
	as_it_comes
	lablink-ctl set east netns cr rate 1gbit
	lablink-ctl set e0 netns cb rate 1gbit
	# its base RTT is that of two links of 10 Gbit/s at first
	flow -c swift -b -1 -L 100 > /run/a
	# of 12 MB
	expect "bytes of swift in 100 ms" "$(field received 0 /run/a)" -ge 8000000
	for cc in prioplus prioplus-ledbat; do
		flow -c $cc -b -1 -L 300 > /run/a &
		sleep 0.25
		in_ns ca fairlane -j flow show dport 5000 > /run/show
		wait
		# 10 and 1 Gbit/s, 8 us and an ACK
		expect "base RTT of $cc, ns" "$(jq '.[0].base_rtt_ns' /run/show)" -ge 22000
		# of 35 MB
		expect "bytes of $cc" "$(field received 0 /run/a)" -ge 9000000
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

# Is flow show's held_ns of a new flow to the address $1 $2 $3?
held()
{
	# a port of its own: what the flows before have left may still be there
	flow -a "$1" -c prioplus -q 1 -p 5009 -b -1 -L 60 > /run/a &
	sleep 0.05
	in_ns ca fairlane -j flow show dport 5009 > /run/show
	in_ns ca fairlane -j check > /run/check
	wait
	expect "held_ns to $1" "$(jq '.[0].held_ns' /run/show)" "$2" "$3"
}

# Jitter of several channels' height that nobody has told: the first flow finds out within 1.6 s
# and tells those after it to the same address, whatever their priority; check tells the host's
# owner. Many share the line, and the higher priority has most of it. Noise that is told counts
# alone where it is enough. A path that holds nothing any more is one after a while.
test_untold_jitter()
{
	# priority 4's channel is 9 ms above the base RTT in the end, and a full buffer loses SYNs
	tc -n cr qdisc replace dev east root handle 1: pfifo limit 2000
	jitters='50us 200us 1ms'
	[ "$level" != check ] || jitters=200us
	for jitter in $jitters; do
		held 10.0.2.1 -eq 0
		lablink-ctl set east netns cr noise 0,$jitter seed 7 || fault "no noise"
		from=1600
		for what in prioplus:0 prioplus-ledbat:0 prioplus:4; do
			to=$((from + 400))
			flow -c ${what%:*} -q ${what#*:} -b -1 -L $to $from:all:mark $to:all:mark > /run/a
			# 400 ms at 1 Gbit/s are 47 MB
			expect "bytes of $what in 400 ms with $jitter" "$(marked /run/a $to)" -ge 35000000
			# whoever comes later knows it
			from=100
			held fd00:2::1 -eq 0
			held 10.0.2.1 -ge 25000
			jq -e '.[] | select(.check == "held" and .verdict == "note")' /run/check > /dev/null ||
				fault "check says nothing"
		done
		flow -c prioplus -q 1 -b -1 -L 900 > /run/low &
		sleep 0.2
		# 35 MB are all; channels of several ms take a while to fill
		least=26000000
		[ $jitter = 1ms ] && least=21000000
		flow -c prioplus -q 4 -p 5001 -b -1 -L 700 400:all:mark 700:all:mark > /run/a
		wait
		expect "bytes of the high one in 300 ms with $jitter" "$(marked /run/a 700)" -ge $least
		if [ $jitter = 200us ]; then
			flow -c prioplus -q 1 -n 8 -b -1 -L 1000 > /run/a
			expect "fairness with $jitter, permille" "$(shares /run/a | cut -d' ' -f2)" -ge 700
		fi
		in_ns ca sysctl -q -w net.fairlane.noise_ns=20000000
		held 10.0.2.1 -eq 0
		in_ns ca sysctl -q -w net.fairlane.noise_ns=10000
		held 10.0.2.1 -ge 25000
		lablink-ctl set east netns cr noise off
		sleep 40
	done
	held 10.0.2.1 -eq 0
	tc -n cr qdisc replace dev east root handle 1: pfifo limit 500
}

# The same on a path of 10 ms where packets overtake each other: no flow is silent for a thousand
# round trips.
test_untold_long_jitter()
{
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100
	lablink-ctl set east netns cr rate 100mbit
	for dev in east west; do
		tc -n cr qdisc replace dev $dev root netem limit 10000 delay 5ms 2ms || fault "no netem"
	done
	flow -c prioplus -b -1 -L 7000 4000:all:mark 7000:all:mark > /run/a
	# 3 s at 100 Mbit/s are 35 MB
	expect "bytes in 3 s" "$(marked /run/a 7000)" -ge 20000000
}

# Noise that was told: where it is there, a lone flow has the line, with the lowest priority as with
# others; where it is not, flows that share the line do not stop when base RTTs are renewed.
test_told_noise()
{
	in_ns ca sysctl -q -w net.fairlane.noise_ns=200000
	lablink-ctl set east netns cr noise 0,200us seed 7 || fault "no noise"
	for what in prioplus:0 prioplus-ledbat:0 prioplus:1; do
		flow -c ${what%:*} -q ${what#*:} -b -1 -L 1000 500:all:mark 1000:all:mark > /run/a
		# half a second at 1 Gbit/s is 59 MB
		expect "bytes of $what in 500 ms" "$(marked /run/a 1000)" -ge 50000000
	done
	# priority 1 has the line alone, also where twice the jitter was told
	in_ns ca sysctl -q -w net.fairlane.noise_ns=400000
	flow -c prioplus -q 0 -n 8 -b -1 -L 1000 500:all:mark 1000:all:mark > /run/a &
	sleep 0.4
	flow -c prioplus -q 1 -p 5900 -b -1 -L 600 100:all:mark 600:all:mark > /run/b
	wait
	expect "bytes of priority 1 in 500 ms" "$(marked /run/b 600)" -ge 56000000
	expect "bytes of eight of priority 0 meanwhile" \
		"$(($(marked /run/a 1000 | paste -sd+)))" -le 600000
	lablink-ctl set east netns cr noise off
	[ "$level" = check ] || renewed_below_told_noise
	in_ns ca sysctl -q -w net.fairlane.noise_ns=10000
}

# The queue is gone for some ms when base RTTs are renewed, and nobody takes that for room.
renewed_below_told_noise()
{
	in_ns ca sysctl -q -w net.fairlane.noise_ns=1000000
	flow -c prioplus -q 3 -n 8 -b -1 -L 4000 > /run/a &
	sleep 3.9
	in_ns ca fairlane -j flow show > /run/show
	wait
	expect "stops of eight" "$(jq '[.[].stops] | add' /run/show)" -eq 0
}

# A long path's base RTT is renewed each 2.1 s: the window leaves at once after that, and its
# queue is not another's.
test_dips()
{
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100
	lablink-ctl set east netns cr rate 100mbit
	lablink-ctl set east netns cr delay 2ms
	flow -c prioplus -q 3 -b -1 -L 7000 > /run/a &
	sleep 6.9
	in_ns ca fairlane -j flow show > /run/show
	wait
	expect "stops" "$(jq '.[0].stops' /run/show)" -eq 0
	expect "bytes" "$(field received 0 /run/a)" -ge 76000000
	lablink-ctl set east netns cr delay 2us
	lablink-ctl set east netns cr rate 1gbit
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=1000
}

# A low priority stops while a high one sends, and goes on afterwards.
test_priorities()
{
	flow -c prioplus -q 1 -b -1 -L 60 > /run/low &
	sleep 0.02
	flow -c prioplus -q 5 -p 5001 -b -1 -L 20 > /run/high &
	sleep 0.01
	ss_of 5000 > /run/ss-low
	ss_of 5001 > /run/ss-high
	grep -q 'cwnd:' /run/ss-low && fault "the low one has a window: $(cat /run/ss-low)"
	grep -q 'bbr:(bw:0bps.*pacing_gain:1,' /run/ss-low ||
		fault "stopped is not shown: $(cat /run/ss-low)"
	grep -q 'cwnd:' /run/ss-high || fault "the high one has no window"
	grep -q 'bbr:(bw:[1-9].*pacing_gain:5,' /run/ss-high ||
		fault "sending is not shown: $(cat /run/ss-high)"
	in_ns ca sysctl -q -w net.fairlane.research.ss_compat=0
	ss_of 5000 | grep -q bbr: && fault "ss_compat=0 shows the state"
	in_ns ca sysctl -q -w net.fairlane.research.ss_compat=1
	wait
	low=$(field received 0 /run/low)
	high=$(field received 0 /run/high)
	# 20 ms at 1 Gbit/s are 2.4 MB, 40 ms twice that.
	expect "bytes of the high one" "$high" -ge 2200000
	expect "bytes of the low one" "$low" -ge 4300000
	expect "pause of the low one, us" "$(field gap 0 /run/low)" -ge 17000
	expect "pause of the low one, us" "$(field gap 0 /run/low)" -le 23000
}

# The priority of a live flow changes: within 2 RTTs it matters.
test_priority_change()
{
	flow -c prioplus -q 3 -b -1 -L 40 > /run/a &
	flow -c prioplus -q 1 -p 5001 -b -1 -L 40 20:all:priority=6 > /run/b &
	wait
	# 20 ms each: the first half a's, the second b's.
	expect "bytes of the first" "$(field received 0 /run/a)" -ge 2000000
	expect "bytes of the raised" "$(field received 0 /run/b)" -ge 2000000
	expect "bytes of the first" "$(field received 0 /run/a)" -le 2900000
	expect "bytes of the raised" "$(field received 0 /run/b)" -le 2900000
}

tracing=/sys/kernel/tracing

# Begins a trace of what flows do, in ns of the same clock.
trace_flows()
{
	mount -t tracefs none $tracing 2> /dev/null
	echo mono > $tracing/trace_clock
	echo > $tracing/trace
	echo 1 > $tracing/events/fairlane/enable || fault "no tracepoints"
}

# In the trace, of the flow to port $1 after its priority was changed: time until
# the first line with $2, and the delay in that line, us.
after_change()
{
	awk -v port=":$1 " -v what="$2" '
		!index($0, port) { next }
		/fl_attr_change/ { t = stamp(); next }
		t && index($0, what) { print int((stamp() - t) * 1e6), delay(); exit }
		function stamp() { match($0, / [0-9]+[.][0-9]+: /); return substr($0, RSTART, RLENGTH - 2) + 0 }
		function delay() { return match($0, /delay_ns=[0-9]+/) ? int(substr($0, RSTART + 9, RLENGTH - 9) / 1000) : 0 }' $tracing/trace
}

# live WHO FROM TO WORD PERCENT: a flow of priority FROM beside one of 8 becomes one
# of TO, set by WHO; a line with WORD comes within PERCENT of the RTT in that line.
live()
{
	# those of earlier ports are still closing
	port=$((port + 1))
	trace_flows
	flow -c prioplus -q 8 -b -1 -L 12 > /run/a &
	if [ "$1" = setsockopt ]; then
		flow -c prioplus -q "$2" -p $port -b -1 -L 12 "6:all:fl_priority=$3" > /run/b &
	else
		flow -c prioplus -q "$2" -p $port -b -1 -L 12 > /run/b &
		sleep 0.006
		in_ns ca fairlane flow set dport $port prio "$3" > /dev/null || fault "fairlane"
	fi
	wait
	echo 0 > $tracing/events/fairlane/enable
	after_change $port "$4" > /run/after
	read -r us rtt_us < /run/after || fault "$1: no $4 in the trace"
	echo "# $1, $2 to $3: ${us:-?} us until $4, RTT ${rtt_us:-?} us"
	expect "us until $4 ($1, $2 to $3)" "${us:-1000000}" -le $((${rtt_us:-0} * $5 / 100))
}

# What is changed on a live flow can be seen within 2 RTTs: a waiting flow that is
# raised asks at once and sends, which is one, a sending one that is lowered stops.
test_live_priority()
{
	port=5001
	for who in setsockopt netlink; do
		live $who 1 9 stopped=0 110
		live $who 9 1 stopped=1 200
	done
}

# Probes are minimal frames, and no reason to undo anything.
test_probes()
{
	tc -n ca qdisc replace dev e0 clsact
	tc -n ca filter add dev e0 egress protocol ip pref 1 u32 \
		match ip protocol 6 0xff match u16 53 0xffff at 2 action ok
	before=$(counter cb TcpExtTCPDSACKOldSent)
	flow -c prioplus -q 1 -b -1 -L 60 > /run/low &
	flow -c prioplus -q 5 -p 5001 -b -1 -L 60 > /run/high &
	wait
	probes=$(tc -n ca -s -j filter show dev e0 egress |
		jq '[.[].options.actions[]?.stats.packets] | add')
	echoes=$(($(counter cb TcpExtTCPDSACKOldSent) - before))
	# An IPv4 segment of one byte with a time stamp has 53 bytes.
	expect "probes on the wire" "$probes" -ge 20
	expect "probes on the wire" "$probes" -le 3000
	expect "echoes for $probes probes" "$echoes" -ge $((probes - 2))
	expect "echoes for $probes probes" "$echoes" -le $((probes + 2))
	tc -n ca qdisc del dev e0 clsact
}

# traced TEXT...: lines of the trace with this text.
traced() { grep -c "$*" $tracing/trace; }

# What a flow does can be followed from outside.
test_trace()
{
	trace_flows
	flow -c prioplus -q 1 -b -1 -L 20 > /run/low &
	sleep 0.005
	flow -c prioplus -q 5 -p 5001 -b -1 -L 10 > /run/high
	wait
	flow -c swift -b 1000000 -L 100 > /run/a
	flow -c ledbat -b 1000000 -L 100 > /run/a
	echo 0 > $tracing/events/fairlane/enable
	expect "stops in the trace" "$(traced ':5000 cookie=.* stopped=1')" -ge 1
	expect "resumptions in the trace" "$(traced 'stopped=0 delay_ns=[1-9]')" -ge 2
	expect "probes in the trace" "$(traced what=sent)" -ge 10
	expect "echoes in the trace" "$(traced what=echo delay_ns=[1-9])" -ge 10
	expect "updates of windows in the trace" "$(traced fl_delay_update: .*:5000 cookie=)" -ge 100
	echo > $tracing/trace
	flow -c prioplus -q 1 -b 100000 -L 100 > /run/a
	expect "lines when it is off" "$(traced fl_)" -eq 0
}

# The stack measures an ACK of what was sent again in whole milliseconds, by the time that it echoes.
# That is no base RTT: on a path of 1.8 ms every control had one of 1 ms for ever after its first
# loss.
test_loss_and_base_rtt()
{
	lablink-ctl set east netns cr delay 900us || fault "no delay"
	lablink-ctl set west netns cr delay 880us || fault "no delay"
	tc -n cr qdisc replace dev east root netem limit 1000 rate 1gbit loss random 1% || fault "netem"
	for cc in swift ledbat prioplus soze; do
		again=$(counter ca TcpRetransSegs)
		flow -c $cc -b -1 -L 500 > /run/a &
		sleep 0.45
		in_ns ca fairlane -j flow show dport 5000 > /run/show
		wait
		echo "# $cc: $(field received 0 /run/a) bytes, $(($(counter ca TcpRetransSegs) - again)) sent again"
		expect "sent again by $cc" "$(counter ca TcpRetransSegs)" -gt "$again"
		expect "base RTT of $cc, ns" "$(jq '.[0].base_rtt_ns' /run/show)" -ge 1780000
		expect "base RTT of $cc, ns" "$(jq '.[0].base_rtt_ns' /run/show)" -le 1850000
	done
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

# Shortest delay of the echoes in the trace, ns.
shortest_echo()
{
	sed -n 's/.*what=echo delay_ns=//p' $tracing/trace | sort -n | head -1
}

# stops_beside VISITS IMPAIRMENT: a low flow stops and probes while VISITS others come and go.
stops_beside()
{
	visits=$1
	tc -n cr qdisc replace dev east root netem limit 1000 rate 1gbit delay 50us $2 ||
		fault "netem $2"
	tc -n cr qdisc replace dev west root netem limit 1000 delay 50us || fault "netem"
	trace_flows
	flow -c prioplus -q 1 -n 6 -b -1 -L $((visits * 13 + 6)) > /run/low &
	for visit in $(seq "$visits"); do
		sleep 0.008
		flow -c prioplus -q 5 -p $((5000 + visit)) -b -1 -L 5 > /run/high
	done
	wait
	echo 0 > $tracing/events/fairlane/enable
}

# Data that arrives twice draws D-SACKs, as probes do: no echo before its time.
test_double_data()
{
	stops_beside 8 ''
	plain=$(shortest_echo)
	expect "D-SACKs of data where there are none" "$(grep -c 'what=data' $tracing/trace)" -eq 0
	# 0 to 2 of them a visit, by chance
	stops_beside 40 'duplicate 50%'
	echo "# shortest echo $plain ns, $(shortest_echo) with doubles; $(grep -c 'what=echo' $tracing/trace) echoes, $(grep -c 'what=data' $tracing/trace) other D-SACKs"
	expect "echoes" "$(grep -c 'what=echo' $tracing/trace)" -ge 50
	expect "D-SACKs of data" "$(grep -c 'what=data' $tracing/trace)" -ge 3
	# a packet's time is 12 us
	expect "shortest echo, ns" "$(shortest_echo)" -ge $((plain - 2000))
}

# D-SACKs of echoes are not counted as data that came twice, once the echoes are there.
test_dsack_count()
{
	flow -c prioplus -q 1 -b -1 -L 60 > /run/low &
	flow -c prioplus -q 5 -p 5001 -b -1 -L 30 > /run/high
	sleep 0.02
	in_ns ca fairlane -j flow show dport 5000 > /run/show
	expect "echoes" "$(jq '.[0].probe_echoes' /run/show)" -ge 5
	expect "state" "$(jq -r '.[0].state' /run/show)" = sending
	expect "D-SACKs of data" "$(in_ns ca ss -tinHO 'dport = :5000' | grep -c dsack_dups)" -eq 0
	wait
}

# close() while stopped: everything is delivered. Abort: everything is freed.
test_close_stopped()
{
	flow -c prioplus -q 5 -p 5001 -b -1 -L 30 > /run/high &
	sleep 0.005
	flow -c prioplus -q 1 -n 8 -b 100000 -e -L 1000 > /run/low || fault "lost data at close()"
	complete /run/low 50000
	wait
	flow -c prioplus -q 5 -p 5001 -b -1 -L 30 > /run/high &
	sleep 0.005
	flow -c prioplus -q 1 -n 20 -b -1 10:all:abort > /run/low
	expect "bytes of an aborted low flow" "$(field received 3 /run/low)" -le 100000
	wait
	# the high one's last data
	sleep 1
	expect "sockets left" "$(in_ns ca ss -tnH | wc -l)" -eq 0
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

# Hundreds begin together: their probes alone were a queue for which all of them waited, for a second.
test_hundreds()
{
	flow -c prioplus -q 0 -n 400 -b 5000 -L 2000 > /run/out || fault "not all is sent"
	complete /run/out 150000
	last_us=$(awk '$1 == "flow" && $8 > most { most = $8 } END { print most + 0 }' /run/out)
	# cubic needs 210 ms
	between "time until all of 400 have their 5000 bytes, us" "$last_us" 1 150000
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

# nothing_passes SECONDS: through the router, of TCP.
nothing_passes()
{
	for dev in west east; do
		tc -n cr qdisc replace dev $dev clsact
		tc -n cr filter add dev $dev egress protocol ip pref 1 u32 match ip protocol 6 0xff action drop
	done
	sleep "$1"
	for dev in west east; do
		tc -n cr qdisc del dev $dev clsact
	done
}

# Nothing passes for a while: probes are not answered, and flows go on without. When the path is as
# before, so are priorities. Receivers acknowledge every second packet.
test_outage()
{
	ip -n cb route change default via 10.0.2.254
	for cc in prioplus prioplus-ledbat; do
		outages_ms='100 1000 3000'
		[ "$level:$cc" != check:prioplus ] || outages_ms=3000
		[ "$level:$cc" != check:prioplus-ledbat ] || outages_ms=100
		for ms in $outages_ms; do
			end=$((ms + 3100))
			flow -c $cc -q 1 -b -1 $((end - 1000)):all:mark $end:all:mark -L $end > /run/low &
			sleep 0.1
			flow -c $cc -q 5 -p 5001 -b -1 $((end - 1100)):all:mark $((end - 100)):all:mark -L $((end - 100)) > /run/high &
			sleep 0.1
			nothing_passes $((ms / 1000)).$((ms % 1000))
			wait
			low=$(mark_bytes /run/low 2) high=$(mark_bytes /run/high 2)
			echo "# $cc after $ms ms: $high bytes of the higher priority in a second, $low of the lower"
			expect "bytes of the higher priority" "$high" -ge 110000000
			expect "bytes of the lower priority" "$low" -le 5000000
		done
	done
}

# refused KEY VALUE...
refused()
{
	key=$1
	shift
	for value in "$@"; do
		in_ns ca sysctl -q -w "$(place "$key")=$value" 2> /run/err &&
			fault "$key accepts $value"
		grep -q 'Invalid argument' /run/err || fault "$key=$value: $(cat /run/err)"
	done
}

# Where the setting $1 is: researchers' have a folder of their own.
place()
{
	if in_ns ca test -e "/proc/sys/net/fairlane/$1"; then
		echo "net.fairlane.$1"
	else
		echo "net.fairlane.research.$1"
	fi
}

# setting KEY DEFAULT SMALLEST LARGEST
setting()
{
	tested=$((tested + 1))
	at=$(place "$1")
	expect "default of $1" "$(in_ns cr sysctl -n "$at")" = "$2"
	for value in "$3" "$4"; do
		in_ns ca sysctl -q -w "$at=$value" || fault "$1 refuses $value"
		expect "$1" "$(in_ns ca sysctl -n "$at")" = "$value"
		# Extreme values must not stop anything.
		flow -c prioplus -q 6 -b 100000 -L 30000 > /run/a || fault "$1=$value: prioplus"
		flow -c swift -q 6 -b 100000 -L 30000 > /run/a || fault "$1=$value: swift"
		flow -c soze -q 6 -b 100000 -L 30000 > /run/a || fault "$1=$value: soze"
		case $1 in
		ledbat* | fluct_ns | noise_ns | base_rtt_ns)
			flow -c ledbat -q 6 -b 100000 -L 30000 > /run/a || fault "$1=$value: ledbat"
			;;
		credit* | expresspass*)
			flow -c expresspass -b 100000 -L 30000 > /run/a || fault "$1=$value: expresspass"
			;;
		flexpass*)
			flow -c flexpass -b 100000 -L 30000 > /run/a || fault "$1=$value: flexpass"
			;;
		d2tcp*)
			flow -c d2tcp -b 100000 -L 30000 > /run/a || fault "$1=$value: d2tcp"
			;;
		esac
	done
	expect "$1 of another namespace" "$(in_ns cr sysctl -n "$at")" = "$2"
	refused "$1" -1 $(($4 + 1)) x 99999999999
	[ "$3" = 0 ] || refused "$1" $(($3 - 1))
	in_ns ca sysctl -q -w "$at=$2"
}

# Smoothed RTT of the flow to port 5000, us.
rtt_us() { ss_of 5000 | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^rtt:/) { split($i, a, "[:/]"); print int(a[2] * 1000) } }'; }

test_settings()
{
	tested=0
	setting line_rate_mbps 0 0 1600000
	setting line_rate_measured 0 0 1
	setting base_rtt_ns 0 0 1000000000
	setting fluct_ns 3200 0 50000000
	setting noise_ns 800 1 50000000
	setting short_flows 0 0 1
	setting urgent_priority 0 0 15
	setting ai_bytes 150 1 1000000
	setting share_ns 0 0 1000000
	setting owd 0 0 1
	setting paper 0 0 1
	setting swift_target_ns 0 0 1000000000
	setting swift_range_ns 0 0 1000000000
	setting swift_hop_ns 0 0 10000000
	setting ledbat_target_ns 0 0 100000000
	setting gso_segs 0 0 64
	setting ss_compat 0 0 1
	# three_nodes() has set 2 for the other tests
	for n in ca cr; do in_ns $n sysctl -q -w net.fairlane.telemetry=1; done
	setting telemetry 1 0 2
	for n in ca cr; do in_ns $n sysctl -q -w net.fairlane.telemetry=2; done
	setting soze_alpha_mbps 0 0 100000000
	setting credit 1 0 1
	setting credit_dscp 40 0 60
	setting credit_segs 0 0 64
	setting credit_host_limit 1 0 1
	setting expresspass_permille 1000 1 1000
	setting flexpass_permille 480 1 1000
	# flows of ours go on with the system's control
	setting off 0 0 1
	setting share_permille 1000 1 1000
	expect "settings" "$(in_ns ca find /proc/sys/net/fairlane -type f | wc -l)" -eq $tested
	# An operator has four numbers and three switches to know: telemetry, credit, off; and the
	# share of a canary.
	expect "operator's settings" "$(in_ns ca find /proc/sys/net/fairlane -maxdepth 1 -type f | wc -l)" -le 8
	# Live: the target of Swift moves the queue.
	flow -c swift -b -1 -L 1000 > /run/a &
	in_ns ca sysctl -q -w net.fairlane.research.swift_target_ns=100000
	sleep 0.45
	short=$(rtt_us)
	in_ns ca sysctl -q -w net.fairlane.research.swift_target_ns=1000000
	sleep 0.45
	long=$(rtt_us)
	wait
	expect "RTT with 0.1 ms, us" "$short" -le 250
	expect "RTT with 1 ms, us" "$long" -ge 600
	in_ns ca sysctl -q -w net.fairlane.research.swift_target_ns=0
}

# LEDBAT alone has the link, yields to others and comes back.
test_ledbat()
{
	in_ns ca sysctl -q -w net.fairlane.research.ledbat_target_ns=500000
	flow -c ledbat -b -1 -L 600 > /run/ledbat &
	sleep 0.1
	start=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
	sleep 0.1
	end=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
	rtt=$(rtt_us)
	flow -c cubic -p 5001 -b -1 -L 200 > /run/cubic
	again=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
	sleep 0.2
	last=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
	wait
	# 100 ms at 1 Gbit/s are 12.3 MB with headers
	expect "bytes alone" $((end - start)) -ge 12000000
	expect "RTT alone, us" "$rtt" -ge 300
	expect "RTT alone, us" "$rtt" -le 700
	expect "bytes of cubic beside it, 200 ms" "$(field received 0 /run/cubic)" -ge 20000000
	expect "bytes alone again, 200 ms" $((last - again)) -ge 22000000
	in_ns ca sysctl -q -w net.fairlane.research.ledbat_target_ns=0
}

# PrioPlus over LEDBAT: the low priority waits for the high one.
test_prioplus_ledbat()
{
	flow -c prioplus-ledbat -q 1 -b -1 -L 60 > /run/low &
	sleep 0.02
	flow -c prioplus-ledbat -q 5 -p 5001 -b -1 -L 20 > /run/high &
	sleep 0.01
	ss_of 5000 | grep -q 'prioplus-ledbat.*bbr:(bw:0bps' || fault "not stopped: $(ss_of 5000)"
	wait
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge 2200000
	expect "bytes of the low one" "$(field received 0 /run/low)" -ge 4200000
	expect "pause of the low one, us" "$(field gap 0 /run/low)" -ge 17000
}

# A queue on the way back is none on the way there, if there are time stamps.
test_one_way()
{
	in_ns ca sysctl -q -w net.fairlane.research.ledbat_target_ns=20000000
	for stamps in 1 0; do
		in_ns cb sysctl -q -w net.ipv4.tcp_timestamps=$stamps
		tc -n cr qdisc replace dev east root netem limit 1000 rate 20mbit delay 5us
		tc -n cr qdisc replace dev west root netem limit 1000 delay 5us
		flow -c ledbat -b -1 -L 9000 > /run/a &
		sleep 2.5
		tc -n cr qdisc replace dev west root netem limit 1000 delay 40ms
		sleep 3.5
		start=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
		sleep 3
		end=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
		wait
		# 20 Mbit/s are 7.5 MB in 3 s
		if [ $stamps = 1 ]; then
			expect "bytes with time stamps" $((end - start)) -ge 6500000
		else
			expect "bytes by RTT" $((end - start)) -le 1500000
		fi
	done
	in_ns cb sysctl -q -w net.ipv4.tcp_timestamps=1
	in_ns ca sysctl -q -w net.fairlane.research.ledbat_target_ns=0
}

# D2TCP: the nearer deadline has more; without one it is DCTCP; marks only.
test_deadlines()
{
	tc -n cr qdisc replace dev east root fabric limit 750kb ecn 30kb || fault "no sch_fabric"
	ce=$(counter ca TcpExtTCPDeliveredCE)
	retransmits=$(counter ca TcpRetransSegs)
	flow -c d2tcp -l d2tcp -b -1 -L 400 > /run/a &
	flow -c d2tcp -l d2tcp -p 5001 -b -1 -L 400 > /run/b &
	sleep 0.2
	ss_of 5000 | grep -q 'd2tcp.*dctcp:(ce_state:0,alpha:[0-9]*,ab_ecn' || fault "ss: $(ss_of 5000)"
	wait
	a=$(field received 0 /run/a)
	b=$(field received 0 /run/b)
	echo "# without deadlines: $a and $b bytes"
	expect "bytes of one" "$a" -ge $((b * 2 / 3))
	expect "bytes of the other" "$b" -ge $((a * 2 / 3))
	expect "bytes of both" $((a + b)) -ge 44000000
	# One that has passed beside one that is far away.
	flow -c d2tcp -l d2tcp -D 1 -b -1 -L 400 > /run/a &
	flow -c d2tcp -l d2tcp -p 5001 -b 12000000 -L 4000 -D 100000000 > /run/b &
	sleep 0.2
	wait
	a=$(field received 0 /run/a)
	b=$(field end 0 /run/b)
	echo "# with deadlines: $a bytes of the near one, the far one ended at $b us"
	expect "bytes of the near one" "$a" -ge 27000000
	expect "marked packets" "$(counter ca TcpExtTCPDeliveredCE)" -ge $((ce + 100))
	expect "retransmissions" "$(counter ca TcpRetransSegs)" -eq "$retransmits"
	# A peer without ECN: Reno.
	in_ns cb sysctl -q -w net.ipv4.tcp_ecn=0
	flow -c d2tcp -b -1 -L 60 > /run/a &
	sleep 0.03
	ss_of 5000 | grep -q 'd2tcp-reno' || fault "without ECN: $(ss_of 5000)"
	wait
	expect "bytes without ECN" "$(field received 0 /run/a)" -ge 5000000
	in_ns cb sysctl -q -w net.ipv4.tcp_ecn=2
}

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

# Base RTT that ss shows of the flow to port $1, us.
mrtt_us() { ss_of "$1" | sed -n 's/.*mrtt:\([0-9.]*\).*/\1/p' | awk '{ print int($1 * 1000) }'; }

# Measured base RTTs: a flow that begins while another one keeps a queue knows
# the empty path all the same, even if that queue has stood for longer than
# minima are remembered (4.3 s).
test_base_rtt()
{
	lablink-ctl set east netns cr rate 100mbit
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100 \
		net.fairlane.research.fluct_ns=300000 net.fairlane.noise_ns=50000
	flow -c prioplus -q 5 -b -1 -L 6000 > /run/high &
	sleep 5.5
	flow -c prioplus -q 2 -p 5001 -b -1 -L 300 > /run/low &
	sleep 0.2
	base=$(mrtt_us 5001)
	wait
	# 123 us for a packet of 1538 bytes, the queue is 1750 us.
	expect "base RTT, us" "${base:-0}" -ge 120
	expect "base RTT, us" "${base:-0}" -le 160
	expect "bytes of the low one" "$(field received 0 /run/low)" -le 100000
	# 6 s at 11.8 MB of payload
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge 69000000
	lablink-ctl set east netns cr rate 1gbit
}

# A base RTT that was given: what no packet has taken is not believed, and check says so; a shorter one
# is.
test_base_rtt_given()
{
	for given_us in 500 15; do
		in_ns ca sysctl -q -w net.fairlane.base_rtt_ns=${given_us}000
		flow -c prioplus -q 2 -b -1 -L 40 > /run/a &
		sleep 0.03
		in_ns ca fairlane -j flow show > /run/show
		in_ns ca fairlane -j check > /run/check
		wait
		base_ns=$(jq '.[0].base_rtt_ns' /run/show)
		if [ $given_us = 500 ]; then
			between "base RTT, ns" "$base_ns" 20000 45000
			jq -e '.[] | select(.check == "shorter" and .verdict == "note")' /run/check > /dev/null ||
				fault "check says nothing"
		else
			expect "base RTT, ns" "$base_ns" -eq 15000
			jq -e '.[] | select(.check == "shorter")' /run/check > /dev/null && fault "check complains"
		fi
	done
	in_ns ca sysctl -q -w net.fairlane.base_rtt_ns=0
}

# Base RTTs of flows $1, spread and least, ns.
bases_ns()
{
	in_ns ca fairlane -j flow show | jq -r '[.[].base_rtt_ns] |
		"\(length) \(max - min) \(min)"'
}

# Handshakes and first packets tell the base RTT to the ns: flows to eight addresses, which
# know nothing of each other, agree, before they have sent anything and after.
test_base_rtt_agrees()
{
	for i in 1 2 3 4 5 6 7 8; do
		ip -n cb addr add 10.0.2.1$i/24 dev e0
		flow -c prioplus -q 3 -a 10.0.2.1$i -p 510$i -L 40 \
			0:all:mbps=0 $((10 + 3 * i)):all:mbps=-1 $((11 + 3 * i)):all:mbps=0 &
		sleep 0.0001$i$i$i$i
	done
	sleep 0.005
	bases_ns > /run/early
	sleep 0.03
	bases_ns > /run/late
	wait
	echo "# flows, spread and least, ns: $(cat /run/early /run/late | paste -sd' ')"
	read -r n spread _ < /run/early
	expect "flows that wait" "$n" -eq 8
	expect "spread before they send, ns" "$spread" -le 100
	read -r n spread _ < /run/late
	expect "flows" "$n" -eq 8
	expect "spread, ns" "$spread" -le 100
}

# Bytes that tables of paths and large tables take while "$@" runs.
path_bytes()
{
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	echo > /sys/kernel/tracing/trace
	echo 1 > /sys/kernel/tracing/events/kmem/kmalloc/enable || fault "no event of memory"
	"$@"
	echo 0 > /sys/kernel/tracing/events/kmem/kmalloc/enable
	sed -n 's/.*call_site=[_a-z]*\(fl_paths\|kvmalloc\).* bytes_alloc=\([0-9]*\).*/\2/p' /sys/kernel/tracing/trace |
		awk '{ n += $1 } END { print n + 0 }'
}

new_namespace() { ip netns add cx && ip netns del cx; }
measuring_flow() { flow -c prioplus -q 3 -a 10.0.2.1 -b 100000 > /dev/null; }

# A table of paths is there with the first flow that measures, and only the part that the
# flow needs: containers that have no such flow take nothing.
test_base_rtt_memory()
{
	idle=$(path_bytes new_namespace)
	used=$(path_bytes measuring_flow)
	echo "# a new namespace takes $idle bytes, its first flow $used"
	expect "bytes of a namespace without flows" "$idle" -eq 0
	expect "bytes with the first flow" "$used" -gt 0
	# two hosts, two directions of 2 kB
	expect "bytes with the first flow" "$used" -le 8192
}

# A high flow preempts a low one and gives back: $1 are options of the low one, $2 of
# the high one. 20 ms at 1 Gbit/s are 2.4 MB.
preempts()
{
	flow -c prioplus -q 1 -b -1 -L 60 $1 > /run/low &
	sleep 0.02
	flow -c prioplus -q 5 -p 5001 -b -1 -L 20 $2 > /run/high
	wait
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge "${3:-2200000}"
	expect "bytes of the low one" "$(field received 0 /run/low)" -ge 4200000
	expect "pause of the low one, us" "$(field gap 0 /run/low)" -ge 17000
	expect "pause of the low one, us" "$(field gap 0 /run/low)" -le 23000
}

# Marks do not matter: the delay decides.
test_ecn()
{
	in_ns ca sysctl -q -w net.ipv4.tcp_ecn=1
	in_ns cb sysctl -q -w net.ipv4.tcp_ecn=1
	tc -n cr qdisc replace dev east root fabric limit 750kb ecn 10kb || fault "no sch_fabric"
	ce=$(counter ca TcpExtTCPDeliveredCE)
	preempts '' ''
	expect "marked packets" "$(counter ca TcpExtTCPDeliveredCE)" -ge $((ce + 100))
	in_ns ca sysctl -q -w net.ipv4.tcp_ecn=2
	in_ns cb sysctl -q -w net.ipv4.tcp_ecn=2
}

# Flows with packets of 600 and of 1500 bytes in one queue, either way round. Short
# ones carry a tenth less on the same line.
test_mixed_mtu()
{
	ip -n cb addr add 10.0.2.2/24 dev e0
	ip -n ca route add 10.0.2.2 via 10.0.1.254 mtu 600 quickack 1
	preempts '' '-a 10.0.2.2' 2000000
	ip -n ca route del 10.0.2.2
	ip -n ca route add 10.0.2.2 via 10.0.1.254 quickack 1
	ip -n ca route change 10.0.2.1 via 10.0.1.254 mtu 600 quickack 1 2> /dev/null ||
		ip -n ca route add 10.0.2.1 via 10.0.1.254 mtu 600 quickack 1
	flow -c prioplus -q 1 -b -1 -L 60 > /run/low &
	sleep 0.02
	flow -c prioplus -q 5 -p 5001 -a 10.0.2.2 -b -1 -L 20 > /run/high
	wait
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge 2200000
	expect "bytes of the low one, short packets" "$(field received 0 /run/low)" -ge 3800000
}

# The path becomes longer by 500 us, and shorter again: flows go on, and know the
# new base RTT when the old one is forgotten (4.3 s).
test_path_change()
{
	lablink-ctl set east netns cr rate 100mbit
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100 \
		net.fairlane.research.fluct_ns=300000 net.fairlane.noise_ns=50000
	flow -c prioplus -q 3 -b -1 -L 10500 > /run/a &
	sleep 1
	tc -n cr qdisc replace dev west root netem limit 1000 delay 500us
	sleep 5
	base=$(mrtt_us 5000)
	start=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
	sleep 1
	end=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
	tc -n cr qdisc del dev west root
	# the queue takes up what the path has lost until a window turns
	sleep 2.5
	again=$(mrtt_us 5000)
	wait
	expect "base RTT of the longer path, us" "${base:-0}" -ge 600
	expect "base RTT of the longer path, us" "${base:-0}" -le 720
	# 1 s at 100 Mbit/s
	expect "bytes on the longer path" $((end - start)) -ge 11800000
	expect "base RTT of the shorter path, us" "${again:-1000}" -le 160
	expect "bytes of all" "$(field received 0 /run/a)" -ge 110000000
	lablink-ctl set east netns cr rate 1gbit
}

# The same with Swift, whose base RTT is its own: it has the line again within a second.
test_longer_route()
{
	delays='100us 1ms'
	[ "$level" != check ] || delays=1ms
	for delay in $delays; do
		flow -c swift -b -1 -L 2300 1700:all:mark 2200:all:mark > /run/a &
		sleep 0.2
		lablink-ctl set east netns cr delay $delay || fault "no delay"
		wait
		got=$(marked /run/a 2200)
		# 500 ms at 1 Gbit/s are 58 MB
		expect "bytes in 500 ms on a path longer by $delay" "${got:-0}" -ge 52000000
		lablink-ctl set east netns cr delay 2us
	done
}

# The same where the path is twenty times as long as it was: Swift had nothing for good.
test_much_longer_route()
{
	as_it_comes
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=200
	for d in east:cr e0:cb; do
		lablink-ctl set ${d%:*} netns ${d#*:} rate 200mbit delay 50us
	done
	flow -c swift -b -1 -L 2000 1500:all:mark 2000:all:mark > /run/a &
	sleep 0.5
	for d in east:cr e0:cb; do
		lablink-ctl set ${d%:*} netns ${d#*:} delay 2ms || fault "no delay"
	done
	wait
	# 500 ms at 200 Mbit/s are 12 MB, and the window grows by a tenth of a packet in an RTT
	expect "bytes in 500 ms, 1 s after the change" "$(marked /run/a 2000)" -ge 2500000
}

# From one byte to a BDP: a probe, a few RTTs, whoever else sends.
test_short_flows()
{
	flow -c prioplus -q 1 -b -1 -L 60 > /run/low &
	sleep 0.01
	for bytes in 1 1448 1449 2896 4344 10000; do
		flow -c prioplus -q 5 -p 5001 -b $bytes -L 50 > /run/a || fault "$bytes bytes"
		# RTT with the low one's queue: 75 us, with the own one's 235 us
		expect "us until $bytes bytes had come" "$(field end 0 /run/a)" -le 1500
		flow -c prioplus -q 1 -n 3 -p 5002 -b $bytes -L 50 > /run/a || fault "3 times $bytes bytes"
	done
	wait
	expect "bytes of the low one" "$(field received 0 /run/low)" -ge 5500000
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

# A tenth of the ACKs is lost where Swift's windows are below two packets: 100 Mbit/s, which seven
# flows share. An ACK that is lost costs a packet's time, no timeout: cubic needs 40 to 50 ms.
test_lost_acks_of_small_windows()
{
	tc -n cr qdisc replace dev east root handle 2: fabric rate 100mbit limit 1mb || fault "port"
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100 net.fairlane.base_rtt_ns=300000 \
		net.fairlane.research.fluct_ns=400000 net.fairlane.noise_ns=250000
	lose_some cb e0 10 || fault "no loss"
	: > /run/ends
	sum_ms=0 timeouts=$(counter ca TcpExtTCPTimeouts)
	for try in 1 2 3 4 5 6 7 8 9 10; do
		flow -c swift -n 7 -b 61000 -q 1-6 -p $((5000 + try)) -L 60000 > /run/out || fault "not all data arrives: $(cat /run/out)"
		awk '$8 + 0 > 0 { print int($8 / 1000) }' /run/out >> /run/ends
		sum_ms=$((sum_ms + $(awk '$8 > x { x = $8 } END { print int(x / 1000) }' /run/out)))
	done
	timeouts=$(($(counter ca TcpExtTCPTimeouts) - timeouts))
	late=$(awk '$1 > 150' /run/ends | wc -l)
	echo "# ten times seven flows of 61 kB: $sum_ms ms, $late late, $timeouts timeouts, $(lost cb e0) ACKs lost"
	expect "flows" "$(wc -l < /run/ends)" -eq 70
	expect "ACKs lost" "$(lost cb e0)" -ge 100
	expect "ms for ten times seven flows" $sum_ms -le 4000
	expect "flows that a timer made late" "$late" -le 12
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
tests=${*:-addresses default_priority answers late_readers smaller_path_mtu both_ways any_length slower_line untold_jitter untold_long_jitter told_noise dips priorities priority_change live_priority probes trace loss loss_and_base_rtt ack_loss lost_acks_of_small_windows owner_paces reordering double_data dsack_count close_stopped last_fin hundreds switch trains
	listener poor_peers outage base_rtt base_rtt_given base_rtt_agrees base_rtt_memory settings ledbat prioplus_ledbat one_way deadlines many_flows
	ecn mixed_mtu path_change longer_route much_longer_route short_flows removal}
run_tests 1 $tests
