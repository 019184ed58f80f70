# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2086,SC2154,SC3044 # words; cc.sh has the other half; own functions
# PrioPlus, sourced by cc.sh: who waits for whom, probes and what an echo is, short flows.

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

# Hundreds begin together: their probes alone were a queue for which all of them waited, for a second.
test_hundreds()
{
	flow -c prioplus -q 0 -n 400 -b 5000 -L 2000 > /run/out || fault "not all is sent"
	complete /run/out 150000
	last_us=$(awk '$1 == "flow" && $8 > most { most = $8 } END { print most + 0 }' /run/out)
	# cubic needs 210 ms
	between "time until all of 400 have their 5000 bytes, us" "$last_us" 1 150000
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
		[ "$level:$cc" != check:prioplus ] || outages_ms=1000
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
