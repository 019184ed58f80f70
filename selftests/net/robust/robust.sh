#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # words; called by name
#
# PrioPlus where paths and applications are not as in the paper, on live sockets,
# in virtual time:
#
#	ra ---+                    rb
#	      |                    |
#	      r1 --- 1 Gbit/s --- r2 --- 1 Gbit/s --- r3 --- rc
#	      |
#	rd ---+
#
# Base RTT about 40 us from ra to rb, 1 ms more from rd; hosts have 10 Gbit/s.
# Names of tests as arguments select. Needs root, lablink, ip, tc, jq and, in
# PATH, flowgen, fairlane and lablink-ctl; $MODULES is the folder of the modules.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
nodes='ra rb rc rd r1 r2 r3'
tracing=/sys/kernel/tracing

drop_net() { drop_nodes $nodes; }

# host NAME NETWORK ROUTER DELAY: a host at a router.
host()
{
	lablink-ctl add e0 netns $1 peer $1 netns $3 rate 10gbit delay $4 &&
	host_address $1 $2 'quickack 1' &&
	ip -n $3 link set $1 up && ip -n $3 addr add 10.0.$2.254/24 dev $1 &&
	in_ns $1 sysctl -q -w net.fairlane.line_rate_mbps=1000 \
		net.fairlane.research.fluct_ns=30000 net.fairlane.noise_ns=10000
}

# trunk LEFT RIGHT NETWORK: 1 Gbit/s between two routers.
trunk()
{
	lablink-ctl add east netns $1 peer west netns $2 rate 1gbit delay 2us &&
	ip -n $1 link set east up && ip -n $1 addr add 10.1.$3.1/24 dev east &&
	ip -n $2 link set west up && ip -n $2 addr add 10.1.$3.2/24 dev west &&
	tc -n $1 qdisc replace dev east root handle 1: pfifo limit 500
}

# A fresh topology; channels of a few packets' time.
net()
{
	drop_net
	for n in $nodes; do
		ip netns add $n && ip -n $n link set lo up || return 1
		in_ns $n sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.tcp_no_metrics_save=1
	done
	host ra 1 r1 2us && host rb 2 r2 2us && host rc 3 r3 2us && host rd 4 r1 500us &&
	trunk r1 r2 1 && trunk r2 r3 2 &&
	ip -n r1 route add default via 10.1.1.2 && ip -n r3 route add default via 10.1.2.1 &&
	ip -n r2 route add 10.0.3.0/24 via 10.1.2.2 && ip -n r2 route add default via 10.1.1.1 ||
		return 1
	# Address resolution done before anything is timed.
	flow ra rb -c cubic -b 1000 > /dev/null && flow ra rc -c cubic -b 1000 > /dev/null &&
	flow rb rc -c cubic -b 1000 > /dev/null && flow rd rb -c cubic -b 1000 > /dev/null
}

# flow FROM TO OPTION...
flow()
{
	from=$1 to=$2
	shift 2
	case $to in
	rb) flowgen -f $from -t rb -a 10.0.2.1 "$@" ;;
	rc) flowgen -f $from -t rc -a 10.0.3.1 "$@" ;;
	esac
}

# pp FROM TO PRIORITY PORT OPTION...: flows of PrioPlus.
pp()
{
	from=$1 to=$2 priority=$3 port=$4
	shift 4
	flow $from $to -c prioplus -q $priority -p $port "$@"
}

# Begins a trace of the events $*, in ns of the same clock.
trace()
{
	mount -t tracefs none $tracing 2> /dev/null
	echo mono > $tracing/trace_clock
	echo 16384 > $tracing/buffer_size_kb
	echo > $tracing/trace
	for event in "$@"; do
		echo 1 > $tracing/events/$event/enable || fault "no event $event"
	done
}

end_trace()
{
	for event in "$@"; do
		echo 0 > $tracing/events/$event/enable
	done
}

# done_by WHAT FILE US: the flow in FILE is complete, its last byte by US.
done_by()
{
	end=$(field end 0 $2)
	echo "# $1: $(cat $2)"
	grep -q 'state done' $2 || fault "$1 is not complete: $(cat $2)"
	expect "$1, us until its end" "${end:-99999999}" -le $3
}

# A long path with a bottleneck after the other: strict at each, and whoever has
# waited has the link when the others are gone. 40 ms at 1 Gbit/s are 4.7 MB.
test_parking_high()
{
	pp ra rb 1 5001 -b -1 -L 120 > /run/first &
	pp rb rc 1 5002 -b -1 -L 120 > /run/second &
	sleep 0.04
	pp ra rc 5 5000 -b -1 -L 40 > /run/long
	wait
	echo "# long $(cat /run/long); short $(cat /run/first); $(cat /run/second)"
	expect "bytes of the long one" "$(field received 0 /run/long)" -ge 4500000
	for f in first second; do
		expect "bytes of the $f short one" "$(field received 0 /run/$f)" -ge 9000000
		expect "pause of the $f short one, us" "$(field gap 0 /run/$f)" -ge 38000
		expect "pause of the $f short one, us" "$(field gap 0 /run/$f)" -le 43000
	done
}

# A low one waits while either of two high ones sends, 20 to 60 ms and 50 to 90 ms.
test_parking_low()
{
	pp ra rc 1 5000 -b -1 -L 130 > /run/long &
	sleep 0.02
	pp ra rb 5 5001 -b -1 -L 40 > /run/first &
	sleep 0.03
	pp rb rc 5 5002 -b -1 -L 40 > /run/second
	wait
	echo "# long $(cat /run/long); short $(cat /run/first); $(cat /run/second)"
	for f in first second; do
		expect "bytes of the $f short one" "$(field received 0 /run/$f)" -ge 4500000
	done
	expect "pause of the long one, us" "$(field gap 0 /run/long)" -ge 68000
	expect "pause of the long one, us" "$(field gap 0 /run/long)" -le 73000
	# 60 of the 130 ms
	expect "bytes of the long one" "$(field received 0 /run/long)" -ge 6700000
}

# Three priorities: what the middle one, stopped at the second bottleneck, leaves at
# the first, the lowest one has there; then the middle one has both.
test_parking_middle()
{
	pp ra rb 1 5001 -b -1 -L 120 > /run/lowest &
	pp ra rc 3 5000 -b -1 -L 120 > /run/middle &
	sleep 0.04
	pp rb rc 5 5002 -b -1 -L 40 > /run/highest
	wait
	echo "# middle $(cat /run/middle); $(cat /run/lowest); $(cat /run/highest)"
	expect "bytes of the highest" "$(field received 0 /run/highest)" -ge 4500000
	# 40 ms of 120, while the middle one waits
	expect "bytes of the lowest" "$(field received 0 /run/lowest)" -ge 4300000
	expect "bytes of the lowest" "$(field received 0 /run/lowest)" -le 5000000
	expect "bytes of the middle one" "$(field received 0 /run/middle)" -ge 8900000
	expect "pause of the middle one, us" "$(field gap 0 /run/middle)" -le 43000
}

# A flow of $1 that was silent for 300 ms beside two others of its priority, which
# have taken its place, writes 1.2 MB again. No burst: it asks before it sends, no
# packet is lost with a queue of 60 at most (from rd, the window of then would be more),
# the others see no delay above their channel (they would stop).
idle()
{
	pp $1 rb 3 5000 -w 1200000@330000 -b 2400000 -L 1300 > /run/idle &
	sleep 0.03
	pp $1 rb 3 5001 -n 2 -b -1 -L 1200 > /run/siblings &
	sleep 0.29
	tc -n r1 qdisc replace dev east root handle 1: pfifo limit 60
	lost=$(counter $1 TcpRetransSegs)
	trace fairlane/fl_prioplus_state fairlane/fl_prioplus_probe
	sleep 0.04
	end_trace fairlane/fl_prioplus_state fairlane/fl_prioplus_probe
	lost=$(($(counter $1 TcpRetransSegs) - lost))
	stops=$(grep -c ':5001 cookie=.*stopped=1' $tracing/trace)
	begun=$(grep ':5000 cookie=.*stopped=0\|:5000 cookie=.*what=echo' $tracing/trace |
		head -n 2 | grep -c 'what=echo\|delay_ns=[1-9]')
	wait
	echo "# $1: $stops stops of others, $lost retransmissions; $(cat /run/idle)"
	expect "echo and start of the one from $1" "$begun" -eq 2
	expect "stops of others" "$stops" -eq 0
	expect "retransmissions" "$lost" -eq 0
	expect "silence and restart, us" "$(field gap 0 /run/idle)" -ge 290000
}

# Nor does it starve: 30 ms would be its share, a new flow takes 125 ms. (Shares are
# equal over seconds; with an RTT of 1 ms, over many.)
test_idle_restart()
{
	idle ra
	done_by "silent one" /run/idle 530000
	expect "silence and restart, us" "$(field gap 0 /run/idle)" -le 330000
	idle rd
}

# An application that sends 10 % of the line has it at once, by whatever writes; its
# window never fills its channel, so the low one sees no reason to stop and has
# most of the rest: the paper's rule is delay, not who is there.
limited()
{
	pp ra rb 5 5001 -w $1 -b 3750000 -L 400 > /run/high &
	pp ra rb 1 5000 -b -1 -L 300 > /run/low
	wait
	low=$(field received 0 /run/low)
	# 300 ms at 10 %; the last write at 299 ms or later
	done_by "high one, $1" /run/high 301500
	echo "# low one beside $1: $low bytes, $(cat /run/low)"
	# 300 ms at 1 Gbit/s: 35.5 MB of payload, of which 90 % are 31.9
	expect "bytes of the low one beside $1" "$low" -ge $2
	expect "bytes of the low one beside $1" "$low" -le 32200000
}

test_application_limited()
{
	limited 1250@100 29000000
	limited 12500@1000 25000000
}

# Packets of the filter $1 (pref) at e0 of ra.
passed()
{
	tc -n ra -s -j filter show dev e0 egress pref $1 |
		jq '[.[].options.actions[]?.stats.packets] | add // 0'
}

# Stopped flows: probes are all they send, and the timers of these all that fires. A
# probe is due an RTT or two after the last, 1 ms at most.
test_suspended()
{
	tc -n ra qdisc replace dev e0 clsact
	tc -n ra filter add dev e0 egress protocol ip pref 1 u32 match ip protocol 6 0xff \
		match ip dport 5010 0xffff match u16 53 0xffff at 2 action ok
	tc -n ra filter add dev e0 egress protocol ip pref 2 u32 match ip protocol 6 0xff \
		match ip dport 5010 0xffff action ok
	pp ra rb 1 5010 -n 8 -b -1 -L 300 > /run/low &
	sleep 0.05
	pp ra rb 5 5001 -b -1 -L 200 > /run/high &
	sleep 0.05
	probes=$(passed 1) others=$(passed 2)
	expect "packets while sending" "$others" -ge 2000
	trace fairlane/fl_prioplus_probe timer/hrtimer_expire_entry timer/timer_expire_entry
	sleep 0.1
	end_trace fairlane/fl_prioplus_probe timer/hrtimer_expire_entry timer/timer_expire_entry
	probes=$(($(passed 1) - probes)) others=$(($(passed 2) - others))
	wait
	sent=$(grep -c ':5010 cookie=.*what=sent' $tracing/trace)
	tcp=$(grep -c 'function=tcp_.*_timer' $tracing/trace)
	# What follows a timer tells whose it is: those of the high one send no probes.
	awk 'function timer() { match($0, /hrtimer=[^ ]*/); return substr($0, RSTART, RLENGTH) }
		/function=pp_timer_fire/ { if (of) vain[of]++; of = timer(); next }
		of && /:5010 cookie=.*what=(sent|lost)/ { useful[of]++; of = ""; next }
		of { vain[of]++; of = "" }
		END { for (t in useful) { n++; fired += useful[t]; other += vain[t] }
			print n + 0, fired + 0, other + 0 }' $tracing/trace > /run/count
	read -r timers fired vain < /run/count
	echo "# 8 stopped flows, 100 ms: $probes probes, $others other packets; $sent sent, $timers timers fired $fired times for these and $vain for nothing, $tcp of TCP"
	expect "timers" "$timers" -eq 8
	expect "times that they fired in vain" "$vain" -le 8
	# one that was armed before the stop may be left
	expect "timers of TCP" "$tcp" -le 8
	expect "probes" "$probes" -ge 100
	expect "probes" "$probes" -le 1200
	expect "other packets of stopped flows" "$others" -eq 0
	expect "probes in the trace" "$sent" -ge $((probes - 8))
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge 23000000
}

# What was in flight at a stop tells of a time that is over: its ACKs come for an RTT
# and do not resume the flow, only an echo does; nor do those of packets of then
# stop it after it has resumed, when the high one has gone.
stale()
{
	trace fairlane/fl_prioplus_state fairlane/fl_prioplus_probe
	pp $1 rb 1 5000 -b -1 -L 200 > /run/low &
	sleep 0.05
	pp ra rb 5 5001 -b -1 -L 50 > /run/high
	wait
	end_trace fairlane/fl_prioplus_state fairlane/fl_prioplus_probe
	awk '!/:5000 cookie=/ { next }
		/stopped=1/ { stops++; stopped = 1; echo = 0; next }
		/what=echo/ { echo = 1 }
		/stopped=0/ { if (!echo) blind++; stopped = 0; n++ }
		END { print stops + 0, n + 0, blind + 0 }' $tracing/trace > /run/count
	read -r stops resumptions blind < /run/count
	echo "# $1: $stops stops, $resumptions resumptions, $blind without an echo"
	echo "# $(cat /run/low) $(cat /run/high)"
	expect "stops" "$stops" -ge 1
	expect "resumptions without an echo" "$blind" -eq 0
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge 5700000
}

test_stale_samples()
{
	stale rd
	# its last round trip, a full one, is not to be in the way
	sleep 0.01
	stale ra
	expect "stops of a low one" "$stops" -eq 1
	# 150 of 200 ms
	expect "bytes of the low one" "$(field received 0 /run/low)" -ge 17000000
}

# A base RTT of many channels: a low one, from $1, gets the link back from a high one,
# from $2, which has had it from 50 to 100 of 250 ms. $3: least bytes of the high one.
preempted()
{
	net
	pp $1 rb 1 5000 -b -1 -L 250 > /run/low &
	sleep 0.05
	pp $2 rb 5 5001 -b -1 -L 50 > /run/high
	wait
	echo "# low from $1 $(cat /run/low); high from $2 $(cat /run/high)"
	# 200 ms are 23.5 MB, 50 ms 5.9 MB
	expect "bytes of the low one" "$(field received 0 /run/low)" -ge 19500000
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge $3
}

test_long_preempted()
{
	preempted rd ra 5100000
	preempted ra rd 4700000
	preempted rd rd 4700000
}

# 1.2 MB beside two flows of the same priority: 30 ms of a third of the link.
test_long_newcomer()
{
	pp rd rb 3 5001 -n 2 -b -1 -L 900 > /run/siblings &
	sleep 0.1
	pp rd rb 3 5002 -b 1200000 -L 800 > /run/new
	wait
	echo "# new $(cat /run/new); siblings $(cat /run/siblings)"
	done_by "the newcomer" /run/new 600000
}

trap 'drop_net' EXIT
# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load_modules fairlane tcp_prioplus || exit 1
tests=${*:-parking_high parking_low parking_middle idle_restart application_limited
	suspended stale_samples long_preempted long_newcomer}
run_tests 1 $tests
