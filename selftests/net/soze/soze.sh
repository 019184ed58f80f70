#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2034,SC2086,SC2154,SC2317 # awk; lib/guided.sh has the other half; words; called by name
#
# Söze where conditions change, on live sockets, in virtual time; lib/guided.sh has the
# topology. Names of tests as arguments select. $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
cc=soze
stamp=soze
# shellcheck disable=SC1091 # likewise
. "${LIB%/*}/guided.sh"

# The largest gap of all flows at mark $1, us.
gap() { awk -v m="$1" '$2 == m && $8 > x { x = $8 } END { print x + 0 }' /run/a; }
# $1 in thousandths of $2; 99999: $2 is 0.
permille() { if [ "$2" -gt 0 ]; then echo $((1000 * $1 / $2)); else echo 99999; fi; }

# shares MARK PERMILLE WEIGHT...: flow i has WEIGHT i's part of what all have, within
# PERMILLE of that part.
shares()
{
	ms=$1 bound=$2
	shift 2
	worst=$(awk -v m="$ms" -v list="$*" 'BEGIN { n = split(list, w); for (i = 1; i <= n; i++) sum += w[i] }
		$2 == m { got[$4 + 1] = $6; x += $6 }
		END {
			for (i = 1; x && i <= n; i++) {
				e = 1000 * (got[i] * sum / (w[i] * x) - 1)
				e = e < 0 ? -e : e
				worst = e > worst ? e : worst
			}
			print x ? int(worst + 0.5) : 99999
		}' /run/a)
	echo "# at $ms ms: share error $worst permille"
	expect "share error at $ms ms, permille, $(grep -c "^mark $ms " /run/a) flows" "$worst" -le "$bound"
}

# Weights times 1000 and back, by the heavy flow's own change and by the light one's.
# The heavy flow has its share at once and the light one never stalls, though at 1 Mbit/s
# it is for a packet in 12 ms, and has come down to about that after 100 ms.
test_weights_1000()
{
	flows 2 200:all:mark 300:all:mark 300:0:weight=1000 400:all:mark 900:all:mark \
		900:0:weight=1 950:all:mark 1050:all:mark \
		1050:1:weight=0.001 1100:all:mark 1600:all:mark \
		1600:1:weight=1 1650:all:mark 1750:all:mark
	for at in 300 1050 1750; do
		shares $at 20 1 1
		full $at 100 990
	done
	for at in 900 1600; do
		heavy=$(permille "$(said $at 0 bytes)" "$(all $at bytes)")
		echo "# at $at ms: heavy flow $heavy permille, light one $(said $at 1 bytes) bytes in 500 ms"
		# 999, and a packet in 20 ms
		expect "heavy flow at $at ms, permille" $heavy -ge 990
		expect "heavy flow at $at ms, permille" $heavy -le 1000
		expect "light flow at $at ms, bytes" "$(said $at 1 bytes)" -ge 30000
		# its share are 62000
		expect "light flow at $at ms, bytes" "$(said $at 1 bytes)" -le 125000
		full $at 500 990
	done
	for at in 300 400 900 950 1050 1100 1600 1650 1750; do
		expect "longest gap until $at ms, us" "$(gap $at)" -le 60000
	done
	full 400 100 980
	expect "drops" "$(drops)" -eq 0
}

# What a flow does not use goes to the others, and comes back within 20 ms. It writes
# each 100 us: its bursts move the others' shares by 2 %.
test_application_limited()
{
	flows 3 0:0:mbps=100 0:2:weight=2 100:all:mark 200:all:mark 200:0:mbps=-1 \
		220:all:mark 320:all:mark 320:0:mbps=50 340:all:mark 440:all:mark
	for at in 200 440; do
		mbps=$((at == 200 ? 100 : 50))
		expect "limited flow, bytes until $at ms" "$(said $at 0 bytes)" -ge $((mbps * 12375))
		two=$(permille "$(said $at 2 bytes)" "$(said $at 1 bytes)")
		echo "# the others at $at ms: 1 to $two permille"
		expect "the others, 1 to permille" $two -ge 1900
		expect "the others, 1 to permille" $two -le 2100
		full $at 100 985
	done
	shares 320 20 1 1 2
	full 320 100 990
	full 340 20 950
	expect "drops" "$(drops)" -eq 0
}

# 200 ms of silence; then its share again, without a burst that costs packets.
test_idle_restart()
{
	flows 3 100:all:mark 200:all:mark 200:0:mbps=0 250:all:mark 400:all:mark 400:0:mbps=-1 \
		430:all:mark 530:all:mark
	shares 200 20 1 1 1
	full 400 150 985
	full 430 30 950
	shares 530 20 1 1 1
	expect "bytes of the silent flow" "$(said 400 0 bytes)" -eq 0
	expect "retransmissions" "$(all 530 retrans)" -eq 0
	expect "retransmissions after the pause" "$(all 430 retrans)" -eq 0
	expect "drops" "$(drops)" -eq 0
}

# Half of the line is UDP; the rest is shared by weight.
test_udp()
{
	flows 3 0:1:weight=2 0:2:weight=3 100:0:udp=500 200:all:mark 400:all:mark 400:0:udp=0 \
		430:all:mark 530:all:mark
	shares 400 30 1 2 3
	used=$(($(all 400 bytes) / (200 * LINE_BYTES_MS / 1000)))
	echo "# beside UDP: $used permille of the line"
	# with its headers UDP of 500 Mbit/s takes 524 Mbit/s
	expect "beside UDP, permille of the line" $used -ge 465
	expect "beside UDP, permille of the line" $used -le 485
	shares 530 20 1 2 3
	full 530 100 990
	expect "longest gap, us" "$(gap 400)" -le 10000
	expect "drops" "$(drops)" -eq 0
}

# Mean of the queueing delay that the flows hear at the marks, ns.
heard() { awk '{ n++; x += $12 } END { print n ? int(x / n) : 0 }' /run/a; }

# CE marks above 3 kB: flows slow down, so the queue is shorter than without, go on, and
# share the line by weight still.
test_ecn()
{
	for n in ta tb; do
		in_ns $n sysctl -q -w net.ipv4.tcp_ecn=1
	done
	events=
	for at in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		events="$events $((200 + 3 * at)):all:mark"
	done
	flows 2 0:1:weight=3 200:all:mark $events
	without=$(heard)
	fabric stamp soze ecn 3kb
	flows 2 0:1:weight=3 200:all:mark $events 460:all:mark
	marks=$(tc -n tr -s -j qdisc show dev east | jq '.[0].overlimits')
	echo "# $marks marks, $(heard) ns of queue, $without without marks"
	expect "marks" "$marks" -ge 1000
	expect "queue with marks, permille" "$(permille "$(heard)" "$without")" -le 800
	expect "retransmissions" "$(all 460 retrans)" -eq 0
	expect "longest gap, us" "$(gap 460)" -le 10000
	shares 460 150 1 3
	full 460 200 900
}

# 1 % of the data and 10 % of the ACKs are lost. A flow whose timer's packet is lost,
# too, is silent for 600 ms, with Reno as well; a third time would make it 1.4 s.
test_loss()
{
	in_ns ta offload e0 tso off gso off > /run/offload 2>&1 || fault "$(cat /run/offload)"
	{ lose_some ta e0 1 && lose_some tr west 10; } || fault "no loss"
	for run in 1 2 3; do
		flows 4 200:all:mark 1200:all:mark
		echo "# run $run: retransmitted $(all 1200 retrans), longest gap $(gap 1200) us, $(lost tr west) ACKs lost"
		full 1200 1000 400
		expect "ACKs lost" "$(lost tr west)" -ge $((100 * run))
		expect "retransmissions" "$(all 1200 retrans)" -ge 100
		expect "longest gap, us" "$(gap 1200)" -le 900000
	done
	flowgen -f ta -t tb -a 10.0.2.1 -c soze -n 4 -b 5000000 -L 20000 > /run/b || fault "not all data arrives: $(cat /run/b)"
}

# 100 flows at once: all arrive, in the time that they need.
test_incast()
{
	flowgen -f ta -t tb -a 10.0.2.1 -c soze -n 100 -b 200000 -L 5000 > /run/b || fault "not all data arrives"
	end=$(awk '$8 > x { x = $8 } END { print x }' /run/b)
	echo "# 100 flows of 200 kB took $end us, drops $(drops), longest gap $(awk '$6 > x { x = $6 } END { print x }' /run/b) us"
	# 171 ms at the line rate
	expect "end, us" "$end" -le 260000
	# 1000 packets of the first windows are 1.5 MB
	expect "drops" "$(drops)" -le 400
}

# Another host at tr, 500 us away.
third()
{
	ip netns add td && ip -n td link set lo up &&
	in_ns td sysctl -q -w net.ipv4.tcp_no_metrics_save=1 net.fairlane.line_rate_mbps=1000 &&
	lablink-ctl add e0 netns td peer far netns tr rate 10gbit delay 500us &&
	host_address td 3 '' && ip -n tr link set far up &&
	ip -n tr addr add 10.0.3.254/24 dev far
}

# Base RTTs of 10 us and 1 ms.
test_base_rtts()
{
	third || fault "no third host"
	flowgen -f ta,td -t tb -a 10.0.2.1 -c soze -n 4 0:2:weight=2 0:3:weight=2 1000:all:mark 2000:all:mark > /run/a 2> /run/errors ||
		fault "$(cat /run/errors)"
	shares 2000 50 1 1 2 2
	full 2000 1000 990
}

# To another control and back: the share is there again.
test_switch()
{
	flows 2 100:all:mark 100:0:cc=reno 150:all:mark 150:0:cc=soze 200:all:mark 300:all:mark \
		300:all:cc=cubic 310:all:cc=soze 360:all:mark 460:all:mark
	shares 300 20 1 1
	full 300 100 990
	shares 460 20 1 1
	full 460 100 990
	for at in 150 200 300 360 460; do
		expect "longest gap until $at ms, us" "$(gap $at)" -le 20000
	done
}

test_ipv6()
{
	flowgen -f ta -t tb -a fd00:2::1 -c soze -n 3 0:1:weight=2 0:2:weight=4 100:all:mark 300:all:mark > /run/a 2> /run/errors ||
		fault "$(cat /run/errors)"
	shares 300 20 1 2 4
	full 300 200 980
	expect "echoes" "$(told ta echoes)" -ge 1000
	expect "drops" "$(drops)" -eq 0
}

# Options that are none, to both ends of a live flow: counted, nothing else. Then
# some that are well: not counted.
test_malformed()
{
	events=
	at=100
	# ours too short, too long, cut off; an option of length 0, of 1, beyond the end
	for options in fd06464c00000000 fd0a464c0000ffff00000000 01010101fd08464c \
			fe00000000000000 fe01000000000000 fe14000000000000 0101010101fd0846; do
		events="$events $at:0:inject=$options"
		at=$((at + 1))
	done
	flows 2 90:all:mark $events 200:all:mark
	for n in ta tb; do
		expect "$n: malformed" "$(told $n bad)" -eq 7
		expect "$n: stray" "$(told $n stray)" -eq 0
	done
	shares 200 30 1 1
	full 200 110 985
	expect "retransmissions" "$(all 200 retrans)" -eq 0
	# ours twice, another experiment, an unknown option, padding
	events=
	at=100
	for options in fd08464c0000fffffd08464c0000ffff fd08123400000000 fe04000001010101 0000000000000000; do
		events="$events $at:0:inject=$options"
		at=$((at + 1))
	done
	flows 2 90:all:mark $events 200:all:mark
	for n in ta tb; do
		expect "$n: malformed" "$(told $n bad)" -eq 7
	done
	shares 200 30 1 1
	full 200 110 985
}

# A path that becomes twenty times as long is no queue that the flow waits for: it has its line
# again after some round trips, and not when a window of lib/renew.h has ended.
test_much_longer_route()
{
	in_ns ta sysctl -q -w net.fairlane.line_rate_mbps=200
	for d in east:tr e0:tb; do
		lablink-ctl set ${d%:*} netns ${d#*:} rate 200mbit delay 50us || fault "no delay"
	done
	flows 1 800:all:mark 1000:all:mark &
	sleep 0.5
	for d in east:tr e0:tb; do
		lablink-ctl set ${d%:*} netns ${d#*:} delay 2ms || fault "no delay"
	done
	wait
	# 200 ms at 200 Mbit/s are 4.7 MB
	expect "bytes in 200 ms, 300 ms after the change" "$(said 1000 0 bytes)" -ge 4000000
}

# Trains are long where no port has a queue, and short where one has.
test_trains()
{
	lablink-ctl set e0 netns ta rate 100gbit delay 100us || fault "no faster link"
	lablink-ctl set e0 netns tb rate 100gbit || fault "no faster link"
	for n in ta tb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=100000 net.ipv4.tcp_rmem='4096 16777216 33554432' \
			net.ipv4.tcp_wmem='4096 16777216 33554432'
	done
	watch_trains ta tr tb
	for rate in 100 12; do
		lablink-ctl set east netns tr rate ${rate}gbit || fault "no rate"
		flows 1 -w 300000@100 50:all:mark 60:all:mark &
		sleep 0.05
		largest_train 1440 > /dev/null
		wait
		most=$(largest_train 1440)
		used=$(($(all 60 bytes) / (10 * LINE_BYTES_MS / 1000)))
		echo "# 24 of $rate Gbit/s: trains of up to $most segments, $used Mbit/s"
		if [ $rate -eq 100 ]; then
			expect "segments without a queue" "$most" -ge 16
			expect "Mbit/s without a queue" $used -ge 24000
		else
			expect "segments behind a queue" "$most" -le 8
			expect "Mbit/s behind a queue" $used -ge 11900
		fi
	done
	watch_trains
}

trap 'drop_net' EXIT
# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load_modules fairlane tcp_soze || exit 1
tests=${*:-weights_1000 application_limited idle_restart questions udp ecn loss incast base_rtts switch ipv6 malformed no_telemetry jitter longer_route much_longer_route untold_queue short_untold_queue policer trains}
run_tests 1 $tests
