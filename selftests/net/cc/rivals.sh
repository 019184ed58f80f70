# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # cc.sh has the other half
# What one control does that no other has, sourced by cc.sh: LEDBAT, D2TCP, Swift.

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

# Without ECN D2TCP is Reno until the connection ends; the socket's next one may have ECN.
test_next_connection()
{
	ip -n ca link set lo up
	in_ns ca sysctl -q -w net.ipv4.tcp_ecn=0
	names=$(in_ns ca python3 ./again.py d2tcp 2>&1 | tr '\n' ' ')
	[ "$names" = "d2tcp-reno d2tcp " ] || fault "controls: $names"
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
