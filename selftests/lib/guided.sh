# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2016,SC2034,SC2086,SC2154,SC2317 # awk; words; called by name; cc is the test's
#
# What the tests of controls that are guided by telemetry share, on live sockets, in virtual
# time; after guest.sh:
#
#	ta --- tr --- tb	1 Gbit/s from tr to tb, sch_fabric stamps there
#
# The test has set $cc, the control, and $stamp, what the port towards tb stamps. Needs jq
# and, in PATH, flowgen too.

# check: one jitter, one length, the untold queue for three seconds
jitters_us="50 200 1000" longer="100us 1ms" untold_s=7
[ "${TEST_LEVEL:-all}" != check ] || jitters_us=200 longer=1ms untold_s=3

# Payload that 1 Gbit/s takes in a ms: segments of 1440 bytes, 1538 on the line.
LINE_BYTES_MS=117035

drop_net() { drop_nodes ta tr tb td; }

# A fresh topology.
net()
{
	drop_nodes td
	three_nodes ta tr tb 10gbit '' || return 1
	in_ns ta sysctl -q -w net.fairlane.line_rate_mbps=1000
	fabric stamp $stamp
	# Address resolution done before anything is timed.
	flowgen -f ta -t tb -a 10.0.2.1 -c cubic -b 1000 > /dev/null &&
	flowgen -f ta -t tb -a fd00:2::1 -c cubic -b 1000 > /dev/null
}

# The port towards tb, with the words $*.
fabric() { tc -n tr qdisc replace dev east root handle 1: fabric limit 1mb "$@"; }

# flowgen from ta to tb with $1 flows and events; its report is /run/a. $to: another address
flows()
{
	n=$1
	shift
	flowgen -f ta -t tb -a "${to:-10.0.2.1}" -c $cc -n "$n" "$@" > /run/a 2> /run/errors || fault "$(cat /run/errors)"
}

# What the line with mark $1 says of flow $2 about $3.
said() { awk -v m="$1" -v f="$2" -v w="$3" '$2 == m && $4 == f { for (i = 5; i < NF; i++) if ($i == w) print $(i + 1) }' /run/a; }
# The sum of $2 of all flows at mark $1.
all() { awk -v m="$1" -v w="$2" '$2 == m { for (i = 5; i < NF; i++) if ($i == w) x += $(i + 1) } END { print x + 0 }' /run/a; }
drops() { tc -n tr -s -j qdisc show dev east | jq '.[0].drops'; }

# full MARK MS PERMILLE: so much of the line was used in the MS before MARK.
full()
{
	used=$(($(all "$1" bytes) / ($2 * LINE_BYTES_MS / 1000)))
	echo "# at $1 ms: $used permille of the line"
	expect "used until $1 ms, permille" "$used" -ge "$3"
}

# Questions of 70 kB with pauses of 30 ms on a path of 1 ms: after a pause a flow does not begin with the
# initial window.
test_questions()
{
	lablink-ctl set east netns tr delay 1ms || fault "no delay"
	flows 1 -w 70000@30000 -b 700000 -L 400
	end_us=$(awk '{ for (i = 1; i < NF; i++) if ($i == "end") print $(i + 1) }' /run/a)
	between "the last question's time, us" $((${end_us:-0} - 270000)) 1000 2700
	expect "drops" "$(drops)" -eq 0
}

# A lone flow has its line, however much the delays jitter, of which it was told nothing.
test_jitter()
{
	for us in $jitters_us; do
		lablink-ctl set east netns tr noise "0,${us}us" seed 7 || fault "no noise"
		flows 1 100:all:mark 600:all:mark
		full 600 500 900
	done
	lablink-ctl set east netns tr noise off
}

# A route that becomes longer is no queue: a lone flow has its line again within two seconds.
test_longer_route()
{
	for delay in $longer; do
		flows 1 100:all:mark 200:all:mark 2300:all:mark 2800:all:mark &
		sleep 0.25
		lablink-ctl set east netns tr delay $delay || fault "no delay"
		wait
		full 200 100 900
		full 2800 500 900
		lablink-ctl set east netns tr delay 2us
	done
}

# A queue that nobody tells of does not become the path: four flows keep it as short as it was, and
# share the line.
test_untold_queue()
{
	tc -n tr qdisc replace dev east root handle 2: pfifo limit 2000
	flows 4 500:all:mark 1000:all:mark ${untold_s}000:all:mark ${untold_s}500:all:mark &
	sleep 0.5
	early=$(untold_bytes)
	sleep $((untold_s - 1))
	late=$(untold_bytes)
	wait
	echo "# queue of $early, then $late bytes"
	full ${untold_s}500 500 980
	expect "queue in bytes, of $early" "$late" -le $((2 * early + 30000))
	fair ${untold_s}500 4
}

# What waits at the port without telemetry, in the mean of half a second.
untold_bytes()
{
	sum=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.05
		sum=$((sum + $(tc -n tr -s -j qdisc show dev east | jq '.[0].backlog')))
	done
	echo $((sum / 10))
}

# fair MARK FLOWS: each of FLOWS has at least half of its part
fair()
{
	least=$(awk -v m="$1" '$2 == m { for (i = 5; i < NF; i++) if ($i == "bytes" && (!n++ || $(i + 1) < x)) x = $(i + 1) } END { print x + 0 }' /run/a)
	expect "bytes of the least of $2 flows" "$least" -ge $(($(all "$1" bytes) / $2 / 2))
}

# A receiver, or a path, without telemetry: Reno, visibly, and back.
test_no_telemetry()
{
	in_ns tb sysctl -q -w net.fairlane.telemetry=0
	flows 2 200:all:mark 400:all:mark
	expect "flows that fell back" "$(all 400 fallback)" -eq 2
	expect "fallbacks" "$(told ta fallbacks)" -eq 2
	full 400 200 900
	in_ns tb sysctl -q -w net.fairlane.telemetry=2
	flows 2 200:all:mark 400:all:mark
	expect "flows that fell back" "$(all 400 fallback)" -eq 0
	# a server that chooses the control when it has accepted: the pace of what was sent till then,
	# where SYN cookies have measured no RTT, is not the flow's for ever
	in_ns ta sysctl -q -w net.fairlane.telemetry=0
	in_ns tb sysctl -q -w net.ipv4.tcp_syncookies=2
	for to in 10.0.2.1 fd00:2::1; do
		flows 1 -r 200:all:mark 400:all:mark
		expect "flows that fell back" "$(all 400 fallback)" -eq 1
		full 400 200 900
	done
	to=''
}

# What the port has lost in a second, one and a half after now.
drops_meanwhile()
{
	sleep 1.5
	before=$(drops)
	sleep 1
	echo $(($(drops) - before))
}

# A policer: nobody tells of it and nothing waits there. What is lost is no more than some
# times Reno's.
test_policer()
{
	for dev in east west; do
		lablink-ctl set $dev netns tr delay 2ms || fault "no delay"
	done
	police tr east 60
	cc=reno flows 1 2500:all:mark &
	reno=$(drops_meanwhile)
	wait
	flows 1 1500:all:mark 2500:all:mark &
	lost=$(drops_meanwhile)
	wait
	echo "# $lost lost, reno $reno; $(said 2500 0 bytes) bytes in a second"
	expect "lost" $lost -le $((4 * reno))
	# of 7.2 MB
	expect "bytes in a second" "$(said 2500 0 bytes)" -ge 4000000
	for dev in east west; do
		lablink-ctl set $dev netns tr delay 2us
	done
}

# A port that does not tell of its queue, which is full sooner than flows would have it: what is lost is
# no more than some times Reno's, and flows of weights share roughly. $SHORT_PKTS: packets in the queue,
# which takes long: some controls have one of the two.
test_short_untold_queue()
{
	for dev in east west; do
		lablink-ctl set $dev netns tr delay 500us || fault "no delay"
	done
	for pkts in ${SHORT_PKTS:-40 80}; do
		tc -n tr qdisc replace dev east root handle 2: pfifo limit $pkts
		cc=reno flows 3 3000:all:mark &
		reno=$(drops_meanwhile)
		wait
		flows 3 0:1:weight=2 0:2:weight=4 1000:all:mark 3000:all:mark &
		lost=$(drops_meanwhile)
		wait
		echo "# $pkts packets: $lost lost, reno $reno; $(said 3000 0 bytes) $(said 3000 1 bytes) $(said 3000 2 bytes) bytes"
		expect "lost of $pkts packets" $lost -le $((4 * reno))
		full 3000 2000 800
		expect "bytes of weight 4 and 1" "$(said 3000 2 bytes)" -gt $((2 * $(said 3000 0 bytes)))
	done
	for dev in east west; do
		lablink-ctl set $dev netns tr delay 2us
	done
}
